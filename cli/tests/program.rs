//! `peerlane program` on a tree of files like sysfs: its steps and their order, and that the link comes up again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// PCI Express Base Specification 4.0, 7.5.3: Device/Port Type, Link Capabilities, Control and Status, of the
/// capability at 70h.
const ROOT_PORT: u16 = 4;
const CONTROL: usize = 0x70 + 0x10;
const DISABLE: u8 = 1 << 4;

struct Computer(tempfile::TempDir);

impl Computer {
    /// Creates a root port with a device below it, and a device of the host bridge.
    fn new(kind: u16, driver: Option<&str>) -> Self {
        let computer = Self(tempfile::tempdir().unwrap());
        let (port, device) = (computer.port(), computer.port().join("0000:01:00.0"));
        let other = port.with_file_name("0000:00:1f.0");
        let all = computer.root().join("sys/bus/pci/devices");
        fs::create_dir_all(&all).unwrap();
        for directory in [&port, &device, &other] {
            fs::create_dir_all(directory).unwrap();
            for (name, text) in [
                ("vendor", "0x1172"),
                ("device", "0xab00"),
                ("class", "0x0"),
                ("remove", ""),
                ("rescan", ""),
            ] {
                fs::write(directory.join(name), text).unwrap();
            }
            fs::write(directory.join("config"), vec![0; 4096]).unwrap();
            symlink(directory, all.join(directory.file_name().unwrap())).unwrap();
        }
        let mut config = vec![0; 4096];
        (config[0x34], config[0x70]) = (0x70, 0x10);
        config[0x72..0x74].copy_from_slice(&(kind << 4 | 2).to_le_bytes());
        // The port can report that the link is up, and the link is up.
        config[0x7c..0x80].copy_from_slice(&(1_u32 << 20).to_le_bytes());
        config[0x82..0x84].copy_from_slice(&(1_u16 << 13).to_le_bytes());
        // ASPM, which must stay unchanged.
        config[CONTROL] = 0x42;
        fs::write(port.join("config"), config).unwrap();
        if let Some(driver) = driver {
            let place = computer.root().join("sys/bus/pci/drivers").join(driver);
            fs::create_dir_all(&place).unwrap();
            symlink(place, device.join("driver")).unwrap();
        }
        computer
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn port(&self) -> PathBuf {
        self.root().join("sys/devices/pci0000:00/0000:00:01.0")
    }

    fn control(&self) -> u8 {
        fs::read(self.port().join("config")).unwrap()[CONTROL]
    }

    /// Runs the command, with a script that configures the FPGA: `$1` is the port's configuration.
    fn program(&self, which: [&str; 2], script: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(["program", "--root"])
            .arg(self.root())
            .args(which)
            .args(["--", "sh", "-c", script, "sh"])
            .arg(self.port().join("config"))
            .arg(self.port().join("0000:01:00.0/remove"))
            .output()
            .unwrap()
    }
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_link_is_disabled_for_as_long_as_the_program_runs() {
    for which in [["--device", "0000:01:00.0"], ["--port", "0000:00:01.0"]] {
        let computer = Computer::new(ROOT_PORT, None);
        let script = format!(
            "[ $(($(od -An -tu1 -j{CONTROL} -N1 \"$1\") & {DISABLE})) != 0 ] && [ \"$(cat \"$2\")\" = 1 ]"
        );
        let output = computer.program(which, &script);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(computer.control(), 0x42);
        let rescan = fs::read_to_string(computer.port().join("rescan")).unwrap();
        assert_eq!(rescan, "1");
        assert!(said(&output).contains("0000:01:00.0 (1172:ab00) is there"));
    }
}

#[test]
fn a_program_that_fails_leaves_no_link_disabled() {
    for (script, words) in [
        ("exit 3", "sh failed (exit status: 3)"),
        ("kill -9 $$", "sh failed (signal: 9"),
    ] {
        let computer = Computer::new(ROOT_PORT, None);
        let output = computer.program(["--device", "0000:01:00.0"], script);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(words), "{}", said(&output));
        assert_eq!(computer.control(), 0x42);
    }
    // The signal of a terminal goes to both processes.
    let computer = Computer::new(ROOT_PORT, None);
    let output = computer.program(["--device", "0000:01:00.0"], "kill -INT $PPID; sleep 1");
    assert!(!output.status.success(), "{}", said(&output));
    assert_eq!(computer.control(), 0x42);
    // A program that does not exist.
    let computer = Computer::new(ROOT_PORT, None);
    let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(["program", "--root"])
        .arg(computer.root())
        .args(["--device", "0000:01:00.0", "--", "/no/such/program"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(computer.control(), 0x42);
}

#[test]
fn what_would_be_cut_off_unawares_is_refused() {
    let upstream = 5;
    for (kind, driver, which, words) in [
        (
            ROOT_PORT,
            Some("peerlane"),
            ["--device", "0000:01:00.0"],
            "drivers/peerlane/unbind",
        ),
        (
            upstream,
            None,
            ["--device", "0000:01:00.0"],
            "not a port with a link below it",
        ),
        (
            ROOT_PORT,
            None,
            ["--device", "0000:02:00.0"],
            "there is no such PCI device",
        ),
        (
            ROOT_PORT,
            None,
            ["--device", "0000:00:1f.0"],
            "there is no port above this device",
        ),
        (
            ROOT_PORT,
            None,
            ["--port", "0000:00:1f.0"],
            "not a port with a link below it",
        ),
    ] {
        let computer = Computer::new(kind, driver);
        let output = computer.program(which, "touch \"$1\".ran");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(!computer.port().join("config.ran").exists());
        assert_eq!(computer.control(), 0x42);
        let removed = fs::read_to_string(computer.port().join("0000:01:00.0/remove")).unwrap();
        assert_eq!(removed, "");
    }
}

/// A port whose configuration file has only 64 bytes, so that Link Control is not accessible.
#[test]
fn nothing_is_programmed_where_the_link_cannot_be_disabled() {
    let computer = Computer::new(ROOT_PORT, None);
    let config = computer.port().join("config");
    let bytes = fs::read(&config).unwrap();
    // 64 bytes are visible to users other than root.
    fs::write(&config, &bytes[..64]).unwrap();
    let output = computer.program(["--device", "0000:01:00.0"], "touch \"$1\".ran");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(!computer.port().join("config.ran").exists());
}
