/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls that a loader never makes, made on the driver itself: several threads at once, places that are NULL, handles
 * that are not platforms. (Debian's loader reports to some of several threads at its start that there is no platform.)
 *
 * usage: PROGRAM DRIVER
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8 };

static cl_platform_id found[THREADS];
static pthread_barrier_t barrier;
static cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);

static void *ask(void *where)
{
	pthread_barrier_wait(&barrier);
	platforms(1, where, NULL);
	return NULL;
}

/* The vendor library is loaded once, and no thread gets the answer that there is no platform. */
static int in_threads(void)
{
	pthread_t threads[THREADS];
	int same = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask, &found[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		same += found[i] && found[i] == found[0];
	return same;
}

int main(int count, char **arguments)
{
	void *driver = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	cl_int (*info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
	void *(*by_name)(const char *), *(*for_platform)(cl_platform_id, const char *);
	cl_platform_id platform = NULL;
	char text[100];
	cl_uint number = 0;
	size_t size = 0;
	int none = 0;

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	*(void **)&by_name = dlsym(driver, "clGetExtensionFunctionAddress");
	*(void **)&info = dlsym(driver, "clGetPlatformInfo");
	*(void **)&platforms = by_name("clIcdGetPlatformIDsKHR");
	*(void **)&for_platform = by_name("clGetExtensionFunctionAddressForPlatform");
	printf("threads: %d\n", in_threads());
	printf("both NULL: %d\n", platforms(0, NULL, NULL));
	printf("no room: %d\n", platforms(0, &platform, NULL));
	printf("number: %d, ", platforms(0, NULL, &number));
	printf("%u\n", number);
	printf("platform: %d\n", platforms(1, &platform, NULL));
	printf("suffix: %d, ", info(platform, CL_PLATFORM_ICD_SUFFIX_KHR, sizeof(text), text, &size));
	printf("%s, %zu bytes\n", text, size);
	printf("suffix of none: %d\n", info((cl_platform_id)&none, CL_PLATFORM_ICD_SUFFIX_KHR, 0, NULL, NULL));
	printf("name of none: %d\n", info((cl_platform_id)&none, CL_PLATFORM_NAME, 0, NULL, NULL));
	printf("function: %s\n", for_platform(platform, "clEnqueueCopyBufferPeerlane") ? "there" : "MISSING");
	printf("of none: %s\n", for_platform((cl_platform_id)&none, "clCreateBuffer") ? "THERE" : "missing");
	printf("without a name: %s\n", for_platform(platform, NULL) || by_name(NULL) ? "THERE" : "missing");
	return 0;
}
