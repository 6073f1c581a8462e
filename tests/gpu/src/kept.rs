//! Checks of cached registrations: no region that is found is of memory that was freed, and the block's RTL moves the
//! bytes that the memory has now.

use crate::Bench;
use crate::cuda::{Kernels, pattern};
use crate::routes::Rig;
use anyhow::{Context as _, Result, bail, ensure};
use cudarc::driver::result;
use peerlane_gpu::{GpuBuffer, GpuRegion};
use peerlane_host::cache::{Cache, Limits};
use peerlane_host::{Permissions, Queue};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
const BOTH: Permissions = Permissions::ReadWrite;

/// Bytes that the board reads each time.
const PIECE: u64 = 4096;

/// A time limit, in the board's time.
const LIMIT: Duration = Duration::from_secs(1);

/// A board that reads from GPU memory and returns the bytes.
pub struct Reader {
    pub rig: Rig,
    queue: Queue,
    fpga: peerlane_host::FpgaMemory,
}

impl Reader {
    pub fn new(bench: &Bench<'_>) -> Result<Self> {
        let rig = Rig::new(bench)?;
        let fpga = rig.device.allocate(PIECE)?;
        Ok(Self {
            queue: rig.device.queue()?,
            fpga,
            rig,
        })
    }

    pub fn read(&self, region: &GpuRegion, offset: u64, length: u64) -> Result<Vec<u8>> {
        let part = region.part(offset..offset + length)?;
        let transfer = self.queue.to_fpga(part, self.fpga.base())?;
        transfer.wait(LIMIT)?;
        let mut bytes = vec![0; length as usize];
        self.rig.board.fpga_read(self.fpga.base(), &mut bytes)?;
        Ok(bytes)
    }

    /// Checks that the board reads the pattern of this seed.
    pub fn expect(&self, region: &GpuRegion, seed: u32) -> Result<()> {
        let bytes = self.read(region, 0, PIECE)?;
        ensure!(
            bytes == pattern(bytes.len(), seed),
            "the board has read other bytes than those of {seed}"
        );
        Ok(())
    }
}

/// Memory of the program's own, by `cuMemAlloc`.
struct Own(u64);

impl Own {
    fn new(bench: &Bench<'_>, bytes: usize) -> Result<Self> {
        bench.context.bind_to_thread()?;
        // SAFETY: the content is not read before it is written.
        Ok(Self(unsafe { result::malloc_sync(bytes) }?))
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        // SAFETY: the memory is this value's, and as long.
        Ok(unsafe { result::memcpy_htod_sync(self.0, bytes) }?)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: the memory belongs to this value, and is freed once.
        let _ = unsafe { result::free_sync(self.0) };
    }
}

/// Checks memory at one address: buffers of the library come and go there, and so does memory of the program's own, of
/// which the cache is not notified.
pub fn reused(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let reader = Reader::new(bench)?;
    let device = &reader.rig.device;
    let cache = Cache::new(Limits::default());

    let mut addresses = Vec::new();
    for seed in 0..16 {
        let buffer = bench.gpu.plain_buffer(4 * MIB)?;
        kernels.fill(&buffer, PIECE, seed)?;
        let region = buffer.register_cached(&cache, device, 0..4 * MIB, BOTH)?;
        reader.expect(&region, seed)?;
        let part = buffer.register_cached(&cache, device, 0..PIECE, BOTH)?;
        ensure!(part.pages().handle() == region.pages().handle());
        addresses.push(buffer.address());
        drop((region, part, buffer));
        ensure!(
            cache.statistics().regions == 0,
            "a buffer that was freed is cached"
        );
    }
    let again = again(&mut addresses);
    ensure!(cache.statistics().registered == 16 && cache.statistics().found == 16);

    // The program's own memory. The cache asks at each use which memory it is.
    let (mut own_addresses, mut stale) = (Vec::new(), None);
    for seed in 100..116 {
        let own = Own::new(bench, 4 << 20)?;
        own.write(&pattern(PIECE as usize, seed))?;
        // SAFETY: the memory is this check's, and is freed when no transfer is under way.
        let region = unsafe { (bench.gpu).register_cached(&cache, device, own.0, PIECE, BOTH) }?;
        reader.expect(&region, seed)?;
        own_addresses.push(own.0);
        // Cached as by a cache that only compares addresses.
        if seed == 115 {
            stale = Some((own.0, region));
        }
    }
    let own_again = self::again(&mut own_addresses);
    ensure!(
        own_again > 0,
        "no address was used again: nothing was tested"
    );
    reader.rig.nothing_is_lost()?;

    // The result of such a cache: the check sees the access.
    let (address, region) = stale.context("nothing was cached")?;
    let next = Own::new(bench, 4 << 20)?;
    let dead = match reader.read(&region, 0, 64) {
        Ok(bytes) => format!("returns {:02x?}", &bytes[..4]),
        Err(error) => format!("ends in: {error}"),
    };
    ensure!(
        reader.rig.peers.lost()[0] > 0,
        "an access to freed memory was not detected"
    );
    let same = match next.0 == address {
        true => "the same",
        false => "another",
    };
    Ok(format!(
        "16 buffers, {again} at an earlier address, and 16 of the program, {own_again} at an earlier address, without \
         a call of the cache: the board read the bytes of each buffer; a mapping cached by its address alone (new \
         memory at {same} address) {dead}"
    ))
}

