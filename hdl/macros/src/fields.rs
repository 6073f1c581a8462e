//! Parts of a struct that both macros read.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Lit, Meta};

/// The named fields of a struct.
pub(crate) fn of(input: &DeriveInput) -> Result<Vec<&Field>, Error> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only structs are blocks"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "fields need names"));
    };
    Ok(fields.named.iter().collect())
}

/// Reports whether a field is hardware. The name of a field that is not begins with `_`.
pub(crate) fn is_hardware(field: &Field) -> bool {
    field
        .ident
        .as_ref()
        .is_some_and(|name| !name.to_string().starts_with('_'))
}

/// The `///` lines.
pub(crate) fn docs(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &pair.value
        {
            lines.extend(text.value().split('\n').map(|line| line.trim().to_owned()));
        }
    }
    lines
}

/// Calls `accept` for each field, after the field's documentation.
pub(crate) fn accept(fields: &[&Field]) -> TokenStream {
    let visits = fields.iter().map(|field| {
        let name = &field.ident;
        let text = name.as_ref().map(ToString::to_string).unwrap_or_default();
        let lines = docs(&field.attrs);
        let document = (!lines.is_empty())
            .then(|| quote!(::peerlane_verilog::hints::document(probe, self, &[#(#lines),*]);));
        quote! {
            #document
            self.#name.accept(#text, probe);
        }
    });
    quote!(#(#visits)*)
}

/// Makes `connect_all`, `update_all` and `has_changed` of `Block`.
pub(crate) fn block_methods(fields: &[&Field]) -> TokenStream {
    let names: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    quote! {
        fn connect_all(&mut self) {
            ::peerlane_language::Logic::connect(self);
            #(self.#names.connect_all();)*
        }
        fn update_all(&mut self) {
            ::peerlane_language::Logic::update(self);
            #(self.#names.update_all();)*
        }
        fn has_changed(&self) -> bool {
            false #(|| self.#names.has_changed())*
        }
    }
}
