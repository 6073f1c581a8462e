//! The table of test suites.
//!
//! A new suite is a new entry of [`SUITES`], with a profile in `.config/nextest.toml` that chooses its tests. Tests that
//! need external tools are marked `#[ignore = "external tools: cargo xtask test rtl"]`, so that a plain `cargo test` needs
//! none.

use peerlane_tools::{Cache, Flavour, Series};

/// A named set of steps.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The name that the user types.
    pub(crate) name: &'static str,
    /// One line for the help.
    pub(crate) about: &'static str,
    /// The runs that it belongs to.
    pub(crate) runs: Runs,
    /// The kernels of the virtual machines that it runs.
    pub(crate) kernels: &'static [Kernel],
    /// The steps, in order.
    pub(crate) steps: &'static [Step],
}

impl Suite {
    /// Returns the reason why this machine cannot run it: the virtual machines need an emulator and a kernel, which are
    /// set up here. That takes a Debian mirror and the right to make namespaces.
    pub(crate) fn obstacle(&self) -> Option<String> {
        let failed = |kernel: &Kernel| kernel.set_up().err();
        let error = self.kernels.iter().find_map(failed);
        error.map(|error| error.to_string())
    }
}

/// The runs that a suite belongs to, in addition to those that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The quick run alone: a sample of other suites.
    Quick,
    /// All runs.
    All,
    /// The run for a change that is proposed, and the whole run.
    Change,
    /// The whole run: suites that take long.
    Whole,
}

/// A run of suites that no names choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// Minutes, while one works.
    Quick,
    /// For a change that is proposed.
    Change,
    /// Everything.
    Whole,
}

impl Runs {
    /// Returns whether the suite belongs to a run.
    const fn belongs_to(self, run: Run) -> bool {
        match self {
            Self::Quick => matches!(run, Run::Quick),
            Self::All => true,
            Self::Change => !matches!(run, Run::Quick),
            Self::Whole => matches!(run, Run::Whole),
        }
    }
}

/// A kernel of virtual machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// The one that the driver is built for, with its compilers.
    Driver,
    /// Another one for modules, with its compilers.
    Of(Flavour),
    /// One as Debian ships it, for machines without our module.
    Shipped(Series),
}

impl Kernel {
    /// Sets up the kernel and the emulator: minutes, most of them downloads. A second caller waits for the first.
    pub(crate) fn set_up(self) -> peerlane_tools::Result<()> {
        let cache = Cache::open()?;
        cache.qemu()?;
        match self {
            Self::Driver => cache.kernel(Flavour::Debian).map(drop),
            Self::Of(flavour) => cache.kernel(flavour).map(drop),
            Self::Shipped(series) => cache.shipped_kernel(series).map(drop),
        }
    }
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
    /// Tests, of which at least one must run.
    Tests(Tests),
}

/// Tests that a profile of nextest chooses.
#[derive(Debug)]
pub(crate) struct Tests {
    /// The profile in `.config/nextest.toml`, which is also the name in the report.
    pub(crate) profile: &'static str,
    /// Other arguments of `cargo nextest run`.
    pub(crate) arguments: &'static [&'static str],
    /// Environment variables set for it.
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// The program that the user has to have installed for it.
    pub(crate) needs: Option<&'static Installed>,
}

impl Step {
    /// With these variables set.
    const fn with(self, env: &'static [(&'static str, &'static str)]) -> Self {
        match self {
            Self::Check { label, cargo, .. } => Self::Check { label, cargo, env },
            Self::Tests(tests) => Self::Tests(Tests { env, ..tests }),
        }
    }

    /// With a program that the user has to have installed.
    const fn needs(self, program: &'static Installed) -> Self {
        match self {
            Self::Tests(tests) => Self::Tests(Tests {
                needs: Some(program),
                ..tests
            }),
            check => check,
        }
    }

    /// Returns the reason why it is left out: a program that it needs is not installed here. That is not a failure,
    /// even if the step was asked for.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self {
            Self::Tests(tests) => tests.needs.and_then(Installed::missing),
            Self::Check { .. } => None,
        }
    }

    /// Returns its name in the report.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Check { label, .. } => label,
            Self::Tests(tests) => tests.profile,
        }
    }
}

/// Makes a step of those tests of a profile that need external tools.
const fn external(profile: &'static str) -> Step {
    tests(profile, &["--run-ignored=only"])
}

