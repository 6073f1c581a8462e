//! Linux kernels for tests: with all files to build modules for it ([`Kernel`]), or only to boot ([`ShippedKernel`]).
//!
//! Some are kernels as Debian ships them. The others are built here, from Debian's
//! source by Debian's compilers, with the kernel's own checks switched on.

mod cdev;
mod crates;
mod debug;
mod shipped;
mod source;
mod stock;
mod toolchain;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    Cache, Error, Progress, Recipe, Result, chroot,
    chroot::Chroot,
    error::io_error,
    process::{self, tail, text},
};

pub use shipped::{Series, ShippedKernel};

/// The series of Linux whose kernel crate Peerlane's driver is written for, and on which most tests run. The newest
/// release of it in Debian's backports is taken when the kernel is set up.
pub const LINUX_SERIES: &str = "7.3";

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// As Debian ships it, of [`LINUX_SERIES`].
    Debian,
    /// That of Debian 13, 6.12: without `CONFIG_RUST` and without `CONFIG_PCI_P2PDMA`.
    Released,
    /// The series before [`LINUX_SERIES`] in Debian's backports, 7.2.
    Previous,
    /// With checks of locks (lockdep), of sleeping in atomic context, and of the DMA API; by gcc.
    Locks,
    /// With checks of memory: of accesses (KASAN), of indices and shifts (UBSAN), and of lost allocations (kmemleak);
    /// by clang, which KASAN in Rust code needs.
    Memory,
}

impl Flavour {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Debian,
        Self::Released,
        Self::Previous,
        Self::Locks,
        Self::Memory,
    ];

    /// Returns the kernel that the environment variable `PEERLANE_KERNEL` names; Debian's own if it is not set.
    ///
    /// # Errors
    /// When no kernel has that name.
    pub fn chosen() -> Result<Self> {
        match env::var(CHOICE).ok().filter(|name| !name.is_empty()) {
            None => Ok(Self::Debian),
            Some(name) => Self::named(&name).ok_or_else(|| Error::Missing {
                what: format!("the kernel `{name}`"),
                looked_for: Self::ALL.map(Self::name).join(", "),
                hint: format!("set {CHOICE} to one of these names, or unset it"),
            }),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flavour| flavour.name() == name)
    }

    /// Returns its name, for people and directories.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debian => "debian",
            Self::Released => "6.12",
            Self::Previous => "7.2",
            Self::Locks => "locks",
            Self::Memory => "memory",
        }
    }

    /// Returns the series of Linux.
    pub fn series(self) -> &'static str {
        match self {
            Self::Released => "6.12",
            Self::Previous => "7.2",
            Self::Debian | Self::Locks | Self::Memory => LINUX_SERIES,
        }
    }

    /// Returns the checks that it is built with, if it is built here.
    fn checks(self) -> Option<&'static str> {
        match self {
            Self::Debian | Self::Released | Self::Previous => None,
            Self::Locks => Some(debug::LOCKS),
            Self::Memory => Some(debug::MEMORY),
        }
    }

    /// Returns the compiler of the kernel, and so of its modules, in the form that kbuild takes.
    fn compiler(self) -> &'static str {
        match self {
            Self::Debian | Self::Released | Self::Previous | Self::Locks => {
                "CC=x86_64-linux-gnu-gcc-14"
            }
            Self::Memory => "CC=clang-19",
        }
    }
}

/// Names a flavour.
const CHOICE: &str = "PEERLANE_KERNEL";
/// Place of the kernel's directory `src` in the toolchain's root. Headers have this path in their makefiles.
const SOURCES: &str = "/usr/src";
/// The files that modules are built against, below `src`.
const BUILD: &str = "build";
const VMLINUZ: &str = "vmlinuz";
const RELEASE: &str = "release";
const AER_INJECT: &str = "modules/aer_inject.ko";
/// Place of a module's build directory in the root.
const MODULE: &str = "/module";
/// The rules by which a module in Rust is built, in its directory, and a line that includes them.
const RULES: &str = "crate/rules.mk";
/// The directory of the kernel crate in a module's.
const CRATE: &str = "rust";

