//! `driver/uapi/peerlane.h`, written from its one description.
//!
//! `driver/core/src/uapi.rs` is the interface between the driver and its users, with its documentation. [`header`]
//! translates it to C, with the documentation as comments. The formats of a channel's page, its descriptors and its
//! records are the register map's, written by the map's own emitter. The header asserts the layout that a C compiler
//! must arrive at.
//!
//! ```
//! let interface = include_str!("../../core/src/uapi.rs");
//! let map = peerlane_regmap::Map::load();
//! let header = peerlane_header::header(interface, &map)?;
//! assert!(header.contains("#define PEERLANE_IOC_REGISTER"));
//! # Ok::<(), peerlane_header::Error>(())
//! ```

mod comment;
mod interface;
mod write;

use peerlane_regmap::Map;

/// Reasons why no header can be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The interface has an item without a counterpart here.
    #[error("line {line}: {what}")]
    Source {
        /// Line of the interface's source.
        line: usize,
        /// The item, and a hint.
        what: String,
    },
    /// The register map lacks something that programs need.
    #[error(
        "the register map has no block, enumeration or record `{name}`: name another one in driver/header/src/lib.rs"
    )]
    Map {
        /// Its name.
        name: String,
    },
}

/// Items of the register map that programs need: a channel's page, the formats written to it, and the formats of its
/// answers.
const OF_THE_MAP: [&str; 7] = [
    "chan",
    "status_code",
    "page_size",
    "direction",
    "port",
    "descriptor",
    "completion",
];

/// Returns the header for the interface's source and the register map.
///
/// # Errors
/// An item that the header cannot express, with its line.
pub fn header(source: &str, map: &Map) -> Result<String, Error> {
    let interface = interface::Interface::parse(source)?;
    let excerpt = peerlane_regmap::emit::c_excerpt(map, &OF_THE_MAP);
    let excerpt = excerpt.map_err(|name| Error::Map { name: name.into() })?;
    let records = OF_THE_MAP.iter().filter_map(|name| map.record(name));
    Ok(write::header(&interface, &excerpt, records))
}

#[cfg(test)]
mod tests;
