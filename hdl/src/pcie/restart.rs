//! The application's reset, made from the hard IP's own status. The variant with Avalon-MM ports brings one out
//! (`nreset_status`); the variant with an Avalon-ST interface leaves it to the application (Stratix V Avalon-ST
//! Interface for PCIe 683093, "Reset, Status, and Link Training Signals").
//!
//! # Events that end the link
//! Every way out of a working link goes through DL_Inactive, which `dlup_exit` reports: a hot reset, a link that
//! software disables, and a link that does not recover, for LinkUp falls with each of them (PCI Express Base
//! Specification 3.0, sections 3.2.1, 4.2.6). So three things that the Avalon-MM variant (ACDS 13.1) looks at are not
//! looked at here:
//!
//! - `hotrst_exit`. None of Altera's designs for Stratix V takes it from the hard IP. If it stayed low, the board would
//!   be in reset for ever.
//! - `ltssmstate` for Disabled. The link has left DL_Active by then.
//! - Six million cycles in Recovery, 24 ms at 250 MHz. No state of Recovery lasts for longer than 48 ms, and a link
//!   that has not come back by then goes down. A link that comes back, from equalization at 8 GT/s for example, has
//!   lost nothing; a reset of the application alone would leave half a packet in its hard IP.

use crate::prim::{BitSync, ResetAtOnce};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Holds `nreset_status` low until the hard IP has left its reset, uses the clock, and does not lose the link; and for
/// 1024 cycles more, as the Avalon-MM variant does: all resets of the hard IP have ended by then. The hard IP's reset
/// sets it at once, also as in that variant, because the hard IP's clock may stop from then on.
#[derive(DocBlock, Default)]
pub struct Restart {
    /// `pld_clk` of the hard IP.
    pub clock: Signal<In, Clock>,
    /// The hard IP is in reset. Not of this clock.
    pub reset_status: Signal<In, Bit>,
    /// The hard IP's transaction layer uses the clock. Not of this clock.
    pub pld_clk_inuse: Signal<In, Bit>,
    /// Each is low for a cycle: as the link goes down, and as it leaves L2.
    pub dlup_exit: Signal<In, Bit>,
    pub l2_exit: Signal<In, Bit>,
    /// The application's reset, active low.
    pub nreset_status: Signal<Out, Bit>,

    uses: BitSync,
    hold: ResetAtOnce,
}

impl Logic for Restart {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, uses, hold);
        self.uses.unsynced.next = self.pld_clk_inuse.val();
        self.hold.trigger.next = self.reset_status.val();
        self.hold.again.next =
            !self.uses.synced.val() | !self.dlup_exit.val() | !self.l2_exit.val();
        self.nreset_status.next = self.hold.over.val();
    }
}
