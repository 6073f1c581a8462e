/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A GPU, as its driver shows it to a program. */
#ifndef GPU_H
#define GPU_H

#include <stddef.h>

/* Finds the GPU of a board of the context; ends the program where it does not exist. */
void find_gpu(unsigned int board);

void *gpu_allocate(size_t bytes);
void gpu_free(void *memory);
void gpu_read(const void *from, void *to, size_t bytes);
void gpu_write(void *to, const void *from, size_t bytes);

#endif
