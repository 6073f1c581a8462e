/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * OpenCL with one platform and two GPUs: only the first has DirectGMA. Bus-addressable buffers lie in an aperture, each
 * followed by a page for signals; stores to other devices go to the function that fake_gma_on_store sets.
 */
#define _GNU_SOURCE
#include <time.h>
#include "fakeamd.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CL_SUCCESS 0
#define CL_DEVICE_NOT_FOUND -1
#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4
#define CL_OUT_OF_RESOURCES -5
#define CL_INVALID_VALUE -30
#define CL_INVALID_DEVICE -33
#define CL_INVALID_CONTEXT -34
#define CL_INVALID_COMMAND_QUEUE -36
#define CL_INVALID_HOST_PTR -37
#define CL_INVALID_MEM_OBJECT -38
#define CL_INVALID_OPERATION -59
#define CL_INVALID_BUFFER_SIZE -61
#define CL_MEM_READ_WRITE 1u
#define CL_MEM_WRITE_ONLY 2u
#define CL_MEM_READ_ONLY 4u
#define CL_MEM_USE_HOST_PTR 8u
#define CL_MEM_ALLOC_HOST_PTR 16u
#define CL_MEM_COPY_HOST_PTR 32u
#define BUS_ADDRESSABLE (1u << 30)
#define EXTERNAL_PHYSICAL (1u << 31)

/* The aperture: bus addresses, and bytes. A driver of the time had 96 MiB at most. */
#define BUS 0x400000000000u
#define PAGES 2048u

typedef struct device {
	const char *name;
	int has_directgma;
} *cl_device_id;

typedef struct context {
	cl_device_id device;
	int count;
} *cl_context;

typedef struct queue {
	cl_context context;
	struct worker *worker;
	/* The first error of a command. */
	int error;
} *cl_command_queue;

struct bus_address {
	uint64_t surface, marker;
};

typedef struct mem {
	cl_context context;
	uint64_t flags;
	size_t size;
	uint8_t *bytes;
	struct bus_address external;
	int resident, migrated, count;
} *cl_mem;

typedef struct event {
	pthread_mutex_t lock;
	int count, status;
	void (*notify)(struct event *, int, void *);
	void *user;
} *cl_event;

/* Runs the command, and returns its status. */
struct command {
	int (*run)(struct command *);
	cl_event event;
	cl_command_queue queue;
	cl_mem from, to;
	size_t at, at_to, length;
	void *host;
	uint32_t value;
	uint64_t offset;
	struct bus_address *addresses;
};

static struct device gpus[] = { { "FirePro (mock)", 1 }, { "Radeon (mock)", 0 } };
static int platform;
static enum fake_fault fault;
static uint8_t *aperture;
static uint8_t taken[PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*on_store)(uint64_t, const void *, size_t, void *);
static void *on_store_user;

void fake_cl_fault(enum fake_fault next)
{
	fault = next;
}

/* Sets the function that receives the GPU's stores to other devices: bus address, bytes. */
void fake_gma_on_store(void (*store)(uint64_t, const void *, size_t, void *), void *user)
{
	on_store_user = user;
	on_store = store;
}

