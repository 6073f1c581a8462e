/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An error of PoCL 3.1 by itself, without the driver that is tested: a command that has failed is freed while another
 * command that it waited for still has it in its list, and is used when that one ends (pocl_broadcast, which ends in an
 * assertion, a hang or nothing). PoCL 4.0 retains it. Valgrind sees it, and the platform's version is printed.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

#define DO(call)                                                                        \
	do {                                                                            \
		if (call) {                                                             \
			puts(#call);                                                    \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_event gate, fails, front, behind;
	char version[200];
	cl_int error;

	DO(clGetPlatformIDs(1, &platform, NULL));
	DO(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(version), version, NULL));
	puts(version);
	fflush(stdout);
	DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	queue = clCreateCommandQueue(context, device, 0, &error);
	gate = clCreateUserEvent(context, &error);
	fails = clCreateUserEvent(context, &error);
	/* In order: the second waits for the first, and for an event that fails. */
	DO(clEnqueueMarkerWithWaitList(queue, 1, &gate, &front));
	DO(clEnqueueMarkerWithWaitList(queue, 1, &fails, &behind));
	DO(clSetUserEventStatus(fails, -5));
	DO(clReleaseEvent(behind));
	/* Now the first ends, and notifies the second. */
	DO(clSetUserEventStatus(gate, CL_COMPLETE));
	clWaitForEvents(1, &front);
	puts("end");
	return 0;
}
