/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Transfers between an OpenCL buffer on an FPGA board with the Peerlane block and one on an NVIDIA GPU, directly
 * over PCIe, by the calls of A. Gillert, "Direct GPU-FPGA Communication" (MSc thesis, TUM 2015), section 5.5 and
 * appendix A: the same names, arguments and results. Programs for its cl_rdma.c include this header in its place and
 * are linked with libpeerlane_clrdma.so.
 *
 *     cc program.c $(pkg-config --cflags --libs libpeerlane_clrdma) -lOpenCL
 *
 * What is different from the thesis:
 *
 * - Both directions: write_rdma().
 * - No driver of NVIDIA's is patched (its section 5.4): the GPU's buffer is made by CUDA and imported into OpenCL.
 *   Needed are CUDA's driver from 11.8 on, OpenCL 3.0 with cl_khr_external_memory_opaque_fd.
 * - No kernel is launched for an address, and no get_address.aocx is there.
 * - No handler of a signal is installed, and nobody polls: who waits, sleeps.
 * - A buffer on the GPU is mapped for the board at its first transfer and stays so until it is released (its
 *   section 5.3.2, "Lazy Unpinning", without the limit of 192 MiB). Where the GPU's BAR has no room for all of it,
 *   each block of 32 MiB is mapped for its transfer, as in its section 5.5.
 *
 * Threads: all functions may be called from several threads at a time; transfers with the same GPU buffer take turns.
 * None may be called from a signal handler, a callback of OpenCL's, or the child of a fork.
 *
 * Results: 0 is good, all others are errors, and clrdma_error_text() says more. One board and one GPU at a time:
 * those of the last calls of clrdma_init_altera() and clrdma_init_nvidia().
 */
#ifndef CLRDMA_H
#define CLRDMA_H

#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* It worked. */
#define CLRDMA_OK 0
/* The driver is not loaded: Peerlane's (clrdma_init_altera), CUDA's (clrdma_init_nvidia). Appendix A. */
#define CLRDMA_NO_DRIVER 1
/* Another driver has the board, or CUDA's driver is too old. Appendix A. */
#define CLRDMA_WRONG_DRIVER 2
/* Anything else. */
#define CLRDMA_FAILED 3
/* The thesis's: get_address.aocx could not be loaded. Never a result here. Appendix A. */
#define CLRDMA_NO_KERNEL 4
/*
 * The time is over. clrdma_error_text() says whether the copy goes on, for a minute at most: it does where the board had
 * begun it. Until its end the GPU's buffer is the board's. It is kept, also if it is released; commands that use it fail, and
 * transfers with it wait: a transfer of 0 bytes with it returns when the copy has ended. The board's buffer is only an
 * address here and is not kept: do not release it before that.
 */
#define CLRDMA_TIMEOUT 5
/* An argument is wrong: a null pointer, or addresses that are not those of a buffer. */
#define CLRDMA_INVALID 6
/* clrdma_init_altera() or clrdma_init_nvidia() has not been called with success. */
#define CLRDMA_NOT_INITIALIZED 7

