//! `diagnose`.

use super::{Kind, Toys, Work, library, says, told};
use peerlane_host::Device;
use peerlane_routes::HostMemory;
use peerlane_utilities::diagnose::{Computer, FAILED, Options, PASSED, diagnose};
use peerlane_utilities::gpus::{Gpus, Memory};
use peerlane_utilities::install;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// GPUs whose memory is the host's, at these places; or no GPUs, with this reason.
struct Stand(Result<&'static [&'static str], &'static str>);

impl Gpus for Stand {
    fn memories(&self, device: &Device, bytes: u64) -> Result<Vec<Memory>, String> {
        let memory = |bus: &&str| Memory {
            bus: bus.to_string(),
            side: Ok(Arc::new(HostMemory::new(device, bytes).unwrap()) as _),
        };
        Ok(self.0?.iter().map(memory).collect())
    }
}

/// Checks a computer as it is after `install`.
fn look(work: &Work, toys: &Toys, options: &Options) -> (Vec<String>, Result<(), String>) {
    let stand = Stand(Err("there is no CUDA driver"));
    told(|say| install::install(&work.machine(), &work.platform(), &Default::default(), say))
        .1
        .unwrap();
    look_with(work, toys, &stand, None, options)
}

fn look_with(
    work: &Work,
    toys: &Toys,
    gpus: &dyn Gpus,
    vendors: Option<&Path>,
    options: &Options,
) -> (Vec<String>, Result<(), String>) {
    let computer = Computer {
        machine: &work.machine(),
        platform: Some(&work.platform()),
        vendors,
        boards: toys,
        gpus,
    };
    told(|say| diagnose(&computer, options, say))
}

fn probe(boards: &[&str]) -> Options {
    Options {
        boards: boards.iter().map(|name| name.to_string()).collect(),
        probe: true,
        ..Options::default()
    }
}

fn named(board: &str) -> Options {
    Options {
        probe: false,
        ..probe(&[board])
    }
}

/// Each line that does not begin with DIAGNOSTIC_ is a device to `aocl`.
#[test]
fn a_probe_lists_names_and_opens_nothing() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let (lines, result) = look(&work, &toys, &probe(&[]));
    result.unwrap();
    assert_eq!(lines, ["peerlane0", "peerlane3", PASSED]);
    let (lines, result) = look(&work, &toys, &probe(&["peerlane0"]));
    result.unwrap();
    assert_eq!(
        lines,
        [
            "peerlane0: toy_peerlane at 0000:01:00.0, 5.0 GT/s x8",
            PASSED
        ]
    );
    // An open would reset the kernels.
    assert_eq!(toys.side.lock().resets, 0);
    let (lines, result) = look(&work, &toys, &probe(&["peerlane7"]));
    assert_eq!(lines, [FAILED]);
    let error = result.unwrap_err();
    assert!(
        error.contains("no board \"peerlane7\". Name one of peerlane0, peerlane3."),
        "{error}"
    );
}

#[test]
fn a_board_that_works_passes() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    work.board("peerlane3", "0000:02:00.0");
    work.function("0000:03:00.0", ["10de", "2330", "030200"], Some("nvidia"));
    work.function("0000:04:00.0", ["10de", "10f0", "040300"], None);
    for name in ["peerlane0", "acl0"] {
        let (lines, result) = look(&work, &toys, &named(name));
        result.unwrap();
        says(&lines, "peerlane0: toy_peerlane at 0000:01:00.0");
        says(&lines, "OpenCL side: kernel interface 0xa0c00001");
        says(
            &lines,
            "peerlane0: 20 of 20 MiB of FPGA memory written and read twice",
        );
        says(&lines, "GPUs are not tested: there is no CUDA driver");
        says(
            &lines,
            "GPU at 0000:03:00.0 (NVIDIA, 10de:2330): not tested",
        );
        assert_eq!(
            lines.iter().filter(|line| line.contains("GPU at")).count(),
            1,
            "{lines:?}"
        );
        assert_eq!(lines.last().unwrap(), PASSED);
    }
    // Every byte was written, including the last.
    let mut last = [0; 8];
    toys.fake.fpga_read((20 << 20) - 8, &mut last);
    assert_ne!(last, [0; 8]);
    // Without a name, all boards are tested; and only a part of the memory.
    let some = Options {
        mebibytes: Some(1),
        ..Options::default()
    };
    let (lines, result) = look(&work, &toys, &some);
    result.unwrap();
    says(&lines, "peerlane0: 1 of 20 MiB");
    says(&lines, "peerlane3: 1 of 20 MiB");
    // No board stays open.
    drop(toys.driver.open().unwrap().allocate_all(0).unwrap());
}

