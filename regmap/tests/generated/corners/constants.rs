// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Constants of the register map `corners`, version 1.
//!
//! Offsets are in bytes. A 64-bit register has a constant for each of its 32-bit words.

/// Hash of the map, the value of MAP_ID.
pub const MAP_ID: u32 = 0x4dc5_87ae;

/// Version of the map.
pub const MAP_VERSION: u32 = 1;

/// A corner.
pub mod one {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x8;
    /// Byte offset of A (low word). A corner.
    pub const A_LO: usize = 0x0;
    /// Mask of A_LO.f (bits 31:5, rw). A corner.
    pub const A_LO_F_MASK: u32 = 0xffff_ffe0;
    /// Position of its lowest bit.
    pub const A_LO_F_LSB: usize = 5;
    /// Number of its bits.
    pub const A_LO_F_WIDTH: usize = 27;
    /// Byte offset of A (high word). A corner.
    pub const A_HI: usize = 0x4;
    /// Mask of A_HI.f (bits 0, rw). A corner.
    pub const A_HI_F_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const A_HI_F_LSB: usize = 0;
    /// Number of its bits.
    pub const A_HI_F_WIDTH: usize = 1;
    /// Mask of A_HI.g (bits 2, ro). A corner.
    pub const A_HI_G_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const A_HI_G_LSB: usize = 2;
    /// Number of its bits.
    pub const A_HI_G_WIDTH: usize = 1;
    /// Mask of A_HI.h (bits 31:8, ro). A corner.
    pub const A_HI_H_MASK: u32 = 0xffff_ff00;
    /// Position of its lowest bit.
    pub const A_HI_H_LSB: usize = 8;
    /// Number of its bits.
    pub const A_HI_H_WIDTH: usize = 24;
    /// A after reset.
    pub const A_RESET: u64 = 0x0000_0001_0000_0020;
}

/// A corner.
pub mod two {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x10;
    /// Byte offset of B. A corner.
    pub const B: usize = 0x0;
    /// Mask of B.value (bits 31:0, wo). A corner.
    pub const B_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const B_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const B_VALUE_WIDTH: usize = 32;
    /// Number of B registers.
    pub const B_COUNT: usize = 4;
    /// Bytes from one B to the next.
    pub const B_STRIDE: usize = 4;
}

/// A corner.
pub mod three {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x40;
    /// Byte offset of C. A corner.
    pub const C: usize = 0x4;
    /// Mask of C.go (bits 3, pulse). A corner.
    pub const C_GO_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const C_GO_LSB: usize = 3;
    /// Number of its bits.
    pub const C_GO_WIDTH: usize = 1;
    /// Byte offset of E (low word). A corner.
    pub const E_LO: usize = 0x18;
    /// Mask of E_LO.value (bits 31:0, rw). A corner.
    pub const E_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const E_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const E_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of E (high word). A corner.
    pub const E_HI: usize = 0x1c;
    /// Mask of E_HI.value (bits 31:0, rw). A corner.
    pub const E_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const E_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const E_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of D (low word). A corner.
    pub const D_LO: usize = 0x20;
    /// Mask of D_LO.go (bits 3, wo). A corner.
    pub const D_LO_GO_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const D_LO_GO_LSB: usize = 3;
    /// Number of its bits.
    pub const D_LO_GO_WIDTH: usize = 1;
    /// Byte offset of D (high word). A corner.
    pub const D_HI: usize = 0x24;
    /// Number of D registers.
    pub const D_COUNT: usize = 2;
    /// Bytes from one D to the next.
    pub const D_STRIDE: usize = 16;
}

/// A corner.
pub mod four {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x40;
    /// Byte offset of F. A corner.
    pub const F: usize = 0x4;
    /// Mask of F.value (bits 31:0, ro). A corner.
    pub const F_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const F_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const F_VALUE_WIDTH: usize = 32;
    /// Byte offset of G (low word). A corner.
    pub const G_LO: usize = 0x8;
    /// Mask of G_LO.x (bits 31:0, ro). A corner.
    pub const G_LO_X_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const G_LO_X_LSB: usize = 0;
    /// Number of its bits.
    pub const G_LO_X_WIDTH: usize = 32;
    /// Byte offset of G (high word). A corner.
    pub const G_HI: usize = 0xc;
    /// Mask of G_HI.x (bits 0, ro). A corner.
    pub const G_HI_X_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const G_HI_X_LSB: usize = 0;
    /// Number of its bits.
    pub const G_HI_X_WIDTH: usize = 1;
}
