//! Queues and transfers.

use crate::error::{Failure, PL_GONE, PL_OK, run};
use crate::handles::{end, get, give, pl_device, pl_region};
use peerlane_host::{
    CopyOptions, Direction, Error, Queue, Request, Result, Terms, Transfer, TransferList,
};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// The queue of a device's channel. `pl_queue_open` makes it, `pl_queue_close` ends it.
pub struct pl_queue(Queue);

/// A transfer. `pl_submit` or `pl_list_submit` makes it, `pl_transfer_free` ends the handle.
pub struct pl_transfer(Moving);

/// The transfer or list of a handle.
enum Moving {
    One(Transfer),
    List(TransferList),
}

impl Moving {
    fn poll(&self) -> Result<Option<u64>> {
        match self {
            Self::One(transfer) => transfer.poll(),
            Self::List(list) => list.poll(),
        }
    }

    fn wait(&self, limit: Option<Duration>) -> Result<u64> {
        match self {
            Self::One(transfer) => transfer.wait(limit),
            Self::List(list) => list.wait(limit),
        }
    }

    fn stop(&self, grace: Duration) -> Result<u64> {
        match self {
            Self::One(transfer) => transfer.stop(grace),
            Self::List(list) => list.stop(grace),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::One(transfer) => transfer.has_ended(),
            Self::List(list) => list.has_ended(),
        }
    }

    /// Makes the failure of a poll of it or of its end, with the piece of a list that has failed.
    fn failure(&self, error: Error, of: fn(Error) -> Failure) -> Failure {
        let piece = match self {
            // Before that, the error is not the end of a piece.
            Self::List(list) if list.has_ended() => list.failed(),
            _ => None,
        };
        of(error).of_piece(piece)
    }
}

/// From FPGA memory to the region.
pub const PL_FROM_FPGA: u32 = 0;
/// From the region to FPGA memory. In some computers, reads of a GPU's memory return ones, without an error:
/// `pl_region_probe`.
pub const PL_TO_FPGA: u32 = 1;

/// Start when all transfers from the FPGA that were submitted before have ended.
pub const PL_AFTER_FROM_FPGA: u32 = 1;
/// Start when all transfers to the FPGA that were submitted before have ended. A transfer from the FPGA then finds
/// their data in FPGA memory, if the board's BSP has no interconnect stage between Peerlane's block and that memory.
/// This is Peerlane's default. `peerlane check` of the BSP reports a BSP where it does not hold; there the program has
/// to wait.
pub const PL_AFTER_TO_FPGA: u32 = 2;
/// Its interrupt is not delayed.
pub const PL_URGENT: u32 = 4;
/// The end of a transfer from the FPGA means that its data were sent, not that they have arrived.
pub const PL_NO_FLUSH: u32 = 8;

/// A request: a transfer to make, or a piece of a list.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct pl_request {
    /// `sizeof(struct pl_request)`. A later version of the library knows by it which members the program has.
    pub size: u64,
    /// PL_FROM_FPGA or PL_TO_FPGA.
    pub direction: u32,
    /// PL_AFTER_FROM_FPGA, PL_AFTER_TO_FPGA, PL_URGENT, PL_NO_FLUSH, or 0. In a piece of a list 0: the list has them.
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
    /// Translates it to the library's request.
    ///
    /// # Safety
    /// The region is null, or a handle that was not ended.
    unsafe fn read(&self) -> Result<Request<'_>, Failure> {
        check_size::<Self>("a request", self.size)?;
        // SAFETY: the caller promises it.
        let region = unsafe { get(self.region, "region") }?;
        let direction = match self.direction {
            PL_FROM_FPGA => Direction::FromFpga,
            PL_TO_FPGA => Direction::ToFpga,
            other => return Err(Failure::invalid(format!("{other} is not a direction"))),
        };
        Ok(Request {
            direction,
            region: &region.0,
            offset: self.offset,
            fpga_address: self.fpga_address,
            length: self.length,
            piece: None,
        })
    }
}

/// Counters of a queue.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct pl_statistics {
    /// `sizeof(struct pl_statistics)`, set by the program before the call, as in `struct pl_request`.
    pub size: u64,
    /// Transfers that have not ended; each piece of a list counts.
    pub under_way: u64,
    /// Descriptors that were given to the board.
    pub descriptors: u64,
    /// Stores to the channel's page.
    pub stores: u64,
    /// Records taken from the ring.
    pub records: u64,
    /// Calls of the driver that were made to wait.
    pub system_calls: u64,
    /// Records that a wait found by itself, after a second, where the board should have raised an interrupt. If this is
    /// not 0, interrupts are lost, and waits take a second.
    pub late_records: u64,
}

