//! From the streams to the write path: the beats of requests in the order of the requests, and the headers of blocks.

use crate::prim::{Part, ResetCopy, SmallFifo, parts, words};
use crate::rtl::ports::{FlowSink, InflowHub};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

words! {
    /// Beats of a stream that a request takes.
    struct Claim {
        stream: Bits<4>,
        beats: Bits<6>,
    }
}

/// The part that all streams share; `W` bits a beat.
#[derive(DocBlock)]
pub struct Inflow<const W: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// The engine.
    pub inflow: InflowHub<W>,
    pub flow: FlowSink,
    /// The streams; see [`super::input::Input`].
    pub unit_clear: Signal<Out, Bit>,
    pub unit_select: Signal<Out, Bits<4>>,
    pub unit_control_we: Signal<Out, Bit>,
    pub unit_limit_we: Signal<Out, Bit>,
    pub unit_writedata: Signal<Out, Bits<32>>,
    pub unit_open: Signal<In, Bit>,
    pub unit_waiting: Signal<In, Bits<16>>,
    pub unit_now: Signal<Out, Bits<48>>,
    pub unit_tick: Signal<Out, Bit>,
    pub unit_number: Signal<Out, Bits<4>>,
    pub unit_channel: Signal<Out, Bits<6>>,
    pub unit_granted: Signal<In, Bit>,
    pub unit_held: Signal<In, Bits<13>>,
    pub unit_sealed: Signal<In, Bit>,
    pub unit_claim: Signal<Out, Bit>,
    pub unit_starves: Signal<Out, Bit>,
    pub unit_bytes: Signal<Out, Bits<10>>,
    pub unit_closes: Signal<Out, Bit>,
    pub unit_wake: Signal<In, Bits<64>>,
    pub unit_header: Signal<In, Bits<64>>,
    pub unit_from: Signal<Out, Bits<4>>,
    pub unit_pull: Signal<Out, Bit>,
    pub unit_given: Signal<In, Bit>,
    pub unit_data: Signal<In, Bits<W>>,

    clear: ResetCopy,
    now: DFF<Bits<48>>,
    /// The registers' values are looked at a cycle later.
    open: DFF<Bit>,
    waiting: DFF<Bits<16>>,
    granted: DFF<Bit>,
    held: DFF<Bits<13>>,
    sealed: DFF<Bit>,
    wake: DFF<Bits<64>>,
    /// Requests whose beats have not moved. There are no more than the write path has heads.
    #[given]
    claims: SmallFifo<Claim, 6, 7>,
    #[given]
    headers: SmallFifo<Bits<64>, 6, 7>,
    moving: DFF<Bit>,
    from: DFF<Bits<4>>,
    left: DFF<Bits<6>>,
    came: DFF<Bit>,
    came_data: DFF<Bits<W>>,
    beats: SmallFifo<Bits<W>, 4, 5>,

    span: Signal<Local, Bits<10>>,
    load: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    count: Constant<Bits<5>>,
    beat_round: Constant<Bits<10>>,
    beat_shift: Constant<Bits<3>>,
    most_waiting: Constant<Bits<5>>,
}

impl<const W: usize> Inflow<W> {
    /// The part of a build with so many streams.
    pub fn new(streams: usize) -> Self {
        Self::fresh(InflowGiven {
            claims: SmallFifo::new(6),
            headers: SmallFifo::new(6),
            count: Constant::new((streams as u64).into()),
            beat_round: Constant::new((W as u64 / 8 - 1).into()),
            beat_shift: Constant::new(u64::from((W / 8).trailing_zeros()).into()),
            // One beat is on its way.
            most_waiting: Constant::new(12.into()),
        })
    }
}

impl<const W: usize> Logic for Inflow<W> {
    parts!(Settings, Moves);
}

/// Registers, and the answers to the request maker.
struct Settings;

/// The beats.
struct Moves;

