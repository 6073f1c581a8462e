//! Checks that a write that is chained to a read finds the data of the read in memory.
//!
//! The block starts the write when `mem_wr` has accepted the last word of the read, and the write reads memory through
//! `mem_rd`. Two masters have no order (Avalon Interface Specifications 683091, "Transaction Order for Avalon-MM Read
//! and Write Responses"): there is one only from their common arbiter on. A word that waits in a stage in front of the
//! arbiter may be overtaken.

use std::collections::BTreeSet;

use crate::Findings;
use crate::result::Bsp;
use crate::result::addresses::base;
use peerlane_bsp_generate::build::Build;

const TEST: &str = "memory order";
/// The system's limit of pipeline stages in a path of the interconnect (Platform Designer user guide 683364,
/// "Limit interconnect pipeline stages to").
const STAGES: &str = "qsys_mm.maxAdditionalLatency";

/// Checks that the two masters meet at the memory, and whether a stage may be in between.
pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) {
    let asked = build.config.interconnect_stages;
    for (design, block) in bsp.with_block() {
        let slaves = |master: &str| -> BTreeSet<String> {
            let master = format!("{}.{master}", block.name);
            let wires = design.avalon().filter(|w| w.from == master);
            wires
                .map(|w| format!("{} at {:#x}", w.to, base(w).unwrap_or(0)))
                .collect()
        };
        let (read, written) = (slaves("mem_rd"), slaves("mem_wr"));
        if read != written {
            let list = |ends: BTreeSet<String>| match ends.is_empty() {
                true => "nothing".into(),
                false => ends.into_iter().collect::<Vec<_>>().join(", "),
            };
            findings.bad(
                TEST,
                design.place(block.line),
                format!(
                    "{0}.mem_wr reaches {1}, {0}.mem_rd reaches {2}: a write chained to a read may use old contents of \
                     memory",
                    block.name,
                    list(written),
                    list(read)
                ),
                "Connect both to the same interfaces at the same addresses, without separate bridges.",
            );
            continue;
        }
        let limit = design.requirements.get(STAGES).map(String::as_str);
        let limit = limit.and_then(|limit| limit.trim().parse::<u64>().ok());
        if let Some(asked) = asked.filter(|asked| limit != Some(u64::from(*asked))) {
            findings.bad(
                TEST,
                design.place(block.line),
                format!(
                    "the limit of stages in the interconnect ({STAGES}) is {}, but interconnect_stages = {asked} was \
                     configured",
                    limit.map_or("not set".into(), |n| n.to_string()),
                ),
                "Set it in Platform Designer, or extend the vendor's BSP again.",
            );
            continue;
        }
        match limit {
            Some(0) => findings.good(
                TEST,
                "the block's masters to memory meet at memory's arbiter, and no pipeline stage may be added between \
                 them",
            ),
            limit => findings.note(
                TEST,
                design.place(block.line),
                format!(
                    "the interconnect may have {} stages in a path ({STAGES}). With a stage in front of memory's \
                     arbiter, a write chained to a read may use old contents of memory. Extend again with \
                     interconnect_stages = 0, or make sure that no stage is between {}.mem_wr and the arbiter",
                    limit.map_or("some".into(), |n| format!("up to {n}")),
                    block.name
                ),
            ),
        }
    }
}
