//! `libpeerlane_mmd_simulated.so`: the board library over boards that are simulated in the process, for tests of
//! a runtime without a board. Nothing of the product depends on it.
//!
//! [`Setup`] describes the boards, as JSON in a file that the variable [`SETUP`] names. Without it there is one board,
//! `simulated0`, without kernels. A board is programmed with an image whose section `.acl.sof` has a [`Program`], as
//! JSON.
//!
//! Next to each board is a GPU, whose memory a program has by functions of the library's (`gpu`).
//!
//! The block's Verilog is compiled when the first board is opened. That takes a minute; later builds come from the
//! cache.

mod gpu;

use object::{Object, ObjectSection};
use peerlane_block::library;
use peerlane_hdl::Params;
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Found, OpenCl, Programmer};
use peerlane_sim::BoardConfig;
use peerlane_sim::opencl::{Config, Contents, Offsets, OpenClSide, Program};
use peerlane_simulated::SimBoard;
use peerlane_verilated::Library;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

peerlane_mmd_core::export!(
    peerlane_mmd_core::Flavour::OPEN,
    crate::Simulated::named(),
    program
);

/// The variable that names the file with the [`Setup`].
pub const SETUP: &str = "PEERLANE_SIMULATED";

/// Identity of a board without another one.
const BOARD: &str = "simulated";
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// Boards with their descriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Each has a name by its number: `simulated0`, `simulated1`, ...
    pub boards: Vec<Simulation>,
}

/// Description of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulation {
    /// Its OpenCL side.
    pub opencl: Config,
    /// Whether its memory keeps its contents when the FPGA is programmed.
    pub contents: Contents,
    /// Cycles of the memory's clock that a word written by the board waits in front of the memory's arbiter.
    pub posted: u32,
    /// Failures of the first programmings. Later ones succeed.
    pub failures: VecDeque<Failure>,
}

/// Ways in which a programming fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The programmer does not reach the FPGA, and reports that.
    NoCable,
    /// The programmer reaches another board's FPGA, and reports no error.
    OtherBoard,
}

impl Simulation {
    /// Makes a board of the DE5-Net's shape that powers up with a program.
    pub fn with(program: Program) -> Self {
        Self {
            opencl: Config {
                offsets: Offsets::DE5_NET,
                program: Some(program),
                ..Config::default()
            },
            contents: Contents::Lost,
            posted: 0,
            failures: VecDeque::new(),
        }
    }
}

impl Default for Simulation {
    /// Makes a board with a program that has no kernels.
    fn default() -> Self {
        let memory = BoardConfig::default().ddr.bytes;
        let mut program = Program::of_all_kinds(BOARD, NOTHING, memory);
        program.kernels.clear();
        Self::with(program)
    }
}

/// A board that runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// The board itself.
    pub board: SimBoard,
    /// Its driver.
    pub driver: Driver,
    contents: Contents,
    failures: Arc<Mutex<VecDeque<Failure>>>,
}

/// Simulated boards. Clones are the same boards.
#[derive(Debug, Clone)]
pub struct Simulated(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The boards' descriptions, or the reason why there are no boards.
    setup: Result<Setup, String>,
    /// Boards that were opened. A board goes on running after it is closed.
    running: Mutex<Vec<Option<Running>>>,
}

