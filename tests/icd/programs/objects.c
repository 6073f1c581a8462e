/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Handles that answers hold, and handles within arguments. */
#include "test.h"

void part_parents(void)
{
	cl_buffer_region region = {4096, 1024};
	cl_image_format format = {CL_RGBA, CL_FLOAT};
	cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16};
	cl_context_properties properties[8] = {0};
	cl_mem buffer, part, image;
	cl_sampler sampler;
	cl_event event;
	cl_int error;
	size_t size = 0;

	build();
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, &error);
	part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	IS(part && !error);
	description.buffer = buffer;
	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, NULL, &error);
	say(error, "image of a buffer");
	sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	IS(sampler && !error);
	event = clCreateUserEvent(context, &error);
	IS(event && !error);

	ANSWERS(clGetDeviceInfo, device, CL_DEVICE_PLATFORM, cl_platform_id, platform);
	ANSWERS(clGetContextInfo, context, CL_CONTEXT_DEVICES, cl_device_id, device);
	ANSWERS(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, cl_context, context);
	ANSWERS(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, cl_device_id, device);
	ANSWERS(clGetMemObjectInfo, buffer, CL_MEM_CONTEXT, cl_context, context);
	ANSWERS(clGetMemObjectInfo, part, CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, buffer);
	ANSWERS(clGetSamplerInfo, sampler, CL_SAMPLER_CONTEXT, cl_context, context);
	ANSWERS(clGetProgramInfo, program, CL_PROGRAM_CONTEXT, cl_context, context);
	ANSWERS(clGetProgramInfo, program, CL_PROGRAM_DEVICES, cl_device_id, device);
	ANSWERS(clGetKernelInfo, k, CL_KERNEL_PROGRAM, cl_program, program);
	ANSWERS(clGetKernelInfo, k, CL_KERNEL_CONTEXT, cl_context, context);
	ANSWERS(clGetEventInfo, event, CL_EVENT_CONTEXT, cl_context, context);
	ANSWERS(clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE, cl_command_queue, NULL);
	if (image) {
		ANSWERS(clGetImageInfo, image, CL_IMAGE_BUFFER, cl_mem, buffer);
		ANSWERS(clGetMemObjectInfo, image, CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, buffer);
	}
	SAY(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof(properties), properties, &size));
	IS(properties[1] == (cl_context_properties)platform);
	printf("properties: %zu bytes\n", size);

	/* A child keeps its parents when the program has given them up. */
	clReleaseMemObject(buffer);
	ANSWERS(clGetMemObjectInfo, part, CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, buffer);
	clReleaseProgram(program);
	ANSWERS(clGetKernelInfo, k, CL_KERNEL_PROGRAM, cl_program, program);

	clReleaseEvent(event);
	clReleaseSampler(sampler);
	if (image)
		clReleaseMemObject(image);
	clReleaseMemObject(part);
	clReleaseKernel(k);
	clReleaseKernel(k2);
}

static void native(void *arguments)
{
	void **buffer = arguments;

	*(int *)buffer[0] = 77;
}

