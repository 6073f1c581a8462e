//! The origin of results, which is written to every file of results.

use std::fs;

use serde::Serialize;

/// The output of `--version` after the program's name.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("PEERLANE_COMMIT"),
    ")"
);

/// Returns the commit that the program was built from; `None` outside a repository.
pub fn commit() -> Option<&'static str> {
    Some(env!("PEERLANE_COMMIT")).filter(|commit| *commit != "unknown")
}

/// The program and the machine that produced a result. The block's hash is part of the results.
#[derive(Debug, Serialize)]
pub struct Provenance {
    /// Version of the program.
    version: &'static str,
    /// The commit that the program was built from; `unknown` outside a repository. Uncommitted changes are not
    /// recorded.
    commit: &'static str,
    /// Whether the program was optimised.
    optimised: bool,
    machine: Machine,
}

#[derive(Debug, Serialize)]
struct Machine {
    /// Operating system and architecture, as Rust names them.
    platform: String,
    /// Release of the kernel, if it can be read.
    kernel: Option<String>,
    /// The processor, if the kernel names it.
    processor: Option<String>,
    /// Number of threads that can run at the same time.
    threads: Option<usize>,
}

impl Provenance {
    /// Returns the same data as names and values, for files in formats other than JSON.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let unknown = || "unknown".to_owned();
        let machine = &self.machine;
        vec![
            ("version", self.version.to_owned()),
            ("commit", self.commit.to_owned()),
            ("optimised", self.optimised.to_string()),
            ("platform", machine.platform.clone()),
            ("kernel", machine.kernel.clone().unwrap_or_else(unknown)),
            (
                "processor",
                machine.processor.clone().unwrap_or_else(unknown),
            ),
            (
                "threads",
                machine.threads.map_or_else(unknown, |n| n.to_string()),
            ),
        ]
    }

    /// Returns the provenance of this program on this machine.
    pub fn here() -> Self {
        let read = |file| fs::read_to_string(file).ok();
        let model = |text: String| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("PEERLANE_COMMIT"),
            optimised: !cfg!(debug_assertions),
            machine: Machine {
                platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
                kernel: read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
                processor: read("/proc/cpuinfo").and_then(model),
                threads: std::thread::available_parallelism().ok().map(usize::from),
            },
        }
    }
}
