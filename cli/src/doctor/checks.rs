//! Checks of each device and its settings.

use super::pci::{ALTERA, AMD, Bus, NVIDIA, Pci, SHARED_GROUP};
use super::{Finding, missing};
use peerlane_bsp::output;
use peerlane_core::regs::MAP_ID;
use peerlane_host::vfio;
use peerlane_icd_setup::Places;
use peerlane_utilities::Machine;
use peerlane_utilities::setup::{self, Seen};
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks that the board and the GPUs exist.
pub(super) fn devices(bus: &Bus) -> Vec<Finding> {
    let mut findings = Vec::new();
    for board in bus.boards() {
        let name = match board.file("peerlane/board") {
            Some(name) => format!("board {name} at {}", board.name()),
            None => format!("FPGA at {}", board.name()),
        };
        let slot = &board.slot;
        findings.push(match board.driver.as_deref() {
            _ if board.is_board() => Finding::ok("device", name),
            _ if board.is_by_vfio() => Finding::ok("device", format!("{name}, for programs by VFIO")),
            // drivers/fpga/altera-cvp.c of the kernel, which matches every device of Altera's.
            Some("altera-cvp") => Finding::wrong(
                "device",
                format!("{name} is bound to altera-cvp, a kernel driver that binds to every Altera FPGA"),
                format!("As root: echo {slot} > /sys/bus/pci/drivers/altera-cvp/unbind; echo {slot} > /sys/bus/pci/drivers/peerlane/bind. To have peerlane loaded first from then on, copy driver/udev/peerlane.modprobe.conf to /etc/modprobe.d."),
            ),
            Some(other) => Finding::note(
                "device",
                format!("{name} is bound to another driver, {other}"),
                format!("If it is an extended board, as root: echo {slot} > /sys/bus/pci/drivers/{other}/unbind; echo {slot} > /sys/bus/pci/drivers/peerlane/bind. Or use it without the kernel module: peerlane bind {slot}."),
            ),
            None => Finding::note(
                "device",
                format!("{name} is not bound to the driver"),
                format!("If it is an extended board: configure it with a platform of `peerlane extend`, rescan the bus (echo 1 > /sys/bus/pci/rescan) and load the driver. Or use it without the kernel module: peerlane bind {slot}."),
            ),
        });
    }
    if findings.is_empty() {
        findings.push(Finding::wrong(
            "device",
            "there is no board: no Altera PCI device, and no device that is bound to the driver",
            "Configure the FPGA with a platform of `peerlane extend`, restart the computer so that the firmware finds it, and look at lspci -d 1172:.",
        ));
    }
    findings.extend(bus.displays().filter(|found| !found.is_gpu()).map(|found| {
        Finding::note(
            "device",
            format!(
                "the display controller at {} is not a GPU for a board",
                found.name()
            ),
            "Nothing to do: it belongs to the mainboard, the processor or a virtual machine.",
        )
    }));
    let mut gpus = bus.gpus().peekable();
    if gpus.peek().is_none() {
        findings.push(Finding::note(
            "device",
            "there is no GPU",
            "Transfers between the board and host memory do not need one.",
        ));
    }
    findings.extend(gpus.map(|gpu| {
        let driver = gpu.driver.as_deref();
        let name = format!("GPU at {}", gpu.name());
        match driver {
            Some(driver) => Finding::ok("device", format!("{name}, driver {driver}")),
            None => Finding::wrong(
                "device",
                format!("{name} has no driver"),
                "Load the GPU's driver: nvidia (the open kernel modules export dma-bufs) or amdgpu.",
            ),
        }
    }));
    findings
}

/// Checks the links: whether they are as fast as possible, and their packet sizes.
pub(super) fn links(bus: &Bus) -> Vec<Finding> {
    bus.boards().chain(bus.gpus()).flat_map(link).collect()
}

