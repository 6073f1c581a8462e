/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Results of the calls: without a board, without a GPU, and with both at odd places. */
#include <clrdma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 70001, EDGE = 64 };

#define GIVES(call, expected) gives((call), (expected), #call, __LINE__)
#define MUST(condition) gives(!(condition), 0, #condition, __LINE__)

static void gives(int found, int expected, const char *call, int line)
{
	if (found != expected) {
		fprintf(stderr, "%d: %s = %d, not %d: %s\n", line, call, found, expected, clrdma_error_text());
		exit(1);
	}
}

static cl_platform_id platforms[2];
static cl_device_id devices[2];
static cl_context contexts[2];
static cl_command_queue queues[2];

static void make(int side)
{
	cl_int error;

	MUST(!clGetPlatformIDs(2, platforms, NULL));
	MUST(!clGetDeviceIDs(platforms[side], CL_DEVICE_TYPE_ALL, 1, &devices[side], NULL));
	contexts[side] = clCreateContext(NULL, 1, &devices[side], NULL, NULL, &error);
	MUST(!error);
	queues[side] = clCreateCommandQueue(contexts[side], devices[side], 0, &error);
	MUST(!error);
}

static void none(void)
{
	cl_mem buffer = (cl_mem)&buffer;
	unsigned long address = 7;

	make(1);
	MUST(!strcmp(clrdma_error_text(), ""));
	GIVES(clrdma_init_altera(NULL, NULL), CLRDMA_INVALID);
	MUST(strstr(clrdma_error_text(), "context"));
	GIVES(clrdma_init_altera(contexts[1], NULL), CLRDMA_INVALID);
	GIVES(clrdma_init_nvidia(NULL), CLRDMA_INVALID);
	/* The GPU's device is not a board. Without a driver of Peerlane, the missing driver is reported first. */
	if (access("/sys/class/misc/peerlane0", F_OK)) {
		GIVES(clrdma_init_altera(contexts[1], devices[1]), CLRDMA_NO_DRIVER);
		MUST(strstr(clrdma_error_text(), "modprobe peerlane"));
	} else {
		GIVES(clrdma_init_altera(contexts[1], devices[1]), CLRDMA_WRONG_DRIVER);
	}
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queues[1], &buffer, BYTES), CLRDMA_NOT_INITIALIZED);
	MUST(!buffer && strstr(clrdma_error_text(), "clrdma_init_nvidia"));
	GIVES(clrdma_get_buffer_address_altera(buffer, NULL, &address), CLRDMA_NOT_INITIALIZED);
	GIVES(clrdma_get_buffer_address_nvidia(NULL, NULL, &address), CLRDMA_INVALID);
	MUST(address == 7);
	GIVES(read_rdma(0, 0, BYTES, 5), CLRDMA_NOT_INITIALIZED);
	GIVES(write_rdma(0, 0, BYTES, 5), CLRDMA_NOT_INITIALIZED);
}

