//! The basis of all tests: devices, memory with guards around it, and transfers that are checked.

use crate::host::{Board, Host};
use crate::suite::skip;
use anyhow::{Context, Result, bail, ensure};
use peerlane_guest::pattern;
use peerlane_host::{Device, Direction, Error, Memory, Permissions, Queue, Region, Terms};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than any transfer of the tests takes on the simulated board.
pub const LIMIT: Duration = Duration::from_secs(240);

/// Bytes of FPGA memory that a context has in most tests: 4 MiB, and some around it. The simulated board fills the
/// memory with zeros first, so the size is small.
pub const PLACE: u64 = (4 << 20) + (128 << 10);

/// Bytes of each guard.
const GUARD: usize = 256;

/// State that all tests share.
#[derive(Debug)]
pub struct Lab {
    /// The line to the harness.
    pub host: Host,
    /// Random numbers of this run.
    pub rng: ChaCha8Rng,
    /// Whether tests that take long are run, too.
    pub all: bool,
    /// Number of attempts in tests that depend on chance.
    pub rounds: u32,
}

impl Lab {
    /// Makes a lab whose random numbers follow from a seed.
    pub fn new(seed: u64, all: bool, rounds: u32) -> Self {
        Self {
            host: Host(Board::Only),
            rng: ChaCha8Rng::seed_from_u64(seed),
            all,
            rounds,
        }
    }

    /// Makes a lab for a child process, with random numbers of its own.
    pub fn branch(&mut self) -> Self {
        self.branch_with(self.host.0)
    }

    /// Makes a lab for a child process that opens, and asks about, this board.
    pub fn branch_with(&mut self, board: Board) -> Self {
        Self {
            host: Host(board),
            ..Self::new(self.rng.next_u64(), self.all, self.rounds)
        }
    }

    /// Opens the board.
    pub fn open(&self) -> Result<Device> {
        let number = match self.host.0 {
            Board::Only => return Device::first().map_err(told),
            Board::First => 0,
            Board::Second => 1,
        };
        let name = Device::names().nth(number);
        Device::open(name.with_context(|| format!("no board {number}"))?).map_err(told)
    }

    /// Returns the first byte of a context's FPGA memory. Allocates `PLACE` bytes for a context that has none.
    pub fn place(&self, device: &Device) -> Result<u64> {
        self.place_of(device, PLACE)
    }

    /// Returns the first byte of a context's FPGA memory. Allocates `bytes` bytes for a context that has none.
    pub fn place_of(&self, device: &Device, bytes: u64) -> Result<u64> {
        match device.range() {
            range if range.is_empty() => Ok(device.allocate(bytes).map_err(told)?.keep().start),
            range => Ok(range.start),
        }
    }

    /// Allocates all FPGA memory that no process has to a context without any, and returns its first byte. This memory
    /// is not filled with zeros first.
    pub fn place_of_all(&self, device: &Device) -> Result<u64> {
        Ok(device.allocate_all(0).map_err(told)?.keep().start)
    }

    /// Moves `length` bytes at `offset` of the memory in one direction. Checks them and the bytes around them at the
    /// destination.
    pub fn check(
        &mut self,
        mover: &mut Mover,
        direction: Direction,
        target: &impl Target,
        offset: usize,
        local: u64,
        length: usize,
    ) -> Result<()> {
        let what = || {
            format!("{direction} of {length} bytes, offset {offset:#x}, FPGA address {local:#x}")
        };
        match direction {
            Direction::FromFpga => self.check_write(mover, target, offset, local, length),
            Direction::ToFpga => self.check_read(mover, target, offset, local, length),
        }
        .with_context(what)
    }

    fn check_write(
        &mut self,
        mover: &mut Mover,
        target: &impl Target,
        offset: usize,
        local: u64,
        length: usize,
    ) -> Result<()> {
        let [seed, guard] = [self.rng.next_u64(), self.rng.next_u64()];
        self.host.fpga_write(local, seed, length as u64)?;
        let start = offset.saturating_sub(GUARD);
        let end = (offset + length + GUARD).min(target.length());
        let mut expected = vec![0; end - start];
        pattern(guard, &mut expected);
        target.write(start, &expected)?;
        let inside = offset - target.first();
        mover.transfer(Direction::FromFpga, target.region(), inside, local, length)?;
        pattern(seed, &mut expected[offset - start..][..length]);
        let mut found = vec![0; end - start];
        target.read(start, &mut found)?;
        same(&expected, &found, start)
    }