/* The aperture on the bus, and where it is in the process. */
void fake_gma_aperture(uint64_t *bus, uint64_t *at, uint64_t *length)
{
	pthread_mutex_lock(&lock);
	if (!aperture) {
		aperture = mmap(NULL, PAGES * FAKE_PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (aperture == MAP_FAILED)
			abort();
		memset(aperture, 0xdd, PAGES * FAKE_PAGE);
	}
	pthread_mutex_unlock(&lock);
	*bus = BUS;
	*at = (uint64_t)(uintptr_t)aperture;
	*length = PAGES * FAKE_PAGE;
}

int fake_gma_pages(void)
{
	int count = 0;

	for (size_t i = 0; i < PAGES; i++)
		count += taken[i];
	return count;
}

static uint8_t *take(size_t pages)
{
	uint64_t bus, at, length;
	size_t run = 0;

	fake_gma_aperture(&bus, &at, &length);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PAGES; i++) {
		run = taken[i] ? 0 : run + 1;
		if (run == pages) {
			memset(taken + i + 1 - pages, 1, pages);
			pthread_mutex_unlock(&lock);
			return aperture + (i + 1 - pages) * FAKE_PAGE;
		}
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void give(uint8_t *bytes, size_t pages)
{
	pthread_mutex_lock(&lock);
	memset(taken + (size_t)(bytes - aperture) / FAKE_PAGE, 0, pages);
	memset(bytes, 0xdd, pages * FAKE_PAGE);
	pthread_mutex_unlock(&lock);
}

static int answer(const void *value, size_t length, size_t room, void *to, size_t *needed)
{
	if (needed)
		*needed = length;
	if (!to)
		return CL_SUCCESS;
	if (room < length)
		return CL_INVALID_VALUE;
	memcpy(to, value, length);
	return CL_SUCCESS;
}

int clGetPlatformIDs(uint32_t room, int **to, uint32_t *count)
{
	if (to && room)
		*to = &platform;
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

int clGetPlatformInfo(int *of, uint32_t what, size_t room, void *to, size_t *needed)
{
	static const char name[] = "AMD Accelerated Parallel Processing (mock)";

	(void)of;
	return what == 0x902 ? answer(name, sizeof(name), room, to, needed) : CL_INVALID_VALUE;
}

int clGetDeviceIDs(int *of, uint64_t type, uint32_t room, cl_device_id *to, uint32_t *count)
{
	(void)of;
	/* CL_DEVICE_TYPE_GPU. */
	if (!(type & 4) || getenv("FAKE_AMD_NO_GPU"))
		return CL_DEVICE_NOT_FOUND;
	for (uint32_t i = 0; to && i < room && i < 2; i++)
		to[i] = &gpus[i];
	if (count)
		*count = 2;
	return CL_SUCCESS;
}

int clGetDeviceInfo(cl_device_id of, uint32_t what, size_t room, void *to, size_t *needed)
{
	const char *extensions = "cl_khr_fp64 cl_amd_device_attribute_query";
	struct {
		uint32_t type;
		uint8_t unused[17], bus, device, function;
	} topology = { .type = 1, .bus = 0xc3, .device = 0, .function = 0 };

	switch (what) {
	case 0x102b:
		return answer(of->name, strlen(of->name) + 1, room, to, needed);
	case 0x1030:
		/* A longer name with the same beginning is another extension's. */
		if (of->has_directgma && fault != FAKE_NO_EXTENSION && !getenv("FAKE_AMD_NO_DIRECTGMA"))
			extensions = "cl_khr_fp64 cl_amd_bus_addressable_memory cl_amd_device_attribute_query";
		else
			extensions = "cl_khr_fp64 cl_amd_bus_addressable_memory2";
		return answer(extensions, strlen(extensions) + 1, room, to, needed);
	case 0x4037:
		return answer(&topology, sizeof(topology), room, to, needed);
	}
	return CL_INVALID_VALUE;
}

cl_context clCreateContext(const intptr_t *properties, uint32_t count, const cl_device_id *devices, void *notify,
			   void *user, int *code)
{
	cl_context made = calloc(1, sizeof(*made));

	(void)properties, (void)count, (void)notify, (void)user;
	*made = (struct context){ devices[0], 1 };
	*code = CL_SUCCESS;
	return made;
}

int clRetainContext(cl_context context)
{
	__atomic_add_fetch(&context->count, 1, __ATOMIC_SEQ_CST);
	return CL_SUCCESS;
}

int clReleaseContext(cl_context context)
{
	if (!__atomic_sub_fetch(&context->count, 1, __ATOMIC_SEQ_CST))
		free(context);
	return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, uint64_t flags, int *code)
{
	cl_command_queue made = calloc(1, sizeof(*made));

	*code = device == context->device && !flags ? CL_SUCCESS : CL_INVALID_DEVICE;
	made->context = context;
	made->worker = worker_new();
	return made;
}

static void last(void *of)
{
	free(of);
}

int clReleaseCommandQueue(cl_command_queue queue)
{
	struct worker *worker = queue->worker;

	/* Commands in progress continue, and retain the queue. */
	worker_do(worker, last, queue);
	worker_leave(worker);
	return CL_SUCCESS;
}

static int bad_flags(uint64_t flags)
{
	uint64_t host = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR;

	if (flags & EXTERNAL_PHYSICAL && flags & (host | CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE | CL_MEM_READ_ONLY))
		return 1;
	return flags & BUS_ADDRESSABLE && flags & host;
}

static int bad_address(uint64_t address)
{
	return !address || address & (FAKE_PAGE - 1);
}

cl_mem clCreateBuffer(cl_context context, uint64_t flags, size_t size, void *host, int *code)
{
	struct bus_address *external = host;
	cl_mem made;

	*code = CL_SUCCESS;
	if (bad_flags(flags))
		*code = CL_INVALID_VALUE;
	else if (!size)
		*code = CL_INVALID_BUFFER_SIZE;
	else if (!!host != !!(flags & EXTERNAL_PHYSICAL))
		*code = CL_INVALID_HOST_PTR;
	else if (external && (bad_address(external->surface) || bad_address(external->marker)))
		*code = CL_INVALID_HOST_PTR;
	if (*code)
		return NULL;
	if (flags & (EXTERNAL_PHYSICAL | BUS_ADDRESSABLE))
		size = (size + FAKE_PAGE - 1) / FAKE_PAGE * FAKE_PAGE;
	made = calloc(1, sizeof(*made));
	made->context = context;
	made->flags = flags;
	made->size = size;
	made->count = 1;
	if (external)
		made->external = *external;
	else if (flags & BUS_ADDRESSABLE)
		made->bytes = take(size / FAKE_PAGE + 1);
	else if (posix_memalign((void **)&made->bytes, FAKE_PAGE, size))
		made->bytes = NULL;
	if (!external && !made->bytes) {
		free(made);
		*code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
		return NULL;
	}
	return made;
}

int clRetainMemObject(cl_mem mem)
{
	__atomic_add_fetch(&mem->count, 1, __ATOMIC_SEQ_CST);
	return CL_SUCCESS;
}

int clReleaseMemObject(cl_mem mem)
{
	if (__atomic_sub_fetch(&mem->count, 1, __ATOMIC_SEQ_CST))
		return CL_SUCCESS;
	if (mem->flags & BUS_ADDRESSABLE)
		give(mem->bytes, mem->size / FAKE_PAGE + 1);
	else
		free(mem->bytes);
	free(mem);
	return CL_SUCCESS;
}

static void end_event(cl_event event, int status)
{
	void (*notify)(cl_event, int, void *);

	pthread_mutex_lock(&event->lock);
	event->status = status;
	notify = event->notify;
	pthread_mutex_unlock(&event->lock);
	if (notify)
		notify(event, status, event->user);
}

int clReleaseEvent(cl_event event)
{
	if (!__atomic_sub_fetch(&event->count, 1, __ATOMIC_SEQ_CST))
		free(event);
	return CL_SUCCESS;
}

int clSetEventCallback(cl_event event, int status, void (*notify)(cl_event, int, void *), void *user)
{
	int over;

	if (status)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&event->lock);
	event->notify = notify;
	event->user = user;
	over = event->status <= 0;
	pthread_mutex_unlock(&event->lock);
	if (over)
		notify(event, event->status, user);
	return CL_SUCCESS;
}

int clGetEventInfo(cl_event event, unsigned what, size_t size, void *value, size_t *needed)
{
	/* CL_EVENT_COMMAND_EXECUTION_STATUS */
	if (what != 0x11D3 || (value && size < sizeof(int)))
		return CL_INVALID_VALUE;
	if (needed)
		*needed = sizeof(int);
	if (value) {
		pthread_mutex_lock(&event->lock);
		*(int *)value = event->status;
		pthread_mutex_unlock(&event->lock);
	}
	return CL_SUCCESS;
}

int clWaitForEvents(unsigned count, const cl_event *events)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int status = 0;

	for (unsigned i = 0; i < count; i++) {
		int one;

		while (clGetEventInfo(events[i], 0x11D3, sizeof(one), &one, NULL), one > 0)
			nanosleep(&pause, NULL);
		/* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
		if (one < 0)
			status = -14;
	}
	return status;
}

static void run(void *of)
{
	struct command *command = of;
	int status = command->run(command);

	if (status && !command->queue->error)
		command->queue->error = status;
	if (command->event) {
		end_event(command->event, status);
		clReleaseEvent(command->event);
	}
	if (command->from)
		clReleaseMemObject(command->from);
	if (command->to)
		clReleaseMemObject(command->to);
	free(command);
}

static int enqueue(struct command what, int blocking, cl_event *event)
{
	struct command *command = calloc(1, sizeof(*command));
	cl_command_queue queue = what.queue;

	*command = what;
	if (event) {
		*event = calloc(1, sizeof(**event));
		pthread_mutex_init(&(*event)->lock, NULL);
		/* The user's reference and the command's. CL_QUEUED. */
		(*event)->count = 2;
		(*event)->status = 3;
		command->event = *event;
	}
	if (what.from)
		clRetainMemObject(what.from);
	if (what.to)
		clRetainMemObject(what.to);
	worker_do(queue->worker, run, command);
	if (blocking)
		worker_wait(queue->worker);
	return CL_SUCCESS;
}

int clFlush(cl_command_queue queue)
{
	if (fault == FAKE_UNTOLD)
		return CL_OUT_OF_RESOURCES;
	return queue ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

int clFinish(cl_command_queue queue)
{
	worker_wait(queue->worker);
	return CL_SUCCESS;
}

static int outside(cl_mem mem, size_t at, size_t length)
{
	return at > mem->size || length > mem->size - at;
}

/* The GPU writes to its own memory, or to another device's. */
static int store(cl_mem to, size_t at, const void *from, size_t length)
{
	if (!(to->flags & EXTERNAL_PHYSICAL)) {
		memcpy(to->bytes + at, from, length);
		return CL_SUCCESS;
	}
	/* It has to be made resident by clEnqueueMigrateMemObjects first. */
	if (!to->migrated)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	if (on_store)
		on_store(to->external.surface + at, from, length, on_store_user);
	return CL_SUCCESS;
}

static int run_copy(struct command *it)
{
	return store(it->to, it->at_to, it->from->bytes + it->at, it->length);
}

static int run_read(struct command *it)
{
	memcpy(it->host, it->from->bytes + it->at, it->length);
	return CL_SUCCESS;
}

static int run_write(struct command *it)
{
	return store(it->to, it->at_to, it->host, it->length);
}

static int run_fill(struct command *it)
{
	memset(it->to->bytes + it->at_to, (int)it->value, it->length);
	return CL_SUCCESS;
}

static int run_migrate(struct command *it)
{
	it->to->migrated = 1;
	return CL_SUCCESS;
}

static int run_resident(struct command *it)
{
	if (fault == FAKE_NOT_RESIDENT)
		return CL_INVALID_OPERATION;
	it->to->resident = 1;
	it->addresses->surface = BUS + (uint64_t)(it->to->bytes - aperture);
	it->addresses->marker = it->addresses->surface + it->to->size;
	return CL_SUCCESS;
}

static int run_wait_signal(struct command *it)
{
	uint32_t *marker = (uint32_t *)(it->from->bytes + it->from->size);

	while (__atomic_load_n(marker, __ATOMIC_ACQUIRE) != it->value)
		usleep(200);
	return CL_SUCCESS;
}

static int run_write_signal(struct command *it)
{
	if (!it->to->migrated)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	if (on_store)
		on_store(it->to->external.marker + it->offset, &it->value, sizeof(it->value), on_store_user);
	return CL_SUCCESS;
}

int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t at, size_t length, void *host,
			uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (!host || outside(mem, at, length))
		return CL_INVALID_VALUE;
	/* The GPU only writes other devices' memory. */
	if (mem->flags & EXTERNAL_PHYSICAL)
		return CL_INVALID_OPERATION;
	return enqueue((struct command){ .run = run_read, .queue = queue, .from = mem, .at = at, .length = length,
					 .host = host }, (int)blocking, event);
}

int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t at, size_t length, void *host,
			 uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (!host || outside(mem, at, length))
		return CL_INVALID_VALUE;
	return enqueue((struct command){ .run = run_write, .queue = queue, .to = mem, .at_to = at, .length = length,
					 .host = host }, (int)blocking, event);
}

