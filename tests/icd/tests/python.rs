//! PyOpenCL's own tests, with PoCL's driver and with ours around PoCL.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, errors, printed, run};
use peerlane_tools::{Cache, PyOpenCl};

/// How each test has ended, by its name: `passed`, `failed`, `skipped`, `xfailed`, or `started`, which is a crash.
fn outcomes(
    lab: &Lab,
    with: &PyOpenCl,
    drivers: Drivers,
    vendor: &Path,
) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut files: Vec<_> = (fs::read_dir(&with.tests).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("test_") && name.ends_with(".py"))
        .collect();
    files.sort();
    for file in files {
        let out = lab.path(&format!("{drivers:?}-{file}"));
        let mut command = lab.command(&with.python.interpreter, drivers, vendor);
        for (name, value) in with.python.command().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let plugins = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");
        let paths = [with.python.site.as_path(), Path::new(plugins)];
        command
            .args(["-m", "pytest", "-p", "no:cacheprovider", "-p", "outcomes"])
            .args(["--quiet", "--tb=line", "--color=no", &file])
            .current_dir(&with.tests)
            .env("PYTHONPATH", std::env::join_paths(paths).unwrap())
            .env("OUTCOMES", &out)
            // PyOpenCL keeps programs by their names.
            .env("XDG_CACHE_HOME", lab.path(&format!("{drivers:?}")))
            .env_remove("PYOPENCL_TEST")
            .env_remove("PYOPENCL_CTX")
            .env_remove("PEERLANE_ICD_DEBUG");
        let output = run(&mut command, &file);
        let Ok(text) = fs::read_to_string(&out) else {
            panic!("{file}: {}{}", printed(&output), errors(&output));
        };
        for line in text.lines() {
            let (outcome, name) = line.split_once(' ').unwrap();
            all.insert(name.to_owned(), outcome.to_owned());
        }
    }
    all
}

#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn nothing_fails_that_passes_with_pocls_driver() {
    let lab = Lab::new();
    let with = Cache::open().and_then(|cache| cache.pyopencl());
    let with = with.unwrap_or_else(|error| panic!("{error}"));
    let vendor = lab.plain();
    let bare = outcomes(&lab, &with, Drivers::Bare, &vendor);
    let wrapped = outcomes(&lab, &with, Drivers::Wrapped, &vendor);
    let count = |all: &BTreeMap<String, String>, word| all.values().filter(|w| *w == word).count();
    for (name, all) in [("bare", &bare), ("wrapped", &wrapped)] {
        let counts = ["passed", "failed", "skipped", "xfailed", "started"]
            .map(|word| format!("{} {word}", count(all, word)));
        println!("{name}: {}", counts.join(", "));
    }
    assert!(count(&bare, "passed") > 250, "{bare:#?}");
    let other: Vec<_> = (bare.iter())
        .filter(|(name, outcome)| wrapped.get(*name) != Some(outcome))
        .map(|(name, outcome)| (name, outcome, wrapped.get(name)))
        .collect();
    assert!(
        other.is_empty() && bare.len() == wrapped.len(),
        "{other:#?}"
    );
}
