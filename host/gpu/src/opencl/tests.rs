//! Imports with a mock of OpenCL whose context has several devices.

use super::*;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::os::fd::FromRawFd;

/// A device of the mock. Its handle is its index in the list, plus 1.
#[derive(Clone)]
struct Device {
    extensions: &'static str,
    uuid: [u8; UUID_BYTES],
}

thread_local! {
    static DEVICES: RefCell<Vec<Device>> = const { RefCell::new(Vec::new()) };
    /// The properties of the last import, up to the last 0.
    static PROPERTIES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// Number of buffers that were released.
    static RELEASED: Cell<u32> = const { Cell::new(0) };
}

const CONTEXT: usize = 77;
const PLATFORM: usize = 88;
const MEMORY: usize = 99;
const BOTH: &str = "cl_khr_external_memory cl_khr_external_memory_opaque_fd cl_khr_device_uuid";
/// `CL_INVALID_DEVICE` and `CL_INVALID_PROPERTY` of CL/cl.h.
const INVALID_DEVICE: i32 = -33;
const INVALID_PROPERTY: i32 = -64;

fn handle(number: usize) -> Handle {
    std::ptr::without_provenance_mut(number)
}

/// Answers as OpenCL's information functions do.
unsafe fn answer(bytes: &[u8], size: usize, value: *mut c_void, needed: *mut usize) -> i32 {
    if !needed.is_null() {
        // SAFETY: the caller has a place there.
        unsafe { needed.write(bytes.len()) };
    }
    if !value.is_null() {
        assert_eq!(size, bytes.len());
        // SAFETY: the caller's place is as long as it says.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), size) };
    }
    CL_SUCCESS
}

unsafe extern "C" fn context_info(
    context: Handle,
    name: u32,
    size: usize,
    value: *mut c_void,
    needed: *mut usize,
) -> i32 {
    assert_eq!((context.addr(), name), (CONTEXT, CL_CONTEXT_DEVICES));
    let count = DEVICES.with_borrow(Vec::len);
    let bytes: Vec<u8> = (1..=count).flat_map(usize::to_ne_bytes).collect();
    // SAFETY: the caller promises it.
    unsafe { answer(&bytes, size, value, needed) }
}

unsafe extern "C" fn device_info(
    device: Handle,
    name: u32,
    size: usize,
    value: *mut c_void,
    needed: *mut usize,
) -> i32 {
    let device = DEVICES.with_borrow(|devices| devices[device.addr() - 1].clone());
    let bytes = match name {
        CL_DEVICE_EXTENSIONS => [device.extensions.as_bytes(), b"\0"].concat(),
        CL_DEVICE_PLATFORM => PLATFORM.to_ne_bytes().to_vec(),
        CL_DEVICE_UUID_KHR => device.uuid.to_vec(),
        other => panic!("{other:#x} was asked for"),
    };
    // SAFETY: the caller promises it.
    unsafe { answer(&bytes, size, value, needed) }
}

/// Returns the specification's errors of `clCreateBufferWithProperties` (cl_khr_external_memory).
unsafe extern "C" fn create(
    context: Handle,
    properties: *const u64,
    _: u64,
    _: usize,
    _: *mut c_void,
    code: *mut i32,
) -> Handle {
    assert_eq!(context.addr(), CONTEXT);
    let mut words = Vec::new();
    let mut devices: Option<Vec<usize>> = None;
    let mut at = properties;
    let mut next = || {
        // SAFETY: the caller's list goes on up to a 0 in the place of a name.
        let word = unsafe { at.read() };
        // SAFETY: as above.
        at = unsafe { at.add(1) };
        words.push(word);
        word
    };
    let mut result = CL_SUCCESS;
    loop {
        match next() {
            0 => break,
            CL_MEM_DEVICE_HANDLE_LIST_KHR => {
                let mut list = Vec::new();
                loop {
                    match next() {
                        CL_MEM_DEVICE_HANDLE_LIST_END_KHR => break,
                        device => list.push(device as usize),
                    }
                }
                devices = Some(list);
            }
            OPAQUE_FD => {
                next();
            }
            _ => {
                result = INVALID_PROPERTY;
                break;
            }
        }
    }
    let all = 1..=DEVICES.with_borrow(Vec::len);
    let devices = devices.unwrap_or_else(|| all.collect());
    let imports = |device: &usize| {
        DEVICES.with_borrow(|all| all[device - 1].extensions.contains("opaque_fd"))
    };
    if result == CL_SUCCESS && !devices.iter().all(imports) {
        result = INVALID_DEVICE;
    }
    PROPERTIES.set(words);
    // SAFETY: the caller has a place for the code.
    unsafe { code.write(result) };
    handle(if result == CL_SUCCESS { MEMORY } else { 0 })
}

