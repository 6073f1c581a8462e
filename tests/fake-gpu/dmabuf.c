// SPDX-License-Identifier: GPL-2.0
/* Buffers as dma-bufs: a dynamic exporter of memory that only peers can reach. */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "internal.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif

/* Names of 7.2 and later. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define dma_buf_attach_revocable(attachment) false
#define dma_buf_invalidate_mappings dma_buf_move_notify
#define DMA_ATTR_DEBUGGING_IGNORE_CACHELINES 0
#endif
#ifndef CONFIG_PCI_P2PDMA
/* As an exporter that does not ask the kernel. */
#define pci_p2pdma_distance(provider, client, verbose) 0
#endif

/* VRAM is never in a cache, so importers may map it any number of times. */
#define UNCACHED DMA_ATTR_DEBUGGING_IGNORE_CACHELINES

/* A dma-buf of a buffer. */
struct export {
	struct buffer *buffer;
	struct dma_buf *dmabuf;
	struct list_head node;
};

static bool raw_addresses;
module_param(raw_addresses, bool, 0600);
MODULE_PARM_DESC(raw_addresses, "give importers BAR addresses that are not mapped for their device");

static bool map_moves;
module_param(map_moves, bool, 0600);
MODULE_PARM_DESC(map_moves, "move a buffer without notice when it is mapped for the first time");

static uint broken_table;
module_param(broken_table, uint, 0600);
MODULE_PARM_DESC(broken_table, "fault of tables: enum fakegpu_broken_table, or 0");

/*
 * Errors of real exporters: 524 (ENOTSUPP) of NVIDIA's, which is not a code of user space, EOPNOTSUPP and ENODEV of
 * vfio-pci's, EBUSY of amdgpu's.
 */
static int attach_error;
module_param(attach_error, int, 0600);
MODULE_PARM_DESC(attach_error, "error for importers that attach, or 0");

static int map_error;
module_param(map_error, int, 0600);
MODULE_PARM_DESC(map_error, "error for importers that map, or 0");

static ulong stray_address;
module_param(stray_address, ulong, 0600);
MODULE_PARM_DESC(stray_address, "reported address of the last segment of tables, or 0");

/* A mapping of a dma-buf. */
struct map {
	struct sg_table table;
	struct place *place;
	/* Bytes of BAR 1. */
	size_t bytes;
	/* Addresses that are mapped for the device, also where the table is broken. */
	int count;
	struct {
		dma_addr_t address;
		size_t bytes;
	} mapped[FAKEGPU_PIECES];
};

static struct buffer *buffer_of(struct dma_buf *dmabuf)
{
	return ((struct export *)dmabuf->priv)->buffer;
}

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	int distance = -1;

	if (attach_error)
		return -attach_error;
	if (!attachment->peer2peer)
		return -EOPNOTSUPP;
	if (!dmabuf->ops->pin && !dma_buf_attach_revocable(attachment))
		return -EOPNOTSUPP;
	scoped_guard(mutex, &fakegpu_lock) {
		if (!fakegpu)
			return -ENODEV;
		distance = pci_p2pdma_distance(fakegpu->pdev, attachment->dev, false);
	}
	if (distance < 0 && !fakegpu_any_distance) {
		fakegpu_count(FAKEGPU_TOO_FAR, 1);
		/* As NVIDIA's driver does where it knows no path: nv_dma_buf_attach() of its nv-dmabuf.c. */
		return -ENOTSUPP;
	}
	fakegpu_count(FAKEGPU_ATTACHMENTS, 1);
	return 0;
}

static void detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	fakegpu_count(FAKEGPU_ATTACHMENTS, -1);
}

static int pin(struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = buffer_of(attachment->dmabuf);

	buffer_settle(buffer);
	buffer->pins++;
	fakegpu_count(FAKEGPU_PINS, 1);
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	buffer_of(attachment->dmabuf)->pins--;
	fakegpu_count(FAKEGPU_PINS, -1);
}

static void unmap_pieces(struct device *dev, struct map *map, enum dma_data_direction dir)
{
	while (map->count--)
		dma_unmap_resource(dev, map->mapped[map->count].address,
				   map->mapped[map->count].bytes, dir, UNCACHED);
}

/* Maps a piece of VRAM for a device, or only returns its address. */
static int map_piece(struct device *dev, struct map *map, const struct fakegpu_piece *piece,
		     enum dma_data_direction dir, dma_addr_t *address)
{
	phys_addr_t start = fakegpu->base + piece->offset;
	int error;

	if (raw_addresses) {
		/* As NVIDIA's driver does: its open-gpu-kernel-modules, issue 1324. */
		*address = start;
		return 0;
	}
	*address = dma_map_resource(dev, start, piece->length, dir, UNCACHED);
	error = dma_mapping_error(dev, *address);
	if (error)
		return error;
	map->mapped[map->count].address = *address;
	map->mapped[map->count++].bytes = piece->length;
	return 0;
}

