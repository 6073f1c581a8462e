/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HIP, as far as examples/01-hello/rocm.c needs it: names and numbers of ROCm's hip_runtime_api.h. */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include <stddef.h>

typedef enum {
	hipSuccess = 0,
} hipError_t;

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

#endif
