// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! Places of functions in the dispatch table.

#![allow(non_upper_case_globals, reason = "the specification's names")]

/// The slot of `clGetPlatformIDs`.
pub(crate) const clGetPlatformIDs: usize = 0;
/// The slot of `clGetDeviceInfo`.
pub(crate) const clGetDeviceInfo: usize = 3;
/// The slot of `clRetainContext`.
pub(crate) const clRetainContext: usize = 6;
/// The slot of `clReleaseContext`.
pub(crate) const clReleaseContext: usize = 7;
/// The slot of `clGetContextInfo`.
pub(crate) const clGetContextInfo: usize = 8;
/// The slot of `clCreateCommandQueue`.
pub(crate) const clCreateCommandQueue: usize = 9;
/// The slot of `clRetainCommandQueue`.
pub(crate) const clRetainCommandQueue: usize = 10;
/// The slot of `clReleaseCommandQueue`.
pub(crate) const clReleaseCommandQueue: usize = 11;
/// The slot of `clGetCommandQueueInfo`.
pub(crate) const clGetCommandQueueInfo: usize = 12;
/// The slot of `clCreateBuffer`.
pub(crate) const clCreateBuffer: usize = 14;
/// The slot of `clRetainMemObject`.
pub(crate) const clRetainMemObject: usize = 17;
/// The slot of `clReleaseMemObject`.
pub(crate) const clReleaseMemObject: usize = 18;
/// The slot of `clGetMemObjectInfo`.
pub(crate) const clGetMemObjectInfo: usize = 20;
/// The slot of `clUnloadCompiler`.
pub(crate) const clUnloadCompiler: usize = 31;
/// The slot of `clWaitForEvents`.
pub(crate) const clWaitForEvents: usize = 41;
/// The slot of `clGetEventInfo`.
pub(crate) const clGetEventInfo: usize = 42;
/// The slot of `clRetainEvent`.
pub(crate) const clRetainEvent: usize = 43;
/// The slot of `clReleaseEvent`.
pub(crate) const clReleaseEvent: usize = 44;
/// The slot of `clFlush`.
pub(crate) const clFlush: usize = 46;
/// The slot of `clFinish`.
pub(crate) const clFinish: usize = 47;
/// The slot of `clEnqueueReadBuffer`.
pub(crate) const clEnqueueReadBuffer: usize = 48;
/// The slot of `clEnqueueWriteBuffer`.
pub(crate) const clEnqueueWriteBuffer: usize = 49;
/// The slot of `clEnqueueMapBuffer`.
pub(crate) const clEnqueueMapBuffer: usize = 56;
/// The slot of `clEnqueueUnmapMemObject`.
pub(crate) const clEnqueueUnmapMemObject: usize = 58;
/// The slot of `clEnqueueMarker`.
pub(crate) const clEnqueueMarker: usize = 62;
/// The slot of `clEnqueueWaitForEvents`.
pub(crate) const clEnqueueWaitForEvents: usize = 63;
/// The slot of `clSetMemObjectDestructorCallback`.
pub(crate) const clSetMemObjectDestructorCallback: usize = 83;
/// The slot of `clCreateUserEvent`.
pub(crate) const clCreateUserEvent: usize = 84;
/// The slot of `clSetUserEventStatus`.
pub(crate) const clSetUserEventStatus: usize = 85;
/// The slot of `clEnqueueMarkerWithWaitList`.
pub(crate) const clEnqueueMarkerWithWaitList: usize = 105;