    fn check_read(
        &mut self,
        mover: &mut Mover,
        target: &impl Target,
        offset: usize,
        local: u64,
        length: usize,
    ) -> Result<()> {
        let [seed, before, after] = [(); 3].map(|()| self.rng.next_u64());
        let mut bytes = vec![0; length];
        pattern(seed, &mut bytes);
        target.write(offset, &bytes)?;
        let guard = GUARD as u64;
        let head = local.saturating_sub(guard);
        let tail = local + length as u64;
        self.host.fpga_write(head, before, local - head)?;
        self.host.fpga_write(tail, after, guard)?;
        let inside = offset - target.first();
        mover.transfer(Direction::ToFpga, target.region(), inside, local, length)?;
        self.host.fpga_check(local, seed, length as u64)?;
        self.host.fpga_check(head, before, local - head)?;
        self.host.fpga_check(tail, after, guard)
    }

    /// Moves a few random stretches in both directions, and checks each.
    pub fn check_some(
        &mut self,
        mover: &mut Mover,
        buffer: &Buffer,
        place: u64,
        count: usize,
        longest: usize,
    ) -> Result<()> {
        self.check_some_of(1, mover, buffer, place, count, longest)
    }

    /// Moves a few random stretches that begin and end at multiples of `grain` bytes of the memory, and checks each.
    pub fn check_some_of(
        &mut self,
        grain: usize,
        mover: &mut Mover,
        buffer: &Buffer,
        place: u64,
        count: usize,
        longest: usize,
    ) -> Result<()> {
        for index in 0..count {
            let most = longest.min(buffer.memory.length()) / grain;
            let length = self.rng.random_range(1..=most) * grain;
            let rest = (buffer.memory.length() - length) / grain;
            let offset = self.rng.random_range(0..=rest) * grain;
            // Leaves room for the guards.
            let room = PLACE as usize - length - 2 * GUARD;
            let local = place + (GUARD + self.rng.random_range(0..=room)) as u64;
            let direction = Direction::BOTH[index % 2];
            self.check(mover, direction, buffer, offset, local, length)?;
        }
        Ok(())
    }
}

/// Compares two contents, and fails with the place of the first difference.
pub fn same(expected: &[u8], found: &[u8], start: usize) -> Result<()> {
    ensure!(expected.len() == found.len(), "lengths differ");
    match expected.iter().zip(found).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => bail!(
            "byte {:#x} of the memory is {:#04x}, not {:#04x}",
            start + at,
            found[at],
            expected[at]
        ),
    }
}

/// Converts the library's error, with its hint.
pub fn told(error: Error) -> anyhow::Error {
    let hint = error.hint();
    anyhow::Error::new(error).context(hint)
}

/// Returns whether devices reach memory through an IOMMU.
pub fn has_iommu() -> bool {
    std::fs::read_dir("/sys/kernel/iommu_groups").is_ok_and(|mut groups| groups.next().is_some())
}

/// Allocates memory in huge pages, and reserves them if necessary.
pub fn huge(length: usize) -> Result<Memory> {
    const HUGE: usize = 2 << 20;
    let path = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    let pages = length.div_ceil(HUGE);
    let there: usize = std::fs::read_to_string(path)?.trim().parse()?;
    if there < pages {
        std::fs::write(path, pages.to_string())?;
    }
    match Memory::huge(pages * HUGE) {
        Err(Error::Map {
            source: Errno::NOMEM,
            ..
        }) => skip(format!("the guest has no {pages} huge pages")),
        memory => Ok(memory?),
    }
}

/// Memory with a region in it, which the test can also access by the CPU.
pub trait Target {
    /// Returns the region.
    fn region(&self) -> &Region;

    /// Returns the offset of the region in the memory.
    fn first(&self) -> usize;

    /// Returns the bytes of the memory.
    fn length(&self) -> usize;

    /// Writes into the memory, by the CPU.
    fn write(&self, at: usize, bytes: &[u8]) -> Result<()>;

    /// Reads from the memory, by the CPU.
    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<()>;
}

/// Registered memory.
#[derive(Debug)]
pub struct Buffer {
    /// The memory.
    pub memory: Memory,
    /// A region of all of the memory.
    pub region: Region,
}

impl Buffer {
    /// Registers all of some memory, for both directions.
    pub fn of(device: &Device, memory: Memory) -> Result<Self> {
        let region = device
            .register(&memory, 0..memory.length(), Permissions::ReadWrite)
            .map_err(told)?;
        Ok(Self { memory, region })
    }

    /// Allocates memory and registers it.
    pub fn new(device: &Device, length: usize) -> Result<Self> {
        Self::of(device, Memory::new(length)?)
    }
}

impl Target for Buffer {
    fn region(&self) -> &Region {
        &self.region
    }

    fn first(&self) -> usize {
        0
    }

    fn length(&self) -> usize {
        self.memory.length()
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        Ok(self.memory.write(at, bytes)?)
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<()> {
        Ok(self.memory.read(at, bytes)?)
    }
}

/// One of the two paths by which data can be moved.
#[derive(Debug)]
pub enum Mover {
    /// Calls of the kernel.
    Slow(Device),
    /// The channel's page.
    Fast(Box<Queue>),
}

impl Mover {
    /// Returns the slow path, on a new context.
    pub fn slow(lab: &Lab) -> Result<Self> {
        Ok(Self::Slow(lab.open()?))
    }

