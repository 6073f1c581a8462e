//! The Verilated block on the simulated board, driven register by register.

use peerlane_core::att::{AttAddress, Entry, PageSize, Permissions};
use peerlane_core::descriptor::{self, Control, Direction, Local};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::{Port, chan, csr};
use peerlane_hdl::Params;
use peerlane_sim::{Access, Board, BoardConfig, GPU_PAGE, Space, Stats};
use peerlane_verilated::Library;

use crate::{Error, Result};

/// Which way the data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// FPGA memory to the GPU.
    Write = 0,
    /// The GPU to FPGA memory.
    Read = 1,
}

/// Values that all rows share.
pub(crate) struct Bench<'a> {
    pub library: &'a Library,
    pub params: Params,
    /// Called with the part that is done, 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// Where the ring of completion records lies in host memory.
const RING: u64 = 0x1_0000_0000;
const RING_LOG2: u32 = 12;
const RECORD_BYTES: u64 = 4 * record::DWORDS as u64;

/// Cycles between two records after which a row is given up: 100 ms.
const PATIENCE: u64 = 25_000_000;

/// A record reports the descriptor's end.
pub(crate) const TOLD: Control = Control {
    record: true,
    interrupt: false,
    urgent: false,
    no_flush: false,
    after_write: false,
    after_read: false,
};
/// A record reports the end as soon as the port has taken all of it.
pub(crate) const TOLD_AT_ONCE: Control = Control {
    no_flush: true,
    ..TOLD
};

/// Bits 63:60 of a local address: a stream.
pub(crate) const STREAM: u64 = (Port::Stream as u64) << 60;

/// The pages of GPU memory, of [`GPU_PAGE`] bytes.
const PAGES: PageSize = PageSize::Kib64;

/// One descriptor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    /// Offset in the mapped GPU memory.
    pub peer: u64,
    /// FPGA memory address; with [`STREAM`] the number of a stream.
    pub local: u64,
    /// Bytes.
    pub length: u32,
    /// How its end is reported.
    pub control: Control,
    /// Returned in the record.
    pub cookie: u32,
}

/// Counts of the block itself since its reset.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub stall_txs: u32,
    pub stall_tags: u32,
    pub stall_credits: u32,
    pub stall_mem_read: u32,
    pub stall_mem_write: u32,
}

/// Returns the address of a channel's ring.
fn ring(channel: u32) -> u64 {
    RING + u64::from(channel) * (RECORD_BYTES << RING_LOG2)
}

/// Returns the address of a channel's page.
fn page(channel: u32) -> u64 {
    u64::from(channel) * chan::SIZE as u64
}

/// Returns the driver's setting for the link (PORT_PACE): its bytes in a cycle of the port, less one part in 64 for
/// traffic that the block does not see.
fn pace(config: &BoardConfig) -> u32 {
    let per_cycle = config.link.raw_rate() * config.pcie_clk_ps as f64 / 1e12;
    (per_cycle * 256.0 * 63.0 / 64.0) as u32
}

/// A channel as its process sees it.
#[derive(Debug, Clone, Copy)]
struct Channel {
    next_record: u32,
    /// Descriptors that are known to fit, by direction.
    room: [u32; 2],
}

/// A board with all channels running and GPU memory that is mapped for all of them.
pub(crate) struct Rig {
    pub board: Board,
    row: &'static str,
    channels: Vec<Channel>,
    pages: Vec<u64>,
}

impl Rig {
    /// A fresh board. GPU memory `0..bytes` is mapped in pages of 64 KiB, from ATT address 0 on.
    pub fn new(
        row: &'static str,
        library: &Library,
        params: &Params,
        config: BoardConfig,
        bytes: u64,
    ) -> Result<Self> {
        let failed = |source| Error::Board { row, source };
        let pace = pace(&config);
        let model = library.instance().map_err(peerlane_block::Error::from)?;
        let board = Board::new(model, config).map_err(failed)?;
        let channel = Channel {
            next_record: 0,
            room: [params.queue_depth(); 2],
        };
        let mut rig = Self {
            board,
            row,
            channels: vec![channel; params.channels as usize],
            pages: Vec::new(),
        };
        rig.start(bytes, params.channels, pace).map_err(failed)?;
        Ok(rig)
    }

