//! `peerlane bind` and `peerlane unbind`.

use std::fmt;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::commands::{Outcome, publish};
use crate::doctor::pci::{Bus, Pci, SHARED_GROUP};
use peerlane_demo::error::Error;
use peerlane_host::vfio::{DRIVER, is_address};
use rustix::process::geteuid;

/// The longest time until the kernel has made the nodes of a board.
const NODE: Duration = Duration::from_secs(5);

/// The rule by which a computer binds a board at each start.
const RULES: &str = "etc/udev/rules.d";

/// The kernel's files with the IDs of a device.
const IDS: [&str; 4] = ["vendor", "device", "subsystem_vendor", "subsystem_device"];

/// The number that the kernel takes for no user and no group.
const NOBODY: u32 = u32::MAX;

/// Bind a board to vfio-pci, so that a user drives it without Peerlane's kernel module.
///
/// The board is taken from its present driver. No other device of its IOMMU group may have a driver, except bridges. The
/// user needs a high enough limit of locked memory (ulimit -l): all memory that is registered is locked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo peerlane bind 0000:01:00.0 --user alice
  sudo peerlane bind 0000:01:00.0 --user alice --always
  sudo peerlane bind 0000:01:00.0 --group fpga --always
  peerlane doctor

The exit status is 0 on success, else 2.")]
pub struct Args {
    /// PCI address of the board, as lspci -D lists it.
    #[arg(value_name = "ADDRESS")]
    board: String,
    /// Owner of the board from now on, by name or number; root if it is not given.
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Group whose members open the board from now on, one at a time; by name or number.
    #[arg(long, value_name = "GROUP", conflicts_with = "user")]
    group: Option<String>,
    /// Also bind the board at each start of the computer, by a rule of udev.
    #[arg(long)]
    always: bool,
    /// Bind only a device with these IDs; the rule of udev gives them.
    #[arg(long, value_name = "IDS", hide = true)]
    only: Option<String>,
    /// Root directory of the system.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Take a board back from vfio-pci, and give it to the driver that the kernel chooses, if there is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo peerlane unbind 0000:01:00.0

The command waits until programs that use the board have closed it. The exit status is 0 on success, else 2.")]
pub struct UnbindArgs {
    /// PCI address of the board, as lspci -D lists it.
    #[arg(value_name = "ADDRESS")]
    board: String,
    /// Root directory of the system.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// The files of the kernel about a device.
struct Files<'a> {
    root: &'a Path,
    slot: &'a str,
}

impl Files<'_> {
    fn device(&self, name: &str) -> PathBuf {
        let devices = self.root.join("sys/bus/pci/devices");
        devices.join(self.slot).join(name)
    }

    /// Returns the IDs of the device, as the kernel's files have them.
    fn ids(&self) -> Result<[String; 4], Error> {
        let mut ids = [const { String::new() }; 4];
        for (id, name) in ids.iter_mut().zip(IDS) {
            let path = self.device(name);
            let text = fs::read_to_string(&path);
            *id = text
                .map_err(|error| Error::io(&path, "read the board's IDs", &error))?
                .trim()
                .to_owned();
        }
        Ok(ids)
    }

    /// Removes the rule, if there is one.
    fn remove_rule(&self) -> Result<(), Error> {
        let rule = self.rule();
        if rule.exists() {
            fs::remove_file(&rule).map_err(|error| Error::io(&rule, "remove the rule", &error))?;
            println!("removed: {}", rule.display());
        }
        Ok(())
    }

    fn rule(&self) -> PathBuf {
        let name = format!("60-peerlane-vfio-{}.rules", self.slot);
        self.root.join(RULES).join(name)
    }

