//! The functions of the interface, as the runtime calls them. The unsafe code of the interface is in this module.

mod export;
mod extension;

pub use extension::Events;

use crate::board::{Board, MEMORY};
use crate::boards::Boards;
use crate::end::{at_exit, called};
use crate::files::Moving;
use crate::handlers::{DeviceHandler, InterruptHandler, StatusHandler};
use crate::host::HostMemory;
use crate::info::{Flavour, Offline, Online, Value};
use crate::messages::{guarded, say, vital};
use crate::ops;
use crate::owner::Owner;
use crate::peer::{Lookup, Peers, Process};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// `AOCL_MMD_ERROR_OUT_OF_MEMORY`: there is no memory of the requested kind. (No code says that a board has none at
/// all; its capabilities do.)
const NO_MEMORY: c_int = -2;
/// `AOCL_MMD_ERROR_INVALID_POINTER`.
const INVALID_POINTER: c_int = -5;

/// Text for a program where there is no board: a runtime does not report why it finds no device.
const NO_BOARD: &str = "there is no board: /dev/peerlane0 does not exist, and no board is bound to vfio-pci. Check that the driver is loaded (lsmod) and \
                        that the board is on the bus (lspci -d 1172:). `peerlane doctor` reports the missing part";

/// Text for a child of a fork.
const FORKED: &str = "a forked process cannot use its parent's board: call execve in it";

/// Most bytes of a transfer, of a board's name, of an image: the largest size of an object (`isize::MAX`).
const MOST: usize = isize::MAX as usize;

/// An MMD library: all functions of `aocl_mmd.h` and of `peerlane_ext.h` as methods, for
/// [`export!`](crate::export).
///
/// No call unwinds out of them. A child that a fork makes while a board is open gets errors: the board is the parent's.
pub struct Mmd {
    flavour: Flavour,
    boards: Box<dyn Boards>,
    /// The boards' names at the first query. A runtime asks again each time that it opens a board, and takes the n-th
    /// name for the n-th device (`acl_hal_mmd_try_devices`, `acl_hal_mmd.cpp` of intel/fpga-runtime-for-opencl
    /// v2025.0). A board that has gone since then must not shift the others.
    names: OnceLock<Vec<String>>,
    identity: OnceLock<CString>,
    open: Mutex<Open>,
    owner: Owner,
    pub(crate) peers: Arc<Peers>,
}

#[derive(Default)]
struct Open {
    boards: BTreeMap<c_int, Arc<Board>>,
    /// A handle is never used twice, unless the numbers run out.
    next: c_int,
}

impl Open {
    /// Returns the next handle, which is not in use.
    fn new_handle(&mut self) -> c_int {
        loop {
            let handle = self.next;
            self.next = handle.checked_add(1).unwrap_or(0);
            if !self.boards.contains_key(&handle) {
                return handle;
            }
        }
    }
}

/// Stores an answer.
///
/// # Safety
/// `value` is NULL or good for writes of `room` bytes, `returned` is NULL or good for one of a number.
unsafe fn store(answer: &Value, room: usize, value: *mut c_void, returned: *mut usize) {
    let bytes = if value.is_null() {
        Vec::new()
    } else {
        answer.bytes(room)
    };
    // SAFETY: by the promise, and `bytes` gives no more than `room`.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), bytes.len());
        if !returned.is_null() {
            returned.write(bytes.len());
        }
    }
}

/// Returns the operation of a transfer: NULL is none.
fn operation(op: *mut c_void) -> Option<usize> {
    (!op.is_null()).then(|| op.expose_provenance())
}

impl Mmd {
    /// Makes a library with these boards.
    pub fn new(flavour: Flavour, boards: impl Boards + 'static) -> Self {
        Self::with_lookup(flavour, boards, Process)
    }

    /// Makes a library that finds OpenCL's functions elsewhere than in the process.
    pub fn with_lookup(
        flavour: Flavour,
        boards: impl Boards + 'static,
        lookup: impl Lookup + Send + Sync + 'static,
    ) -> Self {
        Self {
            flavour,
            boards: Box::new(boards),
            names: OnceLock::new(),
            identity: OnceLock::new(),
            open: Mutex::default(),
            owner: Owner::default(),
            peers: Arc::new(Peers::new(lookup)),
        }
    }

