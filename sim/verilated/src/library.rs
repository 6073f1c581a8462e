//! A loaded library and its ports.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{Direction, Error, Port, PortInfo, Result, shim};

#[repr(C)]
struct RawPort {
    name: *const c_char,
    width: c_uint,
    direction: c_uint,
}

/// The functions of the shim (`shim.rs`), valid while the library is loaded.
pub(crate) struct Functions {
    pub(crate) new: unsafe extern "C" fn(c_uint) -> *mut c_void,
    pub(crate) free: unsafe extern "C" fn(*mut c_void),
    pub(crate) eval: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(crate) fault: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    pub(crate) port: unsafe extern "C" fn(*mut c_void, c_uint) -> *mut c_void,
}

struct Inner {
    functions: Functions,
    ports: Vec<PortInfo>,
    top: String,
    path: PathBuf,
    /// The library that contains the functions above; declared last, so dropped last.
    _library: libloading::Library,
}

/// A compiled design. It is cheap to clone; the code stays loaded while a clone or an instance exists.
#[derive(Clone)]
pub struct Library {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library")
            .field("top", &self.inner.top)
            .field("path", &self.inner.path)
            .field("ports", &self.inner.ports.len())
            .finish()
    }
}

impl Library {
    /// Loads a library file that [`Build::model`](crate::Build::model) made, for example on another machine; `top` is
    /// the design's top module.
    ///
    /// # Errors
    /// If the file is not such a library.
    pub fn load(path: &Path, top: &str) -> Result<Self> {
        let load = |source| Error::Load {
            path: path.to_owned(),
            source,
        };
        let table = || Error::Table {
            path: path.to_owned(),
        };
        // SAFETY: the file is one that `Build` compiled (its name is the hash of its input), and its initialisers are
        // those of Verilator and the C++ library, which have no preconditions for the caller.
        let library = unsafe { libloading::Library::new(path) }.map_err(load)?;
        // SAFETY: the symbols are declared with exactly these types in `shim.rs`, whose version is checked first; the
        // copies of the function pointers are stored in `Inner` together with the library.
        let (functions, raw) = unsafe {
            let abi = library
                .get::<*const c_uint>(b"peerlane_abi\0")
                .map_err(load)?;
            if **abi != shim::ABI {
                return Err(table());
            }
            let functions = Functions {
                new: *library.get(b"peerlane_new\0").map_err(load)?,
                free: *library.get(b"peerlane_free\0").map_err(load)?,
                eval: *library.get(b"peerlane_eval\0").map_err(load)?,
                fault: *library.get(b"peerlane_fault\0").map_err(load)?,
                port: *library.get(b"peerlane_port\0").map_err(load)?,
            };
            let count = library
                .get::<*const c_uint>(b"peerlane_port_count\0")
                .map_err(load)?;
            let ports = library
                .get::<*const RawPort>(b"peerlane_ports\0")
                .map_err(load)?;
            (
                functions,
                std::slice::from_raw_parts(*ports, **count as usize),
            )
        };
        let ports = raw
            .iter()
            .map(|port| {
                // SAFETY: the names are string literals of the library.
                let name = unsafe { CStr::from_ptr(port.name) };
                Ok(PortInfo {
                    name: name.to_str().map_err(|_| table())?.to_owned(),
                    direction: Direction::from_code(port.direction).ok_or_else(table)?,
                    width: port.width,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            inner: Arc::new(Inner {
                functions,
                ports,
                top: top.to_owned(),
                path: path.to_owned(),
                _library: library,
            }),
        })
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.inner.functions
    }

    /// Returns the name of the top module.
    pub fn top(&self) -> &str {
        &self.inner.top
    }

    /// Returns the ports of the top module.
    pub fn ports(&self) -> &[PortInfo] {
        &self.inner.ports
    }

    /// Returns the path of the file in the cache.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Returns the handle of a port.
    ///
    /// # Errors
    /// If no port has this name.
    pub fn port(&self, name: &str) -> Result<Port> {
        let index = self.ports().iter().position(|port| port.name == name);
        index.map(Port::new).ok_or_else(|| {
            let known: Vec<_> = self.ports().iter().map(|port| port.name.as_str()).collect();
            Error::NoPort {
                top: self.inner.top.clone(),
                port: name.to_owned(),
                known: known.join(", "),
            }
        })
    }

    /// Returns the handle of a port that must have this direction and width (bits).
    ///
    /// # Errors
    /// If no port has this name, or the port is of another shape.
    pub fn port_as(&self, name: &str, direction: Direction, width: u32) -> Result<Port> {
        let port = self.port(name)?;
        let info = &self.inner.ports[port.index()];
        if info.direction == direction && info.width == width {
            return Ok(port);
        }
        Err(Error::PortShape {
            top: self.inner.top.clone(),
            port: name.to_owned(),
            found: format!("{} of {} bits", info.direction, info.width),
            expected: format!("{direction} of {width} bits"),
        })
    }
}
