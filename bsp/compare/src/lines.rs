//! Text files, whose elements are lines.
//!
//! Lines are compared without their blanks at both ends and without quotes, because Quartus writes a changed settings
//! file again in its own order and form. So the number of equal lines counts, not their order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use crate::verdict::{Difference, quoted};

/// The longest search for the shortest list of differences; after it the list may be longer.
const MOST_TIME: Duration = Duration::from_secs(2);
/// An option of settings: the name of a partition or a region.
const SECTION: &str = "-section_id";
/// Settings of a partition that the script for compiled files turns back together with an import.
const OF_IMPORT: [&str; 2] = [
    "PARTITION_NETLIST_TYPE",
    "PARTITION_IGNORE_SOURCE_FILE_CHANGES",
];

/// The three states of a text file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts<'a> {
    /// The vendor's.
    pub vendor: &'a str,
    /// The one that this program writes.
    pub made: &'a str,
    /// The present one.
    pub now: &'a str,
}

/// Returns a line in the form in which lines are compared.
pub(crate) fn normal(line: &str) -> String {
    // A comment of Tcl's after a command. Without a blank it may be a delay of Verilog's.
    let line = line.split_once(";# ").map_or(line, |(before, _)| before);
    let words = line.split_whitespace().map(|word| word.replace('"', ""));
    words.collect::<Vec<_>>().join(" ")
}

fn counted(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        *found.entry(normal(line)).or_default() += 1;
    }
    found
}

/// Reports whether a line says something to a program. A comment does not, and a brace alone does not. A `#` without a
/// blank after it begins no comment in C and in Verilog.
fn says_something(line: &str) -> bool {
    let comment = ["//", "# ", "##"].iter().any(|mark| line.starts_with(mark));
    !comment && line.contains(char::is_alphanumeric)
}

/// Returns the lines of the vendor's that the extension removed.
pub(crate) fn removed(vendor: &str, made: &str) -> Vec<String> {
    let (vendor, made) = (counted(vendor), counted(made));
    let count = |line: &String| made.get(line).copied().unwrap_or(0);
    vendor
        .into_iter()
        .filter(|(line, n)| count(line) < *n && says_something(line))
        .map(|(line, _)| line)
        .collect()
}

fn section(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| *word != SECTION);
    words.nth(1)
}

