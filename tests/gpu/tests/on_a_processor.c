/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The functions of peerlane_gpu.h, compiled for the processor, for a test with the simulated board. */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define __device__
#define PEERLANE_GPU_ON_A_PROCESSOR
#define peerlane_gpu_fence() __sync_synchronize()

static inline uint64_t peerlane_gpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#include "peerlane_gpu.h"

uint32_t transfer(struct peerlane_gpu_queue *queue, uint32_t direction, uint64_t peer, uint64_t local,
		  uint32_t length, uint64_t limit)
{
	uint32_t status = peerlane_gpu_transfer(queue, direction, peer, local, length, 0, limit);

	return peerlane_gpu_failed(status) ? status : 0;
}

uint32_t under_way(const struct peerlane_gpu_queue *queue)
{
	return peerlane_gpu_under_way(queue);
}

uint32_t bytes_done(const struct peerlane_gpu_queue *queue)
{
	return queue->done;
}
