//! Boards whose FPGA is configured over PCIe (CvP), and the order in which the extended board's images must be loaded.
//!
//! Such a board has two images. The periphery (hard IP, PLLs, transceivers, pins, the memory's PHY) comes from a local
//! configuration device or by JTAG. Only the core comes over PCIe, and the periphery must stay as it is (Configuration
//! via Protocol in V-series FPGA devices user guide 683889, 1.3 and 4.1). The extension changes the hard IP.

use crate::step::Step;
use peerlane_bsp_design::project::{Project, Role, Source};
use peerlane_bsp_design::site::Site;

/// The hard IP's parameter (Stratix V Avalon-MM user guide 683411, "Enable configuration via PCIe link").
const OF_HIP: &str = "in_cvp_mode_hwtcl";
/// Settings that make a project one for CvP (user guide 683889, 4.2, and settings file reference manual 683084).
const MODE: &str = "CVP_MODE";
const REVISION: &str = "CVP_REVISION";
const TYPE: &str = "REVISION_TYPE";
/// Names the revision whose periphery a revision of type CVP has.
const BASE: &str = "BASE_REVISION";

/// Brings out a pin that reports a configured core; useless without configuration over PCIe.
const DONE: &str = "ENABLE_CVP_CONFDONE";
/// The vendors' module that a reset goes through (in BSPs for `s5_net` the transmitters' reset). Revision `base`
/// compiles a version that passes the reset on; the revision for a core alone compiles a version with output 0,
/// `cvp_update_reset_zero.v`.
const RESET: &str = "cvp_update_reset";
/// The file of the version with output 0.
const ZERO: &str = "cvp_update_reset_zero";
/// Defines a macro for the Verilog.
const MACRO: &str = "VERILOG_MACRO";
/// A word in a step that makes a core alone.
const CORE: &str = "core.rbf";

/// Text about the loss (Configuration via Protocol in V-series FPGA devices user guide 683889, 1.3).
const LOST: &str = "At Gen3 the FPGA has no configuration over PCIe, so it is off in the hard IP. Another kernel needs \
                    the whole image (.sof), loaded by JTAG or from the flash, and the link to the host is down during \
                    that time.";
/// Text about a flow that compiles kernels on the base's persona.
const FLOW: &str = "The vendor's flow compiles kernels on the results of the base compile (INPUT_PERSONA, with \
                    REVISION_TYPE CVP). That import is off now, and without these settings the kernels' revision is an \
                    ordinary one: each kernel's compile compiles the whole board from source, and steps 2 and 3 of \
                    README.md are not necessary. Whether Quartus accepts a persona without configuration over PCIe was \
                    not tried.";

/// A board that is configured over PCIe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cvp {
    /// The settings that show it.
    said: String,
    /// Whether the core comes over PCIe already at power-up.
    initializes: bool,
    /// The traces in the project, if the new hard IP does not have configuration over PCIe.
    lost: Option<Left>,
}

/// Traces of configuration over PCIe in the project of a board that no longer has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Left {
    /// Settings that ask for it, each with its place.
    settings: Vec<String>,
    /// Settings about it that do not ask for it, each with its place.
    others: Vec<String>,
    /// Macros of the Verilog that are named after it, each with its place.
    macros: Vec<String>,
    /// Partitions and files of the module that passes a reset on.
    reset: Vec<String>,
    /// Files that replace it with output 0.
    zero: Vec<String>,
    /// The file that passes the reset on.
    passes: Option<String>,
    /// Steps that make a core alone.
    steps: Vec<String>,
    /// Steps that take an image that is not made again.
    images: Vec<String>,
    /// Whether kernels are compiled on the base's persona.
    persona: bool,
}

