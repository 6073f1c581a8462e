//! A machine with a board and a GPU, and the answers to what its programs ask.

use crate::figures;
use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
    time::Duration,
};

use peerlane_bsp::driver::{Board, table};
use peerlane_bsp::system::shell::{Line, OpenCl, Range};
use peerlane_endpoint::opencl::{Contents, CvpConfig, CvpFault, Program, Timing, cvp_image};
use peerlane_endpoint::{Config, Endpoint, Handle, Irq, Params, Port, Ranges, Resets, Touched};
use peerlane_guest::{
    Allowed, Answer, Counters, Fault, PERIPHERY, Programmed, Programming, Reply, Request, Stretch,
    pattern,
};
use peerlane_tools::{Cache, Flavour, Kernel, Lint, Qemu};
use peerlane_vm::{Initramfs, Machine, Qmp, guest_program};
use serde_json::json;

/// `PORT_TIMEOUT`, in cycles: the simulated board lives slower than the machine around it.
const PORT_TIMEOUT: u32 = 20_000;

/// Where the state of the memory's calibration is, beside the reference BSP's slaves, which has it in a system of its own.
const STATUS: u64 = 0x3810;

/// Longer than it takes from the end of the emulator until the board has seen it.
const GONE: Duration = Duration::from_secs(10);

/// A name, and how its board differs from the machine's.
type OtherDriver = (&'static str, fn(&mut Board));

/// Adds files to a machine, and lines to its script.
type More = fn(&mut Initramfs);

/// What a machine is made of, besides what every test has.
#[derive(Debug)]
pub(crate) struct Setup {
    params: Params,
    iommu: bool,
    far: bool,
    at_the_root: bool,
    windowless: bool,
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
            windowless: false,
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

/// Kernel, emulator and modules, which all tests share.
struct Parts {
    qemu: Qemu,
    kernel: Kernel,
    fake_gpu: PathBuf,
    guest: PathBuf,
    example: PathBuf,
    // The modules are in it.
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
            fake_gpu: build(&kernel, &root.join("fake-gpu"), built.path()),
            guest: guest_program("peerlane-guest").unwrap(),
            example: build_example(built.path()),
            kernel,
            _built: built,
        }
    })
}

/// Builds a directory's module.
fn build(kernel: &Kernel, source: &Path, out: &Path) -> PathBuf {
    let mut modules = kernel.build(source, out, Lint::Compiler).unwrap();
    assert_eq!(modules.warnings, "", "{}", source.display());
    modules.files.pop().unwrap()
}

/// Builds the program in C that has nothing but the driver's header.
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

/// A board with an OpenCL side, and kernels of all kinds.
fn configured(params: Params) -> Config {
    let mut config = Config::new(params);
    config.layout = config.layout.with_opencl();
    config.opencl.program = Some(program(params, 0));
    config
}

/// A program with all kernels, for boards with these parameters. Each number gives one with another hash.
pub(crate) fn program(params: Params, number: u8) -> Program {
    let hash = format!("{number:040x}");
    Program::of_all_kinds("simulated", &hash, 1 << params.memory_log2)
}

/// What the driver is to know of a board, as `peerlane driver` writes it.
fn board(config: &Config) -> Board {
    Board {
        name: "simulated".into(),
        vendor: config.ids.vendor,
        device: config.ids.device,
        // Its vendor is whose the BSP's is.
        subsystem: (None, Some(config.ids.subsystem)),
        build_id: config.block().build_id(),
        slaves: config.layout.slaves(),
        memory: 1 << config.params.memory_log2,
        clock: 1_000_000_000_000 / config.board.pcie_clk_ps,
        stream: None,
        // As the reference BSP connects them: the kernels first.
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
                // In a system of its own, which is not looked into.
                version: None,
                temperature: None,
                status: parts.status.map(|offset| Range { offset, bytes: 4 }),
            }),
    }
}

/// The simulated board with the reference BSP's parameters is the one of the driver's committed table:
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

/// The driver with the table of a board, built once for each.
fn driver(kernel: &Kernel, board: &Board) -> PathBuf {
    type Drivers = Vec<(Board, PathBuf, tempfile::TempDir)>;
    static BUILT: Mutex<Drivers> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap();
    if let Some((_, module, _)) = built.iter().find(|(other, ..)| other == board) {
        return module.clone();
    }
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
    let module = build(kernel, &source, &work.path().join("built"));
    built.push((board.clone(), module.clone(), work));
    module
}

