//! Connections of the new bridge, and parameters of connections other than their ends.

use crate::common::faults::{Planted, each};
use crate::common::{Work, reference_net};

const SYSTEM: &str = "board.qsys";

/// Returns a system with a change of the only element that has all of some texts.
fn with(system: &str, texts: &[&str], from: &str, to: &str) -> String {
    each(system, |element| {
        let is = texts.iter().all(|text| element.contains(text));
        Some(match is {
            true => element.replace(from, to),
            false => element.to_string(),
        })
    })
}

#[test]
fn what_a_new_bridge_has() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    let mut planted = Planted::new(work);
    planted.fault(
        "another reset",
        SYSTEM,
        |s| {
            with(
                &s,
                &["peerlane_bar0.reset\""],
                "endpoint_reset.reset_out",
                "kernel_bus.kernel_reset",
            )
        },
        (
            "resets",
            "peerlane_bar0.reset comes from kernel_bus.kernel_reset",
        ),
    );
    for (name, from, to) in [
        ("MAX_BURST_SIZE", "32", "33"),
        ("MAX_PENDING_RESPONSES", "8", "0"),
        ("PIPELINE_COMMAND", "1", "2"),
        ("PIPELINE_RESPONSE", "1", "yes"),
    ] {
        let parameter = |value: &str| format!("name=\"{name}\" value=\"{value}\"");
        planted.fault(
            name,
            SYSTEM,
            |s| {
                with(
                    &s,
                    &["<module", "name=\"peerlane_bar0\""],
                    &parameter(from),
                    &parameter(to),
                )
            },
            ("parameters", &format!("peerlane_bar0: {name} is {to}")),
        );
    }
    planted.all_were_found();
}

#[test]
fn arbitration_is_the_vendors() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    let mut planted = Planted::new(work);
    let default = [
        "name=\"defaultConnection\" value=\"false\"",
        "name=\"defaultConnection\" value=\"true\"",
    ];
    let share = [
        "name=\"arbitrationPriority\" value=\"1\"",
        "name=\"arbitrationPriority\" value=\"7\"",
    ];
    for (end, [from, to], words) in [
        (
            "copier.csr\"",
            default,
            "defaultConnection of host_pipe.m0 → copier.csr is true",
        ),
        (
            "scratch.s1\"",
            default,
            "defaultConnection of host_pipe.m0 → scratch.s1 is true",
        ),
        (
            "scratch.s1\"",
            share,
            "arbitrationPriority of host_pipe.m0 → scratch.s1 is 7; it must be 1",
        ),
        (
            "flash_pipe.s0\"",
            share,
            "peerlane_bar0.m0 → flash_pipe.s0 is 7; it must be 1",
        ),
    ] {
        planted.fault(
            words,
            SYSTEM,
            |s| with(&s, &[end, "kind=\"avalon\""], from, to),
            ("avalon", words),
        );
    }
    planted.all_were_found();
}
