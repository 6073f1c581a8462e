/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Transfers between an OpenCL buffer on an FPGA board with the Peerlane block and one on an NVIDIA GPU, directly
 * over PCIe, by the calls of A. Gillert, "Direct GPU-FPGA Communication" (MSc thesis, TUM 2015), section 5.5 and
 * appendix A: the same names, arguments and results. Programs for its cl_rdma.c include this header in its place and
 * are linked with libpeerlane_clrdma.so.
 *
 *     cc program.c $(pkg-config --cflags --libs libpeerlane_clrdma) -lOpenCL
 *
 * Differences from the thesis:
 *
 * - Both directions: write_rdma().
 * - No driver of NVIDIA's is patched (its section 5.4): the GPU's buffer is made by CUDA and imported into OpenCL.
 *   This needs CUDA's driver from 11.8 on, and OpenCL 3.0 with cl_khr_external_memory_opaque_fd.
 * - No kernel is launched for an address, and there is no get_address.aocx.
 * - No signal handler is installed, and no thread polls: a waiting thread sleeps.
 * - A buffer on the GPU is mapped for the board at its first transfer and stays mapped until it is released (its
 *   section 5.3.2, "Lazy Unpinning", without the limit of 192 MiB). Where the GPU's BAR has no room for all of it,
 *   each block of 32 MiB is mapped for its transfer, as in its section 5.5.
 *
 * Threads: all functions may be called from several threads at a time; transfers with the same GPU buffer take turns.
 * None may be called from a signal handler, a callback of OpenCL, or the child of a fork.
 *
 * Results: 0 means success, all others are errors, and clrdma_error_text() has the details. One board and one GPU at a
 * time: those of the last calls of clrdma_init_altera() and clrdma_init_nvidia().
 */
#ifndef CLRDMA_H
#define CLRDMA_H

#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The call succeeded. */
#define CLRDMA_OK 0
/* The driver is not loaded: Peerlane's (clrdma_init_altera), CUDA's (clrdma_init_nvidia). Appendix A. */
#define CLRDMA_NO_DRIVER 1
/* Another driver has the board, or CUDA's driver is too old. Appendix A. */
#define CLRDMA_WRONG_DRIVER 2
/* Any other error. */
#define CLRDMA_FAILED 3
/* In the thesis: get_address.aocx could not be loaded. Never a result here. Appendix A. */
#define CLRDMA_NO_KERNEL 4
/*
 * The time is over. clrdma_error_text() says whether the copy goes on, for a minute at most: it does where the board
 * had begun it. (A copy that the program itself has begun with peerlane_ext.h comes before it, and adds its time.)
 * Until the copy ends, the GPU's buffer belongs to the board. It is kept, also if it is released.
 * Commands that use it fail, and transfers with it wait: a transfer of 0 bytes with it returns when the copy has ended.
 * The board's buffer is only an address here and is not kept: do not release it before that.
 */
#define CLRDMA_TIMEOUT 5
/* An argument is wrong: a null pointer, or addresses that are not those of a buffer. */
#define CLRDMA_INVALID 6
/* clrdma_init_altera() or clrdma_init_nvidia() has not been called with success. */
#define CLRDMA_NOT_INITIALIZED 7

/*
 * clrdma_init_altera: names the board. Section 5.5, listing 5.9; results: appendix A.
 *
 * context  A context with the device. Its release closes the board: call this again for another context.
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
 * queue    A queue of the GPU in that context, in which commands use the buffer. Transfers begin when commands that
 *          were enqueued there before have ended, and commands enqueued after a transfer see its data. It is retained
 *          until the buffer's end.
 * buffer   The place for the buffer: NULL after an error. The caller releases it by clReleaseMemObject().
 * size     Bytes, at least 1. The buffer may be larger: whole pages of the GPU.
 *
 * The buffer is all zero.
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_create_pinnable_buffer_nvidia(cl_context context, cl_command_queue queue, cl_mem *buffer, size_t size);

/*
 * clrdma_get_buffer_address_altera: returns the place of a buffer in the board's memory. Section 5.5, listing 5.11.
 *
 * buffer   A buffer on the board: not a sub-buffer, and not one with CL_MEM_USE_HOST_PTR.
 * queue    A queue of the board, or NULL: it is not used.
 * address  The place for the address, which is valid for as long as the buffer lives.
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_FAILED.
 */
int clrdma_get_buffer_address_altera(cl_mem buffer, cl_command_queue queue, unsigned long *address);

/*
 * clrdma_get_buffer_address_nvidia: returns the place of a buffer in the GPU's memory. Section 5.5, listing 5.11.
 *
 * buffer   A buffer of clrdma_create_pinnable_buffer_nvidia().
 * queue    A queue of the GPU, or NULL: it is not used.
 * address  The place for the address, which is valid for as long as the buffer lives.
 *
 * Returns CLRDMA_OK, CLRDMA_INVALID.
 */
int clrdma_get_buffer_address_nvidia(cl_mem buffer, cl_command_queue queue, unsigned long *address);

/*
 * read_rdma: copies from the board's memory to the GPU's. Section 5.5, listings 5.13 and 5.14.
 *
 * The name is the thesis's, and seen from the GPU. Elsewhere Peerlane names directions as the board's engine has them,
 * the other way round: there a transfer of this function is a write (direct-write, Queue.write), and a transfer of
 * write_rdma() is a read.
 *
 * fpga_address     First byte in the board's memory: an address of clrdma_get_buffer_address_altera(), or one inside
 *                  of that buffer. Commands of OpenCL that write the buffer must have ended (clFinish).
 * gpu_address      First byte in the GPU's memory: as clrdma_get_buffer_address_nvidia(). Neither address needs an
 *                  alignment.
 * size             Bytes; 0 copies nothing, and waits for transfers with the same GPU buffer.
 * timeout_seconds  The longest time that the call waits, also for its turn and for the queue's commands; 0 or less: no
 *                  limit. No copy is begun after that. The board's library ends a copy that takes more than a minute:
 *                  CLRDMA_TIMEOUT, too, and no copy goes on.
 *
 * Returns when the bytes lie in the GPU's memory. After an error some of them may. The board makes sure of that by a
 * read after the data. Where the platform passes no reads between devices, as the thesis's, that read fails. Then the
 * copy is made again without it, and so are all later ones with this buffer: the bytes are still on their way when the
 * call returns, and arrive some time later (microseconds).
 *
 * Returns CLRDMA_OK, CLRDMA_NOT_INITIALIZED, CLRDMA_INVALID, CLRDMA_TIMEOUT, CLRDMA_FAILED.
 */
int read_rdma(unsigned long fpga_address, unsigned long gpu_address, size_t size, int timeout_seconds);

/*
 * write_rdma: copies from the GPU's memory to the board's. Section 7: the direction that the thesis does not have;
 * arguments and results as read_rdma().
 *
 * The platform must pass reads between devices. Some pass writes only: the copy fails there, or brings bytes that
 * are all ones, so compare once. In that case copy through host memory, by clEnqueueReadBuffer() and
 * clEnqueueWriteBuffer().
 */
int write_rdma(unsigned long fpga_address, unsigned long gpu_address, size_t size, int timeout_seconds);

/*
 * clrdma_error_text: returns the text of the last error that a call of this thread returned, with a hint how to fix
 * it. It stays valid until the thread's next error; it is never NULL. Not in the thesis.
 */
const char *clrdma_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
