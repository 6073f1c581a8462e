//! Traces of an extension in the input. A board that is extended twice would get its additions twice, and the stored
//! files would not be the vendor's.

use std::path::Path;

use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::kept;
use peerlane_bsp_platform::layout::{BOARD_FILE, Layout, OWN_DIR, SCRIPT_DIR, with_extension};
use peerlane_bsp_platform::message::Message;
use peerlane_bsp_platform::roles::NEW_DMA;
use peerlane_bsp_platform::text;

fn extended(place: Place, what: impl Into<Message>) -> Error {
    Error::new(
        ErrorKind::AlreadyExtended,
        place,
        Message::from("the BSP is already extended, or was: ").then(what),
        "Name the vendor's BSP with --bsp. `peerlane revert` restores it from an extended BSP, and `peerlane check` \
         checks an extended BSP.",
    )
}

/// Refuses a directory in a platform that is extended.
///
/// # Errors
/// [`ErrorKind::AlreadyExtended`].
pub(crate) fn refuse_above(dir: &Path) -> Result<()> {
    let mut all = dir.ancestors();
    match all.find(|root| root.join(kept::RECORD).exists()) {
        Some(root) => Err(extended(
            Place::file(dir),
            Message::from(root).then(format!(" has {}", kept::RECORD)),
        )),
        None => Ok(()),
    }
}

/// Refuses a BSP with any file that an extension wrote.
///
/// # Errors
/// [`ErrorKind::AlreadyExtended`]; those of reading settings and lists.
pub(crate) fn refuse(layout: &Layout) -> Result<()> {
    let hardware = layout.hardware_dir();
    let own = [OWN_DIR, SCRIPT_DIR, BOARD_FILE].map(|name| hardware.join(name));
    let report = ["md", "json"].map(|kind| format!("peerlane-report.{kind}"));
    let report = report.iter().map(|name| layout.root.join(name));
    for path in own.into_iter().chain(report) {
        if std::fs::symlink_metadata(&path).is_ok() {
            return Err(extended(Place::file(&path), "Peerlane wrote this"));
        }
    }
    for (kind, word) in [("qsf", OWN_DIR), ("ipx", NEW_DMA)] {
        for path in with_extension(&hardware, kind)? {
            let text = text::read(&path)?;
            if let Some(n) = text.lines().position(|line| line.contains(word)) {
                let place = Place::line(&path, n + 1);
                return Err(extended(place, format!("this line names {word}")));
            }
        }
    }
    // Also systems that no project reaches.
    for path in layout.qsys_files()? {
        let text = text::read(&path).unwrap_or_default();
        if let Some(n) = text.lines().position(|line| line.contains(NEW_DMA)) {
            let place = Place::line(&path, n + 1);
            return Err(extended(place, format!("this line names {NEW_DMA}")));
        }
    }
    Ok(())
}
