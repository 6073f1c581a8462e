//! Builds a system of Platform Designer: instances, connections, exports, and the bridges that a board consists of.

/// Version of Quartus that the components are of; a later Quartus migrates them.
pub(crate) const QUARTUS: &str = "13.1";

/// An instance.
#[derive(Debug)]
pub(crate) struct Module {
    /// Name.
    pub name: String,
    /// Kind of component.
    pub kind: &'static str,
    /// Version of the kind.
    pub version: &'static str,
    /// Parameters with their values.
    pub parameters: Vec<(String, String)>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// `clock`, `reset`, `avalon`, `interrupt` or `conduit`.
    pub kind: &'static str,
    /// Where it starts: `instance.interface`.
    pub start: String,
    /// Where it ends.
    pub end: String,
    /// Base address of an `avalon` connection.
    pub base: Option<String>,
    /// Number of an `interrupt` connection.
    pub irq: Option<u32>,
}

/// An interface of the system itself.
#[derive(Debug)]
pub(crate) struct Export {
    /// Name.
    pub name: String,
    /// `instance.interface`.
    pub internal: String,
    /// Kind.
    pub kind: &'static str,
    /// `start` or `end`.
    pub dir: &'static str,
}

/// A system.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// Instances.
    pub modules: Vec<Module>,
    /// Connections.
    pub connections: Vec<Connection>,
    /// Exports.
    pub exports: Vec<Export>,
    /// Most pipeline stages in a path of its interconnect.
    pub stages: u32,
}

impl System {
    /// Adds an instance of a component of Quartus.
    pub(super) fn quartus(&mut self, name: &str, kind: &'static str, parameters: &[(&str, &str)]) {
        self.module(name, kind, QUARTUS, parameters);
    }

    pub(super) fn module(
        &mut self,
        name: &str,
        kind: &'static str,
        version: &'static str,
        parameters: &[(&str, &str)],
    ) {
        let parameters = parameters.iter().map(|(n, v)| ((*n).into(), (*v).into()));
        self.modules.push(Module {
            name: name.into(),
            kind,
            version,
            parameters: parameters.collect(),
        });
    }

    pub(super) fn connect(&mut self, kind: &'static str, start: &str, ends: &[&str]) {
        for end in ends {
            self.connections.push(Connection {
                kind,
                start: start.into(),
                end: (*end).into(),
                base: None,
                irq: None,
            });
        }
    }

    pub(super) fn clock(&mut self, start: &str, ends: &[&str]) {
        self.connect("clock", start, ends);
    }

    pub(super) fn reset(&mut self, start: &str, ends: &[&str]) {
        self.connect("reset", start, ends);
    }

    pub(super) fn slave(&mut self, master: &str, slave: &str, base: u64) {
        self.connections.push(Connection {
            kind: "avalon",
            start: master.into(),
            end: slave.into(),
            base: Some(format!("{base:#06x}")),
            irq: None,
        });
    }

    pub(super) fn interrupt(&mut self, receiver: &str, sender: &str, number: u32) {
        self.connections.push(Connection {
            kind: "interrupt",
            start: receiver.into(),
            end: sender.into(),
            base: None,
            irq: Some(number),
        });
    }

    pub(super) fn export(
        &mut self,
        name: &str,
        internal: &str,
        kind: &'static str,
        dir: &'static str,
    ) {
        self.exports.push(Export {
            name: name.into(),
            internal: internal.into(),
            kind,
            dir,
        });
    }

    /// Adds a bridge in one clock.
    pub(super) fn bridge(&mut self, name: &str, width: u32, bits: u32, burst: u32) {
        let pending = if burst == 1 { "1" } else { "32" };
        self.quartus(
            name,
            "altera_avalon_mm_bridge",
            &[
                ("DATA_WIDTH", &width.to_string()),
                ("SYMBOL_WIDTH", "8"),
                ("ADDRESS_WIDTH", &bits.to_string()),
                ("ADDRESS_UNITS", "SYMBOLS"),
                ("MAX_BURST_SIZE", &burst.to_string()),
                ("MAX_PENDING_RESPONSES", pending),
                ("LINEWRAPBURSTS", "0"),
                ("PIPELINE_COMMAND", "1"),
                ("PIPELINE_RESPONSE", "1"),
            ],
        );
    }

    /// Adds a bridge between two clocks, with bursts as long as those of the kernels and of the DMA.
    pub(super) fn crossing(&mut self, name: &str, width: u32, bits: u32, responses: u32) {
        self.quartus(
            name,
            "altera_avalon_mm_clock_crossing_bridge",
            &[
                ("DATA_WIDTH", &width.to_string()),
                ("SYMBOL_WIDTH", "8"),
                ("ADDRESS_WIDTH", &bits.to_string()),
                ("ADDRESS_UNITS", "SYMBOLS"),
                ("MAX_BURST_SIZE", "16"),
                ("COMMAND_FIFO_DEPTH", "16"),
                ("RESPONSE_FIFO_DEPTH", &responses.to_string()),
                ("MASTER_SYNC_DEPTH", "2"),
                ("SLAVE_SYNC_DEPTH", "2"),
            ],
        );
    }

    pub(super) fn reset_controller(&mut self, name: &str, inputs: u32) {
        self.quartus(
            name,
            "altera_reset_controller",
            &[
                ("NUM_RESET_INPUTS", &inputs.to_string()),
                ("OUTPUT_RESET_SYNC_EDGES", "deassert"),
                ("SYNC_DEPTH", "2"),
            ],
        );
    }
}
