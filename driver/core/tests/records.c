/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Records for the example's reader, whose dwords come one by one, in ascending order. */
#define _GNU_SOURCE
#define main example_main
#include "example.c"
#undef main

#include <pthread.h>
#include <unistd.h>

enum { RECORDS = 4, ALL = 3 * RECORDS };

static struct peerlane_completion ring[RECORDS];

static void *board(void *unused)
{
	volatile __u32 *words;
	__u32 number;

	(void)unused;
	for (number = 0; number < ALL; number++) {
		words = (volatile __u32 *)&ring[number % RECORDS];
		words[0] = number + 100;
		usleep(10000);
		/* The code is OK. */
		words[1] = number / RECORDS % 2 ? 0 : PEERLANE_COMPLETION_STATUS_PHASE_MASK;
		usleep(10000);
		words[2] = HALF;
		usleep(10000);
		words[3] = number;
	}
	return NULL;
}

int main(void)
{
	struct channel channel = { .ring = ring, .records = RECORDS };
	pthread_t thread;
	int at;

	(void)example_main;
	/* Numbers of no record, as the driver leaves them. */
	for (at = 0; at < RECORDS; at++)
		ring[at].sequence = 0x80000000u;
	if (pthread_create(&thread, NULL, board, NULL))
		return 2;
	while (channel.seen < ALL)
		take(&channel, channel.seen + 100);
	return pthread_join(thread, NULL) ? 2 : 0;
}
