/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions that the Rust compiler's instrumentation calls, and that gcc's libtsan before 13 lacks. */
#include <stddef.h>
#include <string.h>

#define MISSING __attribute__((weak, no_sanitize("thread")))

void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int value, size_t size);

/* The functions that these call belong to libtsan, which sees the accesses. */
MISSING void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	return memcpy(to, from, size);
}

MISSING void *__tsan_memmove(void *to, const void *from, size_t size)
{
	return memmove(to, from, size);
}

MISSING void *__tsan_memset(void *to, int value, size_t size)
{
	return memset(to, value, size);
}
