//! The logic of a block in parts.

use peerlane_language::*;

/// One part of a block's logic; `M` names the part.
///
/// rust-hdl takes one `update` of a block, and no function that it calls; its `#[hdl_gen]` makes the three functions of
/// this trait as it makes those of [`Logic`]. [`parts`] puts them together.
pub(crate) trait Part<M> {
    /// Computes the signals of this part.
    fn update(&mut self);
    /// Marks the signals that this part drives.
    fn connect(&mut self);
    /// Returns this part as rust-hdl's syntax tree.
    fn hdl(&self) -> Verilog;
}

/// Joins the parts in their order: statements mean the same as in one `update`.
pub(crate) fn one_behind_the_other(parts: Vec<Verilog>) -> Verilog {
    let mut code = Vec::new();
    for part in parts {
        match part {
            Verilog::Combinatorial(statements) => code.extend(statements),
            _ => unreachable!("`#[hdl_gen]` makes nothing else"),
        }
    }
    Verilog::Combinatorial(code)
}

/// The functions of [`Logic`] for a block whose logic is in the parts that are named, in that order.
macro_rules! parts {
    ($($part:ident),+ $(,)?) => {
        fn update(&mut self) {
            $(crate::prim::Part::<$part>::update(self);)+
        }
        fn connect(&mut self) {
            $(crate::prim::Part::<$part>::connect(self);)+
        }
        fn hdl(&self) -> Verilog {
            crate::prim::one_behind_the_other(vec![$(crate::prim::Part::<$part>::hdl(self)),+])
        }
    };
}
pub(crate) use parts;
