/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls every function with right arguments, and then with each argument wrong in turn. Prints a line for each call:
 * function, the argument that is wrong (or "right"), and the result.
 *
 * usage: PROGRAM FIRST
 *
 * The calls have numbers. The program begins with the number FIRST, and prints each line's beginning before the call,
 * so that the test can continue after a call that has ended the program.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem buffer, buffer2, image, image2;
static cl_program program;
static cl_kernel kernel;
static cl_event event, made;
static cl_sampler sampler;
static cl_int error;

static const char *source = "kernel void k2(global int *a) { a[0]++; }";
static unsigned char *binary;
static size_t binary_size, size_ret;
static char scratch[65536];
static void *handles[64];
static size_t zeros[3], ones[3] = {1, 1, 1}, zeros_and_ones[2] = {0, 16};
static cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
static cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};

/* Results of the call other than its return value. */
static void say_rest(void)
{
	printf(", error %d, event %s, %zu bytes\n", error, made ? "made" : "none", size_ret);
}

static void say_number(long number)
{
	printf("%ld", number);
	say_rest();
}

static void say_pointer(const void *pointer)
{
	printf("%s", pointer ? "something" : "nothing");
	say_rest();
}

static void say_nothing(void)
{
	printf("done");
	say_rest();
}

static void *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : clGetExtensionFunctionAddressForPlatform(platform, name);
}

/* Retain objects that other calls use, so that no call frees them. */
static void retain(const char *name, int wrong)
{
	void *handle = strstr(name, "Context")	      ? (void *)context
		       : strstr(name, "CommandQueue") ? (void *)queue
		       : strstr(name, "MemObject")    ? (void *)buffer
		       : strstr(name, "Program")      ? (void *)program
		       : strstr(name, "Kernel")	      ? (void *)kernel
		       : strstr(name, "Event")	      ? (void *)event
		       : strstr(name, "Sampler")      ? (void *)sampler
						      : NULL;
	cl_int (*f)(void *) = (cl_int(*)(void *))find(name);

	if (f && handle && wrong)
		f(handle);
}

#include "exercise.h"

static void set_up(void)
{
	clGetPlatformIDs(1, &platform, NULL);
	if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(1);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	queue = clCreateCommandQueue(context, device, 0, &error);
	buffer = clCreateBuffer(context, 0, 4096, NULL, &error);
	buffer2 = clCreateBuffer(context, 0, 4096, NULL, &error);
	image = clCreateImage(context, 0, &format, &description, NULL, &error);
	image2 = clCreateImage(context, 0, &format, &description, NULL, &error);
	sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	if (clBuildProgram(program, 1, &device, "", NULL, NULL))
		exit(1);
	clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(binary_size), &binary_size, NULL);
	binary = malloc(binary_size);
	clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL);
	kernel = clCreateKernel(program, "k2", &error);
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	event = clCreateUserEvent(context, &error);
	clSetUserEventStatus(event, CL_COMPLETE);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		int arguments;
		void (*call)(void *, int);
	} rows[] = {
#define ROW(name, arguments) {#name, arguments, do_##name},
		ROWS
	};
	int first = count > 1 ? atoi(arguments[1]) : 0, number = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	set_up();
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		void *function = find(rows[row].name);

		for (int wrong = -1; wrong < rows[row].arguments; wrong++, number++) {
			if (number < first)
				continue;
			if (wrong < 0)
				printf("%d %s right: ", number, rows[row].name);
			else
				printf("%d %s wrong %d: ", number, rows[row].name, wrong);
			if (!function) {
				puts("absent");
				continue;
			}
			error = 0;
			made = NULL;
			size_ret = 0;
			memset(scratch, 0, sizeof(scratch));
			alarm(20);
			rows[row].call(function, wrong);
			clFinish(queue);
		}
	}
	puts("end");
	fflush(NULL);
	_exit(0);
}
