//! A board by VFIO, as the backend of the driver in the process.

use super::access::{Access, Addresses};
use super::events::Events;
use super::find::{DRIVER, Facts, Slot, describe, windows};
use super::function;
use super::gdr::{self, Gdr, Unusable};
use super::iova::{Iovas, PAGE};
use super::populate;
use super::registers::Registers;
use super::sys::{Function, Group};
use super::{Error, Result};
use crate::driver::{
    Allocation, Backend, BackendError, BackendResult, Bar, Health, MemoryId, Pin, PinWork, Pinned,
    RETURN, Space,
};
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::Area;
use crate::sys::{Process, is_readable};
use peerlane_core::att::Permissions;
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use peerlane_core::regs::MAP_ID;
use peerlane_core::shell;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

/// The first I/O virtual address that is used: 0 shows that something is wrong.
const FIRST: u64 = 1 << 20;

/// Time between two looks for the answer.
const LOOK: Duration = Duration::from_millis(10);

/// Time in which requests leave the board that its PCIe bridge has taken while it was bus master. The IOMMU would block
/// and report them if their memory was not mapped any more.
const LEAVE: Duration = Duration::from_millis(50);

/// Vectors of a build with a table: two, and one for each channel.
const OWN_VECTORS: u32 = 2;

/// Time between two looks whether the block was reset by others.
const WATCH: Duration = Duration::from_millis(20);

/// Sleeps shorter than this take longer than a wait in a loop.
const NAP: Duration = Duration::from_micros(5);

/// Memory that was made reachable for the board.
#[derive(Debug)]
struct Mapped {
    /// Address in the process, or of a GPU's memory there.
    address: u64,
    iova: u64,
    bytes: u64,
    /// The first byte that was asked for.
    first: u64,
    permissions: Permissions,
    reach: Reach,
    source: Source,
}

/// State of memory in the IOMMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// A thread is mapping it.
    Begun,
    /// It is mapped.
    Mapped,
    /// It was unmapped, when the board was cut off.
    Unmapped,
    /// It could not be mapped again. Other memory may be at its address.
    Gone,
}

/// The owner of memory that was made reachable.
#[derive(Debug)]
enum Source {
    /// The program.
    Program,
    /// The driver.
    Driver(Mapping),
    /// A GPU, whose memory is unpinned after the board has lost it.
    Gpu(Arc<gdr::Pages>),
}

impl Mapped {
    /// Returns the work that maps it for the board.
    fn work(&self, addresses: &Arc<dyn Addresses>) -> PinWork {
        let addresses = Arc::clone(addresses);
        let Self {
            address,
            iova,
            bytes,
            permissions,
            ..
        } = *self;
        let is_programs = matches!(self.source, Source::Program);
        let gpu = match &self.source {
            Source::Gpu(pages) => Some(Arc::clone(pages)),
            Source::Program | Source::Driver(_) => None,
        };
        Box::new(move || {
            if is_programs {
                populate::populate(address..address + bytes, populate::limit());
            }
            let address = match gpu.map(|pages| pages.address()) {
                None => address,
                Some(Ok(mapped)) => mapped,
                Some(Err(reason)) => return Err(Error::Gpu { address, reason }.into()),
            };
            let entered = addresses.map(address, iova, bytes, permissions);
            entered.map_err(|error| match error {
                Error::Call {
                    source: Errno::FAULT,
                    ..
                } => BackendError::NoProcessMemory { address },
                Error::Call {
                    source: Errno::NOMEM,
                    ..
                } => {
                    let limit = getrlimit(Resource::Memlock).current;
                    Error::Locked { bytes, limit }.into()
                }
                error => error.into(),
            })
        })
    }

    /// Maps it again after the board was cut off, by `map`. Returns whether the board has lost it for ever.
    fn come_back(
        &mut self,
        map: &mut impl FnMut(&Self) -> BackendResult<()>,
    ) -> BackendResult<bool> {
        if self.reach != Reach::Unmapped {
            return Ok(false);
        }
        self.reach = match (map(self), &self.source) {
            (Ok(()), _) => Reach::Mapped,
            (Err(error), Source::Driver(_)) => return Err(error),
            // The program has unmapped it, or may lock less than before: the rest of the board is not concerned.
            (Err(_), _) => Reach::Gone,
        };
        Ok(self.reach == Reach::Gone)
    }

