//! Rings whose reader is slow: never more descriptors are accepted than the ring has room for.

use crate::channels::{descriptor, rig_with};
use crate::rig::{MIB, RECORD, Rig, library, near};
use crate::stream;
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::Params;
use peerlane_sim::Space;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const REFUSED_IRQ: u32 = 1 << 2;

fn page(rig: &mut Rig, channel: u32, register: usize) -> u32 {
    let at = (u64::from(channel) << 12) + register as u64;
    rig.board.bar_read32(Space::Chan, at).unwrap()
}

/// Rings a doorbell; returns whether it was accepted.
fn post(rig: &mut Rig, channel: u32, read: bool, peer: u64, cookie: u32, told: u32) -> bool {
    let d = descriptor(peer, 0, 16, RECORD, cookie);
    rig.queue_telling(channel, read, d, told);
    let refused = page(rig, channel, chan::REFUSED);
    let at = (u64::from(channel) << 12) + chan::REFUSED as u64;
    rig.board.bar_write32(Space::Chan, at, refused).unwrap();
    assert_eq!(refused & !(1 << u32::from(read)), 0);
    refused == 0
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_ring_that_nobody_reads_keeps_what_it_has() {
    let mut rig = rig_with(&Params::default(), near());
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let peer = rig.map_gpu(0, MIB);
    for log2 in [0, 1, 3] {
        let room = 1u32 << log2;
        rig.open_ring(2, log2);
        rig.csr(csr::IRQ_STATUS, 0b111);
        let mut accepted = 0;
        for cookie in 0..room + 5 {
            let read = cookie % 2 == 1;
            if post(&mut rig, 2, read, peer, cookie, 0) {
                accepted += 1;
                assert_eq!(accepted, cookie + 1);
            }
        }
        assert_eq!(accepted, room);
        assert_eq!(page(&mut rig, 2, chan::QUEUE_FREE), 0);
        assert_eq!(rig.read_csr(csr::IRQ_STATUS) & REFUSED_IRQ, REFUSED_IRQ);
        // Another channel is not concerned.
        assert!(post(&mut rig, 3, false, peer, 1, 0));
        assert_eq!(rig.wait_on(3, 10_000).cookie, 1);
        rig.board.run(3000).unwrap();
        // No record was overwritten; records that were read make room, in one step or in several.
        let mut cookies: Vec<_> = (0..room).map(|_| rig.wait_on(2, 100).cookie).collect();
        cookies.sort_unstable();
        assert_eq!(cookies, (0..room).collect::<Vec<_>>());
        assert_eq!(rig.poll_on(2), None);
        assert!(post(&mut rig, 2, false, peer, 90, 1));
        assert!(!post(&mut rig, 2, true, peer, 91, 0));
        assert_ne!(rig.read_csr(csr::STATUS) | 1, 0);
        if room > 2 {
            assert!(post(&mut rig, 2, true, peer, 92, room - 1));
            assert_eq!(page(&mut rig, 2, chan::QUEUE_FREE), 128 << 16 | 128);
        }
        // The freed slots of a refused doorbell count.
        rig.board.run(3000).unwrap();
        while rig.poll_on(2).is_some() {}
        // A ring that is set again is empty, one that is off has no end.
        rig.open_ring(2, log2);
        assert!(post(&mut rig, 2, true, peer, 5, 0));
        assert_eq!(rig.wait_on(2, 10_000).cookie, 5);
        assert_eq!(post(&mut rig, 2, true, peer, 5, 0), room > 1);
        rig.board.run(3000).unwrap();
        rig.csr(csr::CHANNEL_SELECT, 2);
        rig.csr(csr::CHANNEL_RING_LO, 0);
        for cookie in 0..3 * room {
            assert!(post(&mut rig, 2, cookie % 3 == 0, peer, cookie, 0));
        }
        rig.board.run(3000).unwrap();
    }
}

/// Runs readers of any speed on all channels, with descriptors that have no record and failing ones among them.
fn readers(params: &Params, seed: u64) {
    let mut rig = rig_with(params, near());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rig.csr(csr::ATT_OWNER_LO, u32::MAX);
    rig.csr(csr::ATT_OWNER_HI, u32::MAX);
    let peer = rig.map_gpu(0, MIB);
    let channels = params.channels as usize;
    let log2: Vec<u32> = (0..channels).map(|_| rng.random_range(0..6)).collect();
    for (channel, log2) in log2.iter().enumerate() {
        rig.open_ring(channel as u32, *log2);
    }
    // By channel: descriptors whose records are due, by direction in order; places that were reported free and are not
    // taken; descriptors that have ended and were not reported.
    let mut due: Vec<[std::collections::VecDeque<(u32, bool)>; 2]> =
        vec![Default::default(); channels];
    let mut room: Vec<u32> = log2.iter().map(|log2| 1 << log2).collect();
    let mut untold = vec![0; channels];
    let (mut refused, mut ended) = (0, 0);
    for step in 0..6000u32 {
        let channel = rng.random_range(0..channels);
        match rng.random_range(0..3) {
            0 => {
                if let Some(record) = rig.poll_on(channel as u32) {
                    let lane = &mut due[channel][usize::from(record.read)];
                    // Earlier descriptors that wanted no record have ended with it.
                    loop {
                        let (cookie, records) = lane.pop_front().expect("a record too many");
                        untold[channel] += 1;
                        ended += 1;
                        if records {
                            assert_eq!(record.cookie, cookie);
                            break;
                        }
                    }
                }
            }
            1 => rig.board.run(rng.random_range(0..200)).unwrap(),
            _ => {
                let read = rng.random_bool(0.5);
                let told = if rng.random_bool(0.8) {
                    untold[channel]
                } else {
                    0
                };
                untold[channel] -= told;
                // One in eight wants no record; one in eight fails and has a record all the same.
                let (control, at) = match rng.random_range(0..8) {
                    0 if room[channel] + told > 1 => (0, peer),
                    1 => (0, 100 << 16),
                    _ => (RECORD, peer),
                };
                let d = descriptor(at, 0, 16, control, step);
                rig.queue_telling(channel as u32, read, d, told);
                room[channel] += told;
                let expected = room[channel] > 0;
                if rng.random_bool(0.3) || !expected {
                    let bits = page(&mut rig, channel as u32, chan::REFUSED);
                    assert_eq!(bits == 0, expected, "channel {channel}");
                    let at = ((channel as u64) << 12) + chan::REFUSED as u64;
                    rig.board.bar_write32(Space::Chan, at, bits).unwrap();
                }
                if expected {
                    room[channel] -= 1;
                    due[channel][usize::from(read)].push_back((step, control != 0 || at != peer));
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert!(
        refused > 300 && ended > 300,
        "{refused} refused, {ended} ended"
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn slow_readers_are_refused_and_lose_nothing() {
    readers(&Params::default(), 1);
    readers(&stream::params(128), 2);
    let one = Params {
        channels: 1,
        ..stream::params(256)
    };
    readers(&one, 3);
    let many = Params {
        channels: 64,
        port_bits: 256,
        ..Params::default()
    };
    readers(&many, 4);
}

/// Doorbells that follow each other without a gap see the room that the one before has left.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn doorbells_in_consecutive_cycles_are_counted() {
    let mut rig = Rig::new(&library(&Params::default()), near());
    for log2 in [0, 1, 2, 3] {
        for told in [0, 1] {
            rig.open_ring(0, log2);
            rig.csr(csr::CHANNEL_CONTROL, 0b001);
            rig.board.run(20).unwrap();
            let rung: Vec<_> = (0..12)
                .map(|n: usize| {
                    let doorbell = [chan::WRITE_DOORBELL, chan::READ_DOORBELL][n % 2];
                    (Space::Chan, doorbell as u64, told)
                })
                .collect();
            let at = chan::QUEUE_FREE as u64;
            let free = rig.board.bar_write_read(&rung, Space::Chan, at).unwrap();
            let room = if told == 0 { 1 << log2 } else { 12 };
            let [writes, reads] = [free & 0xFFFF, free >> 16];
            if told == 0 {
                assert_eq!((writes, reads), (0, 0), "ring of 2^{log2}");
            } else {
                assert_eq!((writes, reads), (128 - 6, 128 - 6));
            }
            // The accepted ones end, each with a record.
            rig.csr(csr::CHANNEL_CONTROL, 0b101);
            rig.board.run(3000).unwrap();
            assert_eq!(rig.read_csr(csr::CHANNEL_STATUS), 0);
            if told == 0 {
                let records = (0..).take_while(|_| rig.poll().is_some()).count();
                assert_eq!(records, room);
            }
            let refused = rig
                .board
                .bar_read32(Space::Chan, chan::REFUSED as u64)
                .unwrap();
            assert_eq!(refused != 0, told == 0);
            rig.board
                .bar_write32(Space::Chan, chan::REFUSED as u64, refused)
                .unwrap();
        }
    }
}
