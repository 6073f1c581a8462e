//! Facts that no description of OpenCL holds: the way in which the wrapper has to treat a parameter or an answer.
//!
//! Numbers of sections are those of "The OpenCL Specification", 3.0, unless another is named.

/// The kinds of objects, as `Kind` in `host/icd/src/objects.rs` has them.
pub(crate) const KINDS: [(&str, &str); 10] = [
    ("cl_platform_id", "Platform"),
    ("cl_device_id", "Device"),
    ("cl_context", "Context"),
    ("cl_command_queue", "Queue"),
    ("cl_mem", "Mem"),
    ("cl_program", "Program"),
    ("cl_kernel", "Kernel"),
    ("cl_event", "Event"),
    ("cl_sampler", "Sampler"),
    ("cl_semaphore_khr", "Semaphore"),
];

/// Returns the kind that a type's name says, as the wrapper writes it.
pub(crate) fn kind(ty: &str) -> Option<String> {
    let (_, name) = KINDS.iter().find(|(handle, _)| *handle == ty)?;
    Some(format!("Kind::{name}"))
}

/// Functions that the wrapper has by hand: `host/icd/src/platform.rs`, `arguments.rs` and `callbacks.rs`.
pub(crate) const BY_HAND: [&str; 9] = [
    "clGetPlatformIDs",
    "clGetPlatformInfo",
    "clGetExtensionFunctionAddress",
    "clGetExtensionFunctionAddressForPlatform",
    "clSetKernelArg",
    "clGetBoardExtensionFunctionAddressIntelFPGA",
    "clGetBoardExtensionFunctionAddressAltera",
    "clReportLiveObjectsIntelFPGA",
    "clReportLiveObjectsAltera",
];

/// Returns the function of `copy` that answers for the events of copies of `cl_peerlane_copy_buffer`, if there is one
/// by that name. It gives `None` for all other events.
pub(crate) fn of_copies(name: &str) -> Option<&'static str> {
    match name {
        "clGetEventInfo" => Some("copy::event_info"),
        "clGetEventProfilingInfo" => Some("copy::event_profiling_info"),
        "clSetUserEventStatus" => Some("copy::set_user_event_status"),
        _ => None,
    }
}

/// Functions whose slots in the dispatch table the wrapper knows: those that copies between platforms call, and
/// those whose slots have `cl_khr_icd`'s tag (`clGetPlatformIDs`, `clUnloadCompiler`).
pub(crate) const SLOTS: [&str; 30] = [
    "clGetPlatformIDs",
    "clUnloadCompiler",
    "clGetDeviceInfo",
    "clGetContextInfo",
    "clGetCommandQueueInfo",
    "clGetMemObjectInfo",
    "clGetEventInfo",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateUserEvent",
    "clRetainContext",
    "clRetainCommandQueue",
    "clRetainMemObject",
    "clRetainEvent",
    "clReleaseContext",
    "clReleaseCommandQueue",
    "clReleaseMemObject",
    "clReleaseEvent",
    "clEnqueueReadBuffer",
    "clEnqueueWriteBuffer",
    "clEnqueueMapBuffer",
    "clEnqueueUnmapMemObject",
    "clEnqueueMarker",
    "clEnqueueMarkerWithWaitList",
    "clEnqueueWaitForEvents",
    "clFinish",
    "clFlush",
    "clWaitForEvents",
    "clSetUserEventStatus",
    "clSetMemObjectDestructorCallback",
];

/// Returns the reason why the wrapper does not offer a function. Programs do not find such a function.
pub(crate) fn withheld(name: &str) -> Option<&'static str> {
    if name.contains("D3D1") || name.contains("DX9") {
        return Some("of other systems");
    }
    if name.starts_with("clIcd") || name.contains("Layer") {
        return Some("between loader and driver, and the wrapper is the driver");
    }
    // cl_khr_command_buffer 0.9.5 put a parameter before the handles; a vendor may have any version.
    let drafts = [
        "clCommand",
        "clCreateCommandBuffer",
        "clFinalizeCommandBuffer",
        "clRetainCommandBuffer",
        "clReleaseCommandBuffer",
        "clEnqueueCommandBuffer",
        "clGetCommandBufferInfo",
        "clRemapCommandBuffer",
        "clGetMutableCommandInfo",
        "clUpdateMutableCommands",
    ];
    if drafts.iter().any(|draft| name.starts_with(draft)) {
        return Some("a draft whose functions changed their parameters");
    }
    // cl_khr_unified_svm.
    if name.contains("SVM") && name.ends_with("KHR") {
        return Some("a draft with handles among its properties");
    }
    if name.contains("Accelerator") || name == "clCancelCommandsIMG" {
        return Some("of graphics processors that have a driver of their own");
    }
    None
}

