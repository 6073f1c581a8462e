/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * HSA: GPU memory, and dma-bufs of it. A memfd is a piece of VRAM, and serves as the dma-buf, too.
 * hsa_amd_portable_export_dmabuf refuses the same calls as ROCR-Runtime's Runtime::DmaBufExport.
 */
#define _GNU_SOURCE
#include "fakeamd.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SUCCESS 0
#define ERROR 0x1000
#define ERROR_INVALID_ARGUMENT 0x1001
#define ERROR_INVALID_ALLOCATION 0x1003
#define ERROR_INVALID_AGENT 0x1004
#define ERROR_OUT_OF_RESOURCES 0x1008
#define ERROR_RESOURCE_FREE 0x100a
#define ERROR_NOT_INITIALIZED 0x100b

/* Smaller allocations share a piece, as ROCr's fragments do. */
#define PIECE (2u << 20)

struct piece {
	int file, users;
	uint8_t *base;
	/* The GPU's view while peers' writes are held back. */
	uint8_t *seen;
	size_t size, taken;
};

struct allocation {
	struct piece *piece;
	uint8_t *address;
	size_t size;
	int of_host, device;
	/* The GPU has read it, and still sees that content. */
	int kept;
	struct allocation *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static struct piece *open_piece;
static int started;
static enum fake_fault fault;

void fake_hsa_fault(enum fake_fault next)
{
	fault = next;
	fake_flush();
}

/* For programs that do not know the mock: FAKE_AMD_HELD_BACK has the function's name, or "register". */
__attribute__((constructor)) static void begin(void)
{
	const char *until = getenv("FAKE_AMD_HELD_BACK");

	if (until)
		fault = strcmp(until, "register") ? FAKE_STALE : FAKE_STALE_REGISTER;
}

enum fake_fault fake_hsa_fault_now(void)
{
	return fault;
}

/* The number of allocations that exist. */
int fake_allocations(void)
{
	int count = 0;

	pthread_mutex_lock(&lock);
	for (struct allocation *it = allocations; it; it = it->next)
		count++;
	pthread_mutex_unlock(&lock);
	return count;
}

static struct piece *piece_new(size_t size)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	piece->size = size;
	piece->file = memfd_create("vram", MFD_CLOEXEC);
	if (piece->file < 0 || ftruncate(piece->file, (off_t)size))
		abort();
	piece->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, piece->file, 0);
	if (piece->base == MAP_FAILED)
		abort();
	/* A GPU does not clear memory that is allocated. */
	memset(piece->base, 0xdd, size);
	piece->seen = malloc(size);
	memcpy(piece->seen, piece->base, size);
	return piece;
}

void *fake_allocate(size_t size, int of_host, int device)
{
	struct allocation *made = calloc(1, sizeof(*made));
	size_t whole = (size + FAKE_PAGE - 1) / FAKE_PAGE * FAKE_PAGE;
	struct piece *piece;

	pthread_mutex_lock(&lock);
	if (whole >= PIECE) {
		piece = piece_new(whole);
	} else {
		if (!open_piece || open_piece->taken + whole > open_piece->size)
			open_piece = piece_new(PIECE);
		piece = open_piece;
	}
	made->piece = piece;
	made->address = piece->base + piece->taken;
	made->size = size;
	made->of_host = of_host;
	made->device = device;
	piece->taken += whole;
	piece->users++;
	made->next = allocations;
	allocations = made;
	pthread_mutex_unlock(&lock);
	return made->address;
}

static struct allocation **find(const void *address)
{
	struct allocation **at = &allocations;
	const uint8_t *byte = address;

	while (*at && !(byte >= (*at)->address && byte < (*at)->address + (*at)->size))
		at = &(*at)->next;
	return at;
}

