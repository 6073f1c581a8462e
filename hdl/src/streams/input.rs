//! A stream's end on the PCIe side: how much waits, and where blocks end.
//!
//! Beats come out of the FIFO between the clocks into one that counts. After the end of a block no further beat is
//! taken until a request has closed that block. So at most one end is known, and it is that of all bytes that wait.
//!
//! A stream opens and closes as a whole: both sides of the FIFO are in reset until each has seen the other's. The
//! logic's clock may have any rate, and may stand still; then the stream does not open. Requests that have left when a
//! stream is closed still get their beats, so no other stream waits for them. The stream does not open before that.

use super::pack::Pack;
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
    pub unit_clear: Signal<In, Bit>,
    /// Registers of the stream `unit_select`.
    pub unit_select: Signal<In, Bits<4>>,
    pub unit_control_we: Signal<In, Bit>,
    pub unit_limit_we: Signal<In, Bit>,
    pub unit_writedata: Signal<In, Bits<32>>,
    pub unit_open: Signal<Out, Bit>,
    pub unit_waiting: Signal<Out, Bits<16>>,
    /// Time in cycles; one cycle in 256.
    pub unit_now: Signal<In, Bits<48>>,
    pub unit_tick: Signal<In, Bit>,
    /// See [`crate::rtl::ports::FlowSource`].
    pub unit_number: Signal<In, Bits<4>>,
    pub unit_channel: Signal<In, Bits<6>>,
    pub unit_granted: Signal<Out, Bit>,
    pub unit_held: Signal<Out, Bits<13>>,
    pub unit_sealed: Signal<Out, Bit>,
    pub unit_claim: Signal<In, Bit>,
    pub unit_starves: Signal<In, Bit>,
    pub unit_bytes: Signal<In, Bits<10>>,
    pub unit_closes: Signal<In, Bit>,
    pub unit_wake: Signal<Out, Bits<64>>,
    /// Header of the block that `unit_claim` closes.
    pub unit_header: Signal<Out, Bits<64>>,
    /// A beat of the stream `unit_from` is asked for, and given.
    pub unit_from: Signal<In, Bits<4>>,
    pub unit_pull: Signal<In, Bit>,
    pub unit_given: Signal<Out, Bit>,
    pub unit_data: Signal<Out, Bits<W>>,

    #[given]
    pack: Pack<U, F, G>,
    between: AsyncFifo<Bits<G>, 9, 10>,
    logic_sees: BitSync,
    flush_seen: BitSync,
    closed_seen: BitSync,
    some_seen: BitSync,
    /// The driver's settings.
    owner: DFF<Bits<6>>,
    enabled: DFF<Bit>,
    limit: DFF<Bits<16>>,
    /// The logic's side is to be in reset.
    hold: DFF<Bit>,
    /// This side is in reset.
    closed: DFF<Bit>,
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
    /// A request waits for so many bytes.
    hungry: DFF<Bit>,
    want: DFF<Bits<10>>,
    want_closes: DFF<Bit>,
    /// The channel of that request.
    waiter: DFF<Bits<6>>,
    wakes: DFF<Bit>,
    /// Time limit of a block: units since its first byte; the end was asked for, and the block has ended since.
    elapsed: DFF<Bits<16>>,
    flush: DFF<Bit>,
    asked: DFF<Bit>,
    stale: DFF<Bit>,
    /// Beats of requests that have not been given.
    owed: DFF<Bits<13>>,
    /// Cycles since the stream was closed, 15 at most. The request maker may take some to know.
    closed_for: DFF<Bits<4>>,

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
    enough: Signal<Local, Bit>,
    claimed_bytes: Signal<Local, Bits<13>>,
    given_beats: Signal<Local, Bits<13>>,
    /// Closed, and no request is left.
    drained: Signal<Local, Bit>,

    bytes_at: Constant<Bits<10>>,
    flags_at: Constant<Bits<10>>,
    beat_bytes: Constant<Bits<7>>,
    beat_round: Constant<Bits<13>>,
    whole_bytes: Constant<Bits<7>>,
    beat_bytes_log2: Constant<Bits<3>>,
    beat_bits_log2: Constant<Bits<4>>,
    most_beats: Constant<Bits<8>>,
    most_lost: Constant<Bits<16>>,
    one: Constant<Bits<64>>,
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
            one: Constant::new(1.into()),
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
            owner,
            enabled,
            limit,
            hold,
            closed,
            slice,
            held,
            sealed,
            ends_packet,
            lost,
            lost_after,
            began,
            hungry,
            want,
            want_closes,
            waiter,
            wakes,
            elapsed,
            flush,
            asked,
            stale,
            owed,
            closed_for
        );
        self.selected.next = self.unit_select.val() == self.id.val();
        if self.selected.val() & self.unit_control_we.val() {
            self.enabled.d.next = self.unit_writedata.val().get_bit(0);
            self.owner.d.next = self.unit_writedata.val().get_bits::<6>(8);
        }
        if self.selected.val() & self.unit_limit_we.val() {
            self.limit.d.next = self.unit_writedata.val().get_bits::<16>(0);
        }
        // The logic's side follows `hold`, and this side opens after it.
        self.logic_sees.clock.next = self.logic_clk.val();
        self.logic_sees.unsynced.next = self.hold.q.val();
        self.closed_seen.clock.next = self.pcie_clk.val();
        self.closed_seen.unsynced.next = self.logic_sees.synced.val();
        self.drained.next = self.closed_for.q.val().all() & !self.owed.q.val().any();
        // It rises when the logic's side has seen that it fell, and falls when that side has seen that it rose.
        if self.unit_clear.val() | !self.enabled.q.val() {
            self.hold.d.next = self.hold.q.val() | !self.closed_seen.synced.val();
        } else if self.closed_seen.synced.val() & self.drained.val() {
            self.hold.d.next = false;
        }
        self.closed_for.d.next = self.closed_for.q.val();
        if !self.closed.q.val() {
            self.closed_for.d.next = 0.into();
        } else if !self.closed_for.q.val().all() {
            self.closed_for.d.next = self.closed_for.q.val() + 1;
        }
        self.closed.d.next =
            self.hold.q.val() | self.closed_seen.synced.val() | !self.enabled.q.val();

        self.pack.clock.next = self.logic_clk.val();
        self.pack.reset.next = self.logic_sees.synced.val();
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
        self.between.write_reset.next = self.logic_sees.synced.val();
        self.between.push.next = self.pack.push.val();
        self.between.data_in.next = self.pack.beat.val();
        self.pack.full.next = self.between.full.val();
        self.between.read_clock.next = self.pcie_clk.val();
        self.between.read_reset.next = self.closed.q.val();
        self.beats.clock.next = self.pcie_clk.val();
        self.beats.reset.next = self.drained.val() | self.unit_clear.val();
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Front>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        // Not in a cycle in which a request takes bytes: the end of the block may be that request's.
        self.mine.next = self.unit_number.val() == self.id.val();
        self.claims.next = self.mine.val() & self.unit_claim.val();
        self.closes.next = self.claims.val() & self.unit_closes.val();
        self.on.next = self.between.valid.val()
            & !self.sealed.q.val()
            & !self.claims.val()
            & !self.closed.q.val()
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
            self.subtracts.next = bit_cast::<13, 10>(self.unit_bytes.val());
        }
        self.held_next.next = self.held.q.val() + self.adds.val() - self.subtracts.val();
        self.held.d.next = self.held_next.val();
        self.unseals.next = self.claims.val()
            & self.sealed.q.val()
            & (self.held.q.val() == bit_cast::<13, 10>(self.unit_bytes.val()));
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
            self.began.d.next = self.unit_now.val();
        }
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Limit>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        if self.unit_tick.val() {
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

        // A request that waits. Its channel looks again at the bytes that wait when it has its turn.
        self.enough.next = (self.held.q.val() > bit_cast::<13, 10>(self.want.q.val()))
            | ((self.held.q.val() == bit_cast::<13, 10>(self.want.q.val()))
                & self.want_closes.q.val())
            | self.sealed.q.val()
            | self.closed.q.val()
            | (self.waiter.q.val() != self.owner.q.val());
        self.wakes.d.next = self.hungry.q.val() & self.enough.val();
        if self.hungry.q.val() & self.enough.val() {
            self.hungry.d.next = false;
        }
        if self.mine.val() & self.unit_starves.val() {
            self.hungry.d.next = true;
            self.want.d.next = self.unit_bytes.val();
            self.want_closes.d.next = self.unit_closes.val();
            self.waiter.d.next = self.unit_channel.val();
        }
    }
}