/// Functions that fill a list with handles. In all others a pointer to a handle is a list to be
/// read, or the place of one event. (4.1, 4.2, 4.3, 5.9.1; cl_ext_device_fission)
pub(crate) const FILLS: [&str; 4] = [
    "clGetDeviceIDs",
    "clCreateSubDevices",
    "clCreateSubDevicesEXT",
    "clCreateKernelsInProgram",
];

/// The way that an answer holds handles.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// It is a handle, or a list of them, of this type.
    Handles(&'static str),
    /// `cl_context_properties`, with a platform among them.
    ContextProperties,
    /// Properties with lists of devices, which end with 0.
    DeviceLists,
    /// Names of extensions, divided by blanks. Not all names from the vendor are offered.
    Extensions,
    /// Names of extensions as an array of `cl_name_version`.
    ExtensionVersions,
}

use Answer::{ContextProperties, DeviceLists, ExtensionVersions, Extensions, Handles};

/// A row of [`QUERIES`].
pub(crate) type Query = (&'static str, &'static str, Answer);

/// Each query whose answer differs between the program's handles and the vendor's: tables 5, 7, 9, 20, 21, 23, 29, 33,
/// 37 of the specification, and the extensions' own.
pub(crate) const QUERIES: &[Query] = &[
    (
        "clGetDeviceInfo",
        "CL_DEVICE_PLATFORM",
        Handles("cl_platform_id"),
    ),
    (
        "clGetDeviceInfo",
        "CL_DEVICE_PARENT_DEVICE",
        Handles("cl_device_id"),
    ),
    (
        "clGetDeviceInfo",
        "CL_DEVICE_PARENT_DEVICE_EXT",
        Handles("cl_device_id"),
    ),
    (
        "clGetDeviceInfo",
        "CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR",
        Handles("cl_device_id"),
    ),
    ("clGetDeviceInfo", "CL_DEVICE_EXTENSIONS", Extensions),
    (
        "clGetDeviceInfo",
        "CL_DEVICE_EXTENSIONS_WITH_VERSION",
        ExtensionVersions,
    ),
    (
        "clGetContextInfo",
        "CL_CONTEXT_DEVICES",
        Handles("cl_device_id"),
    ),
    (
        "clGetContextInfo",
        "CL_CONTEXT_PROPERTIES",
        ContextProperties,
    ),
    (
        "clGetCommandQueueInfo",
        "CL_QUEUE_CONTEXT",
        Handles("cl_context"),
    ),
    (
        "clGetCommandQueueInfo",
        "CL_QUEUE_DEVICE",
        Handles("cl_device_id"),
    ),
    (
        "clGetCommandQueueInfo",
        "CL_QUEUE_DEVICE_DEFAULT",
        Handles("cl_command_queue"),
    ),
    (
        "clGetMemObjectInfo",
        "CL_MEM_CONTEXT",
        Handles("cl_context"),
    ),
    (
        "clGetMemObjectInfo",
        "CL_MEM_ASSOCIATED_MEMOBJECT",
        Handles("cl_mem"),
    ),
    ("clGetMemObjectInfo", "CL_MEM_PROPERTIES", DeviceLists),
    ("clGetImageInfo", "CL_IMAGE_BUFFER", Handles("cl_mem")),
    (
        "clGetSamplerInfo",
        "CL_SAMPLER_CONTEXT",
        Handles("cl_context"),
    ),
    (
        "clGetProgramInfo",
        "CL_PROGRAM_CONTEXT",
        Handles("cl_context"),
    ),
    (
        "clGetProgramInfo",
        "CL_PROGRAM_DEVICES",
        Handles("cl_device_id"),
    ),
    (
        "clGetKernelInfo",
        "CL_KERNEL_CONTEXT",
        Handles("cl_context"),
    ),
    (
        "clGetKernelInfo",
        "CL_KERNEL_PROGRAM",
        Handles("cl_program"),
    ),
    (
        "clGetEventInfo",
        "CL_EVENT_COMMAND_QUEUE",
        Handles("cl_command_queue"),
    ),
    ("clGetEventInfo", "CL_EVENT_CONTEXT", Handles("cl_context")),
    (
        "clGetGLContextInfoKHR",
        "CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR",
        Handles("cl_device_id"),
    ),
    (
        "clGetGLContextInfoKHR",
        "CL_DEVICES_FOR_GL_CONTEXT_KHR",
        Handles("cl_device_id"),
    ),
    (
        "clGetSemaphoreInfoKHR",
        "CL_SEMAPHORE_CONTEXT_KHR",
        Handles("cl_context"),
    ),
    (
        "clGetSemaphoreInfoKHR",
        "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR",
        Handles("cl_device_id"),
    ),
    (
        "clGetSemaphoreInfoKHR",
        "CL_SEMAPHORE_PROPERTIES_KHR",
        DeviceLists,
    ),
    (
        "clGetMemAllocInfoINTEL",
        "CL_MEM_ALLOC_DEVICE_INTEL",
        Handles("cl_device_id"),
    ),
];

