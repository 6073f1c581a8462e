/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HIP for one GPU, over the memory of hsa.c. */
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

/* As much as the GPU has. */
#define VRAM ((size_t)1 << 32)

static enum fake_fault fault;

void fake_hip_fault(enum fake_fault next)
{
	fault = next;
}

static int devices(void)
{
	return getenv("FAKE_AMD_NO_GPU") ? 0 : 1;
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
	}
	return "hipErrorUnknown";
}

int hipGetDeviceCount(int *count)
{
	*count = devices();
	return *count ? SUCCESS : ERROR_NO_DEVICE;
}

int hipSetDevice(int device)
{
	return device >= 0 && device < devices() ? SUCCESS : ERROR_INVALID_DEVICE;
}

int hipDeviceGetPCIBusId(char *text, int length, int device)
{
	if (hipSetDevice(device))
		return ERROR_INVALID_DEVICE;
	return snprintf(text, (size_t)length, "0000:C3:00.0") < length ? SUCCESS : ERROR_INVALID_VALUE;
}

int hipDeviceGetName(char *text, int length, int device)
{
	if (hipSetDevice(device))
		return ERROR_INVALID_DEVICE;
	return snprintf(text, (size_t)length, "Stand-in for an AMD GPU") < length ? SUCCESS : ERROR_INVALID_VALUE;
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
	*address = size ? fake_allocate(size, 0) : NULL;
	return SUCCESS;
}

int hipHostMalloc(void **address, size_t size, unsigned int flags)
{
	(void)flags;
	*address = fake_allocate(size, 1);
	return SUCCESS;
}

int hipFree(void *address)
{
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

int hipMemcpy(void *to, const void *from, size_t size, int kind)
{
	int code = check(to, from, size, kind);

	if (!code)
		memcpy(to, from, size);
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
	worker_leave(stream);
	return SUCCESS;
}

int hipStreamQuery(struct worker *stream)
{
	return worker_rests(stream) ? SUCCESS : ERROR_NOT_READY;
}

struct copy {
	void *to;
	const void *from;
	size_t size;
};

static void run_copy(void *of)
{
	struct copy *copy = of;

	while (fault == FAKE_STUCK)
		usleep(1000);
	memcpy(copy->to, copy->from, copy->size);
	free(copy);
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, struct worker *stream)
{
	int code = check(to, from, size, kind);
	struct copy *copy;

	if (code)
		return code;
	copy = calloc(1, sizeof(*copy));
	*copy = (struct copy){ to, from, size };
	worker_do(stream, run_copy, copy);
	return SUCCESS;
}

int hipLaunchHostFunc(struct worker *stream, void (*run)(void *), void *of)
{
	worker_do(stream, run, of);
	return SUCCESS;
}

int hipHostRegister(void *address, size_t size, unsigned int flags)
{
	return address && size && !flags ? SUCCESS : ERROR_INVALID_VALUE;
}

int hipHostUnregister(void *address)
{
	return address ? SUCCESS : ERROR_INVALID_VALUE;
}
