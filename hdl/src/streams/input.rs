//! A stream's end on the PCIe side: how much waits, and where blocks end.
//!
//! Beats come out of the FIFO between the clocks into one that counts. After the end of a block no further beat is
//! taken until a request has closed that block. So at most one end is known, and it is that of all bytes that wait.

use super::gate::Gate;
use super::pack::Pack;
use super::ports::Unit;
use super::waiter::Waiter;
use crate::prim::{AsyncFifo, BitSync, BlockFifo, Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// One stream: words of `U` bits, beats of `F` bits between the clocks, `G` = `F + 10`, beats of `W` bits and `B` bytes
/// at the port.
#[derive(DocBlock)]
pub struct Input<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> {
    /// The logic's clock, and its words.
    pub logic_clk: Signal<In, Clock>,
    pub logic_valid: Signal<In, Bit>,
    pub logic_ready: Signal<Out, Bit>,
    /// The first byte is in the lowest bits.
    pub logic_data: Signal<In, Bits<U>>,
    pub logic_endofpacket: Signal<In, Bit>,
    /// Bytes of the last word of a packet that are not valid, the highest.
    pub logic_empty: Signal<In, Bits<6>>,

    pub pcie_clk: Signal<In, Clock>,
    /// Number of the stream.
    pub id: Signal<In, Bits<4>>,
    /// The part that all inputs share.
    pub unit_in: Unit,
    pub unit_in_limit_we: Signal<In, Bit>,
    /// Time in cycles; one cycle in 256.
    pub unit_in_now: Signal<In, Bits<48>>,
    pub unit_in_tick: Signal<In, Bit>,
    /// The block ends with the bytes that wait.
    pub unit_in_sealed: Signal<Out, Bit>,
    /// Header of the block that `claim` closes.
    pub unit_in_header: Signal<Out, Bits<64>>,
    /// A beat of the stream `unit_in_from` is asked for, and given.
    pub unit_in_from: Signal<In, Bits<4>>,
    pub unit_in_pull: Signal<In, Bit>,
    pub unit_in_given: Signal<Out, Bit>,
    pub unit_in_data: Signal<Out, Bits<W>>,

    #[given]
    pack: Pack<U, F, G>,
    between: AsyncFifo<Bits<G>, 9, 10>,
    gate: Gate,
    waiter: Waiter,
    flush_seen: BitSync,
    some_seen: BitSync,
    /// The driver's time limit.
    limit: DFF<Bits<16>>,
    #[given]
    beats: BlockFifo<Bits<W>, 7, 8>,
    slice: DFF<Bits<2>>,
    held: DFF<Bits<13>>,
    sealed: DFF<Bit>,
    ends_packet: DFF<Bit>,
    /// Lost words in front of the bytes that wait, and after them.
    lost: DFF<Bits<15>>,
    lost_after: DFF<Bits<15>>,
    began: DFF<Bits<48>>,
    /// Time limit of a block: units since its first byte; the end was asked for, and the block has ended since.
    elapsed: DFF<Bits<16>>,
    flush: DFF<Bit>,
    asked: DFF<Bit>,
    stale: DFF<Bit>,
    /// Beats of requests that have not been given.
    owed: DFF<Bits<13>>,

    selected: Signal<Local, Bit>,
    mine: Signal<Local, Bit>,
    claims: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    unseals: Signal<Local, Bit>,
    pulled: Signal<Local, Bit>,
    /// The front of the FIFO.
    on: Signal<Local, Bit>,
    bytes: Signal<Local, Bits<7>>,
    flags: Signal<Local, Bits<3>>,
    left: Signal<Local, Bits<7>>,
    is_mark: Signal<Local, Bit>,
    is_whole: Signal<Local, Bit>,
    last_slice: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    marks: Signal<Local, Bit>,
    seals: Signal<Local, Bit>,
    answers: Signal<Local, Bit>,
    adds: Signal<Local, Bits<13>>,
    subtracts: Signal<Local, Bits<13>>,
    held_next: Signal<Local, Bits<13>>,
    more_lost: Signal<Local, Bits<16>>,
    claimed_bytes: Signal<Local, Bits<13>>,
    given_beats: Signal<Local, Bits<13>>,

    bytes_at: Constant<Bits<10>>,
    flags_at: Constant<Bits<10>>,
    beat_bytes: Constant<Bits<7>>,
    beat_round: Constant<Bits<13>>,
    whole_bytes: Constant<Bits<7>>,
    beat_bytes_log2: Constant<Bits<3>>,
    beat_bits_log2: Constant<Bits<4>>,
    most_beats: Constant<Bits<8>>,
    most_lost: Constant<Bits<16>>,
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize>
    Input<U, F, G, W, B>
{
    /// A stream with packets or without, whose logic can wait or not.
    pub fn new(packets: bool, lossy: bool) -> Self {
        assert!(G == F + 10 && W == 8 * B && F.is_multiple_of(W));
        Self::fresh(InputGiven {
            pack: Pack::new(packets, lossy),
            beats: BlockFifo::new(7),
            bytes_at: Constant::new((F as u64).into()),
            flags_at: Constant::new((F as u64 + 7).into()),
            beat_bytes: Constant::new((B as u64).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            whole_bytes: Constant::new((F as u64 / 8).into()),
            beat_bytes_log2: Constant::new(u64::from(B.trailing_zeros()).into()),
            beat_bits_log2: Constant::new(u64::from(W.trailing_zeros()).into()),
            // The output register has one more.
            most_beats: Constant::new(120.into()),
            most_lost: Constant::new(32767.into()),
        })
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Logic
    for Input<U, F, G, W, B>
{
    parts!(Opening, Front, Account, Limit, Outputs);
}

/// Settings, and the resets of both sides.
struct Opening;

/// The next beat of the FIFO between the clocks.
struct Front;

/// Bytes that wait, and the end of their block.
struct Account;

/// The time limit.
struct Limit;

/// Signals to the other parts; and the reset.
struct Outputs;

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Opening>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            pcie_clk,
            limit,
            slice,
            held,
            sealed,
            ends_packet,
            lost,
            lost_after,
            began,
            elapsed,
            flush,
            asked,
            stale,
            owed
        );
        self.selected.next = self.unit_in.select.val() == self.id.val();
        if self.selected.val() & self.unit_in_limit_we.val() {
            self.limit.d.next = self.unit_in.writedata.val().get_bits::<16>(0);
        }
        self.gate.pcie_clk.next = self.pcie_clk.val();
        self.gate.logic_clk.next = self.logic_clk.val();
        self.gate.clear.next = self.unit_in.clear.val();
        self.gate.write.next = self.selected.val() & self.unit_in.control_we.val();
        self.gate.writedata.next = self.unit_in.writedata.val();
        self.gate.owed.next = self.owed.q.val().any();
        self.mine.next = self.unit_in.number.val() == self.id.val();
        self.claims.next = self.mine.val() & self.unit_in.claim.val();
        self.closes.next = self.claims.val() & self.unit_in.closes.val();
        self.gate.claims.next = self.claims.val();
        self.gate.closes.next = self.closes.val();
        self.gate.fails.next = self.mine.val() & self.unit_in.fails.val();
        self.gate.channel.next = self.unit_in.channel.val();

        self.pack.clock.next = self.logic_clk.val();
        self.pack.reset.next = self.gate.logic_reset.val();
        self.pack.valid.next = self.logic_valid.val();
        self.logic_ready.next = self.pack.ready.val();
        self.pack.data.next = self.logic_data.val();
        self.pack.endofpacket.next = self.logic_endofpacket.val();
        self.pack.empty.next = self.logic_empty.val();
        self.flush_seen.clock.next = self.logic_clk.val();
        self.flush_seen.unsynced.next = self.flush.q.val();
        self.pack.flush.next = self.flush_seen.synced.val();
        self.some_seen.clock.next = self.pcie_clk.val();
        self.some_seen.unsynced.next = self.pack.some.val();
        self.between.write_clock.next = self.logic_clk.val();
        self.between.write_reset.next = self.gate.logic_reset.val();
        self.between.push.next = self.pack.push.val();
        self.between.data_in.next = self.pack.beat.val();
        self.pack.full.next = self.between.full.val();
        self.between.read_clock.next = self.pcie_clk.val();
        self.between.read_reset.next = self.gate.closed.val();
        self.beats.clock.next = self.pcie_clk.val();
        self.beats.reset.next = self.gate.drained.val() | self.unit_in.clear.val();
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Front>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        // Not in a cycle in which a request takes bytes: the end of the block may be that request's.
        self.on.next = self.between.valid.val()
            & !self.sealed.q.val()
            & !self.claims.val()
            & !self.gate.closed.val()
            & (self.beats.level.val() < self.most_beats.val());
        self.bytes.next = bit_cast::<7, G>(self.between.data.val() >> self.bytes_at.val());
        self.flags.next = bit_cast::<3, G>(self.between.data.val() >> self.flags_at.val());
        self.is_mark.next = !self.bytes.val().any();
        self.is_whole.next = self.bytes.val() == self.whole_bytes.val();
        self.left.next =
            self.bytes.val() - (bit_cast::<7, 2>(self.slice.q.val()) << self.beat_bytes_log2.val());
        self.last_slice.next = self.left.val() <= self.beat_bytes.val();
        self.takes.next = self.on.val() & !self.is_mark.val();
        self.marks.next = self.on.val() & self.is_mark.val();
        self.answers.next = (self.marks.val() | (self.takes.val() & self.last_slice.val()))
            & self.flags.val().get_bit(2);
        // The end that the time limit asks for can come after the block has ended in another way. Then it does not count.
        // But a beat that is not full is the last of its block, and so is a packet's.
        self.seals.next = self.takes.val()
            & self.last_slice.val()
            & self.flags.val().get_bit(0)
            & (self.flags.val().get_bit(1)
                | !self.flags.val().get_bit(2)
                | !self.stale.q.val()
                | !self.is_whole.val());
        self.between.pop.next = self.marks.val() | (self.takes.val() & self.last_slice.val());
        self.beats.push.next = self.takes.val();
        self.beats.data_in.next = bit_cast::<W, G>(
            self.between.data.val()
                >> (bit_cast::<10, 2>(self.slice.q.val()) << self.beat_bits_log2.val()),
        );
        if self.takes.val() {
            self.slice.d.next = self.slice.q.val() + 1;
            if self.last_slice.val() {
                self.slice.d.next = 0.into();
            }
        }
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Account>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.adds.next = 0.into();
        if self.takes.val() {
            self.adds.next = bit_cast::<13, 7>(self.beat_bytes.val());
            if self.last_slice.val() {
                self.adds.next = bit_cast::<13, 7>(self.left.val());
            }
        }
        self.subtracts.next = 0.into();
        if self.claims.val() {
            self.subtracts.next = bit_cast::<13, 10>(self.unit_in.bytes.val());
        }
        self.held_next.next = self.held.q.val() + self.adds.val() - self.subtracts.val();
        self.held.d.next = self.held_next.val();
        self.unseals.next = self.claims.val()
            & self.sealed.q.val()
            & (self.held.q.val() == bit_cast::<13, 10>(self.unit_in.bytes.val()));
        if self.seals.val() {
            self.sealed.d.next = true;
            self.ends_packet.d.next = self.flags.val().get_bit(1);
        }
        if self.closes.val() {
            self.lost.d.next = 0.into();
        }
        if self.unseals.val() {
            self.sealed.d.next = false;
            self.lost.d.next = self.lost_after.q.val();
            self.lost_after.d.next = 0.into();
        }
        // A mark. Without bytes in front of it, it ends no block.
        self.more_lost.next = bit_cast::<16, 15>(self.lost.q.val())
            + bit_cast::<16, 15>(bit_cast::<15, G>(self.between.data.val()));
        if self.more_lost.val() > self.most_lost.val() {
            self.more_lost.next = self.most_lost.val();
        }
        if self.marks.val() {
            if !self.held.q.val().any() {
                self.lost.d.next = bit_cast::<15, 16>(self.more_lost.val());
            } else if bit_cast::<15, G>(self.between.data.val()).any()
                | !(self.flags.val().get_bit(2) & self.stale.q.val())
            {
                self.sealed.d.next = true;
                self.ends_packet.d.next = false;
                self.lost_after.d.next = bit_cast::<15, G>(self.between.data.val());
            }
        }
        if (!self.held.q.val().any() & self.takes.val()) | self.closes.val() {
            self.began.d.next = self.unit_in_now.val();
        }
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Limit>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        if self.unit_in_tick.val() {
            self.elapsed.d.next = self.elapsed.q.val() + 1;
        }
        if !self.asked.q.val()
            & self.limit.q.val().any()
            & (self.elapsed.q.val() >= self.limit.q.val())
        {
            self.asked.d.next = true;
            self.stale.d.next = false;
            self.flush.d.next = !self.flush.q.val();
        }
        if (!self.held.q.val().any() & !self.some_seen.synced.val())
            | self.sealed.q.val()
            | self.closes.val()
            | self.asked.q.val()
        {
            self.elapsed.d.next = 0.into();
        }
        if self.closes.val() {
            self.stale.d.next = true;
        }
        if self.answers.val() {
            self.asked.d.next = false;
        }

        self.waiter.clock.next = self.pcie_clk.val();
        self.waiter.clear.next = self.unit_in.clear.val();
        self.waiter.starves.next = self.mine.val() & self.unit_in.starves.val();
        self.waiter.channel.next = self.unit_in.channel.val();
        self.waiter.bytes.next = self.unit_in.bytes.val();
        self.waiter.closes.next = self.unit_in.closes.val();
        self.waiter.held.next = self.held.q.val();
        self.waiter.ended.next = self.sealed.q.val() | self.gate.closed.val();
        self.waiter.owner.next = self.gate.owner.val();
        self.unit_in.wake.next = self.waiter.wake.val();
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Outputs>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.unit_in.open.next = self.selected.val() & !self.gate.closed.val();
        self.unit_in.waiting.next = 0.into();
        if self.selected.val() & !self.gate.closed.val() {
            self.unit_in.waiting.next = bit_cast::<16, 13>(self.held.q.val());
        }
        self.unit_in.granted.next = self.mine.val()
            & !self.gate.closed.val()
            & (self.unit_in.channel.val() == self.gate.owner.val());
        self.unit_in.held.next = 0.into();
        self.unit_in_sealed.next = false;
        self.unit_in_header.next = 0.into();
        if self.mine.val() {
            self.unit_in.held.next = self.held.q.val();
            self.unit_in_sealed.next = self.sealed.q.val();
            self.unit_in_header.next = bit_cast::<64, 48>(self.began.q.val())
                | (bit_cast::<64, 15>(self.lost.q.val()) << 48)
                | (bit_cast::<64, 1>((self.unseals.val() & self.ends_packet.q.val()).into()) << 63);
        }
        self.pulled.next = self.unit_in_pull.val()
            & (self.unit_in_from.val() == self.id.val())
            & self.beats.valid.val();
        self.claimed_bytes.next = 0.into();
        if self.claims.val() {
            self.claimed_bytes.next =
                bit_cast::<13, 10>(self.unit_in.bytes.val()) + self.beat_round.val();
        }
        self.given_beats.next = bit_cast::<13, 1>(self.pulled.val().into());
        self.owed.d.next = self.owed.q.val()
            + (self.claimed_bytes.val() >> self.beat_bytes_log2.val())
            - self.given_beats.val();
        self.beats.pop.next = self.pulled.val();
        self.unit_in_given.next = self.pulled.val();
        self.unit_in_data.next = 0.into();
        if self.pulled.val() {
            self.unit_in_data.next = self.beats.data.val();
        }

        if self.gate.closed.val() {
            self.slice.d.next = 0.into();
            self.elapsed.d.next = 0.into();
            self.flush.d.next = false;
            self.asked.d.next = false;
            self.stale.d.next = false;
        }
        // Not earlier: a request that was judged before the stream was closed may close its block after that.
        if self.gate.drained.val() {
            self.held.d.next = 0.into();
            self.sealed.d.next = false;
            self.lost.d.next = 0.into();
            self.lost_after.d.next = 0.into();
        }
        if self.unit_in.clear.val() {
            self.owed.d.next = 0.into();
            self.limit.d.next = 0.into();
        }
    }
}
