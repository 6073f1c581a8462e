// SPDX-License-Identifier: GPL-2.0
/* Places in VRAM. */
#include <linux/genalloc.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "internal.h"

static DECLARE_WAIT_QUEUE_HEAD(unmapped);

/* Allocates `bytes` bytes, in `pieces` pieces that do not touch each other. */
struct place *place_new(size_t bytes, unsigned int pieces)
{
	size_t granules = bytes / FAKEGPU_GRANULE;
	struct place *place = kzalloc_obj(*place);
	unsigned int i;

	if (!place)
		return ERR_PTR(-ENOMEM);
	pieces = min_t(size_t, pieces, granules);
	for (i = 0; i < pieces; i++) {
		size_t share = granules / (pieces - i);
		size_t taken = (share + (pieces > 1)) * FAKEGPU_GRANULE;

		place->pieces[i].start = gen_pool_alloc(fakegpu->pool, taken);
		if (!place->pieces[i].start) {
			place_free(place);
			return ERR_PTR(-ENOSPC);
		}
		place->pieces[i].bytes = share * FAKEGPU_GRANULE;
		place->pieces[i].taken = taken;
		place->count++;
		granules -= share;
	}
	return place;
}

/* Waits until no dma-buf mapping of it is left, or the time is over. */
bool place_wait(struct place *place, long jiffies)
{
	return wait_event_timeout(unmapped, !atomic_read(&place->maps), jiffies);
}

/* Removes one mapping. The place may be freed when this returns. */
void place_unmapped(struct place *place)
{
	if (!atomic_dec_and_test(&place->maps))
		return;
	if (place->orphan)
		place_free(place);
	else
		wake_up_all(&unmapped);
}

/* Poisons the place and frees it. Memory that is still mapped is never allocated again. */
void place_free(struct place *place)
{
	if (WARN_ON(atomic_read(&place->maps)))
		return;
	place_fill(place, FAKEGPU_POISON);
	for (unsigned int i = 0; i < place->count; i++)
		gen_pool_free(fakegpu->pool, place->pieces[i].start, place->pieces[i].taken);
	kfree(place);
}

static u8 *seen_by_kernel(struct place *place, unsigned int piece)
{
	return fakegpu->vram + (place->pieces[piece].start - fakegpu->base);
}

void place_fill(struct place *place, u8 value)
{
	for (unsigned int i = 0; i < place->count; i++)
		memset(seen_by_kernel(place, i), value, place->pieces[i].bytes);
}

/* Copies between places of the same size and number of pieces. */
void place_copy(struct place *to, struct place *from)
{
	for (unsigned int i = 0; i < to->count; i++)
		memcpy(seen_by_kernel(to, i), seen_by_kernel(from, i), to->pieces[i].bytes);
}
