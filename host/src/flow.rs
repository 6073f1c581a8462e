//! Transfers: pieces onto the board, records back.

use crate::backend::{Backend, BackendError, MemoryId, Space};
use crate::engine::{CHANNEL, Inner};
use crate::error::{Error, Result};
use crate::transfer::Request;
use peerlane_core::descriptor::{self, Descriptor, DescriptorError, Direction, Pieces};
use peerlane_core::record::{self, Fault, Record};
use peerlane_core::regs::{Completion, chan, csr};
use peerlane_core::ring::Slots;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A descriptor on the board.
struct Flight {
    cookie: u32,
    transfer: u64,
    length: u32,
    interrupt: bool,
}

/// One direction.
#[derive(Default)]
struct Lane {
    /// Transfers with pieces that are not on the board yet.
    waiting: VecDeque<u64>,
    /// Descriptors on the board, oldest first.
    flights: VecDeque<Flight>,
}

/// How a transfer failed.
struct Failure {
    fault: Fault,
    region_offset: Option<u64>,
}

/// A transfer that somebody holds or the board works on.
struct TransferState {
    direction: Direction,
    region: u64,
    offset: u64,
    fpga_address: u64,
    length: u64,
    /// Pieces that are not on the board yet.
    pieces: Pieces,
    /// Pieces on the board.
    outstanding: u32,
    /// Bytes moved from the start without a gap.
    done: u64,
    failure: Option<Failure>,
    /// The caller still has its handle.
    held: bool,
    finished: bool,
}

/// All transfers of a device.
#[derive(Default)]
pub(crate) struct Transfers {
    all: BTreeMap<u64, TransferState>,
    next: u64,
    lanes: [Lane; 2],
}

impl Transfers {
    fn lane(&mut self, direction: Direction) -> &mut Lane {
        match direction {
            Direction::Write => &mut self.lanes[0],
            Direction::Read => &mut self.lanes[1],
        }
    }

