//! One direction's request maker: serves the channels in turn, a request at a time. A read has at most 512 bytes, or as
//! many as one packet may ask for, a write as many as one burst may carry; neither crosses a multiple of that (so never
//! 4 KiB) of the peer address; each is checked and translated by the ATT before it leaves.
//!
//! The state of the channel that is served is in registers; that of channels that wait in the middle of a descriptor is
//! in a small memory. A channel that had no descriptor under way comes before the round, once, and at most every second
//! time: so a short transfer waits for the requests in the pipe, not for a round of streams. Such a turn does not move
//! the round, so of `n` channels none waits for more than `2n` turns of others. The next channel is picked while a
//! request is judged, so that neither the change of a channel nor the start of a descriptor costs more than a cycle:
//! five cycles a request, six for the first of a descriptor.
//!
//! A fault becomes a request of zero bytes that carries the code: it takes the same way as data, so
//! the completion comes after everything that was sent before it.

mod cutting;
mod round;
mod steps;
mod verdict;
mod windows;

use super::ports::{DescriptorSink, FlowSource, LookUpSource, RequestSource};
use super::status::Status;
use super::words::{AttEntry, Saved};
use crate::prim::{Part, SmallRam, parts};
use cutting::{Cutting, Flow};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use round::{Round, Waiting};
use steps::Steps;
use verdict::Verdict;
use windows::{Bounds, Windows};

/// States of the state machine.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SegmentState {
    /// No channel is served.
    Idle,
    /// A channel is picked, its descriptor is read.
    Fetch,
    /// The descriptor is there.
    Load,
    /// The rest of the descriptor is measured.
    Size,
    /// Cutting the next request.
    Cut,
    /// Waiting for the ATT.
    Lookup,
    /// The entry and the bounds are judged.
    Judge,
    /// Offering the request.
    Issue,
}