    fn start(&mut self, bytes: u64, channels: u32, pace: u32) -> peerlane_sim::Result<()> {
        let board = &mut self.board;
        while board.bar_read32(Space::Csr, csr::STATUS as u64)? & csr::STATUS_ATT_SWEEP_MASK != 0 {
            board.run(500)?;
        }
        let rings = RING..ring(channels);
        board.bus_mut().allow(rings, Access::Both);
        for channel in 0..channels {
            let base = ring(channel);
            let low = base as u32
                | RING_LOG2 << csr::CHANNEL_RING_LO_SIZE_LOG2_LSB
                | csr::CHANNEL_RING_LO_ENABLE_MASK;
            let run = csr::CHANNEL_CONTROL_ACCEPT_MASK | csr::CHANNEL_CONTROL_RUN_MASK;
            for (register, value) in [
                (csr::CHANNEL_SELECT, channel),
                (csr::CHANNEL_RING_HI, (base >> 32) as u32),
                (csr::CHANNEL_RING_LO, low),
                (csr::CHANNEL_MEM_END, csr::CHANNEL_MEM_END_PAGE_MASK),
                (csr::CHANNEL_CONTROL, run),
            ] {
                board.bar_write32(Space::Csr, register as u64, value)?;
            }
        }
        board.bar_write32(Space::Csr, csr::CHANNEL_SELECT as u64, 0)?;
        board.bar_write32(Space::Csr, csr::ATT_OWNER_LO as u64, u32::MAX)?;
        board.bar_write32(Space::Csr, csr::PORT_PACE as u64, pace)?;
        let pages = board.gpu_mut().pin(0, bytes)?;
        self.pages.clone_from(&pages);
        for (n, page) in pages.into_iter().enumerate() {
            board.bus_mut().allow(page..page + GPU_PAGE, Access::Both);
            let entry = Entry {
                address: page,
                page_size: PAGES,
                permissions: Permissions::ReadWrite,
            };
            let entry = entry
                .encode()
                .expect("GPU memory begins at a page boundary");
            let words = [entry as u32, (entry >> 32) as u32];
            board.bar_write(Space::Att, 8 * n as u64, &words)?;
        }
        board.bar_write32(Space::Csr, csr::CONTROL as u64, csr::CONTROL_ENABLE_MASK)?;
        board.drain_host()
    }

    /// Makes an error of the board, with the row's name.
    pub fn failed(&self, source: peerlane_sim::Error) -> Error {
        Error::Board {
            row: self.row,
            source,
        }
    }

    /// Returns the bus address of an offset in the mapped GPU memory.
    pub fn bus_address(&self, offset: u64) -> u64 {
        self.pages[(offset / GPU_PAGE) as usize] + offset % GPU_PAGE
    }

    /// Returns the number of channels of the build.
    pub fn channels(&self) -> u32 {
        self.channels.len() as u32
    }

    /// Lets all channels start descriptors, or none.
    pub fn run(&mut self, run: bool) -> Result<()> {
        for channel in 0..self.channels() {
            let mut control = csr::CHANNEL_CONTROL_ACCEPT_MASK;
            if run {
                control |= csr::CHANNEL_CONTROL_RUN_MASK;
            }
            for (register, value) in [
                (csr::CHANNEL_SELECT, channel),
                (csr::CHANNEL_CONTROL, control),
            ] {
                self.board
                    .bar_write32(Space::Csr, register as u64, value)
                    .map_err(|source| self.failed(source))?;
            }
        }
        Ok(())
    }

