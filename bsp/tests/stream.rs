//! A streaming port: which boards could have it, and what is said where it is asked for.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Work, reference, reference_net, vendor_bsp};
use peerlane_bsp::config::Config;
use peerlane_bsp::error::{Error, ErrorKind};
use peerlane_bsp::extend::hard_ip::{FROM, Wanted, streaming};
use peerlane_bsp::extend::{Options, extend};
use peerlane_bsp::system::qsys::{Module, System};
use peerlane_bsp::system::xml::Document;

/// Parameters that are set anew, or that stand for such.
const SET: [&str; 4] = [
    "gen123_lane_rate_mode_hwtcl",
    "extend_tag_field_hwtcl",
    "avmm_width_hwtcl",
    "SLAVE_ADDRESS_MAP_",
];

/// Every system of a BSP with such a hard IP in it. Those that are configured over PCIe are so no more: that is refused by
/// itself.
fn systems(bsp: &Path) -> Vec<System> {
    let mut found = Vec::new();
    let mut open = vec![bsp.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "qsys") {
            let text = fs::read_to_string(&path).unwrap();
            if text.contains(FROM) {
                let name = "name=\"in_cvp_mode_hwtcl\" value=";
                let text = text.replace(&format!("{name}\"1\""), &format!("{name}\"0\""));
                let document = Document::parse(&path, text).unwrap();
                found.push(System::from_document(document).unwrap());
            }
        }
    }
    found
}

/// The BAR that has a size.
fn wanted(hip: &Module) -> Wanted {
    let size = |bar: &u32| hip.number(&format!("SLAVE_ADDRESS_MAP_{bar}")).unwrap_or(0);
    let bar = (0..6).find(|bar| size(bar) != 0).expect("a BAR");
    Wanted {
        bar,
        bar_log2: size(&bar),
        generation: None,
        port_bits: None,
    }
}

/// No parameter of a real board's hard IP is unknown, and each goes somewhere.
#[test]
fn every_parameter_of_every_board_is_known() {
    let bsps: Vec<PathBuf> = [Some(reference()), Some(reference_net()), vendor_bsp()]
        .into_iter()
        .flatten()
        .collect();
    for bsp in bsps {
        let systems = systems(&bsp);
        assert!(!systems.is_empty(), "{}", bsp.display());
        for system in &systems {
            for hip in system.modules.iter().filter(|m| m.kind == FROM) {
                let made = streaming(system, hip, wanted(hip)).unwrap();
                for old in hip.element.children("parameter") {
                    let name = old.attribute("name").unwrap();
                    let value = old.attribute("value").unwrap_or(&old.text).trim();
                    let same = |v: &peerlane_bsp::extend::hard_ip::Value| {
                        v.name == name && v.value == value
                    };
                    let kept = made.parameters.iter().any(same);
                    let dropped = made.dropped.iter().any(same);
                    let set = SET.iter().any(|set| name.starts_with(set));
                    let times = [kept, dropped, set].iter().filter(|&&is| is).count();
                    // The rate is set to what it was.
                    let rate = name == SET[0] && kept;
                    assert!(times == 1 || rate, "{name}={value}: {times}");
                }
            }
        }
    }
}

fn refused(work: &Work, config: &str) -> Error {
    let options = Options {
        bsp: work.bsp.clone(),
        out: work.out.clone(),
        config: Config::parse(Path::new("c.toml"), config).unwrap(),
        report: None,
        board: None,
    };
    let error = extend(&options).expect_err("refused");
    // Nothing is left.
    let around = work.out.parent().unwrap();
    assert_eq!(fs::read_dir(around).unwrap().count(), 0);
    error
}

const STREAM: &str = "[port]\nkind = \"stream\"\n";

