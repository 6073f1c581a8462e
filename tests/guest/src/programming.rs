//! Tests of configuring the FPGA over PCIe: the image arrives, failures are reported and can be retried, and a process
//! that is killed in between leaves a board that works.

mod rights;
mod vectors;

use crate::faults::{come_back_anew, reset};
use crate::lab::{LIMIT, Lab, pci_device, told};
use crate::opencl::{VERSION, VERSIONS, dword};
use crate::opencl_side::{holder, program, take};
use crate::process::fork;
use crate::raw;
use crate::suite::Suite;
use crate::worker::Worker;
use anyhow::{Result, bail, ensure};
use peerlane_core::uapi::{self, reprogram};
use peerlane_guest::{Fault, PERIPHERY, Programming, core_image, pattern};
use peerlane_host::{Area, Device, Error, OpenCl, Packing};
use rustix::io::Errno;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Bytes of an image's content: some of the driver's pieces and a partial one.
const LENGTH: u64 = 40_003;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("programming.under_load", || under_load(lab));
    suite.run("programming.rights_refused", || rights::refused(lab));
    suite.run("programming.rights_granted", || rights::granted(lab));
    suite.run("programming.rights_locked_down", || {
        rights::locked_down(lab)
    });
    suite.run("programming.arguments", || arguments(lab));
    suite.run("programming.refused", || refused(lab));
    suite.run("programming.faults", || faults(lab));
    suite.run("programming.gone_before", || gone_before(lab));
    suite.run("programming.killed", || killed(lab));
    suite.run("programming.others_go_on", || others_go_on(lab));
    suite.run("programming.left_empty", || left_empty(lab));
    suite.run("programming.vectors_left_alone", || {
        vectors::left_alone(lab)
    });
}

fn image(seed: u64, length: u64) -> Vec<u8> {
    let mut content = vec![0; length as usize];
    pattern(seed, &mut content);
    core_image(&content, PERIPHERY)
}

/// Configures the FPGA, and returns the result as an error number.
fn configure(side: &dyn OpenCl, image: &[u8]) -> Result<Result<(), Errno>> {
    match side.configure(image, Packing::AsTold) {
        Ok(()) => Ok(Ok(())),
        Err(Error::Call { source, .. }) => Ok(Err(source)),
        Err(other) => bail!("{other:?}"),
    }
}

/// Opens the board once more, and returns the error if that fails.
fn of_another(lab: &Lab) -> Result<Option<Errno>> {
    match lab.open() {
        Ok(_) => Ok(None),
        Err(error) => match error.downcast_ref::<Error>() {
            Some(Error::Open { source, .. }) => Ok(Some(*source)),
            _ => Err(error),
        },
    }
}

/// Checks that the last image has arrived completely, and that the protocol was not violated.
fn arrived(lab: &Lab, seed: u64, length: u64) -> Result<u64> {
    let programmed = lab.host.programmed(seed, length)?;
    ensure!(programmed.violation.is_none(), "{:?}", programmed.violation);
    ensure!(programmed.same, "another image arrived");
    Ok(programmed.configured)
}

fn is_there(side: &dyn OpenCl) -> Result<()> {
    let version = dword(side, Area::Kernels, VERSION)?;
    ensure!(VERSIONS.contains(&version), "version {version:#x}");
    Ok(())
}

/// Checks that transfers of all processes end, and that later ones succeed.
fn under_load(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(side.configures());
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    for seed in 0..3 {
        let before = lab.host.programmed(0, 0)?.configured;
        let generation = device.query().map_err(told)?.generation;
        let image = image(seed, LENGTH + seed);
        let configured = side.reprogram(false, &mut || side.configure(&image, Packing::AsTold));
        configured.map_err(told)?;
        ensure!(arrived(lab, seed, LENGTH + seed)? == before + 1);
        ensure!(device.query().map_err(told)?.generation != generation);
        worker.progress()?;
        is_there(&*side)?;
    }
    worker.stop()?;
    Ok("")
}

