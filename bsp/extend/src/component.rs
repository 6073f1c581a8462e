//! The files that describe the block to Platform Designer and Quartus, from templates.

use std::collections::BTreeSet;

use askama::Template;

use crate::file_edits::marker;
use crate::hard_ip::OWN_CVP;
use crate::logic;
use crate::parameters::{self, Parameter};
use crate::settings::{Import, Settings};
use peerlane_bsp_design::kinds::OWN_HIP;
use peerlane_bsp_generate::block::logic::Names;
use peerlane_bsp_generate::block::{self, Interface};
use peerlane_bsp_generate::config::{Config, Irq};
use peerlane_bsp_generate::generator::{Board, Ids, VerilogModule};
use peerlane_bsp_generate::logic::Stream;
use peerlane_bsp_platform::layout::SCRIPT_DIR;
use peerlane_bsp_platform::roles::{NEW_DMA, Role};
use peerlane_bsp_platform::text::render;

pub use crate::step::Written;

/// Name of the first register that takes a bus from another clock, as the Verilog spells it. The synchronisers of the
/// RTL call it `meta`, and the Verilog back-end adds `_q`.
const FIRST_STAGE: &str = "meta_q";
/// Names of the first registers that take the words of `tl_cfg`: `early_add` and `early_ctl`
/// (`hdl/src/pcie/config.rs`). `?` stands for one character.
const EARLY: &str = "early_???_q";
/// Most skew between the bits of a Gray-coded pointer, as a part of a period of the sending clock: two bits may not
/// change in one period (FIFO user guide 683522, "SDC Commands": less than a launch clock). A fifth is reserved for the
/// clocks' own uncertainty.
const SKEW_PART: &str = "0.8";
/// MHz of the fastest clock for which [`MAX_SKEW_NS`] is valid: faster than the hard IP's clock and memory clocks.
const FASTEST_MHZ: &str = "300";
/// The most skew in nanoseconds, for versions of Quartus whose `set_max_skew` takes no period (17.0 takes one: Quartus
/// Prime 17.0 help, `::quartus::sdc_ext`).
const MAX_SKEW_NS: &str = "2.6";

#[derive(Template)]
#[template(path = "peerlane_dma_hw.tcl")]
struct HwTcl<'a> {
    kind: &'a str,
    top: &'a str,
    version: &'a str,
    modules: &'a [VerilogModule],
    interfaces: &'a [Interface],
    parameters: &'a [Parameter],
    board: &'a Board,
    /// The slaves' places in words.
    places: &'a str,
    msix: bool,
    /// Whether the port is a stream of packets.
    stream: bool,
    txs_addr_bits: u32,
    fastest_mhz: &'a str,
    /// Name of the help file.
    help: &'a str,
}

/// The help that the component links to.
#[derive(Template)]
#[template(path = "peerlane_dma.html")]
struct Help<'a> {
    build_id: String,
    dir: &'a str,
    parameters: &'a [Parameter],
    board: &'a Board,
    places: &'a str,
    msix: bool,
    stream: bool,
    /// The hard IP's table size field: the number of vectors less one (PCI Local Bus Specification 3.0, 6.8.2.3).
    last_vector: u32,
    /// Offset of the pending bits in the slave `msix`.
    pba: String,
    /// Streams of the FPGA's logic, with their interfaces.
    logic: Vec<(Names, &'a Stream)>,
}

#[derive(Template)]
#[template(path = "peerlane_dma.sdc")]
struct Sdc<'a> {
    kind: &'a str,
    first_stage: &'a str,
    skew_part: &'a str,
    max_skew_ns: &'a str,
    fastest_mhz: &'a str,
}

/// Constraints of the hard IP's Avalon-ST variant, which has none of its own.
#[derive(Template)]
#[template(path = "peerlane_pcie.sdc")]
struct HipSdc {
    kind: &'static str,
    /// Prefix in the Verilog of the first registers that take the words of the hard IP's configuration.
    early: &'static str,
    /// Whether the hard IP has the soft reset controller.
    soft_reset: bool,
}

/// Peerlane's own component of that variant.
#[derive(Template)]
#[template(path = "peerlane_pcie_hip_hw.tcl")]
struct HipTcl<'a> {
    kind: &'a str,
    version: &'a str,
    cvp: &'a str,
}

