//! Devices, FPGA memory and regions.

use crate::error::{Failure, PL_OK, run};
use peerlane_host::peerlane_core::uapi::PROBE_BYTES;
use peerlane_host::{Device, Error, Patch, Permissions, Region};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, OnceLock};

/// Function that opens the device of a path, or any device.
type Opener = fn(Option<&str>) -> peerlane_host::Result<Device>;

/// Opener that `pl_open` uses in place of its own.
static OPENER: OnceLock<Opener> = OnceLock::new();

/// Sets the opener of `pl_open`: for tests. Only the first call has an effect.
#[doc(hidden)]
pub fn open_by(opener: fn(Option<&str>) -> peerlane_host::Result<Device>) {
    let _ = OPENER.set(opener);
}

/// Variable with the path for programs that give none.
const DEVICE: &str = "PEERLANE_DEVICE";

fn open_device(path: Option<&str>) -> peerlane_host::Result<Device> {
    if let Some(opener) = OPENER.get() {
        return opener(path);
    }
    let default = std::env::var(DEVICE).ok().filter(|path| !path.is_empty());
    match path.or(default.as_deref()) {
        // SAFETY: programs reach the device by the functions of C alone, and the documentation of the functions that
        // register memory has the promises. Files in place of dma-bufs are those of a mock of a GPU (`tests/fake-cuda`).
        #[cfg(feature = "simulated")]
        Some(peerlane_simulated::named::NAME) => unsafe { peerlane_simulated::named::open() },
        Some(path) => Device::open(path),
        None => Device::first(),
    }
}

/// A board, opened: a context with a channel of its own. `pl_open` makes it, `pl_close` ends it.
pub struct pl_device(pub(crate) Device);

impl pl_device {
    /// Makes a handle of a device that is open already: for tests.
    #[doc(hidden)]
    pub fn over(device: Device) -> *mut Self {
        Box::into_raw(Box::new(Self(device)))
    }
}

/// Memory that the board reaches. `pl_register` and its like make it, `pl_unregister` ends it.
pub struct pl_region(pub(crate) Region);

/// The board reads the memory: transfers to the FPGA.
pub const PL_READ: u32 = 1;
/// The board writes the memory: transfers from the FPGA. Together with PL_READ, the board reads back after the data, so
/// the end of a transfer proves that they have arrived. With PL_WRITE alone it only means that they were sent. That is
/// for a GPU's memory in a computer that passes no reads between devices: there such a read may end the transfer with
/// PL_FAULT, and if another device answers it, it proves nothing.
pub const PL_WRITE: u32 = 2;

/// Translates the permissions of the board.
fn permissions(access: u32) -> Result<Permissions, Failure> {
    match access {
        PL_READ => Ok(Permissions::Read),
        PL_WRITE => Ok(Permissions::Write),
        3 => Ok(Permissions::ReadWrite),
        _ => Err(Failure::invalid(format!(
            "access {access:#x} is not PL_READ, PL_WRITE, or both"
        ))),
    }
}

/// Returns the object of a handle.
///
/// # Safety
/// The pointer is null, or a handle that was not ended.
pub(crate) unsafe fn get<'a, T>(handle: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises it.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::invalid(format!("{name} is null")))
}

