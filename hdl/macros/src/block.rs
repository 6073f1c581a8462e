//! `DocBlock`.

use crate::fields;
use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Field, GenericParam, Ident, Type};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream, Error> {
    let all = fields::of(input)?;
    let hardware: Vec<&Field> = all
        .iter()
        .copied()
        .filter(|f| fields::is_hardware(f))
        .collect();
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let methods = fields::block_methods(&hardware);
    let accept = fields::accept(&hardware);
    let about = fields::docs(&input.attrs);
    let about = (!about.is_empty())
        .then(|| quote!(::peerlane_verilog::hints::about(probe, self, &[#(#about),*]);));
    let module_name = module_name(input)?.map(
        |method| quote!(::peerlane_verilog::hints::module_name(probe, self, &self.#method());),
    );
    let fresh = fresh(input, &all)?;
    Ok(quote! {
        impl #impl_generics ::peerlane_language::Block for #name #ty_generics #where_clause {
            #methods
            fn accept(&self, name: &str, probe: &mut dyn ::peerlane_language::Probe) {
                probe.visit_start_scope(name, self);
                #about
                #module_name
                #accept
                probe.visit_end_scope(name, self);
            }
        }
        #fresh
    })
}

fn module_name(input: &DeriveInput) -> Result<Option<Ident>, Error> {
    let attribute = input
        .attrs
        .iter()
        .find(|a| a.path().is_ident("module_name"));
    attribute.map(|a| a.parse_args()).transpose()
}

/// `XGiven` and `X::fresh`.
fn fresh(input: &DeriveInput, all: &[&Field]) -> Result<Option<TokenStream>, Error> {
    let (given, others): (Vec<&Field>, Vec<&Field>) =
        all.iter().copied().partition(|f| is_given(f));
    if given.is_empty() {
        return Ok(None);
    }
    let (name, visibility) = (&input.ident, &input.vis);
    let parts = format_ident!("{name}Given");
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let about = format!("Fields of a [`{name}`] that the caller gives; the others are defaults.");
    let (given_names, given_types): (Vec<_>, Vec<_>) =
        given.iter().map(|f| (&f.ident, &f.ty)).unzip();
    let mut generics = input.generics.clone();
    generics.params = generics
        .params
        .into_iter()
        .filter(|parameter| match parameter {
            GenericParam::Type(parameter) => given_types
                .iter()
                .any(|ty| mentions(quote!(#ty), &parameter.ident)),
            _ => true,
        })
        .collect();
    let (_, parts_generics, _) = generics.split_for_impl();
    let others = others.iter().map(|f| &f.ident);
    Ok(Some(quote! {
        #[doc = #about]
        #[allow(missing_docs)]
        #visibility struct #parts #generics #where_clause {
            #(pub(crate) #given_names: #given_types,)*
        }

        impl #impl_generics #name #ty_generics #where_clause {
            /// The block of these parts; all others are as `Default` makes them.
            #[allow(dead_code)]
            fn fresh(given: #parts #parts_generics) -> Self {
                Self {
                    #(#given_names: given.#given_names,)*
                    #(#others: ::core::default::Default::default(),)*
                }
            }
        }
    }))
}

/// Reports whether the name is in the tokens.
fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Marked, or a constant, which has no default.
fn is_given(field: &Field) -> bool {
    let is_constant = matches!(
        &field.ty,
        Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Constant")
    );
    is_constant || field.attrs.iter().any(|a| a.path().is_ident("given"))
}
