//! Queues and transfers.

use crate::error::{Failure, PL_GONE, PL_OK, run};
use crate::handles::{end, get, give, pl_device, pl_region};
use peerlane_host::{CopyOptions, Direction, Queue, Request, Terms, Transfer};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// The queue of a device's channel. `pl_queue_open` makes it, `pl_queue_close` ends it.
pub struct pl_queue(Queue);

/// A transfer. `pl_submit` makes it, `pl_transfer_free` ends the handle.
pub struct pl_transfer(Transfer);

/// From FPGA memory to the region.
pub const PL_FROM_FPGA: u32 = 0;
/// From the region to FPGA memory. Of a GPU's memory some computers bring ones, without an error: `pl_region_probe`.
pub const PL_TO_FPGA: u32 = 1;

/// Start when all transfers from the FPGA that were submitted before have ended.
pub const PL_AFTER_FROM_FPGA: u32 = 1;
/// Start when all transfers to the FPGA that were submitted before have ended. A transfer from the FPGA then finds in FPGA
/// memory what they brought, if the board's BSP has no interconnect stage between Peerlane's block and that memory. This is
/// Peerlane's default; `peerlane check` of the BSP says so where it is otherwise, and there the program has to wait.
pub const PL_AFTER_TO_FPGA: u32 = 2;
/// Its interrupt is not held back.
pub const PL_URGENT: u32 = 4;
/// The end of a transfer from the FPGA says that its data were sent, not that they have arrived.
pub const PL_NO_FLUSH: u32 = 8;

/// What to move.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct pl_request {
    /// `sizeof(struct pl_request)`: so a later version of the library knows which members the program has.
    pub size: u64,
    /// PL_FROM_FPGA or PL_TO_FPGA.
    pub direction: u32,
    /// PL_AFTER_FROM_FPGA, PL_AFTER_TO_FPGA, PL_URGENT, PL_NO_FLUSH, or 0.
    pub flags: u32,
    /// The region.
    pub region: *const pl_region,
    /// First byte in the region.
    pub offset: u64,
    /// First byte in FPGA memory.
    pub fpga_address: u64,
    /// Bytes, at least 1.
    pub length: u64,
}

impl pl_request {
    fn direction(&self) -> Result<Direction, Failure> {
        match self.direction {
            PL_FROM_FPGA => Ok(Direction::FromFpga),
            PL_TO_FPGA => Ok(Direction::ToFpga),
            other => Err(Failure::invalid(format!("{other} is no direction"))),
        }
    }

    fn terms(&self) -> Result<Terms, Failure> {
        let known = PL_AFTER_FROM_FPGA | PL_AFTER_TO_FPGA | PL_URGENT | PL_NO_FLUSH;
        let unknown = self.flags & !known;
        if unknown != 0 {
            return Err(Failure::invalid(format!("flags {unknown:#x} are unknown")));
        }
        let has = |flag| self.flags & flag != 0;
        Ok(Terms {
            after_from_fpga: has(PL_AFTER_FROM_FPGA),
            after_to_fpga: has(PL_AFTER_TO_FPGA),
            urgent: has(PL_URGENT),
            no_flush: has(PL_NO_FLUSH),
        })
    }
}

/// A limit in nanoseconds; below 0 there is none.
fn limit(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// A number, for who asks for it: the bytes that were moved.
///
/// # Safety
/// The pointer is null, or a place for a number.
unsafe fn tell(bytes: *mut u64, moved: u64) {
    if !bytes.is_null() {
        // SAFETY: the caller promises the place.
        unsafe { bytes.write(moved) };
    }
}

/// Makes the device's queue, of which it has one in its life.
///
/// queue: where the handle goes; null after an error. The caller ends it by `pl_queue_close`.
///
/// Returns PL_OK, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `queue` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_open(
    device: *const pl_device,
    queue: *mut *mut pl_queue,
) -> c_int {
    // SAFETY: the caller promises both.
    unsafe { give(queue, || Ok(pl_queue(get(device, "device")?.0.queue()?))) }
}

