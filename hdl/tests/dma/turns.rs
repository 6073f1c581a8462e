//! Turns: short transfers come soon, and keep no channel from its turn.

use crate::channels::{ACCEPT, RUN, control, descriptor, map_for, rig, rig_with};
use crate::rig::{MIB, RECORD, Rig, near};
use crate::stream;
use peerlane_core::regs::csr;
use peerlane_hdl::Params;
use peerlane_sim::Space;

const PAGE: u64 = 64 << 10;
/// Short transfers, fewer than a channel's queue holds.
const SHORT: u64 = 100;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_short_transfer_waits_for_one_round_of_requests() {
    for read in [false, true] {
        let mut rig = rig(&Params::default());
        let peer = map_for(&mut rig, 0xFF, 0, 16 * MIB);
        for channel in 0..7 {
            for _ in 0..4 {
                rig.queue_on(channel, read, descriptor(peer, 0, 2 * MIB as u32, 0, 0));
            }
        }
        rig.board.run(20_000).unwrap();
        for trial in 0..20 {
            let at = rig.board.stats();
            rig.queue_on(7, read, descriptor(peer, 0, 64, RECORD | 1 << 2, trial));
            let record = rig.wait_on(7, 20_000);
            assert_eq!((record.code, record.cookie), (0, trial));
            let now = rig.board.stats();
            // Bytes that others moved from before the doorbell was rung until after the record was seen: those of a
            // round of 7 requests, of the requests in the pipe, and of requests that went on while the record came.
            let moved = (now.gpu.bytes_written - at.gpu.bytes_written)
                + (now.gpu.bytes_read - at.gpu.bytes_read);
            assert!(moved < 48 * 512, "read {read}: {moved} bytes");
            rig.board.run(777).unwrap();
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn channels_that_wake_again_and_again_starve_nobody() {
    let params = Params {
        channels: 64,
        ..Params::default()
    };
    // Two channels stream, with numbers above those that wake: these in turn, each idle before it is rung again.
    let (wakers, first, second) = (24, 62, 63);
    let requests = 8;
    for read in [false, true] {
        let mut rig = rig(&params);
        let peer = map_for(&mut rig, !0, 0, MIB);
        rig.queue_on(first, read, descriptor(peer, 0, MIB as u32, 0, 0));
        rig.board.run(2000).unwrap();
        let (bytes, gap, longest) = (512, 20, 48);
        rig.queue_on(
            second,
            read,
            descriptor(peer, 0, requests * bytes, RECORD, 7),
        );
        // Each of its requests waits for one turn of every other channel, and for as many that come
        // before the round; a turn is of at most one request, whose time on the link is `longest`.
        let limit = u64::from(requests * 2 * (wakers + 2)) * longest;
        let start = rig.board.cycles();
        for waker in (0..wakers).cycle() {
            if rig.poll_on(second).is_some() {
                break;
            }
            rig.queue_on(waker, read, descriptor(peer, 0, 4, 0, 0));
            rig.board.run(gap).unwrap();
            let waited = rig.board.cycles() - start;
            assert!(waited < limit, "read {read}: no end after {waited} cycles");
        }
    }
}

/// A read, while other channels end short writes, and so send flush reads, all the time.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn flush_reads_starve_no_read() {
    let mut config = near();
    config.gpu.read_round_trip_ns = 3000;
    let mut rig = rig_with(&Params::default(), config);
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    let depth = Params::default().queue_depth();
    for channel in 1..8 {
        rig.csr(csr::CHANNEL_SELECT, channel);
        rig.csr(csr::CHANNEL_CONTROL, 1);
        for n in 0..depth {
            rig.queue_on(channel, false, descriptor(peer + 4096, 4096, 64, RECORD, n));
        }
    }
    for channel in 1..8 {
        rig.csr(csr::CHANNEL_SELECT, channel);
        rig.csr(csr::CHANNEL_CONTROL, 3);
    }
    rig.board.drain_host().unwrap();
    rig.board.run(500).unwrap();
    rig.queue(true, descriptor(peer, 0, 512, RECORD, 7));
    rig.board.drain_host().unwrap();
    let start = rig.board.cycles();
    assert_eq!(rig.wait(200_000).code, 0);
    // Eight reads are in flight, and one flush read goes before this one; each is answered in 750 cycles.
    let waited = rig.board.cycles() - start;
    assert!(waited < 4 * 750, "{waited} cycles");
    // The flush reads had not ended by then.
    let ended =
        |rig: &mut crate::rig::Rig, channel| std::iter::from_fn(|| rig.poll_on(channel)).count();
    assert!(ended(&mut rig, 1) < depth as usize / 2);
}

/// Four channels ring at once while 60 stream.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn channels_that_wake_together_wait_for_no_round_of_many_streams() {
    let params = Params {
        channels: 64,
        reads_log2: 3,
        ..Params::default()
    };
    let wakers = 60..64u32;
    // Their four requests and, between them, three of the round; those in the pipe: 32 words of 64 bytes or 8 reads,
    // those that wait at its two ends, and those that left while the doorbells were on their way.
    let limit = 4 + 3 + 8 + 6;
    let requests = |rig: &Rig| {
        let port = rig.board.stats().txs;
        port.write_bursts + port.read_bursts
    };
    for read in [false, true] {
        let mut rig = rig_with(&params, near());
        let streamed = map_for(&mut rig, !0, 0, MIB);
        let bus = rig.board.gpu_mut().pin(MIB, PAGE).unwrap();
        let peer = rig.map(16, &bus, 3);
        let last = bus[0] + 3 * 4096;
        for channel in 0..wakers.start {
            let d = descriptor(streamed, 0, MIB as u32, 0, 0);
            rig.queue_on(channel, read, d);
        }
        // A round of all of them takes 2000 cycles.
        rig.board.run(8000).unwrap();
        for round in 0..6 {
            rig.board.run(2000 + 300 * round).unwrap();
            let doorbells: Vec<_> = (wakers.clone().zip(0..))
                .map(|(channel, n)| {
                    let d = descriptor(peer + n * 4096, 0, 64, 0, 0);
                    (Space::Chan, rig.describe(channel, read, d), 0)
                })
                .collect();
            rig.board.drain_host().unwrap();
            rig.board.mark_range(last..last + 64);
            let before = requests(&rig);
            let at = csr::BUILD_ID as u64;
            rig.board
                .bar_write_read(&doorbells, Space::Csr, at)
                .unwrap();
            while rig.board.stats().txs.first_request_cycle.is_none() {
                rig.board.run(4).unwrap();
                let waited = requests(&rig) - before;
                assert!(waited <= limit, "read {read}, round {round}: {waited}");
            }
        }
    }
}

/// Returns the cycles from when a channel may run until the last of [`SHORT`] short transfers of it is at the port.
pub fn short_transfers(rig: &mut Rig, read: bool) -> u64 {
    let pages = rig.board.gpu_mut().pin(MIB, 2 * PAGE).unwrap();
    let peer = rig.map(16, &pages, 3);
    control(rig, 1, ACCEPT);
    for n in 1..=SHORT {
        let at = if n == SHORT { PAGE } else { 0 };
        rig.queue_on(1, read, descriptor(peer + at, 0, 16, 0, 0));
    }
    rig.board.drain_host().unwrap();
    rig.board.mark_range(pages[1]..pages[1] + PAGE);
    control(rig, 1, ACCEPT | RUN);
    rig.board.drain_host().unwrap();
    let begin = rig.board.last_host_write_cycle();
    rig.board.run(20 * SHORT).unwrap();
    let end = rig.board.stats().txs.first_request_cycle;
    end.expect("the last transfer at the port") - begin
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn short_transfers_of_one_channel_follow_without_a_pause() {
    for read in [false, true] {
        let mut rig = rig_with(&stream::params(128), near());
        rig.csr(csr::ATT_OWNER_LO, 0xFF);
        let took = short_transfers(&mut rig, read);
        println!("read {read}: {took} cycles");
        // Six each, and 80 for the first to come through; with a search for the next channel between them, ten each.
        assert!(took < 8 * SHORT, "read {read}: {took} cycles");
    }
}
