//! Paths through the hard IP, converted to the names that they have with a TLP port.
//!
//! The Avalon-MM variant (`altpcie_sv_hip_avmm_hwtcl`) contains the Avalon-ST one as the instance `altera_s5_a2p`,
//! which takes its place (ACDS 13.1).

use crate::read::settings::Revision;
use crate::result::Bsp;
use crate::result::names::{is_avmm, is_streaming};

const OLD: &str = "altpcie_sv_hip_avmm_hwtcl";
const NEW: &str = "altpcie_sv_hip_ast_hwtcl";
const LEVEL: &str = "altera_s5_a2p";

/// The hard IP that became another variant.
pub(super) struct Hip {
    name: String,
    /// Whether the design has no other hard IP of the old kind.
    is_only: bool,
}

impl Hip {
    pub(super) fn of(bsp: &Bsp) -> Option<Self> {
        let mut all = bsp.all().flat_map(|design| &design.instances);
        let name = all.find(|i| is_streaming(&i.kind))?.name.clone();
        let mut others = bsp.all().flat_map(|design| &design.instances);
        Some(Self {
            name,
            is_only: !others.any(|i| is_avmm(&i.kind)),
        })
    }

    /// Converts the vendor's settings.
    pub(super) fn follow(&self, vendor: &mut Revision) {
        for assignment in &mut vendor.assignments {
            for (_, about) in &mut assignment.about {
                *about = self.text(about);
            }
        }
        for command in &mut vendor.commands {
            for word in &mut command.words {
                word.text = self.text(&word.text);
            }
        }
    }

    /// Converts a text: each path in it separately.
    pub(super) fn text(&self, text: &str) -> String {
        if !self.is_only || !text.contains(LEVEL) && !text.contains(OLD) {
            return text.into();
        }
        let mut new = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let ends =
                |c: char| c.is_ascii_whitespace() || matches!(c, '"' | '{' | '}' | '[' | ']' | ';');
            let end = rest.find(ends).unwrap_or(rest.len());
            new += &self.path(&rest[..end], new.ends_with('}'));
            let end = end + rest[end..].find(|c| !ends(c)).unwrap_or(rest.len() - end);
            new += &rest[rest.find(ends).unwrap_or(rest.len())..end];
            rest = &rest[end..];
        }
        new
    }

    /// Converts one path. A path whose conversion is not known stays, and is reported as a fault where that matters.
    fn path(&self, path: &str, behind_variable: bool) -> String {
        let mut elements: Vec<String> = path.split('|').map(String::from).collect();
        while let Some(at) = elements.iter().position(|e| instance(e) == LEVEL) {
            let Some(before) = at.checked_sub(1) else {
                return path.into();
            };
            let above = elements[before].clone();
            // A pattern of the old entity matches nothing now.
            if let Some((entity, _)) = above.split_once(':')
                && entity.contains(['*', '?'])
                && !is(entity, NEW)
            {
                return path.into();
            }
            let of_old = above
                .strip_prefix(OLD)
                .and_then(|rest| rest.strip_prefix(':'));
            let ends_with_it = above.strip_prefix('*') == Some(self.name.as_str());
            if above == "*" {
                elements[at] = elements[at].replace(LEVEL, &self.name);
            } else if ends_with_it
                || instance(&above) == self.name
                || of_old.is_some_and(|pattern| is(pattern, &self.name))
                || above.contains('$')
                || above.is_empty() && before == 0 && behind_variable
            {
                elements.remove(at);
                if let Some(name) = of_old {
                    elements[before] = format!("{NEW}:{name}");
                }
            } else {
                return path.into();
            }
        }
        for at in 0..elements.len() {
            let Some(name) = elements[at]
                .strip_prefix(&format!("{OLD}:"))
                .map(String::from)
            else {
                continue;
            };
            let whole = elements[at + 1..].iter().all(|e| e == "*");
            if !whole || !is(&name, &self.name) {
                return path.into();
            }
            elements[at] = format!("{NEW}:{name}");
        }
        match names_the_old(&elements.join("|")) {
            true => path.into(),
            false => elements.join("|"),
        }
    }
}

/// Reports whether a path names a level that does not exist with a TLP port. A file with the old entity's name does not
/// count.
pub(super) fn names_the_old(path: &str) -> bool {
    let mut after = path.split(OLD).skip(1);
    path.contains(LEVEL) || after.any(|rest| !rest.starts_with('.'))
}

/// Reports whether a line names a file that Platform Designer generates for the hard IP (ACDS 13.1).
pub(super) fn names_a_file(line: &str) -> bool {
    let ends = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.');
    line.split(ends).any(|word| {
        let stem = word.strip_suffix(".v").unwrap_or_default();
        let of_variant = stem.starts_with("altpcie_sv_hip_") && stem.ends_with("_hwtcl");
        of_variant || stem.starts_with("altpcie_rs_") || stem.starts_with("altpcie_hip_256_pipen1b")
    })
}

fn instance(element: &str) -> &str {
    element.rsplit(':').next().unwrap_or(element)
}

/// Reports whether a pattern with stars matches a name.
fn is(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|left| {
            (0..=left.len()).any(|at| left.is_char_boundary(at) && is(rest, &left[at..]))
        }),
    }
}
