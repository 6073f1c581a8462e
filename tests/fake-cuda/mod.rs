//! A mock of CUDA's driver, in C, compiled for a test. See `cuda.c`.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The library, in a directory of its own.
pub struct FakeCuda(TempDir);

impl FakeCuda {
    /// Compiles the library from the directory with its source.
    pub fn new(sources: &Path) -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        let mut command = Command::new("cc");
        command
            .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
            .args(["-fPIC", "-shared", "-pthread"])
            .arg(sources.join("cuda.c"))
            .args(["-Wl,-soname,libcuda.so.1", "-o"])
            .arg(fake.library());
        let output = command.output().expect("the compiler runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {errors}");
        std::os::unix::fs::symlink("libcuda.so.1", fake.0.path().join("libcuda.so")).unwrap();
        fake
    }

    /// Returns the library's file. Once it is loaded, the dynamic linker finds it by its name alone.
    pub fn library(&self) -> PathBuf {
        self.0.path().join("libcuda.so.1")
    }
}
