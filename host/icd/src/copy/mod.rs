//! `cl_peerlane_copy_buffer`: copies between a buffer of this platform and one of another, by one call.
//! `docs/cl_peerlane_copy_buffer.md` is its specification, `include/peerlane_copy.h` its header.
//!
//! A copy is a command of a queue of this platform. For the vendor library it is two markers. The copy begins after the
//! first one. The second one waits for a user event that the copy completes. The board's library moves the bytes if it
//! has a way to the other buffer ([`board`]); otherwise they go through the host's memory ([`host`]).
//!
//! Objects of either platform are used as programs use them, by their dispatch tables ([`functions`]); so all calls for
//! objects of this platform go through the wrapper, too.

mod board;
mod code;
mod functions;
mod host;
mod record;
mod worker;

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use parking_lot::Mutex;
use peerlane_opencl_api::sys::{
    CL_EVENT_COMMAND_EXECUTION_STATUS, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
    CL_INVALID_DEVICE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_FLAGS,
    CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_OBJECT_BUFFER,
    CL_MEM_SIZE, CL_MEM_TYPE, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES,
    CL_SUCCESS,
};

use board::{Direct, Direction};
use code::{COPY_BUFFER_PATH, COPY_BUFFER_REASON, PATH_DIRECT, PATH_HOST};
use functions::{Functions, Kept, status};
use host::End;
use record::Moment;
use worker::Job;

use crate::generated::vendor::Vendor;
use crate::objects::{self, Handle, Kind};
use crate::{offered, vendor};

pub(crate) use board::peerlane_function;
pub(crate) use record::{
    Record, event_info, event_profiling_info, keep_a_while, set_user_event_status,
};

/// Whether a vendor library has the functions that a copy needs.
pub(crate) fn possible(vendor: &Vendor) -> bool {
    let order = vendor.clEnqueueMarkerWithWaitList.is_some()
        || (vendor.clEnqueueMarker.is_some() && vendor.clEnqueueWaitForEvents.is_some());
    order
        && vendor.clCreateUserEvent.is_some()
        && vendor.clSetUserEventStatus.is_some()
        && vendor.clCreateCommandQueue.is_some()
        && vendor.clEnqueueReadBuffer.is_some()
        && vendor.clEnqueueWriteBuffer.is_some()
}

/// Finds a function of the extension by its name, or returns null.
pub(crate) fn function(name: &[u8]) -> *mut c_void {
    match name {
        b"clEnqueueCopyBufferPeerlane" => clEnqueueCopyBufferPeerlane as *mut c_void,
        b"clGetCopyBufferInfoPeerlane" => clGetCopyBufferInfoPeerlane as *mut c_void,
        b"clSetPeerMemoryPeerlane" => clSetPeerMemoryPeerlane as *mut c_void,
        _ => null_mut(),
    }
}

/// A queue of ours.
struct Queue {
    functions: Functions,
    queue: Handle,
    context: Handle,
    device: Handle,
    properties: u64,
}

impl Queue {
    /// # Safety
    /// The handle is any number.
    unsafe fn of(queue: Handle) -> Result<Self, i32> {
        if objects::raw(queue, Kind::Queue).is_null() {
            return Err(CL_INVALID_COMMAND_QUEUE);
        }
        // SAFETY: it is a live queue of ours.
        unsafe {
            let functions = Functions::of(queue).ok_or(CL_INVALID_COMMAND_QUEUE)?;
            Ok(Self {
                functions,
                queue,
                context: functions.queue(queue, CL_QUEUE_CONTEXT)?,
                device: functions.queue(queue, CL_QUEUE_DEVICE)?,
                properties: functions.queue(queue, CL_QUEUE_PROPERTIES)?,
            })
        }
    }

    fn is_ordered(&self) -> bool {
        self.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }
}

/// A buffer of any platform.
#[derive(Clone, Copy)]
struct Buffer {
    functions: Functions,
    buffer: Handle,
    context: Handle,
    size: usize,
    flags: u64,
}

