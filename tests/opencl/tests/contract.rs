//! The contract with the FPGA runtime for OpenCL on the simulated board: the block's Verilog, the models of an
//! OpenCL BSP's other parts, and kernels that work on the simulated memory.

use peerlane_contract::checks::ints;
use peerlane_contract::{Bench, InProcess, Programming, Runtime, Version};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd, OpenCl, Programmer};
use peerlane_mmd_simulated::{Running, Setup, Simulated, Simulation};
use peerlane_opencl::{IMAGE, Package};
use peerlane_package::upgrade;
use peerlane_sim_opencl::{Contents, Csr, Kernel, Program, Rom, Text, Work};
use std::sync::{Arc, Mutex};

#[allow(dead_code, reason = "it is a program")]
#[path = "../examples/demo.rs"]
mod demo;

peerlane_contract::tests!(
    #[ignore = "external tools: cargo xtask test runtime"]
    bench
);

fn bench() -> OnTheSimulatedBoard {
    OnTheSimulatedBoard::new(program(0))
}

/// Places of the contract's tests for data, and for their kernel's arguments.
const ARRAYS: [u64; 3] = [0x400, 0x1400, 0x2400];

/// Makes a program with all kernels. Each number gives one with another hash.
fn program(number: u8) -> Program {
    Program::of_all_kinds("simulated", &format!("{number:040x}"), 2 << 30)
}

/// A board, and the method by which it is programmed.
#[derive(Clone)]
struct OnTheSimulatedBoard {
    boards: Arc<Simulated>,
    running: Running,
    how: Arc<Mutex<Programming>>,
}

impl OnTheSimulatedBoard {
    fn new(program: Program) -> Self {
        Self::of(Simulation::with(program))
    }

    fn of(simulation: Simulation) -> Self {
        let boards = Simulated::new(Setup {
            boards: vec![simulation],
        });
        Self {
            running: boards.run(0).unwrap(),
            boards: Arc::new(boards),
            how: Arc::new(Mutex::new(Programming::Loses)),
        }
    }
}

impl Boards for OnTheSimulatedBoard {
    fn names(&self) -> Vec<String> {
        self.boards.names()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        let found = self.boards.open(name)?;
        Ok(Found {
            programmer: Box::new(self.clone()),
            ..found
        })
    }
}

impl Programmer for OnTheSimulatedBoard {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        *self.how.lock().unwrap() == Programming::Keeps
    }

    fn check(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String> {
        self.running.check(image, board)
    }

    fn program(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        match *self.how.lock().unwrap() {
            Programming::Keeps => self.running.load(image, Contents::Kept),
            Programming::Loses => self.running.load(image, Contents::Lost),
            Programming::Fails => Err("no cable".into()),
            Programming::Elsewhere => Ok(()),
        }
    }
}

impl Bench for OnTheSimulatedBoard {
    fn load(&self) -> &'static InProcess {
        InProcess::keep(Mmd::new(Flavour::OPEN, self.clone()))
    }

    fn name(&self) -> &str {
        "simulated0"
    }

    fn bus(&self) -> &str {
        "simulated:00:00.0"
    }

    fn degrees(&self) -> f32 {
        45.0
    }

    fn text(&self) -> String {
        let board = &self.running.board;
        board.with(|board| board.opencl().unwrap().program().unwrap().text())
    }

    fn memory_read(&self, address: u64, bytes: &mut [u8]) {
        self.running.board.fpga_read(address, bytes).unwrap();
    }

    fn memory_write(&self, address: u64, bytes: &[u8]) {
        self.running.board.fpga_write(address, bytes).unwrap();
    }

    fn resets(&self) -> u64 {
        let board = &self.running.board;
        board.with(|board| board.opencl().unwrap().kernel_resets())
    }

    fn image(&self, number: u8) -> Vec<u8> {
        let package = Package::of(&program(number));
        package.get(IMAGE).unwrap().to_vec()
    }

    fn set_programming(&self, how: Programming) {
        *self.how.lock().unwrap() = how;
    }

    fn programmed(&self) -> u64 {
        let board = &self.running.board;
        board.with(|board| board.opencl().unwrap().reprogrammed())
    }

    fn is_slow(&self) -> bool {
        true
    }
}

#[test]
#[ignore = "external tools: cargo xtask test runtime"]
fn a_kernel_that_stalls_on_printf_goes_on() {
    const BUFFER: u64 = 0x8000;
    let bench = bench();
    let runtime = Bench::open(&bench);
    // Five lines into a buffer that has room for two.
    runtime.shared.use_kernel(0x2000);
    let mut arguments = 5_u32.to_le_bytes().to_vec();
    arguments.extend((BUFFER | 1 << 61).to_le_bytes());
    arguments.extend(64_u32.to_le_bytes());
    runtime.launch_with(1, &arguments);
    // A record: the format's number, the value, padding.
    let record = |line: u32| [0, line, 0, 0, 0, 0, 0, 0];
    for lines in [[0, 1], [2, 3]] {
        let expected = ints(lines.into_iter().flat_map(record));
        assert!(runtime.serve_printf(BUFFER as usize) == expected);
    }
    runtime.until_finished(1);
    let mut last = vec![0; 32];
    let memory = runtime.interfaces[2];
    assert_eq!(runtime.shared.read(memory, BUFFER as usize, &mut last), 0);
    assert!(last == ints(record(4)));
    runtime.close();
}

