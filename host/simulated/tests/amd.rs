//! AMD's GPUs on the simulated board: dma-bufs by HSA, and DirectGMA. The GPU is a mock (`tests/fake-amd`).

#[path = "../../../tests/fake-amd/mod.rs"]
mod fake_amd;

use fake_amd::FakeAmd;
use libloading::Library;
use peerlane_core::regs::csr;
use peerlane_gpu::Error;
use peerlane_gpu::amd::{AmdGpu, AmdMemory};
use peerlane_gpu::directgma::{self, Aperture, GmaDevice, GmaMemory, PAGE};
use peerlane_hdl::Params;
use peerlane_host::driver::{Driver, Options as DriverOptions};
use peerlane_host::{Device, Direction, Memory, MemoryKind, Permissions};
use peerlane_routes::{Board, Limits, Options, Order, Piece, Route, Routes, Side, Verdict, Way};
use peerlane_sim::{BoardConfig, Space};
use peerlane_simulated::SimBoard;
use peerlane_verilated::Library as Model;
use std::ffi::c_void;
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const KIB: u64 = 1 << 10;

/// `enum fake_fault`.
#[derive(Clone, Copy)]
#[repr(C)]
enum Fault {
    None,
    Refused,
    Short,
    Shifted,
    NoFile,
    NotResident,
    NoExtension,
    NoFunctions,
    #[expect(dead_code, reason = "of other tests")]
    Stuck,
    Stale,
    StaleRegister,
    StaleForEver,
    Kept,
    Untold,
}

type OnStore = unsafe extern "C" fn(u64, *const c_void, usize, *mut c_void);

/// The mock's own functions.
struct Fake {
    _files: FakeAmd,
    hsa: Library,
    hip: Library,
    cl: Library,
}

/// Returns the mock without faults, for one test at a time.
fn fake() -> (MutexGuard<'static, ()>, &'static Fake) {
    static TURN: Mutex<()> = Mutex::new(());
    static LOADED: OnceLock<Fake> = OnceLock::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = LOADED.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fake-amd");
        let files = FakeAmd::new(&sources);
        // SAFETY: nothing runs when they are loaded.
        let load = |name| unsafe { Library::new(files.path(name)) }.unwrap();
        Fake {
            hsa: load("libhsa-runtime64.so.1"),
            hip: load("libamdhip64.so.6"),
            cl: load("libOpenCL.so.1"),
            _files: files,
        }
    });
    loaded.fault(Fault::None);
    loaded.devices(1);
    (turn, loaded)
}

impl Fake {
    fn fault(&self, fault: Fault) {
        for (library, name) in [
            (&self.hsa, "fake_hsa_fault"),
            (&self.hip, "fake_hip_fault"),
            (&self.cl, "fake_cl_fault"),
        ] {
            // SAFETY: the function of this name has this type.
            unsafe {
                let set = library.get::<unsafe extern "C" fn(Fault)>(name.as_bytes());
                set.unwrap()(fault);
            }
        }
    }

    fn count(&self, library: &Library, name: &str) -> i32 {
        // SAFETY: the function of this name has this type.
        unsafe {
            library
                .get::<unsafe extern "C" fn() -> i32>(name.as_bytes())
                .unwrap()()
        }
    }

    /// Sets the number of GPUs from now on.
    fn devices(&self, count: i32) {
        // SAFETY: the function of this name has this type.
        unsafe {
            let set = self
                .hip
                .get::<unsafe extern "C" fn(i32)>(b"fake_hip_devices");
            set.unwrap()(count);
        }
    }

    /// Returns the thread's device.
    fn current(&self) -> i32 {
        let mut device = -1;
        // SAFETY: the function of this name has this type.
        let code = unsafe {
            type Get = unsafe extern "C" fn(*mut i32) -> i32;
            self.hip.get::<Get>(b"hipGetDevice").unwrap()(&raw mut device)
        };
        assert_eq!(code, 0);
        device
    }

    fn make_current(&self, device: i32) {
        // SAFETY: the function of this name has this type.
        let code = unsafe {
            let set = self
                .hip
                .get::<unsafe extern "C" fn(i32) -> i32>(b"hipSetDevice");
            set.unwrap()(device)
        };
        assert_eq!(code, 0);
    }

    /// Returns the device that has memory.
    fn device_of(&self, address: u64) -> i32 {
        // SAFETY: the function of this name has this type.
        unsafe {
            let of = self
                .hsa
                .get::<unsafe extern "C" fn(u64) -> i32>(b"fake_device");
            of.unwrap()(address)
        }
    }

