/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vendor libraries that are broken in different ways; FAULT is one of these. */
#include <stdlib.h>
#include <unistd.h>

enum { CRASHES_ON_LOADING = 1, EXITS_ON_LOADING, CRASHES_WHEN_CALLED, HAS_NO_PLATFORM, HAS_NO_OPENCL, HANGS };

__attribute__((constructor)) static void start(void)
{
	if (FAULT == CRASHES_ON_LOADING)
		abort();
	if (FAULT == EXITS_ON_LOADING)
		_exit(3);
}

#if FAULT != 5 /* HAS_NO_OPENCL */
int clGetPlatformIDs(unsigned entries, void **platforms, unsigned *number)
{
	(void)entries, (void)platforms;
	if (FAULT == CRASHES_WHEN_CALLED)
		*(volatile int *)8 = 0;
	while (FAULT == HANGS)
		pause();
	if (number)
		*number = 0;
	return 0;
}
#endif
