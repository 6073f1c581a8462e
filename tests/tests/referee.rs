//! The independent reference model: cocotb with the Avalon models of cocotbext-avalon on the emitted Verilog, under
//! Verilator; for a build with a transaction layer, with the root complex of cocotbext-pcie. The checks are in
//! `tests/referee/`, in Python.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use peerlane_hdl::{Design, Irq, Params, Port, Slaves, TOP, generate};
use peerlane_regmap::{Map, emit};
use peerlane_tools::{Cache, Python, Requirements, cxx};

/// Random transfers in each direction.
const EACH_WAY: u32 = 1000;

/// Random transfers through packets, each of which passes through Python several times.
const EACH_WAY_BY_PACKETS: u32 = 500;

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{out}\n{err}");
    out
}

/// Joins paths for `PYTHONPATH`.
fn joined(paths: &[&Path]) -> OsString {
    std::env::join_paths(paths).expect("no path has a colon")
}

/// Builds Verilator's C++ of the design in the directory `work`, and cocotb's main program: `work/simulation`.
fn build(cache: &Cache, python: &Python, design: &Design, work: &Path) {
    let mut sources = Vec::new();
    for module in &design.modules {
        let path = work.join(format!("{}.v", module.name));
        fs::write(&path, &module.verilog).unwrap();
        sources.push(path);
    }
    // cocotb only gets access to the ports. Everything else stays as fast as it is.
    let mut visible = "`verilator_config\n".to_owned();
    for port in &design.ports {
        visible += &format!("public_flat_rw -module \"{TOP}\" -var \"{}\"\n", port.name);
    }
    fs::write(work.join("visible.vlt"), visible).unwrap();
    let verilator = cache.verilator().unwrap();
    let made = work.join("made");
    let mut translate = verilator.command();
    translate
        .args(["--cc", "--vpi", "--prefix", "Vtop", "--top-module", TOP])
        .arg("+define+SIMULATION")
        .args([
            "--timescale",
            "1ns/1ps",
            "--x-initial",
            "unique",
            "-Wno-lint",
        ])
        // 5.048 folds two shifts into one with a sum that overflows (verilator issue 7955).
        .arg("-fno-dfg-peephole-replace-shiftl-shiftl")
        .arg("-fno-dfg-peephole-replace-shiftr-shiftr")
        .arg("--Mdir")
        .arg(&made)
        .arg(work.join("visible.vlt"))
        .args(&sources);
    run(&mut translate);

    let cocotb = python.site.join("cocotb");
    let mut files: Vec<PathBuf> = fs::read_dir(&made)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "cpp"))
        .collect();
    let runtime = [
        "verilated",
        "verilated_vpi",
        "verilated_dpi",
        "verilated_threads",
    ];
    files.extend(runtime.map(|name| verilator.include().join(format!("{name}.cpp"))));
    files.push(cocotb.join("share/lib/verilator/verilator.cpp"));
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(cocotb.join("libs"));
    let mut compile = cxx().unwrap().command();
    compile
        .args(["-std=c++17", "-O1", "-w"])
        .args(["-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVM_SC=0"])
        .arg("-I")
        .arg(&made)
        .arg("-I")
        .arg(verilator.include())
        .arg("-I")
        .arg(verilator.include().join("vltstd"))
        .args(&files)
        .arg("-L")
        .arg(cocotb.join("libs"))
        .args(["-lcocotbvpi_verilator", "-pthread"])
        .arg(rpath)
        .arg("-o")
        .arg(work.join("simulation"));
    run(&mut compile);
}

/// Returns the name of the Python side of a build, the number of its transfers, and its other settings.
fn side(params: &Params) -> (&'static str, u32, Vec<(&'static str, String)>) {
    let Some(slaves) = params.slaves else {
        return ("referee", EACH_WAY, Vec::new());
    };
    let msix = slaves.msix.unwrap_or(0);
    let Slaves { csr, chan, att, .. } = slaves;
    let settings = vec![
        (
            "REFEREE_PLACES",
            format!("{csr:#x},{chan:#x},{att:#x},{msix:#x}"),
        ),
        (
            "REFEREE_MSIX",
            u32::from(params.irq == Irq::Msix).to_string(),
        ),
        (
            "REFEREE_GENERATION",
            (params.port_bits / 128 + 1).to_string(),
        ),
    ];
    ("packets", EACH_WAY_BY_PACKETS, settings)
}

