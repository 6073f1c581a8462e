/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The direct path, with the stand-in for a board's library in vendors/board.c. */
#define CL_TARGET_OPENCL_VERSION 120
#include "copies.h"

#include <stdlib.h>

enum { SIZE = 65536, COPIES = 0, EXPORTS, REGISTERED, RELEASED };

static void *(*board_function)(const char *, cl_device_id);
static int *(*counter)(int);

static int is_all(const char *bytes, char value, size_t size)
{
	return bytes[0] == value && !memcmp(bytes, bytes + 1, size - 1);
}

void part_direct(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL), host, part;
	cl_buffer_region region = {4096, 4096};
	cl_peer_memory_peerlane memory;
	cl_peer_memory_peerlane (*new_memory)(char *, size_t);
	cl_int (*release)(cl_peer_memory_peerlane), (*to_peer)(cl_mem, cl_peer_memory_peerlane, size_t, size_t, size_t,
							       cl_bool, cl_uint, const cl_event *, cl_event *);
	char *bytes = calloc(1, SIZE + 100), *of_host = calloc(1, SIZE), reason[500];
	cl_event gate, done, peers;
	cl_int error;

	*(void **)&board_function = clGetExtensionFunctionAddressForPlatform(
		board.platform, "clGetBoardExtensionFunctionAddressIntelFPGA");
	IS(board_function);
	if (!board_function)
		return;
	*(void **)&new_memory = board_function("stand_in_memory", board.device);
	*(void **)&counter = board_function("stand_in_counter", board.device);
	*(void **)&release = board_function("clReleasePeerMemoryPeerlane", board.device);
	*(void **)&to_peer = board_function("clCopyBufferToPeerPeerlane", board.device);
	IS(new_memory && counter && release && to_peer);
	/* What the driver tells the library is not the program's to change. */
	IS(!board_function("clSetOpenCLPeerlane", board.device));
	IS(!board_function("clReleasePeerMemoryPeerlane", NULL));
	IS(!board_function("clReleasePeerMemoryPeerlane", (cl_device_id)board.queue));
	if (!new_memory || !counter || !release || !to_peer)
		return;

	/* The library's functions take the program's handles. */
	memory = new_memory(bytes, SIZE + 100);
	fill(&board, from, 5, SIZE);
	GIVES(to_peer(from, memory, 0, 100, SIZE, CL_TRUE, 0, NULL, NULL), CL_SUCCESS);
	IS(is_all(bytes + 100, 5, SIZE) && is_all(bytes, 0, 100));

	/* Nobody knows the peer's memory. */
	*counter(COPIES) = 0;
	fill(&peer, to, 2, SIZE);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "no way to this memory. (-10003)"));
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(holds(&peer, to, 5, SIZE) && *counter(COPIES) == 0);

	/* It is named. Bytes go into it, and the peer's buffer, which is another in truth, stays as it is. */
	GIVES(name_memory(board.device, to, memory, 100), CL_SUCCESS);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_DIRECT_PEERLANE);
	IS(!reason[0]);
	fill(&board, from, 7, SIZE);
	gate = user_event(&peer);
	GIVES(copy(board.queue, from, to, 10, 20, SIZE - 20, CL_FALSE, 0, NULL, 1, &gate, &done, &peers), CL_SUCCESS);
	nap(20);
	IS(status_of(done) == CL_SUBMITTED && *counter(COPIES) == 0);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	clReleaseEvent(gate);
	GIVES(end_of(done), CL_COMPLETE);
	GIVES(end_of(peers), CL_COMPLETE);
	IS(*counter(COPIES) == 1 && holds(&peer, to, 5, SIZE));
	IS(is_all(bytes + 120, 7, SIZE - 20) && is_all(bytes + 100, 5, 20));
	memset(bytes, 9, SIZE + 100);
	GIVES(simple(to, from, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 2 && holds(&board, from, 9, SIZE));
	/* What the host may not touch needs no host. */
	host = new_buffer(&peer, CL_MEM_HOST_NO_ACCESS, SIZE, NULL);
	GIVES(simple(host, from, 0, 0, SIZE), CL_INVALID_OPERATION);
	GIVES(name_memory(board.device, host, memory, 0), CL_SUCCESS);
	GIVES(simple(host, from, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 3);
	clReleaseMemObject(host);

	/* OpenCL has the contents on the host: the other way, and it ends well. */
	host = new_buffer(&board, CL_MEM_USE_HOST_PTR, SIZE, of_host);
	fill(&board, host, 3, SIZE);
	GIVES(path(host, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "on the host. (-10004)"));
	*counter(COPIES) = 0;
	GIVES(simple(host, to, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 0 && holds(&peer, to, 3, SIZE));
	clReleaseMemObject(host);

	/* A part has no address. */
	part = clCreateSubBuffer(from, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	GIVES(error, CL_SUCCESS);
	GIVES(path(part, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "sub-buffer"));
	GIVES(name_memory(board.device, part, memory, 0), CL_INVALID_MEM_OBJECT);
	clReleaseMemObject(part);

	/* The library's errors are the copy's. Nothing is tried in its place: bytes may have been moved. */
	GIVES(release(memory), CL_SUCCESS);
	GIVES(copy(board.queue, from, to, 0, 0, 1, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), -10001);
	GIVES(clReleaseCommandQueue(board.queue), CL_SUCCESS);
	board.queue = clCreateCommandQueue(board.context, board.device, 0, &error);
	/* Taken back. */
	GIVES(name_memory(board.device, to, NULL, 0), CL_SUCCESS);
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(holds(&peer, to, 9, SIZE));

	/* A name ends with its buffer. */
	memory = new_memory(bytes, SIZE);
	GIVES(name_memory(board.device, to, memory, 0), CL_SUCCESS);
	clReleaseMemObject(to);
	for (int i = 0; i < 50; i++) {
		to = new_buffer(&peer, 0, SIZE, NULL);
		GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
		clReleaseMemObject(to);
	}
	GIVES(release(memory), CL_SUCCESS);

	/* The platform tells its memory: it is registered for each copy, and let go of. */
	*counter(EXPORTS) = 1;
	*counter(REGISTERED) = *counter(RELEASED) = *counter(COPIES) = 0;
	to = new_buffer(&peer, 0, SIZE, NULL);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_DIRECT_PEERLANE);
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 1 && *counter(REGISTERED) == 3 && *counter(RELEASED) == 3);
	GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	GIVES(end_of(done), CL_COMPLETE);
	for (int i = 0; i < 1000 && *(volatile int *)counter(RELEASED) < 4; i++)
		nap(1);
	IS(*counter(REGISTERED) == 4 && *counter(RELEASED) == 4);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	free(bytes), free(of_host);
}