/// Makes a step of a profile's tests.
const fn tests(profile: &'static str, arguments: &'static [&'static str]) -> Step {
    Step::Tests(Tests {
        profile,
        arguments,
        env: &[],
        needs: None,
    })
}

/// Makes a step of a cargo command.
const fn check(label: &'static str, cargo: &'static [&'static str]) -> Step {
    Step::Check {
        label,
        cargo,
        env: &[],
    }
}

/// Arguments for all tests of a profile.
const ALL: &[&str] = &["--run-ignored=all"];

/// Variables under which AddressSanitizer is compiled in: the stable compiler has the sanitizer, but not the option.
const ADDRESSES: [(&str, &str); 2] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("RUSTFLAGS", "-Zsanitizer=address"),
];

/// Returns the defaults of the suites that belong to these runs.
const fn suites_of(runs: Runs) -> Suite {
    Suite {
        name: "",
        about: "",
        runs,
        kernels: &[],
        steps: &[],
    }
}

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
        ..suites_of(Runs::All)
    },
    Suite {
        name: "unit",
        about: "the tests of every crate except those of the suite `bsp`, and the register map read by independent \
                tools",
        steps: &[
            tests("unit", &[]),
            check(
                "examples in the documentation",
                &["test", "--workspace", "--doc", "--no-fail-fast"],
            ),
            external("unit-tools"),
        ],
        ..suites_of(Runs::All)
    },
    Suite {
        name: "smoke",
        about: "a sample of the suites rtl and bsp, in three minutes: the block, the host library on it, a board \
                package extended, checked and simulated",
        steps: &[external("smoke-rtl"), tests("smoke-bsp", ALL)],
        ..suites_of(Runs::Quick)
    },
    Suite {
        name: "rtl",
        about: "the Verilog: linted, simulated, compared with the rust-hdl simulator",
        steps: &[external("rtl")],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "rtl-long",
        about: "the block's randomized tests, with many times as many rounds; routes with half a gigabyte",
        steps: &[external("rtl-long")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "pcie",
        about: "the PCIe transaction layer with every address, length and sequence of completions; faults injected \
                into it and into the block",
        steps: &[external("pcie")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "python",
        about: "the Python package: installed by pip, and on the simulated board",
        steps: &[external("python")],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "runtime",
        about: "the OpenCL runtime's calls, and OpenCL programs if PEERLANE_RUNTIME names a runtime",
        steps: &[
            tests("runtime", ALL),
            external("runtime-programs").needs(&RUNTIME),
        ],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "memcheck",
        about: "OpenCL programs over the simulated board under valgrind, if PEERLANE_RUNTIME names a runtime",
        steps: &[external("memcheck")
            .needs(&RUNTIME)
            .with(&[("PEERLANE_MEMCHECK", "1")])],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "icd",
        about: "the OpenCL driver for a vendor library, with PoCL as that library",
        steps: &[
            tests("icd-parts", &[]),
            external("icd"),
            external("icd-runtime").needs(&RUNTIME),
        ],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "icd-all",
        about: "the OpenCL driver with a million objects; memory, threads, PyOpenCL's own tests, the cost of calls, \
                and an FPGA runtime if PEERLANE_RUNTIME names one",
        steps: &[
            tests("icd-parts", &[]),
            external("icd-all"),
            external("icd-all-runtime").needs(&RUNTIME),
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
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "bsp",
        about: "board packages extended and checked, and the `peerlane` command",
        steps: &[tests("bsp", ALL)],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "bsp-all",
        about: "hundreds of random board packages, and one with each of its elements removed or changed",
        steps: &[external("bsp-all")],
        ..suites_of(Runs::Whole)
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
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "bench-all",
        about: "all rows",
        steps: &[check(
            "rates and latencies",
            &["run", "--quiet", "--bin", "peerlane", "--", "bench", "rtl"],
        )],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "kernel",
        about: "the kernel driver on Debian's kernels 7.3 and, in part, 6.12, in virtual machines",
        kernels: &[Kernel::Driver, Kernel::Of(Flavour::Released)],
        steps: &[
            external("kernel"),
            external("kernel-6-12").with(&[("PEERLANE_KERNEL", "6.12")]),
            external("kernel-runtime").needs(&RUNTIME),
            check(
                "driver: clippy",
                &[
                    "run", "--quiet", "--bin", "xtask", "--", "driver", "--clippy",
                ],
            ),
        ],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "kernel-variants",
        about: "an attacker, an administrator, the OpenCL libraries, all faults, costs, and the tests of the suite \
                kernel on other machines and boards: on a line, with another GPU",
        kernels: &[Kernel::Driver],
        steps: &[external("kernel-variants")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "kernels",
        about: "the kernel driver on Debian's kernels 6.12, without CONFIG_RUST, and 7.2",
        kernels: &[Kernel::Of(Flavour::Released), Kernel::Of(Flavour::Previous)],
        steps: &[
            external("kernels-6-12").with(&[("PEERLANE_KERNEL", "6.12")]),
            external("kernels-7-2").with(&[("PEERLANE_KERNEL", "7.2")]),
        ],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "kernel-long",
        about: "the driver in hundreds of rounds, and with the largest transfers",
        kernels: &[Kernel::Driver],
        steps: &[external("kernel-long")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "vfio",
        about: "a board without our driver, at `vfio-pci` of Debian 13's kernel, in a virtual machine",
        kernels: &[Kernel::Shipped(Series::Trixie)],
        steps: &[external("vfio")],
        ..suites_of(Runs::Change)
    },
    Suite {
        name: "vfio-variants",
        about: "the same with Debian's other kernels, with iommufd, as an ordinary user; examples, OpenCL, hot-plugging",
        kernels: &[
            Kernel::Driver,
            Kernel::Shipped(Series::Bookworm),
            Kernel::Shipped(Series::Trixie),
            Kernel::Shipped(Series::Backports),
        ],
        steps: &[external("vfio-variants")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "secure-boot",
        about: "a computer with Secure Boot: the key of DKMS is enrolled, and the kernel accepts the driver",
        kernels: &[Kernel::Driver],
        steps: &[external("secure-boot")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "dkms",
        about: "the driver's package, installed on a Debian system by DKMS",
        kernels: &[Kernel::Driver],
        steps: &[external("dkms")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "dist",
        about: "the files of a release, as users install them on a Debian system",
        steps: &[external("dist")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "kernel-checks",
        about: "the driver on kernels that check locks, sleeping, DMA mappings and memory",
        kernels: &[Kernel::Driver],
        steps: &[
            external("kernel-planted"),
            external("kernel-locks").with(&[("PEERLANE_KERNEL", "locks")]),
            external("kernel-memory").with(&[("PEERLANE_KERNEL", "memory")]),
        ],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "semver",
        about: "the libraries' public interfaces, compared with those of an earlier commit; what future compilers refuse",
        steps: &[
            check(
                "cargo-semver-checks",
                &["run", "--quiet", "--bin", "xtask", "--", "semver"],
            ),
            external("language"),
        ],
        ..suites_of(Runs::Whole)
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
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "referee",
        about: "the block with independent Avalon and PCIe models (cocotb)",
        steps: &[external("referee")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "proofs",
        about: "properties of the blocks, proved on their Verilog",
        steps: &[external("proofs")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "coverage",
        about: "lines, branches and edges of the transaction layer that its tests reach, with a reason for each gap",
        steps: &[external("coverage")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "mutation",
        about: "hundreds of small changes to the block's Verilog, which its tests and proofs must detect: an hour",
        steps: &[tests(
            "mutation",
            // It takes an hour, and prints its progress.
            &["--run-ignored=only", "--no-capture"],
        )],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "budgets",
        about: "the area of the default build, compared with the recorded area (a plain `cargo test` checks that \
                the record is of the present Verilog)",
        steps: &[external("budgets")],
        ..suites_of(Runs::Whole)
    },
    Suite {
        name: "speed",
        about: "the area of the transaction layer, and the clocks that it and the default build reach on an ECP5, placed \
                and routed",
        steps: &[external("speed")],
        ..suites_of(Runs::Whole)
    },
];

/// Returns the names, for the command line.
pub(crate) fn names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

/// Returns the suites asked for, in that order, or those of a run if none is, without those to be left out. A name given
/// twice runs once.
pub(crate) fn choose(asked: &[String], run: Run, without: &[String]) -> Vec<&'static Suite> {
    let mut chosen: Vec<&'static Suite> = Vec::new();
    if asked.is_empty() {
        chosen.extend(SUITES.iter().filter(|suite| suite.runs.belongs_to(run)));
    }
    for name in asked {
        let found = SUITES.iter().find(|suite| suite.name == name);
        chosen.extend(found.filter(|suite| chosen.iter().all(|other| other.name != suite.name)));
    }
    chosen.retain(|suite| !without.iter().any(|name| name == suite.name));
    chosen
}

/// Returns the list of suites, for the help.
pub(crate) fn help() -> String {
    let mut text = "Suites:\n".to_owned();
    for suite in SUITES {
        let when = match suite.runs {
            Runs::Quick => " (not with --change or --all)",
            Runs::All => "",
            Runs::Change => " (with --change or --all)",
            Runs::Whole => " (with --all)",
        };
        text.push_str(&format!("  {:<15} {}{when}\n", suite.name, suite.about));
    }
    text.push_str(
        "\nExamples:\n  cargo xtask test                             minutes, while you work\n  \
         cargo xtask test --change                    before you propose a change: an hour\n  \
         cargo xtask test --all                       before a release: a day\n  \
         cargo xtask test unit                        one suite\n  \
         cargo xtask test --change --skip kernel --skip vfio   without virtual machines\n  \
         cargo xtask test rtl --partition slice:1/2   every second test of a suite\n\
         cargo nextest run --workspace --profile rtl --run-ignored only   the suite's tests by nextest itself\n\n\
         The results of the tests are in target/nextest/PROFILE/junit.xml. A profile has the name in the closing \
         table.\n\n\
         A suite that the machine cannot run is skipped, and the reason is printed. If PEERLANE_COMPLETE is \
         set, as in the forge's workflow, the suite fails instead. Some steps need software that the project \
         does not download: without that, the step is skipped, and the variable that names it is printed.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(asked: &[&str], run: Run, without: &[&str]) -> Vec<&'static str> {
        let [asked, without] = [asked, without].map(|names| {
            let names = names.iter().map(ToString::to_string);
            names.collect::<Vec<_>>()
        });
        let chosen = choose(&asked, run, &without);
        chosen.iter().map(|suite| suite.name).collect()
    }

    #[test]
    fn suites_run_in_the_order_asked_and_once() {
        let asked = |names: &[&str], without: &[&str]| names_of(names, Run::Quick, without);
        assert_eq!(asked(&["rtl", "unit", "rtl"], &[]), ["rtl", "unit"]);
        assert_eq!(asked(&["rtl", "unit"], &["rtl"]), ["unit"]);
    }

    #[test]
    fn each_run_has_its_suites() {
        let of = |run| names_of(&[], run, &[]);
        assert_eq!(of(Run::Quick), ["lint", "unit", "smoke"]);
        let change = of(Run::Change);
        assert!(change.contains(&"unit") && change.contains(&"kernel"));
        assert!(!change.contains(&"smoke") && !change.contains(&"kernel-long"));
        let whole = of(Run::Whole);
        assert!(change.iter().all(|name| whole.contains(name)));
        assert_eq!(whole.len(), SUITES.len() - 1);
        let without = names_of(&[], Run::Change, &["kernel", "dkms"]);
        assert_eq!(without.len(), change.len() - 1);
        assert!(!without.contains(&"kernel"));
    }

    #[test]
    fn a_step_is_left_out_where_something_is_not_installed() {
        const NOWHERE: Installed = Installed {
            variable: "PEERLANE_NOBODY_SETS_THIS",
            what: "a thing",
        };
        let step = external("things").needs(&NOWHERE);
        let why = step.left_out().unwrap();
        assert_eq!(
            why,
            "PEERLANE_NOBODY_SETS_THIS is not set. Set it to a thing"
        );
        assert_eq!(external("things").left_out(), None);
    }

    #[test]
    fn names_are_unique_and_every_suite_does_something() {
        for (index, suite) in SUITES.iter().enumerate() {
            assert!(!suite.steps.is_empty(), "{}", suite.name);
            assert!(SUITES[..index].iter().all(|other| other.name != suite.name));
        }
    }

    /// The profiles of nextest that are a step, and those that only others inherit from.
    #[test]
    fn every_profile_is_a_step() {
        let text = include_str!("../../.config/nextest.toml");
        let config: toml::Table = toml::from_str(text).unwrap();
        let profiles = config["profile"].as_table().unwrap().keys();
        let mut expected = vec!["default", "hours", "machines", "models"];
        for step in SUITES.iter().flat_map(|suite| suite.steps) {
            if let Step::Tests(tests) = step {
                expected.push(tests.profile);
            }
        }
        expected.sort_unstable();
        expected.dedup();
        let mut found: Vec<_> = profiles.map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    /// Suites of a workflow: words of the list or lines below `suites:`.
    fn matrix(workflow: &str) -> Vec<&str> {
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
        let change = names_of(&[], Run::Change, &[]);
        let mut night = names_of(&[], Run::Whole, &[]);
        night.retain(|name| !change.contains(name));
        for (workflow, mut expected) in workflows.into_iter().zip([change, night]) {
            let mut found = matrix(workflow);
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
