//! `driver/uapi/peerlane.h`, written from its one description.
//!
//! What the driver and its users say to each other stands in `driver/core/src/uapi.rs`, with its
//! documentation. [`header`] says it in C, the documentation as comments. What a channel's page,
//! its descriptors and its records look like is the register map's, written by the map's own
//! emitter. The layout that a C compiler must arrive at is asserted in the header.
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

/// Why no header can be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The interface says something that has no counterpart here.
    #[error("line {line}: {what}")]
    Source {
        /// Line of the interface's source.
        line: usize,
        /// What it is, and what to do.
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

/// What programs need of the register map: a channel's page, what is written to it, and what comes
/// back.
const OF_THE_MAP: [&str; 7] = [
    "chan",
    "status_code",
    "page_size",
    "direction",
    "port",
    "descriptor",
    "completion",
];

/// The header, of the interface's source and the register map.
///
/// # Errors
/// What the header cannot say, with its line.
pub fn header(source: &str, map: &Map) -> Result<String, Error> {
    let interface = interface::Interface::parse(source)?;
    let excerpt = peerlane_regmap::emit::c_excerpt(map, &OF_THE_MAP);
    let excerpt = excerpt.map_err(|name| Error::Map { name: name.into() })?;
    let records = OF_THE_MAP.iter().filter_map(|name| map.record(name));
    Ok(write::header(&interface, &excerpt, records))
}

#[cfg(test)]
mod tests;
