//! `peerlane diagram` for the reference BSPs. Addresses were added up by hand from the systems' files.

use std::fs;
use std::path::Path;

use crate::common::{Work, expect, reference, reference_net};
use peerlane_bsp::diagram::{Diagram, State};
use peerlane_bsp::error::ErrorKind;

/// Returns address, slave and state of everything in a BAR.
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
    // Through cross_control, at its address 0.
    (0xc800, "copier.csr"),
    (0xcfc0, "identity.s"),
    (0xcfe0, "bank_status.s"),
    (0xcff0, "thermal.s"),
    (0xd100, "sensors.s"),
    (0xd200, "mailbox.s"),
    // Through cross_window, at its address 0.
    (0x1_0000, "copier.s_nondma"),
    // Through flash_pipe, at its address 0.
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

/// The kernels' way to memory may lead through a monitor of the memory's use, which is a slave in the BAR as well
/// (`altera_avalon_em_pc`, as the 13.1 DE5-Net has it).
#[test]
fn the_kernels_way_to_memory_is_followed_through_a_monitor() {
    let work = Work::of(&reference_net());
    let connection = |start: &str, end: &str, base: &str| {
        format!(
            " <connection kind=\"avalon\" version=\"14.0\" start=\"{start}\" end=\"{end}\">\n  \
             <parameter name=\"baseAddress\" value=\"{base}\" />\n </connection>\n"
        )
    };
    let monitor = " <module kind=\"altera_avalon_em_pc\" version=\"14.0\" enabled=\"1\" name=\"watch\">\n </module>\n";
    let added = [
        monitor.to_string(),
        connection("watch.avl_out", "bank_a_pipe.s0", "0x0"),
        connection("host_pipe.m0", "watch.em_csr", "0xe000"),
        "</system>".into(),
    ];
    work.edit(
        "board.qsys",
        "start=\"kernel_port_a.m0\"\n   end=\"bank_a_pipe.s0\"",
        "start=\"kernel_port_a.m0\"\n   end=\"watch.avl_in\"",
    );
    work.edit("board.qsys", "</system>", &added.concat());
    let diagram = Diagram::read(&work.bsp).unwrap();
    for name in ["kernel_port_a", "kernel_port_b", "watch"] {
        let found = diagram.instances.iter().find(|i| i.name == name);
        let found = found.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.part, peerlane_bsp::diagram::Part::Memory, "{name}");
    }
    let wire = |start: &str, end: &str| {
        diagram
            .wires
            .iter()
            .any(|w| w.start == start && w.end == end)
    };
    assert!(wire("kernel_port_a.m0", "watch.avl_in") && wire("host_pipe.m0", "watch.em_csr"));
    assert!(bar(&diagram).contains(&(0xe000, "watch.em_csr", State::Same)));
}

/// Names fit into their boxes, and each interrupt between two boxes is drawn.
#[test]
fn names_fit_and_interrupts_are_drawn() {
    let work = Work::new();
    let long = "clock_crossing_from_dma_to_pcie_0";
    let file = work.input("acl_iface_system.qsys");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"dma_out\""));
    let text = text.replace("\"dma_out\"", &format!("\"{long}\""));
    fs::write(&file, text.replace("\"dma_out.", &format!("\"{long}."))).unwrap();
    let diagram = Diagram::read(&work.bsp).unwrap();
    let svg = diagram.svg();
    let svg = roxmltree::Document::parse(&svg).unwrap();
    let number =
        |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let boxes = || {
        svg.descendants()
            .filter(|n| n.attribute("class").is_some_and(|c| c.starts_with("box ")))
    };
    let names = svg
        .descendants()
        .filter(|n| n.attribute("class") == Some("name"));
    let mut seen = 0;
    for name in names {
        let (x, y, text) = (number(name, "x"), number(name, "y"), name.text().unwrap());
        let around = boxes().find(|b| {
            let (left, top) = (number(*b, "x"), number(*b, "y"));
            (left..left + number(*b, "width")).contains(&x)
                && (top..top + number(*b, "height")).contains(&y)
        });
        // rsvg-convert draws acl_memory_bank_divider_0, 25 letters of 12 pixels in bold, 187 pixels wide with DejaVu
        // Sans.
        let wide = 187.0 / 25.0 * f64::from(u32::try_from(text.chars().count()).unwrap());
        assert!(number(around.unwrap(), "width") >= wide + 8.0, "{text}");
        seen += usize::from(text == long);
    }
    assert_eq!(seen, 1);
    let drawn = svg.descendants().filter(|n| {
        n.attribute("class")
            .is_some_and(|c| c.starts_with("interrupt "))
    });
    let shown = |end: &str| {
        diagram
            .instances
            .iter()
            .any(|i| end.starts_with(&format!("{}.", i.name)))
    };
    let both = diagram
        .interrupts
        .iter()
        .filter(|i| shown(&i.sender) && shown(&i.receiver))
        .count();
    assert!(both >= 2, "{:?}", diagram.interrupts);
    // The legend has one more.
    assert_eq!(drawn.count(), both + 1);
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

/// Old and new names at one place are not printed over each other.
#[test]
fn names_of_ports_do_not_lie_on_each_other() {
    for bsp in [reference(), reference_net()] {
        let work = Work::of(&bsp);
        work.sound("[port]\nkind = \"tlp\"\ngen = 3\n");
        let svg = Diagram::read(&work.out).unwrap().svg();
        let words = svg.lines().filter(|line| line.contains("class=\"port "));
        let mut places: Vec<_> = words
            .map(|line| {
                let of = |name: &str| line.split(name).nth(1).unwrap().split('"').next().unwrap();
                (of(" x=\"").to_string(), of(" y=\"").to_string())
            })
            .collect();
        assert!(places.len() > 10, "{svg}");
        let all = places.len();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), all, "{svg}");
    }
}
