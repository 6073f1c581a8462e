//! A board's description, a TOML file: every key has its meaning in `boards/de5net.toml`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

use crate::board::bank::BankFile;
use crate::board::model::{Board, Device, FAMILY, Pcie, Shell};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::system::part::Part;
use peerlane_bsp_generate::toml_values::Source;
use peerlane_bsp_generate::toml_words::words;

/// The word that a description has in place of a value that its author does not know.
const UNKNOWN: &str = "unknown";
/// Kinds of links that the hard IP has with an Avalon-MM port of 128 bits, as generation and lanes (Stratix V Avalon-MM
/// user guide 683411, "System Settings": the HIP modes). Gen3 is left out: its equalisation needs a driver for the
/// calibration, which the templates do not have.
const LINKS: [(i64, i64); 3] = [(1, 8), (2, 4), (2, 8)];
/// Bits of address that a BAR may have here: the fixed part of the map has 128 KiB, the block the rest.
const BAR_BITS: std::ops::RangeInclusive<u32> = 17..=31;

/// A value, or the word for an unknown value.
#[derive(Debug)]
pub(super) enum Known<T> {
    Value(T),
    Unknown,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Known<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == UNKNOWN => Ok(Self::Unknown),
            value => T::deserialize(value)
                .map(Self::Value)
                .map_err(|e| D::Error::custom(e.message())),
        }
    }
}

pub(super) type Key<T> = Spanned<Known<T>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    name: Key<String>,
    title: Key<String>,
    pins: Option<Key<String>>,
    device: DeviceFile,
    shell: ShellFile,
    pcie: Spanned<PcieFile>,
    clocks: ClocksFile,
    pub(super) memory: Vec<Spanned<BankFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceFile {
    family: Key<String>,
    part: Key<String>,
    speed_grade: Key<String>,
    model: Key<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellFile {
    alms: Key<i64>,
    ffs: Key<i64>,
    dsps: Key<i64>,
    rams: Key<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PcieFile {
    generation: Key<i64>,
    lanes: Key<i64>,
    port_bits: Key<i64>,
    bar_bytes: Option<Key<i64>>,
    vendor: Key<i64>,
    device: Key<i64>,
    subsystem_vendor: Key<i64>,
    reference_hz: Key<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClocksFile {
    board_hz: Key<i64>,
    kernel_hz: Key<i64>,
}

impl Board {
    /// Checks the text of a description; `path` is its name in errors.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line and the key.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let source = Source { path, text };
        let reader = Reader { source };
        reader.all_known()?;
        let file: File = toml::from_str(text).map_err(|e| {
            let place = e.span().map(|span| source.place(span));
            let (what, meant) = words(e.message(), text, e.span());
            let meant = meant.map_or(String::new(), |meant| format!("{meant} "));
            Error::new(
                ErrorKind::Config,
                place.unwrap_or_else(|| Place::file(path)),
                what,
                format!("{meant}`peerlane new --show de5net` prints a description with every key explained."),
            )
        })?;
        let pcie = file.pcie.get_ref();
        let mut board = Self {
            name: reader.name("name", &file.name)?,
            title: reader.words("title", &file.title)?,
            device: reader.device(&file.device)?,
            shell: reader.shell(&file.shell)?,
            pcie: reader.pcie(pcie)?,
            board_hz: reader.clock("clocks.board_hz", &file.clocks.board_hz)?,
            kernel_hz: reader.clock("clocks.kernel_hz", &file.clocks.kernel_hz)?,
            memory: Vec::new(),
            pins: None,
            pins_place: Place::file(path),
            bar_place: source.place(
                pcie.bar_bytes
                    .as_ref()
                    .map_or_else(|| file.pcie.span(), |bar_bytes| bar_bytes.span()),
            ),
        };
        if !board.kernel_hz.is_multiple_of(1_000_000) {
            return Err(reader.error(
                file.clocks.kernel_hz.span(),
                format!(
                    "clocks.kernel_hz = {}: not a whole number of MHz",
                    board.kernel_hz
                ),
                "Give another oscillator: acl_kernel_clk accepts whole MHz only (REF_CLK_RATE).",
            ));
        }
        board.memory = reader.memory(&file)?;
        if let Some(pins) = &file.pins {
            board.pins = Some(reader.words("pins", pins)?.into());
            board.pins_place = source.place(pins.span());
        }
        Ok(board)
    }
}

/// The place of a key in a TOML file, found from the headers of its tables.
#[derive(Debug, Default)]
struct Tables {
    /// The table, followed by a dot; empty before the first.
    table: String,
    /// Number of elements of each array so far.
    arrays: BTreeMap<String, usize>,
}

impl Tables {
    /// Reads `[a]`, `[[a]]`, or `[a.b]` in an element of the array a.
    fn enter(&mut self, head: &str) {
        let name = head.trim_matches(['[', ']']).trim();
        if head.starts_with("[[") {
            *self.arrays.entry(name.into()).or_default() += 1;
        }
        let mut parts = name.splitn(2, '.');
        let first = parts.next().unwrap_or_default();
        let index = self
            .arrays
            .get(first)
            .map(|count| format!("[{}]", count - 1));
        let rest = parts.next().map(|rest| format!("{rest}."));
        self.table = format!(
            "{first}{}.{}",
            index.unwrap_or_default(),
            rest.unwrap_or_default()
        );
    }

    /// Returns the full name of a key of the table: `memory[1].format`.
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.table)
    }
}