    /// Takes it away from the board.
    fn leave(&mut self, addresses: &dyn Addresses) -> Result<()> {
        if self.reach == Reach::Mapped {
            addresses.unmap(self.iova, self.bytes)?;
            self.reach = Reach::Unmapped;
        }
        Ok(())
    }
}

/// Maps memory again after the board was cut off, by `map`. Returns the memory that the board has lost for ever.
fn map_again(
    all: &mut BTreeMap<MemoryId, Mapped>,
    mut map: impl FnMut(&Mapped) -> BackendResult<()>,
) -> BackendResult<Vec<MemoryId>> {
    let is_drivers = |mapped: &Mapped| matches!(mapped.source, Source::Driver(_));
    // Where less memory can be locked than before, the driver's own comes first: nothing works without it.
    for mapped in all.values_mut().filter(|mapped| is_drivers(mapped)) {
        mapped.come_back(&mut map)?;
    }
    let mut gone = Vec::new();
    for (id, mapped) in all {
        if mapped.come_back(&mut map)? {
            gone.push(*id);
        }
    }
    Ok(gone)
}

/// A board of which this process has the PCI function.
#[derive(Debug)]
pub(super) struct Board {
    address: String,
    /// The process that opened it: a child's copy ends nothing.
    owner: Process,
    facts: Facts,
    registers: Registers,
    events: Events,
    link: Option<Link>,
    iovas: Iovas,
    last: u64,
    /// The kernels' vector has come since it was armed.
    kernels: bool,
    /// The last look whether the block was reset by others.
    watched: Instant,
    /// The library for GPUs' memory.
    gdr: std::result::Result<Arc<Gdr>, Unusable>,
    // Closed in this order: a function that is closed is not bus master any more, so that the mappings can go.
    function: Function,
    _group: Option<Group>,
    addresses: Arc<dyn Addresses>,
    mapped: BTreeMap<MemoryId, Mapped>,
}

impl Board {
    /// Opens the function at a PCI address, resets its link, and finds its description.
    pub(super) fn open(address: &str) -> Result<Self> {
        let slot = Slot::new(address)?;
        let address = slot.address.clone();
        let driver = slot.driver();
        if driver.as_deref() != Some(DRIVER) {
            return Err(Error::NotBound {
                board: address,
                driver,
            });
        }
        populate::check()?;
        let Access {
            function,
            group,
            addresses,
        } = Access::open(&slot)?;
        if !function.is_pci()? {
            return Err(Error::NoDevice { board: address });
        }
        // The BAR must not be accessed before.
        function::command(&function, false)?;
        function::reset(&function, group.as_ref())?;
        let begin = Instant::now();
        let (facts, registers) = loop {
            match describe(&slot, |bar| map(&function, &address, bar)) {
                Err(Error::Other { .. }) if begin.elapsed() < RETURN => std::thread::sleep(LOOK),
                result => break result?,
            }
        };
        let capabilities = check(&address, &facts, &registers)?;
        if !capabilities.tagged {
            function::check_read_request(&function, &address)?;
        }
        let table = capabilities
            .msix
            .then(|| OWN_VECTORS + capabilities.channels);
        let events = Events::new(&function, &address, table)?;
        let ranges = match addresses.ranges()? {
            // As much as every IOMMU maps, without the interrupts' addresses.
            none if none.is_empty() => vec![(0, 0xfedf_ffff), (0xfef0_0000, (1 << 39) - 1)],
            ranges => ranges,
        };
        Ok(Self {
            link: function::link(&function, facts.shell.clock),
            iovas: Iovas::new(&ranges, &windows(), FIRST, capabilities.txs_addr_bits),
            address,
            owner: Process::current(),
            facts,
            registers,
            events,
            mapped: BTreeMap::new(),
            last: 0,
            kernels: false,
            watched: Instant::now(),
            gdr: match &group {
                Some(_) => Gdr::open().map(Arc::new),
                None => Err(Unusable::Iommufd),
            },
            function,
            _group: group,
            addresses,
        })
    }

    /// Lets the block's line make interrupts at the hard IP. The kernels' line is looked at ([`Bar::interrupt`]).
    fn enable_line(&self) -> Result<()> {
        let Some(line) = self.facts.shell.line else {
            return Ok(());
        };
        let written = self
            .registers
            .write32(line.enable() as u64, line.enabled(false));
        written.map_err(|reason| unusable(&self.address, self.facts.bar, reason))
    }

