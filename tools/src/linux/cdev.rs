//! Modules of VFIO with iommufd, which no kernel of Debian has: `CONFIG_IOMMUFD` and `CONFIG_VFIO_DEVICE_CDEV`, and
//! neither `CONFIG_VFIO_GROUP` nor `CONFIG_VFIO_CONTAINER`. They are built from Debian's source, and loaded into the
//! kernel as Debian ships it, which exports all that they need.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Kernel, Lint, source};
use crate::{Cache, Recipe, Result, debian::Debian, error::io_error};

/// Files and directories of the kernel's source that are taken, as tar's patterns below its directory.
const TAKEN: [&str; 4] = [
    "drivers/vfio",
    "drivers/iommu/iommufd",
    "drivers/iommu/*.h",
    "lib/interval_tree.c",
];

/// The rules by which the modules are built.
const KBUILD: &str = "\
ccflags-y += -I$(src)/iommufd -include $(src)/options.h
obj-m := iommufd_driver.o iommufd.o vfio.o vfio-pci-core.o vfio-pci.o
iommufd_driver-y := iommufd/driver.o iommufd/iova_bitmap.o
iommufd-y := $(addprefix iommufd/, device.o eventq.o hw_pagetable.o io_pagetable.o ioas.o main.o pages.o \
	vfio_compat.o viommu.o span.o)
vfio-y := $(addprefix vfio/, vfio_main.o device_cdev.o iommufd.o virqfd.o)
vfio-pci-core-y := $(addprefix vfio/pci/, vfio_pci_core.o vfio_pci_intrs.o vfio_pci_rdwr.o vfio_pci_config.o \
	vfio_pci_dmabuf.o)
vfio-pci-y := $(addprefix vfio/pci/, vfio_pci.o vfio_pci_igd.o)
";

/// The options that differ from the kernel's.
const OPTIONS: &str = "\
#define CONFIG_IOMMUFD_MODULE 1
#define CONFIG_IOMMUFD_DRIVER 1
#define CONFIG_IOMMUFD_DRIVER_CORE 1
#define CONFIG_INTERVAL_TREE_SPAN_ITER 1
#define CONFIG_VFIO_DEVICE_CDEV 1
#undef CONFIG_VFIO_GROUP
#undef CONFIG_VFIO_CONTAINER
";

/// The beginning of a part of `lib/interval_tree.c` that the kernel has only with iommufd.
const SPAN: &str = "#ifdef CONFIG_INTERVAL_TREE_SPAN_ITER\n";

/// The modules in the order in which they are loaded, after `irqbypass`.
const ORDER: [&str; 5] = [
    "iommufd_driver.ko",
    "iommufd.ko",
    "vfio.ko",
    "vfio-pci-core.ko",
    "vfio-pci.ko",
];

impl Cache {
    /// Returns modules for a kernel of Debian with which programs reach a PCIe device by iommufd, and not by a group of
    /// VFIO; each after those that it needs. They are built in a minute.
    ///
    /// # Errors
    /// As [`Cache::kernel`].
    pub fn cdev_modules(&self, kernel: &Kernel) -> Result<Vec<PathBuf>> {
        let release = kernel.release();
        let tool = format!("VFIO with iommufd for Linux {release}");
        let mut recipe = Recipe::new("linux-cdev", &tool)
            .part(release)
            .part(TAKEN.join("\n"))
            .part(KBUILD)
            .part(OPTIONS);
        for module in ORDER {
            recipe = recipe.requires(module);
        }
        let mut modules = self.modules(kernel, &["irqbypass"])?;
        let home = self.install(&recipe, |home, progress| {
            let work =
                tempfile::tempdir_in(home).map_err(io_error("create a directory in", home))?;
            let debian = Debian::open(self, &tool, progress)?;
            let (series, from) = (kernel.flavour().series(), (tool.as_str(), progress));
            let unpacked = source::unpack_to(work.path(), &debian, series, &TAKEN, from)?;
            drop(debian);
            progress.step("building the modules");
            let out = arranged(&unpacked)?;
            kernel.build(&out, &work.path().join("built"), Lint::Compiler)?;
            for module in ORDER {
                let built = work.path().join("built").join(module);
                fs::copy(&built, home.join(module)).map_err(io_error("copy", &built))?;
            }
            Ok(())
        })?;
        modules.extend(ORDER.map(|module| home.join(module)));
        Ok(modules)
    }
}

/// Arranges the kernel's source as [`KBUILD`] has it, and returns the directory.
fn arranged(unpacked: &Path) -> Result<PathBuf> {
    let drivers = unpacked.join("drivers");
    let iommu = drivers.join("iommu");
    let vfio = iommu.join("vfio");
    fs::rename(drivers.join("vfio"), &vfio).map_err(io_error("rename to", &vfio))?;
    let write = |name: &str, content: &str| {
        let path = iommu.join(name);
        fs::write(&path, content).map_err(io_error("write", &path))
    };
    let tree = unpacked.join("lib/interval_tree.c");
    let tree = fs::read_to_string(&tree).map_err(io_error("read", &tree))?;
    let span = tree.find(SPAN).map_or("", |start| &tree[start..]);
    write(
        "iommufd/span.c",
        &format!("#include <linux/interval_tree.h>\n#include <linux/export.h>\n{span}"),
    )?;
    write("options.h", OPTIONS)?;
    write("Kbuild", KBUILD)?;
    // Rules of the kernel's own build.
    for rules in ["iommufd/Makefile", "vfio/Makefile", "vfio/pci/Makefile"] {
        let path = iommu.join(rules);
        fs::remove_file(&path).map_err(io_error("remove", &path))?;
    }
    Ok(iommu)
}
