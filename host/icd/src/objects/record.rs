//! The copy of an event, as its object keeps it.

use super::Handle;
use std::sync::atomic::{AtomicI32, AtomicU64};

/// A copy, with the information that its event reports.
#[derive(Debug)]
pub(crate) struct Record {
    /// The queue's handle, which the event's object keeps; exposed.
    pub(crate) queue: usize,
    /// Queue and context at the vendor. Events of commands keep these; but this one is a user event there, and some
    /// vendors' do not even keep their context (`acl_event.cpp` of the open FPGA runtime).
    pub(crate) _kept: [VendorsObject; 2],
    /// Status at the copy's end; of a command under way before.
    pub(crate) ended: AtomicI32,
    pub(crate) profiled: bool,
    /// Times of enqueue, submission, start and end, in nanoseconds; 0: not yet.
    pub(crate) times: [AtomicU64; 4],
}

/// A reference to an object of the vendor's; exposed, 0 for none.
#[derive(Debug)]
pub(crate) struct VendorsObject {
    pub(crate) raw: usize,
    pub(crate) release: Option<Call>,
}

pub(crate) type Call = unsafe extern "C" fn(Handle) -> i32;

impl Drop for VendorsObject {
    fn drop(&mut self) {
        if let (1.., Some(release)) = (self.raw, self.release) {
            // SAFETY: a reference that this one has.
            unsafe { release(std::ptr::with_exposed_provenance_mut(self.raw)) };
        }
    }
}