/// Compares the present file with the one that this program writes. `made_again` reports whether a removed line names a
/// compiled file that exists again with other content: then the line may be back.
pub(crate) fn differences(texts: Texts<'_>, made_again: &dyn Fn(&str) -> bool) -> Vec<Difference> {
    let (vendor, made, now) = (
        counted(texts.vendor),
        counted(texts.made),
        counted(texts.now),
    );
    let of = |all: &BTreeMap<String, usize>, line: &str| all.get(line).copied().unwrap_or(0);
    let is_back = |line: &str| {
        let (was, is, now) = (of(&vendor, line), of(&made, line), of(&now, line));
        was > is && now > is && says_something(line)
    };
    let on: BTreeSet<&str> = (now.keys())
        .filter(|line| is_back(line) && made_again(line))
        .filter_map(|line| section(line))
        .collect();
    let goes_with_import = |line: &str| {
        OF_IMPORT.iter().any(|name| line.contains(name))
            && section(line).is_some_and(|section| on.contains(section))
    };
    let lost = |line: &str| {
        let (was, is, now) = (of(&vendor, line), of(&made, line), of(&now, line));
        is > was && now < is && says_something(line) && !goes_with_import(line)
    };
    let back = |line: &str| is_back(line) && !made_again(line) && !goes_with_import(line);

    let old: Vec<&str> = texts.made.lines().collect();
    let new: Vec<&str> = texts.now.lines().collect();
    let (a, b): (Vec<String>, Vec<String>) = (
        old.iter().map(|line| normal(line)).collect(),
        new.iter().map(|line| normal(line)).collect(),
    );
    let deadline = Some(Instant::now() + MOST_TIME);
    let mut found = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Patience, &a, &b, deadline) {
        let (tag, from, to) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        let mut paired = BTreeSet::new();
        for (n, at) in from.clone().enumerate() {
            if a[at].is_empty() {
                continue;
            }
            let other = Some(to.start + n).filter(|at| to.contains(at));
            let line = other.unwrap_or(to.start).min(new.len().saturating_sub(1)) + 1;
            let mut said = format!("{} of line {}", quoted(old[at]), at + 1);
            match other {
                Some(other) => {
                    paired.insert(other);
                    said += &format!(" is {}", quoted(new[other]));
                }
                None => said += " is missing",
            }
            // The line may be elsewhere in the file.
            let is_fault = lost(&a[at]);
            if of(&now, &a[at]) >= of(&made, &a[at]) && other.is_none() {
                continue;
            }
            found.push(Difference {
                line: Some(line),
                what: match is_fault {
                    true => format!("the extension wrote {said}"),
                    false => said,
                },
                is_fault,
            });
        }
        for at in to {
            let is_fault = back(&b[at]);
            if b[at].is_empty() || (paired.contains(&at) && !is_fault) {
                continue;
            }
            let what = match is_fault {
                true => format!("the extension removed {}, which is back", quoted(new[at])),
                false => format!("{} was added", quoted(new[at])),
            };
            found.push(Difference {
                line: Some(at + 1),
                what,
                is_fault,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const VENDOR: &str = "set A 1\nset B 2\nimport x.qxp -section_id top\n";
    const MADE: &str = "set A 1\nset B 3\n# by the extension\nsource own.qsf\n";

    fn judged(now: &str) -> Vec<(Option<usize>, bool)> {
        let texts = Texts {
            vendor: VENDOR,
            made: MADE,
            now,
        };
        let all = differences(texts, &|_| false);
        all.into_iter().map(|d| (d.line, d.is_fault)).collect()
    }

    #[test]
    fn lines_of_the_extension_are_distinguished_from_others() {
        for (now, want) in [
            (MADE.to_string(), vec![]),
            (MADE.replace('\n', "  \r\n"), vec![]),
            (MADE.replace("set A 1", "set  \"A\" 1"), vec![]),
            (MADE.replace("set A 1", "set A 1 ;# mine"), vec![]),
            (
                MADE.replace("set A 1", "set A 1;#5 set C 1"),
                vec![(Some(1), false)],
            ),
            (MADE.replace("A 1", "A 7"), vec![(Some(1), false)]),
            (
                MADE.replace("B 3", "B 2"),
                vec![(Some(2), true), (Some(2), true)],
            ),
            (MADE.replace("B 3", "B 4"), vec![(Some(2), true)]),
            (MADE.replace("source", "# source"), vec![(Some(4), true)]),
            (MADE.replace("# by", "# mine by"), vec![(Some(3), false)]),
            (format!("{MADE}set C 5\n"), vec![(Some(5), false)]),
            (
                format!("{MADE}import x.qxp  -section_id \"top\"\n"),
                vec![(Some(5), true)],
            ),
            // In another order.
            (
                "source own.qsf\nset A 1\nset B 3\n# by the extension\n".into(),
                vec![(Some(1), false)],
            ),
            (
                String::new(),
                vec![
                    (Some(1), false),
                    (Some(1), true),
                    (Some(1), false),
                    (Some(1), true),
                ],
            ),
        ] {
            assert_eq!(judged(&now), want, "{now}");
        }
    }

    #[test]
    fn an_import_may_be_back_when_its_file_was_made_again() {
        let vendor =
            "import x.qxp -section_id top\nset PARTITION_NETLIST_TYPE IMPORTED -section_id top\n";
        let made = "set PARTITION_NETLIST_TYPE SOURCE -section_id top\nsource own.qsf\n";
        let now = format!("source own.qsf\n{vendor}");
        let texts = Texts {
            vendor,
            made,
            now: &now,
        };
        let faults = |again: bool| {
            let all = differences(texts, &|line| again && line.contains("x.qxp"));
            all.iter().filter(|d| d.is_fault).count()
        };
        assert_eq!((faults(true), faults(false)), (0, 3));
    }
}
