//! The fast path allocates nothing, and calls the driver for nothing but doorbells and records. The
//! driver here is the least that can be: its board ends every descriptor as it is rung.

use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{DWORDS, Descriptor, Direction};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use peerlane_host::{
    Context, Device, Memory, MemoryKind, Moderation, Permissions, Request, Result, Terms,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

// SAFETY: every call is the system's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps to the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RING_LOG2: u32 = 5;

#[derive(Debug)]
struct Least {
    info: uapi::Info,
    ring: Mutex<([[u32; record::DWORDS]; 1 << RING_LOG2], u32)>,
    /// Calls that are system calls on the kernel's device.
    calls: AtomicUsize,
}

/// What the test looks at behind the device's back.
#[derive(Debug, Clone, Copy)]
struct Shown(&'static Least);

impl Least {
    fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Context for Shown {
    fn name(&self) -> String {
        "the least board".into()
    }

    fn info(&self) -> &uapi::Info {
        &self.0.info
    }

    fn memory(&self, _: MemoryKind, bytes: usize) -> Result<Memory> {
        Memory::new(bytes)
    }

    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        region.handle = 1;
        region.att_address = AttAddress::new(PageSize::Kib64, 0, 0).unwrap().raw();
        Ok(())
    }

    fn unregister(&self, _: u32, _: u32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _: &mut uapi::Allocate) -> Result<()> {
        Ok(())
    }

    fn free(&self, _: u32) -> Result<[u64; 2]> {
        Ok([0; 2])
    }

    fn open_channel(&self) -> Result<()> {
        Ok(())
    }

    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], _: u16) -> u32 {
        let descriptor = Descriptor::decode(descriptor).unwrap();
        let (ring, sequence) = &mut *self.0.ring.lock().unwrap();
        let record = Record {
            cookie: descriptor.cookie,
            direction,
            channel: 0,
            phase: *sequence >> RING_LOG2 & 1 == 0,
            outcome: Ok(()),
            bytes_done: descriptor.length,
            sequence: *sequence,
            fault_address: None,
        };
        ring[*sequence as usize % ring.len()] = record.encode();
        *sequence += 1;
        8
    }

    fn queue_free(&self) -> [u32; 2] {
        [16, 16]
    }

    fn take_refused(&self) -> bool {
        false
    }

    fn status(&self, slot: u32) -> u32 {
        self.record(slot)[record::STATUS]
    }

    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        self.0.ring.lock().unwrap().0[slot as usize]
    }

    fn query(&self) -> Result<uapi::Query> {
        self.0.called();
        Ok(uapi::Query::default())
    }

    fn await_event(&self, _: Option<Duration>) -> Result<bool> {
        self.0.called();
        Ok(true)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn pause(&self) {}

    fn stop(&self, _: Duration) -> Result<bool> {
        self.0.called();
        Ok(false)
    }

    fn moderate(&self, _: Moderation) -> Result<()> {
        self.0.called();
        Ok(())
    }
}

#[test]
fn submitting_and_polling_allocate_nothing_and_call_nobody() {
    let least: &'static Least = Box::leak(Box::new(Least {
        info: uapi::Info {
            map_id: MAP_ID,
            // 8 channels, 16 bytes, 64 bits; 2^12 descriptors and entries, 2^9 bytes, 2^40 bytes; 2^5 reads.
            caps: [
                1 | 8 << 8 | 16 << 16 | 64 << 24,
                12 | 12 << 8 | 9 << 16 | 40 << 24,
                5,
            ],
            ring_log2: RING_LOG2,
            local_end: 1 << 30,
            ..Default::default()
        },
        ring: Mutex::new(([[0; record::DWORDS]; 1 << RING_LOG2], 0)),
        calls: AtomicUsize::new(0),
    }));
    let device = Device::over(Shown(least)).unwrap();
    let memory = device.memory(MemoryKind::Host, 1 << 20).unwrap();
    let region = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    let queue = device.queue().unwrap();
    let calls = least.calls.load(Ordering::Relaxed);
    let allocations = ALLOCATIONS.with(Cell::get);
    let terms = Terms {
        after_writes: true,
        after_reads: true,
        urgent: true,
        no_flush: true,
    };
    // More than the ring has slots, in pieces, several under way; the first round is as good as any.
    for round in 0..200 {
        let mut transfers = [const { None }; 6];
        for (index, transfer) in transfers.iter_mut().enumerate() {
            let request = Request {
                direction: Direction::BOTH[index % 2],
                region: &region,
                offset: 64 * index as u64,
                fpga_address: 4096 * round,
                length: 10_000,
                piece: Some(4096),
            };
            *transfer = Some(queue.submit_with(&request, terms).unwrap());
        }
        for transfer in transfers.iter().flatten() {
            assert_eq!(transfer.poll().unwrap(), Some(10_000));
            assert_eq!(transfer.wait(None).unwrap(), 10_000);
        }
    }
    assert_eq!(ALLOCATIONS.with(Cell::get), allocations);
    assert_eq!(least.calls.load(Ordering::Relaxed), calls);
    assert_eq!(queue.statistics().records, queue.statistics().descriptors);
}
