//! Whole systems under the mock of Platform Designer (`tcl/elaborate.tcl`). Both reference BSPs and their extensions
//! give no error, and each injected fault gives the message that Platform Designer would give.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, Work, edit, expect, reference, reference_net};
use peerlane_bsp::by_hand::{self, Options, Stream};
use peerlane_bsp::config::Config;
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::hash::sha256;
use peerlane_bsp::system::shell::Board;
use peerlane_bsp_check::component;

const SYSTEM: &str = "acl_iface_system.qsys";
const COMPONENT: &str = "iface/peerlane/peerlane_dma_hw.tcl";
const MSIX: &str = "irq = \"msix\"";
const STREAM: &str = "[port]\nkind = \"tlp\"";

/// Runs the mock on a system or a script; returns whether there was no error, and the messages.
pub(crate) fn elaborate(file: &Path, more: &[&Path]) -> (bool, Vec<String>) {
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcl/elaborate.tcl");
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = tclsh
        .command()
        .arg(stand_in)
        .arg(file)
        .args(more)
        .output()
        .unwrap();
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(failed.is_empty(), "{failed}");
    let said = String::from_utf8_lossy(&run.stdout);
    (run.status.success(), said.lines().map(Into::into).collect())
}

/// Returns the warnings of a system that has no error, and its summary.
pub(crate) fn sound(file: &Path) -> (BTreeSet<String>, String) {
    let (good, mut said) = elaborate(file, &[]);
    assert!(good, "{}: {said:#?}", file.display());
    let summary = said.pop().unwrap();
    // The interrupt of the hard IP's registers: no board uses it, and a TLP port has none.
    let warnings =
        (said.into_iter()).filter(|m| m.starts_with("Warning: ") && !m.contains(".CraIrq "));
    (warnings.collect(), summary)
}

#[test]
fn both_references_and_what_they_become_elaborate() {
    for (bsp, instances, dma) in [
        (reference(), "20 instances", "acl_iface.dma_engine"),
        (reference_net(), "31 instances", "board.copier"),
    ] {
        let work = Work::of(&bsp);
        let (before, summary) = sound(&work.input("system.qsys"));
        assert!(summary.contains(instances), "{summary}");
        // The kernels are missing, which only `aoc` adds.
        assert!(
            before
                .iter()
                .any(|w| w.ends_with("kernel_mem0 must be connected to an Avalon-MM master"))
        );
        for config in ["", MSIX, "channels = 64\natt_entries = 65536"] {
            let work = Work::of(&bsp);
            work.extend(config).unwrap();
            let (mut after, _) = sound(&work.output("system.qsys"));
            assert!(after.is_superset(&before), "{after:#?}");
            // With advanced interrupts the hard IP has an interface for MSI, too, which a function with MSI-X does not
            // use.
            if config == MSIX {
                after.retain(|w| !w.contains(".MSI_Interface ") && !w.contains(".MSI_Control "));
            }
            assert_eq!(after, before, "{config}");
            let (_, said) = elaborate(&work.output("system.qsys"), &[]);
            let places = format!("Info: system.{dma}: Put into BAR ");
            assert!(said.iter().any(|m| m.starts_with(&places)), "{said:#?}");
        }
    }
}

/// Returns the warnings of a board with a TLP port. It leaves out the additional output of Peerlane's component of the
/// hard IP, and the status for a driver at Gen3.
fn streaming(work: &Work) -> BTreeSet<String> {
    let (mut said, _) = sound(&work.output("system.qsys"));
    said.retain(|w| !w.contains(".reconfig_clk_locked ") && !w.contains(".hip_status_drv "));
    said
}

