//! A corpus of small blocks, one for each form of expression or statement.
//!
//! Each block has ports of `Bits<N>` and `bool` only, so that a test can drive
//! any of them with plain numbers; see [`Form`].

#[allow(clippy::nonminimal_bool, reason = "these are the forms to be tested")]
pub mod combinational;
pub mod hierarchy;
pub mod sequential;

use num_bigint::BigUint;
use peerlane_language::*;

/// A value that goes to and from a number.
pub trait Number: Synth {
    fn from_number(value: &BigUint) -> Self;
}

impl<const N: usize> Number for Bits<N> {
    fn from_number(value: &BigUint) -> Self {
        value.clone().into()
    }
}

impl Number for bool {
    fn from_number(value: &BigUint) -> Self {
        value.bit(0)
    }
}

/// Returns a signal's value, of any type.
pub fn number<T: Synth>(value: T) -> BigUint {
    let text = format!("{:x}", value.verilog());
    let (_, digits) = text.split_once("'h").expect("a literal with its width");
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits")
}

/// A block of the corpus.
pub trait Form: Block + Default {
    const NAME: &'static str;
    /// Names and widths of the inputs, without the clock.
    fn inputs() -> Vec<(&'static str, usize)>;
    fn outputs() -> Vec<(&'static str, usize)>;
    fn set(&mut self, values: &[BigUint]);
    fn get(&self) -> Vec<BigUint>;
    /// Drives the clock, where there is one.
    fn set_clock(&mut self, high: bool);
    const CLOCKED: bool;
}

/// Declares a block: `Name { inputs } -> { outputs } [ more fields ] #[hdl_gen] fn update…`.
///
/// The attribute is the caller's: rust-hdl's macro gives its own `self` the
/// attribute's hygiene.
#[macro_export]
macro_rules! form {
    (@ports $name:ident { $($i:ident : $it:ty),* } { $($o:ident : $ot:ty),* }) => {
        const NAME: &'static str = stringify!($name);
        fn inputs() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($i), <$it as Synth>::BITS)),*]
        }
        fn outputs() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($o), <$ot as Synth>::BITS)),*]
        }
        fn set(&mut self, values: &[BigUint]) {
            let mut values = values.iter();
            $(self.$i.next = <$it as Number>::from_number(values.next().expect("a value a port"));)*
            let _ = values;
        }
        fn get(&self) -> Vec<BigUint> {
            vec![$(number(self.$o.val())),*]
        }
    };
    ($name:ident { $($i:ident : $it:ty),* } -> { $($o:ident : $ot:ty),* } [ $($extra:tt)* ] $($update:tt)*) => {
        #[derive(LogicBlock, Default)]
        pub struct $name {
            $(pub $i: Signal<In, $it>,)*
            $(pub $o: Signal<Out, $ot>,)*
            $($extra)*
        }
        impl Logic for $name {
            $($update)*
        }
        impl Form for $name {
            $crate::form!(@ports $name { $($i : $it),* } { $($o : $ot),* });
            fn set_clock(&mut self, _high: bool) {}
            const CLOCKED: bool = false;
        }
    };
    (clocked $name:ident { $($i:ident : $it:ty),* } -> { $($o:ident : $ot:ty),* } [ $($extra:tt)* ] $($update:tt)*) => {
        #[derive(LogicBlock, Default)]
        pub struct $name {
            pub clock: Signal<In, Clock>,
            $(pub $i: Signal<In, $it>,)*
            $(pub $o: Signal<Out, $ot>,)*
            $($extra)*
        }
        impl Logic for $name {
            $($update)*
        }
        impl Form for $name {
            $crate::form!(@ports $name { $($i : $it),* } { $($o : $ot),* });
            fn set_clock(&mut self, high: bool) {
                self.clock.next = high.into();
            }
            const CLOCKED: bool = true;
        }
    };
}

/// Calls `$each!(module: Form, …)` with all forms of the corpus.
#[macro_export]
macro_rules! for_all_forms {
    ($each:ident) => {
        $crate::for_combinational_forms!($each);
        $crate::for_hierarchy_forms!($each);
        $crate::for_sequential_forms!($each);
    };
}
