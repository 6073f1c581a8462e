/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time limits, and platforms that pass writes only, with a board library whose copies take a set time. */
#define _GNU_SOURCE
#include <clrdma.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "standin.h"

enum { BYTES = 5000 };

#define GIVES(call, expected) gives((call), (expected), #call, __LINE__)
#define MUST(condition) gives(!(condition), 0, #condition, __LINE__)

static void gives(int found, int expected, const char *call, int line)
{
	if (found != expected) {
		fprintf(stderr, "%d: %s = %d, not %d: %s\n", line, call, found, expected, clrdma_error_text());
		exit(1);
	}
}

static struct standin_board *board;
static cl_context context;
static cl_command_queue queue;
static cl_mem buffer;
static unsigned long gpu;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void make(void)
{
	cl_platform_id platforms[2];
	cl_device_id devices[2];
	cl_context contexts[2];
	cl_int error;

	MUST(!clGetPlatformIDs(2, platforms, NULL));
	for (int side = 0; side < 2; side++) {
		MUST(!clGetDeviceIDs(platforms[side], CL_DEVICE_TYPE_ALL, 1, &devices[side], NULL));
		contexts[side] = clCreateContext(NULL, 1, &devices[side], NULL, NULL, &error);
		MUST(!error);
	}
	board = dlsym(dlopen(getenv("STANDIN_MMD"), RTLD_NOW | RTLD_NOLOAD), "standin_board");
	MUST(board != NULL);
	context = contexts[1];
	queue = clCreateCommandQueue(context, devices[1], 0, &error);
	MUST(!error);
	GIVES(clrdma_init_altera(contexts[0], devices[0]), CLRDMA_OK);
	GIVES(clrdma_init_nvidia(contexts[1]), CLRDMA_OK);
	GIVES(clrdma_create_pinnable_buffer_nvidia(contexts[1], queue, &buffer, BYTES), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(buffer, queue, &gpu), CLRDMA_OK);
	for (int i = 0; i < BYTES; i++)
		board->memory[i] = (unsigned char)(i * 7 + i / 256);
}

static int is_there(void)
{
	static unsigned char found[BYTES];

	MUST(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, found, 0, NULL, NULL));
	return !memcmp(found, board->memory, BYTES);
}

/* A transfer without a time limit, or one that is late. */
static void *first(void *is_late)
{
	GIVES(read_rdma(0, gpu, BYTES, is_late != NULL), is_late ? CLRDMA_TIMEOUT : CLRDMA_OK);
	return NULL;
}

/* Another transfer has the buffer for longer than the second one may take. */
static void turn(void)
{
	pthread_t thread;
	double begin;

	board->takes = 3000;
	pthread_create(&thread, NULL, first, NULL);
	while (!board->begun)
		usleep(1000);
	begin = now();
	GIVES(read_rdma(0, gpu, BYTES, 1), CLRDMA_TIMEOUT);
	MUST(now() - begin < 2);
	MUST(board->begun == 1);
	pthread_join(thread, NULL);
	MUST(is_there());
}

/* The board makes a direction's copies one after another: one that waits for another buffer's is not begun late. */
static void lane(void)
{
	cl_mem other;
	unsigned long there;
	pthread_t thread;

	GIVES(clrdma_create_pinnable_buffer_nvidia(context, queue, &other, BYTES), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(other, queue, &there), CLRDMA_OK);
	board->takes = 6000;
	pthread_create(&thread, NULL, first, board);
	while (!board->begun)
		usleep(1000);
	GIVES(read_rdma(0, there, BYTES, 1), CLRDMA_TIMEOUT);
	MUST(board->begun == 1 && strstr(clrdma_error_text(), "no part of it goes on"));
	pthread_join(thread, NULL);
	/* The other direction has a lane of its own. */
	board->takes = 0;
	GIVES(write_rdma(8192, there, 64, 1), CLRDMA_OK);
	MUST(board->begun == 2);
	GIVES(read_rdma(0, there, BYTES, 30), CLRDMA_OK);
	MUST(board->begun == 3 && board->ended == 3);
}

