//! Autodiscovery text of version 23, read as the open runtime reads it: text that the runtime would refuse, or for
//! which it would end the program, is an error here.
//!
//! The form is that of `acl_load_device_def_from_str` (`acl_auto_configure.cpp` of intel/fpga-runtime-for-opencl
//! v2025.0): words, separated by blanks; a group of words has their number before it, so that later versions can have
//! more at its end. The runtime's check of the result is `l_is_valid_system_def` (`acl_globals.cpp`).

use std::fmt;
use std::ops::Range;

/// The version that the runtime reads.
const VERSION: i64 = 23;
/// Memories that the runtime has room for (`ACL_MAX_GLOBAL_MEM` of `acl.h`).
const MEMORIES: i64 = 32;
/// Kinds of memory: shared with the host, by virtual or by physical address, and the board's own.
const KINDS: i64 = 3;
const OWN: i64 = 2;
/// Boundary of a memory's ends, in bytes (`ACL_MEM_ALIGN`).
const ALIGNMENT: u64 = 1024;
/// Number of kinds of host access to a device global (`ACL_DEVICE_GLOBAL_HOST_ACCESS_TYPE_COUNT`).
const ACCESSES: i64 = 4;
/// Address spaces of an argument, and its categories.
const SPACES: i64 = 4;
const LOCAL: i64 = 1;
const CATEGORIES: i64 = 3;
/// The type qualifier of a pipe.
const PIPE: i64 = 8;

/// A board's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// The board's name, which packages for it have.
    pub board: String,
    /// The board's own memories, in bytes.
    pub memories: Vec<Range<u64>>,
    /// Place of the first kernel's registers, in the kernels' address space; `None`: it has no kernel, or their
    /// registers cannot be reached.
    pub first_kernel: Option<u32>,
}

/// The reason why the runtime does not take a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentError {
    /// Number of words that were read before.
    place: usize,
    what: String,
}

impl fmt::Display for PresentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what } = self;
        write!(f, "autodiscovery text: word {place}: {what}")
    }
}

impl std::error::Error for PresentError {}

type Result<T> = std::result::Result<T, PresentError>;

/// Reads a board's text as the open runtime does.
///
/// # Errors
/// The first word that the runtime would not take.
pub fn present(text: &str) -> Result<Present> {
    let mut words = Words {
        words: text.split(' ').filter(|word| !word.is_empty()).collect(),
        place: 0,
        groups: Vec::new(),
    };
    let version = words.number("the version")?;
    if version != VERSION {
        return words.wrong(format!("the version is {version}, not {VERSION}"));
    }
    words.group("the board's words")?;
    words.text("the configuration's hash")?;
    let board = words.text("the board's name")?.to_owned();
    if !matches!(words.text("the order of bytes")?, "0" | "1" | "?") {
        return words.wrong("the order of bytes is neither 0 nor 1".into());
    }
    let memories = memories(&mut words)?;
    host_pipes(&mut words)?;
    let named = words.has_more() && words.number("the names of arguments")? != 0;
    if words.has_more() {
        device_globals(&mut words)?;
    }
    let reached = !words.has_more() || words.number("the ring of registers")? != 0;
    if words.has_more() {
        mappings(&mut words)?;
    }
    if words.has_more() {
        sidebands(&mut words)?;
    }
    words.end()?;
    let mut first = None;
    for index in 0..words.count("the number of kernels")? {
        let registers = kernel(&mut words, named)?;
        if index == 0 && reached {
            first = Some(registers);
        }
    }
    Ok(Present {
        board,
        memories,
        first_kernel: first,
    })
}

/// Reads memories. The runtime takes a memory with several banks as all bytes from the first to the last one of them.
fn memories(words: &mut Words<'_>) -> Result<Vec<Range<u64>>> {
    let count = words.count("the number of memories")?;
    if !(1..=MEMORIES).contains(&count) {
        return words.wrong(format!("{count} memories: 1 to {MEMORIES} are possible"));
    }
    let mut own = Vec::new();
    for _ in 0..count {
        words.group("a memory's words")?;
        words.text("a memory's name")?;
        let kind = words.number("a memory's kind")?;
        if !(0..KINDS).contains(&kind) {
            return words.wrong(format!("a memory of kind {kind}"));
        }
        let banks = words.count("the number of banks")?;
        if banks == 0 {
            return words.wrong("a memory without banks".into());
        }
        if banks > 1 {
            words.address("the banks' register", 10)?;
            words.number("the interleaving")?;
        }
        let fields = words.number("a bank's words")?;
        let (mut first, mut last) = (u64::MAX, 0);
        for _ in 0..banks {
            words.groups.push(fields);
            let begin = words.address("the start of a bank", 10)?;
            let end = words.address("the end of a bank", 10)?;
            (first, last) = (first.min(begin), last.max(end));
            words.end()?;
        }
        let aligned = |at: u64| at.is_multiple_of(ALIGNMENT);
        if first > last || !aligned(first) || !aligned(last) {
            return words.wrong(format!("a memory from {first:#x} to {last:#x}"));
        }
        if words.has_more() {
            words.number("a memory's allocation")?;
        }
        if words.has_more() {
            words.text("a memory's port")?;
        }
        if words.has_more() {
            let mut access = words.number("a memory's access")?;
            while access != 0 && words.has_more() {
                words.text("a memory's access")?;
                access -= 1;
            }
        }
        if words.has_more() {
            words.text("a memory's number")?;
        }
        words.end()?;
        if kind == OWN {
            own.push(first..last);
        }
    }
    Ok(own)
}

