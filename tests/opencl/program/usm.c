/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory of the board that a program has by its address. */
#include "peer_lab.h"

/* A kernel adds numbers there, and the board sends the sums to the GPU from the address that the program has. */
void part_usm(int count, char **arguments)
{
	enum { SIZE = COUNT * sizeof(int32_t) };
	static int32_t numbers[COUNT], sums[COUNT];
	struct lab lab = new_lab();
	int32_t *memory[3];
	cl_program program;
	cl_kernel kernel;
	cl_int error;

	(void)count;
	for (int i = 0; i < COUNT; i++)
		numbers[i] = 3 * i;
	program = new_program(arguments[0], 1);
	kernel = new_kernel(program, "vecadd");
	for (cl_uint i = 0; i < 3; i++) {
		memory[i] = clDeviceMemAllocINTEL(context, devices[0], NULL, SIZE, 0, &error);
		OK(error);
		OK(clSetKernelArgMemPointerINTEL(kernel, i, memory[i]));
	}
	for (int i = 0; i < 2; i++)
		OK(clEnqueueMemcpyINTEL(lab.queue, CL_TRUE, memory[i], numbers, SIZE, 0, NULL, NULL));
	launch(lab.queue, kernel, COUNT, 0, NULL, NULL);
	OK(clFinish(lab.queue));
	fill_gpu(lab.memory, GPUS, lab.bytes);
	GIVES(peerlane.address_to_peer((cl_ulong)(uintptr_t)memory[2], lab.peer, EDGE, SIZE, NULL, NULL),
	      CL_SUCCESS);
	gpu_read(lab.memory + EDGE, sums, SIZE);
	for (int i = 0; i < COUNT; i++)
		MUST(sums[i] == 6 * i);
	/* And back, where OpenCL finds them. */
	for (int i = 0; i < COUNT; i++)
		numbers[i] = -i;
	gpu_write(lab.memory + EDGE, numbers, SIZE);
	GIVES(peerlane.address_from_peer(lab.peer, (cl_ulong)(uintptr_t)memory[0], EDGE, SIZE, NULL, NULL),
	      CL_SUCCESS);
	OK(clEnqueueMemcpyINTEL(lab.queue, CL_TRUE, sums, memory[0], SIZE, 0, NULL, NULL));
	for (int i = 0; i < COUNT; i++)
		MUST(sums[i] == -i);
	for (int i = 0; i < 3; i++)
		OK(clMemFreeINTEL(context, memory[i]));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	end_lab(&lab);
}
