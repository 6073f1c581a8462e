//! Files whose elements have names: their order and their form do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use peerlane_bsp_design::qsys::number;

use crate::verdict::{Difference, quoted};

/// The name of an element.
pub(crate) trait Key: Ord + Clone + Display {
    /// Returns the element that contains it. If that one is gone or new, it says nothing more.
    fn parent(&self) -> Option<Self>;
}

/// The value of an element.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The value as it is written.
    pub text: String,
    /// Line in its file.
    pub line: usize,
}

/// The elements of a file. A name that should occur once may have several values.
#[derive(Debug, Clone)]
pub(crate) struct Elements<K>(pub BTreeMap<K, Vec<Value>>);

impl<K: Key> Default for Elements<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Key> Elements<K> {
    pub(crate) fn add(&mut self, key: K, text: impl Into<String>, line: usize) {
        let text = text.into();
        self.0.entry(key).or_default().push(Value { text, line });
    }

    pub(crate) fn get(&self, key: &K) -> &[Value] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn line(&self, key: &K) -> Option<usize> {
        self.get(key).first().map(|value| value.line)
    }
}

/// Reports whether two values mean the same: Platform Designer writes a number in several ways.
fn is_same(a: &str, b: &str) -> bool {
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a == b)
}

fn are_same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(&a.text, &b.text))
}

fn shown(values: &[Value]) -> String {
    let all: Vec<_> = values.iter().map(|value| quoted(&value.text)).collect();
    all.join(" and ")
}

/// The three states of a file.
#[derive(Debug)]
pub(crate) struct States<'a, K> {
    /// The vendor's.
    pub vendor: &'a Elements<K>,
    /// The one that this program writes.
    pub made: &'a Elements<K>,
    /// The present one.
    pub now: &'a Elements<K>,
}

impl<K: Key> States<'_, K> {
    /// Reports whether the extension added, changed or removed an element.
    pub(crate) fn is_changed(&self, key: &K) -> bool {
        !are_same(self.vendor.get(key), self.made.get(key))
    }

    /// Compares the present file with the one that this program writes. `is_set` names further elements that the
    /// extension decided; `place` finds a line and words for an element that is missing, and words for one that was
    /// added.
    pub(crate) fn differences(
        &self,
        is_set: impl Fn(&K) -> bool,
        place: impl Fn(&K) -> (Option<usize>, String),
    ) -> Vec<Difference> {
        let keys: BTreeSet<&K> = self.made.0.keys().chain(self.now.0.keys()).collect();
        let changed = self.made.0.keys().filter(|key| self.is_changed(key));
        let above = |key: &K| std::iter::successors(key.parent(), K::parent);
        let changed_within: BTreeSet<K> = changed.flat_map(above).collect();
        let mut found = Vec::new();
        for key in keys {
            let (made, now) = (self.made.get(key), self.now.get(key));
            let parent = key.parent();
            let said = |parent: &K| self.made.has(parent) != self.now.has(parent);
            if are_same(made, now) || parent.as_ref().is_some_and(said) {
                continue;
            }
            // With an element that is gone, all go that the extension changed in it.
            let is_fault = self.is_changed(key)
                || is_set(key)
                || now.is_empty() && changed_within.contains(key);
            let line = now.first().map(|value| value.line);
            let of = |verb: &str| match is_fault {
                true => format!("the extension {verb} {key}"),
                false => key.to_string(),
            };
            let value = |values: &[Value]| match shown(values) {
                none if none == "\"\"" => String::new(),
                some => format!(" {some}"),
            };
            let (line, what) = match (made, now) {
                ([], _) if is_fault && self.vendor.has(key) => (
                    line,
                    format!("the extension removed {key}, which is back{}", value(now)),
                ),
                ([], _) => (
                    line,
                    format!("{key}{} was added{}", value(now), place(key).1),
                ),
                (_, []) => {
                    let (other, words) = place(key);
                    let parent = || parent.as_ref().and_then(|key| self.now.line(key));
                    let wrote = of("wrote");
                    (
                        other.or_else(parent),
                        format!("{wrote}{}, which is missing{words}", value(made)),
                    )
                }
                _ => {
                    let (is, was) = (shown(now), shown(made));
                    let wrote = of("wrote");
                    (line, format!("{wrote} as {was}; it is {is}"))
                }
            };
            found.push(Difference {
                line,
                what,
                is_fault,
            });
        }
        found
    }
}
