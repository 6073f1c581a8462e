/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Declarations that the parts about a GPU share: the extension of the boards' library, a buffer, the GPU's memory. */
#ifndef PEER_LAB_H
#define PEER_LAB_H

#include "host.h"
#include "gpu.h"

#include <peerlane_ext.h>

/* More than a page of the GPU's, and not a multiple of anything. */
#define BYTES 70001

/* Bytes around a copy: enough that a wrong length is seen. */
#define EDGE 64

/* Content of the GPU's memory and of a buffer where nothing was copied to. */
#define GPUS 11
#define BOARDS 22

struct extension {
	clCreatePeerMemoryFromPointerPeerlane_fn create;
	clReleasePeerMemoryPeerlane_fn release;
	clCopyBufferToPeerPeerlane_fn to_peer;
	clCopyPeerToBufferPeerlane_fn from_peer;
	clGetBufferAddressPeerlane_fn address;
	clCopyAddressToPeerPeerlane_fn address_to_peer;
	clCopyPeerToAddressPeerlane_fn address_from_peer;
	clGetErrorTextPeerlane_fn text;
};

/* A buffer on the board, the GPU's memory, and all objects that copies between them need. */
struct lab {
	cl_command_queue queue;
	cl_mem buffer;
	char *memory;
	cl_peer_memory_peerlane peer;
	size_t bytes;
};

extern struct extension peerlane;
extern char data[BYTES], found[EDGE + BYTES + EDGE];

/* Ends the program unless a call returns this error. */
#define GIVES(call, error) gives((call), (error), #call, __FILE__, __LINE__)

void gives(cl_int error, cl_int expected, const char *call, const char *file, int line);

void find_extension(void);
/* Sets other data for each seed. */
void set_data(int seed);
cl_peer_memory_peerlane register_memory(void *memory, cl_mem_flags flags, size_t bytes);
/* Writes one value everywhere. */
void fill_gpu(char *memory, char value, size_t bytes);
void fill_buffer(cl_command_queue queue, cl_mem buffer, char value, size_t bytes);
/* Checks that `length` bytes of the data are at this place, and that the bytes around them are unchanged. */
void check_gpu(const char *memory, size_t at, size_t length);
void check_buffer(cl_command_queue queue, cl_mem buffer, size_t at, size_t length);
cl_int status_of(cl_event event);
cl_event user_event(void);

struct lab new_lab(void);
void end_lab(struct lab *lab);

#endif
