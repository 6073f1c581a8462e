// SPDX-License-Identifier: GPL-2.0
/* What the kernel has only as macros and inline functions without a Rust helper. */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "shim.h"

/* `module!` has no word for it. That of dkms.conf. */
MODULE_VERSION("0.1.0");

int peerlane_dma_mapping_error(struct device *device, dma_addr_t address)
{
	return dma_mapping_error(device, address);
}

void peerlane_lift_segment_limits(struct device *device)
{
	dma_set_max_seg_size(device, UINT_MAX);
	dma_set_seg_boundary(device, ULONG_MAX);
}

void peerlane_make_uncached(struct vm_area_struct *vma)
{
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
}

void peerlane_map_frames(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP);
}

void *peerlane_page_address(struct page *page)
{
	return page_address(page);
}

unsigned long peerlane_page_to_pfn(struct page *page)
{
	return page_to_pfn(page);
}