/// Makes the files of the hard IP's component in a directory of the Quartus project: the component and its constraints.
pub fn hip_files(dir: &str, soft_reset: bool) -> [Written; 2] {
    let component = HipTcl {
        kind: OWN_HIP,
        version: block::COMPONENT_VERSION,
        cvp: OWN_CVP,
    };
    [
        (format!("{OWN_HIP}_hw.tcl"), render(&component)),
        (
            HIP_SDC.to_string(),
            render(&HipSdc {
                kind: NEW_DMA,
                early: EARLY,
                soft_reset,
            }),
        ),
    ]
    .map(|(name, text)| Written {
        path: format!("{dir}/{name}").into(),
        text,
    })
}

/// Name of the file of the hard IP's constraints.
const HIP_SDC: &str = "peerlane_pcie.sdc";

#[derive(Template)]
#[template(path = "peerlane.qsf")]
struct Qsf<'a> {
    kind: &'a str,
    dir: &'a str,
    stream: bool,
    first_stage: &'a str,
}

#[derive(Template)]
#[template(path = "rebuild.tcl")]
struct RebuildTcl<'a> {
    dir: &'a str,
    project: &'a str,
    /// The base revision; empty if the project has none.
    base: &'a str,
    /// The revision that imports the result of the base revision.
    importer: &'a str,
    imports: &'a [Import],
    /// Files of the imports, each once.
    files: BTreeSet<&'a str>,
    images: &'a [String],
    archives: &'a [String],
    marker: String,
}

impl RebuildTcl<'_> {
    /// Formats a text as a word of Tcl: unchanged if possible.
    fn word(text: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        match !text.is_empty() && text.chars().all(plain) {
            true => text.into(),
            false => element(text),
        }
    }

    /// Formats an import as a list of Tcl. A setting that the vendor's project lacks gets Quartus's value for an active
    /// import.
    fn words(import: &Import) -> String {
        let set = |value: &str, usual: &str| match (value, import.is_persona()) {
            ("", false) => usual.to_string(),
            _ => value.to_string(),
        };
        let words = [
            import.revision.clone(),
            import.assignment.clone(),
            import.file.clone(),
            import.section.clone(),
            set(&import.netlist, "POST_FIT"),
            set(&import.ignore_changes, "ON"),
        ];
        let words: Vec<_> = words.iter().map(|word| element(word)).collect();
        format!("{{ {} }}", words.join(" "))
    }
}

/// Formats a text as an element of a list of Tcl in braces (`Tcl(n)`, rule 6): in braces itself, unless its own braces
/// would not match.
fn element(text: &str) -> String {
    let mut depth = 0i32;
    let matching = text.chars().all(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth >= 0 && c != '\\'
    });
    if matching && depth == 0 {
        return format!("{{{text}}}");
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let escaped = text.chars().map(|c| match plain(c) {
        true => c.to_string(),
        false => format!("\\{c}"),
    });
    escaped.collect()
}

/// Returns Platform Designer's word for the type of an interface, and its side.
fn interface_type(role: &Role) -> &'static str {
    match role {
        Role::Master => "avalon start",
        Role::Slave => "avalon end",
        Role::ClockSource => "clock start",
        Role::ClockSink => "clock end",
        Role::ResetSource => "reset start",
        Role::ResetSink => "reset end",
        Role::IrqReceiver => "interrupt start",
        Role::IrqSender => "interrupt end",
        Role::Conduit => "conduit end",
        Role::StreamSource => "avalon_streaming start",
        Role::StreamSink => "avalon_streaming end",
    }
}

