//! Every connection ends somewhere, and nothing overlaps on the host's bus or on the block's masters.

use std::collections::BTreeMap;

use crate::block;
use crate::check::{Extended, Findings};
use crate::error::Place;
use crate::system::host_bus;
use crate::system::library::{Extent, Known, Role, is_pcie_hip};
use crate::system::qsys::{Connection, End, System};
use crate::system::site::Site;

const AGAIN: &str = "Mend it in Platform Designer, or extend the vendor's BSP again.";

/// Tests that both ends of every connection, and every export, name an instance and an interface.
pub fn dangling(bsp: &Extended<'_>, findings: &mut Findings) {
    const TEST: &str = "connections";
    let before = findings.errors();
    let (mut count, mut unknown) = (0, 0);
    for system in bsp.library.systems() {
        for connection in &system.connections {
            count += 1;
            for (end, starts) in [(&connection.start, true), (&connection.end, false)] {
                let place = system.document.place(&connection.element);
                let about = format!(
                    "{} connection {} → {}",
                    connection.kind, connection.start, connection.end
                );
                match fault(bsp, system, end, Some((connection, starts))) {
                    Some(Fault::Wrong(what)) => {
                        findings.bad(TEST, place, format!("{about}: {what}"), AGAIN);
                    }
                    Some(Fault::Unknown) => unknown += 1,
                    None => {}
                }
            }
        }
        for export in &system.exports {
            let Some(end) = &export.internal else {
                continue;
            };
            if let Some(Fault::Wrong(what)) = fault(bsp, system, end, None) {
                let place = Place::file(&system.document.path);
                let what = format!("export {}: {what}", export.name);
                if export.stale {
                    findings.note(
                        TEST,
                        place,
                        format!("{what}; left over by Platform Designer"),
                    );
                } else {
                    findings.bad(TEST, place, what, AGAIN);
                }
            }
        }
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "all {count} connections end at an instance; {unknown} of {} ends are at interfaces of \
                 components that are not described here",
                2 * count
            ),
        );
    }
}

enum Fault {
    Wrong(String),
    Unknown,
}

fn fault(
    bsp: &Extended<'_>,
    system: &System,
    end: &End,
    of: Option<(&Connection, bool)>,
) -> Option<Fault> {
    let Some(module) = system.module(&end.instance) else {
        return Some(Fault::Wrong(format!(
            "there is no instance {}",
            end.instance
        )));
    };
    match bsp.library.interface(module, &end.interface) {
        Known::No => Some(Fault::Wrong(format!(
            "{} (kind {}) has no interface {}",
            end.instance, module.kind, end.interface
        ))),
        Known::Unknown | Known::Yes(None) => Some(Fault::Unknown),
        Known::Yes(Some(role)) => {
            let (connection, starts) = of?;
            if role.connection_kind() != connection.kind {
                let what = format!(
                    "{end} is no interface for a connection of kind {}",
                    connection.kind
                );
                return Some(Fault::Wrong(what));
            }
            if role.starts().is_some_and(|s| s != starts) {
                let side = if starts { "start" } else { "end" };
                return Some(Fault::Wrong(format!(
                    "the connection cannot {side} at {end}"
                )));
            }
            None
        }
    }
}

/// Tests that every interface of the block is connected, once where it must be once.
pub fn block(bsp: &Extended<'_>, findings: &mut Findings) {
    const TEST: &str = "block";
    let before = findings.errors();
    let name = &bsp.block.name;
    for (interface, role) in block::roles(bsp.build.config.irq) {
        let end = End::new(name, interface);
        let count = bsp
            .system
            .connections
            .iter()
            .filter(|c| match role.starts() {
                Some(true) => c.start == end,
                Some(false) => c.end == end,
                None => c.start == end || c.end == end,
            })
            .count();
        let once = matches!(role, Role::ClockSink | Role::IrqReceiver | Role::Conduit)
            || interface == "txs";
        // The window and the interrupt may have been unconnected in the vendor's BSP.
        let optional = matches!(interface, "s_nondma" | "dma_irq" | "reset");
        if count == 0 && !optional || once && count > 1 {
            findings.bad(
                TEST,
                bsp.system.place(bsp.block),
                format!("{name}.{interface} has {count} connections"),
                AGAIN,
            );
        } else if count == 0 {
            findings.note(
                TEST,
                bsp.system.place(bsp.block),
                format!("{name}.{interface} is not connected"),
            );
        }
    }
    let txs = bsp
        .system
        .of_kind("avalon")
        .find(|c| c.start.instance == *name && c.start.interface == "txs");
    let to_hip = txs.is_some_and(|c| {
        c.end.interface == "Txs"
            && c.base.unwrap_or(0) == 0
            && bsp
                .system
                .module(&c.end.instance)
                .is_some_and(|m| is_pcie_hip(&m.kind))
    });
    if !to_hip {
        findings.bad(
            TEST,
            bsp.system.place(bsp.block),
            format!("{name}.txs does not drive the hard IP's Txs at address 0"),
            AGAIN,
        );
    }
    places(bsp, findings);
    if findings.unchanged(before) {
        findings.good(
            TEST,
            "every interface of the block is connected; its slaves are where the record says",
        );
    }
}

