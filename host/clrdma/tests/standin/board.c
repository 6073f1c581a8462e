/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A board library without a board: memory of this process is the board's and the GPU's, and a thread copies between
 * them, after a while. mmd/include/peerlane_ext.h documents the results; board.h has the settings of a test.
 */
#define _GNU_SOURCE
#include "board.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4
#define CL_INVALID_VALUE -30
#define CL_INVALID_MEM_OBJECT -38
#define CL_PEER_TRANSFER_FAILED -10005
#define CL_MEM_READ_WRITE 1
#define CL_MEM_WRITE_ONLY 2

struct standin_board standin_board;

/* As in the library, a direction's copies are made one after another. */
static pthread_mutex_t lanes[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

struct peer {
	uint64_t flags;
	unsigned char *pointer;
	size_t size;
};

struct copy {
	struct peer *peer;
	size_t address, offset, size;
	int to_peer;
	void (*notify)(int, void *);
	void *user;
};

void *clCreatePeerMemoryFromPointerPeerlane(void *device, uint64_t flags, void *pointer, size_t size, uint64_t buffer,
					    int *error)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	(void)device, (void)buffer;
	*peer = (struct peer){ flags, pointer, size };
	if (standin_board.room && standin_board.taken + size > standin_board.room) {
		free(peer);
		*error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
		return NULL;
	}
	standin_board.taken += size;
	*error = flags == CL_MEM_READ_WRITE || flags == CL_MEM_WRITE_ONLY ? 0 : CL_INVALID_VALUE;
	standin_board.made++;
	return peer;
}

/* Copies in progress keep the region. */
int clReleasePeerMemoryPeerlane(void *peer)
{
	standin_board.taken -= ((struct peer *)peer)->size;
	standin_board.released++;
	return 0;
}

int clGetBufferAddressPeerlane(void *device, void *buffer, uint64_t *address)
{
	(void)device, (void)buffer, (void)address;
	return CL_INVALID_MEM_OBJECT;
}

static void *run(void *of)
{
	struct copy *copy = of;
	unsigned char *board = standin_board.memory + copy->address, *gpu = copy->peer->pointer + copy->offset;
	pthread_mutex_t *lane = &lanes[copy->to_peer];
	int status;

	pthread_mutex_lock(lane);
	status = standin_board.fails;
	if (standin_board.once)
		standin_board.fails = standin_board.once = 0;
	usleep(standin_board.takes * 1000);
	/* After its data the board reads, where it may. */
	if (!status && standin_board.writes_only && (!copy->to_peer || copy->peer->flags != CL_MEM_WRITE_ONLY))
		status = CL_PEER_TRANSFER_FAILED;
	if (!status && copy->to_peer)
		memcpy(gpu, board, copy->size);
	else if (!status)
		memcpy(board, gpu, copy->size);
	standin_board.ended++;
	copy->notify(status, copy->user);
	pthread_mutex_unlock(lane);
	free(copy);
	return NULL;
}

static int begin(struct copy copy)
{
	struct copy *made = malloc(sizeof(*made));
	pthread_t thread;

	if (copy.address + copy.size > sizeof(standin_board.memory) || copy.offset + copy.size > copy.peer->size)
		return CL_INVALID_VALUE;
	/* "The memory's flags." */
	if (!copy.to_peer && copy.peer->flags == CL_MEM_WRITE_ONLY)
		return -59;
	*made = copy;
	standin_board.begun++;
	if (pthread_create(&thread, NULL, run, made))
		abort();
	pthread_detach(thread);
	return 0;
}

int clCopyAddressToPeerPeerlane(uint64_t address, void *peer, size_t offset, size_t size, void (*notify)(int, void *),
				void *user)
{
	return begin((struct copy){ peer, address, offset, size, 1, notify, user });
}

int clCopyPeerToAddressPeerlane(void *peer, uint64_t address, size_t offset, size_t size, void (*notify)(int, void *),
				void *user)
{
	return begin((struct copy){ peer, address, offset, size, 0, notify, user });
}

const char *clGetErrorTextPeerlane(int error)
{
	(void)error;
	return "the mock's error text";
}

/* The GPU's memory. */
void *peerlane_simulated_gpu_allocate(unsigned board, size_t size)
{
	(void)board;
	return aligned_alloc(1 << 16, size);
}

int peerlane_simulated_gpu_free(void *memory)
{
	free(memory);
	return 0;
}

int peerlane_simulated_gpu_read(const void *from, void *to, size_t size)
{
	memcpy(to, from, size);
	return 0;
}

int peerlane_simulated_gpu_write(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return 0;
}

/* Properties that a runtime reads when it opens the board. */
int aocl_mmd_get_offline_info(int what, size_t room, void *to, size_t *needed)
{
	(void)what, (void)needed;
	strncpy(to, "stand-in", room);
	return 0;
}

int aocl_mmd_get_info(int board, int what, size_t room, void *to, size_t *needed)
{
	(void)board, (void)what, (void)needed;
	memset(to, 0, room);
	return 0;
}

int aocl_mmd_open(const char *name)
{
	(void)name;
	return 1;
}

int aocl_mmd_close(int board)
{
	(void)board;
	return 0;
}

int aocl_mmd_set_status_handler(int board, void *handler, void *user)
{
	(void)board, (void)handler, (void)user;
	return 0;
}

int aocl_mmd_read(void)
{
	return -1;
}

int aocl_mmd_write(void)
{
	return -1;
}
