//! Memory of a queue for the ends of writes ([`crate::ends`]).

use crate::device::Device;
use crate::ends::{Access, DWORD, Ends, SLOT, Scrap, is_ragged};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryKind};
use crate::region::Region;
use peerlane_core::att::{AttAddress, Permissions};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::MemfdFlags;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Memory of a queue, into which the board moves the ends of one write at a time.
#[derive(Debug)]
pub(super) struct Bounce {
    memory: Memory,
    region: Region,
    /// File from which the kernel copies into memory of the process, which may have been unmapped.
    file: OwnedFd,
}

impl Bounce {
    pub(super) fn new(device: &Device) -> Result<Self> {
        let memory = device.memory(MemoryKind::Host, 2 * SLOT as usize)?;
        // The board may read it to make sure that all data have arrived.
        let region = device.register_all(&memory, Permissions::ReadWrite)?;
        let file = rustix::fs::memfd_create("peerlane-ends", MemfdFlags::CLOEXEC);
        let file = file.map_err(|source| Error::map("memory for ends", SLOT as usize, source))?;
        match is_ragged(region.att_address(), 0, DWORD as u32) {
            false => Ok(Self {
                memory,
                region,
                file,
            }),
            true => Err(Error::Broken {
                reason: "the driver's memory does not begin at a dword".into(),
            }),
        }
    }

    /// Returns the ends of a write.
    pub(super) fn ends(&self, peer: AttAddress, length: u64) -> Ends {
        Ends::of(peer, length, self.region.att_address())
    }

    /// Copies an end to its place in this region.
    ///
    /// # Errors
    /// As [`Patch::patch`](crate::Patch::patch).
    pub(super) fn place(&self, region: &Region, scrap: &Scrap) -> Result<()> {
        let (Some(access), Some(offset)) = (region.access(), region.extents().offset_of(scrap.to))
        else {
            return Err(Error::Forgotten);
        };
        let mut bytes = [0; DWORD as usize];
        let bytes = &mut bytes[..scrap.bytes];
        self.memory.read(scrap.at, bytes)?;
        match access {
            Access::Memory(memory, start) => memory.write(start + offset as usize, bytes),
            Access::Process(address) => self.store(address + offset, bytes),
            Access::Owner(owner) => {
                // The write must end, because other writes wait for that.
                let patched = catch_unwind(AssertUnwindSafe(|| owner.patch(offset, bytes)));
                patched.unwrap_or_else(|_| {
                    let reason = "the function that copies them panicked".into();
                    Err(Error::Ends { reason })
                })
            }
        }
    }

    /// Stores into memory of the process. The program may have unmapped it in the meantime, so the kernel makes the
    /// store and reports an error then.
    fn store(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let failed = |error: std::io::Error| Error::Ends {
            reason: format!("address {address:#x}: {error}"),
        };
        let put = rustix::io::pwrite(&self.file, bytes, 0);
        put.map_err(|error| failed(error.into()))?;
        let to = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the file is open. The bytes are of a region that was registered by this address, which the board may
        // write until this transfer has ended, by the promise of `register_address`; where they are not mapped, the
        // call returns an error.
        let moved = unsafe { libc::pread(self.file.as_raw_fd(), to, bytes.len(), 0) };
        match usize::try_from(moved) {
            Ok(moved) if moved == bytes.len() => Ok(()),
            Ok(_) => Err(Error::Forgotten),
            Err(_) => match std::io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EFAULT) => Err(Error::Forgotten),
                error => Err(failed(error)),
            },
        }
    }
}
