//! What it costs to submit a transfer, beside the stores to the channel's page: `cargo bench -p peerlane-host --bench
//! submit`. Times are the processor's time of the thread, so that other programs do not count.
//!
//! The page and the ring are memory. The board below takes descriptors as fast as they come, and writes their records
//! between two measurements, so nothing of it counts.

use criterion::Criterion;
use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{DWORDS, Descriptor, Direction};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use peerlane_host::{
    Context, Device, Memory, MemoryKind, Moderation, Permissions, RawChannel, Request, Result,
    Terms, Transfer,
};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const RING_LOG2: u32 = 12;

/// Transfers between two looks of the board, which fit into queue and ring.
const BATCH: u64 = 1024;

/// Dwords of a descriptor and the doorbell, on the page.
const PAGE: usize = DWORDS + 1;

struct Inner {
    info: uapi::Info,
    page: [AtomicU32; PAGE],
    ring: Vec<[AtomicU32; record::DWORDS]>,
    /// What the page was given, as the board has heard it.
    heard: Mutex<Vec<[u32; DWORDS]>>,
    /// Records that were written.
    sequence: AtomicU32,
}

#[derive(Clone)]
struct Quick(Arc<Inner>);

impl std::fmt::Debug for Quick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Quick")
    }
}

impl Quick {
    fn new() -> Self {
        let mut empty = [0; record::DWORDS];
        empty[record::STATUS] = record::empty();
        Self(Arc::new(Inner {
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
            page: std::array::from_fn(|_| AtomicU32::new(0)),
            ring: (0..1 << RING_LOG2)
                .map(|_| empty.map(AtomicU32::new))
                .collect(),
            heard: Mutex::new(Vec::with_capacity(2 * BATCH as usize)),
            sequence: AtomicU32::new(0),
        }))
    }

    /// The stores.
    fn store(&self, descriptor: &[u32; DWORDS], freed: u16) {
        for (place, word) in self.0.page.iter().zip(descriptor) {
            place.store(*word, Ordering::Relaxed);
        }
        self.0.page[DWORDS].store(freed.into(), Ordering::Release);
    }

    /// Writes the records of all that it has heard.
    fn work(&self) {
        for words in self.0.heard.lock().expect("no panic").drain(..) {
            let descriptor = Descriptor::decode(&words).expect("it is one");
            let sequence = self.0.sequence.fetch_add(1, Ordering::Relaxed);
            let record = Record {
                cookie: descriptor.cookie,
                direction: Direction::FromFpga,
                channel: 0,
                phase: sequence >> RING_LOG2 & 1 == 0,
                outcome: Ok(()),
                bytes_done: descriptor.length,
                sequence,
                fault_address: None,
                header: 0,
            };
            let slot = &self.0.ring[sequence as usize % self.0.ring.len()];
            for (place, word) in slot.iter().zip(record.encode()) {
                place.store(word, Ordering::Relaxed);
            }
        }
    }
}

impl Context for Quick {
    fn name(&self) -> String {
        "the quick board".into()
    }
    fn info(&self) -> &uapi::Info {
        &self.0.info
    }
    fn memory(&self, _: MemoryKind, bytes: usize) -> Result<Memory> {
        Memory::new(bytes)
    }
    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        region.handle = 1;
        let address = AttAddress::new(PageSize::Kib64, 0, 0);
        region.att_address = address.expect("it is one").raw();
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
    fn open_channel(&self) -> Result<Option<RawChannel>> {
        Ok(None)
    }
    fn post(&self, _: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32 {
        self.store(descriptor, freed);
        // A board hears without the processor: this is the bench's, and is measured by itself.
        self.0.heard.lock().expect("no panic").push(*descriptor);
        PAGE as u32
    }
    fn queue_free(&self) -> [u32; 2] {
        [1 << RING_LOG2; 2]
    }
    fn take_refused(&self) -> bool {
        false
    }
    fn status(&self, slot: u32) -> u32 {
        self.0.ring[slot as usize][record::STATUS].load(Ordering::Acquire)
    }
    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        std::array::from_fn(|word| self.0.ring[slot as usize][word].load(Ordering::Relaxed))
    }
    fn query(&self) -> Result<uapi::Query> {
        Ok(uapi::Query::default())
    }
    fn await_event(&self, _: Option<Duration>) -> Result<bool> {
        Ok(true)
    }
    fn now(&self) -> Duration {
        Duration::ZERO
    }
    fn pause(&self) {}
    fn stop(&self, _: Duration) -> Result<bool> {
        Ok(false)
    }
    fn moderate(&self, _: Moderation) -> Result<()> {
        Ok(())
    }
}

/// The thread's own time.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let quick = Quick::new();
    let device = Device::over(quick.clone()).expect("the device opens");
    let memory = device.memory(MemoryKind::Host, 1 << 20).expect("memory");
    let region = device.register_all(&memory, Permissions::ReadWrite);
    let region = region.expect("the driver takes it");
    let queue = device.queue().expect("a queue");
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 64,
        fpga_address: 4096,
        length: 4096,
        piece: None,
    };
    let mut transfers: Vec<Transfer> = Vec::with_capacity(BATCH as usize);
    // Batches of which only a part of the work counts.
    let mut batches = |times: u64, submits: bool| {
        let (mut measured, mut left) = (Duration::ZERO, times);
        while left > 0 {
            let batch = left.min(BATCH);
            left -= batch;
            let begin = thread_time();
            for _ in 0..batch {
                let transfer = queue.submit_with(black_box(&request), Terms::default());
                transfers.push(transfer.expect("it is taken"));
            }
            let submitted = thread_time();
            quick.work();
            let looked = thread_time();
            for transfer in transfers.drain(..) {
                let moved = transfer.poll().expect("it ends well");
                assert_eq!(moved, Some(4096));
            }
            let ended = thread_time();
            measured += match submits {
                true => submitted - begin,
                false => ended - looked,
            };
        }
        measured
    };
    criterion.bench_function(
        "submit a transfer, with the stores and the bench's board",
        |bencher| {
            bencher.iter_custom(|times| batches(times, true));
        },
    );
    criterion.bench_function("hear of a transfer's end, and drop it", |bencher| {
        bencher.iter_custom(|times| batches(times, false));
    });
    // What of the first is neither the library's.
    let descriptor = [7; DWORDS];
    criterion.bench_function("the stores and the bench's board alone", |bencher| {
        bencher.iter_custom(|times| {
            let (mut measured, mut left) = (Duration::ZERO, times);
            while left > 0 {
                let batch = left.min(BATCH);
                left -= batch;
                let begin = thread_time();
                for _ in 0..batch {
                    quick.post(Direction::FromFpga, black_box(&descriptor), 3);
                }
                measured += thread_time() - begin;
                quick.0.heard.lock().expect("no panic").clear();
            }
            measured
        });
    });
}
