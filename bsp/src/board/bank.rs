//! The banks of memory in a board's description.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::board::file::Reader;
use crate::board::model::Bank;
use crate::error::Result;
use peerlane_bsp_generate::toml_values::{Table, float, integer};

/// Parameters for which UniPHY would silently take another memory's values if they were not given: mode registers,
/// timing of the chip and of the board (External Memory Interface Handbook, volume 2, 683385, 7.2).
pub(crate) const UNIPHY_NEEDED: [&str; 37] = [
    "MEM_CLK_FREQ_MAX",
    "MEM_TCL",
    "MEM_WTCL",
    "MEM_DRV_STR",
    "MEM_RTT_NOM",
    "MEM_RTT_WR",
    "MEM_TINIT_US",
    "MEM_TMRD_CK",
    "MEM_TRAS_NS",
    "MEM_TRCD_NS",
    "MEM_TRP_NS",
    "MEM_TREFI_US",
    "MEM_TRFC_NS",
    "MEM_TWR_NS",
    "MEM_TWTR",
    "MEM_TFAW_NS",
    "MEM_TRRD_NS",
    "MEM_TRTP_NS",
    "TIMING_TIS",
    "TIMING_TIH",
    "TIMING_TDS",
    "TIMING_TDH",
    "TIMING_TDQSQ",
    "TIMING_TQH",
    "TIMING_TDQSCK",
    "TIMING_TDQSS",
    "TIMING_TQSH",
    "TIMING_TDSH",
    "TIMING_TDSS",
    "TIMING_BOARD_MAX_CK_DELAY",
    "TIMING_BOARD_MAX_DQS_DELAY",
    "TIMING_BOARD_SKEW_WITHIN_DQS",
    "TIMING_BOARD_SKEW_BETWEEN_DQS",
    "TIMING_BOARD_DQ_TO_DQS_SKEW",
    "TIMING_BOARD_AC_SKEW",
    "TIMING_BOARD_AC_TO_CK_SKEW",
    "TIMING_BOARD_SKEW_BETWEEN_DIMMS",
];

/// Parameters of UniPHY that a description may give but need not give.
const FREE: [&str; 6] = [
    "MEM_VENDOR",
    "MEM_ASR",
    "MEM_SRT",
    "MEM_PD",
    "MEM_ATCL",
    "MEM_VOLTAGE",
];

/// Returns the banks of a description.
pub(super) fn memory(file: Table<'_>) -> Result<Vec<Bank>> {
    let all = file.get("memory").and_then(|all| all.get_ref().as_array());
    let all: Vec<_> = all.into_iter().flatten().collect();
    let mut banks: Vec<Bank> = Vec::new();
    for &value in &all {
        let table = Table {
            name: "memory.",
            value,
            ..file
        };
        let bank = Reader(table).bank()?;
        if banks.iter().any(|other| other.name == bank.name) {
            return Err(table.error(
                "memory.name",
                format!("the bank {:?} is described twice", bank.name),
                "Give each bank its own name, or remove one of the two.",
            ));
        }
        if let Some(first) = banks.first()
            && (first.bytes, first.width) != (bank.bytes, bank.width)
        {
            return Err(table.error(
                    "memory.bytes",
                    format!("the bank {:?} differs in size or width from {:?}", bank.name, first.name),
                    "acl_memory_bank_divider splits memory into equal banks: describe banks of one kind only.",
                ));
        }
        banks.push(bank);
    }
    if !matches!(banks.len(), 1 | 2 | 4) {
        let last = all.last().map_or(0..0, |last| last.span());
        return Err(file.source.error(
            last,
            format!("{} banks of memory ([[memory]])", banks.len()),
            "Describe 1, 2 or 4 banks: acl_memory_bank_divider splits memory by address bits.",
        ));
    }
    Ok(banks)
}

