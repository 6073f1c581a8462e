//! A board's description, a TOML file: every key has its meaning in `boards/de5net.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::board::bank;
use crate::board::model::{Board, Device, FAMILY, Pcie, Shell};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::system::part::Part;
use peerlane_bsp_generate::toml_values::{Section, Source, Table, integer};

/// The word that a description has in place of a value that its author does not know.
const UNKNOWN: &str = "unknown";
/// Kinds of links that the hard IP has with an Avalon-MM port of 128 bits, as generation and lanes (Stratix V Avalon-MM
/// user guide 683411, "System Settings": the HIP modes). Gen3 is left out: its equalisation needs a driver for the
/// calibration, which the templates do not have.
const LINKS: [(i64, i64); 3] = [(1, 8), (2, 4), (2, 8)];
/// Bits of address that a BAR may have here: the fixed part of the map has 128 KiB, the block the rest.
const BAR_BITS: std::ops::RangeInclusive<u32> = 17..=31;

/// The keys of a description.
const SECTIONS: [Section; 7] = [
    Section::of("", "name title device shell pcie clocks memory", "pins"),
    Section::of("device", "family part speed_grade model", ""),
    Section::of("shell", "alms ffs dsps rams", ""),
    Section::of(
        "pcie",
        "generation lanes port_bits vendor device subsystem_vendor reference_hz",
        "bar_bytes",
    ),
    Section::of("clocks", "board_hz kernel_hz", ""),
    Section {
        is_list: true,
        ..Section::of(
            "memory",
            "name kind format bytes width clock_hz reference_hz row_bits column_bits bank_bits ranks clock_pairs \
             uniphy",
            "",
        )
    },
    Section {
        optional: None,
        ..Section::of("memory.uniphy", "", "")
    },
];

impl Board {
    /// Checks the text of a description; `path` is its name in errors.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line and the key.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let source = Source {
            path,
            text,
            sections: &SECTIONS,
            help: "`peerlane new --show de5net` prints a description with every key explained.",
        };
        all_known(source)?;
        let tree = source.tree()?;
        let file = source.table(&tree);
        let reader = Reader(file);
        let bar = match file.get("pcie.bar_bytes") {
            Some(_) => "pcie.bar_bytes",
            None => "pcie",
        };
        let mut board = Self {
            name: reader.name("name")?,
            title: reader.words("title")?,
            device: reader.device()?,
            shell: reader.shell()?,
            pcie: reader.pcie()?,
            board_hz: reader.clock("clocks.board_hz")?,
            kernel_hz: reader.clock("clocks.kernel_hz")?,
            memory: Vec::new(),
            pins: None,
            pins_place: Place::file(path),
            bar_place: source.place(file.span(bar)),
        };
        if !board.kernel_hz.is_multiple_of(1_000_000) {
            return Err(file.error(
                "clocks.kernel_hz",
                format!(
                    "clocks.kernel_hz = {}: not a whole number of MHz",
                    board.kernel_hz
                ),
                "Give another oscillator: acl_kernel_clk accepts whole MHz only (REF_CLK_RATE).",
            ));
        }
        board.memory = bank::memory(file)?;
        if let Some(pins) = file.get("pins") {
            board.pins = Some(reader.words("pins")?.into());
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

/// Refuses a description with unknown values, and names all of them.
fn all_known(source: Source<'_>) -> Result<()> {
    let mut tables = Tables::default();
    let mut gaps = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
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
        Place::line(source.path, *line),
        format!("{what}, and a guess could damage the board"),
        "Ask the board's vendor. Put the values into a copy of the description (`peerlane new --show NAME` prints \
         it), and name the copy with --board.",
    )
    .with_details(gaps.iter().map(|(line, key)| format!("line {line}: {key}"))))
}

/// A file, or a bank of memory in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) Table<'a>);

