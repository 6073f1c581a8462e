/* SPDX-License-Identifier: Apache-2.0
 * From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit. */

static void do_clBuildProgram(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, char *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (char *)0 : (char *)"",
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (void *)0 : (void *)0));
}

static void do_clCloneKernel(void *function, int wrong)
{
	void * (*f)(void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCompileProgram(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, char *, uint32_t, void * *, char * *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (char *)0 : (char *)"",
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&program,
		wrong == 6 ? (char * *)0 : (char * *)0,
		wrong == 7 ? (void *)0 : (void *)0,
		wrong == 8 ? (void *)0 : (void *)0));
}

static void do_clCreateBuffer(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, size_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateBufferWithProperties(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, uint64_t, size_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 3 ? (size_t)-1 : (size_t)16,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateBufferWithPropertiesINTEL(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, uint64_t, size_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 3 ? (size_t)-1 : (size_t)16,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateCommandQueue(void *function, int wrong)
{
	void * (*f)(void *, void *, uint64_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateCommandQueueWithProperties(void *function, int wrong)
{
	void * (*f)(void *, void *, uint64_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateCommandQueueWithPropertiesKHR(void *function, int wrong)
{
	void * (*f)(void *, void *, uint64_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateContext(void *function, int wrong)
{
	void * (*f)(intptr_t *, uint32_t, void * *, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateContextFromType(void *function, int wrong)
{
	void * (*f)(intptr_t *, uint64_t, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0xFFFFFFFF,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateEventFromEGLSyncKHR(void *function, int wrong)
{
	void * (*f)(void *, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateEventFromGLsyncKHR(void *function, int wrong)
{
	void * (*f)(void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromEGLImageKHR(void *function, int wrong)
{
	void * (*f)(void *, void *, void *, uint64_t, intptr_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 4 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromGLBuffer(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromGLRenderbuffer(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromGLTexture(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, int32_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (int32_t)-1 : (int32_t)0,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromGLTexture2D(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, int32_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (int32_t)-1 : (int32_t)0,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateFromGLTexture3D(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, int32_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (int32_t)-1 : (int32_t)0,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateImage(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, void *, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (void *)0 : (void *)&format,
		wrong == 3 ? (void *)0 : (void *)&description,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateImage2D(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, void *, size_t, size_t, size_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (void *)0 : (void *)&format,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)4,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (void *)0 : (void *)0,
		wrong == 7 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateImage3D(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, void *, size_t, size_t, size_t, size_t, size_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (void *)0 : (void *)&format,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)4,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (size_t)-1 : (size_t)0,
		wrong == 8 ? (void *)0 : (void *)0,
		wrong == 9 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateImageWithProperties(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, uint64_t, void *, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 3 ? (void *)0 : (void *)&format,
		wrong == 4 ? (void *)0 : (void *)&description,
		wrong == 5 ? (void *)0 : (void *)0,
		wrong == 6 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateKernel(void *function, int wrong)
{
	void * (*f)(void *, char *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (char *)0 : (char *)"k2",
		wrong == 2 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateKernelsInProgram(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (uint32_t)0 : (uint32_t)16,
		wrong == 2 ? (void * *)0 : (void * *)handles,
		wrong == 3 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clCreatePipe(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, uint32_t, intptr_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 4 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithBinary(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, void * *, size_t *, uint8_t * *, int32_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (size_t *)0 : (size_t *)&binary_size,
		wrong == 4 ? (uint8_t * *)0 : (uint8_t * *)&binary,
		wrong == 5 ? (int32_t *)0 : (int32_t *)0,
		wrong == 6 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithBinaryAndProgramDeviceIntelFPGA(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, void * *, size_t *, uint8_t * *, int32_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (size_t *)0 : (size_t *)&binary_size,
		wrong == 4 ? (uint8_t * *)0 : (uint8_t * *)&binary,
		wrong == 5 ? (int32_t *)0 : (int32_t *)0,
		wrong == 6 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithBuiltInKernels(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, void * *, char *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (char *)0 : (char *)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithIL(void *function, int wrong)
{
	void * (*f)(void *, void *, size_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithILKHR(void *function, int wrong)
{
	void * (*f)(void *, void *, size_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)0,
		wrong == 3 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateProgramWithSource(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, char * *, size_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (char * *)0 : (char * *)&source,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateSampler(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, uint32_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x1130,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0x1140,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateSamplerWithProperties(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateSemaphoreWithPropertiesKHR(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateSubBuffer(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, uint32_t, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x1220,
		wrong == 3 ? (void *)0 : (void *)zeros_and_ones,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clCreateSubDevices(void *function, int wrong)
{
	int32_t (*f)(void *, intptr_t *, uint32_t, void * *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 2 ? (uint32_t)0 : (uint32_t)1,
		wrong == 3 ? (void * *)0 : (void * *)handles,
		wrong == 4 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clCreateSubDevicesEXT(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t *, uint32_t, void * *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint32_t)0 : (uint32_t)16,
		wrong == 3 ? (void * *)0 : (void * *)handles,
		wrong == 4 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clCreateUserEvent(void *function, int wrong)
{
	void * (*f)(void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clDeviceMemAllocINTEL(void *function, int wrong)
{
	void * (*f)(void *, void *, uint64_t *, size_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 3 ? (size_t)-1 : (size_t)16,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clEnqueueAcquireEGLObjectsKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueAcquireExternalMemObjectsKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueAcquireGLObjects(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueAcquireGrallocObjectsIMG(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueBarrier(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue));
}

static void do_clEnqueueBarrierWithWaitList(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&event,
		wrong == 3 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueCopyBuffer(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (void *)0 : (void *)buffer2,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (size_t)-1 : (size_t)0,
		wrong == 5 ? (size_t)-1 : (size_t)16,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueCopyBufferRect(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t *, size_t *, size_t *, size_t, size_t, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (void *)0 : (void *)buffer2,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (size_t)-1 : (size_t)0,
		wrong == 8 ? (size_t)-1 : (size_t)0,
		wrong == 9 ? (size_t)-1 : (size_t)0,
		wrong == 10 ? (uint32_t)0 : (uint32_t)1,
		wrong == 11 ? (void * *)0 : (void * *)&event,
		wrong == 12 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueCopyBufferToImage(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t *, size_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (void *)0 : (void *)image2,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueCopyImage(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t *, size_t *, size_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (void *)0 : (void *)image2,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueCopyImageToBuffer(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t *, size_t *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (void *)0 : (void *)buffer2,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueFillBuffer(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)0,
		wrong == 5 ? (size_t)-1 : (size_t)16,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueFillImage(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t *, size_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueGenerateMipmapIMG(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, uint32_t, size_t *, size_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (void *)0 : (void *)image2,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 4 ? (size_t *)0 : (size_t *)0,
		wrong == 5 ? (size_t *)0 : (size_t *)0,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMapBuffer(void *function, int wrong)
{
	void * (*f)(void *, void *, uint32_t, uint64_t, size_t, size_t, uint32_t, void * *, void * *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 4 ? (size_t)-1 : (size_t)0,
		wrong == 5 ? (size_t)-1 : (size_t)16,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made,
		wrong == 9 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clEnqueueMapImage(void *function, int wrong)
{
	void * (*f)(void *, void *, uint32_t, uint64_t, size_t *, size_t *, size_t *, size_t *, uint32_t, void * *, void * *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (size_t *)0 : (size_t *)&size_ret,
		wrong == 7 ? (size_t *)0 : (size_t *)&size_ret,
		wrong == 8 ? (uint32_t)0 : (uint32_t)1,
		wrong == 9 ? (void * *)0 : (void * *)&event,
		wrong == 10 ? (void * *)0 : (void * *)&made,
		wrong == 11 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clEnqueueMarker(void *function, int wrong)
{
	int32_t (*f)(void *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMarkerWithWaitList(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&event,
		wrong == 3 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMemAdviseINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, size_t, uint32_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMemFillINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMemcpyINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)1 : (uint32_t)0,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (void *)0 : (void *)scratch + 512,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMemsetINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, int32_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (int32_t)-1 : (int32_t)0,
		wrong == 3 ? (size_t)-1 : (size_t)16,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMigrateMemINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, size_t, uint64_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMigrateMemObjectEXT(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint64_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueMigrateMemObjects(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint64_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueNDRangeKernel(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)kernel,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t *)0 : (size_t *)0,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueNativeKernel(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, uint32_t, void * *, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&buffer,
		wrong == 6 ? (void * *)0 : (void * *)0,
		wrong == 7 ? (uint32_t)0 : (uint32_t)1,
		wrong == 8 ? (void * *)0 : (void * *)&event,
		wrong == 9 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReadBuffer(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (void *)0 : (void *)scratch,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReadBufferRect(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t *, size_t, size_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (size_t)-1 : (size_t)0,
		wrong == 8 ? (size_t)-1 : (size_t)0,
		wrong == 9 ? (size_t)-1 : (size_t)0,
		wrong == 10 ? (void *)0 : (void *)scratch,
		wrong == 11 ? (uint32_t)0 : (uint32_t)1,
		wrong == 12 ? (void * *)0 : (void * *)&event,
		wrong == 13 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReadGlobalVariableINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, char *, uint32_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)program,
		wrong == 2 ? (char *)0 : (char *)0,
		wrong == 3 ? (uint32_t)1 : (uint32_t)1,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (uint32_t)0 : (uint32_t)1,
		wrong == 8 ? (void * *)0 : (void * *)&event,
		wrong == 9 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReadHostPipeINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, char *, uint32_t, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)program,
		wrong == 2 ? (char *)0 : (char *)0,
		wrong == 3 ? (uint32_t)1 : (uint32_t)1,
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t)-1 : (size_t)16,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReadImage(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (void *)0 : (void *)scratch,
		wrong == 8 ? (uint32_t)0 : (uint32_t)1,
		wrong == 9 ? (void * *)0 : (void * *)&event,
		wrong == 10 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReleaseEGLObjectsKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReleaseExternalMemObjectsKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReleaseGLObjects(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueReleaseGrallocObjectsIMG(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&buffer,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMFree(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)0,
		wrong == 2 ? (void * *)0 : (void * *)0,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMFreeARM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)0,
		wrong == 2 ? (void * *)0 : (void * *)0,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMap(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, uint64_t, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)1 : (uint32_t)1,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMapARM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, uint64_t, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)1 : (uint32_t)1,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMemFill(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMemFillARM(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, size_t, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t)-1 : (size_t)4,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMemcpy(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)1,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (void *)0 : (void *)scratch + 512,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMemcpyARM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)1,
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (void *)0 : (void *)scratch + 512,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMMigrateMem(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, size_t *, uint64_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)0,
		wrong == 2 ? (void * *)0 : (void * *)0,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 5 ? (uint32_t)0 : (uint32_t)1,
		wrong == 6 ? (void * *)0 : (void * *)&event,
		wrong == 7 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMUnmap(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (uint32_t)0 : (uint32_t)1,
		wrong == 3 ? (void * *)0 : (void * *)&event,
		wrong == 4 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSVMUnmapARM(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (uint32_t)0 : (uint32_t)1,
		wrong == 3 ? (void * *)0 : (void * *)&event,
		wrong == 4 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueSignalSemaphoresKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint64_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)0,
		wrong == 3 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueTask(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)kernel,
		wrong == 2 ? (uint32_t)0 : (uint32_t)1,
		wrong == 3 ? (void * *)0 : (void * *)&event,
		wrong == 4 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueUnmapMemObject(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (uint32_t)0 : (uint32_t)1,
		wrong == 4 ? (void * *)0 : (void * *)&event,
		wrong == 5 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWaitForEvents(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&event));
}

static void do_clEnqueueWaitSemaphoresKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *, uint64_t *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)0,
		wrong == 3 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&event,
		wrong == 6 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWriteBuffer(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (void *)0 : (void *)scratch,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWriteBufferRect(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t *, size_t, size_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)buffer,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)zeros,
		wrong == 5 ? (size_t *)0 : (size_t *)ones,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (size_t)-1 : (size_t)0,
		wrong == 8 ? (size_t)-1 : (size_t)0,
		wrong == 9 ? (size_t)-1 : (size_t)0,
		wrong == 10 ? (void *)0 : (void *)scratch,
		wrong == 11 ? (uint32_t)0 : (uint32_t)1,
		wrong == 12 ? (void * *)0 : (void * *)&event,
		wrong == 13 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWriteGlobalVariableINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, char *, uint32_t, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)program,
		wrong == 2 ? (char *)0 : (char *)0,
		wrong == 3 ? (uint32_t)1 : (uint32_t)1,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (uint32_t)0 : (uint32_t)1,
		wrong == 8 ? (void * *)0 : (void * *)&event,
		wrong == 9 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWriteHostPipeINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, char *, uint32_t, void *, size_t, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)program,
		wrong == 2 ? (char *)0 : (char *)0,
		wrong == 3 ? (uint32_t)1 : (uint32_t)1,
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t)-1 : (size_t)16,
		wrong == 6 ? (uint32_t)0 : (uint32_t)1,
		wrong == 7 ? (void * *)0 : (void * *)&event,
		wrong == 8 ? (void * *)0 : (void * *)&made));
}

static void do_clEnqueueWriteImage(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t, size_t, void *, uint32_t, void * *, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)image,
		wrong == 2 ? (uint32_t)1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)zeros,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t)-1 : (size_t)0,
		wrong == 6 ? (size_t)-1 : (size_t)0,
		wrong == 7 ? (void *)0 : (void *)scratch,
		wrong == 8 ? (uint32_t)0 : (uint32_t)1,
		wrong == 9 ? (void * *)0 : (void * *)&event,
		wrong == 10 ? (void * *)0 : (void * *)&made));
}

static void do_clFinish(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue));
}

static void do_clFlush(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue));
}

static void do_clGetBoardExtensionFunctionAddressAltera(void *function, int wrong)
{
	void * (*f)(char *, void *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (char *)0 : (char *)"clCreateProgramWithILKHR",
		wrong == 1 ? (void *)0 : (void *)device));
}

static void do_clGetBoardExtensionFunctionAddressIntelFPGA(void *function, int wrong)
{
	void * (*f)(char *, void *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (char *)0 : (char *)"clCreateProgramWithILKHR",
		wrong == 1 ? (void *)0 : (void *)device));
}

static void do_clGetCommandQueueInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1090,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetContextInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1081,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetDeviceAndHostTimer(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t *, uint64_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint64_t *)0 : (uint64_t *)0));
}

static void do_clGetDeviceIDs(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t, uint32_t, void * *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)platform,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0xFFFFFFFF,
		wrong == 2 ? (uint32_t)0 : (uint32_t)16,
		wrong == 3 ? (void * *)0 : (void * *)handles,
		wrong == 4 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clGetDeviceImageInfoQCOM(void *function, int wrong)
{
	int32_t (*f)(void *, size_t, size_t, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (size_t)-1 : (size_t)4,
		wrong == 2 ? (size_t)-1 : (size_t)4,
		wrong == 3 ? (void *)0 : (void *)&format,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0x1000,
		wrong == 5 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetDeviceInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1000,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetEventInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x11D0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetEventProfilingInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x11D0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetExtensionFunctionAddress(void *function, int wrong)
{
	void * (*f)(char *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (char *)0 : (char *)"clCreateProgramWithILKHR"));
}

static void do_clGetExtensionFunctionAddressForPlatform(void *function, int wrong)
{
	void * (*f)(void *, char *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)platform,
		wrong == 1 ? (char *)0 : (char *)"clCreateProgramWithILKHR"));
}

static void do_clGetGLContextInfoKHR(void *function, int wrong)
{
	int32_t (*f)(intptr_t *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetGLObjectInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint32_t *)0 : (uint32_t *)0,
		wrong == 2 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clGetGLTextureInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1100,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetHostTimer(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0));
}

static void do_clGetICDLoaderInfoOCLICD(void *function, int wrong)
{
	int32_t (*f)(uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 1 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 2 ? (void *)0 : (void *)scratch,
		wrong == 3 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetImageInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)image,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1100,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetImageRequirementsInfoEXT(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t *, uint64_t, void *, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 3 ? (void *)0 : (void *)&format,
		wrong == 4 ? (void *)0 : (void *)&description,
		wrong == 5 ? (uint32_t)-1 : (uint32_t)0x1081,
		wrong == 6 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 7 ? (void *)0 : (void *)scratch,
		wrong == 8 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetKernelArgInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 3 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetKernelInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1193,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetKernelSubGroupInfo(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetKernelSubGroupInfoKHR(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetKernelSuggestedLocalWorkSize(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)kernel,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t *)0 : (size_t *)0));
}

static void do_clGetKernelSuggestedLocalWorkSizeKHR(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t *, size_t *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (void *)0 : (void *)kernel,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)1,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (size_t *)0 : (size_t *)ones,
		wrong == 5 ? (size_t *)0 : (size_t *)0));
}

static void do_clGetKernelWorkGroupInfo(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 3 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetMemAllocInfoINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)scratch,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x1081,
		wrong == 3 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetMemObjectInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1100,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetPipeInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1100,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetPlatformIDs(void *function, int wrong)
{
	int32_t (*f)(uint32_t, void * *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (uint32_t)0 : (uint32_t)16,
		wrong == 1 ? (void * *)0 : (void * *)handles,
		wrong == 2 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clGetPlatformInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)platform,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x0900,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetProfileDataDeviceIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, uint32_t, uint32_t, size_t, void *, size_t *, int32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (void *)0 : (void *)program,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 6 ? (void *)0 : (void *)scratch,
		wrong == 7 ? (size_t *)0 : (size_t *)&size_ret,
		wrong == 8 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clGetProfileInfoIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event));
}

static void do_clGetProgramBuildInfo(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x1181,
		wrong == 3 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 4 ? (void *)0 : (void *)scratch,
		wrong == 5 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetProgramInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1161,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetSamplerInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)sampler,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x1151,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetSemaphoreHandleForTypeKHR(void *function, int wrong)
{
	int32_t (*f)(void *, void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)0,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (size_t)-1 : (size_t)0,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (size_t *)0 : (size_t *)0));
}

static void do_clGetSemaphoreInfoKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)0,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch,
		wrong == 4 ? (size_t *)0 : (size_t *)&size_ret));
}

static void do_clGetSupportedGLTextureFormatsINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t, uint32_t, uint32_t, uint32_t *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x10F1,
		wrong == 3 ? (uint32_t)0 : (uint32_t)16,
		wrong == 4 ? (uint32_t *)0 : (uint32_t *)0,
		wrong == 5 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clGetSupportedImageFormats(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t, uint32_t, uint32_t, void *, uint32_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0x10F1,
		wrong == 3 ? (uint32_t)0 : (uint32_t)16,
		wrong == 4 ? (void *)0 : (void *)0,
		wrong == 5 ? (uint32_t *)0 : (uint32_t *)0));
}

static void do_clHostMemAllocINTEL(void *function, int wrong)
{
	void * (*f)(void *, uint64_t *, size_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clImportMemoryARM(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, intptr_t *, void *, size_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 2 ? (intptr_t *)0 : (intptr_t *)0,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (size_t)-1 : (size_t)16,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clLinkProgram(void *function, int wrong)
{
	void * (*f)(void *, uint32_t, void * *, char *, uint32_t, void * *, void *, void *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device,
		wrong == 3 ? (char *)0 : (char *)"",
		wrong == 4 ? (uint32_t)0 : (uint32_t)1,
		wrong == 5 ? (void * *)0 : (void * *)&program,
		wrong == 6 ? (void *)0 : (void *)0,
		wrong == 7 ? (void *)0 : (void *)0,
		wrong == 8 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clLogMessagesToStderrAPPLE(void *function, int wrong)
{
	void (*f)(char *, void *, size_t, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (char *)0 : (char *)0,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clLogMessagesToStdoutAPPLE(void *function, int wrong)
{
	void (*f)(char *, void *, size_t, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (char *)0 : (char *)0,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clLogMessagesToSystemLogAPPLE(void *function, int wrong)
{
	void (*f)(char *, void *, size_t, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (char *)0 : (char *)0,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clMapHostPipeIntelFPGA(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, size_t, size_t *, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 2 ? (size_t)-1 : (size_t)0,
		wrong == 3 ? (size_t *)0 : (size_t *)0,
		wrong == 4 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clMemBlockingFreeINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)scratch));
}

static void do_clMemFreeINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)scratch));
}

static void do_clReImportSemaphoreSyncFdKHR(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t *, int32_t) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)0,
		wrong == 1 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 2 ? (int32_t)-1 : (int32_t)0));
}

static void do_clReadPipeIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)scratch));
}

static void do_clReconfigurePLLIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, char *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device,
		wrong == 1 ? (char *)0 : (char *)0));
}

static void do_clReleaseCommandQueue(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainCommandQueue", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue));
}

static void do_clReleaseContext(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainContext", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context));
}

static void do_clReleaseDevice(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainDevice", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device));
}

static void do_clReleaseDeviceEXT(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainDeviceEXT", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device));
}

static void do_clReleaseEvent(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainEvent", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event));
}

static void do_clReleaseKernel(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainKernel", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel));
}

static void do_clReleaseMemObject(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainMemObject", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer));
}

static void do_clReleaseProgram(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainProgram", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program));
}

static void do_clReleaseSampler(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainSampler", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)sampler));
}

static void do_clReleaseSemaphoreKHR(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	retain("clRetainSemaphoreKHR", wrong);
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)0));
}

static void do_clReportLiveObjectsAltera(void *function, int wrong)
{
	void (*f)(void *, void *, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)platform,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clReportLiveObjectsIntelFPGA(void *function, int wrong)
{
	void (*f)(void *, void *, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)platform,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clResetKernelsIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)0 : (uint32_t)1,
		wrong == 2 ? (void * *)0 : (void * *)&device));
}

static void do_clRetainCommandQueue(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue));
}

static void do_clRetainContext(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context));
}

static void do_clRetainDevice(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device));
}

static void do_clRetainDeviceEXT(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)device));
}

static void do_clRetainEvent(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event));
}

static void do_clRetainKernel(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel));
}

static void do_clRetainMemObject(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer));
}

