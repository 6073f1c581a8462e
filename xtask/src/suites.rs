//! The table of test suites.
//!
//! A new suite is a new entry of [`SUITES`]. Tests that need external tools are marked
//! `#[ignore = "external tools: cargo xtask test rtl"]`, so that a plain `cargo test` needs none.

use peerlane_tools::{Cache, Flavour};

/// A named set of steps.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The name that the user types.
    pub(crate) name: &'static str,
    /// One line for the help.
    pub(crate) about: &'static str,
    /// Whether it runs when no suite is named.
    pub(crate) default: bool,
    /// Whether it runs virtual machines.
    pub(crate) machines: bool,
    /// The steps, in order.
    pub(crate) steps: &'static [Step],
}

impl Suite {
    /// Returns the reason why this machine cannot run it: the virtual machines need an emulator and a kernel, which are
    /// set up here. That takes a Debian mirror and the right to make namespaces.
    pub(crate) fn obstacle(&self) -> Option<String> {
        if !self.machines {
            return None;
        }
        set_up_machines().err().map(|error| error.to_string())
    }
}

/// Sets up the virtual machines' programs: minutes, most of them downloads. A second caller waits for the first.
pub(crate) fn set_up_machines() -> peerlane_tools::Result<()> {
    let cache = Cache::open()?;
    cache.qemu()?;
    cache.kernel(Flavour::Debian).map(drop)
}

/// A program that the project neither has nor fetches: an environment variable has the place of its installation.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The variable.
    pub(crate) variable: &'static str,
    /// The thing that the variable names.
    pub(crate) what: &'static str,
}

impl Installed {
    /// Returns the reason why it cannot be used, unless the variable is set.
    fn missing(&self) -> Option<String> {
        let Self { variable, what } = self;
        let named = std::env::var_os(variable).is_some_and(|place| !place.is_empty());
        (!named).then(|| format!("{variable} is not set. Set it to {what}"))
    }
}

/// The open runtime (intel/fpga-runtime-for-opencl).
const RUNTIME: Installed = Installed {
    variable: "PEERLANE_RUNTIME",
    what: "the directory of an FPGA runtime for OpenCL, with lib/libalteracl.so and include/CL",
};

/// One command of a suite.
#[derive(Debug)]
pub(crate) enum Step {
    /// A cargo command that counts as one check.
    Check {
        /// Its name in the report.
        label: &'static str,
        /// Arguments of cargo.
        cargo: &'static [&'static str],
        /// Environment variables set for it.
        env: &'static [(&'static str, &'static str)],
    },
    /// Test programs of the workspace; their tests are counted. Must run at least one.
    Tests {
        /// Its name in the report.
        label: &'static str,
        /// Which programs.
        of: Of,
        /// Arguments of each program.
        arguments: &'static [&'static str],
        /// Environment variables set for it.
        env: &'static [(&'static str, &'static str)],
        /// The program that the user has to have installed for it.
        needs: Option<&'static Installed>,
    },
    /// The examples in the documentation.
    DocTests,
}

impl Step {
    /// With these variables set.
    const fn with(self, env: &'static [(&'static str, &'static str)]) -> Self {
        match self {
            Self::Check { label, cargo, .. } => Self::Check { label, cargo, env },
            Self::Tests {
                label,
                of,
                arguments,
                needs,
                ..
            } => Self::Tests {
                label,
                of,
                arguments,
                env,
                needs,
            },
            Self::DocTests => self,
        }
    }

    /// Returns the reason why it is left out: a program that it needs is not installed here. That is not a failure,
    /// even if the step was asked for.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self {
            Self::Tests {
                needs: Some(needs), ..
            } => needs.missing(),
            _ => None,
        }
    }

    /// Returns its name in the report.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Check { label, .. } | Self::Tests { label, .. } => label,
            Self::DocTests => "examples in the documentation",
        }
    }
}

