// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams between the FPGA's logic and peers: their holders, how they are opened and closed, and the headers of
//! blocks.

use super::descriptor::Direction;
use super::regs::csr;
use super::steps::{Register, Step};
use super::uapi::{
    self,
    stream::{CLOSE, OPEN, TO_LOGIC},
    stream_state,
};
use core::fmt;

pub use super::descriptor::MOST_STREAMS as MOST;

/// Bits of [`Header::began`].
const TIME_BITS: u32 = 48;

/// The number of lost words at which [`Header::lost`] stops.
pub const MOST_LOST: u16 = 0x7fff;

/// Numbers of the streams that a build has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// From the logic to peers.
    pub inputs: u32,
    /// From peers to the logic.
    pub outputs: u32,
}

impl Counts {
    /// Decodes `CAPS3`.
    pub const fn new(caps3: u32) -> Self {
        Self {
            inputs: (caps3 & csr::CAPS3_INPUTS_MASK) >> csr::CAPS3_INPUTS_LSB,
            outputs: (caps3 & csr::CAPS3_OUTPUTS_MASK) >> csr::CAPS3_OUTPUTS_LSB,
        }
    }

    /// Returns the number of streams of a direction.
    pub const fn of(self, direction: Direction) -> u32 {
        match direction {
            Direction::FromFpga => self.inputs,
            Direction::ToFpga => self.outputs,
        }
    }

    /// Whether the build has a stream.
    pub const fn has(self, stream: Stream) -> bool {
        stream.number < self.of(stream.direction)
    }
}

/// A stream of the FPGA's logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream {
    /// From the FPGA: from the logic to peers. To the FPGA: from peers to the logic.
    pub direction: Direction,
    /// Its number among the streams of this direction.
    pub number: u32,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.direction {
            Direction::FromFpga => "from",
            Direction::ToFpga => "to",
        };
        write!(f, "stream {} {way} the logic", self.number)
    }
}

impl Stream {
    /// Returns a register of the stream.
    pub const fn register(self, offset: usize) -> Register {
        let to_logic = match self.direction {
            Direction::FromFpga => 0,
            Direction::ToFpga => csr::STREAM_SELECT_TO_LOGIC_MASK,
        };
        let select = self.number & csr::STREAM_SELECT_STREAM_MASK | to_logic;
        Register::Stream { select, offset }
    }
}

/// Opens a stream for a channel. Its blocks last `limit` units of 256 cycles at most; 0: no limit.
pub const fn open(stream: Stream, channel: u32, limit: u16) -> [Step; 2] {
    let control = csr::STREAM_CONTROL_ENABLE_MASK
        | channel << csr::STREAM_CONTROL_CHANNEL_LSB & csr::STREAM_CONTROL_CHANNEL_MASK;
    [
        Step::Write(stream.register(csr::STREAM_LIMIT), limit as u32),
        Step::Write(stream.register(csr::STREAM_CONTROL), control),
    ]
}

/// Closes a stream. Requests that have left still move their words.
pub const fn close(stream: Stream) -> Step {
    Step::Write(stream.register(csr::STREAM_CONTROL), 0)
}

/// State of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Its words move.
    pub open: bool,
    /// Bytes that wait in the block.
    pub waiting: u32,
}

impl Status {
    /// Decodes `STREAM_STATUS`.
    pub const fn new(value: u32) -> Self {
        Self {
            open: value & csr::STREAM_STATUS_OPEN_MASK != 0,
            waiting: (value & csr::STREAM_STATUS_WAITING_MASK) >> csr::STREAM_STATUS_WAITING_LSB,
        }
    }
}

/// Header of a block from the logic: `fault_address` of its record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// Time at which the block began: cycles of the PCIe clock since the reset of the block, modulo 2^48.
    pub began: u64,
    /// Words of the logic that were lost between the block before and this one; [`MOST_LOST`]: or more.
    pub lost: u16,
    /// A packet of the logic ends with the block.
    pub ends_packet: bool,
}

impl Header {
    /// Decodes the header.
    pub const fn new(value: u64) -> Self {
        Self {
            began: value & ((1 << TIME_BITS) - 1),
            lost: (value >> TIME_BITS) as u16 & MOST_LOST,
            ends_packet: value >> 63 != 0,
        }
    }
}

/// Order of a call of [`STREAM`](uapi::STREAM).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The state alone.
    Look,
    /// To open the stream, with a limit for its blocks.
    Open(u16),
    /// To close and release it.
    Close,
}

impl Order {
    /// Returns the stream that a call names, and its order. `None`: the call is not valid.
    pub fn of(call: &uapi::Stream) -> Option<(Stream, Self)> {
        let direction = match call.flags & TO_LOGIC {
            0 => Direction::FromFpga,
            _ => Direction::ToFpga,
        };
        let order = match (call.flags & !TO_LOGIC, call.limit) {
            (0, 0) => Self::Look,
            (OPEN, limit) => Self::Open(u16::try_from(limit).ok()?),
            (CLOSE, 0) => Self::Close,
            _ => return None,
        };
        // A stream to the logic has no limit.
        let is_limited = matches!(order, Self::Open(1..));
        if is_limited && direction == Direction::ToFpga || call.reserved != 0 {
            return None;
        }
        let number = call.number;
        Some((Stream { direction, number }, order))
    }
}

impl Status {
    /// Writes the state into the results of a call.
    pub fn report(self, call: &mut uapi::Stream) {
        call.state = if self.open { stream_state::OPEN } else { 0 };
        call.waiting = self.waiting;
    }

    /// Returns the state in the results of a call.
    pub fn reported(call: &uapi::Stream) -> Self {
        Self {
            open: call.state & stream_state::OPEN != 0,
            waiting: call.waiting,
        }
    }
}

