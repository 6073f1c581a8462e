/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Copies between buffers of two platforms (docs/cl_peerlane_copy_buffer.md), one of which is the driver around a vendor
 * library. Prints a line for each failed check, and a last line with their count.
 *
 * usage: PROGRAM PART [DRIVER]; DRIVER is the driver's file, whose counter of objects is read.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include "copies.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int failures;
struct side board, peer;
clEnqueueCopyBufferPeerlane_fn copy;
clGetCopyBufferInfoPeerlane_fn info;
clSetPeerMemoryPeerlane_fn name_memory;

void not_so(const char *what, const char *file, int line, long found)
{
	__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);
	printf("%s:%d: %s (%ld)\n", file, line, what, found);
}

void nap(int milliseconds)
{
	usleep((useconds_t)milliseconds * 1000);
}

static cl_command_queue new_queue(struct side *side, cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(side->context, side->device, properties, &error);

	GIVES(error, CL_SUCCESS);
	return queue;
}

static void set_up(struct side *side, cl_platform_id platform)
{
	cl_int error;

	side->platform = platform;
	GIVES(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &side->device, NULL), CL_SUCCESS);
	side->context = clCreateContext(NULL, 1, &side->device, NULL, NULL, &error);
	GIVES(error, CL_SUCCESS);
	side->queue = new_queue(side, CL_QUEUE_PROFILING_ENABLE);
}

static void end(struct side *side)
{
	clReleaseCommandQueue(side->queue);
	clReleaseContext(side->context);
}

cl_mem new_buffer(struct side *side, cl_mem_flags flags, size_t size, void *host)
{
	cl_int error;
	cl_mem buffer = clCreateBuffer(side->context, flags, size, host, &error);

	GIVES(error, CL_SUCCESS);
	return buffer;
}

cl_event user_event(struct side *side)
{
	cl_int error;
	cl_event event = clCreateUserEvent(side->context, &error);

	GIVES(error, CL_SUCCESS);
	return event;
}

cl_int status_of(cl_event event)
{
	cl_int status = 77;

	GIVES(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL), CL_SUCCESS);
	return status;
}

/* Waits until an event has ended, and releases it. */
cl_int end_of(cl_event event)
{
	cl_int status;

	for (int i = 0; i < 20000 && status_of(event) > CL_COMPLETE; i++)
		nap(1);
	status = status_of(event);
	GIVES(clReleaseEvent(event), CL_SUCCESS);
	return status;
}

void fill(struct side *side, cl_mem buffer, int value, size_t size)
{
	char *bytes = malloc(size);

	memset(bytes, value, size);
	GIVES(clEnqueueWriteBuffer(side->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL), CL_SUCCESS);
	free(bytes);
}

/* Returns whether a buffer contains one value only. */
int holds(struct side *side, cl_mem buffer, int value, size_t size)
{
	unsigned char *bytes = malloc(size);
	int all = 1;

	GIVES(clEnqueueReadBuffer(side->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL), CL_SUCCESS);
	for (size_t i = 0; i < size; i++)
		all &= bytes[i] == (unsigned char)value;
	free(bytes);
	return all;
}

cl_int simple(cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size)
{
	return copy(board.queue, from, to, from_at, to_at, size, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL);
}

