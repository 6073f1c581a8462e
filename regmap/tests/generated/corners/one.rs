// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `one`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of one cycle and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, together with the slave's `writedata`.

use peerlane_verilog::DocBlock;
use peerlane_language::*;

/// Registers of the block `one`.
#[derive(DocBlock, Default)]
pub struct OneRegs {
    /// Clock of the slave and of all other ports.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Slave: word address.
    pub address: Signal<In, Bits<1>>,
    /// Slave: read request.
    pub read: Signal<In, Bit>,
    /// Slave: write request.
    pub write: Signal<In, Bit>,
    /// Slave: data to write.
    pub writedata: Signal<In, Bits<32>>,
    /// Slave: bytes to write; all four or the write is ignored.
    pub byteenable: Signal<In, Bits<4>>,
    /// Slave: data of the read in the cycle before.
    pub readdata: Signal<Out, Bits<32>>,
    /// A.f: A corner.
    pub a_f: Signal<Out, Bits<28>>,
    /// A.g: A corner.
    pub a_g: Signal<In, Bit>,
    /// A.h: A corner.
    pub a_h: Signal<In, Bits<24>>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
    a_lo_f_reg: DFF<Bits<27>>,
    a_hi_f_reg: DFF<Bit>,
}

impl Logic for OneRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg,
            a_lo_f_reg,
            a_hi_f_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        self.a_f.next = bit_cast::<28, 27>(self.a_lo_f_reg.q.val()) | (bit_cast::<28, 1>(self.a_hi_f_reg.q.val().into()) << 27);
        // Writes.
        if self.act.val() & !self.address.val().get_bit(0) {
            self.a_lo_f_reg.d.next = self.writedata.val().get_bits::<27>(5);
        }
        if self.act.val() & self.address.val().get_bit(0) {
            self.a_hi_f_reg.d.next = self.writedata.val().get_bit(0);
        }
        // Reads: registered; 0 at unused addresses.
        if self.read.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address.val().get_bit(0) {
                self.readdata_reg.d.next = bit_cast::<32, 1>(self.a_hi_f_reg.q.val().into()) | (bit_cast::<32, 1>(self.a_g.val().into()) << 2) | (bit_cast::<32, 24>(self.a_h.val()) << 8);
            } else {
                self.readdata_reg.d.next = bit_cast::<32, 27>(self.a_lo_f_reg.q.val()) << 5;
            }
        }
        if self.reset.val() {
            self.a_lo_f_reg.d.next = 1u64.into();
            self.a_hi_f_reg.d.next = true;
        }
    }
}