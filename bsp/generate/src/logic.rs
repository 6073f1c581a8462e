//! Streams between the block and the FPGA's logic, as a configuration asks for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::toml_values::{Section, Source, Table};
use peerlane_bsp_platform::error::Result;
use peerlane_hdl::{Input, Output, Streams};

/// Most streams of a direction: the block has numbers of 4 bits for them.
pub const MOST: usize = 16;
/// Suffixes of the exports that a stream's clock and reset get.
pub const SUFFIXES: [&str; 2] = ["_clk", "_reset"];
/// Longest name of a stream.
const LONGEST: usize = 48;
/// The keys of a stream.
pub(crate) const SECTION: Section = Section {
    name: "streams",
    is_list: true,
    needed: "name direction bits",
    optional: Some("packets lossy connect"),
};

/// Direction of a stream, seen from the FPGA's logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the logic to peers: an input of the block.
    FromLogic,
    /// From peers to the logic: an output of the block.
    ToLogic,
}

impl Direction {
    /// Returns the beginning of the block's names for such a stream.
    pub fn kind(self) -> &'static str {
        match self {
            Self::FromLogic => "input",
            Self::ToLogic => "output",
        }
    }

    /// Returns words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::FromLogic => "from the logic to peers",
            Self::ToLogic => "from peers to the logic",
        }
    }
}

/// The other end of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Connect {
    /// Ports of the board's system, for logic that a user connects.
    #[default]
    Export,
    /// An OpenCL I/O channel of the board.
    Channel,
}

/// A stream that a configuration asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Name of its export or channel.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Bits of a word of the logic.
    pub bits: u32,
    /// Whether the logic's words come in packets, each of which ends a block.
    #[serde(default)]
    pub packets: bool,
    /// Whether the logic cannot wait.
    #[serde(default)]
    pub lossy: bool,
    /// The other end.
    #[serde(default)]
    pub connect: Connect,
}

impl Stream {
    /// Returns the names of its exports: the stream, its clock, its reset.
    pub fn exports(&self) -> [String; 3] {
        let [clock, reset] = SUFFIXES.map(|suffix| format!("{}{suffix}", self.name));
        [self.name.clone(), clock, reset]
    }

    /// Reports whether an OpenCL channel is at the other end.
    pub fn is_channel(&self) -> bool {
        self.connect == Connect::Channel
    }

    /// Reports whether the stream has the signals of packets at the logic's side.
    pub fn has_packets(&self) -> bool {
        match self.direction {
            Direction::FromLogic => self.packets,
            Direction::ToLogic => !self.is_channel(),
        }
    }
}

/// Returns the streams, each with its number among those of its direction.
pub fn numbered(streams: &[Stream]) -> impl Iterator<Item = (usize, &Stream)> {
    streams.iter().enumerate().map(move |(n, stream)| {
        let before = streams[..n].iter();
        let same = before.filter(|other| other.direction == stream.direction);
        (same.count(), stream)
    })
}

/// Returns the streams of each direction as parameters of the block. [`read`] limits their number, and a record of a
/// build with more of them gives another `BUILD_ID` than its own.
pub(crate) fn params(streams: &[Stream]) -> (Streams<Input>, Streams<Output>) {
    let of = |direction| streams.iter().filter(move |s| s.direction == direction);
    let inputs = of(Direction::FromLogic).map(|stream| Input {
        bits: stream.bits,
        packets: stream.packets,
        lossy: stream.lossy,
    });
    let outputs = of(Direction::ToLogic).map(|stream| Output { bits: stream.bits });
    let (inputs, outputs): (Vec<_>, Vec<_>) = (inputs.collect(), outputs.collect());
    (
        inputs.try_into().unwrap_or_default(),
        outputs.try_into().unwrap_or_default(),
    )
}

