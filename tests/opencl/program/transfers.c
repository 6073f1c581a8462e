/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The devices, and commands that need no kernel. */
#include "host.h"

void part_info(int count, char **arguments)
{
	char text[256];
	cl_ulong bytes;
	cl_int degrees;

	(void)count, (void)arguments;
	find_devices();
	OK(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text), text, NULL));
	printf("platform: %s\n", text);
	for (cl_uint i = 0; i < device_count; i++) {
		OK(clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof(text), text, NULL));
		printf("device: %s\n", text);
		OK(clGetDeviceInfo(devices[i], CL_DEVICE_VENDOR, sizeof(text), text, NULL));
		printf("vendor: %s\n", text);
		OK(clGetDeviceInfo(devices[i], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL));
		printf("memory: %llu\n", (unsigned long long)bytes);
		/* CL_DEVICE_CORE_TEMPERATURE_INTELFPGA */
		OK(clGetDeviceInfo(devices[i], 0x40F3, sizeof(degrees), &degrees, NULL));
		printf("degrees: %d\n", degrees);
	}
}

/* The times of a command, in their order. */
static void check_times(cl_event event)
{
	cl_ulong before = 0, time;

	for (cl_uint i = 0; i < 4; i++) {
		OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof(time), &time,
					   NULL));
		MUST(time >= before);
		before = time;
	}
}

void part_buffers(int count, char **arguments)
{
	static char from[5000], to[5000];
	const char nine = 9;
	cl_command_queue queue;
	cl_event event;
	cl_mem a, b;
	cl_int error;
	char *mapped;

	(void)count, (void)arguments;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * 7 + i / 256);
	make_context(1);
	queue = new_queue(0, CL_QUEUE_PROFILING_ENABLE);
	a = new_buffer(sizeof(from));
	b = new_buffer(sizeof(from));
	OK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof(from), from, 0, NULL, NULL));

	/* At odd places in both memories. */
	OK(clEnqueueReadBuffer(queue, a, CL_FALSE, 3, 101, to + 1, 0, NULL, &event));
	OK(clWaitForEvents(1, &event));
	MUST(!memcmp(to + 1, from + 3, 101) && !to[0] && !to[102]);
	check_times(event);
	OK(clReleaseEvent(event));
	OK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 77, 1, &nine, 0, NULL, NULL));
	from[77] = nine;

	OK(clEnqueueCopyBuffer(queue, a, b, 1000, 0, 2000, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 2000, to, 0, NULL, NULL));
	MUST(!memcmp(to, from + 1000, 2000));
	OK(clEnqueueFillBuffer(queue, b, &nine, 1, 0, 64, 0, NULL, NULL));

	mapped = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 128, 0, NULL,
				    NULL, &error);
	OK(error);
	MUST(mapped[0] == 9 && mapped[63] == 9 && mapped[64] == from[1064]);
	mapped[0] = 77;
	OK(clEnqueueUnmapMemObject(queue, b, mapped, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 2, to, 0, NULL, NULL));
	MUST(to[0] == 77 && to[1] == 9);
	OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof(to), to, 0, NULL, NULL));
	MUST(!memcmp(to, from, sizeof(to)));

	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* A transfer in each direction, of any size, at the same time. */
void part_big(int count, char **arguments)
{
	size_t bytes = strtoul(arguments[0], NULL, 0);
	char *first = malloc(bytes), *second = malloc(bytes), *found = malloc(bytes);
	cl_command_queue up, down;
	cl_event written, read;
	cl_mem a, b;

	(void)count;
	MUST(first && second && found && bytes);
	for (size_t i = 0; i < bytes; i++) {
		first[i] = (char)(i * 13 + i / 1024);
		second[i] = (char)(i * 29 + i / 512);
	}
	make_context(1);
	up = new_queue(0, 0);
	down = new_queue(0, 0);
	a = new_buffer(bytes);
	b = new_buffer(bytes);
	OK(clEnqueueWriteBuffer(up, a, CL_TRUE, 0, bytes, first, 0, NULL, NULL));
	OK(clEnqueueWriteBuffer(up, b, CL_FALSE, 0, bytes, second, 0, NULL, &written));
	OK(clEnqueueReadBuffer(down, a, CL_FALSE, 0, bytes, found, 0, NULL, &read));
	OK(clFlush(up));
	OK(clFlush(down));
	until_complete(written);
	until_complete(read);
	MUST(!memcmp(found, first, bytes));
	OK(clEnqueueReadBuffer(up, b, CL_TRUE, 0, bytes, found, 0, NULL, NULL));
	MUST(!memcmp(found, second, bytes));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseCommandQueue(up));
	OK(clReleaseCommandQueue(down));
	OK(clReleaseContext(context));
	free(first);
	free(second);
	free(found);
}