fn host_pipes(words: &mut Words<'_>) -> Result<()> {
    let count = words.count("the number of host pipes")?;
    let fields = words.number("a host pipe's words")?;
    for _ in 0..count {
        words.groups.push(fields);
        words.text("a host pipe's name")?;
        for what in ["a host pipe's direction"; 2] {
            words.number(what)?;
        }
        words.number("a host pipe's width")?;
        words.number("a host pipe's depth")?;
        words.end()?;
    }
    Ok(())
}

fn device_globals(words: &mut Words<'_>) -> Result<()> {
    let count = words.count("the number of device globals")?;
    let fields = words.number("a device global's words")?;
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..count {
        words.groups.push(fields);
        let mut name = "";
        if words.has_more() {
            name = words.text("a device global's name")?;
        }
        if words.has_more() {
            words.address("a device global's address", 16)?;
        }
        if words.has_more() {
            words.address("a device global's size", 10)?;
        }
        if words.has_more() {
            let access = words.number("the host's access to a device global")?;
            if !(0..ACCESSES).contains(&access) {
                return words.wrong(format!("access {access} to a device global"));
            }
        }
        for what in ["a device global's properties"; 3] {
            if words.has_more() {
                words.number(what)?;
            }
        }
        if !names.insert(name) {
            return words.wrong(format!("two device globals \"{name}\""));
        }
        words.end()?;
    }
    Ok(())
}

/// Reads the mappings of host pipes.
fn mappings(words: &mut Words<'_>) -> Result<()> {
    let count = words.count("the number of mappings")?;
    let fields = words.number("a mapping's words")?;
    for _ in 0..count {
        words.groups.push(fields);
        words.text("a mapping's names")?;
        words.text("a mapping's names")?;
        words.number("a mapping's place")?;
        words.text("a mapping's address")?;
        for what in ["a mapping's direction", "a mapping's direction"] {
            words.number(what)?;
        }
        words.number("a mapping's width")?;
        words.number("a mapping's depth")?;
        for what in ["a mapping's protocol", "a mapping's stalls"] {
            if words.has_more() {
                words.number(what)?;
            }
        }
        words.end_of_known()?;
    }
    Ok(())
}

fn sidebands(words: &mut Words<'_>) -> Result<()> {
    for _ in 0..words.count("the number of sideband groups")? {
        words.text("a sideband group's name")?;
        let signals = words.count("a group's sideband signals")?;
        // Data, and at least one other signal.
        if signals < 2 {
            return words.wrong(format!("{signals} sideband signals: at least 2 are needed"));
        }
        let fields = words.number("a sideband signal's words")?;
        for _ in 0..signals {
            words.groups.push(fields);
            for what in ["port", "offset", "size"] {
                words.number(what)?;
            }
            words.end_of_known()?;
        }
    }
    Ok(())
}

/// Reads a kernel; returns the place of its registers.
fn kernel(words: &mut Words<'_>, named: bool) -> Result<u32> {
    words.group("a kernel's words")?;
    words.text("a kernel's name")?;
    let registers = words.number("the address of a kernel's registers")?;
    for what in [
        "the size of a kernel's registers",
        "a kernel's launches in hardware",
        "a kernel's performance monitor",
        "a kernel's performance monitor",
    ] {
        words.number(what)?;
    }
    let group_invariant = words.number("a kernel's work-group invariance")?;
    let item_invariant = words.number("a kernel's work-item invariance")?;
    if group_invariant == 0 && item_invariant != 0 {
        return words.wrong("a kernel that varies by group, but not by item".into());
    }
    words.number("a kernel's lanes")?;
    words.number("a kernel's words of profile")?;
    for _ in 0..words.count("a kernel's number of arguments")? {
        argument(words, named)?;
    }
    for what in ["a kernel's formats of printf", "a kernel's local memories"] {
        let count = words.count(what)?;
        let fields = words.number(what)?;
        for _ in 0..count {
            words.groups.push(fields);
            words.number(what)?;
            match what {
                "a kernel's local memories" => drop(words.number(what)?),
                _ => drop(words.text(what)?),
            }
            words.end()?;
        }
    }
    for what in ["a kernel's required work-group size"; 3] {
        words.number(what)?;
    }
    let sizes = words.number("a kernel's largest work-group size")?;
    if !(0..=3).contains(&sizes) {
        return words.wrong(format!(
            "{sizes} sizes of a work-group: at most 3 are possible"
        ));
    }
    for _ in 0..sizes {
        words.number("a kernel's largest work-group size")?;
    }
    words.number("a kernel's dimensions")?;
    words.number("a kernel's global offset")?;
    if words.has_more() {
        words.number("a kernel's language")?;
    }
    if words.has_more() && words.number("a kernel's streaming control")? != 0 {
        words.text("a kernel's start signal")?;
        words.text("a kernel's end signal")?;
    }
    words.end()?;
    Ok(registers as u32)
}

