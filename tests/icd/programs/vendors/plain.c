/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A vendor library without a dispatch table, made of PoCL, which is an ICD driver: it gives the entries of PoCL's
 * dispatch table their names, and hides cl_khr_icd.
 *
 * PoCL's own table, to which all its objects point and through which it never calls, gets traps: a handle of PoCL's
 * that reaches a loader stops the program, by whichever function or query it came. This library does not handle
 * handles, so it cannot share a mistake with the driver that is tested.
 *
 * PLAIN_VENDOR_POCL names PoCL's library. FORGETS, ENDS and BOARDLESS each change the library in one respect, see
 * below.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS (sizeof(cl_icd_dispatch) / sizeof(void *))

/* PoCL's functions. */
void *plain_vendor_table[SLOTS];
/* The table that all handles point to. */
void **plain_vendor_trap;

static void *(*by_name)(const char *);

static const cl_icd_dispatch *pocl(void)
{
	return (const void *)plain_vendor_table;
}

static void trap(void)
{
	static const char line[] = "LEAK: a handle of the vendor's has reached the loader\n";

	if (write(STDERR_FILENO, line, sizeof(line) - 1)) {
	}
	abort();
}

#ifdef FORGETS
/* A marker ends well although an event that it waited for has failed, as those of the open FPGA runtime do. */
static cl_icd_dispatch changed;

struct forgotten {
	cl_event done, events[8];
	cl_uint number;
};

static void *forget(void *of)
{
	struct forgotten *forgotten = of;

	for (cl_uint i = 0; i < forgotten->number; i++) {
		changed.clWaitForEvents(1, &forgotten->events[i]);
		changed.clReleaseEvent(forgotten->events[i]);
	}
	changed.clSetUserEventStatus(forgotten->done, CL_COMPLETE);
	changed.clReleaseEvent(forgotten->done);
	free(forgotten);
	return NULL;
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint number, const cl_event *events, cl_event *event)
{
	struct forgotten *forgotten;
	cl_context context;
	pthread_t thread;
	cl_int error;

	if (!number || number > 8)
		return changed.clEnqueueMarkerWithWaitList(queue, number, events, event);
	forgotten = malloc(sizeof(*forgotten));
	changed.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
	forgotten->done = changed.clCreateUserEvent(context, &error);
	forgotten->number = number;
	for (cl_uint i = 0; i < number; i++) {
		forgotten->events[i] = events[i];
		changed.clRetainEvent(events[i]);
	}
	error = changed.clEnqueueMarkerWithWaitList(queue, 1, &forgotten->done, event);
	pthread_create(&thread, NULL, forget, forgotten);
	pthread_detach(thread);
	return error;
}

static void change(cl_icd_dispatch *table)
{
	changed = *table;
	table->clEnqueueMarkerWithWaitList = marker;
}
#elif defined(ENDS)
/* Reads and releases take their time, and after its destructors the library can do nothing more, like one in C++. */
static cl_icd_dispatch changed;
static int gone;

__attribute__((destructor)) static void end(void)
{
	gone = 1;
	/* So that a call that comes too late is noticed. */
	usleep(300000);
}

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
	usleep(100000);
	if (gone)
		abort();
	return changed.clReleaseMemObject(mem);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, void *to,
				      cl_uint number, const cl_event *events, cl_event *event)
{
	usleep(100000);
	if (gone)
		abort();
	return changed.clEnqueueReadBuffer(queue, mem, blocking, at, size, to, number, events, event);
}

static void change(cl_icd_dispatch *table)
{
	changed = *table;
	table->clReleaseMemObject = release_mem;
	table->clEnqueueReadBuffer = read_buffer;
}
#elif defined(BOARDLESS)
/* A platform whose boards do not answer. */
static cl_int CL_API_CALL devices(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id *list,
				  cl_uint *number)
{
	(void)platform, (void)type, (void)entries, (void)list;
	if (number)
		*number = 0;
	return BOARDLESS;
}

static void change(cl_icd_dispatch *table)
{
	table->clGetDeviceIDs = devices;
}
#else
static void change(cl_icd_dispatch *table)
{
	(void)table;
}
#endif

__attribute__((constructor)) static void start(void)
{
	const char *name = getenv("PLAIN_VENDOR_POCL");
	void *library = dlopen(name ? name : "libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
	cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
	cl_platform_id platform;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from, to;

	if (!library) {
		fprintf(stderr, "plain vendor: %s\n", dlerror());
		return;
	}
	by_name = (void *(*)(const char *))dlsym(library, "clGetExtensionFunctionAddress");
	platforms = (cl_int (*)(cl_uint, cl_platform_id *, cl_uint *))by_name("clIcdGetPlatformIDsKHR");
	if (platforms(1, &platform, NULL))
		return;
	plain_vendor_trap = *(void ***)platform;
	memcpy(plain_vendor_table, plain_vendor_trap, sizeof(plain_vendor_table));
	from = (size_t)plain_vendor_trap / page * page;
	to = (size_t)(plain_vendor_trap + SLOTS);
	if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		abort();
	for (size_t i = 0; i < SLOTS; i++)
		plain_vendor_trap[i] = (void *)trap;
	change((cl_icd_dispatch *)plain_vendor_table);
}

/* Each entry of the table under its own name, with any parameters. */
#define ENTRY(name, slot)                                                               \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"      \
		"\tmovq plain_vendor_table@GOTPCREL(%rip), %r11\n"                      \
		"\tjmpq *8*" #slot "(%r11)\n");
#include "names.h"

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size,
						  void *value, size_t *size_ret)
{
	static const char icd[] = "cl_khr_icd";
	char text[4096], *found;
	cl_int error;

	if (name == CL_PLATFORM_ICD_SUFFIX_KHR)
		return CL_INVALID_VALUE;
	if (name != CL_PLATFORM_EXTENSIONS)
		return pocl()->clGetPlatformInfo(platform, name, size, value, size_ret);
	error = pocl()->clGetPlatformInfo(platform, name, sizeof(text), text, NULL);
	if (error)
		return error;
	while ((found = strstr(text, icd))) {
		char *rest = found + sizeof(icd) - 1;

		rest += *rest == ' ';
		memmove(found, rest, strlen(rest) + 1);
	}
	if (size_ret)
		*size_ret = strlen(text) + 1;
	if (value && size <= strlen(text))
		return CL_INVALID_VALUE;
	if (value)
		strcpy(value, text);
	return CL_SUCCESS;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return strncmp(name, "clIcd", 5) ? by_name(name) : NULL;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
	return strncmp(name, "clIcd", 5) ? pocl()->clGetExtensionFunctionAddressForPlatform(platform, name) : NULL;
}