fn link(device: &Pci) -> Vec<Finding> {
    const ABOUT: &str = "link";
    let file = |name: &str| device.file(name);
    let speed = |name: &str| {
        let text = file(name)?;
        let number: f64 = text.split_whitespace().next()?.parse().ok()?;
        Some((number, text))
    };
    let width = |name: &str| file(name)?.parse::<u32>().ok();
    let slot = &device.slot;
    let mut findings = Vec::new();
    let now = speed("current_link_speed").zip(width("current_link_width"));
    let most = speed("max_link_speed").zip(width("max_link_width"));
    match (now, most) {
        (Some(((speed, text), width)), Some(((most, most_text), wide))) => {
            let is = format!("{slot} has {text} x{width}");
            findings.push(match speed >= most && width >= wide {
                true => Finding::ok(ABOUT, is),
                // GPUs slow their links down while they are idle.
                false if width >= wide && device.class >> 16 == 3 => Finding::note(
                    ABOUT,
                    format!("{is}, of {most_text} x{wide}"),
                    "GPUs lower the speed while they are idle: look again under load.",
                ),
                false => Finding::wrong(
                    ABOUT,
                    format!("{is}, of {most_text} x{wide}"),
                    "Put it into a slot with as many lanes, and look at the slot's settings in the firmware (speed, bifurcation), the riser, and how the card sits.",
                ),
            });
        }
        _ => findings.push(Finding::note(
            ABOUT,
            format!("{slot} does not report the speed of its link"),
            "Look at lspci -vv.",
        )),
    }
    let Some((payload, could)) = device.payload() else {
        findings.push(Finding::note(
            ABOUT,
            format!("the sizes of payloads and read requests of {slot} cannot be read"),
            "Run the command as root: other users can read only 64 bytes of a device's configuration.",
        ));
        return findings;
    };
    let request = device.read_request().unwrap_or(0);
    let is = format!(
        "{slot} has payloads of {payload} bytes (MPS) and read requests of {request} (MRRS)"
    );
    // pci=pcie_bus_perf would help payloads, too, but makes read requests as small as payloads (Linux,
    // drivers/pci/probe.c, pcie_write_mrrs), with which a board with a Txs port is refused.
    findings.push(if payload < could.min(256) {
        Finding::note(
            ABOUT,
            format!("{is}; it could have payloads of {could}"),
            "Boot with pci=pcie_bus_safe: it sets the largest payload that all devices below a root port accept.",
        )
    } else if request < 512 {
        Finding::note(
            ABOUT,
            format!("{is}; 512 or more are usual"),
            "Boot without pci=pcie_bus_perf, if that is set: it makes read requests as small as payloads.",
        )
    } else {
        Finding::ok(ABOUT, is)
    });
    findings
}

/// Checks the driver and the board's bitstream.
pub(super) fn driver(root: &Path, bus: &Bus) -> Vec<Finding> {
    const ABOUT: &str = "driver";
    let loaded = root.join("sys/bus/pci/drivers/peerlane").is_dir();
    let boards: Vec<&Pci> = bus.boards().filter(|board| board.is_board()).collect();
    if boards.is_empty() && bus.boards().any(Pci::is_by_vfio) {
        return Vec::new();
    }
    if !loaded && boards.is_empty() {
        return vec![missing::why(root)];
    }
    if boards.is_empty() {
        return vec![Finding::wrong(
            ABOUT,
            "the driver peerlane is loaded, but has no board",
            "dmesg | grep peerlane shows why a board was refused. `peerlane install-board` installs the \
             description of a board for the driver.",
        )];
    }
    let mut findings = Vec::new();
    for board in boards {
        let says = |name: &str| board.file(&format!("peerlane/{name}"));
        let expected = format!("{MAP_ID:#010x}");
        let slot = &board.slot;
        findings.push(match says("map_id") {
            Some(map) if map == expected => Finding::ok(
                ABOUT,
                format!(
                    "{slot}: driver, bitstream (build {}) and this command have register map {map}",
                    says("build_id").unwrap_or_default()
                ),
            ),
            Some(map) => Finding::wrong(
                ABOUT,
                format!(
                    "{slot}: driver and bitstream have register map {map}, this command has {expected}"
                ),
                "Take driver, BSP and programs from one version of Peerlane.",
            ),
            None => Finding::wrong(
                ABOUT,
                format!("{slot}: the driver does not report the board's register map"),
                "Take driver, BSP and programs from one version of Peerlane.",
            ),
        });
        let state = says("state").unwrap_or_else(|| "unknown".into());
        findings.push(match state.as_str() {
            "ready" => Finding::ok(ABOUT, format!("{slot} is ready")),
            _ => Finding::wrong(
                ABOUT,
                format!("{slot} is not ready: {state}"),
                "Wait a few seconds and look again. docs/operate/troubleshooting.md explains the lines of the driver's log.",
            ),
        });
        for (free, of, what) in [
            ("channels_free", "channels", "channels"),
            (
                "att_entries_free",
                "att_entries",
                "entries of the address translation table",
            ),
        ] {
            let (Some(free), Some(of)) = (says(free), says(of)) else {
                continue;
            };
            findings.push(match free == "0" {
                false => Finding::ok(ABOUT, format!("{slot}: {free} of {of} {what} are free")),
                true => Finding::wrong(
                    ABOUT,
                    format!("{slot}: none of {of} {what} is free"),
                    "Find the processes that use them: `peerlane top`, or the file state in the driver's directory \
                     of debugfs.",
                ),
            });
        }
    }
    findings
}

