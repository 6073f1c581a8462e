//! The Verilated block on the simulated board, driven register by register. Nothing of the driver or
//! the host library is used: the addresses come from the generated constants, the rest is by hand.

use peerlane_core::regs::{chan, csr};
use peerlane_hdl::{Design, Params, Port, TOP};
use peerlane_sim::{Access, Board, BoardConfig, LinkConfig, RangeId, Space};
use peerlane_verilated::Library;

pub const MIB: u64 = 1 << 20;

/// Where the rig keeps the completion ring.
const RING: u64 = 0x1_0000_0000;
const RING_LOG2: u32 = 12;

/// Contents of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub cookie: u32,
    pub read: bool,
    pub code: u8,
    pub bytes: u32,
    pub sequence: u32,
    pub fault: u64,
}

/// One descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    pub peer: u64,
    pub local: u64,
    pub length: u32,
    pub control: u32,
    pub cookie: u32,
}

pub const RECORD: u32 = 1;
pub const IRQ: u32 = 2;

pub struct Rig {
    pub board: Board,
    /// By channel: records read, those that the block was not notified of, the size of the ring.
    next_record: [u32; 64],
    untold: [u32; 64],
    ring_log2: [u32; 64],
    free_entry: u32,
}

pub fn library(params: &Params) -> Library {
    peerlane_block::library(params).expect("the block as a model")
}

pub fn library_of(design: &Design) -> Library {
    peerlane_block::library_of(TOP, design).expect("the block as a model")
}

/// Where a channel's completion ring is.
fn ring_of(channel: u32) -> u64 {
    RING + (u64::from(channel) << RING_LOG2) * 32
}

impl Rig {
    pub fn new(library: &Library, config: BoardConfig) -> Self {
        let mut board = Board::new(library.instance().unwrap(), config).unwrap();
        board.bus_mut().allow(RING..ring_of(64), Access::Both);
        let mut rig = Self {
            board,
            next_record: [0; 64],
            untold: [0; 64],
            ring_log2: [RING_LOG2; 64],
            free_entry: 0,
        };
        rig.restart();
        rig
    }

    /// Does the steps of a driver after a reset: waits for the ATT's sweep, sets the ring, enables.
    pub fn restart(&mut self) {
        self.board.run(100).unwrap();
        while self.read_csr(csr::STATUS) & (1 << 3) != 0 {
            self.board.run(1000).unwrap();
        }
        self.csr(csr::ATT_OWNER_LO, 1);
        self.open_channel(0);
        self.csr(csr::CONTROL, 0b11);
    }

    /// Gives a channel its (cleared) ring and all of FPGA memory, and lets it run.
    pub fn open_channel(&mut self, channel: u32) {
        self.open_ring(channel, RING_LOG2);
    }

    /// Gives a channel a ring of `2^log2` records, at most 2^12, and all of FPGA memory, and lets it run.
    pub fn open_ring(&mut self, channel: u32, log2: u32) {
        let ring = ring_of(channel);
        let zero = vec![0; 32 << RING_LOG2];
        self.board.host_mut().write(ring, &zero).unwrap();
        self.next_record[channel as usize] = 0;
        self.untold[channel as usize] = 0;
        self.ring_log2[channel as usize] = log2;
        self.csr(csr::CHANNEL_SELECT, channel);
        self.csr(csr::CHANNEL_RING_HI, (ring >> 32) as u32);
        self.csr(csr::CHANNEL_RING_LO, ring as u32 | log2 << 4 | 1);
        self.csr(csr::CHANNEL_MEM_BASE, 0);
        self.csr(csr::CHANNEL_MEM_END, 1 << 28);
        self.csr(csr::CHANNEL_CONTROL, 0b11);
    }

    pub fn csr(&mut self, offset: usize, value: u32) {
        self.board
            .bar_write32(Space::Csr, offset as u64, value)
            .unwrap();
    }

