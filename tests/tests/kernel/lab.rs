//! A machine with a board and a GPU.

use crate::module::build;
use crate::outside::Outside;
use crate::simulated::{configured, next_to_gpu, well_used};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use peerlane_endpoint::opencl::CvpConfig;
use peerlane_endpoint::{Config, Endpoint, Input, Irq, Params, Port, Resets, Streams};
use peerlane_guest::{PERIPHERY, Request};
use peerlane_hdl::Slaves;
use peerlane_tools::{Cache, Flavour, Kernel, Qemu};
use peerlane_vm::{Initramfs, Machine, guest_program, vfio_user};

/// `PORT_TIMEOUT`, in cycles: the simulated board is slower than the machine around it.
const PORT_TIMEOUT: u32 = 20_000;

/// The slots and QEMU's names of the boards that a machine may have.
const BOARDS: [(&str, &str); 2] = [("slot0", "board"), ("slot2", "second")];

/// A name, and a function that makes a text of the file with the boards' descriptions.
type OtherFile = (&'static str, fn(&Config, &str) -> String);

/// Adds files to a machine, and lines to its script.
type More = fn(&mut Initramfs);

/// Properties of a machine that differ between tests.
#[derive(Debug)]
pub(crate) struct Setup {
    params: Params,
    iommu: bool,
    far: bool,
    at_the_root: bool,
    two: bool,
    second_channels: Option<u32>,
    mistaken: Option<fn(&mut Slaves)>,
    subsystem: Option<u16>,
    windowless: bool,
    entries: Option<u32>,
    small_pages: bool,
    cvp: Option<CvpConfig>,
    resets: Resets,
    left_loaded: bool,
    others: Vec<OtherFile>,
    more: Vec<More>,
    memory_mib: u32,
    vram_mib: u32,
    port_timeout: u32,
    impatient: bool,
    parameters: String,
    kernel_parameters: Vec<&'static str>,
    deadline: Duration,
}

impl Default for Setup {
    fn default() -> Self {
        let params = Params {
            irq: Irq::Msix,
            ..Params::default()
        };
        Self {
            params,
            iommu: false,
            far: false,
            at_the_root: false,
            two: false,
            second_channels: None,
            mistaken: None,
            subsystem: None,
            windowless: false,
            entries: None,
            small_pages: false,
            cvp: None,
            resets: Resets::default(),
            left_loaded: false,
            others: Vec::new(),
            more: Vec::new(),
            memory_mib: 1024,
            vram_mib: 256,
            port_timeout: PORT_TIMEOUT,
            impatient: false,
            parameters: String::new(),
            kernel_parameters: Vec::new(),
            deadline: Duration::from_secs(1800),
        }
    }
}

/// Kernel, emulator and programs, which all tests share.
struct Parts {
    qemu: Qemu,
    kernel: Kernel,
    driver: PathBuf,
    fake_gpu: PathBuf,
    guest: PathBuf,
    example: PathBuf,
    // The directory that contains the example.
    _built: tempfile::TempDir,
}

fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(|| {
        let cache = Cache::open().unwrap();
        let kernel = cache.kernel(Flavour::chosen().unwrap()).unwrap();
        let built = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Parts {
            qemu: cache.qemu().unwrap(),
            driver: build(&kernel, &root.join("../driver"), "peerlane.ko"),
            fake_gpu: build(&kernel, &root.join("fake-gpu"), "fakegpu.ko"),
            guest: guest_program("peerlane-guest").unwrap(),
            example: build_example(built.path()),
            kernel,
            _built: built,
        }
    })
}

/// Builds the C program that only uses the driver's header.
fn build_example(out: &Path) -> PathBuf {
    let program = out.join("peerlane-example");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver/uapi/example.c");
    let compiled = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args(["-O2", "-static", "-o"])
        .args([&program, &source])
        .status();
    assert!(compiled.unwrap().success(), "{}", source.display());
    program
}

