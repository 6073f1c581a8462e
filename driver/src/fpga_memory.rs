// SPDX-License-Identifier: GPL-2.0

//! FPGA memory: which context has which part of it.
//!
//! A context has none at first. The memory that it allocates may hold data of others, so it is filled with zeros
//! first, by the context's own channel, which reads them from a small buffer of the driver. Until that is done only
//! the block and the driver use the range: the process can neither write descriptors for it nor look at it through
//! the window. If a call is interrupted, the next call need not fill again the part that is filled.
//!
//! # When a zero is in memory
//! A record says that the board's interconnect has taken the last word, not that the memory has it: the block's
//! masters use no write responses (`writeresponsevalid`, Avalon Interface Specifications), and the master that writes
//! cannot read. So it is not proved that no process reads the old content, but two facts support it. The time until
//! the first look consists of a record's way to the host, a wake-up, the end of a system call, and the way of a
//! doorbell or a load to the board: microseconds. And all masters of the block are connected to the same slaves of
//! the memory (`peerlane extend`), whose arbiters serve them in turn. So words that the interconnect has taken are at
//! most a few bursts away from the memory.
//!
//! # The memory holds zeros, unless data are damaged on their way
//! The driver does not read the memory back. If the root complex or an IOMMU refuses a read of the page of zeros, its
//! record says that it was not answered, or with an error, and `ALLOCATE` fails. Data that are known to be damaged
//! (poisoned) end so on a board that tags its reads. The port of other boards does not check that (`TAGGED_READS` in
//! `peerlane.h`). Data that others stored there are overwritten in either case.

use crate::{
    board::{explain, Board},
    context::{Context, Opening, Writer},
    dma::DmaPages,
    events::Deadline,
    ffi::{has_raw_io, Text},
    hw::Failure,
    logic::{
        att::{AttAddress, Entry, PageSize, Permissions},
        capability::Capabilities,
        channel::{self, LocalRange},
        descriptor::{Control, Direction},
        fault::Fault,
        fpga_memory::{Content, FpgaMemory, Grant, MemoryError, Offer, Token},
        lifecycle::Epoch,
        orders::Beside,
        owners::Owners,
        quota::Quota,
        table::{self, Reach},
        uapi::{allocate, free, Allocate, Free},
    },
    queue::{new_queue, Order},
};
use core::ops::Range;
use kernel::{
    bindings,
    device::{Bound, Device},
    new_mutex,
    prelude::*,
    sync::Mutex,
    time::Delta,
};

/// Number of ATT entries at the end of the table that all name the same page of zeros.
pub(crate) const ENTRIES: u32 = 8;
const PAGE: PageSize = PageSize::Kib64;
/// Bytes that one descriptor fills.
const PIECE: u64 = ENTRIES as u64 * PAGE.bytes();
/// Longest wait for one descriptor. It takes fractions of a millisecond, more where all channels are busy; and the
/// block ends by itself descriptors that are not answered.
const PATIENCE: Delta = Delta::from_secs(10);

/// The memory of a board.
#[pin_data]
pub(crate) struct BoardMemory {
    /// On the heap, as it is too large for a kernel's stack, on which a board is built.
    #[pin]
    state: Mutex<KBox<FpgaMemory>>,
    /// A page of zeros, which every channel may read. `None` once the board was released.
    #[pin]
    zeros: Mutex<Option<DmaPages>>,
    /// The first of the entries that name this page.
    first: u32,
    /// Content of these entries.
    entry: u64,
}

impl BoardMemory {
    /// Creates the memory of a board with these capabilities.
    pub(crate) fn new(
        device: &Device<Bound>,
        capabilities: &Capabilities,
        state: KBox<FpgaMemory>,
    ) -> Result<impl PinInit<Self>> {
        let zeros = DmaPages::new(device, PAGE.bytes() as usize, Permissions::Read)?;
        let first = capabilities.att_entries() - ENTRIES;
        let entry = Entry {
            address: zeros.address(),
            page_size: PAGE,
            permissions: Permissions::Read,
        };
        // Pages of the DMA API are aligned to their size (Documentation/core-api/dma-api-howto.rst).
        let entry = entry.encode().map_err(|error| {
            dev_err!(device, "zeros that the board can read: {}\n", Text(&error));
            EINVAL
        })?;
        Ok(pin_init!(Self {
            state <- new_mutex!(state),
            zeros <- new_mutex!(Some(zeros)),
            first,
            entry,
        }))
    }

