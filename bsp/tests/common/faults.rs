//! Faults planted in an extended BSP, and what the check finds.

use std::fs;

use peerlane_bsp::check::{Level, structure};
use peerlane_bsp::error::Error;
use peerlane_bsp::layout::Layout;

use super::Work;

/// The faults that a check found.
pub fn faults(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let bad = findings.0.into_iter().filter(|f| f.level == Level::Bad);
    bad.map(|f| {
        assert!(
            !f.remedy.is_empty() && !f.place.as_os_str().is_empty(),
            "{}",
            f.what
        );
        (f.test, f.what)
    })
    .collect()
}

/// What a check said about something without finding fault.
pub fn notes(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let notes = findings.0.into_iter().filter(|f| f.level == Level::Note);
    notes.map(|f| (f.test, f.what)).collect()
}

/// What a check proved.
pub fn proved(work: &Work) -> Vec<(&'static str, String)> {
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let good = findings.0.into_iter().filter(|f| f.level == Level::Good);
    good.map(|f| (f.test, f.what)).collect()
}

/// Why a check cannot be made.
pub fn refusal(work: &Work) -> Error {
    structure(&Layout::find(&work.out).unwrap()).unwrap_err()
}

/// A BSP that is spoilt again and again, and mended each time.
pub struct Planted {
    pub work: Work,
    missed: Vec<String>,
}

impl Planted {
    pub fn new(work: Work) -> Self {
        assert_eq!(faults(&work), []);
        Self {
            work,
            missed: Vec::new(),
        }
    }

    /// Changes a file; `test` must find fault with it, with the words.
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
        fs::write(&path, before).unwrap();
        if !found.iter().any(|(t, w)| *t == test && w.contains(words)) {
            self.missed.push(format!("{name}: {found:#?}"));
        }
    }

    /// Does something to the BSP, and undoes it.
    pub fn found(
        &mut self,
        name: &str,
        (spoil, mend): (impl FnOnce(&Work), impl FnOnce(&Work)),
        (test, words): (&str, &str),
    ) {
        spoil(&self.work);
        let found = faults(&self.work);
        mend(&self.work);
        if !found.iter().any(|(t, w)| *t == test && w.contains(words)) {
            self.missed.push(format!("{name}: {found:#?}"));
        }
    }

    /// All must have been found, and the BSP must be sound again.
    pub fn all_were_found(self) {
        assert!(self.missed.is_empty(), "{}", self.missed.join("\n"));
        assert_eq!(faults(&self.work), []);
    }
}

/// A system without the instances and connections that have a text.
pub fn without(system: &str, text: &str) -> String {
    each(system, |element| {
        (!element.contains(text)).then(|| element.to_string())
    })
}

/// A system with each instance and connection changed, or left out.
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
