//! Which kernel of the series Debian has, and its source.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{SOURCES, Setup};
use crate::{
    Error, Progress, Result,
    debian::Debian,
    error::io_error,
    process::{self, tail, text},
};

/// Returns the newest release of a series that Debian has: `7.3.4+deb13`, `6.1.0-50`.
pub(super) fn newest(debian: &Debian, series: &str) -> Result<String> {
    let prefix = "linux-headers-";
    let names = debian.names(prefix)?;
    let releases = || {
        names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.strip_suffix("-common"))
    };
    newest_of(series, releases())
        .map(str::to_owned)
        .ok_or_else(|| {
            let mut others: Vec<&str> = releases().collect();
            others.sort_unstable();
            Error::Missing {
                what: format!("Linux {series}"),
                looked_for: format!(
                    "a kernel of Debian; {} has {}",
                    debian.suites().join(" with "),
                    others.join(", ")
                ),
                hint: "use a newer version of Peerlane, or set PEERLANE_DEBIAN_MIRROR to a \
                         mirror, or a snapshot of one, that still has the series"
                    .to_owned(),
            }
        })
}

/// Returns the highest release of `series` among `releases`, such as `7.3.4+deb13`. Debian 12 counts its builds:
/// `6.1.0-50`.
fn newest_of<'a>(series: &str, releases: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    releases
        .filter_map(|release| {
            let patch = release.strip_prefix(series)?.strip_prefix('.')?;
            // Releases for other purposes (`7.3.4+deb13-rt`) have a longer name.
            let (patch, build) = patch.split_once(['+', '-'])?;
            let plain = build.chars().all(|c| c.is_ascii_alphanumeric());
            let patch: u32 = plain.then(|| patch.parse().ok())??;
            Some((patch, build.parse::<u32>().unwrap_or(0), release))
        })
        .max()
        .map(|(_, _, release)| release)
}

/// Where [`fetch`] puts the package, below `src`.
const PACKAGE: &str = "package";

/// Fetches Debian's source of the series. Returns the path of the archive, below `src`.
fn fetch(setup: &Setup<'_>, debian: &Debian) -> Result<String> {
    let package = package(setup.flavour.series());
    let directory = setup.source(PACKAGE);
    fs::create_dir_all(&directory).map_err(io_error("create", &directory))?;
    debian.unpack_only(std::slice::from_ref(&package), &directory, setup.progress)?;
    Ok(format!("{PACKAGE}{SOURCES}/{package}.tar.xz"))
}

/// Returns Debian's package with the source of a series.
pub(super) fn package(series: &str) -> String {
    format!("linux-source-{series}")
}

/// Unpacks Debian's source of the series to `src/NAME`: `taken` of it, or all of it if that is empty, without files that
/// match `excluded` (patterns of paths in it).
pub(super) fn unpack(
    setup: &Setup<'_>,
    debian: &Debian,
    name: &str,
    taken: &[&str],
    excluded: &[&str],
) -> Result<()> {
    let package = package(setup.flavour.series());
    let archive = fetch(setup, debian)?;
    let target = setup.source(name);
    fs::create_dir_all(&target).map_err(io_error("create", &target))?;
    setup.progress.step("unpacking the source");
    let mut command = setup.root().command("tar");
    command
        .args(["--use-compress-program=xz -T0", "-xf"])
        .arg(format!("{SOURCES}/{archive}"))
        .arg("-C")
        .arg(Path::new(SOURCES).join(name))
        .args(["--strip-components=1", "--wildcards", "--anchored"])
        .args(
            excluded
                .iter()
                .map(|pattern| format!("--exclude={package}/{pattern}")),
        )
        .args(taken.iter().map(|path| format!("{package}/{path}")));
    setup.run(&mut command)?;
    let directory = setup.source(PACKAGE);
    fs::remove_dir_all(&directory).map_err(io_error("remove", &directory))
}

/// Unpacks files of Debian's source of a series to `work`, and returns their directory. `taken` are tar's patterns of
/// paths in the source; a star is also for `/`.
pub(super) fn unpack_to(
    work: &Path,
    debian: &Debian,
    series: &str,
    taken: &[&str],
    (tool, progress): (&str, &Progress),
) -> Result<PathBuf> {
    let package = package(series);
    debian.unpack_only(std::slice::from_ref(&package), work, progress)?;
    progress.step("unpacking the source");
    let archive = format!("{}{SOURCES}/{package}.tar.xz", work.display());
    let unpacked = work.join("source");
    fs::create_dir(&unpacked).map_err(io_error("create", &unpacked))?;
    let mut command = Command::new("tar");
    command.args(["--use-compress-program=xz -T0", "-xf", &archive, "-C"]);
    command
        .arg(&unpacked)
        .args(["--wildcards", "--strip-components=1"])
        .args(taken.iter().map(|pattern| format!("{package}/{pattern}")));
    let output = process::output(&mut command)?;
    match output.status.success() {
        true => Ok(unpacked),
        false => Err(Error::Install {
            tool: tool.to_owned(),
            detail: tail(&text(&output), 12),
            hint: "check the free space of the cache directory".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_found_by_number() {
        let names = [
            "7.2.12+deb13",
            "7.3.9+deb13",
            "7.3.10+deb13",
            "7.3.11+deb13-rt",
            "7.30.1+deb13",
        ];
        assert_eq!(newest_of("7.3", names.into_iter()), Some("7.3.10+deb13"));
        assert_eq!(newest_of("7.4", names.into_iter()), None);
        // Of Debian 12.
        let names = ["6.1.0-9", "6.1.0-50", "6.1.0-47", "6.1.0-51-rt"];
        assert_eq!(newest_of("6.1", names.into_iter()), Some("6.1.0-50"));
    }
}
