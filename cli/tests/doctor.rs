//! `peerlane doctor` on computers described in `tests/doctor`: one file each, with its devices and the expected
//! findings.
//!
//! ```text
//! pci 0000:00:01.0/0000:01:00.0  vendor=1172 device=ab00 class=120000 port=endpoint mps=128/256 mrrs=512
//!     link=5.0x4/5.0x8 acs=1c group=3 driver=peerlane bar1=0x10000000     (one line)
//! file sys/kernel/iommu_groups/3/type DMA
//! wrong link: 5.0 GT/s x4
//! ```
//!
//! The last kind of line is a finding: its state, its subject, and a part of its text.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

#[path = "../../tests/fake-amd/mod.rs"]
mod fake_amd;

#[path = "../../tests/fake-cuda/mod.rs"]
mod fake_cuda;

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns a configuration space with a PCI Express capability, and with ACS if a value of its control register is
/// given (PCI Express Base Specification 4.0, 7.5.3 and 7.7.8).
fn config(fields: &BTreeMap<&str, &str>) -> Vec<u8> {
    let mut bytes = vec![
        0;
        if fields.contains_key("closed") {
            64
        } else {
            4096
        }
    ];
    let Some(port) = fields.get("port") else {
        return bytes;
    };
    bytes[0x34] = 0x50;
    if bytes.len() == 64 {
        return bytes;
    }
    // Another capability comes first: power management.
    (bytes[0x50], bytes[0x51]) = (0x01, 0x70);
    bytes[0x70] = 0x10;
    let kind: u16 = match *port {
        "endpoint" => 0,
        "root" => 4,
        "upstream" => 5,
        "downstream" => 6,
        other => panic!("{other}"),
    };
    bytes[0x72..0x74].copy_from_slice(&(kind << 4 | 2).to_le_bytes());
    let log = |text: &str| text.parse::<u32>().unwrap().ilog2() - 7;
    if let Some((is, could)) = fields.get("mps").and_then(|text| text.split_once('/')) {
        bytes[0x74..0x78].copy_from_slice(&log(could).to_le_bytes());
        let request = fields.get("mrrs").map_or(2, |text| log(text));
        let control = (log(is) << 5 | request << 12) as u16;
        bytes[0x78..0x7a].copy_from_slice(&control.to_le_bytes());
    }
    if let Some(control) = fields.get("acs") {
        // Advanced error reporting comes first.
        bytes[0x100..0x104].copy_from_slice(&(0x0001_u32 | 1 << 16 | 0x140 << 20).to_le_bytes());
        bytes[0x140..0x144].copy_from_slice(&(0x000d_u32 | 1 << 16).to_le_bytes());
        let control = u16::from_str_radix(control, 16).unwrap();
        bytes[0x146..0x148].copy_from_slice(&control.to_le_bytes());
    }
    bytes
}

fn device(root: &Path, way: &str, fields: &BTreeMap<&str, &str>) {
    let slot = way.rsplit('/').next().unwrap();
    let bridge = fields.get("under").copied().unwrap_or("pci0000:00");
    let directory = root.join("sys/devices").join(bridge).join(way);
    let put = |name: &str, text: String| write(&directory.join(name), format!("{text}\n"));
    for name in ["vendor", "device", "class"] {
        put(name, format!("0x{}", fields.get(name).unwrap_or(&"8086")));
    }
    if let Some((is, could)) = fields.get("link").and_then(|text| text.split_once('/')) {
        for (which, text) in [("current", is), ("max", could)] {
            let (speed, width) = text.split_once('x').unwrap();
            put(&format!("{which}_link_speed"), format!("{speed} GT/s PCIe"));
            put(&format!("{which}_link_width"), width.to_owned());
        }
    }
    let mut bars = String::new();
    for index in 0..6 {
        let size = fields.get(format!("bar{index}").as_str());
        let size = size.map_or(0, |text| u64::from_str_radix(&text[2..], 16).unwrap());
        bars.push_str(&match size {
            0 => "0x0000000000000000 0x0000000000000000 0x0000000000000000\n".to_owned(),
            size => format!(
                "0x{:016x} 0x{:016x} 0x000000000014220c\n",
                1_u64 << 36,
                (1_u64 << 36) + size - 1
            ),
        });
    }
    write(&directory.join("resource"), bars);
    write(&directory.join("config"), config(fields));
    if let Some(group) = fields.get("group") {
        let place = root.join("sys/kernel/iommu_groups").join(group);
        fs::create_dir_all(&place).unwrap();
        symlink(place, directory.join("iommu_group")).unwrap();
    }
    if let Some(driver) = fields.get("driver") {
        let place = root.join("sys/bus/pci/drivers").join(driver);
        fs::create_dir_all(&place).unwrap();
        symlink(place, directory.join("driver")).unwrap();
    }
    let all = root.join("sys/bus/pci/devices");
    fs::create_dir_all(&all).unwrap();
    symlink(&directory, all.join(slot)).unwrap();
}

