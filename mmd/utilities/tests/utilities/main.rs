//! The utilities, on a computer that is a directory, with boards in memory.

#[allow(dead_code, reason = "it is the contract's, which uses all of it")]
#[path = "../../../core/tests/contract/board.rs"]
mod board;
mod diagnose;
#[allow(dead_code, reason = "it is the host library's, which uses all of it")]
#[path = "../../../../host/tests/functional/fake/mod.rs"]
mod fake;
mod flash;
mod install;
mod platforms;
mod program;
#[allow(dead_code, reason = "as above")]
#[path = "../../../../host/tests/functional/store.rs"]
mod store;

use board::Side;
use fake::{Config, Fake};
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Found, OpenCl, Programmer};
use peerlane_utilities::{Commands, Machine, Platform, Stopped};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

/// The library that a mock stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    Legacy,
    /// A library without all functions that a runtime looks for.
    Less,
    /// A library of another vendor's board.
    Foreign,
}

fn compiled(kind: Kind) -> Vec<u8> {
    let mut names = vec![
        "get_info",
        "open",
        "close",
        "set_interrupt_handler",
        "set_status_handler",
        "yield",
        "read",
        "copy",
    ];
    if kind != Kind::Less {
        names.push("write");
    }
    names.push(match kind {
        Kind::Legacy => "reprogram",
        _ => "program",
    });
    let mut text = String::from(
        "#include <string.h>\nint aocl_mmd_get_offline_info(int id, size_t n, void *v, size_t *r)\n\
         { (void)r; if (id || n < 5) return -1; strcpy(v, \"15.9\"); return 0; }\n",
    );
    for name in names {
        text += &format!("int aocl_mmd_{name}(void) {{ return 0; }}\n");
    }
    if kind != Kind::Foreign {
        text += "int clGetErrorTextPeerlane(void) { return 0; }\n";
    }
    let dir = tempfile::tempdir().unwrap();
    let [source, library] = ["l.c", "l.so"].map(|name| dir.path().join(name));
    fs::write(&source, text).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let made = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(made.unwrap().success());
    fs::read(library).unwrap()
}

/// Returns the mock of a library, with the symbols by which a runtime recognizes one, and a version.
fn library(kind: Kind) -> &'static [u8] {
    static LIBRARIES: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
    LIBRARIES[kind as usize].get_or_init(|| compiled(kind))
}

/// A computer and a platform, both directories.
struct Work {
    dir: tempfile::TempDir,
    calls: Calls,
}

/// Commands that were run, and those that fail.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<(Vec<String>, Vec<&'static str>)>>);

impl Calls {
    /// Makes a command that begins like this fail from now on.
    fn fail(&self, command: &'static str) {
        self.0.lock().unwrap().1.push(command);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().0)
    }
}

impl Commands for Calls {
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Stopped> {
        let line = [&[program], arguments].concat().join(" ");
        let mut calls = self.0.lock().unwrap();
        let fails = calls.1.iter().any(|command| line.starts_with(command));
        calls.0.push(line);
        match fails {
            true => Err(Stopped::Failed("no such thing".into())),
            false => Ok(()),
        }
    }
}

impl Work {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let work = Self {
            dir,
            calls: Calls::default(),
        };
        for directory in [
            "usr/lib/udev/rules.d",
            "usr/lib/sysusers.d",
            "opt",
            "sys/module",
        ] {
            fs::create_dir_all(work.root().join(directory)).unwrap();
        }
        work.platform_of("toy");
        work
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn machine(&self) -> Machine {
        Machine::new(self.root(), Some(Box::new(self.calls.clone())))
    }

    /// Makes a platform of this name, with the library.
    fn platform_of(&self, name: &str) -> Platform {
        let root = self.dir.path().join(name);
        let put = |file: &str, text: &[u8]| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("peerlane/files.json", b"{}");
        put(
            "board_env.xml",
            &format!(
                "<board_env version=\"17.1\" name=\"{name}_peerlane\"><hardware dir=\"hardware\"/><platform \
                 name=\"linux64\"><mmdlib>%b/linux64/lib/libpeerlane_mmd.so</mmdlib></platform></board_env>"
            )
            .into_bytes(),
        );
        put("linux64/lib/libpeerlane_mmd.so", library(Kind::Open));
        put(&format!("hardware/{name}_peerlane/board_spec.xml"), b"");
        Platform::read(&root).unwrap()
    }

    fn platform(&self) -> Platform {
        Platform::read(&self.dir.path().join("toy")).unwrap()
    }

    /// Makes a PCI function in sysfs.
    fn function(&self, slot: &str, [vendor, device, class]: [&str; 3], driver: Option<&str>) {
        let path = self.root().join("sys/bus/pci/devices").join(slot);
        fs::create_dir_all(&path).unwrap();
        for (file, text) in [("vendor", vendor), ("device", device), ("class", class)] {
            fs::write(path.join(file), format!("0x{text}\n")).unwrap();
        }
        if let Some(driver) = driver {
            symlink(format!("../../drivers/{driver}"), path.join("driver")).unwrap();
        }
    }

