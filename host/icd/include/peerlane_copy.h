/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cl_peerlane_copy_buffer: copies between a buffer of an FPGA board's platform and one of another platform, by
 * one call. docs/cl_peerlane_copy_buffer.md is the specification.
 *
 * The functions are the driver's, libpeerlane_icd.so. A program finds them by name:
 *
 *   clEnqueueCopyBufferPeerlane_fn copy = (clEnqueueCopyBufferPeerlane_fn)
 *       clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCopyBufferPeerlane");
 */
#ifndef PEERLANE_COPY_H
#define PEERLANE_COPY_H

#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CL_API_CALL
#define CL_API_CALL
#endif

/* cl_command_type: the value that CL_EVENT_COMMAND_TYPE has for a copy's event. */
#define CL_COMMAND_COPY_BUFFER_PEERLANE 0x50450001

/* Queries of clGetCopyBufferInfoPeerlane(). */
typedef cl_uint cl_copy_buffer_info_peerlane;
#define CL_COPY_BUFFER_PATH_PEERLANE 0x50450010
#define CL_COPY_BUFFER_REASON_PEERLANE 0x50450011

/* cl_uint: the answers to CL_COPY_BUFFER_PATH_PEERLANE. */
#define CL_COPY_BUFFER_PATH_HOST_PEERLANE 0
#define CL_COPY_BUFFER_PATH_DIRECT_PEERLANE 1

/* As in peerlane_ext.h, which a program may include, too. */
typedef struct _cl_peer_memory_peerlane *cl_peer_memory_peerlane;

typedef cl_int CL_API_CALL clEnqueueCopyBufferPeerlane_t(
    cl_command_queue command_queue,
    cl_mem src_buffer,
    cl_mem dst_buffer,
    size_t src_offset,
    size_t dst_offset,
    size_t size,
    cl_bool blocking_copy,
    cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list,
    cl_uint num_events_in_peer_wait_list,
    const cl_event *peer_event_wait_list,
    cl_event *event,
    cl_event *peer_event);
typedef clEnqueueCopyBufferPeerlane_t *clEnqueueCopyBufferPeerlane_fn;

typedef cl_int CL_API_CALL clGetCopyBufferInfoPeerlane_t(
    cl_command_queue command_queue,
    cl_mem src_buffer,
    cl_mem dst_buffer,
    cl_copy_buffer_info_peerlane param_name,
    size_t param_value_size,
    void *param_value,
    size_t *param_value_size_ret);
typedef clGetCopyBufferInfoPeerlane_t *clGetCopyBufferInfoPeerlane_fn;

typedef cl_int CL_API_CALL clSetPeerMemoryPeerlane_t(
    cl_device_id device,
    cl_mem peer_buffer,
    cl_peer_memory_peerlane memory,
    size_t offset);
typedef clSetPeerMemoryPeerlane_t *clSetPeerMemoryPeerlane_fn;

#ifdef __cplusplus
}
#endif

#endif
