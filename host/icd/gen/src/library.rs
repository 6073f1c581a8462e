//! The files of the library: the vendor's functions, the dispatch table, the wrapper functions.

use std::fmt::Write as _;

use miette::miette;

use crate::{
    File,
    api::{Api, Function},
    rules, wrapper,
};

const HEAD: &str = "// SPDX-License-Identifier: Apache-2.0\n\
    // From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.\n\n";

/// The files of the vendor's functions, for all modules of the library.
pub(crate) fn files(api: &Api) -> miette::Result<Vec<File>> {
    Ok(vec![
        (
            "mod.rs",
            root(
                "The vendor's functions, and places in the dispatch table.",
                &["slot", "vendor"],
            ),
        ),
        ("slot.rs", slots(api)?),
        ("vendor.rs", vendor(api)?),
    ])
}

/// The files of the dispatch table and of its functions.
pub(crate) fn dispatch(api: &Api) -> miette::Result<Vec<File>> {
    let has_row = |name: &str| rules::QUERIES.iter().any(|(_, query, _)| *query == name);
    let without: Vec<_> = (api.queries.iter())
        .filter(|name| rules::sounds_like_handles(name) && !has_row(name))
        .collect();
    if !without.is_empty() {
        return Err(miette!(
            "no row in the table of queries: {without:?}, whose names suggest handles as answers"
        ));
    }
    let (core, extensions): (Vec<_>, Vec<_>) = (api.functions.iter())
        .filter(|(name, _)| !rules::BY_HAND.contains(&name.as_str()))
        .partition(|(name, _)| is_core(name));
    Ok(vec![
        (
            "mod.rs",
            root(
                "The dispatch table, and the functions in it.",
                &["extensions", "functions", "table"],
            ),
        ),
        ("table.rs", table(api)),
        ("functions.rs", functions(api, "OpenCL itself", &core)?),
        ("extensions.rs", functions(api, "extensions", &extensions)?),
    ])
}

/// Whether a function is one of OpenCL itself: the names of extensions' functions end in the name of their maker.
pub(crate) fn is_core(name: &str) -> bool {
    let makers = [
        "KHR",
        "EXT",
        "INTEL",
        "ARM",
        "IMG",
        "QCOM",
        "APPLE",
        "PoCL",
        "IntelFPGA",
        "Altera",
    ];
    !makers.iter().any(|maker| name.ends_with(maker))
}

fn root(purpose: &str, modules: &[&str]) -> String {
    let modules: String = (modules.iter())
        .map(|name| format!("pub(crate) mod {name};\n"))
        .collect();
    format!("{HEAD}//! {purpose}\n\n{modules}")
}

/// The names of OpenCL's functions and of their parameters.
const NAMES: &str = "#![allow(non_snake_case, reason = \"the specification's names\")]\n";

fn vendor(api: &Api) -> miette::Result<String> {
    let mut fields = String::new();
    let mut found = String::new();
    let mut none = String::new();
    for (name, function) in &api.functions {
        let signature = api.signature(function)?;
        let _ = writeln!(
            fields,
            "pub(crate) {name}: Option<unsafe extern \"C\" fn{signature}>,"
        );
        let _ = writeln!(none, "{name}: None,");
        let _ = writeln!(found, "{name}: transmute(find(c\"{name}\")),");
    }
    Ok(format!(
        "{HEAD}//! The functions of a vendor library.\n\n\
        {NAMES}#![allow(clippy::missing_transmute_annotations, clippy::type_complexity, reason = \"as OpenCL has them\")]\n\
        use std::ffi::{{CStr, c_char, c_void}};\nuse std::mem::transmute;\n\n\
        /// The functions of OpenCL in the vendor library.\n\
        pub(crate) struct Vendor {{ {fields} }}\n\n\
        impl Vendor {{\n\
        /// A library without functions.\n\
        pub(crate) const NONE: Self = Self {{ {none} }};\n\n\
        /// Finds the functions with `find`.\n///\n/// # Safety\n\
        /// Its answer for a name is null or that function.\n\
        pub(crate) unsafe fn load(find: impl Fn(&CStr) -> *mut c_void) -> Self {{\n\
        // SAFETY: an `Option` of a function has a null pointer for `None`; the caller promises the rest.\n\
        unsafe {{ Self {{ {found} }} }}\n}}\n}}\n"
    ))
}

