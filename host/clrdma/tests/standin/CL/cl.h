/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As much of OpenCL as the programs of these tests need: OpenCL Specification 3.0 and the OpenCL Registry's cl.xml. */
#ifndef TEST_CL_H
#define TEST_CL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef intptr_t cl_context_properties;
typedef cl_bitfield cl_mem_flags;
typedef cl_ulong cl_mem_properties;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_event *cl_event;

#define CL_SUCCESS 0
#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4
#define CL_OUT_OF_RESOURCES -5
#define CL_INVALID_VALUE -30
#define CL_INVALID_DEVICE -33
#define CL_INVALID_MEM_OBJECT -38
#define CL_INVALID_OPERATION -59
#define CL_INVALID_PROPERTY -64
#define CL_FALSE 0
#define CL_TRUE 1
#define CL_MEM_READ_WRITE (1 << 0)
#define CL_DEVICE_TYPE_ALL 0xffffffff
#define CL_PLATFORM_NAME 0x0902
#define CL_DEVICE_NAME 0x102b
#define CL_DEVICE_EXTENSIONS 0x1030
#define CL_DEVICE_PLATFORM 0x1031
#define CL_DEVICE_UUID_KHR 0x106a
#define CL_CONTEXT_DEVICES 0x1081
#define CL_MEM_OBJECT_BUFFER 0x10f0
#define CL_MEM_TYPE 0x1100
#define CL_MEM_FLAGS 0x1101
#define CL_MEM_SIZE 0x1102
#define CL_MEM_CONTEXT 0x1106
#define CL_MEM_ASSOCIATED_MEMOBJECT 0x1107
#define CL_MEM_DEVICE_HANDLE_LIST_KHR 0x2051
#define CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR 0x2060

extern cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
extern cl_int clGetPlatformInfo(cl_platform_id, cl_uint, size_t, void *, size_t *);
extern cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
extern cl_int clGetDeviceInfo(cl_device_id, cl_uint, size_t, void *, size_t *);
extern cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
				  void (*)(const char *, const void *, size_t, void *), void *, cl_int *);
extern cl_int clGetContextInfo(cl_context, cl_uint, size_t, void *, size_t *);
extern cl_int clReleaseContext(cl_context);
extern cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_bitfield, cl_int *);
extern cl_int clRetainCommandQueue(cl_command_queue);
extern cl_int clReleaseCommandQueue(cl_command_queue);
extern cl_int clFlush(cl_command_queue);
extern cl_int clFinish(cl_command_queue);
extern cl_int clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, const cl_event *, cl_event *);
extern cl_int clGetEventInfo(cl_event, cl_uint, size_t, void *, size_t *);
extern cl_int clReleaseEvent(cl_event);
extern cl_mem clCreateBuffer(cl_context, cl_bitfield, size_t, void *, cl_int *);
extern cl_mem clCreateBufferWithProperties(cl_context, const cl_mem_properties *, cl_bitfield, size_t, void *,
					   cl_int *);
extern cl_int clSetMemObjectDestructorCallback(cl_mem, void (*)(cl_mem, void *), void *);
extern cl_int clGetMemObjectInfo(cl_mem, cl_uint, size_t, void *, size_t *);
extern cl_int clRetainMemObject(cl_mem);
extern cl_int clReleaseMemObject(cl_mem);
extern cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
				  const cl_event *, cl_event *);
extern cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
				   const cl_event *, cl_event *);
extern void *clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char *);

#ifdef __cplusplus
}
#endif

#endif
