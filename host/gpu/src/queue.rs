//! A board's channel that a GPU uses.

mod program;
mod stop;

use crate::cuda::{Gpu, GpuBuffer, Ordering};
use crate::error::{Error, Result};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::{self, CUstreamCaptureStatus as Status};
use peerlane_host::peerlane_core::record::Record;
use peerlane_host::peerlane_core::regs;
use peerlane_host::{
    Device, Direction, Error as BoardError, Fault, HeldRegion, Permissions, RawChannel, Request,
    peerlane_core::region::RegionError,
};
pub(crate) use program::Event;
use program::Program;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of `struct peerlane_gpu_queue` of `peerlane_gpu.h`.
const STATE_BYTES: usize = 48;

/// Bytes of the steps' results, after the state: the record of the last step that has failed, and counts.
const RESULT_BYTES: usize = 48;

/// Offset of the counts of steps and bytes in the results, which are last.
const COUNTS_AT: usize = RESULT_BYTES - 8;

/// Reads of the results until two agree, at most: each step that fails changes them.
const TRIES: usize = 16;

/// The longest time that the GPU waits for a step: a lost step must not stop it for ever.
const LONGEST: Duration = Duration::from_secs(3600);

/// A board's channel that a GPU uses: it writes descriptors, rings doorbells and reads records by itself.
///
/// Steps are enqueued on streams ([`enqueue`](Self::enqueue)) and captured into graphs ([`capture`](Self::capture));
/// they take turns at the queue. A kernel of the program's own gets [`address`](Self::address), and includes
/// `peerlane_gpu.h`: no step, and no other such kernel, runs concurrently with it.
///
/// The drop waits for the steps that were enqueued, and stops the channel. Regions of steps are
/// [held](peerlane_host::Region::hold) until then: a graph can be launched at any time, and entries of an unregistered
/// region become another region's. A kernel of the program's own must hold its regions itself.
///
/// # On a board
/// The page is that of `/dev/peerlane*`, which CUDA maps by `cuMemHostRegister` with `CU_MEMHOSTREGISTER_IOMEMORY`.
/// NVIDIA's driver permits that to administrators, and to all users where its registry says so (`options nvidia
/// NVreg_RegistryDwords="PeerMappingOverride=1;"` in a file of `/etc/modprobe.d`), and not on all kernels. It keeps the
/// mapping, independently of Peerlane's driver: a process that may do this can ring the doorbells of its channel's page
/// even after the channel was taken from it. None of this was tried for want of a board; all else was, with the block's
/// RTL and a page in memory (`docs/gpu-results.md`).
pub struct GpuQueue {
    /// State and result.
    state: Arc<GpuBuffer>,
    step: Arc<Program>,
    last: Mutex<Last>,
    mapped: Arc<Mapped>,
    device: Device,
}

/// State of the queue that the host knows.
struct Last {
    /// Events, each after a step that was enqueued and may not have run, the last step's at the end. Streams end in any
    /// order.
    behind: VecDeque<Arc<Event>>,
    /// A step has no event after it.
    lost: bool,
    /// Regions that steps have named, and whether one writes them.
    regions: Vec<(HeldRegion, bool)>,
    /// Failures that were reported.
    late: u32,
    failed: u32,
}

impl Last {
    /// Returns an event that has nothing before it: one that was reached, or a new one.
    fn event(&mut self, gpu: &Gpu) -> Result<Arc<Event>> {
        // An event that a thread waits for stays as it is.
        let is_free = |event: &Arc<Event>| Arc::strong_count(event) == 1 && event.is_reached();
        let has_free = self.behind.front().is_some_and(is_free);
        match has_free.then(|| self.behind.pop_front()).flatten() {
            Some(first) => Ok(first),
            None => Event::new(gpu).map(Arc::new),
        }
    }
}

impl std::fmt::Debug for GpuQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuQueue")
            .field("state", &self.state)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// The way that steps of a queue have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes that the last step has moved.
    pub bytes: u32,
    /// Steps that the queue has begun, failed ones included.
    pub steps: u32,
}

/// Memory of this process that the GPU accesses.
pub(crate) struct Registered {
    gpu: Gpu,
    host: *mut c_void,
    address: sys::CUdeviceptr,
}

