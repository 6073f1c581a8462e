//! `peerlane program`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::commands::{FAILED, Outcome};
use crate::doctor::pci::Bus;
use crate::link::Port;
use crate::signals::Signals;
use peerlane_demo::error::Error;

/// Configure an FPGA while the computer runs, by a way other than PCIe, such as JTAG.
///
/// An FPGA takes its link down while it is configured. A port that detects this reports an error, after which the
/// firmware of many servers restarts the computer. Therefore the link of the port above is disabled during the
/// configuration, which is not an error by the specification, regardless of the error handling. The board is removed
/// from the kernel before, and searched for afterwards; no driver is needed. The command line after `--` configures the
/// FPGA. Use this for the first image of a board, and for programming without Peerlane's driver; OpenCL programs and
/// `aocl program` use the driver.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo -E env \"PATH=$PATH\" peerlane program --device 0000:01:00.0 -- quartus_pgm -c 1 -m jtag -o \"p;top.sof@1\"
  sudo -E env \"PATH=$PATH\" peerlane program --port 0000:00:01.0 -- quartus_pgm -c 1 -m jtag -o \"p;top.sof@1\"

It needs root. The exit status is 0 if the command succeeded and a device was found, else 2.
After a change of the IDs, or if the BARs exceed the room that the firmware left, restart the computer.")]
#[command(group = clap::ArgGroup::new("which").args(["device", "port"]).required(true))]
pub struct Args {
    /// The FPGA's slot: 0000:01:00.0. No driver may be bound to it.
    #[arg(long, value_name = "SLOT")]
    device: Option<String>,
    /// The port above the FPGA, if no device is visible below it yet.
    #[arg(long, value_name = "SLOT")]
    port: Option<String>,
    /// The program that configures the FPGA, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A copy of /sys below this directory, for tests.
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    root: PathBuf,
}

fn refused(slot: &str, what: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(slot, what.into(), hint.into())
}

/// Returns the port above the FPGA, and the slots of the devices directly below it.
fn find(args: &Args, bus: &Bus) -> Result<(String, Vec<String>), Error> {
    let absent = |slot: &str| {
        let what = "there is no such PCI device";
        refused(
            slot,
            what,
            "Look at lspci -D for all devices, and at lspci -t for the ports.",
        )
    };
    let port = match (&args.device, &args.port) {
        (Some(slot), _) => {
            let device = bus.at(slot).ok_or_else(|| absent(slot))?;
            let port = device.above.last().filter(|port| bus.at(port).is_some());
            port.cloned().ok_or_else(|| {
                let what = "there is no port above this device: it is part of the host bridge";
                refused(slot, what, "Give the slot of the FPGA.")
            })?
        }
        (None, Some(slot)) => bus
            .at(slot)
            .map(|_| slot.clone())
            .ok_or_else(|| absent(slot))?,
        (None, None) => unreachable!("clap requires one of the two"),
    };
    let below = bus
        .devices
        .iter()
        .filter(|device| device.above.contains(&port));
    for device in below.clone() {
        if let Some(driver) = &device.driver {
            let slot = &device.slot;
            let hint = format!("As root: echo {slot} > /sys/bus/pci/drivers/{driver}/unbind.");
            let what = format!("the driver {driver} is bound to this device; its link goes down");
            return Err(refused(slot, what, hint));
        }
    }
    // Removal of the first device below the port also removes the devices below it.
    let slots = below.filter(|device| device.above.last() == Some(&port));
    Ok((
        port.clone(),
        slots.map(|device| device.slot.clone()).collect(),
    ))
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let bus = Bus::read(&args.root);
    let (slot, below) = find(args, &bus)?;
    let port = Port::open(&args.root, &slot)?;
    // The link is enabled again even after a signal.
    let signals = Signals::watch()?;
    for device in &below {
        port.remove(device)?;
    }
    // On an error the removed devices are found again.
    let disabled = port.disable().inspect_err(|_| drop(port.rescan()))?;
    outln!("{slot}: its link is disabled");
    let (program, arguments) = args.command.split_first().expect("clap requires one");
    let ended = Command::new(program).args(arguments).status();
    // Also after a failure of the program: the FPGA may still have its old configuration.
    let trained = disabled.enable()?;
    outln!(
        "{slot}: its link is {}",
        if trained { "up" } else { "down" }
    );
    port.rescan()?;
    signals.end();
    let ended = ended.map_err(|e| Error::io(program, "run the program", &e))?;
    if !ended.success() {
        errln!("peerlane: {program} failed ({ended}): the FPGA may have no configuration");
        return Ok(ExitCode::from(FAILED));
    }
    std::thread::sleep(Duration::from_millis(u64::from(args.root == *"/") * 500));
    let after = Bus::read(&args.root);
    let mut found = after
        .devices
        .iter()
        .filter(|device| device.above.contains(&slot))
        .peekable();
    if found.peek().is_none() || !trained {
        errln!(
            "peerlane: no device is below {slot}. Check that the image has PCIe and is for this slot; if so, restart the computer without switching it off"
        );
        return Ok(ExitCode::from(FAILED));
    }
    for device in found {
        outln!("{} is there", device.name());
    }
    Ok(ExitCode::SUCCESS)
}
