//! Tests the files of a release as users install them: on a Debian system without the sources, Rust or a network.

mod packages;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use peerlane_tools::{Cache, System};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Version of the C library that releases are linked for (xtask/src/dist.rs).
const GLIBC: (u32, u32) = (2, 28);

/// Makes a release of the tree, once for all tests of a run, and returns its directory. A user's files lie next to the
/// release's.
fn release() -> &'static Path {
    static RELEASE: OnceLock<PathBuf> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (out, made_by) = (target.join("dist"), target.join("dist.run"));
        // Each test may be a process of its own; nextest names the run.
        let run =
            std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
        let lock = fs::File::create(target.join("dist.lock")).unwrap();
        lock.lock().unwrap();
        if fs::read_to_string(&made_by).is_ok_and(|by| by == run) {
            return out;
        }
        let made = Command::new(env!("CARGO"))
            .current_dir(ROOT)
            .args(["run", "--quiet", "--bin", "xtask", "--"])
            .args(["dist", "deb", "--dirty", "--out"])
            .arg(&out)
            .status()
            .unwrap();
        assert!(made.success());
        let copied = Command::new("cp")
            .args([
                "-R",
                &format!("{ROOT}/bsp/reference"),
                &format!("{ROOT}/examples"),
            ])
            .arg(&out)
            .status()
            .unwrap();
        assert!(copied.success());
        fs::write(made_by, run).unwrap();
        out
    })
}

/// A Debian system of a test.
struct User {
    system: System,
    changes: tempfile::TempDir,
}

impl User {
    fn of(system: System) -> Self {
        Self {
            system,
            changes: tempfile::tempdir().unwrap(),
        }
    }

    /// With the release's archive unpacked.
    fn new(packages: &[&str]) -> Self {
        let user = Self::of(Cache::open().unwrap().system(packages).unwrap());
        user.does("mkdir /release && tar -xzf /mnt/peerlane-*-x86_64-linux.tar.gz -C /release --strip-components=1");
        user
    }

