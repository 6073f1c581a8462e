//! The library on the simulated board: the block's real RTL, Verilated.

mod channels;

use peerlane_hdl::Params;
use peerlane_host::{
    Device, Direction, Error, Fault, MemoryKind, Options, Permissions, Request, SimBoard,
};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
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

fn open(options: &Options) -> (SimBoard, Device) {
    open_on(options, BoardConfig::default())
}

fn open_on(options: &Options, config: BoardConfig) -> (SimBoard, Device) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library =
        LIBRARY.get_or_init(|| peerlane_block::library(&params()).expect("the block as a model"));
    let board = SimBoard::new(library.instance().unwrap(), config).unwrap();
    let device = Device::open_sim(&board, options).unwrap();
    (board, device)
}

fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_says_what_it_was_built_as() {
    let (_, device) = open(&Options {
        build_id: Some(params().build_id()),
        ..Options::default()
    });
    let caps = device.capabilities();
    assert_eq!((caps.channels, caps.queue_depth()), (8, 32));
    assert_eq!((caps.att_entries(), caps.reads_log2), (4096, 5));
    assert!(!caps.tagged && !caps.msix);
    assert_eq!((caps.port_bytes, caps.txs_addr_bits), (16, 64));
    assert_eq!(device.build_id(), params().build_id());
    let status = device.status().unwrap();
    assert!(!status.write_busy && !status.read_busy && !status.read_quarantine);
    assert!(!status.port_dead);
}

/// Moves `length` bytes with guards around them, and checks every byte.
fn round(device: &Device, direction: Direction, kind: MemoryKind, range: (u64, u64, u64)) {
    round_with(device, direction, kind, range, Permissions::ReadWrite);
}

