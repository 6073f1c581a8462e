//! The results.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use crate::Candidate;

/// A mutant, and the test or proof that has found it.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) candidate: Candidate,
    pub(crate) by: Option<String>,
}

impl Found {
    fn explained(&self, explained: &BTreeMap<String, String>) -> Option<String> {
        let number = self.candidate.mutant.number.to_string();
        explained.get(&number).cloned()
    }
}

/// Returns the numbers of mutants that nothing can find, with the reasons.
pub(crate) fn explained() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("mutation/explained.toml");
    let text = fs::read_to_string(&path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lists mutants that were explained, and found nevertheless: their explanation is not true.
pub(crate) fn not_true(found: &[Found]) -> Vec<String> {
    let explained = explained();
    let wrong = |one: &Found| {
        let by = one.by.as_ref()?;
        let said = one.explained(&explained)?;
        Some(format!("{} ({said}): {by}", one.candidate.mutant.number))
    };
    found.iter().filter_map(wrong).collect()
}

/// The count of a group.
#[derive(Debug)]
pub(crate) struct Group {
    name: &'static str,
    drawn: usize,
    found: usize,
    explained: usize,
}

impl Group {
    pub(crate) fn all(groups: &[&'static str], found: &[Found]) -> Vec<Self> {
        let explained = explained();
        groups
            .iter()
            .map(|name| {
                let of = |f: &&Found| f.candidate.group == *name;
                let survives = |f: &&Found| f.by.is_none() && f.explained(&explained).is_some();
                Self {
                    name,
                    drawn: found.iter().filter(of).count(),
                    found: found.iter().filter(of).filter(|f| f.by.is_some()).count(),
                    explained: found.iter().filter(of).filter(survives).count(),
                }
            })
            .collect()
    }

    /// Returns the percentage of those that can be found.
    pub(crate) fn score(&self) -> f64 {
        match self.drawn - self.explained {
            0 => 100.0,
            possible => 100.0 * self.found as f64 / possible as f64,
        }
    }
}

/// Makes a table of the groups, and of the mutants that nothing has found.
pub(crate) fn markdown(groups: &[Group], found: &[Found]) -> String {
    let explained = explained();
    let mut text =
        "| modules | mutants | found | explained | score |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for group in groups {
        writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} % |",
            group.name,
            group.drawn,
            group.found,
            group.explained,
            group.score()
        )
        .unwrap();
    }
    text += "\n| number | module | line | as it is | mutant | explained |\n| --- | --- | --- | --- | --- | --- |\n";
    for left in found.iter().filter(|found| found.by.is_none()) {
        let Candidate { module, mutant, .. } = &left.candidate;
        let after = if mutant.after.is_empty() {
            "left out"
        } else {
            &mutant.after
        };
        writeln!(
            text,
            "| {} | {module} | {} | `{}` | `{after}` | {} |",
            mutant.number,
            mutant.line + 1,
            mutant.before,
            left.explained(&explained).unwrap_or_default()
        )
        .unwrap();
    }
    text
}
