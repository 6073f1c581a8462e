//! Writes the files for an OpenCL program on the simulated board (`docs/program/opencl.md`, "Without a board"): `demo.aocx`, a
//! package with a kernel of each kind that the board can simulate, and `boards.json`, the default setup, to be changed.
//!
//! ```text
//! cargo run -p peerlane-opencl --example demo -- DIRECTORY
//! ```

use peerlane_mmd_simulated::{Setup, Simulation};
use peerlane_opencl::Package;
use peerlane_sim_opencl::Program;
use std::path::{Path, PathBuf};

/// The runtime compares it to know whether a board has the program already.
const HASH: &str = "000000000000000000000000000000000000de30";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or("name a directory: ... --example demo -- DIRECTORY")?;
    write(&directory)?;
    println!("{}: demo.aocx, boards.json", directory.display());
    Ok(())
}

/// Writes both files.
pub fn write(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let simulation = Simulation::default();
    let blank = simulation.opencl.program.clone();
    let blank = blank.ok_or("a board without a program")?;
    // A package is for a board with the same name and the same memory.
    let program = Program {
        hash: HASH.into(),
        kernels: Program::of_all_kinds(&blank.board, HASH, 0).kernels,
        ..blank
    };
    let setup = Setup {
        boards: vec![simulation],
    };
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("demo.aocx"), Package::of(&program).bytes())?;
    let text = serde_json::to_string_pretty(&setup)?;
    std::fs::write(directory.join("boards.json"), text + "\n")?;
    Ok(())
}
