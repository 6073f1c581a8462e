//! A GPU next to a simulated board, for programs in C: the functions that a real GPU's driver has for its memory. A
//! program finds these functions as it finds those of `peerlane_ext.h`, and registers their pointers with
//! `clCreatePeerMemoryFromPointerPeerlane`.

use crate::Simulated;
use peerlane_host::driver::Backend;
use peerlane_host::{Memory, MemoryKind};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Allocated memory, by its first byte.
static MEMORIES: Mutex<BTreeMap<usize, Memory>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<usize, Memory>> {
    MEMORIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function with the memory that an address is in, and the offset in it.
fn with(address: usize, f: impl FnOnce(&Memory, usize) -> peerlane_host::Result<()>) -> c_int {
    let memories = lock();
    let Some((first, memory)) = memories.range(..=address).next_back() else {
        return -1;
    };
    match f(memory, address - first) {
        Ok(()) => 0,
        Err(_) => -1,
    }
}

/// Allocates memory of the GPU next to a board, all zeros; returns NULL after an error.
// SAFETY: no other code has a function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn peerlane_simulated_gpu_allocate(board: c_uint, bytes: usize) -> *mut c_void {
    let running = Simulated::named().run(board as usize);
    let allocated = running.map(|running| running.board.clone().memory(MemoryKind::Gpu, bytes));
    match allocated {
        Ok(Ok(memory)) => {
            let address = memory.address() as usize;
            // Each simulation allocates addresses by itself.
            if let Some(other) = lock().insert(address, memory) {
                lock().insert(address, other);
                return refused(&"the GPU of another board has memory at this address");
            }
            without_provenance_mut(address)
        }
        Ok(Err(error)) => refused(&error),
        Err(error) => refused(&error),
    }
}

fn refused(error: &dyn std::fmt::Display) -> *mut c_void {
    eprintln!("the simulated GPU: {error}");
    null_mut()
}

/// Copies from the GPU's memory; returns 0, or -1 if the bytes do not all lie in one allocation.
///
/// # Safety
/// `to` is good for writes of `bytes` bytes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peerlane_simulated_gpu_read(
    from: *const c_void,
    to: *mut c_void,
    bytes: usize,
) -> c_int {
    with(from.addr(), |memory, offset| {
        // The program may not have written its memory yet.
        let mut copy = vec![0; bytes];
        memory.read(offset, &mut copy)?;
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(copy.as_ptr(), to.cast(), bytes) };
        Ok(())
    })
}

/// Copies into the GPU's memory; as [`peerlane_simulated_gpu_read`].
///
/// # Safety
/// `from` is good for reads of `bytes` bytes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peerlane_simulated_gpu_write(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> c_int {
    with(to.addr(), |memory, offset| {
        let mut copy = vec![0_u8; bytes];
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from.cast(), copy.as_mut_ptr(), bytes) };
        memory.write(offset, &copy)
    })
}

/// Frees the memory with this first byte; a board that it is registered with keeps it until it is unregistered.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn peerlane_simulated_gpu_free(memory: *mut c_void) -> c_int {
    let freed = lock().remove(&memory.addr());
    if freed.is_some() { 0 } else { -1 }
}
