//! Errors that a PCIe function reports (Advanced Error Reporting), injected by the kernel's own
//! `aer_inject` (Documentation/PCI/pcieaer-howto.rst, "Software error injection").

use super::{address, come_back, reset};
use crate::lab::{Buffer, LIMIT, Lab, Mover, pci_device, told};
use crate::process::{fork, pair};
use crate::suite::skip;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::uapi::state;
use peerlane_guest::Fault;
use peerlane_host::{Device, Error};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// An error of a register of the AER capability (PCI Express Base Specification, 7.8.4).
#[derive(Clone, Copy)]
pub struct Report {
    /// Bits of Correctable Error Status.
    correctable: u32,
    /// Bits of Uncorrectable Error Status.
    uncorrectable: u32,
    /// Name of the kernel's counter in sysfs, of the root port: Linux 6.12 counts a fatal error there alone.
    counter: &'static str,
}

/// A symbol was received wrong, and the link has corrected it.
pub const RECEIVER_ERROR: Report = Report {
    correctable: 1,
    uncorrectable: 0,
    counter: "aer_rootport_total_err_cor",
};

/// A request was not answered. Not fatal with the function's settings after power-up.
pub const COMPLETION_TIMEOUT: Report = Report {
    correctable: 0,
    uncorrectable: 1 << 14,
    counter: "aer_rootport_total_err_nonfatal",
};

/// A malformed packet. Fatal with the function's settings after power-up: the kernel resets the link.
pub const MALFORMED_TLP: Report = Report {
    correctable: 0,
    uncorrectable: 1 << 18,
    counter: "aer_rootport_total_err_fatal",
};

/// Time in which the kernel must see the error.
const SEEN: Duration = Duration::from_secs(20);

/// Returns the number of errors of this class that the kernel has counted.
fn counted(report: Report) -> Result<u64> {
    let device = pci_device()?.canonicalize()?;
    let found = device
        .ancestors()
        .map(|above| above.join(report.counter))
        .find(|path| path.exists());
    let path = found.with_context(|| format!("no port above {} has AER", device.display()))?;
    let text = std::fs::read_to_string(&path)?;
    let number = text.trim().parse();
    number.with_context(|| format!("{} says {text}", path.display()))
}

/// Loads the injector, if the harness has brought it.
fn injector() -> Result<()> {
    const MODULE: &str = "/modules/aer_inject.ko";
    if Path::new("/dev/aer_inject").exists() {
        return Ok(());
    }
    if !Path::new(MODULE).exists() {
        return skip(format!("there is no {MODULE}"));
    }
    let module = std::fs::File::open(MODULE)?;
    rustix::system::finit_module(&module, c"", 0).context(MODULE)
}