/// Checks the size of a structure that a program has given.
fn check_size<T>(what: &str, size: u64) -> Result<(), Failure> {
    let has = size_of::<T>();
    match size == has as u64 {
        true => Ok(()),
        false => Err(Failure::invalid(format!(
            "{what} has {size} bytes instead of {has}"
        ))),
    }
}

fn terms(flags: u32) -> Result<Terms, Failure> {
    let known = PL_AFTER_FROM_FPGA | PL_AFTER_TO_FPGA | PL_URGENT | PL_NO_FLUSH;
    let unknown = flags & !known;
    if unknown != 0 {
        return Err(Failure::invalid(format!("flags {unknown:#x} are unknown")));
    }
    let has = |flag| flags & flag != 0;
    Ok(Terms {
        after_from_fpga: has(PL_AFTER_FROM_FPGA),
        after_to_fpga: has(PL_AFTER_TO_FPGA),
        urgent: has(PL_URGENT),
        no_flush: has(PL_NO_FLUSH),
    })
}

/// Returns a limit in nanoseconds; none if it is below 0.
fn limit(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// Writes the bytes that were moved, if the program wants them.
///
/// # Safety
/// The pointer is null, or a place for a number.
unsafe fn tell(bytes: *mut u64, moved: u64) {
    if !bytes.is_null() {
        // SAFETY: the caller promises the place.
        unsafe { bytes.write(moved) };
    }
}

/// Makes the device's queue. A device has one queue in its life.
///
/// queue: the place for the handle; null after an error. The caller ends it by `pl_queue_close`.
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

/// Ends transfers under way as `pl_queue_restart` does, and then the queue's handle; null has no effect.
///
/// Returns PL_OK, or PL_GONE: no transfer of the queue moves bytes any more, and the handle has ended. PL_TIMEOUT,
/// PL_BROKEN, PL_REFUSED: as `pl_queue_restart`. Memory may still change, and the handle stays: call this again, and
/// free no memory of a transfer before the transfer has ended.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pl_queue_close(queue: *mut pl_queue) -> c_int {
    let stopped = run(|| {
        // SAFETY: the caller promises it.
        if let Some(queue) = unsafe { queue.as_ref() }
            // A child of a fork has no transfers of its parent.
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
/// A board with Altera's Avalon-MM bridge writes whole dwords only. If a transfer from the FPGA begins or ends inside
/// of a dword of its region, the library copies the 1 to 3 bytes at that end before the transfer has ended. Each end
/// costs a descriptor and a copy. Later transfers from the FPGA, and those to the FPGA that are chained, begin when
/// this one has ended. The library notices that end while a program waits for a transfer of the queue, polls one, or
/// calls `pl_queue_turn`. For a GPU's memory this needs `pl_region_set_copy`.
///
/// request: the transfer to make; it is read within the call.
/// transfer: the place for the handle; null after an error. The caller ends it by `pl_transfer_free`.
///
/// Returns PL_OK, PL_INVALID, PL_BUSY (no room for the memory that ends need), PL_REFUSED (the board may only write the
/// region, because its device has not answered reads; or this is the child of a fork, and the queue is its parent's),
/// PL_GONE, PL_BROKEN: no bytes are moved after an error. Thread-safe.
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
        // SAFETY: as above.
        let asked = unsafe { request.read() }?;
        let submitted = queue.0.submit_with(&asked, terms(request.flags)?);
        let submitted = submitted.map_err(Failure::of_transfer)?;
        Ok(pl_transfer(Moving::One(submitted)))
    };
    // SAFETY: the caller promises the place.
    unsafe { give(transfer, submit) }
}

/// Begins a list: pieces of memory that are moved as one transfer, which ends when all of them have ended. The pieces
/// of one direction are moved one after the other, concurrently with those of the other direction. It never waits for
/// room on the board, and a list can have any length. The board raises an interrupt at the end of a list, and not for
/// each piece.
///
/// pieces: the first of them; they are read within the call. Each has its `size`, and `flags` 0.
/// count: their number, at least 1.
/// flags: those of `struct pl_request`, for the list: the first piece of each direction starts when they allow it, and
/// PL_URGENT applies to the last piece.
/// transfer: the place for the handle; null after an error. It is used as any other, and its bytes are those of all
/// pieces. The caller ends it by `pl_transfer_free`. If pieces fail, the others are moved all the same. The error is
/// that of the first piece that has failed, and comes when all have ended. `pl_error_piece` returns the index of that
/// piece.
///
/// Returns as `pl_submit`. `pl_error_piece` returns the index of the piece that was refused. No bytes are moved after
/// an error, except after PL_GONE and PL_BROKEN: the board has failed in the meantime, and memory may still change
/// (`pl_queue_restart`). Thread-safe.
///
/// # Safety
/// The handles were not ended, `pieces` are `count` requests, `transfer` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_list_submit(
    queue: *const pl_queue,
    pieces: *const pl_request,
    count: u64,
    flags: u32,
    transfer: *mut *mut pl_transfer,
) -> c_int {
    let submit = || {
        // SAFETY: the caller promises both.
        let (queue, first) = unsafe { (get(queue, "queue")?, get(pieces, "pieces")?) };
        let terms = terms(flags)?;
        if count == 0 {
            return Err(Failure::invalid("a list without pieces"));
        }
        // Pieces of another size lie elsewhere.
        check_size::<pl_request>("a request", first.size)
            .map_err(|failure| failure.of_piece(Some(0)))?;
        let bytes = count.saturating_mul(size_of::<pl_request>() as u64);
        if isize::try_from(bytes).is_err() {
            return Err(Failure::invalid(format!(
                "{count} pieces are more than memory can have"
            )));
        }
        // SAFETY: the caller promises `count` pieces, and they have fewer bytes than memory can have.
        let pieces = unsafe { std::slice::from_raw_parts(pieces, count as usize) };
        let mut asked = Vec::with_capacity(pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            let read = match piece.flags {
                // SAFETY: the caller promises the handles.
                0 => unsafe { piece.read() },
                flags => Err(Failure::invalid(format!(
                    "flags {flags:#x} belong to the list, not to a piece"
                ))),
            };
            asked.push(read.map_err(|failure| failure.of_piece(Some(index)))?);
        }
        let submitted = queue.0.submit_list(&asked, terms).map_err(|error| {
            let refused = asked.iter().position(|piece| queue.0.check(piece).is_err());
            Failure::of_transfer(error).of_piece(refused)
        });
        Ok(pl_transfer(Moving::List(submitted?)))
    };
    // SAFETY: the caller promises the place.
    unsafe { give(transfer, submit) }
}

