//! For the tests: the description compared with the headers in C, and the names that a vendor
//! library gives to the slots of the dispatch table.

use std::fmt::Write as _;

use miette::miette;
use syn::{PointerMutability, Type};

use crate::{
    File,
    api::{self, Api},
};

const HEAD: &str = "/* SPDX-License-Identifier: Apache-2.0\n \
    * From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit. */\n";

/// Newer than the headers of the oldest Debian that the tests run on, whose table ends before them.
const NEWER: [&str; 1] = ["clGetKernelSuggestedLocalWorkSize"];

/// Both files.
pub(crate) fn files(api: &Api) -> miette::Result<Vec<File>> {
    Ok(vec![("check_api.c", check(api)?), ("names.h", names(api))])
}

/// A program that compiles only if position and type of each function are those of the headers.
fn check(api: &Api) -> miette::Result<String> {
    let mut text = String::from(HEAD);
    for version in ["1_0", "1_1", "1_2", "2_0", "2_1", "2_2"] {
        let _ = writeln!(text, "#define CL_USE_DEPRECATED_OPENCL_{version}_APIS");
    }
    text += "#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl.h>\n#include <CL/cl_icd.h>\n\
        #include <stddef.h>\n#include <stdint.h>\n";
    for (slot, name) in api.table.iter().enumerate() {
        if NEWER.contains(&&**name) {
            continue;
        }
        let _ = writeln!(
            text,
            "_Static_assert(offsetof(cl_icd_dispatch, {name}) == {slot} * sizeof(void *), \"{name}\");"
        );
        let Some(function) = api.functions.get(name) else {
            continue;
        };
        let parameters: Vec<_> = (function.parameters.iter())
            .map(|p| c_type(&p.ty))
            .collect::<Result<_, _>>()?;
        let parameters = match parameters.is_empty() {
            true => "void".to_owned(),
            false => parameters.join(", "),
        };
        let result = match &function.result {
            Some(ty) => c_type(ty)?,
            None => "void".to_owned(),
        };
        let _ = writeln!(
            text,
            "void *t{slot}(cl_icd_dispatch *d) {{ {result} (*f)({parameters}) = d->{name}; return (void *)f; }}"
        );
    }
    Ok(text)
}

/// `ENTRY(name, slot)` for each function, without those that the plain vendor library has by hand.
fn names(api: &Api) -> String {
    let mut text = String::from(HEAD);
    for (slot, name) in api.table.iter().enumerate() {
        let by_hand = name == "clGetPlatformInfo" || name.contains("ExtensionFunctionAddress");
        let newer = NEWER.contains(&&**name);
        if !by_hand && !newer && api.functions.contains_key(name) {
            let _ = writeln!(text, "ENTRY({name}, {slot})");
        }
    }
    text
}

/// The type as C writes it.
fn c_type(ty: &Type) -> miette::Result<String> {
    if let Some(function) = api::function_pointer(ty) {
        let parameters: Vec<_> = (function.inputs.iter())
            .map(|input| c_type(&input.ty))
            .collect::<Result<_, _>>()?;
        return Ok(format!("void (*)({})", parameters.join(", ")));
    }
    let Type::Ptr(pointer) = ty else {
        let name = api::text(ty);
        return Ok(match name.as_str() {
            "c_void" | "()" => "void".into(),
            "c_char" => "char".into(),
            "::core::ffi::c_uchar" => "unsigned char".into(),
            name if name.contains(':') => return Err(miette!("{name} in C?")),
            _ => name,
        });
    };
    let target = c_type(&pointer.elem)?;
    Ok(match pointer.mutability {
        PointerMutability::Mut(_) => format!("{target} *"),
        PointerMutability::Const(_) => format!("{target} const *"),
    })
}
