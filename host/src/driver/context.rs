//! A context of the driver in the process.

use super::BackendResult;
use super::backend::{Backend, MemoryId, Pin};
use super::board::{Board, POLL};
use super::opencl::Side;
use super::own::Records;
use super::{Inner, Locked, Shared};
use crate::context::{BoardWindow, Context, RawChannel, SlowPath};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryKind};
use crate::opencl::OpenCl;
use peerlane_core::att::Permissions;
use peerlane_core::channel::{self, LocalRange, Moderation, page};
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::fpga_memory::{Content, MemoryError, Offer, Token};
use peerlane_core::record;
use peerlane_core::regs::chan;
use peerlane_core::ring::Slots;
use peerlane_core::uapi::{self, access, allocate, feature, free, provider, register};
use peerlane_core::window::BYTES;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::any::Any;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two looks at a ring.
const MOMENT: Duration = Duration::from_nanos(200);

/// Holds a channel, and the memory that it has.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) shared: Arc<Shared>,
    pub(super) number: u32,
}

/// A channel that is held.
#[derive(Debug)]
pub(crate) struct Held {
    /// The OpenCL side has it, too.
    hold: Arc<Hold>,
    shared: Arc<Shared>,
    number: u32,
    name: String,
    info: uapi::Info,
    ring: MemoryId,
    /// Held by a thread that stops or restarts the channel, over several accesses to the board.
    turn: Mutex<()>,
}

/// Writes a descriptor, if there is one, and rings the doorbell.
pub(super) fn doorbell(
    board: &mut Board,
    number: u32,
    direction: Direction,
    descriptor: Option<&[u32; DWORDS]>,
    freed: u16,
) -> Result<()> {
    let (place, doorbell) = channel::entrance(direction);
    if let Some(descriptor) = descriptor {
        board.write_block(page(number, place), descriptor)?;
    }
    board.write(page(number, doorbell), freed.into())
}

fn memory_error(bytes: u64, error: MemoryError) -> Error {
    let source = match error {
        MemoryError::Empty => Errno::INVAL,
        MemoryError::Exists => Errno::EXIST,
        MemoryError::Held { .. } => Errno::BUSY,
        MemoryError::Full { .. } => Errno::NOSPC,
        MemoryError::NotOffered => Errno::NOENT,
        MemoryError::Restarted => Errno::AGAIN,
        MemoryError::Channel(_) => Errno::NODEV,
    };
    Error::memory(bytes, source)
}