    fn write(&self, path: &Path, text: &str, doing: &str) -> Result<(), Error> {
        fs::write(path, text).map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => Error::new(
                path,
                format!("cannot {doing}: {error}"),
                "Run the command as root.",
            ),
            _ => Error::io(path, doing, &error),
        })
    }

    /// Takes the device from its driver, if it has one.
    fn release(&self, driver: Option<&str>) -> Result<(), Error> {
        match driver {
            None => Ok(()),
            Some(_) => self.write(
                &self.device("driver/unbind"),
                self.slot,
                "take the board from its driver",
            ),
        }
    }

    /// Lets the kernel choose a driver, by `driver_override` first.
    fn probe(&self) -> Result<(), Error> {
        let path = self.root.join("sys/bus/pci/drivers_probe");
        self.write(&path, self.slot, "bind the board")
    }
}

/// Finds a device.
fn find<'a>(bus: &'a Bus, root: &Path, slot: &str) -> Result<&'a Pci, Error> {
    let mut devices = bus.devices.iter();
    devices.find(|device| device.slot == slot).ok_or_else(|| {
        Error::new(
            root.join("sys/bus/pci/devices"),
            format!("there is no PCI device {slot}"),
            "Give an address as lspci -D lists it, for example 0000:01:00.0.",
        )
    })
}

