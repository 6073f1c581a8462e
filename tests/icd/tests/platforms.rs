//! Tests of the driver together with another platform, with other loaders, and installed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use peerlane_icd as _;
use peerlane_icd_setup::{Places, Settings};
use peerlane_icd_tests::{Drivers, Lab, driver, printed, run, succeed};

/// Two platforms of one process, with a thread each.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn two_platforms_work_at_a_time() {
    let lab = Lab::new();
    let program = lab.program("two", &["two.c"]);
    let alone = lab.vendors("alone", &[&lab.other_pocl()]);
    let mut command = lab.command(&program, Drivers::Bare, &lab.plain());
    if run(command.env("OCL_ICD_VENDORS", alone), "two")
        .status
        .code()
        .is_none()
    {
        // It is another project's package, with a compiler that does not know every processor.
        println!("LEFT OUT: the second PoCL does not run on this processor by itself");
        return;
    }
    let both = lab.vendors("both", &[&driver(), &lab.other_pocl()]);
    let mut command = lab.command(&program, Drivers::Wrapped, &lab.plain());
    command.env("OCL_ICD_VENDORS", both);
    let said = printed(&succeed(&mut command, "two"));
    // CL_INVALID_CONTEXT or CL_INVALID_EVENT_WAIT_LIST: the specification allows both for such a list.
    let refused = [
        "events of two platforms: -34\n",
        "events of two platforms: -57\n",
    ];
    assert!(said.starts_with("2 platforms, 0 failures\n"), "{said}");
    assert!(refused.iter().any(|line| said.ends_with(line)), "{said}");
}

/// Checks that two platforms of one process answer as each does alone, with Debian's loader and Khronos's.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn clinfo_sees_two_platforms() {
    let lab = Lab::new();
    let vendor = lab.plain();
    let platforms = [driver(), lab.other_pocl()];
    let platforms = platforms.each_ref().map(|file| file.as_path());
    for loader in [None, Some(lab.khronos_loader())] {
        // Lines that begin with the platform's suffix, and not with the loader's.
        let ask = |name: &str, of: &[&Path]| -> BTreeSet<String> {
            let mut command = lab.command(lab.opencl().clinfo(), Drivers::Wrapped, &vendor);
            command
                .arg("--raw")
                .env("OCL_ICD_VENDORS", lab.vendors(name, of))
                .envs(loader.iter().map(|file| ("LD_PRELOAD", file)));
            let said = printed(&succeed(&mut command, "clinfo"));
            let lines = said.lines().filter(|line| line.starts_with("[P"));
            // Columns are as wide as the widest suffix.
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            lines.map(words).collect()
        };
        let [wrapped, other] = [0, 1].map(|n| ask(&n.to_string(), &[platforms[n]]));
        let both = ask("both", &platforms);
        for (of, lines) in [("[Peerlane/", &wrapped), ("[POCL/", &other)] {
            assert!(lines.len() > 80, "{lines:#?}");
            assert!(lines.iter().all(|line| line.starts_with(of)), "{lines:#?}");
        }
        let alone: BTreeSet<_> = wrapped.union(&other).cloned().collect();
        let unlike: Vec<_> = both.symmetric_difference(&alone).collect();
        assert!(unlike.is_empty(), "{unlike:#?}");
    }
}

/// Khronos's loader, which Debian does not have: programs run as with Debian's.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn khronos_loader_takes_the_driver() {
    let lab = Lab::new();
    let program = lab.program("program", &["main.c", "objects.c", "events.c", "limits.c"]);
    let vendor = lab.plain();
    for part in ["parents", "events"] {
        let run = |khronos: bool| {
            let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
            command.arg(part).arg(driver());
            if khronos {
                command.env("LD_PRELOAD", lab.khronos_loader());
            }
            printed(&succeed(&mut command, part))
        };
        let said = run(false);
        assert!(
            !said.contains(": NO") && said.lines().count() > 10,
            "{said}"
        );
        assert_eq!(run(true), said);
    }
}

/// A loader of `cl_khr_icd` 2.0 finds its word in every object; an older one sees no tag.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_new_loader_has_its_word_in_every_object() {
    let lab = Lab::new();
    let program = lab.compile("loader2", &["loader2.c"], &["-ldl"]);
    let mut command = lab.command(&program, Drivers::Wrapped, &lab.plain());
    let said = printed(&succeed(command.arg(driver()), "loader2"));
    // CL_INVALID_VALUE is -30.
    let expected = "tags without being asked: 0\ntags: 2\nno platform: -30\nword: 0\n\
        platform: has it\ndevice: has it\ncontext: has it\nqueue: has it\nbuffer: has it\n\
        user event: has it\nmarker: 0\nevent: has it\nnot found\n";
    assert_eq!(said, expected);
}