#[test]
fn it_is_said_that_it_is_not_built_yet() {
    let error = refused(&Work::new(), STREAM);
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let words = error.to_string();
    assert!(words.contains("not built yet"), "{words}");
    assert!(
        words.contains("host_link") && words.contains("128 bits at 250 MHz"),
        "{words}"
    );
    // 128 KiB of the vendor's, and the block's slaves above.
    assert!(words.contains("BAR of 2^18 bytes"), "{words}");
    assert!(error.remedy.contains("port.kind"));
    let error = refused(&Work::new(), "[port]\nkind = \"stream\"\ngen = 3\n");
    assert!(error.to_string().contains("256 bits at 250 MHz"), "{error}");
    let error = refused(&Work::new(), &format!("port_bits = 128\n{STREAM}gen = 3\n"));
    assert_eq!(error.kind, ErrorKind::Config, "{error}");
}

#[test]
fn a_board_that_is_configured_over_pcie_is_refused() {
    let error = refused(&Work::of(&reference_net()), STREAM);
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("configured over PCIe"),
        "{error}"
    );
    assert!(error.place.line.is_some());
}

/// The BAR of a network card's board has 512 MiB, and its flash memory stands in the upper half: the block's slaves
/// have room below.
#[test]
fn a_large_bar_stays_as_large() {
    let work = Work::of(&reference_net());
    let path = work.input("board.qsys");
    let text = fs::read_to_string(&path).unwrap();
    let name = "name=\"in_cvp_mode_hwtcl\" value=";
    let spoilt = text.replace(&format!("{name}\"1\""), &format!("{name}\"0\""));
    assert_ne!(spoilt, text);
    fs::write(&path, spoilt).unwrap();
    let error = refused(&work, STREAM);
    assert!(error.to_string().contains("BAR of 2^29 bytes"), "{error}");
}

#[test]
fn a_place_that_is_taken_is_refused() {
    // At 0x4000 the reference BSP has the kernels.
    let error = refused(&Work::new(), &format!("{STREAM}[bar]\nchan_base = 0x0\n"));
    assert_eq!(error.kind, ErrorKind::Config, "{error}");
    assert!(error.to_string().contains("bar.chan_base"), "{error}");
}

/// What hangs on the hard IP and would have no place.
#[test]
fn what_would_be_lost_is_named() {
    const SYSTEM: &str = "acl_iface_system.qsys";
    let connection = |kind: &str, start: &str, end: &str| {
        format!(
            "  <connection kind=\"{kind}\" version=\"13.1\" start=\"{start}\" end=\"{end}\" />\n"
        )
    };
    let export = |interface: &str| {
        format!(
            "  <interface name=\"new_export\" internal=\"host_link.{interface}\" type=\"conduit\" dir=\"end\" />\n"
        )
    };
    for (line, word) in [
        (export("hip_status"), "host_link.hip_status"),
        (export("HIP_status_ext"), "host_link.HIP_status_ext"),
        (export("MSI_Interface"), "host_link.MSI_Interface"),
        (export("Txs"), "inside the block"),
        (export("Rxm_BAR2"), "inside the block"),
        (export("future"), "not known"),
        (
            connection("interrupt", "kernels.irq", "host_link.CraIrq"),
            "host_link.CraIrq",
        ),
        (
            connection("interrupt", "host_link.RxmIrq", "status.irq"),
            "2 interrupts beside the DMA's",
        ),
    ] {
        let work = Work::new();
        let path = work.input(SYSTEM);
        let before = fs::read_to_string(&path).unwrap();
        let end = before.rfind("</system>").unwrap();
        fs::write(&path, format!("{}{line}{}", &before[..end], &before[end..])).unwrap();
        let error = refused(&work, STREAM);
        assert!(error.to_string().contains(word), "{line}: {error}");
        assert!(!error.to_string().contains("not built"), "{error}");
    }
    // What the other variant has, too, may be used.
    let work = Work::new();
    let path = work.input(SYSTEM);
    let before = fs::read_to_string(&path).unwrap();
    let end = before.rfind("</system>").unwrap();
    let line = export("hip_ctrl");
    fs::write(&path, format!("{}{line}{}", &before[..end], &before[end..])).unwrap();
    assert!(refused(&work, STREAM).to_string().contains("not built yet"));
}
