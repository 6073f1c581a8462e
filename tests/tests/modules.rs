//! The top-level modules of each crate have an order, as `docs/architecture.md` says: no module needs itself through
//! others.
//!
//! Three kinds of code do not count: code that only tests compile, code in the root file, and globs of the root. A name
//! that the root re-exports counts as a name of its module.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use peerlane_tests::tree;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, Meta, Token, TraitItem, UseTree, punctuated::Punctuated};

/// A file or an inline module.
struct Place<'a> {
    file: &'a Path,
    /// The directory of its child modules.
    children: PathBuf,
    /// The modules from the root to here.
    path: &'a [String],
}

/// A name of the root that a module uses.
struct Use {
    from: String,
    name: String,
    file: PathBuf,
    line: usize,
}

/// The modules of a crate, and the names of the root that they use.
#[derive(Default)]
struct Crate {
    modules: BTreeSet<String>,
    /// The module of each name that the root re-exports.
    exports: BTreeMap<String, String>,
    uses: Vec<Use>,
}

impl Crate {
    /// Reads the files of the crate with this root.
    fn read(root: &Path) -> Self {
        let mut read = Self::default();
        let place = Place {
            file: root,
            children: root.parent().expect("in a directory").to_owned(),
            path: &[],
        };
        read.file(&place);
        read
    }

