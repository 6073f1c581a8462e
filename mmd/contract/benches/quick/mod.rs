//! A board whose transfers have ended as soon as they begin, and which moves nothing.

use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{DWORDS, Descriptor, Direction};
use peerlane_core::record::{self, Record};
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use peerlane_host::{
    Area, Context, Device, Memory, MemoryKind, Moderation, OpenCl, RawChannel, Result,
};
use peerlane_mmd_core::{Boards, Found, Programmer};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const RING_LOG2: u32 = 12;

/// FPGA memory.
const BYTES: u64 = 1 << 30;

struct Inner {
    info: uapi::Info,
    ring: Vec<[AtomicU32; record::DWORDS]>,
    /// Records that were written.
    sequence: AtomicU32,
}

/// The board. Clones are the same board, apart from the open device.
#[derive(Clone)]
pub struct Quick {
    inner: Arc<Inner>,
    /// A file in place of the file of an open device.
    file: Option<Arc<OwnedFd>>,
    /// Called when the OpenCL side is dropped, before its file is closed.
    pub given_back: fn(),
}

impl std::fmt::Debug for Quick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Quick")
    }
}

impl Default for Quick {
    fn default() -> Self {
        let mut empty = [0; record::DWORDS];
        empty[record::STATUS] = record::empty();
        let inner = Arc::new(Inner {
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
        });
        Self {
            inner,
            file: None,
            given_back: || {},
        }
    }
}

impl Context for Quick {
    fn name(&self) -> String {
        "the quick board".into()
    }
    fn info(&self) -> &uapi::Info {
        &self.inner.info
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
        let sequence = self.inner.sequence.fetch_add(1, Ordering::Relaxed);
        let record = Record {
            cookie: descriptor.cookie,
            direction,
            channel: 0,
            phase: sequence >> RING_LOG2 & 1 == 0,
            outcome: Ok(()),
            bytes_done: descriptor.length,
            sequence,
            fault_address: None,
            header: 0,
        };
        let slot = &self.inner.ring[sequence as usize % self.inner.ring.len()];
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
        self.inner.ring[slot as usize][record::STATUS].load(Ordering::Acquire)
    }
    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        std::array::from_fn(|word| self.inner.ring[slot as usize][word].load(Ordering::Relaxed))
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
    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(|file| file.as_fd())
    }
    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        // The kernel's device has a copy of the file, too.
        let copy = |file: &Arc<OwnedFd>| file.try_clone().expect("a copy");
        let file = self.file.as_ref().map(copy);
        Ok(Box::new(Silent(file, self.given_back)))
    }
}

/// The OpenCL side of a board without kernels.
#[derive(Debug)]
struct Silent(Option<OwnedFd>, fn());

impl Drop for Silent {
    fn drop(&mut self) {
        (self.1)();
    }
}

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
    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }
}

/// The one board, which no process programs. `file` makes a file in place of the file of a device that is opened.
pub struct One(pub Quick, pub fn() -> Option<OwnedFd>);

impl Boards for One {
    fn names(&self) -> Vec<String> {
        vec!["quick0".into()]
    }

    fn open(&self, _: &str) -> std::result::Result<Found, String> {
        let opened = Quick {
            file: (self.1)().map(Arc::new),
            ..self.0.clone()
        };
        let device = Device::over(opened).map_err(|error| error.to_string())?;
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
        Err("the bench does not program it".into())
    }
    fn program(&self, _: &[u8], _: &dyn OpenCl) -> std::result::Result<(), String> {
        Err("the bench does not program it".into())
    }
}