fn place(name: &str) -> String {
    if ["clGetPlatformIDs", "clGetPlatformInfo"].contains(&name)
        || name.contains("ExtensionFunctionAddress")
    {
        format!("platform::{name}")
    } else if name == "clSetKernelArg" {
        format!("arguments::{name}")
    } else if name.starts_with("clReportLiveObjects") {
        format!("callbacks::{name}")
    } else if is_core(name) {
        format!("functions::{name}")
    } else {
        format!("extensions::{name}")
    }
}

fn slots(api: &Api) -> miette::Result<String> {
    let mut slots = String::new();
    for (slot, name) in api.table.iter().enumerate() {
        if rules::SLOTS.contains(&&**name) {
            let _ = writeln!(
                slots,
                "/// The slot of `{name}`.\npub(crate) const {name}: usize = {slot};"
            );
        }
    }
    if slots.matches("const").count() != rules::SLOTS.len() {
        return Err(miette!(
            "the dispatch table lacks functions of rules::SLOTS: it has\n{slots}"
        ));
    }
    Ok(format!(
        "{HEAD}//! Places of functions in the dispatch table.\n\n\
        #![allow(non_upper_case_globals, reason = \"the specification's names\")]\n\n{slots}"
    ))
}

fn table(api: &Api) -> String {
    let mut rows = String::new();
    for (slot, name) in api.table.iter().enumerate() {
        let value = match api.functions.contains_key(name) {
            true => format!("function({} as *mut c_void)", place(name)),
            false => "function(null_mut())".to_owned(),
        };
        let _ = writeln!(rows, "// {slot}: {name}\n{value},");
    }
    let mut addresses = String::new();
    for name in api.functions.keys() {
        if name == "clGetPlatformInfo" || name == "clGetPlatformIDs" {
            continue;
        }
        let _ = writeln!(
            addresses,
            "b\"{name}\" if vendor.{name}.is_some() => {} as *mut c_void,",
            place(name)
        );
    }
    let length = api.table.len();
    format!(
        "{HEAD}//! The dispatch table that loaders call through (`_cl_icd_dispatch`).\n\n\
        use std::ffi::c_void;\nuse std::ptr::null_mut;\nuse std::sync::atomic::AtomicPtr;\n\n\
        use super::{{extensions, functions}};\nuse crate::generated::vendor::Vendor;\nuse crate::{{arguments, callbacks, platform}};\n\n\
        /// A slot for each function, in the loaders' order.\n\
        pub(crate) type Table = [AtomicPtr<c_void>; {length}];\n\n\
        const fn function(address: *mut c_void) -> AtomicPtr<c_void> {{ AtomicPtr::new(address) }}\n\n\
        /// The table of this driver. Functions that only other systems have are null.\n\
        pub(crate) static TABLE: Table = [ {rows} ];\n\n\
        /// A function by its name, where the vendor has it.\n\
        pub(crate) fn address(vendor: &Vendor, name: &[u8]) -> *mut c_void {{ match name {{ {addresses} _ => null_mut(), }} }}\n"
    )
}

fn functions(api: &Api, of: &str, all: &[(&String, &Function)]) -> miette::Result<String> {
    let mut text = String::new();
    for (name, function) in all {
        text += &wrapper::function(api, name, function)?;
    }
    let mut uses = String::new();
    for (module, names) in [
        ("answers", ""),
        ("arguments", "ImageDescription, List"),
        ("callbacks", "Callback"),
        ("copy", ""),
        ("offered", ""),
        ("objects", "Held, Kind"),
        ("platform", ""),
    ] {
        let mut wanted: Vec<&str> = Vec::new();
        if text.contains(&format!("{module}::")) {
            wanted.push("self");
        }
        wanted.extend(
            names
                .split(", ")
                .filter(|name| !name.is_empty() && (text.contains(&format!("{name}::")))),
        );
        let _ = match &wanted[..] {
            [] => Ok(()),
            ["self"] => writeln!(uses, "use crate::{module};"),
            _ => writeln!(uses, "use crate::{module}::{{{}}};", wanted.join(", ")),
        };
    }
    let unlimited = "#![allow(clippy::too_many_arguments, reason = \"as OpenCL has them\")]\n";
    let character = match text.contains("c_char") {
        true => "use std::ffi::{c_char, c_void};",
        false => "use std::ffi::c_void;",
    };
    Ok(format!(
        "{HEAD}//! The functions of {of}, for programs: each calls the vendor's with the vendor's handles.\n\n\
        {NAMES}{unlimited}{character}\nuse std::ptr::null_mut;\n\n\
        use crate::INVALID_OPERATION;\n{uses}\n{text}"
    ))
}
