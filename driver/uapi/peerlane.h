/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT OR Apache-2.0 */
/* Generated from driver/core/src/uapi.rs and the register map by `cargo xtask regen`. Do not edit. */
/*
 * The interface between the kernel driver and its users: the ioctls of /dev/peerlane* and the
 * layout of its mappings.
 *
 * The rules follow Documentation/process/botching-up-ioctls of the kernel. Structures have the
 * same layout for 32 and 64 bits, and no hidden padding. They only grow at the end. A caller
 * may pass a shorter or a longer structure than the driver knows: missing members count as
 * zero, and members that the driver does not know must be zero. Reserved fields must be zero.
 *
 * An addition gets a bit of PEERLANE_FEATURE_*, and does not need another version. The version
 * is raised when something that existed changes its meaning or is removed. A driver reports
 * which versions it speaks, PEERLANE_OLDEST to PEERLANE_VERSION; a caller names the version
 * that it was written for.
 *
 * Times are moments of CLOCK_MONOTONIC, as the caller's time namespace shows it. So a call
 * that a signal interrupts is repeated with the same arguments.
 *
 * A call that needs the board, and open, give EAGAIN while the board is being reset, sleeps or
 * is started. They give ENODEV once the board is gone: it does not answer, cannot be started
 * again, or was released by the driver. A board that is gone may come back by a reset of the
 * function; then the context's generation is raised, as after every start. While the driver is
 * being unbound, a call reports the end of the board, and close returns, when the board
 * reaches no memory any more; poll, open and mmap may report the end earlier.
 */
#ifndef _UAPI_PEERLANE_H
#define _UAPI_PEERLANE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Version of this interface. */
#define PEERLANE_VERSION 1

/* The oldest version whose callers are understood. */
#define PEERLANE_OLDEST 1

/* A moment that does not come: the call waits without a limit. */
#define PEERLANE_NEVER 0x7fffffffffffffffLL

/* The type byte of the ioctls, in _IOC's sense. */
#define PEERLANE_IOC_TYPE 0xe7

/* Reads the properties of the board and the context: struct peerlane_info. */
#define PEERLANE_IOC_INFO _IOWR(PEERLANE_IOC_TYPE, 0, struct peerlane_info)

/* Makes memory reachable for the board: struct peerlane_register. */
#define PEERLANE_IOC_REGISTER _IOWR(PEERLANE_IOC_TYPE, 1, struct peerlane_register)

/* Unregisters a region: struct peerlane_unregister. */
#define PEERLANE_IOC_UNREGISTER _IOW(PEERLANE_IOC_TYPE, 2, struct peerlane_unregister)

/* Hands one descriptor to the board: struct peerlane_submit. */
#define PEERLANE_IOC_SUBMIT _IOWR(PEERLANE_IOC_TYPE, 3, struct peerlane_submit)

/* Waits for a descriptor that PEERLANE_IOC_SUBMIT submitted: struct peerlane_wait. */
#define PEERLANE_IOC_WAIT _IOWR(PEERLANE_IOC_TYPE, 4, struct peerlane_wait)

/* Reads the state of the context: struct peerlane_query. */
#define PEERLANE_IOC_QUERY _IOWR(PEERLANE_IOC_TYPE, 5, struct peerlane_query)

/* Sets the eventfd for the context's events: struct peerlane_eventfd. */
#define PEERLANE_IOC_EVENTFD _IOW(PEERLANE_IOC_TYPE, 6, struct peerlane_eventfd)

/* Ends the channel's descriptors: struct peerlane_stop. */
#define PEERLANE_IOC_STOP _IOWR(PEERLANE_IOC_TYPE, 7, struct peerlane_stop)

/* Tests whether the board can read memory: struct peerlane_probe. */
#define PEERLANE_IOC_PROBE _IOWR(PEERLANE_IOC_TYPE, 8, struct peerlane_probe)

/* Sets how interrupts are moderated: struct peerlane_moderate. */
#define PEERLANE_IOC_MODERATE _IOW(PEERLANE_IOC_TYPE, 9, struct peerlane_moderate)

/* Gives the context FPGA memory: struct peerlane_allocate. */
#define PEERLANE_IOC_ALLOCATE _IOWR(PEERLANE_IOC_TYPE, 10, struct peerlane_allocate)

/*
 * Acquires, moves or releases the board's window for the processor's stores and loads: struct
 * peerlane_window.
 */
#define PEERLANE_IOC_WINDOW _IOW(PEERLANE_IOC_TYPE, 11, struct peerlane_window)

/* Frees the context's FPGA memory: struct peerlane_free. */
#define PEERLANE_IOC_FREE _IOWR(PEERLANE_IOC_TYPE, 12, struct peerlane_free)

/* Acquires or releases the board's OpenCL side: struct peerlane_opencl. */
#define PEERLANE_IOC_OPENCL _IOWR(PEERLANE_IOC_TYPE, 13, struct peerlane_opencl)

/* Reads or writes registers of the OpenCL side: struct peerlane_access. */
#define PEERLANE_IOC_ACCESS _IOW(PEERLANE_IOC_TYPE, 14, struct peerlane_access)

/* Lets the kernels in the FPGA interrupt once: struct peerlane_arm. */
#define PEERLANE_IOC_ARM _IOW(PEERLANE_IOC_TYPE, 15, struct peerlane_arm)

/*
 * Stops the board, so that its FPGA can be configured again, or starts it again: struct
 * peerlane_reprogram.
 */
#define PEERLANE_IOC_REPROGRAM _IOW(PEERLANE_IOC_TYPE, 16, struct peerlane_reprogram)

/*
 * Configures the FPGA over PCIe, between the begin and the end of PEERLANE_IOC_REPROGRAM:
 * struct peerlane_configure.
 */
#define PEERLANE_IOC_CONFIGURE _IOW(PEERLANE_IOC_TYPE, 17, struct peerlane_configure)

/* Makes sure that the board's writes to a region have arrived: struct peerlane_flush. */
#define PEERLANE_IOC_FLUSH _IOW(PEERLANE_IOC_TYPE, 18, struct peerlane_flush)

/* Opens, closes or inspects a stream of the FPGA's logic: struct peerlane_stream. */
#define PEERLANE_IOC_STREAM _IOWR(PEERLANE_IOC_TYPE, 19, struct peerlane_stream)

/*
 * Offsets for mmap. Each mapping is of the context's own channel. The offsets need an off_t of
 * 64 bits: where it has 32, a C program defines _FILE_OFFSET_BITS as 64. Otherwise all offsets
 * are that of the channel page.
 */
/*
 * The channel page: descriptors and doorbells. Shared, read and write. Once it was mapped,
 * PEERLANE_IOC_SUBMIT, PEERLANE_IOC_WAIT and PEERLANE_IOC_PROBE are refused with EBUSY, also
 * after it was unmapped: the queue has one writer. Once SUBMIT or PROBE has submitted a
 * descriptor, or while PEERLANE_IOC_ALLOCATE is in progress, the mapping is refused with
 * EBUSY. The page takes no doorbell until PEERLANE_IOC_QUERY was called.
 */
#define PEERLANE_MAP_PAGE 0ULL
/* The completion ring. Shared, read only. See PEERLANE_RING_EMPTY. */
#define PEERLANE_MAP_RING (1ULL << 32)
/*
 * The window into FPGA memory, where the board has one. Shared; only while the context holds
 * it (PEERLANE_IOC_WINDOW), else EPERM. A mapping stays when the window is released. It then
 * shows zeros, or bytes that were stored there since. It reaches FPGA memory again when this
 * context holds the window again. A child gets no copy.
 *
 * The mapping is uncached. A store is sent to the board before a later store to the channel
 * page is sent, but the two go through different bridges of the board. So before a doorbell
 * for bytes that were stored here, load something from here.
 */
#define PEERLANE_MAP_WINDOW (2ULL << 32)
/*
 * The interface to the kernels in the FPGA, where it has pages of its own
 * (peerlane_opencl.map_bytes). Shared; only while the context holds the board's OpenCL side,
 * else EPERM. Its first 4096 bytes, the control registers, are not mapped (EINVAL):
 * PEERLANE_IOC_ACCESS reaches them. The mapping is uncached. It stays when the OpenCL side is
 * released, and while the board is reset. It then shows zeros, or bytes that were stored there
 * since.
 */
#define PEERLANE_MAP_KERNELS (3ULL << 32)

/*
 * The status code of a slot of the completion ring that holds no record; no board writes it.
 * The driver gives the status of all slots this code and phase 0 whenever the channel is
 * started at its first slot, and when the driver releases the board. The sequence number of a
 * slot becomes the complement of the slot's index, which no record of the first lap has there;
 * the other bytes stay as they were. A process that then expects phase 1 sees no record. A
 * process that expects phase 0 sees this code: the descriptors that it submitted are lost, and
 * PEERLANE_IOC_QUERY says how to go on. So a reader that finds a new phase looks at the code
 * first.
 */
#define PEERLANE_RING_EMPTY 255

/*
 * Argument of PEERLANE_IOC_INFO. The driver only writes all members but version and required.
 * The first four members have their place and meaning in all versions.
 */
struct peerlane_info {
	/*
	 * In: the PEERLANE_VERSION that the caller was written for; EPROTO if the driver does not
	 * speak it. 0 asks for the versions, and is always answered. Out: the driver's newest
	 * version.
	 */
	__u32 version;
	/* Out: the oldest version that the driver speaks. */
	__u32 oldest;
	/* Out: features of driver and board: bits of PEERLANE_FEATURE_*. */
	__u64 features;
	/*
	 * In: features that the caller needs; EOPNOTSUPP if one is missing, known to the driver or
	 * not. A call that needs none succeeds, and features says which are missing.
	 */
	__u64 required;
	/* Hash of the register map. */
	__u32 map_id;
	/* Hash of the map and the parameters of the build. */
	__u32 build_id;
	/* CAPS0 to CAPS2 of the register map. */
	__u32 caps[3];
	/* The context's channel. */
	__u32 channel;
	/* log2 of the records in the completion ring. */
	__u32 ring_log2;
	/*
	 * Number of restarts of the channel. A process that writes descriptors takes it from
	 * peerlane_query.generation instead, after page and ring are mapped: it may have changed
	 * by then.
	 */
	__u32 generation;
	/* FPGA memory that the context has (PEERLANE_IOC_ALLOCATE), first byte. */
	__u64 local_base;
	/* End of this memory, exclusive; equal to local_base if the context has none. */
	__u64 local_end;
	/* Bytes to map at PEERLANE_MAP_PAGE. */
	__u64 page_bytes;
	/* Bytes to map at PEERLANE_MAP_RING. */
	__u64 ring_bytes;
	/* Bytes to map at PEERLANE_MAP_WINDOW; 0: the board has no window. */
	__u64 window_bytes;
	/* As peerlane_query.resets; to ask here acknowledges nothing. */
	__u64 resets;
	/*
	 * The largest number of ATT entries that the context can ever hold. 0: the driver does not
	 * report it.
	 */
	__u64 most_entries;
	/* In: zero. Out: CAPS3 of the register map: the numbers of streams. */
	__u32 caps3;
	/* Zero. */
	__u32 reserved0;
	/* Zero. */
	__u64 reserved;
};

