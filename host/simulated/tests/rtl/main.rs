//! The library on the simulated board: the block's real RTL, Verilated.

mod contexts;
mod examples;
mod opencl;
mod process;
mod rings;
mod routes;

use peerlane_functional::{ALL, Bench, run};
use peerlane_hdl::{Params, Port};
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{
    Device, Direction, Error, Fault, Memory, MemoryKind, Permissions, Queue, Region,
};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
use peerlane_simulated::SimBoard;
use peerlane_verilated::Library;
use std::sync::OnceLock;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The smallest queues that can be built, so that transfers outgrow them.
fn params() -> Params {
    Params {
        queue_log2: 8,
        ..Params::default()
    }
}

fn open(options: &Options) -> (SimBoard, Driver) {
    open_on(options, BoardConfig::default())
}

fn open_on(options: &Options, config: BoardConfig) -> (SimBoard, Driver) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library =
        LIBRARY.get_or_init(|| peerlane_block::library(&params()).expect("the block as a model"));
    let board = SimBoard::new(library.instance().unwrap(), config).unwrap();
    let driver = board.drive(options).unwrap();
    (board, driver)
}

/// Opens a board whose reads have tags.
fn open_tagged(options: &Options) -> (SimBoard, Driver) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let params = Params {
        port: Port::Stream,
        reads_log2: 6,
        receive_log2: 11,
        ..params()
    };
    let library =
        LIBRARY.get_or_init(|| peerlane_block::library(&params).expect("the block as a model"));
    let board = SimBoard::new(library.instance().unwrap(), BoardConfig::default()).unwrap();
    let driver = board.drive(options).unwrap();
    (board, driver)
}

/// Opens a context that has all FPGA memory that is left, from address 0 on.
fn open_all(driver: &Driver) -> (Device, Queue) {
    let device = driver.open().unwrap();
    device.allocate_all(0).unwrap().keep();
    let queue = device.queue().unwrap();
    (device, queue)
}

fn registered(
    device: &Device,
    kind: MemoryKind,
    length: u64,
    permissions: Permissions,
) -> (Memory, Region) {
    let memory = device.memory(kind, length as usize).unwrap();
    let region = device.register_all(&memory, permissions).unwrap();
    (memory, region)
}

fn gpu(device: &Device, length: u64) -> (Memory, Region) {
    registered(device, MemoryKind::Gpu, length, Permissions::ReadWrite)
}

fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

struct OnTheSimulatedBoard(Driver);

impl Bench for OnTheSimulatedBoard {
    fn open(&self) -> anyhow::Result<Device> {
        Ok(self.0.open()?)
    }

    fn kinds(&self) -> &[MemoryKind] {
        &[MemoryKind::Host, MemoryKind::Gpu]
    }

    fn takes_addresses(&self) -> bool {
        true
    }

    fn shows_huge_pages(&self) -> bool {
        true
    }

