//! The interface, as in its source in Rust.

use crate::Error;
use crate::comment::{Names, resolve};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Fields, ItemConst, ItemMod, ItemStruct, Type, Visibility};

/// All of it, in the order of the source. Documentation is text for people: names in it are C's.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) doc: Vec<String>,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug)]
pub(crate) enum Item {
    Constant(Constant),
    /// Constants that belong together.
    Group {
        doc: Vec<String>,
        constants: Vec<Constant>,
    },
    Structure(Structure),
}

#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) doc: Vec<String>,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A structure without padding.
#[derive(Debug)]
pub(crate) struct Structure {
    pub(crate) doc: Vec<String>,
    /// Without `struct`.
    pub(crate) name: String,
    pub(crate) members: Vec<Member>,
    /// Bytes.
    pub(crate) size: usize,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) doc: Vec<String>,
    pub(crate) name: String,
    pub(crate) r#type: &'static str,
    /// `[N]`, or nothing.
    pub(crate) array: String,
    /// Bytes from the start of the structure.
    pub(crate) offset: usize,
}

fn at<T>(place: &impl Spanned, what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Source {
        line: place.span().start().line,
        what: what.into(),
    })
}

/// Returns a type of the interface: C's name, and bytes.
fn scalar(path: &syn::TypePath) -> Option<(&'static str, usize)> {
    Some(match path.path.get_ident()?.to_string().as_str() {
        "u8" => ("__u8", 1),
        "u32" => ("__u32", 4),
        "i32" => ("__s32", 4),
        "u64" => ("__u64", 8),
        "i64" => ("__s64", 8),
        _ => return None,
    })
}

impl Interface {
    pub(crate) fn parse(source: &str) -> Result<Self, Error> {
        let file = syn::parse_file(source).map_err(|error| Error::Source {
            line: error.span().start().line,
            what: error.to_string(),
        })?;
        let mut reader = Reader {
            names: Names::new(&file),
            numbers: Vec::new(),
        };
        let mut items = Vec::new();
        for item in &file.items {
            items.extend(reader.item(item)?);
        }
        Ok(Self {
            doc: reader.doc(&file.attrs)?,
            items,
        })
    }
}

struct Reader {
    names: Names,
    /// Numbers that can be the length of an array.
    numbers: Vec<(String, usize)>,
}

impl Reader {
    fn item(&mut self, item: &syn::Item) -> Result<Option<Item>, Error> {
        Ok(match item {
            syn::Item::Const(item) if is_public(&item.vis) => {
                self.constant("", item)?.map(Item::Constant)
            }
            syn::Item::Mod(item) if is_public(&item.vis) => Some(self.group(item)?),
            syn::Item::Struct(item) if is_c(&item.attrs) => Some(self.structure(item)?),
            _ => None,
        })
    }

    /// Returns the text of doc comments.
    fn doc(&self, attributes: &[Attribute]) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("doc")) {
            let syn::Meta::NameValue(doc) = &attribute.meta else {
                continue;
            };
            if let Expr::Lit(literal) = &doc.value
                && let syn::Lit::Str(text) = &literal.lit
            {
                lines.push(text.value().trim().to_owned());
            }
        }
        let Some(first) = attributes.first() else {
            return Ok(lines);
        };
        // A paragraph a line.
        let text = lines.join("\n");
        let paragraphs = text
            .split("\n\n")
            .map(|paragraph| paragraph.replace('\n', " "));
        paragraphs
            .map(|paragraph| {
                resolve(&paragraph, &self.names).or_else(|link| {
                    at(
                        first,
                        format!(
                            "the documentation links to `{link}`, which the header does not have"
                        ),
                    )
                })
            })
            .collect()
    }

    fn group(&mut self, module: &ItemMod) -> Result<Item, Error> {
        let prefix = format!("{}_", module.ident.to_string().to_ascii_uppercase());
        let mut constants = Vec::new();
        for item in module.content.iter().flat_map(|(_, items)| items) {
            let syn::Item::Const(item) = item else {
                return at(item, "a module of the interface holds constants only");
            };
            constants.extend(self.constant(&prefix, item)?);
        }
        Ok(Item::Group {
            doc: self.doc(&module.attrs)?,
            constants,
        })
    }

    fn constant(&mut self, prefix: &str, item: &ItemConst) -> Result<Option<Constant>, Error> {
        let name = item.ident.to_string();
        let (infix, value) = match &*item.ty {
            // The list of all ioctls has no new information.
            Type::Array(_) => return Ok(None),
            Type::Path(path) if path.path.is_ident("Ioctl") => ("IOC_", ioctl(&item.expr)?),
            Type::Path(path) => ("", number(path, &item.expr)?),
            other => return at(other, "a constant of the interface is a number or an ioctl"),
        };
        if let Ok(number) = value.parse() {
            self.numbers.push((name.clone(), number));
        }
        Ok(Some(Constant {
            doc: self.doc(&item.attrs)?,
            name: format!("PEERLANE_{infix}{prefix}{name}"),
            value,
        }))
    }

    fn structure(&self, item: &ItemStruct) -> Result<Item, Error> {
        let name = format!("peerlane_{}", item.ident.to_string().to_ascii_lowercase());
        let Fields::Named(fields) = &item.fields else {
            return at(item, "a structure of the interface has named members");
        };
        let (mut members, mut size, mut widest) = (Vec::new(), 0, 1);
        for field in &fields.named {
            let (element, count, array) = match &field.ty {
                Type::Array(of) => {
                    let (count, text) = self.count(&of.len)?;
                    (&*of.elem, count, format!("[{text}]"))
                }
                one => (one, 1, String::new()),
            };
            let known = match element {
                Type::Path(path) => scalar(path),
                _ => None,
            };
            let Some((r#type, width)) = known else {
                return at(
                    &field.ty,
                    "a member of the interface is u8, u32, i32, u64, i64 or an array of these",
                );
            };
            if size % width != 0 {
                return at(
                    field,
                    format!("there is a hole before it: {size} bytes come first"),
                );
            }
            let Some(ident) = &field.ident else { continue };
            members.push(Member {
                doc: self.doc(&field.attrs)?,
                name: ident.to_string(),
                r#type,
                array,
                offset: size,
            });
            size += width * count;
            widest = widest.max(width);
        }
        if size % widest != 0 {
            return at(
                item,
                format!("there is a hole behind its {size} bytes: add what is reserved"),
            );
        }
        Ok(Item::Structure(Structure {
            doc: self.doc(&item.attrs)?,
            name,
            members,
            size,
        }))
    }

    /// Returns how many elements an array has, as a number and as C's expression.
    fn count(&self, length: &Expr) -> Result<(usize, String), Error> {
        match length {
            Expr::Lit(literal) => {
                if let syn::Lit::Int(number) = &literal.lit
                    && let Ok(count) = number.base10_parse()
                {
                    return Ok((count, number.base10_digits().to_owned()));
                }
            }
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident()
                    && let Some((name, count)) = self.numbers.iter().find(|(name, _)| ident == name)
                {
                    return Ok((*count, format!("PEERLANE_{name}")));
                }
            }
            _ => {}
        }
        at(
            length,
            "the length of an array is a number, or a constant that comes before it",
        )
    }
}

