/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cl_peerlane_peer_memory: copies between a buffer on an FPGA board with the Peerlane block and the memory of
 * a GPU, or of another PCIe device, directly over PCIe.
 *
 * The functions are in the board's library, libpeerlane_mmd.so or libpeerlane_mmd_legacy.so. A program is not
 * linked with it, unless its runtime is a closed one to 17.0 (aocl link-config). It finds them by name, once it
 * has a context with the board (before that, the runtime's own function for it may crash):
 *
 *   clCopyBufferToPeerPeerlane_fn copy = (clCopyBufferToPeerPeerlane_fn)
 *       clGetBoardExtensionFunctionAddressIntelFPGA("clCopyBufferToPeerPeerlane", device);
 *
 * (clGetBoardExtensionFunctionAddressAltera with the runtimes of 14.x to 16.x), or by dlsym() in the library
 * that the runtime has loaded.
 *
 * Threads. All functions may be called from several threads at a time, with the same objects too. None may
 * be called from a signal handler, nor by the child of a fork before it calls execve. A callback of this
 * extension may call all functions of OpenCL and of this extension.
 *
 * Order. A copy is not a command of a queue: it begins when the events of its list have completed, and is otherwise not
 * ordered with commands or other copies. Put the event of a kernel that writes the buffer into the copy's list, and the
 * copy's event into the list of a kernel that reads it.
 *
 * Arrival. When a copy to a buffer has ended, the bytes are in the board's memory, and a kernel that starts then reads
 * them. When a copy to peer memory has ended, the bytes have arrived in that memory: the board has flushed its writes.
 * (Not with memory that the board may only write, CL_MEM_WRITE_ONLY: there the bytes are on their way.) The peer's own
 * caches depend on the peer: on a GPU of NVIDIA's a kernel that starts after the copy sees the bytes, and one that runs
 * already may need cuFlushGPUDirectRDMAWrites(). On a GPU of AMD's kernels and copies that start after it may need a
 * flush, too: hipDeviceFlushGPUDirectRDMAWrites() (HIP 7.2), or the register of hipDeviceAttributeHdpMemFlushCntl
 * before that.
 *
 * Errors. Functions return CL_SUCCESS, an error of OpenCL's, or one of those below; clGetErrorTextPeerlane() has a hint
 * for each. A line on standard error has the exact reason. After an error nothing was registered and nothing was begun.
 * A copy that fails on its way has its error as the status of its event; some of the destination may be written then.
 * Ask each event for its status (clGetEventInfo(), CL_EVENT_COMMAND_EXECUTION_STATUS) after you have waited for it: the
 * open runtime's clWaitForEvents() returns CL_SUCCESS for events that have failed, too.
 *
 * Closing. The last release of the context closes the board: copies in progress end with CL_BOARD_CLOSED_PEERLANE, and
 * all handles of its peer memory are refused from then on. Buffers, queues, programs and events hold their context:
 * release them, too, or no other program gets the board. A copy with an event keeps context and buffer until it has
 * ended.
 *
 * The program's end. exit() waits up to five seconds for copies that move bytes. Copies that still wait for events fail
 * with CL_BOARD_CLOSED_PEERLANE: wait for them before main() ends.
 *
 * Programming. When a kernel of another binary is enqueued, OpenCL reads all buffers, programs the FPGA, and writes the
 * buffers back. A copy that is in progress in that time, or begins in it, ends with CL_BOARD_RESTARTED_PEERLANE, also
 * if its bytes were moved: copy again. A copy of a buffer waits until the buffers are written back. A copy by an
 * address is refused until OpenCL has used the board since: by a transfer, a kernel, or clGetBufferAddressPeerlane(). A
 * closed runtime does not report when it begins to read buffers, nor does the open one where the binaries differ in how
 * banks are interleaved: bytes that are copied to a buffer between that and the programming are lost, and the copy
 * reports CL_SUCCESS. So let copies end before such a kernel is enqueued.
 */
#ifndef PEERLANE_EXT_H
#define PEERLANE_EXT_H

#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CL_API_CALL
#define CL_API_CALL
#endif
#ifndef CL_CALLBACK
#define CL_CALLBACK
#endif

/* Memory of another device that a board may reach. Never dereference the pointer; 0 is not a handle. */
typedef struct _cl_peer_memory_peerlane *cl_peer_memory_peerlane;

/* The handle is unknown, was released, or is of a board that was closed. */
#define CL_INVALID_PEER_MEMORY_PEERLANE -10001
/* The memory's owner has freed or moved it (for a dma-buf, ESTALE): release the handle, export the memory again, and
 * register that. */
#define CL_PEER_MEMORY_REVOKED_PEERLANE -10002
/* Neither driver nor owner offers a way to this memory: export it as a dma-buf with its owner's own means. */
#define CL_PEER_NOT_SUPPORTED_PEERLANE -10003
/* OpenCL holds the buffer's contents on the host or on another board: see clGetBufferAddressPeerlane(). */
#define CL_BUFFER_WITHOUT_ADDRESS_PEERLANE -10004
/* The peer or the way to it refused an access. */
#define CL_PEER_TRANSFER_FAILED_PEERLANE -10005
/* The copy did not end within a minute, and was stopped. */
#define CL_PEER_TRANSFER_TIMEOUT_PEERLANE -10006
/* The board does not answer any more, or its driver has released it. */
#define CL_BOARD_LOST_PEERLANE -10007
/* The board was closed before the copy had ended. */
#define CL_BOARD_CLOSED_PEERLANE -10008
/* The board was reset or programmed during the copy; FPGA memory may have lost its contents. */
#define CL_BOARD_RESTARTED_PEERLANE -10009
/* No OpenCL library that the process has loaded has the functions that the call needs. */
#define CL_NO_OPENCL_PEERLANE -10010
/* An error of this library: see standard error. */
#define CL_INTERNAL_ERROR_PEERLANE -10011

/*
 * clCreatePeerMemoryFromDmaBufPeerlane: registers a part of a dma-buf.
 *
 * device      The board; NULL if the process has only one of Peerlane's open.
 * flags       Permitted accesses of the board: CL_MEM_READ_WRITE or 0, CL_MEM_READ_ONLY (for copies from it alone),
 *             CL_MEM_WRITE_ONLY (for copies to it alone, and see "Arrival").
 * fd          The dma-buf. It stays the caller's, and may be closed when the call has returned.
 * offset      First byte in the dma-buf. No alignment is needed.
 * size        Bytes, at least 1.
 * errcode_ret Where the error goes, or NULL.
 *
 * Returns a handle that the caller releases, or NULL. The same memory may be registered several times: each
 * handle is released by itself. The memory takes entries of the board's address translation table, one for
 * each page of 4 KiB, 64 KiB or 2 MiB.
 *
 * Errors: CL_INVALID_DEVICE: no board of Peerlane's that is open, or NULL with several or none.
 * CL_INVALID_VALUE: flags, no dma-buf, bytes that do not lie in it. CL_MEM_OBJECT_ALLOCATION_FAILURE: no room in
 * the table, or a limit. CL_INVALID_OPERATION: its owner does not permit it; a forked child.
 * CL_PEER_MEMORY_REVOKED_PEERLANE, CL_PEER_NOT_SUPPORTED_PEERLANE, CL_BOARD_LOST_PEERLANE,
 * CL_BOARD_CLOSED_PEERLANE, CL_BOARD_RESTARTED_PEERLANE, CL_PEER_TRANSFER_FAILED_PEERLANE: another refusal of the
 * driver's. CL_NO_OPENCL_PEERLANE: only if device is not NULL.
 */
typedef cl_peer_memory_peerlane CL_API_CALL clCreatePeerMemoryFromDmaBufPeerlane_t(
    cl_device_id device,
    cl_mem_flags flags,
    int fd,
    size_t offset,
    size_t size,
    cl_int *errcode_ret);
typedef clCreatePeerMemoryFromDmaBufPeerlane_t *clCreatePeerMemoryFromDmaBufPeerlane_fn;

/*
 * clCreatePeerMemoryFromPointerPeerlane: registers memory of a GPU by its device pointer.
 *
 * Where the process has loaded CUDA, a dma-buf of it is registered, with any current context: of whole pages, up to 2
 * MiB large, though copies reach the requested bytes only. Otherwise the driver asks NVIDIA's kernel module, which lets
 * the board reach whole 64 KiB. Set CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of memory of cuMemAlloc(), so that CUDA's own
 * copies have ended when their call returns. Memory of other GPUs is exported as a dma-buf by the program (for ROCm
 * hsa_amd_portable_export_dmabuf(), for Level Zero ze_external_memory_export_fd_t).
 *
 * device, flags, size, errcode_ret: as clCreatePeerMemoryFromDmaBufPeerlane().
 * pointer     First byte, by its address in the GPU's driver in this process.
 * buffer_id   CUDA's CU_POINTER_ATTRIBUTE_BUFFER_ID of the memory, or 0 to have the library find it. It distinguishes
 *             buffers that get the same address one after the other.
 *
 * Returns a handle that the caller releases, or NULL. Release it before the memory is freed; copies with memory
 * that was freed fail with CL_PEER_MEMORY_REVOKED_PEERLANE.
 *
 * Errors: as clCreatePeerMemoryFromDmaBufPeerlane(). CL_PEER_NOT_SUPPORTED_PEERLANE: there is no CUDA in the
 * process, and NVIDIA's kernel driver is not loaded or gives no memory to peers.
 */
typedef cl_peer_memory_peerlane CL_API_CALL clCreatePeerMemoryFromPointerPeerlane_t(
    cl_device_id device,
    cl_mem_flags flags,
    void *pointer,
    size_t size,
    cl_ulong buffer_id,
    cl_int *errcode_ret);
typedef clCreatePeerMemoryFromPointerPeerlane_t *clCreatePeerMemoryFromPointerPeerlane_fn;

/*
 * clCreatePeerMemoryFromMemObjectPeerlane: registers a buffer of another OpenCL, all of it.
 * OpenCL has no function that exports a buffer. Intel's runtime for GPUs answers a query for its file
 * (CL_MEM_ALLOCATION_HANDLE_INTEL), which this call makes. Buffers of all other runtimes are refused: allocate such
 * memory with CUDA, Vulkan or another API that exports a dma-buf, register that, and import it into the other OpenCL by
 * cl_khr_external_memory.
 *
 * device, flags, errcode_ret: as clCreatePeerMemoryFromDmaBufPeerlane().
 * memobj      The buffer, with memory of its own: neither a sub-buffer nor a small one that its OpenCL has made
 *             a part of more memory. It must live as long as the handle.
 *
 * Returns a handle that the caller releases, or NULL.
 *
 * Errors: as clCreatePeerMemoryFromDmaBufPeerlane(). CL_INVALID_MEM_OBJECT: no buffer, or a sub-buffer.
 * CL_PEER_NOT_SUPPORTED_PEERLANE: its OpenCL exports nothing, or not this buffer alone. CL_NO_OPENCL_PEERLANE.
 */
typedef cl_peer_memory_peerlane CL_API_CALL clCreatePeerMemoryFromMemObjectPeerlane_t(
    cl_device_id device,
    cl_mem_flags flags,
    cl_mem memobj,
    cl_int *errcode_ret);
typedef clCreatePeerMemoryFromMemObjectPeerlane_t *clCreatePeerMemoryFromMemObjectPeerlane_fn;

/*
 * clReleasePeerMemoryPeerlane: releases a handle. The board unregisters the memory when the copies with it that were
 * begun have ended.
 *
 * Errors: CL_INVALID_PEER_MEMORY_PEERLANE; CL_INVALID_OPERATION: a forked child.
 */
typedef cl_int CL_API_CALL clReleasePeerMemoryPeerlane_t(cl_peer_memory_peerlane memory);
typedef clReleasePeerMemoryPeerlane_t *clReleasePeerMemoryPeerlane_fn;

/*
 * clCopyBufferToPeerPeerlane: copies from a buffer on the board to peer memory.
 *
 * src_buffer  A buffer whose contents are on the board: see clGetBufferAddressPeerlane(). Its place is looked up
 *             within the call, which takes a read of one byte, and with a list of events once more when they have
 *             completed; by a blocking call then only.
 * dst_memory  The peer memory.
 * src_offset  First byte in the buffer. No alignment is needed.
 * dst_offset  First byte in the peer memory. A board by Altera's Avalon-MM bridge writes whole dwords only. There a
 *             copy to a dma-buf or to another OpenCL's buffer begins and ends at multiples of 4 bytes of it. Other
 *             peer memory, and other boards, need no alignment.
 * size        Bytes; 0 copies nothing, but waits and completes like other copies.
 * blocking    CL_TRUE: the call returns when the copy has ended. CL_FALSE: it returns at once, and event is
 *             needed.
 * num_events_in_wait_list, event_wait_list
 *             The events that must have completed before the copy begins; 0 and NULL: none. If one has
 *             failed nothing is copied, and the copy fails with
 *             CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.
 * event       Place for the copy's event, which the caller releases; or NULL. It is a user event of the
 *             buffer's context: CL_SUBMITTED until the copy has ended, then CL_COMPLETE or the error. Do not
 *             set its status.
 *
 * 64 copies of a board may wait for events at a time. Copies without a list are made one after the other in each
 * direction, except blocking ones.
 *
 * Errors: CL_INVALID_PEER_MEMORY_PEERLANE. CL_INVALID_MEM_OBJECT: no buffer, or a sub-buffer. CL_INVALID_VALUE: bytes
 * that do not all lie in the buffer or in the peer memory, an end that the board cannot write (see dst_offset), or
 * neither blocking nor an event. CL_INVALID_EVENT_WAIT_LIST. CL_INVALID_OPERATION: the memory's flags; a forked child.
 * CL_BUFFER_WITHOUT_ADDRESS_PEERLANE. CL_INVALID_DEVICE: the memory's board is not in the buffer's context.
 * CL_OUT_OF_RESOURCES: no thread, or too many copies that wait. CL_NO_OPENCL_PEERLANE. Errors of OpenCL itself for the
 * objects. And errors of the copy, from a blocking call or as the event's status:
 * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_PEER_MEMORY_REVOKED_PEERLANE, CL_PEER_TRANSFER_FAILED_PEERLANE,
 * CL_PEER_TRANSFER_TIMEOUT_PEERLANE, CL_BOARD_LOST_PEERLANE, CL_BOARD_CLOSED_PEERLANE, CL_BOARD_RESTARTED_PEERLANE.
 */
typedef cl_int CL_API_CALL clCopyBufferToPeerPeerlane_t(
    cl_mem src_buffer,
    cl_peer_memory_peerlane dst_memory,
    size_t src_offset,
    size_t dst_offset,
    size_t size,
    cl_bool blocking,
    cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list,
    cl_event *event);
typedef clCopyBufferToPeerPeerlane_t *clCopyBufferToPeerPeerlane_fn;

/*
 * clCopyPeerToBufferPeerlane: copies from peer memory to a buffer on the board. Parameters and errors as
 * clCopyBufferToPeerPeerlane(), with the two sides exchanged.
 *
 * A buffer that is mapped for writing is written completely when it is unmapped, over the copied bytes.
 */
typedef cl_int CL_API_CALL clCopyPeerToBufferPeerlane_t(
    cl_peer_memory_peerlane src_memory,
    cl_mem dst_buffer,
    size_t src_offset,
    size_t dst_offset,
    size_t size,
    cl_bool blocking,
    cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list,
    cl_event *event);
typedef clCopyPeerToBufferPeerlane_t *clCopyPeerToBufferPeerlane_fn;

/*
 * clGetBufferAddressPeerlane: finds the place of a buffer in the board's memory.
 *
 * OpenCL does not report it. The call makes the runtime read one byte of the buffer, in a queue of its own, and watches
 * the runtime's access to the board. So it blocks while the board moves a byte, and a buffer without memory gets its
 * memory. The answer is valid as long as the buffer lives and no other device of its context uses it.
 *
 * device      The board; NULL if the process has only one of Peerlane's open.
 * buffer      The buffer.
 * address     Place for the address: of the first byte, for the copies below.
 *
 * Errors: CL_BUFFER_WITHOUT_ADDRESS_PEERLANE: the contents are on the host. That is so with CL_MEM_USE_HOST_PTR; with
 * CL_MEM_COPY_HOST_PTR, or sub-buffers of it, until a kernel has used the buffer, and again from when it is mapped for
 * writing until a kernel has used it; with other buffers while they are mapped for writing. CL_INVALID_MEM_OBJECT: no
 * buffer, or a sub-buffer. CL_INVALID_DEVICE, CL_INVALID_VALUE, CL_INVALID_OPERATION, CL_NO_OPENCL_PEERLANE, and errors
 * of OpenCL itself for the buffer.
 */
typedef cl_int CL_API_CALL clGetBufferAddressPeerlane_t(
    cl_device_id device,
    cl_mem buffer,
    cl_ulong *address);
typedef clGetBufferAddressPeerlane_t *clGetBufferAddressPeerlane_fn;

/*
 * clCopyAddressToPeerPeerlane: copies from an address of the board's memory to peer memory, without any call of
 * OpenCL's: the fastest way, and one for programs whose OpenCL the library cannot find.
 *
 * src_address The result of clGetBufferAddressPeerlane(), or a pointer of clDeviceMemAllocINTEL(), plus an offset.
 *             Bits 63 to 54 are ignored: they are the runtime's.
 * dst_memory, dst_offset, size: as clCopyBufferToPeerPeerlane().
 * pfn_notify  Called once when the copy has ended, with CL_SUCCESS or its error, from a thread of the library's;
 *             not if the call itself returns an error. NULL: the call blocks.
 * user_data   The function's second argument.
 *
 * The memory must be the program's own until the copy has ended: the board only checks that the bytes lie in the memory
 * that the program holds of it.
 *
 * Errors: as clCopyBufferToPeerPeerlane(), except those of buffers, events and OpenCL.
 */
typedef cl_int CL_API_CALL clCopyAddressToPeerPeerlane_t(
    cl_ulong src_address,
    cl_peer_memory_peerlane dst_memory,
    size_t dst_offset,
    size_t size,
    void (CL_CALLBACK *pfn_notify)(cl_int status, void *user_data),
    void *user_data);
typedef clCopyAddressToPeerPeerlane_t *clCopyAddressToPeerPeerlane_fn;

/*
 * clCopyPeerToAddressPeerlane: copies from peer memory to an address of the board's memory. Parameters and errors
 * as clCopyAddressToPeerPeerlane(), with the two sides exchanged.
 */
typedef cl_int CL_API_CALL clCopyPeerToAddressPeerlane_t(
    cl_peer_memory_peerlane src_memory,
    cl_ulong dst_address,
    size_t src_offset,
    size_t size,
    void (CL_CALLBACK *pfn_notify)(cl_int status, void *user_data),
    void *user_data);
typedef clCopyPeerToAddressPeerlane_t *clCopyPeerToAddressPeerlane_fn;

/*
 * clSetOpenCLPeerlane: sets the source of OpenCL's functions for this library. Programs do not need it: it is for a
 * driver around the runtime, such as libpeerlane_icd.so, whose programs have that driver's handles. Without this call
 * the library uses the functions that the process has under their names.
 *
 * pfn_find    Returns OpenCL's function of a name, or NULL. From now on all objects in calls of this extension are
 *             objects of these functions. It must stay callable. NULL: as without this call.
 * Errors: CL_INVALID_OPERATION: a forked child.
 */
typedef cl_int CL_API_CALL clSetOpenCLPeerlane_t(void *(CL_CALLBACK *pfn_find)(const char *name));
typedef clSetOpenCLPeerlane_t *clSetOpenCLPeerlane_fn;

/*
 * clGetErrorTextPeerlane: returns the meaning of an error of this extension's functions, with a hint, in English.
 * Errors of OpenCL that they return, too, such as CL_OUT_OF_RESOURCES, are explained for these functions; from a
 * function of OpenCL the same number may mean something else. For all other errors the text has the name, and refers to
 * OpenCL's specification. The text is never NULL, and must not be freed.
 */
typedef const char *CL_API_CALL clGetErrorTextPeerlane_t(cl_int error);
typedef clGetErrorTextPeerlane_t *clGetErrorTextPeerlane_fn;

/* For programs that load the library themselves and have it give them these symbols. */
#ifdef PEERLANE_EXT_PROTOTYPES
extern clCreatePeerMemoryFromDmaBufPeerlane_t clCreatePeerMemoryFromDmaBufPeerlane;
extern clCreatePeerMemoryFromPointerPeerlane_t clCreatePeerMemoryFromPointerPeerlane;
extern clCreatePeerMemoryFromMemObjectPeerlane_t clCreatePeerMemoryFromMemObjectPeerlane;
extern clReleasePeerMemoryPeerlane_t clReleasePeerMemoryPeerlane;
extern clCopyBufferToPeerPeerlane_t clCopyBufferToPeerPeerlane;
extern clCopyPeerToBufferPeerlane_t clCopyPeerToBufferPeerlane;
extern clGetBufferAddressPeerlane_t clGetBufferAddressPeerlane;
extern clCopyAddressToPeerPeerlane_t clCopyAddressToPeerPeerlane;
extern clCopyPeerToAddressPeerlane_t clCopyPeerToAddressPeerlane;
extern clSetOpenCLPeerlane_t clSetOpenCLPeerlane;
extern clGetErrorTextPeerlane_t clGetErrorTextPeerlane;
#endif

#ifdef __cplusplus
}
#endif

#endif
