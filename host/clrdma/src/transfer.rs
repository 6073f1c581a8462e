//! Transfers.

use crate::board::{Board, Code, Peer, result};
use crate::buffer::{Buffer, Turn};
use crate::direction::Direction;
use crate::error::{CLRDMA_TIMEOUT, Failure};
use crate::state::STATE;
use crate::turns::{Lane, wait_while};
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are registered at a time where there is no room for all of a buffer (the thesis, section 5.5).
const BLOCK: usize = 32 << 20;

/// Number of attempts at a copy whose registration is stale.
const ATTEMPTS: usize = 2;

/// State of a copy for the thread that waits for it, with the objects that the copy needs until its end.
struct Waited {
    ended: Mutex<Option<c_int>>,
    told: Condvar,
    /// Released before the end is reported: there may be room for one registration only.
    peer: Mutex<Option<Arc<Peer>>>,
    _buffer: Arc<Buffer>,
}

impl Waited {
    fn lock(&self) -> MutexGuard<'_, Option<c_int>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release_peer(&self) {
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        *peer = None;
    }

    /// Waits for the end, until a deadline.
    fn wait(&self, deadline: Option<Instant>) -> Option<c_int> {
        *wait_while(&self.told, self.lock(), deadline, |end| end.is_none())
    }
}

/// Reason why a copy has not ended well.
enum Why {
    Code(Code),
    /// The time was over before the copy was begun.
    Late,
    /// The copy goes on.
    GoesOn(Arc<Waited>),
}

/// A copy that no caller waits for any more. Until its end the buffer belongs to the board: the drop waits for it.
struct Behind {
    waited: Arc<Waited>,
    turn: Turn,
    _lane: Option<Lane>,
    /// The buffer's `cl_mem` is kept.
    kept: bool,
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.waited.wait(None);
        // There is no caller to report an error to.
        let buffer = self.turn.buffer();
        let _ = buffer.take_back();
        if self.kept {
            let _ = buffer.let_go();
        }
    }
}

/// Notes the end of a copy. The board's library calls this.
unsafe extern "C" fn ended(status: c_int, user: *mut c_void) {
    // SAFETY: it is the reference that was given to the copy, and this is called once.
    let waited = unsafe { Arc::from_raw(user.cast::<Waited>().cast_const()) };
    waited.release_peer();
    *waited.lock() = Some(status);
    waited.told.notify_all();
}

/// A part of a transfer: between an address of the board's memory and an offset of the buffer.
#[derive(Clone, Copy)]
struct Part {
    fpga: u64,
    offset: u64,
    bytes: usize,
}

/// A board and a buffer, with the direction between them.
#[derive(Clone, Copy)]
struct Ends<'a> {
    board: &'a Arc<Board>,
    buffer: &'a Arc<Buffer>,
    direction: Direction,
}

/// A registration of a buffer, or of a part.
struct Registered {
    peer: Arc<Peer>,
    /// Its offset in the buffer.
    first: u64,
}

/// Copies between registered memory and the board's, and waits for the end. No copy is begun after the deadline.
fn copy(
    ends: Ends<'_>,
    Registered { peer, first }: Registered,
    part: Part,
    deadline: Option<Instant>,
) -> Result<(), Why> {
    if deadline.is_some_and(|at| at <= Instant::now()) {
        return Err(Why::Late);
    }
    let waited = Arc::new(Waited {
        ended: Mutex::new(None),
        told: Condvar::new(),
        peer: Mutex::new(Some(Arc::clone(&peer))),
        _buffer: Arc::clone(ends.buffer),
    });
    let user = Arc::into_raw(Arc::clone(&waited));
    let (place, bytes) = (
        (part.fpga, &*peer, (part.offset - first) as usize),
        part.bytes,
    );
    // SAFETY: the function takes the reference that it is given.
    let begun = unsafe {
        let user = user.cast_mut().cast();
        match ends.direction {
            Direction::ToGpu => ends.board.copy_to(place, bytes, ended, user),
            Direction::ToBoard => ends.board.copy_from(place, bytes, ended, user),
        }
    };
    if let Err(code) = begun {
        // SAFETY: the function is not called after an error, so the reference is still ours.
        drop(unsafe { Arc::from_raw(user) });
        return Err(Why::Code(code));
    }
    match waited.wait(deadline) {
        Some(status) => result(status).map_err(Why::Code),
        None => Err(Why::GoesOn(waited)),
    }
}

