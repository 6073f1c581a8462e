//! The whole path with a small design: Verilator, compiler, loader.

use std::path::Path;

use peerlane_tools::Verilator;
use peerlane_verilated::{Build, Direction, Error, Library, Model, Port, Toolchain};

const SOURCE: &str = include_str!("counter.v");

fn build() -> Build {
    Build::new("counter").text("counter.v", SOURCE)
}

fn library() -> Library {
    build().model(&Toolchain::open().unwrap()).unwrap()
}

fn clock(model: &mut Model, clk: Port) {
    model.set(clk, 1);
    model.eval().unwrap();
    model.set(clk, 0);
    model.eval().unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn values_of_every_width_pass() {
    let library = library();
    let port = |name: &str| library.port(name).unwrap();
    let (clk, reset, step) = (port("clk"), port("reset"), port("step"));
    let mut model = library.instance().unwrap();
    model.set(reset, 1);
    clock(&mut model, clk);
    model.set(reset, 0);
    // 0x1FF loses its bits 7 and 8 at a port of seven bits: each step adds 127.
    model.set(step, 0x1FF);
    for _ in 0..10 {
        clock(&mut model, clk);
    }
    assert_eq!(model.get(port("total")), 1270);
    assert_eq!(model.get(port("doubled")), 2540);
    assert_eq!(model.get(port("shifted")), 1270 << 28);
    assert_eq!(model.get(port("odd__name")), 0);

    let pattern: Vec<u8> = (0..64).map(|n| n * 3).collect();
    model.set_bytes(port("wide_in"), &pattern);
    clock(&mut model, clk);
    let mut back = [0; 64];
    model.get_bytes(port("wide_out"), &mut back);
    for (n, byte) in back.iter().enumerate() {
        assert_eq!(*byte, !((n * 3) as u8));
    }
    assert_eq!(model.words(port("wide_out"))[0], !0x0906_0300);
    assert_eq!(model.words(port("wide_out")).len(), 16);

    model.set_words(port("odd_in"), &[0, 0, u32::MAX, 7]);
    model.eval().unwrap();
    let mut words = [9; 4];
    model.get_words(port("odd_out"), &mut words);
    // Bit 64 was set and the exclusive-or clears it; the words above it do not exist.
    assert_eq!(words, [1, 0, 0, 0]);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn instances_are_apart_and_keep_the_library() {
    let library = library();
    let total = library.port("total").unwrap();
    let (clk, reset, step) = (
        library.port("clk").unwrap(),
        library.port("reset").unwrap(),
        library.port("step").unwrap(),
    );
    let mut models: Vec<_> = (0..3).map(|_| library.instance().unwrap()).collect();
    drop(library);
    for (n, model) in models.iter_mut().enumerate() {
        model.set(reset, 1);
        clock(model, clk);
        model.set(reset, 0);
        model.set(step, n as u64 + 1);
    }
    for _ in 0..5 {
        for model in &mut models {
            clock(model, clk);
        }
    }
    let totals: Vec<_> = models.iter().map(|model| model.get(total)).collect();
    assert_eq!(totals, [5, 10, 15]);

    // A model may move to another thread.
    let mut last = models.pop().unwrap();
    let moved = std::thread::spawn(move || {
        clock(&mut last, clk);
        last.get(total)
    });
    assert_eq!(moved.join().unwrap(), 18);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn start_values_follow_the_seed() {
    let library = library();
    let register = library.port("uninitialised").unwrap();
    let value = |seed| {
        let mut model = library.instance_seeded(seed).unwrap();
        model.eval().unwrap();
        model.get(register)
    };
    assert_eq!(value(7), value(7));
    assert_ne!(value(7), value(8));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn stop_is_a_fault_and_finish_is_seen() {
    let library = library();
    let port = |name: &str| library.port(name).unwrap();
    let mut model = library.instance().unwrap();
    model.set(port("reset"), 0);
    model.set(port("step"), 99);
    model.set(port("clk"), 1);
    let fault = model.eval().unwrap_err();
    assert!(fault.message.contains("counter.v:24"), "{fault}");
    assert_eq!(model.eval().unwrap_err(), fault);

    let mut model = library.instance().unwrap();
    model.set(port("reset"), 0);
    model.set(port("step"), 98);
    model.set(port("clk"), 1);
    assert!(!model.finished());
    model.eval().unwrap();
    assert!(model.finished());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn ports_are_found_and_checked() {
    let library = library();
    assert_eq!(library.ports().len(), 12);
    let wide = library
        .ports()
        .iter()
        .find(|port| port.name == "wide_in")
        .unwrap();
    assert_eq!((wide.direction, wide.width), (Direction::Input, 512));
    assert!(library.port_as("total", Direction::Output, 12).is_ok());
    assert!(matches!(
        library.port_as("total", Direction::Output, 13),
        Err(Error::PortShape { .. })
    ));
    assert!(matches!(library.port("tota"), Err(Error::NoPort { .. })));
    let error = build()
        .port("step", Direction::Output, 7)
        .model(&Toolchain::open().unwrap())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "port `step` of `counter` is an input of 7 bits, expected an output of 7 bits"
    );
}

/// Returns the same tools with a cache of their own.
fn fresh(cache: &Path) -> Toolchain {
    Toolchain::open().unwrap().with_models(cache).unwrap()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn errors_carry_the_tools_words_and_leave_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let tools = fresh(cache.path());
    let error = Build::new("bad")
        .text(
            "bad.v",
            "module bad(input a, output b);\nassign b = nothing;\nendmodule\n",
        )
        .model(&tools)
        .unwrap_err()
        .to_string();
    assert!(error.contains("bad.v:2"), "{error}");
    assert!(error.contains("nothing"), "{error}");
    let left: Vec<_> = std::fs::read_dir(cache.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn two_builders_at_once_make_one_library() {
    let cache = tempfile::tempdir().unwrap();
    let tools = fresh(cache.path());
    let paths: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| build().model(&tools).unwrap().path().to_owned()))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(paths[0], paths[1]);
    let modified = std::fs::metadata(&paths[0]).unwrap().modified().unwrap();
    build().model(&tools).unwrap();
    assert_eq!(
        std::fs::metadata(&paths[0]).unwrap().modified().unwrap(),
        modified
    );
    // Another design has another name.
    let other = build()
        .text("empty.v", "// nothing\n")
        .model(&tools)
        .unwrap();
    assert_ne!(other.path(), paths[0]);
}

#[test]
fn source_names_are_checked() {
    let tools = tempfile::tempdir().unwrap();
    // A mock that runs: names are rejected before the model is built with it.
    let stand_in = Verilator {
        bin: "true".into(),
        root: tools.path().to_owned(),
    };
    let Ok(tools) = Toolchain::new(stand_in, tools.path()) else {
        // Without a C++ compiler, names are never used.
        return;
    };
    for name in ["", "a b.v", "-x.v", "../x.v", ".v"] {
        let error = Build::new("t").text(name, "").model(&tools).unwrap_err();
        assert!(matches!(error, Error::SourceName { .. }), "{name}: {error}");
    }
    let error = Build::new("t")
        .text("a.v", "")
        .text("a.v", "")
        .model(&tools)
        .unwrap_err();
    assert!(matches!(error, Error::DuplicateSource { .. }), "{error}");
}

/// A package has the library; a design that differs in any source is not mistaken for it, nor is a damaged file loaded.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_library_made_ahead_is_found_by_its_sources() {
    let work = tempfile::tempdir().unwrap();
    let models = work.path().join("models");
    assert!(build().ahead(&models).is_none());
    let file = (build().make_ahead(&Toolchain::open().unwrap(), &models)).unwrap();
    assert_eq!(file.parent(), Some(&*models));
    // Nothing else is left there.
    assert_eq!(std::fs::read_dir(&models).unwrap().count(), 1);

    let library = build().ahead(&models).unwrap();
    let port = |name: &str| library.port(name).unwrap();
    let (clk, reset, step) = (port("clk"), port("reset"), port("step"));
    let mut model = library.instance().unwrap();
    model.set(reset, 1);
    clock(&mut model, clk);
    model.set(reset, 0);
    model.set(step, 5);
    clock(&mut model, clk);
    assert_eq!(model.get(port("total")), 5);

    let newer = Build::new("counter").text("counter.v", format!("{SOURCE}// newer\n"));
    assert!(newer.ahead(&models).is_none());
    let with_port = build().port("step", Direction::Output, 7);
    assert!(with_port.ahead(&models).is_none());
    drop((model, library));
    let other = work.path().join("damaged");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join(file.file_name().unwrap()), "not a library").unwrap();
    assert!(build().ahead(&other).is_none());
}
