//! A platform on disk: reads and writes of its texts, its layout, the record of the vendor's files, and the way back to
//! them ([`revert`]).
//!
//! This crate depends on no other package of the project. The crates of the extension and of the check share it, so it
//! has no knowledge of the block and none of a design.

#![warn(unreachable_pub)]

pub mod error;
pub mod finding;
pub mod hash;
pub mod hexadecimal;
pub mod hint;
pub mod interrupt;
pub mod kept;
pub mod key;
pub mod layout;
pub mod message;
pub mod output;
pub mod revert;
pub mod roles;
pub mod size;
pub mod text;
pub mod xml;
