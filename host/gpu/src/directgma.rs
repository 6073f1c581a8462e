//! DirectGMA: AMD's extension of OpenCL for memory that other devices reach by bus addresses
//! (`cl_amd_bus_addressable_memory`). FirePro cards of its time have it; AMD's drivers of today do not.
//!
//! **Not verified on hardware**: there was no such GPU. This code was written by AMD's header, sample and runtime, and
//! runs against a mock that keeps to them (`tests/fake-amd`).
//!
//! | | the extension | with a Peerlane board |
//! | --- | --- | --- |
//! | [`BusBuffer`] | GPU memory with a bus address for other devices | **not by the kernel's driver**: see below |
//! | [`Remote`] | other devices' memory, for the GPU to write | the GPU pushes into the board's window ([`Aperture`]) |
//! | [`BusBuffer::wait_signal`] | the GPU waits for a number that another device writes | as a [`BusBuffer`] |
//! | [`Remote::write_signal`] | the GPU writes a number after its other writes | into FPGA memory in the window |
//!
//! [`GmaMemory`] is a [`BusBuffer`] as an end of routes: through the host's memory always, by push where there is an
//! [`Aperture`], and directly where the board's driver takes bus addresses.
//!
//! # Why the kernel's driver takes no bus addresses
//!
//! A bus address that a process names can be any memory: the host's, where no IOMMU translates, or any device's
//! registers. A check cannot make it safe. The driver could see that the address lies in a GPU's BAR, but not which
//! process has the buffer at it. The driver is also not notified when the buffer is freed: the board would go on
//! writing into memory that is another process's by then. A privilege (`CAP_SYS_RAWIO`) would move this into programs
//! that run as root and change nothing about the end of a buffer. The kernel's interface for this is the dma-buf, whose
//! exporter says which memory may be reached and revokes it; AMD's driver exports them ([`crate::amd`]). A driver in
//! the process, which has a board to itself, may take bus addresses ([`Device::register_bus`]); the simulated board
//! does.
//!
//! In the other direction the GPU's driver takes a bus address from a process: a [`Remote`]. A program that has a GPU
//! with DirectGMA can make it write anywhere on the bus, and Peerlane cannot prevent that.
//! `docs/program/driver-interface.md` explains the consequences for the window.

mod api;
mod side;

pub use api::Handle;
pub use side::{Aperture, BoardAperture, GmaMemory};

use crate::error::{Error, Result, within};
use crate::patch::{Gone, Patch};
use crate::region::GpuRegion;
use api::{
    Api, BusAddress, CL_MEM_BUS_ADDRESSABLE_AMD, CL_MEM_EXTERNAL_PHYSICAL_AMD, EXTENSION,
    Extension, lacks,
};
use peerlane_host::{Device, Errno, Permissions, Process};
use peerlane_opencl_api::sys::{
    CL_COMPLETE, CL_DEVICE_EXTENSIONS, CL_DEVICE_NAME, CL_DEVICE_TOPOLOGY_AMD, CL_SUCCESS, CL_TRUE,
};
use peerlane_opencl_api::{check, made};
use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The extension's addresses are multiples of this.
pub const PAGE: u64 = 4096;

/// An OpenCL device with DirectGMA. Clones are the same device.
#[derive(Clone)]
pub struct GmaDevice(Arc<Context>);

/// A context with one device.
struct Context {
    api: &'static Api,
    extension: Extension,
    context: Handle,
    device: Handle,
    name: String,
    bus: Option<String>,
    owner: Process,
}

// SAFETY: OpenCL's objects may be used by any thread, and by several at once (OpenCL API 3.0, "Multiple Host Threads").
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl fmt::Debug for GmaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GmaDevice")
            .field("name", &self.0.name)
            .field("bus", &self.0.bus)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Whether this is the child of a fork. It has none of the runtime's threads, so that a call may never return, and
    /// it must not release the parent's objects.
    fn is_inherited(&self) -> bool {
        self.owner != Process::current()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_inherited() {
            return;
        }
        // SAFETY: this releases the reference that was taken.
        unsafe { (self.api.release_context)(self.context) };
    }
}

/// Lists the machine's devices with DirectGMA: those that name the extension and whose platform has its functions.
///
/// # Errors
/// [`Error::NoDirectGma`] where no device has it, with the part that is missing, and [`Error::OpenClCall`].
pub fn devices() -> Result<Vec<GmaDevice>> {
    let api = Api::get()?;
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for (platform, device) in api.gpus()? {
        // SAFETY: both are the loader's.
        let opened = unsafe { GmaDevice::open(api, platform, device) };
        match opened {
            Ok(device) => found.push(device),
            Err(Error::NoDirectGma { reason }) => without.push(reason),
            Err(error) => return Err(error),
        }
    }
    match (found.is_empty(), without.is_empty()) {
        (true, true) => Err(lacks("OpenCL has no GPU")),
        (true, false) => Err(lacks(without.join("; "))),
        _ => Ok(found),
    }
}

