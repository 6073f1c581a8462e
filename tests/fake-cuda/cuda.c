/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A mock of CUDA's driver, for tests with the simulated board: one GPU, whose memory is memory of this process in
 * files, which serve as dma-bufs, too. After NVIDIA's CUDA Driver API manual:
 *
 * - A small allocation shares a page of 2 MiB with others.
 * - An exported range begins and ends at the host's pages (cuMemGetHandleForAddressRange). Each page has some bytes of
 *   an allocation; it may have bytes of others, too (measured with driver 580, for allocations of 256 bytes to 3 MiB).
 * - An allocation has the size that was asked for (cuMemGetAddressRange), and begins at a multiple of 512 bytes (as above).
 * - A copy from pageable memory may return when it is staged ("API synchronization behavior"). In this mock the data
 *   are in the memory after the program has waited for its stream, unless CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set for
 *   the memory.
 * - Memory belongs to the current context.
 * - While a stream is captured that is not CU_STREAM_NON_BLOCKING, a caller that uses the legacy default stream gets
 *   CUDA_ERROR_STREAM_CAPTURE_IMPLICIT and invalidates the graph, in any mode of the thread (measured with driver 580).
 *   While a stream is captured in global mode, allocating and freeing invalidate the graph, too, unless the thread has
 *   relaxed that (cuThreadExchangeStreamCaptureMode).
 *
 * FAKE_CUDA_CLOSED=1 exports no dma-bufs, like NVIDIA's closed kernel modules; FAKE_CUDA_BAR_FULL=1 has no room for
 * them in the GPU's BAR; FAKE_CUDA_VMM=1 has memory that does not take SYNC_MEMOPS, like that of cuMemCreate. With
 * FAKE_CUDA_INIT cuInit fails, with this number.
 */
#define _GNU_SOURCE
#include "cuda.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOST_PAGE 4096u
#define PAGE (2u << 20)
/* Bytes of the GPU's memory. */
#define ALL (1u << 30)

struct allocation {
	uint8_t *base;
	size_t size;
	uint64_t identity;
	unsigned int ordered;
	struct allocation *next;
};

/* A range that was exported. */
struct export {
	uint8_t *base;
	size_t size;
	int file;
	struct export *next;
};

struct CUstream_st {
	unsigned int flags;
	CUstreamCaptureStatus status;
	CUstreamCaptureMode mode;
	struct CUstream_st *next;
};

/* A copy that is staged. */
struct staged {
	CUstream stream;
	void *to;
	size_t size;
	struct staged *next;
	uint8_t bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static struct export *exports;
static struct staged *staged;
static CUstream streams;
static uint64_t identity = 900;
static uint8_t *page, *arena;
static size_t taken;
static int context_of_gpu;
static __thread CUcontext contexts[16];
static __thread int depth;
static __thread CUstreamCaptureMode mode_of_thread = CU_STREAM_CAPTURE_MODE_GLOBAL;

static struct allocation *find(CUdeviceptr address)
{
	struct allocation *at = allocations;

