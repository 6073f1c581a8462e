//! Opening and closing of a stream, between two clocks.
//!
//! A stream opens and closes as a whole: both sides of its FIFO are in reset until each has seen the other's. The
//! logic's clock may have any rate, and may stand still; then the stream does not open. Requests that have left when
//! the stream is closed still move their words, and a descriptor that has moved some of its words fails. The stream
//! does not open before that.

use crate::prim::BitSync;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Owner and state of one stream.
#[derive(DocBlock, Default)]
pub struct Gate {
    pub pcie_clk: Signal<In, Clock>,
    pub logic_clk: Signal<In, Clock>,
    pub clear: Signal<In, Bit>,
    /// `writedata` is the value of STREAM_CONTROL.
    pub write: Signal<In, Bit>,
    pub writedata: Signal<In, Bits<32>>,
    /// A request has not moved all of its words.
    pub owed: Signal<In, Bit>,
    /// A request of `channel` leaves, the last of its descriptor or not; or the descriptor ends without one.
    pub claims: Signal<In, Bit>,
    pub closes: Signal<In, Bit>,
    pub fails: Signal<In, Bit>,
    pub channel: Signal<In, Bits<6>>,
    pub owner: Signal<Out, Bits<6>>,
    /// The stream moves no words.
    pub closed: Signal<Out, Bit>,
    /// It is closed, both sides have been in reset for some time, and no request is left.
    pub drained: Signal<Out, Bit>,
    /// The logic's side is in reset: there, and as this side sees it.
    pub logic_reset: Signal<Out, Bit>,
    pub logic_reset_seen: Signal<Out, Bit>,

    logic_sees: BitSync,
    open_seen: BitSync,
    owned: DFF<Bits<6>>,
    enabled: DFF<Bit>,
    /// The logic's side is to be out of reset. At power-up both sides are in reset, whichever clock runs first.
    opens: DFF<Bit>,
    is_open: DFF<Bit>,
    /// Cycles since both sides are in reset, 31 at most. The request maker may take some to know that the stream is
    /// closed; and registers that the reset has cleared have settled for the other clock when the reset ends.
    closed_for: DFF<Bits<5>>,
    /// A descriptor of this channel has moved some of its words.
    midway: DFF<Bit>,
    mover: DFF<Bits<6>>,
    is_drained: Signal<Local, Bit>,
}

impl Logic for Gate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, owned, enabled, opens, is_open, closed_for, midway, mover
        );
        // The logic's side follows `opens`, and this side opens after it.
        self.logic_sees.clock.next = self.logic_clk.val();
        self.logic_sees.unsynced.next = self.opens.q.val();
        self.open_seen.clock.next = self.pcie_clk.val();
        self.open_seen.unsynced.next = self.logic_sees.synced.val();
        self.logic_reset.next = !self.logic_sees.synced.val();
        self.logic_reset_seen.next = !self.open_seen.synced.val();
        // A new owner of an open stream closes it.
        if self.write.val() {
            self.enabled.d.next = self.writedata.val().get_bit(0)
                & (!self.enabled.q.val()
                    | !self.opens.q.val()
                    | !self.open_seen.synced.val()
                    | (self.writedata.val().get_bits::<6>(8) == self.owned.q.val()));
            self.owned.d.next = self.writedata.val().get_bits::<6>(8);
        }
        if self.claims.val() {
            self.midway.d.next = !self.closes.val();
            self.mover.d.next = self.channel.val();
        } else if self.fails.val() & (self.channel.val() == self.mover.q.val()) {
            self.midway.d.next = false;
        }
        self.is_drained.next =
            self.closed_for.q.val().all() & !self.owed.val() & !self.midway.q.val();
        // It falls when the logic's side has seen that it rose, and rises when that side has seen that it fell.
        if self.clear.val() | !self.enabled.q.val() {
            self.opens.d.next = self.opens.q.val() & !self.open_seen.synced.val();
        } else if self.is_drained.val() {
            self.opens.d.next = true;
        }
        self.closed_for.d.next = 0.into();
        if !self.opens.q.val() & !self.open_seen.synced.val() {
            self.closed_for.d.next = self.closed_for.q.val();
            if !self.closed_for.q.val().all() {
                self.closed_for.d.next = self.closed_for.q.val() + 1;
            }
        }
        self.is_open.d.next =
            self.opens.q.val() & self.open_seen.synced.val() & self.enabled.q.val();
        self.owner.next = self.owned.q.val();
        self.closed.next = !self.is_open.q.val();
        self.drained.next = self.is_drained.val();
        if self.clear.val() {
            self.enabled.d.next = false;
            self.midway.d.next = false;
        }
    }
}
