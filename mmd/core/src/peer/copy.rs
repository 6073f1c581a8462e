//! Copies between the board's memory and a peer's.

use super::address::Place;
use super::opencl::{Kept, Notify, OpenCl, cl_event};
use super::{PeerMemory, Peers};
use crate::board::gate::{Job, Pass, WAITING};
use crate::code::{
    CL_BOARD_CLOSED_PEERLANE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    CL_INTERNAL_ERROR_PEERLANE, CL_INVALID_OPERATION, CL_INVALID_PEER_MEMORY_PEERLANE,
    CL_INVALID_VALUE, CL_OUT_OF_RESOURCES, CL_SUCCESS, code, gave, refused,
};
use crate::end::{self, Owed, Promise};
use crate::messages::{guarded, say};
use crate::threads::spawn;
use peerlane_host::{Direction, Region, Request};
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Bits of an address without the runtime's own bits: 63 and 62 are the compiler's, 61 that of memory by pointers, 60
/// to 54 the device (`acl_mem.h` and `acl_device_binary`, intel/fpga-runtime-for-opencl v2025.0).
const ADDRESS: u64 = (1 << 54) - 1;

/// A copy whose parameters were checked.
#[derive(Debug)]
pub(crate) struct Copy {
    direction: Direction,
    memory: Arc<PeerMemory>,
    offset: u64,
    fpga: u64,
    length: u64,
}

/// Makes a copy again, with the current place of its buffer.
pub(crate) type Again = Box<dyn FnOnce() -> Result<Copy, c_int> + Send>;

/// Receiver of the report of a copy's end.
pub(crate) enum Told {
    /// Released in this order: the context may be the board's last.
    Event {
        event: Kept,
        _buffer: Kept,
        _context: Kept,
    },
    Callback {
        function: Notify,
        /// The pointer's address, exposed.
        user: usize,
    },
}

impl Told {
    pub(crate) fn callback(function: Notify, user: *mut c_void) -> Self {
        Self::Callback {
            function,
            user: user.expose_provenance(),
        }
    }

    /// Reports the end at the process's end, if the runtime is there, and releases nothing.
    fn tell_late(self, opencl: &OpenCl, status: c_int) {
        if let Self::Event { event, .. } = &self {
            opencl.complete(event, status);
        }
        std::mem::forget(self);
    }

    /// Reports the end. No lock of ours is held, and the board is not used any more.
    pub(crate) fn tell(self, opencl: &OpenCl, status: c_int) {
        match self {
            Self::Event { event, .. } => opencl.complete(&event, status),
            Self::Callback { function, user } => {
                // SAFETY: the caller of the copy has promised that it can be called in this way.
                let call = || unsafe { function(status, with_exposed_provenance_mut(user)) };
                end::call(false, call);
            }
        }
    }
}

impl Copy {
    /// Makes a copy of bytes at an offset of a buffer, or of bytes from an address on.
    ///
    /// # Errors
    /// The code of the reason why it cannot be copied.
    pub(crate) fn new(
        direction: Direction,
        memory: &Arc<PeerMemory>,
        offset: usize,
        (place, buffer_offset): (Place, usize),
        length: usize,
    ) -> Result<Self, c_int> {
        let (offset, length) = (offset as u64, length as u64);
        let inside = |first: u64, bytes: u64| {
            (first.checked_add(length)).is_some_and(|behind| behind <= bytes)
        };
        let buffer_offset = buffer_offset as u64;
        for (what, first, bytes) in [
            ("peer memory", offset, memory.length),
            ("buffer", buffer_offset, place.bytes),
        ] {
            if !inside(first, bytes) {
                let cause = format_args!(
                    "{length} bytes at offset {first} are not all in the {what}, of {bytes} bytes"
                );
                return Err(refused(CL_INVALID_VALUE, cause));
            }
        }
        if !memory.permits(direction) {
            let cause = match direction {
                Direction::FromFpga => "the memory was registered for reads by the board only",
                Direction::ToFpga => "the memory was registered for writes by the board only",
            };
            return Err(refused(CL_INVALID_OPERATION, cause));
        }
        let copy = Self {
            direction,
            memory: Arc::clone(memory),
            offset,
            fpga: (place.address & ADDRESS) + buffer_offset,
            length,
        };
        copy.check()?;
        Ok(copy)
    }

    /// Takes the right to use the board.
    fn enter(&self) -> Result<Pass, c_int> {
        let passed = self.memory.gate.enter();
        let name = &self.memory.name;
        passed.map_err(|code| refused(code, format_args!("{name}: the copy does not begin")))
    }

