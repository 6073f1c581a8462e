//! `cargo xtask dist`: the files of a release.
//!
//! Programs and libraries are linked by Zig for an old C library, so that one build runs on every current distribution.
//! They are not linked statically: the command loads GPU drivers and the models of Verilator at run time, which a
//! static program cannot do. All of them depend on the C library alone. The model of the simulated board is among them.

mod notices;
mod packages;
mod sbom;

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, WrapErr, miette};
use peerlane_tools::{Cache, Requirements};

use self::{notices::Part, sbom::Metadata};

/// Target of the builds, with the oldest C library that they run with: that of RHEL 8 and Debian 10.
const TARGET: &str = "x86_64-unknown-linux-gnu.2.28";
/// Cargo's name of [`TARGET`].
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// [`TARGET`] for Zig's C++ compiler.
const ZIG_TARGET: &str = "x86_64-linux-gnu.2.28";
/// The same in the name of a wheel.
const MANYLINUX: &str = "manylinux_2_28";
/// The packages of a release. Their dependencies are compiled into them. The last is built by maturin, not by cargo.
const PACKAGES: [&str; 8] = [
    "peerlane",
    "peerlane-capi",
    "peerlane-clrdma",
    "peerlane-icd",
    "peerlane-mmd",
    "peerlane-mmd-legacy",
    "peerlane-utilities",
    "peerlane-python",
];

/// Files for the platforms of OpenCL boards.
const OPENCL: [&str; 4] = [
    "libpeerlane_icd.so",
    "libpeerlane_mmd.so",
    "libpeerlane_mmd_legacy.so",
    "peerlane-aocl",
];

/// Options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Packages for distributions that are made, too.
    #[arg(value_name = "FORMAT")]
    formats: Vec<Format>,
    /// The directory of the files; files of an earlier run are replaced.
    #[arg(long, value_name = "DIR", default_value = "target/release-files")]
    out: PathBuf,
    /// Build a tree with changes that are not committed: for a try, not for a release.
    #[arg(long)]
    dirty: bool,
}

/// A format of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Debian's and Ubuntu's.
    Deb,
}

/// The commit that is released.
struct Commit {
    /// Its name, with `-dirty` where files differ from it.
    name: String,
    /// Its time, in seconds since 1970: the time of all files in the archives.
    time: String,
}

/// Makes all files of a release, and lists them.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(miette!("releases are built on x86-64 Linux"));
    }
    let commit = commit(root, options.dirty)?;
    let version = env!("CARGO_PKG_VERSION");
    let out = std::path::absolute(&options.out).into_diagnostic()?;
    remove(&out)?;
    directory(&out)?;
    let metadata = Metadata::read(root, TRIPLE)?;
    let packages = metadata.shipped(&PACKAGES)?;
    let rust = output(Command::new("rustc").current_dir(root).arg("--version"))?;
    let parts = Part::all(rust.split(' ').nth(1).unwrap_or(&rust));
    let builder = Builder::new(root, &commit)?;

    step("programs and libraries");
    let name = format!("peerlane-{version}-x86_64-linux");
    let tree = out.join(&name);
    builder.cargo(&PACKAGES[..PACKAGES.len() - 1])?;
    copy(&builder.built("peerlane"), &tree.join("bin/peerlane"))?;
    // The directory can be moved: pkg-config replaces the variable by that of its file.
    let prefix = Path::new("${pcfiledir}/../..");
    super::capi::lay(root, &builder.directory(), prefix, &tree)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(file), &tree.join(file))?;
    }
    for file in OPENCL {
        copy(&builder.built(file), &tree.join("lib/peerlane").join(file))?;
    }
    let third = tree.join("THIRD-PARTY.txt");
    write(&third, &notices::text(&packages, &parts)?)?;

    step("the simulated board's model");
    let models = tree.join("lib/peerlane-models");
    builder.model(&models)?;
    link(
        "../lib/peerlane-models".as_ref(),
        &tree.join("bin/peerlane-models"),
    )?;

    step("Python wheel");
    builder.wheel(&models, &out)?;

    if options.formats.contains(&Format::Deb) {
        step("packages for Debian");
        let tags =
            output(
                Command::new("git")
                    .current_dir(root)
                    .args(["tag", "--points-at", "HEAD"]),
            )?;
        let version = packages::Version::of(version, &tags, &commit)?;
        let work = builder.sources(&tree, &out)?;
        packages::debian(work.path(), &version, &out)?;
    }

    step("archives");
    archive(&out, &name, &commit)?;
    fs::remove_dir_all(&tree).into_diagnostic()?;
    source(root, &out, version)?;
    let bill = sbom::text(version, &commit.name, &packages, &parts);
    write(&out.join(format!("peerlane-{version}.cdx.json")), &bill)?;
    for line in sums(&out)? {
        println!("{line}");
    }
    println!("{}", out.display());
    Ok(true)
}

