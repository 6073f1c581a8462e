//! What the FPGA runtime for OpenCL does with a board library, for tests: its calls in its order, with its
//! values, from its threads.
//!
//! The runtime itself is not here. What it calls was logged and read in intel/fpga-runtime-for-opencl v2025.0.
//!
//! - [`Runtime`] makes the calls to whatever has them ([`Calls`]): a library that was found and loaded as the
//!   runtime does it ([`Library`]), or one in the process.
//! - [`checks`] are what every board with kernels must do.
//! - The program `peerlane-loader` does it line by line, for who watches it from outside.

pub mod checks;
mod library;
mod runtime;

pub use library::{Library, LoadError};
pub use runtime::{
    ARGUMENTS, CSR, DONE, FINISH, Heard, LIMIT, PRINTF, Runtime, STALLED, START, Shared, UNSTALL,
    Version, WORK, int,
};

use std::ffi::{c_char, c_int, c_void};

/// `aocl_mmd_interrupt_handler_fn`.
pub type InterruptHandler = unsafe extern "C" fn(c_int, *mut c_void);

/// `aocl_mmd_status_handler_fn`.
pub type StatusHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int);

/// `aocl_mmd_device_interrupt_handler_fn`.
pub type DeviceHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

/// The functions of `aocl_mmd.h` that a runtime calls. Their names are without `aocl_mmd_`.
#[allow(
    clippy::missing_safety_doc,
    reason = "it is that of the interface, said below"
)]
pub trait Calls: Send + Sync {
    /// # Safety
    /// `value` is NULL or good for writes of `room` bytes, `returned` is NULL or good for one of a number.
    unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int;

    /// # Safety
    /// As [`get_offline_info`](Self::get_offline_info).
    unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int;

    /// # Safety
    /// `name` is a string that ends with a 0.
    unsafe fn open(&self, name: *const c_char) -> c_int;

    /// Ends the use of a board.
    fn close(&self, handle: c_int) -> c_int;

    /// # Safety
    /// The function can be called with the pointer from any thread until another one is set.
    unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler).
    unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler).
    unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// `to` is good for writes of `length` bytes until the transfer has ended, and nobody else uses them. `op`
    /// is what the status handler may be called with.
    unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        to: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int;

    /// # Safety
    /// `from` is good for reads of `length` bytes until the transfer has ended, and nobody writes them. `op` is
    /// what the status handler may be called with.
    unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        from: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int;

    /// Copies the board's memory.
    fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int;

    /// `program`, or `reprogram`, which has no mode: whichever the library has for its runtimes.
    ///
    /// # Safety
    /// `image` is good for reads of `size` bytes.
    unsafe fn program(&self, handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int;
}
