//! A transaction layer of our own on the Stratix V hard IP's Avalon-ST interface, connected to the engine's tagged
//! streams ([`crate::rtl::stream`]).
//!
//! Posted writes: [`posts`] → [`transmit`]. Reads: [`asks`] → [`transmit`]; their answers: [`completions`]. [`credits`]
//! counts the packets that the other end accepts, [`config`] follows the configuration by software, [`tally`] counts
//! errors. [`layer`] joins them.
//!
//! The host's requests to the board (its BARs): [`target`], and [`bridge`] to the block's own slaves.
//!
//! In a build with [`crate::Port::Tlp`] it is a part of the block. [`restart`] is a separate module next to it on a
//! board.

pub mod asks;
pub mod bridge;
pub mod completions;
pub mod config;
pub mod credits;
pub mod layer;
pub mod posts;
pub mod restart;
pub mod tally;
pub mod target;
pub mod transmit;
pub mod words;

use crate::error::GenerateError;
use crate::params::ParamError;
use layer::Layer;
use peerlane_language::*;
use peerlane_verilog::{Design, emit};
use target::Reach;

/// Name of the top module.
pub const TOP: &str = "peerlane_pcie";

/// Name of the module that makes the application's reset.
pub const RESTART: &str = "peerlane_restart";

/// Returns the exponent for a clock in MHz (125 or 250): a read without completions is given up after 64 to 128 times
/// `2^exponent` cycles, 17 to 34 ms. The PCI Express Base Specification 2.1, section 2.8, wants 50 µs to 50 ms, and
/// advises 10 ms at least.
pub fn patience_log2(clock_mhz: u32) -> usize {
    match clock_mhz {
        125 => 15,
        _ => 16,
    }
}

/// The exponent in a simulation that defines [`IMPATIENT`](crate::prim::IMPATIENT).
pub const IMPATIENCE_LOG2: usize = 8;

/// Cycles after which the board's bus is given up in such a simulation.
pub const BUS_IMPATIENCE: u64 = 512;

/// The transaction layer as Verilog-2005, of `bits` bits: 128 (Gen2 x8) or 256 (Gen3 x8). Reads are given up after
/// 64 to 128 times `2^patience_log2` cycles; the host reaches BAR 0.
///
/// # Errors
/// When there is no such width.
pub fn generate(bits: u32, patience_log2: usize) -> Result<Design, GenerateError> {
    generate_reaching(bits, patience_log2, Reach::default())
}

/// The same for a board of which the host reaches so much.
///
/// # Errors
/// When there is no such width.
pub fn generate_reaching(
    bits: u32,
    patience_log2: usize,
    reach: Reach,
) -> Result<Design, GenerateError> {
    let header = format!(
        "Peerlane's PCIe transaction layer, {bits} bits. Generated; edit the generator, not this file.\n\
         SPDX-License-Identifier: MIT OR Apache-2.0"
    );
    layer(bits, patience_log2, reach, &header)
}

/// The application's reset ([`restart`]), with this at the head of each file.
pub(crate) fn restart(header: &str) -> Result<Design, GenerateError> {
    let mut restart = restart::Restart::default();
    restart.connect_all();
    Ok(emit(RESTART, &restart, header)?)
}

/// The transaction layer, with this at the head of each file.
pub(crate) fn layer(
    bits: u32,
    patience_log2: usize,
    reach: Reach,
    header: &str,
) -> Result<Design, GenerateError> {
    match bits {
        128 => one::<128, 16, 130>(patience_log2, reach, header),
        256 => one::<256, 32, 258>(patience_log2, reach, header),
        _ => Err(ParamError {
            name: "bits",
            value: bits,
            allowed: "128 or 256",
        }
        .into()),
    }
}

fn one<const W: usize, const B: usize, const E: usize>(
    patience_log2: usize,
    reach: Reach,
    header: &str,
) -> Result<Design, GenerateError> {
    let mut layer = Layer::<W, B, E>::reaching(patience_log2, reach);
    layer.connect_all();
    Ok(emit(TOP, &layer, header)?)
}

#[cfg(test)]
mod tests {
    use super::patience_log2;

    /// PCI Express Base Specification 2.1, section 2.8: 50 ms at most, 10 ms at least if it can be.
    #[test]
    fn reads_are_given_up_in_time_at_either_clock() {
        for mhz in [125, 250] {
            let unit = 1u64 << patience_log2(mhz);
            let micros = |times: u64| times * unit / u64::from(mhz);
            assert!(micros(64) >= 10_000, "{mhz} MHz: {} µs", micros(64));
            assert!(micros(128) <= 50_000, "{mhz} MHz: {} µs", micros(128));
        }
    }
}
