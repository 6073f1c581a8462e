/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Moves data through a board in both ways that the driver has, with nothing but peerlane.h:
 *
 *   cc -o example example.c && ./example /dev/peerlane0
 */
#define _POSIX_C_SOURCE 200809L
/* The offsets of the mappings need more than 32 bits. */
#define _FILE_OFFSET_BITS 64

#include "peerlane.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BYTES 65536u
#define HALF (BYTES / 2)
#define SECONDS 60
#define FEATURES (PEERLANE_FEATURE_HOST | PEERLANE_FEATURE_ALLOCATE)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* So many seconds from now. */
static __s64 deadline(int seconds)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		fail("CLOCK_MONOTONIC");
	return (__s64)(now.tv_sec + seconds) * 1000000000 + now.tv_nsec;
}

/* A context of its own. */
static int open_context(const char *path, __u64 required, struct peerlane_info *info)
{
	int file = open(path, O_RDWR | O_CLOEXEC);

	if (file < 0)
		fail(path);
	memset(info, 0, sizeof(*info));
	info->version = PEERLANE_VERSION;
	info->required = required;
	if (ioctl(file, PEERLANE_IOC_INFO, info))
		fail("INFO");
	if (info->map_id != PEERLANE_MAP_ID) {
		fprintf(stderr, "the board has register map %#x, this program was compiled for %#x\n",
			info->map_id, PEERLANE_MAP_ID);
		exit(1);
	}
	return file;
}

/* Makes memory reachable for the board. */
static struct peerlane_register register_memory(int file, void *memory)
{
	struct peerlane_register region;

	memset(&region, 0, sizeof(region));
	region.provider = PEERLANE_PROVIDER_HOST;
	region.access = PEERLANE_ACCESS_READ | PEERLANE_ACCESS_WRITE;
	region.address = (uintptr_t)memory;
	region.length = BYTES;
	region.fd = -1;
	if (ioctl(file, PEERLANE_IOC_REGISTER, &region))
		fail("REGISTER");
	return region;
}

/* FPGA memory of the context's own, all zero at first. */
static __u64 allocate(int file)
{
	struct peerlane_allocate memory;

	memset(&memory, 0, sizeof(memory));
	memory.bytes = HALF;
	if (ioctl(file, PEERLANE_IOC_ALLOCATE, &memory))
		fail("ALLOCATE");
	return memory.base;
}

/* Memory whose first half is to come out in its second, by way of FPGA memory. */
static unsigned char *filled(unsigned int seed)
{
	unsigned char *memory;
	void *start;
	unsigned int at;

	if (posix_memalign(&start, 4096, BYTES)) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	memory = start;
	for (at = 0; at < HALF; at++)
		memory[at] = (unsigned char)(at * 167 + (at >> 8) + seed);
	memset(memory + HALF, 0, HALF);
	return memory;
}

static void check(const char *how, unsigned char *memory)
{
	if (memcmp(memory, memory + HALF, HALF)) {
		fprintf(stderr, "%s: the data are not the same\n", how);
		exit(1);
	}
	free(memory);
	printf("%s: %u bytes there and back\n", how, HALF);
}

/* One transfer, written by the driver. */
static void submit(int file, __u32 handle, __u32 direction, __u64 offset, __u64 local)
{
	struct peerlane_submit order;
	struct peerlane_wait wait;

	memset(&order, 0, sizeof(order));
	order.direction = direction;
	order.handle = handle;
	order.offset = offset;
	order.local = local;
	order.length = HALF;
	if (ioctl(file, PEERLANE_IOC_SUBMIT, &order))
		fail("SUBMIT");
	memset(&wait, 0, sizeof(wait));
	wait.direction = direction;
	wait.cookie = order.cookie;
	wait.deadline_ns = deadline(SECONDS);
	if (ioctl(file, PEERLANE_IOC_WAIT, &wait))
		fail("WAIT");
	if (wait.status != PEERLANE_STATUS_CODE_OK || wait.bytes_done != HALF) {
		fprintf(stderr, "status %u after %u bytes\n", wait.status, wait.bytes_done);
		exit(1);
	}
}

static void by_the_driver(const char *path)
{
	unsigned char *memory = filled(1);
	struct peerlane_info info;
	int file = open_context(path, FEATURES | PEERLANE_FEATURE_SUBMIT, &info);
	struct peerlane_register region = register_memory(file, memory);
	struct peerlane_unregister give_back;
	__u64 local = allocate(file);

	submit(file, region.handle, PEERLANE_DIRECTION_READ, 0, local);
	submit(file, region.handle, PEERLANE_DIRECTION_WRITE, HALF, local);
	memset(&give_back, 0, sizeof(give_back));
	give_back.handle = region.handle;
	if (ioctl(file, PEERLANE_IOC_UNREGISTER, &give_back))
		fail("UNREGISTER");
	check("descriptors written by the driver", memory);
	close(file);
}

