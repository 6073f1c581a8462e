//! Memory of any OpenCL device as an end of routes: through the host's memory.
//!
//! A platform needs no more than OpenCL 1.1. Copies are non-blocking commands of a queue of the library's own. A thread
//! that waits for a copy sleeps until its callback comes, and polls its state during the wait: NVIDIA's callbacks come
//! up to 8 ms late. So no thread spins, and a wait can have a limit. A program that uses a buffer in commands of its
//! own must end them (`clFinish`) before the copy, and begin others after it.

mod api;

pub use api::Handle;

use crate::engine::{End, Reached, Rest};
use crate::error::{Error, Result};
use crate::side::{Engine, Pending, Piece, Side, Staging, Way, check};
use api::{Api, device_name};
use peerlane_host::{Memory, MemoryKind, Place, Process, words};
use peerlane_opencl_api::sys::{
    CL_COMPLETE, CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE_ALL, CL_EVENT_COMMAND_EXECUTION_STATUS,
    CL_FALSE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE,
    CL_PLATFORM_NAME, CL_PLATFORM_NOT_FOUND_KHR, CL_SUCCESS, CL_TRUE, cl_bool,
};
use peerlane_opencl_api::{check as checked, list, made, text};
use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pauses between two queries of a command's state, from the first wait to any later one.
const PAUSES: Range<Duration> = Duration::from_micros(20)..Duration::from_millis(1);

/// Bytes of the words by which mapped memory of a platform is accessed.
const WORD: usize = size_of::<u64>();

/// A device of an OpenCL platform.
#[derive(Clone)]
pub struct ClDevice(Arc<Context>);

impl fmt::Debug for ClDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClDevice").field(&self.0.name).finish()
    }
}

/// A device, and a context with it alone.
struct Context {
    api: &'static Api,
    /// Made at the first use: a board belongs to one program at a time.
    context: Mutex<Option<Handle>>,
    device: Handle,
    name: String,
    owner: Process,
}

// SAFETY: OpenCL's objects may be used by any thread, and by several at once (OpenCL API 3.0, "Multiple Host Threads").
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Whether this is the child of a fork. It has none of the platform's threads, so that a call may never return, and
    /// it must not release the parent's objects.
    fn is_inherited(&self) -> bool {
        self.owner != Process::current()
    }

    /// Returns the context.
    fn handle(&self) -> Result<Handle> {
        if self.is_inherited() {
            let reason = "this process is the child of a fork, and its parent uses OpenCL";
            return Err(Error::side(&self.name, reason));
        }
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = *context {
            return Ok(context);
        }
        let (api, device) = (self.api, self.device);
        let new = made("clCreateContext", |code| {
            // SAFETY: no properties, one device, no callback.
            unsafe { (api.context)(null(), 1, &raw const device, None, null_mut(), code) }
        })?;
        *context = Some(new);
        Ok(new)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_inherited() {
            return;
        }
        let context = self.context.get_mut();
        if let Some(context) = context.unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: this releases the reference that was taken.
            unsafe { (self.api.release_context)(*context) };
        }
    }
}

/// Lists all devices of all platforms of the machine. This does not use the devices, so it also lists boards that other
/// programs use.
///
/// # Errors
/// [`Error::NoOpenCl`]; [`Error::OpenCl`] if no platform lists its devices.
pub fn devices() -> Result<Vec<ClDevice>> {
    devices_of(Api::get()?)
}