/// Makes the block's files: Verilog, component with its help, constraints. `dir` is their directory in the Quartus
/// project.
pub fn ip_files(
    dir: &str,
    config: &Config,
    board: &Board,
    ids: Ids,
    modules: &[VerilogModule],
) -> Vec<Written> {
    let interfaces = block::interfaces(config, board.port_bits, board.slaves.bar);
    let kind = NEW_DMA;
    let msix = config.irq == Irq::Msix;
    let stream = config.has_tlp_port();
    let parameters = parameters::parameters(config, board, ids);
    let places: Vec<_> = parameters::places(board)
        .into_iter()
        .filter_map(|(name, at)| Some(format!("{name} at {:#x}", at?)))
        .collect();
    let places = places.join(", ");
    let help = format!("{kind}.html");
    let hw_tcl = HwTcl {
        kind,
        top: block::top(config),
        version: block::COMPONENT_VERSION,
        modules,
        interfaces: &interfaces,
        parameters: &parameters,
        board,
        places: &places,
        msix,
        stream,
        txs_addr_bits: block::TXS_ADDR_BITS,
        fastest_mhz: FASTEST_MHZ,
        help: &help,
    };
    let about = Help {
        build_id: format!("{:#010x}", ids.build),
        dir,
        parameters: &parameters,
        board,
        places: &places,
        msix,
        stream,
        last_vector: config.vectors() - 1,
        pba: format!("{:#x}", block::PBA_OFFSET),
        logic: logic::at_the_block(&config.streams).collect(),
    };
    let sdc = Sdc {
        kind,
        first_stage: FIRST_STAGE,
        skew_part: SKEW_PART,
        max_skew_ns: MAX_SKEW_NS,
        fastest_mhz: FASTEST_MHZ,
    };
    let qsf = Qsf {
        kind,
        dir,
        stream,
        first_stage: FIRST_STAGE,
    };
    let verilog = modules.iter().map(|m| (m.file_name(), m.text.clone()));
    let others = [
        (format!("{kind}_hw.tcl"), render(&hw_tcl)),
        (help.clone(), render(&about)),
        (format!("{kind}.sdc"), render(&sdc)),
        ("peerlane.qsf".into(), render(&qsf)),
    ];
    let named = |(name, text)| Written {
        path: format!("{dir}/{name}").into(),
        text,
    };
    verilog.chain(others).map(named).collect()
}

/// Facts about the board's compile, for the script that makes the imported files again, and for people.
#[derive(Debug, Default)]
pub struct Compile {
    /// The Quartus project.
    pub project: String,
    /// The base revision, if another one imports its result; otherwise empty.
    pub base: String,
    /// Whether the project imported compiled files.
    pub imports: bool,
    /// Whether each kernel's compile compiles the whole board: the vendor's kernels were compiled on the base's
    /// persona, which is for configuration over PCIe, and the board no longer has that.
    pub whole: bool,
    /// Programming files of the base revision that were left out.
    pub images: Vec<String>,
    /// Archives and databases that steps of the flow use, and that the script does not make again.
    pub archives: Vec<String>,
}

impl Compile {
    /// Reads the facts from the settings; `loses_cvp`: configuration over PCIe is lost.
    pub fn of(settings: &Settings, loses_cvp: bool) -> Self {
        let persona = settings.imports.iter().any(Import::is_persona);
        let base = settings.base.clone().filter(|_| persona);
        Self {
            base: base.unwrap_or_default(),
            imports: !settings.imports.is_empty(),
            whole: persona && loses_cvp,
            ..Self::default()
        }
    }
}

/// Makes the script that makes the imported files again, if there are any.
pub fn scripts(compile: &Compile, settings: &Settings) -> Vec<Written> {
    let imports = settings.imports.as_slice();
    let Some(first) = imports.iter().find(|i| i.is_persona()).or(imports.first()) else {
        return Vec::new();
    };
    let files: BTreeSet<&str> = imports.iter().map(|import| import.file.as_str()).collect();
    let script = RebuildTcl {
        dir: SCRIPT_DIR,
        project: &compile.project,
        base: &compile.base,
        importer: &first.revision,
        imports,
        files,
        images: &compile.images,
        archives: &compile.archives,
        marker: marker(),
    };
    vec![Written {
        path: format!("{SCRIPT_DIR}/rebuild.tcl").into(),
        text: render(&script),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_one_element_of_a_list() {
        for (text, want) in [
            ("", "{}"),
            ("top", "{top}"),
            ("a b [x] $y", "{a b [x] $y}"),
            ("a{b}", "{a{b}}"),
            ("a b{", "a\\ b\\{"),
            ("}{", "\\}\\{"),
            ("a\\b", "a\\\\b"),
        ] {
            assert_eq!(element(text), want);
        }
        assert_eq!(RebuildTcl::word("top"), "top");
        assert_eq!(RebuildTcl::word("my top"), "{my top}");
    }
}
