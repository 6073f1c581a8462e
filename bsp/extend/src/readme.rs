//! The platform's README: the steps from the extended files to a board that moves data.

use std::path::{Path, PathBuf};

use askama::Template;

use crate::component::Compile;
use crate::identity::PciIds;
use crate::step::{Change, Step, Written};
use crate::version::{Description, Source, Version};
use peerlane_bsp_generate::logic::Stream;
use peerlane_bsp_platform::layout::{Layout, SCRIPT_DIR};
use peerlane_bsp_platform::text::render;

/// Name of the README, in the platform's root.
const FILE: &str = "README.md";

/// Facts for the README.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// The board's name.
    pub board: &'a str,
    /// The board's usual name, if `peerlane new` made the board: then there is no vendor's BSP.
    pub title: Option<&'a str>,
    /// The vendor's name of the board.
    pub vendors_board: &'a str,
    /// The board's directory in the platform.
    pub hardware: &'a Path,
    /// The version of the SDK that the platform is for.
    pub version: &'a Version,
    /// PCI IDs.
    pub ids: PciIds,
    /// Hash of the register map.
    pub map_id: u32,
    /// Hash of the map and the build parameters.
    pub build_id: u32,
    /// Facts about the board's compile.
    pub compile: &'a Compile,
    /// The paragraph on configuration over PCIe, if the board is for that.
    pub cvp: Option<String>,
    /// Whether the vendor's board is configured over PCIe, and this board is not.
    pub loses_cvp: bool,
    /// Number of the report's notes that require an action of the user.
    pub to_do: usize,
    /// The link of a TLP port.
    pub streaming: Option<String>,
    /// Streams of the FPGA's logic.
    pub streams: &'a [Stream],
    /// Directories of the vendor's runtime that were set aside.
    pub set_aside: &'a [PathBuf],
    /// Whether the vendor's README was in the same place.
    pub replaced: bool,
}

#[derive(Template)]
#[template(path = "platform_readme.md")]
struct Readme<'a> {
    facts: &'a Facts<'a>,
    peerlane: &'a str,
    script: String,
    /// The version of the SDK, with its source.
    version: String,
    /// The name of the SDK.
    sdk: String,
    /// Whether the library for closed runtimes says the platform's version to its runtime.
    says_it: bool,
    /// The board's name, quoted for the shell.
    board: String,
    hardware: String,
    list: &'a str,
    option: &'a str,
    /// Argument of `aocl install`.
    install: &'a str,
    /// The command that tests all boards, or the first.
    diagnose: &'a str,
    /// The command that configures the FPGA.
    program: &'a str,
    /// Option for `lspci`.
    device: String,
    /// The subsystem as `lspci` shows it.
    subsystem: String,
    /// Whether the open runtime takes kernels of the version after they were rewritten (`docs/program/opencl.md`).
    upgraded: bool,
    /// Whether kernels of the version are for the SDK's own runtime alone: `peerlane upgrade` refuses those of 13.1 and
    /// 14.0.
    legacy: bool,
    /// Whether programs of the SDK's own runtime are linked with the library: up to 17.0.
    linked: bool,
    set_aside: String,
    map_id: String,
    build_id: String,
}

/// Returns the options of `aoc` that list the boards, and that name one.
fn options(version: &Version) -> (&'static str, &'static str) {
    // Since 17.1 options have one dash, and their values follow "=" (SDK for OpenCL release notes).
    match number(&version.text) >= (17, 1) {
        true => ("-list-boards", "-board="),
        false => ("--list-boards", "--board "),
    }
}

/// Returns the command that compiles a kernel for a board, without the kernel.
pub(crate) fn compile_for(version: &Version, board: &str) -> String {
    format!("aoc {}{}", options(version).1, word(board))
}

/// Adds the README, or replaces the vendor's.
pub(crate) fn step(layout: &Layout, facts: &Facts<'_>) -> Step {
    let mut step = Step::default();
    let text = text(facts);
    if facts.replaced {
        step.changes.push(Change {
            file: layout.root.join(FILE),
            what: "the steps for this board in place of the vendor's text".into(),
            why: "the vendor's text describes the board before the extension".into(),
        });
        step.replace_itself(layout, FILE.into(), text);
    } else {
        step.around.push(Written {
            path: FILE.into(),
            text,
        });
    }
    step
}