/// Lists the devices of these platforms.
fn devices_of(api: &'static Api) -> Result<Vec<ClDevice>> {
    let platforms = list(
        "clGetPlatformIDs",
        CL_PLATFORM_NOT_FOUND_KHR,
        |n, at, count| {
            // SAFETY: there are places for `n` handles and for the count.
            unsafe { (api.platforms)(n, at, count) }
        },
    )?;
    let mut found = Vec::new();
    let mut failed = None;
    for platform in platforms {
        let name = text("clGetPlatformInfo", |room, to, size| {
            // SAFETY: a platform of the loader's, and there is so much room.
            unsafe { (api.platform_info)(platform, CL_PLATFORM_NAME, room, to, size) }
        });
        let name = name.unwrap_or_else(|_| "a platform without a name".into());
        let devices = list("clGetDeviceIDs", CL_DEVICE_NOT_FOUND, |n, at, count| {
            // SAFETY: a platform of the loader's, and places as above.
            unsafe { (api.devices)(platform, CL_DEVICE_TYPE_ALL, n, at, count) }
        });
        let devices = match devices {
            Ok(devices) => devices,
            // The devices of other platforms can be used.
            Err(error) => {
                failed.get_or_insert(error.into());
                continue;
            }
        };
        for device in devices {
            // SAFETY: a device of the platform.
            let of = unsafe { device_name(api, device) };
            let of = of.unwrap_or_else(|_| "a device without a name".into());
            found.push(ClDevice(Arc::new(Context {
                api,
                context: Mutex::new(None),
                device,
                name: format!("{of} ({name})"),
                owner: Process::current(),
            })));
        }
    }
    match failed {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

impl ClDevice {
    /// Returns its name, with its platform's.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Allocates memory of the device. The device belongs to this program from then on, until all values of it are
    /// dropped.
    ///
    /// # Errors
    /// [`Error::OpenCl`]; a board of another program cannot be used (`CL_DEVICE_NOT_AVAILABLE`).
    pub fn memory(&self, bytes: u64) -> Result<ClMemory> {
        let device = &*self.0;
        let (context, size) = (device.handle()?, bytes as usize);
        let memory = made("clCreateBuffer", |code| {
            // SAFETY: a living context, and no memory of the host's.
            unsafe { (device.api.buffer)(context, CL_MEM_READ_WRITE, size, null_mut(), code) }
        })?;
        Ok(ClMemory(Arc::new(Buffer {
            device: Arc::clone(&self.0),
            memory,
            length: bytes,
        })))
    }
}

/// Memory of an OpenCL device. Clones are the same memory.
#[derive(Clone)]
pub struct ClMemory(Arc<Buffer>);

impl fmt::Debug for ClMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = &*self.0;
        f.debug_struct("ClMemory")
            .field("device", &buffer.device.name)
            .field("length", &buffer.length)
            .finish_non_exhaustive()
    }
}

struct Buffer {
    device: Arc<Context>,
    memory: Handle,
    length: u64,
}

// SAFETY: as for a context.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.device.is_inherited() {
            return;
        }
        // SAFETY: this releases the reference that was taken. Commands in progress keep theirs (OpenCL API 3.0,
        // `clReleaseMemObject`).
        unsafe { (self.device.api.release_memory)(self.memory) };
    }
}

impl ClMemory {
    /// Takes a buffer of the program's own, of so many bytes.
    ///
    /// # Safety
    /// All three are living objects of the machine's OpenCL (`libOpenCL.so.1`); the device is one of the context's, the
    /// buffer belongs to the context, and has `length` bytes.
    ///
    /// # Errors
    /// [`Error::NoOpenCl`] and [`Error::OpenCl`].
    pub unsafe fn over(
        context: Handle,
        device: Handle,
        memory: Handle,
        length: u64,
    ) -> Result<Self> {
        let api = Api::get()?;
        // SAFETY: the caller promises the device.
        let name = unsafe { device_name(api, device) }?;
        // SAFETY: the caller promises the context.
        checked("clRetainContext", unsafe { (api.retain_context)(context) })?;
        let device = Arc::new(Context {
            api,
            context: Mutex::new(Some(context)),
            device,
            name,
            owner: Process::current(),
        });
        // SAFETY: the caller promises the buffer.
        checked("clRetainMemObject", unsafe { (api.retain_memory)(memory) })?;
        Ok(Self(Arc::new(Buffer {
            device,
            memory,
            length,
        })))
    }

    /// Returns the `cl_mem`, for kernels' arguments.
    pub fn raw(&self) -> Handle {
        self.0.memory
    }

    /// Returns its device.
    pub fn device(&self) -> ClDevice {
        ClDevice(Arc::clone(&self.0.device))
    }

