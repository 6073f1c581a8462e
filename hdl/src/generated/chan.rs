// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `chan`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of one cycle and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, together with the slave's `writedata`.

use peerlane_verilog::DocBlock;
use peerlane_language::*;

/// Registers of the block `chan`.
#[derive(DocBlock, Default)]
pub struct ChanRegs {
    /// Clock of the slave and of all other ports.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Slave: word address.
    pub address: Signal<In, Bits<10>>,
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
    /// WRITE_DESC: written in this cycle with `writedata`. Descriptor of the next transfer from the
    /// FPGA to a peer, word by word. Writes are ignored while the write queue is full.
    pub write_desc_we: Signal<Out, Bit>,
    /// WRITE_DESC: the element that is written.
    pub write_desc_index: Signal<Out, Bits<4>>,
    /// WRITE_DOORBELL: written in this cycle with `writedata`. Doorbell that queues the descriptor
    /// in WRITE_DESC.
    pub write_doorbell_we: Signal<Out, Bit>,
    /// READ_DESC: written in this cycle with `writedata`. Descriptor of the next transfer from a
    /// peer to the FPGA, word by word. Writes are ignored while the read queue is full.
    pub read_desc_we: Signal<Out, Bit>,
    /// READ_DESC: the element that is written.
    pub read_desc_index: Signal<Out, Bits<4>>,
    /// READ_DOORBELL: written in this cycle with `writedata`. Doorbell that queues the descriptor
    /// in READ_DESC.
    pub read_doorbell_we: Signal<Out, Bit>,
    /// QUEUE_FREE.write: Number of write descriptors that the queue has room for.
    pub queue_free_write: Signal<In, Bits<16>>,
    /// QUEUE_FREE.read: Number of read descriptors that the queue has room for.
    pub queue_free_read: Signal<In, Bits<16>>,
    /// REFUSED: written in this cycle with `writedata`. Doorbells that were refused, because the
    /// queue was full, all slots of the ring were reserved, or the channel did not accept
    /// doorbells. A refused descriptor is lost and has no completion record.
    pub refused_we: Signal<Out, Bit>,
    /// REFUSED.write: A WRITE_DOORBELL was refused.
    pub refused_write: Signal<In, Bit>,
    /// REFUSED.read: A READ_DOORBELL was refused.
    pub refused_read: Signal<In, Bit>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
}

impl Logic for ChanRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        self.write_desc_we.next = self.act.val() & (self.address.val().get_bits::<6>(4) == 0);
        self.write_desc_index.next = self.address.val().get_bits::<4>(0);
        self.write_doorbell_we.next = self.act.val() & (self.address.val() == 16);
        self.read_desc_we.next = self.act.val() & (self.address.val().get_bits::<6>(4) == 2);
        self.read_desc_index.next = self.address.val().get_bits::<4>(0);
        self.read_doorbell_we.next = self.act.val() & (self.address.val() == 48);
        self.refused_we.next = self.act.val() & (self.address.val() == 65);
        // Reads: registered; 0 at unused addresses.
        if self.read.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address.val().get_bits::<9>(1) == 32 {
                if self.address.val().get_bit(0) {
                    self.readdata_reg.d.next = bit_cast::<32, 1>(self.refused_write.val().into()) | (bit_cast::<32, 1>(self.refused_read.val().into()) << 1);
                } else {
                    self.readdata_reg.d.next = bit_cast::<32, 16>(self.queue_free_write.val()) | (bit_cast::<32, 16>(self.queue_free_read.val()) << 16);
                }
            }
        }
    }
}