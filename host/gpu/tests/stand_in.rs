//! The library with mocks of CUDA and ROCm in C (`tests/fake-cuda`, `tests/fake-amd`).

#[path = "../../../tests/fake-amd/mod.rs"]
mod fake_amd;

#[path = "../../../tests/fake-cuda/mod.rs"]
mod fake_cuda;

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

use fake_amd::FakeAmd;
use fake_cuda::FakeCuda;
use least::Least;
use libloading::Library;
use peerlane_core::uapi::{feature, provider};
use peerlane_gpu::amd::AmdGpu;
use peerlane_gpu::{Gpu, GpuRegion};
use peerlane_host::{Device, Permissions};
use std::ffi::{c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Returns the mock, loaded as the library finds it: by its name.
fn cuda() -> &'static Library {
    static LOADED: OnceLock<(FakeCuda, Library)> = OnceLock::new();
    let load = || {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fake-cuda");
        let files = FakeCuda::new(&sources);
        // SAFETY: nothing runs when it is loaded.
        let library = unsafe { Library::new(files.library()) }.expect("it was just made");
        (files, library)
    };
    &LOADED.get_or_init(load).1
}

/// Runs one test at a time: a capture in one prohibits the calls of another.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    cuda();
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function of the mock's.
macro_rules! call {
    ($name:literal ($($kind:ty = $argument:expr),*)) => {{
        type Function = unsafe extern "C" fn($($kind),*) -> c_int;
        // SAFETY: the function of this name has this type, and its pointers are to living places.
        unsafe { cuda().get::<Function>($name).expect("the mock has it")($($argument),*) }
    }};
}

const DEFAULT: c_uint = 0;
const GLOBAL: c_int = 0;
const IMPLICIT: c_int = 906;
const INVALIDATED: c_int = 901;

/// Captures a stream that the default stream waits for, by this thread, and calls `does` on another thread during the
/// capture. Returns the result of the capture's end.
fn beside_a_capture(does: impl FnOnce() + Send) -> c_int {
    let mut stream: *mut c_void = null_mut();
    let (at, mut graph) = (&raw mut stream, null_mut());
    assert_eq!(
        call!(b"cuStreamCreate"(*mut *mut c_void = at, c_uint = DEFAULT)),
        0
    );
    let begun = call!(b"cuStreamBeginCapture_v2"(*mut c_void = stream, c_int = GLOBAL));
    assert_eq!(begun, 0);
    std::thread::scope(|scope| scope.spawn(does).join()).expect("it does not panic");
    let ended =
        call!(b"cuStreamEndCapture"(*mut c_void = stream, *mut *mut c_void = &raw mut graph));
    assert_eq!(call!(b"cuStreamDestroy_v2"(*mut c_void = stream)), 0);
    ended
}

/// Makes the GPU's context the thread's.
fn with_context(gpu: &Gpu) {
    assert_eq!(
        call!(b"cuCtxSetCurrent"(*mut c_void = gpu.context().cast())),
        0
    );
}

#[test]
fn a_graph_that_another_thread_captures_stays_valid() {
    let _turn = turn();
    let gpu = Gpu::open(0).unwrap();
    with_context(&gpu);
    let mut found = [0; 4];
    let ended = beside_a_capture(|| {
        let another = Gpu::open(0).unwrap();
        let buffer = another.buffer(1 << 20).unwrap();
        let plain = another.plain_buffer(100).unwrap();
        for memory in [&buffer, &plain] {
            memory.write(4, &[1, 2, 3, 4]).unwrap();
            memory.read(4, &mut found).unwrap();
            assert_eq!(found, [1, 2, 3, 4]);
        }
    });
    assert_eq!(ended, 0);
    // The mock does invalidate it.
    let ended = beside_a_capture(|| {
        with_context(&gpu);
        assert_eq!(
            call!(b"cuStreamSynchronize"(*mut c_void = null_mut())),
            IMPLICIT
        );
    });
    assert_eq!(ended, INVALIDATED);
}

/// Memory of `cuMemAlloc` of a program, as PyCUDA and Numba use it: of any size, and next to other allocations in a
/// page.
#[test]
fn memory_of_any_size_is_registered_without_its_neighbours() {
    let _turn = turn();
    let gpu = Gpu::open(0).unwrap();
    with_context(&gpu);
    let least = Least::with(feature::DMABUF);
    let device = Device::over(least.clone()).unwrap();
    for length in [1000_u64, 100_000, 3_145_733] {
        let mut address = 0_u64;
        let at = &raw mut address;
        assert_eq!(
            call!(b"cuMemAlloc_v2"(*mut u64 = at, usize = length as usize)),
            0
        );
        // SAFETY: the memory is this test's, and the board moves nothing.
        let region = unsafe { gpu.register(&device, address, length, Permissions::ReadWrite) };
        let region = region.unwrap();
        let regions = least.regions.lock().unwrap().clone();
        let asked = regions[&region.pages().handle()];
        assert_eq!(asked.provider, provider::DMABUF);
        // The offset in its first page, and no byte of other allocations.
        assert_eq!((asked.address, asked.length), (address % 4096, length));
        assert_eq!((region.offset(), region.length()), (0, length));
        // SAFETY: as above.
        let beyond = unsafe { gpu.register(&device, address + 1, length, Permissions::Read) };
        assert!(beyond.is_err(), "a byte of its neighbour's");
        // The next allocation lies in pages of its own: the mock has one file for a page.
        let next = call!(b"cuMemAlloc_v2"(*mut u64 = at, usize = 8192));
        assert_eq!(next, 0);
    }
}

/// Drops a region of memory with a dma-buf that was exported for it, and checks that the driver was not allowed to
/// cache it.
fn is_let_go(register: impl FnOnce(&Device) -> GpuRegion) {
    let least = Least::with(feature::DMABUF);
    let device = Device::over(least.clone()).unwrap();
    let region = register(&device);
    let handle = region.pages().handle();
    let provider = least.regions.lock().unwrap()[&handle].provider;
    assert_eq!(provider, provider::DMABUF);
    drop(region);
    let [gone, kept] = [&least.unregistered, &least.kept].map(|count| count.load(Relaxed));
    assert_eq!((gone, kept), (1, 0));
}

/// No later registration finds such a region: a driver that cached it would keep the GPU's memory allocated, for no
/// use.
#[test]
fn a_region_of_memory_that_is_given_back_is_not_kept() {
    let _turn = turn();
    let buffer = Gpu::open(0).unwrap().buffer(1 << 20).unwrap();
    is_let_go(|device| {
        let all = 0..buffer.length();
        buffer
            .register(device, all, Permissions::ReadWrite)
            .unwrap()
    });

    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fake-amd");
    let files = FakeAmd::new(&sources);
    for name in ["libhsa-runtime64.so.1", "libamdhip64.so.6"] {
        // SAFETY: nothing runs when it is loaded. It stays, so that it is found by its name.
        std::mem::forget(unsafe { Library::new(files.path(name)) }.unwrap());
    }
    let buffer = AmdGpu::open(0).unwrap().buffer(1 << 20).unwrap();
    is_let_go(|device| {
        let all = 0..buffer.length();
        buffer
            .register(device, all, Permissions::ReadWrite)
            .unwrap()
    });
}
