/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Functions that a host library looks up in CUDA's driver, and that no mock has: host/gpu/src/cuda/driver.rs names all
 * functions, and takes a driver that lacks one for an old one. For a file that has defined CUresult.
 */
#pragma once

/* CUDA_ERROR_NOT_SUPPORTED. */
#define LACKS(name)                   \
	CUresult name(void)           \
	{                             \
		return (CUresult)801; \
	}

LACKS(cuFlushGPUDirectRDMAWrites)
LACKS(cuMemRetainAllocationHandle)
LACKS(cuMemHostRegister_v2)
LACKS(cuMemHostGetDevicePointer_v2)
LACKS(cuMemHostUnregister)
LACKS(cuModuleLoadData)
LACKS(cuModuleUnload)
LACKS(cuModuleGetFunction)
LACKS(cuLaunchKernel)
LACKS(cuEventCreate)
LACKS(cuEventRecord)
LACKS(cuEventQuery)
LACKS(cuEventSynchronize)
LACKS(cuEventDestroy_v2)
