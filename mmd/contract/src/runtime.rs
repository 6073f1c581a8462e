//! The runtime's calls, in its order and with its values, from its threads.

use crate::Calls;
use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Bits of a kernel's status: it has finished; its printf buffer is full; that was emptied.
pub const DONE: u32 = 1 << 1;
/// See [`DONE`].
pub const STALLED: u32 = 1 << 3;
/// See [`DONE`].
pub const UNSTALL: u32 = 1 << 4;

/// Places in the registers of a kernel of version 5 (`acl_kernel_if.cpp`): start, bytes in the printf buffer,
/// launches that have finished, dimensions of the work, arguments.
pub const START: u64 = 0x08;
/// See [`START`].
pub const PRINTF: u64 = 0x0c;
/// See [`START`].
pub const FINISH: u64 = 0x30;
/// See [`START`].
pub const WORK: u64 = 0x38;
/// See [`START`].
pub const ARGUMENTS: u64 = 0x80;

/// Registers of version 3 have no start, which is bit 0 of the status, and no counter: software clears [`DONE`].
const OLD_PRINTF: u64 = 0x04;
const OLD_WORK: u64 = 0x28;
const OLD_ARGUMENTS: u64 = 0x60;

/// Place where the registers of the kernel that adds begin, in the kernels' address space.
pub const CSR: u32 = 0x1000;

/// Objects that handlers are called with.
static KEPT: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());

/// Limit of all waits: longer than any operation takes, on a simulated board in a virtual machine, too.
pub const LIMIT: Duration = Duration::from_secs(180);

/// Time for which a handler's thread may be preempted.
const PREEMPTED: Duration = Duration::from_millis(20);

/// Versions of an MMD, as the runtime takes them.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Version(pub f64);

/// Versions that an MMD may report, and that change the runtime's queries.
pub const VERSIONS: [Version; 6] = [
    Version(13.1),
    Version(14.0),
    Version(14.1),
    Version(18.1),
    Version(20.3),
    Version(24.2),
];

/// Calls of the handlers.
#[derive(Debug, Default)]
pub struct Heard {
    /// Operations that have ended, and how often.
    pub ended: BTreeMap<usize, usize>,
    /// Statuses that were not 0.
    pub failed: usize,
    /// Launches that have finished.
    pub finished: u32,
    /// A kernel waits for its printf buffer to be read.
    pub stalled: Option<u32>,
    /// Calls of the interrupt handler.
    pub interrupts: usize,
    /// Calls with another handle than the current one.
    pub strange: usize,
}

/// State of an open board that the handlers use.
pub struct Shared {
    mmd: &'static dyn Calls,
    handle: Mutex<c_int>,
    /// Calls of the handlers.
    pub heard: Mutex<Heard>,
    told: Condvar,
    /// The window's segment, as it was written last; `None`: it was not written yet. The same segment is not written
    /// again, also after changes of the board. The runtime has a lock for it; this is that lock.
    window: Mutex<Option<u32>>,
    /// Place where the registers of the kernel that has jobs begin.
    kernel: AtomicU32,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("handle", &self.handle)
            .field("heard", &self.heard)
            .finish_non_exhaustive()
    }
}

/// The runtime with one board open.
#[derive(Debug)]
pub struct Runtime {
    /// State that the handlers use.
    pub shared: Arc<Shared>,
    /// Names of the kernels' interface, their clock and the memory.
    pub interfaces: [c_int; 3],
    /// Transfers at a time, both directions together.
    pub duplex: c_int,
}

unsafe extern "C" fn status(handle: c_int, user: *mut c_void, op: *mut c_void, status: c_int) {
    // SAFETY: it was set with a pointer to this, which is never freed.
    let shared = unsafe { &*user.cast::<Shared>() };
    let mut heard = shared.heard.lock().unwrap();
    heard.strange += usize::from(handle != *shared.handle.lock().unwrap());
    heard.failed += usize::from(status != 0);
    *heard.ended.entry(op.addr()).or_default() += 1;
    shared.told.notify_all();
}

