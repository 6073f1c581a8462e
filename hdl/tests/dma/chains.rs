//! Chains: a descriptor waits for the descriptor that it is chained to, and holds up nothing else.

use crate::channels::{
    ABORT, ABORTED, AFTER_READ, AFTER_WRITE, RUN, control, descriptor, map_for, rig_with,
};
use crate::rig::{MIB, RECORD, near};
use crate::stream;
use crate::turns::short_transfers;
use peerlane_core::regs::csr;
use peerlane_hdl::Params;
use peerlane_sim::{Answer, Backpressure, FaultRule, Hits, Space};

const PAGE: u64 = 64 << 10;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_abort_ends_a_descriptor_that_waits_for_the_other_direction() {
    for read in [false, true] {
        let mut rig = rig_with(&Params::default(), near());
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        // The descriptor that it waits for does not end: a write whose data FPGA memory keeps, a read that the peer
        // does not answer.
        let chained = if read {
            rig.board.set_ddr_backpressure(Backpressure::Random(100));
            AFTER_WRITE
        } else {
            rig.board.bus_mut().inject(FaultRule {
                hits: Hits::Nth(0),
                answer: Answer::Never,
            });
            AFTER_READ
        };
        rig.queue_on(3, !read, descriptor(peer, 0, 64, RECORD, 1));
        rig.queue_on(3, read, descriptor(peer, 0, 64, RECORD | chained, 2));
        rig.board.run(1000).unwrap();
        assert_eq!(rig.poll_on(3), None);
        control(&mut rig, 3, RUN | ABORT);
        let record = rig.wait_on(3, 1000);
        assert_eq!((record.cookie, record.code), (2, ABORTED), "{record:?}");
        assert_eq!(rig.poll_on(3), None, "the other one has ended");
    }
}

/// Looks at the peer, because a descriptor could begin too early and still end in its place.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_of_a_chained_descriptor_leaves_before_its_own_direction_has_ended() {
    let mut config = near();
    // A read, or the flush read of a write, takes 2500 cycles.
    config.gpu.read_round_trip_ns = 10_000;
    let mut rig = rig_with(&Params::default(), config);
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let pages = rig.board.gpu_mut().pin(0, 2 * PAGE).unwrap();
    let [first, second] = [0, 1].map(|n| rig.map(16, &pages[n..=n], 3));
    for (read, chained) in [(false, AFTER_WRITE), (true, AFTER_READ)] {
        rig.board.mark_range(pages[1]..pages[1] + PAGE);
        rig.queue_on(2, read, descriptor(first, 0, 64, RECORD, 1));
        rig.queue_on(2, read, descriptor(second, 0, 64, RECORD | chained, 2));
        rig.board.run(2000).unwrap();
        assert_eq!(
            rig.poll_on(2),
            None,
            "the first ended too early for this test"
        );
        assert_eq!(rig.board.stats().txs.first_request_cycle, None);
        for cookie in [1, 2] {
            let record = rig.wait_on(2, 10_000);
            assert_eq!((record.cookie, record.code), (cookie, 0));
        }
        assert_ne!(rig.board.stats().txs.first_request_cycle, None);
    }
}

