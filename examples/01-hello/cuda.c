/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 01, with an NVIDIA GPU: memory of cuMemAlloc goes to the FPGA's memory and back, without a stop in the host's memory.
 *
 *     cc cuda.c $(pkg-config --cflags --libs libpeerlane) -I/usr/local/cuda/include -lcuda -o cuda
 *
 * It takes a GPU's driver that exports dma-bufs: NVIDIA's open kernel modules, of CUDA 11.7 or later. With the closed
 * ones pl_register_nvidia takes the address as it is, and CU_POINTER_ATTRIBUTE_BUFFER_ID as the identity.
 */
#include <cuda.h>
#include <libpeerlane.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 100000 };

/* Pages of a GPU's memory. */
#define LARGE_PAGE (2ull << 20)
#define PAGE (64ull << 10)

static void check(const char *what, int code)
{
	if (code >= 0)
		return;
	fprintf(stderr, "%s: %s. %s\n", what, pl_error_text(), pl_error_remedy());
	exit(1);
}

static void check_cuda(const char *what, CUresult code)
{
	const char *name = NULL;

	if (code == CUDA_SUCCESS)
		return;
	cuGetErrorName(code, &name);
	fprintf(stderr, "%s: %s\n", what, name ? name : "an error without a name in CUDA's driver");
	exit(1);
}

/*
 * Makes copies by CUDA complete in the memory before their call returns. Otherwise the board may read the older bytes.
 * Memory of cuMemCreate does not take the attribute (driver 580): there the program waits for its copies, as main()
 * does.
 */
static void order_copies(CUdeviceptr address)
{
	unsigned int on = 1;
	CUresult code = cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address);

	if (code != CUDA_ERROR_NOT_SUPPORTED)
		check_cuda("cuPointerSetAttribute", code);
}

/*
 * Registers memory of cuMemAlloc, or of cuMemCreate with gpuDirectRDMACapable. The thread's CUDA context must be the
 * one that has the memory.
 *
 * CUDA exports whole pages of one allocation. The board needs an entry of its address table for each page, so this
 * takes the largest pages that the allocation has room for. Of the dma-buf, only the requested bytes are registered.
 */
static struct pl_region *register_cuda(struct pl_device *device, CUdeviceptr address, size_t bytes, uint32_t access)
{
	CUdeviceptr base, first, behind;
	size_t size;
	struct pl_region *region;
	int file, code;

	check_cuda("cuMemGetAddressRange", cuMemGetAddressRange(&base, &size, address));
	first = address & ~(LARGE_PAGE - 1);
	behind = (address + bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	if (first < base || behind > base + size) {
		first = address & ~(PAGE - 1);
		behind = (address + bytes + PAGE - 1) & ~(PAGE - 1);
	}
	check_cuda("cuMemGetHandleForAddressRange",
		   cuMemGetHandleForAddressRange(&file, first, (size_t)(behind - first),
						 CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	code = pl_register_dmabuf(device, file, address - first, bytes, access, &region);
	/* The region keeps the dma-buf open. */
	close(file);
	check("region", code);
	return region;
}

/* Whether the board reads the bytes that the memory has: not every computer passes reads between PCIe devices. */
static void probe(CUdeviceptr address, const unsigned char *expected)
{
	unsigned char found[PL_PROBE_BYTES];
	struct pl_device *device;
	struct pl_region *region;
	uint64_t fpga;

	/* A device of its own: the driver keeps it open. */
	check("board", pl_open(NULL, &device));
	check("memory", pl_allocate(device, sizeof(found), &fpga));
	region = register_cuda(device, address, sizeof(found), PL_READ);
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
	CUdeviceptr memory;
	CUcontext context;
	CUdevice gpu;
	int i;

	for (i = 0; i < BYTES; i++)
		there[i] = (unsigned char)(i * 7);

	check_cuda("cuInit", cuInit(0));
	check_cuda("GPU", cuDeviceGet(&gpu, 0));
	check_cuda("context", cuDevicePrimaryCtxRetain(&context, gpu));
	check_cuda("context", cuCtxSetCurrent(context));
	/* Two halves, in whole large pages: no page is shared with an allocation that the board must not reach. */
	check_cuda("cuMemAlloc", cuMemAlloc(&memory, (2 * BYTES + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1)));

	order_copies(memory);
	check_cuda("copy", cuMemcpyHtoD(memory, there, BYTES));
	check_cuda("copy", cuCtxSynchronize());
	/* Before the other device is open: the number of channels of a user may be small. */
	probe(memory, there);

	check("board", pl_open(NULL, &device));
	check("memory", pl_allocate(device, BYTES, &fpga));
	check("queue", pl_queue_open(device, &queue));
	/* The board also reads this memory, to prove that its writes have arrived. If that fails, register the target by
	 * PL_WRITE. */
	region = register_cuda(device, memory, 2 * BYTES, PL_READ | PL_WRITE);

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
	/* Kernels that are launched from now on see the bytes, and so do copies. */
	check_cuda("copy", cuMemcpyDtoH(back, memory + BYTES, BYTES));

	pl_transfer_free(transfer);
	pl_transfer_free(second);
	/* Close the queue first: after that no transfer is in progress. */
	check("close", pl_queue_close(queue));
	check("unregister", pl_unregister(region));
	pl_close(device);
	check_cuda("cuMemFree", cuMemFree(memory));
	check_cuda("context", cuDevicePrimaryCtxRelease(gpu));
	if (memcmp(there, back, BYTES)) {
		fprintf(stderr, "other bytes came back\n");
		return 1;
	}
	printf("%lu bytes from the GPU to the FPGA and back\n", (unsigned long)moved);
	return 0;
}
