/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HIP for one GPU or several, over the memory of hsa.c. */
#define _GNU_SOURCE
#include "fakeamd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUCCESS 0
#define ERROR_INVALID_VALUE 1
#define ERROR_OUT_OF_MEMORY 2
#define ERROR_NO_DEVICE 100
#define ERROR_INVALID_DEVICE 101
#define ERROR_INVALID_HANDLE 400
#define ERROR_NOT_FOUND 500
#define ERROR_NOT_READY 600
#define ERROR_NOT_SUPPORTED 801

/* hipDeviceAttributeHdpMemFlushCntl */
#define HDP_MEM_FLUSH 10005

/* As much as the GPU has. */
#define VRAM ((size_t)1 << 32)

static enum fake_fault fault;

void fake_hip_fault(enum fake_fault next)
{
	fault = next;
}

static int count = 1;

/* How many GPUs there are from now on. */
void fake_hip_devices(int next)
{
	count = next;
}

static int devices(void)
{
	return getenv("FAKE_AMD_NO_GPU") ? 0 : count;
}

/* Calls that gave something back. */
static int given_back;

int fake_hip_given_back(void)
{
	return given_back;
}

/* Each thread has its own. */
static __thread int current;

/* The register that flushes. A store to it takes its time, but none that anybody sees. */
static volatile unsigned int hdp;

static void settle(void)
{
	if (hdp && fake_hsa_fault_now() == FAKE_STALE_REGISTER)
		fake_flush();
	hdp = 0;
}

const char *hipGetErrorName(int error)
{
	switch (error) {
	case SUCCESS: return "hipSuccess";
	case ERROR_INVALID_VALUE: return "hipErrorInvalidValue";
	case ERROR_OUT_OF_MEMORY: return "hipErrorOutOfMemory";
	case ERROR_NO_DEVICE: return "hipErrorNoDevice";
	case ERROR_INVALID_DEVICE: return "hipErrorInvalidDevice";
	case ERROR_INVALID_HANDLE: return "hipErrorInvalidHandle";
	case ERROR_NOT_FOUND: return "hipErrorNotFound";
	case ERROR_NOT_READY: return "hipErrorNotReady";
	case ERROR_NOT_SUPPORTED: return "hipErrorNotSupported";
	}
	return "hipErrorUnknown";
}

int hipGetDeviceCount(int *number)
{
	*number = devices();
	return *number ? SUCCESS : ERROR_NO_DEVICE;
}

static int known(int device)
{
	return device >= 0 && device < devices();
}

int hipSetDevice(int device)
{
	if (!known(device))
		return ERROR_INVALID_DEVICE;
	current = device;
	return SUCCESS;
}

int hipGetDevice(int *device)
{
	if (!devices())
		return ERROR_NO_DEVICE;
	*device = current;
	return SUCCESS;
}

int hipDeviceGetAttribute(int *value, int attribute, int device)
{
	volatile unsigned int *at = fake_hsa_fault_now() >= FAKE_STALE_FOR_EVER ? NULL : &hdp;

	if (!known(device))
		return ERROR_INVALID_DEVICE;
	if (attribute != HDP_MEM_FLUSH)
		return ERROR_INVALID_VALUE;
	/* A pointer, as hipamd writes it. */
	memcpy(value, &at, sizeof(at));
	return SUCCESS;
}

/* To the current device (0), for its owner (100) or all devices (200). */
int hipDeviceFlushGPUDirectRDMAWrites(int target, int scope)
{
	if (target || (scope != 100 && scope != 200))
		return ERROR_INVALID_VALUE;
	if (fake_hsa_fault_now() > FAKE_STALE)
		return ERROR_NOT_SUPPORTED;
	fake_flush();
	return SUCCESS;
}

int hipDeviceGetPCIBusId(char *text, int length, int device)
{
	if (!known(device))
		return ERROR_INVALID_DEVICE;
	return snprintf(text, (size_t)length, "0000:C%d:00.0", 3 + device) < length ? SUCCESS
										 : ERROR_INVALID_VALUE;
}

