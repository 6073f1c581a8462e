//! Channels: served in turn, kept apart, chained, drained, aborted, revoked.

use crate::fence::fence;
use crate::rig::{Descriptor, IRQ, MIB, RECORD, Rig, grain, library, near, same};
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::Params;
use peerlane_sim::{BoardConfig, Space};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ATT_OWNER: u8 = 4;
pub const ABORTED: u8 = 9;
const LOCAL_RANGE: u8 = 12;
pub const AFTER_WRITE: u32 = 1 << 4;
pub const AFTER_READ: u32 = 1 << 5;
pub const ACCEPT: u32 = 1;
pub const RUN: u32 = 2;
pub const ABORT: u32 = 4;

pub fn rig(params: &Params) -> Rig {
    rig_with(params, BoardConfig::default())
}

/// Makes a board with all channels open.
pub fn rig_with(params: &Params, config: BoardConfig) -> Rig {
    let mut rig = Rig::new(&library(params), config);
    for channel in 1..params.channels {
        rig.open_channel(channel);
    }
    rig
}

pub fn descriptor(peer: u64, local: u64, length: u32, control: u32, cookie: u32) -> Descriptor {
    Descriptor {
        peer,
        local,
        length,
        control,
        cookie,
    }
}

/// Maps GPU memory that the channels of a mask may use.
pub fn map_for(rig: &mut Rig, owners: u64, gpu: u64, length: u64) -> u64 {
    rig.csr(csr::ATT_OWNER_LO, owners as u32);
    rig.csr(csr::ATT_OWNER_HI, (owners >> 32) as u32);
    rig.map_gpu(gpu, length)
}

/// Writes a channel's control register.
pub fn control(rig: &mut Rig, channel: u32, value: u32) {
    rig.csr(csr::CHANNEL_SELECT, channel);
    rig.csr(csr::CHANNEL_CONTROL, value);
}

