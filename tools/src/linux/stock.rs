//! A kernel that Debian ships, with the files to build modules for it.

use std::{fs, os::unix::fs::symlink, path::Path};

use super::{BUILD, Setup, VMLINUZ, shipped, source};
use crate::{Result, debian::Debian, error::io_error};

/// A text that changes when the output of this module changes.
pub(super) const KEY: &str = "3";

/// The source of `aer_inject`, below `src`.
const SOURCE: &str = "source";

/// Sets the kernel up in `setup.home`. Returns its release.
pub(super) fn install(setup: &Setup<'_>) -> Result<String> {
    let debian = Debian::open(setup.cache, "the kernel", setup.progress)?;
    let version = source::newest(&debian, setup.flavour.series())?;
    let release = format!("{version}-amd64");
    unpack_packages(setup, &debian, &version)?;
    source::unpack(setup, &debian, SOURCE, &["drivers/pci"], &[])?;
    drop(debian);

    let (headers, build) = (format!("linux-headers-{release}"), setup.source(BUILD));
    symlink(headers, &build).map_err(io_error("create", &build))?;
    setup.aer_inject(SOURCE)?;
    let path = setup.source(SOURCE);
    fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    Ok(release)
}

/// Unpacks the image, the headers and kbuild, and brings the last two together in `src`.
fn unpack_packages(setup: &Setup<'_>, debian: &Debian, version: &str) -> Result<()> {
    let release = format!("{version}-amd64");
    let mut packages = shipped::packages(debian, &release)?;
    packages.truncate(1);
    packages.extend([
        format!("linux-headers-{release}"),
        format!("linux-headers-{version}-common"),
        format!("linux-kbuild-{version}"),
    ]);
    let work = setup.home.join("packages");
    fs::create_dir(&work).map_err(io_error("create", &work))?;
    debian.unpack_only(&packages, &work, setup.progress)?;

    let move_to = |from: &Path, to: &Path| fs::rename(from, to).map_err(io_error("rename", from));
    let vmlinuz = shipped::image(&work, &release)
        .ok_or_else(|| setup.failure("its packages contain no vmlinuz".to_owned()))?;
    move_to(&vmlinuz, &setup.home.join(VMLINUZ))?;
    move_to(&work.join("usr/src"), &setup.home.join("src"))?;
    // The package has a link to it in src, and so have the headers.
    let kbuild = format!("linux-kbuild-{version}");
    let link = setup.source(&kbuild);
    fs::remove_file(&link).map_err(io_error("remove", &link))?;
    move_to(&work.join("usr/lib").join(&kbuild), &link)?;
    for headers in [
        format!("linux-headers-{release}"),
        format!("linux-headers-{version}-common"),
    ] {
        for part in ["scripts", "tools"] {
            let link = setup.source(&headers).join(part);
            fs::remove_file(&link).map_err(io_error("remove", &link))?;
            symlink(Path::new("..").join(&kbuild).join(part), &link)
                .map_err(io_error("create", &link))?;
        }
    }
    fs::remove_dir_all(&work).map_err(io_error("remove", &work))
}
