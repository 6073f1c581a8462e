/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * OpenCL with two platforms, as a program has it by the loader. An FPGA runtime's platform uses a board library for all
 * calls (STANDIN_MMD names it). NVIDIA's platform has the memory of the GPU next to a simulated board. CUDA for the
 * same GPU is in cuda.c. There are blocking calls only, and a program copies from one thread.
 *
 * Calls of a runtime to a board library: intel/fpga-runtime-for-opencl v2025.0, acl_hal_mmd.cpp.
 */
#define _GNU_SOURCE
#include "standin.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct _cl_platform_id {
	const char *name;
	int is_fpga;
};

struct _cl_device_id {
	cl_platform_id platform;
	int users;
};

struct _cl_context {
	cl_device_id device;
	int count;
};

struct _cl_command_queue {
	cl_context context;
	int count;
};

struct _cl_mem {
	cl_context context;
	size_t size;
	/* Address in the board's memory or the GPU's. */
	uintptr_t address;
	/* Whether it was made of the GPU's memory, and whether it is acquired. */
	int external, acquired;
	void (*gone)(cl_mem, void *);
	void *user;
	int count;
};

enum { PLATFORMS = 3 };
static struct _cl_platform_id platforms[PLATFORMS] = {
	/* Where oneAPI is installed (STANDIN_EMULATOR): it has no board, whichever words are in its name. */
	{ "Intel(R) FPGA Emulation Platform for OpenCL(TM) (stand-in)", 0 },
	{ "Altera SDK for OpenCL (stand-in)", 1 },
	{ "NVIDIA CUDA (stand-in)", 0 },
};
static struct _cl_device_id devices[PLATFORMS] = { { &platforms[0], 0 }, { &platforms[1], 0 }, { &platforms[2], 0 } };

/* The board library, once it was loaded. */
static void *library;
static int board = -1, memory_interface;
static char board_name[256];

static int (*mmd_offline)(int, size_t, void *, size_t *);
static int (*mmd_info)(int, int, size_t, void *, size_t *);
static int (*mmd_open)(const char *);
static int (*mmd_close)(int);
static int (*mmd_status)(int, void (*)(int, void *, void *, int), void *);
static int (*mmd_read)(int, void *, size_t, void *, int, size_t);
static int (*mmd_write)(int, void *, size_t, const void *, int, size_t);

/* Memory of the board is allocated once. */
static size_t next = 0x400;

void *of_library(const char *name)
{
	void *found;

	if (!library)
		library = dlopen(getenv("STANDIN_MMD"), RTLD_NOW | RTLD_LOCAL);
	found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "mock: %s: %s\n", name, dlerror());
		abort();
	}
	return found;
}

static void ended(int handle, void *user, void *op, int status)
{
	(void)handle, (void)user;
	if (status)
		abort();
	sem_post(op);
}

static int open_board(void)
{
	char *end;

	*(void **)&mmd_offline = of_library("aocl_mmd_get_offline_info");
	*(void **)&mmd_info = of_library("aocl_mmd_get_info");
	*(void **)&mmd_open = of_library("aocl_mmd_open");
	*(void **)&mmd_close = of_library("aocl_mmd_close");
	*(void **)&mmd_status = of_library("aocl_mmd_set_status_handler");
	*(void **)&mmd_read = of_library("aocl_mmd_read");
	*(void **)&mmd_write = of_library("aocl_mmd_write");
	/* AOCL_MMD_BOARD_NAMES, of which the first is taken. */
	mmd_offline(2, sizeof(board_name), board_name, NULL);
	end = strchr(board_name, ';');
	if (end)
		*end = 0;
	board = mmd_open(board_name);
	if (board < 0)
		return -1;
	/* AOCL_MMD_MEMORY_INTERFACE, and the board's own name, AOCL_MMD_BOARD_NAME. */
	mmd_info(board, 4, sizeof(memory_interface), &memory_interface, NULL);
	mmd_info(board, 7, sizeof(board_name), board_name, NULL);
	return mmd_status(board, ended, NULL);
}

