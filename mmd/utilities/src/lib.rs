//! The utilities of a platform with the Peerlane block. The OpenCL SDK's `aocl` runs them from the directory that
//! `utilbindir` of `board_env.xml` names (Custom Platform Toolkit user guide 683398, 1.4.5).
//!
//! The guide names the utilities and their arguments. The arguments that `aocl` passes, and its use of the output, are
//! in its `acl/Command.pm`, seen in the runtime environment 17.1:
//!
//! | `aocl` runs | and |
//! | --- | --- |
//! | `install`, `uninstall` | without arguments; status 0: success. From 17.1 on it then writes an `.fcd` file itself |
//! | `diagnose -probe` | takes each line that does not begin with `DIAGNOSTIC_` for a device; `acl0` is the first |
//! | `diagnose -probe NAME` | takes the device if `DIAGNOSTIC_PASSED` is in the output |
//! | `diagnose NAME...` | shows the output; without a name for platforms before 15.1 |
//! | `program NAME FPGA.BIN AOCX` | without the package for platforms before 15.1 |
//! | `flash NAME FPGA.BIN` | status 0 is success |
//!
//! For platforms before 14.1 `diagnose` is called `diagnostic`, and `program` is called `reprogram`.

pub mod diagnose;
mod failure;
mod fcd;
pub mod flash;
pub mod gpus;
pub mod install;
mod installed;
mod library;
mod link;
mod machine;
mod memory;
mod package;
mod platform;
pub mod program;
pub mod setup;

pub use failure::{Failure, Result};
pub use machine::{Commands, Machine, Shell, Stopped};
pub use platform::Platform;
