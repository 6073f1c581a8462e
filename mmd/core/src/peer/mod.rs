//! Memory of a GPU, or of another PCIe device, for OpenCL programs: the functions of `peerlane_ext.h`.
//!
//! # Locks
//! The runtime calls the MMD under a lock of its own, including `aocl_mmd_close` and the reads that find a buffer's
//! address. All of OpenCL's functions take that lock. So no lock of this library is held while one of them is called,
//! and `aocl_mmd_close` waits for no thread that may be in one of them: only for bytes that are being moved.

pub(crate) mod address;
pub(crate) mod copy;
pub(crate) mod opencl;
pub(crate) mod register;

pub use opencl::{
    Find, Lookup, Notify, Process, cl_bool, cl_device_id, cl_event, cl_int, cl_mem, cl_mem_flags,
    cl_peer_memory_peerlane, cl_uint, cl_ulong,
};

use crate::board::{Board, Gate};
use crate::code::{CL_INVALID_PEER_MEMORY_PEERLANE, refused};
use address::Probes;
use opencl::OpenCl;
use peerlane_host::{Direction, Permissions, Region};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Memory that a program has registered.
#[derive(Debug)]
pub(crate) struct PeerMemory {
    pub(crate) gate: Arc<Gate>,
    /// The board's handle, and its name.
    pub(crate) board: c_int,
    name: String,
    /// `None` once the board is closed.
    region: Mutex<Option<Region>>,
    /// Offset of its first byte in the region.
    first: u64,
    length: u64,
    permissions: Permissions,
}

/// All memory that the process has registered.
pub(crate) struct Peers {
    pub(crate) opencl: Arc<OpenCl>,
    pub(crate) probes: Probes,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// By the number in its handle, which is never used twice.
    handles: BTreeMap<usize, Arc<PeerMemory>>,
    last: usize,
    /// All memory that any code holds, also without a handle.
    all: Vec<Weak<PeerMemory>>,
}

impl PeerMemory {
    fn region(&self) -> Option<Region> {
        let region = self.region.lock();
        region.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the board's name in OpenCL.
    pub(crate) fn device_name(&self) -> String {
        crate::board::device_name(&self.name)
    }

    /// Whether the board may move bytes in this direction.
    fn permits(&self, direction: Direction) -> bool {
        match direction {
            Direction::FromFpga => self.permissions.write(),
            Direction::ToFpga => self.permissions.read(),
        }
    }
}

/// Makes the error of an unknown handle.
fn unknown(handle: cl_peer_memory_peerlane) -> c_int {
    let cause = match handle.addr() {
        0 => "the memory is NULL".into(),
        number => format!("there is no peer memory {number:#x}, or it was released"),
    };
    refused(CL_INVALID_PEER_MEMORY_PEERLANE, cause)
}

impl Peers {
    pub(crate) fn new(lookup: impl Lookup + Send + Sync + 'static) -> Self {
        Self {
            opencl: OpenCl::new(lookup),
            probes: Probes::default(),
            table: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives memory a handle.
    fn insert(&self, memory: PeerMemory) -> cl_peer_memory_peerlane {
        let memory = Arc::new(memory);
        let mut table = self.lock();
        table.all.retain(|other| other.strong_count() > 0);
        table.all.push(Arc::downgrade(&memory));
        table.last += 1;
        let number = table.last;
        table.handles.insert(number, memory);
        without_provenance_mut(number)
    }

    pub(crate) fn find(&self, handle: cl_peer_memory_peerlane) -> Result<Arc<PeerMemory>, c_int> {
        let found = self.lock().handles.get(&handle.addr()).cloned();
        found.ok_or_else(|| unknown(handle))
    }

    /// Removes a handle. The memory is unregistered when no copy has it any more.
    pub(crate) fn remove(&self, handle: cl_peer_memory_peerlane) -> Result<(), c_int> {
        let removed = self.lock().handles.remove(&handle.addr());
        // The driver is called without the lock.
        removed.map(drop).ok_or_else(|| unknown(handle))
    }

    /// Ends a board's copies, and unregisters all memory that was registered with it.
    pub(crate) fn close(&self, handle: c_int, board: &Board) {
        board.gate.close(|| board.dma().stop());
        let mut table = self.lock();
        table.handles.retain(|_, memory| memory.board != handle);
        let all = std::mem::take(&mut table.all);
        let (ours, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|memory| {
            memory
                .upgrade()
                .is_some_and(|memory| memory.board == handle)
        });
        table.all = others;
        drop(table);
        for memory in ours.iter().filter_map(Weak::upgrade) {
            let region = memory.region.lock();
            let region = region.unwrap_or_else(PoisonError::into_inner).take();
            drop(region);
        }
    }
}
