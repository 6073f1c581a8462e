//! From which source a library was made. It stands in the file, for those who find it in a platform:
//! `readelf -p .peerlane FILE`, and `aocl diagnose` says it.

const TEXT: &str = concat!(
    "Peerlane ",
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("PEERLANE_COMMIT"),
    ")"
);

// SAFETY: it is text in a section of its own, which nothing else is put into, and which nobody runs.
#[unsafe(link_section = ".peerlane")]
#[used]
static ORIGIN: [u8; TEXT.len()] = *TEXT.as_bytes().first_chunk().expect("as long");
