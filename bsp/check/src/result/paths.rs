//! Instances by their paths, `entity:instance|entity:instance|…`, as settings name them.
//!
//! A path is compared as one text of instances, in which `*` matches anything, bars too, and `?` one character. Above
//! the top system a path may have any instances; with `-entity` it begins in that entity.

use crate::result::Bsp;

/// Most ways from the top to a system that are searched.
const MOST_WAYS: usize = 64;
/// Most elements of a path that are searched: no design is so deep.
const MOST_ELEMENTS: usize = 64;

/// An element of a path: its entity, if given, and its instance.
pub(super) type Element<'a> = (Option<&'a str>, &'a str);

/// A way from a top system down to a system.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    top: String,
    /// Instances with their kinds.
    steps: Vec<(String, String)>,
}

impl Way {
    /// Returns the instances from one of them on.
    fn text(&self, from: usize) -> String {
        join(self.steps[from..].iter().map(|(name, _)| name.as_str()))
    }

    /// Returns the top, and the instances below it.
    pub(super) fn whole(&self) -> (&str, String) {
        (&self.top, self.text(0))
    }

    /// Returns the instances below an entity: below a system's name, or below the surrounding system's name with the
    /// instance's.
    fn inside(&self, entity: &str) -> Option<String> {
        if entity == self.top {
            return Some(self.text(0));
        }
        let at = self.steps.iter().position(|(name, kind)| {
            entity == kind || entity.ends_with(format!("_{name}").as_str())
        })?;
        Some(self.text(at + 1))
    }

    /// Reports whether the elements before an instance lead to the system.
    fn is_led_to(&self, before: &[Element<'_>], entity: &str) -> bool {
        let path = |from: usize| join(before[from..].iter().map(|(_, name)| *name));
        let inside = self.inside(entity).filter(|_| !entity.is_empty());
        if inside.is_some_and(|way| is_like(&path(0), &way)) {
            return true;
        }
        let way = self.text(0);
        (0..=before.len()).any(|from| {
            let path = path(from);
            // A star may match the instances above the top in addition to a part of the way.
            let star = before.get(from).and_then(|(_, name)| name.find('*'));
            is_like(&path, &way) || star.is_some_and(|at| is_like(&path[at..], &way))
        })
    }
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join("|")
}

/// Reports whether a text matches a pattern.
fn is_like(pattern: &str, text: &str) -> bool {
    // For the pattern up to each character: the beginnings of the text that it matches.
    let text: Vec<char> = text.chars().collect();
    let mut begins = vec![false; text.len() + 1];
    begins[0] = true;
    for c in pattern.chars() {
        if c == '*' {
            let first = begins.iter().position(|b| *b).unwrap_or(begins.len());
            begins[first..].fill(true);
            continue;
        }
        for at in (0..text.len()).rev() {
            begins[at + 1] = begins[at] && (c == '?' || c == text[at]);
        }
        begins[0] = false;
    }
    begins[text.len()]
}

/// Splits a path into elements.
pub(super) fn elements(path: &str) -> Vec<Element<'_>> {
    let all = path.split('|').filter(|element| !element.is_empty());
    all.map(|element| match element.split_once(':') {
        Some((entity, instance)) => (Some(entity), instance),
        None => (None, element),
    })
    .collect()
}

/// Returns where a path has an instance of the system that the ways lead to; the instance's name must not be a pattern.
pub(super) fn at(ways: &[Way], path: &[Element<'_>], entity: &str, name: &str) -> Option<usize> {
    (0..path.len().min(MOST_ELEMENTS)).find(|&last| {
        path[last].1 == name && (ways.iter()).any(|way| way.is_led_to(&path[..last], entity))
    })
}

/// Reports whether a path ends at an instance on one of the ways.
pub(super) fn is_above(ways: &[Way], path: &[Element<'_>], entity: &str) -> bool {
    ways.iter().any(|way| {
        (0..way.steps.len()).any(|step| {
            let before = Way {
                top: way.top.clone(),
                steps: way.steps[..step].to_vec(),
            };
            let found = at(&[before], path, entity, &way.steps[step].0);
            found.is_some_and(|at| path[at + 1..].iter().all(|(_, name)| *name == "*"))
        })
    })
}

/// Returns the ways from the top to a system.
pub(super) fn ways(bsp: &Bsp, kind: &str) -> Vec<Way> {
    let mut open = vec![Way {
        top: kind.into(),
        steps: Vec::new(),
    }];
    let mut found = Vec::new();
    while let Some(way) = open.pop() {
        let mut top = true;
        for (outer, designs) in &bsp.designs {
            let instances = designs.iter().flat_map(|design| &design.instances);
            for instance in
                instances.filter(|i| i.enabled && i.kind == way.top && *outer != way.top)
            {
                top = false;
                if open.len() + found.len() < MOST_WAYS && way.steps.len() < MOST_WAYS {
                    let mut longer = way.clone();
                    longer.top.clone_from(outer);
                    let step = (instance.name.clone(), instance.kind.clone());
                    longer.steps.insert(0, step);
                    open.push(longer);
                }
            }
        }
        if top {
            found.push(way);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, entity: &str) -> bool {
        let step = |name: &str, kind: &str| (name.to_string(), kind.to_string());
        let way = Way {
            top: "all".into(),
            steps: vec![step("one", "first"), step("two", "second")],
        };
        at(&[way], &elements(path), entity, "x").is_some()
    }

    #[test]
    fn the_way_may_be_a_pattern() {
        for path in [
            "e:top|f:one|g:two|h:x",
            "one|two|x|y",
            "*|x",
            "top|*|x",
            "t*|two|e:x",
            "*:one|t?o|x",
            "top|o*o|x",
        ] {
            assert!(names(path, ""), "{path}");
        }
        for path in [
            "x",
            "two|x",
            "one|x",
            "one|two|*",
            "one|*|three|x",
            "one|t?|x",
            "o*e|x",
        ] {
            assert!(!names(path, ""), "{path}");
        }
    }

    #[test]
    fn an_entity_is_where_a_path_begins() {
        for (entity, path) in [
            ("first", "two|x"),
            ("all_one", "two|x"),
            ("second", "e:x"),
            ("all_one_two", "x"),
            ("all", "one|two|x"),
            ("other", "one|two|x"),
        ] {
            assert!(names(path, entity), "{entity} {path}");
        }
        for (entity, path) in [
            ("first", "x"),
            ("second", "y|x"),
            ("other", "x"),
            ("all", "x"),
        ] {
            assert!(!names(path, entity), "{entity} {path}");
        }
    }
}
