//! Host memory, GPU memory with its BAR, and FPGA memory: flat bytes with ranges.

use std::{fmt, ops::Range, sync::Arc};

use crate::violation::{Error, Result};

/// Size of a page of the GPU's BAR: 64 KiB (NVIDIA TB-06712-001, "Pinning GPU memory"; thesis, 5.2).
pub const GPU_PAGE: u64 = 64 << 10;

/// Bytes at consecutive addresses. Untouched pages take no memory of the machine: the vector
/// comes zeroed from the operating system.
#[derive(Debug, Clone)]
pub struct Memory {
    name: &'static str,
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    pub(crate) fn new(name: &'static str, base: u64, size: u64) -> Result<Self> {
        let size = usize::try_from(size).map_err(|_| Error::Address {
            memory: name,
            address: base,
            bytes: size,
        })?;
        Ok(Self {
            name,
            base,
            bytes: vec![0; size],
        })
    }

    /// Returns the first address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the length in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn range(&self, address: u64, len: usize) -> Option<Range<usize>> {
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(len)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    fn missing(&self, address: u64, len: usize) -> Error {
        Error::Address {
            memory: self.name,
            address,
            bytes: len as u64,
        }
    }

    /// Returns the bytes at `address`, if all exist.
    pub fn slice(&self, address: u64, len: usize) -> Option<&[u8]> {
        self.range(address, len)
            .and_then(|range| self.bytes.get(range))
    }

    /// Returns the bytes at `address` to write to, if all exist.
    pub fn slice_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        self.range(address, len)
            .and_then(|range| self.bytes.get_mut(range))
    }

    /// Clears the contents to zero.
    pub(crate) fn clear(&mut self) {
        self.bytes = vec![0; self.bytes.len()];
    }

    /// Copies from the memory.
    ///
    /// # Errors
    /// If a part of the range does not exist.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<()> {
        let source = self
            .slice(address, data.len())
            .ok_or_else(|| self.missing(address, data.len()))?;
        data.copy_from_slice(source);
        Ok(())
    }

    /// Copies into the memory.
    ///
    /// # Errors
    /// If a part of the range does not exist.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<()> {
        let missing = self.missing(address, data.len());
        self.slice_mut(address, data.len())
            .ok_or(missing)?
            .copy_from_slice(data);
        Ok(())
    }
}

/// The host's memory: one or more ranges of bus addresses.
#[derive(Debug, Clone, Default)]
pub struct HostMemory {
    /// Sorted by base, without overlap.
    ranges: Vec<Memory>,
}

impl HostMemory {
    /// Adds `size` zero bytes at the bus address `base`.
    ///
    /// # Errors
    /// If a range is already there.
    pub fn add_range(&mut self, base: u64, size: u64) -> Result<()> {
        let overlap = Error::Overlap {
            what: "host memory",
            address: base,
        };
        let Some(end) = base.checked_add(size) else {
            return Err(overlap);
        };
        let taken = self
            .ranges
            .iter()
            .any(|range| base < range.base + range.size() && range.base < end);
        if taken {
            return Err(overlap);
        }
        let at = self.ranges.partition_point(|range| range.base < base);
        self.ranges
            .insert(at, Memory::new("host memory", base, size)?);
        Ok(())
    }

    /// Returns the ranges: first address and length.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().map(|range| (range.base, range.size()))
    }

    fn find(&self, address: u64) -> Option<usize> {
        self.ranges
            .partition_point(|range| range.base <= address)
            .checked_sub(1)
    }

    /// Returns the bytes at the bus address, if all are in one range.
    pub fn slice(&self, address: u64, len: usize) -> Option<&[u8]> {
        self.ranges.get(self.find(address)?)?.slice(address, len)
    }

    /// Returns the bytes at the bus address to write to, if all are in one range.
    pub fn slice_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let index = self.find(address)?;
        self.ranges.get_mut(index)?.slice_mut(address, len)
    }

    /// Copies from host memory.
    ///
    /// # Errors
    /// If the bytes are not all in one range.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<()> {
        let source = self.slice(address, data.len()).ok_or(Error::Address {
            memory: "host memory",
            address,
            bytes: data.len() as u64,
        })?;
        data.copy_from_slice(source);
        Ok(())
    }

    /// Copies into host memory.
    ///
    /// # Errors
    /// If the bytes are not all in one range.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<()> {
        self.slice_mut(address, data.len())
            .ok_or(Error::Address {
                memory: "host memory",
                address,
                bytes: data.len() as u64,
            })?
            .copy_from_slice(data);
        Ok(())
    }

    /// Reads a little-endian dword, as the host's processor would.
    ///
    /// # Errors
    /// As [`HostMemory::read`].
    pub fn read32(&self, address: u64) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// Memory of a real GPU instead of a model: packets to the simulated GPU's BAR go to it. Callers have checked that
