// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `three`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of one cycle and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, together with the slave's `writedata`.

use peerlane_verilog::DocBlock;
use peerlane_language::*;

/// Registers of the block `three`.
#[derive(DocBlock, Default)]
pub struct ThreeRegs {
    /// Clock of the slave and of all other ports.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Slave: word address.
    pub address: Signal<In, Bits<4>>,
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
    /// C.go: A corner.
    pub c_go: Signal<Out, Bit>,
    /// E.value: A corner.
    pub e: Signal<Out, Bits<64>>,
    /// D_LO: written in this cycle with `writedata`. A corner.
    pub d_lo_we: Signal<Out, Bit>,
    /// D_HI: written in this cycle with `writedata`. A corner.
    pub d_hi_we: Signal<Out, Bit>,
    /// D: the element that is written.
    pub d_index: Signal<Out, Bit>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
    c_go_reg: DFF<Bit>,
    e_lo_reg: DFF<Bits<32>>,
    e_hi_reg: DFF<Bits<32>>,
}

impl Logic for ThreeRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg,
            c_go_reg,
            e_lo_reg,
            e_hi_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        self.c_go.next = self.c_go_reg.q.val();
        self.e.next = bit_cast::<64, 32>(self.e_lo_reg.q.val()) | (bit_cast::<64, 32>(self.e_hi_reg.q.val()) << 32);
        self.d_lo_we.next = self.act.val() & self.address.val().get_bit(3) & (self.address.val().get_bits::<2>(0) == 0);
        self.d_hi_we.next = self.act.val() & self.address.val().get_bit(3) & (self.address.val().get_bits::<2>(0) == 1);
        self.d_index.next = self.address.val().get_bit(2);
        // Writes.
        self.c_go_reg.d.next = false;
        if self.act.val() & (self.address.val() == 1) {
            self.c_go_reg.d.next = self.writedata.val().get_bit(3);
        }
        if self.act.val() & (self.address.val() == 6) {
            self.e_lo_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 7) {
            self.e_hi_reg.d.next = self.writedata.val();
        }
        // Reads: registered; 0 at unused addresses.
        if self.read.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address.val().get_bits::<3>(1) == 3 {
                if self.address.val().get_bit(0) {
                    self.readdata_reg.d.next = self.e_hi_reg.q.val();
                } else {
                    self.readdata_reg.d.next = self.e_lo_reg.q.val();
                }
            }
        }
        if self.reset.val() {
            self.c_go_reg.d.next = false;
            self.e_lo_reg.d.next = 0u64.into();
            self.e_hi_reg.d.next = 0u64.into();
        }
    }
}