    /// Makes a board of the driver's.
    fn board(&self, name: &str, slot: &str) {
        self.driver();
        self.function(slot, ["1172", "ab00", "120000"], Some("peerlane"));
        let path = self.root().join("sys/bus/pci/devices").join(slot);
        fs::create_dir(path.join("peerlane")).unwrap();
        for (file, text) in [
            ("board", "toy_peerlane"),
            ("state", "ready"),
            ("link_speed", "5.0 GT/s"),
            ("link_width", "8"),
        ] {
            fs::write(path.join("peerlane").join(file), format!("{text}\n")).unwrap();
        }
        let node = self.root().join("sys/class/misc").join(name);
        fs::create_dir_all(&node).unwrap();
        symlink(
            format!("../../../../bus/pci/devices/{slot}"),
            node.join("device"),
        )
        .unwrap();
    }

    /// Loads the driver.
    fn driver(&self) {
        let _ = fs::create_dir(self.root().join("sys/module/peerlane"));
    }

    /// Returns all files of the computer except sysfs.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let root = self.root();
        let mut open = vec![root.join("opt"), root.join("usr")];
        let mut found = BTreeMap::new();
        while let Some(path) = open.pop() {
            for entry in fs::read_dir(&path).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_path_buf();
                if path.is_dir() {
                    found.insert(name, "directory".into());
                    open.push(path);
                } else {
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }

    /// Writes a file that is not one of the computer's.
    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Boards by the names "peerlane0" and "peerlane3": both are the same board.
#[derive(Clone)]
struct Toys {
    fake: Fake,
    side: Side,
    driver: Driver,
    loaded: Arc<Mutex<Vec<Vec<u8>>>>,
    names: Vec<String>,
}

impl Toys {
    fn new() -> Self {
        let fake = Fake::new(Config {
            fpga_bytes: 20 << 20,
            ..Config::default()
        });
        let side = Side::new(&fake, "");
        fake.lock().opencl = Some(Box::new(side.clone()));
        Self {
            driver: Driver::new(fake.clone(), &Options::default()).unwrap(),
            fake,
            side,
            loaded: Arc::default(),
            names: vec!["peerlane0".into(), "peerlane3".into()],
        }
    }
}

impl Boards for Toys {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        assert!(self.names.iter().any(|one| one == name));
        Ok(Found {
            device: self.driver.open().map_err(|error| error.to_string())?,
            programmer: Box::new(self.clone()),
            bus: "0000:01:00.0".into(),
            number: 0,
        })
    }
}

impl Programmer for Toys {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        match image.ends_with(b"no cable") {
            true => Err("no cable".into()),
            false => Ok(()),
        }
    }

    fn program(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        self.loaded.lock().unwrap().push(image.into());
        self.side.lock().configure();
        Ok(())
    }
}

/// Makes a package of 32 bits with these sections.
fn package(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut headers = vec![[0; 10]];
    let mut body: Vec<u8> = Vec::new();
    let mut all = sections.to_vec();
    let table: Vec<u8> = sections
        .iter()
        .flat_map(|(name, _)| [name.as_bytes(), b"\0"].concat())
        .collect();
    let table = [&[0][..], &table, b".shstrtab\0"].concat();
    all.push((".shstrtab", &table));
    for (name, content) in all {
        let [at, offset] = [names.len(), 52 + body.len()].map(|number| number as u32);
        headers.push([at, 1, 0, 0, offset, content.len() as u32, 0, 0, 1, 0]);
        names.extend(name.bytes().chain([0]));
        body.extend(content);
    }
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(32, 0);
    file.extend((52 + body.len() as u32).to_le_bytes());
    file.extend([0; 4]);
    let count = headers.len() as u16;
    for half in [52, 0, 0, 40, count, count - 1] {
        file.extend(u16::to_le_bytes(half));
    }
    file.extend(body);
    file.extend(
        headers
            .iter()
            .flatten()
            .flat_map(|word| u32::to_le_bytes(*word)),
    );
    file
}

/// Makes a configuration as `aoc` packs it.
fn code(sof: &[u8]) -> Vec<u8> {
    package(&[(".acl.sof", sof)])
}

/// Makes a package for a board.
fn aocx(board: &str, code: &[u8]) -> Vec<u8> {
    package(&[(".acl.board", board.as_bytes()), (".acl.fpga.bin", code)])
}

/// Runs a utility; returns its output, and its error's text.
fn told<E: ToString>(
    run: impl FnOnce(&mut dyn FnMut(String)) -> Result<(), E>,
) -> (Vec<String>, Result<(), String>) {
    let mut lines = Vec::new();
    let result = run(&mut |line| lines.push(line));
    (lines, result.map_err(|error| error.to_string()))
}

/// Checks that a line has these words.
fn says(lines: &[String], words: &str) {
    assert!(
        lines.iter().any(|line| line.contains(words)),
        "no {words:?} in {lines:#?}"
    );
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
