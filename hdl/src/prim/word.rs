//! Words that cross a FIFO or are in a memory.

use peerlane_language::*;

/// The word of a FIFO or a memory: plain bits, or a struct of them.
pub trait Word: Synth {
    /// The word of these bits, which are asked for one by one, the lowest first.
    fn from_bits(bit: &mut dyn FnMut() -> bool) -> Self;
}

impl Word for bool {
    fn from_bits(bit: &mut dyn FnMut() -> bool) -> Self {
        bit()
    }
}

impl<const N: usize> Word for Bits<N> {
    fn from_bits(bit: &mut dyn FnMut() -> bool) -> Self {
        (0..N).fold(Self::default(), |word, at| word.replace_bit(at, bit()))
    }
}

/// Structs of signals that are words; the first field has the lowest bits.
macro_rules! words {
    ($($(#[$meta:meta])* struct $name:ident { $($(#[$doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl crate::prim::Word for $name {
            fn from_bits(bit: &mut dyn FnMut() -> bool) -> Self {
                Self { $($field: crate::prim::Word::from_bits(bit),)* }
            }
        }
    )*};
}
pub(crate) use words;