#[test]
fn memory_that_changes_by_itself_is_found() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let end = AtomicBool::new(false);
    let (lines, result) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !end.load(Ordering::Relaxed) {
                toys.fake.fpga_write(0x12_3456, &[0x77]);
                std::thread::yield_now();
            }
        });
        let looked = look(&work, &toys, &named("peerlane0"));
        end.store(true, Ordering::Relaxed);
        looked
    });
    let error = result.unwrap_err();
    assert!(
        error.contains("peerlane0: FPGA memory at 0x123450 is 0x"),
        "{error}"
    );
    assert_eq!(lines.last().unwrap(), FAILED);
}

#[test]
fn bytes_that_do_not_arrive_are_found() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    toys.fake.lock().tricks.first_bytes = Some(1 << 16);
    let some = Options {
        mebibytes: Some(1),
        ..named("peerlane0")
    };
    let error = look(&work, &toys, &some).1.unwrap_err();
    assert!(error.contains("is 0x5a5a5a5a5a5a5a5a"), "{error}");
}

#[test]
fn why_a_board_cannot_be_tested_is_said() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let fails = |words: &str| {
        let (lines, result) = look(&work, &toys, &named("peerlane0"));
        let error = result.unwrap_err();
        assert!(
            error.starts_with("peerlane0") && error.contains(words),
            "{error}"
        );
        assert_eq!(lines.last().unwrap(), FAILED);
    };
    // Another program has the memory.
    let other = toys.driver.open().unwrap();
    let memory = other.allocate_all(0).unwrap();
    fails(
        "another program runs OpenCL kernels on it, or holds all of its memory. End that program",
    );
    drop((memory, other));
    // An image of another platform.
    toys.side.lock().version = 0xffff_ffff;
    fails("its version register reads 0xffffffff. Configure the FPGA");
    toys.side.lock().version = 0xa0c0_0001;
    // A board that fails a transfer.
    toys.fake.lock().tricks.fault = Some((1, 0, 3, 0));
    let (_, result) = look(&work, &toys, &named("peerlane0"));
    assert!(result.unwrap_err().starts_with("peerlane0: "));
    // A board without an OpenCL side.
    toys.fake.lock().opencl = None;
    fails("the OpenCL side of the board: ");
    let state = work
        .root()
        .join("sys/bus/pci/devices/0000:01:00.0/peerlane/state");
    fs::write(state, "cut_off\n").unwrap();
    fails("peerlane0 is not ready: its state is cut_off. Wait");
}

#[test]
fn why_there_is_no_board_is_said() {
    let mut toys = Toys::new();
    toys.names.clear();
    let fails = |work: &Work, words: &str| {
        for options in [probe(&[]), Options::default()] {
            let (lines, result) = look(work, &toys, &options);
            let error = result.unwrap_err();
            assert!(error.contains(words), "{error}");
            assert_eq!(lines.last().unwrap(), FAILED);
        }
    };
    let altera = ["1172", "ab00", "120000"];
    let work = Work::new();
    fails(&work, "the driver is not loaded. Load it by `aocl install`");
    work.driver();
    fails(&work, "no PCI function of vendor 1172. Configure the FPGA");
    work.function("0000:05:00.0", altera, None);
    fails(
        &work,
        "the driver has not taken the FPGA at 0000:05:00.0. Look into the kernel's log",
    );
    work.function("0000:06:00.0", altera, Some("aclpci"));
    fails(
        &work,
        "the driver aclpci has the FPGA at 0000:06:00.0. Unload that driver",
    );
    let work = Work::new();
    work.driver();
    work.function("0000:05:00.0", altera, Some("peerlane"));
    fails(
        &work,
        "the driver has the FPGA at 0000:05:00.0, and there is no /dev/peerlane*",
    );
}

