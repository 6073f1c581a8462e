//! The interfaces of the block's streams: each has a clock and a reset of its own.

use std::borrow::Cow;

use super::Direction::{Input, Output};
use super::{Interface, port};
use crate::logic::{Direction, SUFFIXES, Stream, numbered};
use peerlane_bsp_platform::roles::Role;

/// The block with these interfaces: the module between the block and those around it.
pub const TOP: &str = "peerlane_dma_logic";

/// Names of the interfaces of a stream at the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Of the words, also the beginning of the names of the ports.
    pub words: String,
    /// Of the clock, also the name of its port.
    pub clock: String,
    /// Of the reset, also the name of its port.
    pub reset: String,
}

impl Names {
    /// Returns the names for a stream and its number.
    pub fn of(number: usize, stream: &Stream) -> Self {
        let words = format!("{}{number}", stream.direction.kind());
        let [clock, reset] = SUFFIXES.map(|suffix| format!("{words}{suffix}"));
        Self {
            words,
            clock,
            reset,
        }
    }
}

/// Returns the signals of a stream at the logic's side: role, direction at the block, bits.
///
/// `empty` counts bytes of a word (Avalon Interface Specifications 683091, "Avalon Streaming Interface Signal Roles").
pub fn signals(stream: &Stream) -> Vec<(&'static str, super::Direction, u32)> {
    let (forward, back) = match stream.direction {
        Direction::FromLogic => (Input, Output),
        Direction::ToLogic => (Output, Input),
    };
    let mut list = vec![
        ("data", forward, stream.bits),
        ("valid", forward, 1),
        ("ready", back, 1),
    ];
    if stream.has_packets() {
        if stream.direction == Direction::ToLogic {
            list.push(("startofpacket", forward, 1));
        }
        list.push(("endofpacket", forward, 1));
        list.push(("empty", forward, empty_bits(stream)));
        if stream.direction == Direction::ToLogic {
            list.push(("error", forward, 1));
        }
    }
    list
}

/// Returns the bits of a count of a word's bytes that are not valid.
pub fn empty_bits(stream: &Stream) -> u32 {
    (stream.bits / 8).ilog2()
}

/// Returns names and roles of the interfaces.
pub fn roles(streams: &[Stream]) -> impl Iterator<Item = (Cow<'static, str>, Role)> {
    interfaces(streams).map(|interface| (interface.name, interface.role))
}

/// Returns the interfaces of all streams.
pub fn interfaces(streams: &[Stream]) -> impl Iterator<Item = Interface> {
    numbered(streams).flat_map(|(number, stream)| of(number, stream))
}

fn of(number: usize, stream: &Stream) -> [Interface; 3] {
    let Names {
        words,
        clock,
        reset,
    } = Names::of(number, stream);
    // A channel's word is one symbol. In a packet the bytes count, the first in the lowest bits.
    let symbol = if stream.is_channel() { stream.bits } else { 8 };
    let ports = signals(stream).into_iter();
    let ports = ports
        .map(|(role, direction, width)| (role, port(format!("{words}_{role}"), direction, width)));
    let logic = Interface {
        role: match stream.direction {
            Direction::FromLogic => Role::StreamSink,
            Direction::ToLogic => Role::StreamSource,
        },
        clock: clock.clone().into(),
        reset: reset.clone().into(),
        properties: vec![
            ("beatsPerCycle", "1".into()),
            ("dataBitsPerSymbol", symbol.to_string()),
            ("firstSymbolInHighOrderBits", "false".into()),
            ("maxChannel", "0".into()),
            ("readyLatency", "0".into()),
            ("symbolsPerBeat", (stream.bits / symbol).to_string()),
        ],
        ports: ports.collect(),
        name: words.into(),
    };
    [
        super::clock(clock.clone()),
        super::reset(reset, clock),
        logic,
    ]
}
