//! Transfers on their way: pieces onto the board, records back.

use crate::backend::{Backend, BackendError, MemoryId};
use crate::channels::ChannelState;
use crate::engine::Inner;
use crate::error::{Error, Result};
use crate::resources::region_error;
use crate::transfer::{Request, Terms};
use crate::transfers::{Flight, TransferState};
use peerlane_core::channel::page;
use peerlane_core::descriptor::{
    self, Control, DWORDS, Descriptor, DescriptorError, Direction, Pieces,
};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::{Completion, chan, csr};
use peerlane_core::ring::Slots;
use peerlane_core::steps::Register;
use std::time::Duration;

/// The ring's memory. A failing read counts as "no record", and is reported after.
struct RingMemory<'a> {
    backend: &'a mut dyn Backend,
    id: MemoryId,
    error: Option<BackendError>,
}

impl RingMemory<'_> {
    fn read(&mut self, offset: usize, bytes: &mut [u8]) {
        if let Err(error) = self.backend.read_memory(self.id, offset as u64, bytes) {
            self.error = Some(error);
        }
    }
}

impl Slots for RingMemory<'_> {
    fn status(&mut self, index: u32) -> u32 {
        let mut bytes = [0; 4];
        let offset = index as usize * Completion::SIZE + 4 * record::STATUS;
        self.read(offset, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        let mut bytes = [0; Completion::SIZE];
        self.read(index as usize * Completion::SIZE, &mut bytes);
        let mut dwords = [0; record::DWORDS];
        for (dword, bytes) in dwords.iter_mut().zip(bytes.as_chunks().0) {
            *dword = u32::from_le_bytes(*bytes);
        }
        dwords
    }
}

impl Inner {
    /// Checks what shows without the board.
    pub(crate) fn check(&self, request: &Request<'_>) -> Result<()> {
        let &Request {
            direction,
            offset,
            fpga_address,
            length,
            ..
        } = request;
        let memory = self.caps.memory_bytes();
        // The range is the board's to check: it is what protects one channel from another.
        descriptor::check_local(fpga_address, length, memory).map_err(|error| match error {
            DescriptorError::Empty => Error::Empty,
            _ => Error::FpgaBounds {
                address: fpga_address,
                length,
                memory,
            },
        })?;
        if request.piece == Some(0) {
            return Err(Error::Option {
                option: "piece",
                value: 0,
                reason: "a descriptor moves at least one byte",
            });
        }
        self.resources.check_mapped(request.region.id)?;
        let region = self.resources.region(request.region.id)?;
        region
            .check(direction, offset, length)
            .map_err(region_error)
    }

    /// Takes a transfer on that was checked, and queues what the board has room for.
    pub(crate) fn submit(
        &mut self,
        channel: u32,
        request: &Request<'_>,
        terms: Terms,
    ) -> Result<u64> {
        self.usable(channel)?;
        let region = request.region.id;
        let mapped = self.resources.region(region)?;
        let piece = request.piece.unwrap_or(self.piece);
        let pieces = match mapped.att_address(request.offset) {
            Ok(peer) => Pieces::new(peer, request.length, piece),
            Err(error) => return Err(self.broken(channel, &error)),
        };
        self.resources.use_region(region);
        let way = (request.direction, terms);
        let peer = (region, request.offset);
        let local = (request.fpga_address, request.length);
        let transfer = TransferState::new(channel, way, peer, local, pieces);
        let id = self.transfers.add(transfer);
        if let Some(Some(state)) = self.channels.get_mut(channel as usize) {
            state.lane(request.direction).waiting.push_back(id);
        }
        match self.pump(channel) {
            Ok(()) => Ok(id),
            Err(error) => {
                self.abandon(id);
                Err(error)
            }
        }
    }

    /// Queues a channel's pieces while the board has room.
    fn pump(&mut self, channel: u32) -> Result<()> {
        // A piece of one direction can be what the other one waited for.
        while self.pump_lane(channel, Direction::Write)?
            | self.pump_lane(channel, Direction::Read)?
        {}
        Ok(())
    }

