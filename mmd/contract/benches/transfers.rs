//! What a transfer costs the host, beside what board and bus take: `cargo bench -p peerlane-contract --bench transfers`.
//!
//! The calls are the runtime's: `aocl_mmd_write` and `aocl_mmd_read` of FPGA memory, with an operation, whose end the
//! status handler is told, and blocking. The board below has ended a transfer before its doorbell returns, and moves
//! nothing. So a time is that of the library's code alone: its checks, a copy to or from memory that the board knows,
//! the descriptor, the look at the record, the handler. It has no system call, no uncached store, and none of the
//! board's time, which must be added. "the bench's board alone" is in each of the others.
//!
//! With the vendor's library a transfer of less than 1 KiB goes by accesses of the processor's through a window of the
//! BAR, and DMA begins at 1 KiB. What such accesses take only a board can say.

use criterion::Criterion;
use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{Control, DWORDS, Descriptor, Direction};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use peerlane_host::{
    Area, Context, Device, Memory, MemoryKind, Moderation, OpenCl, RawChannel, Result,
};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd, Programmer};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

const RING_LOG2: u32 = 12;

/// FPGA memory.
const BYTES: u64 = 1 << 30;

/// The interface that is memory.
const MEMORY: c_int = peerlane_mmd_core::MEMORY;

struct Inner {
    info: uapi::Info,
    ring: Vec<[AtomicU32; record::DWORDS]>,
    /// Records that were written.
    sequence: AtomicU32,
}

/// A board whose transfers have ended as soon as they begin.
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
                ..Default::default()
            },
            ring: (0..1 << RING_LOG2)
                .map(|_| empty.map(AtomicU32::new))
                .collect(),
            sequence: AtomicU32::new(0),
        }))
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
    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()> {
        (wanted.base, wanted.bytes) = (0, BYTES);
        Ok(())
    }
    fn free(&self, _: u32) -> Result<[u64; 2]> {
        Ok([0; 2])
    }
    fn open_channel(&self) -> Result<Option<RawChannel>> {
        Ok(None)
    }
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], _: u16) -> u32 {
        let descriptor = Descriptor::decode(descriptor).expect("it is one");
        let sequence = self.0.sequence.fetch_add(1, Ordering::Relaxed);
        let record = Record {
            cookie: descriptor.cookie,
            direction,
            channel: 0,
            phase: sequence >> RING_LOG2 & 1 == 0,
            outcome: Ok(()),
            bytes_done: descriptor.length,
            sequence,
            fault_address: None,
        };
        let slot = &self.0.ring[sequence as usize % self.0.ring.len()];
        for (place, word) in slot.iter().zip(record.encode()) {
            place.store(word, Ordering::Release);
        }
        DWORDS as u32 + 1
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
    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        Ok(Box::new(Silent))
    }
}

/// The OpenCL side of a board without kernels.
#[derive(Debug)]
struct Silent;

impl OpenCl for Silent {
    fn bytes(&self, _: Area) -> u64 {
        0
    }
    fn read(&self, _: Area, _: u64, data: &mut [u8]) -> Result<()> {
        data.fill(0);
        Ok(())
    }
    fn write(&self, _: Area, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn arm(&self) -> Result<()> {
        Ok(())
    }
    fn wait(&self, limit: Option<Duration>) -> Result<bool> {
        std::thread::sleep(limit.unwrap_or(Duration::from_secs(1)));
        Ok(false)
    }
    fn wake(&self) {}
    fn reprogram(&self, _: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        image()
    }
}

/// Nobody programs it.
struct One(Quick);

impl Boards for One {
    fn names(&self) -> Vec<String> {
        vec!["quick0".into()]
    }

    fn open(&self, _: &str) -> std::result::Result<Found, String> {
        let device = Device::over(self.0.clone()).map_err(|error| error.to_string())?;
        Ok(Found {
            device,
            programmer: Box::new(Nobody),
            bus: "nowhere".into(),
            number: 0,
        })
    }
}

struct Nobody;

impl Programmer for Nobody {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }
    fn check(&self, _: &[u8], _: &dyn OpenCl) -> std::result::Result<(), String> {
        Err("nobody programs it".into())
    }
    fn program(&self, _: &[u8], _: &dyn OpenCl) -> std::result::Result<(), String> {
        Err("nobody programs it".into())
    }
}

