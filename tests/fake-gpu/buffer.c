// SPDX-License-Identifier: GPL-2.0
/* Buffers: allocating, moving and revoking them. */
#include <linux/dma-buf.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "internal.h"

DEFINE_XARRAY_ALLOC1(fakegpu_buffers);

/* Device pointers begin here, apart from each other, in the range of CUDA's. */
#define ADDRESSES 0x7f0000000000ULL
#define ADDRESS_STEP 0x200000ULL

static u64 next_address = ADDRESSES;
static u64 next_id = 1;

static const char *driver_name(struct dma_fence *fence)
{
	return "fakegpu";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "fakegpu";
}

/* Before 7.2 each fence needs one. */
static DEFINE_SPINLOCK(fence_lock);

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};

static void signal_fence(struct buffer *buffer)
{
	struct dma_fence *fence = xchg(&buffer->fence, NULL);

	if (fence) {
		dma_fence_signal(fence);
		dma_fence_put(fence);
	}
}

static void fence_work(struct work_struct *work)
{
	signal_fence(container_of(to_delayed_work(work), struct buffer, fence_work));
}

static void unlist(struct buffer *buffer)
{
	xa_erase(&fakegpu_buffers, buffer->handle);
}

static void release(struct kref *references)
{
	struct buffer *buffer = container_of(references, struct buffer, references);

	cancel_delayed_work_sync(&buffer->fence_work);
	signal_fence(buffer);
	dma_resv_fini(&buffer->reservation);
	if (buffer->place)
		place_free(buffer->place);
	fakegpu_count(FAKEGPU_BUFFERS, -1);
	kfree(buffer);
}

void buffer_put(struct buffer *buffer)
{
	kref_put(&buffer->references, release);
}

/* Makes a buffer with no other property than its place, which it owns from now on. */
static struct buffer *buffer_of(struct place *place, struct file *file)
{
	struct buffer *buffer = kzalloc_obj(*buffer);
	int error;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	error = xa_alloc(&fakegpu_buffers, &buffer->handle, buffer, xa_limit_31b, GFP_KERNEL);
	if (error) {
		kfree(buffer);
		return ERR_PTR(error);
	}
	kref_init(&buffer->references);
	dma_resv_init(&buffer->reservation);
	INIT_LIST_HEAD(&buffer->exports);
	INIT_LIST_HEAD(&buffer->tables);
	INIT_DELAYED_WORK(&buffer->fence_work, fence_work);
	for (unsigned int i = 0; i < place->count; i++)
		buffer->size += place->pieces[i].bytes;
	buffer->place = place;
	buffer->id = next_id++;
	buffer->file = file;
	buffer->process = current->tgid;
	buffer->address = next_address;
	next_address += round_up(buffer->size, ADDRESS_STEP) + ADDRESS_STEP;
	fakegpu_count(FAKEGPU_BUFFERS, 1);
	return buffer;
}

struct buffer *buffer_new(struct fakegpu_alloc *alloc, struct file *file)
{
	size_t bytes = round_up(alloc->offset + alloc->size, FAKEGPU_GRANULE);
	struct buffer *buffer;
	struct place *place;

	if (!alloc->size || alloc->size > fakegpu->bytes || alloc->offset >= FAKEGPU_GRANULE ||
	    (alloc->size | alloc->offset) % FAKEGPU_PAGE || alloc->pieces > FAKEGPU_PIECES ||
	    alloc->reserved)
		return ERR_PTR(-EINVAL);
	if (alloc->address) {
		u64 first = alloc->address - alloc->offset;
		unsigned long handle;

		/* It must have been allocated before. */
		if (first % FAKEGPU_GRANULE || first < ADDRESSES || first + bytes > next_address)
			return ERR_PTR(-EINVAL);
		xa_for_each(&fakegpu_buffers, handle, buffer)
			if (buffer->process == current->tgid && first < buffer_first(buffer) +
			    buffer_granules_bytes(buffer) && buffer_first(buffer) < first + bytes)
				return ERR_PTR(-EEXIST);
	}
	place = place_new(bytes, alloc->pieces ?: 1);
	if (IS_ERR(place))
		return ERR_CAST(place);
	buffer = buffer_of(place, file);
	if (IS_ERR(buffer)) {
		place_free(place);
		return buffer;
	}
	place_fill(place, 0);
	buffer->offset = alloc->offset;
	buffer->size = alloc->size;
	buffer->address = alloc->address ?: buffer->address + alloc->offset;
	return buffer;
}

struct buffer *buffer_find(u32 handle, struct file *file)
{
	struct buffer *buffer = xa_load(&fakegpu_buffers, handle);

	return buffer && buffer->file == file ? buffer : ERR_PTR(-ENOENT);
}

/* Finds the calling process's buffer that has these bytes of its device addresses. */
struct buffer *buffer_at(u64 first, u64 bytes)
{
	struct buffer *buffer;
	unsigned long handle;

	xa_for_each(&fakegpu_buffers, handle, buffer) {
		u64 inside = first - buffer_first(buffer);
		size_t all = buffer_granules_bytes(buffer);

		if (buffer->process == current->tgid && inside < all && bytes <= all - inside)
			return buffer;
	}
	return NULL;
}

/*
 * Puts the buffer into another place, or into none, and makes its importers release the old one. Returns whether they
 * did so in time.
 */
static bool replace(struct buffer *buffer, struct place *new, long jiffies)
{
	struct place *old = buffer->place;

	buffer->place = new;
	dmabuf_invalidate(buffer);
	/* Work that was in progress before may continue until here. */
	dma_resv_wait_timeout(&buffer->reservation, DMA_RESV_USAGE_BOOKKEEP, false, jiffies);
	dma_resv_unlock(&buffer->reservation);
	return place_wait(old, jiffies);
}