/// A kernel, and the tools to build modules for it.
#[derive(Debug, Clone)]
pub struct Kernel {
    flavour: Flavour,
    release: String,
    home: PathBuf,
    toolchain: PathBuf,
    /// The kernel crate's source.
    kernel_crate: PathBuf,
}

/// Result of [`Kernel::build`].
#[derive(Debug)]
pub struct Modules {
    /// The modules, `*.ko`, in the build directory.
    pub files: Vec<PathBuf>,
    /// All complaints of the compilers and kbuild. Empty if there were none.
    pub warnings: String,
}

/// The way in which [`Kernel::build`] compiles Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lint {
    /// With rustc.
    Compiler,
    /// With clippy, as the kernel's own build does for `CLIPPY=1`.
    Clippy,
}

impl Kernel {
    /// Returns the kernel's flavour.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Returns its release, as `uname -r` reports it.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the kernel crate's source, which modules in Rust get.
    pub fn kernel_crate(&self) -> &Path {
        &self.kernel_crate
    }

    /// Returns the kernel's image, which a machine boots.
    pub fn vmlinuz(&self) -> PathBuf {
        self.home.join(VMLINUZ)
    }

    /// Returns the module `aer_inject`, which injects errors into a device's PCIe error registers.
    pub fn aer_inject(&self) -> PathBuf {
        self.home.join(AER_INJECT)
    }

    /// Builds the modules of the directory `source` in the directory `out`, which is created when missing, and gets a
    /// copy of `source`. `source` has a `Kbuild` file and is not written. A module in Rust, whose `Kbuild` includes
    /// `crate/rules.mk`, gets the kernel crate.
    ///
    /// Files that an earlier build left in `out` are used again; warnings about them are not repeated.
    ///
    /// # Errors
    /// [`Error::Module`] with the compilers' output when they refuse the source; file errors.
    pub fn build(&self, source: &Path, out: &Path, lint: Lint) -> Result<Modules> {
        copy_changed(source, out)?;
        let out = out.canonicalize().map_err(io_error("open", out))?;
        let kbuild = out.join("Kbuild");
        let kbuild = fs::read_to_string(&kbuild).map_err(io_error("read", &kbuild))?;
        if kbuild.contains(RULES) {
            copy_changed(&self.kernel_crate, &out.join(CRATE))?;
        }
        let root = Chroot::new(&self.toolchain)
            .reads(&self.home.join("src"), SOURCES)
            .writes(&out, MODULE);
        let mut command = make(&root, self.flavour);
        command
            .args(["-s", "-C"])
            .arg(Path::new(SOURCES).join(BUILD))
            .arg(format!("M={MODULE}"));
        if lint == Lint::Clippy {
            command.arg("CLIPPY=1");
        }
        let output = process::output(command.arg("modules"))?;
        if !output.status.success() {
            return Err(Error::Module {
                source_directory: source.to_owned(),
                release: self.release.clone(),
                output: text(&output).trim_end().to_owned(),
            });
        }
        let mut files: Vec<PathBuf> = fs::read_dir(&out)
            .map_err(io_error("read", &out))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "ko"))
            .collect();
        files.sort();
        Ok(Modules {
            files,
            warnings: String::from_utf8_lossy(&output.stderr)
                .trim_end()
                .to_owned(),
        })
    }
}

impl Cache {
    /// Returns a kernel and the tools to build modules for it. Debian's own take a few minutes to set up, each of the
    /// others ten or more.
    ///
    /// # Errors
    /// As [`Cache::qemu`]; when the machine does not let programs run in a root of their own; when Debian has no kernel
    /// of the series any more.
    pub fn kernel(&self, flavour: Flavour) -> Result<Kernel> {
        chroot::check("the kernel's build")?;
        let (toolchain_recipe, toolchain) = toolchain::install(self)?;
        let kernel_crate = self.kernel_crate()?;
        let made = match flavour.checks() {
            None => "Debian packages",
            Some(_) => "compiled from Debian's source, ten minutes or more",
        };
        let series = flavour.series();
        let label = format!("Linux {series}, {} ({made})", flavour.name());
        let recipe = Recipe::new(&format!("linux-{series}-{}", flavour.name()), &label)
            .part(toolchain_recipe)
            .part(match flavour.checks() {
                None => stock::KEY.to_owned(),
                Some(checks) => debug::key(checks),
            })
            .requires(VMLINUZ)
            .requires(RELEASE)
            .requires(AER_INJECT)
            .requires(Path::new("src").join(BUILD).join("Module.symvers"));
        let home = self.install(&recipe, |home, progress| {
            let setup = Setup {
                cache: self,
                flavour,
                toolchain: &toolchain,
                home,
                progress,
            };
            let release = match flavour.checks() {
                None => stock::install(&setup)?,
                Some(checks) => debug::install(&setup, checks)?,
            };
            let path = home.join(RELEASE);
            fs::write(&path, release).map_err(io_error("write", &path))
        })?;
        let path = home.join(RELEASE);
        let release = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        Ok(Kernel {
            flavour,
            release,
            home,
            toolchain,
            kernel_crate,
        })
    }
}

