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
use peerlane_opencl_api::sys::{
    self, CL_CONTEXT_DEVICES, CL_DEVICE_EXTENSIONS, CL_DEVICE_PLATFORM, CL_DEVICE_UUID_KHR,
    CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, CL_MEM_DEVICE_HANDLE_LIST_END_KHR,
    CL_MEM_DEVICE_HANDLE_LIST_KHR, CL_MEM_READ_WRITE, CL_SUCCESS, CL_UUID_SIZE_KHR as UUID_BYTES,
};
use peerlane_opencl_api::{Failed, Known, Loader, bytes, check, handles};
use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// `cl_context`, `cl_mem`, `cl_command_queue`, `cl_device_id`: opaque pointers.
pub type Handle = peerlane_opencl_api::Handle;

/// A type of handle is also a property of `clCreateBufferWithProperties`.
const OPAQUE_FD: u64 = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR as u64;

const IMPORT: &str = "cl_khr_external_memory_opaque_fd";

type HandOver = Known<sys::clEnqueueAcquireExternalMemObjectsKHR_t>;

peerlane_opencl_api::functions! {
    /// The functions of OpenCL that an import needs.
    OpenCl {
        context_info: clGetContextInfo_t,
        device_info: clGetDeviceInfo_t,
        extension: clGetExtensionFunctionAddressForPlatform_t,
        release: clReleaseMemObject_t,
        // Of OpenCL 3.0.
        ? create_buffer: clCreateBufferWithProperties_t,
    }
}

/// An OpenCL buffer over a [`GpuBuffer`]. The memory lives as long as either.
#[derive(Debug)]
pub struct Imported {
    memory: Handle,
    device: Handle,
    acquire: HandOver,
    release: HandOver,
    give_back: Known<sys::clReleaseMemObject_t>,
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
    /// Returns the machine's OpenCL, which is loaded once.
    fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Option<OpenCl>> = OnceLock::new();
        FOUND
            .get_or_init(|| Self::find(&Loader::open()?).ok())
            .as_ref()
            .ok_or_else(|| lacks("there is no libOpenCL.so.1 on this machine"))
    }
}

impl From<Failed> for Error {
    fn from(Failed { call, code }: Failed) -> Self {
        Self::OpenClCall { call, code }
    }
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
            OPAQUE_FD,
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
        let devices = handles(&bytes("clGetContextInfo", |room, to, size| {
            // SAFETY: the caller promises the context, and there is so much room.
            unsafe { (self.context_info)(context, CL_CONTEXT_DEVICES, room, to, size) }
        })?);
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
        Ok(bytes("clGetDeviceInfo", |room, to, size| {
            // SAFETY: the caller promises the device, and there is so much room.
            unsafe { (self.device_info)(device, name, room, to, size) }
        })?)
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
        Ok(check("clEnqueueAcquireExternalMemObjectsKHR", code)?)
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
        Ok(check("clEnqueueReleaseExternalMemObjectsKHR", code)?)
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