/// Reasons why a channel cannot have a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// The build has no stream of this number.
    Missing,
    /// Another channel holds it.
    Held,
    /// The channel does not hold it.
    NotHeld,
}

/// Holders of a board's streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holders {
    counts: Counts,
    /// By direction and number: the channel that holds the stream.
    held: [[Option<u32>; MOST as usize]; 2],
}

impl Holders {
    /// Makes the table of a build whose streams are all free.
    pub const fn new(counts: Counts) -> Self {
        Self {
            counts,
            held: [[None; MOST as usize]; 2],
        }
    }

    fn place(&mut self, stream: Stream) -> Result<&mut Option<u32>, StreamError> {
        let held = match stream.direction {
            Direction::FromFpga => &mut self.held[0],
            Direction::ToFpga => &mut self.held[1],
        };
        match held.get_mut(stream.number as usize) {
            Some(place) if self.counts.has(stream) => Ok(place),
            _ => Err(StreamError::Missing),
        }
    }

    /// Gives a stream to a channel, which may hold it already.
    pub fn take(&mut self, stream: Stream, channel: u32) -> Result<(), StreamError> {
        match self.place(stream)? {
            Some(holder) if *holder != channel => Err(StreamError::Held),
            place => {
                *place = Some(channel);
                Ok(())
            }
        }
    }

    /// Checks that a channel holds a stream.
    pub fn check(&mut self, stream: Stream, channel: u32) -> Result<(), StreamError> {
        match *self.place(stream)? == Some(channel) {
            true => Ok(()),
            false => Err(StreamError::NotHeld),
        }
    }

    /// Frees a stream that is closed.
    pub fn free(&mut self, stream: Stream) {
        if let Ok(place) = self.place(stream) {
            *place = None;
        }
    }

    /// Returns the streams that a channel holds.
    pub fn of(&self, channel: u32) -> impl Iterator<Item = Stream> + Clone + use<> {
        let held = self.held;
        let ways = [Direction::FromFpga, Direction::ToFpga];
        (0..2 * MOST).filter_map(move |place| {
            let (way, number) = ((place / MOST) as usize, place % MOST);
            let holder = *held.get(way)?.get(number as usize)?;
            let direction = *ways.get(way)?;
            (holder == Some(channel)).then_some(Stream { direction, number })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const CAMERA: Stream = Stream {
        direction: Direction::FromFpga,
        number: 1,
    };
    const ORDERS: Stream = Stream {
        direction: Direction::ToFpga,
        number: 1,
    };

    /// The values are those of the register map: STREAM_SELECT, STREAM_CONTROL and STREAM_LIMIT of `csr`.
    #[test]
    fn a_stream_is_opened_for_its_channel() {
        let of = |select, offset| Register::Stream { select, offset };
        assert_eq!(
            open(CAMERA, 5, 300),
            [
                Step::Write(of(1, 0xa8), 300),
                Step::Write(of(1, 0xa4), 0x501)
            ]
        );
        assert_eq!(close(ORDERS), Step::Write(of(0x11, 0xa4), 0));
        assert_eq!(ORDERS.register(0xac).select(), Some((0xa0, 0x11)));
        let status = Status::new(0x0240_0001);
        assert_eq!((status.open, status.waiting), (true, 0x240));
        let mut call = uapi::Stream::default();
        status.report(&mut call);
        assert_eq!((call.state, call.waiting), (1, 0x240));
        assert_eq!(Status::reported(&call), status);
    }

    #[test]
    fn a_header_is_taken_apart() {
        let header = Header::new(0x8003_1234_5678_9abc);
        let expected = Header {
            began: 0x1234_5678_9abc,
            lost: 3,
            ends_packet: true,
        };
        assert_eq!(header, expected);
        assert_eq!(Header::new(0x7fff << 48).lost, MOST_LOST);
        assert_eq!(Header::new(0), Header::default());
    }

    #[test]
    fn a_call_asks_for_one_thing() {
        let order = |flags, limit| {
            let call = uapi::Stream {
                number: 1,
                flags,
                limit,
                ..Default::default()
            };
            Order::of(&call)
        };
        assert_eq!(order(0, 0), Some((CAMERA, Order::Look)));
        assert_eq!(order(2, 65535), Some((CAMERA, Order::Open(65535))));
        assert_eq!(order(3, 0), Some((ORDERS, Order::Open(0))));
        assert_eq!(order(5, 0), Some((ORDERS, Order::Close)));
        let wrong = [(0, 1), (4, 1), (3, 1), (2, 65536), (6, 0), (8, 0)];
        assert!(
            wrong
                .iter()
                .all(|(flags, limit)| order(*flags, *limit).is_none())
        );
    }

    #[test]
    fn a_stream_has_one_holder() {
        let mut holders = Holders::new(Counts::new(0x0102));
        assert_eq!(holders.take(CAMERA, 3), Ok(()));
        assert_eq!(holders.take(CAMERA, 3), Ok(()));
        assert_eq!(holders.take(CAMERA, 4), Err(StreamError::Held));
        assert_eq!(holders.take(ORDERS, 4), Err(StreamError::Missing));
        let first = Stream {
            number: 0,
            ..ORDERS
        };
        assert_eq!(holders.take(first, 3), Ok(()));
        assert_eq!(holders.of(3).collect::<Vec<_>>(), [CAMERA, first]);
        assert_eq!(holders.of(4).count(), 0);
        assert_eq!(holders.check(first, 4), Err(StreamError::NotHeld));
        holders.free(first);
        assert_eq!(holders.check(first, 3), Err(StreamError::NotHeld));
        assert_eq!(holders.take(first, 4), Ok(()));
    }
}
