//! Tests the driver's package for DKMS on a Debian system, made as docs/install.md describes.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use peerlane_tools::{Cache, Flavour, Kernel, System, copy_changed};
use peerlane_vm::{Initramfs, Machine};

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../driver");

/// A new system for each test.
struct Administrator {
    kernel: Kernel,
    system: System,
    changes: tempfile::TempDir,
    /// The directory that `cargo xtask driver --source` writes.
    source: tempfile::TempDir,
}

impl Administrator {
    fn new(flavour: Flavour) -> Self {
        let cache = Cache::open().unwrap();
        let kernel = cache.kernel(flavour).unwrap();
        let source = tempfile::tempdir().unwrap();
        copy_changed(Path::new(DRIVER), source.path()).unwrap();
        copy_changed(kernel.kernel_crate(), &source.path().join("rust")).unwrap();
        let steps = document("install.md").replace("$(uname -r)", kernel.release());
        let packages: Vec<&str> = steps
            .lines()
            .find_map(|line| line.strip_prefix("apt install "))
            .unwrap()
            .split(' ')
            .collect();
        Self {
            system: cache.system(&packages).unwrap(),
            kernel,
            changes: tempfile::tempdir().unwrap(),
            source,
        }
    }

    fn command(&self, program: &str) -> Command {
        self.system
            .command(program, self.source.path(), self.changes.path())
    }

    /// Runs a command of a shell. Returns its output, and whether it succeeds. `$release` in it is the kernel's.
    fn tries(&self, line: &str) -> (String, bool) {
        let line = format!("release={}; {line}", self.kernel.release());
        let output = self.command("sh").args(["-c", &line]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            String::from_utf8_lossy(&text).into_owned(),
            output.status.success(),
        )
    }

    /// Runs a command that must succeed, and returns its output.
    fn does(&self, line: &str) -> String {
        let (said, success) = self.tries(line);
        assert!(success, "{line}:\n{said}");
        said
    }

    /// Runs a command that must fail, and returns its output.
    fn fails(&self, line: &str) -> String {
        let (said, success) = self.tries(line);
        assert!(!success, "{line}:\n{said}");
        said
    }

    /// Lists all files with the driver's name, except its source, and the kernel's lists that have it.
    fn traces(&self) -> String {
        self.does(
            "find / -xdev -ipath '*peerlane*' -not -path '/usr/src/peerlane-0.1.0*'; \
             grep -rl peerlane /lib/modules || :",
        )
    }

    /// Returns the path of a file of the system that commands have made.
    fn made(&self, path: &str) -> PathBuf {
        self.changes.path().join("upper").join(path)
    }
}

/// Returns the text of a document, by its path in `docs`.
fn document(path: &str) -> String {
    fs::read_to_string(Path::new(DRIVER).join("../docs").join(path)).unwrap()
}

/// Returns the values of a field in the output of `modinfo`.
fn field<'a>(modinfo: &'a str, name: &str) -> Vec<&'a str> {
    modinfo
        .lines()
        .filter_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
        .collect()
}

#[test]
#[ignore = "external tools: cargo xtask test dkms"]
fn it_is_built_installed_loaded_and_removed_on_7_3() {
    built_installed_loaded_and_removed(Flavour::Debian);
}

/// A kernel without `CONFIG_RUST`.
#[test]
#[ignore = "external tools: cargo xtask test dkms"]
fn it_is_built_installed_loaded_and_removed_on_6_12() {
    built_installed_loaded_and_removed(Flavour::Released);
}

fn built_installed_loaded_and_removed(flavour: Flavour) {
    let administrator = Administrator::new(flavour);
    let release = administrator.kernel.release();
    let before = administrator.traces();
    // Installing the kernel itself runs this, too.
    administrator.does("depmod $release");
    administrator.does("dkms add /mnt");
    administrator.does("dkms install peerlane/0.1.0 -k $release || { cat /var/lib/dkms/peerlane/0.1.0/build/make.log; false; }");
    let status = administrator.does("dkms status");
    assert_eq!(
        status.trim(),
        format!("peerlane/0.1.0, {release}, x86_64: installed")
    );

    // Check the output of `modinfo`.
    let modinfo = administrator.does("modinfo -k $release peerlane");
    assert_eq!(field(&modinfo, "license"), ["GPL"]);
    assert_eq!(field(&modinfo, "author"), ["The Peerlane authors"]);
    assert_eq!(field(&modinfo, "version"), ["0.1.0"]);
    assert_eq!(field(&modinfo, "description").len(), 1);
    assert_eq!(field(&modinfo, "alias"), ["pci:v*d*sv*sd0000504Cbc*sc*i*"]);
    assert_eq!(
        field(&modinfo, "vermagic")[0].split(' ').next(),
        Some(release)
    );
    // The suite secure-boot enrols this key.
    assert_eq!(field(&modinfo, "signer"), ["DKMS module signing key"]);
    let parameters: BTreeSet<&str> = field(&modinfo, "parm")
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    let parameter_table = document("operate/driver.md");
    let documented: BTreeSet<&str> = parameter_table
        .lines()
        .skip_while(|line| !line.starts_with("| parameter |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert!(!parameters.is_empty());
    assert_eq!(parameters, documented);

    // The module loads into that kernel. DKMS compresses it where the kernel's own modules are compressed.
    let copy = "root/peerlane.ko";
    administrator.does(&format!(
        "module=$(modinfo -k $release -n peerlane)
         case $module in *.xz) xz -dc $module;; *) cat $module;; esac > /{copy}",
    ));
    let qemu = Cache::open().unwrap().qemu().unwrap();
    let mut files = Initramfs::new(&qemu).unwrap();
    files.module(&administrator.made(copy)).unwrap();
    files.script(
        "insmod /modules/peerlane.ko\ntest $(cat /sys/module/peerlane/version) = 0.1.0\n\
         test -d /sys/bus/pci/drivers/peerlane\nrmmod peerlane",
    );
    // An emulated processor of the host's kind, without its newest microcode.
    let vm = Machine::new(&qemu, &administrator.kernel, files)
        .expect("Speculative Return Stack Overflow: WARNING")
        .start()
        .unwrap();
    vm.run(|_, question: String| question).unwrap();

    administrator.does(&format!("rm /{copy}; dkms remove peerlane/0.1.0 --all"));
    assert_eq!(administrator.traces(), before);
}

#[test]
#[ignore = "external tools: cargo xtask test dkms"]
fn what_is_missing_is_named_with_the_package_that_has_it() {
    let administrator = Administrator::new(Flavour::Released);
    administrator.does("dkms add /mnt && rm /usr/bin/bindgen");
    administrator.fails("dkms build peerlane/0.1.0 -k $release");
    let log = administrator.does("cat /var/lib/dkms/peerlane/0.1.0/build/make.log");
    assert!(log.contains("apt install bindgen"), "{log}");
}
