//! The interconnect's pipeline stages, as far as the block's memory order depends on them.
//!
//! The block starts a write that is chained to a read when `mem_wr` has accepted the last word of the read, and the
//! write reads memory through `mem_rd`. Two masters have no order except from their common arbiter on (Avalon Interface
//! Specifications 683091, "Transaction Order for Avalon-MM Read and Write Responses"): a word that waits in a stage in
//! front of the arbiter may be overtaken.

use crate::writer::Writer;
use peerlane_bsp_design::qsys::System;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::xml::Element;

/// The requirement that limits the stages (Platform Designer user guide 683364, "Limit interconnect pipeline stages
/// to").
const STAGES: &str = "qsys_mm.maxAdditionalLatency";
/// The parameter of the system that older versions of Platform Designer have for it in addition.
const PARAMETER: &str = "maxAdditionalLatency";
/// The subject of a requirement on the whole system.
const SYSTEM: &str = "$system";
const ELEMENT: &str = "interconnectRequirement";

fn requirement(system: &System) -> Option<&Element> {
    let all = system.document.root.children(ELEMENT);
    let mut whole = all.filter(|e| e.attribute("for") == Some(SYSTEM));
    whole.find(|e| e.attribute("name") == Some(STAGES))
}

impl Writer<'_> {
    /// Sets the limit of stages, if one is requested.
    pub fn interconnect(&mut self, stages: Option<u32>) {
        let Some(stages) = stages else {
            return;
        };
        let system = self.site().system;
        let root = &system.document.root;
        let mut before = "not set".to_string();
        let mut set = |element: &Element| {
            let value = element.attribute_at("value")?;
            self.edits.replace(value.span.clone(), stages.to_string());
            Some(value.value.clone())
        };
        let mut parameters = root.children("parameter");
        let parameter = parameters.find(|e| e.attribute("name") == Some(PARAMETER));
        parameter.and_then(&mut set);
        match requirement(system).and_then(&mut set) {
            Some(value) => before = value,
            None => {
                let Some(end) = root.content.as_ref().map(|content| content.end) else {
                    return;
                };
                let eol = system.document.line_end_after(root.span.start);
                let element =
                    format!("<{ELEMENT} for=\"{SYSTEM}\" name=\"{STAGES}\" value=\"{stages}\" />");
                self.edits.insert(end, format!(" {element}{eol}"));
            }
        }
        if before != stages.to_string() {
            self.note(
                format!("{STAGES} {before} → {stages}"),
                "interconnect_stages of the configuration: with a stage between mem_wr and the memory's arbiter, a \
                 write that is chained to a read may be too early",
            );
        }
    }
}

/// Returns the task for a user if there may be stages in front of the memory's arbiter.
pub(crate) fn note(site: &Site<'_>, config: &Config) -> Option<String> {
    let vendors = requirement(site.system).and_then(|e| e.attribute("value"));
    let vendors = vendors.and_then(|value| value.trim().parse::<u32>().ok());
    let (stages, whose) = match (config.interconnect_stages, vendors) {
        (Some(0), _) | (None, Some(0)) => return None,
        (Some(asked), _) => (format!("up to {asked}"), "as the configuration asks"),
        (None, Some(limit)) => (format!("up to {limit}"), "as in the vendor's BSP"),
        (None, None) => ("some".into(), "as in the vendor's BSP, which sets no limit"),
    };
    let dma = &site.dma.name;
    Some(format!(
        "Platform Designer may put {stages} pipeline stages into a path of the interconnect ({STAGES}, {whose}). With \
         a stage between {dma}.mem_wr and the arbiter in front of memory, a write that is chained to a read may use \
         old contents of memory. Set interconnect_stages = 0 in the configuration (the default), which makes timing \
         closure harder, or check in the generated interconnect that no stage is there. Transfers that are not chained \
         do not depend on it."
    ))
}
