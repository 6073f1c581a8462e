//! The rows: the work of each, and the bar that it is to reach.

use peerlane_hdl::{Input, Output, Params, Port, Streams};
use peerlane_sim::{BoardConfig, Generation};

use crate::bar::Bar;
use crate::rig::Way;
use crate::thesis::Design;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

/// A row of the report.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The measured quantity.
    pub what: &'static str,
    /// The bar that it is to reach; without one the row is reported only.
    pub bar: Option<Bar>,
    /// The build that it measures, and its surroundings.
    pub(crate) variant: Variant,
    pub(crate) kind: Kind,
}

impl Scenario {
    /// Returns the bar of a row that is better the smaller its value is.
    pub(crate) fn at_most(&self) -> Option<f64> {
        match self.bar {
            Some(Bar::ValueAtMost(bar)) => Some(bar),
            _ => None,
        }
    }

    /// Returns the thesis's design, of a row that is calculated and needs no model of the block.
    pub(crate) fn design(&self) -> Option<Design> {
        match self.kind {
            Kind::Thesis(design) => Some(design),
            _ => None,
        }
    }

    /// Returns the build of the block that it needs.
    pub(crate) fn block(&self) -> Option<Variant> {
        self.design().is_none().then_some(self.variant)
    }
}

/// The build that a row measures, and its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The build that was asked for, by default with the `Txs` port.
    Asked,
    /// Tagged streams on the same link: 64 tags, 512-byte requests.
    Tagged,
    /// Tagged streams of 256 bits, a beat a cycle each way and no link: the engine alone.
    Alone256,
    /// The block's own transaction layer on a Gen2 x8 link, 128 bits.
    Gen2,
    /// The same on a Gen3 x8 link, 256 bits.
    Gen3,
    /// As `Asked`, `Gen2` and `Gen3` with eight streams from the logic and one to the logic, of 256 bits.
    AskedStreams,
    Gen2Streams,
    Gen3Streams,
}

impl Variant {
    pub const ALL: [Self; 8] = [
        Self::Asked,
        Self::Tagged,
        Self::Alone256,
        Self::Gen2,
        Self::Gen3,
        Self::AskedStreams,
        Self::Gen2Streams,
        Self::Gen3Streams,
    ];

    /// Returns the name for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::Asked => "the block with a Txs port",
            Self::Tagged => "the block with tagged streams",
            Self::Alone256 => "the engine alone, 256 bits",
            Self::Gen2 => "the block with a TLP port, Gen2 x8",
            Self::Gen3 => "the block with a TLP port, Gen3 x8",
            Self::AskedStreams => "the block with a Txs port and streams",
            Self::Gen2Streams => "the block with a TLP port and streams, Gen2 x8",
            Self::Gen3Streams => "the block with a TLP port and streams, Gen3 x8",
        }
    }

    /// Returns the build's parameters.
    pub fn params(self, asked: Params) -> Params {
        let stream = Params {
            port: Port::Stream,
            reads_log2: 6,
            receive_log2: 11,
            ..asked
        };
        // As much as the hard IP's buffer for completions may hold, and more.
        let packets = Params {
            port: Port::Tlp,
            receive_log2: 10,
            ..stream
        };
        let streams = |params| Params {
            inputs: streams(
                8,
                Input {
                    bits: 256,
                    packets: false,
                    lossy: false,
                },
            ),
            outputs: streams(1, Output { bits: 256 }),
            ..params
        };
        match self {
            Self::AskedStreams => streams(asked),
            Self::Gen2Streams => streams(Self::Gen2.params(asked)),
            Self::Gen3Streams => streams(Self::Gen3.params(asked)),
            Self::Asked => asked,
            Self::Tagged => stream,
            Self::Alone256 => Params {
                port_bits: 256,
                ..stream
            },
            Self::Gen2 => Params {
                port_bits: 128,
                ..packets
            },
            Self::Gen3 => Params {
                port_bits: 256,
                ..packets
            },
        }
    }

    /// Returns the board around it.
    pub fn config(self) -> BoardConfig {
        let mut config = BoardConfig::default();
        config.link.max_read_request = match self {
            Self::Asked | Self::AskedStreams => config.link.max_read_request,
            _ => 512,
        };
        if matches!(self, Self::Gen3 | Self::Gen3Streams) {
            config.link = config.link.with_speed(Generation::Gen3, 8);
        }
        config.stream.link = self != Self::Alone256;
        config
    }
}

/// Returns so many equal streams.
fn streams<T: Copy>(count: usize, stream: T) -> Streams<T> {
    Streams::try_from(vec![stream; count]).unwrap_or_default()
}

