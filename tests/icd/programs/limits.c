/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Handles that are not valid, all possible queries, and very many objects. */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static void CL_CALLBACK never(cl_command_queue of, cl_uint number, void **pointers, void *data)
{
	(void)of, (void)number, (void)pointers, (void)data;
	called(0);
}

/* A call that is refused retains nothing for its callback. */
static void refused_with_callback(void)
{
	unsigned long before = live();
	cl_event none = NULL;
	void *pointers[1] = {NULL};
	cl_int error;
	cl_command_queue other = clCreateCommandQueue(context, device, 0, &error);
	int refused = 0;

	for (int i = 0; i < 1000; i++)
		refused += clEnqueueSVMFree(other, 1, pointers, never, NULL, 1, &none, NULL) ==
			   CL_INVALID_EVENT_WAIT_LIST;
	clReleaseCommandQueue(other);
	fprintf(stderr, "refused: %d, left: %ld\n", refused, (long)(live() - before));
}

/* Lists with an element that is gone, or of another kind. */
static void lists_of_none(void)
{
	cl_int error = 0;
	cl_mem mem = clCreateBuffer(context, 0, 64, NULL, &error);
	cl_program gone = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	cl_device_id no_device = (cl_device_id)mem;

	clReleaseProgram(gone);
	clLinkProgram(context, 1, &device, "", 1, &gone, NULL, NULL, &error);
	fprintf(stderr, "programs: %d\n", error);
	gone = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	fprintf(stderr, "devices: %d\n", clBuildProgram(gone, 1, &no_device, "", NULL, NULL));
	clReleaseProgram(gone);
	clReleaseMemObject(mem);
	fprintf(stderr, "memory: %d\n", clEnqueueMigrateMemObjects(queue, 1, &mem, 0, 0, NULL, NULL));
}

void part_wrong(void)
{
	cl_event none[1] = {NULL}, event;
	cl_mem buffer, other;
	cl_int error;
	int out;

	buffer = clCreateBuffer(context, 0, 64, NULL, &error);
	SAY(clFinish(NULL));
	SAY(clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
	SAY(clWaitForEvents(1, none));
	SAY(clEnqueueMarkerWithWaitList(queue, 1, none, NULL));
	SAY(clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL));
	SAY(clEnqueueMarkerWithWaitList(queue, 0, none, NULL));
	SAY(clReleaseMemObject(buffer));
	if (!live)
		return;
	/* The vendor library alone would dereference these. */
	event = clCreateUserEvent(context, &error);
	other = clCreateBuffer(context, 0, 64, NULL, &error);
	fprintf(stderr, "of another kind: %d\n",
		clEnqueueReadBuffer(queue, (cl_mem)event, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
	clReleaseMemObject(other);
	fprintf(stderr, "released: %d\n", clEnqueueReadBuffer(queue, other, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
	fprintf(stderr, "released again: %d\n", clReleaseMemObject(other));
	clReleaseEvent(event);
	refused_with_callback();
	lists_of_none();
}

/* The first word of every handle of the plain vendor library; NULL with others. */
static void *trap;

static int is_raw(void *word)
{
	void *first = NULL;
	struct iovec to = {&first, sizeof(first)}, from = {word, sizeof(first)};

	return trap && !((size_t)word & 7) && (size_t)word > 4096 &&
	       process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(first) && first == trap;
}

static int asked, answered, leaks;

static void look(const char *query, cl_uint name, void **answer, size_t size)
{
	answered++;
	for (size_t i = 0; i < size / sizeof(*answer); i++) {
		if (is_raw(answer[i])) {
			leaks++;
			fprintf(stderr, "LEAK: %s(0x%x), word %zu\n", query, name, i);
		}
	}
}

/* All values that names of queries have, except the binaries: that query reads the place of its answer. */
#define ALL(query, ...)                                                                 \
	for (cl_uint name = 0x0900; name < 0x5000; name++) {                            \
		static void *answer[4096];                                              \
		size_t size = 0;                                                        \
		if (name == CL_PROGRAM_BINARIES)                                        \
			continue;                                                       \
		asked++;                                                                \
		if (!query(__VA_ARGS__, name, sizeof(answer), answer, &size))           \
			look(#query, name, answer, size);                               \
	}

void part_queries(void)
{
	const char *file = getenv("PEERLANE_ICD_VENDOR");
	void *vendor = file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void **table = vendor ? dlsym(vendor, "plain_vendor_trap") : NULL;
	cl_image_format format = {CL_RGBA, CL_FLOAT};
	cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16};
	cl_mem buffer, image;
	cl_sampler sampler;
	cl_event event;
	cl_int error;

	trap = table ? *table : NULL;
	fprintf(stderr, "trap: %s\n", trap ? "known" : "unknown");
	build();
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, &error);
	description.buffer = buffer;
	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, NULL, &error);
	sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
	clFinish(queue);
	ALL(clGetPlatformInfo, platform)
	ALL(clGetDeviceInfo, device)
	ALL(clGetContextInfo, context)
	ALL(clGetCommandQueueInfo, queue)
	ALL(clGetMemObjectInfo, buffer)
	ALL(clGetSamplerInfo, sampler)
	ALL(clGetProgramInfo, program)
	ALL(clGetProgramBuildInfo, program, device)
	ALL(clGetKernelInfo, k)
	ALL(clGetKernelWorkGroupInfo, k, device)
	ALL(clGetKernelArgInfo, k, 0)
	ALL(clGetEventInfo, event)
	ALL(clGetEventProfilingInfo, event)
	if (image) {
		ALL(clGetImageInfo, image)
		ALL(clGetMemObjectInfo, image)
		clReleaseMemObject(image);
	}
	printf("%d asked, %d leaks\n", asked, leaks);
	fprintf(stderr, "%d answered\n", answered);
	clReleaseEvent(event);
	clReleaseSampler(sampler);
	clReleaseMemObject(buffer);
	clReleaseKernel(k);
	clReleaseKernel(k2);
	clReleaseProgram(program);
}

static int rounds;

static void *churn(void *nothing)
{
	for (int i = 0; i < rounds; i++) {
		cl_context of = NULL;
		cl_int value = i, error;
		cl_event event;
		cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &error);

		clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(of), &of, NULL);
		error = clEnqueueWriteBuffer(queue, buffer, i % 16 == 0, 0, 4, &value, 0, NULL, &event);
		if (of != context || error) {
			called(0);
			return nothing;
		}
		clRetainEvent(event);
		clWaitForEvents(1, &event);
		clReleaseEvent(event);
		clReleaseEvent(event);
		clReleaseMemObject(buffer);
	}
	return nothing;
}