    /// Returns the offset in the BAR of a register of the block.
    fn place(&self, space: Space, offset: usize) -> u64 {
        let places = &self.facts.places;
        let base = match space {
            Space::Csr => places.csr,
            Space::Chan => places.chan,
            Space::Att => places.att,
        };
        base + offset as u64
    }

    /// Maps memory of the process for the board: whole pages.
    fn enter(
        &mut self,
        address: u64,
        bytes: u64,
        permissions: Permissions,
        source: Source,
    ) -> BackendResult<(MemoryId, u64)> {
        let (id, work) = self.begin(address..address + bytes, address, permissions, source)?;
        let mapped = self.end(id, work())?;
        Ok((id, mapped.iova))
    }

    /// Gives memory an address, of which `first` is the first byte that is asked for. The result's work maps it.
    fn begin(
        &mut self,
        range: Range<u64>,
        first: u64,
        permissions: Permissions,
        source: Source,
    ) -> BackendResult<(MemoryId, PinWork)> {
        let (address, bytes) = (range.start, range.end - range.start);
        let iova = self.iovas.allocate(address, bytes);
        let iova = iova.ok_or(Error::NoAddresses { bytes })?;
        let mapped = Mapped {
            address,
            iova,
            bytes,
            first,
            permissions,
            reach: Reach::Begun,
            source,
        };
        let work = mapped.work(&self.addresses);
        self.last += 1;
        let id = MemoryId(self.last);
        self.mapped.insert(id, mapped);
        Ok((id, work))
    }

    /// Notes that memory was mapped, or could not be.
    fn end(&mut self, id: MemoryId, worked: BackendResult<()>) -> BackendResult<&Mapped> {
        if let Err(error) = worked {
            self.leave(id);
            return Err(error);
        }
        let mapped = self.mapped.get_mut(&id);
        let mapped = mapped.ok_or_else(|| BackendError::Range(format!("{id:?}")))?;
        mapped.reach = Reach::Mapped;
        Ok(mapped)
    }

    fn leave(&mut self, id: MemoryId) {
        let Some(mut mapped) = self.mapped.remove(&id) else {
            return;
        };
        match mapped.leave(&*self.addresses) {
            Ok(()) => self.iovas.free(mapped.iova, mapped.bytes),
            // The kernel keeps such a mapping until its files are closed, and the pages with it. So the addresses
            // are not used again.
            Err(_) => std::mem::forget(mapped),
        }
    }

    /// Returns the pages of a range of a GPU's memory.
    fn gpu_pages(&self, address: u64, length: u64) -> Result<gdr::Pages> {
        let gdr = self.gdr.as_ref().map_err(Unusable::error)?;
        gdr::Pages::of(gdr, address, length).ok_or_else(|| Error::Gpu {
            address,
            reason: "the range ends beyond all addresses".to_owned(),
        })
    }

    fn own(&self, id: MemoryId) -> BackendResult<&Mapping> {
        match self.mapped.get(&id).map(|mapped| &mapped.source) {
            Some(Source::Driver(mapping)) => Ok(mapping),
            _ => Err(BackendError::Range(format!("{id:?}"))),
        }
    }
}

/// Makes the error of a BAR that cannot be used.
fn unusable(board: &str, bar: u32, reason: impl std::fmt::Display) -> Error {
    Error::Bar {
        board: board.to_owned(),
        bar,
        reason: reason.to_string(),
    }
}

/// Maps a BAR.
fn map(function: &Function, board: &str, bar: u32) -> Result<Registers> {
    let region = function.region(bar)?;
    if !region.mappable || region.bytes == 0 {
        let reason = format!("it has {} bytes, and cannot be mapped", region.bytes);
        return Err(unusable(board, bar, reason));
    }
    let length = usize::try_from(region.bytes).map_err(|reason| unusable(board, bar, reason))?;
    let both = ProtFlags::READ | ProtFlags::WRITE;
    let what = "the board's registers";
    let mapping = Mapping::device(what, function.fd(), region.offset, length, both);
    let mapping = mapping.map_err(|reason| unusable(board, bar, reason))?;
    keep_from_children(&mapping)?;
    Ok(Registers::new(mapping))
}

/// Leaves a mapping out of children of this process: they must not write to the board.
fn keep_from_children(mapping: &Mapping) -> Result<()> {
    let (base, length) = (mapping.base().as_ptr().cast(), mapping.length());
    // SAFETY: the whole of a mapping of whole pages. It stays as it is in this process.
    let advised = unsafe { madvise(base, length, Advice::LinuxDontFork) };
    advised.map_err(|source| Error::call("madvise", source))
}