/// Whether a user may open a file for reading and writing, by its mode.
fn may(mode: u32, owner: (u32, u32), user: u32, groups: &[u32]) -> bool {
    let bits = match () {
        () if user == 0 => return true,
        () if owner.0 == user => mode >> 6,
        () if groups.contains(&owner.1) => mode >> 3,
        () => mode,
    };
    bits & 6 == 6
}

/// A user who opens device nodes.
struct User {
    /// Name of the user in messages.
    name: String,
    id: u32,
    groups: Vec<u32>,
}

impl User {
    /// Returns the user of this process; if root runs it for another user by sudo, that user, as root may open
    /// everything.
    fn asking() -> Self {
        let (id, groups) = me();
        let called = std::env::var("SUDO_UID").ok();
        let called = called.and_then(|text| text.parse().ok());
        match called.filter(|called| id == 0 && *called != 0) {
            Some(called) => Self {
                name: std::env::var("SUDO_USER").unwrap_or_else(|_| format!("user {called}")),
                groups: groups_of(called),
                id: called,
            },
            None => Self {
                name: "this user".into(),
                id,
                groups,
            },
        }
    }
}

/// Returns a user's groups, from any source that the computer uses.
fn groups_of(user: u32) -> Vec<u32> {
    let said = Command::new("id").arg("-G").arg(user.to_string()).output();
    let said = said.map(|output| output.stdout).unwrap_or_default();
    let words = String::from_utf8_lossy(&said);
    (words.split_whitespace())
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Returns user and groups of this process (proc_pid_status(5)).
fn me() -> (u32, Vec<u32>) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| {
        let rest = status.lines().find_map(|line| line.strip_prefix(name));
        let words = rest.unwrap_or_default().split_whitespace();
        words
            .filter_map(|word| word.parse().ok())
            .collect::<Vec<u32>>()
    };
    let mut groups = line("Groups:");
    // The order is real, effective, saved, file system.
    groups.extend(line("Gid:").get(1));
    (line("Uid:").get(1).copied().unwrap_or(u32::MAX), groups)
}

/// Checks the device nodes, and whether the user may open them.
pub(super) fn nodes(root: &Path, bus: &Bus) -> Vec<Finding> {
    const ABOUT: &str = "permission";
    let entries = fs::read_dir(root.join("dev"))
        .into_iter()
        .flatten()
        .flatten();
    let numbered = |name: &str| {
        let number = name.strip_prefix("peerlane")?;
        number.parse::<u32>().ok()
    };
    let mut nodes: Vec<_> = entries
        .filter(|entry| entry.file_name().to_str().and_then(numbered).is_some())
        .collect();
    nodes.sort_by_key(std::fs::DirEntry::file_name);
    if nodes.is_empty() && bus.boards().any(Pci::is_board) {
        return vec![Finding::wrong(
            ABOUT,
            "the driver has a board, but there is no /dev/peerlane*",
            "In a container, pass the device in (--device). Elsewhere check that udev runs.",
        )];
    }
    let user = User::asking();
    let finding = |node: fs::DirEntry| {
        let name = format!("/dev/{}", node.file_name().to_string_lossy());
        let Ok(data) = node.metadata() else {
            return Finding::wrong(
                ABOUT,
                format!("{name} cannot be examined"),
                "Check the permissions of its directory.",
            );
        };
        let mode = data.permissions().mode();
        match may(mode, (data.uid(), data.gid()), user.id, &user.groups) {
            true => Finding::ok(ABOUT, format!("{name} may be opened by {}", user.name)),
            false => Finding::wrong(
                ABOUT,
                format!("{name} may not be opened by {}", user.name),
                "Add the user to the group peerlane, to which the driver's udev rule assigns the nodes (usermod -aG peerlane USER), and log in again.",
            ),
        }
    };
    nodes.into_iter().map(finding).collect()
}

