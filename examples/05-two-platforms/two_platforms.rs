//! 05: two OpenCL platforms. A buffer of one device goes to a device of another platform and back, through the host's
//! memory with both devices at work, and then with one after the other.
//!
//! ```text
//! cargo run -p peerlane-routes --example two_platforms
//! ```
//!
//! Any two devices will do: a GPU and an FPGA, or two of PoCL's. Where one is a board of Peerlane's,
//! `04-inference-feed` and `02-appendix-a` have the direct ways.

use anyhow::{Result, bail, ensure};
use peerlane_routes::opencl::devices;
use peerlane_routes::{Copy, Error, Limits, Pair, Route, STAGING};
use std::sync::Arc;
use std::time::{Duration, Instant};

const BYTES: u64 = 16 << 20;

/// Runs the example.
pub fn run() -> Result<()> {
    let mut found = devices()?.into_iter();
    let (Some(one), Some(other)) = (found.next(), found.last()) else {
        bail!("this example needs two OpenCL devices: `clinfo -l` lists the devices");
    };
    let (here, there) = (one.memory(BYTES)?, other.memory(BYTES)?);
    let pair = Pair::new(Arc::new(here.clone()), Arc::new(there.clone()), STAGING);
    println!("{} and {}", one.name(), other.name());

    for route in [Route::Concurrent, Route::Sequential] {
        for (from, source, target) in [(0, &here, &there), (1, &there, &here)] {
            let data: Vec<u8> = (0..BYTES)
                .map(|i| (i * 7 + i / 4096 + from) as u8)
                .collect();
            source.write(0, &data)?;
            // The speed of the engines' copies is measured once, before the time is taken.
            pair.chunk(from as usize, BYTES)?;
            let begin = Instant::now();
            let copy = Copy {
                from: from as usize,
                at: 0,
                to: 0,
                length: BYTES,
                route,
                // The chunk length that the measurement gave.
                chunk: None,
            };
            pair.copy(&copy, &Limits::within(Duration::from_secs(10)))?;
            let rate = BYTES as f64 / begin.elapsed().as_secs_f64() / 1e6;
            let mut arrived = vec![0; BYTES as usize];
            target.read(0, &mut arrived)?;
            ensure!(arrived == data, "other bytes arrived");
            let way = ["to the second", "to the first"][from as usize];
            println!("{} MiB {way}, {route}: {rate:.0} MB/s", BYTES >> 20);
        }
    }
    Ok(())
}

#[allow(dead_code, reason = "a test runs the example with PoCL")]
fn main() -> Result<()> {
    run().map_err(with_hint)
}

/// Adds the library's hint in front of an error: the text of the error does not include it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().map(Error::hint) {
        Some(hint) => error.context(hint),
        None => error,
    }
}