    fn allocations(&self) -> i32 {
        self.count(&self.hsa, "fake_allocations")
    }

    /// Returns the number of pages of the aperture that are taken.
    fn pages(&self) -> i32 {
        self.count(&self.cl, "fake_gma_pages")
    }

    /// Allocates memory as a program does: `hipMalloc` or `hipHostMalloc`.
    fn malloc(&self, size: usize, of_host: bool) -> u64 {
        let mut address = std::ptr::null_mut();
        // SAFETY: the functions of these names have these types.
        let code = unsafe {
            match of_host {
                false => {
                    type Malloc = unsafe extern "C" fn(*mut *mut c_void, usize) -> i32;
                    self.hip.get::<Malloc>(b"hipMalloc").unwrap()(&raw mut address, size)
                }
                true => {
                    type Malloc = unsafe extern "C" fn(*mut *mut c_void, usize, u32) -> i32;
                    let malloc = self.hip.get::<Malloc>(b"hipHostMalloc").unwrap();
                    malloc(&raw mut address, size, 0)
                }
            }
        };
        assert_eq!(code, 0);
        address.expose_provenance() as u64
    }

    fn free(&self, address: u64) {
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        // SAFETY: the function of this name has this type.
        let code = unsafe {
            let free = self
                .hip
                .get::<unsafe extern "C" fn(*mut c_void) -> i32>(b"hipFree");
            free.unwrap()(address)
        };
        assert_eq!(code, 0);
    }

    /// Returns the aperture of DirectGMA: its bus addresses, and its address in the process.
    fn aperture(&self) -> (Range<u64>, u64) {
        let (mut bus, mut at, mut length) = (0, 0, 0);
        type Tell = unsafe extern "C" fn(*mut u64, *mut u64, *mut u64);
        // SAFETY: the function of this name has this type.
        unsafe {
            let tell = self.cl.get::<Tell>(b"fake_gma_aperture").unwrap();
            tell(&raw mut bus, &raw mut at, &raw mut length);
        }
        (bus..bus + length, at)
    }

    /// Sets the function that takes the GPU's stores to other devices.
    fn on_store(&self, store: OnStore, user: *mut c_void) {
        type Set = unsafe extern "C" fn(OnStore, *mut c_void);
        // SAFETY: the function of this name has this type.
        unsafe { self.cl.get::<Set>(b"fake_gma_on_store").unwrap()(store, user) };
    }

    /// Returns the one device with DirectGMA.
    fn directgma(&self) -> GmaDevice {
        let mut devices = directgma::devices().unwrap();
        assert_eq!(devices.len(), 1, "{devices:?}");
        devices.remove(0)
    }
}

fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

fn open() -> (SimBoard, Driver) {
    static LIBRARY: OnceLock<Model> = OnceLock::new();
    let params = Params::default();
    let library =
        LIBRARY.get_or_init(|| peerlane_block::library(&params).expect("the block as a model"));
    let board = SimBoard::new(library.instance().unwrap(), BoardConfig::default()).unwrap();
    let options = DriverOptions {
        port_timeout_cycles: Some(10_000),
        ..DriverOptions::default()
    };
    let driver = board.drive(&options).unwrap();
    (board, driver)
}

/// Opens a board that takes the mock's dma-bufs.
fn with_files() -> (SimBoard, Driver) {
    let (board, driver) = open();
    // SAFETY: the mock makes no file shorter, and its memory is accessed by copying when transfers have ended.
    unsafe { board.admit_files() };
    (board, driver)
}

/// Opens a board with the mock's aperture on its bus.
fn with_aperture(fake: &Fake) -> (SimBoard, Driver) {
    let (board, driver) = open();
    let (bus, at) = fake.aperture();
    // SAFETY: the aperture stays, and is accessed by copying when transfers have ended.
    unsafe { board.add_peer(bus, at) };
    (board, driver)
}

