/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HIP, as far as examples/01-hello/rocm.c needs it: names and numbers of ROCm's hip_runtime_api.h. */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include <stddef.h>

/* Major times 10^7, minor times 10^5, patch (hip_version.h). */
#ifndef HIP_VERSION
#define HIP_VERSION 70200000
#endif

typedef enum {
	hipSuccess = 0,
	hipErrorNotSupported = 801,
} hipError_t;

typedef enum {
	hipDeviceAttributeHdpMemFlushCntl = 10005,
} hipDeviceAttribute_t;

typedef enum {
	hipMemcpyHostToDevice = 1,
	hipMemcpyDeviceToHost = 2,
} hipMemcpyKind;

const char *hipGetErrorName(hipError_t error);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceSynchronize(void);
hipError_t hipMalloc(void **address, size_t size);
hipError_t hipFree(void *address);
hipError_t hipMemcpy(void *to, const void *from, size_t size, hipMemcpyKind kind);
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);

#if HIP_VERSION >= 70200000
typedef enum {
	hipFlushGPUDirectRDMAWritesTargetCurrentDevice = 0,
} hipFlushGPUDirectRDMAWritesTarget;

typedef enum {
	hipFlushGPUDirectRDMAWritesToOwner = 100,
	hipFlushGPUDirectRDMAWritesToAllDevices = 200,
} hipFlushGPUDirectRDMAWritesScope;

hipError_t hipDeviceFlushGPUDirectRDMAWrites(hipFlushGPUDirectRDMAWritesTarget target,
					     hipFlushGPUDirectRDMAWritesScope scope);
#endif

#endif