/* Both directions, at odd places, parts of buffers, and more data than fits into the host's memory at once. */
static void bytes_arrive(struct side *from, struct side *to, size_t from_at, size_t to_at, size_t size, int part)
{
	size_t edge = 4096, room = size + 2 * edge;
	cl_buffer_region region = {edge, size ? size : 1};
	cl_mem source = new_buffer(from, 0, room, NULL), destination = new_buffer(to, 0, room, NULL);
	cl_mem source_part = NULL, destination_part = NULL;
	unsigned char *sent = malloc(room), *found = malloc(room), *expected = malloc(room);
	cl_int error;

	for (size_t i = 0; i < room; i++)
		sent[i] = (unsigned char)(i * 7 + i / 251 + size);
	memset(expected, 0xee, room);
	GIVES(clEnqueueWriteBuffer(from->queue, source, CL_TRUE, 0, room, sent, 0, NULL, NULL), CL_SUCCESS);
	fill(to, destination, 0xee, room);
	if (part) {
		source_part = clCreateSubBuffer(source, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
		GIVES(error, CL_SUCCESS);
		destination_part = clCreateSubBuffer(destination, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
		GIVES(error, CL_SUCCESS);
		from_at = to_at = edge;
		GIVES(simple(source_part, destination_part, 0, 0, size), CL_SUCCESS);
	} else {
		GIVES(simple(source, destination, from_at, to_at, size), CL_SUCCESS);
	}
	memcpy(expected + to_at, sent + from_at, size);
	GIVES(clEnqueueReadBuffer(to->queue, destination, CL_TRUE, 0, room, found, 0, NULL, NULL), CL_SUCCESS);
	IS(!memcmp(found, expected, room));
	if (part) {
		/*
		 * Not before: the open FPGA runtime drops the data that were written into a part that is gone
		 * (parts.c).
		 */
		clReleaseMemObject(source_part);
		clReleaseMemObject(destination_part);
	}
	clReleaseMemObject(source);
	clReleaseMemObject(destination);
	free(sent), free(found), free(expected);
}

/* The largest copy: COPIES_MOST, for simulated boards, which are slow. */
static size_t most(void)
{
	const char *text = getenv("COPIES_MOST");

	return text ? (size_t)atol(text) : (13 << 20) + 1;
}

static void part_data(void)
{
	const size_t sizes[] = {0, 1, 4095, 65536, (4 << 20) + 3, (13 << 20) + 1};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= most(); i++) {
		bytes_arrive(&board, &peer, 3, 7, sizes[i], 0);
		bytes_arrive(&peer, &board, 5, 1, sizes[i], 0);
		bytes_arrive(&board, &peer, 0, 0, sizes[i], 1);
		bytes_arrive(&peer, &board, 0, 0, sizes[i], 1);
	}
}

/* Another context of the same platform is a peer, too. */
static void part_same_platform(void)
{
	struct side other;

	set_up(&other, board.platform);
	bytes_arrive(&board, &other, 3, 7, 65537, 0);
	bytes_arrive(&other, &board, 3, 7, 65537, 0);
	end(&other);
}

enum { SIZE = 65536 };

/* In an in-order queue a copy has its place; its gate and the peer's gate hold it up. */
static void part_order(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event gate = user_event(&board), peers_gate = user_event(&peer), first, done, later, back, peers_done;
	unsigned char *bytes = malloc(SIZE), *others = malloc(SIZE), *seen = malloc(SIZE);

	fill(&board, from, 1, SIZE);
	fill(&peer, to, 0, SIZE);
	memset(bytes, 2, SIZE);
	memset(others, 3, SIZE);
	/* A write that waits, the copy, and a write after it. */
	GIVES(clEnqueueWriteBuffer(board.queue, from, CL_FALSE, 0, SIZE, bytes, 1, &gate, &first), CL_SUCCESS);
	GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &peers_gate, &done, &peers_done),
	      CL_SUCCESS);
	GIVES(clEnqueueWriteBuffer(board.queue, from, CL_FALSE, 0, SIZE, others, 0, NULL, &later), CL_SUCCESS);
	/* The peer's queue continues after the copy. */
	GIVES(clEnqueueReadBuffer(peer.queue, to, CL_FALSE, 0, SIZE, seen, 1, &peers_done, &back), CL_SUCCESS);
	clFlush(peer.queue);
	GIVES(clSetUserEventStatus(peers_gate, CL_COMPLETE), CL_SUCCESS);
	nap(50);
	GIVES(status_of(done), CL_SUBMITTED);
	GIVES(status_of(peers_done), CL_SUBMITTED);
	IS(status_of(later) > CL_COMPLETE);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(clFinish(board.queue), CL_SUCCESS);
	GIVES(status_of(done), CL_COMPLETE);
	GIVES(end_of(back), CL_COMPLETE);
	IS(seen[0] == 2 && !memcmp(seen, seen + 1, SIZE - 1));
	IS(holds(&board, from, 3, SIZE));
	GIVES(end_of(done), CL_COMPLETE);
	GIVES(end_of(peers_done), CL_COMPLETE);
	GIVES(end_of(first), CL_COMPLETE);
	GIVES(end_of(later), CL_COMPLETE);
	clReleaseEvent(gate);
	clReleaseEvent(peers_gate);

	/* The peer's event alone, and a copy that only clFinish flushes. */
	peers_gate = user_event(&peer);
	fill(&peer, to, 9, SIZE);
	GIVES(copy(board.queue, to, from, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &peers_gate, NULL, NULL), CL_SUCCESS);
	nap(20);
	GIVES(clSetUserEventStatus(peers_gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(clFinish(board.queue), CL_SUCCESS);
	IS(holds(&board, from, 9, SIZE));
	clReleaseEvent(peers_gate);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	free(bytes), free(others), free(seen);
}

/* Out of order: a copy overtakes commands that it does not wait for, and waits for a barrier. */
static void part_out_of_order(void)
{
	cl_command_queue queue = new_queue(&board, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event gate = user_event(&board), past = user_event(&board), held, done, behind;
	cl_int markers, waits;

	fill(&board, from, 4, SIZE);
	GIVES(clSetUserEventStatus(past, CL_COMPLETE), CL_SUCCESS);
	GIVES(clEnqueueMarkerWithWaitList(queue, 1, &gate, &held), CL_SUCCESS);
	/* A copy overtakes the commands that a marker overtakes. (PoCL 3.1's overtakes nothing.) */
	GIVES(clEnqueueMarkerWithWaitList(queue, 1, &past, &behind), CL_SUCCESS);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	/* Both or neither. Where neither does, a second of waiting is enough; a busy computer may end one long after the
	   other. */
	for (int i = 0;; i++) {
		markers = status_of(behind) > CL_COMPLETE;
		waits = status_of(done) > CL_COMPLETE;
		if (i == 20000 || (waits == markers && (!markers || i >= 1000)))
			break;
		nap(1);
	}
	GIVES(waits, markers);
	IS(status_of(held) > CL_COMPLETE);
	clReleaseEvent(behind);
	clReleaseEvent(past);
	clReleaseEvent(done);
	if (!markers)
		IS(holds(&peer, to, 4, SIZE));
	GIVES(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL), CL_SUCCESS);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	nap(50);
	GIVES(status_of(done), CL_SUBMITTED);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(end_of(done), CL_COMPLETE);
	clReleaseEvent(gate);
	/* A marker comes after all commands, and so after a copy. */
	gate = user_event(&board);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 1, &gate, 0, NULL, NULL, NULL), CL_SUCCESS);
	GIVES(clEnqueueMarkerWithWaitList(queue, 0, NULL, &behind), CL_SUCCESS);
	/* Not flushed: clFlush of the open FPGA runtime waits for commands that wait. */
	nap(20);
	IS(status_of(behind) > CL_COMPLETE);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(end_of(behind), CL_COMPLETE);
	GIVES(end_of(held), CL_COMPLETE);
	clReleaseEvent(gate);
	GIVES(clFinish(queue), CL_SUCCESS);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseCommandQueue(queue);
}