// SAFETY: CUDA's registration of a range, which any thread may release; nothing is accessed through it here.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    /// Registers registers of a device, or memory, by the first of these flags that CUDA takes.
    ///
    /// # Safety
    /// The range stays mapped for as long as this lives.
    pub(crate) unsafe fn new(
        gpu: &Gpu,
        base: NonNull<u8>,
        bytes: usize,
        flags: [u32; 2],
    ) -> Result<Self> {
        let _bound = gpu.bind()?;
        let driver = gpu.driver();
        let host = base.as_ptr().cast::<c_void>();
        let register = |flags| {
            let flags = flags | sys::CU_MEMHOSTREGISTER_DEVICEMAP;
            // SAFETY: the caller promises the range.
            let code = unsafe { (driver.host_register)(host, bytes, flags) };
            driver.check("cuMemHostRegister", code)
        };
        let [first, second] = flags;
        register(first).or_else(|error| register(second).map_err(|_| error))?;
        let mut registered = Self {
            gpu: gpu.clone(),
            host,
            address: 0,
        };
        let place = &raw mut registered.address;
        // SAFETY: the range was just registered.
        let code = unsafe { (driver.host_address)(place, host, 0) };
        driver.check("cuMemHostGetDevicePointer", code)?;
        Ok(registered)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: the range was registered, this unregisters it once, and no kernel that uses it runs.
        let _ = self.gpu.give_back(|| unsafe {
            let _ = (self.gpu.driver().host_unregister)(self.host);
        });
    }
}

/// A channel's page and ring, for the GPU.
struct Mapped {
    _page: Registered,
    _ring: Registered,
}

impl Mapped {
    /// Maps page and ring, and writes the queue's state.
    fn new(gpu: &Gpu, channel: &RawChannel, state: &GpuBuffer) -> Result<Self> {
        let ring_bytes = channel.slots() as usize * regs::Completion::SIZE;
        // NVIDIA's driver needs the frames of a device's mapping, and does not fault them in.
        for offset in (0..ring_bytes).step_by(4096) {
            // SAFETY: the ring is mapped for loads, and its length a multiple of a dword.
            let dword = unsafe { channel.ring().add(offset).cast::<u32>().read_volatile() };
            std::hint::black_box(dword);
        }
        let registers = sys::CU_MEMHOSTREGISTER_IOMEMORY;
        // SAFETY: both are mapped for as long as the device's context lives, and the queue keeps the device.
        let (page, ring) = unsafe {
            (
                // In a test, a page in memory takes the place of the board's.
                Registered::new(gpu, channel.page(), channel.page_bytes(), [registers, 0])?,
                // The ring is memory, which the driver may have mapped like registers.
                Registered::new(gpu, channel.ring(), ring_bytes, [0, registers])?,
            )
        };
        let mut words = Vec::new();
        words.extend(page.address.to_le_bytes());
        words.extend(ring.address.to_le_bytes());
        words.extend(channel.slots().to_le_bytes());
        state.write(0, &words)?;
        Ok(Self {
            _page: page,
            _ring: ring,
        })
    }
}