/// A waiting descriptor is not tried again and again: each try would cost a turn.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_descriptor_that_waits_takes_no_time_from_other_channels() {
    for (read, channel) in [(false, 5), (true, 5), (false, 0), (true, 0)] {
        let [alone, beside] = [false, true].map(|waits| {
            let mut rig = rig_with(&stream::params(128), near());
            rig.csr(csr::ATT_OWNER_LO, 0xFF);
            let pages = rig.board.gpu_mut().pin(0, PAGE).unwrap();
            let peer = rig.map(16, &pages, 3);
            // The channel's last end in the other direction is the last of all.
            rig.queue_on(channel, !read, descriptor(peer, 0, 64, RECORD, 0));
            assert_eq!(rig.wait_on(channel, 5000).code, 0);
            if waits {
                // Neither a read is answered, nor the flush read of a write.
                rig.board.bus_mut().inject(FaultRule {
                    hits: Hits::Addresses(pages[0]..pages[0] + PAGE),
                    answer: Answer::Never,
                });
                let chained = if read { AFTER_WRITE } else { AFTER_READ };
                rig.queue_on(channel, !read, descriptor(peer, 0, 64, RECORD, 1));
                rig.queue_on(channel, read, descriptor(peer, 0, 64, RECORD | chained, 2));
            }
            let took = short_transfers(&mut rig, read);
            assert_eq!(rig.poll_on(channel), None);
            took
        });
        println!(
            "read {read}, channel {channel}: {alone} cycles alone, {beside} with one that waits"
        );
        assert!(beside <= alone + alone / 20, "{beside} cycles, not {alone}");
    }
}

/// A descriptor waits for the end of another one, and its turn comes in any cycle before or after that end.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_descriptor_goes_on_whose_turn_comes_as_what_it_waits_for_ends() {
    for params in [Params::default(), stream::params(128)] {
        for (read, first) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut config = near();
            config.gpu.read_round_trip_ns = 200;
            let mut rig = rig_with(&params, config);
            let peer = map_for(&mut rig, 0xFF, 0, MIB);
            let chained = if first { AFTER_READ } else { AFTER_WRITE };
            let mut over = false;
            let mut cycles = 0;
            while !over {
                // The doorbell of the second is rung in a known cycle.
                let d = |control, cookie| descriptor(peer, 0, 64, control, cookie);
                let ring = rig.describe(2, first, d(RECORD, cycles << 1));
                rig.board.bar_write32(Space::Chan, ring, 0).unwrap();
                rig.board.drain_host().unwrap();
                let ring = rig.describe(2, read, d(RECORD | chained, cycles << 1 | 1));
                rig.board.drain_host().unwrap();
                rig.board.run(u64::from(cycles)).unwrap();
                let before = rig.poll_on(2);
                rig.board.bar_write32(Space::Chan, ring, 0).unwrap();
                over = before.is_some();
                let before = before.unwrap_or_else(|| rig.wait_on(2, 5000));
                let behind = rig.wait_on(2, 5000);
                let found = [before, behind].map(|record| (record.cookie, record.code));
                assert_eq!(found, [(cycles << 1, 0), (cycles << 1 | 1, 0)]);
                cycles += 1;
            }
            assert!(cycles > 30, "the record was there after {cycles} cycles");
        }
    }
}

/// Ends of one direction come close after each other, each of another channel that has a descriptor waiting for it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_end_lets_the_descriptor_go_on_that_waits_for_it() {
    for params in [Params::default(), stream::params(128)] {
        // All descriptors that are waited for are under way before the first of them ends.
        let mut config = near();
        config.gpu.read_round_trip_ns = 4000;
        let mut rig = rig_with(&params, config);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        for (round, read) in (0..16).flat_map(|round| [(round, false), (round, true)]) {
            let chained = if read { AFTER_WRITE } else { AFTER_READ };
            for channel in 0..8 {
                // Writes without a record end after the flush read of the first, and closer together than others.
                let recorded = channel == 0 || round % 2 == 0;
                let control = if recorded { RECORD } else { 0 };
                let length = 16 * (1 + round % 5);
                let d = |control, cookie| descriptor(peer, 0, length, control, cookie);
                rig.queue_on(channel, !read, d(control, 2 * round));
                rig.queue_on(channel, read, d(RECORD | chained, 2 * round + 1));
            }
            for channel in 0..8 {
                let mut record = rig.wait_on(channel, 20_000);
                if record.cookie == 2 * round {
                    record = rig.wait_on(channel, 20_000);
                }
                assert_eq!((record.cookie, record.code), (2 * round + 1, 0));
            }
        }
    }
}