impl Left {
    fn of(project: &Project, after: &Project, images: &[String]) -> Self {
        let mut left = Self {
            persona: !project.settings(&["INPUT_PERSONA"]).is_empty(),
            ..Self::default()
        };
        let place = |source: &Source, line: usize| {
            let inside = source.path.strip_prefix(&after.directory);
            let path = inside.unwrap_or(&source.path).display();
            format!("{path}:{line}")
        };
        let types = after.settings(&[TYPE]);
        let is_for_cvp = |source: &Source| {
            let mut own = types
                .iter()
                .filter(|(of, _)| !of.revisions.is_disjoint(&source.revisions));
            own.any(|(_, assignment)| asks(TYPE, &assignment.value))
        };
        for (source, assignment) in after.settings(&[MODE, DONE, REVISION, TYPE, BASE]) {
            let name = &assignment.name;
            let place = place(source, assignment.line);
            if name == BASE {
                if is_for_cvp(source) {
                    left.settings.push(format!("{place} {name}"));
                }
            } else if asks(name, &assignment.value) {
                left.settings.push(format!("{place} {name}"));
            } else if name != TYPE && !assignment.value.trim().is_empty() {
                left.others.push(format!("{place} {name}"));
            }
        }
        for (source, assignment) in after.settings(&[MACRO]) {
            let value = assignment.value.trim();
            if value.to_uppercase().contains("CVP") {
                let place = place(source, assignment.line);
                left.macros.push(format!("{place} {MACRO} \"{value}\""));
            }
        }
        for (source, assignment) in after.settings(&["VERILOG_FILE", "PARTITION_HIERARCHY"]) {
            let about = [Some(&assignment.value), assignment.to.as_ref()];
            let place = place(source, assignment.line);
            if assignment.value.contains(ZERO) {
                left.zero.push(place);
            } else if about.into_iter().flatten().any(|text| text.contains(RESET)) {
                if assignment.name != "PARTITION_HIERARCHY" {
                    left.passes = Some(assignment.value.trim().to_string());
                }
                left.reset.push(place);
            }
        }
        let scripts = after
            .sources
            .iter()
            .filter(|source| source.role > Role::Settings);
        for source in scripts {
            for (n, line) in source.text.lines().enumerate() {
                if line.trim_start().starts_with('#') {
                    continue;
                }
                if line.contains(CORE) {
                    left.steps.push(place(source, n + 1));
                }
                let mut names = images.iter().filter_map(|image| image.rsplit('/').next());
                if left.persona && names.any(|name| line.contains(name)) {
                    left.images.push(place(source, n + 1));
                }
            }
        }
        left
    }

    /// Returns the tasks for the user.
    fn words(&self) -> String {
        let mut words = String::new();
        if !self.settings.is_empty() {
            words += &format!(
                " Remove these settings, which are for it: {}.",
                self.settings.join(", ")
            );
        }
        if !self.others.is_empty() {
            words += &format!(
                " Remove these settings too, which belong to it and are off: {}.",
                self.others.join(", ")
            );
        }
        if !self.macros.is_empty() {
            words += &format!(
                " These macros add a part for it to the Verilog: {}. Find out which part that is, and remove the \
                 macro, unless the part is only the module {RESET}, which can stay.",
                self.macros.join(", ")
            );
        }
        if !self.steps.is_empty() {
            words += &format!(
                " These steps use a core alone (.{CORE}), which does not exist: {}; remove the core from them.",
                self.steps.join(", ")
            );
        }
        if !self.images.is_empty() {
            words += &format!(
                " These steps use an image of the base compile (.aocx), which was left out and is not made again: {}; \
                 remove them, and the steps that depend on the image.",
                self.images.join(", ")
            );
        }
        if !self.reset.is_empty() {
            words += &format!(
                " The module {RESET} can stay with its partition ({}).",
                self.reset.join(", ")
            );
        }
        if !self.zero.is_empty() {
            let other = self
                .passes
                .as_deref()
                .unwrap_or("a module that passes the reset on");
            words += &format!(
                " Where {ZERO} is named ({}), whose output is always 0, name {other} in its place: the whole revision \
                 is compiled now.",
                self.zero.join(", ")
            );
        }
        if self.persona {
            words += " ";
            words += FLOW;
        }
        words
    }
}

