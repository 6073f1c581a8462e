/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Transfers that a CUDA kernel starts: it writes the descriptor into the channel's page, rings the
 * doorbell and looks at the completion ring by itself. The host takes no part.
 *
 *     #include "peerlane_gpu.h"
 *
 *     __global__ void step(struct peerlane_gpu_queue *queue, uint64_t input, uint64_t fpga)
 *     {
 *             // ... one thread, when the data of all others are in memory:
 *             uint32_t status = peerlane_gpu_transfer(queue, PEERLANE_GPU_READ, input, fpga,
 *                                                     1 << 20, 0, 1000000000);
 *             if (peerlane_gpu_failed(status)) ...
 *     }
 *
 * The host's part is in Rust only: the library peerlane-gpu hands the channel over, and C and Python have no call for
 * that. examples/08-gpu-kernel has both parts. The queue is GpuQueue::address(). `fpga` is an address of FPGA memory
 * that the context has. `input` is GpuRegion::att_address(), the address of the first registered byte, plus your own
 * offset. Do not use the address of GpuRegion::pages(): whole pages are registered around the bytes, and that address
 * is the first byte of the pages. The region stays registered (Region::hold) until the kernel has ended. Where
 * transfers write to it, the board should be able to read it, too (Permissions::ReadWrite): otherwise a record says
 * that data were sent, not that they have arrived.
 *
 * Thread safety: one thread at a time uses a queue. peerlane_gpu_start does not order the stores of other threads:
 * before it, each of them executes __threadfence_system() and then reaches a barrier.
 *
 * Registers, descriptor and record are those of peerlane.h, which the register map generates.
 */
#ifndef PEERLANE_GPU_H
#define PEERLANE_GPU_H

#include <stdint.h>

#include "peerlane.h"

/* Directions, as completion records have them. */
#define PEERLANE_GPU_WRITE 0u /* FPGA memory to the region */
#define PEERLANE_GPU_READ 1u  /* the region to FPGA memory */

/* Nanoseconds, and the order of memory: functions of CUDA, except in tests on a processor. */
#ifndef PEERLANE_GPU_ON_A_PROCESSOR
__device__ static inline uint64_t peerlane_gpu_now(void)
{
	uint64_t now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}
#define peerlane_gpu_fence() __threadfence_system()
#endif

/*
 * Stores to the channel's page, whose addresses are registers of the board. Each must be one store on the bus, at its
 * place in the program's order. That is st.mmio: "writes are always performed and are never combined" (PTX ISA, "Memory
 * Consistency Model", "MMIO Operation"), which PTX has from version 8.2 (CUDA 12.2) and GPUs from sm_70 on ("st", PTX
 * ISA and Target ISA Notes). Where st.mmio is missing, the stores are volatile. PTX says of these that hardware may
 * merge them, and perform more or fewer than there are ("Volatile Operation"): compile for sm_70 or later. For a
 * compiler that does not define __CUDACC_VER_MAJOR__, PEERLANE_GPU_MMIO, 1 or 0, says whether it has st.mmio.
 */
#ifndef PEERLANE_GPU_MMIO
#if defined(__CUDA_ARCH__) && defined(__CUDACC_VER_MAJOR__)
#if __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1202
#define PEERLANE_GPU_MMIO 1
#endif
#endif
#endif
#ifndef PEERLANE_GPU_MMIO
#define PEERLANE_GPU_MMIO 0
#endif

__device__ static inline void peerlane_gpu_store64(uint64_t address, uint64_t value)
{
#if PEERLANE_GPU_MMIO
	asm volatile("st.mmio.relaxed.sys.u64 [%0], %1;" : : "l"(address), "l"(value) : "memory");
#else
	*(volatile uint64_t *)address = value;
#endif
}