/// Makes a handle and returns it in `place`. The place is set to null before anything else is checked, so it is null
/// after any error.
///
/// # Safety
/// `place` is null or a place for a pointer.
pub(crate) unsafe fn give<T>(
    place: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> c_int {
    run(|| {
        if place.is_null() {
            return Err(Failure::invalid("the place for the handle is null"));
        }
        // SAFETY: the caller promises the place.
        unsafe { place.write(std::ptr::null_mut()) };
        let handle = Box::into_raw(Box::new(make()?));
        // SAFETY: as above.
        unsafe { place.write(handle) };
        Ok(PL_OK)
    })
}

/// Registers memory at a device, and returns the region's handle.
///
/// # Safety
/// The handle was not ended, and `region` is null or a place for a pointer.
unsafe fn register(
    device: *const pl_device,
    access: u32,
    region: *mut *mut pl_region,
    by: impl FnOnce(&Device, Permissions) -> Result<Region, Failure>,
) -> c_int {
    let make = || {
        // SAFETY: the caller promises the handle.
        let device = unsafe { get(device, "device") }?;
        Ok(pl_region(by(&device.0, permissions(access)?)?))
    };
    // SAFETY: the caller promises the place.
    unsafe { give(region, make) }
}

/// Ends a handle.
///
/// # Safety
/// It is null, or a handle that was not ended.
pub(crate) unsafe fn end<T>(handle: *mut T) {
    if !handle.is_null() {
        run(|| {
            // SAFETY: the caller promises it; it was a box's.
            drop(unsafe { Box::from_raw(handle) });
            Ok(PL_OK)
        });
    }
}

/// Opens a board.
///
/// path: its device node, for example `/dev/peerlane0`; or "simulated": the simulated board of this process, if the
/// library has it (docs/start/simulated.md); or null: the path in the environment variable PEERLANE_DEVICE, else the
/// first board that is free.
/// device: the place for the handle; null after an error. The caller ends it by `pl_close`.
///
/// Returns PL_OK, PL_NO_DEVICE, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_INVALID. Thread-safe.
///
/// # Safety
/// `path` is null or a string; `device` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_open(path: *const c_char, device: *mut *mut pl_device) -> c_int {
    let open = || {
        if path.is_null() {
            return Ok(pl_device(open_device(None)?));
        }
        // SAFETY: the caller promises a string.
        let path = unsafe { CStr::from_ptr(path) }.to_str();
        let path = path.map_err(|_| Failure::invalid("the path is not UTF-8"))?;
        Ok(pl_device(open_device(Some(path))?))
    };
    // SAFETY: the caller promises the place.
    unsafe { give(device, open) }
}

/// Ends a device's handle; null has no effect. The board is closed when all its regions, queues and transfers are
/// ended, too: their order does not matter.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_close(device: *mut pl_device) {
    // SAFETY: the caller promises it.
    unsafe { end(device) }
}

/// Returns the device's file, for poll(): it can be read (POLLIN) while the board has reported an event that was not
/// acknowledged. `pl_queue_turn` acknowledges it; a program that calls only `pl_transfer_poll` finds the file readable
/// for up to a second more. Transfers may end without an interrupt, so the wait needs a time limit:
///
/// 1. `pl_queue_next_turn(queue, &nanoseconds)` gives the longest time to wait;
/// 2. `ppoll()` waits so long for the file;
/// 3. `pl_queue_turn(queue)` acknowledges, and gives the board the transfers that wait for a place in its queue;
/// 4. `pl_transfer_poll(transfer, &bytes)` returns whether the transfer has ended.
///
/// Returns the file, 0 or more, which stays the library's; PL_UNSUPPORTED: a board in the process has none; PL_INVALID.
/// Thread-safe.
///
/// # Safety
/// The handle was not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_file(device: *const pl_device) -> c_int {
    run(|| {
        // SAFETY: the caller promises it.
        let device = unsafe { get(device, "device") }?;
        let file = device.0.file().map(|file| file.as_raw_fd());
        file.ok_or_else(|| {
            let text = "this board is in the process and has no file";
            Failure::unsupported(text, "Wait by pl_transfer_wait in a thread.")
        })
    })
}

/// Allocates FPGA memory, all zero: one piece a device, before its queue is made. It belongs to the device until that
/// is closed.
///
/// bytes: its size, rounded up to whole 64 KiB. The call waits while the board fills it with zeros.
/// address: the place for its first address in FPGA memory.
///
/// Returns PL_OK, PL_BUSY, PL_UNSUPPORTED, PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `address` is a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_allocate(
    device: *const pl_device,
    bytes: u64,
    address: *mut u64,
) -> c_int {
    run(|| {
        if address.is_null() {
            return Err(Failure::invalid("the place for the address is null"));
        }
        // SAFETY: the caller promises both.
        unsafe {
            let memory = get(device, "device")?.0.allocate(bytes)?;
            address.write(memory.keep().start);
        }
        Ok(PL_OK)
    })
}

/// Registers memory of this process.
///
/// address, bytes: the memory. It must stay mapped, and no other code may free it, until `pl_unregister` has returned
/// and no transfer with it is under way: the library copies the first and last bytes of some transfers itself
/// (`pl_submit`).
/// access: PL_READ, PL_WRITE, or both.
/// region: the place for the handle; null after an error. The caller ends it by `pl_unregister`.
///
/// Returns PL_OK, PL_BUSY (no room in the board's table, or a limit), PL_TOO_LARGE, PL_UNSUPPORTED, PL_REFUSED,
/// PL_GONE, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, the memory is the program's as described, `region` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_register(
    device: *const pl_device,
    address: *mut c_void,
    bytes: u64,
    access: u32,
    region: *mut *mut pl_region,
) -> c_int {
    let address = address.expose_provenance() as u64;
    // SAFETY: the caller promises handle and place, and the conditions for the memory.
    unsafe {
        register(device, access, region, |device, permissions| {
            Ok(device.register_address(address, bytes, permissions)?)
        })
    }
}

