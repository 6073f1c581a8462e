//! OpenCL buffers over GPU memory that boards reach.
//!
//! OpenCL alone knows a buffer of `clCreateBuffer`: no driver reports where it lies. This module goes the other way
//! round. CUDA makes the memory, and OpenCL takes it by `cl_khr_external_memory_opaque_fd`, so that kernels of OpenCL
//! and the board use the same bytes. No patched driver is needed.
//!
//! ```no_run
//! # fn run(context: *mut std::ffi::c_void) -> Result<(), Box<dyn std::error::Error>> {
//! use peerlane_gpu::{Gpu, opencl};
//!
//! let gpu = Gpu::open(0)?;
//! let buffer = gpu.buffer(1 << 20)?;
//! // SAFETY: `context` is a context of OpenCL's with this GPU.
//! let memory = unsafe { opencl::import(context, &buffer)? };
//! // clSetKernelArg(kernel, 0, size_of::<cl_mem>(), &memory.raw())
//! # Ok(())
//! # }
//! ```
//!
//! Between commands of OpenCL's that use the buffer, and transfers, the buffer is handed over: by
//! `clEnqueueReleaseExternalMemObjectsKHR` before a transfer, and `clEnqueueAcquireExternalMemObjectsKHR` after
//! it ([`Imported::release`], [`Imported::acquire`]; OpenCL Extension Specification, "External memory").

use crate::cuda::{Gpu, GpuBuffer};
use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// `cl_context`, `cl_mem`, `cl_command_queue`, `cl_device_id`: opaque pointers.
pub type Handle = *mut c_void;

// Values of CL/cl.h and CL/cl_ext.h. The list of devices was CL_DEVICE_HANDLE_LIST_KHR, with the same value, in the
// provisional text of cl_khr_external_memory.
const CL_SUCCESS: i32 = 0;
const CL_MEM_READ_WRITE: u64 = 1 << 0;
const CL_CONTEXT_DEVICES: u32 = 0x1081;
const CL_DEVICE_EXTENSIONS: u32 = 0x1030;
const CL_DEVICE_PLATFORM: u32 = 0x1031;
const CL_DEVICE_UUID_KHR: u32 = 0x106A;
const CL_MEM_DEVICE_HANDLE_LIST_KHR: u64 = 0x2051;
const CL_MEM_DEVICE_HANDLE_LIST_END_KHR: u64 = 0;
const CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR: u64 = 0x2060;
/// Bytes of a UUID (`CL_UUID_SIZE_KHR`).
const UUID_BYTES: usize = 16;

const IMPORT: &str = "cl_khr_external_memory_opaque_fd";

pub(crate) type GetInfo = unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
type CreateBuffer =
    unsafe extern "C" fn(Handle, *const u64, u64, usize, *mut c_void, *mut i32) -> Handle;
type Extension = unsafe extern "C" fn(Handle, *const c_char) -> *mut c_void;
type HandOver =
    unsafe extern "C" fn(Handle, u32, *const Handle, u32, *const Handle, *mut Handle) -> i32;
type Release = unsafe extern "C" fn(Handle) -> i32;

/// The functions of OpenCL that an import needs.
struct OpenCl {
    context_info: GetInfo,
    device_info: GetInfo,
    /// Of OpenCL 3.0.
    create_buffer: Option<CreateBuffer>,
    extension: Extension,
    release: Release,
}

/// An OpenCL buffer over a [`GpuBuffer`]. The memory lives as long as either.
#[derive(Debug)]
pub struct Imported {
    memory: Handle,
    device: Handle,
    acquire: HandOver,
    release: HandOver,
    give_back: Release,
}

// SAFETY: a cl_mem may be used by any thread, and by several at once (OpenCL API 3.0, "Thread safety"); so may
// the functions.
unsafe impl Send for Imported {}
// SAFETY: as above.
unsafe impl Sync for Imported {}

