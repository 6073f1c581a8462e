/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Handles in answers and callbacks of extensions, with the vendor library extensions.c.
 *
 * usage: PROGRAM DRIVER
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <dlfcn.h>
#include <stdio.h>

static void *reported[4];
static cl_uint reports;

static void report(void *data, void *object, const char *type, cl_uint references)
{
	(void)type;
	if (data == &reports && references == 1 && reports < 4)
		reported[reports++] = object;
}

int main(int count, char **arguments)
{
	void *driver = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
	cl_int (*devices)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
	cl_int (*parts)(cl_device_id, const cl_device_partition_property_ext *, cl_uint, cl_device_id *, cl_uint *);
	cl_int (*info)(cl_device_id, cl_device_info, size_t, void *, size_t *);
	cl_context (*new_context)(const cl_context_properties *, cl_uint, const cl_device_id *, void *, void *, cl_int *);
	cl_mem (*new_buffer)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
	void (*live)(cl_platform_id, void (*)(void *, void *, const char *, cl_uint), void *);
	void *(*by_name)(const char *);
	cl_mem buffer;
	cl_platform_id platform = NULL;
	cl_device_id device = NULL, part = NULL, parent;

	if (!driver) {
		puts(dlerror());
		return 1;
	}
	*(void **)&by_name = dlsym(driver, "clGetExtensionFunctionAddress");
	*(void **)&platforms = by_name("clIcdGetPlatformIDsKHR");
	*(void **)&devices = by_name("clGetDeviceIDs");
	*(void **)&parts = by_name("clCreateSubDevicesEXT");
	*(void **)&info = by_name("clGetDeviceInfo");
	*(void **)&new_context = by_name("clCreateContext");
	*(void **)&new_buffer = by_name("clCreateBuffer");
	*(void **)&live = by_name("clReportLiveObjectsIntelFPGA");
	platforms(1, &platform, NULL);
	devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	printf("parts: %d\n", parts(device, NULL, 1, &part, NULL));
	parent = NULL;
	info(part, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL);
	printf("parent: %s\n", parent && parent == device ? "the device" : "ANOTHER");
	parent = NULL;
	info(part, CL_DEVICE_PARENT_DEVICE_EXT, sizeof(parent), &parent, NULL);
	printf("parent by the extension: %s\n", parent && parent == device ? "the device" : "ANOTHER");
	buffer = new_buffer(new_context(NULL, 1, &device, NULL, NULL, NULL), 0, 64, NULL, NULL);
	live(platform, NULL, NULL);
	live(platform, report, &reports);
	printf("live: %u, the buffer: %s, others: %s\n", reports, reported[0] == buffer ? "yes" : "NO",
	       reported[1] || reported[2] ? "SOMETHING" : "nothing");
	return 0;
}