int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t at_to, size_t length,
			uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (!length || outside(from, at, length) || outside(to, at_to, length))
		return CL_INVALID_VALUE;
	if (from->flags & EXTERNAL_PHYSICAL)
		return CL_INVALID_OPERATION;
	return enqueue((struct command){ .run = run_copy, .queue = queue, .from = from, .to = to, .at = at,
					 .at_to = at_to, .length = length }, 0, event);
}

int clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t size, size_t at, size_t length,
			uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (size != 1 || outside(mem, at, length))
		return CL_INVALID_VALUE;
	return enqueue((struct command){ .run = run_fill, .queue = queue, .to = mem, .at_to = at, .length = length,
					 .value = *(const uint8_t *)pattern }, 0, event);
}

int clEnqueueMigrateMemObjects(cl_command_queue queue, uint32_t count, const cl_mem *mems, uint64_t flags,
			       uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (count != 1 || flags)
		return CL_INVALID_VALUE;
	return enqueue((struct command){ .run = run_migrate, .queue = queue, .to = mems[0] }, 0, event);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, uint32_t blocking, uint64_t flags, size_t at,
			 size_t length, uint32_t events, const cl_event *list, cl_event *event, int *code)
{
	(void)blocking, (void)flags, (void)events, (void)list, (void)event;
	worker_wait(queue->worker);
	*code = outside(mem, at, length) || !(mem->flags & CL_MEM_ALLOC_HOST_PTR) ? CL_INVALID_VALUE : CL_SUCCESS;
	return *code ? NULL : mem->bytes + at;
}

