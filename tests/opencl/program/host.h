/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An OpenCL host program in parts. It knows OpenCL and the kernels of its packages:
 *
 *   vecadd(global const int *a, global const int *b, global int *c)   c[i] = a[i] + b[i]
 *   copy(global const int *from, global int *to)                      to[i] = from[i]
 *   chatter(int times)                                                prints "line 0", "line 1", ...
 */
#ifndef HOST_H
#define HOST_H

#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/opencl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of most arrays. */
#define COUNT 1000

/* Ends the program unless a call succeeds. */
#define OK(call) ok((call), #call, __FILE__, __LINE__)

/* Ends the program unless a condition is true. */
#define MUST(condition) must((condition) != 0, #condition, __FILE__, __LINE__)

void ok(cl_int error, const char *call, const char *file, int line);
void must(int so, const char *condition, const char *file, int line);

/* Objects that every part starts with. */
extern cl_platform_id platform;
extern cl_device_id devices[4];
extern cl_uint device_count;
extern cl_context context;

void find_devices(void);
void make_context(cl_uint of_devices);
cl_command_queue new_queue(cl_uint device, cl_command_queue_properties properties);
cl_program new_program(const char *file, cl_uint for_devices);
cl_kernel new_kernel(cl_program program, const char *name);
cl_mem new_buffer(size_t bytes);
void set_buffers(cl_kernel kernel, cl_mem a, cl_mem b, const cl_mem *c);
void write_ints(cl_command_queue queue, cl_mem buffer, const int32_t *ints, size_t count);
void read_ints(cl_command_queue queue, cl_mem buffer, int32_t *ints, size_t count);
void launch(cl_command_queue queue, cl_kernel kernel, size_t count, cl_uint waits,
	    const cl_event *wait_for, cl_event *event);
void until_complete(cl_event event);
void nap(long ms);

/* A function of the first device's board library, which must have it. */
void *extension(const char *name);

/* The parts; each gets its arguments, and their number. */
typedef void part(int count, char **arguments);

part part_info, part_buffers, part_big, part_rows, part_wrong;
part part_vecadd, part_graph, part_queues, part_printf, part_event, part_reset, part_switch, part_two;
part part_failed, part_failed_launch, part_leave, part_wait, part_global, part_global_kernel;
part part_peers, part_peer_events, part_peer_refused, part_peer_two, part_usm;
part part_dma_buf, part_dma_buf_forever;

#endif
