//! Checks that the OpenCL SDK assumes the vendor's type for the platform when it migrates the platform to its own
//! version (Custom Platform Toolkit user guide 683398, 1.3; the SDK's `Board_migrate.pm`, 15.1 and 17.1).

use std::collections::BTreeSet;
use std::path::Path;

use crate::Findings;
use crate::read::settings::{Files, Reader};
use crate::read::{Node, xml};
use crate::result::gen3::TO_DO;
use crate::result::{Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::layout::REPORT;

const TEST: &str = "automigration";

/// The fix that sets `force_hrc` to 1 in every system of a board of the type `s5_net`.
const FORCES: &str = "cvphrcfix";

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    let path = bsp.hardware.join("board_spec.xml");
    let now = xml(&path)?;
    let Some(was) = bsp.vendor.xml("board_spec.xml".as_ref())? else {
        // The test of the specification reports it.
        return Ok(());
    };
    let before = findings.found();
    let nothing = Node::default();
    // If the vendor has no `<compile>`, a user adds one.
    let olds = was.all("compile").chain(std::iter::repeat(&nothing));
    let pairs: Vec<_> = olds.zip(now.all("compile")).collect();
    if build.config.port.generation == Some(3) {
        for (old, new) in &pairs {
            excluded(&path, old, new, findings);
        }
        if pairs.is_empty() {
            let what = format!(
                "<compile> is missing, where the SDK's fix {FORCES} could be excluded. This fix would force the hard \
                 reset controller, which Gen3 does not have (\"What to do\" of {REPORT} has the text to write)"
            );
            findings.note(TO_DO, Place::line(&path, now.line), what);
        }
    }
    let Some((kind, file)) = by_files(bsp)? else {
        if findings.unchanged(before) {
            findings.good(
                TEST,
                "the SDK does not need a file that was left out to find the platform's type",
            );
        }
        return Ok(());
    };
    for (old, new) in &pairs {
        let want = match told(old) {
            None | Some("" | "auto") => kind,
            Some(own) => own,
        };
        let has = told(new);
        if has != Some(want) {
            let what = format!(
                "the platform's type (platform_type of <auto_migrate>) is {}; it must be \"{want}\". Else the SDK \
                 finds it by {file}, which does not exist until it is generated again",
                has.map_or("not set".into(), |has| format!("\"{has}\""))
            );
            bad(findings, TEST, Place::line(&path, new.line), what);
        }
        if new.all("auto_migrate").count() > 1 {
            let what = "a second <auto_migrate>".to_string();
            bad(findings, TEST, Place::line(&path, new.line), what);
        }
    }
    if pairs.is_empty() {
        let what = format!(
            "<compile> is missing, where the platform's type could be set. The SDK finds it by {file}, which does not \
             exist until it is generated again"
        );
        findings.note(TEST, Place::line(&path, now.line), what);
    } else if findings.unchanged(before) {
        findings.good(TEST, "the platform's type is set explicitly");
    }
    Ok(())
}

/// Checks that at Gen3 the fix that forces the hard reset controller is excluded, in addition to those that the vendor
/// excludes.
fn excluded(path: &Path, old: &Node, new: &Node, findings: &mut Findings) {
    let (mut want, has) = (fixes(old), fixes(new));
    want.insert(FORCES);
    if has != want {
        let words = |fixes: BTreeSet<&str>| fixes.into_iter().collect::<Vec<_>>().join(",");
        let what = format!(
            "the excluded fixes (<exclude> of <auto_migrate>) are \"{}\"; they must be \"{}\": {FORCES} would force \
             the hard reset controller, which Gen3 does not have",
            words(has),
            words(want)
        );
        bad(findings, TEST, Place::line(path, new.line), what);
    }
}

/// Returns the fixes that a `<compile>` excludes.
fn fixes(compile: &Node) -> BTreeSet<&str> {
    let lists = compile.all("auto_migrate").take(1);
    let lists = lists.flat_map(|told| told.all("exclude").take(1));
    let fixes = lists.flat_map(|list| list.get("fixes").unwrap_or_default().split(','));
    fixes.map(str::trim).filter(|fix| !fix.is_empty()).collect()
}

/// Returns the type that a `<compile>` states.
fn told(compile: &Node) -> Option<&str> {
    let first = compile.all("auto_migrate").next()?;
    Some(first.get("platform_type")?.trim())
}

/// Returns the type that the SDK finds in the vendor's BSP by a compiled file, and that file.
fn by_files(bsp: &Bsp) -> Result<Option<(&'static str, &'static str)>> {
    let has = |name: &str| bsp.vendor.hash(Path::new(name)).is_some();
    const PERSONA: &str = "persona/base.root_partition.personax";
    const PARTITION: &str = "acl_iface_partition.qxp";
    let found = match () {
        () if has("base.qsf") && has(PERSONA) => ("s5_net", PERSONA),
        () if has(PARTITION) => ("cvpqxp_13.x", PARTITION),
        () => return Ok(None),
    };
    // The SDK looks only at this file, and does not run it.
    let Some(settings) = bsp.vendor.kept(Path::new("top.qsf"))? else {
        return Ok(None);
    };
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &Files::new(),
        vendor: None,
    };
    let revision = reader.read(&settings)?;
    let only = |name: &str| {
        let mut all = revision
            .assignments
            .iter()
            .filter(|a| a.name.as_deref() == Some(name) && a.place.path == settings);
        let value = all.next()?.value.clone()?;
        all.next().is_none().then_some(value)
    };
    let stratix = only("FAMILY").is_some_and(|family| family.to_uppercase() == "STRATIX V");
    // 13.0 and later.
    let major = only("LAST_QUARTUS_VERSION")
        .and_then(|version| version.split('.').next()?.trim().parse::<u32>().ok());
    Ok(Some(found).filter(|_| stratix && major.is_some_and(|major| major >= 13)))
}
