//! `install` and `uninstall`.
//!
//! `install` writes the file that leads the runtime to the library, where the runtime reads one; a record of the
//! platform; the group that may use the boards, and the rules by which their nodes get that group. Then it loads the
//! driver. Files of other software stay, and `uninstall` does not remove them: the first line of our files marks them
//! as ours.

use crate::fcd::{Fcd, Form};
use crate::installed::{Client, Records, client, kind, misplaced};
use crate::library::Library;
use crate::machine::check_rights;
use crate::setup::{VENDORS, for_another_runtime, open_to_all};
use crate::{Failure, Machine, Platform, Result, Stopped};
use std::fs::Permissions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first line of files that only `uninstall` removes.
const OURS: &str = "# Written by `aocl install` of Peerlane; `aocl uninstall` takes it away.\n";

/// Files that all platforms need once: path and text.
const SHARED: [(&str, &str); 2] = [
    (
        "/usr/lib/sysusers.d/peerlane.conf",
        include_str!("../../../driver/udev/peerlane.sysusers"),
    ),
    (
        "/usr/lib/udev/rules.d/60-peerlane.rules",
        include_str!("../../../driver/udev/60-peerlane.rules"),
    ),
];

/// Commands that make the system read them.
const READ: [(&str, &[&str]); 3] = [
    ("systemd-sysusers", &[]),
    ("udevadm", &["control", "--reload"]),
    ("udevadm", &["trigger", "--subsystem-match=misc"]),
];

/// Arguments of the command.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory of the `.fcd` file; else the one where `aocl` looks.
    pub directory: Option<PathBuf>,
    /// Write only that file.
    pub fcd_only: bool,
    /// Only print the changes, without making them.
    pub dry_run: bool,
}

/// A file that must exist, or must not exist any more.
struct Wanted {
    path: PathBuf,
    text: Option<String>,
    /// The text that it replaces.
    before: Option<String>,
}

/// Sets the machine up for the platform's boards; the steps go to `say`. A second call changes nothing.
///
/// # Errors
/// All missing parts, before anything is written; or the reason why a file could not be written, when all is as before.
pub fn install(
    machine: &Machine,
    platform: &Platform,
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let directory = options.directory.as_deref();
    let mut missing = Vec::new();
    let mut wanted = match options.fcd_only {
        true => Vec::new(),
        false => shared(machine, say),
    };
    for library in &platform.libraries {
        match Library::of(library) {
            Ok(kind) => {
                say(format!("{}: {}", library.display(), kind.text()));
                let remark = for_another_runtime(platform, kind);
                remark
                    .into_iter()
                    .for_each(|remark| say(remark.to_string()));
            }
            Err(failure) => missing.push(failure),
        }
        if let Some(failure) = open_to_all(library) {
            say(failure.to_string());
        }
    }
    for form in Form::ALL {
        for stale in Fcd::of(machine, platform, directory, form)?.stale() {
            say(format!(
                "{}: names a library that is not there; the runtime reports this at each start. Remove the file if its \
                 platform is gone",
                stale.display()
            ));
        }
    }
    if let Some(kind) = kind(platform) {
        for fcd in misplaced(machine, platform, kind, directory) {
            say(format!(
                "{}: will be removed: the runtime of this version does not read it, and the runtime that reads it ends \
                 programs",
                fcd.path.display()
            ));
            wanted.push(Wanted {
                path: fcd.path,
                text: None,
                before: Some(fcd.text),
            });
        }
        match client(machine, platform, kind, directory, &[]) {
            Err(failure) => missing.push(failure),
            Ok(client) => wanted.extend(led(client, say)),
        }
    }
    let record = Records::of(machine, own(options)).path(platform);
    let before = std::fs::read_to_string(&record).ok();
    let text = Records::text(platform);
    if before.as_ref() != Some(&text) {
        wanted.push(Wanted {
            path: record,
            text: Some(text),
            before,
        });
    }
    let mut directories = wanted.iter().filter_map(|file| file.path.parent());
    match directories.find_map(|directory| check_rights(directory).err()) {
        // Nothing is written, so a dry run does not need root.
        Some(failure) if options.dry_run => say(failure.to_string()),
        refused => missing.extend(refused),
    }
    if !options.fcd_only {
        missing.extend(check_driver(machine, platform).err());
    }
    if options.dry_run {
        for file in &wanted {
            let does = if file.text.is_some() {
                "write"
            } else {
                "remove"
            };
            say(format!("would {does} {}", file.path.display()));
        }
    } else if missing.is_empty() {
        put_all(&wanted)?;
        for file in &wanted {
            let done = if file.text.is_some() {
                "written"
            } else {
                "removed"
            };
            say(format!("{}: {done}", file.path.display()));
        }
    }
    if options.dry_run && !options.fcd_only {
        start(machine, &wanted, true, say)?;
    }
    if !missing.is_empty() {
        return Err(Failure::all(missing, "Then run this again."));
    }
    match options.fcd_only || options.dry_run {
        true => Ok(()),
        false => start(machine, &wanted, false, say).inspect_err(|_| take_away(&wanted)),
    }
}

