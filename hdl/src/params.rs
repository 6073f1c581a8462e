//! Parameters of a build of the block.

use peerlane_core::board::Shell;
use serde::{Deserialize, Serialize};

/// Name of the top module.
pub const TOP: &str = "peerlane_dma";

/// Bytes of the registers and of the table of interrupt vectors, as powers of two.
pub const CSR_LOG2: u32 = 10;
/// See [`CSR_LOG2`].
pub const MSIX_LOG2: u32 = 12;

/// Form of the PCIe port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Port {
    /// An Avalon-MM master for the hard IP's `Txs` slave.
    Txs,
    /// Tagged request and completion streams, for an adapter to transaction layer packets.
    Stream,
    /// The streams of `Stream`, connected to the block's own transaction layer, on the hard IP's Avalon-ST interface.
    Tlp,
}

/// How the block interrupts the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Irq {
    /// A level line to the hard IP's `RxmIrq`, which makes an MSI of it.
    Rxm,
    /// An MSI-X table in the block; a message is a write through the port. The line is there too.
    Msix,
}

/// Byte offsets of the block's slaves in the BAR through which the host reaches them.
///
/// The system around the block decides them. Only a build with a transaction layer uses them, to decode requests of the
/// host. But software must know them before it may touch the block, so `BUILD_ID` covers them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slaves {
    /// Number of the BAR.
    pub bar: u32,
    /// Control and status registers.
    pub csr: u64,
    /// Channel pages.
    pub chan: u64,
    /// Address translation table.
    pub att: u64,
    /// MSI-X table, in builds with one.
    pub msix: Option<u64>,
    /// Window into FPGA memory (`s_nondma`), where the host reaches it.
    pub window: Option<u64>,
}

impl Slaves {
    fn canonical(&self) -> String {
        let optional = |offset: Option<u64>| offset.map_or("none".into(), |at| format!("{at:#x}"));
        format!(
            "bar={} csr={:#x} chan={:#x} att={:#x} msix={} window={}",
            self.bar,
            self.csr,
            self.chan,
            self.att,
            optional(self.msix),
            optional(self.window)
        )
    }
}

/// A stream from the FPGA's logic to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Bits of a word of the logic: 64, 128, 256 or 512.
    pub bits: u32,
    /// The words come in packets, and each packet ends a block.
    #[serde(default)]
    pub packets: bool,
    /// The logic cannot wait: words that find no room are lost, and counted.
    #[serde(default)]
    pub lossy: bool,
}

/// A stream from peers to the FPGA's logic. Each descriptor is a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Bits of a word of the logic: 64, 128, 256 or 512.
    pub bits: u32,
}

/// The streams of one direction, numbered from 0; at most 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    try_from = "Vec<T>",
    into = "Vec<T>",
    bound(
        serialize = "T: Copy + Serialize",
        deserialize = "T: Copy + Deserialize<'de>"
    )
)]
pub struct Streams<T: Copy>([Option<T>; 16]);

impl<T: Copy> Default for Streams<T> {
    fn default() -> Self {
        Self([None; 16])
    }
}

impl<T: Copy> Streams<T> {
    /// Returns the streams in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// Returns the number of streams.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Reports whether the build has no stream of this direction.
    pub fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }
}

impl<T: Copy> TryFrom<Vec<T>> for Streams<T> {
    type Error = String;

    fn try_from(list: Vec<T>) -> Result<Self, String> {
        let mut streams = Self::default();
        if list.len() > streams.0.len() {
            return Err(format!(
                "{} streams; a build has at most 16 of a direction",
                list.len()
            ));
        }
        for (place, stream) in streams.0.iter_mut().zip(list) {
            *place = Some(stream);
        }
        Ok(streams)
    }
}

impl<T: Copy> From<Streams<T>> for Vec<T> {
    fn from(streams: Streams<T>) -> Self {
        streams.iter().copied().collect()
    }
}

/// Bytes of the window into FPGA memory.
const WINDOW_BYTES: u64 = 1 << 16;

