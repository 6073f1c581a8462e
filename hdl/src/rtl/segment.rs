//! One direction's request maker: serves the channels in turn, a request at a time. A read has at most
//! 512 bytes, a write 256; neither crosses a multiple of that (so never 4 KiB) of the peer address; each
//! is checked and translated by the ATT before it leaves.
//!
//! The channel that is served stands in registers; those that wait in the middle of a descriptor stand
//! in a small memory. A channel that had nothing under way comes before the round, once, and at most
//! every second time: so a short transfer waits for what is in the pipe, not for a round of streams. Such
//! a turn does not move the round, so of `n` channels none waits for more than `2n` turns of others. The
//! next channel is picked while a request is weighed, so that neither the change of a channel nor the
//! start of a descriptor costs more than a cycle: five cycles a request, six for the first of a
//! descriptor.
//!
//! A fault becomes a request of zero bytes that carries the code: it takes the same way as data, so
//! the completion comes after everything that was sent before it.

use crate::prim::SmallRam;
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Where the state machine stands.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SegmentState {
    /// No channel is served.
    Idle,
    /// A channel is picked, its descriptor is read.
    Fetch,
    /// The descriptor is there.
    Load,
    /// Measuring what is left.
    Size,
    /// Cutting the next request.
    Cut,
    /// Waiting for the ATT.
    Lookup,
    /// Weighing what was found.
    Judge,
    /// Offering the request.
    Issue,
}

/// What a channel in the middle of a descriptor keeps: page size, peer, local, remaining, flags,
/// cookie, number.
const SAVED: usize = 154;

