/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Settings of a test for the mock of a board library (board.c). */
#ifndef STANDIN_BOARD_H
#define STANDIN_BOARD_H

#include <stddef.h>

struct standin_board {
	/* The board's memory, from address 0 on. */
	unsigned char memory[1 << 16];
	/* Milliseconds that a copy takes. */
	volatile int takes;
	/* The platform passes writes between devices, and no reads. */
	volatile int writes_only;
	/* Copies end with this error, without a byte. */
	volatile int fails;
	/* And only the next one. */
	volatile int once;
	/* Copies that were begun, and that have ended. */
	volatile int begun, ended;
	/* Bytes that may be registered at a time, or 0, and those that are. */
	volatile size_t room, taken;
	/* Regions: registered, and released. */
	volatile int made, released;
};

#endif