static void do_clRetainProgram(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program));
}

static void do_clRetainSampler(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)sampler));
}

static void do_clRetainSemaphoreKHR(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)0));
}

static void do_clSVMAlloc(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, size_t, uint32_t) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0));
}

static void do_clSVMAllocARM(void *function, int wrong)
{
	void * (*f)(void *, uint64_t, size_t, uint32_t) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)1,
		wrong == 2 ? (size_t)-1 : (size_t)16,
		wrong == 3 ? (uint32_t)-1 : (uint32_t)0));
}

static void do_clSVMFree(void *function, int wrong)
{
	void (*f)(void *, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clSVMFreeARM(void *function, int wrong)
{
	void (*f)(void *, void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0);
	say_nothing();
}

static void do_clSetCommandQueueProperty(void *function, int wrong)
{
	int32_t (*f)(void *, uint64_t, uint32_t, uint64_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)queue,
		wrong == 1 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 2 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 3 ? (uint64_t *)0 : (uint64_t *)0));
}

static void do_clSetContentSizeBufferPoCL(void *function, int wrong)
{
	int32_t (*f)(void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)buffer));
}

static void do_clSetContextDestructorCallback(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0));
}

static void do_clSetDefaultDeviceCommandQueue(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (void *)0 : (void *)queue));
}

static void do_clSetDeviceExceptionCallbackIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(uint32_t, void * *, uint64_t, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (uint32_t)0 : (uint32_t)1,
		wrong == 1 ? (void * *)0 : (void * *)&device,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)0,
		wrong == 3 ? (void *)0 : (void *)0,
		wrong == 4 ? (void *)0 : (void *)0));
}

static void do_clSetEventCallback(void *function, int wrong)
{
	int32_t (*f)(void *, int32_t, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event,
		wrong == 1 ? (int32_t)-1 : (int32_t)0,
		wrong == 2 ? (void *)0 : (void *)0,
		wrong == 3 ? (void *)0 : (void *)0));
}

static void do_clSetKernelArg(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(buffer),
		wrong == 3 ? (void *)0 : (void *)&buffer));
}

static void do_clSetKernelArgDevicePointerEXT(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, uint64_t) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (uint64_t)-1 : (uint64_t)&buffer));
}

static void do_clSetKernelArgMemPointerINTEL(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (void *)0 : (void *)&buffer));
}

static void do_clSetKernelArgSVMPointer(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (void *)0 : (void *)&buffer));
}

static void do_clSetKernelArgSVMPointerARM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (void *)0 : (void *)&buffer));
}

static void do_clSetKernelExecInfo(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch));
}