/// Checks whether the user can drive the boards that are bound to VFIO.
pub(super) fn vfio(root: &Path, bus: &Bus) -> Vec<Finding> {
    const ABOUT: &str = "vfio";
    let user = User::asking();
    let of = |board: &Pci| {
        let slot = &board.slot;
        let Some(group) = &board.group else {
            return vec![Finding::wrong(
                ABOUT,
                format!("{slot} is bound to vfio-pci, but has no IOMMU"),
                "Switch the IOMMU on in the firmware's settings (VT-d, AMD-Vi), and for Intel boot with intel_iommu=on.",
            )];
        };
        let mut findings = Vec::new();
        for other in bus.beside(board).filter(|other| other.keeps_group()) {
            findings.push(Finding::wrong(
                ABOUT,
                format!(
                    "{slot} cannot be used alone: {} is in its IOMMU group {group}, with driver {}",
                    other.name(),
                    other.driver.as_deref().unwrap_or_default()
                ),
                SHARED_GROUP,
            ));
        }
        for node in board.vfio_nodes(root, group) {
            let name = node.strip_prefix(root).unwrap_or(&node).display();
            findings.push(match node.metadata() {
                Err(_) => Finding::wrong(
                    ABOUT,
                    format!("{slot} has no /{name}"),
                    "In a container, pass it in together with /dev/vfio/vfio (--device). Elsewhere check that udev runs.",
                ),
                Ok(data) if may(data.permissions().mode(), (data.uid(), data.gid()), user.id, &user.groups) => {
                    Finding::ok(ABOUT, format!("/{name} of {slot} may be opened by {}", user.name))
                }
                Ok(_) => Finding::wrong(
                    ABOUT,
                    format!("/{name} of {slot} may not be opened by {}", user.name),
                    format!("As root: peerlane bind {slot} --user USER."),
                ),
            });
        }
        findings
    };
    let mut findings: Vec<_> = bus
        .boards()
        .filter(|board| board.is_by_vfio())
        .flat_map(of)
        .collect();
    // The limit belongs to this process.
    let limit = getrlimit(Resource::Memlock).current;
    if !findings.is_empty() && root == Path::new("/") {
        findings.push(match limit {
            Some(limit) if limit < LEAST_LOCKED && user.id != 0 => Finding::note(
                ABOUT,
                format!("{} may lock {} MiB of memory", user.name, limit >> 20),
                "All memory that is registered is locked. Raise the limit: ulimit -l, LimitMEMLOCK= of the service, or a file in /etc/security/limits.d.",
            ),
            Some(limit) => Finding::ok(ABOUT, format!("{} may lock {} MiB of memory", user.name, limit >> 20)),
            None => Finding::ok(ABOUT, format!("{} may lock all memory", user.name)),
        });
    }
    if !findings.is_empty() && root == Path::new("/") && bus.gpus().any(|gpu| gpu.vendor == NVIDIA)
    {
        findings.push(match vfio::gpu_memory() {
            Ok(()) => Finding::ok(
                ABOUT,
                "memory of NVIDIA's GPUs can be registered, by GDRCopy",
            ),
            Err(error) => Finding::note(ABOUT, error.to_string(), error.hint()),
        });
    }
    findings
}

/// Bytes of locked memory below which a hint is given: systemd's default is 8 MiB.
const LEAST_LOCKED: u64 = 1 << 30;

/// Checks the window to a GPU's memory. NVIDIA's BAR1 is the second existing region of memory, regardless of its
/// number: on an H100 region 2, as its first one takes two registers (open-gpu-kernel-modules, `NV_GPU_BAR_INDEX_FB`,
/// and `nv_pci_probe`, which counts the valid ones). For other GPUs it is the largest region.
pub(super) fn window(bus: &Bus) -> Vec<Finding> {
    const SMALL: u64 = 256 << 20;
    let of = |gpu: &Pci| {
        let bars = gpu.bars();
        let bar = match gpu.vendor {
            NVIDIA => bars.get(1),
            _ => bars.iter().max_by_key(|(_, bytes)| *bytes),
        };
        let slot = &gpu.slot;
        match bar {
            None => Finding::note(
                "bar",
                format!("{slot} has no window to its memory"),
                "Look at lspci -vv: other devices reach a GPU's memory through a window in its BAR.",
            ),
            Some((index, bytes)) if *bytes > SMALL => Finding::ok(
                "bar",
                format!(
                    "{slot} shows {} MiB of its memory (BAR{index})",
                    bytes >> 20
                ),
            ),
            Some((index, bytes)) => Finding::note(
                "bar",
                format!(
                    "{slot} shows {} MiB of its memory (BAR{index}): longer buffers are registered part by part",
                    bytes >> 20
                ),
                match gpu.vendor {
                    NVIDIA | AMD => {
                        "Turn on Above 4G Decoding and Resizable BAR in the firmware's settings, if GPU and firmware have them."
                    }
                    _ => "Nothing to do if transfers are shorter.",
                },
            ),
        }
    };
    bus.gpus().map(of).collect()
}

