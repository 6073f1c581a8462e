//! Tests of driver and host library, run in a guest that has a simulated board. The first process of the guest starts
//! this program; the harness on the host is at the other end of a serial port.

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
mod opencl_side;
mod physical;
mod process;
mod programming;
mod programs;
mod raw;
mod rings;
mod scattered;
mod suite;
mod traces;
mod transfers;
mod two;
mod vfio;
mod window;
mod worker;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use lab::Lab;
use std::process::ExitCode;
use suite::Suite;

/// Tests of driver and host library, run in a guest that has a simulated board.
///
/// Prints one line for each test, and at the end one line of JSON with counts. The harness is reached at /dev/ttyS1, or
/// at the file that PEERLANE_CONTROL names.
#[derive(Debug, Parser)]
#[command(name = "peerlane-guest")]
struct Arguments {
    /// Scenarios to run
    #[arg(required = true)]
    scenarios: Vec<Scenario>,
    /// Also run tests that take long
    #[arg(long)]
    all: bool,
    /// Run only the tests whose names contain this
    #[arg(long, default_value = "")]
    filter: String,
    /// Seed of the random numbers; random if not given. It is printed
    #[arg(long)]
    seed: Option<u64>,
    /// Number of attempts in tests that depend on chance
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scenario {
    /// Data arrives completely, and nowhere else
    Transfers,
    /// The host library's public interface, with the tests that also run on the simulated board in the process
    Library,
    /// Cost of transfers and registrations
    Cost,
    /// Every wrong input of every ioctl
    Ioctls,
    /// Memory of a GPU, also when its owner takes it back
    Gpu,
    /// Data of every size from and to a GPU that has 512 MiB
    GpuSizes,
    /// A GPU that the board cannot reach as far as the kernel knows
    GpuFar,
    /// The same GPU with any_distance=1, if its own driver refuses no importer
    GpuFarTried,
    /// Memory of a GPU is unregistered while the block is stuck
    GpuStuck,
    /// The board's window into FPGA memory
    Window,
    /// Information for an administrator, and limits of one user; with user_entries=64, user_memory_mib=1 and
    /// user_gpu_mib=2
    Admin,
    /// FPGA memory belongs to its owner only
    Memory,
    /// The OpenCL side belongs to its holder only; with memory_pool_mib=16
    Opencl,
    /// The OpenCL side of a board whose fabric is reset with the function
    OpenclFabric,
    /// The board's slot reports that the board is taken out; must be the last scenario
    OpenclHotplug,
    /// The board libraries for OpenCL, called as a runtime does; with memory_pool_mib=16
    Libraries,
    /// The board libraries where only the block is restarted; with memory_pool_mib=16, and a port that does not find
    /// out itself that it is stuck
    LibrariesStuck,
    /// The board libraries for OpenCL on a board that is bound to vfio-pci
    LibrariesVfio,
    /// OpenCL programs with a real runtime; with memory_pool_mib=16
    Programs,
    /// The FPGA is configured over PCIe; with memory_pool_mib=16
    Programming,
    /// Memory, regions, contexts and processes end in every order
    Lifetimes,
    /// Cached regions are found again only when they are the same memory
    Kept,
    /// An attacker next to a victim
    Hostile,
    /// Board, bus and driver fail or disappear
    Faults,
    /// An error of the bus that is not recovered in time; with recovery_s=3
    FaultsUnmended,
    /// Output of the driver's tracepoints
    Traces,
    /// A process that moves data is left running; the machine is to go off then
    LeftRunning,
    /// All channels of a board at once
    Channels,
    /// Memory in pages that are not contiguous; without huge pages
    Scattered,
    /// A board that is bound to vfio-pci, without a module of ours
    Vfio,
    /// A board that is bound to vfio-pci is taken out of its slot, and put in again; as root
    VfioHotplug,
    /// Two boards that are bound to vfio-pci
    VfioTwo,
    /// Streams of the FPGA's logic
    Rings,
    /// Two boards in one machine; at the end the second one is dead for good
    Two,
    /// The board dies for good; must be the last scenario
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
            Scenario::LibrariesVfio => libraries::run_by_vfio(&mut suite, &mut lab),
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
            Scenario::Vfio => vfio::run(&mut suite, &mut lab),
            Scenario::VfioHotplug => vfio::run_hotplug(&mut suite, &mut lab),
            Scenario::VfioTwo => two::run_by_vfio(&mut suite, &mut lab),
            Scenario::Rings => rings::run(&mut suite, &mut lab),
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
