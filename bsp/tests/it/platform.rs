//! A platform whose boards share directories: files of the design outside the hardware directory, and links.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::{self, Work, reference_net};

const SYSTEM: &str = "acl_iface_system.qsys";
const BLOCK: &str = "kind=\"peerlane_dma\"";

#[test]
fn a_system_in_a_shared_directory_is_changed_in_the_copy() {
    let work = Work::new();
    work.rename(SYSTEM, "../../common/iface/acl_iface_system.qsys");
    work.append(
        "top.qsf",
        "set_global_assignment -name SEARCH_PATH ../../common/iface\n",
    );
    let report = work.sound("");
    let made = fs::read_to_string(work.out.join("common/iface").join(SYSTEM)).unwrap();
    assert!(made.contains(BLOCK));
    let files: Vec<_> = report
        .changes
        .iter()
        .map(|c| c.file.display().to_string())
        .collect();
    assert!(
        files
            .iter()
            .any(|f| f == "common/iface/acl_iface_system.qsys"),
        "{files:?}"
    );
    // The vendor's files are stored.
    let kept = work.out.join("peerlane/vendor/common/iface").join(SYSTEM);
    let kept = fs::read_to_string(kept).unwrap();
    assert_eq!(
        kept,
        fs::read_to_string(work.bsp.join("common/iface").join(SYSTEM)).unwrap()
    );
}

#[test]
fn a_linked_directory_with_the_system() {
    let work = Work::new();
    work.rename(SYSTEM, "../../common/shell/acl_iface_system.qsys");
    symlink("../../common/shell", work.input("shell")).unwrap();
    work.append("top.qsf", "set_global_assignment -name SEARCH_PATH shell\n");
    work.sound("");
    assert!(
        fs::read_link(work.output("shell"))
            .unwrap()
            .starts_with("../../common")
    );
    let made = fs::read_to_string(work.out.join("common/shell").join(SYSTEM)).unwrap();
    assert!(made.contains(BLOCK));
}

#[test]
fn a_linked_system() {
    let work = Work::new();
    work.rename(SYSTEM, "../../common/acl_iface_system.qsys");
    symlink("../../common/acl_iface_system.qsys", work.input(SYSTEM)).unwrap();
    work.sound("");
    // The link stays a link, and its target has the block.
    assert!(work.output(SYSTEM).is_symlink());
    assert!(work.made(SYSTEM).contains(BLOCK));
    assert!(
        fs::read_to_string(work.out.join("common").join(SYSTEM))
            .unwrap()
            .contains(BLOCK)
    );
}

#[test]
fn linked_settings_of_a_revision() {
    let work = Work::of(&reference_net());
    work.rename("base.qsf", "../../common/base.qsf");
    symlink("../../common/base.qsf", work.input("base.qsf")).unwrap();
    work.sound("");
    assert!(work.output("base.qsf").is_symlink());
    let line = "SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf";
    assert_eq!(work.made("base.qsf").matches(line).count(), 1);
}

/// The board's version is in a separate system that boards share.
#[test]
fn the_version_in_a_shared_directory() {
    let work = Work::of(&reference_net());
    let ident = work.input("../../common/ident.qsys");
    work.put(
        "../../common/ident.qsys",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<system name=\"ident\">\n \
         <interface name=\"s\" internal=\"v.s\" type=\"avalon\" dir=\"end\" />\n \
         <interface name=\"clk\" internal=\"v.clk\" type=\"clock\" dir=\"end\" />\n \
         <interface name=\"clk_reset\" internal=\"v.clk_reset\" type=\"reset\" dir=\"end\" />\n \
         <module kind=\"version_id\" version=\"10.0\" enabled=\"1\" name=\"v\">\n  \
         <parameter name=\"VERSION_ID\" value=\"-1597521440\" />\n </module>\n</system>\n",
    );
    for revision in ["base.qsf", "top.qsf"] {
        work.append(
            revision,
            "set_global_assignment -name SEARCH_PATH ../../common\n",
        );
    }
    let board = work.input("board.qsys");
    let text = fs::read_to_string(&board).unwrap();
    let at = text.find("<module kind=\"version_id\"").unwrap();
    let end = at + text[at..].find("</module>").unwrap() + "</module>".len();
    let instance = "<module kind=\"ident\" version=\"1.0\" enabled=\"1\" name=\"identity\" />";
    fs::write(&board, format!("{}{instance}{}", &text[..at], &text[end..])).unwrap();
    work.sound("");
    let made = fs::read_to_string(work.out.join("common/ident.qsys")).unwrap();
    assert!(!made.contains("-1597521440"), "{made}");
    assert!(fs::read_to_string(ident).unwrap().contains("-1597521440"));
}

