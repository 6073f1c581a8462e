//! Which extensions programs are shown: not those with functions that the wrapper does not have,
//! since a function that is called with the program's handles must know them.

use std::ffi::c_void;
use std::ptr::null_mut;

use peerlane_opencl_api::sys::CL_INVALID_VALUE;

/// The extension.
pub(crate) const COPY: &str = "cl_peerlane_copy_buffer";
/// Its version 1.0.0.
pub(crate) const COPY_VERSION: u32 = 1 << 22;

/// An extension: its name and its version, with the major in the high 10 bits (OpenCL 3.0, "Version").
pub(crate) type Extension = (&'static str, u32);

/// The extensions of this driver's platforms: that by which loaders know a driver, in version 2.0.0; and
/// copies to other platforms, which not every vendor library lets it have.
pub(crate) const OF_PLATFORM: [Extension; 2] = [("cl_khr_icd", 2 << 22), (COPY, COPY_VERSION)];

/// Khronos's extensions that are not offered; the generator's `withheld` says why.
const HIDDEN: [&str; 5] = [
    "cl_khr_command_buffer",
    "cl_khr_command_buffer_multi_device",
    "cl_khr_command_buffer_mutable_dispatch",
    "cl_khr_unified_svm",
    "cl_khr_d3d11_sharing",
];

/// Others' extensions that are offered: all their functions are wrapped, or they have none.
const SHOWN: [&str; 47] = [
    "cl_altera_compiler_mode",
    "cl_altera_device_temperature",
    "cl_altera_live_object_tracking",
    "cl_altera_mem_banks",
    "cl_amd_device_attribute_query",
    "cl_amd_fp64",
    "cl_arm_core_id",
    "cl_arm_import_memory",
    "cl_arm_integer_dot_product_accumulate_int8",
    "cl_arm_integer_dot_product_int8",
    "cl_arm_non_uniform_work_group_size",
    "cl_arm_printf",
    "cl_arm_shared_virtual_memory",
    "cl_ext_atomic_counters_32",
    "cl_ext_cxx_for_opencl",
    "cl_ext_device_fission",
    "cl_ext_float_atomics",
    "cl_ext_image_requirements_info",
    "cl_ext_migrate_memobject",
    "cl_intel_bfloat16_conversions",
    "cl_intel_channels",
    "cl_intel_create_buffer_with_properties",
    "cl_intel_device_attribute_query",
    "cl_intel_fpga_host_pipe",
    "cl_intel_global_variable_access",
    "cl_intel_mem_alloc_buffer_location",
    "cl_intel_mem_channel_property",
    "cl_intel_program_scope_host_pipe",
    "cl_intel_required_subgroup_size",
    "cl_intel_split_work_group_barrier",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_intel_subgroups_short",
    "cl_intel_unified_shared_memory",
    "cl_intelfpga_compiler_mode",
    "cl_intelfpga_device_temperature",
    "cl_intelfpga_host_pipe",
    "cl_intelfpga_live_object_tracking",
    "cl_intelfpga_mem_banks",
    "cl_nv_device_attribute_query",
    "cl_nv_pragma_unroll",
    "cl_nvidia_fp64",
    "cl_pocl_content_size",
    "cl_pocl_pinned_buffers",
    "cles_khr_int64",
    "cles_khr_2d_image_array_writes",
];

fn offered(name: &str) -> bool {
    match name.starts_with("cl_khr_") {
        true => !HIDDEN.contains(&name),
        false => SHOWN.contains(&name),
    }
}

/// A question to the vendor: size, place and place for the size that is needed.
type Ask<'a> = &'a dyn Fn(usize, *mut c_void, *mut usize) -> i32;

/// The vendor's whole answer.
fn whole(ask: Ask<'_>) -> Result<Vec<u8>, i32> {
    let mut size = 0;
    match ask(0, null_mut(), &mut size) {
        0 => {}
        error => return Err(error),
    }
    let mut answer = vec![0u8; size];
    match ask(size, answer.as_mut_ptr().cast(), null_mut()) {
        0 => Ok(answer),
        error => Err(error),
    }
}

/// Gives an answer as a query has to.
///
/// # Safety
/// The places are null or the caller's, `value` with `size` bytes.
pub(crate) unsafe fn give(
    answer: &[u8],
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> i32 {
    if !value.is_null() && size < answer.len() {
        return CL_INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(place) = size_ret.as_mut() {
            *place = answer.len();
        }
        if !value.is_null() {
            value
                .cast::<u8>()
                .copy_from_nonoverlapping(answer.as_ptr(), answer.len());
        }
    }
    0
}

/// `CL_DEVICE_EXTENSIONS`, `CL_PLATFORM_EXTENSIONS`: names with blanks between them.
///
/// # Safety
/// As of [`give`].
pub(crate) unsafe fn names(
    ask: impl Fn(usize, *mut c_void, *mut usize) -> i32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
    own: &[Extension],
) -> i32 {
    match whole(&ask) {
        // SAFETY: the caller's promise.
        Ok(vendors) => unsafe { give(&names_of(vendors, own), size, value, size_ret) },
        Err(error) => error,
    }
}

fn names_of(vendors: Vec<u8>, own: &[Extension]) -> Vec<u8> {
    let text = String::from_utf8_lossy(&vendors);
    let text = text.trim_end_matches('\0');
    let mut all: Vec<&str> = text.split_ascii_whitespace().collect();
    let before = all.len();
    all.retain(|name| offered(name));
    let mut same = all.len() == before;
    for (name, _) in own {
        if !all.contains(name) {
            all.push(name);
            same = false;
        }
    }
    if same {
        return vendors;
    }
    let mut text = all.join(" ").into_bytes();
    text.push(0);
    text
}

/// `cl_name_version`: a word and 64 characters.
const NAME_VERSION: usize = 68;

/// `CL_DEVICE_EXTENSIONS_WITH_VERSION`, `CL_PLATFORM_EXTENSIONS_WITH_VERSION`.
///
/// # Safety
/// As of [`give`].
pub(crate) unsafe fn versions(
    ask: impl Fn(usize, *mut c_void, *mut usize) -> i32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
    own: &[Extension],
) -> i32 {
    match whole(&ask) {
        // SAFETY: the caller's promise.
        Ok(vendors) => unsafe { give(&versions_of(&vendors, own), size, value, size_ret) },
        Err(error) => error,
    }
}

fn versions_of(vendors: &[u8], own: &[Extension]) -> Vec<u8> {
    let mut out = Vec::with_capacity(vendors.len() + own.len() * NAME_VERSION);
    let mut lacks = own.to_vec();
    for one in vendors.chunks_exact(NAME_VERSION) {
        let name = one[4..].split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        lacks.retain(|(own, _)| *own != name);
        if offered(&name) {
            out.extend_from_slice(one);
        }
    }
    for (name, version) in lacks {
        let mut one = [0; NAME_VERSION];
        one[..4].copy_from_slice(&version.to_ne_bytes());
        one[4..4 + name.len()].copy_from_slice(name.as_bytes());
        out.extend_from_slice(&one);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(vendors: &str, own: &[Extension]) -> String {
        let text = names_of([vendors.as_bytes(), b"\0"].concat(), own);
        let text = String::from_utf8(text).unwrap();
        text.strip_suffix('\0').unwrap().to_owned()
    }

    #[test]
    fn a_platform_gets_the_loaders_extension_once() {
        assert_eq!(names("", &OF_PLATFORM[..1]), "cl_khr_icd");
        assert_eq!(
            names("cl_khr_fp64 ", &OF_PLATFORM),
            "cl_khr_fp64 cl_khr_icd cl_peerlane_copy_buffer"
        );
        assert_eq!(
            names("cl_khr_icd cl_khr_fp64", &OF_PLATFORM),
            "cl_khr_icd cl_khr_fp64 cl_peerlane_copy_buffer"
        );
    }

    #[test]
    fn what_is_not_wrapped_is_not_shown_and_the_rest_stays() {
        assert_eq!(
            names("cl_khr_fp64  cl_khr_fp16 ", &[]),
            "cl_khr_fp64  cl_khr_fp16 "
        );
        let vendors = "cl_khr_fp64 cl_khr_command_buffer cl_somebody_something cl_intel_channels";
        assert_eq!(names(vendors, &[]), "cl_khr_fp64 cl_intel_channels");
    }

    #[test]
    fn versions_are_those_of_the_names() {
        let one = |name: &str, version: u32| {
            let mut one = version.to_ne_bytes().to_vec();
            one.extend_from_slice(name.as_bytes());
            one.resize(NAME_VERSION, 0);
            one
        };
        let vendors = [one("cl_khr_fp64", 5), one("cl_khr_command_buffer", 6)].concat();
        assert_eq!(versions_of(&vendors, &[]), one("cl_khr_fp64", 5));
        // cl_khr_icd 2.0.0, the reference of OpenCL: CL_MAKE_VERSION(2, 0, 0) is 0x800000.
        let with = [one("cl_khr_fp64", 5), one("cl_khr_icd", 0x80_0000)].concat();
        assert_eq!(versions_of(&vendors, &OF_PLATFORM[..1]), with);
    }

    #[test]
    fn an_answer_that_does_not_fit_is_refused_and_its_size_told() {
        let mut place = [0u8; 4];
        let mut needed = 0;
        let value: *mut c_void = place.as_mut_ptr().cast();
        // SAFETY: the places are the test's.
        unsafe {
            assert_eq!(give(b"abcd\0", 4, value, null_mut()), CL_INVALID_VALUE);
            assert_eq!(give(b"abcd\0", 0, null_mut(), &mut needed), 0);
            assert_eq!(needed, 5);
            assert_eq!(give(b"abc\0", 4, value, null_mut()), 0);
        }
        assert_eq!(&place, b"abc\0");
    }
}