/*
 * Features that not every driver or board has: bits of peerlane_info.features and
 * peerlane_info.required.
 */
/* Regions of the process's own memory. */
#define PEERLANE_FEATURE_HOST (1ULL << 0)
/* Regions of dma-bufs. */
#define PEERLANE_FEATURE_DMABUF (1ULL << 1)
/*
 * Regions of an NVIDIA GPU's memory, by address. This feature comes and goes with NVIDIA's
 * driver.
 */
#define PEERLANE_FEATURE_NVIDIA (1ULL << 2)
/* The driver writes descriptors: PEERLANE_IOC_SUBMIT and PEERLANE_IOC_WAIT. */
#define PEERLANE_FEATURE_SUBMIT (1ULL << 8)
/* The process writes descriptors: PEERLANE_MAP_PAGE and PEERLANE_MAP_RING. */
#define PEERLANE_FEATURE_PAGE (1ULL << 9)
/* PEERLANE_IOC_PROBE. */
#define PEERLANE_FEATURE_PROBE (1ULL << 10)
/* Contexts own FPGA memory: PEERLANE_IOC_ALLOCATE and PEERLANE_IOC_FREE. */
#define PEERLANE_FEATURE_ALLOCATE (1ULL << 11)
/* The driver counts the times that more than the block was reset: peerlane_query.resets. */
#define PEERLANE_FEATURE_RESETS (1ULL << 12)
/* PEERLANE_IOC_FLUSH. */
#define PEERLANE_FEATURE_FLUSH (1ULL << 13)
/* PEERLANE_QUERY_PEEK. */
#define PEERLANE_FEATURE_PEEK (1ULL << 14)
/* PEERLANE_REGISTER_MIXED. */
#define PEERLANE_FEATURE_MIXED (1ULL << 15)
/* The board has a window into its memory: PEERLANE_IOC_WINDOW. */
#define PEERLANE_FEATURE_WINDOW (1ULL << 16)
/* Each channel has an interrupt of its own. */
#define PEERLANE_FEATURE_MSIX (1ULL << 17)
/*
 * The board reports in its status code how a read failed, and other reads go on. Without this,
 * a read that is refused is never answered (READ_TIMEOUT). Other reads then end with PORT_DOWN
 * until the driver has reset the board by its link. Data that their sender marked as damaged
 * (poisoned) are taken as good data.
 */
#define PEERLANE_FEATURE_TAGGED_READS (1ULL << 18)
/* The driver reaches the board's OpenCL side: PEERLANE_IOC_OPENCL. */
#define PEERLANE_FEATURE_OPENCL (1ULL << 19)
/* The FPGA's present configuration lets it be configured over PCIe: PEERLANE_IOC_CONFIGURE. */
#define PEERLANE_FEATURE_CVP (1ULL << 20)
/*
 * One read that a peer does not answer ends all reads of the board until its link is reset. So
 * memory of another device is registered for reading only if the board was seen to read from
 * that device: PEERLANE_IOC_REGISTER makes that proof, and gives EXDEV without it. Boards
 * without PEERLANE_FEATURE_TAGGED_READS have this, unless the administrator trusts all peers
 * (peer_reads=2).
 */
#define PEERLANE_FEATURE_PROVED_PEERS (1ULL << 21)
/* The board has streams of the FPGA's logic: PEERLANE_IOC_STREAM. */
#define PEERLANE_FEATURE_STREAMS (1ULL << 22)

/* Kinds of memory that a region can consist of: peerlane_register.provider. */
/* Memory of the calling process, by address. */
#define PEERLANE_PROVIDER_HOST 0
/* A dma-buf, by file descriptor. */
#define PEERLANE_PROVIDER_DMABUF 1
/* Memory of an NVIDIA GPU, by its address in the calling process. */
#define PEERLANE_PROVIDER_NVIDIA 2

/* Rights of the board to a region: bits of peerlane_register.access. */
/*
 * The board reads it: GPU to FPGA. Where it may also write, the board reads back after its
 * writes, to make sure that they have arrived. Where such reads are not answered, the write
 * ends with a fault: register that memory for writing alone. Where something else answers
 * them, they prove nothing. With PEERLANE_FEATURE_PROVED_PEERS a peer's memory has this right
 * only if the peer answers.
 */
#define PEERLANE_ACCESS_READ 1
/*
 * The board writes it: FPGA to GPU. If the board may not also read a peer's memory, nothing
 * makes sure that its writes have arrived: neither before a record, nor by PEERLANE_IOC_FLUSH,
 * nor before the memory goes. Only time passes.
 */
#define PEERLANE_ACCESS_WRITE 2

/*
 * Argument of PEERLANE_IOC_REGISTER.
 *
 * A cached region, one that was unregistered with PEERLANE_UNREGISTER_KEEP, is found again by
 * provider, place, length, access and identity, and costs nothing then.
 *
 * With PEERLANE_FEATURE_PROVED_PEERS, the first call that wants to read (PEERLANE_ACCESS_READ)
 * from the memory of another PCI device has the board read one word of it, of the width of its
 * port. If no answer comes, the call fails with EXDEV, the device counts as one that cannot be
 * read until the administrator or a new driver says otherwise, and the board is reset by its
 * link: all transfers of all contexts end, and peerlane_query.resets is raised.
 * PEERLANE_REGISTER_PROVED_ONLY avoids that risk. A region for writing alone needs no proof.
 *
 * The proof holds until the board loses reads and is reset by its link: the driver cannot find
 * out which device did not answer. peerlane_query.doubts is raised then, and a region of
 * another device's memory is only written from then on. Reads of it fail with the status
 * ATT_PERMISSION, and a record of a write says nothing about its arrival, as for a region that
 * is registered for writing alone. Unregister the region and register it again, which makes
 * the proof again.
 *
 * EXDEV: the board cannot read from the memory's device, or is not allowed to (peer_reads=0),
 * or the proof is missing (PEERLANE_REGISTER_PROVED_ONLY), or the driver has no room for
 * another device (64 pairs of a board and a device): register the memory for writing alone.
 * EAGAIN: also when reads of the board are down after a failed one. EINVAL: no bytes, no or
 * unknown bits of access or flags, or bytes that are not all in the dma-buf. ESTALE: the owner
 * has invalidated the memory, or its device is gone. EFBIG: the region needs more ATT entries
 * than the context can ever hold (peerlane_info.most_entries), so register less of the memory
 * at a time; peerlane_register.entries says how many. ENOSPC, EDQUOT, ENOMEM: so many entries
 * are not free at the moment, or this user may not have so many, or too much memory is pinned.
 * EREMOTEIO: the kernel does not know that the board can reach the device. EHOSTUNREACH: the
 * memory's own driver does not let the board into it. ENOBUFS: that driver had no room to map
 * it, for example in the BAR of a GPU. EPROTO: that driver hands it over wrongly. EACCES: the
 * board is to write, and the dma-buf is open for reading only. EOPNOTSUPP: the driver does not
 * have this provider.
 */
struct peerlane_register {
	/* In: PEERLANE_PROVIDER_*. */
	__u32 provider;
	/* In: bits of PEERLANE_ACCESS_*, one at least. */
	__u32 access;
	/* In: first byte: an address of the process, or the offset in the dma-buf. */
	__u64 address;
	/* In: bytes, at least 1. */
	__u64 length;
	/*
	 * In: identity of the buffer, where addresses are used again, for example CUDA's
	 * CU_POINTER_ATTRIBUTE_BUFFER_ID. Ignored for dma-bufs.
	 */
	__u64 identity;
	/* In: the dma-buf; -1 for others. */
	__s32 fd;
	/* In: bits of PEERLANE_REGISTER_*. */
	__u32 flags;
	/* Out: names the region; never 0. */
	__u32 handle;
	/* Out: log2 of the ATT pages; with PEERLANE_REGISTER_MIXED, of the largest. */
	__u32 page_shift;
	/*
	 * Out: the ATT address of the first byte. The addresses of the next bytes follow, up to
	 * the second extent if the region has one.
	 */
	__u64 att_address;
	/* Out: ATT entries; with EFBIG, the number that the region needs at least. */
	__u32 entries;
	/* Out: 1 if a cached region was found, 0 if a region was made. */
	__u32 found;
	/*
	 * Out: 0 if the board reads the memory without a proof (PEERLANE_FEATURE_PROVED_PEERS), or
	 * not at all. Else the proof holds as long as peerlane_query.doubts is less than this.
	 */
	__u64 proof;
	/*
	 * Out: bytes at the end of the region that are a second and a third extent, in this order,
	 * with ATT addresses of their own; 0: the region does not have this extent. Only with
	 * PEERLANE_REGISTER_MIXED.
	 */
	__u64 second_length;
	/* Out: the ATT address of the second extent's first byte. */
	__u64 second_att_address;
	/* Out: as second_length. */
	__u64 third_length;
	/* Out: as second_att_address. */
	__u64 third_att_address;
};

/* Bits of peerlane_register.flags. */
/*
 * No read is risked: memory of a device from which the board was not yet seen to read is
 * refused for reading (EXDEV). The bit changes nothing without PEERLANE_FEATURE_PROVED_PEERS.
 * Drivers that do not know that feature refuse the bit (EINVAL).
 */
