//! The type that the OpenCL SDK assumes for the platform when it migrates an older BSP to its own version
//! ("automigration", Custom Platform Toolkit user guide 683398, 1.3).
//!
//! `aoc` applies fixes to the directory of each compile, by the type of the platform. With the type `auto` it looks for
//! files that the vendor compiled (the SDK's own `Board_migrate.pm`, alike in the versions 15.1 and 17.1). The copy
//! does not have them until they are made again, and the compile that makes them needs the same fixes. So the copy
//! states the type.

use crate::step::Change;
use peerlane_bsp_design::project::{Project, Role};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::xml::{Document, Edits, Element, escape};

const WHY: &str = "the SDK finds the platform's type by a file that the vendor compiled, which is left out; without \
                   the type, the compile that makes the board again would not have the SDK's fixes";
/// The fix that sets `force_hrc` to 1 in every `.qsys` of a board of the type `s5_net`.
const FORCES: &str = "cvphrcfix";
const FORCED: &str = "it would force the hard reset controller again, but Gen3 uses the soft one";
/// The type with which the SDK searches itself.
const AUTO: &str = "auto";
/// The settings file that the SDK reads, with any name of the revision.
const SETTINGS: &str = "top.qsf";
/// The oldest version of Quartus whose platforms are migrated.
const OLDEST: f64 = 13.0;

/// Returns the type that the SDK finds in the vendor's BSP, if it finds the type by files that are left out of the
/// copy.
pub fn detected(layout: &Layout, project: &Project) -> Option<&'static str> {
    let hardware = layout.hardware_dir();
    // If it is a link, the linked file.
    let settings = layout.inside(&hardware.join(SETTINGS)).ok()?;
    let settings = layout.root.join(settings);
    let settings = project
        .sources
        .iter()
        .find(|s| s.role <= Role::Sourced && s.path == settings)?;
    let assignments = settings.assignments();
    let only = |name: &str| {
        let mut all = assignments.iter().filter(|a| a.name == name);
        all.next().filter(|_| all.next().is_none())
    };
    let stratix = only("FAMILY")?.value.eq_ignore_ascii_case("Stratix V");
    let version = &only("LAST_QUARTUS_VERSION")?.value;
    if !stratix || leading_number(version) < OLDEST {
        return None;
    }
    let has = |file: &str| hardware.join(file).is_file();
    match () {
        () if has("base.qsf") && has("persona/base.root_partition.personax") => Some("s5_net"),
        () if has("acl_iface_partition.qxp") => Some("cvpqxp_13.x"),
        () => None,
    }
}

/// Returns the number that a text begins with, as Perl compares it: for `13.1.0` it is 13.1.
fn leading_number(text: &str) -> f64 {
    let mut points = 0;
    let end = text.find(|c: char| {
        points += u32::from(c == '.');
        !(c.is_ascii_digit() || c == '.') || points > 1
    });
    text[..end.unwrap_or(text.len())].parse().unwrap_or(0.0)
}

/// The result of changing `board_spec.xml`.
#[derive(Debug, Default)]
pub struct Told {
    /// The changes.
    pub changes: Vec<Change>,
    /// A note if the file has no place for the type.
    pub note: Option<String>,
    /// A task for the user in that case.
    pub to_do: Option<String>,
}

/// Sets the type in `board_spec.xml` if the SDK would have to search for it. If the hard reset controller must not be
/// forced, it also excludes the fix that forces it.
pub fn tell(
    specification: &Document,
    detected: Option<&str>,
    not_forced: bool,
    edits: &mut Edits,
) -> Told {
    if detected.is_none() && !not_forced {
        return Told::default();
    }
    let mut teller = Teller {
        specification,
        edits,
        changes: Vec::new(),
    };
    let mut places = specification.root.children("compile").peekable();
    if places.peek().is_none() {
        return Told {
            note: detected.map(untold),
            to_do: not_forced.then(|| unexcluded(detected)),
            ..Told::default()
        };
    }
    for compile in places {
        match compile.children("auto_migrate").next() {
            Some(told) => {
                if let Some(kind) = detected {
                    teller.kind(told, kind);
                }
                if not_forced {
                    teller.exclude(told);
                }
            }
            None => {
                let (kind, excluded) = (
                    detected.unwrap_or(AUTO),
                    if not_forced { FORCES } else { "" },
                );
                teller.insert(compile, |indent, eol| {
                    format!(
                        "<auto_migrate platform_type=\"{kind}\">{eol}{indent}  <include fixes=\"\"/>{eol}{indent}  \
                         <exclude fixes=\"{excluded}\"/>{eol}{indent}</auto_migrate>"
                    )
                });
                let what = format!("<auto_migrate platform_type=\"{kind}\"> added to <compile>");
                teller.note(what, if detected.is_some() { WHY } else { FORCED });
                if not_forced {
                    teller.note(
                        format!("<exclude fixes=\"{FORCES}\"/> added to <auto_migrate>"),
                        FORCED,
                    );
                }
            }
        }
    }
    Told {
        changes: teller.changes,
        ..Told::default()
    }
}

/// Returns the note if there is no `<compile>`.
fn untold(kind: &str) -> String {
    format!(
        "board_spec.xml has no <compile>, where the platform's type could be set. A newer OpenCL SDK finds that the \
         vendor's BSP is {kind} by a file that is left out here, and applies no fixes until that file exists again. \
         Compile the base with the SDK of the BSP, or find the fixes of the vendor's BSP in automigration.rpt."
    )
}

