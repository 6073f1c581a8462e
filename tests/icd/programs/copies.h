/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Declarations that the parts of copies.c share. */
#ifndef COPIES_H
#define COPIES_H

#include <peerlane_copy.h>
#include <stdio.h>
#include <string.h>

#define IS(what)                                                                        \
	do {                                                                            \
		if (!(what))                                                            \
			not_so(#what, __FILE__, __LINE__, 0);                           \
	} while (0)
#define GIVES(call, expected)                                                           \
	do {                                                                            \
		long found_ = (long)(call);                                             \
		if (found_ != (long)(expected))                                         \
			not_so(#call " is not " #expected, __FILE__, __LINE__, found_); \
	} while (0)

/* A platform with a device. */
struct side {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
};

extern struct side board, peer;
extern clEnqueueCopyBufferPeerlane_fn copy;
extern clGetCopyBufferInfoPeerlane_fn info;
extern clSetPeerMemoryPeerlane_fn name_memory;

void not_so(const char *what, const char *file, int line, long found);
void nap(int milliseconds);
cl_mem new_buffer(struct side *side, cl_mem_flags flags, size_t size, void *host);
cl_event user_event(struct side *side);
cl_int status_of(cl_event event);
cl_int end_of(cl_event event);
void fill(struct side *side, cl_mem buffer, int value, size_t size);
int holds(struct side *side, cl_mem buffer, int value, size_t size);
cl_int simple(cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size);
cl_uint path(cl_mem from, cl_mem to, char *reason, size_t size);

/* With a vendor library that has a board's (vendors/board.c). */
void part_direct(void);

/* With the library over simulated boards (mmd/simulated). */
void part_simulated(void);

#endif
