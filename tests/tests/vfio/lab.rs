//! A machine with a board at `vfio-pci`, and a GPU.

use crate::examples;
use crate::outside::Outside;
use crate::simulated::{next_to_gpu, well_used};
use peerlane_endpoint::{Endpoint, Input, Irq, Params, Resets, Streams};
use peerlane_guest::Request;
use peerlane_tools::{Cache, Flavour, Series};
use peerlane_vm::{Image, Initramfs, Machine, guest_program, vfio_user};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Commands that bind the board, and run the test's script.
const BIND: &str = include_str!("bind.sh");
/// The test's script in the machine.
const TEST: &str = "/srv/test";
/// The board's description.
const BOARD: &str = "/srv/board";

/// Compiles the mock of GDRCopy's library.
fn fake_gdr(out: &Path) -> PathBuf {
    let library = out.join("libfakegdr.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fake-gdr/gdr.c");
    let compiled = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args([
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fPIC",
            "-shared",
            "-o",
        ])
        .args([&library, &source])
        .status();
    assert!(compiled.unwrap().success(), "{}", source.display());
    library
}

/// Returns a kernel's image, and its modules.
fn kernel(
    cache: &Cache,
    series: Series,
    iommufd: bool,
) -> peerlane_tools::Result<(Image, Vec<PathBuf>)> {
    if !iommufd {
        let kernel = cache.shipped_kernel(series)?;
        return Ok((Image::from(&kernel), kernel.modules().to_vec()));
    }
    let kernel = cache.kernel(Flavour::Debian)?;
    let modules = cache.cdev_modules(&kernel)?;
    Ok((Image::from(&kernel), modules))
}

/// Memory of the mock GPU, in bytes.
const VRAM: u64 = 256 << 20;

/// The stream of the block.
const STREAM: Input = Input {
    bits: 256,
    packets: false,
    lossy: false,
};

/// Adds files to a machine, and lines to its script.
type More = fn(&mut Initramfs);

/// Properties of a machine that differ between tests.
#[derive(Debug)]
pub(crate) struct Setup {
    series: Series,
    params: Params,
    /// Memory that an ordinary user may lock, in MiB. The test runs as this user.
    user_mib: Option<u32>,
    locked_down: bool,
    iommufd: bool,
    two: bool,
    more: Vec<More>,
}

impl Setup {
    /// Makes a machine with the newest kernel of a series, and a board with a table of vectors.
    pub(crate) fn new(series: Series) -> Self {
        Self {
            series,
            params: Params {
                irq: Irq::Msix,
                inputs: Streams::try_from(vec![STREAM]).unwrap(),
                ..Params::default()
            },
            user_mib: None,
            locked_down: false,
            iommufd: false,
            two: false,
            more: Vec::new(),
        }
    }

    /// Sets a block without a table of vectors: the hard IP makes one message of its interrupt line.
    pub(crate) fn irq_line(mut self) -> Self {
        self.params.irq = Irq::Rxm;
        self
    }

    /// Runs the test as an ordinary user with the board, and with so many MiB of memory that can be locked.
    pub(crate) fn user(mut self, mib: u32) -> Self {
        self.user_mib = Some(mib);
        self
    }

    /// Locks the kernel down, as Secure Boot does: it loads only signed modules, and refuses mappings of sysfs. The GPU
    /// is at `vfio-pci` then, too.
    pub(crate) fn locked_down(mut self) -> Self {
        self.locked_down = true;
        self
    }

    /// Replaces the modules by those of a kernel that has iommufd, and no groups of VFIO. The series is that of the
    /// driver then.
    pub(crate) fn iommufd(mut self) -> Self {
        self.iommufd = true;
        self.with(examples::command)
    }

    /// Adds a second board of the same kind, in a slot of its own.
    pub(crate) fn two_boards(mut self) -> Self {
        self.two = true;
        self
    }