impl Setup {
    /// With a board that does not show a window into its memory.
    pub(crate) fn windowless(mut self) -> Self {
        self.windowless = true;
        self
    }

    /// With a board whose FPGA can be configured over PCIe.
    pub(crate) fn cvp(mut self) -> Self {
        self.cvp = Some(CvpConfig {
            periphery: PERIPHERY,
            ..CvpConfig::default()
        });
        self
    }

    /// With a board whose fabric hangs on the resets of the link, as every board with `Txs` needs after a read that was not
    /// answered. Others' goes on.
    pub(crate) fn reset_fabric(mut self) -> Self {
        self.resets = Resets::Link;
        self
    }

    /// The driver is still loaded, and whatever the script left runs, as the machine goes off.
    pub(crate) fn left_loaded(mut self) -> Self {
        self.left_loaded = true;
        self
    }

    /// With one more driver, `/modules/NAME.ko`, which is built for another board than the machine's.
    pub(crate) fn other_driver(mut self, name: &'static str, differs: fn(&mut Board)) -> Self {
        self.others.push((name, differs));
        self
    }

    /// A block whose addresses the hard IP translates.
    pub(crate) fn translated(mut self) -> Self {
        self.params.txs_addr_bits = 32;
        self.params.irq = Irq::Rxm;
        self
    }

    /// With more files.
    pub(crate) fn with(mut self, more: More) -> Self {
        self.more.push(more);
        self
    }

    /// With a translating IOMMU, strict.
    pub(crate) fn iommu(mut self) -> Self {
        self.iommu = true;
        self
    }

    /// With a GPU that the kernel does not know to be reachable from the board.
    pub(crate) fn far_gpu(mut self) -> Self {
        self.far = true;
        self
    }

    /// With a GPU that the board reaches through the host bridge, and so through an IOMMU. (A
    /// switch passes requests on to its other ports by itself; QEMU's does not.)
    pub(crate) fn gpu_at_the_root(mut self) -> Self {
        self.at_the_root = true;
        self
    }

    /// With so much time.
    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// With so much memory.
    pub(crate) fn memory(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// With so much memory of the stand-in for a GPU: a power of two.
    pub(crate) fn vram(mut self, mib: u32) -> Self {
        self.vram_mib = mib;
        self
    }

    /// With a parameter of the driver.
    pub(crate) fn parameter(mut self, parameter: &str) -> Self {
        self.parameters.push(' ');
        self.parameters.push_str(parameter);
        self
    }

    /// With a parameter of the kernel.
    pub(crate) fn kernel_parameter(mut self, parameter: &'static str) -> Self {
        self.kernel_parameters.push(parameter);
        self
    }

    /// With so many cycles until the block finds out that its port stands still.
    pub(crate) fn port_timeout(mut self, cycles: u32) -> Self {
        self.port_timeout = cycles;
        self
    }

    /// A block without a table of vectors: the hard IP makes one message of its line.
    pub(crate) fn irq_line(mut self) -> Self {
        self.params.irq = Irq::Rxm;
        self
    }

    /// A block with the tagged port, whose completions carry a status.
    pub(crate) fn tagged(mut self) -> Self {
        self.params.port = Port::Stream;
        self
    }

    /// A block with its own transaction layer, on the hard IP's Avalon-ST interface: it leads the host to all slaves.
    /// A reset of the link resets all of it.
    pub(crate) fn packets(mut self) -> Self {
        self.params.port = Port::Tlp;
        self.reset_fabric()
    }

    /// One that gives reads up after thousands of cycles, in place of millions, and before its engine does.
    pub(crate) fn impatient_packets(self) -> Self {
        let longest = 130 << peerlane_block::IMPATIENCE_LOG2;
        let mut setup = self.packets().port_timeout(3 * longest);
        setup.impatient = true;
        setup
    }

    /// Boots the machine with driver and stand-in loaded, runs a script in it, and fails if it
    /// does, or the kernel complains, or the board broke a rule of its interfaces.
    pub(crate) fn run(self, script: &str) {
        let parts = parts();
        let work = tempfile::tempdir().unwrap();
        let vram = work.path().join("vram");
        let bytes = u64::from(self.vram_mib) << 20;
        std::fs::File::create(&vram)
            .unwrap()
            .set_len(bytes)
            .unwrap();
        let socket = work.path().join("board");
        let mut config = configured(self.params);
        config.gpu = Some(vram.clone());
        if let Some(parts) = &mut config.layout.opencl {
            parts.status = Some(STATUS);
        }
        config.resets = self.resets;
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
        let endpoint = Endpoint::with_library(&model.unwrap(), &config, &socket).unwrap();
        let mut outside = Outside {
            board: endpoint.handle(),
            watching: false,
        };

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
            .slots(2)
            .vfio_user("slot0", "board", &socket)
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
            // Of 2 MiB, for buffers: a seventh of the memory.
            .parameter(&format!("hugepages={}", self.memory_mib * 9 / 128))
            .parameter("transparent_hugepage=always")
            .deadline(self.deadline);
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
        // What it was when the machine went counts, not what it was just before.
        assert!(outside.board.wait_left(GONE).unwrap(), "the machine stays");
        let status = outside.board.status().unwrap();
        // Where the function decodes nothing, the machine or the board sees it.
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
        // Nothing was read or written behind the back of who had taken it away.
        assert_eq!(status.unmapped_total, 0, "{:x?}", status.unmapped);
        assert_eq!(status.interrupts_lost, 0);
        let programmed = outside.board.with_cvp(|cvp| cvp.record().clone());
        let violation = programmed.and_then(|record| record.first_violation);
        assert_eq!(violation, None);
    }
}

/// The outside of a machine: what its programs cannot reach by themselves.
struct Outside {
    board: Handle,
    watching: bool,
}

impl Outside {
    fn answer(&mut self, qmp: &mut Qmp, request: &Request) -> Reply {
        self.try_answer(qmp, request)
            .unwrap_or_else(|error| Reply::Failed(error.to_string()))
    }

