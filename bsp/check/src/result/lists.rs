//! The list of components, and the board's specification.
//!
//! Another test (`migration`) checks the type that the SDK assumes for the platform.

use std::collections::BTreeSet;

use crate::Findings;
use crate::read::{Node, number, xml};
use crate::result::names::OWN_HIP;
use crate::result::{BLOCK, Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::layout::{hw_tcl_path, with_extension};

/// The resources that the block adds to.
const USED: [&str; 3] = ["alms", "ffs", "rams"];

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    components(bsp, build, findings)?;
    resources(bsp, build, findings)
}

/// Checks that the block is listed once, with its own file and version.
fn components(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "component list";
    let before = findings.found();
    let mut listed = 0;
    for path in with_extension(&bsp.hardware, "ipx")? {
        for entry in xml(&path)?
            .all("component")
            .filter(|e| e.get("name") == Some(BLOCK))
        {
            listed += 1;
            let place = Place::line(&path, entry.line);
            if listed > 1 {
                bad(
                    findings,
                    TEST,
                    place.clone(),
                    format!("{BLOCK} is listed twice"),
                );
            }
            for (name, want) in [
                ("file", hw_tcl_path()),
                ("version", bsp.declared.version.clone()),
            ] {
                let has = entry.get(name).unwrap_or_default();
                if has != want {
                    let what = format!("the {name} of {BLOCK} is \"{has}\"; it must be \"{want}\"");
                    bad(findings, TEST, place.clone(), what);
                }
            }
        }
    }
    // The test of packets reports a hard IP of another kind.
    let own = build.config.has_tlp_port();
    let mut entries = 0;
    for path in with_extension(&bsp.hardware, "ipx")? {
        let list = xml(&path)?;
        let entry = list.all("component");
        entries += entry
            .filter(|e| e.get("name") == Some(OWN_HIP))
            .filter(|e| {
                let file = e.get("file").unwrap_or_default();
                bsp.hardware.join(file).is_file()
            })
            .count();
    }
    if own != (entries == 1) || entries > 1 {
        let what = format!("{OWN_HIP}, with its file, is listed {entries} times");
        bad(findings, TEST, Place::file(&bsp.hardware), what);
    }
    if listed == 0 {
        let what = format!("no list of components (.ipx) has {BLOCK}");
        bad(findings, TEST, Place::file(&bsp.hardware), what);
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!("{BLOCK} is listed, version {}", bsp.declared.version),
        );
    }
    Ok(())
}

/// Checks that the resources that `aoc` subtracts from those for kernels are more than the vendor's.
fn resources(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "board_spec";
    let before = findings.found();
    let path = bsp.hardware.join("board_spec.xml");
    let now = xml(&path)?;
    let Some(was) = bsp.vendor.xml("board_spec.xml".as_ref())? else {
        bad(
            findings,
            TEST,
            Place::file(&path),
            "the vendor's board_spec.xml was not kept".into(),
        );
        return Ok(());
    };
    let mut paths = Vec::new();
    let channels = build.config.streams.iter().filter(|s| s.is_channel());
    let asked = Asked {
        is_gen_3: build.config.port.generation == Some(3),
        channels: channels.map(|stream| stream.name.as_str()).collect(),
    };
    compare(&was, &now, "board", &asked, &mut paths);
    for (line, what) in paths {
        bad(findings, TEST, Place::line(&path, line), what);
    }
    let mut said = Vec::new();
    for name in USED {
        let Some((old, _)) = used(&was, name) else {
            continue;
        };
        match used(&now, name) {
            Some((Some(new), line)) if old.is_some_and(|old| new <= old) => {
                let what = format!("{name} {new} is the vendor's value, without the block");
                bad(findings, TEST, Place::line(&path, line), what);
            }
            Some((Some(new), _)) => said.push(format!("{name} {new}")),
            Some((None, line)) if old.is_some() => {
                bad(
                    findings,
                    TEST,
                    Place::line(&path, line),
                    format!("{name} is not a number"),
                );
            }
            Some((None, _)) => {}
            None => bad(
                findings,
                TEST,
                Place::file(&path),
                format!("{name} is missing"),
            ),
        }
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!("used resources with the block: {}", said.join(", ")),
        );
    }
    Ok(())
}

