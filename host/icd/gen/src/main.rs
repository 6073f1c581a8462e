//! Writes the code of `libpeerlane_icd.so` and of its tests that exists for each function of OpenCL.
//!
//! Names, types and the order of the dispatch table come from the source of the crate `opencl-sys` ([`api`]). Facts
//! that no description holds, such as the queries that answer with handles, are our own ([`rules`]). A parameter that
//! neither explains stops the generator.

mod api;
mod exercise;
mod library;
mod rules;
#[cfg(test)]
mod tests;
mod witness;
mod wrapper;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use clap::{Parser, Subcommand};
use miette::{IntoDiagnostic, WrapErr, bail, miette};

use api::Api;

/// Writes the files that belong to the OpenCL driver around a vendor library.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// The directory for the files, which exists.
    #[arg(long, global = true, default_value = ".")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum What {
    /// The vendor's functions: `host/icd/src/generated`.
    Library,
    /// The wrapper functions and their table: `host/icd/src/platform/generated`.
    Dispatch,
    /// Code that the tests need of every function: `tests/icd/generated`.
    Tests,
}

/// A file: its name and its text.
type File = (&'static str, String);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> miette::Result<()> {
    let api = Api::read(&api::source()?)?;
    let files = match arguments.what {
        What::Library => library::files(&api)?,
        What::Dispatch => library::dispatch(&api)?,
        What::Tests => {
            let mut files = witness::files(&api)?;
            files.push(exercise::file(&api)?);
            files
        }
    };
    for (name, text) in files {
        write(&arguments.out, name, text)?;
    }
    Ok(())
}

fn write(out: &Path, name: &str, text: String) -> miette::Result<()> {
    let text = match name.ends_with(".rs") {
        true => formatted(&text).wrap_err_with(|| format!("the text of {name}"))?,
        false => text,
    };
    let path = out.join(name);
    (fs::write(&path, text).into_diagnostic())
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}

/// Formats a text as `cargo fmt` does.
fn formatted(text: &str) -> miette::Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .into_diagnostic()
        .wrap_err("cannot run rustfmt")?;
    let mut input = (child.stdin.take()).ok_or_else(|| miette!("rustfmt has no input"))?;
    let output = std::thread::scope(|scope| {
        // rustfmt may print before it has read everything.
        let writing = scope.spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output();
        let written = writing.join();
        output.map(|output| (output, written))
    });
    let (output, written) = output.into_diagnostic()?;
    if !matches!(written, Ok(Ok(()))) || !output.status.success() {
        bail!("rustfmt rejects the text");
    }
    String::from_utf8(output.stdout).into_diagnostic()
}
