/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * As much of OpenCL's types and functions as peerlane_ext.h and the example need, to compile them where no
 * OpenCL headers are: OpenCL Specification 3.0.
 */
#ifndef TEST_CL_H
#define TEST_CL_H

#include <stddef.h>
#include <stdint.h>

#define CL_API_CALL
#define CL_CALLBACK

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_mem_flags;
typedef cl_bitfield cl_device_type;
typedef cl_uint cl_device_info;
typedef cl_uint cl_event_info;
typedef cl_bitfield cl_command_queue_properties;
typedef intptr_t cl_context_properties;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_event *cl_event;

#define CL_SUCCESS 0
#define CL_COMPLETE 0
#define CL_FALSE 0
#define CL_TRUE 1
#define CL_DEVICE_TYPE_ACCELERATOR (1 << 3)
#define CL_DEVICE_NAME 0x102B
#define CL_EVENT_COMMAND_EXECUTION_STATUS 0x11D3
#define CL_MEM_READ_WRITE (1 << 0)
#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4
#define CL_OUT_OF_RESOURCES -5
#define CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST -14
#define CL_INVALID_VALUE -30
#define CL_INVALID_DEVICE -33
#define CL_INVALID_MEM_OBJECT -38
#define CL_INVALID_EVENT_WAIT_LIST -57
#define CL_INVALID_OPERATION -59

#ifdef __cplusplus
extern "C" {
#endif

extern cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
extern cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
extern cl_int clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
extern cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
    void (CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *);
extern cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties,
    cl_int *);
extern cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
extern cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,
    cl_uint, const cl_event *, cl_event *);
extern cl_int clWaitForEvents(cl_uint, const cl_event *);
extern cl_int clGetEventInfo(cl_event, cl_event_info, size_t, void *, size_t *);
extern cl_int clReleaseEvent(cl_event);
extern cl_int clReleaseMemObject(cl_mem);
extern cl_int clReleaseCommandQueue(cl_command_queue);
extern cl_int clReleaseContext(cl_context);
extern void *clGetExtensionFunctionAddress(const char *);
extern void *clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char *);

#ifdef __cplusplus
}
#endif

#endif
