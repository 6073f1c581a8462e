//! The simulated board as a separate vfio-user server.

use std::path::PathBuf;

use clap::Parser;
use miette::{IntoDiagnostic, Result, WrapErr};
use peerlane_endpoint::{Config, Endpoint, Ids, Layout, Params, opencl};
use serde::de::DeserializeOwned;

/// Serves Peerlane's block, simulated, as a PCIe device for QEMU (`vfio-user-pci`, 10.1 or later).
///
/// It takes one client after the other and ends by a signal. The first start of a build compiles it,
/// which takes a minute.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Path of the socket to listen at; it must not exist.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Build parameters as JSON, such as `{"irq": "msix", "port": "stream"}`; parameters that are left out have their
    /// defaults, which for the interrupt is "rxm". Without this option: the defaults with "msix".
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// Places of the slaves in the BAR, as JSON. Default: those of the reference BSP.
    #[arg(long, value_name = "JSON")]
    layout: Option<String>,
    /// The OpenCL side, for a layout with its parts, as JSON: its program, its clock.
    #[arg(long, value_name = "JSON")]
    opencl: Option<String>,
    /// Vendor, device, subsystem_vendor, subsystem and serial, as JSON.
    #[arg(long, value_name = "JSON")]
    ids: Option<String>,
    /// Backing file of the BAR of the device that takes the GPU's place (`memory-backend-file`).
    #[arg(long, value_name = "PATH")]
    gpu: Option<PathBuf>,
    /// Print the whole configuration, as JSON, and exit.
    #[arg(long)]
    print_config: bool,
}

/// An error of the endpoint, whose hint is the help of its report.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Failure(peerlane_endpoint::Error);

impl miette::Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        let hint = self.0.hint()?;
        Some(Box::new(hint))
    }
}

/// Parses the value of an option.
fn parse<T: DeserializeOwned>(option: &str, text: &str) -> Result<T> {
    serde_json::from_str(text)
        .into_diagnostic()
        .wrap_err_with(|| format!("--{option} {text}"))
}

fn config(options: &Options) -> Result<Config> {
    let mut config = match &options.params {
        Some(text) => Config::new(parse::<Params>("params", text)?),
        None => Config::default(),
    };
    if let Some(text) = &options.layout {
        config.layout = parse::<Layout>("layout", text)?;
    }
    if let Some(text) = &options.opencl {
        config.opencl = parse::<opencl::Config>("opencl", text)?;
    }
    if let Some(text) = &options.ids {
        config.ids = parse::<Ids>("ids", text)?;
    }
    config.gpu.clone_from(&options.gpu);
    Ok(config)
}

fn main() -> Result<()> {
    let options = Options::parse();
    let config = config(&options)?;
    if options.print_config {
        println!(
            "{}",
            serde_json::to_string_pretty(&config).into_diagnostic()?
        );
        return Ok(());
    }
    let endpoint = Endpoint::start(&config, &options.socket).map_err(Failure)?;
    eprintln!("listening at {}", options.socket.display());
    endpoint.wait();
    Ok(())
}