/// Runs `peerlane bind`.
pub fn run(args: &Args) -> Outcome {
    let files = Files {
        root: &args.root,
        slot: &args.board,
    };
    let bus = Bus::read(&args.root);
    let board = find(&bus, &args.root, &args.board)?;
    if let Some(only) = &args.only {
        let ids = files.ids()?.join(":");
        if ids != *only {
            return Err(Error::new(
                files.device("device"),
                format!(
                    "{} is another device than the rule is for: its IDs are {ids}, not {only}",
                    args.board
                ),
                "Find the board's new address with lspci -D, and bind it there with --always.",
            ));
        }
    }
    let Some(group) = &board.group else {
        return Err(Error::new(
            files.device("iommu_group"),
            format!("{} has no IOMMU", board.name()),
            "Switch the IOMMU on in the firmware's settings (VT-d, AMD-Vi), and for Intel boot with intel_iommu=on. Without an IOMMU, use the kernel module.",
        ));
    };
    let owner = Owner::of(args)?;
    let program = args
        .always
        .then(|| program_of_root(&args.root))
        .transpose()?;
    if let Some(other) = bus.beside(board).find(|other| other.keeps_group()) {
        return Err(Error::new(
            files.device("iommu_group"),
            format!(
                "{} is in IOMMU group {group} together with {}, whose driver is {}",
                board.name(),
                other.name(),
                other.driver.as_deref().unwrap_or_default()
            ),
            SHARED_GROUP,
        ));
    }
    if !args.root.join("sys/bus/pci/drivers").join(DRIVER).exists() {
        // If it is not there, the probe below fails with a message.
        let _ = Command::new("modprobe").arg(DRIVER).status();
    }
    if board.driver.as_deref() != Some(DRIVER) {
        files.write(
            &files.device("driver_override"),
            DRIVER,
            "choose the driver vfio-pci",
        )?;
        files.release(board.driver.as_deref())?;
        files.probe()?;
    }
    // A reset of the function alone would not reach the FPGA's fabric. Kernels before 5.15 do not have the file, and
    // VFIO then resets the bus on request.
    let methods = files.device("reset_method");
    if methods.exists() && fs::write(&methods, "bus").is_err() {
        println!("note: {} cannot be reset by its bus", board.name());
    }
    if let Some(note) = read_request(&files, board) {
        println!("note: {note}");
    }
    let now = Bus::read(&args.root);
    let driver = find(&now, &args.root, &args.board)?.driver.clone();
    if driver.as_deref() != Some(DRIVER) {
        return Err(Error::new(
            args.root.join("sys/bus/pci/drivers").join(DRIVER),
            format!("vfio-pci did not take {}", board.name()),
            "See dmesg for the reason. Is the module there (modprobe vfio-pci)?",
        ));
    }
    let begin = Instant::now();
    let nodes = loop {
        let nodes = board.vfio_nodes(&args.root, group);
        if nodes[0].exists() || begin.elapsed() >= NODE {
            break nodes;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let failed = |node: &Path, error| Error::io(node, "give the board to its owner", &error);
    owner
        .give(&nodes[0])
        .map_err(|error| failed(&nodes[0], error))?;
    for shared in &nodes[1..] {
        // As `/dev/vfio/vfio`, it reaches no device without the device's own node, and locks memory within the user's
        // limit.
        fs::set_permissions(shared, fs::Permissions::from_mode(0o666))
            .map_err(|error| failed(shared, error))?;
    }
    if let Some(program) = program {
        let text = rule(&args.board, &files.ids()?, owner, &program);
        publish(&files.rule(), "write the rule", text.as_bytes())?;
        println!("written: {}", files.rule().display());
    } else if args.only.is_none() {
        // A rule of earlier would give the board to its user at the next start.
        files.remove_rule()?;
    }
    println!(
        "{} is bound to vfio-pci: {}",
        board.name(),
        nodes[0].display()
    );
    // A bridge between the board and the processor stays with its own driver.
    for other in bus.beside(board).filter(|other| other.class >> 8 != BRIDGE) {
        println!(
            "note: {} is in the same IOMMU group {group}, and belongs to its user, too",
            other.name()
        );
    }
    println!("next: peerlane doctor checks permissions and locked memory, and moves data");
    Ok(ExitCode::SUCCESS)
}

/// Sets a Max Read Request Size of 512 bytes, with which a Txs port reads correctly. Programs cannot: VFIO does not let
/// them see the hardware's value. Returns a note if it is smaller.
fn read_request(files: &Files<'_>, board: &Pci) -> Option<String> {
    /// Device Control in the PCI Express capability (PCI Express Base Specification, 7.5.3.4), and 512 bytes in it.
    const CONTROL: u64 = 8;
    const MASK: u16 = 7 << 12;
    const WANTED: u16 = 2 << 12;
    if board.read_request().is_none_or(|bytes| bytes >= 512) {
        return None;
    }
    let set = || {
        let file = fs::File::options()
            .read(true)
            .write(true)
            .open(files.device("config"))
            .ok()?;
        let place = board.express()? as u64 + CONTROL;
        let mut word = [0; 2];
        file.read_exact_at(&mut word, place).ok()?;
        let control = u16::from_le_bytes(word) & !MASK | WANTED;
        file.write_all_at(&control.to_le_bytes(), place).ok()?;
        file.read_exact_at(&mut word, place).ok()?;
        (u16::from_le_bytes(word) & MASK >= WANTED).then_some(())
    };
    match set() {
        Some(()) => None,
        None => Some(format!(
            "the Max Read Request Size of {} stays below 512 bytes: a board with a Txs port cannot be used. Boot without pci=pcie_bus_perf",
            board.name()
        )),
    }
}

/// Class and subclass of PCI bridges (PCI Code and ID Assignment Specification, 1.7).
const BRIDGE: u32 = 0x0604;

/// The owner of a board.
#[derive(Debug, Clone, Copy)]
enum Owner {
    User(u32),
    Group(u32),
}

impl Owner {
    fn of(args: &Args) -> Result<Self, Error> {
        Ok(match (&args.user, &args.group) {
            (_, Some(group)) => Self::Group(number("group", group)?),
            (Some(user), None) => Self::User(number("user", user)?),
            (None, None) => Self::User(0),
        })
    }

    /// Gives a node to the owner. No other user opens it from now on.
    fn give(self, node: &Path) -> std::io::Result<()> {
        let (user, group, mode) = match self {
            Self::User(user) => (user, None, 0o600),
            // It may have been an earlier user's.
            Self::Group(group) => (geteuid().as_raw(), Some(group), 0o660),
        };
        chown(node, Some(user), group)?;
        fs::set_permissions(node, fs::Permissions::from_mode(mode))
    }
}

impl fmt::Display for Owner {
    /// Writes the command's option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => write!(f, "--user {user}"),
            Self::Group(group) => write!(f, "--group {group}"),
        }
    }
}