static cl_int answer(const void *value, size_t length, size_t room, void *to, size_t *needed)
{
	if (needed)
		*needed = length;
	if (!to)
		return CL_SUCCESS;
	if (room < length)
		return CL_INVALID_VALUE;
	memcpy(to, value, length);
	return CL_SUCCESS;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count)
{
	cl_uint first = getenv("STANDIN_EMULATOR") ? 0 : 1;

	for (cl_uint i = 0; to && i < room && first + i < PLATFORMS; i++)
		to[i] = &platforms[first + i];
	if (count)
		*count = PLATFORMS - first;
	return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t room, void *to, size_t *needed)
{
	if (what != CL_PLATFORM_NAME)
		return CL_INVALID_VALUE;
	return answer(platform->name, strlen(platform->name) + 1, room, to, needed);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint room, cl_device_id *to, cl_uint *count)
{
	(void)type;
	if (to && room)
		*to = &devices[platform - platforms];
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t room, void *to, size_t *needed)
{
	static const char has[] = "cl_khr_external_memory cl_khr_external_memory_opaque_fd cl_khr_device_uuid";
	char name[sizeof(board_name) + 16];

	switch (what) {
	case CL_DEVICE_PLATFORM:
		return answer(&device->platform, sizeof(device->platform), room, to, needed);
	case CL_DEVICE_NAME:
		snprintf(name, sizeof(name), "stand-in : %s", device->platform->is_fpga ? board_name : "GPU");
		return answer(name, strlen(name) + 1, room, to, needed);
	case CL_DEVICE_EXTENSIONS:
		return device->platform->is_fpga ? answer("", 1, room, to, needed) :
						   answer(has, sizeof(has), room, to, needed);
	case CL_DEVICE_UUID_KHR:
		if (!device->platform->is_fpga)
			return answer(UUID, 16, room, to, needed);
	}
	return CL_INVALID_VALUE;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *list,
			   void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *error)
{
	cl_context context = calloc(1, sizeof(*context));

	(void)properties, (void)count, (void)notify, (void)user;
	*error = CL_SUCCESS;
	if (list[0]->platform->is_fpga && !list[0]->users && open_board() < 0) {
		*error = -2; /* CL_DEVICE_NOT_AVAILABLE */
		return NULL;
	}
	list[0]->users++;
	context->device = list[0];
	context->count = 1;
	return context;
}

cl_int clGetContextInfo(cl_context context, cl_uint what, size_t room, void *to, size_t *needed)
{
	if (what != CL_CONTEXT_DEVICES)
		return CL_INVALID_VALUE;
	return answer(&context->device, sizeof(context->device), room, to, needed);
}

static void give_up(cl_context context)
{
	if (--context->count)
		return;
	if (!--context->device->users && context->device->platform->is_fpga)
		mmd_close(board);
	free(context);
}

cl_int clReleaseContext(cl_context context)
{
	give_up(context);
	return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_bitfield properties, cl_int *error)
{
	cl_command_queue queue = calloc(1, sizeof(*queue));

	(void)properties;
	*error = context->device == device ? CL_SUCCESS : CL_INVALID_DEVICE;
	context->count++;
	queue->context = context;
	queue->count = 1;
	return queue;
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
	__atomic_add_fetch(&queue->count, 1, __ATOMIC_SEQ_CST);
	return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
	if (!__atomic_sub_fetch(&queue->count, 1, __ATOMIC_SEQ_CST)) {
		give_up(queue->context);
		free(queue);
	}
	return CL_SUCCESS;
}

/* Time at which all commands have ended, in nanoseconds of the clock. */
static long long busy_until;

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

void standin_busy(int milliseconds)
{
	busy_until = now() + milliseconds * 1000000ll;
}

cl_int clFinish(cl_command_queue queue)
{
	(void)queue;
	while (now() < busy_until)
		usleep(1000);
	return CL_SUCCESS;
}

cl_int clFlush(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

/* Its event is complete when all commands in progress have ended. */
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event)
{
	long long *made = malloc(sizeof(*made));

	(void)queue, (void)list;
	if (count)
		return CL_INVALID_VALUE;
	*made = busy_until;
	*event = (cl_event)made;
	return CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event event, cl_uint what, size_t room, void *to, size_t *needed)
{
	/* CL_EVENT_COMMAND_EXECUTION_STATUS: CL_COMPLETE or CL_RUNNING. */
	const cl_int status = now() >= *(long long *)event ? 0 : 1;

	return what == 0x11d3 ? answer(&status, sizeof(status), room, to, needed) : CL_INVALID_VALUE;
}

cl_int clReleaseEvent(cl_event event)
{
	free(event);
	return CL_SUCCESS;
}

static cl_mem new_buffer(cl_context context, size_t size, uintptr_t address)
{
	cl_mem buffer = calloc(1, sizeof(*buffer));

	context->count++;
	buffer->context = context;
	buffer->size = size;
	buffer->address = address;
	buffer->count = 1;
	return buffer;
}

cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t size, void *host, cl_int *error)
{
	cl_mem buffer;

	(void)flags, (void)host;
	if (!context->device->platform->is_fpga) {
		*error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
		return NULL;
	}
	*error = CL_SUCCESS;
	buffer = new_buffer(context, size, next);
	/* ACL_MEM_ALIGN */
	next += (size + 0x3ff) & ~(size_t)0x3ff;
	return buffer;
}

