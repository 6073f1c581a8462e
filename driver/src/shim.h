/* SPDX-License-Identifier: GPL-2.0 */
/* Declared a second time in ffi.rs. */
#ifndef PEERLANE_SHIM_H
#define PEERLANE_SHIM_H

#include <linux/types.h>

struct device;
struct page;
struct vm_area_struct;

int peerlane_dma_mapping_error(struct device *device, dma_addr_t address);
void peerlane_lift_segment_limits(struct device *device);
void peerlane_map_frames(struct vm_area_struct *vma);
void peerlane_make_uncached(struct vm_area_struct *vma);
void *peerlane_page_address(struct page *page);
unsigned long peerlane_page_to_pfn(struct page *page);

#endif