/// Copies by the registration of the whole buffer, or where that has no room, by one for each block. If not even a block
/// has room, the registrations of other buffers make room for it.
fn move_all(
    ends: Ends<'_>,
    all: Part,
    deadline: Option<Instant>,
) -> Result<Result<(), Why>, Failure> {
    let Ends { board, buffer, .. } = ends;
    let access = buffer.access(ends.direction);
    match buffer.whole(board, access)? {
        Ok(peer) => {
            let whole = Registered { peer, first: 0 };
            return Ok(copy(ends, whole, all, deadline));
        }
        Err(code) if !code.is_no_room() => return Ok(Err(Why::Code(code))),
        Err(_) => {}
    }
    let mut done = 0;
    while done < all.bytes {
        let part = Part {
            fpga: all.fpga + done as u64,
            offset: all.offset + done as u64,
            bytes: (all.bytes - done).min(BLOCK),
        };
        let register = || buffer.register(board, (part.offset, part.bytes), access);
        let mut made = register()?;
        if matches!(&made, Err(code) if code.is_no_room()) {
            STATE.forget_all();
            made = register()?;
        }
        let registered = match made {
            Ok(peer) => Registered {
                peer: Arc::new(peer),
                first: part.offset,
            },
            Err(code) => return Ok(Err(Why::Code(code))),
        };
        if let Err(why) = copy(ends, registered, part, deadline) {
            return Ok(Err(why));
        }
        done += part.bytes;
    }
    Ok(Ok(()))
}

/// Copies as [`move_all`], and recovers from errors if possible.
fn move_or_mend(
    ends: Ends<'_>,
    all: Part,
    deadline: Option<Instant>,
) -> Result<Result<(), Why>, Failure> {
    let Ends {
        buffer, direction, ..
    } = ends;
    let mut moved = move_all(ends, all, deadline)?;
    for _ in 1..ATTEMPTS {
        match moved {
            Err(Why::Code(code)) if code.is_stale() => buffer.forget(),
            _ => break,
        }
        moved = move_all(ends, all, deadline)?;
    }
    // The board reads after its data to check that they have arrived. A platform that passes writes only, as the
    // thesis's, refuses that read, always. For memory that the board may only write, no such read is made.
    let refused = |moved: &Result<(), Why>| {
        direction == Direction::ToGpu && matches!(moved, Err(Why::Code(code)) if code.is_refused())
    };
    if refused(&moved) {
        // An error of another kind, with the same code, is not repeated, and must not end the check for good.
        moved = move_all(ends, all, deadline)?;
    }
    if refused(&moved) && buffer.set_writes_only(true) {
        // Before the memory takes entries of the board twice.
        buffer.forget();
        let third = move_all(ends, all, deadline);
        if !matches!(third, Ok(Ok(()))) {
            // That was not the reason, or is not known to be. Later transfers register the memory for both again.
            buffer.set_writes_only(false);
            buffer.forget();
        }
        moved = third?;
    }
    Ok(moved)
}

/// Moves bytes between the board's memory and the GPU's.
pub(crate) fn run(
    direction: Direction,
    fpga: u64,
    gpu: u64,
    bytes: usize,
    timeout_seconds: c_int,
) -> Result<(), Failure> {
    let limit = u64::try_from(timeout_seconds)
        .ok()
        .filter(|&limit| limit > 0);
    let deadline = limit.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let board = STATE.board()?;
    let buffer = STATE.at(gpu, bytes)?;
    let late = |why: &str| {
        let text = format!("{bytes} bytes were not moved in {timeout_seconds} s: {why}");
        Err(Failure::new(CLRDMA_TIMEOUT, text))
    };
    let Some(turn) = buffer.turn(deadline) else {
        return late(
            "another transfer with the GPU's buffer goes on. Give this transfer more time",
        );
    };
    if bytes == 0 {
        return Ok(());
    }
    let all = Part {
        fpga,
        offset: gpu - buffer.address(),
        bytes,
    };
    if !buffer.hand_over(deadline)? {
        return late(
            "commands of the GPU's queue go on. Wait for their end first (clFinish), or give the transfer more time",
        );
    }
    let ends = Ends {
        board: &board,
        buffer: &buffer,
        direction,
    };
    let lane = Lane::take(direction, deadline);
    let moved = match &lane {
        Some(_) => move_or_mend(ends, all, deadline),
        None => Ok(Err(Why::Late)),
    };
    if let Ok(Err(Why::GoesOn(waited))) = moved {
        let kept = turn.buffer().keep().is_ok();
        let behind = Behind {
            waited,
            turn,
            _lane: lane,
            kept,
        };
        // If no thread can be started, the drop waits here.
        let thread = std::thread::Builder::new().name("clrdma".into());
        let _ = thread.spawn(move || drop(behind));
        return late(
            "the copy goes on, for a minute at most. Neither use nor release the two buffers until \
             then; a transfer of 0 bytes with the GPU's buffer waits for that",
        );
    }
    let taken = buffer.take_back();
    match moved? {
        Ok(()) => taken,
        Err(Why::Code(code)) => Err(board.explain(code)),
        Err(_) => late("no part of it goes on. Give the transfer more time"),
    }
}
