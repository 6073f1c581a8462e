//! The description of OpenCL: functions, types, constants and the order of the dispatch table.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use miette::{IntoDiagnostic, WrapErr, miette};
use quote::ToTokens;
use syn::{GenericArgument, Item, PathArguments, PointerMutability, ReturnType, Type, TypeFnPtr};

use crate::rules;

/// Functions of FPGA vendors, in the form of the crate.
const FPGA: &str = include_str!("../description/fpga.rs");

/// A parameter of a function.
pub(crate) struct Parameter {
    /// Its name in the specification.
    pub(crate) name: String,
    /// Its type, in the description's words.
    pub(crate) ty: Type,
}

impl Parameter {
    /// The type as text without blanks: `*constcl_event`.
    pub(crate) fn text(&self) -> String {
        text(&self.ty)
    }

    /// Returns the type that it points at, if it is a pointer.
    pub(crate) fn pointee(&self) -> Option<String> {
        match &self.ty {
            Type::Ptr(pointer) => Some(text(&pointer.elem)),
            _ => None,
        }
    }

    /// Whether it points at data that the function does not change.
    pub(crate) fn is_const(&self) -> bool {
        matches!(&self.ty, Type::Ptr(pointer) if matches!(pointer.mutability, PointerMutability::Const(_)))
    }
}

/// A function.
pub(crate) struct Function {
    /// In order.
    pub(crate) parameters: Vec<Parameter>,
    /// `None` for C's `void`.
    pub(crate) result: Option<Type>,
}

impl Function {
    /// Whether it has a parameter of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|p| p.name == name)
    }

    /// Returns its result type, as text.
    pub(crate) fn result_text(&self) -> Option<String> {
        self.result.as_ref().map(text)
    }
}

/// The whole description.
#[derive(Default)]
pub(crate) struct Api {
    /// All functions by name, without those that the wrapper does not offer ([`rules::withheld`]).
    pub(crate) functions: BTreeMap<String, Function>,
    /// The names in the order of `_cl_icd_dispatch`, with those that are not offered.
    pub(crate) table: Vec<String>,
    aliases: HashMap<String, Type>,
    constants: HashMap<String, String>,
    /// The constants that are names of queries.
    pub(crate) queries: BTreeSet<String>,
}

/// A type as text without blanks.
pub(crate) fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// `Option<unsafe extern "C" fn(..) -> ..>`.
pub(crate) fn function_pointer(ty: &Type) -> Option<&TypeFnPtr> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match (last.ident == "Option", arguments.args.first()?) {
        (true, GenericArgument::Type(Type::FnPtr(function))) => Some(function),
        _ => None,
    }
}

/// The directory of the source of `opencl-sys`.
pub(crate) fn source() -> miette::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !output.status.success() {
        return Err(miette!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).into_diagnostic()?;
    metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|p| p["name"] == "opencl-sys"))
        .and_then(|package| package["manifest_path"].as_str())
        .map(|manifest| Path::new(manifest).with_file_name("src"))
        .ok_or_else(|| miette!("cargo metadata lists no package opencl-sys"))
}

impl Api {
    /// Reads all files of a directory, and ours of the FPGA vendors' functions.
    pub(crate) fn read(directory: &Path) -> miette::Result<Self> {
        let mut api = Self::default();
        for entry in fs::read_dir(directory).into_diagnostic()? {
            let path = entry.into_diagnostic()?.path();
            let source = fs::read_to_string(&path).into_diagnostic()?;
            let file = (syn::parse_file(&source).into_diagnostic())
                .wrap_err_with(|| path.display().to_string())?;
            for item in file.items {
                api.take(item)?;
            }
        }
        for item in syn::parse_file(FPGA).into_diagnostic()?.items {
            api.take(item)?;
        }
        Ok(api)
    }

    /// From a text.
    #[cfg(test)]
    pub(crate) fn of(source: &str) -> miette::Result<Self> {
        let mut api = Self::default();
        for item in syn::parse_file(source).into_diagnostic()?.items {
            api.take(item)?;
        }
        Ok(api)
    }