impl GpuQueue {
    /// Takes a device's channel over, in place of its [`Queue`](peerlane_host::Queue). After an error the device has
    /// its channel back.
    ///
    /// # Errors
    /// [`Error::NoFlush`] where the GPU does not order peers' writes for their owner, so that the work after a step
    /// would not see its data; as [`Device::hand_over`]; and [`Error::Cuda`].
    pub fn new(gpu: &Gpu, device: &Device) -> Result<Self> {
        if gpu.abilities().ordering < Ordering::Owner {
            return Err(Error::NoFlush {
                gpu: gpu.bus().into(),
            });
        }
        let step = Arc::new(Program::step(gpu)?);
        let event = Event::new(gpu)?;
        let state = gpu.plain_buffer((STATE_BYTES + RESULT_BYTES) as u64)?;
        let channel = device.hand_over()?;
        match Mapped::new(gpu, &channel, &state) {
            Ok(mapped) => Ok(Self {
                state: Arc::new(state),
                step,
                last: Mutex::new(Last {
                    behind: VecDeque::from([Arc::new(event)]),
                    lost: false,
                    regions: Vec::new(),
                    late: 0,
                    failed: 0,
                }),
                mapped: Arc::new(mapped),
                device: device.clone(),
            }),
            Err(error) => {
                // No step was launched, so the channel is unused, unless another process has the device's file.
                let _ = device.take_back();
                Err(error)
            }
        }
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the address of its `struct peerlane_gpu_queue` in GPU memory: an argument for kernels.
    pub fn address(&self) -> u64 {
        self.state.address()
    }

    /// Makes a stream execute a transfer, after the work that was enqueued on it before, and wait for its end for at
    /// most `limit`. The limit includes the time in which steps of other streams use the queue; a step that gets the
    /// queue too late is not begun. Work that is enqueued next sees the data. The host takes no part, and a failure
    /// does not stop the stream: [`outcome`](Self::outcome) reports it afterwards.
    ///
    /// # Errors
    /// As [`Device::describe`], which also refuses a write that begins or ends inside of a dword, for a board that
    /// writes whole dwords only: here no thread copies the ends. [`Error::Board`] for a write to a region that the
    /// board may not read, too: by reading it makes sure that data have arrived; [`Error::Foreign`];
    /// [`Error::Capturing`]; [`Error::Cuda`].
    pub fn enqueue(
        &self,
        stream: &CudaStream,
        request: &Request<'_>,
        limit: Duration,
    ) -> Result<()> {
        let stream = self.own(stream)?;
        // SAFETY: a living stream of the queue's context.
        unsafe { self.enqueue_on(stream, request, limit) }
    }

    /// Returns the stream, if it is of the queue's context.
    fn own(&self, stream: &CudaStream) -> Result<sys::CUstream> {
        match stream.context().cu_ctx() == self.state.gpu().context() {
            true => Ok(stream.cu_stream()),
            false => Err(Error::Foreign),
        }
    }

    /// # Safety
    /// The stream is a living one of the queue's context, or that context's default stream.
    unsafe fn enqueue_on(
        &self,
        stream: sys::CUstream,
        request: &Request<'_>,
        limit: Duration,
    ) -> Result<()> {
        // A context's default stream has no handle of its own: it is that of the thread's current context ("Stream
        // synchronization behavior").
        let _bound = self.state.gpu().bind()?;
        // SAFETY: the caller promises the stream.
        if unsafe { self.status(stream) }? != Status::CU_STREAM_CAPTURE_STATUS_NONE as c_int {
            return Err(Error::Capturing);
        }
        let mut last = self.lock();
        let event = last.event(self.state.gpu())?;
        // SAFETY: the caller promises the stream, which is not captured.
        let begun = unsafe { self.launch(&mut last, stream, request, limit) };
        let recorded = begun.and_then(|()| {
            let recorded = event.record(stream);
            last.lost |= recorded.is_err();
            recorded
        });
        match recorded {
            Ok(()) => last.behind.push_back(event),
            // The event has nothing before it.
            Err(_) => last.behind.push_front(event),
        }
        recorded
    }

    /// Does the work of [`enqueue`](Self::enqueue) for a stream that is being captured: the step becomes a node of its
    /// graph.
    ///
    /// # Safety
    /// No launch of the graph is in progress when the queue is dropped, and none comes after.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue), but [`Error::NotCapturing`] in place of [`Error::Capturing`].
    pub unsafe fn capture(
        &self,
        stream: &CudaStream,
        request: &Request<'_>,
        limit: Duration,
    ) -> Result<()> {
        let stream = self.own(stream)?;
        // SAFETY: a living stream of the queue's context; the caller promises the rest.
        unsafe { self.capture_on(stream, request, limit) }
    }

    /// # Safety
    /// As [`capture`](Self::capture); the stream is a living one of the queue's context.
    unsafe fn capture_on(
        &self,
        stream: sys::CUstream,
        request: &Request<'_>,
        limit: Duration,
    ) -> Result<()> {
        let _bound = self.state.gpu().bind()?;
        // A step that runs at once would have no event after it that the drop could wait for.
        // SAFETY: the caller promises the stream.
        if unsafe { self.status(stream) }? != Status::CU_STREAM_CAPTURE_STATUS_ACTIVE as c_int {
            return Err(Error::NotCapturing);
        }
        // SAFETY: the caller promises it.
        unsafe { self.launch(&mut self.lock(), stream, request, limit) }
    }

    /// Returns the `CUstreamCaptureStatus` of a stream. The queue's context is the thread's.
    ///
    /// # Safety
    /// The stream is a living one of the queue's context, or that context's default stream.
    unsafe fn status(&self, stream: sys::CUstream) -> Result<c_int> {
        let driver = self.state.gpu().driver();
        let mut status = 0;
        // SAFETY: the caller promises the stream; the second argument is a place for its state.
        let code = unsafe { (driver.stream_capture)(stream, &raw mut status) };
        driver.check("cuStreamIsCapturing", code)?;
        Ok(status)
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Safety
    /// As [`enqueue_on`](Self::enqueue_on). Steps that are captured do not run any more when the queue has been
    /// dropped.
    unsafe fn launch(
        &self,
        last: &mut Last,
        stream: sys::CUstream,
        request: &Request<'_>,
        limit: Duration,
    ) -> Result<()> {
        let direction: u32 = match request.direction {
            Direction::FromFpga => 0,
            Direction::ToFpga => 1,
        };
        let [peer, local, rest] = self.admit(last, request)?;
        let limit = limit.min(LONGEST).as_nanos() as u64;
        let (state, result) = (self.address(), self.address() + STATE_BYTES as u64);
        let mut arguments: [*mut c_void; 7] = [
            (&raw const state).cast_mut().cast(),
            (&raw const result).cast_mut().cast(),
            (&raw const direction).cast_mut().cast(),
            (&raw const peer).cast_mut().cast(),
            (&raw const local).cast_mut().cast(),
            (&raw const rest).cast_mut().cast(),
            (&raw const limit).cast_mut().cast(),
        ];
        // SAFETY: the arguments are the kernel's, in their order. The objects that it uses live as long as the queue,
        // which waits for kernels when it is dropped; for captured steps the caller promises it.
        unsafe { self.step.launch(stream, &mut arguments) }
    }

    /// Returns the descriptor of a request, in three words. Its region is held from now on.
    fn admit(&self, last: &mut Last, request: &Request<'_>) -> Result<[u64; 3]> {
        let &Request {
            direction, region, ..
        } = request;
        let writes = direction == Direction::FromFpga;
        let permissions = region.permissions();
        if writes && permissions == Permissions::Write {
            let direction = Direction::ToFpga;
            return Err(Error::Board(BoardError::Region(RegionError::Permission {
                direction,
                permissions,
            })));
        }
        if region.is_doubted() {
            return Err(Error::Board(BoardError::Doubted));
        }
        // The cookie is the GPU's own.
        let dwords = self.device.describe(request, 0)?;
        let quad = |low: usize| u64::from(dwords[low + 1]) << 32 | u64::from(dwords[low]);
        let mut known = last.regions.iter_mut();
        match known.find(|(held, _)| held.region().handle() == region.handle()) {
            Some((_, written)) => *written |= writes,
            None => last.regions.push((region.hold()?, writes)),
        }
        Ok([quad(0), quad(2), quad(4)])
    }

    /// Reads the results of steps as they are now.
    fn results(&self) -> Result<[u8; RESULT_BYTES]> {
        let mut bytes = [0; RESULT_BYTES];
        self.state.read(STATE_BYTES as u64, &mut bytes)?;
        Ok(bytes)
    }

    /// Reports how steps have ended, after all that were enqueued; wait for graphs by their streams before this call. A
    /// failure is reported once: the last one, if there were several since the previous call.
    ///
    /// # Errors
    /// [`Error::Transfer`]; [`Error::Late`], also where the board was started again, or has refused the doorbell;
    /// [`Error::Cuda`].
    pub fn outcome(&self) -> Result<Outcome> {
        // A step may take as long as its limit, and other threads may stop it during the wait. Streams end in any
        // order.
        let behind: Vec<_> = self.lock().behind.iter().cloned().collect();
        for event in behind {
            event.synchronize()?;
        }
        let mut last = self.lock();
        // A step that another thread has enqueued since may write its own result.
        let mut bytes = self.results()?;
        for _ in 0..TRIES {
            let again = self.results()?;
            // Steps and bytes go on as long as a graph is launched again and again. A failure writes the rest.
            let same = again[..COUNTS_AT] == bytes[..COUNTS_AT];
            bytes = again;
            if same {
                break;
            }
        }
        let (words, _) = bytes.as_chunks::<4>();
        let word = |index: usize| u32::from_le_bytes(words[index]);
        let (late, failed) = (word(8), word(9));
        let (is_late, has_failed) = (late != last.late, failed != last.failed);
        if has_failed {
            last.failed = failed;
            let record = Record::decode(&std::array::from_fn(word));
            let outcome = record.map(|record| record.outcome);
            // A status that no record has is not from the board.
            let fault = outcome.ok().and_then(Result::err);
            return Err(Error::Transfer(fault.unwrap_or(Fault::Descriptor)));
        }
        if is_late {
            last.late = late;
            return Err(Error::Late);
        }
        Ok(Outcome {
            bytes: word(11),
            steps: word(10),
        })
    }
}

impl Drop for GpuQueue {
    fn drop(&mut self) {
        // A child's copy stops nothing, and does not wait for its parent's locks.
        if self.state.gpu().is_inherited() {
            return;
        }
        let rests = {
            let last = self.lock();
            let mut behind = last.behind.iter();
            !last.lost && behind.all(|event| event.synchronize().is_ok())
        };
        if !rests {
            // The GPU may still run a step: the objects that it uses stay.
            std::mem::forget((Arc::clone(&self.state), Arc::clone(&self.mapped)));
            std::mem::forget((Arc::clone(&self.step), self.device.clone()));
            std::mem::forget(std::mem::take(&mut self.lock().regions));
            return;
        }
        // A late transfer may still be in progress. A board that is gone has none in progress.
        let stopped = self.device.stop(Duration::ZERO);
        // The bytes that a transfer sent before it was ended must arrive, too.
        let regions = std::mem::take(&mut self.lock().regions);
        for (held, written) in &regions {
            if *written {
                // After an error the driver unregisters the region instead of caching it.
                let _ = held.region().flush();
            }
            if stopped.is_err() {
                held.region().do_not_keep();
            }
        }
    }
}

#[cfg(test)]
mod tests;
