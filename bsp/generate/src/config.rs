//! The configuration file of `peerlane extend`.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

pub use crate::toml_values::Places;
pub use peerlane_bsp_platform::key::Key;
pub use peerlane_hdl::Irq;

use crate::toml_values::Source;
use crate::toml_words::words;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
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
            places: Places::default(),
        }
    }
}

/// The file as written: every key is optional, and each value has its place.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    port_bits: Option<Spanned<Value>>,
    att_entries: Option<Spanned<Value>>,
    queue_depth: Option<Spanned<Value>>,
    channels: Option<Spanned<Value>>,
    irq: Option<Spanned<Value>>,
    interconnect_stages: Option<Spanned<Value>>,
    port: PortFile,
    bar: BarFile,
    identity: IdentityFile,
    sdk: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PortFile {
    kind: Option<Spanned<Value>>,
    #[serde(rename = "gen")]
    generation: Option<Spanned<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BarFile {
    chan_base: Option<Spanned<Value>>,
    att_base: Option<Spanned<Value>>,
    msix_base: Option<Spanned<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct IdentityFile {
    vendor: Option<Spanned<Value>>,
    device: Option<Spanned<Value>>,
    subsystem_vendor: Option<Spanned<Value>>,
    subsystem_device: Option<Spanned<Value>>,
    version_id: Option<Spanned<Value>>,
    board_suffix: Option<Spanned<String>>,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line and the key, [`ErrorKind::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &text::read_small(path)?)
    }

    /// Checks the text of a file.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line and the key.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let source = Source { path, text };
        let file: File = toml::from_str(text).map_err(|e| {
            let place = e.span().map(|span| source.place(span));
            let (what, meant) = words(e.message(), text, e.span());
            let meant = elsewhere(e.message()).or(meant);
            let meant = meant.map_or(String::new(), |meant| format!("{meant} "));
            Error::new(
                ErrorKind::Config,
                place.unwrap_or_else(|| Place::file(path)),
                what,
                format!(
                    "{meant}`peerlane config` prints every key with its default and its range."
                ),
            )
        })?;
        let checker = Checker(source);
        let mut config = Self::default();
        let power_of_two = |least: i64, most: i64| {
            move |v: i64| (least..=most).contains(&v) && v.count_ones() == 1
        };
        if let Some(value) = &file.port_bits {
            config.port_bits = Some(checker.number(
                "port_bits",
                value,
                |v| v == 128 || v == 256,
                "Use 128 or 256, or leave the key out to take the width of the hard IP.",
            )?);
        }
        checker.set(
            &mut config.att_entries,
            "att_entries",
            &file.att_entries,
            power_of_two(256, 65536),
            "Use a power of two from 256 to 65536.",
        )?;
        checker.set(
            &mut config.queue_depth,
            "queue_depth",
            &file.queue_depth,
            power_of_two(256, 4096),
            "Use a power of two from 256 to 4096.",
        )?;
        checker.set(
            &mut config.channels,
            "channels",
            &file.channels,
            power_of_two(1, 64),
            "Use a power of two from 1 to 64.",
        )?;
        if let Some(value) = &file.queue_depth
            && (config.channels, config.queue_depth) == (1, 4096)
        {
            return Err(checker.0.error(
                value.span(),
                "queue_depth = 4096 is not possible with channels = 1: the sequence numbers of chained descriptors are \
                 too small for so many"
                    .into(),
                "Set queue_depth = 2048, or more channels.",
            ));
        }
        config.port = port(&checker, &file.port)?;
        let streams = config.has_tlp_port();
        if streams {
            config.irq = Irq::Msix;
        }
        if let Some(irq) = &file.irq {
            config.irq_asked = true;
            config.irq = irq.get_ref().clone().try_into().map_err(|_| {
                checker.0.error(
                    irq.span(),
                    format!("irq = {} is not possible", checker.written(irq)),
                    "Use `rxm` or `msix`: `peerlane config` explains both.",
                )
            })?;
        }
        if let (true, Irq::Rxm, Some(irq)) = (streams, config.irq, &file.irq) {
            return Err(checker.0.error(
                irq.span(),
                "irq = \"rxm\" is given, but with a TLP port there is no RxmIrq, and no register by which the driver \
                 finds the source of an interrupt"
                    .into(),
                "Set irq = \"msix\", which a TLP port has, or leave the key out.",
            ));
        }
        if let Some(value) = &file.interconnect_stages {
            // Platform Designer user guide 683364, "Limit interconnect pipeline stages to".
            let possible = |v: i64| (0..=4).contains(&v);
            let hint = "Use 0 to 4, or \"vendor\" to keep the limit of the vendor's BSP.";
            config.interconnect_stages = match value.get_ref().as_str() {
                Some("vendor") => None,
                _ => Some(checker.number("interconnect_stages", value, possible, hint)?),
            };
        }
        let page = |v: i64| (0..1 << 31).contains(&v) && v % 4096 == 0;
        let of_size = |what: &str, bytes: u64| {
            format!("Use a multiple of the size of the {what}, {bytes:#x}, below 2 GiB.")
        };
        if let Some(value) = &file.bar.chan_base {
            let hint = of_size("channels", config.chan_bytes());
            config.bar.chan_base = Some(checker.number("bar.chan_base", value, page, &hint)?);
        }
        if let Some(value) = &file.bar.att_base {
            let hint = of_size("table", config.att_bytes());
            config.bar.att_base = Some(checker.number("bar.att_base", value, page, &hint)?);
        }
        if let Some(value) = &file.bar.msix_base {
            if config.irq != Irq::Msix {
                return Err(checker.0.error(
                    value.span(),
                    "bar.msix_base is given, but the block has no table of interrupt vectors"
                        .into(),
                    "Set irq = \"msix\", or leave the key out.",
                ));
            }
            let hint = of_size("vectors' table", u64::from(MSIX_BYTES));
            config.bar.msix_base = Some(checker.number("bar.msix_base", value, page, &hint)?);
        }
        config.identity = identity(&checker, &file.identity)?;
        if let Some(sdk) = &file.sdk {
            let text = sdk.get_ref();
            if !is_known_sdk(text) {
                let what = format!("sdk = {text:?} is not a version from 13.1 to 18.1");
                let hint =
                    "Write the version of the OpenCL SDK that compiles the board, as \"14.0\".";
                return Err(checker.0.error(sdk.span(), what, hint));
            }
            config.sdk = Some(text.clone());
        }
        for (key, value) in [
            (Key::PortBits, &file.port_bits),
            (Key::PortKind, &file.port.kind),
            (Key::Generation, &file.port.generation),
            (Key::ChanBase, &file.bar.chan_base),
            (Key::AttBase, &file.bar.att_base),
            (Key::MsixBase, &file.bar.msix_base),
            (Key::SubsystemDevice, &file.identity.subsystem_device),
        ] {
            if let Some(value) = value {
                config.places.note(key, source.place(value.span()));
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

/// Returns the section that a misplaced key belongs to, as a sentence.
fn elsewhere(message: &str) -> Option<String> {
    let sections = [
        ("", keys::<File>()),
        ("port", keys::<PortFile>()),
        ("bar", keys::<BarFile>()),
        ("identity", keys::<IdentityFile>()),
    ];
    let key = message.strip_prefix("unknown field `")?.split('`').next()?;
    if sections.iter().any(|(section, _)| *section == key) {
        return None;
    }
    let has = |(_, keys): &&(&str, Vec<String>)| keys.iter().any(|known| known == key);
    let (section, _) = sections.iter().find(has)?;
    Some(match *section {
        "" => format!("The key {key} belongs to the first lines, above every [section]."),
        section => format!("The key {key} belongs below [{section}]."),
    })
}

/// Returns the keys of a section: the reader lists them when it finds an unknown one.
fn keys<T: DeserializeOwned>() -> Vec<String> {
    let error = toml::from_str::<T>("\"\" = 0").err();
    let message = error.map_or(String::new(), |error| error.message().to_string());
    let quoted = message.split('`').skip(1).step_by(2);
    // The first quoted word is the unknown key.
    quoted.skip(1).map(str::to_string).collect()
}

/// Reads the port that a file asks for.
fn port(checker: &Checker<'_>, file: &PortFile) -> Result<Port> {
    let mut port = Port::default();
    if let Some(kind) = &file.kind {
        let kind = kind.get_ref().clone().try_into().map_err(|_| {
            checker.0.error(
                kind.span(),
                format!("port.kind = {} is not possible", checker.written(kind)),
                "Use `txs` or `tlp`: `peerlane config` explains both.",
            )
        })?;
        port.kind = Some(kind);
    }
    if let Some(value) = &file.generation {
        let hint = "Use 3, or 1 or 2 if the hard IP already has this generation. Without the key the vendor's \
                      generation stays.";
        let possible = |v: i64| (1..=3).contains(&v);
        port.generation = Some(checker.number("port.gen", value, possible, hint)?);
        // Only the stream supports `port.gen`, so a file with `port.gen` alone asks for the stream.
        if *port.kind.get_or_insert(PortKind::Tlp) != PortKind::Tlp {
            return Err(checker.0.error(
                value.span(),
                "port.gen is given, but only a TLP port can have another generation: Gen3 of eight lanes needs 256 \
                 bits, which the hard IP's Txs does not have"
                    .into(),
                "Set port.kind = \"tlp\", or leave port.gen out.",
            ));
        }
    }
    Ok(port)
}

/// Reads the identity that a file asks for.
fn identity(checker: &Checker<'_>, file: &IdentityFile) -> Result<Identity> {
    let mut identity = Identity::default();
    // All zeros and all ones are not IDs (PCI Local Bus Specification 3.0, 6.2.1 and 6.2.4).
    let id = |v: i64| (1..0xffff).contains(&v);
    let hint = "Use an ID from 1 to 0xfffe.";
    for (into, key, value) in [
        (&mut identity.vendor, "identity.vendor", &file.vendor),
        (&mut identity.device, "identity.device", &file.device),
        (
            &mut identity.subsystem_vendor,
            "identity.subsystem_vendor",
            &file.subsystem_vendor,
        ),
    ] {
        if let Some(value) = value {
            *into = Some(checker.number(key, value, id, hint)?);
        }
    }
    let device = &mut identity.subsystem_device;
    checker.set(
        device,
        "identity.subsystem_device",
        &file.subsystem_device,
        id,
        hint,
    )?;
    checker.set(
        &mut identity.version_id,
        "identity.version_id",
        &file.version_id,
        |v| (1..0xffff_ffff).contains(&v),
        "Use a number of 32 bits.",
    )?;
    if let Some(value) = &file.board_suffix {
        let suffix = value.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !suffix.chars().all(plain) || suffix.len() > 64 {
            return Err(checker.0.error(
                value.span(),
                format!(
                    "identity.board_suffix = {suffix:?} cannot be a part of a directory's name"
                ),
                "Use letters, digits, \"_\" and \"-\", 64 at most.",
            ));
        }
        identity.board_suffix.clone_from(suffix);
    }
    Ok(identity)
}

/// The values of a file.
struct Checker<'a>(Source<'a>);

impl Checker<'_> {
    /// Returns a value as it is written, or its beginning.
    fn written(&self, value: &Spanned<Value>) -> String {
        let text = self.0.text.get(value.span()).unwrap_or_default();
        text.chars().take(40).collect()
    }

    fn number<T: TryFrom<i64>>(
        &self,
        key: &str,
        value: &Spanned<Value>,
        good: impl Fn(i64) -> bool,
        hint: &str,
    ) -> Result<T> {
        let Some(number) = value.get_ref().as_integer() else {
            let what = format!("{key} = {} is not a whole number", self.written(value));
            return Err(self.0.error(value.span(), what, hint));
        };
        self.0.number(key, (number, value.span()), good, hint)
    }

    fn set<T: TryFrom<i64>>(
        &self,
        into: &mut T,
        key: &str,
        value: &Option<Spanned<Value>>,
        good: impl Fn(i64) -> bool,
        hint: &str,
    ) -> Result<()> {
        if let Some(value) = value {
            *into = self.number(key, value, good, hint)?;
        }
        Ok(())
    }
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
