/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of the pinned release of Linux that the kernel lacks, for which the file `probes` has a test. */
#ifndef PEERLANE_COMPAT_H
#define PEERLANE_COMPAT_H

#include <linux/align.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "probes.h"

#ifndef PEERLANE_HAS_KREALLOC_ALIGN
/* An allocation is aligned to the largest power of two that divides its size. */
#define krealloc_node_align(p, size, align, flags, node) krealloc(p, ALIGN(size, align), flags)
#define kvrealloc_node_align(p, size, align, flags, node) kvrealloc(p, ALIGN(size, align), flags)
#endif

#ifndef PEERLANE_HAS_VREALLOC_ALIGN
/* The driver does not allocate this way. */
#define vrealloc_node_align(p, size, align, flags, node) NULL
#endif

#ifndef PEERLANE_HAS_PCI_IRQ_TYPE
static inline unsigned int pci_irq_type(struct pci_dev *device)
{
	return device->msix_enabled ? PCI_IRQ_MSIX : device->msi_enabled ? PCI_IRQ_MSI : PCI_IRQ_INTX;
}
#endif

/* Mapping without it is checked, and refused where it needs copies. */
#ifndef DMA_ATTR_REQUIRE_COHERENT
#define DMA_ATTR_REQUIRE_COHERENT 0
#endif
/* It only keeps a debugging option of the kernel quiet. */
#ifndef DMA_ATTR_DEBUGGING_IGNORE_CACHELINES
#define DMA_ATTR_DEBUGGING_IGNORE_CACHELINES 0
#endif

#endif
