//! The files of a machine, in the form for the kernel: a cpio archive that it unpacks into memory.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use cpio::newc;
use peerlane_tools::{Python, Qemu, System};

use crate::{Result, error::io_error, libraries, python};

/// The first program.
const INIT: &str = include_str!("init.sh");

const DIRECTORIES: [&str; 8] = ["bin", "dev", "lib", "modules", "proc", "srv", "sys", "tmp"];

/// The files of a machine: busybox, programs in `/bin`, modules in `/modules`, shared libraries in `/lib` for
/// those that need some, and a script.
#[derive(Debug)]
pub struct Initramfs {
    archive: Vec<u8>,
    script: String,
    entries: u32,
    /// Paths that exist already.
    paths: BTreeSet<String>,
}

impl Initramfs {
    /// Makes files with busybox, all its commands, and an empty script.
    ///
    /// # Errors
    /// When busybox cannot be read.
    pub fn new(qemu: &Qemu) -> Result<Self> {
        let mut files = Self {
            archive: Vec::new(),
            // Loaders of many systems only look there with this setting.
            script: "set -e\nexport LD_LIBRARY_PATH=/lib\n".to_owned(),
            entries: 0,
            paths: BTreeSet::new(),
        };
        for directory in DIRECTORIES {
            files.add(directory, 0o040_755, &[])?;
        }
        files.add("init", 0o100_755, INIT.as_bytes())?;
        files.copy(&qemu.busybox(), "bin/busybox", 0o755)?;
        Ok(files)
    }

    /// Adds a statically linked program: `/bin/NAME`, by the name of its file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn program(&mut self, file: &Path) -> Result<()> {
        self.copy(file, &format!("bin/{}", name(file)?), 0o755)
    }

    /// Adds a program that is linked with shared libraries: `/bin/NAME`, by the name of its file; and those
    /// libraries, as this computer has them, together with their loader.
    ///
    /// # Errors
    /// When one cannot be read, or is not found.
    pub fn shared_program(&mut self, file: &Path) -> Result<()> {
        self.program(file)?;
        self.needed_by(file)
    }

    /// Adds a program of a Debian system: `/bin/NAME`, by the name of its file, a path in that system. It runs with that
    /// system's loader and libraries.
    ///
    /// # Errors
    /// As [`shared_program`](Self::shared_program).
    pub fn debian_program(&mut self, system: &System, file: &str) -> Result<()> {
        let file = system.root().join(file);
        let name = name(&file)?;
        for library in libraries::of_debian(system.root(), &file)? {
            self.once(&library.found, &format!("debian{}", library.place))?;
        }
        self.once(&file, &format!("debian/bin/{name}"))?;
        let start = format!(
            "#!/bin/sh\nexec /debian/{} --library-path /debian/lib /debian/bin/{name} \"$@\"\n",
            libraries::LOADER
        );
        self.add(&format!("bin/{name}"), 0o100_755, start.as_bytes())
    }

    /// Adds a shared library, `/lib/NAME`, by the name of its file; and those that it needs itself.
    ///
    /// # Errors
    /// As [`shared_program`](Self::shared_program).
    pub fn library(&mut self, file: &Path) -> Result<()> {
        self.once(file, &format!("lib/{}", name(file)?))?;
        self.needed_by(file)
    }

    /// Adds a file at a path from the root, in a directory of the machine.
    ///
    /// # Errors
    /// When it is too large.
    pub fn file(&mut self, path: &str, content: &[u8]) -> Result<()> {
        self.add(path.trim_start_matches('/'), 0o100_644, content)
    }

    /// Adds a file, with its directories, unless it is there; of a shared library also those that it needs.
    ///
    /// # Errors
    /// When it cannot be read, or a library is not found.
    pub fn place(&mut self, file: &Path, target: &str) -> Result<()> {
        self.once(file, target.trim_start_matches('/'))?;
        match file.extension() {
            Some(kind) if kind == "so" => self.needed_by(file),
            _ => Ok(()),
        }
    }

    /// Adds an interpreter, `/bin/python3`, and as much of its library as programs need that import these modules.
    /// They find packages of their own in `/lib/python`.
    ///
    /// # Errors
    /// When there is no such module, or a file cannot be read.
    pub fn python(&mut self, python: &Python, imports: &[&str]) -> Result<()> {
        let parts = python::parts(python, imports)?;
        self.place(&parts.program, "bin/python3")?;
        self.needed_by(&parts.program)?;
        for file in &parts.files {
            self.place(file, &file.to_string_lossy())?;
        }
        self.script(&format!(
            "export PYTHONHOME={} PYTHONPATH=/lib/python PYTHONDONTWRITEBYTECODE=1",
            parts.prefix
        ));
        Ok(())
    }

    fn needed_by(&mut self, file: &Path) -> Result<()> {
        for library in libraries::of(file)? {
            self.once(&library.found, library.place.trim_start_matches('/'))?;
        }
        Ok(())
    }

    /// Adds a library, and its directory, unless it is there.
    fn once(&mut self, file: &Path, target: &str) -> Result<()> {
        let directories = target.match_indices('/').map(|(end, _)| &target[..end]);
        for directory in directories.filter(|name| !DIRECTORIES.contains(name)) {
            if self.paths.insert(directory.to_owned()) {
                self.add(directory, 0o040_755, &[])?;
            }
        }
        match self.paths.insert(target.to_owned()) {
            true => self.copy(file, target, 0o755),
            false => Ok(()),
        }
    }

    /// Adds a kernel module: `/modules/NAME.ko`, by the name of its file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn module(&mut self, file: &Path) -> Result<()> {
        self.copy(file, &format!("modules/{}", name(file)?), 0o644)
    }

    /// Adds modules as [`module`](Self::module) does, and loads them in this order at this place of the script.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn loaded_modules(&mut self, files: &[PathBuf]) -> Result<()> {
        for file in files {
            self.module(file)?;
            self.script(&format!("insmod /modules/{}", name(file)?));
        }
        Ok(())
    }

    /// Adds a line, or lines, to the script that the machine runs before it powers off. The first
    /// command that fails ends the script (`set -e`), and fails the machine.
    pub fn script(&mut self, lines: &str) {
        self.script.push_str(lines);
        self.script.push('\n');
    }

    fn copy(&mut self, file: &Path, target: &str, mode: u32) -> Result<()> {
        let content = fs::read(file).map_err(io_error("read", file))?;
        self.add(target, 0o100_000 | mode, &content)
    }

    /// Appends an entry. Its mode contains the file's kind, too, as in `st_mode`.
    fn add(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<()> {
        self.entries += 1;
        let size = u32::try_from(content.len())
            .map_err(|_| io_error("pack", path)(io::ErrorKind::FileTooLarge.into()))?;
        let mut entry = newc::Builder::new(path)
            .mode(mode)
            .nlink(1)
            .ino(self.entries)
            .write(&mut self.archive, size);
        entry
            .write_all(content)
            .and_then(|()| entry.finish().map(drop))
            .map_err(io_error("pack", path))
    }

    /// Returns the archive with the script in it.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        let script = std::mem::take(&mut self.script);
        self.add("script", 0o100_644, script.as_bytes())?;
        newc::trailer(self.archive).map_err(io_error("write", "the initramfs"))
    }
}

/// Returns the name of a file that goes into the machine.
fn name(file: &Path) -> Result<&str> {
    file.file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| io_error("name", file)(io::ErrorKind::InvalidFilename.into()))
}