unsafe extern "C" fn hand_over(
    _: Handle,
    _: u32,
    _: *const Handle,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    CL_SUCCESS
}

unsafe extern "C" fn extension(platform: Handle, _: *const c_char) -> *mut c_void {
    assert_eq!(platform.addr(), PLATFORM);
    hand_over as HandOver as *mut c_void
}

unsafe extern "C" fn release(memory: Handle) -> i32 {
    assert_eq!(memory.addr(), MEMORY);
    RELEASED.set(RELEASED.get() + 1);
    CL_SUCCESS
}

const CL: OpenCl = OpenCl {
    context_info,
    device_info,
    create_buffer: Some(create),
    extension,
    release,
};

fn device(extensions: &'static str, number: u8) -> Device {
    Device {
        extensions,
        uuid: [number; UUID_BYTES],
    }
}

/// Imports memory of the GPU with UUID 2, 2, ... into a context of these devices.
fn import_into(devices: &[Device]) -> Result<(Imported, i32)> {
    DEVICES.set(devices.to_vec());
    let mut number = -1;
    let file = || {
        let file: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        number = file.as_raw_fd();
        Ok(file)
    };
    // SAFETY: the mock does not use handles or descriptors.
    let imported = unsafe { CL.import(handle(CONTEXT), &[2; UUID_BYTES], file, 4096) }?;
    Ok((imported, number))
}

/// Returns the error of such an import.
fn refused(devices: &[Device]) -> String {
    import_into(devices).unwrap_err().to_string()
}

#[test]
fn a_buffer_is_the_right_devices_of_several() {
    let cpu = device("cl_khr_fp64", 0);
    let (imported, file) = import_into(&[
        device(BOTH, 1),
        cpu.clone(),
        device(BOTH, 2),
        device(BOTH, 3),
    ])
    .unwrap();
    // The third device alone is in the list: another one would have to import the memory, too.
    assert_eq!(PROPERTIES.take(), [0x2051, 3, 0, 0x2060, file as u64, 0]);
    assert_eq!(
        (imported.raw().addr(), imported.device().addr()),
        (MEMORY, 3)
    );
    // The mock has taken the descriptor, and does not close it.
    // SAFETY: the import transferred it, and no other code has it.
    drop(unsafe { OwnedFd::from_raw_fd(file) });
    drop(imported);
    assert_eq!(RELEASED.take(), 1);
}

#[test]
fn a_context_without_the_gpu_is_refused() {
    let error = refused(&[device(BOTH, 1), device("cl_khr_fp64", 2)]);
    assert!(
        error.contains("another GPU") && error.contains("no cl_khr_external_memory_opaque_fd"),
        "{error}"
    );
    assert!(refused(&[]).contains("no device"));
    assert!(PROPERTIES.take().is_empty(), "an import was tried");
}

#[test]
fn devices_that_do_not_say_who_they_are() {
    let silent = device(IMPORT, 1);
    // A single device can be tried.
    let (imported, file) = import_into(std::slice::from_ref(&silent)).unwrap();
    // SAFETY: as above.
    drop((imported, unsafe { OwnedFd::from_raw_fd(file) }));
    // One of several is not guessed at, but a device that says it is the GPU is taken.
    assert!(refused(&[silent.clone(), silent.clone()]).contains("which GPU"));
    let (imported, file) = import_into(&[silent, device(BOTH, 2)]).unwrap();
    assert_eq!(PROPERTIES.take()[1], 2);
    // SAFETY: as above.
    drop((imported, unsafe { OwnedFd::from_raw_fd(file) }));
}
