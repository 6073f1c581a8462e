//! The application's reset, made from what the hard IP says of itself. The variant with Avalon-MM ports brings one out
//! (`nreset_status`); the one with an Avalon-ST interface leaves it to the application (Stratix V Avalon-ST Interface for
//! PCIe 683093, "Reset, Status, and Link Training Signals").

use crate::prim::BitSync;
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Holds `nreset_status` low until the hard IP has left its reset, uses the clock, and neither loses nor resets the link; and
/// 1024 cycles longer, as with the Avalon-MM variant (ACDS 13.1): all resets of the hard IP have ended by then.
/// A link that fails to recover, or that is disabled, leaves DL_Active, which `dlup_exit` tells.
#[derive(DocBlock, Default)]
pub struct Restart {
    /// `pld_clk` of the hard IP.
    pub clock: Signal<In, Clock>,
    /// The hard IP is in reset. Not of this clock.
    pub reset_status: Signal<In, Bit>,
    /// The hard IP's transaction layer uses the clock. Not of this clock.
    pub pld_clk_inuse: Signal<In, Bit>,
    /// Each is low for a cycle as the link goes down, as a hot reset ends, and as the link leaves L2.
    pub dlup_exit: Signal<In, Bit>,
    pub hotrst_exit: Signal<In, Bit>,
    pub l2_exit: Signal<In, Bit>,
    /// The application's reset, active low.
    pub nreset_status: Signal<Out, Bit>,

    resets: BitSync,
    uses: BitSync,
    count: DFF<Bits<11>>,
}

impl Logic for Restart {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count);
        clock!(self, clock, resets, uses);
        self.resets.unsynced.next = self.reset_status.val();
        self.uses.unsynced.next = self.pld_clk_inuse.val();
        if !self.count.q.val().get_bit(10) {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.resets.synced.val()
            | !self.uses.synced.val()
            | !self.dlup_exit.val()
            | !self.hotrst_exit.val()
            | !self.l2_exit.val()
        {
            self.count.d.next = 0.into();
        }
        self.nreset_status.next = self.count.q.val().get_bit(10);
    }
}
