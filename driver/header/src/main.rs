//! Writes `peerlane.h`; `cargo xtask regen` runs it.

use clap::Parser;
use miette::{Context, IntoDiagnostic, Result};
use peerlane_regmap::Map;
use std::path::PathBuf;

/// Writes peerlane.h, the driver's interface for programs in C.
#[derive(Debug, Parser)]
#[command(name = "peerlane-header")]
struct Arguments {
    /// The interface in Rust: driver/core/src/uapi.rs
    #[arg(long, value_name = "FILE")]
    interface: PathBuf,
    /// The directory; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { interface, out } = Arguments::parse();
    let named = || format!("{}", interface.display());
    let source = std::fs::read_to_string(&interface)
        .into_diagnostic()
        .wrap_err_with(named)?;
    let text = peerlane_header::header(&source, &Map::load())
        .into_diagnostic()
        .wrap_err_with(named)?;
    std::fs::create_dir_all(&out).into_diagnostic()?;
    let path = out.join("peerlane.h");
    std::fs::write(&path, text)
        .into_diagnostic()
        .wrap_err_with(|| format!("{}", path.display()))
}
