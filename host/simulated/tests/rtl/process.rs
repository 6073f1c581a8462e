//! Memory of the process, and the example that takes an open device.

use super::{SECOND, open};
use peerlane_host::driver::Options;
use peerlane_host::{Errno, Error, Permissions};

#[path = "../../../../examples/01-hello/hello.rs"]
pub mod hello;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_first_example_runs() {
    let (_board, driver) = open(&Options::default());
    hello::run(&driver.open().unwrap()).unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_of_the_process_is_moved_where_it_was_admitted() {
    const LENGTH: usize = 10_001;
    let (board, driver) = open(&Options::default());
    let device = driver.open().unwrap();
    let fpga = device.allocate(LENGTH as u64).unwrap();
    let queue = device.queue().unwrap();
    let mut there: Vec<u8> = (0..LENGTH).map(|i| (i * 13) as u8).collect();
    let mut back = vec![0xee_u8; LENGTH + 2];
    let address = there.as_mut_ptr().expose_provenance() as u64;
    let length = LENGTH as u64;
    // SAFETY: it is refused.
    let refused = unsafe { device.register_address(address, length, Permissions::Read) };
    assert!(matches!(refused, Err(Error::Backend(_))), "{refused:?}");

    // SAFETY: the arrays below outlive their regions, and are read when transfers have ended.
    let (from, to) = unsafe {
        board.admit_process_memory();
        let place = back.as_mut_ptr().expose_provenance() as u64 + 1;
        (
            device.register_address(address, length, Permissions::Read),
            device.register_address(place, length, Permissions::ReadWrite),
        )
    };
    let (from, to) = (from.unwrap(), to.unwrap());
    let moved = queue.to_fpga(from.part(0..length), fpga.base()).unwrap();
    assert_eq!(moved.wait(SECOND).unwrap(), length);
    let moved = queue.from_fpga(fpga.base(), to.part(0..length)).unwrap();
    assert_eq!(moved.wait(SECOND).unwrap(), length);
    assert_eq!(back[1..=LENGTH], there);
    assert_eq!((back[0], back[LENGTH + 1]), (0xee, 0xee));
    // It goes with its region.
    let strays = board.with(|board| board.bus_mut().stray_total());
    drop((from, to));
    // Missing memory is refused as by the kernel, and the board never accesses it. There is no mapping at 4096.
    for address in [0, 4096, 1 << 47] {
        // SAFETY: it is refused.
        let refused = unsafe { device.register_address(address, length, Permissions::Read) };
        let fault = matches!(&refused, Err(Error::Call { source, .. }) if *source == Errno::FAULT);
        assert!(fault, "{address:#x}: {refused:?}");
    }
    let place = there.as_mut_ptr().expose_provenance() as u64;
    for (address, length) in [(u64::MAX - 4096, length), (place, 1 << 46)] {
        // SAFETY: as above.
        let refused = unsafe { device.register_address(address, length, Permissions::Read) };
        assert!(refused.is_err(), "{address:#x}");
    }
    assert_eq!(strays, 0);
}