/// Reads the streams of a file.
///
/// # Errors
/// [`Config`](peerlane_bsp_platform::error::ErrorKind::Config) with the line and the key.
pub(crate) fn read(source: Source<'_>, file: Table<'_>) -> Result<Vec<Stream>> {
    let mut streams: Vec<Stream> = Vec::new();
    // Names of exports, each with its stream.
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let list = file
        .get(SECTION.name)
        .and_then(|all| all.get_ref().as_array());
    for value in list.into_iter().flatten() {
        let table = Table {
            source,
            name: "streams.",
            value,
        };
        let stream = one(table)?;
        let same = streams.iter().filter(|s| s.direction == stream.direction);
        if same.count() == MOST {
            let words = stream.direction.words();
            return Err(table.error(
                "streams.direction",
                format!("streams.direction: more than {MOST} streams {words}"),
                format!("The block has at most {MOST} streams of a direction: remove some."),
            ));
        }
        for export in stream.exports() {
            // Platform Designer may write VHDL, where case does not matter.
            let key = export.to_ascii_lowercase();
            if let Some(other) = taken.insert(key, stream.name.clone()) {
                let what = match other == stream.name {
                    true => format!(
                        "streams.name = {:?}: another stream has this name",
                        stream.name
                    ),
                    false => format!(
                        "streams.name = {:?}: the stream {other:?} has an interface {export}, too",
                        stream.name
                    ),
                };
                return Err(table.error("streams.name", what, "Give each stream another name."));
            }
        }
        streams.push(stream);
    }
    Ok(streams)
}

