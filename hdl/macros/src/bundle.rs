//! `bundle`.

use crate::fields;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Field, GenericArgument, Ident, PathArguments, Type, parse_quote,
};

pub(crate) fn expand(mirror: &Ident, input: &DeriveInput) -> Result<TokenStream, Error> {
    let mut turned = input.clone();
    turned.ident = mirror.clone();
    turned.attrs.clear();
    let about = format!(
        " [`{}`], from the other side of the connection.",
        input.ident
    );
    turned.attrs.push(parse_quote!(#[doc = #about]));
    if let Data::Struct(data) = &mut turned.data {
        for field in &mut data.fields {
            turn(field)?;
        }
    }
    let here = one(input, mirror)?;
    let there = one(&turned, &input.ident)?;
    Ok(quote!(#here #there))
}

/// Exchanges `In` and `Out` of a signal.
fn turn(field: &mut Field) -> Result<(), Error> {
    let problem = Error::new_spanned(
        &field.ty,
        "a bundle has `Signal<In, _>` and `Signal<Out, _>`",
    );
    let Type::Path(path) = &mut field.ty else {
        return Err(problem);
    };
    let Some(last) = path.path.segments.last_mut() else {
        return Err(problem);
    };
    let PathArguments::AngleBracketed(arguments) = &mut last.arguments else {
        return Err(problem);
    };
    let Some(GenericArgument::Type(Type::Path(direction))) = arguments.args.first_mut() else {
        return Err(problem);
    };
    let other = if direction.path.is_ident("In") {
        "Out"
    } else if direction.path.is_ident("Out") {
        "In"
    } else {
        return Err(problem);
    };
    let other = format_ident!("{other}");
    direction.path = parse_quote!(#other);
    Ok(())
}

fn one(input: &DeriveInput, mirror: &Ident) -> Result<TokenStream, Error> {
    let fields = fields::of(input)?;
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let methods = fields::block_methods(&fields);
    let accept = fields::accept(&fields);
    let names: Vec<_> = fields.iter().map(|f| &f.ident).collect();
    let types: Vec<_> = fields.iter().map(|f| &f.ty).collect();
    let paths: Vec<_> = names
        .iter()
        .map(|name| {
            let name = name.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{{}}.{name}")
        })
        .collect();
    Ok(quote! {
        #[derive(Clone, Debug, Default)]
        #input

        impl #impl_generics ::peerlane_language::Logic for #name #ty_generics #where_clause {
            fn update(&mut self) {}
            fn connect(&mut self) {}
        }

        impl #impl_generics ::peerlane_language::Block for #name #ty_generics #where_clause {
            #methods
            fn accept(&self, name: &str, probe: &mut dyn ::peerlane_language::Probe) {
                probe.visit_start_namespace(name, self);
                #accept
                probe.visit_end_namespace(name, self);
            }
        }

        impl #impl_generics ::peerlane_language::logic::LogicLink for #name #ty_generics #where_clause {
            fn link(&mut self, other: &mut Self) {
                #(self.#names.link(&mut other.#names);)*
            }
            fn link_connect_source(&mut self) {
                #(self.#names.link_connect_source();)*
            }
            fn link_connect_dest(&mut self) {
                #(self.#names.link_connect_dest();)*
            }
            fn link_hdl(my_name: &str, this: &str, that: &str) -> Vec<::peerlane_language::ast::VerilogLink> {
                let mut links = Vec::new();
                #(links.extend(<#types>::link_hdl(&format!(#paths, my_name), this, that));)*
                links
            }
        }

        impl #impl_generics ::peerlane_language::logic::LogicJoin for #name #ty_generics #where_clause {
            fn join_connect(&mut self) {
                #(self.#names.join_connect();)*
            }
            fn join_hdl(my_name: &str, this: &str, that: &str) -> Vec<::peerlane_language::ast::VerilogLink> {
                let mut links = Vec::new();
                #(links.extend(<#types>::join_hdl(&format!(#paths, my_name), this, that));)*
                links
            }
        }

        impl #impl_generics #name #ty_generics #where_clause {
            /// Connects the two sides.
            pub fn join(&mut self, other: &mut #mirror #ty_generics) {
                #(self.#names.join(&mut other.#names);)*
            }
        }
    })
}
