//! The bundles of ports between the streams and the part that all streams of a direction share.

use peerlane_language::*;
use peerlane_verilog::bundle;

/// Registers of the stream that is selected, and the account that a request maker asks. All streams of a direction
/// have the same inputs. Their outputs are joined by OR.
#[bundle(UnitHub)]
pub struct Unit {
    pub clear: Signal<In, Bit>,
    pub select: Signal<In, Bits<4>>,
    pub control_we: Signal<In, Bit>,
    pub writedata: Signal<In, Bits<32>>,
    pub open: Signal<Out, Bit>,
    pub waiting: Signal<Out, Bits<16>>,
    /// See [`crate::rtl::ports::FlowSource`].
    pub number: Signal<In, Bits<4>>,
    pub channel: Signal<In, Bits<6>>,
    pub granted: Signal<Out, Bit>,
    pub held: Signal<Out, Bits<13>>,
    pub claim: Signal<In, Bit>,
    pub starves: Signal<In, Bit>,
    pub bytes: Signal<In, Bits<10>>,
    pub closes: Signal<In, Bit>,
    pub fails: Signal<In, Bit>,
    pub wake: Signal<Out, Bits<64>>,
}
