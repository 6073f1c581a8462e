//! Kernels as Debian releases ship them, with their modules of VFIO. Nothing is built for them, so that no compiler is
//! needed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Kernel, LINUX_SERIES, RELEASE, VMLINUZ, source};
use crate::{
    Cache, Error, Progress, Recipe, Result, debian::Debian, error::io_error, process, process::tail,
};

/// A series of Linux, by the Debian suite that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Series {
    /// Debian 12.
    Bookworm,
    /// Debian 13.
    Trixie,
    /// The backports for Debian 13, with the series that the driver is written for.
    Backports,
}

impl Series {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::Bookworm, Self::Trixie, Self::Backports];

    /// Returns its number.
    pub fn number(self) -> &'static str {
        match self {
            Self::Bookworm => "6.1",
            Self::Trixie => "6.12",
            Self::Backports => LINUX_SERIES,
        }
    }

    fn open(self, cache: &Cache, progress: &Progress) -> Result<Debian> {
        let tool = format!("Linux {}", self.number());
        match self {
            Self::Bookworm => Debian::old(cache, &tool, progress),
            Self::Trixie | Self::Backports => Debian::open(cache, &tool, progress),
        }
    }
}

/// A kernel, and the modules with which a program uses a PCIe device by VFIO.
#[derive(Debug, Clone)]
pub struct ShippedKernel {
    release: String,
    home: PathBuf,
    modules: Vec<PathBuf>,
}

impl ShippedKernel {
    /// Returns its release, as `uname -r` reports it.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the kernel's image, which a machine boots.
    pub fn vmlinuz(&self) -> PathBuf {
        self.home.join(VMLINUZ)
    }

    /// Returns the modules, not compressed, each after those that it needs.
    pub fn modules(&self) -> &[PathBuf] {
        &self.modules
    }
}

/// The modules that nothing loads by itself in a machine without `modprobe`, for any PCIe device and any IOMMU of x86.
const ASKED: [&str; 2] = ["vfio_iommu_type1", "vfio-pci"];
/// The modules' directory, and the file with their names in the order in which they are loaded.
const MODULES: &str = "modules";
const ORDER: &str = "modules/order";

impl Cache {
    /// Returns the newest kernel of a series, with its modules of VFIO and those that these need. Its packages have
    /// about 100 MB.
    ///
    /// # Errors
    /// As [`Cache::qemu`]; when Debian has no kernel of the series any more, or the kernel has no such module.
    pub fn shipped_kernel(&self, series: Series) -> Result<ShippedKernel> {
        // Unpacks modules. Before the lock of this installation.
        let busybox = self.qemu()?.busybox();
        let number = series.number();
        let label = format!("Linux {number} (Debian packages)");
        let recipe = Recipe::new(&format!("linux-{number}-shipped"), &label)
            .part("1")
            .part(ASKED.join(" "))
            .requires(VMLINUZ)
            .requires(RELEASE)
            .requires(ORDER);
        let home = self.install(&recipe, |home, progress| {
            let debian = series.open(self, progress)?;
            let version = source::newest(&debian, number)?;
            let release = format!("{version}-amd64");
            let work = home.join("packages");
            fs::create_dir(&work).map_err(io_error("create", &work))?;
            debian.unpack_only(&packages(&debian, &release)?, &work, progress)?;
            drop(debian);

            let unpacked = Unpacked {
                release: &release,
                work: &work,
                busybox: &busybox,
            };
            let image = unpacked.image()?;
            let vmlinuz = home.join(VMLINUZ);
            fs::rename(&image, &vmlinuz).map_err(io_error("rename", &image))?;
            progress.step("collecting the modules");
            unpacked.collect(&ASKED, home)?;
            fs::remove_dir_all(&work).map_err(io_error("remove", &work))?;
            let path = home.join(RELEASE);
            fs::write(&path, release).map_err(io_error("write", &path))
        })?;
        Ok(ShippedKernel {
            release: read(&home, RELEASE)?,
            modules: collected(&home)?,
            home,
        })
    }

