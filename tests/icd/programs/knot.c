/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program with functions of a vendor's names, as a loader has them. Prints the platform's answers. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Exported, like those of a library that the program is linked with. */
int knot_of_both(void);
int knot_of_both(void)
{
	return 1000;
}

/* usage: PROGRAM DRIVER VENDOR */
int main(int count, char **arguments)
{
	void *driver = count > 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *(*by_name)(const char *);
	cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
	cl_int (*info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
	cl_platform_id platform;
	char text[256], line[512];
	FILE *maps;
	int writable = 0;

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	by_name = (void *(*)(const char *))dlsym(driver, "clGetExtensionFunctionAddress");
	platforms = (cl_int (*)(cl_uint, cl_platform_id *, cl_uint *))by_name("clIcdGetPlatformIDsKHR");
	if (platforms(1, &platform, NULL)) {
		puts("no platform");
		return 0;
	}
	info = (cl_int (*)(cl_platform_id, cl_platform_info, size_t, void *, size_t *))by_name("clGetPlatformInfo");
	if (info(platform, CL_PLATFORM_NAME, sizeof(text), text, NULL))
		return 1;
	puts(text);
	/* The parts that were made read-only are read-only again: the first of the data's parts. */
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, arguments[2]) && strstr(line, " rw-p "))
			writable++;
	}
	printf("%d writable parts of the vendor library\n", writable);
	return 0;
}