    fn try_answer(&mut self, qmp: &mut Qmp, request: &Request) -> Result<Reply, Box<dyn Error>> {
        Ok(match request {
            Request::FpgaWrite(stretch) => {
                self.board.write_fpga(stretch.address, &bytes(stretch))?;
                Reply::Done {}
            }
            Request::FpgaCheck(stretch) => {
                let expected = bytes(stretch);
                let found = self.board.read_fpga(stretch.address, expected.len())?;
                let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
                Reply::Compared {
                    differs: differs.map(|byte| byte as u64),
                }
            }
            Request::Fault(fault) => {
                self.fault(fault)?;
                Reply::Done {}
            }
            Request::TakeOut {} => {
                // QEMU pushes the slot's button; the guest's kernel does the rest.
                qmp.execute("device_del", json!({ "id": "board" }))?;
                Reply::Done {}
            }
            Request::Program(program) => self.program(program)?,
            Request::Status {} => Reply::Status(self.counters()?),
            Request::Settings {} => Reply::Settings(self.board.settings()?),
            Request::Programmed { seed, length } => {
                Reply::Programmed(self.programmed(*seed, *length))
            }
            Request::Allow(ranges) => self.allow(ranges)?,
            Request::Log(text) => {
                println!("{text}");
                Reply::Done {}
            }
            Request::Figure(figure) => {
                figures::report(figure);
                Reply::Done {}
            }
        })
    }

    fn fault(&self, fault: &Fault) -> Result<(), peerlane_endpoint::Error> {
        match *fault {
            Fault::Reads {
                answer,
                skip,
                times,
            } => {
                let answer = match answer {
                    Answer::Never {} => peerlane_endpoint::Answer::Never,
                    Answer::Late { ns } => peerlane_endpoint::Answer::Late(ns),
                    Answer::Unsupported {} => peerlane_endpoint::Answer::Unsupported,
                    Answer::Abort {} => peerlane_endpoint::Answer::Abort,
                    Answer::Poisoned {} => peerlane_endpoint::Answer::Poisoned,
                };
                self.board.fail_reads(answer, 0..u64::MAX, skip, times)
            }
            Fault::StickPort { after } => self.board.stick_port(after),
            Fault::StallRegisters { skip, times, ms } => {
                let length = Duration::from_millis(ms);
                self.board.stall_reads(skip, times, length);
                Ok(())
            }
            Fault::Configure {} => self.board.configure(),
            Fault::ConfigureOther { build_id } => self.board.configure_other(build_id),
            Fault::RingWithoutEnd { channel } => self.board.ring_without_end(channel),
            Fault::Programming(fault) => {
                self.programming_fault(fault);
                Ok(())
            }
            Fault::LostAtReset {} => {
                self.board.lose_at_reset();
                Ok(())
            }
            Fault::ResetMemorySide {} => self.board.reset_memory_side(),
            Fault::EndlessKernels {} => self.time_kernels(Timing {
                start: u64::MAX,
                ..Timing::default()
            }),
            Fault::Calibration { after } => self.calibrate(after),
            Fault::Absent {} => self.board.hide_bar(),
            Fault::Kill {} => self.board.kill(),
            Fault::Clear {} => {
                self.time_kernels(Timing::default())?;
                self.calibrate(Some(0))?;
                self.board.hide_function(false);
                self.board.with_cvp(|cvp| cvp.set_fault(None));
                self.board.clear_faults()
            }
        }
    }