/// Makes the kernel add, and checks the sum.
fn add(bench: &dyn Bench, runtime: &Runtime) {
    let [a, b, sum] = ARRAYS;
    bench.memory_write(a, &ints(0..100));
    bench.memory_write(b, &ints((0..100).map(|i| 7 * i)));
    bench.memory_write(sum, &[0; 400]);
    runtime.launch(100, ARRAYS);
    runtime.until_finished(1);
    let mut found = [0; 400];
    bench.memory_read(sum, &mut found);
    assert!(found[..] == ints((0..100).map(|i| 8 * i)));
}

/// Checks that a kernel finds data that were written just before its launch. The end of a write means that the memory's
/// interconnect has taken all of it. A clock crossing before a bank's arbiter, as the vendors have one
/// (`COMMAND_FIFO_DEPTH` 16), holds 16 words, each of which may wait for a burst of 16 of a kernel that saturates the
/// bank. The kernel still finds them in memory, even if all software between took no time, as on this board.
#[test]
#[ignore = "external tools: cargo xtask test runtime"]
fn a_kernel_finds_what_was_written_before_it() {
    const HELD: u32 = 16 * (16 + 1);
    // The second case has a longer delay, for which the kernel would not find the data.
    for (posted, finds) in [(HELD, true), (1_000_000, false)] {
        let bench = OnTheSimulatedBoard::of(Simulation {
            posted,
            ..Simulation::with(program(0))
        });
        let runtime = Bench::open(&bench);
        let [a, b, sum] = ARRAYS;
        for round in 1..=8 {
            let values = || (0..16).map(|i| 1000 * round + i);
            bench.memory_write(b, &ints((0..16).map(|_| 0)));
            runtime.write_op(1, a as usize, &ints(values()));
            runtime.launch(16, ARRAYS);
            runtime.until_finished(round);
            let mut found = [0; 64];
            bench.memory_read(sum, &mut found);
            assert_eq!(found[..] == ints(values()), finds, "{posted}, {round}");
        }
        runtime.close();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test runtime"]
fn boards_of_aocl_14_1_to_18_1_run_their_kernels() {
    for (text, rom) in [
        (Text::V13, Rom::Interface),
        (Text::V14, Rom::Interface),
        (Text::V14, Rom::Cra),
    ] {
        let mut program = program(0);
        (program.text, program.csr, program.rom) = (text, Csr::V3, rom);
        let bench = OnTheSimulatedBoard::new(program.clone());
        let opened = Runtime::open(bench.load(), bench.name(), Version(24.2));
        let (runtime, rom) = opened.unwrap();
        let new = upgrade(&program.text()).unwrap();
        assert_eq!(String::from_utf8(rom).unwrap(), new);
        add(&bench, &runtime);
        runtime.close();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test runtime"]
fn another_program_has_another_text() {
    let bench = bench();
    let runtime = Bench::open(&bench);
    // Its text is not longer than the ROM, but it is after rewriting.
    let mut old = program(1);
    (old.text, old.csr) = (Text::V14, Csr::V3);
    let kernel = |number: u32| Kernel {
        name: format!("kernel{number}"),
        work: Work::Copy,
        csr: 0x10000 + 0x100 * number,
        depth: 0,
    };
    old.kernels.extend((0..50).map(kernel));
    let new = upgrade(&old.text()).unwrap();
    assert!(old.text().len() < 4096 && new.len() > 4096);
    let package = Package::of(&old);
    assert!(runtime.program(&mut package.get(IMAGE).unwrap().to_vec(), 0));
    runtime.close();
    let (runtime, rom) = Runtime::open(bench.load(), bench.name(), Version(24.2)).unwrap();
    assert_eq!(String::from_utf8(rom).unwrap(), new);
    add(&bench, &runtime);
    assert!(runtime.program(&mut bench.image(2), 0));
    runtime.close();
    let (runtime, rom) = Runtime::open(bench.load(), bench.name(), Version(24.2)).unwrap();
    assert_eq!(rom, bench.text().as_bytes());
    add(&bench, &runtime);
    runtime.close();
}

/// Makes the files that `docs/program/opencl.md` describes for the simulated board.
fn made() -> (Setup, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    demo::write(directory.path()).unwrap();
    let file = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
    let setup = serde_json::from_slice(&file("boards.json")).unwrap();
    let package = file("demo.aocx");
    let named = peerlane_package::text(&package, peerlane_package::BOARD);
    assert_eq!(named, Some("simulated"));
    let image = peerlane_package::section(&package, peerlane_package::CODE);
    (setup, image.unwrap().to_vec())
}

#[test]
fn the_demo_is_the_board_that_there_is_without_a_setup() {
    let (setup, _) = made();
    let boards = vec![Simulation::default()];
    assert_eq!(setup, Setup { boards });
}

#[test]
#[ignore = "external tools: cargo xtask test runtime"]
fn the_demo_configures_the_board() {
    let (setup, image) = made();
    let running = Simulated::new(setup).run(0).unwrap();
    running.load(&image, Contents::Lost).unwrap();
    let text = (running.board).with(|board| board.opencl().unwrap().program().unwrap().text());
    for kernel in ["vecadd", "copy", "chatter"] {
        assert!(text.split(' ').any(|word| word == kernel), "{text}");
    }
}
