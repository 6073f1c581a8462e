//! The build of a design: from sources to a shared library in the cache.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest, Sha256};

use crate::{Direction, Error, Library, Result, Toolchain, error::io, header, shim};

/// Flags passed to Verilator for every design. `unique` gives every uninitialised bit a value of its own, derived from
/// the instance's seed, so that code that relies on a start value becomes visible. With `SIMULATION`, memories return
/// garbage where those of an FPGA guarantee nothing.
const VERILATOR_FLAGS: &[&str] = &[
    "--cc",
    "-O3",
    // 5.048 folds `(a >> b) >> c` into `a >> (b + c)` with an addition that overflows; the same applies to `<<`
    // (verilator issue 7955, fixed after 5.050).
    "-fno-dfg-peephole-replace-shiftl-shiftl",
    "-fno-dfg-peephole-replace-shiftr-shiftr",
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    "--assert",
    "+define+SIMULATION",
    "--prefix",
    "Vmodel",
    "--Mdir",
    "obj",
];

/// Flags passed to the C++ compiler for every file.
const COMPILER_FLAGS: &[&str] = &[
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
    "-DVL_USER_FINISH",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
    "-DVM_SC=0",
    "-DVM_TRACE=0",
];

/// Optimisation of the code that runs at every clock edge, and of the code that runs once. Most models live for
/// thousands of cycles in one test: for them `-O2` costs more compile time than it saves.
const EVERY_EDGE: &str = "-O1";
const ONCE: &str = "-O0";

/// One Verilog file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// File name without directory; unique in a design, and the name in error messages.
    pub name: String,
    /// The Verilog text.
    pub text: String,
}

/// A design that is to be built into a model.
#[derive(Debug, Clone)]
pub struct Build {
    top: String,
    sources: Vec<Source>,
    flags: Vec<String>,
    ports: Vec<(String, Direction, u32)>,
    coverage: bool,
}

impl Build {
    /// Creates a design whose top module is `top`, without sources yet.
    pub fn new(top: impl Into<String>) -> Self {
        Self {
            top: top.into(),
            sources: Vec::new(),
            flags: Vec::new(),
            ports: Vec::new(),
            coverage: false,
        }
    }