	while (at && address - (uintptr_t)at->base >= at->size)
		at = at->next;
	return at;
}

/*
 * Completes the copies that a wait for a stream waits for, including those of streams that the default stream waits
 * for.
 */
static void land_of(CUstream stream)
{
	struct staged **at = &staged, *one;

	while ((one = *at)) {
		if (one->stream != stream && (stream || (one->stream && one->stream->flags & CU_STREAM_NON_BLOCKING))) {
			at = &one->next;
			continue;
		}
		memcpy(one->to, one->bytes, one->size);
		*at = one->next;
		free(one);
	}
}

static void land(void)
{
	for (CUstream of = streams; of; of = of->next)
		land_of(of);
	land_of(NULL);
}

/* Returns whether a command may be given to a stream, and sets whether it is to be run now: a captured one is not. */
static CUresult take(CUstream stream, int *now)
{
	CUresult result = CUDA_SUCCESS;

	*now = 1;
	if (stream) {
		*now = stream->status == CU_STREAM_CAPTURE_STATUS_NONE;
		return stream->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
									      : CUDA_SUCCESS;
	}
	for (CUstream of = streams; of; of = of->next) {
		if (of->status == CU_STREAM_CAPTURE_STATUS_NONE || of->flags & CU_STREAM_NON_BLOCKING)
			continue;
		of->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	*now = !result;
	return result;
}

/* Returns the error of calls that a capture does not allow, for a thread that has not relaxed its mode. */
static CUresult prohibited(void)
{
	CUresult result = CUDA_SUCCESS;

	for (CUstream of = streams; of && mode_of_thread != CU_STREAM_CAPTURE_MODE_RELAXED; of = of->next) {
		if (of->status != CU_STREAM_CAPTURE_STATUS_ACTIVE || of->mode != CU_STREAM_CAPTURE_MODE_GLOBAL)
			continue;
		of->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

static int lacks_context(void)
{
	return !depth || !contexts[depth - 1];
}

CUresult cuInit(unsigned int flags)
{
	const char *fails = getenv("FAKE_CUDA_INIT");

	if (fails)
		return (CUresult)atoi(fails);
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	switch (error) {
	case CUDA_SUCCESS:
		*name = "CUDA_SUCCESS";
		return CUDA_SUCCESS;
	case CUDA_ERROR_INVALID_VALUE:
		*name = "CUDA_ERROR_INVALID_VALUE";
		return CUDA_SUCCESS;
	case CUDA_ERROR_OUT_OF_MEMORY:
		*name = "CUDA_ERROR_OUT_OF_MEMORY";
		return CUDA_SUCCESS;
	case CUDA_ERROR_INVALID_DEVICE:
		*name = "CUDA_ERROR_INVALID_DEVICE";
		return CUDA_SUCCESS;
	case CUDA_ERROR_INVALID_CONTEXT:
		*name = "CUDA_ERROR_INVALID_CONTEXT";
		return CUDA_SUCCESS;
	case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
		*name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
		return CUDA_SUCCESS;
	case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
		*name = "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT";
		return CUDA_SUCCESS;
	case CUDA_ERROR_NOT_SUPPORTED:
		*name = "CUDA_ERROR_NOT_SUPPORTED";
		return CUDA_SUCCESS;
	default:
		*name = NULL;
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = 0;
	return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	(void)device;
	switch (attribute) {
	case 110: /* GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED */
		*value = 0;
		break;
	case 118: /* GPU_DIRECT_RDMA_WRITES_ORDERING: OWNER */
		*value = 100;
		break;
	case 124: /* DMA_BUF_SUPPORTED */
		*value = !getenv("FAKE_CUDA_CLOSED");
		break;
	default:
		*value = 1;
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
	(void)device;
	snprintf(name, room, "mock");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(void *uuid, CUdevice device)
{
	(void)device;
	memcpy(uuid, "stand-in GPU 001", 16);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *name, int room, CUdevice device)
{
	(void)device;
	snprintf(name, room, "0000:C3:00.0");
	return CUDA_SUCCESS;
}

/* For tests: how often a primary context was retained. */
static int retains;

int fake_cuda_retains(void);
int fake_cuda_retains(void)
{
	return retains;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	(void)device;
	retains++;
	*context = (CUcontext)&context_of_gpu;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	(void)device;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	if (depth == 16)
		return CUDA_ERROR_INVALID_VALUE;
	contexts[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	*context = contexts[--depth];
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	if (!depth)
		depth = 1;
	contexts[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	pthread_mutex_lock(&lock);
	land();
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	CUstream made;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (flags > CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	made->flags = flags;
	pthread_mutex_lock(&lock);
	made->next = streams;
	streams = made;
	pthread_mutex_unlock(&lock);
	*stream = made;
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
	CUstream *at = &streams;

	pthread_mutex_lock(&lock);
	land_of(stream);
	while (*at && *at != stream)
		at = &(*at)->next;
	if (*at)
		*at = stream->next;
	pthread_mutex_unlock(&lock);
	free(stream);
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	CUresult result;
	int now;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	result = take(stream, &now);
	if (now)
		land_of(stream);
	else if (!result) {
		stream->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	/* The default stream is not captured. */
	if (!stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	pthread_mutex_lock(&lock);
	stream->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	stream->mode = mode;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	CUstreamCaptureStatus status;

	pthread_mutex_lock(&lock);
	status = stream->status;
	stream->status = CU_STREAM_CAPTURE_STATUS_NONE;
	pthread_mutex_unlock(&lock);
	/* Graphs are never launched in this mock. */
	*graph = NULL;
	if (status == CU_STREAM_CAPTURE_STATUS_NONE)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	*status = stream ? stream->status : CU_STREAM_CAPTURE_STATUS_NONE;
	/* This call invalidates nothing. */
	for (CUstream of = streams; of && !stream; of = of->next)
		if (of->status != CU_STREAM_CAPTURE_STATUS_NONE && !(of->flags & CU_STREAM_NON_BLOCKING))
			result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = mode_of_thread;

	mode_of_thread = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

/* Returns addresses of the GPU's, at a page's start. They are never used again. */
static uint8_t *pages(size_t size)
{
	uint8_t *begin;

	if (!arena) {
		begin = mmap(NULL, ALL + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (begin == MAP_FAILED)
			abort();
		arena = (uint8_t *)(((uintptr_t)begin + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	}
	size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (size > ALL - taken)
		return NULL;
	begin = arena + taken;
	taken += size;
	begin = mmap(begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (begin == MAP_FAILED)
		abort();
	/* A GPU does not clear memory that is allocated. */
	memset(begin, 0xdd, size);
	return begin;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t size)
{
	size_t whole = (size + 511) & ~(size_t)511;
	static size_t used = PAGE;
	struct allocation *made;
	CUresult result;
	uint8_t *base;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	result = prohibited();
	if (result) {
		pthread_mutex_unlock(&lock);
		return result;
	}
	if (whole >= PAGE) {
		base = pages(whole);
	} else {
		if (used + whole > PAGE) {
			page = pages(PAGE);
			used = 0;
		}
		base = page ? page + used : NULL;
		used += whole;
	}
	if (base) {
		made = calloc(1, sizeof(*made));
		made->base = base;
		made->size = size;
		made->identity = ++identity;
		made->next = allocations;
		allocations = made;
		*address = (uintptr_t)base;
	}
	pthread_mutex_unlock(&lock);
	return base ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address)
{
	struct allocation **at = &allocations, *gone;
	CUresult result;

	pthread_mutex_lock(&lock);
	result = prohibited();
	if (result) {
		pthread_mutex_unlock(&lock);
		return result;
	}
	land();
	while (*at && (uintptr_t)(*at)->base != address)
		at = &(*at)->next;
	gone = *at;
	if (gone) {
		*at = gone->next;
		free(gone);
	}
	pthread_mutex_unlock(&lock);
	return gone ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Finds the allocation that contains a range. */
static struct allocation *within(CUdeviceptr address, size_t size)
{
	struct allocation *of = find(address);

	return of && size <= of->size - (address - (uintptr_t)of->base) ? of : NULL;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
	struct staged *made, **at = &staged;
	struct allocation *of;
	CUresult result;
	int now;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	result = take(stream, &now);
	of = within(to, size);
	if (!result && !of)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result && now && of->ordered) {
		land();
		memcpy((void *)(uintptr_t)to, from, size);
	} else if (!result && now) {
		made = malloc(sizeof(*made) + size);
		*made = (struct staged){ .stream = stream, .to = (void *)(uintptr_t)to, .size = size };
		memcpy(made->bytes, from, size);
		while (*at)
			at = &(*at)->next;
		*at = made;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
	return cuMemcpyHtoDAsync(to, from, size, NULL);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	CUresult result;
	int now;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	result = take(stream, &now);
	if (!result && !within(from, size))
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result && now) {
		land_of(stream);
		memcpy(to, (void *)(uintptr_t)from, size);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
	return cuMemcpyDtoHAsync(to, from, size, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream)
{
	CUresult result;
	int now;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	result = take(stream, &now);
	if (!result && !within(to, size))
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result && now) {
		land_of(stream);
		memset((void *)(uintptr_t)to, value, size);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t size)
{
	return cuMemsetD8Async(to, value, size, NULL);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
	struct allocation *of;

	if (getenv("FAKE_CUDA_VMM"))
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	of = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? find(address) : NULL;
	if (of)
		of->ordered = *(const unsigned int *)value;
	pthread_mutex_unlock(&lock);
	return of ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
	CUresult result = CUDA_SUCCESS;
	struct allocation *of;

	pthread_mutex_lock(&lock);
	of = find(address);
	if (of && attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID)
		*(uint64_t *)value = of->identity;
	else if (of && attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
		*(int *)value = 0;
	else
		result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	struct allocation *of;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	of = find(address);
	if (of) {
		*base = (uintptr_t)of->base;
		*size = of->size;
	}
	pthread_mutex_unlock(&lock);
	return of ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Returns whether every page of a range contains a part of an allocation. */
static int backed(CUdeviceptr address, size_t size)
{
	for (CUdeviceptr at = address; at < address + size; at += HOST_PAGE) {
		struct allocation *of = allocations;

		while (of && ((uintptr_t)of->base >= at + HOST_PAGE || (uintptr_t)of->base + of->size <= at))
			of = of->next;
		if (!of)
			return 0;
	}
	return 1;
}

/* Makes the file of a range; its pages move there. A page has only one file. */
static int file_of(uint8_t *base, size_t size)
{
	struct export *at;

	for (at = exports; at; at = at->next) {
		if (at->base == base && at->size == size)
			return dup(at->file);
		if (base < at->base + at->size && at->base < base + size) {
			fprintf(stderr, "the mock of CUDA exports no range that shares pages with another one\n");
			abort();
		}
	}
	at = calloc(1, sizeof(*at));
	at->base = base;
	at->size = size;
	at->file = memfd_create("vram", MFD_CLOEXEC);
	if (at->file < 0 || ftruncate(at->file, (off_t)size) || pwrite(at->file, base, size, 0) != (ssize_t)size)
		abort();
	if (mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, at->file, 0) == MAP_FAILED)
		abort();
	at->next = exports;
	exports = at;
	return dup(at->file);
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr address, size_t size, CUmemRangeHandleType type,
				       unsigned long long flags)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	if (lacks_context())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (getenv("FAKE_CUDA_CLOSED"))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (getenv("FAKE_CUDA_BAR_FULL"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && !flags && size && !((address | size) % HOST_PAGE) &&
	    backed(address, size)) {
		*(int *)handle = file_of((uint8_t *)(uintptr_t)address, size);
		result = *(int *)handle < 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

/* Functions that a host library looks up, and that the mock does not have. */
#include "absent.h"
LACKS(cuMemGetAllocationGranularity)
LACKS(cuMemCreate)
LACKS(cuMemRelease)
LACKS(cuMemAddressReserve)
LACKS(cuMemAddressFree)
LACKS(cuMemMap)
LACKS(cuMemUnmap)
LACKS(cuMemSetAccess)
LACKS(cuMemExportToShareableHandle)
