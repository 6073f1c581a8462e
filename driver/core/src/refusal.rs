// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reasons why the board cannot reach a peer's memory: the errors of the memory's own driver and of the kernel, the
//! error that [`REGISTER`](super::uapi::REGISTER) returns for them, and hints.
//!
//! Exporters of dma-bufs have no common set of errors. Without a translation, their errors would be mistaken for the
//! board's: `ENODEV` for a board that is gone, `ENOMEM` for the limit of locked memory. Sources of the codes:
//!
//! - 524 (`ENOTSUPP`, which is not a code of user space): `nv_dma_buf_attach` in `kernel-open/nvidia/nv-dmabuf.c` of
//!   NVIDIA's open-gpu-kernel-modules, where `nv_grdma_pci_topology_supported` returns false.
//! - `NULL` for every failure to map: `nv_dma_buf_map` there. It sets up the GPU's BAR1, so a full BAR1 is among the
//!   reasons. `dma_buf_map_attachment` of the kernel translates it to `ENOMEM`.
//! - `EOPNOTSUPP`, and `ENODEV` for memory that was invalidated: `vfio_pci_dma_buf_attach` in
//!   `drivers/vfio/pci/vfio_pci_dmabuf.c`.
//! - `EBUSY`: memory that cannot be moved to a place that the board reaches (`dma_buf_dynamic_attach`). `EINVAL`:
//!   `amdgpu_dma_buf_pin`, where no place is left that all importers reach.

/// Ways to handle a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is no way to this memory by this kind of registration. Another way to the same memory may be open.
    NoWay,
    /// Room is missing, which others or the caller may release.
    NoRoom,
    /// The memory is not there any more.
    Gone,
}

/// A reason why memory of a peer was not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Number of `errno` that `REGISTER` returns.
    pub errno: i32,
    /// Way to handle it.
    pub kind: Kind,
    /// Hint in words, of one sentence or more.
    pub fix: &'static str,
}

/// The kernel does not know a way between board and device (`EREMOTEIO`).
pub const UNREACHABLE: Refusal = Refusal {
    errno: 121,
    kind: Kind::NoWay,
    // Documentation/driver-api/pci/p2pdma.rst of the kernel; the driver's `near`.
    fix: "The kernel knows no way between board and GPU: peerlane doctor shows the devices between \
          them. Put both below one PCIe switch, boot with iommu=pt, or move data through host \
          memory. The driver's parameter any_distance=1 tries the way in spite of that.",
};

/// The memory's own driver does not let the board into it (`EHOSTUNREACH`).
pub const REFUSED: Refusal = Refusal {
    errno: 113,
    kind: Kind::NoWay,
    fix: "The memory's own driver does not let the board into it, by a rule of its own that no \
          parameter of this driver changes; the kernel's log may say which. NVIDIA's driver does \
          so on chipsets that it does not count as passing transfers between devices: put board \
          and GPU below one PCIe switch, or load NVIDIA's driver with \
          NVreg_GrdmaPciTopoCheckOverride=1 (\"options nvidia NVreg_GrdmaPciTopoCheckOverride=1\" \
          in /etc/modprobe.d), and verify the data that arrive. Otherwise export the memory by \
          another interface, or move data through host memory.",
};

/// The memory's own driver had no room to map it (`ENOBUFS`).
pub const FULL: Refusal = Refusal {
    errno: 105,
    kind: Kind::NoRoom,
    fix: "The GPU's BAR has no room for more memory that other devices reach, or its driver had no \
          memory for the mapping: unregister regions of the GPU's memory, also in other programs, \
          register less at a time, or have the firmware set up a larger BAR (Resizable BAR). \
          nvidia-smi -q shows BAR1 of NVIDIA GPUs.",
};

/// The memory is not there any more, or its device is gone (`ESTALE`).
pub const GONE: Refusal = Refusal {
    errno: 116,
    kind: Kind::Gone,
    fix: "The memory's owner has invalidated it, or the owner's device is gone: export the memory \
          again and register that. If that is refused, too, look at the device and its driver.",
};