/// Registers a part of a dma-buf: memory of a GPU or of another device, exported by its driver.
///
/// Transfers to the FPGA read the memory, and not every computer passes such reads: see `pl_region_probe`.
///
/// file: the dma-buf. It stays the caller's, and may be closed when the call has returned.
/// offset, bytes: the part; no alignment is needed.
/// access, region: as in `pl_register`.
///
/// Returns as `pl_register`. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `region` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_register_dmabuf(
    device: *const pl_device,
    file: c_int,
    offset: u64,
    bytes: u64,
    access: u32,
    region: *mut *mut pl_region,
) -> c_int {
    let by = |device: &Device, permissions| {
        if file < 0 {
            return Err(Failure::invalid(format!("{file} is not a file descriptor")));
        }
        // SAFETY: it is used within the call only; the driver refuses one that is not open.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        Ok(device.register_dmabuf(file, offset, bytes, permissions)?)
    };
    // SAFETY: the caller promises handle and place.
    unsafe { register(device, access, region, by) }
}

/// Registers memory of an NVIDIA GPU by its device pointer, through NVIDIA's interface for peers. Where the GPU's
/// driver exports dma-bufs, `pl_register_dmabuf` is the better way: examples/01-hello/cuda.c. Its remark on reads
/// applies here, too.
///
/// address, bytes: the memory, as CUDA names it; no alignment is needed. The driver pins the pages of 64 KiB around it,
/// and the board reaches the bytes that were asked for.
/// identity: its CU_POINTER_ATTRIBUTE_BUFFER_ID. A region that was ended may stay cached, and is found again by
/// address, length and this number: addresses are used again for other memory, these numbers are not. 0: not known;
/// then only NVIDIA's driver reports to the board's driver that memory was freed.
/// access, region: as in `pl_register`.
///
/// Returns as `pl_register`. Thread-safe.
///
/// # Safety
/// The handle was not ended, the memory is the program's as in `pl_register`, and `region` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_register_nvidia(
    device: *const pl_device,
    address: u64,
    bytes: u64,
    identity: u64,
    access: u32,
    region: *mut *mut pl_region,
) -> c_int {
    // SAFETY: the caller promises handle and place, and the conditions for the memory.
    unsafe {
        register(device, access, region, |device, permissions| {
            Ok(device.register_nvidia(address, bytes, identity, permissions)?)
        })
    }
}

/// Bytes that `pl_region_probe` reads.
pub const PL_PROBE_BYTES: usize = 64;

// The driver's number.
const _: () = assert!(PL_PROBE_BYTES == PROBE_BYTES);

/// Has the board read PL_PROBE_BYTES bytes of a region, and returns the bytes that it read. This shows whether
/// transfers to the FPGA work. Not every computer passes reads from one PCIe device to another. Some send them
/// elsewhere without any error: neither the board nor this library can distinguish such bytes from data. So fill the
/// memory with a pattern, probe, and compare. If the bytes differ, move data to the FPGA through host memory: copy them
/// there by the GPU's own driver first. Host memory does not have this problem. Transfers from the FPGA write, but they
/// also read back if the region is PL_READ | PL_WRITE: where such reads fail (PL_FAULT), register memory as PL_WRITE
/// alone.
///
/// The device must not have a queue yet, and cannot get one afterwards (`pl_queue_open` then returns PL_BUSY). So open
/// another device for the probe by `pl_open`, register the memory there, and close it.
///
/// region: memory that the board may read.
/// offset: first byte in the region.
/// fpga_address: the place of the bytes in FPGA memory that the device has allocated; they overwrite its content.
/// data: the place for the bytes that the board has read: room for PL_PROBE_BYTES.
///
/// Returns PL_OK: the board has read bytes, compare them; PL_FAULT: it could not read; PL_BUSY: there is a queue;
/// PL_UNSUPPORTED: the driver has no probes; PL_REFUSED, PL_GONE, PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and `data` is a place for PL_PROBE_BYTES bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_region_probe(
    region: *const pl_region,
    offset: u64,
    fpga_address: u64,
    data: *mut u8,
) -> c_int {
    run(|| {
        if data.is_null() {
            return Err(Failure::invalid("the place for the data is null"));
        }
        // SAFETY: the caller promises both.
        unsafe {
            let found = get(region, "region")?.0.probe(offset, fpga_address)?;
            data.copy_from_nonoverlapping(found.as_ptr(), found.len());
        }
        Ok(PL_OK)
    })
}

