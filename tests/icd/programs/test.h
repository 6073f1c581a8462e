/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A program in parts for one OpenCL platform. The output of a part must be the same for a vendor library and for the
 * driver around it. The program knows of neither.
 */
#ifndef TEST_H
#define TEST_H

#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints whether a condition is true. */
#define IS(what) is((what) != 0, #what)
/* Prints an error's number. */
#define SAY(call) say((call), #call)
/* Prints whether a query answers with a handle. */
#define ANSWERS(query, object, name, type, want)                                        \
	do {                                                                            \
		type answer_ = NULL;                                                    \
		query(object, name, sizeof(answer_), &answer_, NULL);                   \
		is(answer_ == (want), #query "(" #object ", " #name ") is " #want);     \
	} while (0)

void is(int so, const char *what);
void say(cl_int error, const char *call);

/* Objects that every part starts with. */
extern cl_platform_id platform;
extern cl_device_id device;
extern cl_context context;
extern cl_command_queue queue; /* out of order */

/* k(a, l, s): a[i] = l. k2(a): a[0]++. */
extern const char *source;
extern cl_program program;
extern cl_kernel k, k2;

void build(void);

/* Callbacks: each counts itself, and whether it was right; the program waits for a number of them. */
void called(int right);
void await(int number);
extern int calls, right_calls;

/* Counter of the driver around a vendor library, or NULL without one. */
extern unsigned long (*live)(void);

/* The parts. */
typedef void part(void);
part part_parents, part_arguments, part_events, part_callbacks, part_programs, part_devices, part_wrong;
part part_queries, part_cycles, part_handover;

#endif