impl Reader<'_> {
    fn bank(self) -> Result<Bank> {
        let name = self.name("memory.name")?;
        if !name.starts_with("ddr") || name.len() > 16 {
            return Err(self.0.error(
                "memory.name",
                format!("memory.name = {name:?} is not possible"),
                "Begin the name with \"ddr\", so that no other instance has it. Use 16 characters at most.",
            ));
        }
        let kind = self.word("memory.kind")?;
        if kind != "ddr3" {
            return Err(self.0.error(
                "memory.kind",
                format!("memory.kind = {kind:?} is not possible"),
                "Use \"ddr3\": the controller is UniPHY for DDR3. Leave other memories out.",
            ));
        }
        let format = match self.word("memory.format")? {
            "unbuffered" => "UNBUFFERED",
            "discrete" => "DISCRETE",
            other => {
                return Err(self.0.error(
                    "memory.format",
                    format!("memory.format = {other:?} is not possible"),
                    "Use \"unbuffered\" for a DIMM without registers, \"discrete\" for chips on the board.",
                ));
            }
        };
        let number = |key: &str, range: std::ops::RangeInclusive<i64>| {
            let hint = format!("Use a number from {} to {}.", range.start(), range.end());
            self.number::<u32>(key, |v| range.contains(&v), &hint)
        };
        let bank = Bank {
            name,
            format,
            bytes: self.number(
                "memory.bytes",
                |bytes| bytes.count_ones() == 1 && (1 << 26..=1 << 36).contains(&bytes),
                "Use a power of two from 64 MiB to 64 GiB.",
            )?,
            width: self.number(
                "memory.width",
                |bits| bits == 64,
                "Use 64, a power of two; pins for ECC are not driven, and with another width the memory port would not \
                 have the 512 bits that `aoc` and the block need.",
            )?,
            clock_hz: self.number(
                "memory.clock_hz",
                // The slowest with the DLL on: tCK(avg) of 3.3 ns at most, of the speed bins of JESD79-3F as chips'
                // data sheets quote them. The fastest of a Stratix V: 933 MHz (Stratix V device handbook, volume 1,
                // chapter 7; not at hand, unverified).
                |hz| (303_000_000..=933_500_000).contains(&hz),
                "Write the clock in Hz, from 303 MHz to 933 MHz: half of the transfers in a second.",
            )?,
            reference_hz: self.clock("memory.reference_hz")?,
            row_bits: number("memory.row_bits", 12..=16)?,
            column_bits: number("memory.column_bits", 10..=12)?,
            bank_bits: number("memory.bank_bits", 3..=3)?,
            ranks: number("memory.ranks", 1..=2)?,
            clock_pairs: number("memory.clock_pairs", 1..=4)?,
            uniphy: self.uniphy()?,
        };
        let bits = bank.row_bits + bank.column_bits + bank.bank_bits;
        let holds = (u64::from(bank.width / 8) << bits) * u64::from(bank.ranks);
        if holds != bank.bytes {
            return Err(self.0.error(
                "memory.bytes",
                format!(
                    "memory.bytes = {:#x}, but rows, columns, banks, ranks and width make {holds:#x}",
                    bank.bytes
                ),
                "Correct the wrong value: bytes = 2^(row_bits + column_bits + bank_bits) x width/8 x ranks.",
            ));
        }
        Ok(bank)
    }

    /// Returns further parameters of the controller, sorted.
    fn uniphy(self) -> Result<Vec<(String, String)>> {
        let given = self.0.get("memory.uniphy");
        let given: BTreeMap<&str, _> = (given
            .and_then(|given| given.get_ref().as_table())
            .into_iter())
        .flatten()
        .map(|(name, value)| (name.get_ref().as_ref(), value))
        .collect();
        let missing: Vec<_> = (UNIPHY_NEEDED.iter().copied())
            .filter(|name| !given.contains_key(name))
            .collect();
        if !missing.is_empty() {
            return Err(self.0.source.error(
                self.0.value.span(),
                format!("[memory.uniphy] lacks {}", missing.join(", ")),
                "Take these values from the memory's data sheet and from a simulation of the board's traces. UniPHY \
                 would silently use the values of another memory.",
            ));
        }
        let mut found = Vec::new();
        for (name, value) in given {
            let wrong = |what: &str, hint: &str| {
                let what = format!("memory.uniphy.{name} {what}");
                self.0.source.error(value.span(), what, hint)
            };
            let known = name.starts_with("MEM_T") || UNIPHY_NEEDED.contains(&name);
            let known = known || name.starts_with("TIMING_") || FREE.contains(&name);
            if !known {
                return Err(wrong(
                    "is a parameter that follows from other keys, or is not known",
                    "Give timing parameters (MEM_T..., TIMING_...) and those that `peerlane new --show de5net` prints.",
                ));
            }
            let (whole, real) = (integer(value), float(value).filter(|n| n.is_finite()));
            let text = match value.get_ref() {
                DeValue::Boolean(yes) => Some(yes.to_string()),
                DeValue::String(text) if !text.chars().any(char::is_control) => {
                    Some(text.to_string())
                }
                _ => whole
                    .map(|n| n.to_string())
                    .or(real.map(|n| format!("{n:?}"))),
            };
            let text = text.ok_or_else(|| {
                wrong("is neither a number nor a text", "Give a number or a text.")
            })?;
            found.push((name.to_string(), text));
        }
        Ok(found)
    }
}