    /// Copies into the host's memory.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::OpenCl`].
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        check(self, offset, bytes.len() as u64)?;
        let queue = Commands::new(&self.0.device)?;
        let pointer = bytes.as_mut_ptr().cast();
        queue.blocking(Way::Out, self.0.memory, offset, pointer, bytes.len())
    }

    /// Copies from the host's memory.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::OpenCl`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        check(self, offset, bytes.len() as u64)?;
        let queue = Commands::new(&self.0.device)?;
        let pointer = bytes.as_ptr().cast_mut().cast();
        queue.blocking(Way::In, self.0.memory, offset, pointer, bytes.len())
    }
}

impl Side for ClMemory {
    fn name(&self) -> String {
        self.0.device.name.clone()
    }

    fn length(&self) -> u64 {
        self.0.length
    }

    /// Allocates memory that the platform has pinned: copies from other memory may return only when they have ended
    /// (thesis, chapter 6).
    fn staging(&self, bytes: usize) -> Result<Option<Staging>> {
        Ok(Some(Staging {
            memory: Memory::over(Pinned::new(&self.0.device, bytes)?),
            only: false,
        }))
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        Ok(Box::new(ClEngine {
            queue: Arc::new(Commands::new(&self.0.device)?),
            buffer: self.clone(),
            reached: Reached::new(staging)?,
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        Ok(Box::new(self.device().memory(bytes)?))
    }
}

/// A command queue, in order.
struct Commands {
    device: Arc<Context>,
    queue: Handle,
}

// SAFETY: as for a context.
unsafe impl Send for Commands {}
// SAFETY: as above.
unsafe impl Sync for Commands {}

impl Drop for Commands {
    fn drop(&mut self) {
        if self.device.is_inherited() {
            return;
        }
        // SAFETY: the queue is this value's. Commands in progress go on to their ends.
        unsafe { (self.device.api.release_queue)(self.queue) };
    }
}

impl Commands {
    fn new(device: &Arc<Context>) -> Result<Self> {
        let context = device.handle()?;
        let queue = made("clCreateCommandQueue", |code| {
            // SAFETY: the device is the context's.
            unsafe { (device.api.queue)(context, device.device, 0, code) }
        })?;
        Ok(Self {
            device: Arc::clone(device),
            queue,
        })
    }

    /// Copies between a buffer and memory that outlives the call, and waits.
    fn blocking(
        &self,
        way: Way,
        memory: Handle,
        offset: u64,
        pointer: *mut c_void,
        length: usize,
    ) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let at = offset as usize;
        // SAFETY: the buffer is a living one, the range lies in it, and the pointer's memory is as long.
        unsafe { self.enqueue(way, memory, CL_TRUE, at, length, pointer, null_mut()) }
    }

    /// Enqueues a copy.
    ///
    /// # Safety
    /// The buffer is a living one, the range lies in it, the pointer's memory is as long and stays until the copy has
    /// ended, and `event` is null or a place for an event.
    #[allow(clippy::too_many_arguments, reason = "as OpenCL has them")]
    unsafe fn enqueue(
        &self,
        way: Way,
        memory: Handle,
        wait: cl_bool,
        at: usize,
        length: usize,
        pointer: *mut c_void,
        event: *mut Handle,
    ) -> Result<()> {
        let (api, queue) = (self.device.api, self.queue);
        // SAFETY: by the promise, and the queue is a living one.
        let code = unsafe {
            match way {
                Way::Out => (api.read)(queue, memory, wait, at, length, pointer, 0, null(), event),
                Way::In => (api.write)(queue, memory, wait, at, length, pointer, 0, null(), event),
            }
        };
        Ok(checked(call(way), code)?)
    }
}

/// Returns the name of the function that copies.
fn call(way: Way) -> &'static str {
    match way {
        Way::Out => "clEnqueueReadBuffer",
        Way::In => "clEnqueueWriteBuffer",
    }
}

/// A device's copies between a buffer and staging memory.
struct ClEngine {
    queue: Arc<Commands>,
    buffer: ClMemory,
    reached: Reached,
}

/// Objects that a command uses until it has ended. Its callback keeps none of them: a callback may not release objects
/// of OpenCL, and may not wait for a queue (OpenCL API 3.0, "clSetEventCallback").
type Used = (Arc<Commands>, Reached, ClMemory);

/// A command in progress.
struct Command {
    queue: Arc<Commands>,
    event: Handle,
    call: &'static str,
    /// `None` if there is no callback.
    end: Option<Arc<End<i32>>>,
    /// Taken when the command has ended.
    used: Option<Used>,
    rest: Option<Rest>,
    /// The reason why the command may never begin, or why its end is not reported.
    failed: Option<Error>,
}

// SAFETY: as for a context; the rest is shared by locks.
unsafe impl Send for Command {}

/// Reports the end of a command.
///
/// # Safety
/// `user` is of [`End::to_user`], and no other code takes it.
unsafe extern "C" fn ended(_: Handle, status: i32, user: *mut c_void) {
    // SAFETY: the caller promises it.
    unsafe { End::from_user(user) }.tell(status);
}

impl Engine for ClEngine {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        check(&self.buffer, piece.at, piece.length)?;
        let pointer = self.reached.begin(&piece)?;
        let mut event = null_mut();
        let (at, length) = (piece.at as usize, piece.length as usize);
        let place = &raw mut event;
        // SAFETY: both ranges were checked. The memory stays until the callback of the event has run, and all other
        // accesses to it are by atomics (`Place`).
        unsafe {
            let (way, buffer) = (piece.way, self.buffer.raw());
            (self.queue).enqueue(way, buffer, CL_FALSE, at, length, pointer, place)?;
        }
        let end = Arc::<End<i32>>::default();
        let api = self.queue.device.api;
        let user = end.to_user();
        // SAFETY: the event is the command's, and the callback takes the argument `user`.
        let told = unsafe { (api.callback)(event, CL_COMPLETE, Some(ended), user) };
        let told = checked("clSetEventCallback", told);
        if told.is_err() {
            // SAFETY: no callback comes, so this is the only code that takes it.
            drop(unsafe { End::<i32>::from_user(user) });
        }
        // Begin now, and not at the first wait. A command that could not be flushed may go to the device nevertheless.
        // SAFETY: a living queue.
        let flushed = checked("clFlush", unsafe { (api.flush)(self.queue.queue) });
        Ok(Box::new(Command {
            queue: Arc::clone(&self.queue),
            event,
            call: call(piece.way),
            end: told.is_ok().then_some(end),
            used: Some((
                Arc::clone(&self.queue),
                self.reached.clone(),
                self.buffer.clone(),
            )),
            rest: self.reached.rest(&piece),
            failed: told.and(flushed).err().map(Error::from),
        }))
    }
}

