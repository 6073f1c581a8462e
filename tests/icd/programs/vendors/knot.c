/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The knot of the old runtimes: the vendor library (VENDOR) calls a helper (HELPER) and its own cl*
 * functions by name, the helper calls the vendor library, and neither was linked with the other. A
 * program has functions of the same names. Both have tables of functions, in which the dynamic linker
 * puts addresses before it closes them to writing.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Data that a process has once, in any number of libraries: like statics of C++'s inline functions. */
__asm__(".data\n.globl knot_unique\n.type knot_unique, @gnu_unique_object\n.size knot_unique, 4\n"
	".balign 4\nknot_unique: .long 0\n.text\n");
extern int knot_unique;

#ifdef HELPER
int knot_of_vendor(void);
int knot_of_both(void);

int knot_of_helper(void)
{
	return knot_of_vendor() + 1;
}

int knot_of_both(void)
{
	return 7;
}

int knot_unique_of_helper(void)
{
	return knot_unique;
}
#else
int knot_unique_of_helper(void);
int knot_of_helper(void);
int knot_of_both(void);

int knot_of_vendor(void)
{
	return 30;
}

typedef void *cl_platform_id;

int clGetPlatformIDs(unsigned entries, cl_platform_id *platforms, unsigned *number)
{
	static long object[8];

	if (entries && platforms)
		platforms[0] = object;
	if (number)
		*number = 1;
	return 0;
}

int clGetPlatformInfo(cl_platform_id platform, unsigned name, size_t size, void *value, size_t *size_ret);

/*
 * An allocator of its own, like that of a library that was linked with another one. It cannot free memory of the C
 * library.
 */
void free(void *memory)
{
	if (memory)
		abort();
}

/* In a part of the data that becomes read-only when the library is loaded. */
static int (*const volatile info[])(cl_platform_id, unsigned, size_t, void *, size_t *) = {clGetPlatformInfo};

int clGetPlatformInfo(cl_platform_id platform, unsigned name, size_t size, void *value, size_t *size_ret)
{
	char text[64] = "";

	(void)platform;
	if (name == 0x0902) { /* CL_PLATFORM_NAME: what is bound to what */
		unsigned own = 0;

		clGetPlatformIDs(0, NULL, &own);
		free(strdup("of the C library"));
		knot_unique = 5;
		snprintf(text, sizeof(text), "knot %d, both %d, own %u, table %d, unique %d", knot_of_helper(),
			 knot_of_both(), own, info[0](platform, 0x0903, 0, NULL, NULL), knot_unique_of_helper());
	}
	if (size_ret)
		*size_ret = strlen(text) + 1;
	if (value && size <= strlen(text))
		return -30;
	if (value)
		strcpy(value, text);
	return 0;
}
#endif