/// Changes of the board's specification that depend on the configuration.
struct Asked<'a> {
    is_gen_3: bool,
    /// Names of the channels, which the test of streams checks.
    channels: Vec<&'a str>,
}

impl Asked<'_> {
    fn has_channel(&self, node: &Node) -> bool {
        let name = node.get("chan_id").unwrap_or_default();
        node.tag == "interface" && self.channels.contains(&name)
    }
}

/// Compares an element of the board's specification with the vendor's. It leaves out the board's name, the resources
/// that the block adds to, the channels, the platform's type, and at Gen3 the list of excluded fixes; the test of
/// automigration checks the latter two.
fn compare(was: &Node, now: &Node, at: &str, asked: &Asked<'_>, found: &mut Vec<(usize, String)>) {
    let is_gen_3 = asked.is_gen_3;
    let ours = |name: &str| {
        (at == "board" && name == "name")
            || (is_gen_3 && at == "board/compile/auto_migrate/exclude" && name == "fixes")
            || (at == "board/compile/auto_migrate" && name == "platform_type")
            || (name == "num"
                && USED
                    .iter()
                    .any(|used| at.ends_with(&format!("used_resources/{used}"))))
    };
    let names: BTreeSet<&str> = was.names().chain(now.names()).collect();
    for name in names.into_iter().filter(|name| !ours(name)) {
        let (old, new) = (was.get(name), now.get(name));
        if old != new {
            let text = |value: Option<&str>| value.map_or("not set".into(), |v| format!("\"{v}\""));
            let what = format!(
                "{name} of {at} is {}; in the vendor's BSP it is {}",
                text(new),
                text(old)
            );
            found.push((now.line, what));
        }
    }
    // The element for the type and the excluded fixes may be new.
    let told = |node: &&Node| match (at, node.tag.as_str()) {
        ("board/compile", "auto_migrate") => true,
        ("board/compile/auto_migrate", "exclude") => is_gen_3,
        ("board", "compile") => {
            is_gen_3
                && was.all("compile").next().is_none()
                && node.inside.iter().all(|inner| inner.tag == "auto_migrate")
        }
        ("board", "channels") => {
            was.all("channels").next().is_none()
                && node.inside.iter().all(|inner| asked.has_channel(inner))
        }
        ("board/channels", _) => asked.has_channel(node),
        _ => false,
    };
    let is_new = |node: &&Node| matches!(&*node.tag, "compile" | "channels") && told(node);
    let mut rest = now.inside.iter().filter(|node| !is_new(node));
    for old in &was.inside {
        let path = format!("{at}/{}", old.tag);
        match rest.next() {
            Some(new) if new.tag == old.tag => compare(old, new, &path, asked, found),
            // `resources` reports on the figures.
            Some(new) => {
                if !USED.contains(&old.tag.as_str()) {
                    found.push((new.line, format!("<{}> is in the place of {path}", new.tag)));
                }
                return;
            }
            None => {
                found.push((now.line, format!("{path} is missing")));
                return;
            }
        }
    }
    if let Some(more) = rest.find(|node| !told(node)) {
        found.push((
            more.line,
            format!("<{}> in {at} is not in the vendor's BSP", more.tag),
        ));
    }
}

/// Returns a figure of the used resources, and its line.
fn used(board: &Node, name: &str) -> Option<(Option<u64>, usize)> {
    let devices = board.all("device");
    let mut figures = devices
        .flat_map(|d| d.all("used_resources"))
        .flat_map(|u| u.all(name));
    let figure = figures.next()?;
    Some((figure.get("num").and_then(number), figure.line))
}
