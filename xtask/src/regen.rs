//! `cargo xtask regen`: the generated files that are committed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use miette::{IntoDiagnostic, WrapErr, bail};

/// A program that writes files into the directory that it is given by `--out`.
struct Generator {
    program: &'static str,
    arguments: &'static [&'static str],
    /// The directories that its files belong to.
    directories: &'static [&'static str],
}

const GENERATORS: &[Generator] = &[
    Generator {
        program: "peerlane-regmap",
        arguments: &["emit", "rtl"],
        directories: &["hdl/src/generated"],
    },
    Generator {
        program: "peerlane-regmap",
        arguments: &["emit", "host"],
        directories: &["driver/core/src", "regmap/tests/generated"],
    },
    Generator {
        program: "peerlane-icd-gen",
        arguments: &["library"],
        directories: &["host/icd/src/generated"],
    },
    Generator {
        program: "peerlane-icd-gen",
        arguments: &["dispatch"],
        directories: &["host/icd/src/platform/generated"],
    },
    Generator {
        program: "peerlane-icd-gen",
        arguments: &["tests"],
        directories: &["tests/icd/generated"],
    },
    Generator {
        program: "peerlane-header",
        arguments: &["--interface", "driver/core/src/uapi.rs"],
        directories: &["driver/uapi"],
    },
    Generator {
        program: "peerlane-capi-header",
        arguments: &[],
        directories: &["host/capi/include"],
    },
];

/// Writes the files, or with `check` only compares them. Returns whether all are current.
pub(crate) fn run(root: &Path, check: bool) -> miette::Result<bool> {
    let mut current = true;
    for generator in GENERATORS {
        let fresh = tempfile::tempdir().into_diagnostic()?;
        emit(root, generator, fresh.path())?;
        for directory in generator.directories {
            current &= settle(root, fresh.path(), &root.join(directory), check)?;
        }
    }
    // After the others, because a board's `BUILD_ID` depends on the register map, too.
    let fresh = tempfile::tempdir().into_diagnostic()?;
    reference_board(root, fresh.path())?;
    current &= settle(root, fresh.path(), &root.join("bsp"), check)?;
    let fresh = tempfile::tempdir().into_diagnostic()?;
    diagrams(root, fresh.path())?;
    current &= settle(root, fresh.path(), &root.join("docs/fpga"), check)?;
    match (current, check) {
        (true, _) => println!("all generated files are current"),
        (false, true) => println!("run `cargo xtask regen` to write them"),
        (false, false) => {}
    }
    Ok(!check || current)
}

/// Runs a generator.
fn emit(root: &Path, generator: &Generator, fresh: &Path) -> miette::Result<()> {
    let program = generator.program;
    let status = crate::cargo(root)
        .args(["run", "--quiet", "--bin", program, "--"])
        .args(generator.arguments)
        .arg("--out")
        .arg(fresh)
        .stdout(Stdio::null())
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !status.success() {
        bail!("`{program} {}` failed", generator.arguments.join(" "));
    }
    Ok(())
}

/// Makes the description of the reference BSP's board, which the simulated board must have.
fn reference_board(root: &Path, fresh: &Path) -> miette::Result<()> {
    let work = tempfile::tempdir().into_diagnostic()?;
    let bsp = work.path().join("bsp");
    // The simulated boards that the driver's suites run on have this port.
    let config = work.path().join("txs.toml");
    std::fs::write(&config, "[port]\nkind = \"txs\"\n").into_diagnostic()?;
    extend(root, "reference", &bsp, Some(&config))?;
    let description = bsp.join("hardware/peerlane_ref_peerlane/peerlane.board");
    fs::copy(&description, fresh.join("reference.board"))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot copy {}", description.display()))?;
    Ok(())
}

/// Makes the block diagrams of the reference BSPs, before and after.
fn diagrams(root: &Path, fresh: &Path) -> miette::Result<()> {
    for name in ["reference", "reference-net"] {
        let work = tempfile::tempdir().into_diagnostic()?;
        let bsp = work.path().join("bsp");
        extend(root, name, &bsp, None)?;
        let mut diagram = crate::peerlane(root)?;
        diagram.args(["diagram", "--bsp"]).arg(&bsp);
        diagram.arg("--out").arg(fresh.join(format!("{name}.svg")));
        silently(
            diagram,
            "cannot draw the diagram of a reference BSP; see the messages above",
        )?;
    }
    Ok(())
}

/// Extends a reference BSP, with a configuration or none.
fn extend(root: &Path, name: &str, out: &Path, config: Option<&Path>) -> miette::Result<()> {
    let mut extend = crate::peerlane(root)?;
    extend.args(["extend", "--bsp"]);
    extend.arg(root.join("bsp").join(name));
    extend.arg("--out").arg(out);
    extend.args(config.map(|_| "--config")).args(config);
    silently(
        extend,
        "cannot extend a reference BSP; see the messages above",
    )
}

fn silently(mut command: std::process::Command, failed: &'static str) -> miette::Result<()> {
    let status = command
        .env("CARGO_TERM_QUIET", "true")
        .stdout(Stdio::null())
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    match status.success() {
        true => Ok(()),
        false => bail!(failed),
    }
}

/// Writes the files that have changed, or with `check` only reports them. Returns whether none has changed.
fn settle(root: &Path, fresh: &Path, committed: &Path, check: bool) -> miette::Result<bool> {
    let stale = changed(fresh, committed)?;
    for Change { path, text } in &stale {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        if check {
            println!("not current: {shown}");
        } else {
            write(path, text).wrap_err_with(|| format!("cannot write {shown}"))?;
            println!("written: {shown}");
        }
    }
    Ok(stale.is_empty())
}

/// A file that is to get another text.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: PathBuf,
    text: String,
}

/// Returns the files of `fresh` that `committed` lacks or has with another text.
fn changed(fresh: &Path, committed: &Path) -> miette::Result<Vec<Change>> {
    let mut changes = Vec::new();
    for entry in fs::read_dir(fresh).into_diagnostic()? {
        let entry = entry.into_diagnostic()?;
        let text = fs::read_to_string(entry.path()).into_diagnostic()?;
        let path = committed.join(entry.file_name());
        if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            changes.push(Change { path, text });
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// Writes a file in one step.
fn write(path: &Path, text: &str) -> miette::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).into_diagnostic()?;
    let temporary = path.with_extension("new");
    fs::write(&temporary, text).into_diagnostic()?;
    fs::rename(&temporary, path).into_diagnostic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_changed() {
        let fresh = tempfile::tempdir().unwrap();
        let committed = tempfile::tempdir().unwrap();
        fs::write(fresh.path().join("a.rs"), "a").unwrap();
        fs::write(fresh.path().join("b.rs"), "new").unwrap();
        fs::write(fresh.path().join("c.rs"), "c").unwrap();
        fs::write(committed.path().join("a.rs"), "a").unwrap();
        fs::write(committed.path().join("b.rs"), "old").unwrap();
        let changes = changed(fresh.path(), committed.path()).unwrap();
        let paths: Vec<_> = changes.iter().map(|change| change.path.clone()).collect();
        assert_eq!(
            paths,
            [committed.path().join("b.rs"), committed.path().join("c.rs")]
        );
        for change in &changes {
            write(&change.path, &change.text).unwrap();
        }
        assert_eq!(fs::read(committed.path().join("b.rs")).unwrap(), b"new");
        assert!(
            super::changed(fresh.path(), committed.path())
                .unwrap()
                .is_empty()
        );
    }
}