/// ranges lie in it.
pub trait RealMemory: fmt::Debug + Send + Sync {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Copies from the memory. Returns `false` if the GPU failed.
    fn read(&self, address: u64, data: &mut [u8]) -> bool;

    /// Copies into the memory. Returns `false` if the GPU failed.
    fn write(&self, address: u64, data: &[u8]) -> bool;

    /// Fills the memory with zeros. This is not a packet: the simulator does it with memory that it allocates or frees.
    /// Memory that the simulator only shows, because a caller registered it, stays as it is. Returns `false` if the GPU
    /// failed.
    fn clear(&self, address: u64, len: u64) -> bool;
}

/// A GPU: its memory, and a BAR whose 64 KiB pages each show a page of that memory or nothing.
#[derive(Debug, Clone)]
pub struct Gpu {
    memory: Memory,
    /// Real memory that replaces `memory`.
    real: Option<Arc<dyn RealMemory>>,
    bar_base: u64,
    /// For each page of the BAR, the page of GPU memory it shows.
    pages: Vec<Option<u64>>,
    /// Pages that may be used for pinning.
    usable: usize,
}

impl Gpu {
    pub(crate) fn new(config: &crate::config::GpuConfig) -> Result<Self> {
        let count = (config.bar_bytes / GPU_PAGE) as usize;
        Ok(Self {
            memory: Memory::new("GPU memory", 0, config.bytes)?,
            real: None,
            bar_base: config.bar_base,
            pages: vec![None; count],
            usable: count - (config.bar_reserved / GPU_PAGE) as usize,
        })
    }

    /// Replaces the model's memory by memory of a real GPU. The content of the model's memory is lost, and so are pins.
    pub fn replace(&mut self, real: Arc<dyn RealMemory>) {
        self.memory.bytes = Vec::new();
        self.pages.fill(None);
        self.real = Some(real);
    }

    /// Returns the bytes of GPU memory.
    pub fn size(&self) -> u64 {
        match &self.real {
            Some(real) => real.size(),
            None => self.memory.size(),
        }
    }

    /// Returns the real memory at `address`, if there is some.
    fn real(&self, address: u64, len: usize) -> Option<Result<&dyn RealMemory>> {
        let real = self.real.as_deref()?;
        let end = address.checked_add(len as u64);
        let inside = end.is_some_and(|end| end <= real.size());
        Some(match inside {
            true => Ok(real),
            false => Err(self.memory.missing(address, len)),
        })
    }

    /// Fills GPU memory with zeros.
    ///
    /// # Errors
    /// If a part of the range does not exist.
    pub fn clear(&mut self, address: u64, len: u64) -> Result<()> {
        if let Some(real) = self.real(address, len as usize) {
            return match real?.clear(address, len) {
                true => Ok(()),
                false => Err(self.memory.missing(address, len as usize)),
            };
        }
        let zeros = [0; GPU_PAGE as usize];
        let mut done = 0;
        while done < len {
            let part = (len - done).min(GPU_PAGE);
            self.write(address + done, &zeros[..part as usize])?;
            done += part;
        }
        Ok(())
    }

