//! The reset of the PCIe side as the parts of the block take it.

use crate::prim::BitSync;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Takes the reset of the PCIe side into its clock once, for all parts. So all parts see its begin and its end in the
/// same cycle, from any source. The hard IP's reset may begin without a clock, and stay longer than the clock stops.
#[derive(DocBlock, Default)]
pub struct LinkReset {
    pub pcie_clk: Signal<In, Clock>,
    /// Reset of the PCIe side. Of any clock.
    pub pcie_reset: Signal<In, Bit>,
    /// The reset in this clock.
    pub link_reset: Signal<Out, Bit>,

    arrives: BitSync,
}

impl Logic for LinkReset {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, pcie_clk, arrives);
        self.arrives.unsynced.next = self.pcie_reset.val();
        self.link_reset.next = self.arrives.synced.val();
    }
}
