/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Copies between buffers and a GPU's memory that cannot be made. */
#include "peer_lab.h"

/* Checks that both directions are refused, and that the GPU's memory does not change. */
static void refused(struct lab *lab, cl_mem buffer, cl_int error)
{
	cl_event event = NULL;
	cl_ulong address = 77;

	GIVES(peerlane.address(devices[0], buffer, &address), error);
	MUST(address == 77);
	GIVES(peerlane.to_peer(buffer, lab->peer, 0, 0, 64, CL_TRUE, 0, NULL, NULL), error);
	GIVES(peerlane.from_peer(lab->peer, buffer, 0, 0, 64, CL_TRUE, 0, NULL, NULL), error);
	GIVES(peerlane.to_peer(buffer, lab->peer, 0, 0, 64, CL_FALSE, 0, NULL, &event), error);
	MUST(!event);
}

static void taken(struct lab *lab, cl_mem buffer)
{
	GIVES(peerlane.to_peer(buffer, lab->peer, 0, 0, 64, CL_TRUE, 0, NULL, NULL), CL_SUCCESS);
}

/* Buffers whose contents OpenCL does not have on the board, as peerlane_ext.h says. */
static void refuse_buffers(struct lab *lab, const char *package)
{
	static int32_t host[COUNT], other[COUNT], kept[COUNT];
	cl_program program = new_program(package, 1);
	cl_kernel kernel = new_kernel(program, "copy");
	const cl_buffer_region half = { 0, sizeof(host) / 2 };
	cl_mem part, used, copied_buffer, target = new_buffer(sizeof(host));
	cl_int error;
	void *mapped;

	for (int i = 0; i < COUNT; i++)
		host[i] = kept[i] = i * 5;
	used = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(host), host, &error);
	OK(error);
	refused(lab, used, CL_BUFFER_WITHOUT_ADDRESS_PEERLANE);
	/* OpenCL never has them there, not even after a kernel has used the buffer. */
	set_buffers(kernel, used, target, NULL);
	launch(lab->queue, kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(lab->queue));
	refused(lab, used, CL_BUFFER_WITHOUT_ADDRESS_PEERLANE);
	MUST(!memcmp(host, kept, sizeof(host)));

	for (int i = 0; i < COUNT; i++)
		other[i] = i * 9;
	copied_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(other), other, &error);
	OK(error);
	refused(lab, copied_buffer, CL_BUFFER_WITHOUT_ADDRESS_PEERLANE);
	set_buffers(kernel, copied_buffer, target, NULL);
	launch(lab->queue, kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(lab->queue));
	/* A kernel used it on the board. */
	fill_gpu(lab->memory, GPUS, 2 * EDGE);
	taken(lab, copied_buffer);
	gpu_read(lab->memory, found, 2 * EDGE);
	MUST(!memcmp(found, other, 64) && found[64] == GPUS);
	fill_gpu(lab->memory, GPUS, lab->bytes);

	part = clCreateSubBuffer(target, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);
	OK(error);
	refused(lab, part, CL_INVALID_MEM_OBJECT);
	refused(lab, NULL, CL_INVALID_MEM_OBJECT);

	mapped = clEnqueueMapBuffer(lab->queue, lab->buffer, CL_TRUE, CL_MAP_WRITE, 0, lab->bytes, 0, NULL, NULL,
				    &error);
	OK(error);
	refused(lab, lab->buffer, CL_BUFFER_WITHOUT_ADDRESS_PEERLANE);
	OK(clEnqueueUnmapMemObject(lab->queue, lab->buffer, mapped, 0, NULL, NULL));
	OK(clFinish(lab->queue));
	GIVES(peerlane.from_peer(lab->peer, lab->buffer, 0, 0, 64, CL_TRUE, 0, NULL, NULL), CL_SUCCESS);

	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(target));
	OK(clReleaseMemObject(used));
	OK(clReleaseMemObject(copied_buffer));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
}

