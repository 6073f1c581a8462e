//! Compiles the model of the simulated board for a package: `cargo xtask model DIR`.

use std::{error::Error as _, iter, path::Path, process::ExitCode};

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
            let causes = iter::successors(error.source(), |&cause| cause.source());
            let lines = causes.map(|cause| format!("\n  caused by: {cause}"));
            let hint = error.hint().map(|hint| format!("\n  help: {hint}"));
            eprintln!(
                "peerlane-model: {error}{}",
                lines.chain(hint).collect::<String>()
            );
            ExitCode::FAILURE
        }
    }
}
