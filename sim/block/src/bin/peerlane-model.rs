//! Compiles the model of the simulated board for a package: `cargo xtask model DIR`.

use std::{path::Path, process::ExitCode};

use peerlane_hdl::Params;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("peerlane-model: give the directory of the model");
        return ExitCode::FAILURE;
    };
    match peerlane_block::make_ahead(&Params::default(), Path::new(&directory)) {
        Ok(file) => {
            println!("{}", file.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{:?}", miette::Report::new(error));
            ExitCode::FAILURE
        }
    }
}
