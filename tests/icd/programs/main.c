/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* usage: PROGRAM PART [DRIVER]; DRIVER is the file of the driver around a vendor library. */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

cl_platform_id platform;
cl_device_id device;
cl_context context;
cl_command_queue queue;
cl_program program;
cl_kernel k, k2;
int calls, right_calls;
unsigned long (*live)(void);

const char *source = "kernel void k(global int *a, long l, sampler_t s) { a[get_global_id(0)] = l; }\n"
		     "kernel void k2(global int *a) { a[0]++; }\n";

static const struct {
	const char *name;
	part *run;
} parts[] = {
	{"parents", part_parents},     {"arguments", part_arguments}, {"events", part_events},
	{"callbacks", part_callbacks}, {"programs", part_programs},   {"devices", part_devices},
	{"wrong", part_wrong},         {"queries", part_queries},     {"cycles", part_cycles},       {"handover", part_handover},
};

void is(int so, const char *what)
{
	printf("%s: %s\n", what, so ? "yes" : "NO");
}

void say(cl_int error, const char *call)
{
	printf("%s: %d\n", call, error);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void called(int right)
{
	pthread_mutex_lock(&mutex);
	calls++;
	right_calls += right;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

void await(int number)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	pthread_mutex_lock(&mutex);
	while (calls < number && !pthread_cond_timedwait(&changed, &mutex, &until))
		;
	pthread_mutex_unlock(&mutex);
}

void build(void)
{
	cl_int error;

	program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	IS(program && !error);
	IS(!clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL));
	k = clCreateKernel(program, "k", &error);
	IS(k && !error);
	k2 = clCreateKernel(program, "k2", &error);
	IS(k2 && !error);
}

int main(int count, char **arguments)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0, 0};
	cl_int error;
	void *driver;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		puts("no platform");
		return 1;
	}
	driver = count > 2 ? dlopen(arguments[2], RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (driver)
		live = (unsigned long (*)(void))dlsym(driver, "peerlane_icd_live");
	properties[1] = (cl_context_properties)platform;
	context = clCreateContext(properties, 1, &device, NULL, NULL, &error);
	IS(context && !error);
	queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
	IS(queue && !error);
	for (size_t i = 0; count > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(arguments[1], parts[i].name))
			continue;
		parts[i].run();
		IS(calls == right_calls);
		clReleaseCommandQueue(queue);
		clReleaseContext(context);
		/* Platform and device stay. */
		if (live)
			fprintf(stderr, "live objects at the end: %lu\n", live());
		return 0;
	}
	puts("no such part");
	return 1;
}
