//! The set-up of this computer for OpenCL programs: the files by which a runtime finds the library, the library itself,
//! and the users who may use boards.

pub use crate::fcd::VENDORS;
use crate::fcd::{self, ALTERA, DIRECTORY, Form, OLD};
use crate::library::{self, Library};
use crate::{Failure, Machine, Platform};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Directory in which OpenCL's loader finds the runtimes.
const LOADER: &str = "/etc/OpenCL/vendors";
/// The open runtime's and the SDK's library.
const RUNTIME: &str = "libalteracl.so";
/// Rules by which users get the boards' nodes.
const RULES: [&str; 2] = [
    "/usr/lib/udev/rules.d/60-peerlane.rules",
    "/etc/udev/rules.d/60-peerlane.rules",
];

/// A diagnostic of the set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Correct: a sentence without its full stop.
    Ok(String),
    /// It may be intended, or affects only some programs.
    Note(Failure),
    /// Programs do not find their boards.
    Wrong(Failure),
}

impl Seen {
    fn note(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Note(Failure::new(what, hint))
    }

    fn wrong(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Wrong(Failure::new(what, hint))
    }
}

/// Checks the set-up: for this platform, if one is named; with the `.fcd` files of this directory, if the variable
/// names one.
pub fn look(machine: &Machine, platform: Option<&Platform>, vendors: Option<&Path>) -> Vec<Seen> {
    let mut seen = Vec::new();
    let place = match vendors {
        // The runtime puts a slash after the name (intel/fpga-runtime-for-opencl v2025.0, `acl_hal_mmd.cpp`,
        // `l_load_board_libraries`).
        Some(directory) if directory.as_os_str().is_empty() => {
            seen.push(Seen::note(
                format!("{VENDORS} is empty"),
                format!("The runtime reads .fcd files in / then, and not in {DIRECTORY}: unset it (unset {VENDORS})."),
            ));
            machine.path("/")
        }
        Some(directory) => {
            seen.push(Seen::note(
                format!("{VENDORS} is {}", directory.display()),
                format!("The runtime reads .fcd files there, and not in {DIRECTORY}: set the same value for programs."),
            ));
            directory.to_path_buf()
        }
        None => machine.path(DIRECTORY),
    };
    // The runtime reads both directories.
    let places = [machine.path(OLD), place];
    let named = format!("{} and {}", places[0].display(), places[1].display());
    let altera = [machine.path(ALTERA)];
    let mut led_to = |places: &[PathBuf], form| {
        let mut found = Vec::new();
        for file in fcd::files(places, form) {
            seen.extend(led(machine, &file, form, &mut found));
        }
        let kinds = |kind| found.iter().any(|(_, one)| *one == kind);
        if kinds(Library::Open) && kinds(Library::Legacy) {
            seen.push(Seen::wrong(
                format!(".{} files name both libraries of Peerlane", form.extension()),
                "A runtime loads all of them, and ends programs at a library for another runtime: keep one of them \
                 (`aocl uninstall` of the other platform).",
            ));
        } else if found.len() > 1 {
            seen.push(Seen::wrong(
                format!(
                    ".{} files name {} libraries of Peerlane",
                    form.extension(),
                    found.len()
                ),
                "Each library lists all boards again: keep one of them.",
            ));
        }
        found
    };
    let found = led_to(&places, Form::Fcd);
    let old = led_to(&altera, Form::Acd);
    match platform {
        Some(platform) => {
            let files = [(Form::Fcd, &found, &*named), (Form::Acd, &old, ALTERA)];
            seen.extend(of_platform(machine, platform, files));
        }
        None if found.is_empty() && old.is_empty() => seen.push(Seen::note(
            format!("no .fcd file in {named}, and no .acd file in {ALTERA}, leads to a library of Peerlane"),
            "OpenCL programs find no board, except programs that are linked with a closed runtime's library (aocl \
             link-config). `install` of the platform writes the file, if its runtime reads one (step 7 of its \
             README.md).",
        )),
        None => {}
    }
    if found.iter().any(|(_, kind)| *kind == Library::Open) && !loader_knows(machine) {
        seen.push(Seen::note(
            format!("no .icd file in {LOADER} names {RUNTIME}"),
            "Programs that are linked with OpenCL's loader (-lOpenCL) do not find the runtime without such a file: \
             docs/operate/troubleshooting.md, \"When OpenCL finds no board\".",
        ));
    }
    seen.extend(rights(machine));
    seen
}

