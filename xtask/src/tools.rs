//! `cargo xtask tools`.

use miette::MietteDiagnostic;
use peerlane_tools::{Cache, Error, Flavour, Requirements, cxx};

/// Makes the report of an error about a tool: it shows the hint.
pub(crate) fn report(error: Error) -> miette::Report {
    let help = Some(error.hint().to_owned());
    let report = MietteDiagnostic {
        help,
        ..MietteDiagnostic::new(error.to_string())
    };
    report.into()
}

/// A tool's version and place.
type Found = Result<(String, String), Error>;

/// Installs every tool and prints a table. A tool that is not to be had does not stop the others.
pub(crate) fn run() -> bool {
    let cache = match Cache::open() {
        Ok(cache) => cache,
        Err(error) => {
            eprintln!("{:?}", report(error));
            return false;
        }
    };
    let version = |set: Requirements| set.top().replace("==", " ");
    let tools: [(&str, Found); 13] = [
        (
            "C++ compiler",
            cxx().map(|tool| (tool.version, tool.bin.display().to_string())),
        ),
        (
            "verilator",
            cache.verilator().map(|tool| {
                (
                    version(Requirements::Verilator),
                    tool.bin.display().to_string(),
                )
            }),
        ),
        (
            "iverilog",
            cache.iverilog().map(|tool| {
                let bin = tool.bin().display().to_string();
                (tool.version, bin)
            }),
        ),
        (
            "tclsh",
            cache.tclsh().map(|tool| {
                let bin = tool.bin().display().to_string();
                (tool.version, bin)
            }),
        ),
        (
            "OpenCL",
            cache
                .opencl()
                .map(|tool| ("PoCL".to_owned(), tool.pocl().display().to_string())),
        ),
        (
            "systemrdl",
            cache.python(Requirements::Rdl).map(|python| {
                (
                    version(Requirements::Rdl),
                    python.site.display().to_string(),
                )
            }),
        ),
        (
            "yosys",
            cache.yosys().map(|yosys| {
                (
                    version(Requirements::Yosys),
                    yosys.python().site.display().to_string(),
                )
            }),
        ),
        (
            "nextpnr",
            cache.nextpnr().map(|nextpnr| {
                (
                    version(Requirements::Nextpnr),
                    nextpnr.python().site.display().to_string(),
                )
            }),
        ),
        (
            "mdbook",
            cache.mdbook().map(|tool| {
                (
                    version(Requirements::Mdbook),
                    tool.bin.display().to_string(),
                )
            }),
        ),
        (
            "cargo-deny",
            cache
                .deny()
                .map(|tool| (version(Requirements::Deny), tool.bin.display().to_string())),
        ),
        (
            "cargo-nextest",
            cache.nextest().map(|tool| {
                (
                    version(Requirements::Nextest),
                    tool.bin.display().to_string(),
                )
            }),
        ),
        (
            "qemu",
            cache.qemu().map(|qemu| {
                let bin = qemu.bin().display().to_string();
                (qemu.version, bin)
            }),
        ),
        (
            "linux",
            cache.kernel(Flavour::Debian).map(|kernel| {
                (
                    kernel.release().to_owned(),
                    kernel.vmlinuz().display().to_string(),
                )
            }),
        ),
    ];

    println!("cache {}", cache.root().display());
    let mut missing = Vec::new();
    for (name, result) in tools {
        match result {
            Ok((version, place)) => println!("{name:<13} {version}\n{:<13} {place}", ""),
            Err(error) => {
                println!("{name:<13} not available; see below");
                missing.push(error);
            }
        }
    }
    let complete = missing.is_empty();
    for error in missing {
        eprintln!("{:?}", report(error));
    }
    complete
}
