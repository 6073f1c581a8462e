/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAKEGPU_INTERNAL_H
#define FAKEGPU_INTERNAL_H

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "fakegpu.h"

struct dma_buf;
struct gen_pool;

/* The one GPU. */
struct gpu {
	struct pci_dev *pdev;
	phys_addr_t base;
	size_t bytes;
	u8 *vram;
	struct gen_pool *pool;
};

/*
 * The GPU, or NULL. Its lock is the driver's one lock, held also during callbacks, as in NVIDIA's driver. It comes
 * before the reservations of dma-bufs.
 */
extern struct gpu *fakegpu;
extern struct mutex fakegpu_lock;
extern struct xarray fakegpu_buffers;
extern bool fakegpu_any_distance;
extern bool fakegpu_pin_moves;

/* Takes bytes of BAR 1 for a mapping. Returns whether so many were left. */
bool fakegpu_take_bar1(size_t bytes);
void fakegpu_give_bar1(size_t bytes);

extern atomic64_t fakegpu_counts[FAKEGPU_COUNTS];

static inline void fakegpu_count(enum fakegpu_count count, int by)
{
	atomic64_add(by, &fakegpu_counts[count]);
}

/* Where in VRAM a buffer lies, in whole granules. */
struct place {
	/* dma-buf mappings of it. */
	atomic_t maps;
	/* No buffer has it any more: the last mapping frees it. */
	bool orphan;
	unsigned int count;
	struct {
		phys_addr_t start;
		size_t bytes;
		/* Bytes that were allocated for it: pieces are kept apart from each other. */
		size_t taken;
	} pieces[FAKEGPU_PIECES];
};

struct place *place_new(size_t bytes, unsigned int pieces);
bool place_wait(struct place *place, long jiffies);
void place_unmapped(struct place *place);
void place_free(struct place *place);
void place_fill(struct place *place, u8 value);
void place_copy(struct place *to, struct place *from);

struct buffer {
	/* One for the handle, one for each dma-buf. */
	struct kref references;
	/* NULL once the memory has been revoked; guarded by the reservation. */
	struct place *place;
	u64 address;
	u64 id;
	size_t size;
	u32 offset;
	u32 handle;
	/* Owner of the handle: the file, and the process in which the device pointer is valid. */
	struct file *file;
	pid_t process;

	struct dma_resv reservation;
	/* Guarded by the reservation. */
	struct list_head exports;
	int pins;
	/* Whether it has been moved to the place where it is pinned, and moved while it was being mapped. */
	bool settled;
	bool slipped;
	struct dma_fence *fence;
	struct delayed_work fence_work;

	/* Page tables of p2p.c; added under the reservation, too. */
	struct list_head tables;
};

static inline u64 buffer_first(const struct buffer *buffer)
{
	return buffer->address - buffer->offset;
}

static inline size_t buffer_granules_bytes(const struct buffer *buffer)
{
	return round_up(buffer->offset + buffer->size, FAKEGPU_GRANULE);
}

/* All of these under fakegpu_lock. */
struct buffer *buffer_new(struct fakegpu_alloc *alloc, struct file *file);
struct buffer *buffer_find(u32 handle, struct file *file);
struct buffer *buffer_at(u64 first, u64 bytes);
void buffer_put(struct buffer *buffer);
void buffer_close(struct buffer *buffer, bool revoke);
void buffer_revoke(struct buffer *buffer);
int buffer_move(struct buffer *buffer, struct fakegpu_move *move);
int buffer_fence(struct buffer *buffer, u32 ms);
int buffer_pieces(const struct buffer *buffer, struct place *place, struct fakegpu_piece *pieces);

/* These under the buffer's reservation alone. */
void buffer_settle(struct buffer *buffer);
void buffer_slip(struct buffer *buffer);

int dmabuf_export(struct buffer *buffer, u32 flags);
void dmabuf_invalidate(struct buffer *buffer);

void p2p_call_back(struct buffer *buffer);

/* slot.c: no device is taken from a driver any more. */
void slot_stop(void);

#endif
