//! The part that all streams of a direction share: their registers, and the answers to the request maker.

use super::ports::UnitHub;
use crate::prim::ResetCopy;
use crate::rtl::ports::{FlowSink, SettingsHub};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Between the engine and the streams of a direction. Each output of the streams is looked at a cycle later.
#[derive(DocBlock)]
pub struct Hub {
    pub clock: Signal<In, Clock>,
    /// The engine.
    pub settings: SettingsHub,
    pub flow: FlowSink,
    /// The streams.
    pub unit: UnitHub,
    /// A block of the stream that is asked ends with the bytes that wait.
    pub sealed: Signal<In, Bit>,
    /// Number of the 64-byte word of that stream where the next request's data begin.
    pub place: Signal<In, Bits<9>>,
    /// The engine's reset, for the other parts.
    pub clear: Signal<Out, Bit>,
    /// A stream of this direction is selected.
    pub chosen: Signal<Out, Bit>,

    clears: ResetCopy,
    selected: DFF<Bits<4>>,
    is_chosen: DFF<Bit>,
    open: DFF<Bit>,
    waiting: DFF<Bits<16>>,
    granted: DFF<Bit>,
    held: DFF<Bits<13>>,
    is_sealed: DFF<Bit>,
    wake: DFF<Bits<64>>,
    place_at: DFF<Bits<40>>,
    count: Constant<Bits<5>>,
    to_logic: Constant<Bits<1>>,
    /// A place that is a stream's.
    of_streams: Constant<Bits<40>>,
}

impl Hub {
    /// Makes the hub of so many streams, from the logic or to it.
    pub fn new(streams: usize, to_logic: bool) -> Self {
        Self::fresh(HubGiven {
            to_logic: Constant::new(u64::from(to_logic).into()),
            count: Constant::new((streams as u64).into()),
            of_streams: Constant::new((1u64 << 39).into()),
        })
    }
}

impl Logic for Hub {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, selected, is_chosen, open, waiting, granted, held, is_sealed, wake,
            place_at
        );
        self.clears.clock.next = self.clock.val();
        self.clears.trigger.next = self.settings.clear.val();
        self.clear.next = self.clears.held.val();
        self.unit.clear.next = self.clears.held.val();
        if self.settings.select_we.val() {
            self.selected.d.next = self.settings.writedata.val().get_bits::<4>(0);
            self.is_chosen.d.next =
                self.settings.writedata.val().get_bits::<1>(4) == self.to_logic.val();
        }
        self.chosen.next = self.is_chosen.q.val();
        self.unit.select.next = self.selected.q.val();
        self.unit.control_we.next = self.settings.control_we.val() & self.is_chosen.q.val();
        self.unit.writedata.next = self.settings.writedata.val();
        self.open.d.next = self.unit.open.val() & self.is_chosen.q.val();
        self.settings.open.next = self.open.q.val();
        self.waiting.d.next = 0.into();
        if self.is_chosen.q.val() {
            self.waiting.d.next = self.unit.waiting.val();
        }
        self.settings.waiting.next = self.waiting.q.val();
        self.settings.count.next = self.count.val();

        self.flow.exists.next = true;
        self.unit.number.next = self.flow.number.val();
        self.unit.channel.next = self.flow.channel.val();
        self.unit.claim.next = self.flow.claim.val();
        self.unit.starves.next = self.flow.starves.val();
        self.unit.bytes.next = self.flow.bytes.val();
        self.unit.closes.next = self.flow.closes.val();
        self.unit.fails.next = self.flow.fails.val();
        self.granted.d.next = self.unit.granted.val();
        self.flow.granted.next = self.granted.q.val();
        self.held.d.next = self.unit.held.val();
        self.flow.held.next = self.held.q.val();
        self.is_sealed.d.next = self.sealed.val();
        self.flow.sealed.next = self.is_sealed.q.val();
        self.wake.d.next = self.unit.wake.val();
        self.flow.wake.next = self.wake.q.val();
        self.place_at.d.next = self.of_streams.val()
            | (bit_cast::<40, 4>(self.flow.number.val()) << 16)
            | (bit_cast::<40, 9>(self.place.val()) << 6);
        self.flow.place.next = self.place_at.q.val();
    }
}
