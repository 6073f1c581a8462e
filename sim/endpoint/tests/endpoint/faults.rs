//! Tests of injected faults.

use std::time::{Duration, Instant};

use crate::guest::{Guest, MIB, RAM, params};
use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;
use peerlane_core::regs::{MAP_ID, csr};
use peerlane_endpoint::{Answer, Error, Irq, Port, Resets};

const PAGE: u64 = 2 * MIB;
const ALL: std::ops::Range<u64> = 0..u64::MAX;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn answers_of_reads_with_a_status() {
    let mut guest = Guest::new(params(Port::Stream, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    for (answer, fault) in [
        (Answer::Unsupported, Fault::Unsupported),
        (Answer::Abort, Fault::CompleterAbort),
        (Answer::Poisoned, Fault::Poisoned),
        (Answer::Never, Fault::ReadTimeout),
    ] {
        // The second request of the first descriptor, and no other.
        guest.handle.fail_reads(answer, ALL, 1, 1).unwrap();
        guest.submit(Direction::ToFpga, host, 0, 2048);
        let record = guest.record();
        assert_eq!(record.outcome, Err(fault));
        assert_eq!(record.bytes_done, 512, "{fault:?}");
        guest.submit(Direction::ToFpga, host, 0, 2048);
        assert_eq!(guest.record().outcome, Ok(()), "{fault:?}");
    }
    // As many as were requested.
    guest.handle.fail_reads(Answer::Abort, ALL, 0, 2).unwrap();
    let outcomes = [0; 3].map(|_| {
        guest.submit(Direction::ToFpga, host, 0, 64);
        guest.record().outcome
    });
    let abort = Err(Fault::CompleterAbort);
    assert_eq!(outcomes, [abort, abort, Ok(())]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_lost_answer_on_txs_ends_by_time_out() {
    let mut guest = Guest::with_resets(params(Port::Txs, Irq::Msix), Resets::Fabric);
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.handle.fail_reads(Answer::Never, ALL, 0, 1).unwrap();
    guest.submit(Direction::ToFpga, host, 0, 512);
    assert_eq!(guest.record().outcome, Err(Fault::ReadTimeout));
    guest.settle();
    assert_ne!(
        guest.read_csr(csr::STATUS) & csr::STATUS_READ_QUARANTINE_MASK,
        0
    );
    // A reset of the fabric ends the wait for owed answers.
    guest.write_config(0x88, 0xA810);
    guest.enable();
    guest.open();
    guest.map(0, RAM + PAGE);
    guest.submit(Direction::ToFpga, host, 0, 512);
    assert_eq!(guest.record().outcome, Ok(()));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_late_answer_opens_the_quarantine() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    // 20000 cycles of 4 ns are 80 us.
    let late = Answer::Late(200_000);
    guest.handle.fail_reads(late, ALL, 0, 1).unwrap();
    guest.submit(Direction::ToFpga, host, 0, 256);
    assert_eq!(guest.record().outcome, Err(Fault::ReadTimeout));
    guest.settle();
    assert_eq!(
        guest.read_csr(csr::STATUS) & csr::STATUS_READ_QUARANTINE_MASK,
        0
    );
    guest.submit(Direction::ToFpga, host, 0, 256);
    assert_eq!(guest.record().outcome, Ok(()));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_stuck_port_is_found_dead() {
    for port in [Port::Txs, Port::Stream] {
        let mut guest = Guest::with_resets(params(port, Irq::Msix), Resets::Fabric);
        guest.open();
        let host = guest.map(0, RAM + PAGE);
        guest.settle();
        guest.handle.clear_counters().unwrap();
        guest.handle.stick_port(100).unwrap();
        guest.submit(Direction::FromFpga, host, 0, MIB as u32);
        guest.settle();
        let status = guest.read_csr(csr::STATUS);
        assert_ne!(status & csr::STATUS_PORT_DEAD_MASK, 0, "{port:?}");
        // The block sees it after a slice of the clock, with at most one word a cycle.
        let written = guest.handle.status().unwrap().host.bytes_written;
        assert!((1024..3200).contains(&written), "{port:?}: {written}");
        guest.write_config(0x88, 0xA810);
        guest.enable();
        guest.open();
        guest.map(0, RAM + PAGE);
        guest.submit(Direction::FromFpga, host, 0, MIB as u32);
        assert_eq!(guest.record().outcome, Ok(()), "{port:?}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn register_reads_can_be_held() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    let time = Duration::from_millis(100);
    guest.handle.stall_reads(1, 1, time);
    assert_eq!(guest.read_csr(csr::MAP_ID), MAP_ID);
    // If the previous read had been delayed, this one would not be.
    let start = Instant::now();
    assert_eq!(guest.read_csr(csr::MAP_ID), MAP_ID);
    assert!(start.elapsed() >= time);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_killed_endpoint_is_gone_at_once() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    for _ in 0..8 {
        guest.submit(Direction::FromFpga, host, 0, MIB as u32);
    }
    guest.handle.kill().unwrap();
    let written = guest.handle.status().unwrap().host.bytes_written;
    assert!(written < 8 * MIB);
    let answer = guest.client.region_read(2, 0x3000, &mut [0; 4]);
    assert!(answer.is_err());
    std::thread::sleep(Duration::from_millis(20));
    let status = guest.handle.status().unwrap();
    assert!(status.dead && status.host.bytes_written == written);
    // No other client is served.
    assert!(vfio_user::Client::new(&guest.socket()).is_err());
    let handle = guest.handle.clone();
    drop(guest);
    assert!(matches!(handle.status(), Err(Error::Gone)));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn dropping_an_endpoint_ends_its_connection() {
    let guest = Guest::new(params(Port::Txs, Irq::Msix));
    let socket = guest.socket();
    let (mut client, endpoint) = (guest.client, guest.endpoint);
    assert!(socket.exists());
    drop(endpoint);
    assert!(client.region_read(2, 0x3000, &mut [0; 4]).is_err());
    assert!(!socket.exists());
}
