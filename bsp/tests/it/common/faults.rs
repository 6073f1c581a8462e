//! Faults that a test injects into an extended BSP, and the results of the check.

use std::fs;

use peerlane_bsp::check::Comparison;
use peerlane_bsp::error::Error;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, structure};

use super::Work;

/// Returns the faults that the check finds.
pub fn faults(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let bad = findings.0.into_iter().filter(|f| f.level == Level::Bad);
    bad.map(|f| {
        assert!(
            f.hint.is_some() && !f.place.as_os_str().is_empty(),
            "{}",
            f.what
        );
        (f.test, f.what.to_string())
    })
    .collect()
}

/// Makes the platform of a BSP again, to compare its present files many times.
pub fn comparison(work: &Work) -> Comparison {
    Comparison::new(&Layout::of_result(&work.out).unwrap()).unwrap()
}

/// Reports whether `peerlane check` finds a fault, or refuses a damaged record.
pub fn is_wrong(comparison: &Comparison) -> bool {
    comparison.findings().map_or(true, |all| all.errors() > 0)
}

/// Returns the notes of the check.
pub fn notes(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let notes = findings.0.into_iter().filter(|f| f.level == Level::Note);
    notes.map(|f| (f.test, f.what.to_string())).collect()
}

/// Returns the facts that the check proves.
pub fn proved(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let good = findings.0.into_iter().filter(|f| f.level == Level::Good);
    good.map(|f| (f.test, f.what.to_string())).collect()
}

/// Returns the error if the check cannot run.
pub fn refusal(work: &Work) -> Error {
    structure(&Layout::find(&work.out).unwrap()).unwrap_err()
}

/// A BSP that is corrupted and restored for each fault. The second model must find each of them; `peerlane check` must
/// judge each of them, too.
pub struct Planted {
    pub work: Work,
    comparison: Comparison,
    missed: Vec<String>,
}

impl Planted {
    pub fn new(work: Work) -> Self {
        assert_eq!(faults(&work), []);
        let comparison = comparison(&work);
        assert!(!is_wrong(&comparison));
        Self {
            work,
            comparison,
            missed: Vec::new(),
        }
    }

    /// Changes a file; `test` must report a fault with the words.
    pub fn fault(
        &mut self,
        name: &str,
        file: &str,
        change: impl FnOnce(String) -> String,
        (test, words): (&str, &str),
    ) {
        let path = self.work.output(file);
        let before = fs::read_to_string(&path).unwrap();
        let after = change(before.clone());
        assert_ne!(before, after, "{name}: nothing was changed");
        fs::write(&path, after).unwrap();
        let found = faults(&self.work);
        if !is_wrong(&self.comparison) && found.is_empty() {
            self.missed.push(format!("{name}: by none of the two"));
        }
        fs::write(&path, before).unwrap();
        if !found.iter().any(|(t, w)| *t == test && w.contains(words)) {
            self.missed.push(format!("{name}: {found:#?}"));
        }
    }

    /// Corrupts the BSP, checks it and restores it.
    pub fn found(
        &mut self,
        name: &str,
        (spoil, mend): (impl FnOnce(&Work), impl FnOnce(&Work)),
        (test, words): (&str, &str),
    ) {
        spoil(&self.work);
        let found = faults(&self.work);
        if !is_wrong(&self.comparison) && found.is_empty() {
            self.missed.push(format!("{name}: by none of the two"));
        }
        mend(&self.work);
        if !found.iter().any(|(t, w)| *t == test && w.contains(words)) {
            self.missed.push(format!("{name}: {found:#?}"));
        }
    }

    /// Checks that all faults were found, and that the BSP is correct again.
    pub fn all_were_found(self) {
        assert!(self.missed.is_empty(), "{}", self.missed.join("\n"));
        assert_eq!(faults(&self.work), []);
        assert!(!is_wrong(&self.comparison));
    }
}

/// Returns a system without the instances and connections that contain a text.
pub fn without(system: &str, text: &str) -> String {
    each(system, |element| {
        (!element.contains(text)).then(|| element.to_string())
    })
}

/// Returns a system with each instance and connection changed or left out.
pub fn each(system: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = system;
    loop {
        let starts = [" <module", " <connection"].map(|tag| rest.find(tag));
        let Some(start) = starts.into_iter().flatten().min() else {
            break;
        };
        let tag = if rest[start..].starts_with(" <module") {
            "</module>\n"
        } else {
            "</connection>\n"
        };
        let line = rest[start..].find('>').unwrap() + start;
        let end = match rest[..line].ends_with('/') {
            true => line + 2,
            false => rest[start..].find(tag).unwrap() + start + tag.len(),
        };
        out += &rest[..start];
        out += &change(&rest[start..end]).unwrap_or_default();
        rest = &rest[end..];
    }
    out + rest
}
