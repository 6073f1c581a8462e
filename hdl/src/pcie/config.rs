//! The function's configuration by software, as the hard IP shows it: sixteen words in turn (`tl_cfg`, Stratix V
//! Avalon-ST Interface for PCIe 683093, Transaction Layer Configuration Space signals).
//!
//! Each word stays for four or eight cycles, and all its bits are multi-cycle paths, to be sampled in the middle
//! (683093, Configuration Space Register Access Timing): at the first edge each bit may still be that of the word
//! before. So a word of four cycles is whole at its second, third and fourth edge. All of it comes into registers of
//! its own at each edge (`early`). The timing constraints know them by that name and allow each bit two cycles. The
//! lowest bit of the number goes through one more register, and a change of it is seen at the third edge, or at the
//! fourth if the bit was late itself. Then the word of the edge before is taken, which is the second or the third edge.
//! The lowest bit may come two cycles later than others, and a cycle earlier.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The configuration's words that are used.
#[derive(DocBlock, Default)]
pub struct Config {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The number of the word that is shown, and the word.
    pub add: Signal<In, Bits<4>>,
    pub ctl: Signal<In, Bits<32>>,
    /// Device Control: Max Payload Size and Max Read Request Size, 128 bytes shifted by it; Extended Tag Field
    /// Enable.
    pub payload: Signal<Out, Bits<3>>,
    pub request: Signal<Out, Bits<3>>,
    pub extended: Signal<Out, Bit>,
    /// Device Control 2: Completion Timeout Disable.
    pub patient: Signal<Out, Bit>,
    /// Link Control: the root complex's Read Completion Boundary is 128, not 64.
    pub boundary: Signal<Out, Bit>,
    /// Command: Bus Master Enable; not before the Requester ID has been shown as well. The write that sets it may be
    /// the first of all, which gives the function its number (PCI Express Base Specification 2.1, section 2.2.6.2).
    pub master: Signal<Out, Bit>,
    /// MSI-X Control: enabled, and the function's mask.
    pub msix_enable: Signal<Out, Bit>,
    pub msix_mask: Signal<Out, Bit>,
    /// MSI: enabled, and its address and data.
    pub msi_enable: Signal<Out, Bit>,
    pub msi_address: Signal<Out, Bits<64>>,
    pub msi_data: Signal<Out, Bits<16>>,
    /// Requester ID: bus, device and function 0; and that it has come since the reset.
    pub id: Signal<Out, Bits<16>>,
    pub known: Signal<Out, Bit>,

    /// Number and word, as they come.
    early_add: DFF<Bits<4>>,
    early_ctl: DFF<Bits<32>>,
    /// The lowest bit of the number, settled; and in the cycle before.
    settled: DFF<Bit>,
    before: DFF<Bit>,
    device: DFF<Bits<32>>,
    boundary_bit: DFF<Bit>,
    master_bit: DFF<Bit>,
    msix: DFF<Bits<2>>,
    /// MSI was enabled when its word came last; and the time before, too.
    msi_seen: DFF<Bit>,
    msi: DFF<Bit>,
    msi_to: DFF<Bits<64>>,
    msi_word: DFF<Bits<16>>,
    number: DFF<Bits<13>>,
    numbered: DFF<Bit>,
    /// As master.
    named: DFF<Bit>,
    changed: Signal<Local, Bit>,
}

impl Logic for Config {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            early_add,
            early_ctl,
            settled,
            before,
            device,
            boundary_bit,
            master_bit,
            msix,
            msi_seen,
            msi,
            msi_to,
            msi_word,
            number,
            numbered,
            named
        );
        self.early_add.d.next = self.add.val();
        self.early_ctl.d.next = self.ctl.val();
        self.settled.d.next = self.early_add.q.val().get_bit(0);
        self.before.d.next = self.settled.q.val();
        self.changed.next = self.settled.q.val() ^ self.before.q.val();
        if self.changed.val() {
            if self.early_add.q.val() == 0 {
                self.device.d.next = self.early_ctl.q.val();
            }
            if self.early_add.q.val() == 2 {
                self.boundary_bit.d.next = self.early_ctl.q.val().get_bit(19);
            }
            if self.early_add.q.val() == 3 {
                self.master_bit.d.next = self.early_ctl.q.val().get_bit(10);
            }
            // The MSI's address: 11:0, 31:12, 43:32 and 63:44.
            if self.early_add.q.val() == 5 {
                self.msi_to.d.next = ((self.msi_to.q.val() >> 12) << 12)
                    | bit_cast::<64, 12>(self.early_ctl.q.val().get_bits::<12>(20));
            }
            if self.early_add.q.val() == 9 {
                self.msi_to.d.next = (self.msi_to.q.val() & 0xFFFF_FFFF_0000_0FFF_u64)
                    | (bit_cast::<64, 20>(self.early_ctl.q.val().get_bits::<20>(12)) << 12);
            }
            if self.early_add.q.val() == 6 {
                self.msi_to.d.next = (self.msi_to.q.val() & 0xFFFF_F000_FFFF_FFFF_u64)
                    | (bit_cast::<64, 12>(self.early_ctl.q.val().get_bits::<12>(20)) << 32);
            }
            if self.early_add.q.val() == 11 {
                self.msi_to.d.next = (self.msi_to.q.val() & 0x0000_0FFF_FFFF_FFFF_u64)
                    | (bit_cast::<64, 20>(self.early_ctl.q.val().get_bits::<20>(12)) << 44);
            }
            if self.early_add.q.val() == 13 {
                self.msix.d.next = self.early_ctl.q.val().get_bits::<2>(30);
                // Address and data of an enabled MSI have come with the words after this one.
                self.msi_seen.d.next = self.early_ctl.q.val().get_bit(0);
                self.msi.d.next = self.early_ctl.q.val().get_bit(0) & self.msi_seen.q.val();
            }
            if self.early_add.q.val() == 15 {
                self.msi_word.d.next = self.early_ctl.q.val().get_bits::<16>(16);
                self.number.d.next = self.early_ctl.q.val().get_bits::<13>(0);
                self.numbered.d.next = true;
                self.named.d.next = self.master_bit.q.val();
            }
        }
        if !self.master_bit.q.val() {
            self.named.d.next = false;
        }
        self.payload.next = self.device.q.val().get_bits::<3>(21);
        self.request.next = self.device.q.val().get_bits::<3>(28);
        self.extended.next = self.device.q.val().get_bit(24);
        self.boundary.next = self.boundary_bit.q.val();
        self.patient.next = self.device.q.val().get_bit(4);
        self.known.next = self.numbered.q.val();
        self.master.next = self.master_bit.q.val() & self.named.q.val();
        self.msix_enable.next = self.msix.q.val().get_bit(1);
        self.msix_mask.next = self.msix.q.val().get_bit(0);
        self.msi_enable.next = self.msi.q.val();
        self.msi_address.next = self.msi_to.q.val();
        self.msi_data.next = self.msi_word.q.val();
        self.id.next = bit_cast::<16, 13>(self.number.q.val()) << 3;
        if self.reset.val() {
            self.device.d.next = 0.into();
            self.boundary_bit.d.next = false;
            self.master_bit.d.next = false;
            self.msix.d.next = 0.into();
            self.msi_seen.d.next = false;
            self.msi.d.next = false;
            self.msi_to.d.next = 0.into();
            self.msi_word.d.next = 0.into();
            self.number.d.next = 0.into();
            self.numbered.d.next = false;
            self.named.d.next = false;
        }
    }
}