impl Command {
    /// Returns the status with which the command has ended, if it has. Its callback may not have come yet.
    fn ask(&self) -> Option<i32> {
        let api = self.queue.device.api;
        let mut status = CL_COMPLETE + 1;
        // SAFETY: a living event, and a place for a `cl_int`.
        let code = unsafe {
            (api.event_info)(
                self.event,
                CL_EVENT_COMMAND_EXECUTION_STATUS,
                size_of::<i32>(),
                (&raw mut status).cast(),
                null_mut(),
            )
        };
        if code != CL_SUCCESS || status > CL_COMPLETE {
            return None;
        }
        // The query does not make copied bytes visible (OpenCL API 3.0, "clGetEventInfo"); a wait does, and ends at
        // once. The error of a failed command is already known, so the result of the wait does not matter then.
        // SAFETY: one living event.
        let visible = unsafe { (api.wait)(1, &raw const self.event) };
        Some(if status < CL_COMPLETE {
            status
        } else {
            visible
        })
    }

    /// Returns the status of the command, if it ends within `limit`. The objects that it used are released then.
    fn ended(&mut self, limit: Duration) -> Option<i32> {
        let begin = Instant::now();
        let code = loop {
            if let Some(code) = self.ask() {
                break code;
            }
            let waited = begin.elapsed();
            let left = limit.saturating_sub(waited);
            // The delay is only a part of the time that the command took.
            let pause = (waited / 8).clamp(PAUSES.start, PAUSES.end);
            if left.is_zero() {
                break self.end.as_ref()?.told()?;
            }
            let pause = left.min(pause);
            let Some(end) = &self.end else {
                std::thread::sleep(pause);
                continue;
            };
            if let Some(code) = end.wait(pause) {
                break code;
            }
        };
        self.used = None;
        Some(code)
    }
}

