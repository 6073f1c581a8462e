/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 02: an OpenCL buffer goes from an FPGA board to an NVIDIA GPU and back, without the host's memory in between. The
 * program in appendix A of A. Gillert's "Direct GPU-FPGA Communication" (TUM 2015) does the same, without the way back.
 *
 *     cc appendix_a.c $(pkg-config --cflags --libs libpeerlane_clrdma) -lOpenCL -o appendix_a
 *     ./appendix_a [BYTES]
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <clrdma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 16, SECONDS = 60 };

/* A platform's first device, with the objects that its use needs. */
struct side {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
	unsigned long address;
};

static void cl(const char *what, cl_int error)
{
	if (error != CL_SUCCESS) {
		fprintf(stderr, "%s: OpenCL error %d\n", what, (int)error);
		exit(1);
	}
}

static void rdma(const char *what, int result)
{
	if (result != CLRDMA_OK) {
		fprintf(stderr, "%s: %d: %s\n", what, result, clrdma_error_text());
		exit(1);
	}
}

/*
 * Whether a platform is that of FPGA boards: its runtime has a function for functions of the board's library. The name
 * alone is not enough: "Intel(R) FPGA Emulation Platform" has no boards. A runtime of 13.1 has no such function.
 */
static int is_fpga(cl_platform_id platform, const char *name)
{
	return clGetExtensionFunctionAddressForPlatform(platform, "clGetBoardExtensionFunctionAddressIntelFPGA") ||
	       /* Its name up to 16.1. */
	       clGetExtensionFunctionAddressForPlatform(platform, "clGetBoardExtensionFunctionAddressAltera") ||
	       strstr(name, "Altera SDK");
}

static int is_nvidia(cl_platform_id platform, const char *name)
{
	(void)platform;
	return strstr(name, "NVIDIA") != NULL;
}

/* The first side of a kind. */
static struct side find(const char *kind, int (*is)(cl_platform_id, const char *))
{
	struct side side = { 0 };
	cl_platform_id platforms[PLATFORMS];
	cl_uint count = 0, i;
	char name[256];
	cl_int error;

	cl("platforms", clGetPlatformIDs(PLATFORMS, platforms, &count));
	for (i = 0; i < count && i < PLATFORMS; i++) {
		cl("platform", clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL));
		if (!is(platforms[i], name))
			continue;
		cl("device", clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &side.device, NULL));
		side.context = clCreateContext(NULL, 1, &side.device, NULL, NULL, &error);
		cl("context", error);
		side.queue = clCreateCommandQueue(side.context, side.device, 0, &error);
		cl("queue", error);
		return side;
	}
	fprintf(stderr, "no OpenCL platform has %s\n", kind);
	exit(1);
}

static void compare(const char *what, const unsigned char *found, const unsigned char *data, size_t bytes)
{
	if (memcmp(found, data, bytes)) {
		fprintf(stderr, "%s: other bytes arrived\n", what);
		exit(1);
	}
}

int main(int count, char **arguments)
{
	const size_t bytes = count > 1 ? strtoull(arguments[1], NULL, 0) : 32 << 20;
	struct side fpga = find("FPGA boards", is_fpga), gpu = find("an NVIDIA GPU", is_nvidia);
	unsigned char *data = malloc(bytes), *found = malloc(bytes);
	cl_int error;
	size_t i;

	if (!data || !found || !bytes)
		return 1;
	for (i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i * 7 + i / 256);

	rdma("board", clrdma_init_altera(fpga.context, fpga.device));
	rdma("GPU", clrdma_init_nvidia(gpu.context));

	/* A buffer on each side, and where they lie. */
	fpga.buffer = clCreateBuffer(fpga.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
	cl("buffer", error);
	rdma("GPU buffer", clrdma_create_pinnable_buffer_nvidia(gpu.context, gpu.queue, &gpu.buffer, bytes));
	rdma("address", clrdma_get_buffer_address_altera(fpga.buffer, fpga.queue, &fpga.address));
	rdma("GPU address", clrdma_get_buffer_address_nvidia(gpu.buffer, gpu.queue, &gpu.address));

	/* From the FPGA to the GPU. */
	cl("write", clEnqueueWriteBuffer(fpga.queue, fpga.buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
	rdma("read_rdma", read_rdma(fpga.address, gpu.address, bytes, SECONDS));
	cl("read", clEnqueueReadBuffer(gpu.queue, gpu.buffer, CL_TRUE, 0, bytes, found, 0, NULL, NULL));
	compare("FPGA to GPU", found, data, bytes);

	/* Other bytes, from the GPU to the FPGA. */
	for (i = 0; i < bytes; i++)
		data[i] = (unsigned char)~data[i];
	cl("write", clEnqueueWriteBuffer(gpu.queue, gpu.buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
	rdma("write_rdma", write_rdma(fpga.address, gpu.address, bytes, SECONDS));
	cl("read", clEnqueueReadBuffer(fpga.queue, fpga.buffer, CL_TRUE, 0, bytes, found, 0, NULL, NULL));
	compare("GPU to FPGA", found, data, bytes);

	printf("%zu bytes from the FPGA to the GPU, and %zu bytes back\n", bytes, bytes);
	clReleaseMemObject(gpu.buffer);
	clReleaseMemObject(fpga.buffer);
	clReleaseCommandQueue(gpu.queue);
	clReleaseCommandQueue(fpga.queue);
	clReleaseContext(gpu.context);
	clReleaseContext(fpga.context);
	free(data);
	free(found);
	return 0;
}
