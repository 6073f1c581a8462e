/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Does the same as a loader with cl_khr_icd 2.0, by the extension's text ("Loader managed dispatch") and as Khronos's
 * own loader: asks for two functions before it asks for platforms, finds a tag in two slots of the table, sets a word
 * for the platform, and finds that word second in every object.
 *
 * usage: PROGRAM DRIVER
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* CL_ICD2_TAG_KHR of 64-bit machines: "OPENCL31". */
#define TAG 0x4F50454E434C3331

struct object {
	cl_icd_dispatch *table;
	void *word;
};

typedef void *by_name_fn(const char *);
typedef void *for_platform_fn(cl_platform_id, const char *);
typedef cl_int set_word_fn(cl_platform_id, void *);
typedef cl_int platforms_fn(cl_uint, cl_platform_id *, cl_uint *);

static int word;

static void has_word(const char *what, void *handle)
{
	printf("%s: %s\n", what, handle && ((struct object *)handle)->word == &word ? "has it" : "LACKS IT");
}

static int tagged(void *handle)
{
	cl_icd_dispatch *table = ((struct object *)handle)->table;

	return ((intptr_t)table->clGetPlatformIDs == TAG) + ((intptr_t)table->clUnloadCompiler == TAG);
}

int main(int count, char **arguments)
{
	void *driver = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	by_name_fn *by_name;
	for_platform_fn *for_platform;
	set_word_fn *set_word;
	platforms_fn *platforms;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
	cl_event event, made = NULL;
	cl_int error;

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	by_name = (by_name_fn *)dlsym(driver, "clGetExtensionFunctionAddress");
	platforms = (platforms_fn *)by_name("clIcdGetPlatformIDsKHR");
	/* An older loader was here first. */
	if (platforms(1, &platform, NULL))
		return 1;
	printf("tags without being asked: %d\n", tagged(platform));
	for_platform = (for_platform_fn *)by_name("clIcdGetFunctionAddressForPlatformKHR");
	set_word = (set_word_fn *)by_name("clIcdSetPlatformDispatchDataKHR");
	platforms(1, &platform, NULL);
	printf("tags: %d\n", tagged(platform));
	printf("no platform: %d\n", set_word((cl_platform_id)&word, &word));
	printf("word: %d\n", set_word(platform, &word));
	has_word("platform", platform);

#define CALL(name) ((cl_api_##name)for_platform(platform, #name))
	CALL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	has_word("device", device);
	context = CALL(clCreateContext)(NULL, 1, &device, NULL, NULL, &error);
	has_word("context", context);
	queue = CALL(clCreateCommandQueue)(context, device, 0, &error);
	has_word("queue", queue);
	buffer = CALL(clCreateBuffer)(context, 0, 64, NULL, &error);
	has_word("buffer", buffer);
	event = CALL(clCreateUserEvent)(context, &error);
	has_word("user event", event);
	CALL(clSetUserEventStatus)(event, CL_COMPLETE);
	error = CALL(clEnqueueMarkerWithWaitList)(queue, 1, &event, &made);
	printf("marker: %d\n", error);
	has_word("event", made);
	printf("%s\n", for_platform(platform, "clNobodyHasThis") ? "FOUND" : "not found");
	return 0;
}
