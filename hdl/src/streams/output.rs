//! A stream from peers to the logic: its buffer, and the account of the room in it.
//!
//! A request takes its place in the buffer when it leaves, so its answer always has room. Answers come in any order.
//! The logic sees the words of a request when it has retired, and requests retire in order.

use super::gate::Gate;
use super::ports::Unit;
use super::unpack::Unpack;
use super::waiter::Waiter;
use crate::prim::{AsyncFifo, BusSync, DwordRam, Part, parts, words};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

words! {
    /// A request that has retired.
    struct Commit {
        /// Words that it has in the buffer.
        words: Bits<4>,
        /// Bytes of the last, 0 for 64.
        tail: Bits<6>,
        /// The last of its descriptor.
        last: Bit,
        /// It has failed, or an earlier one of its descriptor.
        failed: Bit,
    }
}

/// One stream: words of `U` bits.
#[derive(DocBlock)]
pub struct Output<const U: usize> {
    /// The logic's clock, and its words; see [`Unpack`].
    pub logic_clk: Signal<In, Clock>,
    pub logic_valid: Signal<Out, Bit>,
    pub logic_ready: Signal<In, Bit>,
    pub logic_data: Signal<Out, Bits<U>>,
    pub logic_startofpacket: Signal<Out, Bit>,
    pub logic_endofpacket: Signal<Out, Bit>,
    pub logic_empty: Signal<Out, Bits<6>>,
    pub logic_error: Signal<Out, Bit>,

    pub pcie_clk: Signal<In, Clock>,
    /// Number of the stream.
    pub id: Signal<In, Bits<4>>,
    /// The part that all outputs share.
    pub unit_out: Unit,
    /// Word of the buffer where the next request's data begin.
    pub unit_out_place: Signal<Out, Bits<9>>,
    /// A request of the stream `unit_out_of` and of `unit_out_from` has retired.
    pub unit_out_retired: Signal<In, Bit>,
    pub unit_out_of: Signal<In, Bits<4>>,
    pub unit_out_from: Signal<In, Bits<6>>,
    pub unit_out_moved: Signal<In, Bits<10>>,
    pub unit_out_last: Signal<In, Bit>,
    pub unit_out_failed: Signal<In, Bit>,
    /// In the clock of FPGA memory: a word of the stream `unit_out_to`, and its dwords.
    pub clk: Signal<In, Clock>,
    pub unit_out_write: Signal<In, Bit>,
    pub unit_out_to: Signal<In, Bits<4>>,
    pub unit_out_address: Signal<In, Bits<9>>,
    pub unit_out_dwords: Signal<In, Bits<16>>,
    pub unit_out_data: Signal<In, Bits<512>>,

    buffer: DwordRam<9>,
    /// A word has up to two of them: one failed end can follow each. A request leaves only if there is room for more
    /// than its bytes or if it is the last of its descriptor, so there are never more.
    commits: AsyncFifo<Commit, 10, 11>,
    unpack: Unpack<U>,
    gate: Gate,
    waiter: Waiter,
    used_seen: BusSync<10>,
    /// Words that requests have taken, and those of them that are free again.
    taken: DFF<Bits<10>>,
    freed: DFF<Bits<10>>,
    /// Requests that have not retired.
    owed: DFF<Bits<7>>,
    /// The logic will see a packet that has begun and not ended.
    begun: DFF<Bit>,

    selected: Signal<Local, Bit>,
    mine: Signal<Local, Bit>,
    claims: Signal<Local, Bit>,
    claimed: Signal<Local, Bits<10>>,
    in_use: Signal<Local, Bits<10>>,
    room: Signal<Local, Bits<10>>,
    bytes: Signal<Local, Bits<13>>,
    gray_1: Signal<Local, Bits<10>>,
    gray_2: Signal<Local, Bits<10>>,
    gray_4: Signal<Local, Bits<10>>,
    retires: Signal<Local, Bit>,
    retires_data: Signal<Local, Bit>,
    owns: Signal<Local, Bit>,
    commits_now: Signal<Local, Bit>,