    /// Calls `look` with the assignment of the memory to contexts.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&FpgaMemory) -> R) -> R {
        look(&self.state.lock())
    }

    /// Returns the bus address of the zeros, and their number of bytes.
    pub(crate) fn zeros(&self) -> Option<(u64, usize)> {
        let zeros = self.zeros.lock();
        zeros.as_ref().map(|zeros| (zeros.address(), zeros.bytes()))
    }

    /// Drops the knowledge about all content. Called before a board is started again, while no process can reach it.
    pub(crate) fn forget(&self) {
        self.state.lock().forget();
    }

    /// Frees a channel's memory. Nothing may be able to access it for the channel any more.
    pub(crate) fn take_back(&self, channel: u32, content: Content) {
        self.state.lock().free(channel, content);
    }

    /// Frees the page of zeros. The board must not be able to reach memory any more.
    pub(crate) fn retire(&self) {
        let zeros = self.zeros.lock().take();
        drop(zeros);
    }
}

impl Board {
    /// Writes the entries that name the zeros, in this start of the board.
    pub(crate) fn write_zeros(&self, epoch: Epoch) -> Result<(), Failure> {
        let BoardMemory { first, entry, .. } = self.memory;
        let entries = (first..first + ENTRIES).flat_map(|index| table::write_entry(index, entry));
        let owners = table::set_owners(Owners::ALL);
        self.hw
            .upkeep(epoch, Iterator::chain(owners.into_iter(), entries))
    }
}

/// FPGA memory of a context.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    range: LocalRange,
    /// Whether the process may use it already.
    ready: bool,
}

impl Share {
    /// No memory.
    pub(crate) const NONE: Self = Self {
        range: LocalRange::EMPTY,
        ready: true,
    };

    /// Returns the range that the block lets the channel access.
    pub(crate) fn channel(&self) -> LocalRange {
        self.range
    }

    /// Returns the range that the process may access.
    pub(crate) fn process(&self) -> LocalRange {
        match self.ready {
            true => self.range,
            false => LocalRange::EMPTY,
        }
    }

    fn is_none(&self) -> bool {
        self.range == LocalRange::EMPTY
    }
}

/// Kinds of requests of a process.
enum Wanted {
    Piece(u64),
    All { least: u64 },
    Offered(Token),
}

impl Wanted {
    fn of(board: &Board, arguments: &Allocate) -> Result<Self> {
        let Allocate {
            bytes, base, token, ..
        } = *arguments;
        if base != 0 {
            return Err(EINVAL);
        }
        match (arguments.flags, token) {
            (0, [0, 0]) => Ok(Self::Piece(bytes)),
            (allocate::ALL, [0, 0]) => match board.settings.hold_all || has_raw_io() {
                true => Ok(Self::All { least: bytes }),
                false => Err(EPERM),
            },
            (allocate::TAKE_OVER, token) if bytes == 0 => Ok(Self::Offered(Token(token))),
            _ => Err(EINVAL),
        }
    }
}

/// Creates a token that cannot be guessed.
fn new_token() -> Token {
    let mut words = [0u64; 2];
    // SAFETY: the array has so many bytes.
    unsafe { bindings::get_random_bytes(words.as_mut_ptr().cast(), size_of_val(&words)) };
    Token(words)
}

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Empty | MemoryError::Channel(_) => EINVAL,
            MemoryError::Exists => EEXIST,
            MemoryError::Held { .. } => EBUSY,
            MemoryError::Full { .. } => ENOSPC,
            MemoryError::NotOffered => ENOENT,
            MemoryError::Restarted => EAGAIN,
        }
    }
}

/// A call of `ALLOCATE` in progress.
struct Filling {
    grant: Grant,
    /// Bytes that are zero, from the start.
    done: u64,
    /// The channel had no writer before the call, and must have none after it.
    borrowed: bool,
}

impl Filling {
    /// Returns the content of the memory of a call that failed. The process could not reach it.
    fn content(&self) -> Content {
        self.grant.content(self.done)
    }
}

impl Context {
    /// Gives the context FPGA memory.
    pub(crate) fn allocate(&self, arguments: &mut Allocate) -> Result {
        let wanted = Wanted::of(&self.board, arguments)?;
        let inside = self.board.gate.enter()?;
        let mut filling = self.begin_filling(&wanted)?;
        drop(inside);
        let filled = self.fill(&mut filling);
        let _held = self.submission.lock();
        // Without the gate unbind has taken everything back.
        let _inside = self.board.gate.enter()?;
        let mut writer = self.writer.lock();
        let range = filling.grant.range.clone();
        let ended = filled.and_then(|()| self.end_filling(&mut writer, &filling));
        match ended {
            Ok(()) => {
                arguments.base = range.start;
                arguments.bytes = range.end - range.start;
                Ok(())
            }
            Err(error) => {
                self.abandon_filling(&mut writer, &filling);
                Err(error)
            }
        }
    }

