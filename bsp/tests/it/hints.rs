//! The hint of an error or a diagnostic fits the kind of the file that it is about, and the owner of the file.

use std::fs;

use crate::common::{Work, edit, reference_net};
use peerlane_bsp::config::Config;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, structure};

/// Returns every fault of the check about a file, with its hint.
fn hints(work: &Work) -> Vec<(String, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let bad = findings.0.into_iter().filter(|f| f.level == Level::Bad);
    bad.map(|f| (f.place.display().to_string(), f.hint.unwrap().to_string()))
        .collect()
}

#[test]
fn findings() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    for (file, from, to, hint) in [
        (
            "board.qsys",
            "\"AVALON_ADDR_WIDTH\" value=\"64\"",
            "\"AVALON_ADDR_WIDTH\" value=\"32\"",
            "Correct it in Platform Designer",
        ),
        (
            "top.qsf",
            "DEVICE 5SGXEA7N2F45C2",
            "DEVICE 5SGXEA7N2F45C1",
            "Correct top.qsf in an editor",
        ),
        (
            "top.sdc",
            "derive_pll_clocks",
            "",
            "Correct top.sdc in an editor",
        ),
        (
            "ip_include.tcl",
            "SEARCH_PATH",
            "PARTITION_IMPORT_FILE",
            "Correct ip_include.tcl in an editor",
        ),
        (
            "board_spec.xml",
            "alms num=\"",
            "alms num=\"0\" x=\"",
            "Correct board_spec.xml in an editor",
        ),
        (
            "../../board_env.xml",
            "libpeerlane_mmd.so",
            "libvendor.so",
            "Correct board_env.xml in an editor",
        ),
        (
            "iface/peerlane/build.json",
            "\"map_id\": \"0x",
            "\"map_id\": \"0xf",
            "Extend the vendor's BSP again",
        ),
        (
            "../../peerlane/vendor/hardware/peerlane_net/top.v",
            "module",
            "modul",
            "do not edit the kept files",
        ),
    ] {
        let path = work.output(file);
        let before = fs::read_to_string(&path).unwrap();
        if file.ends_with(".json") {
            let mut record: serde_json::Value = serde_json::from_str(&before).unwrap();
            record["map_id"] = "0x00000001".into();
            fs::write(&path, record.to_string()).unwrap();
        } else {
            edit(&path, from, to);
        }
        let found = hints(&work);
        fs::write(&path, before).unwrap();
        let name = file.rsplit('/').next().unwrap();
        let of_file: Vec<_> = found
            .iter()
            .filter(|(place, _)| place.ends_with(name))
            .collect();
        let good = |(_, said): &&(String, String)| said.starts_with(hint) || said.contains(hint);
        // The Verilog has the other hash of the map.
        let all = if name == "build.json" {
            found.iter().collect()
        } else {
            of_file
        };
        assert!(
            !all.is_empty() && all.iter().all(good),
            "{file}: {found:#?}"
        );
        // Platform Designer fixes only systems.
        let designer = found
            .iter()
            .filter(|(_, said)| said.contains("Platform Designer"));
        assert!(
            designer.clone().all(|(place, _)| place.ends_with(".qsys")),
            "{file}: {found:#?}"
        );
    }
    // A missing file is put back, not fixed.
    fs::remove_file(work.output("../../board_env.xml")).unwrap();
    let found = hints(&work);
    let (_, said) = (found.iter())
        .find(|(place, _)| place.ends_with("board_env.xml"))
        .unwrap();
    assert!(said.starts_with("Put it back"), "{found:#?}");
}

/// Files that cannot be read: of the vendor's BSP, of the result, and of the user.
#[test]
fn errors() {
    for (file, content, input, result) in [
        (
            "board.qsys",
            "<system>",
            "Take board.qsys from the vendor's BSP package again, or open it in Platform Designer",
            "Correct it in Platform Designer",
        ),
        (
            "board_spec.xml",
            "<board",
            "Take board_spec.xml from the vendor's",
            "Correct board_spec.xml in an editor",
        ),
        (
            "board.ipx",
            "<library>\0",
            "Take board.ipx from the vendor's",
            "Correct board.ipx in an editor",
        ),
        (
            "top.qsf",
            "s\0e\0t\0",
            "Take top.qsf from the vendor's",
            "Correct top.qsf in an editor",
        ),
        (
            "top.qpf",
            "\0",
            "Take top.qpf from the vendor's",
            "Correct top.qpf in an editor",
        ),
    ] {
        let work = Work::of(&reference_net());
        let path = work.input(file);
        let before = fs::read(&path).unwrap();
        fs::write(&path, content).unwrap();
        let error = work.refused("");
        assert!(
            error.hint.to_string().contains(input),
            "{file}: {}",
            error.paragraph()
        );
        fs::write(&path, before).unwrap();
        work.extend("").unwrap();
        fs::write(work.output(file), content).unwrap();
        let error = structure(&Layout::of_result(&work.out).unwrap()).unwrap_err();
        assert!(
            error.hint.to_string().contains(result),
            "{file}: {}",
            error.paragraph()
        );
    }
    let work = Work::new();
    let config = work.dir.path().join("c.toml");
    std::os::unix::fs::symlink("/dev/null", &config).unwrap();
    let error = Config::read(&config).unwrap_err();
    assert_eq!(error.hint.to_string(), "Give the name of a file.");
}