/// Reads the kernel's registers itself, as the runtime's handler does.
unsafe extern "C" fn interrupt(handle: c_int, user: *mut c_void) {
    // SAFETY: as above.
    let shared = unsafe { &*user.cast::<Shared>() };
    let strange = handle != *shared.handle.lock().unwrap();
    let now = shared.csr(0);
    let old = now >> 16 == 3;
    let hear = |told: &dyn Fn(&mut Heard)| {
        told(&mut shared.heard.lock().unwrap());
        shared.told.notify_all();
    };
    hear(&|heard| {
        heard.interrupts += 1;
        heard.strange += usize::from(strange);
    });
    if now & STALLED != 0 {
        let printed = shared.csr(if old { OLD_PRINTF } else { PRINTF });
        let without = shared.csr(0) & !STALLED & 0xffff;
        // First the application is notified, then the stall is cleared. Other threads may run in between.
        hear(&|heard| heard.stalled = Some(printed));
        std::thread::sleep(PREEMPTED);
        shared.set_csr(0, &without.to_le_bytes());
    } else if now & DONE != 0 {
        let finished = match old {
            true => 1,
            false => shared.csr(FINISH),
        };
        if old {
            shared.set_csr(0, &[0; 4]);
            shared.csr(0);
        }
        hear(&|heard| heard.finished += finished);
    }
}

impl Shared {
    fn handle(&self) -> c_int {
        *self.handle.lock().unwrap()
    }

    /// Reads, and waits for the end; returns the library's result.
    pub fn read(&self, interface: c_int, offset: usize, data: &mut [u8]) -> c_int {
        let none = std::ptr::null_mut();
        let to = data.as_mut_ptr().cast();
        // SAFETY: the call blocks.
        unsafe { (self.mmd).read(self.handle(), none, data.len(), to, interface, offset) }
    }

    /// Writes, and waits for the end; returns the library's result.
    pub fn write(&self, interface: c_int, offset: usize, data: &[u8]) -> c_int {
        let none = std::ptr::null_mut();
        let from = data.as_ptr().cast();
        // SAFETY: the call blocks.
        unsafe { (self.mmd).write(self.handle(), none, data.len(), from, interface, offset) }
    }

    /// Reads with an operation, and waits for the end.
    pub fn read_op(&self, interface: c_int, op: usize, offset: usize, data: &mut [u8]) {
        let before = self.count(op);
        let pointer = std::ptr::without_provenance_mut(op);
        let to = data.as_mut_ptr().cast();
        // SAFETY: `data` lives until the end was heard.
        let begun =
            unsafe { (self.mmd).read(self.handle(), pointer, data.len(), to, interface, offset) };
        assert_eq!(begun, 0);
        self.until("a read", |heard| {
            heard.ended.get(&op) == Some(&(before + 1))
        });
    }

    fn count(&self, op: usize) -> usize {
        let heard = self.heard.lock().unwrap();
        heard.ended.get(&op).copied().unwrap_or(0)
    }

    /// Waits for a call of a handler.
    pub fn until(&self, what: &str, heard: impl Fn(&Heard) -> bool) {
        let end = Instant::now() + LIMIT;
        let mut state = self.heard.lock().unwrap();
        while !heard(&state) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {what}");
            state = self.told.wait_timeout(state, left).unwrap().0;
        }
        assert_eq!((state.failed, state.strange), (0, 0));
    }

    /// Closes the board. After a programming that has failed there is no handle to close.
    pub fn close(&self) {
        let handle = self.handle();
        let expected = if handle < 0 { -1 } else { 0 };
        assert_eq!(self.mmd.close(handle), expected);
    }

    /// Reads a register of the kernel interface.
    pub fn register(&self, offset: usize) -> u32 {
        let mut bytes = [0; 4];
        assert_eq!(self.read(0, offset, &mut bytes), 0);
        u32::from_le_bytes(bytes)
    }

    /// Writes a register of the kernel interface.
    pub fn set_register(&self, offset: usize, value: u32) {
        assert_eq!(self.write(0, offset, &value.to_le_bytes()), 0);
    }

    /// Uses another kernel from now on.
    pub fn use_kernel(&self, csr: u32) {
        let _alone = self.window.lock().unwrap();
        self.kernel.store(csr, Ordering::Relaxed);
    }

    /// Makes the window show the kernel's registers. Returns their place in the kernel interface.
    fn show(&self, segment: &mut Option<u32>) -> usize {
        let kernel = self.kernel.load(Ordering::Relaxed);
        let wanted = kernel & !0xfff;
        if *segment != Some(wanted) {
            self.set_register(0x20, wanted);
            *segment = Some(wanted);
        }
        0x1000 + (kernel & 0xfff) as usize
    }

    /// Reads a register of the kernel.
    pub fn csr(&self, at: u64) -> u32 {
        let mut segment = self.window.lock().unwrap();
        let place = self.show(&mut segment) + at as usize;
        self.register(place)
    }

    /// Writes registers of the kernel.
    pub fn set_csr(&self, at: u64, data: &[u8]) {
        let mut segment = self.window.lock().unwrap();
        let place = self.show(&mut segment) + at as usize;
        assert_eq!(self.write(0, place, data), 0);
    }
}

