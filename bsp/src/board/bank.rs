//! The banks of memory in a board's description.

use serde::Deserialize;
use toml::{Spanned, Value};

use crate::board::file::{File, Key, Reader};
use crate::board::model::Bank;
use crate::error::Result;

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BankFile {
    name: Key<String>,
    kind: Key<String>,
    format: Key<String>,
    bytes: Key<i64>,
    width: Key<i64>,
    clock_hz: Key<i64>,
    reference_hz: Key<i64>,
    row_bits: Key<i64>,
    column_bits: Key<i64>,
    bank_bits: Key<i64>,
    ranks: Key<i64>,
    clock_pairs: Key<i64>,
    uniphy: toml::map::Map<String, Value>,
}

impl Reader<'_> {
    /// Returns the banks.
    pub(super) fn memory(&self, file: &File) -> Result<Vec<Bank>> {
        let mut banks: Vec<Bank> = Vec::new();
        for entry in &file.memory {
            let value = entry.get_ref();
            let bank = self.bank(entry)?;
            if banks.iter().any(|other| other.name == bank.name) {
                return Err(self.error(
                    value.name.span(),
                    format!("the bank {:?} is described twice", bank.name),
                    "Give each bank its own name, or remove one of the two.",
                ));
            }
            if let Some(first) = banks.first()
                && (first.bytes, first.width) != (bank.bytes, bank.width)
            {
                return Err(self.error(
                    value.bytes.span(),
                    format!("the bank {:?} differs in size or width from {:?}", bank.name, first.name),
                    "acl_memory_bank_divider splits memory into equal banks: describe banks of one kind only.",
                ));
            }
            banks.push(bank);
        }
        if !matches!(banks.len(), 1 | 2 | 4) {
            let last = file.memory.last().map_or(0..0, Spanned::span);
            return Err(self.error(
                last,
                format!("{} banks of memory ([[memory]])", banks.len()),
                "Describe 1, 2 or 4 banks: acl_memory_bank_divider splits memory by address bits.",
            ));
        }
        Ok(banks)
    }

    fn bank(&self, entry: &Spanned<BankFile>) -> Result<Bank> {
        let file = entry.get_ref();
        let name = self.name("memory.name", &file.name)?;
        if !name.starts_with("ddr") || name.len() > 16 {
            return Err(self.error(
                file.name.span(),
                format!("memory.name = {name:?} is not possible"),
                "Begin the name with \"ddr\", so that no other instance has it. Use 16 characters at most.",
            ));
        }
        let kind = self.value("memory.kind", &file.kind)?;
        if kind != "ddr3" {
            return Err(self.error(
                file.kind.span(),
                format!("memory.kind = {kind:?} is not possible"),
                "Use \"ddr3\": the controller is UniPHY for DDR3. Leave other memories out.",
            ));
        }
        let format = match self.value("memory.format", &file.format)?.as_str() {
            "unbuffered" => "UNBUFFERED",
            "discrete" => "DISCRETE",
            other => {
                return Err(self.error(
                    file.format.span(),
                    format!("memory.format = {other:?} is not possible"),
                    "Use \"unbuffered\" for a DIMM without registers, \"discrete\" for chips on the board.",
                ));
            }
        };
        let number = |key: &str, value, range: std::ops::RangeInclusive<i64>| {
            let hint = format!("Use a number from {} to {}.", range.start(), range.end());
            self.number::<u32>(key, value, |v| range.contains(&v), &hint)
        };
        let bank = Bank {
            name,
            format,
            bytes: self.number(
                "memory.bytes",
                &file.bytes,
                |bytes| bytes.count_ones() == 1 && (1 << 26..=1 << 36).contains(&bytes),
                "Use a power of two from 64 MiB to 64 GiB.",
            )?,
            width: self.number(
                "memory.width",
                &file.width,
                |bits| bits == 64,
                "Use 64, a power of two; pins for ECC are not driven, and with another width the memory port would not \
                 have the 512 bits that `aoc` and the block need.",
            )?,
            clock_hz: self.number(
                "memory.clock_hz",
                &file.clock_hz,
                // The slowest with the DLL on: tCK(avg) of 3.3 ns at most, of the speed bins of JESD79-3F as chips'
                // data sheets quote them. The fastest of a Stratix V: 933 MHz (Stratix V device handbook, volume 1,
                // chapter 7; not at hand, unverified).
                |hz| (303_000_000..=933_500_000).contains(&hz),
                "Write the clock in Hz, from 303 MHz to 933 MHz: half of the transfers in a second.",
            )?,
            reference_hz: self.clock("memory.reference_hz", &file.reference_hz)?,
            row_bits: number("memory.row_bits", &file.row_bits, 12..=16)?,
            column_bits: number("memory.column_bits", &file.column_bits, 10..=12)?,
            bank_bits: number("memory.bank_bits", &file.bank_bits, 3..=3)?,
            ranks: number("memory.ranks", &file.ranks, 1..=2)?,
            clock_pairs: number("memory.clock_pairs", &file.clock_pairs, 1..=4)?,
            uniphy: self.uniphy(entry)?,
        };
        let bits = bank.row_bits + bank.column_bits + bank.bank_bits;
        let holds = (u64::from(bank.width / 8) << bits) * u64::from(bank.ranks);
        if holds != bank.bytes {
            return Err(self.error(
                file.bytes.span(),
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
    fn uniphy(&self, entry: &Spanned<BankFile>) -> Result<Vec<(String, String)>> {
        let given = &entry.get_ref().uniphy;
        let missing: Vec<_> = (UNIPHY_NEEDED.iter().copied())
            .filter(|name| !given.contains_key(*name))
            .collect();
        if !missing.is_empty() {
            return Err(self.error(
                entry.span(),
                format!("[memory.uniphy] lacks {}", missing.join(", ")),
                "Take these values from the memory's data sheet and from a simulation of the board's traces. UniPHY \
                 would silently use the values of another memory.",
            ));
        }
        let mut found = Vec::new();
        for (name, value) in given {
            let wrong = |what: &str, hint: &str| {
                let from = entry.span().start;
                let at = self.source.text[from..].find(name.as_str()).unwrap_or(0);
                self.error(
                    from + at..from + at,
                    format!("memory.uniphy.{name} {what}"),
                    hint,
                )
            };
            let known = name.starts_with("MEM_T") || UNIPHY_NEEDED.contains(&name.as_str());
            let known = known || name.starts_with("TIMING_") || FREE.contains(&name.as_str());
            if !known {
                return Err(wrong(
                    "is a parameter that follows from other keys, or is not known",
                    "Give timing parameters (MEM_T..., TIMING_...) and those that `peerlane new --show de5net` prints.",
                ));
            }
            let text = match value {
                Value::Integer(number) => number.to_string(),
                Value::Float(number) if number.is_finite() => format!("{number:?}"),
                Value::Boolean(yes) => yes.to_string(),
                Value::String(text) if !text.chars().any(char::is_control) => text.clone(),
                _ => {
                    return Err(wrong(
                        "is neither a number nor a text",
                        "Give a number or a text.",
                    ));
                }
            };
            found.push((name.clone(), text));
        }
        found.sort();
        Ok(found)
    }
}