/// Reads the setup from a file, or returns the default without one.
fn read_setup(file: Option<OsString>) -> Result<Setup, String> {
    let Some(file) = file else {
        return Ok(Setup {
            boards: vec![Simulation::default()],
        });
    };
    let failed = |error: &dyn std::fmt::Display| format!("{SETUP}: {}: {error}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

fn program(image: &[u8]) -> Result<Program, String> {
    const SECTION: &str = ".acl.sof";
    let file = object::File::parse(image).map_err(|error| format!("the image: {error}"))?;
    let section = file.section_by_name(SECTION);
    let section = section.ok_or_else(|| format!("the image has no section {SECTION}"))?;
    let bytes = section
        .data()
        .map_err(|error| format!("{SECTION}: {error}"))?;
    let program = serde_json::from_slice::<Program>(bytes);
    program.map_err(|error| format!("{SECTION} is not a program of the simulated board: {error}"))
}

impl Simulated {
    /// Returns the boards of the environment, which are always the same ones in a process.
    pub fn named() -> Self {
        static NAMED: LazyLock<Simulated> =
            LazyLock::new(|| Simulated::of(read_setup(std::env::var_os(SETUP))));
        NAMED.clone()
    }

    /// Makes boards from a setup.
    pub fn new(setup: Setup) -> Self {
        Self::of(Ok(setup))
    }

    fn of(setup: Result<Setup, String>) -> Self {
        Self(Arc::new(Inner {
            setup,
            running: Mutex::default(),
        }))
    }

    /// Returns the board of a number, which runs from now on.
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn run(&self, number: usize) -> Result<Running, String> {
        let setup = self.0.setup.as_ref().map_err(Clone::clone)?;
        let simulation = setup.boards.get(number);
        let simulation =
            simulation.ok_or_else(|| format!("there is no simulated board {number}"))?;
        let mut running = self
            .0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        running.resize(setup.boards.len(), None);
        if let Some(running) = &running[number] {
            return Ok(running.clone());
        }
        let new = Running::new(simulation)?;
        running[number] = Some(new.clone());
        Ok(new)
    }
}

impl Running {
    fn new(simulation: &Simulation) -> Result<Self, String> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        // The smallest queues that can be built, so that transfers need more than their room.
        let params = Params {
            queue_log2: 8,
            ..Params::default()
        };
        let built = LIBRARY.get_or_init(|| library(&params).map_err(|error| error.to_string()));
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let model = built.as_ref().map_err(Clone::clone)?.instance();
        let model = model.map_err(|error| failed(&error))?;
        let mut opencl = simulation.opencl.clone();
        // A runtime must not depend on the simulation's speed on this computer.
        opencl.clock.at_first_look = true;
        let side = OpenClSide::new(opencl).map_err(|error| failed(&error))?;
        let mut config = BoardConfig::default();
        config.ddr.posted = simulation.posted;
        let board = SimBoard::new(model, config).map_err(|error| failed(&error))?;
        board.with(|board| board.attach_opencl(side));
        let driver = board.drive(&Options::default());
        Ok(Self {
            board,
            driver: driver.map_err(|error| failed(&error))?,
            contents: simulation.contents,
            failures: Arc::new(Mutex::new(simulation.failures.clone())),
        })
    }
}

impl Boards for Simulated {
    fn names(&self) -> Vec<String> {
        // If the setup is wrong, an open of a board returns the error.
        let boards = self.0.setup.as_ref().map_or(1, |setup| setup.boards.len());
        (0..boards)
            .map(|number| format!("{BOARD}{number}"))
            .collect()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        let number = self.names().iter().position(|known| known == name);
        let number = number.ok_or_else(|| format!("\"{name}\" is not a simulated board"))?;
        let running = self.run(number)?;
        Ok(Found {
            device: running.driver.open().map_err(|error| error.to_string())?,
            programmer: Box::new(running),
            bus: format!("simulated:{number:02x}:00.0"),
            number: number as u32,
        })
    }
}

impl Running {
    /// Loads an image; `contents` says whether the memory keeps its contents.
    ///
    /// # Errors
    /// A sentence with the reason why it was not loaded.
    pub fn load(&self, image: &[u8], contents: Contents) -> Result<(), String> {
        let program = program(image)?;
        let loaded = self.board.with(|board| board.reprogram(program, contents));
        loaded.map_err(|error| error.to_string())
    }
}

impl Programmer for Running {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        self.contents == Contents::Kept
    }

    fn check(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        program(image)?.check().map_err(|error| error.to_string())
    }

    fn program(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        let failures = self.failures.lock();
        match failures.unwrap_or_else(PoisonError::into_inner).pop_front() {
            Some(Failure::NoCable) => Err("no cable".into()),
            Some(Failure::OtherBoard) => Ok(()),
            None => self.load(image, self.contents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_opens_a_board_hears_what_is_wrong_with_the_setup() {
        let boards = Simulated::of(read_setup(Some("/nowhere/setup.json".into())));
        assert_eq!(boards.names(), ["simulated0"]);
        let error = boards.open("simulated0").err().unwrap();
        assert!(
            error.starts_with("PEERLANE_SIMULATED: /nowhere/setup.json: "),
            "{error}"
        );
        let error = boards.open("peerlane0").err().unwrap();
        assert_eq!(error, "\"peerlane0\" is not a simulated board");
    }

    #[test]
    fn without_a_setup_there_is_one_board() {
        let boards = Simulated::of(read_setup(None));
        assert_eq!(boards.names(), ["simulated0"]);
        let setup = boards.0.setup.as_ref().unwrap();
        let text = serde_json::to_string(setup).unwrap();
        assert_eq!(serde_json::from_str::<Setup>(&text).unwrap(), *setup);
    }

    #[test]
    fn an_image_without_a_program_is_refused() {
        let error = program(b"no ELF file at all").unwrap_err();
        assert!(error.starts_with("the image: "), "{error}");
    }
}