/// Checks the lines of one `.fcd` file; good libraries are added to `found`.
fn led(
    machine: &Machine,
    file: &Path,
    form: Form,
    found: &mut Vec<(PathBuf, Library)>,
) -> Vec<Seen> {
    let name = file.display();
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            return vec![Seen::wrong(
                format!("{name} cannot be read: {error}"),
                "The runtime skips this file. Make it readable for all users (chmod a+r).",
            )];
        }
    };
    let mut seen = Vec::new();
    for line in text.lines() {
        if !fcd::is_ours(Path::new(line.trim())) {
            seen.extend(dead(machine, file, line));
            continue;
        }
        if line.trim() != line || text.contains('\r') {
            seen.push(Seen::wrong(
                format!("{name} has a blank or a carriage return next to a path"),
                "The runtime treats it as a part of the name. Remove it from the line.",
            ));
            continue;
        }
        let path = machine.named(line);
        match Library::of(&path) {
            Err(failure) => seen.push(Seen::wrong(
                format!("{name}: {}", failure.what),
                "Copy the library there, or remove the file if its platform is gone.",
            )),
            Ok(kind) => {
                seen.push(says(machine, &path, kind, &format!("{name} leads to ")));
                match (form, kind) {
                    (Form::Fcd, Library::Legacy) => seen.push(Seen::note(
                        "an open runtime on this computer would load that library, too, and end programs",
                        "This is right for closed runtimes from 17.0 on, on a computer without an open runtime. Older \
                         runtimes do not read the file, and `install` of such a platform removes it.",
                    )),
                    (Form::Acd, Library::Open) => seen.push(Seen::wrong(
                        "the runtimes of 15.1 to 16.1, which read that file, refuse this library",
                        "Copy the library of peerlane-mmd-legacy there (step 7 of the platform's README.md).",
                    )),
                    _ => {}
                }
                seen.extend(open_to_all(&path).map(Seen::Note));
                found.push((path, kind));
            }
        }
    }
    seen
}

/// Reports a line of other software that leads nowhere. The dynamic linker looks for a name without a directory.
fn dead(machine: &Machine, file: &Path, line: &str) -> Option<Seen> {
    let path = machine.named(line);
    let there = line.is_empty() || !line.contains('/') || path.exists();
    (!there).then(|| {
        Seen::note(
            format!("{} leads to {line}, which is not there", file.display()),
            "The file does not belong to Peerlane. The runtime reports at each start that it cannot load the library: \
             remove the file if its platform is gone.",
        )
    })
}

/// Checks a library, and the version that it reports when it is loaded.
fn says(machine: &Machine, path: &Path, kind: Library, before: &str) -> Seen {
    let origin = library::origin(path).map(|origin| format!(", {origin}"));
    let what = format!(
        "{before}{}, {}{}",
        path.display(),
        kind.text(),
        origin.unwrap_or_default()
    );
    if machine.commands().is_none() {
        return Seen::Ok(what);
    }
    match library::version(path) {
        Ok(version) => Seen::Ok(format!("{what}, which reports version {version}")),
        Err(error) => Seen::wrong(
            format!("{what}, which cannot be loaded: {error}"),
            "Build it on this computer, and copy it there: step 7 of the platform's README.md.",
        ),
    }
}

/// Reports a library that the runtime of its platform does not take.
pub(crate) fn for_another_runtime(platform: &Platform, kind: Library) -> Option<Failure> {
    let remarked = kind == Library::Open && platform.is_for_closed_runtimes();
    let version = platform.version.as_deref().unwrap_or_default();
    remarked.then(|| {
        Failure::new(
            format!(
                "the platform is of {version}, but has {}, which loads no kernels of that version",
                kind.text()
            ),
            "The runtime of that SDK refuses this library: copy the library of peerlane-mmd-legacy there (step 7 of \
             the platform's README.md).",
        )
    })
}

/// The libraries that the files of a form lead to, with the place of those files.
type Files<'a> = [(Form, &'a Vec<(PathBuf, Library)>, &'a str); 2];

/// Checks the platform's own library.
fn of_platform(machine: &Machine, platform: &Platform, files: Files<'_>) -> Vec<Seen> {
    let mut seen = Vec::new();
    for path in &platform.libraries {
        let kind = match Library::of(path) {
            Ok(kind) => kind,
            Err(failure) => {
                seen.push(Seen::Wrong(failure));
                continue;
            }
        };
        let listed = files
            .iter()
            .any(|(_, found, _)| found.iter().any(|(one, _)| one == path));
        if !listed {
            seen.push(says(machine, path, kind, "the platform has "));
        }
        seen.extend(for_another_runtime(platform, kind).map(Seen::Note));
        let Some(form) = Form::of(kind, platform) else {
            seen.push(Seen::Ok(
                "the runtime of this version reads no file that leads to the library: programs are linked with it (aocl \
                 link-config)"
                    .into(),
            ));
            continue;
        };
        let (_, found, places) = files[form as usize];
        if found.iter().any(|(one, _)| one == path) {
            continue;
        }
        let what = format!("no .{} file in {places} leads to it", form.extension());
        let serves = found.iter().any(|(_, one)| *one == kind);
        seen.push(match kind {
            // A file that leads to another platform's library shows the boards as well.
            _ if serves => Seen::note(what, "The library of another file serves all boards."),
            Library::Open => Seen::wrong(
                what,
                "The open runtime finds no board without such a file: `install` writes it.",
            ),
            Library::Legacy => Seen::note(
                what,
                "Programs that are linked with the library (aocl link-config) need no such file. Other programs find \
                 no board without one: `install` writes it.",
            ),
        });
    }
    seen
}