    /// `peerlane_mmd_identity`: returns the name of the library, for a program that has only the file. The text stays
    /// valid.
    pub fn identity(&self) -> *const c_char {
        let Flavour { open_runtime, .. } = self.flavour;
        let identity = || {
            let runtimes = match open_runtime {
                true => "the open runtime",
                false => "closed runtimes",
            };
            let package = env!("CARGO_PKG_VERSION");
            let version = self.flavour.version();
            CString::new(format!(
                "Peerlane {package}, for {runtimes}, AOCL_MMD_VERSION {version}"
            ))
            .unwrap_or_default()
        };
        guarded(c"".as_ptr(), || {
            self.identity.get_or_init(identity).as_ptr()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the open boards are another process's: then no lock may be touched either.
    pub(crate) fn is_child(&self) -> bool {
        let child = self.owner.is_another();
        if child {
            say(FORKED);
        }
        child
    }

    /// Lists all open boards by the name that a runtime puts at the end of `CL_DEVICE_NAME`. They may be closed at any
    /// time: a thread that waits for something must not keep them open.
    pub(crate) fn boards(&self) -> Vec<(String, Weak<Board>)> {
        let open = self.lock();
        let boards = open.boards.values();
        boards
            .map(|board| (board.device_name(), Arc::downgrade(board)))
            .collect()
    }

    fn board(&self, handle: c_int) -> Option<Arc<Board>> {
        if self.is_child() {
            return None;
        }
        called();
        ops::call();
        let board = self.lock().boards.get(&handle).cloned();
        if board.is_none() {
            say(format_args!("no open board has the handle {handle}"));
        }
        board
    }

    /// Returns an open board in place of one whose handle is not open. The runtime writes a buffer with
    /// `CL_MEM_USE_HOST_PTR` back to itself when it is unmapped, and takes the board from bits of the host's address
    /// ("When unmapping a mem object, always take the device address", `acl_mem.cpp`): any board may be named.
    fn instead_of(&self, handle: c_int) -> Option<Arc<Board>> {
        if self.owner.is_another() {
            return None;
        }
        let open = self.lock();
        if open.boards.contains_key(&handle) {
            return None;
        }
        let board = open.boards.values().next().cloned();
        drop(open);
        called();
        ops::call();
        board
    }

    /// Calls a function with a board; returns -1 if no board has this handle, or if the function fails.
    fn with(&self, handle: c_int, f: impl FnOnce(&Board) -> c_int) -> c_int {
        guarded(-1, || self.board(handle).map_or(-1, |board| f(&board)))
    }

    /// Does the work of [`with`](Self::with) for functions that move data. The runtime does not check whether these
    /// have failed, or ends the program by an assertion.
    fn moving(&self, handle: c_int, f: impl FnOnce(&Board) -> c_int) -> c_int {
        self.with(handle, |board| vital(|| f(board)))
    }

    /// `aocl_mmd_get_offline_info`.
    ///
    /// # Safety
    /// `value` is NULL or good for writes of `room` bytes, `returned` is NULL or good for one of a number.
    pub unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        guarded(-1, || {
            ops::call();
            let Some(what) = Offline::of(id) else {
                return -1;
            };
            // Looked for outside of a lock: a child of a fork would wait for ever for a thread of its parent's that
            // looks.
            let names = || match self.names.get() {
                Some(names) => names,
                None => {
                    let names = self.boards.names();
                    if names.is_empty() {
                        say(NO_BOARD);
                    }
                    self.names.get_or_init(|| names)
                }
            };
            let answer = match what {
                Offline::Version => Value::Text(self.flavour.version()),
                Offline::NumBoards => Value::Int(c_int::try_from(names().len()).unwrap_or(0)),
                Offline::BoardNames => Value::Text(names().join(";")),
                Offline::VendorName => Value::Text("Peerlane".into()),
                // Altera's number at the PCI SIG, the vendor of the FPGA.
                Offline::VendorId => Value::Int(0x1172),
                Offline::UsesYield => Value::Int(0),
                // Physical memory. This query comes many times for each command.
                Offline::MemTypes => Value::Int(1),
            };
            // SAFETY: by the caller's promise.
            unsafe { store(&answer, room, value, returned) };
            0
        })
    }

    /// `aocl_mmd_get_info`.
    ///
    /// # Safety
    /// As [`get_offline_info`](Self::get_offline_info).
    pub unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        guarded(-1, || {
            let Some(what) = Online::of(id) else {
                return -1;
            };
            let (status, answer) = match self.board(handle) {
                Some(board) => (0, board.info(what)),
                None => (-1, what.nothing()),
            };
            // SAFETY: by the caller's promise.
            unsafe { store(&answer, room, value, returned) };
            status
        })
    }

    /// `aocl_mmd_open`: a handle, or -1.
    ///
    /// # Safety
    /// `name` is NULL or a string that ends with a 0.
    pub unsafe fn open(&self, name: *const c_char) -> c_int {
        guarded(-1, || {
            if name.is_null() {
                return -1;
            }
            let Some(using) = self.owner.begin() else {
                say(FORKED);
                return -1;
            };
            // SAFETY: by the caller's promise.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            at_exit();
            called();
            ops::call();
            let handle = self.lock().new_handle();
            // Without the lock: an open takes seconds where a board fails, and kernels of other boards run.
            let moving = Moving::begin();
            let found = self.boards.open(&name);
            let open = |found| Board::open(handle, &name, found, self.flavour, moving);
            match found.and_then(open) {
                Ok(board) => {
                    using.keep();
                    self.lock().boards.insert(handle, board);
                    handle
                }
                Err(reason) => {
                    let name: &str = match &*name {
                        "" => "a board without a name",
                        name => name,
                    };
                    say(format_args!("{name} cannot be opened: {reason}"));
                    -1
                }
            }
        })
    }

    /// `aocl_mmd_close`.
    pub fn close(&self, handle: c_int) -> c_int {
        guarded(-1, || {
            let Some(board) = self.board(handle) else {
                return -1;
            };
            // A handler that is at work goes on using the handle, and the runtime ends the process if it is refused.
            board.handlers.forget_interrupt();
            self.give_back(handle)
        })
    }

    /// Closes a board; -1 if another thread has done it.
    fn give_back(&self, handle: c_int) -> c_int {
        let board = self.lock().boards.remove(&handle);
        let Some(board) = board else {
            return -1;
        };
        // Before its threads end: a callback of a copy's end may wait for them.
        self.peers.close(handle, &board);
        board.close();
        self.owner.end();
        0
    }

    /// `aocl_mmd_set_interrupt_handler`: from now on the kernels' interrupt is handled.
    ///
    /// # Safety
    /// The function is NULL or can be called with `user` from any thread until another one is set or the
    /// board is closed.
    pub unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int {
        self.with(handle, |board| {
            // SAFETY: by the caller's promise.
            unsafe { board.handlers.set_interrupt(function, user) };
            board.arm()
        })
    }

    /// `aocl_mmd_set_device_interrupt_handler`.
    ///
    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler).
    pub unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int {
        self.with(handle, |board| {
            // SAFETY: by the caller's promise.
            unsafe { board.handlers.set_device(function, user) };
            0
        })
    }