/// Returns a device's place on the bus. `cl_device_topology_amd` has a type, 1 for PCIe, and bus, device and function
/// in its last three bytes. It does not have the domain, which is 0 on computers of the time.
fn slot(topology: &[u8]) -> Option<String> {
    let (kind, rest) = topology.split_first_chunk()?;
    let [bus, device, function] = *rest.last_chunk()?;
    let pcie = u32::from_ne_bytes(*kind) == 1 && topology.len() == 24;
    pcie.then(|| format!("0000:{bus:02x}:{device:02x}.{function}"))
}

impl GmaDevice {
    /// # Safety
    /// Both are this OpenCL's, and the device is the platform's.
    unsafe fn open(api: &'static Api, platform: Handle, device: Handle) -> Result<Self> {
        // SAFETY: the caller promises the device.
        let name = unsafe { api.text(device, CL_DEVICE_NAME)? };
        // SAFETY: as above.
        let extensions = unsafe { api.text(device, CL_DEVICE_EXTENSIONS)? };
        if !extensions.split_whitespace().any(|word| word == EXTENSION) {
            return Err(lacks(format!("{name} has no {EXTENSION}")));
        }
        // SAFETY: the platform has a device with the extension.
        let extension = unsafe { api.extension(platform)? };
        // SAFETY: as above. The place on the bus is reported by another extension.
        let topology = unsafe { api.info(device, CL_DEVICE_TOPOLOGY_AMD) }.ok();
        let context = made("clCreateContext", |code| {
            // SAFETY: no properties, one device, no callback.
            unsafe { (api.context)(null(), 1, &raw const device, None, null_mut(), code) }
        })?;
        Ok(Self(Arc::new(Context {
            api,
            extension,
            context,
            device,
            name,
            bus: topology.as_deref().and_then(slot),
            owner: Process::current(),
        })))
    }