/// Function that copies a few bytes to `offset` of a region and on, for `pl_region_set_copy`. It returns 0 when they
/// have arrived, or a number for the error's text.
pub type pl_copy = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        offset: u64,
        bytes: *const c_void,
        length: u64,
    ) -> c_int,
>;

/// A program's function, and its argument.
#[derive(Debug)]
struct Copy {
    copy: unsafe extern "C" fn(*mut c_void, u64, *const c_void, u64) -> c_int,
    /// Its first argument, as an address.
    user: usize,
}

impl Patch for Copy {
    fn patch(&self, offset: u64, bytes: &[u8]) -> peerlane_host::Result<()> {
        let user = std::ptr::with_exposed_provenance_mut(self.user);
        // SAFETY: the program that gave the function promised that it can be called so.
        match unsafe { (self.copy)(user, offset, bytes.as_ptr().cast(), bytes.len() as u64) } {
            0 => Ok(()),
            number => Err(Error::Ends {
                reason: format!("the program's function returned {number}"),
            }),
        }
    }
}

/// Sets the function that writes a few bytes of a GPU's memory where the board cannot. Boards with Altera's Avalon-MM
/// bridge write whole dwords only: `pl_submit` refuses a transfer from the FPGA to memory of `pl_register_dmabuf` or
/// `pl_register_nvidia` that begins or ends inside of a dword (PL_INVALID), unless this was called before. Host memory
/// does not need it.
///
/// copy: the function; with CUDA it calls `cuMemcpyHtoDAsync` with a stream made by CU_STREAM_NON_BLOCKING, and waits
/// for that copy. It copies 1 to 3 bytes, at each end of such a transfer, before the transfer counts as ended. Any
/// thread that submits, waits or polls calls it, and no other write of the queue ends in the meantime. So it must not
/// call functions of this library, must not wait for anything that may wait for a transfer, and must not end by
/// `longjmp` or an exception. The first call for a region counts.
/// user: its first argument. Both are used until the region's handle was ended and no transfer with it is under way.
///
/// Returns PL_OK or PL_INVALID. Thread-safe.
///
/// # Safety
/// The handle was not ended, and the function can be called as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_region_set_copy(
    region: *const pl_region,
    copy: pl_copy,
    user: *mut c_void,
) -> c_int {
    run(|| {
        let copy = copy.ok_or_else(|| Failure::invalid("the function is null"))?;
        let user = user.expose_provenance();
        // SAFETY: the caller promises it.
        let region = unsafe { get(region, "region") }?;
        region.0.set_patch(Arc::new(Copy { copy, user }));
        Ok(PL_OK)
    })
}

/// Ends a region's handle; null has no effect. While a transfer with the region is under way it does not end the
/// handle: the board may still write the memory. So free the memory only if this has returned PL_OK.
///
/// Returns PL_OK: no transfer moves the memory any more, and the handle has ended. PL_BUSY: a transfer is under way.
/// Wait for it, or end it by `pl_transfer_stop`, `pl_queue_restart` or `pl_queue_close`, and call this again.
///
/// # Safety
/// The handle was not ended, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pl_unregister(region: *mut pl_region) -> c_int {
    let in_use = run(|| {
        // SAFETY: the caller promises it.
        let Some(region) = (unsafe { region.as_ref() }) else {
            return Ok(PL_OK);
        };
        if region.0.is_in_use() {
            let hint = "Wait for the transfer, or end it by pl_transfer_stop, pl_queue_restart or pl_queue_close.";
            return Err(Failure::busy(
                "a transfer with the region is under way",
                hint,
            ));
        }
        Ok(PL_OK)
    });
    if in_use == PL_OK {
        // SAFETY: the caller promises it.
        unsafe { end(region) };
    }
    in_use
}