#[test]
fn gpus_are_copied_to_and_from() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    work.function("0000:03:00.0", ["10de", "2330", "030200"], Some("nvidia"));
    work.function("0000:04:00.0", ["1002", "73bf", "030000"], Some("amdgpu"));
    told(|say| install::install(&work.machine(), &work.platform(), &Default::default(), say))
        .1
        .unwrap();
    let stand = Stand(Ok(&["0000:03:00.0"]));
    let (lines, result) = look_with(&work, &toys, &stand, None, &named("acl0"));
    result.unwrap();
    for way in ["FPGA to GPU", "GPU to FPGA"] {
        says(
            &lines,
            &format!("peerlane0 and the GPU at 0000:03:00.0: {way}: "),
        );
    }
    says(&lines, "GPU at 0000:04:00.0 (AMD, 1002:73bf): not tested");
    let without = Options {
        no_gpus: true,
        ..named("acl0")
    };
    let (lines, result) = look_with(&work, &toys, &stand, None, &without);
    result.unwrap();
    says(
        &lines,
        "GPU at 0000:03:00.0 (NVIDIA, 10de:2330): not tested",
    );
}

/// The library that the runtime finds, and the file that leads to it.
#[test]
fn the_way_to_the_library_is_said() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let place = work.platform().libraries[0].clone();
    let fcd = work.root().join("opt/Intel/OpenCL/Boards/toy_peerlane.fcd");
    let look = || {
        let stand = Stand(Ok(&[]));
        let (lines, result) = look_with(&work, &toys, &stand, None, &named("acl0"));
        // The board is tested with any set-up.
        says(&lines, "20 of 20 MiB of FPGA memory");
        let last = lines.last().unwrap().clone();
        assert_eq!(last, if result.is_ok() { PASSED } else { FAILED });
        (lines, result)
    };
    let fails = |words: &str| {
        let (lines, result) = look();
        let error = result.unwrap_err();
        assert!(error.contains(words), "{error}");
        says(&lines, &format!("OpenCL: {error}"));
    };
    let at = |kind: &str| {
        format!(
            "{}, the library for {kind}, which reports version 15.9",
            place.display()
        )
    };
    // No file leads to it: the open runtime finds no board, and programs of an old one are linked with it.
    fails("no .fcd file in ");
    // The runtime reads both directories.
    fails("/opt/Intel/OpenCL_boards and ");
    fails("/opt/Intel/OpenCL/Boards leads to it");
    says(
        &look().0,
        &format!("OpenCL: the platform has {}", at("the open runtime")),
    );
    fs::write(&place, library(Kind::Legacy)).unwrap();
    let (lines, result) = look();
    result.unwrap();
    says(&lines, &at("the closed runtimes (legacy)"));
    says(&lines, "linked with the library (aocl link-config)");
    // After `install`.
    fs::write(&place, library(Kind::Open)).unwrap();
    told(|say| install::install(&work.machine(), &work.platform(), &Default::default(), say))
        .1
        .unwrap();
    let (lines, result) = look();
    result.unwrap();
    says(
        &lines,
        &format!(
            "OpenCL: {} leads to {}",
            fcd.display(),
            at("the open runtime")
        ),
    );
    says(
        &lines,
        "no .icd file in /etc/OpenCL/vendors names libalteracl.so",
    );
    // A library that does not exist any more, or never was one.
    fs::write(&place, "").unwrap();
    fails("toy_peerlane.fcd: ");
    fails("is empty, not a library");
    fs::remove_file(&place).unwrap();
    fails("the library for the OpenCL runtime is not there");
    fs::write(&place, library(Kind::Open)).unwrap();
    // Characters that the runtime takes for a part of the name.
    for text in [
        format!("{} \n", place.display()),
        format!("{}\r\n", place.display()),
    ] {
        fs::write(&fcd, text).unwrap();
        fails("has a blank or a carriage return next to a path");
    }
    // The library is named twice.
    fs::write(&fcd, format!("{}\n", place.display())).unwrap();
    let second = work.root().join("opt/Intel/OpenCL_boards/second.fcd");
    fs::create_dir_all(second.parent().unwrap()).unwrap();
    fs::copy(&fcd, &second).unwrap();
    fails(".fcd files name 2 libraries");
}

/// The rest of another vendor's platform does not affect boards, but the runtime prints an error.
#[test]
fn a_file_of_others_that_leads_nowhere_is_shown() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let place = work.root().join("opt/Intel/OpenCL/Boards");
    fs::create_dir_all(&place).unwrap();
    let there = work.put("libother_mmd.so", b"");
    let text = format!("{}\n\nlibsearched.so\n", there.display());
    fs::write(place.join("living.fcd"), text).unwrap();
    fs::write(place.join("dead.fcd"), "/nowhere/libvendor_mmd.so\n").unwrap();
    let (lines, result) = look(&work, &toys, &named("acl0"));
    result.unwrap();
    says(
        &lines,
        "dead.fcd leads to /nowhere/libvendor_mmd.so, which is not there",
    );
    assert!(
        !lines.iter().any(|line| line.contains("living.fcd")),
        "{lines:#?}"
    );
}

