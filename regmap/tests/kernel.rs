//! The generated kernel source, compiled against a replacement of the kernel's `register!` macro that takes the same
//! syntax and stores its input.

use std::collections::HashMap;

use peerlane_regmap::Map;

/// One `register!` entry: name, storage, elements, stride, offset, fields `(high, low, name, type)`.
pub type Entry = (
    &'static str,
    &'static str,
    usize,
    usize,
    usize,
    &'static [(u32, u32, &'static str, &'static str)],
);

/// The grammar of `register!` in Linux 7.3, `rust/kernel/io/register.rs`, for fixed registers and
/// arrays of them.
#[macro_export]
macro_rules! register_stand_in {
    ($(
        $(#[$attr:meta])* $vis:vis $name:ident ($storage:ty)
            $([ $size:expr $(, stride = $stride:expr)? ])? @ $offset:literal
        { $($(#[doc = $doc:expr])* $hi:literal:$lo:literal $field:ident $(=> $into:ty)?;)* }
    )*) => {
        pub(crate) const ENTRIES: &[$crate::Entry] = &[$((
            stringify!($name),
            stringify!($storage),
            0 $(+ $size)?,
            0 $($(+ $stride)?)?,
            $offset,
            &[$(($hi, $lo, stringify!($field), concat!($(stringify!($into))?))),*],
        )),*];
    };
}

/// This crate stands for the crate `kernel`.
extern crate self as kernel;

/// The module of the kernel.
pub mod io {
    pub use crate::register_stand_in as register;
}

#[path = "generated/regs_kernel.rs"]
mod regs;

#[test]
fn every_word_is_there() {
    let map = Map::load();
    assert_eq!(regs::MAP_ID, map.map_id());
    let blocks = HashMap::from([
        ("csr", (regs::csr::SIZE, regs::csr::ENTRIES)),
        ("chan", (regs::chan::SIZE, regs::chan::ENTRIES)),
        ("att", (regs::att::SIZE, regs::att::ENTRIES)),
        ("msix", (regs::msix::SIZE, regs::msix::ENTRIES)),
    ]);
    assert_eq!(blocks.len(), map.blocks.len());
    for block in &map.blocks {
        let (size, entries) = blocks[block.name.as_str()];
        assert_eq!(size as u64, block.size);
        let mut entries = entries.iter();
        for register in block.as_registers(&map) {
            for word in register.words() {
                let (name, storage, count, stride, offset, fields) = entries.next().unwrap();
                assert_eq!((*name, *storage), (word.name.as_str(), "u32"));
                let array = match register.count {
                    1 => (0, 0),
                    count => (count as usize, register.stride as usize),
                };
                assert_eq!((*count, *stride), array, "{name}");
                assert_eq!(*offset as u64, word.offset, "{name}");
                // The kernel's sources name the high field first.
                let expected: Vec<_> = (word.pieces.iter().rev())
                    .map(|p| {
                        let kind = if p.width == 1 { "bool" } else { "" };
                        (p.msb(), p.lsb, p.field.name.as_str(), kind)
                    })
                    .collect();
                assert_eq!(*fields, expected, "{name}");
            }
        }
        assert_eq!(entries.next(), None);
    }
}
