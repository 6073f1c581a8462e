//! The fragment with a board's pins: assignments of Quartus, and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::board::ports::Port;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::system::tcl::{Command, commands};

/// Most ports that an error names.
const NAMED: usize = 8;

/// Checks that each pin of the board is assigned once, to a port that exists.
///
/// # Errors
/// [`ErrorKind::Config`] with the line of the fragment. For ports without a pin it has `asked`: the place where the
/// description names the fragment.
pub(crate) fn check(path: &Path, text: &str, ports: &[Port], asked: &Place) -> Result<()> {
    let wanted: Vec<String> = ports.iter().flat_map(Port::pins).collect();
    let mut port_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut pin_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut end = 0;
    for command in commands(text) {
        // Text inside a word, such as the number of `{dq[0]}`, is not a command of the fragment.
        if command.span.start < end {
            continue;
        }
        end = command.span.end;
        let error = |what: String, hint: &str| {
            Error::new(
                ErrorKind::Config,
                Place::line(path, command.line),
                what,
                hint,
            )
        };
        if computes(&text[command.span.clone()]) {
            return Err(error(
                "a fragment of pins cannot compute values".into(),
                "Write each assignment out.",
            ));
        }
        match command.name() {
            "set_instance_assignment" => {}
            "set_location_assignment" => {
                let (pin, port) = location(&command).ok_or_else(|| {
                    error(
                        "a location that cannot be read".into(),
                        "Write it as in `set_location_assignment PIN_AB12 -to port`.",
                    )
                })?;
                // The other half of a differential pair follows from the first.
                let known = port.strip_suffix("(n)").unwrap_or(&port).to_string();
                if !wanted.contains(&known) {
                    return Err(error(
                        format!("{port} is not a port of this board"),
                        "Use a port that `peerlane new --ports` prints.",
                    ));
                }
                if let Some(line) = port_of.insert(port.clone(), command.line) {
                    return Err(error(
                        format!("{port} already has a pin, in line {line}"),
                        "Remove one of the two.",
                    ));
                }
                if let Some(line) = pin_of.insert(pin.clone(), command.line) {
                    return Err(error(
                        format!("PIN_{pin} is already assigned, in line {line}"),
                        "Remove one of the two.",
                    ));
                }
            }
            other => {
                return Err(error(
                    format!("{other} in a fragment of pins"),
                    "Leave only set_location_assignment and set_instance_assignment in it.",
                ));
            }
        }
    }
    let missing: Vec<_> = wanted
        .iter()
        .filter(|port| !port_of.contains_key(*port))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut names = missing
        .iter()
        .take(NAMED)
        .map(|s| s.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    if missing.len() > NAMED {
        let _ = write!(names, " and {} more", missing.len() - NAMED);
    }
    Err(Error::new(
        ErrorKind::Config,
        asked.clone(),
        format!("{} assigns no pin to {names}", path.display()),
        "Take the pins from the board's manual: Quartus would choose pins itself, which can damage the board. \
         `peerlane new --ports` prints all ports.",
    ))
}

/// Reports whether a command has a variable or a substitution; the brackets of a bus have a number in them.
fn computes(command: &str) -> bool {
    let mut brackets = command.split('[').skip(1);
    let bit = |c: char| c.is_ascii_digit() || c == '*';
    command.contains('$') || brackets.any(|after| !after.starts_with(bit))
}

/// Returns pin and port of a location assignment.
fn location(command: &Command) -> Option<(String, String)> {
    let (mut pin, mut port) = (None, None);
    let mut rest = command.words[1..].iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-to" => port = Some(rest.next()?.text.clone()),
            "-comment" | "-tag" => {
                rest.next();
            }
            text => {
                let name = text.strip_prefix("PIN_")?;
                let plain = name
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
                pin = Some(name.to_string()).filter(|name| plain && !name.is_empty());
            }
        }
    }
    Some((pin?, port?))
}

/// Returns a fragment with the pins left open.
pub(crate) fn blank(ports: &[Port]) -> String {
    let pins = ports.iter().flat_map(Port::pins);
    pins.map(|port| format!("set_location_assignment PIN_? -to {{{port}}}\n"))
        .collect()
}