fn no_strays(board: &SimBoard) {
    assert_eq!(board.with(|board| board.bus_mut().stray_total()), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_dma_buf_is_moved_both_ways_and_kept_by_its_region() {
    let (_turn, fake) = fake();
    let before = fake.allocations();
    const LENGTH: u64 = 300_001;
    let (board, driver) = with_files();
    let device = driver.open().unwrap();
    let fpga = device.allocate(LENGTH).unwrap();
    let queue = device.queue().unwrap();

    assert_eq!(AmdGpu::count().unwrap(), 1);
    let gpu = AmdGpu::open(0).unwrap();
    assert_eq!(gpu.bus(), "0000:c3:00.0");
    let buffer = gpu.buffer(LENGTH).unwrap();
    let mut found = vec![0xff; LENGTH as usize];
    buffer.read(0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == 0), "a new buffer is zero");

    // The middle of it, which does not begin at a page.
    let part = 5000..LENGTH - 3;
    let length = part.end - part.start;
    let there = pattern(1, length as usize);
    buffer.write(part.start, &there).unwrap();
    let region = buffer
        .register(&device, part.clone(), Permissions::ReadWrite)
        .unwrap();
    assert_eq!(region.length(), length);
    let (peer, offset) = (region.pages().clone(), region.offset());
    queue
        .to_fpga(peer.part(offset..offset + length), fpga.base())
        .unwrap()
        .wait(SECOND)
        .unwrap();
    let mut bytes = vec![0; length as usize];
    board.fpga_read(fpga.base(), &mut bytes).unwrap();
    assert!(bytes == there, "GPU to FPGA");

    let back = pattern(2, length as usize);
    board.fpga_write(fpga.base(), &back).unwrap();
    queue
        .from_fpga(fpga.base(), peer.part(offset..offset + length))
        .unwrap()
        .wait(SECOND)
        .unwrap();
    buffer.read(0, &mut found).unwrap();
    assert!(found[5000..LENGTH as usize - 3] == back, "FPGA to GPU");
    assert!(
        found[..5000]
            .iter()
            .chain(&found[LENGTH as usize - 3..])
            .all(|byte| *byte == 0)
    );

    // The memory outlives its buffer as long as there is a region.
    drop(buffer);
    assert_eq!(fake.allocations(), before);
    queue
        .to_fpga(peer.part(offset..offset + length), fpga.base())
        .unwrap()
        .wait(SECOND)
        .unwrap();
    board.fpga_read(fpga.base(), &mut bytes).unwrap();
    assert!(bytes == back, "of a buffer that is gone");
    no_strays(&board);
}

/// Two allocations of a program are in one dma-buf: the board may reach only one of them.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_allocation_in_the_middle_of_a_dma_buf_is_the_right_one() {
    let (_turn, fake) = fake();
    const LENGTH: usize = 12_000;
    let (board, driver) = with_files();
    let device = driver.open().unwrap();
    let fpga = device.allocate(LENGTH as u64).unwrap();
    let queue = device.queue().unwrap();
    let gpu = AmdGpu::open(0).unwrap();
    let addresses = [fake.malloc(LENGTH, false), fake.malloc(LENGTH, false)];
    let bytes_at = |address: u64| {
        let at = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the mock's memory is mapped, and no transfer is under way.
        unsafe { std::slice::from_raw_parts(at, LENGTH) }.to_vec()
    };
    let both = Permissions::ReadWrite;
    let before = bytes_at(addresses[0]);
    // SAFETY: the memory belongs to this test.
    let region = unsafe { gpu.register(&device, addresses[1] + 4, LENGTH as u64 - 4, both) };
    let region = region.unwrap();
    let data = pattern(3, LENGTH - 4);
    board.fpga_write(fpga.base(), &data).unwrap();
    let moved = queue.from_fpga(fpga.base(), &region);
    moved.unwrap().wait(SECOND).unwrap();
    assert!(bytes_at(addresses[0]) == before, "the other allocation");
    assert!(bytes_at(addresses[1])[4..] == data);

    // SAFETY: all of them are refused.
    let refused = |address, length| unsafe { gpu.register(&device, address, length, both) };
    // More bytes than the allocation has, and no bytes.
    assert!(matches!(
        refused(addresses[0], LENGTH as u64 + 1),
        Err(Error::Bounds { .. })
    ));
    assert!(matches!(refused(addresses[0], 0), Err(Error::Empty)));
    // A place that is not that of the address in its page.
    fake.fault(Fault::Shifted);
    let error = refused(addresses[0], 4).unwrap_err();
    assert!(
        error.to_string().contains("another place in its page"),
        "{error}"
    );
    fake.fault(Fault::None);
    // Host memory does not belong to a GPU.
    let host = fake.malloc(LENGTH, true);
    let error = refused(host, 4).unwrap_err();
    assert!(
        matches!(error, Error::Rocm { code: 0x1004, .. }),
        "{error:?}"
    );
    assert!(error.hint().contains("host memory"), "{}", error.hint());
    // Memory that was freed has no owner.
    drop(region);
    for address in addresses.into_iter().chain([host]) {
        fake.free(address);
    }
    let error = refused(addresses[1], 4).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("hipMemGetAddressRange failed: hipErrorNotFound"),
        "{error}"
    );
    no_strays(&board);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_export_that_fails_or_is_wrong_registers_nothing() {
    let (_turn, fake) = fake();
    let (_board, driver) = with_files();
    let device = driver.open().unwrap();
    let gpu = AmdGpu::open(0).unwrap();
    let buffer = gpu.buffer(64 * KIB).unwrap();
    let register = || buffer.register(&device, 0..64 * KIB, Permissions::ReadWrite);
    fake.fault(Fault::Refused);
    let error = register().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("HSA_STATUS_ERROR_OUT_OF_RESOURCES"),
        "{error}"
    );
    let hint = error.hint();
    assert!(
        hint.contains("newer kernel") && hint.contains("host memory"),
        "{hint}"
    );
    for (fault, says) in [
        (Fault::Short, "do not lie in its 4096 bytes"),
        (Fault::NoFile, "the descriptor is -1"),
    ] {
        fake.fault(fault);
        let error = register().unwrap_err();
        assert!(matches!(error, Error::BadExport { .. }), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.hint().contains("host memory"));
    }
    fake.fault(Fault::None);
    register().unwrap();
    for range in [0..64 * KIB + 1, 1..1] {
        let refused = buffer.register(&device, range, Permissions::Read);
        assert!(matches!(refused, Err(Error::Bounds { .. } | Error::Empty)));
    }
    assert!(matches!(gpu.buffer(0), Err(Error::Empty)));
    let error = gpu.buffer(1 << 50).unwrap_err();
    assert!(error.to_string().contains("hipErrorOutOfMemory"), "{error}");
    assert!(
        AmdGpu::open(1)
            .unwrap_err()
            .to_string()
            .contains("hipErrorInvalidDevice")
    );
}

