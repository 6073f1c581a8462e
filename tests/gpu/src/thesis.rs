//! The thesis's calls (`clrdma.h`) with NVIDIA's own OpenCL and CUDA, and the block's RTL.
//!
//! There is no FPGA runtime here. This program (`board_library.c`) answers the requests of `clrdma` to a board's
//! library, with the same calls of the host library as the board library itself. The GPU's side is all real: the
//! context and queue are NVIDIA's, the buffer is CUDA's memory that OpenCL has imported.

use crate::Bench;
use crate::cuda::pattern;
use crate::routes::Rig;
use anyhow::{Result, anyhow, bail, ensure};
use cl3::command_queue::{
    create_command_queue, enqueue_read_buffer, enqueue_write_buffer, release_command_queue,
};
use cl3::context::{create_context, release_context};
use cl3::device::{CL_DEVICE_TYPE_GPU, get_device_ids};
use cl3::memory::release_mem_object;
use cl3::platform::get_platform_ids;
use libloading::Library;
use peerlane_clrdma::{
    CLRDMA_INVALID, CLRDMA_NOT_INITIALIZED, CLRDMA_OK, clrdma_create_pinnable_buffer_nvidia,
    clrdma_error_text, clrdma_get_buffer_address_altera, clrdma_get_buffer_address_nvidia,
    clrdma_init_altera, clrdma_init_nvidia, read_rdma, write_rdma,
};
use peerlane_host::{Device, Direction, Permissions, Queue, Region};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes in each direction: several of the GPU's pages, and not a multiple of anything.
const BYTES: usize = (1 << 20) + 12_345;

/// Seconds that a transfer may take.
const SECONDS: c_int = 60;

/// A time limit, in the board's time.
const LIMIT: Duration = Duration::from_secs(5);

type Handle = *mut c_void;
type Notify = unsafe extern "C" fn(c_int, *mut c_void);

const CL_SUCCESS: c_int = 0;
const CL_INVALID_MEM_OBJECT: c_int = -38;
const CL_INVALID_PEER_MEMORY_PEERLANE: c_int = -10001;
const CL_PEER_TRANSFER_FAILED_PEERLANE: c_int = -10005;

/// `struct functions` of `board_library.c`.
#[repr(C)]
struct Functions {
    create: unsafe extern "C" fn(Handle, u64, *mut c_void, usize, u64, *mut c_int) -> Handle,
    release: extern "C" fn(Handle) -> c_int,
    address: unsafe extern "C" fn(Handle, Handle, *mut u64) -> c_int,
    to_peer: extern "C" fn(u64, Handle, usize, usize, Notify, *mut c_void) -> c_int,
    from_peer: extern "C" fn(Handle, u64, usize, usize, Notify, *mut c_void) -> c_int,
    text: extern "C" fn(c_int) -> *const c_char,
}

/// The board of the functions.
struct Board {
    device: Device,
    queue: Queue,
    /// First byte of FPGA memory.
    base: u64,
    peers: BTreeMap<usize, Region>,
    last: usize,
}

static BOARD: Mutex<Option<Board>> = Mutex::new(None);

fn with<R>(absent: R, f: impl FnOnce(&mut Board) -> R) -> R {
    let mut board = BOARD.lock().unwrap_or_else(PoisonError::into_inner);
    match board.as_mut() {
        Some(board) => f(board),
        None => absent,
    }
}

unsafe extern "C" fn create(
    _: Handle,
    _: u64,
    pointer: *mut c_void,
    size: usize,
    identity: u64,
    error: *mut c_int,
) -> Handle {
    let (code, handle) = with((CL_INVALID_PEER_MEMORY_PEERLANE, 0), |board| {
        let (address, both) = (pointer.addr() as u64, Permissions::ReadWrite);
        // SAFETY: `clrdma` lets the board into a buffer of its own for as long as the handle lives.
        let made = unsafe { (board.device).register_nvidia(address, size as u64, identity, both) };
        match made {
            Ok(region) => {
                board.last += 1;
                board.peers.insert(board.last, region);
                (CL_SUCCESS, board.last)
            }
            Err(_) => (CL_INVALID_PEER_MEMORY_PEERLANE, 0),
        }
    });
    // SAFETY: `clrdma` passes a valid place.
    unsafe { error.write(code) };
    without_provenance_mut(handle)
}

extern "C" fn release(peer: Handle) -> c_int {
    let gone = with(None, |board| board.peers.remove(&peer.addr()));
    match gone {
        Some(_) => CL_SUCCESS,
        None => CL_INVALID_PEER_MEMORY_PEERLANE,
    }
}

/// Returns the address of a buffer of the board. Such buffers are numbers: their place in FPGA memory plus one.
unsafe extern "C" fn address(_: Handle, buffer: Handle, address: *mut u64) -> c_int {
    if buffer.is_null() {
        return CL_INVALID_MEM_OBJECT;
    }
    let place = with(0, |board| board.base) + buffer.addr() as u64 - 1;
    // SAFETY: `clrdma` passes a valid place.
    unsafe { address.write(place) };
    CL_SUCCESS
}