fn arguments(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let bytes = image(1, 64);
    let good = uapi::Configure {
        address: bytes.as_ptr() as u64,
        length: bytes.len() as u64,
        packing: uapi::packing::AS_TOLD,
        reserved: 0,
    };
    let call = |device: &Device, argument: uapi::Configure| {
        raw::with(device, uapi::CONFIGURE, &mut { argument })
    };
    ensure!(
        call(&device, good) == Err(Errno::NOENT),
        "outside of a bracket"
    );
    let other = lab.open()?;
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    ensure!(
        call(&other, good) == Err(Errno::NOENT),
        "in another's bracket"
    );
    for (wrong, error) in [
        (uapi::Configure { length: 0, ..good }, Errno::INVAL),
        (
            uapi::Configure {
                length: uapi::CONFIGURE_BYTES + 1,
                ..good
            },
            Errno::INVAL,
        ),
        (
            uapi::Configure {
                length: u64::MAX,
                ..good
            },
            Errno::INVAL,
        ),
        (uapi::Configure { packing: 4, ..good }, Errno::INVAL),
        (
            uapi::Configure {
                reserved: 1,
                ..good
            },
            Errno::INVAL,
        ),
        (
            uapi::Configure {
                address: 16,
                ..good
            },
            Errno::FAULT,
        ),
        (
            uapi::Configure {
                address: u64::MAX - 8,
                ..good
            },
            Errno::FAULT,
        ),
        (
            // It reaches past the end of the process's memory.
            uapi::Configure {
                length: uapi::CONFIGURE_BYTES,
                ..good
            },
            Errno::FAULT,
        ),
    ] {
        let result = call(&device, wrong);
        ensure!(result == Err(error), "{wrong:?} gave {result:?}");
    }
    // No part of the images has reached the FPGA.
    ensure!(program(&device, reprogram::END) == Ok(()));
    is_there(&*side)?;
    Ok("")
}

/// Checks that an image that the FPGA does not take leaves it empty, that the bracket cannot end then, and that it can
/// end after a good image.
fn refused(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let good = image(7, LENGTH);
    let mut spoilt = good.clone();
    spoilt[20_000] ^= 4;
    let bad = [core_image(&[1; 40_000], 1), spoilt, good[..30_000].to_vec()];
    for bad in bad {
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        ensure!(configure(&*side, &bad)? == Err(Errno::IO));
        ensure!(
            program(&device, reprogram::END) == Err(Errno::IO),
            "it was ended"
        );
        ensure!(side.configures(), "it can be tried again");
        ensure!(configure(&*side, &good)? == Ok(()));
        ensure!(program(&device, reprogram::END) == Ok(()));
        arrived(lab, 7, LENGTH)?;
        is_there(&*side)?;
    }
    Ok("")
}

fn faults(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let good = image(9, LENGTH);
    for (fault, empty) in [
        (Programming::NeverReady {}, false),
        (Programming::Error { after: 5000 }, true),
        (Programming::StaysReady {}, true),
        (Programming::NoUserMode {}, true),
        (Programming::Gone {}, false),
    ] {
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        lab.host.fault(Fault::Programming(fault))?;
        let result = configure(&*side, &good)?;
        let gone = matches!(fault, Programming::Gone {});
        let ended = gone.then(|| program(&device, reprogram::END));
        lab.host.fault(Fault::Clear {})?;
        ensure!(result == Err(Errno::IO), "{fault:?} gave {result:?}");
        ensure!(ended.is_none_or(|ended| ended == Err(Errno::IO)));
        if empty {
            let ended = program(&device, reprogram::END);
            // The FPGA may have come up since.
            let late = matches!(fault, Programming::NoUserMode {});
            ensure!(late || ended == Err(Errno::IO), "{fault:?}: it was ended");
            if ended.is_err() {
                ensure!(configure(&*side, &good)? == Ok(()), "{fault:?}, again");
                ensure!(program(&device, reprogram::END) == Ok(()));
            }
        } else {
            ensure!(program(&device, reprogram::END) == Ok(()), "{fault:?}");
        }
        is_there(&*side)?;
    }
    let violation = lab.host.programmed(0, 0)?.violation;
    ensure!(violation.is_none(), "{violation:?}");
    Ok("")
}

/// The configuration space of a function that is gone cannot be saved. Checks that the bracket does not begin, and that
/// the function has its earlier configuration when it is there again.
fn gone_before(lab: &mut Lab) -> Result<&'static str> {
    let config = pci_device()?.join("config");
    let bars = || anyhow::Ok(std::fs::read(&config)?[0x10..0x28].to_vec());
    let before = bars()?;
    let device = holder(lab)?;
    let side = take(&device)?;
    lab.host.fault(Fault::Programming(Programming::Gone {}))?;
    let begun = program(&device, reprogram::BEGIN);
    lab.host.fault(Fault::Clear {})?;
    ensure!(begun == Err(Errno::NODEV), "it has begun: {begun:?}");
    ensure!(program(&device, reprogram::END).is_err());
    drop((side, device));
    reset()?;
    ensure!(bars()? == before, "{before:x?} became {:x?}", bars()?);
    come_back_anew(lab)?;
    let device = holder(lab)?;
    is_there(&*take(&device)?)?;
    Ok("")
}

