//! A machine with a board and a GPU.

use crate::outside::Outside;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use peerlane_bsp::driver::{Board, table};
use peerlane_bsp::system::shell::{Line, OpenCl, Range};
use peerlane_endpoint::opencl::{CvpConfig, Program};
use peerlane_endpoint::{Config, Endpoint, Irq, Params, Port, Ranges, Resets};
use peerlane_guest::{PERIPHERY, Request};
use peerlane_tools::{Cache, Flavour, Kernel, Lint, Qemu, Recipe};
use peerlane_vm::{Initramfs, Log, Machine, guest_program};

/// `PORT_TIMEOUT`, in cycles: the simulated board is slower than the machine around it.
const PORT_TIMEOUT: u32 = 20_000;

/// Offset of the state of the memory's calibration, next to the reference BSP's slaves. The BSP has it in a system of
/// its own.
const STATUS: u64 = 0x3810;

/// Longer than it takes from the end of the emulator until the board has noticed it.
const GONE: Duration = Duration::from_secs(10);

/// The slots and QEMU's names of the boards that a machine may have.
const BOARDS: [(&str, &str); 2] = [("slot0", "board"), ("slot2", "second")];

/// A name, and a function that makes its board differ from the machine's.
type OtherDriver = (&'static str, fn(&mut Board));

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
    windowless: bool,
    entries: Option<u32>,
    small_pages: bool,
    cvp: Option<CvpConfig>,
    resets: Resets,
    left_loaded: bool,
    others: Vec<OtherDriver>,
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
            fake_gpu: build(&kernel, &root.join("fake-gpu"), "fakegpu.ko"),
            guest: guest_program("peerlane-guest").unwrap(),
            example: build_example(built.path()),
            kernel,
            _built: built,
        }
    })
}

/// Builds the module in a directory, once for each content of that directory: each test may be a process of its own, so
/// modules are kept next to cargo's builds.
fn build(kernel: &Kernel, source: &Path, name: &str) -> PathBuf {
    let mut recipe = Recipe::new("module", &format!("{name} of the tests"))
        .part(kernel.vmlinuz().as_os_str().as_encoded_bytes())
        .requires(name);
    for file in files(source) {
        let inner = file.strip_prefix(source).unwrap();
        recipe = recipe
            .part(inner.as_os_str().as_encoded_bytes())
            .part(std::fs::read(&file).unwrap());
    }
    let store = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let kept = store.install::<peerlane_tools::Error>(&recipe, |directory, _| {
        let out = tempfile::tempdir().unwrap();
        let modules = kernel.build(source, out.path(), Lint::Compiler)?;
        assert_eq!(modules.warnings, "", "{}", source.display());
        std::fs::copy(out.path().join(name), directory.join(name)).unwrap();
        Ok(())
    });
    kept.unwrap().join(name)
}

/// Returns all files in a directory and the directories in it.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
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

/// Returns a board with an OpenCL side, and kernels of all kinds.
fn configured(params: Params) -> Config {
    let mut config = Config::new(params);
    config.layout = config.layout.with_opencl();
    config.opencl.program = Some(program(params, 0));
    config
}

/// Returns a program with all kernels, for boards with these parameters. Each number gives one with another hash.
pub(crate) fn program(params: Params, number: u8) -> Program {
    let hash = format!("{number:040x}");
    Program::of_all_kinds("simulated", &hash, 1 << params.memory_log2)
}

/// Returns the driver's description of a board, as `peerlane driver` writes it.
fn board(config: &Config) -> Board {
    Board {
        name: "simulated".into(),
        vendor: config.ids.vendor,
        device: config.ids.device,
        // The BSP's vendor is also the subsystem's.
        subsystem: (None, Some(config.ids.subsystem)),
        build_id: config.block().build_id(),
        slaves: config.layout.slaves(),
        memory: 1 << config.params.memory_log2,
        clock: 1_000_000_000_000 / config.board.pcie_clk_ps,
        stream: None,
        // In the order in which the reference BSP connects them: the kernels first.
        line: config
            .layout
            .cra
            .filter(|_| config.params.irq == Irq::Rxm)
            .map(|cra| Line {
                cra,
                block: 1,
                kernels: Some(0),
            }),
        opencl: config
            .layout
            .opencl
            .map_or_else(OpenCl::default, |parts| OpenCl {
                kernels: Some(Range {
                    offset: parts.kernels,
                    bytes: 0x4000,
                }),
                // The span of `acl_kernel_clk`.
                clock: Some(Range {
                    offset: parts.clock,
                    bytes: 0x800,
                }),
                // In a system of its own, which `peerlane driver` does not read.
                version: None,
                temperature: None,
                status: parts.status.map(|offset| Range { offset, bytes: 4 }),
            }),
    }
}

