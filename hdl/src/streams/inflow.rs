//! From the streams to the write path: the beats of requests in the order of the requests, and the headers of blocks.

use super::hub::Hub;
use super::ports::UnitHub;
use crate::prim::{Part, SmallFifo, parts, words};
use crate::rtl::ports::{FlowSink, InflowHub, SettingsHub};
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
    pub inputs: SettingsHub,
    pub inputs_limit_we: Signal<In, Bit>,
    pub write_flow: FlowSink,
    pub inflow: InflowHub<W>,
    /// The streams; see [`super::input::Input`].
    pub unit_in: UnitHub,
    pub unit_in_limit_we: Signal<Out, Bit>,
    pub unit_in_now: Signal<Out, Bits<48>>,
    pub unit_in_tick: Signal<Out, Bit>,
    pub unit_in_sealed: Signal<In, Bit>,
    pub unit_in_header: Signal<In, Bits<64>>,
    pub unit_in_from: Signal<Out, Bits<4>>,
    pub unit_in_pull: Signal<Out, Bit>,
    pub unit_in_given: Signal<In, Bit>,
    pub unit_in_data: Signal<In, Bits<W>>,

    #[given]
    hub: Hub,
    now: DFF<Bits<48>>,
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
            hub: Hub::new(streams, false),
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
        dff_setup!(self, pcie_clk, now, moving, from, left, came, came_data);
        clock!(self, pcie_clk, hub, claims, headers, beats);
        SettingsHub::link(&mut self.inputs, &mut self.hub.settings);
        FlowSink::link(&mut self.write_flow, &mut self.hub.flow);
        UnitHub::link(&mut self.unit_in, &mut self.hub.unit);
        self.hub.sealed.next = self.unit_in_sealed.val();
        self.hub.place.next = 0.into();
        self.claims.reset.next = self.hub.clear.val();
        self.headers.reset.next = self.hub.clear.val();
        self.beats.reset.next = self.hub.clear.val();
        self.unit_in_limit_we.next = self.inputs_limit_we.val() & self.hub.chosen.val();
        self.now.d.next = self.now.q.val() + 1;
        self.unit_in_now.next = self.now.q.val();
        self.unit_in_tick.next = !self.now.q.val().get_bits::<8>(0).any();
    }
}

impl<const W: usize> Part<Moves> for Inflow<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.span.next = self.write_flow.bytes.val() + self.beat_round.val();
        self.claims.push.next = self.write_flow.claim.val();
        self.claims.data_in.next.stream = self.write_flow.number.val();
        self.claims.data_in.next.beats =
            bit_cast::<6, 10>(self.span.val() >> self.beat_shift.val());
        self.headers.push.next = self.write_flow.claim.val() & self.write_flow.closes.val();
        self.headers.data_in.next = self.unit_in_header.val();
        self.inflow.header.next = self.headers.data.val();
        self.headers.pop.next = self.inflow.header_take.val();

        // One request after another, without a gap.
        self.unit_in_from.next = self.from.q.val();
        self.unit_in_pull.next =
            self.moving.q.val() & (self.beats.level.val() < self.most_waiting.val());
        self.last.next = self.unit_in_given.val() & (self.left.q.val() == 1);
        self.load.next = self.claims.valid.val() & (!self.moving.q.val() | self.last.val());
        self.claims.pop.next = self.load.val();
        if self.unit_in_given.val() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.load.val() {
            self.moving.d.next = true;
            self.from.d.next = self.claims.data.val().stream;
            self.left.d.next = self.claims.data.val().beats;
        } else if self.last.val() {
            self.moving.d.next = false;
        }
        self.came.d.next = self.unit_in_given.val();
        self.came_data.d.next = self.unit_in_data.val();
        self.beats.push.next = self.came.q.val();
        self.beats.data_in.next = self.came_data.q.val();
        self.inflow.beat.next = self.beats.valid.val();
        self.inflow.data.next = self.beats.data.val();
        self.beats.pop.next = self.inflow.take.val();

        if self.hub.clear.val() {
            self.moving.d.next = false;
            self.came.d.next = false;
            self.now.d.next = 0.into();
        }
    }
}
