//! Writes `libpeerlane.h`; `cargo xtask regen` runs it. A program of its own, so that `cargo xtask demo` does not
//! compile cbindgen.

use std::path::{Path, PathBuf};

use clap::Parser;
use miette::{Result, miette};

/// Writes libpeerlane.h, the host library's interface for programs in C.
#[derive(Debug, Parser)]
#[command(name = "peerlane-capi-header")]
struct Arguments {
    /// The directory of the file.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { out } = Arguments::parse();
    let capi = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let config = cbindgen::Config::from_file(capi.join("cbindgen.toml"))
        .map_err(|error| miette!("host/capi/cbindgen.toml: {error}"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(capi.join("src/lib.rs"))
        .generate()
        .map_err(|error| miette!("cannot generate a header from host/capi/src: {error}"))?;
    bindings.write_to_file(out.join("libpeerlane.h"));
    Ok(())
}
