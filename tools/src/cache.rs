//! The cache directory and the one way things get into it.

use std::{
    env,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{Error, Progress, Result, error::io_error};

/// Name of the file that makes an installation valid. It holds the recipe's whole hash.
const STAMP: &str = ".peerlane-stamp";

/// The cache directory.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// All properties of an installation: everything that it depends on goes into its hash.
///
/// Two recipes with any difference have different directories, so that a newer Peerlane never removes a tool that an
/// older one uses.
#[derive(Debug, Clone)]
pub struct Recipe {
    name: String,
    label: String,
    hash: Sha256,
    required: Vec<PathBuf>,
}

impl Recipe {
    /// Makes a recipe. `name` becomes part of a directory name: letters, digits, `-`, `_` and `.`. The user sees
    /// `label`.
    pub fn new(name: &str, label: &str) -> Self {
        debug_assert!(
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)),
            "recipe name `{name}`"
        );
        let recipe = Self {
            name: name.to_owned(),
            label: label.to_owned(),
            hash: Sha256::new(),
            required: Vec::new(),
        };
        recipe.part(name)
    }

    /// Adds something that the installation depends on.
    #[must_use]
    pub fn part(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        // With its length, so that no two lists of parts have the same bytes.
        self.hash.update((part.len() as u64).to_le_bytes());
        self.hash.update(part);
        self
    }

    /// Names a file (relative path) without which the installation counts as damaged.
    #[must_use]
    pub fn requires(mut self, file: impl Into<PathBuf>) -> Self {
        self.required.push(file.into());
        self
    }

    /// Returns the whole hash, in hexadecimal.
    pub fn hash(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    fn directory(&self) -> String {
        format!("{}-{}", self.name, &self.hash()[..16])
    }
}

impl Cache {
    /// Opens the user's cache: `PEERLANE_CACHE`, else `peerlane` in the platform's cache directory (`XDG_CACHE_HOME` or
    /// `~/.cache`; on macOS `~/Library/Caches`).
    ///
    /// # Errors
    /// When no directory is known or it cannot be created.
    pub fn open() -> Result<Self> {
        let variable = |name: &str| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home_cache = if cfg!(target_os = "macos") {
            "Library/Caches"
        } else {
            ".cache"
        };
        let root = variable("PEERLANE_CACHE")
            .or_else(|| {
                variable("XDG_CACHE_HOME")
                    // The XDG base directory specification: relative paths are to be ignored.
                    .filter(|path| path.is_absolute())
                    .map(|path| path.join("peerlane"))
            })
            .or_else(|| variable("HOME").map(|home| home.join(home_cache).join("peerlane")))
            .ok_or(Error::NoCacheDirectory)?;
        Self::at(&root)
    }

    /// Opens a cache in the directory `root`, which is created when missing.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn at(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).map_err(io_error("create", root))?;
        // Tools are run from other working directories: the path must be absolute.
        let root = root.canonicalize().map_err(io_error("open", root))?;
        Ok(Self { root })
    }

    /// Returns the cache directory, an absolute path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a directory in the cache for files that the caller manages by itself.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn directory(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).map_err(io_error("create", &path))?;
        Ok(path)
    }

    /// Returns the installation of `recipe`, if there is a valid one.
    pub fn installed(&self, recipe: &Recipe) -> Option<PathBuf> {
        let path = self.root.join(recipe.directory());
        let stamp = fs::read_to_string(path.join(STAMP)).ok()?;
        let sound = stamp.lines().next() == Some(recipe.hash().as_str())
            && recipe.required.iter().all(|file| path.join(file).exists());
        sound.then_some(path)
    }

    /// Returns the directory of `recipe`. `build` fills it if it does not exist yet.
    ///
    /// Safe when several processes or threads ask for the same recipe at once: one builds, the others wait. `build`
    /// gets an empty directory, which becomes the installation in one step when it succeeds; so it must not write its
    /// own path into the files that it makes. When it fails nothing is left. An installation whose stamp does not fit
    /// is made again.
    ///
    /// # Errors
    /// Errors of `build`, and file errors.
    pub fn install<E: From<Error>>(
        &self,
        recipe: &Recipe,
        build: impl FnOnce(&Path, &Progress) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        if let Some(path) = self.installed(recipe) {
            return Ok(path);
        }
        let _lock = self.lock(&recipe.directory(), &recipe.label)?;
        if let Some(path) = self.installed(recipe) {
            return Ok(path);
        }

        let name = recipe.directory();
        let temporary = self.directory(".tmp")?;
        let prefix = format!("{name}.");
        // Left by a process that was killed: no other process uses this name, because we hold its lock.
        for entry in fs::read_dir(&temporary)
            .map_err(io_error("read", &temporary))?
            .flatten()
        {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let work = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&temporary)
            .map_err(io_error("create a directory in", &temporary))?;

        let progress = Progress::start(&recipe.label);
        let fresh = work.path().join("new");
        fs::create_dir(&fresh).map_err(io_error("create", &fresh))?;
        build(&fresh, &progress)?;
        let stamp = fresh.join(STAMP);
        fs::write(&stamp, format!("{}\n{}\n", recipe.hash(), recipe.label))
            .map_err(io_error("write", &stamp))?;

        let path = self.root.join(&name);
        if path.exists() {
            fs::rename(&path, work.path().join("damaged")).map_err(io_error("rename", &path))?;
        }
        fs::rename(&fresh, &path).map_err(io_error("rename to", &path))?;
        if self.installed(recipe).is_none() {
            return Err(Error::Install {
                tool: recipe.label.clone(),
                detail: "a required file is missing after the installation".to_owned(),
                hint: format!("examine the directory {} and report this", path.display()),
            }
            .into());
        }
        progress.finish();
        Ok(path)
    }

    /// Waits for the lock `name`. Released when the file is dropped, or its process ends.
    pub(crate) fn lock(&self, name: &str, label: &str) -> Result<File> {
        let path = self.directory(".locks")?.join(format!("{name}.lock"));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(io_error("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!("peerlane: another process installs {label}; waiting for it");
                file.lock().map_err(io_error("lock", &path))?;
            }
            Err(TryLockError::Error(source)) => return Err(io_error("lock", &path)(source)),
        }
        Ok(file)
    }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