/* A context's channel, as its process sees it. */
struct channel {
	volatile unsigned char *page;
	const volatile struct peerlane_completion *ring;
	__u32 records;
	/* Records so far; the phase bit of a new one is that of its round. */
	__u32 seen;
	/* Of them, those whose slots of the ring a doorbell has given back. */
	__u32 freed;
};

static void store(const struct channel *channel, unsigned int offset, __u32 value)
{
	*(volatile __u32 *)(channel->page + offset) = value;
}

/* Writes a descriptor and rings its doorbell, with the records that were read since the last. */
static void post(struct channel *channel, int reads, const struct peerlane_descriptor *what)
{
	__u32 words[7];
	unsigned int at;

	/* What the board is to read is in memory before the doorbell. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(words, what, sizeof(words));
	for (at = 0; at < 7; at++)
		store(channel, reads ? PEERLANE_CHAN_READ_DESC(at) : PEERLANE_CHAN_WRITE_DESC(at),
		      words[at]);
	store(channel, reads ? PEERLANE_CHAN_READ_DOORBELL : PEERLANE_CHAN_WRITE_DOORBELL,
	      channel->seen - channel->freed);
	channel->freed = channel->seen;
}

/* Waits for the next record. */
static void take(struct channel *channel, __u32 cookie)
{
	const volatile struct peerlane_completion *record =
		channel->ring + channel->seen % channel->records;
	__u32 phase = channel->seen / channel->records % 2 ? 0 : PEERLANE_COMPLETION_STATUS_PHASE_MASK;
	__s64 limit = deadline(SECONDS);
	__u32 status;

	do {
		status = record->status;
		if (deadline(0) > limit) {
			fprintf(stderr, "no record after %d s\n", SECONDS);
			exit(1);
		}
	} while ((status & PEERLANE_COMPLETION_STATUS_PHASE_MASK) != phase);
	status &= PEERLANE_COMPLETION_STATUS_CODE_MASK;
	status >>= PEERLANE_COMPLETION_STATUS_CODE_SHIFT;
	if (status == PEERLANE_RING_EMPTY) {
		/* PEERLANE_IOC_QUERY says which; after a start the ring begins at its first slot. */
		fprintf(stderr, "the board was started again, or is gone\n");
		exit(1);
	}
	/* The dwords of a record come in ascending order: all before the sequence are there when that is right. */
	while (record->sequence != channel->seen) {
		if (deadline(0) > limit) {
			fprintf(stderr, "half a record after %d s\n", SECONDS);
			exit(1);
		}
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (status != PEERLANE_STATUS_CODE_OK || record->cookie != cookie ||
	    record->bytes_done != HALF) {
		fprintf(stderr, "status %u after %u bytes\n", status, record->bytes_done);
		exit(1);
	}
	channel->seen++;
}

static void by_the_process(const char *path)
{
	unsigned char *memory = filled(2);
	struct peerlane_info info;
	int file = open_context(path, FEATURES | PEERLANE_FEATURE_PAGE, &info);
	struct peerlane_register region = register_memory(file, memory);
	struct peerlane_descriptor what;
	struct peerlane_query query;
	struct channel channel;
	/* Before the page is mapped: the driver fills the memory with zeros by this channel. */
	__u64 local = allocate(file);
	void *page = mmap(NULL, info.page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
			  PEERLANE_MAP_PAGE);
	void *ring = mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, file, PEERLANE_MAP_RING);

	if (page == MAP_FAILED || ring == MAP_FAILED)
		fail("mmap");
	/* No doorbell is taken before. The queue begins again when another generation is reported. */
	memset(&query, 0, sizeof(query));
	if (ioctl(file, PEERLANE_IOC_QUERY, &query))
		fail("QUERY");
	memset(&channel, 0, sizeof(channel));
	channel.page = page;
	channel.ring = ring;
	channel.records = 1u << info.ring_log2;
	memset(&what, 0, sizeof(what));
	what.peer = region.att_address;
	what.local = local;
	what.length = HALF;
	what.control = PEERLANE_DESCRIPTOR_CONTROL_RECORD_MASK;
	what.cookie = 7;
	post(&channel, 1, &what);
	what.peer += HALF;
	what.control |= PEERLANE_DESCRIPTOR_CONTROL_AFTER_READ_MASK;
	what.cookie = 8;
	post(&channel, 0, &what);
	take(&channel, 7);
	take(&channel, 8);
	check("descriptors written by the process", memory);
	munmap(page, info.page_bytes);
	munmap(ring, info.ring_bytes);
	close(file);
}

int main(int count, char **arguments)
{
	if (count != 2) {
		fprintf(stderr, "usage: %s /dev/peerlane0\n", arguments[0]);
		return 2;
	}
	by_the_driver(arguments[1]);
	by_the_process(arguments[1]);
	return 0;
}
