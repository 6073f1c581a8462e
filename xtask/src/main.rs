//! `cargo xtask`: the project's own commands. `cargo xtask --help` lists them.

mod book;
mod capi;
mod dist;
mod driver;
mod gpu;
mod junit;
mod prose;
mod regen;
mod runner;
mod semver;
mod suites;
mod tools;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::{Parser, Subcommand, builder::PossibleValuesParser};
use miette::{IntoDiagnostic, WrapErr};
use peerlane_tools::Cache;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo xtask",
    after_help = "Examples:\n  \
        cargo xtask demo                 extend a board package and move data through its Verilog\n  \
        cargo xtask test                 run the quick test suites\n  \
        cargo xtask test --change        run those that a change has to pass\n  \
        cargo xtask test unit rtl        run two of them\n  \
        cargo xtask driver               build the kernel module\n  \
        cargo xtask tools                install the external tools and list their paths\n\n\
        External tools are kept in the user's cache directory, or in the directory PEERLANE_CACHE."
)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run test suites; each ends with a line `N passed, N failed`.
    #[command(after_help = suites::help())]
    Test {
        /// The suites, in the order they run. Default: the quick ones.
        #[arg(value_name = "SUITE", value_parser = PossibleValuesParser::new(suites::names()))]
        suites: Vec<String>,
        /// Run the suites of a change that is proposed: an hour.
        #[arg(long, conflicts_with_all = ["suites", "all"])]
        change: bool,
        /// Run all suites: a day.
        #[arg(long, conflicts_with = "suites")]
        all: bool,
        /// Skip a suite; can be given several times.
        #[arg(long, value_name = "SUITE", value_parser = PossibleValuesParser::new(suites::names()))]
        skip: Vec<String>,
        /// Run only a part of the suites' tests: `slice:K/N` or `hash:K/N`.
        #[arg(long, value_name = "PART")]
        partition: Option<String>,
    },
    /// Build the demo of the `peerlane` command, and nothing else of it, and run it.
    #[command(
        after_help = "Examples:\n  \
        cargo xtask demo\n  \
        cargo xtask demo --help          the demo's own options\n  \
        cargo xtask demo --json out.json write the results to a file as well",
        disable_help_flag = true
    )]
    Demo {
        /// Passed on to `peerlane demo`.
        #[arg(
            value_name = "ARGS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<String>,
    },
    /// Build the kernel module for the kernel that the tests boot.
    #[command(after_help = "Examples:\n  \
        cargo xtask driver               target/driver/peerlane.ko\n  \
        cargo xtask driver --clippy      check it with clippy instead")]
    Driver(driver::Options),
    /// Build the libraries for C and install them, with headers and pkg-config files.
    #[command(after_help = "Examples:\n  \
        cargo xtask capi --prefix /usr/local --root target/capi\n  \
        cargo xtask capi --prefix \"$HOME/.local\"")]
    Capi(capi::Options),
    /// Compile the model of the simulated board for a package, so that its users need no C++ compiler.
    #[command(after_help = "Examples:\n  \
        cargo xtask model host/python/python/peerlane/peerlane-models\n  \
        cargo xtask model /usr/local/lib/peerlane-models\n\n\
        The directory is named peerlane-models, and is next to the library: _peerlane.abi3.so or libpeerlane.so.1.")]
    Model {
        /// The directory; it is created if it does not exist.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Make the files of a release: programs, libraries, Python wheel, packages, sources, checksums.
    #[command(after_help = "Examples:\n  \
        cargo xtask dist                 target/release-files\n  \
        cargo xtask dist deb             packages for Debian, too\n  \
        cargo xtask dist --dirty         a try with changes that are not committed")]
    Dist(dist::Options),
    /// Make a bundle of the checks with a real GPU, target/gpu, to run on a machine that has one.
    #[command(after_help = "Examples:\n  \
        cargo xtask gpu\n  \
        target/gpu/run                   on the machine with the GPU: all checks\n  \
        target/gpu/run --markdown FILE   and their results as a section of docs/gpu-results.md")]
    Gpu,
    /// Check the links of all documents and build the book, target/book/html.
    Book,
    /// Check licences, sources and versions of all dependencies, by `deny.toml`.
    #[command(after_help = "Examples:\n  \
        cargo xtask deny\n  \
        cargo xtask deny --advisories    also known vulnerabilities: fetches RustSec's database")]
    Deny {
        /// Search RustSec's database, which is downloaded, for known vulnerabilities.
        #[arg(long)]
        advisories: bool,
    },
    /// Count the sentences of documents and comments that are hard to read.
    #[command(after_help = "Examples:\n  \
        cargo xtask prose                the count of each room, and its goal\n  \
        cargo xtask prose host/src       the sentences, and the words to use\n  \
        cargo xtask prose --update       write the counts, which may only fall\n\n\
        The words and the rooms are in xtask/prose.toml.")]
    Prose(prose::Options),
    /// Compare the public interfaces of the libraries with those of an earlier commit, by cargo-semver-checks.
    #[command(after_help = "Examples:\n  \
        cargo xtask semver\n  \
        cargo xtask semver --baseline v0.1.0   any name of a commit\n\n\
        The commit is the one in xtask/semver-baseline.")]
    Semver {
        /// The commit, in place of the one in xtask/semver-baseline.
        #[arg(long, value_name = "COMMIT")]
        baseline: Option<String>,
    },
    /// Install all external tools and list where each is, and its version.
    Tools,
    /// Write the generated files that are committed again.
    Regen {
        /// Write nothing; fail when a file differs from the generator's output.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> miette::Result<ExitCode> {
    match task {
        Task::Test {
            suites,
            change,
            all,
            skip,
            partition,
        } => {
            let run = match (change, all) {
                (false, false) => suites::Run::Quick,
                (_, false) => suites::Run::Change,
                (_, true) => suites::Run::Whole,
            };
            let chosen = suites::choose(&suites, run, &skip);
            let asked = env::var_os("PEERLANE_COMPLETE").is_some_and(|value| !value.is_empty());
            let complete = asked || !suites.is_empty();
            Ok(exit(runner::run(
                &root(),
                &chosen,
                complete,
                partition.as_deref(),
            )?))
        }
        Task::Demo { arguments } => {
            eprintln!(
                "demo: cargo builds the demo, without the rest of `peerlane` (minutes the first time)"
            );
            ended_as(program(&root(), "peerlane-demo")?.args(arguments))
        }
        Task::Model { directory } => ended_as(program(&root(), "peerlane-model")?.arg(directory)),
        Task::Driver(options) => Ok(exit(driver::run(&root(), &options)?)),
        Task::Capi(options) => Ok(exit(capi::run(&root(), &options)?)),
        Task::Dist(options) => Ok(exit(dist::run(&root(), &options)?)),
        Task::Gpu => Ok(exit(gpu::run(&root())?)),
        Task::Book => Ok(exit(book::run(&root())?)),
        Task::Deny { advisories } => Ok(exit(deny(&root(), advisories)?)),
        Task::Prose(options) => Ok(exit(prose::run(&root(), &options)?)),
        Task::Semver { baseline } => Ok(exit(semver::run(&root(), baseline.as_deref())?)),
        Task::Tools => Ok(exit(tools::run())),
        Task::Regen { check } => Ok(exit(regen::run(&root(), check)?)),
    }
}

/// Runs cargo-deny, by `deny.toml`.
fn deny(root: &Path, advisories: bool) -> miette::Result<bool> {
    let deny = Cache::open()
        .and_then(|cache| cache.deny())
        .map_err(tools::report)?;
    let mut command = deny.command();
    command
        .current_dir(root)
        .args(["--workspace", "--all-features"]);
    if !advisories {
        command.arg("--offline");
    }
    command.args(["check", "bans", "licenses", "sources"]);
    if advisories {
        command.arg("advisories");
    }
    let status = command
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo-deny")?;
    Ok(status.success())
}

/// Runs a command, and returns its exit status.
fn ended_as(command: &mut Command) -> miette::Result<ExitCode> {
    let status = (command.status().into_diagnostic()).wrap_err("cannot run cargo")?;
    let code = status.code().map(|code| u8::try_from(code).unwrap_or(1));
    Ok(ExitCode::from(code.unwrap_or(1)))
}

fn exit(success: bool) -> ExitCode {
    if success {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the root of the workspace.
fn root() -> PathBuf {
    // This program is always built in the tree that it works on.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Builds and returns the `peerlane` command.
fn peerlane(root: &Path) -> miette::Result<Command> {
    program(root, "peerlane")
}

/// Builds and returns a program. It runs in the user's directory: file names of the user are relative to that.
fn program(root: &Path, name: &str) -> miette::Result<Command> {
    let mut command = cargo(root);
    command
        .args(["run", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .args(["--bin", name, "--"])
        .current_dir(env::current_dir().into_diagnostic()?);
    Ok(command)
}

/// Returns the directory in which cargo builds.
fn target(root: &Path) -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root.join(directory),
        None => root.join("target"),
    }
}

/// Returns the cargo that runs this program, in the workspace.
fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}