/// Functions that read and write the GPU's memory.
type Peek<'a> = Box<dyn Fn(&mut [u8]) + 'a>;
type Poke<'a> = Box<dyn Fn(&[u8]) + 'a>;

/// Moves all memory of a side by these routes, and compares.
fn by_routes(
    (board, device): (&SimBoard, &Device),
    side: Arc<dyn Side>,
    (peek, poke): (Peek<'_>, Poke<'_>),
    routes: &[(Direction, Route)],
) {
    let length = side.length();
    let ends = Board::new(device, length).unwrap();
    let options = Options {
        measured: 64 * KIB,
        ..Options::default()
    };
    let all = Routes::new(&ends, side, options);
    let base = ends.memory().start;
    for (seed, (direction, route)) in routes.iter().enumerate() {
        let (fpga, gpu) = (
            pattern(seed as u8, length as usize),
            pattern(!seed as u8, length as usize),
        );
        board.fpga_write(base, &fpga).unwrap();
        poke(&gpu);
        let order = Order {
            direction: *direction,
            fpga: 0,
            at: 0,
            length,
        };
        let moved = all.transfer(&order, *route, &Limits::default());
        let moved = moved.unwrap_or_else(|error| panic!("{route} {direction}: {error}"));
        assert_eq!((moved.bytes, moved.route), (length, *route));
        let expected = match direction {
            Direction::FromFpga => fpga,
            Direction::ToFpga => gpu,
        };
        let (mut fpga_now, mut gpu_now) = (vec![0; length as usize], vec![0; length as usize]);
        board.fpga_read(base, &mut fpga_now).unwrap();
        peek(&mut gpu_now);
        assert!(
            fpga_now == expected && gpu_now == expected,
            "{route} {direction}"
        );
    }
}

const THROUGH_HOST: [(Direction, Route); 4] = [
    (Direction::FromFpga, Route::Concurrent),
    (Direction::ToFpga, Route::Concurrent),
    (Direction::FromFpga, Route::Sequential),
    (Direction::ToFpga, Route::Sequential),
];

const DIRECT: [(Direction, Route); 2] = [
    (Direction::FromFpga, Route::DirectWrite),
    (Direction::ToFpga, Route::DirectRead),
];

