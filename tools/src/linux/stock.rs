//! The kernel that Debian ships, and the metadata that its headers lack.
//!
//! The metadata is made again from Debian's source, with Debian's compilers and configuration. It
//! is taken only when the configuration comes out unchanged, byte for byte, and the code exports
//! exactly the symbols that the shipped kernel exports: Rust's symbol names contain a hash of what
//! they were compiled from.

use std::{fs, os::unix::fs::symlink, path::Path, thread};

use super::{BUILD, SOURCES, Setup, VMLINUZ, make, metadata, source};
use crate::{Result, debian::Debian, error::io_error};

/// Changes when what is made here changes.
pub(super) const KEY: &str = "1";

/// What the metadata is not made of; most of the source. `aer_inject` stays.
const EXCLUDED: [&str; 12] = [
    "Documentation/*/*",
    "arch/*/boot/dts",
    "arch/[!x]*/*.[chS]",
    "drivers/[!p]*.c",
    "drivers/gpu/drm/*.h",
    "drivers/p[!c]*.c",
    "fs/*.[ch]",
    "net/*.[ch]",
    "sound/*.[ch]",
    "tools/perf",
    "tools/testing",
    "virt/*.c",
];
/// The source and the output of its build, below `src`, while the metadata is made.
const SOURCE: &str = "source";
const OUT: &str = "out";

/// Sets it up in `setup.home`. Gives its release.
pub(super) fn install(setup: &Setup<'_>) -> Result<String> {
    let debian = Debian::open(setup.cache, "the kernel", setup.progress)?;
    let version = source::newest(&debian)?;
    let release = format!("{version}-amd64");
    unpack_packages(setup, &debian, &version)?;
    source::unpack(setup, &debian, SOURCE, &EXCLUDED)?;
    drop(debian);

    let headers = format!("linux-headers-{release}");
    configure(setup, &headers, &release)?;
    setup.progress.step("compiling Rust's part of the kernel");
    let mut command = source_make(setup, &release);
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    setup.run(command.arg(format!("-j{jobs}")).arg("prepare"))?;

    let (out, headers_path) = (setup.source(OUT), setup.source(&headers));
    let ours = metadata::exported(&out)?;
    let theirs = metadata::shipped(&headers_path.join("Module.symvers"))?;
    if ours != theirs {
        let differing = ours.symmetric_difference(&theirs).count();
        return Err(setup.failure(format!(
            "its Rust code does not come out as Debian's: of {} symbols {differing} differ",
            theirs.len()
        )));
    }
    metadata::copy(&out, &headers_path)?;
    let build = setup.source(BUILD);
    symlink(&headers, &build).map_err(io_error("create", &build))?;
    setup.aer_inject(SOURCE)?;
    for directory in [SOURCE, OUT] {
        let path = setup.source(directory);
        fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    }
    Ok(release)
}

/// Unpacks the image, the headers and kbuild, and brings the last two together in `src`.
fn unpack_packages(setup: &Setup<'_>, debian: &Debian, version: &str) -> Result<()> {
    let release = format!("{version}-amd64");
    // Debian signs an image for secure boot some time after it is built.
    let image = format!("linux-binary-{release}");
    let image = match debian.names(&image)?.contains(&image) {
        true => image,
        false => format!("linux-binary-unsigned-{release}"),
    };
    let packages = [
        image,
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

/// Configures the source as Debian did, and refuses to go on when that changes anything.
fn configure(setup: &Setup<'_>, headers: &str, release: &str) -> Result<()> {
    setup.progress.step("configuring");
    let (out, shipped) = (setup.source(OUT), setup.source(headers).join(".config"));
    fs::create_dir(&out).map_err(io_error("create", &out))?;
    let config = out.join(".config");
    fs::copy(&shipped, &config).map_err(io_error("copy", &shipped))?;
    setup.run(source_make(setup, release).arg("olddefconfig"))?;
    let read = |path: &Path| fs::read(path).map_err(io_error("read", path));
    if read(&config)? == read(&shipped)? {
        return Ok(());
    }
    Err(setup.failure("Debian's configuration does not fit Debian's compilers".to_owned()))
}

/// kbuild on the source.
fn source_make(setup: &Setup<'_>, release: &str) -> std::process::Command {
    let mut command = make(&setup.root(), setup.flavour);
    command
        .args(["-s", "-C"])
        .arg(Path::new(SOURCES).join(SOURCE))
        .arg(format!("O={SOURCES}/{OUT}"))
        .arg(format!("KERNELRELEASE={release}"));
    command
}
