/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The mock of a GPU of a simulated board, for which the simulated boards' library has functions. */
#include "host.h"
#include "gpu.h"

static unsigned int board;
static void *(*allocate)(unsigned int board, size_t bytes);
static int (*read_memory)(const void *from, void *to, size_t bytes);
static int (*write_memory)(void *to, const void *from, size_t bytes);
static int (*free_memory)(void *memory);

void find_gpu(unsigned int beside)
{
	board = beside;
	*(void **)&allocate = extension("peerlane_simulated_gpu_allocate");
	*(void **)&read_memory = extension("peerlane_simulated_gpu_read");
	*(void **)&write_memory = extension("peerlane_simulated_gpu_write");
	*(void **)&free_memory = extension("peerlane_simulated_gpu_free");
}

void *gpu_allocate(size_t bytes)
{
	void *memory = allocate(board, bytes);

	MUST(memory);
	return memory;
}

void gpu_free(void *memory)
{
	MUST(!free_memory(memory));
}

void gpu_read(const void *from, void *to, size_t bytes)
{
	MUST(!read_memory(from, to, bytes));
}

void gpu_write(void *to, const void *from, size_t bytes)
{
	MUST(!write_memory(to, from, bytes));
}
