/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel of examples/08-gpu-kernel, compiled for the processor: one thread, for a test with the simulated board. */
#include <stdint.h>
#include <time.h>

#define __device__
#define __global__
#define PEERLANE_GPU_ON_A_PROCESSOR
#define peerlane_gpu_fence() __sync_synchronize()

static const struct {
	unsigned int x;
} threadIdx = {0};

static inline uint64_t peerlane_gpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#include "kernel.cu"
