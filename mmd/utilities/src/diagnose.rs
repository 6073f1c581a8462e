//! `diagnose`: lists the boards, and checks whether they work.

use crate::gpus::{Gpus, copied};
use crate::link::Link;
use crate::memory::{Bench, Rates};
use crate::setup::{self, Seen};
use crate::{Failure, Machine, Platform, Result};
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{Area, Errno, Error, OpenCl};
use peerlane_mmd_core::Boards;
use std::path::Path;

/// Text that `aocl` looks for in the output.
pub const PASSED: &str = "DIAGNOSTIC_PASSED";
/// Text of an output with a fault.
pub const FAILED: &str = "DIAGNOSTIC_FAILED";

/// Vendor of the FPGA's PCI functions: Altera.
const ALTERA: u32 = 0x1172;
/// Base class of display controllers (PCI Code and ID Assignment Specification, 1.4), which GPUs for computing have,
/// too.
const DISPLAY: u32 = 0x03;
/// Vendors of GPUs whose memory an FPGA may reach.
const GPUS: [(u32, &str); 2] = [(0x10de, "NVIDIA"), (0x1002, "AMD")];

/// Values of a kernel interface's version register, which gives the place of its ROM (intel/fpga-runtime-for-opencl
/// v2025.0, `acl_kernel_if.cpp`).
const INTERFACES: [u32; 2] = [0xa0c0_0001, 0xa0c0_0002];

/// A rate below this part of the link's rate gets a remark.
const SLOW: f64 = 0.8;

/// That part for a board with a `Txs` port, to the host and to the board. The hard IP's bridge reaches 85 % and 54 to
/// 86 %, the least with completions of 64 bytes (docs/fpga/README.md, "The port to PCIe").
const SLOW_BRIDGE: [f64; 2] = [0.7, 0.45];

/// Selection of the checks.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The boards; an empty list means all.
    pub boards: Vec<String>,
    /// Only checks that do not open a board.
    pub probe: bool,
    /// MiB of FPGA memory that are tested; `None`: all.
    pub mebibytes: Option<u64>,
    /// GPUs are listed, and not tested.
    pub no_gpus: bool,
}

/// The computer that is checked.
pub struct Computer<'a> {
    /// Its files.
    pub machine: &'a Machine,
    /// The platform whose library programs should find, if one is named.
    pub platform: Option<&'a Platform>,
    /// The directory of `.fcd` files, where the environment names one.
    pub vendors: Option<&'a Path>,
    /// Its boards.
    pub boards: &'a dyn Boards,
    /// Its GPUs.
    pub gpus: &'a dyn Gpus,
}

/// Checks boards and set-up; each diagnostic goes to `say`, a line each. The last line is [`PASSED`] or [`FAILED`].
///
/// # Errors
/// The first fault: of the boards, else of the set-up for OpenCL.
pub fn diagnose(
    computer: &Computer<'_>,
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let done = look(computer, options, say);
    say(match &done {
        Ok(()) => PASSED.into(),
        Err(_) => FAILED.into(),
    });
    done
}

fn look(computer: &Computer<'_>, options: &Options, say: &mut dyn FnMut(String)) -> Result<()> {
    let machine = computer.machine;
    let all = computer.boards.names();
    if options.probe && options.boards.is_empty() {
        // Only names: each line is a device to `aocl`.
        all.iter().for_each(|name| say(name.clone()));
        return match all.is_empty() {
            true => Err(none(machine)),
            false => Ok(()),
        };
    }
    let wanted: Vec<String> = match options.boards.is_empty() {
        true => all.clone(),
        false => (options.boards.iter())
            .map(|name| find(&all, name))
            .collect::<Result<_>>()
            .map_err(|failure| {
                if all.is_empty() {
                    none(machine)
                } else {
                    failure
                }
            })?,
    };
    if options.probe {
        return wanted.iter().try_for_each(|name| seen(machine, name, say));
    }
    let set_up = set_up(computer, say);
    if all.is_empty() {
        return Err(none(machine));
    }
    let mut gpus_tried = Vec::new();
    for name in &wanted {
        seen(machine, name, say)?;
        let tried = tried(computer, name, options, say);
        gpus_tried.extend(
            tried.map_err(|failure| {
                Failure::new(format!("{name}: {}", failure.what), failure.hint)
            })?,
        );
    }
    gpus(machine, &gpus_tried, say);
    set_up
}

