/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts by their names, and functions that all of them need. */
#include "host.h"

#include <time.h>

cl_platform_id platform;
cl_device_id devices[4];
cl_uint device_count;
cl_context context;

void ok(cl_int error, const char *call, const char *file, int line)
{
	if (error != CL_SUCCESS) {
		fprintf(stderr, "%s:%d: %s = %d\n", file, line, call, error);
		exit(1);
	}
}

void must(int so, const char *condition, const char *file, int line)
{
	if (!so) {
		fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
		exit(1);
	}
}

void find_devices(void)
{
	OK(clGetPlatformIDs(1, &platform, NULL));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 4, devices, &device_count));
	MUST(device_count >= 1);
}

static void CL_CALLBACK told(const char *message, const void *more, size_t bytes, void *user)
{
	(void)more, (void)bytes, (void)user;
	fprintf(stderr, "context: %s\n", message);
}

void make_context(cl_uint of_devices)
{
	cl_int error;

	find_devices();
	MUST(device_count >= of_devices);
	context = clCreateContext(NULL, of_devices, devices, told, NULL, &error);
	OK(error);
}

cl_command_queue new_queue(cl_uint device, cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, devices[device], properties, &error);

	OK(error);
	return queue;
}

/* Makes the program of a package, for the first devices of the context. */
cl_program new_program(const char *file, cl_uint for_devices)
{
	const unsigned char *bytes[4];
	size_t lengths[4], length;
	cl_int statuses[4], error;
	unsigned char *package;
	cl_program program;
	FILE *stream;
	long end;

	MUST(file && for_devices <= 4);
	stream = fopen(file, "rb");
	MUST(stream && !fseek(stream, 0, SEEK_END));
	end = ftell(stream);
	MUST(end > 0);
	length = (size_t)end;
	package = malloc(length);
	rewind(stream);
	MUST(package && fread(package, 1, length, stream) == length);
	fclose(stream);
	for (cl_uint i = 0; i < for_devices; i++) {
		bytes[i] = package;
		lengths[i] = length;
	}
	program = clCreateProgramWithBinary(context, for_devices, devices, lengths, bytes, statuses,
					    &error);
	OK(error);
	OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
	free(package);
	return program;
}

cl_kernel new_kernel(cl_program program, const char *name)
{
	cl_int error;
	cl_kernel kernel = clCreateKernel(program, name, &error);

	OK(error);
	return kernel;
}

cl_mem new_buffer(size_t bytes)
{
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);

	OK(error);
	return buffer;
}

/* Sets two buffers or three as a kernel's arguments. */
void set_buffers(cl_kernel kernel, cl_mem a, cl_mem b, const cl_mem *c)
{
	OK(clSetKernelArg(kernel, 0, sizeof(a), &a));
	OK(clSetKernelArg(kernel, 1, sizeof(b), &b));
	if (c)
		OK(clSetKernelArg(kernel, 2, sizeof(*c), c));
}

void write_ints(cl_command_queue queue, cl_mem buffer, const int32_t *ints, size_t count)
{
	OK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, count * sizeof(*ints), ints, 0, NULL, NULL));
}

void read_ints(cl_command_queue queue, cl_mem buffer, int32_t *ints, size_t count)
{
	OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof(*ints), ints, 0, NULL, NULL));
}

void launch(cl_command_queue queue, cl_kernel kernel, size_t count, cl_uint waits,
	    const cl_event *wait_for, cl_event *event)
{
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, waits, wait_for, event));
}

void nap(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* Waits for a command and releases its event. */
void until_complete(cl_event event)
{
	cl_int status = CL_QUEUED;

	OK(clWaitForEvents(1, &event));
	OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	MUST(status == CL_COMPLETE);
	OK(clReleaseEvent(event));
}

void *extension(const char *name)
{
	void *(*find)(const char *, cl_device_id);
	void *found;

	*(void **)&find = clGetExtensionFunctionAddress("clGetBoardExtensionFunctionAddressIntelFPGA");
	MUST(find);
	found = find(name, devices[0]);
	if (!found)
		fprintf(stderr, "the board's library has no %s\n", name);
	MUST(found);
	return found;
}

static const struct {
	const char *name, *arguments;
	int least;
	part *part;
} parts[] = {
	{ "info", "", 0, part_info },
	{ "buffers", "", 0, part_buffers },
	{ "big", "BYTES", 1, part_big },
	{ "rows", "", 0, part_rows },
	{ "wrong", "", 0, part_wrong },
	{ "vecadd", "PACKAGE [LAUNCHES]", 1, part_vecadd },
	{ "graph", "PACKAGE", 1, part_graph },
	{ "queues", "PACKAGE THREADS ROUNDS", 3, part_queues },
	{ "printf", "PACKAGE LINES", 2, part_printf },
	{ "event", "PACKAGE", 1, part_event },
	{ "reset", "PACKAGE", 1, part_reset },
	{ "switch", "PACKAGE OTHER-PACKAGE", 2, part_switch },
	{ "two", "PACKAGE", 1, part_two },
	{ "failed", "PACKAGE", 1, part_failed },
	{ "failed-launch", "PACKAGE", 1, part_failed_launch },
	{ "leave", "PACKAGE", 1, part_leave },
	{ "wait", "PACKAGE", 1, part_wait },
	{ "global", "", 0, part_global },
	{ "global-kernel", "PACKAGE", 1, part_global_kernel },
	{ "peers", "", 0, part_peers },
	{ "peer-events", "PACKAGE", 1, part_peer_events },
	{ "peer-refused", "PACKAGE", 1, part_peer_refused },
	{ "peer-two", "", 0, part_peer_two },
	{ "usm", "PACKAGE", 1, part_usm },
	{ "dma-buf", "PACKAGE DMA-BUF", 2, part_dma_buf },
	{ "dma-buf-forever", "DMA-BUF BYTES", 2, part_dma_buf_forever },
};

int main(int count, char **arguments)
{
	const size_t known = sizeof(parts) / sizeof(parts[0]);
	const char *name = count > 1 ? arguments[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < known; i++) {
		if (strcmp(name, parts[i].name) || count - 2 < parts[i].least)
			continue;
		parts[i].part(count - 2, arguments + 2);
		printf("%s: passed\n", name);
		return 0;
	}
	for (size_t i = 0; i < known; i++)
		fprintf(stderr, "%s %s %s\n", arguments[0], parts[i].name, parts[i].arguments);
	return 2;
}