static void do_clSetKernelExecInfoARM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)kernel,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0x11B0,
		wrong == 2 ? (size_t)-1 : (size_t)sizeof(scratch),
		wrong == 3 ? (void *)0 : (void *)scratch));
}

static void do_clSetMemObjectDestructorAPPLE(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0));
}

static void do_clSetMemObjectDestructorCallback(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0));
}

static void do_clSetPerfHintQCOM(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0));
}

static void do_clSetProgramReleaseCallback(void *function, int wrong)
{
	int32_t (*f)(void *, void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (void *)0 : (void *)0));
}

static void do_clSetProgramSpecializationConstant(void *function, int wrong)
{
	int32_t (*f)(void *, uint32_t, size_t, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)program,
		wrong == 1 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 2 ? (size_t)-1 : (size_t)0,
		wrong == 3 ? (void *)0 : (void *)0));
}

static void do_clSetUserEventStatus(void *function, int wrong)
{
	int32_t (*f)(void *, int32_t) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)event,
		wrong == 1 ? (int32_t)-1 : (int32_t)0));
}

static void do_clSharedMemAllocINTEL(void *function, int wrong)
{
	void * (*f)(void *, void *, uint64_t *, size_t, uint32_t, int32_t *) = function;

	(void)wrong;
	say_pointer(f(
		wrong == 0 ? (void *)0 : (void *)context,
		wrong == 1 ? (void *)0 : (void *)device,
		wrong == 2 ? (uint64_t *)0 : (uint64_t *)0,
		wrong == 3 ? (size_t)-1 : (size_t)16,
		wrong == 4 ? (uint32_t)-1 : (uint32_t)0,
		wrong == 5 ? (int32_t *)0 : (int32_t *)&error));
}