/// Checks that the described places lie in the BAR, apart from each other, and returns the block's capabilities.
fn check(board: &str, facts: &Facts, registers: &Registers) -> Result<Capabilities> {
    let (places, shell) = (&facts.places, &facts.shell);
    let refused = |reason: &dyn std::fmt::Display| unusable(board, facts.bar, reason);
    let mut words = [0; Identity::OFFSETS.len()];
    for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
        let read = registers.read32(places.csr + offset as u64);
        *word = read.map_err(|reason| refused(&reason))?;
    }
    let identity = Identity::new(words);
    let capabilities = identity.check(MAP_ID, Some(facts.build_id));
    let capabilities = capabilities.map_err(|reason| refused(&reason))?;
    let addresses = capabilities.require_bus_addresses();
    addresses.map_err(|reason| refused(&reason))?;
    let bytes = registers.bytes();
    let lie = places.check(&capabilities, bytes);
    lie.map_err(|reason| refused(&reason))?;
    let line = shell.line.as_ref();
    let apart = shell::check(line, &shell.opencl, places, &capabilities, bytes);
    apart.map_err(|reason| refused(&reason))?;
    match shell.line.is_some() || capabilities.msix {
        true => Ok(capabilities),
        false => Err(refused(
            &"the place of the hard IP's interrupt registers is not known",
        )),
    }
}

impl Drop for Board {
    /// Releases memory in the order in which the board loses it: also where the function stays open, in a child of a
    /// fork.
    fn drop(&mut self) {
        if self.owner != Process::current() {
            return;
        }
        let _ = function::command(&self.function, false);
        let all: Vec<_> = self.mapped.keys().copied().collect();
        for id in all {
            self.leave(id);
        }
    }
}

impl From<Error> for BackendError {
    fn from(error: Error) -> Self {
        Self::Vfio(error)
    }
}

impl Backend for Board {
    fn name(&self) -> String {
        self.address.clone()
    }

    fn fpga_bytes(&self) -> u64 {
        self.facts.shell.memory
    }

    fn read32(&mut self, space: Space, offset: usize) -> BackendResult<u32> {
        let value = self.registers.read32(self.place(space, offset));
        // The answer has pushed the records before it into memory.
        fence(Ordering::Acquire);
        value
    }

    fn write32(&mut self, space: Space, offset: usize, value: u32) -> BackendResult<()> {
        // Memory that the board reads then was written before.
        fence(Ordering::Release);
        self.registers.write32(self.place(space, offset), value)
    }

    fn write_block(&mut self, space: Space, offset: usize, values: &[u32]) -> BackendResult<()> {
        fence(Ordering::Release);
        self.registers
            .write_block(self.place(space, offset), values)
    }

    fn link(&self) -> Option<Link> {
        self.link
    }

    fn now(&self) -> Duration {
        let now = clock_gettime(ClockId::Monotonic);
        Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
    }

    fn pause(&mut self, time: Duration) -> BackendResult<()> {
        match time < NAP {
            true => {
                let begin = Instant::now();
                while begin.elapsed() < time {
                    std::hint::spin_loop();
                }
            }
            false => std::thread::sleep(time),
        }
        Ok(())
    }

    fn allow_access(&mut self) -> BackendResult<Vec<MemoryId>> {
        let addresses = &self.addresses;
        let gone = map_again(&mut self.mapped, |mapped| mapped.work(addresses)())?;
        // It waits for the end of a reset by others.
        function::command(&self.function, true)?;
        // A reset of the fabric has cleared it.
        self.enable_line()?;
        Ok(gone)
    }

    fn is_coming_back(&mut self) -> bool {
        function::is_there(&self.function)
    }

    fn health(&mut self) -> Health {
        if self.events.take_failure() {
            return Health::Failed;
        }
        match self.watched.elapsed() < WATCH {
            true => Health::Good,
            false => {
                self.watched = Instant::now();
                Health::Unknown
            }
        }
    }

    fn cut_off(&mut self) -> BackendResult<()> {
        // A function that is not there takes no setting. The IOMMU does not need it.
        let _ = function::command(&self.function, false);
        std::thread::sleep(LEAVE);
        let all = self.mapped.values_mut();
        let left = all.map(|mapped| mapped.leave(&*self.addresses));
        Ok(left.fold(Ok(()), Result::and)?)
    }

