//! Derives for rust-hdl blocks and bundles of ports; `peerlane-verilog` exports them and documents their use.
//!
//! rust-hdl's own `LogicBlock` and `LogicInterface` lose the documentation of fields. The code that is generated here
//! is the same, and also passes the `///` lines of each field to the back-end before it shows the field.

mod block;
mod bundle;
mod fields;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Derives rust-hdl's `Block`, like its `LogicBlock`, with the documentation of the struct and its fields.
///
/// `#[module_name(METHOD)]` on the struct: `self.METHOD()` gives the name of the Verilog module.
///
/// A struct with constants, or with fields marked `#[given]`, cannot be made by `Default`: for a struct `X` there
/// is `XGiven` with these fields, and `X::fresh(given: XGiven)`, in which all others are fresh.
#[proc_macro_derive(DocBlock, attributes(given, module_name))]
pub fn doc_block(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    finish(block::derive(&input))
}

/// `#[bundle(Mirror)]` makes a struct of signals a bundle of ports, like rust-hdl's `LogicInterface`, with the
/// documentation of its fields; and `Mirror`, the same bundle as the other side of the connection has it.
///
/// `link` connects a block's bundle with the same bundle of a part, `join` a bundle with its mirror.
#[proc_macro_attribute]
pub fn bundle(mirror: TokenStream, item: TokenStream) -> TokenStream {
    let mirror = parse_macro_input!(mirror as syn::Ident);
    let input = parse_macro_input!(item as DeriveInput);
    finish(bundle::expand(&mirror, &input))
}

fn finish(result: Result<proc_macro2::TokenStream, Error>) -> TokenStream {
    result.unwrap_or_else(|e| e.into_compile_error()).into()
}
