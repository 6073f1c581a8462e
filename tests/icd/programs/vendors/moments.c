/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * null.c with situations that are hard to reach with a real library: enqueues that fail and leave something in the
 * event's place, a callback that comes before the call that makes its object has returned, handles among a kernel's
 * arguments, releases.
 */
#define clEnqueueMarkerWithWaitList marker_of_null
#define clSetKernelArg argument_of_null
#include "null.c"
#undef clEnqueueMarkerWithWaitList
#undef clSetKernelArg

/* State that the program sets and reads. */
struct {
	int marker_gives;
	int marker_again; /* the next event is where the last object was */
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
		*event = moments.marker_again ? moments.last : noted(fresh());
	return moments.marker_gives;
}

/* Callbacks that were set, and are called later. */
static struct {
	void (*event)(void *, int, void *);
	void (*object)(void *, void *);
	void *of, *data;
} of_event, of_compilation, of_release;

int clSetEventCallback(void *event, int status, void (*notify)(void *, int, void *), void *data)
{
	(void)status;
	of_event.event = notify, of_event.of = event, of_event.data = data;
	return 0;
}

int clCompileProgram(void *program, unsigned devices, void *const *list, const char *options, unsigned number,
		     void *const *headers, const char **names, void (*notify)(void *, void *), void *data)
{
	(void)devices, (void)list, (void)options, (void)number, (void)headers, (void)names;
	of_compilation.object = notify, of_compilation.of = program, of_compilation.data = data;
	return 0;
}

int clSetProgramReleaseCallback(void *program, void (*notify)(void *, void *), void *data)
{
	of_release.object = notify, of_release.of = program, of_release.data = data;
	return 0;
}

/* Calls the event's callback. */
void moments_event(void)
{
	of_event.event(of_event.of, 0, of_event.data);
}

void moments_compilation(void)
{
	of_compilation.object(of_compilation.of, of_compilation.data);
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
	int result = released(program);

	if (program && program == of_release.of) {
		of_release.of = NULL;
		of_release.object(program, of_release.data);
	}
	return result;
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
