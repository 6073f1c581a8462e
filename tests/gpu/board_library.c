/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The functions of peerlane_ext.h that libpeerlane_clrdma calls, in a library with the name that it looks for
 * (host/clrdma/src/board.rs, `loaded`). Each is the program's that has loaded this: there is no board, and so no FPGA
 * runtime that would have loaded Peerlane's board library.
 */
#include <stddef.h>
#include <stdint.h>

typedef void (*notify)(int, void *);

struct functions {
	void *(*create)(void *device, uint64_t flags, void *pointer, size_t size, uint64_t identity, int *error);
	int (*release)(void *memory);
	int (*address)(void *device, void *buffer, uint64_t *address);
	int (*to_peer)(uint64_t address, void *memory, size_t offset, size_t size, notify told, void *user);
	int (*from_peer)(void *memory, uint64_t address, size_t offset, size_t size, notify told, void *user);
	const char *(*text)(int error);
};

static struct functions of;

void peerlane_check_functions(const struct functions *functions)
{
	of = *functions;
}

void *clCreatePeerMemoryFromPointerPeerlane(void *device, uint64_t flags, void *pointer, size_t size, uint64_t identity,
					    int *error)
{
	return of.create(device, flags, pointer, size, identity, error);
}

int clReleasePeerMemoryPeerlane(void *memory)
{
	return of.release(memory);
}

int clGetBufferAddressPeerlane(void *device, void *buffer, uint64_t *address)
{
	return of.address(device, buffer, address);
}

int clCopyAddressToPeerPeerlane(uint64_t address, void *memory, size_t offset, size_t size, notify told, void *user)
{
	return of.to_peer(address, memory, offset, size, told, user);
}

int clCopyPeerToAddressPeerlane(void *memory, uint64_t address, size_t offset, size_t size, notify told, void *user)
{
	return of.from_peer(memory, address, offset, size, told, user);
}

const char *clGetErrorTextPeerlane(int error)
{
	return of.text(error);
}
