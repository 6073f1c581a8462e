//! Writes what an OpenCL program on the simulated board needs (`mmd/README.md`, "Without a board"): `demo.aocx`, a
//! package with a kernel of each kind that the board can simulate, and `boards.json`, the setup that there is without
//! one, to be changed.
//!
//! ```text
//! cargo run -p peerlane-opencl --example demo -- DIRECTORY
//! ```

use peerlane_mmd_simulated::{Setup, Simulation};
use peerlane_opencl::Package;
use peerlane_sim_opencl::Program;
use std::path::{Path, PathBuf};

/// By it the runtime knows whether a board has the program already.
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
    // A package is for a board of the same name and with the same memory.
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