    fn is_inherited(&self) -> bool {
        self.0.is_inherited()
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns its place on the bus, as Linux names it, where it reports that.
    pub fn bus(&self) -> Option<&str> {
        self.0.bus.as_deref()
    }

    /// Returns its `cl_context`, for kernels; it lives as long as this value.
    pub fn context(&self) -> Handle {
        self.0.context
    }

    /// Returns its `cl_device_id`.
    pub fn raw(&self) -> Handle {
        self.0.device
    }

    /// Allocates memory, all zero, that has a bus address for as long as it lives. The GPU's driver has an aperture for
    /// such memory, of some tens of megabytes.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NotResident`], and [`Error::OpenClCall`].
    pub fn buffer(&self, length: u64) -> Result<BusBuffer> {
        if length == 0 {
            return Err(Error::Empty);
        }
        let (api, size) = (self.0.api, length as usize);
        let memory = made("clCreateBuffer", |code| {
            let flags = CL_MEM_BUS_ADDRESSABLE_AMD;
            // SAFETY: a living context, and no memory of the host's.
            unsafe { (api.buffer)(self.0.context, flags, size, null_mut(), code) }
        })?;
        let mut buffer = Bus {
            memory: Object {
                device: self.clone(),
                raw: memory,
            },
            queue: Queue::new(self)?,
            length,
            at: BusAddress::default(),
        };
        let queue = buffer.queue.raw;
        let zero = [0_u8];
        let fill = zero.as_ptr().cast();
        // SAFETY: queue and buffer are living ones of one context, the range is all of the buffer, and the pattern of
        // one byte was copied when the call returns.
        let code = unsafe { (api.fill)(queue, memory, fill, 1, 0, size, 0, null(), null_mut()) };
        check("clEnqueueFillBuffer", code)?;
        let place = &raw mut buffer.at;
        // SAFETY: as above, with a place for one address, which is written before the call returns.
        let code = unsafe {
            let make = self.0.extension.make_resident;
            make(
                queue,
                1,
                &raw const memory,
                CL_TRUE,
                place,
                0,
                null(),
                null_mut(),
            )
        };
        check("clEnqueueMakeBuffersResidentAMD", code)?;
        // A command that fails when it runs leaves zeros, and the call returns success (AMD's runtime).
        let good = |address: u64| address != 0 && address.is_multiple_of(PAGE);
        if !good(buffer.at.surface) || buffer.at.marker == 0 {
            return Err(Error::NotResident { length });
        }
        Ok(BusBuffer(Arc::new(buffer)))
    }

    /// Makes a GPU buffer of other devices' memory from a bus address on, for the GPU to write, and never to read.
    /// Signals go to the page at `marker`.
    ///
    /// # Safety
    /// The caller may let the GPU write all of it, and the page at `marker`, until this is dropped.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Misplaced`], and [`Error::OpenClCall`].
    pub unsafe fn remote(&self, address: u64, marker: u64, length: u64) -> Result<Remote> {
        if length == 0 {
            return Err(Error::Empty);
        }
        // For these AMD's runtime reports no more than "invalid host pointer".
        if [address, marker]
            .iter()
            .any(|at| *at == 0 || !at.is_multiple_of(PAGE))
        {
            return Err(Error::Misplaced {
                address,
                marker,
                length,
            });
        }
        let api = self.0.api;
        let mut at = BusAddress {
            surface: address,
            marker,
        };
        let memory = made("clCreateBuffer", |code| {
            let (flags, size) = (CL_MEM_EXTERNAL_PHYSICAL_AMD, length as usize);
            let place = (&raw mut at).cast();
            // SAFETY: a living context; with this flag the pointer is to a `cl_bus_address_amd`, and the caller
            // promises the memory at it.
            unsafe { (api.buffer)(self.0.context, flags, size, place, code) }
        })?;
        let remote = Remote {
            memory: Object {
                device: self.clone(),
                raw: memory,
            },
            queue: Queue::new(self)?,
            length,
        };
        // "Needs to be called explicitly before using this external physical mem object" (AMD's sample,
        // `CLTransferBuffer`).
        // SAFETY: queue and buffer are living ones of one context.
        let code = unsafe {
            let queue = remote.queue.raw;
            (api.migrate)(queue, 1, &raw const memory, 0, 0, null(), null_mut())
        };
        check("clEnqueueMigrateMemObjects", code)?;
        remote.queue.finish()?;
        Ok(remote)
    }
}

/// A `cl_mem` with one reference to it, which is released on drop.
struct Object {
    device: GmaDevice,
    raw: Handle,
}

// SAFETY: as for a context.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Drop for Object {
    fn drop(&mut self) {
        if self.device.is_inherited() {
            return;
        }
        // SAFETY: this releases the reference that was taken. Commands in progress keep theirs.
        unsafe { (self.device.0.api.release_memory)(self.raw) };
    }
}

/// A command queue, in order.
struct Queue {
    device: GmaDevice,
    raw: Handle,
}

// SAFETY: as for a context.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.device.is_inherited() {
            return;
        }
        // SAFETY: the queue is this value's. Commands in progress go on to their ends.
        unsafe { (self.device.0.api.release_queue)(self.raw) };
    }
}

impl Queue {
    fn new(device: &GmaDevice) -> Result<Self> {
        let raw = made("clCreateCommandQueue", |code| {
            // SAFETY: the device is the context's.
            unsafe { (device.0.api.queue)(device.0.context, device.0.device, 0, code) }
        })?;
        Ok(Self {
            device: device.clone(),
            raw,
        })
    }

    /// Begins the commands that were enqueued.
    fn flush(&self) -> Result<()> {
        // SAFETY: a living queue.
        Ok(check("clFlush", unsafe {
            (self.device.0.api.flush)(self.raw)
        })?)
    }

    /// Waits until the enqueued commands have ended.
    fn finish(&self) -> Result<()> {
        // SAFETY: a living queue.
        Ok(check("clFinish", unsafe {
            (self.device.0.api.finish)(self.raw)
        })?)
    }
}

/// GPU memory with a bus address. Clones are the same memory.
#[derive(Clone)]
pub struct BusBuffer(Arc<Bus>);

struct Bus {
    memory: Object,
    /// Queue of the signals alone: a wait delays the commands that follow it in its queue.
    queue: Queue,
    length: u64,
    at: BusAddress,
}

impl fmt::Debug for BusBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BusBuffer")
            .field("device", self.device())
            .field("length", &self.0.length)
            .field("bus_address", &format_args!("{:#x}", self.0.at.surface))
            .finish_non_exhaustive()
    }
}

impl BusBuffer {
    /// Returns its device.
    pub fn device(&self) -> &GmaDevice {
        &self.0.memory.device
    }