    /// Returns the fast path, on a new context with FPGA memory.
    pub fn fast(lab: &Lab) -> Result<Self> {
        Self::fast_with(lab, PLACE)
    }

    /// Returns the fast path, on a new context with `bytes` bytes of FPGA memory.
    pub fn fast_with(lab: &Lab, bytes: u64) -> Result<Self> {
        let device = lab.open()?;
        lab.place_of(&device, bytes)?;
        Self::fast_on(&device)
    }

    /// Returns the fast path, on a new context that holds all FPGA memory.
    pub fn fast_with_all(lab: &Lab) -> Result<Self> {
        let device = lab.open()?;
        lab.place_of_all(&device)?;
        Self::fast_on(&device)
    }

    /// Returns the fast path, by the page of a context's channel.
    fn fast_on(device: &Device) -> Result<Self> {
        Ok(Self::Fast(Box::new(Queue::new(device).map_err(told)?)))
    }

    /// Returns the context.
    pub fn device(&self) -> &Device {
        match self {
            Self::Slow(device) => device,
            Self::Fast(queue) => queue.device(),
        }
    }

    /// Returns the queue of the fast path.
    pub fn queue(&mut self) -> Result<&mut Queue> {
        match self {
            Self::Fast(queue) => Ok(queue),
            Self::Slow(_) => bail!("no queue on the slow path"),
        }
    }

    /// Moves data and waits for the end. Fails unless all data was moved.
    pub fn transfer(
        &mut self,
        direction: Direction,
        region: &Region,
        offset: usize,
        local: u64,
        length: usize,
    ) -> Result<()> {
        let moved = self.attempt(direction, region, offset, local, length, LIMIT);
        let moved = moved.map_err(told)?;
        ensure!(moved == length as u64, "{moved} bytes of {length} moved");
        Ok(())
    }

    /// Moves data and waits for the end, which may be any.
    pub fn attempt(
        &mut self,
        direction: Direction,
        region: &Region,
        offset: usize,
        local: u64,
        length: usize,
        limit: Duration,
    ) -> peerlane_host::Result<u64> {
        let (offset, length) = (offset as u64, length as u64);
        match self {
            Self::Slow(device) => device
                .submit(
                    direction,
                    region.part(offset..offset + length),
                    local,
                    Terms::default(),
                )?
                .wait(Some(limit)),
            Self::Fast(queue) => queue
                .submit(direction, region.part(offset..offset + length), local)?
                .wait(limit),
        }
    }
}

/// Returns the board's PCI device in sysfs.
pub fn pci_device() -> Result<PathBuf> {
    let driver = "/sys/bus/pci/drivers/peerlane";
    std::fs::read_dir(driver)
        .with_context(|| format!("no {driver}: the driver is not loaded"))?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().contains(':'))
        .map(|entry| entry.path().canonicalize())
        .with_context(|| format!("{driver} has no board"))?
        .context("the board's entry in sysfs")
}

/// Reads a file of the driver's in debugfs.
pub fn driver_says(device: &Path, file: &str) -> Result<String> {
    let name = device.file_name().context("a device without a name")?;
    let path = Path::new("/sys/kernel/debug").join(name).join(file);
    std::fs::read_to_string(&path)
        .with_context(|| format!("{}: is debugfs mounted?", path.display()))
}

/// Returns the entries of the ATT that regions have.
pub fn entries_used(device: &Path) -> Result<u32> {
    entries(device).map(|[_, used]| used)
}

/// Returns the entries of the ATT that are free for regions.
pub fn entries_free(device: &Path) -> Result<usize> {
    let [all, used] = entries(device)?;
    Ok((all - used) as usize)
}

fn entries(device: &Path) -> Result<[u32; 2]> {
    let state = driver_says(device, "state")?;
    let numbers = || {
        let line = state
            .lines()
            .find_map(|line| line.strip_prefix("att entries "))?;
        let (all, used) = line.split_once(", used ")?;
        Some([all.parse().ok()?, used.parse().ok()?])
    };
    numbers().with_context(|| format!("no entries in: {state}"))
}

/// Returns the number of the driver's interrupts so far, as the kernel counts them.
pub fn interrupts() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/interrupts")?;
    let of_line = |line: &str| -> u64 {
        let counts = line.split_whitespace().skip(1);
        counts.map_while(|word| word.parse::<u64>().ok()).sum()
    };
    let ours = text.lines().filter(|line| line.contains("peerlane"));
    Ok(ours.map(of_line).sum())
}

/// Returns whether vfio-pci exports BARs as dma-bufs: since Linux 6.19.
pub fn exports_bars() -> bool {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let mut numbers = release
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 19)
}
