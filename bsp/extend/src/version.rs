//! The version of the SDK that a platform is for, and its source.
//!
//! The configuration may set it (`sdk`). Otherwise `board_env.xml` gives it (Custom Platform Toolkit user guide 683398,
//! 1.4.2.1). If that file is missing or has no version, the version of Quartus gives it, which comes with the SDK: the
//! version that last saved the settings, else the one that saved the systems, else the one that the project was made
//! with.

use crate::step::Step;
use peerlane_bsp_design::qsf;
use peerlane_bsp_generate::config::is_known_sdk;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::{self, Layout};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// The version if a BSP names none: the oldest that has such boards.
const OLDEST: &str = "13.1";

/// A version of the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// The version as written, in any form.
    pub text: String,
    /// Its source.
    pub by: Source,
    /// The kind of the platform's `board_env.xml`.
    pub description: Description,
    /// Versions that the BSP names if its `board_env.xml` has none, each with its place; the first counts.
    named: Vec<(String, String)>,
}

/// Source of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The configuration.
    User,
    /// The vendor's `board_env.xml`.
    Environment,
    /// The Quartus project: its settings, or its `.qpf`.
    Project,
    /// The systems of Platform Designer.
    Systems,
    /// No source: it is the oldest that has such boards.
    Nobody,
}

/// The version that the board's library finds in the platform's `board_env.xml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Description {
    /// The version that the vendor wrote.
    Vendors,
    /// Another version: the configuration overrides the vendor's.
    Other,
    /// No version: the vendor's file has none, and this does not change.
    Silent,
    /// The version, in a file of Peerlane's: the vendor has none.
    Ours,
}

impl Version {
    /// Returns the version that the configuration asks for, or that a BSP names. `described` is the version in its
    /// `board_env.xml`, if that exists.
    ///
    /// # Errors
    /// Those of listing the project's files.
    pub(crate) fn of(
        layout: &Layout,
        asked: Option<&str>,
        described: Option<Option<&str>>,
    ) -> Result<Self> {
        let said = described.flatten();
        let mut description = match (described, said) {
            (None, _) => Description::Ours,
            (Some(_), None) => Description::Silent,
            (Some(_), Some(_)) => Description::Vendors,
        };
        let mut named = match said {
            Some(version) => vec![(
                Source::Environment,
                version.to_string(),
                "board_env.xml".to_string(),
            )],
            None => named(layout)?,
        };
        if let Some(asked) = asked {
            if said.is_some_and(|said| said != asked) {
                description = Description::Other;
            }
            named.insert(0, (Source::User, asked.into(), "the configuration".into()));
        }
        let best = match asked.or(said) {
            Some(_) => named.first(),
            None => (named.iter().find(|(_, version, _)| is_known_sdk(version))).or(named.first()),
        };
        let (by, text) = best.map_or((Source::Nobody, OLDEST.into()), |(by, version, _)| {
            (*by, version.clone())
        });
        Ok(Self {
            text,
            by,
            description,
            named: (named.into_iter())
                .map(|(_, version, place)| (version, place))
                .collect(),
        })
    }

    /// Reports whether the library for closed runtimes knows it (`is_version` of `mmd/core/src/info.rs`). If the
    /// platform's description has no version that it knows, the library reports 14.0 to its runtime.
    pub(crate) fn is_known(&self) -> bool {
        is_known_sdk(&self.text)
    }

    /// Reports whether `board_env.xml` has it.
    pub(crate) fn is_described(&self) -> bool {
        !matches!(self.description, Description::Silent | Description::Other)
    }

    /// Returns the notes on the version.
    pub(crate) fn step(&self) -> Step {
        Step {
            notes: self.differing().into_iter().collect(),
            to_do: self.note().into_iter().collect(),
            ..Step::default()
        }
    }

    /// Returns a note on several versions.
    fn differing(&self) -> Option<String> {
        let (first, _) = self.named.first()?;
        if self.named.iter().all(|(version, _)| version == first) {
            return None;
        }
        let all = self.named.iter();
        let all: Vec<_> = all
            .map(|(version, place)| format!("{version} ({place})"))
            .collect();
        Some(format!(
            "These files name several versions of Quartus: {}. The steps of README.md are for the SDK {}.",
            all.join(", "),
            self.text
        ))
    }