int buffer_move(struct buffer *buffer, struct fakegpu_move *move)
{
	struct buffer *rest;
	struct place *old;
	struct place *new;
	int error;

	if (!buffer->place)
		return -ENODEV;
	if (!list_empty(&buffer->tables))
		return -EBUSY;
	new = place_new(buffer_granules_bytes(buffer), buffer->place->count);
	if (IS_ERR(new))
		return PTR_ERR(new);
	/* The rest gets the old place, which is known under the reservation only. */
	rest = buffer_of(new, buffer->file);
	if (IS_ERR(rest)) {
		place_free(new);
		return PTR_ERR(rest);
	}
	dma_resv_lock(&buffer->reservation, NULL);
	old = buffer->place;
	error = buffer->pins && !(move->flags & FAKEGPU_MOVE_PINNED) ? -EBUSY : 0;
	if (error) {
		dma_resv_unlock(&buffer->reservation);
		unlist(rest);
		buffer_put(rest);
		return error;
	}
	rest->place = old;
	/* No other pin moves it in the meantime. */
	buffer->settled = true;
	if (!replace(buffer, new, msecs_to_jiffies(move->timeout_ms)))
		fakegpu_count(FAKEGPU_ERR_STILL_MAPPED, 1);
	place_copy(new, old);
	place_fill(old, FAKEGPU_POISON);
	move->old_handle = rest->handle;
	return 0;
}

/*
 * Moves the buffer to the place where it is pinned, once: as drivers with several kinds of memory do
 * (amdgpu_dma_buf_pin(), xe_dma_buf_pin()). All importers are notified, including those that have mapped nothing yet,
 * one of which asks for the pin. The buffer stays where there is no room, or a page table holds it.
 */
void buffer_settle(struct buffer *buffer)
{
	struct place *old = buffer->place;
	struct place *new;

	if (!fakegpu_pin_moves || buffer->settled || !old || !list_empty(&buffer->tables))
		return;
	new = place_new(buffer_granules_bytes(buffer), old->count);
	if (IS_ERR(new))
		return;
	buffer->settled = true;
	buffer->place = new;
	dmabuf_invalidate(buffer);
	place_copy(new, old);
	if (atomic_read(&old->maps))
		fakegpu_count(FAKEGPU_ERR_STILL_MAPPED, 1);
	else
		place_free(old);
}

/* Time that revoking waits before it counts an error, and asks again. */
#define PATIENCE (10 * HZ)

/*
 * Moves the buffer while it is being mapped, once: the table that its importer is about to get is that of the old
 * place, which contains poison.
 */
void buffer_slip(struct buffer *buffer)
{
	struct place *old = buffer->place;
	struct place *new;

	if (buffer->slipped || !list_empty(&buffer->tables))
		return;
	new = place_new(buffer_granules_bytes(buffer), old->count);
	if (IS_ERR(new))
		return;
	buffer->slipped = true;
	place_copy(new, old);
	place_fill(old, FAKEGPU_POISON);
	old->orphan = true;
	buffer->place = new;
	dmabuf_invalidate(buffer);
}

/* Takes the buffer's memory away from all importers. */
void buffer_revoke(struct buffer *buffer)
{
	struct place *old;

	dma_resv_lock(&buffer->reservation, NULL);
	old = buffer->place;
	if (!old) {
		dma_resv_unlock(&buffer->reservation);
		return;
	}
	while (!replace(buffer, NULL, PATIENCE)) {
		fakegpu_count(FAKEGPU_ERR_STILL_MAPPED, 1);
		pr_err("fakegpu: an importer of buffer %u does not release it\n", buffer->handle);
		dma_resv_lock(&buffer->reservation, NULL);
		buffer->place = old;
	}
	place_free(old);
}

void buffer_close(struct buffer *buffer, bool revoke)
{
	p2p_call_back(buffer);
	unlist(buffer);
	if (revoke)
		buffer_revoke(buffer);
	buffer_put(buffer);
}

int buffer_fence(struct buffer *buffer, u32 ms)
{
	struct dma_fence *fence;
	int error;

	if (READ_ONCE(buffer->fence))
		return -EBUSY;
	fence = kzalloc_obj(*fence);
	if (!fence)
		return -ENOMEM;
	dma_fence_init(fence, &fence_ops, &fence_lock, dma_fence_context_alloc(1), 1);
	dma_resv_lock(&buffer->reservation, NULL);
	error = dma_resv_reserve_fences(&buffer->reservation, 1);
	if (!error)
		dma_resv_add_fence(&buffer->reservation, fence, DMA_RESV_USAGE_KERNEL);
	dma_resv_unlock(&buffer->reservation);
	if (error) {
		dma_fence_put(fence);
		return error;
	}
	buffer->fence = fence;
	schedule_delayed_work(&buffer->fence_work, msecs_to_jiffies(ms));
	return 0;
}

/* Lists the buffer's own bytes of a place's granules. Returns the number of pieces. */
int buffer_pieces(const struct buffer *buffer, struct place *place, struct fakegpu_piece *pieces)
{
	size_t skip = buffer->offset, left = buffer->size;
	unsigned int i;

	for (i = 0; i < place->count && left; i++) {
		pieces[i].offset = place->pieces[i].start - fakegpu->base + skip;
		pieces[i].length = min(place->pieces[i].bytes - skip, left);
		left -= pieces[i].length;
		skip = 0;
	}
	return i;
}
