// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! The dispatch table that loaders call through (`_cl_icd_dispatch`).

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

use super::{extensions, functions};
use crate::generated::vendor::Vendor;
use crate::{arguments, callbacks, platform};

/// A slot for each function, in the loaders' order.
pub(crate) type Table = [AtomicPtr<c_void>; 150];

const fn function(address: *mut c_void) -> AtomicPtr<c_void> {
    AtomicPtr::new(address)
}

/// The table of this driver. Functions that only other systems have are null.
pub(crate) static TABLE: Table = [
    // 0: clGetPlatformIDs
    function(platform::clGetPlatformIDs as *mut c_void),
    // 1: clGetPlatformInfo
    function(platform::clGetPlatformInfo as *mut c_void),
    // 2: clGetDeviceIDs
    function(functions::clGetDeviceIDs as *mut c_void),
    // 3: clGetDeviceInfo
    function(functions::clGetDeviceInfo as *mut c_void),
    // 4: clCreateContext
    function(functions::clCreateContext as *mut c_void),
    // 5: clCreateContextFromType
    function(functions::clCreateContextFromType as *mut c_void),
    // 6: clRetainContext
    function(functions::clRetainContext as *mut c_void),
    // 7: clReleaseContext
    function(functions::clReleaseContext as *mut c_void),
    // 8: clGetContextInfo
    function(functions::clGetContextInfo as *mut c_void),
    // 9: clCreateCommandQueue
    function(functions::clCreateCommandQueue as *mut c_void),
    // 10: clRetainCommandQueue
    function(functions::clRetainCommandQueue as *mut c_void),
    // 11: clReleaseCommandQueue
    function(functions::clReleaseCommandQueue as *mut c_void),
    // 12: clGetCommandQueueInfo
    function(functions::clGetCommandQueueInfo as *mut c_void),
    // 13: clSetCommandQueueProperty
    function(functions::clSetCommandQueueProperty as *mut c_void),
    // 14: clCreateBuffer
    function(functions::clCreateBuffer as *mut c_void),
    // 15: clCreateImage2D
    function(functions::clCreateImage2D as *mut c_void),
    // 16: clCreateImage3D
    function(functions::clCreateImage3D as *mut c_void),
    // 17: clRetainMemObject
    function(functions::clRetainMemObject as *mut c_void),
    // 18: clReleaseMemObject
    function(functions::clReleaseMemObject as *mut c_void),
    // 19: clGetSupportedImageFormats
    function(functions::clGetSupportedImageFormats as *mut c_void),
    // 20: clGetMemObjectInfo
    function(functions::clGetMemObjectInfo as *mut c_void),
    // 21: clGetImageInfo
    function(functions::clGetImageInfo as *mut c_void),
    // 22: clCreateSampler
    function(functions::clCreateSampler as *mut c_void),
    // 23: clRetainSampler
    function(functions::clRetainSampler as *mut c_void),
    // 24: clReleaseSampler
    function(functions::clReleaseSampler as *mut c_void),
    // 25: clGetSamplerInfo
    function(functions::clGetSamplerInfo as *mut c_void),
    // 26: clCreateProgramWithSource
    function(functions::clCreateProgramWithSource as *mut c_void),
    // 27: clCreateProgramWithBinary
    function(functions::clCreateProgramWithBinary as *mut c_void),
    // 28: clRetainProgram
    function(functions::clRetainProgram as *mut c_void),
    // 29: clReleaseProgram
    function(functions::clReleaseProgram as *mut c_void),
    // 30: clBuildProgram
    function(functions::clBuildProgram as *mut c_void),
    // 31: clUnloadCompiler
    function(functions::clUnloadCompiler as *mut c_void),
    // 32: clGetProgramInfo
    function(functions::clGetProgramInfo as *mut c_void),
    // 33: clGetProgramBuildInfo
    function(functions::clGetProgramBuildInfo as *mut c_void),
    // 34: clCreateKernel
    function(functions::clCreateKernel as *mut c_void),
    // 35: clCreateKernelsInProgram
    function(functions::clCreateKernelsInProgram as *mut c_void),
    // 36: clRetainKernel
    function(functions::clRetainKernel as *mut c_void),
    // 37: clReleaseKernel
    function(functions::clReleaseKernel as *mut c_void),
    // 38: clSetKernelArg
    function(arguments::clSetKernelArg as *mut c_void),
    // 39: clGetKernelInfo
    function(functions::clGetKernelInfo as *mut c_void),
    // 40: clGetKernelWorkGroupInfo
    function(functions::clGetKernelWorkGroupInfo as *mut c_void),
    // 41: clWaitForEvents
    function(functions::clWaitForEvents as *mut c_void),
    // 42: clGetEventInfo
    function(functions::clGetEventInfo as *mut c_void),
    // 43: clRetainEvent
    function(functions::clRetainEvent as *mut c_void),
    // 44: clReleaseEvent
    function(functions::clReleaseEvent as *mut c_void),
    // 45: clGetEventProfilingInfo
    function(functions::clGetEventProfilingInfo as *mut c_void),
    // 46: clFlush
    function(functions::clFlush as *mut c_void),
    // 47: clFinish
    function(functions::clFinish as *mut c_void),
    // 48: clEnqueueReadBuffer
    function(functions::clEnqueueReadBuffer as *mut c_void),
    // 49: clEnqueueWriteBuffer
    function(functions::clEnqueueWriteBuffer as *mut c_void),
    // 50: clEnqueueCopyBuffer
    function(functions::clEnqueueCopyBuffer as *mut c_void),
    // 51: clEnqueueReadImage
    function(functions::clEnqueueReadImage as *mut c_void),
    // 52: clEnqueueWriteImage
    function(functions::clEnqueueWriteImage as *mut c_void),
    // 53: clEnqueueCopyImage
    function(functions::clEnqueueCopyImage as *mut c_void),
    // 54: clEnqueueCopyImageToBuffer
    function(functions::clEnqueueCopyImageToBuffer as *mut c_void),
    // 55: clEnqueueCopyBufferToImage
    function(functions::clEnqueueCopyBufferToImage as *mut c_void),
    // 56: clEnqueueMapBuffer
    function(functions::clEnqueueMapBuffer as *mut c_void),
    // 57: clEnqueueMapImage
    function(functions::clEnqueueMapImage as *mut c_void),
    // 58: clEnqueueUnmapMemObject
    function(functions::clEnqueueUnmapMemObject as *mut c_void),
    // 59: clEnqueueNDRangeKernel
    function(functions::clEnqueueNDRangeKernel as *mut c_void),
    // 60: clEnqueueTask
    function(functions::clEnqueueTask as *mut c_void),
    // 61: clEnqueueNativeKernel
    function(functions::clEnqueueNativeKernel as *mut c_void),
    // 62: clEnqueueMarker
    function(functions::clEnqueueMarker as *mut c_void),
    // 63: clEnqueueWaitForEvents
    function(functions::clEnqueueWaitForEvents as *mut c_void),
    // 64: clEnqueueBarrier
    function(functions::clEnqueueBarrier as *mut c_void),
    // 65: clGetExtensionFunctionAddress
    function(platform::clGetExtensionFunctionAddress as *mut c_void),
    // 66: clCreateFromGLBuffer
    function(functions::clCreateFromGLBuffer as *mut c_void),
    // 67: clCreateFromGLTexture2D
    function(functions::clCreateFromGLTexture2D as *mut c_void),
    // 68: clCreateFromGLTexture3D
    function(functions::clCreateFromGLTexture3D as *mut c_void),
    // 69: clCreateFromGLRenderbuffer
    function(functions::clCreateFromGLRenderbuffer as *mut c_void),
    // 70: clGetGLObjectInfo
    function(functions::clGetGLObjectInfo as *mut c_void),
    // 71: clGetGLTextureInfo
    function(functions::clGetGLTextureInfo as *mut c_void),
    // 72: clEnqueueAcquireGLObjects
    function(functions::clEnqueueAcquireGLObjects as *mut c_void),
    // 73: clEnqueueReleaseGLObjects
    function(functions::clEnqueueReleaseGLObjects as *mut c_void),
    // 74: clGetGLContextInfoKHR
    function(extensions::clGetGLContextInfoKHR as *mut c_void),
    // 75: clGetDeviceIDsFromD3D10KHR
    function(null_mut()),
    // 76: clCreateFromD3D10BufferKHR
    function(null_mut()),
    // 77: clCreateFromD3D10Texture2DKHR
    function(null_mut()),
    // 78: clCreateFromD3D10Texture3DKHR
    function(null_mut()),
    // 79: clEnqueueAcquireD3D10ObjectsKHR
    function(null_mut()),
    // 80: clEnqueueReleaseD3D10ObjectsKHR
    function(null_mut()),
    // 81: clSetEventCallback
    function(functions::clSetEventCallback as *mut c_void),
    // 82: clCreateSubBuffer
    function(functions::clCreateSubBuffer as *mut c_void),
    // 83: clSetMemObjectDestructorCallback
    function(functions::clSetMemObjectDestructorCallback as *mut c_void),
    // 84: clCreateUserEvent
    function(functions::clCreateUserEvent as *mut c_void),
    // 85: clSetUserEventStatus
    function(functions::clSetUserEventStatus as *mut c_void),
    // 86: clEnqueueReadBufferRect
    function(functions::clEnqueueReadBufferRect as *mut c_void),
    // 87: clEnqueueWriteBufferRect
    function(functions::clEnqueueWriteBufferRect as *mut c_void),
    // 88: clEnqueueCopyBufferRect
    function(functions::clEnqueueCopyBufferRect as *mut c_void),
    // 89: clCreateSubDevicesEXT
    function(extensions::clCreateSubDevicesEXT as *mut c_void),
    // 90: clRetainDeviceEXT
    function(extensions::clRetainDeviceEXT as *mut c_void),
    // 91: clReleaseDeviceEXT
    function(extensions::clReleaseDeviceEXT as *mut c_void),
    // 92: clCreateEventFromGLsyncKHR
    function(extensions::clCreateEventFromGLsyncKHR as *mut c_void),
    // 93: clCreateSubDevices
    function(functions::clCreateSubDevices as *mut c_void),
    // 94: clRetainDevice
    function(functions::clRetainDevice as *mut c_void),
    // 95: clReleaseDevice
    function(functions::clReleaseDevice as *mut c_void),
    // 96: clCreateImage
    function(functions::clCreateImage as *mut c_void),
    // 97: clCreateProgramWithBuiltInKernels
    function(functions::clCreateProgramWithBuiltInKernels as *mut c_void),
    // 98: clCompileProgram
    function(functions::clCompileProgram as *mut c_void),
    // 99: clLinkProgram
    function(functions::clLinkProgram as *mut c_void),
    // 100: clUnloadPlatformCompiler
    function(functions::clUnloadPlatformCompiler as *mut c_void),
    // 101: clGetKernelArgInfo
    function(functions::clGetKernelArgInfo as *mut c_void),
    // 102: clEnqueueFillBuffer
    function(functions::clEnqueueFillBuffer as *mut c_void),
    // 103: clEnqueueFillImage
    function(functions::clEnqueueFillImage as *mut c_void),
    // 104: clEnqueueMigrateMemObjects
    function(functions::clEnqueueMigrateMemObjects as *mut c_void),
    // 105: clEnqueueMarkerWithWaitList
    function(functions::clEnqueueMarkerWithWaitList as *mut c_void),
    // 106: clEnqueueBarrierWithWaitList
    function(functions::clEnqueueBarrierWithWaitList as *mut c_void),
    // 107: clGetExtensionFunctionAddressForPlatform
    function(platform::clGetExtensionFunctionAddressForPlatform as *mut c_void),
    // 108: clCreateFromGLTexture
    function(functions::clCreateFromGLTexture as *mut c_void),
    // 109: clGetDeviceIDsFromD3D11KHR
    function(null_mut()),
    // 110: clCreateFromD3D11BufferKHR
    function(null_mut()),
    // 111: clCreateFromD3D11Texture2DKHR
    function(null_mut()),
    // 112: clCreateFromD3D11Texture3DKHR
    function(null_mut()),
    // 113: clCreateFromDX9MediaSurfaceKHR
    function(null_mut()),
    // 114: clEnqueueAcquireD3D11ObjectsKHR
    function(null_mut()),
    // 115: clEnqueueReleaseD3D11ObjectsKHR
    function(null_mut()),
    // 116: clGetDeviceIDsFromDX9MediaAdapterKHR
    function(null_mut()),
    // 117: clEnqueueAcquireDX9MediaSurfacesKHR
    function(null_mut()),
    // 118: clEnqueueReleaseDX9MediaSurfacesKHR
    function(null_mut()),
    // 119: clCreateFromEGLImageKHR
    function(extensions::clCreateFromEGLImageKHR as *mut c_void),
    // 120: clEnqueueAcquireEGLObjectsKHR
    function(extensions::clEnqueueAcquireEGLObjectsKHR as *mut c_void),
    // 121: clEnqueueReleaseEGLObjectsKHR
    function(extensions::clEnqueueReleaseEGLObjectsKHR as *mut c_void),
    // 122: clCreateEventFromEGLSyncKHR
    function(extensions::clCreateEventFromEGLSyncKHR as *mut c_void),
    // 123: clCreateCommandQueueWithProperties
    function(functions::clCreateCommandQueueWithProperties as *mut c_void),
    // 124: clCreatePipe
    function(functions::clCreatePipe as *mut c_void),
    // 125: clGetPipeInfo
    function(functions::clGetPipeInfo as *mut c_void),
    // 126: clSVMAlloc
    function(functions::clSVMAlloc as *mut c_void),
    // 127: clSVMFree
    function(functions::clSVMFree as *mut c_void),
    // 128: clEnqueueSVMFree
    function(functions::clEnqueueSVMFree as *mut c_void),
    // 129: clEnqueueSVMMemcpy
    function(functions::clEnqueueSVMMemcpy as *mut c_void),
    // 130: clEnqueueSVMMemFill
    function(functions::clEnqueueSVMMemFill as *mut c_void),
    // 131: clEnqueueSVMMap
    function(functions::clEnqueueSVMMap as *mut c_void),
    // 132: clEnqueueSVMUnmap
    function(functions::clEnqueueSVMUnmap as *mut c_void),
    // 133: clCreateSamplerWithProperties
    function(functions::clCreateSamplerWithProperties as *mut c_void),
    // 134: clSetKernelArgSVMPointer
    function(functions::clSetKernelArgSVMPointer as *mut c_void),
    // 135: clSetKernelExecInfo
    function(functions::clSetKernelExecInfo as *mut c_void),
    // 136: clGetKernelSubGroupInfoKHR
    function(extensions::clGetKernelSubGroupInfoKHR as *mut c_void),
    // 137: clCloneKernel
    function(functions::clCloneKernel as *mut c_void),
    // 138: clCreateProgramWithIL
    function(functions::clCreateProgramWithIL as *mut c_void),
    // 139: clEnqueueSVMMigrateMem
    function(functions::clEnqueueSVMMigrateMem as *mut c_void),
    // 140: clGetDeviceAndHostTimer
    function(functions::clGetDeviceAndHostTimer as *mut c_void),
    // 141: clGetHostTimer
    function(functions::clGetHostTimer as *mut c_void),
    // 142: clGetKernelSubGroupInfo
    function(functions::clGetKernelSubGroupInfo as *mut c_void),
    // 143: clSetDefaultDeviceCommandQueue
    function(functions::clSetDefaultDeviceCommandQueue as *mut c_void),
    // 144: clSetProgramReleaseCallback
    function(functions::clSetProgramReleaseCallback as *mut c_void),
    // 145: clSetProgramSpecializationConstant
    function(functions::clSetProgramSpecializationConstant as *mut c_void),
    // 146: clCreateBufferWithProperties
    function(functions::clCreateBufferWithProperties as *mut c_void),
    // 147: clCreateImageWithProperties
    function(functions::clCreateImageWithProperties as *mut c_void),
    // 148: clSetContextDestructorCallback
    function(functions::clSetContextDestructorCallback as *mut c_void),
    // 149: clGetKernelSuggestedLocalWorkSize
    function(functions::clGetKernelSuggestedLocalWorkSize as *mut c_void),
];

