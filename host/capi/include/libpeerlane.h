/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from host/capi/src by `cargo xtask regen`. Do not edit. */
/*
 * Moves data between an FPGA board with the Peerlane block and memory of the host or a GPU.
 *
 *     struct pl_device *device;
 *     if (pl_open(NULL, &device) != PL_OK)
 *             fprintf(stderr, "%s. %s\n", pl_error_text(), pl_error_remedy());
 *
 * Results: 0 or more is success, a value below 0 is one of the errors below. After an error nothing has been done,
 * unless the description of the function says otherwise.
 *
 * Handles: the program that makes a handle ends it, once: first transfers, then queues (which ends transfers in
 * progress), then regions. It can close devices in any order: an object that needs a device keeps the device open. NULL
 * is refused where a handle is needed. A handle that was ended, or a value that is not a handle, must not be given: the
 * library does not detect it.
 *
 * Threads: all functions may be called from several threads at a time, also with the same handles, except those
 * that end a handle. None may be called from a signal handler.
 *
 * Processes: a child of a fork must not use handles of its parent; have it open the device itself.
 */

#ifndef LIBPEERLANE_H
#define LIBPEERLANE_H

#include <stddef.h>
#include <stdint.h>

/* A program that ignores such a result may free memory that the board still writes. */
#if defined(__GNUC__) || defined(__clang__)
#define PL_MUST_USE __attribute__((warn_unused_result))
#else
#define PL_MUST_USE
#endif

/**
 * Version of this interface: 1. A program compares it with `PL_VERSION` of its header; functions and error
 * numbers are only added under one version.
 */
#define PL_VERSION 1

/**
 * The call succeeded.
 */
#define PL_OK 0

/**
 * An argument is wrong: a null pointer where none may be, an unknown flag, bytes that do not lie where they should.
 */
#define PL_INVALID -1

/**
 * There is no board, or not the one that was named.
 */
#define PL_NO_DEVICE -2

/**
 * Board, driver and library do not match, or lack a feature that was required.
 */
#define PL_UNSUPPORTED -3

/**
 * The driver refused the call: `pl_error_number` has the reason.
 */
#define PL_REFUSED -4

/**
 * There is no room, or another user has it: memory, channels, entries of the address table, the queue.
 */
#define PL_BUSY -5

/**
 * The operation has not ended in time, and goes on: memory may still change.
 */
#define PL_TIMEOUT -6

/**
 * The board ended the transfer with a fault, or bytes at its ends could not be copied; some bytes may have been moved.
 */
#define PL_FAULT -7

/**
 * The board was restarted in the meantime; the transfer is lost, all else goes on.
 */
#define PL_RESTARTED -8

/**
 * The program has ended the transfer early (`pl_transfer_stop`, `pl_queue_restart`), or the channel was stopped.
 */
#define PL_STOPPED -9

/**
 * The board does not answer any more, and moves no bytes.
 */
#define PL_GONE -10

/**
 * Board and library do not agree any more, and memory may still change: `pl_queue_restart`, or close the device and
 * open it again.
 */
#define PL_BROKEN -11

/**
 * An internal error of this library.
 */
#define PL_INTERNAL -12

/**
 * The memory can never fit the board's address table in one region: copy it (`pl_copy_to_fpga`), or register less at a
 * time.
 */
#define PL_TOO_LARGE -13

/**
 * The board reads the memory: transfers to the FPGA.
 */
#define PL_READ 1

/**
 * The board writes the memory: transfers from the FPGA. Together with PL_READ, the board reads back after the data, so
 * the end of a transfer proves that they have arrived. With PL_WRITE alone it only means that they were sent. That is
 * for a GPU's memory in a computer that passes no reads between devices: there such a read may end the transfer with
 * PL_FAULT, and if another device answers it, it proves nothing.
 */
#define PL_WRITE 2

/**
 * Bytes that `pl_region_probe` reads.
 */
#define PL_PROBE_BYTES 64

/**
 * From FPGA memory to the region.
 */
#define PL_FROM_FPGA 0

/**
 * From the region to FPGA memory. In some computers, reads of a GPU's memory return ones, without an error:
 * `pl_region_probe`.
 */
#define PL_TO_FPGA 1

/**
 * Start when all transfers from the FPGA that were submitted before have ended.
 */
#define PL_AFTER_FROM_FPGA 1