/// A queue of equal descriptors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    /// Bytes of a descriptor.
    pub length: u64,
    /// How many.
    pub count: u64,
    /// A record for every so manieth, and for the last.
    pub every: u64,
    /// Offset of the first byte at the peer and in FPGA memory.
    pub peer: u64,
    pub local: u64,
}

impl Stream {
    pub const fn bulk(bytes: u64) -> Self {
        Self::aligned(512 * KIB, bytes / (512 * KIB), 1)
    }

    pub const fn aligned(length: u64, count: u64, every: u64) -> Self {
        Self {
            length,
            count,
            every,
            peer: 0,
            local: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.length * self.count
    }
}

/// A difference between a row's link and the usual one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link {
    /// Read round trip in nanoseconds.
    RoundTrip(u32),
    /// Bytes of a completion. Many root complexes send 64.
    Completions(u32),
    /// Max Payload Size in bytes; completions are not longer either.
    Payload(u32),
    /// Max Read Request Size in bytes; a completion is not longer than its request.
    Requests(u32),
}

impl Link {
    /// Changes a board's link.
    pub fn apply(self, config: &mut BoardConfig) {
        let link = &mut config.link;
        match self {
            Self::RoundTrip(ns) => {
                link.read_round_trip_ns = ns;
                config.gpu.read_round_trip_ns = ns;
            }
            Self::Completions(bytes) => link.completion_bytes = bytes,
            Self::Payload(bytes) => {
                link.max_payload = bytes;
                link.completion_bytes = link.completion_bytes.min(bytes);
            }
            Self::Requests(bytes) => {
                link.max_read_request = bytes;
                link.completion_bytes = link.completion_bytes.min(bytes);
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Payload a second of a queue.
    Rate(Way, Stream),
    /// Descriptors a cycle of a queue.
    Descriptors(Way, Stream),
    /// Both directions, the worse one.
    Duplex(Stream),
    /// As `Duplex` with another period of FPGA memory's clock, in picoseconds.
    MemoryDuplex(Stream, u64),
    /// As `Rate` on another link.
    LinkRate(Way, Stream, Link),
    /// A buffer of so many bytes, by the board library for OpenCL.
    Library(Way, u64),
    /// A kernel's launch, by the same.
    Launch,
    /// Doorbell to first request.
    Doorbell,
    /// Doorbell to the packet of 64 bytes, and to their place at the GPU.
    Arrival,
    /// So many streams of the logic, each on a channel of its own: the rate of one, or the shares of several.
    Streamed(Way, u32),
    /// The last word of a block to the packet of its record.
    BlockEnd,
    /// The return of a slot to the first packet of the next block.
    Credit,
    /// 64 bytes on one channel while the others stream, against the same alone.
    Fairness,
    /// The thesis's design, modelled.
    Thesis(crate::thesis::Design),
    /// Speed of the simulator.
    Simulator(Stream),
}

/// Bytes of a bulk row.
const BULK: u64 = 64 * MIB;
/// Bytes of a bulk row of the transaction layer.
const PACKETS: u64 = 16 * MIB;
/// Descriptors of a row of small ones; they fit in the queues of 1024.
const SMALL: u64 = 1008;

/// All rows, in the order of the report.
pub static SCENARIOS: &[Scenario] = &{
    use crate::thesis::Design;
    [
        Scenario {
            name: "write.bulk",
            what: "FPGA to GPU, 64 MiB from 512 KiB descriptors",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Asked,
            kind: Kind::Rate(Way::Write, Stream::bulk(BULK)),
        },
        Scenario {
            name: "read.bulk",
            what: "GPU to FPGA, 64 MiB from 512 KiB descriptors",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Asked,
            kind: Kind::Rate(Way::Read, Stream::bulk(BULK)),
        },
        Scenario {
            name: "duplex.bulk",
            what: "both at once, the worse direction",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Asked,
            kind: Kind::Duplex(Stream::bulk(BULK)),
        },
        Scenario {
            name: "write.4k",
            what: "FPGA to GPU, queue of 4 KiB descriptors, a record for every 16th",
            bar: Some(Bar::RatioAtLeast(0.95)),
            variant: Variant::Asked,
            kind: Kind::Rate(Way::Write, Stream::aligned(4 * KIB, SMALL, 16)),
        },
        Scenario {
            name: "read.4k",
            what: "GPU to FPGA, queue of 4 KiB descriptors, a record for every 16th",
            bar: Some(Bar::RatioAtLeast(0.95)),
            variant: Variant::Asked,
            kind: Kind::Rate(Way::Read, Stream::aligned(4 * KIB, SMALL, 16)),
        },
        Scenario {
            name: "write.64b.rate",
            what: "FPGA to GPU, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::RatioAtLeast(0.90)),
            variant: Variant::Asked,
            kind: Kind::Descriptors(Way::Write, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "read.64b.rate",
            what: "GPU to FPGA, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::RatioAtLeast(0.90)),
            variant: Variant::Asked,
            kind: Kind::Descriptors(Way::Read, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "write.unaligned",
            what: "FPGA to GPU, 64 MiB from byte 7 to byte 12 of a word",
            bar: Some(Bar::RatioAtLeast(0.94)),
            variant: Variant::Asked,
            kind: Kind::Rate(
                Way::Write,
                Stream {
                    peer: 12,
                    local: 7,
                    ..Stream::bulk(BULK)
                },
            ),
        },
        Scenario {
            name: "read.bulk.2us",
            what: "as read.bulk, 2 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Asked,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(BULK), Link::RoundTrip(2000)),
        },
        Scenario {
            name: "read.bulk.c128",
            what: "as read.bulk, completions of 128 bytes",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::Asked,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::Completions(128)),
        },
        Scenario {
            name: "read.bulk.c64",
            what: "as read.bulk, completions of 64 bytes",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::Asked,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::Completions(64)),
        },
        Scenario {
            name: "write.bulk.mps128",
            what: "as write.bulk, Max Payload Size 128",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::Asked,
            kind: Kind::LinkRate(Way::Write, Stream::bulk(PACKETS), Link::Payload(128)),
        },
        Scenario {
            name: "read.bulk.2us.tagged",
            what: "as read.bulk.2us, through tagged streams",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Tagged,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(BULK), Link::RoundTrip(2000)),
        },
        Scenario {
            name: "read.64b.rate.tagged",
            what: "as read.64b.rate, through tagged streams",
            bar: Some(Bar::ValueAtLeast(0.12)),
            variant: Variant::Tagged,
            kind: Kind::Descriptors(Way::Read, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "duplex.bulk.tagged",
            what: "as duplex.bulk, through tagged streams",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Tagged,
            kind: Kind::Duplex(Stream::bulk(BULK)),
        },
        Scenario {
            name: "write.bulk.256",
            what: "FPGA to GPU, the engine alone, 256 bits at 250 MHz",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::Alone256,
            kind: Kind::Rate(Way::Write, Stream::bulk(BULK)),
        },
        Scenario {
            name: "read.bulk.256",
            what: "GPU to FPGA, the engine alone, 256 bits at 250 MHz",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::Alone256,
            kind: Kind::Rate(Way::Read, Stream::bulk(BULK)),
        },
        Scenario {
            name: "tlp.gen2.write",
            what: "TLP port, Gen2 x8, 128 bits: FPGA to GPU, 16 MiB",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2,
            kind: Kind::Rate(Way::Write, Stream::bulk(PACKETS)),
        },
        Scenario {
            name: "tlp.gen2.read.1us",
            what: "as tlp.gen2.write, GPU to FPGA, 1 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::RoundTrip(1000)),
        },
        Scenario {
            name: "tlp.gen2.read.2us",
            what: "as tlp.gen2.write, GPU to FPGA, 2 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::RoundTrip(2000)),
        },
        Scenario {
            name: "tlp.gen2.read.3us",
            what: "as tlp.gen2.write, GPU to FPGA, 3 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::RoundTrip(3000)),
        },
        Scenario {
            name: "tlp.gen2.read.c128",
            what: "as tlp.gen2.read.1us, completions of 128 bytes",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::Completions(128)),
        },
        Scenario {
            name: "tlp.gen2.read.c64",
            what: "as tlp.gen2.read.1us, completions of 64 bytes",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::Completions(64)),
        },
        Scenario {
            name: "tlp.gen2.read.mrrs128",
            what: "as tlp.gen2.read.1us, Max Read Request Size 128",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen2,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::Requests(128)),
        },
        Scenario {
            name: "tlp.gen2.duplex",
            what: "as tlp.gen2.write, both at once, the worse direction",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen2,
            kind: Kind::Duplex(Stream::bulk(PACKETS)),
        },
        Scenario {
            name: "tlp.gen2.write.64b.rate",
            what: "as tlp.gen2.write, FPGA to GPU, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::ValueAtLeast(0.12)),
            variant: Variant::Gen2,
            kind: Kind::Descriptors(Way::Write, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "tlp.gen2.read.64b.rate",
            what: "as tlp.gen2.write, GPU to FPGA, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::ValueAtLeast(0.12)),
            variant: Variant::Gen2,
            kind: Kind::Descriptors(Way::Read, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "tlp.gen2.doorbell",
            what: "doorbell of 64 bytes to their packet: cycles of the block, without those of FPGA memory",
            bar: Some(Bar::ValueAtMost(40.0)),
            variant: Variant::Gen2,
            kind: Kind::Arrival,
        },
        Scenario {
            name: "write.stream",
            what: "as write.bulk, 16 MiB from a stream of the logic, 256 bits at 250 MHz",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::AskedStreams,
            kind: Kind::Streamed(Way::Write, 1),
        },
        Scenario {
            name: "read.stream",
            what: "as write.stream, from the GPU to the logic",
            bar: Some(Bar::RatioAtLeast(0.98)),
            variant: Variant::AskedStreams,
            kind: Kind::Streamed(Way::Read, 1),
        },
        Scenario {
            name: "tlp.gen2.stream.in",
            what: "TLP port, Gen2 x8: a stream of 256 bits at 250 MHz from the logic to the GPU, 16 MiB",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2Streams,
            kind: Kind::Streamed(Way::Write, 1),
        },
        Scenario {
            name: "tlp.gen2.stream.out",
            what: "as tlp.gen2.stream.in, from the GPU to the logic",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen2Streams,
            kind: Kind::Streamed(Way::Read, 1),
        },
        Scenario {
            name: "tlp.gen3.stream.in",
            what: "as tlp.gen2.stream.in, Gen3 x8",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen3Streams,
            kind: Kind::Streamed(Way::Write, 1),
        },
        Scenario {
            name: "tlp.gen3.stream.out",
            what: "as tlp.gen2.stream.out, Gen3 x8",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen3Streams,
            kind: Kind::Streamed(Way::Read, 1),
        },
        Scenario {
            name: "tlp.gen3.stream.shares",
            what: "eight streams from the logic at once, Gen3 x8: the smallest share",
            bar: Some(Bar::RatioAtLeast(0.95)),
            variant: Variant::Gen3Streams,
            kind: Kind::Streamed(Way::Write, 8),
        },
        Scenario {
            name: "tlp.gen3.stream.end",
            what: "the last word of a block of 1 KiB at the logic's port to the packet of its record",
            bar: Some(Bar::ValueAtMost(60.0)),
            variant: Variant::Gen3Streams,
            kind: Kind::BlockEnd,
        },
        Scenario {
            name: "tlp.gen3.stream.credit",
            what: "the return of a slot by a doorbell to the first packet of the next block, whose data wait",
            bar: Some(Bar::ValueAtMost(40.0)),
            variant: Variant::Gen3Streams,
            kind: Kind::Credit,
        },
        Scenario {
            name: "tlp.gen3.write",
            what: "TLP port, Gen3 x8, 256 bits: FPGA to GPU, 16 MiB",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen3,
            kind: Kind::Rate(Way::Write, Stream::bulk(PACKETS)),
        },
        Scenario {
            name: "tlp.gen3.read.1us",
            what: "as tlp.gen3.write, GPU to FPGA, 1 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen3,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::RoundTrip(1000)),
        },
        Scenario {
            name: "tlp.gen3.read.2us",
            what: "as tlp.gen3.write, GPU to FPGA, 2 µs read round trip",
            bar: Some(Bar::RatioAtLeast(0.99)),
            variant: Variant::Gen3,
            kind: Kind::LinkRate(Way::Read, Stream::bulk(PACKETS), Link::RoundTrip(2000)),
        },
        Scenario {
            name: "tlp.gen3.duplex",
            what: "as tlp.gen3.write, both at once, the worse direction; FPGA memory at 250 MHz",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen3,
            kind: Kind::MemoryDuplex(Stream::bulk(PACKETS), 4000),
        },
        Scenario {
            name: "tlp.gen3.duplex.200mhz",
            what: "as tlp.gen3.duplex, FPGA memory at 200 MHz as in all other rows",
            bar: Some(Bar::RatioAtLeast(0.97)),
            variant: Variant::Gen3,
            kind: Kind::Duplex(Stream::bulk(PACKETS)),
        },
        Scenario {
            name: "tlp.gen3.write.64b.rate",
            what: "as tlp.gen3.write, FPGA to GPU, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::ValueAtLeast(0.12)),
            variant: Variant::Gen3,
            kind: Kind::Descriptors(Way::Write, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "tlp.gen3.read.64b.rate",
            what: "as tlp.gen3.write, GPU to FPGA, queue of 64-byte descriptors, a record for every 16th",
            bar: Some(Bar::ValueAtLeast(0.12)),
            variant: Variant::Gen3,
            kind: Kind::Descriptors(Way::Read, Stream::aligned(64, SMALL, 16)),
        },
        Scenario {
            name: "tlp.gen3.doorbell",
            what: "doorbell of 64 bytes to their packet: cycles of the block, without those of FPGA memory",
            bar: Some(Bar::ValueAtMost(40.0)),
            variant: Variant::Gen3,
            kind: Kind::Arrival,
        },
        Scenario {
            name: "fairness",
            what: "64 bytes on one channel while seven others stream: delay beyond the unloaded \
                time, worst case",
            bar: Some(Bar::ValueAtMost(8.0)),
            variant: Variant::Asked,
            kind: Kind::Fairness,
        },
        Scenario {
            name: "latency.doorbell",
            what: "doorbell of a read to its request on the port",
            bar: Some(Bar::ValueAtMost(24.0)),
            variant: Variant::Asked,
            kind: Kind::Doorbell,
        },
        Scenario {
            name: "opencl.write",
            what: "an OpenCL buffer of 64 MiB written, by the board library",
            bar: Some(Bar::RatioAtLeast(0.95)),
            variant: Variant::Asked,
            kind: Kind::Library(Way::Read, BULK),
        },
        Scenario {
            name: "opencl.read",
            what: "an OpenCL buffer of 64 MiB read, by the board library",
            bar: Some(Bar::RatioAtLeast(0.95)),
            variant: Variant::Asked,
            kind: Kind::Library(Way::Write, BULK),
        },
        Scenario {
            name: "opencl.launch",
            what: "dwords of the BAR read and written for a kernel with three pointers, from launch to end",
            bar: None,
            variant: Variant::Asked,
            kind: Kind::Launch,
        },
        Scenario {
            name: "thesis.basic",
            what: "modelled: one 4 KiB descriptor at a time, 64 MiB FPGA to GPU",
            bar: Some(Bar::RatioWithin(0.1)),
            variant: Variant::Asked,
            kind: Kind::Thesis(Design::Basic),
        },
        Scenario {
            name: "thesis.512k",
            what: "modelled: one 512 KiB descriptor at a time",
            bar: Some(Bar::RatioWithin(0.1)),
            variant: Variant::Asked,
            kind: Kind::Thesis(Design::LargeDescriptors),
        },
        Scenario {
            name: "thesis.multiple",
            what: "modelled: two such descriptors at a time",
            bar: Some(Bar::RatioWithin(0.1)),
            variant: Variant::Asked,
            kind: Kind::Thesis(Design::MultipleDescriptors),
        },
        Scenario {
            name: "thesis.lazy",
            what: "modelled: two such descriptors at a time, and memory stays pinned",
            bar: Some(Bar::RatioWithin(0.1)),
            variant: Variant::Asked,
            kind: Kind::Thesis(Design::LazyUnpinning),
        },
        Scenario {
            name: "sim.rate",
            what: "speed of this simulation while it streams (wall clock)",
            bar: None,
            variant: Variant::Asked,
            kind: Kind::Simulator(Stream::bulk(8 * MIB)),
        },
    ]
};

/// A name that does not belong to a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no row `{0}`")]
pub struct UnknownName(pub String);

/// Returns the rows of these names, in their order; all rows without names. A name also stands for the rows that begin
/// with it at a dot: `read.bulk` for `read.bulk.2us`, and `thesis.*` is `thesis`.
///
/// # Errors
/// When a name belongs to no row.
pub fn select(names: &[String]) -> Result<Vec<&'static Scenario>, UnknownName> {
    let stands_for = |name: &str, row: &str| {
        let name = name.strip_suffix(".*").unwrap_or(name);
        row.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(name) = names
        .iter()
        .find(|name| !SCENARIOS.iter().any(|s| stands_for(name, s.name)))
    {
        return Err(UnknownName(name.clone()));
    }
    Ok(SCENARIOS
        .iter()
        .filter(|s| names.is_empty() || names.iter().any(|name| stands_for(name, s.name)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        select(&names).unwrap().iter().map(|s| s.name).collect()
    }

    #[test]
    fn names_choose_rows_in_their_order() {
        assert_eq!(chosen(&[]).len(), SCENARIOS.len());
        assert_eq!(
            chosen(&["write.unaligned", "write.4k"]),
            ["write.4k", "write.unaligned"]
        );
        assert_eq!(chosen(&["thesis.*"]).len(), 4);
        assert_eq!(chosen(&["read.4k"]), ["read.4k"]);
        assert_eq!(chosen(&["read.bulk"]).len(), 6);
        let unknown = select(&["writ".into()]).unwrap_err();
        assert_eq!(unknown, UnknownName("writ".into()));
    }
}