#define PEERLANE_REGISTER_PROVED_ONLY 1
/*
 * The ATT pages may be of two sizes: of 4 KiB at the start and at the end, and larger ones
 * between. Memory of a process often has such a layout, and would otherwise take an entry for
 * each 4 KiB. The region has up to three extents then, and a descriptor must not cross from
 * one to the next: PEERLANE_IOC_SUBMIT refuses such bytes (EINVAL). With
 * PEERLANE_FEATURE_MIXED. EINVAL: the caller's structure has no room for three extents.
 */
#define PEERLANE_REGISTER_MIXED 2

/* Argument of PEERLANE_IOC_UNREGISTER. */
struct peerlane_unregister {
	/* The region. */
	__u32 handle;
	/* Bits of PEERLANE_UNREGISTER_*. */
	__u32 flags;
};

/* Bits of peerlane_unregister.flags. */
/*
 * The region may stay mapped for a later PEERLANE_IOC_REGISTER of the same memory. Without
 * this bit the board cannot reach the memory any more when the call returns: descriptors of
 * the region that have not ended fail. Its ATT entries count as the context's until those
 * descriptors have ended.
 */
#define PEERLANE_UNREGISTER_KEEP 1

/*
 * Argument of PEERLANE_IOC_SUBMIT. EAGAIN also means that the channel has the largest possible
 * number of descriptors of this direction in progress: PEERLANE_IOC_WAIT for one of them.
 * ENOENT: the region does not exist. ESTALE: its owner has invalidated the memory. EINVAL: the
 * bytes are not all in the region, or not all in one of its extents (PEERLANE_REGISTER_MIXED),
 * or not all in the context's FPGA memory. EBUSY: the process writes descriptors itself.
 *
 * A board whose CAPS2 has a write granularity of 4 bytes writes whole dwords of the bus. Where
 * a write to host memory begins or ends inside a dword, the driver writes these 1 to 3 bytes
 * itself, before the rest. The call then waits until all writes have ended that the context
 * submitted before, and with PEERLANE_SUBMIT_AFTER_READ all reads. A signal ends that wait
 * with nothing written, as it ends the wait of PEERLANE_IOC_WAIT. The driver's write takes an
 * ATT entry while it lasts: EDQUOT, ENOSPC, ENOMEM. A call that fails later, as with EAGAIN,
 * may have written these bytes but not the rest. EOPNOTSUPP: such a write to a dma-buf, or to
 * memory of an NVIDIA GPU.
 */
struct peerlane_submit {
	/* In: 0 writes the region (FPGA to peer), 1 reads it; in C enum peerlane_direction. */
	__u32 direction;
	/* In: bits of PEERLANE_SUBMIT_*. */
	__u32 flags;
	/* In: the region. */
	__u32 handle;
	/* In: bytes, at least 1. */
	__u32 length;
	/* In: first byte in the region. */
	__u64 offset;
	/* In: first byte in FPGA memory. */
	__u64 local;
	/* Out: names the descriptor, with its direction. */
	__u32 cookie;
	/* Zero. */
	__u32 reserved;
};

/* Bits of peerlane_submit.flags. */
/* Do not make sure that the data have arrived before the completion is reported. */
#define PEERLANE_SUBMIT_NO_FLUSH 1
/* Start when all writes submitted before have ended. */
#define PEERLANE_SUBMIT_AFTER_WRITE 2
/*
 * Start when all reads submitted before have ended. A write then finds their data in FPGA
 * memory, if the board's BSP has no interconnect stage between the block and that memory. This
 * is Peerlane's default. Where it is otherwise, peerlane check of the BSP reports it, and the
 * program has to wait.
 */
#define PEERLANE_SUBMIT_AFTER_READ 4

/*
 * Argument of PEERLANE_IOC_WAIT. A call that succeeds reports how the descriptor ended;
 * ABORTED if a reset of the board has ended it. ENOENT: the descriptor does not exist, or the
 * context has since submitted as many descriptors of its direction as the ring has slots.
 */
struct peerlane_wait {
	/* In: as in peerlane_submit.direction. */
	__u32 direction;
	/* In: the cookie that PEERLANE_IOC_SUBMIT returned. */
	__u32 cookie;
	/*
	 * In: time at which the call gives up, in nanoseconds of CLOCK_MONOTONIC: it returns ETIME
	 * then, and not before. 0, or another moment that has passed, looks once; PEERLANE_NEVER
	 * waits without a limit. EINVAL if it is negative. A signal interrupts the call. If the
	 * signal's handler was installed with SA_RESTART the call goes on, else it ends with EINTR
	 * and may be made again.
	 */
	__s64 deadline_ns;
	/* Out: how the descriptor ended; 0 is success. In C enum peerlane_status_code. */
	__u32 status;
	/* Out: bytes moved. */
	__u32 bytes_done;
	/* Out: ATT address of the failing request, 0 if none failed. */
	__u64 fault_address;
	/* Zero. */
	__u64 reserved;
};

/*
 * Argument of PEERLANE_IOC_QUERY: zeros but for the flags; the driver overwrites all of it. A
 * process that writes descriptors itself must ask when it has mapped the page, which takes no
 * doorbell before. It must ask again whenever poll reports an event, an expected record does
 * not come, or a slot is marked empty. If the generation differs then, ring and queue start
 * from the beginning: the next record is expected in the first slot with the phase, sequence
 * and freed of the beginning, and descriptors that had no record by then will not get one. A
 * driver that is unbound answers all calls with ENODEV, and poll with POLLHUP and POLLERR; the
 * ring then shows empty slots permanently.
 */
struct peerlane_query {
	/*
	 * Interrupts of the channel so far, or without PEERLANE_FEATURE_MSIX of any channel of the
	 * board, and other reasons to look at the ring. A call that succeeds acknowledges this
	 * number of events: poll reports readable while there are more.
	 */
	__u64 events;
	/*
	 * Raised when the block had to be reset: the ring starts again at its first slot,
	 * descriptors that were submitted before are lost, and everything is registered as before.
	 * A process that writes descriptors itself gets the new value here. Its doorbells are
	 * refused from the time when it maps the page, and after each time that this is raised,
	 * until a successful call has returned the present value. The counter wraps after 2^32:
	 * test whether it differs.
	 */
	__u32 generation;
	/* Bits of PEERLANE_STATE_*. */
	__u32 state;
	/* Descriptors that were accepted and have not ended: writes, reads. */
	__u32 outstanding[2];
	/* Regions that have a handle, and cached regions without one. */
	__u32 regions[2];
	/* Bytes of both. */
	__u64 region_bytes[2];
	/*
	 * Times that the owner of a region has invalidated its memory. The fault address of a
	 * failed transfer says which region it was.
	 */
	__u64 revoked;
	/*
	 * Times, since the driver took the board, that more than the block was reset, or may have
	 * been: a reset of the function or of its link, an error of the bus that such a reset
	 * fixed, a sleep, and a configuration of the FPGA, by PEERLANE_IOC_REPROGRAM or without
	 * the driver's knowledge. The earlier contents of FPGA memory and the earlier state of the
	 * OpenCL kernels, their registers and their clock are unknown then, and a program that
	 * depends on them starts over. Each of these events also raises generation, but this
	 * counter first, so a process that finds another generation finds this raised. Where only
	 * generation was raised, the block was reset alone: of the rest, only data that transfers
	 * were writing are lost. Without PEERLANE_FEATURE_RESETS it is 0.
	 */
	__u64 resets;
	/*
	 * Times that the board lost reads and any device that it reads may be the cause
	 * (peerlane_register.proof). It is raised before generation.
	 */
	__u64 doubts;
	/* In: bits of PEERLANE_QUERY_*; others are EINVAL. Out: zero. */
	__u64 flags;
};

/* Bits of peerlane_query.flags. */
/*
 * The call acknowledges no events, and the driver does not take the generation as known to the
 * process. A thread uses this while another thread of the process waits for events. With
 * PEERLANE_FEATURE_PEEK.
 */
#define PEERLANE_QUERY_PEEK 1ULL

/* Bits of peerlane_query.state. */
/* The board does not answer any more, or the driver has released it. */
#define PEERLANE_STATE_GONE 1

/* Argument of PEERLANE_IOC_EVENTFD. */
struct peerlane_eventfd {
	/* The eventfd that each event adds 1 to; -1: none any more. */
	__s32 fd;
	/* Zero. */
	__u32 flags;
};

/*
 * Argument of PEERLANE_IOC_STOP. Descriptors that it ends have their records like all others,
 * in the ring when the call returns; the channel goes on accepting. Data that writes had sent
 * before they were ended may reach a peer's memory a moment later, for they come by another
 * port of the switch: PEERLANE_IOC_FLUSH the region before the memory is used for something
 * else. A concurrent PEERLANE_IOC_SUBMIT waits until the stop is done, and its descriptor is
 * not ended. Doorbells of the process's own are refused until then. EIO: the board does not do
 * it, or was reset without the driver's knowledge and has lost all its descriptors. EAGAIN:
 * the board is being started again, as it is after EIO. Such a start ends all descriptors,
 * without records: peerlane_query.generation changes when it happens.
 */
struct peerlane_stop {
	/*
	 * In: moment until which accepted descriptors may end by themselves, in nanoseconds of
	 * CLOCK_MONOTONIC; a second from now at the latest. 0, or another moment that has passed,
	 * aborts them at once; EINVAL if it is negative.
	 */
	__s64 deadline_ns;
	/* Out: 1 if some descriptors had to be aborted. */
	__u32 aborted;
	/* Zero. */
	__u32 reserved;
};

/*
 * Argument of PEERLANE_IOC_FLUSH. When the call returns successfully, the data that the board
 * had written to the region before the call have arrived: the data of writes whose records are
 * in the ring, and of writes that PEERLANE_IOC_STOP has ended. A write that succeeds makes
 * sure of that by itself, but not a write that fails, is ended, or asks for no flush
 * (PEERLANE_SUBMIT_NO_FLUSH). The board reads from a peer's memory for it, and never from
 * memory that is registered for writing alone: see PEERLANE_ACCESS_WRITE. Other transfers go
 * on during the call.
 *
 * ENOENT: the region does not exist. A region that the context unregistered without
 * PEERLANE_UNREGISTER_KEEP had its flush then. A region whose owner has invalidated the memory
 * also had its flush, and gives no error. EIO: the board did not do it, or was reset without
 * the driver's knowledge.
 */
