//! The simulated board of a machine.

use peerlane_endpoint::opencl::Program;
use peerlane_endpoint::{Config, Endpoint, Params, Ranges};
use peerlane_vm::Log;
use std::{fs::File, path::Path, time::Duration};

/// Offset of the state of the memory's calibration, next to the reference BSP's slaves. The BSP has it in a system of
/// its own.
const STATUS: u64 = 0x3810;

/// Longer than it takes from the end of the emulator until the board has noticed it.
const GONE: Duration = Duration::from_secs(10);

/// Returns a board with an OpenCL side, and kernels of all kinds.
pub(crate) fn configured(params: Params) -> Config {
    let mut config = Config::new(params);
    config.layout = config.layout.with_opencl();
    config.opencl.program = Some(program(params, 0));
    config
}

/// Returns a program with all kernels, for boards with these parameters. Each number gives one with another hash.
pub(crate) fn program(params: Params, number: u8) -> Program {
    let hash = format!("{number:040x}");
    Program::of_all_kinds("simulated", &hash, 1 << params.memory_log2)
}

/// Returns the same board next to a mock GPU, whose memory of `bytes` bytes is the new file `memory`.
pub(crate) fn next_to_gpu(params: Params, memory: &Path, bytes: u64) -> Config {
    File::create(memory).unwrap().set_len(bytes).unwrap();
    let mut config = configured(params);
    config.gpu = Some(memory.to_owned());
    if let Some(parts) = &mut config.layout.opencl {
        parts.status = Some(STATUS);
    }
    config
}

/// Checks that no program has misused a board of this machine, and that the board has broken no rule of its interfaces.
pub(crate) fn well_used(endpoint: &Endpoint, config: &Config, log: &Log) {
    let board = endpoint.handle();
    // The state at the end of the machine counts, not the one just before.
    assert!(board.wait_left(GONE).unwrap(), "the machine stays");
    let status = board.status().unwrap();
    // The machine or the board notices accesses where the function decodes nothing.
    let bars = status.bars.iter();
    let bars: Ranges = bars.map(|bar| *bar..bar + config.layout.size).collect();
    let stores = log.unanswered().iter();
    let undecoded: Vec<_> = stores
        .filter(|address| bars.contains(&(**address..**address + 1)))
        .collect();
    assert!(undecoded.is_empty(), "{undecoded:#x?}");
    assert_eq!(status.undecoded, 0, "{:?}", status.first_undecoded);
    assert_eq!(status.left_as_master, 0);
    assert_eq!(status.violations, 0, "{:?}", status.first_error);
    assert_eq!(status.strays, 0, "{:?}", status.first_stray);
    // No memory was accessed after it had been taken away from the board.
    assert_eq!(status.unmapped_total, 0, "{:x?}", status.unmapped);
    assert_eq!(status.interrupts_lost, 0);
    let programmed = board.with_cvp(|cvp| cvp.record().clone());
    let violation = programmed.and_then(|record| record.first_violation);
    assert_eq!(violation, None);
}