    /// Says how long kernels take from now on.
    fn time_kernels(&self, timing: Timing) -> Result<(), peerlane_endpoint::Error> {
        self.board.with_board(move |board| {
            if let Some(side) = board.opencl_mut() {
                side.set_timing(timing);
            }
        })
    }

    /// FPGA memory is calibrated after so many cycles, or never.
    fn calibrate(&self, after: Option<u64>) -> Result<(), peerlane_endpoint::Error> {
        self.board.with_board(move |board| {
            if let Some(side) = board.opencl_mut() {
                side.set_calibrates(after);
            }
        })
    }

    /// Configures the FPGA, if that is a program.
    fn program(&self, program: &str) -> Result<Reply, peerlane_endpoint::Error> {
        match serde_json::from_str::<Program>(program) {
            Ok(program) => {
                self.board.reprogram(program, Contents::Lost)?;
                self.board.configure()?;
                Ok(Reply::Done {})
            }
            Err(error) => Ok(Reply::Failed(error.to_string())),
        }
    }

    fn programming_fault(&self, fault: Programming) {
        let fault = match fault {
            Programming::NeverReady {} => CvpFault::NeverReady,
            Programming::Error { after } => CvpFault::Error(after as usize),
            Programming::StaysReady {} => CvpFault::StaysReady,
            Programming::NoUserMode {} => CvpFault::NoUserMode,
            Programming::Gone {} => return self.board.hide_function(true),
        };
        self.board.with_cvp(|cvp| cvp.set_fault(Some(fault)));
    }

    fn programmed(&self, seed: u64, length: u64) -> Programmed {
        let record = self.board.with_cvp(|cvp| cvp.record().clone());
        let record = record.unwrap_or_default();
        let mut content = vec![0; length as usize];
        pattern(seed, &mut content);
        let arrived = record.words.iter().flat_map(|word| word.to_le_bytes());
        Programmed {
            transfers: record.transfers,
            configured: record.configured,
            same: arrived.eq(cvp_image(&content, PERIPHERY)),
            violation: record.first_violation,
        }
    }

    fn counters(&self) -> Result<Counters, peerlane_endpoint::Error> {
        let status = self.board.status()?;
        let page = status.mmio.get("chan").copied().unwrap_or_default();
        let others = || status.mmio.iter().filter(|(slave, _)| **slave != "chan");
        Ok(Counters {
            page_writes: page.writes,
            page_reads: page.reads,
            other_writes: others().map(|(_, mmio)| mmio.writes).sum(),
            other_reads: others().map(|(_, mmio)| mmio.reads).sum(),
            interrupts: status.interrupts.iter().sum(),
            resets: status.resets,
            bytes_written: status.host.bytes_written + status.gpu.bytes_written,
            bytes_read: status.host.bytes_read + status.gpu.bytes_read,
        })
    }

    fn allow(&mut self, ranges: &[Allowed]) -> Result<Reply, peerlane_endpoint::Error> {
        let status = self.board.status()?;
        let access = match self.watching {
            true => status.first_stray.map(|stray| format!("{stray:?}")),
            false => None,
        };
        let with = |right: char| -> Ranges {
            let allowed = ranges.iter().filter(|range| range.2.contains(right));
            allowed.map(|range| range.0..range.0 + range.1).collect()
        };
        self.watching = !ranges.is_empty();
        self.board.allow_only(self.watching.then(|| Touched {
            read: with('r'),
            written: with('w'),
        }));
        Ok(Reply::Strayed { access })
    }
}

/// What a stretch of FPGA memory holds.
fn bytes(stretch: &Stretch) -> Vec<u8> {
    let mut bytes = vec![0; stretch.length as usize];
    pattern(stretch.seed, &mut bytes);
    bytes
}
