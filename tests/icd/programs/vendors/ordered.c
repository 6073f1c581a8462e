/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A vendor library and helpers (HELPER=1, 2, 3) that each have a function of the same name. Each notes that it is loaded
 * in the file that ORDERED names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HELPER
#define HELPER 0
#endif

__attribute__((constructor)) static void loaded(void)
{
	FILE *file = getenv("ORDERED") ? fopen(getenv("ORDERED"), "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%d", HELPER);
	fclose(file);
}

#if HELPER
int ordered_helper(void)
{
	return HELPER;
}

#if HELPER == 2
int ordered_second(void)
{
	return HELPER;
}
#endif
#else
int ordered_helper(void);
int ordered_second(void);

int clGetPlatformIDs(unsigned entries, void **platforms, unsigned *number)
{
	static long object[8];

	if (entries && platforms)
		platforms[0] = object;
	if (number)
		*number = 1;
	return 0;
}

int clGetPlatformInfo(void *platform, unsigned name, size_t size, void *value, size_t *size_ret)
{
	char text[64] = "";

	(void)platform;
	if (name == 0x0902) /* CL_PLATFORM_NAME */
		snprintf(text, sizeof(text), "helper %d of 3, second %d", ordered_helper(), ordered_second());
	if (size_ret)
		*size_ret = strlen(text) + 1;
	if (value && size <= strlen(text))
		return -30;
	if (value)
		strcpy(value, text);
	return 0;
}
#endif
