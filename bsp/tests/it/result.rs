//! The check reads the result again, and finds each corruption of an extended BSP.

use std::fs;
use std::path::PathBuf;

use crate::common::faults::{comparison, faults, is_wrong};
use crate::common::{self, Work, extended_with};

const SYSTEM: &str = "acl_iface_system.qsys";
const STATUS: &str = "iface/board_status.qsys";

/// A change of a file, the test that must find it, and the words of the diagnostic.
struct Mutation {
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    test: &'static str,
    words: &'static str,
}

/// Makes a mutation: `test` must find `file: from → to`, with `words`.
const fn mutation(
    name: &'static str,
    file: &'static str,
    [from, to]: [&'static str; 2],
    test: &'static str,
    words: &'static str,
) -> Mutation {
    Mutation {
        name,
        file,
        from,
        to,
        test,
        words,
    }
}

fn clock(from: &str, to: &str) -> String {
    format!("start=\"{from}\"\n   end=\"{to}\"")
}

/// Corrupts one BSP with each mutation, and restores it.
fn each_is_found(work: &Work, mutations: &[Mutation]) {
    assert_eq!(faults(work), []);
    let comparison = comparison(work);
    let mut missed = Vec::new();
    for m in mutations {
        let path: PathBuf = work.output(m.file);
        let before = fs::read_to_string(&path).unwrap();
        assert!(
            before.contains(m.from),
            "{}: no {:?} in {}",
            m.name,
            m.from,
            m.file
        );
        fs::write(&path, before.replacen(m.from, m.to, 1)).unwrap();
        let found = faults(work);
        if !is_wrong(&comparison) && found.is_empty() {
            missed.push(format!("{}: by none of the two", m.name));
        }
        fs::write(&path, before).unwrap();
        if !found
            .iter()
            .any(|(test, what)| *test == m.test && what.contains(m.words))
        {
            missed.push(format!("{}: {found:#?}", m.name));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert_eq!(faults(work), []);
}

#[test]
fn names_versions_and_instances() {
    let twice =
        " <module kind=\"clock_source\" version=\"13.1\" enabled=\"1\" name=\"ddr\" />\n <module";
    each_is_found(
        &extended_with(""),
        &[
            mutation(
                "an instance twice",
                SYSTEM,
                [" <module", twice],
                "names",
                "instance ddr exists twice",
            ),
            mutation(
                "an export twice",
                SYSTEM,
                ["name=\"board_reset\"", "name=\"board_clk\""],
                "names",
                "export board_clk exists twice",
            ),
            mutation(
                "a connection twice",
                SYSTEM,
                [
                    " <connection",
                    " <connection kind=\"clock\" version=\"13.1\" start=\"ddr.afi_clk\" end=\"memory.clk\" />\n <connection",
                ],
                "names",
                "ddr.afi_clk → memory.clk exists twice",
            ),
            mutation(
                "the block off",
                SYSTEM,
                [
                    "enabled=\"1\" name=\"dma_engine\"",
                    "enabled=\"0\" name=\"dma_engine\"",
                ],
                "names",
                "dma_engine is not enabled",
            ),
            mutation(
                "the hard IP off",
                SYSTEM,
                [
                    "enabled=\"1\"\n   name=\"host_link\"",
                    "enabled=\"0\"\n   name=\"host_link\"",
                ],
                "names",
                "host_link is not enabled",
            ),
            mutation(
                "a reset controller off",
                SYSTEM,
                [
                    "enabled=\"1\"\n   name=\"link_reset\"",
                    "enabled=\"false\"\n   name=\"link_reset\"",
                ],
                "names",
                "link_reset is not enabled",
            ),
            mutation(
                "an instance off in another system",
                STATUS,
                [
                    "enabled=\"1\" name=\"version\"",
                    "enabled=\"0\" name=\"version\"",
                ],
                "names",
                "version is not enabled",
            ),
            mutation(
                "the block's version",
                SYSTEM,
                [
                    "kind=\"peerlane_dma\" version=\"1.0\"",
                    "kind=\"peerlane_dma\" version=\"1.1\"",
                ],
                "names",
                "has version 1.1",
            ),
            mutation(
                "the version in the list",
                "iface.ipx",
                [
                    "displayName=\"Peerlane DMA\"\n   version=\"1.0\"",
                    "displayName=\"Peerlane DMA\"\n   version=\"2.0\"",
                ],
                "component list",
                "version",
            ),
            mutation(
                "the component's version",
                "iface/peerlane/peerlane_dma_hw.tcl",
                ["VERSION 1.0", "VERSION 1.2"],
                "names",
                "component has version 1.2",
            ),
            mutation(
                "another instance's version",
                SYSTEM,
                [
                    "kind=\"altera_pcie_sv_hip_avmm\"\n   version=\"13.1\"",
                    "kind=\"altera_pcie_sv_hip_avmm\"\n   version=\"14.0\"",
                ],
                "names",
                "host_link has the kind altera_pcie_sv_hip_avmm 14.0",
            ),
            mutation(
                "another kind",
                SYSTEM,
                [
                    "kind=\"altera_reset_bridge\"",
                    "kind=\"altera_reset_fridge\"",
                ],
                "names",
                "altera_reset_fridge",
            ),
            mutation(
                "a parameter",
                SYSTEM,
                [
                    "name=\"ACTIVE_LOW_RESET\" value=\"1\"",
                    "name=\"ACTIVE_LOW_RESET\" value=\"0\"",
                ],
                "parameters",
                "ACTIVE_LOW_RESET is \"0\"",
            ),
            mutation(
                "the block listed twice",
                "iface.ipx",
                [
                    "<component\n   name=\"acl_dma\"",
                    "<component\n   name=\"peerlane_dma\"",
                ],
                "component list",
                "listed twice",
            ),
            mutation(
                "the block not listed",
                "iface.ipx",
                ["name=\"peerlane_dma\"", "name=\"peerlane_dna\""],
                "component list",
                "no list of components",
            ),
            mutation(
                "another file listed",
                "iface.ipx",
                ["peerlane/peerlane_dma_hw.tcl", "peerlane/other_hw.tcl"],
                "component list",
                "file",
            ),
        ],
    );
}

#[test]
fn clocks_resets_and_interrupts() {
    let pcie = clock("host_link.coreclkout", "dma_engine.pcie_clk");
    let slow = clock("board_clk.out_clk", "dma_engine.pcie_clk");
    let memory = clock("ddr.afi_clk", "dma_engine.clk");
    let swapped = clock("host_link.coreclkout", "dma_engine.clk");
    let leak = |text: String| -> &'static str { text.leak() };
    let (pcie, slow, memory, swapped) = (leak(pcie), leak(slow), leak(memory), leak(swapped));
    each_is_found(
        &extended_with(""),
        &[
            mutation(
                "the block's clock of PCIe",
                SYSTEM,
                [pcie, slow],
                "wiring",
                "not the clock of host_link",
            ),
            mutation(
                "the block's clock of memory",
                SYSTEM,
                [memory, swapped],
                "wiring",
                "dma_engine.clk has the clock of host_link.coreclkout",
            ),
            mutation(
                "another instance's clock",
                SYSTEM,
                [
                    "start=\"ddr.afi_clk\" end=\"memory.clk\"",
                    "start=\"host_link.coreclkout\" end=\"memory.clk\"",
                ],
                "wiring",
                "memory.clk has the clock of",
            ),
            mutation(
                "no clock",
                SYSTEM,
                [
                    " <connection kind=\"clock\" version=\"13.1\" start=\"ddr.afi_clk\" end=\"memory.clk\" />",
                    "",
                ],
                "wiring",
                "memory.clk has the clock of nothing",
            ),
            mutation(
                "two clocks",
                SYSTEM,
                [
                    " <connection",
                    " <connection kind=\"clock\" version=\"13.1\" start=\"board_clk.out_clk\" end=\"dma_engine.clk\" />\n <connection",
                ],
                "wiring",
                "two clocks",
            ),
            mutation(
                "the interrupts swapped",
                SYSTEM,
                [
                    "end=\"dma_engine.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"1\"",
                    "end=\"dma_engine.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"0\"",
                ],
                "wiring",
                "both interrupt 0",
            ),
            mutation(
                "the interrupt elsewhere",
                SYSTEM,
                [
                    "end=\"dma_engine.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"1\"",
                    "end=\"dma_engine.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"7\"",
                ],
                "wiring",
                "interrupt 7 of host_link.RxmIrq; in the vendor's BSP it is 1",
            ),
            mutation(
                "an interrupt without a number",
                SYSTEM,
                [
                    "name=\"irqNumber\" value=\"0\"",
                    "name=\"irqNumber\" value=\"first\"",
                ],
                "wiring",
                "not a number",
            ),
            mutation(
                "the interrupt to another",
                SYSTEM,
                [
                    "start=\"host_link.RxmIrq\"\n   end=\"dma_engine.dma_irq\"",
                    "start=\"kernels.irq\"\n   end=\"dma_engine.dma_irq\"",
                ],
                "wiring",
                "not host_link.RxmIrq",
            ),
            mutation(
                "the block's interrupt open",
                SYSTEM,
                ["end=\"dma_engine.dma_irq\"", "end=\"kernels.dma_irq\""],
                "wiring",
                "dma_engine.dma_irq has the interrupt of nothing",
            ),
            mutation(
                "the kernel's interrupt open",
                SYSTEM,
                [
                    "end=\"kernels.kernel_irq_to_host\"",
                    "end=\"kernels.nothing\"",
                ],
                "wiring",
                "kernels.kernel_irq_to_host has the interrupt of nothing",
            ),
            mutation(
                "the block's reset open",
                SYSTEM,
                ["end=\"dma_engine.reset\"", "end=\"kernels.more_reset\""],
                "wiring",
                "dma_engine.reset has the reset of nothing",
            ),
            mutation(
                "the block's reset of PCIe open",
                SYSTEM,
                [
                    "end=\"dma_engine.pcie_reset\"",
                    "end=\"kernels.more_reset\"",
                ],
                "resets",
                "dma_engine.pcie_reset comes from nothing",
            ),
            mutation(
                "another's reset open",
                SYSTEM,
                ["end=\"bar_pipe.reset\"", "end=\"kernels.more_reset\""],
                "wiring",
                "bar_pipe.reset has the reset of nothing",
            ),
            mutation(
                "another's reset swapped",
                SYSTEM,
                [
                    "start=\"memory_reset.reset_out\"\n   end=\"memory.reset\"",
                    "start=\"kernels.kernel_reset\"\n   end=\"memory.reset\"",
                ],
                "wiring",
                "memory.reset has the reset of kernels.kernel_reset",
            ),
            mutation(
                "an export swapped",
                SYSTEM,
                [
                    "internal=\"kernels.kernel_cra\"",
                    "internal=\"kernels.other\"",
                ],
                "wiring",
                "kernel_cra is kernels.other",
            ),
            mutation(
                "a slave of the block open",
                SYSTEM,
                ["end=\"dma_engine.att\"", "end=\"kernels.att\""],
                "wiring",
                "dma_engine.att is not connected",
            ),
            mutation(
                "the old master put back",
                SYSTEM,
                [
                    " <connection",
                    " <connection kind=\"avalon\" version=\"13.1\" start=\"dma_engine.m\" end=\"memory.s\" />\n <connection",
                ],
                "wiring",
                "no interface m",
            ),
            mutation(
                "a port of fewer address bits",
                SYSTEM,
                [
                    "name=\"TX_S_ADDR_WIDTH\" value=\"64\"",
                    "name=\"TX_S_ADDR_WIDTH\" value=\"32\"",
                ],
                "wiring",
                "TX_S_ADDR_WIDTH of host_link is 32 bits, but the block's port has 64 bits",
            ),
            mutation(
                "another on Txs",
                SYSTEM,
                [
                    " <connection",
                    " <connection kind=\"avalon\" version=\"13.1\" start=\"kernels.m\" end=\"host_link.Txs\" />\n <connection",
                ],
                "wiring",
                "only the block may drive Txs",
            ),
        ],
    );
    let kernel = "start=\"dma_engine.kernel_irq\"";
    each_is_found(
        &extended_with("irq = \"msix\""),
        &[
            mutation(
                "the kernel's interrupt past the block",
                SYSTEM,
                [kernel, "start=\"kernels.kernel_irq\""],
                "wiring",
                "dma_engine.kernel_irq is not connected",
            ),
            mutation(
                "the control of MSI-X open",
                SYSTEM,
                [
                    "end=\"dma_engine.msix_control\"",
                    "end=\"kernels.msix_control\"",
                ],
                "wiring",
                "dma_engine.msix_control is not connected",
            ),
        ],
    );
}

#[test]
fn addresses() {
    each_is_found(
        &extended_with(""),
        &[
            mutation(
                "an overlap",
                SYSTEM,
                ["value=\"0x00028000\"", "value=\"0x00020000\""],
                "bases",
                "overlaps",
            ),
            mutation(
                "an overlap in the middle",
                SYSTEM,
                [
                    "name=\"baseAddress\" value=\"0x2000\"",
                    "name=\"baseAddress\" value=\"0x8004\"",
                ],
                "bases",
                "overlaps",
            ),
            mutation(
                "not a number",
                SYSTEM,
                [
                    "name=\"baseAddress\" value=\"0x3800\"",
                    "name=\"baseAddress\" value=\"0x38OO\"",
                ],
                "bases",
                "not a number",
            ),
            mutation(
                "an empty one",
                SYSTEM,
                [
                    "name=\"baseAddress\" value=\"0x3800\"",
                    "name=\"baseAddress\" value=\"\"",
                ],
                "bases",
                "not a number",
            ),
            mutation(
                "not a multiple of the block's",
                SYSTEM,
                ["value=\"0x00028000\"", "value=\"0x00028010\""],
                "bases",
                "not at a multiple",
            ),
            mutation(
                "not a multiple of the CRA",
                SYSTEM,
                [
                    "name=\"baseAddress\" value=\"0x8000\"",
                    "name=\"baseAddress\" value=\"0x9000\"",
                ],
                "bases",
                "host_link.Cra takes 0x4000 bytes and is at 0x9000",
            ),
            mutation(
                "a bridge that no longer reaches the vendor's slaves",
                SYSTEM,
                [
                    "name=\"ADDRESS_WIDTH\" value=\"18\"",
                    "name=\"ADDRESS_WIDTH\" value=\"15\"",
                ],
                "bases",
                "control_pipe.s0 ends at 0x40000, above the 0x8000 that",
            ),
            mutation(
                "a vendor's slave moved",
                SYSTEM,
                [
                    "name=\"baseAddress\" value=\"0x2000\"",
                    "name=\"baseAddress\" value=\"0x2800\"",
                ],
                "bases",
                "the host reaches kernel_clock.ctrl at 0x2800",
            ),
            mutation(
                "a place that the record has elsewhere",
                "iface/peerlane/build.json",
                ["\"csr\": 12288", "\"csr\": 12800"],
                "bases",
                "the record has 0x3200",
            ),
            mutation(
                "a vendor's slave off the BAR",
                SYSTEM,
                ["end=\"status.s\"", "end=\"status.t\""],
                "bases",
                "the host reaches status.s at no place",
            ),
            mutation(
                "Txs away from 0",
                SYSTEM,
                [
                    "start=\"dma_engine.txs\"\n   end=\"host_link.Txs\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  <parameter name=\"baseAddress\" value=\"0x0000\"",
                    "start=\"dma_engine.txs\"\n   end=\"host_link.Txs\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  <parameter name=\"baseAddress\" value=\"0x1000\"",
                ],
                "wiring",
                "at address 0",
            ),
        ],
    );
}

#[test]
fn settings_and_resources() {
    let fragment =
        "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\n";
    let import = "set_global_assignment -name PARTITION_IMPORT_FILE acl_iface_partition.qxp -section_id \"s:i\"\n";
    let head = "set_global_assignment -name FAMILY";
    let with = |more: &str| -> &'static str { format!("{more}{head}").leak() };
    let work = extended_with("");
    fs::write(work.output("more.tcl"), "").unwrap();
    let more = with("source more.tcl\n");
    each_is_found(
        &work,
        &[
            mutation(
                "the fragment out",
                "top.qsf",
                [fragment, ""],
                "settings",
                "sourced 0 times",
            ),
            mutation(
                "the fragment a comment",
                "top.qsf",
                [fragment, leak(format!("#{fragment}"))],
                "settings",
                "sourced 0 times",
            ),
            mutation(
                "the fragment twice",
                "top.qsf",
                [head, with(fragment)],
                "settings",
                "sourced 2 times",
            ),
            mutation(
                "an import",
                "top.qsf",
                [head, with(import)],
                "settings",
                "which does not exist",
            ),
            mutation(
                "a persona",
                "top.qsf",
                [
                    head,
                    with(
                        "set_global_assignment -name INPUT_PERSONA persona/base.personax -section_id Top\n",
                    ),
                ],
                "settings",
                "INPUT_PERSONA",
            ),
            mutation(
                "the ALMs of old",
                "board_spec.xml",
                [num(&work, "alms"), "alms num=\"20000\""],
                "board_spec",
                "alms 20000 is the vendor's",
            ),
            mutation(
                "the registers of old",
                "board_spec.xml",
                [num(&work, "ffs"), "ffs num=\"50000\""],
                "board_spec",
                "ffs 50000",
            ),
            mutation(
                "the memories of old",
                "board_spec.xml",
                [num(&work, "rams"), "rams num=\"300\""],
                "board_spec",
                "rams 300",
            ),
            mutation(
                "no number of ALMs",
                "board_spec.xml",
                [num(&work, "alms"), "alms num=\"many\""],
                "board_spec",
                "not a number",
            ),
            mutation(
                "no ALMs",
                "board_spec.xml",
                [num(&work, "alms"), "olms num=\"1\""],
                "board_spec",
                "missing",
            ),
        ],
    );
    // In a file that the settings source.
    let path = work.output("top.qsf");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(head, more, 1)).unwrap();
    fs::write(work.output("more.tcl"), "# nothing\n").unwrap();
    each_is_found(
        &work,
        &[
            mutation(
                "an import in a sourced file",
                "more.tcl",
                ["# nothing\n", import],
                "settings",
                "which does not exist",
            ),
            mutation(
                "the fragment again in a sourced file",
                "more.tcl",
                ["# nothing\n", fragment],
                "settings",
                "2 times",
            ),
        ],
    );
}

fn leak(text: String) -> &'static str {
    text.leak()
}

/// Returns a figure of the extended board's resources, as its file has it.
fn num(work: &Work, name: &str) -> &'static str {
    let text = fs::read_to_string(work.output("board_spec.xml")).unwrap();
    let at = text.find(&format!("{name} num=\"")).unwrap();
    leak(text[at..].split("/>").next().unwrap().to_string())
}

