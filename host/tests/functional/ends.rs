//! Ends of writes on a board that writes whole dwords only, where the way of the copy and its failure matter.

use crate::common::{MIB, SECOND, fault_of, open, registered};
use crate::fake::{Config, Fake};
use peerlane_host::{
    Course, Device, Direction, Error, Fault, Memory, MemoryKind, Patch, Permissions, Queue, Region,
    Request, Result, Terms,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GUARD: u8 = 0xee;

fn open_coarse() -> (Fake, Device, Queue) {
    let config = Config {
        write_granularity: 4,
        ..Config::default()
    };
    let (fake, _, device, queue) = open(config);
    fake.fpga_write(0, &(0..=255).collect::<Vec<u8>>());
    (fake, device, queue)
}

/// Makes memory of a GPU with a dma-buf, and registers it from byte 64 of the dma-buf on.
fn behind_a_dma_buf(fake: &Fake, device: &Device) -> (Memory, Region) {
    let memory = device.memory(MemoryKind::Gpu, MIB as usize).unwrap();
    memory.write(0, &[GUARD; 1024]).unwrap();
    let file = rustix::fs::memfd_create("dma-buf", rustix::fs::MemfdFlags::CLOEXEC);
    let file = std::fs::File::from(file.unwrap());
    fake.set_dmabuf(&file, &memory, 0);
    let region = device.register_dmabuf(&file, 64, 4096, Permissions::ReadWrite);
    (memory, region.unwrap())
}

/// A GPU that copies bytes of the region, and counts the copies.
#[derive(Debug)]
struct Gpu {
    memory: Memory,
    copies: AtomicUsize,
    fails: Mutex<Option<Error>>,
}

impl Patch for Gpu {
    fn patch(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        assert!((1..4).contains(&bytes.len()));
        if let Some(error) = self.fails.lock().unwrap().take() {
            return Err(error);
        }
        self.copies.fetch_add(1, Ordering::Relaxed);
        self.memory.write(64 + offset as usize, bytes)
    }
}

fn found(memory: &Memory, range: std::ops::Range<usize>) -> Vec<u8> {
    let mut bytes = vec![0; range.len()];
    memory.read(range.start, &mut bytes).unwrap();
    bytes
}

fn refused<T>(result: Result<T>) -> bool {
    let granularity = matches!(
        &result,
        Err(error @ Error::Granularity { granularity: 4, .. }) if error.to_string().contains("write_granularity")
            && error.hint().contains("pl_region_set_copy")
    );
    granularity
}

#[test]
fn memory_that_nobody_else_writes_takes_whole_dwords_only() {
    let (fake, device, queue) = open_coarse();
    let (memory, region) = behind_a_dma_buf(&fake, &device);
    for (offset, length) in [(1, 3), (0, 3), (2, 8), (4, 4091)] {
        let offset = offset as u64;
        assert!(refused(
            queue.from_fpga(0, region.part(offset..offset + length))
        ));
        let request = Request {
            direction: Direction::FromFpga,
            region: &region,
            offset,
            fpga_address: 0,
            length,
            piece: None,
        };
        assert!(refused(queue.check(&request)));
        let good = Request {
            offset: 0,
            length: 4,
            ..request
        };
        let list = queue.submit_list(&[good, request], Terms::default());
        assert!(refused(list));
        // Reads do not need it.
        let read = Request {
            direction: Direction::ToFpga,
            ..request
        };
        queue.check(&read).unwrap();
    }
    // The second slot of a stream begins inside of a dword, or the last one ends inside of one.
    for (slot, length) in [(6, 24), (8, 21)] {
        let course = Course {
            direction: Direction::FromFpga,
            region: region.clone(),
            offset: 0,
            slot,
            slots: 2,
            fpga: 0..10 * slot,
            length: Some(length),
        };
        assert!(refused(queue.stream(course)), "slots of {slot}");
    }
    assert_eq!(queue.statistics().descriptors, 0);
    assert_eq!(found(&memory, 0..1024), [GUARD; 1024]);
    let write = queue.from_fpga(3, region.part(4..12)).unwrap();
    assert_eq!(write.wait(SECOND).unwrap(), 8);
    assert_eq!(found(&memory, 68..76), (3..11).collect::<Vec<u8>>());
    // Nothing copies the ends of a descriptor that bypasses the queue, also in host memory.
    let (_memory, host) = registered(&device, MemoryKind::Host, 4096, Permissions::ReadWrite);
    let request = Request {
        direction: Direction::FromFpga,
        region: &host,
        offset: 2,
        fpga_address: 0,
        length: 8,
        piece: None,
    };
    assert!(refused(device.describe(&request, 0)));
    assert!(
        device
            .describe(
                &Request {
                    offset: 4,
                    ..request
                },
                0
            )
            .is_ok()
    );
}

#[test]
fn the_memorys_owner_copies_the_ends() {
    let (fake, device, queue) = open_coarse();
    let (memory, region) = behind_a_dma_buf(&fake, &device);
    let gpu = Arc::new(Gpu {
        memory: memory.clone(),
        copies: AtomicUsize::new(0),
        fails: Mutex::default(),
    });
    region.set_patch(Arc::<Gpu>::clone(&gpu));
    for (offset, length, copies) in [(8, 8, 0), (1, 2, 1), (6, 2, 1), (5, 6, 2), (4, 6, 1)] {
        memory.write(0, &[GUARD; 1024]).unwrap();
        let before = gpu.copies.load(Ordering::Relaxed);
        let write = queue
            .from_fpga(7, region.part(offset..offset + length))
            .unwrap();
        assert_eq!(write.wait(SECOND).unwrap(), length);
        assert_eq!(gpu.copies.load(Ordering::Relaxed) - before, copies);
        let mut expected = vec![GUARD; 1024];
        let at = 64 + offset as usize;
        for (place, byte) in (at..at + length as usize).zip(7..) {
            expected[place] = byte;
        }
        assert_eq!(
            found(&memory, 0..1024),
            expected,
            "{length} bytes at {offset}"
        );
    }
    // Its error is the result of the write; writes that had to wait go on.
    let gone = Error::Ends {
        reason: "CUDA_ERROR_ECC_UNCORRECTABLE".into(),
    };
    *gpu.fails.lock().unwrap() = Some(gone);
    let failing = queue.from_fpga(0, region.part(1..9)).unwrap();
    let behind = queue.from_fpga(0, region.part(100..108)).unwrap();
    assert_eq!(behind.wait(SECOND).unwrap(), 8);
    let error = failing.wait(SECOND).unwrap_err();
    assert!(error.to_string().ends_with("ECC_UNCORRECTABLE"), "{error}");
    // Memory that does not exist any more ends the write as the board would.
    *gpu.fails.lock().unwrap() = Some(Error::Forgotten);
    let write = queue.from_fpga(0, region.part(4..11)).unwrap();
    match write.wait(SECOND) {
        Err(Error::Fault {
            fault: Fault::AttInvalid,
            bytes_done: 4,
            length: 7,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

/// A function that panics.
#[derive(Debug)]
struct Panics;

impl Patch for Panics {
    fn patch(&self, _: u64, _: &[u8]) -> Result<()> {
        panic!("as the test wants");
    }
}

#[test]
fn a_function_that_panics_ends_its_write() {
    let (fake, device, queue) = open_coarse();
    let (_memory, region) = behind_a_dma_buf(&fake, &device);
    region.set_patch(Arc::new(Panics));
    let write = queue.from_fpga(7, region.part(1..3)).unwrap();
    let error = write.wait(SECOND).unwrap_err();
    assert!(error.to_string().ends_with("panicked"), "{error}");
    // Other writes do not wait for it.
    let next = queue.from_fpga(0, region.part(100..108)).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), 8);
}

#[test]
fn ends_are_copied_when_the_queue_goes() {
    let (_fake, device, queue) = open_coarse();
    let (memory, region) = registered(&device, MemoryKind::Host, 4096, Permissions::Write);
    memory.write(0, &[GUARD; 16]).unwrap();
    drop(queue.from_fpga(7, region.part(1..3)).unwrap());
    assert!(device.poll(Some(SECOND)).unwrap());
    drop(queue);
    assert_eq!(found(&memory, 0..4), [GUARD, 7, 8, GUARD]);
}

#[test]
fn a_region_that_is_forgotten_gets_no_end() {
    let (fake, device, queue) = open_coarse();
    let (memory, region) = registered(&device, MemoryKind::Host, 4096, Permissions::Write);
    fake.lock().tricks.stuck = true;
    let write = queue.from_fpga(0, region.part(1..3)).unwrap();
    region.clone().forget().unwrap();
    fake.lock().tricks.stuck = false;
    // The board does not notice: its descriptor names the queue's memory.
    assert_eq!(fault_of(&write), Fault::AttInvalid);
    assert_eq!(found(&memory, 0..8), [0; 8]);
}

/// `bytes_done` is true for a write that fails, and no bytes count as done before the first ones are in place.
#[test]
fn a_fault_in_the_middle_leaves_a_head_that_is_there() {
    let (fake, device, queue) = open_coarse();
    let (memory, region) = registered(&device, MemoryKind::Host, 4096, Permissions::ReadWrite);
    memory.write(0, &[GUARD; 64]).unwrap();
    // Head, tail, and the middle fails after 8 bytes.
    fake.lock().tricks.fault = Some((0, 2, 8, 8));
    let write = queue.from_fpga(10, region.part(3..21)).unwrap();
    match write.wait(SECOND) {
        Err(Error::Fault {
            bytes_done: 9,
            length: 18,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(
        found(&memory, 0..12),
        [GUARD, GUARD, GUARD, 10, 11, 12, 13, 14, 15, 16, 17, 18]
    );
    assert_eq!(found(&memory, 12..64), [GUARD; 52]);
    // The head fails.
    fake.lock().tricks.fault = Some((0, 0, 8, 0));
    let write = queue.from_fpga(10, region.part(3..21)).unwrap();
    match write.wait(SECOND) {
        Err(Error::Fault {
            bytes_done: 0,
            offset: None,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    fake.lock().tricks.stuck = true;
    let write = queue.from_fpga(10, region.part(3..21)).unwrap();
    match write.wait(Duration::from_millis(1)) {
        Err(Error::Timeout { bytes_done: 0, .. }) => {}
        other => panic!("{other:?}"),
    }
    // The caller that ends it finds the old content.
    memory.write(0, &[GUARD; 64]).unwrap();
    assert!(matches!(write.stop(Duration::ZERO), Err(Error::Stopped)));
    assert_eq!(found(&memory, 0..64), [GUARD; 64]);
}

/// Writes of whole dwords cost as much as before. The queue takes memory for ends with the first write that needs it.
#[test]
fn whole_dwords_cost_nothing() {
    let (_, device, queue) = open_coarse();
    let (_memory, region) = registered(&device, MemoryKind::Host, 4096, Permissions::ReadWrite);
    let regions = || device.query().unwrap().regions[0];
    let (before, descriptors) = (regions(), |queue: &Queue| queue.statistics().descriptors);
    for round in 0..10 {
        let write = queue
            .from_fpga(round, region.part(4 * round..4 * round + 400))
            .unwrap();
        write.wait(SECOND).unwrap();
    }
    assert_eq!((regions(), descriptors(&queue)), (before, 10));
    for _ in 0..3 {
        let write = queue.from_fpga(0, region.part(1..401)).unwrap();
        write.wait(SECOND).unwrap();
    }
    assert_eq!((regions(), descriptors(&queue)), (before + 1, 10 + 3 * 3));
}