static void do_clTerminateContextKHR(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)context));
}

static void do_clTrackLiveObjectsAltera(void *function, int wrong)
{
	void (*f)(void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)platform);
	say_nothing();
}

static void do_clTrackLiveObjectsIntelFPGA(void *function, int wrong)
{
	void (*f)(void *) = function;

	(void)wrong;
	f(
		wrong == 0 ? (void *)0 : (void *)platform);
	say_nothing();
}

static void do_clUnloadCompiler(void *function, int wrong)
{
	int32_t (*f)(void) = function;

	(void)wrong;
	say_number((long)f(
));
}

static void do_clUnloadPlatformCompiler(void *function, int wrong)
{
	int32_t (*f)(void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)platform));
}

static void do_clUnmapHostPipeIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, void *, size_t, size_t *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)0,
		wrong == 2 ? (size_t)-1 : (size_t)0,
		wrong == 3 ? (size_t *)0 : (size_t *)0));
}

static void do_clWaitForEvents(void *function, int wrong)
{
	int32_t (*f)(uint32_t, void * *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (uint32_t)0 : (uint32_t)1,
		wrong == 1 ? (void * *)0 : (void * *)&event));
}

static void do_clWritePipeIntelFPGA(void *function, int wrong)
{
	int32_t (*f)(void *, void *) = function;

	(void)wrong;
	say_number((long)f(
		wrong == 0 ? (void *)0 : (void *)buffer,
		wrong == 1 ? (void *)0 : (void *)scratch));
}