/* Arguments that make no sense. */
static void refuse_arguments(struct lab *lab)
{
	const cl_peer_memory_peerlane peer = lab->peer;
	cl_peer_memory_peerlane only_read, only_written;
	cl_event event = user_event(), none = NULL;
	const cl_mem buffer = lab->buffer;
	const size_t bytes = lab->bytes;
	cl_int error = 0;
	int here;

	GIVES(peerlane.to_peer(buffer, peer, bytes, 0, 1, CL_TRUE, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(peerlane.to_peer(buffer, peer, 0, bytes - 3, 4, CL_TRUE, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(peerlane.to_peer(buffer, peer, 0, (size_t)-1, 2, CL_TRUE, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(peerlane.from_peer(peer, buffer, 0, 0, bytes + 1, CL_TRUE, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(peerlane.to_peer(buffer, peer, 0, 0, 1, CL_FALSE, 0, NULL, NULL), CL_INVALID_VALUE);
	GIVES(peerlane.to_peer(buffer, peer, 0, 0, 1, CL_TRUE, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	GIVES(peerlane.to_peer(buffer, peer, 0, 0, 1, CL_FALSE, 0, &event, &none), CL_INVALID_EVENT_WAIT_LIST);
	MUST(!none);
	/* The runtime keeps an event that has not ended, and ends the program at the release of the context. */
	OK(clSetUserEventStatus(event, CL_COMPLETE));
	OK(clReleaseEvent(event));

	only_read = register_memory(lab->memory, CL_MEM_READ_ONLY, 4096);
	only_written = register_memory(lab->memory, CL_MEM_WRITE_ONLY, 4096);
	GIVES(peerlane.to_peer(buffer, only_read, 0, 0, 1, CL_TRUE, 0, NULL, NULL), CL_INVALID_OPERATION);
	GIVES(peerlane.from_peer(only_written, buffer, 0, 0, 1, CL_TRUE, 0, NULL, NULL), CL_INVALID_OPERATION);
	GIVES(peerlane.from_peer(only_read, buffer, 0, 0, 1, CL_TRUE, 0, NULL, NULL), CL_SUCCESS);
	GIVES(peerlane.release(only_written), CL_SUCCESS);
	GIVES(peerlane.release(only_read), CL_SUCCESS);
	GIVES(peerlane.release(only_read), CL_INVALID_PEER_MEMORY_PEERLANE);
	GIVES(peerlane.to_peer(buffer, only_read, 0, 0, 1, CL_TRUE, 0, NULL, NULL),
	      CL_INVALID_PEER_MEMORY_PEERLANE);

	MUST(!peerlane.create(devices[0], 0, &here, sizeof(here), 0, &error));
	GIVES(error, CL_INVALID_VALUE);
	MUST(!peerlane.create(devices[0], 0, lab->memory, 0, 0, &error));
	GIVES(error, CL_INVALID_VALUE);
	MUST(!peerlane.create(devices[0], CL_MEM_USE_HOST_PTR, lab->memory, 64, 0, &error));
	GIVES(error, CL_INVALID_VALUE);
	/* The process has one board open. */
	only_read = peerlane.create(NULL, CL_MEM_READ_ONLY, lab->memory, 64, 0, NULL);
	MUST(only_read);
	GIVES(peerlane.release(only_read), CL_SUCCESS);
}

/* More copies than may wait for events. Nothing of the last one is left. */
static void refuse_one_too_many(struct lab *lab)
{
	enum { MOST = 64 };
	cl_event gate = user_event(), waiting[MOST], none = NULL;

	for (int i = 0; i < MOST; i++)
		GIVES(peerlane.from_peer(lab->peer, lab->buffer, 0, 0, 1, CL_FALSE, 1, &gate, &waiting[i]),
		      CL_SUCCESS);
	GIVES(peerlane.from_peer(lab->peer, lab->buffer, 0, 0, 1, CL_FALSE, 1, &gate, &none), CL_OUT_OF_RESOURCES);
	MUST(!none);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	for (int i = 0; i < MOST; i++)
		until_complete(waiting[i]);
	OK(clReleaseEvent(gate));
}

void part_peer_refused(int count, char **arguments)
{
	struct lab lab = new_lab();

	(void)count;
	fill_gpu(lab.memory, GPUS, lab.bytes);
	refuse_buffers(&lab, arguments[0]);
	refuse_arguments(&lab);
	refuse_one_too_many(&lab);
	gpu_read(lab.memory, found, BYTES);
	for (size_t i = 0; i < BYTES; i++)
		MUST(found[i] == GPUS);
	end_lab(&lab);
}

/* Two boards in a context: memory that is registered with one cannot be used for buffers on the other. */
void part_peer_two(int count, char **arguments)
{
	enum { SENT = BYTES / 4 * 4 };
	cl_command_queue queues[2];
	cl_peer_memory_peerlane peer;
	cl_context both, first;
	cl_mem on_second, on_first, of_first;
	char *memory;
	cl_int error;

	(void)count, (void)arguments;
	set_data(5);
	make_context(2);
	both = context;
	find_extension();
	find_gpu(1);
	memory = gpu_allocate(BYTES);
	peer = peerlane.create(devices[1], 0, memory, BYTES, 0, &error);
	GIVES(error, CL_SUCCESS);
	/* The call does not name the device. */
	MUST(!peerlane.create(NULL, 0, memory, BYTES, 0, &error));
	GIVES(error, CL_INVALID_DEVICE);

	queues[0] = new_queue(0, 0);
	queues[1] = new_queue(1, 0);
	on_first = new_buffer(BYTES);
	on_second = new_buffer(BYTES);
	OK(clEnqueueWriteBuffer(queues[0], on_first, CL_TRUE, 0, BYTES, data, 0, NULL, NULL));
	OK(clEnqueueWriteBuffer(queues[1], on_second, CL_TRUE, 0, BYTES, data, 0, NULL, NULL));
	/* The board writes whole dwords to a dma-buf. */
	GIVES(peerlane.to_peer(on_second, peer, 0, 0, SENT, CL_TRUE, 0, NULL, NULL), CL_SUCCESS);
	gpu_read(memory, found, SENT);
	MUST(!memcmp(found, data, SENT));
	GIVES(peerlane.to_peer(on_first, peer, 0, 0, SENT, CL_TRUE, 0, NULL, NULL),
	      CL_BUFFER_WITHOUT_ADDRESS_PEERLANE);

	first = clCreateContext(NULL, 1, devices, NULL, NULL, &error);
	OK(error);
	context = first;
	of_first = new_buffer(BYTES);
	GIVES(peerlane.to_peer(of_first, peer, 0, 0, SENT, CL_TRUE, 0, NULL, NULL), CL_INVALID_DEVICE);
	OK(clReleaseMemObject(of_first));
	OK(clReleaseContext(first));

	GIVES(peerlane.release(peer), CL_SUCCESS);
	gpu_free(memory);
	OK(clReleaseMemObject(on_first));
	OK(clReleaseMemObject(on_second));
	OK(clReleaseCommandQueue(queues[0]));
	OK(clReleaseCommandQueue(queues[1]));
	OK(clReleaseContext(both));
}