/// With a TLP port all interfaces of the new hard IP fit the block's, role by role.
#[test]
fn a_streaming_port_elaborates() {
    let (before, _) = sound(&reference().join("hardware/peerlane_ref/system.qsys"));
    for config in [format!("{STREAM}\ngen = 3"), STREAM.into()] {
        let work = Work::new();
        work.extend(&config).unwrap();
        assert_eq!(streaming(&work), before, "{config}");
        let (said, _) = sound(&work.output("system.qsys"));
        let waits = said.iter().any(|w| w.contains(".hip_status_drv "));
        assert_eq!(waits, config.contains("gen = 3"), "{said:#?}");
    }
    let (before, _) = sound(&reference_net().join("hardware/peerlane_net/system.qsys"));
    let work = Work::of(&reference_net());
    work.extend(STREAM).unwrap();
    assert_eq!(streaming(&work), before);
    let work = Work::new();
    work.extend(STREAM).unwrap();
    let path = work.output(SYSTEM);
    let whole = fs::read_to_string(&path).unwrap();
    for (from, to, says) in [
        (
            "host_link.lmi",
            "host_link.int_msi",
            "has no signal of role",
        ),
        (
            "end=\"host_link.pld_clk\"",
            "end=\"host_link.refclk\"",
            "host_link.pld_clk must be connected to a clock output",
        ),
        ("ST 128-bit", "ST 256-bit", "role data has 256 bits and 128"),
        (
            "use_tx_cons_cred_sel_hwtcl\" value=\"1\"",
            "use_tx_cons_cred_sel_hwtcl\" value=\"0\"",
            "host_link.tx_cred has no signal of role tx_cons_cred_sel",
        ),
    ] {
        edit(&path, from, to);
        let (_, said) = elaborate(&work.output("system.qsys"), &[]);
        assert!(said.iter().any(|m| m.contains(says)), "{says}: {said:#?}");
        fs::write(&path, &whole).unwrap();
    }
}

/// Removes the connection to an interface from a system.
fn disconnect(file: &Path, end: &str) {
    let text = fs::read_to_string(file).unwrap();
    let at = text.find(&format!("end=\"{end}\"")).unwrap();
    let from = text[..at].rfind("<connection").unwrap();
    let rest = &text[at..];
    let to = match (rest.find("/>"), rest.find("\">\n")) {
        (Some(empty), Some(open)) if open < empty => {
            rest.find("</connection>").unwrap() + "</connection>".len()
        }
        (Some(empty), _) => empty + 2,
        _ => unreachable!(),
    };
    fs::write(file, format!("{}{}", &text[..from], &text[at + to..])).unwrap();
}

/// A fault: the change of a file, and the message.
struct Fault {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    says: &'static str,
}

const fn fault(from: &'static str, to: &'static str, says: &'static str) -> Fault {
    Fault {
        file: SYSTEM,
        from,
        to,
        says,
    }
}

/// Text at the beginning of a connection's addresses.
macro_rules! base {
    ($end:literal, $base:literal) => {
        concat!(
            "end=\"",
            $end,
            "\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  <parameter name=\"baseAddress\" value=\"",
            $base,
            "\""
        )
    };
}

