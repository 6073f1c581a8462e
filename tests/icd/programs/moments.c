/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Situations that are hard to reach with a real library, with the vendor library moments.c. Prints a line for each
 * failed check, and a last line with their count.
 *
 * usage: PROGRAM DRIVER VENDOR
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define IS(what)                                                                \
	do {                                                                    \
		if (!(what)) {                                                  \
			failures++;                                             \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what);  \
		}                                                               \
	} while (0)

static int failures;
static struct {
	int marker_gives, marker_again, releases;
	const void *argument;
	void *last;
} *moments;
static void (*event_is_told)(void), (*compilation_is_told)(void);
static unsigned long (*live)(void);
static cl_device_id device;
static cl_context context;

/* Every function, by the dispatch table's names. */
static void *(*by_name)(const char *);
#define CALL(name, ...) ((__typeof__(&name))by_name(#name))(__VA_ARGS__)

static cl_mem new_buffer(void)
{
	return CALL(clCreateBuffer, context, 0, 64, NULL, NULL);
}

/*
 * A failed enqueue has no event, even if the vendor library leaves something in its place; a blocking one that failed
 * later has.
 */
static void failed_enqueues(cl_command_queue queue)
{
	cl_event event = NULL, untouched = (cl_event)&untouched;
	unsigned long before = live();

	moments->marker_gives = CL_OUT_OF_RESOURCES;
	event = untouched;
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &event) == CL_OUT_OF_RESOURCES);
	IS(event == untouched);
	IS(live() == before);
	moments->marker_gives = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &event) == moments->marker_gives);
	IS(event != untouched && (void *)event != moments->last);
	IS(live() == before + 1);
	IS(CALL(clReleaseEvent, event) == CL_SUCCESS);
	moments->marker_gives = CL_SUCCESS;
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &event) == CL_SUCCESS);
	IS(CALL(clReleaseEvent, event) == CL_SUCCESS);
	IS(live() == before);
}

static cl_program told;

static void CL_CALLBACK keep(cl_program program, void *data)
{
	told = program;
	IS(data == &told);
}

static void CL_CALLBACK release(cl_program program, void *data)
{
	(void)data;
	told = program;
	IS(CALL(clReleaseProgram, program) == CL_SUCCESS);
}

/* The callback comes before clLinkProgram has returned. Both give the same handle and one reference. */
static void early_callbacks(void)
{
	unsigned long before = live();
	int releases;
	cl_program linked;

	for (int i = 0; i < 100; i++) {
		linked = CALL(clLinkProgram, context, 0, NULL, "", 0, NULL, keep, &told, NULL);
		IS(linked && linked == told);
		IS(live() == before + 1);
		releases = moments->releases;
		IS(CALL(clReleaseProgram, linked) == CL_SUCCESS);
		IS(CALL(clReleaseProgram, linked) != CL_SUCCESS);
		IS(moments->releases == releases + 1);
		IS(live() == before);
		/* A caller that does not need the returned program may release it in the callback. */
		linked = CALL(clLinkProgram, context, 0, NULL, "", 0, NULL, release, NULL, NULL);
		IS(linked == told);
		IS(moments->releases == releases + 2);
		IS(live() == before);
	}
	linked = CALL(clLinkProgram, context, 0, NULL, "", 0, NULL, NULL, NULL, NULL);
	IS(linked && live() == before + 1);
	IS(CALL(clReleaseProgram, linked) == CL_SUCCESS);
}

static cl_event told_of;

static void CL_CALLBACK hear(cl_event event, cl_int status, void *data)
{
	told_of = event;
	IS(status == CL_COMPLETE && data == &told_of);
}

/* Callbacks that come when the program has released the object, and the vendor has another one at its address. */
static void late_callbacks(cl_command_queue queue)
{
	unsigned long before = live();
	cl_program program = CALL(clCreateProgramWithSource, context, 0, NULL, NULL, NULL);
	cl_event first = NULL, second = NULL, third = NULL;

	IS(CALL(clCompileProgram, program, 0, NULL, "", 0, NULL, NULL, keep, &told) == CL_SUCCESS);
	IS(CALL(clReleaseProgram, program) == CL_SUCCESS);
	told = NULL;
	compilation_is_told();
	IS(told == program);
	IS(live() == before);
	program = CALL(clCreateProgramWithSource, context, 0, NULL, NULL, NULL);
	IS(CALL(clSetProgramReleaseCallback, program, keep, &told) == CL_SUCCESS);
	told = NULL;
	IS(CALL(clReleaseProgram, program) == CL_SUCCESS);
	IS(told == program);
	IS(live() == before);

	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &first) == CL_SUCCESS);
	IS(CALL(clSetEventCallback, first, CL_COMPLETE, hear, &told_of) == CL_SUCCESS);
	IS(CALL(clReleaseEvent, first) == CL_SUCCESS);
	moments->marker_again = 1;
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &second) == CL_SUCCESS);
	IS(second && second != first);
	event_is_told();
	IS(told_of == first);
	IS(CALL(clSetEventCallback, second, CL_COMPLETE, hear, &told_of) == CL_SUCCESS);
	event_is_told();
	IS(told_of == second);
	IS(CALL(clReleaseEvent, second) == CL_SUCCESS);
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &third) == CL_SUCCESS);
	IS(CALL(clReleaseEvent, third) == CL_SUCCESS);
	moments->marker_again = 0;
	IS(live() == before);
}

