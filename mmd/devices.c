/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lists the OpenCL devices that are FPGA boards, a line each; fails if there are no such devices. To ask a board for
 * its name opens it, and so resets its kernels.
 *
 *     cc -o devices devices.c -lOpenCL
 *     cc -o devices devices.c $(aocl compile-config) $(aocl link-config)     (closed runtimes to 17.0)
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

#define MOST 16

static cl_uint list(cl_platform_id platform)
{
	cl_device_id devices[MOST];
	cl_uint count = 0, i;
	char name[256];

	/* A platform without an accelerator, such as a GPU's, answers with an error. */
	if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, MOST, devices, &count) != CL_SUCCESS)
		return 0;
	if (count > MOST)
		count = MOST;
	for (i = 0; i < count; i++) {
		if (clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof(name), name, NULL) == CL_SUCCESS)
			printf("device %u: %s\n", (unsigned)i, name);
		else
			printf("device %u: its name cannot be read\n", (unsigned)i);
	}
	return count;
}

int main(void)
{
	cl_platform_id platforms[MOST];
	cl_uint count = 0, found = 0, i;
	cl_int error = clGetPlatformIDs(MOST, platforms, &count);

	if (error != CL_SUCCESS) {
		fprintf(stderr, "no OpenCL platform: error %d\n", (int)error);
		return 1;
	}
	for (i = 0; i < count && i < MOST; i++)
		found += list(platforms[i]);
	if (!found)
		fprintf(stderr, "no FPGA board on %u OpenCL platform(s)\n", (unsigned)count);
	return !found;
}