impl Held {
    /// Takes a free channel.
    pub(super) fn new(shared: &Arc<Shared>) -> Result<Self> {
        let mut inner = shared.lock();
        let number = inner.claim()?;
        let ring = inner.channel(number)?.ring.id;
        let caps = inner.caps;
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        let has_window = inner.board.backend.has_window();
        let caps3 = inner.identity.caps3;
        let info = uapi::Info {
            version: uapi::VERSION,
            oldest: uapi::OLDEST,
            features: feature::HOST
                | bit(inner.board.backend.has_gpu_addresses(), feature::NVIDIA)
                | feature::PAGE
                | feature::PROBE
                | feature::ALLOCATE
                | feature::PEEK
                | feature::MIXED
                | feature::RESETS
                | bit(caps.tagged, feature::TAGGED_READS)
                | bit(inner.board.backend.has_dmabufs(), feature::DMABUF)
                | bit(has_window, feature::WINDOW)
                | bit(caps3 != 0, feature::STREAMS),
            map_id: inner.identity.map_id,
            build_id: inner.identity.build_id,
            caps: [
                inner.identity.caps0,
                inner.identity.caps1,
                inner.identity.caps2,
            ],
            channel: number,
            ring_log2: inner.ring_log2(),
            page_bytes: chan::SIZE as u64,
            window_bytes: bit(has_window, BYTES),
            ring_bytes: inner.ring_bytes(),
            caps3,
            ..Default::default()
        };
        Ok(Self {
            hold: Arc::new(Hold {
                shared: Arc::clone(shared),
                number,
            }),
            shared: Arc::clone(shared),
            number,
            name: inner.board.backend.name(),
            info,
            ring,
            turn: Mutex::new(()),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.shared.lock()
    }

    /// Returns the driver's state.
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the number of its channel.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Locks the state of a board that is there ([`Inner::attend`]).
    pub(super) fn present(&self) -> Result<MutexGuard<'_, Inner>> {
        let mut inner = self.lock();
        inner.attend()?;
        Ok(inner)
    }

    /// Takes the right to stop or restart the channel.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the channel its range of FPGA memory.
    fn set_range(&self, inner: &mut Inner, range: std::ops::Range<u64>) -> Result<()> {
        let range = LocalRange::new(range, inner.fpga.bytes()).map_err(Error::LocalRange)?;
        inner.channel(self.number)?.range = range;
        let steps = channel::set_range(self.number, &range);
        inner.board.run("accepted a range", steps)
    }

    /// Checks that the library does not have the channel's page and ring.
    fn check_idle(&self, inner: &mut Inner, bytes: u64) -> Result<()> {
        match inner.channel(self.number)?.handed_out {
            true => Err(Error::memory(bytes, Errno::BUSY)),
            false => Ok(()),
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.shared.is_inherited() {
            self.shared.lock().close(self.number);
        }
    }
}

impl Held {
    /// Returns the state of the context. Acknowledges its events unless it `peeks`.
    fn state(&self, peeks: bool) -> Result<uapi::Query> {
        let mut inner = self.present()?;
        let events = inner.events;
        let state = inner.channel(self.number)?;
        if let Some(error) = &state.trouble {
            // Not acknowledged: all waiting threads get the error.
            return Err(error.clone());
        }
        let generation = state.generation;
        if !peeks {
            state.seen = events;
        }
        if !peeks && state.untold {
            let steps = [channel::resume(self.number)];
            inner.board.run("started a channel", steps)?;
            inner.channel(self.number)?.untold = false;
        }
        let (regions, bytes) = inner.regions.count(self.number);
        let resets = inner.resets.load(Ordering::Relaxed);
        Ok(uapi::Query {
            resets,
            events,
            generation,
            regions: [regions, 0],
            region_bytes: [bytes, 0],
            ..Default::default()
        })
    }

    /// Rings a doorbell, after a descriptor if there is one. Returns the number of stores.
    fn ring_with(
        &self,
        direction: Direction,
        descriptor: Option<&[u32; DWORDS]>,
        freed: u16,
    ) -> u32 {
        let mut inner = self.lock();
        let Ok(state) = inner.channel(self.number) else {
            return 0;
        };
        let owed = state.owed.saturating_add(freed);
        if state.trouble.is_some() {
            (state.refused, state.owed) = (true, owed);
            return 0;
        }
        // A restarted channel refuses doorbells until the library knows of the restart.
        if state.untold || inner.board.check_there().is_err() {
            return 0;
        }
        let rung = doorbell(&mut inner.board, self.number, direction, descriptor, owed);
        let Ok(state) = inner.channel(self.number) else {
            return 0;
        };
        match rung {
            Ok(()) => state.owed = 0,
            Err(error) => {
                state.trouble = Some(error);
                (state.refused, state.owed) = (true, owed);
                // Waiting threads have to look at the state.
                inner.events += 1;
            }
        }
        descriptor.map_or(0, |_| DWORDS as u32) + 1
    }

    /// Pins memory, and maps it in the ATT.
    fn enter(
        &self,
        region: &mut uapi::Register,
        kind: MemoryKind,
        pin: impl FnOnce(&mut dyn Backend, &uapi::Register, Permissions) -> BackendResult<Pin>,
    ) -> Result<()> {
        let permissions = match region.access {
            access::READ => Permissions::Read,
            access::WRITE => Permissions::Write,
            both if both == access::READ | access::WRITE => Permissions::ReadWrite,
            _ => return Err(Error::call("REGISTER", Errno::INVAL)),
        };
        let mut inner = self.present()?;
        let pinned = match pin(&mut *inner.board.backend, region, permissions)? {
            Pin::Done(pinned) => pinned,
            Pin::Begun(id, work) => {
                // It may wait for a program that serves page faults.
                drop(inner);
                let worked = work();
                inner = self.lock();
                let pinned = inner.board.backend.end_pin(id, worked)?;
                if let Err(error) = inner.attend() {
                    inner.board.backend.unpin(pinned.id);
                    return Err(error);
                }
                pinned
            }
        };
        let Inner {
            board,
            regions,
            caps,
            ..
        } = &mut *inner;
        let memory = (kind, pinned, region.length);
        let wanted = (permissions, region.flags & register::MIXED != 0);
        let (handle, found) = regions.register(board, caps, self.number, memory, wanted)?;
        region.handle = handle;
        region.page_shift = found.layout().page_size.shift();
        let extents = found.extents().ok_or_else(|| Error::Broken {
            reason: format!("{found:?} has no ATT address"),
        })?;
        region.set_extents(&extents);
        region.entries = found.layout().entries;
        region.found = 0;
        Ok(())
    }
}

impl Context for Held {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn info(&self) -> &uapi::Info {
        &self.info
    }

    fn memory(&self, kind: MemoryKind, bytes: usize) -> Result<Memory> {
        if bytes == 0 {
            return Err(Error::Empty { what: "memory" });
        }
        Ok(self.lock().board.backend.memory(kind, bytes)?)
    }

    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        let refused = |source| Error::call("REGISTER", source);
        let kind = match region.provider {
            provider::HOST => MemoryKind::Host,
            // A backend that cannot pin it has the reason.
            provider::NVIDIA => MemoryKind::Gpu,
            provider::DMABUF if self.info.features & feature::DMABUF != 0 => MemoryKind::Gpu,
            _ => return Err(refused(Errno::OPNOTSUPP)),
        };
        let file = match (region.provider, region.fd) {
            (provider::DMABUF, ..0) => return Err(refused(Errno::BADF)),
            // SAFETY: the caller holds the file open (`Device::register_dmabuf`).
            (provider::DMABUF, file) => Some(unsafe { BorrowedFd::borrow_raw(file) }),
            _ => None,
        };
        self.enter(region, kind, |backend, region, permissions| match file {
            Some(file) => {
                let pinned = backend.pin_dmabuf(file, region.address, region.length);
                pinned.map(Pin::Done)
            }
            None => backend.begin_pin(kind, region.address, region.length, permissions),
        })
    }

    unsafe fn register_bus(&self, region: &mut uapi::Register) -> Result<()> {
        if !self.present()?.board.backend.takes_bus_addresses() {
            return Err(Error::call("REGISTER", Errno::OPNOTSUPP));
        }
        self.enter(region, MemoryKind::Gpu, |backend, region, _| {
            let pinned = backend.pin_bus(region.address, region.length);
            pinned.map(Pin::Done)
        })
    }

    /// Ignores the flags, because this driver caches no regions. When this returns `Ok`, the board cannot reach the
    /// memory.
    fn unregister(&self, handle: u32, _: u32) -> Result<()> {
        let mut inner = self.lock();
        let Inner { board, regions, .. } = &mut *inner;
        regions.unregister(board, handle)
    }

    fn give_up(&self) {
        // The next call reports how that has ended.
        self.lock().board.lose();
    }

    fn keep(&self, handle: u32, memory: Box<dyn Any + Send + Sync>) {
        self.lock().regions.keep(handle, memory);
    }

    fn flush(&self, handle: u32) -> Result<()> {
        let mut inner = self.lock();
        let Inner { board, regions, .. } = &mut *inner;
        regions.flush(board, handle)
    }

    fn flush_unread(&self, handle: u32) -> Result<()> {
        self.flush(handle)
    }

    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()> {
        let _turn = self.turn();
        let mut locked = Locked::new(&self.shared);
        let inner = locked.get();
        inner.attend()?;
        self.check_idle(inner, wanted.bytes)?;
        let fpga = &mut inner.fpga;
        let grant = match wanted.flags {
            0 => fpga.allocate(self.number, wanted.bytes),
            allocate::ALL => fpga.allocate_all(self.number, wanted.bytes),
            allocate::TAKE_OVER => fpga.take_over(self.number, Token(wanted.token)),
            _ => return Err(Error::memory(wanted.bytes, Errno::INVAL)),
        };
        let grant = grant.map_err(|error| memory_error(wanted.bytes, error))?;
        let range = grant.range.clone();
        let unready = range.start + grant.ready..range.end;
        let given = self
            .set_range(inner, range.clone())
            .and_then(|()| locked.fill(self.number, unready));
        let inner = locked.get();
        if let Err(error) = given {
            // A channel that is not idle keeps its range until its context is closed.
            let rests = inner.board.busy(self.number).is_ok_and(|busy| !busy);
            if rests && self.set_range(inner, 0..0).is_ok() {
                inner.fpga.free(self.number, grant.content(grant.ready));
            }
            return Err(error);
        }
        wanted.base = range.start;
        wanted.bytes = range.end - range.start;
        Ok(())
    }

    fn free(&self, flags: u32) -> Result<[u64; 2]> {
        let _turn = self.turn();
        let mut inner = self.present()?;
        self.check_idle(&mut inner, 0)?;
        let refused = |source| Error::memory(0, source);
        if inner.fpga.held(self.number).is_none() {
            return Err(refused(Errno::NOENT));
        }
        // Their users would reach the memory of its next owner.
        if inner.has_window(self.number) || inner.opencl_holder == Some(self.number) {
            return Err(refused(Errno::BUSY));
        }
        let offered = flags & free::OFFER != 0;
        if flags & !free::OFFER != 0 || offered && inner.fpga.holds_all(self.number) {
            return Err(refused(Errno::INVAL));
        }
        self.set_range(&mut inner, 0..0)?;
        let random = || RandomState::new().build_hasher().finish();
        let (token, content) = match offered {
            false => ([0; 2], Content::Unknown),
            true => {
                let token = [random(), random()];
                let offer = Offer::new(Token(token), 0);
                let epoch = inner.fpga.epoch();
                (token, Content::Offered { offer, epoch })
            }
        };
        inner.fpga.free(self.number, content);
        Ok(token)
    }

    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        Ok(Box::new(Side::new(&self.hold)?))
    }