/// The memory's own driver hands it over in a way that cannot be right (`EPROTO`).
pub const WRONG: Refusal = Refusal {
    errno: 71,
    kind: Kind::NoWay,
    fix: "The memory's own driver gave addresses that cannot be right, and the kernel's log says \
          which: update that driver. If the GPU's BAR does not show all of its memory, have the \
          firmware set up a larger one (Resizable BAR).",
};

/// All refusals.
pub const ALL: [Refusal; 5] = [UNREACHABLE, REFUSED, FULL, GONE, WRONG];

/// Returns the reason for an error of `REGISTER`, if it is one of these.
pub fn of(errno: i32) -> Option<Refusal> {
    ALL.into_iter().find(|refusal| refusal.errno == errno)
}

/// Requests to an exporter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// To let the board attach.
    Attach,
    /// To pin or map the memory.
    Map,
    /// NVIDIA's driver, for pages by their address (`nvidia_p2p_get_pages`; its codes are in `nvidia_p2p_map_status`
    /// of `kernel-open/nvidia/nv-p2p.c`).
    Pages,
}

/// Returns the error of `REGISTER` for this error (a positive number) of an exporter, or of the kernel for it.
pub const fn told(asked: Asked, errno: i32) -> i32 {
    match (asked, errno) {
        // ENOMEM, also used for insufficient resources; ENOTSUPP. EINVAL is about the address.
        (Asked::Pages, 12) => FULL.errno,
        (Asked::Pages, 524) => REFUSED.errno,
        (Asked::Pages, _) => errno,
        // EINTR and ERESTARTSYS: a signal. EAGAIN: the caller asks again.
        (_, 4 | 512 | 11) => errno,
        // ENODEV; ESTALE, which the driver returns for memory that moves while it is mapped.
        (_, 19 | 116) => GONE.errno,
        // ENOMEM: before anything is mapped, it means the machine's memory.
        (Asked::Attach, 12) => errno,
        // ENOMEM and ENOSPC.
        (Asked::Map, 12 | 28) => FULL.errno,
        _ => REFUSED.errno,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares by the names in asm-generic/errno-base.h, asm-generic/errno.h and linux/errno.h.
    #[test]
    fn exporters_errors_are_not_taken_for_the_boards() {
        const EPERM: i32 = 1;
        const EINTR: i32 = 4;
        const EAGAIN: i32 = 11;
        const ENOMEM: i32 = 12;
        const EBUSY: i32 = 16;
        const ENODEV: i32 = 19;
        const EINVAL: i32 = 22;
        const ENOSPC: i32 = 28;
        const EOPNOTSUPP: i32 = 95;
        const ENOBUFS: i32 = 105;
        const EHOSTUNREACH: i32 = 113;
        const ESTALE: i32 = 116;
        const EREMOTEIO: i32 = 121;
        const ERESTARTSYS: i32 = 512;
        const ENOTSUPP: i32 = 524;

        for asked in [Asked::Attach, Asked::Map] {
            for refused in [ENOTSUPP, EOPNOTSUPP, EBUSY, EINVAL, EPERM, EREMOTEIO] {
                assert_eq!(told(asked, refused), EHOSTUNREACH, "{refused}");
            }
            assert_eq!(told(asked, ENODEV), ESTALE);
            assert_eq!(told(asked, ESTALE), ESTALE);
            for same in [EINTR, EAGAIN, ERESTARTSYS] {
                assert_eq!(told(asked, same), same);
            }
        }
        assert_eq!(told(Asked::Pages, EINVAL), EINVAL);
        assert_eq!(told(Asked::Pages, ENOMEM), ENOBUFS);
        assert_eq!(told(Asked::Pages, ENOTSUPP), EHOSTUNREACH);
        assert_eq!(told(Asked::Attach, ENOMEM), ENOMEM);
        assert_eq!(told(Asked::Map, ENOMEM), ENOBUFS);
        assert_eq!(told(Asked::Map, ENOSPC), ENOBUFS);
    }

    #[test]
    fn every_refusal_is_found_by_its_number_and_says_what_to_do() {
        for refusal in ALL {
            assert_eq!(of(refusal.errno), Some(refusal));
            assert!(refusal.fix.ends_with('.'), "{}", refusal.fix);
        }
        assert_eq!((of(0), of(12), of(22)), (None, None, None));
        assert!(REFUSED.fix.contains("NVreg_GrdmaPciTopoCheckOverride=1"));
    }
}
