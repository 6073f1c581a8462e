// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `four`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of one cycle and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, together with the slave's `writedata`.

use peerlane_verilog::DocBlock;
use peerlane_language::*;

/// Registers of the block `four`.
#[derive(DocBlock, Default)]
pub struct FourRegs {
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
    /// G.x: A corner.
    pub g_x: Signal<In, Bits<33>>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
}

impl Logic for FourRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        // Reads: registered; 0 at unused addresses.
        if self.read.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address.val().get_bits::<2>(2) == 0 {
                if self.address.val().get_bit(1) {
                    if self.address.val().get_bit(0) {
                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.g_x.val().get_bits::<1>(32));
                    } else {
                        self.readdata_reg.d.next = self.g_x.val().get_bits::<32>(0);
                    }
                } else {
                    if self.address.val().get_bit(0) {
                        self.readdata_reg.d.next = bits::<32>(0x4dc587aeu64);
                    }
                }
            }
        }
    }
}