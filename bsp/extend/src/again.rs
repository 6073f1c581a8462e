//! A platform made again from its own record: the files that this program writes from the vendor's tree that the
//! platform contains, and the request that it records.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::report::Report;
use crate::{around, make};
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::kept::{self, Origin, Record};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::revert::Restored;

/// The vendor's tree of a platform and the platform that it gives, in a temporary directory, which is removed with this
/// value.
#[derive(Debug)]
pub struct Again {
    /// The vendor's BSP.
    pub vendor: Layout,
    /// The platform.
    pub made: Layout,
    /// Its report.
    pub report: Report,
    // In this order: the tree may have directories without the permission to write.
    _restored: Restored,
    _made: TempDir,
    _temporary: TempDir,
}

impl Again {
    /// Extends the vendor's tree of a platform again. `settled` is the configuration of the platform's build: records
    /// of older versions have no other.
    ///
    /// # Errors
    /// Those of [`crate::extend`], with the places of the stored files; [`ErrorKind::Inconsistent`] if the stored files
    /// were changed.
    pub fn new(platform: &Layout, record: &Record, settled: &Config) -> Result<Self> {
        let temporary = output::temporary()?;
        // Scripts are read with the paths that they compute, so no part of the path may be a link.
        let root = fs::canonicalize(temporary.path())
            .map_err(|e| Error::io(temporary.path(), "inspect the directory", &e))?;
        let request = record.request.as_ref();
        let config = match request {
            Some(request) => Config::of_request(&request.config).map_err(|e| {
                Error::new(
                    ErrorKind::Inconsistent,
                    Place::file(platform.root.join(kept::RECORD)),
                    format!("this version of Peerlane cannot read the recorded configuration: {e}"),
                    "Extend the vendor's BSP again.",
                )
            })?,
            None => settled.clone(),
        };
        let title = match record.origin {
            Origin::Vendor => None,
            Origin::New => Some(title(record)),
        };
        let at = match request.and_then(|request| request.around.as_ref()) {
            Some(facts) => around::put(facts, &root.join("around"))?,
            None => root.join("vendor"),
        };
        let kept = platform.root.join(kept::VENDOR);
        let named = |error: Error| error.named_as_given(&at, &kept);
        let restored = Restored::new(&platform.root, record, &at).map_err(named)?;
        let vendor = Layout {
            root: at.clone(),
            hardware: record.vendor_hardware(),
        };
        let made = make(&vendor, &config, title.as_deref(), &root, &root);
        let (made, report) = made.map_err(named)?;
        Ok(Self {
            vendor,
            made: Layout {
                root: made.path().to_path_buf(),
                hardware: report.hardware.clone(),
            },
            report,
            _restored: restored,
            _made: made,
            _temporary: temporary,
        })
    }
}

/// Returns the title of a board that `peerlane new` made; without a recorded one, the name of its directory.
fn title(record: &Record) -> String {
    let recorded = record.request.as_ref().and_then(|r| r.title.clone());
    recorded.unwrap_or_else(|| {
        let hardware: PathBuf = record.hardware();
        let name = hardware.file_name().unwrap_or_default();
        Path::new(name).display().to_string()
    })
}