    fn take(&mut self, item: Item) -> miette::Result<()> {
        match item {
            Item::Type(item) => {
                let name = item.ident.to_string();
                let function = function_pointer(&item.ty);
                match (function, name.strip_suffix("_t")) {
                    (Some(function), Some(name)) if name.starts_with("cl") => {
                        if rules::withheld(name).is_none() {
                            self.functions
                                .insert(name.into(), read_function(name, function)?);
                        }
                    }
                    _ => {
                        self.aliases.insert(name, *item.ty);
                    }
                }
            }
            Item::Struct(item) if item.ident == "_cl_icd_dispatch" => {
                for field in item.fields {
                    let name = field.ident.map(|name| name.to_string()).unwrap_or_default();
                    // The table has two entries twice: as a function and as the tag of cl_khr_icd 2.
                    if !name.ends_with("_tag") && !self.table.contains(&name) {
                        self.table.push(name);
                    }
                }
            }
            Item::Const(item) => {
                let value = item.expr.to_token_stream().to_string();
                if text(&item.ty).contains("_info") {
                    self.queries.insert(item.ident.to_string());
                }
                self.constants.insert(item.ident.to_string(), value);
            }
            _ => {}
        }
        Ok(())
    }

    /// The value of a constant.
    pub(crate) fn constant(&self, name: &str) -> miette::Result<&str> {
        (self.constants.get(name).map(String::as_str))
            .ok_or_else(|| miette!("the description has no constant {name}"))
    }

    /// The type as the wrapper has it: names followed to the machine's types, structures opaque.
    pub(crate) fn machine(&self, ty: &Type) -> miette::Result<String> {
        if let Some(function) = function_pointer(ty) {
            let inputs: Vec<_> = (function.inputs.iter())
                .map(|input| self.machine(&input.ty))
                .collect::<Result<_, _>>()?;
            let output = match &function.output {
                ReturnType::Type(_, ty) => format!(" -> {}", self.machine(ty)?),
                ReturnType::Default => String::new(),
            };
            let inputs = inputs.join(", ");
            return Ok(format!("Option<unsafe extern \"C\" fn({inputs}){output}>"));
        }
        if let Type::Ptr(pointer) = ty {
            let kind = match pointer.mutability {
                PointerMutability::Mut(_) => "mut",
                PointerMutability::Const(_) => "const",
            };
            return Ok(format!("*{kind} {}", self.machine(&pointer.elem)?));
        }
        let name = text(ty);
        Ok(match name.as_str() {
            "c_void" | "()" => "c_void".into(),
            "c_char" => "c_char".into(),
            "size_t" => "usize".into(),
            "intptr_t" => "isize".into(),
            "c_int" => "i32".into(),
            "::core::ffi::c_uchar" => "u8".into(),
            "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64"
            | "usize" => name,
            _ => match self.aliases.get(&name) {
                Some(alias) if text(alias) != name => self.machine(alias)?,
                // A structure; it occurs only as the target of a pointer.
                _ => "c_void".into(),
            },
        })
    }

    /// Parameters and result as a function declares them.
    pub(crate) fn signature(&self, function: &Function) -> miette::Result<String> {
        let mut parameters = Vec::new();
        for p in &function.parameters {
            let machine = self.machine(&p.ty)?;
            if machine == "c_void" {
                return Err(miette!("the type of {} is not known: {}", p.name, p.text()));
            }
            parameters.push(format!("{}: {machine}", p.name));
        }
        let result = match &function.result {
            Some(ty) => format!(" -> {}", self.machine(ty)?),
            None => String::new(),
        };
        Ok(format!("({}){result}", parameters.join(", ")))
    }
}

/// A type by itself: the description's tree is not kept.
fn copy(ty: &Type) -> miette::Result<Type> {
    syn::parse2(ty.to_token_stream()).into_diagnostic()
}

fn read_function(name: &str, function: &TypeFnPtr) -> miette::Result<Function> {
    let parameters = (function.inputs.iter())
        .map(|input| {
            let (given, _) = (input.name.as_ref())
                .ok_or_else(|| miette!("a parameter of {name} has no name"))?;
            Ok(Parameter {
                name: given.to_string(),
                ty: copy(&input.ty)?,
            })
        })
        .collect::<miette::Result<_>>()?;
    let result = match &function.output {
        ReturnType::Type(_, ty) => Some(copy(ty)?),
        ReturnType::Default => None,
    };
    Ok(Function { parameters, result })
}
