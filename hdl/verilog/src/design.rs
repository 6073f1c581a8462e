//! All modules of a design: equal ones once, each with a name.

use std::collections::{BTreeMap, HashMap};

use peerlane_language::ast::Verilog;

use crate::collect::Node;
use crate::error::{EmitError, Problem};
use crate::module::{self, Body, child_mark};
use crate::names::{flatten, is_identifier, is_reserved};
use crate::{Design, Module, Unread};

/// A distinct module, and the path of its first instance.
struct Distinct {
    body: Body,
    /// Field names from the top, without array indices, then with them.
    path: Vec<String>,
    exact: Vec<String>,
    /// The name that the block wants.
    wish: Option<String>,
    about: Vec<String>,
}

pub(crate) fn emit(top: &Node, header: &str) -> Result<Design, EmitError> {
    if is_reserved(&top.name) {
        return Err(top.error(None, Problem::Keyword));
    }
    if !is_identifier(&top.name) {
        return Err(top.error(None, Problem::BadIdentifier));
    }
    module::check_top(top)?;
    let mut modules = Modules::default();
    modules.add(top, &mut Vec::new())?;
    Ok(modules.finish(&top.name, header))
}

#[derive(Default)]
struct Modules {
    list: Vec<Distinct>,
    by_text: HashMap<String, usize>,
}

impl Modules {
    /// Adds the block's module after those of its children; returns its number.
    fn add(&mut self, node: &Node, path: &mut Vec<String>) -> Result<usize, EmitError> {
        let mut children = Vec::new();
        for child in &node.children {
            let is_void = child.is_void() && matches!(child.code, Verilog::Empty);
            children.push(if child.register.is_some() || is_void {
                None
            } else {
                path.push(child.name.clone());
                let number = self.add(child, path);
                path.pop();
                Some(number?)
            });
        }
        let body = module::emit(node, &children)?;
        if let Some(&known) = self.by_text.get(&body.text) {
            return Ok(known);
        }
        let number = self.list.len();
        self.by_text.insert(body.text.clone(), number);
        let exact: Vec<String> = path.iter().map(|part| flatten(part)).collect();
        let plain = path
            .iter()
            .map(|part| flatten(part.split('$').next().unwrap_or(part)))
            .collect();
        self.list.push(Distinct {
            body,
            path: plain,
            exact,
            wish: node.module_name.as_deref().map(flatten),
            about: node.about.clone(),
        });
        Ok(number)
    }

    /// Returns the names: the top's, then the name that the block asks for, or as many field names as distinguish the
    /// modules.
    fn names(&self, top: &str) -> Vec<String> {
        let mut names: Vec<String> = vec![String::new(); self.list.len()];
        let mut depth: Vec<usize> = vec![1; self.list.len()];
        loop {
            let mut users: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (number, module) in self.list.iter().enumerate() {
                names[number] = if module.path.is_empty() {
                    top.to_owned()
                } else if let Some(wish) = &module.wish {
                    format!("{top}_{wish}")
                } else {
                    let all = module.path.len();
                    // Beyond the whole path, array indices distinguish them.
                    let path = if depth[number] > all {
                        &module.exact
                    } else {
                        &module.path
                    };
                    let parts = &path[all - depth[number].min(all)..];
                    format!("{top}_{}", parts.join("_"))
                };
                users.entry(names[number].clone()).or_default().push(number);
            }
            let mut settled = true;
            for numbers in users.values().filter(|n| n.len() > 1) {
                for &number in numbers {
                    let module = &self.list[number];
                    if module.wish.is_none() && depth[number] <= module.path.len() {
                        depth[number] += 1;
                        settled = false;
                    }
                }
            }
            if settled {
                return distinct(names, self.list.len().saturating_sub(1));
            }
        }
    }

    fn finish(self, top: &str, header: &str) -> Design {
        let names = self.names(top);
        let mut modules = Vec::new();
        let mut unread = Vec::new();
        for (number, module) in self.list.into_iter().enumerate() {
            let mut text = String::new();
            for header in header.trim_end().lines() {
                text.push_str(format!("// {header}").trim_end());
                text.push('\n');
            }
            if !module.about.is_empty() {
                text.push_str("//\n");
            }
            for about in &module.about {
                text.push_str(format!("// {about}").trim_end());
                text.push('\n');
            }
            text.push_str(&format!("module {}{}", names[number], module.body.text));
            for (other, name) in names.iter().enumerate() {
                text = text.replace(&child_mark(other), name);
            }
            for (signal, bits) in module.body.unread {
                unread.push(Unread {
                    module: names[number].clone(),
                    signal,
                    bits,
                });
            }
            modules.push(Module {
                name: names[number].clone(),
                verilog: text,
            });
        }
        Design {
            modules,
            ports: Vec::new(),
            unread,
        }
    }
}

/// Numbers modules that still have the same name; the top, the last, keeps its own.
fn distinct(names: Vec<String>, top: usize) -> Vec<String> {
    let mut taken: Vec<String> = names.get(top).cloned().into_iter().collect();
    let mut out = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        if number == top {
            out.push(name);
            continue;
        }
        let mut unique = name.clone();
        let mut count = 1;
        while taken.contains(&unique) {
            unique = format!("{name}_{count}");
            count += 1;
        }
        taken.push(unique.clone());
        out.push(unique);
    }
    out
}
