/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Copies between buffers and a GPU's memory. */
#include "peer_lab.h"

/* State that a callback has received. */
struct told {
	int calls;
	cl_int status;
};

static void CL_CALLBACK copied(cl_int status, void *user)
{
	struct told *told = user;

	told->status = status;
	__atomic_fetch_add(&told->calls, 1, __ATOMIC_SEQ_CST);
}

static void until_told(struct told *told)
{
	while (!__atomic_load_n(&told->calls, __ATOMIC_SEQ_CST))
		nap(1);
	nap(20);
	MUST(__atomic_load_n(&told->calls, __ATOMIC_SEQ_CST) == 1);
	GIVES(told->status, CL_SUCCESS);
}

/* All ways to copy, in both directions, at odd places. */
void part_peers(int count, char **arguments)
{
	static const struct {
		size_t buffer, peer, length;
	} copies[] = {
		{ EDGE, EDGE, BYTES },
		{ EDGE + 3, EDGE + 5, BYTES - 1000 },
		{ EDGE + 61, EDGE + 1, 4096 },
		{ EDGE + 7, 2 * EDGE, 1 },
		{ EDGE, EDGE, 0 },
	};
	struct lab lab = new_lab();
	cl_ulong address = 0;

	(void)count, (void)arguments;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		const size_t at = copies[i].buffer, to = copies[i].peer, length = copies[i].length;
		/* The board writes whole dwords to a dma-buf, and reads any bytes. */
		const size_t put = to / 4 * 4, sent = length / 4 * 4;
		struct told told = { 0 }, told_back = { 0 };
		cl_event event;

		for (int way = 0; way < 4; way++) {
			/* From the board to the GPU. */
			set_data((int)i * 4 + way);
			fill_gpu(lab.memory, GPUS, lab.bytes);
			OK(clEnqueueWriteBuffer(lab.queue, lab.buffer, CL_TRUE, at, length ? length : 1, data,
						0, NULL, NULL));
			GIVES(peerlane.address(devices[0], lab.buffer, &address), CL_SUCCESS);
			switch (way) {
			case 0: /* blocking */
				GIVES(peerlane.to_peer(lab.buffer, lab.peer, at, put, sent, CL_TRUE, 0, NULL,
						       NULL),
				      CL_SUCCESS);
				break;
			case 1: /* with an event */
				GIVES(peerlane.to_peer(lab.buffer, lab.peer, at, put, sent, CL_FALSE, 0, NULL,
						       &event),
				      CL_SUCCESS);
				until_complete(event);
				break;
			case 2: /* by address, blocking */
				GIVES(peerlane.address_to_peer(address + at, lab.peer, put, sent, NULL, NULL),
				      CL_SUCCESS);
				break;
			default: /* by address, with a callback */
				GIVES(peerlane.address_to_peer(address + at, lab.peer, put, sent, copied, &told),
				      CL_SUCCESS);
				until_told(&told);
			}
			if (put != to || sent != length)
				GIVES(peerlane.to_peer(lab.buffer, lab.peer, at, to, length, CL_TRUE, 0, NULL, NULL),
				      CL_INVALID_VALUE);
			check_gpu(lab.memory, put, sent);
			/* The reverse direction, with other bytes. */
			set_data((int)i * 4 + way + 100);
			gpu_write(lab.memory + to, data, length);
			fill_buffer(lab.queue, lab.buffer, BOARDS, lab.bytes);
			switch (way) {
			case 0: /* blocking, with an event all the same */
				GIVES(peerlane.from_peer(lab.peer, lab.buffer, to, at, length, CL_TRUE, 0, NULL,
							 &event),
				      CL_SUCCESS);
				MUST(status_of(event) == CL_COMPLETE);
				OK(clReleaseEvent(event));
				break;
			case 1:
				GIVES(peerlane.from_peer(lab.peer, lab.buffer, to, at, length, CL_FALSE, 0, NULL,
							 &event),
				      CL_SUCCESS);
				until_complete(event);
				break;
			case 2:
				GIVES(peerlane.address_from_peer(lab.peer, address + at, to, length, NULL, NULL),
				      CL_SUCCESS);
				break;
			default:
				GIVES(peerlane.address_from_peer(lab.peer, address + at, to, length, copied,
								 &told_back),
				      CL_SUCCESS);
				until_told(&told_back);
			}
			check_buffer(lab.queue, lab.buffer, at, length);
		}
	}
	end_lab(&lab);
}