/// Moves all bytes of some memory by the routes that ROCm's memory takes.
fn all_but_push(ends: (&SimBoard, &Device), memory: AmdMemory) {
    let (peek, poke) = (memory.clone(), memory.clone());
    by_routes(
        ends,
        Arc::new(memory),
        (
            Box::new(move |bytes| peek.buffer().read(0, bytes).unwrap()),
            Box::new(move |bytes| poke.buffer().write(0, bytes).unwrap()),
        ),
        &[&DIRECT[..], &THROUGH_HOST[..]].concat(),
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_by_rocm_takes_all_routes_but_push() {
    let (_turn, _fake) = fake();
    let (board, driver) = with_files();
    let device = driver.open().unwrap();
    let buffer = AmdGpu::open(0).unwrap().buffer(96 * KIB).unwrap();
    let memory = AmdMemory::new(Arc::new(buffer));
    let refused = memory.pusher(&device).err().unwrap();
    assert!(refused.to_string().contains("does not store"), "{refused}");
    all_but_push((&board, &device), memory);
    no_strays(&board);
}

/// The GPU holds the board's data back until they are flushed. The routes flush them, by the runtime's function or by
/// the register. Where neither works, the probe notices that, and the data go through the host's memory.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_the_gpu_holds_back_is_flushed() {
    let (_turn, fake) = fake();
    let (board, driver) = with_files();
    let memory = || {
        let buffer = AmdGpu::open(0).unwrap().buffer(96 * KIB).unwrap();
        AmdMemory::new(Arc::new(buffer))
    };
    for fault in [Fault::Stale, Fault::StaleRegister] {
        fake.fault(fault);
        // A transfer of the program itself.
        let own = driver.open().unwrap();
        let gpu = AmdGpu::open(0).unwrap();
        let buffer = gpu.buffer(4096).unwrap();
        let region = buffer.register(&own, 0..4096, Permissions::ReadWrite);
        let (region, data) = (region.unwrap(), pattern(9, 4096));
        let fpga = own.allocate(4096).unwrap();
        board.fpga_write(fpga.base(), &data).unwrap();
        let queue = own.queue().unwrap();
        let moved = queue.from_fpga(fpga.base(), region.part(0..4096).unwrap());
        moved.unwrap().wait(SECOND).unwrap();
        let mut found = vec![0xff; 4096];
        buffer.read(0, &mut found).unwrap();
        assert!(found.iter().all(|byte| *byte == 0), "it is not held back");
        gpu.flush().unwrap();
        buffer.read(0, &mut found).unwrap();
        assert!(found == data);

        let (device, memory) = (driver.open().unwrap(), memory());
        all_but_push((&board, &device), memory);
    }
    for fault in [Fault::StaleForEver, Fault::Kept] {
        fake.fault(fault);
        AmdGpu::open(0).unwrap().flush().unwrap();
        let device = driver.open().unwrap();
        let memory: Arc<dyn Side> = Arc::new(memory());
        let ends = Board::new(&device, memory.length()).unwrap();
        let all = Routes::new(&ends, memory, Options::default());
        let findings = all.findings().unwrap();
        assert!(
            matches!(findings.write, Verdict::Wrong(_)),
            "{:?}",
            findings.write
        );
    }
    no_strays(&board);
}

/// Programs and their libraries use the thread's device, which here is another GPU than the buffer's.
#[test]
fn the_threads_device_stays() {
    let (_turn, fake) = fake();
    fake.devices(2);
    for (own, other) in [(0, 1), (1, 0)] {
        fake.make_current(other);
        let gpu = AmdGpu::open(own as usize).unwrap();
        assert_eq!(gpu.bus(), format!("0000:c{}:00.0", 3 + own));
        let buffer = gpu.buffer(64 * KIB).unwrap();
        assert_eq!(fake.device_of(buffer.address()), own);
        buffer.write(0, &[1; 4096]).unwrap();
        buffer.read(0, &mut [0; 4096]).unwrap();
        gpu.flush().unwrap();
        drop(buffer);
        assert_eq!(fake.current(), other);
    }
    fake.make_current(0);
}

/// A fork copies every value, but none of AMD's runtimes.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_child_of_a_fork_gives_nothing_back() {
    let (_turn, fake) = fake();
    let (_board, driver) = with_files();
    let device = driver.open().unwrap();
    let gpu = AmdGpu::open(0).unwrap();
    let buffer = Arc::new(gpu.buffer(64 * KIB).unwrap());
    let staging = device.memory(MemoryKind::Host, 4096).unwrap();
    let given_back = || fake.count(&fake.hip, "fake_hip_given_back");
    let engine = AmdMemory::new(Arc::clone(&buffer))
        .attach(&staging)
        .unwrap();
    let before = given_back();
    let theirs = Mutex::new(Some((buffer, engine)));
    let mut command = std::process::Command::new("true");
    // SAFETY: the closure calls nothing but the allocator, whose state the C library handles across a fork, and locks
    // that no other thread knows.
    unsafe {
        command.pre_exec(move || {
            let flushed = gpu.flush().is_ok();
            drop(theirs.lock().ok().and_then(|mut theirs| theirs.take()));
            match given_back() - before {
                0 if !flushed => Ok(()),
                _ => Err(std::io::Error::from_raw_os_error(1)),
            }
        });
    }
    assert!(
        command
            .status()
            .expect("the child releases something")
            .success()
    );
    // The parent's values go with the closure.
    drop(command);
    assert_eq!(
        given_back() - before,
        3,
        "buffer, stream and staging memory"
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn directgma_is_there_where_device_and_platform_have_it() {
    let (_turn, fake) = fake();
    let device = fake.directgma();
    assert_eq!(device.name(), "FirePro (mock)");
    assert_eq!(device.bus(), Some("0000:c3:00.0"));
    for (fault, says) in [
        (
            Fault::NoExtension,
            "FirePro (mock) has no cl_amd_bus_addressable_memory; Radeon (mock) has no",
        ),
        (Fault::NoFunctions, "has no clEnqueueWaitSignalAMD"),
    ] {
        fake.fault(fault);
        let error = directgma::devices().unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        let hint = error.hint();
        assert!(
            hint.contains("dma-bufs") && hint.contains("host memory"),
            "{hint}"
        );
    }
}

/// A board's window, to which the mock's GPU stores.
struct SimAperture {
    board: SimBoard,
    range: Range<u64>,
}

/// Bus address of the window in these tests.
const WINDOW: u64 = 0x20_0000_0000;

/// Takes the GPU's stores to the window, and gives them to the block's own RTL.
///
/// # Safety
/// `user` is a board that lives, and there are `length` bytes.
unsafe extern "C" fn store(bus: u64, bytes: *const c_void, length: usize, user: *mut c_void) {
    // SAFETY: the caller promises both.
    let (board, bytes) = unsafe {
        let board = &*user.cast_const().cast::<SimBoard>();
        (
            board,
            std::slice::from_raw_parts(bytes.cast::<u8>(), length),
        )
    };
    let written = board.with(|board| board.window_write(bus - WINDOW, bytes));
    written.expect("the window takes it");
}

impl Aperture for SimAperture {
    fn bus_address(&self) -> u64 {
        WINDOW
    }

    fn length(&self) -> u64 {
        peerlane_core::window::BYTES
    }

    fn place(&mut self, fpga: u64) -> peerlane_routes::Result<()> {
        assert!(fpga.is_multiple_of(self.length()));
        assert!(self.range.start <= fpga && fpga + self.length() <= self.range.end);
        let placed = self.board.with(|board| {
            let high = csr::WINDOW_HI as u64;
            board.bar_write32(Space::Csr, csr::WINDOW_LO as u64, fpga as u32)?;
            board.bar_write32(Space::Csr, high, (fpga >> 32) as u32)?;
            while board.bar_read32(Space::Csr, high)? != 0 {}
            Ok::<_, peerlane_sim::Error>(())
        });
        placed.map_err(|error| peerlane_routes::Error::side("the board", error))
    }

    fn settle(&mut self) -> peerlane_routes::Result<()> {
        let read = self.board.with(|board| board.window_read(0, &mut [0]));
        read.map_err(|error| peerlane_routes::Error::side("the board", error))
    }
}

/// Both directions: the board uses bus addresses, the GPU pushes, and either goes through the host's memory.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_of_directgma_takes_all_routes() {
    let (_turn, fake) = fake();
    let (board, driver) = with_aperture(fake);
    let user: *mut SimBoard = Box::into_raw(Box::new(board.clone()));
    fake.on_store(store, user.cast());
    let device = driver.open().unwrap();
    let memory = GmaMemory::new(fake.directgma().buffer(96 * KIB).unwrap()).unwrap();
    let mut found = vec![0xff; 96 << 10];
    memory.plain().read(0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == 0), "a new buffer is zero");
    let refused = memory.pusher(&device).err().unwrap();
    assert!(refused.to_string().contains("with_aperture"), "{refused}");
    let there = board.clone();
    let memory = memory.with_aperture(move |device| {
        Ok(Box::new(SimAperture {
            board: there.clone(),
            range: device.range(),
        }))
    });
    let (peek, poke) = (memory.plain().clone(), memory.plain().clone());
    by_routes(
        (&board, &device),
        Arc::new(memory),
        (
            Box::new(move |bytes| peek.read(0, bytes).unwrap()),
            Box::new(move |bytes| poke.write(0, bytes).unwrap()),
        ),
        &[
            &DIRECT[..],
            &[(Direction::ToFpga, Route::Push)],
            &THROUGH_HOST[..],
        ]
        .concat(),
    );
    no_strays(&board);
}