    pub fn read_csr(&mut self, offset: usize) -> u32 {
        self.board.bar_read32(Space::Csr, offset as u64).unwrap()
    }

    pub fn entry(&mut self, index: u32, value: u64) {
        let at = u64::from(index) * 8;
        self.board
            .bar_write32(Space::Att, at, value as u32)
            .unwrap();
        self.board
            .bar_write32(Space::Att, at + 4, (value >> 32) as u32)
            .unwrap();
    }

    /// Maps pages of `1 << shift` bytes; gives the ATT address of the first byte. `rights` are the
    /// entry's bits 2:1 (1 the board may read, 2 it may write).
    pub fn map(&mut self, shift: u32, pages: &[u64], rights: u64) -> u64 {
        let code = page_code(shift);
        let first = self.free_entry;
        self.free_entry += pages.len() as u32;
        for (i, page) in pages.iter().enumerate() {
            let access = match rights {
                1 => Access::Read,
                2 => Access::Write,
                _ => Access::Both,
            };
            self.board
                .bus_mut()
                .allow(*page..*page + (1 << shift), access);
            self.entry(first + i as u32, page | code << 3 | rights << 1 | 1);
        }
        code << 62 | u64::from(first) << shift
    }

    /// Returns the entry that the next `map` begins with.
    pub fn next_entry(&self) -> u32 {
        self.free_entry
    }

    /// Makes the next `map` begin with the first entry again: after a reset none is valid.
    pub fn reuse_entries(&mut self) {
        self.free_entry = 0;
    }

    /// Maps one page, and returns also the permission that the bus model has for it.
    pub fn map_revocable(&mut self, shift: u32, page: u64, rights: u64) -> (u64, RangeId) {
        let id = self
            .board
            .bus_mut()
            .allow(page..page + (1 << shift), Access::Both);
        let first = self.free_entry;
        self.free_entry += 1;
        let code = page_code(shift);
        self.entry(first, page | code << 3 | rights << 1 | 1);
        (code << 62 | u64::from(first) << shift, id)
    }

    /// Maps GPU memory `[0, length)` through the BAR, in 64 KiB pages.
    pub fn map_gpu(&mut self, gpu: u64, length: u64) -> u64 {
        let pages = self.board.gpu_mut().pin(gpu, length).unwrap();
        self.map(16, &pages, 3)
    }

    pub fn queue(&mut self, read: bool, d: Descriptor) {
        self.queue_on(0, read, d);
    }

    /// Queues a descriptor, and reports the records that were read from the ring to the block.
    pub fn queue_on(&mut self, channel: u32, read: bool, d: Descriptor) {
        let told = std::mem::take(&mut self.untold[channel as usize]);
        self.queue_telling(channel, read, d, told);
    }

    /// Queues a descriptor with a doorbell that reports so many free places of the ring.
    pub fn queue_telling(&mut self, channel: u32, read: bool, d: Descriptor, told: u32) {
        let doorbell = self.describe(channel, read, d);
        self.board.bar_write32(Space::Chan, doorbell, told).unwrap();
    }

    /// Writes a descriptor that is not announced; returns the offset of its doorbell in the channel space.
    pub fn describe(&mut self, channel: u32, read: bool, d: Descriptor) -> u64 {
        let page = u64::from(channel) << 12;
        let (desc, doorbell) = if read {
            (chan::READ_DESC, chan::READ_DOORBELL)
        } else {
            (chan::WRITE_DESC, chan::WRITE_DOORBELL)
        };
        let dwords = [
            d.peer as u32,
            (d.peer >> 32) as u32,
            d.local as u32,
            (d.local >> 32) as u32,
            d.length,
            d.control,
            d.cookie,
        ];
        self.board
            .bar_write(Space::Chan, page + desc as u64, &dwords)
            .unwrap();
        page + doorbell as u64
    }

    /// Returns the next record, if it has come.
    pub fn poll(&mut self) -> Option<Record> {
        self.poll_on(0)
    }

