/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events, and callbacks from the vendor's threads. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
	char text[32];
	cl_context of = NULL;

	clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof(of), &of, NULL);
	snprintf(text, sizeof(text), "%f", 1.5); /* needs the thread's own C library */
	called(event == *(cl_event *)data && of == context && status == CL_COMPLETE && text[0] == '1');
}

void part_events(void)
{
	static cl_event events[40];
	size_t items = 16;
	cl_long number = 5;
	cl_event first, alone;
	cl_sampler sampler;
	cl_int error, out[16];
	cl_mem buffer;

	build();
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
	sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	clSetKernelArg(k, 0, sizeof(buffer), &buffer);
	clSetKernelArg(k, 1, sizeof(number), &number);
	clSetKernelArg(k, 2, sizeof(sampler), &sampler);
	first = clCreateUserEvent(context, &error);
	/* Waits for the user event. */
	SAY(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 1, &first, &events[0]));
	SAY(clSetEventCallback(events[0], CL_COMPLETE, on_event, &events[0]));
	/* Lists longer than any fixed storage. */
	for (cl_uint i = 1; i < 40; i++)
		IS(!clEnqueueMarkerWithWaitList(queue, i, events, &events[i]));
	SAY(clSetUserEventStatus(first, CL_COMPLETE));
	SAY(clWaitForEvents(40, events));
	await(1);
	IS(calls == 1);
	SAY(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 40, events, NULL));
	IS(out[15] == 5);
	ANSWERS(clGetEventInfo, events[3], CL_EVENT_COMMAND_QUEUE, cl_command_queue, queue);
	ANSWERS(clGetEventInfo, events[39], CL_EVENT_CONTEXT, cl_context, context);

	/* An event outlives the program's other references to its objects. */
	SAY(clEnqueueMarkerWithWaitList(queue, 0, NULL, &alone));
	SAY(clRetainEvent(alone));
	SAY(clReleaseEvent(alone));
	SAY(clWaitForEvents(1, &alone));
	SAY(clSetEventCallback(alone, CL_COMPLETE, on_event, &alone)); /* it is complete already */
	await(2);
	IS(calls == 2);
	SAY(clReleaseEvent(alone));

	for (int i = 0; i < 40; i++)
		clReleaseEvent(events[i]);
	clReleaseEvent(first);
	clReleaseSampler(sampler);
	clReleaseMemObject(buffer);
	clReleaseKernel(k);
	clReleaseKernel(k2);
	clReleaseProgram(program);
}

static void CL_CALLBACK on_build(cl_program of, void *data)
{
	cl_context answer = NULL;

	clGetProgramInfo(of, CL_PROGRAM_CONTEXT, sizeof(answer), &answer, NULL);
	called(answer == context && (!data || of == *(cl_program *)data));
}

static cl_program told;

static void CL_CALLBACK on_link(cl_program of, void *data)
{
	told = of;
	called(data == &told);
}

static void CL_CALLBACK on_nothing(cl_program of, void *data)
{
	called(!of && !data);
}

static void CL_CALLBACK on_memory(cl_mem of, void *data)
{
	called(of == *(cl_mem *)data);
}

static void CL_CALLBACK on_context(cl_context of, void *data)
{
	called(of == *(cl_context *)data);
}

static void CL_CALLBACK on_free(cl_command_queue of, cl_uint number, void **pointers, void *data)
{
	for (cl_uint i = 0; i < number; i++)
		clSVMFree(context, pointers[i]);
	called(of == queue && !data);
}