    /// Whether the driver writes the channel's descriptors; if not, the channel has no writer. `EBUSY`: the process
    /// writes them, or the driver wrote some that have not ended.
    fn is_driven(&self, writer: &mut Writer) -> Result<bool> {
        match writer {
            Writer::Nobody => Ok(false),
            Writer::Driver(queue) => match self.is_idle(queue)? {
                true => Ok(true),
                false => Err(EBUSY),
            },
            Writer::Process(_) => Err(EBUSY),
        }
    }

    /// Takes memory for the channel; the process does not see it yet.
    fn begin_filling(&self, wanted: &Wanted) -> Result<Filling> {
        let board = &self.board;
        let mut writer = self.writer.lock();
        let queue = match self.is_driven(&mut writer)? {
            false => Some(new_queue(self)?),
            true => None,
        };
        let mut share = self.share.lock();
        if !share.is_none() {
            return Err(EEXIST);
        }
        let grant = board.with_quota(|quota| self.take_grant(quota, wanted))?;
        let filling = Filling {
            done: grant.ready,
            grant,
            borrowed: queue.is_some(),
        };
        let total = board.memory.look(FpgaMemory::bytes);
        let taken = self.take(&filling.grant, total, &mut share);
        if let Err(error) = taken {
            *share = Share::NONE;
            board.memory.take_back(self.channel, filling.content());
            return Err(error);
        }
        if let Some(queue) = queue {
            *writer = Writer::Driver(queue);
        }
        Ok(filling)
    }

    /// Takes memory for the channel, if its user may have so much more. No other context takes memory during this.
    fn take_grant(&self, quota: &Quota, wanted: &Wanted) -> Result<Grant> {
        let mut memory = self.board.memory.state.lock();
        let bytes = match *wanted {
            Wanted::Piece(bytes) => Ok(FpgaMemory::rounded(bytes)),
            Wanted::All { .. } => Ok(0),
            Wanted::Offered(token) => memory.offered(token),
        };
        let bytes = bytes.map_err(|error| self.explain(error))?;
        let may = quota.check_memory(self.channel, bytes, |channel| memory.charged(channel));
        may.map_err(|error| {
            explain!(self.board, "channel {}: {}\n", self.channel, Text(&error));
            EDQUOT
        })?;
        let grant = match *wanted {
            Wanted::Piece(bytes) => memory.allocate(self.channel, bytes),
            Wanted::All { least } => memory.allocate_all(self.channel, least),
            Wanted::Offered(token) => memory.take_over(self.channel, token),
        };
        grant.map_err(|error| self.explain(error))
    }

    fn explain(&self, error: MemoryError) -> Error {
        explain!(self.board, "channel {}: {}\n", self.channel, Text(&error));
        error.into()
    }

    fn take(&self, grant: &Grant, total: u64, share: &mut Share) -> Result {
        let range = LocalRange::new(grant.range.clone(), total).map_err(|_| EINVAL)?;
        *share = Share {
            range,
            ready: false,
        };
        // Not in a block that is stuck: an earlier owner may have left something in progress there.
        Ok(self
            .board
            .hw
            .run(channel::set_range(self.channel, &range))?)
    }

    /// Fills the part that is not zero yet, two descriptors at a time, outside of the gate except for their
    /// doorbells.
    fn fill(&self, filling: &mut Filling) -> Result {
        let Range { start, end } = filling.grant.range;
        let generation = self.events.seen().generation;
        let mut ahead = self.fill_piece(start + filling.done..end)?;
        while let Some((cookie, until)) = ahead {
            let next = self.fill_piece(until..end)?;
            let deadline = Deadline::after(PATIENCE);
            let ended = self.end(Direction::ToFpga, cookie, deadline);
            let record = ended.map_err(|error| if error == ETIME { EIO } else { error })?;
            let restarted = || self.events.seen().generation != generation;
            match record.outcome {
                Ok(()) => {}
                Err(Fault::Aborted) => {
                    self.board.hw.usable()?;
                    return Err(match restarted() {
                        true => EAGAIN,
                        // Another thread called `STOP`.
                        false => ECANCELED,
                    });
                }
                Err(fault) => {
                    explain!(
                        self.board,
                        "FPGA memory was not filled: {}; {}\n",
                        Text(fault),
                        fault.hint(Direction::ToFpga)
                    );
                    return Err(EIO);
                }
            }
            filling.done = until - start;
            ahead = next;
        }
        Ok(())
    }