    fn is_wanted_back(&mut self) -> bool {
        self.events.is_requested()
    }

    fn interrupt_file(&self) -> Option<Arc<OwnedFd>> {
        Some(self.events.file())
    }

    fn wait_interrupt(&mut self, limit: Duration) -> BackendResult<bool> {
        is_readable(&*self.events.file(), limit);
        Ok(self.events.take())
    }

    fn memory(&mut self, kind: MemoryKind, length: usize) -> BackendResult<Memory> {
        let wanted = length as u64;
        match kind {
            MemoryKind::Host => {
                Memory::new(length).map_err(|_| BackendError::OutOfMemory { kind, wanted })
            }
            MemoryKind::Gpu => Err(BackendError::OutOfMemory { kind, wanted }),
        }
    }

    fn has_gpu_addresses(&self) -> bool {
        self.gdr.is_ok()
    }

    fn pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> BackendResult<Pinned> {
        match self.begin_pin(kind, address, length, permissions)? {
            Pin::Done(pinned) => Ok(pinned),
            Pin::Begun(id, work) => self.end_pin(id, work()),
        }
    }

    fn begin_pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> BackendResult<Pin> {
        if kind == MemoryKind::Gpu {
            let pages = Arc::new(self.gpu_pages(address, length)?);
            let (range, source) = (pages.range(), Source::Gpu(pages));
            let (id, work) = self.begin(range, address, permissions, source)?;
            return Ok(Pin::Begun(id, work));
        }
        let start = address & !(PAGE - 1);
        let end = address
            .checked_add(length)
            .and_then(|end| end.checked_next_multiple_of(PAGE));
        let end = end.ok_or(BackendError::NoProcessMemory { address })?;
        let (id, work) = self.begin(start..end, address, permissions, Source::Program)?;
        Ok(Pin::Begun(id, work))
    }

    fn end_pin(&mut self, id: MemoryId, worked: BackendResult<()>) -> BackendResult<Pinned> {
        let mapped = self.end(id, worked)?;
        Ok(Pinned {
            id,
            segments: vec![Segment {
                address: mapped.iova,
                length: mapped.bytes,
            }],
            offset: mapped.first - mapped.address,
        })
    }

    fn unpin(&mut self, id: MemoryId) {
        self.leave(id);
    }

    /// Has nothing to do for host memory: the board's writes and records take the same way.
    fn flush(&mut self, id: MemoryId) -> BackendResult<()> {
        if let Some(Source::Gpu(pages)) = self.mapped.get(&id).map(|mapped| &mapped.source) {
            pages.flush();
        }
        Ok(())
    }

    fn allocate(&mut self, length: u64) -> BackendResult<Allocation> {
        let bytes = length.checked_next_multiple_of(PAGE);
        let size = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let (Some(bytes), Some(size)) = (bytes, size) else {
            let kind = MemoryKind::Host;
            return Err(BackendError::OutOfMemory {
                kind,
                wanted: length,
            });
        };
        let mapping = Mapping::anonymous("a ring", size, 1, MapFlags::PRIVATE);
        let mapping = mapping.map_err(|_| BackendError::OutOfMemory {
            kind: MemoryKind::Host,
            wanted: bytes,
        })?;
        let address = mapping.base().as_ptr() as u64;
        let (id, address) = self.enter(
            address,
            bytes,
            Permissions::ReadWrite,
            Source::Driver(mapping),
        )?;
        Ok(Allocation { id, address })
    }

    fn free(&mut self, id: MemoryId) {
        self.leave(id);
    }

    fn read_memory(&mut self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        let read = self.own(id)?.copy_to(offset as usize, bytes);
        read.map_err(|error| BackendError::Range(error.to_string()))?;
        fence(Ordering::Acquire);
        Ok(())
    }

    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        let written = self.own(id)?.copy_from(offset as usize, bytes);
        written.map_err(|error| BackendError::Range(error.to_string()))
    }

    fn has_window(&self) -> bool {
        self.facts.places.window.is_some()
    }

    fn window(&self) -> BackendResult<Mapping> {
        let offset = self.facts.places.window;
        let offset = offset.ok_or_else(|| BackendError::Range("the window".into()))?;
        let region = self.function.region(self.facts.bar)?;
        let length = peerlane_core::window::BYTES as usize;
        let both = ProtFlags::READ | ProtFlags::WRITE;
        let place = region.offset + offset;
        let mapping = Mapping::device("the window", self.function.fd(), place, length, both);
        let mapping = mapping.map_err(|error| BackendError::Other(error.to_string()))?;
        keep_from_children(&mapping)?;
        Ok(mapping)
    }

    fn export_window(&self) -> Option<BackendResult<OwnedFd>> {
        let offset = self.facts.places.window?;
        let range = offset..offset + peerlane_core::window::BYTES;
        let exported = self.function.export(self.facts.bar, range);
        Some(exported.map_err(BackendError::from))
    }

    fn opencl(&mut self) -> Option<&mut dyn Bar> {
        self.facts.shell.opencl.is_there().then_some(self)
    }
}