/// Ends what is under way as `pl_queue_restart` does, and then the queue's handle; null is nothing.
///
/// Returns PL_OK, or PL_GONE: no transfer of the queue moves anything any more, and the handle has ended. PL_TIMEOUT,
/// PL_BROKEN, PL_REFUSED: as `pl_queue_restart`. Memory may still change, and the handle stays: call this again, and free
/// no memory of a transfer before it has ended.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pl_queue_close(queue: *mut pl_queue) -> c_int {
    let stopped = run(|| {
        // SAFETY: the caller promises it.
        if let Some(queue) = unsafe { queue.as_ref() }
            // A child of a fork has none of its parent's transfers.
            && queue.0.under_way() > 0
        {
            queue.0.restart().map_err(Failure::of_end)?;
        }
        Ok(PL_OK)
    });
    if [PL_OK, PL_GONE].contains(&stopped) {
        // SAFETY: the caller promises it.
        unsafe { end(queue) };
    }
    stopped
}

/// Begins a transfer. It never waits for room on the board.
///
/// A board with Altera's Avalon-MM bridge writes whole dwords only. If a transfer from the FPGA begins or ends inside of a
/// dword of its region, the library copies the 1 to 3 bytes at that end before the transfer has ended. Each end costs a
/// descriptor and a copy. Later transfers from the FPGA, and those to the FPGA that are chained, begin when this one has
/// ended, which is seen while a program waits for a transfer of the queue, polls one, or calls `pl_queue_turn`. A GPU's
/// memory needs `pl_region_set_copy` for it.
///
/// request: what to move; it is read within the call.
/// transfer: where the handle goes; null after an error. The caller ends it by `pl_transfer_free`.
///
/// Returns PL_OK, PL_INVALID, PL_BUSY (no room for the memory that ends need), PL_GONE, PL_BROKEN: nothing is moved after
/// an error. Thread-safe.
///
/// # Safety
/// The handles were not ended, `request` is one, `transfer` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_submit(
    queue: *const pl_queue,
    request: *const pl_request,
    transfer: *mut *mut pl_transfer,
) -> c_int {
    let submit = || {
        // SAFETY: the caller promises all of them.
        let (queue, request) = unsafe { (get(queue, "queue")?, get(request, "request")?) };
        if request.size != size_of::<pl_request>() as u64 {
            let text = format!(
                "a request of {} bytes, and one has {}",
                request.size,
                size_of::<pl_request>()
            );
            return Err(Failure::invalid(text));
        }
        // SAFETY: as above.
        let region = unsafe { get(request.region, "region") }?;
        let asked = Request {
            direction: request.direction()?,
            region: &region.0,
            offset: request.offset,
            fpga_address: request.fpga_address,
            length: request.length,
            piece: None,
        };
        let submitted = queue.0.submit_with(&asked, request.terms()?);
        submitted.map(pl_transfer).map_err(Failure::of_transfer)
    };
    // SAFETY: the caller promises the place.
    unsafe { give(transfer, submit) }
}

/// Copies memory of the program, of any size, to FPGA memory. The memory is not registered: the library registers a part of it,
/// has the board move that, and meanwhile registers the next part. Only host memory can be copied so. Register memory
/// that is moved often instead.
///
/// fpga_address: first byte in FPGA memory.
/// memory: first byte.
/// length: bytes, at least 1.
/// nanoseconds: the longest time; below 0: for as long as it takes.
///
/// Returns PL_OK: all of it is there; PL_TIMEOUT; PL_FAULT, PL_RESTARTED, PL_STOPPED; PL_BUSY: no room in the board's table;
/// PL_TOO_LARGE: the context cannot hold 16 entries of that table; PL_GONE, PL_BROKEN, PL_REFUSED, PL_INVALID. After an error
/// some of the bytes may have been moved, and the board does not reach the memory any more. Stopping a transfer takes
/// up to a second more than the limit. If it has not ended then, the queue is restarted, and its other transfers end
/// with PL_STOPPED.
/// Thread-safe.
///
/// # Safety
/// The handle was not ended. The bytes are mapped, and no other thread writes them before this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_copy_to_fpga(
    queue: *const pl_queue,
    fpga_address: u64,
    memory: *const c_void,
    length: u64,
    nanoseconds: i64,
) -> c_int {
    let place = (memory.expose_provenance() as u64, length);
    // SAFETY: the caller promises it.
    run(|| unsafe { copy(queue, Direction::ToFpga, place, fpga_address, nanoseconds) })
}