/// Waits until the channel has nothing under way, and returns the cycles.
fn rest(rig: &mut Rig, channel: u32, limit: u64) -> u64 {
    let start = rig.board.cycles();
    rig.csr(csr::CHANNEL_SELECT, channel);
    while rig.read_csr(csr::CHANNEL_STATUS) != 0 {
        rig.board.run(100).unwrap();
        assert!(
            rig.board.cycles() < start + limit,
            "channel {channel} is still busy"
        );
    }
    rig.board.cycles() - start
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_region_belongs_to_the_channels_of_its_mask() {
    let mut rig = rig(&Params::default());
    let of_two = map_for(&mut rig, 1 << 2, 0, MIB);
    let of_both = map_for(&mut rig, 1 << 2 | 1 << 5, MIB, MIB);
    for read in [false, true] {
        for (channel, peer, code) in [
            (2, of_two, 0),
            (5, of_two, ATT_OWNER),
            (0, of_two, ATT_OWNER),
            (2, of_both, 0),
            (5, of_both, 0),
            (7, of_both, ATT_OWNER),
        ] {
            rig.queue_on(
                channel,
                read,
                descriptor(peer, 0, 3000, RECORD | IRQ, channel),
            );
            let record = rig.wait_on(channel, 20_000);
            assert_eq!((record.code, record.cookie), (code, channel), "{record:?}");
            assert_eq!(record.bytes, if code == 0 { 3000 } else { 0 });
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_channel_stays_in_its_range_of_memory() {
    let mut rig = rig(&Params::default());
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    rig.csr(csr::CHANNEL_SELECT, 3);
    rig.csr(csr::CHANNEL_MEM_BASE, 0x10);
    rig.csr(csr::CHANNEL_MEM_END, 0x20);
    for read in [false, true] {
        for (local, length, code) in [
            (0x1_0000, 0x1_0000, 0),
            (0x1_0000, 4, 0),
            (0x1_FFFC, 4, 0),
            (0xFFFF, 4, LOCAL_RANGE),
            (0x2_0000, 4, LOCAL_RANGE),
            (0x1_FFFD, 4, LOCAL_RANGE),
            (0, 0x2_0000, LOCAL_RANGE),
            (0x1_8000, 0x1_0000, LOCAL_RANGE),
        ] {
            rig.queue_on(3, read, descriptor(peer, local, length, RECORD, 1));
            let record = rig.wait_on(3, 100_000);
            assert_eq!(record.code, code, "{local:#x} {length:#x}");
            assert_eq!(record.bytes, if code == 0 { length } else { 0 });
            // Another channel's range is its own.
            rig.queue_on(4, read, descriptor(peer, local, length, RECORD, 1));
            assert_eq!(rig.wait_on(4, 100_000).code, 0);
        }
    }
}

/// Two channels in turn, of which one may access memory that the other may not. At the same time the driver sets the
/// range of a third, or their own once more, in any cycle after the doorbell.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_channel_is_held_to_its_own_range_while_another_range_is_set() {
    let mut rig = rig_with(&Params::default(), near());
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    rig.csr(csr::CHANNEL_SELECT, 3);
    rig.csr(csr::CHANNEL_MEM_BASE, 0x10);
    rig.csr(csr::CHANNEL_MEM_END, 0x20);
    for read in [false, true] {
        for cycles in 0..30 {
            for (channel, code, set, end) in [
                (3, LOCAL_RANGE, 5, 1 << 28),
                (4, 0, 5, 1 << 28),
                (3, LOCAL_RANGE, 3, 0x20),
                (4, 0, 4, 1 << 28),
            ] {
                let select = (Space::Csr, csr::CHANNEL_SELECT as u64, set);
                let set = (Space::Csr, csr::CHANNEL_MEM_END as u64, end);
                let d = descriptor(peer, 0x4_0000, 64, RECORD, cycles);
                let doorbell = rig.describe(channel, read, d);
                let mut writes = vec![(Space::Chan, doorbell, 0)];
                writes.resize(1 + cycles as usize, select);
                writes.extend([select, set]);
                let at = csr::BUILD_ID as u64;
                rig.board.bar_write_read(&writes, Space::Csr, at).unwrap();
                let record = rig.wait_on(channel, 5000);
                assert_eq!(
                    (record.cookie, record.code),
                    (cycles, code),
                    "channel {channel}"
                );
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_chained_descriptor_sees_what_it_waited_for() {
    let mut rig = rig(&Params::default());
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    for length in [4u32, 100, 5000, 70_000] {
        for channel in [0u32, 6] {
            let mut data = vec![0; length as usize];
            rng.fill_bytes(&mut data);
            rig.board.ddr_mut().write(0x10_0000, &data).unwrap();
            rig.board
                .gpu_mut()
                .write(0, &vec![0; length as usize])
                .unwrap();
            // Out, back to another place after that, and out from there after that.
            rig.queue_on(
                channel,
                false,
                descriptor(peer, 0x10_0000, length, RECORD, 1),
            );
            rig.queue_on(
                channel,
                true,
                descriptor(peer, 0x20_0000, length, RECORD | AFTER_WRITE, 2),
            );
            rig.queue_on(
                channel,
                false,
                descriptor(
                    peer + 0x8_0000,
                    0x20_0000,
                    length,
                    RECORD | AFTER_READ | AFTER_WRITE,
                    3,
                ),
            );
            for cookie in 1..=3 {
                let record = rig.wait_on(channel, 100_000);
                assert_eq!((record.code, record.cookie), (0, cookie), "{record:?}");
            }
            let mut got = vec![0; length as usize];
            rig.board.ddr_mut().read(0x20_0000, &mut got).unwrap();
            same("back", &got, &data);
            rig.board.gpu_mut().read(0x8_0000, &mut got).unwrap();
            same("and out", &got, &data);
        }
    }
    // A chain to nothing does not wait, and one channel's chain does not wait for another's.
    rig.queue_on(1, false, descriptor(peer, 0, MIB as u32, RECORD, 7));
    rig.queue_on(
        2,
        true,
        descriptor(peer, 0, 64, RECORD | AFTER_READ | AFTER_WRITE, 8),
    );
    assert_eq!(rig.wait_on(2, 5000).cookie, 8);
    assert_eq!(rig.poll_on(1), None);
    assert_eq!(rig.wait_on(1, 200_000).cookie, 7);
}

/// Runs a write that follows a read of its channel; returns how many of 20 sent the old contents of the memory.
fn stale_after_a_read(posted: u32) -> u32 {
    let mut config = near();
    config.ddr.latency = 1;
    config.ddr.posted = posted;
    let mut rig = rig_with(&Params::default(), config);
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    let mut stale = 0;
    for n in 1..=20u8 {
        let data = [n; 64];
        rig.board.gpu_mut().write(0, &data).unwrap();
        rig.queue(true, descriptor(peer, 0, 64, 0, 1));
        rig.queue(
            false,
            descriptor(peer + 4096, 0, 64, RECORD | AFTER_READ, 2),
        );
        assert_eq!(rig.wait(20_000).code, 0);
        let mut got = [0; 64];
        rig.board.gpu_mut().read(4096, &mut got).unwrap();
        stale += u32::from(got != data);
    }
    stale
}

/// Data that `mem_wr` has handed over are in memory for `mem_rd`: the board has to ensure that.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_chain_relies_on_memory_that_keeps_the_order_of_its_ports() {
    assert_eq!(stale_after_a_read(0), 0);
    // In a memory that does not, the test would see it.
    assert_ne!(stale_after_a_read(64), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_drained_channel_finishes_what_it_has_and_takes_no_more() {
    drains(&Params::default());
}

/// Tests a channel that takes no more, and one that starts no more.
pub fn drains(params: &Params) {
    let mut rig = rig(params);
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    for read in [false, true] {
        for cookie in 0..10 {
            rig.queue_on(1, read, descriptor(peer, 0, 20_000, RECORD, cookie));
        }
        control(&mut rig, 1, RUN);
        rig.queue_on(1, read, descriptor(peer, 0, 64, RECORD, 99));
        let refused = rig
            .board
            .bar_read32(Space::Chan, (1 << 12) + chan::REFUSED as u64)
            .unwrap();
        assert_eq!(refused, 1 << u32::from(read));
        let other = rig
            .board
            .bar_read32(Space::Chan, (2 << 12) + chan::REFUSED as u64)
            .unwrap();
        assert_eq!(other, 0, "a page has the state of only its own channel");
        rig.board
            .bar_write32(Space::Chan, (1 << 12) + chan::REFUSED as u64, refused)
            .unwrap();
        rest(&mut rig, 1, 100_000);
        for cookie in 0..10 {
            let record = rig.wait_on(1, 5000);
            assert_eq!((record.code, record.cookie), (0, cookie));
        }
        assert_eq!(rig.poll_on(1), None);
        // Paused: accepted, not started.
        control(&mut rig, 1, ACCEPT);
        rig.queue_on(1, read, descriptor(peer, 0, 64, RECORD, 5));
        rig.board.run(3000).unwrap();
        assert_eq!(rig.poll_on(1), None);
        control(&mut rig, 1, ACCEPT | RUN);
        assert_eq!(rig.wait_on(1, 5000).cookie, 5);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_abort_ends_one_channel_and_no_other() {
    aborts(&Params::default());
}

/// Tests an abort of a channel while another one goes on.
pub fn aborts(params: &Params) {
    let mut rig = rig(params);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let data: Vec<u8> = (0..MIB as u32).map(|i| ((i * 7) >> 3) as u8).collect();
    rig.board.ddr_mut().write(0, &data).unwrap();
    for round in 0..6 {
        for read in [false, true] {
            for cookie in 0..12 {
                let chained = if cookie % 3 == 2 {
                    AFTER_WRITE | AFTER_READ
                } else {
                    0
                };
                rig.queue_on(
                    4,
                    read,
                    descriptor(
                        peer + 2 * MIB,
                        4 * MIB,
                        MIB as u32,
                        RECORD | chained,
                        cookie,
                    ),
                );
            }
        }
        rig.queue_on(5, false, descriptor(peer, 0, MIB as u32, RECORD, 50));
        rig.board.run(2000 + rng.random_range(0..3000)).unwrap();
        control(&mut rig, 4, RUN | ABORT);
        let took = rest(&mut rig, 4, 20_000);
        assert!(took < 10_000, "round {round}: {took} cycles");
        control(&mut rig, 4, ACCEPT | RUN);
        // After the fence the records of the ended descriptors are in the ring.
        fence(&mut rig, None);
        let mut ends = 0;
        while let Some(record) = rig.poll_on(4) {
            assert_eq!(record.code, ABORTED, "{record:?}");
            assert!(record.bytes < MIB as u32);
            ends += 1;
        }
        assert_eq!(ends, 24, "each descriptor has one end");
        let record = rig.wait_on(5, 400_000);
        assert_eq!((record.code, record.cookie), (0, 50));
        let mut got = vec![0; data.len()];
        rig.board.gpu_mut().read(0, &mut got).unwrap();
        same("the other channel's data", &got, &data);
        rig.board.gpu_mut().write(0, &vec![0; data.len()]).unwrap();
        rig.queue_on(4, true, descriptor(peer, 4 * MIB, 9000, RECORD, 60));
        assert_eq!(rig.wait_on(4, 20_000).cookie, 60);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn behind_the_fence_nobody_uses_what_was_revoked() {
    let mut rig = rig(&Params::default());
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for round in 0..12u64 {
        // Pages of host memory that a channel streams to and from, and others that go on.
        let page = 0x1_4000_0000 + round * 0x20_0000;
        rig.csr(csr::ATT_OWNER_LO, 0xFF);
        let first = rig.next_entry();
        let (peer, id) = rig.map_revocable(21, page, 3);
        let stays = rig.map(21, &[0x1_7000_0000], 3);
        for read in [false, true] {
            for channel in 0..3 {
                rig.queue_on(channel, read, descriptor(peer, 0, MIB as u32, RECORD, 1));
            }
            rig.queue_on(6, read, descriptor(stays, 0, MIB as u32, RECORD, 2));
        }
        rig.board.run(1000 + rng.random_range(0..4000)).unwrap();
        rig.entry(first, 0);
        rig.csr(csr::ATT_INVALIDATE, 1);
        let start = rig.board.cycles();
        while rig.read_csr(csr::ATT_INVALIDATE) & 2 != 0 {
            assert!(rig.board.cycles() < start + 20_000, "no end of the fence");
        }
        // Requests that have left the port may still be on their way to memory; the model looks at the moment of
        // arrival.
        rig.board.run(500).unwrap();
        rig.board.bus_mut().revoke(id);
        for channel in 0..3 {
            for _ in 0..2 {
                let record = rig.wait_on(channel, 200_000);
                assert_eq!(record.code, 3, "{record:?}");
                assert!(record.bytes < MIB as u32);
            }
        }
        for _ in 0..2 {
            assert_eq!(rig.wait_on(6, 800_000).code, 0);
        }
    }
}

/// Tests any garbage on many channels, and one channel whose transfers must come out right.
pub fn hostile(params: &Params, seed: u64, rounds: u32) {
    let mut rig = rig(params);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let victim = rng.random_range(0..params.channels);
    let mine = map_for(&mut rig, 1 << victim, 0, MIB);
    let theirs = map_for(&mut rig, !(1 << victim), MIB, MIB);
    for channel in 0..params.channels {
        rig.csr(csr::CHANNEL_SELECT, channel);
        // All other channels share a range.
        let (base, end) = if channel == victim {
            (0, 0x100)
        } else {
            (0x100, 0x400)
        };
        rig.csr(csr::CHANNEL_MEM_BASE, base);
        rig.csr(csr::CHANNEL_MEM_END, end);
    }
    for round in 0..rounds {
        for _ in 0..params.channels * 2 {
            let channel = rng.random_range(0..params.channels);
            if channel == victim {
                continue;
            }
            let read = rng.random();
            let mut d = descriptor(
                theirs + rng.random_range(0..MIB - 9000),
                0x10_0000 + rng.random_range(0..MIB),
                rng.random_range(0..9000),
                rng.random_range(0..64),
                rng.random(),
            );
            match rng.random_range(0..8) {
                0 => d.peer = rng.random(),
                1 => d.peer = mine + rng.random_range(0..MIB),
                2 => d.local = rng.random(),
                3 => d.length = rng.random(),
                4 => d.control = rng.random(),
                5 => d.local = rng.random_range(0..0x10_0000),
                _ => {}
            }
            // Mostly writes that any port can do.
            if rng.random_range(0..4) != 0 {
                d.peer &= !3;
                d.length &= !3;
            }
            if rng.random_range(0..3) == 0 {
                // Words anywhere in the page.
                let at = u64::from(channel << 12) + rng.random_range(0..1024) * 4;
                rig.board
                    .bar_write32(Space::Chan, at, rng.random())
                    .unwrap();
            }
            if rng.random_range(0..3) == 0 {
                // A wide store, most often over descriptors and doorbells.
                let length = [16, 32, 64][rng.random_range(0..3)];
                let end = [0x100, 4096][usize::from(rng.random_ratio(1, 4))];
                let at = u64::from(channel << 12) + rng.random_range(0..=end - length as u64);
                let mut bytes = [0; 64];
                rng.fill_bytes(&mut bytes);
                rig.board
                    .bar_store(Space::Chan, at, &bytes[..length])
                    .unwrap();
            }
            rig.queue_on(channel, read, d);
        }
        for read in [false, true] {
            let grain = if read { 1 } else { grain(params) };
            let length = rng.random_range(1..3000u32).next_multiple_of(grain as u32);
            let mut data = vec![0; length as usize];
            rng.fill_bytes(&mut data);
            let (offset, local) = (rng.random_range(0..90_000), rng.random_range(0..90_000));
            let offset = offset / grain * grain;
            if read {
                rig.board.gpu_mut().write(offset, &data).unwrap();
            } else {
                rig.board.ddr_mut().write(local, &data).unwrap();
            }
            rig.queue_on(
                victim,
                read,
                descriptor(mine + offset, local, length, RECORD | IRQ, round),
            );
            let record = rig.wait_on(victim, 600_000);
            assert_eq!(
                (record.code, record.bytes, record.cookie),
                (0, length, round)
            );
            let mut got = vec![0; length as usize];
            if read {
                rig.board.ddr_mut().read(local, &mut got).unwrap();
            } else {
                rig.board.gpu_mut().read(offset, &mut got).unwrap();
            }
            same("the victim's data", &got, &data);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn garbage_on_seven_channels_does_not_touch_the_eighth() {
    hostile(&Params::default(), 1, 40);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn garbage_on_63_channels_does_not_touch_the_last() {
    let params = Params {
        channels: 64,
        ..Params::default()
    };
    hostile(&params, 2, 12);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn one_channel_alone_works_too() {
    let params = Params {
        channels: 1,
        queue_log2: 11,
        att_log2: 16,
        ..Params::default()
    };
    let mut rig = rig(&params);
    let peer = rig.map_gpu(0, MIB);
    rig.transfer(false, peer, 0, 70_000);
    rig.transfer(true, peer, 0, 70_000);
    let free = rig
        .board
        .bar_read32(Space::Chan, chan::QUEUE_FREE as u64)
        .unwrap();
    assert_eq!(free, 2048 << 16 | 2048);
}
