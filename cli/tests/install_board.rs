//! `peerlane install-board`: descriptions of boards, where the driver finds them.

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{peerlane, text};
use peerlane_bsp::hash::sha256;
use peerlane_core::board::{Board, BoardError, Hashed, Ids, Shell, hash};
use peerlane_core::shell::OpenCl;

/// Returns a description. `att` makes another build of it.
fn description(name: &str, att: u64, subdevice: Option<u16>) -> String {
    let shell = Shell {
        memory: 1 << 32,
        clock: 250_000_000,
        line: None,
        opencl: OpenCl::default(),
    };
    let block = format!(
        "port=txs bar=2 csr=0x3000 chan=0x20000 att={att:#x} msix=0x30000 window=none shell={:08x}",
        hash(sha256, shell.to_string().as_bytes())
    );
    Board {
        name,
        ids: Ids {
            vendor: 0x1172,
            device: 0xab00,
            subvendor: None,
            subdevice,
        },
        map_id: 0x1234_5678,
        block: &block,
        build_id: 0,
        shell,
    }
    .to_string()
}

fn build_id(att: u64) -> String {
    let text = description("", att, None);
    let block = text.lines().find_map(|line| line.strip_prefix("block "));
    let hashed = Hashed(0x1234_5678, block.unwrap()).to_string();
    format!("{:#010x}", hash(sha256, hashed.as_bytes()))
}

struct Work(tempfile::TempDir);

impl Work {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn firmware(&self) -> std::path::PathBuf {
        self.0.path().join("lib/firmware/peerlane")
    }

    fn installed(&self, file: &str) -> String {
        fs::read_to_string(self.firmware().join(file)).unwrap()
    }

