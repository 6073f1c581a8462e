//! All channels of a board at once: each has a vector of its own.

use crate::lab::{Buffer, LIMIT, Lab, same, told};
use crate::suite::Suite;
use anyhow::{Result, ensure};
use peerlane_guest::pattern;
use peerlane_host::{Device, Direction, Error, Terms};
use rand::Rng;
use rustix::io::Errno;

/// Bytes that each moves.
const LENGTH: u64 = 4096;

/// Runs them.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("channels.all_at_once", || all_at_once(lab));
}

/// Interrupts so far of each of the driver's vectors.
fn by_vector() -> Result<Vec<u64>> {
    let text = std::fs::read_to_string("/proc/interrupts")?;
    let ours = text.lines().filter(|line| line.contains("peerlane"));
    let counts = ours.map(|line| {
        let words = line.split_whitespace().skip(1);
        words
            .map_while(|word| word.parse::<u64>().ok())
            .sum::<u64>()
    });
    Ok(counts.collect())
}

/// As many contexts as there are channels move data together, and each is woken by its own vector.
fn all_at_once(lab: &mut Lab) -> Result<String> {
    let mut users = Vec::new();
    let refused = loop {
        match lab.open() {
            Ok(device) => users.push(device),
            Err(error) => break error,
        }
    };
    let source = match refused.downcast_ref::<Error>() {
        Some(Error::Open { source, .. }) => *source,
        _ => return Err(refused),
    };
    ensure!(source == Errno::BUSY, "one more: {refused:#}");
    let count = users[0].capabilities().channels as usize;
    ensure!(users.len() == count, "{} of {count} channels", users.len());
    let before = by_vector()?;
    ensure!(before.len() == count + 2, "{} vectors", before.len());
    let mut seeds = Vec::new();
    let mut buffers = Vec::new();
    for device in &users {
        let seed = lab.rng.random();
        let place = lab.place_of(device, LENGTH)?;
        lab.host.fpga_write(place, seed, LENGTH)?;
        seeds.push(seed);
        buffers.push((place, Buffer::new(device, LENGTH as usize)?));
    }
    let begin = |(device, (place, buffer)): (&Device, &(u64, Buffer))| {
        let part = buffer.region.part(0..LENGTH);
        device
            .submit(Direction::FromFpga, part, *place, Terms::default())
            .map_err(told)
    };
    let moves = users.iter().zip(&buffers).map(begin);
    let moves = moves.collect::<Result<Vec<_>>>()?;
    for moved in moves {
        let moved = moved.wait(Some(LIMIT)).map_err(told)?;
        ensure!(moved == LENGTH, "{moved} bytes of {LENGTH}");
    }
    for (seed, (_, buffer)) in seeds.into_iter().zip(&buffers) {
        let (mut expected, mut found) = (vec![0; LENGTH as usize], vec![0; LENGTH as usize]);
        pattern(seed, &mut expected);
        buffer.memory.read(0, &mut found)?;
        same(&expected, &found, 0)?;
    }
    let after = by_vector()?;
    let woken = after.iter().zip(&before).skip(2).filter(|(a, b)| a > b);
    let woken = woken.count();
    ensure!(
        woken == count,
        "{woken} of {count} vectors have interrupted: {before:?}, {after:?}"
    );
    Ok(format!("{count} channels"))
}
