//! The edits of a system that gets a TLP port: the hard IP becomes its Avalon-ST variant, and the connections of the
//! old one's bridge move to the block.

use crate::hard_ip::{HardIp, Value};
use crate::identity;
use crate::stream::Streaming;
use crate::writer::Writer;
use peerlane_bsp_design::host_bus::bar_number;
use peerlane_bsp_design::interrupts::{RXM_IRQ, Table};
use peerlane_bsp_design::qsys::{Connection, End, NewConnection};
use peerlane_bsp_generate::block::COMPONENT_VERSION;
use peerlane_bsp_generate::block::stream::{CLOCK, CONDUITS, RAW_CLOCK, STREAMS, board};
use peerlane_bsp_generate::config::Identity;
use peerlane_bsp_platform::xml::{Attribute, Element, escape};

const KIND: &str = "the block makes the packets itself, in place of the hard IP's bridge";
const BOARD: &str = "with a TLP port the block receives the host's requests, and passes on those that are not for its own slaves";
const BUFFER: &str = "the other variant does not put its clock on a global network, and with AUTO_GLOBAL_CLOCK OFF, as boards \
                      have it, neither does the Fitter; the block does";
const RESET: &str =
    "the other variant has no reset output; the block makes the reset from the hard IP's";
/// The port of `nreset_status`, of the old hard IP (component description, ACDS 13.1) and of the block.
const RESET_PORTS: (&str, &str) = ("reset_status", "nreset_status");
const CRA: &str =
    "the bridge's registers do not exist any more; the block returns 0 in their place";
const KERNEL: &str =
    "the block sends all messages, and the kernel's interrupt is one of its vectors";
const PACKETS: &str = "packets and their signals, directly between hard IP and block";
const APPLICATION: &str =
    "the hard IP's clock feeds its application side, too, as inside the Avalon-MM variant";
const INSIDE: &str = "the block's interrupts are messages that it sends itself";