int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *at, uint32_t events, const cl_event *list,
			    cl_event *event)
{
	(void)queue, (void)mem, (void)at, (void)events, (void)list, (void)event;
	return CL_SUCCESS;
}

static int wait_signal(cl_command_queue queue, cl_mem mem, uint32_t value, uint32_t events, const cl_event *list,
		       cl_event *event)
{
	(void)events, (void)list;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (!mem || !(mem->flags & BUS_ADDRESSABLE))
		return CL_INVALID_MEM_OBJECT;
	if (queue->context != mem->context)
		return CL_INVALID_CONTEXT;
	/* "If the signal address is invalid." */
	if (!mem->resident)
		return CL_INVALID_VALUE;
	return enqueue((struct command){ .run = run_wait_signal, .queue = queue, .from = mem, .value = value }, 0,
		       event);
}

static int write_signal(cl_command_queue queue, cl_mem mem, uint32_t value, uint64_t offset, uint32_t events,
			const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (!mem || !(mem->flags & EXTERNAL_PHYSICAL))
		return CL_INVALID_MEM_OBJECT;
	if (offset + sizeof(value) > mem->size + FAKE_PAGE)
		return CL_INVALID_BUFFER_SIZE;
	if (queue->context != mem->context)
		return CL_INVALID_CONTEXT;
	return enqueue((struct command){ .run = run_write_signal, .queue = queue, .to = mem, .value = value,
					 .offset = offset }, 0, event);
}

