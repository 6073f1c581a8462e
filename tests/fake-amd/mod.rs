//! A mock of a GPU of AMD's, in C, compiled for a test. See `fakeamd.h`.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The libraries, in a directory of their own.
pub struct FakeAmd(TempDir);

/// The libraries and their sources, in the order of loading: HIP uses HSA's memory.
const LIBRARIES: [(&str, &str); 3] = [
    ("libhsa-runtime64.so.1", "hsa.c"),
    ("libamdhip64.so.6", "hip.c"),
    ("libOpenCL.so.1", "opencl.c"),
];

impl FakeAmd {
    /// Compiles the libraries from the directory with their sources.
    pub fn new(sources: &Path) -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        for (library, source) in LIBRARIES {
            let mut command = Command::new("cc");
            command
                .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
                .args(["-fPIC", "-shared", "-pthread"])
                .arg(sources.join(source))
                .arg(format!("-Wl,-soname,{library}"))
                .arg("-o")
                .arg(fake.path(library));
            if library.starts_with("libamdhip64") {
                command
                    .arg("-L")
                    .arg(fake.0.path())
                    .args(["-l:libhsa-runtime64.so.1", "-Wl,-rpath,$ORIGIN"]);
            }
            let output = command.output().expect("the compiler runs");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?}: {errors}");
        }
        fake
    }

    /// Returns a library's file. Once it is loaded, the dynamic linker finds it by its name alone.
    pub fn path(&self, library: &str) -> PathBuf {
        self.0.path().join(library)
    }
}