impl<const W: usize> Part<Settings> for Inflow<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, now, open, waiting, granted, held, sealed, wake, moving, from, left,
            came, came_data
        );
        self.clear.clock.next = self.pcie_clk.val();
        self.clear.trigger.next = self.inflow.clear.val();
        self.claims.clock.next = self.pcie_clk.val();
        self.headers.clock.next = self.pcie_clk.val();
        self.beats.clock.next = self.pcie_clk.val();
        self.claims.reset.next = self.clear.held.val();
        self.headers.reset.next = self.clear.held.val();
        self.beats.reset.next = self.clear.held.val();
        self.now.d.next = self.now.q.val() + 1;
        self.unit_now.next = self.now.q.val();
        self.unit_tick.next = !self.now.q.val().get_bits::<8>(0).any();
        self.unit_clear.next = self.clear.held.val();
        self.unit_select.next = self.inflow.select.val();
        self.unit_control_we.next = self.inflow.control_we.val();
        self.unit_limit_we.next = self.inflow.limit_we.val();
        self.unit_writedata.next = self.inflow.writedata.val();
        self.open.d.next = self.unit_open.val();
        self.inflow.open.next = self.open.q.val();
        self.waiting.d.next = self.unit_waiting.val();
        self.inflow.waiting.next = self.waiting.q.val();
        self.inflow.count.next = self.count.val();
        self.flow.exists.next = true;

        self.unit_number.next = self.flow.number.val();
        self.unit_channel.next = self.flow.channel.val();
        self.unit_claim.next = self.flow.claim.val();
        self.unit_starves.next = self.flow.starves.val();
        self.unit_bytes.next = self.flow.bytes.val();
        self.unit_closes.next = self.flow.closes.val();
        self.granted.d.next = self.unit_granted.val();
        self.flow.granted.next = self.granted.q.val();
        self.held.d.next = self.unit_held.val();
        self.flow.held.next = self.held.q.val();
        self.sealed.d.next = self.unit_sealed.val();
        self.flow.sealed.next = self.sealed.q.val();
        self.wake.d.next = self.unit_wake.val();
        self.flow.wake.next = self.wake.q.val();
    }
}

impl<const W: usize> Part<Moves> for Inflow<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.span.next = self.flow.bytes.val() + self.beat_round.val();
        self.claims.push.next = self.flow.claim.val();
        self.claims.data_in.next.stream = self.flow.number.val();
        self.claims.data_in.next.beats =
            bit_cast::<6, 10>(self.span.val() >> self.beat_shift.val());
        self.headers.push.next = self.flow.claim.val() & self.flow.closes.val();
        self.headers.data_in.next = self.unit_header.val();
        self.inflow.header.next = self.headers.data.val();
        self.headers.pop.next = self.inflow.header_take.val();

        // One request after another, without a gap.
        self.unit_from.next = self.from.q.val();
        self.unit_pull.next =
            self.moving.q.val() & (self.beats.level.val() < self.most_waiting.val());
        self.last.next = self.unit_given.val() & (self.left.q.val() == 1);
        self.load.next = self.claims.valid.val() & (!self.moving.q.val() | self.last.val());
        self.claims.pop.next = self.load.val();
        if self.unit_given.val() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.load.val() {
            self.moving.d.next = true;
            self.from.d.next = self.claims.data.val().stream;
            self.left.d.next = self.claims.data.val().beats;
        } else if self.last.val() {
            self.moving.d.next = false;
        }
        self.came.d.next = self.unit_given.val();
        self.came_data.d.next = self.unit_data.val();
        self.beats.push.next = self.came.q.val();
        self.beats.data_in.next = self.came_data.q.val();
        self.inflow.beat.next = self.beats.valid.val();
        self.inflow.data.next = self.beats.data.val();
        self.beats.pop.next = self.inflow.take.val();

        if self.clear.held.val() {
            self.moving.d.next = false;
            self.came.d.next = false;
            self.now.d.next = 0.into();
        }
    }
}
