//! A minimal driver: its board ends every descriptor as soon as its doorbell is rung.

use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{DWORDS, Descriptor, Direction};
use peerlane_core::fault::Fault;
use peerlane_core::record::{self, Record};
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use peerlane_host::{
    Context, Errno, Error, Memory, MemoryKind, Moderation, RawChannel, Result, SlowPath,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// log2 of the records in the ring.
pub const RING_LOG2: u32 = 5;

/// A function to call, once, in the middle of a call.
pub type Hook = Mutex<Option<Box<dyn FnOnce() + Send>>>;

/// State that the clones share, and that a test can inspect without the device.
#[derive(Default)]
pub struct State {
    info: uapi::Info,
    ring: Mutex<([[u32; record::DWORDS]; 1 << RING_LOG2], u32)>,
    /// Calls that are system calls on the kernel's device.
    pub calls: AtomicUsize,
    /// The board's records name descriptors that were never submitted.
    pub odd: AtomicBool,
    /// The board ends no descriptors.
    pub stuck: AtomicBool,
    /// The board ends all descriptors with a fault.
    pub failing: AtomicBool,
    /// Descriptors that it has not ended.
    held: Mutex<Vec<(Direction, [u32; DWORDS])>>,
    /// Events that were not acknowledged, in the test's time.
    pub events: AtomicUsize,
    /// Looks at the ring.
    pub looks: AtomicUsize,
    /// The channel has a page and a ring in memory, which this board ignores.
    pub mapped: AtomicBool,
    /// Descriptors that it has not ended: writes and reads.
    left: [AtomicU32; 2],
    /// Time that the channel's work had to end by itself, for each stop.
    pub stops: Mutex<Vec<Duration>>,
    /// Error with which stops of the channel fail.
    pub refuse_stop: Mutex<Option<Errno>>,
    /// Its time, which advances while a thread waits for events. `None`: it does not advance.
    pub clock: Mutex<Option<Duration>>,
    /// Its time is the test's, and a wait for events takes its full limit.
    pub real: AtomicBool,
    /// An eventfd in the place of the device's file: each descriptor is an event, and a query acknowledges all of them.
    pub file: OnceLock<File>,
    /// Regions that were flushed, by their handles.
    pub flushed: Mutex<Vec<u32>>,
    /// Flushes that fail: the error, and their number.
    pub refuse_flush: Mutex<Option<(Errno, u32)>>,
    /// Number of regions that were unregistered.
    pub unregistered: AtomicUsize,
    /// Registered regions, by their handles.
    pub regions: Mutex<BTreeMap<u32, uapi::Register>>,
    /// Number of regions that were unregistered and may be cached.
    pub kept: AtomicUsize,
    /// Registrations that are refused: the error, and their number.
    pub refuse: Mutex<Option<(Errno, u32)>>,
    /// The last handle of a region.
    last: AtomicU32,
    /// [`uapi::Register::proof`] of all regions.
    pub proof: AtomicU64,
    /// Its answer to queries.
    pub query: Mutex<uapi::Query>,
    /// It does not answer queries any more.
    pub gone: AtomicBool,
    /// Descriptors that raise the interrupt.
    pub interrupts: AtomicUsize,
    /// The channel has a slow path, which takes this many descriptors, and ends none of them by itself.
    pub slow: Mutex<Option<u32>>,
    /// Descriptors of the slow path whose ends were waited for, by their cookies. They have ended then.
    pub waited: Mutex<Vec<u32>>,
    /// Bytes at the end of a region that are an extent of their own.
    pub second_extent: AtomicU64,
    /// Called in the middle of the next doorbell.
    pub in_post: Hook,
    /// Called while the next region is unregistered.
    pub in_unregister: Hook,
    /// Called when the driver has freed FPGA memory, before its call returns.
    pub in_free: Hook,
    /// Called in the middle of the next flush.
    pub in_flush: Hook,
    /// Called when the next stop begins.
    pub in_stop: Hook,
    /// Called during the next query for refused doorbells.
    pub in_refused: Hook,
    /// The board refuses doorbells.
    pub refusing: AtomicBool,
}

/// Calls a hook.
fn call(hook: &Hook) {
    let hook = hook.lock().unwrap().take();
    if let Some(hook) = hook {
        hook();
    }
}

/// One open file, as the kernel sees it. Clones are duplicates of its descriptor.
#[derive(Clone)]
pub struct Least(Arc<State>);

impl std::fmt::Debug for Least {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Least")
    }
}

impl std::ops::Deref for Least {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl Least {
    pub fn new() -> Self {
        Self::with(0)
    }

