//! The direction of a transfer.

/// Direction of a transfer between the GPU and the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToGpu,
    ToBoard,
}
