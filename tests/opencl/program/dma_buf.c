/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Copies between buffers and another device's memory, by the extension of the board's library. */
#include "host.h"

#include <peerlane_ext.h>

static clCreatePeerMemoryFromDmaBufPeerlane_fn create;
static clCopyBufferToPeerPeerlane_fn to_peer;
static clCopyPeerToBufferPeerlane_fn from_peer;
static clReleasePeerMemoryPeerlane_fn release;

/* Makes a context, and registers `bytes` bytes of the memory of an open file with this number. */
static cl_peer_memory_peerlane open_peer(const char *file, size_t bytes)
{
	cl_peer_memory_peerlane memory;
	cl_int error;

	make_context(1);
	*(void **)&create = extension("clCreatePeerMemoryFromDmaBufPeerlane");
	*(void **)&to_peer = extension("clCopyBufferToPeerPeerlane");
	*(void **)&from_peer = extension("clCopyPeerToBufferPeerlane");
	*(void **)&release = extension("clReleasePeerMemoryPeerlane");
	memory = create(devices[0], CL_MEM_READ_WRITE, atoi(file), 0, bytes, &error);
	OK(error);
	MUST(memory);
	return memory;
}

/*
 * The memory has COUNT ints; after them come their doubles, which a kernel makes, and last their triples. Only the
 * events define the order.
 */
void part_dma_buf(int count, char **arguments)
{
	static int32_t ints[COUNT], found[COUNT];
	const size_t bytes = sizeof(found);
	cl_peer_memory_peerlane memory = open_peer(arguments[1], 3 * bytes);
	cl_event arrived, added, sent;
	cl_command_queue queue = new_queue(0, 0);
	cl_program program = new_program(arguments[0], 1);
	cl_kernel kernel = new_kernel(program, "vecadd");
	cl_mem a = new_buffer(bytes), sum = new_buffer(bytes), triple = new_buffer(bytes);

	(void)count;
	OK(from_peer(memory, a, 0, 0, bytes, CL_FALSE, 0, NULL, &arrived));
	set_buffers(kernel, a, a, &sum);
	launch(queue, kernel, COUNT, 1, &arrived, &added);
	OK(to_peer(sum, memory, 0, bytes, bytes, CL_FALSE, 1, &added, &sent));
	until_complete(sent);
	until_complete(added);
	until_complete(arrived);

	set_buffers(kernel, a, sum, &triple);
	launch(queue, kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(queue));
	OK(to_peer(triple, memory, 0, 2 * bytes, bytes, CL_TRUE, 0, NULL, NULL));
	/* The doubles are read back as they were sent. */
	OK(from_peer(memory, a, bytes, 0, bytes, CL_TRUE, 0, NULL, NULL));
	read_ints(queue, sum, ints, COUNT);
	read_ints(queue, a, found, COUNT);
	MUST(!memcmp(found, ints, bytes));

	OK(release(memory));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(sum));
	OK(clReleaseMemObject(triple));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* Copies in both directions at once, for ever: the test ends the program by a signal. */
void part_dma_buf_forever(int count, char **arguments)
{
	size_t bytes = strtoul(arguments[1], NULL, 0);
	cl_peer_memory_peerlane memory = open_peer(arguments[0], 2 * bytes);
	cl_mem a = new_buffer(bytes), b = new_buffer(bytes);

	(void)count;
	for (int round = 0;; round++) {
		cl_event written, read;

		OK(from_peer(memory, a, 0, 0, bytes, CL_FALSE, 0, NULL, &read));
		OK(to_peer(b, memory, 0, bytes, bytes, CL_FALSE, 0, NULL, &written));
		until_complete(written);
		until_complete(read);
		if (round == 1)
			printf("copies\n");
	}
}
