//! The ports of a board's `top.v`, to which its pins are assigned.

use crate::board::model::Board;

/// Direction of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Into the device.
    In,
    /// Out of it.
    Out,
    /// Both.
    Both,
}

impl Direction {
    /// Returns Verilog's keyword, padded.
    pub(crate) fn verilog(self) -> &'static str {
        match self {
            Self::In => "input ",
            Self::Out => "output",
            Self::Both => "inout ",
        }
    }
}

/// A port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    /// Name.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Bits of a vector; none for a plain wire.
    pub bits: Option<u32>,
    /// The signal of the system that the port is directly connected to, if there is one.
    pub signal: Option<String>,
}

impl Port {
    /// Returns the names that pins are assigned to.
    pub(crate) fn pins(&self) -> Vec<String> {
        match self.bits {
            None => vec![self.name.clone()],
            Some(bits) => (0..bits)
                .map(|bit| format!("{}[{bit}]", self.name))
                .collect(),
        }
    }

    /// Returns the range in Verilog, padded.
    pub(crate) fn range(&self) -> String {
        let range = self.bits.map(|bits| format!("[{}:0]", bits - 1));
        format!("{:<7}", range.unwrap_or_default())
    }
}

/// Returns the ports of a board.
pub(crate) fn ports(board: &Board) -> Vec<Port> {
    use Direction::{Both, In, Out};
    let port = |name: &str, direction, bits, signal: &str| Port {
        name: name.into(),
        direction,
        bits,
        signal: (!signal.is_empty()).then(|| signal.into()),
    };
    let lanes = Some(board.pcie.lanes);
    let mut ports = vec![
        port("board_clk", In, None, "board_clk_clk"),
        port("kernel_refclk", In, None, "kernel_refclk_clk"),
        port("pcie_refclk", In, None, "pcie_refclk_clk"),
        port("pcie_perst_n", In, None, "pcie_npor_pin_perst"),
        port("pcie_rx", In, lanes, ""),
        port("pcie_tx", Out, lanes, ""),
    ];
    for bank in &board.memory {
        let name = &bank.name;
        ports.push(port(
            &format!("{name}_refclk"),
            In,
            None,
            &format!("{name}_refclk_clk"),
        ));
        ports.push(port(
            &format!("{name}_rzq"),
            In,
            None,
            &format!("{name}_oct_rzqin"),
        ));
        let (lanes, ranks, pairs) = (bank.width / 8, bank.ranks, bank.clock_pairs);
        // External Memory Interface Handbook, volume 3, 683841, 1 "Functional Description - UniPHY": the memory's
        // interface.
        for (signal, direction, bits) in [
            ("a", Out, Some(bank.row_bits)),
            ("ba", Out, Some(bank.bank_bits)),
            ("ck", Out, Some(pairs)),
            ("ck_n", Out, Some(pairs)),
            ("cke", Out, Some(ranks)),
            ("cs_n", Out, Some(ranks)),
            ("odt", Out, Some(ranks)),
            ("ras_n", Out, None),
            ("cas_n", Out, None),
            ("we_n", Out, None),
            ("reset_n", Out, None),
            ("dm", Out, Some(lanes)),
            ("dq", Both, Some(bank.width)),
            ("dqs", Both, Some(lanes)),
            ("dqs_n", Both, Some(lanes)),
        ] {
            let inner = format!("{name}_memory_mem_{signal}");
            ports.push(port(&format!("{name}_{signal}"), direction, bits, &inner));
        }
    }
    ports
}
