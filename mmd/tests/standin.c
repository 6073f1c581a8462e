/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An OpenCL for the program of docs/program/opencl.md, with a board and a GPU that are nothing. As with the open runtime, a wait
 * succeeds for events that have failed. STANDIN_WRITE and STANDIN_COPY are the statuses with which the events end.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <peerlane_ext.h>
#include <stdlib.h>
#include <string.h>

static int thing, written, sent;

int gpu_dma_buf(size_t bytes)
{
	return bytes ? 0 : -1;
}

static const char *text(cl_int error)
{
	return error == CL_PEER_TRANSFER_FAILED_PEERLANE ? "the library's text of it" : "";
}

static cl_peer_memory_peerlane create(cl_device_id device, cl_mem_flags flags, int fd, size_t offset, size_t size,
    cl_int *error)
{
	(void)device, (void)flags, (void)fd, (void)offset, (void)size;
	*error = CL_SUCCESS;
	return (cl_peer_memory_peerlane)&thing;
}

static cl_int copy(cl_mem from, cl_peer_memory_peerlane to, size_t a, size_t b, size_t size, cl_bool blocking,
    cl_uint count, const cl_event *events, cl_event *event)
{
	(void)from, (void)to, (void)a, (void)b, (void)size, (void)blocking, (void)count, (void)events;
	*event = (cl_event)&sent;
	return CL_SUCCESS;
}

static cl_int release(cl_peer_memory_peerlane memory)
{
	(void)memory;
	return CL_SUCCESS;
}

static void *find(const char *name, cl_device_id device)
{
	void *found = NULL;

	(void)device;
	if (!strcmp(name, "clGetErrorTextPeerlane"))
		*(const char *(**)(cl_int))&found = text;
	if (!strcmp(name, "clCreatePeerMemoryFromDmaBufPeerlane"))
		*(clCreatePeerMemoryFromDmaBufPeerlane_fn *)&found = create;
	if (!strcmp(name, "clCopyBufferToPeerPeerlane"))
		*(clCopyBufferToPeerPeerlane_fn *)&found = copy;
	if (!strcmp(name, "clReleasePeerMemoryPeerlane"))
		*(clReleasePeerMemoryPeerlane_fn *)&found = release;
	return found;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
	void *found = NULL;

	(void)platform;
	if (!strcmp(name, "clGetBoardExtensionFunctionAddressIntelFPGA"))
		*(void *(**)(const char *, cl_device_id))&found = find;
	return found;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
	(void)room;
	platforms[0] = (cl_platform_id)&thing;
	*count = 1;
	return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count)
{
	(void)platform, (void)type, (void)room, (void)count;
	devices[0] = (cl_device_id)&thing;
	return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
    void (CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error)
{
	(void)properties, (void)count, (void)devices, (void)notify, (void)user;
	*error = CL_SUCCESS;
	return (cl_context)&thing;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
    cl_int *error)
{
	(void)context, (void)device, (void)properties;
	*error = CL_SUCCESS;
	return (cl_command_queue)&thing;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
	(void)context, (void)flags, (void)size, (void)host;
	*error = CL_SUCCESS;
	return (cl_mem)&thing;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
    const void *data, cl_uint count, const cl_event *events, cl_event *event)
{
	(void)queue, (void)buffer, (void)blocking, (void)offset, (void)size, (void)data, (void)count, (void)events;
	*event = (cl_event)&written;
	return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
	(void)count, (void)events;
	return CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *answer, size_t *size)
{
	const char *status = getenv(event == (cl_event)&written ? "STANDIN_WRITE" : "STANDIN_COPY");

	(void)size;
	if (what != CL_EVENT_COMMAND_EXECUTION_STATUS || room != sizeof(cl_int))
		return CL_INVALID_VALUE;
	*(cl_int *)answer = status ? atoi(status) : CL_COMPLETE;
	return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event)
{
	(void)event;
	return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem memory)
{
	(void)memory;
	return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context)
{
	(void)context;
	return CL_SUCCESS;
}