/// The request maker. `W` and `B` are the port's width in bits and bytes.
#[derive(DocBlock)]
pub struct Segment<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// New descriptors may start.
    pub enable: Signal<In, Bit>,
    /// The port would not carry the request, or not answer it.
    pub port_down: Signal<In, Bit>,
    /// End every descriptor.
    pub abort_all: Signal<In, Bit>,
    // One bit a channel.
    pub run: Signal<In, Bits<64>>,
    pub abort: Signal<In, Bits<64>>,
    /// A translation is in hand whose request has not left.
    pub looked_up: Signal<Out, Bit>,
    // The descriptor queues.
    pub queued: Signal<In, Bits<64>>,
    /// Channels whose first descriptor arrives in this cycle.
    pub awakened: Signal<In, Bits<64>>,
    pub select: Signal<Out, Bits<6>>,
    pub fetch: Signal<Out, Bit>,
    pub take: Signal<Out, Bit>,
    pub peer_low: Signal<In, Bits<32>>,
    pub peer_high: Signal<In, Bits<32>>,
    pub local_low: Signal<In, Bits<32>>,
    pub local_high: Signal<In, Bits<32>>,
    pub length: Signal<In, Bits<32>>,
    pub control: Signal<In, Bits<32>>,
    pub cookie: Signal<In, Bits<32>>,
    pub stamp: Signal<In, Bits<13>>,
    pub number: Signal<In, Bits<13>>,
    pub ended_own: Signal<In, Bits<13>>,
    pub ended_other: Signal<In, Bits<13>>,
    // An end in each direction: chained descriptors of the channel are looked at again.
    pub end_own: Signal<In, Bit>,
    pub end_own_channel: Signal<In, Bits<6>>,
    pub end_other: Signal<In, Bit>,
    pub end_other_channel: Signal<In, Bits<6>>,
    // Windows of FPGA memory, set by the driver; cleared by the sweep.
    pub window_base_we: Signal<In, Bit>,
    pub window_end_we: Signal<In, Bit>,
    pub window_channel: Signal<In, Bits<6>>,
    pub window_data: Signal<In, Bits<32>>,
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    // The ATT.
    pub ask: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<16>>,
    pub answer: Signal<In, Bit>,
    pub entry: Signal<In, Bits<121>>,
    // The request.
    pub request: Signal<Out, Bit>,
    pub accept: Signal<In, Bit>,
    /// Bus address; of a faulting request its ATT address.
    pub bus: Signal<Out, Bits<64>>,
    /// ATT address: page size code and 38 bits. A descriptor names 37; the request behind the last byte of the
    /// largest table has one more.
    pub att_address: Signal<Out, Bits<40>>,
    pub local: Signal<Out, Bits<40>>,
    /// 1 to 512, 0 with a fault.
    pub bytes: Signal<Out, Bits<10>>,
    pub has_data: Signal<Out, Bit>,
    /// The bytes that it has, or would have.
    pub span: Signal<Out, Bits<10>>,
    pub last: Signal<Out, Bit>,
    pub code: Signal<Out, Bits<4>>,
    pub want_record: Signal<Out, Bit>,
    pub want_irq: Signal<Out, Bit>,
    pub urgent: Signal<Out, Bit>,
    /// The writer may read back from here to see its data arrive.
    pub may_flush: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<32>>,
    pub channel: Signal<Out, Bits<6>>,
    /// Tells the channel's descriptors apart that can be under way at once.
    pub descriptor: Signal<Out, Bits<6>>,
    /// An earlier request of this channel's descriptor has failed: the rest is not needed.
    pub halted: Signal<In, Bit>,

    state: DFF<SegmentState>,
    /// The request is offered: the last state, as one bit.
    issuing: DFF<Bit>,
    // The channel that is served.
    serving: DFF<Bits<6>>,
    page_size: DFF<Bits<2>>,
    peer: DFF<Bits<38>>,
    local_at: DFF<Bits<40>>,
    remaining: DFF<Bits<32>>,
    flags: DFF<Bits<4>>,
    cookie_at: DFF<Bits<32>>,
    number_at: DFF<Bits<6>>,
    // Of a descriptor that begins.
    begins: DFF<Bit>,
    malformed: DFF<Bit>,
    bad_peer: DFF<Bit>,
    bad_local: DFF<Bit>,
    bad_control: DFF<Bit>,
    waits: DFF<Bits<2>>,
    stamp_at: DFF<Bits<13>>,
    // The channel that comes next.
    pick: DFF<Bits<6>>,
    pick_any: DFF<Bit>,
    pick_saved: DFF<Bit>,
    pick_jumps: DFF<Bit>,
    newcomers: DFF<Bits<64>>,
    /// The turn came before the round.
    jumped: DFF<Bit>,
    /// Read for a channel when its turn comes again, requests later.
    #[given]
    saved: SmallRam<SAVED, 6>,
    waiting: DFF<Bits<64>>,
    blocked: DFF<Bits<64>>,
    #[given]
    window_base: SmallRam<28, 6>,
    #[given]
    window_end: SmallRam<29, 6>,
    /// Cycles until what is known of the window is surely that of the channel served.
    window_unsure: DFF<Bits<2>>,
    low: DFF<Bits<28>>,
    high: DFF<Bits<29>>,
    // Found while sizing.
    reach: DFF<Bits<10>>,
    is_ragged: DFF<Bit>,
    may_begin: DFF<Bit>,
    woken: DFF<Bit>,
    /// A descriptor of the channel served ended in the last cycle.
    woken_before: DFF<Bit>,
    chunk: DFF<Bits<10>>,
    final_chunk: DFF<Bit>,
    out_of_memory: DFF<Bit>,
    out_of_window: DFF<Bit>,
    aborted: DFF<Bit>,
    entry_index: DFF<Bits<16>>,
    out_of_table: DFF<Bit>,
    // Found in the ATT; of a request that fails the target is its ATT address.
    target: DFF<Bits<64>>,
    invalid: DFF<Bit>,
    not_owner: DFF<Bit>,
    readable: DFF<Bit>,
    not_permitted: DFF<Bit>,
    wrong_size: DFF<Bit>,

    window_write: Signal<Local, Bit>,
    /// One ends now: its count is being written.
    wakes_served: Signal<Local, Bit>,
    to_edge: Signal<Local, Bits<10>>,
    head_offset: Signal<Local, Bits<10>>,
    page_number: Signal<Local, Bits<26>>,
    local_end: DFF<Bits<41>>,
    ragged: Signal<Local, Bit>,
    verdict: Signal<Local, Bits<4>>,
    faulty: Signal<Local, Bit>,
    judged: DFF<Bits<4>>,
    fails: DFF<Bit>,
    is_final: Signal<Local, Bit>,
    remaining_next: Signal<Local, Bits<32>>,
    peer_next: Signal<Local, Bits<38>>,
    local_next: Signal<Local, Bits<40>>,
    chain_open: Signal<Local, Bit>,
    owner_bits: Signal<Local, Bits<64>>,
    // Picking.
    mine: Signal<Local, Bits<64>>,
    aborts: Signal<Local, Bits<64>>,
    startable: Signal<Local, Bits<64>>,
    ready: DFF<Bits<64>>,
    own_ready: DFF<Bit>,
    /// The channel that is served aborts, as of the last cycle.
    own_abort: DFF<Bit>,
    /// Channels above the last that was served in the round.
    above: DFF<Bits<64>>,
    pool: DFF<Bits<64>>,
    pool_jumps: DFF<Bit>,
    later: Signal<Local, Bits<64>>,
    new_ones: Signal<Local, Bits<64>>,
    lowest: Signal<Local, Bits<64>>,
    choice: Signal<Local, Bits<6>>,
    picked: Signal<Local, Bits<64>>,
    look: Signal<Local, Bit>,
    turn: Signal<Local, Bit>,
    issued: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
    saves: Signal<Local, Bits<64>>,
    loads: Signal<Local, Bits<64>>,
    blocks: Signal<Local, Bits<64>>,
    wakes: Signal<Local, Bits<64>>,
    wakes_own: Signal<Local, Bits<64>>,

    beat_bytes: Constant<Bits<10>>,
    /// Bytes of the longest request, a power of two, and one less.
    most: Constant<Bits<10>>,
    most_mask: Constant<Bits<10>>,
    offset_mask: Constant<Bits<10>>,
    memory_bytes: Constant<Bits<41>>,
    entries: Constant<Bits<26>>,
    /// Bit of an entry that permits this direction: 1 read by the board, 2 write by the board.
    permission: Constant<Bits<2>>,
    /// Writes only: unaligned ends are requests of their own (the contract of `Txs`).
    split_ends: Constant<Bits<1>>,
    /// Bits of `control` that chain to a descriptor of the same direction and of the other.
    chain_own: Constant<Bits<2>>,
    chain_other: Constant<Bits<2>>,
    all_channels: Constant<Bits<64>>,
    one: Constant<Bits<64>>,
    all: Constant<Bits<64>>,
    bit_0: Constant<Bits<64>>,
    bit_1: Constant<Bits<64>>,
    bit_2: Constant<Bits<64>>,
    bit_3: Constant<Bits<64>>,
    bit_4: Constant<Bits<64>>,
    bit_5: Constant<Bits<64>>,
}

