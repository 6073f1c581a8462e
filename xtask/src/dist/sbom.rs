//! The list of the packages that are compiled into a release (software bill of materials), as CycloneDX 1.5.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use miette::{IntoDiagnostic, miette};
use serde::Deserialize;
use serde_json::json;

use super::notices::Part;

/// The output of `cargo metadata`, as far as it is read here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

/// A package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
    /// SHA-256 of its archive, from Cargo.lock.
    #[serde(skip)]
    checksum: Option<String>,
}

impl Package {
    /// Returns whether it is not of the workspace.
    pub(crate) fn is_foreign(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the directory of its sources.
    pub(crate) fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    /// `None` for an ordinary dependency, else `build` or `dev`.
    kind: Option<String>,
}

/// Cargo.lock, as far as it is read here.
#[derive(Debug, Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Metadata {
    /// Reads the workspace's packages and dependencies on a target.
    ///
    /// # Errors
    /// If cargo fails, or Cargo.lock is not current.
    pub(crate) fn read(root: &Path, target: &str) -> miette::Result<Self> {
        let text = super::output(
            crate::cargo(root)
                .args(["metadata", "--format-version=1", "--locked"])
                .args(["--filter-platform", target]),
        )?;
        let mut metadata: Self = serde_json::from_str(&text).into_diagnostic()?;
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).into_diagnostic()?;
        let lock: Lock = toml::from_str(&lock).into_diagnostic()?;
        let sums: BTreeMap<_, _> = (lock.package.into_iter())
            .map(|locked| ((locked.name, locked.version), locked.checksum))
            .collect();
        for package in &mut metadata.packages {
            let key = (package.name.clone(), package.version.clone());
            package.checksum = sums.get(&key).cloned().flatten();
        }
        Ok(metadata)
    }

    /// Returns the packages with these names and all that they depend on, sorted. Packages that are only used while
    /// others are built, or by tests, are not part of them; procedural macros are.
    ///
    /// # Errors
    /// If the workspace does not have one of the names.
    pub(crate) fn shipped(&self, names: &[&str]) -> miette::Result<Vec<&Package>> {
        let nodes: BTreeMap<_, _> = (self.resolve.nodes.iter())
            .map(|node| (node.id.as_str(), node))
            .collect();
        let mut waiting = Vec::new();
        for name in names {
            let package = (self.packages.iter())
                .find(|package| package.name == *name && !package.is_foreign())
                .ok_or_else(|| miette!("the workspace has no package {name}"))?;
            waiting.push(package.id.as_str());
        }
        let mut reached = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            if !reached.insert(id) {
                continue;
            }
            let deps = nodes.get(id).map_or(&[][..], |node| &node.deps);
            waiting.extend(
                (deps.iter())
                    .filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()))
                    .map(|dep| dep.pkg.as_str()),
            );
        }
        let mut packages: Vec<_> = (self.packages.iter())
            .filter(|package| reached.contains(package.id.as_str()))
            .collect();
        packages.sort_by_key(|package| (&package.name, &package.version));
        Ok(packages)
    }
}

/// Returns the list, as JSON. It has no time and no random number: the same commit gives the same text.
pub(crate) fn text(version: &str, commit: &str, packages: &[&Package], parts: &[Part]) -> String {
    let packages = packages.iter().map(|package| component(package));
    let components: Vec<_> = packages
        .chain(parts.iter().map(component_of_part))
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "peerlane",
                "name": "peerlane",
                "version": version,
                "properties": [{ "name": "peerlane:commit", "value": commit }],
            },
        },
        "components": components,
    });
    format!("{bill:#}\n")
}

fn component_of_part(part: &Part) -> serde_json::Value {
    json!({
        "type": "library",
        "bom-ref": format!("{}@{}", part.name, part.version),
        "name": part.name,
        "version": part.version,
        "licenses": [{ "expression": part.licence }],
        "purl": part.purl,
    })
}

fn component(package: &Package) -> serde_json::Value {
    let Package { name, version, .. } = package;
    let mut component = json!({
        "type": "library",
        "bom-ref": format!("{name}@{version}"),
        "name": name,
        "version": version,
    });
    if let Some(license) = &package.license {
        // Older manifests separate alternatives by a slash.
        let expression = license.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if package.is_foreign() {
        component["purl"] = json!(format!("pkg:cargo/{name}@{version}"));
    }
    if let Some(sum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns metadata of a package `a` of the workspace, which needs `b` at run time, `c` to be built, `d` in tests.
    fn metadata() -> Metadata {
        let foreign = |name: &str| {
            json!({ "id": name, "name": name, "version": "1.2.3", "license": "MIT/Apache-2.0",
                    "source": "registry", "manifest_path": "/x/Cargo.toml" })
        };
        let own = json!({ "id": "a", "name": "a", "version": "0.1.0", "license": null, "source": null,
                          "manifest_path": "/a/Cargo.toml" });
        let dep = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let node = |name: &str, deps: Vec<serde_json::Value>| json!({ "id": name, "deps": deps });
        serde_json::from_value(json!({
            "packages": [own, foreign("d"), foreign("c"), foreign("b"), foreign("e")],
            "resolve": { "nodes": [
                node("a", vec![dep("b", None), dep("c", Some("build")), dep("d", Some("dev"))]),
                node("b", vec![dep("e", None)]),
                node("e", vec![]),
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn only_packages_in_the_programs_are_listed() {
        let metadata = metadata();
        let packages = metadata.shipped(&["a"]).unwrap();
        let names: Vec<_> = packages.iter().map(|package| &package.name).collect();
        assert_eq!(names, ["a", "b", "e"]);
        assert!(metadata.shipped(&["b"]).is_err());
    }

    #[test]
    fn a_component_has_its_licence_as_an_expression() {
        let metadata = metadata();
        let packages = metadata.shipped(&["a"]).unwrap();
        let parts = Part::all("1.95.0");
        let text = text("0.1.0", "abc", &packages, &parts);
        let bill: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(bill["components"][0].get("purl"), None);
        let b = &bill["components"][1];
        assert_eq!(b["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(b["purl"], "pkg:cargo/b@1.2.3");
        let verilator = &bill["components"][4];
        assert_eq!(verilator["name"], "verilator");
        let version = verilator["version"].as_str().unwrap();
        assert!(version.starts_with(char::is_numeric), "{version}");
    }
}