    /// Returns the `cl_mem`, for kernels' arguments.
    pub fn raw(&self) -> Handle {
        self.0.memory.raw
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Returns the bus address of the first byte.
    pub fn bus_address(&self) -> u64 {
        self.0.at.surface
    }

    /// Returns the bus address of the 32 bits that [`wait_signal`](Self::wait_signal) waits for.
    pub fn marker_address(&self) -> u64 {
        self.0.at.marker
    }

    /// Registers a part of it at a board whose driver takes bus addresses.
    ///
    /// # Errors
    /// [`Error::Bounds`]; [`Error::BusAddress`] where the driver takes none, as the kernel's; [`Error::Board`] as for
    /// [`Device::register_bus`].
    pub fn register(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = range.end.saturating_sub(range.start);
        if range.end > self.0.length {
            return Err(Error::Bounds {
                offset: range.start,
                length,
                size: self.0.length,
            });
        }
        let start = self.0.at.surface + range.start;
        let region = self.reach(device, start, length, permissions)?;
        let buffer = self.clone();
        // The region has the buffer, so that the buffer is never freed before it.
        let patch = Patch::new(&Gone::default(), move |offset, bytes| {
            buffer.store(range.start + offset, bytes)
        });
        region.pages().set_patch(patch);
        Ok(region)
    }

    /// Makes the GPU store a few bytes, in a queue without commands of the program, and waits for the end.
    fn store(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let queue = Queue::new(self.device())?;
        for (at, byte) in (at as usize..).zip(bytes) {
            let fill = self.device().0.api.fill;
            let from = (&raw const *byte).cast();
            // SAFETY: queue and buffer are living ones of one context, and the byte lies in the buffer. OpenCL copies
            // the pattern.
            let code = unsafe {
                let (queue, memory) = (queue.raw, self.raw());
                fill(queue, memory, from, 1, at, 1, 0, null(), null_mut())
            };
            check("clEnqueueFillBuffer", code)?;
        }
        queue.finish()
    }

    /// Registers the 4 bytes that [`wait_signal`](Self::wait_signal) waits for, so that the board can write them.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_marker(&self, device: &Device) -> Result<GpuRegion> {
        self.reach(device, self.0.at.marker, 4, Permissions::Write)
    }

    fn reach(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let keep = Arc::clone(&self.0);
        // SAFETY: the addresses are those of the buffer, which the region keeps; it is resident for as long as it
        // lives.
        let region = unsafe { device.register_bus(address, length, permissions, keep) };
        match region {
            Ok(region) => GpuRegion::new(region, 0, length),
            Err(peerlane_host::Error::Call { source, .. }) if source == Errno::OPNOTSUPP => {
                Err(Error::BusAddress)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the GPU wait until this number is written to the marker; commands that wait for the signal begin then. Use
    /// another number each time: the marker keeps the last one.
    ///
    /// # Errors
    /// [`Error::OpenClCall`].
    pub fn wait_signal(&self, value: u32) -> Result<Signal> {
        let (context, queue) = (&*self.device().0, &self.0.queue);
        let mut event = null_mut();
        // SAFETY: queue and buffer are living ones of one context, and there is a place for the event.
        let code = unsafe {
            let wait = context.extension.wait_signal;
            wait(queue.raw, self.raw(), value, 0, null(), &raw mut event)
        };
        check("clEnqueueWaitSignalAMD", code)?;
        let signal = Signal::new(self.device(), event)?;
        queue.flush()?;
        Ok(signal)
    }
}

/// A signal that the GPU waits for, or writes, or the end of a copy. Dropping it changes nothing.
pub struct Signal {
    device: GmaDevice,
    event: Handle,
    end: Arc<End>,
}

/// The end of a command, as its callback reports it.
#[derive(Default)]
struct End {
    status: Mutex<Option<i32>>,
    told: Condvar,
}

// SAFETY: as for a context; the rest is shared by locks.
unsafe impl Send for Signal {}
// SAFETY: as above.
unsafe impl Sync for Signal {}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signal")
    }
}

/// Records the end of a command.
///
/// # Safety
/// `user` is an `Arc<End>` that no other code frees.
unsafe extern "C" fn ended(_: Handle, status: i32, user: *mut c_void) {
    // SAFETY: the caller promises it.
    let end = unsafe { Arc::from_raw(user.cast::<End>().cast_const()) };
    *end.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    end.told.notify_all();
}

impl Signal {
    /// Takes ownership of an event.
    fn new(device: &GmaDevice, event: Handle) -> Result<Self> {
        let signal = Self {
            device: device.clone(),
            event,
            end: Arc::default(),
        };
        let user = Arc::into_raw(Arc::clone(&signal.end)).cast_mut().cast();
        // SAFETY: the event is the command's, and the callback takes the argument `user`.
        let code = unsafe { (device.0.api.callback)(event, CL_COMPLETE, Some(ended), user) };
        if code != CL_SUCCESS {
            // SAFETY: no callback comes, so this is the only code that frees it.
            drop(unsafe { Arc::from_raw(user.cast::<End>().cast_const()) });
        }
        check("clSetEventCallback", code)?;
        Ok(signal)
    }