    word_round: Constant<Bits<10>>,
    all_words: Constant<Bits<10>>,
}

impl<const U: usize> Default for Output<U> {
    fn default() -> Self {
        Self::fresh(OutputGiven {
            word_round: Constant::new(63.into()),
            all_words: Constant::new(512.into()),
        })
    }
}

impl<const U: usize> Logic for Output<U> {
    parts!(Opening, Account, Commits, Logics);
}

/// Settings, and the resets of both sides.
struct Opening;

/// Room in the buffer.
struct Account;

/// Requests that have retired.
struct Commits;

/// The buffer, and the logic's side.
struct Logics;

impl<const U: usize> Part<Opening> for Output<U> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, pcie_clk, taken, freed, owed, begun);
        self.selected.next = self.unit_out.select.val() == self.id.val();
        self.gate.pcie_clk.next = self.pcie_clk.val();
        self.gate.logic_clk.next = self.logic_clk.val();
        self.gate.clear.next = self.unit_out.clear.val();
        self.gate.write.next = self.selected.val() & self.unit_out.control_we.val();
        self.gate.writedata.next = self.unit_out.writedata.val();
        self.gate.owed.next = self.owed.q.val().any();
        self.mine.next = self.unit_out.number.val() == self.id.val();
        self.claims.next = self.mine.val() & self.unit_out.claim.val();
        self.gate.claims.next = self.claims.val();
        self.gate.closes.next = self.unit_out.closes.val();
        self.gate.fails.next = self.mine.val() & self.unit_out.fails.val();
        self.gate.channel.next = self.unit_out.channel.val();
    }
}

impl<const U: usize> Part<Account> for Output<U> {
    #[hdl_gen]
    fn update(&mut self) {
        self.claimed.next = 0.into();
        if self.claims.val() {
            self.claimed.next = (self.unit_out.bytes.val() + self.word_round.val()) >> 6;
        }
        self.taken.d.next = self.taken.q.val() + self.claimed.val();
        self.used_seen.clock.next = self.pcie_clk.val();
        self.used_seen.unsynced.next = self.unpack.used.val();
        self.gray_1.next = self.used_seen.synced.val() ^ (self.used_seen.synced.val() >> 1);
        self.gray_2.next = self.gray_1.val() ^ (self.gray_1.val() >> 2);
        self.gray_4.next = self.gray_2.val() ^ (self.gray_2.val() >> 4);
        self.freed.d.next = self.gray_4.val() ^ (self.gray_4.val() >> 8);
        self.in_use.next = self.taken.q.val() - self.freed.q.val();
        if self.gate.closed.val() {
            self.in_use.next = 0.into();
        }
        self.room.next = self.all_words.val() - self.in_use.val();
        // More than any request needs is all the same.
        self.bytes.next = bit_cast::<13, 10>(self.room.val()) << 6;
        if self.room.val().get_bits::<4>(6).any() {
            self.bytes.next = 4096.into();
        }
        self.unit_out_place.next = 0.into();
        self.unit_out.held.next = 0.into();
        if self.mine.val() {
            self.unit_out_place.next = self.taken.q.val().get_bits::<9>(0);
            self.unit_out.held.next = self.bytes.val();
        }
        self.unit_out.open.next = self.selected.val() & !self.gate.closed.val();
        self.unit_out.waiting.next = 0.into();
        if self.selected.val() {
            self.unit_out.waiting.next = bit_cast::<16, 10>(self.in_use.val()) << 6;
        }
        self.unit_out.granted.next = self.mine.val()
            & !self.gate.closed.val()
            & (self.unit_out.channel.val() == self.gate.owner.val());
        self.waiter.clock.next = self.pcie_clk.val();
        self.waiter.clear.next = self.unit_out.clear.val();
        self.waiter.starves.next = self.mine.val() & self.unit_out.starves.val();
        self.waiter.channel.next = self.unit_out.channel.val();
        self.waiter.bytes.next = self.unit_out.bytes.val();
        self.waiter.closes.next = self.unit_out.closes.val();
        self.waiter.held.next = self.bytes.val();
        self.waiter.ended.next = self.gate.closed.val();
        self.waiter.owner.next = self.gate.owner.val();
        self.unit_out.wake.next = self.waiter.wake.val();
        // Not earlier: a request that was judged before the stream was closed may leave after that.
        if self.gate.drained.val() {
            self.taken.d.next = 0.into();
        }
    }
}