impl Buffer {
    /// # Safety
    /// The handle is null, any number that is not an address, or a live object of a platform.
    unsafe fn of(buffer: Handle) -> Result<Self, i32> {
        // A handle of ours is looked up and not dereferenced.
        if objects::is_in_arena(buffer) && objects::raw(buffer, Kind::Mem).is_null() {
            return Err(CL_INVALID_MEM_OBJECT);
        }
        // SAFETY: the caller's promise.
        unsafe {
            let functions = Functions::of(buffer).ok_or(CL_INVALID_MEM_OBJECT)?;
            match functions.mem(buffer, CL_MEM_TYPE)? {
                CL_MEM_OBJECT_BUFFER => Ok(Self {
                    functions,
                    buffer,
                    context: functions.mem(buffer, CL_MEM_CONTEXT)?,
                    size: functions.mem(buffer, CL_MEM_SIZE)?,
                    flags: functions.mem(buffer, CL_MEM_FLAGS)?,
                }),
                _ => Err(CL_INVALID_MEM_OBJECT),
            }
        }
    }

    /// Whether it is a sub-buffer.
    fn is_part(&self) -> bool {
        // SAFETY: it was a live one when this was made, within the same call.
        let parent = unsafe {
            self.functions
                .mem::<Handle>(self.buffer, CL_MEM_ASSOCIATED_MEMOBJECT)
        };
        parent.is_ok_and(|parent| !parent.is_null())
    }

    fn is_inside(&self, at: usize, size: usize) -> bool {
        at.checked_add(size).is_some_and(|end| end <= self.size)
    }
}

/// Both buffers of a copy.
struct Pair {
    queue: Queue,
    direction: Direction,
    board: Buffer,
    peer: Buffer,
}

impl Pair {
    /// # Safety
    /// The queue is any number; the buffers are as for [`Buffer::of`].
    unsafe fn of(queue: Handle, source: Handle, destination: Handle) -> Result<Self, i32> {
        // SAFETY: the caller's promise.
        let (queue, source, destination) = unsafe {
            (
                Queue::of(queue)?,
                Buffer::of(source)?,
                Buffer::of(destination)?,
            )
        };
        let is_board = |buffer: &Buffer| buffer.context == queue.context;
        let (direction, board, peer) = match (is_board(&source), is_board(&destination)) {
            (true, false) => (Direction::ToPeer, source, destination),
            (false, true) => (Direction::FromPeer, destination, source),
            _ => return Err(CL_INVALID_CONTEXT),
        };
        Ok(Self {
            queue,
            direction,
            board,
            peer,
        })
    }

    /// Finds the way without the host's memory, or the reason why it does not exist.
    fn direct(&self) -> Result<Direct, Arc<str>> {
        if self.board.is_part() || self.peer.is_part() {
            return Err("a sub-buffer has no address of its own".into());
        }
        // SAFETY: the objects of this pair are live within the call.
        unsafe {
            let peer = (self.peer.functions, self.peer.buffer);
            Direct::find(self.queue.device, peer, self.direction)
        }
    }

    /// Checks that the program's flags let the host access the bytes.
    fn check_host_access(&self) -> Result<(), i32> {
        let (source, destination) = match self.direction {
            Direction::ToPeer => (&self.board, &self.peer),
            Direction::FromPeer => (&self.peer, &self.board),
        };
        let refused = source.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) != 0
            || destination.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) != 0;
        match refused {
            true => Err(CL_INVALID_OPERATION),
            false => Ok(()),
        }
    }
}

/// Events of one context that a copy waits for.
struct WaitList {
    count: u32,
    list: *const Handle,
}