    /// Returns modules of a kernel as Debian ships it, not compressed, each after those that it needs. The package with
    /// all of them has about 100 MB.
    ///
    /// # Errors
    /// As [`Cache::shipped_kernel`]; when Debian no longer has this release of the kernel.
    pub fn modules(&self, kernel: &Kernel, names: &[&str]) -> Result<Vec<PathBuf>> {
        // As for a shipped kernel.
        let busybox = self.qemu()?.busybox();
        let release = kernel.release();
        let label = format!("modules of Linux {release} (Debian packages)");
        let recipe = Recipe::new("linux-modules", &label)
            .part("1")
            .part(release)
            .part(names.join(" "))
            .requires(ORDER);
        let home = self.install(&recipe, |home, progress| {
            let work = home.join("packages");
            fs::create_dir(&work).map_err(io_error("create", &work))?;
            Debian::open(self, &label, progress)?.unpack_only(
                &[format!("linux-modules-{release}")],
                &work,
                progress,
            )?;
            let unpacked = Unpacked {
                release,
                work: &work,
                busybox: &busybox,
            };
            unpacked.collect(names, home)?;
            fs::remove_dir_all(&work).map_err(io_error("remove", &work))
        })?;
        collected(&home)
    }
}

/// Reads a file of an installation.
fn read(home: &Path, name: &str) -> Result<String> {
    let path = home.join(name);
    fs::read_to_string(&path).map_err(io_error("read", &path))
}

/// Returns the modules of an installation, each after those that it needs.
fn collected(home: &Path) -> Result<Vec<PathBuf>> {
    let order = read(home, ORDER)?;
    let paths = order.lines().map(|name| home.join(MODULES).join(name));
    Ok(paths.collect())
}

/// Returns the packages that have the image and the modules of a release; the image is in the first.
pub(super) fn packages(debian: &Debian, release: &str) -> Result<Vec<String>> {
    let modules = format!("linux-modules-{release}");
    // Before Linux 6.19 Debian had both in one package.
    Ok(match debian.names(&modules)?.contains(&modules) {
        true => vec![debian.linux_binary(release)?, modules],
        false => vec![format!("linux-image-{release}")],
    })
}

/// Returns the place of a kernel's image in its unpacked packages.
pub(super) fn image(work: &Path, release: &str) -> Option<PathBuf> {
    let places = [
        work.join(format!("usr/lib/modules/{release}/vmlinuz")),
        work.join(format!("boot/vmlinuz-{release}")),
    ];
    places.into_iter().find(|place| place.exists())
}

/// The unpacked packages of a kernel.
struct Unpacked<'a> {
    release: &'a str,
    work: &'a Path,
    busybox: &'a Path,
}

impl Unpacked<'_> {
    /// Returns the place of the image.
    fn image(&self) -> Result<PathBuf> {
        let found = image(self.work, self.release);
        found.ok_or_else(|| self.changed("its packages contain no vmlinuz".to_owned()))
    }

    /// Copies modules, and those that they need, to the kernel's directory `home`.
    fn collect(&self, names: &[&str], home: &Path) -> Result<()> {
        let directory = home.join(MODULES);
        fs::create_dir(&directory).map_err(io_error("create", &directory))?;
        // `/lib` is a link on systems, and not in packages of Debian 12.
        let trees = ["lib", "usr/lib"].map(|lib| self.work.join(lib).join(MODULES));
        let mut files = BTreeMap::new();
        for tree in trees.iter().filter(|tree| tree.exists()) {
            find_modules(tree, &mut files)?;
        }
        let mut order = Vec::new();
        for name in names {
            self.copy(name, &files, &directory, &mut order)?;
        }
        let path = home.join(ORDER);
        let lines: Vec<_> = order.iter().map(|name| format!("{name}.ko\n")).collect();
        fs::write(&path, lines.concat()).map_err(io_error("write", &path))
    }

    /// Copies a module, after those that it needs, unless it is in `order`.
    fn copy(
        &self,
        name: &str,
        files: &BTreeMap<String, PathBuf>,
        directory: &Path,
        order: &mut Vec<String>,
    ) -> Result<()> {
        let name = identifier(name);
        if order.contains(&name) {
            return Ok(());
        }
        let Some(file) = files.get(&name) else {
            return Err(self.changed(format!("it has no module {name}")));
        };
        let content = self.content(file)?;
        let needed = needed_by(&content)
            .ok_or_else(|| self.changed(format!("the module {name} has no field `depends`")))?;
        for needed in needed {
            self.copy(&needed, files, directory, order)?;
        }
        let target = directory.join(format!("{name}.ko"));
        fs::write(&target, content).map_err(io_error("write", &target))?;
        order.push(name);
        Ok(())
    }

    /// Returns a module's content, not compressed. Its signature is part of it.
    fn content(&self, file: &Path) -> Result<Vec<u8>> {
        if file.extension().is_some_and(|kind| kind == "ko") {
            return fs::read(file).map_err(io_error("read", file));
        }
        let output = process::output(Command::new(self.busybox).arg("xzcat").arg(file))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(self.changed(format!("{} is damaged: {}", file.display(), tail(&said, 2))))
    }

    fn changed(&self, detail: String) -> Error {
        Error::Install {
            tool: format!("Linux {}", self.release),
            detail,
            hint: "Debian's packages have changed, and Peerlane needs an update; \
                   PEERLANE_DEBIAN_MIRROR may name a snapshot of a mirror from before"
                .to_owned(),
        }
    }
}

