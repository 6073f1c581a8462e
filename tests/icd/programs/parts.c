/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports whether data that are written into a sub-buffer are seen in the buffer, by the first platform. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

/* Writes into a part of a new buffer, by a queue of its own or not, and looks for the data in the buffer while there
   is the part, or when it is gone. */
static void written(const char *what, size_t size, int other_queue, int gone)
{
	static unsigned char whole[3 * 4096], part[4096];
	cl_buffer_region region = {4096, size};
	cl_command_queue by = queue;
	cl_mem buffer, sub;
	cl_int error, failed;

	memset(whole, 0, sizeof(whole));
	memset(part, 5, sizeof(part));
	buffer = clCreateBuffer(context, 0, sizeof(whole), NULL, &error);
	failed = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof(whole), whole, 0, NULL, NULL);
	sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	failed |= error;
	if (other_queue)
		by = clCreateCommandQueue(context, device, 0, &error);
	failed |= clEnqueueWriteBuffer(by, sub, CL_TRUE, 0, size, part, 0, NULL, NULL);
	if (other_queue)
		clReleaseCommandQueue(by);
	if (gone)
		clReleaseMemObject(sub);
	failed |= clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(whole), whole, 0, NULL, NULL);
	printf("%s: error %d, %s\n", what, failed, memcmp(whole + 4096, part, size) ? "not seen" : "seen");
	if (!gone)
		clReleaseMemObject(sub);
	clReleaseMemObject(buffer);
}

int main(void)
{
	cl_platform_id platform;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		puts("no platform");
		return 1;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	queue = clCreateCommandQueue(context, device, 0, &error);
	written("by the same queue", 4096, 0, 0);
	written("of 100 bytes", 100, 0, 0);
	written("by another queue", 4096, 1, 0);
	written("when the part is gone", 4096, 0, 1);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