#define ROWS \
	ROW(clBuildProgram, 6) \
	ROW(clCloneKernel, 2) \
	ROW(clCompileProgram, 9) \
	ROW(clCreateBuffer, 5) \
	ROW(clCreateBufferWithProperties, 6) \
	ROW(clCreateBufferWithPropertiesINTEL, 6) \
	ROW(clCreateCommandQueue, 4) \
	ROW(clCreateCommandQueueWithProperties, 4) \
	ROW(clCreateCommandQueueWithPropertiesKHR, 4) \
	ROW(clCreateContext, 6) \
	ROW(clCreateContextFromType, 5) \
	ROW(clCreateEventFromEGLSyncKHR, 4) \
	ROW(clCreateEventFromGLsyncKHR, 3) \
	ROW(clCreateFromEGLImageKHR, 6) \
	ROW(clCreateFromGLBuffer, 4) \
	ROW(clCreateFromGLRenderbuffer, 4) \
	ROW(clCreateFromGLTexture, 6) \
	ROW(clCreateFromGLTexture2D, 6) \
	ROW(clCreateFromGLTexture3D, 6) \
	ROW(clCreateImage, 6) \
	ROW(clCreateImage2D, 8) \
	ROW(clCreateImage3D, 10) \
	ROW(clCreateImageWithProperties, 7) \
	ROW(clCreateKernel, 3) \
	ROW(clCreateKernelsInProgram, 4) \
	ROW(clCreatePipe, 6) \
	ROW(clCreateProgramWithBinary, 7) \
	ROW(clCreateProgramWithBinaryAndProgramDeviceIntelFPGA, 7) \
	ROW(clCreateProgramWithBuiltInKernels, 5) \
	ROW(clCreateProgramWithIL, 4) \
	ROW(clCreateProgramWithILKHR, 4) \
	ROW(clCreateProgramWithSource, 5) \
	ROW(clCreateSampler, 5) \
	ROW(clCreateSamplerWithProperties, 3) \
	ROW(clCreateSemaphoreWithPropertiesKHR, 3) \
	ROW(clCreateSubBuffer, 5) \
	ROW(clCreateSubDevices, 5) \
	ROW(clCreateSubDevicesEXT, 5) \
	ROW(clCreateUserEvent, 2) \
	ROW(clDeviceMemAllocINTEL, 6) \
	ROW(clEnqueueAcquireEGLObjectsKHR, 6) \
	ROW(clEnqueueAcquireExternalMemObjectsKHR, 6) \
	ROW(clEnqueueAcquireGLObjects, 6) \
	ROW(clEnqueueAcquireGrallocObjectsIMG, 6) \
	ROW(clEnqueueBarrier, 1) \
	ROW(clEnqueueBarrierWithWaitList, 4) \
	ROW(clEnqueueCopyBuffer, 9) \
	ROW(clEnqueueCopyBufferRect, 13) \
	ROW(clEnqueueCopyBufferToImage, 9) \
	ROW(clEnqueueCopyImage, 9) \
	ROW(clEnqueueCopyImageToBuffer, 9) \
	ROW(clEnqueueFillBuffer, 9) \
	ROW(clEnqueueFillImage, 8) \
	ROW(clEnqueueGenerateMipmapIMG, 9) \
	ROW(clEnqueueMapBuffer, 10) \
	ROW(clEnqueueMapImage, 12) \
	ROW(clEnqueueMarker, 2) \
	ROW(clEnqueueMarkerWithWaitList, 4) \
	ROW(clEnqueueMemAdviseINTEL, 7) \
	ROW(clEnqueueMemFillINTEL, 8) \
	ROW(clEnqueueMemcpyINTEL, 8) \
	ROW(clEnqueueMemsetINTEL, 7) \
	ROW(clEnqueueMigrateMemINTEL, 7) \
	ROW(clEnqueueMigrateMemObjectEXT, 7) \
	ROW(clEnqueueMigrateMemObjects, 7) \
	ROW(clEnqueueNDRangeKernel, 9) \
	ROW(clEnqueueNativeKernel, 10) \
	ROW(clEnqueueReadBuffer, 9) \
	ROW(clEnqueueReadBufferRect, 14) \
	ROW(clEnqueueReadGlobalVariableINTEL, 10) \
	ROW(clEnqueueReadHostPipeINTEL, 9) \
	ROW(clEnqueueReadImage, 11) \
	ROW(clEnqueueReleaseEGLObjectsKHR, 6) \
	ROW(clEnqueueReleaseExternalMemObjectsKHR, 6) \
	ROW(clEnqueueReleaseGLObjects, 6) \
	ROW(clEnqueueReleaseGrallocObjectsIMG, 6) \
	ROW(clEnqueueSVMFree, 8) \
	ROW(clEnqueueSVMFreeARM, 8) \
	ROW(clEnqueueSVMMap, 8) \
	ROW(clEnqueueSVMMapARM, 8) \
	ROW(clEnqueueSVMMemFill, 8) \
	ROW(clEnqueueSVMMemFillARM, 8) \
	ROW(clEnqueueSVMMemcpy, 8) \
	ROW(clEnqueueSVMMemcpyARM, 8) \
	ROW(clEnqueueSVMMigrateMem, 8) \
	ROW(clEnqueueSVMUnmap, 5) \
	ROW(clEnqueueSVMUnmapARM, 5) \
	ROW(clEnqueueSignalSemaphoresKHR, 7) \
	ROW(clEnqueueTask, 5) \
	ROW(clEnqueueUnmapMemObject, 6) \
	ROW(clEnqueueWaitForEvents, 3) \
	ROW(clEnqueueWaitSemaphoresKHR, 7) \
	ROW(clEnqueueWriteBuffer, 9) \
	ROW(clEnqueueWriteBufferRect, 14) \
	ROW(clEnqueueWriteGlobalVariableINTEL, 10) \
	ROW(clEnqueueWriteHostPipeINTEL, 9) \
	ROW(clEnqueueWriteImage, 11) \
	ROW(clFinish, 1) \
	ROW(clFlush, 1) \
	ROW(clGetBoardExtensionFunctionAddressAltera, 2) \
	ROW(clGetBoardExtensionFunctionAddressIntelFPGA, 2) \
	ROW(clGetCommandQueueInfo, 5) \
	ROW(clGetContextInfo, 5) \
	ROW(clGetDeviceAndHostTimer, 3) \
	ROW(clGetDeviceIDs, 5) \
	ROW(clGetDeviceImageInfoQCOM, 8) \
	ROW(clGetDeviceInfo, 5) \
	ROW(clGetEventInfo, 5) \
	ROW(clGetEventProfilingInfo, 5) \
	ROW(clGetExtensionFunctionAddress, 1) \
	ROW(clGetExtensionFunctionAddressForPlatform, 2) \
	ROW(clGetGLContextInfoKHR, 5) \
	ROW(clGetGLObjectInfo, 3) \
	ROW(clGetGLTextureInfo, 5) \
	ROW(clGetHostTimer, 2) \
	ROW(clGetICDLoaderInfoOCLICD, 4) \
	ROW(clGetImageInfo, 5) \
	ROW(clGetImageRequirementsInfoEXT, 9) \
	ROW(clGetKernelArgInfo, 6) \
	ROW(clGetKernelInfo, 5) \
	ROW(clGetKernelSubGroupInfo, 8) \
	ROW(clGetKernelSubGroupInfoKHR, 8) \
	ROW(clGetKernelSuggestedLocalWorkSize, 6) \
	ROW(clGetKernelSuggestedLocalWorkSizeKHR, 6) \
	ROW(clGetKernelWorkGroupInfo, 6) \
	ROW(clGetMemAllocInfoINTEL, 6) \
	ROW(clGetMemObjectInfo, 5) \
	ROW(clGetPipeInfo, 5) \
	ROW(clGetPlatformIDs, 3) \
	ROW(clGetPlatformInfo, 5) \
	ROW(clGetProfileDataDeviceIntelFPGA, 9) \
	ROW(clGetProfileInfoIntelFPGA, 1) \
	ROW(clGetProgramBuildInfo, 6) \
	ROW(clGetProgramInfo, 5) \
	ROW(clGetSamplerInfo, 5) \
	ROW(clGetSemaphoreHandleForTypeKHR, 6) \
	ROW(clGetSemaphoreInfoKHR, 5) \
	ROW(clGetSupportedGLTextureFormatsINTEL, 6) \
	ROW(clGetSupportedImageFormats, 6) \
	ROW(clHostMemAllocINTEL, 5) \
	ROW(clImportMemoryARM, 6) \
	ROW(clLinkProgram, 9) \
	ROW(clLogMessagesToStderrAPPLE, 4) \
	ROW(clLogMessagesToStdoutAPPLE, 4) \
	ROW(clLogMessagesToSystemLogAPPLE, 4) \
	ROW(clMapHostPipeIntelFPGA, 5) \
	ROW(clMemBlockingFreeINTEL, 2) \
	ROW(clMemFreeINTEL, 2) \
	ROW(clReImportSemaphoreSyncFdKHR, 3) \
	ROW(clReadPipeIntelFPGA, 2) \
	ROW(clReconfigurePLLIntelFPGA, 2) \
	ROW(clReleaseCommandQueue, 1) \
	ROW(clReleaseContext, 1) \
	ROW(clReleaseDevice, 1) \
	ROW(clReleaseDeviceEXT, 1) \
	ROW(clReleaseEvent, 1) \
	ROW(clReleaseKernel, 1) \
	ROW(clReleaseMemObject, 1) \
	ROW(clReleaseProgram, 1) \
	ROW(clReleaseSampler, 1) \
	ROW(clReleaseSemaphoreKHR, 1) \
	ROW(clReportLiveObjectsAltera, 3) \
	ROW(clReportLiveObjectsIntelFPGA, 3) \
	ROW(clResetKernelsIntelFPGA, 3) \
	ROW(clRetainCommandQueue, 1) \
	ROW(clRetainContext, 1) \
	ROW(clRetainDevice, 1) \
	ROW(clRetainDeviceEXT, 1) \
	ROW(clRetainEvent, 1) \
	ROW(clRetainKernel, 1) \
	ROW(clRetainMemObject, 1) \
	ROW(clRetainProgram, 1) \
	ROW(clRetainSampler, 1) \
	ROW(clRetainSemaphoreKHR, 1) \
	ROW(clSVMAlloc, 4) \
	ROW(clSVMAllocARM, 4) \
	ROW(clSVMFree, 2) \
	ROW(clSVMFreeARM, 2) \
	ROW(clSetCommandQueueProperty, 4) \
	ROW(clSetContentSizeBufferPoCL, 2) \
	ROW(clSetContextDestructorCallback, 3) \
	ROW(clSetDefaultDeviceCommandQueue, 3) \
	ROW(clSetDeviceExceptionCallbackIntelFPGA, 5) \
	ROW(clSetEventCallback, 4) \
	ROW(clSetKernelArg, 4) \
	ROW(clSetKernelArgDevicePointerEXT, 3) \
	ROW(clSetKernelArgMemPointerINTEL, 3) \
	ROW(clSetKernelArgSVMPointer, 3) \
	ROW(clSetKernelArgSVMPointerARM, 3) \
	ROW(clSetKernelExecInfo, 4) \
	ROW(clSetKernelExecInfoARM, 4) \
	ROW(clSetMemObjectDestructorAPPLE, 3) \
	ROW(clSetMemObjectDestructorCallback, 3) \
	ROW(clSetPerfHintQCOM, 2) \
	ROW(clSetProgramReleaseCallback, 3) \
	ROW(clSetProgramSpecializationConstant, 4) \
	ROW(clSetUserEventStatus, 2) \
	ROW(clSharedMemAllocINTEL, 6) \
	ROW(clTerminateContextKHR, 1) \
	ROW(clTrackLiveObjectsAltera, 1) \
	ROW(clTrackLiveObjectsIntelFPGA, 1) \
	ROW(clUnloadCompiler, 0) \
	ROW(clUnloadPlatformCompiler, 1) \
	ROW(clUnmapHostPipeIntelFPGA, 4) \
	ROW(clWaitForEvents, 2) \
	ROW(clWritePipeIntelFPGA, 2) \
	/* all */