/// Makes the error of a part that OpenCL lacks.
fn lacks(reason: impl Into<String>) -> Error {
    Error::OpenCl {
        reason: reason.into(),
    }
}

impl OpenCl {
    /// Returns the machine's OpenCL. It is loaded once and stays: platforms do not survive an unload.
    fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Option<OpenCl>> = OnceLock::new();
        FOUND
            .get_or_init(Self::load)
            .as_ref()
            .ok_or_else(|| lacks("there is no libOpenCL.so.1 on this machine"))
    }

    fn load() -> Option<Self> {
        // SAFETY: the loader of OpenCL platforms, whose initialisation is its own.
        let library = unsafe { Library::new("libOpenCL.so.1") }.ok()?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of CL/cl.h, and the library stays.
        unsafe {
            Some(Self {
                context_info: *library.get(b"clGetContextInfo\0").ok()?,
                device_info: *library.get(b"clGetDeviceInfo\0").ok()?,
                create_buffer: (library.get(b"clCreateBufferWithProperties\0").ok())
                    .map(|symbol| *symbol),
                extension: *library
                    .get(b"clGetExtensionFunctionAddressForPlatform\0")
                    .ok()?,
                release: *library.get(b"clReleaseMemObject\0").ok()?,
            })
        }
    }
}

/// Returns the bytes of an information function.
///
/// # Safety
/// `get` is a function of OpenCL's with this form, and `of` a handle that it takes.
pub(crate) unsafe fn info(
    get: GetInfo,
    call: &'static str,
    of: Handle,
    name: u32,
) -> Result<Vec<u8>> {
    let mut size = 0;
    // SAFETY: without a place for the value the function gives the size.
    let code = unsafe { get(of, name, 0, null_mut(), &raw mut size) };
    check(call, code)?;
    let mut bytes = vec![0; size];
    // SAFETY: the place is as long as it says.
    let code = unsafe { get(of, name, size, bytes.as_mut_ptr().cast(), null_mut()) };
    check(call, code)?;
    Ok(bytes)
}

/// Returns the error of a call, if its result is one.
pub(crate) fn check(call: &'static str, code: i32) -> Result<()> {
    match code {
        CL_SUCCESS => Ok(()),
        code => Err(Error::OpenClCall { call, code }),
    }
}

/// Takes handles from an information function's bytes.
fn handles(bytes: &[u8]) -> Vec<Handle> {
    let words = bytes.chunks_exact(size_of::<usize>());
    let words = words.filter_map(|word| word.try_into().ok());
    words
        .map(|word| std::ptr::with_exposed_provenance_mut(usize::from_ne_bytes(word)))
        .collect()
}

/// Makes an OpenCL buffer of a [`GpuBuffer`], of its [`size`](GpuBuffer::size) bytes. It is a buffer of the context's
/// device that is the buffer's GPU, and of no other device of the context.
///
/// # Safety
/// `context` is a living context of the machine's OpenCL (`libOpenCL.so.1`).
///
/// # Errors
/// [`Error::OpenCl`] if OpenCL lacks a part; [`Error::NotShareable`], [`Error::OpenClCall`], [`Error::Cuda`].
pub unsafe fn import(context: Handle, buffer: &GpuBuffer) -> Result<Imported> {
    let cl = OpenCl::get()?;
    let uuid = buffer.gpu().uuid()?;
    // SAFETY: the caller promises the context, and the descriptor is that of an allocation of this size.
    unsafe { cl.import(context, &uuid, || buffer.handle(), buffer.size() as usize) }
}