struct peerlane_flush {
	/* The region. */
	__u32 handle;
	/* Zero. */
	__u32 reserved;
};

/* Bytes that PEERLANE_IOC_PROBE reads. */
#define PEERLANE_PROBE_BYTES 64

/*
 * Argument of PEERLANE_IOC_PROBE.
 *
 * The board reads PEERLANE_PROBE_BYTES bytes of the region into FPGA memory and writes them
 * from there into memory of the driver. The driver does not compare the bytes but returns
 * them. EINVAL: the bytes are not all in the region, or not all in one of its extents
 * (PEERLANE_REGISTER_MIXED).
 */
struct peerlane_probe {
	/* In: the region; it must be one that the board may read. */
	__u32 handle;
	/* Out: how the read ended; 0 is success. In C enum peerlane_status_code. */
	__u32 status;
	/* In: first byte in the region. */
	__u64 offset;
	/* In: address in FPGA memory for the bytes. */
	__u64 local;
	/* Out: the bytes that the board read. */
	__u8 data[PEERLANE_PROBE_BYTES];
	/* Zero. */
	__u64 reserved[2];
};

/* Argument of PEERLANE_IOC_MODERATE: CHANNEL_MODERATION of the register map. */
struct peerlane_moderate {
	/*
	 * Number of completions that ask for an interrupt after which one is raised, 255 at most;
	 * 0 is as 1.
	 */
	__u32 count;
	/*
	 * Longest time from the first of these completions to the interrupt, in units of 256
	 * cycles of the PCIe clock, 65535 at most; 0: no limit by time, so that the last
	 * completions may never raise an interrupt.
	 */
	__u32 age;
};

/*
 * Argument of PEERLANE_IOC_ALLOCATE: one range of FPGA memory. A context has none at first.
 * The block lets its channel access nothing else.
 *
 * Requests are served in their order of arrival. The range is zero when the call returns,
 * without earlier data of other contexts: the board itself fills it, at a few gigabytes a
 * second. A signal interrupts the call as it interrupts PEERLANE_IOC_WAIT: the call is made
 * again, or ends with EINTR, and the context has nothing then. The next call does not fill
 * again the part that was filled, unless another context took it in between.
 *
 * The memory belongs to the context until PEERLANE_IOC_FREE or the end of the context, through
 * every restart of the board, in which it may lose its content (peerlane_query.generation).
 *
 * EINVAL: no bytes, or invalid flags, base or token. EEXIST: the context has memory already.
 * EBUSY: the process writes the channel's descriptors itself (PEERLANE_MAP_PAGE), some that
 * the driver wrote have not ended, or, with PEERLANE_ALLOCATE_ALL, another context holds all.
 * EDQUOT: the user may not have so much more. ENOSPC: so much is not free in one piece; also
 * while another context holds all. ENOENT: nothing is offered under the token. EPERM: the
 * caller may not hold all. EAGAIN: the board is being started again, which ends all offers.
 * ECANCELED: PEERLANE_IOC_STOP was called during the call. EIO: the board could not fill it.
 */
struct peerlane_allocate {
	/*
	 * In: bytes, at least 1; with PEERLANE_ALLOCATE_ALL the smallest size that is of use; 0
	 * with PEERLANE_ALLOCATE_TAKE_OVER. Out: bytes of the range, in whole 64 KiB.
	 */
	__u64 bytes;
	/* In: zero. Out: FPGA address of the first byte, a multiple of 64 KiB. */
	__u64 base;
	/* In: bits of PEERLANE_ALLOCATE_*, one at most. */
	__u32 flags;
	/* Zero. */
	__u32 reserved;
	/*
	 * In: with PEERLANE_ALLOCATE_TAKE_OVER the token that PEERLANE_IOC_FREE returned, else
	 * zero.
	 */
	__u64 token[2];
};

/* Bits of peerlane_allocate.flags. */
/*
 * Hold all memory that no other context has, from address 0 up to the memory that others have
 * allocated or, where the administrator has reserved a part for them, up to that part. One
 * context at a time can hold it. It is not filled with zeros: this is for processes that load
 * kernels into the FPGA, and these kernels reach all of its memory anyway. By default it takes
 * CAP_SYS_RAWIO.
 *
 * A kernel in the FPGA that still runs when the holder frees this, closes its file or is
 * killed would write into memory that other contexts get. Where the driver knows the board's
 * OpenCL side (PEERLANE_FEATURE_OPENCL) it resets the kernels when the OpenCL side is
 * released. On other boards, and for a process that runs kernels without holding the OpenCL
 * side, the kernels are not reset: stop them before. An administrator who grants the right to
 * hold all memory accepts that.
 */
#define PEERLANE_ALLOCATE_ALL 1
/* Take over memory that was offered (PEERLANE_FREE_OFFER), with its contents. */
#define PEERLANE_ALLOCATE_TAKE_OVER 2

/*
 * Argument of PEERLANE_IOC_FREE: the context frees its FPGA memory, and may allocate again.
 *
 * ENOENT: the context has no memory. EBUSY: the process writes the channel's descriptors
 * itself, some that the driver wrote have not ended, or the context holds the board's window
 * (PEERLANE_IOC_WINDOW) or its OpenCL side (PEERLANE_IOC_OPENCL). EINVAL: invalid flags, or
 * the holder of all offers it.
 */
struct peerlane_free {
	/* In: bits of PEERLANE_FREE_*. */
	__u32 flags;
	/* Zero. */
	__u32 reserved;
	/* In: zero. Out: with PEERLANE_FREE_OFFER, the token for PEERLANE_IOC_ALLOCATE. */
	__u64 token[2];
};

/* Bits of peerlane_free.flags. */
/*
 * A context with the returned token may take the memory over, once, with all its contents: the
 * token is a secret. The offer ends when the memory is needed for another context and when the
 * board is started again. The driver keeps 32 offers: another one replaces the oldest offer of
 * a user with more than a fair share of them.
 */
#define PEERLANE_FREE_OFFER 1

/*
 * Argument of PEERLANE_IOC_WINDOW: FPGA address for the board's window into FPGA memory, which
 * processes map at PEERLANE_MAP_WINDOW.
 *
 * A board has one window, and one context at a time holds it. A call of the holder moves it:
 * when the call returns, every store through it that was made before has gone to the old
 * place, and every later store goes to the new place. Stores that other threads make during
 * the call go to one of the two or nowhere. The context releases the window by this call, and
 * when it is closed.
 *
 * While the block is reset and started again the window shows nothing and stores are lost;
 * peerlane_query.generation changes then. After the start the window is at its earlier place.
 *
 * An error changes nothing: a window that was held is still held, at its place. EIO and ENODEV
 * may come from the middle of a move: after them the window shows nothing until a call
 * succeeds or the block was started again.
 *
 * EOPNOTSUPP: the board has no window. EINVAL: not at a multiple of 64 KiB. EPERM: not all of
 * it is in the memory that the channel may access. EBUSY: another context holds it. EAGAIN:
 * the board is being started again. ENOENT: the call releases a window that is not held.
 */
struct peerlane_window {
	/* FPGA address of the first byte that the window shows; 0 with PEERLANE_WINDOW_RELEASE. */
	__u64 base;
	/* Bits of PEERLANE_WINDOW_*. */
	__u32 flags;
	/* Zero. */
	__u32 reserved;
};

/* Bits of peerlane_window.flags. */
/* Releases the window. */
#define PEERLANE_WINDOW_RELEASE 1

/*
 * Areas of the OpenCL side: peerlane_access.area, and indices of peerlane_opencl.bytes for
 * those that it has.
 */
/*
 * The interface to the kernels (acl_kernel_interface): its control registers, the window into
 * the kernels' registers, and the text that describes them.
 */
#define PEERLANE_AREA_KERNELS 0
/* The kernels' clock (acl_kernel_clk). */
#define PEERLANE_AREA_CLOCK 1
/* The board's version (version_id). Only read. */
#define PEERLANE_AREA_VERSION 2
/* The FPGA's temperature. Only read. */
#define PEERLANE_AREA_TEMPERATURE 3
/*
 * Whether the board's memory is calibrated (uniphy_status): a dword, 0 when all of it is. Only
 * read. Before that, memory answers neither the block nor kernels.
 */
#define PEERLANE_AREA_STATUS 4

/*
 * Argument of PEERLANE_IOC_OPENCL: the context acquires the board's OpenCL side, which is the
 * registers of PEERLANE_AREA_* and the kernels' interrupt.
 *
 * A kernel in the FPGA reaches all of its memory, so only the context that holds all free
 * memory (PEERLANE_ALLOCATE_ALL) can acquire this, one context at a time. The OpenCL side is
 * released by this call, by the end of the context or of its process. All kernels are then
 * reset before another context gets the memory.
 *
 * The process is the one that has made this call. When it ends, or becomes another program and
 * thereby closes a descriptor of the file (O_CLOEXEC), even if it keeps another one, the
 * context loses the OpenCL side, its FPGA memory and the window, even if other processes have
 * the file open. (An exception is a process that shares its table of descriptors with another
 * process, CLONE_FILES without CLONE_THREAD: there the side stays until the table is closed.)
 * So a child that it made before gets EPERM, and its transfers find no memory. A
 * PEERLANE_IOC_REPROGRAM that is in progress ends first.
 *
 * A holder can affect others, on purpose or not: its kernels read and write all FPGA memory,
 * that of other contexts, too. They never reach registers of Peerlane, nor another context's
 * host or GPU memory. A new design of the FPGA could, so loading one takes another right
 * (PEERLANE_IOC_REPROGRAM).
 *
 * A holder can also block the whole BAR. Kernels' registers answer in their own clock. If the
 * holder stops that clock (PEERLANE_AREA_CLOCK) and then accesses one of these registers, the
 * access is never answered, and all later accesses wait. Not even an access that would reset
 * the kernels or their clock is known to pass it; no board was tried. All transfers end then,
 * the driver takes from the board its right to reach memory, and all calls give ENODEV until
 * the FPGA is configured again and the function is reset. The clock stays as it was set until
 * a holder sets it again. The processor that made the access waits until the root port gives
 * up (Completion Timeout), and the machine's firmware may take that for a fatal error.
 *
 * An administrator who grants the right to hold all memory accepts that.
 *
 * EOPNOTSUPP: the driver does not know an OpenCL side of this board. EPERM: the context does
 * not hold all memory. EBUSY: another context has the OpenCL side. EEXIST: the context has it
 * already. ENOENT: the call releases an OpenCL side that is not held. EINVAL: invalid flags,
 * or an eventfd for a release. EBADF: the descriptor is not an eventfd.
 */