impl<'a> Reader<'a> {
    /// Refuses a value that `all_known` cannot see: quoted in another way, or in an inline table.
    fn known(self, key: &str) -> Result<()> {
        match self.0.get(key).and_then(|value| value.get_ref().as_str()) {
            Some(UNKNOWN) => Err(self.0.error(
                key,
                format!("{key} is unknown"),
                "Ask the board's vendor, and give a description with the value.",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the word of a key that the file has.
    pub(super) fn word(self, key: &str) -> Result<&'a str> {
        self.known(key)?;
        Ok(self.0.word(key)?.unwrap_or_default())
    }

    /// Returns the number of a key that the file has.
    fn integer(self, key: &str) -> Result<i64> {
        self.known(key)?;
        let number = self.0.get(key).and_then(integer);
        number.ok_or_else(|| self.0.mistyped(key, "a whole number"))
    }

    pub(super) fn number<T: TryFrom<i64>>(
        self,
        key: &str,
        good: impl Fn(i64) -> bool,
        hint: &str,
    ) -> Result<T> {
        self.integer(key)?;
        let number = self.0.number(key, good, hint)?;
        number.ok_or_else(|| self.0.impossible(key, hint))
    }

    fn words(self, key: &str) -> Result<String> {
        let words = self.word(key)?;
        if words.is_empty() || words.len() > 200 || words.chars().any(char::is_control) {
            return Err(self.0.error(
                key,
                format!("{key} = {words:?} is not possible"),
                "Give up to 200 characters on one line.",
            ));
        }
        Ok(words.into())
    }

    /// Reads a name that Tcl, Verilog, Platform Designer and `aoc` all accept.
    pub(super) fn name(self, key: &str) -> Result<String> {
        let name = self.word(key)?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || !name.chars().all(plain) || name.len() > 40 {
            return Err(self.0.error(
                key,
                format!("{key} = {name:?} is not a valid name"),
                "Use small letters, digits and \"_\": 40 characters at most, a letter first.",
            ));
        }
        Ok(name.into())
    }

    /// Reads the frequency of a clock from an oscillator of the board.
    pub(super) fn clock(self, key: &str) -> Result<u64> {
        self.number(
            key,
            |hz| (1_000_000..=800_000_000).contains(&hz),
            "Write the clock in Hz, from 1 MHz to 800 MHz.",
        )
    }

    fn device(self) -> Result<Device> {
        let family = self.word("device.family")?;
        if family != FAMILY {
            return Err(self.0.error(
                "device.family",
                format!("device.family = {family:?}: boards are made for {FAMILY} only"),
                "Use `peerlane extend` with the vendor's BSP.",
            ));
        }
        let number = self.word("device.part")?;
        let part = Part::parse(number).map_err(|what| {
            self.0.error(
                "device.part",
                format!(
                    "device.part = {number:?} is not a device of {FAMILY} with a PCIe hard IP: {what}"
                ),
                "Use the part number as Quartus spells it, such as 5SGXEA7N2F45C2.",
            )
        })?;
        let grade = self.word("device.speed_grade")?;
        let should = part.speed_grade();
        if grade != should {
            return Err(self.0.error(
                "device.speed_grade",
                format!("device.speed_grade = {grade:?}, but device.part = {number:?} is one of {should:?}"),
                "Correct the wrong value: the part number has the transceivers' grade before the package and the \
                 fabric's grade after it.",
            ));
        }
        let model = self.words("device.model")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !model
            .strip_suffix("_dm.xml")
            .is_some_and(|m| m.chars().all(plain))
        {
            return Err(self.0.error(
                "device.model",
                format!("device.model = {model:?} is not the name of a device model"),
                "Use the name of a file in share/models/dm of the OpenCL SDK, such as 5sgxea7n2f45c2_dm.xml.",
            ));
        }
        Ok(Device {
            part: number.into(),
            speed_grade: should,
            core_grade: part.core,
            model,
        })
    }

    fn shell(self) -> Result<Shell> {
        let count = |key: &str| {
            let good = |count| (0..=10_000_000).contains(&count);
            self.number(
                key,
                good,
                "Use the number that a compile of the board without kernels reports.",
            )
        };
        Ok(Shell {
            alms: count("shell.alms")?,
            ffs: count("shell.ffs")?,
            dsps: count("shell.dsps")?,
            rams: count("shell.rams")?,
        })
    }

    fn pcie(self) -> Result<Pcie> {
        let (generation, lanes) = (
            self.integer("pcie.generation")?,
            self.integer("pcie.lanes")?,
        );
        if !LINKS.contains(&(generation, lanes)) {
            return Err(self.0.error(
                "pcie.generation",
                format!("pcie.generation = {generation} with pcie.lanes = {lanes} is not possible"),
                "Use Gen1 x8, Gen2 x4 or Gen2 x8: the hard IP has these with a port of 128 bits. For Gen3, set `gen = \
                 3` and kind = \"tlp\" in [port] of --config.",
            ));
        }
        self.number::<u32>(
            "pcie.port_bits",
            |bits| bits == 128,
            "Use 128: the hard IP's other ports, of 64 and 256 bits, are not supported here.",
        )?;
        let bar_bits = match self.0.get("pcie.bar_bytes") {
            None => None,
            Some(_) => {
                let bytes: u64 = self.number(
                    "pcie.bar_bytes",
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
        let id = |key: &str| {
            self.number(
                key,
                |id| (1..0xffff).contains(&id),
                "Use an ID from 1 to 0xfffe.",
            )
        };
        Ok(Pcie {
            generation: u32::try_from(generation).expect("one of LINKS"),
            lanes: u32::try_from(lanes).expect("one of LINKS"),
            bar_bits,
            vendor: id("pcie.vendor")?,
            device: id("pcie.device")?,
            subsystem_vendor: id("pcie.subsystem_vendor")?,
            reference_hz: self.number(
                "pcie.reference_hz",
                |hz| hz == 100_000_000 || hz == 125_000_000,
                "Use 100000000 or 125000000: the hard IP accepts no other clock.",
            )?,
        })
    }
}
