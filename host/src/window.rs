//! The board's window into FPGA memory, for stores and loads of the processor.

use crate::bounds::check;
use crate::context::BoardWindow;
use crate::device::{Device, Shared};
use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::sys::Process;
use peerlane_core::uapi::{self, window};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::Arc;

/// The window, held and mapped: 64 KiB of FPGA memory that the processor stores to and loads from. A board has one, and
/// one context at a time holds it. Dropping this releases it.
///
/// It is for small amounts of data: the board takes one access of at most 8 bytes at a time, and a load waits for the
/// board. While the block is reset and restarted, the window shows no FPGA memory and stores are lost. The generation
/// in [`Device::query`] shows that.
///
/// The kernel knows the file, not this value. If a file is shared, by a fork or because it was sent, a process that
/// moves or releases the window does so for the other process, too. A child's copy of this value has no mapping, and
/// releases nothing when it is dropped.
#[derive(Debug)]
#[must_use = "the window is released when this is dropped"]
pub struct Window {
    // Unmapped before it is released.
    shown: Shown,
    held: Held,
    base: u64,
}

/// The right to the window, while this context has it.
#[derive(Debug)]
struct Held {
    device: Arc<Shared>,
    /// The process that took it: a child's copy does not release it.
    owner: Process,
}

impl Held {
    fn place(&self, base: u64) -> Result<()> {
        let window = uapi::Window {
            base,
            ..Default::default()
        };
        self.device.window(base)?.place(&window)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.owner != Process::current() {
            return;
        }
        let release = uapi::Window {
            base: 0,
            flags: window::RELEASE,
            reserved: 0,
        };
        // If it is not held any more, there is nothing to release.
        let _ = (self.device.window(0)).and_then(|window| window.place(&release));
        self.device.window_seat.leave();
    }
}

impl Device {
    /// Takes the board's window and places it at an FPGA address, a multiple of 64 KiB. All of the window must lie in
    /// the context's [`range`](Device::range) of FPGA memory.
    ///
    /// # Errors
    /// [`Error::Window`]: the board has none, another context holds it, or it cannot be placed there.
    pub fn window(&self, base: u64) -> Result<Window> {
        if !self.0.window_seat.take() {
            return Err(Error::window(base, Errno::BUSY));
        }
        let held = Held {
            device: Arc::clone(&self.0),
            owner: Process::current(),
        };
        held.place(base)?;
        Ok(Window {
            shown: Shown(self.0.window(base)?.map()?),
            held,
            base,
        })
    }
}

impl Shared {
    /// Returns the driver's interface to the window. `base` is for the error.
    fn window(&self, base: u64) -> Result<&dyn BoardWindow> {
        (self.context.window()).ok_or_else(|| Error::window(base, Errno::OPNOTSUPP))
    }
}

impl Window {
    /// Returns the FPGA address of the first byte.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the number of bytes: 64 KiB.
    pub fn length(&self) -> usize {
        self.shown.0.length()
    }

    /// Returns the address of the first byte in this process, for a GPU that must store to it (`cudaHostRegister` with
    /// `cudaHostRegisterIoMemory`).
    ///
    /// The kernel cannot revoke the window from a GPU that got it in this way. Undo the registration before this is
    /// dropped or moved: the GPU's stores go to the memory that the window shows then.
    pub fn address(&self) -> u64 {
        self.shown.0.base().as_ptr() as u64
    }

    /// Exports the window as a dma-buf of 64 KiB, for a device that writes to it or reads from it: a GPU, a network
    /// adapter, or another board. The kernel takes it back when the board is reset or closed, so a driver can import it
    /// only if its mappings can be revoked. It cannot be mapped into a process.
    ///
    /// The device accesses the memory that the window shows, wherever that is. So the device must have stopped before
    /// this value moves the window, or is dropped: after that, the window may be another context's of this process.
    ///
    /// # Errors
    /// [`Error::Export`]: boards at `vfio-pci` export it, by Linux 6.19 and later (`VFIO_DEVICE_FEATURE_DMA_BUF`).
    pub fn export_dmabuf(&self) -> Result<OwnedFd> {
        self.held.device.window(self.base)?.export()
    }

    /// Moves the window. Earlier stores have gone to the old place, later ones go to the new one.
    ///
    /// # Errors
    /// As [`Device::window`]. It stays where it was if it cannot be placed there. After `EIO`, and after
    /// [`Error::Gone`], the board may have been in the middle of the move: the window shows zeros then, and stores are
    /// lost, though [`read`](Self::read) and [`write`](Self::write) return `Ok`. That ends when this succeeds, or when
    /// the board was restarted.
    pub fn place(&mut self, base: u64) -> Result<()> {
        self.held.place(base)?;
        self.base = base;
        Ok(())
    }