impl WaitList {
    /// Returns the events, if they belong to the context; with `ours`, they must be of this platform.
    ///
    /// # Safety
    /// The list is null or has so many elements. Events of other platforms are null or live.
    unsafe fn events(&self, context: Handle, ours: bool) -> Result<Vec<Handle>, i32> {
        if self.list.is_null() != (self.count == 0) {
            return Err(CL_INVALID_EVENT_WAIT_LIST);
        }
        let mut events = Vec::new();
        for index in 0..self.count as usize {
            // SAFETY: the caller's promise.
            let event = unsafe { *self.list.add(index) };
            let is_ours = objects::is_in_arena(event);
            if (is_ours || ours) && objects::raw(event, Kind::Event).is_null() {
                return Err(CL_INVALID_EVENT_WAIT_LIST);
            }
            // SAFETY: ours and live, or the caller's promise.
            let of = unsafe {
                let functions = Functions::of(event).ok_or(CL_INVALID_EVENT_WAIT_LIST)?;
                functions.context_of_event(event)
            };
            if of != Ok(context) {
                return Err(CL_INVALID_CONTEXT);
            }
            events.push(event);
        }
        Ok(events)
    }
}

/// Copies between a buffer of the queue's context and one of another context, of this or another platform.
///
/// # Safety
/// As its specification has it: the queue is any number; buffers and events of other platforms are live ones, or
/// null; lists have as many elements as they say; the places of events are null or the caller's.
#[allow(clippy::too_many_arguments, reason = "they are the specification's")]
pub(crate) unsafe extern "C" fn clEnqueueCopyBufferPeerlane(
    command_queue: Handle,
    src_buffer: Handle,
    dst_buffer: Handle,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    blocking_copy: u32,
    num_events_in_wait_list: u32,
    event_wait_list: *const Handle,
    num_events_in_peer_wait_list: u32,
    peer_event_wait_list: *const Handle,
    event: *mut Handle,
    peer_event: *mut Handle,
) -> i32 {
    let own = WaitList {
        count: num_events_in_wait_list,
        list: event_wait_list,
    };
    let peers = WaitList {
        count: num_events_in_peer_wait_list,
        list: peer_event_wait_list,
    };
    // SAFETY: the caller's promise.
    let enqueued = unsafe {
        Pair::of(command_queue, src_buffer, dst_buffer).and_then(|pair| {
            let (board_at, peer_at) = match pair.direction {
                Direction::ToPeer => (src_offset, dst_offset),
                Direction::FromPeer => (dst_offset, src_offset),
            };
            let inside = pair.board.is_inside(board_at, size) && pair.peer.is_inside(peer_at, size);
            if !inside {
                return Err(CL_INVALID_VALUE);
            }
            let own = own.events(pair.queue.context, true)?;
            let peers = peers.events(pair.peer.context, false)?;
            let command = Command {
                board_at,
                peer_at,
                size,
                own: &own,
                peers: &peers,
                event,
                peer_event,
                blocking: blocking_copy != 0,
            };
            enqueue(&pair, &command)
        })
    };
    enqueued.err().unwrap_or(CL_SUCCESS)
}

/// A copy between the buffers of a pair, with checked arguments.
struct Command<'a> {
    board_at: usize,
    peer_at: usize,
    size: usize,
    /// Events that it waits for: of the queue's context, and of the peer's.
    own: &'a [Handle],
    peers: &'a [Handle],
    /// Places for its events, or null.
    event: *mut Handle,
    peer_event: *mut Handle,
    blocking: bool,
}

