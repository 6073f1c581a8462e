//! The device family, as far as the block's size depends on it.

use crate::step::Step;
use peerlane_bsp_design::project::Project;
use peerlane_bsp_generate::memory_blocks::Blocks;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::xml::Document;

/// Names of families, the prefixes of Altera's part numbers for them (device overviews, "Ordering Information"), and
/// their memory blocks. A prefix must follow the longer ones that begin with it.
static FAMILIES: [(&str, &[&str], Blocks); 4] = [
    ("Stratix V", &["5sg", "5se"], Blocks::M20k),
    ("Arria V GZ", &["5agz"], Blocks::M20k),
    ("Arria V", &["5ag", "5as"], Blocks::M10k),
    ("Cyclone V", &["5ce", "5cg", "5cs"], Blocks::M10k),
];

/// Returns a family that the settings name and that is not in the table, with the place.
pub fn foreign(project: &Project) -> Option<(String, Place)> {
    let mut all = project.settings(&["FAMILY"]).into_iter();
    all.find_map(|(source, assignment)| {
        let family = assignment.value.trim();
        let known = FAMILIES
            .iter()
            .any(|(name, ..)| name.eq_ignore_ascii_case(family));
        let place = Place::line(&source.path, assignment.line);
        (!known && !family.is_empty()).then(|| (family.to_string(), place))
    })
}

/// Returns the names of the families, for a sentence.
pub fn known() -> String {
    FAMILIES.map(|(name, ..)| name).join(", ")
}

/// Returns the memory blocks of the board's device: by the family that the settings name, the device that they name, or
/// the device model of `board_spec.xml`. `None` for a family that is not known here.
pub fn blocks(project: &Project, specification: &Document) -> Option<Blocks> {
    let value = |name: &str| {
        let found = project.settings(&[name]);
        found.into_iter().map(|(_, assignment)| assignment.value)
    };
    let named = value("FAMILY").find_map(|family| {
        let mut all = FAMILIES.iter();
        all.find(|(name, ..)| name.eq_ignore_ascii_case(family.trim()))
    });
    let models = (specification.root.children("device"))
        .filter_map(|device| device.attribute("device_model").map(str::to_string));
    let mut parts = value("DEVICE").chain(models);
    let by_part = || {
        parts.find_map(|part| {
            let part = part.to_lowercase();
            let begins = |begin: &&str| part.starts_with(*begin);
            FAMILIES.iter().find(|(_, all, _)| all.iter().any(begins))
        })
    };
    named.or_else(by_part).map(|(.., blocks)| *blocks)
}

/// Reports a family that is not known here. `memory` are the device's memory blocks, if they are known.
///
/// # Errors
/// Those of [`Layout::inside`].
pub(crate) fn step(layout: &Layout, project: &Project, memory: Option<Blocks>) -> Result<Step> {
    let mut step = Step::default();
    if let Some((family, place)) = foreign(project) {
        let file = layout.inside(&place.path)?;
        step.to_do.push(format!(
            "The vendor's {} says FAMILY \"{family}\". Peerlane was made for {}, with the hard IP of these families. \
             The statements below may not be valid, and Platform Designer will refuse components that the family does \
             not have.",
            Place {
                path: file,
                ..place
            },
            known()
        ));
    }
    if memory.is_none() {
        step.notes.push(format!(
            "This program does not know the device's family; its memory blocks were counted as {}, the smaller ones.",
            Blocks::M10k.name()
        ));
    }
    Ok(step)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;
    use peerlane_bsp_design::project::{Role, Source};

    fn of(settings: &str, model: &str) -> Option<Blocks> {
        let revisions = BTreeSet::from(["top".into()]);
        let source = Source::new("top.qsf".into(), Role::Settings, settings.into(), revisions);
        let project = Project::of(PathBuf::new(), vec![source]);
        let text = format!("<board><device device_model=\"{model}\"/></board>");
        let specification = Document::parse(Path::new("board_spec.xml"), text).unwrap();
        blocks(&project, &specification)
    }

    #[test]
    fn family_device_and_model_in_this_order() {
        let set = |name: &str, value: &str| format!("set_global_assignment -name {name} {value}\n");
        for (settings, model, want) in [
            (set("FAMILY", "\"Stratix V\""), "", Some(Blocks::M20k)),
            (set("FAMILY", "\"CYCLONE V\""), "", Some(Blocks::M10k)),
            (set("FAMILY", "\"Arria V\""), "", Some(Blocks::M10k)),
            (set("FAMILY", "\"Arria V GZ\""), "", Some(Blocks::M20k)),
            (
                set("FAMILY", "\"Cyclone V\""),
                "5sgxea7_dm.xml",
                Some(Blocks::M10k),
            ),
            (
                set("DEVICE", "5CGTFD9E5F35C7"),
                "5sgxea7_dm.xml",
                Some(Blocks::M10k),
            ),
            (set("DEVICE", "5AGZME1H2F35C3"), "", Some(Blocks::M20k)),
            (set("DEVICE", "5AGXFB3H4F35C4"), "", Some(Blocks::M10k)),
            (String::new(), "5sgxma7h2fe35c2_dm.xml", Some(Blocks::M20k)),
            (String::new(), "5cgtd9_dm.xml", Some(Blocks::M10k)),
            (set("FAMILY", "\"Arria 10\""), "10ax115_dm.xml", None),
            (String::new(), "", None),
        ] {
            assert_eq!(of(&settings, model), want, "{settings}{model}");
        }
    }
}