/* Only external memory, and of this context's device. */
cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *list, cl_bitfield flags, size_t size,
				    void *host, cl_int *error)
{
	cl_mem buffer;
	uintptr_t address;

	(void)flags, (void)host;
	*error = CL_INVALID_PROPERTY;
	if (list[0] != CL_MEM_DEVICE_HANDLE_LIST_KHR || list[1] != (uintptr_t)context->device || list[2] ||
	    list[3] != CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR || list[5])
		return NULL;
	address = memory_of((int)list[4], size);
	if (!address)
		return NULL;
	*error = CL_SUCCESS;
	buffer = new_buffer(context, size, address);
	buffer->external = 1;
	return buffer;
}

cl_int clSetMemObjectDestructorCallback(cl_mem buffer, void (*gone)(cl_mem, void *), void *user)
{
	buffer->gone = gone;
	buffer->user = user;
	return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem buffer, cl_uint what, size_t room, void *to, size_t *needed)
{
	const cl_uint type = CL_MEM_OBJECT_BUFFER;
	const cl_ulong flags = CL_MEM_READ_WRITE;
	const cl_mem parent = NULL;

	switch (what) {
	case CL_MEM_TYPE:
		return answer(&type, sizeof(type), room, to, needed);
	case CL_MEM_FLAGS:
		return answer(&flags, sizeof(flags), room, to, needed);
	case CL_MEM_SIZE:
		return answer(&buffer->size, sizeof(buffer->size), room, to, needed);
	case CL_MEM_CONTEXT:
		return answer(&buffer->context, sizeof(buffer->context), room, to, needed);
	case CL_MEM_ASSOCIATED_MEMOBJECT:
		return answer(&parent, sizeof(parent), room, to, needed);
	}
	return CL_INVALID_VALUE;
}

cl_int clRetainMemObject(cl_mem buffer)
{
	__atomic_add_fetch(&buffer->count, 1, __ATOMIC_SEQ_CST);
	return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem buffer)
{
	if (__atomic_sub_fetch(&buffer->count, 1, __ATOMIC_SEQ_CST))
		return CL_SUCCESS;
	if (buffer->gone)
		buffer->gone(buffer, buffer->user);
	give_up(buffer->context);
	free(buffer);
	return CL_SUCCESS;
}

/* A buffer may be used by commands when it has been acquired ("External memory"). */
static cl_int usable(cl_mem buffer, size_t offset, size_t size)
{
	if (buffer->external && !buffer->acquired)
		return CL_INVALID_OPERATION;
	return offset + size <= buffer->size ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
			   void *to, cl_uint events, const cl_event *list, cl_event *event)
{
	const cl_int error = usable(buffer, offset, size);
	sem_t op;

	(void)list;
	if (!blocking || events || event || queue->context != buffer->context || error)
		return error ? error : CL_INVALID_VALUE;
	if (buffer->external)
		return gpu_read((void *)(buffer->address + offset), to, size) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
	sem_init(&op, 0, 0);
	mmd_read(board, &op, size, to, memory_interface, buffer->address + offset);
	sem_wait(&op);
	return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
			    const void *from, cl_uint events, const cl_event *list, cl_event *event)
{
	const cl_int error = usable(buffer, offset, size);
	sem_t op;

	(void)list;
	if (!blocking || events || event || queue->context != buffer->context || error)
		return error ? error : CL_INVALID_VALUE;
	if (buffer->external)
		return gpu_write((void *)(buffer->address + offset), from, size) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
	sem_init(&op, 0, 0);
	mmd_write(board, &op, size, from, memory_interface, buffer->address + offset);
	sem_wait(&op);
	return CL_SUCCESS;
}

static cl_int hand_over(cl_uint count, const cl_mem *list, int acquired)
{
	for (cl_uint i = 0; i < count; i++) {
		if (!list[i]->external || list[i]->acquired == acquired)
			return CL_INVALID_MEM_OBJECT;
		list[i]->acquired = acquired;
	}
	return CL_SUCCESS;
}

static cl_int acquire(cl_command_queue queue, cl_uint count, const cl_mem *list, cl_uint events, const cl_event *waits,
		      cl_event *event)
{
	(void)queue, (void)events, (void)waits, (void)event;
	return hand_over(count, list, 1);
}

static cl_int release(cl_command_queue queue, cl_uint count, const cl_mem *list, cl_uint events, const cl_event *waits,
		      cl_event *event)
{
	(void)queue, (void)events, (void)waits, (void)event;
	return hand_over(count, list, 0);
}

static void *of_board(const char *name, cl_device_id device)
{
	return device->platform->is_fpga ? of_library(name) : NULL;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
	/* A runtime of 13.1 has no such function. */
	if (platform->is_fpga && !getenv("STANDIN_OLD") &&
	    !strcmp(name, "clGetBoardExtensionFunctionAddressIntelFPGA"))
		return (void *)of_board;
	if (!platform->is_fpga && !strcmp(name, "clEnqueueAcquireExternalMemObjectsKHR"))
		return (void *)acquire;
	if (!platform->is_fpga && !strcmp(name, "clEnqueueReleaseExternalMemObjectsKHR"))
		return (void *)release;
	return NULL;
}
