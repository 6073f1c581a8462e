//! Tests in which a channel gets a new owner while cached regions of its old owner are being evicted.

use super::page::Page;
use crate::lab::{Lab, entries_free, told};
use crate::process::fork;
use anyhow::{Result, anyhow, ensure};
use peerlane_core::fault::Fault;
use peerlane_host::{Device, Direction, Memory, Permissions};

const PAGE: usize = 4096;
/// Pages, and so entries, of a region: the more there are, the longer an eviction takes.
const PAGES: usize = 4;
/// The number of cached regions, a few less than a context may have.
const MOST: usize = 1000;

/// Needs so many entries that cached regions of others must be evicted.
fn needs(device: &Device, memory: &Memory, entries: usize) -> Result<()> {
    let one = || device.register(memory, 0..PAGE, Permissions::Read);
    let held = (0..entries).map(|_| one().map_err(told));
    let held = held.collect::<Result<Vec<_>>>()?;
    for region in held {
        region.forget().map_err(told)?;
    }
    Ok(())
}

/// Runs one round. Returns whether the owner closed while its regions were being evicted.
fn round(lab: &Lab) -> Result<bool> {
    let owner = lab.open()?;
    let needy = lab.open()?;
    let channel = owner.info().channel;
    let memory = Memory::new(PAGES * PAGE)?;
    memory.write(0, &vec![0x5a; PAGES * PAGE])?;
    let free = entries_free(owner.name().as_ref())?;
    let mut addresses = Vec::new();
    // Each region has other bytes of the same pages.
    for index in 0..MOST.min(free / PAGES) {
        // Whole dwords, which every board can write.
        let range = 4 * index..PAGES * PAGE;
        let device = owner.one_page_size();
        let region = device.register(&memory, range, Permissions::ReadWrite);
        addresses.push(region.map_err(told)?.att_address());
    }
    let kept = || Ok::<_, anyhow::Error>(owner.query().map_err(told)?.regions[1] as usize);
    ensure!(kept()? == addresses.len(), "{} are kept", kept()?);
    let left = entries_free(owner.name().as_ref())?;
    let other = {
        let memory = memory.clone();
        // Each region that is evicted makes room for some of the entries only.
        let entries = left + addresses.len() * PAGES / 2;
        std::thread::spawn(move || needs(&needy, &memory, entries))
    };
    while kept()? == addresses.len() && !other.is_finished() {
        std::hint::spin_loop();
    }
    let early = !other.is_finished();
    drop(owner);
    let next = lab.open()?;
    ensure!(
        next.info().channel == channel,
        "the channel is {}, and was {channel}",
        next.info().channel
    );
    let local = lab.place_of_all(&next)?;
    let mut page = Page::new(&next)?;
    // The region that was cached last is evicted last.
    for address in addresses.iter().rev().take(8) {
        for direction in [Direction::ToFpga, Direction::FromFpga] {
            let end = page.run(direction, *address, local, 64)?;
            ensure!(
                end == Err(Fault::AttInvalid),
                "{direction} of regions that the channel's earlier owner had cached: {end:?}"
            );
        }
    }
    other.join().map_err(|_| anyhow!("the other panicked"))??;
    let mut bytes = vec![0; PAGES * PAGE];
    memory.read(0, &mut bytes)?;
    ensure!(
        bytes.iter().all(|byte| *byte == 0x5a),
        "the memory was written"
    );
    Ok(early)
}

/// A context closes while its cached regions are evicted for another context. Checks that the next owner of its channel
/// cannot reach these regions.
pub(super) fn of_a_channel(lab: &mut Lab) -> Result<&'static str> {
    let branch = lab.branch();
    // The process is a new one, which may have a second thread.
    let child = fork("of_a_channel", move || {
        let mut early = 0;
        for _ in 0..4 {
            early += u32::from(round(&branch)?);
        }
        println!("memory.kept_of_a_channel: {early} of 4 rounds in time");
        ensure!(
            early > 0,
            "the regions had gone before the channel each time"
        );
        Ok(())
    })?;
    child.wait()?;
    Ok("")
}
