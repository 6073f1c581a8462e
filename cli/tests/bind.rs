//! `peerlane bind` and `unbind` on trees of files like those of the kernel. That a kernel binds the board is tested in
//! virtual machines.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

const BOARD: &str = "0000:01:00.0";

/// Adds a device with its group and driver.
fn device(root: &Path, slot: &str, group: Option<&str>, driver: Option<&str>) {
    let bus = root.join("sys/bus/pci");
    let device = bus.join("devices").join(slot);
    fs::create_dir_all(&device).unwrap();
    for (name, text) in [
        ("vendor", "0x1172"),
        ("device", "0xab00"),
        ("subsystem_vendor", "0x1172"),
        ("subsystem_device", "0x0001"),
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
    result(output)
}

fn result(output: Output) -> (bool, String) {
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
    for part in [
        "KERNEL==\"0000:01:00.0\"",
        "ATTR{vendor}==\"0x1172\", ATTR{device}==\"0xab00\"",
        "ATTR{subsystem_vendor}==\"0x1172\", ATTR{subsystem_device}==\"0x0001\"",
        &format!("bind 0000:01:00.0 --user {user} --only 0x1172:0xab00:0x1172:0x0001\""),
    ] {
        assert!(written.contains(part), "{part}: {written}");
    }
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

/// The rule runs a program as root, so no other user may write it.
#[test]
fn a_rule_is_roots_alone_for_any_umask() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    for directory in ["etc/udev/rules.d", "dev/vfio"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("dev/vfio/3"), "").unwrap();
    let user = fs::metadata(root).unwrap().uid().to_string();
    for umask in ["0", "077"] {
        let bind = "umask $1; exec \"$2\" bind 0000:01:00.0 --always --user \"$3\" --root \"$4\"";
        let output = Command::new("sh")
            .args(["-c", bind, "sh", umask])
            .args([env!("CARGO_BIN_EXE_peerlane"), &user])
            .arg(root)
            .output()
            .unwrap();
        let (succeeded, text) = result(output);
        assert!(succeeded, "{text}");
        let rule = root.join("etc/udev/rules.d/60-peerlane-vfio-0000:01:00.0.rules");
        let mode = fs::metadata(rule).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "umask {umask}");
    }
}

/// Another device has the address, after the computer's devices were numbered again.
#[test]
fn a_rule_binds_no_other_device() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("nvme"));
    fs::create_dir_all(root.join("sys/bus/pci/drivers/vfio-pci")).unwrap();
    let files = root.join("sys/bus/pci/devices").join(BOARD);
    fs::write(files.join("vendor"), "0x144d\n").unwrap();
    let only = ["--user", "0", "--only", "0x1172:0xab00:0x1172:0x0001"];
    let (succeeded, text) = run(root, &[&["bind", BOARD], &only[..]].concat());
    assert!(!succeeded && text.contains("another device"), "{text}");
    assert!(text.contains("0x144d:0xab00:0x1172:0x0001"), "{text}");
    assert!(!files.join("driver_override").exists());
    assert!(!root.join("sys/bus/pci/drivers/nvme/unbind").exists());
    // Its own IDs: the command goes on.
    fs::write(files.join("vendor"), "0x1172\n").unwrap();
    let (_, text) = run(root, &[&["bind", BOARD], &only[..]].concat());
    assert!(text.contains("vfio-pci did not take"), "{text}");
}

#[test]
fn a_rule_of_earlier_goes_unless_it_is_the_rule_that_binds() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    for directory in ["etc/udev/rules.d", "dev/vfio"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("dev/vfio/3"), "").unwrap();
    let rule = root.join("etc/udev/rules.d/60-peerlane-vfio-0000:01:00.0.rules");
    fs::write(&rule, "of another user").unwrap();
    let user = fs::metadata(root).unwrap().uid().to_string();
    let bind = ["bind", BOARD, "--user", &user];
    let only = ["--only", "0x1172:0xab00:0x1172:0x0001"];
    let (succeeded, text) = run(root, &[&bind[..], &only].concat());
    assert!(succeeded && rule.exists(), "{text}");
    let (succeeded, text) = run(root, &bind);
    assert!(
        succeeded && !rule.exists() && text.contains("removed: "),
        "{text}"
    );
}