/// Checks that the simulated board with the reference BSP's parameters is the board of the reference BSP's description:
/// both ways of placing the slaves, and of hashing them, agree.
#[test]
fn the_simulated_board_is_the_reference_bsps() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bsp/reference.board");
    assert_eq!(
        configured(Params::default()).description("peerlane_ref_peerlane"),
        std::fs::read_to_string(committed).unwrap()
    );
}

impl Setup {
    /// Sets a board that does not show a window into its memory.
    pub(crate) fn windowless(mut self) -> Self {
        self.windowless = true;
        self
    }

    /// Sets a board whose FPGA can be configured over PCIe.
    pub(crate) fn cvp(mut self) -> Self {
        self.cvp = Some(CvpConfig {
            periphery: PERIPHERY,
            ..CvpConfig::default()
        });
        self
    }

    /// Sets a board whose fabric is reset with the link, which every board with `Txs` needs after an unanswered read.
    /// Other boards' fabric is not reset.
    pub(crate) fn reset_fabric(mut self) -> Self {
        self.resets = Resets::Link;
        self
    }

    /// Sets a board whose fabric is reset with every reset of the function, like one that is reset with its hard IP.
    pub(crate) fn fabric_with_function(mut self) -> Self {
        self.resets = Resets::Fabric;
        self
    }

    /// Adds a second board of the same kind, in a slot of its own.
    pub(crate) fn two_boards(mut self) -> Self {
        self.two = true;
        self
    }

    /// Sets the board's number of channels.
    pub(crate) fn channels(mut self, channels: u32) -> Self {
        self.params.channels = channels;
        self
    }

    /// Sets the entries of the board's table of vectors, as its configuration space reports them.
    pub(crate) fn table_entries(mut self, entries: u32) -> Self {
        self.entries = Some(entries);
        self
    }

    /// Disables huge pages of all kinds.
    pub(crate) fn small_pages(mut self) -> Self {
        self.small_pages = true;
        self
    }

    /// Leaves the driver loaded, and all processes that the script has started running, as the machine goes off.
    pub(crate) fn left_loaded(mut self) -> Self {
        self.left_loaded = true;
        self
    }

    /// Adds a second board, with so many channels: so it is another build, and its slaves lie elsewhere.
    pub(crate) fn second_board(mut self, channels: u32) -> Self {
        self.second_channels = Some(channels);
        self.two_boards()
    }

    /// Sets a board that was built, and is described, with other places than it has.
    pub(crate) fn mistaken(mut self, places: fn(&mut Slaves)) -> Self {
        self.mistaken = Some(places);
        self
    }

    /// Sets the ID of the subsystem.
    pub(crate) fn subsystem(mut self, id: u16) -> Self {
        self.subsystem = Some(id);
        self
    }

    /// Adds a file of descriptions, `/modules/NAME.board`, made from the board and from the text of its own file.
    pub(crate) fn other_file(
        mut self,
        name: &'static str,
        text: fn(&Config, &str) -> String,
    ) -> Self {
        self.others.push((name, text));
        self
    }

    /// Sets a block whose addresses the hard IP translates.
    pub(crate) fn translated(mut self) -> Self {
        self.params.txs_addr_bits = 32;
        self.params.irq = Irq::Rxm;
        self
    }

    /// Adds files.
    pub(crate) fn with(mut self, more: More) -> Self {
        self.more.push(more);
        self
    }

    /// Adds a stream from the FPGA's logic to the block.
    pub(crate) fn stream(mut self) -> Self {
        let stream = Input {
            bits: 256,
            packets: false,
            lossy: false,
        };
        self.params.inputs = Streams::try_from(vec![stream]).unwrap();
        self
    }

    /// Adds a translating IOMMU, strict.
    pub(crate) fn iommu(mut self) -> Self {
        self.iommu = true;
        self
    }

    /// Adds a GPU that the board cannot reach as far as the kernel knows.
    pub(crate) fn far_gpu(mut self) -> Self {
        self.far = true;
        self
    }

