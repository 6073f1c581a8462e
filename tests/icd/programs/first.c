/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The first calls that a program may make: devices become known by an answer before they were asked for. Prints a line
 * for each failed check.
 *
 * usage: PROGRAM
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdio.h>

#define IS(what)                                        \
	do {                                            \
		if (!(what)) {                          \
			printf("failed: %s\n", #what);  \
			failures++;                     \
		}                                       \
	} while (0)

static int failures;

int main(void)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0, 0};
	cl_device_id named = NULL, device = NULL, of_queue = NULL;
	cl_command_queue queue;
	cl_device_type type = 0;
	cl_platform_id platform = NULL, of_device = NULL;
	cl_context context;
	cl_int error;

	IS(!clGetPlatformIDs(1, &platform, NULL));
	/* A device that was only named by an answer still exists when the object that was asked is gone. */
	properties[1] = (cl_context_properties)platform;
	context = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &error);
	IS(context && !error);
	IS(!clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(named), &named, NULL));
	IS(!clReleaseContext(context));
	IS(!clGetDeviceInfo(named, CL_DEVICE_TYPE, sizeof(type), &type, NULL) && type);
	IS(!clGetDeviceInfo(named, CL_DEVICE_PLATFORM, sizeof(of_device), &of_device, NULL));
	IS(of_device == platform);
	/* So does one that was asked for later. */
	context = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &error);
	IS(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	IS(device == named);
	queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
	IS(queue && !error);
	IS(!clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(of_queue), &of_queue, NULL) && of_queue == device);
	IS(!clReleaseCommandQueue(queue) && !clReleaseContext(context));
	IS(!clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL));
	/* Devices of platforms are not reference-counted. */
	IS(!clReleaseDevice(device) && !clReleaseDevice(device));
	IS(!clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL));
	printf("%d failures\n", failures);
	return failures != 0;
}
