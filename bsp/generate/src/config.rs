//! The configuration file of `peerlane extend`.

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use crate::toml_values::Places;
pub use peerlane_bsp_platform::key::Key;
pub use peerlane_hdl::Irq;

use crate::logic::{self, Stream};
use crate::toml_values::{Section, Source, Table};
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::text;

/// Bytes of the slave with the MSI-X table and its pending bits.
pub const MSIX_BYTES: u32 = 4096;

/// Places of the new slaves in the BAR; unset means the lowest free place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Byte offset of the channel pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chan_base: Option<u64>,
    /// Byte offset of the address table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub att_base: Option<u64>,
    /// Byte offset of the table of interrupt vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msix_base: Option<u64>,
}

/// IDs and names that distinguish the extended board from the vendor's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// PCI vendor ID; unset leaves the vendor's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "peerlane_bsp_platform::hexadecimal::optional"
    )]
    pub vendor: Option<u16>,
    /// PCI device ID; unset leaves the vendor's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "peerlane_bsp_platform::hexadecimal::optional"
    )]
    pub device: Option<u16>,
    /// PCI subsystem vendor ID; unset leaves the vendor's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "peerlane_bsp_platform::hexadecimal::optional"
    )]
    pub subsystem_vendor: Option<u16>,
    /// PCI subsystem ID.
    #[serde(with = "peerlane_bsp_platform::hexadecimal")]
    pub subsystem_device: u16,
    /// The value of the board's `version_id`.
    #[serde(with = "peerlane_bsp_platform::hexadecimal")]
    pub version_id: u32,
    /// Text appended to the board's name.
    pub board_suffix: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            vendor: None,
            device: None,
            subsystem_vendor: None,
            // "PL".
            subsystem_device: 0x504c,
            version_id: 0x504c_0001,
            board_suffix: "_peerlane".into(),
        }
    }
}

/// The interface by which the block reaches PCIe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortKind {
    /// The hard IP's Avalon-MM slave `Txs`, as with the vendor's DMA.
    Txs,
    /// The hard IP's Avalon-ST interface: the block makes packets itself.
    Tlp,
}

/// The block's port to PCIe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The port's kind. In a configuration, unset means the best kind that the board can have; in the record of a
    /// build, it means `Txs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PortKind>,
    /// Generation of PCIe that the hard IP is set to; unset leaves the vendor's.
    #[serde(default, rename = "gen", skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
}

impl Port {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A checked configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Width of the port to PCIe in bits; unset takes the hard IP's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_bits: Option<u32>,
    /// Entries of the address translation table.
    pub att_entries: u32,
    /// Descriptors that wait in each direction, all channels together.
    pub queue_depth: u32,
    /// Channels, each with a page of 4 KiB.
    pub channels: u32,
    /// The kind of interrupts to the host.
    pub irq: Irq,
    /// Whether the configuration sets `irq`: then a port without that kind is not chosen.
    #[serde(skip)]
    pub irq_asked: bool,
    /// Most pipeline stages that Platform Designer may put into a path of the interconnect; `None` leaves the vendor's
    /// limit. Chained transfers need 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interconnect_stages: Option<u32>,
    /// The port to PCIe.
    #[serde(default, skip_serializing_if = "Port::is_default")]
    pub port: Port,
    /// Places in the BAR.
    #[serde(default)]
    pub bar: Bar,
    /// Identity of the board.
    #[serde(default)]
    pub identity: Identity,
    /// Version of the OpenCL SDK that the board is for; unset takes it from the vendor's files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk: Option<String>,
    /// Streams between the block and the FPGA's logic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
    /// Places in the file of the keys that the BSP may not have room for.
    #[serde(skip)]
    pub places: Places,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port_bits: None,
            att_entries: 4096,
            queue_depth: 1024,
            channels: 8,
            irq: Irq::Rxm,
            irq_asked: false,
            interconnect_stages: Some(0),
            port: Port::default(),
            bar: Bar::default(),
            identity: Identity::default(),
            sdk: None,
            streams: Vec::new(),
            places: Places::default(),
        }
    }
}

/// A configuration with the facts about its file that an extension depends on: the choice of the port, and the places
/// that its report names.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    config: Config,
    irq: bool,
    /// Name of each key, file and line.
    keys: Vec<(String, String, Option<usize>)>,
}

