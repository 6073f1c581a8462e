//! The register map of the Peerlane DMA block: model, checks and emitters.
//!
//! `regmap/peerlane.toml` defines registers, fields, records in memory and status codes.
//! [`Map::load`] gives the checked [`Map`]; the functions of [`emit`] write it as RTL, constants for
//! Rust, a C header, a reference manual and SystemRDL.
//!
//! ```
//! let map = peerlane_regmap::Map::load();
//! let control = map.block("csr").unwrap().registers().iter().find(|r| r.name == "CONTROL");
//! assert_eq!(control.unwrap().offset, 0x10);
//! ```

mod bits;
mod check;
pub mod emit;
mod error;
mod id;
mod model;
mod names;
mod raw;

pub use error::{ErrorKind, MapError, MapErrors};
pub use id::hash;
pub use model::{
    Access, Block, Constant, Content, Enumeration, Field, Map, Member, MemberField, Piece, Record,
    Register, Variant, Word, ones,
};

/// The text of the project's map, `regmap/peerlane.toml`.
pub const PEERLANE_TOML: &str = include_str!("../peerlane.toml");

impl Map {
    /// The project's map, which is part of this crate.
    ///
    /// # Panics
    /// Never in a tested build: the text is a constant, and a test parses it.
    pub fn load() -> Self {
        match Self::parse(PEERLANE_TOML, "regmap/peerlane.toml") {
            Ok(map) => map,
            Err(errors) => panic!("the embedded map is wrong:\n{errors}"),
        }
    }

    /// Reads and checks a map. `file` is the name that errors give.
    ///
    /// # Errors
    /// [`MapErrors`] with every error that was found, each with its line and item.
    pub fn parse(text: &str, file: &str) -> Result<Self, MapErrors> {
        check::parse(text, file)
    }
}
