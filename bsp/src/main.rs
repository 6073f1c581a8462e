//! The command `peerlane`.

use std::process::ExitCode;

fn main() -> ExitCode {
    peerlane_bsp::cli::main()
}
