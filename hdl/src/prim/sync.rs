//! Two-flop synchronisers. Timing constraints find their first stage by the name `meta`.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// One level into another clock.
#[derive(DocBlock, Default)]
#[module_name(shape)]
pub struct BitSync {
    pub clock: Signal<In, Clock>,
    pub unsynced: Signal<In, Bit>,
    pub synced: Signal<Out, Bit>,
    meta: DFF<Bit>,
    settled: DFF<Bit>,
}

impl BitSync {
    fn shape(&self) -> String {
        "sync_1".to_owned()
    }
}

impl Logic for BitSync {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, meta, settled);
        self.meta.d.next = self.unsynced.val();
        self.settled.d.next = self.meta.q.val();
        self.synced.next = self.settled.q.val();
    }
}

/// A bus into another clock: a Gray-coded count, of which one bit changes at a time, or a setting that
/// does not change while it is used.
#[derive(DocBlock, Default)]
#[module_name(shape)]
pub struct BusSync<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub unsynced: Signal<In, Bits<N>>,
    pub synced: Signal<Out, Bits<N>>,
    meta: DFF<Bits<N>>,
    settled: DFF<Bits<N>>,
}

impl<const N: usize> BusSync<N> {
    fn shape(&self) -> String {
        format!("sync_{N}")
    }
}

impl<const N: usize> Logic for BusSync<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, meta, settled);
        self.meta.d.next = self.unsynced.val();
        self.settled.d.next = self.meta.q.val();
        self.synced.next = self.settled.q.val();
    }
}