/// The thread that waits, and ends that were told.
struct Told {
    waits: Thread,
    ends: AtomicU64,
}

unsafe extern "C" fn told(_: c_int, told: *mut c_void, _: *mut c_void, _: c_int) {
    // SAFETY: it was set with a pointer to this, which lives as long as the process.
    let told = unsafe { &*told.cast::<Told>() };
    told.ends.fetch_add(1, Ordering::Release);
    told.waits.unpark();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let quick = Quick::new();
    let mmd = Mmd::new(Flavour::TOOL, One(quick.clone()));
    let mmd: &'static Mmd = Box::leak(Box::new(mmd));
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"quick0".as_ptr()) };
    assert!(handle >= 0);
    let heard: &'static Told = Box::leak(Box::new(Told {
        waits: std::thread::current(),
        ends: AtomicU64::new(0),
    }));
    let user = std::ptr::from_ref(heard).cast_mut().cast();
    // SAFETY: the handler takes this pointer.
    assert_eq!(
        unsafe { mmd.set_status_handler(handle, Some(told), user) },
        0
    );
    let mut memory = vec![0x5a_u8; 1 << 20];
    let from: *mut c_void = memory.as_mut_ptr().cast();
    let (op, none) = (std::ptr::without_provenance_mut(1), std::ptr::null_mut());
    // Waits for the end of a transfer with an operation.
    let ended = |before: u64| {
        while heard.ends.load(Ordering::Acquire) == before {
            std::thread::park();
        }
    };
    // The last is handed to a thread of the library's, and staged like the others.
    for (bytes, name) in [
        (64, "64 B"),
        (4 << 10, "4 KiB"),
        (8 << 10, "8 KiB, by another thread"),
    ] {
        criterion.bench_function(&format!("write {name}"), |bencher| {
            bencher.iter(|| {
                let before = heard.ends.load(Ordering::Acquire);
                // SAFETY: the memory is there until the end was told.
                let begun =
                    unsafe { mmd.write(handle, op, black_box(bytes), from, MEMORY, 0x1000) };
                assert_eq!(begun, 0);
                ended(before);
            });
        });
        criterion.bench_function(&format!("read {name}"), |bencher| {
            bencher.iter(|| {
                let before = heard.ends.load(Ordering::Acquire);
                // SAFETY: as above, and nobody else uses it.
                let begun = unsafe { mmd.read(handle, op, black_box(bytes), from, MEMORY, 0x1000) };
                assert_eq!(begun, 0);
                ended(before);
            });
        });
    }
    for (bytes, name) in [(64, "64 B"), (4 << 10, "4 KiB")] {
        criterion.bench_function(&format!("write {name}, blocking"), |bencher| {
            bencher.iter(|| {
                // SAFETY: the call blocks.
                let written =
                    unsafe { mmd.write(handle, none, black_box(bytes), from, MEMORY, 0x1000) };
                assert_eq!(written, 0);
            });
        });
    }
    // What copies to memory that the board knows cost, and less than which registration must cost to pay.
    let mut slot = vec![0_u8; 1 << 20];
    for kib in [4, 16, 64] {
        criterion.bench_function(
            &format!("a copy of {kib} KiB by the processor"),
            |bencher| {
                bencher.iter(|| {
                    let bytes = kib << 10;
                    slot[..bytes].copy_from_slice(black_box(&memory[..bytes]));
                    black_box(&mut slot);
                });
            },
        );
    }
    let words = Descriptor {
        peer: AttAddress::new(PageSize::Kib64, 0, 0).expect("it is one"),
        local: 0x1000,
        length: 64,
        control: Control {
            record: true,
            ..Control::default()
        },
        cookie: 1,
    };
    let words = words.encode().expect("it is one");
    criterion.bench_function("the bench's board alone", |bencher| {
        bencher.iter(|| quick.post(Direction::Read, black_box(&words), 0));
    });
    // The library's threads live on.
    std::process::exit(0);
}
