//! Information about the events of copies. Such an event is a user event at the vendor's, so that all of the vendor's
//! functions take it; a program sees it as the event of a command.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicI32, AtomicU64,
    Ordering::{Acquire, Release},
};

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use peerlane_opencl_api::sys::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE,
    CL_INVALID_EVENT, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_PROFILING_COMMAND_COMPLETE,
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_INFO_NOT_AVAILABLE, CL_RUNNING, CL_SUCCESS,
};

use super::code::COMMAND_COPY_BUFFER;
use super::worker;
pub(crate) use crate::objects::record::Record;
use crate::objects::record::{Call, VendorsObject};
use crate::objects::{self, Handle, Kind};
use crate::{offered, vendor};

/// A status that no ended command has.
const UNDER_WAY: i32 = 1;

impl VendorsObject {
    /// Retains queue and context, in the order in which they are to be released.
    fn queue_and_context(queue: Handle, context: Handle) -> [Self; 2] {
        let vendor = vendor::vendor();
        let keep = |raw: Handle, retain: Option<Call>, release| {
            // SAFETY: a handle of the vendor's or null, which it refuses.
            let kept = retain.is_some_and(|retain| unsafe { retain(raw) } == CL_SUCCESS);
            let raw = if kept { raw.expose_provenance() } else { 0 };
            Self { raw, release }
        };
        [
            keep(
                objects::raw(queue, Kind::Queue),
                vendor.clRetainCommandQueue,
                vendor.clReleaseCommandQueue,
            ),
            keep(
                objects::raw(context, Kind::Context),
                vendor.clRetainContext,
                vendor.clReleaseContext,
            ),
        ]
    }
}

/// Time that a vendor may need to finish with an event whose last reference was released in a callback.
const LINGERS: Duration = Duration::from_millis(100);

/// Keeps a record for a while: the vendor is calling a callback of its event, and must not lose queue and context
/// during that call.
pub(crate) fn keep_a_while(record: Option<Arc<Record>>) {
    if let Some(record) = record {
        worker::let_go_later(record, LINGERS);
    }
}

/// The last copy of each queue, by its handle's number.
static LAST: Mutex<BTreeMap<usize, Weak<Record>>> = Mutex::new(BTreeMap::new());

/// Makes a copy the last one of a queue. Returns the copy before it if that is in progress.
pub(super) fn follow(queue: Handle, record: &Arc<Record>) -> Option<Arc<Record>> {
    let before = {
        let mut last = LAST.lock();
        last.retain(|_, record| record.strong_count() != 0);
        last.insert(queue.addr(), Arc::downgrade(record))
    };
    let before = before.and_then(|before| before.upgrade());
    before.filter(|before| before.ended().is_none())
}

/// Moments whose times a [`Record`] has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
    Queued,
    Submitted,
    Started,
    Ended,
}

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`, the clock by which the open FPGA runtime measures
/// (`acl_hal_mmd_get_timestamp`, `acl_hal_mmd.cpp`).
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: there is room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Record {
    /// Makes the record of a copy that is being enqueued.
    pub(super) fn new(queue: Handle, context: Handle, profiled: bool) -> Self {
        let this = Self {
            queue: queue.expose_provenance(),
            _kept: VendorsObject::queue_and_context(queue, context),
            ended: AtomicI32::new(UNDER_WAY),
            profiled,
            times: [const { AtomicU64::new(0) }; 4],
        };
        this.is(Moment::Queued);
        this
    }

    /// Records that the moment is now.
    pub(super) fn is(&self, moment: Moment) {
        self.times[moment as usize].store(now(), Release);
    }

    /// Records the copy's status before its end is reported.
    pub(super) fn has_ended(&self, status: i32) {
        self.ended.store(status, Release);
    }

    /// Returns the copy's status at its end, 0 or a negative error; `None` before.
    pub(super) fn ended(&self) -> Option<i32> {
        let ended = self.ended.load(Acquire);
        (ended != UNDER_WAY).then_some(ended)
    }

    fn at(&self, moment: Moment) -> u64 {
        self.times[moment as usize].load(Acquire)
    }
}

/// Returns the execution status of the vendor's user event.
fn vendors_status(event: Handle) -> Result<i32, i32> {
    let vendor = vendor::vendor()
        .clGetEventInfo
        .ok_or(CL_INVALID_OPERATION)?;
    let mut status = 0i32;
    let to = (&raw mut status).cast();
    let raw = objects::raw(event, Kind::Event);
    // SAFETY: a handle of the vendor's or null, and room for the answer.
    match unsafe {
        vendor(
            raw,
            CL_EVENT_COMMAND_EXECUTION_STATUS,
            size_of::<i32>(),
            to,
            null_mut(),
        )
    } {
        0 => Ok(status),
        error => Err(error),
    }
}

/// `clGetEventInfo` of a copy's event; `None` where the vendor's answer is right.
///
/// # Safety
/// As the specification has it.
pub(crate) unsafe fn event_info(
    event: Handle,
    name: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> Option<i32> {
    let record = objects::record(event)?;
    // SAFETY: the caller's promise.
    let give = |answer: &[u8]| unsafe { offered::give(answer, size, value, size_ret) };
    match name {
        CL_EVENT_COMMAND_QUEUE => Some(give(&record.queue.to_ne_bytes())),
        CL_EVENT_COMMAND_TYPE => Some(give(&COMMAND_COPY_BUFFER.to_ne_bytes())),
        CL_EVENT_COMMAND_EXECUTION_STATUS => Some(match vendors_status(event) {
            Ok(status) if status > CL_RUNNING && record.at(Moment::Started) != 0 => {
                give(&CL_RUNNING.to_ne_bytes())
            }
            Ok(status) => give(&status.to_ne_bytes()),
            Err(error) => error,
        }),
        _ => None,
    }
}

/// `clGetEventProfilingInfo` of a copy's event.
///
/// # Safety
/// As the specification has it.
pub(crate) unsafe fn event_profiling_info(
    event: Handle,
    name: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> Option<i32> {
    let record = objects::record(event)?;
    if !record.profiled || vendors_status(event) != Ok(CL_COMPLETE) {
        return Some(CL_PROFILING_INFO_NOT_AVAILABLE);
    }
    let moments = [
        Moment::Queued,
        Moment::Submitted,
        Moment::Started,
        Moment::Ended,
        // The end is the last moment of a copy.
        Moment::Ended,
    ];
    let moment = (name.checked_sub(CL_PROFILING_COMMAND_QUEUED))
        .and_then(|index| moments.get(index as usize));
    const { assert!(CL_PROFILING_COMMAND_COMPLETE - CL_PROFILING_COMMAND_QUEUED == 4) };
    Some(match moment {
        // SAFETY: the caller's promise.
        Some(moment) => unsafe {
            offered::give(&record.at(*moment).to_ne_bytes(), size, value, size_ret)
        },
        None => CL_INVALID_VALUE,
    })
}

/// `clSetUserEventStatus` of a copy's event, which is not a user event for a program.
///
/// # Safety
/// None: the handle is looked up.
pub(crate) unsafe fn set_user_event_status(event: Handle, _: i32) -> Option<i32> {
    objects::record(event).map(|_| CL_INVALID_EVENT)
}
