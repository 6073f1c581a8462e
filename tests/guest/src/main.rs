//! Tests of driver and host library, run in a guest that has a simulated board. The first
//! process of the guest starts it; the harness on the host is at the other end of a serial
//! port.

mod admin;
mod channels;
mod cost;
mod fakegpu;
mod faults;
mod gpu;
mod host;
mod hostile;
mod ioctls;
mod kept;
mod lab;
mod libraries;
mod library;
mod lifetimes;
mod memory;
mod opencl;
mod physical;
mod process;
mod programming;
mod programs;
mod raw;
mod scattered;
mod suite;
mod traces;
mod transfers;
mod two;
mod window;
mod worker;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use lab::Lab;
use std::process::ExitCode;
use suite::Suite;

/// Tests of driver and host library, run in a guest that has a simulated board.
///
/// One line is printed for each test, and at the end one of JSON with counts. The harness is
/// reached at /dev/ttyS1, or at the file that PEERLANE_CONTROL names.
#[derive(Debug, Parser)]
#[command(name = "peerlane-guest")]
struct Arguments {
    /// What to run
    #[arg(required = true)]
    scenarios: Vec<Scenario>,
    /// Run what takes long, too
    #[arg(long)]
    all: bool,
    /// Only the tests whose names contain this
    #[arg(long, default_value = "")]
    filter: String,
    /// Where the random numbers come from; printed, and by chance if not given
    #[arg(long)]
    seed: Option<u64>,
    /// How often what is left to chance is tried
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scenario {
    /// Data arrives whole and nowhere else
    Transfers,
    /// What the host library promises, as on the simulated board in the process
    Library,
    /// What transfers and registrations cost
    Cost,
    /// Every wrong input of every ioctl
    Ioctls,
    /// Memory of a GPU, and what happens when its owner takes it back
    Gpu,
    /// Data of every size from and to a GPU that has 512 MiB
    GpuSizes,
    /// A GPU that the kernel does not know the board to reach
    GpuFar,
    /// The same GPU with any_distance=1, if its own driver refuses nobody
    GpuFarTried,
    /// Memory of a GPU is given back while the block is stuck
    GpuStuck,
    /// The board's window into FPGA memory
    Window,
    /// What an administrator sees, and what one user may take from others; with user_entries=64,
    /// user_memory_mib=1 and user_gpu_mib=2
    Admin,
    /// FPGA memory is its owner's
    Memory,
    /// The OpenCL side is its holder's; with memory_pool_mib=16
    Opencl,
    /// The same of a board whose fabric hangs on the resets of the function
    OpenclFabric,
    /// The board's slot tells that it is taken out; nothing can come after it
    OpenclHotplug,
    /// The board libraries for OpenCL, called as a runtime does; with memory_pool_mib=16
    Libraries,
    /// The same where the block alone is started anew; with memory_pool_mib=16, and a port that is not found stuck by
    /// itself
    LibrariesStuck,
    /// OpenCL programs with a real runtime; with memory_pool_mib=16
    Programs,
    /// The FPGA is configured over PCIe; with memory_pool_mib=16
    Programming,
    /// Memory, regions, contexts and processes end in every order
    Lifetimes,
    /// Regions that are kept, and found again only when they are the same memory
    Kept,
    /// An attacker beside a victim
    Hostile,
    /// Board, bus and driver fail or go
    Faults,
    /// An error of the bus that nobody mends in time; with recovery_s=3
    FaultsUnmended,
    /// What the driver's tracepoints say
    Traces,
    /// A process is left behind that moves data; the machine is to go off then
    LeftRunning,
    /// All channels of a board at once
    Channels,
    /// Memory in pages that have no neighbours; without huge pages
    Scattered,
    /// Two boards in one machine; at the end the second one is dead for good
    Two,
    /// The board dies for good; the last that can be run
    Killed,
}

fn run(arguments: &Arguments) -> Result<bool> {
    let seed = arguments.seed.unwrap_or_else(rand::random);
    println!("seed {seed}");
    let mut lab = Lab::new(seed, arguments.all, arguments.rounds);
    let mut suite = Suite::new(arguments.filter.clone());
    for scenario in &arguments.scenarios {
        lab.host.log(format!("{scenario:?}, seed {seed}"))?;
        match scenario {
            Scenario::Transfers => transfers::run(&mut suite, &mut lab),
            Scenario::Library => library::run(&mut suite, &mut lab),
            Scenario::Cost => cost::run(&mut suite, &mut lab),
            Scenario::Ioctls => ioctls::run(&mut suite, &mut lab),
            Scenario::Gpu => gpu::run(&mut suite, &mut lab),
            Scenario::GpuSizes => gpu::run_sizes(&mut suite, &mut lab),
            Scenario::GpuFar => gpu::run_far(&mut suite, &mut lab),
            Scenario::GpuFarTried => gpu::run_far_tried(&mut suite, &mut lab),
            Scenario::GpuStuck => gpu::run_stuck(&mut suite, &mut lab),
            Scenario::Window => window::run(&mut suite, &mut lab),
            Scenario::Admin => admin::run(&mut suite, &mut lab),
            Scenario::Memory => memory::run(&mut suite, &mut lab),
            Scenario::Opencl => opencl::run(&mut suite, &mut lab),
            Scenario::OpenclFabric => opencl::run_fabric(&mut suite, &mut lab),
            Scenario::OpenclHotplug => opencl::run_hotplug(&mut suite, &mut lab),
            Scenario::Libraries => libraries::run(&mut suite, &mut lab),
            Scenario::LibrariesStuck => libraries::run_stuck(&mut suite, &mut lab),
            Scenario::Programs => programs::run(&mut suite, &mut lab),
            Scenario::Programming => programming::run(&mut suite, &mut lab),
            Scenario::Lifetimes => lifetimes::run(&mut suite, &mut lab),
            Scenario::Kept => kept::run(&mut suite, &mut lab),
            Scenario::Hostile => hostile::run(&mut suite, &mut lab),
            Scenario::Faults => faults::run(&mut suite, &mut lab),
            Scenario::FaultsUnmended => faults::run_unmended(&mut suite, &mut lab),
            Scenario::Traces => traces::run(&mut suite, &mut lab),
            Scenario::LeftRunning => faults::left_running(&mut suite, &mut lab),
            Scenario::Channels => channels::run(&mut suite, &mut lab),
            Scenario::Scattered => scattered::run(&mut suite, &mut lab),
            Scenario::Two => two::run(&mut suite, &mut lab),
            Scenario::Killed => faults::killed(&mut suite, &mut lab),
        }
    }
    suite.finish()
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peerlane-guest: {error:#}");
            ExitCode::FAILURE
        }
    }
}