/// Returns the directory that has its own records: nothing is written elsewhere.
fn own(options: &Options) -> Option<&Path> {
    let directory = options.directory.as_deref();
    directory.filter(|_| options.fcd_only)
}

/// Returns the file that is to be written so that a runtime finds a library.
fn led(client: Client, say: &mut dyn FnMut(String)) -> Option<Wanted> {
    match client {
        Client::Write(fcd) => Some(Wanted {
            before: std::fs::read_to_string(&fcd.path).ok(),
            path: fcd.path,
            text: Some(fcd.text),
        }),
        Client::There(path) => {
            say(format!("{}: is there already", path.display()));
            None
        }
        Client::Served { by, instead_of } => {
            say(format!(
                "{} leads the runtime to the boards of all platforms already; {} is not written",
                by.display(),
                instead_of.display()
            ));
            None
        }
        Client::Linked => {
            say(
                "the runtime of this version reads no file that leads to the library: programs are linked with it (aocl \
                 link-config)"
                    .into(),
            );
            None
        }
    }
}

/// Returns the files that all platforms need and that are missing.
fn shared(machine: &Machine, say: &mut dyn FnMut(String)) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (path, text) in SHARED {
        let path = machine.path(path);
        let directory = path.parent().unwrap_or(&path);
        if path.exists() {
            say(format!("{}: is there already", path.display()));
        // In a tree of files no system runs yet that would not read them.
        } else if !directory.is_dir() && machine.commands().is_some() {
            say(format!(
                "{}: this system has no such directory; make sure that your user may open /dev/peerlane*",
                path.display()
            ));
        } else {
            let text = format!("{OURS}{text}");
            wanted.push(Wanted {
                path,
                text: Some(text),
                before: None,
            });
        }
    }
    wanted
}

/// Refuses if the driver is not loaded and cannot be loaded.
fn check_driver(machine: &Machine, platform: &Platform) -> Result<()> {
    let Some(commands) = machine.commands() else {
        return Ok(());
    };
    if machine.has_driver() || machine.has_board_by_vfio() {
        return Ok(());
    }
    let found = commands.run("modprobe", &["--dry-run", "peerlane"]);
    found.map_err(|stopped| match stopped {
        Stopped::Absent => Failure::new(
            format!("cannot check whether the driver is installed: modprobe: {stopped}"),
            "Install modprobe (Debian's package kmod), or load the driver by hand.",
        ),
        Stopped::Failed(said) => Failure::new(
            format!("the driver is not installed for this kernel (modprobe: {said})"),
            format!(
                "Build and install it: step 6 of {}.",
                platform.root.join("README.md").display(),
            ),
        ),
    })
}

/// Makes the system read the written files, and loads the driver.
fn start(
    machine: &Machine,
    wanted: &[Wanted],
    dry_run: bool,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let Some(commands) = machine.commands() else {
        return Ok(());
    };
    let ours = |file: &Wanted| {
        file.text
            .as_ref()
            .is_some_and(|text| text.starts_with(OURS))
    };
    let rules = wanted.iter().any(ours);
    for (program, arguments) in READ.iter().filter(|_| rules) {
        let line = [&[*program], *arguments].concat().join(" ");
        if dry_run {
            say(format!("would run {line}"));
        } else if let Err(error) = commands.run(program, arguments) {
            say(format!(
                "{line}: {error}. The rules are read when the system starts again"
            ));
        }
    }
    if machine.has_driver() {
        say("the driver is loaded already".into());
        return Ok(());
    }
    if machine.has_board_by_vfio() {
        say("a board is bound to vfio-pci: the driver is not needed".into());
        return Ok(());
    }
    if dry_run {
        say("would run modprobe peerlane".into());
        return Ok(());
    }
    let loaded = commands.run("modprobe", &["peerlane"]);
    loaded.map_err(|error| {
        Failure::new(
            format!("the driver cannot be loaded (modprobe: {error})"),
            "Run this as root. If the module is refused, the kernel's log has the reason.",
        )
    })?;
    say("the driver is loaded".into());
    Ok(())
}

