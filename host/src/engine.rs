//! The state of a device: identity, reset, and what its parts share.

use crate::backend::{Backend, MemoryId, MemoryKind};
use crate::board::Board;
use crate::channels::ChannelState;
use crate::device::{Counters, Options};
use crate::error::{Error, Result};
use crate::resources::Resources;
use crate::transfers::Transfers;
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::channel;
use peerlane_core::counters::{self, BlockCounters, ChannelCounters};
use peerlane_core::link;
use peerlane_core::regs::{MAP_ID, csr};
use peerlane_core::steps::{self, Register};
use peerlane_core::table::{self, Reach};

/// The state of a device.
pub(crate) struct Inner {
    pub(crate) board: Board,
    pub(crate) caps: Capabilities,
    pub(crate) build_id: u32,
    pub(crate) piece: u32,
    port_timeout_cycles: Option<u32>,
    pub(crate) resources: Resources,
    /// By their numbers; those that are free are `None`.
    pub(crate) channels: Vec<Option<ChannelState>>,
    /// The channel of the device's own queue, once that was used.
    pub(crate) own: Option<u32>,
    pub(crate) transfers: Transfers,
}

impl Inner {
    pub(crate) fn open(backend: Box<dyn Backend>, options: &Options) -> Result<Self> {
        if options.piece == 0 {
            return Err(Error::Option {
                option: "piece",
                value: 0,
                reason: "a descriptor moves at least one byte",
            });
        }
        let mut board = Board::new(backend);
        let mut words = [0; Identity::OFFSETS.len()];
        for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
            // Not through the check for all ones: the identity tells more.
            *word = board.backend.read32(crate::backend::Space::Csr, offset)?;
        }
        let identity = Identity::new(words);
        let caps = identity
            .check(MAP_ID, options.build_id)
            .map_err(Error::Identity)?;
        let mut inner = Self {
            board,
            caps,
            build_id: identity.build_id,
            piece: options.piece,
            port_timeout_cycles: options.port_timeout_cycles,
            resources: Resources::new(caps.att_entries())?,
            channels: (0..caps.channels).map(|_| None).collect(),
            own: None,
            transfers: Transfers::default(),
        };
        inner.stop()?;
        // What somebody else may have left open.
        for number in 0..caps.channels {
            inner
                .board
                .run("closed a channel", channel::close(number))?;
        }
        inner.start()?;
        Ok(inner)
    }

    /// Resets the engines and waits until they rest and every record has left the block.
    /// Interrupts are off after it.
    fn stop(&mut self) -> Result<()> {
        let timeout = match self.port_timeout_cycles {
            Some(cycles) => cycles,
            None => self.board.read(Register::Csr(csr::PORT_TIMEOUT))?,
        };
        self.board.set_patience(timeout);
        let steps = steps::reset().into_iter().chain(table::fence(Reach::Host));
        self.board.run("come to rest after a reset", steps)
    }

    /// Starts the block, which must be at rest, with all channels and regions there are.
    fn start(&mut self) -> Result<()> {
        if let Some(cycles) = self.port_timeout_cycles {
            self.board.write(Register::Csr(csr::PORT_TIMEOUT), cycles)?;
        }
        let pace = link::set_pace(self.board.backend.link());
        self.board.run("taken the pace of the link", [pace])?;
        self.resources.program_all(&mut self.board)?;
        self.board.run("started", steps::start())?;
        self.board.check_present()?;
        self.board.gone = false;
        for number in 0..self.caps.channels {
            self.restart(number)?;
        }
        Ok(())
    }

    /// Resets the block; transfers under way end as aborted.
    pub(crate) fn reset(&mut self) -> Result<()> {
        self.stop()?;
        for number in 0..self.caps.channels {
            self.end_all(number)?;
        }
        self.give_up_lost()?;
        self.start()
    }

    /// Leaves the block at rest, unable to reach any memory, and gives all memory back.
    pub(crate) fn shut_down(&mut self) -> Result<()> {
        let rested = self.stop().and_then(|()| {
            for number in 0..self.caps.channels {
                self.board.run("closed a channel", channel::close(number))?;
            }
            self.resources.unmap_all(&mut self.board)?;
            self.board.check_port()
        });
        // A board that is gone reaches no memory. One that does not come to rest may: what
        // it knows is kept.
        if let Err(error) = rested
            && !matches!(error, Error::Gone)
        {
            return Err(error);
        }
        for state in self.channels.drain(..).flatten() {
            self.board.backend.free(state.ring_memory);
        }
        self.resources.free_all(&mut self.board);
        Ok(())
    }

    pub(crate) fn counters(&mut self) -> Result<Counters> {
        let board = &mut self.board;
        board.run("taken a snapshot", counters::snapshot())?;
        Ok(Counters {
            block: BlockCounters::read(|register| board.read(register))?,
            channels: (0..self.caps.channels)
                .map(|number| ChannelCounters::read(number, |register| board.read(register)))
                .collect::<Result<_>>()?,
        })
    }

    pub(crate) fn channel_counters(&mut self, number: u32) -> Result<ChannelCounters> {
        let board = &mut self.board;
        board.run("taken a snapshot", counters::snapshot())?;
        ChannelCounters::read(number, |register| board.read(register))
    }

    pub(crate) fn allocate(&mut self, kind: MemoryKind, length: u64) -> Result<MemoryId> {
        self.resources.allocate(&mut self.board, kind, length)
    }

    pub(crate) fn release_memory(&mut self, id: MemoryId) {
        self.resources.release_memory(&mut self.board, id);
    }

    pub(crate) fn release_region(&mut self, id: u64) {
        self.resources.release_region(&mut self.board, id);
    }
}
