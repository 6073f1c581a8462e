//! OpenCL for a test: PoCL, a loader, headers and `clinfo`, from the distribution's packages.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Error, Python, Recipe, Requirements, Result, apt, error::io_error, python::pip_source,
};

/// The names are the same in Debian 12, 13 and Ubuntu 24.04; the names of their dependencies differ.
const PACKAGES: [&str; 4] = [
    "pocl-opencl-icd",
    "ocl-icd-libopencl1",
    "opencl-c-headers",
    "clinfo",
];
/// The file about PoCL that a loader reads.
const ICD: &str = "etc/OpenCL/vendors/pocl.icd";
/// Khronos's loader in its wheel.
const KHRONOS: &str = "nvidia/cu13/lib/libOpenCL.so.1";

/// OpenCL on the processor, unpacked as the user. The system is not changed, and no driver of the system is seen.
#[derive(Debug, Clone)]
pub struct OpenCl {
    root: PathBuf,
    pocl: PathBuf,
}

impl OpenCl {
    /// Returns the directory of `CL/cl.h`.
    pub fn headers(&self) -> PathBuf {
        self.root.join("usr/include")
    }

    /// Returns PoCL's driver: its file, or its name where the system has it.
    pub fn pocl(&self) -> PathBuf {
        self.pocl.clone()
    }

    /// Returns Debian's loader, `libOpenCL.so.1`.
    pub fn loader(&self) -> PathBuf {
        self.libraries().join("libOpenCL.so.1")
    }

    /// Returns the program that queries all properties.
    pub fn clinfo(&self) -> PathBuf {
        self.root.join("usr/bin/clinfo")
    }

    /// Returns the directory of the shared libraries.
    pub fn libraries(&self) -> PathBuf {
        libraries(&self.root)
    }

    /// Sets up a command that it finds all of these files, and caches the programs that PoCL compiles.
    pub fn set(&self, command: &mut Command) {
        let before = env::var_os("LD_LIBRARY_PATH").filter(|value| !value.is_empty());
        let paths = [self.libraries()]
            .into_iter()
            .chain(before.iter().flat_map(env::split_paths));
        // The cache directory could have a colon in its name; then the system's libraries serve.
        let paths: OsString = env::join_paths(paths).unwrap_or_default();
        command
            .env("LD_LIBRARY_PATH", paths)
            .env("POCL_CACHE_DIR", self.root.join("compiled"))
            .env("OCL_ICD_VENDORS", self.root.join("etc/OpenCL/vendors"));
    }
}

/// PyOpenCL, and its own tests.
#[derive(Debug, Clone)]
pub struct PyOpenCl {
    /// The interpreter, with PyOpenCL and pytest. PyOpenCL has a loader of its own.
    pub python: Python,
    /// The directory of the tests.
    pub tests: PathBuf,
}

/// Returns the directory of the packages' shared libraries.
fn libraries(root: &Path) -> PathBuf {
    root.join("usr/lib")
        .join(format!("{}-linux-gnu", env::consts::ARCH))
}

impl Cache {
    /// Returns the driver of a PoCL with a compiler of its own, so that it can be in the same process as that of
    /// [`Cache::opencl`].
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn other_pocl(&self) -> Result<PathBuf> {
        self.wheel(Requirements::Pocl, "pyopencl/.libs/libpocl-21062cec.so")
    }

    /// Returns Khronos's loader of OpenCL drivers, in place of Debian's.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn khronos_loader(&self) -> Result<PathBuf> {
        self.wheel(Requirements::KhronosLoader, KHRONOS)
    }

    /// Returns PyOpenCL with its own tests, which only its source archive has.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn pyopencl(&self) -> Result<PyOpenCl> {
        let set = Requirements::PyOpenCl;
        let python = self.python(set)?;
        let recipe = Recipe::new("pyopencl-tests", "PyOpenCL's tests")
            .part(set.entry())
            .requires("test_wrapper.py");
        let tests = self.install(&recipe, |into, progress| {
            pip_source(self, set, &python, "test", into, progress)
        })?;
        Ok(PyOpenCl { python, tests })
    }

    /// Returns PoCL with a loader.
    ///
    /// # Errors
    /// When the system's package manager does not have them; the message has a hint.
    pub fn opencl(&self) -> Result<OpenCl> {
        let recipe = apt::recipe("opencl", &PACKAGES)
            .requires(ICD)
            .requires("usr/bin/clinfo");
        let root = self.install(&recipe, |root, progress| {
            apt::unpack(self, "PoCL", &PACKAGES, root, progress)?;
            let compiled = root.join("compiled");
            fs::create_dir(&compiled).map_err(io_error("create", &compiled))
        })?;
        let icd = root.join(ICD);
        let name = fs::read_to_string(&icd).map_err(io_error("read", &icd))?;
        let name = Path::new(name.trim());
        // A path of the system, or a name.
        let file = name.file_name().map(|name| libraries(&root).join(name));
        let pocl = file
            .filter(|file| file.exists())
            .unwrap_or_else(|| name.to_owned());
        let opencl = OpenCl { root, pocl };
        match opencl.loader().exists() {
            true => Ok(opencl),
            false => Err(Error::Missing {
                what: "OpenCL's loader".to_owned(),
                looked_for: opencl.loader().display().to_string(),
                hint: "use a Debian or Ubuntu machine (x86-64)".to_owned(),
            }),
        }
    }
}