fn begin(
    direction: Direction,
    (local, peer, offset): (u64, Handle, usize),
    size: usize,
    notify: Notify,
    user: *mut c_void,
) -> c_int {
    let begun = with(None, |board| {
        let region = board.peers.get(&peer.addr())?;
        (board.queue)
            .submit(
                direction,
                region.part(offset as u64..offset as u64 + size as u64),
                local,
            )
            .ok()
    });
    let Some(transfer) = begun else {
        return CL_INVALID_PEER_MEMORY_PEERLANE;
    };
    let user = user.expose_provenance();
    std::thread::spawn(move || {
        let code = match transfer.wait(LIMIT) {
            Ok(_) => CL_SUCCESS,
            Err(_) => CL_PEER_TRANSFER_FAILED_PEERLANE,
        };
        // SAFETY: `clrdma` passed both for this call, once.
        unsafe { notify(code, std::ptr::with_exposed_provenance_mut(user)) };
    });
    CL_SUCCESS
}

extern "C" fn to_peer(
    local: u64,
    peer: Handle,
    offset: usize,
    size: usize,
    notify: Notify,
    user: *mut c_void,
) -> c_int {
    let place = (local, peer, offset);
    begin(Direction::FromFpga, place, size, notify, user)
}

extern "C" fn from_peer(
    peer: Handle,
    local: u64,
    offset: usize,
    size: usize,
    notify: Notify,
    user: *mut c_void,
) -> c_int {
    let place = (local, peer, offset);
    begin(Direction::ToFpga, place, size, notify, user)
}

extern "C" fn text(_: c_int) -> *const c_char {
    c"the check's board refused it".as_ptr()
}

fn rdma(what: &str, code: c_int) -> Result<()> {
    ensure!(code == CLRDMA_OK, "{what}: {code}: {}", why());
    Ok(())
}

/// Returns the library's text for the last error.
fn why() -> String {
    // SAFETY: the text is the library's, and stays until the thread's next call.
    let text = unsafe { CStr::from_ptr(clrdma_error_text()) };
    text.to_string_lossy().into_owned()
}

/// NVIDIA's context with the GPU, and a queue.
struct Cl {
    context: Handle,
    device: Handle,
    queue: Handle,
}

impl Cl {
    fn new() -> Result<Self> {
        let failed = |call: &'static str| move |code: i32| anyhow!("{call}: OpenCL error {code}");
        for platform in get_platform_ids().map_err(failed("clGetPlatformIDs"))? {
            let devices = get_device_ids(platform, CL_DEVICE_TYPE_GPU).unwrap_or_default();
            let Some(&device) = devices.first() else {
                continue;
            };
            let context = create_context(&[device], null(), None, null_mut())
                .map_err(failed("clCreateContext"))?;
            // SAFETY: the device belongs to the context.
            let queue = unsafe { create_command_queue(context, device, 0) }
                .map_err(failed("clCreateCommandQueue"))?;
            return Ok(Self {
                context: context.cast(),
                device: device.cast(),
                queue: queue.cast(),
            });
        }
        bail!("OpenCL has no GPU")
    }

    fn read(&self, buffer: Handle, bytes: &mut [u8]) -> Result<()> {
        let (queue, buffer, length) = (self.queue.cast(), buffer.cast(), bytes.len());
        let place = bytes.as_mut_ptr().cast();
        // SAFETY: queue and buffer belong to one context, the place is as long, and the call waits.
        let read = unsafe { enqueue_read_buffer(queue, buffer, 1, 0, length, place, 0, null()) };
        read.map(drop)
            .map_err(|code| anyhow!("clEnqueueReadBuffer: {code}"))
    }

    fn write(&self, buffer: Handle, bytes: &[u8]) -> Result<()> {
        let (queue, buffer, length) = (self.queue.cast(), buffer.cast(), bytes.len());
        let place = bytes.as_ptr().cast();
        // SAFETY: as above.
        let written =
            unsafe { enqueue_write_buffer(queue, buffer, 1, 0, length, place, 0, null()) };
        written
            .map(drop)
            .map_err(|code| anyhow!("clEnqueueWriteBuffer: {code}"))
    }
}

impl Drop for Cl {
    fn drop(&mut self) {
        // SAFETY: both belong to this value.
        unsafe {
            let _ = release_command_queue(self.queue.cast());
            let _ = release_context(self.context.cast());
        }
    }
}