/// Checks that the simulated board with the reference BSP's parameters is the board of the driver's committed table:
/// both ways of placing the slaves, and of hashing them, agree.
#[test]
fn the_simulated_board_is_the_reference_bsps() {
    let reference = Board {
        name: "peerlane_ref_peerlane".into(),
        ..board(&configured(Params::default()))
    };
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver/src/boards_table.rs");
    assert_eq!(
        table(&[reference]).unwrap(),
        std::fs::read_to_string(committed).unwrap()
    );
}

/// Returns the driver with the table of a board.
fn driver(kernel: &Kernel, board: &Board) -> PathBuf {
    let work = tempfile::tempdir().unwrap();
    let source = work.path().join("driver");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver");
    let copied = Command::new("cp")
        .arg("-R")
        .args([&driver, &source])
        .status();
    assert!(copied.unwrap().success(), "{}", driver.display());
    let table = table(std::slice::from_ref(board)).unwrap();
    std::fs::write(source.join("src/boards_table.rs"), table).unwrap();
    build(kernel, &source, "peerlane.ko")
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

    /// Adds a driver, `/modules/NAME.ko`, that is built for another board than the machine's.
    pub(crate) fn other_driver(mut self, name: &'static str, differs: fn(&mut Board)) -> Self {
        self.others.push((name, differs));
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
        std::fs::File::create(&vram)
            .unwrap()
            .set_len(bytes)
            .unwrap();
        let mut config = configured(self.params);
        config.gpu = Some(vram.clone());
        if let Some(parts) = &mut config.layout.opencl {
            parts.status = Some(STATUS);
        }
        config.resets = self.resets;
        config.table_entries = self.entries;
        config.cvp = self.cvp;
        if self.windowless {
            config.layout.window = None;
        }
        let right = board(&config);
        let driver = driver(&parts.kernel, &right);
        let model = match self.impatient {
            true => peerlane_block::impatient(&config.block()),
            false => peerlane_block::library(&config.block()),
        };
        let model = model.unwrap();
        let boards = &BOARDS[..if self.two { 2 } else { 1 }];
        let socket = |id: &str| work.path().join(id);
        let endpoints = boards.iter().map(|(_, id)| {
            let endpoint = Endpoint::with_library(&model, &config, &socket(id));
            endpoint.unwrap()
        });
        let endpoints: Vec<_> = endpoints.collect();
        let outsides = boards.iter().zip(&endpoints).rev();
        let outsides = outsides.map(|((_, id), endpoint)| Outside::new(endpoint.handle(), id));
        let outside = outsides.reduce(|second, first| first.with(second));
        let mut outside = outside.unwrap();

        let mut files = Initramfs::new(&parts.qemu).unwrap();
        files.shared_program(&parts.guest).unwrap();
        files.program(&parts.example).unwrap();
        for module in [&driver, &parts.fake_gpu] {
            files.module(module).unwrap();
        }
        files.module(&parts.kernel.aer_inject()).unwrap();
        for (name, differs) in &self.others {
            let mut other = right.clone();
            differs(&mut other);
            let copy = work.path().join(format!("{name}.ko"));
            std::fs::copy(self::driver(&parts.kernel, &other), &copy).unwrap();
            files.module(&copy).unwrap();
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
        for (slot, id) in boards {
            machine = machine.vfio_user(slot, id, &socket(id));
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
        for endpoint in &endpoints {
            well_used(endpoint, &config, &log);
        }
    }
}

/// Checks that no program has misused a board of this machine, and that the board has broken no rule of its interfaces.
fn well_used(endpoint: &Endpoint, config: &Config, log: &Log) {
    let board = endpoint.handle();
    // The state at the end of the machine counts, not the one just before.
    assert!(board.wait_left(GONE).unwrap(), "the machine stays");
    let status = board.status().unwrap();
    // The machine or the board notices accesses where the function decodes nothing.
    let bars = status.bars.iter();
    let bars: Ranges = bars.map(|bar| *bar..bar + config.layout.size).collect();
    let stores = log.unanswered().iter();
    let undecoded: Vec<_> = stores
        .filter(|address| bars.contains(&(**address..**address + 1)))
        .collect();
    assert!(undecoded.is_empty(), "{undecoded:#x?}");
    assert_eq!(status.undecoded, 0, "{:?}", status.first_undecoded);
    assert_eq!(status.left_as_master, 0);
    assert_eq!(status.violations, 0, "{:?}", status.first_error);
    assert_eq!(status.strays, 0, "{:?}", status.first_stray);
    // No memory was accessed after it had been taken away from the board.
    assert_eq!(status.unmapped_total, 0, "{:x?}", status.unmapped);
    assert_eq!(status.interrupts_lost, 0);
    let programmed = board.with_cvp(|cvp| cvp.record().clone());
    let violation = programmed.and_then(|record| record.first_violation);
    assert_eq!(violation, None);
}
