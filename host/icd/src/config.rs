//! Libraries to load: the file `/etc/peerlane/icd.toml`, and the environment, which takes precedence.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The file of the machine; `PEERLANE_ICD_CONFIG` names another.
const FILE: &str = "/etc/peerlane/icd.toml";
/// The library of the closed runtimes (AOCL 13.1 to 14.1 have it in `host/linux64/lib`).
const DEFAULT_VENDOR: &str = "libalteracl.so";

/// Libraries to load, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The vendor library: a path, or a name for the dynamic linker to look for.
    pub(crate) vendor: PathBuf,
    /// Libraries that are loaded before it, in this order.
    pub(crate) helpers: Vec<PathBuf>,
    /// Whether a process of its own tries the vendor library first.
    pub(crate) probe: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            vendor: DEFAULT_VENDOR.into(),
            helpers: Vec::new(),
            probe: true,
        }
    }
}

impl Config {
    /// Reads the configuration of this process.
    pub(crate) fn of_this_machine() -> Result<Self, String> {
        let variable = |name: &str| {
            let value = env::var_os(name).filter(|value| !value.is_empty());
            value.filter(|_| !privileged())
        };
        let named = variable("PEERLANE_ICD_CONFIG").map(PathBuf::from);
        let file = named.as_deref().unwrap_or(Path::new(FILE));
        let config = match fs::read_to_string(file) {
            Ok(text) => Self::read(&text).map_err(|why| format!("{}: {why}", file.display()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
                Self::default()
            }
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        };
        config.with(variable)
    }

    /// Parses the text of a file.
    fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Applies the variables of the environment.
    fn with(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        if let Some(vendor) = variable("PEERLANE_ICD_VENDOR") {
            self.vendor = vendor.into();
            // The file's helpers belong to the file's vendor library.
            self.helpers.clear();
        }
        if let Some(helpers) = variable("PEERLANE_ICD_HELPERS") {
            self.helpers = env::split_paths(&helpers).collect();
        }
        match variable("PEERLANE_ICD_PROBE")
            .as_deref()
            .map(|v| v.to_str())
        {
            None => {}
            Some(Some("0")) => self.probe = false,
            Some(Some("1")) => self.probe = true,
            Some(_) => return Err("PEERLANE_ICD_PROBE is neither 0 nor 1".to_owned()),
        }
        Ok(self)
    }

    /// Lists all libraries in the order in which they are loaded.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Path> {
        self.helpers
            .iter()
            .chain([&self.vendor])
            .map(PathBuf::as_path)
    }
}

/// Whether the process has rights that its user lacks. Such a user must not choose libraries.
fn privileged() -> bool {
    // SAFETY: reads a word that the kernel gave.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Prints one line on standard error with the reason why there is no platform, if `PEERLANE_ICD_DEBUG` is set.
pub(crate) fn explain(why: &str) {
    let asked = env::var_os("PEERLANE_ICD_DEBUG");
    if asked.is_some_and(|value| !value.is_empty() && value != "0") {
        let line = why.trim().replace('\n', "; ");
        // An error of the write cannot be reported anywhere.
        let _ = writeln!(io::stderr(), "peerlane-icd: {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Config, String> {
        let file = "vendor = '/a/lib.so'\nhelpers = ['/a/one.so', 'two.so']\n";
        Config::read(file).unwrap().with(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_environment_is_over_the_file() {
        let file = with(&[]).unwrap();
        assert_eq!(file.vendor, Path::new("/a/lib.so"));
        let order: Vec<_> = file.libraries().collect();
        assert_eq!(order, ["/a/one.so", "two.so", "/a/lib.so"].map(Path::new));
        assert!(file.probe);
        let other = with(&[
            ("PEERLANE_ICD_VENDOR", "/b/lib.so"),
            ("PEERLANE_ICD_PROBE", "0"),
        ]);
        let other = other.unwrap();
        assert_eq!(
            other.libraries().collect::<Vec<_>>(),
            [Path::new("/b/lib.so")]
        );
        assert!(!other.probe);
        let helpers = with(&[("PEERLANE_ICD_HELPERS", "/x.so:/y.so")]).unwrap();
        assert_eq!(helpers.helpers, ["/x.so", "/y.so"].map(PathBuf::from));
        assert_eq!(helpers.vendor, Path::new("/a/lib.so"));
    }

    #[test]
    fn wrong_settings_are_said() {
        assert!(with(&[("PEERLANE_ICD_PROBE", "yes")]).is_err());
        assert!(
            Config::read("vendors = 'x'")
                .unwrap_err()
                .contains("vendors")
        );
        assert!(Config::read("helpers = 'x'").is_err());
        assert_eq!(Config::read("").unwrap(), Config::default());
    }
}
