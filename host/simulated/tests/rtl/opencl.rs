//! Kernels on the simulated board, through the driver in the process.

use crate::{MIB, SECOND, open, open_all, pattern, registered};
use peerlane_host::driver::Options;
use peerlane_host::{Area, Direction, Error, MemoryKind, OpenCl, Permissions};
use peerlane_sim::opencl::{Config, Offsets, OpenClSide, Program};
use peerlane_simulated::SimBoard;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

fn attach(board: &SimBoard) {
    let config = Config {
        offsets: Offsets::DE5_NET,
        program: Some(Program::of_all_kinds("sim_board", HASH, 2 << 30)),
        ..Config::default()
    };
    board.with(|board| board.attach_opencl(OpenClSide::new(config).unwrap()));
}

fn word(side: &dyn OpenCl, area: Area, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    side.read(area, offset, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// Makes the kernel copy words from 1 MiB to 2 MiB.
fn start_copy(side: &dyn OpenCl, words: u32) {
    let write = |offset, data: &[u8]| side.write(Area::Kernels, offset, data).unwrap();
    write(0x20, &0x1000_u32.to_le_bytes());
    write(0x1140, &words.to_le_bytes());
    let pointers = [MIB, 2 * MIB].map(u64::to_le_bytes);
    write(0x1180, pointers.as_flattened());
    write(0x1108, &[1]);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_kernel_works_on_what_a_transfer_brought() {
    let (board, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    let without = device.open_cl().unwrap_err();
    assert!(matches!(without, Error::OpenCl { .. }), "{without}");
    attach(&board);
    let side = device.open_cl().unwrap();
    assert_eq!(word(&*side, Area::Kernels, 0), 0xA0C0_0001);
    assert_eq!(word(&*side, Area::Clock, 0x120), 1);
    assert_eq!(word(&*side, Area::Version, 0), 0xA0C7_C1E0);
    assert_eq!(word(&*side, Area::Status, 0), 0);
    assert_eq!(
        Area::ALL.map(|area| side.bytes(area)),
        [0x4000, 0x800, 4, 4, 4]
    );

    const BYTES: u64 = 4004;
    let data = pattern(5, BYTES as usize);
    let (memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    memory.write(0, &data).unwrap();
    let read = queue
        .submit(Direction::ToFpga, region.part(0..BYTES), MIB)
        .unwrap();
    read.wait(SECOND).unwrap();
    start_copy(&*side, BYTES as u32 / 4);
    side.arm().unwrap();
    assert!(side.wait(Some(60 * SECOND)).unwrap());
    assert_eq!(word(&*side, Area::Kernels, 0x1130), 1);
    let write = queue.submit(
        Direction::FromFpga,
        region.part(0x8000..0x8000 + BYTES),
        2 * MIB,
    );
    write.unwrap().wait(SECOND).unwrap();
    let mut copy = vec![0; BYTES as usize];
    memory.read(0x8000, &mut copy).unwrap();
    assert!(copy == data);
    // One interrupt a launch.
    side.arm().unwrap();
    assert!(!side.wait(Some(SECOND / 10)).unwrap());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn whoever_lets_go_ends_the_kernels() {
    let (board, driver) = open(&Options::default());
    attach(&board);
    let (device, _queue) = open_all(&driver);
    let side = device.open_cl().unwrap();
    start_copy(&*side, 1 << 18);
    drop(side);
    board.with(|board| {
        let side = board.opencl().unwrap();
        let stats = side.kernel_stats("copy").unwrap();
        assert_eq!((stats.starts, stats.killed, stats.finished), (1, 1, 0));
    });
}