    fn file(&mut self, place: &Place<'_>) {
        let text = fs::read_to_string(place.file).expect("a text");
        let file = syn::parse_file(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
        self.items(file.items, place);
    }

    fn items(&mut self, items: Vec<Item>, place: &Place<'_>) {
        for item in items {
            match item {
                Item::Mod(module) if !only_for_tests(&module.attrs) => self.module(module, place),
                Item::Use(tree) if !only_for_tests(&tree.attrs) => match place.path {
                    [] => self.export(&tree.tree, None),
                    _ => self.names(tree.to_token_stream(), place),
                },
                Item::Macro(item) if !only_for_tests(&item.attrs) => {
                    if item
                        .attrs
                        .iter()
                        .any(|it| it.path().is_ident("macro_export"))
                        && let (Some(name), Some(top)) = (&item.ident, place.path.first())
                    {
                        self.exports.insert(name.to_string(), top.clone());
                    }
                    self.names(item.to_token_stream(), place);
                }
                Item::Impl(mut item) if !only_for_tests(&item.attrs) => {
                    item.items.retain(|item| match item {
                        ImplItem::Const(item) => !only_for_tests(&item.attrs),
                        ImplItem::Fn(item) => !only_for_tests(&item.attrs),
                        ImplItem::Type(item) => !only_for_tests(&item.attrs),
                        _ => true,
                    });
                    self.names(item.to_token_stream(), place);
                }
                Item::Trait(mut item) if !only_for_tests(&item.attrs) => {
                    item.items.retain(|item| match item {
                        TraitItem::Fn(item) => !only_for_tests(&item.attrs),
                        _ => true,
                    });
                    self.names(item.to_token_stream(), place);
                }
                Item::Const(syn::ItemConst { ref attrs, .. })
                | Item::Enum(syn::ItemEnum { ref attrs, .. })
                | Item::Fn(syn::ItemFn { ref attrs, .. })
                | Item::Static(syn::ItemStatic { ref attrs, .. })
                | Item::Struct(syn::ItemStruct { ref attrs, .. })
                | Item::Type(syn::ItemType { ref attrs, .. })
                    if !only_for_tests(attrs) =>
                {
                    self.names(item.to_token_stream(), place);
                }
                _ => {}
            }
        }
    }

    fn module(&mut self, module: syn::ItemMod, place: &Place<'_>) {
        let name = module.ident.to_string();
        let path = [place.path, std::slice::from_ref(&name)].concat();
        if place.path.is_empty() {
            self.modules.insert(name.clone());
        }
        let children = place.children.join(&name);
        if let Some((_, items)) = module.content {
            let inner = Place {
                file: place.file,
                children,
                path: &path,
            };
            return self.items(items, &inner);
        }
        let beside = place.file.parent().expect("in a directory");
        let files = match named_file(&module.attrs) {
            Some(file) => vec![beside.join(file)],
            None => vec![
                place.children.join(format!("{name}.rs")),
                children.join("mod.rs"),
            ],
        };
        let file = files
            .iter()
            .find(|file| file.is_file())
            .unwrap_or_else(|| panic!("{}: no file of {name}", place.file.display()));
        self.file(&Place {
            file,
            children,
            path: &path,
        });
    }

    /// Records that names of a `use` in the root stand for those of a module.
    fn export(&mut self, tree: &UseTree, module: Option<&str>) {
        match tree {
            UseTree::Path(path) if module.is_none() => match path.ident.to_string().as_str() {
                "crate" | "self" => self.export(&path.tree, None),
                name => self.export(&path.tree, Some(name)),
            },
            UseTree::Path(path) => self.export(&path.tree, module),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.export(tree, module);
                }
            }
            UseTree::Name(name) => {
                if let Some(module) = module {
                    self.exports
                        .insert(name.ident.to_string(), module.to_owned());
                }
            }
            UseTree::Rename(name) => {
                let module = module.map_or_else(|| name.ident.to_string(), str::to_owned);
                self.exports.insert(name.rename.to_string(), module);
            }
            _ => {}
        }
    }

    /// Records each name of the root in the tokens.
    ///
    /// Tokens instead of parsed paths also have the paths in the arguments of macros.
    fn names(&mut self, tokens: TokenStream, place: &Place<'_>) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.names(group.stream(), place);
            }
            let start = at;
            at += 1;
            if start > 1 && separator(&tokens[start - 2..]) {
                continue;
            }
            let mut up = 0;
            let mut rest = start;
            while let Some(TokenTree::Ident(word)) = tokens.get(rest)
                && separator(&tokens[rest + 1..])
            {
                match word.to_string().as_str() {
                    "super" => up += 1,
                    "crate" => up = place.path.len(),
                    "self" => {}
                    _ => break,
                }
                rest += 3;
            }
            if rest == start || up < place.path.len() {
                continue;
            }
            match tokens.get(rest) {
                Some(TokenTree::Ident(name)) => self.record(name, place),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let mut first = true;
                    for token in group.stream() {
                        if let TokenTree::Ident(name) = &token
                            && first
                        {
                            self.record(name, place);
                        }
                        first = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
                    }
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, name: &Ident, place: &Place<'_>) {
        if let Some(from) = place.path.first() {
            self.uses.push(Use {
                from: from.clone(),
                name: name.to_string(),
                file: place.file.to_owned(),
                line: name.span().start().line,
            });
        }
    }

    /// Returns the module in which a name of the root is. `None`: the name is of the root itself, or of another crate.
    fn home<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let mut name = name;
        // A name may be re-exported under another one.
        for _ in 0..=self.exports.len() {
            if self.modules.contains(name) {
                return Some(name);
            }
            name = self.exports.get(name)?;
        }
        None
    }

    /// Returns a description of each cycle, with the places that make it.
    fn cycles(&self) -> Vec<String> {
        let mut edges: BTreeMap<&str, BTreeMap<&str, Vec<&Use>>> = BTreeMap::new();
        for it in &self.uses {
            if let Some(to) = self.home(&it.name).filter(|to| *to != it.from) {
                let places = edges.entry(&it.from).or_default().entry(to).or_default();
                places.push(it);
            }
        }
        let reached: BTreeMap<&str, BTreeSet<&str>> = (edges.keys())
            .map(|&start| {
                let mut reached = BTreeSet::new();
                let mut next = vec![start];
                while let Some(module) = next.pop() {
                    let needed = edges.get(module).into_iter().flat_map(BTreeMap::keys);
                    next.extend(needed.filter(|needed| reached.insert(**needed)));
                }
                (start, reached)
            })
            .collect();
        let together = |a: &str, b: &str| {
            let reaches = |from, to| reached.get(from).is_some_and(|all| all.contains(to));
            reaches(a, b) && reaches(b, a)
        };
        let mut cycles = Vec::new();
        let mut seen = BTreeSet::new();
        for &module in edges.keys() {
            if !together(module, module) || !seen.insert(module) {
                continue;
            }
            let members: Vec<&str> = (edges.keys().copied())
                .filter(|other| together(module, other))
                .collect();
            seen.extend(&members);
            let mut text = format!("a cycle of {}:", members.join(", "));
            for from in &members {
                for (to, places) in edges[from].iter().filter(|(to, _)| together(module, to)) {
                    text += &format!("\n  {from} needs {to}:");
                    for it in places {
                        text += &format!("\n    {}:{}", it.file.display(), it.line);
                    }
                }
            }
            cycles.push(text);
        }
        cycles
    }
}