    /// Adds a Verilog file, which is read now.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file(self, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(io("read", path))?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        Ok(self.text(name, text))
    }

    /// Adds several Verilog files.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn files<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Result<Self> {
        paths.into_iter().try_fold(self, Self::file)
    }

    /// Adds Verilog text under a file name (`counter.v`).
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.sources.push(Source {
            name: name.into(),
            text: text.into(),
        });
        self
    }

    /// Adds a flag for Verilator (`-Wno-UNUSED`, `-Gwidth=8`).
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Builds a model that counts its lines, its branches, and the edges of its signals. When an instance is dropped,
    /// it writes its counters into the directory that the environment variable `PEERLANE_COVERAGE` names, in a file of
    /// Verilator's format with a name of its own.
    pub fn coverage(mut self) -> Self {
        self.coverage = true;
        // Blocks with counters are not split, and some of them then seem to depend on themselves.
        self.flag("--coverage-line")
            .flag("--coverage-toggle")
            .flag("-Wno-UNOPTFLAT")
    }

    /// Declares that the top module must have this port, with this direction and width (bits). The ports are found in
    /// the design itself; this declaration is only compared with them.
    pub fn port(mut self, name: impl Into<String>, direction: Direction, width: u32) -> Self {
        self.ports.push((name.into(), direction, width));
        self
    }

    /// Returns the library of this design: from the cache, or compiled now (takes seconds).
    ///
    /// # Errors
    /// If Verilator or the compiler rejects the design (with the tool's own text), or if a port named by
    /// [`Build::port`] is missing or of another shape.
    pub fn model(&self, tools: &Toolchain) -> Result<Library> {
        self.check_names()?;
        let key = self.key(tools.identity());
        let target = cached(tools, &key);
        if !target.exists() {
            let lock_path = tools.models().join(format!("{key}.lock"));
            let lock = File::create(&lock_path).map_err(io("create", &lock_path))?;
            lock.lock().map_err(io("lock", &lock_path))?;
            // Another process may have finished while this one waited.
            if !target.exists() {
                self.compile(tools, &target, &[])?;
            }
        }
        let library = Library::load(&target, &self.top)?;
        self.check_ports(&library)?;
        Ok(library)
    }

    /// Returns whether [`Build::model`] would find the library in the cache.
    pub fn is_cached(&self, tools: &Toolchain) -> bool {
        cached(tools, &self.key(tools.identity())).exists()
    }

    /// Compiles this design for other machines: into a directory of a package, in which [`Build::ahead`] finds it. The
    /// library needs no C++ library of its machine.
    ///
    /// # Errors
    /// As [`Build::model`]; if the directory cannot be written.
    pub fn make_ahead(&self, tools: &Toolchain, directory: &Path) -> Result<PathBuf> {
        self.check_names()?;
        fs::create_dir_all(directory).map_err(io("create", directory))?;
        let work = tempfile::Builder::new()
            .prefix(".ahead-")
            .tempdir_in(directory)
            .map_err(io("create a directory in", directory))?;
        let fresh = tools.clone().with_models(work.path())?;
        let library = fresh.models().join("model.so");
        self.compile(
            &fresh,
            &library,
            // Zig's C library keeps functions for the end of the program that the library has registered.
            &[
                "-static-libstdc++",
                "-static-libgcc",
                "-s",
                "-Wl,-z,nodelete",
            ],
        )?;
        self.check_ports(&Library::load(&library, &self.top)?)?;
        let target = directory.join(self.name_ahead());
        fs::rename(&library, &target).map_err(io("rename into", &target))?;
        Ok(target)
    }

    /// Returns the library of this design that was made ahead, if the directory has it. Libraries of other sources, or
    /// of another version of this crate, have other names. One that cannot be loaded here is ignored.
    pub fn ahead(&self, directory: &Path) -> Option<Library> {
        let path = directory.join(self.name_ahead());
        let library = path.is_file().then(|| Library::load(&path, &self.top))?;
        library
            .ok()
            .filter(|library| self.check_ports(library).is_ok())
    }

    /// Returns the file name of a library that was made ahead. The tools have no part in it: the machine that loads it
    /// need not have them.
    fn name_ahead(&self) -> String {
        format!("{}-{}.so", self.top, self.key(std::env::consts::ARCH))
    }

    fn check_ports(&self, library: &Library) -> Result<()> {
        for (name, direction, width) in &self.ports {
            library.port_as(name, *direction, *width)?;
        }
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        for source in &self.sources {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            if source.name.is_empty()
                || source.name.starts_with(['-', '.'])
                || !source.name.chars().all(plain)
            {
                return Err(Error::SourceName {
                    name: source.name.clone(),
                });
            }
            if !seen.insert(source.name.as_str()) {
                return Err(Error::DuplicateSource {
                    name: source.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the hash of all inputs of the library; `tools` describes those that are not in this crate.
    fn key(&self, tools: &str) -> String {
        let mut hash = Sha256::new();
        // Lengths are included: without them `ab`,`c` and `a`,`bc` would have the same hash.
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(tools);
        add(&shim::source(&[]));
        let optimised = [EVERY_EDGE, ONCE];
        for flag in VERILATOR_FLAGS
            .iter()
            .chain(COMPILER_FLAGS)
            .chain(&optimised)
        {
            add(flag);
        }
        add(&self.top);
        add("flags");
        for flag in &self.flags {
            add(flag);
        }
        add("sources");
        for source in &self.sources {
            add(&source.name);
            add(&source.text);
        }
        hex(&hash.finalize())
    }

    fn compile(&self, tools: &Toolchain, target: &Path, link_flags: &[&str]) -> Result<()> {
        let work = tempfile::Builder::new()
            .prefix(".build-")
            .tempdir_in(tools.models())
            .map_err(io("create a directory in", tools.models()))?;
        let dir = work.path();
        for source in &self.sources {
            let path = dir.join(&source.name);
            fs::write(&path, &source.text).map_err(io("write", &path))?;
        }
        let mut verilator = tools.verilator();
        verilator
            .current_dir(dir)
            .args(VERILATOR_FLAGS)
            .args(["--top-module", &self.top])
            .args(&self.flags)
            .args(self.sources.iter().map(|source| &source.name));
        self.tool("Verilator", &mut verilator)?;

        let obj = dir.join("obj");
        let header_path = obj.join("Vmodel.h");
        let text = fs::read_to_string(&header_path).map_err(io("read", &header_path))?;
        let shim_path = obj.join("shim.cpp");
        let shim = shim::source(&header::ports(&text)?);
        fs::write(&shim_path, shim).map_err(io("write", &shim_path))?;

        let mut generated: Vec<String> = fs::read_dir(&obj)
            .map_err(io("read", &obj))?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<std::io::Result<_>>()
            .map_err(io("read", &obj))?;
        generated.retain(|name| name.ends_with(".cpp"));
        generated.sort();
        let mut objects = vec![
            self.runtime(tools, "verilated")?,
            self.runtime(tools, "verilated_threads")?,
        ];
        if self.coverage {
            objects.push(self.runtime(tools, "verilated_cov")?);
        }
        objects.extend(self.compile_all(tools, &units(&obj, &generated)?)?);

        let library = dir.join("model.so");
        let mut link = tools.compiler();
        link.args(["-shared", "-o"])
            .arg(&library)
            .args(&objects)
            .args(link_flags)
            .arg("-pthread");
        self.tool("the linker", &mut link)?;
        fs::rename(&library, target).map_err(io("rename into", target))
    }

    /// Returns an object of Verilator's own run time, the same for all designs and cached.
    fn runtime(&self, tools: &Toolchain, unit: &str) -> Result<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(tools.identity().as_bytes());
        hash.update(COMPILER_FLAGS.join(" ").as_bytes());
        hash.update(EVERY_EDGE.as_bytes());
        hash.update([u8::from(self.coverage)]);
        let name = format!("{unit}-{}.o", hex(&hash.finalize()));
        let target = tools.models().join(&name);
        if target.exists() {
            return Ok(target);
        }
        let lock_path = tools.models().join(format!("{name}.lock"));
        let lock = File::create(&lock_path).map_err(io("create", &lock_path))?;
        lock.lock().map_err(io("lock", &lock_path))?;
        if !target.exists() {
            let temporary = tempfile::Builder::new()
                .prefix(".runtime-")
                .suffix(".o")
                .tempfile_in(tools.models())
                .map_err(io("create a file in", tools.models()))?
                .into_temp_path();
            let source = tools.include().join(format!("{unit}.cpp"));
            self.compile_unit(tools, &source, &temporary)?;
            temporary.persist(&target).map_err(|error| Error::Io {
                action: "rename into",
                path: target.clone(),
                source: error.error,
            })?;
        }
        Ok(target)
    }

    /// Compiles the units, each into an object in its own directory; all at once, as there are few.
    fn compile_all(&self, tools: &Toolchain, units: &[PathBuf]) -> Result<Vec<PathBuf>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = units
                .iter()
                .map(|unit| {
                    scope.spawn(|| {
                        let object = unit.with_extension("o");
                        self.compile_unit(tools, unit, &object).map(|()| object)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        })
    }

    fn compile_unit(&self, tools: &Toolchain, source: &Path, object: &Path) -> Result<()> {
        let once = source.file_stem().is_some_and(|stem| stem == SLOW_UNIT);
        let mut command = tools.compiler();
        command
            .args(COMPILER_FLAGS)
            .arg(format!("-DVM_COVERAGE={}", u8::from(self.coverage)))
            .arg(if once { ONCE } else { EVERY_EDGE })
            .arg("-I")
            .arg(tools.include())
            .arg("-I")
            .arg(tools.include().join("vltstd"))
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(object);
        self.tool("the C++ compiler", &mut command)
    }

    fn tool(&self, tool: &'static str, command: &mut Command) -> Result<()> {
        let output = command.output().map_err(|source| Error::Start {
            program: PathBuf::from(command.get_program()),
            source,
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::Failed {
            tool,
            top: self.top.clone(),
            status: output.status.to_string(),
            output: format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ),
        })
    }
}

/// Name of the unit with code that runs once, at start.
const SLOW_UNIT: &str = "unit_slow";

/// Combines the generated files into few units, one for code that runs once and one per processor for the rest:
/// Verilator's headers take longer to read than a small design.
fn units(obj: &Path, generated: &[String]) -> Result<Vec<PathBuf>> {
    // Verilator names the files that run once, at start, `…Slow.cpp`.
    let (slow, fast): (Vec<_>, Vec<_>) = generated
        .iter()
        .partition(|name| name.ends_with("Slow.cpp") || *name == "shim.cpp");
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let share = fast.len().div_ceil(workers).max(1);
    let named = fast
        .chunks(share)
        .enumerate()
        .map(|(n, files)| (format!("unit_{n}"), files));
    named
        .chain([(SLOW_UNIT.to_owned(), &slow[..])])
        .map(|(name, files)| {
            let path = obj.join(name).with_extension("cpp");
            let text: String = files
                .iter()
                .map(|file| format!("#include \"{file}\"\n"))
                .collect();
            fs::write(&path, text).map_err(io("write", &path))?;
            Ok(path)
        })
        .collect()
}

/// Returns the place in the cache of the library with this key.
fn cached(tools: &Toolchain, key: &str) -> PathBuf {
    tools.models().join(format!("{key}.so"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