struct peerlane_opencl {
	/* In: bits of PEERLANE_OPENCL_*. */
	__u32 flags;
	/*
	 * In: the eventfd that each interrupt of the kernels adds 1 to; -1: none, and for a
	 * release.
	 */
	__s32 fd;
	/*
	 * Out: bytes of each PEERLANE_AREA_* but PEERLANE_AREA_STATUS; 0: the driver does not know
	 * its address.
	 */
	__u64 bytes[4];
	/*
	 * Out: bytes to map at PEERLANE_MAP_KERNELS; 0: the interface shares pages with something
	 * else, and is reached by PEERLANE_IOC_ACCESS only.
	 */
	__u64 map_bytes;
	/*
	 * Out: bytes of PEERLANE_AREA_STATUS; 0: the driver does not know its address, or does not
	 * know such an area. In: zero.
	 */
	__u64 status_bytes;
	/* Zero. */
	__u64 reserved;
};

/* Bits of peerlane_opencl.flags. */
/* Releases the OpenCL side. */
#define PEERLANE_OPENCL_RELEASE 1

/* The longest struct peerlane_access, in bytes. */
#define PEERLANE_ACCESS_BYTES 4096

/*
 * Argument of PEERLANE_IOC_ACCESS: bytes of an area are copied from or to the process's
 * memory, in ascending order, 4 at a time where they are aligned so, else 2 or 1: no other
 * byte is accessed. A store to a register that resets the kernels or their clock returns when
 * the reset has ended: another store there before would never be taken.
 *
 * EPERM: the context does not hold the OpenCL side. EINVAL: an unknown area, bytes that are
 * not all in the area, no bytes or more than PEERLANE_ACCESS_BYTES, a store to a read-only
 * area, or invalid flags. EFAULT: not memory of the process. EAGAIN: the board is being
 * started again; some of the bytes may have been written. ENODEV: the same; or the board has
 * answered a read with ones because it is not there, and nothing was read.
 */
struct peerlane_access {
	/* One of PEERLANE_AREA_*. */
	__u32 area;
	/* Bits of PEERLANE_ACCESS_FLAGS_*. */
	__u32 flags;
	/* First byte in the area. */
	__u64 offset;
	/* First byte in the process. */
	__u64 address;
	/* Bytes. */
	__u32 length;
	/* Zero. */
	__u32 reserved;
};

/* Bits of peerlane_access.flags. */
/* The bytes are written, not read. */
#define PEERLANE_ACCESS_FLAGS_WRITE 1

/*
 * Argument of PEERLANE_IOC_ARM: the next interrupt of the kernels adds 1 to the eventfd of
 * peerlane_opencl.fd, and is the last one until the next call. An interrupt that is already
 * pending counts as the next one. A start of the board, in which kernels may have been reset,
 * adds 1, too. An event may also come without a reason: look at the kernels.
 *
 * EPERM: the context does not hold the OpenCL side. EINVAL: invalid flags. EOPNOTSUPP: the
 * kernels' interrupt is not connected. EAGAIN: the board is being started again.
 */
struct peerlane_arm {
	/* Bits of PEERLANE_ARM_*. */
	__u32 flags;
	/* Zero. */
	__u32 reserved;
};

/* Bits of peerlane_arm.flags. */
/* Disables the interrupt until the next call. */
#define PEERLANE_ARM_DISARM 1

/*
 * Argument of PEERLANE_IOC_REPROGRAM: a bracket around a new configuration of the FPGA. The
 * caller configures the FPGA: with a tool, or by PEERLANE_IOC_CONFIGURE.
 *
 * PEERLANE_REPROGRAM_BEGIN ends all contexts' transfers. From then on the board reaches no
 * memory, no process reaches the board, and calls that need it are refused with EAGAIN. If the
 * board's link goes down, that is neither an error that the port above would report nor the
 * removal of the board from its slot: all hot-plug events of the slot are ignored.
 * PEERLANE_REPROGRAM_END restores the function's configuration, checks whether the FPGA has
 * the same kind of block again, and starts it as after every reset: contexts stay open, their
 * registered memory is reachable as before, and their peerlane_query.generation is raised.
 * FPGA memory holds the data that the new configuration left in it. The end of the context or
 * of its process is an END, too.
 *
 * Only the port directly above the board, and drivers of the kernel, are notified. Others that
 * watch the link, for example the machine's firmware, may still take the board for gone,
 * unless the link is disabled before it goes down (PEERLANE_REPROGRAM_LINK_OFF).
 *
 * The design that is loaded determines the behaviour of the board as bus master. Without an
 * IOMMU it can read and write all memory of the machine, with one all memory that is mapped
 * for the board. So BEGIN takes CAP_SYS_RAWIO, even of a context that holds the OpenCL side.
 * The administrator can give the right to all processes that hold the OpenCL side
 * (configure_all), but not on a machine whose IOMMU does not translate the board's addresses,
 * or does not see all requests of the board. Such a bracket ends by itself after configure_s
 * seconds, as with the end of the context. No process has the right while the kernel is locked
 * down.
 *
 * EPERM: the context does not hold the OpenCL side, or the caller does not have this right.
 * EALREADY: it has begun already. ENOENT: it has not begun. EAGAIN: the board is being started
 * again, or put to sleep. EINVAL: invalid flags. EIO of an END: no board answers, or its FPGA
 * has no configuration, or the configuration that was found cannot be started or is a
 * different one; the kernel's log says which. The bracket stays open then: END can be tried
 * again, after another configuration, too.
 *
 * The context ends when the last copy of its file is closed. So a program that runs a tool for
 * the configuration lets another process keep a copy and wait for the tool: if the caller is
 * killed, the bracket ends after the tool. The tool itself gets no copy, as it may leave other
 * processes running. Without such a process the end of the caller starts any board that
 * answers at that moment, and an FPGA that is configured in part does not answer. A process
 * that has the file can also end the bracket with PEERLANE_REPROGRAM_END, which does not wait
 * for other copies to be closed: if the caller has ended, the context loses the OpenCL side
 * then.
 */
struct peerlane_reprogram {
	/* One of PEERLANE_REPROGRAM_*. */
	__u32 flags;
	/* Zero. */
	__u32 reserved;
};

/* Values of peerlane_reprogram.flags. */
/* The board is stopped. */
#define PEERLANE_REPROGRAM_BEGIN 1
/* The board is started again. */
#define PEERLANE_REPROGRAM_END 2
/*
 * A call between BEGIN and END, for a configuration by another way than the link. The port
 * above disables the link until the board is started again. A link that goes down this way is
 * not an error by the specification, whether firmware or kernel handles errors. A link that
 * goes down by surprise may have the firmware restart the machine. A port that does not have
 * such a bit leaves the link as it is. From then on PEERLANE_IOC_CONFIGURE finds no board.
 */
#define PEERLANE_REPROGRAM_LINK_OFF 4

/* The largest number of bytes of an image for PEERLANE_IOC_CONFIGURE. */
#define PEERLANE_CONFIGURE_BYTES (64ULL << 20)

/*
 * Argument of PEERLANE_IOC_CONFIGURE: the FPGA's core is configured over PCIe (CvP, of the
 * V-series hard IP), by the context that has begun a PEERLANE_IOC_REPROGRAM. The image is that
 * of the core alone (.core.rbf), for the periphery that the FPGA has.
 *
 * The driver copies the image first. From then on a signal, SIGKILL too, takes effect when the
 * FPGA is configured, because an FPGA that is configured in part does not work as a board.
 * With an image of 32 MiB that takes some seconds.
 *
 * EPERM: the caller may not begin a PEERLANE_IOC_REPROGRAM. ENOENT: the context has not begun
 * one, or its time is over. EOPNOTSUPP: the board does not have PEERLANE_FEATURE_CVP. EINVAL:
 * no bytes or more than PEERLANE_CONFIGURE_BYTES, or an unknown packing. EFAULT: not memory of
 * the process. ENOMEM: no memory for the image. EAGAIN: the board is being reset, or put to
 * sleep. EIO: the FPGA was not configured; the kernel's log says why. It may have no
 * configuration then, which PEERLANE_IOC_REPROGRAM's PEERLANE_REPROGRAM_END refuses. The call
 * can be tried again, in the same bracket.
 */
struct peerlane_configure {
	/* First byte of the image in the process. */
	__u64 address;
	/* Bytes. If they are not a multiple of 4, zeros follow. */
	__u64 length;
	/* One of PEERLANE_PACKING_*. */
	__u32 packing;
	/* Zero. */
	__u32 reserved;
};

/* How an image is packed: peerlane_configure.packing. */
/* As the hard IP reports the packing of its images. */
#define PEERLANE_PACKING_AS_TOLD 0
/* Neither compressed nor encrypted. */
#define PEERLANE_PACKING_PLAIN 1
/* Encrypted, not compressed. */
#define PEERLANE_PACKING_ENCRYPTED 2
/* Compressed. */
#define PEERLANE_PACKING_COMPRESSED 3

/*
 * Argument of PEERLANE_IOC_STREAM. A stream moves data between the FPGA's logic and a region,
 * by descriptors that the process writes to its channel (PEERLANE_MAP_PAGE): their local
 * address names the stream instead of FPGA memory. One context at a time holds a stream.
 * Descriptors of others that name it end with LOCAL_RANGE.
 *
 * PEERLANE_STREAM_OPEN takes a free stream, or opens one again that the context holds. The
 * words of a stream move while it is open. Each start of the board closes all streams
 * (peerlane_query.generation). The context still holds them, and opens them again.
 *
 * EOPNOTSUPP: the board does not have PEERLANE_FEATURE_STREAMS. EINVAL: invalid flags, or a
 * stream or a limit that the board does not have. EBUSY: another context holds the stream.
 * EPERM: the call does not open a stream, and the context does not hold it. EAGAIN: the board
 * is being reset, or put to sleep; the context then holds the stream if it did before.
 */
