/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The direct path, with the mock of a board's library in vendors/board.c, and with a real one. */
#define CL_TARGET_OPENCL_VERSION 120
#include "copies.h"

#include <stdlib.h>

enum { SIZE = 65536, COPIES = 0, EXPORTS, REGISTERED, RELEASED, RESTARTS };

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
	/* The functions by which the driver configures the library are hidden from the program. */
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

	/* The peer's memory is unknown. */
	*counter(COPIES) = 0;
	fill(&peer, to, 2, SIZE);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "no way to this memory. (-10003)"));
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(holds(&peer, to, 5, SIZE) && *counter(COPIES) == 0);

	/*
	 * The memory is named. Bytes go into it, and the peer's buffer, which really is other memory, stays unchanged.
	 */
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
	/* A buffer that the host may not access can be copied without the host. */
	host = new_buffer(&peer, CL_MEM_HOST_NO_ACCESS, SIZE, NULL);
	GIVES(simple(host, from, 0, 0, SIZE), CL_INVALID_OPERATION);
	GIVES(name_memory(board.device, host, memory, 0), CL_SUCCESS);
	GIVES(simple(host, from, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 3);
	clReleaseMemObject(host);

	/* OpenCL has the contents on the host: the copy takes the other path, and ends well. */
	host = new_buffer(&board, CL_MEM_USE_HOST_PTR, SIZE, of_host);
	fill(&board, host, 3, SIZE);
	GIVES(path(host, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "on the host. (-10004)"));
	*counter(COPIES) = 0;
	GIVES(simple(host, to, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 0 && holds(&peer, to, 3, SIZE));
	clReleaseMemObject(host);

	/* The board is programmed during the copy: it is tried once more, then it takes the other path. */
	for (int times = 1; times <= 3; times++) {
		*counter(RESTARTS) = times;
		*counter(COPIES) = 0;
		fill(&board, from, 10 + times, SIZE);
		GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
		IS(*counter(COPIES) == (times == 1) && *counter(RESTARTS) == (times == 3));
		IS(times == 1 ? is_all(bytes + 100, 11, SIZE) : holds(&peer, to, 10 + times, SIZE));
	}
	*counter(RESTARTS) = 0;
	fill(&board, from, 9, SIZE);

	/* A part has no address. */
	part = clCreateSubBuffer(from, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	GIVES(error, CL_SUCCESS);
	GIVES(path(part, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "sub-buffer"));
	GIVES(name_memory(board.device, part, memory, 0), CL_INVALID_MEM_OBJECT);
	clReleaseMemObject(part);

	/* An error of the library is the copy's error. The other path is not tried: bytes may have been moved. */
	GIVES(release(memory), CL_SUCCESS);
	GIVES(copy(board.queue, from, to, 0, 0, 1, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), -10001);
	GIVES(clReleaseCommandQueue(board.queue), CL_SUCCESS);
	board.queue = clCreateCommandQueue(board.context, board.device, 0, &error);
	/* The name is removed. */
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

	/* The platform exports its memory: it is registered for each copy, and released. */
	*counter(EXPORTS) = 1;
	*counter(REGISTERED) = *counter(RELEASED) = *counter(COPIES) = 0;
	to = new_buffer(&peer, 0, SIZE, NULL);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_DIRECT_PEERLANE);
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(*counter(COPIES) == 1 && *counter(REGISTERED) == 3 && *counter(RELEASED) == 3);
	GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	GIVES(end_of(done), CL_COMPLETE);
	for (int i = 0; i < 20000 && *(volatile int *)counter(RELEASED) < 4; i++)
		nap(1);
	IS(*counter(REGISTERED) == 4 && *counter(RELEASED) == 4);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	free(bytes), free(of_host);
}

/* The board moves the bytes to and from the memory of its GPU, which is named for the peer's buffer. */
void part_simulated(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	void *(*allocate)(unsigned, size_t);
	int (*read_gpu)(const void *, void *, size_t), (*write_gpu)(void *, const void *, size_t);
	cl_peer_memory_peerlane (*create)(cl_device_id, cl_mem_flags, void *, size_t, cl_ulong, cl_int *), memory;
	cl_int (*release)(cl_peer_memory_peerlane), (*to_peer)(cl_mem, cl_peer_memory_peerlane, size_t, size_t, size_t,
							       cl_bool, cl_uint, const cl_event *, cl_event *);
	char *bytes = malloc(SIZE), *gpu, reason[500];
	cl_event gate, done, peers;
	cl_context context = NULL;
	cl_int error = 77;

	*(void **)&board_function = clGetExtensionFunctionAddressForPlatform(
		board.platform, "clGetBoardExtensionFunctionAddressIntelFPGA");
	*(void **)&allocate = board_function("peerlane_simulated_gpu_allocate", board.device);
	*(void **)&read_gpu = board_function("peerlane_simulated_gpu_read", board.device);
	*(void **)&write_gpu = board_function("peerlane_simulated_gpu_write", board.device);
	*(void **)&create = board_function("clCreatePeerMemoryFromPointerPeerlane", board.device);
	*(void **)&release = board_function("clReleasePeerMemoryPeerlane", board.device);
	*(void **)&to_peer = board_function("clCopyBufferToPeerPeerlane", board.device);
	IS(allocate && read_gpu && write_gpu && create && release && to_peer);
	if (!allocate || !read_gpu || !write_gpu || !create || !release || !to_peer)
		return;
	gpu = allocate(0, SIZE + 4096);
	memory = create(board.device, CL_MEM_READ_WRITE, gpu, SIZE + 4096, 0, &error);
	GIVES(error, CL_SUCCESS);

	/* PoCL's buffers are not memory that the board reaches. */
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "(-10003)"));
	fill(&board, from, 5, SIZE);
	fill(&peer, to, 2, SIZE);
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	IS(holds(&peer, to, 5, SIZE));

	GIVES(name_memory(board.device, to, memory, 4096), CL_SUCCESS);
	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_DIRECT_PEERLANE);
	fill(&board, from, 7, SIZE);
	gate = user_event(&peer);
	/* The board writes whole dwords. Other bytes would go through the host. */
	GIVES(copy(board.queue, from, to, 1, 4, SIZE - 4, CL_FALSE, 0, NULL, 1, &gate, &done, &peers), CL_SUCCESS);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	clReleaseEvent(gate);
	GIVES(clFinish(board.queue), CL_SUCCESS);
	GIVES(end_of(done), CL_COMPLETE);
	GIVES(end_of(peers), CL_COMPLETE);
	GIVES(read_gpu(gpu + 4096, bytes, SIZE), 0);
	IS(is_all(bytes + 4, 7, SIZE - 4) && is_all(bytes, 0, 4));
	IS(holds(&peer, to, 5, SIZE));
	memset(bytes, 9, SIZE);
	GIVES(write_gpu(gpu + 4096, bytes, SIZE), 0);
	GIVES(simple(to, from, 0, 0, SIZE), CL_SUCCESS);
	IS(holds(&board, from, 9, SIZE));

	/* The library's own functions, with the program's handles and events. */
	gate = user_event(&board);
	GIVES(to_peer(from, memory, 0, 0, SIZE, CL_FALSE, 1, &gate, &done), CL_SUCCESS);
	GIVES(clGetEventInfo(done, CL_EVENT_CONTEXT, sizeof(context), &context, NULL), CL_SUCCESS);
	IS(context == board.context && status_of(done) > CL_COMPLETE);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(clWaitForEvents(1, &done), CL_SUCCESS);
	GIVES(end_of(done), CL_COMPLETE);
	clReleaseEvent(gate);
	GIVES(read_gpu(gpu, bytes, SIZE), 0);
	IS(is_all(bytes, 9, SIZE));

	GIVES(name_memory(board.device, to, NULL, 0), CL_SUCCESS);
	GIVES(release(memory), CL_SUCCESS);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	free(bytes);
}