/// What a build fixes for a [`Segment`].
#[derive(Clone, Copy, Debug)]
pub struct SegmentConfig {
    /// Peer to FPGA.
    pub read: bool,
    /// Channels, log2.
    pub channels_log2: usize,
    /// ATT entries, log2.
    pub att_log2: usize,
    /// FPGA memory bytes, log2, at most 40.
    pub memory_log2: usize,
}

impl SegmentConfig {
    /// Reads: as long as `Txs` takes them, for only so many are in flight. Writes: a packet of the
    /// usual payload size, so that a read finds a gap between two.
    fn most(&self) -> u64 {
        if self.read { 512 } else { 256 }
    }
}

/// The channels whose number has this bit set.
fn with_bit(bit: u32) -> Constant<Bits<64>> {
    let mask = (0..64u64).fold(0u64, |mask, c| mask | (((c >> bit) & 1) << c));
    Constant::new(mask.into())
}

impl<const W: usize, const B: usize> Segment<W, B> {
    /// A request maker for one direction.
    pub fn new(config: SegmentConfig) -> Self {
        let channels = config.channels_log2;
        Self::fresh(SegmentGiven {
            saved: SmallRam::new(channels),
            window_base: SmallRam::new(channels),
            window_end: SmallRam::new(channels),
            beat_bytes: Constant::new((B as u64).into()),
            most: Constant::new(config.most().into()),
            most_mask: Constant::new((config.most() - 1).into()),
            offset_mask: Constant::new((B as u64 - 1).into()),
            memory_bytes: Constant::new((1u64 << config.memory_log2).into()),
            entries: Constant::new((1u64 << config.att_log2).into()),
            permission: Constant::new(if config.read { 1 } else { 2 }.into()),
            split_ends: Constant::new(u64::from(!config.read).into()),
            chain_own: Constant::new(if config.read { 2 } else { 1 }.into()),
            chain_other: Constant::new(if config.read { 1 } else { 2 }.into()),
            all_channels: Constant::new(super::channel_mask(channels)),
            one: Constant::new(1.into()),
            all: Constant::new(Bits::<64>::mask()),
            bit_0: with_bit(0),
            bit_1: with_bit(1),
            bit_2: with_bit(2),
            bit_3: with_bit(3),
            bit_4: with_bit(4),
            bit_5: with_bit(5),
        })
    }
}