/// Tests that the slaves are at the places in the BAR that the record gives to the driver.
fn places(bsp: &Extended<'_>, findings: &mut Findings) {
    let Some(hip) = bsp.system.modules.iter().find(|m| is_pcie_hip(&m.kind)) else {
        return;
    };
    let site = Site {
        library: bsp.library,
        system: bsp.system,
        dma: bsp.block,
        hip,
    };
    let real = host_bus::bar_map(&site, bsp.build.bar).slaves_of(&bsp.block.name);
    if real != bsp.build.slaves {
        findings.bad(
            "block",
            bsp.system.place(bsp.block),
            format!(
                "its slaves are in BAR {} at {real:x?}, the record says {:x?}",
                bsp.build.bar, bsp.build.slaves
            ),
            AGAIN,
        );
    }
}

/// Tests every master of the block's system that has slaves: no overlap, nothing past its reach.
pub fn overlaps(bsp: &Extended<'_>, findings: &mut Findings) {
    const TEST: &str = "addresses";
    let before = findings.errors();
    let mut masters: BTreeMap<&End, Vec<&Connection>> = BTreeMap::new();
    for connection in bsp.system.of_kind("avalon") {
        masters
            .entry(&connection.start)
            .or_default()
            .push(connection);
    }
    let mut unknown = Vec::new();
    for (master, mut connections) in masters.iter().map(|(m, c)| (*m, c.clone())) {
        connections.sort_by_key(|c| c.base);
        let mut spans: Vec<(u128, u128, &Connection)> = Vec::new();
        for connection in connections {
            let Some(module) = bsp.system.module(&connection.end.instance) else {
                continue;
            };
            let Extent { least, most, .. } = bsp.library.extent(module, &connection.end.interface);
            if most.is_none() && masters[master].len() > 1 {
                unknown.push(connection.end.to_string());
            }
            let base = u128::from(connection.base.unwrap_or(0));
            if let Some((start, end, other)) = spans.iter().find(|(_, end, _)| *end > base) {
                findings.bad(
                    TEST,
                    bsp.system.document.place(&connection.element),
                    format!(
                        "on {master}, {} at {base:#x} overlaps {} at {start:#x}–{:#x}",
                        connection.end,
                        other.end,
                        end - 1
                    ),
                    AGAIN,
                );
            }
            if let Some(reach) = reach(bsp, master).filter(|&r| base + least > r) {
                findings.bad(
                    TEST,
                    bsp.system.document.place(&connection.element),
                    format!(
                        "{} ends at {:#x}, past the {reach:#x} that {master} reaches",
                        connection.end,
                        base + least
                    ),
                    AGAIN,
                );
            }
            spans.push((base, base + least, connection));
        }
    }
    unknown.sort();
    unknown.dedup();
    if !unknown.is_empty() {
        findings.note(
            TEST,
            Place::file(&bsp.system.document.path),
            format!(
                "spans not known, only their first word was tested: {}",
                unknown.join(", ")
            ),
        );
    }
    if findings.unchanged(before) {
        findings.good(TEST, format!("no overlap on {} masters", masters.len()));
    }
}

/// Bytes that a master reaches, where that is known.
fn reach(bsp: &Extended<'_>, master: &End) -> Option<u128> {
    let module = bsp.system.module(&master.instance)?;
    if module.name == bsp.block.name {
        return Some(match master.interface.as_str() {
            "txs" => 1 << block::TXS_ADDR_BITS,
            _ => 1 << block::MEM_ADDR_BITS,
        });
    }
    if let Some(bar) = master.interface.strip_prefix("Rxm_BAR") {
        let bits = module.number(&format!("SLAVE_ADDRESS_MAP_{bar}"))?;
        return (1..64).contains(&bits).then(|| 1 << bits);
    }
    match master.interface.as_str() {
        "m0" => bsp.library.bridge_bytes(module),
        _ => None,
    }
}

/// Tests that the hard IP is set as the configuration says.
pub fn hard_ip(bsp: &Extended<'_>, findings: &mut Findings) {
    const TEST: &str = "hard IP";
    let before = findings.errors();
    let Some(hip) = bsp.system.modules.iter().find(|m| is_pcie_hip(&m.kind)) else {
        findings.bad(
            TEST,
            bsp.system.place(bsp.block),
            "there is no PCIe hard IP beside the block",
            AGAIN,
        );
        return;
    };
    let mut want: Vec<(&str, u64)> = vec![("avmm_width_hwtcl", bsp.build.port_bits.into())];
    let bits = u64::from(block::TXS_ADDR_BITS);
    want.extend([("AVALON_ADDR_WIDTH", bits), ("TX_S_ADDR_WIDTH", bits)]);
    for (name, value) in want {
        if hip.number(name) != Some(value) {
            let has = hip.parameter(name).unwrap_or("not set");
            findings.bad(
                TEST,
                bsp.system.place(hip),
                format!(
                    "{}: {name} is {has}, the block was built for {value}",
                    hip.name
                ),
                AGAIN,
            );
        }
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "{}: {} bits wide, 64-bit bus addresses",
                hip.name, bsp.build.port_bits
            ),
        );
    }
}
