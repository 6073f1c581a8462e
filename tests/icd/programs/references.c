/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How many references a queue of the first platform has, while commands of it fail with the user event that they wait
 * for. They should stay as they are. The open FPGA runtime (v2025.0) loses one with each command that fails so in a queue
 * out of order, or ends the program where it was built with its assertions.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <unistd.h>

static cl_context context;
static cl_device_id device;

static cl_int status_of(cl_event event)
{
	cl_int status = 77;

	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	return status;
}

static cl_uint references(cl_command_queue queue)
{
	cl_uint number = 0;

	clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(number), &number, NULL);
	return number;
}

static void count(const char *what, cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &error);

	/* So many that it does not come to its end. */
	for (int i = 0; i < 8; i++)
		clRetainCommandQueue(queue);
	printf("%s: %u", what, references(queue));
	for (int i = 0; i < 3; i++) {
		cl_event gate = clCreateUserEvent(context, &error), marker = NULL;

		clEnqueueMarkerWithWaitList(queue, 1, &gate, &marker);
		clSetUserEventStatus(gate, -5);
		for (int n = 0; n < 1000 && status_of(marker) > CL_COMPLETE; n++)
			usleep(1000);
		clReleaseEvent(marker);
		clReleaseEvent(gate);
		printf(", %u", references(queue));
	}
	puts("");
	for (cl_uint left = references(queue); left; left--)
		clReleaseCommandQueue(queue);
}

int main(void)
{
	cl_platform_id platform;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		puts("no platform");
		return 1;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	count("in order", 0);
	count("out of order", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	/* The context may not survive it. */
	_exit(0);
}
