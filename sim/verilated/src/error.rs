//! The errors of this crate, with the text of the tools.

use std::path::PathBuf;

use thiserror::Error;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reasons why a model could not be built or loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation, as a verb ("read", "create").
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The operating system's answer.
        #[source]
        source: std::io::Error,
    },
    /// The tools could not be set up.
    #[error(transparent)]
    Tools(#[from] peerlane_tools::Error),
    /// A tool could not be started.
    #[error("cannot run {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's answer.
        #[source]
        source: std::io::Error,
    },
    /// A tool ran and reported a failure.
    #[error("{tool} failed for top module `{top}` ({status}):\n{output}")]
    Failed {
        /// The tool.
        tool: &'static str,
        /// The design's top module.
        top: String,
        /// Exit status in words.
        status: String,
        /// The tool's standard output and error.
        output: String,
    },
    /// Two sources have the same file name.
    #[error("two Verilog sources are called `{name}`")]
    DuplicateSource {
        /// The file name.
        name: String,
    },
    /// A source has no usable file name.
    #[error("`{name}` is not a usable Verilog file name")]
    SourceName {
        /// The name given.
        name: String,
    },
    /// Verilator's header was not understood.
    #[error("cannot read port `{line}` in Verilator's header")]
    Header {
        /// The line.
        line: String,
    },
    /// The shared library cannot be loaded.
    #[error("cannot load the model {}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's answer.
        #[source]
        source: libloading::Error,
    },
    /// The shared library's table is not in the form that this crate writes.
    #[error("the model {} has a damaged port table", path.display())]
    Table {
        /// The library.
        path: PathBuf,
    },
    /// The design failed before its first clock edge.
    #[error("top module `{top}` could not be instantiated: {message}")]
    Instance {
        /// The design's top module.
        top: String,
        /// The message of the design.
        message: String,
    },
    /// The port does not exist.
    #[error("top module `{top}` has no port `{port}` (it has: {known})")]
    NoPort {
        /// The design's top module.
        top: String,
        /// The requested name.
        port: String,
        /// All ports, separated by commas.
        known: String,
    },
    /// The port exists, but is of another kind.
    #[error("port `{port}` of `{top}` is {found}, expected {expected}")]
    PortShape {
        /// The design's top module.
        top: String,
        /// The port.
        port: String,
        /// Direction and width in the Verilog.
        found: String,
        /// The requested direction and width.
        expected: String,
    },
}

impl Error {
    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        Some(match self {
            Self::Tools(error) => error.hint(),
            Self::Failed { .. } => {
                "the text is from the tool; Verilator's warnings count as errors unless a -Wno- flag disables them"
            }
            Self::DuplicateSource { .. } => {
                "the sources are compiled in one directory: give each its own file name"
            }
            Self::SourceName { .. } => "use letters, digits, `_`, `-` and `.`",
            Self::Header { .. } => {
                "this Verilator version writes headers in another form than version 5.048"
            }
            Self::Load { .. } | Self::Table { .. } => {
                "delete the file; it is made again at the next run"
            }
            _ => return None,
        })
    }
}

/// A stop of the design by itself: `$stop`, `$fatal`, a failed assertion, or a combinational loop that does not settle.
/// The model cannot be used afterwards; create a new instance.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the design stopped: {message}")]
pub struct Fault {
    /// File, line and reason, as Verilator reports them.
    pub message: String,
}

pub(crate) fn io(
    action: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io {
        action,
        path,
        source,
    }
}
