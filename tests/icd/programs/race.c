/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two threads let the driver write to one place: a race that is the program's, within the driver's code. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
static cl_uint number;

static void *ask(void *nothing)
{
	for (int i = 0; i < 1000; i++)
		platforms(0, NULL, &number);
	return nothing;
}

/* usage: PROGRAM DRIVER */
int main(int count, char **arguments)
{
	void *driver = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *(*by_name)(const char *);
	pthread_t thread;

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	by_name = (void *(*)(const char *))dlsym(driver, "clGetExtensionFunctionAddress");
	platforms = (cl_int (*)(cl_uint, cl_platform_id *, cl_uint *))by_name("clIcdGetPlatformIDsKHR");
	pthread_create(&thread, NULL, ask, NULL);
	ask(NULL);
	pthread_join(thread, NULL);
	printf("%u platforms\n", number);
	return 0;
}
