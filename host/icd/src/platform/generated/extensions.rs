// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! The functions of extensions, for programs: each calls the vendor's with the vendor's handles.

#![allow(non_snake_case, reason = "the specification's names")]
#![allow(clippy::too_many_arguments, reason = "as OpenCL has them")]
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use crate::INVALID_OPERATION;
use crate::answers;
use crate::arguments::{self, ImageDescription, List};
use crate::callbacks::{self, Callback};
use crate::objects::{self, Held, Kind};
use crate::platform;

pub(crate) unsafe extern "C" fn clCreateBufferWithPropertiesINTEL(
    context: *mut c_void,
    properties: *const u64,
    flags: u64,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateBufferWithPropertiesINTEL else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, properties, flags, size, host_ptr, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateCommandQueueWithPropertiesKHR(
    context: *mut c_void,
    device: *mut c_void,
    properties: *const u64,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateCommandQueueWithPropertiesKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let raw_device = objects::raw(device, Kind::Device);
        let result = vendor(raw_context, raw_device, properties, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Queue, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateEventFromEGLSyncKHR(
    context: *mut c_void,
    sync: *mut c_void,
    display: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateEventFromEGLSyncKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, sync, display, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Event, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateEventFromGLsyncKHR(
    context: *mut c_void,
    sync: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateEventFromGLsyncKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, sync, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Event, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromEGLImageKHR(
    context: *mut c_void,
    egldisplay: *mut c_void,
    eglimage: *mut c_void,
    flags: u64,
    properties: *const isize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromEGLImageKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(
            raw_context,
            egldisplay,
            eglimage,
            flags,
            properties,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateProgramWithBinaryAndProgramDeviceIntelFPGA(
    context: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    lengths: *const usize,
    binaries: *const *const u8,
    binary_status: *mut i32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithBinaryAndProgramDeviceIntelFPGA else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let list_device_list = List::new(num_devices, device_list.cast(), Kind::Device);
        if list_device_list.has_null() {
            return arguments::fail(errcode_ret, -33);
        }
        let result = vendor(
            raw_context,
            num_devices,
            list_device_list.pointer(),
            lengths,
            binaries,
            binary_status,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Program, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateProgramWithILKHR(
    context: *mut c_void,
    il: *const c_void,
    length: usize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithILKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, il, length, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Program, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSemaphoreWithPropertiesKHR(
    context: *mut c_void,
    sema_props: *const u64,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateSemaphoreWithPropertiesKHR else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let translated = arguments::properties(sema_props.cast(), false);
        let result = vendor(
            raw_context,
            if sema_props.is_null() {
                sema_props
            } else {
                translated.as_ptr().cast()
            },
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Semaphore, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSubDevicesEXT(
    in_device: *mut c_void,
    properties: *const u64,
    num_entries: u32,
    out_devices: *mut *mut c_void,
    num_devices: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clCreateSubDevicesEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_in_device = objects::raw(in_device, Kind::Device);
        let mut found = 0u32;
        let result = vendor(
            raw_in_device,
            properties,
            num_entries,
            out_devices,
            if out_devices.is_null() {
                num_devices
            } else {
                &mut found
            },
        );
        if result == 0 && !out_devices.is_null() {
            for handle in answers::list(out_devices, found.min(num_entries)) {
                *handle = objects::adopt(*handle, Kind::Device, in_device, Held::nothing());
            }
        }
        if !num_devices.is_null() && !out_devices.is_null() {
            *num_devices = found;
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clDeviceMemAllocINTEL(
    context: *mut c_void,
    device: *mut c_void,
    properties: *const u64,
    size: usize,
    alignment: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clDeviceMemAllocINTEL else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_context,
            raw_device,
            properties,
            size,
            alignment,
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clEnqueueAcquireEGLObjectsKHR(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueAcquireEGLObjectsKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueAcquireExternalMemObjectsKHR(
    command_queue: *mut c_void,
    num_mem_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueAcquireExternalMemObjectsKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_mem_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_mem_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueAcquireGrallocObjectsIMG(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueAcquireGrallocObjectsIMG else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueGenerateMipmapIMG(
    command_queue: *mut c_void,
    src_image: *mut c_void,
    dst_image: *mut c_void,
    mipmap_filter_mode: u32,
    array_region: *const usize,
    mip_region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueGenerateMipmapIMG else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_src_image = objects::raw(src_image, Kind::Mem);
        let raw_dst_image = objects::raw(dst_image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_src_image,
            raw_dst_image,
            mipmap_filter_mode,
            array_region,
            mip_region,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMemAdviseINTEL(
    command_queue: *mut c_void,
    ptr: *const c_void,
    size: usize,
    advice: u32,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMemAdviseINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            ptr,
            size,
            advice,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMemFillINTEL(
    command_queue: *mut c_void,
    dst_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMemFillINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            dst_ptr,
            pattern,
            pattern_size,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMemcpyINTEL(
    command_queue: *mut c_void,
    blocking: u32,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMemcpyINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            blocking,
            dst_ptr,
            src_ptr,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMemsetINTEL(
    command_queue: *mut c_void,
    dst_ptr: *mut c_void,
    value: i32,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMemsetINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            dst_ptr,
            value,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMigrateMemINTEL(
    command_queue: *mut c_void,
    ptr: *const c_void,
    size: usize,
    flags: u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMigrateMemINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            ptr,
            size,
            flags,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMigrateMemObjectEXT(
    command_queue: *mut c_void,
    num_mem_objects: u32,
    mem_objects: *const *mut c_void,
    flags: u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMigrateMemObjectEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_mem_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_mem_objects,
            list_mem_objects.pointer(),
            flags,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueReadGlobalVariableINTEL(
    command_queue: *mut c_void,
    program: *mut c_void,
    name: *const c_char,
    blocking_read: u32,
    size: usize,
    offset: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReadGlobalVariableINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_program = objects::raw(program, Kind::Program);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_program,
            name,
            blocking_read,
            size,
            offset,
            ptr,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueReadHostPipeINTEL(
    command_queue: *mut c_void,
    program: *mut c_void,
    pipe_symbol: *const c_char,
    blocking_read: u32,
    ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReadHostPipeINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_program = objects::raw(program, Kind::Program);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_program,
            pipe_symbol,
            blocking_read,
            ptr,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueReleaseEGLObjectsKHR(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReleaseEGLObjectsKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueReleaseExternalMemObjectsKHR(
    command_queue: *mut c_void,
    num_mem_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReleaseExternalMemObjectsKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_mem_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_mem_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueReleaseGrallocObjectsIMG(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReleaseGrallocObjectsIMG else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_objects = List::new(num_objects, mem_objects.cast(), Kind::Mem);
        if list_mem_objects.has_null() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_objects,
            list_mem_objects.pointer(),
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSVMFreeARM(
    command_queue: *mut c_void,
    num_svm_pointers: u32,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<unsafe extern "C" fn(*mut c_void, u32, *mut *mut c_void, *mut c_void)>,
    user_data: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMFreeARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let callback = Callback::new(
            pfn_free_func.map_or(0, |f| f as usize),
            user_data,
            command_queue,
            Kind::Queue,
            command_queue,
            false,
        );
        let result = vendor(
            raw_command_queue,
            num_svm_pointers,
            svm_pointers,
            if callback.is_null() {
                None
            } else {
                Some(callbacks::svm_called)
            },
            if callback.is_null() {
                user_data
            } else {
                callback.cast()
            },
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        Callback::set(callback, result == 0, false);
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSVMMapARM(
    command_queue: *mut c_void,
    blocking_map: u32,
    flags: u64,
    svm_ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMapARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            blocking_map,
            flags,
            svm_ptr,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSVMMemFillARM(
    command_queue: *mut c_void,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMemFillARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            svm_ptr,
            pattern,
            pattern_size,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSVMMemcpyARM(
    command_queue: *mut c_void,
    blocking_copy: u32,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMemcpyARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            blocking_copy,
            dst_ptr,
            src_ptr,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSVMUnmapARM(
    command_queue: *mut c_void,
    svm_ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMUnmapARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            svm_ptr,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueSignalSemaphoresKHR(
    command_queue: *mut c_void,
    num_sema_objects: u32,
    sema_objects: *const *mut c_void,
    sema_payload_list: *const u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSignalSemaphoresKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_sema_objects = List::new(num_sema_objects, sema_objects.cast(), Kind::Semaphore);
        if list_sema_objects.has_null() {
            return -1142;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_sema_objects,
            list_sema_objects.pointer(),
            sema_payload_list,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueWaitSemaphoresKHR(
    command_queue: *mut c_void,
    num_sema_objects: u32,
    sema_objects: *const *mut c_void,
    sema_payload_list: *const u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWaitSemaphoresKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_sema_objects = List::new(num_sema_objects, sema_objects.cast(), Kind::Semaphore);
        if list_sema_objects.has_null() {
            return -1142;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            num_sema_objects,
            list_sema_objects.pointer(),
            sema_payload_list,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueWriteGlobalVariableINTEL(
    command_queue: *mut c_void,
    program: *mut c_void,
    name: *const c_char,
    blocking_write: u32,
    size: usize,
    offset: usize,
    ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWriteGlobalVariableINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_program = objects::raw(program, Kind::Program);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_program,
            name,
            blocking_write,
            size,
            offset,
            ptr,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueWriteHostPipeINTEL(
    command_queue: *mut c_void,
    program: *mut c_void,
    pipe_symbol: *const c_char,
    blocking_write: u32,
    ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWriteHostPipeINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_program = objects::raw(program, Kind::Program);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_program,
            pipe_symbol,
            blocking_write,
            ptr,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
        );
        if !made.is_null() && arguments::enqueued(result) {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetDeviceImageInfoQCOM(
    device: *mut c_void,
    image_width: usize,
    image_height: usize,
    image_format: *const c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetDeviceImageInfoQCOM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_device,
            image_width,
            image_height,
            image_format,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetGLContextInfoKHR(
    properties: *const isize,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetGLContextInfoKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let translated = arguments::properties(properties.cast(), true);
        let mut size = 0usize;
        let result = vendor(
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR
            if param_name == 0x2006 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    null_mut(),
                );
            }
            // CL_DEVICES_FOR_GL_CONTEXT_KHR
            if param_name == 0x2007 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    null_mut(),
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetImageRequirementsInfoEXT(
    context: *mut c_void,
    properties: *const u64,
    flags: u64,
    image_format: *const c_void,
    image_desc: *const c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetImageRequirementsInfoEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let translated = arguments::properties(properties.cast(), false);
        let description = ImageDescription::new(image_desc.cast());
        vendor(
            raw_context,
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            flags,
            image_format,
            description.pointer(),
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetKernelSubGroupInfoKHR(
    in_kernel: *mut c_void,
    in_device: *mut c_void,
    param_name: u32,
    input_value_size: usize,
    input_value: *const c_void,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelSubGroupInfoKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_in_kernel = objects::raw(in_kernel, Kind::Kernel);
        let raw_in_device = objects::raw(in_device, Kind::Device);
        vendor(
            raw_in_kernel,
            raw_in_device,
            param_name,
            input_value_size,
            input_value,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetKernelSuggestedLocalWorkSizeKHR(
    command_queue: *mut c_void,
    kernel: *mut c_void,
    work_dim: u32,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    suggested_local_work_size: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelSuggestedLocalWorkSizeKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(
            raw_command_queue,
            raw_kernel,
            work_dim,
            global_work_offset,
            global_work_size,
            suggested_local_work_size,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetMemAllocInfoINTEL(
    context: *mut c_void,
    ptr: *const c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetMemAllocInfoINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let mut size = 0usize;
        let result = vendor(
            raw_context,
            ptr,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_MEM_ALLOC_DEVICE_INTEL
            if param_name == 0x419D {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    context,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetProfileDataDeviceIntelFPGA(
    device_id: *mut c_void,
    program: *mut c_void,
    read_enqueue_kernels: u32,
    read_auto_enqueued: u32,
    clear_counters_after_readback: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
    errcode_ret: *mut i32,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetProfileDataDeviceIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device_id = objects::raw(device_id, Kind::Device);
        let raw_program = objects::raw(program, Kind::Program);
        vendor(
            raw_device_id,
            raw_program,
            read_enqueue_kernels,
            read_auto_enqueued,
            clear_counters_after_readback,
            param_value_size,
            param_value,
            param_value_size_ret,
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetProfileInfoIntelFPGA(kernel_event: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clGetProfileInfoIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel_event = objects::raw(kernel_event, Kind::Event);
        vendor(raw_kernel_event)
    }
}

pub(crate) unsafe extern "C" fn clGetSemaphoreHandleForTypeKHR(
    sema_object: *mut c_void,
    device: *mut c_void,
    handle_type: u32,
    handle_size: usize,
    handle_ptr: *mut c_void,
    handle_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetSemaphoreHandleForTypeKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sema_object = objects::raw(sema_object, Kind::Semaphore);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_sema_object,
            raw_device,
            handle_type,
            handle_size,
            handle_ptr,
            handle_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetSemaphoreInfoKHR(
    sema_object: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetSemaphoreInfoKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sema_object = objects::raw(sema_object, Kind::Semaphore);
        let mut size = 0usize;
        let result = vendor(
            raw_sema_object,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_SEMAPHORE_CONTEXT_KHR
            if param_name == 0x2039 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    sema_object,
                );
            }
            // CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
            if param_name == 0x2053 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    sema_object,
                );
            }
            // CL_SEMAPHORE_PROPERTIES_KHR
            if param_name == 0x203B {
                answers::device_lists(param_value, size.min(param_value_size), sema_object);
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetSupportedGLTextureFormatsINTEL(
    context: *mut c_void,
    flags: u64,
    image_type: u32,
    num_entries: u32,
    gl_formats: *mut u32,
    num_texture_formats: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetSupportedGLTextureFormatsINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(
            raw_context,
            flags,
            image_type,
            num_entries,
            gl_formats,
            num_texture_formats,
        )
    }
}

pub(crate) unsafe extern "C" fn clHostMemAllocINTEL(
    context: *mut c_void,
    properties: *const u64,
    size: usize,
    alignment: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clHostMemAllocINTEL else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, properties, size, alignment, errcode_ret)
    }
}

pub(crate) unsafe extern "C" fn clImportMemoryARM(
    context: *mut c_void,
    flags: u64,
    properties: *const isize,
    memory: *mut c_void,
    size: usize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clImportMemoryARM else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, properties, memory, size, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clLogMessagesToStderrAPPLE(
    errstr: *const c_char,
    private_info: *const c_void,
    cb: usize,
    user_data: *mut c_void,
) {
    let Some(vendor) = platform::vendor().clLogMessagesToStderrAPPLE else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        vendor(errstr, private_info, cb, user_data);
    }
}

pub(crate) unsafe extern "C" fn clLogMessagesToStdoutAPPLE(
    errstr: *const c_char,
    private_info: *const c_void,
    cb: usize,
    user_data: *mut c_void,
) {
    let Some(vendor) = platform::vendor().clLogMessagesToStdoutAPPLE else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        vendor(errstr, private_info, cb, user_data);
    }
}

pub(crate) unsafe extern "C" fn clLogMessagesToSystemLogAPPLE(
    errstr: *const c_char,
    private_info: *const c_void,
    cb: usize,
    user_data: *mut c_void,
) {
    let Some(vendor) = platform::vendor().clLogMessagesToSystemLogAPPLE else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        vendor(errstr, private_info, cb, user_data);
    }
}

pub(crate) unsafe extern "C" fn clMapHostPipeIntelFPGA(
    pipe: *mut c_void,
    map_flags: u64,
    requested_size: usize,
    mapped_size: *mut usize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clMapHostPipeIntelFPGA else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_pipe = objects::raw(pipe, Kind::Mem);
        vendor(
            raw_pipe,
            map_flags,
            requested_size,
            mapped_size,
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clMemBlockingFreeINTEL(
    context: *mut c_void,
    ptr: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clMemBlockingFreeINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, ptr)
    }
}

pub(crate) unsafe extern "C" fn clMemFreeINTEL(context: *mut c_void, ptr: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clMemFreeINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, ptr)
    }
}

pub(crate) unsafe extern "C" fn clReImportSemaphoreSyncFdKHR(
    sema_object: *mut c_void,
    reimport_props: *mut u64,
    fd: i32,
) -> i32 {
    let Some(vendor) = platform::vendor().clReImportSemaphoreSyncFdKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sema_object = objects::raw(sema_object, Kind::Semaphore);
        vendor(raw_sema_object, reimport_props, fd)
    }
}

pub(crate) unsafe extern "C" fn clReadPipeIntelFPGA(pipe: *mut c_void, ptr: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReadPipeIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_pipe = objects::raw(pipe, Kind::Mem);
        vendor(raw_pipe, ptr)
    }
}

pub(crate) unsafe extern "C" fn clReconfigurePLLIntelFPGA(
    device: *mut c_void,
    pll_settings_str: *const c_char,
) -> i32 {
    let Some(vendor) = platform::vendor().clReconfigurePLLIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        vendor(raw_device, pll_settings_str)
    }
}

pub(crate) unsafe extern "C" fn clReleaseDeviceEXT(device: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseDeviceEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_device, _later) = objects::releasing(device, Kind::Device);
        vendor(raw_device)
    }
}

pub(crate) unsafe extern "C" fn clReleaseSemaphoreKHR(sema_object: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseSemaphoreKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_sema_object, _later) = objects::releasing(sema_object, Kind::Semaphore);
        vendor(raw_sema_object)
    }
}

pub(crate) unsafe extern "C" fn clResetKernelsIntelFPGA(
    context: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clResetKernelsIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let list_device_list = List::new(num_devices, device_list.cast(), Kind::Device);
        if list_device_list.has_null() {
            return -33;
        }
        vendor(raw_context, num_devices, list_device_list.pointer())
    }
}

pub(crate) unsafe extern "C" fn clRetainDeviceEXT(device: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainDeviceEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        let result = vendor(raw_device);
        if result == 0 {
            objects::retained(device);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainSemaphoreKHR(sema_object: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainSemaphoreKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sema_object = objects::raw(sema_object, Kind::Semaphore);
        let result = vendor(raw_sema_object);
        if result == 0 {
            objects::retained(sema_object);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clSVMAllocARM(
    context: *mut c_void,
    flags: u64,
    size: usize,
    alignment: u32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clSVMAllocARM else {
        return null_mut();
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, flags, size, alignment)
    }
}

pub(crate) unsafe extern "C" fn clSVMFreeARM(context: *mut c_void, svm_pointer: *mut c_void) {
    let Some(vendor) = platform::vendor().clSVMFreeARM else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, svm_pointer);
    }
}

pub(crate) unsafe extern "C" fn clSetContentSizeBufferPoCL(
    buffer: *mut c_void,
    content_size_buffer: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetContentSizeBufferPoCL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let raw_content_size_buffer = objects::raw(content_size_buffer, Kind::Mem);
        vendor(raw_buffer, raw_content_size_buffer)
    }
}

pub(crate) unsafe extern "C" fn clSetDeviceExceptionCallbackIntelFPGA(
    num_devices: u32,
    devices: *const *mut c_void,
    listen_mask: u64,
    pfn_exception_notify: Option<unsafe extern "C" fn(u64, *const c_void, usize, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetDeviceExceptionCallbackIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let list_devices = List::new(num_devices, devices.cast(), Kind::Device);
        if list_devices.has_null() {
            return -33;
        }
        vendor(
            num_devices,
            list_devices.pointer(),
            listen_mask,
            pfn_exception_notify,
            user_data,
        )
    }
}

pub(crate) unsafe extern "C" fn clSetKernelArgDevicePointerEXT(
    kernel: *mut c_void,
    arg_index: u32,
    arg_value: u64,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelArgDevicePointerEXT else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, arg_index, arg_value)
    }
}

pub(crate) unsafe extern "C" fn clSetKernelArgMemPointerINTEL(
    kernel: *mut c_void,
    arg_index: u32,
    arg_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelArgMemPointerINTEL else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, arg_index, arg_value)
    }
}

pub(crate) unsafe extern "C" fn clSetKernelArgSVMPointerARM(
    kernel: *mut c_void,
    arg_index: u32,
    arg_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelArgSVMPointerARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, arg_index, arg_value)
    }
}

pub(crate) unsafe extern "C" fn clSetKernelExecInfoARM(
    kernel: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelExecInfoARM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, param_name, param_value_size, param_value)
    }
}

pub(crate) unsafe extern "C" fn clSetMemObjectDestructorAPPLE(
    memobj: *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetMemObjectDestructorAPPLE else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            memobj,
            Kind::Mem,
            memobj,
            true,
        );
        let result = vendor(
            raw_memobj,
            if callback.is_null() {
                None
            } else {
                Some(callbacks::object_called)
            },
            if callback.is_null() {
                user_data
            } else {
                callback.cast()
            },
        );
        Callback::set(callback, result == 0, false);
        result
    }
}

pub(crate) unsafe extern "C" fn clSetPerfHintQCOM(context: *mut c_void, perf_hint: u32) -> i32 {
    let Some(vendor) = platform::vendor().clSetPerfHintQCOM else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, perf_hint)
    }
}

pub(crate) unsafe extern "C" fn clSharedMemAllocINTEL(
    context: *mut c_void,
    device: *mut c_void,
    properties: *const u64,
    size: usize,
    alignment: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clSharedMemAllocINTEL else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_context,
            raw_device,
            properties,
            size,
            alignment,
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clTerminateContextKHR(context: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clTerminateContextKHR else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context)
    }
}

pub(crate) unsafe extern "C" fn clTrackLiveObjectsAltera(platform: *mut c_void) {
    let Some(vendor) = platform::vendor().clTrackLiveObjectsAltera else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_platform = objects::raw(platform, Kind::Platform);
        vendor(raw_platform);
    }
}

pub(crate) unsafe extern "C" fn clTrackLiveObjectsIntelFPGA(platform: *mut c_void) {
    let Some(vendor) = platform::vendor().clTrackLiveObjectsIntelFPGA else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_platform = objects::raw(platform, Kind::Platform);
        vendor(raw_platform);
    }
}

pub(crate) unsafe extern "C" fn clUnmapHostPipeIntelFPGA(
    pipe: *mut c_void,
    mapped_ptr: *mut c_void,
    size_to_unmap: usize,
    unmapped_size: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clUnmapHostPipeIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_pipe = objects::raw(pipe, Kind::Mem);
        vendor(raw_pipe, mapped_ptr, size_to_unmap, unmapped_size)
    }
}

pub(crate) unsafe extern "C" fn clWritePipeIntelFPGA(pipe: *mut c_void, ptr: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clWritePipeIntelFPGA else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_pipe = objects::raw(pipe, Kind::Mem);
        vendor(raw_pipe, ptr)
    }
}