static void board(void)
{
	static const struct {
		unsigned fpga, gpu, length;
	} copies[] = {
		{ EDGE, EDGE, BYTES }, { EDGE + 3, EDGE + 5, BYTES - 1000 }, { EDGE + 61, EDGE + 1, 4096 }, { EDGE + 7, 2 * EDGE, 1 },
	};
	const size_t size = BYTES + 4 * EDGE;
	static unsigned char data[BYTES + 4 * EDGE], found[BYTES + 4 * EDGE];
	unsigned long fpga, gpu, again;
	cl_mem buffers[2], second;
	cl_int error;

	make(0);
	make(1);
	GIVES(clrdma_init_altera(contexts[0], devices[0]), CLRDMA_OK);
	/* A device of another platform. */
	GIVES(clrdma_init_altera(contexts[1], (cl_device_id)devices[1]), CLRDMA_WRONG_DRIVER);
	GIVES(clrdma_init_nvidia(contexts[0]), CLRDMA_FAILED);
	MUST(strstr(clrdma_error_text(), "cl_khr_external_memory_opaque_fd"));
	GIVES(clrdma_init_nvidia(contexts[1]), CLRDMA_OK);
	buffers[0] = clCreateBuffer(contexts[0], CL_MEM_READ_WRITE, size, NULL, &error);
	MUST(!error);
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queues[1], &buffers[1], 0), CLRDMA_INVALID);
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queues[1], NULL, size), CLRDMA_INVALID);
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queues[1], &buffers[1], size), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_altera(buffers[0], queues[0], &fpga), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(buffers[1], queues[1], &gpu), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(buffers[0], queues[0], &again), CLRDMA_INVALID);
	GIVES(clrdma_get_buffer_address_altera(NULL, queues[0], &again), CLRDMA_INVALID);
	GIVES(clrdma_get_buffer_address_altera(buffers[0], queues[0], NULL), CLRDMA_INVALID);

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		for (int way = 0; way < 2; way++) {
			const unsigned from = way ? copies[i].gpu : copies[i].fpga;
			const unsigned to = way ? copies[i].fpga : copies[i].gpu;
			const size_t length = copies[i].length;

			for (size_t j = 0; j < size; j++)
				data[j] = (unsigned char)(j * 5 + j / 256 + i * 37 + way);
			memset(found, 0xee, size);
			MUST(!clEnqueueWriteBuffer(queues[way], buffers[way], CL_TRUE, 0, size, data, 0, NULL, NULL));
			MUST(!clEnqueueWriteBuffer(queues[!way], buffers[!way], CL_TRUE, 0, size, found, 0, NULL, NULL));
			if (way)
				GIVES(write_rdma(fpga + to, gpu + from, length, 60), CLRDMA_OK);
			else
				GIVES(read_rdma(fpga + from, gpu + to, length, 0), CLRDMA_OK);
			MUST(!clEnqueueReadBuffer(queues[!way], buffers[!way], CL_TRUE, 0, size, found, 0, NULL, NULL));
			MUST(!memcmp(found + to, data + from, length));
			for (size_t j = 0; j < EDGE; j++)
				MUST(found[to - 1 - j % to] == 0xee && found[to + length + j] == 0xee);
		}
	}

	/* No bytes, and bytes outside of the buffers. */
	GIVES(read_rdma(fpga, gpu, 0, 5), CLRDMA_OK);
	GIVES(read_rdma(fpga, gpu - 1, 1, 5), CLRDMA_INVALID);
	GIVES(read_rdma(fpga, gpu, (size_t)1 << 40, 5), CLRDMA_INVALID);
	GIVES(read_rdma(~0ul >> 11, gpu, 1, 5), CLRDMA_INVALID);
	/* Both sides are usable after errors. */
	MUST(!clEnqueueReadBuffer(queues[1], buffers[1], CL_TRUE, 0, size, found, 0, NULL, NULL));

	/* Another buffer has another address; a buffer that is gone has none. */
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queues[1], &second, size), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(second, queues[1], &again), CLRDMA_OK);
	MUST(again != gpu);
	MUST(!clReleaseMemObject(second));
	GIVES(read_rdma(fpga, again, 1, 5), CLRDMA_INVALID);

	/* Another context opens the board again: registrations are made again. */
	MUST(!clReleaseMemObject(buffers[0]));
	MUST(!clReleaseCommandQueue(queues[0]));
	MUST(!clReleaseContext(contexts[0]));
	GIVES(read_rdma(fpga, gpu, 1, 5), CLRDMA_FAILED);
	make(0);
	buffers[0] = clCreateBuffer(contexts[0], CL_MEM_READ_WRITE, size, NULL, &error);
	MUST(!error);
	GIVES(clrdma_init_altera(contexts[0], devices[0]), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_altera(buffers[0], queues[0], &fpga), CLRDMA_OK);
	MUST(!clEnqueueWriteBuffer(queues[0], buffers[0], CL_TRUE, 0, size, data, 0, NULL, NULL));
	GIVES(read_rdma(fpga, gpu, size, 60), CLRDMA_OK);
	MUST(!clEnqueueReadBuffer(queues[1], buffers[1], CL_TRUE, 0, size, found, 0, NULL, NULL));
	MUST(!memcmp(found, data, size));
}

int main(int count, char **arguments)
{
	if (count > 1 && !strcmp(arguments[1], "none"))
		none();
	else if (count > 1 && !strcmp(arguments[1], "board"))
		board();
	else if (count > 2) {
		make(1);
		GIVES(clrdma_init_nvidia(contexts[1]), atoi(arguments[2]));
	} else
		return 2;
	return 0;
}
