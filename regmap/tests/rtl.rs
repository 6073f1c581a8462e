//! The generated RTL, simulated with rust-hdl's own simulator.

#[allow(dead_code)]
#[path = "../../hdl/src/generated/mod.rs"]
mod generated;

use generated::{ChanRegs, CsrRegs};
use peerlane_language::*;
use peerlane_regmap::Map;

/// The slave ports that every generated block has.
macro_rules! slave {
    ($name:ident, $block:ty, $latency:expr) => {
        struct $name($block);

        impl $name {
            fn new() -> Self {
                let mut this = $name(<$block>::default());
                this.0.connect_all();
                this.0.reset.next = true;
                this.tick();
                this.0.reset.next = false;
                this.settle();
                this
            }

            fn settle(&mut self) {
                assert!(simulate(&mut self.0, 20), "does not settle");
            }

            fn tick(&mut self) {
                self.settle();
                self.0.clock.next = true.into();
                self.settle();
                self.0.clock.next = false.into();
                self.settle();
            }

            /// Puts a write on the slave, without a clock edge.
            fn request(&mut self, offset: usize, data: u32, enables: u64) {
                self.0.address.next = (offset as u64 / 4).into();
                self.0.writedata.next = u64::from(data).into();
                self.0.byteenable.next = enables.into();
                self.0.write.next = true;
                self.settle();
            }

            fn write(&mut self, offset: usize, data: u32) {
                self.request(offset, data, 15);
                self.tick();
                self.0.write.next = false;
                self.settle();
            }

            fn read(&mut self, offset: usize) -> u32 {
                self.0.address.next = (offset as u64 / 4).into();
                self.0.read.next = true;
                self.tick();
                self.0.read.next = false;
                let waits: usize = $latency - 1;
                for _ in 0..waits {
                    self.0.address.next = 0u64.into();
                    self.tick();
                }
                // The data holds when the address moves on.
                self.0.address.next = 0xFFu64.into();
                self.tick();
                self.0.readdata.val().to_u32()
            }
        }
    };
}

slave!(Csr, CsrRegs, 2);
slave!(Chan, ChanRegs, 1);

#[test]
fn after_reset() {
    let mut csr = Csr::new();
    let map = Map::load();
    assert_eq!(csr.read(0x000), map.map_id());
    assert_eq!(csr.read(0x010), 0);
    assert_eq!(csr.read(0x018), 0);
    assert_eq!(csr.read(0x020), 12_500_000);
    assert_eq!([csr.read(0x030), csr.read(0x034)], [0, 0]);
    // A reset replaces a written value by the reset value.
    csr.write(0x020, 7);
    assert_eq!(csr.read(0x020), 7);
    csr.0.reset.next = true;
    csr.tick();
    csr.0.reset.next = false;
    assert_eq!(csr.read(0x020), 12_500_000);
}

#[test]
fn hardware_inputs_are_read_at_their_place() {
    let mut csr = Csr::new();
    csr.0.build_id.next = 0xDEAD_BEEFu64.into();
    csr.0.caps0_channels.next = 8u64.into();
    csr.0.caps0_port_bytes.next = 32u64.into();
    csr.0.caps0_txs_addr_bits.next = 64u64.into();
    csr.0.caps1_queue_log2.next = 10u64.into();
    csr.0.caps1_att_log2.next = 12u64.into();
    csr.0.caps1_max_burst_log2.next = 9u64.into();
    csr.0.caps1_mem_addr_bits.next = 40u64.into();
    csr.0.status_read_quarantine.next = true;
    csr.0.status_completer_busy.next = true;
    csr.0.status_port_dead.next = true;
    csr.0.caps2_reads_log2.next = 5u64.into();
    csr.0.caps2_msix.next = true;
    // Values that the block stores itself.
    csr.0.counter_snapshot_busy.next = true;
    csr.0.att_invalidate_busy.next = true;
    csr.0.channel_control_run.next = true;
    csr.0.channel_status_read_busy.next = true;
    assert_eq!(csr.read(0x004), 0xDEAD_BEEF);
    assert_eq!(csr.read(0x008), 0x4020_0801);
    assert_eq!(csr.read(0x00C), 0x2809_0C0A);
    assert_eq!(csr.read(0x014), 0b11_0100);
    assert_eq!(csr.read(0x01C), 0x205);
    assert_eq!(csr.read(0x02C), 2);
    assert_eq!(csr.read(0x038), 2);
    assert_eq!(csr.read(0x084), 2);
    assert_eq!(csr.read(0x088), 2);
}

#[test]
fn what_no_register_has_reads_as_zero() {
    let map = Map::load();
    let readable: Vec<u64> = map
        .block("csr")
        .unwrap()
        .registers()
        .iter()
        .flat_map(|r| r.words().into_iter().map(|w| w.offset).collect::<Vec<_>>())
        // Counters are in a memory outside the decoder, which shows 0 for them.
        .filter(|offset| *offset < 0x100)
        .collect();
    let mut csr = Csr::new();
    for offset in (0..0x400).step_by(4) {
        csr.write(offset, u32::MAX);
        if !readable.contains(&(offset as u64)) {
            assert_eq!(csr.read(offset), 0, "{offset:#x}");
        }
    }
}