/// The keys of a file.
const SECTIONS: [Section; 5] = [
    Section::of(
        "",
        "",
        "port_bits att_entries queue_depth channels irq interconnect_stages port bar identity sdk streams",
    ),
    Section::of("port", "", "kind gen"),
    Section::of("bar", "", "chan_base att_base msix_base"),
    Section::of(
        "identity",
        "",
        "vendor device subsystem_vendor subsystem_device version_id board_suffix",
    ),
    logic::SECTION,
];

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`Config`](peerlane_bsp_platform::error::ErrorKind::Config) with the line and the key,
    /// [`Io`](peerlane_bsp_platform::error::ErrorKind::Io).
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &text::read_small(path)?)
    }

    /// Checks the text of a file.
    ///
    /// # Errors
    /// [`Config`](peerlane_bsp_platform::error::ErrorKind::Config) with the line and the key.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let source = Source {
            path,
            text,
            sections: &SECTIONS,
            help: "`peerlane config` prints every key with its default and its range.",
        };
        let tree = source.tree()?;
        let file = source.table(&tree);
        let mut config = Self::default();
        let power_of_two = |least: i64, most: i64| {
            move |v: i64| (least..=most).contains(&v) && v.count_ones() == 1
        };
        config.port_bits = file.number(
            "port_bits",
            |v| v == 128 || v == 256,
            "Use 128 or 256, or leave the key out to take the width of the hard IP.",
        )?;
        set(
            &mut config.att_entries,
            file,
            "att_entries",
            power_of_two(256, 65536),
            "Use a power of two from 256 to 65536.",
        )?;
        set(
            &mut config.queue_depth,
            file,
            "queue_depth",
            power_of_two(256, 4096),
            "Use a power of two from 256 to 4096.",
        )?;
        set(
            &mut config.channels,
            file,
            "channels",
            power_of_two(1, 64),
            "Use a power of two from 1 to 64.",
        )?;
        if file.get("queue_depth").is_some() && (config.channels, config.queue_depth) == (1, 4096) {
            return Err(file.error(
                "queue_depth",
                "queue_depth = 4096 is not possible with channels = 1: the sequence numbers of chained descriptors are \
                 too small for so many",
                "Set queue_depth = 2048, or more channels.",
            ));
        }
        config.port = port(file)?;
        let streams = config.has_tlp_port();
        if streams {
            config.irq = Irq::Msix;
        }
        config.irq_asked = file.get("irq").is_some();
        config.irq = match file.get("irq").map(|irq| irq.get_ref().as_str()) {
            None => config.irq,
            Some(Some("rxm")) => Irq::Rxm,
            Some(Some("msix")) => Irq::Msix,
            Some(_) => {
                let hint = "Use `rxm` or `msix`: `peerlane config` explains both.";
                return Err(file.impossible("irq", hint));
            }
        };
        if streams && config.irq == Irq::Rxm {
            return Err(file.error(
                "irq",
                "irq = \"rxm\" is given, but with a TLP port there is no RxmIrq, and no register by which the driver \
                 finds the source of an interrupt",
                "Set irq = \"msix\", which a TLP port has, or leave the key out.",
            ));
        }
        if let Some(value) = file.get("interconnect_stages") {
            // Platform Designer user guide 683364, "Limit interconnect pipeline stages to".
            let possible = |v: i64| (0..=4).contains(&v);
            let hint = "Use 0 to 4, or \"vendor\" to keep the limit of the vendor's BSP.";
            config.interconnect_stages = match value.get_ref().as_str() {
                Some("vendor") => None,
                _ => file.number("interconnect_stages", possible, hint)?,
            };
        }
        let page = |v: i64| (0..1 << 31).contains(&v) && v % 4096 == 0;
        let of_size = |what: &str, bytes: u64| {
            format!("Use a multiple of the size of the {what}, {bytes:#x}, below 2 GiB.")
        };
        let hint = of_size("channels", config.chan_bytes());
        config.bar.chan_base = file.number("bar.chan_base", page, hint)?;
        let hint = of_size("table", config.att_bytes());
        config.bar.att_base = file.number("bar.att_base", page, hint)?;
        if file.get("bar.msix_base").is_some() && config.irq != Irq::Msix {
            return Err(file.error(
                "bar.msix_base",
                "bar.msix_base is given, but the block has no table of interrupt vectors",
                "Set irq = \"msix\", or leave the key out.",
            ));
        }
        let hint = of_size("vectors' table", u64::from(MSIX_BYTES));
        config.bar.msix_base = file.number("bar.msix_base", page, hint)?;
        config.identity = identity(file)?;
        if let Some(sdk) = file.word("sdk")? {
            if !is_known_sdk(sdk) {
                let what = format!("sdk = {sdk:?} is not a version from 13.1 to 18.1");
                let hint =
                    "Write the version of the OpenCL SDK that compiles the board, as \"14.0\".";
                return Err(file.error("sdk", what, hint));
            }
            config.sdk = Some(sdk.into());
        }
        config.streams = logic::read(source, file)?;
        for key in Key::ALL {
            if let Some(value) = file.get(key.name()) {
                config.places.note(key, source.place(value.span()));
            }
        }
        Ok(config)
    }

    /// Returns the configuration as it was asked for, as JSON, for the record of an extension.
    pub fn request(&self) -> String {
        let place = |key: &Key| {
            let place = self.places.of(*key)?;
            let path = place.path.display().to_string();
            Some((key.name().to_string(), path, place.line))
        };
        let asked = Asked {
            config: self.clone(),
            irq: self.irq_asked,
            keys: Key::ALL.iter().filter_map(place).collect(),
        };
        serde_json::to_string(&asked).expect("plain data only")
    }

    /// Reads the configuration that [`Self::request`] wrote.
    ///
    /// # Errors
    /// If this version has other keys.
    pub fn of_request(text: &str) -> serde_json::Result<Self> {
        let asked: Asked = serde_json::from_str(text)?;
        let mut config = asked.config;
        config.irq_asked = asked.irq;
        for (name, path, line) in asked.keys {
            if let Some(key) = Key::ALL.iter().find(|key| key.name() == name) {
                let path = path.into();
                config.places.note(*key, Place { path, line });
            }
        }
        Ok(config)
    }

    /// Returns the bytes of the channel pages in the BAR.
    pub fn chan_bytes(&self) -> u64 {
        u64::from(self.channels) * 4096
    }

    /// Returns the bytes of the address table in the BAR.
    pub fn att_bytes(&self) -> u64 {
        u64::from(self.att_entries) * 8
    }

    /// Returns the slaves that the old block did not have, in the order in which they are placed.
    pub fn new_slaves(&self) -> Vec<NewSlave> {
        let slave = |name, key, bytes, asked| NewSlave {
            name,
            key,
            bytes,
            asked,
        };
        let mut list = vec![
            slave("chan", Key::ChanBase, self.chan_bytes(), self.bar.chan_base),
            slave("att", Key::AttBase, self.att_bytes(), self.bar.att_base),
        ];
        if self.irq == Irq::Msix {
            let bytes = u64::from(MSIX_BYTES);
            list.push(slave("msix", Key::MsixBase, bytes, self.bar.msix_base));
        }
        list
    }

    /// Reports whether the port to PCIe is a stream of packets.
    pub fn has_tlp_port(&self) -> bool {
        self.port.kind == Some(PortKind::Tlp)
    }

    /// Returns the configuration with a port of this kind; `None` if it asks for something that this port cannot have.
    pub fn with_port(&self, kind: PortKind) -> Option<Self> {
        let mut config = self.clone();
        config.port.kind = Some(kind);
        match (kind, self.irq) {
            (PortKind::Tlp, Irq::Rxm) if self.irq_asked => return None,
            (PortKind::Tlp, _) => config.irq = Irq::Msix,
            (PortKind::Txs, _) => {}
        }
        Some(config)
    }

    /// Returns the number of MSI-X vectors: one for faults, one for the OpenCL kernel, one for each channel.
    pub fn vectors(&self) -> u32 {
        self.channels + 2
    }
}