int fake_free(void *address)
{
	struct allocation **at, *gone;
	int found;

	pthread_mutex_lock(&lock);
	at = find(address);
	gone = *at;
	found = gone && gone->address == address;
	if (found) {
		*at = gone->next;
		if (!--gone->piece->users) {
			if (gone->piece == open_piece)
				open_piece = NULL;
			/* Only dma-bufs keep the memory. */
			munmap(gone->piece->base, gone->piece->size);
			close(gone->piece->file);
			free(gone->piece->seen);
			free(gone->piece);
		}
		free(gone);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

int fake_find(const void *address, void **base, size_t *size)
{
	struct allocation *found;

	pthread_mutex_lock(&lock);
	found = *find(address);
	if (found) {
		*base = found->address;
		*size = found->size;
	}
	pthread_mutex_unlock(&lock);
	return found != NULL;
}

/* The device of an allocation, or -1. */
int fake_device(uint64_t address)
{
	struct allocation *found;

	pthread_mutex_lock(&lock);
	found = *find((const void *)(uintptr_t)address);
	pthread_mutex_unlock(&lock);
	return found ? found->device : -1;
}

static void flush(void)
{
	for (struct allocation *it = allocations; it; it = it->next) {
		size_t at = (size_t)(it->address - it->piece->base);

		memcpy(it->piece->seen + at, it->address, it->size);
	}
}

void fake_flush(void)
{
	pthread_mutex_lock(&lock);
	flush();
	pthread_mutex_unlock(&lock);
}

const void *fake_seen(const void *address)
{
	struct allocation *found;
	const void *seen = address;

	pthread_mutex_lock(&lock);
	found = *find(address);
	if (found && !found->of_host && fault >= FAKE_STALE) {
		size_t at = (size_t)(found->address - found->piece->base);

		if (fault == FAKE_KEPT && !found->kept)
			memcpy(found->piece->seen + at, found->address, found->size);
		found->kept = 1;
		seen = found->piece->seen + ((const uint8_t *)address - found->piece->base);
	}
	pthread_mutex_unlock(&lock);
	return seen;
}

void fake_written(const void *address, size_t size)
{
	struct allocation *found;

	pthread_mutex_lock(&lock);
	found = *find(address);
	if (found) {
		memcpy(found->piece->seen + ((const uint8_t *)address - found->piece->base), address, size);
		found->kept = 0;
	}
	pthread_mutex_unlock(&lock);
}

int hsa_init(void)
{
	started = 1;
	return SUCCESS;
}

int hsa_status_string(int status, const char **text)
{
	switch (status) {
	case SUCCESS:
		*text = "HSA_STATUS_SUCCESS";
		return SUCCESS;
	case ERROR_INVALID_ALLOCATION:
		*text = "HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid.";
		return SUCCESS;
	case ERROR_INVALID_AGENT:
		*text = "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid.";
		return SUCCESS;
	case ERROR_OUT_OF_RESOURCES:
		*text = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.";
		return SUCCESS;
	}
	return ERROR_INVALID_ARGUMENT;
}

static int export(const void *address, size_t size, int *file, uint64_t *offset)
{
	struct allocation *of = *find(address);
	size_t into;

	if (!of)
		return ERROR_INVALID_ALLOCATION;
	into = (size_t)((const uint8_t *)address - of->address);
	if (size > of->size - into)
		return ERROR_INVALID_ALLOCATION;
	if (of->of_host)
		return ERROR_INVALID_AGENT;
	*offset = (uint64_t)(of->address - of->piece->base) + into;
	switch (fault) {
	case FAKE_REFUSED:
		return ERROR_OUT_OF_RESOURCES;
	case FAKE_NO_FILE:
		*file = -1;
		return SUCCESS;
	case FAKE_SHORT:
		*file = memfd_create("short", MFD_CLOEXEC);
		return *file < 0 || ftruncate(*file, FAKE_PAGE) ? ERROR : SUCCESS;
	case FAKE_SHIFTED:
		*offset += *offset + size + 512 <= of->piece->size ? 512 : -(uint64_t)512;
		break;
	default:
		break;
	}
	*file = dup(of->piece->file);
	return *file < 0 ? ERROR : SUCCESS;
}

int hsa_amd_portable_export_dmabuf(const void *address, size_t size, int *file, uint64_t *offset)
{
	int status;

	if (!started)
		return ERROR_NOT_INITIALIZED;
	if (!address || !size || !file || !offset)
		return ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	status = export(address, size, file, offset);
	pthread_mutex_unlock(&lock);
	return status;
}

int hsa_amd_portable_close_dmabuf(int file)
{
	return close(file) ? ERROR_RESOURCE_FREE : SUCCESS;
}
