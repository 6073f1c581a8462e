/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * CUDA's driver for the GPU next to a simulated board, as far as peerlane-gpu calls it: memory of virtual memory
 * management, which is shared by file descriptors. NVIDIA CUDA Driver API, "Virtual Memory Management".
 */
#define _GNU_SOURCE
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

#define INVALID_VALUE 1
#define NO_DEVICE 100
#define GRANULARITY 0x10000

/* Memory, with its file and the address of its mapping. */
static struct memory {
	size_t size;
	int file;
	CUdeviceptr address;
	unsigned long long identity;
} memories[16];

static unsigned long long identities = 900;

static void *(*allocate)(unsigned int, size_t);
static int (*free_memory)(void *);

int gpu_read(const void *from, void *to, size_t bytes)
{
	int (*function)(const void *, void *, size_t);

	*(void **)&function = of_library("peerlane_simulated_gpu_read");
	return function(from, to, bytes);
}

int gpu_write(void *to, const void *from, size_t bytes)
{
	int (*function)(void *, const void *, size_t);

	*(void **)&function = of_library("peerlane_simulated_gpu_write");
	return function(to, from, bytes);
}

uintptr_t memory_of(int file, size_t size)
{
	struct stat asked, known;

	if (fstat(file, &asked))
		return 0;
	for (int i = 0; i < 16; i++) {
		const struct memory *memory = &memories[i];

		if (memory->size != size || fstat(memory->file, &known) || known.st_ino != asked.st_ino)
			continue;
		close(file);
		return memory->address;
	}
	return 0;
}

/* The memory with an address. */
static struct memory *at(CUdeviceptr address)
{
	for (int i = 0; i < 16; i++)
		if (memories[i].address && address - memories[i].address < memories[i].size)
			return &memories[i];
	return NULL;
}

CUresult cuInit(unsigned flags)
{
	return getenv("STANDIN_NO_GPU") ? NO_DEVICE : flags;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = getenv("STANDIN_OLD_CUDA") ? 9000 : 13000;
	return 0;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_THE_STAND_IN";
	return 0;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return 0;
}

CUresult cuDeviceGet(int *device, int ordinal)
{
	*device = 0;
	return ordinal ? 101 : 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	/* DMA_BUF_SUPPORTED is 0; GPU_DIRECT_RDMA_WRITES_ORDERING is OWNER; everything else is there. */
	*value = attribute == 124 ? 0 : attribute == 118 ? 100 : 1;
	return 0;
}

CUresult cuDeviceGetName(char *name, int room, int device)
{
	(void)device;
	snprintf(name, room, "stand-in");
	return 0;
}

CUresult cuDeviceGetUuid_v2(void *uuid, int device)
{
	(void)device;
	memcpy(uuid, UUID, 16);
	return 0;
}

CUresult cuDeviceGetPCIBusId(char *name, int room, int device)
{
	(void)device;
	snprintf(name, room, "0000:00:00.0");
	return 0;
}

static void *current;

CUresult cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	*context = &current;
	return 0;
}

CUresult cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	*stream = &current;
	return 0;
}

CUresult cuCtxPopCurrent_v2(void **context)
{
	*context = NULL;
	return 0;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const void *properties, int option)
{
	(void)properties, (void)option;
	*granularity = GRANULARITY;
	return 0;
}

CUresult cuMemCreate(unsigned long long *handle, size_t size, const void *properties, unsigned long long flags)
{
	(void)properties, (void)flags;
	for (int i = 0; i < 16; i++) {
		if (memories[i].size)
			continue;
		memories[i] = (struct memory){ size, memfd_create("stand-in", 0), 0, ++identities };
		*handle = i + 1;
		return 0;
	}
	return 2;
}

CUresult cuMemRelease(unsigned long long handle)
{
	struct memory *memory = &memories[handle - 1];

	close(memory->file);
	*memory = (struct memory){ 0 };
	return 0;
}

/* Addresses are those of the simulated GPU's memory, which has all of it mapped. */
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr near,
			     unsigned long long flags)
{
	(void)alignment, (void)near, (void)flags;
	*(void **)&allocate = of_library("peerlane_simulated_gpu_allocate");
	*address = (CUdeviceptr)(uintptr_t)allocate(0, size);
	return *address ? 0 : 2;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	(void)size;
	*(void **)&free_memory = of_library("peerlane_simulated_gpu_free");
	printf("GPU memory freed\n");
	fflush(stdout);
	return free_memory((void *)(uintptr_t)address);
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)
{
	(void)size, (void)offset, (void)flags;
	memories[handle - 1].address = address;
	return 0;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	(void)size;
	at(address)->address = 0;
	return 0;
}

CUresult cuMemExportToShareableHandle(int *file, unsigned long long handle, int kind, unsigned long long flags)
{
	(void)flags;
	*file = dup(memories[handle - 1].file);
	return kind == 1 ? 0 : INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
	const struct memory *memory = at(address);

	if (!memory)
		return INVALID_VALUE;
	switch (attribute) {
	case 1: /* CU_POINTER_ATTRIBUTE_CONTEXT: memory of virtual memory management has none. */
		*(void **)value = NULL;
		return 0;
	case 7: /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
		*(unsigned long long *)value = memory->identity;
		return 0;
	case 9: /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
		*(int *)value = 0;
		return 0;
	default:
		return INVALID_VALUE;
	}
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, void *stream)
{
	(void)stream;
	return gpu_write((void *)(uintptr_t)to, from, bytes);
}

/* Functions without a visible effect here: memory is new, so it is zero, and copies end at once. */
#define NOTHING(name)           \
	CUresult name(void)     \
	{                       \
		return 0;       \
	}
NOTHING(cuDevicePrimaryCtxRelease_v2)
NOTHING(cuCtxPushCurrent_v2)
NOTHING(cuCtxSetCurrent)
NOTHING(cuCtxSynchronize)
NOTHING(cuMemsetD8Async)
NOTHING(cuMemSetAccess)
NOTHING(cuStreamDestroy_v2)
NOTHING(cuStreamSynchronize)
/* Nothing is captured here. */
NOTHING(cuThreadExchangeStreamCaptureMode)

#include "../../../../tests/fake-cuda/absent.h"
LACKS(cuMemFree_v2)
LACKS(cuMemcpyDtoHAsync_v2)
LACKS(cuStreamIsCapturing)
LACKS(cuPointerSetAttribute)
LACKS(cuMemGetAddressRange_v2)
LACKS(cuMemGetHandleForAddressRange)

/* Memory of this kind is full. */
CUresult cuMemAlloc_v2(void)
{
	return 2;
}