impl<const W: usize, const B: usize> Logic for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            low,
            high,
            bad_peer,
            bad_local,
            bad_control,
            state,
            issuing,
            serving,
            page_size,
            peer,
            local_at,
            remaining,
            flags,
            cookie_at,
            number_at,
            begins,
            malformed,
            waits,
            stamp_at,
            pick,
            pick_any,
            window_unsure,
            woken_before,
            pick_saved,
            pick_jumps,
            newcomers,
            jumped,
            own_ready,
            own_abort,
            pool,
            pool_jumps,
            waiting,
            blocked,
            local_end,
            reach,
            is_ragged,
            may_begin,
            woken,
            ready,
            above,
            judged,
            fails,
            chunk,
            final_chunk,
            out_of_memory,
            out_of_window,
            aborted,
            entry_index,
            out_of_table,
            target,
            invalid,
            not_owner,
            readable,
            not_permitted,
            wrong_size
        );
        clock!(self, clock, saved, window_base, window_end);
        self.take.next = false;
        self.fetch.next = false;
        self.ask.next = false;
        self.request.next = self.issuing.q.val();
        self.leave.next = false;
        self.issued.next = self.issuing.q.val() & self.accept.val();
        self.look.next = false;
        self.turn.next = false;
        self.picked.next = self.one.val() << self.pick.q.val();
        self.blocks.next = 0.into();
        self.looked_up.next = (self.state.q.val() == SegmentState::Lookup)
            | (self.state.q.val() == SegmentState::Judge)
            | (self.state.q.val() == SegmentState::Issue);
        self.index.next = self.entry_index.q.val();
        self.channel.next = self.serving.q.val();
        self.descriptor.next = self.number_at.q.val();
        self.select.next = self.pick.q.val();

        // Windows.
        self.window_base.read_address.next = self.serving.q.val();
        self.window_end.read_address.next = self.serving.q.val();
        self.window_base.write_enable.next = self.window_base_we.val() | self.sweep.val();
        self.window_end.write_enable.next = self.window_end_we.val() | self.sweep.val();
        self.window_base.write_address.next = self.window_channel.val();
        self.window_end.write_address.next = self.window_channel.val();
        self.window_base.write_data.next = self.window_data.val().get_bits::<28>(0);
        self.window_end.write_data.next = self.window_data.val().get_bits::<29>(0);
        if self.sweep.val() {
            self.window_base.write_address.next = self.sweep_channel.val();
            self.window_end.write_address.next = self.sweep_channel.val();
            self.window_base.write_data.next = 0.into();
            self.window_end.write_data.next = 0.into();
        }
        self.window_write.next =
            self.window_base_we.val() | self.window_end_we.val() | self.sweep.val();
        if self.window_write.val() {
            self.window_unsure.d.next = 3.into();
        } else if self.window_unsure.q.val().any() {
            self.window_unsure.d.next = self.window_unsure.q.val() - 1;
        }

        // Who could be served next, in two steps. What another channel has, it keeps until it is served.
        // The one that is served comes last, with a descriptor behind its last request.
        self.mine.next = self.one.val() << self.serving.q.val();
        self.aborts.next = self.abort.val();
        if self.abort_all.val() {
            self.aborts.next = self.all_channels.val();
        }
        self.startable.next = self.queued.val() & self.aborts.val();
        if self.enable.val() {
            self.startable.next =
                self.queued.val() & (self.aborts.val() | (self.run.val() & !self.blocked.q.val()));
        }
        self.ready.d.next = (self.waiting.q.val() | self.startable.val()) & self.all_channels.val();
        if (self.state.q.val() != SegmentState::Idle) & (self.state.q.val() != SegmentState::Fetch)
        {
            self.ready.d.next = (self.waiting.q.val() | self.startable.val())
                & !self.mine.val()
                & self.all_channels.val();
        }
        self.own_abort.d.next = (self.aborts.val() & self.mine.val()).any();
        self.own_ready.d.next =
            (self.startable.val() & self.mine.val()).any() & self.final_chunk.q.val();
        // Newcomers, but not twice in a row; else in turn: those above the last of the round, else all.
        self.later.next = self.ready.q.val() & self.above.q.val();
        self.new_ones.next = self.ready.q.val() & self.newcomers.q.val();
        self.pool_jumps.d.next = self.new_ones.val().any() & !self.jumped.q.val();
        self.pool.d.next = self.ready.q.val();
        if self.new_ones.val().any() & !self.jumped.q.val() {
            self.pool.d.next = self.new_ones.val();
        } else if self.later.val().any() {
            self.pool.d.next = self.later.val();
        }
        self.lowest.next = self.pool.q.val() & (!self.pool.q.val() + 1);
        self.choice.next = bit_cast::<6, 1>((self.lowest.val() & self.bit_0.val()).any().into())
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_1.val()).any().into()) << 1)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_2.val()).any().into()) << 2)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_3.val()).any().into()) << 3)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_4.val()).any().into()) << 4)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_5.val()).any().into()) << 5);

        // Bytes to the next edge: of the bus word for a write's unaligned head, else of the longest request.
        self.head_offset.next = bit_cast::<10, 38>(self.peer.q.val()) & self.offset_mask.val();
        if self.split_ends.val().any() & self.head_offset.val().any() {
            self.to_edge.next = self.beat_bytes.val() - self.head_offset.val();
        } else {
            self.to_edge.next =
                self.most.val() - (bit_cast::<10, 38>(self.peer.q.val()) & self.most_mask.val());
        }
        // A write of several beats ends on a whole one; the bytes behind it are a request of their own.
        self.ragged.next = self.split_ends.val().any()
            & (self.remaining.q.val().get_bits::<10>(0) & self.offset_mask.val()).any()
            & (self.remaining.q.val() > bit_cast::<32, 10>(self.beat_bytes.val()));
        self.page_number.next = self.peer.q.val().get_bits::<26>(12);
        if self.page_size.q.val() == 1 {
            self.page_number.next = bit_cast::<26, 22>(self.peer.q.val().get_bits::<22>(16));
        }
        if self.page_size.q.val() == 2 {
            self.page_number.next = bit_cast::<26, 17>(self.peer.q.val().get_bits::<17>(21));
        }
        // Chains: nothing of the own direction is under way; the other has ended all that was queued
        // before.
        self.chain_open.next = (!(self.waits.q.val() & self.chain_own.val()).any()
            | (self.number.val() == self.ended_own.val()))
            & (!(self.waits.q.val() & self.chain_other.val()).any()
                | !((self.ended_other.val() - self.stamp_at.q.val()) >> 12).any());
        self.owner_bits.next = self.entry.val().get_bits::<64>(57) & self.mine.val();

        // The verdict, most fundamental fault first.
        self.verdict.next = 0.into();
        if self.malformed.q.val() {
            self.verdict.next = 10.into();
        } else if self.out_of_memory.q.val() {
            self.verdict.next = 1.into();
        } else if self.out_of_window.q.val() {
            self.verdict.next = 12.into();
        } else if self.aborted.q.val() {
            self.verdict.next = 9.into();
        } else if self.port_down.val() {
            self.verdict.next = 8.into();
        } else if self.out_of_table.q.val() {
            self.verdict.next = 2.into();
        } else if self.invalid.q.val() {
            self.verdict.next = 3.into();
        } else if self.not_owner.q.val() {
            self.verdict.next = 4.into();
        } else if self.not_permitted.q.val() {
            self.verdict.next = 5.into();
        } else if self.wrong_size.q.val() {
            self.verdict.next = 6.into();
        }
        self.faulty.next = self.malformed.q.val()
            | self.out_of_memory.q.val()
            | self.out_of_window.q.val()
            | self.aborted.q.val()
            | self.port_down.val()
            | self.out_of_table.q.val()
            | self.invalid.q.val()
            | self.not_owner.q.val()
            | self.not_permitted.q.val()
            | self.wrong_size.q.val();
        // What failed once stays so; the port may go down while a request waits.
        self.fails.d.next = self.faulty.val();
        self.judged.d.next = self.verdict.val();
        if self.issuing.q.val() & self.fails.q.val() {
            self.fails.d.next = true;
            self.judged.d.next = self.judged.q.val();
        }
        self.has_data.next = !self.fails.q.val();
        self.span.next = self.chunk.q.val();
        self.code.next = self.judged.q.val();
        self.is_final.next = self.final_chunk.q.val() | self.fails.q.val();
        self.last.next = self.is_final.val();
        self.local.next = self.local_at.q.val();
        self.want_record.next = self.flags.q.val().get_bit(0);
        self.want_irq.next = self.flags.q.val().get_bit(1);
        self.may_flush.next = self.readable.q.val() & !self.flags.q.val().get_bit(2);
        self.urgent.next = self.flags.q.val().get_bit(3);
        self.tag.next = self.cookie_at.q.val();
        self.att_address.next = bit_cast::<40, 38>(self.peer.q.val())
            | (bit_cast::<40, 2>(self.page_size.q.val()) << 38);
        self.bus.next = self.target.q.val();
        self.bytes.next = self.chunk.q.val();
        if self.fails.q.val() {
            self.bytes.next = 0.into();
        }
        self.remaining_next.next = self.remaining.q.val() - bit_cast::<32, 10>(self.chunk.q.val());
        self.peer_next.next = self.peer.q.val() + bit_cast::<38, 10>(self.chunk.q.val());
        self.local_next.next = self.local_at.q.val() + bit_cast::<40, 10>(self.chunk.q.val());

        // The end of the range is known behind `Size`, its place behind `Cut`.
        self.local_end.d.next =
            bit_cast::<41, 40>(self.local_at.q.val()) + bit_cast::<41, 32>(self.remaining.q.val());
        self.out_of_memory.d.next =
            !self.remaining.q.val().any() | (self.local_end.q.val() > self.memory_bytes.val());
        self.out_of_window.d.next = (self.local_at.q.val().get_bits::<28>(12) < self.low.q.val())
            | (self.local_end.q.val() > (bit_cast::<41, 29>(self.high.q.val()) << 12));
        // A word that has not settled is not looked at: what is known stands for two cycles more.
        if !self.window_write.val() & !self.window_unsure.q.val().all() {
            self.low.d.next = self.window_base.read_data.val();
            self.high.d.next = self.window_end.read_data.val();
        }
        self.wakes_own.next = 0.into();
        if self.end_own.val() {
            self.wakes_own.next = self.one.val() << self.end_own_channel.val();
        }
        self.wakes.next = self.wakes_own.val();
        if self.end_other.val() {
            self.wakes.next =
                self.wakes_own.val() | (self.one.val() << self.end_other_channel.val());
        }

        self.wakes_served.next = (self.end_own.val()
            & (self.end_own_channel.val() == self.serving.q.val()))
            | (self.end_other.val() & (self.end_other_channel.val() == self.serving.q.val()));
        self.woken_before.d.next = self.wakes_served.val();

        match self.state.q.val() {
            SegmentState::Idle => {
                self.look.next = true;
                if self.pool.q.val().any() {
                    self.state.d.next = SegmentState::Fetch;
                }
            }
            SegmentState::Fetch => {
                self.fetch.next = true;
                self.turn.next = true;
            }
            SegmentState::Load => {
                self.peer.d.next = bit_cast::<38, 32>(self.peer_low.val())
                    | (bit_cast::<38, 5>(self.peer_high.val().get_bits::<5>(0)) << 32);
                self.page_size.d.next = self.peer_high.val().get_bits::<2>(30);
                self.local_at.d.next = bit_cast::<40, 32>(self.local_low.val())
                    | (bit_cast::<40, 8>(self.local_high.val().get_bits::<8>(0)) << 32);
                self.remaining.d.next = self.length.val();
                self.flags.d.next = self.control.val().get_bits::<4>(0);
                self.cookie_at.d.next = self.cookie.val();
                self.number_at.d.next = self.number.val().get_bits::<6>(0);
                self.bad_peer.d.next = self.peer_high.val().get_bits::<25>(5).any()
                    | self.peer_high.val().get_bits::<2>(30).all();
                self.bad_local.d.next = self.local_high.val().get_bits::<24>(8).any();
                self.bad_control.d.next = self.control.val().get_bits::<26>(6).any();
                self.waits.d.next = self.control.val().get_bits::<2>(4);
                self.stamp_at.d.next = self.stamp.val();
                self.begins.d.next = true;
                self.state.d.next = SegmentState::Size;
            }
            SegmentState::Size => {
                self.malformed.d.next = self.begins.q.val()
                    & (self.bad_peer.q.val() | self.bad_local.q.val() | self.bad_control.q.val());
                self.reach.d.next = self.to_edge.val();
                self.is_ragged.d.next = self.ragged.val();
                self.entry_index.d.next = self.page_number.val().get_bits::<16>(0);
                self.out_of_table.d.next = self.page_number.val() >= self.entries.val();
                self.aborted.d.next = (self.aborts.val() & self.mine.val()).any()
                    | (self.begins.q.val() & self.own_abort.q.val())
                    | self.halted.val();
                // Counts of ends that settle are not looked at.
                self.may_begin.d.next = self.own_abort.q.val()
                    | !self.waits.q.val().any()
                    | (self.chain_open.val()
                        & !self.wakes_served.val()
                        & !self.woken_before.q.val());
                self.woken.d.next = self.wakes_served.val() | self.woken_before.q.val();
                self.state.d.next = SegmentState::Cut;
            }
            SegmentState::Cut => {
                self.ask.next = true;
                self.begins.d.next = false;
                self.chunk.d.next = self.reach.q.val();
                self.final_chunk.d.next = false;
                if self.is_ragged.q.val() {
                    if self.remaining.q.val() <= bit_cast::<32, 10>(self.reach.q.val()) {
                        self.chunk.d.next =
                            self.remaining.q.val().get_bits::<10>(0) & !self.offset_mask.val();
                    }
                } else if self.remaining.q.val() <= bit_cast::<32, 10>(self.reach.q.val()) {
                    self.chunk.d.next = self.remaining.q.val().get_bits::<10>(0);
                    self.final_chunk.d.next = true;
                }
                if !self.begins.q.val() {
                    self.state.d.next = SegmentState::Lookup;
                } else if self.may_begin.q.val() {
                    self.take.next = true;
                    self.state.d.next = SegmentState::Lookup;
                } else {
                    // An end that the look at the counts did not see: the next look does.
                    if !self.woken.q.val() {
                        self.blocks.next = self.mine.val();
                    }
                    self.state.d.next = SegmentState::Idle;
                }
            }
            SegmentState::Lookup => {
                self.ask.next = true;
                if self.answer.val() {
                    self.invalid.d.next = !self.entry.val().get_bit(0);
                    self.readable.d.next = self.entry.val().get_bit(1);
                    self.not_permitted.d.next =
                        !(self.entry.val().get_bits::<2>(1) & self.permission.val()).any();
                    self.wrong_size.d.next =
                        self.entry.val().get_bits::<2>(3) != self.page_size.q.val();
                    self.not_owner.d.next = !self.owner_bits.val().any();
                    self.target.d.next = (bit_cast::<64, 52>(self.entry.val().get_bits::<52>(5))
                        << 12)
                        | bit_cast::<64, 12>(self.peer.q.val().get_bits::<12>(0));
                    if self.page_size.q.val() == 1 {
                        self.target.d.next =
                            (bit_cast::<64, 48>(self.entry.val().get_bits::<48>(9)) << 16)
                                | bit_cast::<64, 16>(self.peer.q.val().get_bits::<16>(0));
                    }
                    if self.page_size.q.val() == 2 {
                        self.target.d.next =
                            (bit_cast::<64, 43>(self.entry.val().get_bits::<43>(14)) << 21)
                                | bit_cast::<64, 21>(self.peer.q.val().get_bits::<21>(0));
                    }
                    self.state.d.next = SegmentState::Judge;
                }
            }
            SegmentState::Judge => {
                self.look.next = true;
                if !self.window_unsure.q.val().any() {
                    self.issuing.d.next = true;
                    self.state.d.next = SegmentState::Issue;
                }
            }
            SegmentState::Issue => {
                self.fetch.next = true;
                if self.accept.val() {
                    self.issuing.d.next = false;
                    if self.pick_any.q.val() {
                        self.leave.next = !self.is_final.val();
                        self.turn.next = true;
                    } else if self.is_final.val() {
                        self.state.d.next = SegmentState::Idle;
                    } else {
                        self.state.d.next = SegmentState::Size;
                    }
                } else {
                    // It may take long: who comes meanwhile is considered.
                    self.look.next = true;
                }
            }
        }
        if self.faulty.val()
            & (self.issuing.q.val()
                | ((self.state.q.val() == SegmentState::Judge) & !self.window_unsure.q.val().any()))
        {
            self.target.d.next = bit_cast::<64, 38>(self.peer.q.val())
                | (bit_cast::<64, 2>(self.page_size.q.val()) << 62);
        }
        if self.look.val() {
            self.pick.d.next = self.choice.val();
            self.pick_any.d.next = self.pool.q.val().any();
            self.pick_saved.d.next = (self.lowest.val() & self.waiting.q.val()).any();
            self.pick_jumps.d.next = self.pool_jumps.q.val();
            if !self.pool.q.val().any() {
                self.pick.d.next = self.serving.q.val();
                self.pick_any.d.next = self.own_ready.q.val();
            }
        }
        if self.turn.val() {
            self.serving.d.next = self.pick.q.val();
            self.jumped.d.next = self.pick_jumps.q.val();
            if !self.pick_jumps.q.val() {
                self.above.d.next = (self.all.val() << self.pick.q.val()) & !self.picked.val();
            }
            if self.pick_saved.q.val() {
                self.state.d.next = SegmentState::Size;
            } else {
                self.state.d.next = SegmentState::Load;
            }
        }

        // In and out of the memory of those that wait.
        self.saved.write_enable.next = self.leave.val();
        self.saved.write_address.next = self.serving.q.val();
        self.saved.write_data.next = bit_cast::<154, 38>(self.peer_next.val())
            | (bit_cast::<154, 40>(self.local_next.val()) << 38)
            | (bit_cast::<154, 32>(self.remaining_next.val()) << 78)
            | (bit_cast::<154, 32>(self.cookie_at.q.val()) << 110)
            | (bit_cast::<154, 2>(self.page_size.q.val()) << 142)
            | (bit_cast::<154, 4>(self.flags.q.val()) << 144)
            | (bit_cast::<154, 6>(self.number_at.q.val()) << 148);
        self.saved.read_address.next = self.pick.q.val();
        self.newcomers.d.next =
            (self.newcomers.q.val() | self.awakened.val()) & self.all_channels.val();
        if self.state.q.val() == SegmentState::Load {
            self.newcomers.d.next = ((self.newcomers.q.val() & !self.mine.val())
                | self.awakened.val())
                & self.all_channels.val();
        }
        // The next request of this descriptor, or where another one stopped. What a fresh one finds here
        // is replaced when it is loaded.
        if self.issued.val() | (self.state.q.val() == SegmentState::Fetch) {
            self.peer.d.next = self.saved.read_data.val().get_bits::<38>(0);
            self.local_at.d.next = self.saved.read_data.val().get_bits::<40>(38);
            self.remaining.d.next = self.saved.read_data.val().get_bits::<32>(78);
            if self.issuing.q.val() & !self.pick_saved.q.val() {
                self.peer.d.next = self.peer_next.val();
                self.local_at.d.next = self.local_next.val();
                self.remaining.d.next = self.remaining_next.val();
            }
        }
        if (self.issued.val() & self.pick_saved.q.val())
            | (self.state.q.val() == SegmentState::Fetch)
        {
            self.cookie_at.d.next = self.saved.read_data.val().get_bits::<32>(110);
            self.page_size.d.next = self.saved.read_data.val().get_bits::<2>(142);
            self.flags.d.next = self.saved.read_data.val().get_bits::<4>(144);
            self.number_at.d.next = self.saved.read_data.val().get_bits::<6>(148);
        }
        self.saves.next = 0.into();
        if self.leave.val() {
            self.saves.next = self.mine.val();
        }
        self.loads.next = 0.into();
        if self.turn.val() {
            self.loads.next = self.picked.val();
        }
        self.waiting.d.next = ((self.waiting.q.val() & !self.loads.val()) | self.saves.val())
            & self.all_channels.val();
        self.blocked.d.next = (self.blocked.q.val() | self.blocks.val())
            & !self.wakes.val()
            & self.all_channels.val();

        if self.reset.val() {
            self.state.d.next = SegmentState::Idle;
            self.issuing.d.next = false;
            self.waiting.d.next = 0.into();
            self.blocked.d.next = 0.into();
            self.newcomers.d.next = 0.into();
            self.ready.d.next = 0.into();
            self.pool.d.next = 0.into();
            self.begins.d.next = false;
            self.malformed.d.next = false;
        }
    }
}
