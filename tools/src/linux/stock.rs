//! The kernel that Debian ships, and the metadata that its headers lack.
//!
//! The metadata is made again from Debian's source by the script of the driver's package: tests and administrators
//! build against the same files. It is taken only if the code exports exactly the symbols that the shipped kernel
//! exports.

use std::{fs, os::unix::fs::symlink, path::Path};

use super::{BUILD, LINUX_SERIES, SOURCES, Setup, VMLINUZ, source};
use crate::{Result, debian::Debian, error::io_error};

/// The script that makes the files that modules are built against.
const METADATA: &str = include_str!("../../../driver/dkms/metadata.sh");
/// A text that changes when the output of this module changes.
pub(super) const KEY: &str = concat!("2\n", include_str!("../../../driver/dkms/metadata.sh"));

/// Where the metadata is made, below `src`.
const WORK: &str = "work";

/// Sets the kernel up in `setup.home`. Returns its release.
pub(super) fn install(setup: &Setup<'_>) -> Result<String> {
    let debian = Debian::open(setup.cache, "the kernel", setup.progress)?;
    let version = source::newest(&debian, LINUX_SERIES)?;
    let release = format!("{version}-amd64");
    unpack_packages(setup, &debian, &version)?;
    let archive = source::fetch(setup, &debian)?;
    drop(debian);

    let work = setup.source(WORK);
    fs::create_dir(&work).map_err(io_error("create", &work))?;
    let script = work.join("metadata.sh");
    fs::write(&script, METADATA).map_err(io_error("write", &script))?;
    setup.progress.step("compiling Rust's part of the kernel");
    let mut command = setup.root().command("env");
    command
        .arg(format!("PEERLANE_LINUX_SOURCE={SOURCES}/{archive}"))
        .arg("sh")
        .arg(format!("{SOURCES}/{WORK}/metadata.sh"))
        .arg(format!("{SOURCES}/linux-headers-{release}"))
        .arg(format!("{SOURCES}/{BUILD}"))
        .arg(format!("{SOURCES}/{WORK}"));
    setup.run(&mut command)?;
    setup.aer_inject(&format!("{WORK}/source"))?;
    for directory in [WORK, source::PACKAGE] {
        let path = setup.source(directory);
        fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    }
    Ok(release)
}

/// Unpacks the image, the headers and kbuild, and brings the last two together in `src`.
fn unpack_packages(setup: &Setup<'_>, debian: &Debian, version: &str) -> Result<()> {
    let release = format!("{version}-amd64");
    let packages = [
        debian.linux_binary(&release)?,
        format!("linux-headers-{release}"),
        format!("linux-headers-{version}-common"),
        format!("linux-kbuild-{version}"),
    ];
    let work = setup.home.join("packages");
    fs::create_dir(&work).map_err(io_error("create", &work))?;
    debian.unpack_only(&packages, &work, setup.progress)?;

    let move_to = |from: &Path, to: &Path| fs::rename(from, to).map_err(io_error("rename", from));
    move_to(
        &work.join("usr/lib/modules").join(&release).join("vmlinuz"),
        &setup.home.join(VMLINUZ),
    )?;
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