/// Returns the task for a user at Gen3 if there is no `<compile>`.
fn unexcluded(detected: Option<&str>) -> String {
    let kind = detected.unwrap_or(AUTO);
    format!(
        "board_spec.xml has no <compile>, where an unwanted fix could be excluded. At Gen3 the SDK's fix {FORCES} must \
         not be applied, because it forces the hard reset controller (force_hrc) again. Put <compile><auto_migrate \
         platform_type=\"{kind}\"><exclude fixes=\"{FORCES}\"/></auto_migrate></compile> into <board>, and check in \
         automigration.rpt of a compile that the fix was not applied."
    )
}

/// Edits of a specification.
struct Teller<'a> {
    specification: &'a Document,
    edits: &'a mut Edits,
    changes: Vec<Change>,
}

impl Teller<'_> {
    fn note(&mut self, what: String, why: &str) {
        self.changes.push(Change {
            file: self.specification.path.clone(),
            what,
            why: why.into(),
        });
    }

    /// Sets the type.
    fn kind(&mut self, told: &Element, kind: &str) {
        match told.attribute_at("platform_type") {
            Some(at) if matches!(at.value.trim(), AUTO | "") => {
                self.edits.replace(at.span.clone(), escape(kind));
                self.note(format!("platform_type {} → {kind}", at.value), WHY);
            }
            // Set by the vendor.
            Some(_) => {}
            None => {
                let at = told.span.start + "<auto_migrate".len();
                self.edits.insert(at, format!(" platform_type=\"{kind}\""));
                self.note(format!("platform_type {kind} added to <auto_migrate>"), WHY);
            }
        }
    }

    /// Excludes the fix that forces the hard reset controller.
    fn exclude(&mut self, told: &Element) {
        let Some(list) = told.children("exclude").next() else {
            self.insert(told, |_, _| format!("<exclude fixes=\"{FORCES}\"/>"));
            return self.note(
                format!("<exclude fixes=\"{FORCES}\"/> added to <auto_migrate>"),
                FORCED,
            );
        };
        let Some(fixes) = list.attribute_at("fixes") else {
            let at = list.span.start + "<exclude".len();
            self.edits.insert(at, format!(" fixes=\"{FORCES}\""));
            return self.note(format!("fixes {FORCES} added to <exclude>"), FORCED);
        };
        let has = fixes.value.trim();
        if has.split(',').any(|fix| fix.trim() == FORCES) {
            return;
        }
        let new = match has {
            "" => FORCES.to_string(),
            others => format!("{others},{FORCES}"),
        };
        self.edits.replace(fixes.span.clone(), escape(&new));
        self.note(format!("fixes of <exclude> \"{has}\" → \"{new}\""), FORCED);
    }

    /// Adds an element at the end of another one. `text` is given the indent and the line end.
    fn insert(&mut self, into: &Element, text: impl Fn(&str, &str) -> String) {
        let source = &self.specification.source;
        let eol = self.specification.line_end_after(into.span.start);
        let begin = source[..into.span.start].rfind('\n').map_or(0, |at| at + 1);
        let outer = &source[begin..into.span.start];
        let outer = if outer.trim().is_empty() { outer } else { "" };
        let indent = format!("{outer}  ");
        let text = format!("{eol}{indent}{}", text(&indent, eol));
        match &into.content {
            Some(content) => {
                let last = source[content.clone()].trim_end();
                self.edits.insert(content.start + last.len(), text);
            }
            // `<compile …/>`
            None => {
                let end = into.span.end - "/>".len();
                let close = format!(">{text}{eol}{outer}</{}>", into.name);
                self.edits.replace(end..into.span.end, close);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn told(text: &str) -> (String, usize) {
        let document = Document::parse(Path::new("board_spec.xml"), text.into()).unwrap();
        let mut edits = Edits::default();
        let told = tell(&document, Some("s5_net"), false, &mut edits);
        assert!(told.changes.is_empty() || told.note.is_none());
        let new = edits.apply(&document.path, text).unwrap();
        (new, told.changes.len() + usize::from(told.note.is_some()))
    }

    #[test]
    fn the_type_is_told_where_the_sdk_would_look_for_it() {
        let auto = "<board>\n  <compile project=\"top\">\n    <auto_migrate platform_type=\"auto\" >\n    \
                    </auto_migrate>\n  </compile>\n</board>\n";
        assert_eq!(told(auto), (auto.replace("auto\" ", "s5_net\" "), 1));
        let own = auto.replace("\"auto\"", "\"none\"");
        assert_eq!(told(&own), (own, 0));
        let bare = auto.replace(" platform_type=\"auto\"", "");
        assert_eq!(told(&bare), (auto.replace("auto\" ", "s5_net\" "), 1));
        let (new, changes) = told("<board/>");
        assert_eq!((new.as_str(), changes), ("<board/>", 1));
        let element = "    <auto_migrate platform_type=\"s5_net\">\n      <include fixes=\"\"/>\n      \
                       <exclude fixes=\"\"/>\n    </auto_migrate>\n";
        let (new, _) = told(
            "<board>\n  <compile project=\"top\">\n    <generate cmd=\"echo\"/>\n  </compile>\n</board>\n",
        );
        assert_eq!(
            new,
            format!(
                "<board>\n  <compile project=\"top\">\n    <generate cmd=\"echo\"/>\n{element}  </compile>\n</board>\n"
            )
        );
        let (new, _) = told("<board>\n  <compile project=\"top\"/>\n</board>\n");
        assert_eq!(
            new,
            format!("<board>\n  <compile project=\"top\">\n{element}  </compile>\n</board>\n")
        );
    }

    #[test]
    fn versions_are_compared_as_perl_does() {
        for (text, number) in [
            ("13.1.0", 13.1),
            ("14.0", 14.0),
            ("12.1 SP1", 12.1),
            ("", 0.0),
            ("x", 0.0),
        ] {
            assert!((leading_number(text) - number).abs() < 1e-9, "{text}");
        }
    }
}
