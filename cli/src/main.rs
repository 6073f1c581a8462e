//! The command `peerlane`.

// clap generates the help from these comments; `<board>` in them is a placeholder.
#![allow(rustdoc::invalid_html_tags)]

#[macro_use]
extern crate peerlane_demo;

mod commands;
mod doctor;
mod link;
mod signals;
mod top;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use commands::{
    Outcome, bench, bind, check, component, config, diagram, extend, icd, install_board, manuals,
    new, program, revert, upgrade,
};
use peerlane_demo::{out, provenance};
use signals::Signals;

/// Direct transfers between an OpenCL FPGA board and a GPU over PCIe.
#[derive(Debug, Parser)]
#[command(name = "peerlane", version = provenance::VERSION, about, long_about = None)]
#[command(arg_required_else_help = true)]
struct Cli {
    /// Print the steps to stderr; twice: also each file, change and diagnostic.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum Command {
    Extend(extend::Args),
    Check(check::Args),
    Revert(revert::Args),
    Component(component::Args),
    New(new::Args),
    Config(config::Args),
    Diagram(diagram::Args),
    InstallBoard(install_board::Args),
    Bind(bind::Args),
    Unbind(bind::UnbindArgs),
    Program(program::Args),
    Doctor(commands::doctor::Args),
    Demo(peerlane_demo::Args),
    Bench(bench::Args),
    Top(commands::top::Args),
    Upgrade(upgrade::Args),
    Icd(icd::Args),
    Manuals(manuals::Args),
}

/// Reads the command line and runs it.
fn main() -> ExitCode {
    if let Some(commit) = provenance::commit() {
        peerlane_bsp::build::built_from(commit);
    }
    let cli = Cli::parse();
    let level = match cli.verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        // An internal error would cause a panic if standard error is closed.
        .log_internal_errors(false)
        .init();
    let outcome = match &cli.command {
        Command::Extend(args) => until_interrupted(|| extend::run(args)),
        Command::Check(args) => until_interrupted(|| check::run(args)),
        Command::Revert(args) => until_interrupted(|| revert::run(args)),
        Command::Component(args) => until_interrupted(|| component::run(args)),
        Command::New(args) => until_interrupted(|| new::run(args)),
        Command::Config(args) => config::run(args),
        Command::Diagram(args) => diagram::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::InstallBoard(args) => install_board::run(args),
        Command::Bind(args) => bind::run(args),
        Command::Unbind(args) => bind::unbind(args),
        Command::Program(args) => program::run(args),
        Command::Demo(args) => peerlane_demo::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Top(args) => commands::top::run(args),
        Command::Upgrade(args) => upgrade::run(args),
        Command::Icd(args) => icd::run(args),
        Command::Manuals(args) => manuals::run(args, Cli::command()),
    };
    out::finish(outcome)
}

/// Runs a subcommand that writes files; after a signal the program ends when the temporary files are deleted.
fn until_interrupted(run: impl FnOnce() -> Outcome) -> Outcome {
    let signals = Signals::watch()?;
    run().inspect_err(|error| {
        if error.is_interrupted() {
            errln!("peerlane: {}", error.message());
            signals.end();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