const FAULTS: [Fault; 24] = [
    fault(
        base!("dma_engine.chan", "0x00020000"),
        base!("dma_engine.chan", "0x00028000"),
        "Error: system.acl_iface.control_pipe.m0: acl_iface.dma_engine.chan (0x28000..0x2ffff) overlaps \
         acl_iface.dma_engine.att (0x28000..0x2ffff)",
    ),
    fault(
        base!("dma_engine.att", "0x00028000"),
        base!("dma_engine.att", "0x00040000"),
        "Error: system.acl_iface.control_pipe.m0: acl_iface.dma_engine.att (0x40000..0x47fff) is outside the master's \
         address range (0x0..0x3ffff)",
    ),
    fault(
        base!("dma_engine.csr", "0x3000"),
        base!("dma_engine.csr", "0x3010"),
        "acl_iface.dma_engine.csr: base address 0x3010 must be a multiple of its span 0x400",
    ),
    fault(
        base!("dma_engine.csr", "0x3000"),
        base!("dma_engine.csr", "3000h"),
        "acl_iface.dma_engine.csr: baseAddress \"3000h\" is not an address",
    ),
    fault(
        base!("dma_engine.chan", "0x00020000"),
        base!("dma_engine.chan", "0x00004000"),
        "acl_iface.kernels.kernel_cntrl (0x4000..0x7fff)",
    ),
    fault(
        "name=\"irqNumber\" value=\"1\"",
        "name=\"irqNumber\" value=\"0\"",
        "acl_iface.kernels.kernel_irq_to_host and acl_iface.dma_engine.dma_irq have the same interrupt number 0",
    ),
    fault(
        "name=\"irqNumber\" value=\"1\"",
        "name=\"irqNumber\" value=\"16\"",
        "Error: system.acl_iface.host_link.RxmIrq: acl_iface.dma_engine.dma_irq: interrupt number 16 is not in the \
         range 0..15",
    ),
    fault(
        "end=\"dma_engine.csr\"",
        "end=\"dma_engin.csr\"",
        "Connection control_pipe.m0/dma_engin.csr: there is no instance dma_engin",
    ),
    fault(
        "start=\"dma_engine.mem_rd\"",
        "start=\"dma_engine.mem_read\"",
        "acl_iface.dma_engine has no interface mem_read",
    ),
    fault(
        "end=\"dma_engine.pcie_clk\"",
        "end=\"dma_engine.pcie_reset\"",
        "acl_iface.dma_engine.pcie_reset is of type reset, not clock",
    ),
    fault(
        "end=\"dma_engine.pcie_clk\"",
        "end=\"dma_engine.clk\"",
        "Error: system.acl_iface.dma_engine.clk: acl_iface.dma_engine.clk is connected to more than one clock output",
    ),
    fault(
        "kind=\"peerlane_dma\"",
        "kind=\"peerlane_dmx\"",
        "Error: system.acl_iface.dma_engine: Component peerlane_dmx 1.0 not found or could not be instantiated",
    ),
    fault(
        "name=\"kernel_memory\">",
        "name=\"memory_pipe\">",
        "An instance with name memory_pipe already exists",
    ),
    fault(
        "enabled=\"1\"\n   name=\"memory_reset\"",
        "enabled=\"0\"\n   name=\"memory_reset\"",
        "acl_iface.dma_engine.reset must be connected to a reset source",
    ),
    fault(
        "internal=\"host_link.npor\"",
        "internal=\"host_link.nporr\"",
        "Interface link_npor: acl_iface.host_link has no interface nporr",
    ),
    Fault {
        file: "system.qsys",
        ..fault(
            "internal=\"acl_iface.board_clk\"\n   type=\"clock\"",
            "internal=\"acl_iface.board_clk\"\n   type=\"reset\"",
            "Interface board_clk is declared as reset end, but acl_iface.board_clk.in_clk is clock end",
        )
    },
    fault(
        "name=\"DATA_WIDTH\" value=\"32\"",
        "name=\"DATA_WIDTH\" value=\"48\"",
        "Error: system.acl_iface.bar_pipe: \"DATA_WIDTH\" (DATA_WIDTH) 48 is out of range: 8,16,32,64,128,256,512,1024",
    ),
    // Messages of the component itself, about the facts that Platform Designer reports to it.
    fault(
        "name=\"avmm_width_hwtcl\" value=\"128\"",
        "name=\"avmm_width_hwtcl\" value=\"256\"",
        "Error: system.acl_iface.dma_engine: txs is built for a port of 128 bits and is connected to one of 256",
    ),
    fault(
        "name=\"TX_S_ADDR_WIDTH\" value=\"64\"",
        "name=\"TX_S_ADDR_WIDTH\" value=\"32\"",
        "Error: system.acl_iface.dma_engine: txs sends bus addresses of 64 bits and is connected to 20 address bits",
    ),
    fault(
        base!("host_link.Txs", "0x0000"),
        base!("host_link.Txs", "0x100000"),
        "Error: system.acl_iface.dma_engine: txs sends bus addresses: its slave must have the base address 0",
    ),
    fault(
        "<parameter name=\"NUM_BANKS\" value=\"1\" />\n  <parameter name=\"DATA_WIDTH\" value=\"512\" />\n  <parameter \
         name=\"ADDRESS_WIDTH\" value=\"32\"",
        "<parameter name=\"NUM_BANKS\" value=\"1\" />\n  <parameter name=\"DATA_WIDTH\" value=\"512\" />\n  <parameter \
         name=\"ADDRESS_WIDTH\" value=\"30\"",
        "The block accepts addresses up to 4096 MiB, but memory ends at 1024 MiB",
    ),
    fault(
        "start=\"dma_engine.mem_wr\"\n   end=\"memory.s\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  \
         <parameter name=\"baseAddress\" value=\"0x0000\"",
        "start=\"dma_engine.mem_wr\"\n   end=\"memory.s\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  \
         <parameter name=\"baseAddress\" value=\"0x100000000\"",
        "mem_rd and mem_wr have different addresses",
    ),
    fault(
        "name=\"MEM_CLK_FREQ\" value=\"800.0\"",
        "name=\"MEM_CLK_FREQ\" value=\"1600.0\"",
        "Warning: system.acl_iface.dma_engine: clk has 400000000 Hz",
    ),
    Fault {
        file: COMPONENT,
        ..fault(
            "set_parameter_value $parameter $value",
            "set_parameter_value ${parameter}S $value",
            "Error: system.acl_iface.dma_engine: there is no parameter CHANNELSS",
        )
    },
];