/// Copies memory of the program, of any size, to FPGA memory. The memory need not be registered: the library registers
/// a part of it, has the board move that part, and registers the next part at the same time. Only host memory can be
/// copied so. Memory that is moved often is better registered.
///
/// fpga_address: first byte in FPGA memory.
/// memory: first byte.
/// length: bytes, at least 1.
/// nanoseconds: the longest time; below 0: no limit.
///
/// Returns PL_OK: all of it is there; PL_TIMEOUT: it was stopped; PL_FAULT, PL_RESTARTED, PL_STOPPED; PL_BUSY: no room
/// in the board's table; PL_TOO_LARGE: the context cannot hold 16 entries of that table; PL_GONE, PL_BROKEN,
/// PL_REFUSED, PL_INVALID. After an error some of the bytes may have been moved, and the board does not reach the
/// memory any more. At the time limit, the descriptors of the copy that the board has, and those of other transfers
/// before it, have a second to end. If they have not ended by then, the queue is restarted, and its other transfers end
/// with PL_STOPPED. Thread-safe.
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

/// Copies FPGA memory to memory of the program, of any size, as `pl_copy_to_fpga` does in the other direction.
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
    copied.map_err(Failure::of_copy)?;
    Ok(PL_OK)
}

/// Polls whether a transfer has ended, without waiting.
///
/// bytes: the place for the number of bytes that were moved, if it has ended well; or null.
///
/// Returns 1 if it has ended well, 0 if it is under way, and below 0 as `pl_transfer_wait`. Thread-safe.
///
/// # Safety
/// The handle was not ended; `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_poll(transfer: *const pl_transfer, bytes: *mut u64) -> c_int {
    run(|| {
        // SAFETY: the caller promises both.
        unsafe {
            let transfer = &get(transfer, "transfer")?.0;
            let moved = transfer.poll();
            let moved = moved.map_err(|error| transfer.failure(error, Failure::of_transfer));
            let Some(moved) = moved? else {
                return Ok(0);
            };
            tell(bytes, moved);
        }
        Ok(1)
    })
}