/// The open runtime takes no kernels of 13.1 and 14.0, and the runtime of those refuses its library.
#[test]
fn the_open_library_in_an_old_platform_is_remarked() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let stand = Stand(Ok(&[]));
    for (version, kind, remarked) in [
        ("13.1", Kind::Open, true),
        ("14.0", Kind::Open, true),
        ("14.1", Kind::Open, false),
        ("13.1", Kind::Legacy, false),
    ] {
        let platform = work.platform();
        let file = platform.root.join("board_env.xml");
        let text = fs::read_to_string(&file).unwrap();
        let (before, rest) = text.split_once("version=\"").unwrap();
        let (_, after) = rest.split_once('"').unwrap();
        fs::write(&file, format!("{before}version=\"{version}\"{after}")).unwrap();
        fs::write(&platform.libraries[0], library(kind)).unwrap();
        let (installed, result) = told(|say| {
            install::install(&work.machine(), &work.platform(), &Default::default(), say)
        });
        result.unwrap();
        let (diagnosed, result) = look_with(&work, &toys, &stand, None, &named("acl0"));
        result.unwrap();
        for lines in [installed, diagnosed] {
            let words = format!("the platform is of {version}, but has the library for the open");
            let found = lines.iter().any(|line| line.contains(&words));
            assert_eq!(found, remarked, "{version} {kind:?}: {lines:#?}");
        }
    }
}

/// Another directory than that of the file.
#[test]
fn the_variable_and_the_rights_are_said() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let parameters = work
        .root()
        .join("sys/bus/pci/devices/0000:01:00.0/peerlane");
    for parameter in ["hold_all", "configure_all"] {
        fs::write(parameters.join(parameter), "0\n").unwrap();
    }
    let stand = Stand(Ok(&[]));
    let (lines, result) = look_with(&work, &toys, &stand, None, &named("acl0"));
    result.unwrap_err();
    says(&lines, "there are no udev rules of Peerlane");
    says(
        &lines,
        "peerlane0: only users with CAP_SYS_RAWIO, such as root, may run OpenCL programs",
    );
    says(
        &lines,
        "peerlane0: only users with CAP_SYS_RAWIO, such as root, may load kernels into its FPGA",
    );
    // Files as those of Linux 7.3.
    for (state, locked) in [("[none] integrity", false), ("none [integrity]", true)] {
        let state = format!("{state} confidentiality\n");
        let place = work.root().join("sys/kernel/security");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("lockdown"), state).unwrap();
        let (lines, _) = look_with(&work, &toys, &stand, None, &named("acl0"));
        let words =
            "peerlane0: the kernel is locked down (Secure Boot), and no process may load kernels";
        let found = lines.iter().any(|line| line.contains(words));
        assert_eq!(found, locked, "{lines:#?}");
        let root = "such as root, may load kernels";
        assert!(
            lines.iter().any(|line| line.contains(root)) != locked,
            "{lines:#?}"
        );
    }
    let (_, result) = look(&work, &toys, &named("acl0"));
    result.unwrap();
    let elsewhere = work.put("elsewhere/x", b"").with_file_name("");
    let (lines, result) = look_with(&work, &toys, &stand, Some(&elsewhere), &named("acl0"));
    assert!(result.unwrap_err().contains("no .fcd file in "));
    says(&lines, "OpenCL: ACL_BOARD_VENDOR_PATH is ");
    // Set and empty: the runtime looks in the root directory, also after an installation.
    let (lines, result) = look_with(&work, &toys, &stand, Some(Path::new("")), &named("acl0"));
    assert!(result.unwrap_err().contains("no .fcd file in "));
    says(
        &lines,
        "OpenCL: ACL_BOARD_VENDOR_PATH is empty. The runtime reads .fcd files in / then",
    );
}

/// The command reads the variable as the runtime does.
#[test]
fn an_empty_variable_is_said_by_the_command() {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"))
        .args(["diagnose", "--no-gpus", "--mebibytes", "1"])
        .env("ACL_BOARD_VENDOR_PATH", "")
        .env_remove("AOCL_BOARD_PACKAGE_ROOT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        said.contains("OpenCL: ACL_BOARD_VENDOR_PATH is empty"),
        "{said}"
    );
}
