// SPDX-License-Identifier: GPL-2.0

//! `/sys/kernel/debug/peerlane<number>/`: files that show the state of the board.

use crate::{
    board::Board,
    context::Context,
    logic::counters::{self, BlockCounters, ChannelCounters, LinkErrors},
};
use kernel::{
    debugfs::{Dir, File},
    fmt::Formatter,
    prelude::*,
    str::CString,
    sync::Arc,
};

/// A board's files.
#[pin_data]
pub(crate) struct Files {
    #[pin]
    state: File<Arc<Board>>,
    #[pin]
    counters: File<Arc<Board>>,
    #[pin]
    link: File<Arc<Board>>,
    _dir: Dir,
}

impl Files {
    /// Makes the files. Debugging aids do not fail: without debugfs the files do not exist.
    pub(crate) fn new(
        board: &Arc<Board>,
        number: u32,
    ) -> Result<impl PinInit<Self, Error> + use<>> {
        let name = CString::try_from_fmt(fmt!("peerlane{}", number))?;
        let dir = Dir::new(&name);
        let (one, two, three) = (board.clone(), board.clone(), board.clone());
        Ok(try_pin_init!(Self {
            state <- dir.read_callback_file(c"state", Ok::<_, Error>(one), &state),
            counters <- dir.read_callback_file(c"counters", Ok::<_, Error>(two), &counters),
            link <- dir.read_callback_file(c"link", Ok::<_, Error>(three), &link),
            _dir: dir.clone(),
        }? Error))
    }
}

fn state(board: &Arc<Board>, f: &mut Formatter<'_>) -> kernel::fmt::Result {
    let identity = &board.identity;
    writeln!(f, "map_id {:#010x}", identity.map_id)?;
    writeln!(f, "build_id {:#010x}", identity.build_id)?;
    writeln!(f, "{:?}", board.capabilities)?;
    let (entries, free) = board.entries();
    writeln!(f, "att entries {}, used {}", entries, entries - free)?;
    let (bytes, pool, free) = board
        .memory
        .look(|memory| (memory.bytes(), memory.pool(), memory.free_bytes()));
    writeln!(
        f,
        "FPGA memory {:#x}, allocated from {:#x} on, free {:#x}",
        bytes, pool.start, free
    )?;
    if let Some((address, bytes)) = board.memory.zeros() {
        writeln!(f, "zeros {:#x} + {}", address, bytes)?;
    }
    let mut result = Ok(());
    board.for_each_user(|user| {
        let ring = user
            .with_ring(|ring| (ring.address(), ring.bytes()))
            .unwrap_or((0, 0));
        let seen = user.events.seen();
        let (regions, bytes) = user.regions.lock().usage();
        let line = writeln!(
            f,
            "channel {}: ring {:#x} + {}, {} events, generation {}, regions {} ({} bytes), kept {} ({} bytes), revoked {}",
            user.channel, ring.0, ring.1, seen.events, seen.generation, regions[0], bytes[0], regions[1], bytes[1], seen.revoked
        );
        result = result.and(line).and(owner(board, user, f));
    });
    result
}

/// Writes which process has opened a channel, and how much of its user's quota it uses.
fn owner(board: &Board, user: &Context, f: &mut Formatter<'_>) -> kernel::fmt::Result {
    let channel = user.channel;
    let held = board.memory.look(|memory| memory.held(channel));
    let bytes = held.as_ref().map_or(0, |held| held.end - held.start);
    let window = board.window_of(channel);
    write!(
        f,
        "channel {}: opened by process {} of user {}, has {} ATT entries, {} bytes of FPGA memory",
        channel,
        user.opener,
        user.user.id,
        board.entries_of(channel),
        bytes
    )?;
    if window.is_some() {
        f.write_str(", the window")?;
    }
    match board.with_quota(|quota| quota.pinned(user.user.id)) {
        0 => {}
        pinned => write!(f, ", its user {} bytes of other devices' memory", pinned)?,
    }
    f.write_str("\n")?;
    if let Some(held) = held {
        writeln!(f, "its FPGA memory is {:#x}..{:#x}", held.start, held.end)?;
    }
    if let Some(window) = window {
        writeln!(f, "its is the window, at {:#x}", window.base())?;
    }
    Ok(())
}

fn read(board: &Board) -> Result<(BlockCounters, KVec<ChannelCounters>)> {
    let _inside = board.gate.enter()?;
    board.hw.run(counters::snapshot())?;
    let block = BlockCounters::read(|register| board.hw.read(register))?;
    let mut channels = KVec::new();
    for number in 0..board.capabilities.channels {
        let channel = ChannelCounters::read(number, |register| board.hw.read(register))?;
        channels.push(channel, GFP_KERNEL)?;
    }
    Ok((block, channels))
}

fn counters(board: &Arc<Board>, f: &mut Formatter<'_>) -> kernel::fmt::Result {
    let Ok((block, channels)) = read(board) else {
        return writeln!(f, "the board does not answer");
    };
    writeln!(f, "{:?}", block)?;
    for (number, channel) in channels.iter().enumerate() {
        writeln!(f, "channel {}: {:?}", number, channel)?;
    }
    Ok(())
}

/// Writes the errors of the link. They are not part of the counters' snapshot, and another reset clears them.
fn link(board: &Arc<Board>, f: &mut Formatter<'_>) -> kernel::fmt::Result {
    if !board.capabilities.tlp {
        return writeln!(f, "the block has no transaction layer of its own");
    }
    let read = || {
        let _inside = board.gate.enter()?;
        Ok::<_, Error>(LinkErrors::read(|register| board.hw.read(register))?)
    };
    match read() {
        Ok(errors) => writeln!(f, "{:?}", errors),
        Err(_) => writeln!(f, "the board does not answer"),
    }
}