fn loader_knows(machine: &Machine) -> bool {
    let entries = std::fs::read_dir(machine.path(LOADER));
    let files = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let icd = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "icd");
    files
        .filter(icd)
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .any(|text| text.contains(RUNTIME))
}

/// The driver's parameter that lets users configure the FPGA.
const CONFIGURE: &str = "configure_all";

/// The state of the kernel's lockdown, which Secure Boot turns on (kernel_lockdown(7)): the word in brackets holds.
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// Parameters of the driver that give users a right, the right, and the way to get it.
const RIGHTS: [(&str, &str, &str); 2] = [
    (
        "hold_all",
        "run OpenCL programs",
        "To let the group peerlane run them, load the driver with hold_all=1 (docs/program/opencl.md, \"Who may run programs\").",
    ),
    (
        CONFIGURE,
        "load kernels into its FPGA",
        "Load them as root before users run programs; docs/program/opencl.md has the other way, and its consequences (\"Who \
         may run programs\").",
    ),
];

/// Reports the users who may use the boards, as far as it is known without opening one.
fn rights(machine: &Machine) -> Vec<Seen> {
    let mut seen = Vec::new();
    if !RULES.iter().any(|path| machine.path(path).exists()) {
        seen.push(Seen::note(
            "there are no udev rules of Peerlane",
            "Without them only root may open a board. `install` writes them.",
        ));
    }
    let state = std::fs::read_to_string(machine.path(LOCKDOWN)).unwrap_or_default();
    let locked = state.contains('[') && !state.contains("[none]");
    for board in machine.boards() {
        for (parameter, what, hint) in RIGHTS {
            if locked && parameter == CONFIGURE {
                seen.push(Seen::note(
                    format!("{board}: the kernel is locked down (Secure Boot), and no process may {what}"),
                    "Programs run with the kernels that the FPGA has. Load others from the board's flash or by JTAG, or \
                     without Secure Boot (docs/operate/secure-boot.md).",
                ));
            } else if machine.says(&board, parameter).as_deref() == Some("0") {
                seen.push(Seen::note(
                    format!("{board}: only users with CAP_SYS_RAWIO, such as root, may {what}"),
                    hint,
                ));
            }
        }
    }
    seen
}

/// Reports the reason why users cannot read a file, or why a user other than root may write it.
pub(crate) fn open_to_all(file: &Path) -> Option<Failure> {
    const READ: u32 = 0o004;
    const ENTER: u32 = 0o001;
    const WRITE: u32 = 0o022;
    let of = |path: &Path| -> Option<(PathBuf, Metadata)> {
        Some((path.to_path_buf(), std::fs::metadata(path).ok()?))
    };
    let all: Vec<_> = file.ancestors().filter_map(of).collect();
    let needs = |data: &Metadata| if data.is_dir() { ENTER } else { READ };
    let mode = |data: &Metadata| data.permissions().mode();
    if let Some((path, data)) = all.iter().find(|(_, data)| mode(data) & needs(data) == 0) {
        return Some(Failure::new(
            format!(
                "{}: other users cannot {} (mode {:04o})",
                path.display(),
                if data.is_dir() { "enter it" } else { "read it" },
                mode(data) & 0o7777
            ),
            "Their programs do not find the library. Put the platform into a directory that all users may read, such \
             as /opt.",
        ));
    }
    // In a directory with the sticky bit only the owner of a file replaces it (chmod(1)).
    let writable = |data: &Metadata| {
        let shared = mode(data) & WRITE != 0 && !(data.is_dir() && mode(data) & 0o1000 != 0);
        data.uid() != 0 || shared
    };
    let (path, _) = all.iter().find(|(_, data)| writable(data))?;
    Some(Failure::new(
        format!("{}: users other than root may write it", path.display()),
        "Every OpenCL program of this computer, including root's, loads the library from there. If that matters, put \
         the platform into a directory that only root may write, such as /opt.",
    ))
}
