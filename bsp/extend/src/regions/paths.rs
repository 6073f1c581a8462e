//! Paths of instances in members of LogicLock regions, and the effect of an extension on each.
//!
//! `*` matches any text, bars between elements too, and `?` one character. With `-entity` a path begins in that entity
//! instead of at the top. Neither was verified with Quartus: the first follows from paths such as `*|name`, the second
//! from the option's purpose in `set_instance_assignment`.

use std::ops::Range;

use crate::hard_ip::FROM;
use crate::host_bus::NewBridge;
use crate::rewrite::Rewritten;
use peerlane_bsp_design::library::Library;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_design::values::UNKNOWN;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::roles::OLD_DMA;

/// Most ways from the top down to the DMA's system.
const MOST_WAYS: usize = 64;

/// A way from a top system down to the system with the DMA.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Way {
    /// The top system.
    pub top: String,
    /// Instances on the way, each with its kind, which is a system.
    pub down: Vec<(String, String)>,
}

impl Way {
    /// Returns the number of instances that lead to the entity of that name. Platform Designer names the entity of an
    /// instance by its kind, or by the surrounding system and the instance.
    fn depth_of(&self, entity: &str) -> Option<usize> {
        if entity == self.top {
            return Some(0);
        }
        let mut down = self.down.iter();
        let is = |(instance, kind): &(String, String)| {
            let of_instance = entity.strip_suffix(instance.as_str());
            entity == kind || of_instance.is_some_and(|around| around.ends_with('_'))
        };
        down.position(is).map(|at| at + 1)
    }
}

/// The hard IP that becomes another variant.
#[derive(Debug, Clone)]
pub struct Hip {
    /// Its instance.
    pub name: String,
    /// Whether the design has no other hard IP of the old kind.
    pub is_only: bool,
}

impl Hip {
    /// Returns the hard IP of a board that gets a TLP port.
    pub fn of(site: &Site<'_>, new: &Rewritten) -> Option<Self> {
        let hip = new.hip.as_ref()?;
        let modules = site.library.systems().flat_map(|system| &system.modules);
        Some(Self {
            name: hip.name.clone(),
            is_only: modules
                .filter(|module| FROM.contains(&module.kind.as_str()))
                .count()
                == 1,
        })
    }
}

/// A path in an assignment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    /// Its text.
    pub text: &'a str,
    /// The entity that it begins in, if that is not the top.
    pub entity: Option<&'a str>,
}

/// Changes of the instances of the system with the DMA.
#[derive(Debug, Default)]
pub struct Moved {
    /// The ways down to that system.
    pub ways: Vec<Way>,
    /// Name of the DMA's instance, which the block takes over.
    pub dma: String,
    /// The block's entity.
    pub entity: &'static str,
    /// Removed instances.
    pub gone: Vec<String>,
    /// New bridges.
    pub inserted: Vec<NewBridge>,
    /// The hard IP, if it becomes another variant.
    pub hip: Option<Hip>,
}

/// The effect of the extension on a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Gone,
    /// These bytes of the path get another text. With `part`, they named a part of the old DMA.
    Rewritten {
        at: Range<usize>,
        to: String,
        part: bool,
    },
}

/// The place of an instance in a path.
pub(super) struct Found {
    /// Bytes of the instance's element.
    pub element: Range<usize>,
    /// Whether the rest of the path narrows it.
    pub inside: bool,
}

impl Moved {
    /// Collects the changes of an extension.
    pub fn new(site: &Site<'_>, new: &Rewritten, config: &Config) -> Self {
        Self {
            ways: ways(site.library, &site.system.kind),
            dma: site.dma.name.clone(),
            entity: block::top(config),
            gone: new.removed_bridges.clone(),
            inserted: new.inserted.clone(),
            hip: Hip::of(site, new),
        }
    }

    /// Finds an instance of the system with the DMA in a path. The instance itself is written out; the way to it may be
    /// a pattern.
    pub(super) fn find(&self, path: Path<'_>, name: &str) -> Option<Found> {
        let elements = elements(path.text);
        let names: Vec<String> = (elements.iter())
            .map(|at| instance(&path.text[at.clone()]).replace(UNKNOWN, "*"))
            .collect();
        let at = self.ways.iter().find_map(|way| {
            let whole = way.down.iter().map(|(instance, _)| instance.as_str());
            let whole: Vec<&str> = whole.chain([name]).collect();
            let inside = path.entity.and_then(|entity| way.depth_of(entity));
            reach(&names, &whole, inside.unwrap_or(0))
        })?;
        let behind = &names[at + 1..];
        Some(Found {
            element: elements[at].clone(),
            inside: behind.iter().any(|name| *name != "*"),
        })
    }

