//! `flash`, by the command itself, with mocks of the vendor's and Quartus's tools.

use super::{Work, aocx, code, told};
use peerlane_utilities::flash;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs it; returns the status, the output, and the mocks' log.
fn run(work: &Work, file: &Path, index: Option<&str>) -> (Option<i32>, String, String) {
    let index = index.map(|index| ("PEERLANE_FLASH_DEVICE_INDEX", index));
    flash_with(work, file, index.as_slice())
}

/// Runs it with settings.
fn flash_with(
    work: &Work,
    file: &Path,
    settings: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    let log = work.put("log", b"");
    let mut command = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"));
    command
        .args(["--platform", work.platform().root.to_str().unwrap()])
        .args(["flash", "acl0", file.to_str().unwrap()])
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", work.root().join("bin").display()),
        )
        .env("LOG", &log)
        .env_remove("QUARTUS_ROOTDIR")
        .env_remove("QUARTUS_ROOTDIR_OVERRIDE")
        .env_remove("ACL_PCIE_JTAG_CABLE")
        .env_remove("ACL_PCIE_JTAG_DEVICE_INDEX")
        .envs(settings.iter().copied());
    let run = command.output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (run.status.code(), said, fs::read_to_string(log).unwrap())
}

/// Adds utilities of the platform's vendor.
fn vendor(work: &Work) -> std::path::PathBuf {
    let vendor = work.platform().root.join("peerlane/vendor");
    fs::create_dir_all(&vendor).unwrap();
    fs::write(
        vendor.join("board_env.xml"),
        "<board_env name=\"v\"><platform name=\"linux64\"><utilbindir>%b/tools</utilbindir></platform></board_env>",
    )
    .unwrap();
    vendor.join("tools/flash")
}

#[test]
fn the_vendors_script_does_it() {
    let work = Work::new();
    let image = code(b"configuration");
    let package = work.put("k.aocx", &aocx("toy_peerlane", &image));
    script(
        &vendor(&work),
        "echo \"$1\" >> \"$LOG\"; cat \"$2\" >> \"$LOG\"",
    );
    let (status, said, log) = run(&work, &package, None);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("running the vendor's "), "{said}");
    assert_eq!(log.as_bytes(), [b"acl0\n", &image[..]].concat());
    script(&vendor(&work), "echo no cable; exit 3");
    let (status, said, _) = run(&work, &package, None);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("no cable") && said.contains("exit status: 3"),
        "{said}"
    );
    // A program is linked with the vendor's library.
    fs::write(vendor(&work), "\x7fELF").unwrap();
    let (status, said, _) = run(&work, &package, None);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("drives the vendor's own DMA. This platform does not have that DMA"),
        "{said}"
    );
}