const ENVIRONMENT: &str = "board_env.xml";

/// Returns the text of an element, and an attribute, read by another XML parser.
fn told(work: &Work, tag: &str) -> Vec<String> {
    let text = fs::read_to_string(work.out.join(ENVIRONMENT)).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let linux = document
        .descendants()
        .find(|n| n.attribute("name") == Some("linux64"))
        .unwrap();
    let all = linux.children().filter(|n| n.has_tag_name(tag));
    all.map(|n| n.text().unwrap_or_default().to_string())
        .collect()
}

/// The files that a platform needs in addition to the board's directory are written if they are missing.
#[test]
fn a_boards_directory_becomes_a_platform() {
    let work = Work::of(&reference_net().join("hardware/peerlane_net"));
    work.sound("");
    let text = fs::read_to_string(work.out.join(ENVIRONMENT)).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("name"), Some("peerlane_net_peerlane"));
    // As in the project.
    assert_eq!(root.attribute("version"), Some("14.0"));
    let hardware = root
        .children()
        .find(|n| n.has_tag_name("hardware"))
        .unwrap();
    assert_eq!(hardware.attribute("dir"), Some("hardware"));
    assert_eq!(hardware.attribute("default"), Some("peerlane_net_peerlane"));
    assert_eq!(told(&work, "utilbindir"), ["%b/linux64/libexec"]);
    for file in [
        "README.md",
        "linux64/lib/README.md",
        "linux64/libexec/README.md",
    ] {
        assert!(work.out.join(file).is_file(), "{file}");
    }
    // The library's own tests compare the same header.
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mmd/include/peerlane_ext.h");
    let written = fs::read(work.out.join("linux64/include/peerlane_ext.h"));
    assert!(written.unwrap() == fs::read(header).unwrap());
    for (utility, command) in [
        ("install", "install"),
        ("uninstall", "uninstall"),
        ("diagnose", "diagnose"),
        ("diagnostic", "diagnose"),
        ("program", "program"),
        ("reprogram", "program"),
        ("flash", "flash"),
    ] {
        runs(&work.out.join("linux64/libexec").join(utility), command);
    }
    assert!(
        work.out
            .join("hardware/peerlane_net_peerlane/board_spec.xml")
            .is_file()
    );
}

/// Checks that a utility runs from its place: without the program it names the missing file, with it it runs the
/// command.
fn runs(utility: &Path, command: &str) {
    let program = utility.with_file_name("peerlane-aocl");
    let work = tempfile::tempdir().unwrap();
    let link = work.path().join("a link");
    symlink(utility, &link).unwrap();
    for path in [utility, &link] {
        let run = Command::new(path).current_dir("/").output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(
            said.contains("peerlane-aocl does not exist. In Peerlane's"),
            "{said}"
        );
        fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let run = Command::new(path).args(["acl0", "a b"]).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.status.code(), Some(7), "{said}");
        let mut lines = said.lines();
        assert_eq!(lines.next(), Some("--platform"));
        let platform = fs::canonicalize(lines.next().unwrap()).unwrap();
        let root = utility.ancestors().nth(3).unwrap();
        assert_eq!(platform, fs::canonicalize(root).unwrap());
        assert_eq!(lines.collect::<Vec<_>>(), [command, "acl0", "a b"]);
        fs::remove_file(&program).unwrap();
    }
}

