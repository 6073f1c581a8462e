//! Checks of memory that the program maps by itself: pieces next to each other, and new memory at an earlier address.

use crate::Bench;
use crate::cuda::pattern;
use crate::kept::Reader;
use anyhow::{Context as _, Result, bail, ensure};
use cudarc::driver::{result, sys};
use peerlane_gpu::Error;
use peerlane_host::Permissions;
use peerlane_host::cache::{Cache, Limits};
use std::ffi::c_void;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ptr::{null_mut, with_exposed_provenance_mut};

const BOTH: Permissions = Permissions::ReadWrite;

/// Pieces of a reservation.
const PIECES: usize = 4;

/// Bytes that the board reads each time.
const BYTES: u64 = 4096;

/// Times that an address is used again.
const ROUNDS: usize = 8;

/// Returns the properties of memory to be created.
fn properties(bench: &Bench<'_>, for_peers: bool) -> sys::CUmemAllocationProp {
    // SAFETY: a structure of C's of numbers, pointers and enumerations that all have a value 0.
    let mut properties: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = sys::CUmemLocation {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: bench.gpu.device(),
    };
    properties.allocFlags.gpuDirectRDMACapable = u8::from(for_peers);
    properties
}

/// Reserved addresses at which pieces are mapped.
struct Places {
    base: u64,
    piece: usize,
    mapped: [bool; PIECES],
}

impl Places {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        bench.context.bind_to_thread()?;
        let properties = properties(bench, true);
        let option = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
        let (mut piece, mut base) = (0, 0);
        // SAFETY: places of the types that the functions name; the size is a multiple of the granularity.
        unsafe {
            sys::cuMemGetAllocationGranularity(&raw mut piece, &raw const properties, option)
                .result()?;
            sys::cuMemAddressReserve(&raw mut base, PIECES * piece, 0, 0, 0).result()?;
        }
        Ok(Self {
            base,
            piece,
            mapped: [false; PIECES],
        })
    }

    fn at(&self, index: usize) -> u64 {
        self.base + (index * self.piece) as u64
    }

    /// Maps new memory. The memory has its handle only as long as it is mapped.
    fn map(&mut self, bench: &Bench<'_>, index: usize, for_peers: bool) -> Result<u64> {
        let properties = properties(bench, for_peers);
        let access = sys::CUmemAccessDesc {
            location: properties.location,
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        let (mut handle, at) = (0, self.at(index));
        // SAFETY: the place is reserved and nothing is mapped there; the handle is released once.
        unsafe {
            sys::cuMemCreate(&raw mut handle, self.piece, &raw const properties, 0).result()?;
            sys::cuMemMap(at, self.piece, 0, handle, 0).result()?;
            self.mapped[index] = true;
            sys::cuMemRelease(handle).result()?;
            sys::cuMemSetAccess(at, self.piece, &raw const access, 1).result()?;
        }
        Ok(handle)
    }

    fn unmap(&mut self, index: usize) -> Result<()> {
        if std::mem::take(&mut self.mapped[index]) {
            // SAFETY: it was mapped like this, and nothing uses it.
            unsafe { sys::cuMemUnmap(self.at(index), self.piece) }.result()?;
        }
        Ok(())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        for index in 0..PIECES {
            let _ = self.unmap(index);
        }
        // SAFETY: the range was reserved like this, and nothing is mapped there.
        let _ = unsafe { sys::cuMemAddressFree(self.base, PIECES * self.piece) };
    }
}

fn write(at: u64, bytes: &[u8]) -> Result<()> {
    // SAFETY: the caller has mapped so much; null is the default stream.
    unsafe {
        result::memcpy_htod_sync(at, bytes)?;
        result::stream::synchronize(null_mut())?;
    }
    Ok(())
}

fn attribute(at: u64, which: sys::CUpointer_attribute) -> Result<u64> {
    let mut value = 0_u64;
    // SAFETY: the attributes asked for are numbers of 64 bits.
    unsafe { sys::cuPointerGetAttribute((&raw mut value).cast(), which, at) }.result()?;
    Ok(value)
}