    pub(super) fn fate(&self, path: Path<'_>) -> Fate {
        if self.gone.iter().any(|name| self.find(path, name).is_some()) {
            return Fate::Gone;
        }
        let Some(found) = self.find(path, &self.dma) else {
            return Fate::Stays;
        };
        let element = &path.text[found.element.clone()];
        let named = element.split_once(':').map(|(entity, _)| entity);
        let to = match named {
            Some(_) => format!("{}:{}", self.entity, self.dma),
            None => self.dma.clone(),
        };
        match (named, found.inside) {
            (_, true) => Fate::Rewritten {
                at: found.element.start..path.text.len(),
                to,
                part: true,
            },
            (Some(entity), _) if !matches(entity, self.entity) => Fate::Rewritten {
                at: found.element,
                to,
                part: false,
            },
            _ => Fate::Stays,
        }
    }

    /// Reports whether a pattern names the old DMA by its entity, which the block does not have.
    pub(super) fn is_old_pattern(&self, path: &str) -> bool {
        path.split('|').any(|element| {
            let Some((entity, instance)) = element.split_once(':') else {
                return false;
            };
            instance.contains(['*', '?'])
                && matches(instance, &self.dma)
                && (entity.ends_with(&self.dma) || entity.ends_with(OLD_DMA))
        })
    }

    /// Reports whether a member is the old DMA, a part of it, or contains it.
    pub(super) fn holds_the_block(&self, path: Path<'_>) -> bool {
        let in_it = || {
            let elements = elements(path.text);
            let names: Vec<&str> = (elements.iter())
                .map(|at| instance(&path.text[at.clone()]))
                .collect();
            // By the beginnings of the way down.
            self.ways.iter().any(|way| {
                let way: Vec<&str> = way.down.iter().map(|(name, _)| name.as_str()).collect();
                (1..=way.len()).any(|length| names.ends_with(&way[..length]))
            })
        };
        self.find(path, &self.dma).is_some() || in_it()
    }
}

/// Returns the element of a path that names the last instance of a way. The path begins at the instance `first` of the
/// way; if that is the very first one, other elements may precede it.
fn reach(path: &[String], way: &[&str], first: usize) -> Option<usize> {
    let last = way.len() - 1;
    // Instances of the way that the elements so far may match.
    let mut passed = vec![false; way.len()];
    *passed.get_mut(first)? = true;
    for (at, element) in path.iter().enumerate() {
        if passed[last] && element == way[last] {
            return Some(at);
        }
        let mut next = vec![false; way.len()];
        // Instances above the top system have any name.
        next[0] = passed[0] && first == 0;
        for from in (0..last).filter(|&from| passed[from]) {
            let ends = if element.contains('*') {
                last
            } else {
                from + 1
            };
            for (to, next) in next.iter_mut().enumerate().take(ends + 1).skip(from + 1) {
                *next |= matches(element, &way[from..to].join("|"));
            }
        }
        if let (true, Some(star)) = (next[0], element.find('*')) {
            for (to, next) in next.iter_mut().enumerate().skip(1) {
                *next |= matches(&element[star..], &way[..to].join("|"));
            }
        }
        passed = next;
    }
    None
}

/// Returns the ways from top systems down to a system.
fn ways(library: &Library, kind: &str) -> Vec<Way> {
    let lowest = Way {
        top: kind.into(),
        down: Vec::new(),
    };
    let mut open = vec![lowest];
    let mut found = Vec::new();
    while let Some(way) = open.pop() {
        let around = library.systems().flat_map(|system| {
            let inner = system.modules.iter().filter(|m| m.kind == way.top);
            inner.map(move |module| (system, module))
        });
        let around: Vec<_> = around.collect();
        if around.is_empty() {
            found.push(way);
            continue;
        }
        for (system, module) in around {
            if found.len() + open.len() < MOST_WAYS {
                let step = (module.name.clone(), module.kind.clone());
                open.push(Way {
                    top: system.kind.clone(),
                    down: std::iter::once(step).chain(way.down.clone()).collect(),
                });
            }
        }
    }
    found
}

/// Returns the bytes of the elements of a path.
pub(super) fn elements(path: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let all = path.split('|').map(|element| {
        let at = start..start + element.len();
        start = at.end + 1;
        at
    });
    all.filter(|at| !at.is_empty()).collect()
}

/// Returns the instance of an element, with its entity or without.
pub(super) fn instance(element: &str) -> &str {
    element
        .split_once(':')
        .map_or(element, |(_, instance)| instance)
}

