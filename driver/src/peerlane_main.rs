// SPDX-License-Identifier: GPL-2.0

//! Peerlane: direct transfers between an OpenCL FPGA board and a GPU.
//!
//! A thin layer over [`logic`], which is tested on the host. Data flows one way: a file's [`context`] makes memory
//! reachable ([`memory`], [`mapping`], [`regions`]), a process or the driver ([`queue`]) writes descriptors, and
//! interrupts ([`irq`]) notify the context ([`events`]) of new records. [`window`] manages the window into FPGA
//! memory, [`opencl`] the OpenCL side. [`board`] has the state that contexts share, and the order of the locks.

use kernel::{
    bindings,
    device::Core,
    pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
};

mod access;
mod board;
mod boards;
mod callbacks;
mod configure;
mod context;
mod debugfs;
mod dma;
mod events;
mod fdinfo;
mod ffi;
mod file;
mod fpga_memory;
mod gate;
mod hw;
mod identify;
mod ioctl;
mod irq;
mod logic;
mod mapping;
mod memory;
mod opencl;
mod peers;
mod probe;
mod queue;
mod register;
mod regions;
mod reprogram;
mod room;
mod scratch;
mod settings;
mod streams;
mod sysfs;
mod trace;
mod views;
mod window;

use board::{
    others::{self, Listed},
    Board, Found, Shrinker,
};
use debugfs::Files;
use file::Node;
use hw::Failure;
use identify::{identify, Identified};
use irq::Interrupts;
use logic::lifecycle::{NotStarted, Starter};
use settings::Settings;

/// Numbers of boards that are taken, one bit each.
static NUMBERS: Atomic<u64> = Atomic::new(0);

const _: () = assert!(others::MOST == u64::BITS as usize);

/// The number in a board's name.
struct Number(u32);

impl Number {
    fn take() -> Result<Self> {
        let mut taken = NUMBERS.load(ordering::Relaxed);
        loop {
            let free = taken.trailing_ones();
            let bit = 1u64.checked_shl(free).ok_or(ENOSPC)?;
            match NUMBERS.cmpxchg(taken, taken | bit, ordering::Full) {
                Ok(_) => return Ok(Self(free)),
                Err(now) => taken = now,
            }
        }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let bit = 1 << self.0;
        let mut taken = NUMBERS.load(ordering::Relaxed);
        while let Err(now) = NUMBERS.cmpxchg(taken, taken & !bit, ordering::Full) {
            taken = now;
        }
    }
}

struct Driver;

/// A board that was started, and is stopped at the end.
struct Started(Arc<Board>);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// A device whose memory is enabled. The kernel counts that: without a matching disable it takes the memory for
/// enabled at the next probe, even if the function has lost that since.
struct Enabled(ARef<pci::Device>);

impl Drop for Enabled {
    fn drop(&mut self) {
        // SAFETY: a valid device, which was enabled by us once.
        unsafe { bindings::pci_disable_device(ffi::pci_dev(&self.0)) };
    }
}

/// Data of a bound device.
#[pin_data]
struct Data<'bound> {
    // It is dropped first: then the device cannot be opened any more.
    #[pin]
    node: Node,
    #[pin]
    _files: Files,
    _listed: Listed,
    _shrinker: Shrinker,
    _interrupts: Interrupts<'bound>,
    board: Started,
    _number: Number,
    _enabled: Enabled,
}

kernel::pci_device_table!(IDS, (), [(boards::id(), ())]);

impl pci::Driver for Driver {
    type IdInfo = ();
    type Data<'bound> = Data<'bound>;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = &IDS;

