//! One transfer, and the descriptors that it is split into.

use crate::ends::{Ends, Scrap};
use crate::error::{Error, Result};
use crate::terms::Terms;
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::{Control, DWORDS, Descriptor, Direction, Local, Pieces};
use peerlane_core::extent::Extents;
use peerlane_core::fault::Fault;
use peerlane_core::layout::PARTS;
use peerlane_core::queue::Ticket;
use peerlane_core::record::Record;

/// A transfer to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    pub(crate) direction: Direction,
    /// Place in the peer's memory, `length` bytes.
    pub(crate) peer: Extents,
    /// First byte in FPGA memory.
    pub(crate) local: u64,
    /// Bytes, at least 1.
    pub(crate) length: u64,
    /// The most bytes that one descriptor moves.
    pub(crate) piece: u32,
    pub(crate) terms: Terms,
    /// The board may not read the memory, so it cannot make sure that a write has arrived.
    pub(crate) unreadable: bool,
    /// The next transfer of its direction raises the interrupt for it, too.
    pub(crate) followed: bool,
    /// Ends of a write that the board cannot do as a whole.
    pub(crate) ends: Option<Ends>,
}

/// Reason why data of a write may not have arrived when the board is done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unproven {
    /// The write failed or was called off, so the flush after its last byte is missing.
    BrokenOff,
    /// The board may not read the memory.
    Unread,
}

/// A transfer that the board works on or will work on.
#[derive(Debug)]
pub(super) struct Work<K> {
    pub(super) order: Order,
    /// Ends that are still to go to the board, before any piece, and ends that the board has moved without error.
    ends_left: u64,
    ends_moved: u64,
    /// Pieces of the middle that are still to go to the board, for each extent, with the start of the extent in the
    /// middle.
    pieces: [(u64, Pieces); PARTS],
    /// A piece has gone to the board.
    pub(super) begun: bool,
    /// Pieces that the board has.
    pub(super) outstanding: u32,
    /// Bytes moved from the start without a gap.
    pub(super) done: u64,
    pub(super) failure: Option<Error>,
    /// A caller wants its memory back, and so needs proof that all data have arrived there, also those that earlier
    /// writes have left to its flush.
    pub(super) called_off: bool,
    /// Value that must live as long as the board works on the transfer.
    pub(super) keep: K,
}

impl<K> Work<K> {
    pub(super) fn new(order: Order, keep: K) -> Self {
        let Order {
            peer,
            length,
            piece,
            ends,
            ..
        } = order;
        let (head, tail) = ends.map_or((0, 0), |ends| (ends.head, ends.tail));
        let mut extents = (peer.part(head, length - head - tail))
            .into_iter()
            .flat_map(|middle| middle.iter());
        let mut start = head;
        let pieces = [0; PARTS].map(|_| match extents.next() {
            Some(extent) => {
                let pieces = Pieces::new(extent.address, extent.length, piece);
                start += extent.length;
                (start - extent.length, pieces)
            }
            None => (start, Pieces::new(peer.first(), 0, piece)),
        });
        Self {
            order,
            ends_left: ends.map_or(0, |ends| ends.count()),
            ends_moved: 0,
            pieces,
            begun: false,
            outstanding: 0,
            done: 0,
            failure: None,
            called_off: false,
            keep,
        }
    }

    /// Returns the number of its descriptors that have not gone to the board.
    pub(super) fn remaining(&self) -> u64 {
        let pieces = self.pieces.iter().map(|(_, pieces)| pieces.remaining());
        self.ends_left + pieces.sum::<u64>()
    }

    /// Returns whether the board has no descriptors of it, and gets none.
    pub(super) fn over(&self) -> bool {
        self.outstanding == 0 && self.remaining() == 0
    }

    /// Fails the transfer: no more of its descriptors go to the board. Those at the board go on to their end. The first
    /// failure is the transfer's.
    pub(super) fn fail(&mut self, error: Error) {
        self.ends_left = 0;
        self.pieces.iter_mut().for_each(|(_, pieces)| pieces.stop());
        self.failure.get_or_insert(error);
    }

    /// Returns the next descriptor's place at the peer, its place in FPGA memory and its bytes.
    fn next_place(&mut self) -> Option<(AttAddress, u64, u32)> {
        let Order {
            peer,
            local,
            length,
            ends,
            ..
        } = self.order;
        if self.ends_left > 0 {
            let ends = ends?;
            let end = ends.get(ends.count() - self.ends_left, length);
            let fetch = ends.fetch(end, local)?;
            self.ends_left -= 1;
            return Some((fetch.peer, fetch.local, fetch.length));
        }
        let next = |(start, pieces): &mut (u64, Pieces)| Some((*start, pieces.next()?));
        let (start, piece) = self.pieces.iter_mut().find_map(next)?;
        let start = start + piece.start;
        Some((peer.from(start)?.address, local + start, piece.length))
    }

