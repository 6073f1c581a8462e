//! The host program, and the runtime that it is built with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

/// Environment variable that names the directory in which a runtime is installed.
pub const PREFIX: &str = "PEERLANE_RUNTIME";

/// Environment variable with which the program runs in valgrind's memcheck.
pub const MEMCHECK: &str = "PEERLANE_MEMCHECK";

/// The directory and the names of the program's sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/program");
const FILES: [&str; 11] = [
    "main.c",
    "transfers.c",
    "rows.c",
    "kernels.c",
    "ends.c",
    "dma_buf.c",
    "gpu.c",
    "peer_lab.c",
    "peers.c",
    "peer_refusals.c",
    "usm.c",
];

/// Errors in memory of the runtime itself.
const SUPPRESSED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/program/valgrind.supp");

/// The directory of the header of the board library's extension.
const EXTENSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mmd/include");

/// An installed FPGA runtime for OpenCL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    prefix: PathBuf,
}

/// The reason why there is no runtime.
#[derive(Debug, Error)]
pub enum RuntimeError {
    /// The variable is not set.
    #[error(
        "{PREFIX} is not set: set it to the directory of an installed FPGA runtime for OpenCL, with lib/libalteracl.so \
         and include/CL"
    )]
    Unnamed,
    /// The directory has no runtime.
    #[error("{PREFIX}: the directory has no {}", missing.display())]
    Missing {
        /// The file that was not found.
        missing: PathBuf,
    },
}

/// The reason why the program was not built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The compiler did not run.
    #[error("cannot run the C compiler {}: {source}. Set `CC` to another one", compiler.display())]
    Compiler {
        /// The compiler.
        compiler: OsString,
        /// The reason.
        source: std::io::Error,
    },
    /// The compiler found errors.
    #[error("the OpenCL program does not compile with this runtime:\n{errors}")]
    Source {
        /// The compiler's messages.
        errors: String,
    },
}

impl Runtime {
    /// Finds the runtime that the environment names.
    ///
    /// # Errors
    /// [`RuntimeError`] if the variable [`PREFIX`] is not set, or does not name a runtime.
    pub fn find() -> Result<Self, RuntimeError> {
        let named = std::env::var_os(PREFIX).filter(|named| !named.is_empty());
        let prefix = named.map(PathBuf::from).ok_or(RuntimeError::Unnamed)?;
        let runtime = Self { prefix };
        let headers = runtime.include().join("CL");
        match [runtime.library(), headers]
            .into_iter()
            .find(|path| !path.exists())
        {
            None => Ok(runtime),
            Some(missing) => Err(RuntimeError::Missing { missing }),
        }
    }

    /// Returns the runtime's library.
    pub fn library(&self) -> PathBuf {
        self.libraries().join("libalteracl.so")
    }

    /// Returns the directory of the library.
    pub fn libraries(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// Returns the directory of the headers.
    pub fn include(&self) -> PathBuf {
        self.prefix.join("include")
    }
}

/// The OpenCL host program.
#[derive(Debug, Clone)]
pub struct HostProgram {
    file: PathBuf,
}

impl HostProgram {
    /// Compiles the program for a runtime and links it with that runtime, into a file. Where it runs, it finds the
    /// runtime's library by `LD_LIBRARY_PATH`.
    ///
    /// # Errors
    /// [`BuildError`] if there is no C compiler, or the compiler finds errors.
    pub fn build(runtime: &Runtime, file: &Path) -> Result<Self, BuildError> {
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(&compiler);
        command
            .args([
                "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-isystem",
            ])
            .arg(runtime.include())
            .args(["-I", EXTENSION])
            .args(FILES.map(|file| Path::new(SOURCES).join(file)))
            .arg("-o")
            .arg(file)
            .arg("-L")
            .arg(runtime.libraries())
            .arg("-lalteracl")
            // Do not look for the libraries that the runtime needs.
            .arg("-Wl,--allow-shlib-undefined");
        let output = command
            .output()
            .map_err(|source| BuildError::Compiler { compiler, source })?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(BuildError::Source { errors });
        }
        Ok(Self {
            file: file.to_owned(),
        })
    }

    /// Returns the program's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the command that runs a part of the program. Packages and numbers are arguments of the part. The runtime
    /// looks for the board library's `.fcd` file in `boards`. With [`MEMCHECK`] set the program ends with status 9
    /// after an error in memory.
    pub fn command(&self, runtime: &Runtime, boards: &Path, part: &str) -> Command {
        let mut command = match std::env::var_os(MEMCHECK) {
            None => Command::new(&self.file),
            Some(_) => {
                let mut command = Command::new("valgrind");
                command
                    .args(["--quiet", "--error-exitcode=9"])
                    .arg(format!("--suppressions={SUPPRESSED}"))
                    .arg(&self.file);
                command
            }
        };
        command
            .arg(part)
            .env("LD_LIBRARY_PATH", runtime.libraries())
            .env("ACL_BOARD_VENDOR_PATH", boards);
        command
    }
}
