/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the stand-ins for OpenCL and for CUDA's driver have in common: the GPU beside the simulated board. */
#ifndef STANDIN_H
#define STANDIN_H

#include <CL/cl.h>

#define UUID "stand-in GPU 001"

/* A function of the board library, which has it. */
void *of_library(const char *name);

/* The GPU's memory that CUDA has given a file descriptor for, which is closed; 0 if there is none of this size. */
uintptr_t memory_of(int file, size_t size);

int gpu_read(const void *from, void *to, size_t bytes);
int gpu_write(void *to, const void *from, size_t bytes);

/* Commands of all queues go on for so many milliseconds. */
void standin_busy(int milliseconds);

#endif