/// Reports the next step on stderr: each takes minutes.
fn step(what: &str) {
    eprintln!("dist: {what}");
}

/// Returns the commit of the tree, which must not have changes unless `dirty`.
fn commit(root: &Path, dirty: bool) -> miette::Result<Commit> {
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(root).args(arguments));
    let changes = git(&["status", "--porcelain"])?;
    if !changes.is_empty() && !dirty {
        return Err(miette!(
            help = "commit the changes, or try a build of them by --dirty",
            "the tree differs from its commit:\n{changes}"
        ));
    }
    let suffix = if changes.is_empty() { "" } else { "-dirty" };
    Ok(Commit {
        name: git(&["rev-parse", "HEAD"])? + suffix,
        time: git(&["log", "-1", "--format=%ct"])?,
    })
}

/// The tools that build, and their settings.
struct Builder {
    root: PathBuf,
    /// The target directory.
    target: PathBuf,
    tools: peerlane_tools::Python,
    /// Environment of each build.
    variables: Vec<(&'static str, String)>,
}

impl Builder {
    fn new(root: &Path, commit: &Commit) -> miette::Result<Self> {
        let tools = Cache::open().and_then(|cache| cache.python(Requirements::Dist));
        let tools = tools.map_err(crate::tools::report)?;
        // No path of the machine that builds gets into the programs.
        let cargo_home = env::var_os("CARGO_HOME").map_or_else(
            || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cargo"),
            PathBuf::from,
        );
        let remap = [(root, "/peerlane"), (cargo_home.as_path(), "/cargo")]
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
        let path = env::join_paths(
            [tools.site.join("bin")]
                .into_iter()
                .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        );
        let path = path.into_diagnostic()?.to_string_lossy().into_owned();
        Ok(Self {
            root: root.to_owned(),
            target: super::target(root),
            variables: vec![
                ("PATH", path),
                // Separated by a character that no path has.
                ("CARGO_ENCODED_RUSTFLAGS", remap.join("\u{1f}")),
                ("PEERLANE_COMMIT", commit.name.clone()),
                ("SOURCE_DATE_EPOCH", commit.time.clone()),
            ],
            tools,
        })
    }

    /// Returns the directory with the results of the builds.
    fn directory(&self) -> PathBuf {
        self.target.join(TRIPLE).join("dist")
    }

    /// Returns the path of a file that was built.
    fn built(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// Returns a command with the settings of a build.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.tools.site.join("bin").join(program));
        command
            .current_dir(&self.root)
            .env("PYTHONPATH", &self.tools.site)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Builds packages.
    fn cargo(&self, packages: &[&str]) -> miette::Result<()> {
        let mut command = self.command("cargo-zigbuild");
        command
            .args(["zigbuild", "--locked", "--profile", "dist", "--target"])
            .arg(TARGET)
            .args(packages.iter().flat_map(|package| ["-p", package]));
        must(&mut command)
    }

    /// Compiles the model of the simulated board into a directory.
    fn model(&self, directory: &Path) -> miette::Result<()> {
        let work = tempfile::tempdir().into_diagnostic()?;
        let compiler = work.path().join("c++");
        let python = self.tools.interpreter.display();
        let script =
            format!("#!/bin/sh\nexec {python} -m ziglang c++ -target {ZIG_TARGET} \"$@\"\n");
        write(&compiler, &script)?;
        let may_run = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&compiler, may_run).into_diagnostic()?;
        let mut command = super::cargo(&self.root);
        command
            .args(["run", "--quiet", "--bin", "peerlane-model", "--"])
            .arg(directory)
            .env("CXX", &compiler)
            .env("PYTHONPATH", &self.tools.site);
        must(&mut command)
    }

    /// Builds the wheel, with models in it, into a directory.
    fn wheel(&self, models: &Path, out: &Path) -> miette::Result<()> {
        let place = self
            .root
            .join("host/python/python/peerlane/peerlane-models");
        remove(&place)?;
        directory(&place)?;
        for entry in fs::read_dir(models).into_diagnostic()? {
            let entry = entry.into_diagnostic()?;
            copy(&entry.path(), &place.join(entry.file_name()))?;
        }
        let built = self.maturin(out);
        // Otherwise a build by pip would take them, also when the block has changed.
        remove(&place)?;
        built
    }

