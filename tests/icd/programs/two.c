/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All platforms of the process at a time, a thread for each: chains of kernels by events, in a queue
 * without order, with callbacks. Then a list of events of two platforms, which must be refused.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define MOST 8
#define ROUNDS 200
#define OK(what)                                                                        \
	do {                                                                            \
		if (!(what)) {                                                          \
			__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);             \
			printf("failed: %s\n", #what);                                  \
		}                                                                       \
	} while (0)

static int failures;
static cl_platform_id platforms[MOST];
static cl_command_queue queues[MOST];
static cl_event kept[MOST];

static void CL_CALLBACK done(cl_event event, cl_int status, void *count)
{
	cl_command_queue queue = NULL;
	char text[32];

	snprintf(text, sizeof(text), "%f", 2.5);
	clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL);
	__atomic_add_fetch((int *)count, queue && status == CL_COMPLETE && text[0] == '2', __ATOMIC_SEQ_CST);
}

static void *work(void *which)
{
	static const char *source = "kernel void k(global int *a, long l) { a[get_global_id(0)] += l; }";
	static int fired[MOST];
	size_t n = (size_t)(uintptr_t)which, items = 64;
	cl_long number = (cl_long)n + 1;
	cl_event event, last = NULL;
	cl_context context;
	cl_device_id device;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	cl_int error, out[64] = {0};

	OK(!clGetDeviceIDs(platforms[n], CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext((cl_context_properties[]){CL_CONTEXT_PLATFORM,
							   (cl_context_properties)platforms[n], 0},
				  1, &device, NULL, NULL, &error);
	OK(!error);
	queues[n] = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
	OK(!error);
	program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	OK(!clBuildProgram(program, 1, &device, "", NULL, NULL));
	kernel = clCreateKernel(program, "k", &error);
	buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(out), out, &error);
	OK(!clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	OK(!clSetKernelArg(kernel, 1, sizeof(number), &number));
	for (int i = 0; i < ROUNDS; i++) {
		OK(!clEnqueueNDRangeKernel(queues[n], kernel, 1, NULL, &items, NULL, last != NULL,
					   last ? &last : NULL, &event));
		OK(!clSetEventCallback(event, CL_COMPLETE, done, &fired[n]));
		if (last)
			clReleaseEvent(last);
		last = event;
	}
	OK(!clEnqueueReadBuffer(queues[n], buffer, CL_TRUE, 0, sizeof(out), out, 1, &last, NULL));
	OK(out[63] == ROUNDS * number);
	for (int i = 0; i < 20000 && __atomic_load_n(&fired[n], __ATOMIC_SEQ_CST) < ROUNDS; i++)
		usleep(1000);
	OK(fired[n] == ROUNDS);
	kept[n] = last;
	return NULL;
}

int main(void)
{
	pthread_t threads[MOST];
	cl_uint number = 0;

	clGetPlatformIDs(MOST, platforms, &number);
	for (size_t i = 0; i < number; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	for (size_t i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	printf("%u platforms, %d failures\n", number, failures);
	if (number > 1)
		printf("events of two platforms: %d\n", clEnqueueMarkerWithWaitList(queues[0], 2, kept, NULL));
	return failures != 0;
}