    /// Copies from FPGA memory at `offset` of the window.
    ///
    /// # Errors
    /// [`Error::Bounds`].
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.shown.read(offset, bytes)
    }

    /// Copies into FPGA memory at `offset` of the window. The stores may still be on their way when this returns: see
    /// [`settle`](Self::settle).
    ///
    /// # Errors
    /// [`Error::Bounds`].
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.shown.write(offset, bytes)
    }

    /// Waits until all stores are in FPGA memory. Call it before a transfer of that memory is submitted, because its
    /// doorbell takes another way through the board.
    pub fn settle(&self) {
        // A load does not pass earlier stores (PCI Express Base Specification, 2.4.1).
        let _ = self.read(0, &mut [0]);
    }
}

/// The mapping of the window.
#[derive(Debug)]
struct Shown(Mapping);

impl Shown {
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.check(offset, bytes.len())?;
        for (from, width) in Words::of(offset, bytes.len()) {
            let word = &mut bytes[from..from + width];
            let place = self.at(offset + from);
            // SAFETY: `width` bytes at the place lie in the mapping, by `check`, and `Words` are aligned, as the
            // mapping begins at a page boundary.
            unsafe {
                match width {
                    8 => word.copy_from_slice(&place.cast::<u64>().read_volatile().to_ne_bytes()),
                    4 => word.copy_from_slice(&place.cast::<u32>().read_volatile().to_ne_bytes()),
                    2 => word.copy_from_slice(&place.cast::<u16>().read_volatile().to_ne_bytes()),
                    _ => word[0] = place.read_volatile(),
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes.len())?;
        for (from, width) in Words::of(offset, bytes.len()) {
            let word = &bytes[from..from + width];
            let place = self.at(offset + from);
            // SAFETY: as in `read`.
            unsafe {
                match *word {
                    [a, b, c, d, e, f, g, h] => {
                        let value = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                        place.cast::<u64>().write_volatile(value);
                    }
                    [a, b, c, d] => {
                        let value = u32::from_ne_bytes([a, b, c, d]);
                        place.cast::<u32>().write_volatile(value);
                    }
                    [a, b] => {
                        let value = u16::from_ne_bytes([a, b]);
                        place.cast::<u16>().write_volatile(value);
                    }
                    _ => place.write_volatile(word[0]),
                }
            }
        }
        Ok(())
    }

    fn check(&self, offset: usize, length: usize) -> Result<()> {
        check("window", self.0.length(), offset, length)
    }

    fn at(&self, offset: usize) -> *mut u8 {
        // Only dereferenced after `check`.
        self.0.base().as_ptr().wrapping_add(offset)
    }
}

/// A range split into the widest naturally aligned words, 8 bytes at most: the bus carries each in one packet.
struct Words {
    offset: usize,
    done: usize,
    length: usize,
}

impl Words {
    fn of(offset: usize, length: usize) -> Self {
        Self {
            offset,
            done: 0,
            length,
        }
    }
}

impl Iterator for Words {
    /// First byte, counted from the start of the range, and bytes.
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let (from, rest) = (self.done, self.length - self.done);
        let fits = |width: &usize| *width <= rest && (self.offset + from).is_multiple_of(*width);
        let width = [8, 4, 2, 1].into_iter().find(fits)?;
        self.done += width;
        Some((from, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_and_as_wide_as_they_can_be() {
        let words = |offset, length| Words::of(offset, length).collect::<Vec<_>>();
        assert_eq!(words(0, 0), []);
        assert_eq!(words(8, 8), [(0, 8)]);
        assert_eq!(
            words(1, 14),
            [(0, 1), (1, 2), (3, 4), (7, 4), (11, 2), (13, 1)]
        );
        assert_eq!(words(4, 13), [(0, 4), (4, 8), (12, 1)]);
    }

    #[test]
    fn stores_and_loads_keep_to_the_mapping() {
        let mapping = Mapping::anonymous("memory", 4096, 1, rustix::mm::MapFlags::PRIVATE).unwrap();
        let mut shown = Shown(mapping);
        let bytes: Vec<u8> = (0..=255).collect();
        for offset in 0..9 {
            for length in 0..33 {
                shown.write(offset, &bytes[..length]).unwrap();
                let mut found = [0xAA; 40];
                shown.read(offset, &mut found[..length]).unwrap();
                assert_eq!(found[..length], bytes[..length]);
                assert_eq!(found[length], 0xAA);
            }
        }
        for (offset, length) in [(4096, 1), (4090, 7), (usize::MAX, 1), (0, 4097)] {
            let error = shown.write(offset, &vec![0; length]).unwrap_err();
            assert!(matches!(error, Error::Bounds { size: 4096, .. }), "{error}");
            let error = shown.read(offset, &mut vec![0; length]).unwrap_err();
            assert!(matches!(error, Error::Bounds { size: 4096, .. }), "{error}");
        }
        shown.write(4096, &[]).unwrap();
    }
}
