/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Programs whose board is not programmed, and programs that do not release their objects. */
#include "host.h"

/* Objects for a board whose programming has failed. */
struct unprogrammed {
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
};

static struct unprogrammed fail_to_program(const char *package)
{
	static int32_t ints[COUNT];
	struct unprogrammed is;

	make_context(1);
	is.queue = new_queue(0, 0);
	is.buffer = new_buffer(sizeof(ints));
	write_ints(is.queue, is.buffer, ints, COUNT);
	is.program = new_program(package, 1);
	is.kernel = new_kernel(is.program, "vecadd");
	set_buffers(is.kernel, is.buffer, is.buffer, &is.buffer);
	return is;
}

/* The first programming fails. With a new context all works: the board is free, and can be programmed. */
void part_failed(int count, char **arguments)
{
	struct unprogrammed is = fail_to_program(arguments[0]);

	OK(clReleaseKernel(is.kernel));
	OK(clReleaseProgram(is.program));
	OK(clReleaseMemObject(is.buffer));
	OK(clReleaseCommandQueue(is.queue));
	OK(clReleaseContext(context));
	part_vecadd(count, arguments);
}

/* A kernel is launched on a board that was not programmed. */
void part_failed_launch(int count, char **arguments)
{
	struct unprogrammed is = fail_to_program(arguments[0]);

	(void)count;
	launch(is.queue, is.kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(is.queue));
}

/* Starts a kernel that takes long, and concurrently a transfer in each direction. */
static cl_command_queue work(const char *package)
{
	static char from[1 << 18], to[1 << 18];
	cl_command_queue kernels, transfers;
	cl_kernel kernel;
	cl_mem a, b, c;

	make_context(1);
	kernels = new_queue(0, 0);
	transfers = new_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	a = new_buffer(sizeof(from));
	b = new_buffer(sizeof(from));
	c = new_buffer(sizeof(from));
	kernel = new_kernel(new_program(package, 1), "vecadd");
	set_buffers(kernel, a, a, &b);
	launch(kernels, kernel, COUNT, 0, NULL, NULL);
	OK(clFlush(kernels));
	OK(clEnqueueWriteBuffer(transfers, c, CL_FALSE, 0, sizeof(from), from, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(transfers, a, CL_FALSE, 0, sizeof(to), to, 0, NULL, NULL));
	OK(clFlush(transfers));
	return kernels;
}

/* Ends while kernel and transfers are in progress. */
void part_leave(int count, char **arguments)
{
	(void)count;
	work(arguments[0]);
}

/* Objects that a destructor uses. */
static cl_command_queue left_queue;
static cl_mem left_buffer;

/*
 * Runs like the destructor of an object that is older than the context: after the exit function of the board's library.
 */
static void use_at_exit(void)
{
	static int32_t left[COUNT];

	read_ints(left_queue, left_buffer, left, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(left[i] == i);
	OK(clFinish(left_queue));
	OK(clReleaseMemObject(left_buffer));
	OK(clReleaseCommandQueue(left_queue));
	OK(clReleaseContext(context));
	printf("read at exit\n");
}

/* Reads when the process is at its end. */
void part_global(int count, char **arguments)
{
	static int32_t ints[COUNT];

	(void)count, (void)arguments;
	MUST(!atexit(use_at_exit));
	for (int i = 0; i < COUNT; i++)
		ints[i] = i;
	make_context(1);
	left_queue = new_queue(0, 0);
	left_buffer = new_buffer(sizeof(ints));
	write_ints(left_queue, left_buffer, ints, COUNT);
}

static void finish_at_exit(void)
{
	OK(clFinish(left_queue));
	printf("finished at exit\n");
}

/* A kernel runs when the process comes to its end, and a destructor waits for the kernel's end. */
void part_global_kernel(int count, char **arguments)
{
	(void)count;
	MUST(!atexit(finish_at_exit));
	left_queue = work(arguments[0]);
}

/* Waits for the kernel, for ever: the test ends the program by a signal. */
void part_wait(int count, char **arguments)
{
	cl_command_queue queue;

	(void)count;
	queue = work(arguments[0]);
	printf("waits\n");
	OK(clFinish(queue));
}
