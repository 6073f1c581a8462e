// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! The functions of OpenCL itself, for programs: each calls the vendor's with the vendor's handles.

#![allow(non_snake_case, reason = "the specification's names")]
#![allow(clippy::too_many_arguments, reason = "as OpenCL has them")]
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use crate::INVALID_OPERATION;
use crate::answers;
use crate::arguments::{self, ImageDescription, List};
use crate::callbacks::{self, Callback};
use crate::copy;
use crate::objects::{self, Held, Kind};
use crate::offered;
use crate::platform;

pub(crate) unsafe extern "C" fn clBuildProgram(
    program: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    options: *const c_char,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clBuildProgram else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let list_device_list = List::new(num_devices, device_list.cast(), Kind::Device);
        if list_device_list.has_null() {
            return -33;
        }
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            program,
            Kind::Program,
            program,
            false,
        );
        let result = vendor(
            raw_program,
            num_devices,
            list_device_list.pointer(),
            options,
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
        Callback::set(callback, result == 0, true);
        result
    }
}

pub(crate) unsafe extern "C" fn clCloneKernel(
    source_kernel: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCloneKernel else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_source_kernel = objects::raw(source_kernel, Kind::Kernel);
        let result = vendor(raw_source_kernel, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(
                result,
                Kind::Kernel,
                objects::parent(source_kernel),
                Held::nothing(),
            ),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCompileProgram(
    program: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    options: *const c_char,
    num_input_headers: u32,
    input_headers: *const *mut c_void,
    header_include_names: *mut *const c_char,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clCompileProgram else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let list_device_list = List::new(num_devices, device_list.cast(), Kind::Device);
        if list_device_list.has_null() {
            return -33;
        }
        let list_input_headers = List::new(num_input_headers, input_headers.cast(), Kind::Program);
        if list_input_headers.has_null() {
            return -44;
        }
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            program,
            Kind::Program,
            program,
            false,
        );
        let result = vendor(
            raw_program,
            num_devices,
            list_device_list.pointer(),
            options,
            num_input_headers,
            list_input_headers.pointer(),
            header_include_names,
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
        Callback::set(callback, result == 0, true);
        result
    }
}

pub(crate) unsafe extern "C" fn clCreateBuffer(
    context: *mut c_void,
    flags: u64,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateBuffer else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, size, host_ptr, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateBufferWithProperties(
    context: *mut c_void,
    properties: *const u64,
    flags: u64,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateBufferWithProperties else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let translated = arguments::properties(properties.cast(), false);
        let result = vendor(
            raw_context,
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            flags,
            size,
            host_ptr,
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

pub(crate) unsafe extern "C" fn clCreateCommandQueue(
    context: *mut c_void,
    device: *mut c_void,
    properties: u64,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateCommandQueue else {
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

pub(crate) unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: *mut c_void,
    device: *mut c_void,
    properties: *const u64,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateCommandQueueWithProperties else {
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

pub(crate) unsafe extern "C" fn clCreateContext(
    properties: *const isize,
    num_devices: u32,
    devices: *const *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateContext else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let translated = arguments::properties(properties.cast(), true);
        let list_devices = List::new(num_devices, devices.cast(), Kind::Device);
        if list_devices.has_null() {
            return arguments::fail(errcode_ret, -33);
        }
        let result = vendor(
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            num_devices,
            list_devices.pointer(),
            pfn_notify,
            user_data,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(
                result,
                Kind::Context,
                null_mut(),
                Held::all(num_devices, devices),
            ),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateContextFromType(
    properties: *const isize,
    device_type: u64,
    pfn_notify: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateContextFromType else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let translated = arguments::properties(properties.cast(), true);
        let result = vendor(
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            device_type,
            pfn_notify,
            user_data,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Context, null_mut(), Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromGLBuffer(
    context: *mut c_void,
    flags: u64,
    bufobj: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromGLBuffer else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, bufobj, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromGLRenderbuffer(
    context: *mut c_void,
    flags: u64,
    renderbuffer: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromGLRenderbuffer else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, renderbuffer, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromGLTexture(
    context: *mut c_void,
    flags: u64,
    target: u32,
    miplevel: i32,
    texture: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromGLTexture else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, target, miplevel, texture, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromGLTexture2D(
    context: *mut c_void,
    flags: u64,
    target: u32,
    miplevel: i32,
    texture: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromGLTexture2D else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, target, miplevel, texture, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateFromGLTexture3D(
    context: *mut c_void,
    flags: u64,
    target: u32,
    miplevel: i32,
    texture: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateFromGLTexture3D else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, flags, target, miplevel, texture, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateImage(
    context: *mut c_void,
    flags: u64,
    image_format: *const c_void,
    image_desc: *const c_void,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateImage else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let description = ImageDescription::new(image_desc.cast());
        let result = vendor(
            raw_context,
            flags,
            image_format,
            description.pointer(),
            host_ptr,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, description.held()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateImage2D(
    context: *mut c_void,
    flags: u64,
    image_format: *const c_void,
    image_width: usize,
    image_height: usize,
    image_row_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateImage2D else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(
            raw_context,
            flags,
            image_format,
            image_width,
            image_height,
            image_row_pitch,
            host_ptr,
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

pub(crate) unsafe extern "C" fn clCreateImage3D(
    context: *mut c_void,
    flags: u64,
    image_format: *const c_void,
    image_width: usize,
    image_height: usize,
    image_depth: usize,
    image_row_pitch: usize,
    image_slice_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateImage3D else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(
            raw_context,
            flags,
            image_format,
            image_width,
            image_height,
            image_depth,
            image_row_pitch,
            image_slice_pitch,
            host_ptr,
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

pub(crate) unsafe extern "C" fn clCreateImageWithProperties(
    context: *mut c_void,
    properties: *const u64,
    flags: u64,
    image_format: *const c_void,
    image_desc: *const c_void,
    host_ptr: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateImageWithProperties else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let translated = arguments::properties(properties.cast(), false);
        let description = ImageDescription::new(image_desc.cast());
        let result = vendor(
            raw_context,
            if properties.is_null() {
                properties
            } else {
                translated.as_ptr().cast()
            },
            flags,
            image_format,
            description.pointer(),
            host_ptr,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, context, description.held()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateKernel(
    program: *mut c_void,
    kernel_name: *const c_char,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateKernel else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let result = vendor(raw_program, kernel_name, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Kernel, program, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateKernelsInProgram(
    program: *mut c_void,
    num_kernels: u32,
    kernels: *mut *mut c_void,
    num_kernels_ret: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clCreateKernelsInProgram else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let mut found = 0u32;
        let result = vendor(
            raw_program,
            num_kernels,
            kernels,
            if kernels.is_null() {
                num_kernels_ret
            } else {
                &mut found
            },
        );
        if result == 0 && !kernels.is_null() {
            for handle in answers::list(kernels, found.min(num_kernels)) {
                *handle = objects::adopt(*handle, Kind::Kernel, program, Held::nothing());
            }
        }
        if !num_kernels_ret.is_null() && !kernels.is_null() {
            *num_kernels_ret = found;
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clCreatePipe(
    context: *mut c_void,
    flags: u64,
    pipe_packet_size: u32,
    pipe_max_packets: u32,
    properties: *const isize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreatePipe else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(
            raw_context,
            flags,
            pipe_packet_size,
            pipe_max_packets,
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

pub(crate) unsafe extern "C" fn clCreateProgramWithBinary(
    context: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    lengths: *const usize,
    binaries: *mut *const u8,
    binary_status: *mut i32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithBinary else {
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

pub(crate) unsafe extern "C" fn clCreateProgramWithBuiltInKernels(
    context: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    kernel_names: *const c_char,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithBuiltInKernels else {
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
            kernel_names,
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

pub(crate) unsafe extern "C" fn clCreateProgramWithIL(
    context: *mut c_void,
    il: *const c_void,
    length: usize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithIL else {
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

pub(crate) unsafe extern "C" fn clCreateProgramWithSource(
    context: *mut c_void,
    count: u32,
    strings: *mut *const c_char,
    lengths: *const usize,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateProgramWithSource else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, count, strings, lengths, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Program, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSampler(
    context: *mut c_void,
    normalized_coords: u32,
    addressing_mode: u32,
    filter_mode: u32,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateSampler else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(
            raw_context,
            normalized_coords,
            addressing_mode,
            filter_mode,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Sampler, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSamplerWithProperties(
    context: *mut c_void,
    sampler_properties: *const u64,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateSamplerWithProperties else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, sampler_properties, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Sampler, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSubBuffer(
    buffer: *mut c_void,
    flags: u64,
    buffer_create_type: u32,
    buffer_create_info: *const c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateSubBuffer else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let result = vendor(
            raw_buffer,
            flags,
            buffer_create_type,
            buffer_create_info,
            errcode_ret,
        );
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Mem, buffer, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clCreateSubDevices(
    in_device: *mut c_void,
    properties: *const isize,
    num_devices: u32,
    out_devices: *mut *mut c_void,
    num_devices_ret: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clCreateSubDevices else {
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
            num_devices,
            out_devices,
            if out_devices.is_null() {
                num_devices_ret
            } else {
                &mut found
            },
        );
        if result == 0 && !out_devices.is_null() {
            for handle in answers::list(out_devices, found.min(num_devices)) {
                *handle = objects::adopt(*handle, Kind::Device, in_device, Held::nothing());
            }
        }
        if !num_devices_ret.is_null() && !out_devices.is_null() {
            *num_devices_ret = found;
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clCreateUserEvent(
    context: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clCreateUserEvent else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context, errcode_ret);
        if result.is_null() {
            return result;
        }
        arguments::made(
            objects::adopt(result, Kind::Event, context, Held::nothing()),
            errcode_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clEnqueueAcquireGLObjects(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueAcquireGLObjects else {
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

pub(crate) unsafe extern "C" fn clEnqueueBarrier(command_queue: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueBarrier else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        vendor(raw_command_queue)
    }
}

pub(crate) unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    command_queue: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueBarrierWithWaitList else {
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

pub(crate) unsafe extern "C" fn clEnqueueCopyBuffer(
    command_queue: *mut c_void,
    src_buffer: *mut c_void,
    dst_buffer: *mut c_void,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueCopyBuffer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_src_buffer = objects::raw(src_buffer, Kind::Mem);
        let raw_dst_buffer = objects::raw(dst_buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_src_buffer,
            raw_dst_buffer,
            src_offset,
            dst_offset,
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

pub(crate) unsafe extern "C" fn clEnqueueCopyBufferRect(
    command_queue: *mut c_void,
    src_buffer: *mut c_void,
    dst_buffer: *mut c_void,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueCopyBufferRect else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_src_buffer = objects::raw(src_buffer, Kind::Mem);
        let raw_dst_buffer = objects::raw(dst_buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_src_buffer,
            raw_dst_buffer,
            src_origin,
            dst_origin,
            region,
            src_row_pitch,
            src_slice_pitch,
            dst_row_pitch,
            dst_slice_pitch,
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

pub(crate) unsafe extern "C" fn clEnqueueCopyBufferToImage(
    command_queue: *mut c_void,
    src_buffer: *mut c_void,
    dst_image: *mut c_void,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueCopyBufferToImage else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_src_buffer = objects::raw(src_buffer, Kind::Mem);
        let raw_dst_image = objects::raw(dst_image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_src_buffer,
            raw_dst_image,
            src_offset,
            dst_origin,
            region,
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

pub(crate) unsafe extern "C" fn clEnqueueCopyImage(
    command_queue: *mut c_void,
    src_image: *mut c_void,
    dst_image: *mut c_void,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueCopyImage else {
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
            src_origin,
            dst_origin,
            region,
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

pub(crate) unsafe extern "C" fn clEnqueueCopyImageToBuffer(
    command_queue: *mut c_void,
    src_image: *mut c_void,
    dst_buffer: *mut c_void,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueCopyImageToBuffer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_src_image = objects::raw(src_image, Kind::Mem);
        let raw_dst_buffer = objects::raw(dst_buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_src_image,
            raw_dst_buffer,
            src_origin,
            region,
            dst_offset,
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

pub(crate) unsafe extern "C" fn clEnqueueFillBuffer(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueFillBuffer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            pattern,
            pattern_size,
            offset,
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

pub(crate) unsafe extern "C" fn clEnqueueFillImage(
    command_queue: *mut c_void,
    image: *mut c_void,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueFillImage else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_image = objects::raw(image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_image,
            fill_color,
            origin,
            region,
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

pub(crate) unsafe extern "C" fn clEnqueueMapBuffer(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    blocking_map: u32,
    map_flags: u64,
    offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clEnqueueMapBuffer else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return arguments::fail(errcode_ret, -57);
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            blocking_map,
            map_flags,
            offset,
            size,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
            errcode_ret,
        );
        if !made.is_null() && !result.is_null() {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMapImage(
    command_queue: *mut c_void,
    image: *mut c_void,
    blocking_map: u32,
    map_flags: u64,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clEnqueueMapImage else {
        // SAFETY: the place of an error is the caller's, or null.
        return unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) };
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_image = objects::raw(image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return arguments::fail(errcode_ret, -57);
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_image,
            blocking_map,
            map_flags,
            origin,
            region,
            image_row_pitch,
            image_slice_pitch,
            num_events_in_wait_list,
            list_event_wait_list.pointer(),
            if event.is_null() {
                null_mut()
            } else {
                &mut made
            },
            errcode_ret,
        );
        if !made.is_null() && !result.is_null() {
            *event = objects::adopt(made, Kind::Event, command_queue, Held::nothing());
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clEnqueueMarker(
    command_queue: *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMarker else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
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

pub(crate) unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    command_queue: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMarkerWithWaitList else {
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

pub(crate) unsafe extern "C" fn clEnqueueMigrateMemObjects(
    command_queue: *mut c_void,
    num_mem_objects: u32,
    mem_objects: *const *mut c_void,
    flags: u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueMigrateMemObjects else {
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

pub(crate) unsafe extern "C" fn clEnqueueNDRangeKernel(
    command_queue: *mut c_void,
    kernel: *mut c_void,
    work_dim: u32,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueNDRangeKernel else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_kernel,
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
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

pub(crate) unsafe extern "C" fn clEnqueueNativeKernel(
    command_queue: *mut c_void,
    user_func: Option<unsafe extern "C" fn(*mut c_void)>,
    args: *mut c_void,
    cb_args: usize,
    num_mem_objects: u32,
    mem_list: *const *mut c_void,
    args_mem_loc: *mut *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueNativeKernel else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_mem_list = List::new(num_mem_objects, mem_list.cast(), Kind::Mem);
        if list_mem_list.has_stranger() {
            return -38;
        }
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_stranger() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            user_func,
            args,
            cb_args,
            num_mem_objects,
            list_mem_list.pointer(),
            args_mem_loc,
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

pub(crate) unsafe extern "C" fn clEnqueueReadBuffer(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    blocking_read: u32,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReadBuffer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            blocking_read,
            offset,
            size,
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

pub(crate) unsafe extern "C" fn clEnqueueReadBufferRect(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    blocking_read: u32,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReadBufferRect else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            blocking_read,
            buffer_origin,
            host_origin,
            region,
            buffer_row_pitch,
            buffer_slice_pitch,
            host_row_pitch,
            host_slice_pitch,
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

pub(crate) unsafe extern "C" fn clEnqueueReadImage(
    command_queue: *mut c_void,
    image: *mut c_void,
    blocking_read: u32,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReadImage else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_image = objects::raw(image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_image,
            blocking_read,
            origin,
            region,
            row_pitch,
            slice_pitch,
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

pub(crate) unsafe extern "C" fn clEnqueueReleaseGLObjects(
    command_queue: *mut c_void,
    num_objects: u32,
    mem_objects: *const *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueReleaseGLObjects else {
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

pub(crate) unsafe extern "C" fn clEnqueueSVMFree(
    command_queue: *mut c_void,
    num_svm_pointers: u32,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<unsafe extern "C" fn(*mut c_void, u32, *mut *mut c_void, *mut c_void)>,
    user_data: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMFree else {
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

pub(crate) unsafe extern "C" fn clEnqueueSVMMap(
    command_queue: *mut c_void,
    blocking_map: u32,
    flags: u64,
    svm_ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMap else {
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

pub(crate) unsafe extern "C" fn clEnqueueSVMMemFill(
    command_queue: *mut c_void,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMemFill else {
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

pub(crate) unsafe extern "C" fn clEnqueueSVMMemcpy(
    command_queue: *mut c_void,
    blocking_copy: u32,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMemcpy else {
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

pub(crate) unsafe extern "C" fn clEnqueueSVMMigrateMem(
    command_queue: *mut c_void,
    num_svm_pointers: u32,
    svm_pointers: *mut *const c_void,
    sizes: *const usize,
    flags: u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMMigrateMem else {
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
            num_svm_pointers,
            svm_pointers,
            sizes,
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

pub(crate) unsafe extern "C" fn clEnqueueSVMUnmap(
    command_queue: *mut c_void,
    svm_ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueSVMUnmap else {
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

pub(crate) unsafe extern "C" fn clEnqueueTask(
    command_queue: *mut c_void,
    kernel: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueTask else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_kernel,
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

pub(crate) unsafe extern "C" fn clEnqueueUnmapMemObject(
    command_queue: *mut c_void,
    memobj: *mut c_void,
    mapped_ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueUnmapMemObject else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_memobj,
            mapped_ptr,
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

pub(crate) unsafe extern "C" fn clEnqueueWaitForEvents(
    command_queue: *mut c_void,
    num_events: u32,
    event_list: *const *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWaitForEvents else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let list_event_list = List::new(num_events, event_list.cast(), Kind::Event);
        if list_event_list.has_null() {
            return -58;
        }
        vendor(raw_command_queue, num_events, list_event_list.pointer())
    }
}

pub(crate) unsafe extern "C" fn clEnqueueWriteBuffer(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    blocking_write: u32,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWriteBuffer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            blocking_write,
            offset,
            size,
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

pub(crate) unsafe extern "C" fn clEnqueueWriteBufferRect(
    command_queue: *mut c_void,
    buffer: *mut c_void,
    blocking_write: u32,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWriteBufferRect else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_buffer = objects::raw(buffer, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_buffer,
            blocking_write,
            buffer_origin,
            host_origin,
            region,
            buffer_row_pitch,
            buffer_slice_pitch,
            host_row_pitch,
            host_slice_pitch,
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

pub(crate) unsafe extern "C" fn clEnqueueWriteImage(
    command_queue: *mut c_void,
    image: *mut c_void,
    blocking_write: u32,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clEnqueueWriteImage else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let raw_image = objects::raw(image, Kind::Mem);
        let list_event_wait_list =
            List::new(num_events_in_wait_list, event_wait_list.cast(), Kind::Event);
        if list_event_wait_list.has_null() {
            return -57;
        }
        let mut made: *mut c_void = null_mut();
        let result = vendor(
            raw_command_queue,
            raw_image,
            blocking_write,
            origin,
            region,
            input_row_pitch,
            input_slice_pitch,
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

pub(crate) unsafe extern "C" fn clFinish(command_queue: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clFinish else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        vendor(raw_command_queue)
    }
}

pub(crate) unsafe extern "C" fn clFlush(command_queue: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clFlush else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        vendor(raw_command_queue)
    }
}

pub(crate) unsafe extern "C" fn clGetCommandQueueInfo(
    command_queue: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetCommandQueueInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let mut size = 0usize;
        let result = vendor(
            raw_command_queue,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_QUEUE_CONTEXT
            if param_name == 0x1090 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    command_queue,
                );
            }
            // CL_QUEUE_DEVICE
            if param_name == 0x1091 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    command_queue,
                );
            }
            // CL_QUEUE_DEVICE_DEFAULT
            if param_name == 0x1095 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Queue,
                    command_queue,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetContextInfo(
    context: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetContextInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let mut size = 0usize;
        let result = vendor(
            raw_context,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_CONTEXT_DEVICES
            if param_name == 0x1081 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    context,
                );
            }
            // CL_CONTEXT_PROPERTIES
            if param_name == 0x1082 {
                answers::context_properties(param_value, size.min(param_value_size), context);
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetDeviceAndHostTimer(
    device: *mut c_void,
    device_timestamp: *mut u64,
    host_timestamp: *mut u64,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetDeviceAndHostTimer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        vendor(raw_device, device_timestamp, host_timestamp)
    }
}

pub(crate) unsafe extern "C" fn clGetDeviceIDs(
    platform: *mut c_void,
    device_type: u64,
    num_entries: u32,
    devices: *mut *mut c_void,
    num_devices: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetDeviceIDs else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_platform = objects::raw(platform, Kind::Platform);
        let mut found = 0u32;
        let result = vendor(
            raw_platform,
            device_type,
            num_entries,
            devices,
            if devices.is_null() {
                num_devices
            } else {
                &mut found
            },
        );
        if result == 0 && !devices.is_null() {
            for handle in answers::list(devices, found.min(num_entries)) {
                *handle = objects::root(*handle, Kind::Device, platform, Held::nothing());
            }
        }
        if !num_devices.is_null() && !devices.is_null() {
            *num_devices = found;
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetDeviceInfo(
    device: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetDeviceInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        let mut size = 0usize;
        // CL_DEVICE_EXTENSIONS
        if param_name == 0x1030 {
            return offered::names(
                |size, value, ret| vendor(raw_device, param_name, size, value, ret),
                param_value_size,
                param_value,
                param_value_size_ret,
                &[],
            );
        }
        // CL_DEVICE_EXTENSIONS_WITH_VERSION
        if param_name == 0x1060 {
            return offered::versions(
                |size, value, ret| vendor(raw_device, param_name, size, value, ret),
                param_value_size,
                param_value,
                param_value_size_ret,
                &[],
            );
        }
        let result = vendor(
            raw_device,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_DEVICE_PLATFORM
            if param_name == 0x1031 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Platform,
                    device,
                );
            }
            // CL_DEVICE_PARENT_DEVICE
            if param_name == 0x1042 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    device,
                );
            }
            // CL_DEVICE_PARENT_DEVICE_EXT
            if param_name == 0x4054 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    device,
                );
            }
            // CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR
            if param_name == 0x12AC {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    device,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetEventInfo(
    event: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    if let Some(answer) = unsafe {
        copy::event_info(
            event,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    } {
        return answer;
    }
    let Some(vendor) = platform::vendor().clGetEventInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_event = objects::raw(event, Kind::Event);
        let mut size = 0usize;
        let result = vendor(
            raw_event,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_EVENT_COMMAND_QUEUE
            if param_name == 0x11D0 {
                answers::handles(param_value, size.min(param_value_size), Kind::Queue, event);
            }
            // CL_EVENT_CONTEXT
            if param_name == 0x11D4 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    event,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetEventProfilingInfo(
    event: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    if let Some(answer) = unsafe {
        copy::event_profiling_info(
            event,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    } {
        return answer;
    }
    let Some(vendor) = platform::vendor().clGetEventProfilingInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_event = objects::raw(event, Kind::Event);
        vendor(
            raw_event,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetGLObjectInfo(
    memobj: *mut c_void,
    gl_object_type: *mut u32,
    gl_object_name: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetGLObjectInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        vendor(raw_memobj, gl_object_type, gl_object_name)
    }
}

pub(crate) unsafe extern "C" fn clGetGLTextureInfo(
    memobj: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetGLTextureInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        vendor(
            raw_memobj,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetHostTimer(
    device: *mut c_void,
    host_timestamp: *mut u64,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetHostTimer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_device = objects::raw(device, Kind::Device);
        vendor(raw_device, host_timestamp)
    }
}

pub(crate) unsafe extern "C" fn clGetICDLoaderInfoOCLICD(
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetICDLoaderInfoOCLICD else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        vendor(
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetImageInfo(
    image: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetImageInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_image = objects::raw(image, Kind::Mem);
        let mut size = 0usize;
        let result = vendor(
            raw_image,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_IMAGE_BUFFER
            if param_name == 0x1118 {
                answers::handles(param_value, size.min(param_value_size), Kind::Mem, image);
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetKernelArgInfo(
    kernel: *mut c_void,
    arg_index: u32,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelArgInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(
            raw_kernel,
            arg_index,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetKernelInfo(
    kernel: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let mut size = 0usize;
        let result = vendor(
            raw_kernel,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_KERNEL_CONTEXT
            if param_name == 0x1193 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    kernel,
                );
            }
            // CL_KERNEL_PROGRAM
            if param_name == 0x1194 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Program,
                    kernel,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetKernelSubGroupInfo(
    kernel: *mut c_void,
    device: *mut c_void,
    param_name: u32,
    input_value_size: usize,
    input_value: *const c_void,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelSubGroupInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_kernel,
            raw_device,
            param_name,
            input_value_size,
            input_value,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetKernelSuggestedLocalWorkSize(
    command_queue: *mut c_void,
    kernel: *mut c_void,
    work_dim: u32,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    suggested_local_work_size: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelSuggestedLocalWorkSize else {
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

pub(crate) unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: *mut c_void,
    device: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetKernelWorkGroupInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_kernel,
            raw_device,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetMemObjectInfo(
    memobj: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetMemObjectInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        let mut size = 0usize;
        let result = vendor(
            raw_memobj,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_MEM_CONTEXT
            if param_name == 0x1106 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    memobj,
                );
            }
            // CL_MEM_ASSOCIATED_MEMOBJECT
            if param_name == 0x1107 {
                answers::handles(param_value, size.min(param_value_size), Kind::Mem, memobj);
            }
            // CL_MEM_PROPERTIES
            if param_name == 0x110A {
                answers::device_lists(param_value, size.min(param_value_size), memobj);
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetPipeInfo(
    pipe: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetPipeInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_pipe = objects::raw(pipe, Kind::Mem);
        vendor(
            raw_pipe,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetProgramBuildInfo(
    program: *mut c_void,
    device: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetProgramBuildInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let raw_device = objects::raw(device, Kind::Device);
        vendor(
            raw_program,
            raw_device,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

pub(crate) unsafe extern "C" fn clGetProgramInfo(
    program: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetProgramInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let mut size = 0usize;
        let result = vendor(
            raw_program,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_PROGRAM_CONTEXT
            if param_name == 0x1161 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    program,
                );
            }
            // CL_PROGRAM_DEVICES
            if param_name == 0x1163 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Device,
                    program,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetSamplerInfo(
    sampler: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetSamplerInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sampler = objects::raw(sampler, Kind::Sampler);
        let mut size = 0usize;
        let result = vendor(
            raw_sampler,
            param_name,
            param_value_size,
            param_value,
            &mut size,
        );
        if result == 0 && !param_value_size_ret.is_null() {
            *param_value_size_ret = size;
        }
        if result == 0 && !param_value.is_null() {
            // CL_SAMPLER_CONTEXT
            if param_name == 0x1151 {
                answers::handles(
                    param_value,
                    size.min(param_value_size),
                    Kind::Context,
                    sampler,
                );
            }
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clGetSupportedImageFormats(
    context: *mut c_void,
    flags: u64,
    image_type: u32,
    num_entries: u32,
    image_formats: *mut c_void,
    num_image_formats: *mut u32,
) -> i32 {
    let Some(vendor) = platform::vendor().clGetSupportedImageFormats else {
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
            image_formats,
            num_image_formats,
        )
    }
}

pub(crate) unsafe extern "C" fn clLinkProgram(
    context: *mut c_void,
    num_devices: u32,
    device_list: *const *mut c_void,
    options: *const c_char,
    num_input_programs: u32,
    input_programs: *const *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut i32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clLinkProgram else {
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
        let list_input_programs =
            List::new(num_input_programs, input_programs.cast(), Kind::Program);
        if list_input_programs.has_null() {
            return arguments::fail(errcode_ret, -44);
        }
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            null_mut(),
            Kind::Program,
            context,
            false,
        );
        let result = vendor(
            raw_context,
            num_devices,
            list_device_list.pointer(),
            options,
            num_input_programs,
            list_input_programs.pointer(),
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
            errcode_ret,
        );
        let made = Callback::made(callback, result, Kind::Program, context);
        Callback::set(callback, !result.is_null(), true);
        if result.is_null() {
            return result;
        }
        arguments::made(made, errcode_ret)
    }
}

pub(crate) unsafe extern "C" fn clReleaseCommandQueue(command_queue: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseCommandQueue else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_command_queue, _later) = objects::releasing(command_queue, Kind::Queue);
        vendor(raw_command_queue)
    }
}

pub(crate) unsafe extern "C" fn clReleaseContext(context: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseContext else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_context, _later) = objects::releasing(context, Kind::Context);
        vendor(raw_context)
    }
}

pub(crate) unsafe extern "C" fn clReleaseDevice(device: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseDevice else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_device, _later) = objects::releasing(device, Kind::Device);
        vendor(raw_device)
    }
}

pub(crate) unsafe extern "C" fn clReleaseEvent(event: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseEvent else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_event, _later) = objects::releasing(event, Kind::Event);
        vendor(raw_event)
    }
}

pub(crate) unsafe extern "C" fn clReleaseKernel(kernel: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseKernel else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_kernel, _later) = objects::releasing(kernel, Kind::Kernel);
        vendor(raw_kernel)
    }
}

pub(crate) unsafe extern "C" fn clReleaseMemObject(memobj: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseMemObject else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_memobj, _later) = objects::releasing(memobj, Kind::Mem);
        vendor(raw_memobj)
    }
}

pub(crate) unsafe extern "C" fn clReleaseProgram(program: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseProgram else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_program, _later) = objects::releasing(program, Kind::Program);
        vendor(raw_program)
    }
}

pub(crate) unsafe extern "C" fn clReleaseSampler(sampler: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clReleaseSampler else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let (raw_sampler, _later) = objects::releasing(sampler, Kind::Sampler);
        vendor(raw_sampler)
    }
}

pub(crate) unsafe extern "C" fn clRetainCommandQueue(command_queue: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainCommandQueue else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        let result = vendor(raw_command_queue);
        if result == 0 {
            objects::retained(command_queue);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainContext(context: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainContext else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let result = vendor(raw_context);
        if result == 0 {
            objects::retained(context);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainDevice(device: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainDevice else {
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

pub(crate) unsafe extern "C" fn clRetainEvent(event: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainEvent else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_event = objects::raw(event, Kind::Event);
        let result = vendor(raw_event);
        if result == 0 {
            objects::retained(event);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainKernel(kernel: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainKernel else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        let result = vendor(raw_kernel);
        if result == 0 {
            objects::retained(kernel);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainMemObject(memobj: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainMemObject else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_memobj = objects::raw(memobj, Kind::Mem);
        let result = vendor(raw_memobj);
        if result == 0 {
            objects::retained(memobj);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainProgram(program: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainProgram else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let result = vendor(raw_program);
        if result == 0 {
            objects::retained(program);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clRetainSampler(sampler: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clRetainSampler else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_sampler = objects::raw(sampler, Kind::Sampler);
        let result = vendor(raw_sampler);
        if result == 0 {
            objects::retained(sampler);
        }
        result
    }
}

pub(crate) unsafe extern "C" fn clSVMAlloc(
    context: *mut c_void,
    flags: u64,
    size: usize,
    alignment: u32,
) -> *mut c_void {
    let Some(vendor) = platform::vendor().clSVMAlloc else {
        return null_mut();
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, flags, size, alignment)
    }
}

pub(crate) unsafe extern "C" fn clSVMFree(context: *mut c_void, svm_pointer: *mut c_void) {
    let Some(vendor) = platform::vendor().clSVMFree else {
        return;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        vendor(raw_context, svm_pointer);
    }
}

pub(crate) unsafe extern "C" fn clSetCommandQueueProperty(
    command_queue: *mut c_void,
    properties: u64,
    enable: u32,
    old_properties: *mut u64,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetCommandQueueProperty else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        vendor(raw_command_queue, properties, enable, old_properties)
    }
}

pub(crate) unsafe extern "C" fn clSetContextDestructorCallback(
    context: *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetContextDestructorCallback else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            context,
            Kind::Context,
            context,
            true,
        );
        let result = vendor(
            raw_context,
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

pub(crate) unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: *mut c_void,
    device: *mut c_void,
    command_queue: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetDefaultDeviceCommandQueue else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_context = objects::raw(context, Kind::Context);
        let raw_device = objects::raw(device, Kind::Device);
        let raw_command_queue = objects::raw(command_queue, Kind::Queue);
        vendor(raw_context, raw_device, raw_command_queue)
    }
}

pub(crate) unsafe extern "C" fn clSetEventCallback(
    event: *mut c_void,
    command_exec_callback_type: i32,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, i32, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetEventCallback else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_event = objects::raw(event, Kind::Event);
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            event,
            Kind::Event,
            event,
            false,
        );
        let result = vendor(
            raw_event,
            command_exec_callback_type,
            if callback.is_null() {
                None
            } else {
                Some(callbacks::event_called)
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

pub(crate) unsafe extern "C" fn clSetKernelArgSVMPointer(
    kernel: *mut c_void,
    arg_index: u32,
    arg_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelArgSVMPointer else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, arg_index, arg_value)
    }
}

pub(crate) unsafe extern "C" fn clSetKernelExecInfo(
    kernel: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetKernelExecInfo else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_kernel = objects::raw(kernel, Kind::Kernel);
        vendor(raw_kernel, param_name, param_value_size, param_value)
    }
}

pub(crate) unsafe extern "C" fn clSetMemObjectDestructorCallback(
    memobj: *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetMemObjectDestructorCallback else {
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

pub(crate) unsafe extern "C" fn clSetProgramReleaseCallback(
    program: *mut c_void,
    pfn_notify: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    user_data: *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetProgramReleaseCallback else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        let callback = Callback::new(
            pfn_notify.map_or(0, |f| f as usize),
            user_data,
            program,
            Kind::Program,
            program,
            true,
        );
        let result = vendor(
            raw_program,
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

pub(crate) unsafe extern "C" fn clSetProgramSpecializationConstant(
    program: *mut c_void,
    spec_id: u32,
    spec_size: usize,
    spec_value: *const c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clSetProgramSpecializationConstant else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_program = objects::raw(program, Kind::Program);
        vendor(raw_program, spec_id, spec_size, spec_value)
    }
}

pub(crate) unsafe extern "C" fn clSetUserEventStatus(
    event: *mut c_void,
    execution_status: i32,
) -> i32 {
    // SAFETY: the caller's promise.
    if let Some(answer) = unsafe { copy::set_user_event_status(event, execution_status) } {
        return answer;
    }
    let Some(vendor) = platform::vendor().clSetUserEventStatus else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_event = objects::raw(event, Kind::Event);
        vendor(raw_event, execution_status)
    }
}

pub(crate) unsafe extern "C" fn clUnloadCompiler() -> i32 {
    let Some(vendor) = platform::vendor().clUnloadCompiler else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe { vendor() }
}

pub(crate) unsafe extern "C" fn clUnloadPlatformCompiler(platform: *mut c_void) -> i32 {
    let Some(vendor) = platform::vendor().clUnloadPlatformCompiler else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let raw_platform = objects::raw(platform, Kind::Platform);
        vendor(raw_platform)
    }
}

pub(crate) unsafe extern "C" fn clWaitForEvents(
    num_events: u32,
    event_list: *const *mut c_void,
) -> i32 {
    let Some(vendor) = platform::vendor().clWaitForEvents else {
        return INVALID_OPERATION;
    };
    // SAFETY: the arguments are as the specification has them, which the caller answers
    // for; handles among them are looked up, never followed.
    unsafe {
        let list_event_list = List::new(num_events, event_list.cast(), Kind::Event);
        if list_event_list.has_null() {
            return -58;
        }
        vendor(num_events, list_event_list.pointer())
    }
}
