//! An access of the host to a slave.

/// The slave does not take the access in this cycle (`waitrequest`): let a cycle pass and try again. A caller that does
/// not try again withdraws the access, which no master on a board can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait;

/// Returns the bits of a dword whose byte is enabled.
pub(crate) fn mask(lanes: u8) -> u32 {
    (0..4)
        .filter(|lane| lanes >> lane & 1 == 1)
        .fold(0, |mask, lane| mask | 0xFF << (8 * lane))
}
