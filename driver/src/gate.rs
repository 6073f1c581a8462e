// SPDX-License-Identifier: GPL-2.0

//! A gate between open files and a device that may be unbound at any moment.

use kernel::{
    device::Bound,
    new_condvar, new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, CondVar, Mutex},
};

struct State {
    open: bool,
    /// The board is stopped, and cannot reach any memory.
    over: bool,
    inside: usize,
}

/// Lets file operations in while the device is bound, and unbind wait until they have left.
#[pin_data]
pub(crate) struct Gate {
    device: ARef<pci::Device>,
    #[pin]
    state: Mutex<State>,
    #[pin]
    left: CondVar,
}

/// Proof that the device is bound, as long as it lives.
pub(crate) struct Inside<'a>(&'a Gate);

impl Gate {
    /// Makes an open gate of a device that is bound.
    pub(crate) fn new(device: ARef<pci::Device>) -> impl PinInit<Self> {
        pin_init!(Self {
            device,
            state <- new_mutex!(State { open: true, over: false, inside: 0 }),
            left <- new_condvar!(),
        })
    }

    /// Enters the gate. A caller must not wait for the board, or for a user, inside.
    pub(crate) fn enter(&self) -> Result<Inside<'_>> {
        let mut state = self.state.lock();
        if !state.open {
            return Err(ENODEV);
        }
        state.inside += 1;
        Ok(Inside(self))
    }

    /// Lets no more threads in.
    pub(crate) fn shut(&self) {
        self.state.lock().open = false;
    }

    /// Waits until no thread is inside of the gate, which is shut.
    pub(crate) fn empty(&self) {
        let mut state = self.state.lock();
        while state.inside > 0 {
            self.left.wait(&mut state);
        }
    }

    /// Records that the board is stopped permanently, and cannot reach any memory.
    pub(crate) fn end(&self) {
        self.state.lock().over = true;
        self.left.notify_all();
    }

    /// Waits for [`end`](Self::end) if the gate is shut. A caller inside of the gate would wait for itself.
    pub(crate) fn wait_for_the_end(&self) {
        let mut state = self.state.lock();
        while !state.open && !state.over {
            self.left.wait(&mut state);
        }
    }

    /// Returns the device, bound or not.
    pub(crate) fn device(&self) -> &pci::Device {
        &self.device
    }
}

impl Inside<'_> {
    /// Returns the device.
    pub(crate) fn device(&self) -> &kernel::device::Device<Bound> {
        let device: &kernel::device::Device = self.0.device.as_ref();
        // SAFETY: unbind waits for the gate before it returns, and the gate for us.
        unsafe { device.as_bound() }
    }

    /// Whether a thread waits until all others have left.
    pub(crate) fn is_closing(&self) -> bool {
        !self.0.state.lock().open
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.inside -= 1;
        if state.inside == 0 {
            self.0.left.notify_all();
        }
    }
}
