/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Programs that do not release what they have. The kernel of their package takes long. */
#include "host.h"

/* A kernel, and a transfer each way beside it. */
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

/* Ends while kernel and transfers are under way. */
void part_leave(int count, char **arguments)
{
	(void)count;
	work(arguments[0]);
}

/* Waits for the kernel, for ever: somebody ends the program by a signal. */
void part_wait(int count, char **arguments)
{
	cl_command_queue queue;

	(void)count;
	queue = work(arguments[0]);
	printf("waits\n");
	OK(clFinish(queue));
}