__device__ static inline void peerlane_gpu_store32(uint64_t address, uint32_t value)
{
#if PEERLANE_GPU_MMIO
	asm volatile("st.mmio.relaxed.sys.u32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
#else
	*(volatile uint32_t *)address = value;
#endif
}

/*
 * The value that peerlane_gpu_transfer returns when no record has come in time. The board may still execute the
 * transfer, so leave the memory as it is until the kernel has ended and the host has called GpuQueue::stop, which ends
 * transfers in progress. The queue can be used again then: records of late transfers are skipped.
 *
 * The value is also returned where the board has refused the doorbell, because its queue was full or because the board
 * was started again. Then the descriptor is lost, and stays counted in peerlane_gpu_under_way. After a start of the
 * board the channel takes nothing more from this queue: the host drops the GpuQueue, opens another device, and makes
 * another queue there.
 */
#define PEERLANE_GPU_LATE 0xffffffffu

/* A channel that a kernel uses. It lies in GPU memory, 48 bytes, made by GpuQueue. */
struct peerlane_gpu_queue {
	uint64_t page;    /* the channel's page, as the GPU addresses it */
	uint64_t ring;    /* the completion ring, as the GPU addresses it */
	uint32_t slots;   /* records that the ring holds, a power of two */
	uint32_t next;    /* records read until now, modulo 2^32 */
	uint32_t freed;   /* records read that no doorbell has told of */
	uint32_t started; /* descriptors rung until now, modulo 2^32 */
	uint32_t status;  /* status of the last record that was read */
	uint32_t done;    /* bytes that it says were moved */
	uint32_t cookie;  /* the transfer that it is of: the value of `started` at its start */
	uint32_t lock;    /* of GpuQueue's own kernel */
};

/* Whether a status is that of a transfer that has failed, or is late. */
__device__ static inline bool peerlane_gpu_failed(uint32_t status)
{
	return status == PEERLANE_GPU_LATE || (status & PEERLANE_COMPLETION_STATUS_CODE_MASK) != 0;
}

/* Transfers that were started and whose records were not read. A refused doorbell stays counted: the board refuses
 * it when more transfers are in progress than there is room for, or after the board was started again. */
__device__ static inline uint32_t peerlane_gpu_under_way(const struct peerlane_gpu_queue *queue)
{
	return queue->started - queue->next;
}

/*
 * Starts a transfer of `length` bytes, 1 to 2^32 - 1. `control` has bits of the descriptor's control word other than
 * PEERLANE_DESCRIPTOR_CONTROL_RECORD_MASK, which is set here. At most as many transfers may be in progress as the queue
 * of their direction takes, and as the ring has slots (`slots`): one more is lost. The depth of the board's queue is
 * known to the host (Capabilities::queue_depth), which gives it to the kernel. The room that there is now is in the
 * page (PEERLANE_CHAN_QUEUE_FREE), which the GPU reads over PCIe.
 *
 * Alignment: a board whose Capabilities::write_granularity is 4 writes whole dwords of the peer only. There `peer` and
 * `length` of a transfer from the FPGA must be multiples of 4, which the kernel has to ensure: the board does not
 * execute other transfers, and their records have the status ALIGNMENT. `local`, and transfers to the FPGA, may begin
 * anywhere.
 */
__device__ static inline void peerlane_gpu_start(struct peerlane_gpu_queue *queue,
						 uint32_t direction, uint64_t peer, uint64_t local,
						 uint32_t length, uint32_t control)
{
	uint32_t words = direction == PEERLANE_GPU_WRITE ? PEERLANE_CHAN_WRITE_DESC(0)
							 : PEERLANE_CHAN_READ_DESC(0);
	uint32_t bell = direction == PEERLANE_GPU_WRITE ? PEERLANE_CHAN_WRITE_DOORBELL
							: PEERLANE_CHAN_READ_DOORBELL;
	uint64_t place = queue->page + words;

	control |= PEERLANE_DESCRIPTOR_CONTROL_RECORD_MASK;
	/* Data that the board is to read come before the descriptor, and the doorbell comes last. */
	peerlane_gpu_fence();
	peerlane_gpu_store64(place, peer);
	peerlane_gpu_store64(place + 8, local);
	peerlane_gpu_store64(place + 16, (uint64_t)control << 32 | length);
	/* The cookie; the second half is a reserved word, 0. */
	peerlane_gpu_store64(place + 24, queue->started);
	peerlane_gpu_fence();
	peerlane_gpu_store32(queue->page + bell, queue->freed);
	queue->freed = 0;
	queue->started++;
}

/*
 * Looks for the next record. Returns whether there is one; its status and bytes are in the queue then. Records come in
 * the order in which transfers end: writes in the order of their start, and reads in the order of theirs.
 */
__device__ static inline bool peerlane_gpu_ended(struct peerlane_gpu_queue *queue)
{
	uint32_t slot = queue->next & (queue->slots - 1);
	volatile uint32_t *record =
		(volatile uint32_t *)(queue->ring + sizeof(struct peerlane_completion) * (uint64_t)slot);
	uint32_t phase = (queue->next & queue->slots) ? 0 : 1;
	uint32_t status = record[1];

	/* The record's words may become visible one by one: its number distinguishes it from an older one. */
	if ((status & PEERLANE_COMPLETION_STATUS_PHASE_MASK) != phase || record[3] != queue->next)
		return false;
	peerlane_gpu_fence();
	queue->status = status;
	queue->done = record[2];
	queue->cookie = record[0];
	queue->next++;
	queue->freed++;
	return true;
}

/*
 * Starts a transfer and waits for its end, for at most `limit` nanoseconds. Records of earlier, late transfers are
 * skipped. Returns the record's status, or PEERLANE_GPU_LATE. After the end, data that were moved into a region of the
 * GPU's memory that the board may also read have arrived; a GpuQueue is made only where the GPU orders peers' writes
 * for their owner.
 */
__device__ static inline uint32_t peerlane_gpu_transfer(struct peerlane_gpu_queue *queue,
							uint32_t direction, uint64_t peer,
							uint64_t local, uint32_t length,
							uint32_t control, uint64_t limit)
{
	uint32_t mine = queue->started;
	uint64_t begin;

	peerlane_gpu_start(queue, direction, peer, local, length, control);
	begin = peerlane_gpu_now();
	while (!peerlane_gpu_ended(queue) || queue->cookie != mine) {
		if (peerlane_gpu_now() - begin > limit)
			return PEERLANE_GPU_LATE;
	}
	return queue->status;
}

#endif
