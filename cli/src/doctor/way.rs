//! The way between a board and a GPU, through the tree of bridges.

use super::Finding;
use super::pci::{Bus, Pci, Port};

const ABOUT: &str = "way";

/// P2P Request Redirect and P2P Completion Redirect of ACS Control (PCI Express Base Specification 4.0, 7.7.8.3).
const REDIRECT: u16 = 1 << 2 | 1 << 3;

/// Checks for each board and each GPU where their ways meet, and reports the consequences.
pub(super) fn ways(bus: &Bus) -> Vec<Finding> {
    let pairs = bus
        .boards()
        .flat_map(|board| bus.gpus().map(move |gpu| (board, gpu)));
    pairs.map(|(board, gpu)| way(bus, board, gpu)).collect()
}

fn way(bus: &Bus, board: &Pci, gpu: &Pci) -> Finding {
    let names = format!("board {} and GPU {}", board.slot, gpu.slot);
    let same = board
        .above
        .iter()
        .zip(&gpu.above)
        .take_while(|(a, b)| a == b);
    let shared = same.count();
    let Some(meet) = shared.checked_sub(1).map(|last| &board.above[last]) else {
        return Finding::note(
            ABOUT,
            format!(
                "{names} are below different host bridges: traffic between them crosses one or two processors"
            ),
            "Put both into slots of one processor, or below one PCIe switch, and rely on the probe.",
        );
    };
    let Some(bridge) = bus.at(meet) else {
        return Finding::note(
            ABOUT,
            format!(
                "{names} meet in the root complex {meet}, which may not pass traffic between devices; reads are blocked more often than writes"
            ),
            "Rely on the probe, or put both below one PCIe switch, where this does not matter.",
        );
    };
    // The ports of the switch that lead to the two devices: their ACS settings decide about redirection.
    let below = |device: &Pci| device.above.get(shared).cloned();
    let ports: Vec<&Pci> = [below(board), below(gpu)]
        .into_iter()
        .flatten()
        .filter_map(|slot| bus.at(&slot))
        .collect();
    let unseen = ports.iter().any(|port| !port.is_open());
    let redirecting: Vec<&str> = ports
        .iter()
        .filter(|port| port.port() != Some(Port::Root))
        .filter(|port| port.acs().is_some_and(|control| control & REDIRECT != 0))
        .map(|port| port.slot.as_str())
        .collect();
    let through = format!("{names} meet in the switch {}", bridge.slot);
    if !redirecting.is_empty() {
        return Finding::wrong(
            ABOUT,
            format!(
                "{through}, but ACS of {} redirects the traffic between them to the root complex",
                redirecting.join(" and ")
            ),
            format!(
                "Boot with pci=disable_acs_redir={} (the kernel's Documentation/admin-guide/kernel-parameters.txt), or turn ACS off in the firmware's settings. ACS then no longer isolates the devices of virtual machines.",
                redirecting.join(";")
            ),
        );
    }
    match unseen {
        true => Finding::note(
            ABOUT,
            format!(
                "{through}; the ACS settings, which can redirect the traffic between them, cannot be read"
            ),
            "Run the command as root: other users can read only 64 bytes of a device's configuration.",
        ),
        false => Finding::ok(
            ABOUT,
            format!("{through}, which passes the traffic between them"),
        ),
    }
}