    fn probe<'bound>(
        device: &'bound pci::Device<Core<'_>>,
        _: Option<&'bound ()>,
    ) -> impl PinInit<Data<'bound>, Error> + 'bound {
        pin_init::pin_init_scope(move || {
            // SAFETY: a valid device.
            if unsafe { ffi::peerlane_has_own_dma(ffi::raw_device(device.as_ref())) } {
                dev_err!(
                    device,
                    "the system maps memory for the board by operations of its own, which may copy it without notice, as Xen's do in dom0 and in paravirtual domains; the driver cannot use such memory: boot without Xen\n"
                );
                return Err(ENODEV);
            }
            let file = boards::File::of(device)?;
            let settings = Settings::of(device.as_ref());
            device.enable_device_mem()?;
            let enabled = Enabled(ARef::from(&**device));
            let found = identify(device, &file).inspect(|found| {
                // An earlier user of the board may have left it running.
                hw::silence(&found.bar, &found.place);
            });
            drop(file);
            // Until its block is wiped, none of its requests arrives.
            // SAFETY: a valid device.
            unsafe { bindings::pci_clear_master(ffi::pci_dev(device)) };
            let Identified {
                bar,
                place,
                identity,
                capabilities,
            } = found?;
            // SAFETY: a valid device, whose lock is held.
            unsafe { ffi::peerlane_reset_by_the_link(ffi::pci_dev(device)) };
            // SAFETY: nothing was allocated for DMA yet.
            unsafe {
                kernel::dma::Device::dma_set_mask_and_coherent(
                    device,
                    kernel::dma::DmaMask::new::<64>(),
                )?
            };
            // SAFETY: as above. The ATT's pages are cut out of segments of any kind.
            unsafe { ffi::peerlane_lift_segment_limits(ffi::raw_device(device.as_ref())) };
            let memory = board::fpga_memory(device, &place, &capabilities, &settings)?;
            let found = Found {
                bar: bar.into_devres()?,
                place,
                identity,
                capabilities,
                settings,
                memory,
            };
            let board = Board::new(device, found)?;
            board.bound_completions();
            let interrupts = Interrupts::new(device, &board)?;
            let number = Number::take()?;
            // It is not bus master yet, and all other setup is done.
            callbacks::save(&board)?;
            let started = Started(board.clone());
            let mut begun = board.start(Starter::Owner);
            if matches!(begun, Err(NotStarted::Failed(Failure::PortDead | Failure::Late(..)))) {
                // A request of another driver is blocked at the port, for memory that is not that driver's any more.
                dev_warn!(
                    device,
                    "the block is busy with a request from before this driver: the function is being reset\n"
                );
                board.rest_after_loss();
                if callbacks::reset_at_probe(&board).is_ok() {
                    begun = board.start(Starter::Owner);
                }
            }
            begun.map_err(|error| {
                // That failure has its own message, and has nothing to do with the FPGA.
                if error != NotStarted::Failed(Failure::ReadRequest) {
                    dev_err!(
                        device,
                        "the board does not start: {:?}; configure its FPGA again, then rescan it\n",
                        error
                    );
                }
                EIO
            })?;
            dev_info!(
                device,
                "peerlane{}: {} channels, queues of {}, {} ATT entries, {} vectors, MAP_ID {:#010x}, BUILD_ID {:#010x}\n",
                number.0,
                capabilities.channels,
                capabilities.queue_depth(),
                capabilities.att_entries(),
                interrupts.count(),
                identity.map_id,
                identity.build_id
            );
            let files = Files::new(&board, number.0)?;
            Ok(try_pin_init!(Data {
                _files <- files,
                _listed: Listed::new(&board, number.0),
                _shrinker: Shrinker::new(&board, number.0)?,
                _interrupts: interrupts,
                node <- Node::new(board, number.0 as usize),
                board: started,
                _number: number,
                _enabled: enabled,
            }? Error))
        })
    }

    fn unbind<'bound>(_: &'bound pci::Device<Core<'_>>, this: Pin<&Data<'bound>>) {
        this.board.0.retire();
    }
}

kernel::module_driver!(<T>, callbacks::Adapter<T>, {
    type: Driver,
    name: "peerlane",
    authors: ["The Peerlane authors"],
    description: "Direct transfers between an OpenCL FPGA board and a GPU",
    license: "GPL",
    imports_ns: ["CXL", "DMA_BUF"],
    params: {
        patience_ms: u32 {
            default: 2000,
            description: "Longest wait for the block to become idle, in ms, before it is cut off from memory and reset (default 2000)",
        },
        port_timeout: u32 {
            default: 0,
            description: "Cycles of the PCIe clock after which a read that is not answered fails; 0: as after power-up (default 0)",
        },
        recovery_s: u32 {
            default: 90,
            description: "Longest wait for the kernel to correct an error of the bus, in s, before the board is given up (default 90)",
        },
        peer_reads: u32 {
            default: 1,
            description: "The other devices from which a board with a Txs port reads; there, one read that is not answered ends all reads. 0: none, 1: those that have answered a first read, 2: all (default 1)",
        },
        any_distance: bool {
            default: false,
            description: "Use GPUs' memory although the kernel does not know that the board can reach it (default 0)",
        },
        context_entries: u32 {
            default: 0,
            description: "The most ATT entries that one open file may hold; 0: all that are free (default 0)",
        },
        user_channels: u32 {
            default: 0,
            description: "The most channels of a board that a user without CAP_SYS_RESOURCE may have; 0: half of them (default 0)",
        },
        user_entries: u32 {
            default: 0,
            description: "The most ATT entries that all files of a user without CAP_SYS_RESOURCE may hold; 0: half of them (default 0)",
        },
        user_memory_mib: u32 {
            default: 0,
            description: "The most MiB of FPGA memory that all files of a user without CAP_SYS_RESOURCE may allocate; 0: half of what can be allocated (default 0)",
        },
        user_gpu_mib: u32 {
            default: 0,
            description: "The most MiB of other devices' memory that all files of a user without CAP_SYS_RESOURCE may have pinned; 0: no limit but its ATT entries (default 0)",
        },
        memory_pool_mib: u32 {
            default: 0,
            description: "MiB at the end of FPGA memory that contexts may allocate, the rest is left to the holder of all; 0: all (default 0)",
        },
        hold_all: bool {
            default: false,
            description: "A user who may open a board may hold all its FPGA memory that is not allocated; otherwise that needs CAP_SYS_RAWIO (default 0)",
        },
        configure_all: bool {
            default: false,
            description: "A process that holds all FPGA memory may have the FPGA configured with any design, which can do all that the IOMMU lets the board do; refused without an IOMMU; otherwise that needs CAP_SYS_RAWIO (default 0)",
        },
        configure_s: u32 {
            default: 300,
            description: "Longest time, in s, that a user who may configure the FPGA by configure_all alone keeps the board stopped for that (default 300)",
        },
        verbose: bool {
            default: false,
            description: "Write into the kernel's log why regions were refused (default 0)",
        },
        kept_regions: u32 {
            default: 1024,
            description: "Regions that a context may keep mapped after use (default 1024)",
        },
        kept_host_mib: u32 {
            default: 1024,
            description: "MiB of host memory among them (default 1024)",
        },
        kept_gpu_mib: u32 {
            default: 128,
            description: "MiB of GPU memory among them, which takes up the GPU's BAR (default 128)",
        },
    },
});