fn buffer_id(at: u64) -> Result<u64> {
    attribute(at, sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID)
}

/// Returns whether CUDA has a handle for the memory at an address.
fn has_handle(at: u64) -> bool {
    let (mut handle, place) = (0, with_exposed_provenance_mut::<c_void>(at as usize));
    // SAFETY: a place for the handle, which is released if there is one.
    unsafe {
        let has = sys::cuMemRetainAllocationHandle(&raw mut handle, place).result();
        has.is_ok() && sys::cuMemRelease(handle).result().is_ok()
    }
}

/// Checks that two handles next to each other are one region and one dma-buf, without the memory that follows them.
pub fn side_by_side(bench: &Bench<'_>) -> Result<String> {
    let mut places = Places::new(bench)?;
    let piece = places.piece as u64;
    for index in [0, 1] {
        places.map(bench, index, true)?;
    }
    let (mut base, mut size) = (0, 0);
    // SAFETY: places of the types that the function names.
    unsafe { sys::cuMemGetAddressRange_v2(&raw mut base, &raw mut size, places.base) }.result()?;
    let mut found = vec![format!(
        "a range by cuMemGetAddressRange has {} of {} pieces, their BUFFER_IDs {} and {}",
        size as u64 / piece,
        2,
        buffer_id(places.at(0))?,
        buffer_id(places.at(1))?
    )];
    ensure!(base == places.base && size as u64 == piece, "{found:?}");

    let middle = places.at(1) - BYTES / 2;
    // SAFETY: nothing uses a dma-buf here.
    let export = |at, length| unsafe { bench.gpu.export_address(at, length) };
    if bench.gpu.abilities().dma_buf {
        let dmabuf = export(middle, BYTES).context("two pieces as one dma-buf")?;
        let size = File::from(dmabuf.file).seek(SeekFrom::End(0))?;
        ensure!(
            size == 2 * piece && dmabuf.length == size && dmabuf.offset == piece - BYTES / 2,
            "a dma-buf of {size} bytes, reported length {}, offset {}",
            dmabuf.length,
            dmabuf.offset
        );
        found.push(format!("one dma-buf of {} KiB for both", size >> 10));
        match export(places.at(2) - 8, 16) {
            Err(Error::Bounds { .. }) => {}
            other => bail!("a range that ends where nothing is mapped: {other:?}"),
        }
        places.map(bench, 2, false)?;
        match export(places.at(2) - 8, 16) {
            Err(error @ Error::Pieces { pieces: 2, .. }) => {
                found.push(format!("with a piece of other properties: {error}"));
            }
            Ok(_) => found.push("with a piece of other properties: exported".into()),
            Err(other) => bail!("pieces of different properties: {other:?}"),
        }
    }

    let reader = Reader::new(bench)?;
    let cache = Cache::new(Limits::default());
    let data = pattern(BYTES as usize, 41);
    write(middle, &data)?;
    // SAFETY: the memory is this check's, and stays to its end.
    let register = |at, length| unsafe {
        bench
            .gpu
            .register_cached(&cache, &reader.rig.device, at, length, BOTH)
    };
    let region = register(middle, BYTES)?;
    ensure!(
        reader.read(&region, 0, BYTES)? == data,
        "the board has read other bytes over the border of two pieces"
    );
    let part = register(places.at(1), 64)?;
    ensure!(
        part.pages().handle() == region.pages().handle(),
        "a part in the second piece was registered again"
    );
    reader.rig.nothing_is_lost()?;
    found.push("the board reads over their border, data right".into());
    Ok(found.join("; "))
}

/// Reports whether an identity stayed the same, and how often.
fn told(kept: usize, all: usize) -> String {
    match kept {
        0 => format!("BUFFER_ID changed each of {all} times"),
        _ => format!("BUFFER_ID KEPT {kept} of {all} times"),
    }
}