/// Removes the changes of [`install`], and nothing else. A second call changes nothing.
///
/// # Errors
/// The reason why something cannot be removed.
pub fn uninstall(
    machine: &Machine,
    platform: &Platform,
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let directory = options.directory.as_deref();
    let records = Records::of(machine, own(options));
    let mut gone = Vec::new();
    let files = Form::ALL.map(|form| Fcd::of(machine, platform, directory, form));
    let mut others = None;
    // If the library is gone, too, it counts as the open runtime's.
    let form = kind(platform).map_or(Some(Form::Fcd), |kind| Form::of(kind, platform));
    for (fcd, of) in files.into_iter().zip(Form::ALL) {
        let fcd = fcd?;
        others = others.or_else(|| fcd.other(&[]));
        match fcd.there() {
            Ok(Some(true)) => gone.push(fcd.path),
            Ok(None) if form == Some(of) => {
                let which = match options.directory {
                    Some(_) => String::new(),
                    None => format!(
                        "; if it is in a directory that {VENDORS} named, run this with the same value (sudo -E keeps \
                         it)"
                    ),
                };
                say(format!("{}: is not there{which}", fcd.path.display()));
            }
            Ok(None) => {}
            there @ (Ok(Some(false)) | Err(_)) => {
                say(format!(
                    "{}: stays, it belongs to another platform",
                    fcd.path.display()
                ));
                // A file that leads to a library of Peerlane's needs the driver, like files of other names.
                if there.is_ok() {
                    others.get_or_insert(fcd.path);
                }
            }
        }
    }
    let left = records.others(platform);
    let heirs = heirs(machine, &left, directory, &gone)?;
    others = others.or_else(|| left.first().map(|platform| platform.root.clone()));
    let record = records.path(platform);
    if std::fs::read_to_string(&record).is_ok_and(|text| text == Records::text(platform)) {
        gone.push(record.clone());
    }
    let last = others.is_none() && !options.fcd_only;
    if let Some(other) = others.filter(|_| !options.fcd_only) {
        say(format!(
            "driver and rules stay, {} needs them",
            other.display()
        ));
    }
    for (path, _) in SHARED.iter().filter(|_| last) {
        let path = machine.path(path);
        match std::fs::read_to_string(&path) {
            Ok(text) if text.starts_with(OURS) => gone.push(path),
            Ok(_) => say(format!(
                "{}: stays, `install` did not write it",
                path.display()
            )),
            Err(_) => {}
        }
    }
    for path in &gone {
        check_rights(path.parent().unwrap_or(path))?;
    }
    if last {
        unload(machine, options.dry_run, say)?;
    }
    if !options.dry_run {
        put_all(&heirs)?;
    }
    for file in &heirs {
        let does = if options.dry_run { "would be" } else { "is" };
        say(format!(
            "{}: {does} written, it leads the runtime to the boards of the platforms that stay",
            file.path.display()
        ));
    }
    for path in &gone {
        if options.dry_run {
            say(format!("would remove {}", path.display()));
            continue;
        }
        std::fs::remove_file(path).map_err(|error| Failure::io(path, "be removed", &error))?;
        say(format!("{}: removed", path.display()));
    }
    let tree = machine.commands().is_none();
    let below = |path: &Path, top: &str| path.starts_with(machine.path(top));
    let made = |path: &Path| {
        tree || directory.is_none() && below(path, "/opt") || below(path, "/var/lib/peerlane")
    };
    for path in gone.iter().filter(|path| !options.dry_run && made(path)) {
        remove_empty(machine, path);
    }
    let rules = gone.iter().any(|path| below(path, "/usr"));
    if let (Some(commands), true, false) = (machine.commands(), rules, options.dry_run) {
        // Rules without a file have no effect after the next start of the system.
        let _ = commands.run("udevadm", &["control", "--reload"]);
    }
    Ok(())
}

