//! A platform whose boards share directories: files of the design outside of the hardware directory, and links.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Work, reference_net};

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
    // What the vendor had is kept.
    let kept =
        work.made("scripts/peerlane/vendor_platform/common/iface/acl_iface_system.qsys.vendor");
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
    // The link stays one, and what it leads to has the block.
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

/// The board's version in a system of its own that boards share.
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
