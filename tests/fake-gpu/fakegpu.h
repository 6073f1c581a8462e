/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT OR Apache-2.0 */
/*
 * /dev/fakegpu: a mock of a GPU for tests, never installed.
 *
 * Its VRAM is BAR 2 of QEMU's ivshmem-plain. A buffer lies in one or several pieces of VRAM; it
 * has a device pointer, as CUDA's buffers have, valid in the process that allocated it, and can be
 * exported as a dma-buf. Closing the file frees its buffers.
 *
 * mmap() of the file maps VRAM as a whole, from its first byte.
 */
#ifndef _FAKEGPU_H
#define _FAKEGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* VRAM is allocated in these units, and device pointers are mapped in them. */
#define FAKEGPU_GRANULE 0x10000
/* A buffer's offset and size are multiples of this. */
#define FAKEGPU_PAGE 0x1000
/* The most pieces of a buffer. */
#define FAKEGPU_PIECES 16
/* Every byte of VRAM that no longer belongs to a buffer. */
#define FAKEGPU_POISON 0xdb

struct fakegpu_info {
	__u64 vram_bytes;
	__u64 free_bytes;
};

struct fakegpu_alloc {
	__u64 size;	/* in: bytes */
	__u64 address;	/* in: the device pointer that it shall have, or 0; out: what it has */
	__u64 id;	/* out: no other buffer has it, before or after */
	__u32 offset;	/* in: where in its first granule it begins */
	__u32 pieces;	/* in: apart from each other; 0 counts as 1 */
	__u32 handle;	/* out */
	__u32 reserved;	/* in: 0 */
};

/*
 * Owners of its page tables are called back first. Without FREE_REVOKE an exported buffer lives on until its dma-bufs
 * are gone, as with DRM; with it the dma-bufs lose their memory, as with vfio-pci.
 */
struct fakegpu_free {
	__u32 handle;
	__u32 flags;
};

#define FAKEGPU_FREE_REVOKE 1

struct fakegpu_piece {
	__u64 offset;	/* in VRAM */
	__u64 length;
};

struct fakegpu_where {
	__u32 handle;	/* in */
	__u32 count;	/* out */
	struct fakegpu_piece pieces[FAKEGPU_PIECES];	/* out: the buffer's bytes, in order */
};

struct fakegpu_export {
	__u32 handle;	/* in */
	__u32 flags;	/* in */
	__s32 fd;	/* out: the dma-buf */
	__u32 reserved;	/* in: 0 */
};

/* It cannot be pinned, like vfio-pci's: importers must be able to release it. */
#define FAKEGPU_EXPORT_NO_PIN 1
/* Its file is open for reading only. */
#define FAKEGPU_EXPORT_READ_ONLY 2

/* Adds a fence to the buffer, as if the GPU were still at work on it. The fence is signalled after `ms`. */
struct fakegpu_fence {
	__u32 handle;
	__u32 ms;
};

/*
 * Moves a buffer to another place. EBUSY if it is pinned and MOVE_PINNED is not given, or if it has page tables. The
 * contents move, too; the old place is poisoned and becomes a buffer of its own once importers have released it, or
 * after timeout_ms, which counts as an error.
 */
struct fakegpu_move {
	__u32 handle;		/* in */
	__u32 flags;		/* in */
	__u32 timeout_ms;	/* in */
	__u32 old_handle;	/* out: the buffer that the old place is now */
};

#define FAKEGPU_MOVE_PINNED 1

/* Tables of dma-bufs that break the rules; by the module's parameter broken_table. */
enum fakegpu_broken_table {
	FAKEGPU_BROKEN_EMPTY = 1,	/* the first segment has no bytes */
	FAKEGPU_BROKEN_WRAPPED,		/* the last segment runs past 2^64 */
	FAKEGPU_BROKEN_SHORT,		/* a page is missing at the end */
	FAKEGPU_BROKEN_LONG,		/* a page of somebody else's follows */
};

enum fakegpu_count {
	/* Objects that exist now. */
	FAKEGPU_BUFFERS,
	FAKEGPU_DMABUFS,
	FAKEGPU_ATTACHMENTS,
	FAKEGPU_PINS,
	FAKEGPU_MAPS,		/* mappings of dma-bufs */
	FAKEGPU_TABLES,		/* page tables, of nvidia_p2p_get_pages() */
	/* Events so far. */
	FAKEGPU_INVALIDATIONS,	/* dma-bufs whose importers were told to let go */
	FAKEGPU_CALLBACKS,	/* page tables whose owners were told so */
	FAKEGPU_LATE_PUTS,	/* of page tables that were not found; allowed */
	FAKEGPU_TOO_FAR,	/* importers refused for their place in the PCI tree */
	/* Errors, from here on. */
	FAKEGPU_ERRORS,
	FAKEGPU_ERR_STILL_MAPPED = FAKEGPU_ERRORS, /* an importer did not let go in time */
	FAKEGPU_ERR_UNALIGNED,	/* pages asked for that are not whole granules */
	FAKEGPU_ERR_IN_CALLBACK,	/* a call that is not allowed in the free callback */
	FAKEGPU_ERR_NOT_FREED,	/* the free callback did not free what it had to */
	FAKEGPU_ERR_FREED,	/* nvidia_p2p_free_page_table() called where it must not be */
	FAKEGPU_COUNTS
};

struct fakegpu_counts {
	__u64 counts[FAKEGPU_COUNTS];
};

#define FAKEGPU_IOC_INFO _IOR('g', 0, struct fakegpu_info)
#define FAKEGPU_IOC_ALLOC _IOWR('g', 1, struct fakegpu_alloc)
#define FAKEGPU_IOC_FREE _IOW('g', 2, struct fakegpu_free)
#define FAKEGPU_IOC_WHERE _IOWR('g', 3, struct fakegpu_where)
#define FAKEGPU_IOC_EXPORT _IOWR('g', 4, struct fakegpu_export)
#define FAKEGPU_IOC_FENCE _IOW('g', 5, struct fakegpu_fence)
#define FAKEGPU_IOC_MOVE _IOWR('g', 6, struct fakegpu_move)
#define FAKEGPU_IOC_COUNTS _IOR('g', 7, struct fakegpu_counts)

#endif