pub(super) struct Reader<'a> {
    pub(super) source: Source<'a>,
}

impl Reader<'_> {
    pub(super) fn error(&self, span: Range<usize>, what: String, hint: &str) -> Error {
        self.source.error(span, what, hint)
    }

    /// Refuses a description with unknown values, and names all of them.
    fn all_known(&self) -> Result<()> {
        let mut tables = Tables::default();
        let mut gaps = Vec::new();
        for (number, line) in (1..).zip(self.source.text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.starts_with('[') {
                tables.enter(line);
            } else if let Some((key, value)) = line.split_once('=')
                && value.trim() == "\"unknown\""
                && !key.contains('"')
            {
                gaps.push((number, tables.key(key.trim())));
            }
        }
        let Some((line, key)) = gaps.first() else {
            return Ok(());
        };
        let what = match gaps.len() {
            1 => format!("{key} is unknown: it is in no public source"),
            all => format!("{all} values are unknown, {key} first: they are in no public source"),
        };
        Err(Error::new(
            ErrorKind::Config,
            Place::line(self.source.path, *line),
            format!("{what}, and a guess could damage the board"),
            "Ask the board's vendor. Put the values into a copy of the description (`peerlane new --show NAME` prints \
             it), and name the copy with --board.",
        )
        .with_details(gaps.iter().map(|(line, key)| format!("line {line}: {key}"))))
    }

    pub(super) fn value<'v, T>(&self, key: &str, value: &'v Key<T>) -> Result<&'v T> {
        match value.get_ref() {
            Known::Value(known) => Ok(known),
            // A value that `all_known` cannot see: quoted in another way, or in an inline table.
            Known::Unknown => Err(self.error(
                value.span(),
                format!("{key} is unknown"),
                "Ask the board's vendor, and give a description with the value.",
            )),
        }
    }

    pub(super) fn number<T: TryFrom<i64>>(
        &self,
        key: &str,
        value: &Key<i64>,
        good: impl Fn(i64) -> bool,
        hint: &str,
    ) -> Result<T> {
        let number = *self.value(key, value)?;
        self.source.number(key, (number, value.span()), good, hint)
    }

    fn words(&self, key: &str, value: &Key<String>) -> Result<String> {
        let words = self.value(key, value)?;
        if words.is_empty() || words.len() > 200 || words.chars().any(char::is_control) {
            return Err(self.error(
                value.span(),
                format!("{key} = {words:?} is not possible"),
                "Give up to 200 characters on one line.",
            ));
        }
        Ok(words.clone())
    }

    /// Reads a name that Tcl, Verilog, Platform Designer and `aoc` all accept.
    pub(super) fn name(&self, key: &str, value: &Key<String>) -> Result<String> {
        let name = self.value(key, value)?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || !name.chars().all(plain) || name.len() > 40 {
            return Err(self.error(
                value.span(),
                format!("{key} = {name:?} is not a valid name"),
                "Use small letters, digits and \"_\": 40 characters at most, a letter first.",
            ));
        }
        Ok(name.clone())
    }

    /// Reads the frequency of a clock from an oscillator of the board.
    pub(super) fn clock(&self, key: &str, value: &Key<i64>) -> Result<u64> {
        self.number(
            key,
            value,
            |hz| (1_000_000..=800_000_000).contains(&hz),
            "Write the clock in Hz, from 1 MHz to 800 MHz.",
        )
    }

    fn device(&self, file: &DeviceFile) -> Result<Device> {
        let family = self.value("device.family", &file.family)?;
        if family != FAMILY {
            return Err(self.error(
                file.family.span(),
                format!("device.family = {family:?}: boards are made for {FAMILY} only"),
                "Use `peerlane extend` with the vendor's BSP.",
            ));
        }
        let number = self.value("device.part", &file.part)?;
        let part = Part::parse(number).map_err(|what| {
            self.error(
                file.part.span(),
                format!(
                    "device.part = {number:?} is not a device of {FAMILY} with a PCIe hard IP: {what}"
                ),
                "Use the part number as Quartus spells it, such as 5SGXEA7N2F45C2.",
            )
        })?;
        let grade = self.value("device.speed_grade", &file.speed_grade)?;
        let should = part.speed_grade();
        if *grade != should {
            return Err(self.error(
                file.speed_grade.span(),
                format!("device.speed_grade = {grade:?}, but device.part = {number:?} is one of {should:?}"),
                "Correct the wrong value: the part number has the transceivers' grade before the package and the \
                 fabric's grade after it.",
            ));
        }
        let model = self.words("device.model", &file.model)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !model
            .strip_suffix("_dm.xml")
            .is_some_and(|m| m.chars().all(plain))
        {
            return Err(self.error(
                file.model.span(),
                format!("device.model = {model:?} is not the name of a device model"),
                "Use the name of a file in share/models/dm of the OpenCL SDK, such as 5sgxea7n2f45c2_dm.xml.",
            ));
        }
        Ok(Device {
            part: number.clone(),
            speed_grade: should,
            core_grade: part.core,
            model,
        })
    }

    fn shell(&self, file: &ShellFile) -> Result<Shell> {
        let count = |key: &str, value| {
            let good = |count| (0..=10_000_000).contains(&count);
            self.number(
                key,
                value,
                good,
                "Use the number that a compile of the board without kernels reports.",
            )
        };
        Ok(Shell {
            alms: count("shell.alms", &file.alms)?,
            ffs: count("shell.ffs", &file.ffs)?,
            dsps: count("shell.dsps", &file.dsps)?,
            rams: count("shell.rams", &file.rams)?,
        })
    }

    fn pcie(&self, file: &PcieFile) -> Result<Pcie> {
        let (generation, lanes) = (
            *self.value("pcie.generation", &file.generation)?,
            *self.value("pcie.lanes", &file.lanes)?,
        );
        if !LINKS.contains(&(generation, lanes)) {
            return Err(self.error(
                file.generation.span(),
                format!("pcie.generation = {generation} with pcie.lanes = {lanes} is not possible"),
                "Use Gen1 x8, Gen2 x4 or Gen2 x8: the hard IP has these with a port of 128 bits. For Gen3, set `gen = \
                 3` and kind = \"tlp\" in [port] of --config.",
            ));
        }
        self.number::<u32>(
            "pcie.port_bits",
            &file.port_bits,
            |bits| bits == 128,
            "Use 128: the hard IP's other ports, of 64 and 256 bits, are not supported here.",
        )?;
        let bar_bits = match &file.bar_bytes {
            None => None,
            Some(value) => {
                let bytes: u64 = self.number(
                    "pcie.bar_bytes",
                    value,
                    |bytes| {
                        let bits = u64::try_from(bytes).unwrap_or(0).checked_ilog2();
                        bytes.count_ones() == 1 && bits.is_some_and(|bits| BAR_BITS.contains(&bits))
                    },
                    "Use a power of two from 128 KiB (0x20000) to 2 GiB, or leave the key out to get the smallest BAR \
                     that the block fits into.",
                )?;
                Some(bytes.ilog2())
            }
        };
        // All zeros and all ones are not IDs (PCI Local Bus Specification 3.0, 6.2.1 and 6.2.4).
        let id = |key: &str, value| {
            self.number(
                key,
                value,
                |id| (1..0xffff).contains(&id),
                "Use an ID from 1 to 0xfffe.",
            )
        };
        Ok(Pcie {
            generation: u32::try_from(generation).expect("one of LINKS"),
            lanes: u32::try_from(lanes).expect("one of LINKS"),
            bar_bits,
            vendor: id("pcie.vendor", &file.vendor)?,
            device: id("pcie.device", &file.device)?,
            subsystem_vendor: id("pcie.subsystem_vendor", &file.subsystem_vendor)?,
            reference_hz: self.number(
                "pcie.reference_hz",
                &file.reference_hz,
                |hz| hz == 100_000_000 || hz == 125_000_000,
                "Use 100000000 or 125000000: the hard IP accepts no other clock.",
            )?,
        })
    }
}
