//! Where the output goes: checked before anything is written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::check::Finding;
use crate::error::{Error, ErrorKind, Place, Result, reason};
use crate::extend::report::Report;
use crate::layout::Layout;
use crate::text;

/// Names a path of the BSP as the caller gave it.
pub fn named_as_given(mut error: Error, canonical: &Path, given: &Path) -> Error {
    if error.place.path == canonical {
        error.place.path = given.to_path_buf();
    } else if let Ok(inside) = error.place.path.strip_prefix(canonical) {
        error.place.path = given.join(inside);
    }
    let (canonical, given) = (canonical.to_string_lossy(), given.to_string_lossy());
    error.what = error.what.replace(canonical.as_ref(), &given);
    error
}

/// An error of reading the copy, with the input's places: the copy will be gone.
pub fn of_the_input(mut error: Error, copy: &Layout, input: &Layout) -> Error {
    error.place.path = path_in_the_input(&error.place.path, copy, input);
    error.what = without_copy(&error.what, copy, input);
    error
}

/// A message without the copy's directory.
pub fn without_copy(what: &str, copy: &Layout, input: &Layout) -> String {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    // The board's directory first: it may have another name in the copy.
    let what = what.replace(&name(&copy.hardware_dir()), &name(&input.hardware_dir()));
    what.replace(&name(&copy.root), &name(&input.root))
}

fn path_in_the_input(path: &Path, copy: &Layout, input: &Layout) -> PathBuf {
    // The board's directory may have another name in the copy.
    if let Ok(inside) = path.strip_prefix(copy.hardware_dir()) {
        return input.hardware_dir().join(inside);
    }
    match path.strip_prefix(&copy.root) {
        Ok(inside) => input.root.join(inside),
        Err(_) => path.to_path_buf(),
    }
}

/// Where in the input that is which a check found in the copy: the copy will be gone.
pub fn in_the_input(finding: &Finding, copy: &Layout, input: &Layout) -> Place {
    let path = path_in_the_input(&finding.place, copy, input);
    let line = finding.line.and_then(|line| {
        let made = text::read(&finding.place).ok()?;
        same_line(&made, line, &text::read(&path).ok()?)
    });
    match line {
        Some(line) => Place::line(path, line),
        // What the input does not have is somewhere in its directory.
        None if path.exists() => Place::file(path),
        None => Place::file(&input.root),
    }
}

/// The line of `input` where the lines of `made` from `line` on stand, as many of them as it takes to be sure.
fn same_line(made: &str, line: usize, input: &str) -> Option<usize> {
    const MOST: usize = 8;
    let made: Vec<_> = made.lines().skip(line - 1).take(MOST).collect();
    let input: Vec<_> = input.lines().collect();
    (1..=made.len()).find_map(|count| {
        let mut found = (input.windows(count).enumerate()).filter(|(_, w)| *w == &made[..count]);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at + 1),
            _ => None,
        }
    })
}

/// The error for a directory in which nothing can be made.
pub fn not_writable(parent: &Path, source: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Output,
        Place::file(parent),
        format!("cannot write here: {}", reason(source)),
        "Choose a directory for --out in which you may write.",
    )
}

/// Checks that a directory can be made; gives its parent.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn new_directory(out: &Path) -> Result<PathBuf> {
    let problem =
        |what: &str, remedy: &str| Error::new(ErrorKind::Output, Place::file(out), what, remedy);
    if fs::symlink_metadata(out).is_ok() || out.file_name().is_none() {
        return Err(problem(
            "the output exists already",
            "Choose another --out, or remove it first: nothing is overwritten.",
        ));
    }
    let parent = match out.parent() {
        Some(p) if p.as_os_str().is_empty() => Path::new("."),
        Some(p) => p,
        None => Path::new("/"),
    };
    fs::canonicalize(parent)
        .ok()
        .filter(|p| p.is_dir())
        .ok_or_else(|| {
            problem(
                "the directory that should hold the output does not exist or is no directory",
                "Make it first, or choose another --out.",
            )
        })
}

/// Gives a finished directory its name.
///
/// # Errors
/// [`ErrorKind::Output`] if something else has it by now, [`ErrorKind::Io`].
pub fn put(made: &Path, out: &Path, what: &str) -> Result<()> {
    // Without a dot at its end, which no directory can be renamed to.
    let name: PathBuf = out.components().collect();
    fs::rename(made, &name).map_err(|e| match fs::symlink_metadata(&name) {
        Ok(_) => Error::new(
            ErrorKind::Output,
            Place::file(out),
            format!("something else made it in the meantime ({e})"),
            "Choose another --out, or remove it first: nothing is overwritten.",
        ),
        Err(_) => Error::io(out, &format!("put {what} in its place"), &e),
    })
}

/// Checks that the output can be made outside of the BSP; gives its parent directory.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn check_output(out: &Path, bsp: &Path) -> Result<PathBuf> {
    let parent = new_directory(out)?;
    if parent.starts_with(bsp) {
        return Err(Error::new(
            ErrorKind::Output,
            Place::file(out),
            "the output lies inside of the BSP",
            "Choose an --out outside of it: the input is never written.",
        ));
    }
    Ok(parent)
}

/// Checks that a report can be written there.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn check_report(report: &Path, bsp: &Path, out: &Path) -> Result<()> {
    let problem = |what: &str, remedy: &str| {
        Err(Error::new(
            ErrorKind::Output,
            Place::file(report),
            what,
            remedy,
        ))
    };
    if report.is_dir() {
        return problem(
            "the report's name is a directory's",
            "Give a file name to --report.",
        );
    }
    if report.exists() && !report.is_file() {
        return problem(
            "this is a device or the like, and a file would take its place",
            "Give the name of a file to --report.",
        );
    }
    if report.starts_with(out) {
        return problem(
            "the report lies in the output, which does not exist yet",
            "Leave --report out: the output holds peerlane-report.md and .json anyway.",
        );
    }
    let parent = report_parent(report);
    match fs::canonicalize(&parent) {
        Ok(p) if p.starts_with(bsp) => problem(
            "the report would be written into the BSP",
            "Choose a --report outside of it: the input is never written.",
        ),
        Ok(p) if p.is_dir() => Ok(()),
        _ => problem(
            "the directory for the report does not exist",
            "Make it first.",
        ),
    }
}

fn report_parent(report: &Path) -> PathBuf {
    match report.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The report in a temporary file beside its place.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn prepare_report(path: &Path, report: &Report) -> Result<tempfile::NamedTempFile> {
    use std::io::Write as _;
    let json = path.extension().is_some_and(|e| e == "json");
    let text = if json {
        report.json()
    } else {
        report.markdown()
    };
    let failed = |e: std::io::Error| Error::io(path, "write the report", &e);
    let mut file = tempfile::Builder::new()
        .prefix(".peerlane-report-")
        .tempfile_in(report_parent(path))
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(file)
}

/// Temporary directories are private; the finished BSP is as open as any directory.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn set_directory_mode(path: &Path) -> Result<()> {
    set_executable(path)
}

/// Lets everybody run a file or look into a directory.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn set_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|e| Error::io(path, "set the permissions", &e))
}