    /// Makes a board that writes whole dwords only.
    #[allow(dead_code, reason = "not every test has one")]
    pub fn of_dwords() -> Self {
        let mut least = Self::new();
        let state = Arc::get_mut(&mut least.0).expect("there is one");
        // CAPS2.write_granularity_log2.
        state.info.caps[2] |= 2 << 12;
        least
    }

    /// Makes a board with some features: bits of [`uapi::feature`].
    pub fn with(features: u64) -> Self {
        let mut empty = [0; record::DWORDS];
        empty[record::STATUS] = record::empty();
        Self(Arc::new(State {
            info: uapi::Info {
                map_id: MAP_ID,
                features,
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
            ring: Mutex::new(([empty; 1 << RING_LOG2], 0)),
            ..Default::default()
        }))
    }

    /// Returns the number of calls so far.
    #[allow(dead_code, reason = "not every test counts")]
    pub fn count(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Restarts the board by its driver: the ring is empty.
    #[allow(dead_code, reason = "not every test does that")]
    pub fn start_again(&self) {
        let mut empty = [0; record::DWORDS];
        empty[record::STATUS] = record::empty();
        *self.ring.lock().unwrap() = ([empty; 1 << RING_LOG2], 0);
        self.query.lock().unwrap().generation += 1;
    }

    /// Ends the descriptors that it has not ended, with an event or without.
    #[allow(dead_code, reason = "not every test does that")]
    pub fn end_held(&self, event: bool) {
        for (direction, descriptor) in self.held.lock().unwrap().drain(..) {
            self.left[direction as usize].fetch_sub(1, Ordering::Relaxed);
            self.end(direction, &descriptor);
        }
        self.events.fetch_add(usize::from(event), Ordering::Relaxed);
    }

    fn end(&self, direction: Direction, descriptor: &[u32; DWORDS]) {
        let descriptor = Descriptor::decode(descriptor).unwrap();
        let interrupt = usize::from(descriptor.control.interrupt);
        self.interrupts.fetch_add(interrupt, Ordering::Relaxed);
        let failing = self.failing.load(Ordering::Relaxed);
        let (ring, sequence) = &mut *self.0.ring.lock().unwrap();
        let record = Record {
            cookie: match self.odd.load(Ordering::Relaxed) {
                true => !descriptor.cookie,
                false => descriptor.cookie,
            },
            direction,
            channel: 0,
            phase: *sequence >> RING_LOG2 & 1 == 0,
            outcome: match failing {
                true => Err(Fault::AttInvalid),
                false => Ok(()),
            },
            bytes_done: if failing { 0 } else { descriptor.length },
            sequence: *sequence,
            fault_address: None,
            header: 0,
        };
        ring[*sequence as usize % ring.len()] = record.encode();
        *sequence += 1;
        if let Some(mut file) = self.file.get() {
            file.write_all(&1_u64.to_ne_bytes()).unwrap();
        }
    }

    fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Context for Least {
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
        self.called();
        if let Some((error, times)) = &mut *self.refuse.lock().unwrap()
            && *times > 0
        {
            *times -= 1;
            return Err(Error::Call {
                call: "REGISTER",
                source: *error,
            });
        }
        region.handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        region.proof = self.proof.load(Ordering::Relaxed);
        self.regions.lock().unwrap().insert(region.handle, *region);
        region.att_address = AttAddress::new(PageSize::Kib64, 0, 0).unwrap().raw();
        region.second_length = self.second_extent.load(Ordering::Relaxed);
        region.second_att_address = match region.second_length {
            0 => 0,
            _ => AttAddress::new(PageSize::Kib4, 64, 0).unwrap().raw(),
        };
        Ok(())
    }

    fn unregister(&self, handle: u32, flags: u32) -> Result<()> {
        self.called();
        let known = self.regions.lock().unwrap().remove(&handle);
        assert!(known.is_some(), "region {handle} was given back twice");
        let kept = usize::from(flags & uapi::unregister::KEEP != 0);
        self.kept.fetch_add(kept, Ordering::Relaxed);
        self.unregistered.fetch_add(1, Ordering::Relaxed);
        call(&self.in_unregister);
        Ok(())
    }

    fn flush(&self, handle: u32) -> Result<()> {
        self.called();
        call(&self.in_flush);
        if let Some((error, times)) = &mut *self.refuse_flush.lock().unwrap()
            && *times > 0
        {
            *times -= 1;
            return Err(Error::Call {
                call: "FLUSH",
                source: *error,
            });
        }
        // As the kernel does for regions that are not registered (driver/src/ioctl.rs).
        if !self.regions.lock().unwrap().contains_key(&handle) {
            return Err(Error::Call {
                call: "FLUSH",
                source: Errno::NOENT,
            });
        }
        self.flushed.lock().unwrap().push(handle);
        Ok(())
    }

    fn allocate(&self, _: &mut uapi::Allocate) -> Result<()> {
        self.called();
        Ok(())
    }

    fn free(&self, _: u32) -> Result<[u64; 2]> {
        self.called();
        call(&self.in_free);
        Ok([0; 2])
    }

    fn open_channel(&self) -> Result<Option<RawChannel>> {
        self.called();
        if !self.mapped.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let page = NonNull::from(Box::leak(Box::new([0_u64; 512])));
        let ring = NonNull::from(Box::leak(Box::new([[0_u64; 4]; 1 << RING_LOG2])));
        // SAFETY: both are never freed.
        let channel = unsafe { RawChannel::new(page.cast(), 4096, ring.cast(), 1 << RING_LOG2) };
        Ok(Some(channel))
    }

    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], _: u16) -> u32 {
        call(&self.in_post);
        if self.stuck.load(Ordering::Relaxed) {
            self.left[direction as usize].fetch_add(1, Ordering::Relaxed);
            self.held.lock().unwrap().push((direction, *descriptor));
            return 8;
        }
        self.end(direction, descriptor);
        8
    }