    /// Adds a GPU that the board reaches through the host bridge, and so through an IOMMU. (A switch passes requests on
    /// to its other ports by itself; QEMU's does not.)
    pub(crate) fn gpu_at_the_root(mut self) -> Self {
        self.at_the_root = true;
        self
    }

    /// Sets the time limit.
    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the memory.
    pub(crate) fn memory(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// Sets the memory of the mock GPU: a power of two.
    pub(crate) fn vram(mut self, mib: u32) -> Self {
        self.vram_mib = mib;
        self
    }

    /// Adds a parameter of the driver.
    pub(crate) fn parameter(mut self, parameter: &str) -> Self {
        self.parameters.push(' ');
        self.parameters.push_str(parameter);
        self
    }

    /// Adds a parameter of the kernel.
    pub(crate) fn kernel_parameter(mut self, parameter: &'static str) -> Self {
        self.kernel_parameters.push(parameter);
        self
    }

    /// Sets the cycles until the block finds out that its port is stalled.
    pub(crate) fn port_timeout(mut self, cycles: u32) -> Self {
        self.port_timeout = cycles;
        self
    }

    /// Sets a block without a table of vectors: the hard IP makes one message of its interrupt line.
    pub(crate) fn irq_line(mut self) -> Self {
        self.params.irq = Irq::Rxm;
        self
    }

    /// Sets a block with the tagged port, whose completions carry a status.
    pub(crate) fn tagged(mut self) -> Self {
        self.params.port = Port::Stream;
        self
    }

    /// Sets a block with its own transaction layer, on the hard IP's Avalon-ST interface: the host accesses all slaves
    /// through it. A reset of the link resets all of it.
    pub(crate) fn packets(mut self) -> Self {
        self.params.port = Port::Tlp;
        self.reset_fabric()
    }

    /// Sets such a block that gives reads up after thousands of cycles, instead of millions, and before its engine
    /// does.
    pub(crate) fn impatient_packets(self) -> Self {
        let longest = 130 << peerlane_block::IMPATIENCE_LOG2;
        let mut setup = self.packets().port_timeout(3 * longest);
        setup.impatient = true;
        setup
    }

    /// Boots the machine with driver and mock GPU loaded, and runs a script in it. Fails if the script fails, the
    /// kernel complains, or the board broke a rule of its interfaces.
    pub(crate) fn run(self, script: &str) {
        let parts = parts();
        let work = tempfile::tempdir().unwrap();
        let vram = work.path().join("vram");
        let bytes = u64::from(self.vram_mib) << 20;
        let mut config = next_to_gpu(self.params, &vram, bytes);
        config.ids.subsystem = self.subsystem.unwrap_or(config.ids.subsystem);
        config.resets = self.resets;
        config.table_entries = self.entries;
        config.cvp = self.cvp;
        if self.windowless {
            config.layout.window = None;
        }
        let mut configs = vec![config.clone()];
        if self.two {
            let mut second = config.clone();
            if let Some(channels) = self.second_channels {
                let params = Params {
                    channels,
                    ..self.params
                };
                second.params = params;
                second.layout = configured(params).layout;
                second.layout.opencl = config.layout.opencl;
            }
            configs.push(second);
        }
        let boards = &BOARDS[..configs.len()];
        let socket = |id: &str| work.path().join(id);
        let endpoints = boards.iter().zip(&configs).map(|((_, id), config)| {
            let mut block = config.block();
            if let (Some(mistaken), Some(slaves)) = (self.mistaken, &mut block.slaves) {
                mistaken(slaves);
            }
            let model = match self.impatient {
                true => peerlane_block::impatient(&block),
                false => peerlane_block::library(&block),
            };
            Endpoint::with_library(&model.unwrap(), config, &socket(id)).unwrap()
        });
        let endpoints: Vec<_> = endpoints.collect();
        let mut described: Vec<_> = configs
            .iter()
            .map(|one| description(one, self.mistaken))
            .collect();
        described.dedup();
        let described = described.concat();
        let outsides = boards.iter().zip(&endpoints).rev();
        let outside = outsides.fold(None, |second, ((slot, id), endpoint)| {
            let device = vfio_user(slot, id, &socket(id));
            Some(Outside::new(endpoint.handle(), device, second))
        });
        let mut outside = outside.unwrap();

        let mut files = Initramfs::new(&parts.qemu).unwrap();
        files.shared_program(&parts.guest).unwrap();
        files.program(&parts.example).unwrap();
        for module in [&parts.driver, &parts.fake_gpu] {
            files.module(module).unwrap();
        }
        files.module(&parts.kernel.aer_inject()).unwrap();
        let mut file = |name: &str, text: &str| {
            let path = format!("/modules/{name}.board");
            files.file(&path, text.as_bytes()).unwrap();
        };
        file("right", &described);
        for (name, text) in &self.others {
            file(name, &text(&config, &described));
        }
        for more in &self.more {
            more(&mut files);
        }
        let parameters = format!("port_timeout={}{}", self.port_timeout, self.parameters);
        let unload = match self.left_loaded {
            false => "rmmod peerlane\nrmmod fakegpu",
            true => "",
        };
        files.script(&format!(
            "insmod /modules/fakegpu.ko\n\
             export PEERLANE_BOARD=/lib/firmware/peerlane/1172-ab00-504c.board\n\
             mkdir -p ${{PEERLANE_BOARD%/*}}\n\
             cp /modules/right.board $PEERLANE_BOARD\n\
             export PEERLANE_MODULE=/modules/peerlane.ko\n\
             export PEERLANE_PARAMETERS='{parameters}'\n\
             insmod $PEERLANE_MODULE $PEERLANE_PARAMETERS\n\
             {script}\n\
             {unload}"
        ));
        let mut machine = Machine::new(&parts.qemu, &parts.kernel, files)
            .cpus(2)
            .memory(self.memory_mib)
            .slots(if self.two { 3 } else { 2 })
            .shared_memory(
                if self.far || self.at_the_root {
                    "pcie.0"
                } else {
                    "slot1"
                },
                "gpu",
                &vram,
                bytes,
            )
            .deadline(self.deadline);
        // The emulated processor lacks a mitigation, as older kernels report.
        if Flavour::chosen().unwrap() == Flavour::Released {
            machine = machine.expect("Speculative Return Stack Overflow: WARNING");
        }
        for (slot, id) in boards {
            machine = machine.device(vfio_user(slot, id, &socket(id)));
        }
        machine = match self.small_pages {
            true => machine.parameter("transparent_hugepage=never"),
            false => machine
                // Pages of 2 MiB, for buffers: a seventh of the memory.
                .parameter(&format!("hugepages={}", self.memory_mib * 9 / 128))
                .parameter("transparent_hugepage=always"),
        };
        for parameter in &self.kernel_parameters {
            machine = machine.parameter(parameter);
        }
        if self.far {
            machine = machine.devices_apart();
        }
        if self.iommu {
            machine = machine.iommu();
        }
        let ended = machine
            .start()
            .and_then(|vm| vm.run(|qmp, request: Request| outside.answer(qmp, &request)));
        let log = ended.unwrap_or_else(|error| panic!("{error}"));
        println!("{}", log.console());
        for (endpoint, config) in endpoints.iter().zip(&configs) {
            well_used(endpoint, config, &log);
        }
    }
}

/// Returns the description of a board, with the places that it was built with.
fn description(config: &Config, mistaken: Option<fn(&mut Slaves)>) -> String {
    let text = config.description("simulated");
    let Some(mistaken) = mistaken else {
        return text;
    };
    let right = config.block();
    let mut wrong = right;
    wrong.slaves.iter_mut().for_each(mistaken);
    text.replace(&right.canonical(), &wrong.canonical())
}