/// Returns the width of a count of beats on `Txs`: as wide as its largest burst of 512 bytes needs and no wider
/// (Stratix V Avalon-MM interface for PCIe user guide 683411, A.4.2 and A.4.3). The interconnect relies on the width
/// that a master declares.
pub fn txs_burst_bits(port_bits: u32) -> u32 {
    (512 * 8 / port_bits).ilog2() + 1
}

/// Build parameters. The defaults fit a Stratix V OpenCL BSP (Gen2 x8, 128-bit `Txs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Form of the PCIe port.
    pub port: Port,
    /// How the host is interrupted.
    pub irq: Irq,
    /// Width of the PCIe port in bits: 128 or 256, as the hard IP's Avalon-MM data width.
    pub port_bits: u32,
    /// Address bits of the PCIe port: 64 (PCIe bus addresses), or 32 (the hard IP translates, in
    /// windows).
    pub txs_addr_bits: u32,
    /// Channels: 1, 2, 4, 8, 16, 32 or 64.
    pub channels: u32,
    /// Descriptors that wait in all channels of one direction, log2: 8–12; with one channel 8–11.
    pub queue_log2: u32,
    /// Entries of the address translation table, log2: 8–16.
    pub att_log2: u32,
    /// Bytes of FPGA memory, log2: 20–40. A descriptor that goes beyond is refused; a board's interconnect need not
    /// answer at addresses after the last byte.
    pub memory_log2: u32,
    /// Read requests between the request maker and FPGA memory, log2: 3–6. `Txs` itself has 8 in
    /// flight.
    pub reads_log2: u32,
    /// Beats of the receive buffer, log2: 9–12. A read leaves when the buffer has room for it.
    pub receive_log2: u32,
    /// Where the slaves lie in the host's BAR; `None` for a block that no BAR leads to, as on a test
    /// bench.
    pub slaves: Option<Slaves>,
    /// Bytes of that BAR, log2: 12–32. A build with a transaction layer decodes so many address bits, and passes
    /// accesses to addresses that are not the block's own to the board. `None` stands for 256 KiB, or for more where
    /// the slaves need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar_log2: Option<u32>,
    /// Clock of the PCIe port in MHz: 250, or 125. A build with a transaction layer measures by it how long a read may
    /// take.
    #[serde(skip_serializing_if = "is_usual_clock")]
    pub clock_mhz: u32,
    /// Streams from the FPGA's logic to peers.
    #[serde(skip_serializing_if = "Streams::is_empty")]
    pub inputs: Streams<Input>,
    /// Streams from peers to the FPGA's logic.
    #[serde(skip_serializing_if = "Streams::is_empty")]
    pub outputs: Streams<Output>,
    /// Hash of the description of the rest of the board ([`shell_hash`]). The block does not use it, but software must
    /// know the rest of the board, so `BUILD_ID` covers it, too. `None` for a board without a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<u32>,
}

/// Returns [`Params::shell`] for the description of the rest of a board.
pub fn shell_hash(shell: &Shell) -> u32 {
    peerlane_regmap::hash(&shell.to_string())
}

/// Clock of the PCIe port, unless it is said: that of Gen2 x8 with 128 bits, in MHz.
const USUAL_CLOCK: u32 = 250;

fn is_usual_clock(mhz: &u32) -> bool {
    *mhz == USUAL_CLOCK
}

impl Default for Params {
    fn default() -> Self {
        Self {
            port: Port::Txs,
            irq: Irq::Rxm,
            port_bits: 128,
            txs_addr_bits: 64,
            channels: 8,
            queue_log2: 10,
            att_log2: 12,
            memory_log2: 32,
            reads_log2: 5,
            receive_log2: 9,
            slaves: None,
            bar_log2: None,
            clock_mhz: USUAL_CLOCK,
            inputs: Streams::default(),
            outputs: Streams::default(),
            shell: None,
        }
    }
}

/// A parameter with a value that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("build parameter `{name}` is {value}; it must be {allowed}")]
pub struct ParamError {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub value: u32,
    /// Values that it may have.
    pub allowed: &'static str,
}