    /// Waits until a channel's queue takes another descriptor.
    fn make_room(&mut self, channel: u32, way: Way) -> Result<()> {
        let at = page(channel) + chan::QUEUE_FREE as u64;
        let mut waited = 0;
        while self.channels[channel as usize].room[way as usize] == 0 {
            let free = self
                .board
                .bar_read32(Space::Chan, at)
                .map_err(|source| self.failed(source))?;
            self.channels[channel as usize].room = [
                (free & chan::QUEUE_FREE_WRITE_MASK) >> chan::QUEUE_FREE_WRITE_LSB,
                (free & chan::QUEUE_FREE_READ_MASK) >> chan::QUEUE_FREE_READ_LSB,
            ];
            waited += 1;
            if waited > PATIENCE / 100 {
                let source = peerlane_sim::Error::Timeout {
                    what: "room in a queue".to_owned(),
                    cycles: waited,
                };
                return Err(self.failed(source));
            }
        }
        self.channels[channel as usize].room[way as usize] -= 1;
        Ok(())
    }

    /// Queues a descriptor on a channel: the writes are on their way when this returns.
    pub fn queue(&mut self, channel: u32, way: Way, d: &Descriptor) -> Result<()> {
        self.make_room(channel, way)?;
        let page = page(channel);
        let (desc, doorbell) = match way {
            Way::Write => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Way::Read => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        let encoded = AttAddress::new(PAGES, 0, d.peer).map(|peer| {
            let descriptor = descriptor::Descriptor {
                peer,
                local: match d.local & STREAM {
                    0 => Local::Memory(d.local),
                    _ => Local::Stream((d.local & !STREAM) as u32),
                },
                length: d.length,
                control: d.control,
                cookie: d.cookie,
            };
            descriptor.encode()
        });
        let Some(Ok(dwords)) = encoded else {
            return Err(self.outside(d.peer.max(d.local), d.length.into()));
        };
        let board = &mut self.board;
        // Each doorbell frees as many slots of the ring as it takes: few of the descriptors want a record, and each
        // record is read long before its slot comes again.
        board
            .bar_write(Space::Chan, page + desc as u64, &dwords)
            .and_then(|()| board.bar_write32(Space::Chan, page + doorbell as u64, 1))
            .map_err(|source| self.failed(source))
    }

    /// Rings the write doorbell of a channel without a descriptor: the one that its slot had a lap ago counts.
    pub fn ring(&mut self, channel: u32) -> Result<()> {
        self.make_room(channel, Way::Write)?;
        let doorbell = page(channel) + chan::WRITE_DOORBELL as u64;
        let written = self.board.bar_write32(Space::Chan, doorbell, 1);
        written.map_err(|source| self.failed(source))
    }

    /// Returns the bus address of a channel's next record.
    pub fn next_record_address(&self, channel: u32) -> u64 {
        let next = self.channels[channel as usize].next_record;
        ring(channel) + u64::from(next % (1 << RING_LOG2)) * RECORD_BYTES
    }

    /// Returns the phase bit that a channel's next record will have.
    fn next_phase(&self, channel: u32) -> bool {
        self.channels[channel as usize].next_record >> RING_LOG2 & 1 == 0
    }

    /// Reports whether the next record of a channel is in host memory.
    pub fn is_recorded(&self, channel: u32) -> bool {
        let phase = self.next_phase(channel);
        let at = self.next_record_address(channel) + 4 * record::STATUS as u64;
        let status = self.board.host().read32(at);
        status.is_ok_and(|status| record::phase(status) == phase)
    }

    /// Runs until the next record of a channel is in host memory; returns its cookie and direction. `tick` is called
    /// now and then.
    pub fn record(&mut self, channel: u32, mut tick: impl FnMut(&Stats)) -> Result<(u32, Way)> {
        const SLICE: u64 = 20_000;
        let slot = self.next_record_address(channel);
        let phase = self.next_phase(channel);
        let word = |board: &Board, n: usize| board.host().read32(slot + 4 * n as u64);
        let mut waited = 0;
        loop {
            let status = |board: &Board| word(board, record::STATUS);
            let there = |board: &Board| status(board).is_ok_and(|s| record::phase(s) == phase);
            match self.board.run_until(there, SLICE) {
                Ok(_) => break,
                Err(peerlane_sim::Error::Timeout { .. }) if waited < PATIENCE => {
                    waited += SLICE;
                    tick(&self.board.stats());
                }
                Err(source) => return Err(self.failed(source)),
            }
        }
        self.channels[channel as usize].next_record += 1;
        let mut dwords = [0; record::DWORDS];
        for (n, dword) in dwords.iter_mut().enumerate() {
            *dword = word(&self.board, n).map_err(|source| self.failed(source))?;
        }
        let row = self.row;
        let record = Record::decode(&dwords).map_err(|source| Error::Record { row, source })?;
        if let Err(fault) = record.outcome {
            return Err(Error::Status {
                row,
                cookie: record.cookie,
                fault,
                bytes: record.bytes_done,
            });
        }
        let way = match record.direction {
            Direction::FromFpga => Way::Write,
            Direction::ToFpga => Way::Read,
        };
        Ok((record.cookie, way))
    }

    /// Reads the block's own stall counters. That takes a few µs of simulated time: a register read for each.
    pub fn counters(&mut self) -> Result<Counters> {
        let mut read = || -> peerlane_sim::Result<Counters> {
            let board = &mut self.board;
            board.bar_write32(Space::Csr, csr::COUNTER_SNAPSHOT as u64, 1)?;
            while board.bar_read32(Space::Csr, csr::COUNTER_SNAPSHOT as u64)?
                & csr::COUNTER_SNAPSHOT_BUSY_MASK
                != 0
            {}
            let mut low = |register: usize| board.bar_read32(Space::Csr, register as u64);
            Ok(Counters {
                stall_txs: low(csr::STALL_TXS_LO)?,
                stall_tags: low(csr::STALL_TAGS_LO)?,
                stall_credits: low(csr::STALL_CREDITS_LO)?,
                stall_mem_read: low(csr::STALL_MEM_READ_LO)?,
                stall_mem_write: low(csr::STALL_MEM_WRITE_LO)?,
            })
        };
        read().map_err(|source| self.failed(source))
    }

    /// Puts noise into the memory from which a transfer takes its data.
    pub fn fill(&mut self, way: Way, peer: u64, local: u64, bytes: u64) -> Result<()> {
        let missing = self.outside(peer.max(local), bytes);
        let place = match way {
            Way::Write => self.board.ddr_mut().slice_mut(local, bytes as usize),
            Way::Read => {
                let memory = self.board.gpu_mut().memory_mut();
                memory.slice_mut(peer, bytes as usize)
            }
        };
        let place = place.ok_or(missing)?;
        // Marsaglia's xorshift64.
        let mut state = 0x9E37_79B9_7F4A_7C15u64 ^ bytes ^ u64::from(way == Way::Read);
        for chunk in place.chunks_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }

    /// Compares both ends of a transfer.
    pub fn check(&self, peer: u64, local: u64, bytes: u64) -> Result<()> {
        let gpu = self.board.gpu().memory().slice(peer, bytes as usize);
        let fpga = self.board.ddr().slice(local, bytes as usize);
        let (Some(gpu), Some(fpga)) = (gpu, fpga) else {
            return Err(self.outside(peer.max(local), bytes));
        };
        if gpu == fpga {
            return Ok(());
        }
        let offset = gpu.iter().zip(fpga).position(|(a, b)| a != b);
        Err(Error::Data {
            row: self.row,
            offset: offset.unwrap_or_default() as u64,
        })
    }

    /// Returns bytes of GPU memory.
    pub fn gpu_bytes(&self, at: u64, bytes: u64) -> Result<&[u8]> {
        let slice = self.board.gpu().memory().slice(at, bytes as usize);
        slice.ok_or_else(|| self.outside(at, bytes))
    }

    fn outside(&self, address: u64, bytes: u64) -> Error {
        self.failed(peerlane_sim::Error::Address {
            memory: "memory of the transfer",
            address,
            bytes,
        })
    }
}
