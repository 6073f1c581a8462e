//! A channel's page and ring in memory, for a device that stores to the page by itself, and a thread that carries
//! the stores to the simulated board and the records back.
//!
//! The real page sees every store. Memory keeps only the last one, so a user of this page has one transfer in progress
//! at a time, and the carrier removes a doorbell before the next can come.

use anyhow::Result;
use peerlane_host::Direction;
use peerlane_host::peerlane_core::descriptor::DWORDS;
use peerlane_host::peerlane_core::record;
use peerlane_host::peerlane_core::regs::chan;
use peerlane_host::peerlane_core::uapi;
use peerlane_host::{Context, RawChannel, Result as HostResult};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Content of a doorbell that was not rung: a value that is never stored to a doorbell.
const SILENT: u32 = u32::MAX;

/// Dwords of the page.
const PAGE: usize = 1024;

/// Memory that is aligned to a page.
#[repr(align(4096))]
struct Dwords<const N: usize>([AtomicU32; N]);

/// A context whose channel is mapped into memory.
#[derive(Clone)]
pub struct Carried(Arc<Inner>);

struct Inner {
    context: Box<dyn Context>,
    page: Box<Dwords<PAGE>>,
    /// As long as the longest ring of the checks.
    ring: Box<Dwords<{ 8 * SLOTS }>>,
    slots: u32,
}

/// Records that the ring's memory has room for.
const SLOTS: usize = 4096;

impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Carried").field(&self.0.context).finish()
    }
}

/// The thread that carries. It ends when the value is dropped.
pub struct Carrier {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<u32>>>,
}

fn dwords<const N: usize>(value: u32) -> Box<Dwords<N>> {
    Box::new(Dwords(std::array::from_fn(|_| AtomicU32::new(value))))
}

impl Carried {
    /// Makes a channel in memory for a context of the driver in the process.
    pub fn new(context: impl Context + 'static) -> Self {
        let slots = 1 << context.info().ring_log2;
        assert!(slots as usize <= SLOTS, "the ring has {slots} slots");
        let page = dwords::<PAGE>(0);
        for bell in [chan::WRITE_DOORBELL, chan::READ_DOORBELL] {
            page.0[bell / 4].store(SILENT, Ordering::Relaxed);
        }
        let ring = dwords::<{ 8 * SLOTS }>(0);
        for slot in 0..slots {
            for (index, value) in record::emptied(slot) {
                ring.0[slot as usize * record::DWORDS + index].store(value, Ordering::Relaxed);
            }
        }
        Self(Arc::new(Inner {
            context: Box::new(context),
            page,
            ring,
            slots,
        }))
    }

    /// Starts to carry.
    pub fn carry(&self) -> Carrier {
        let stop = Arc::new(AtomicBool::new(false));
        let (carried, stopped) = (self.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || carried.run(&stopped));
        Carrier {
            stop,
            thread: Some(thread),
        }
    }

    /// Carries until it is stopped. Returns the number of doorbells.
    fn run(&self, stop: &AtomicBool) -> Result<u32> {
        let Inner {
            context,
            page,
            ring,
            slots,
        } = &*self.0;
        let (mut bells, mut next) = (0, 0_u32);
        while !stop.load(Ordering::Relaxed) {
            let ways = [
                (Direction::FromFpga, chan::WRITE_DESC, chan::WRITE_DOORBELL),
                (Direction::ToFpga, chan::READ_DESC, chan::READ_DOORBELL),
            ];
            for (direction, place, bell) in ways {
                let bell = &page.0[bell / 4];
                let freed = bell.load(Ordering::Acquire);
                if freed == SILENT {
                    continue;
                }
                let words: [u32; DWORDS] =
                    std::array::from_fn(|i| page.0[place / 4 + i].load(Ordering::Relaxed));
                bell.store(SILENT, Ordering::Release);
                context.post(direction, &words, freed as u16);
                bells += 1;
            }
            let slot = next & (slots - 1);
            let words = context.record(slot);
            let phase = next & slots == 0;
            if record::phase(context.status(slot)) == phase && words[record::SEQUENCE] == next {
                let place = &ring.0[slot as usize * record::DWORDS..][..record::DWORDS];
                for (index, word) in words.iter().enumerate() {
                    if index != record::STATUS {
                        place[index].store(*word, Ordering::Relaxed);
                    }
                }
                place[record::STATUS].store(words[record::STATUS], Ordering::Release);
                next = next.wrapping_add(1);
            }
            // The board's time passes during this call.
            context.await_event(Some(Duration::from_micros(2)))?;
            context.query()?;
            // Other threads look at the board's memory: its lock, which is not fair, has to be free for a while.
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(bells)
    }
}

impl Carrier {
    /// Ends the thread, and returns the number of doorbells that it carried.
    pub fn stop(mut self) -> Result<u32> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it was not stopped");
        thread.join().expect("the carrier does not panic")
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Context for Carried {
    fn open_channel(&self) -> HostResult<Option<RawChannel>> {
        self.0.context.open_channel()?;
        let (page, ring) = (&*self.0.page, &*self.0.ring);
        let bytes = size_of_val(page);
        let (page, ring) = (NonNull::from(page).cast(), NonNull::from(ring).cast());
        // SAFETY: both belong to this context, and are memory of atomics.
        Ok(Some(unsafe {
            RawChannel::new(page, bytes, ring, self.0.slots)
        }))
    }

    fn register(&self, region: &mut uapi::Register) -> HostResult<()> {
        self.0.context.register(region)
    }

    fn unregister(&self, handle: u32, flags: u32) -> HostResult<()> {
        self.0.context.unregister(handle, flags)
    }

    forward!(self => self.0.context);
}