/// The request maker. `W` and `B` are the port's width in bits and bytes.
#[derive(DocBlock)]
pub struct Segment<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// New descriptors may start.
    pub enable: Signal<In, Bit>,
    /// The port would not carry the request, or not answer it.
    pub port_down: Signal<In, Bit>,
    /// Bytes of the longest request, a power of two from 128 to 512, less one.
    pub longest: Signal<In, Bits<10>>,
    /// A descriptor begins and ends at whole dwords of the peer, else it has failed.
    pub whole_dwords: Signal<In, Bit>,
    /// Ends that are not whole beats are requests of their own.
    pub split_ends: Signal<In, Bit>,
    /// End every descriptor.
    pub abort_all: Signal<In, Bit>,
    /// One bit a channel.
    pub run: Signal<In, Bits<64>>,
    pub abort: Signal<In, Bits<64>>,
    /// A translation is in hand whose request has not left.
    pub looked_up: Signal<Out, Bit>,
    /// The descriptor queues.
    pub queue: DescriptorSink,
    pub ended_other: Signal<In, Bits<13>>,
    /// An end in each direction: chained descriptors of the channel are looked at again.
    pub end_other: Signal<In, Bit>,
    pub end_other_channel: Signal<In, Bits<6>>,
    /// Windows of FPGA memory, set by the driver; cleared by the sweep.
    pub window_base_we: Signal<In, Bit>,
    pub window_end_we: Signal<In, Bit>,
    pub window_channel: Signal<In, Bits<6>>,
    pub window_data: Signal<In, Bits<32>>,
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    /// The ATT.
    pub look_up: LookUpSource,
    pub entry: Signal<In, AttEntry>,
    /// The streams.
    pub flow: FlowSource,
    /// The request.
    pub request: RequestSource,
    /// ATT address: page size code and 38 bits. A descriptor names 37; the request after the last byte of the largest
    /// table has one more.
    pub att_address: Signal<Out, Bits<40>>,
    /// The write direction may read back from here to see its data arrive.
    pub may_flush: Signal<Out, Bit>,
    /// Distinguishes the channel's descriptors that can be under way at the same time.
    pub descriptor: Signal<Out, Bits<6>>,
    /// An earlier request of this channel's descriptor has failed: the rest is not needed.
    pub halted: Signal<In, Bit>,

    state: DFF<SegmentState>,
    /// The request is offered: the last state, as one bit.
    issuing: DFF<Bit>,
    /// The channel that is served.
    serving: DFF<Bits<6>>,
    page_size: DFF<Bits<2>>,
    peer: DFF<Bits<38>>,
    local_at: DFF<Bits<40>>,
    remaining: DFF<Bits<32>>,
    flags: DFF<Bits<4>>,
    cookie_at: DFF<Bits<32>>,
    number_at: DFF<Bits<6>>,
    /// The descriptor's FPGA side is a stream, and which.
    streams: DFF<Bit>,
    stream_at: DFF<Bits<4>>,
    /// The stream is not the channel's, or not open, since the request was made.
    foreign: DFF<Bit>,
    /// The second cycle of `Cut`, in which the request is compared with the bytes that wait in its stream.
    fed: DFF<Bit>,
    /// They are too few: in `Lookup` the channel's state goes back to the memory, and no entry is asked for.
    starving: DFF<Bit>,
    /// The port was down in that cycle, so the request does not wait for bytes.
    doomed: DFF<Bit>,
    /// Channels whose descriptor waits for its stream.
    hungry: DFF<Bits<64>>,
    /// State of a descriptor that begins.
    begins: DFF<Bit>,
    malformed: DFF<Bit>,
    bad_peer: DFF<Bit>,
    bad_local: DFF<Bit>,
    bad_control: DFF<Bit>,
    bad_ends: DFF<Bit>,
    unaligned: DFF<Bit>,
    waits: DFF<Bits<2>>,
    stamp_at: DFF<Bits<13>>,
    /// The channel that comes next.
    pick: DFF<Bits<6>>,
    pick_any: DFF<Bit>,
    pick_saved: DFF<Bit>,
    pick_jumps: DFF<Bit>,
    newcomers: DFF<Bits<64>>,
    /// The turn came before the round.
    jumped: DFF<Bit>,
    /// Read for a channel when its turn comes again, requests later.
    #[given]
    saved: SmallRam<Saved, 6>,
    waiting: DFF<Bits<64>>,
    blocked: DFF<Bits<64>>,
    #[given]
    window_base: SmallRam<Bits<28>, 6>,
    #[given]
    window_end: SmallRam<Bits<29>, 6>,
    /// Cycles until the window's registers surely belong to the channel served.
    window_unsure: DFF<Bits<2>>,
    low: DFF<Bits<28>>,
    high: DFF<Bits<29>>,
    /// Found while sizing.
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
    /// Found in the ATT; of a request that fails the target is its ATT address.
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
    verdict: Signal<Local, Bits<5>>,
    faulty: Signal<Local, Bit>,
    judged: DFF<Bits<5>>,
    fails: DFF<Bit>,
    is_final: Signal<Local, Bit>,
    remaining_next: Signal<Local, Bits<32>>,
    peer_next: Signal<Local, Bits<38>>,
    local_next: Signal<Local, Bits<40>>,
    chain_open: Signal<Local, Bit>,
    owner_bits: Signal<Local, Bits<64>>,
    /// Picking.
    mine: Signal<Local, Bits<64>>,
    aborts: Signal<Local, Bits<64>>,
    startable: Signal<Local, Bits<64>>,
    ready: DFF<Bits<64>>,
    own_ready: DFF<Bit>,
    /// Channels that wait for a stream, and neither abort nor have a port that is down.
    starved: Signal<Local, Bits<64>>,
    starves: Signal<Local, Bits<64>>,
    hopeless: Signal<Local, Bit>,
    starves_now: Signal<Local, Bit>,
    has_all: Signal<Local, Bit>,
    has_more: Signal<Local, Bit>,
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
    offset_mask: Constant<Bits<10>>,
    memory_bytes: Constant<Bits<41>>,
    /// Bits of a length that a stream's descriptor may not have.
    stream_odd: Constant<Bits<6>>,
    entries: Constant<Bits<26>>,
    /// Bit of an entry that permits this direction: 1 read by the board, 2 write by the board.
    permission: Constant<Bits<2>>,
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
    status: Status,
}

/// Values that a build fixes for a [`Segment`].
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

/// Returns the mask of the channels whose number has this bit set.
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
            offset_mask: Constant::new((B as u64 - 1).into()),
            memory_bytes: Constant::new((1u64 << config.memory_log2).into()),
            // The last beat of a block is written whole.
            stream_odd: Constant::new(if config.read { 0 } else { 63 }.into()),
            entries: Constant::new((1u64 << config.att_log2).into()),
            permission: Constant::new(if config.read { 1 } else { 2 }.into()),
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
    parts!(
        Setup, Windows, Round, Cutting, Flow, Verdict, Bounds, Steps, Waiting
    );
}

/// Registers, and signals that depend on the state alone.
struct Setup;

impl<const W: usize, const B: usize> Part<Setup> for Segment<W, B> {
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
            bad_ends,
            unaligned,
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
            streams,
            stream_at,
            foreign,
            fed,
            starving,
            doomed,
            hungry,
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
        self.queue.take.next = false;
        self.queue.fetch.next = false;
        self.look_up.ask.next = false;
        self.request.valid.next = self.issuing.q.val();
        self.leave.next = false;
        self.issued.next = self.issuing.q.val() & self.request.accept.val();
        self.look.next = false;
        self.turn.next = false;
        self.picked.next = self.one.val() << self.pick.q.val();
        self.blocks.next = 0.into();
        self.looked_up.next = ((self.state.q.val() == SegmentState::Lookup)
            & !self.starving.q.val())
            | (self.state.q.val() == SegmentState::Judge)
            | (self.state.q.val() == SegmentState::Issue);
        self.look_up.index.next = self.entry_index.q.val();
        self.request.channel.next = self.serving.q.val();
        self.descriptor.next = self.number_at.q.val();
        self.queue.select.next = self.pick.q.val();
    }
}