/// Returns the GPU of a context: the first of CUDA's that is one of its devices and takes memory of [`import`]'s.
///
/// # Safety
/// As [`import`].
///
/// # Errors
/// [`Error::OpenCl`] if it has no such GPU; [`Error::NoCuda`], [`Error::OldCuda`], [`Error::OpenClCall`],
/// [`Error::Cuda`].
pub unsafe fn gpu_of(context: Handle) -> Result<Gpu> {
    let count = Gpu::count()?;
    let cl = OpenCl::get()?;
    let mut error = lacks("CUDA has no GPU");
    for ordinal in 0..count {
        let gpu = Gpu::open(ordinal)?;
        // SAFETY: the caller promises the context.
        match unsafe { cl.choose(context, &gpu.uuid()?) } {
            Ok(_) => return Ok(gpu),
            Err(another) => error = another,
        }
    }
    Err(error)
}

/// Whether a device can take memory of a GPU.
#[derive(Debug, PartialEq, Eq)]
enum Fit {
    /// It is the GPU.
    Same,
    /// It does not say which GPU it is.
    Unknown,
    /// It cannot, with the reason.
    No(String),
}

impl OpenCl {
    /// Makes a buffer of memory with a file descriptor, for the context's device that is the GPU with this UUID.
    ///
    /// # Safety
    /// `context` is a living context of this OpenCL; the descriptor is that of an allocation of this size.
    unsafe fn import(
        &self,
        context: Handle,
        uuid: &[u8; UUID_BYTES],
        file: impl FnOnce() -> Result<OwnedFd>,
        size: usize,
    ) -> Result<Imported> {
        let create = self.create_buffer;
        let create = create.ok_or_else(|| lacks("its loader is older than OpenCL 3.0"))?;
        // SAFETY: the caller promises the context.
        let device = unsafe { self.choose(context, uuid)? };
        // SAFETY: the device is one of the context's.
        let platform = unsafe { self.device(device, CL_DEVICE_PLATFORM)? };
        let platform = handles(&platform).first().copied().unwrap_or(null_mut());
        let hand_over = |name: &'static CStr| {
            // SAFETY: the platform is the device's, and the name ends with 0.
            let function = unsafe { (self.extension)(platform, name.as_ptr()) };
            match function.is_null() {
                true => Err(lacks(format!(
                    "its platform has no {}",
                    name.to_string_lossy()
                ))),
                // SAFETY: the function of this name has this form (CL/cl_ext.h).
                false => Ok(unsafe { std::mem::transmute::<*mut c_void, HandOver>(function) }),
            }
        };
        let acquire = hand_over(c"clEnqueueAcquireExternalMemObjectsKHR")?;
        let release = hand_over(c"clEnqueueReleaseExternalMemObjectsKHR")?;