/// A slave to place in the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSlave {
    /// Interface of the block.
    pub name: &'static str,
    /// Key of the configuration for its place.
    pub key: Key,
    /// Its bytes.
    pub bytes: u64,
    /// The requested place: a byte offset in the BAR.
    pub asked: Option<u64>,
}

/// Reads the port that a file asks for.
fn port(file: Table<'_>) -> Result<Port> {
    let kind = match file.get("port.kind").map(|kind| kind.get_ref().as_str()) {
        None => None,
        Some(Some("txs")) => Some(PortKind::Txs),
        Some(Some("tlp")) => Some(PortKind::Tlp),
        Some(_) => {
            let hint = "Use `txs` or `tlp`: `peerlane config` explains both.";
            return Err(file.impossible("port.kind", hint));
        }
    };
    let hint = "Use 3, or 1 or 2 if the hard IP already has this generation. Without the key the vendor's generation \
                stays.";
    let generation = file.number("port.gen", |v| (1..=3).contains(&v), hint)?;
    let mut port = Port { kind, generation };
    // Only the stream supports `port.gen`, so a file with `port.gen` alone asks for the stream.
    if port.generation.is_some() && *port.kind.get_or_insert(PortKind::Tlp) != PortKind::Tlp {
        return Err(file.error(
            "port.gen",
            "port.gen is given, but only a TLP port can have another generation: Gen3 of eight lanes needs 256 bits, \
             which the hard IP's Txs does not have",
            "Set port.kind = \"tlp\", or leave port.gen out.",
        ));
    }
    Ok(port)
}

