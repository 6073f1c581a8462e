//! `peerlane-regmap`: checks a register map and writes the files that are generated from it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use miette::{IntoDiagnostic, LabeledSpan, MietteDiagnostic, NamedSource, WrapErr};
use peerlane_regmap::emit::{self, OutputFile};
use peerlane_regmap::{Map, MapError};

/// Checks a register map and writes the files that are generated from it.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The map, instead of the one of this project.
    #[arg(long, global = true, value_name = "FILE")]
    map: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write generated files into a directory.
    Emit {
        /// What to write.
        kind: Kind,
        /// The directory; it is made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Check the map, and print its version and MAP_ID.
    Check,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// rust-hdl sources of the register files.
    Rtl,
    /// `no_std` Rust constants and records.
    Host,
    /// C header.
    C,
    /// Reference manual in Markdown.
    Markdown,
    /// Reference manual in HTML.
    Html,
    /// SystemRDL 2.0.
    Systemrdl,
}

impl Kind {
    fn emit(self, map: &Map) -> Vec<OutputFile> {
        match self {
            Kind::Rtl => emit::rtl(map),
            Kind::Host => emit::host(map),
            Kind::C => emit::c(map),
            Kind::Markdown => emit::markdown(map),
            Kind::Html => emit::html(map),
            Kind::Systemrdl => emit::systemrdl(map),
        }
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reports) => {
            for report in reports {
                eprintln!("{report:?}");
            }
            ExitCode::from(2)
        }
    }
}

/// Errors of a command: several, if the map has them.
type Reports = Vec<miette::Report>;

fn run(arguments: &Arguments) -> Result<(), Reports> {
    let map = match &arguments.map {
        None => Map::load(),
        Some(path) => load(path)?,
    };
    match &arguments.command {
        Command::Check => {
            let (name, version, id) = (&map.name, map.version, map.map_id());
            println!("{name}, version {version}, MAP_ID {id:#010x}");
        }
        Command::Emit { kind, out } => {
            let paths = emit::write(&kind.emit(&map), out)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot write to `{}`", out.display()))
                .map_err(|report| vec![report])?;
            for path in paths {
                println!("{}", path.display());
            }
        }
    }
    Ok(())
}

fn load(path: &Path) -> Result<Map, Reports> {
    let text = std::fs::read_to_string(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read the map `{}`", path.display()))
        .map_err(|report| vec![report])?;
    Map::parse(&text, &path.display().to_string())
        .map_err(|errors| errors.errors.iter().map(report).collect())
}

/// Makes the report of an error: with its line, its place marked.
fn report(error: &MapError) -> miette::Report {
    let text = NamedSource::new(&error.file, error.text.clone()).with_language("toml");
    let here = LabeledSpan::at(error.span.clone(), "here");
    let diagnostic = MietteDiagnostic::new(error.to_string())
        .with_code("peerlane::regmap")
        .with_help(&error.hint)
        .with_label(here);
    miette::Report::from(diagnostic).with_source_code(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_shows_the_line() {
        let text = include_str!("../../tests/small.toml");
        let text = text.replace("bits = \"15:8\"", "bits = \"15:5\"");
        let errors = Map::parse(&text, "small.toml").unwrap_err();
        let mut shown = String::new();
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
            .with_width(80)
            .render_report(&mut shown, &*report(&errors.errors[0]))
            .unwrap();
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("report", shown);
        });
    }
}
