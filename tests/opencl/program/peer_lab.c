/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See peer_lab.h. */
#include "peer_lab.h"

struct extension peerlane;

char data[BYTES], found[EDGE + BYTES + EDGE];

void gives(cl_int error, cl_int expected, const char *call, const char *file, int line)
{
	if (error != expected) {
		fprintf(stderr, "%s:%d: %s = %d (%s), not %d\n", file, line, call, error,
			peerlane.text ? peerlane.text(error) : "", expected);
		exit(1);
	}
}

void find_extension(void)
{
	*(void **)&peerlane.create = extension("clCreatePeerMemoryFromPointerPeerlane");
	*(void **)&peerlane.release = extension("clReleasePeerMemoryPeerlane");
	*(void **)&peerlane.to_peer = extension("clCopyBufferToPeerPeerlane");
	*(void **)&peerlane.from_peer = extension("clCopyPeerToBufferPeerlane");
	*(void **)&peerlane.address = extension("clGetBufferAddressPeerlane");
	*(void **)&peerlane.address_to_peer = extension("clCopyAddressToPeerPeerlane");
	*(void **)&peerlane.address_from_peer = extension("clCopyPeerToAddressPeerlane");
	*(void **)&peerlane.text = extension("clGetErrorTextPeerlane");
}

void set_data(int seed)
{
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (char)(i * 7 + i / 256 * 3 + (size_t)seed * 41);
}

cl_peer_memory_peerlane register_memory(void *memory, cl_mem_flags flags, size_t bytes)
{
	cl_int error;
	cl_peer_memory_peerlane peer = peerlane.create(devices[0], flags, memory, bytes, 0, &error);

	GIVES(error, CL_SUCCESS);
	MUST(peer);
	return peer;
}

void fill_gpu(char *memory, char value, size_t bytes)
{
	char *values = malloc(bytes);

	MUST(values);
	memset(values, value, bytes);
	gpu_write(memory, values, bytes);
	free(values);
}

void fill_buffer(cl_command_queue queue, cl_mem buffer, char value, size_t bytes)
{
	char *values = malloc(bytes);

	MUST(values);
	memset(values, value, bytes);
	OK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL));
	free(values);
}

/* Checks that the data are in memory that had one value before, and that the bytes around them are unchanged. */
static void check(const char *bytes, char around, size_t length)
{
	for (size_t i = 0; i < EDGE; i++)
		MUST(bytes[i] == around && bytes[EDGE + length + i] == around);
	MUST(!memcmp(bytes + EDGE, data, length));
}

void check_gpu(const char *memory, size_t at, size_t length)
{
	gpu_read(memory + at - EDGE, found, length + 2 * EDGE);
	check(found, GPUS, length);
}

void check_buffer(cl_command_queue queue, cl_mem buffer, size_t at, size_t length)
{
	OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, at - EDGE, length + 2 * EDGE, found, 0, NULL, NULL));
	check(found, BOARDS, length);
}

cl_int status_of(cl_event event)
{
	cl_int status = CL_QUEUED;

	OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	return status;
}

cl_event user_event(void)
{
	cl_int error;
	cl_event event = clCreateUserEvent(context, &error);

	OK(error);
	return event;
}

struct lab new_lab(void)
{
	struct lab lab = { .bytes = BYTES + 4 * EDGE };

	make_context(1);
	find_extension();
	find_gpu(0);
	lab.queue = new_queue(0, 0);
	lab.buffer = new_buffer(lab.bytes);
	lab.memory = gpu_allocate(lab.bytes);
	lab.peer = register_memory(lab.memory, CL_MEM_READ_WRITE, lab.bytes);
	return lab;
}

void end_lab(struct lab *lab)
{
	OK(clReleaseMemObject(lab->buffer));
	OK(clReleaseCommandQueue(lab->queue));
	OK(clReleaseContext(context));
	/* The thread that reported the end of a copy with an event may still hold the memory for a moment. */
	for (int i = 0; i < 5000 && !peerlane.address_to_peer(EDGE * EDGE, lab->peer, 0, 0, NULL, NULL); i++)
		nap(1);
	/* The board was closed, and has released the memory. */
	GIVES(peerlane.release(lab->peer), CL_INVALID_PEER_MEMORY_PEERLANE);
	gpu_free(lab->memory);
}
