//! Room for the new slaves on the way from the host's BAR to the block's registers.

use crate::config::{Config, Mode, NewSlave};
use crate::error::{Error, ErrorKind, Result};
use crate::system::host_bus::{HostPath, bar_number, slaves, space};
use crate::system::library::{bridge_bytes, bridge_unit};
use crate::system::qsys::Connection;
use crate::system::site::Site;
use crate::system::xml::Edits;

/// Where a new slave goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Interface of the block.
    pub slave: &'static str,
    /// Address on the master that `csr` hangs on.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Puts the new slaves above everything in use, each at a multiple of its size. Places that the
/// configuration asks for come first.
///
/// # Errors
/// [`ErrorKind::Config`] if a place that the configuration asks for is taken or not aligned.
pub fn place(site: &Site<'_>, path: &HostPath<'_>, config: &Config) -> Result<Vec<Placed>> {
    let mut taken: Vec<(u64, u64, String)> = slaves(site, path.master())
        .into_iter()
        .map(|e| (e.base, e.bytes, e.slave))
        .collect();
    let ends = taken.iter().map(|(base, n, _)| base.saturating_add(*n));
    let mut floor = ends.max().unwrap_or(0);
    if site
        .system
        .exported(&path.master().instance, Some(&path.master().interface))
        .is_some()
    {
        // Slaves outside of this file: all of the space may be theirs.
        let all = space(site, path.master())
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(0);
        floor = floor.max(all);
    }
    // A BAR has 31 address bits at most (PCI Local Bus Specification 3.0, 6.2.5.1, for one of 32 bits).
    if let Some((base, _, name)) = taken.iter().find(|(base, ..)| *base >= 1 << 31) {
        return Err(site.unsupported(
            site.system.place(site.dma),
            format!(
                "{name}, beside the block's registers, stands at {base:#x}: no BAR reaches that far"
            ),
            "Move that slave below 2 GiB in Platform Designer.",
        ));
    }
    floor = floor.min(1 << 31);
    // Whole pages, so that each can be mapped alone.
    let size = |slave: &NewSlave| slave.bytes.next_power_of_two().max(4096);
    let new = config.new_slaves();
    let mut asked = Vec::new();
    for slave in &new {
        let Some(base) = slave.asked else {
            asked.push(None);
            continue;
        };
        let (key, bytes) = (slave.key, size(slave));
        let problem = |what: String| {
            Error::new(
                ErrorKind::Config,
                site.system.place(site.dma),
                format!("{key} = {base:#x}: {what}"),
                "Choose another multiple of the size, or leave the key out to get the lowest free \
                 place.",
            )
        };
        let local = base
            .checked_sub(path.offset())
            .ok_or_else(|| problem("is below the bridge that the registers hang on".into()))?;
        // Config::parse keeps what is asked for below 2 GiB.
        if local % bytes != 0 {
            return Err(problem(format!("is no multiple of its size {bytes:#x}")));
        }
        if let Some((_, _, other)) = taken
            .iter()
            .find(|(b, n, _)| local < b.saturating_add(*n) && *b < local + bytes)
        {
            return Err(problem(format!("is taken by {other}")));
        }
        taken.push((local, bytes, key.into()));
        floor = floor.max(local + bytes);
        asked.push(Some(local));
    }
    let placed = new.iter().zip(asked).map(|(slave, asked)| {
        let base = asked.unwrap_or_else(|| {
            let base = floor.next_multiple_of(size(slave));
            floor = base + size(slave);
            base
        });
        Placed {
            slave: slave.name,
            base,
            bytes: slave.bytes,
        }
    });
    Ok(placed.collect())
}

/// A parameter that was raised.
#[derive(Debug, Clone)]
pub struct Raised {
    /// Instance.
    pub instance: String,
    /// Parameter.
    pub parameter: String,
    /// Before.
    pub from: u64,
    /// After.
    pub to: u64,
}

