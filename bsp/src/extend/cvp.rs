//! Boards whose FPGA is configured over PCIe (CvP), and what that means for the order in which the extended board's images
//! are loaded.
//!
//! Such a board has two images. The periphery (hard IP, PLLs, transceivers, pins, the memory's PHY) comes from a local
//! configuration device or by JTAG; over PCIe comes the core alone, and the periphery must stay as it is (Configuration
//! via Protocol in V-series FPGA devices user guide 683889, 1.3 and 4.1). The extension changes the hard IP.

use crate::system::project::Project;
use crate::system::site::Site;

/// The hard IP's parameter (Stratix V Avalon-MM user guide 683411, "Enable configuration via PCIe link").
const OF_HIP: &str = "in_cvp_mode_hwtcl";
/// Settings that make a project one for CvP (user guide 683889, 4.2, and settings file reference manual 683084).
const MODE: &str = "CVP_MODE";

/// What a board loses (Configuration via Protocol in V-series FPGA devices user guide 683889, 1.3).
const LOST: &str = "At Gen3 the FPGA has none, so it is off in the hard IP: with another kernel the whole image (.sof) is \
                    loaded, by JTAG or from the flash, the link to the host goes down while it is, and steps of the vendor's \
                    flow that make a core alone (.core.rbf) have nothing to make it of.";

/// A board that is configured over PCIe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cvp {
    /// What says so.
    said: String,
    /// Whether the core comes over PCIe at power-up already.
    initializes: bool,
    /// Where settings ask for it, if the hard IP that is put in does not have it.
    lost: Option<Vec<String>>,
}

impl Cvp {
    /// What settings and hard IP say; `None` if neither says that it is. `lost`: the hard IP that is put in does not have it.
    pub fn of(project: &Project, site: &Site<'_>, lost: bool) -> Option<Self> {
        let off = |value: &str| matches!(value.trim().to_uppercase().as_str(), "" | "OFF");
        let mut said = Vec::new();
        let mut initializes = false;
        let mut places = Vec::new();
        for (source, assignment) in project.settings(&[MODE, "CVP_REVISION", "REVISION_TYPE"]) {
            let (name, value) = (&assignment.name, assignment.value.trim());
            let is_type = name == "REVISION_TYPE";
            if off(value) || is_type && !value.eq_ignore_ascii_case("CVP") {
                continue;
            }
            if name == MODE {
                let mode = value.to_uppercase();
                initializes |= mode.contains("INITIALIZATION") || mode.contains("POWER UP");
            }
            let file = source
                .path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            places.push(format!("{file}: {name}"));
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
            lost: lost.then_some(places),
        })
    }

    /// What a person has to know before the first image is loaded.
    pub fn note(&self) -> String {
        if let Some(places) = &self.lost {
            let settings = match places.is_empty() {
                true => String::new(),
                false => format!(
                    " Take the settings out that ask for it ({}).",
                    places.join(", ")
                ),
            };
            return format!(
                "The vendor's BSP is for configuration over PCIe (CvP: {}). {LOST}{settings}",
                self.said
            );
        }
        format!(
            "The BSP is for configuration over PCIe (CvP: {}). Its images are the periphery, with the hard IP, the PLLs and \
             the memory's pins, and the core. {} {}",
            self.said,
            self.order(),
            self.limits()
        )
    }

    /// The order of loading.
    fn order(&self) -> &'static str {
        "What was changed in the hard IP (IDs, addresses, BAR) is in the periphery, and over PCIe only the core is loaded, \
         which must be of the same base compile as the periphery. So the whole image (.sof) of the new board comes first, by \
         JTAG or from the flash with the new periphery in it; then the computer restarts; then kernels. A core of the \
         vendor's board on the new periphery, or one of the new board on the vendor's, must not be loaded."
    }

    /// What of it Peerlane does.
    fn limits(&self) -> &'static str {
        match self.initializes {
            false => {
                "From then on Peerlane's library and `aocl program` load the core over PCIe where the package has one (section \
                 .acl.core.rbf of fpga.bin) and the FPGA lets it, else the whole image by JTAG (section .acl.sof); \
                 PEERLANE_PROGRAM=cvp or =jtag takes one way only."
            }
            true => {
                "In this mode the flash holds the periphery alone, and after power-up the FPGA waits for its core over PCIe. \
                 Peerlane's driver takes no board that has no core, so nothing of Peerlane's loads this first one: after each \
                 power-up it must be loaded by JTAG, and the computer restarted. With CVP_MODE \"SUBSEQUENT CORE \
                 RECONFIGURATION\" and the whole image in the flash it need not."
            }
        }
    }

    /// The paragraph for the README's step that loads the first image.
    pub fn paragraph(&self) -> String {
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
