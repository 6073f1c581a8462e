/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A kernel that moves memory to the FPGA and back by itself, for the check of peerlane_gpu.h. */
#include "peerlane_gpu.h"

extern "C" __global__ void both_ways(struct peerlane_gpu_queue *queue, uint64_t input,
				     uint64_t output, uint64_t fpga, uint32_t piece, uint32_t pieces,
				     uint64_t limit, uint32_t *result)
{
	if (threadIdx.x != 0)
		return;
	for (uint32_t i = 0; i < pieces; i++) {
		uint64_t at = (uint64_t)i * piece;
		uint32_t status = peerlane_gpu_transfer(queue, PEERLANE_GPU_READ, input + at, fpga + at,
							piece, 0, limit);
		result[0]++;
		result[1] += peerlane_gpu_failed(status) || queue->done != piece;
		status = peerlane_gpu_transfer(queue, PEERLANE_GPU_WRITE, output + at, fpga + at, piece,
					       0, limit);
		result[0]++;
		result[1] += peerlane_gpu_failed(status) || peerlane_gpu_under_way(queue) != 0;
	}
}