/// Reports whether the vendor's README is in the same place.
pub(crate) fn replaces(layout: &Layout) -> bool {
    !layout.hardware.as_os_str().is_empty() && layout.root.join(FILE).exists()
}

/// Returns the text of the README.
fn text(facts: &Facts<'_>) -> String {
    let sdk = number(&facts.version.text);
    let (list, option) = options(facts.version);
    // Since 17.1 `aocl install` asks for the platform if none is named; before, it has no argument. Before 14.1 the
    // SDK's `diagnose` has another name, and since 15.1 it only lists the boards if none is named (its
    // `acl/Command.pm`, 17.1).
    let install = match sdk >= (17, 1) {
        true => " \"$AOCL_BOARD_PACKAGE_ROOT\"",
        false => "",
    };
    let diagnose = match sdk {
        version if version < (14, 1) => "diagnostic",
        version if version < (15, 1) => "diagnose",
        _ => "diagnose acl0",
    };
    let program = match sdk < (14, 1) {
        true => "reprogram",
        false => "program",
    };
    let known = |id: &str| id.len() == 4;
    let ids = &facts.ids;
    let set_aside: Vec<_> = (facts.set_aside.iter())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    render(&Readme {
        facts,
        peerlane: env!("CARGO_PKG_VERSION"),
        script: format!("{SCRIPT_DIR}/rebuild.tcl"),
        version: said(facts.version, facts.title.is_some()),
        sdk: match facts.version.is_known() {
            true => format!("the SDK {}", facts.version.text),
            false => "the board's SDK".into(),
        },
        says_it: facts.version.is_described() && facts.version.is_known(),
        board: word(facts.board),
        hardware: word(&facts.hardware.to_string_lossy()),
        list,
        option,
        install,
        diagnose,
        program,
        device: match known(&ids.vendor) && known(&ids.device) {
            true => format!(" -d {}:{}", ids.vendor, ids.device),
            false => String::new(),
        },
        subsystem: match known(&ids.subsystem_vendor) {
            true => format!("{}:{}", ids.subsystem_vendor, ids.subsystem),
            false => format!("{} of any vendor", ids.subsystem),
        },
        upgraded: ((14, 1)..=(18, 1)).contains(&sdk),
        legacy: sdk < (14, 1),
        linked: sdk < (17, 1),
        set_aside: set_aside.join(", "),
        map_id: format!("{:#010x}", facts.map_id),
        build_id: format!("{:#010x}", facts.build_id),
    })
}

/// Describes the version and its source.
fn said(version: &Version, made: bool) -> String {
    let Version { text, by, .. } = version;
    if made {
        return format!("{text} or later: the components are those of {text}");
    }
    let silent = match version.description {
        Description::Ours => "the BSP has no `board_env.xml`",
        Description::Other => "`board_env.xml` has another version",
        Description::Vendors | Description::Silent => "`board_env.xml` has no version",
    };
    let by: String = match by {
        Source::User => "as the configuration says (`sdk`)".into(),
        Source::Environment => "as the vendor's files say".into(),
        Source::Project => format!("as the Quartus project says; {silent}"),
        Source::Systems => format!("as the systems say; {silent}"),
        Source::Nobody => {
            return format!(
                "{text} is assumed, the oldest: the vendor's files name no version. Set `sdk` in the configuration to \
                 your version"
            );
        }
    };
    match version.is_known() {
        true => format!("{text}, {by}"),
        false => {
            let steps = match number(text) >= (17, 1) {
                true => "17.1 and later",
                false => "13.1, the oldest",
            };
            format!(
                "`{text}`, {by}: not a version from 13.1 to 18.1. The steps are those of {steps}"
            )
        }
    }
}

/// Returns the major and minor number of a version.
fn number(version: &str) -> (u32, u32) {
    let mut parts = version
        .split('.')
        .map(|part| part.trim().parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Quotes a word for the shell.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_word_to_the_shell() {
        assert_eq!(word("de5net_a7"), "de5net_a7");
        assert_eq!(word("a b'$c"), "'a b'\\''$c'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn versions_are_numbers() {
        assert!(number("17.1") >= (17, 1) && number("18.0.0") > (17, 1));
        assert!(number("17.0") < (17, 1) && number("13.1") < (17, 1) && number("?") < (1, 0));
    }
}