int hipDeviceGetName(char *text, int length, int device)
{
	if (!known(device))
		return ERROR_INVALID_DEVICE;
	return snprintf(text, (size_t)length, "Mock of an AMD GPU") < length ? SUCCESS : ERROR_INVALID_VALUE;
}

int hipDeviceSynchronize(void)
{
	return SUCCESS;
}

int hipMalloc(void **address, size_t size)
{
	if (!address)
		return ERROR_INVALID_VALUE;
	if (size > VRAM)
		return ERROR_OUT_OF_MEMORY;
	*address = size ? fake_allocate(size, 0, current) : NULL;
	return SUCCESS;
}

int hipHostMalloc(void **address, size_t size, unsigned int flags)
{
	(void)flags;
	*address = fake_allocate(size, 1, current);
	return SUCCESS;
}

int hipFree(void *address)
{
	given_back++;
	return !address || fake_free(address) ? SUCCESS : ERROR_INVALID_VALUE;
}

/* Whether all of it is one allocation's. */
static int inside(const void *address, size_t size)
{
	void *base;
	size_t length;

	return fake_find(address, &base, &length) &&
	       size <= length - (size_t)((const char *)address - (char *)base);
}

int hipMemset(void *address, int value, size_t size)
{
	if (!inside(address, size))
		return ERROR_INVALID_VALUE;
	memset(address, value, size);
	fake_written(address, size);
	return SUCCESS;
}

static int check(const void *to, const void *from, size_t size, int kind)
{
	switch (kind) {
	case 1: return inside(to, size) ? SUCCESS : ERROR_INVALID_VALUE;
	case 2: return inside(from, size) ? SUCCESS : ERROR_INVALID_VALUE;
	}
	return ERROR_INVALID_VALUE;
}

static void copy(void *to, const void *from, size_t size)
{
	settle();
	memcpy(to, fake_seen(from), size);
	fake_written(to, size);
}

int hipMemcpy(void *to, const void *from, size_t size, int kind)
{
	int code = check(to, from, size, kind);

	if (!code)
		copy(to, from, size);
	return code;
}

int hipMemGetAddressRange(void **base, size_t *size, void *address)
{
	return fake_find(address, base, size) ? SUCCESS : ERROR_NOT_FOUND;
}

int hipStreamCreateWithFlags(struct worker **stream, unsigned int flags)
{
	if (flags > 1)
		return ERROR_INVALID_VALUE;
	*stream = worker_new();
	return SUCCESS;
}

int hipStreamDestroy(struct worker *stream)
{
	if (!stream)
		return ERROR_INVALID_HANDLE;
	given_back++;
	worker_leave(stream);
	return SUCCESS;
}

int hipStreamQuery(struct worker *stream)
{
	return worker_rests(stream) ? SUCCESS : ERROR_NOT_READY;
}

struct copying {
	void *to;
	const void *from;
	size_t size;
};

static void run_copy(void *of)
{
	struct copying *task = of;

	while (fault == FAKE_STUCK)
		usleep(1000);
	copy(task->to, task->from, task->size);
	free(task);
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, struct worker *stream)
{
	int code = check(to, from, size, kind);
	struct copying *task;

	if (code)
		return code;
	task = calloc(1, sizeof(*task));
	*task = (struct copying){ to, from, size };
	worker_do(stream, run_copy, task);
	return SUCCESS;
}

int hipLaunchHostFunc(struct worker *stream, void (*run)(void *), void *of)
{
	if (fault == FAKE_UNTOLD)
		return ERROR_INVALID_VALUE;
	worker_do(stream, run, of);
	return SUCCESS;
}

int hipHostRegister(void *address, size_t size, unsigned int flags)
{
	return address && size && !flags ? SUCCESS : ERROR_INVALID_VALUE;
}

int hipHostUnregister(void *address)
{
	given_back++;
	return address ? SUCCESS : ERROR_INVALID_VALUE;
}
