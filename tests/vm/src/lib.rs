//! Virtual machines for tests: QEMU with an ordinary kernel, busybox, and the test's own programs and modules.
//!
//! A test puts the machine's files into an [`Initramfs`], describes the [`Machine`], starts it, and answers the
//! questions of the programs in it until it powers off:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use peerlane_tools::{Cache, Flavour};
//! use peerlane_vm::{Initramfs, Machine, guest_program};
//!
//! let cache = Cache::open()?;
//! let mut files = Initramfs::new(&cache.qemu()?)?;
//! files.shared_program(&guest_program("hello")?)?;
//! files.script("hello one two");
//! let vm = Machine::new(&cache.qemu()?, &cache.kernel(Flavour::Debian)?, files).start()?;
//! let log = vm.run(|_, question: String| question.to_uppercase())?;
//! assert!(log.console().contains("goodbye"));
//! # Ok(())
//! # }
//! ```
//!
//! A machine that fails in any way (a program's exit status, a complaint of the kernel, a panic,
//! a deadline) makes [`Vm::run`] fail, with the end of the console in the message. A test that
//! panics while it owns a [`Vm`] has its console printed. No machine outlives its [`Vm`].
//!
//! # Environment
//! - `PEERLANE_ACCEL`: QEMU's accelerator. Default: `tcg`, which exists everywhere. It is slower than `kvm` and the
//!   same on every machine.

mod console;
mod disk;
mod emulator;
mod error;
mod files;
mod guest;
mod initramfs;
mod libraries;
mod machine;
mod python;
mod qmp;
mod vm;

pub use console::Log;
pub use error::{Error, Result};
pub use guest::{guest_example, guest_library, guest_program};
pub use initramfs::Initramfs;
pub use machine::{Image, Machine, vfio_user};
pub use qmp::Qmp;
pub use vm::Vm;