#[test]
fn planted_faults_are_told() {
    let original = Work::new();
    original.extend("").unwrap();
    for Fault {
        file,
        from,
        to,
        says,
    } in FAULTS
    {
        let work = Work::of(&original.out);
        let file = work.input(file);
        edit(&file, from, to);
        let (good, said) = elaborate(&work.input("system.qsys"), &[]);
        let told = said.iter().any(|message| message.contains(says));
        assert!(told, "{from:?} → {to:?}: {said:#?}");
        let error = said.iter().any(|message| message.starts_with("Error: "));
        assert_eq!(good, !error, "{said:#?}");
        assert!(error || says.starts_with("Warning"), "{said:#?}");
    }
}

#[test]
fn what_is_not_connected_is_told() {
    let original = Work::of(&reference_net());
    original.extend(MSIX).unwrap();
    for (end, says) in [
        (
            "copier.pcie_clk",
            "Error: system.board.copier.pcie_clk: board.copier.pcie_clk must be connected to a clock output",
        ),
        (
            "copier.reset",
            "Error: system.board.copier.reset: board.copier.reset must be connected to a reset source",
        ),
        (
            "copier.chan",
            "Warning: system.board.copier.chan: board.copier.chan must be connected to an Avalon-MM master",
        ),
        (
            "endpoint.Txs",
            "Warning: system.board.copier.txs: board.copier.txs must be connected to an Avalon-MM slave",
        ),
        (
            "copier.dma_irq",
            "Warning: system.board.copier.dma_irq: Interrupt sender board.copier.dma_irq is not connected to an \
             interrupt receiver",
        ),
        (
            "copier.intx",
            "Warning: system.board.copier.intx: board.copier.intx must be exported, or connected to a matching conduit.",
        ),
        (
            "flash_port.clk",
            "board.flash_port.clk must be connected to a clock output",
        ),
    ] {
        let work = Work::of(&original.out);
        disconnect(&work.input("board.qsys"), end);
        let (good, said) = elaborate(&work.input("system.qsys"), &[]);
        assert!(
            said.iter().any(|message| message.contains(says)),
            "{end}: {said:#?}"
        );
        assert_eq!(
            good,
            !says.contains("must be connected to a clock") && !says.contains("reset source")
        );
    }
    // Wires that do not belong together.
    let work = Work::of(&original.out);
    edit(
        &work.input("board.qsys"),
        "end=\"copier.msix_control\"",
        "end=\"copier.intx\"",
    );
    let (_, said) = elaborate(&work.input("system.qsys"), &[]);
    let says = "Connection board.endpoint.MSIX_Interface/board.copier.intx: board.copier.intx has no signal of role \
                msix_intfc";
    assert!(
        said.iter().any(|message| message.contains(says)),
        "{said:#?}"
    );
    // Only some families have the interrupt interfaces.
    let work = Work::of(&original.out);
    edit(
        &work.input("system.qsys"),
        "value=\"Stratix V\"",
        "value=\"Cyclone V\"",
    );
    let (good, said) = elaborate(&work.input("system.qsys"), &[]);
    let says = "This build has an MSI-X table";
    assert!(
        !good && said.iter().any(|message| message.contains(says)),
        "{said:#?}"
    );
}