fn argument(words: &mut Words<'_>, named: bool) -> Result<()> {
    words.group("an argument's words")?;
    let space = words.number("an argument's address space")?;
    let category = words.number("an argument's category")?;
    let bytes = words.number("an argument's size")?;
    if !(0..SPACES).contains(&space) || !(0..CATEGORIES).contains(&category) {
        return words.wrong(format!("an argument of space {space}, category {category}"));
    }
    let fits = match space {
        LOCAL => bytes == 4 || bytes == 8,
        _ => bytes > 0,
    };
    if !fits {
        return words.wrong(format!("an argument of {bytes} bytes"));
    }
    words.number("an argument's alignment")?;
    for _ in 0..words.count("an argument's buffer locations")? {
        words.text("an argument's buffer location")?;
    }
    if space == LOCAL {
        words.number("a local argument's memory")?;
        words.number("a local argument's size")?;
    }
    let piped = words.number("an argument's type qualifier")? == PIPE;
    if piped && words.number("a pipe's access")? != 0 {
        words.text("a pipe's channel")?;
    }
    if named {
        words.text("an argument's name")?;
        words.text("an argument's type")?;
        words.number("an argument's access")?;
    }
    if words.has_more() && words.number("an argument's stream")? != 0 {
        words.text("an argument's stream")?;
    }
    words.end()
}

/// Words that are read one by one, in groups.
struct Words<'a> {
    words: Vec<&'a str>,
    place: usize,
    /// Words that are left of each group that has begun, the innermost last. When none are left, the runtime goes on
    /// reading the words that it knows, and ends the program where it then skips unknown words
    /// (`check_section_counters`).
    groups: Vec<i64>,
}

impl<'a> Words<'a> {
    fn wrong<T>(&self, what: String) -> Result<T> {
        Err(PresentError {
            place: self.place,
            what,
        })
    }

    fn text(&mut self, what: &str) -> Result<&'a str> {
        let word = self.words.get(self.place).copied();
        self.place += 1;
        self.groups.iter_mut().for_each(|left| *left -= 1);
        match word {
            Some(word) => Ok(word),
            None => self.wrong(format!("the text ends before {what}")),
        }
    }

    /// Reads a number that fits the runtime's `int`. The runtime reads digits, and ignores the characters after them
    /// (`std::stoi`).
    fn number(&mut self, what: &str) -> Result<i64> {
        let word = self.text(what)?;
        let (sign, rest) = match word.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit());
        let digits = format!("{sign}{}", &rest[..end.unwrap_or(rest.len())]);
        match digits.parse::<i32>() {
            Ok(number) => Ok(number.into()),
            Err(_) => self.wrong(format!("\"{word}\" is not a number: {what}")),
        }
    }

    /// Reads a count of following elements: at most as many as words are left.
    fn count(&mut self, what: &str) -> Result<i64> {
        let count = self.number(what)?;
        let left = self.words.len().saturating_sub(self.place) as i64;
        match (0..=left).contains(&count) {
            true => Ok(count),
            false => self.wrong(format!("{what} is {count}, and {left} words are left")),
        }
    }

    /// Reads a number of 64 bits (`std::stoull`).
    fn address(&mut self, what: &str, base: u32) -> Result<u64> {
        let word = self.text(what)?;
        let digits = match base {
            16 => word.trim_start_matches("0x"),
            _ => word,
        };
        let end = digits.find(|digit: char| !digit.is_digit(base));
        let number = u64::from_str_radix(&digits[..end.unwrap_or(digits.len())], base);
        match number {
            Ok(number) => Ok(number),
            Err(_) => self.wrong(format!("\"{word}\" is not a number: {what}")),
        }
    }

    /// Begins a group, with the number of its words.
    fn group(&mut self, what: &str) -> Result<()> {
        let words = self.number(what)?;
        self.groups.push(words);
        Ok(())
    }

    /// Whether the innermost group has words left.
    fn has_more(&self) -> bool {
        self.groups.last().is_some_and(|left| *left > 0)
    }

    /// Ends the innermost group; its remaining words are of a later version.
    fn end(&mut self) -> Result<()> {
        while self.has_more() {
            self.text("the end of a group")?;
            self.check()?;
        }
        self.groups.pop();
        Ok(())
    }

    /// Ends a group for which the runtime makes its assertion in any case.
    fn end_of_known(&mut self) -> Result<()> {
        while self.has_more() {
            self.text("the end of a group")?;
        }
        self.check()?;
        self.groups.pop();
        Ok(())
    }

    /// Checks the runtime's assertion for groups.
    fn check(&self) -> Result<()> {
        match self.groups.iter().any(|left| *left < 0) {
            true => self.wrong("a group has more words than its count".into()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