/// # Safety
/// All of these were checked and are live; the places are null or the caller's.
unsafe fn enqueue(pair: &Pair, command: &Command<'_>) -> Result<(), i32> {
    let Pair {
        queue, board, peer, ..
    } = pair;
    let direct = pair.direct().ok();
    if direct.is_none() {
        pair.check_host_access()?;
    }
    let seat = worker::seat()?;
    // SAFETY: the caller's promise.
    unsafe {
        let ends = [
            End {
                functions: board.functions,
                context: board.context,
                device: queue.device,
                buffer: board.buffer,
                at: command.board_at,
            },
            End {
                functions: peer.functions,
                context: peer.context,
                device: peer.functions.first_device(peer.context)?,
                buffer: peer.buffer,
                at: command.peer_at,
            },
        ];
        // Released in this order: a context may be a board's last.
        let kept = vec![
            board.functions.keep_mem(board.buffer)?,
            peer.functions.keep_mem(peer.buffer)?,
            queue.functions.keep_queue(queue.queue)?,
            board.functions.keep_context(board.context)?,
            peer.functions.keep_context(peer.context)?,
        ];
        let keep = |event: &Handle| peer.functions.keep_event(*event);
        let peers_events: Vec<Kept> = command.peers.iter().map(keep).collect::<Result<_, _>>()?;
        let peer_done = match command.peer_event.is_null() {
            true => None,
            false => Some(peer.functions.user_event(peer.context)?),
        };
        let programs_peer_event = match &peer_done {
            None => None,
            Some(done) => Some(peer.functions.keep_event(done.object())?),
        };
        let done = queue.functions.user_event(queue.context)?;
        let profiled = queue.properties & CL_QUEUE_PROFILING_ENABLE != 0;
        let record = Arc::new(Record::new(queue.queue, queue.context, profiled));
        objects::attach(done.object(), Arc::clone(&record), queue.queue);
        let programs_event = queue.functions.keep_event(done.object())?;
        let previous = match queue.is_ordered() {
            true => record::follow(queue.queue, &record),
            false => None,
        };
        // From here on each failure has to end the event: it may already be in the queue.
        let mut job = Job {
            direction: pair.direction,
            ends,
            size: command.size,
            direct,
            waits: Vec::new(),
            previous,
            peers: peers_events,
            done,
            peer_done,
            behind: None,
            gate: None,
            record,
            _kept: kept,
            seat: Mutex::new(Some(seat)),
        };
        match in_order(queue, command.own, &job.done) {
            Ok(place) => {
                job.waits = place.before;
                job.behind = place.behind;
                job.gate = place.gate;
            }
            Err(error) => {
                job.end(Err(error));
                return Err(error);
            }
        }
        job.record.is(Moment::Submitted);
        match command.blocking {
            true => job.run()?,
            false => worker::start(job)?,
        }
        if !command.event.is_null() {
            command.event.write(programs_event.hand_over());
        }
        if let Some(done) = programs_peer_event {
            command.peer_event.write(done.hand_over());
        }
    }
    Ok(())
}

/// The place of a copy in a queue.
struct Place {
    /// Events that it waits for.
    before: Vec<Kept>,
    /// The marker that waits for the copy, where there is one. It is kept until the copy's event has ended: PoCL 3.1
    /// frees a command that has failed, but leaves it in the events that it waited for.
    behind: Option<Kept>,
    /// In a queue without order: the event that the marker after the copy waits for, instead of the copy's event.
    gate: Option<Kept>,
}

/// Puts a copy's place into its queue. In a queue in order, commands after the copy wait for its event and fail with
/// it. In a queue without order a barrier waits, but only commands with the event in their list fail: the open FPGA
/// runtime (v2025.0) loses a reference to such a queue with each of its commands that fails with a user event
/// (tests/icd/programs/references.c).
///
/// # Safety
/// They are a live queue, and live events of its context.
unsafe fn in_order(queue: &Queue, events: &[Handle], done: &Kept) -> Result<Place, i32> {
    if queue.is_ordered() {
        // SAFETY: the caller's promise.
        return unsafe { place(queue, events, done) };
    }
    // SAFETY: the caller's promise.
    unsafe {
        let gate = queue.functions.user_event(queue.context)?;
        match place(queue, events, &gate) {
            Ok(place) => Ok(Place {
                gate: Some(gate),
                ..place
            }),
            Err(error) => {
                // No command waits for it. The open FPGA runtime does not end a context with a user event that has not
                // ended.
                queue
                    .functions
                    .set_user_event_status(gate.object(), CL_SUCCESS);
                Err(error)
            }
        }
    }
}