/**
 * Start when all transfers to the FPGA that were submitted before have ended. A transfer from the FPGA then finds
 * their data in FPGA memory, if the board's BSP has no interconnect stage between Peerlane's block and that memory.
 * This is Peerlane's default. `peerlane check` of the BSP reports a BSP where it does not hold; there the program has
 * to wait.
 */
#define PL_AFTER_TO_FPGA 2

/**
 * Its interrupt is not delayed.
 */
#define PL_URGENT 4

/**
 * The end of a transfer from the FPGA means that its data were sent, not that they have arrived.
 */
#define PL_NO_FLUSH 8

/**
 * A board, opened: a context with a channel of its own. `pl_open` makes it, `pl_close` ends it.
 */
struct pl_device;

/**
 * The queue of a device's channel. `pl_queue_open` makes it, `pl_queue_close` ends it.
 */
struct pl_queue;

/**
 * Memory that the board reaches. `pl_register` and its like make it, `pl_unregister` ends it.
 */
struct pl_region;

/**
 * A transfer. `pl_submit` or `pl_list_submit` makes it, `pl_transfer_free` ends the handle.
 */
struct pl_transfer;

/**
 * Function that copies a few bytes to `offset` of a region and on, for `pl_region_set_copy`. It returns 0 when they
 * have arrived, or a number for the error's text.
 */
typedef int (*pl_copy)(void *user, uint64_t offset, const void *bytes, uint64_t length);

/**
 * A request: a transfer to make, or a piece of a list.
 */
struct pl_request {
        /**
         * `sizeof(struct pl_request)`. A later version of the library knows by it which members the program has.
         */
        uint64_t size;
        /**
         * PL_FROM_FPGA or PL_TO_FPGA.
         */
        uint32_t direction;
        /**
         * PL_AFTER_FROM_FPGA, PL_AFTER_TO_FPGA, PL_URGENT, PL_NO_FLUSH, or 0. In a piece of a list 0: the list has them.
         */
        uint32_t flags;
        /**
         * The region.
         */
        const struct pl_region *region;
        /**
         * First byte in the region.
         */
        uint64_t offset;
        /**
         * First byte in FPGA memory.
         */
        uint64_t fpga_address;
        /**
         * Bytes, at least 1.
         */
        uint64_t length;
};

/**
 * Counters of a queue.
 */