/// Checks that new memory at an address is registered again, independent of the identity that CUDA reports: memory that
/// the program mapped, and memory of a pool that was trimmed.
pub fn anew(bench: &Bench<'_>) -> Result<String> {
    let reader = Reader::new(bench)?;
    let cache = Cache::new(Limits::default());
    // SAFETY: the memory is this check's, and no transfer is under way when it goes.
    let register = |at| unsafe {
        bench
            .gpu
            .register_cached(&cache, &reader.rig.device, at, BYTES, BOTH)
    };
    let mut places = Places::new(bench)?;
    let at = places.base;
    let mut handle = places.map(bench, 0, true)?;
    ensure!(
        has_handle(at),
        "CUDA returns no handle of the mapped memory"
    );
    let (mut kept, mut same_handle) = (0, 0);
    for round in 0..ROUNDS {
        let (identity, region) = (buffer_id(at)?, register(at)?);
        ensure!(register(at)?.pages().handle() == region.pages().handle());
        drop(region);
        places.unmap(0)?;
        let next = places.map(bench, 0, true)?;
        same_handle += usize::from(next == handle);
        handle = next;
        kept += usize::from(buffer_id(at)? == identity);
        let seed = 50 + round as u32;
        write(at, &pattern(BYTES as usize, seed))?;
        // The region's number proves nothing: numbers are used again, too.
        reader
            .expect(&register(at)?, seed)
            .context("memory that was mapped again")?;
    }
    let mapped = format!(
        "mapped again: {}, the handle's number {same_handle} times the same",
        told(kept, ROUNDS)
    );
    let plain = bench.gpu.plain_buffer(1 << 20)?;
    let plain = match has_handle(plain.address()) {
        true => "cuMemAlloc's memory has a handle, which is not used",
        false => "cuMemAlloc's memory has no handle",
    };
    let pool = pool(bench, &reader, &register)?;
    reader.rig.nothing_is_lost()?;
    Ok(format!(
        "{mapped}; {plain}; {pool}; each registered again, data right"
    ))
}

/// Checks memory of a pool, which unmaps and maps when it wants.
fn pool(
    bench: &Bench<'_>,
    reader: &Reader,
    register: &impl Fn(u64) -> peerlane_gpu::Result<peerlane_gpu::GpuRegion>,
) -> Result<String> {
    const SIZE: usize = 64 << 20;
    let stream = bench.context.new_stream()?;
    let mut pool = null_mut();
    // SAFETY: a place for the pool.
    unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, bench.gpu.device()) }.result()?;
    let mut before: Option<(u64, u64)> = None;
    let (mut again, mut kept, mut handles) = (0, 0, 0);
    for round in 0..ROUNDS {
        let mut at = 0;
        // SAFETY: a place for the address.
        unsafe { sys::cuMemAllocAsync(&raw mut at, SIZE, stream.cu_stream()) }.result()?;
        stream.synchronize()?;
        let identity = buffer_id(at)?;
        handles += usize::from(has_handle(at));
        let region = match register(at) {
            Ok(region) => region,
            Err(error) => return Ok(format!("a pool's memory is not registered: {error}")),
        };
        if let Some((_, last)) = before.filter(|(address, _)| *address == at) {
            again += 1;
            kept += usize::from(last == identity);
        }
        before = Some((at, identity));
        let seed = 80 + round as u32;
        write(at, &pattern(BYTES as usize, seed))?;
        (reader.expect(&region, seed))
            .with_context(|| format!("memory of a pool that was trimmed, BUFFER_ID {identity}"))?;
        drop(region);
        // SAFETY: the memory is this function's, and freed once; memory that stays in the pool is not used.
        unsafe {
            sys::cuMemFreeAsync(at, stream.cu_stream()).result()?;
            stream.synchronize()?;
            sys::cuMemPoolTrimTo(pool, 0).result()?;
        }
    }
    Ok(format!(
        "a pool, trimmed each time: the same address {again} times, {}, with a handle {handles} of {ROUNDS} times",
        told(kept, again)
    ))
}