/// Reports whether a text matches a pattern with `*` and `?`.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The position after the last star, and the end of the text that the star matches.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((behind, end)) => {
                    star = Some((behind, end + 1));
                    (p, t) = (behind, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved() -> Moved {
        Moved {
            ways: vec![Way {
                top: "system".into(),
                down: vec![
                    ("shell".into(), "outer".into()),
                    ("board".into(), "inner".into()),
                ],
            }],
            dma: "copier".into(),
            entity: "peerlane_dma",
            gone: vec!["crossing".into()],
            inserted: Vec::new(),
            hip: None,
        }
    }

    fn of(text: &str) -> Path<'_> {
        Path { text, entity: None }
    }

    fn fate(path: &str) -> String {
        match moved().fate(of(path)) {
            Fate::Stays => "stays".into(),
            Fate::Gone => "gone".into(),
            Fate::Rewritten { at, to, .. } => {
                format!("{}{to}{}", &path[..at.start], &path[at.end..])
            }
        }
    }

    #[test]
    fn paths_with_entities_and_without() {
        let (old, new) = ("system_board_copier:copier", "peerlane_dma:copier");
        for way in [
            "system:inst|system_shell:shell|shell_board:board|",
            "inst|shell|board|",
            "|inst|shell|board|",
            "*|board|",
            "*|",
            "inst|*|",
            "inst|sh*rd|",
            "system:in*|b?ard|",
            "inst|*:shell|*:board|",
            "i*d|",
        ] {
            assert_eq!(fate(&format!("{way}{old}")), format!("{way}{new}"));
            assert_eq!(fate(&format!("{way}{old}|*")), format!("{way}{new}|*"));
            // A part of the old DMA becomes the whole block.
            assert_eq!(
                fate(&format!("{way}{old}|core:core|fifo[3]")),
                format!("{way}{new}")
            );
            assert_eq!(fate(&format!("{way}copier|core")), format!("{way}copier"));
            for stays in [
                "copier",
                "peerlane_dma:copier",
                "*:copier",
                "peerlane*:copier",
                "x:copier_2",
                "x:other|y",
            ] {
                assert_eq!(fate(&format!("{way}{stays}")), "stays", "{way}{stays}");
            }
            for gone in ["crossing", "bridge:crossing", "bridge:crossing|fifo:f|*"] {
                assert_eq!(fate(&format!("{way}{gone}")), "gone", "{way}{gone}");
            }
        }
        // Elsewhere in the design, and not an instance of it.
        for other in [
            "inst|shell|kernels|copier",
            "copier",
            "inst|board|copier",
            "inst|shell|b?rd|copier",
            "inst|*|kernels|copier",
            "inst|sh*|kernels|copier",
            "k*s|copier",
            "",
            "|",
            "*",
            "inst|shell|board",
        ] {
            assert_eq!(fate(other), "stays", "{other}");
        }
    }

    #[test]
    fn paths_that_begin_in_an_entity() {
        let found = |entity: &str, text: &str| {
            let entity = Some(entity);
            moved().find(Path { text, entity }, "copier").is_some()
        };
        for (entity, path) in [
            ("top", "inst|shell|board|copier"),
            ("system", "shell|board|copier"),
            ("outer", "board|x:copier"),
            ("system_shell", "board|*:copier|core"),
            ("inner", "system_board_copier:copier"),
            ("system_shell_board", "copier"),
            ("outer", "*|copier"),
        ] {
            assert!(found(entity, path), "{entity} {path}");
        }
        for (entity, path) in [
            ("top", "copier"),
            ("system", "copier"),
            ("outer", "shell|board|copier"),
            ("inner", "board|copier"),
            ("inner", "x|copier"),
            ("keyboard", "copier"),
        ] {
            assert!(!found(entity, path), "{entity} {path}");
        }
    }

    #[test]
    fn what_has_the_block_in_it() {
        for path in [
            "inst|shell|board|x:copier",
            "i|shell|board|copier|core",
            "s:i|s_shell:shell|b:board",
            "i|shell",
        ] {
            assert!(moved().holds_the_block(of(path)), "{path}");
        }
        for path in ["inst|shell|board|other", "inst|board", "inst"] {
            assert!(!moved().holds_the_block(of(path)), "{path}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("a*c", "abbc"),
            ("?b*", "ab"),
            ("*a*a*b", "aaab"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("a*c", "abb"),
            ("?", ""),
            ("*a*a*b", "ab"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        for old in [
            "*|system_board_copier:*",
            "*acl_dma:cop*",
            "x:y|*_copier:copier*",
        ] {
            assert!(moved().is_old_pattern(old), "{old}");
        }
        for other in ["*|altera_avalon_mm_bridge:*", "*copier", "*|x_copier:host*"] {
            assert!(!moved().is_old_pattern(other), "{other}");
        }
    }
}
