//! What several tests need.

use crate::fake::{Config, Fake};
use peerlane_host::{
    Device, Direction, Error, Fault, Memory, MemoryKind, Options, Permissions, Queue, Region,
    Request, Terms, Transfer,
};
use std::time::Duration;

pub const SECOND: Duration = Duration::from_secs(1);
pub const MIB: u64 = 1 << 20;

pub fn open(config: Config) -> (Fake, Device) {
    let fake = Fake::new(config);
    let device = Device::open(fake.clone(), &Options::default()).unwrap();
    (fake, device)
}

/// A build of two channels.
pub fn open_two() -> (Fake, Device) {
    open(Config {
        channels: 2,
        ..Config::default()
    })
}

pub fn memory(device: &Device, length: u64) -> (Memory, Region) {
    let memory = device.allocate(MemoryKind::Gpu, length).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    (memory, region)
}

pub fn submit(
    queue: &Queue,
    direction: Direction,
    region: &Region,
    piece: u32,
    terms: Terms,
) -> Transfer {
    let request = Request {
        direction,
        region,
        offset: 0,
        fpga_address: 0,
        length: region.length(),
        piece: Some(piece),
    };
    queue.submit_with(&request, terms).unwrap()
}

pub fn fault_of(transfer: &Transfer) -> Fault {
    match transfer.wait(SECOND) {
        Err(Error::Fault { fault, .. }) => fault,
        other => panic!("no fault: {other:?}"),
    }
}