fn referee(params: &Params) {
    let (module, each_way, settings) = side(params);
    let cache = Cache::open().unwrap();
    let python = cache.python(Requirements::Referee).unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("referee");
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    build(&cache, &python, &generate(params).unwrap(), work.path());
    emit::write(&emit::c(&Map::load()), work.path()).unwrap();

    let mut ask = python.command();
    let said = run(ask.arg(scripts.join("environment.py")));
    let value = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.strip_prefix('='))
            .unwrap_or_else(|| panic!("no {name} in:\n{said}"))
    };
    let mut simulate = Command::new(at("simulation"));
    simulate
        .current_dir(work.path())
        .env("GPI_USERS", value("GPI_USERS"))
        .env("PYGPI_PYTHON_BIN", value("PYGPI_PYTHON_BIN"))
        .env("PYTHONPATH", joined(&[&python.site, &scripts]))
        .env("PYTHONNOUSERSITE", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("COCOTB_TOPLEVEL", TOP)
        .env("COCOTB_TEST_MODULES", module)
        .envs(settings)
        .env("COCOTB_RANDOM_SEED", "1")
        .env("TOPLEVEL_LANG", "verilog")
        // Verilator applies a write when it is made; cocotb's own runner sets this for it, too.
        .env("COCOTB_TRUST_INERTIAL_WRITES", "1")
        .env("REFEREE_HEADER", at("peerlane_regs.h"))
        .env("REFEREE_VERDICT", at("verdict"))
        .env("REFEREE_TRANSFERS", each_way.to_string());
    let log = run(&mut simulate);

    // A simulation that ends early proves nothing: the verdict must exist, and be about all tests.
    let verdict = fs::read_to_string(at("verdict")).unwrap_or_default();
    let (mut passed, mut failed) = (0, 0);
    for line in verdict.lines().filter(|line| line.ends_with(" failed")) {
        let numbers: Vec<u32> = line
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let &[p, f] = &numbers[..] else {
            panic!("{line}")
        };
        passed += p;
        failed += f;
    }
    println!("{params:?}: {passed} passed, {failed} failed");
    assert!(
        failed == 0 && passed == 2 * each_way && log.contains(" FAIL=0 "),
        "{verdict}\n{log}"
    );
}

/// Returns parameters with small tables, because a large one takes long to clear.
fn params(port_bits: u32) -> Params {
    Params {
        port_bits,
        queue_log2: 8,
        att_log2: 8,
        ..Params::default()
    }
}

#[test]
#[ignore = "external tools: cargo xtask test referee"]
fn random_transfers_through_a_128_bit_port() {
    referee(&params(128));
}

#[test]
#[ignore = "external tools: cargo xtask test referee"]
fn random_transfers_through_a_256_bit_port() {
    referee(&params(256));
}

/// Returns a build with its transaction layer: 128 bits with MSI, 256 with a table of vectors.
fn packets(port_bits: u32, irq: Irq) -> Params {
    Params {
        port: Port::Tlp,
        irq,
        reads_log2: 6,
        receive_log2: 10,
        slaves: Some(Slaves {
            bar: 0,
            csr: 0xC800,
            chan: 0x2_0000,
            att: 0x2_8000,
            msix: (irq == Irq::Msix).then_some(0x3_0000),
            window: None,
        }),
        ..params(port_bits)
    }
}

#[test]
#[ignore = "external tools: cargo xtask test referee"]
fn random_transfers_through_packets_of_128_bits() {
    referee(&packets(128, Irq::Rxm));
}

#[test]
#[ignore = "external tools: cargo xtask test referee"]
fn random_transfers_through_packets_of_256_bits() {
    referee(&packets(256, Irq::Msix));
}