/// A running copy whose end is not reported is waited for before its memory gets another owner.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_copy_whose_end_nobody_tells_is_waited_for() {
    let (_turn, fake) = fake();
    let buffer = AmdGpu::open(0).unwrap().buffer(8 * KIB).unwrap();
    let plain = GmaMemory::new(fake.directgma().buffer(8 * KIB).unwrap()).unwrap();
    let (by_hip, by_opencl) = (AmdMemory::new(Arc::new(buffer)), plain.plain().clone());
    let staging = Memory::new(8 << 10).unwrap();
    let data = pattern(3, 4 << 10);
    staging.write(0, &data).unwrap();
    let piece = Piece {
        way: Way::In,
        at: 0,
        staged: 0,
        length: 4 * KIB,
    };
    let sides: [(&dyn Side, &str); 2] = [(&by_hip, "hipLaunchHostFunc"), (&by_opencl, "clFlush")];
    for (side, call) in sides {
        let mut engine = side.attach(&staging).unwrap();
        fake.fault(Fault::Untold);
        let mut copying = engine.begin(piece).expect("it has begun");
        let error = copying.wait(SECOND).unwrap_err();
        assert!(error.to_string().contains(call), "{error}");
        assert!(copying.end(SECOND), "{call}");
        fake.fault(Fault::None);
    }
    let mut found = vec![0; data.len()];
    by_hip.buffer().read(0, &mut found).unwrap();
    assert!(found == data);
    by_opencl.read(0, &mut found).unwrap();
    assert!(found == data);
}