        let file = file()?;
        let properties = [
            // Without the list all devices of the context have to be able to import it ("clCreateBufferWithProperties",
            // CL_INVALID_DEVICE), and other GPUs cannot.
            CL_MEM_DEVICE_HANDLE_LIST_KHR,
            device.expose_provenance() as u64,
            CL_MEM_DEVICE_HANDLE_LIST_END_KHR,
            CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
            file.as_raw_fd() as u64,
            0,
        ];
        let mut code = CL_SUCCESS;
        // SAFETY: both lists end with 0, the device is one of the context's, and the caller promises the descriptor.
        let memory = unsafe {
            create(
                context,
                properties.as_ptr(),
                CL_MEM_READ_WRITE,
                size,
                null_mut(),
                &raw mut code,
            )
        };
        check("clCreateBufferWithProperties", code)?;
        // An import that succeeds takes the descriptor ("External memory", importing by file descriptor).
        let _ = file.into_raw_fd();
        Ok(Imported {
            memory,
            device,
            acquire,
            release,
            give_back: self.release,
        })
    }

    /// Finds the context's device that is the GPU with this UUID.
    ///
    /// # Safety
    /// `context` is a living context of this OpenCL.
    unsafe fn choose(&self, context: Handle, uuid: &[u8; UUID_BYTES]) -> Result<Handle> {
        const CALL: &str = "clGetContextInfo";
        // SAFETY: the caller promises the context.
        let devices = unsafe { info(self.context_info, CALL, context, CL_CONTEXT_DEVICES)? };
        let devices = handles(&devices);
        let mut reasons = Vec::new();
        for &device in &devices {
            // SAFETY: the device is one of the context's.
            match unsafe { self.fits(device, uuid) } {
                Ok(Fit::Same) => return Ok(device),
                // An import on another device fails.
                Ok(Fit::Unknown) if devices.len() == 1 => return Ok(device),
                Ok(Fit::Unknown) => {
                    reasons.push("devices of the context do not say which GPU they are".to_string())
                }
                Ok(Fit::No(reason)) => reasons.push(reason),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        reasons.dedup();
        Err(lacks(match reasons.is_empty() {
            true => "the context has no device".into(),
            false => reasons.join("; "),
        }))
    }

    /// Returns the bytes of a device's property.
    ///
    /// # Safety
    /// `device` is a device of this OpenCL.
    unsafe fn device(&self, device: Handle, name: u32) -> Result<Vec<u8>> {
        // SAFETY: the caller promises the device.
        unsafe { info(self.device_info, "clGetDeviceInfo", device, name) }
    }

    /// Whether a device can take memory of the GPU with this UUID.
    ///
    /// # Safety
    /// `device` is a device of this OpenCL.
    unsafe fn fits(&self, device: Handle, uuid: &[u8; UUID_BYTES]) -> Result<Fit> {
        // SAFETY: the caller promises the device.
        let extensions = unsafe { self.device(device, CL_DEVICE_EXTENSIONS)? };
        let extensions = String::from_utf8_lossy(&extensions);
        let has = |name| extensions.split([' ', '\0']).any(|word| word == name);
        if !has(IMPORT) {
            return Ok(Fit::No(format!("a device of the context has no {IMPORT}")));
        }
        if !has("cl_khr_device_uuid") {
            return Ok(Fit::Unknown);
        }
        // SAFETY: as above.
        let same = unsafe { self.device(device, CL_DEVICE_UUID_KHR)? } == uuid;
        Ok(match same {
            true => Fit::Same,
            false => Fit::No("a device of the context is another GPU".into()),
        })
    }
}

impl Imported {
    /// Returns the `cl_mem`, which lives as long as this unless it is retained.
    pub fn raw(&self) -> Handle {
        self.memory
    }

    /// Returns the context's device that has the buffer, a `cl_device_id`: command queues that use it are this
    /// device's.
    pub fn device(&self) -> Handle {
        self.device
    }

    /// Lets commands of OpenCL's that are enqueued after this use the buffer: after a transfer has ended.
    ///
    /// # Safety
    /// `queue` is a living command queue of the buffer's context and [`device`](Self::device).
    ///
    /// # Errors
    /// [`Error::OpenClCall`].
    pub unsafe fn acquire(&self, queue: Handle) -> Result<()> {
        // SAFETY: the caller promises the queue; the list has one buffer, and there are no events.
        let code =
            unsafe { (self.acquire)(queue, 1, &raw const self.memory, 0, null(), null_mut()) };
        check("clEnqueueAcquireExternalMemObjectsKHR", code)
    }

    /// Hands the buffer over to transfers that begin when the commands of the queue have ended (`clFinish`).
    ///
    /// # Safety
    /// `queue` is a living command queue of the buffer's context and [`device`](Self::device).
    ///
    /// # Errors
    /// [`Error::OpenClCall`].
    pub unsafe fn release(&self, queue: Handle) -> Result<()> {
        // SAFETY: as in `acquire`.
        let code =
            unsafe { (self.release)(queue, 1, &raw const self.memory, 0, null(), null_mut()) };
        check("clEnqueueReleaseExternalMemObjectsKHR", code)
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        // SAFETY: the buffer was made by an import, and this releases its one reference.
        let _ = unsafe { (self.give_back)(self.memory) };
    }
}

#[cfg(test)]
mod tests;