/// Makes the board report an error, and waits until the kernel has counted it.
pub fn report(report: Report) -> Result<()> {
    injector()?;
    let address = address()?;
    let number = |range: std::ops::Range<usize>| {
        let digits = address.get(range).context("a short address")?;
        u32::from_str_radix(digits, 16).with_context(|| format!("the address {address}"))
    };
    // domain:bus:device.function
    let (domain, bus) = (number(0..4)?, number(5..7)?);
    let (device, function) = (number(8..10)?, number(11..12)?);
    // `struct aer_error_inj`: three bytes and a gap, status registers, a header's log, the domain.
    let mut order = vec![bus as u8, device as u8, function as u8, 0];
    for word in [report.uncorrectable, report.correctable, 0, 0, 0, 0, domain] {
        order.extend(word.to_ne_bytes());
    }
    let before = counted(report)?;
    std::fs::write("/dev/aer_inject", order).context("/dev/aer_inject")?;
    let begin = Instant::now();
    while counted(report)? == before {
        ensure!(begin.elapsed() < SEEN, "the kernel has seen no error");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The function does not answer after a fatal error. The kernel waits for it for a minute. Checks that the driver gives
/// the board up before that, and that a waiting process is notified. The function comes back late; checks that the
/// board comes back, also for the process that had it.
pub(super) fn unmended(lab: &mut Lab) -> Result<String> {
    // As long as the driver waits, and shorter than the kernel waits.
    const PATIENCE: Duration = Duration::from_secs(3);
    const KERNEL: Duration = Duration::from_secs(60);
    let device = lab.open()?;
    let mut mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
    let before = device.query().map_err(told)?;
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let waiter = fork("waiter", move || {
        let device = branch.open()?;
        device.query().map_err(told)?;
        theirs.signal()?;
        loop {
            match device.poll(None) {
                Ok(_) => device.query().map(drop).map_err(told)?,
                Err(Error::Gone) => return Ok(()),
                Err(error) => return Err(told(error)),
            }
        }
    })?;
    ours.wait()?;
    lab.host.fault(Fault::LostAtReset {})?;
    let begin = Instant::now();
    report(MALFORMED_TLP)?;
    let until = |wanted: u32| {
        while device.query().map_err(told)?.state != wanted {
            ensure!(
                begin.elapsed() < LIMIT,
                "its state does not become {wanted}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(begin.elapsed())
    };
    let given_up = until(state::GONE)?;
    waiter.wait()?;
    ensure!(given_up >= PATIENCE, "given up after {given_up:?}");
    match Device::first() {
        Err(Error::Open {
            source: Errno::NODEV,
            ..
        }) => {}
        other => bail!("a board that is given up was opened: {other:?}"),
    }
    let in_time = begin.elapsed() < KERNEL;
    lab.host.fault(Fault::Clear {})?;
    if !in_time {
        // The kernel may have given the function up, too.
        reset()?;
    }
    let back = until(0)?;
    let after = device.query().map_err(told)?;
    ensure!(after.resets > before.resets && after.generation != before.generation);
    come_back(lab, mover, buffer)?;
    Ok(format!("given up after {given_up:?}, back after {back:?}"))
}

/// The port above the board, accessed by its configuration space.
pub struct Port(File);

/// Status and mask of uncorrectable errors (PCI Express Base Specification, 7.8.4.2 and 7.8.4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncorrectable {
    status: u32,
    mask: u32,
}

/// Surprise Down Error, in both registers.
const SURPRISE_DOWN: u32 = 1 << 5;

impl Uncorrectable {
    /// Returns whether a link that is down is not reported.
    pub fn masks_surprise_down(self) -> bool {
        self.mask & SURPRISE_DOWN != 0
    }
}

impl Port {
    /// Opens the port.
    pub fn above_the_board() -> Result<Self> {
        let above = pci_device()?.join("../config");
        let file = File::options().read(true).write(true).open(&above);
        file.map(Self).with_context(|| above.display().to_string())
    }

    fn word(&self, offset: u64) -> Result<u32> {
        let mut bytes = [0; 4];
        self.0.read_exact_at(&mut bytes, offset)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Finds the capability, which has number 1 in the list of extended ones (7.8.4.1; its header: 7.6.3).
    fn capability(&self) -> Result<u64> {
        let mut at = 0x100;
        while at != 0 {
            let header = self.word(at)?;
            if header & 0xffff == 1 {
                return Ok(at);
            }
            at = u64::from(header >> 20);
        }
        bail!("the port has no registers for error reports")
    }

    /// Returns whether Link Disable is set (7.5.3.7, of the capability with number 10h in the list that 34h begins).
    pub fn link_is_disabled(&self) -> Result<bool> {
        let mut at = u64::from(self.word(0x34)? & 0xfc);
        while at != 0 {
            let header = self.word(at)?;
            if header & 0xff == 0x10 {
                return Ok(self.word(at + 0x10)? & 1 << 4 != 0);
            }
            at = u64::from(header >> 8 & 0xfc);
        }
        bail!("the port has no PCI Express capability")
    }

    /// Reads status and mask.
    pub fn uncorrectable(&self) -> Result<Uncorrectable> {
        let at = self.capability()?;
        Ok(Uncorrectable {
            status: self.word(at + 4)?,
            mask: self.word(at + 8)?,
        })
    }

    /// Sets or clears the mask, as firmware may.
    pub fn mask_surprise_down(&self, masked: bool) -> Result<()> {
        let at = self.capability()? + 8;
        let mask = match masked {
            true => self.word(at)? | SURPRISE_DOWN,
            false => self.word(at)? & !SURPRISE_DOWN,
        };
        Ok(self.0.write_all_at(&mask.to_le_bytes(), at)?)
    }
}
