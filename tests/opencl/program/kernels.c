/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernels, events, queues. */
#include "host.h"

#include <pthread.h>

static int32_t ints[3][COUNT], found[COUNT];

/* i and 5 i in the first two arrays. */
static void set_ints(void)
{
	for (int i = 0; i < COUNT; i++) {
		ints[0][i] = i;
		ints[1][i] = 5 * i;
	}
}

void part_vecadd(int count, char **arguments)
{
	int launches = count > 1 ? atoi(arguments[1]) : 1;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffers[3];

	set_ints();
	make_context(1);
	queue = new_queue(0, 0);
	for (int i = 0; i < 3; i++) {
		buffers[i] = new_buffer(sizeof(ints[i]));
		write_ints(queue, buffers[i], ints[i], COUNT);
	}
	program = new_program(arguments[0], 1);
	kernel = new_kernel(program, "vecadd");
	set_buffers(kernel, buffers[0], buffers[1], &buffers[2]);
	for (int i = 0; i < launches; i++)
		launch(queue, kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(queue));
	read_ints(queue, buffers[2], found, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == 6 * i);
	/* A sum of the sum: only one argument changes. */
	set_buffers(kernel, buffers[2], buffers[1], &buffers[0]);
	launch(queue, kernel, COUNT / 2, 0, NULL, NULL);
	read_ints(queue, buffers[0], found, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == (i < COUNT / 2 ? 11 * i : i));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	for (int i = 0; i < 3; i++)
		OK(clReleaseMemObject(buffers[i]));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *calls)
{
	(void)event;
	MUST(status == CL_COMPLETE);
	__atomic_fetch_add((int *)calls, 1, __ATOMIC_SEQ_CST);
}

/* Out of order: only the events define the order. */
void part_graph(int count, char **arguments)
{
	static int32_t other[COUNT];
	cl_command_queue queue;
	cl_event events[6];
	cl_program program;
	cl_kernel add, copy;
	cl_mem a, b, sum, twin;
	int calls = 0;

	(void)count;
	set_ints();
	make_context(1);
	queue = new_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	program = new_program(arguments[0], 1);
	add = new_kernel(program, "vecadd");
	copy = new_kernel(program, "copy");
	a = new_buffer(sizeof(found));
	b = new_buffer(sizeof(found));
	sum = new_buffer(sizeof(found));
	twin = new_buffer(sizeof(found));
	set_buffers(add, a, b, &sum);
	set_buffers(copy, sum, twin, NULL);
	OK(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof(found), ints[0], 0, NULL, &events[0]));
	OK(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, sizeof(found), ints[1], 0, NULL, &events[1]));
	launch(queue, add, COUNT, 2, &events[0], &events[2]);
	launch(queue, copy, COUNT, 1, &events[2], &events[3]);
	OK(clEnqueueReadBuffer(queue, twin, CL_FALSE, 0, sizeof(found), found, 1, &events[3], &events[4]));
	/* Concurrently with the copy. */
	OK(clEnqueueReadBuffer(queue, sum, CL_FALSE, 0, sizeof(other), other, 1, &events[2], &events[5]));
	OK(clSetEventCallback(events[3], CL_COMPLETE, count_call, &calls));
	for (int i = 5; i >= 0; i--)
		until_complete(events[i]);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == 6 * i && other[i] == 6 * i);
	OK(clFinish(queue));
	for (int i = 0; i < 1000 && !__atomic_load_n(&calls, __ATOMIC_SEQ_CST); i++)
		nap(10);
	MUST(calls == 1);
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* State of a thread of part_queues. */
struct user {
	pthread_t thread;
	cl_program program;
	int number, rounds;
};

/* Uses two queues of a thread's own: one for transfers, one for kernels. */
static void *use_queues(void *argument)
{
	struct user *user = argument;
	cl_command_queue transfers = new_queue(0, 0), kernels = new_queue(0, 0);
	cl_kernel kernel = new_kernel(user->program, "vecadd");
	cl_mem buffer = new_buffer(COUNT * sizeof(int32_t)), sum = new_buffer(COUNT * sizeof(int32_t));
	int32_t *numbers = malloc(2 * COUNT * sizeof(int32_t)), *sums = numbers + COUNT;

	MUST(numbers);
	set_buffers(kernel, buffer, buffer, &sum);
	for (int round = 0; round < user->rounds; round++) {
		cl_event written, added, read;

		for (int i = 0; i < COUNT; i++)
			numbers[i] = i * (user->number + 1) + round;
		OK(clEnqueueWriteBuffer(transfers, buffer, CL_FALSE, 0, COUNT * sizeof(int32_t), numbers,
					0, NULL, &written));
		launch(kernels, kernel, COUNT, 1, &written, &added);
		OK(clEnqueueReadBuffer(transfers, sum, CL_FALSE, 0, COUNT * sizeof(int32_t), sums, 1,
				       &added, &read));
		OK(clFlush(transfers));
		OK(clFlush(kernels));
		until_complete(read);
		for (int i = 0; i < COUNT; i++)
			MUST(sums[i] == 2 * (i * (user->number + 1) + round));
		until_complete(added);
		until_complete(written);
	}
	free(numbers);
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(buffer));
	OK(clReleaseMemObject(sum));
	OK(clReleaseCommandQueue(transfers));
	OK(clReleaseCommandQueue(kernels));
	return NULL;
}