/// Returns whether the tokens begin with `::`.
fn separator(tokens: &[TokenTree]) -> bool {
    let colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    matches!(tokens, [a, b, ..] if colon(a) && colon(b))
}

/// Returns whether an item is compiled for tests alone.
fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        it.path().is_ident("test")
            || it.path().is_ident("cfg") && it.parse_args().is_ok_and(|it| needs_test(&it))
    })
}

/// Returns whether a condition of `cfg` is false without `test`.
fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let Ok(parts) = parts else { return false };
    match list.path.is_ident("all") {
        true => parts.iter().any(needs_test),
        false => list.path.is_ident("any") && parts.iter().all(needs_test),
    }
}

/// Returns the file that `#[path = ".."]` names.
fn named_file(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|it| match &it.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(file),
                ..
            }) => Some(file.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the root files of the workspace's libraries and programs.
fn roots() -> Vec<PathBuf> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version=1"])
        .current_dir(tree::root())
        .output()
        .expect("cargo starts");
    let all: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    let mut roots = Vec::new();
    for target in list(&all["packages"])
        .iter()
        .flat_map(|it| list(&it["targets"]))
    {
        let not_part = ["test", "bench", "example", "custom-build"];
        if !list(&target["kind"])
            .iter()
            .any(|kind| not_part.contains(&kind.as_str().unwrap()))
        {
            roots.push(PathBuf::from(target["src_path"].as_str().expect("a path")));
        }
    }
    roots
}

#[test]
fn no_module_needs_itself_through_others() {
    let roots = roots();
    assert!(roots.len() > 40, "{roots:?}");
    let found: Vec<_> = (roots.iter())
        .flat_map(|root| {
            let cycles = Crate::read(root).cycles();
            cycles
                .into_iter()
                .map(|it| format!("{}: {it}", root.display()))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Writes a made-up crate, and returns its cycles.
fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("in the directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let prefix = format!("{}/", directory.path().display());
    let cycles = Crate::read(&directory.path().join("lib.rs")).cycles();
    (cycles.iter().map(|it| it.replace(&prefix, ""))).collect()
}

#[test]
fn a_cycle_is_reported_with_its_places() {
    let found = cycles_of(&[
        (
            "lib.rs",
            "mod a;\nmod b;\nmod c;\nmod leaf;\nmod user;\npub use c::{Thing as Other, sub::*};\n",
        ),
        ("a.rs", "use crate::{\n    leaf,\n    b::{self, B},\n};\n"),
        ("b/mod.rs", "mod inner;\n"),
        // A re-exported name in an argument of a macro.
        (
            "b/inner.rs",
            "fn f() {\n    println!(\"{}\", crate::Other);\n}\n",
        ),
        (
            "c.rs",
            "pub fn g() {\n    super::a::g();\n    self::g();\n}\n",
        ),
        ("leaf.rs", ""),
        ("user.rs", "use crate::{a, b, c, leaf};\n"),
    ]);
    let expected = "a cycle of a, b, c:\n  a needs b:\n    a.rs:3\n  b needs c:\n    b/inner.rs:2\n  \
                    c needs a:\n    c.rs:2";
    assert_eq!(found, [expected]);
}

#[test]
fn the_code_of_tests_and_paths_inside_a_module_do_not_count() {
    let test = "#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n#[cfg(all(test, unix))]\nmod more;\n\
                #[test]\nfn f() { crate::b::f(); }\nimpl A {\n    #[cfg(test)]\n    fn g() { crate::b::g(); }\n}\n";
    let found = cycles_of(&[
        ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod b_tests;\n"),
        ("a.rs", test),
        (
            "b.rs",
            "use crate::a;\nmod deep {\n    use super::a::f;\n    fn a() { self::b(); }\n}\n",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn two_cycles_are_two() {
    let found = cycles_of(&[
        (
            "lib.rs",
            "mod a;\nmod b;\nmod c;\n#[path = \"x/d_file.rs\"]\nmod d;\n",
        ),
        ("a.rs", "use crate::b;\nuse crate::c;\n"),
        ("b.rs", "use super::a;\n"),
        ("c.rs", "use crate::d;\n"),
        ("x/d_file.rs", "type C = crate::c::C;\n"),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("a cycle of a, b:"), "{found:?}");
    assert!(found[1].starts_with("a cycle of c, d:"), "{found:?}");
}
