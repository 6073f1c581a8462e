//! The files of a machine on the computer around it.

use std::path::PathBuf;

/// Paths of the files and sockets of a starting machine.
pub(crate) struct Files {
    pub(crate) initramfs: PathBuf,
    pub(crate) console: PathBuf,
    pub(crate) control: PathBuf,
    pub(crate) qmp: PathBuf,
    pub(crate) unanswered: PathBuf,
    /// The directory with the files of the disk, and the firmware's variables.
    pub(crate) disk: PathBuf,
    pub(crate) variables: PathBuf,
}