    /// Runs a command of a shell that must succeed, and returns its output.
    fn does(&self, line: &str) -> String {
        let mut command = (self.system).command("sh", release(), self.changes.path());
        let output = command.args(["-ec", line]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(output.status.success(), "{line}:\n{text}");
        text
    }
}

/// Returns the names of a release's files.
fn files() -> Vec<String> {
    let entries = fs::read_dir(release()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the versions of the C library that a program or library asks for, by the names of its symbols' versions.
fn glibc_versions(file: &Path) -> Vec<(u32, u32)> {
    let bytes = fs::read(file).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.split("GLIBC_2.")
        .skip(1)
        .filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some((2, digits.parse().ok()?))
        })
        .collect()
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn checksums_fit_and_nothing_is_missing() {
    let names = files();
    let ends = [
        "SHA256SUMS",
        "-source.tar.gz",
        "-x86_64-linux.tar.gz",
        "_x86_64.whl",
        ".cdx.json",
    ];
    let packages = names.iter().filter(|name| name.ends_with(".deb")).count();
    assert_eq!(names.len(), ends.len() + packages, "{names:?}");
    for end in ends {
        assert!(
            names.iter().any(|name| name.ends_with(end)),
            "{end}: {names:?}"
        );
    }
    let sums = fs::read_to_string(release().join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), names.len() - 1);
    let checked = Command::new("sha256sum")
        .current_dir(release())
        .args(["--check", "--strict", "SHA256SUMS"])
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn the_command_extends_a_bsp_where_only_the_c_library_is() {
    let user = User::new(&["libc6", "gzip"]);
    user.does("! command -v cargo && ! command -v python3 && ! command -v gcc");
    let version = user.does("/release/bin/peerlane --version");
    assert!(
        version.starts_with(concat!("peerlane ", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
    user.does("/release/bin/peerlane extend --bsp /mnt/reference --out /extended");
    user.does("/release/bin/peerlane check /extended");
    let program = user.changes.path().join("upper/release/bin/peerlane");
    let versions = glibc_versions(&program);
    assert!(
        versions.iter().max() <= Some(&GLIBC) && !versions.is_empty(),
        "{versions:?}"
    );
    // Neither the builder's directories nor those of its compiler.
    let bytes = fs::read(&program).unwrap();
    let root = fs::canonicalize(ROOT).unwrap();
    let root = root.to_str().unwrap().as_bytes();
    assert!(!bytes.windows(root.len()).any(|window| window == root));
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn notices_are_those_of_the_packages_in_the_list() {
    let user = User::new(&["libc6", "gzip"]);
    let notices = user.does("cat /release/THIRD-PARTY.txt");
    let bill = files()
        .into_iter()
        .find(|name| name.ends_with(".cdx.json"))
        .unwrap();
    let bill = fs::read_to_string(release().join(bill)).unwrap();
    let bill: serde_json::Value = serde_json::from_str(&bill).unwrap();
    let components = bill["components"].as_array().unwrap();
    let foreign = components
        .iter()
        .filter(|component| component.get("purl").is_some());
    let mut count = 0;
    for component in foreign {
        let name = component["name"].as_str().unwrap();
        let version = component["version"].as_str().unwrap();
        assert!(
            notices.contains(&format!("{name} {version} (")),
            "{name} {version}"
        );
        let is_crate = component["purl"]
            .as_str()
            .unwrap()
            .starts_with("pkg:cargo/");
        let hash = component["hashes"][0]["content"].as_str();
        assert!(
            !is_crate || hash.is_some_and(|hash| hash.len() == 64),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 50, "{count}");
    assert!(notices.contains("pyo3 ") && notices.contains("verilator "));
    assert!(!notices.contains("proptest "));
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn a_c_program_is_compiled_and_finds_the_library() {
    let user = User::new(&["gcc", "libc6-dev", "pkgconf", "gzip"]);
    user.does(
        "export PKG_CONFIG_PATH=/release/lib/pkgconfig\n\
         gcc -o /tmp/hello /mnt/examples/01-hello/hello.c $(pkg-config --cflags --libs libpeerlane)\n\
         LD_LIBRARY_PATH=/release/lib PEERLANE_DEVICE=simulated /tmp/hello",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn the_wheel_is_installed_by_pip() {
    let user = User::new(&["python3", "python3-pip", "ca-certificates", "gzip"]);
    // pip reads the certificates even without a network. The package's script would write this file.
    user.does(
        "mkdir -p /etc/ssl/certs && cat /usr/share/ca-certificates/mozilla/*.crt > /etc/ssl/certs/ca-certificates.crt",
    );
    let said = user.does(
        "pip install --no-index --break-system-packages --root-user-action=ignore /mnt/peerlane-*.whl >&2\n\
         python3 -c 'import peerlane; print(peerlane.__version__)'",
    );
    // Without a compiler: the model is in the wheel.
    user.does(
        "! command -v c++ && PEERLANE_DEVICE=simulated python3 /mnt/examples/01-hello/hello.py",
    );
    assert!(
        said.ends_with(concat!(env!("CARGO_PKG_VERSION"), "\n")),
        "{said}"
    );
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn the_sources_are_those_of_the_commit() {
    let list = |command: &mut Command| {
        let output = command.current_dir(ROOT).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let source = files()
        .into_iter()
        .find(|name| name.ends_with("-source.tar.gz"))
        .unwrap();
    let packed = list(Command::new("tar").arg("-tzf").arg(release().join(source)));
    let prefix = concat!("peerlane-", env!("CARGO_PKG_VERSION"), "/");
    let mut packed: Vec<_> = packed
        .lines()
        .filter(|line| !line.ends_with('/'))
        .map(|line| line.strip_prefix(prefix).unwrap())
        .collect();
    packed.sort_unstable();
    let tree = list(Command::new("git").args(["ls-tree", "-r", "--name-only", "HEAD"]));
    let mut tree: Vec<_> = tree.lines().collect();
    tree.sort_unstable();
    assert_eq!(packed, tree);
}