/// The vendor's library and utilities are for a DMA that is gone: nothing leads to them, and they are stored.
#[test]
fn the_vendors_runtime_is_set_aside() {
    for (version, before, links) in [
        (
            "an old SDK: programs are linked with the MMD",
            "<linkflags>-L%b/linux64/lib</linkflags><linklibs>-lalterahalmmd -lvendor_mmd</linklibs>",
            "-lalterahalmmd -lpeerlane_mmd",
        ),
        (
            "a library of the vendor's and one of the system",
            "<mmdlib>%b/linux64/lib/libvendor_mmd.so</mmdlib><linkflags>-L%b/linux64/lib -L%a/lib</linkflags>\
             <linklibs>-lvendor_mmd -lhelper -lstdc++</linklibs>",
            "-lpeerlane_mmd -lstdc++",
        ),
        (
            "a new SDK: the runtime finds the MMD",
            "<mmdlib>%b/linux64/lib/libvendor_mmd.so</mmdlib><linkflags>-L%b/linux64/lib</linkflags><linklibs/>",
            "",
        ),
    ] {
        let work = Work::of(&reference_net());
        fs::write(
            work.bsp.join(ENVIRONMENT),
            format!(
                "<?xml version=\"1.0\"?>\n<!-- caf\u{e9} -->\n<board_env version=\"14.0\" name=\"v\">\n\
                 <hardware dir=\"hardware\" default=\"peerlane_net\"/>\n<platform name=\"linux64\">{before}\
                 <utilbindir>%b/linux64/libexec</utilbindir></platform>\n\
                 <platform name=\"windows64\"><utilbindir>%b\\tools\\bin</utilbindir></platform>\n</board_env>\n"
            ),
        )
        .unwrap();
        let files = [
            "linux64/lib/libvendor_mmd.so",
            "linux64/lib/libhelper.a",
            "linux64/libexec/install",
            "linux64/driver/aclpci.c",
            "tools/bin/install.exe",
        ];
        for file in files {
            let path = work.bsp.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let report = work.sound("");
        for file in files {
            // Peerlane's own may have the same name.
            let there = fs::read_to_string(work.out.join(file)).unwrap_or_default();
            assert_ne!(there, file, "{version}");
            let kept = work.out.join("peerlane/vendor").join(file);
            assert_eq!(fs::read_to_string(kept).unwrap(), file);
        }
        let aside: Vec<_> = report
            .set_aside
            .iter()
            .map(|p| p.to_str().unwrap())
            .collect();
        assert_eq!(aside, ["linux64", "tools/bin"], "{version}");
        assert!(report.notes.iter().any(|note| note.contains("set aside")));
        assert_eq!(told(&work, "linklibs"), [links], "{version}");
        assert_eq!(
            told(&work, "linkflags")[0].split(' ').next(),
            Some("-L%b/linux64/lib")
        );
        for library in told(&work, "mmdlib") {
            assert_eq!(library, "%b/linux64/lib/libpeerlane_mmd.so");
        }
        let text = fs::read_to_string(work.out.join(ENVIRONMENT)).unwrap();
        assert!(
            text.contains("<!-- caf\u{e9} -->") && text.contains("%b\\tools\\bin"),
            "{text}"
        );
    }
}

#[test]
fn the_check_looks_at_the_platform() {
    let work = Work::of(&reference_net());
    let install = work.bsp.join("linux64/libexec/install");
    fs::create_dir_all(install.parent().unwrap()).unwrap();
    fs::write(&install, "#!/bin/sh\ninsmod aclpci_drv.ko\n").unwrap();
    work.sound("");
    let out = |file: &str| work.out.join(file);
    let finds = |words: &str| {
        let found = common::faults::faults(&work);
        let has = |(test, what): &(&str, String)| *test == "platform" && what.contains(words);
        assert!(found.iter().any(has), "no {words:?} in {found:#?}");
    };
    for (file, from, to, words) in [
        (ENVIRONMENT, "libpeerlane_mmd", "libvendor_mmd", "mmdlib is"),
        (
            ENVIRONMENT,
            "linux64/libexec",
            "vendor/libexec",
            "utilbindir is",
        ),
        (
            ENVIRONMENT,
            "dir=\"hardware\"",
            "dir=\"boards\"",
            "the boards' directory is \"boards\"",
        ),
        (
            ENVIRONMENT,
            "\"linux64\"",
            "\"linux32\"",
            "the platform linux64 is missing",
        ),
        (
            "README.md",
            "# The board peerlane_net_peerlane",
            "# The board other",
            "is for another board than",
        ),
    ] {
        let before = fs::read(out(file)).unwrap();
        common::edit(&out(file), from, to);
        finds(words);
        fs::write(out(file), before).unwrap();
    }
    let (ours, aside) = (
        out("linux64/libexec/install"),
        work.dir.path().join("aside"),
    );
    fs::rename(&ours, &aside).unwrap();
    finds("`aocl install` finds no file to run");
    fs::copy(&install, &ours).unwrap();
    finds("this file is the vendor's ../../linux64/libexec/install");
    finds("`aocl install` cannot run it");
    fs::copy(out("linux64/libexec/uninstall"), &ours).unwrap();
    finds("`aocl install` does not run peerlane-aocl install");
    fs::write(&ours, "#!/bin/sh\n").unwrap();
    let notes = common::faults::notes(&work);
    for words in [
        "a file that Peerlane did not write",
        "the program for the commands of `aocl` does not exist yet",
    ] {
        assert!(
            notes.iter().any(|(_, note)| note.contains(words)),
            "{notes:#?}"
        );
    }
    fs::rename(&aside, &ours).unwrap();
    fs::rename(out("linux64/libexec"), &aside).unwrap();
    finds("a directory that does not exist");
    fs::rename(&aside, out("linux64/libexec")).unwrap();
    fs::rename(out(ENVIRONMENT), out("hidden")).unwrap();
    finds("aoc finds no board");
    fs::rename(out("hidden"), out(ENVIRONMENT)).unwrap();
    assert_eq!(common::faults::faults(&work), []);
}

#[test]
fn what_the_platform_needs_may_not_be_taken() {
    for dir in ["peerlane", "hardware/peerlane_net_peerlane"] {
        let work = Work::of(&reference_net());
        fs::create_dir(work.bsp.join(dir)).unwrap();
        let error = work.refused("");
        common::expect(
            &error,
            peerlane_bsp::error::ErrorKind::Unsupported,
            &[dir, "Rename it"],
        );
    }
}

/// A BSP without board_env.xml: the version of Quartus that last saved the settings precedes that of the systems, and
/// both precede the one that the project was made with. If they differ, one line has all of them.
#[test]
fn the_version_is_that_of_the_settings() {
    let lone = || {
        let work = Work::of(&reference_net());
        fs::remove_file(work.bsp.join(ENVIRONMENT)).unwrap();
        work.edit(
            "top.qpf",
            "QUARTUS_VERSION = \"14.0\"",
            "QUARTUS_VERSION = \"13.0\"",
        );
        work
    };
    let said = |work: &Work| {
        let text = fs::read_to_string(work.out.join(ENVIRONMENT)).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        root.attribute("version").unwrap().to_string()
    };
    let work = lone();
    for file in ["base.qsf", "top.qsf"] {
        work.edit(
            file,
            "LAST_QUARTUS_VERSION 14.0.0",
            "LAST_QUARTUS_VERSION 14.1.0",
        );
    }
    let report = work.sound("");
    assert_eq!(said(&work), "14.1");
    let line = |file: &str, word: &str| {
        let text = fs::read_to_string(work.input(file)).unwrap();
        1 + text.lines().position(|line| line.contains(word)).unwrap()
    };
    let notes: Vec<_> = report
        .notes
        .iter()
        .filter(|n| n.contains("several versions"))
        .collect();
    let [note] = notes[..] else {
        panic!("{notes:#?}")
    };
    for words in [
        format!(
            "14.1 (LAST_QUARTUS_VERSION, top.qsf:{})",
            line("top.qsf", "LAST_QUARTUS")
        ),
        "14.0 (connections of board.qsys)".into(),
        format!(
            "13.0 (QUARTUS_VERSION, top.qpf:{})",
            line("top.qpf", "QUARTUS_VERSION")
        ),
    ] {
        assert!(note.contains(&words), "{words}: {note}");
    }
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    assert!(readme.contains("14.1, as the Quartus project says; the BSP has no `board_env.xml`"));
    assert!(
        !report
            .to_do
            .iter()
            .any(|note| note.contains("board_env.xml has"))
    );

    // Without the settings' version, the systems' counts.
    let work = lone();
    for file in ["base.qsf", "top.qsf"] {
        work.edit(
            file,
            "set_global_assignment -name LAST_QUARTUS_VERSION 14.0.0",
            "",
        );
    }
    work.sound("");
    assert_eq!(said(&work), "14.0");

    // A version that the library does not know.
    let work = lone();
    for file in ["base.qsf", "top.qsf"] {
        work.edit(
            file,
            "LAST_QUARTUS_VERSION 14.0.0",
            "LAST_QUARTUS_VERSION 12.1",
        );
    }
    let systems = fs::read_to_string(work.input("board.qsys")).unwrap();
    let mut parts = systems.split("<connection");
    let head = parts.next().unwrap().to_string();
    let old = parts.fold(head, |text, part| {
        text + "<connection" + &part.replacen("version=\"14.0\"", "version=\"12.1\"", 1)
    });
    fs::write(work.input("board.qsys"), old).unwrap();
    let report = work.extend("").unwrap();
    let note = report
        .to_do
        .iter()
        .find(|note| note.contains("PEERLANE_MMD_VERSION"))
        .unwrap();
    assert!(
        note.starts_with("The BSP has no board_env.xml") && note.contains("LAST_QUARTUS_VERSION"),
        "{note}"
    );
}