    /// Returns its `cl_event`, for commands that are to wait for it; it lives as long as this value.
    pub fn raw(&self) -> Handle {
        self.event
    }

    /// Waits for it for at most `limit`. Returns whether it has come.
    ///
    /// # Errors
    /// [`Error::OpenClCall`]: the command has failed.
    pub fn wait(&self, limit: Duration) -> Result<bool> {
        let begin = Instant::now();
        let mut status = (self.end.status.lock()).unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(code) = *status {
                check("a signal's command", code.min(CL_COMPLETE))?;
                return Ok(true);
            }
            let left = limit.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            let woken = self.end.told.wait_timeout(status, left);
            status = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        if self.device.is_inherited() {
            return;
        }
        // SAFETY: this releases the reference that the call made.
        unsafe { (self.device.0.api.release_event)(self.event) };
    }
}

/// Other devices' memory that the GPU writes. Its drop waits for all stores.
pub struct Remote {
    memory: Object,
    queue: Queue,
    length: u64,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("device", &self.memory.device)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // A child's copy waits for nothing: the child has none of the runtime's threads.
        if !self.memory.device.is_inherited() {
            // The owner of the memory may use it for something else after this.
            let _ = self.queue.finish();
        }
    }
}

impl Remote {
    /// Returns its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Makes the GPU copy from a buffer of its own to this memory. The stores are on their way when it returns.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::OpenClCall`].
    pub fn push(&self, from: &BusBuffer, at: u64, to: u64, length: u64) -> Result<()> {
        match self.enqueue(from, at, to, length)? {
            Some(copy) => self.begin(copy).map(drop),
            None => Ok(()),
        }
    }

    /// Enqueues a copy, unless it is empty, and returns its event. After an error no copy was enqueued.
    fn enqueue(&self, from: &BusBuffer, at: u64, to: u64, length: u64) -> Result<Option<Handle>> {
        for (offset, size) in [(at, from.length()), (to, self.length)] {
            within(offset, length, size)?;
        }
        if length == 0 {
            return Ok(None);
        }
        let copy = self.memory.device.0.api.copy;
        let [at, to, length] = [at, to, length].map(|number| number as usize);
        let (queue, source, target) = (self.queue.raw, from.raw(), self.memory.raw);
        let mut event = null_mut();
        let end = &raw mut event;
        // SAFETY: queue and buffers are living ones, the ranges lie in them, and there is a place for the event. OpenCL
        // keeps the objects that commands use.
        let code = unsafe { copy(queue, source, target, at, to, length, 0, null(), end) };
        check("clEnqueueCopyBuffer", code)?;
        Ok(Some(event))
    }

    /// Makes the GPU begin a copy that was enqueued. The GPU may begin it also where this fails.
    fn begin(&self, copy: Handle) -> Result<Signal> {
        let end = Signal::new(&self.memory.device, copy)?;
        self.queue.flush()?;
        Ok(end)
    }

    /// Makes the GPU write a number at `offset` of the page for signals, after the bytes that it has pushed.
    ///
    /// # Errors
    /// [`Error::Bounds`] if it is not in the page, or not at a multiple of 4 bytes, and [`Error::OpenClCall`].
    pub fn write_signal(&self, value: u32, offset: u64) -> Result<Signal> {
        if offset > PAGE - 4 || !offset.is_multiple_of(4) {
            return Err(Error::Bounds {
                offset,
                length: 4,
                size: PAGE,
            });
        }
        let device = &self.memory.device;
        let mut event = null_mut();
        // SAFETY: queue and buffer are living ones of one context, and there is a place for the event.
        let code = unsafe {
            let write = device.0.extension.write_signal;
            let (queue, memory) = (self.queue.raw, self.memory.raw);
            write(queue, memory, value, offset, 0, null(), &raw mut event)
        };
        check("clEnqueueWriteSignalAMD", code)?;
        let signal = Signal::new(device, event)?;
        self.queue.flush()?;
        Ok(signal)
    }

    /// Waits until the GPU has sent all of its pushes.
    ///
    /// # Errors
    /// [`Error::OpenClCall`].
    pub fn finish(&self) -> Result<()> {
        self.queue.finish()
    }
}

#[cfg(test)]
mod tests;