/// Copies the files of a directory that differ from those in `to`, without hidden ones: an installation in the cache has
/// a stamp.
///
/// # Errors
/// File errors.
pub fn copy_changed(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(io_error("create", to))?;
    for entry in fs::read_dir(from)
        .map_err(io_error("read", from))?
        .flatten()
    {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if from.is_dir() {
            copy_changed(&from, &to)?;
            continue;
        }
        let content = fs::read(&from).map_err(io_error("read", &from))?;
        if fs::read(&to).ok().as_ref() != Some(&content) {
            fs::write(&to, content).map_err(io_error("write", &to))?;
        }
    }
    Ok(())
}

/// A kernel being set up.
struct Setup<'a> {
    cache: &'a Cache,
    flavour: Flavour,
    toolchain: &'a Path,
    /// Becomes the kernel's directory in the cache.
    home: &'a Path,
    progress: &'a Progress,
}

impl Setup<'_> {
    /// Returns the toolchain's root with the kernel's sources in it, writable.
    fn root(&self) -> Chroot {
        Chroot::new(self.toolchain).writes(&self.home.join("src"), SOURCES)
    }

    /// Returns a path below `src`.
    fn source(&self, path: impl AsRef<Path>) -> PathBuf {
        self.home.join("src").join(path)
    }

    /// Runs a command of the set-up.
    fn run(&self, command: &mut Command) -> Result<Output> {
        let output = process::output(command)?;
        if output.status.success() {
            return Ok(output);
        }
        Err(self.failure(tail(&text(&output), 12)))
    }

    fn failure(&self, detail: String) -> Error {
        Error::Install {
            tool: format!("Linux {}, {}", self.flavour.series(), self.flavour.name()),
            detail,
            hint: "check the free space of the cache directory; if the error persists, Debian's \
                     packages have changed, and Peerlane needs an update"
                .to_owned(),
        }
    }

    /// Builds `aer_inject` out of the kernel's source in `source` (below `src`) against the files that [`BUILD`] links
    /// to.
    fn aer_inject(&self, source: &str) -> Result<()> {
        let place = format!("{source}/drivers/pci/pcie");
        let mut command = make(&self.root(), self.flavour);
        command
            .args(["-s", "-C"])
            .arg(Path::new(SOURCES).join(BUILD))
            .arg(format!("M={SOURCES}/{place}"))
            .args(["CONFIG_PCIEAER_INJECT=m", "aer_inject.ko"]);
        self.run(&mut command)?;
        let module = self.home.join(AER_INJECT);
        let directory = self.home.join("modules");
        fs::create_dir(&directory).map_err(io_error("create", &directory))?;
        fs::rename(self.source(place).join("aer_inject.ko"), &module)
            .map_err(io_error("rename to", &module))
    }
}

/// Returns kbuild in `root`, with the arguments of every run of it.
fn make(root: &Chroot, flavour: Flavour) -> Command {
    let mut command = root.command("make");
    command
        .args([
            "ARCH=x86",
            "CROSS_COMPILE=x86_64-linux-gnu-",
            flavour.compiler(),
            "HOSTCC=gcc-14",
        ])
        // Otherwise the build asks the system, and the root has no answer.
        .args(["KBUILD_BUILD_USER=peerlane", "KBUILD_BUILD_HOST=peerlane"]);
    command
}
