//! A library that is linked into the program.

use crate::{Calls, DeviceHandler, InterruptHandler, StatusHandler};
use peerlane_mmd_core::Mmd;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// A library in the process, without symbols.
pub struct InProcess(Mmd);

impl InProcess {
    /// It lives as long as the process, as a library does.
    pub fn keep(mmd: Mmd) -> &'static Self {
        static KEPT: Mutex<Vec<&InProcess>> = Mutex::new(Vec::new());
        let loaded = Box::leak(Box::new(Self(mmd)));
        (KEPT.lock().unwrap_or_else(PoisonError::into_inner)).push(loaded);
        loaded
    }
}

impl std::ops::Deref for InProcess {
    type Target = Mmd;

    fn deref(&self) -> &Mmd {
        &self.0
    }
}

// SAFETY of all calls: by the promise of the trait's functions.
#[allow(clippy::undocumented_unsafe_blocks, reason = "stated above for all")]
impl Calls for InProcess {
    unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { self.0.get_offline_info(id, room, value, returned) }
    }

    unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { self.0.get_info(handle, id, room, value, returned) }
    }

    unsafe fn open(&self, name: *const c_char) -> c_int {
        unsafe { self.0.open(name) }
    }

    fn close(&self, handle: c_int) -> c_int {
        self.0.close(handle)
    }

    unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { self.0.set_interrupt_handler(handle, function, user) }
    }

    unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { (self.0).set_device_interrupt_handler(handle, function, user) }
    }

    unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { self.0.set_status_handler(handle, function, user) }
    }

    unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        to: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { self.0.read(handle, op, length, to, interface, offset) }
    }

    unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        from: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { self.0.write(handle, op, length, from, interface, offset) }
    }

    fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int {
        self.0.copy(handle, op, length, interface, from, to)
    }

    unsafe fn program(&self, handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int {
        unsafe { self.0.program(handle, image, size, mode) }
    }
}