impl Runtime {
    /// Does the work of every context creation, down to the segment's last write.
    pub fn open(mmd: &'static dyn Calls, name: &str, version: Version) -> Option<(Self, Vec<u8>)> {
        let name = CString::new(name).unwrap();
        // SAFETY: it ends with a 0.
        let handle = unsafe { mmd.open(name.as_ptr()) };
        if handle < 0 {
            return None;
        }
        let runtime = Self::over(mmd, handle, version);
        runtime.set_status();
        runtime.pll();
        let shared = &runtime.shared;
        let versions = [0, 0, 0].map(|offset| shared.register(offset));
        assert!(versions.iter().all(|version| *version == versions[0]));
        let rom = runtime.rom(versions[0]);
        for _ in 0..2 {
            shared.set_register(0x30, 0);
            assert_ne!(shared.register(0x30), 0);
        }
        runtime.set_interrupt();
        shared.csr(0);
        Some((runtime, rom))
    }

    /// Makes a runtime for a board that is open.
    pub fn over(mmd: &'static dyn Calls, handle: c_int, version: Version) -> Self {
        let info = |id| int(mmd, handle, id);
        let interfaces = [2, 3, 4].map(info);
        let duplex = match version >= Version(18.1) {
            true => {
                let [reads, writes, both] = [9, 10, 11].map(info);
                assert!(reads == writes && (both == reads || both == 2 * reads));
                both
            }
            false => 1,
        };
        if version >= Version(20.3) {
            // There is no memory that kernels reach by the host's pointer.
            assert_eq!([13, 14].map(|id| info(id) & 1), [0, 0]);
        }
        let shared = Shared {
            mmd,
            handle: Mutex::new(handle),
            heard: Mutex::default(),
            told: Condvar::new(),
            window: Mutex::new(None),
            kernel: AtomicU32::new(CSR),
        };
        Self {
            shared: Arc::new(shared),
            interfaces,
            duplex,
        }
    }

    /// Returns the board's handle.
    pub fn handle(&self) -> c_int {
        self.shared.handle()
    }

    /// Returns the pointer that the handlers are called with. Its target lives as long as the process, because the
    /// handlers may be called until then.
    fn user(&self) -> *mut c_void {
        KEPT.lock().unwrap().push(Arc::clone(&self.shared));
        Arc::as_ptr(&self.shared).cast_mut().cast()
    }

    /// Sets the handler of transfers' ends.
    pub fn set_status(&self) {
        // SAFETY: the handler takes this pointer.
        let set = unsafe {
            (self.shared.mmd).set_status_handler(self.handle(), Some(status), self.user())
        };
        assert_eq!(set, 0);
    }

    /// Sets the handlers of interrupts.
    pub fn set_interrupt(&self) {
        let (mmd, handle) = (self.shared.mmd, self.handle());
        // SAFETY: the handler takes this pointer.
        let set = unsafe { mmd.set_interrupt_handler(handle, Some(interrupt), self.user()) };
        assert_eq!(set, 0);
        // SAFETY: there is no handler.
        let set = unsafe { mmd.set_device_interrupt_handler(handle, None, std::ptr::null_mut()) };
        assert_eq!(set, 0);
    }