    /// Queues pieces of one direction; says whether it had any that could go.
    fn pump_lane(&mut self, channel: u32, direction: Direction) -> Result<bool> {
        let mut moved = false;
        loop {
            let Some(Some(state)) = self.channels.get_mut(channel as usize) else {
                return Ok(false);
            };
            let Some(id) = state.first_waiting(direction) else {
                return Ok(moved);
            };
            let Some(transfer) = self.transfers.get_mut(id) else {
                state.lane(direction).waiting.pop_front();
                continue;
            };
            let Some(more) = transfer.pieces.remaining().checked_sub(1) else {
                state.lane(direction).waiting.pop_front();
                // The other direction may have waited for just that.
                moved = true;
                continue;
            };
            if held_back(state, id, transfer) {
                return Ok(moved);
            }
            moved = true;
            let lost = "a transfer has fewer pieces than it said";
            let Some(ticket) = state.occupancy.submit(direction, more) else {
                return Err(self.broken(channel, &lost));
            };
            let Some(piece) = transfer.pieces.next() else {
                return Err(self.broken(channel, &lost));
            };
            let control = Control {
                // Each piece: one that fails without a record would go unseen.
                record: true,
                interrupt: ticket.interrupt,
                urgent: ticket.interrupt && transfer.terms.urgent,
                // The flush of the last piece covers those before it.
                no_flush: direction == Direction::Write && more > 0,
                // The pieces behind the first start after it.
                after_write: transfer.terms.after_writes && !transfer.begun,
                after_read: transfer.terms.after_reads && !transfer.begun,
            };
            transfer.begun = true;
            transfer.outstanding += 1;
            let region = self.resources.region(transfer.region)?;
            let dwords = region
                .att_address(transfer.offset + piece.start)
                .map_err(|error| error.to_string())
                .and_then(|peer| {
                    let descriptor = Descriptor {
                        peer,
                        local: transfer.fpga_address + piece.start,
                        length: piece.length,
                        control,
                        cookie: ticket.cookie,
                    };
                    descriptor.encode().map_err(|error| error.to_string())
                });
            let dwords = match dwords {
                Ok(dwords) => dwords,
                Err(reason) => return Err(self.broken(channel, &reason)),
            };
            state.lane(direction).flights.push_back(Flight {
                cookie: ticket.cookie,
                transfer: id,
                length: piece.length,
                interrupt: ticket.interrupt,
            });
            self.ring_doorbell(channel, direction, &dwords, ticket.freed)?;
        }
    }