/// A driver that takes no bus addresses, such as the kernel's: the error and the route name the alternatives.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_driver_without_bus_addresses_refuses_with_the_alternatives() {
    let (_turn, fake) = fake();
    let (_board, driver) = open();
    let device = driver.open().unwrap();
    let buffer = fake.directgma().buffer(8 * KIB).unwrap();
    let error = buffer.register(&device, 0..8 * KIB, Permissions::ReadWrite);
    let error = error.unwrap_err();
    assert!(matches!(error, Error::BusAddress), "{error:?}");
    assert!(matches!(
        buffer.register_marker(&device),
        Err(Error::BusAddress)
    ));
    let memory = GmaMemory::new(buffer).unwrap();
    let said = memory
        .reach(&device, 0..8 * KIB, Permissions::Write)
        .err()
        .unwrap();
    let said = said.to_string();
    for other in [
        "dma-bufs",
        "push into the board's window",
        "through host memory",
    ] {
        assert!(said.contains(other), "{said}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_bus_address_is_a_living_buffers_and_no_more() {
    let (_turn, fake) = fake();
    let before = fake.pages();
    let (board, driver) = with_aperture(fake);
    let device = driver.open().unwrap();
    let gpu = fake.directgma();
    let buffer = gpu.buffer(10_000).unwrap();
    assert_eq!(fake.pages(), before + 4, "three pages, and one for signals");
    let refused = buffer.register(&device, 0..10_001, Permissions::Read);
    assert!(matches!(refused, Err(Error::Bounds { .. })), "{refused:?}");
    let keep = Arc::new(());
    let (bus, _) = fake.aperture();
    for address in [0, bus.start - PAGE, bus.end - PAGE, u64::MAX - 4096] {
        let keep: Arc<()> = Arc::clone(&keep);
        // SAFETY: it is refused.
        let refused = unsafe { device.register_bus(address, 2 * PAGE, Permissions::Read, keep) };
        assert!(refused.is_err(), "{address:#x}");
    }
    // A region keeps the buffer: the address is not used again while the board has it.
    let region = buffer
        .register(&device, 0..10_000, Permissions::ReadWrite)
        .unwrap();
    drop(buffer);
    assert_eq!(fake.pages(), before + 4);
    drop(region);
    assert_eq!(fake.pages(), before);
    no_strays(&board);

    // Not resident: the command fails when it runs, and the call does not report it.
    fake.fault(Fault::NotResident);
    let error = gpu.buffer(4096).unwrap_err();
    assert!(
        matches!(error, Error::NotResident { length: 4096 }),
        "{error:?}"
    );
    assert!(error.hint().contains("aperture"));
    fake.fault(Fault::None);
    assert_eq!(fake.pages(), before, "it was released");
    // More than the aperture has: CL_MEM_OBJECT_ALLOCATION_FAILURE.
    let error = gpu.buffer(1 << 30).unwrap_err();
    assert!(
        matches!(error, Error::OpenClCall { code: -4, .. }),
        "{error:?}"
    );
    assert!(matches!(gpu.buffer(0), Err(Error::Empty)));
}

/// The board writes the marker that the GPU waits for after its data; the GPU writes the marker that the FPGA waits for
/// after its own.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn signals_go_both_ways() {
    let (_turn, fake) = fake();
    let (board, driver) = with_aperture(fake);
    let user: *mut SimBoard = Box::into_raw(Box::new(board.clone()));
    fake.on_store(store, user.cast());
    let device = driver.open().unwrap();
    let fpga = device.allocate(256 * KIB).unwrap();
    let queue = device.queue().unwrap();
    let gpu = fake.directgma();
    let buffer = gpu.buffer(8 * KIB).unwrap();
    let region = buffer
        .register(&device, 0..8 * KIB, Permissions::ReadWrite)
        .unwrap();
    let marker = buffer.register_marker(&device).unwrap();

    let signal = buffer.wait_signal(7).unwrap();
    let data = pattern(5, 8 << 10);
    board.fpga_write(fpga.base(), &data).unwrap();
    board
        .fpga_write(fpga.base() + 16 * KIB, &7_u32.to_le_bytes())
        .unwrap();
    queue
        .from_fpga(fpga.base(), region.pages().part(0..8 * KIB))
        .unwrap()
        .wait(SECOND)
        .unwrap();
    assert!(
        !signal.wait(Duration::from_millis(20)).unwrap(),
        "no signal has come"
    );
    let told = queue.from_fpga(fpga.base() + 16 * KIB, marker.pages().part(0..4));
    told.unwrap().wait(SECOND).unwrap();
    assert!(signal.wait(Duration::from_secs(10)).unwrap());
    let memory = GmaMemory::new(buffer.clone()).unwrap();
    let mut found = vec![0; data.len()];
    memory.plain().read(0, &mut found).unwrap();
    assert!(found == data);

    // The window at the end of the device's memory; signals go to its last page.
    let window = peerlane_core::window::BYTES;
    let base = (fpga.base() + 64 * KIB).next_multiple_of(window);
    let mut aperture = SimAperture {
        board: board.clone(),
        range: device.range(),
    };
    aperture.place(base).unwrap();
    // SAFETY: the window belongs to this test.
    let remote = unsafe { gpu.remote(WINDOW, WINDOW + window - PAGE, window - PAGE) }.unwrap();
    remote.push(&buffer, 100, 4000, 4096).unwrap();
    let signal = remote.write_signal(0x1234_5678, 16).unwrap();
    assert!(signal.wait(Duration::from_secs(10)).unwrap());
    aperture.settle().unwrap();
    let mut pushed = vec![0; 4096];
    board.fpga_read(base + 4000, &mut pushed).unwrap();
    assert!(pushed == data[100..4196]);
    let mut told = [0; 4];
    board
        .fpga_read(base + window - PAGE + 16, &mut told)
        .unwrap();
    assert_eq!(u32::from_le_bytes(told), 0x1234_5678);

    for offset in [2, PAGE - 3, PAGE, u64::MAX] {
        let refused = remote.write_signal(1, offset);
        assert!(
            matches!(refused, Err(Error::Bounds { .. })),
            "{offset}: {refused:?}"
        );
    }
    for (at, to, length) in [(0, window - PAGE, 1), (8 * KIB, 0, 1), (u64::MAX, 0, 2)] {
        let refused = remote.push(&buffer, at, to, length);
        assert!(matches!(refused, Err(Error::Bounds { .. })), "{refused:?}");
    }
    for (address, marker) in [
        (0, WINDOW),
        (WINDOW, 0),
        (WINDOW + 8, WINDOW),
        (WINDOW, WINDOW + 4),
    ] {
        // SAFETY: it is refused.
        let refused = unsafe { gpu.remote(address, marker, PAGE) };
        assert!(
            matches!(refused, Err(Error::Misplaced { .. })),
            "{refused:?}"
        );
    }
    no_strays(&board);
}
