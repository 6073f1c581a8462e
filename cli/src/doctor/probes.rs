//! Probes that move data: between each board and the host's memory, and between each board and each GPU.

use super::pci::Bus;
use super::{Finding, amd, nvidia};
use peerlane_demo::progress::Step;
use peerlane_gpu::GpuMemory;
use peerlane_gpu::amd::AmdMemory;
use peerlane_host::driver;
use peerlane_host::{Device, Direction};
use peerlane_routes::{Board, Options, Routes, Side, Verdict};
use peerlane_simulated::{CopyEngine, SimGpu, named};
use std::path::Path;
use std::sync::Arc;

const ABOUT: &str = "probe";

/// Bytes of a probe.
const BYTES: u64 = 256 << 10;

/// The boards to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// The boards of this computer.
    Here,
    /// The simulated board, with its GPU.
    Simulated,
}

/// Permission for the board to read a GPU's memory.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// Whether the board may read at all.
    pub probe: bool,
    /// Whether it may also read GPUs from which no read by the board has succeeded before ([`Options::prove_reads`]).
    pub prove: bool,
}

/// Moves data, and compares them.
pub fn probe(place: Where, reads: Reads) -> Vec<Finding> {
    match place {
        Where::Here => here(reads),
        Where::Simulated => simulated(reads).unwrap_or_else(|finding| vec![finding]),
    }
}

fn failed(what: &str, why: &impl std::fmt::Display, hint: impl Into<String>) -> Finding {
    Finding::wrong(ABOUT, format!("{what}: {why}"), hint)
}

fn simulated(reads: Reads) -> Result<Vec<Finding>, Finding> {
    let told = |error: peerlane_host::Error| failed("the simulated board", &error, error.hint());
    let board = named::board().map_err(told)?;
    let step = Step::begin("starting the simulated board");
    let driver = board.drive(&driver::Options::default()).map_err(told)?;
    let device = driver.open().map_err(told)?;
    let routed =
        |error: peerlane_routes::Error| failed("the simulated board", &error, error.hint());
    let ends = Board::new(&device, BYTES).map_err(routed)?;
    let gpu = SimGpu::new(&board, &device, BYTES, CopyEngine::default()).map_err(routed)?;
    drop(step);
    Ok(between(&ends, Arc::new(gpu), reads))
}

fn here(reads: Reads) -> Vec<Finding> {
    let boards: Vec<_> = Device::names().collect();
    let step = Step::begin("searching for GPUs");
    let bus = Bus::read(Path::new("/"));
    let (gpus, mut findings) = nvidia::gpus(&bus);
    let (of_amd, of_amds) = amd::gpus(&bus);
    findings.extend(of_amds);
    drop(step);
    if boards.is_empty() {
        findings.push(Finding::note(
            ABOUT,
            "no board can be probed: there is no /dev/peerlane*, and no board is bound to vfio-pci",
            "See the diagnostics of devices and driver. `peerlane doctor --simulated` shows the results of a probe.",
        ));
        return findings;
    }
    for path in boards {
        let device = match Device::open(&path) {
            Ok(device) => device,
            Err(error) => {
                findings.push(failed(&path, &error, error.hint()));
                continue;
            }
        };
        let board = match Board::new(&device, BYTES) {
            Ok(board) => board,
            Err(error) => {
                findings.push(failed(&path, &error, error.hint()));
                continue;
            }
        };
        if gpus.is_empty() && of_amd.is_empty() {
            findings.push(Finding::note(
                ABOUT,
                format!("{path} answers, but there is no GPU to probe with it"),
                "See the diagnostics of CUDA and ROCm. If there are none, install the GPU's driver with CUDA (libcuda.so.1), or ROCm (libamdhip64.so).",
            ));
        }
        for gpu in &of_amd {
            match gpu.buffer(BYTES) {
                Ok(buffer) => {
                    let memory = AmdMemory::new(Arc::new(buffer));
                    findings.extend(between(&board, Arc::new(memory), reads));
                }
                Err(error) => {
                    let what = format!("the GPU {}", gpu.bus());
                    findings.push(failed(&what, &error, error.hint()));
                }
            }
        }
        for gpu in &gpus {
            let memory = gpu
                .buffer(BYTES)
                .and_then(|buffer| GpuMemory::new(Arc::new(buffer)));
            match memory {
                Ok(memory) => findings.extend(between(&board, Arc::new(memory), reads)),
                Err(error) => {
                    let what = format!("the GPU {}", gpu.bus());
                    findings.push(failed(&what, &error, error.hint()));
                }
            }
        }
    }
    findings
}

/// Runs the probes between a board and a device, and reports the route that is chosen as a result.
fn between(board: &Board, side: Arc<dyn Side>, reads: Reads) -> Vec<Finding> {
    let names = format!("{} and {}", board.name(), side.name());
    let _step = Step::begin(&format!("moving data between {names}"));
    let options = Options {
        measured: BYTES,
        probe_reads: reads.probe,
        prove_reads: reads.prove,
        ..Options::default()
    };
    let routes = Routes::new(board, side, options);
    let found = match routes.findings() {
        Ok(found) => found,
        Err(error) => return vec![failed(&names, &error, error.hint())],
    };
    let mut findings = vec![Finding::ok(
        ABOUT,
        format!("{names}: data sent through the host come back unchanged"),
    )];
    for (what, verdict, hint) in [
        (
            "direct write, FPGA to GPU",
            &found.write,
            "See the diagnostics of the way and of the IOMMU. Until this works, data go through the host.",
        ),
        (
            "direct read, GPU to FPGA",
            &found.read,
            "Many computers pass writes between devices, but no reads. If no read of this GPU by the board has succeeded yet, try `--prove-reads`, but only while no other program uses the board: after a read that is not answered, the board's link is reset. Push works if the GPU's driver maps the board's window; else data go through the host.",
        ),
        (
            "GPU push, GPU to FPGA",
            &found.push,
            "CUDA maps a board's window for root, or with `options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` in a file of /etc/modprobe.d; else data go through the host.",
        ),
    ] {
        let text = format!("{names}: {what}: {verdict}");
        findings.push(match verdict {
            Verdict::Works => Finding::ok(ABOUT, text),
            Verdict::Absent(_) | Verdict::Busy(_) => Finding::note(ABOUT, text, hint),
            Verdict::Unproven | Verdict::Detour => Finding::note(ABOUT, text, hint),
            Verdict::Refused(_) | Verdict::Wrong(_) => Finding::wrong(ABOUT, text, hint),
        });
    }
    if found.unknown() {
        findings.push(Finding::note(
            ABOUT,
            format!("{names}: the place of the GPU's memory is not known"),
            "The GPU's driver may have moved it into host memory; a direct route then goes through host memory. Compare the rates with those through the host: `peerlane bench transfers`.",
        ));
    }
    if found.reads_lost {
        findings.push(Finding::wrong(
            ABOUT,
            format!("{}: a read was not answered, and the board takes no more reads", board.name()),
            "Unbind the board and reset it (echo 1 > reset in its sysfs directory). `peerlane doctor --no-reads` skips this probe.",
        ));
    }
    for direction in Direction::BOTH {
        let way = match direction {
            Direction::FromFpga => "FPGA to GPU",
            Direction::ToFpga => "GPU to FPGA",
        };
        match routes.choose(direction, 16 << 20) {
            Ok(choice) => findings.push(Finding::ok(ABOUT, format!("{names}: {way}: {choice}"))),
            Err(error) => findings.push(failed(way, &error, error.hint())),
        }
    }
    findings
}
