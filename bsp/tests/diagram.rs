//! What `peerlane diagram` shows of the reference BSPs. Addresses were added up by hand from the systems' files.
#![allow(missing_docs)]

mod common;

use std::fs;
use std::path::Path;

use common::{Work, expect, reference, reference_net};
use peerlane_bsp::diagram::{Diagram, State};
use peerlane_bsp::error::ErrorKind;

/// Address and slave of everything in a BAR.
fn bar(diagram: &Diagram) -> Vec<(u64, &str, State)> {
    let all = diagram.addresses.iter();
    let all = all.filter(|a| a.master.contains(".Rxm_BAR"));
    all.map(|a| (a.base, a.slave.as_str(), a.state)).collect()
}

const REFERENCE: [(u64, &str); 6] = [
    (0x2000, "kernel_clock.ctrl"),
    (0x3000, "dma_engine.csr"),
    (0x3800, "status.s"),
    (0x4000, "kernels.kernel_cntrl"),
    (0x8000, "host_link.Cra"),
    (0x1_0000, "dma_engine.s_nondma"),
];

const NET: [(u64, &str); 12] = [
    (0x0, "endpoint.Cra"),
    (0x4000, "kernel_bus.kernel_cntrl"),
    (0xb000, "scratch.s1"),
    (0xc000, "kernel_pll.ctrl"),
    // Behind cross_control, at 0 of it.
    (0xc800, "copier.csr"),
    (0xcfc0, "identity.s"),
    (0xcfe0, "bank_status.s"),
    (0xcff0, "thermal.s"),
    (0xd100, "sensors.s"),
    (0xd200, "mailbox.s"),
    // Behind cross_window, at 0 of it.
    (0x1_0000, "copier.s_nondma"),
    // Behind flash_pipe, at 0 of it.
    (0x1000_0000, "flash_port.s"),
];

#[test]
fn every_slave_is_at_its_address() {
    for (bsp, slaves) in [(reference(), &REFERENCE[..]), (reference_net(), &NET[..])] {
        let diagram = Diagram::read(&bsp).unwrap();
        let want: Vec<_> = slaves
            .iter()
            .map(|(base, s)| (*base, *s, State::Same))
            .collect();
        assert_eq!(bar(&diagram), want);
        assert!(!diagram.extended);
        let (text, svg, html) = (diagram.text(), diagram.svg(), diagram.html());
        for (base, slave) in slaves {
            let row = text.lines().find(|line| line.contains(slave)).unwrap();
            assert!(row.trim().starts_with(&format!("{base:#x} ")), "{row}");
            assert!(html.contains(&format!("<td>{base:#x}</td>")));
            assert!(svg.contains(slave.split('.').next().unwrap()), "{slave}");
        }
        roxmltree::Document::parse(&svg).unwrap();
        let json: serde_json::Value = serde_json::from_str(&diagram.json()).unwrap();
        assert_eq!(json["extended"], false);
    }
}

#[test]
fn interrupts_and_clocks_are_shown() {
    let diagram = Diagram::read(&reference_net()).unwrap();
    let interrupts = diagram.interrupts.iter();
    let interrupts: Vec<_> = interrupts
        .map(|i| (i.receiver.as_str(), i.number.as_str(), i.sender.as_str()))
        .collect();
    assert_eq!(
        interrupts,
        [
            ("endpoint.RxmIrq", "0", "kernel_bus.kernel_irq_to_host"),
            ("endpoint.RxmIrq", "1", "copier.dma_irq"),
        ]
    );
    let clocks: Vec<_> = diagram
        .clocks
        .iter()
        .map(|c| (c.source.as_str(), c.sinks.len()))
        .collect();
    assert_eq!(
        clocks,
        [
            ("endpoint.coreclkout", 14),
            ("bank_a.afi_clk", 9),
            ("bank_b.afi_clk", 3),
            ("config_clk.out_clk", 3),
            ("kernel_pll.kernel_clk", 5),
        ]
    );
}

#[test]
fn an_extended_one_is_shown_before_and_after() {
    for (bsp, dma, gone, come) in [
        (reference(), "dma_engine", "dma_out", "dma_engine.chan"),
        (reference_net(), "copier", "cross_control", "copier.chan"),
    ] {
        let work = Work::of(&bsp);
        work.extend("").unwrap();
        let diagram = Diagram::read(&work.out).unwrap();
        assert!(diagram.extended);
        let state = |name: &str| {
            let found = diagram.instances.iter().find(|i| i.name == name);
            found.unwrap().state
        };
        assert_eq!((state(dma), state(gone)), (State::Changed, State::Gone));
        let slaves = bar(&diagram);
        let find = |slave: &str| slaves.iter().find(|(_, s, _)| *s == slave).copied();
        assert_eq!(find(come), Some((0x2_0000, come, State::New)));
        let csr = format!("{dma}.csr");
        assert_eq!(
            find(&csr).unwrap().2,
            State::Changed,
            "it is another block's"
        );
        let svg = diagram.svg();
        for class in [
            "wire new",
            "wire gone",
            "wire same",
            "dma changed",
            "other gone",
        ] {
            assert!(svg.contains(class), "{class}");
        }
        if let Some(dir) = std::env::var_os("PEERLANE_DIAGRAMS") {
            let name = bsp.file_name().unwrap().to_str().unwrap();
            fs::write(Path::new(&dir).join(format!("{name}.svg")), svg).unwrap();
        }
    }
}

#[test]
fn names_are_escaped() {
    let work = Work::new();
    work.edit(
        "board_spec.xml",
        "name=\"peerlane_ref\"",
        "name=\"a&lt;b&gt;&amp;c\"",
    );
    let diagram = Diagram::read(&work.bsp).unwrap();
    roxmltree::Document::parse(&diagram.svg()).unwrap();
    assert!(!diagram.html().contains("a<b>"));
}

#[test]
fn bad_input_is_refused_as_extend_refuses_it() {
    let work = Work::new();
    let fault = |work: &Work| {
        let shown = Diagram::read(&work.bsp).unwrap_err();
        assert_eq!(shown.paragraph(), work.refused("").paragraph());
        shown
    };
    work.edit(
        "acl_iface_system.qsys",
        "kind=\"acl_dma\"",
        "kind=\"my_dma\"",
    );
    expect(&fault(&work), ErrorKind::NoDma, &["my_dma"]);
    work.edit("acl_iface_system.qsys", "</system>", "");
    expect(
        &fault(&work),
        ErrorKind::BadXml,
        &["acl_iface_system.qsys:"],
    );
    let nowhere = Diagram::read(Path::new("/nowhere/at/all")).unwrap_err();
    expect(&nowhere, ErrorKind::NotABsp, &["/nowhere/at/all"]);
}
