//! The counters of the whole block, compared with the bytes that were moved.

use crate::rig::{Descriptor, MIB, RECORD, Rig, library, near};
use peerlane_core::regs::csr;
use peerlane_hdl::Params;
use peerlane_sim::BoardConfig;

fn counter(rig: &mut Rig, channel: u32, low: usize) -> u64 {
    rig.csr(csr::CHANNEL_SELECT, channel);
    let low_word = rig.read_csr(low);
    u64::from(rig.read_csr(low + 4)) << 32 | u64::from(low_word)
}

fn snapshot(rig: &mut Rig) {
    rig.csr(csr::COUNTER_SNAPSHOT, 1);
    while rig.read_csr(csr::COUNTER_SNAPSHOT) & 2 != 0 {}
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_channel_counts_its_own() {
    let mut rig = Rig::new(&library(&Params::default()), BoardConfig::default());
    for channel in 1..8 {
        rig.open_channel(channel);
    }
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let peer = rig.map_gpu(0, MIB);
    let run = |rig: &mut Rig, channel: u32, read: bool, length: u32, peer: u64| {
        let d = Descriptor {
            peer,
            local: 0,
            length,
            control: RECORD,
            cookie: 0,
        };
        rig.queue_on(channel, read, d);
        rig.wait_on(channel, 50_000)
    };
    // Channel 1 writes 3 × 1000 bytes from the start of a page: requests of 512, and one of the rest.
    for _ in 0..3 {
        run(&mut rig, 1, false, 1000, peer);
    }
    // Channel 6 reads 5000 bytes twice, and fails twice at entries that do not exist.
    for _ in 0..2 {
        run(&mut rig, 6, true, 5000, peer);
        assert_ne!(run(&mut rig, 6, true, 5000, 4000 << 12).code, 0);
    }
    let before = counter(&mut rig, 1, csr::WRITE_BYTES_LO);
    assert_eq!(before, 0, "no snapshot yet");
    snapshot(&mut rig);
    // Later events are not seen.
    run(&mut rig, 1, false, 64, peer);
    // Bytes, requests, descriptors, faults, ATT faults, timeouts. 1000 = 512 + 488.
    for (channel, write, read) in [
        (1, [3000, 6, 3, 0, 0, 0], [0; 6]),
        (6, [0; 6], [10_000, 20, 4, 2, 2, 0]),
        (3, [0; 6], [0; 6]),
    ] {
        for (base, expected) in [(csr::WRITE_BYTES_LO, write), (csr::READ_BYTES_LO, read)] {
            for (n, expected) in expected.into_iter().enumerate() {
                let found = counter(&mut rig, channel, base + 8 * n);
                assert_eq!(
                    found, expected,
                    "channel {channel}, counter {n} at {base:#x}"
                );
            }
        }
    }
    assert_eq!(counter(&mut rig, 0, csr::RECORDS_LO), 7);
    assert!(counter(&mut rig, 0, csr::WRITE_BUSY_LO) > 100);
    assert!(counter(&mut rig, 0, csr::READ_BUSY_LO) > 100);
    snapshot(&mut rig);
    assert_eq!(counter(&mut rig, 1, csr::WRITE_BYTES_LO), 3064);
    assert_eq!(counter(&mut rig, 0, csr::RECORDS_LO), 8);
}

/// Ends without a record, many of them after one that waits long for its flush read: they come at once.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn ends_that_wait_for_one_are_all_counted() {
    let mut config = near();
    config.link.read_round_trip_ns = 20_000;
    let mut rig = Rig::new(&library(&Params::default()), config);
    let peer = rig.map_gpu(0, MIB);
    for silent in [20u32, 60, 120] {
        snapshot(&mut rig);
        let before = counter(&mut rig, 0, csr::WRITE_BYTES_LO + 16);
        for n in 0..=silent {
            let d = Descriptor {
                peer,
                local: 0,
                length: 16,
                control: if n == 0 { RECORD } else { 0 },
                cookie: n,
            };
            rig.queue(false, d);
        }
        rig.wait(50_000);
        rig.board.run(2000).unwrap();
        snapshot(&mut rig);
        let counted = counter(&mut rig, 0, csr::WRITE_BYTES_LO + 16) - before;
        assert_eq!(counted, u64::from(silent) + 1);
    }
}
