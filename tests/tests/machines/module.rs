//! Modules of the kernel for machines.

use peerlane_tools::{Cache, Kernel, Lint, Recipe};
use std::path::{Path, PathBuf};

/// Builds the module in a directory, once for each content of that directory: each test may be a process of its own, so
/// modules are kept next to cargo's builds.
pub(crate) fn build(kernel: &Kernel, source: &Path, name: &str) -> PathBuf {
    let mut recipe = Recipe::new("module", &format!("{name} of the tests"))
        .part(kernel.vmlinuz().as_os_str().as_encoded_bytes())
        .part(kernel.kernel_crate().as_os_str().as_encoded_bytes())
        .requires(name);
    for file in files(source) {
        let inner = file.strip_prefix(source).unwrap();
        recipe = recipe
            .part(inner.as_os_str().as_encoded_bytes())
            .part(std::fs::read(&file).unwrap());
    }
    let store = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let kept = store.install::<peerlane_tools::Error>(&recipe, |directory, _| {
        let out = tempfile::tempdir().unwrap();
        let modules = kernel.build(source, out.path(), Lint::Compiler)?;
        assert_eq!(modules.warnings, "", "{}", source.display());
        std::fs::copy(out.path().join(name), directory.join(name)).unwrap();
        Ok(())
    });
    kept.unwrap().join(name)
}

/// Returns all files in a directory and the directories in it.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}