static long kibibytes(void)
{
	long all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		abort();
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Makes one object of each kind, including objects that depend on others. */
static void one_of_each(void)
{
	cl_buffer_region part = {0, 128};
	cl_int error;
	cl_context of = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	cl_command_queue its_queue = clCreateCommandQueue(of, device, 0, &error);
	cl_mem whole = clCreateBuffer(of, 0, 4096, NULL, &error);
	cl_mem sub = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
	cl_sampler sampler = clCreateSampler(of, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	cl_program text = clCreateProgramWithSource(of, 1, &source, NULL, &error);
	cl_kernel kernel = clCreateKernel(program, "k2", &error);
	cl_event event = clCreateUserEvent(of, &error);

	/* Parents first: their children retain them. */
	clReleaseContext(of);
	clReleaseMemObject(whole);
	if (!its_queue || !sub || !sampler || !text || !kernel || !event)
		called(0);
	clReleaseEvent(event);
	clReleaseKernel(kernel);
	clReleaseProgram(text);
	clReleaseSampler(sampler);
	clReleaseMemObject(sub);
	clReleaseCommandQueue(its_queue);
}

/* CYCLES: so many events, a hundredth of each other kind of object, and a twentieth as many buffers in four threads. */
void part_cycles(void)
{
	int cycles = getenv("CYCLES") ? atoi(getenv("CYCLES")) : 1000000;
	unsigned long before = live ? live() : 0;
	pthread_t threads[4];
	long memory;
	cl_int error;

	build();
	for (int i = 0; i < cycles / 100; i++)
		one_of_each();
	clReleaseKernel(k);
	clReleaseKernel(k2);
	clReleaseProgram(program);
	IS(!live || live() == before);
	rounds = cycles / 20 / 4;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	clFinish(queue);
	IS(!live || live() == before);
	memory = kibibytes();
	for (int i = 0; i < cycles; i++) {
		cl_event event = clCreateUserEvent(context, &error);

		clReleaseEvent(event);
	}
	IS(!live || live() == before);
	fprintf(stderr, "KiB more: %ld\n", kibibytes() - memory);
	IS(kibibytes() - memory < 1024);
}