void part_arguments(void)
{
	size_t items = 16;
	cl_mem buffer, none = NULL, both[2];
	cl_sampler sampler;
	cl_bitfield shared = 0;
	cl_int error, out[16];
	cl_long number = 5;
	void *places[1] = {NULL}, *memory;
	const void *place[1] = {&places[0]};

	build();
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, &error);
	sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
	SAY(clSetKernelArg(k, 0, sizeof(buffer), &buffer));
	SAY(clSetKernelArg(k, 1, sizeof(number), &number)); /* a number of a handle's size */
	SAY(clSetKernelArg(k, 2, sizeof(sampler), &sampler));
	SAY(clSetKernelArg(k2, 0, sizeof(none), &none));
	SAY(clSetKernelArg(k, 0, 4, &buffer));
	SAY(clSetKernelArg(k, 9, sizeof(buffer), &buffer));
	SAY(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
	SAY(clFinish(queue));
	SAY(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
	IS(out[0] == 5 && out[15] == 5);

	both[0] = buffer;
	both[1] = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
	SAY(clEnqueueMigrateMemObjects(queue, 2, both, 0, 0, NULL, NULL));
	SAY(clFinish(queue));
	error = clEnqueueNativeKernel(queue, native, places, sizeof(places), 1, &buffer, place, 0, NULL, NULL);
	say(error, "native kernel");
	SAY(clFinish(queue));
	if (!error) {
		SAY(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, out, 0, NULL, NULL));
		IS(out[0] == 77);
	}
	clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(shared), &shared, NULL);
	memory = shared ? clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0) : NULL;
	if (memory) {
		SAY(clSetKernelArgSVMPointer(k2, 0, memory));
		clSVMFree(context, memory);
	}
	clReleaseMemObject(both[1]);
	clReleaseSampler(sampler);
	clReleaseMemObject(buffer);
	clReleaseKernel(k);
	clReleaseKernel(k2);
	clReleaseProgram(program);
}

void part_devices(void)
{
	cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id parts[16], again[16] = {0};
	cl_command_queue own;
	cl_context of_parts;
	cl_uint number = 0;
	cl_int error = clCreateSubDevices(device, properties, 16, parts, &number);

	say(error, "parts of a device");
	if (error)
		return;
	printf("%u parts\n", number);
	ANSWERS(clGetDeviceInfo, parts[0], CL_DEVICE_PARENT_DEVICE, cl_device_id, device);
	of_parts = clCreateContext(NULL, number, parts, NULL, NULL, &error);
	IS(of_parts && !error);
	own = clCreateCommandQueue(of_parts, parts[0], 0, &error);
	IS(own && !error);
	clReleaseContext(of_parts);
	/* The queue still needs the context. (PoCL 3.1 frees devices that a context needs.) */
	ANSWERS(clGetCommandQueueInfo, own, CL_QUEUE_CONTEXT, cl_context, of_parts);
	SAY(clGetContextInfo(of_parts, CL_CONTEXT_DEVICES, sizeof(again), again, NULL));
	/* PoCL 3.1 names the whole device. */
	IS(again[0] == parts[0] || again[0] == device);
	clReleaseCommandQueue(own);
	for (cl_uint i = 0; i < number; i++)
		SAY(clReleaseDevice(parts[i]));
}

void part_programs(void)
{
	cl_program binary, library, linked;
	unsigned char *bytes;
	size_t size = 0;
	cl_kernel kernels[2];
	cl_uint number = 0;
	cl_int error;

	build();
	SAY(clCreateKernelsInProgram(program, 2, kernels, &number));
	IS(number == 2 && kernels[0] && kernels[1]);
	ANSWERS(clGetKernelInfo, kernels[1], CL_KERNEL_PROGRAM, cl_program, program);
	SAY(clCreateKernelsInProgram(program, 0, NULL, &number));
	printf("%u kernels\n", number);
	SAY(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL));
	bytes = malloc(size);
	SAY(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL));
	binary = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, NULL, &error);
	IS(binary && !error);
	SAY(clBuildProgram(binary, 1, &device, "", NULL, NULL));
	library = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	SAY(clCompileProgram(library, 1, &device, "", 0, NULL, NULL, NULL, NULL));
	linked = clLinkProgram(context, 1, &device, "", 1, &library, NULL, NULL, &error);
	say(error, "link");
	IS(linked != library);
	if (linked) {
		ANSWERS(clGetProgramInfo, linked, CL_PROGRAM_CONTEXT, cl_context, context);
		clReleaseProgram(linked);
	}
	clReleaseProgram(library);
	clReleaseProgram(binary);
	clReleaseKernel(kernels[0]);
	clReleaseKernel(kernels[1]);
	clReleaseKernel(k);
	clReleaseKernel(k2);
	clReleaseProgram(program);
	free(bytes);
}