    /// Sets up the PLL of 28 nm again (`acl_pll.cpp`), with the one setting in its ROM.
    fn pll(&self) {
        let clock = self.interfaces[1];
        let read = |offset| {
            let mut bytes = [0; 4];
            assert_eq!(self.shared.read(clock, offset, &mut bytes), 0);
            u32::from_le_bytes(bytes)
        };
        let write = |offset, value: u32| {
            assert_eq!(self.shared.write(clock, offset, &value.to_le_bytes()), 0);
        };
        let locked = || {
            let begin = Instant::now();
            while read(0x120) != 1 {
                assert!(begin.elapsed() < LIMIT, "the kernels' clock does not lock");
            }
        };
        let reset = || {
            write(0x110, 1);
            assert_eq!(read(0x110), 1);
            locked();
        };
        // The halves of a counter, and its odd bit; it is bypassed where it counts nothing.
        let counter = |x: u32| match x {
            0 | 1 => 1 << 16,
            _ => ((x % 2) << 17) | (x.div_ceil(2) << 8) | (x / 2),
        };
        let code = |codes: &[u32], value| codes.iter().position(|code| *code == value).unwrap();
        assert_eq!(read(0), 0xa0c0_0001);
        let [khz, m, n, k, c0, c1, r, cp, div] = std::array::from_fn(|at| read(0x400 + 4 * at));
        assert!(khz > 0 && read(0x400 + 36) == 0, "one setting");
        let resistors = [
            18_000, 16_000, 14_000, 12_000, 10_000, 8000, 6000, 4000, 2000, 1000, 500,
        ];
        let pumps = [5, 10, 20, 30, 40];
        reset();
        for (offset, value) in [
            (0x200, 1),
            (0x210, counter(m)),
            (0x21c, k),
            (0x20c, counter(n)),
            (0x214, counter(c0)),
            (0x214, counter(c1) | 1 << 18),
            (0x220, code(&resistors, r) as u32),
            (0x224, code(&pumps, cp) as u32),
            (0x270, u32::from(div == 1)),
            (0x208, 1),
        ] {
            write(offset, value);
        }
        let begin = Instant::now();
        while read(0x204) != 1 {
            assert!(begin.elapsed() < LIMIT, "the clock is not set up");
        }
        locked();
        reset();
    }

    /// Returns the autodiscovery text.
    fn rom(&self, version: u32) -> Vec<u8> {
        let shared = &self.shared;
        let mut text = match version {
            0xa0c0_0001 => {
                let mut text = vec![0xaa; 4096];
                assert_eq!(shared.read(0, 0x2000, &mut text), 0);
                text
            }
            0xa0c0_0002 => {
                shared.set_register(0x30, 0);
                shared.set_register(0x20, 0x3fff_f000);
                let digits = [0x1ff8, 0x1ffc].map(|at| shared.register(at).to_le_bytes());
                let digits = digits.concat();
                let length = std::str::from_utf8(&digits).unwrap();
                let length = usize::from_str_radix(length, 16).unwrap();
                let size = 1 << ((length + 8).ilog2() + 1);
                let mut address = 0x4000_0000 - size;
                let mut text = Vec::new();
                while text.len() < length {
                    let base = address & !0xfff;
                    shared.set_register(0x20, base as u32);
                    // Word by word.
                    let word = shared.register(0x1000 + (address - base));
                    text.extend(word.to_le_bytes());
                    address += 4;
                }
                text.truncate(length);
                text
            }
            other => panic!("kernel interface of version {other:#x}"),
        };
        text.truncate(
            text.iter()
                .position(|byte| *byte == 0)
                .unwrap_or(text.len()),
        );
        text
    }

    /// Waits for a call of a handler.
    pub fn until(&self, what: &str, heard: impl Fn(&Heard) -> bool) {
        self.shared.until(what, heard);
    }

    /// Writes with an operation, and waits for the end, so the memory is free afterwards.
    pub fn write_op(&self, op: usize, offset: usize, data: &[u8]) {
        let before = self.count(op);
        // SAFETY: `data` lives until the end was heard.
        unsafe { self.begin(op, offset, data) };
        self.until("a write", |heard| {
            heard.ended.get(&op) == Some(&(before + 1))
        });
    }

    /// Begins such a transfer without a wait for its end.
    pub fn begin_write(&self, op: usize, offset: usize, data: &'static [u8]) {
        // SAFETY: they live as long as the process.
        unsafe { self.begin(op, offset, data) };
    }

    /// # Safety
    /// The bytes live, and no other code writes them, until the end was reported.
    unsafe fn begin(&self, op: usize, offset: usize, data: &[u8]) {
        let (mmd, memory) = (self.shared.mmd, self.interfaces[2]);
        let pointer = std::ptr::without_provenance_mut(op);
        let from = data.as_ptr().cast();
        // SAFETY: by the caller's promise.
        let begun = unsafe { mmd.write(self.handle(), pointer, data.len(), from, memory, offset) };
        assert_eq!(begun, 0);
    }

    /// See [`write_op`](Self::write_op).
    pub fn read_op(&self, op: usize, offset: usize, data: &mut [u8]) {
        self.shared.read_op(self.interfaces[2], op, offset, data);
    }