impl Pending for Command {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let Some(code) = self.ended(limit) else {
            return Ok(false);
        };
        if code < CL_COMPLETE {
            return Err(Error::OpenCl {
                call: self.call,
                code,
            });
        }
        self.rest.take().map_or(Ok(()), Rest::pass_on)?;
        Ok(true)
    }

    fn end(&mut self, grace: Duration) -> bool {
        self.ended(grace).is_some()
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        if self.queue.device.is_inherited() {
            // The objects that it uses belong to the parent.
            return;
        }
        if let Some(used) = self.used.take()
            && self.ask().is_none()
        {
            keep(self.end.take(), used);
        }
        // SAFETY: this releases the reference that the call made.
        unsafe { (self.queue.device.api.release_event)(self.event) };
    }
}

/// Keeps the objects of a command that no caller waits for any more until the command's end. If the end is not
/// reported, or no thread can be started, they are leaked.
fn keep(end: Option<Arc<End<i32>>>, used: Used) {
    let used = std::mem::ManuallyDrop::new(used);
    let Some(end) = end else { return };
    let wait = move || {
        end.wait_for_good();
        drop(std::mem::ManuallyDrop::into_inner(used));
    };
    let named = std::thread::Builder::new().name("peerlane-opencl".into());
    let _ = named.spawn(wait);
}

/// Memory of the host's that a platform has pinned, in the role of the owner that maps it.
struct Pinned {
    queue: Commands,
    memory: Handle,
    base: *mut c_void,
    length: usize,
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

// SAFETY: as for a context; the memory is accessed by atomics.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    fn new(device: &Arc<Context>, length: usize) -> Result<Self> {
        let queue = Commands::new(device)?;
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        // Whole words, because it is read and written in words.
        let mapped = length.next_multiple_of(WORD);
        let context = device.handle()?;
        let memory = made("clCreateBuffer", |code| {
            // SAFETY: a living context, and no memory of the host's.
            unsafe { (device.api.buffer)(context, flags, mapped, null_mut(), code) }
        })?;
        let mut pinned = Self {
            queue,
            memory,
            base: null_mut(),
            length,
        };
        let access = CL_MAP_READ | CL_MAP_WRITE;
        let queue = pinned.queue.queue;
        pinned.base = made("clEnqueueMapBuffer", |code| {
            // SAFETY: queue and buffer are living ones of one context, the range is all of the buffer, and the call
            // returns when it is mapped.
            unsafe {
                (device.api.map)(
                    queue,
                    memory,
                    CL_TRUE,
                    access,
                    0,
                    mapped,
                    0,
                    null(),
                    null_mut(),
                    code,
                )
            }
        })?;
        if !pinned.base.addr().is_multiple_of(WORD) {
            return Err(Error::side(
                &pinned.queue.device.name,
                "it maps host memory at an odd address",
            ));
        }
        // Its address is given to other APIs as a number.
        let _ = pinned.base.expose_provenance();
        Ok(pinned)
    }

    fn words(&self) -> &[AtomicU64] {
        let count = self.length.div_ceil(WORD);
        // SAFETY: so many whole words are mapped for as long as this lives, at an address that was checked to be a
        // multiple of a word's length, and all references to it are atomics.
        unsafe { std::slice::from_raw_parts(self.base.cast::<AtomicU64>().cast_const(), count) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.queue.device.is_inherited() {
            return;
        }
        let api = self.queue.device.api;
        if !self.base.is_null() {
            // SAFETY: it was mapped there once, and no code uses the address any more.
            unsafe {
                (api.unmap)(
                    self.queue.queue,
                    self.memory,
                    self.base,
                    0,
                    null(),
                    null_mut(),
                );
                (api.finish)(self.queue.queue);
            }
        }
        // SAFETY: this releases the reference that was taken.
        unsafe { (api.release_memory)(self.memory) };
    }
}

// SAFETY: the range is mapped as long as the value lives, at one address, and all references to it are atomics.
unsafe impl Place for Pinned {
    fn kind(&self) -> MemoryKind {
        MemoryKind::Host
    }

    fn address(&self) -> u64 {
        self.base.addr() as u64
    }

    fn length(&self) -> usize {
        self.length
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> peerlane_host::Result<()> {
        words::load(self.words(), offset, bytes);
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> peerlane_host::Result<()> {
        words::store(self.words(), offset, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