    /// Installs descriptions from a file each.
    fn install(&self, descriptions: &[String]) -> (Option<i32>, String) {
        let mut arguments = vec!["install-board".to_string()];
        for (number, description) in descriptions.iter().enumerate() {
            let file = self.0.path().join(format!("{number}.board"));
            fs::write(&file, description).unwrap();
            arguments.push(text(&file).into());
        }
        let firmware = self.firmware();
        arguments.extend(["--firmware".to_string(), text(&firmware).into()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        said(&peerlane(&arguments))
    }
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    (output.status.code(), text.concat())
}

#[test]
fn a_platform_is_installed_by_its_ids() {
    let work = Work::new();
    let out = work.0.path().join("D");
    let extended = peerlane(&[
        "extend",
        "--bsp",
        text(&common::reference()),
        "--out",
        text(&out),
    ]);
    assert!(extended.status.success());
    let firmware = work.firmware();
    let install = |dir: &Path| {
        said(&peerlane(&[
            "install-board",
            text(dir),
            "--firmware",
            text(&firmware),
        ]))
    };
    let (code, printed) = install(&out);
    assert_eq!(code, Some(0), "{printed}");
    let hardware = out.join("hardware/peerlane_ref_peerlane");
    let written = fs::read_to_string(hardware.join("peerlane.board")).unwrap();
    assert_eq!(work.installed("1172-ab00-504c.board"), written);
    for words in [
        "1172-ab00-504c.board",
        "peerlane_ref_peerlane",
        "drivers/peerlane/bind",
    ] {
        assert!(printed.contains(words), "{printed}");
    }
    assert!(!printed.contains("driver_override"), "{printed}");
    // Once is enough, also by its hardware directory.
    assert_eq!(install(&hardware).0, Some(0));
    assert_eq!(work.installed("1172-ab00-504c.board"), written);
    fs::remove_file(hardware.join("peerlane.board")).unwrap();
    let (code, printed) = install(&out);
    assert_eq!(code, Some(2));
    assert!(
        printed.contains("no description") && printed.contains("Extend"),
        "{printed}"
    );
    assert_eq!(install(&common::reference()).0, Some(2));
}

/// Boards with the same IDs share a file, one description a build.
#[test]
fn builds_are_side_by_side_and_replaced() {
    let work = Work::new();
    let [one, two] = [0x2_8000, 0x4_0000].map(|att| description("first", att, Some(0x504c)));
    assert_eq!(work.install(std::slice::from_ref(&one)).0, Some(0));
    let (code, printed) = work.install(std::slice::from_ref(&two));
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(
        work.installed("1172-ab00-504c.board"),
        format!("{one}{two}")
    );
    for id in [0x2_8000, 0x4_0000].map(build_id) {
        assert!(printed.contains(&id), "{id}: {printed}");
    }
    // The same build by another name.
    let renamed = description("renamed", 0x2_8000, Some(0x504c));
    work.install(std::slice::from_ref(&renamed));
    assert_eq!(
        work.installed("1172-ab00-504c.board"),
        format!("{renamed}{two}")
    );
    // A file with several is one as well.
    let other = Work::new();
    other.install(&[format!("{two}{one}")]);
    assert_eq!(
        other.installed("1172-ab00-504c.board"),
        format!("{two}{one}")
    );
    let names = fs::read_dir(work.firmware()).unwrap().count();
    assert_eq!(names, 1, "a temporary file is left");
}

#[test]
fn a_board_with_another_subsystem_needs_a_line() {
    let work = Work::new();
    let boards = [
        description("of_vendor", 0x2_8000, Some(0x0004)),
        description("of_none", 0x2_8000, None),
    ];
    let (code, printed) = work.install(&boards);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(work.installed("1172-ab00-0004.board"), boards[0]);
    assert_eq!(work.installed("1172-ab00-any.board"), boards[1]);
    for line in [
        "For of_vendor, of_none, once",
        "echo peerlane | sudo tee /sys/bus/pci/devices/ADDRESS/driver_override",
        "echo ADDRESS | sudo tee /sys/bus/pci/drivers_probe",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
}

/// Nothing is installed of a command with a faulty file.
#[test]
fn bad_files_are_refused_with_their_place() {
    let good = description("good", 0x2_8000, Some(0x504c));
    for (bad, line, why) in [
        (String::new(), "", "no description"),
        (good.replace("board 1", "board 2"), ":1", "first line"),
        (good.replace("clock 25", "clock x"), ":7", "line 7"),
        (good.replace("clock 25", "clock 24"), ":1", "changed"),
        // The second in its file.
        (
            format!("{good}{}", good.replace("0x100000000", "?")),
            ":13",
            "line 13",
        ),
    ] {
        let work = Work::new();
        let (code, printed) = work.install(&[good.clone(), bad]);
        assert_eq!(code, Some(2), "{printed}");
        let place = format!("1.board{line}: ");
        assert!(
            printed.contains(&place) && printed.contains(why),
            "{printed}"
        );
        assert!(printed.contains("Copy peerlane.board"), "{printed}");
        assert!(!work.firmware().exists());
    }
    // An installed file must be sound, too.
    let work = Work::new();
    fs::create_dir_all(work.firmware()).unwrap();
    fs::write(work.firmware().join("1172-ab00-504c.board"), "nonsense\n").unwrap();
    let (code, printed) = work.install(std::slice::from_ref(&good));
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("Delete the file"), "{printed}");
    assert_eq!(work.installed("1172-ab00-504c.board"), "nonsense\n");
    assert_eq!(Board::parse("nonsense", 0, sha256), Err(BoardError::Header));
}

/// A program by VFIO reads the description as its user.
#[test]
fn everybody_reads_a_description_that_a_careful_root_has_installed() {
    use std::os::unix::fs::PermissionsExt as _;
    let work = Work::new();
    let file = work.0.path().join("one.board");
    fs::write(&file, description("one", 0x10000, None)).unwrap();
    let command = format!(
        "umask 077; exec {} install-board {} --firmware {}",
        env!("CARGO_BIN_EXE_peerlane"),
        text(&file),
        text(&work.firmware())
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &command])
        .output()
        .unwrap();
    assert_eq!(said(&output).0, Some(0), "{}", said(&output).1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&work.0.path().join("lib")), 0o755);
    assert_eq!(mode(&work.firmware()), 0o755);
    let installed: Vec<_> = fs::read_dir(work.firmware()).unwrap().collect();
    for entry in installed {
        assert_eq!(mode(&entry.unwrap().path()), 0o644);
    }
}