#[test]
fn a_name_that_is_no_address_removes_nothing() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    let rules = root.join("etc/udev/rules.d");
    fs::create_dir_all(rules.join("60-peerlane-vfio-x")).unwrap();
    let other = rules.join("other.rules");
    fs::write(&other, "").unwrap();
    let (succeeded, text) = run(root, &["unbind", "x/../other"]);
    assert!(!succeeded && other.exists(), "{text}");
}

/// The kernel takes this number for "no change", and the board would stay with its owner.
#[test]
fn the_number_of_no_user_is_refused() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    let (succeeded, text) = run(root, &["bind", BOARD, "--user", "4294967295"]);
    assert!(!succeeded && text.contains("no user 4294967295"), "{text}");
}

#[test]
fn a_group_gets_the_board() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    for directory in ["etc/udev/rules.d", "dev/vfio"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let node = root.join("dev/vfio/3");
    fs::write(&node, "").unwrap();
    let data = fs::metadata(root).unwrap();
    let (user, group) = (data.uid().to_string(), data.gid().to_string());
    let mode = || fs::metadata(&node).unwrap().mode() & 0o777;
    let (succeeded, text) = run(root, &["bind", BOARD, "--always", "--group", &group]);
    assert!(succeeded && mode() == 0o660, "{:o}: {text}", mode());
    let rule = root.join("etc/udev/rules.d/60-peerlane-vfio-0000:01:00.0.rules");
    let written = fs::read_to_string(&rule).unwrap();
    let option = format!("bind 0000:01:00.0 --group {group} --only ");
    assert!(written.contains(&option), "{written}");
    // The group does not keep the board of a user.
    let (succeeded, text) = run(root, &["bind", BOARD, "--user", &user]);
    assert!(succeeded && mode() == 0o600, "{:o}: {text}", mode());
    let (succeeded, text) = run(root, &["bind", BOARD, "--group", "no-such-group"]);
    assert!(
        !succeeded && text.contains("no group no-such-group"),
        "{text}"
    );
    let (succeeded, _) = run(root, &["bind", BOARD, "--group", "0", "--user", "0"]);
    assert!(!succeeded);
}

/// A kernel that has iommufd, and no groups of VFIO or no containers for them.
#[test]
fn the_boards_own_node_is_given_where_there_are_no_groups() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    device(root, BOARD, Some("3"), Some("vfio-pci"));
    let sysfs = root.join("sys/bus/pci/devices").join(BOARD);
    for directory in [sysfs.join("vfio-dev/vfio7"), root.join("dev/vfio/devices")] {
        fs::create_dir_all(directory).unwrap();
    }
    let nodes = ["dev/vfio/devices/vfio7", "dev/iommu", "dev/vfio/3"].map(|node| root.join(node));
    for node in &nodes {
        fs::write(node, "").unwrap();
        fs::set_permissions(node, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let user = fs::metadata(root).unwrap().uid().to_string();
    let modes = || {
        nodes
            .each_ref()
            .map(|node| fs::metadata(node).unwrap().mode() & 0o777)
    };
    let (succeeded, text) = run(root, &["bind", BOARD, "--user", &user]);
    assert!(
        succeeded && text.contains("dev/vfio/devices/vfio7"),
        "{text}"
    );
    assert_eq!(modes(), [0o600, 0o666, 0o644]);
    // With containers the group comes first.
    fs::write(root.join("dev/vfio/vfio"), "").unwrap();
    let (succeeded, text) = run(root, &["bind", BOARD, "--user", &user]);
    assert!(succeeded && text.contains("dev/vfio/3"), "{text}");
    assert_eq!(modes(), [0o600, 0o666, 0o600]);
}
