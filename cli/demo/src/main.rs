//! The command `peerlane demo` alone, for `cargo xtask demo`: it needs a third fewer packages than `peerlane`.

use std::process::ExitCode;

use clap::Parser;
use peerlane_demo::{out, provenance};

#[derive(Debug, Parser)]
#[command(name = "peerlane-demo", bin_name = "cargo xtask demo", version = provenance::VERSION)]
struct Cli {
    #[command(flatten)]
    demo: peerlane_demo::Args,
}

fn main() -> ExitCode {
    if let Some(commit) = provenance::commit() {
        peerlane_bsp::build::built_from(commit);
    }
    out::finish(peerlane_demo::run(&Cli::parse().demo))
}
