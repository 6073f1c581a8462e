//! The platform's description, and a platform without a vendor.

use std::fs;
use std::path::Path;

use crate::common::faults::faults;
use crate::common::{Work, edit, reference_net};
use peerlane_bsp::board::{Description, Options, make};
use peerlane_bsp::kept::Origin;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::revert;
use peerlane_bsp_check::{Level, structure};

#[test]
fn every_description_of_linux_leads_to_peerlane() {
    let work = Work::of(&reference_net());
    let path = work.bsp.join("board_env.xml");
    edit(
        &path,
        "</board_env>",
        "  <platform name=\"linux64\">\n    <mmdlib>%b/linux64/lib/libvendor_mmd.so</mmdlib>\n    \
         <utilbindir>%b/linux64/bin</utilbindir>\n  </platform>\n</board_env>",
    );
    work.sound("");
    let made = fs::read_to_string(work.out.join("board_env.xml")).unwrap();
    assert!(
        !made.contains("libvendor_mmd") && !made.contains("linux64/bin"),
        "{made}"
    );
}

#[test]
fn what_programs_are_linked_with_is_judged() {
    let work = Work::of(&reference_net());
    fs::create_dir_all(work.bsp.join("linux64/lib")).unwrap();
    fs::write(work.bsp.join("linux64/lib/libvendor_hal.so"), "old").unwrap();
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    let path = work.out.join("board_env.xml");
    let before = fs::read_to_string(&path).unwrap();
    for (from, to, words) in [
        (
            "-lpeerlane_mmd",
            "-lpeerlane_mmd -lvendor_hal",
            "linked with -lvendor_hal, the vendor's",
        ),
        (
            "-L%b/linux64/lib",
            "-L%b/peerlane/vendor/linux64/lib",
            "where the runtime is not",
        ),
    ] {
        edit(&path, from, to);
        let found = faults(&work);
        fs::write(&path, &before).unwrap();
        assert!(
            found
                .iter()
                .any(|(test, what)| *test == "platform" && what.contains(words)),
            "{found:?}"
        );
    }
    edit(
        &path,
        "</board_env>",
        "<platform name=\"windows64\"><mmdlib>%b\\windows64\\v.dll</mmdlib></platform></board_env>",
    );
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let mut notes = findings.0.iter().filter(|f| f.level == Level::Note);
    assert!(notes.any(|f| {
        f.what
            .to_string()
            .contains("windows64 names %b\\windows64\\v.dll, which does not exist")
    }));
}

/// `peerlane new` has no vendor.
#[test]
fn a_board_without_a_vendor() {
    let dir = tempfile::tempdir().unwrap();
    let (out, back) = (dir.path().join("out"), dir.path().join("back"));
    let report = make(&Options {
        description: Description::find(Path::new("de5net")).unwrap(),
        out: out.clone(),
        pins: None,
        config: crate::common::txs(),
    })
    .unwrap();
    assert_eq!(report.origin, Origin::New);
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    let markdown = report.markdown();
    for text in [&readme, &markdown] {
        for words in [
            "board vendor's",
            "vendor's files",
            "the vendor's project",
            "vendor's platform",
            "`peerlane extend` 0",
        ] {
            assert!(!text.contains(words), "{words}: {text}");
        }
        assert!(text.contains("`peerlane new` 0"), "{text}");
    }
    let findings = structure(&Layout::find(&out).unwrap()).unwrap();
    assert!(
        findings.0.iter().any(|f| f.test == "origin"),
        "{findings:#?}"
    );
    let options = revert::Options {
        bsp: out,
        out: back.clone(),
        without_edits: false,
    };
    assert_eq!(revert::revert(&options).unwrap().origin, Origin::New);
    assert!(
        fs::read_to_string(back.join("hardware/de5net/board.qsys"))
            .unwrap()
            .contains("acl_dma")
    );
}
