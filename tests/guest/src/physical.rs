//! Physical addresses of this process's memory, as far as it may know them, and a watch over the memory that the board
//! accesses.

use crate::host::Host;
use crate::lab::driver_says;
use anyhow::{Context, Result, ensure};
use peerlane_guest::Allowed;
use peerlane_host::Device;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;

/// Addresses to which messages of interrupts are written on x86 (Intel SDM, volume 3, 11.11.1).
const MESSAGES: Range<u64> = 0xfee0_0000..0xfef0_0000;

/// A list of all memory that the board may access. While the watch runs, any other access is an error of the next call.
#[derive(Debug, Clone)]
pub struct Watch {
    host: Host,
    allowed: Vec<Allowed>,
}

impl Watch {
    /// Makes a list with the addresses of interrupt messages only. Returns `None` where there is an IOMMU: there a
    /// process does not know the bus addresses.
    pub fn new(host: Host) -> Option<Self> {
        let mut units = std::fs::read_dir("/sys/class/iommu").into_iter().flatten();
        if units.next().is_some() {
            return None;
        }
        let Range { start, end } = MESSAGES;
        Some(Self {
            host,
            allowed: vec![Allowed(start, end - start, "w".into())],
        })
    }

    /// Adds memory of this process, which must have been touched.
    pub fn memory(&mut self, address: u64, length: u64, access: &str) -> Result<()> {
        for range in ranges(address, length, access)? {
            if !self.allowed.contains(&range) {
                self.allowed.push(range);
            }
        }
        Ok(())
    }

    /// Adds the completion ring of a context, and the page of zeros that FPGA memory is filled from.
    pub fn ring(&mut self, device: &Device) -> Result<()> {
        let text = driver_says(device.name().as_ref(), "state")?;
        let ring = format!("channel {}: ring ", device.info().channel);
        self.allowed.push(stretch(&text, &ring, "w")?);
        self.allowed.push(stretch(&text, "zeros ", "r")?);
        Ok(())
    }

    /// Returns the number of stretches of memory on the list.
    pub fn stretches(&self) -> usize {
        self.allowed.len()
    }

    /// Starts the watch, with the list as it is now.
    pub fn start(&self) -> Result<()> {
        self.host.allow(self.allowed.clone())
    }

    /// Ends the watch.
    pub fn end(&self) -> Result<()> {
        self.host.allow(Vec::new())
    }
}

/// Returns the physical pages of addresses of this process, which must have been touched
/// (Documentation/admin-guide/mm/pagemap.rst), with the access that the board may make to them.
pub fn ranges(address: u64, length: u64, access: &str) -> Result<Vec<Allowed>> {
    const PRESENT: u64 = 1 << 63;
    const FRAME: u64 = (1 << 55) - 1;
    let pagemap = File::open("/proc/self/pagemap")?;
    let (first, last) = (address / PAGE, (address + length - 1) / PAGE);
    let mut ranges: Vec<Allowed> = Vec::new();
    for page in first..=last {
        let mut entry = [0; 8];
        pagemap
            .read_exact_at(&mut entry, page * 8)
            .context("/proc/self/pagemap")?;
        let entry = u64::from_ne_bytes(entry);
        let physical = (entry & FRAME) * PAGE;
        ensure!(entry & PRESENT != 0, "page {page:#x} is not there");
        ensure!(physical != 0, "only root sees physical addresses");
        match ranges.last_mut() {
            Some(Allowed(start, length, _)) if *start + *length == physical => *length += PAGE,
            _ => ranges.push(Allowed(physical, PAGE, access.into())),
        }
    }
    Ok(ranges)
}

/// Parses a stretch of memory that the driver reports to root in debugfs: without an IOMMU bus addresses are physical
/// ones.
fn stretch(text: &str, name: &str, access: &str) -> Result<Allowed> {
    let parsed = || {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let (address, rest) = line.strip_prefix("0x")?.split_once(" + ")?;
        let bytes = rest.split_once(',').map_or(rest, |(bytes, _)| bytes);
        Some((u64::from_str_radix(address, 16).ok()?, bytes.parse().ok()?))
    };
    let (address, bytes) = parsed().with_context(|| format!("no `{name}` in: {text}"))?;
    Ok(Allowed(address, bytes, access.into()))
}