    /// Returns the next piece as a descriptor, and its bytes. `more` pieces follow it.
    pub(super) fn next(&mut self, ticket: &Ticket, more: u64) -> Result<(u32, [u32; DWORDS])> {
        let Order {
            direction,
            terms,
            ends,
            ..
        } = self.order;
        let short = || broken("a transfer has fewer pieces than its count");
        let (peer, local, length) = self.next_place().ok_or_else(short)?;
        let descriptor = Descriptor {
            peer,
            local: Local::Memory(local),
            length,
            control: Control {
                // For each piece: one that fails without a record would stay unnoticed.
                record: true,
                interrupt: ticket.interrupt,
                // Later transfers wait for the library's copy, and the library for this interrupt.
                urgent: ticket.interrupt && (terms.urgent || ends.is_some()),
                // The flush of the last piece covers those before it.
                no_flush: direction == Direction::FromFpga && (more > 0 || terms.no_flush),
                // The pieces after the first start after it.
                after_write: terms.after_from_fpga && !self.begun,
                after_read: terms.after_to_fpga && !self.begun,
            },
            cookie: ticket.cookie,
        };
        let dwords = descriptor.encode().map_err(broken)?;
        self.begun = true;
        self.outstanding += 1;
        Ok((length, dwords))
    }

    /// Returns whether the descriptor that ends next moves an end.
    fn end_is_next(&self) -> bool {
        let ends = self.order.ends.map_or(0, |ends| ends.count());
        self.ends_moved < ends
    }

    /// Notes that a descriptor has moved `bytes` bytes.
    fn moved(&mut self, bytes: u32) {
        match self.order.ends {
            Some(ends) if self.end_is_next() => {
                if self.ends_moved == 0 {
                    self.done += ends.head;
                }
                self.ends_moved += 1;
            }
            _ => self.done += u64::from(bytes),
        }
    }

    /// Returns the bytes that are known to be in place, from the start without a gap.
    pub(super) fn in_place(&self) -> u64 {
        match self.order.ends {
            Some(ends) if ends.head > 0 => 0,
            _ => self.done,
        }
    }

    /// Returns its result, and the ends that are to be copied now. For a write that failed that is the head, so that
    /// the bytes that count as done are in place.
    pub(super) fn result(&self) -> (Result<u64>, [Option<Scrap>; 2]) {
        let Order {
            peer,
            local,
            length,
            ends,
            ..
        } = self.order;
        let (ends, result) = match (ends, &self.failure) {
            (None, None) => return (Ok(self.done), [None; 2]),
            (Some(ends), None) => (Some((ends, ends.count())), Ok(self.done + ends.tail)),
            (Some(ends), Some(error @ Error::Fault { .. })) if ends.head > 0 => {
                (Some((ends, self.ends_moved.min(1))), Err(error.clone()))
            }
            (_, Some(error)) => return (Err(error.clone()), [None; 2]),
        };
        let scrap = |index| {
            let (ends, _) = ends.filter(|(_, count)| index < *count)?;
            ends.get(index, length).scrap(&peer, local)
        };
        (result, [scrap(0), scrap(1)])
    }

    /// Takes the record of one of its descriptors, of `length` bytes. Returns the contradiction in the record, if it
    /// has one.
    pub(super) fn complete(&mut self, record: &Record, length: u32) -> Option<Error> {
        self.outstanding -= 1;
        if self.failure.is_some() {
            return None;
        }
        let of_end = self.end_is_next();
        let well = record.outcome.is_ok() && record.bytes_done == length;
        if !of_end || well {
            self.moved(record.bytes_done.min(length));
        }
        match record.outcome {
            Ok(()) if well => None,
            Ok(()) => {
                let error = broken(format_args!(
                    "a descriptor of {length} bytes ended without an error after {}",
                    record.bytes_done
                ));
                self.fail(error.clone());
                Some(error)
            }
            // The transfer was called off, so this is the wanted end.
            Err(Fault::Aborted) if self.called_off => {
                self.fail(Error::Stopped);
                None
            }
            Err(fault) => {
                let order = &self.order;
                self.fail(Error::Fault {
                    direction: order.direction,
                    fault,
                    bytes_done: self.done,
                    length: order.length,
                    offset: (record.fault_address)
                        .and_then(|at| order.peer.offset_of(at))
                        .filter(|_| !of_end),
                });
                None
            }
        }
    }

    /// Returns whether it is a write that the block has not flushed: its data, or those of earlier writes, may not have
    /// arrived.
    pub(super) fn unproven(&self) -> Option<Unproven> {
        let Order {
            direction,
            terms,
            unreadable,
            ..
        } = self.order;
        let flushed = self.failure.is_none() && !terms.no_flush && !unreadable;
        let broken_off = self.called_off && !flushed || self.begun && self.failure.is_some();
        match direction {
            Direction::ToFpga => None,
            Direction::FromFpga if broken_off => Some(Unproven::BrokenOff),
            Direction::FromFpga if self.begun && unreadable && !terms.no_flush => {
                Some(Unproven::Unread)
            }
            Direction::FromFpga => None,
        }
    }

    /// Returns whether it is a write that was to end before its data have arrived.
    pub(super) fn is_loose(&self) -> bool {
        let Order {
            direction, terms, ..
        } = self.order;
        self.begun
            && direction == Direction::FromFpga
            && terms.no_flush
            && self.unproven().is_none()
    }

    /// Returns whether it is a write that was to be flushed, and all of whose bytes went to the queue's memory.
    pub(super) fn is_bounced(&self) -> bool {
        let Order {
            length,
            terms,
            ends,
            ..
        } = self.order;
        !terms.no_flush && ends.is_some_and(|ends| ends.head + ends.tail == length)
    }
}

pub(crate) fn broken(reason: impl ToString) -> Error {
    Error::Broken {
        reason: reason.to_string(),
    }
}