/// Reports whether a setting asks for configuration over PCIe.
fn asks(name: &str, value: &str) -> bool {
    let value = value.trim().to_uppercase();
    match name {
        TYPE => value == "CVP",
        _ => !matches!(value.as_str(), "" | "OFF"),
    }
}

impl Cvp {
    /// Reads settings and hard IP; `None` if neither asks for configuration over PCIe. `after` is the project after the
    /// extension. `lost` has the images that were left out, if the new hard IP has no configuration over PCIe.
    pub(crate) fn of(
        project: &Project,
        after: &Project,
        site: &Site<'_>,
        lost: Option<&[String]>,
    ) -> Option<Self> {
        let mut said = Vec::new();
        let mut initializes = false;
        for (source, assignment) in project.settings(&[MODE, REVISION, TYPE]) {
            let (name, value) = (&assignment.name, assignment.value.trim());
            if !asks(name, value) {
                continue;
            }
            if name == MODE {
                let mode = value.to_uppercase();
                initializes |= mode.contains("INITIALIZATION") || mode.contains("POWER UP");
            }
            let revisions: Vec<&str> = source.revisions.iter().map(String::as_str).collect();
            said.push(format!(
                "{name} \"{value}\" of revision {}",
                revisions.join(", ")
            ));
        }
        let hip = &site.hip;
        if hip.number(OF_HIP).is_some_and(|on| on != 0) {
            said.push(format!("{OF_HIP} of {}", hip.name));
        }
        (!said.is_empty()).then(|| Self {
            said: said.join("; "),
            initializes,
            lost: lost.map(|images| Left::of(project, after, images)),
        })
    }

    /// Reports whether the board has lost it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns the note as a task for the user.
    pub(crate) fn step(&self) -> Step {
        Step {
            to_do: vec![self.note()],
            ..Step::default()
        }
    }

    /// Returns the note for a user who loads the first image.
    pub(crate) fn note(&self) -> String {
        if let Some(left) = &self.lost {
            return format!(
                "The vendor's BSP is for configuration over PCIe (CvP: {}). {LOST}{}",
                self.said,
                left.words()
            );
        }
        format!(
            "The BSP is for configuration over PCIe (CvP: {}). It has two images: the periphery, with the hard IP, the \
             PLLs and the memory's pins, and the core. {} {}",
            self.said,
            self.order(),
            self.limits()
        )
    }

    /// Returns the order of loading.
    fn order(&self) -> &'static str {
        "The changes of the hard IP (IDs, addresses, BAR) are in the periphery. Over PCIe only the core is loaded, and \
         it must be of the same base compile as the periphery. So the whole image (.sof) of the new board comes first, \
         by JTAG or from the flash with the new periphery in it. Then restart the computer, and only then load \
         kernels. Never load a core of the vendor's board on the new periphery, or a core of the new board on the \
         vendor's."
    }

    /// Returns which part of the loading Peerlane does.
    fn limits(&self) -> &'static str {
        match self.initializes {
            false => {
                "From then on Peerlane's library and `aocl program` load the core over PCIe where the package has one \
                 (section .acl.core.rbf of fpga.bin) and the FPGA permits it, else the whole image by JTAG (section \
                 .acl.sof); PEERLANE_PROGRAM=cvp or =jtag permits only one way."
            }
            true => {
                "In this mode the flash holds the periphery alone, and after power-up the FPGA waits for its core over \
                 PCIe. Peerlane's driver refuses a board without a core, so no part of Peerlane loads this first core: \
                 after each power-up it must be loaded by JTAG, and the computer restarted. With CVP_MODE \"SUBSEQUENT \
                 CORE RECONFIGURATION\" and the whole image in the flash that is not necessary."
            }
        }
    }

    /// Returns the paragraph for the README's step that loads the first image.
    pub(crate) fn paragraph(&self) -> String {
        if self.lost.is_some() {
            return format!("**This board has no configuration over PCIe (CvP) any more.** {LOST}");
        }
        format!(
            "**This board is for configuration over PCIe (CvP).** {} {}",
            self.order(),
            self.limits()
        )
    }
}
