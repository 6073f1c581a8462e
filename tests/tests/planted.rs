//! Tests of the kernels with checks: a bug of each kind that they look for is injected, must be reported, and the
//! report must fail the machine as it would for the driver.

use std::path::Path;

use peerlane_tools::{Cache, Flavour, Kernel, Lint, Qemu, copy_changed};
use peerlane_vm::{Error, Initramfs, Machine, Qmp};
use serde_json::{Value, json};

/// One of the kernels, with the module of `tests/planted`.
struct Planted {
    qemu: Qemu,
    kernel: Kernel,
    // The directory that contains the module.
    built: tempfile::TempDir,
}

impl Planted {
    fn new(flavour: Flavour) -> Self {
        let cache = Cache::open().unwrap();
        let kernel = cache.kernel(flavour).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let built = tempfile::tempdir().unwrap();
        // The rules by which the driver is built.
        copy_changed(&root.join("../driver/crate"), &built.path().join("crate")).unwrap();
        let modules = kernel
            .build(&root.join("planted"), built.path(), Lint::Compiler)
            .unwrap();
        assert_eq!(modules.warnings, "");
        Self {
            qemu: cache.qemu().unwrap(),
            kernel,
            built,
        }
    }

    /// Runs a machine with a bug, by its number in the module.
    fn run(&self, bug: u32) -> Result<(), Error> {
        let mut files = Initramfs::new(&self.qemu)?;
        files.module(&self.built.path().join("planted.ko"))?;
        files.script(&format!(
            "insmod /modules/planted.ko bug={bug}\n\
             test -e /sys/bus/pci/drivers/planted/0000:*\n\
             rmmod planted"
        ));
        let machine = Machine::new(&self.qemu, &self.kernel, files)
            .device(json!({ "driver": "pci-testdev", "id": "bugs" }));
        machine.start()?.run(no_question).map(drop)
    }

    /// Runs a machine with each of the bugs, and looks for the report. Without a bug there must be none.
    fn reports(&self, bugs: &[(u32, &str)]) {
        self.run(0).unwrap();
        for (bug, report) in bugs {
            match self.run(*bug) {
                Err(Error::Kernel { complaints, .. }) if complaints.contains(report) => {}
                other => panic!("bug {bug}, expected `{report}`: {other:?}"),
            }
        }
    }
}

/// Fails: the programs in the machine ask nothing.
fn no_question(_: &mut Qmp, question: Value) {
    panic!("asked {question}");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-checks"]
fn locks_sleeping_and_dma() {
    Planted::new(Flavour::Locks).reports(&[
        (1, "possible circular locking dependency"),
        (2, "sleeping function called from invalid context"),
        (3, "device driver has pending DMA allocations"),
        (
            4,
            "device driver tries to free DMA memory it has not allocated",
        ),
    ]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-checks"]
fn memory() {
    Planted::new(Flavour::Memory).reports(&[
        (5, "KASAN: slab-use-after-free"),
        (6, "KASAN: slab-out-of-bounds"),
        (7, "UBSAN: shift-out-of-bounds"),
        (8, "unreferenced object"),
    ]);
}