    /// `aocl_mmd_set_status_handler`: for transfers that begin from now on.
    ///
    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler), and after that until all transfers that began with it
    /// have ended.
    pub unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int {
        self.with(handle, |board| {
            // SAFETY: by the caller's promise.
            unsafe { board.handlers.set_status(function, user) };
            0
        })
    }

    /// `aocl_mmd_yield`. There is never work to do; a caller that calls it in a loop lets other threads work.
    pub fn r#yield(&self, _: c_int) -> c_int {
        ops::call();
        std::thread::yield_now();
        0
    }

    /// `aocl_mmd_read`.
    ///
    /// # Safety
    /// `destination` is good for writes of `length` bytes until the transfer has ended, and no other code uses them.
    /// The status handler may be called with `op`.
    pub unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        destination: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        self.moving(handle, |board| {
            if length > MOST || destination.is_null() && length > 0 {
                say("a read into NULL, or of too many bytes");
                return -1;
            }
            // SAFETY: by the caller's promise.
            let mut host = unsafe { HostMemory::destination(destination, length) };
            if interface == MEMORY {
                let queued = !op.is_null();
                let (to, from) = (destination.addr(), offset as u64);
                self.peers.probes.saw(to, length, queued, handle, from);
                return board.transfer(operation(op), host, offset as u64);
            }
            let data = host.bytes_mut(0..length);
            let status = board.registers_read(interface, offset as u64, data);
            board.ended(operation(op), status)
        })
    }

    /// `aocl_mmd_write`.
    ///
    /// # Safety
    /// `source` is good for reads of `length` bytes until the transfer has ended, and no other code writes them. The
    /// status handler may be called with `op`.
    pub unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        source: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        let itself = interface == MEMORY && source.addr() == offset;
        if itself && let Some(board) = self.instead_of(handle) {
            return guarded(-1, || board.ended(operation(op), 0));
        }
        self.moving(handle, |board| {
            if length > MOST || source.is_null() && length > 0 {
                say("a write from NULL, or of too many bytes");
                return -1;
            }
            // SAFETY: by the caller's promise.
            let host = unsafe { HostMemory::source(source, length) };
            if interface == MEMORY {
                return board.transfer(operation(op), host, offset as u64);
            }
            let data = host.bytes(0..length);
            let status = board.registers_write(interface, offset as u64, data);
            board.ended(operation(op), status)
        })
    }

    /// `aocl_mmd_copy`.
    pub fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int {
        self.moving(handle, |board| match interface {
            MEMORY => board.copy(operation(op), from as u64, to as u64, length),
            interface => board.no_interface(interface),
        })
    }

    /// `aocl_mmd_program`: returns a handle, or -1.
    ///
    /// After a -1 the board is closed, unless its memory was to be kept: a runtime then has the -1 for its handle
    /// (`acl_hal_mmd_program_device`, `acl_hal_mmd.cpp` of intel/fpga-runtime-for-opencl v2025.0). It treats a call of
    /// its handler with any other handle as an error that ends the program, and never closes the board. If memory was
    /// to be kept, it goes on with the handle that it has.
    ///
    /// # Safety
    /// `image` is NULL or good for reads of `size` bytes.
    pub unsafe fn program(
        &self,
        handle: c_int,
        image: *mut c_void,
        size: usize,
        mode: c_int,
    ) -> c_int {
        /// `AOCL_MMD_PROGRAM_PRESERVE_GLOBAL_MEM`.
        const KEEP: c_int = 1;
        let keep = mode & KEEP != 0;
        self.with(handle, |board| {
            let programmed = guarded(-1, || {
                if image.is_null() || size > MOST {
                    say("a program whose image is NULL or too large");
                    return -1;
                }
                // SAFETY: by the caller's promise.
                let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) };
                board.program(image, keep)
            });
            if programmed < 0 && !keep {
                self.give_back(handle);
            }
            programmed
        })
    }

    /// `aocl_mmd_host_alloc`, `aocl_mmd_shared_alloc` and `aocl_mmd_shared_mem_alloc`: the kernels of these
    /// boards reach no memory of the host, and the boards' capabilities say so.
    ///
    /// # Safety
    /// `error` is NULL or good for a write.
    pub unsafe fn no_memory(&self, error: *mut c_int) -> *mut c_void {
        if !error.is_null() {
            // SAFETY: by the caller's promise.
            unsafe { error.write(NO_MEMORY) };
        }
        std::ptr::null_mut()
    }

    /// `aocl_mmd_free`: no memory is this library's.
    pub fn free(&self, _: *mut c_void) -> c_int {
        INVALID_POINTER
    }

    /// `aocl_mmd_hostchannel_create` and `aocl_mmd_hostchannel_destroy`: these BSPs have no host channels.
    pub fn no_channel(&self) -> c_int {
        say("this board has no host channels");
        -1
    }

    /// `aocl_mmd_hostchannel_get_buffer` and `aocl_mmd_hostchannel_ack_buffer`, which answer with NULL and
    /// 0.
    ///
    /// # Safety
    /// `bytes` and `status` are NULL or good for a write.
    pub unsafe fn no_buffer(&self, bytes: *mut usize, status: *mut c_int) {
        // SAFETY: by the caller's promise.
        unsafe {
            if !bytes.is_null() {
                bytes.write(0);
            }
            if !status.is_null() {
                status.write(-1);
            }
        }
    }
}