static int make_resident(cl_command_queue queue, uint32_t count, cl_mem *mems, uint32_t blocking,
			 struct bus_address *addresses, uint32_t events, const cl_event *list, cl_event *event)
{
	(void)events, (void)list;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (!mems)
		return CL_INVALID_MEM_OBJECT;
	if (!addresses || !count)
		return CL_INVALID_VALUE;
	memset(addresses, 0, count * sizeof(*addresses));
	for (uint32_t i = 0; i < count; i++) {
		if (!mems[i] || !(mems[i]->flags & BUS_ADDRESSABLE))
			return CL_INVALID_MEM_OBJECT;
		if (queue->context != mems[i]->context)
			return CL_INVALID_CONTEXT;
	}
	for (uint32_t i = 0; i < count; i++)
		enqueue((struct command){ .run = run_resident, .queue = queue, .to = mems[i],
					  .addresses = addresses + i }, (int)blocking, i + 1 == count ? event : NULL);
	return CL_SUCCESS;
}

void *clGetExtensionFunctionAddressForPlatform(int *of, const char *name)
{
	(void)of;
	if (fault == FAKE_NO_EXTENSION || fault == FAKE_NO_FUNCTIONS)
		return NULL;
	if (!strcmp(name, "clEnqueueWaitSignalAMD"))
		return (void *)wait_signal;
	if (!strcmp(name, "clEnqueueWriteSignalAMD"))
		return (void *)write_signal;
	if (!strcmp(name, "clEnqueueMakeBuffersResidentAMD"))
		return (void *)make_resident;
	return NULL;
}