/*
 * clrdma_init_altera: names the board. Section 5.5, listing 5.9; results: appendix A.
 *
 * context  A context with the device. Its release closes the board: initialise anew for another context.
 * device   The board's device.
 *
 * Returns CLRDMA_OK, CLRDMA_NO_DRIVER, CLRDMA_WRONG_DRIVER, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_init_altera(cl_context context, cl_device_id device);

/*
 * clrdma_init_nvidia: names the GPU. Section 5.5; results: appendix A.
 *
 * context  A context with the GPU.
 *
 * Returns CLRDMA_OK, CLRDMA_NO_DRIVER, CLRDMA_WRONG_DRIVER, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_init_nvidia(cl_context context);

/*
 * clrdma_create_pinnable_buffer_nvidia: makes a buffer on the GPU that the board reaches. Section 5.5, listing 5.12.
 *
 * context  A context with the GPU.
 * queue    A queue of the GPU's in it, in which commands use the buffer. Transfers begin when what was enqueued
 *          there before has ended, and commands enqueued after a transfer see its data. It is retained until the
 *          buffer's end.
 * buffer   Where the buffer goes: NULL after an error. The caller releases it by clReleaseMemObject().
 * size     Bytes, at least 1. The buffer may be larger: whole pages of the GPU's.
 *
 * The buffer is all zero.
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_create_pinnable_buffer_nvidia(cl_context context, cl_command_queue queue, cl_mem *buffer, size_t size);

/*
 * clrdma_get_buffer_address_altera: where a buffer lies in the board's memory. Section 5.5, listing 5.11.
 *
 * buffer   A buffer on the board: no sub-buffer, and none with CL_MEM_USE_HOST_PTR.
 * queue    A queue of the board's, or NULL: it is not used.
 * address  Where the address goes. It holds for as long as the buffer lives.
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_get_buffer_address_altera(cl_mem buffer, cl_command_queue queue, unsigned long *address);

/*
 * clrdma_get_buffer_address_nvidia: where a buffer lies in the GPU's memory. Section 5.5, listing 5.11.
 *
 * buffer   A buffer of clrdma_create_pinnable_buffer_nvidia().
 * queue    A queue of the GPU's, or NULL: it is not used.
 * address  Where the address goes. It holds for as long as the buffer lives.
 *
 * Returns CLRDMA_OK, CLRDMA_INVALID.
 */
int clrdma_get_buffer_address_nvidia(cl_mem buffer, cl_command_queue queue, unsigned long *address);

/*
 * read_rdma: copies from the board's memory to the GPU's. Section 5.5, listings 5.13 and 5.14.
 *
 * The name is the thesis's, and seen from the GPU. Elsewhere Peerlane names directions as the board's engine has them, the
 * other way round: what this function does is a write there (direct-write, Queue.write), and write_rdma() is a read.
 *
 * fpga_address     First byte in the board's memory: an address of clrdma_get_buffer_address_altera(), or one inside
 *                  of that buffer. Commands of OpenCL's that write the buffer must have ended (clFinish).
 * gpu_address      First byte in the GPU's memory: as clrdma_get_buffer_address_nvidia(). No alignment is needed,
 *                  of either.
 * size             Bytes; 0 copies nothing, and waits for transfers with the same GPU buffer.
 * timeout_seconds  How long the call waits, for its turn and for the queue's commands as well; 0 or less: as long as it
 *                  takes. No copy is begun after that. The board's library ends a copy that takes more than a minute:
 *                  CLRDMA_TIMEOUT, too, and nothing goes on.
 *
 * Returns when the bytes lie in the GPU's memory. After an error some of them may. The board makes sure of that by a read
 * behind them. Where the platform passes no reads between devices, as the thesis's, that fails, and the copy is made again
 * without it, as are all later ones with this buffer: the bytes are on their way then when the call returns, and only time
 * (microseconds) brings them.
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_TIMEOUT, CLRDMA_FAILED.
 */
int read_rdma(unsigned long fpga_address, unsigned long gpu_address, size_t size, int timeout_seconds);

/*
 * write_rdma: copies from the GPU's memory to the board's. Section 7: the direction that the thesis does not have;
 * arguments and results as read_rdma().
 *
 * The platform must pass reads between devices. Some pass writes only: the copy fails there, or brings bytes that
 * are all ones, so compare once. Go through host memory then, by clEnqueueReadBuffer() and clEnqueueWriteBuffer().
 */
int write_rdma(unsigned long fpga_address, unsigned long gpu_address, size_t size, int timeout_seconds);

/*
 * clrdma_error_text: what went wrong in the thread's last call that returned an error, and what to do about it. It
 * stays valid until the thread's next error; it is never NULL. Not of the thesis.
 */
const char *clrdma_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
