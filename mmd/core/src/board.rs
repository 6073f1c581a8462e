//! A board that is open.

pub(crate) mod gate;

pub(crate) use gate::Gate;

use crate::boards::Found;
use crate::compatible::Looks;
use crate::dma::Dma;
use crate::end::Owed;
use crate::events::{Watch, Writes};
use crate::files::{Closed, Files, Moving};
use crate::handlers::{Handlers, Listener};
use crate::host::HostMemory;
use crate::info::{Flavour, Online, Value};
use crate::messages::{end, guarded, say, vital};
use crate::ops::Operations;
use crate::program::{JTAG_CABLE, JTAG_DEVICE, Programmer};
use crate::registers::Registers;
use crate::resets::Resets;
use crate::rom::{Kernels, WINDOW};
use crate::threads::{join, spawn};
use peerlane_host::{Area, Direction, Errno, Error, OpenCl};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The runtime's number of the kernel interface.
pub const KERNELS: c_int = 0;
/// The runtime's number of the board's memory.
pub const MEMORY: c_int = 1;
/// The runtime's number of the kernels' clock.
pub const CLOCK: c_int = 2;

/// Transfers of up to so many bytes are made in the calling thread: to hand one to another thread takes 6 µs and more
/// of the processor's time (`mmd/contract/benches`), and the time until that thread runs. A board of 3 GB/s moves 18
/// KiB in that time; but the calling thread has the runtime's lock, and waits for the board's latency, too. The
/// break-even point is to be measured on a board.
const INLINE: usize = 4 << 10;

/// The host memory's alignment with which transfers are fastest: a line of the processor's cache.
const ALIGNMENT: usize = 64;

/// `AOCL_MMD_MEM_CAPABILITY_SUPPORTED`: there is memory of this kind.
const SUPPORTED: c_int = 1;

/// A board that is open.
pub(crate) struct Board {
    handle: c_int,
    name: String,
    bus: String,
    number: u32,
    // Dropped first: afterwards the number of a closed file may be another file's.
    _files: Files,
    // The kernels are reset before the memory that they use is freed.
    kernels: Kernels,
    registers: Arc<Registers>,
    looks: Looks,
    pub(crate) side: Arc<dyn OpenCl>,
    resets: Arc<Resets>,
    dma: Dma,
    pub(crate) handlers: Handlers,
    /// Writes to the kernels' registers.
    writes: Writes,
    programmer: Box<dyn Programmer>,
    pub(crate) closing: AtomicBool,
    /// For copies to and from other devices.
    pub(crate) gate: Arc<Gate>,
    /// By direction: to the host, which the block calls a write, and to the board.
    lanes: [Lane; 2],
    operations: Operations,
    threads: Mutex<Vec<JoinHandle<()>>>,
    // Last.
    _closed: Closed,
}

/// Transfers in one direction, one after the other.
#[derive(Default)]
struct Lane {
    jobs: Mutex<Option<Sender<Job>>>,
    /// Transfers that have not ended.
    left: AtomicUsize,
}

/// A transfer with an operation, whose end is to be reported.
struct Job {
    op: usize,
    work: Work,
    owed: Owed,
    listener: Listener,
}

enum Work {
    Move { host: HostMemory, fpga: u64 },
    Copy { from: u64, to: u64, length: usize },
}

/// Returns the text of an error with its hint.
fn told(error: &Error) -> String {
    format!("{error}. {}", error.hint())
}