/// Copies FPGA memory to memory of the program, of any size, as `pl_copy_to_fpga` does it the other way.
///
/// # Safety
/// The handle was not ended. The bytes are mapped, and no other thread reads or writes them before this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_copy_from_fpga(
    queue: *const pl_queue,
    fpga_address: u64,
    memory: *mut c_void,
    length: u64,
    nanoseconds: i64,
) -> c_int {
    let place = (memory.expose_provenance() as u64, length);
    // SAFETY: the caller promises it.
    run(|| unsafe { copy(queue, Direction::FromFpga, place, fpga_address, nanoseconds) })
}

/// # Safety
/// The queue's handle was not ended, and the memory is as [`Queue::begin_copy`] wants it.
unsafe fn copy(
    queue: *const pl_queue,
    direction: Direction,
    place: (u64, u64),
    fpga_address: u64,
    nanoseconds: i64,
) -> Result<c_int, Failure> {
    // SAFETY: the caller promises both.
    let copied = unsafe {
        let queue = &get(queue, "queue")?.0;
        queue.begin_copy(direction, place, fpga_address, CopyOptions::default())
    };
    let copied = copied.and_then(|mut copying| copying.wait(limit(nanoseconds)));
    copied.map_err(Failure::of_transfer)?;
    Ok(PL_OK)
}

/// Looks whether a transfer has ended, without waiting.
///
/// bytes: where the bytes go that were moved, if it has ended well; or null.
///
/// Returns 1 if it has ended well, 0 if it goes on, and below 0 as `pl_transfer_wait`. Thread-safe.
///
/// # Safety
/// The handle was not ended; `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_poll(transfer: *const pl_transfer, bytes: *mut u64) -> c_int {
    run(|| {
        // SAFETY: the caller promises both.
        unsafe {
            let moved = get(transfer, "transfer")?.0.poll();
            let Some(moved) = moved.map_err(Failure::of_transfer)? else {
                return Ok(0);
            };
            tell(bytes, moved);
        }
        Ok(1)
    })
}

/// Waits for a transfer to end. May be called again, after a timeout and after the end.
///
/// nanoseconds: for how long; below 0: for as long as it takes.
/// bytes: where the bytes go that were moved, if it has ended well; or null.
///
/// Returns PL_OK; PL_TIMEOUT: it goes on; PL_FAULT, PL_RESTARTED, PL_STOPPED: it has ended, and the queue can be used
/// on; PL_GONE, PL_BROKEN: see `pl_queue_restart`; PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended; `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_wait(
    transfer: *const pl_transfer,
    nanoseconds: i64,
    bytes: *mut u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller promises both.
        unsafe {
            let moved = get(transfer, "transfer")?.0.wait(limit(nanoseconds));
            tell(bytes, moved.map_err(Failure::of_transfer)?);
        }
        Ok(PL_OK)
    })
}