    /// Returns the note on a description without a version that the library knows.
    fn note(&self) -> Option<String> {
        const THEN: &str = "The library for the SDK's own runtimes then reports 14.0, and a runtime of an earlier \
                            version refuses it: set PEERLANE_MMD_VERSION to the SDK's version for programs";
        let text = &self.text;
        Some(match (self.description, self.is_known()) {
            (Description::Vendors | Description::Ours, true) => return None,
            (Description::Other, _) => {
                let said = self.named.get(1).map_or("", |(said, _)| said);
                format!(
                    "board_env.xml has the version {said:?}, but the configuration (sdk) has {text:?}. The library for \
                     the SDK's own runtimes reports the former: set PEERLANE_MMD_VERSION to {text} for programs, or \
                     write the version into the vendor's board_env.xml and extend again."
                )
            }
            (Description::Silent, _) => format!(
                "board_env.xml has no version. {THEN}, or write the version into the vendor's board_env.xml and extend \
                 again."
            ),
            (Description::Vendors, false) => format!(
                "board_env.xml has the version {text:?}, which is not a version from 13.1 to 18.1. {THEN}, or write \
                 the version into the vendor's board_env.xml and extend again."
            ),
            (Description::Ours, false) => format!(
                "The BSP has no board_env.xml, and its project names no version of the SDK from 13.1 to 18.1: the \
                 written one has {text:?}. {THEN}, or set LAST_QUARTUS_VERSION in the BSP's .qsf to it and extend \
                 again."
            ),
        })
    }
}

/// Returns major and minor number of a version, as text; `None` if the text is not a version.
fn short(version: &str) -> Option<String> {
    let version = version.trim().trim_matches('"');
    let mut parts = version.split(['.', ' ']);
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let major = parts.next().filter(|part| number(part))?;
    let minor = parts.next().filter(|part| number(part)).unwrap_or("0");
    Some(format!("{major}.{minor}"))
}

/// Returns every version that the BSP names, with its place, in order of precedence. A file that is not of its kind,
/// such as an old copy, is skipped.
fn named(layout: &Layout) -> Result<Vec<(Source, String, String)>> {
    let hardware = layout.hardware_dir();
    let name = |path: &std::path::Path| {
        let inside = path.strip_prefix(&hardware).unwrap_or(path);
        inside.display().to_string()
    };
    let mut found: Vec<(Source, String, String)> = Vec::new();
    for path in layout::with_extension(&hardware, "qsf")? {
        let Ok(settings) = text::read(&path) else {
            continue;
        };
        for assignment in qsf::assignments(&settings) {
            if assignment.name == "LAST_QUARTUS_VERSION"
                && let Some(version) = short(&assignment.value)
            {
                let place = format!("LAST_QUARTUS_VERSION, {}:{}", name(&path), assignment.line);
                found.push((Source::Project, version, place));
            }
        }
    }
    for path in layout.qsys_files()? {
        let Ok(document) = Document::read(&path) else {
            continue;
        };
        // Platform Designer writes the connections, so they have its version.
        let connection = document.root.children("connection").next();
        let version = connection.and_then(|c| short(c.attribute("version")?));
        if let Some(version) = version
            && !(found.iter()).any(|(by, v, _)| *by == Source::Systems && *v == version)
        {
            let place = format!("connections of {}", name(&path));
            found.push((Source::Systems, version, place));
        }
    }
    for path in layout::with_extension(&hardware, "qpf")? {
        let Ok(text) = text::read(&path) else {
            continue;
        };
        let text = text.trim_start_matches(text::BYTE_ORDER_MARK);
        let line = text
            .lines()
            .enumerate()
            .find_map(|(n, l)| Some((n + 1, l.strip_prefix("QUARTUS_VERSION")?)));
        if let Some((line, rest)) = line
            && let Some(version) = rest.trim_start().strip_prefix('=').and_then(short)
        {
            let place = format!("QUARTUS_VERSION, {}:{line}", name(&path));
            found.push((Source::Project, version, place));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_two_numbers() {
        for (text, want) in [
            ("14.1.0", Some("14.1")),
            ("\"13.0\"", Some("13.0")),
            ("17.1 SP1", Some("17.1")),
            ("18", Some("18.0")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(short(text).as_deref(), want, "{text}");
        }
    }
}
