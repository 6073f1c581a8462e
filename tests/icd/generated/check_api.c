/* SPDX-License-Identifier: Apache-2.0
 * From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit. */
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <stddef.h>
#include <stdint.h>
_Static_assert(offsetof(cl_icd_dispatch, clGetPlatformIDs) == 0 * sizeof(void *), "clGetPlatformIDs");
void *t0(cl_icd_dispatch *d) { cl_int (*f)(cl_uint, cl_platform_id *, cl_uint *) = d->clGetPlatformIDs; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetPlatformInfo) == 1 * sizeof(void *), "clGetPlatformInfo");
void *t1(cl_icd_dispatch *d) { cl_int (*f)(cl_platform_id, cl_platform_info, size_t, void *, size_t *) = d->clGetPlatformInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceIDs) == 2 * sizeof(void *), "clGetDeviceIDs");
void *t2(cl_icd_dispatch *d) { cl_int (*f)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) = d->clGetDeviceIDs; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceInfo) == 3 * sizeof(void *), "clGetDeviceInfo");
void *t3(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id, cl_device_info, size_t, void *, size_t *) = d->clGetDeviceInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateContext) == 4 * sizeof(void *), "clCreateContext");
void *t4(cl_icd_dispatch *d) { cl_context (*f)(cl_context_properties const *, cl_uint, cl_device_id const *, void (*)(char const *, void const *, size_t, void *), void *, cl_int *) = d->clCreateContext; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateContextFromType) == 5 * sizeof(void *), "clCreateContextFromType");
void *t5(cl_icd_dispatch *d) { cl_context (*f)(cl_context_properties const *, cl_device_type, void (*)(char const *, void const *, size_t, void *), void *, cl_int *) = d->clCreateContextFromType; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainContext) == 6 * sizeof(void *), "clRetainContext");
void *t6(cl_icd_dispatch *d) { cl_int (*f)(cl_context) = d->clRetainContext; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseContext) == 7 * sizeof(void *), "clReleaseContext");
void *t7(cl_icd_dispatch *d) { cl_int (*f)(cl_context) = d->clReleaseContext; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetContextInfo) == 8 * sizeof(void *), "clGetContextInfo");
void *t8(cl_icd_dispatch *d) { cl_int (*f)(cl_context, cl_context_info, size_t, void *, size_t *) = d->clGetContextInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateCommandQueue) == 9 * sizeof(void *), "clCreateCommandQueue");
void *t9(cl_icd_dispatch *d) { cl_command_queue (*f)(cl_context, cl_device_id, cl_command_queue_properties, cl_int *) = d->clCreateCommandQueue; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainCommandQueue) == 10 * sizeof(void *), "clRetainCommandQueue");
void *t10(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue) = d->clRetainCommandQueue; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseCommandQueue) == 11 * sizeof(void *), "clReleaseCommandQueue");
void *t11(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue) = d->clReleaseCommandQueue; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetCommandQueueInfo) == 12 * sizeof(void *), "clGetCommandQueueInfo");
void *t12(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *) = d->clGetCommandQueueInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetCommandQueueProperty) == 13 * sizeof(void *), "clSetCommandQueueProperty");
void *t13(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_command_queue_properties, cl_bool, cl_command_queue_properties *) = d->clSetCommandQueueProperty; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateBuffer) == 14 * sizeof(void *), "clCreateBuffer");
void *t14(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, size_t, void *, cl_int *) = d->clCreateBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateImage2D) == 15 * sizeof(void *), "clCreateImage2D");
void *t15(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_image_format const *, size_t, size_t, size_t, void *, cl_int *) = d->clCreateImage2D; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateImage3D) == 16 * sizeof(void *), "clCreateImage3D");
void *t16(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_image_format const *, size_t, size_t, size_t, size_t, size_t, void *, cl_int *) = d->clCreateImage3D; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainMemObject) == 17 * sizeof(void *), "clRetainMemObject");
void *t17(cl_icd_dispatch *d) { cl_int (*f)(cl_mem) = d->clRetainMemObject; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseMemObject) == 18 * sizeof(void *), "clReleaseMemObject");
void *t18(cl_icd_dispatch *d) { cl_int (*f)(cl_mem) = d->clReleaseMemObject; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetSupportedImageFormats) == 19 * sizeof(void *), "clGetSupportedImageFormats");
void *t19(cl_icd_dispatch *d) { cl_int (*f)(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, cl_image_format *, cl_uint *) = d->clGetSupportedImageFormats; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetMemObjectInfo) == 20 * sizeof(void *), "clGetMemObjectInfo");
void *t20(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, cl_mem_info, size_t, void *, size_t *) = d->clGetMemObjectInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetImageInfo) == 21 * sizeof(void *), "clGetImageInfo");
void *t21(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, cl_image_info, size_t, void *, size_t *) = d->clGetImageInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateSampler) == 22 * sizeof(void *), "clCreateSampler");
void *t22(cl_icd_dispatch *d) { cl_sampler (*f)(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int *) = d->clCreateSampler; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainSampler) == 23 * sizeof(void *), "clRetainSampler");
void *t23(cl_icd_dispatch *d) { cl_int (*f)(cl_sampler) = d->clRetainSampler; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseSampler) == 24 * sizeof(void *), "clReleaseSampler");
void *t24(cl_icd_dispatch *d) { cl_int (*f)(cl_sampler) = d->clReleaseSampler; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetSamplerInfo) == 25 * sizeof(void *), "clGetSamplerInfo");
void *t25(cl_icd_dispatch *d) { cl_int (*f)(cl_sampler, cl_sampler_info, size_t, void *, size_t *) = d->clGetSamplerInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateProgramWithSource) == 26 * sizeof(void *), "clCreateProgramWithSource");
void *t26(cl_icd_dispatch *d) { cl_program (*f)(cl_context, cl_uint, char const * *, size_t const *, cl_int *) = d->clCreateProgramWithSource; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateProgramWithBinary) == 27 * sizeof(void *), "clCreateProgramWithBinary");
void *t27(cl_icd_dispatch *d) { cl_program (*f)(cl_context, cl_uint, cl_device_id const *, size_t const *, unsigned char const * *, cl_int *, cl_int *) = d->clCreateProgramWithBinary; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainProgram) == 28 * sizeof(void *), "clRetainProgram");
void *t28(cl_icd_dispatch *d) { cl_int (*f)(cl_program) = d->clRetainProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseProgram) == 29 * sizeof(void *), "clReleaseProgram");
void *t29(cl_icd_dispatch *d) { cl_int (*f)(cl_program) = d->clReleaseProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clBuildProgram) == 30 * sizeof(void *), "clBuildProgram");
void *t30(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_uint, cl_device_id const *, char const *, void (*)(cl_program, void *), void *) = d->clBuildProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clUnloadCompiler) == 31 * sizeof(void *), "clUnloadCompiler");
void *t31(cl_icd_dispatch *d) { cl_int (*f)(void) = d->clUnloadCompiler; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetProgramInfo) == 32 * sizeof(void *), "clGetProgramInfo");
void *t32(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_program_info, size_t, void *, size_t *) = d->clGetProgramInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetProgramBuildInfo) == 33 * sizeof(void *), "clGetProgramBuildInfo");
void *t33(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *) = d->clGetProgramBuildInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateKernel) == 34 * sizeof(void *), "clCreateKernel");
void *t34(cl_icd_dispatch *d) { cl_kernel (*f)(cl_program, char const *, cl_int *) = d->clCreateKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateKernelsInProgram) == 35 * sizeof(void *), "clCreateKernelsInProgram");
void *t35(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_uint, cl_kernel *, cl_uint *) = d->clCreateKernelsInProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainKernel) == 36 * sizeof(void *), "clRetainKernel");
void *t36(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel) = d->clRetainKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseKernel) == 37 * sizeof(void *), "clReleaseKernel");
void *t37(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel) = d->clReleaseKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetKernelArg) == 38 * sizeof(void *), "clSetKernelArg");
void *t38(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_uint, size_t, void const *) = d->clSetKernelArg; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetKernelInfo) == 39 * sizeof(void *), "clGetKernelInfo");
void *t39(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_kernel_info, size_t, void *, size_t *) = d->clGetKernelInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetKernelWorkGroupInfo) == 40 * sizeof(void *), "clGetKernelWorkGroupInfo");
void *t40(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *) = d->clGetKernelWorkGroupInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clWaitForEvents) == 41 * sizeof(void *), "clWaitForEvents");
void *t41(cl_icd_dispatch *d) { cl_int (*f)(cl_uint, cl_event const *) = d->clWaitForEvents; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetEventInfo) == 42 * sizeof(void *), "clGetEventInfo");
void *t42(cl_icd_dispatch *d) { cl_int (*f)(cl_event, cl_event_info, size_t, void *, size_t *) = d->clGetEventInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainEvent) == 43 * sizeof(void *), "clRetainEvent");
void *t43(cl_icd_dispatch *d) { cl_int (*f)(cl_event) = d->clRetainEvent; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseEvent) == 44 * sizeof(void *), "clReleaseEvent");
void *t44(cl_icd_dispatch *d) { cl_int (*f)(cl_event) = d->clReleaseEvent; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetEventProfilingInfo) == 45 * sizeof(void *), "clGetEventProfilingInfo");
void *t45(cl_icd_dispatch *d) { cl_int (*f)(cl_event, cl_profiling_info, size_t, void *, size_t *) = d->clGetEventProfilingInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clFlush) == 46 * sizeof(void *), "clFlush");
void *t46(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue) = d->clFlush; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clFinish) == 47 * sizeof(void *), "clFinish");
void *t47(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue) = d->clFinish; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReadBuffer) == 48 * sizeof(void *), "clEnqueueReadBuffer");
void *t48(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueReadBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueWriteBuffer) == 49 * sizeof(void *), "clEnqueueWriteBuffer");
void *t49(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueWriteBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueCopyBuffer) == 50 * sizeof(void *), "clEnqueueCopyBuffer");
void *t50(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueCopyBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReadImage) == 51 * sizeof(void *), "clEnqueueReadImage");
void *t51(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t const *, size_t const *, size_t, size_t, void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueReadImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueWriteImage) == 52 * sizeof(void *), "clEnqueueWriteImage");
void *t52(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t const *, size_t const *, size_t, size_t, void const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueWriteImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueCopyImage) == 53 * sizeof(void *), "clEnqueueCopyImage");
void *t53(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_mem, size_t const *, size_t const *, size_t const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueCopyImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueCopyImageToBuffer) == 54 * sizeof(void *), "clEnqueueCopyImageToBuffer");
void *t54(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_mem, size_t const *, size_t const *, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueCopyImageToBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueCopyBufferToImage) == 55 * sizeof(void *), "clEnqueueCopyBufferToImage");
void *t55(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_mem, size_t, size_t const *, size_t const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueCopyBufferToImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueMapBuffer) == 56 * sizeof(void *), "clEnqueueMapBuffer");
void *t56(cl_icd_dispatch *d) { void * (*f)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, cl_event const *, cl_event *, cl_int *) = d->clEnqueueMapBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueMapImage) == 57 * sizeof(void *), "clEnqueueMapImage");
void *t57(cl_icd_dispatch *d) { void * (*f)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t const *, size_t const *, size_t *, size_t *, cl_uint, cl_event const *, cl_event *, cl_int *) = d->clEnqueueMapImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueUnmapMemObject) == 58 * sizeof(void *), "clEnqueueUnmapMemObject");
void *t58(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueUnmapMemObject; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueNDRangeKernel) == 59 * sizeof(void *), "clEnqueueNDRangeKernel");
void *t59(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_kernel, cl_uint, size_t const *, size_t const *, size_t const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueNDRangeKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueTask) == 60 * sizeof(void *), "clEnqueueTask");
void *t60(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_kernel, cl_uint, cl_event const *, cl_event *) = d->clEnqueueTask; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueNativeKernel) == 61 * sizeof(void *), "clEnqueueNativeKernel");
void *t61(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, void (*)(void *), void *, size_t, cl_uint, cl_mem const *, void const * *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueNativeKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueMarker) == 62 * sizeof(void *), "clEnqueueMarker");
void *t62(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_event *) = d->clEnqueueMarker; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueWaitForEvents) == 63 * sizeof(void *), "clEnqueueWaitForEvents");
void *t63(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_event const *) = d->clEnqueueWaitForEvents; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueBarrier) == 64 * sizeof(void *), "clEnqueueBarrier");
void *t64(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue) = d->clEnqueueBarrier; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetExtensionFunctionAddress) == 65 * sizeof(void *), "clGetExtensionFunctionAddress");
void *t65(cl_icd_dispatch *d) { void * (*f)(char const *) = d->clGetExtensionFunctionAddress; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromGLBuffer) == 66 * sizeof(void *), "clCreateFromGLBuffer");
void *t66(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_GLuint, cl_int *) = d->clCreateFromGLBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromGLTexture2D) == 67 * sizeof(void *), "clCreateFromGLTexture2D");
void *t67(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint, cl_int *) = d->clCreateFromGLTexture2D; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromGLTexture3D) == 68 * sizeof(void *), "clCreateFromGLTexture3D");
void *t68(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint, cl_int *) = d->clCreateFromGLTexture3D; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromGLRenderbuffer) == 69 * sizeof(void *), "clCreateFromGLRenderbuffer");
void *t69(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_GLuint, cl_int *) = d->clCreateFromGLRenderbuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetGLObjectInfo) == 70 * sizeof(void *), "clGetGLObjectInfo");
void *t70(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, cl_gl_object_type *, cl_GLuint *) = d->clGetGLObjectInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetGLTextureInfo) == 71 * sizeof(void *), "clGetGLTextureInfo");
void *t71(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, cl_gl_texture_info, size_t, void *, size_t *) = d->clGetGLTextureInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueAcquireGLObjects) == 72 * sizeof(void *), "clEnqueueAcquireGLObjects");
void *t72(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_mem const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueAcquireGLObjects; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReleaseGLObjects) == 73 * sizeof(void *), "clEnqueueReleaseGLObjects");
void *t73(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_mem const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueReleaseGLObjects; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetGLContextInfoKHR) == 74 * sizeof(void *), "clGetGLContextInfoKHR");
void *t74(cl_icd_dispatch *d) { cl_int (*f)(cl_context_properties const *, cl_gl_context_info, size_t, void *, size_t *) = d->clGetGLContextInfoKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceIDsFromD3D10KHR) == 75 * sizeof(void *), "clGetDeviceIDsFromD3D10KHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D10BufferKHR) == 76 * sizeof(void *), "clCreateFromD3D10BufferKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D10Texture2DKHR) == 77 * sizeof(void *), "clCreateFromD3D10Texture2DKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D10Texture3DKHR) == 78 * sizeof(void *), "clCreateFromD3D10Texture3DKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueAcquireD3D10ObjectsKHR) == 79 * sizeof(void *), "clEnqueueAcquireD3D10ObjectsKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReleaseD3D10ObjectsKHR) == 80 * sizeof(void *), "clEnqueueReleaseD3D10ObjectsKHR");
_Static_assert(offsetof(cl_icd_dispatch, clSetEventCallback) == 81 * sizeof(void *), "clSetEventCallback");
void *t81(cl_icd_dispatch *d) { cl_int (*f)(cl_event, cl_int, void (*)(cl_event, cl_int, void *), void *) = d->clSetEventCallback; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateSubBuffer) == 82 * sizeof(void *), "clCreateSubBuffer");
void *t82(cl_icd_dispatch *d) { cl_mem (*f)(cl_mem, cl_mem_flags, cl_buffer_create_type, void const *, cl_int *) = d->clCreateSubBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetMemObjectDestructorCallback) == 83 * sizeof(void *), "clSetMemObjectDestructorCallback");
void *t83(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, void (*)(cl_mem, void *), void *) = d->clSetMemObjectDestructorCallback; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateUserEvent) == 84 * sizeof(void *), "clCreateUserEvent");
void *t84(cl_icd_dispatch *d) { cl_event (*f)(cl_context, cl_int *) = d->clCreateUserEvent; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetUserEventStatus) == 85 * sizeof(void *), "clSetUserEventStatus");
void *t85(cl_icd_dispatch *d) { cl_int (*f)(cl_event, cl_int) = d->clSetUserEventStatus; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReadBufferRect) == 86 * sizeof(void *), "clEnqueueReadBufferRect");
void *t86(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t const *, size_t const *, size_t const *, size_t, size_t, size_t, size_t, void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueReadBufferRect; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueWriteBufferRect) == 87 * sizeof(void *), "clEnqueueWriteBufferRect");
void *t87(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_bool, size_t const *, size_t const *, size_t const *, size_t, size_t, size_t, size_t, void const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueWriteBufferRect; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueCopyBufferRect) == 88 * sizeof(void *), "clEnqueueCopyBufferRect");
void *t88(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, cl_mem, size_t const *, size_t const *, size_t const *, size_t, size_t, size_t, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueCopyBufferRect; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateSubDevicesEXT) == 89 * sizeof(void *), "clCreateSubDevicesEXT");
void *t89(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id, cl_device_partition_property_ext const *, cl_uint, cl_device_id *, cl_uint *) = d->clCreateSubDevicesEXT; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainDeviceEXT) == 90 * sizeof(void *), "clRetainDeviceEXT");
void *t90(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id) = d->clRetainDeviceEXT; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseDeviceEXT) == 91 * sizeof(void *), "clReleaseDeviceEXT");
void *t91(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id) = d->clReleaseDeviceEXT; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateEventFromGLsyncKHR) == 92 * sizeof(void *), "clCreateEventFromGLsyncKHR");
void *t92(cl_icd_dispatch *d) { cl_event (*f)(cl_context, cl_GLsync, cl_int *) = d->clCreateEventFromGLsyncKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateSubDevices) == 93 * sizeof(void *), "clCreateSubDevices");
void *t93(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id, cl_device_partition_property const *, cl_uint, cl_device_id *, cl_uint *) = d->clCreateSubDevices; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clRetainDevice) == 94 * sizeof(void *), "clRetainDevice");
void *t94(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id) = d->clRetainDevice; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clReleaseDevice) == 95 * sizeof(void *), "clReleaseDevice");
void *t95(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id) = d->clReleaseDevice; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateImage) == 96 * sizeof(void *), "clCreateImage");
void *t96(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_image_format const *, cl_image_desc const *, void *, cl_int *) = d->clCreateImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateProgramWithBuiltInKernels) == 97 * sizeof(void *), "clCreateProgramWithBuiltInKernels");
void *t97(cl_icd_dispatch *d) { cl_program (*f)(cl_context, cl_uint, cl_device_id const *, char const *, cl_int *) = d->clCreateProgramWithBuiltInKernels; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCompileProgram) == 98 * sizeof(void *), "clCompileProgram");
void *t98(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_uint, cl_device_id const *, char const *, cl_uint, cl_program const *, char const * *, void (*)(cl_program, void *), void *) = d->clCompileProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clLinkProgram) == 99 * sizeof(void *), "clLinkProgram");
void *t99(cl_icd_dispatch *d) { cl_program (*f)(cl_context, cl_uint, cl_device_id const *, char const *, cl_uint, cl_program const *, void (*)(cl_program, void *), void *, cl_int *) = d->clLinkProgram; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clUnloadPlatformCompiler) == 100 * sizeof(void *), "clUnloadPlatformCompiler");
void *t100(cl_icd_dispatch *d) { cl_int (*f)(cl_platform_id) = d->clUnloadPlatformCompiler; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetKernelArgInfo) == 101 * sizeof(void *), "clGetKernelArgInfo");
void *t101(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *) = d->clGetKernelArgInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueFillBuffer) == 102 * sizeof(void *), "clEnqueueFillBuffer");
void *t102(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, void const *, size_t, size_t, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueFillBuffer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueFillImage) == 103 * sizeof(void *), "clEnqueueFillImage");
void *t103(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_mem, void const *, size_t const *, size_t const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueFillImage; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueMigrateMemObjects) == 104 * sizeof(void *), "clEnqueueMigrateMemObjects");
void *t104(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_mem const *, cl_mem_migration_flags, cl_uint, cl_event const *, cl_event *) = d->clEnqueueMigrateMemObjects; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueMarkerWithWaitList) == 105 * sizeof(void *), "clEnqueueMarkerWithWaitList");
void *t105(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_event const *, cl_event *) = d->clEnqueueMarkerWithWaitList; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueBarrierWithWaitList) == 106 * sizeof(void *), "clEnqueueBarrierWithWaitList");
void *t106(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_event const *, cl_event *) = d->clEnqueueBarrierWithWaitList; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetExtensionFunctionAddressForPlatform) == 107 * sizeof(void *), "clGetExtensionFunctionAddressForPlatform");
void *t107(cl_icd_dispatch *d) { void * (*f)(cl_platform_id, char const *) = d->clGetExtensionFunctionAddressForPlatform; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromGLTexture) == 108 * sizeof(void *), "clCreateFromGLTexture");
void *t108(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint, cl_int *) = d->clCreateFromGLTexture; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceIDsFromD3D11KHR) == 109 * sizeof(void *), "clGetDeviceIDsFromD3D11KHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D11BufferKHR) == 110 * sizeof(void *), "clCreateFromD3D11BufferKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D11Texture2DKHR) == 111 * sizeof(void *), "clCreateFromD3D11Texture2DKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromD3D11Texture3DKHR) == 112 * sizeof(void *), "clCreateFromD3D11Texture3DKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromDX9MediaSurfaceKHR) == 113 * sizeof(void *), "clCreateFromDX9MediaSurfaceKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueAcquireD3D11ObjectsKHR) == 114 * sizeof(void *), "clEnqueueAcquireD3D11ObjectsKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReleaseD3D11ObjectsKHR) == 115 * sizeof(void *), "clEnqueueReleaseD3D11ObjectsKHR");
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceIDsFromDX9MediaAdapterKHR) == 116 * sizeof(void *), "clGetDeviceIDsFromDX9MediaAdapterKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueAcquireDX9MediaSurfacesKHR) == 117 * sizeof(void *), "clEnqueueAcquireDX9MediaSurfacesKHR");
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReleaseDX9MediaSurfacesKHR) == 118 * sizeof(void *), "clEnqueueReleaseDX9MediaSurfacesKHR");
_Static_assert(offsetof(cl_icd_dispatch, clCreateFromEGLImageKHR) == 119 * sizeof(void *), "clCreateFromEGLImageKHR");
void *t119(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, CLeglDisplayKHR, CLeglImageKHR, cl_mem_flags, cl_egl_image_properties_khr const *, cl_int *) = d->clCreateFromEGLImageKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueAcquireEGLObjectsKHR) == 120 * sizeof(void *), "clEnqueueAcquireEGLObjectsKHR");
void *t120(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_mem const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueAcquireEGLObjectsKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueReleaseEGLObjectsKHR) == 121 * sizeof(void *), "clEnqueueReleaseEGLObjectsKHR");
void *t121(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, cl_mem const *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueReleaseEGLObjectsKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateEventFromEGLSyncKHR) == 122 * sizeof(void *), "clCreateEventFromEGLSyncKHR");
void *t122(cl_icd_dispatch *d) { cl_event (*f)(cl_context, CLeglSyncKHR, CLeglDisplayKHR, cl_int *) = d->clCreateEventFromEGLSyncKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties) == 123 * sizeof(void *), "clCreateCommandQueueWithProperties");
void *t123(cl_icd_dispatch *d) { cl_command_queue (*f)(cl_context, cl_device_id, cl_queue_properties const *, cl_int *) = d->clCreateCommandQueueWithProperties; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreatePipe) == 124 * sizeof(void *), "clCreatePipe");
void *t124(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_flags, cl_uint, cl_uint, cl_pipe_properties const *, cl_int *) = d->clCreatePipe; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetPipeInfo) == 125 * sizeof(void *), "clGetPipeInfo");
void *t125(cl_icd_dispatch *d) { cl_int (*f)(cl_mem, cl_pipe_info, size_t, void *, size_t *) = d->clGetPipeInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSVMAlloc) == 126 * sizeof(void *), "clSVMAlloc");
void *t126(cl_icd_dispatch *d) { void * (*f)(cl_context, cl_svm_mem_flags, size_t, cl_uint) = d->clSVMAlloc; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSVMFree) == 127 * sizeof(void *), "clSVMFree");
void *t127(cl_icd_dispatch *d) { void (*f)(cl_context, void *) = d->clSVMFree; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMFree) == 128 * sizeof(void *), "clEnqueueSVMFree");
void *t128(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, void * *, void (*)(cl_command_queue, cl_uint, void * *, void *), void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMFree; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMMemcpy) == 129 * sizeof(void *), "clEnqueueSVMMemcpy");
void *t129(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_bool, void *, void const *, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMMemcpy; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMMemFill) == 130 * sizeof(void *), "clEnqueueSVMMemFill");
void *t130(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, void *, void const *, size_t, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMMemFill; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMMap) == 131 * sizeof(void *), "clEnqueueSVMMap");
void *t131(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_bool, cl_map_flags, void *, size_t, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMMap; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMUnmap) == 132 * sizeof(void *), "clEnqueueSVMUnmap");
void *t132(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, void *, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMUnmap; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateSamplerWithProperties) == 133 * sizeof(void *), "clCreateSamplerWithProperties");
void *t133(cl_icd_dispatch *d) { cl_sampler (*f)(cl_context, cl_sampler_properties const *, cl_int *) = d->clCreateSamplerWithProperties; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetKernelArgSVMPointer) == 134 * sizeof(void *), "clSetKernelArgSVMPointer");
void *t134(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_uint, void const *) = d->clSetKernelArgSVMPointer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetKernelExecInfo) == 135 * sizeof(void *), "clSetKernelExecInfo");
void *t135(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_kernel_exec_info, size_t, void const *) = d->clSetKernelExecInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetKernelSubGroupInfoKHR) == 136 * sizeof(void *), "clGetKernelSubGroupInfoKHR");
void *t136(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, void const *, size_t, void *, size_t *) = d->clGetKernelSubGroupInfoKHR; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCloneKernel) == 137 * sizeof(void *), "clCloneKernel");
void *t137(cl_icd_dispatch *d) { cl_kernel (*f)(cl_kernel, cl_int *) = d->clCloneKernel; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateProgramWithIL) == 138 * sizeof(void *), "clCreateProgramWithIL");
void *t138(cl_icd_dispatch *d) { cl_program (*f)(cl_context, void const *, size_t, cl_int *) = d->clCreateProgramWithIL; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clEnqueueSVMMigrateMem) == 139 * sizeof(void *), "clEnqueueSVMMigrateMem");
void *t139(cl_icd_dispatch *d) { cl_int (*f)(cl_command_queue, cl_uint, void const * *, size_t const *, cl_mem_migration_flags, cl_uint, cl_event const *, cl_event *) = d->clEnqueueSVMMigrateMem; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetDeviceAndHostTimer) == 140 * sizeof(void *), "clGetDeviceAndHostTimer");
void *t140(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id, cl_ulong *, cl_ulong *) = d->clGetDeviceAndHostTimer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetHostTimer) == 141 * sizeof(void *), "clGetHostTimer");
void *t141(cl_icd_dispatch *d) { cl_int (*f)(cl_device_id, cl_ulong *) = d->clGetHostTimer; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clGetKernelSubGroupInfo) == 142 * sizeof(void *), "clGetKernelSubGroupInfo");
void *t142(cl_icd_dispatch *d) { cl_int (*f)(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, void const *, size_t, void *, size_t *) = d->clGetKernelSubGroupInfo; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetDefaultDeviceCommandQueue) == 143 * sizeof(void *), "clSetDefaultDeviceCommandQueue");
void *t143(cl_icd_dispatch *d) { cl_int (*f)(cl_context, cl_device_id, cl_command_queue) = d->clSetDefaultDeviceCommandQueue; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetProgramReleaseCallback) == 144 * sizeof(void *), "clSetProgramReleaseCallback");
void *t144(cl_icd_dispatch *d) { cl_int (*f)(cl_program, void (*)(cl_program, void *), void *) = d->clSetProgramReleaseCallback; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetProgramSpecializationConstant) == 145 * sizeof(void *), "clSetProgramSpecializationConstant");
void *t145(cl_icd_dispatch *d) { cl_int (*f)(cl_program, cl_uint, size_t, void const *) = d->clSetProgramSpecializationConstant; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateBufferWithProperties) == 146 * sizeof(void *), "clCreateBufferWithProperties");
void *t146(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_properties const *, cl_mem_flags, size_t, void *, cl_int *) = d->clCreateBufferWithProperties; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clCreateImageWithProperties) == 147 * sizeof(void *), "clCreateImageWithProperties");
void *t147(cl_icd_dispatch *d) { cl_mem (*f)(cl_context, cl_mem_properties const *, cl_mem_flags, cl_image_format const *, cl_image_desc const *, void *, cl_int *) = d->clCreateImageWithProperties; return (void *)f; }
_Static_assert(offsetof(cl_icd_dispatch, clSetContextDestructorCallback) == 148 * sizeof(void *), "clSetContextDestructorCallback");
void *t148(cl_icd_dispatch *d) { cl_int (*f)(cl_context, void (*)(cl_context, void *), void *) = d->clSetContextDestructorCallback; return (void *)f; }