impl<const U: usize> Part<Commits> for Output<U> {
    #[hdl_gen]
    fn update(&mut self) {
        self.retires.next = self.unit_out_retired.val() & (self.unit_out_of.val() == self.id.val());
        self.retires_data.next = self.retires.val() & self.unit_out_moved.val().any();
        self.owed.d.next = self.owed.q.val() + bit_cast::<7, 1>(self.claims.val().into())
            - bit_cast::<7, 1>(self.retires_data.val().into());
        // A descriptor of another channel has failed and says nothing about this stream's packets.
        self.owns.next =
            !self.gate.closed.val() & (self.unit_out_from.val() == self.gate.owner.val());
        self.commits_now.next = self.retires.val()
            & self.owns.val()
            & (self.unit_out_moved.val().any() | (self.unit_out_last.val() & self.begun.q.val()));
        self.commits.push.next = self.commits_now.val();
        self.commits.data_in.next.words =
            bit_cast::<4, 10>((self.unit_out_moved.val() + self.word_round.val()) >> 6);
        self.commits.data_in.next.tail = self.unit_out_moved.val().get_bits::<6>(0);
        self.commits.data_in.next.last = self.unit_out_last.val();
        self.commits.data_in.next.failed = self.unit_out_failed.val();
        if self.commits_now.val() {
            self.begun.d.next =
                !self.unit_out_last.val() & (self.begun.q.val() | !self.unit_out_failed.val());
        }
        if self.gate.closed.val() {
            self.begun.d.next = false;
        }
        if self.unit_out.clear.val() {
            self.owed.d.next = 0.into();
        }
    }
}

impl<const U: usize> Part<Logics> for Output<U> {
    #[hdl_gen]
    fn update(&mut self) {
        // The writing side is reset when the reading side is: a pointer that is reset must not look like words there.
        self.commits.write_clock.next = self.pcie_clk.val();
        self.commits.write_reset.next = self.gate.logic_reset_seen.val();
        self.commits.read_clock.next = self.logic_clk.val();
        self.commits.read_reset.next = self.gate.logic_reset.val();
        self.commits.pop.next = self.unpack.pop.val();
        self.buffer.write_clock.next = self.clk.val();
        self.buffer.write_enable.next = 0.into();
        if self.unit_out_write.val() & (self.unit_out_to.val() == self.id.val()) {
            self.buffer.write_enable.next = self.unit_out_dwords.val();
        }
        self.buffer.write_address.next = self.unit_out_address.val();
        self.buffer.write_data.next = self.unit_out_data.val();
        self.buffer.read_clock.next = self.logic_clk.val();
        self.buffer.read_address.next = self.unpack.address.val();
        self.unpack.clock.next = self.logic_clk.val();
        self.unpack.reset.next = self.gate.logic_reset.val();
        self.unpack.some.next = self.commits.valid.val();
        self.unpack.commit.next = self.commits.data.val();
        self.unpack.word.next = self.buffer.read_data.val();
        self.unpack.ready.next = self.logic_ready.val();
        self.logic_valid.next = self.unpack.valid.val();
        self.logic_data.next = self.unpack.data.val();
        self.logic_startofpacket.next = self.unpack.startofpacket.val();
        self.logic_endofpacket.next = self.unpack.endofpacket.val();
        self.logic_empty.next = self.unpack.empty.val();
        self.logic_error.next = self.unpack.error.val();
    }
}
