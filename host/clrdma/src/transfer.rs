//! Transfers.

use crate::board::{Board, Code, Peer, result};
use crate::buffer::Buffer;
use crate::error::{CLRDMA_TIMEOUT, Failure};
use crate::state::STATE;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToGpu,
    ToBoard,
}

/// What is registered at a time where there is no room for all of a buffer (the thesis, section 5.5).
const BLOCK: usize = 32 << 20;

/// How often a copy is tried whose registration is stale.
const ATTEMPTS: usize = 2;

/// What somebody waits for, and what a copy needs to its end.
struct Waited {
    ended: Mutex<Option<c_int>>,
    told: Condvar,
    _peer: Arc<Peer>,
    _buffer: Arc<Buffer>,
}

/// Why a copy has not ended well.
enum Why {
    Code(Code),
    Late,
}

/// Told by the board's library that a copy has ended.
unsafe extern "C" fn ended(status: c_int, user: *mut c_void) {
    // SAFETY: it is the reference that was given to the copy, and this is called once.
    let waited = unsafe { Arc::from_raw(user.cast::<Waited>().cast_const()) };
    let mut ended = waited.ended.lock().unwrap_or_else(PoisonError::into_inner);
    *ended = Some(status);
    waited.told.notify_all();
}

/// A part of a transfer: between an address of the board's memory and an offset of the buffer.
#[derive(Clone, Copy)]
struct Part {
    fpga: u64,
    offset: u64,
    bytes: usize,
}

/// Copies between registered memory and the board's, and waits for the end. `first` is the registration's place in the
/// buffer.
fn copy(
    (board, buffer, direction): (&Board, &Arc<Buffer>, Direction),
    (peer, first): (Arc<Peer>, u64),
    part: Part,
    deadline: Option<Instant>,
) -> Result<(), Why> {
    let waited = Arc::new(Waited {
        ended: Mutex::new(None),
        told: Condvar::new(),
        _peer: Arc::clone(&peer),
        _buffer: Arc::clone(buffer),
    });
    let user = Arc::into_raw(Arc::clone(&waited));
    let (place, bytes) = (
        (part.fpga, &*peer, (part.offset - first) as usize),
        part.bytes,
    );
    // SAFETY: the function takes the reference that it is given.
    let begun = unsafe {
        let user = user.cast_mut().cast();
        match direction {
            Direction::ToGpu => board.copy_to(place, bytes, ended, user),
            Direction::ToBoard => board.copy_from(place, bytes, ended, user),
        }
    };
    if let Err(code) = begun {
        // SAFETY: nobody is told, so the reference is still ours.
        drop(unsafe { Arc::from_raw(user) });
        return Err(Why::Code(code));
    }
    let mut end = waited.ended.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(status) = *end {
            return result(status).map_err(Why::Code);
        }
        end = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => (waited.told.wait(end)).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => return Err(Why::Late),
            Some(left) => {
                let woken = waited.told.wait_timeout(end, left);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// By the registration of the whole buffer, or where that has no room by one for each block.
fn move_all(
    which: (&Arc<Board>, &Arc<Buffer>, Direction),
    all: Part,
    deadline: Option<Instant>,
) -> Result<Result<(), Why>, Failure> {
    let (board, buffer, direction) = which;
    match buffer.whole(board)? {
        Ok(peer) => {
            let copied = copy((board, buffer, direction), (peer, 0), all, deadline);
            return Ok(copied);
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
        let peer = match buffer.register(board, part.offset, part.bytes)? {
            Ok(peer) => (Arc::new(peer), part.offset),
            Err(code) => return Ok(Err(Why::Code(code))),
        };
        if let Err(why) = copy((board, buffer, direction), peer, part, deadline) {
            return Ok(Err(why));
        }
        done += part.bytes;
    }
    Ok(Ok(()))
}

/// Moves bytes between the board's memory and the GPU's.
pub(crate) fn run(
    direction: Direction,
    fpga: u64,
    gpu: u64,
    bytes: usize,
    timeout_seconds: c_int,
) -> Result<(), Failure> {
    let board = STATE.board()?;
    let buffer = STATE.at(gpu, bytes)?;
    if bytes == 0 {
        return Ok(());
    }
    let limit = u64::try_from(timeout_seconds)
        .ok()
        .filter(|&limit| limit > 0);
    let deadline = limit.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let all = Part {
        fpga,
        offset: gpu - buffer.address(),
        bytes,
    };
    let _turn = buffer.turn();
    buffer.hand_over()?;
    let mut moved = move_all((&board, &buffer, direction), all, deadline);
    for _ in 1..ATTEMPTS {
        match moved {
            Ok(Err(Why::Code(code))) if code.is_stale() => buffer.forget(),
            _ => break,
        }
        moved = move_all((&board, &buffer, direction), all, deadline);
    }
    let taken = buffer.take_back();
    match moved? {
        Ok(()) => taken,
        Err(Why::Code(code)) => Err(board.explain(code)),
        Err(Why::Late) => Err(Failure::new(
            CLRDMA_TIMEOUT,
            format!(
                "{bytes} bytes were not moved in {timeout_seconds} s. Give the transfer more time"
            ),
        )),
    }
}