struct peerlane_stream {
	/* In: its number among the streams of the direction. */
	__u32 number;
	/*
	 * In: bits of PEERLANE_STREAM_*. Without PEERLANE_STREAM_OPEN and PEERLANE_STREAM_CLOSE,
	 * the call changes nothing.
	 */
	__u32 flags;
	/*
	 * In: with OPEN of a stream from the logic, the longest time of a block, in units of 256
	 * cycles of the PCIe clock, at most 65535; 0: no limit. Else zero.
	 */
	__u32 limit;
	/* Out: bits of PEERLANE_STREAM_STATE_*. */
	__u32 state;
	/*
	 * Out: bytes that wait in the block. From the logic: that a descriptor can have at once.
	 * To the logic: that the logic has not taken.
	 */
	__u32 waiting;
	/* Zero. */
	__u32 reserved;
};

/* Bits of peerlane_stream.flags. */
/* A stream from peers to the logic; else one from the logic to peers. */
#define PEERLANE_STREAM_TO_LOGIC 1
/*
 * Open the stream, with no words of the time before. It is open some cycles of its clock
 * later: PEERLANE_STREAM_STATE_OPEN. A stream that the context has open stays open, with its
 * words; only the limit changes.
 */
#define PEERLANE_STREAM_OPEN 2
/*
 * Close the stream, and release it. Its words are lost that no descriptor, or not the logic,
 * has taken.
 */
#define PEERLANE_STREAM_CLOSE 4

/* Bits of peerlane_stream.state. */
/* Words move. It stays 0 while the clock of the stream does not run. */
#define PEERLANE_STREAM_STATE_OPEN 1

/*
 * What follows is of the register map: the channel page, and the records in memory. Offsets are in
 * bytes, masks are in place, and all is little endian. The map's own header has the same names:
 * include one of the two.
 */
/* Hash of the register map. A board with another hash has other pages and records. */
#define PEERLANE_MAP_ID 0xcf9e15f3u

/*
 * Block chan. Page of one channel, mappable into one process. Page c belongs to channel c; a
 * build has CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order,
 * all of them each time. Then write the doorbell. A page shows and accepts nothing that belongs
 * to another channel.
 */
/* Size of one instance in bytes. */
#define PEERLANE_CHAN_SIZE 0x1000u
/* Instances in the largest build, one after the other. */
#define PEERLANE_CHAN_COUNT 64
/*
 * Byte offset of WRITE_DESC. Descriptor of the next transfer from the FPGA to a peer, word by
 * word. Writes are ignored while the write queue is full.
 */
#define PEERLANE_CHAN_WRITE_DESC(i) (0x000u + 4u * (i))
/* WRITE_DESC.value, bits 31:0, wo. One word of the descriptor. */
#define PEERLANE_CHAN_WRITE_DESC_VALUE_MASK 0xffffffffu
#define PEERLANE_CHAN_WRITE_DESC_VALUE_SHIFT 0
/* Number of WRITE_DESC registers. */
#define PEERLANE_CHAN_WRITE_DESC_COUNT 16
/* Byte offset of WRITE_DOORBELL. Doorbell that queues the descriptor in WRITE_DESC. */
#define PEERLANE_CHAN_WRITE_DOORBELL 0x040u
/*
 * WRITE_DOORBELL.freed, bits 15:0, wo. Number of descriptors of the channel that have ended
 * since its last doorbell, in both directions together, as software knows from the records that
 * it has read. Their slots of the ring become free before the new descriptor takes one, also if
 * the doorbell is refused. If software writes more than have ended, it may lose records of its
 * own channel.
 */
#define PEERLANE_CHAN_WRITE_DOORBELL_FREED_MASK 0x0000ffffu
#define PEERLANE_CHAN_WRITE_DOORBELL_FREED_SHIFT 0
/*
 * Byte offset of READ_DESC. Descriptor of the next transfer from a peer to the FPGA, word by
 * word. Writes are ignored while the read queue is full.
 */
#define PEERLANE_CHAN_READ_DESC(i) (0x080u + 4u * (i))
/* READ_DESC.value, bits 31:0, wo. One word of the descriptor. */
#define PEERLANE_CHAN_READ_DESC_VALUE_MASK 0xffffffffu
#define PEERLANE_CHAN_READ_DESC_VALUE_SHIFT 0
/* Number of READ_DESC registers. */
#define PEERLANE_CHAN_READ_DESC_COUNT 16
/* Byte offset of READ_DOORBELL. Doorbell that queues the descriptor in READ_DESC. */
#define PEERLANE_CHAN_READ_DOORBELL 0x0c0u
/*
 * READ_DOORBELL.freed, bits 15:0, wo. Number of descriptors of the channel that have ended since
 * its last doorbell, in both directions together, as software knows from the records that it has
 * read. Their slots of the ring become free before the new descriptor takes one, also if the
 * doorbell is refused. If software writes more than have ended, it may lose records of its own
 * channel.
 */
#define PEERLANE_CHAN_READ_DOORBELL_FREED_MASK 0x0000ffffu
#define PEERLANE_CHAN_READ_DOORBELL_FREED_SHIFT 0
/*
 * Byte offset of QUEUE_FREE. Room for this channel in the descriptor queues. Both fields are 0
 * while doorbells are refused: the block is not enabled or is being reset, the channel does not
 * accept doorbells, or all slots of its ring are reserved for descriptors that were accepted and
 * not freed. The free slots of the ring limit both directions together.
 */
#define PEERLANE_CHAN_QUEUE_FREE 0x100u
/* QUEUE_FREE.write, bits 15:0, ro. Number of write descriptors that the queue has room for. */
#define PEERLANE_CHAN_QUEUE_FREE_WRITE_MASK 0x0000ffffu
#define PEERLANE_CHAN_QUEUE_FREE_WRITE_SHIFT 0
/* QUEUE_FREE.read, bits 31:16, ro. Number of read descriptors that the queue has room for. */
#define PEERLANE_CHAN_QUEUE_FREE_READ_MASK 0xffff0000u
#define PEERLANE_CHAN_QUEUE_FREE_READ_SHIFT 16
/*
 * Byte offset of REFUSED. Doorbells that were refused, because the queue was full, all slots of
 * the ring were reserved, or the channel did not accept doorbells. A refused descriptor is lost
 * and has no completion record.
 */
#define PEERLANE_CHAN_REFUSED 0x104u
/* REFUSED.write, bits 0, w1c. A WRITE_DOORBELL was refused. */
#define PEERLANE_CHAN_REFUSED_WRITE_MASK 0x00000001u
#define PEERLANE_CHAN_REFUSED_WRITE_SHIFT 0
/* REFUSED.read, bits 1, w1c. A READ_DOORBELL was refused. */
#define PEERLANE_CHAN_REFUSED_READ_MASK 0x00000002u
#define PEERLANE_CHAN_REFUSED_READ_SHIFT 1

/*
 * Result of a descriptor. With every code except OK, `bytes_done` is the number of bytes that
 * were moved before the fault.
 */
enum peerlane_status_code {
/* Every byte was moved. */
	PEERLANE_STATUS_CODE_OK = 0,
/*
 * The length is zero, or the local range runs past the end of the FPGA memory's address space.
 * Nothing was moved.
 */
	PEERLANE_STATUS_CODE_LENGTH = 1,
/* A request's entry index is beyond the end of the ATT. */
	PEERLANE_STATUS_CODE_ATT_BOUNDS = 2,
/* The ATT entry of a request is not valid. */
	PEERLANE_STATUS_CODE_ATT_INVALID = 3,
/* The ATT entry of a request does not belong to the descriptor's channel. */
	PEERLANE_STATUS_CODE_ATT_OWNER = 4,
/* The ATT entry of a request does not allow this direction. */
	PEERLANE_STATUS_CODE_ATT_PERMISSION = 5,
/* The page size in the descriptor's peer address differs from the page size of the ATT entry. */
	PEERLANE_STATUS_CODE_ATT_PAGE_SIZE = 6,
/*
 * A read request was not answered within PORT_TIMEOUT. From then on the part of the port that is
 * still owed answers is in quarantine: the whole read port where answers come in order (`Txs`),
 * the tag of the request where answers have tags. With CAPS2.tlp the transaction layer may
 * abandon a request earlier, and does not reuse its own tag for that request.
 */
	PEERLANE_STATUS_CODE_READ_TIMEOUT = 7,
/*
 * For a read: the read port was in quarantine and waited for completions that are owed to an
 * earlier descriptor. For either direction: the port was dead (STATUS.port_dead). None or some
 * of the bytes after the first `bytes_done` were moved.
 */
	PEERLANE_STATUS_CODE_PORT_DOWN = 8,
/* A reset of the engines or an abort of the channel stopped the descriptor. */
	PEERLANE_STATUS_CODE_ABORTED = 9,
/*
 * The descriptor has reserved bits set, or names a port that this build does not have. Nothing
 * was moved.
 */
	PEERLANE_STATUS_CODE_DESCRIPTOR = 10,
/*
 * All bytes were sent, but the read that confirms their arrival was not answered or could not be
 * issued.
 */
	PEERLANE_STATUS_CODE_FLUSH = 11,
/*
 * Not all of the local addresses are inside the channel's range of FPGA memory. Nothing was
 * moved.
 */
	PEERLANE_STATUS_CODE_LOCAL_RANGE = 12,
/*
 * A read request was answered with Unsupported Request. Only a port that carries the completion
 * status reports this. `Txs` never answers such a read, and the descriptor ends with
 * READ_TIMEOUT.
 */
	PEERLANE_STATUS_CODE_UNSUPPORTED = 13,
/*
 * A read request was answered with Completer Abort. Only a port that carries the completion
 * status reports this.
 */
	PEERLANE_STATUS_CODE_COMPLETER_ABORT = 14,
/*
 * A read request was answered with poisoned data. Only a port that carries the completion status
 * reports this. `Txs` passes poisoned data on as good data, and the descriptor ends with OK.
 */
	PEERLANE_STATUS_CODE_POISONED = 15,
/*
 * The first peer address of a write, or the address of its end, is not a multiple of the
 * granularity of writes (CAPS2.write_granularity_log2). Nothing was moved.
 */
	PEERLANE_STATUS_CODE_ALIGNMENT = 16,
};

/*
 * Size of the pages of a region. The value 3 is reserved.
 */
