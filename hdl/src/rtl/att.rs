//! The address translation table (ATT): block RAM, written only through the driver's slave, read by
//! the two engines in turn. After reset every entry is cleared before a look-up is answered.
//!
//! An entry in the RAM is an [`AttEntry`], with one owner bit for each channel of the build.

use super::ports::LookUpSink;
use super::words::AttEntry;
use crate::prim::BlockRam;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Up to `2^16` entries; the size is a build parameter.
#[derive(DocBlock)]
pub struct Att {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The driver's slave: dword address, two dwords an entry, the high one commits.
    pub write: Signal<In, Bit>,
    pub address: Signal<In, Bits<17>>,
    pub data: Signal<In, Bits<32>>,
    pub owner: Signal<In, Bits<64>>,
    /// Entries are being cleared; the driver's writes are ignored.
    pub sweeping: Signal<Out, Bit>,
    /// Number of the entry that is cleared in this cycle: memories of the channels are cleared in the same cycles.
    pub sweep_at: Signal<Out, Bits<6>>,
    /// Look-ups: hold `ask` and the index until `answer`, one cycle, with the entry.
    pub for_writes: LookUpSink,
    pub for_reads: LookUpSink,
    pub entry: Signal<Out, AttEntry>,
    #[given]
    ram: BlockRam<AttEntry, 16>,
    low: DFF<Bits<32>>,
    sweep: DFF<Bits<17>>,
    swept: DFF<Bit>,
    write_turn: DFF<Bit>,
    read_turn: DFF<Bit>,
    /// Whose turn this cycle is: the read engine's if set.
    slot: DFF<Bit>,
    writing: Signal<Local, Bit>,
    last: Constant<Bits<17>>,
}

impl Att {
    /// A table of `2^log2` entries, `log2` at most 16, for `2^channels_log2` channels.
    pub fn new(log2: usize, channels_log2: usize) -> Self {
        Self::fresh(AttGiven {
            ram: BlockRam::narrow(log2, 57 + (1 << channels_log2)),
            last: Constant::new(((1u64 << log2) - 1).into()),
        })
    }
}

impl Logic for Att {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, low, sweep, swept, write_turn, read_turn, slot);
        self.ram.write_clock.next = self.clock.val();
        self.ram.read_clock.next = self.clock.val();
        self.sweeping.next = !self.swept.q.val();
        self.sweep_at.next = self.sweep.q.val().get_bits::<6>(0);

        // Writes: the sweep, then the driver.
        self.writing.next =
            !self.swept.q.val() | (self.write.val() & self.address.val().get_bit(0));
        self.ram.write_enable.next = self.writing.val();
        self.ram.write_address.next = self.address.val().get_bits::<16>(1);
        self.ram.write_data.next.valid = self.low.q.val().get_bit(0);
        self.ram.write_data.next.permits = self.low.q.val().get_bits::<2>(1);
        self.ram.write_data.next.page_size = self.low.q.val().get_bits::<2>(3);
        self.ram.write_data.next.address = bit_cast::<52, 20>(self.low.q.val().get_bits::<20>(12))
            | (bit_cast::<52, 32>(self.data.val()) << 20);
        self.ram.write_data.next.owner = self.owner.val();
        if !self.swept.q.val() {
            self.ram.write_address.next = self.sweep.q.val().get_bits::<16>(0);
            // The rest of an entry that is not valid means nothing: a write replaces all of it.
            self.ram.write_data.next.valid = false;
            self.sweep.d.next = self.sweep.q.val() + 1;
            self.swept.d.next = self.sweep.q.val() == self.last.val();
        } else if self.write.val() & !self.address.val().get_bit(0) {
            self.low.d.next = self.data.val();
        }

        // Look-ups: one a cycle, the engines in turn whether they ask or not, so that the address waits for no
        // decision. The answer is in the RAM's output register in the next cycle. There is no look-up in the cycle of a
        // write.
        self.slot.d.next = !self.slot.q.val();
        self.ram.read_enable.next = !self.writing.val();
        self.ram.read_address.next = self.for_writes.index.val();
        if self.slot.q.val() {
            self.ram.read_address.next = self.for_reads.index.val();
        }
        self.read_turn.d.next = self.slot.q.val() & self.for_reads.ask.val() & !self.writing.val();
        self.write_turn.d.next =
            !self.slot.q.val() & self.for_writes.ask.val() & !self.writing.val();
        self.for_reads.answer.next = self.read_turn.q.val();
        self.for_writes.answer.next = self.write_turn.q.val();
        self.entry.next = self.ram.read_data.val();

        if self.reset.val() {
            self.sweep.d.next = 0.into();
            self.swept.d.next = false;
            self.read_turn.d.next = false;
            self.write_turn.d.next = false;
            self.slot.d.next = false;
        }
    }
}
