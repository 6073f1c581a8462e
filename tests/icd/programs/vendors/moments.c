/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * null.c with what happens at moments that are hard to meet with a real library: enqueues that fail and leave
 * something in the event's place, a callback that comes before the call that makes its object has returned, handles
 * among a kernel's arguments, releases.
 */
#define clEnqueueMarkerWithWaitList marker_of_null
#define clSetKernelArg argument_of_null
#include "null.c"
#undef clEnqueueMarkerWithWaitList
#undef clSetKernelArg

/* What the program sets and reads. */
struct {
	int marker_gives;
	int releases;
	const void *argument;
	void *last;
} moments;

static void *noted(void *object)
{
	return moments.last = object;
}

int clEnqueueMarkerWithWaitList(void *queue, unsigned number, void *const *events, void **event)
{
	(void)queue, (void)number, (void)events;
	if (event)
		*event = noted(fresh());
	return moments.marker_gives;
}

void *clLinkProgram(void *context, unsigned devices, void *const *list, const char *options, unsigned number,
		    void *const *programs, void (*notify)(void *, void *), void *data, int *error)
{
	void *program = noted(made(error));

	(void)context, (void)devices, (void)list, (void)options, (void)number, (void)programs;
	if (notify)
		notify(program, data);
	return program;
}

static int released(void *object)
{
	moments.releases += object != NULL;
	return object ? 0 : -44;
}

int clReleaseProgram(void *program)
{
	return released(program);
}

int clReleaseContext(void *context)
{
	return released(context);
}

int clReleaseMemObject(void *mem)
{
	return released(mem);
}

int clSetKernelArg(void *kernel, unsigned index, size_t size, const void *value)
{
	(void)kernel, (void)index;
	moments.argument = NULL;
	if (size == sizeof(moments.argument) && value)
		memcpy(&moments.argument, value, size);
	return 0;
}

void *clCreateSampler(void *context, unsigned normalized, unsigned mode, unsigned filter, int *error)
{
	(void)context, (void)normalized, (void)mode, (void)filter;
	return noted(made(error));
}

void *clCreateSamplerWithProperties(void *context, const unsigned long *properties, int *error)
{
	(void)context, (void)properties;
	return noted(made(error));
}

void *clCreateImage(void *context, unsigned long flags, const void *format, const void *description, void *host,
		    int *error)
{
	(void)context, (void)flags, (void)format, (void)description, (void)host;
	return noted(made(error));
}

void *clCreatePipe(void *context, unsigned long flags, unsigned size, unsigned packets, const long *properties,
		   int *error)
{
	(void)context, (void)flags, (void)size, (void)packets, (void)properties;
	return noted(made(error));
}

void *clCreateCommandQueueWithProperties(void *context, void *device, const unsigned long *properties, int *error)
{
	(void)context, (void)device, (void)properties;
	return noted(made(error));
}

void *clCreateSubBuffer(void *buffer, unsigned long flags, unsigned type, const void *region, int *error)
{
	(void)buffer, (void)flags, (void)type, (void)region;
	return noted(made(error));
}
