//! The table of test suites.
//!
//! A new suite is a new entry of [`SUITES`]. Tests that need external tools are marked
//! `#[ignore = "external tools: cargo xtask test rtl"]`, so that a plain `cargo test` needs none.

use peerlane_tools::{Cache, Flavour};

/// A named set of steps.
#[derive(Debug)]
pub(crate) struct Suite {
    /// What the user types.
    pub(crate) name: &'static str,
    /// One line for the help.
    pub(crate) about: &'static str,
    /// Whether it runs when no suite is named.
    pub(crate) default: bool,
    /// Whether it runs virtual machines.
    pub(crate) machines: bool,
    /// What is run, in order.
    pub(crate) steps: &'static [Step],
}

impl Suite {
    /// Why this machine cannot run it: the virtual machines need an emulator and a kernel, which
    /// are set up here, and for that a Debian mirror and the right to make name spaces.
    pub(crate) fn obstacle(&self) -> Option<String> {
        if !self.machines {
            return None;
        }
        let set_up = Cache::open().and_then(|cache| {
            cache.qemu()?;
            cache.kernel(Flavour::Debian)
        });
        set_up.err().map(|error| error.to_string())
    }
}

/// One command of a suite.
#[derive(Debug)]
pub(crate) enum Step {
    /// A cargo command that counts as one check.
    Check {
        /// What it is called in the report.
        label: &'static str,
        /// Arguments of cargo.
        cargo: &'static [&'static str],
        /// Environment variables set for it.
        env: &'static [(&'static str, &'static str)],
    },
    /// Test programs of the workspace; their tests are counted. Must run at least one.
    Tests {
        /// What it is called in the report.
        label: &'static str,
        /// Which programs.
        of: Of,
        /// Arguments of each program.
        arguments: &'static [&'static str],
        /// Environment variables set for it.
        env: &'static [(&'static str, &'static str)],
    },
    /// The examples in the documentation.
    DocTests,
}

