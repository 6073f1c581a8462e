//! Tests of boards on which one unanswered read ends all reads.

use super::anew::Log;
use super::away::SOON;
use super::owed::{Changed, device_control_2};
use super::{Step, come_back, rebind, reset};
use crate::lab::{Buffer, LIMIT, Lab, Mover, told};
use crate::suite::skip;
use anyhow::{Result, ensure};
use peerlane_core::fault::Fault as End;
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Direction, Error};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// A read that is never answered stops all other reads. Checks that the board is then reset by its link, once, that all
/// contexts are notified, and that transfers succeed again.
pub(super) fn reads(lab: &mut Lab) -> Result<String> {
    let other = lab.open()?;
    if other.capabilities().tagged {
        return skip("only a lost tag is out of use");
    }
    let mut log = Log::from_here()?;
    let mut mover = Mover::slow(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let at = lab.place(mover.device())?;
    let before = other.query().map_err(told)?;
    lab.host.fault(Fault::Reads {
        answer: Answer::Never {},
        skip: 1,
        times: 1,
    })?;
    let ended = mover.attempt(Direction::ToFpga, &buffer.region, 0, at, 4096, LIMIT);
    lab.host.fault(Fault::Clear {})?;
    match ended {
        Err(Error::Restarted)
        | Err(Error::Fault {
            fault: End::ReadTimeout | End::Aborted,
            ..
        }) => {}
        other => anyhow::bail!("a read without an answer gave {other:?}"),
    }
    let begin = Instant::now();
    let after = loop {
        let query = other.query().map_err(told)?;
        if query.generation != before.generation {
            break query;
        }
        ensure!(begin.elapsed() < LIMIT, "no error is reported");
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = begin.elapsed();
    ensure!(
        after.resets == before.resets + 1,
        "{} resets became {}",
        before.resets,
        after.resets
    );
    let how = come_back(lab, mover, buffer)?;
    ensure!(how == "by itself", "good again {how}");
    // The driver looks once a second.
    std::thread::sleep(Duration::from_secs(3));
    let (last, expected) = (other.query().map_err(told)?, after.resets);
    ensure!(last.resets == expected, "{} resets at last", last.resets);
    ensure!(
        log.has("and the board is reset by its link")?,
        "the log does not say why"
    );
    Ok(format!("reported after {took:?}"))
}

/// The function's right to be bus master is taken away for longer than a port may stall without being dead, and
/// returned. Checks that the link is not reset for that, and that all transfers continue: for a time longer than
/// between two looks of the driver, and for a shorter one.
pub(super) fn not_master(lab: &mut Lab) -> Result<String> {
    if lab.open()?.capabilities().tagged {
        return skip("nothing waits in a port with tags");
    }
    let [long, short] = [1500, 200].map(Duration::from_millis);
    let took = [without_master(lab, long)?, without_master(lab, short)?];
    Ok(format!("started again after {took:?}"))
}

/// The Command register, and its Bus Master bit (PCI Express Base Specification, 7.5.1.1).
const COMMAND: u64 = 4;
const MASTER: u8 = 4;

/// Opens the function's configuration space, which stays when the driver is unbound.
pub(super) fn configuration() -> Result<File> {
    let path = format!("/sys/bus/pci/devices/{}/config", super::address()?);
    Ok(File::options().read(true).write(true).open(path)?)
}

fn command(config: &File) -> Result<u8> {
    let mut command = [0];
    config.read_exact_at(&mut command, COMMAND)?;
    Ok(command[0])
}

/// Returns whether the function is a bus master.
pub(super) fn is_master(config: &File) -> Result<bool> {
    Ok(command(config)? & MASTER != 0)
}

/// Calls `run` while the function is not a bus master.
pub(crate) fn while_not_master<R>(run: impl FnOnce() -> R) -> Result<R> {
    let config = configuration()?;
    let _off = Changed::new(&config, COMMAND, command(&config)? & !MASTER)?;
    Ok(run())
}

fn without_master(lab: &mut Lab, limit: Duration) -> Result<Duration> {
    let mut log = Log::from_here()?;
    let mut mover = Mover::slow(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let at = lab.place(mover.device())?;
    let device = mover.device().clone();
    let before = device.query().map_err(told)?;
    let ended = while_not_master(|| {
        mover.attempt(Direction::FromFpga, &buffer.region, 0, at, 1 << 20, limit)
    })?;
    ensure!(ended.is_err(), "a board that is not a bus master writes");
    let begin = Instant::now();
    while device.query().map_err(told)?.generation == before.generation {
        ensure!(begin.elapsed() < LIMIT, "the channel is not started again");
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = begin.elapsed();
    let how = come_back(lab, mover, buffer)?;
    ensure!(how == "by itself", "good again {how}");
    let resets = device.query().map_err(told)?.resets;
    ensure!(
        resets == before.resets,
        "{} resets became {resets}",
        before.resets
    );
    ensure!(
        log.has("the PCIe port was stopped for a while")?,
        "the log does not say why"
    );
    Ok(took)
}

/// Checks that Max Read Request Size is at least the port's need after each start, whichever value the function had
/// before.
pub(super) fn read_request(lab: &mut Lab) -> Result<&'static str> {
    /// The code of 512 bytes, and its place in Device Control's upper byte (PCI Express Base Specification, 7.8.4).
    const LEAST: u8 = 2;
    const SHIFT: u8 = 4;
    const MASK: u8 = 7 << SHIFT;
    if lab.open()?.capabilities().tagged {
        return skip("a port with tags keeps its reads apart");
    }
    let config = format!("/sys/bus/pci/devices/{}/config", super::address()?);
    let starts: [(&str, Step); 2] = [("a reset", reset), ("a new driver", rebind)];
    for (name, start) in starts {
        let config = File::options().read(true).write(true).open(&config)?;
        let place = device_control_2(&config)? - 0x20 + 1;
        let mut byte = [0];
        config.read_exact_at(&mut byte, place)?;
        config.write_all_at(&[byte[0] & !MASK], place)?;
        start()?;
        let begin = Instant::now();
        loop {
            config.read_exact_at(&mut byte, place)?;
            let code = (byte[0] & MASK) >> SHIFT;
            if code >= LEAST {
                break;
            }
            ensure!(begin.elapsed() < SOON, "the code is {code} after {name}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Ok("")
}
