// SPDX-License-Identifier: GPL-2.0

//! How a board is found, and where the block's slaves lie in its BAR: by descriptions, which root installs.

pub(crate) use crate::logic::shell::{Line, OpenCl};
use crate::{
    ffi::{pci_dev, peerlane_sha256, raw_device, Text},
    logic::{
        board::{Board, BoardError, FileName, Ids, DIRECTORY, SUBDEVICE},
        places::Places,
    },
};
use kernel::{
    bindings, device::Bound, error::to_result, ffi::c_char, pci, prelude::*, str::CString,
};

/// A board's name, or its first bytes. The last byte is zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name([u8; 64]);

impl Name {
    fn of(text: &str) -> Self {
        let mut name = Self([0; 64]);
        let room = name.0.len() - 1;
        for (to, from) in name.0[..room].iter_mut().zip(text.bytes()) {
            *to = from;
        }
        name
    }

    /// Returns the address of its bytes, of which one is zero.
    pub(crate) fn as_char_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// A board, as its description says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Name of the board.
    pub(crate) name: Name,
    /// The BAR.
    pub(crate) bar: u32,
    /// Byte offset of the CSR.
    pub(crate) csr: usize,
    /// Byte offset of the channel pages.
    pub(crate) chan: usize,
    /// Byte offset of the ATT.
    pub(crate) att: usize,
    /// Byte offset of the MSI-X table, in builds with one.
    pub(crate) msix: Option<usize>,
    /// Byte offset of the window into FPGA memory, where the BAR has one.
    pub(crate) window: Option<usize>,
    /// Bytes of FPGA memory, from address 0 on.
    pub(crate) memory: u64,
    /// Frequency of the hard IP's clock, in hertz.
    pub(crate) clock: u64,
    /// The hard IP's interrupt input, of builds without an MSI-X table.
    pub(crate) line: Option<Line>,
    /// The OpenCL side, as far as the BAR has it.
    pub(crate) opencl: OpenCl,
}

impl Place {
    /// Takes the facts from a description.
    pub(crate) fn of(board: &Board<'_>) -> Result<Self, BoardError> {
        let places = board.places()?;
        let offset = |at: u64| at as usize;
        Ok(Self {
            name: Name::of(board.name),
            bar: board.bar()?,
            csr: offset(places.csr),
            chan: offset(places.chan),
            att: offset(places.att),
            msix: places.msix.map(offset),
            window: places.window.map(offset),
            memory: board.shell.memory,
            clock: board.shell.clock,
            line: board.shell.line,
            opencl: board.shell.opencl,
        })
    }

    /// Returns the places of the slaves.
    pub(crate) fn slaves(&self) -> Places {
        let offset = |at: usize| at as u64;
        Places {
            csr: offset(self.csr),
            chan: offset(self.chan),
            att: offset(self.att),
            msix: self.msix.map(offset),
            window: self.window.map(offset),
        }
    }
}

/// Every board that `peerlane extend` has made. Only the ID of its subsystem differs from those of the vendor's board,
/// which belongs to another driver. Root adds others by `driver_override`. ([`pci::DeviceId`] itself makes no ID with a
/// subsystem.)
pub(crate) const fn id() -> pci::DeviceId {
    // `PCI_ANY_ID`.
    const ANY: u32 = u32::MAX;
    let raw = bindings::pci_device_id {
        vendor: ANY,
        device: ANY,
        subvendor: ANY,
        subdevice: SUBDEVICE as u32,
        class: 0,
        class_mask: 0,
        driver_data: 0,
        override_only: 0,
    };
    // SAFETY: `DeviceId` is a transparent wrapper of this structure, without invariants.
    unsafe { core::mem::transmute(raw) }
}

/// SHA-256, for descriptions.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    // SAFETY: so many bytes, and a place for the digest.
    unsafe { peerlane_sha256(bytes.as_ptr(), bytes.len(), digest.as_mut_ptr()) };
    digest
}

/// The file with the descriptions of the boards with a function's IDs.
pub(crate) struct File {
    /// Its name, for messages.
    pub(crate) name: CString,
    firmware: *const bindings::firmware,
}

impl File {
    /// Reads the file for a function, or the one for any subsystem. A function without one is refused.
    pub(crate) fn of(device: &pci::Device<Bound>) -> Result<Self> {
        // SAFETY: a valid device; its IDs do not change.
        let function = unsafe { &*pci_dev(device) };
        let ids = |subdevice| Ids {
            vendor: function.vendor,
            device: function.device,
            subvendor: None,
            subdevice,
        };
        let own = ids(Some(function.subsystem_device));
        Self::read(device, own)
            .or_else(|_| Self::read(device, ids(None)))
            .map_err(|_| {
                dev_err!(
                    device,
                    "no description of this board: there is no {}/{} among the system's firmware; install the one of its image (peerlane install-board)\n",
                    DIRECTORY,
                    Text(FileName(own))
                );
                ENODEV
            })
    }

    fn read(device: &pci::Device<Bound>, ids: Ids) -> Result<Self> {
        let name = CString::try_from_fmt(fmt!("{}/{}", DIRECTORY, Text(FileName(ids))))?;
        let mut firmware = core::ptr::null();
        // SAFETY: a name, a valid device, and a place for the result, which is released at the end.
        to_result(unsafe {
            bindings::request_firmware_direct(
                &mut firmware,
                name.as_char_ptr(),
                raw_device(device.as_ref()),
            )
        })?;
        Ok(Self { name, firmware })
    }

    /// Returns its content.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the kernel has read it, and it stays until it is released.
        unsafe {
            let firmware = &*self.firmware;
            match firmware.size {
                // The address of an empty file may be null.
                0 => &[],
                size => core::slice::from_raw_parts(firmware.data, size),
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: it was requested, and is released once.
        unsafe { bindings::release_firmware(self.firmware) };
    }
}
