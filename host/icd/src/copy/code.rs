//! Numbers of the extensions.

// Of `peerlane_ext.h`.
/// `CL_PEER_NOT_SUPPORTED_PEERLANE`.
pub(super) const PEER_NOT_SUPPORTED: i32 = -10003;
/// `CL_BUFFER_WITHOUT_ADDRESS_PEERLANE`.
pub(super) const BUFFER_WITHOUT_ADDRESS: i32 = -10004;
/// `CL_BOARD_RESTARTED_PEERLANE`.
pub(super) const BOARD_RESTARTED: i32 = -10009;

// Of `peerlane_copy.h`.
/// `CL_COMMAND_COPY_BUFFER_PEERLANE`.
pub(super) const COMMAND_COPY_BUFFER: u32 = 0x5045_0001;
/// `CL_COPY_BUFFER_PATH_PEERLANE`.
pub(super) const COPY_BUFFER_PATH: u32 = 0x5045_0010;
/// `CL_COPY_BUFFER_REASON_PEERLANE`.
pub(super) const COPY_BUFFER_REASON: u32 = 0x5045_0011;
/// `CL_COPY_BUFFER_PATH_HOST_PEERLANE`.
pub(super) const PATH_HOST: u32 = 0;
/// `CL_COPY_BUFFER_PATH_DIRECT_PEERLANE`.
pub(super) const PATH_DIRECT: u32 = 1;