/// Reads the identity that a file asks for.
fn identity(file: Table<'_>) -> Result<Identity> {
    // All zeros and all ones are not IDs (PCI Local Bus Specification 3.0, 6.2.1 and 6.2.4).
    let id = |v: i64| (1..0xffff).contains(&v);
    let hint = "Use an ID from 1 to 0xfffe.";
    let mut identity = Identity {
        vendor: file.number("identity.vendor", id, hint)?,
        device: file.number("identity.device", id, hint)?,
        subsystem_vendor: file.number("identity.subsystem_vendor", id, hint)?,
        ..Identity::default()
    };
    let device = &mut identity.subsystem_device;
    set(device, file, "identity.subsystem_device", id, hint)?;
    set(
        &mut identity.version_id,
        file,
        "identity.version_id",
        |v| (1..0xffff_ffff).contains(&v),
        "Use a number of 32 bits.",
    )?;
    if let Some(suffix) = file.word("identity.board_suffix")? {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !suffix.chars().all(plain) || suffix.len() > 64 {
            return Err(file.error(
                "identity.board_suffix",
                format!(
                    "identity.board_suffix = {suffix:?} cannot be a part of a directory's name"
                ),
                "Use letters, digits, \"_\" and \"-\", 64 at most.",
            ));
        }
        identity.board_suffix = suffix.into();
    }
    Ok(identity)
}

/// Replaces a default by the number of a key, if the file has it.
fn set<T: TryFrom<i64>>(
    into: &mut T,
    file: Table<'_>,
    key: &str,
    good: impl Fn(i64) -> bool,
    hint: &str,
) -> Result<()> {
    if let Some(number) = file.number(key, good, hint)? {
        *into = number;
    }
    Ok(())
}

/// A configuration file with every key, its default and its range; `peerlane config` prints it.
pub const COMMENTED_DEFAULT: &str = include_str!("../templates/default-config.toml");