    /// Makes a directory with the sources of the packages' files, as `packages.toml` names them.
    fn sources(&self, tree: &Path, out: &Path) -> miette::Result<tempfile::TempDir> {
        let work = tempfile::tempdir().into_diagnostic()?;
        let inside = |name: &str| work.path().join(name);
        for (name, from) in [
            ("tree", tree),
            ("source", &self.root),
            ("built", &self.directory()),
        ] {
            link(from, &inside(name))?;
        }
        super::capi::lay(
            &self.root,
            &self.directory(),
            Path::new("/usr"),
            &inside("c"),
        )?;
        must(
            Command::new(self.built("peerlane"))
                .arg("manuals")
                .arg(inside("manuals")),
        )?;
        super::driver::driver_source(&self.root, &inside("driver"))?;
        let unpack = "import glob, sys, zipfile\n[wheel] = glob.glob(sys.argv[1])\nzipfile.ZipFile(wheel).extractall(sys.argv[2])";
        must(
            Command::new(&self.tools.interpreter)
                .args(["-c", unpack])
                .arg(out.join("*.whl"))
                .arg(inside("wheel")),
        )?;
        // The model is in a package of its own. Without a record pip leaves the files to the package manager.
        remove(&inside("wheel/peerlane/peerlane-models"))?;
        let record = inside(concat!(
            "wheel/peerlane-",
            env!("CARGO_PKG_VERSION"),
            ".dist-info/RECORD"
        ));
        fs::remove_file(&record)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot remove {}", record.display()))?;
        Ok(work)
    }

    fn maturin(&self, out: &Path) -> miette::Result<()> {
        let mut command = self.command("maturin");
        command
            .args(["build", "--locked", "--zig", "--profile", "dist"])
            .args(["--target", TRIPLE, "--compatibility", MANYLINUX, "-m"])
            .arg(self.root.join("host/python/Cargo.toml"))
            .arg("--out")
            .arg(out);
        must(&mut command)
    }
}

/// Packs a directory, so that the same content is the same archive.
fn archive(out: &Path, name: &str, commit: &Commit) -> miette::Result<()> {
    let file = format!("{name}.tar.gz");
    must(
        Command::new("tar")
            .current_dir(out)
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .args(["--mode=u=rwX,go=rX", "-I", "gzip -9n"])
            .arg(format!("--mtime=@{}", commit.time))
            .args(["-cf", &file, name]),
    )
}

/// Packs the sources of the commit.
fn source(root: &Path, out: &Path, version: &str) -> miette::Result<()> {
    let file = out.join(format!("peerlane-{version}-source.tar.gz"));
    must(
        Command::new("git")
            .current_dir(root)
            .args(["-c", "tar.tar.gz.command=gzip -9n", "archive"])
            .arg("--format=tar.gz")
            .arg(format!("--prefix=peerlane-{version}/"))
            .arg("--output")
            .args([file.as_os_str(), "HEAD".as_ref()]),
    )
}

/// Writes the checksums of all files of a directory to SHA256SUMS, and returns its lines.
fn sums(out: &Path) -> miette::Result<Vec<String>> {
    let mut names: Vec<_> = fs::read_dir(out)
        .and_then(|entries| entries.map(|e| Ok(e?.file_name())).collect())
        .into_diagnostic()?;
    names.sort();
    let text = output(Command::new("sha256sum").current_dir(out).args(&names))?;
    write(&out.join("SHA256SUMS"), &(text.clone() + "\n"))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Runs a command that must succeed.
fn must(command: &mut Command) -> miette::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {name}"))?;
    if !status.success() {
        return Err(miette!("{name} failed ({status})"));
    }
    Ok(())
}

/// Returns the output of a command that must succeed, without the end of its last line.
fn output(command: &mut Command) -> miette::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        return Err(miette!("{name} failed ({})", output.status));
    }
    let text = String::from_utf8(output.stdout).into_diagnostic()?;
    Ok(text.trim_end().to_owned())
}

/// Removes a directory, if it exists.
fn remove(path: &Path) -> miette::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
    .into_diagnostic()
    .wrap_err_with(|| format!("cannot remove {}", path.display()))
}

fn directory(path: &Path) -> miette::Result<()> {
    fs::create_dir_all(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> miette::Result<()> {
    directory(to.parent().unwrap_or(to))?;
    fs::copy(from, to)
        .map(drop)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Makes a symbolic link with this text.
fn link(text: &Path, path: &Path) -> miette::Result<()> {
    directory(path.parent().unwrap_or(path))?;
    std::os::unix::fs::symlink(text, path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", path.display()))
}

fn write(path: &Path, text: &str) -> miette::Result<()> {
    fs::write(path, text)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}