fn round_with(
    device: &Device,
    direction: Direction,
    kind: MemoryKind,
    range: (u64, u64, u64),
    permissions: Permissions,
) {
    let (offset, fpga, length) = range;
    let size = offset + length + 64;
    let memory = device.allocate(kind, size).unwrap();
    let region = device.register(&memory, permissions).unwrap();
    let mut peer = pattern(1, size as usize);
    let mut board = pattern(2, (length + 128) as usize);
    memory.write(0, &peer).unwrap();
    let guard = fpga - 64;
    device.fpga_memory_backdoor_write(guard, &board).unwrap();
    let request = Request {
        direction,
        region: &region,
        offset,
        fpga_address: fpga,
        length,
        piece: Some(16 << 10),
    };
    let transfer = device.queue().submit(&request).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), length);
    let peer_part = offset as usize..(offset + length) as usize;
    let board_part = 64..64 + length as usize;
    match direction {
        Direction::Write => peer[peer_part].copy_from_slice(&board[board_part]),
        Direction::Read => board[board_part].copy_from_slice(&peer[peer_part]),
    }
    let (mut peer_now, mut board_now) = (vec![0; peer.len()], vec![0; board.len()]);
    memory.read(0, &mut peer_now).unwrap();
    device
        .fpga_memory_backdoor_read(guard, &mut board_now)
        .unwrap();
    assert!(peer_now == peer, "{direction} {kind:?} {range:?}: peer");
    assert!(board_now == board, "{direction} {kind:?} {range:?}: board");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_arrives_both_ways_and_nothing_else_changes() {
    let (_, device) = open(&Options::default());
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
                round(&device, direction, kind, range);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn both_directions_at_once_outgrow_the_queue() {
    let (board, device) = open(&Options {
        piece: 4096,
        ..Options::default()
    });
    board.with(|board| board.set_txs_backpressure(Backpressure::Random(20)));
    // 512 pieces for a queue of 32, twice in each direction.
    let length = 2 * MIB;
    let data = pattern(3, length as usize);
    let queue = device.queue();
    let mut memories = Vec::new();
    let mut transfers = Vec::new();
    for index in 0..2u64 {
        let to = device.allocate(MemoryKind::Gpu, length).unwrap();
        let from = device.allocate(MemoryKind::Host, length).unwrap();
        from.write(0, &data).unwrap();
        let fpga = index * 64 * MIB;
        device.fpga_memory_backdoor_write(fpga, &data).unwrap();
        let to_region = device.register(&to, Permissions::Write).unwrap();
        let from_region = device.register(&from, Permissions::Read).unwrap();
        transfers.push(queue.write(fpga, &to_region, 0, length).unwrap());
        let fpga = fpga + 16 * MIB;
        transfers.push(queue.read(&from_region, 0, fpga, length).unwrap());
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
        device.fpga_memory_backdoor_read(fpga, &mut found).unwrap();
        assert!(found == data, "read {index}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_transfer_takes_one_interrupt() {
    let (board, device) = open(&Options::default());
    let memory = device.allocate(MemoryKind::Gpu, 4 * MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    for direction in Direction::BOTH {
        let before = board.with(|board| board.irqs());
        let request = Request {
            direction,
            region: &region,
            offset: 0,
            fpga_address: 0,
            length: 4 * MIB,
            piece: None,
        };
        let transfer = device.queue().submit(&request).unwrap();
        transfer.wait(SECOND).unwrap();
        assert_eq!(board.with(|board| board.irqs()) - before, 1, "{direction}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_is_there_when_a_write_has_ended() {
    // So slow a GPU that every record overtakes its data.
    let mut config = BoardConfig::default();
    config.gpu.write_latency_ns = 20_000;
    let (_, device) = open_on(&Options::default(), config);
    for length in [64, 4096, 64 * KIB] {
        // The block reads back, or where it may not, the host.
        for permissions in [Permissions::ReadWrite, Permissions::Write] {
            let range = (0, 64, length);
            round_with(
                &device,
                Direction::Write,
                MemoryKind::Gpu,
                range,
                permissions,
            );
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_never_answered_ends_with_its_place() {
    let (board, device) = open(&Options {
        // 40 us at 250 MHz.
        port_timeout_cycles: Some(10_000),
        ..Options::default()
    });
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = device.queue();
    let bar = board.with(|board| board.gpu().bar_base());
    let hole = bar + 512 * KIB..bar + 512 * KIB + 64;
    board.with(|board| {
        let (hits, answer) = (Hits::Addresses(hole), Answer::Never);
        board.bus_mut().inject(FaultRule { hits, answer });
    });
    let read = queue.read(&region, 0, 0, MIB).unwrap();
    let write = queue.write(0, &region, 0, 64 * KIB).unwrap();
    let error = read.wait(SECOND).unwrap_err();
    let Error::Fault {
        fault,
        bytes_done,
        region_offset,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(fault, Fault::ReadTimeout);
    assert!(bytes_done <= 512 * KIB, "{bytes_done}");
    assert!(region_offset.is_some_and(|offset| offset <= 512 * KIB));
    // The other direction goes on; reads are refused until the link has been reset.
    assert_eq!(write.wait(SECOND).unwrap(), 64 * KIB);
    assert!(device.status().unwrap().read_quarantine);
    let refused = queue.read(&region, 0, 0, 4096).unwrap();
    assert!(matches!(
        refused.wait(SECOND),
        Err(Error::Fault {
            fault: Fault::PortDown,
            ..
        })
    ));
    board.with(|board| {
        board.bus_mut().clear_faults();
        board.link_reset();
    });
    device.release_read_quarantine().unwrap();
    round(&device, Direction::Read, MemoryKind::Gpu, (0, 64, 64 * KIB));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_ends_what_is_under_way() {
    let (_, device) = open(&Options::default());
    let memory = device.allocate(MemoryKind::Gpu, 8 * MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = device.queue();
    let write = queue.write(0, &region, 0, 8 * MIB).unwrap();
    let read = queue.read(&region, 0, 64 * MIB, 8 * MIB).unwrap();
    let soon = Duration::from_micros(100);
    assert!(matches!(write.wait(soon), Err(Error::Timeout { .. })));
    device.reset().unwrap();
    for transfer in [&write, &read] {
        assert!(matches!(
            transfer.poll(),
            Err(Error::Fault {
                fault: Fault::Aborted,
                ..
            })
        ));
    }
    for direction in Direction::BOTH {
        round(&device, direction, MemoryKind::Gpu, (0, 64, 64 * KIB));
    }
}