/// Returns the device name that queries give for a board of a name.
pub(crate) fn device_name(name: &str) -> String {
    format!("{name} (Peerlane)")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Takes a board: its OpenCL side, its memory, a channel. It was found in the course of `moving`.
    pub(crate) fn open(
        handle: c_int,
        name: &str,
        found: Found,
        flavour: Flavour,
        moving: Moving,
    ) -> Result<Arc<Self>, String> {
        // Dropped last here, too.
        let closed = Closed::default();
        let told = |error: Error| told(&error);
        let Found {
            device,
            programmer,
            bus,
            number,
        } = found;
        // One context holds all memory, and only that context gets the OpenCL side.
        let memory = device.allocate_all(0).map_err(|error| match error {
            Error::Memory { source, .. } if source == Errno::BUSY => {
                "another program runs OpenCL kernels on it, or holds all of its memory: end that program"
                    .into()
            }
            error => told(error),
        })?;
        memory.keep();
        let side: Arc<dyn OpenCl> = device.open_cl().map_err(told)?.into();
        // The last copy of the device, which outlives the following objects.
        let last = device.clone();
        let files = [last.file(), side.file()].into_iter().flatten();
        let files = Files::new(files, &closed);
        drop(moving);
        let registers = Arc::new(Registers::new(Arc::clone(&side)));
        let resets = Resets::new(name, Arc::clone(&side)).map_err(told)?;
        let resets = Arc::new(resets);
        let kernels = Kernels::new(Arc::clone(&registers), flavour.open_runtime);
        let looks = Looks::of(flavour);
        if let Some(warning) = looks.at(&registers, &kernels, &*side, device.range())? {
            say(format_args!("{name}: {warning}"));
        }
        let dma = Dma::new(device, Arc::clone(&resets)).map_err(told)?;
        let board = Arc::new(Self {
            handle,
            name: name.into(),
            bus,
            number,
            _files: files,
            kernels,
            registers,
            looks,
            side,
            resets,
            dma,
            handlers: Handlers::default(),
            writes: Writes::default(),
            programmer,
            closing: AtomicBool::new(false),
            gate: Arc::default(),
            lanes: Default::default(),
            operations: Operations::default(),
            threads: Mutex::default(),
            _closed: closed,
        });
        match board.start() {
            Ok(()) => {
                board.gate.open(&board);
                Ok(board)
            }
            Err(error) => {
                board.close();
                Err(format!("no thread: {error}"))
            }
        }
    }

    fn start(self: &Arc<Self>) -> std::io::Result<()> {
        for (index, name) in ["peerlane-write", "peerlane-read"].into_iter().enumerate() {
            let (sender, receiver) = channel();
            let board = Arc::clone(self);
            let thread = spawn(name, move || vital(|| board.work(index, &receiver)))?;
            *lock(&self.lanes[index].jobs) = Some(sender);
            lock(&self.threads).push(thread);
        }
        let board = Arc::clone(self);
        let thread = spawn("peerlane-event", move || {
            let watch = Watch {
                name: &board.name,
                handle: board.handle,
                side: &*board.side,
                handlers: &board.handlers,
                writes: &board.writes,
                look: &|| board.resets.look(),
                closing: &board.closing,
            };
            vital(|| watch.run());
        })?;
        lock(&self.threads).push(thread);
        Ok(())
    }

    /// Ends the board's threads, when all of their transfers have ended. No handler is called any more when this
    /// returns.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        for lane in &self.lanes {
            drop(lock(&lane.jobs).take());
        }
        self.side.wake();
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            join(thread);
        }
    }

    pub(crate) fn handle(&self) -> c_int {
        self.handle
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name that a runtime puts at the end of `CL_DEVICE_NAME`.
    pub(crate) fn device_name(&self) -> String {
        device_name(&self.name)
    }

    pub(crate) fn dma(&self) -> &Dma {
        &self.dma
    }

    /// Answers a query.
    pub(crate) fn info(&self, what: Online) -> Value {
        match what {
            Online::NumKernelInterfaces => Value::Int(1),
            Online::KernelInterfaces => Value::Int(KERNELS),
            Online::PllInterfaces => Value::Int(match self.side.bytes(Area::Clock) {
                0 => -1,
                _ => CLOCK,
            }),
            Online::MemoryInterface => Value::Int(MEMORY),
            Online::Temperature => Value::Float(self.temperature()),
            Online::PcieInfo => Value::Text(self.bus.clone()),
            Online::BoardName => Value::Text(self.device_name()),
            Online::UniqueId => Value::Int(c_int::try_from(self.number).unwrap_or(0)),
            // One each way.
            Online::ConcurrentReads | Online::ConcurrentWrites => Value::Int(1),
            Online::ConcurrentBoth => Value::Int(2),
            Online::HostAlignment | Online::Granularity => Value::Size(ALIGNMENT),
            // The kernels of these BSPs reach the board's memory only.
            Online::DeviceCapabilities => Value::Int(SUPPORTED),
            Online::HostCapabilities => Value::Int(0),
        }
    }

    /// Returns degrees Celsius; 0 where the board has no sensor. The sensor gives the temperature plus 128 in 8 bits
    /// (Altera Temperature Sensor IP Core User Guide UG-01074, table of `tsdcalo`).
    fn temperature(&self) -> f32 {
        let mut raw = [0; 4];
        match self.side.read(Area::Temperature, 0, &mut raw) {
            Ok(()) => f32::from(raw[0]) - 128.0,
            Err(_) => 0.0,
        }
    }

    /// Reads the kernels' registers, or their clock's.
    pub(crate) fn registers_read(&self, interface: c_int, offset: u64, data: &mut [u8]) -> c_int {
        let read = match interface {
            KERNELS => self.kernels.read(offset, data),
            CLOCK => self.registers.read(Area::Clock, offset, data),
            _ => return self.no_interface(interface),
        };
        self.accessed("a register was not read", interface, offset, read)
    }

    /// Writes the kernels' registers, or their clock's.
    pub(crate) fn registers_write(&self, interface: c_int, offset: u64, data: &[u8]) -> c_int {
        let written = match interface {
            KERNELS => {
                // A thread of the program's writes the arguments of a launch to a kernel's registers. Single registers
                // are also written while OpenCL programs the FPGA: those of a profile
                // (`acl_kernel_if_post_pll_config_init`).
                let launches = offset >= WINDOW.start && data.len() > size_of::<u64>();
                if self.writes.note() && launches {
                    self.gate.used();
                }
                self.kernels.write(offset, data)
            }
            CLOCK => self.registers.write(Area::Clock, offset, data),
            _ => return self.no_interface(interface),
        };
        self.accessed("a register was not written", interface, offset, written)
    }

    /// Returns the status of an access to registers: -1 if the board has no such registers. If the board did not take
    /// it, the process ends: the runtime would go on with a wrong segment, or with the bytes that its memory had
    /// before.
    fn accessed(
        &self,
        what: &str,
        interface: c_int,
        offset: u64,
        result: peerlane_host::Result<()>,
    ) -> c_int {
        match result {
            Ok(()) => 0,
            Err(Error::Bounds { .. } | Error::OpenCl { .. }) => self.answer(what, result),
            Err(error) => end(format_args!(
                "{}: {what} (interface {interface}, offset {offset:#x}): {}",
                self.name,
                told(&error)
            )),
        }
    }

    /// Reports the end of an access to registers, which has ended already.
    pub(crate) fn ended(&self, op: Option<usize>, status: c_int) -> c_int {
        if let (Some(op), 0) = (op, status) {
            let listener = self.handlers.listener();
            self.handlers.ended(listener, self.handle, op, Owed::new());
        }
        status
    }

    /// Enables the kernels' interrupt. If that fails now, the thread that waits for the interrupt tries again.
    pub(crate) fn arm(&self) -> c_int {
        match self.side.arm() {
            Err(Error::Gone) => self.answer("the interrupt was not armed", Err(Error::Gone)),
            _ => 0,
        }
    }

    pub(crate) fn no_interface(&self, interface: c_int) -> c_int {
        say(format_args!(
            "{}: there is no interface {interface}",
            self.name
        ));
        -1
    }

    fn answer(&self, what: &str, result: peerlane_host::Result<()>) -> c_int {
        match result {
            Ok(()) => 0,
            Err(error) => {
                say(format_args!("{}: {what}: {}", self.name, told(&error)));
                -1
            }
        }
    }

    /// Moves bytes between the application's memory and the board's. Without `op` they have arrived when this returns.
    /// With `op` the status handler is called, here or later.
    pub(crate) fn transfer(&self, op: Option<usize>, host: HostMemory, fpga: u64) -> c_int {
        let length = host.length();
        let checked = self.dma.check(fpga, length);
        // A buffer with `CL_MEM_USE_HOST_PTR` is host memory. The runtime writes it back to itself when it is unmapped
        // ("When unmapping a mem object, always take the device address", `acl_mem.cpp`). FPGA memory may also have
        // that address; another buffer lies there.
        let itself = host.address() == fpga;
        if itself && (checked.is_err() || host.direction() == Direction::ToFpga) {
            return self.ended(op, 0);
        }
        if let Err(error) = checked {
            return self.answer("a transfer was refused", Err(error));
        }
        let lane = &self.lanes[host.direction() as usize];
        let small = length <= INLINE && lane.left.load(Ordering::SeqCst) == 0;
        self.make(op, small, Work::Move { host, fpga })
    }

    /// Copies memory of the board.
    pub(crate) fn copy(&self, op: Option<usize>, from: u64, to: u64, length: usize) -> c_int {
        let checked = self.dma.check(from, length);
        if let Err(error) = checked.and_then(|()| self.dma.check(to, length)) {
            return self.answer("a copy was refused", Err(error));
        }
        self.make(op, false, Work::Copy { from, to, length })
    }

    /// Makes a transfer; in this thread if it is `small`, or if it has no operation.
    fn make(&self, op: Option<usize>, small: bool, mut work: Work) -> c_int {
        let Some(op) = op else {
            // The runtime reads a printf buffer in this way, and then lets the kernel go on. Its handler may have
            // reported the buffer, but not yet have cleared the stall: then it would clear the next stall.
            self.handlers.until_returned();
            self.run(&mut work, true);
            return 0;
        };
        self.gate.used();
        if self.operations.begin(op, small) {
            return self.begin(op, work);
        }
        self.run(&mut work, false);
        self.ended(Some(op), 0)
    }

    /// Hands a transfer to its lane's thread.
    fn begin(&self, op: usize, work: Work) -> c_int {
        let direction = match &work {
            Work::Move { host, .. } => host.direction(),
            // Either lane would do.
            Work::Copy { .. } => Direction::ToFpga,
        };
        let lane = &self.lanes[direction as usize];
        lane.left.fetch_add(1, Ordering::SeqCst);
        let job = Job {
            op,
            work,
            owed: Owed::new(),
            listener: self.handlers.listener(),
        };
        let jobs = lock(&lane.jobs);
        let sent = jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        drop(jobs);
        if sent {
            return 0;
        }
        lane.left.fetch_sub(1, Ordering::SeqCst);
        if self.operations.ended(op) {
            self.operations.told(op);
        }
        say(format_args!(
            "{}: a transfer was requested after the board was closed",
            self.name
        ));
        -1
    }

    /// The body of a lane's thread.
    fn work(&self, lane: usize, jobs: &Receiver<Job>) {
        for job in jobs {
            let Job {
                op,
                mut work,
                owed,
                listener,
            } = job;
            self.run(&mut work, false);
            self.lanes[lane].left.fetch_sub(1, Ordering::SeqCst);
            if self.operations.ended(op) {
                self.handlers.ended(listener, self.handle, op, owed);
                self.operations.told(op);
            }
        }
    }

    /// Makes a transfer, or ends the process. With `last` it begins after all earlier transfers have ended.
    fn run(&self, work: &mut Work, last: bool) {
        match work {
            Work::Move { host, .. } if host.length() == 0 => {}
            Work::Move { host, fpga } => self.move_bytes(host, *fpga, last),
            Work::Copy { from, to, length } => {
                let copied = self.dma.copy(*from, *to, *length);
                copied.unwrap_or_else(|error| {
                    end(format_args!(
                        "{}: a copy of {length} bytes from FPGA address {from:#x} to {to:#x} failed: {}",
                        self.name,
                        told(&error)
                    ))
                });
            }
        }
    }

    fn move_bytes(&self, host: &mut HostMemory, fpga: u64, last: bool) {
        let length = host.length();
        self.dma.run(host, fpga, last).unwrap_or_else(|error| {
            let way = match host.direction() {
                Direction::ToFpga => "to",
                Direction::FromFpga => "from",
            };
            end(format_args!(
                "{}: a transfer of {length} bytes {way} FPGA address {fpga:#x} failed: {}",
                self.name,
                told(&error)
            ))
        });
    }

    /// Makes the programmer load an image, and checks that this FPGA got it: a programmer that configures another FPGA
    /// reports no error.
    fn load(&self, image: &[u8], keeps: bool) -> peerlane_host::Result<()> {
        // An image that keeps the memory configures the kernels alone, and does not change their interface.
        let marked = !keeps && self.kernels.mark()?;
        self.side.reprogram(keeps, &mut || {
            // It must not unwind through the driver, which has to look for the board afterwards.
            let failed = Err("an error of this library (see above)".into());
            let loaded = guarded(failed, || self.programmer.program(image, &*self.side));
            loaded.map_err(|reason| Error::Program { reason })
        })?;
        if marked && self.kernels.is_marked()? {
            let reason = format!(
                "the programmer reports no error, but this board's FPGA has kept its configuration: the programmer has \
                 configured another FPGA. Set {JTAG_CABLE}_{0} and {JTAG_DEVICE}_{0} to this board's place on JTAG \
                 (`jtagconfig` lists cables and devices). Program the board whose FPGA was configured, and reset its \
                 function, before it is used",
                self.name
            );
            return Err(Error::Program { reason });
        }
        Ok(())
    }

    /// Checks a board whose FPGA was configured again, because the runtime sets it up as when it opened it. -1: the
    /// runtime would end the program.
    fn look_anew(&self) -> c_int {
        let held = self.dma.device().range();
        match (self.looks).at(&self.registers, &self.kernels, &*self.side, held) {
            // A warning that the program accepts was already printed when it opened the board.
            Ok(_) => 0,
            Err(reason) => {
                say(format_args!("{}: programming: {reason}", self.name));
                -1
            }
        }
    }

    /// Loads an image into the FPGA; returns the board's handle, or -1. After a -1 the board is usable only if its
    /// memory was to be kept.
    pub(crate) fn program(&self, image: &[u8], keep: bool) -> c_int {
        let keeps = self.programmer.keeps_memory(image);
        if keep && !keeps {
            // The runtime saves the contents of the memory, and asks again.
            self.gate.unsettle();
            return -1;
        }
        if let Err(reason) = self.programmer.check(image, &*self.side) {
            say(format_args!(
                "{}: the FPGA is not programmed: {reason}",
                self.name
            ));
            return -1;
        }
        if !keep {
            self.gate.unsettle();
        }
        self.handlers.without_interrupt(|| {
            let programmed = self
                .resets
                .programming(|| self.gate.programming(|| self.load(image, keeps)));
            // If a board does not come back, each access would wait.
            let shown = programmed.and_then(|()| self.kernels.changed());
            // Reports the restart to the queue, whose next transfer would fail otherwise.
            let known = self.dma.device().query().map(drop);
            let ended = match self.answer("programming", shown.and(known)) {
                0 => self.look_anew(),
                failed => failed,
            };
            match ended {
                0 => (true, self.handle),
                failed if keep => {
                    let _ = self.side.arm();
                    (false, failed)
                }
                failed => (true, failed),
            }
        })
    }
}