/// Returns the number of a user or a group.
fn number(kind: &str, name: &str) -> Result<u32, Error> {
    let number = match name.parse() {
        Ok(number) => Some(number),
        Err(_) => number_of(kind, name),
    };
    number.filter(|number| *number != NOBODY).ok_or_else(|| {
        Error::new(
            Path::new(&format!("--{kind}")),
            format!("there is no {kind} {name}"),
            format!("Give the name or the number of a {kind} of this computer."),
        )
    })
}

/// Returns the number of a user or a group with a name.
fn number_of(kind: &str, name: &str) -> Option<u32> {
    // Fields of a line (passwd(5), group(5)).
    let database = if kind == "user" { "passwd" } else { "group" };
    let said = Command::new("getent")
        .args([database, "--", name])
        .output()
        .ok()?;
    let line = String::from_utf8(said.stdout).ok()?;
    line.split(':').nth(2)?.trim().parse().ok()
}

/// Returns this program's file, if only root can replace it: the rule runs it as root.
fn program_of_root(root: &Path) -> Result<String, Error> {
    let program = std::env::current_exe();
    let program = program
        .map_err(|error| Error::io(Path::new("/proc/self/exe"), "find this program", &error))?;
    let text = program.display().to_string();
    let is_safe = |path: &Path| {
        fs::metadata(path)
            .is_ok_and(|data| data.uid() == 0 && data.permissions().mode() & 0o022 == 0)
    };
    // Another root is that of a test.
    let of_root = root != Path::new("/") || program.ancestors().all(is_safe);
    match of_root && !text.contains([' ', '"', '%', '$']) {
        true => Ok(text),
        false => Err(Error::new(
            &program,
            "another user can replace this program, or its path has characters that a rule cannot have; the rule would run it as root",
            "Install the command for all users first: sudo install \"$(command -v peerlane)\" /usr/local/bin/. Then run /usr/local/bin/peerlane.",
        )),
    }
}

/// Returns the rule that binds a board when the kernel finds it. After a change of the computer's devices, another one
/// may have its address: so the rule and its command compare the IDs.
fn rule(slot: &str, ids: &[String; 4], owner: Owner, program: &str) -> String {
    let matches = IDS.iter().zip(ids);
    let matches: String = matches
        .map(|(name, id)| format!("ATTR{{{name}}}==\"{id}\", "))
        .collect();
    let only = ids.join(":");
    format!(
        "# Written by peerlane bind --always; peerlane unbind removes it.\n\
         ACTION==\"add\", SUBSYSTEM==\"pci\", KERNEL==\"{slot}\", {matches}\
         RUN+=\"{program} bind {slot} {owner} --only {only}\"\n"
    )
}

/// Runs `peerlane unbind`.
pub fn unbind(args: &UnbindArgs) -> Outcome {
    let files = Files {
        root: &args.root,
        slot: &args.board,
    };
    // Also of a board that is not there any more.
    if is_address(&args.board) {
        files.remove_rule()?;
    }
    let bus = Bus::read(&args.root);
    let board = find(&bus, &args.root, &args.board)?;
    if board.driver.as_deref() != Some(DRIVER) {
        println!("{} is not bound to vfio-pci", board.name());
        return Ok(ExitCode::SUCCESS);
    }
    // An empty line: the kernel chooses by the device's IDs.
    files.write(
        &files.device("driver_override"),
        "\n",
        "let the kernel choose the driver",
    )?;
    files.release(board.driver.as_deref())?;
    files.probe()?;
    let now = Bus::read(&args.root);
    let driver = find(&now, &args.root, &args.board)?.driver.clone();
    match driver {
        Some(driver) => println!("{} is bound to {driver}", board.name()),
        None => println!("{} has no driver", board.name()),
    }
    Ok(ExitCode::SUCCESS)
}
