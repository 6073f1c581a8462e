//! Queries of the runtime about the library and its boards: the fields of `aocl_mmd.h`.

use crate::home::platform_version;
use crate::messages::say;
use std::ffi::c_int;

/// The runtimes that a library is for. `docs/program/opencl.md` has the differences between them.
#[derive(Debug, Clone, Copy)]
pub struct Flavour {
    /// `AOCL_MMD_VERSION`: a number, which must not be larger than the runtime's own.
    pub version: &'static str,
    /// A variable of the environment that may name another version, for runtimes that need one.
    pub version_variable: Option<&'static str>,
    /// Whether it is for the open runtime: boards show text that this runtime reads, and a board for which it would end
    /// the program is refused.
    pub open_runtime: bool,
    /// Whether it is for a runtime at all, which gives out all memory that a board has: a board of which other
    /// processes have some memory is refused.
    pub runtime: bool,
}

impl Flavour {
    /// For the open runtime.
    pub const OPEN: Self = Self {
        version: "2024.2",
        version_variable: None,
        open_runtime: true,
        runtime: true,
    };

    /// For no runtime: a program that programs a board takes it with any configuration.
    pub const TOOL: Self = Self {
        open_runtime: false,
        runtime: false,
        ..Self::OPEN
    };

    /// For the closed runtimes of 13.1 to 18.1. All later runtimes assume properties of a library of 14.0 that this one
    /// has: physical memory, no `yield`, one transfer at a time. In a platform of an earlier version the library
    /// reports that version.
    pub const LEGACY: Self = Self {
        version: "14.0",
        version_variable: Some("PEERLANE_MMD_VERSION"),
        open_runtime: false,
        runtime: true,
    };

    pub(crate) fn version(&self) -> String {
        let named = self.version_variable.and_then(|name| {
            let value = std::env::var_os(name)?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        match named {
            Some((_, value)) if is_version(&value) => value,
            Some((name, value)) if !value.is_empty() => {
                let version = self.version_here();
                say(format_args!(
                    "{name}: \"{value}\" is not a version from 13.1 to 18.1, such as 14.0; used instead: {version}"
                ));
                version
            }
            _ => self.version_here(),
        }
    }

    /// Returns the version if the variable is not set. A library whose version may change reports the version of the
    /// platform that it lies in, if that is an earlier one: the platform's runtime refuses a library of a later version
    /// than its own.
    fn version_here(&self) -> String {
        let earlier = |version: &String| {
            is_version(version) && version.parse::<f64>().ok() < self.version.parse().ok()
        };
        let here = self.version_variable.and_then(|_| platform_version());
        here.filter(earlier).unwrap_or_else(|| self.version.into())
    }
}

/// Whether a runtime of 13.1 to 18.1 takes this for a version. Another text ends the program, or is read as another
/// version.
fn is_version(text: &str) -> bool {
    let digits = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = text.parse::<f64>();
    digits && number.is_ok_and(|number| (13.1..=18.1).contains(&number))
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(c_int),
    Float(f32),
    Size(usize),
    Text(String),
}

impl Value {
    /// Returns its bytes, text with a 0 at its end, at most `room` of them: text that is too long is cut, at a `;` if
    /// it is a list, and a number that does not fit is left out.
    pub(crate) fn bytes(&self, room: usize) -> Vec<u8> {
        let number = |bytes: &[u8]| match bytes.len() <= room {
            true => bytes.to_vec(),
            false => Vec::new(),
        };
        match self {
            Self::Int(value) => number(&value.to_ne_bytes()),
            Self::Float(value) => number(&value.to_ne_bytes()),
            Self::Size(value) => number(&value.to_ne_bytes()),
            Self::Text(_) if room == 0 => Vec::new(),
            Self::Text(text) => {
                let mut bytes = text.clone().into_bytes();
                if bytes.len() >= room {
                    bytes.truncate(room - 1);
                    // A name that was cut would be another name.
                    if let Some(last) = bytes.iter().rposition(|byte| *byte == b';') {
                        bytes.truncate(last);
                    }
                }
                bytes.push(0);
                bytes
            }
        }
    }
}

/// `aocl_mmd_offline_info_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offline {
    Version,
    NumBoards,
    BoardNames,
    VendorName,
    VendorId,
    UsesYield,
    MemTypes,
}

impl Offline {
    pub(crate) fn of(id: c_int) -> Option<Self> {
        Some(match id {
            0 => Self::Version,
            1 => Self::NumBoards,
            2 => Self::BoardNames,
            3 => Self::VendorName,
            4 => Self::VendorId,
            5 => Self::UsesYield,
            6 => Self::MemTypes,
            _ => return None,
        })
    }
}

/// `aocl_mmd_info_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Online {
    NumKernelInterfaces,
    KernelInterfaces,
    PllInterfaces,
    MemoryInterface,
    Temperature,
    PcieInfo,
    BoardName,
    UniqueId,
    ConcurrentReads,
    ConcurrentWrites,
    ConcurrentBoth,
    HostAlignment,
    /// For host and shared allocations: memory that kernels reach by the host's pointer.
    HostCapabilities,
    /// For device allocations: memory of the board that a program has by its address.
    DeviceCapabilities,
    /// For all three.
    Granularity,
}

