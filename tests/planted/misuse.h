/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLANTED_MISUSE_H
#define PLANTED_MISUSE_H

#include <linux/types.h>

struct device;

void planted_map_for_ever(struct device *device, void *buffer, size_t bytes);
void planted_unmap_twice(struct device *device, void *buffer, size_t bytes);
unsigned int planted_shift(unsigned int value, unsigned int by);

#endif
