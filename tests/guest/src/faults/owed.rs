//! Tests of reads that are not answered, and of the block's behaviour in the meantime.

use super::anew::Log;
use super::away::SOON;
use super::{come_back, come_back_anew, reset};
use crate::lab::{Buffer, LIMIT, Lab, Mover, driver_says};
use crate::suite::skip;
use anyhow::{Context, Result, ensure};
use peerlane_core::fault::Fault as End;
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Device, Direction, Error};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Checks that the block waits for late answers as long as the function waits for them.
pub(super) fn late_answers(lab: &mut Lab) -> Result<String> {
    if lab.open()?.capabilities().tagged {
        return skip("only a lost tag is out of use");
    }
    /// 260 to 900 ms (PCI Express Base Specification, 7.5.3.16).
    const RANGE: u8 = 0b1001;
    const LONGEST: Duration = Duration::from_millis(900);
    let config = format!("/sys/bus/pci/devices/{}/config", super::address()?);
    let config = File::options().read(true).write(true).open(config)?;
    let longer = Changed::new(&config, device_control_2(&config)?, RANGE)?;
    let mut mover = Mover::slow(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let at = lab.place(mover.device())?;
    lab.host.fault(Fault::Reads {
        answer: Answer::Never {},
        skip: 0,
        times: 1,
    })?;
    let begin = Instant::now();
    let region = &buffer.region;
    let ended = mover.attempt(Direction::ToFpga, region, 0, at, 4096, LIMIT);
    lab.host.fault(Fault::Clear {})?;
    ensure!(ended.is_err(), "an unanswered read has ended well");
    // Until then reads are refused. On a busy host that may take several of the driver's attempts: it must have looked
    // often enough to know that the same answers were missing all the time.
    while let Err(Error::Fault {
        fault: End::PortDown,
        ..
    }) = mover.attempt(Direction::ToFpga, region, 0, at, 4096, LIMIT)
    {
        ensure!(begin.elapsed() < LIMIT, "reads do not go on");
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = begin.elapsed();
    drop(longer);
    ensure!(took > LONGEST, "answers were given up after {took:?}");
    come_back(lab, mover, buffer)?;
    Ok(format!("after {took:?}"))
}

/// With a transaction layer, reads that are given up keep their tags until they are answered. Checks that the log and
/// debugfs report how many there were, until a reset of the function; after a reset they are reported again from zero.
pub(super) fn given_up_reads(lab: &mut Lab) -> Result<String> {
    const LOST: u32 = 3;
    if !lab.open()?.capabilities().tlp {
        return skip("this build has no transaction layer of its own");
    }
    for _ in 0..2 {
        reset()?;
        come_back_anew(lab)?;
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let at = lab.place(mover.device())?;
        let before = given_up(mover.device())?;
        ensure!(before == 0, "{before} after a reset");
        let mut log = Log::from_here()?;
        lab.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 2,
            times: LOST.into(),
        })?;
        let ended = mover.attempt(Direction::ToFpga, &buffer.region, 0, at, 8192, LIMIT);
        lab.host.fault(Fault::Clear {})?;
        ensure!(ended.is_err(), "unanswered reads have ended well");
        // They are given up one after the other, and the log reports their number at most once a second.
        let begin = Instant::now();
        let mut said = None;
        while said.is_none() || given_up(mover.device())? != LOST {
            if let Some(rest) = log.behind("reads given up since the reset of the link: ")? {
                said = Some(number(&rest)?);
            }
            ensure!(
                begin.elapsed() < SOON,
                "{said:?} in the log, {} in debugfs",
                given_up(mover.device())?
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        ensure!(
            (1..=LOST).contains(&said.unwrap_or(0)),
            "{said:?} are reported"
        );
        come_back(lab, mover, buffer)?;
    }
    reset()?;
    let how = come_back_anew(lab)?;
    let left = given_up(&lab.open()?)?;
    ensure!(left == 0, "{left} after the last reset");
    Ok(format!("good again {how}"))
}

/// Returns the number of reads that were given up, from debugfs.
fn given_up(device: &Device) -> Result<u32> {
    let link = driver_says(device.name().as_ref(), "link")?;
    let (_, expired) = link
        .split_once("expired: ")
        .with_context(|| format!("no count in {link:?}"))?;
    number(expired)
}

/// Returns the number that a text begins with.
fn number(text: &str) -> Result<u32> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    Ok(digits.parse()?)
}

/// A byte of a function's configuration that has another value as long as this value lives.
pub(super) struct Changed<'a> {
    config: &'a File,
    place: u64,
    before: [u8; 1],
}

impl<'a> Changed<'a> {
    pub(super) fn new(config: &'a File, place: u64, value: u8) -> Result<Self> {
        let mut before = [0];
        config.read_exact_at(&mut before, place)?;
        config.write_all_at(&[value], place)?;
        Ok(Self {
            config,
            place,
            before,
        })
    }
}

impl Drop for Changed<'_> {
    fn drop(&mut self) {
        // Later tests may fail with the changed byte, so report that it stays.
        if let Err(error) = self.config.write_all_at(&self.before, self.place) {
            println!("byte {:#x} of the configuration stays: {error}", self.place);
        }
    }
}

/// Returns the offset of the Device Control 2 register in a function's configuration.
pub(super) fn device_control_2(config: &File) -> Result<u64> {
    const PCI_EXPRESS: u8 = 0x10;
    let mut next = [0x34, 0];
    loop {
        let [at, _] = next;
        let mut pointer = [0];
        config.read_exact_at(&mut pointer, u64::from(at))?;
        let [place] = pointer;
        ensure!(place != 0, "no PCI Express capability");
        config.read_exact_at(&mut next, u64::from(place))?;
        if next[0] == PCI_EXPRESS {
            return Ok(u64::from(place) + 0x28);
        }
        next[0] = place + 1;
    }
}