/// Finds all modules in a directory and the directories in it.
fn find_modules(directory: &Path, found: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).map_err(io_error("read", directory))? {
        let path = entry.map_err(io_error("read", directory))?.path();
        // Not through links.
        if path.is_dir() && !path.is_symlink() {
            find_modules(&path, found)?;
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && let Some(name) = name.strip_suffix(".ko.xz").or(name.strip_suffix(".ko"))
        {
            found.insert(identifier(name), path);
        }
    }
    Ok(())
}

/// Returns a module's name in the form in which `lsmod` has it: files and fields also have it with hyphens.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

/// Returns the names of the modules that a module needs, out of its field `depends`.
fn needed_by(module: &[u8]) -> Option<Vec<String>> {
    // All fields of the section .modinfo are strings that end with a zero.
    let mut fields = module.split(|byte| *byte == 0);
    let names = fields.find_map(|field| field.strip_prefix(b"depends="))?;
    let names = str::from_utf8(names).ok()?.split(',');
    Some(
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a file with the fields of a module.
    fn module(directory: &Path, name: &str, depends: &str) {
        let text = format!("\u{7f}ELF\0license=GPL\0depends={depends}\0name={name}\0");
        fs::write(directory.join(name), text).unwrap();
    }

    fn order(modules: &[(&str, &str)], asked: &[&str]) -> Result<String> {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("packages");
        let tree = work.join("lib/modules/6.1.0-50-amd64/kernel/drivers");
        fs::create_dir_all(&tree).unwrap();
        for (name, depends) in modules {
            module(&tree, name, depends);
        }
        let unpacked = Unpacked {
            release: "6.1.0-50-amd64",
            work: &work,
            busybox: Path::new("/none"),
        };
        unpacked.collect(asked, home.path())?;
        let order = fs::read_to_string(home.path().join(ORDER)).unwrap();
        assert!(
            order
                .lines()
                .all(|name| home.path().join(MODULES).join(name).exists())
        );
        Ok(order)
    }

    #[test]
    fn a_module_comes_once_and_after_those_that_it_needs() {
        // Of Linux 6.1.
        let modules = [
            ("vfio-pci.ko", "vfio-pci-core,vfio"),
            ("vfio-pci-core.ko", "vfio,vfio_virqfd"),
            ("vfio.ko", ""),
            ("vfio_virqfd.ko", ""),
            ("mdev.ko", ""),
            ("vfio_iommu_type1.ko", "vfio"),
        ];
        assert_eq!(
            order(&modules, &["vfio_iommu_type1", "vfio-pci"]).unwrap(),
            "vfio.ko\nvfio_iommu_type1.ko\nvfio_virqfd.ko\nvfio_pci_core.ko\nvfio_pci.ko\n"
        );
    }

    #[test]
    fn a_module_that_is_not_there_is_named() {
        let modules = [("vfio-pci.ko", "vfio-pci-core")];
        let error = order(&modules, &["vfio-pci"]).unwrap_err().to_string();
        assert!(error.contains("6.1.0-50-amd64"), "{error}");
        assert!(error.contains("no module vfio_pci_core"), "{error}");
    }
}
