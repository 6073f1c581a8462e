//! The block's port to PCIe: the choice if the configuration does not make it, and the differences of the ports.
//!
//! The default is the stream of packets if the board can have it: `Txs` cannot write single bytes, and one read that a
//! peer refuses ends the reads of all channels until the link is reset (RTL that Quartus 16.0 generates for
//! `altera_pcie_sv_hip_avmm`). This program knows the streaming form of the hard IP of Stratix V and Arria V GZ. It
//! does not know that of Arria V and Cyclone V, so these boards get `Txs`.

use std::path::Path;

use peerlane_bsp_generate::config::{Config, Key, PortKind};
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::hint::Hint;

/// Lines of the comparison: the subject, then `Txs`, then the stream of packets.
const DIFFERENCES: [[&str; 3]; 8] = [
    ["device families", "all", "Stratix V, Arria V GZ"],
    [
        "writes",
        "whole dwords. For other ends the libraries use a slower way in host memory, and in a GPU's memory that is \
         registered with its own copy; elsewhere such a write is refused",
        "any start and end",
    ],
    [
        "a read that a peer refuses or never answers",
        "no read of any channel completes until the link is reset",
        "ends that read with an error",
    ],
    [
        "reads in progress",
        "8, of 512 bytes each; the host must allow requests of 512 bytes",
        "up to 56, as many as the receive buffer has room for",
    ],
    [
        "poisoned data of a peer",
        "used as good data",
        "ends the read with an error",
    ],
    ["generation of PCIe", "1 and 2", "1 to 3"],
    [
        "interrupts",
        "one MSI for everything, or MSI-X (Stratix V, Arria V GZ)",
        "MSI-X only",
    ],
    ["ran on a board", "no", "no"],
];

/// Returns the configurations to try, the best first, with the reason if the best is not among them.
pub(super) fn candidates(config: &Config) -> (Vec<Config>, Option<String>) {
    if config.port.kind.is_some() {
        return (vec![config.clone()], None);
    }
    let stream = config.with_port(PortKind::Tlp);
    let why = stream.is_none().then(|| {
        "the configuration asks for irq = \"rxm\", but a TLP port has MSI-X only".to_string()
    });
    let both = [stream, config.with_port(PortKind::Txs)];
    (both.into_iter().flatten().collect(), why)
}

/// Tries configurations in turn until one is possible. Returns its result, and the reason, with paths from `root`, if it
/// is not the best port.
///
/// # Errors
/// Those of the last one.
pub(super) fn first<T>(
    root: &Path,
    (configs, mut why): (Vec<Config>, Option<String>),
    mut make: impl FnMut(&Config) -> Result<T>,
) -> Result<(T, Option<String>)> {
    let last = configs.len().saturating_sub(1);
    for (index, config) in configs.iter().enumerate() {
        match make(config) {
            Ok(made) => return Ok((made, why)),
            Err(error) if index < last && is_about_the_board(&error) => {
                tracing::info!(%error, "no TLP port");
                why = Some(reason(&error.named_as_given(root, Path::new(""))));
            }
            Err(error) => return Err(by_keys(config, error)),
        }
    }
    unreachable!("there is a configuration");
}

/// Changes the hints of an error so that they name all keys that ask for the stream. They name `port.kind`; `port.gen`
/// asks for it too, and excludes `Txs`.
fn by_keys(config: &Config, mut error: Error) -> Error {
    if config.port.generation.is_some() {
        let asking: &[Key] = match config.places.has(Key::PortKind) {
            true => &[Key::PortKind, Key::Generation],
            false => &[Key::Generation],
        };
        let all = error.below.all.iter_mut().map(|one| &mut one.hint);
        for hint in all.chain([&mut error.hint]) {
            if let Hint::WithoutTlp(_, keys) = hint {
                *keys = asking;
            }
        }
    }
    error
}

/// Reports whether another port may not have this error.
fn is_about_the_board(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Unsupported | ErrorKind::Config)
}

