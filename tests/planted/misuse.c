// SPDX-License-Identifier: GPL-2.0
/* Bugs in the use of interfaces that are easiest to reach from C code. Declared a second time in planted_main.rs. */
#include <linux/dma-mapping.h>

#include "misuse.h"

static dma_addr_t map(struct device *device, void *buffer, size_t bytes)
{
	dma_addr_t address = dma_map_single(device, buffer, bytes, DMA_TO_DEVICE);

	return dma_mapping_error(device, address) ? DMA_MAPPING_ERROR : address;
}

void planted_map_for_ever(struct device *device, void *buffer, size_t bytes)
{
	map(device, buffer, bytes);
}

void planted_unmap_twice(struct device *device, void *buffer, size_t bytes)
{
	dma_addr_t address = map(device, buffer, bytes);

	if (address == DMA_MAPPING_ERROR)
		return;
	dma_unmap_single(device, address, bytes, DMA_TO_DEVICE);
	dma_unmap_single(device, address, bytes, DMA_TO_DEVICE);
}

unsigned int planted_shift(unsigned int value, unsigned int by)
{
	return value << by;
}