/// A description in the form of SOPC Builder, with a command that the mock does not know, and a kind without one.
#[test]
fn components_of_others_elaborate() {
    const TIMER: &str = "package require -exact sopc 10.0\n\
        set_module_property NAME own_timer\nset_module_property ANALYZE_HDL FALSE\n\
        set_module_property REPORT_TO_TALKBACK false\nset_module_property TOP_LEVEL_HDL_FILE own_timer.v\n\
        add_file own_timer.v {SYNTHESIS SIMULATION}\nan_unknown_command\n\
        add_parameter WIDTH INTEGER 32\nadd_interface clock_reset clock end\n\
        add_interface_port clock_reset clk clk Input 1\nadd_interface_port clock_reset resetn reset_n Input 1\n\
        add_interface s avalon end\nset_interface_property s ASSOCIATED_CLOCK clock_reset\n\
        set_interface_property s addressAlignment DYNAMIC\nadd_interface_port s a address Input 2\n\
        add_interface_port s r read Input 1\nadd_interface_port s d readdata Output WIDTH\n";
    const TOP: &str = "create_system top\nadd_instance clk clock_source\n\
        add_instance bridge altera_avalon_mm_bridge\nadd_instance timer own_timer\n\
        set_instance_parameter_value timer WIDTH 64\nadd_instance other nobodys_kind 2.0\n\
        foreach {start end} {clk.clk bridge.clk clk.clk_reset bridge.reset clk.clk timer.clock_reset \
            clk.clk_reset timer.clock_reset_reset clk.clk other.clk} { add_connection $start $end }\n\
        foreach {name type inner} {clk clock clk.clk_in reset reset clk.clk_in_reset} {\n\
            add_interface $name $type end\nset_interface_property $name EXPORT_OF $inner\n}\n\
        foreach {end base} {timer.s 0 other.s 0x20} {\nadd_connection bridge.m0 $end avalon\n\
            set_connection_parameter_value bridge.m0/$end baseAddress $base\n}\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own_timer_hw.tcl"), TIMER).unwrap();
    let top = dir.path().join("top.tcl");
    fs::write(&top, TOP).unwrap();
    let (good, said) = elaborate(&top, &[]);
    assert!(good, "{said:#?}");
    let note =
        "Note: top.other: The kind nobodys_kind 2.0 is unknown: its connections are not checked";
    assert!(said.iter().any(|m| m == note), "{said:#?}");
    let (_, said) = elaborate(&top, &[Path::new("-interfaces")]);
    // 4 words of 64 bits.
    for line in [
        "port timer.s readdata Output 64",
        "slave bridge.m0 timer.s 0 32",
        "unknown other",
    ] {
        assert!(said.iter().any(|m| m == line), "{line}: {said:#?}");
    }
}

/// The elaboration sets the derived parameters and overrides other values.
#[test]
fn parameters_are_those_of_the_build() {
    let work = Work::new();
    work.extend("channels = 4\natt_entries = 512").unwrap();
    let file = work.output(COMPONENT);
    let made = component::run(&file).unwrap();
    for (name, value) in [
        ("CHANNELS", "4"),
        ("ATT_ENTRIES", "512"),
        ("PORT_BITS", "128"),
        ("INTERRUPTS", "line"),
        ("CSR_BASE", "0x3000"),
        ("MSIX_BASE", "none"),
    ] {
        assert_eq!(made.parameters.get(name).map(String::as_str), Some(value));
    }
    edit(
        &file,
        "add_parameter CHANNELS INTEGER 4",
        "add_parameter CHANNELS INTEGER 8",
    );
    assert_eq!(component::run(&file).unwrap(), made);
    for (from, to, says) in [
        ("UNITS Bits", "UNITS Bit", "UNITS cannot be \"Bit\""),
        ("DERIVED true", "DERIVED false", "CHANNELS is not derived"),
        (
            "add_parameter CHANNELS INTEGER 8",
            "add_parameter CHANNELS INTEGER many",
            "\"many\" is not of type INTEGER",
        ),
        (
            "ELABORATION_CALLBACK elaborate",
            "ELABORATION_CALLBACK elaborated",
            "elaborated",
        ),
        (
            "SYSTEM_INFO_TYPE $info",
            "SYSTEM_INFO_TYP $info",
            "no property SYSTEM_INFO_TYP",
        ),
        (
            "CLOCK_RATE pcie_clk",
            "CLOCK_RATE pci_clk",
            "there is no interface pci_clk",
        ),
        (
            "proc validate {} {",
            "proc validate {} { set_parameter_value BAR 1",
            "is not permitted in the validation callback",
        ),
        (
            "send_message info",
            "send_message note",
            "no message level note",
        ),
        ("/peerlane_dma.html", "/peerlane.html", "does not exist"),
    ] {
        let text = fs::read_to_string(&file).unwrap();
        edit(&file, from, to);
        let error = component::run(&file).expect_err(to);
        assert!(error.what.to_string().contains(says), "{to}: {error}");
        fs::write(&file, text).unwrap();
    }
    // The check compares them with the record of the build.
    edit(&file, "        CHANNELS 4 ", "        CHANNELS 2 ");
    let findings =
        peerlane_bsp_check::check(&peerlane_bsp::layout::Layout::find(&work.out).unwrap()).unwrap();
    let says = "its parameter CHANNELS is 2, but the build has 4";
    assert!(
        findings.0.iter().any(|f| f.what.to_string() == says),
        "{findings:#?}"
    );
}

fn options(dir: &Path, config: &str) -> Options {
    Options {
        out: dir.join("block"),
        config: (
            Config::parse(Path::new("c.toml"), config).unwrap(),
            PathBuf::from("c.toml"),
        ),
        bar: 0,
        csr: 0xc800,
        window: Some(0x1_0000),
        memory: 4 << 30,
        stream: Stream::default(),
        board: None,
    }
}