#[test]
fn quartus_does_it_by_the_boards_settings() {
    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy_peerlane", &code(b"configuration")));
    let fails = |index, words: &str| {
        let (status, said, log) = run(&work, &package, index);
        assert_eq!((status, log.as_str()), (Some(1), ""), "{said}");
        assert!(said.contains(words), "{said}");
    };
    fails(
        Some("2"),
        "does not describe how to write this board's flash memory. Its vendor's BSP has no script",
    );
    let cof = work.platform().boards[0].join("scripts/flash.cof");
    fs::create_dir_all(cof.parent().unwrap()).unwrap();
    let settings = "<cof><output_filename>a.pof</output_filename><sof_data><bit0>\
                    <sof_filename>top.sof</sof_filename></bit0></sof_data></cof>";
    fs::write(&cof, settings).unwrap();
    fails(Some("2"), "quartus_cpf is not on the PATH");
    let bin = work.root().join("bin");
    let convert = "[ \"$1\" = -c ] || exit 9\n\
                   sof=$(sed 's/.*<sof_filename>//; s/<.*//' \"$2\"); out=$(sed 's/.*<output_filename>//; s/<.*//' \"$2\")\n\
                   { echo pof; cat \"$sof\"; } > \"$out\"";
    script(&bin.join("quartus_cpf"), convert);
    fails(Some("2"), "quartus_pgm is not on the PATH");
    script(
        &bin.join("quartus_pgm"),
        "file=${6#*;}; name=${file%@*}; echo \"$1 $2 $3 $4 $5 ${6%%;*} ${file##*@} ${name##*.}\" >> \"$LOG\"; cat \"${file%@*}\" >> \"$LOG\"",
    );
    for index in [None, Some("0"), Some("x")] {
        fails(index, "does not name the device in the JTAG chain");
    }
    let (status, said, log) = run(&work, &package, Some("2"));
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(log, "-c 1 -m jtag -o pv 2 pof\npof\nconfiguration");
    // A serial flash memory, and a file for no flash memory.
    fs::write(&cof, settings.replace("a.pof", "out/A.JIC")).unwrap();
    let (status, said, serial) = run(&work, &package, Some("2"));
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(serial, "-c 1 -m jtag -o pvi 2 jic\npof\nconfiguration");
    fs::write(&cof, settings.replace("a.pof", "a.rpd")).unwrap();
    fails(Some("2"), "\"a.rpd\", neither a .pof nor a .jic");
    fs::write(&cof, settings).unwrap();
    // The variable with Quartus's place for AOCL before 17.1.
    let quartus = work.root().join("quartus");
    fs::create_dir_all(&quartus).unwrap();
    fs::rename(&bin, quartus.join("bin")).unwrap();
    fails(Some("2"), "quartus_cpf is not on the PATH");
    let settings_of_old = [
        ("PEERLANE_FLASH_DEVICE_INDEX", "2"),
        ("QUARTUS_ROOTDIR_OVERRIDE", quartus.to_str().unwrap()),
    ];
    let (status, said, again) = flash_with(&work, &package, &settings_of_old);
    assert_eq!((status, again), (Some(0), log), "{said}");
    fs::rename(quartus.join("bin"), &bin).unwrap();
    // The files in the board's directory are not changed.
    assert_eq!(fs::read_to_string(&cof).unwrap(), settings);
    fs::write(&cof, "<cof/>").unwrap();
    fails(Some("2"), "it must have one <sof_filename>");
    fs::write(cof.with_file_name("b.cof"), settings).unwrap();
    fails(Some("2"), "there are several .cof files");
}