/// Checks how a runtime finds its library here.
///
/// # Errors
/// The first fault.
fn set_up(computer: &Computer<'_>, say: &mut dyn FnMut(String)) -> Result<()> {
    let mut first = Ok(());
    for seen in setup::look(computer.machine, computer.platform, computer.vendors) {
        match seen {
            Seen::Ok(what) => say(format!("OpenCL: {what}")),
            Seen::Note(failure) => say(format!("OpenCL: {failure}")),
            Seen::Wrong(failure) => {
                say(format!("OpenCL: {failure}"));
                first = first.and(Err(failure));
            }
        }
    }
    first
}

/// Returns the board that a name means. `aocl` counts devices, from `acl0` on.
///
/// # Errors
/// There is no such board.
pub(crate) fn find(all: &[String], name: &str) -> Result<String> {
    if all.iter().any(|one| one == name) {
        return Ok(name.into());
    }
    let number = name
        .strip_prefix("acl")
        .and_then(|number| number.parse::<usize>().ok());
    let counted = number.and_then(|number| all.get(number));
    counted.cloned().ok_or_else(|| {
        Failure::new(
            format!("there is no board \"{name}\""),
            match all.is_empty() {
                true => "No board was found: `aocl diagnose` reports the reason.".into(),
                false => format!("Name one of {}.", all.join(", ")),
            },
        )
    })
}

/// Returns the reason why there is no board.
fn none(machine: &Machine) -> Failure {
    let functions = machine.functions();
    let of_altera = || {
        functions
            .iter()
            .filter(|function| function.vendor == ALTERA)
    };
    let slots = |slots: &mut dyn Iterator<Item = &str>| slots.collect::<Vec<_>>().join(", ");
    if !machine.has_driver() {
        return Failure::new(
            "there is no Peerlane board: the driver is not loaded",
            "Load it by `aocl install`, or `modprobe peerlane`.",
        );
    }
    if let Some(other) = of_altera().find(|f| f.driver.as_deref().is_some_and(|d| d != "peerlane"))
    {
        let driver = other.driver.as_deref().unwrap_or_default();
        return Failure::new(
            format!(
                "there is no Peerlane board: the driver {driver} has the FPGA at {}",
                other.slot
            ),
            format!(
                "Unload that driver (modprobe --remove {driver}), and configure the FPGA with an image of the extended \
                 platform: its README.md has the steps."
            ),
        );
    }
    let bound = slots(&mut of_altera().filter(|f| f.driver.is_some()).map(|f| &*f.slot));
    if !bound.is_empty() {
        return Failure::new(
            format!("the driver has the FPGA at {bound}, and there is no /dev/peerlane*"),
            "Look up in the kernel's log why the board was not started (dmesg | grep peerlane).",
        );
    }
    let free = slots(&mut of_altera().map(|f| &*f.slot));
    match free.is_empty() {
        true => Failure::new(
            "there is no Peerlane board on the bus: no PCI function of vendor 1172",
            "Configure the FPGA with an image of the extended platform, then restart the computer without switching it \
             off: its README.md has the steps.",
        ),
        false => Failure::new(
            format!("the driver has not taken the FPGA at {free}"),
            "Look into the kernel's log (dmesg | grep peerlane): it names an image with another MAP_ID or BUILD_ID. A \
             board without a description needs that of its image (peerlane install-board).",
        ),
    }
}

/// Prints the facts that are known without opening a board, which would reset its kernels.
fn seen(machine: &Machine, name: &str, say: &mut dyn FnMut(String)) -> Result<()> {
    let says = |file| machine.says(name, file);
    let slot = machine
        .slot(name)
        .unwrap_or_else(|| "an unknown slot".into());
    let board = says("board").unwrap_or_else(|| "a board".into());
    let link = match (says("link_speed"), says("link_width")) {
        (Some(speed), Some(lanes)) => format!(", {speed} x{lanes}"),
        _ => String::new(),
    };
    say(format!("{name}: {board} at {slot}{link}"));
    match says("state").as_deref() {
        None | Some("ready") => Ok(()),
        Some(state) => Err(Failure::new(
            format!("{name} is not ready: its state is {state}"),
            "Wait a moment and try again. If the state stays, look up the cause in the kernel's log \
             (docs/operate/troubleshooting.md, \"When the log says\").",
        )),
    }
}