/// Waits for a transfer to end. It may be called again, after a timeout and after the end.
///
/// nanoseconds: the longest time; below 0: no limit.
/// bytes: the place for the number of bytes that were moved, if it has ended well; or null.
///
/// Returns PL_OK; PL_TIMEOUT: it is still under way; PL_FAULT, PL_RESTARTED, PL_STOPPED: it has ended, and the queue
/// remains usable; PL_GONE, PL_BROKEN: see `pl_queue_restart`; PL_INVALID. Thread-safe.
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
            let transfer = &get(transfer, "transfer")?.0;
            let moved = transfer.wait(limit(nanoseconds));
            let moved = moved.map_err(|error| transfer.failure(error, Failure::of_transfer));
            tell(bytes, moved?);
        }
        Ok(PL_OK)
    })
}

/// Calls a transfer off, and returns when it is not under way any more: no byte of its memory changes after that. (For
/// GPU memory that the board may not read there is no proof of it, only time.) The part of it that the board has, up to
/// a descriptor, may end by itself first. If it does not end in time, the queue is restarted, and its other transfers
/// fail with PL_STOPPED, too.
///
/// nanoseconds: the time it has to end by itself, 0 or more.
/// bytes: the place for the number of bytes that were moved, if it has ended well all the same; or null.
///
/// Returns PL_STOPPED: it was called off before it had moved all bytes; PL_OK, PL_FAULT, PL_RESTARTED: it had ended
/// before, or ended in the meantime. In all of these cases the queue remains usable. PL_TIMEOUT, PL_BROKEN, PL_GONE,
/// PL_REFUSED: as `pl_queue_restart`. After PL_TIMEOUT and PL_BROKEN the transfer may be under way, or its data on
/// their way: do not free its memory. PL_INVALID: the call had no effect. Thread-safe.
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
            let text = format!("{nanoseconds} ns are not a time that a transfer can have to end");
            return Err(Failure::invalid(text));
        };
        // SAFETY: the caller promises both.
        unsafe {
            let transfer = &get(transfer, "transfer")?.0;
            let moved = transfer.stop(Duration::from_nanos(grace));
            let of = match transfer.has_ended() {
                // Its data may be on their way, and calling it off once more proves no more.
                true => Failure::of_transfer,
                false => Failure::of_end,
            };
            tell(bytes, moved.map_err(|error| transfer.failure(error, of))?);
        }
        Ok(PL_OK)
    })
}

/// Ends a transfer's handle; null has no effect. The transfer itself goes on, and its end is not reported.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_transfer_free(transfer: *mut pl_transfer) {
    // SAFETY: the caller promises it.
    unsafe { end(transfer) }
}

/// Waits until all transfers that were submitted before have ended, well or not.
///
/// nanoseconds: the longest time; below 0: no limit.
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

/// Returns the counters of the queue; zeros in the child of a fork.
///
/// statistics: the place for them; the program has set its `size`.
///
/// Returns PL_OK, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `statistics` is a place for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_queue_statistics(
    queue: *const pl_queue,
    statistics: *mut pl_statistics,
) -> c_int {
    run(|| {
        // SAFETY: the caller promises both.
        let (queue, size) = unsafe {
            let size = get(statistics, "statistics")?.size;
            (&get(queue, "queue")?.0, size)
        };
        check_size::<pl_statistics>("statistics", size)?;
        let now = queue.statistics();
        let now = pl_statistics {
            size,
            under_way: queue.under_way() as u64,
            descriptors: now.descriptors,
            stores: now.stores,
            records: now.records,
            system_calls: now.system_calls,
            late_records: now.late_records,
        };
        // SAFETY: the place has as much room as its size says.
        unsafe { statistics.write(now) };
        Ok(PL_OK)
    })
}

/// Ends all transfers under way, and leaves an empty queue that remains usable. Transfers that had not ended fail.
///
/// Returns PL_OK: no DMA of this queue runs any more; PL_GONE: none runs, and none will; PL_TIMEOUT: the board was not
/// restarted in ten seconds, call this again; PL_BROKEN: close the device and open it again. After PL_TIMEOUT and
/// PL_BROKEN transfers may be under way: do not free their memory. PL_REFUSED: this is the child of a fork, and the
/// queue is its parent's; PL_INVALID: the call had no effect. Thread-safe.
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

/// Processes the board's reports, and acknowledges them, so that `pl_file` cannot be read until the next report. It
/// does not wait. It is for a program that waits by poll(): see `pl_file`.
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

/// Returns the longest time that poll() may wait before `pl_queue_turn` is called all the same: a second, and a tenth
/// of a millisecond while no transfer under way will raise an interrupt. It changes when transfers are submitted and
/// end, so call this before each poll().
///
/// nanoseconds: the place for the time.
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