/// Returns the number of addresses that came more than once.
fn again(addresses: &mut Vec<u64>) -> usize {
    let all = addresses.len();
    addresses.sort_unstable();
    addresses.dedup();
    all - addresses.len()
}

/// A linear congruential generator; its upper bits are the better ones (Knuth, volume 2, 3.2.1.3).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Allocates, frees and registers at random, with little room in the cache; each time the board reads a piece. Also
/// measures the cost of finding memory again.
pub fn random(bench: &Bench<'_>) -> Result<String> {
    const SLOTS: usize = 6;
    const STEPS: u32 = 400;
    let kernels = Kernels::load(bench)?;
    let reader = Reader::new(bench)?;
    let device = &reader.rig.device;
    let cache = Cache::new(Limits {
        regions: 4,
        bytes: 9 * MIB,
        bar_bytes: 8 * MIB,
    });
    let mut slots: [Option<(GpuBuffer, u32)>; SLOTS] = std::array::from_fn(|_| None);
    let (mut draws, mut gets, mut buffers) = (Draws(14), 0, 0);
    for step in 0..STEPS {
        let slot = &mut slots[draws.below(SLOTS as u64) as usize];
        match slot {
            Some(_) if draws.below(5) == 0 => *slot = None,
            Some((buffer, seed)) => {
                let start = draws.below(buffer.length() / 4 - PIECE) & !63;
                let length = (PIECE + draws.below(buffer.length() - start - PIECE)) & !3;
                let range = start..start + length;
                let region = buffer.register_cached(&cache, device, range, BOTH)?;
                let offset = draws.below(length - 256) & !3;
                let bytes = reader.read(&region, offset, 256)?;
                let all = (start + offset) as usize;
                let expected = pattern(all + 256, *seed).split_off(all);
                ensure!(bytes == expected, "step {step}: other bytes");
                gets += 1;
            }
            None => {
                let length = MIB * (1 + draws.below(3));
                let buffer = match draws.below(2) {
                    0 => bench.gpu.plain_buffer(length)?,
                    _ => bench.gpu.buffer(length)?,
                };
                kernels.fill(&buffer, length, step)?;
                *slot = Some((buffer, step));
                buffers += 1;
            }
        }
        let now = cache.statistics();
        ensure!(now.regions <= 4 && now.bytes <= 9 * MIB, "{now:?}");
    }
    reader.rig.nothing_is_lost()?;
    let statistics = cache.statistics();
    drop(slots);
    ensure!(cache.statistics().regions == 0);

    let buffer = bench.gpu.plain_buffer(MIB)?;
    let find = |times: u32| -> Result<f64> {
        let begin = Instant::now();
        for _ in 0..times {
            buffer.register_cached(&cache, device, 0..MIB, BOTH)?;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e9 / f64::from(times))
    };
    find(1)?;
    let nanoseconds = find(10_000)?;
    if nanoseconds > 5_000.0 {
        bail!("it takes {nanoseconds:.0} ns to find a buffer");
    }
    Ok(format!(
        "{STEPS} steps, {buffers} buffers, {gets} requests for memory, {} found and {} registered, data right; it \
         takes {nanoseconds:.0} ns to find a buffer again (compiled for tests)",
        statistics.found, statistics.registered
    ))
}