/// Creates the computer of a description, and returns the expected findings.
fn build<'a>(root: &Path, text: &'a str) -> Vec<(&'a str, &'a str, &'a str)> {
    let mut expected = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (word, rest) = line.split_once(' ').expect("a word and more");
        match word {
            "pci" => {
                let mut words = rest.split_whitespace();
                let way = words.next().unwrap();
                let fields = words.map(|word| word.split_once('=').unwrap_or((word, "")));
                device(root, way, &fields.collect());
            }
            "file" => {
                let (path, content) = rest.split_once(' ').unwrap();
                let map = format!("{:#010x}", peerlane_core::regs::MAP_ID);
                // Attributes, then the value (the kernel's Documentation/filesystems/efivarfs.rst).
                let variable = |value: &str| format!("\u{6}\0\0\0{value}");
                let content = content
                    .replace("MAP_ID", &map)
                    .replace("VARIABLE_OF_1", &variable("\u{1}"))
                    .replace("VARIABLE_OF_0", &variable("\0"));
                write(&root.join(path), content);
            }
            state @ ("ok" | "note" | "wrong") => {
                let (about, part) = rest.split_once(": ").expect("the checked item");
                expected.push((state, about, part));
            }
            other => panic!("{other} is not a kind of line"),
        }
    }
    expected
}

#[test]
fn computers_are_found_as_they_are() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doctor");
    let mut seen = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let root = tempfile::tempdir().unwrap();
        let expected = build(root.path(), &text);
        fs::create_dir_all(root.path().join("etc")).unwrap();
        let system = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        fs::write(root.path().join("etc/os-release"), system).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(["doctor", "--json", "--root"])
            .arg(root.path())
            .output()
            .unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = said["findings"].as_array().unwrap();
        let all = serde_json::to_string_pretty(findings).unwrap();
        for (state, about, part) in &expected {
            let found = findings.iter().any(|finding| {
                finding["state"] == *state
                    && finding["about"] == *about
                    && finding["what"].as_str().unwrap().contains(part)
            });
            assert!(found, "{}: {state} {about}: {part}\n{all}", path.display());
        }
        let wrong = findings
            .iter()
            .filter(|finding| finding["state"] == "wrong");
        let faults = wrong.count();
        let of = expected
            .iter()
            .filter(|(state, _, _)| *state == "wrong")
            .count();
        assert_eq!(faults, of, "{}: {all}", path.display());
        assert_eq!(said["faults"], faults);
        let version = said["version"].as_str().unwrap();
        assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
        assert_eq!(said["system"], "Debian GNU/Linux 13 (trixie)");
        assert_eq!(output.status.code(), Some(if faults == 0 { 0 } else { 2 }));
        for finding in findings {
            let hint = finding["remedy"].as_str();
            assert_eq!(hint.is_none(), finding["state"] == "ok", "{finding}");
            assert!(hint.is_none_or(|hint| hint.ends_with('.')), "{finding}");
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// With an empty variable, the runtime searches elsewhere.
#[test]
fn an_empty_variable_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(["doctor", "--no-probes"])
        .env("ACL_BOARD_VENDOR_PATH", "")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words =
        "library: note: ACL_BOARD_VENDOR_PATH is empty. The runtime reads .fcd files in / then";
    assert!(text.contains(words), "{text}");
}