/// Checks the IOMMUs, and whether they translate for boards and GPUs.
pub(super) fn iommu(root: &Path, bus: &Bus) -> Vec<Finding> {
    const ABOUT: &str = "iommu";
    let entries = fs::read_dir(root.join("sys/class/iommu"));
    let any = entries.is_ok_and(|mut entries| entries.next().is_some());
    if !any {
        return vec![Finding::ok(ABOUT, "no IOMMU is active")];
    }
    let of = |device: &Pci| {
        let slot = &device.slot;
        let Some(group) = &device.group else {
            return Finding::ok(
                ABOUT,
                format!("{slot} is in no group: no IOMMU translates for it"),
            );
        };
        let kind = root
            .join("sys/kernel/iommu_groups")
            .join(group)
            .join("type");
        let kind = fs::read_to_string(kind).unwrap_or_default();
        // Documentation/ABI/testing/sysfs-kernel-iommu_groups.
        match kind.trim() {
            "identity" => Finding::ok(
                ABOUT,
                format!("{slot} is in group {group}, which is not translated"),
            ),
            kind => Finding::note(
                ABOUT,
                format!(
                    "{slot} is in group {group}, whose addresses are translated ({})",
                    if kind.is_empty() {
                        "of unknown kind"
                    } else {
                        kind
                    }
                ),
                "Traffic between devices then passes the root complex, and if the GPU's driver gives raw bus addresses, the data are dropped without an error. If the probe finds that: boot with iommu=pt, or write identity to the group's type while no driver is bound to its devices.",
            ),
        }
    };
    let boards = bus
        .boards()
        .filter(|board| board.is_board() || board.vendor == ALTERA);
    boards.chain(bus.gpus()).map(of).collect()
}

/// Checks the library that the FPGA runtime for OpenCL loads, and how it is found.
pub(super) fn library(root: &Path) -> Vec<Finding> {
    const ABOUT: &str = "library";
    // The environment belongs to this computer.
    let (machine, vendors) = match root == Path::new("/") {
        true => {
            let named = std::env::var_os(setup::VENDORS);
            (Machine::here(), named.map(PathBuf::from))
        }
        false => (Machine::tree(root), None),
    };
    let seen = setup::look(&machine, None, vendors.as_deref());
    let finding = |seen| match seen {
        Seen::Ok(what) => Finding::ok(ABOUT, what),
        Seen::Note(failure) => Finding::note(ABOUT, failure.what, failure.hint),
        Seen::Wrong(failure) => Finding::wrong(ABOUT, failure.what, failure.hint),
    };
    seen.into_iter().map(finding).collect()
}

/// Checks OpenCL's driver for an old vendor library, if it is installed.
pub(super) fn opencl(root: &Path) -> Vec<Finding> {
    const ABOUT: &str = "opencl";
    let places = Places::below(root);
    if !places.icd().exists() {
        return vec![Finding::ok(
            ABOUT,
            "Peerlane's driver for OpenCL's loader is not installed; only vendor libraries before AOCL 15 need it",
        )];
    }
    let report = places.check();
    let said = report.lines.join("; ");
    vec![match report.fault {
        None => Finding::ok(ABOUT, said),
        Some(fault) => Finding::wrong(
            ABOUT,
            format!("no platform: {fault}"),
            "Run `peerlane icd check` for the details; docs/program/icd.md describes the setup.",
        ),
    }]
}

/// Checks the directory of the platform that the SDK uses.
pub(super) fn paths(root: &Path) -> Vec<Finding> {
    // The environment belongs to this computer.
    let Some(named) =
        std::env::var_os("AOCL_BOARD_PACKAGE_ROOT").filter(|_| root == Path::new("/"))
    else {
        return Vec::new();
    };
    let unfit = output::unfit_for_aoc(Path::new(&named));
    let finding = |what| {
        Finding::wrong(
            "path",
            format!("AOCL_BOARD_PACKAGE_ROOT: {what}"),
            "Move the platform to a directory without blanks in its path.",
        )
    };
    unfit.map(finding).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_as_the_kernel_reads_it() {
        let (root, mine) = ((0, 0), (1000, 1000));
        assert!(may(0, mine, 0, &[]));
        assert!(may(0o660, mine, 1000, &[]) && !may(0o066, mine, 1000, &[1000]));
        assert!(may(0o660, (0, 44), 1000, &[1000, 44]) && !may(0o640, (0, 44), 1000, &[44]));
        assert!(!may(0o660, root, 1000, &[1000]) && may(0o666, root, 1000, &[]));
    }
}