/// Devices that an answer has named before the program asked for them.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_program_may_begin_in_any_way() {
    let lab = Lab::new();
    let program = lab.program("first", &["first.c"]);
    let vendor = lab.plain();
    for drivers in [Drivers::Bare, Drivers::Wrapped] {
        let said = printed(&succeed(
            &mut lab.command(&program, drivers, &vendor),
            "first",
        ));
        assert_eq!(said, "0 failures\n", "{drivers:?}");
    }
}

/// Calls that loaders do not pass on. The numbers are the specification's: `CL_INVALID_VALUE` -30 (4.1),
/// `CL_INVALID_PLATFORM` -32.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_driver_looks_at_what_loaders_do_not() {
    let lab = Lab::new();
    let program = lab.compile("calls", &["calls.c"], &["-ldl"]);
    let mut command = lab.command(&program, Drivers::Wrapped, &lab.plain());
    let said = printed(&succeed(command.arg(driver()), "calls"));
    let expected = "threads: 8\nboth NULL: -30\nno room: -30\nnumber: 0, 1\nplatform: 0\n\
        suffix: 0, Peerlane, 9 bytes\nsuffix of none: -32\nname of none: -32\nfunction: there\n\
        of none: missing\nwithout a name: missing\n";
    assert_eq!(said, expected);
}

/// Functions that the vendor library lacks answer with an error, also where it is linked with a loader that has all of
/// these names.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn functions_that_are_not_there_say_so() {
    let lab = Lab::new();
    let program = lab.compile("lacks", &["lacks.c"], &["-ldl"]);
    let loader = lab.opencl().loader();
    let linked = ["-Wl,--no-as-needed", loader.to_str().unwrap()];
    for (name, options) in [("libnull.so", &[][..]), ("liblinked.so", &linked)] {
        let vendor = lab.library(name, "vendors/null.c", options);
        let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
        command.arg(driver()).arg(&vendor);
        let said = printed(&succeed(&mut command, "lacks"));
        assert_eq!(said, "most, 0 others\n", "{name}");
    }
}

/// Extensions that PoCL does not have: sub-devices name their device by a query of the extension; live objects are
/// reported with the program's handles.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn extensions_name_the_programs_objects() {
    let lab = Lab::new();
    let vendor = lab.library("libextensions.so", "vendors/extensions.c", &[]);
    let program = lab.compile("extensions", &["extensions.c"], &["-ldl"]);
    let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
    let said = printed(&succeed(command.arg(driver()), "extensions"));
    let expected = "parts: 0\nparent: the device\nparent by the extension: the device\n\
        live: 3, the buffer: yes, others: nothing\n";
    assert_eq!(said, expected);
}

/// Enqueues that fail, callbacks that come early, excess releases, and a kernel's arguments, with a vendor library that
/// behaves as a real one rarely does.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn rare_moments_are_right() {
    let lab = Lab::new();
    let vendor = lab.library("libmoments.so", "vendors/moments.c", &[]);
    let program = lab.compile("moments", &["moments.c"], &["-ldl"]);
    let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
    let said = printed(&succeed(command.arg(driver()).arg(&vendor), "moments"));
    assert_eq!(said, "0 failures\n");
}

/// Checks that the files that `peerlane icd` installs are found, and that a vendor library that does not work is
/// reported.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn an_installation_is_checked() {
    let lab = Lab::new();
    let places = Places::below(&lab.path("root"));
    let write = |vendor, helpers| {
        let settings = Settings {
            vendor: Some(vendor),
            helpers,
        };
        places.install(&driver(), &settings).unwrap();
    };
    let install = |vendor, helpers| {
        write(vendor, helpers);
        places.check()
    };
    let linked = ["-Wl,-z,lazy"];
    let knot = lab.library("libknot.so", "vendors/knot.c", &linked);
    let helper = lab.library(
        "libhelper.so",
        "vendors/knot.c",
        &["-DHELPER", "-Wl,-z,lazy"],
    );
    let report = install(knot, vec![helper]);
    assert_eq!(report.fault, None, "{report:?}");
    assert_eq!(report.lines.len(), 3, "{report:?}");
    let crashes = lab.library("libfault.so", "vendors/broken.c", &["-DFAULT=3"]);
    let report = install(crashes, Vec::new());
    assert!(report.fault.unwrap().contains("crashed (signal 11)"));
    let hangs = lab.library("libhangs.so", "vendors/broken.c", &["-DFAULT=6"]);
    write(hangs, Vec::new());
    let report = places.check_within(Duration::from_secs(1));
    assert_eq!(
        report.fault.unwrap(),
        "the vendor library did not answer within 1 s"
    );
    let cut = lab.path("cut.so");
    std::fs::write(&cut, &std::fs::read(driver()).unwrap()[..5000]).unwrap();
    let report = install(cut, Vec::new());
    assert!(report.fault.unwrap().contains("cut off"));
    let report = install("/nowhere/libalteracl.so".into(), Vec::new());
    assert!(report.fault.unwrap().contains("/nowhere/libalteracl.so"));
}
