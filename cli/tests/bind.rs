//! `peerlane bind` and `unbind` on trees of files like those of the kernel. That a kernel binds the board is tested in
//! virtual machines.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

const BOARD: &str = "0000:01:00.0";

/// Adds a device with its group and driver.
fn device(root: &Path, slot: &str, group: Option<&str>, driver: Option<&str>) {
    let bus = root.join("sys/bus/pci");
    let device = bus.join("devices").join(slot);
    fs::create_dir_all(&device).unwrap();
    for (name, text) in [
        ("vendor", "0x1172"),
        ("device", "0xab00"),
        ("class", "0x120000"),
    ] {
        fs::write(device.join(name), text).unwrap();
    }
    let links = [
        (
            "driver",
            driver.map(|driver| bus.join("drivers").join(driver)),
        ),
        (
            "iommu_group",
            group.map(|group| root.join("sys/kernel/iommu_groups").join(group)),
        ),
    ];
    for (name, target) in links {
        if let Some(target) = target {
            fs::create_dir_all(&target).unwrap();
            symlink(target, device.join(name)).unwrap();
        }
    }
}

/// Runs the command, and returns whether it succeeded, and all that it printed.
fn run(root: &Path, words: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(words)
        .arg("--root")
        .arg(root)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn refusals_name_the_device_and_the_fix() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("altera-cvp"));
    device(root, "0000:02:00.0", Some("3"), Some("igb"));
    device(root, "0000:03:00.0", None, None);
    for (words, expected) in [
        (
            &["bind", "0000:09:00.0"][..],
            &["no PCI device 0000:09:00.0", "lspci -D"][..],
        ),
        (
            &["bind", "0000:03:00.0"],
            &["0000:03:00.0 (1172:ab00) has no IOMMU", "intel_iommu=on"],
        ),
        (
            &["bind", BOARD],
            &["group 3", "0000:02:00.0 (1172:ab00), whose driver is igb"],
        ),
        (
            &["bind", BOARD, "--user", "no-such-user"],
            &["no user no-such-user"],
        ),
        (&["unbind", "0000:09:00.0"], &["no PCI device 0000:09:00.0"]),
    ] {
        let (succeeded, text) = run(root, words);
        assert!(!succeeded, "{words:?}: {text}");
        for part in expected {
            assert!(text.contains(part), "{words:?}: {text}");
        }
    }
    // Nothing was written.
    let files = root.join("sys/bus/pci/devices").join(BOARD);
    assert!(!files.join("driver_override").exists());
    assert!(!root.join("sys/bus/pci/drivers/altera-cvp/unbind").exists());
}

#[test]
fn a_board_is_released_before_it_is_bound() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("altera-cvp"));
    fs::create_dir_all(root.join("sys/bus/pci/drivers/vfio-pci")).unwrap();
    // Files do not bind a device, so the command ends with an error.
    let (succeeded, text) = run(root, &["bind", BOARD]);
    assert!(
        !succeeded && text.contains("vfio-pci did not take 0000:01:00.0"),
        "{text}"
    );
    let read = |path: &str| fs::read_to_string(root.join("sys/bus/pci").join(path)).unwrap();
    assert_eq!(
        read(&format!("devices/{BOARD}/driver_override")),
        "vfio-pci"
    );
    assert_eq!(read("drivers/altera-cvp/unbind"), BOARD);
    assert_eq!(read("drivers_probe"), BOARD);
}

#[test]
fn a_board_that_is_bound_gets_a_rule_until_it_is_unbound() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    for directory in ["etc/udev/rules.d", "dev/vfio"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("dev/vfio/3"), "").unwrap();
    // Only root may give files to others.
    let user = fs::metadata(root).unwrap().uid().to_string();
    let (succeeded, text) = run(root, &["bind", BOARD, "--always", "--user", &user]);
    assert!(succeeded, "{text}");
    let rule = root.join("etc/udev/rules.d/60-peerlane-vfio-0000:01:00.0.rules");
    let written = fs::read_to_string(&rule).unwrap();
    assert!(
        written.contains("KERNEL==\"0000:01:00.0\"")
            && written.contains(&format!("bind 0000:01:00.0 --user {user}\"")),
        "{written}"
    );
    let (succeeded, text) = run(root, &["unbind", BOARD]);
    assert!(succeeded && !rule.exists(), "{text}");
    let device = root.join("sys/bus/pci/devices").join(BOARD);
    assert_eq!(
        fs::read_to_string(device.join("driver_override")).unwrap(),
        "\n"
    );
    assert_eq!(
        fs::read_to_string(device.join("driver/unbind")).unwrap(),
        BOARD
    );
}
