//! Ports of a design.

/// Direction of a port, seen from the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Driven by the test bench.
    Input,
    /// Driven by the design.
    Output,
    /// Both.
    InOut,
}

impl Direction {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Input => 0,
            Self::Output => 1,
            Self::InOut => 2,
        }
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        [Self::Input, Self::Output, Self::InOut]
            .into_iter()
            .find(|direction| direction.code() == code)
    }
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Input => "an input",
            Self::Output => "an output",
            Self::InOut => "an inout",
        })
    }
}

/// A port of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// Name in the Verilog.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Width in bits.
    pub width: u32,
}

/// Returns the number of bytes in which Verilator stores a value of `width` bits: 1, 2, 4, 8, or 32-bit words.
pub(crate) fn storage_bytes(width: u32) -> usize {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => width.div_ceil(32) as usize * 4,
    }
}

/// The handle of a port, for the [`Model`](crate::Model)s of the [`Library`](crate::Library) that returned it. With a
/// model of another library it refers to the port with the same number there, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Port {
    index: u32,
}

impl Port {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            index: index as u32,
        }
    }

    pub(crate) fn index(self) -> usize {
        self.index as usize
    }
}
