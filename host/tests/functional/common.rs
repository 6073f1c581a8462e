//! Functions that several tests use.

use crate::fake::{Config, Fake};
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{
    Device, Direction, Error, Fault, Memory, MemoryKind, Permissions, Queue, Region, Request,
    Terms, Transfer,
};
use std::time::Duration;

pub const SECOND: Duration = Duration::from_secs(1);
pub const MIB: u64 = 1 << 20;

pub fn drive(config: Config) -> (Fake, Driver) {
    let fake = Fake::new(config);
    let driver = Driver::new(fake.clone(), &Options::default()).unwrap();
    (fake, driver)
}

/// Opens a context that has all FPGA memory that is left, from address 0 on, and pieces of 1 MiB.
pub fn open_at(driver: &Driver) -> (Device, Queue) {
    let device = driver.open().unwrap();
    device.allocate_all(0).unwrap().keep();
    let queue = device.queue().unwrap();
    queue.set_piece(1 << 20);
    (device, queue)
}

/// Opens a context with `bytes` bytes of FPGA memory; returns its first byte.
pub fn open_with(driver: &Driver, bytes: u64) -> (Device, Queue, u64) {
    let device = driver.open().unwrap();
    let start = device.allocate(bytes).unwrap().keep().start;
    let queue = device.queue().unwrap();
    queue.set_piece(1 << 20);
    (device, queue, start)
}

pub fn open(config: Config) -> (Fake, Driver, Device, Queue) {
    let (fake, driver) = drive(config);
    let (device, queue) = open_at(&driver);
    (fake, driver, device, queue)
}

pub fn registered(
    device: &Device,
    kind: MemoryKind,
    length: u64,
    permissions: Permissions,
) -> (Memory, Region) {
    let memory = device.memory(kind, length as usize).unwrap();
    let region = device.register_all(&memory, permissions).unwrap();
    (memory, region)
}

pub fn memory(device: &Device, length: u64) -> (Memory, Region) {
    registered(device, MemoryKind::Gpu, length, Permissions::ReadWrite)
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
        fpga_address: queue.device().range().start,
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
