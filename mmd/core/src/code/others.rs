//! Names of errors of OpenCL's own functions, some of which the extension passes on.

use std::ffi::{CStr, c_int};

macro_rules! names {
    ($($name:ident = $value:literal;)*) => {
        /// The errors of OpenCL that the extension has no meaning of its own for.
        const OTHERS: &[(c_int, &CStr)] = &[$(($value, {
            let text = concat!(
                stringify!($name),
                ", an error of a function of OpenCL: OpenCL's specification explains it.\0"
            );
            match CStr::from_bytes_with_nul(text.as_bytes()) {
                Ok(text) => text,
                Err(_) => unreachable!(),
            }
        })),*];
    };
}

// The OpenCL Registry's cl.xml, "ErrorCodes".
names! {
    CL_DEVICE_NOT_FOUND = -1;
    CL_DEVICE_NOT_AVAILABLE = -2;
    CL_COMPILER_NOT_AVAILABLE = -3;
    CL_OUT_OF_HOST_MEMORY = -6;
    CL_PROFILING_INFO_NOT_AVAILABLE = -7;
    CL_MEM_COPY_OVERLAP = -8;
    CL_IMAGE_FORMAT_MISMATCH = -9;
    CL_IMAGE_FORMAT_NOT_SUPPORTED = -10;
    CL_BUILD_PROGRAM_FAILURE = -11;
    CL_MAP_FAILURE = -12;
    CL_MISALIGNED_SUB_BUFFER_OFFSET = -13;
    CL_COMPILE_PROGRAM_FAILURE = -15;
    CL_LINKER_NOT_AVAILABLE = -16;
    CL_LINK_PROGRAM_FAILURE = -17;
    CL_DEVICE_PARTITION_FAILED = -18;
    CL_KERNEL_ARG_INFO_NOT_AVAILABLE = -19;
    CL_INVALID_DEVICE_TYPE = -31;
    CL_INVALID_PLATFORM = -32;
    CL_INVALID_CONTEXT = -34;
    CL_INVALID_QUEUE_PROPERTIES = -35;
    CL_INVALID_COMMAND_QUEUE = -36;
    CL_INVALID_HOST_PTR = -37;
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR = -39;
    CL_INVALID_IMAGE_SIZE = -40;
    CL_INVALID_SAMPLER = -41;
    CL_INVALID_BINARY = -42;
    CL_INVALID_BUILD_OPTIONS = -43;
    CL_INVALID_PROGRAM = -44;
    CL_INVALID_PROGRAM_EXECUTABLE = -45;
    CL_INVALID_KERNEL_NAME = -46;
    CL_INVALID_KERNEL_DEFINITION = -47;
    CL_INVALID_KERNEL = -48;
    CL_INVALID_ARG_INDEX = -49;
    CL_INVALID_ARG_VALUE = -50;
    CL_INVALID_ARG_SIZE = -51;
    CL_INVALID_KERNEL_ARGS = -52;
    CL_INVALID_WORK_DIMENSION = -53;
    CL_INVALID_WORK_GROUP_SIZE = -54;
    CL_INVALID_WORK_ITEM_SIZE = -55;
    CL_INVALID_GLOBAL_OFFSET = -56;
    CL_INVALID_EVENT = -58;
    CL_INVALID_GL_OBJECT = -60;
    CL_INVALID_BUFFER_SIZE = -61;
    CL_INVALID_MIP_LEVEL = -62;
    CL_INVALID_GLOBAL_WORK_SIZE = -63;
    CL_INVALID_PROPERTY = -64;
    CL_INVALID_IMAGE_DESCRIPTOR = -65;
    CL_INVALID_COMPILER_OPTIONS = -66;
    CL_INVALID_LINKER_OPTIONS = -67;
    CL_INVALID_DEVICE_PARTITION_COUNT = -68;
    CL_INVALID_PIPE_SIZE = -69;
    CL_INVALID_DEVICE_QUEUE = -70;
    CL_INVALID_SPEC_ID = -71;
    CL_MAX_SIZE_RESTRICTION_EXCEEDED = -72;
}

/// Returns the text of an error that has no text of the extension's.
pub(crate) fn text(value: c_int) -> &'static CStr {
    let known = OTHERS.iter().find(|(other, _)| *other == value);
    known.map_or(
        c"This is not an error of this extension or of OpenCL itself: it may be an error of an extension of the OpenCL \
          library that was called.",
        |(_, text)| text,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::ERRORS;

    #[test]
    fn errors_of_opencls_have_their_names() {
        let begins = |value, name: &str| text(value).to_str().unwrap().starts_with(name);
        assert!(begins(-6, "CL_OUT_OF_HOST_MEMORY, "));
        assert!(begins(-34, "CL_INVALID_CONTEXT, "));
        assert!(begins(-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED, "));
        assert!(begins(-4711, "This is not an error of this extension"));
        for (value, text) in OTHERS {
            assert!(text.to_str().unwrap().ends_with('.'));
            assert!(ERRORS.iter().all(|error| error.value != *value), "{value}");
        }
        // All errors of OpenCL 3.0 have one text or the other.
        for value in (-19..=-1).chain(-72..=-30) {
            let ours = ERRORS.iter().any(|error| error.value == value);
            assert!(
                ours || OTHERS.iter().any(|(other, _)| *other == value),
                "{value}"
            );
        }
    }
}