/// The vendor's compiled shell is distinguished from one that was compiled again.
#[test]
fn an_import_of_the_vendors_partition() {
    let work = Work::new();
    let import = "set_global_assignment -name PARTITION_IMPORT_FILE acl_iface_partition.qxp -section_id \"s:i\"\n";
    let qsf = fs::read_to_string(work.input("top.qsf")).unwrap();
    fs::write(work.input("top.qsf"), format!("{qsf}{import}")).unwrap();
    fs::write(work.input("acl_iface_partition.qxp"), "the vendor's").unwrap();
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    let qsf = fs::read_to_string(work.output("top.qsf")).unwrap();
    fs::write(work.output("top.qsf"), format!("{qsf}{import}")).unwrap();
    fs::write(work.output("acl_iface_partition.qxp"), "the vendor's").unwrap();
    let found = faults(&work);
    assert!(
        found
            .iter()
            .any(|(t, w)| *t == "settings" && w.contains("with the old DMA")),
        "{found:?}"
    );
    fs::write(work.output("acl_iface_partition.qxp"), "compiled again").unwrap();
    assert_eq!(faults(&work), []);
}

/// The reference BSP with several slaves on the BAR and a persona, which gets a bridge and loses a crossing.
#[test]
fn the_second_reference() {
    const BOARD: &str = "board.qsys";
    let work = Work::of(&common::reference_net());
    work.extend("").unwrap();
    let more = "set_global_assignment -name SEARCH_PATH";
    let with = |line: &str| leak(format!("{line}\n{more}"));
    let persona = "set_global_assignment -name INPUT_PERSONA persona/base.root_partition.personax -section_id Top";
    let persona_back = with(persona);
    let swapped = [
        "end=\"copier.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"1\"",
        "end=\"copier.dma_irq\">\n  <parameter name=\"irqNumber\" value=\"0\"",
    ];
    let clock = [
        "start=\"bank_a.afi_clk\"\n   end=\"copier.clk\"",
        "start=\"endpoint.coreclkout\"\n   end=\"copier.clk\"",
    ];
    let enabled = [
        "enabled=\"1\"\n   name=\"peerlane_bar0\"",
        "enabled=\"0\"\n   name=\"peerlane_bar0\"",
    ];
    let fragment = "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf";
    each_is_found(
        &work,
        &[
            mutation(
                "the persona put back",
                "ip_include.tcl",
                [more, persona_back],
                "settings",
                "INPUT_PERSONA",
            ),
            mutation(
                "the fragment out of one revision",
                "base.qsf",
                [fragment, ""],
                "settings",
                "sourced 0 times",
            ),
            mutation(
                "the interrupts swapped",
                BOARD,
                swapped,
                "wiring",
                "both interrupt 0",
            ),
            mutation(
                "the clock of memory",
                BOARD,
                clock,
                "wiring",
                "copier.clk has the clock of endpoint",
            ),
            mutation(
                "the new bridge off",
                BOARD,
                enabled,
                "names",
                "peerlane_bar0 is not enabled",
            ),
            mutation(
                "the new bridge without a clock",
                BOARD,
                ["end=\"peerlane_bar0.clk\"", "end=\"sensors.more\""],
                "wiring",
                "peerlane_bar0.clk is not connected",
            ),
            mutation(
                "the new bridge without a reset",
                BOARD,
                ["end=\"peerlane_bar0.reset\"", "end=\"sensors.more\""],
                "wiring",
                "peerlane_bar0.reset is not connected",
            ),
            mutation(
                "a slave of the BAR moved",
                BOARD,
                ["value=\"0x10000000\"", "value=\"0x08000000\""],
                "bases",
                "the host reaches flash_port",
            ),
        ],
    );
}

/// The vendor's own BSP, extended, passes.
#[test]
fn a_real_one_passes() {
    if let Some(bsp) = common::vendor_bsp() {
        let work = Work::of(&bsp);
        work.extend("").unwrap();
        assert_eq!(faults(&work), []);
    }
}