impl Online {
    pub(crate) fn of(id: c_int) -> Option<Self> {
        Some(match id {
            1 => Self::NumKernelInterfaces,
            2 => Self::KernelInterfaces,
            3 => Self::PllInterfaces,
            4 => Self::MemoryInterface,
            5 => Self::Temperature,
            6 => Self::PcieInfo,
            7 => Self::BoardName,
            8 => Self::UniqueId,
            9 => Self::ConcurrentReads,
            10 => Self::ConcurrentWrites,
            11 => Self::ConcurrentBoth,
            12 => Self::HostAlignment,
            13 | 14 => Self::HostCapabilities,
            15 => Self::DeviceCapabilities,
            16..=18 => Self::Granularity,
            _ => return None,
        })
    }

    /// Returns the answer where there is no such board: the runtime does not check whether a query was answered, so it
    /// must find a value.
    pub(crate) fn nothing(self) -> Value {
        match self {
            Self::Temperature => Value::Float(0.0),
            Self::PcieInfo | Self::BoardName => Value::Text(String::new()),
            Self::HostAlignment | Self::Granularity => Value::Size(0),
            Self::KernelInterfaces | Self::PllInterfaces | Self::MemoryInterface => Value::Int(-1),
            _ => Value::Int(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_runtimes() {
        for version in ["13.1", "14.0", "14.1", "15.0", "17.1", "18.1", "16"] {
            assert!(is_version(version), "{version}");
        }
        // Some of these are numbers to Rust, or to C.
        for version in [
            "", "13.0", "18.2", "99", "24.2", "nan", "inf", "-14.0", "+14.0", "1.4e1", "0x0e",
            "14.0.0", "14,0", " 14.0",
        ] {
            assert!(!is_version(version), "{version}");
        }
    }

    #[test]
    fn nothing_is_written_past_the_room() {
        let text = Value::Text("peerlane0;peerlane1".into());
        assert_eq!(text.bytes(20), b"peerlane0;peerlane1\0");
        assert_eq!(text.bytes(19), b"peerlane0\0");
        assert_eq!(text.bytes(10), b"peerlane0\0");
        assert_eq!(text.bytes(1), b"\0");
        assert_eq!(text.bytes(0), b"");
        assert_eq!(Value::Int(7).bytes(4), 7_i32.to_ne_bytes());
        assert_eq!(Value::Int(7).bytes(3), b"");
        assert_eq!(Value::Size(64).bytes(100), 64_usize.to_ne_bytes());
        assert_eq!(Value::Float(1.5).bytes(4), 1.5_f32.to_ne_bytes());
    }
}
