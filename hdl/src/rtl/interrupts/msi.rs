//! MSI: one message for the block's interrupt line and the OpenCL kernel's, in builds with a transaction layer, which
//! sees the values that software has written into the function's MSI capability (PCI Local Bus Specification 3.0,
//! section 6.8.1).
//!
//! A line that rises is a cause, and so is a line that is high when MSI is enabled. A cause is due until its message is
//! made. A message that was made stays until it is taken, even if software changes the settings before that. Causes
//! that come before the message is made have one message. A host that has MSI-X enabled gets no MSI: the two are never
//! enabled together.

use crate::rtl::ports::PostSource;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// One vector.
#[derive(DocBlock, Default)]
pub struct Msi {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// MSI is enabled, and MSI-X is not.
    pub enable: Signal<In, Bit>,
    /// The capability's Message Address and Message Data. Software sets them before it enables MSI.
    pub address: Signal<In, Bits<64>>,
    pub data: Signal<In, Bits<16>>,
    /// Levels.
    pub line: Signal<In, Bit>,
    pub kernel_irq: Signal<In, Bit>,
    /// Another message waits at the port.
    pub hold: Signal<In, Bit>,
    /// The message: a write of four bytes, whose upper half is 0.
    pub message: PostSource<32>,

    line_seen: DFF<Bit>,
    kernel_seen: DFF<Bit>,
    due: DFF<Bit>,
    standing: DFF<Bit>,
    to: DFF<Bits<64>>,
    word: DFF<Bits<16>>,
    cause: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
}

impl Logic for Msi {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, line_seen, kernel_seen, due, standing, to, word);
        self.line_seen.d.next = self.line.val() & self.enable.val();
        self.kernel_seen.d.next = self.kernel_irq.val() & self.enable.val();
        self.cause.next = self.enable.val()
            & ((self.line.val() & !self.line_seen.q.val())
                | (self.kernel_irq.val() & !self.kernel_seen.q.val()));
        self.starts.next =
            self.due.q.val() & self.enable.val() & !self.standing.q.val() & !self.hold.val();
        self.due.d.next =
            self.enable.val() & ((self.due.q.val() & !self.starts.val()) | self.cause.val());
        if self.standing.q.val() & self.message.take.val() {
            self.standing.d.next = false;
        }
        if self.starts.val() {
            self.standing.d.next = true;
            self.to.d.next = (self.address.val() >> 2) << 2;
            self.word.d.next = self.data.val();
        }
        self.message.valid.next = self.standing.q.val();
        self.message.address.next = self.to.q.val();
        self.message.data.next = bit_cast::<32, 16>(self.word.q.val());
        if self.reset.val() {
            self.line_seen.d.next = false;
            self.kernel_seen.d.next = false;
            self.due.d.next = false;
            self.standing.d.next = false;
        }
    }
}