    /// See [`write_op`](Self::write_op).
    pub fn copy_op(&self, op: usize, from: usize, to: usize, length: usize) {
        let before = self.count(op);
        let pointer = std::ptr::without_provenance_mut(op);
        let memory = self.interfaces[2];
        let begun = (self.shared.mmd).copy(self.handle(), pointer, length, memory, from, to);
        assert_eq!(begun, 0);
        self.until("a copy", |heard| {
            heard.ended.get(&op) == Some(&(before + 1))
        });
    }

    fn count(&self, op: usize) -> usize {
        self.shared.count(op)
    }

    /// Launches the kernel with three pointers.
    pub fn launch(&self, count: u32, pointers: [u64; 3]) {
        self.launch_with(count, &pointers.map(u64::to_le_bytes).concat());
    }

    /// Launches the kernel with the bytes of the arguments.
    pub fn launch_with(&self, count: u32, arguments: &[u8]) {
        let one = |word: u32| word.to_le_bytes();
        // Dimensions, work-group size, global size, groups, local size, padding; then the global offset.
        let words = [1, count, count, 1, 1, 1, 1, 1, count, 1, 1, 0];
        let mut work: Vec<u8> = words.into_iter().flat_map(one).collect();
        if self.shared.csr(0) >> 16 == 3 {
            work.truncate(44);
            work.extend([0; 12]);
            self.shared.set_csr(OLD_WORK, &work);
            self.shared.set_csr(OLD_ARGUMENTS, arguments);
            let start = self.shared.csr(0) & 0xffff | 1;
            self.shared.set_csr(0, &one(start));
            return;
        }
        work.extend([0; 24]);
        self.shared.set_csr(WORK, &work);
        self.shared.set_csr(ARGUMENTS, arguments);
        self.shared.set_csr(START, &one(1));
    }

    /// Makes the next launch, which writes only the changed bytes: here 13 bytes, with odd ends.
    pub fn relaunch(&self, changed: u64, bytes: &[u8]) {
        self.shared.set_csr(ARGUMENTS + changed, bytes);
        self.shared.set_csr(START, &1_u32.to_le_bytes());
    }

    /// Does the work of an application's thread when a kernel has stalled on its printf buffer.
    pub fn serve_printf(&self, buffer: usize) -> Vec<u8> {
        self.until("a stall", |heard| heard.stalled.is_some());
        let length = self.shared.heard.lock().unwrap().stalled.take().unwrap();
        let mut bytes = vec![0; length as usize];
        assert_eq!(self.shared.read(self.interfaces[2], buffer, &mut bytes), 0);
        let on = self.shared.csr(0) & 0xffff | UNSTALL;
        self.shared.set_csr(0, &on.to_le_bytes());
        bytes
    }

    /// Waits until so many launches have finished.
    pub fn until_finished(&self, launches: u32) {
        self.until("a kernel", |heard| heard.finished >= launches);
    }

    /// Programs the FPGA. `false`: the memory cannot be kept (mode 1), or the programming has failed. Without memory to
    /// keep, each answer is the board's handle from then on (`acl_hal_mmd_program_device`).
    pub fn program(&self, image: &mut [u8], mode: c_int) -> bool {
        let (mmd, handle) = (self.shared.mmd, self.handle());
        let data = image.as_mut_ptr().cast();
        // SAFETY: the call blocks.
        let new = unsafe { mmd.program(handle, data, image.len(), mode) };
        if mode == 0 || new >= 0 {
            *self.shared.handle.lock().unwrap() = new;
        }
        if new < 0 {
            return false;
        }
        self.set_status();
        self.shared.set_register(0x30, 0);
        assert_ne!(self.shared.register(0x30), 0);
        self.pll();
        self.shared.set_register(0x30, 0);
        assert_ne!(self.shared.register(0x30), 0);
        self.set_interrupt();
        self.shared.csr(0);
        true
    }

    /// Closes the board; the state of the handlers stays.
    pub fn close(self) -> Arc<Shared> {
        self.shared.close();
        self.shared
    }
}

/// Queries a number of a board.
pub fn int(mmd: &dyn Calls, handle: c_int, id: c_int) -> c_int {
    let mut value: c_int = -77;
    let to = (&raw mut value).cast();
    // SAFETY: there is room for a number, and none is needed for its size.
    unsafe { mmd.get_info(handle, id, size_of::<c_int>(), to, std::ptr::null_mut()) };
    value
}
