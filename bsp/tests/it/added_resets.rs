//! Resets that a user leads to the block, or removes from it, after the extension.

use crate::common::faults::{Planted, faults};
use crate::common::{Work, reference_net};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";

fn with(system: String, more: &str) -> String {
    system.replace("</system>", &format!("{more}</system>"))
}

fn reset(from: &str, to: &str) -> String {
    format!(" <connection kind=\"reset\" version=\"13.1\" start=\"{from}\" end=\"{to}\" />\n")
}

/// Adds a reset controller in the hard IP's clock domain that gathers these resets.
fn controller(from: &[&str], clock: &str) -> String {
    let inputs: String = (from.iter().enumerate())
        .map(|(n, from)| reset(from, &format!("more.reset_in{n}")))
        .collect();
    format!(
        " <module kind=\"altera_reset_controller\" version=\"13.1\" enabled=\"1\" name=\"more\" />\n <connection \
         kind=\"clock\" version=\"13.1\" start=\"{clock}\" end=\"more.clk\" />\n{inputs}"
    )
}

#[test]
fn a_reset_of_the_block_is_the_vendors_or_the_extensions() {
    const SYSTEM: &str = "acl_iface_system.qsys";
    for (config, status, clock) in [
        ("", "host_link.nreset_status", "host_link.coreclkout"),
        (STREAM, "dma_engine.nreset_status", "dma_engine.coreclkout"),
    ] {
        let work = Work::new();
        work.sound(config);
        let mut planted = Planted::new(work);
        for (from, to) in [
            ("kernels.kernel_reset", "dma_engine.pcie_reset"),
            ("kernels.kernel_reset", "dma_engine.reset"),
            // The right reset, and not in the clock domain.
            ("reset_in.out_reset", "dma_engine.pcie_reset"),
            ("link_reset.reset_out", "dma_engine.reset"),
            (status, "dma_engine.reset"),
            (status, "dma_engine.pcie_reset"),
        ] {
            let what = format!(
                "the reset connection {from} → {to} belongs neither to the vendor's BSP nor to the block"
            );
            let change = |s| with(s, &reset(from, to));
            planted.fault(to, SYSTEM, change, ("resets", &what));
        }
        if config == STREAM {
            let change = |s| with(s, &reset(status, "kernels.more_reset"));
            let what = "dma_engine.nreset_status → kernels.more_reset belongs neither";
            planted.fault("the block's", SYSTEM, change, ("resets", what));
        }
        // A controller that a user added is as good as the resets that it gathers.
        let through = |from: &[&str], to: &str| {
            controller(from, clock) + &reset("more.reset_out", &format!("dma_engine.{to}"))
        };
        for to in ["reset", "pcie_reset"] {
            let more = through(&["reset_in.out_reset", "kernels.kernel_reset"], to);
            let what = format!(
                "kernels.kernel_reset resets dma_engine.{to}; in the vendor's BSP it does not"
            );
            planted.fault(to, SYSTEM, |s| with(s, &more), ("resets", &what));
        }
        let path = planted.work.output(SYSTEM);
        let whole = std::fs::read_to_string(&path).unwrap();
        let good = through(&["reset_in.out_reset", status], "pcie_reset");
        std::fs::write(&path, with(whole.clone(), &good)).unwrap();
        let found = faults(&planted.work);
        let resets: Vec<_> = found.iter().filter(|(test, _)| *test == "resets").collect();
        assert!(resets.is_empty(), "{resets:#?}");
        std::fs::write(&path, whole).unwrap();
        planted.all_were_found();
    }
}

/// A bridge that the extension put in front of a BAR's slaves has the block's reset, and no other.
#[test]
fn a_reset_of_a_new_bridge_is_the_extensions() {
    let work = Work::of(&reference_net());
    work.sound("");
    let mut planted = Planted::new(work);
    let change = |s| with(s, &reset("power_reset.out_reset", "peerlane_bar0.reset"));
    let what = "power_reset.out_reset → peerlane_bar0.reset belongs neither";
    planted.fault("the bridge's", "board.qsys", change, ("resets", what));
    planted.all_were_found();
}
