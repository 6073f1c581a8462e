// The functions of FPGA vendors' extensions, which opencl-sys does not have, in its form. Read by the
// generator, never compiled.
//
// IntelFPGA: include/CL/cl_ext_intelfpga.h of the open runtime (intel/fpga-runtime-for-opencl). Those of Altera
// are the same functions under the names of the runtimes of 13.1 to 16.1.

pub type clTrackLiveObjectsIntelFPGA_t = Option<
    unsafe extern "C" fn(
        platform: cl_platform_id,
    ),
>;

pub type clTrackLiveObjectsAltera_t = Option<
    unsafe extern "C" fn(
        platform: cl_platform_id,
    ),
>;

pub type clReportLiveObjectsIntelFPGA_t = Option<
    unsafe extern "C" fn(
        platform: cl_platform_id,
        report_fn: Option<unsafe extern "C" fn(user_data: *mut c_void, obj_ptr: *mut c_void, type_name: *const c_char, refcount: cl_uint)>,
        user_data: *mut c_void,
    ),
>;

pub type clReportLiveObjectsAltera_t = Option<
    unsafe extern "C" fn(
        platform: cl_platform_id,
        report_fn: Option<unsafe extern "C" fn(user_data: *mut c_void, obj_ptr: *mut c_void, type_name: *const c_char, refcount: cl_uint)>,
        user_data: *mut c_void,
    ),
>;

pub type clGetBoardExtensionFunctionAddressIntelFPGA_t = Option<
    unsafe extern "C" fn(
        func_name: *const c_char,
        device: cl_device_id,
    ) -> *mut c_void,
>;

pub type clGetBoardExtensionFunctionAddressAltera_t = Option<
    unsafe extern "C" fn(
        func_name: *const c_char,
        device: cl_device_id,
    ) -> *mut c_void,
>;

pub type clReadPipeIntelFPGA_t = Option<
    unsafe extern "C" fn(
        pipe: cl_mem,
        ptr: *mut c_void,
    ) -> cl_int,
>;

pub type clWritePipeIntelFPGA_t = Option<
    unsafe extern "C" fn(
        pipe: cl_mem,
        ptr: *mut c_void,
    ) -> cl_int,
>;

pub type clMapHostPipeIntelFPGA_t = Option<
    unsafe extern "C" fn(
        pipe: cl_mem,
        map_flags: cl_map_flags,
        requested_size: size_t,
        mapped_size: *mut size_t,
        errcode_ret: *mut cl_int,
    ) -> *mut c_void,
>;

pub type clUnmapHostPipeIntelFPGA_t = Option<
    unsafe extern "C" fn(
        pipe: cl_mem,
        mapped_ptr: *mut c_void,
        size_to_unmap: size_t,
        unmapped_size: *mut size_t,
    ) -> cl_int,
>;

pub type clGetProfileInfoIntelFPGA_t = Option<
    unsafe extern "C" fn(
        kernel_event: cl_event,
    ) -> cl_int,
>;

pub type clGetProfileDataDeviceIntelFPGA_t = Option<
    unsafe extern "C" fn(
        device_id: cl_device_id,
        program: cl_program,
        read_enqueue_kernels: cl_bool,
        read_auto_enqueued: cl_bool,
        clear_counters_after_readback: cl_bool,
        param_value_size: size_t,
        param_value: *mut c_void,
        param_value_size_ret: *mut size_t,
        errcode_ret: *mut cl_int,
    ) -> cl_int,
>;

pub type clSetDeviceExceptionCallbackIntelFPGA_t = Option<
    unsafe extern "C" fn(
        num_devices: cl_uint,
        devices: *const cl_device_id,
        listen_mask: cl_ulong,
        pfn_exception_notify: Option<unsafe extern "C" fn(exception_type: cl_ulong, private_info: *const c_void, cb: size_t, user_data: *mut c_void)>,
        user_data: *mut c_void,
    ) -> cl_int,
>;

pub type clCreateProgramWithBinaryAndProgramDeviceIntelFPGA_t = Option<
    unsafe extern "C" fn(
        context: cl_context,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        lengths: *const size_t,
        binaries: *const *const ::core::ffi::c_uchar,
        binary_status: *mut cl_int,
        errcode_ret: *mut cl_int,
    ) -> cl_program,
>;

pub type clReconfigurePLLIntelFPGA_t = Option<
    unsafe extern "C" fn(
        device: cl_device_id,
        pll_settings_str: *const c_char,
    ) -> cl_int,
>;

pub type clResetKernelsIntelFPGA_t = Option<
    unsafe extern "C" fn(
        context: cl_context,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
    ) -> cl_int,
>;

// cl_intel_global_variable_access: include/CL/cl_ext.h of the open runtime.

pub type clEnqueueReadGlobalVariableINTEL_t = Option<
    unsafe extern "C" fn(
        command_queue: cl_command_queue,
        program: cl_program,
        name: *const c_char,
        blocking_read: cl_bool,
        size: size_t,
        offset: size_t,
        ptr: *mut c_void,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int,
>;

pub type clEnqueueWriteGlobalVariableINTEL_t = Option<
    unsafe extern "C" fn(
        command_queue: cl_command_queue,
        program: cl_program,
        name: *const c_char,
        blocking_write: cl_bool,
        size: size_t,
        offset: size_t,
        ptr: *const c_void,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int,
>;