    /// Has the board fill a piece of a range. Returns its cookie and the end of the piece; `None` if the range is
    /// empty.
    fn fill_piece(&self, range: Range<u64>) -> Result<Option<(u32, u64)>> {
        if range.is_empty() {
            return Ok(None);
        }
        let held = self.submission.lock();
        let _inside = self.board.gate.enter()?;
        let length = PIECE.min(range.end - range.start);
        let zeros = AttAddress::new(PAGE, self.board.memory.first, 0).ok_or(EINVAL)?;
        let order = Order {
            direction: Direction::ToFpga,
            offset: 0,
            local: range.start,
            length: length as u32,
            control: Control {
                // Even if the process moderates its interrupts.
                urgent: true,
                ..Control::default()
            },
        };
        let post = |hand_over: &mut dyn FnMut(AttAddress) -> Result<u32>| hand_over(zeros);
        let cookie = self.post(&held, Beside::default(), order, Share::channel, post)?;
        Ok(Some((cookie, range.start + length)))
    }

    /// Gives the memory to the process.
    fn end_filling(&self, writer: &mut Writer, filling: &Filling) -> Result {
        self.board
            .memory
            .look(|memory| memory.confirm(&filling.grant))?;
        if filling.borrowed {
            *writer = Writer::Nobody;
            // The next writer finds the ring at its first slot.
            let started = self.start_channel(writer, Opening::First);
            started.map_err(|failure| self.board.reported(failure))?;
        }
        self.share.lock().ready = true;
        Ok(())
    }

    /// Frees the memory of a call that failed: the filled part is still known to be zero, and memory from an offer is
    /// offered again.
    fn abandon_filling(&self, writer: &mut Writer, filling: &Filling) {
        let board = &self.board;
        let channel = self.channel;
        // With the fence the last records are in the ring.
        board.settle(|| {
            Iterator::chain(
                channel::abort(channel).into_iter(),
                table::fence(Reach::Host),
            )
        });
        let mut share = self.share.lock();
        *share = Share::NONE;
        board.settle(|| channel::set_range(channel, &LocalRange::EMPTY));
        // If the board was cut off or started again in the meantime, this content is not believed: the board drops
        // all notes before a context can allocate.
        board.memory.take_back(channel, filling.content());
        drop(share);
        if filling.borrowed {
            *writer = Writer::Nobody;
        }
        // Not only on a board that runs: one that is being started may have opened the channel already.
        board.settle_by(|epoch| match filling.borrowed {
            true => self.start_channel(writer, Opening::Again(epoch)),
            false => board.hw.upkeep(epoch, self.acceptance(writer)),
        });
    }

    /// Frees the context's FPGA memory, even if descriptors for it are in progress.
    pub(crate) fn give_up_memory(&self, writer: &Writer, share: &mut Share) {
        let (board, channel) = (&self.board, self.channel);
        // With the fence the last records are in the ring.
        board.settle(|| {
            Iterator::chain(
                channel::abort(channel).into_iter(),
                table::fence(Reach::Host),
            )
        });
        *share = Share::NONE;
        board.settle(|| channel::set_range(channel, &LocalRange::EMPTY));
        board.memory.take_back(channel, Content::Unknown);
        board.settle_by(|epoch| board.hw.upkeep(epoch, self.acceptance(writer)));
    }

    /// Frees the context's FPGA memory for an ioctl.
    pub(crate) fn free(&self, arguments: &mut Free) -> Result {
        if arguments.flags & !free::OFFER != 0 || arguments.token != [0, 0] {
            return Err(EINVAL);
        }
        let offer = arguments.flags & free::OFFER != 0;
        let memory = &self.board.memory;
        let mut writer = self.writer.lock();
        self.is_driven(&mut writer)?;
        let mut share = self.share.lock();
        if share.is_none() {
            return Err(ENOENT);
        }
        let board = &self.board;
        let lent = board.window_of(self.channel).is_some() || board.has_opencl(self.channel);
        if !share.ready || lent {
            return Err(EBUSY);
        }
        let content = match offer {
            true if memory.look(|memory| memory.holds_all(self.channel)) => return Err(EINVAL),
            true => {
                let token = new_token();
                arguments.token = token.0;
                // If the board drops all notes from here on, this offer is not valid.
                Content::Offered {
                    offer: Offer::new(token, self.user.id),
                    epoch: memory.look(FpgaMemory::epoch),
                }
            }
            false => Content::Unknown,
        };
        // Otherwise the channel could reach memory of its next owner.
        self.board
            .settle(|| channel::set_range(self.channel, &LocalRange::EMPTY));
        *share = Share::NONE;
        memory.take_back(self.channel, content);
        Ok(())
    }
}