/*
 * The order by events: the GPU's numbers go to the board, a kernel adds them, the sum is copied to the GPU, and nothing
 * begins before a user event. Then an event that fails: nothing is copied.
 */
void part_peer_events(int count, char **arguments)
{
	enum { SIZE = COUNT * sizeof(int32_t) };
	static int32_t numbers[COUNT], sums[COUNT];
	struct lab lab = new_lab();
	cl_event gate = user_event(), there, added, back, failed, never;
	cl_mem a = new_buffer(SIZE), sum = new_buffer(SIZE);
	cl_program program = new_program(arguments[0], 1);
	cl_kernel kernel = new_kernel(program, "vecadd");
	cl_command_queue kernels = new_queue(0, 0);
	char *results = lab.memory + SIZE;

	(void)count;
	for (int i = 0; i < COUNT; i++)
		numbers[i] = 3 * i + 1;
	gpu_write(lab.memory, numbers, SIZE);
	fill_gpu(results, GPUS, SIZE);
	fill_buffer(lab.queue, a, BOARDS, SIZE);
	set_buffers(kernel, a, a, &sum);
	GIVES(peerlane.from_peer(lab.peer, a, 0, 0, SIZE, CL_FALSE, 1, &gate, &there), CL_SUCCESS);
	launch(kernels, kernel, COUNT, 1, &there, &added);
	GIVES(peerlane.to_peer(sum, lab.peer, 0, SIZE, SIZE, CL_FALSE, 1, &added, &back), CL_SUCCESS);
	nap(50);
	MUST(status_of(there) == CL_SUBMITTED && status_of(back) == CL_SUBMITTED);
	OK(clEnqueueReadBuffer(lab.queue, a, CL_TRUE, 0, SIZE, sums, 0, NULL, NULL));
	MUST(((char *)sums)[0] == BOARDS && ((char *)sums)[SIZE - 1] == BOARDS);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	until_complete(back);
	gpu_read(results, sums, SIZE);
	for (int i = 0; i < COUNT; i++)
		MUST(sums[i] == 2 * numbers[i]);
	until_complete(added);
	until_complete(there);
	OK(clReleaseEvent(gate));

	/* A blocking copy waits, too: for the kernel that is launched just before. */
	fill_gpu(results, GPUS, SIZE);
	set_buffers(kernel, sum, a, &sum);
	launch(kernels, kernel, COUNT, 0, NULL, &added);
	OK(clFlush(kernels));
	GIVES(peerlane.to_peer(sum, lab.peer, 0, SIZE, SIZE, CL_TRUE, 1, &added, NULL), CL_SUCCESS);
	gpu_read(results, sums, SIZE);
	for (int i = 0; i < COUNT; i++)
		MUST(sums[i] == 3 * numbers[i]);
	until_complete(added);

	/* One of two fails. */
	fill_gpu(results, GPUS, SIZE);
	gate = user_event();
	failed = user_event();
	GIVES(peerlane.to_peer(sum, lab.peer, 0, SIZE, SIZE, CL_FALSE, 2, (cl_event[]){ gate, failed }, &never),
	      CL_SUCCESS);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	nap(20);
	MUST(status_of(never) == CL_SUBMITTED);
	OK(clSetUserEventStatus(failed, -5));
	while (status_of(never) > CL_COMPLETE)
		nap(1);
	MUST(status_of(never) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	gpu_read(results, sums, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		MUST(((char *)sums)[i] == GPUS);
	GIVES(peerlane.to_peer(sum, lab.peer, 0, SIZE, SIZE, CL_TRUE, 1, &failed, NULL),
	      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	OK(clReleaseEvent(gate));
	OK(clReleaseEvent(failed));
	OK(clReleaseEvent(never));

	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(sum));
	OK(clReleaseCommandQueue(kernels));
	end_lab(&lab);
}
