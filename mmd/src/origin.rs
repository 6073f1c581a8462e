//! The source from which a library was made. The text is in the file, for users who find it in a platform: `readelf -p
//! .peerlane FILE`, and `aocl diagnose` prints it.

const TEXT: &str = concat!(
    "Peerlane ",
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("PEERLANE_COMMIT"),
    ")"
);

// SAFETY: it is text in a section of its own, which has nothing else, and which is never executed.
#[unsafe(link_section = ".peerlane")]
#[used]
static ORIGIN: [u8; TEXT.len()] = *TEXT.as_bytes().first_chunk().expect("as long");