impl Writer<'_> {
    /// Replaces the old hard IP by the other one, under the same name.
    pub(super) fn streaming_hip(&mut self, to: &HardIp, identity: &Identity, table: Option<Table>) {
        let site = self.site();
        let hip = site.hip;
        let mut parameters = to.parameters.clone();
        let ids = identity::settings(identity).into_iter();
        let ids = ids.map(|(name, value)| (name, value, identity::WHY));
        let vectors = table.iter().flat_map(Table::of_function);
        let vectors = vectors.map(|(name, value)| {
            let why = "MSI-X, with the table in the block";
            (name, value.to_string(), why)
        });
        for (name, value, why) in ids.chain(vectors) {
            let new = Value::new(name, value, why);
            match parameters.iter_mut().find(|one| one.name == name) {
                Some(one) if one.value == new.value => {}
                Some(one) => *one = new,
                None => parameters.push(new),
            }
        }
        let written: Vec<_> = parameters
            .iter()
            .map(|one| (one.name.as_str(), one.value.clone()))
            .collect();
        let (kind, version) = (to.kind, COMPONENT_VERSION);
        let text = site
            .system
            .instance_text(&hip.element, kind, version, &hip.name, &written);
        let span = hip.element.span.clone();
        self.edits.replace(span, text.trim_start().to_string());
        let (name, old) = (&hip.name, &hip.kind);
        self.note(
            format!("instance {name}: kind {old} becomes {}", to.kind),
            KIND,
        );
        for one in &parameters {
            let before = hip.parameter(&one.name).map(str::trim);
            if before != Some(&one.value) {
                let before = before.unwrap_or("not set");
                let what = format!("{name}: {} {before} → {}", one.name, one.value);
                self.note(what, one.why);
            }
        }
        for (why, names) in to.gone() {
            self.note(
                format!("{name}: these are removed: {}", names.join(", ")),
                why,
            );
        }
    }

    /// Moves the connections of the hard IP's bridge to the block, and joins the two.
    pub(super) fn streaming_port(&mut self, streaming: &Streaming<'_>) {
        let site = self.site();
        let (hip, dma) = (&site.hip.name, &site.dma.name);
        let system = site.system;
        for connection in system.connections.iter().chain(&system.dormant) {
            if connection.end == End::new(dma, "dma_irq") {
                self.remove(connection, INSIDE);
            } else if self.stays(connection) {
                self.move_end(connection, "start", &connection.start);
                self.move_end(connection, "end", &connection.end);
            }
        }
        for element in system.document.root.children("interface") {
            let Some(internal) = element.attribute_at("internal") else {
                continue;
            };
            let Some((instance, interface)) = internal.value.split_once('.') else {
                continue;
            };
            if let Some((to, why)) = self.moved(&End::new(instance, interface)) {
                let name = element.attribute("name").unwrap_or_default();
                self.move_ports(element, interface);
                self.edits.replace(internal.span.clone(), to.to_string());
                self.note(
                    format!("export {name} is {to} in place of {}", internal.value),
                    why,
                );
            }
        }
        for requirement in system.document.root.children("interconnectRequirement") {
            if !self.is_gone(requirement) {
                self.move_requirement(requirement);
            }
        }
        if let Some(kernel) = streaming.kernel {
            self.first_interrupt(kernel);
        }
        let Some(at) = system.of_kind("clock").find(|c| self.stays(c)) else {
            // The block's own clock stays.
            return;
        };
        let new = |kind, start: End, end: End| NewConnection {
            kind,
            version: &at.version,
            start,
            end,
            base: None,
        };
        let clock = new("clock", End::new(hip, RAW_CLOCK), End::new(dma, RAW_CLOCK));
        self.add_after(at, &[clock], BUFFER);
        let clock = new("clock", End::new(dma, CLOCK), End::new(hip, "pld_clk"));
        self.add_after(at, &[clock], APPLICATION);
        let [receive, send] = STREAMS;
        let mut packets = vec![
            new(
                "avalon_streaming",
                End::new(hip, receive),
                End::new(dma, receive),
            ),
            new("avalon_streaming", End::new(dma, send), End::new(hip, send)),
        ];
        packets.extend(
            CONDUITS
                .iter()
                .map(|(name, _)| new("conduit", End::new(hip, name), End::new(dma, name))),
        );
        self.add_after(at, &packets, PACKETS);
    }

    /// Renames the ports of an export. The block's have the names of the old hard IP's, except this one.
    fn move_ports(&mut self, export: &Element, interface: &str) {
        let (old, new) = RESET_PORTS;
        let ports = export
            .children("port")
            .filter_map(|port| port.attribute_at("internal"));
        for port in ports.filter(|port| interface == "nreset_status" && port.value == old) {
            self.edits.replace(port.span.clone(), new);
            let name = export.attribute("name").unwrap_or_default();
            self.note(format!("export {name}: port {old} → {new}"), RESET);
        }
    }

    /// Returns the new place of an interface of the old hard IP, if it moves, and the reason.
    fn moved(&self, end: &End) -> Option<(End, &'static str)> {
        let site = self.site();
        let (hip, dma) = (&site.hip.name, &site.dma.name);
        if end.instance != *hip {
            return None;
        }
        let moved = match end.interface.as_str() {
            CLOCK => (End::new(dma, CLOCK), BUFFER),
            "nreset_status" => (End::new(dma, "nreset_status"), RESET),
            "Cra" => (End::new(dma, "Cra"), CRA),
            RXM_IRQ => (End::new(dma, "kernel_irq"), KERNEL),
            _ => (End::new(dma, board(bar_number(end)?)), BOARD),
        };
        Some(moved)
    }

    /// Moves one end of a connection.
    fn move_end(&mut self, connection: &Connection, attribute: &str, end: &End) {
        let at: Option<&Attribute> = connection.element.attribute_at(attribute);
        let (Some((to, why)), Some(at)) = (self.moved(end), at) else {
            return;
        };
        self.edits.replace(at.span.clone(), to.to_string());
        let verb = if attribute == "start" {
            "begins"
        } else {
            "ends"
        };
        let Connection {
            kind, start, end, ..
        } = connection;
        self.note(
            format!("{kind} connection {start} → {end} {verb} at {to}"),
            why,
        );
    }

    /// Moves a requirement on the interconnect with its subject.
    fn move_requirement(&mut self, requirement: &Element) {
        let Some(subject) = requirement.attribute_at("for") else {
            return;
        };
        let mut new = String::new();
        let mut why = None;
        for part in subject.value.split_inclusive(['|', '/']) {
            let name = part.trim_end_matches(['|', '/']);
            let moved = name
                .split_once('.')
                .and_then(|(instance, interface)| self.moved(&End::new(instance, interface)));
            match moved {
                Some((to, reason)) => {
                    new += &format!("{to}{}", &part[name.len()..]);
                    why = Some(reason);
                }
                None => new += part,
            }
        }
        if let Some(why) = why {
            self.edits.replace(subject.span.clone(), escape(&new));
            let name = requirement.attribute("name").unwrap_or_default();
            let what = format!(
                "requirement {name} to the interconnect at {} is at {new}",
                subject.value
            );
            self.note(what, why);
        }
    }

    /// Sets the number of the kernel's interrupt: the block has one input, number 0.
    fn first_interrupt(&mut self, kernel: &Connection) {
        let number = |element: &&Element| element.attribute("name") == Some("irqNumber");
        let mut parameters = kernel.element.children("parameter");
        let value = parameters
            .find(number)
            .and_then(|p| p.attribute_at("value"));
        if let Some(value) = value.filter(|value| value.value.trim() != "0") {
            self.edits.replace(value.span.clone(), "0");
            let what = format!("{}: interrupt {} becomes 0", kernel.end, value.value);
            self.note(what, KERNEL);
        }
    }
}