const PLACES: &str = "[bar]\nchan_base = 0x20000\natt_base = 0x28000\n";

/// A system that a user makes by hand, in the commands of qsys-script.
const BY_HAND: &str = r#"
    create_system by_hand
    set_project_property DEVICE_FAMILY "Stratix V"
    add_instance pcie altera_pcie_sv_hip_avmm
    foreach {name value} {bar0_type_hwtcl 1 AVALON_ADDR_WIDTH 64 TX_S_ADDR_WIDTH 64} {
        set_instance_parameter_value pcie $name $value
    }
    add_instance ddr altera_mem_if_ddr3_emif
    add_instance bar altera_avalon_mm_bridge
    set_instance_parameter_value bar ADDRESS_WIDTH 18
    add_instance block peerlane_dma
    foreach {start ends} {
        pcie.coreclkout {bar.clk block.pcie_clk} pcie.nreset_status {bar.reset block.pcie_reset}
        ddr.afi_clk block.clk ddr.afi_reset block.reset
    } {
        foreach end $ends { add_connection $start $end }
    }
    foreach {start end base} {
        pcie.Rxm_BAR0 bar.s0 0 bar.m0 pcie.Cra 0 bar.m0 block.csr 0xc800 bar.m0 block.s_nondma 0x10000
        bar.m0 block.chan 0x20000 bar.m0 block.att 0x28000 block.txs pcie.Txs 0
        block.mem_rd ddr.avl 0 block.mem_wr ddr.avl 0 block.mem_win ddr.avl 0
    } {
        add_connection $start $end
        set_connection_parameter_value $start/$end baseAddress $base
    }
    add_connection pcie.RxmIrq block.dma_irq
    set_connection_parameter_value pcie.RxmIrq/block.dma_irq irqNumber 1
    foreach {name type inner} {
        refclk clock pcie.refclk npor conduit pcie.npor serial conduit pcie.hip_serial
        ddr_clk clock ddr.pll_ref_clk memory conduit ddr.memory oct conduit ddr.oct
        ddr_reset reset ddr.global_reset ddr_soft reset ddr.soft_reset
    } {
        add_interface $name $type end
        set_interface_property $name EXPORT_OF $inner
    }
"#;

#[test]
fn a_component_by_hand_elaborates_in_a_system_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let asked = options(dir.path(), PLACES);
    let made = by_hand::write(&asked).unwrap();
    let files = fs::read_dir(asked.out.join(by_hand::DIR)).unwrap().count();
    assert_eq!(files, made.files);
    let settings = fs::read_to_string(asked.out.join(by_hand::DIR).join("peerlane.qsf")).unwrap();
    assert!(
        settings.contains("SDC_FILE ip/peerlane_dma/peerlane_dma.sdc"),
        "{settings}"
    );
    let help = asked.out.join(by_hand::DIR).join("peerlane_dma.html");
    let help = fs::read_to_string(help).unwrap();
    assert!(
        help.contains("gives the offset in the BAR is known for Quartus\n16.0 and 17.0"),
        "{help}"
    );

    let script = dir.path().join("by_hand.tcl");
    fs::write(&script, BY_HAND).unwrap();
    let (good, said) = elaborate(&script, &[&asked.out]);
    assert!(good, "{said:#?}");
    let places = "Info: by_hand.block: Put into BAR 0: csr at 0xc800, chan at 0x20000, att at 0x28000, s_nondma at \
                  0x10000. BUILD_ID identifies these places.";
    assert!(said.iter().any(|message| message == places), "{said:#?}");

    // The hard IP as its vendor leaves it, and a memory in two pieces.
    for (from, to, says) in [
        (
            "AVALON_ADDR_WIDTH 64 TX_S_ADDR_WIDTH 64",
            "AVALON_ADDR_WIDTH 32",
            "is connected to 21 address bits",
        ),
        (
            "ddr.avl 0 block.mem_wr",
            "ddr.avl 0x100000000 block.mem_wr",
            "FPGA memory has a hole from 0 MiB to 4096 MiB",
        ),
        ("\"Stratix V\"", "\"Arria 10\"", "not for Arria 10"),
    ] {
        fs::write(&script, BY_HAND.replace(from, to)).unwrap();
        let (_, said) = elaborate(&script, &[&asked.out]);
        assert!(
            said.iter().any(|message| message.contains(says)),
            "{to}: {said:#?}"
        );
    }
}

