/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of NVIDIA's kernel interface that this mock offers: names, layouts and rules are those of
 * kernel-open/nvidia/nv-p2p.h in NVIDIA's open-gpu-kernel-modules.
 */
#ifndef FAKEGPU_NV_P2P_H
#define FAKEGPU_NV_P2P_H

#include <linux/types.h>

/* Major version in the upper half, minor in the lower. */
#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00010002

enum nvidia_p2p_page_size_type {
	NVIDIA_P2P_PAGE_SIZE_4KB,
	NVIDIA_P2P_PAGE_SIZE_64KB,
	NVIDIA_P2P_PAGE_SIZE_128KB,
};

struct nvidia_p2p_page {
	u64 physical_address;
	u32 registers[6];
};

struct nvidia_p2p_page_table {
	u32 version;
	u32 page_size;
	struct nvidia_p2p_page **pages;
	u32 entries;
	u8 *gpu_uuid;
};

int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data);
int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address,
			 struct nvidia_p2p_page_table *page_table);
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

#endif