/* Breaks a table in the way that the module's parameter asks for. */
static void break_table(struct sg_table *table)
{
	struct scatterlist *last = table->sgl;

	while (sg_next(last))
		last = sg_next(last);
	switch (broken_table) {
	case FAKEGPU_BROKEN_EMPTY:
		sg_dma_len(table->sgl) = 0;
		break;
	case FAKEGPU_BROKEN_WRAPPED:
		sg_dma_address(last) = -(dma_addr_t)(sg_dma_len(last) / 2);
		break;
	case FAKEGPU_BROKEN_SHORT:
		sg_dma_len(last) -= FAKEGPU_PAGE;
		break;
	case FAKEGPU_BROKEN_LONG:
		sg_dma_len(last) += FAKEGPU_PAGE;
		break;
	}
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction dir)
{
	struct buffer *buffer = buffer_of(attachment->dmabuf);
	struct fakegpu_piece pieces[FAKEGPU_PIECES];
	struct device *dev = attachment->dev;
	struct scatterlist *sg;
	int count, i, error;
	struct map *map;

	if (map_error)
		return ERR_PTR(-map_error);
	if (!buffer->place)
		return ERR_PTR(-ENODEV);
	/* As NVIDIA's driver for every failure: nv_dma_buf_map() of its nv-dmabuf.c. */
	if (!fakegpu_take_bar1(buffer->size))
		return NULL;
	map = kzalloc_obj(*map);
	if (!map) {
		fakegpu_give_bar1(buffer->size);
		return ERR_PTR(-ENOMEM);
	}
	map->bytes = buffer->size;
	count = buffer_pieces(buffer, buffer->place, pieces);
	error = sg_alloc_table(&map->table, count, GFP_KERNEL);
	if (error)
		goto free;
	for_each_sgtable_sg(&map->table, sg, i) {
		dma_addr_t address;

		error = map_piece(dev, map, &pieces[i], dir, &address);
		if (error)
			goto unmap;
		/* A segment has no pages, only addresses. */
		sg_set_page(sg, NULL, pieces[i].length, 0);
		sg_dma_address(sg) = address;
		sg_dma_len(sg) = pieces[i].length;
	}
	map->place = buffer->place;
	atomic_inc(&map->place->maps);
	fakegpu_count(FAKEGPU_MAPS, 1);
	break_table(&map->table);
	if (stray_address)
		for_each_sgtable_sg(&map->table, sg, i)
			if (sg_is_last(sg))
				sg_dma_address(sg) = stray_address;
	if (map_moves)
		buffer_slip(buffer);
	return &map->table;
unmap:
	unmap_pieces(dev, map, dir);
	sg_free_table(&map->table);
free:
	fakegpu_give_bar1(map->bytes);
	kfree(map);
	return ERR_PTR(error);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		  enum dma_data_direction dir)
{
	struct map *map = container_of(table, struct map, table);

	unmap_pieces(attachment->dev, map, dir);
	sg_free_table(table);
	fakegpu_count(FAKEGPU_MAPS, -1);
	fakegpu_give_bar1(map->bytes);
	place_unmapped(map->place);
	kfree(map);
}

static void release(struct dma_buf *dmabuf)
{
	struct export *export = dmabuf->priv;
	struct buffer *buffer = export->buffer;

	guard(mutex)(&fakegpu_lock);
	dma_resv_lock(&buffer->reservation, NULL);
	list_del(&export->node);
	dma_resv_unlock(&buffer->reservation);
	buffer_put(buffer);
	kfree(export);
	fakegpu_count(FAKEGPU_DMABUFS, -1);
}

static const struct dma_buf_ops pinnable = {
	.attach = attach,
	.detach = detach,
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = release,
};

static const struct dma_buf_ops revocable = {
	.attach = attach,
	.detach = detach,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = release,
};

/* Returns a file descriptor. */
int dmabuf_export(struct buffer *buffer, u32 flags)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct export *export;
	struct dma_buf *dmabuf;
	int fd;

	if (!buffer->place)
		return -ENODEV;
	export = kzalloc_obj(*export);
	if (!export)
		return -ENOMEM;
	export->buffer = buffer;
	info.ops = flags & FAKEGPU_EXPORT_NO_PIN ? &revocable : &pinnable;
	info.size = buffer->size;
	info.flags = flags & FAKEGPU_EXPORT_READ_ONLY ? O_RDONLY : O_RDWR;
	info.resv = &buffer->reservation;
	info.priv = export;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		kfree(export);
		return PTR_ERR(dmabuf);
	}
	/* From here on `release` undoes it. */
	kref_get(&buffer->references);
	export->dmabuf = dmabuf;
	dma_resv_lock(&buffer->reservation, NULL);
	list_add(&export->node, &buffer->exports);
	dma_resv_unlock(&buffer->reservation);
	fakegpu_count(FAKEGPU_DMABUFS, 1);
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

/* Notifies all importers that they must release the memory. Under the reservation. */
void dmabuf_invalidate(struct buffer *buffer)
{
	struct export *export;

	list_for_each_entry(export, &buffer->exports, node) {
		dma_buf_invalidate_mappings(export->dmabuf);
		fakegpu_count(FAKEGPU_INVALIDATIONS, 1);
	}
}