/// Raises the address widths on the way from the BAR so that `top` (exclusive, on the last master)
/// can be reached.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if a wider bridge would not be aligned or run into its neighbour, or
/// the BAR would be larger than 2 GiB.
pub fn raise(
    site: &Site<'_>,
    path: &HostPath<'_>,
    top: u64,
    edits: &mut Edits,
) -> Result<Vec<Raised>> {
    let mut raised = Vec::new();
    let mut top = u128::from(top);
    for hop in path.hops[..path.hops.len() - 1].iter().rev() {
        let Some(bridge) = site.system.module(&hop.end.instance) else {
            continue;
        };
        let (Some(bits), Some(old)) = (bridge.number("ADDRESS_WIDTH"), bridge_bytes(bridge)) else {
            return Err(site.unsupported(
                site.system.place(bridge),
                format!("bridge {} has no ADDRESS_WIDTH", bridge.name),
                "Open and save the system in Platform Designer, which writes the parameter.",
            ));
        };
        let bytes = top.next_power_of_two().max(old);
        let base = u128::from(hop.base.unwrap_or(0));
        if bytes > old {
            let to = u64::from((bytes / u128::from(bridge_unit(bridge))).ilog2());
            site.system
                .set_parameter(edits, bridge, "ADDRESS_WIDTH", &to.to_string());
            let instance = bridge.name.clone();
            raised.push(Raised {
                instance,
                parameter: "ADDRESS_WIDTH".into(),
                from: bits,
                to,
            });
            if base % bytes != 0 {
                return Err(site.unsupported(
                    site.place(hop),
                    format!(
                        "bridge {} must grow to {bytes:#x} bytes, but stands at {base:#x}",
                        bridge.name
                    ),
                    "Move the bridge to a multiple of that size in Platform Designer.",
                ));
            }
            for other in slaves(site, &hop.start) {
                let start = u128::from(other.base);
                if other.slave != hop.end.to_string() && start >= base && start < base + bytes {
                    return Err(site.unsupported(
                        site.place(hop),
                        format!(
                            "bridge {} must grow to {bytes:#x} bytes and would run into {}",
                            bridge.name, other.slave
                        ),
                        "Move that slave above in Platform Designer, or give places that are free \
                         under [bar] of the configuration.",
                    ));
                }
            }
        }
        top = slaves(site, &hop.start)
            .iter()
            .map(|e| u128::from(e.base) + u128::from(e.bytes))
            .max()
            .unwrap_or(0)
            .max(base + bytes);
    }
    let parameter = format!("SLAVE_ADDRESS_MAP_{}", path.bar);
    let from = site.hip.number(&parameter).unwrap_or(0);
    let to = u64::from(top.next_power_of_two().ilog2());
    if to > 31 {
        return Err(site.unsupported(
            site.system.place(site.hip),
            format!("BAR {} would need 2^{to} bytes", path.bar),
            "Ask for a smaller table (att_entries), or lower places ([bar]).",
        ));
    }
    if to > from {
        site.system
            .set_parameter(edits, site.hip, &parameter, &to.to_string());
        raised.push(Raised {
            instance: site.hip.name.clone(),
            parameter,
            from,
            to,
        });
    }
    Ok(raised)
}

/// What the addressing mode means for the host's accesses; a sentence for the report.
///
/// With 64-bit addresses the bridge translates in neither direction, so that `Rxm_BARn` drives the
/// PCIe address instead of the offset in the BAR: only the low bits may then be decoded.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the low bits do not decide in 64-bit mode.
pub fn check_receive_side(site: &Site<'_>, mode: Mode) -> Result<String> {
    let hip = &site.hip.name;
    if mode == Mode::Windows {
        return Ok(format!(
            "{hip} keeps its 32-bit addresses: Rxm_BARn drives the offset in the BAR, as before."
        ));
    }
    let mut bars: Vec<&Connection> = site
        .from(hip, None)
        .filter(|c| bar_number(&c.start).is_some())
        .collect();
    bars.sort_by(|a, b| a.start.cmp(&b.start));
    let remedy = "Set mode = \"windows\" in the configuration, which leaves the receive side as it \
                  is, or put one altera_avalon_mm_bridge at address 0 between it and its slaves.";
    for pair in bars.windows(2) {
        if pair[0].start == pair[1].start {
            return Err(site.unsupported(
                site.place(pair[1]),
                format!(
                    "with 64-bit addresses {} drives the PCIe address, not the offset in the BAR, \
                     but it has more than one slave ({}, {})",
                    pair[0].start, pair[0].end, pair[1].end
                ),
                remedy,
            ));
        }
    }
    let mut words = Vec::new();
    for connection in bars {
        let extent = site
            .system
            .module(&connection.end.instance)
            .map(|m| site.library.extent(m, &connection.end.interface));
        let most = extent.and_then(|e| e.most).filter(|&most| most <= 1 << 31);
        let (Some(most), 0) = (most, connection.base.unwrap_or(0)) else {
            return Err(site.unsupported(
                site.place(connection),
                format!(
                    "with 64-bit addresses {} drives the PCIe address, not the offset in the BAR, \
                     but its slave {} is not at address 0 with a known, smaller address width",
                    connection.start, connection.end
                ),
                remedy,
            ));
        };
        words.push(format!(
            "{} drives the PCIe address instead of the offset in the BAR; its only slave {} stands at \
             0 and decodes low address bits only ({} before this extension), and a BAR is aligned to \
             its size, so the host's accesses arrive where they did.",
            connection.start,
            connection.end,
            most.ilog2()
        ));
    }
    Ok(words.join(" "))
}