/// A function by its name, where the vendor has it.
pub(crate) fn address(vendor: &Vendor, name: &[u8]) -> *mut c_void {
    match name {
        b"clBuildProgram" if vendor.clBuildProgram.is_some() => {
            functions::clBuildProgram as *mut c_void
        }
        b"clCloneKernel" if vendor.clCloneKernel.is_some() => {
            functions::clCloneKernel as *mut c_void
        }
        b"clCompileProgram" if vendor.clCompileProgram.is_some() => {
            functions::clCompileProgram as *mut c_void
        }
        b"clCreateBuffer" if vendor.clCreateBuffer.is_some() => {
            functions::clCreateBuffer as *mut c_void
        }
        b"clCreateBufferWithProperties" if vendor.clCreateBufferWithProperties.is_some() => {
            functions::clCreateBufferWithProperties as *mut c_void
        }
        b"clCreateBufferWithPropertiesINTEL"
            if vendor.clCreateBufferWithPropertiesINTEL.is_some() =>
        {
            extensions::clCreateBufferWithPropertiesINTEL as *mut c_void
        }
        b"clCreateCommandQueue" if vendor.clCreateCommandQueue.is_some() => {
            functions::clCreateCommandQueue as *mut c_void
        }
        b"clCreateCommandQueueWithProperties"
            if vendor.clCreateCommandQueueWithProperties.is_some() =>
        {
            functions::clCreateCommandQueueWithProperties as *mut c_void
        }
        b"clCreateCommandQueueWithPropertiesKHR"
            if vendor.clCreateCommandQueueWithPropertiesKHR.is_some() =>
        {
            extensions::clCreateCommandQueueWithPropertiesKHR as *mut c_void
        }
        b"clCreateContext" if vendor.clCreateContext.is_some() => {
            functions::clCreateContext as *mut c_void
        }
        b"clCreateContextFromType" if vendor.clCreateContextFromType.is_some() => {
            functions::clCreateContextFromType as *mut c_void
        }
        b"clCreateEventFromEGLSyncKHR" if vendor.clCreateEventFromEGLSyncKHR.is_some() => {
            extensions::clCreateEventFromEGLSyncKHR as *mut c_void
        }
        b"clCreateEventFromGLsyncKHR" if vendor.clCreateEventFromGLsyncKHR.is_some() => {
            extensions::clCreateEventFromGLsyncKHR as *mut c_void
        }
        b"clCreateFromEGLImageKHR" if vendor.clCreateFromEGLImageKHR.is_some() => {
            extensions::clCreateFromEGLImageKHR as *mut c_void
        }
        b"clCreateFromGLBuffer" if vendor.clCreateFromGLBuffer.is_some() => {
            functions::clCreateFromGLBuffer as *mut c_void
        }
        b"clCreateFromGLRenderbuffer" if vendor.clCreateFromGLRenderbuffer.is_some() => {
            functions::clCreateFromGLRenderbuffer as *mut c_void
        }
        b"clCreateFromGLTexture" if vendor.clCreateFromGLTexture.is_some() => {
            functions::clCreateFromGLTexture as *mut c_void
        }
        b"clCreateFromGLTexture2D" if vendor.clCreateFromGLTexture2D.is_some() => {
            functions::clCreateFromGLTexture2D as *mut c_void
        }
        b"clCreateFromGLTexture3D" if vendor.clCreateFromGLTexture3D.is_some() => {
            functions::clCreateFromGLTexture3D as *mut c_void
        }
        b"clCreateImage" if vendor.clCreateImage.is_some() => {
            functions::clCreateImage as *mut c_void
        }
        b"clCreateImage2D" if vendor.clCreateImage2D.is_some() => {
            functions::clCreateImage2D as *mut c_void
        }
        b"clCreateImage3D" if vendor.clCreateImage3D.is_some() => {
            functions::clCreateImage3D as *mut c_void
        }
        b"clCreateImageWithProperties" if vendor.clCreateImageWithProperties.is_some() => {
            functions::clCreateImageWithProperties as *mut c_void
        }
        b"clCreateKernel" if vendor.clCreateKernel.is_some() => {
            functions::clCreateKernel as *mut c_void
        }
        b"clCreateKernelsInProgram" if vendor.clCreateKernelsInProgram.is_some() => {
            functions::clCreateKernelsInProgram as *mut c_void
        }
        b"clCreatePipe" if vendor.clCreatePipe.is_some() => functions::clCreatePipe as *mut c_void,
        b"clCreateProgramWithBinary" if vendor.clCreateProgramWithBinary.is_some() => {
            functions::clCreateProgramWithBinary as *mut c_void
        }
        b"clCreateProgramWithBinaryAndProgramDeviceIntelFPGA"
            if vendor
                .clCreateProgramWithBinaryAndProgramDeviceIntelFPGA
                .is_some() =>
        {
            extensions::clCreateProgramWithBinaryAndProgramDeviceIntelFPGA as *mut c_void
        }
        b"clCreateProgramWithBuiltInKernels"
            if vendor.clCreateProgramWithBuiltInKernels.is_some() =>
        {
            functions::clCreateProgramWithBuiltInKernels as *mut c_void
        }
        b"clCreateProgramWithIL" if vendor.clCreateProgramWithIL.is_some() => {
            functions::clCreateProgramWithIL as *mut c_void
        }
        b"clCreateProgramWithILKHR" if vendor.clCreateProgramWithILKHR.is_some() => {
            extensions::clCreateProgramWithILKHR as *mut c_void
        }
        b"clCreateProgramWithSource" if vendor.clCreateProgramWithSource.is_some() => {
            functions::clCreateProgramWithSource as *mut c_void
        }
        b"clCreateSampler" if vendor.clCreateSampler.is_some() => {
            functions::clCreateSampler as *mut c_void
        }
        b"clCreateSamplerWithProperties" if vendor.clCreateSamplerWithProperties.is_some() => {
            functions::clCreateSamplerWithProperties as *mut c_void
        }
        b"clCreateSemaphoreWithPropertiesKHR"
            if vendor.clCreateSemaphoreWithPropertiesKHR.is_some() =>
        {
            extensions::clCreateSemaphoreWithPropertiesKHR as *mut c_void
        }
        b"clCreateSubBuffer" if vendor.clCreateSubBuffer.is_some() => {
            functions::clCreateSubBuffer as *mut c_void
        }
        b"clCreateSubDevices" if vendor.clCreateSubDevices.is_some() => {
            functions::clCreateSubDevices as *mut c_void
        }
        b"clCreateSubDevicesEXT" if vendor.clCreateSubDevicesEXT.is_some() => {
            extensions::clCreateSubDevicesEXT as *mut c_void
        }
        b"clCreateUserEvent" if vendor.clCreateUserEvent.is_some() => {
            functions::clCreateUserEvent as *mut c_void
        }
        b"clDeviceMemAllocINTEL" if vendor.clDeviceMemAllocINTEL.is_some() => {
            extensions::clDeviceMemAllocINTEL as *mut c_void
        }
        b"clEnqueueAcquireEGLObjectsKHR" if vendor.clEnqueueAcquireEGLObjectsKHR.is_some() => {
            extensions::clEnqueueAcquireEGLObjectsKHR as *mut c_void
        }
        b"clEnqueueAcquireExternalMemObjectsKHR"
            if vendor.clEnqueueAcquireExternalMemObjectsKHR.is_some() =>
        {
            extensions::clEnqueueAcquireExternalMemObjectsKHR as *mut c_void
        }
        b"clEnqueueAcquireGLObjects" if vendor.clEnqueueAcquireGLObjects.is_some() => {
            functions::clEnqueueAcquireGLObjects as *mut c_void
        }
        b"clEnqueueAcquireGrallocObjectsIMG"
            if vendor.clEnqueueAcquireGrallocObjectsIMG.is_some() =>
        {
            extensions::clEnqueueAcquireGrallocObjectsIMG as *mut c_void
        }
        b"clEnqueueBarrier" if vendor.clEnqueueBarrier.is_some() => {
            functions::clEnqueueBarrier as *mut c_void
        }
        b"clEnqueueBarrierWithWaitList" if vendor.clEnqueueBarrierWithWaitList.is_some() => {
            functions::clEnqueueBarrierWithWaitList as *mut c_void
        }
        b"clEnqueueCopyBuffer" if vendor.clEnqueueCopyBuffer.is_some() => {
            functions::clEnqueueCopyBuffer as *mut c_void
        }
        b"clEnqueueCopyBufferRect" if vendor.clEnqueueCopyBufferRect.is_some() => {
            functions::clEnqueueCopyBufferRect as *mut c_void
        }
        b"clEnqueueCopyBufferToImage" if vendor.clEnqueueCopyBufferToImage.is_some() => {
            functions::clEnqueueCopyBufferToImage as *mut c_void
        }
        b"clEnqueueCopyImage" if vendor.clEnqueueCopyImage.is_some() => {
            functions::clEnqueueCopyImage as *mut c_void
        }
        b"clEnqueueCopyImageToBuffer" if vendor.clEnqueueCopyImageToBuffer.is_some() => {
            functions::clEnqueueCopyImageToBuffer as *mut c_void
        }
        b"clEnqueueFillBuffer" if vendor.clEnqueueFillBuffer.is_some() => {
            functions::clEnqueueFillBuffer as *mut c_void
        }
        b"clEnqueueFillImage" if vendor.clEnqueueFillImage.is_some() => {
            functions::clEnqueueFillImage as *mut c_void
        }
        b"clEnqueueGenerateMipmapIMG" if vendor.clEnqueueGenerateMipmapIMG.is_some() => {
            extensions::clEnqueueGenerateMipmapIMG as *mut c_void
        }
        b"clEnqueueMapBuffer" if vendor.clEnqueueMapBuffer.is_some() => {
            functions::clEnqueueMapBuffer as *mut c_void
        }
        b"clEnqueueMapImage" if vendor.clEnqueueMapImage.is_some() => {
            functions::clEnqueueMapImage as *mut c_void
        }
        b"clEnqueueMarker" if vendor.clEnqueueMarker.is_some() => {
            functions::clEnqueueMarker as *mut c_void
        }
        b"clEnqueueMarkerWithWaitList" if vendor.clEnqueueMarkerWithWaitList.is_some() => {
            functions::clEnqueueMarkerWithWaitList as *mut c_void
        }
        b"clEnqueueMemAdviseINTEL" if vendor.clEnqueueMemAdviseINTEL.is_some() => {
            extensions::clEnqueueMemAdviseINTEL as *mut c_void
        }
        b"clEnqueueMemFillINTEL" if vendor.clEnqueueMemFillINTEL.is_some() => {
            extensions::clEnqueueMemFillINTEL as *mut c_void
        }
        b"clEnqueueMemcpyINTEL" if vendor.clEnqueueMemcpyINTEL.is_some() => {
            extensions::clEnqueueMemcpyINTEL as *mut c_void
        }
        b"clEnqueueMemsetINTEL" if vendor.clEnqueueMemsetINTEL.is_some() => {
            extensions::clEnqueueMemsetINTEL as *mut c_void
        }
        b"clEnqueueMigrateMemINTEL" if vendor.clEnqueueMigrateMemINTEL.is_some() => {
            extensions::clEnqueueMigrateMemINTEL as *mut c_void
        }
        b"clEnqueueMigrateMemObjectEXT" if vendor.clEnqueueMigrateMemObjectEXT.is_some() => {
            extensions::clEnqueueMigrateMemObjectEXT as *mut c_void
        }
        b"clEnqueueMigrateMemObjects" if vendor.clEnqueueMigrateMemObjects.is_some() => {
            functions::clEnqueueMigrateMemObjects as *mut c_void
        }
        b"clEnqueueNDRangeKernel" if vendor.clEnqueueNDRangeKernel.is_some() => {
            functions::clEnqueueNDRangeKernel as *mut c_void
        }
        b"clEnqueueNativeKernel" if vendor.clEnqueueNativeKernel.is_some() => {
            functions::clEnqueueNativeKernel as *mut c_void
        }
        b"clEnqueueReadBuffer" if vendor.clEnqueueReadBuffer.is_some() => {
            functions::clEnqueueReadBuffer as *mut c_void
        }
        b"clEnqueueReadBufferRect" if vendor.clEnqueueReadBufferRect.is_some() => {
            functions::clEnqueueReadBufferRect as *mut c_void
        }
        b"clEnqueueReadGlobalVariableINTEL"
            if vendor.clEnqueueReadGlobalVariableINTEL.is_some() =>
        {
            extensions::clEnqueueReadGlobalVariableINTEL as *mut c_void
        }
        b"clEnqueueReadHostPipeINTEL" if vendor.clEnqueueReadHostPipeINTEL.is_some() => {
            extensions::clEnqueueReadHostPipeINTEL as *mut c_void
        }
        b"clEnqueueReadImage" if vendor.clEnqueueReadImage.is_some() => {
            functions::clEnqueueReadImage as *mut c_void
        }
        b"clEnqueueReleaseEGLObjectsKHR" if vendor.clEnqueueReleaseEGLObjectsKHR.is_some() => {
            extensions::clEnqueueReleaseEGLObjectsKHR as *mut c_void
        }
        b"clEnqueueReleaseExternalMemObjectsKHR"
            if vendor.clEnqueueReleaseExternalMemObjectsKHR.is_some() =>
        {
            extensions::clEnqueueReleaseExternalMemObjectsKHR as *mut c_void
        }
        b"clEnqueueReleaseGLObjects" if vendor.clEnqueueReleaseGLObjects.is_some() => {
            functions::clEnqueueReleaseGLObjects as *mut c_void
        }
        b"clEnqueueReleaseGrallocObjectsIMG"
            if vendor.clEnqueueReleaseGrallocObjectsIMG.is_some() =>
        {
            extensions::clEnqueueReleaseGrallocObjectsIMG as *mut c_void
        }
        b"clEnqueueSVMFree" if vendor.clEnqueueSVMFree.is_some() => {
            functions::clEnqueueSVMFree as *mut c_void
        }
        b"clEnqueueSVMFreeARM" if vendor.clEnqueueSVMFreeARM.is_some() => {
            extensions::clEnqueueSVMFreeARM as *mut c_void
        }
        b"clEnqueueSVMMap" if vendor.clEnqueueSVMMap.is_some() => {
            functions::clEnqueueSVMMap as *mut c_void
        }
        b"clEnqueueSVMMapARM" if vendor.clEnqueueSVMMapARM.is_some() => {
            extensions::clEnqueueSVMMapARM as *mut c_void
        }
        b"clEnqueueSVMMemFill" if vendor.clEnqueueSVMMemFill.is_some() => {
            functions::clEnqueueSVMMemFill as *mut c_void
        }
        b"clEnqueueSVMMemFillARM" if vendor.clEnqueueSVMMemFillARM.is_some() => {
            extensions::clEnqueueSVMMemFillARM as *mut c_void
        }
        b"clEnqueueSVMMemcpy" if vendor.clEnqueueSVMMemcpy.is_some() => {
            functions::clEnqueueSVMMemcpy as *mut c_void
        }
        b"clEnqueueSVMMemcpyARM" if vendor.clEnqueueSVMMemcpyARM.is_some() => {
            extensions::clEnqueueSVMMemcpyARM as *mut c_void
        }
        b"clEnqueueSVMMigrateMem" if vendor.clEnqueueSVMMigrateMem.is_some() => {
            functions::clEnqueueSVMMigrateMem as *mut c_void
        }
        b"clEnqueueSVMUnmap" if vendor.clEnqueueSVMUnmap.is_some() => {
            functions::clEnqueueSVMUnmap as *mut c_void
        }
        b"clEnqueueSVMUnmapARM" if vendor.clEnqueueSVMUnmapARM.is_some() => {
            extensions::clEnqueueSVMUnmapARM as *mut c_void
        }
        b"clEnqueueSignalSemaphoresKHR" if vendor.clEnqueueSignalSemaphoresKHR.is_some() => {
            extensions::clEnqueueSignalSemaphoresKHR as *mut c_void
        }
        b"clEnqueueTask" if vendor.clEnqueueTask.is_some() => {
            functions::clEnqueueTask as *mut c_void
        }
        b"clEnqueueUnmapMemObject" if vendor.clEnqueueUnmapMemObject.is_some() => {
            functions::clEnqueueUnmapMemObject as *mut c_void
        }
        b"clEnqueueWaitForEvents" if vendor.clEnqueueWaitForEvents.is_some() => {
            functions::clEnqueueWaitForEvents as *mut c_void
        }
        b"clEnqueueWaitSemaphoresKHR" if vendor.clEnqueueWaitSemaphoresKHR.is_some() => {
            extensions::clEnqueueWaitSemaphoresKHR as *mut c_void
        }
        b"clEnqueueWriteBuffer" if vendor.clEnqueueWriteBuffer.is_some() => {
            functions::clEnqueueWriteBuffer as *mut c_void
        }
        b"clEnqueueWriteBufferRect" if vendor.clEnqueueWriteBufferRect.is_some() => {
            functions::clEnqueueWriteBufferRect as *mut c_void
        }
        b"clEnqueueWriteGlobalVariableINTEL"
            if vendor.clEnqueueWriteGlobalVariableINTEL.is_some() =>
        {
            extensions::clEnqueueWriteGlobalVariableINTEL as *mut c_void
        }
        b"clEnqueueWriteHostPipeINTEL" if vendor.clEnqueueWriteHostPipeINTEL.is_some() => {
            extensions::clEnqueueWriteHostPipeINTEL as *mut c_void
        }
        b"clEnqueueWriteImage" if vendor.clEnqueueWriteImage.is_some() => {
            functions::clEnqueueWriteImage as *mut c_void
        }
        b"clFinish" if vendor.clFinish.is_some() => functions::clFinish as *mut c_void,
        b"clFlush" if vendor.clFlush.is_some() => functions::clFlush as *mut c_void,
        b"clGetBoardExtensionFunctionAddressAltera"
            if vendor.clGetBoardExtensionFunctionAddressAltera.is_some() =>
        {
            platform::clGetBoardExtensionFunctionAddressAltera as *mut c_void
        }
        b"clGetBoardExtensionFunctionAddressIntelFPGA"
            if vendor.clGetBoardExtensionFunctionAddressIntelFPGA.is_some() =>
        {
            platform::clGetBoardExtensionFunctionAddressIntelFPGA as *mut c_void
        }
        b"clGetCommandQueueInfo" if vendor.clGetCommandQueueInfo.is_some() => {
            functions::clGetCommandQueueInfo as *mut c_void
        }
        b"clGetContextInfo" if vendor.clGetContextInfo.is_some() => {
            functions::clGetContextInfo as *mut c_void
        }
        b"clGetDeviceAndHostTimer" if vendor.clGetDeviceAndHostTimer.is_some() => {
            functions::clGetDeviceAndHostTimer as *mut c_void
        }
        b"clGetDeviceIDs" if vendor.clGetDeviceIDs.is_some() => {
            functions::clGetDeviceIDs as *mut c_void
        }
        b"clGetDeviceImageInfoQCOM" if vendor.clGetDeviceImageInfoQCOM.is_some() => {
            extensions::clGetDeviceImageInfoQCOM as *mut c_void
        }
        b"clGetDeviceInfo" if vendor.clGetDeviceInfo.is_some() => {
            functions::clGetDeviceInfo as *mut c_void
        }
        b"clGetEventInfo" if vendor.clGetEventInfo.is_some() => {
            functions::clGetEventInfo as *mut c_void
        }
        b"clGetEventProfilingInfo" if vendor.clGetEventProfilingInfo.is_some() => {
            functions::clGetEventProfilingInfo as *mut c_void
        }
        b"clGetExtensionFunctionAddress" if vendor.clGetExtensionFunctionAddress.is_some() => {
            platform::clGetExtensionFunctionAddress as *mut c_void
        }
        b"clGetExtensionFunctionAddressForPlatform"
            if vendor.clGetExtensionFunctionAddressForPlatform.is_some() =>
        {
            platform::clGetExtensionFunctionAddressForPlatform as *mut c_void
        }
        b"clGetGLContextInfoKHR" if vendor.clGetGLContextInfoKHR.is_some() => {
            extensions::clGetGLContextInfoKHR as *mut c_void
        }
        b"clGetGLObjectInfo" if vendor.clGetGLObjectInfo.is_some() => {
            functions::clGetGLObjectInfo as *mut c_void
        }
        b"clGetGLTextureInfo" if vendor.clGetGLTextureInfo.is_some() => {
            functions::clGetGLTextureInfo as *mut c_void
        }
        b"clGetHostTimer" if vendor.clGetHostTimer.is_some() => {
            functions::clGetHostTimer as *mut c_void
        }
        b"clGetICDLoaderInfoOCLICD" if vendor.clGetICDLoaderInfoOCLICD.is_some() => {
            functions::clGetICDLoaderInfoOCLICD as *mut c_void
        }
        b"clGetImageInfo" if vendor.clGetImageInfo.is_some() => {
            functions::clGetImageInfo as *mut c_void
        }
        b"clGetImageRequirementsInfoEXT" if vendor.clGetImageRequirementsInfoEXT.is_some() => {
            extensions::clGetImageRequirementsInfoEXT as *mut c_void
        }
        b"clGetKernelArgInfo" if vendor.clGetKernelArgInfo.is_some() => {
            functions::clGetKernelArgInfo as *mut c_void
        }
        b"clGetKernelInfo" if vendor.clGetKernelInfo.is_some() => {
            functions::clGetKernelInfo as *mut c_void
        }
        b"clGetKernelSubGroupInfo" if vendor.clGetKernelSubGroupInfo.is_some() => {
            functions::clGetKernelSubGroupInfo as *mut c_void
        }
        b"clGetKernelSubGroupInfoKHR" if vendor.clGetKernelSubGroupInfoKHR.is_some() => {
            extensions::clGetKernelSubGroupInfoKHR as *mut c_void
        }
        b"clGetKernelSuggestedLocalWorkSize"
            if vendor.clGetKernelSuggestedLocalWorkSize.is_some() =>
        {
            functions::clGetKernelSuggestedLocalWorkSize as *mut c_void
        }
        b"clGetKernelSuggestedLocalWorkSizeKHR"
            if vendor.clGetKernelSuggestedLocalWorkSizeKHR.is_some() =>
        {
            extensions::clGetKernelSuggestedLocalWorkSizeKHR as *mut c_void
        }
        b"clGetKernelWorkGroupInfo" if vendor.clGetKernelWorkGroupInfo.is_some() => {
            functions::clGetKernelWorkGroupInfo as *mut c_void
        }
        b"clGetMemAllocInfoINTEL" if vendor.clGetMemAllocInfoINTEL.is_some() => {
            extensions::clGetMemAllocInfoINTEL as *mut c_void
        }
        b"clGetMemObjectInfo" if vendor.clGetMemObjectInfo.is_some() => {
            functions::clGetMemObjectInfo as *mut c_void
        }
        b"clGetPipeInfo" if vendor.clGetPipeInfo.is_some() => {
            functions::clGetPipeInfo as *mut c_void
        }
        b"clGetProfileDataDeviceIntelFPGA" if vendor.clGetProfileDataDeviceIntelFPGA.is_some() => {
            extensions::clGetProfileDataDeviceIntelFPGA as *mut c_void
        }
        b"clGetProfileInfoIntelFPGA" if vendor.clGetProfileInfoIntelFPGA.is_some() => {
            extensions::clGetProfileInfoIntelFPGA as *mut c_void
        }
        b"clGetProgramBuildInfo" if vendor.clGetProgramBuildInfo.is_some() => {
            functions::clGetProgramBuildInfo as *mut c_void
        }
        b"clGetProgramInfo" if vendor.clGetProgramInfo.is_some() => {
            functions::clGetProgramInfo as *mut c_void
        }
        b"clGetSamplerInfo" if vendor.clGetSamplerInfo.is_some() => {
            functions::clGetSamplerInfo as *mut c_void
        }
        b"clGetSemaphoreHandleForTypeKHR" if vendor.clGetSemaphoreHandleForTypeKHR.is_some() => {
            extensions::clGetSemaphoreHandleForTypeKHR as *mut c_void
        }
        b"clGetSemaphoreInfoKHR" if vendor.clGetSemaphoreInfoKHR.is_some() => {
            extensions::clGetSemaphoreInfoKHR as *mut c_void
        }
        b"clGetSupportedGLTextureFormatsINTEL"
            if vendor.clGetSupportedGLTextureFormatsINTEL.is_some() =>
        {
            extensions::clGetSupportedGLTextureFormatsINTEL as *mut c_void
        }
        b"clGetSupportedImageFormats" if vendor.clGetSupportedImageFormats.is_some() => {
            functions::clGetSupportedImageFormats as *mut c_void
        }
        b"clHostMemAllocINTEL" if vendor.clHostMemAllocINTEL.is_some() => {
            extensions::clHostMemAllocINTEL as *mut c_void
        }
        b"clImportMemoryARM" if vendor.clImportMemoryARM.is_some() => {
            extensions::clImportMemoryARM as *mut c_void
        }
        b"clLinkProgram" if vendor.clLinkProgram.is_some() => {
            functions::clLinkProgram as *mut c_void
        }
        b"clLogMessagesToStderrAPPLE" if vendor.clLogMessagesToStderrAPPLE.is_some() => {
            extensions::clLogMessagesToStderrAPPLE as *mut c_void
        }
        b"clLogMessagesToStdoutAPPLE" if vendor.clLogMessagesToStdoutAPPLE.is_some() => {
            extensions::clLogMessagesToStdoutAPPLE as *mut c_void
        }
        b"clLogMessagesToSystemLogAPPLE" if vendor.clLogMessagesToSystemLogAPPLE.is_some() => {
            extensions::clLogMessagesToSystemLogAPPLE as *mut c_void
        }
        b"clMapHostPipeIntelFPGA" if vendor.clMapHostPipeIntelFPGA.is_some() => {
            extensions::clMapHostPipeIntelFPGA as *mut c_void
        }
        b"clMemBlockingFreeINTEL" if vendor.clMemBlockingFreeINTEL.is_some() => {
            extensions::clMemBlockingFreeINTEL as *mut c_void
        }
        b"clMemFreeINTEL" if vendor.clMemFreeINTEL.is_some() => {
            extensions::clMemFreeINTEL as *mut c_void
        }
        b"clReImportSemaphoreSyncFdKHR" if vendor.clReImportSemaphoreSyncFdKHR.is_some() => {
            extensions::clReImportSemaphoreSyncFdKHR as *mut c_void
        }
        b"clReadPipeIntelFPGA" if vendor.clReadPipeIntelFPGA.is_some() => {
            extensions::clReadPipeIntelFPGA as *mut c_void
        }
        b"clReconfigurePLLIntelFPGA" if vendor.clReconfigurePLLIntelFPGA.is_some() => {
            extensions::clReconfigurePLLIntelFPGA as *mut c_void
        }
        b"clReleaseCommandQueue" if vendor.clReleaseCommandQueue.is_some() => {
            functions::clReleaseCommandQueue as *mut c_void
        }
        b"clReleaseContext" if vendor.clReleaseContext.is_some() => {
            functions::clReleaseContext as *mut c_void
        }
        b"clReleaseDevice" if vendor.clReleaseDevice.is_some() => {
            functions::clReleaseDevice as *mut c_void
        }
        b"clReleaseDeviceEXT" if vendor.clReleaseDeviceEXT.is_some() => {
            extensions::clReleaseDeviceEXT as *mut c_void
        }
        b"clReleaseEvent" if vendor.clReleaseEvent.is_some() => {
            functions::clReleaseEvent as *mut c_void
        }
        b"clReleaseKernel" if vendor.clReleaseKernel.is_some() => {
            functions::clReleaseKernel as *mut c_void
        }
        b"clReleaseMemObject" if vendor.clReleaseMemObject.is_some() => {
            functions::clReleaseMemObject as *mut c_void
        }
        b"clReleaseProgram" if vendor.clReleaseProgram.is_some() => {
            functions::clReleaseProgram as *mut c_void
        }
        b"clReleaseSampler" if vendor.clReleaseSampler.is_some() => {
            functions::clReleaseSampler as *mut c_void
        }
        b"clReleaseSemaphoreKHR" if vendor.clReleaseSemaphoreKHR.is_some() => {
            extensions::clReleaseSemaphoreKHR as *mut c_void
        }
        b"clReportLiveObjectsAltera" if vendor.clReportLiveObjectsAltera.is_some() => {
            callbacks::clReportLiveObjectsAltera as *mut c_void
        }
        b"clReportLiveObjectsIntelFPGA" if vendor.clReportLiveObjectsIntelFPGA.is_some() => {
            callbacks::clReportLiveObjectsIntelFPGA as *mut c_void
        }
        b"clResetKernelsIntelFPGA" if vendor.clResetKernelsIntelFPGA.is_some() => {
            extensions::clResetKernelsIntelFPGA as *mut c_void
        }
        b"clRetainCommandQueue" if vendor.clRetainCommandQueue.is_some() => {
            functions::clRetainCommandQueue as *mut c_void
        }
        b"clRetainContext" if vendor.clRetainContext.is_some() => {
            functions::clRetainContext as *mut c_void
        }
        b"clRetainDevice" if vendor.clRetainDevice.is_some() => {
            functions::clRetainDevice as *mut c_void
        }
        b"clRetainDeviceEXT" if vendor.clRetainDeviceEXT.is_some() => {
            extensions::clRetainDeviceEXT as *mut c_void
        }
        b"clRetainEvent" if vendor.clRetainEvent.is_some() => {
            functions::clRetainEvent as *mut c_void
        }
        b"clRetainKernel" if vendor.clRetainKernel.is_some() => {
            functions::clRetainKernel as *mut c_void
        }
        b"clRetainMemObject" if vendor.clRetainMemObject.is_some() => {
            functions::clRetainMemObject as *mut c_void
        }
        b"clRetainProgram" if vendor.clRetainProgram.is_some() => {
            functions::clRetainProgram as *mut c_void
        }
        b"clRetainSampler" if vendor.clRetainSampler.is_some() => {
            functions::clRetainSampler as *mut c_void
        }
        b"clRetainSemaphoreKHR" if vendor.clRetainSemaphoreKHR.is_some() => {
            extensions::clRetainSemaphoreKHR as *mut c_void
        }
        b"clSVMAlloc" if vendor.clSVMAlloc.is_some() => functions::clSVMAlloc as *mut c_void,
        b"clSVMAllocARM" if vendor.clSVMAllocARM.is_some() => {
            extensions::clSVMAllocARM as *mut c_void
        }
        b"clSVMFree" if vendor.clSVMFree.is_some() => functions::clSVMFree as *mut c_void,
        b"clSVMFreeARM" if vendor.clSVMFreeARM.is_some() => extensions::clSVMFreeARM as *mut c_void,
        b"clSetCommandQueueProperty" if vendor.clSetCommandQueueProperty.is_some() => {
            functions::clSetCommandQueueProperty as *mut c_void
        }
        b"clSetContentSizeBufferPoCL" if vendor.clSetContentSizeBufferPoCL.is_some() => {
            extensions::clSetContentSizeBufferPoCL as *mut c_void
        }
        b"clSetContextDestructorCallback" if vendor.clSetContextDestructorCallback.is_some() => {
            functions::clSetContextDestructorCallback as *mut c_void
        }
        b"clSetDefaultDeviceCommandQueue" if vendor.clSetDefaultDeviceCommandQueue.is_some() => {
            functions::clSetDefaultDeviceCommandQueue as *mut c_void
        }
        b"clSetDeviceExceptionCallbackIntelFPGA"
            if vendor.clSetDeviceExceptionCallbackIntelFPGA.is_some() =>
        {
            extensions::clSetDeviceExceptionCallbackIntelFPGA as *mut c_void
        }
        b"clSetEventCallback" if vendor.clSetEventCallback.is_some() => {
            functions::clSetEventCallback as *mut c_void
        }
        b"clSetKernelArg" if vendor.clSetKernelArg.is_some() => {
            arguments::clSetKernelArg as *mut c_void
        }
        b"clSetKernelArgDevicePointerEXT" if vendor.clSetKernelArgDevicePointerEXT.is_some() => {
            extensions::clSetKernelArgDevicePointerEXT as *mut c_void
        }
        b"clSetKernelArgMemPointerINTEL" if vendor.clSetKernelArgMemPointerINTEL.is_some() => {
            extensions::clSetKernelArgMemPointerINTEL as *mut c_void
        }
        b"clSetKernelArgSVMPointer" if vendor.clSetKernelArgSVMPointer.is_some() => {
            functions::clSetKernelArgSVMPointer as *mut c_void
        }
        b"clSetKernelArgSVMPointerARM" if vendor.clSetKernelArgSVMPointerARM.is_some() => {
            extensions::clSetKernelArgSVMPointerARM as *mut c_void
        }
        b"clSetKernelExecInfo" if vendor.clSetKernelExecInfo.is_some() => {
            functions::clSetKernelExecInfo as *mut c_void
        }
        b"clSetKernelExecInfoARM" if vendor.clSetKernelExecInfoARM.is_some() => {
            extensions::clSetKernelExecInfoARM as *mut c_void
        }
        b"clSetMemObjectDestructorAPPLE" if vendor.clSetMemObjectDestructorAPPLE.is_some() => {
            extensions::clSetMemObjectDestructorAPPLE as *mut c_void
        }
        b"clSetMemObjectDestructorCallback"
            if vendor.clSetMemObjectDestructorCallback.is_some() =>
        {
            functions::clSetMemObjectDestructorCallback as *mut c_void
        }
        b"clSetPerfHintQCOM" if vendor.clSetPerfHintQCOM.is_some() => {
            extensions::clSetPerfHintQCOM as *mut c_void
        }
        b"clSetProgramReleaseCallback" if vendor.clSetProgramReleaseCallback.is_some() => {
            functions::clSetProgramReleaseCallback as *mut c_void
        }
        b"clSetProgramSpecializationConstant"
            if vendor.clSetProgramSpecializationConstant.is_some() =>
        {
            functions::clSetProgramSpecializationConstant as *mut c_void
        }
        b"clSetUserEventStatus" if vendor.clSetUserEventStatus.is_some() => {
            functions::clSetUserEventStatus as *mut c_void
        }
        b"clSharedMemAllocINTEL" if vendor.clSharedMemAllocINTEL.is_some() => {
            extensions::clSharedMemAllocINTEL as *mut c_void
        }
        b"clTerminateContextKHR" if vendor.clTerminateContextKHR.is_some() => {
            extensions::clTerminateContextKHR as *mut c_void
        }
        b"clTrackLiveObjectsAltera" if vendor.clTrackLiveObjectsAltera.is_some() => {
            extensions::clTrackLiveObjectsAltera as *mut c_void
        }
        b"clTrackLiveObjectsIntelFPGA" if vendor.clTrackLiveObjectsIntelFPGA.is_some() => {
            extensions::clTrackLiveObjectsIntelFPGA as *mut c_void
        }
        b"clUnloadCompiler" if vendor.clUnloadCompiler.is_some() => {
            functions::clUnloadCompiler as *mut c_void
        }
        b"clUnloadPlatformCompiler" if vendor.clUnloadPlatformCompiler.is_some() => {
            functions::clUnloadPlatformCompiler as *mut c_void
        }
        b"clUnmapHostPipeIntelFPGA" if vendor.clUnmapHostPipeIntelFPGA.is_some() => {
            extensions::clUnmapHostPipeIntelFPGA as *mut c_void
        }
        b"clWaitForEvents" if vendor.clWaitForEvents.is_some() => {
            functions::clWaitForEvents as *mut c_void
        }
        b"clWritePipeIntelFPGA" if vendor.clWritePipeIntelFPGA.is_some() => {
            extensions::clWritePipeIntelFPGA as *mut c_void
        }
        _ => null_mut(),
    }
}