/// A choice of test programs.
#[derive(Debug)]
pub(crate) enum Of {
    /// All of the workspace.
    Workspace,
    /// All of a package.
    Package(&'static str),
    /// Some integration tests of a package.
    Targets(&'static str, &'static [&'static str]),
}

impl Of {
    /// Whether a target of a package is meant.
    pub(crate) fn takes(&self, package: &str, target: &str) -> bool {
        match self {
            Self::Workspace => true,
            Self::Package(name) => *name == package,
            Self::Targets(name, targets) => *name == package && targets.contains(&target),
        }
    }
}

/// All suites, in the order they run.
pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "lint",
        about: "cargo fmt, clippy and doc, all without a warning",
        default: true,
        machines: false,
        steps: &[
            Step::Check {
                label: "format",
                cargo: &["fmt", "--all", "--check"],
                env: &[],
            },
            Step::Check {
                label: "clippy",
                cargo: &[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--",
                    "--deny",
                    "warnings",
                ],
                env: &[],
            },
            Step::Check {
                label: "documentation",
                cargo: &["doc", "--workspace", "--no-deps"],
                env: &[("RUSTDOCFLAGS", "--deny warnings")],
            },
            Step::Check {
                label: "generated files are current",
                cargo: &["run", "--quiet", "--bin", "xtask", "--", "regen", "--check"],
                env: &[],
            },
        ],
    },
    Suite {
        name: "unit",
        about: "every crate's tests, and the register map read by other people's tools",
        default: true,
        machines: false,
        steps: &[
            Step::Tests {
                label: "all crates",
                of: Of::Workspace,
                arguments: &[],
                env: &[],
            },
            Step::DocTests,
            Step::Tests {
                label: "register map, external tools",
                of: Of::Package("peerlane-regmap"),
                arguments: &["--ignored"],
                env: &[],
            },
        ],
    },
    Suite {
        name: "rtl",
        about: "the Verilog: linted, simulated, compared with the rust-hdl simulator",
        default: true,
        machines: false,
        steps: &[
            Step::Tests {
                label: "tools",
                of: Of::Targets("peerlane-tools", &["real"]),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "Verilog back-end",
                of: Of::Package("peerlane-verilog"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "Verilated models",
                of: Of::Package("peerlane-verilated"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "lint",
                of: Of::Targets("peerlane-tests", &["lint_verilog"]),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "block",
                of: Of::Package("peerlane-hdl"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "simulated board",
                of: Of::Package("peerlane-sim"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "host library on the simulated board",
                of: Of::Package("peerlane-host"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "benchmarks, that they measure",
                of: Of::Package("peerlane-bench"),
                arguments: &["--ignored"],
                env: &[],
            },
        ],
    },
    Suite {
        name: "bsp",
        about: "the `peerlane` command: board packages extended and checked",
        default: true,
        machines: false,
        steps: &[Step::Tests {
            label: "peerlane command",
            of: Of::Package("peerlane"),
            arguments: &["--include-ignored"],
            env: &[],
        }],
    },
    Suite {
        name: "kernel",
        about: "the kernel driver on Debian's kernel, in virtual machines",
        default: true,
        machines: true,
        steps: &[
            Step::Tests {
                label: "QEMU and the kernel's build",
                of: Of::Targets("peerlane-tools", &["linux"]),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "virtual machines",
                of: Of::Package("peerlane-vm"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "the board as a PCIe device",
                of: Of::Package("peerlane-endpoint"),
                arguments: &["--ignored"],
                env: &[],
            },
            Step::Tests {
                label: "driver",
                of: Of::Targets("peerlane-tests", &["kernel"]),
                arguments: &["--ignored", "--test-threads=1", "--skip", "long::"],
                env: &[],
            },
            Step::Check {
                label: "driver: clippy",
                cargo: &[
                    "run", "--quiet", "--bin", "xtask", "--", "driver", "--clippy",
                ],
                env: &[],
            },
        ],
    },
    Suite {
        name: "kernel-long",
        about: "the same for hundreds of rounds, and with the largest transfers",
        default: false,
        machines: true,
        steps: &[Step::Tests {
            label: "driver",
            of: Of::Targets("peerlane-tests", &["kernel"]),
            arguments: &["--ignored", "--test-threads=1", "long::"],
            env: &[],
        }],
    },
    Suite {
        name: "dkms",
        about: "the driver's package, installed on a Debian system by DKMS",
        default: false,
        machines: true,
        steps: &[Step::Tests {
            label: "DKMS",
            of: Of::Targets("peerlane-tests", &["dkms"]),
            arguments: &["--ignored"],
            env: &[],
        }],
    },
    Suite {
        name: "kernel-checks",
        about: "the driver on kernels that check locks, sleeping, DMA mappings and memory",
        default: false,
        machines: true,
        steps: &[
            Step::Tests {
                label: "planted bugs",
                of: Of::Targets("peerlane-tests", &["planted"]),
                arguments: &["--ignored", "--test-threads=1"],
                env: &[],
            },
            Step::Tests {
                label: "driver, locks",
                of: Of::Targets("peerlane-tests", &["kernel"]),
                arguments: &[
                    "--ignored",
                    "--test-threads=1",
                    "--skip",
                    "long::",
                    "--skip",
                    "costs",
                ],
                env: &[("PEERLANE_KERNEL", "locks")],
            },
            Step::Tests {
                label: "driver, memory",
                of: Of::Targets("peerlane-tests", &["kernel"]),
                arguments: &[
                    "--ignored",
                    "--test-threads=1",
                    "--skip",
                    "long::",
                    "--skip",
                    "costs",
                ],
                env: &[("PEERLANE_KERNEL", "memory")],
            },
        ],
    },
    Suite {
        name: "sanitizer",
        about: "the driver's logic and the device library under AddressSanitizer",
        default: false,
        machines: false,
        steps: &[Step::Check {
            label: "AddressSanitizer",
            cargo: &[
                "test",
                // What is compiled for the machine itself stays as it is: procedural macros.
                "--target",
                "host-tuple",
                "--package",
                "peerlane-core",
                "--package",
                "peerlane-device",
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
            // The stable compiler has the sanitizer, but not the option.
            env: &[
                ("RUSTC_BOOTSTRAP", "1"),
                ("RUSTFLAGS", "-Zsanitizer=address"),
            ],
        }],
    },
    Suite {
        name: "referee",
        about: "the block against other people's Avalon models (cocotb)",
        default: false,
        machines: false,
        steps: &[Step::Tests {
            label: "cocotb",
            of: Of::Targets("peerlane-tests", &["referee"]),
            arguments: &["--ignored"],
            env: &[],
        }],
    },
    Suite {
        name: "proofs",
        about: "properties of the blocks, proved on their Verilog",
        default: false,
        machines: false,
        steps: &[Step::Tests {
            label: "proofs",
            of: Of::Targets("peerlane-tests", &["proofs"]),
            arguments: &["--ignored"],
            env: &[],
        }],
    },
    Suite {
        name: "budgets",
        about: "the area of the default build, held to what is recorded",
        default: true,
        machines: false,
        steps: &[Step::Tests {
            label: "area",
            of: Of::Targets("peerlane-tests", &["budgets"]),
            arguments: &["--ignored", "--skip", "keeps_its_speed"],
            env: &[],
        }],
    },
    Suite {
        name: "speed",
        about: "the clock that the default build reaches on an ECP5, placed and routed",
        default: false,
        machines: false,
        steps: &[Step::Tests {
            label: "clock",
            of: Of::Targets("peerlane-tests", &["budgets"]),
            arguments: &["--ignored", "keeps_its_speed"],
            env: &[],
        }],
    },
];

/// The names, for the command line.
pub(crate) fn names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

/// The suites asked for, in the order asked; a name given twice runs once.
pub(crate) fn choose(asked: &[String], all: bool) -> Vec<&'static Suite> {
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

/// The list of suites, for the help.
pub(crate) fn help() -> String {
    let mut text = "Suites:\n".to_owned();
    for suite in SUITES {
        let when = if suite.default {
            ""
        } else {
            " (only when named, or with --all)"
        };
        text.push_str(&format!("  {:<13} {}{when}\n", suite.name, suite.about));
    }
    text.push_str(
        "\nExamples:\n  cargo xtask test\n  cargo xtask test unit\n  cargo xtask test --all",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(asked: &[&str], all: bool) -> Vec<&'static str> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        choose(&asked, all).iter().map(|suite| suite.name).collect()
    }

    #[test]
    fn suites_run_in_the_order_asked_and_once() {
        assert_eq!(chosen(&["rtl", "unit", "rtl"], false), ["rtl", "unit"]);
        assert_eq!(chosen(&[], true), names());
        let default: Vec<_> = SUITES.iter().filter(|suite| suite.default).collect();
        assert_eq!(chosen(&[], false).len(), default.len());
    }

    #[test]
    fn programs_are_chosen_by_package_and_target() {
        assert!(Of::Workspace.takes("a", "b"));
        assert!(Of::Package("a").takes("a", "b") && !Of::Package("a").takes("b", "a"));
        let some = Of::Targets("a", &["b"]);
        assert!(some.takes("a", "b") && !some.takes("a", "c") && !some.takes("c", "b"));
    }

    #[test]
    fn names_are_unique_and_every_suite_does_something() {
        for (index, suite) in SUITES.iter().enumerate() {
            assert!(!suite.steps.is_empty(), "{}", suite.name);
            assert!(SUITES[..index].iter().all(|other| other.name != suite.name));
        }
    }
}
