//! Quartus's programmer, as far as the board libraries run it: `quartus_pgm -c CABLE -m jtag -o P;FILE@DEVICE` (Quartus
//! Prime Command-Line Reference). The test configures the board with the content of the file.

use anyhow::{Context, Result, bail};
use peerlane_guest::{Control, Reply, Request};
use std::process::ExitCode;

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ["-c", _, "-m", "jtag", "-o", operation] = words[..] else {
        bail!("called with {words:?}");
    };
    let named = operation.strip_prefix("P;");
    let named = named.and_then(|named| named.rsplit_once('@'));
    let (file, _) = named.with_context(|| format!("no operation: {operation}"))?;
    let program = std::fs::read_to_string(file).context(file.to_owned())?;
    match Control::open()?.ask(&Request::Program(program))? {
        Reply::Done {} => Ok(()),
        other => bail!("{other:?}"),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Quartus begins the lines of its errors like this.
            println!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