/// Parses `Ioctl::new::<Type>(number, writes_back)`.
fn ioctl(expression: &Expr) -> Result<String, Error> {
    let parts = || {
        let Expr::Call(call) = expression else {
            return None;
        };
        let Expr::Path(function) = &*call.func else {
            return None;
        };
        let syn::PathArguments::AngleBracketed(generic) = &function.path.segments.last()?.arguments
        else {
            return None;
        };
        let syn::GenericArgument::Type(Type::Path(structure)) = generic.args.first()? else {
            return None;
        };
        let structure = structure.path.get_ident()?.to_string().to_ascii_lowercase();
        let mut arguments = call.args.iter();
        let (Expr::Lit(number), Expr::Lit(back)) = (arguments.next()?, arguments.next()?) else {
            return None;
        };
        let (syn::Lit::Int(number), syn::Lit::Bool(back)) = (&number.lit, &back.lit) else {
            return None;
        };
        let kind = if back.value { "_IOWR" } else { "_IOW" };
        Some(format!(
            "{kind}(PEERLANE_IOC_TYPE, {number}, struct peerlane_{structure})"
        ))
    };
    match parts() {
        Some(text) => Ok(text),
        None => at(
            expression,
            "an ioctl is `Ioctl::new::<Structure>(number, bool)`",
        ),
    }
}

/// Returns a number in C's notation.
fn number(path: &syn::TypePath, expression: &Expr) -> Result<String, Error> {
    let suffix = match scalar(path) {
        Some(("__u64", _)) => "ULL",
        Some(("__s64", _)) => "LL",
        Some(("__u32", _)) => "U",
        _ if path.path.is_ident("usize") => "",
        _ => {
            return at(
                path,
                "a constant of the interface is u32, u64, i64 or usize",
            );
        }
    };
    let wide = suffix.ends_with('L');
    let integer = |expression: &Expr| match expression {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => Some(number.to_string().replace('_', "")),
            _ => None,
        },
        _ => None,
    };
    let text = match expression {
        Expr::Binary(shift) if matches!(shift.op, syn::BinOp::Shl(_)) => integer(&shift.left)
            .zip(integer(&shift.right))
            .map(|(left, right)| format!("({left}{suffix} << {right})")),
        Expr::Path(limit) if wide && limit.path.segments.len() == 2 => {
            let last = limit
                .path
                .segments
                .last()
                .map(|segment| segment.ident.to_string());
            (last.as_deref() == Some("MAX")).then(|| match suffix {
                "LL" => format!("{:#x}LL", i64::MAX),
                _ => format!("{:#x}ULL", u64::MAX),
            })
        }
        other => integer(other).map(|number| match wide {
            true => format!("{number}{suffix}"),
            false => number,
        }),
    };
    match text {
        Some(text) => Ok(text),
        None => at(
            expression,
            "a constant of the interface is a number, `number << number` or `i64::MAX`",
        ),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether it is `#[repr(C)]`.
fn is_c(attributes: &[Attribute]) -> bool {
    let mut reprs = attributes.iter().filter(|a| a.path().is_ident("repr"));
    reprs.any(|a| a.parse_args::<syn::Ident>().is_ok_and(|kind| kind == "C"))
}