    fn open_channel(&self) -> Result<Option<RawChannel>> {
        // The driver itself may use it.
        let _turn = self.turn();
        let mut inner = self.present()?;
        let channel = inner.channel(self.number)?;
        if channel.probed {
            return Err(Error::map("the channel's page", chan::SIZE, Errno::BUSY));
        }
        channel.handed_out = true;
        Ok(None)
    }

    fn slow_path(&self) -> Option<&dyn SlowPath> {
        Some(self)
    }

    fn window(&self) -> Option<&dyn BoardWindow> {
        let has = self.info.features & feature::WINDOW != 0;
        has.then_some(self)
    }

    /// Writes a packet for the descriptor's words, where the backend can, and one for the doorbell.
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32 {
        self.ring_with(direction, Some(descriptor), freed)
    }

    fn ring_again(&self, direction: Direction, freed: u16) -> u32 {
        self.ring_with(direction, None, freed)
    }

    fn stream(&self, stream: &mut uapi::Stream) -> Result<()> {
        self.order(stream)
    }

    fn queue_free(&self) -> [u32; 2] {
        let place = page(self.number, chan::QUEUE_FREE);
        let free = self.lock().board.read(place);
        channel::queue_free(free.unwrap_or(0))
    }

    fn take_refused(&self) -> bool {
        let place = page(self.number, chan::REFUSED);
        let mut inner = self.lock();
        let state = inner.channel(self.number);
        let unrung = state.is_ok_and(|state| std::mem::take(&mut state.refused));
        let board = &mut inner.board;
        let refused = match board.read(place) {
            Ok(refused) if refused != 0 => board.write(place, refused).is_ok(),
            // A board that does not answer has refused nothing.
            _ => false,
        };
        unrung || refused
    }