/// Runs the program of the thesis's appendix A, and the reverse direction.
pub fn calls(bench: &Bench<'_>) -> Result<String> {
    let Some(file) = &bench.options.board_library else {
        bail!("not tried: no --board-library, tests/gpu/board_library.c compiled");
    };
    // SAFETY: loading it runs no code.
    let library = unsafe { Library::new(file) }?;
    // The library stays loaded, as a runtime's would: `clrdma` keeps its functions.
    let library: &'static Library = Box::leak(Box::new(library));
    let functions = Functions {
        create,
        release,
        address,
        to_peer,
        from_peer,
        text,
    };
    // SAFETY: the function of this name in board_library.c.
    unsafe {
        type Set = unsafe extern "C" fn(*const Functions);
        let set = library.get::<Set>(b"peerlane_check_functions\0")?;
        set(&raw const functions);
    }
    let rig = Rig::new(bench)?;
    let fpga = rig.device.allocate(BYTES as u64)?;
    let base = fpga.base();
    *BOARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Board {
        device: rig.device.clone(),
        queue: rig.device.queue()?,
        base,
        peers: BTreeMap::new(),
        last: 0,
    });
    let done = appendix_a(&rig, base);
    // Before the board is dropped.
    *BOARD.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let said = done?;
    rig.nothing_is_lost()?;
    Ok(said)
}

fn appendix_a(rig: &Rig, base: u64) -> Result<String> {
    let cl = Cl::new()?;
    let early = read_rdma(base, 0x1000, 64, SECONDS);
    ensure!(
        early == CLRDMA_NOT_INITIALIZED,
        "before the board is named: {early}"
    );
    // SAFETY: the handles are OpenCL's, which live to the end of this function; the places are there.
    let (buffer, fpga_address, gpu_address) = unsafe {
        rdma("board", clrdma_init_altera(cl.context, cl.device))?;
        rdma("GPU", clrdma_init_nvidia(cl.context))?;
        let mut buffer = null_mut();
        let made =
            clrdma_create_pinnable_buffer_nvidia(cl.context, cl.queue, &raw mut buffer, BYTES);
        rdma("GPU buffer", made)?;
        let (mut fpga, mut gpu): (c_ulong, c_ulong) = (0, 0);
        let first = without_provenance_mut(1);
        let found = clrdma_get_buffer_address_altera(first, null_mut(), &raw mut fpga);
        rdma("address", found)?;
        let found = clrdma_get_buffer_address_nvidia(buffer, cl.queue, &raw mut gpu);
        rdma("GPU address", found)?;
        (buffer, fpga, gpu)
    };
    ensure!(fpga_address == base);

    let mut times = Vec::new();
    let mut timed = |what: &str, call: &dyn Fn() -> c_int| {
        let begin = Instant::now();
        rdma(what, call())?;
        times.push(format!("{what} {:.1} s", begin.elapsed().as_secs_f64()));
        Ok::<_, anyhow::Error>(())
    };
    // From the FPGA to the GPU.
    let data = pattern(BYTES + 3, 31);
    let data = &data[..BYTES];
    rig.board.fpga_write(base, data)?;
    cl.write(buffer, &vec![0; BYTES])?;
    timed("read_rdma", &|| {
        read_rdma(fpga_address, gpu_address, BYTES, SECONDS)
    })?;
    let mut found = vec![0; BYTES];
    cl.read(buffer, &mut found)?;
    ensure!(found == data, "FPGA to GPU: other bytes arrived");

    // Other bytes in the reverse direction.
    let data: Vec<u8> = data.iter().map(|byte| !byte).collect();
    cl.write(buffer, &data)?;
    timed("write_rdma", &|| {
        write_rdma(fpga_address, gpu_address, BYTES, SECONDS)
    })?;
    rig.board.fpga_read(base, &mut found)?;
    ensure!(found == data, "GPU to FPGA: other bytes arrived");

    // A part, at odd places.
    rig.board.fpga_write(base + 101, b"odd places")?;
    rdma(
        "a part",
        read_rdma(fpga_address + 101, gpu_address + 65_533, 10, SECONDS),
    )?;
    cl.read(buffer, &mut found)?;
    let mut expected = data;
    expected[65_533..65_543].copy_from_slice(b"odd places");
    ensure!(found == expected, "a part: other bytes");

    // SAFETY: the buffer is this function's, and not used again.
    unsafe { release_mem_object(buffer.cast()) }
        .map_err(|code| anyhow!("clReleaseMemObject: {code}"))?;
    // Another thread releases it.
    let begin = Instant::now();
    while read_rdma(fpga_address, gpu_address, 64, SECONDS) != CLRDMA_INVALID {
        ensure!(
            begin.elapsed() < Duration::from_secs(5),
            "the buffer is still known"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    while with(1, |board| board.peers.len()) > 0 {
        ensure!(
            begin.elapsed() < Duration::from_secs(5),
            "its memory is not released"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(format!(
        "appendix A: {BYTES} bytes to a buffer of NVIDIA's OpenCL and back ({}), data right; a released buffer is \
         refused",
        times.join(", ")
    ))
}
