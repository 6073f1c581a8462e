//! Commands inside an unpacked root, without anything of it installed on the machine.
//!
//! Commands run with `unshare` in a mount namespace of their own: no other process sees the mounts there, and they end
//! with the command. A user who is not root becomes root in a user namespace.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Error, Result,
    error::io_error,
    process::{self, find, tail, text},
};

/// Nodes of the machine that programs in the root may use.
const NODES: [&str; 4] = ["null", "zero", "random", "urandom"];

/// Sets up the root given first, then runs the command after `--`. The second argument, if not empty, is a directory
/// that takes all changes to the root. Before `--` come mounts, each as `ro|rw from to`. Making a mount read-only only
/// protects the cache from mistakes; a machine that refuses it does no harm.
const SCRIPT: &str = r#"
set -e
PATH=$PATH:/usr/sbin:/sbin
root=$1; changes=$2; shift 2
if [ -n "$changes" ]; then
  mkdir -p "$changes/upper" "$changes/work" "$changes/root"
  mount -t overlay overlay "$changes/root" \
    -o "userxattr,lowerdir=$root,upperdir=$changes/upper,workdir=$changes/work"
  root=$changes/root
fi
mount --rbind /proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
for node in null zero random urandom; do mount --bind "/dev/$node" "$root/dev/$node"; done
while [ "$1" != -- ]; do
  mount --bind "$2" "$root/$3"
  [ "$1" = rw ] || mount -o remount,bind,ro "$root/$3" 2>/dev/null || :
  shift 3
done
shift
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C "$@"
"#;

/// A root, and directories of the machine that are seen in it.
#[derive(Debug, Clone)]
pub(crate) struct Chroot {
    root: PathBuf,
    changes: Option<PathBuf>,
    mounts: Vec<(&'static str, PathBuf, &'static str)>,
}

impl Chroot {
    /// Takes the root in the directory `root`, prepared by [`prepare`].
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            changes: None,
            mounts: Vec::new(),
        }
    }

    /// Puts the changes that commands make in the root below `directory`, in `upper`. The root stays unchanged. The
    /// path of `directory` may have no comma and no colon.
    #[must_use]
    pub(crate) fn changes(mut self, directory: &Path) -> Self {
        self.changes = Some(directory.to_owned());
        self
    }

    /// Shows the directory `from` of the machine at `to`, read-only.
    #[must_use]
    pub(crate) fn reads(mut self, from: &Path, to: &'static str) -> Self {
        self.mounts.push(("ro", from.to_owned(), to));
        self
    }

    /// Shows the directory `from` of the machine at `to`, writable.
    #[must_use]
    pub(crate) fn writes(mut self, from: &Path, to: &'static str) -> Self {
        self.mounts.push(("rw", from.to_owned(), to));
        self
    }

    /// Returns a command in the root. Its arguments and its working directory are the root's.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = unshare();
        command.args(["sh", "-c", SCRIPT, "sh"]).arg(&self.root);
        command.arg(self.changes.as_deref().unwrap_or(Path::new("")));
        for (access, from, to) in &self.mounts {
            command.arg(access).arg(from).arg(to);
        }
        command.args(["--", program]);
        command
    }
}

/// Makes the directories and files that mounts need in a fresh root: those of the system, and
/// `directories` (absolute, as seen in the root).
pub(crate) fn prepare(root: &Path, directories: &[&str]) -> Result<()> {
    let inside = |path: &str| root.join(path.trim_start_matches('/'));
    for directory in ["proc", "tmp", "dev"].iter().chain(directories) {
        let path = inside(directory);
        fs::create_dir_all(&path).map_err(io_error("create", &path))?;
    }
    for node in NODES {
        let path = inside("dev").join(node);
        File::create(&path).map_err(io_error("create", &path))?;
    }
    Ok(())
}

/// Refuses a machine on which [`Chroot::command`] cannot work, with a hint.
pub(crate) fn check(tool: &str) -> Result<()> {
    let missing = |looked_for: String| Error::Missing {
        what: format!("a way to run {tool} isolated from the system"),
        looked_for,
        hint: if is_root() {
            "allow mounts: a container needs CAP_SYS_ADMIN for them".to_owned()
        } else {
            "run as root, or allow user namespaces: if /proc/sys has these settings, set \
             kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 \
             with sysctl"
                .to_owned()
        },
    };
    if find("unshare").is_none() {
        return Err(missing("`unshare` on PATH".to_owned()));
    }
    let output = process::output(unshare().args(["mount", "--bind", "/tmp", "/tmp"]))?;
    if output.status.success() {
        return Ok(());
    }
    Err(missing(format!(
        "mounts in a separate namespace: {}",
        tail(&text(&output), 2)
    )))
}

/// Returns a command in a mount namespace of its own, as root.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command
}

/// Reports whether this process runs as root.
fn is_root() -> bool {
    // The owner of a process's directory is its effective user.
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_its_file_and_the_script_mounts_the_same_ones() {
        let root = tempfile::tempdir().unwrap();
        prepare(root.path(), &["/module/out"]).unwrap();
        assert!(root.path().join("module/out").is_dir());
        for node in NODES {
            assert!(root.path().join("dev").join(node).is_file());
        }
        assert!(SCRIPT.contains(&format!("for node in {};", NODES.join(" "))));
    }
}