void part_callbacks(void)
{
	static const char *wrong = "kernel void k( {";
	static cl_context other;
	static cl_program of_source, linked, broken;
	static cl_mem buffer;
	cl_bitfield shared = 0;
	cl_int error;
	void *memory;
	int before;

	of_source = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	SAY(clBuildProgram(of_source, 1, &device, "", on_build, &of_source));
	await(1);
	IS(calls == 1);
	clReleaseProgram(of_source);

	/* The vendor library decides whether the callback reports a build that fails. */
	broken = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
	SAY(clBuildProgram(broken, 1, &device, "", on_build, &broken));
	usleep(200000);
	printf("calls: %d\n", calls);
	clReleaseProgram(broken);

	of_source = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	SAY(clCompileProgram(of_source, 1, &device, "", 0, NULL, NULL, NULL, NULL));
	before = calls;
	linked = clLinkProgram(context, 1, &device, "", 1, &of_source, on_build, NULL, NULL);
	await(before + 1);
	IS(linked && calls == before + 1);
	if (linked)
		clReleaseProgram(linked);
	/* The callback gets the same program as the call returns, whichever comes first. */
	before = calls;
	linked = clLinkProgram(context, 1, &device, "", 1, &of_source, on_link, &told, NULL);
	await(before + 1);
	IS(linked && linked == told);
	if (linked)
		clReleaseProgram(linked);
	clReleaseProgram(of_source);
	/* A link that fails gives no program, to the callback either. */
	before = calls;
	linked = clLinkProgram(context, 1, &device, "", 0, NULL, on_nothing, NULL, NULL);
	IS(!linked);
	printf("calls: %d\n", calls - before);

	/* A destructor callback names the object that is gone. */
	buffer = clCreateBuffer(context, 0, 64, NULL, &error);
	before = calls;
	SAY(clSetMemObjectDestructorCallback(buffer, on_memory, &buffer));
	SAY(clReleaseMemObject(buffer));
	await(before + 1);
	IS(calls == before + 1);
	other = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	error = clSetContextDestructorCallback(other, on_context, &other);
	say(error, "destructor of a context");
	before = calls;
	clReleaseContext(other);
	if (!error)
		await(before + 1);
	printf("calls: %d\n", calls);

	clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(shared), &shared, NULL);
	memory = shared ? clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0) : NULL;
	if (memory) {
		before = calls;
		SAY(clEnqueueSVMFree(queue, 1, &memory, on_free, NULL, 0, NULL, NULL));
		SAY(clFinish(queue));
		await(before + 1);
		IS(calls == before + 1);
	}

	/* A call that fails calls no callback, and retains nothing. */
	buffer = clCreateBuffer(context, 0, 64, NULL, &error);
	SAY(clSetMemObjectDestructorCallback(NULL, on_memory, &buffer));
	SAY(clSetMemObjectDestructorCallback(buffer, NULL, &buffer));
	clReleaseMemObject(buffer);
}

enum { THREADS = 4, ROUNDS = 1000 };

/* Releases the last reference while the vendor still reports the event. */
static void CL_CALLBACK on_last(cl_event event, cl_int status, void *data)
{
	cl_context of = NULL;

	(void)data;
	clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof(of), &of, NULL);
	called(of == context && status == CL_COMPLETE && !clReleaseEvent(event));
}

/* An event that another thread is to use and release. */
static cl_event handed;
static int over;

/* Uses events in enqueues, and releases them while their other references are released. */
static void *user(void *queue_of_thread)
{
	size_t wrong = 0;

	while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
		cl_event event = __atomic_exchange_n(&handed, NULL, __ATOMIC_SEQ_CST);

		if (!event) {
			sched_yield();
			continue;
		}
		wrong += clEnqueueMarkerWithWaitList(queue_of_thread, 1, &event, NULL) != CL_SUCCESS;
		wrong += clReleaseEvent(event) != CL_SUCCESS;
	}
	return (void *)wrong;
}

/* Makes events, and leaves their last references to callbacks and to the other thread. */
static void *maker(void *queue_of_thread)
{
	size_t wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		cl_int error;
		cl_event gate = clCreateUserEvent(context, &error), marker, before;

		wrong += clEnqueueMarkerWithWaitList(queue_of_thread, 1, &gate, &marker) != CL_SUCCESS;
		wrong += clSetEventCallback(marker, CL_COMPLETE, on_last, NULL) != CL_SUCCESS;
		clRetainEvent(gate);
		before = __atomic_exchange_n(&handed, gate, __ATOMIC_SEQ_CST);
		if (before)
			clReleaseEvent(before);
		wrong += clSetUserEventStatus(gate, CL_COMPLETE) != CL_SUCCESS;
		wrong += clReleaseEvent(gate) != CL_SUCCESS;
	}
	return (void *)wrong;
}

/* Last references are released in callbacks, and in one thread while another uses the object. */
void part_handover(void)
{
	cl_command_queue queues[THREADS + 1];
	pthread_t threads[THREADS + 1];
	unsigned long before = live ? live() : 0;
	size_t wrong = 0;
	void *result;
	cl_int error;

	for (int i = 0; i <= THREADS; i++) {
		queues[i] = clCreateCommandQueue(context, device, 0, &error);
		pthread_create(&threads[i], NULL, i < THREADS ? maker : user, queues[i]);
	}
	for (int i = 0; i <= THREADS; i++) {
		__atomic_store_n(&over, i == THREADS, __ATOMIC_SEQ_CST);
		pthread_join(threads[i], &result);
		wrong += (size_t)result;
	}
	if (handed)
		clReleaseEvent(handed);
	for (int i = 0; i <= THREADS; i++) {
		clFinish(queues[i]);
		clReleaseCommandQueue(queues[i]);
	}
	await(THREADS * ROUNDS);
	IS(calls == THREADS * ROUNDS);
	IS(!wrong);
	/* The last callback's thread releases its objects a moment later. */
	for (int i = 0; i < 2000 && live && live() != before; i++)
		usleep(1000);
	IS(!live || live() == before);
}