/// A choice of test programs.
#[derive(Debug)]
pub(crate) enum Of {
    /// All of the workspace but for these packages.
    Others(&'static [&'static str]),
    /// All of a package.
    Package(&'static str),
    /// All of these packages.
    Packages(&'static [&'static str]),
    /// Some integration tests of a package.
    Targets(&'static str, &'static [&'static str]),
}

impl Of {
    /// Reports whether a target of a package is meant.
    pub(crate) fn takes(&self, package: &str, target: &str) -> bool {
        match self {
            Self::Others(without) => !without.contains(&package),
            Self::Package(name) => *name == package,
            Self::Packages(names) => names.contains(&package),
            Self::Targets(name, targets) => *name == package && targets.contains(&target),
        }
    }
}

/// Makes a step of test programs that need no installation.
const fn tests(label: &'static str, of: Of, arguments: &'static [&'static str]) -> Step {
    Step::Tests {
        label,
        of,
        arguments,
        env: &[],
        needs: None,
    }
}

/// Makes a step of test programs that need a program which the user has to have installed.
pub(crate) const fn tests_with(
    needs: &'static Installed,
    label: &'static str,
    of: Of,
    arguments: &'static [&'static str],
) -> Step {
    Step::Tests {
        label,
        of,
        arguments,
        env: &[],
        needs: Some(needs),
    }
}

/// Makes a step of a cargo command.
const fn check(label: &'static str, cargo: &'static [&'static str]) -> Step {
    Step::Check {
        label,
        cargo,
        env: &[],
    }
}

/// Arguments of a test program for the tests that need external tools.
const EXTERNAL: &[&str] = &["--ignored"];

/// Arguments for a test that takes an hour, and prints its progress.
const PROGRESS: &[&str] = &["--ignored", "--nocapture"];

/// Variables under which AddressSanitizer is compiled in: the stable compiler has the sanitizer, but not the option.
const ADDRESSES: [(&str, &str); 2] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("RUSTFLAGS", "-Zsanitizer=address"),
];

/// Arguments of a test program for all of its tests.
const ALL: &[&str] = &["--include-ignored"];

/// The packages of suite `bsp`, which has all of their tests: minutes of these tests need no external tools, and none
/// is to run twice.
const BSP: &[&str] = &[
    "peerlane",
    "peerlane-bsp",
    "peerlane-bsp-check",
    "peerlane-bsp-design",
    "peerlane-bsp-extend",
    "peerlane-bsp-generate",
    "peerlane-bsp-platform",
];

/// The packages of [`BSP`] without the command.
const BOARD_PACKAGES: &[&str] = BSP.split_at(1).1;

/// Tests of the OpenCL driver around a vendor library that have PoCL as one.
const POCL: &[&str] = &[
    "copies",
    "description",
    "exercise",
    "loading",
    "platforms",
    "wrapped",
];

/// The driver's tests on a kernel that checks: each path of the driver once. Such a kernel is slow, so that all tests
/// would take four hours. The other machines and boards run the same code of the driver.
const CHECKED: &[&str] = &[
    "--ignored",
    "--test-threads=1",
    "--exact",
    "transfers_under_an_iommu",
    "the_host_library_kept_regions_and_tracepoints",
    "wrong_ioctls",
    "ends_in_every_order",
    "memory_of_a_gpu_under_an_iommu",
    "the_opencl_side_of_a_board",
    "variants::what_an_administrator_sees_and_sets",
    "variants::an_attacker_beside_a_victim",
    "variants::reprogrammed_over_pcie",
    "variants::faults",
    "variants::memory_of_a_gpu_that_gives_raw_addresses",
    "variants::errors_that_nobody_mends",
    "variants::programmed_in_a_slot_for_hot_plugging",
    "variants::a_machine_that_goes_off_under_load",
];

/// OpenCL programs that are short enough for valgrind, and a test that valgrind finds errors.
const MEMCHECKED: &[&str] = &[
    "--ignored",
    "--test-threads=1",
    "described",
    "filled_and_mapped",
    "several_transfers",
    "queue_in_hardware",
    "memcheck",
];

/// Defaults of the suites that run when no suite is named.
const EVERY_RUN: Suite = Suite {
    name: "",
    about: "",
    default: true,
    machines: false,
    steps: &[],
};

/// Defaults of the suites that take too long for every run.
const ON_DEMAND: Suite = Suite {
    default: false,
    ..EVERY_RUN
};

/// All suites, in the order they run.
pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "lint",
        about: "cargo fmt, clippy and doc, all without a warning",
        steps: &[
            check("format", &["fmt", "--all", "--check"]),
            check(
                "clippy",
                &[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--",
                    "--deny",
                    "warnings",
                ],
            ),
            check("documentation", &["doc", "--workspace", "--no-deps"])
                .with(&[("RUSTDOCFLAGS", "--deny warnings")]),
            check(
                "generated files are current",
                &["run", "--quiet", "--bin", "xtask", "--", "regen", "--check"],
            ),
            check(
                "documents and book",
                &["run", "--quiet", "--bin", "xtask", "--", "book"],
            ),
            check(
                "plain English",
                &["run", "--quiet", "--bin", "xtask", "--", "prose", "--check"],
            ),
            check(
                "dependencies",
                &["run", "--quiet", "--bin", "xtask", "--", "deny"],
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "unit",
        about: "the tests of every crate except those of the suite `bsp`, and the register map read by independent \
                tools",
        steps: &[
            tests("crates", Of::Others(BSP), &[]),
            Step::DocTests,
            tests(
                "register map, external tools",
                Of::Package("peerlane-regmap"),
                EXTERNAL,
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "rtl",
        about: "the Verilog: linted, simulated, compared with the rust-hdl simulator",
        steps: &[
            tests("tools", Of::Targets("peerlane-tools", &["real"]), EXTERNAL),
            tests(
                "Verilog back-end",
                Of::Package("peerlane-verilog"),
                EXTERNAL,
            ),
            tests(
                "Verilated models",
                Of::Package("peerlane-verilated"),
                EXTERNAL,
            ),
            tests(
                "lint",
                Of::Targets("peerlane-tests", &["lint_verilog"]),
                EXTERNAL,
            ),
            tests(
                "block",
                Of::Package("peerlane-hdl"),
                &[
                    "--ignored",
                    "--skip",
                    "long::",
                    "--skip",
                    "full_matrix",
                    "--skip",
                    "planted",
                ],
            ),
            tests("simulated board", Of::Package("peerlane-sim"), EXTERNAL),
            tests(
                "host library on the simulated board",
                Of::Package("peerlane-simulated"),
                &["--ignored", "--skip", "half_a"],
            ),
            tests(
                "host library for C and examples in C, on the simulated board",
                Of::Package("peerlane-capi"),
                EXTERNAL,
            ),
            tests(
                "the thesis's calls, on the simulated board and its GPU",
                Of::Package("peerlane-clrdma"),
                EXTERNAL,
            ),
            tests(
                "diagnosis of the simulated board",
                Of::Targets("peerlane-utilities", &["simulated"]),
                EXTERNAL,
            ),
            tests(
                "transfers that a GPU starts, on the simulated board",
                Of::Package("peerlane-gpu-check"),
                EXTERNAL,
            ),
            tests(
                "benchmarks: all of them run",
                Of::Package("peerlane-bench"),
                EXTERNAL,
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "rtl-long",
        about: "the block's randomized tests, with many times as many rounds; routes with half a gigabyte",
        steps: &[
            tests(
                "block",
                Of::Package("peerlane-hdl"),
                &["--ignored", "long::"],
            ),
            tests(
                "routes",
                Of::Package("peerlane-simulated"),
                &["--ignored", "half_a"],
            ),
        ],
        ..ON_DEMAND
    },
    Suite {
        name: "pcie",
        about: "the PCIe transaction layer with every address, length and sequence of completions; faults injected \
                into it and into the block",
        steps: &[tests(
            "matrix and injected faults",
            Of::Targets("peerlane-hdl", &["pcie", "dma"]),
            &["--ignored", "full_matrix", "planted"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "python",
        about: "the Python package: installed by pip, and on the simulated board",
        steps: &[tests(
            "Python package",
            Of::Package("peerlane-python"),
            EXTERNAL,
        )],
        ..EVERY_RUN
    },
    Suite {
        name: "runtime",
        about: "the OpenCL runtime's calls, and OpenCL programs if PEERLANE_RUNTIME names a runtime",
        steps: &[
            tests(
                "the runtime's calls, board in memory",
                Of::Targets("peerlane-mmd-core", &["contract"]),
                &[],
            ),
            tests(
                "the runtime's calls, simulated board",
                Of::Targets("peerlane-opencl", &["contract"]),
                EXTERNAL,
            ),
            tests_with(
                &RUNTIME,
                "OpenCL programs, simulated board",
                Of::Targets("peerlane-opencl", &["runtime", "wrapped"]),
                EXTERNAL,
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "memcheck",
        about: "OpenCL programs over the simulated board under valgrind, if PEERLANE_RUNTIME names a runtime",
        steps: &[tests_with(
            &RUNTIME,
            "OpenCL programs under valgrind's memcheck",
            Of::Targets("peerlane-opencl", &["runtime"]),
            MEMCHECKED,
        )
        .with(&[("PEERLANE_MEMCHECK", "1")])],
        ..ON_DEMAND
    },
    Suite {
        name: "icd",
        about: "the OpenCL driver for a vendor library, with PoCL as that library",
        steps: &[
            tests("the driver's own parts", Of::Package("peerlane-icd"), &[]),
            tests(
                "PoCL bare and wrapped",
                Of::Targets("peerlane-icd-tests", POCL),
                &["--ignored", "--skip", "million", "--skip", "hangs"],
            ),
            tests(
                "routes between two OpenCL devices",
                Of::Package("peerlane-routes"),
                EXTERNAL,
            ),
            tests_with(
                &RUNTIME,
                "an FPGA runtime bare and wrapped",
                Of::Targets("peerlane-icd-tests", &["runtime"]),
                EXTERNAL,
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "icd-all",
        about: "the OpenCL driver with a million objects; memory, threads, PyOpenCL's own tests, the cost of calls, \
                and an FPGA runtime if PEERLANE_RUNTIME names one",
        steps: &[
            tests("the driver's own parts", Of::Package("peerlane-icd"), &[]),
            tests(
                "PoCL bare and wrapped",
                Of::Targets("peerlane-icd-tests", POCL),
                EXTERNAL,
            ),
            tests(
                "memory by valgrind, and threads by ThreadSanitizer",
                Of::Targets("peerlane-icd-tests", &["memory", "threads"]),
                &["--ignored", "--test-threads=1"],
            ),
            tests(
                "PyOpenCL's own tests",
                Of::Targets("peerlane-icd-tests", &["python"]),
                EXTERNAL,
            ),
            tests_with(
                &RUNTIME,
                "an FPGA runtime bare and wrapped",
                Of::Targets("peerlane-icd-tests", &["runtime"]),
                EXTERNAL,
            ),
            tests_with(
                &RUNTIME,
                "an FPGA runtime wrapped, together with PoCL, simulated board",
                Of::Targets("peerlane-opencl", &["wrapped"]),
                EXTERNAL,
            ),
            check(
                "cost of calls",
                &[
                    "bench",
                    "--package",
                    "peerlane-icd-tests",
                    "--bench",
                    "calls",
                ],
            ),
        ],
        ..ON_DEMAND
    },
    Suite {
        name: "bsp",
        about: "board packages extended and checked, and the `peerlane` command",
        steps: &[
            tests(
                "board packages",
                Of::Packages(BOARD_PACKAGES),
                &["--include-ignored", "--skip", "long_run"],
            ),
            tests("peerlane command", Of::Package(BSP[0]), ALL),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "bsp-all",
        about: "hundreds of random board packages, and one with each of its elements removed or changed",
        steps: &[tests(
            "board packages",
            Of::Packages(BOARD_PACKAGES),
            &["--ignored", "long_run"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "bench",
        about: "the block's rates and latencies on the simulated board, compared with their bars: \
                the quick rows",
        steps: &[check(
            "rates and latencies",
            &[
                "run",
                "--quiet",
                "--bin",
                "peerlane",
                "--",
                "bench",
                "rtl",
                "write.4k",
                "read.4k",
                "write.64b.rate",
                "read.64b.rate",
                "latency.doorbell",
            ],
        )],
        ..EVERY_RUN
    },
    Suite {
        name: "bench-all",
        about: "all rows",
        steps: &[check(
            "rates and latencies",
            &["run", "--quiet", "--bin", "peerlane", "--", "bench", "rtl"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "kernel",
        about: "the kernel driver on Debian's kernel, in virtual machines",
        machines: true,
        steps: &[
            tests(
                "QEMU and the kernel's build",
                Of::Targets("peerlane-tools", &["linux"]),
                EXTERNAL,
            ),
            tests("virtual machines", Of::Package("peerlane-vm"), EXTERNAL),
            tests(
                "the board as a PCIe device",
                Of::Package("peerlane-endpoint"),
                EXTERNAL,
            ),
            tests(
                "driver",
                Of::Targets("peerlane-tests", &["kernel"]),
                &[
                    "--ignored",
                    "--test-threads=1",
                    "--skip",
                    "long::",
                    "--skip",
                    "runtime::",
                    "--skip",
                    "variants::",
                ],
            ),
            tests_with(
                &RUNTIME,
                "OpenCL programs, driver",
                Of::Targets("peerlane-tests", &["kernel"]),
                &["--ignored", "--test-threads=1", "runtime::"],
            ),
            check(
                "driver: clippy",
                &[
                    "run", "--quiet", "--bin", "xtask", "--", "driver", "--clippy",
                ],
            ),
        ],
        ..EVERY_RUN
    },
    Suite {
        name: "kernel-variants",
        about: "an attacker, an administrator, the OpenCL libraries, all faults, costs, and the tests of the suite \
                kernel on other machines and boards: on a line, with another GPU",
        machines: true,
        steps: &[tests(
            "driver",
            Of::Targets("peerlane-tests", &["kernel"]),
            &["--ignored", "--test-threads=1", "variants::"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "kernel-long",
        about: "the driver in hundreds of rounds, and with the largest transfers",
        machines: true,
        steps: &[tests(
            "driver",
            Of::Targets("peerlane-tests", &["kernel"]),
            &["--ignored", "--test-threads=1", "long::"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "dkms",
        about: "the driver's package, installed on a Debian system by DKMS",
        machines: true,
        steps: &[tests(
            "DKMS",
            Of::Targets("peerlane-tests", &["dkms"]),
            EXTERNAL,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "dist",
        about: "the files of a release, as users install them on a Debian system",
        steps: &[tests(
            "release",
            Of::Targets("peerlane-tests", &["dist"]),
            EXTERNAL,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "kernel-checks",
        about: "the driver on kernels that check locks, sleeping, DMA mappings and memory",
        machines: true,
        steps: &[
            tests(
                "injected bugs",
                Of::Targets("peerlane-tests", &["planted"]),
                &["--ignored", "--test-threads=1"],
            ),
            tests(
                "driver, locks",
                Of::Targets("peerlane-tests", &["kernel"]),
                CHECKED,
            )
            .with(&[("PEERLANE_KERNEL", "locks")]),
            tests(
                "driver, memory",
                Of::Targets("peerlane-tests", &["kernel"]),
                CHECKED,
            )
            .with(&[("PEERLANE_KERNEL", "memory")]),
        ],
        ..ON_DEMAND
    },
    Suite {
        name: "semver",
        about: "the libraries' public interfaces, compared with those of an earlier commit; what future compilers refuse",
        steps: &[
            check(
                "cargo-semver-checks",
                &["run", "--quiet", "--bin", "xtask", "--", "semver"],
            ),
            tests(
                "rust-hdl and a newer compiler",
                Of::Targets("peerlane-tests", &["language"]),
                EXTERNAL,
            ),
        ],
        ..ON_DEMAND
    },
    Suite {
        name: "sanitizer",
        about: "the driver's logic, the host library and the OpenCL runtime's calls under AddressSanitizer",
        steps: &[
            check(
                "AddressSanitizer",
                &[
                    "test",
                    // Crates that are compiled for the machine itself stay unchanged: procedural macros.
                    "--target",
                    "host-tuple",
                    "--package",
                    "peerlane-core",
                    "--package",
                    "peerlane-host",
                    "--package",
                    "peerlane-mmd-core",
                    "--package",
                    "peerlane-package",
                    "--lib",
                    // Not `concurrent`: loom changes stacks by itself.
                    "--test",
                    "layouts",
                    "--test",
                    "properties",
                    "--test",
                    "uapi",
                    "--test",
                    "generated",
                ],
            )
            .with(&ADDRESSES),
            // Processes end in the midst of calls here, in children of forks too. The OpenCL runtime of the tests never
            // frees an object, so that it finds an object that is released twice. So leaks mean nothing.
            check(
                "AddressSanitizer, the contract, without leaks",
                &[
                    "test",
                    "--target",
                    "host-tuple",
                    "--package",
                    "peerlane-mmd-core",
                    "--test",
                    "contract",
                ],
            )
            .with(&[
                ADDRESSES[0],
                ADDRESSES[1],
                ("ASAN_OPTIONS", "detect_leaks=0"),
            ]),
        ],
        ..ON_DEMAND
    },
    Suite {
        name: "referee",
        about: "the block with independent Avalon and PCIe models (cocotb)",
        steps: &[tests(
            "cocotb",
            Of::Targets("peerlane-tests", &["referee"]),
            EXTERNAL,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "proofs",
        about: "properties of the blocks, proved on their Verilog",
        steps: &[tests(
            "proofs",
            Of::Targets("peerlane-tests", &["proofs"]),
            EXTERNAL,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "coverage",
        about: "lines, branches and edges of the transaction layer that its tests reach, with a reason for each gap",
        steps: &[tests(
            "coverage",
            Of::Targets("peerlane-tests", &["coverage"]),
            EXTERNAL,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "mutation",
        about: "hundreds of small changes to the block's Verilog, which its tests and proofs must detect: an hour",
        steps: &[tests(
            "mutants",
            Of::Targets("peerlane-tests", &["mutation"]),
            PROGRESS,
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "budgets",
        about: "the area of the default build, compared with the recorded area (a plain `cargo test` checks that \
                the record is of the present Verilog)",
        steps: &[tests(
            "area",
            Of::Targets("peerlane-tests", &["budgets"]),
            &["--ignored", "the_default_build_keeps_its_area"],
        )],
        ..ON_DEMAND
    },
    Suite {
        name: "speed",
        about: "the area of the transaction layer, and the clocks that it and the default build reach on an ECP5, placed \
                and routed",
        steps: &[
            tests(
                "area",
                Of::Targets("peerlane-tests", &["budgets"]),
                &["--ignored", "the_transaction_layer_keeps_its_area"],
            ),
            tests(
                "clock",
                Of::Targets("peerlane-tests", &["budgets"]),
                &["--ignored", "keeps_its_speed"],
            ),
        ],
        ..ON_DEMAND
    },
];

/// Returns the names, for the command line.
pub(crate) fn names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

/// Returns the suites asked for, in that order, without those to be left out; a name given twice runs once.
pub(crate) fn choose(asked: &[String], all: bool, without: &[String]) -> Vec<&'static Suite> {
    let mut chosen = chosen(asked, all);
    chosen.retain(|suite| !without.iter().any(|name| name == suite.name));
    chosen
}

fn chosen(asked: &[String], all: bool) -> Vec<&'static Suite> {
    if asked.is_empty() {
        return SUITES.iter().filter(|suite| all || suite.default).collect();
    }
    let mut chosen: Vec<&'static Suite> = Vec::new();
    for name in asked {
        let found = SUITES.iter().find(|suite| suite.name == name);
        chosen.extend(found.filter(|suite| chosen.iter().all(|other| other.name != suite.name)));
    }
    chosen
}

/// Returns the list of suites, for the help.
pub(crate) fn help() -> String {
    let mut text = "Suites:\n".to_owned();
    for suite in SUITES {
        let when = if suite.default {
            ""
        } else {
            " (only if named, or with --all)"
        };
        text.push_str(&format!("  {:<13} {}{when}\n", suite.name, suite.about));
    }
    text.push_str(
        "\nExamples:\n  cargo xtask test\n  cargo xtask test unit\n  cargo xtask test --all\n  \
         cargo xtask test --skip kernel   without virtual machines\n  \
         cargo xtask test --beside        virtual machines concurrently with the other suites\n\n\
         A suite that the machine cannot run is skipped, and the reason is printed. If PEERLANE_COMPLETE is \
         set, as in the forge's workflow, the suite fails instead. Some steps need software that the project \
         does not download: without that, the step is skipped, and the variable that names it is printed.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(asked: &[&str], all: bool, without: &[&str]) -> Vec<&'static str> {
        let [asked, without] = [asked, without].map(|names| {
            let names = names.iter().map(ToString::to_string);
            names.collect::<Vec<_>>()
        });
        let chosen = choose(&asked, all, &without);
        chosen.iter().map(|suite| suite.name).collect()
    }

    #[test]
    fn suites_run_in_the_order_asked_and_once() {
        assert_eq!(
            names_of(&["rtl", "unit", "rtl"], false, &[]),
            ["rtl", "unit"]
        );
        assert_eq!(names_of(&["rtl", "unit"], false, &["rtl"]), ["unit"]);
        assert_eq!(names_of(&[], true, &[]), names());
        let default = SUITES.iter().filter(|suite| suite.default).count();
        assert_eq!(names_of(&[], false, &[]).len(), default);
        let without = names_of(&[], false, &["kernel", "dkms"]);
        assert_eq!(without.len(), default - 1);
        assert!(!without.contains(&"kernel"));
    }

    #[test]
    fn programs_are_chosen_by_package_and_target() {
        assert!(Of::Others(&["a"]).takes("b", "a") && !Of::Others(&["a"]).takes("a", "b"));
        assert!(Of::Package("a").takes("a", "b") && !Of::Package("a").takes("b", "a"));
        let two = Of::Packages(&["a", "b"]);
        assert!(two.takes("a", "c") && two.takes("b", "c") && !two.takes("c", "a"));
        let some = Of::Targets("a", &["b"]);
        assert!(some.takes("a", "b") && !some.takes("a", "c") && !some.takes("c", "b"));
    }

    #[test]
    fn a_step_is_left_out_where_something_is_not_installed() {
        const NOWHERE: Installed = Installed {
            variable: "PEERLANE_NOBODY_SETS_THIS",
            what: "a thing",
        };
        let step = tests_with(&NOWHERE, "things", Of::Package("a"), &[]);
        let why = step.left_out().unwrap();
        assert_eq!(
            why,
            "PEERLANE_NOBODY_SETS_THIS is not set. Set it to a thing"
        );
        assert_eq!(tests("things", Of::Package("a"), &[]).left_out(), None);
    }

    #[test]
    fn names_are_unique_and_every_suite_does_something() {
        for (index, suite) in SUITES.iter().enumerate() {
            assert!(!suite.steps.is_empty(), "{}", suite.name);
            assert!(SUITES[..index].iter().all(|other| other.name != suite.name));
        }
    }

    /// Suites of a workflow: words of the list or lines below `suites:`.
    fn suites_of(workflow: &str) -> Vec<&str> {
        let (_, text) = workflow.split_once("suites:").expect("a matrix");
        let (text, _) = text.split_once("name:").expect("its job");
        let is_in_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let words = text.split(|letter| !is_in_name(letter));
        words.filter(|word| !matches!(*word, "" | "-")).collect()
    }

    #[test]
    fn the_workflows_run_every_suite() {
        let workflows = [
            include_str!("../../.github/workflows/ci.yml"),
            include_str!("../../.github/workflows/nightly.yml"),
        ];
        for (workflow, default) in workflows.into_iter().zip([true, false]) {
            let suites = SUITES.iter().filter(|suite| suite.default == default);
            let mut expected: Vec<_> = suites.map(|suite| suite.name).collect();
            let mut found = suites_of(workflow);
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
