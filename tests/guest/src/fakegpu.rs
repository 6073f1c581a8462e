//! The test's GPU, `/dev/fakegpu`: a client of the kernel module in `tests/fake-gpu`, whose `fakegpu.h` explains the
//! terms.

use crate::raw;
use anyhow::{Context, Result, ensure};
use peerlane_host::Memory;
use rustix::fd::{FromRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Content of VRAM that belongs to no buffer.
pub const POISON: u8 = 0xdb;

/// Unit in which VRAM is allocated.
pub const GRANULE: usize = 64 << 10;

const PIECES: usize = 16;

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Info {
    vram_bytes: u64,
    free_bytes: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Alloc {
    size: u64,
    address: u64,
    id: u64,
    offset: u32,
    pieces: u32,
    handle: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Free {
    handle: u32,
    flags: u32,
}

/// A piece of VRAM.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Where {
    handle: u32,
    count: u32,
    pieces: [Piece; PIECES],
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Export {
    handle: u32,
    flags: u32,
    fd: i32,
    reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Fence {
    handle: u32,
    ms: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Move {
    handle: u32,
    flags: u32,
    timeout_ms: u32,
    old_handle: u32,
}

/// Counters of the GPU: `enum fakegpu_count`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Buffers that exist now.
    pub buffers: u64,
    /// Dma-bufs that exist now.
    pub dmabufs: u64,
    /// Importers that are attached now.
    pub attachments: u64,
    /// Pins of dma-bufs that are held now.
    pub pins: u64,
    /// Mappings of dma-bufs that exist now.
    pub maps: u64,
    /// Page tables that other drivers have now.
    pub tables: u64,
    /// Dma-bufs whose importers were notified that they must release them.
    pub invalidations: u64,
    /// Page tables whose owners were notified by the free callback.
    pub callbacks: u64,
    /// Page tables that were returned and that the GPU's driver did not find.
    pub late_puts: u64,
    /// Importers that were refused for their place in the PCI tree.
    pub too_far: u64,
    /// Importers that did not release the memory in time.
    pub err_still_mapped: u64,
    /// Requests for pages that are not whole granules.
    pub err_unaligned: u64,
    /// Calls in the free callback that are not allowed there.
    pub err_in_callback: u64,
    /// Page tables that the free callback did not free.
    pub err_not_freed: u64,
    /// Page tables that were freed where it is not allowed.
    pub err_freed: u64,
}

impl Counts {
    fn clean(&self) -> Result<()> {
        let left = [
            self.dmabufs,
            self.attachments,
            self.pins,
            self.maps,
            self.tables,
        ];
        ensure!(left == [0; 5], "something is left: {self:?}");
        let wrong = [
            self.err_still_mapped,
            self.err_unaligned,
            self.err_in_callback,
            self.err_not_freed,
            self.err_freed,
        ];
        ensure!(wrong == [0; 5], "a rule was broken: {self:?}");
        Ok(())
    }
}

const TYPE: u8 = b'g';
const INFO: Opcode = opcode::read::<Info>(TYPE, 0);
const ALLOC: Opcode = opcode::read_write::<Alloc>(TYPE, 1);
const FREE: Opcode = opcode::write::<Free>(TYPE, 2);
const WHERE: Opcode = opcode::read_write::<Where>(TYPE, 3);
const EXPORT: Opcode = opcode::read_write::<Export>(TYPE, 4);
const FENCE: Opcode = opcode::write::<Fence>(TYPE, 5);
const MOVE: Opcode = opcode::read_write::<Move>(TYPE, 6);
const COUNTS: Opcode = opcode::read::<Counts>(TYPE, 7);

const FREE_REVOKE: u32 = 1;
const EXPORT_NO_PIN: u32 = 1;
const EXPORT_READ_ONLY: u32 = 2;
const MOVE_PINNED: u32 = 1;

/// The longest time that the kernel takes to release a file.
const RELEASED: Duration = Duration::from_secs(2);

/// Time that a move waits for importers before the GPU counts an error, in milliseconds.
const MOVE_MS: u32 = 10_000;

#[derive(Debug)]
struct Card {
    file: File,
    vram: Memory,
}

impl Card {
    fn call<T: Copy>(&self, code: Opcode, mut argument: T) -> Result<T, Errno> {
        // SAFETY: the codes above name the structures that they go with.
        unsafe { raw::at(&self.file, code, (&raw mut argument) as usize)? };
        Ok(argument)
    }
}

/// The GPU, opened. Its buffers are freed when it is closed.
#[derive(Debug, Clone)]
pub struct Gpu(Arc<Card>);

impl Gpu {
    /// Opens the GPU.
    pub fn open() -> Result<Self> {
        let path = "/dev/fakegpu";
        let file = File::options().read(true).write(true).open(path);
        let file = file.with_context(|| format!("{path}: is fakegpu.ko loaded?"))?;
        let mut info = Info::default();
        // SAFETY: the code names the structure.
        unsafe { raw::at(&file, INFO, (&raw mut info) as usize)? };
        // SAFETY: it is the memory of the GPU, and used by copying alone.
        let vram = unsafe { Memory::device(&file, usize::try_from(info.vram_bytes)?)? };
        Ok(Self(Arc::new(Card { file, vram })))
    }

    /// Returns the counters since the module was loaded.
    pub fn counts(&self) -> Result<Counts> {
        Ok(self.0.call(COUNTS, Counts::default())?)
    }

    /// Fails if another driver still has anything of the GPU's, or has ever broken a rule. The kernel releases a file
    /// whose last reference was a kernel thread's a moment later (`delayed_fput` in fs/file_table.c), so the dma-bufs are
    /// waited for.
    pub fn clean(&self) -> Result<()> {
        let begin = Instant::now();
        loop {
            let counts = self.counts()?;
            let clean = counts.clean();
            let lags = counts.dmabufs > 0 && counts.attachments == 0;
            if clean.is_ok() || !lags || begin.elapsed() > RELEASED {
                return clean;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Allocates a buffer of zeros that begins `offset` bytes after the start of a granule and lies in `pieces` pieces;
    /// at the device pointer `address`, if one is given.
    pub fn buffer(
        &self,
        size: usize,
        offset: usize,
        pieces: u32,
        address: Option<u64>,
    ) -> Result<GpuBuffer> {
        let alloc = Alloc {
            size: size as u64,
            address: address.unwrap_or(0),
            offset: u32::try_from(offset)?,
            pieces,
            ..Default::default()
        };
        let alloc = self.0.call(ALLOC, alloc).context("no VRAM")?;
        Ok(self.owned(alloc.handle, size, alloc.address, alloc.id))
    }

    fn owned(&self, handle: u32, size: usize, address: u64, id: u64) -> GpuBuffer {
        GpuBuffer {
            gpu: self.clone(),
            handle: Some(handle),
            size,
            address,
            id,
        }
    }

    /// Fails unless these pieces of VRAM hold nothing but poison.
    pub fn is_poisoned(&self, pieces: &[Piece]) -> Result<()> {
        for piece in pieces {
            let mut bytes = vec![0; piece.length as usize];
            self.0.vram.read(piece.offset as usize, &mut bytes)?;
            let found = bytes.iter().position(|byte| *byte != POISON);
            ensure!(
                found.is_none(),
                "VRAM {:#x} was written after it had been invalidated",
                piece.offset + found.unwrap_or(0) as u64
            );
        }
        Ok(())
    }
}

/// Access that a dma-buf's file is open for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only reading.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// A buffer of the GPU. It is freed when the value is dropped; its dma-bufs live on.
#[derive(Debug)]
pub struct GpuBuffer {
    gpu: Gpu,
    handle: Option<u32>,
    size: usize,
    address: u64,
    id: u64,
}

impl GpuBuffer {
    /// Returns the device pointer, which is valid in this process.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the buffer's identity: another buffer at the same address has another one.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    fn handle(&self) -> u32 {
        // Only `free` takes the handle, and there is no buffer after it.
        self.handle.unwrap_or(0)
    }

    /// Returns the pieces of VRAM that the buffer has now.
    pub fn pieces(&self) -> Result<Vec<Piece>> {
        let asked = Where {
            handle: self.handle(),
            ..Default::default()
        };
        let place = self.gpu.0.call(WHERE, asked)?;
        Ok(place.pieces[..place.count as usize].to_vec())
    }

    /// Calls `f(offset in VRAM, range)` for each piece of a range of the buffer.
    fn stretches(
        &self,
        offset: usize,
        length: usize,
        mut f: impl FnMut(usize, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        ensure!(offset + length <= self.size, "not inside the buffer");
        let (mut skip, mut done) = (offset, 0);
        for piece in self.pieces()? {
            let bytes = piece.length as usize;
            let here = bytes.saturating_sub(skip).min(length - done);
            if here > 0 {
                f(piece.offset as usize + skip, done..done + here)?;
            }
            skip = skip.saturating_sub(bytes);
            done += here;
        }
        Ok(())
    }

    /// Writes into the buffer, by the CPU.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.stretches(offset, bytes.len(), |place, range| {
            Ok(self.gpu.0.vram.write(place, &bytes[range])?)
        })
    }

    /// Reads from the buffer, by the CPU.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.stretches(offset, bytes.len(), |place, range| {
            Ok(self.gpu.0.vram.read(place, &mut bytes[range])?)
        })
    }

    /// Exports the buffer as a dma-buf for reading and writing.
    pub fn dmabuf(&self, pinnable: bool) -> Result<OwnedFd> {
        self.dmabuf_for(pinnable, Access::ReadWrite)
    }

    /// Exports the buffer as a dma-buf whose file is open for `access`.
    pub fn dmabuf_for(&self, pinnable: bool, access: Access) -> Result<OwnedFd> {
        let pin = if pinnable { 0 } else { EXPORT_NO_PIN };
        let access = match access {
            Access::Read => EXPORT_READ_ONLY,
            Access::ReadWrite => 0,
        };
        let export = Export {
            handle: self.handle(),
            flags: pin | access,
            ..Default::default()
        };
        let export = self.gpu.0.call(EXPORT, export)?;
        // SAFETY: just made, and ours.
        Ok(unsafe { OwnedFd::from_raw_fd(export.fd) })
    }

    /// Makes the GPU busy with the buffer for `time`.
    pub fn fence(&self, time: Duration) -> Result<()> {
        let handle = self.handle();
        let ms = u32::try_from(time.as_millis())?;
        self.gpu.0.call(FENCE, Fence { handle, ms })?;
        Ok(())
    }

    /// Moves the buffer to another place in VRAM, also if it is pinned. Returns the old place as a poisoned buffer.
    pub fn relocate(&self) -> Result<Self> {
        let size = self
            .pieces()?
            .iter()
            .map(|piece| piece.length as usize)
            .sum();
        let order = Move {
            handle: self.handle(),
            flags: MOVE_PINNED,
            timeout_ms: MOVE_MS,
            ..Default::default()
        };
        let moved = self.gpu.0.call(MOVE, order)?;
        Ok(self.gpu.owned(moved.old_handle, size, 0, 0))
    }

    /// Frees the buffer, and takes its memory from dma-bufs, too.
    pub fn revoke(mut self) -> Result<()> {
        self.end(FREE_REVOKE)
    }

    fn end(&mut self, flags: u32) -> Result<()> {
        if let Some(handle) = self.handle.take() {
            self.gpu.0.call(FREE, Free { handle, flags })?;
        }
        Ok(())
    }
}

impl Drop for GpuBuffer {
    fn drop(&mut self) {
        // The GPU may have been removed together with the buffer.
        let _ = self.end(0);
    }
}