/// Checks that the FPGA is still configured to the end when the process is killed in the middle, and that the board
/// starts by itself.
fn killed(lab: &mut Lab) -> Result<String> {
    const LONG: u64 = 1_000_000;
    let before = lab.host.programmed(0, 0)?;
    let child_lab = lab.branch();
    let mut child = fork("programmer", || {
        let device = holder(&child_lab)?;
        let side = take(&device)?;
        program(&device, reprogram::BEGIN)?;
        configure(&*side, &image(11, LONG))??;
        bail!("it was not killed")
    })?;
    let begin = Instant::now();
    while lab.host.programmed(0, 0)?.transfers == before.transfers {
        ensure!(begin.elapsed() < LIMIT, "no transfer");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.signal(Signal::KILL)?;
    let at_once = lab.host.programmed(0, 0)?.configured;
    ensure!(child.wait_for(LIMIT)?.is_some());
    ensure!(arrived(lab, 11, LONG)? == before.configured + 1);
    let device = holder(lab)?;
    is_there(&*take(&device)?)?;
    Ok(match at_once == before.configured {
        true => "killed in the middle".into(),
        false => "killed too late to tell".into(),
    })
}

/// Checks that freeing memory, asking for the OpenCL side, opening the board and closing it do not wait for a
/// configuration.
fn others_go_on(lab: &mut Lab) -> Result<String> {
    const LONG: u64 = 4_000_000;
    let other = lab.open()?;
    lab.place_of(&other, 64 << 10)?;
    let before = lab.host.programmed(0, 0)?;
    let child_lab = lab.branch();
    let child = fork("programmer", || {
        let device = holder(&child_lab)?;
        let side = take(&device)?;
        let image = image(17, LONG);
        let configured = side.reprogram(false, &mut || side.configure(&image, Packing::AsTold));
        configured.map_err(told)
    })?;
    let begin = Instant::now();
    while lab.host.programmed(0, 0)?.transfers == before.transfers {
        ensure!(begin.elapsed() < LIMIT, "no transfer");
        std::thread::sleep(Duration::from_millis(1));
    }
    let begin = Instant::now();
    let taken = crate::opencl::call_take(&other, 0);
    let freed = raw::with(&other, uapi::FREE, &mut uapi::Free::default());
    let opened = lab.open();
    drop(other);
    let took = begin.elapsed();
    let configured = lab.host.programmed(0, 0)?.configured;
    ensure!(
        configured == before.configured,
        "they waited for the configuration: {took:?}"
    );
    ensure!(taken == Err(Errno::BUSY), "OPENCL gave {taken:?}");
    // The board reaches no memory, and the next start clears the channel's range.
    ensure!(freed == Ok(()), "FREE gave {freed:?}");
    ensure!(opened.is_err(), "a channel was opened");
    child.wait()?;
    let device = holder(lab)?;
    is_there(&*take(&device)?)?;
    Ok(format!("{took:?}"))
}

/// Checks that a holder that ends with an empty FPGA leaves a board that is gone, until its FPGA is configured and the
/// function is reset.
fn left_empty(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    ensure!(configure(&*side, &core_image(&[1; 4000], 1))? == Err(Errno::IO));
    // The PCI core itself writes a table of vectors after a reset.
    let has_table = device.capabilities().msix;
    drop(side);
    drop(device);
    if !has_table {
        reset()?;
        let violation = lab.host.programmed(0, 0)?.violation;
        ensure!(violation.is_none(), "after a reset: {violation:?}");
    }
    let opened = of_another(lab)?;
    ensure!(
        opened == Some(Errno::NODEV),
        "a board without its FPGA: {opened:?}"
    );
    lab.host.fault(Fault::Configure {})?;
    reset()?;
    let device = holder(lab)?;
    is_there(&*take(&device)?)?;
    let violation = lab.host.programmed(0, 0)?.violation;
    ensure!(violation.is_none(), "{violation:?}");
    Ok("")
}