impl<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize> Part<Outputs>
    for Input<U, F, G, W, B>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.unit_open.next = self.selected.val() & !self.closed.q.val();
        self.unit_waiting.next = 0.into();
        if self.selected.val() {
            self.unit_waiting.next = bit_cast::<16, 13>(self.held.q.val());
        }
        self.unit_granted.next = self.mine.val()
            & !self.closed.q.val()
            & (self.unit_channel.val() == self.owner.q.val());
        self.unit_held.next = 0.into();
        self.unit_sealed.next = false;
        self.unit_header.next = 0.into();
        if self.mine.val() {
            self.unit_held.next = self.held.q.val();
            self.unit_sealed.next = self.sealed.q.val();
            self.unit_header.next = bit_cast::<64, 48>(self.began.q.val())
                | (bit_cast::<64, 15>(self.lost.q.val()) << 48)
                | (bit_cast::<64, 1>((self.unseals.val() & self.ends_packet.q.val()).into()) << 63);
        }
        self.unit_wake.next = 0.into();
        if self.wakes.q.val() {
            self.unit_wake.next = self.one.val() << self.waiter.q.val();
        }
        self.pulled.next =
            self.unit_pull.val() & (self.unit_from.val() == self.id.val()) & self.beats.valid.val();
        self.claimed_bytes.next = 0.into();
        if self.claims.val() {
            self.claimed_bytes.next =
                bit_cast::<13, 10>(self.unit_bytes.val()) + self.beat_round.val();
        }
        self.given_beats.next = bit_cast::<13, 1>(self.pulled.val().into());
        self.owed.d.next = self.owed.q.val()
            + (self.claimed_bytes.val() >> self.beat_bytes_log2.val())
            - self.given_beats.val();
        self.beats.pop.next = self.pulled.val();
        self.unit_given.next = self.pulled.val();
        self.unit_data.next = 0.into();
        if self.pulled.val() {
            self.unit_data.next = self.beats.data.val();
        }

        if self.closed.q.val() {
            self.slice.d.next = 0.into();
            self.held.d.next = 0.into();
            self.sealed.d.next = false;
            self.lost.d.next = 0.into();
            self.lost_after.d.next = 0.into();
            self.elapsed.d.next = 0.into();
            self.flush.d.next = false;
            self.asked.d.next = false;
            self.stale.d.next = false;
        }
        if self.unit_clear.val() {
            self.owed.d.next = 0.into();
            self.enabled.d.next = false;
            self.hungry.d.next = false;
            self.limit.d.next = 0.into();
        }
    }
}
