//! The README of an extended platform: its commands run one after another, with mocks of the external tools.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use common::{peerlane, text};

/// A mock of Quartus, run as `quartus_sh -t SCRIPT …`.
const QUARTUS: &str = include_str!("../../bsp/tests/it/common/quartus.tcl");

/// Returns the commands of a document, in order.
fn commands(document: &str) -> String {
    let parts = document.split("```\n").enumerate();
    let code = parts.filter(|(n, _)| n % 2 == 1).map(|(_, text)| text);
    code.collect()
}

fn tool(dir: &Path, name: &str, script: &str) {
    let path = dir.join(name);
    let log = "echo \"${0##*/} $*\" >> \"$CALLS\"";
    fs::write(&path, format!("#!/bin/sh\n{log}\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes a platform and runs the commands of its README; returns the working directory, and the calls of the external
/// tools.
fn run(make: &[&str], board: &str) -> (tempfile::TempDir, String) {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("extended-here");
    let made = peerlane(&[make, &["--out", text(&out)]].concat());
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );

    let bin = work.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // No `aoc` has made the package that `upgrade` would rewrite.
    let itself = env!("CARGO_BIN_EXE_peerlane");
    tool(
        &bin,
        "peerlane",
        &format!(
            "case $1 in upgrade) exit 0;; install-board) set -- \"$@\" --firmware \"$FIRMWARE\";; program) while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\";; esac\n\
             exec {itself} \"$@\""
        ),
    );
    let quartus = work.path().join("quartus.tcl");
    fs::write(&quartus, QUARTUS).unwrap();
    // The directory of the compile has the kernel's name, and contains all of the board's files (Programming Guide,
    // "aoc").
    tool(
        &bin,
        "aoc",
        "case \"$*\" in *list-boards*) exit 0;; esac\n\
         case \"$1\" in -board=*) board=${1#*=}; shift; set -- --board \"$board\" \"$@\";; esac\n\
         [ \"$2\" = \"$BOARD\" ] || exit 9\n\
         cp -r \"$AOCL_BOARD_PACKAGE_ROOT/hardware/$BOARD\" \"${3%.cl}\"\n\
         : > \"${3%.cl}/top.sof\"\n\
         mkdir -p \"${3%.cl}/system/synthesis\"\n\
         : > \"${3%.cl}/system/synthesis/bank_pin_assignments.tcl\"\n\
         [ \"$3\" = base.cl ] && [ -n \"$STOPS\" ] && exit 1\nexit 0",
    );
    let tcl = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let tcl = tcl.command();
    let environment = tcl
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    tool(
        &bin,
        "quartus_sh",
        &format!(
            "shift\nexec {} {} \"$@\"",
            tcl.get_program().display(),
            quartus.display()
        ),
    );
    // Assignments by a script of UniPHY go into the settings of the named project.
    tool(
        &bin,
        "quartus_sta",
        "echo 'assigned to a memory pin' >> \"$3.qsf\"",
    );
    tool(&bin, "sudo", "[ \"$1\" != -E ] || shift\nexec \"$@\"");
    for name in ["quartus_pgm", "lspci", "dkms", "modprobe"] {
        tool(&bin, name, "exit 0");
    }
    // Same behaviour as the SDK (its `acl/Command.pm`, 17.1): it answers the commands with settings for a compiler
    // itself; all others are passed to the platform. It accepts the platform for `install` and the board for
    // `diagnose`, as versions that need them do.
    tool(
        &bin,
        "aocl",
        "case \"$1\" in compile-config) echo -Iheaders; exit 0;; \
         link-config) echo -L\"$AOCL_BOARD_PACKAGE_ROOT/linux64/lib\" -lalteracl -lpeerlane_mmd; exit 0;; esac\n\
         case \"$1 $2\" in 'install '?*) [ \"$2\" = \"$AOCL_BOARD_PACKAGE_ROOT\" ] && set -- install;; esac\n\
         [ \"$*\" = 'diagnose acl0' ] || [ \"$#\" = 1 ] || exit 9\n\
         name=$1; shift; exec \"$AOCL_BOARD_PACKAGE_ROOT/linux64/libexec/$name\" \"$@\"",
    );
    tool(&bin, "peerlane-aocl", "exit 0");
    // Only the requested crates are built.
    tool(
        &bin,
        "cargo",
        "[ \"$1\" = build ] || exit 0\nmkdir -p target/release\nfor crate; do case $crate in \
         peerlane-mmd) echo open > target/release/libpeerlane_mmd.so;; \
         peerlane-mmd-legacy) echo legacy > target/release/libpeerlane_mmd_legacy.so;; \
         peerlane-utilities) cp \"${0%/*}/peerlane-aocl\" target/release/;; esac; done",
    );
    // The compiled program reports how its libraries and drivers are found: like NVIDIA's loader, it puts no slash
    // between directory and name.
    tool(
        &bin,
        "cc",
        "[ -f \"$3\" ] || exit 9\n\
         printf '%s\\n' '#!/bin/sh' 'echo \"devices $LD_LIBRARY_PATH $(cat \"$OCL_ICD_VENDORS\"*.icd 2>&1)\" >> \"$CALLS\"' \
         > \"$2\"\nchmod +x \"$2\"",
    );

    // Peerlane's sources, as far as the commands need them.
    let sources = work.path().join("sources");
    fs::create_dir_all(sources.join("mmd")).unwrap();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../mmd/devices.c"),
        sources.join("mmd/devices.c"),
    )
    .unwrap();
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    let persona = readme.contains("stops in Quartus");
    let calls = work.path().join("calls");
    let path = std::env::var("PATH").unwrap();
    let run = Command::new("sh")
        .args(["-e", "-c", &commands(&readme)])
        .current_dir(&out)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("PEERLANE", &sources)
        .env("PEERLANE_WORK", work.path().join("compiles"))
        .env("RUNTIME", "/of/the/runtime")
        .env("ALTERAOCLSDKROOT", "/of/the/sdk")
        .env("PORT", "0000:00:01.0")
        .env("CALLS", &calls)
        .env("FIRMWARE", work.path().join("firmware"))
        .env("BOARD", board)
        .env("STOPS", if persona { "1" } else { "" })
        .env("IMPORT", "")
        .env("FAILS", "")
        .envs(environment)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{readme}");
    // The driver finds it by the IDs of the board.
    let installed = fs::read_dir(work.path().join("firmware")).unwrap();
    let installed: Vec<_> = installed.map(|file| file.unwrap().path()).collect();
    let [installed] = installed.as_slice() else {
        panic!("{installed:?}")
    };
    let name = installed.file_name().unwrap().to_string_lossy();
    assert!(name.ends_with("-504c.board"), "{name}");
    let written = out.join("hardware").join(board).join("peerlane.board");
    assert_eq!(fs::read(installed).unwrap(), fs::read(written).unwrap());
    (work, fs::read_to_string(calls).unwrap())
}

/// Returns the mock of the library that was put into the platform.
fn library(work: &tempfile::TempDir) -> String {
    let library = "extended-here/linux64/lib/libpeerlane_mmd.so";
    fs::read_to_string(work.path().join(library)).unwrap()
}

/// Returns a copy of the reference BSP for another version of the SDK.
fn of_version(version: &str) -> tempfile::TempDir {
    let bsp = tempfile::tempdir().unwrap();
    let from = common::reference().with_file_name("reference-net");
    let copied = Command::new("cp")
        .args(["-rT", text(&from), text(bsp.path())])
        .status();
    assert!(copied.unwrap().success());
    let file = bsp.path().join("board_env.xml");
    let environment = fs::read_to_string(&file).unwrap();
    let old = "board_env version=\"14.0\"";
    assert!(environment.contains(old), "{environment}");
    let new = environment.replace(old, &format!("board_env version=\"{version}\""));
    fs::write(file, new).unwrap();
    bsp
}

/// Checks that the words occur in this order in a text.
fn in_order(text: &str, words: &[&str]) {
    let mut rest = text;
    for word in words {
        let at = rest.find(word);
        let at = at.unwrap_or_else(|| panic!("no {word:?} in its place: {text}"));
        rest = &rest[at + word.len()..];
    }
}

#[test]
fn the_steps_of_a_board_with_a_base_revision() {
    let bsp = common::reference().with_file_name("reference-net");
    let (work, calls) = run(&["extend", "--bsp", text(&bsp)], "peerlane_net_peerlane");
    in_order(
        &calls,
        &[
            "cargo install --locked --path",
            "aoc --board peerlane_net_peerlane base.cl",
            "quartus_sh -t scripts/peerlane/rebuild.tcl export",
            "quartus_sh -t scripts/peerlane/rebuild.tcl import-on",
            "aoc --board peerlane_net_peerlane kernel.cl",
            "peerlane program --port 0000:00:01.0 -- quartus_pgm",
            "quartus_pgm",
            "lspci -nn -v -d 1172:",
            "sudo dkms add",
            &format!("sudo dkms install peerlane/{}", env!("CARGO_PKG_VERSION")),
            " install-board /",
            "modprobe peerlane",
            "cargo build --release -p peerlane-mmd-legacy -p peerlane-utilities",
            "aocl install\n",
            "extended-here/linux64/libexec/../.. install\n",
            "sudo -E env PATH=",
            "aocl diagnostic\n",
            "extended-here/linux64/libexec/../.. diagnose\n",
            "mmd/devices.c -Iheaders -L",
            "-lalteracl -lpeerlane_mmd\n",
            "extended-here/linux64/lib:/of/the/sdk/host/linux64/lib ",
        ],
    );
    assert!(calls.contains("peerlane-aocl --platform /"), "{calls}");
    // With the commands of that SDK.
    let steps = fs::read_to_string(work.path().join("extended-here/README.md")).unwrap();
    assert!(steps.contains("aocl reprogram acl0 FILE.aocx"), "{steps}");
    // Kernels of 13.1 work with the closed runtime only.
    assert_eq!(library(&work), "legacy\n");
    // The result of the base compile is imported, by the board and by the kernel's compile.
    let persona = "persona/base.root_partition.personax";
    for dir in [
        "extended-here/hardware/peerlane_net_peerlane",
        "compiles/kernel",
    ] {
        assert!(work.path().join(dir).join(persona).is_file(), "{dir}");
    }
    let back = work.path().join("compiles/vendor");
    for file in [
        "board_env.xml",
        "README.md",
        "hardware/peerlane_net/base.aocx",
    ] {
        assert_eq!(
            fs::read(back.join(file)).unwrap(),
            fs::read(bsp.join(file)).unwrap()
        );
    }
}

#[test]
fn the_steps_of_a_board_that_imports_nothing() {
    let bsp = common::reference();
    let (_, calls) = run(&["extend", "--bsp", text(&bsp)], "peerlane_ref_peerlane");
    assert!(!calls.contains("rebuild.tcl"), "{calls}");
    in_order(
        &calls,
        &[
            "aoc --board peerlane_ref_peerlane kernel.cl",
            "dkms install",
            "aocl diagnostic",
        ],
    );
}

/// From 14.1 on the open runtime accepts the kernels, after they are rewritten; from 17.1 on no program is linked with
/// the library.
#[test]
fn the_steps_of_boards_of_later_versions() {
    for (version, aocl, linked) in [
        ("15.0", "aocl diagnose\n", true),
        ("17.1", "aocl diagnose acl0\n", false),
    ] {
        let bsp = of_version(version);
        let (work, calls) = run(
            &["extend", "--bsp", text(bsp.path())],
            "peerlane_net_peerlane",
        );
        in_order(
            &calls,
            &[
                "cargo build --release -p peerlane-mmd -p peerlane-mmd-legacy -p peerlane-utilities",
                "aocl install",
                aocl,
                "peerlane upgrade kernel.aocx -o kernel-23.aocx\n",
                "mmd/devices.c -lOpenCL\n",
                " /of/the/runtime/lib/libalteracl.so\n",
            ],
        );
        assert_eq!(library(&work), "open\n");
        let readme = fs::read_to_string(work.path().join("extended-here/README.md")).unwrap();
        assert_eq!(readme.contains("aocl link-config"), linked, "{version}");
        assert!(readme.contains("aocl program acl0 FILE.aocx"), "{readme}");
        // The other library is also available, to be copied.
        assert!(
            work.path()
                .join("sources/target/release/libpeerlane_mmd_legacy.so")
                .is_file()
        );
    }
}

#[test]
fn the_steps_of_a_board_without_a_bsp() {
    let (work, calls) = run(&["new", "--board", "de5net"], "de5net_peerlane");
    assert!(!calls.contains("rebuild.tcl"), "{calls}");
    in_order(
        &calls,
        &[
            "aoc --board de5net_peerlane base.cl",
            "quartus_sta -t system/synthesis/bank_pin_assignments.tcl top",
            "aoc --board de5net_peerlane kernel.cl",
            "quartus_pgm",
            "dkms install",
        ],
    );
    // The memory's pins are those of the fragment and the assignments of UniPHY, for all later compiles.
    let out = work.path().join("extended-here");
    let board = out.join("hardware/de5net_peerlane");
    let pins = fs::read_to_string(board.join("pins.tcl")).unwrap();
    assert!(pins.ends_with("\nassigned to a memory pin\n"), "{pins}");
    // There is one list of steps, and no mention of a vendor, as there never was a vendor's BSP.
    let steps = fs::read_to_string(out.join("README.md")).unwrap();
    for word in [
        "board vendor",
        "Back to the vendor",
        "There is no base compile",
    ] {
        assert!(!steps.contains(word), "{word}: {steps}");
    }
    assert!(steps.contains("Terasic DE5-Net"), "{steps}");
    let of_board = fs::read_to_string(board.join("README.md")).unwrap();
    for word in ["```", "1. ", "neither exists"] {
        assert!(!of_board.contains(word), "{word}: {of_board}");
    }
}

/// Each step that needs Quartus, `aoc` or a board has a note that it was not verified.
#[test]
fn what_was_not_verified_stands_beside_each_step() {
    let [first, second] =
        ["reference", "reference-net"].map(|bsp| common::reference().with_file_name(bsp));
    for make in [
        ["extend", "--bsp", text(&first)],
        ["extend", "--bsp", text(&second)],
        ["new", "--board", "de5net"],
    ] {
        let work = tempfile::tempdir().unwrap();
        let out = work.path().join("D");
        let made = peerlane(&[&make[..], &["--out", text(&out)]].concat());
        assert!(made.status.success());
        let readme = fs::read_to_string(out.join("README.md")).unwrap();
        let steps: Vec<&str> = readme.split("\n## ").skip(1).collect();
        assert_eq!(steps.len(), 11, "{readme}");
        for step in &steps[..10] {
            let nothing =
                step.contains("There is no base compile") || step.contains("There is nothing");
            assert!(
                nothing || step.contains("*Not verified without Quartus:*"),
                "{step}"
            );
        }
        assert!(!readme.contains("\n\n\n"), "{readme}");
    }
}

/// For a version that the library for closed runtimes does not know, or without a version, the README states the value
/// that the library reports then (`mmd/legacy/tests/symbols.rs`), and the command warns.
#[test]
fn a_version_that_is_none_is_not_said() {
    for (version, row) in [
        (
            Some("13.0"),
            "`13.0`, as the vendor's files say: not a version from 13.1 to 18.1",
        ),
        (
            Some("nonsense"),
            "`nonsense`, as the vendor's files say: not a version from",
        ),
        (
            None,
            "as the Quartus project says; `board_env.xml` has no version",
        ),
        (Some("13.1"), "13.1, as the vendor's files say |"),
    ] {
        let bsp = of_version(version.unwrap_or("13.1"));
        if version.is_none() {
            let file = bsp.path().join("board_env.xml");
            let environment = fs::read_to_string(&file).unwrap();
            fs::write(&file, environment.replace(" version=\"13.1\"", "")).unwrap();
        }
        let work = tempfile::tempdir().unwrap();
        let out = work.path().join("D");
        let made = peerlane(&["extend", "--bsp", text(bsp.path()), "--out", text(&out)]);
        let said = String::from_utf8_lossy(&made.stdout).into_owned();
        assert!(made.status.success(), "{said}");
        let readme = fs::read_to_string(out.join("README.md")).unwrap();
        assert!(readme.contains(row), "{row}: {readme}");
        let known = version == Some("13.1");
        let says_it = readme.contains("It finds the version 13.1 in that file, and reports it");
        assert_eq!(says_it, known, "{readme}");
        assert_eq!(
            readme.contains("reports 14.0 to the runtime"),
            !known,
            "{readme}"
        );
        // The table of notes is wrapped to the width of a terminal.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("/D/README.md, which lead"), "{said}");
        assert_eq!(said.contains("PEERLANE_MMD_VERSION"), !known, "{said}");
    }
}
