//! Kernels with their own checks switched on, built from Debian's source.
//!
//! Their configuration is small: the devices of a machine of the tests, the options for the driver and the tests, and
//! the checks. Everything else is off, so that they build in minutes.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command, thread};

use super::{AER_INJECT, BUILD, LINUX_SERIES, SOURCES, Setup, VMLINUZ, make, source};
use crate::{Result, debian::Debian, error::io_error};

/// Files that are not compiled; the makefiles and the descriptions of options have to be there.
const EXCLUDED: [&str; 12] = [
    "Documentation/*/*",
    "arch/*/boot/dts",
    "arch/[!x]*/*.[chS]",
    "drivers/gpu/*.[ch]",
    "drivers/infiniband/*.c",
    "drivers/media/*.c",
    "drivers/net/*/*.c",
    "drivers/scsi/*.c",
    "drivers/staging/*.c",
    "sound/*.[ch]",
    "tools/perf",
    "tools/testing",
];
/// The source and the output of its build, below `src`, while the kernel is built.
const SOURCE: &str = "source";
const OUT: &str = "out";
/// The options asked for, below `src`.
const OPTIONS: &str = "options";
/// The files that modules are built against, below `src`.
const HEADERS: &str = "linux";

/// Checks of locks, of sleeping, and of how other interfaces are used.
pub(super) const LOCKS: &str = include_str!("config/locks.config");
/// Checks of memory.
pub(super) const MEMORY: &str = include_str!("config/memory.config");
/// Options of all kernels of the tests.
const COMMON: &str = include_str!("config/common.config");

/// Returns a text that changes when the output of this module for `checks` changes.
pub(super) fn key(checks: &str) -> String {
    format!("3\n{COMMON}\n{checks}")
}

/// Sets the kernel with `checks` up in `setup.home`. Returns its release.
pub(super) fn install(setup: &Setup<'_>, checks: &str) -> Result<String> {
    let debian = Debian::open(setup.cache, "the kernel", setup.progress)?;
    // Fails with a clear message when the series is gone.
    source::newest(&debian, LINUX_SERIES)?;
    source::unpack(setup, &debian, SOURCE, &[], &EXCLUDED)?;
    drop(debian);

    mend_aer_inject(setup)?;
    configure(setup, checks)?;
    setup.progress.step("compiling");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    setup.run(
        source_make(setup)
            .arg(format!("-j{jobs}"))
            .args(["bzImage", "modules"]),
    )?;

    setup.progress.step("collecting the files to build modules");
    let script = format!("$(srctree)/scripts/package/install-extmod-build {SOURCES}/{HEADERS}");
    setup.run(source_make(setup).args(["run-command", &format!("KBUILD_RUN_COMMAND={script}")]))?;
    let out = setup.source(OUT);
    let build = setup.source(BUILD);
    symlink(HEADERS, &build).map_err(io_error("create", &build))?;

    let keep = |from: &str, to: &str| {
        let (from, to) = (out.join(from), setup.home.join(to));
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory).map_err(io_error("create", directory))?;
        }
        fs::rename(&from, &to).map_err(io_error("rename", &from))
    };
    keep("arch/x86/boot/bzImage", VMLINUZ)?;
    keep("drivers/pci/pcie/aer_inject.ko", AER_INJECT)?;
    let release = out.join("include/config/kernel.release");
    let release = fs::read_to_string(&release).map_err(io_error("read", &release))?;
    for directory in [SOURCE, OUT] {
        let path = setup.source(directory);
        fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    }
    Ok(release.trim().to_owned())
}

/// Makes the lock of the kernel's own `aer_inject` a raw one. It is taken below `pci_lock`, a raw one
/// (`aer_inj_read_config` in `drivers/pci/pcie/aer_inject.c`). `PROVE_LOCKING` reports that, and stops checking.
fn mend_aer_inject(setup: &Setup<'_>) -> Result<()> {
    let path = setup.source(SOURCE).join("drivers/pci/pcie/aer_inject.c");
    let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
    let mended = with_raw_lock(&text).ok_or_else(|| {
        setup.failure("drivers/pci/pcie/aer_inject.c has no spinlock inject_lock".to_owned())
    })?;
    fs::write(&path, mended).map_err(io_error("write", &path))
}