impl Params {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), ParamError> {
        let check = |ok: bool, name, value, allowed| {
            if ok {
                Ok(())
            } else {
                Err(ParamError {
                    name,
                    value,
                    allowed,
                })
            }
        };
        check(
            matches!(self.port_bits, 128 | 256),
            "port_bits",
            self.port_bits,
            "128 or 256",
        )?;
        check(
            matches!(self.txs_addr_bits, 32 | 64),
            "txs_addr_bits",
            self.txs_addr_bits,
            "32 or 64",
        )?;
        check(
            self.channels.is_power_of_two() && self.channels <= 64,
            "channels",
            self.channels,
            "1, 2, 4, 8, 16, 32 or 64",
        )?;
        check(
            (8..=12).contains(&self.queue_log2),
            "queue_log2",
            self.queue_log2,
            "8 to 12 (256 to 4096 descriptors)",
        )?;
        // A chained descriptor compares numbers modulo 2^13, right up to 4096 that have not ended. A channel has
        // those that wait and some hundred that have been started.
        check(
            self.channels != 1 || self.queue_log2 < 12,
            "queue_log2",
            self.queue_log2,
            "8 to 11 (256 to 2048 descriptors) with one channel",
        )?;
        check(
            (8..=16).contains(&self.att_log2),
            "att_log2",
            self.att_log2,
            "8 to 16 (256 to 65536 entries)",
        )?;
        check(
            (20..=40).contains(&self.memory_log2),
            "memory_log2",
            self.memory_log2,
            "20 to 40 (1 MiB to 1 TiB)",
        )?;
        check(
            (3..=6).contains(&self.reads_log2),
            "reads_log2",
            self.reads_log2,
            "3 to 6 (8 to 64 requests)",
        )?;
        check(
            (9..=12).contains(&self.receive_log2),
            "receive_log2",
            self.receive_log2,
            "9 to 12 (512 to 4096 beats)",
        )?;
        let inputs = self.inputs.iter().map(|input| ("inputs.bits", input.bits));
        let outputs = (self.outputs.iter()).map(|output| ("outputs.bits", output.bits));
        for (name, bits) in inputs.chain(outputs) {
            let good = matches!(bits, 64 | 128 | 256 | 512);
            check(good, name, bits, "64, 128, 256 or 512")?;
        }
        // The highest address bit of the engine says that data are a stream's.
        check(
            self.outputs.is_empty() || self.memory_log2 < 40,
            "memory_log2",
            self.memory_log2,
            "at most 39 in builds with outputs",
        )?;
        let table = self.irq == Irq::Msix;
        check(
            self.slaves
                .is_none_or(|slaves| slaves.msix.is_some() == table),
            "slaves.msix",
            u32::from(!table),
            "present in builds with irq = \"msix\", and only there",
        )?;
        if let Some(log2) = self.bar_log2 {
            check(
                self.port == Port::Tlp && (12..=32).contains(&log2),
                "bar_log2",
                log2,
                "12 to 32 (4 KiB to 4 GiB), and only in builds with port = \"tlp\"",
            )?;
        }
        check(
            is_usual_clock(&self.clock_mhz) || self.port == Port::Tlp && self.clock_mhz == 125,
            "clock_mhz",
            self.clock_mhz,
            "250, or 125 in builds with port = \"tlp\"",
        )?;
        let Some(slaves) = self.bridged() else {
            return Ok(());
        };
        check(
            slaves.bar < 6,
            "slaves.bar",
            slaves.bar,
            "0 to 5 in builds with port = \"tlp\"",
        )?;
        let places = self.places(slaves);
        for (index, (name, at, bytes)) in places.iter().enumerate() {
            let apart = places[..index]
                .iter()
                .all(|(_, other, size)| at + bytes <= *other || other + size <= *at);
            check(
                at.is_multiple_of(*bytes) && at + bytes <= 1 << 31 && apart,
                name,
                *at as u32,
                "in builds with port = \"tlp\" a multiple of the slave's size, below 2 GiB and outside the ranges of \
                 the other slaves",
            )?;
        }
        if let Some(log2) = self.bar_log2 {
            check(
                self.slaves_end(slaves) <= 1 << log2,
                "bar_log2",
                log2,
                "large enough for the BAR to contain all slaves",
            )?;
        }
        Ok(())
    }

    /// The slaves' places, where the block itself leads the host to them.
    pub(crate) fn bridged(&self) -> Option<&Slaves> {
        self.slaves.as_ref().filter(|_| self.port == Port::Tlp)
    }

    /// Name, offset and bytes of each slave that the host reaches through the block.
    fn places(&self, slaves: &Slaves) -> Vec<(&'static str, u64, u64)> {
        let mut places = vec![
            ("slaves.csr", slaves.csr, 1 << CSR_LOG2),
            ("slaves.chan", slaves.chan, u64::from(self.channels) << 12),
            ("slaves.att", slaves.att, 8 << self.att_log2),
        ];
        places.extend(slaves.msix.map(|at| ("slaves.msix", at, 1 << MSIX_LOG2)));
        places
    }

    /// The end of the last of them, or of the window.
    pub(crate) fn slaves_end(&self, slaves: &Slaves) -> u64 {
        let places = self.places(slaves).into_iter();
        let ends = places.map(|(_, at, bytes)| at + bytes);
        let window = slaves.window.map(|at| at + WINDOW_BYTES);
        ends.chain(window).max().unwrap_or(0)
    }

    /// Channels, log2.
    pub fn channels_log2(&self) -> u32 {
        self.channels.ilog2()
    }

    /// Descriptors of one channel and direction.
    pub fn queue_depth(&self) -> u32 {
        (1 << self.queue_log2) / self.channels
    }

    /// Returns the parameters as text, the same for the same build. `BUILD_ID` is hashed from it.
    pub fn canonical(&self) -> String {
        let block = format!(
            "port={} irq={} port_bits={} txs_addr_bits={} channels={} queue_log2={} att_log2={} \
             memory_log2={} reads_log2={} receive_log2={}",
            match self.port {
                Port::Txs => "txs",
                Port::Stream => "stream",
                Port::Tlp => "tlp",
            },
            match self.irq {
                Irq::Rxm => "rxm",
                Irq::Msix => "msix",
            },
            self.port_bits,
            self.txs_addr_bits,
            self.channels,
            self.queue_log2,
            self.att_log2,
            self.memory_log2,
            self.reads_log2,
            self.receive_log2
        );
        let slaves = self
            .slaves
            .map_or(String::new(), |slaves| format!(" {}", slaves.canonical()));
        let bar = self
            .bar_log2
            .map_or(String::new(), |log2| format!(" bar_log2={log2}"));
        let clock = match self.clock_mhz {
            USUAL_CLOCK => String::new(),
            mhz => format!(" clock_mhz={mhz}"),
        };
        let mut streams = String::new();
        for stream in self.inputs.iter() {
            let with = |on: bool, word: &'static str| if on { word } else { "" };
            streams += &format!(
                " input={}{}{}",
                stream.bits,
                with(stream.packets, ",packets"),
                with(stream.lossy, ",lossy")
            );
        }
        for stream in self.outputs.iter() {
            streams += &format!(" output={}", stream.bits);
        }
        let shell = self
            .shell
            .map_or(String::new(), |hash| format!(" shell={hash:08x}"));
        format!("{block}{slaves}{bar}{clock}{streams}{shell}")
    }

    /// The value of the `BUILD_ID` register.
    pub fn build_id(&self) -> u32 {
        peerlane_regmap::Map::load().build_id(&self.canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_core::board::{Board, Ids};
    use peerlane_core::shell::OpenCl;
    use sha2::Digest;

    #[test]
    fn defaults_are_valid() {
        assert_eq!(Params::default().validate(), Ok(()));
    }

    #[test]
    fn no_burst_of_more_than_512_bytes_can_be_declared() {
        for (port_bits, beats) in [(128, 32), (256, 16)] {
            // Platform Designer takes the largest burst from the width: 2^(n - 1) beats.
            assert_eq!(1 << (txs_burst_bits(port_bits) - 1), beats);
            let design = crate::generate(&Params {
                port_bits,
                ..Default::default()
            })
            .unwrap();
            let port = design.ports.iter().find(|p| p.name == "txs_burstcount");
            assert_eq!(port.unwrap().width, txs_burst_bits(port_bits) as usize);
        }
    }

    #[test]
    fn each_parameter_has_bounds() {
        let bad = [
            (
                "port_bits",
                Params {
                    port_bits: 64,
                    ..Default::default()
                },
            ),
            (
                "txs_addr_bits",
                Params {
                    txs_addr_bits: 48,
                    ..Default::default()
                },
            ),
            (
                "channels",
                Params {
                    channels: 12,
                    ..Default::default()
                },
            ),
            (
                "reads_log2",
                Params {
                    reads_log2: 7,
                    ..Default::default()
                },
            ),
            (
                "receive_log2",
                Params {
                    receive_log2: 8,
                    ..Default::default()
                },
            ),
            (
                "queue_log2",
                Params {
                    queue_log2: 13,
                    ..Default::default()
                },
            ),
            (
                "queue_log2",
                Params {
                    channels: 1,
                    queue_log2: 12,
                    ..Default::default()
                },
            ),
            (
                "att_log2",
                Params {
                    att_log2: 7,
                    ..Default::default()
                },
            ),
            (
                "memory_log2",
                Params {
                    memory_log2: 41,
                    ..Default::default()
                },
            ),
        ];
        for (name, params) in bad {
            assert_eq!(params.validate().unwrap_err().name, name);
        }
    }

    #[test]
    fn every_place_changes_the_build_id() {
        let places = Slaves {
            bar: 2,
            csr: 0x3000,
            chan: 0x2_0000,
            att: 0x2_8000,
            msix: None,
            window: Some(0x1_0000),
        };
        let others = [
            Slaves { bar: 0, ..places },
            Slaves {
                csr: 0x3400,
                ..places
            },
            Slaves {
                chan: 0x2_8000,
                att: 0x2_0000,
                ..places
            },
            Slaves {
                att: 0x3_0000,
                ..places
            },
            Slaves {
                msix: Some(0x3_0000),
                ..places
            },
            Slaves {
                msix: Some(0x3_1000),
                ..places
            },
            Slaves {
                window: None,
                ..places
            },
            Slaves {
                window: Some(0),
                ..places
            },
            places,
        ];
        let id = |slaves| {
            Params {
                slaves,
                ..Params::default()
            }
            .build_id()
        };
        let mut ids = vec![id(None)];
        ids.extend(others.map(|slaves| id(Some(slaves))));
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{index}");
        }
    }

    #[test]
    fn a_table_of_vectors_has_a_place() {
        let places = Slaves {
            bar: 0,
            csr: 0,
            chan: 0x8000,
            att: 0x1_0000,
            msix: None,
            window: None,
        };
        let with = |irq, msix| {
            let slaves = Some(Slaves { msix, ..places });
            let params = Params {
                irq,
                slaves,
                ..Params::default()
            };
            params.validate().is_ok()
        };
        assert!(with(Irq::Rxm, None) && with(Irq::Msix, Some(0x1000)));
        assert!(!with(Irq::Msix, None) && !with(Irq::Rxm, Some(0x1000)));
    }

    #[test]
    fn a_bar_holds_the_slaves_of_a_build_that_decodes_it() {
        let slaves = Some(Slaves {
            bar: 0,
            csr: 0xC800,
            chan: 0x2_0000,
            att: 0x2_8000,
            msix: None,
            window: Some(0x4_0000),
        });
        let refused = |port, slaves, bar_log2| {
            let params = Params {
                port,
                slaves,
                bar_log2: Some(bar_log2),
                ..Params::default()
            };
            params.validate().err().map(|e| e.name)
        };
        // The window ends at 0x5_0000.
        assert_eq!(refused(Port::Tlp, slaves, 19), None);
        assert_eq!(refused(Port::Tlp, slaves, 18), Some("bar_log2"));
        assert_eq!(refused(Port::Tlp, slaves, 32), None);
        assert_eq!(refused(Port::Tlp, slaves, 33), Some("bar_log2"));
        assert_eq!(refused(Port::Tlp, None, 12), None);
        assert_eq!(refused(Port::Tlp, None, 11), Some("bar_log2"));
        assert_eq!(refused(Port::Txs, slaves, 29), Some("bar_log2"));
        assert_eq!(refused(Port::Stream, None, 29), Some("bar_log2"));
    }

    /// Boards that were built before there was a size of the BAR keep their number.
    #[test]
    fn a_build_without_a_size_of_the_bar_is_named_as_ever() {
        assert_eq!(
            Params::default().canonical(),
            "port=txs irq=rxm port_bits=128 txs_addr_bits=64 channels=8 queue_log2=10 att_log2=12 \
             memory_log2=32 reads_log2=5 receive_log2=9"
        );
        let sized = Params {
            port: Port::Tlp,
            bar_log2: Some(29),
            ..Params::default()
        };
        assert!(sized.canonical().ends_with(" receive_log2=9 bar_log2=29"));
    }

    /// The record of a build names its clock, where that is not the usual one, and only a transaction layer looks at
    /// it.
    #[test]
    fn a_slow_clock_is_one_of_a_transaction_layer() {
        let slow = Params {
            port: Port::Tlp,
            clock_mhz: 125,
            ..Params::default()
        };
        slow.validate().unwrap();
        assert!(slow.canonical().ends_with(" clock_mhz=125"));
        for wrong in [
            Params {
                port: Port::Txs,
                ..slow
            },
            Params {
                clock_mhz: 62,
                ..slow
            },
        ] {
            assert_eq!(wrong.validate().unwrap_err().name, "clock_mhz");
        }
    }

    /// Driver and hardware compute the same number: the driver from the description, with its own SHA-256.
    #[test]
    fn a_description_gives_the_build_id() {
        let shell = Shell {
            memory: 1 << 32,
            clock: 250_000_000,
            line: None,
            opencl: OpenCl::default(),
        };
        let slaves = Slaves {
            bar: 2,
            csr: 0x3000,
            chan: 0x2_0000,
            att: 0x2_8000,
            msix: None,
            window: Some(0x1_0000),
        };
        let params = Params {
            port: Port::Tlp,
            slaves: Some(slaves),
            clock_mhz: 125,
            shell: Some(shell_hash(&shell)),
            ..Params::default()
        };
        let block = params.canonical();
        let words: Vec<_> = block.split(' ').collect();
        assert_eq!(
            words[words.len() - 2..],
            [
                "clock_mhz=125",
                &format!("shell={:08x}", shell_hash(&shell))
            ]
        );
        let ids = Ids {
            vendor: 0x1172,
            device: 0xab00,
            subvendor: None,
            subdevice: None,
        };
        let text = Board {
            name: "b",
            ids,
            map_id: peerlane_core::regs::MAP_ID,
            block: &block,
            build_id: 0,
            shell,
        }
        .to_string();
        let board = Board::parse(&text, 0, |bytes| sha2::Sha256::digest(bytes).into()).unwrap();
        assert_eq!(board.build_id, params.build_id());
        assert_eq!(board.bar(), Ok(2));
    }

    #[test]
    fn every_parameter_changes_the_build_id() {
        let base = Params::default();
        let others = [
            Params {
                port_bits: 256,
                ..base
            },
            Params {
                txs_addr_bits: 32,
                ..base
            },
            Params {
                queue_log2: 11,
                ..base
            },
            Params {
                att_log2: 13,
                ..base
            },
            Params {
                memory_log2: 33,
                ..base
            },
            Params {
                channels: 4,
                ..base
            },
            Params {
                port: Port::Stream,
                ..base
            },
            Params {
                port: Port::Tlp,
                ..base
            },
            Params {
                irq: Irq::Msix,
                ..base
            },
            Params {
                reads_log2: 6,
                ..base
            },
            Params {
                receive_log2: 10,
                ..base
            },
            Params {
                bar_log2: Some(29),
                ..base
            },
            Params {
                clock_mhz: 125,
                ..base
            },
            Params {
                shell: Some(0x0bad_cafe),
                ..base
            },
        ];
        for other in others {
            assert_ne!(other.build_id(), base.build_id(), "{}", other.canonical());
        }
    }
}