impl Board {
    fn area(&self, area: Area, offset: u64, bytes: usize) -> BackendResult<u64> {
        let opencl = &self.facts.shell.opencl;
        let place = opencl.place(area.of_core(), offset, bytes as u64);
        let place = place.ok_or_else(|| {
            BackendError::Range(format!(
                "{bytes} bytes at {offset:#x} of the {}",
                area.name()
            ))
        })?;
        Ok(place.start)
    }
}

impl Bar for Board {
    fn bytes(&self, area: Area) -> u64 {
        self.facts.shell.opencl.bytes(area.of_core())
    }

    fn read(&mut self, area: Area, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        self.registers
            .read_bytes(self.area(area, offset, data.len())?, data)
    }

    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
        fence(Ordering::Release);
        self.registers
            .write_bytes(self.area(area, offset, data.len())?, data)
    }

    fn arm(&mut self) -> BackendResult<()> {
        self.kernels = false;
        Ok(self.events.renew_kernels(&self.function)?)
    }

    fn interrupt_file(&self) -> Option<Arc<OwnedFd>> {
        self.events.kernels().cloned()
    }

    fn interrupt(&mut self) -> BackendResult<bool> {
        self.kernels |= self.events.take_kernels();
        let Some(line) = self.facts.shell.line else {
            // A vector reports the rise of the line, and its level when it was armed.
            return Ok(self.kernels);
        };
        let status = self.registers.read32(line.status() as u64)?;
        // A function that is not there reads as ones.
        Ok(status != u32::MAX && status & line.kernels_mask() != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of the program, or of the driver, of a board that was cut off.
    fn unmapped(address: u64, of_driver: bool) -> Mapped {
        let ring = || Mapping::anonymous("a ring", 4096, 1, MapFlags::PRIVATE).unwrap();
        Mapped {
            address,
            iova: address,
            bytes: 4096,
            first: address,
            permissions: Permissions::Read,
            reach: Reach::Unmapped,
            source: match of_driver {
                true => Source::Driver(ring()),
                false => Source::Program,
            },
        }
    }

    /// The program has unmapped the memory at 0x1000.
    fn missing(mapped: &Mapped) -> BackendResult<()> {
        let address = mapped.address;
        match address {
            0x1000 => Err(BackendError::NoProcessMemory { address }),
            _ => Ok(()),
        }
    }

    #[test]
    fn memory_that_is_not_there_any_more_keeps_no_board_from_its_start() {
        let memories = [(0x1000, false), (0x2000, false), (0x3000, true)];
        let mut all = BTreeMap::new();
        for (address, of_driver) in memories {
            all.insert(MemoryId(address), unmapped(address, of_driver));
        }
        let mut order = Vec::new();
        let gone = map_again(&mut all, |mapped| {
            order.push(mapped.address);
            missing(mapped)
        });
        assert_eq!(gone.unwrap(), [MemoryId(0x1000)]);
        assert_eq!(order, [0x3000, 0x1000, 0x2000]);
        let reach = |id| all[&MemoryId(id)].reach;
        assert_eq!(reach(0x2000), Reach::Mapped);
        // Other memory may be there at the next reset.
        let again = map_again(&mut all, |mapped| panic!("{mapped:?} is mapped again"));
        assert_eq!(again.unwrap(), []);
    }

    #[test]
    fn a_board_without_its_ring_is_not_started() {
        let mut all = BTreeMap::from([(MemoryId(1), unmapped(0x1000, true))]);
        let error = map_again(&mut all, missing).unwrap_err();
        assert!(matches!(error, BackendError::NoProcessMemory { .. }));
        assert_eq!(all[&MemoryId(1)].reach, Reach::Unmapped);
    }
}
