//! The DMA block of given parameters as a model that can be clocked: the only crate that depends on both the generator
//! of its Verilog and Verilator.
//!
//! ```no_run
//! use peerlane_hdl::Params;
//!
//! // Compiled the first time, which takes a minute, and found in the cache from then on.
//! let library = peerlane_block::library(&Params::default())?;
//! let model = library.instance()?;
//! # drop(model);
//! # Ok::<(), peerlane_block::Error>(())
//! ```

use peerlane_hdl::{GenerateError, Params, TOP, generate, pcie::target::Reach, prim::IMPATIENT};
use peerlane_verilated::{Build, Library, Toolchain};
use peerlane_verilog::{Design, mutants::schemata};
use std::{
    collections::BTreeSet,
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why there is no model of the block.
#[derive(Debug, Error)]
pub enum Error {
    /// The parameters cannot be built.
    #[error("the block cannot be generated: {0}")]
    Generate(#[from] GenerateError),
    /// Verilator or the compiler is missing, or refuses.
    #[error("the block cannot be compiled for simulation: {0}")]
    Model(#[from] peerlane_verilated::Error),
    /// The list of mutants cannot be read, or that of modules not be written.
    #[error("{variable} names {}: {message}", file.display())]
    Mutants {
        /// [`MUTANTS`] or [`MODULES`].
        variable: &'static str,
        /// The file.
        file: PathBuf,
        /// The error.
        message: String,
    },
}

impl Error {
    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Model(error) => error.hint(),
            _ => None,
        }
    }
}

/// Returns the block's model: its Verilog is generated and verilated, or found in the cache.
///
/// # Errors
/// If the parameters cannot be built, or Verilator or the compiler is missing or refuses.
pub fn library(params: &Params) -> Result<Library> {
    library_of(TOP, &generate(params)?)
}

/// Returns the block's model as [`library`] does, but takes one that was [made ahead](make_ahead) if the directory has
/// it. A compilation, which takes a minute, is announced on standard error.
///
/// # Errors
/// As [`library`].
pub fn library_for_users(params: &Params, ahead: Option<&Path>) -> Result<Library> {
    let build = build_of(TOP, &generate(params)?)?;
    if let Some(library) = ahead.and_then(|directory| build.ahead(directory)) {
        return Ok(library);
    }
    let tools = Toolchain::open()?;
    let cached = build.is_cached(&tools);
    let start = Instant::now();
    if !cached {
        eprintln!(
            "peerlane: compiling the simulated board's Verilog into {}: once, for about a minute",
            tools.models().display()
        );
    }
    let library = build.model(&tools)?;
    if !cached {
        eprintln!("peerlane: compiled in {} s", start.elapsed().as_secs());
    }
    Ok(library)
}

/// Compiles the block's model into a directory of a package, and returns the file.
///
/// # Errors
/// As [`library`]; if the directory cannot be written.
pub fn make_ahead(params: &Params, directory: &Path) -> Result<PathBuf> {
    let build = build_of(TOP, &generate(params)?)?;
    Ok(build.make_ahead(&Toolchain::open()?, directory)?)
}

/// Logarithm (base 2) of a number of cycles: [`impatient`] blocks give a read up after 64 to 128 times as many, 256
/// times sooner than the real block at 250 MHz.
pub use peerlane_hdl::pcie::IMPATIENCE_LOG2;

/// Returns a model of the same Verilog in which [`IMPATIENT`] is defined for the transaction layer's reads, which are
/// given up soon. Real time would be seconds to minutes of simulation. The bus of the host's accesses keeps its real
/// time, because slaves of the simulated board may answer late.
///
/// # Errors
/// As [`library`].
pub fn impatient(params: &Params) -> Result<Library> {
    let mut design = generate(params)?;
    let bus = format!("patience_{}", 1 << Reach::default().patience_log2);
    for module in &mut design.modules {
        if module.verilog.contains(IMPATIENT) && !module.name.ends_with(&bus) {
            // Verilator keeps a definition for the modules after this one.
            module.verilog = format!(
                "`define {IMPATIENT}\n{}`undef {IMPATIENT}\n",
                module.verilog
            );
        }
    }
    library_of(TOP, &design)
}

/// Returns a model of Verilog that was generated, or changed after that; `top` is its top module.
///
/// # Errors
/// If Verilator or the compiler is missing or refuses; if [`MUTANTS`] names a file that is not a list of numbers.
pub fn library_of(top: &str, design: &Design) -> Result<Library> {
    Ok(build_of(top, design)?.model(&Toolchain::open()?)?)
}

fn build_of(top: &str, design: &Design) -> Result<Build> {
    let planted = planted()?;
    tell(design)?;
    let mut build = Build::new(top);
    for module in &design.modules {
        let text = schemata(&module.name, &module.verilog, &planted);
        build = build.text(format!("{}.v", module.name), text);
    }
    if let Ok(part) = env::var(COVERED) {
        let others = design.modules.iter().map(|module| &module.name);
        let off: Vec<_> = (others.filter(|name| !name.starts_with(&part) || is_common(name)))
            .map(|name| format!("coverage_off -file \"{name}.v\"\n"))
            .collect();
        let settings = format!("`verilator_config\n{}", off.concat());
        build = build.text("coverage.vlt", settings).coverage();
    }
    Ok(build)
}

/// Environment variable that names a file with the number of a [mutant](peerlane_verilog::mutants) on each line. Every
/// model then contains these mutants, and runs as the one that the environment selects at its start.
pub const MUTANTS: &str = "PEERLANE_MUTANTS";

/// Environment variable that names a file, to which the names of a model's modules are appended when the model is made
/// or found. Tests of mutants read from it which mutants a test can see at all.
pub const MODULES: &str = "PEERLANE_MODULES_OF_MODELS";

fn tell(design: &Design) -> Result<()> {
    let Some(file) = env::var_os(MODULES) else {
        return Ok(());
    };
    let names: String = (design.modules.iter())
        .map(|module| format!("{}\n", module.name))
        .collect();
    let written = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&file)
        .and_then(|mut open| open.write_all(names.as_bytes()));
    written.map_err(|error| Error::Mutants {
        variable: MODULES,
        file: file.into(),
        message: error.to_string(),
    })
}

/// Returns whether it is one of the memories, queues, synchronisers and timers that many modules have: they have tests
/// of their own.
fn is_common(module: &str) -> bool {
    ["_ram_", "_fifo_", "_sync_", "_patience_"]
        .iter()
        .any(|part| module.contains(part))
}

/// Environment variable with the beginning of the names of modules whose lines, branches and edges are counted
/// ([`Build::coverage`]).
pub const COVERED: &str = "PEERLANE_COVERED";

fn planted() -> Result<BTreeSet<u32>> {
    let Some(file) = env::var_os(MUTANTS) else {
        return Ok(BTreeSet::new());
    };
    let bad = |message: String| Error::Mutants {
        variable: MUTANTS,
        file: file.clone().into(),
        message,
    };
    let text = fs::read_to_string(&file).map_err(|error| bad(error.to_string()))?;
    let number = |line: &str| {
        line.parse()
            .map_err(|_| bad(format!("{line:?} is not a number")))
    };
    text.lines().map(number).collect()
}