/// Returns the files that the remaining platforms need when those in `gone` are removed.
fn heirs(
    machine: &Machine,
    left: &[Platform],
    directory: Option<&Path>,
    gone: &[PathBuf],
) -> Result<Vec<Wanted>> {
    let mut found: Vec<Wanted> = Vec::new();
    for platform in left {
        let Some(kind) = kind(platform) else {
            continue;
        };
        if let Client::Write(fcd) = client(machine, platform, kind, directory, gone)?
            && !found
                .iter()
                .any(|file| file.path.extension() == fcd.path.extension())
        {
            found.extend(led(Client::Write(fcd), &mut |_| {}));
        }
    }
    Ok(found)
}

fn unload(machine: &Machine, dry_run: bool, say: &mut dyn FnMut(String)) -> Result<()> {
    let Some(commands) = machine.commands().filter(|_| machine.has_driver()) else {
        return Ok(());
    };
    if dry_run {
        say("would run modprobe --remove peerlane".into());
        return Ok(());
    }
    let removed = commands.run("modprobe", &["--remove", "peerlane"]);
    removed.map_err(|stopped| {
        let hint = match stopped {
            Stopped::Absent => "Install modprobe (Debian's package kmod), and run this again.",
            Stopped::Failed(_) => {
                "End the programs that use the boards (fuser -v /dev/peerlane*), and run it as root."
            }
        };
        Failure::new(
            format!("the driver cannot be unloaded (modprobe: {stopped})"),
            hint,
        )
    })?;
    say(format!(
        "the driver is unloaded; dkms remove peerlane/{} --all removes it",
        env!("CARGO_PKG_VERSION")
    ));
    Ok(())
}

/// Removes directories above a file that `install` may have made, as far as they are empty: below /opt and /var/lib, or
/// below all of a tree, which may have been empty before.
fn remove_empty(machine: &Machine, file: &Path) {
    let tops: &[&str] = match machine.commands() {
        Some(_) => &["/opt", "/var/lib"],
        None => &["/"],
    };
    let tops: Vec<_> = tops.iter().map(|top| machine.path(top)).collect();
    let inside = |path: &&Path| tops.iter().any(|top| *path != top && path.starts_with(top));
    for directory in file.ancestors().skip(1).take_while(inside) {
        // A directory that is not empty ends the loop.
        if std::fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

/// Writes and removes all files, or none.
fn put_all(wanted: &[Wanted]) -> Result<()> {
    for (count, file) in wanted.iter().enumerate() {
        let done = match &file.text {
            Some(text) => put(&file.path, text),
            None => std::fs::remove_file(&file.path)
                .map_err(|error| Failure::io(&file.path, "be removed", &error)),
        };
        done.inspect_err(|_| take_away(&wanted[..count]))?;
    }
    Ok(())
}

/// Writes a temporary file next to the target and renames it: a file is never half-written. All users may read it and
/// its new directories, independently of the umask: programs of all users read these files, and
/// skip files that they cannot read without a message.
fn put(path: &Path, text: &str) -> Result<()> {
    let failed = |error: &std::io::Error| Failure::io(path, "be written", error);
    let directory = path.parent().unwrap_or(Path::new("/"));
    make(directory).map_err(|error| failed(&error))?;
    let mut made = tempfile::Builder::new()
        .prefix(".peerlane-")
        .tempfile_in(directory)
        .map_err(|error| failed(&error))?;
    made.write_all(text.as_bytes())
        .and_then(|()| {
            made.as_file()
                .set_permissions(Permissions::from_mode(0o644))
        })
        .map_err(|error| failed(&error))?;
    let kept = made.persist(path);
    kept.map_err(|error| failed(&error.error)).map(drop)
}

/// Makes a directory and its parents, readable for all users.
fn make(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() || directory.as_os_str().is_empty() {
        return Ok(());
    }
    directory.parent().map_or(Ok(()), make)?;
    match std::fs::create_dir(directory) {
        // Another process has made it in the meantime.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        made => {
            made.and_then(|()| std::fs::set_permissions(directory, Permissions::from_mode(0o755)))
        }
    }
}

/// Restores all files.
fn take_away(files: &[Wanted]) {
    for file in files {
        // Another error came before, and is reported.
        match &file.before {
            Some(text) => drop(put(&file.path, text)),
            None => drop(std::fs::remove_file(&file.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_directory_that_others_make_at_the_same_time_is_there() {
        const THREADS: usize = 8;
        let tree = tempfile::tempdir().unwrap();
        let begin = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..200 {
                        begin.wait();
                        make(&tree.path().join(format!("{round}/a/b/c"))).unwrap();
                    }
                });
            }
        });
    }
}