enum peerlane_page_size {
/* 4 KiB: the entry index begins at bit 12 of the peer address. */
	PEERLANE_PAGE_SIZE_KIB_4 = 0,
/* 64 KiB: the entry index begins at bit 16 of the peer address. */
	PEERLANE_PAGE_SIZE_KIB_64 = 1,
/* 2 MiB: the entry index begins at bit 21 of the peer address. */
	PEERLANE_PAGE_SIZE_MIB_2 = 2,
};

/*
 * Direction of a transfer, seen from the board.
 */
enum peerlane_direction {
/* FPGA memory to peer (GPU or host): posted writes. */
	PEERLANE_DIRECTION_WRITE = 0,
/* Peer (GPU or host) to FPGA memory: reads with completions. */
	PEERLANE_DIRECTION_READ = 1,
};

/*
 * The FPGA-side port that a local address names.
 */
enum peerlane_port {
/* The board's global memory (DDR). */
	PEERLANE_PORT_MEMORY = 0,
/*
 * A stream of the FPGA's logic: for a write one from the logic, for a read one to the logic. The
 * local address is the stream's number. A build without streams of this direction ends the
 * descriptor with DESCRIPTOR.
 */
	PEERLANE_PORT_STREAM = 1,
};

/*
 * One transfer, as software writes it to the WRITE_DESC or READ_DESC of a channel. The register
 * determines the direction. This version ignores the reserved words; write 0.
 */
struct peerlane_descriptor {
/* 0x00: Start of the transfer on the peer's side, as an address in the ATT's space. */
	__u64 peer;
/* 0x08: Start of the transfer on the FPGA's side. */
	__u64 local;
/* 0x10: Length of the transfer. */
	__u32 length;
/* 0x14: Condition for the start of the transfer, and actions at its end. */
	__u32 control;
/* 0x18: Value that software chooses. The completion record returns it. */
	__u32 cookie;
/* 0x1c: zero. */
	__u32 reserved_1c[9];
};
/*
 * peer.address, bits 61:0. (Index of the region's first ATT entry << page shift) + byte offset
 * in the region. The page shift is 12, 16 or 21, by the page size. The 16 bits from the page
 * shift on are the entry index; all bits above the entry index are 0.
 */
#define PEERLANE_DESCRIPTOR_PEER_ADDRESS_MASK 0x3fffffffffffffffULL
#define PEERLANE_DESCRIPTOR_PEER_ADDRESS_SHIFT 0
/*
 * peer.page_size, bits 63:62. Page size of the region. It must be equal to the page size of
 * every entry that the transfer touches.
 */
#define PEERLANE_DESCRIPTOR_PEER_PAGE_SIZE_MASK 0xc000000000000000ULL
#define PEERLANE_DESCRIPTOR_PEER_PAGE_SIZE_SHIFT 62
/* local.address, bits 39:0. Byte address at the port. */
#define PEERLANE_DESCRIPTOR_LOCAL_ADDRESS_MASK 0xffffffffffULL
#define PEERLANE_DESCRIPTOR_LOCAL_ADDRESS_SHIFT 0
/* local.port, bits 63:60. The FPGA-side port. */
#define PEERLANE_DESCRIPTOR_LOCAL_PORT_MASK 0xf000000000000000ULL
#define PEERLANE_DESCRIPTOR_LOCAL_PORT_SHIFT 60
/* length.bytes, bits 31:0. Number of bytes. */
#define PEERLANE_DESCRIPTOR_LENGTH_BYTES_MASK 0xffffffffu
#define PEERLANE_DESCRIPTOR_LENGTH_BYTES_SHIFT 0
/*
 * control.record, bits 0. 1: write a completion record to the channel's ring. A descriptor that
 * ends with a fault writes a record in any case.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_RECORD_MASK 0x00000001u
#define PEERLANE_DESCRIPTOR_CONTROL_RECORD_SHIFT 0
/*
 * control.irq, bits 1. 1: raise the interrupt (IRQ_STATUS.completion) after a completion record.
 * This record is written even if `record` is 0.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_IRQ_MASK 0x00000002u
#define PEERLANE_DESCRIPTOR_CONTROL_IRQ_SHIFT 1
/*
 * control.no_flush, bits 2. Only for writes. 0: before the completion record, the block reads
 * back from the last destination, so the record reports that the data have arrived. Where the
 * ATT entry does not permit reads, the block cannot read back, and the record reports only that
 * the data were sent. 1: the record follows the data at once.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_NO_FLUSH_MASK 0x00000004u
#define PEERLANE_DESCRIPTOR_CONTROL_NO_FLUSH_SHIFT 2
/*
 * control.urgent, bits 3. 1, with `irq`: the channel's moderation does not hold back the
 * interrupt.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_URGENT_MASK 0x00000008u
#define PEERLANE_DESCRIPTOR_CONTROL_URGENT_SHIFT 3
/*
 * control.after_write, bits 4. 1: the descriptor is chained. It starts when every write
 * descriptor of the channel that was queued before it has ended, with any code.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_AFTER_WRITE_MASK 0x00000010u
#define PEERLANE_DESCRIPTOR_CONTROL_AFTER_WRITE_SHIFT 4
/*
 * control.after_read, bits 5. 1: the descriptor is chained. It starts when every read descriptor
 * of the channel that was queued before it has ended, with any code.
 */
#define PEERLANE_DESCRIPTOR_CONTROL_AFTER_READ_MASK 0x00000020u
#define PEERLANE_DESCRIPTOR_CONTROL_AFTER_READ_SHIFT 5
/* cookie.value, bits 31:0. Any value. */
#define PEERLANE_DESCRIPTOR_COOKIE_VALUE_MASK 0xffffffffu
#define PEERLANE_DESCRIPTOR_COOKIE_VALUE_SHIFT 0

/*
 * Completion record: the result of a descriptor. The block writes the record to the next slot of
 * the channel's ring. Software polls `phase` in the slot in which it expects the next record.
 * The dwords of a record become visible in ascending order, and not all at once (PCI Express
 * Base Specification 4.0, 2.4.3). So a slot with a new `phase` has all dwords of the record up
 * to `sequence` once `sequence` has the number of this record. Wait for that number. After an
 * acquire barrier, read the dwords before `sequence`. Every accepted descriptor reserves a slot,
 * whether it asks for a record or not, until a doorbell reports the descriptor as freed. So
 * software that reads slowly is refused doorbells, and loses no record.
 */
struct peerlane_completion {
/* 0x00: Cookie of the descriptor. */
	__u32 cookie;
/* 0x04: Result and origin. */
	__u32 status;
/* 0x08: Progress of the transfer. */
	__u32 bytes_done;
/* 0x0c: Position of the record in the channel's history. */
	__u32 sequence;
/* 0x10: Start of the request that failed. */
	__u64 fault_address;
/* 0x18: zero. */
	__u32 reserved_18[2];
};
/* cookie.value, bits 31:0. Value of the descriptor's cookie. */
#define PEERLANE_COMPLETION_COOKIE_VALUE_MASK 0xffffffffu
#define PEERLANE_COMPLETION_COOKIE_VALUE_SHIFT 0
/*
 * status.phase, bits 0. 1 on the first lap of the ring, then the opposite value on each further
 * lap. A slot has a new record when this bit differs from its value on the lap before. So fill
 * the ring with phase 0 before it is enabled.
 */
#define PEERLANE_COMPLETION_STATUS_PHASE_MASK 0x00000001u
#define PEERLANE_COMPLETION_STATUS_PHASE_SHIFT 0
/* status.direction, bits 1. Direction of the transfer. */
#define PEERLANE_COMPLETION_STATUS_DIRECTION_MASK 0x00000002u
#define PEERLANE_COMPLETION_STATUS_DIRECTION_SHIFT 1
/* status.channel, bits 15:8. Channel of the descriptor. */
#define PEERLANE_COMPLETION_STATUS_CHANNEL_MASK 0x0000ff00u
#define PEERLANE_COMPLETION_STATUS_CHANNEL_SHIFT 8
/*
 * status.code, bits 23:16. Result of the descriptor. The block writes no code from 128 on: with
 * these codes, software marks slots that hold no record.
 */
#define PEERLANE_COMPLETION_STATUS_CODE_MASK 0x00ff0000u
#define PEERLANE_COMPLETION_STATUS_CODE_SHIFT 16
/*
 * bytes_done.bytes, bits 31:0. Number of bytes that were moved, from the beginning of the
 * transfer without a gap.
 */
#define PEERLANE_COMPLETION_BYTES_DONE_BYTES_MASK 0xffffffffu
#define PEERLANE_COMPLETION_BYTES_DONE_BYTES_SHIFT 0
/*
 * sequence.value, bits 31:0. Number of completion records of the channel that were written
 * before this record, modulo 2^32.
 */
#define PEERLANE_COMPLETION_SEQUENCE_VALUE_MASK 0xffffffffu
#define PEERLANE_COMPLETION_SEQUENCE_VALUE_SHIFT 0
/*
 * fault_address.address, bits 63:0. Peer address of the request that failed, in the form of the
 * descriptor's `peer`. 0 if no request failed. But with the code OK of a descriptor that names a
 * stream, this is the block's header. Bits 47:0: time at which the block began, in cycles of
 * pcie_clk since the reset of the PCIe side, modulo 2^48: its first word was there, and the
 * block before it had ended. Bits 62:48: number of words that the logic offered and the block
 * could not take between this block and the one before; it stops at 32767. Bit 63: the block
 * ends at the end of a packet.
 */
#define PEERLANE_COMPLETION_FAULT_ADDRESS_ADDRESS_MASK 0xffffffffffffffffULL
#define PEERLANE_COMPLETION_FAULT_ADDRESS_ADDRESS_SHIFT 0

