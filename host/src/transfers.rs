//! What is known of each transfer, and of each descriptor on the board.

use crate::error::{Error, Result};
use crate::transfer::Terms;
use peerlane_core::descriptor::{Direction, Pieces};
use peerlane_core::fault::Fault;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A descriptor on the board.
pub(crate) struct Flight {
    pub(crate) cookie: u32,
    pub(crate) transfer: u64,
    pub(crate) length: u32,
    pub(crate) interrupt: bool,
}

/// One direction of a channel.
#[derive(Default)]
pub(crate) struct Lane {
    /// Transfers with pieces that are not on the board yet, oldest first.
    pub(crate) waiting: VecDeque<u64>,
    /// Descriptors on the board, oldest first.
    pub(crate) flights: VecDeque<Flight>,
}

/// How a transfer failed.
struct Failure {
    fault: Fault,
    region_offset: Option<u64>,
}

/// A transfer that somebody holds or the board works on.
pub(crate) struct TransferState {
    pub(crate) channel: u32,
    pub(crate) direction: Direction,
    pub(crate) terms: Terms,
    pub(crate) region: u64,
    pub(crate) offset: u64,
    pub(crate) fpga_address: u64,
    length: u64,
    /// Pieces that are not on the board yet.
    pub(crate) pieces: Pieces,
    /// A piece has gone to the board.
    pub(crate) begun: bool,
    /// Pieces on the board.
    pub(crate) outstanding: u32,
    /// Bytes moved from the start without a gap.
    pub(crate) done: u64,
    failure: Option<Failure>,
    /// The caller still has its handle.
    held: bool,
    finished: bool,
}

impl TransferState {
    pub(crate) fn new(
        channel: u32,
        (direction, terms): (Direction, Terms),
        (region, offset): (u64, u64),
        (fpga_address, length): (u64, u64),
        pieces: Pieces,
    ) -> Self {
        Self {
            channel,
            direction,
            terms,
            region,
            offset,
            fpga_address,
            length,
            pieces,
            begun: false,
            outstanding: 0,
            done: 0,
            failure: None,
            held: true,
            finished: false,
        }
    }

    /// Ends the transfer with its first fault; what is not on the board stays there.
    pub(crate) fn fail(&mut self, fault: Fault, region_offset: Option<u64>) {
        self.pieces.stop();
        self.failure.get_or_insert(Failure {
            fault,
            region_offset,
        });
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether nothing of it is on the board or will be.
    pub(crate) fn ended(&self) -> bool {
        self.outstanding == 0 && self.pieces.remaining() == 0
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

/// All transfers of a device.
#[derive(Default)]
pub(crate) struct Transfers {
    all: BTreeMap<u64, TransferState>,
    next: u64,
}

impl Transfers {
    /// Takes a transfer on; gives its name. Names rise.
    pub(crate) fn add(&mut self, transfer: TransferState) -> u64 {
        let id = self.next;
        self.next += 1;
        self.all.insert(id, transfer);
        id
    }

    /// The name of the last transfer that was taken on.
    pub(crate) fn last(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&TransferState> {
        self.all.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut TransferState> {
        self.all.get_mut(&id)
    }

    /// Ends all that a channel has under way; gives the transfers' names.
    pub(crate) fn abort(&mut self, channel: u32) -> Vec<u64> {
        let mut aborted = Vec::new();
        for (id, transfer) in &mut self.all {
            if transfer.channel == channel && !transfer.finished {
                transfer.outstanding = 0;
                transfer.fail(Fault::Aborted, None);
                aborted.push(*id);
            }
        }
        aborted
    }

    /// The board has done with a transfer.
    pub(crate) fn finish(&mut self, id: u64) {
        if let Some(transfer) = self.all.get_mut(&id) {
            transfer.finished = true;
            if !transfer.held {
                self.all.remove(&id);
            }
        }
    }

    /// The caller has dropped its handle.
    pub(crate) fn abandon(&mut self, id: u64) {
        if let Some(transfer) = self.all.get_mut(&id) {
            transfer.held = false;
            if transfer.finished {
                self.all.remove(&id);
            }
        }
    }

    /// The result of a transfer, if it has ended.
    pub(crate) fn result(&self, id: u64) -> Result<Option<u64>> {
        match self.all.get(&id) {
            Some(transfer) if transfer.finished => transfer.result().map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn timeout(&self, id: u64, waited: Duration) -> Error {
        let transfer = self.all.get(&id);
        Error::Timeout {
            direction: transfer.map_or(Direction::Write, |t| t.direction),
            bytes_done: transfer.map_or(0, |t| t.done),
            length: transfer.map_or(0, |t| t.length),
            waited,
        }
    }
}