/// Returns the source of `aer_inject` with its lock a raw one, if it has such a lock.
fn with_raw_lock(text: &str) -> Option<String> {
    let mended = text
        .replace(
            " DEFINE_SPINLOCK(inject_lock)",
            " DEFINE_RAW_SPINLOCK(inject_lock)",
        )
        .replace(
            "\tspin_lock_irqsave(&inject_lock",
            "\traw_spin_lock_irqsave(&inject_lock",
        )
        .replace(
            "\tspin_unlock_irqrestore(&inject_lock",
            "\traw_spin_unlock_irqrestore(&inject_lock",
        );
    mended
        .contains("DEFINE_RAW_SPINLOCK(inject_lock)")
        .then_some(mended)
}

/// Configures the source: the options asked for, the options that these select, and nothing else. Fails if an option
/// asked for is missing.
fn configure(setup: &Setup<'_>, checks: &str) -> Result<()> {
    setup.progress.step("configuring");
    let name = setup.flavour.name();
    let asked = format!("{COMMON}{checks}CONFIG_LOCALVERSION=\"-peerlane-{name}\"\n");
    let path = setup.source(OPTIONS);
    fs::write(&path, &asked).map_err(io_error("write", &path))?;
    let out = setup.source(OUT);
    fs::create_dir(&out).map_err(io_error("create", &out))?;
    setup.run(
        source_make(setup)
            .arg(format!("KCONFIG_ALLCONFIG={SOURCES}/{OPTIONS}"))
            .arg("allnoconfig"),
    )?;
    let config = out.join(".config");
    let config = fs::read_to_string(&config).map_err(io_error("read", &config))?;
    let missing = missing(&asked, &config);
    if missing.is_empty() {
        return Ok(());
    }
    Err(setup.failure(format!(
        "the kernel does not accept these options: {}",
        missing.join(", ")
    )))
}

/// Returns the options asked for that a configuration does not have in that form.
fn missing<'a>(asked: &'a str, config: &str) -> Vec<&'a str> {
    asked
        .lines()
        .filter(|line| line.starts_with("CONFIG_"))
        .filter(|line| match line.strip_suffix("=n") {
            Some(name) => config.lines().any(|found| {
                found
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('='))
            }),
            None => !config.lines().any(|found| found == *line),
        })
        .collect()
}

/// Returns kbuild on the source.
fn source_make(setup: &Setup<'_>) -> Command {
    let mut command = make(&setup.root(), setup.flavour);
    command
        .args(["-s", "-C"])
        .arg(Path::new(SOURCES).join(SOURCE))
        .arg(format!("O={SOURCES}/{OUT}"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_of_aer_inject_becomes_a_raw_one() {
        let text = "static DEFINE_SPINLOCK(inject_lock);\n\tspin_lock_irqsave(&inject_lock, flags);\n\
                    \t\tspin_unlock_irqrestore(&inject_lock, flags);\n\tspin_lock(&other);\n";
        let mended = "static DEFINE_RAW_SPINLOCK(inject_lock);\n\
                      \traw_spin_lock_irqsave(&inject_lock, flags);\n\
                      \t\traw_spin_unlock_irqrestore(&inject_lock, flags);\n\tspin_lock(&other);\n";
        assert_eq!(with_raw_lock(text).as_deref(), Some(mended));
        assert_eq!(with_raw_lock("static DEFINE_MUTEX(inject_mutex);\n"), None);
    }

    #[test]
    fn an_option_that_was_not_taken_is_named() {
        let config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_NAME=\"x\"\nCONFIG_DD=y\n";
        let asked = "# a remark\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_C=y\nCONFIG_NAME=\"x\"\n\
                     CONFIG_D=n\nCONFIG_DD=n\n";
        assert_eq!(missing(asked, config), ["CONFIG_C=y", "CONFIG_DD=n"]);
    }

    #[test]
    fn no_option_is_asked_for_twice() {
        for checks in [LOCKS, MEMORY] {
            let mut names: Vec<_> = COMMON
                .lines()
                .chain(checks.lines())
                .filter(|line| line.starts_with("CONFIG_"))
                .filter_map(|line| line.split_once('='))
                .map(|(name, _)| name)
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