/// Reports whether a text is a version of the SDK that has such boards.
pub fn is_known_sdk(version: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    let number = version.parse::<f64>();
    version.chars().all(plain) && number.is_ok_and(|n| (13.1..=18.1).contains(&n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_bsp_platform::error::ErrorKind;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(Path::new("c.toml"), text)
    }

    #[test]
    fn the_printed_default_is_the_default() {
        assert_eq!(parse(COMMENTED_DEFAULT).unwrap(), Config::default());
        assert_eq!(parse("").unwrap(), Config::default());
        // Every commented-out key is valid.
        let all: String = COMMENTED_DEFAULT
            .lines()
            .map(|l| l.strip_prefix("#: ").unwrap_or(l))
            .map(|l| format!("{l}\n"))
            .collect();
        assert_ne!(all, COMMENTED_DEFAULT);
        let config = parse(&all.replace("\"rxm\"\n", "\"msix\"\n")).unwrap();
        assert_eq!(config.port.kind, Some(PortKind::Tlp));
        assert_eq!(config.port.generation, Some(3));
        assert!(config.port_bits.is_some() && config.bar.chan_base.is_some());
        assert_eq!(config.interconnect_stages, Some(0));
        let vendors = parse("interconnect_stages = \"vendor\"").unwrap();
        assert_eq!(vendors.interconnect_stages, None);
        assert!(config.irq == Irq::Msix && config.bar.msix_base.is_some());
    }

    #[test]
    fn the_printed_default_has_every_key() {
        let lines = COMMENTED_DEFAULT.lines();
        let lines = lines.map(|line| line.strip_prefix("#: ").unwrap_or(line));
        let starts: Vec<_> = lines
            .filter_map(|line| line.split([' ', ']']).next())
            .collect();
        for section in SECTIONS {
            for key in section.keys() {
                let inner = [format!("[{key}"), format!("[[{key}")];
                assert!(
                    starts.contains(&key) || inner.iter().any(|i| starts.contains(&i.as_str())),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn hints_say_what_to_write() {
        for (text, line, what, hint) in [
            (
                "# x\n[port]\nkind = \"txs\"\nkind = \"tlp\"",
                4,
                "kind is already in line 3",
                "Remove one of the two lines.",
            ),
            (
                "[port]\nkind = \"tlp\"\n[bar]\n[port]\ngen = 3",
                4,
                "[port] is already in line 1",
                "Write it once, with the keys of both",
            ),
            (
                "port = \"tlp\"",
                1,
                "port: a section is expected",
                "Write [port] in a line of its own",
            ),
            (
                "[bar]\nchan_base = 0x20001",
                2,
                "bar.chan_base",
                "a multiple of the size of the channels, 0x8000",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.place.line, Some(line), "{error}");
            assert!(error.what.to_string().contains(what), "{error}");
            assert!(error.hint.to_string().contains(hint), "{error}");
        }
    }

    #[test]
    fn wrong_values_name_key_and_line() {
        for (text, line, key) in [
            ("# x\n\natt_entries = 100\n", 3, "att_entries = 100"),
            ("att_entries = 131072", 1, "att_entries"),
            ("channels = 1\nqueue_depth = 128", 2, "queue_depth"),
            ("queue_depth = 4096\nchannels = 1", 1, "queue_depth = 4096"),
            ("port_bits = 64", 1, "port_bits"),
            ("\ninterconnect_stages = 5", 2, "interconnect_stages = 5"),
            ("interconnect_stages = -1", 1, "interconnect_stages"),
            ("interconnect_stages = \"none\"", 1, "is not a whole number"),
            ("channels = 12", 1, "channels = 12"),
            ("\nchannels = 128", 2, "channels"),
            ("channels = 0", 1, "channels"),
            ("irq = \"msi\"", 1, "msi"),
            (
                "\nchannels = \"four\"",
                2,
                "channels = \"four\" is not a whole number",
            ),
            ("channels = 1.5", 1, "channels = 1.5 is not a whole number"),
            ("bar = 5", 1, "bar: a section is expected, not 5"),
            ("irq = 5", 1, "irq = 5 is not possible"),
            ("channels = 0x", 1, "channels: not a number"),
            (
                "channels = 99999999999999999999",
                1,
                "channels: not a number, or too large",
            ),
            ("[bar]\n\nmsix_base = 0x50000", 3, "bar.msix_base"),
            ("irq = \"msix\"\n[bar]\nmsix_base = 8", 3, "bar.msix_base"),
            (
                "[bar]\nchan_base = 0x40010",
                2,
                "bar.chan_base = 0x40010 is not possible",
            ),
            (
                "[port]\nkind = \"stream\"",
                2,
                "port.kind = \"stream\" is not",
            ),
            ("[port]\n\nkind = 3", 3, "port.kind = 3 is not"),
            ("[port]\nkind = \"tlp\"\ngen = 4", 3, "port.gen = 4"),
            ("[port]\nkind = \"tlp\"\ngen = \"3\"", 3, "port.gen"),
            (
                "\nirq = \"rxm\"\n[port]\nkind = \"tlp\"",
                2,
                "irq = \"rxm\" is given",
            ),
            ("[port]\nkind = \"txs\"\ngen = 3", 3, "only a TLP port"),
            ("[port]\nwidth = 256", 2, "width"),
            ("[identity]\ndevice = 0", 2, "identity.device = 0"),
            (
                "[identity]\n\nsubsystem_device = 0xffff",
                3,
                "identity.subsystem_device",
            ),
            ("[identity]\nversion_id = -1", 2, "identity.version_id"),
            (
                "[identity]\nboard_suffix = \"a/b\"",
                2,
                "identity.board_suffix",
            ),
            ("[identity]\nname = \"x\"", 2, "name"),
            ("\natt_entrys = 4096", 2, "att_entrys"),
            ("att_entries = -4096", 1, "att_entries"),
            ("\n\natt_entries = ", 3, ""),
        ] {
            let e = parse(text).expect_err(text);
            assert_eq!(e.kind, ErrorKind::Config);
            assert_eq!(e.place.line, Some(line), "{text}: {e}");
            assert!(e.to_string().contains(key), "{text}: {e}");
            assert!(!e.paragraph().contains('\n'), "{e}");
        }
    }

    /// A misspelt key gets a suggestion only if a similar key exists.
    #[test]
    fn a_misspelt_key_is_told_what_was_meant() {
        for (text, meant) in [
            ("chanels = 4", Some("Did you mean channels?")),
            ("att_entrys = 4096", Some("Did you mean att_entries?")),
            ("[bar]\nchan_bas = 4096", Some("Did you mean chan_base?")),
            ("colour = 3", None),
            (
                "[port]\nkind = \"tlp\"\nchannels = 16",
                Some("The key channels belongs to the first lines, above every [section]."),
            ),
            ("kind = \"tlp\"", Some("The key kind belongs below [port].")),
            ("gen = 3", Some("The key gen belongs below [port].")),
            (
                "[bar]\nvendor = 3",
                Some("The key vendor belongs below [identity]."),
            ),
            ("mode = \"windows\"", None),
        ] {
            let e = parse(text).expect_err(text);
            assert!(e.to_string().contains("there is no key"), "{e}");
            match meant {
                Some(meant) => assert!(e.hint.to_string().starts_with(meant), "{}", e.hint),
                None => assert!(!e.hint.to_string().contains("mean"), "{}", e.hint),
            }
            // Neither the TOML reader's own words nor keys that would be refused.
            for word in ["field", "expected", "windows", "i64"] {
                assert!(!e.paragraph().contains(word), "{}", e.paragraph());
            }
        }
    }

    /// A build file says nothing about a port with the defaults, so older build files stay readable with the same
    /// meaning.
    #[test]
    fn a_port_is_kept_where_it_is_not_the_usual_one() {
        let usual = serde_json::to_string(&Config::default()).unwrap();
        assert!(
            !usual.contains("kind") && !usual.contains("\"port\""),
            "{usual}"
        );
        let config = parse("[port]\nkind = \"tlp\"\ngen = 3").unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert!(text.contains(r#""port":{"kind":"tlp","gen":3}"#), "{text}");
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
        // A port other than the one that a board gets by default.
        let txs = parse("[port]\nkind = \"txs\"").unwrap();
        assert!(!txs.has_tlp_port() && txs != Config::default());
        assert_eq!(parse("[port]\ngen = 3").unwrap().port, config.port);
        // The only kind of interrupts that this port has.
        assert_eq!(config.irq, Irq::Msix);
        assert_eq!(
            serde_json::from_str::<Config>(&usual).unwrap(),
            Config::default()
        );
    }

    #[test]
    fn sizes_follow_the_configuration() {
        let c = parse("att_entries = 256").unwrap();
        assert_eq!((c.att_bytes(), c.chan_bytes()), (2048, 32768));
        let c = parse("channels = 64\nirq = \"msix\"").unwrap();
        assert_eq!((c.chan_bytes(), c.vectors()), (0x4_0000, 66));
        let names = |c: &Config| c.new_slaves().iter().map(|s| s.name).collect::<Vec<_>>();
        assert_eq!(names(&c), ["chan", "att", "msix"]);
        assert_eq!(names(&Config::default()), ["chan", "att"]);
    }
}