/// Reads one stream.
fn one(table: Table<'_>) -> Result<Stream> {
    let name = table.word("streams.name")?.unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(plain)
        && name.len() <= LONGEST;
    if !is_name {
        return Err(table.impossible(
            "streams.name",
            format!(
                "It becomes a name in Verilog and OpenCL: use letters, digits and \"_\", {LONGEST} at most, and begin \
                 with a letter."
            ),
        ));
    }
    let direction = match table.word("streams.direction")? {
        Some("from_logic") => Direction::FromLogic,
        Some("to_logic") => Direction::ToLogic,
        _ => {
            let hint = "Use \"from_logic\" for a stream from the FPGA's logic to peers, or \"to_logic\" for one from \
                        peers to the logic.";
            return Err(table.impossible("streams.direction", hint));
        }
    };
    let good = |bits: i64| matches!(bits, 64 | 128 | 256 | 512);
    let bits = table.number("streams.bits", good, "Use 64, 128, 256 or 512.")?;
    let connect = match table.word("streams.connect")? {
        None | Some("export") => Connect::Export,
        Some("channel") => Connect::Channel,
        Some(_) => {
            let hint =
                "Use \"export\" for your own logic, or \"channel\" for an OpenCL I/O channel.";
            return Err(table.impossible("streams.connect", hint));
        }
    };
    let stream = Stream {
        name: name.into(),
        direction,
        bits: bits.unwrap_or_default(),
        packets: table.flag("streams.packets")?,
        lossy: table.flag("streams.lossy")?,
        connect,
    };
    for (key, is_set, what, hint) in [
        (
            "streams.packets",
            stream.packets,
            "each descriptor of a stream to the logic is a packet already",
            "without packets",
        ),
        (
            "streams.lossy",
            stream.lossy,
            "a stream to the logic loses no words: its data wait in host memory",
            "its words wait for the kernel",
        ),
    ] {
        if is_set && direction == Direction::ToLogic {
            let what = format!("{key} = true is given, but {what}");
            let hint = "Leave the key out, or set direction = \"from_logic\".";
            return Err(table.error(key, what, hint));
        }
        if is_set && stream.is_channel() {
            let what = format!(
                "{key} = true is given, but an OpenCL channel has data, valid and ready only: {hint}"
            );
            let hint = "Leave the key out, or set connect = \"export\".";
            return Err(table.error(key, what, hint));
        }
    }
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(Path::new("c.toml"), text)
    }

    const CAMERA: &str = "[[streams]]\nname = \"camera\"\ndirection = \"from_logic\"\nbits = 256\n";

    #[test]
    fn streams_have_numbers_in_their_direction() {
        let text = format!(
            "{CAMERA}packets = true\nlossy = true\n[[streams]]\nname = \"orders\"\ndirection = \"to_logic\"\nbits = 64\n\
             [[streams]]\nname = \"ch\"\ndirection = \"from_logic\"\nbits = 512\nconnect = \"channel\"\n"
        );
        let config = parse(&text).unwrap();
        let list: Vec<_> = numbered(&config.streams)
            .map(|(n, s)| format!("{}{n} {} {}", s.direction.kind(), s.name, s.bits))
            .collect();
        assert_eq!(
            list,
            ["input0 camera 256", "output0 orders 64", "input1 ch 512"]
        );
        let camera = &config.streams[0];
        assert!(camera.packets && camera.lossy && !camera.is_channel());
        assert!(config.streams[2].is_channel());
        let (inputs, outputs) = params(&config.streams);
        let bits: Vec<_> = inputs.iter().map(|input| input.bits).collect();
        assert_eq!((bits, outputs.len()), (vec![256, 512], 1));
        // The record of a build is read again.
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), config);
    }

    #[test]
    fn wrong_streams_name_key_and_line() {
        let with = |more: &str| format!("{CAMERA}{more}");
        let another = |more: &str| format!("{CAMERA}[[streams]]\n{more}");
        for (text, line, what) in [
            (
                "[[streams]]\nname = \"a\"\nbits = 64".to_string(),
                1,
                "the key direction is missing",
            ),
            (
                CAMERA.replace("camera", "0x"),
                2,
                "streams.name = \"0x\" is not possible",
            ),
            (CAMERA.replace("camera", "a-b"), 2, "streams.name"),
            (CAMERA.replace("camera", &"a".repeat(49)), 2, "streams.name"),
            (
                CAMERA.replace("from_logic", "to_gpu"),
                3,
                "streams.direction = \"to_gpu\"",
            ),
            (
                CAMERA.replace("256", "32"),
                4,
                "streams.bits = 32 is not possible",
            ),
            (with("packets = 1"), 5, "true or false is expected"),
            (with("connect = \"wire\""), 5, "streams.connect = \"wire\""),
            (with("colour = 1"), 5, "there is no key colour"),
            (
                with("connect = \"channel\"\nlossy = true"),
                6,
                "an OpenCL channel has data, valid and ready only",
            ),
            (
                with("packets = true\nconnect = \"channel\""),
                5,
                "an OpenCL channel has",
            ),
            (
                with("lossy = true").replace("from_logic", "to_logic"),
                5,
                "loses no words",
            ),
            (
                with("packets = true").replace("from_logic", "to_logic"),
                5,
                "is a packet already",
            ),
            (
                another("name = \"Camera\"\ndirection = \"to_logic\"\nbits = 64"),
                6,
                "the stream \"camera\" has an interface Camera, too",
            ),
            (
                another("name = \"camera\"\ndirection = \"to_logic\"\nbits = 64"),
                6,
                "another stream has this name",
            ),
            (
                another("name = \"camera_clk\"\ndirection = \"to_logic\"\nbits = 64"),
                6,
                "the stream \"camera\" has an interface camera_clk, too",
            ),
            ("streams = 3".to_string(), 1, "a list is expected"),
        ] {
            let error = parse(&text).expect_err(&text);
            assert_eq!(error.place.line, Some(line), "{text}: {error}");
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
        let many: String = (0..17)
            .map(|n| CAMERA.replace("camera", &format!("camera{n}")))
            .collect();
        let error = parse(&many).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("more than 16 streams from the logic"),
            "{error}"
        );
        assert_eq!(error.place.line, Some(16 * 4 + 3));
    }
}