/// Whether the answer to a query is a handle, or handles, by the query's name. The generator stops at such a query
/// without a row in [`QUERIES`].
pub(crate) fn sounds_like_handles(name: &str) -> bool {
    // Counts, objects of Direct3D, and queries of functions that are withheld.
    let others = [
        "_NUM_",
        "_MAX_",
        "D3D",
        "DXVA",
        "CL_ACCELERATOR_",
        "CL_COMMAND_BUFFER_",
        "CL_MUTABLE_",
    ];
    let objects = [
        "PLATFORM",
        "DEVICE",
        "DEVICES",
        "HANDLE_LIST",
        "CONTEXT",
        "QUEUE",
        "DEVICE_DEFAULT",
        "MEMOBJECT",
        "BUFFER",
        "PROGRAM",
        "KERNEL",
        "EVENT",
        "SAMPLER",
    ];
    let makers = ["_KHR", "_EXT", "_INTEL", "_ARM", "_QCOM", "_IMG", "_POCL"];
    let suffix = makers.iter().find_map(|maker| name.strip_suffix(maker));
    let what = suffix.unwrap_or(name);
    objects
        .iter()
        .any(|object| what.ends_with(&format!("_{object}")))
        && !others.iter().any(|other| name.contains(other))
}

/// Types without handles that pointers may point to. Any other type stops the generator.
pub(crate) const PLAIN: [&str; 26] = [
    "c_void",
    "c_char",
    "size_t",
    "usize",
    "cl_int",
    "cl_uint",
    "cl_ulong",
    "cl_image_format",
    "cl_command_queue_properties",
    "cl_device_partition_property",
    "cl_device_partition_property_ext",
    "cl_queue_properties",
    "cl_queue_properties_khr",
    "cl_sampler_properties",
    "cl_pipe_properties",
    "cl_import_properties_arm",
    "cl_mem_properties_intel",
    "cl_egl_image_properties_khr",
    "cl_GLenum",
    "cl_GLuint",
    "cl_gl_object_type",
    "cl_semaphore_payload_khr",
    "cl_semaphore_reimport_properties_khr",
    "*mutc_void",
    "*constc_void",
    "*constc_char",
];

/// The form in which the description writes bytes.
pub(crate) const BYTES: &str = "*const::core::ffi::c_uchar";

/// Returns, for lists of properties with handles among them, whether the platform's handle is one of them.
pub(crate) fn properties(pointee: &str) -> Option<bool> {
    match pointee {
        "cl_context_properties" => Some(true),
        "cl_mem_properties" | "cl_semaphore_properties_khr" => Some(false),
        _ => None,
    }
}

/// Whether a callback gets its object after the object's end.
pub(crate) fn outlives(function: &str) -> bool {
    function.contains("Destructor") || function.contains("Release")
}

/// Whether a callback may run although the call that set it fails: the call and the callback may both report a build
/// that failed (5.8.2: the callback comes "when the program executable has been built (successfully or
/// unsuccessfully)").
pub(crate) fn told_of_failure(function: &str) -> bool {
    ["clBuildProgram", "clCompileProgram", "clLinkProgram"].contains(&function)
}

/// Returns the error for a list with an element that is not a handle of this kind: `CL_INVALID_EVENT` of
/// `clWaitForEvents` (5.11), else `CL_INVALID_EVENT_WAIT_LIST`; `CL_INVALID_DEVICE`, `CL_INVALID_MEM_OBJECT`,
/// `CL_INVALID_PROGRAM` (4.4, 5.4.4, 5.8.2), `CL_INVALID_SEMAPHORE_KHR` (cl_khr_semaphore).
pub(crate) fn bad_list(function: &str, kind: &str) -> Option<i32> {
    Some(match kind {
        "Kind::Event" if ["clWaitForEvents", "clEnqueueWaitForEvents"].contains(&function) => -58,
        "Kind::Event" => -57,
        "Kind::Device" => -33,
        "Kind::Mem" => -38,
        "Kind::Program" => -44,
        "Kind::Semaphore" => -1142,
        _ => return None,
    })
}

/// Whether NULL may be an element of a function's list: true for the buffers that a native kernel gets (5.10).
pub(crate) fn takes_null(function: &str) -> bool {
    function == "clEnqueueNativeKernel"
}