#[test]
fn a_package_for_another_board_is_refused() {
    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy", &code(b"x")));
    script(&vendor(&work), "echo run >> \"$LOG\"");
    let (status, said, log) = run(&work, &package, None);
    assert_eq!((status, log.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("for the board \"toy\""), "{said}");
}

#[test]
fn a_board_has_settings_of_its_own() {
    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy_peerlane", &code(b"configuration")));
    let own = [
        ("ACL_PCIE_JTAG_CABLE", "near"),
        ("ACL_PCIE_JTAG_CABLE_acl0", "far"),
        ("PEERLANE_FLASH_DEVICE_INDEX", "4"),
        ("PEERLANE_FLASH_DEVICE_INDEX_acl0", "2"),
        ("ACL_PCIE_JTAG_DEVICE_INDEX", "3"),
    ];
    let cof = work.platform().boards[0].join("flash.cof");
    fs::write(
        cof,
        "<output_filename>a.pof</output_filename><sof_filename>b</sof_filename>",
    )
    .unwrap();
    let bin = work.root().join("bin");
    script(&bin.join("quartus_cpf"), "");
    script(&bin.join("quartus_pgm"), "echo \"$2 ${6##*@}\" >> \"$LOG\"");
    let (status, said, log) = flash_with(&work, &package, &own);
    assert_eq!((status, log.as_str()), (Some(0), "far 2\n"), "{said}");
    // The vendor's script uses the names without a board.
    let echo = "echo \"$ACL_PCIE_JTAG_CABLE $ACL_PCIE_JTAG_DEVICE_INDEX\" >> \"$LOG\"";
    script(&vendor(&work), echo);
    let (status, said, log) = flash_with(&work, &package, &own);
    assert_eq!((status, log.as_str()), (Some(0), "far 3\n"), "{said}");
}

/// Nothing is written where it might be another board's memory.
#[test]
fn of_several_boards_one_without_settings_is_refused() {
    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy_peerlane", &code(b"configuration")));
    let refused = |boards: &[&str], board: &str| {
        let boards: Vec<String> = boards.iter().map(|board| board.to_string()).collect();
        let options = flash::Options {
            board: board.into(),
            files: vec![package.clone()],
        };
        let (lines, result) = told(|say| flash::flash(&work.platform(), &boards, &options, say));
        assert_eq!(lines.len(), 0, "{lines:?}");
        result.unwrap_err()
    };
    let cof = work.platform().boards[0].join("flash.cof");
    fs::write(cof, "<cof/>").unwrap();
    for (boards, board, name) in [
        (&["peerlane0", "peerlane2"][..], "acl1", "peerlane2"),
        // A board that the driver does not have.
        (&["peerlane0"], "peerlane1", "peerlane1"),
    ] {
        let error = refused(boards, board);
        for words in [
            format!("the flash memory of {name} is not written"),
            format!("set ACL_PCIE_JTAG_CABLE_{name} or PEERLANE_FLASH_DEVICE_INDEX_{name}"),
        ] {
            assert!(error.contains(&words), "{error}");
        }
    }
    script(&vendor(&work), "exit 1");
    let error = refused(&["peerlane0", "peerlane1"], "peerlane1");
    let words = "set ACL_PCIE_JTAG_CABLE_peerlane1 or ACL_PCIE_JTAG_DEVICE_INDEX_peerlane1";
    assert!(error.contains(words), "{error}");
}

/// A running tool goes on to its end, and so does the process that waits for it, for any signal that the user sends to
/// the command and to its process group, as a terminal does.
#[test]
fn a_flash_memory_is_not_left_half_written() {
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::os::unix::process::CommandExt;
    use std::time::{Duration, Instant};

    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy_peerlane", &code(b"configuration")));
    for (signal, status) in [(Signal::INT, 0), (Signal::TERM, 0), (Signal::HUP, 5)] {
        let log = work.put("log", b"");
        let _ = fs::remove_file(log.with_extension("go"));
        script(
            &vendor(&work),
            &format!(
                "cat > \"$LOG\"; echo begun >> \"$LOG\"; until [ -e \"$LOG.go\" ]; do sleep 0.05; done; echo written >> \"$LOG\"; exit {status}"
            ),
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"));
        command
            .args(["--platform", work.platform().root.to_str().unwrap()])
            .args(["flash", "acl0", package.to_str().unwrap()])
            .env("LOG", &log)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .process_group(0);
        let running = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while fs::read_to_string(&log).unwrap() != "begun\n" {
            assert!(Instant::now() < until, "the script was not run");
            std::thread::sleep(Duration::from_millis(5));
        }
        let group = Pid::from_raw(running.id() as i32).unwrap();
        kill_process_group(group, signal).unwrap();
        // The signal comes before the tool ends.
        std::thread::sleep(Duration::from_millis(300));
        work.put("log.go", b"");
        let run = running.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        assert_eq!(
            fs::read_to_string(&log).unwrap(),
            "begun\nwritten\n",
            "{said}"
        );
        assert_eq!(run.status.code(), Some(1), "{said}");
        let words = match status {
            0 => "interrupted, after the tool in progress ended without an error",
            _ => "The flash memory may be half-written",
        };
        assert!(said.contains(words), "{said}");
    }
}

/// Between two tools an interrupt ends the command: the second does not begin.
#[test]
fn an_interrupt_before_the_programmer_writes_nothing() {
    let work = Work::new();
    let package = work.put("k.aocx", &aocx("toy_peerlane", &code(b"configuration")));
    let cof = work.platform().boards[0].join("flash.cof");
    fs::write(
        cof,
        "<output_filename>a.pof</output_filename><sof_filename>b</sof_filename>",
    )
    .unwrap();
    let bin = work.root().join("bin");
    script(&bin.join("quartus_cpf"), "kill -s INT $PPID; sleep 1");
    script(&bin.join("quartus_pgm"), "echo written >> \"$LOG\"");
    let (status, said, log) = run(&work, &package, Some("2"));
    assert_eq!((status, log.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("interrupted, after the tool"), "{said}");
}
