/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Declarations that the mocks of OpenCL and of CUDA's driver share: the GPU next to the simulated board. */
#ifndef STANDIN_H
#define STANDIN_H

#include <CL/cl.h>

#define UUID "stand-in GPU 001"

/* Returns a function of the board library. */
void *of_library(const char *name);

/* Returns the GPU's memory that CUDA has exported as this file, and closes the file; 0 if none has this size. */
uintptr_t memory_of(int file, size_t size);

int gpu_read(const void *from, void *to, size_t bytes);
int gpu_write(void *to, const void *from, size_t bytes);

/* Makes the commands of all queues take this many milliseconds. */
void standin_busy(int milliseconds);

#endif
