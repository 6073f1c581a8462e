/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 08: a kernel that moves memory to the FPGA and back by itself, piece by piece, while the host waits for its end.
 *
 *     nvcc -arch=compute_75 -ptx -o kernel.ptx kernel.cu $(pkg-config --cflags libpeerlane)
 *
 * The host's side is gpu_kernel.rs: it makes the queue, and tells where memory lies.
 */
#include "peerlane_gpu.h"

/*
 * queue    GpuQueue::address().
 * input    The board's address of memory that is read, `piece * pieces` bytes: GpuRegion::att_address(), and an offset.
 * output   The same of memory that is written.
 * fpga     First byte in FPGA memory.
 * limit    Nanoseconds that a transfer may take.
 * result   Two words, 0 before: transfers that have ended, and of these those that have failed.
 */
extern "C" __global__ void both_ways(struct peerlane_gpu_queue *queue, uint64_t input,
				     uint64_t output, uint64_t fpga, uint32_t piece, uint32_t pieces,
				     uint64_t limit, uint32_t *result)
{
	/* One thread at a time uses a queue. */
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