/* A release too many does not take the object from others that still need it. */
static void releases_too_many(void)
{
	cl_buffer_region region = {0, 32};
	cl_mem buffer = new_buffer();
	cl_mem part = CALL(clCreateSubBuffer, buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
	int releases = moments->releases;

	IS(CALL(clReleaseMemObject, buffer) == CL_SUCCESS);
	IS(CALL(clReleaseMemObject, buffer) != CL_SUCCESS);
	IS(moments->releases == releases + 1);
	IS(CALL(clReleaseMemObject, part) == CL_SUCCESS);
}

/* A kernel's arguments that are handles arrive as the vendor's handles; numbers arrive unchanged. */
static void arguments(cl_command_queue queue, cl_kernel kernel)
{
	cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
	cl_sampler_properties no_properties[] = {0};
	cl_mem buffer = new_buffer();
	cl_event event = NULL;
	void *objects[6], *raw[6];
	size_t number = 0x1234567890;
	cl_int error;

#define MADE(index, name, ...) objects[index] = CALL(name, __VA_ARGS__), raw[index] = moments->last
	MADE(0, clCreateSampler, context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	MADE(1, clCreateSamplerWithProperties, context, no_properties, &error);
	MADE(2, clCreateImage, context, 0, &format, &description, NULL, &error);
	MADE(3, clCreatePipe, context, 0, 4, 4, NULL, &error);
	MADE(4, clCreateCommandQueueWithProperties, context, device, NULL, &error);
	MADE(5, clCreateSubBuffer, buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, 32}, &error);
	for (int i = 0; i < 6; i++) {
		IS(objects[i] && objects[i] != raw[i]);
		IS(CALL(clSetKernelArg, kernel, 0, sizeof(void *), &objects[i]) == CL_SUCCESS);
		IS(moments->argument == raw[i]);
	}
	IS(CALL(clSetKernelArg, kernel, 0, sizeof(number), &number) == CL_SUCCESS);
	IS(moments->argument == (void *)number);
	/* Neither null, nor the handle of an object that a kernel cannot take or that is gone. */
	number = 0;
	IS(CALL(clSetKernelArg, kernel, 0, sizeof(number), &number) == CL_SUCCESS);
	IS(CALL(clEnqueueMarkerWithWaitList, queue, 0, NULL, &event) == CL_SUCCESS);
	IS(CALL(clSetKernelArg, kernel, 0, sizeof(event), &event) == CL_INVALID_MEM_OBJECT);
	IS(CALL(clReleaseMemObject, buffer) == CL_SUCCESS);
	IS(CALL(clReleaseMemObject, (cl_mem)objects[5]) == CL_SUCCESS);
	IS(CALL(clSetKernelArg, kernel, 0, sizeof(buffer), &buffer) == CL_INVALID_MEM_OBJECT);
	IS(moments->argument == NULL);
}

int main(int count, char **paths)
{
	void *driver = count > 2 ? dlopen(paths[1], RTLD_NOW | RTLD_LOCAL) : NULL, *vendor;
	cl_platform_id platform = NULL;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	*(void **)&by_name = dlsym(driver, "clGetExtensionFunctionAddress");
	*(void **)&live = dlsym(driver, "peerlane_icd_live");
	*(void **)&platforms = by_name("clIcdGetPlatformIDsKHR");
	platforms(1, &platform, NULL);
	vendor = dlopen(paths[2], RTLD_NOW | RTLD_NOLOAD);
	moments = vendor ? dlsym(vendor, "moments") : NULL;
	*(void **)&event_is_told = vendor ? dlsym(vendor, "moments_event") : NULL;
	*(void **)&compilation_is_told = vendor ? dlsym(vendor, "moments_compilation") : NULL;
	if (!moments || !event_is_told || !compilation_is_told) {
		puts("no vendor library");
		return 1;
	}
	CALL(clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = CALL(clCreateContext, NULL, 1, &device, NULL, NULL, NULL);
	queue = CALL(clCreateCommandQueue, context, device, 0, NULL);
	kernel = CALL(clCreateKernel, CALL(clCreateProgramWithSource, context, 0, NULL, NULL, NULL), "k", NULL);
	failed_enqueues(queue);
	early_callbacks();
	late_callbacks(queue);
	releases_too_many();
	arguments(queue, kernel);
	printf("%d failures\n", failures);
	return failures != 0;
}