    fn status(&self, slot: u32) -> u32 {
        Records(&mut self.lock(), self.ring).status(slot)
    }

    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        Records(&mut self.lock(), self.ring).record(slot)
    }

    fn query(&self) -> Result<uapi::Query> {
        self.state(false)
    }

    fn peek(&self) -> Result<Option<uapi::Query>> {
        self.state(true).map(Some)
    }

    fn await_event(&self, limit: Option<Duration>) -> Result<bool> {
        let begin = self.now();
        loop {
            let mut inner = self.present()?;
            if inner.channel(self.number)?.seen != inner.events {
                return Ok(true);
            }
            let waited = inner.board.backend.now().saturating_sub(begin);
            let left = limit.map_or(Duration::MAX, |limit| limit.saturating_sub(waited));
            if left.is_zero() {
                // Was it only slow, or does nothing work any more?
                inner.board.check_present()?;
                inner.board.check_port()?;
                return Ok(false);
            }
            self.shared.await_interrupt(inner, left)?;
        }
    }

    fn now(&self) -> Duration {
        self.lock().board.backend.now()
    }

    fn pause(&self) {
        // An error of the board is reported by the next call that can fail.
        let _ = self.lock().board.backend.pause(MOMENT);
    }

    fn stop(&self, drain: Duration) -> Result<bool> {
        let _turn = self.turn();
        let mut inner = self.present()?;
        let begin = inner.board.backend.now();
        let Some(generation) = inner.begin_stop(self.number)? else {
            return Ok(false);
        };
        loop {
            let late = inner.board.backend.now().saturating_sub(begin) >= drain;
            let aborted = match inner.board.busy(self.number)? {
                false => Some(false),
                true if late => Some(true),
                true => None,
            };
            if let Some(aborted) = aborted {
                inner.end_stop(self.number, aborted)?;
                return Ok(aborted);
            }
            inner.board.backend.pause(POLL)?;
            // Other threads get their turn. Doorbells for this channel are refused in the meantime.
            drop(inner);
            self.shared.make_way();
            inner = self.present()?;
            // A reset of the block has ended all descriptors.
            if inner.channel(self.number)?.generation != generation {
                return Ok(false);
            }
        }
    }

    fn moderate(&self, moderation: Moderation) -> Result<()> {
        let mut inner = self.present()?;
        inner.channel(self.number)?.moderation = moderation;
        let steps = [channel::moderate(self.number, moderation)];
        inner.board.run("accepted the interrupt moderation", steps)
    }
}