    /// Returns the model's GPU memory as the GPU sees it, from address 0; empty if real memory replaces it.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the model's GPU memory to write to.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Copies from GPU memory.
    ///
    /// # Errors
    /// If a part of the range does not exist.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<()> {
        match self.real(address, data.len()) {
            None => self.memory.read(address, data),
            Some(real) => match real?.read(address, data) {
                true => Ok(()),
                false => Err(self.memory.missing(address, data.len())),
            },
        }
    }

    /// Copies into GPU memory.
    ///
    /// # Errors
    /// If a part of the range does not exist.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<()> {
        match self.real(address, data.len()) {
            None => self.memory.write(address, data),
            Some(real) => match real?.write(address, data) {
                true => Ok(()),
                false => Err(self.memory.missing(address, data.len())),
            },
        }
    }

    /// Returns the bus address of the BAR.
    pub fn bar_base(&self) -> u64 {
        self.bar_base
    }

    /// Returns the length of the BAR in bytes.
    pub fn bar_size(&self) -> u64 {
        self.pages.len() as u64 * GPU_PAGE
    }

    /// Returns the number of the BAR's pages that pinning could still use.
    pub fn free_pages(&self) -> u64 {
        self.pages[..self.usable]
            .iter()
            .filter(|page| page.is_none())
            .count() as u64
    }

    /// Shows the 64 KiB pages that `address..address + len` touches in the BAR and returns the bus address of each, in
    /// order. Pages of one call are contiguous in the BAR where it has room for that, as observed in the thesis (5.3.2:
    /// consecutive in most cases), not always.
    ///
    /// # Errors
    /// If the range is not in GPU memory, or the BAR does not have enough free pages.
    pub fn pin(&mut self, address: u64, len: u64) -> Result<Vec<u64>> {
        let missing = Error::Address {
            memory: "GPU memory",
            address,
            bytes: len,
        };
        let end = match address.checked_add(len) {
            Some(end) if end <= self.size() && len > 0 => end,
            _ => return Err(missing),
        };
        let first = address / GPU_PAGE;
        let needed = (end.div_ceil(GPU_PAGE) - first) as usize;
        let free = self.free_pages();
        if free < needed as u64 {
            return Err(Error::BarFull {
                free,
                needed: needed as u64,
            });
        }
        let run = self.pages[..self.usable]
            .windows(needed)
            .position(|window| window.iter().all(Option::is_none))
            .unwrap_or(0);
        let mut bus = Vec::with_capacity(needed);
        for (slot, page) in self.pages[..self.usable].iter_mut().enumerate().skip(run) {
            if bus.len() == needed {
                break;
            }
            if page.is_none() {
                *page = Some(first + bus.len() as u64);
                bus.push(self.bar_base + slot as u64 * GPU_PAGE);
            }
        }
        Ok(bus)
    }

    /// Removes pages from the BAR, by the bus addresses that [`Gpu::pin`] returned. An access to such a page is an
    /// unsupported request from then on.
    pub fn unpin(&mut self, bus: &[u64]) {
        for address in bus {
            if let Some(page) = self.page_mut(*address) {
                *page = None;
            }
        }
    }

    /// Shows a page of GPU memory at a page of the BAR of the caller's choice: both are rounded down to 64 KiB. For
    /// tests that need scattered pages.
    ///
    /// # Errors
    /// If `bus` is not in the BAR or `address` not in GPU memory.
    pub fn map(&mut self, bus: u64, address: u64) -> Result<()> {
        let page = address / GPU_PAGE * GPU_PAGE;
        if (page.checked_add(GPU_PAGE)).is_none_or(|end| end > self.size()) {
            return Err(Error::Address {
                memory: "GPU memory",
                address,
                bytes: GPU_PAGE,
            });
        }
        *self.page_mut(bus).ok_or(Error::Address {
            memory: "GPU BAR",
            address: bus,
            bytes: GPU_PAGE,
        })? = Some(address / GPU_PAGE);
        Ok(())
    }

    fn page_mut(&mut self, bus: u64) -> Option<&mut Option<u64>> {
        let slot = bus.checked_sub(self.bar_base)? / GPU_PAGE;
        self.pages.get_mut(usize::try_from(slot).ok()?)
    }

    /// Returns whether a bus address is in the BAR, mapped or not.
    pub fn in_bar(&self, bus: u64) -> bool {
        bus.checked_sub(self.bar_base)
            .is_some_and(|offset| offset < self.bar_size())
    }

    /// Returns the GPU address that a bus address shows. It is valid up to the end of the page.
    pub fn translate(&self, bus: u64) -> Option<u64> {
        let offset = bus.checked_sub(self.bar_base)?;
        let slot = usize::try_from(offset / GPU_PAGE).ok()?;
        let page = (*self.pages.get(slot)?)?;
        Some(page * GPU_PAGE + offset % GPU_PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;
    use std::sync::Mutex;

    fn gpu() -> Gpu {
        Gpu::new(&GpuConfig {
            bytes: 64 << 20,
            bar_base: 0x10_0000_0000,
            bar_bytes: 2 << 20,
            bar_reserved: 1 << 20,
            ..GpuConfig::default()
        })
        .unwrap()
    }

    #[test]
    fn host_ranges_do_not_overlap_and_do_not_run_over() {
        let mut host = HostMemory::default();
        host.add_range(0x10000, 0x1000).unwrap();
        host.add_range(0x20000, 0x1000).unwrap();
        assert!(host.add_range(0x10FFF, 0x10).is_err());
        assert!(host.add_range(0xF000, 0x1001).is_err());
        host.add_range(0x11000, 0x1000).unwrap();
        assert!(host.add_range(u64::MAX - 1, 16).is_err());
        host.write(0x20FFC, &[1, 2, 3, 4]).unwrap();
        assert_eq!(host.read32(0x20FFC).unwrap(), 0x0403_0201);
        assert!(host.write(0x20FFD, &[0; 4]).is_err());
        assert!(host.read32(0xFFFC).is_err());
        assert!(host.read32(0x9_0000_0000).is_err());
    }

    #[test]
    fn pinned_pages_show_gpu_memory() {
        let mut gpu = gpu();
        // From the middle of page 3 to the middle of page 5: three pages.
        let bus = gpu.pin(3 * GPU_PAGE + 100, 2 * GPU_PAGE).unwrap();
        assert_eq!(bus.len(), 3);
        assert_eq!(gpu.translate(bus[1] + 7), Some(4 * GPU_PAGE + 7));
        gpu.unpin(&bus[1..2]);
        assert_eq!(gpu.translate(bus[1] + 7), None);
        assert_eq!(gpu.translate(bus[2]), Some(5 * GPU_PAGE));
        assert_eq!(gpu.translate(gpu.bar_base() - 1), None);
    }

    #[test]
    fn the_bar_fills_up() {
        let mut gpu = gpu();
        // Half of 2 MiB is reserved: 16 pages are left.
        assert_eq!(gpu.free_pages(), 16);
        let first = gpu.pin(0, 8 * GPU_PAGE).unwrap();
        let second = gpu.pin(16 * GPU_PAGE, 4 * GPU_PAGE).unwrap();
        assert!(matches!(
            gpu.pin(0, 5 * GPU_PAGE),
            Err(Error::BarFull { free: 4, needed: 5 })
        ));
        gpu.unpin(&first[2..4]);
        // Six pages are free, in two pieces.
        let scattered = gpu.pin(32 * GPU_PAGE, 6 * GPU_PAGE).unwrap();
        assert_eq!(gpu.translate(scattered[5]), Some(37 * GPU_PAGE));
        assert_eq!(gpu.translate(second[0]), Some(16 * GPU_PAGE));
        assert!(gpu.pin(64 << 20, 1).is_err());
        assert!(gpu.pin(0, 0).is_err());
    }

    /// Memory of a GPU whose accesses fail from an address on.
    #[derive(Debug)]
    struct Failing(Mutex<Vec<u8>>, u64);

    impl RealMemory for Failing {
        fn size(&self) -> u64 {
            self.0.lock().unwrap().len() as u64
        }

        fn read(&self, address: u64, data: &mut [u8]) -> bool {
            let bytes = self.0.lock().unwrap();
            data.copy_from_slice(&bytes[address as usize..][..data.len()]);
            address < self.1
        }

        fn write(&self, address: u64, data: &[u8]) -> bool {
            self.0.lock().unwrap()[address as usize..][..data.len()].copy_from_slice(data);
            address < self.1
        }

        fn clear(&self, address: u64, len: u64) -> bool {
            self.0.lock().unwrap()[address as usize..][..len as usize].fill(0);
            address < self.1
        }
    }

    #[test]
    fn a_real_gpu_takes_the_place_of_the_model() {
        let real = Arc::new(Failing(Mutex::new(vec![0; 4 << 20]), 3 << 20));
        let mut gpu = gpu();
        gpu.pin(0, GPU_PAGE).unwrap();
        let free = gpu.free_pages();
        gpu.replace(real.clone());
        assert_eq!((gpu.size(), gpu.free_pages()), (4 << 20, free + 1));
        gpu.write(0x1_0000, &[1, 2, 3]).unwrap();
        assert_eq!(real.0.lock().unwrap()[0x1_0000..][..3], [1, 2, 3]);
        let mut data = [0; 2];
        gpu.read(0x1_0001, &mut data).unwrap();
        assert_eq!(data, [2, 3]);
        gpu.clear(0x1_0000, 2).unwrap();
        assert_eq!(real.0.lock().unwrap()[0x1_0000..][..3], [0, 0, 3]);
        // The model's size is ignored now, and a failure of the GPU is reported.
        assert!(gpu.write((4 << 20) - 1, &[0; 2]).is_err());
        assert!(gpu.read(u64::MAX, &mut data).is_err());
        assert!(gpu.write(3 << 20, &[0]).is_err());
        assert!(gpu.clear(3 << 20, 1).is_err());
        assert!(gpu.clear(0, (4 << 20) + 1).is_err());
        assert!(gpu.pin(4 << 20, 1).is_err());
        assert!(gpu.map(gpu.bar_base(), 4 << 20).is_err());
        gpu.map(gpu.bar_base(), (4 << 20) - 1).unwrap();
    }
}
