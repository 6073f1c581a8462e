/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 01, with an AMD GPU: memory of hipMalloc goes to the FPGA's memory and back, without a stop in the host's memory.
 *
 *     cc -D__HIP_PLATFORM_AMD__ rocm.c $(pkg-config --cflags --libs libpeerlane) \
 *         -I/opt/rocm/include -L/opt/rocm/lib -lamdhip64 -lhsa-runtime64 -o rocm
 *
 * No GPU of AMD's has run it. docs/program/gpu.md, "AMD", has the requirements, and where the memory may lie.
 */
#include <hip/hip_runtime_api.h>
#include <hsa/hsa_ext_amd.h>
#include <libpeerlane.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100000 };

static void check(const char *what, int code)
{
	if (code >= 0)
		return;
	fprintf(stderr, "%s: %s. %s\n", what, pl_error_text(), pl_error_remedy());
	exit(1);
}

static void check_hip(const char *what, hipError_t code)
{
	if (code == hipSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, hipGetErrorName(code));
	exit(1);
}

static void check_hsa(const char *what, hsa_status_t code)
{
	const char *text = NULL;

	if (code == HSA_STATUS_SUCCESS)
		return;
	hsa_status_string(code, &text);
	fprintf(stderr, "%s: %s\n", what, text ? text : "an error without a text in HSA");
	exit(1);
}

/* Registers memory of hipMalloc. HSA exports the piece that the memory is in, and reports the offset in it. */
static struct pl_region *register_hip(struct pl_device *device, const void *address, size_t bytes, uint32_t access)
{
	struct pl_region *region;
	uint64_t offset;
	int file, code;

	check_hsa("hsa_amd_portable_export_dmabuf", hsa_amd_portable_export_dmabuf(address, bytes, &file, &offset));
	code = pl_register_dmabuf(device, file, offset, bytes, access, &region);
	/* The region keeps the dma-buf open. */
	hsa_amd_portable_close_dmabuf(file);
	check("region", code);
	return region;
}

/*
 * Makes the board's writes until now visible to copies and kernels that start after it: the GPU's host data path may
 * hold the writes back. HIP has a function for it from 7.2 on. Before that (from ROCm 4.3) it has the address of a
 * register, which does nothing else.
 */
static void flush(void)
{
	volatile unsigned int *place = NULL;

#if HIP_VERSION >= 70200000
	hipError_t code = hipDeviceFlushGPUDirectRDMAWrites(hipFlushGPUDirectRDMAWritesTargetCurrentDevice,
							    hipFlushGPUDirectRDMAWritesToOwner);

	if (code != hipErrorNotSupported) {
		check_hip("flush", code);
		return;
	}
#endif
	/* A pointer, although the function's type is int. A GPU without the register has nothing to flush. */
	if (hipDeviceGetAttribute((int *)(void *)&place, hipDeviceAttributeHdpMemFlushCntl, 0) == hipSuccess && place) {
		*place = 1;
		(void)*place;
	}
}

/* Whether the board reads the bytes that the memory has: not every computer passes reads between PCIe devices. */
static void probe(const void *address, const unsigned char *expected)
{
	unsigned char found[PL_PROBE_BYTES];
	struct pl_device *device;
	struct pl_region *region;
	uint64_t fpga;

	/* A device of its own: the driver keeps it open. */
	check("board", pl_open(NULL, &device));
	check("memory", pl_allocate(device, sizeof(found), &fpga));
	region = register_hip(device, address, sizeof(found), PL_READ);
	check("probe", pl_region_probe(region, 0, fpga, found));
	check("unregister", pl_unregister(region));
	pl_close(device);
	if (memcmp(found, expected, sizeof(found))) {
		fprintf(stderr, "the board reads other bytes than the GPU has: copy through the host's memory\n");
		exit(1);
	}
}

int main(void)
{
	const int64_t limit = 10 * 1000000000ll;
	static unsigned char there[BYTES], back[BYTES];
	struct pl_device *device;
	struct pl_queue *queue;
	struct pl_region *region;
	struct pl_transfer *transfer, *second;
	struct pl_request request;
	uint64_t fpga, moved;
	void *memory;
	int i;

	for (i = 0; i < BYTES; i++)
		there[i] = (unsigned char)(i * 7);

	check_hsa("HSA", hsa_init());
	check_hip("GPU", hipSetDevice(0));
	/* Two halves. */
	check_hip("hipMalloc", hipMalloc(&memory, 2 * BYTES));
	check_hip("copy", hipMemcpy(memory, there, BYTES, hipMemcpyHostToDevice));
	/* The bytes that copies and kernels write must be in memory before the board reads. */
	check_hip("GPU", hipDeviceSynchronize());
	probe(memory, there);

	check("board", pl_open(NULL, &device));
	check("memory", pl_allocate(device, BYTES, &fpga));
	check("queue", pl_queue_open(device, &queue));
	/* The board also reads this memory, to prove that its writes have arrived. If that fails, register the target by
	 * PL_WRITE. */
	region = register_hip(device, memory, 2 * BYTES, PL_READ | PL_WRITE);
	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.direction = PL_TO_FPGA;
	request.region = region;
	request.fpga_address = fpga;
	request.length = BYTES;
	check("submit", pl_submit(queue, &request, &transfer));
	request.direction = PL_FROM_FPGA;
	/* It finds the first one's data on boards with interconnect_stages = 0, the default: see PL_AFTER_TO_FPGA. */
	request.flags = PL_AFTER_TO_FPGA;
	request.offset = BYTES;
	check("submit", pl_submit(queue, &request, &second));
	/* The second one begins when the first one has ended, also with an error: so look at both. */
	check("wait", pl_transfer_wait(transfer, limit, NULL));
	check("wait", pl_transfer_wait(second, limit, &moved));
	flush();
	/* Kernels that are launched from now on see the bytes, and so do copies. */
	check_hip("copy", hipMemcpy(back, (unsigned char *)memory + BYTES, BYTES, hipMemcpyDeviceToHost));

	pl_transfer_free(transfer);
	pl_transfer_free(second);
	/* Close the queue first: after that no transfer is in progress. */
	check("close", pl_queue_close(queue));
	check("unregister", pl_unregister(region));
	pl_close(device);
	check_hip("hipFree", hipFree(memory));
	if (memcmp(there, back, BYTES)) {
		fprintf(stderr, "other bytes came back\n");
		return 1;
	}
	printf("%lu bytes from the GPU to the FPGA and back\n", (unsigned long)moved);
	return 0;
}
