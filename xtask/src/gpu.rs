//! `cargo xtask gpu`: the checks with a real GPU as a bundle that runs elsewhere.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use miette::{IntoDiagnostic, WrapErr, miette};

const PROGRAM: &str = "peerlane-gpu-check";

/// The command, for its doctor: package and program.
const COMMAND: &str = "peerlane";

/// `tests/gpu/board_library.c`: by its name `host/clrdma` takes it for Peerlane's board library.
const BOARD_LIBRARY: &str = "libpeerlane_mmd_check.so";

/// Runs the command with the libraries that it was built with.
const RUN_COMMAND: &str = "#!/bin/sh
here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1
exec \"$here/lib/LOADER\" --library-path \"$here/lib\" \"$here/peerlane-command\" \"$@\"
";

/// Runs the program with the libraries that it was built with: those of the machine may be older. The GPU driver's are
/// found in the usual way. The kernel that includes `peerlane_gpu.h` is compiled there, for GPUs that have `st.mmio`,
/// and for the oldest that all of CUDA 12 and 13 can compile for.
const RUN: &str = "#!/bin/sh
here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if \"$nvcc\" -arch=compute_75 -ptx -I \"$here/include\" -o \"$here/kernel.ptx\" \"$here/kernel.cu\"; then
    set -- --kernel \"$here/kernel.ptx\" \"$@\"
else
    echo 'no nvcc (set NVCC to its path): the kernel of peerlane_gpu.h is not tested' >&2
fi
exec \"$here/lib/LOADER\" --library-path \"$here/lib\" \"$here/peerlane-gpu-check\" run --model \"$here/block.so\" \\
    --board-library \"$here/lib/libpeerlane_mmd_check.so\" --command \"$here/peerlane\" \"$@\"
";

/// Makes the bundle, `target/gpu`; an earlier one is removed.
pub(crate) fn run(root: &Path) -> miette::Result<bool> {
    let bundle = root.join("target/gpu");
    let libraries = bundle.join("lib");
    if bundle.exists() {
        (fs::remove_dir_all(&bundle).into_diagnostic())
            .wrap_err_with(|| format!("cannot remove {}", bundle.display()))?;
    }
    (fs::create_dir_all(&libraries).into_diagnostic())
        .wrap_err_with(|| format!("cannot create {}", libraries.display()))?;

    let built = super::cargo(root)
        // The features of the whole workspace, as in its tests: otherwise the dependencies are compiled again.
        .args(["build", "--workspace", "--bin", PROGRAM])
        .args(["--bin", COMMAND])
        .env("PEERLANE_COMMIT", commit(root))
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !built.success() {
        return Ok(false);
    }
    let built = super::target(root).join("debug");
    let program = bundle.join(PROGRAM);
    let command = bundle.join("peerlane-command");
    strip(&built.join(PROGRAM), &program)?;
    strip(&built.join(COMMAND), &command)?;
    let model = bundle.join("block.so");
    let compiled = Command::new(&program)
        .arg("model")
        .arg(&model)
        .status()
        .into_diagnostic()?;
    if !compiled.success() {
        return Ok(false);
    }

    let include = bundle.join("include");
    fs::create_dir_all(&include).into_diagnostic()?;
    let kernel = root.join("examples/08-gpu-kernel/kernel.cu");
    copy(&kernel, &bundle.join("kernel.cu"))?;
    for header in ["host/gpu/include/peerlane_gpu.h", "driver/uapi/peerlane.h"] {
        let name = Path::new(header).file_name().unwrap_or_default();
        copy(&root.join(header), &include.join(name))?;
    }

    let source = root.join("tests/gpu/board_library.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]);
    compiler.args(["-shared", "-fPIC", "-o"]);
    compiler.arg(libraries.join(BOARD_LIBRARY)).arg(source);
    must(&mut compiler)?;

    let mut loader = None;
    let all = [&program, &command, &model].map(|file| needed(file));
    for library in all
        .into_iter()
        .collect::<miette::Result<Vec<_>>>()?
        .concat()
    {
        let name = library.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        copy(&library, &libraries.join(&name))?;
        if name.starts_with("ld-linux") {
            loader = Some(name);
        }
    }
    let loader = loader.ok_or_else(|| miette!("ldd lists no dynamic loader of {PROGRAM}"))?;
    for (name, text) in [("run", RUN), (COMMAND, RUN_COMMAND)] {
        let script = bundle.join(name);
        (fs::write(&script, text.replace("LOADER", &loader)).into_diagnostic())
            .wrap_err_with(|| format!("cannot write {}", script.display()))?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).into_diagnostic()?;
    }
    println!(
        "{}: copy it to a machine with an NVIDIA GPU, and run `run` there; see `run --help`",
        bundle.display()
    );
    Ok(true)
}

/// Returns the commit that is built, with `+` if files were changed since.
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(root)
            .args(arguments)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".into());
    match git(&["status", "--porcelain"]) {
        Some(changes) if !changes.is_empty() => commit + "+",
        _ => commit,
    }
}

/// Returns the shared libraries that a program or library needs, and the loader (ldd(1)).
fn needed(file: &Path) -> miette::Result<Vec<PathBuf>> {
    let output = Command::new("ldd")
        .arg(file)
        .output()
        .into_diagnostic()
        .wrap_err("cannot run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(libraries(&text))
}

/// Returns the paths in the output of ldd.
fn libraries(text: &str) -> Vec<PathBuf> {
    let words = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        words.find(|word| word.starts_with('/'))
    });
    words.map(PathBuf::from).collect()
}

/// Copies a program without the data for debuggers, to make the bundle small.
fn strip(from: &Path, to: &Path) -> miette::Result<()> {
    must(Command::new("strip").arg("-o").arg(to).arg(from))
}

/// Runs a command, and fails if it fails.
fn must(command: &mut Command) -> miette::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status =
        (command.status().into_diagnostic()).wrap_err_with(|| format!("cannot run {name}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(miette!("{name} ended with {status}")),
    }
}

fn copy(from: &Path, to: &Path) -> miette::Result<()> {
    (fs::copy(from, to).into_diagnostic())
        .wrap_err_with(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldd_names_libraries_and_the_loader() {
        let text = "\tlinux-vdso.so.1 (0x00007f36)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x1)\n\
            \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x2)\n";
        let found = libraries(text);
        assert_eq!(
            found,
            [
                "/lib/x86_64-linux-gnu/libm.so.6",
                "/lib64/ld-linux-x86-64.so.2"
            ]
            .map(PathBuf::from)
        );
    }
}