/// Puts a copy's place into its queue; commands after the copy wait for the event `done`. This does not flush the
/// queue. Code that waits for commands before the copy flushes it: clFlush of the open FPGA runtime waits for commands
/// that wait.
///
/// # Safety
/// As for [`in_order`].
unsafe fn place(queue: &Queue, events: &[Handle], done: &Kept) -> Result<Place, i32> {
    let f = queue.functions;
    let vendor = vendor::vendor();
    // SAFETY: the caller's promise.
    unsafe {
        // Each event is also waited for by itself: it depends on the vendor whether a marker fails with its events.
        let keep = |event: &Handle| f.keep_event(*event);
        let mut before: Vec<Kept> = events.iter().map(keep).collect::<Result<_, _>>()?;
        if vendor.clEnqueueMarkerWithWaitList.is_none() {
            // OpenCL 1.1: a marker waits for all earlier commands, also in a queue without order.
            before.push(f.behind_all(queue.queue)?);
            status(f.hold_up(queue.queue, 1, &done.object()))?;
            return Ok(Place {
                before,
                behind: None,
                gate: None,
            });
        }
        // Without a list a marker waits for all earlier commands. In a queue without order a copy waits only for
        // barriers and for its own list, so the marker's list has one event that is already complete.
        let past = match !queue.is_ordered() {
            true => {
                let past = f.user_event(queue.context)?;
                status(f.set_user_event_status(past.object(), CL_SUCCESS))?;
                Some(past)
            }
            false => None,
        };
        let past_event = past.as_ref().map(Kept::object);
        let list = match &past_event {
            Some(past) => std::slice::from_ref(past),
            None => events,
        };
        // In PoCL 3.1 a marker that waits for an event that has already failed never ends.
        let failed = past.is_none()
            && (events.iter()).any(|event| {
                matches!(
                    f.event::<i32>(*event, CL_EVENT_COMMAND_EXECUTION_STATUS),
                    Ok(..0)
                )
            });
        if !failed {
            before.insert(0, f.behind(queue.queue, list)?);
        }
        let behind = f.behind(queue.queue, &[done.object()])?;
        Ok(Place {
            before,
            behind: Some(behind),
            gate: None,
        })
    }
}

/// Reports the way that a copy would take, and the reason.
///
/// # Safety
/// As for [`clEnqueueCopyBufferPeerlane`]; the place is null or has so many bytes.
pub(crate) unsafe extern "C" fn clGetCopyBufferInfoPeerlane(
    command_queue: Handle,
    src_buffer: Handle,
    dst_buffer: Handle,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let pair = match Pair::of(command_queue, src_buffer, dst_buffer) {
            Ok(pair) => pair,
            Err(error) => return error,
        };
        let way = pair
            .direct()
            .and_then(|direct| direct.check_board(pair.queue.device, pair.board.buffer));
        let answer = match param_name {
            COPY_BUFFER_PATH => {
                let path = way.map_or(PATH_HOST, |()| PATH_DIRECT);
                path.to_ne_bytes().to_vec()
            }
            COPY_BUFFER_REASON => {
                let reason = way.err().unwrap_or_else(|| "".into());
                [reason.as_bytes(), b"\0"].concat()
            }
            _ => return CL_INVALID_VALUE,
        };
        offered::give(&answer, param_value_size, param_value, param_value_size_ret)
    }
}

/// Names the memory that a peer's buffer is made of. Copies with that buffer use the memory.
///
/// # Safety
/// The device is any number, the buffer null or a live object of a platform.
pub(crate) unsafe extern "C" fn clSetPeerMemoryPeerlane(
    device: Handle,
    peer_buffer: Handle,
    memory: Handle,
    offset: usize,
) -> i32 {
    if objects::raw(device, Kind::Device).is_null() {
        return CL_INVALID_DEVICE;
    }
    // SAFETY: the caller's promise.
    let named = unsafe {
        Buffer::of(peer_buffer).and_then(|peer| match peer.is_part() {
            true => Err(CL_INVALID_MEM_OBJECT),
            false => board::name(peer.functions, peer_buffer, device, (memory, offset)),
        })
    };
    named.err().unwrap_or(CL_SUCCESS)
}

/// The function that the board's library needs: [`board::function_of_opencl`].
type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;