struct pl_statistics {
        /**
         * `sizeof(struct pl_statistics)`, set by the program before the call, as in `struct pl_request`.
         */
        uint64_t size;
        /**
         * Transfers that have not ended; each piece of a list counts.
         */
        uint64_t under_way;
        /**
         * Descriptors that were given to the board.
         */
        uint64_t descriptors;
        /**
         * Stores to the channel's page.
         */
        uint64_t stores;
        /**
         * Records taken from the ring.
         */
        uint64_t records;
        /**
         * Calls of the driver that were made to wait.
         */
        uint64_t system_calls;
        /**
         * Records that a wait found by itself, after a second, where the board should have raised an interrupt. If this is
         * not 0, interrupts are lost, and waits take a second.
         */
        uint64_t late_records;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the library's version of this interface. Thread-safe; cannot fail.
 */
uint32_t pl_version(void);

/**
 * Returns the name of a code that this library returns: "PL_BUSY" for PL_BUSY. Numbers from 0 on are not errors, and
 * give "PL_OK". Thread-safe; never null.
 */
const char *pl_code_name(int32_t code);

/**
 * Returns the text of the last error that a call of this thread returned, as one sentence without a line end. It stays
 * valid until the thread's next error. Thread-safe; never null.
 */
const char *pl_error_text(void);

/**
 * Returns a hint how to fix the last error, in a sentence or two. As `pl_error_text`.
 */
const char *pl_error_remedy(void);

/**
 * Returns the number of errno.h that the driver returned for the last error, or 0. As `pl_error_text`.
 */
int32_t pl_error_number(void);

/**
 * Returns the index of the piece of a list that the last error is about, from 0. -1: it was not a list, or the error
 * is not about one piece. As `pl_error_text`.
 */
int64_t pl_error_piece(void);

/**
 * Opens a board.
 *
 * path: its device node, for example `/dev/peerlane0`; or "simulated": the simulated board of this process, if the
 * library has it (docs/start/simulated.md); or null: the path in the environment variable PEERLANE_DEVICE, else the
 * first board that is free.
 * device: the place for the handle; null after an error. The caller ends it by `pl_close`.
 *
 * Returns PL_OK, PL_NO_DEVICE, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_INVALID. Thread-safe.
 *
 * # Safety
 * `path` is null or a string; `device` is a place for a pointer.
 */
int pl_open(const char *path,
            struct pl_device **device);

/**
 * Ends a device's handle; null has no effect. The board is closed when all its regions, queues and transfers are
 * ended, too: their order does not matter.
 *
 * # Safety
 * The handle was not ended, and no other thread uses it.
 */
void pl_close(struct pl_device *device);

/**
 * Returns the device's file, for poll(): it can be read (POLLIN) while the board has reported an event that was not
 * acknowledged. `pl_queue_turn` acknowledges it; a program that calls only `pl_transfer_poll` finds the file readable
 * for up to a second more. Transfers may end without an interrupt, so the wait needs a time limit:
 *
 * 1. `pl_queue_next_turn(queue, &nanoseconds)` gives the longest time to wait;
 * 2. `ppoll()` waits so long for the file;
 * 3. `pl_queue_turn(queue)` acknowledges, and gives the board the transfers that wait for a place in its queue;
 * 4. `pl_transfer_poll(transfer, &bytes)` returns whether the transfer has ended.
 *
 * Returns the file, 0 or more, which stays the library's; PL_UNSUPPORTED: a board in the process has none; PL_INVALID.
 * Thread-safe.
 *
 * # Safety
 * The handle was not ended.
 */
int pl_file(const struct pl_device *device);

/**
 * Allocates FPGA memory, all zero: one piece a device, before its queue is made. It belongs to the device until that
 * is closed.
 *
 * bytes: its size, rounded up to whole 64 KiB. The call waits while the board fills it with zeros.
 * address: the place for its first address in FPGA memory.
 *
 * Returns PL_OK, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `address` is a place for a number.
 */
int pl_allocate(const struct pl_device *device,
                uint64_t bytes,
                uint64_t *address);

/**
 * Registers memory of this process.
 *
 * address, bytes: the memory. It must stay mapped, and no other code may free it, until `pl_unregister` has returned
 * and no transfer with it is under way: the library copies the first and last bytes of some transfers itself
 * (`pl_submit`).
 * access: PL_READ, PL_WRITE, or both.
 * region: the place for the handle; null after an error. The caller ends it by `pl_unregister`.
 *
 * Returns PL_OK, PL_BUSY (no room in the board's table, or a limit), PL_TOO_LARGE, PL_UNSUPPORTED, PL_REFUSED,
 * PL_GONE, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, the memory is the program's as described, `region` is a place for a pointer.
 */
int pl_register(const struct pl_device *device,
                void *address,
                uint64_t bytes,
                uint32_t access,
                struct pl_region **region);

/**
 * Registers a part of a dma-buf: memory of a GPU or of another device, exported by its driver.
 *
 * Transfers to the FPGA read the memory, and not every computer passes such reads: see `pl_region_probe`.
 *
 * file: the dma-buf. It stays the caller's, and may be closed when the call has returned.
 * offset, bytes: the part; no alignment is needed.
 * access, region: as in `pl_register`.
 *
 * Returns as `pl_register`. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `region` is a place for a pointer.
 */
int pl_register_dmabuf(const struct pl_device *device,
                       int file,
                       uint64_t offset,
                       uint64_t bytes,
                       uint32_t access,
                       struct pl_region **region);

/**
 * Registers memory of an NVIDIA GPU by its device pointer, through NVIDIA's interface for peers. Where the GPU's
 * driver exports dma-bufs, `pl_register_dmabuf` is the better way: examples/01-hello/cuda.c. Its remark on reads
 * applies here, too.
 *
 * address, bytes: the memory, as CUDA names it; no alignment is needed. The driver pins the pages of 64 KiB around it,
 * and the board reaches the bytes that were asked for.
 * identity: its CU_POINTER_ATTRIBUTE_BUFFER_ID. A region that was ended may stay cached, and is found again by
 * address, length and this number: addresses are used again for other memory, these numbers are not. 0: not known;
 * then only NVIDIA's driver reports to the board's driver that memory was freed.
 * access, region: as in `pl_register`.
 *
 * Returns as `pl_register`. Thread-safe.
 *
 * # Safety
 * The handle was not ended, the memory is the program's as in `pl_register`, and `region` is a place for a pointer.
 */
int pl_register_nvidia(const struct pl_device *device,
                       uint64_t address,
                       uint64_t bytes,
                       uint64_t identity,
                       uint32_t access,
                       struct pl_region **region);

/**
 * Has the board read PL_PROBE_BYTES bytes of a region, and returns the bytes that it read. This shows whether
 * transfers to the FPGA work. Not every computer passes reads from one PCIe device to another. Some send them
 * elsewhere without any error: neither the board nor this library can distinguish such bytes from data. So fill the
 * memory with a pattern, probe, and compare. If the bytes differ, move data to the FPGA through host memory: copy them
 * there by the GPU's own driver first. Host memory does not have this problem. Transfers from the FPGA write, but they
 * also read back if the region is PL_READ | PL_WRITE: where such reads fail (PL_FAULT), register memory as PL_WRITE
 * alone.
 *
 * The device must not have a queue yet, and cannot get one afterwards (`pl_queue_open` then returns PL_BUSY). So open
 * another device for the probe by `pl_open`, register the memory there, and close it.
 *
 * region: memory that the board may read.
 * offset: first byte in the region.
 * fpga_address: the place of the bytes in FPGA memory that the device has allocated; they overwrite its content.
 * data: the place for the bytes that the board has read: room for PL_PROBE_BYTES.
 *
 * Returns PL_OK: the board has read bytes, compare them; PL_FAULT: it could not read; PL_BUSY: there is a queue;
 * PL_UNSUPPORTED: the driver has no probes; PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `data` is a place for PL_PROBE_BYTES bytes.
 */
int pl_region_probe(const struct pl_region *region,
                    uint64_t offset,
                    uint64_t fpga_address,
                    uint8_t *data);

/**
 * Sets the function that writes a few bytes of a GPU's memory where the board cannot. Boards with Altera's Avalon-MM
 * bridge write whole dwords only: `pl_submit` refuses a transfer from the FPGA to memory of `pl_register_dmabuf` or
 * `pl_register_nvidia` that begins or ends inside of a dword (PL_INVALID), unless this was called before. Host memory
 * does not need it.
 *
 * copy: the function; with CUDA it calls `cuMemcpyHtoDAsync` with a stream made by CU_STREAM_NON_BLOCKING, and waits
 * for that copy. It copies 1 to 3 bytes, at each end of such a transfer, before the transfer counts as ended. Any
 * thread that submits, waits or polls calls it, and no other write of the queue ends in the meantime. So it must not
 * call functions of this library, must not wait for anything that may wait for a transfer, and must not end by
 * `longjmp` or an exception. The first call for a region counts.
 * user: its first argument. Both are used until the region's handle was ended and no transfer with it is under way.
 *
 * Returns PL_OK or PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and the function can be called as described.
 */
int pl_region_set_copy(const struct pl_region *region,
                       pl_copy copy,
                       void *user);

/**
 * Ends a region's handle; null has no effect. While a transfer with the region is under way it does not end the
 * handle: the board may still write the memory. So free the memory only if this has returned PL_OK.
 *
 * Returns PL_OK: no transfer moves the memory any more, and the handle has ended. PL_BUSY: a transfer is under way.
 * Wait for it, or end it by `pl_transfer_stop`, `pl_queue_restart` or `pl_queue_close`, and call this again.
 *
 * # Safety
 * The handle was not ended, and no other thread uses it.
 */
PL_MUST_USE
int pl_unregister(struct pl_region *region);

/**
 * Makes the device's queue. A device has one queue in its life.
 *
 * queue: the place for the handle; null after an error. The caller ends it by `pl_queue_close`.
 *
 * Returns PL_OK, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `queue` is a place for a pointer.
 */
int pl_queue_open(const struct pl_device *device, struct pl_queue **queue);

/**
 * Ends transfers under way as `pl_queue_restart` does, and then the queue's handle; null has no effect.
 *
 * Returns PL_OK, or PL_GONE: no transfer of the queue moves bytes any more, and the handle has ended. PL_TIMEOUT,
 * PL_BROKEN, PL_REFUSED: as `pl_queue_restart`. Memory may still change, and the handle stays: call this again, and
 * free no memory of a transfer before the transfer has ended.
 *
 * # Safety
 * The handle was not ended, and no other thread uses it.
 */
PL_MUST_USE
int pl_queue_close(struct pl_queue *queue);

/**
 * Begins a transfer. It never waits for room on the board.
 *
 * A board with Altera's Avalon-MM bridge writes whole dwords only. If a transfer from the FPGA begins or ends inside
 * of a dword of its region, the library copies the 1 to 3 bytes at that end before the transfer has ended. Each end
 * costs a descriptor and a copy. Later transfers from the FPGA, and those to the FPGA that are chained, begin when
 * this one has ended. The library notices that end while a program waits for a transfer of the queue, polls one, or
 * calls `pl_queue_turn`. For a GPU's memory this needs `pl_region_set_copy`.
 *
 * request: the transfer to make; it is read within the call.
 * transfer: the place for the handle; null after an error. The caller ends it by `pl_transfer_free`.
 *
 * Returns PL_OK, PL_INVALID, PL_BUSY (no room for the memory that ends need), PL_REFUSED (the board may only write the
 * region, because its device has not answered reads; or this is the child of a fork, and the queue is its parent's),
 * PL_GONE, PL_BROKEN: no bytes are moved after an error. Thread-safe.
 *
 * # Safety
 * The handles were not ended, `request` is one, `transfer` is a place for a pointer.
 */
int pl_submit(const struct pl_queue *queue,
              const struct pl_request *request,
              struct pl_transfer **transfer);

/**
 * Begins a list: pieces of memory that are moved as one transfer, which ends when all of them have ended. The pieces
 * of one direction are moved one after the other, concurrently with those of the other direction. It never waits for
 * room on the board, and a list can have any length. The board raises an interrupt at the end of a list, and not for
 * each piece.
 *
 * pieces: the first of them; they are read within the call. Each has its `size`, and `flags` 0.
 * count: their number, at least 1.
 * flags: those of `struct pl_request`, for the list: the first piece of each direction starts when they allow it, and
 * PL_URGENT applies to the last piece.
 * transfer: the place for the handle; null after an error. It is used as any other, and its bytes are those of all
 * pieces. The caller ends it by `pl_transfer_free`. If pieces fail, the others are moved all the same. The error is
 * that of the first piece that has failed, and comes when all have ended. `pl_error_piece` returns the index of that
 * piece.
 *
 * Returns as `pl_submit`. `pl_error_piece` returns the index of the piece that was refused. No bytes are moved after
 * an error, except after PL_GONE and PL_BROKEN: the board has failed in the meantime, and memory may still change
 * (`pl_queue_restart`). Thread-safe.
 *
 * # Safety
 * The handles were not ended, `pieces` are `count` requests, `transfer` is a place for a pointer.
 */
int pl_list_submit(const struct pl_queue *queue,
                   const struct pl_request *pieces,
                   uint64_t count,
                   uint32_t flags,
                   struct pl_transfer **transfer);

/**
 * Copies memory of the program, of any size, to FPGA memory. The memory need not be registered: the library registers
 * a part of it, has the board move that part, and registers the next part at the same time. Only host memory can be
 * copied so. Memory that is moved often is better registered.
 *
 * fpga_address: first byte in FPGA memory.
 * memory: first byte.
 * length: bytes, at least 1.
 * nanoseconds: the longest time; below 0: no limit.
 *
 * Returns PL_OK: all of it is there; PL_TIMEOUT: it was stopped; PL_FAULT, PL_RESTARTED, PL_STOPPED; PL_BUSY: no room
 * in the board's table; PL_TOO_LARGE: the context cannot hold 16 entries of that table; PL_GONE, PL_BROKEN,
 * PL_REFUSED, PL_INVALID. After an error some of the bytes may have been moved, and the board does not reach the
 * memory any more. At the time limit, the descriptors of the copy that the board has, and those of other transfers
 * before it, have a second to end. If they have not ended by then, the queue is restarted, and its other transfers end
 * with PL_STOPPED. Thread-safe.
 *
 * # Safety
 * The handle was not ended. The bytes are mapped, and no other thread writes them before this returns.
 */
int pl_copy_to_fpga(const struct pl_queue *queue,
                    uint64_t fpga_address,
                    const void *memory,
                    uint64_t length,
                    int64_t nanoseconds);

/**
 * Copies FPGA memory to memory of the program, of any size, as `pl_copy_to_fpga` does in the other direction.
 *
 * # Safety
 * The handle was not ended. The bytes are mapped, and no other thread reads or writes them before this returns.
 */
int pl_copy_from_fpga(const struct pl_queue *queue,
                      uint64_t fpga_address,
                      void *memory,
                      uint64_t length,
                      int64_t nanoseconds);

/**
 * Polls whether a transfer has ended, without waiting.
 *
 * bytes: the place for the number of bytes that were moved, if it has ended well; or null.
 *
 * Returns 1 if it has ended well, 0 if it is under way, and below 0 as `pl_transfer_wait`. Thread-safe.
 *
 * # Safety
 * The handle was not ended; `bytes` is null or a place for a number.
 */
int pl_transfer_poll(const struct pl_transfer *transfer,
                     uint64_t *bytes);

/**
 * Waits for a transfer to end. It may be called again, after a timeout and after the end.
 *
 * nanoseconds: the longest time; below 0: no limit.
 * bytes: the place for the number of bytes that were moved, if it has ended well; or null.
 *
 * Returns PL_OK; PL_TIMEOUT: it is still under way; PL_FAULT, PL_RESTARTED, PL_STOPPED: it has ended, and the queue
 * remains usable; PL_GONE, PL_BROKEN: see `pl_queue_restart`; PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended; `bytes` is null or a place for a number.
 */
int pl_transfer_wait(const struct pl_transfer *transfer,
                     int64_t nanoseconds,
                     uint64_t *bytes);

/**
 * Calls a transfer off, and returns when it is not under way any more: no byte of its memory changes after that. (For
 * GPU memory that the board may not read there is no proof of it, only time.) The part of it that the board has, up to
 * a descriptor, may end by itself first. If it does not end in time, the queue is restarted, and its other transfers
 * fail with PL_STOPPED, too.
 *
 * nanoseconds: the time it has to end by itself, 0 or more.
 * bytes: the place for the number of bytes that were moved, if it has ended well all the same; or null.
 *
 * Returns PL_STOPPED: it was called off before it had moved all bytes; PL_OK, PL_FAULT, PL_RESTARTED: it had ended
 * before, or ended in the meantime. In all of these cases the queue remains usable. PL_TIMEOUT, PL_BROKEN, PL_GONE,
 * PL_REFUSED: as `pl_queue_restart`. After PL_TIMEOUT and PL_BROKEN the transfer may be under way, or its data on
 * their way: do not free its memory. PL_INVALID: the call had no effect. Thread-safe.
 *
 * # Safety
 * The handle was not ended; `bytes` is null or a place for a number.
 */
int pl_transfer_stop(const struct pl_transfer *transfer,
                     int64_t nanoseconds,
                     uint64_t *bytes);

/**
 * Ends a transfer's handle; null has no effect. The transfer itself goes on, and its end is not reported.
 *
 * # Safety
 * The handle was not ended, and no other thread uses it.
 */
void pl_transfer_free(struct pl_transfer *transfer);

/**
 * Waits until all transfers that were submitted before have ended, well or not.
 *
 * nanoseconds: the longest time; below 0: no limit.
 *
 * Returns PL_OK, PL_TIMEOUT, PL_GONE, PL_BROKEN, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended.
 */
int pl_queue_drain(const struct pl_queue *queue, int64_t nanoseconds);

/**
 * Returns the counters of the queue; zeros in the child of a fork.
 *
 * statistics: the place for them; the program has set its `size`.
 *
 * Returns PL_OK, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `statistics` is a place for them.
 */
int pl_queue_statistics(const struct pl_queue *queue, struct pl_statistics *statistics);

/**
 * Ends all transfers under way, and leaves an empty queue that remains usable. Transfers that had not ended fail.
 *
 * Returns PL_OK: no DMA of this queue runs any more; PL_GONE: none runs, and none will; PL_TIMEOUT: the board was not
 * restarted in ten seconds, call this again; PL_BROKEN: close the device and open it again. After PL_TIMEOUT and
 * PL_BROKEN transfers may be under way: do not free their memory. PL_REFUSED: this is the child of a fork, and the
 * queue is its parent's; PL_INVALID: the call had no effect. Thread-safe.
 *
 * # Safety
 * The handle was not ended.
 */
int pl_queue_restart(const struct pl_queue *queue);

/**
 * Processes the board's reports, and acknowledges them, so that `pl_file` cannot be read until the next report. It
 * does not wait. It is for a program that waits by poll(): see `pl_file`.
 *
 * Returns PL_OK, PL_GONE, PL_BROKEN, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended.
 */
int pl_queue_turn(const struct pl_queue *queue);

/**
 * Returns the longest time that poll() may wait before `pl_queue_turn` is called all the same: a second, and a tenth
 * of a millisecond while no transfer under way will raise an interrupt. It changes when transfers are submitted and
 * end, so call this before each poll().
 *
 * nanoseconds: the place for the time.
 *
 * Returns PL_OK, PL_INVALID. Thread-safe.
 *
 * # Safety
 * The handle was not ended, and `nanoseconds` is a place for a number.
 */
int pl_queue_next_turn(const struct pl_queue *queue,
                       uint64_t *nanoseconds);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIBPEERLANE_H */