    fn reset(&self) -> anyhow::Result<bool> {
        self.0.reset()?;
        Ok(true)
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_the_library_promises() {
    for (name, test) in ALL {
        let (board, driver) = open(&Options::default());
        // SAFETY: the tests that register memory by its address keep the promise.
        unsafe { board.admit_process_memory() };
        let bench = OnTheSimulatedBoard(driver);
        run(&bench, name, *test).unwrap_or_else(|error| panic!("{error:?}"));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_says_what_it_was_built_as() {
    let (_, driver) = open(&Options {
        build_id: Some(params().build_id()),
        ..Options::default()
    });
    let caps = driver.capabilities();
    assert_eq!((caps.channels, caps.queue_depth()), (8, 32));
    assert_eq!((caps.att_entries(), caps.reads_log2), (4096, 5));
    assert!(!caps.tagged && !caps.msix);
    assert_eq!((caps.port_bytes, caps.txs_addr_bits), (16, 64));
    assert_eq!(driver.build_id(), params().build_id());
    let status = driver.status().unwrap();
    assert!(!status.write_busy && !status.read_busy && !status.read_quarantine);
    assert!(!status.port_dead);
}

/// A board, and a context with all of its FPGA memory.
struct Rig {
    board: SimBoard,
    driver: Driver,
    device: Device,
    queue: Queue,
}

impl Rig {
    fn new(options: &Options, config: BoardConfig) -> Self {
        let (board, driver) = open_on(options, config);
        let (device, queue) = open_all(&driver);
        Self {
            board,
            driver,
            device,
            queue,
        }
    }

    /// Moves `length` bytes with guards around them, and checks every byte.
    fn round(
        &self,
        direction: Direction,
        kind: MemoryKind,
        (offset, fpga, length): (u64, u64, u64),
        permissions: Permissions,
    ) {
        let what = format!("{direction} {kind:?} {offset} {fpga} {length}");
        let size = offset + length + 64;
        let (memory, region) = registered(&self.device, kind, size, permissions);
        let mut peer = pattern(1, size as usize);
        let mut fpga_bytes = pattern(2, (length + 128) as usize);
        memory.write(0, &peer).unwrap();
        let guard = fpga - 64;
        self.board.fpga_write(guard, &fpga_bytes).unwrap();
        self.queue.set_piece(16 << 10);
        let transfer = self
            .queue
            .submit(direction, region.part(offset..offset + length), fpga);
        assert_eq!(transfer.unwrap().wait(SECOND).unwrap(), length);
        let peer_part = offset as usize..(offset + length) as usize;
        let fpga_part = 64..64 + length as usize;
        match direction {
            Direction::FromFpga => peer[peer_part].copy_from_slice(&fpga_bytes[fpga_part]),
            Direction::ToFpga => fpga_bytes[fpga_part].copy_from_slice(&peer[peer_part]),
        }
        let (mut peer_now, mut fpga_now) = (vec![0; peer.len()], vec![0; fpga_bytes.len()]);
        memory.read(0, &mut peer_now).unwrap();
        self.board.fpga_read(guard, &mut fpga_now).unwrap();
        assert!(peer_now == peer, "{what}: peer");
        assert!(fpga_now == fpga_bytes, "{what}: board");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_arrives_both_ways_and_nothing_else_changes() {
    let rig = Rig::new(&Options::default(), BoardConfig::default());
    for direction in Direction::BOTH {
        for kind in [MemoryKind::Host, MemoryKind::Gpu] {
            for range in [
                (0, 64, 64),
                (0, 4096, 4096),
                (4096 - 64, 128, 128),
                (0, 1 << 30, 64 * KIB),
                (64 * KIB - 256, 54272, 300 * KIB),
                (1, 65, 1),
                (4093, 127, 4099),
                (12345, 54321, 70_001),
            ] {
                rig.round(direction, kind, range, Permissions::ReadWrite);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn both_directions_at_once_outgrow_the_queue() {
    let (board, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    queue.set_piece(4096);
    board.with(|board| board.set_txs_backpressure(Backpressure::Random(20)));
    // 512 pieces for a queue of 32, twice in each direction.
    let length = 2 * MIB;
    let data = pattern(3, length as usize);
    let mut memories = Vec::new();
    let mut transfers = Vec::new();
    for index in 0..2u64 {
        let (to, to_region) = registered(&device, MemoryKind::Gpu, length, Permissions::Write);
        let (from, from_region) = registered(&device, MemoryKind::Host, length, Permissions::Read);
        from.write(0, &data).unwrap();
        let fpga = index * 64 * MIB;
        board.fpga_write(fpga, &data).unwrap();
        transfers.push(queue.from_fpga(fpga, to_region.part(0..length)).unwrap());
        let fpga = fpga + 16 * MIB;
        transfers.push(queue.to_fpga(from_region.part(0..length), fpga).unwrap());
        memories.push((to, from));
    }
    for transfer in transfers.iter().rev() {
        assert_eq!(transfer.wait(SECOND).unwrap(), length);
    }
    let mut found = vec![0; length as usize];
    for (index, (to, _)) in memories.iter().enumerate() {
        to.read(0, &mut found).unwrap();
        assert!(found == data, "write {index}");
        let fpga = (index as u64 * 64 + 16) * MIB;
        board.fpga_read(fpga, &mut found).unwrap();
        assert!(found == data, "read {index}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_transfer_takes_one_interrupt() {
    let (board, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    let (_memory, region) = gpu(&device, 4 * MIB);
    queue.set_piece(1 << 20);
    for direction in Direction::BOTH {
        let before = board.with(|board| board.irqs());
        let transfer = queue.submit(direction, region.part(0..4 * MIB), 0).unwrap();
        transfer.wait(SECOND).unwrap();
        assert_eq!(board.with(|board| board.irqs()) - before, 1, "{direction}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_is_there_when_a_write_has_ended() {
    // The GPU is so slow that every record overtakes its data.
    let mut config = BoardConfig::default();
    config.gpu.write_latency_ns = 20_000;
    let rig = Rig::new(&Options::default(), config);
    for length in [64, 4096, 64 * KIB] {
        // The block reads back; where it may not, the host does.
        for permissions in [Permissions::ReadWrite, Permissions::Write] {
            let range = (0, 64, length);
            rig.round(Direction::FromFpga, MemoryKind::Gpu, range, permissions);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_never_answered_ends_with_its_place() {
    let options = Options {
        // 40 us at 250 MHz.
        port_timeout_cycles: Some(10_000),
        ..Options::default()
    };
    let rig = Rig::new(&options, BoardConfig::default());
    let Rig {
        board,
        driver,
        device,
        queue,
    } = &rig;
    let (_memory, region) = gpu(device, MIB);
    let bar = board.with(|board| board.gpu().bar_base());
    let hole = bar + 512 * KIB..bar + 512 * KIB + 64;
    board.with(|board| {
        let (hits, answer) = (Hits::Addresses(hole), Answer::Never);
        board.bus_mut().inject(FaultRule { hits, answer });
    });
    let read = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    let write = queue.from_fpga(0, region.part(0..64 * KIB)).unwrap();
    let error = read.wait(SECOND).unwrap_err();
    let Error::Fault {
        fault,
        bytes_done,
        offset,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(fault, Fault::ReadTimeout);
    assert!(bytes_done <= 512 * KIB, "{bytes_done}");
    assert!(offset.is_some_and(|offset| offset <= 512 * KIB));
    // The other direction goes on; reads are refused until the link has been reset.
    assert_eq!(write.wait(SECOND).unwrap(), 64 * KIB);
    assert!(driver.status().unwrap().read_quarantine);
    let refused = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert!(matches!(
        refused.wait(SECOND),
        Err(Error::Fault {
            fault: Fault::PortDown,
            ..
        })
    ));
    // The bridge returns no later answer before this one, so it cannot be dropped.
    let released = driver.release_read_quarantine();
    assert!(matches!(released, Err(Error::ReadsOwed)), "{released:?}");
    link_goes_down(board, driver);
    device.query().unwrap();
    let (kind, both) = (MemoryKind::Gpu, Permissions::ReadWrite);
    rig.round(Direction::ToFpga, kind, (0, 64, 64 * KIB), both);
}

/// Makes peers answer again, and resets the link, which resets hard IP and block.
fn link_goes_down(board: &SimBoard, driver: &Driver) {
    board
        .with(|board| {
            board.bus_mut().clear_faults();
            board.reset()
        })
        .unwrap();
    driver.reset().unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_ends_what_is_under_way() {
    let rig = Rig::new(&Options::default(), BoardConfig::default());
    let (_memory, region) = gpu(&rig.device, 8 * MIB);
    let write = rig.queue.from_fpga(0, region.part(0..8 * MIB)).unwrap();
    let read = rig
        .queue
        .to_fpga(region.part(0..8 * MIB), 64 * MIB)
        .unwrap();
    let soon = Duration::from_micros(100);
    assert!(matches!(write.wait(soon), Err(Error::Timeout { .. })));
    rig.driver.reset().unwrap();
    for transfer in [&write, &read] {
        assert!(matches!(transfer.wait(SECOND), Err(Error::Restarted)));
    }
    for direction in Direction::BOTH {
        let (kind, both) = (MemoryKind::Gpu, Permissions::ReadWrite);
        rig.round(direction, kind, (0, 64, 64 * KIB), both);
    }
}