/// Makes the symbols of an MMD library: `export!(Flavour, boards, program)` for runtimes that program by
/// `aocl_mmd_program`, `export!(Flavour, boards, reprogram)` for those that do by `aocl_mmd_reprogram`.
///
/// Two of them cannot be in one program.
#[macro_export]
macro_rules! export {
    ($flavour:expr, $boards:expr, $programming:ident) => {
        mod symbols {
            use std::ffi::{c_char, c_int, c_void};
            use std::sync::LazyLock;
            use $crate::{DeviceHandler, InterruptHandler, Mmd, StatusHandler};

            static MMD: LazyLock<Mmd> = LazyLock::new(|| Mmd::new($flavour, $boards));

            $crate::symbols! {
                peerlane_mmd_identity() -> *const c_char { MMD.identity() }
                aocl_mmd_get_offline_info(id: c_int, room: usize, value: *mut c_void, returned: *mut usize)
                    -> c_int { MMD.get_offline_info(id, room, value, returned) }
                aocl_mmd_get_info(
                    handle: c_int, id: c_int, room: usize, value: *mut c_void, returned: *mut usize
                ) -> c_int { MMD.get_info(handle, id, room, value, returned) }
                aocl_mmd_open(name: *const c_char) -> c_int { MMD.open(name) }
                aocl_mmd_close(handle: c_int) -> c_int { MMD.close(handle) }
                aocl_mmd_set_interrupt_handler(
                    handle: c_int, function: Option<InterruptHandler>, user: *mut c_void
                ) -> c_int { MMD.set_interrupt_handler(handle, function, user) }
                aocl_mmd_set_device_interrupt_handler(
                    handle: c_int, function: Option<DeviceHandler>, user: *mut c_void
                ) -> c_int { MMD.set_device_interrupt_handler(handle, function, user) }
                aocl_mmd_set_status_handler(
                    handle: c_int, function: Option<StatusHandler>, user: *mut c_void
                ) -> c_int { MMD.set_status_handler(handle, function, user) }
                aocl_mmd_yield(handle: c_int) -> c_int { MMD.r#yield(handle) }
                aocl_mmd_read(
                    handle: c_int, op: *mut c_void, length: usize, destination: *mut c_void,
                    interface: c_int, offset: usize
                ) -> c_int { MMD.read(handle, op, length, destination, interface, offset) }
                aocl_mmd_write(
                    handle: c_int, op: *mut c_void, length: usize, source: *const c_void,
                    interface: c_int, offset: usize
                ) -> c_int { MMD.write(handle, op, length, source, interface, offset) }
                aocl_mmd_copy(
                    handle: c_int, op: *mut c_void, length: usize, interface: c_int, from: usize, to: usize
                ) -> c_int { MMD.copy(handle, op, length, interface, from, to) }
                aocl_mmd_shared_mem_alloc(_handle: c_int, _size: usize, _device: *mut u64) -> *mut c_void {
                    MMD.no_memory(std::ptr::null_mut())
                }
                aocl_mmd_shared_mem_free(_handle: c_int, _memory: *mut c_void, _size: usize) -> () { () }
                aocl_mmd_hostchannel_create(
                    _handle: c_int, _name: *mut c_char, _depth: usize, _direction: c_int
                ) -> c_int { MMD.no_channel() }
                aocl_mmd_hostchannel_destroy(_handle: c_int, _channel: c_int) -> c_int { MMD.no_channel() }
                aocl_mmd_hostchannel_get_buffer(
                    _handle: c_int, _channel: c_int, bytes: *mut usize, status: *mut c_int
                ) -> *mut c_void {{ MMD.no_buffer(bytes, status); std::ptr::null_mut() }}
                aocl_mmd_hostchannel_ack_buffer(
                    _handle: c_int, _channel: c_int, _bytes: usize, status: *mut c_int
                ) -> usize {{ MMD.no_buffer(std::ptr::null_mut(), status); 0 }}
            }
            $crate::$programming! { MMD }
            $crate::extension! { MMD }
        }
    };
}

/// Functions of these names in the C ABI.
#[doc(hidden)]
#[macro_export]
macro_rules! symbols {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty { $body:expr })*) => {$(
        /// The function of this name in `aocl_mmd.h` or `peerlane_ext.h`, or the one that identifies the library.
        ///
        /// # Safety
        /// As the method of [`Mmd`](peerlane_mmd_core::Mmd) that it calls.
        // SAFETY: the name is the interface's, and no other library of a program may have it.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "they are the interface's names")]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: by the caller's promise.
            #[allow(unused_unsafe, reason = "some are safe")]
            unsafe { $body }
        }
    )*};
}

/// The symbols of runtimes that program by `aocl_mmd_program`.
#[doc(hidden)]
#[macro_export]
macro_rules! program {
    ($mmd:ident) => {
        $crate::symbols! {
            aocl_mmd_program(handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int {
                $mmd.program(handle, image, size, mode)
            }
            aocl_mmd_host_alloc(
                _handles: *mut c_int, _devices: usize, _size: usize, _alignment: usize,
                _properties: *mut c_int, error: *mut c_int
            ) -> *mut c_void { $mmd.no_memory(error) }
            aocl_mmd_shared_alloc(
                _handle: c_int, _size: usize, _alignment: usize, _properties: *mut c_int,
                error: *mut c_int
            ) -> *mut c_void { $mmd.no_memory(error) }
            aocl_mmd_free(memory: *mut c_void) -> c_int { $mmd.free(memory) }
        }
    };
}

/// The symbols of runtimes that program by `aocl_mmd_reprogram`.
#[doc(hidden)]
#[macro_export]
macro_rules! reprogram {
    ($mmd:ident) => {
        $crate::symbols! {
            aocl_mmd_reprogram(handle: c_int, image: *mut c_void, size: usize) -> c_int {
                $mmd.program(handle, image, size, 0)
            }
        }
    };
}