/* Commands of the queue do, too; and a late copy is not begun. */
static void commands(void)
{
	double begin = now();

	standin_busy(3000);
	GIVES(read_rdma(0, gpu, BYTES, 1), CLRDMA_TIMEOUT);
	MUST(now() - begin < 2);
	MUST(strstr(clrdma_error_text(), "clFinish") && !board->begun);
	/* The program has its buffer again, and a transfer that may take longer is made. */
	MUST(!is_there());
	GIVES(read_rdma(0, gpu, BYTES, 30), CLRDMA_OK);
	MUST(now() - begin >= 3 && is_there());
}

/* A copy that no caller waits for any more has the buffer until its end. */
static void behind(void)
{
	double begin = now();

	board->takes = 3000;
	GIVES(read_rdma(0, gpu, BYTES, 1), CLRDMA_TIMEOUT);
	MUST(now() - begin < 2 && board->begun == 1 && !board->ended);
	MUST(strstr(clrdma_error_text(), "goes on"));
	/* It does not belong to the program yet. */
	MUST(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &begin, 0, NULL, NULL) == CL_INVALID_OPERATION);
	begin = now();
	GIVES(read_rdma(0, gpu, 0, 1), CLRDMA_TIMEOUT);
	GIVES(read_rdma(0, gpu, 0, 30), CLRDMA_OK);
	MUST(board->begun == 1 && board->ended == 1 && is_there());

	/* Memory that is released in the meantime stays until the copy's end. */
	board->takes = 1500;
	GIVES(read_rdma(0, gpu, BYTES, 1), CLRDMA_TIMEOUT);
	MUST(!clReleaseMemObject(buffer));
	MUST(!board->released);
	begin = now();
	while (!board->released && now() - begin < 10)
		usleep(1000);
	MUST(board->ended == 2 && board->released == board->made);
	GIVES(read_rdma(0, gpu, 1, 1), CLRDMA_INVALID);
}

/* The board's library has stopped a copy after its minute. */
static void stopped(void)
{
	board->fails = -10006;
	GIVES(read_rdma(0, gpu, BYTES, 0), CLRDMA_TIMEOUT);
	board->fails = 0;
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(is_there());
}

/* The thesis's own platform: the board cannot read the GPU. */
static void writes_only(void)
{
	board->writes_only = 1;
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(is_there());
	/* With the proof twice, for an error may be of another kind; and without it from then on. */
	MUST(board->begun == 3);
	memset(board->memory, 3, BYTES);
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(is_there() && board->begun == 4);
	GIVES(write_rdma(0, gpu, BYTES, 5), CLRDMA_FAILED);
	/* A copy that is refused for another reason stays refused, and the next transfer is proven as before. */
	board->writes_only = 0;
	board->begun = 0;
	GIVES(write_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(board->begun == 1);
}

/* After a failure of another kind the proof is still made. */
static void refused(void)
{
	board->fails = -10005;
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_FAILED);
	board->fails = 0;
	board->begun = 0;
	board->writes_only = 1;
	/* Again with the proof first. */
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(board->begun == 3 && is_there());
}

/* A failure that is not repeated does not end the proofs. */
static void refused_once(void)
{
	board->fails = -10005;
	board->once = 1;
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(board->begun == 2 && is_there());
	board->begun = 0;
	board->writes_only = 1;
	GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
	MUST(board->begun == 3 && is_there());
}

/* Buffers that are idle make room for one that is not. */
static void room(void)
{
	cl_mem other;
	unsigned long there;

	GIVES(clrdma_create_pinnable_buffer_nvidia(context, queue, &other, BYTES), CLRDMA_OK);
	GIVES(clrdma_get_buffer_address_nvidia(other, queue, &there), CLRDMA_OK);
	/* One buffer that is registered as a whole, in CUDA's granularity, and less than a block of the other. */
	board->room = 0x10000 + BYTES / 2;
	for (int i = 0; i < 3; i++) {
		GIVES(read_rdma(0, gpu, BYTES, 5), CLRDMA_OK);
		GIVES(read_rdma(0, there, BYTES, 5), CLRDMA_OK);
	}
	MUST(is_there() && board->taken <= board->room);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "turn", turn },	{ "commands", commands },	{ "behind", behind },
		{ "stopped", stopped }, { "writes_only", writes_only }, { "refused", refused },
		{ "refused_once", refused_once }, { "lane", lane },		{ "room", room },
	};

	make();
	for (size_t i = 0; count > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(arguments[1], parts[i].name))
			continue;
		parts[i].run();
		return 0;
	}
	return 2;
}