    /// Ends all that is under way; gives the transfers' names.
    pub(crate) fn abort(&mut self) -> Vec<u64> {
        self.lanes = Default::default();
        let mut aborted = Vec::new();
        for (id, transfer) in &mut self.all {
            if !transfer.finished {
                transfer.outstanding = 0;
                transfer.fail(Fault::Aborted, None);
                aborted.push(*id);
            }
        }
        aborted
    }
}

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
    /// Takes a transfer on, and queues what the board has room for.
    pub(crate) fn submit(&mut self, request: &Request<'_>) -> Result<u64> {
        self.usable()?;
        let &Request {
            direction,
            offset,
            fpga_address,
            length,
            ..
        } = request;
        let memory = self.caps.memory_bytes();
        descriptor::check_local(fpga_address, length, memory).map_err(|error| match error {
            DescriptorError::Empty => Error::Empty,
            _ => Error::FpgaBounds {
                address: fpga_address,
                length,
                memory,
            },
        })?;
        let piece = request.piece.unwrap_or(self.piece);
        if piece == 0 {
            return Err(Error::Option {
                option: "piece",
                value: 0,
                reason: "a descriptor moves at least one byte",
            });
        }
        let region = request.region.id;
        let mapped = self
            .resources
            .use_region(region, direction, offset, length)?;
        let pieces = match mapped.att_address(offset) {
            Ok(peer) => Pieces::new(peer, length, piece),
            Err(error) => {
                self.resources.unuse(self.backend.as_mut(), region);
                return Err(self.broken(&error));
            }
        };
        let id = self.transfers.next;
        self.transfers.next += 1;
        let transfer = TransferState {
            direction,
            region,
            offset,
            fpga_address,
            length,
            pieces,
            outstanding: 0,
            done: 0,
            failure: None,
            held: true,
            finished: false,
        };
        self.transfers.all.insert(id, transfer);
        self.transfers.lane(direction).waiting.push_back(id);
        match self.pump(direction) {
            Ok(()) => Ok(id),
            Err(error) => {
                self.abandon(id);
                Err(error)
            }
        }
    }

    /// Queues pieces while the board has room.
    fn pump(&mut self, direction: Direction) -> Result<()> {
        while let Some(&id) = self.transfers.lane(direction).waiting.front() {
            let Some(transfer) = self.transfers.all.get_mut(&id) else {
                self.transfers.lane(direction).waiting.pop_front();
                continue;
            };
            let Some(more) = transfer.pieces.remaining().checked_sub(1) else {
                self.transfers.lane(direction).waiting.pop_front();
                continue;
            };
            let Some(ticket) = self.occupancy.submit(direction, more) else {
                return Ok(());
            };
            let Some(piece) = transfer.pieces.next() else {
                return Err(self.broken(&"a transfer has fewer pieces than it said"));
            };
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
                        // Each piece: one that fails without a record would go unseen.
                        record: true,
                        interrupt: ticket.interrupt,
                        // The flush of the last piece covers those before it.
                        no_flush: direction == Direction::Write && more > 0,
                        cookie: ticket.cookie,
                    };
                    descriptor.encode().map_err(|error| error.to_string())
                });
            let dwords = match dwords {
                Ok(dwords) => dwords,
                Err(reason) => return Err(self.broken(&reason)),
            };
            self.transfers.lane(direction).flights.push_back(Flight {
                cookie: ticket.cookie,
                transfer: id,
                length: piece.length,
                interrupt: ticket.interrupt,
            });
            self.ring_doorbell(direction, &dwords)?;
        }
        Ok(())
    }

    fn ring_doorbell(&mut self, direction: Direction, dwords: &[u32]) -> Result<()> {
        let (desc, doorbell) = match direction {
            Direction::Write => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Direction::Read => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        let page = CHANNEL as usize * chan::SIZE;
        self.backend.write_block(Space::Chan, page + desc, dwords)?;
        self.backend.write32(Space::Chan, page + doorbell, 0)?;
        Ok(())
    }

    /// Takes note of what has ended, and queues what there is room for. After an
    /// interrupt it is acknowledged first: a record that comes after that raises it again.
    pub(crate) fn service(&mut self, interrupted: bool) -> Result<()> {
        self.usable()?;
        if interrupted {
            self.acknowledge()?;
        }
        self.drain()?;
        Direction::BOTH.into_iter().try_for_each(|d| self.pump(d))
    }

    fn acknowledge(&mut self) -> Result<()> {
        let status = self.read_csr(csr::IRQ_STATUS)?;
        self.write_csr(csr::IRQ_STATUS, status)?;
        if status & csr::IRQ_STATUS_REFUSED_MASK != 0 {
            return Err(self.broken(&"the board refused a doorbell: its queue was full"));
        }
        Ok(())
    }

    /// Takes the records that have come.
    pub(crate) fn drain(&mut self) -> Result<()> {
        loop {
            let mut memory = RingMemory {
                backend: self.backend.as_mut(),
                id: self.ring_memory,
                error: None,
            };
            let polled = self.ring.poll(&mut memory);
            if let Some(error) = memory.error {
                return Err(error.into());
            }
            match polled {
                Ok(Some(record)) => self.complete(&record)?,
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    fn complete(&mut self, record: &Record) -> Result<()> {
        let direction = record.direction;
        match self.occupancy.complete(direction, record.cookie) {
            Ok(1) => {}
            Ok(_) => return Err(self.broken(&"a descriptor ended without a record")),
            Err(error) => return Err(self.broken(&error)),
        }
        let flight = self.transfers.lane(direction).flights.pop_front();
        let Some(flight) = flight.filter(|flight| flight.cookie == record.cookie) else {
            return Err(self.broken(&"a record names a descriptor out of turn"));
        };
        let Some(transfer) = self.transfers.all.get_mut(&flight.transfer) else {
            return Err(self.broken(&"a record names a transfer that has ended"));
        };
        transfer.outstanding -= 1;
        if transfer.failure.is_none() {
            let moved = record.bytes_done.min(flight.length);
            transfer.done += u64::from(moved);
            match record.outcome {
                Ok(()) if record.bytes_done != flight.length => {
                    return Err(self.broken(&format!(
                        "a descriptor of {} bytes ended well after {}",
                        flight.length, record.bytes_done
                    )));
                }
                Ok(()) => {}
                Err(fault) => {
                    let region = self.resources.region(transfer.region)?;
                    let offset = record.fault_address.and_then(|a| region.offset_of(a));
                    transfer.fail(fault, offset);
                }
            }
        }
        if transfer.outstanding == 0 && transfer.pieces.remaining() == 0 {
            self.finish(flight.transfer)?;
        }
        Ok(())
    }

    /// The board has done with a transfer.
    pub(crate) fn finish(&mut self, id: u64) -> Result<()> {
        let Some(transfer) = self.transfers.all.get_mut(&id) else {
            return Ok(());
        };
        transfer.finished = true;
        let region = transfer.region;
        // The block flushes behind the last piece of a write, where it may read.
        let flush = transfer.direction == Direction::Write
            && (transfer.failure.is_some() || !self.resources.region(region)?.permissions().read());
        if !transfer.held {
            self.transfers.all.remove(&id);
        }
        let backend = self.backend.as_mut();
        // Before the memory can go, and before anybody is told.
        let flushed = if flush {
            self.resources.flush(backend, region)
        } else {
            Ok(())
        };
        self.resources.unuse(backend, region);
        flushed
    }

    /// The caller has dropped its handle.
    pub(crate) fn abandon(&mut self, id: u64) {
        if let Some(transfer) = self.transfers.all.get_mut(&id) {
            transfer.held = false;
            if transfer.finished {
                self.transfers.all.remove(&id);
            }
        }
    }

    /// Looks for the end of a transfer. One that is known to have ended stays so,
    /// whatever happens to the device.
    pub(crate) fn poll(&mut self, id: u64) -> Result<Option<u64>> {
        if let Some(bytes) = self.result(id)? {
            return Ok(Some(bytes));
        }
        self.service(false)?;
        self.result(id)
    }

    /// The result of a transfer, if it has ended.
    fn result(&self, id: u64) -> Result<Option<u64>> {
        match self.transfers.all.get(&id) {
            Some(transfer) if transfer.finished => transfer.result().map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn timeout(&self, id: u64, waited: Duration) -> Error {
        let transfer = self.transfers.all.get(&id);
        Error::Timeout {
            direction: transfer.map_or(Direction::Write, |t| t.direction),
            bytes_done: transfer.map_or(0, |t| t.done),
            length: transfer.map_or(0, |t| t.length),
            waited,
        }
    }

    /// How long to wait at a stretch. A descriptor that raises the interrupt ends the
    /// wait; the limit only lets other threads in. After a fault the last pieces of a
    /// transfer may all be silent: then the ring is looked at every few microseconds.
    pub(crate) fn slice(&self) -> Duration {
        let mut flights = self.transfers.lanes.iter().flat_map(|lane| &lane.flights);
        if flights.any(|flight| flight.interrupt) {
            Duration::from_millis(10)
        } else {
            Duration::from_micros(10)
        }
    }
}

impl TransferState {
    /// Ends the transfer with its first fault; what is not on the board stays there.
    fn fail(&mut self, fault: Fault, region_offset: Option<u64>) {
        self.pieces.stop();
        self.failure.get_or_insert(Failure {
            fault,
            region_offset,
        });
    }

    fn result(&self) -> Result<u64> {
        match &self.failure {
            None => Ok(self.done),
            Some(failure) => Err(Error::Fault {
                direction: self.direction,
                fault: failure.fault,
                bytes_done: self.done,
                length: self.length,
                region_offset: failure.region_offset,
            }),
        }
    }
}