    /// Adds files to the machine.
    pub(crate) fn with(mut self, more: More) -> Self {
        self.more.push(more);
        self
    }

    /// Boots the machine and runs a script in it, for which `board` and `gpu` are the PCI addresses, and `group` and
    /// `gpu_group` the IOMMU groups. Fails if the script fails, the kernel complains, or the board broke a rule of its
    /// interfaces.
    pub(crate) fn run(self, script: &str) {
        let cache = Cache::open().unwrap_or_else(|error| panic!("{error}"));
        let qemu = cache.qemu().unwrap_or_else(|error| panic!("{error}"));
        let (image, modules) = kernel(&cache, self.series, self.iommufd)
            .unwrap_or_else(|error| panic!("{error}; {}", error.hint()));
        let work = tempfile::tempdir().unwrap();
        let vram = work.path().join("vram");
        let mut config = next_to_gpu(self.params, &vram, VRAM);
        // The hard IP's reset reaches the fabric, as on boards whose BSP connects it.
        config.resets = Resets::Link;
        let model = peerlane_block::library(&config.block()).unwrap();
        let boards = match self.two {
            false => &[("slot0", "board")][..],
            true => &[("slot0", "board"), ("slot2", "second")],
        };
        let (mut endpoints, mut devices, mut outside) = (Vec::new(), Vec::new(), None);
        for (slot, id) in boards.iter().rev() {
            let socket = work.path().join(id);
            let endpoint = Endpoint::with_library(&model, &config, &socket).unwrap();
            let device = vfio_user(slot, id, &socket);
            outside = Some(Outside::new(endpoint.handle(), device.clone(), outside));
            endpoints.push(endpoint);
            devices.push(device);
        }
        let mut outside = outside.unwrap();

        let mut files = Initramfs::new(&qemu).unwrap();
        let guest = guest_program("peerlane-guest").unwrap();
        files.shared_program(&guest).unwrap();
        files.loaded_modules(&modules).unwrap();
        files.file(TEST, script.as_bytes()).unwrap();
        let description = config.description("simulated");
        files.file(BOARD, description.as_bytes()).unwrap();
        files.library(&fake_gdr(work.path())).unwrap();
        for more in &self.more {
            more(&mut files);
        }
        let ids = &config.ids;
        files.script(&format!(
            "mkdir -p /lib/firmware/peerlane\n\
             cp {BOARD} /lib/firmware/peerlane/{:04x}-{:04x}-{:04x}.board\n\
             board_id='{:#06x} {:#06x}'\nuser_mib={}\nlocked_down={}\niommufd={}\ntest={TEST}\n{BIND}",
            ids.vendor,
            ids.device,
            ids.subsystem,
            ids.vendor,
            ids.device,
            self.user_mib
                .map_or_else(String::new, |mib| mib.to_string()),
            if self.locked_down { "yes" } else { "" },
            if self.iommufd { "yes" } else { "" },
        ));
        let mut machine = Machine::new(&qemu, image, files)
            .cpus(2)
            // Examples and libraries with the simulator are large, and the files of a machine are in its memory.
            .memory(if self.more.is_empty() { 1024 } else { 3072 })
            .iommu()
            .slots(if self.two { 3 } else { 2 })
            .shared_memory("slot1", "gpu", &vram, VRAM)
            // The emulated processor lacks a mitigation, as older kernels report.
            .expect("Speculative Return Stack Overflow: WARNING")
            .deadline(Duration::from_secs(1800));
        for device in devices {
            machine = machine.device(device);
        }
        if self.locked_down {
            machine = machine.parameter("lockdown=integrity");
        }
        let ended = machine
            .start()
            .and_then(|vm| vm.run(|qmp, request: Request| outside.answer(qmp, &request)));
        let log = ended.unwrap_or_else(|error| panic!("{error}"));
        println!("{}", log.console());
        for endpoint in &endpoints {
            well_used(endpoint, &config, &log);
        }
    }
}
