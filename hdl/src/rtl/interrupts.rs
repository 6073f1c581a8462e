//! The block's interrupts: descriptors that have ended go through [`moderation`] to [`msix`], or, where MSI-X is not
//! used, to the interrupt line. In a build with a transaction layer only [`msi`] makes a message of that line.

pub mod moderation;
pub mod msi;
pub mod msix;

use super::ports::{PostSource, RegisterSlave};
use moderation::Moderation;
use msi::Msi;
use msix::Msix;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

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
    /// Moderation settings of a channel; the time in units of 256 cycles.
    pub moderation_we: Signal<In, Bit>,
    pub moderation_channel: Signal<In, Bits<6>>,
    pub moderation_count: Signal<In, Bits<8>>,
    pub moderation_time: Signal<In, Bits<16>>,
    /// One cycle, with MSI-X or without: a channel's moderated events have to be signalled.
    pub notify: Signal<Out, Bit>,
    /// The host's slave.
    pub msix: RegisterSlave<10>,
    /// Bit 15 of the function's Message Control register.
    pub msix_enable: Signal<In, Bit>,
    /// Bit 14.
    pub msix_mask: Signal<In, Bit>,
    /// The block's interrupt line, and the state of the function's MSI capability.
    pub line: Signal<In, Bit>,
    pub msi_enable: Signal<In, Bit>,
    pub msi_address: Signal<In, Bits<64>>,
    pub msi_data: Signal<In, Bits<16>>,
    /// A message for the port: a write of four bytes that stays until it is taken.
    pub message: PostSource<32>,
    #[given]
    moderation: Moderation,
    #[given]
    vectors: Msix,
    single: Msi,
}

impl Interrupts {
    /// Interrupts of `2^channels_log2` channels, at most 64.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(InterruptsGiven {
            moderation: Moderation::new(channels_log2),
            vectors: Msix::new(channels_log2),
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

        self.vectors.clock.next = self.clock.val();
        self.vectors.reset.next = self.reset.val();
        self.vectors.mask_all.next = self.mask_all.val();
        self.vectors.general.next = self.general.val();
        self.vectors.kernel_irq.next = self.kernel_irq.val();
        self.vectors.fired.next = self.moderation.fired.val();
        self.vectors.fired_channel.next = self.moderation.fired_channel.val();
        RegisterSlave::<10>::link(&mut self.msix, &mut self.vectors.table);
        self.vectors.enable.next = self.msix_enable.val();
        self.vectors.function_mask.next = self.msix_mask.val();

        // Neither begins while the other waits at the port; MSI goes first if both would begin in one cycle.
        self.single.clock.next = self.clock.val();
        self.single.reset.next = self.reset.val();
        self.single.enable.next = self.msi_enable.val() & !self.msix_enable.val();
        self.single.address.next = self.msi_address.val();
        self.single.data.next = self.msi_data.val();
        self.single.line.next = self.line.val();
        self.single.kernel_irq.next = self.kernel_irq.val();
        self.single.hold.next = self.vectors.message.valid.val();
        self.single.message.take.next = self.message.take.val() & self.single.message.valid.val();
        self.vectors.message.take.next = self.message.take.val() & !self.single.message.valid.val();
        self.message.valid.next =
            self.single.message.valid.val() | self.vectors.message.valid.val();
        self.message.address.next = self.vectors.message.address.val();
        self.message.data.next = self.vectors.message.data.val();
        if self.single.message.valid.val() {
            self.message.address.next = self.single.message.address.val();
            self.message.data.next = self.single.message.data.val();
        }
    }
}