#[test]
fn stored_fields_and_pulses() {
    let mut csr = Csr::new();
    csr.write(0x010, 0xFFFF_FFFF);
    assert!(csr.0.control_enable.val() && csr.0.control_irq_enable.val());
    // The pulse lasts one cycle and reads as 0.
    assert!(csr.0.control_reset.val());
    csr.tick();
    assert!(!csr.0.control_reset.val());
    assert_eq!(csr.read(0x010), 3);
    // Writing 0 to the pulse's bit gives no pulse.
    csr.write(0x010, 1);
    assert!(!csr.0.control_reset.val());
    assert_eq!(csr.read(0x010), 1);
    csr.write(0x028, 1);
    assert!(csr.0.quarantine_drop_owed.val());
    csr.tick();
    assert!(!csr.0.quarantine_drop_owed.val());
    csr.write(0x080, 0xFFFF_FFEA);
    assert_eq!(csr.0.channel_select_channel.val().to_u64(), 0x2A);
    assert_eq!(csr.read(0x080), 0x2A);
}

#[test]
fn a_field_in_two_words() {
    let mut csr = Csr::new();
    csr.write(0x040, 0xABCD_FFFF);
    csr.write(0x044, 0xFFFF_FF12);
    assert_eq!(csr.0.att_flush_address.val().to_u64(), 0x3FF_FFFC_4AAF_37FF);
    assert_eq!(csr.read(0x040), 0xABCD_FFC0);
    assert_eq!(csr.read(0x044), 0xFFFF_FF12);
    // A field that the block stores.
    csr.0.window_base.next = 0x12_ABCDu64.into();
    assert_eq!(csr.read(0x070), 0xABCD_0000);
    assert_eq!(csr.read(0x074), 0x12);
    csr.write(0x034, 0x8000_0001);
    csr.write(0x030, 0x0000_0002);
    assert_eq!(
        csr.0.att_owner_channels.val().to_u64(),
        0x8000_0001_0000_0002
    );
    assert_eq!(csr.read(0x034), 0x8000_0001);
}

#[test]
fn partial_writes_are_ignored() {
    let mut csr = Csr::new();
    for enables in 0..15 {
        csr.request(0x020, 1, enables);
        csr.tick();
        csr.request(0x090, 1, enables);
        assert!(!csr.0.channel_ring_lo_we.val());
        csr.request(0x084, 1, enables);
        assert!(!csr.0.channel_control_we.val());
    }
    csr.0.write.next = false;
    assert_eq!(csr.read(0x020), 12_500_000);
}

#[test]
fn write_one_to_clear() {
    let mut csr = Csr::new();
    csr.0.irq_status_completion_set.next = true;
    csr.0.irq_status_refused_set.next = true;
    csr.tick();
    csr.0.irq_status_completion_set.next = false;
    csr.0.irq_status_refused_set.next = false;
    csr.tick();
    assert_eq!(csr.read(0x018), 0b101);
    assert!(csr.0.irq_status_completion.val() && !csr.0.irq_status_error.val());
    csr.write(0x018, 0b001);
    assert_eq!(csr.read(0x018), 0b100);
    // An event in the cycle of the clear stays.
    csr.0.irq_status_refused_set.next = true;
    csr.write(0x018, 0b100);
    csr.0.irq_status_refused_set.next = false;
    assert_eq!(csr.read(0x018), 0b100);
    csr.write(0x018, 0b100);
    assert_eq!(csr.read(0x018), 0);
}

#[test]
fn strobes_of_what_the_block_keeps() {
    let mut csr = Csr::new();
    let strobes = |csr: &Csr| {
        [
            csr.0.counter_snapshot_we.val(),
            csr.0.att_invalidate_we.val(),
            csr.0.channel_control_we.val(),
            csr.0.channel_moderation_we.val(),
            csr.0.channel_ring_lo_we.val(),
            csr.0.channel_ring_hi_we.val(),
            csr.0.channel_mem_base_we.val(),
            csr.0.channel_mem_end_we.val(),
        ]
    };
    let places = [0x02C, 0x038, 0x084, 0x08C, 0x090, 0x094, 0x098, 0x09C];
    for offset in (0..0x400).step_by(4) {
        csr.request(offset, 1, 15);
        assert_eq!(strobes(&csr), places.map(|at| at == offset), "{offset:#x}");
    }
    csr.request(0x084, 1, 15);
    csr.0.write.next = false;
    csr.settle();
    assert_eq!(strobes(&csr), [false; 8]);
}

#[test]
fn channel_page() {
    let mut chan = Chan::new();
    let strobes = |chan: &Chan| {
        [
            chan.0.write_desc_we.val(),
            chan.0.write_doorbell_we.val(),
            chan.0.read_desc_we.val(),
            chan.0.read_doorbell_we.val(),
        ]
    };
    for offset in (0..0x1000).step_by(4) {
        chan.request(offset, 1, 15);
        let expected = [
            offset < 0x40,
            offset == 0x40,
            (0x80..0xC0).contains(&offset),
            offset == 0xC0,
        ];
        assert_eq!(strobes(&chan), expected, "{offset:#x}");
        if offset < 0x40 {
            assert_eq!(chan.0.write_desc_index.val().to_u64(), offset as u64 / 4);
        }
    }
    chan.0.write.next = false;
    chan.0.queue_free_write.next = 0x0400u64.into();
    chan.0.queue_free_read.next = 0x0123u64.into();
    assert_eq!(chan.read(0x100), 0x0123_0400);
    assert_eq!(chan.read(0x000), 0);
    chan.0.refused_read.next = true;
    assert_eq!(chan.read(0x104), 2);
    for offset in [0x100, 0x104, 0x108] {
        chan.request(offset, 2, 15);
        assert_eq!(chan.0.refused_we.val(), offset == 0x104, "{offset:#x}");
    }
    // The block clears it, not the decoder.
    chan.write(0x104, 2);
    assert!(!chan.0.refused_we.val());
    assert_eq!(chan.read(0x104), 2);
}