    fn queue_free(&self) -> [u32; 2] {
        let left = |side: usize| self.left[side].load(Ordering::Relaxed);
        [512 - left(0), 512 - left(1)]
    }

    fn take_refused(&self) -> bool {
        call(&self.in_refused);
        self.refusing.load(Ordering::Relaxed)
    }

    fn status(&self, slot: u32) -> u32 {
        self.record(slot)[record::STATUS]
    }

    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.0.ring.lock().unwrap().0[slot as usize]
    }

    fn query(&self) -> Result<uapi::Query> {
        self.called();
        self.events.store(0, Ordering::Relaxed);
        if let Some(mut file) = self.file.get() {
            // It does not block, and there may be no event.
            let _ = file.read(&mut [0; 8]);
        }
        match self.gone.load(Ordering::Relaxed) {
            true => Err(Error::Gone),
            false => Ok(*self.query.lock().unwrap()),
        }
    }

    fn peek(&self) -> Result<Option<uapi::Query>> {
        match self.info.features & uapi::feature::PEEK {
            0 => Ok(None),
            _ => Ok(Some(*self.query.lock().unwrap())),
        }
    }

    fn await_event(&self, limit: Option<Duration>) -> Result<bool> {
        self.called();
        if self.real.load(Ordering::Relaxed) {
            let end = Instant::now() + limit.unwrap_or_default();
            while Instant::now() < end {
                if self.events.load(Ordering::Relaxed) > 0 {
                    return Ok(true);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            return Ok(false);
        }
        if let Some(now) = &mut *self.clock.lock().unwrap() {
            *now += limit.unwrap_or_default();
        }
        Ok(true)
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.get().map(AsFd::as_fd)
    }

    fn now(&self) -> Duration {
        if self.real.load(Ordering::Relaxed) {
            static BEGIN: OnceLock<Instant> = OnceLock::new();
            return BEGIN.get_or_init(Instant::now).elapsed();
        }
        self.clock.lock().unwrap().unwrap_or_default()
    }

    fn pause(&self) {}

    fn stop(&self, drain: Duration) -> Result<bool> {
        self.called();
        call(&self.in_stop);
        self.stops.lock().unwrap().push(drain);
        match *self.refuse_stop.lock().unwrap() {
            // As the kernel's device.
            Some(Errno::NODEV) => Err(Error::Gone),
            None if self.gone.load(Ordering::Relaxed) => Err(Error::Gone),
            Some(source) => Err(Error::Call {
                call: "STOP",
                source,
            }),
            None => Ok(false),
        }
    }

    fn moderate(&self, _: Moderation) -> Result<()> {
        self.called();
        Ok(())
    }

    fn slow_path(&self) -> Option<&dyn SlowPath> {
        let slow = self.slow.lock().unwrap().is_some();
        slow.then_some(self)
    }
}

impl SlowPath for Least {
    fn submit(&self, descriptor: &mut uapi::Submit) -> Result<()> {
        self.called();
        match self.slow.lock().unwrap().as_mut() {
            Some(left) if *left > 0 => {
                *left -= 1;
                descriptor.cookie = self.last.fetch_add(1, Ordering::Relaxed) + 1;
                Ok(())
            }
            _ => Err(Error::Call {
                call: "SUBMIT",
                source: Errno::NOSPC,
            }),
        }
    }

    fn wait(&self, ended: &mut uapi::Wait) -> Result<bool> {
        self.called();
        self.waited.lock().unwrap().push(ended.cookie);
        match self.gone.load(Ordering::Relaxed) {
            true => Err(Error::Gone),
            false => Ok(true),
        }
    }

    fn probe(&self, _: &mut uapi::Probe) -> Result<()> {
        unreachable!("nobody asks for it here")
    }
}
