/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls all functions of the dispatch table that the vendor library does not have, with zeros: functions with a status
 * answer CL_INVALID_OPERATION, functions that return an address NULL.
 *
 * usage: PROGRAM DRIVER VENDOR
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int slot;
} entries[] = {
#define ENTRY(name, slot) {#name, slot},
#include "names.h"
};

static int gives_an_address(const char *name)
{
	if (!strcmp(name, "clCreateKernelsInProgram") || !strncmp(name, "clCreateSubDevices", 18))
		return 0;
	return !strncmp(name, "clCreate", 8) || !strncmp(name, "clEnqueueMap", 12) || !strcmp(name, "clLinkProgram") ||
	       !strcmp(name, "clCloneKernel") || !strcmp(name, "clSVMAlloc") ||
	       !strcmp(name, "clGetExtensionFunctionAddressForPlatform");
}

int main(int count, char **arguments)
{
	typedef uint64_t call(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			      uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	void *driver = count > 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL, *vendor;
	cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
	void *(*by_name)(const char *), ***object;
	cl_platform_id platform = NULL;
	int errors = 0, nulls = 0, others = 0;

	if (!driver) {
		puts("no driver");
		return 1;
	}
	*(void **)&by_name = dlsym(driver, "clGetExtensionFunctionAddress");
	*(void **)&platforms = by_name("clIcdGetPlatformIDsKHR");
	platforms(1, &platform, NULL);
	vendor = dlopen(arguments[2], RTLD_LAZY | RTLD_NOLOAD);
	if (!platform || !vendor)
		return 1;
	object = (void ***)platform;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const char *name = entries[i].name;
		Dl_info of, its;
		void *found = dlsym(vendor, name);
		uint64_t answer;

		/* Functions of libraries that it is linked with do not count. */
		if (found && dladdr(found, &its) && dladdr(dlsym(vendor, "clGetPlatformIDs"), &of) &&
		    of.dli_fbase == its.dli_fbase)
			continue;
		if (by_name(name) && strcmp(name, "clGetExtensionFunctionAddressForPlatform"))
			printf("%s is found by its name\n", name);
		answer = ((call *)(*object)[entries[i].slot])(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		if (!strcmp(name, "clSVMFree"))
			continue;
		if (gives_an_address(name) ? !answer : (cl_int)answer == CL_INVALID_OPERATION)
			gives_an_address(name) ? nulls++ : errors++;
		else
			printf("%s: %lld, %d\n", name, (long long)answer, ++others);
	}
	printf("%s, %d others\n", errors > 80 && nulls > 15 ? "most" : "FEW", others);
	return 0;
}
