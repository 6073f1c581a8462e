//! Whether a write that was chained to a read finds in memory what the read brought.
//!
//! The block starts it when `mem_wr` has been rid of the last word, and it reads through `mem_rd`. Two masters have
//! no order (Avalon Interface Specifications 683091, "Transaction Order for Avalon-MM Read and Write Responses"):
//! there is one only from their common arbiter on. What waits in a stage in front of it may be passed.

use std::collections::BTreeSet;

use crate::check::{Extended, Findings};
use crate::system::qsys::{End, System};

const TEST: &str = "memory order";
/// The system's limit of pipeline stages in a path of the interconnect (Platform Designer user guide 683364,
/// "Limit interconnect pipeline stages to").
const STAGES: &str = "qsys_mm.maxAdditionalLatency";

/// Tests that the two masters meet at the memory, and whether something may stand in between.
pub fn check(bsp: &Extended<'_>, findings: &mut Findings) {
    let (system, block) = (bsp.system, bsp.block);
    let slaves = |master: &str| -> BTreeSet<String> {
        let master = End::new(&block.name, master);
        system
            .of_kind("avalon")
            .filter(|c| c.start == master)
            .map(|c| format!("{} at {:#x}", c.end, c.base.unwrap_or(0)))
            .collect()
    };
    let (read, written) = (slaves("mem_rd"), slaves("mem_wr"));
    if read != written {
        let list = |ends: BTreeSet<String>| ends.into_iter().collect::<Vec<_>>().join(", ");
        findings.bad(
            TEST,
            system.place(block),
            format!(
                "{0}.mem_wr reaches {1}, {0}.mem_rd reaches {2}: a write chained to a read may find what memory had \
                 before",
                block.name,
                list(written),
                list(read)
            ),
            "Connect both to the same interfaces at the same addresses, without a bridge of their own.",
        );
        return;
    }
    match stages(system) {
        Some(0) => findings.good(
            TEST,
            "the block's masters to memory meet at its arbiter; no stage may be put in between",
        ),
        limit => findings.note(
            TEST,
            system.place(block),
            format!(
                "the interconnect may have {} stages in a path ({STAGES}), and one in front of memory's arbiter lets \
                 a write chained to a read find what memory had before; set it to 0, or see to it that none of them \
                 is between {}.mem_wr and the arbiter",
                limit.map_or("some".into(), |n| format!("up to {n}")),
                block.name
            ),
        ),
    }
}

/// The limit of the whole system, if it is set.
fn stages(system: &System) -> Option<u64> {
    system
        .document
        .root
        .children("interconnectRequirement")
        .filter(|e| e.attribute("for") == Some("$system"))
        .find(|e| e.attribute("name") == Some(STAGES))
        .and_then(|e| e.attribute("value"))
        .and_then(|value| value.parse().ok())
}