/// Opens a board, as the OpenCL runtime does, and tests it. Returns the places of the GPUs that were tested with it.
fn tried(
    computer: &Computer<'_>,
    name: &str,
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<Vec<String>> {
    let machine = computer.machine;
    let found = computer.boards.open(name);
    let found = found.map_err(|what| {
        Failure::new(
            format!("it cannot be opened: {}", what.trim_end_matches('.')),
            "Look into the kernel's log: docs/operate/troubleshooting.md explains it (\"When the log says\").",
        )
    })?;
    let device = found.device;
    let memory = device.allocate_all(0).map_err(|error| match error {
        Error::Memory { source, .. } if source == Errno::BUSY => Failure::new(
            "another program runs OpenCL kernels on it, or holds all of its memory",
            "End that program: /sys/kernel/debug/peerlane0/state names it.",
        ),
        Error::Memory { source, .. } if source == Errno::PERM || source == Errno::ACCESS => Failure::new(
            "this user may not run OpenCL kernels on it",
            "Run it as root, or write \"options peerlane hold_all=1\" into /etc/modprobe.d/peerlane.conf and load the \
             driver again (docs/program/opencl.md, \"Who may run programs\").",
        ),
        error => error.into(),
    })?;
    // The kernels are reset before the memory that they use is freed.
    let side = device.open_cl()?;
    interface(&*side, say)?;
    let range = match options.mebibytes {
        Some(most) => {
            let range = memory.range();
            range.start..range.end.min(range.start.saturating_add(most << 20))
        }
        None => memory.range(),
    };
    let bench = Bench::new(&device)?;
    bench.test(range.clone())?;
    let bytes = range.end - range.start;
    say(format!(
        "{name}: {} of {} MiB of FPGA memory written and read twice by DMA, all data right",
        bytes >> 20,
        memory.length() >> 20
    ));
    match bench.rates(&range)? {
        Some(rates) => {
            let slow = match device.has(feature::TAGGED_READS) {
                true => [SLOW; 2],
                false => SLOW_BRIDGE,
            };
            told(machine, name, (rates, slow), say);
        }
        None => say(format!(
            "{name}: rates cannot be measured: the board's time does not advance"
        )),
    }
    let tried = match options.no_gpus {
        true => Vec::new(),
        false => copied(computer.gpus, (name, bench.queue()), &range, say)?,
    };
    drop(bench);
    drop(side);
    Ok(tried)
}

/// Prints the kernel interface's description of itself.
fn interface(side: &dyn OpenCl, say: &mut dyn FnMut(String)) -> Result<()> {
    let mut bytes = [0; 4];
    side.read(Area::Kernels, 0, &mut bytes)?;
    let version = u32::from_le_bytes(bytes);
    if !INTERFACES.contains(&version) {
        return Err(Failure::new(
            format!("the OpenCL side does not answer: its version register reads {version:#010x}"),
            "Configure the FPGA with an image of this platform. If it has one, install the description of that \
             image: peerlane install-board.",
        ));
    }
    say(format!("OpenCL side: kernel interface {version:#010x}"));
    Ok(())
}

/// Reports the rates next to the link's, with a remark for those below `slow`.
fn told(
    machine: &Machine,
    name: &str,
    (rates, slow): (Rates, [f64; 2]),
    say: &mut dyn FnMut(String),
) {
    let link = Link::of(machine, name);
    let ceilings = link.map(|link| link.ceilings());
    for (index, way) in ["FPGA to host", "host to FPGA"].into_iter().enumerate() {
        let rate = rates[index];
        let beside = match ceilings {
            None => "; the link's rate is not known".into(),
            Some(ceilings) => {
                let part = rate / ceilings[index];
                let remark = match part < slow[index] {
                    true => {
                        ": slower than expected; check whether the link was trained to the slot's width"
                    }
                    false => "",
                };
                let of = ceilings[index] / 1e9;
                format!(", {:.0} % of the link's {of:.2} GB/s{remark}", part * 100.0)
            }
        };
        say(format!("{name}: {way}: {:.2} GB/s{beside}", rate / 1e9));
    }
    if link.is_some_and(|link| link.payload.is_none()) {
        say(format!(
            "{name}: the link's rates are for payloads of 256 bytes; root gets those of the real payload"
        ));
    }
}

/// Lists the GPUs that were not tested.
fn gpus(machine: &Machine, tried: &[String], say: &mut dyn FnMut(String)) {
    let functions = machine.functions();
    let gpus = functions
        .iter()
        .filter(|function| function.class >> 16 == DISPLAY);
    let known = gpus.filter_map(|function| {
        let vendor = GPUS.iter().find(|(vendor, _)| *vendor == function.vendor)?;
        Some((function, vendor.1))
    });
    let mut any = !tried.is_empty();
    for (function, vendor) in known {
        any = true;
        if tried.contains(&function.slot) {
            continue;
        }
        say(format!(
            "GPU at {} ({vendor}, {:04x}:{:04x}): not tested",
            function.slot, function.vendor, function.device
        ));
    }
    if !any {
        say("no GPU of NVIDIA or AMD on the bus".into());
    }
}