/* Each row of the table. No event is made, and no object is left. */
static void part_errors(void)
{
	cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
	cl_mem of_board = new_buffer(&board, 0, SIZE, NULL), other = new_buffer(&board, 0, SIZE, NULL);
	cl_mem of_peer = new_buffer(&peer, 0, SIZE, NULL), others = new_buffer(&peer, 0, SIZE, NULL), image, gone;
	cl_event event = (cl_event)&event, peers = (cl_event)&peers, none = NULL;
	cl_event ours = user_event(&board), theirs = user_event(&peer), foreign;
	struct side stranger;
	cl_int error;

	set_up(&stranger, board.platform);
	foreign = user_event(&stranger);
	image = clCreateImage(board.context, 0, &format, &description, NULL, &error);
	gone = new_buffer(&board, 0, SIZE, NULL);
	clReleaseMemObject(gone);
#define REFUSED(...) REFUSED_(__VA_ARGS__)
#define REFUSED_(expected, queue, from, to, from_at, to_at, size, n, list, m, peers_list)                              \
	do {                                                                                                          \
		GIVES(copy(queue, from, to, from_at, to_at, size, CL_FALSE, n, list, m, peers_list, &event, &peers),  \
		      expected);                                                                                      \
		GIVES(copy(queue, from, to, from_at, to_at, size, CL_TRUE, n, list, m, peers_list, NULL, NULL),       \
		      expected);                                                                                      \
		IS(event == (cl_event)&event && peers == (cl_event)&peers);                                           \
	} while (0)
#define NOTHING 0, NULL, 0, NULL
	REFUSED(CL_INVALID_COMMAND_QUEUE, NULL, of_board, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_COMMAND_QUEUE, (cl_command_queue)ours, of_board, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_COMMAND_QUEUE, peer.queue, of_board, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_MEM_OBJECT, board.queue, NULL, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_MEM_OBJECT, board.queue, of_board, NULL, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_MEM_OBJECT, board.queue, gone, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_MEM_OBJECT, board.queue, (cl_mem)ours, of_peer, 0, 0, 1, NOTHING);
	if (image)
		REFUSED(CL_INVALID_MEM_OBJECT, board.queue, image, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_CONTEXT, board.queue, of_board, other, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_CONTEXT, board.queue, of_peer, others, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_CONTEXT, stranger.queue, of_board, of_peer, 0, 0, 1, NOTHING);
	REFUSED(CL_INVALID_VALUE, board.queue, of_board, of_peer, 1, 0, SIZE, NOTHING);
	REFUSED(CL_INVALID_VALUE, board.queue, of_board, of_peer, 0, 1, SIZE, NOTHING);
	REFUSED(CL_INVALID_VALUE, board.queue, of_peer, of_board, SIZE + 1, 0, 0, NOTHING);
	REFUSED(CL_INVALID_VALUE, board.queue, of_peer, of_board, 2, 0, (size_t)-1, NOTHING);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 1, NULL, 0, NULL);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 0, &ours, 0, NULL);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 1, &none, 0, NULL);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 1, &theirs, 0, NULL);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 0, NULL, 1, NULL);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 0, NULL, 0, &theirs);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 0, NULL, 1, &none);
	REFUSED(CL_INVALID_EVENT_WAIT_LIST, board.queue, of_board, of_peer, 0, 0, 1, 0, NULL, 1, (cl_event *)&of_board);
	REFUSED(CL_INVALID_CONTEXT, board.queue, of_board, of_peer, 0, 0, 1, 1, &foreign, 0, NULL);
	REFUSED(CL_INVALID_CONTEXT, board.queue, of_board, of_peer, 0, 0, 1, 0, NULL, 1, &ours);
	/* A buffer that the host may not access is not copied through its memory. */
	for (int i = 0; i < 3; i++) {
		static const cl_mem_flags flags[] = {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY,
						     CL_MEM_HOST_WRITE_ONLY};
		cl_mem closed = new_buffer(&board, flags[i], SIZE, NULL);

		if (flags[i] != CL_MEM_HOST_READ_ONLY)
			REFUSED(CL_INVALID_OPERATION, board.queue, closed, of_peer, 0, 0, 1, NOTHING);
		if (flags[i] != CL_MEM_HOST_WRITE_ONLY)
			REFUSED(CL_INVALID_OPERATION, board.queue, of_peer, closed, 0, 0, 1, NOTHING);
		clReleaseMemObject(closed);
	}
	GIVES(name_memory(NULL, of_peer, NULL, 0), CL_INVALID_DEVICE);
	GIVES(name_memory(peer.device, of_peer, NULL, 0), CL_INVALID_DEVICE);
	GIVES(name_memory(board.device, NULL, NULL, 0), CL_INVALID_MEM_OBJECT);
	GIVES(info(NULL, of_board, of_peer, CL_COPY_BUFFER_PATH_PEERLANE, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	GIVES(info(board.queue, NULL, of_peer, CL_COPY_BUFFER_PATH_PEERLANE, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	GIVES(info(board.queue, of_board, other, CL_COPY_BUFFER_PATH_PEERLANE, 0, NULL, NULL), CL_INVALID_CONTEXT);
	GIVES(info(board.queue, of_board, of_peer, 1, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(info(board.queue, of_board, of_peer, CL_COPY_BUFFER_PATH_PEERLANE, 1, &error, NULL), CL_INVALID_VALUE);
	/* The queue still works. */
	GIVES(clFinish(board.queue), CL_SUCCESS);
	GIVES(simple(of_board, of_peer, 0, 0, SIZE), CL_SUCCESS);
	/* The open FPGA runtime does not release a context whose user events have not ended. */
	clSetUserEventStatus(ours, CL_COMPLETE);
	clSetUserEventStatus(foreign, CL_COMPLETE);
	clReleaseEvent(ours);
	clReleaseEvent(theirs);
	clReleaseEvent(foreign);
	if (image)
		clReleaseMemObject(image);
	clReleaseMemObject(of_board);
	clReleaseMemObject(other);
	clReleaseMemObject(of_peer);
	clReleaseMemObject(others);
	end(&stranger);
}

static int heard;
static cl_int heard_status;
static cl_event heard_of;

static void CL_CALLBACK hear(cl_event event, cl_int status, void *data)
{
	(void)data;
	heard_of = event;
	heard_status = status;
	__atomic_store_n(&heard, 1, __ATOMIC_SEQ_CST);
}

static cl_ulong raw_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (cl_ulong)now.tv_sec * 1000000000 + (cl_ulong)now.tv_nsec;
}

/* Information that the event of a copy returns. */
static void part_events(void)
{
	static const cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
						  CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
	cl_command_queue plain = new_queue(&board, 0), queue = NULL;
	cl_mem from = new_buffer(&board, 0, most(), NULL), to = new_buffer(&peer, 0, most(), NULL);
	cl_event gate = user_event(&peer), done, peers, unprofiled, marker;
	cl_ulong times[4] = {0}, before = raw_clock(), markers = 0;
	cl_context context = NULL;
	cl_command_type type = 0;
	cl_uint references = 0;
	size_t size = 0;

	GIVES(copy(board.queue, from, to, 0, 0, most(), CL_FALSE, 0, NULL, 1, &gate, &done, &peers), CL_SUCCESS);
	GIVES(clGetEventInfo(done, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, &size), CL_SUCCESS);
	IS(queue == board.queue && size == sizeof(queue));
	GIVES(clGetEventInfo(done, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL), CL_SUCCESS);
	IS(type == CL_COMMAND_COPY_BUFFER_PEERLANE);
	GIVES(clGetEventInfo(done, CL_EVENT_COMMAND_TYPE, 1, &type, NULL), CL_INVALID_VALUE);
	GIVES(clGetEventInfo(done, CL_EVENT_CONTEXT, sizeof(context), &context, NULL), CL_SUCCESS);
	IS(context == board.context);
	GIVES(clGetEventInfo(peers, CL_EVENT_CONTEXT, sizeof(context), &context, NULL), CL_SUCCESS);
	IS(context == peer.context);
	GIVES(clSetUserEventStatus(done, CL_COMPLETE), CL_INVALID_EVENT);
	GIVES(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof(times[0]), times, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	GIVES(clSetEventCallback(done, CL_COMPLETE, hear, NULL), CL_SUCCESS);
	nap(30);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(clWaitForEvents(1, &done), CL_SUCCESS);
	for (int i = 0; i < 5000 && !__atomic_load_n(&heard, __ATOMIC_SEQ_CST); i++)
		nap(1);
	IS(heard && heard_status == CL_COMPLETE && heard_of == done);
	for (int i = 0; i < 4; i++)
		GIVES(clGetEventProfilingInfo(done, names[i], sizeof(times[i]), &times[i], NULL), CL_SUCCESS);
	IS(before <= times[0] && times[0] <= times[1] && times[1] < times[2] && times[2] < times[3]);
	IS(times[3] <= raw_clock());
	/* The copy waited for the gate, and took time. */
	IS(times[2] - times[1] > 25000000 && times[3] - times[2] > 1000);
	GIVES(clGetEventProfilingInfo(done, 1, sizeof(times[0]), times, NULL), CL_INVALID_VALUE);
	GIVES(clGetEventProfilingInfo(peers, CL_PROFILING_COMMAND_END, sizeof(times[0]), times, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	/* The vendor's clock is the same. */
	GIVES(clEnqueueMarkerWithWaitList(board.queue, 1, &done, &marker), CL_SUCCESS);
	GIVES(clWaitForEvents(1, &marker), CL_SUCCESS);
	GIVES(clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_QUEUED, sizeof(markers), &markers, NULL), CL_SUCCESS);
	IS(markers > times[3] && markers < raw_clock());
	clReleaseEvent(marker);
	GIVES(copy(plain, from, to, 0, 0, 1, CL_TRUE, 0, NULL, 0, NULL, &unprofiled, NULL), CL_SUCCESS);
	GIVES(status_of(unprofiled), CL_COMPLETE);
	GIVES(clGetEventProfilingInfo(unprofiled, CL_PROFILING_COMMAND_END, sizeof(times[0]), times, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	/* An event retains its queue. */
	clReleaseCommandQueue(plain);
	GIVES(clGetEventInfo(unprofiled, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL), CL_SUCCESS);
	IS(queue == plain);
	GIVES(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL), CL_SUCCESS);
	IS(context == board.context);
	GIVES(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references), &references, NULL),
	      CL_SUCCESS);
	IS(references > 0);
	clReleaseEvent(unprofiled);
	GIVES(end_of(done), CL_COMPLETE);
	GIVES(end_of(peers), CL_COMPLETE);
	clReleaseEvent(gate);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
}

/* In an in-order queue the failure of a peer's event does not overtake earlier commands. */
static void fails_in_its_place(void)
{
	cl_command_queue queue = new_queue(&board, 0);
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event gate = user_event(&board), fails = user_event(&peer), front, done;

	GIVES(clEnqueueMarkerWithWaitList(queue, 1, &gate, &front), CL_SUCCESS);
	GIVES(clSetUserEventStatus(fails, -5), CL_SUCCESS);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &fails, &done, NULL), CL_SUCCESS);
	nap(50);
	IS(status_of(front) > CL_COMPLETE);
	GIVES(status_of(done), CL_SUBMITTED);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	GIVES(end_of(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	GIVES(end_of(front), CL_COMPLETE);
	clReleaseEvent(gate);
	clReleaseEvent(fails);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseCommandQueue(queue);
}

/* A copy that fails copies nothing, and both sides' events fail. */
static void part_failures(void)
{
	fails_in_its_place();
	for (int side = 0; side < 2; side++) {
		cl_command_queue queue = new_queue(&board, 0);
		cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
		cl_event gate = user_event(side ? &peer : &board), ours[2], done, peers;

		fill(&board, from, 1, SIZE);
		fill(&peer, to, 2, SIZE);
		ours[0] = gate;
		GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, side ? 0 : 1, side ? NULL : ours, side ? 1 : 0,
			   side ? ours : NULL, &done, &peers),
		      CL_SUCCESS);
		/* PoCL 3.1 cannot handle a new waiter on a command while it reports the command's failure. */
		nap(20);
		GIVES(clSetUserEventStatus(gate, -5), CL_SUCCESS);
		GIVES(end_of(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
		GIVES(end_of(peers), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
		IS(holds(&peer, to, 2, SIZE));
		clReleaseCommandQueue(queue);
		queue = new_queue(&board, 0);
		GIVES(copy(queue, from, to, 0, 0, SIZE, CL_TRUE, side ? 0 : 1, side ? NULL : ours, side ? 1 : 0,
			   side ? ours : NULL, NULL, NULL),
		      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
		clReleaseEvent(gate);
		clReleaseMemObject(from);
		clReleaseMemObject(to);
		clReleaseCommandQueue(queue);
	}
}

static cl_uint references(cl_command_queue queue)
{
	cl_uint number = 0;

	GIVES(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(number), &number, NULL), CL_SUCCESS);
	return number;
}

/* Copies that fail in an out-of-order queue release their references to the queue, and later commands do not fail. */
static void part_references(void)
{
	cl_command_queue queue = new_queue(&board, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_uint before = references(queue);
	cl_event behind;

	fill(&board, from, 1, SIZE);
	fill(&peer, to, 2, SIZE);
	for (int round = 0; round < 8; round++) {
		int side = round & 1, late = round & 2, blocking = round & 4 && !late;
		cl_event gate = user_event(side ? &peer : &board), done;

		if (!late)
			GIVES(clSetUserEventStatus(gate, -5), CL_SUCCESS);
		GIVES(copy(queue, from, to, 0, 0, SIZE, blocking ? CL_TRUE : CL_FALSE, side ? 0 : 1,
			   side ? NULL : &gate, side ? 1 : 0, side ? &gate : NULL, blocking ? NULL : &done, NULL),
		      blocking ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
		GIVES(clEnqueueBarrierWithWaitList(queue, 0, NULL, &behind), CL_SUCCESS);
		nap(20);
		if (late)
			GIVES(clSetUserEventStatus(gate, -5), CL_SUCCESS);
		if (!blocking)
			GIVES(end_of(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
		GIVES(end_of(behind), CL_COMPLETE);
		clReleaseEvent(gate);
	}
	GIVES(clFinish(queue), CL_SUCCESS);
	/* The thread that reports the end of a copy releases its objects a moment later. */
	for (int i = 0; i < 2000 && references(queue) != before; i++)
		nap(1);
	GIVES(references(queue), before);
	IS(holds(&peer, to, 2, SIZE));
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), CL_SUCCESS);
	IS(holds(&peer, to, 1, SIZE));
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseCommandQueue(queue);
}

static void CL_CALLBACK hear_and_release(cl_event event, cl_int status, void *data)
{
	hear(event, status, data);
	clReleaseEvent(event);
}

static cl_uint references_of_context(void)
{
	cl_uint number = 0;

	GIVES(clGetContextInfo(board.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(number), &number, NULL), CL_SUCCESS);
	return number;
}

/* The last reference to a copy's event is released in its callback. A moment later no object is left. */
static void part_callback(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_uint queues, contexts;
	cl_event gate, done;

	fill(&board, from, 1, SIZE);
	GIVES(clFinish(board.queue), CL_SUCCESS);
	/*
	 * The first copy makes objects in the vendor library that stay. PoCL releases a command a moment after its end.
	 */
	GIVES(simple(from, to, 0, 0, SIZE), CL_SUCCESS);
	nap(200);
	queues = references(board.queue), contexts = references_of_context();
	/* Set while the copy waits, and when it has ended. */
	for (int late = 0; late < 2; late++) {
		__atomic_store_n(&heard, 0, __ATOMIC_SEQ_CST);
		gate = user_event(&peer);
		GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &gate, &done, NULL), CL_SUCCESS);
		if (!late)
			GIVES(clSetEventCallback(done, CL_COMPLETE, hear_and_release, NULL), CL_SUCCESS);
		GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
		GIVES(clFinish(board.queue), CL_SUCCESS);
		nap(200);
		if (late)
			GIVES(clSetEventCallback(done, CL_COMPLETE, hear_and_release, NULL), CL_SUCCESS);
		for (int i = 0; i < 5000 && !__atomic_load_n(&heard, __ATOMIC_SEQ_CST); i++)
			nap(1);
		IS(heard && heard_status == CL_COMPLETE && heard_of == done);
		clReleaseEvent(gate);
	}
	for (int i = 0; i < 3000 && (references(board.queue) > queues || references_of_context() > contexts); i++)
		nap(1);
	IS(references(board.queue) <= queues);
	IS(references_of_context() <= contexts);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
}

/* Failures that the vendor library does not pass on: of an event in the list, and of an earlier copy. */
static void part_forgotten(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_command_queue queue = new_queue(&board, 0);
	cl_event gate = user_event(&board), marker, peers_gate, done, later;

	fill(&board, from, 1, SIZE);
	fill(&peer, to, 2, SIZE);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 1, &gate, 0, NULL, &done, NULL), CL_SUCCESS);
	GIVES(clEnqueueMarkerWithWaitList(queue, 1, &gate, &marker), CL_SUCCESS);
	nap(20);
	GIVES(clSetUserEventStatus(gate, -5), CL_SUCCESS);
	GIVES(end_of(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	/* This vendor library does not pass the failure on. */
	GIVES(end_of(marker), CL_COMPLETE);
	clReleaseEvent(gate);
	peers_gate = user_event(&peer);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &peers_gate, &done, NULL), CL_SUCCESS);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &later, NULL), CL_SUCCESS);
	GIVES(clSetUserEventStatus(peers_gate, -5), CL_SUCCESS);
	GIVES(end_of(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	GIVES(end_of(later), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	IS(holds(&peer, to, 2, SIZE));
	clReleaseEvent(peers_gate);
	/* A failure that was over before does not affect later copies. */
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), CL_SUCCESS);
	IS(holds(&peer, to, 1, SIZE));
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseCommandQueue(queue);
}

/* The program ends as soon as it knows that its copy has ended. */
static void part_exit(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event done;

	GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	while (status_of(done) > CL_COMPLETE)
		;
	printf("exit: %d failures\n", failures);
	exit(failures != 0);
}

/*
 * Counts threads of the driver's with the right signals blocked: all signals that the program handles, and no signals
 * of faults.
 */
static int threads_with_their_signals(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int found = 0;

	while (tasks && (task = readdir(tasks))) {
		char name[300], line[200] = "";
		unsigned long long blocked = 0;
		FILE *file;

		snprintf(name, sizeof(name), "/proc/self/task/%s/status", task->d_name);
		file = fopen(name, "r");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) && strstr(line, "peerlane-copy")) {
			while (fgets(line, sizeof(line), file) && sscanf(line, "SigBlk: %llx", &blocked) != 1)
				;
			found += (blocked & 0x7fffffff) == 0x3ffbfa27;
		}
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* Bytes are moved when the program ends, and its end waits for that. */
static void part_leave(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event done;

	GIVES(copy(board.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &done, NULL), CL_SUCCESS);
	while (status_of(done) > CL_RUNNING)
		;
	IS(threads_with_their_signals() == 1);
	printf("leave: %d failures\n", failures);
	exit(failures != 0);
}

static cl_event waited_for, waiting;
static cl_mem waits_from, waits_to;

/* Registered before the driver's own function, and so called later. A failure ends the program with another status. */
static void finish_late(void)
{
	cl_event refused;

	alarm(30);
	clSetUserEventStatus(waited_for, CL_COMPLETE);
	clWaitForEvents(1, &waiting);
	if (status_of(waiting) >= 0)
		_exit(2);
	/* PoCL 3.1 shows a failure before it has notified the commands that wait for it (failed.c). */
	nap(50);
	clFinish(board.queue);
	if (copy(board.queue, waits_from, waits_to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &refused, NULL) !=
	    CL_OUT_OF_RESOURCES)
		_exit(3);
	if (copy(board.queue, waits_from, waits_to, 0, 0, SIZE, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL) != CL_SUCCESS)
		_exit(4);
}

/* A copy waits when the program ends, and the event that it waits for comes during the exit. */
static void part_waits(void)
{
	waits_from = new_buffer(&board, 0, SIZE, NULL);
	waits_to = new_buffer(&peer, 0, SIZE, NULL);
	/* It runs after the function that the driver registers with its first copy. */
	atexit(finish_late);
	waited_for = user_event(&peer);
	GIVES(copy(board.queue, waits_from, waits_to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &waited_for, &waiting, NULL),
	      CL_SUCCESS);
	nap(50);
	printf("waits: %d failures\n", failures);
	exit(failures != 0);
}

/* Everything is released while the copy waits, except the event that shows its end. */
static void part_released(void)
{
	for (int way = 0; way < 2; way++) {
		struct side a, b;
		unsigned char *bytes = malloc(SIZE), *found = calloc(1, SIZE);
		cl_mem from, to;
		cl_event gate, done, back, peers;

		set_up(&a, board.platform);
		set_up(&b, peer.platform);
		from = new_buffer(way ? &b : &a, 0, SIZE, NULL);
		to = new_buffer(way ? &a : &b, 0, SIZE, NULL);
		gate = user_event(&b);
		memset(bytes, 6, SIZE);
		fill(way ? &b : &a, from, 6, SIZE);
		GIVES(copy(a.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 1, &gate, &done, &peers), CL_SUCCESS);
		GIVES(clEnqueueReadBuffer(way ? a.queue : b.queue, to, CL_FALSE, 0, SIZE, found, 1,
					  way ? &done : &peers, &back),
		      CL_SUCCESS);
		/* clFlush of the open FPGA runtime waits for commands that wait. */
		if (!way)
			clFlush(b.queue);
		clReleaseMemObject(from);
		clReleaseMemObject(to);
		/* In one direction the copy's event is all that is left of the board's side. */
		if (way)
			clReleaseEvent(done);
		clReleaseEvent(peers);
		/* COPIES_CONTEXT: the vendor's own events do not keep their context, as those of the open FPGA runtime. */
		if (way && getenv("COPIES_CONTEXT"))
			clRetainContext(a.context);
		end(&a);
		end(&b);
		nap(20);
		GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
		clReleaseEvent(gate);
		GIVES(end_of(back), CL_COMPLETE);
		if (!way)
			GIVES(end_of(done), CL_COMPLETE);
		if (way && getenv("COPIES_CONTEXT"))
			clReleaseContext(a.context);
		IS(!memcmp(bytes, found, SIZE));
		free(bytes), free(found);
	}
}

/* As many copies as may be in progress, and one more. */
static void part_many(void)
{
	enum { MOST = 64 };
	cl_command_queue queue = new_queue(&board, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	cl_event gate = user_event(&board), done[MOST], more;

	fill(&board, from, 3, SIZE);
	for (int i = 0; i < MOST; i++)
		GIVES(copy(queue, from, to, (size_t)i, (size_t)i, 1, CL_FALSE, 1, &gate, 0, NULL, &done[i], NULL),
		      CL_SUCCESS);
	GIVES(copy(queue, from, to, 0, 0, 1, CL_FALSE, 0, NULL, 0, NULL, &more, NULL), CL_OUT_OF_RESOURCES);
	GIVES(copy(queue, from, to, 0, 0, 1, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), CL_OUT_OF_RESOURCES);
	GIVES(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	for (int i = 0; i < MOST; i++)
		GIVES(end_of(done[i]), CL_COMPLETE);
	GIVES(clFinish(queue), CL_SUCCESS);
	/* Places become free a moment after the events. */
	for (int i = 0; i < 1000 && copy(queue, from, to, 0, 0, 1, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL); i++)
		nap(1);
	GIVES(copy(queue, from, to, 0, 0, SIZE, CL_TRUE, 0, NULL, 0, NULL, NULL, NULL), CL_SUCCESS);
	IS(holds(&peer, to, 3, SIZE));
	/* Copies that end make room for more, any number of them. */
	for (int i = 0; i < 5 * MOST; i++)
		GIVES(copy(queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, NULL, NULL), CL_SUCCESS);
	GIVES(clFinish(queue), CL_SUCCESS);
	clReleaseEvent(gate);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseCommandQueue(queue);
}

static void *churn(void *number)
{
	int value = (int)(size_t)number;
	struct side a = board, b = peer;
	cl_mem from, to, back;
	cl_event there, peers, and_back;

	a.queue = new_queue(&board, 0);
	b.queue = new_queue(&peer, 0);
	from = new_buffer(&a, 0, SIZE, NULL), to = new_buffer(&b, 0, SIZE, NULL), back = new_buffer(&a, 0, SIZE, NULL);
	for (int round = 0; round < 25; round++) {
		fill(&a, from, value + round, SIZE);
		GIVES(copy(a.queue, from, to, 0, 0, SIZE, CL_FALSE, 0, NULL, 0, NULL, &there, &peers), CL_SUCCESS);
		GIVES(copy(a.queue, to, back, 0, 0, SIZE, CL_FALSE, 1, &there, 1, &peers, &and_back, NULL),
		      CL_SUCCESS);
		clReleaseEvent(there);
		clReleaseEvent(peers);
		GIVES(end_of(and_back), CL_COMPLETE);
		IS(holds(&a, back, value + round, SIZE));
	}
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseMemObject(back);
	clReleaseCommandQueue(a.queue);
	clReleaseCommandQueue(b.queue);
	return NULL;
}

static void part_threads(void)
{
	pthread_t threads[6];

	for (size_t i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(i * 30));
	for (size_t i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
}

/* Returns the path of a copy between these buffers, and the text with the reason. */
cl_uint path(cl_mem from, cl_mem to, char *reason, size_t size)
{
	cl_uint way = 77;
	size_t length = 0;

	GIVES(info(board.queue, from, to, CL_COPY_BUFFER_PATH_PEERLANE, sizeof(way), &way, &length), CL_SUCCESS);
	IS(length == sizeof(way));
	GIVES(info(board.queue, from, to, CL_COPY_BUFFER_REASON_PEERLANE, size, reason, &length), CL_SUCCESS);
	IS(length == strlen(reason) + 1);
	return way;
}

/* Without a board's library there is only one path. */
static void part_path(void)
{
	cl_mem from = new_buffer(&board, 0, SIZE, NULL), to = new_buffer(&peer, 0, SIZE, NULL);
	clEnqueueCopyBufferPeerlane_fn by_name;
	char reason[500], extensions[8000];

	GIVES(path(from, to, reason, sizeof(reason)), CL_COPY_BUFFER_PATH_HOST_PEERLANE);
	IS(strstr(reason, "the board's library has no functions of cl_peerlane_peer_memory"));
	GIVES(clGetPlatformInfo(board.platform, CL_PLATFORM_EXTENSIONS, sizeof(extensions), extensions, NULL),
	      CL_SUCCESS);
	IS(strstr(extensions, "cl_peerlane_copy_buffer"));
	/* The lookup of programs from before OpenCL 1.2. */
	*(void **)&by_name = clGetExtensionFunctionAddress("clEnqueueCopyBufferPeerlane");
	IS(by_name == copy);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"data", part_data},	     {"same-platform", part_same_platform}, {"order", part_order},
	{"out-of-order", part_out_of_order}, {"errors", part_errors},	    {"events", part_events},
	{"failures", part_failures}, {"released", part_released},	    {"many", part_many},
	{"threads", part_threads},   {"path", part_path},		    {"direct", part_direct},
	{"simulated", part_simulated}, {"forgotten", part_forgotten},	    {"exit", part_exit},
	{"leave", part_leave},	     {"waits", part_waits},
	{"references", part_references}, {"callback", part_callback},
};

int main(int count, char **arguments)
{
	cl_platform_id platforms[8];
	cl_uint number = 0;
	unsigned long (*live)(void) = NULL, before = 0;
	void *driver = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	clGetPlatformIDs(8, platforms, &number);
	for (cl_uint i = 0; i < number && i < 8; i++) {
		void *found = clGetExtensionFunctionAddressForPlatform(platforms[i], "clEnqueueCopyBufferPeerlane");

		if (!found) {
			peer.platform = platforms[i];
			continue;
		}
		board.platform = platforms[i];
		*(void **)&copy = found;
		*(void **)&info = clGetExtensionFunctionAddressForPlatform(platforms[i], "clGetCopyBufferInfoPeerlane");
		*(void **)&name_memory = clGetExtensionFunctionAddressForPlatform(platforms[i],
										  "clSetPeerMemoryPeerlane");
	}
	if (!board.platform || !peer.platform || !info || !name_memory) {
		puts("not both platforms");
		return 1;
	}
	if (count > 2)
		driver = dlopen(arguments[2], RTLD_LAZY | RTLD_NOLOAD);
	if (driver)
		live = (unsigned long (*)(void))dlsym(driver, "peerlane_icd_live");
	for (size_t i = 0; count > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(arguments[1], parts[i].name))
			continue;
		set_up(&board, board.platform);
		set_up(&peer, peer.platform);
		before = live ? live() : 0;
		parts[i].run();
		/* The thread that reports the end of a copy releases its objects a moment later. */
		for (int n = 0; n < 5000 && live && live() != before; n++)
			nap(1);
		IS(!live || live() == before);
		end(&board);
		end(&peer);
		printf("%s: %d failures\n", parts[i].name, failures);
		return failures != 0;
	}
	puts("no such part");
	return 1;
}
