/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * plain.c with a board's library, as peerlane_ext.h promises it to a driver around the runtime. "Peer memory" is memory
 * of the process. The library gets OpenCL's functions from the driver alone, and uses the objects that it is given by
 * them, as the real one does; a handle of PoCL's among them would stop the program.
 */
#include "plain.c"

#define NOT_SUPPORTED -10003
#define WITHOUT_ADDRESS -10004
#define RESTARTED -10009
#define NO_MEMORY -10001
#define CL_MEM_ALLOCATION_HANDLE_INTEL 0x10050

typedef void *handle;

static void *(*find)(const char *);

/* Indexed by the number in the handle. */
static struct {
	char *bytes;
	size_t size;
} memories[16];

/* Counters and settings of a test: direct copies so far, whether buffers export their memory, copies that programming
   ends. */
static int copies, exports, registered, released, restarts;

static cl_int set_opencl(void *(*functions)(const char *))
{
	find = functions;
	return 0;
}

#define CALL(name) ((cl_api_##name)find(#name))

static handle new_memory(char *bytes, size_t size)
{
	for (size_t i = 1; i < 16; i++) {
		if (memories[i].bytes)
			continue;
		memories[i].bytes = bytes;
		memories[i].size = size;
		return (handle)i;
	}
	return NULL;
}

static cl_int release(handle memory)
{
	if ((size_t)memory >= 16 || !memories[(size_t)memory].bytes)
		return NO_MEMORY;
	memories[(size_t)memory].bytes = NULL;
	released++;
	return 0;
}

/* Creates memory for a buffer of another platform; PoCL exports none. */
static handle create(cl_device_id device, cl_mem_flags flags, cl_mem mem, cl_int *error)
{
	char text[200];
	cl_ulong file;
	size_t size = 0;

	(void)flags;
	*error = CALL(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof(text), text, NULL);
	if (*error)
		return NULL;
	*error = CALL(clGetMemObjectInfo)(mem, CL_MEM_SIZE, sizeof(size), &size, NULL);
	if (*error)
		return NULL;
	*error = NOT_SUPPORTED;
	if (!CALL(clGetMemObjectInfo)(mem, CL_MEM_ALLOCATION_HANDLE_INTEL, sizeof(file), &file, NULL) || !exports)
		return NULL;
	*error = 0;
	registered++;
	return new_memory(calloc(1, size), size);
}

static cl_int address(cl_device_id device, cl_mem buffer, cl_ulong *address)
{
	cl_mem_flags flags = 0;
	cl_int error = CALL(clGetMemObjectInfo)(buffer, CL_MEM_FLAGS, sizeof(flags), &flags, NULL);

	(void)device;
	*address = 0x400;
	return error ? error : flags & CL_MEM_USE_HOST_PTR ? WITHOUT_ADDRESS : 0;
}

static cl_int move(int to_peer, cl_mem buffer, handle memory, size_t at, size_t to, size_t size, cl_bool blocking,
		   cl_uint events, const cl_event *list, cl_event *event)
{
	cl_context context;
	cl_device_id device;
	cl_command_queue queue;
	cl_ulong place;
	cl_int error = address(NULL, buffer, &place);

	if (error)
		return error;
	if ((size_t)memory >= 16 || !memories[(size_t)memory].bytes)
		return NO_MEMORY;
	if (!blocking || events || list || event || to + size > memories[(size_t)memory].size)
		return CL_INVALID_VALUE;
	if (restarts) {
		restarts--;
		return RESTARTED;
	}
	CALL(clGetMemObjectInfo)(buffer, CL_MEM_CONTEXT, sizeof(context), &context, NULL);
	CALL(clGetContextInfo)(context, CL_CONTEXT_DEVICES, sizeof(device), &device, NULL);
	queue = CALL(clCreateCommandQueue)(context, device, 0, &error);
	if (error)
		return error;
	if (to_peer)
		error = CALL(clEnqueueReadBuffer)(queue, buffer, CL_TRUE, at, size, memories[(size_t)memory].bytes + to,
						  0, NULL, NULL);
	else
		error = ((cl_api_clEnqueueWriteBuffer)find("clEnqueueWriteBuffer"))(
			queue, buffer, CL_TRUE, at, size, memories[(size_t)memory].bytes + to, 0, NULL, NULL);
	CALL(clReleaseCommandQueue)(queue);
	copies++;
	return error;
}

static cl_int to_peer(cl_mem from, handle to, size_t from_at, size_t to_at, size_t size, cl_bool blocking,
		      cl_uint events, const cl_event *list, cl_event *event)
{
	return move(1, from, to, from_at, to_at, size, blocking, events, list, event);
}

static cl_int from_peer(handle from, cl_mem to, size_t from_at, size_t to_at, size_t size, cl_bool blocking,
			cl_uint events, const cl_event *list, cl_event *event)
{
	return move(0, to, from, to_at, from_at, size, blocking, events, list, event);
}

static const char *text(cl_int error)
{
	return error == NOT_SUPPORTED ? "no way to this memory." : error == WITHOUT_ADDRESS ? "on the host." : "other.";
}

static int *counter(int which)
{
	static int *const all[] = {&copies, &exports, &registered, &released, &restarts};

	return all[which];
}

void *clGetBoardExtensionFunctionAddressIntelFPGA(const char *name, cl_device_id device)
{
	static const struct {
		const char *name;
		void *function;
	} all[] = {
		{"clSetOpenCLPeerlane", set_opencl},
		{"clCreatePeerMemoryFromMemObjectPeerlane", create},
		{"clReleasePeerMemoryPeerlane", release},
		{"clCopyBufferToPeerPeerlane", to_peer},
		{"clCopyPeerToBufferPeerlane", from_peer},
		{"clGetBufferAddressPeerlane", address},
		{"clGetErrorTextPeerlane", text},
		{"stand_in_memory", new_memory},
		{"stand_in_counter", counter},
	};
	char device_name[200];

	/* A real one knows its boards by the device. */
	if (pocl()->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(device_name), device_name, NULL))
		return NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(all[i].name, name))
			return all[i].function;
	}
	return NULL;
}