    pub fn poll_on(&mut self, channel: u32) -> Option<Record> {
        let next = self.next_record[channel as usize];
        let log2 = self.ring_log2[channel as usize];
        let slot = u64::from(next % (1 << log2));
        let lap = next >> log2;
        let mut raw = [0; 32];
        self.board
            .host_mut()
            .read(ring_of(channel) + slot * 32, &mut raw)
            .unwrap();
        let word = |i: usize| u32::from_le_bytes(raw[i * 4..i * 4 + 4].try_into().unwrap());
        let status = word(1);
        if (status & 1) != (lap & 1 ^ 1) {
            return None;
        }
        self.next_record[channel as usize] += 1;
        self.untold[channel as usize] += 1;
        assert_eq!(status >> 8 & 0xFF, channel);
        assert_eq!(word(6), 0);
        assert_eq!(word(7), 0);
        Some(Record {
            cookie: word(0),
            read: status >> 1 & 1 == 1,
            code: (status >> 16) as u8,
            bytes: word(2),
            sequence: word(3),
            fault: u64::from(word(4)) | u64::from(word(5)) << 32,
        })
    }

    /// Skips a record that never comes.
    pub fn skip(&mut self) {
        self.next_record[0] += 1;
    }

    /// Runs until the next record.
    pub fn wait(&mut self, cycles: u64) -> Record {
        self.wait_on(0, cycles)
    }

    pub fn wait_on(&mut self, channel: u32, cycles: u64) -> Record {
        let end = self.board.cycles() + cycles;
        loop {
            if let Some(record) = self.poll_on(channel) {
                return record;
            }
            assert!(
                self.board.cycles() < end,
                "no record after {cycles} cycles; status {:#x}, {:?}",
                self.read_csr(csr::STATUS),
                self.board.stats()
            );
            self.board.run(64).unwrap();
        }
    }

    /// Moves bytes and checks that the record says so.
    pub fn transfer(&mut self, read: bool, peer: u64, local: u64, length: u32) -> Record {
        self.queue(
            read,
            Descriptor {
                peer,
                local,
                length,
                control: RECORD | IRQ,
                cookie: length ^ 0xABCD_0000,
            },
        );
        let record = self.wait(20_000 + u64::from(length));
        assert_eq!((record.code, record.bytes), (0, length), "{record:?}");
        assert_eq!(record.cookie, length ^ 0xABCD_0000);
        assert_eq!(record.read, read);
        record
    }
}

/// Reports where two pieces of memory differ first.
#[track_caller]
pub fn same(what: &str, got: &[u8], want: &[u8]) {
    assert_eq!(got.len(), want.len());
    if let Some(at) = got.iter().zip(want).position(|(a, b)| a != b) {
        let end = (at + 16).min(got.len());
        panic!(
            "{what}: byte {at} of {} is the first wrong one: {:02x?}, not {:02x?}; these bytes are at {:?} of the \
             expected data",
            got.len(),
            &got[at..end],
            &want[at..end],
            want.windows(8)
                .position(|w| at + 8 <= got.len() && w == &got[at..at + 8])
        );
    }
}

/// Returns the granularity of writes at the peer: the bridge at `Txs` enables whole dwords.
pub fn grain(params: &Params) -> u64 {
    match params.port {
        Port::Txs => 4,
        Port::Stream | Port::Tlp => 1,
    }
}

pub fn page_code(shift: u32) -> u64 {
    match shift {
        12 => 0,
        16 => 1,
        21 => 2,
        _ => panic!("no page of 2^{shift} bytes"),
    }
}

/// Returns a board whose registers are near: an access takes no time on the link's other side.
pub fn near() -> BoardConfig {
    BoardConfig {
        link: LinkConfig {
            mmio_latency_ns: 0,
            max_read_request: 512,
            ..LinkConfig::default()
        },
        ..BoardConfig::default()
    }
}