    /// Returns the transfer that it is, in the memory's region.
    fn request<'a>(&self, region: &'a Region) -> Request<'a> {
        Request {
            direction: self.direction,
            region,
            offset: self.memory.first + self.offset,
            fpga_address: self.fpga,
            length: self.length,
            piece: None,
        }
    }

    /// Checks that the program holds the FPGA memory, and that the board can write such bytes of the peer's.
    fn check(&self) -> Result<(), c_int> {
        let pass = self.enter()?;
        let dma = pass.board()?.dma();
        // The bytes lie in the process's memory.
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        let checked = (dma.check(self.fpga, length)).and_then(|()| match self.memory.region() {
            Some(region) if self.length > 0 => dma.check_peer(&self.request(&region)),
            // The copy itself reports that.
            _ => Ok(()),
        });
        checked.map_err(|error| self.told(&error))
    }

    /// Moves the bytes. They have arrived when this returns successfully.
    fn run(&self) -> Result<(), c_int> {
        let pass = self.enter()?;
        let region = self.memory.region().ok_or_else(|| {
            let cause = "the board of this memory was closed";
            refused(CL_INVALID_PEER_MEMORY_PEERLANE, cause)
        })?;
        if self.length == 0 {
            return Ok(());
        }
        let dma = pass.board()?.dma();
        let goes_on = || pass.check().is_ok();
        let moved = dma.peer(&self.request(&region), goes_on);
        moved.map_err(|error| match pass.check() {
            Ok(()) => self.told(&error),
            // The error of the transfer is a consequence.
            Err(why) => why,
        })?;
        // OpenCL has saved the bytes from before the copy, or had not restored the current ones.
        pass.check_memory()
    }

    /// Moves the bytes and returns the status, also after a panic.
    pub(crate) fn status(&self) -> c_int {
        guarded(CL_INTERNAL_ERROR_PEERLANE, || {
            self.run().err().unwrap_or(CL_SUCCESS)
        })
    }

    fn told(&self, error: &peerlane_host::Error) -> c_int {
        let Self { offset, fpga, .. } = self;
        say(format_args!(
            "{}: a copy at FPGA address {fpga:#x} and offset {offset:#x} of a peer's memory: {error}. {}",
            self.memory.name,
            error.hint()
        ));
        code(error)
    }
}

/// Returns the error of a wait for events.
pub(crate) fn not_waited(error: c_int) -> c_int {
    match error {
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => {
            refused(error, "an event that the copy waited for has failed")
        }
        error => gave("clWaitForEvents")(error),
    }
}

impl Peers {
    /// Begins a copy whose end is reported to `told`.
    ///
    /// # Errors
    /// It does not begin, and nothing is reported.
    pub(crate) fn begin(&self, copy: Copy, told: Told) -> Result<(), c_int> {
        let opencl = Arc::clone(&self.opencl);
        let gate = Arc::clone(&copy.memory.gate);
        let (lane, owed) = (copy.direction as usize, Owed::new());
        let job: Job = Box::new(move || {
            let status = copy.status();
            drop(copy);
            end::tell(owed, || told.tell(&opencl, status));
        });
        let name = ["peerlane-peer-w", "peerlane-peer-r"][lane];
        let given = gate.give(lane, job, || {
            let (sender, receiver) = channel::<Job>();
            let body = move || {
                for job in receiver {
                    guarded((), job);
                }
            };
            spawn(name, body).is_ok().then_some(sender)
        });
        let cause = "the copy does not begin: its board was closed, or it has no thread";
        given.map_err(|code| refused(code, cause))
    }

    /// Begins a copy after events. `again` makes the copy once more when they have ended: the buffer may have moved to
    /// another place by then.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin).
    ///
    /// # Safety
    /// They are `cl_event`s.
    pub(crate) unsafe fn begin_behind(
        &self,
        copy: &Copy,
        events: &[cl_event],
        again: Again,
        told: Told,
    ) -> Result<(), c_int> {
        let opencl = Arc::clone(&self.opencl);
        let gate = Arc::clone(&copy.memory.gate);
        // A copy that waits for a thread of another one might wait for an event that the other one waits for.
        let seat = gate.seat().map_err(|code| {
            let cause = format_args!("{WAITING} copies already wait for events");
            refused(code, cause)
        })?;
        // SAFETY: by the promise.
        let keep =
            |event: &cl_event| unsafe { opencl.keep_event(*event) }.map_err(gave("clRetainEvent"));
        let events: Vec<Kept> = events.iter().map(keep).collect::<Result<_, _>>()?;
        let teller = Arc::clone(&opencl);
        let promise = Promise::new(Box::new(move |status, late| match late {
            true => told.tell_late(&teller, status),
            false => told.tell(&teller, status),
        }));
        let promise = promise.map_err(|_| {
            let cause = "the copy does not begin: the program is ending";
            refused(CL_BOARD_CLOSED_PEERLANE, cause)
        })?;
        let body = move || {
            let list: Vec<cl_event> = events.iter().map(Kept::object).collect();
            // SAFETY: they are kept.
            let waited = unsafe { opencl.wait(&list) };
            // At the program's end the runtime may be gone.
            let Some((tell, owed)) = promise.keep() else {
                std::mem::forget((events, again));
                return;
            };
            // Calls of the runtime that this causes are not those of a program that goes on after its end has begun.
            end::tell(owed, || {
                drop(events);
                let make = || match gate.is_closed() {
                    // OpenCL has closed the board that the buffer was on.
                    true => Err(CL_BOARD_CLOSED_PEERLANE),
                    false => again(),
                };
                let copied = || {
                    let copy = waited.map_err(not_waited).and_then(|()| make());
                    copy.map_or_else(|status| status, |copy| copy.status())
                };
                let status = guarded(CL_INTERNAL_ERROR_PEERLANE, copied);
                drop(seat);
                tell(status, false);
            });
        };
        match spawn("peerlane-peer-e", move || guarded((), body)) {
            Ok(_) => Ok(()),
            Err(error) => {
                let cause = format_args!("no thread can be started for a copy: {error}");
                Err(refused(CL_OUT_OF_RESOURCES, cause))
            }
        }
    }
}
