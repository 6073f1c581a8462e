//! Rates and costs of an OpenCL program: the board library on the simulated board, called in the way of the FPGA
//! runtime (`peerlane_contract`).

use peerlane_contract::{ARGUMENTS, InProcess, Runtime, START, Version, WORK};
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd, OpenCl, Programmer};
use peerlane_sim::BoardConfig;
use peerlane_sim::opencl::{Config, Offsets, OpenClSide, Part, Program};
use peerlane_simulated::SimBoard;

use crate::limits::{self, Port};
use crate::results::Row;
use crate::rig::{Bench, Way};
use crate::{Error, Result, Scenario};

/// The board's one name.
const BOARD: &str = "bench0";

/// Place of the data in FPGA memory: the first that the runtime gives to a buffer.
const PLACE: u64 = 0x400;

/// Elements of the kernel's arrays.
const COUNT: u32 = 1000;

/// Number of launches of which the cheapest counts: the library also looks at the kernels by wall-clock time.
const LAUNCHES: u32 = 5;

/// A board for OpenCL, and the library that has it open.
struct Rig {
    board: SimBoard,
    runtime: Runtime,
}

/// The library's boards.
struct One(Driver);

/// A board that is not programmed.
struct Never;

impl Boards for One {
    fn names(&self) -> Vec<String> {
        vec![BOARD.into()]
    }

    fn open(&self, _: &str) -> Result<Found, String> {
        Ok(Found {
            device: self.0.open().map_err(|error| error.to_string())?,
            programmer: Box::new(Never),
            bus: "simulated".into(),
            number: 0,
        })
    }
}

impl Programmer for Never {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, _: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        Err("the board already has its program".into())
    }

    fn program(&self, _: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        Err("the board already has its program".into())
    }
}

impl Rig {
    fn new(bench: &Bench<'_>, row: &'static str, config: &BoardConfig) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::Library {
            row,
            reason: error.to_string(),
        };
        let program = Program::of_all_kinds("bench", &"0".repeat(40), config.ddr.bytes);
        let side = OpenClSide::new(Config {
            offsets: Offsets::DE5_NET,
            program: Some(program),
            ..Config::default()
        });
        let side = side.map_err(|error| failed(&error))?;
        let model = bench.library.instance();
        let model = model.map_err(peerlane_block::Error::from)?;
        let board = SimBoard::new(model, config.clone()).map_err(|error| failed(&error))?;
        board.with(|board| board.attach_opencl(side));
        let driver = board.drive(&Options::default());
        let driver = driver.map_err(|error| failed(&error))?;
        let library = InProcess::keep(Mmd::new(Flavour::OPEN, One(driver)));
        let opened = Runtime::open(library, BOARD, Version(24.2));
        let (runtime, _) = opened.ok_or_else(|| failed(&"the board cannot be opened"))?;
        Ok(Self { board, runtime })
    }

    /// Returns the nanoseconds of the board's time.
    fn ns(&self) -> f64 {
        self.board.with(|board| board.ns())
    }

    /// Returns the dwords of the BAR that were read and written at the kernels' interface.
    fn accesses(&self) -> u64 {
        let side = |board: &mut peerlane_sim::Board| {
            let counts = board.opencl().map(|side| side.accesses(Part::Kernels));
            counts.map_or(0, |counts| counts.reads + counts.writes)
        };
        self.board.with(side)
    }
}

/// Writes or reads a buffer of so many bytes, like a blocking call of the runtime.
pub(crate) fn transfer(
    bench: &Bench<'_>,
    scenario: &Scenario,
    config: &BoardConfig,
    way: Way,
    bytes: u64,
) -> Result<Row> {
    let rig = Rig::new(bench, scenario.name, config)?;
    let failed = |reason: String| Error::Library {
        row: scenario.name,
        reason,
    };
    let told = |error: peerlane_host::Error| failed(error.to_string());
    let memory = rig.runtime.interfaces[2];
    // The data have a period that no piece, page or burst has.
    let data: Vec<u8> = (0..bytes)
        .map(|at| (at % 251) as u8 ^ (at >> 20) as u8)
        .collect();
    let mut found = vec![0; data.len()];
    if way == Way::Write {
        rig.board.fpga_write(PLACE, &data).map_err(told)?;
    }
    let begin = rig.ns();
    let status = match way {
        Way::Read => rig.runtime.shared.write(memory, PLACE as usize, &data),
        Way::Write => rig.runtime.shared.read(memory, PLACE as usize, &mut found),
    };
    let took = rig.ns() - begin;
    if status != 0 {
        return Err(failed(format!("a transfer has the status {status}")));
    }
    if way == Way::Read {
        rig.board.fpga_read(PLACE, &mut found).map_err(told)?;
    }
    if let Some(offset) = found.iter().zip(&data).position(|(a, b)| a != b) {
        let (row, offset) = (scenario.name, offset as u64);
        return Err(Error::Data { row, offset });
    }
    rig.runtime.close();
    let limit = limits::bulk(config, Port::of(config, &bench.params), way);
    let rate = bytes as f64 * 1e9 / took;
    let mut row = Row::new(scenario, rate, "B/s", Some(limit.smaller()));
    row.limits = Some(limit);
    Ok(row)
}

/// Measures the cost of a launch, from the runtime's first write until it has been notified of the end.
pub(crate) fn launch(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Row> {
    let rig = Rig::new(bench, scenario.name, config)?;
    let shared = &rig.runtime.shared;
    let words = [
        1, COUNT, COUNT, 1, 1, 1, 1, 1, COUNT, 1, 1, 0, 0, 0, 0, 0, 0, 0,
    ];
    let work: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let start = 1_u32.to_le_bytes();
    let heard = || {
        let heard = shared.heard.lock();
        let heard = heard.unwrap_or_else(std::sync::PoisonError::into_inner);
        heard.interrupts
    };
    let (mut first, mut again, mut calls) = (u64::MAX, u64::MAX, usize::MAX);
    for launch in 0..2 * LAUNCHES {
        let whole = launch % 2 == 0;
        let (before, interrupts) = (rig.accesses(), heard());
        let arguments = [0x400, 0x1400, 0x2400 + 0x1000 * u64::from(launch)];
        let arguments = arguments.map(u64::to_le_bytes).concat();
        match whole {
            true => {
                shared.set_csr(WORK, &work);
                shared.set_csr(ARGUMENTS, &arguments);
            }
            // One pointer changes.
            false => shared.set_csr(ARGUMENTS + 16, &arguments[16..]),
        }
        shared.set_csr(START, &start);
        rig.runtime.until_finished(launch + 1);
        let cost = if whole { &mut first } else { &mut again };
        *cost = (*cost).min(rig.accesses() - before);
        calls = calls.min(heard() - interrupts);
    }
    rig.runtime.close();
    let mut row = Row::new(scenario, first as f64, "dwords", None);
    row.notes.push(format!(
        "with one changed argument {again} dwords; {calls} interrupt a launch"
    ));
    Ok(row)
}
