//! The block's interrupts: descriptors that have ended go through [`moderation`] to [`msix`], or, where
//! MSI-X is not used, to the interrupt line.

pub mod moderation;
pub mod msix;

use moderation::Moderation;
use msix::Msix;
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Interrupts of up to 64 channels. The ports are those of the two parts, which say more.
#[derive(DocBlock)]
pub struct Interrupts {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub mask_all: Signal<In, Bit>,
    /// A descriptor that wants an interrupt has ended and its record is on its way: at most every
    /// second cycle.
    pub event_valid: Signal<In, Bit>,
    pub event_channel: Signal<In, Bits<6>>,
    pub event_urgent: Signal<In, Bit>,
    /// A cause of vector 0, one cycle.
    pub general: Signal<In, Bit>,
    /// The OpenCL kernel's interrupt, a level: vector 1.
    pub kernel_irq: Signal<In, Bit>,
    // Moderation settings of a channel; the time in units of 256 cycles.
    pub moderation_we: Signal<In, Bit>,
    pub moderation_channel: Signal<In, Bits<6>>,
    pub moderation_count: Signal<In, Bits<8>>,
    pub moderation_time: Signal<In, Bits<16>>,
    /// One cycle, with MSI-X or without: a channel's moderated events have to be signalled.
    pub notify: Signal<Out, Bit>,
    // The host's slave.
    pub msix_address: Signal<In, Bits<10>>,
    pub msix_read: Signal<In, Bit>,
    pub msix_write: Signal<In, Bit>,
    pub msix_writedata: Signal<In, Bits<32>>,
    pub msix_byteenable: Signal<In, Bits<4>>,
    pub msix_readdata: Signal<Out, Bits<32>>,
    /// Bit 15 of the function's Message Control register.
    pub msix_enable: Signal<In, Bit>,
    /// Bit 14.
    pub msix_mask: Signal<In, Bit>,
    // A message for the port: a write of four bytes that stands until it is taken.
    pub message: Signal<Out, Bit>,
    pub message_address: Signal<Out, Bits<64>>,
    pub message_data: Signal<Out, Bits<32>>,
    pub message_take: Signal<In, Bit>,
    #[given]
    moderation: Moderation,
    #[given]
    msix: Msix,
}

impl Interrupts {
    /// Interrupts of `2^channels_log2` channels, at most 64.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(InterruptsGiven {
            moderation: Moderation::new(channels_log2),
            msix: Msix::new(channels_log2),
        })
    }
}

impl Logic for Interrupts {
    #[hdl_gen]
    fn update(&mut self) {
        self.moderation.clock.next = self.clock.val();
        self.moderation.reset.next = self.reset.val();
        self.moderation.event_valid.next = self.event_valid.val();
        self.moderation.event_channel.next = self.event_channel.val();
        self.moderation.event_urgent.next = self.event_urgent.val();
        self.moderation.write.next = self.moderation_we.val();
        self.moderation.write_channel.next = self.moderation_channel.val();
        self.moderation.write_count.next = self.moderation_count.val();
        self.moderation.write_time.next = self.moderation_time.val();
        self.notify.next = self.moderation.fired.val();

        self.msix.clock.next = self.clock.val();
        self.msix.reset.next = self.reset.val();
        self.msix.mask_all.next = self.mask_all.val();
        self.msix.general.next = self.general.val();
        self.msix.kernel_irq.next = self.kernel_irq.val();
        self.msix.fired.next = self.moderation.fired.val();
        self.msix.fired_channel.next = self.moderation.fired_channel.val();
        self.msix.address.next = self.msix_address.val();
        self.msix.read.next = self.msix_read.val();
        self.msix.write.next = self.msix_write.val();
        self.msix.writedata.next = self.msix_writedata.val();
        self.msix.byteenable.next = self.msix_byteenable.val();
        self.msix_readdata.next = self.msix.readdata.val();
        self.msix.enable.next = self.msix_enable.val();
        self.msix.function_mask.next = self.msix_mask.val();
        self.message.next = self.msix.message.val();
        self.message_address.next = self.msix.message_address.val();
        self.message_data.next = self.msix.message_data.val();
        self.msix.message_take.next = self.message_take.val();
    }
}