const STREAM_PLACES: &str = "[bar]\nchan_base = 0x20000\natt_base = 0x28000\nmsix_base = 0x30000\n";

/// Returns this system with a TLP port: the block next to Peerlane's component of the hard IP, its slaves inside it.
fn by_hand_streaming() -> String {
    let text = BY_HAND
        .replace("altera_pcie_sv_hip_avmm", "peerlane_pcie_hip")
        .replace(
            "{bar0_type_hwtcl 1 AVALON_ADDR_WIDTH 64 TX_S_ADDR_WIDTH 64}",
            "{bar0_type_hwtcl 1 bar0_size_mask_hwtcl 19 ast_width_hwtcl {Avalon-ST 128-bit} lane_mask_hwtcl x8\n        \
             gen123_lane_rate_mode_hwtcl {Gen2 (5.0 Gbps)} use_tx_cons_cred_sel_hwtcl 1 extend_tag_field_hwtcl 64}",
        )
        .replace(
            "pcie.coreclkout {bar.clk block.pcie_clk} pcie.nreset_status {bar.reset block.pcie_reset}",
            "pcie.coreclkout_hip block.coreclkout_hip block.coreclkout {pcie.pld_clk bar.clk block.pcie_clk}\n        \
             block.nreset_status {bar.reset block.pcie_reset} pcie.rx_st block.rx_st block.tx_st pcie.tx_st\n        \
             pcie.rx_bar_be block.rx_bar_be pcie.tx_cred block.tx_cred pcie.config_tl block.config_tl\n        \
             pcie.hip_rst block.hip_rst pcie.hip_status block.hip_status pcie.int_msi block.int_msi\n        \
             pcie.lmi block.lmi pcie.power_mngt block.power_mngt",
        )
        .replace("pcie.Rxm_BAR0 bar.s0 0 bar.m0 pcie.Cra 0 bar.m0 block.csr 0xc800 bar.m0 block.s_nondma 0x10000", "block.Rxm_BAR0 bar.s0 0 bar.m0 block.Cra 0 bar.m0 block.s_nondma 0x10000")
        .replace("bar.m0 block.chan 0x20000 bar.m0 block.att 0x28000 block.txs pcie.Txs 0\n", "\n");
    let interrupt = "    add_connection pcie.RxmIrq block.dma_irq\n    set_connection_parameter_value \
                     pcie.RxmIrq/block.dma_irq irqNumber 1\n";
    assert!(text.contains(interrupt));
    text.replace(interrupt, "")
}

/// The block with a TLP port, without a BSP.
#[test]
fn a_component_with_a_streaming_port_is_made_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let mut asked = options(dir.path(), &format!("{STREAM}\n{STREAM_PLACES}"));
    asked.stream.bar_bytes = Some(1 << 19);
    let made = by_hand::write(&asked).unwrap();
    assert_eq!((made.board.bar_log2, made.board.clock_mhz), (Some(19), 250));
    let own = asked.out.join(by_hand::DIR);
    assert_eq!(fs::read_dir(&own).unwrap().count(), made.files);
    let settings = fs::read_to_string(own.join("peerlane.qsf")).unwrap();
    for line in settings.lines().filter(|line| line.contains("SDC_FILE")) {
        let file = line.rsplit('/').next().unwrap();
        assert!(own.join(file).is_file(), "{line}");
    }
    assert!(own.join("peerlane_pcie_hip_hw.tcl").is_file());
    let help = fs::read_to_string(own.join("peerlane_dma.html")).unwrap();
    assert!(
        help.contains("coreclkout_hip") && help.contains("peerlane_pcie_hip"),
        "{help}"
    );
    assert!(
        help.contains("The block tolerates a reset of either side alone"),
        "{help}"
    );

    let script = dir.path().join("by_hand.tcl");
    fs::write(&script, by_hand_streaming()).unwrap();
    let (good, said) = elaborate(&script, &[&asked.out]);
    assert!(good, "{said:#?}");
    let places = "Put into BAR 0: csr at 0xc800, chan at 0x20000, att at 0x28000, msix at 0x30000";
    assert!(
        said.iter().any(|message| message.contains(places)),
        "{said:#?}"
    );
    // Arria V GZ has the same hard IP, Arria V has not.
    for (family, refused) in [("Arria V GZ", false), ("Arria V", true)] {
        let text = by_hand_streaming().replace("\"Stratix V\"", &format!("\"{family}\""));
        fs::write(&script, text).unwrap();
        let (_, said) = elaborate(&script, &[&asked.out]);
        let says = "are known for Stratix V and Arria V GZ";
        let told = said.iter().any(|message| message.contains(says));
        assert_eq!(told, refused, "{family}: {said:#?}");
    }
}