/// Calls a transfer off, and returns when nothing of it is under way any more: no byte of its memory changes after that.
/// (For GPU memory that the board may not read there is no proof of it, only time.) What the board has of it, up to a
/// descriptor, may end by itself first. If that is not done in time, the queue is restarted, and its other transfers fail
/// with PL_STOPPED, too.
///
/// nanoseconds: the time it has to end by itself, 0 or more.
/// bytes: where the bytes go that were moved, if it has ended well all the same; or null.
///
/// Returns PL_STOPPED: it was called off before it had moved all; PL_OK, PL_FAULT, PL_RESTARTED: it had ended before, or
/// did meanwhile. In all of these cases the queue can be used on. PL_TIMEOUT, PL_BROKEN, PL_GONE, PL_REFUSED: as
/// `pl_queue_restart`. After PL_TIMEOUT and PL_BROKEN it may be under way, or its data on their way: keep its memory.
/// PL_INVALID: nothing was done. Thread-safe.
///
/// # Safety
/// The handle was not ended; `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_stop(
    transfer: *const pl_transfer,
    nanoseconds: i64,
    bytes: *mut u64,
) -> c_int {
    run(|| {
        let Ok(grace) = u64::try_from(nanoseconds) else {
            let text = format!("a transfer cannot have {nanoseconds} ns to end");
            return Err(Failure::invalid(text));
        };
        // SAFETY: the caller promises both.
        unsafe {
            let transfer = &get(transfer, "transfer")?.0;
            let moved = transfer.stop(Duration::from_nanos(grace));
            let failure = match transfer.has_ended() {
                // Its data may be on their way, and to call it off once more proves no more.
                true => Failure::of_transfer,
                false => Failure::of_end,
            };
            tell(bytes, moved.map_err(failure)?);
        }
        Ok(PL_OK)
    })
}

/// Ends a transfer's handle; null is nothing. The transfer itself goes on, and nobody hears of its end.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_free(transfer: *mut pl_transfer) {
    // SAFETY: the caller promises it.
    unsafe { end(transfer) }
}

/// Waits until all that was submitted before has ended, well or not.
///
/// nanoseconds: for how long; below 0: for as long as it takes.
///
/// Returns PL_OK, PL_TIMEOUT, PL_GONE, PL_BROKEN, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_drain(queue: *const pl_queue, nanoseconds: i64) -> c_int {
    run(|| {
        // SAFETY: the caller promises it.
        let queue = unsafe { get(queue, "queue") }?;
        let drained = queue.0.drain(limit(nanoseconds));
        drained.map_err(Failure::of_transfer)?;
        Ok(PL_OK)
    })
}

/// Ends what is under way, and leaves an empty queue that can be used on. Transfers that had not ended fail.
///
/// Returns PL_OK: no DMA of this queue runs any more; PL_GONE: none does, and none will; PL_TIMEOUT: the board was not
/// started again in ten seconds, call it again; PL_BROKEN: open the device anew. After PL_TIMEOUT and PL_BROKEN transfers
/// may be under way: keep their memory. PL_REFUSED: the queue is the parent's of this child of a fork; PL_INVALID: nothing
/// was done. Thread-safe.
///
/// # Safety
/// The handle was not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_restart(queue: *const pl_queue) -> c_int {
    run(|| {
        // SAFETY: the caller promises it.
        let restarted = unsafe { get(queue, "queue") }?.0.restart();
        restarted.map_err(Failure::of_end)?;
        Ok(PL_OK)
    })
}

/// Takes note of what the board has reported, and acknowledges it, so that `pl_file` can be read no more until there is
/// more. It does not wait. For a program that waits by poll(): see `pl_file`.
///
/// Returns PL_OK, PL_GONE, PL_BROKEN, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_turn(queue: *const pl_queue) -> c_int {
    run(|| {
        // SAFETY: the caller promises it.
        let turned = unsafe { get(queue, "queue") }?.0.turn();
        turned.map_err(Failure::of_transfer)?;
        Ok(PL_OK)
    })
}

/// How long poll() may wait before `pl_queue_turn` is called all the same: a second, and a tenth of a millisecond while
/// nothing under way will raise an interrupt. It changes with what is submitted and ends, so ask before each poll().
///
/// nanoseconds: where the time goes.
///
/// Returns PL_OK, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `nanoseconds` is a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_next_turn(
    queue: *const pl_queue,
    nanoseconds: *mut u64,
) -> c_int {
    run(|| {
        if nanoseconds.is_null() {
            return Err(Failure::invalid("the place for the time is null"));
        }
        // SAFETY: the caller promises both.
        unsafe {
            let next = get(queue, "queue")?.0.next_turn();
            tell(nanoseconds, next.as_nanos() as u64);
        }
        Ok(PL_OK)
    })
}