void part_queues(int count, char **arguments)
{
	int threads = atoi(arguments[1]);
	struct user users[16];
	cl_program program;

	(void)count;
	MUST(threads > 0 && threads <= 16);
	make_context(1);
	program = new_program(arguments[0], 1);
	for (int i = 0; i < threads; i++) {
		users[i] = (struct user){ .program = program, .number = i, .rounds = atoi(arguments[2]) };
		MUST(!pthread_create(&users[i].thread, NULL, use_queues, &users[i]));
	}
	for (int i = 0; i < threads; i++)
		MUST(!pthread_join(users[i].thread, NULL));
	OK(clReleaseProgram(program));
	OK(clReleaseContext(context));
}

void part_printf(int count, char **arguments)
{
	cl_int lines = atoi(arguments[1]);
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;

	(void)count;
	make_context(1);
	queue = new_queue(0, 0);
	program = new_program(arguments[0], 1);
	kernel = new_kernel(program, "chatter");
	OK(clSetKernelArg(kernel, 0, sizeof(lines), &lines));
	launch(queue, kernel, 1, 0, NULL, NULL);
	OK(clFinish(queue));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

static void *set_later(void *event)
{
	nap(50);
	OK(clSetUserEventStatus(event, CL_COMPLETE));
	return NULL;
}

/* A kernel waits for an event of another thread. */
void part_event(int count, char **arguments)
{
	cl_command_queue queue;
	cl_program program;
	cl_event event, added;
	pthread_t thread;
	cl_kernel kernel;
	cl_mem a, sum;
	cl_int error, status = 0;

	(void)count;
	set_ints();
	make_context(1);
	queue = new_queue(0, 0);
	program = new_program(arguments[0], 1);
	kernel = new_kernel(program, "vecadd");
	a = new_buffer(sizeof(found));
	sum = new_buffer(sizeof(found));
	write_ints(queue, a, ints[1], COUNT);
	set_buffers(kernel, a, a, &sum);
	event = clCreateUserEvent(context, &error);
	OK(error);
	/* No clFlush: the open runtime's waits until the command has begun. */
	launch(queue, kernel, COUNT, 1, &event, &added);
	OK(clGetEventInfo(added, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	MUST(status == CL_QUEUED || status == CL_SUBMITTED);
	MUST(!pthread_create(&thread, NULL, set_later, event));
	until_complete(added);
	MUST(!pthread_join(thread, NULL));
	read_ints(queue, sum, found, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == 10 * i);
	OK(clReleaseEvent(event));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* The same launch after each reset of the kernels: the registers that they have lost are written again. */
void part_reset(int count, char **arguments)
{
	cl_int(*reset)(cl_context, cl_uint, const cl_device_id *);
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem a, sum;

	(void)count;
	set_ints();
	make_context(1);
	*(void **)&reset = clGetExtensionFunctionAddress("clResetKernelsIntelFPGA");
	MUST(reset);
	queue = new_queue(0, 0);
	program = new_program(arguments[0], 1);
	kernel = new_kernel(program, "vecadd");
	a = new_buffer(sizeof(found));
	sum = new_buffer(sizeof(found));
	set_buffers(kernel, a, a, &sum);
	for (int round = 0; round < 3; round++) {
		write_ints(queue, a, ints[round % 2], COUNT);
		OK(reset(context, 1, devices));
		launch(queue, kernel, COUNT, 0, NULL, NULL);
		OK(clFinish(queue));
		read_ints(queue, sum, found, COUNT);
		for (int i = 0; i < COUNT; i++)
			MUST(found[i] == 2 * ints[round % 2][i]);
	}
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* Two programs in turn. Buffers outlive every programming. */
void part_switch(int count, char **arguments)
{
	cl_command_queue queue;
	cl_program first, second;
	cl_kernel add, copy;
	cl_mem a, b, sum, twin;

	(void)count;
	set_ints();
	make_context(1);
	queue = new_queue(0, 0);
	a = new_buffer(sizeof(found));
	b = new_buffer(sizeof(found));
	sum = new_buffer(sizeof(found));
	twin = new_buffer(sizeof(found));
	write_ints(queue, a, ints[0], COUNT);
	write_ints(queue, b, ints[1], COUNT);
	first = new_program(arguments[0], 1);
	second = new_program(arguments[1], 1);
	add = new_kernel(first, "vecadd");
	copy = new_kernel(second, "copy");
	for (int round = 0; round < 2; round++) {
		set_buffers(add, round ? twin : a, b, &sum);
		launch(queue, add, COUNT, 0, NULL, NULL);
		set_buffers(copy, sum, twin, NULL);
		launch(queue, copy, COUNT, 0, NULL, NULL);
	}
	OK(clFinish(queue));
	read_ints(queue, twin, found, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == 11 * i);
	read_ints(queue, a, found, COUNT);
	MUST(!memcmp(found, ints[0], sizeof(found)));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
}

/* A buffer goes from one board to the other. */
void part_two(int count, char **arguments)
{
	cl_command_queue queues[2];
	cl_program program;
	cl_kernel kernel;
	cl_mem a, sum;

	(void)count;
	set_ints();
	make_context(2);
	queues[0] = new_queue(0, 0);
	queues[1] = new_queue(1, 0);
	program = new_program(arguments[0], 2);
	kernel = new_kernel(program, "vecadd");
	a = new_buffer(sizeof(found));
	sum = new_buffer(sizeof(found));
	write_ints(queues[0], a, ints[1], COUNT);
	set_buffers(kernel, a, a, &sum);
	launch(queues[0], kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(queues[0]));
	set_buffers(kernel, sum, a, &sum);
	launch(queues[1], kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(queues[1]));
	read_ints(queues[1], sum, found, COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(found[i] == 15 * i);
	OK(clReleaseCommandQueue(queues[0]));
	OK(clReleaseCommandQueue(queues[1]));
	OK(clReleaseContext(context));
}
