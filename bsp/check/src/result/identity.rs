//! IDs and names that distinguish the extended board from the vendor's, so that the vendor's software does not accept
//! it as its own.

use crate::Findings;
use crate::read::design::Instance;
use crate::read::xml;
use crate::result::names::is_hard_ip;
use crate::result::parameters::same;
use crate::result::{BLOCK, Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_generate::config::Identity;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::layout::BOARD_FILE;

const TEST: &str = "identity";
/// Parameter of a `version_id`.
pub(super) const VERSION: &str = "VERSION_ID";
/// The hard IP's PCI IDs (Stratix V Avalon-MM user guide 683411, 3.3).
const IDS: [&str; 4] = [
    "vendor_id_hwtcl",
    "device_id_hwtcl",
    "subsystem_vendor_id_hwtcl",
    "subsystem_device_id_hwtcl",
];

/// Reports whether a version is a board's: 0xa0c7c1e0 but for its last digit, with a sign or without.
pub(super) fn is_boards(version: &str) -> bool {
    let number = version.trim().parse::<i64>();
    number.is_ok_and(|n| n & 0xffff_fff0 == 0xa0c7_c1e0)
}

/// Returns the IDs that the record's configuration sets.
pub(super) fn ids(identity: &Identity) -> impl Iterator<Item = (&'static str, u16)> {
    let values = [
        identity.vendor,
        identity.device,
        identity.subsystem_vendor,
        Some(identity.subsystem_device),
    ];
    let all = IDS.into_iter().zip(values);
    all.filter_map(|(name, id)| Some((name, id?)))
}

/// Checks that the identity differs from the vendor's. The test of parameters compares IDs and versions with the
/// configuration.
pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    for design in bsp
        .all()
        .filter(|d| d.instances.iter().any(|i| i.kind == BLOCK))
    {
        let Some(vendor) = bsp.was(design) else {
            continue;
        };
        for hip in design.instances.iter().filter(|i| is_hard_ip(&i.kind)) {
            let Some(was) = vendor.instance(&hip.name) else {
                continue;
            };
            let equal = |name: &&str| match (hip.parameters.get(*name), was.parameters.get(*name)) {
                (Some(now), Some(was)) => same(now, was),
                (now, was) => now == was,
            };
            described(bsp, hip, findings);
            if IDS.iter().all(equal) {
                let what = format!(
                    "the PCI IDs of {} are those of the vendor's board: the vendor's driver would bind to this board",
                    hip.name
                );
                bad(findings, TEST, design.place(hip.line), what);
            }
        }
    }
    let name = board_name(bsp, build, findings)?;
    if findings.unchanged(before) {
        let version = build.config.identity.version_id;
        findings.good(
            TEST,
            format!("board {name}, own PCI IDs, version {version:#010x}"),
        );
    }
    Ok(())
}

/// Checks that the description's file can be found by the hard IP's IDs.
fn described(bsp: &Bsp, hip: &Instance, findings: &mut Findings) {
    let path = bsp.hardware.join(BOARD_FILE);
    // A missing file is a generated file that is missing.
    let Ok(text) = std::fs::read_to_string(&path) else {
        return;
    };
    let ids = IDS.map(|name| {
        let id = hip.number(name);
        id.map_or("*".into(), |id| format!("{id:04x}"))
    });
    let want = format!("pci {}", ids.join(":"));
    if text.lines().nth(2) != Some(want.as_str()) {
        let what = format!("the IDs of {} need the line \"{want}\"", hip.name);
        bad(findings, TEST, Place::line(&path, 3), what);
    }
}

/// Checks the board's name in `board_spec.xml`, in `board_env.xml` and of the directory (Custom Platform Toolkit user
/// guide 683398, 1.4.2.1 and 2.2.1).
fn board_name(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<String> {
    let suffix = &build.config.identity.board_suffix;
    let path = bsp.hardware.join("board_spec.xml");
    let board = xml(&path)?;
    let name = board.get("name").unwrap_or_default().to_string();
    if let Some(was) = bsp.vendor.xml("board_spec.xml".as_ref())? {
        let want = format!("{}{suffix}", was.get("name").unwrap_or_default());
        if name != want {
            let what = format!("the board's name is \"{name}\"; it must be \"{want}\"");
            bad(findings, TEST, Place::line(&path, board.line), what);
        }
    }
    if bsp.layout.hardware.as_os_str().is_empty() {
        return Ok(name);
    }
    let directory = bsp.layout.hardware.file_name().unwrap_or_default();
    if directory != name.as_str() {
        let what = format!(
            "the board's name is \"{name}\" and its directory is \"{}\": aoc does not find it",
            directory.to_string_lossy()
        );
        bad(findings, TEST, Place::line(&path, board.line), what);
    }
    let path = bsp.layout.root.join("board_env.xml");
    if !path.is_file() {
        return Ok(name);
    }
    let platform = xml(&path)?;
    if let Some(hardware) = platform
        .all("hardware")
        .find(|h| h.get("default").is_some())
    {
        let default = hardware.get("default").unwrap_or_default();
        if default != name {
            let what = format!("the default board is \"{default}\"; it must be \"{name}\"");
            bad(findings, TEST, Place::line(&path, hardware.line), what);
        }
    }
    let inside = bsp.inside(&path);
    if let Some(was) = bsp.vendor.xml(&inside)?
        && let Some(old) = was.get("name")
    {
        let want = format!("{old}{suffix}");
        let has = platform.get("name").unwrap_or_default();
        if has != want {
            let what = format!("the platform's name is \"{has}\"; it must be \"{want}\"");
            bad(findings, TEST, Place::line(&path, platform.line), what);
        }
    }
    Ok(name)
}
