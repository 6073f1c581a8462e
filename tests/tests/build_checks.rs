//! The check before the driver is built (`driver/crate/check.sh`), with configurations of kernels and compilers that are
//! files of a line or two; the compile tests (`driver/crate/probe.sh`) with a compiler that is a script; and the
//! rules (`driver/crate/rules.mk`), with such compilers and several kernels.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../driver/crate");

/// Options of a kernel that the driver can be built for.
const GOOD: [&str; 5] = [
    "X86_64=y",
    "DMA_SHARED_BUFFER=y",
    "FW_LOADER=m",
    "MMU_NOTIFIER=y",
    "PCI_MSI=y",
];

fn program(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the check for a kernel with these options, and compilers of these versions. Returns the message if it refuses.
fn refusal(options: &[&str], rustc: Option<&str>, bindgen: Option<&str>) -> Option<String> {
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    let options: String = options
        .iter()
        .map(|option| format!("CONFIG_{option}\n"))
        .collect();
    fs::write(at("auto.conf"), options).unwrap();
    let library = at("sysroot/lib/rustlib/src/rust/library/core/src");
    fs::create_dir_all(&library).unwrap();
    fs::write(library.join("lib.rs"), "").unwrap();
    if let Some(version) = rustc {
        let sysroot = at("sysroot");
        program(
            &at("rustc"),
            &format!(
                "case $1 in --print) echo {};; *) echo 'rustc {version}';; esac",
                sysroot.display()
            ),
        );
    }
    if let Some(version) = bindgen {
        program(&at("bindgen"), &format!("echo 'bindgen {version}'"));
    }
    let output = Command::new("/bin/sh")
        .arg(Path::new(SCRIPTS).join("check.sh"))
        .args([at("auto.conf"), at("rustc"), at("bindgen")])
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    match output.status.success() {
        true => {
            assert_eq!(text, "");
            None
        }
        false => Some(text),
    }
}

const RUSTC: Option<&str> = Some("1.85.1 (4eb161250 2025-03-15) (built from a source tarball)");
const BINDGEN: Option<&str> = Some("0.71.1");

#[test]
fn a_kernel_and_compilers_that_fit_are_taken() {
    assert_eq!(refusal(&GOOD, RUSTC, BINDGEN), None);
    for (rustc, bindgen) in [("1.100.0-nightly", "0.72.1"), ("2.0.0", "1.0.0")] {
        assert_eq!(refusal(&GOOD, Some(rustc), Some(bindgen)), None);
    }
}

#[test]
fn each_option_that_is_missing_is_named() {
    for left_out in GOOD {
        let options: Vec<_> = GOOD
            .into_iter()
            .filter(|option| *option != left_out)
            .collect();
        let said = refusal(&options, RUSTC, BINDGEN).unwrap();
        let name = match left_out.split_once('=') {
            Some(("X86_64", _)) | None => "x86-64",
            Some((name, _)) => name,
        };
        assert!(said.contains(name), "{name}: {said}");
    }
}

#[test]
fn kernels_whose_c_code_rust_would_not_fit_are_refused() {
    for (option, reason) in [
        ("CFI_CLANG=y", "CONFIG_CFI"),
        ("CFI=y", "CONFIG_CFI"),
        ("RANDSTRUCT_FULL=y", "random order"),
        ("GCC_PLUGIN_RANDSTRUCT=y", "random order"),
        ("LTO_CLANG=y", "CONFIG_LTO_CLANG"),
    ] {
        let said = refusal(&[&GOOD[..], &[option]].concat(), RUSTC, BINDGEN).unwrap();
        assert!(said.contains(reason), "{option}: {said}");
        assert!(said.contains("peerlane bind"), "{option}: {said}");
    }
    // With `CONFIG_RUST` C has the form of types that Rust has.
    let both = [&GOOD[..], &["CFI=y", "RUST=y"]].concat();
    assert_eq!(refusal(&both, RUSTC, BINDGEN), None);
}

#[test]
fn compilers_that_are_missing_or_too_old_are_named() {
    let said = refusal(&GOOD, None, None).unwrap();
    assert!(
        said.contains("apt install rustc bindgen rust-src"),
        "{said}"
    );
    let said = refusal(&GOOD, Some("1.84.9"), BINDGEN).unwrap();
    assert!(said.contains("version 1.84, but 1.85 or later"), "{said}");
    let said = refusal(&GOOD, RUSTC, Some("0.60.1")).unwrap();
    assert!(said.contains("version 0.60, but 0.71 or later"), "{said}");
}

/// Runs the compile tests with a compiler that is a script, which gets a program on its standard input.
fn probes(compiler: &str) -> Result<String, String> {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("cc");
    program(&path, compiler);
    let output = Command::new("/bin/sh")
        .arg(Path::new(SCRIPTS).join("probe.sh"))
        .arg(Path::new(SCRIPTS).join("probes"))
        .arg(&path)
        .arg("-DX")
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn what_compiles_is_defined() {
    // A kernel that has `zap_vma_range` and `kfree`, and nothing else of the list.
    let found =
        probes("text=$(cat); case $text in *kfree*|*zap_vma_range*) ;; *) exit 1;; esac").unwrap();
    assert_eq!(found, "#define PEERLANE_HAS_ZAP_VMA_RANGE\n");
}

#[test]
fn a_compiler_that_judges_nothing_is_refused() {
    assert!(probes("exit 1").unwrap_err().contains("cannot read"));
    assert!(probes("exit 0").unwrap_err().contains("accepts a function"));
}

/// Both structures got a second form of their members, in different releases.
#[test]
fn attributes_and_their_groups_are_asked_for_apart() {
    for (member, name) in [
        ("attrs_const", "CONST_GROUPS"),
        ("show_const", "CONST_ATTRIBUTES"),
    ] {
        let compiler =
            format!("text=$(cat); case $text in *kfree*|*{member}*) ;; *) exit 1;; esac");
        let found = probes(&compiler).unwrap();
        assert_eq!(found, format!("#define PEERLANE_HAS_{name}\n"));
    }
}

/// The parts of Kbuild that the rules use. `made` is all that is made before the module itself.
const KBUILD: &str = r#"
obj := driver
src := driver
CC := ./cc
RUSTC := ./rustc
BINDGEN := ./bindgen
HOSTCC := cc
Q := @
comma := ,
squote := '
space := $(subst ,, ) $(subst ,, )
escsq = $(subst $(squote),'\$(squote)',$1)
c_flags = -Wp,-MMD,$@.d -I$(objtree)/include -DNAME='"x"' $(EXTRA)
rust_flags = -Copt-level=2
cmd = @$(cmd_$(1))
define filechk
	@set -e; mkdir -p $(dir $@); { $(filechk_$(1)); } >$@.new; \
	if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi
endef
made: driver/rust/kernel.o
include driver/crate/rules.mk
clean:
	rm -rf $(wildcard $(addprefix $(obj)/,$(clean-files)))
	find . -name '*.o' -delete
FORCE:
.PHONY: made clean FORCE
"#;

/// Files of the kernel crate.
const CRATE: [&str; 16] = [
    "bindgen_parameters",
    "bindings/lib.rs",
    "build_error.rs",
    "compiler_builtins.rs",
    "ffi.rs",
    "generate_rust_target.rs",
    "kernel/lib.rs",
    "macros/lib.rs",
    "pin-init/internal/src/lib.rs",
    "pin-init/src/lib.rs",
    "proc-macro2/lib.rs",
    "quote/lib.rs",
    "syn/lib.rs",
    "uapi/lib.rs",
    "zerocopy-derive/lib.rs",
    "zerocopy/src/lib.rs",
];

/// A directory in which a module is built, and the build directories `a` and `b` of two kernels.
struct Builder(tempfile::TempDir);

impl Builder {
    fn new() -> Self {
        let builder = Self(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| {
            let path = builder.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Makefile", KBUILD);
        write("sysroot/lib/rustlib/src/rust/library/core/src/lib.rs", "");
        for file in CRATE {
            write(&format!("driver/rust/{file}"), "");
        }
        symlink(SCRIPTS, builder.0.path().join("driver/crate")).unwrap();
        let at = |name: &str| builder.0.path().join(name);
        // Objects have the bindings in them, and bindings have the kernel's configuration.
        program(
            &at("rustc"),
            "case $1 in --version) echo 'rustc 1.90.0'; exit;; --print) echo sysroot; exit;; esac\n\
             while [ $# != 0 ]; do\n\
             case $1 in\n\
             -o) printf '#!/bin/sh\\ncat\\n' >$2; chmod +x $2;;\n\
             --emit=*=*) cat driver/rust/bindings/bindings_generated.rs >${1##*=} 2>/dev/null;;\n\
             esac\n\
             shift\n\
             done\n\
             true",
        );
        program(
            &at("bindgen"),
            "[ $1 != --version ] || { echo 'bindgen 0.71.1'; exit; }\n\
             for word in \"$@\"; do\n\
             [ \"$before\" != -o ] || out=$word\n\
             case $word in -I*/include) config=${word#-I}/generated/autoconf.h;; esac\n\
             before=$word\n\
             done\n\
             cat $config >$out",
        );
        program(&at("cc"), "case $(cat) in *kfree*) ;; *) exit 1;; esac");
        for kernel in ["a", "b"] {
            let options = GOOD.map(|option| format!("CONFIG_{option}\n")).concat();
            write(&format!("{kernel}/include/config/auto.conf"), &options);
            write(&format!("{kernel}/include/generated/rustc_cfg"), "");
            builder.configure(kernel, kernel);
        }
        builder
    }

    /// Sets the configuration of a kernel, whose files are as old as those of a package.
    fn configure(&self, kernel: &str, text: &str) {
        let generated = self.0.path().join(kernel).join("include/generated");
        fs::write(generated.join("autoconf.h"), text).unwrap();
        for file in fs::read_dir(generated).unwrap() {
            let file = fs::File::options().write(true).open(file.unwrap().path());
            file.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
    }

    fn make(&self, arguments: &[&str]) {
        let output = Command::new("make")
            .arg("-s")
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&text)
        );
    }

    /// Makes everything for a kernel, with more flags for C. Returns the configuration that it was made for.
    fn made(&self, kernel: &str, flags: &str) -> String {
        self.make(&[
            &format!("KERNELRELEASE=6.12-{kernel}"),
            &format!("objtree={kernel}"),
            &format!("EXTRA={flags}"),
        ]);
        fs::read_to_string(self.0.path().join("driver/rust/kernel.o")).unwrap()
    }

    fn modified(&self, file: &str) -> SystemTime {
        let path = self.0.path().join("driver/rust").join(file);
        fs::metadata(path).unwrap().modified().unwrap()
    }

    /// Lists the files of the source's directory.
    fn files(&self) -> BTreeSet<String> {
        let found = Command::new("find")
            .args(["driver", "-type", "f"])
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let text = String::from_utf8(found.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_directory_is_built_again_for_another_kernel() {
    let builder = Builder::new();
    assert_eq!(builder.made("a", ""), "a");
    assert_eq!(builder.made("b", ""), "b");
    assert_eq!(builder.made("a", ""), "a");
    // A kernel that was built again, with another configuration.
    builder.configure("a", "A");
    assert_eq!(builder.made("a", ""), "A");
    // For the same kernel nothing is made again, but for other flags of its compilers.
    let before = builder.modified("kernel.o");
    assert_eq!(builder.made("a", ""), "A");
    assert_eq!(builder.modified("kernel.o"), before);
    assert_eq!(builder.made("a", "-mno-red-zone"), "A");
    assert_ne!(builder.modified("kernel.o"), before);
}

#[test]
fn cleaning_leaves_nothing_for_another_kernel() {
    let builder = Builder::new();
    let source = builder.files();
    builder.made("a", "");
    assert!(builder.files().len() > source.len() + 10);
    builder.make(&["clean"]);
    assert_eq!(builder.files(), source);
}