#[test]
fn a_component_that_cannot_be_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let good = options(dir.path(), PLACES);
    let with = |change: &dyn Fn(&mut Options)| {
        let mut options = good.clone();
        change(&mut options);
        let error = by_hand::write(&options).unwrap_err();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{error}");
        common::one_paragraph(&error);
        error
    };
    let parsed = |text: &str| Config::parse(Path::new("c.toml"), text).unwrap();
    let stream = format!("{STREAM}\n{STREAM_PLACES}");
    let streams = |bytes, clock_mhz| {
        with(&|o| {
            o.config.0 = parsed(&stream);
            o.stream = Stream {
                bar_bytes: Some(bytes),
                clock_mhz,
            };
        })
    };
    for (error, says) in [
        (
            with(&|o| o.config.0 = parsed("")),
            "bar.chan_base is not set",
        ),
        (
            with(&|o| o.config.0 = parsed(&format!("{MSIX}\n{PLACES}"))),
            "bar.msix_base is not set",
        ),
        (
            with(&|o| o.csr = 0xc900),
            "--csr = 0xc900 is not a place for csr",
        ),
        (with(&|o| o.csr = 0x2_0400), "csr at 0x20400 lies in chan"),
        (with(&|o| o.window = Some(0x2_0000)), "lies in"),
        (with(&|o| o.memory = 0), "--memory 0x0"),
        (with(&|o| o.memory = 1 << 41), "--memory"),
        (with(&|o| o.bar = 6), "--bar 6"),
        (
            with(&|o| o.stream.bar_bytes = Some(1 << 19)),
            "are options of a TLP port",
        ),
        (
            with(&|o| o.stream.clock_mhz = Some(250)),
            "are options of a TLP port",
        ),
        (
            with(&|o| o.config.0 = parsed(&stream)),
            "--bar-size is missing",
        ),
        (streams(1 << 17, None), "slaves end at 0x31000"),
        (streams(3 << 18, None), "power of two"),
        (streams(1 << 32, None), "4KiB to 2GiB"),
        (streams(1 << 19, Some(200)), "--clock 200"),
    ] {
        assert_eq!(error.kind, ErrorKind::Config, "{error}");
        assert!(error.paragraph().contains(says), "{error}");
    }
    fs::create_dir(&good.out).unwrap();
    assert_eq!(by_hand::write(&good).unwrap_err().kind, ErrorKind::Output);
}

/// The driver finds a block that was made by hand by a description whose other lines the user gives.
#[test]
fn a_component_made_by_hand_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let rest = dir.path().join("my_board");
    let lines = "name my_board\npci 1172:ab00:*:504c\nmemory 0x100000000\nclock 250000000\nline 0x8000 1 none\n";
    let mut asked = options(dir.path(), PLACES);
    let plain = by_hand::write(&asked).unwrap();
    asked.board = Some(rest.clone());
    for (from, to, number) in [
        ("pci 1172", "pci 11", Some(2)),
        ("clock 2", "clock x", Some(4)),
        ("memory 0x100000000\n", "", None),
    ] {
        asked.out = dir.path().join("refused");
        assert!(lines.contains(from));
        fs::write(&rest, lines.replace(from, to)).unwrap();
        let error = by_hand::write(&asked).unwrap_err();
        expect(&error, ErrorKind::Config, &["docs/fpga/README.md"]);
        assert_eq!(
            (error.place.path.as_path(), error.place.line),
            (rest.as_path(), number)
        );
        assert!(!asked.out.exists());
    }
    fs::write(&rest, lines).unwrap();
    asked.out = dir.path().join("described");
    let made = by_hand::write(&asked).unwrap();
    assert_ne!(made.ids.build, plain.ids.build);
    let text = fs::read_to_string(asked.out.join("peerlane.board")).unwrap();
    let board = Board::parse(&text, 0, sha256).unwrap();
    assert_eq!(board.build_id, made.ids.build);
    assert_eq!((board.name, board.shell.clock), ("my_board", 250_000_000));
    assert!(
        text.contains(" bar=0 csr=0xc800 chan=0x20000 att=0x28000 "),
        "{text}"
    );
}