/* The layout is the same on 32 and 64 bits. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define PEERLANE_CHECK_(is) static_assert(is, #is)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PEERLANE_CHECK_(is) _Static_assert(is, #is)
#endif
#ifdef PEERLANE_CHECK_
#define PEERLANE_SIZE_(of, size) PEERLANE_CHECK_(sizeof(struct of) == size)
#define PEERLANE_PLACE_(of, member, offset) \
	PEERLANE_CHECK_(__builtin_offsetof(struct of, member) == offset)
PEERLANE_SIZE_(peerlane_info, 128);
PEERLANE_PLACE_(peerlane_info, version, 0);
PEERLANE_PLACE_(peerlane_info, oldest, 4);
PEERLANE_PLACE_(peerlane_info, features, 8);
PEERLANE_PLACE_(peerlane_info, required, 16);
PEERLANE_PLACE_(peerlane_info, map_id, 24);
PEERLANE_PLACE_(peerlane_info, build_id, 28);
PEERLANE_PLACE_(peerlane_info, caps, 32);
PEERLANE_PLACE_(peerlane_info, channel, 44);
PEERLANE_PLACE_(peerlane_info, ring_log2, 48);
PEERLANE_PLACE_(peerlane_info, generation, 52);
PEERLANE_PLACE_(peerlane_info, local_base, 56);
PEERLANE_PLACE_(peerlane_info, local_end, 64);
PEERLANE_PLACE_(peerlane_info, page_bytes, 72);
PEERLANE_PLACE_(peerlane_info, ring_bytes, 80);
PEERLANE_PLACE_(peerlane_info, window_bytes, 88);
PEERLANE_PLACE_(peerlane_info, resets, 96);
PEERLANE_PLACE_(peerlane_info, most_entries, 104);
PEERLANE_PLACE_(peerlane_info, caps3, 112);
PEERLANE_PLACE_(peerlane_info, reserved0, 116);
PEERLANE_PLACE_(peerlane_info, reserved, 120);
PEERLANE_SIZE_(peerlane_register, 104);
PEERLANE_PLACE_(peerlane_register, provider, 0);
PEERLANE_PLACE_(peerlane_register, access, 4);
PEERLANE_PLACE_(peerlane_register, address, 8);
PEERLANE_PLACE_(peerlane_register, length, 16);
PEERLANE_PLACE_(peerlane_register, identity, 24);
PEERLANE_PLACE_(peerlane_register, fd, 32);
PEERLANE_PLACE_(peerlane_register, flags, 36);
PEERLANE_PLACE_(peerlane_register, handle, 40);
PEERLANE_PLACE_(peerlane_register, page_shift, 44);
PEERLANE_PLACE_(peerlane_register, att_address, 48);
PEERLANE_PLACE_(peerlane_register, entries, 56);
PEERLANE_PLACE_(peerlane_register, found, 60);
PEERLANE_PLACE_(peerlane_register, proof, 64);
PEERLANE_PLACE_(peerlane_register, second_length, 72);
PEERLANE_PLACE_(peerlane_register, second_att_address, 80);
PEERLANE_PLACE_(peerlane_register, third_length, 88);
PEERLANE_PLACE_(peerlane_register, third_att_address, 96);
PEERLANE_SIZE_(peerlane_unregister, 8);
PEERLANE_PLACE_(peerlane_unregister, handle, 0);
PEERLANE_PLACE_(peerlane_unregister, flags, 4);
PEERLANE_SIZE_(peerlane_submit, 40);
PEERLANE_PLACE_(peerlane_submit, direction, 0);
PEERLANE_PLACE_(peerlane_submit, flags, 4);
PEERLANE_PLACE_(peerlane_submit, handle, 8);
PEERLANE_PLACE_(peerlane_submit, length, 12);
PEERLANE_PLACE_(peerlane_submit, offset, 16);
PEERLANE_PLACE_(peerlane_submit, local, 24);
PEERLANE_PLACE_(peerlane_submit, cookie, 32);
PEERLANE_PLACE_(peerlane_submit, reserved, 36);
PEERLANE_SIZE_(peerlane_wait, 40);
PEERLANE_PLACE_(peerlane_wait, direction, 0);
PEERLANE_PLACE_(peerlane_wait, cookie, 4);
PEERLANE_PLACE_(peerlane_wait, deadline_ns, 8);
PEERLANE_PLACE_(peerlane_wait, status, 16);
PEERLANE_PLACE_(peerlane_wait, bytes_done, 20);
PEERLANE_PLACE_(peerlane_wait, fault_address, 24);
PEERLANE_PLACE_(peerlane_wait, reserved, 32);
PEERLANE_SIZE_(peerlane_query, 80);
PEERLANE_PLACE_(peerlane_query, events, 0);
PEERLANE_PLACE_(peerlane_query, generation, 8);
PEERLANE_PLACE_(peerlane_query, state, 12);
PEERLANE_PLACE_(peerlane_query, outstanding, 16);
PEERLANE_PLACE_(peerlane_query, regions, 24);
PEERLANE_PLACE_(peerlane_query, region_bytes, 32);
PEERLANE_PLACE_(peerlane_query, revoked, 48);
PEERLANE_PLACE_(peerlane_query, resets, 56);
PEERLANE_PLACE_(peerlane_query, doubts, 64);
PEERLANE_PLACE_(peerlane_query, flags, 72);
PEERLANE_SIZE_(peerlane_eventfd, 8);
PEERLANE_PLACE_(peerlane_eventfd, fd, 0);
PEERLANE_PLACE_(peerlane_eventfd, flags, 4);
PEERLANE_SIZE_(peerlane_stop, 16);
PEERLANE_PLACE_(peerlane_stop, deadline_ns, 0);
PEERLANE_PLACE_(peerlane_stop, aborted, 8);
PEERLANE_PLACE_(peerlane_stop, reserved, 12);
PEERLANE_SIZE_(peerlane_flush, 8);
PEERLANE_PLACE_(peerlane_flush, handle, 0);
PEERLANE_PLACE_(peerlane_flush, reserved, 4);
PEERLANE_SIZE_(peerlane_probe, 104);
PEERLANE_PLACE_(peerlane_probe, handle, 0);
PEERLANE_PLACE_(peerlane_probe, status, 4);
PEERLANE_PLACE_(peerlane_probe, offset, 8);
PEERLANE_PLACE_(peerlane_probe, local, 16);
PEERLANE_PLACE_(peerlane_probe, data, 24);
PEERLANE_PLACE_(peerlane_probe, reserved, 88);
PEERLANE_SIZE_(peerlane_moderate, 8);
PEERLANE_PLACE_(peerlane_moderate, count, 0);
PEERLANE_PLACE_(peerlane_moderate, age, 4);
PEERLANE_SIZE_(peerlane_allocate, 40);
PEERLANE_PLACE_(peerlane_allocate, bytes, 0);
PEERLANE_PLACE_(peerlane_allocate, base, 8);
PEERLANE_PLACE_(peerlane_allocate, flags, 16);
PEERLANE_PLACE_(peerlane_allocate, reserved, 20);
PEERLANE_PLACE_(peerlane_allocate, token, 24);
PEERLANE_SIZE_(peerlane_free, 24);
PEERLANE_PLACE_(peerlane_free, flags, 0);
PEERLANE_PLACE_(peerlane_free, reserved, 4);
PEERLANE_PLACE_(peerlane_free, token, 8);
PEERLANE_SIZE_(peerlane_window, 16);
PEERLANE_PLACE_(peerlane_window, base, 0);
PEERLANE_PLACE_(peerlane_window, flags, 8);
PEERLANE_PLACE_(peerlane_window, reserved, 12);
PEERLANE_SIZE_(peerlane_opencl, 64);
PEERLANE_PLACE_(peerlane_opencl, flags, 0);
PEERLANE_PLACE_(peerlane_opencl, fd, 4);
PEERLANE_PLACE_(peerlane_opencl, bytes, 8);
PEERLANE_PLACE_(peerlane_opencl, map_bytes, 40);
PEERLANE_PLACE_(peerlane_opencl, status_bytes, 48);
PEERLANE_PLACE_(peerlane_opencl, reserved, 56);
PEERLANE_SIZE_(peerlane_access, 32);
PEERLANE_PLACE_(peerlane_access, area, 0);
PEERLANE_PLACE_(peerlane_access, flags, 4);
PEERLANE_PLACE_(peerlane_access, offset, 8);
PEERLANE_PLACE_(peerlane_access, address, 16);
PEERLANE_PLACE_(peerlane_access, length, 24);
PEERLANE_PLACE_(peerlane_access, reserved, 28);
PEERLANE_SIZE_(peerlane_arm, 8);
PEERLANE_PLACE_(peerlane_arm, flags, 0);
PEERLANE_PLACE_(peerlane_arm, reserved, 4);
PEERLANE_SIZE_(peerlane_reprogram, 8);
PEERLANE_PLACE_(peerlane_reprogram, flags, 0);
PEERLANE_PLACE_(peerlane_reprogram, reserved, 4);
PEERLANE_SIZE_(peerlane_configure, 24);
PEERLANE_PLACE_(peerlane_configure, address, 0);
PEERLANE_PLACE_(peerlane_configure, length, 8);
PEERLANE_PLACE_(peerlane_configure, packing, 16);
PEERLANE_PLACE_(peerlane_configure, reserved, 20);
PEERLANE_SIZE_(peerlane_stream, 24);
PEERLANE_PLACE_(peerlane_stream, number, 0);
PEERLANE_PLACE_(peerlane_stream, flags, 4);
PEERLANE_PLACE_(peerlane_stream, limit, 8);
PEERLANE_PLACE_(peerlane_stream, state, 12);
PEERLANE_PLACE_(peerlane_stream, waiting, 16);
PEERLANE_PLACE_(peerlane_stream, reserved, 20);
PEERLANE_SIZE_(peerlane_descriptor, 64);
PEERLANE_PLACE_(peerlane_descriptor, peer, 0);
PEERLANE_PLACE_(peerlane_descriptor, local, 8);
PEERLANE_PLACE_(peerlane_descriptor, length, 16);
PEERLANE_PLACE_(peerlane_descriptor, control, 20);
PEERLANE_PLACE_(peerlane_descriptor, cookie, 24);
PEERLANE_SIZE_(peerlane_completion, 32);
PEERLANE_PLACE_(peerlane_completion, cookie, 0);
PEERLANE_PLACE_(peerlane_completion, status, 4);
PEERLANE_PLACE_(peerlane_completion, bytes_done, 8);
PEERLANE_PLACE_(peerlane_completion, sequence, 12);
PEERLANE_PLACE_(peerlane_completion, fault_address, 16);
#undef PEERLANE_PLACE_
#undef PEERLANE_SIZE_
#undef PEERLANE_CHECK_
#endif

#endif