    fn ring_doorbell(
        &mut self,
        channel: u32,
        direction: Direction,
        dwords: &[u32; DWORDS],
        freed: u16,
    ) -> Result<()> {
        let (desc, doorbell) = match direction {
            Direction::Write => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Direction::Read => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        self.board.write_block(page(channel, desc), dwords)?;
        self.board.write(page(channel, doorbell), freed.into())
    }

    /// Takes note of what has ended, and queues what there is room for. After an
    /// interrupt it is acknowledged first: a record that comes after that raises it again.
    pub(crate) fn service(&mut self, interrupted: bool) -> Result<()> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        if interrupted {
            self.acknowledge()?;
        }
        for channel in 0..self.caps.channels {
            // One that is in trouble does not hold up the others.
            if self.usable(channel).is_ok() {
                self.drain(channel)?;
            }
            if self.usable(channel).is_ok() {
                match self.pump(channel) {
                    Ok(()) | Err(Error::Broken { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn acknowledge(&mut self) -> Result<()> {
        let place = Register::Csr(csr::IRQ_STATUS);
        let status = self.board.read(place)?;
        self.board.write(place, status)?;
        if status & csr::IRQ_STATUS_REFUSED_MASK == 0 {
            return Ok(());
        }
        for channel in 0..self.caps.channels {
            let refused = self.board.read(page(channel, chan::REFUSED))?;
            if refused != 0 {
                self.board.write(page(channel, chan::REFUSED), refused)?;
                self.broken(channel, &"the board refused a doorbell: its queue was full");
            }
        }
        Ok(())
    }

    /// Takes a channel's records that have come. One that does not fit is the channel's
    /// trouble.
    pub(crate) fn drain(&mut self, channel: u32) -> Result<()> {
        loop {
            let Some(Some(state)) = self.channels.get_mut(channel as usize) else {
                return Ok(());
            };
            let mut memory = RingMemory {
                backend: self.board.backend.as_mut(),
                id: state.ring_memory,
                error: None,
            };
            let polled = state.ring.poll(&mut memory);
            if let Some(error) = memory.error {
                return Err(error.into());
            }
            let taken = match polled {
                Ok(Some(record)) => self.complete(channel, &record),
                Ok(None) => return Ok(()),
                Err(error) => Err(self.broken(channel, &error)),
            };
            match taken {
                Ok(()) => {}
                Err(Error::Broken { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn complete(&mut self, channel: u32, record: &Record) -> Result<()> {
        let direction = record.direction;
        let Some(Some(state)) = self.channels.get_mut(channel as usize) else {
            return Err(self.broken(channel, &"a record came for a closed channel"));
        };
        match state.occupancy.complete(direction, record.cookie) {
            Ok(1) => {}
            Ok(_) => return Err(self.broken(channel, &"a descriptor ended without a record")),
            Err(error) => return Err(self.broken(channel, &error)),
        }
        let flight = state.lane(direction).flights.pop_front();
        let Some(flight) = flight.filter(|flight| flight.cookie == record.cookie) else {
            return Err(self.broken(channel, &"a record names a descriptor out of turn"));
        };
        let Some(transfer) = self.transfers.get_mut(flight.transfer) else {
            return Err(self.broken(channel, &"a record names a transfer that has ended"));
        };
        transfer.outstanding -= 1;
        if !transfer.failed() {
            let moved = record.bytes_done.min(flight.length);
            transfer.done += u64::from(moved);
            match record.outcome {
                Ok(()) if record.bytes_done != flight.length => {
                    let reason = format!(
                        "a descriptor of {} bytes ended well after {}",
                        flight.length, record.bytes_done
                    );
                    return Err(self.broken(channel, &reason));
                }
                Ok(()) => {}
                Err(fault) => {
                    let region = self.resources.region(transfer.region)?;
                    let offset = record.fault_address.and_then(|a| region.offset_of(a));
                    transfer.fail(fault, offset);
                }
            }
        }
        if transfer.ended() {
            self.finish(flight.transfer)?;
        }
        Ok(())
    }

    /// The board has done with a transfer.
    pub(crate) fn finish(&mut self, id: u64) -> Result<()> {
        let Some(transfer) = self.transfers.get(id) else {
            return Ok(());
        };
        let region = transfer.region;
        // The block flushes behind the last piece of a write, where it may read.
        let flush = transfer.direction == Direction::Write
            && (transfer.failed() || !self.resources.region(region)?.permissions().read());
        self.transfers.finish(id);
        // Before the memory can go, and before anybody is told.
        let flushed = if flush {
            self.resources.flush(self.board.backend.as_mut(), region)
        } else {
            Ok(())
        };
        self.resources.unuse(&mut self.board, region);
        flushed
    }

    /// The caller has dropped its handle.
    pub(crate) fn abandon(&mut self, id: u64) {
        self.transfers.abandon(id);
    }

    /// Looks for the end of a transfer. One that is known to have ended stays so,
    /// whatever happens to the device.
    pub(crate) fn poll(&mut self, id: u64) -> Result<Option<u64>> {
        if let Some(bytes) = self.transfers.result(id)? {
            return Ok(Some(bytes));
        }
        self.service(false)?;
        if let Some(bytes) = self.transfers.result(id)? {
            return Ok(Some(bytes));
        }
        if let Some(transfer) = self.transfers.get(id) {
            self.usable(transfer.channel)?;
        }
        Ok(None)
    }

    /// How long to wait at a stretch. A descriptor that raises the interrupt ends the
    /// wait; the limit only lets other threads in. After a fault the last pieces of a
    /// transfer may all be silent: then the ring is looked at every few microseconds.
    pub(crate) fn slice(&self) -> Duration {
        let lanes = (self.channels.iter().flatten()).flat_map(ChannelState::lanes);
        let mut flights = lanes.flat_map(|lane| &lane.flights);
        if flights.any(|flight| flight.interrupt) {
            Duration::from_millis(10)
        } else {
            Duration::from_micros(10)
        }
    }
}

/// Whether the next piece of a direction's first transfer cannot go to the board now.
fn held_back(state: &ChannelState, id: u64, transfer: &TransferState) -> bool {
    if state.occupancy.room(transfer.direction) == 0 {
        return true;
    }
    // The board chains to what it was given before: all of the other direction's earlier
    // transfers must be there. Earlier ones never wait for later ones, so this ends.
    let (other, chained) = match transfer.direction {
        Direction::Write => (Direction::Read, transfer.terms.after_reads),
        Direction::Read => (Direction::Write, transfer.terms.after_writes),
    };
    let earlier = state.first_waiting(other).is_some_and(|first| first < id);
    chained && !transfer.begun && earlier
}