/// Root may open everything, so with sudo the permissions of the calling user are checked.
#[test]
fn with_sudo_the_users_rights_are_looked_at() {
    let root = tempfile::tempdir().unwrap();
    let node = root.path().join("dev/peerlane0");
    write(&node, "node");
    fs::set_permissions(&node, fs::Permissions::from_mode(0o600)).unwrap();
    let owner = fs::metadata(&node).unwrap().uid();
    let said = |name: &str, number: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(["doctor", "--root"])
            .arg(root.path())
            .env("SUDO_UID", number)
            .env("SUDO_USER", name)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = said("somebody", "54321");
    let words = match owner {
        0 => "permission: wrong: /dev/peerlane0 may not be opened by somebody",
        // If the tests do not run as root, the variable does not change the permissions of any user.
        _ => "permission: ok: /dev/peerlane0 may be opened by this user",
    };
    assert!(text.contains(words), "{text}");
    let text = said("root", "0");
    let words = "permission: ok: /dev/peerlane0 may be opened by this user";
    assert!(text.contains(words), "{text}");
}

/// The finding has the reason why CUDA has no GPU, and not only the fact.
#[test]
fn what_keeps_cuda_from_its_gpus_is_told() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fake-cuda");
    let fake = fake_cuda::FakeCuda::new(&sources);
    let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .arg("doctor")
        .env("LD_LIBRARY_PATH", fake.library().parent().unwrap())
        // cuda.h: CUDA_ERROR_NO_DEVICE.
        .env("FAKE_CUDA_INIT", "100")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("cuda: "));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.starts_with("cuda: note: CUDA ") && line.contains("CUDA_VISIBLE_DEVICES"),
        "{line}"
    );
}

/// Runs the probes on the simulated board, all of whose routes work.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn the_simulated_board_is_probed() {
    let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(["doctor", "--simulated"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Progress is not part of the diagnosis.
    let progress = String::from_utf8(output.stderr).unwrap();
    for line in ["starting the simulated board\n", "moving data between "] {
        assert!(progress.contains(line), "{progress}");
        assert!(!text.contains(line), "{text}");
    }
    for part in [
        "direct write, FPGA to GPU: works",
        "direct read, GPU to FPGA: works",
        // The chosen route: two are equally fast there.
        " MB/s) by measured figures",
        "doctor: nothing is wrong",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(output.status.success());
}

/// AMD's GPUs, by a mock: their capabilities, and the missing ones.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn gpus_of_amd_are_listed_with_what_they_can() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fake-amd");
    let fake = fake_amd::FakeAmd::new(&sources);
    let said = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .arg("doctor")
            .env("LD_LIBRARY_PATH", fake.path(""))
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("amd: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = said(&[]);
    assert_eq!(
        lines,
        [
            "amd: ok: 0000:c3:00.0 (Mock of an AMD GPU): ROCm exports its memory as dma-bufs (not verified on hardware: rely on the probe)",
            "amd: ok: 0000:c3:00.0 (FirePro (mock)): has DirectGMA, with which it pushes into a board's window (not verified on hardware: rely on the probe)",
        ]
    );
    let lines = said(&[("FAKE_AMD_NO_DIRECTGMA", "1")]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[1].starts_with(
            "amd: note: there is no DirectGMA: FirePro (mock) has no cl_amd_bus_addressable_memory"
        ) && lines[1].contains("dma-bufs"),
        "{lines:?}"
    );
    // On a computer without such a GPU nothing is printed about them.
    let here = said(&[("FAKE_AMD_NO_GPU", "1")]);
    let pci = fs::read_dir("/sys/bus/pci/devices")
        .into_iter()
        .flatten()
        .flatten();
    let amd = pci.filter(|device| {
        let vendor = fs::read_to_string(device.path().join("vendor")).unwrap_or_default();
        let class = fs::read_to_string(device.path().join("class")).unwrap_or_default();
        vendor.trim() == "0x1002" && class.starts_with("0x03")
    });
    assert!(here.is_empty() || amd.count() > 0, "{here:?}");
}
