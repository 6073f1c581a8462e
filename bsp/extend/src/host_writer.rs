//! The edits of the host's bus: it adds and removes bridges, and connects the block's slaves.

use crate::host_bus::{HostBus, INSERTED, Inserted, Raised};
use crate::writer::Writer;
use peerlane_bsp_design::qsys::{Connection, End, NewConnection};
use peerlane_bsp_platform::error::Result;

/// Most bytes of a burst of the hard IP's masters (Stratix V Avalon-MM user guide 683411, 4.2 "Bursting and
/// Non-Bursting Avalon-MM Module Signals"; read in the same section of the Arria V guide 683773).
const BURST_BYTES: u64 = 512;
/// Most outstanding reads of the hard IP's masters. The section was not found again: unverified. A bridge with less
/// would only be slower.
const READS: u64 = 8;

const WHY_INSERTED: &str = "the bridge passes on as many address bits as the BAR has: these are the offset in the BAR, \
                            whether or not the hard IP removes the others with 64-bit addresses";
const WHY_GONE: &str =
    "the block's slaves run in the hard IP's clock domain; nothing else used the bridge";
const WHY_MOVED: &str =
    "on the host's own bridge, in the hard IP's clock domain, to which the block's slaves belong";
const WHY_NEW: &str =
    "above all used addresses, aligned to its size, so that it can be mapped alone";

impl Writer<'_> {
    /// Connects the block's slaves, raises the widths on the way, and changes the bridges.
    ///
    /// # Errors
    /// Those of [`HostBus::raise`].
    pub fn host_bus(&mut self, bus: &HostBus<'_>) -> Result<()> {
        let site = self.site();
        for connection in &bus.gone {
            self.remove(connection, WHY_GONE);
        }
        for bridge in &bus.bridges {
            self.remove_bridge(bridge, WHY_GONE);
        }
        let (raised, widths) = bus.raise(site, &mut self.edits)?;
        let csr = bus.path.last();
        for slave in bus.outside() {
            let why = match slave.slave {
                "csr" | "s_nondma" => WHY_MOVED,
                _ => WHY_NEW,
            };
            let new = NewConnection {
                kind: "avalon",
                version: &csr.version,
                start: self.of_host(bus.master()),
                end: End::new(&site.dma.name, slave.slave),
                base: Some(slave.base),
            };
            self.add_after(csr, &[new], why);
        }
        for (bridge, bits) in bus.inserted.iter().zip(widths) {
            self.insert_bridge(bus, bridge, bits);
        }
        for raised in raised {
            let Raised {
                instance,
                parameter,
                from,
                to,
            } = raised;
            self.note(
                format!("{instance}: {parameter} {from} → {to}"),
                "the new slaves are above the old address range",
            );
        }
        Ok(())
    }

    /// Puts a bridge between a BAR's master and its slaves.
    fn insert_bridge(&mut self, bus: &HostBus<'_>, bridge: &Inserted<'_>, bits: u64) {
        let site = self.site();
        let (hip, name) = (&site.hip.name, &bridge.name);
        let width = site.hip.number("avmm_width_hwtcl").unwrap_or(128);
        let kind = INSERTED;
        // The version of the system's other bridges, if any: a hard IP may have an older version than its bridges.
        let mut others = site.system.modules.iter().filter(|m| m.kind == kind);
        let version = others.find_map(|m| m.element.attribute("version"));
        let version = version
            .or(site.hip.element.attribute("version"))
            .unwrap_or("13.1");
        let parameters = [
            ("DATA_WIDTH", width.to_string()),
            ("SYMBOL_WIDTH", "8".into()),
            ("ADDRESS_WIDTH", bits.to_string()),
            ("USE_AUTO_ADDRESS_WIDTH", "0".into()),
            ("ADDRESS_UNITS", "SYMBOLS".into()),
            ("MAX_BURST_SIZE", (BURST_BYTES * 8 / width).to_string()),
            ("MAX_PENDING_RESPONSES", READS.to_string()),
            ("LINEWRAPBURSTS", "0".into()),
            ("PIPELINE_COMMAND", "1".into()),
            ("PIPELINE_RESPONSE", "1".into()),
        ];
        let text = site
            .system
            .instance_text(&site.hip.element, kind, version, name, &parameters);
        self.edits.insert(site.hip.element.span.end, text);
        self.note(format!("instance {name} ({kind}) added"), WHY_INSERTED);

        let master = End::new(hip, &format!("Rxm_BAR{}", bridge.bar));
        let at = bus.path.hops[0];
        let connection = |kind, start: End, end: &str, base| NewConnection {
            kind,
            version: &at.version,
            start,
            end: End::new(name, end),
            base,
        };
        let mut new = vec![connection("avalon", master.clone(), "s0", Some(0))];
        new.extend(
            self.hip_clock()
                .map(|clock| connection("clock", clock, "clk", None)),
        );
        let resets = self.host_resets(&bus.path);
        new.extend(
            resets
                .iter()
                .map(|reset| connection("reset", reset.start.clone(), "reset", None)),
        );
        self.add_after(at, &new, WHY_INSERTED);
        for slave in &bridge.slaves {
            self.retarget(slave, &End::new(name, "m0"));
        }
    }

    /// Moves the start of a connection.
    fn retarget(&mut self, connection: &Connection, start: &End) {
        if let Some(attribute) = connection.element.attribute_at("start") {
            self.edits
                .replace(attribute.span.clone(), start.to_string());
            self.note(
                format!(
                    "avalon connection {} → {} begins at {start}",
                    connection.start, connection.end
                ),
                WHY_INSERTED,
            );
        }
    }
}
