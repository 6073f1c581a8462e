// SPDX-License-Identifier: GPL-2.0
/* Buffers as dma-bufs: a dynamic exporter of memory that only peers can reach. */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "internal.h"

MODULE_IMPORT_NS("DMA_BUF");

/* No cache holds VRAM, so it may be mapped as often as importers like. */
#define UNCACHED DMA_ATTR_DEBUGGING_IGNORE_CACHELINES

/* A dma-buf of a buffer. */
struct export {
	struct buffer *buffer;
	struct dma_buf *dmabuf;
	struct list_head node;
};

/* A mapping of a dma-buf. */
struct map {
	struct sg_table table;
	struct place *place;
};

static struct buffer *buffer_of(struct dma_buf *dmabuf)
{
	return ((struct export *)dmabuf->priv)->buffer;
}

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	int distance = -1;

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
		return -EREMOTEIO;
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
	buffer_of(attachment->dmabuf)->pins++;
	fakegpu_count(FAKEGPU_PINS, 1);
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	buffer_of(attachment->dmabuf)->pins--;
	fakegpu_count(FAKEGPU_PINS, -1);
}

static void unmap_pieces(struct device *dev, struct sg_table *table, enum dma_data_direction dir,
			 unsigned int count)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sg(table->sgl, sg, count, i)
		dma_unmap_resource(dev, sg_dma_address(sg), sg_dma_len(sg), dir, UNCACHED);
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction dir)
{
	struct buffer *buffer = buffer_of(attachment->dmabuf);
	struct fakegpu_piece pieces[FAKEGPU_PIECES];
	struct device *dev = attachment->dev;
	struct scatterlist *sg;
	int count, i, error;
	struct map *map;

	if (!buffer->place)
		return ERR_PTR(-ENODEV);
	map = kzalloc_obj(*map);
	if (!map)
		return ERR_PTR(-ENOMEM);
	count = buffer_pieces(buffer, buffer->place, pieces);
	error = sg_alloc_table(&map->table, count, GFP_KERNEL);
	if (error)
		goto free;
	for_each_sgtable_sg(&map->table, sg, i) {
		dma_addr_t address = dma_map_resource(dev, fakegpu->base + pieces[i].offset,
						      pieces[i].length, dir, UNCACHED);

		error = dma_mapping_error(dev, address);
		if (error)
			goto unmap;
		/* There are no pages behind it, only addresses. */
		sg_set_page(sg, NULL, pieces[i].length, 0);
		sg_dma_address(sg) = address;
		sg_dma_len(sg) = pieces[i].length;
	}
	map->place = buffer->place;
	atomic_inc(&map->place->maps);
	fakegpu_count(FAKEGPU_MAPS, 1);
	return &map->table;
unmap:
	unmap_pieces(dev, &map->table, dir, i);
	sg_free_table(&map->table);
free:
	kfree(map);
	return ERR_PTR(error);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		  enum dma_data_direction dir)
{
	struct map *map = container_of(table, struct map, table);

	unmap_pieces(attachment->dev, table, dir, table->nents);
	sg_free_table(table);
	fakegpu_count(FAKEGPU_MAPS, -1);
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
	info.flags = O_RDWR;
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

/* Tells all importers to let go. Under the reservation. */
void dmabuf_invalidate(struct buffer *buffer)
{
	struct export *export;

	list_for_each_entry(export, &buffer->exports, node) {
		dma_buf_invalidate_mappings(export->dmabuf);
		fakegpu_count(FAKEGPU_INVALIDATIONS, 1);
	}
}