/// Returns all reasons against a port, with the places.
fn reason(error: &Error) -> String {
    match error.below.all.as_slice() {
        [] => error.to_string(),
        all => (all.iter().map(Error::paragraph).collect::<Vec<_>>()).join(" "),
    }
}

/// Returns the note about the board's port, with the reason if it is not the best one.
pub(super) fn note(config: &Config, chosen: bool, why: Option<&str>) -> String {
    let own = match chosen {
        true => "as the configuration asks",
        false => "which is the default where the board can have it",
    };
    match (config.has_tlp_port(), why) {
        (true, _) => format!(
            "The port to PCIe is the TLP port (`kind = \"tlp\"`), {own}. The table below compares the two ports."
        ),
        (false, None) => format!(
            "The port to PCIe is the hard IP's slave `Txs` (`kind = \"txs\"`), {own}. The table below compares the two ports."
        ),
        (false, Some(why)) => format!(
            "The port to PCIe is the hard IP's slave `Txs`, and not the TLP port, which is the better one (the table \
             below compares them): {} With `kind = \"tlp\"` below `[port]` this is an error.",
            why.trim_end_matches('.').to_string() + "."
        ),
    }
}

/// Returns the comparison as a section of the report.
pub fn section(config: &Config) -> String {
    let heads = match config.has_tlp_port() {
        true => ["`Txs`", "TLP port (this board's)"],
        false => ["`Txs` (this board's)", "TLP port"],
    };
    let mut text = format!(
        "## The port to PCIe\n\n| | {} | {} |\n| --- | --- | --- |\n",
        heads[0], heads[1]
    );
    for line in DIFFERENCES {
        text += &format!("| {} |\n", line.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_bsp_platform::error::Place;

    fn parse(text: &str) -> Config {
        Config::parse(Path::new("c.toml"), text).unwrap()
    }

    fn error(kind: ErrorKind) -> Error {
        Error::new(kind, Place::line("s.qsys", 3), "it cannot be", "Change it.")
    }

    fn kinds(text: &str) -> Vec<Option<PortKind>> {
        let (configs, _) = candidates(&parse(text));
        configs.iter().map(|config| config.port.kind).collect()
    }

    #[test]
    fn the_stream_is_tried_first_unless_the_file_says_otherwise() {
        let (txs, stream) = (Some(PortKind::Txs), Some(PortKind::Tlp));
        assert_eq!(kinds(""), [stream, txs]);
        assert_eq!(kinds("irq = \"msix\""), [stream, txs]);
        assert_eq!(kinds("irq = \"rxm\""), [txs]);
        assert_eq!(kinds("[port]\nkind = \"txs\""), [txs]);
        assert_eq!(kinds("[port]\nkind = \"tlp\""), [stream]);
        assert_eq!(kinds("[port]\ngen = 3"), [stream]);
        let (_, why) = candidates(&parse("irq = \"rxm\""));
        assert!(why.unwrap().contains("rxm"));
    }

    #[test]
    fn another_port_is_tried_only_for_what_stands_against_the_first() {
        for (kind, tried) in [
            (ErrorKind::Unsupported, 2),
            (ErrorKind::Config, 2),
            (ErrorKind::Io, 1),
            (ErrorKind::NoDma, 1),
        ] {
            let mut count = 0;
            let made = first(Path::new(""), candidates(&parse("")), |config| {
                count += 1;
                match config.has_tlp_port() {
                    true => Err(error(kind)),
                    false => Ok(()),
                }
            });
            assert_eq!(count, tried, "{kind:?}");
            match tried {
                2 => assert_eq!(made.unwrap().1.unwrap(), "s.qsys:3: it cannot be"),
                _ => assert_eq!(made.unwrap_err().kind, kind),
            }
        }
        // The user gets the error of the last one.
        let made: Result<((), _)> = first(Path::new(""), candidates(&parse("")), |config| {
            let mut error = error(ErrorKind::Unsupported);
            error.what = format!("{:?}", config.port.kind).into();
            Err(error)
        });
        assert!(made.unwrap_err().to_string().contains("Txs"));
    }
}
