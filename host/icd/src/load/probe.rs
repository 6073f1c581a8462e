//! Tries the vendor library in a process of its own, so that one that crashes or hangs takes no
//! program with it.
//!
//! The process runs this very file: the dynamic linker can start a shared library, and its entry point is here. A
//! forked child is not suitable, since in a child of a process with threads hardly any function may be called. The
//! process reports its result by a line in a pipe, so that the result does not depend on other code that waits for
//! children.

use std::arch::naked_asm;
use std::env;
use std::ffi::{CStr, OsStr, c_void};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::{load, vendor};

/// Set in that process, and in all processes that it starts.
const VARIABLE: &str = "PEERLANE_ICD_PROBING";
/// Limit of the time: a library that takes longer hangs. Boards may be programmed during it.
const LIMIT: Duration = Duration::from_secs(30);
/// Path of the dynamic linker by the ABI, if the process does not know it.
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
/// The answer for a library that has a platform with a board.
const SOUND: &str = "sound";

/// Whether this process is, or was started by, the one that tries.
pub(crate) fn is_running() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Tries the vendor library.
pub(crate) fn run() -> Result<(), String> {
    let cannot = |why: &dyn std::fmt::Display| {
        format!(
            "cannot test the vendor library in a process of its own: {why} (PEERLANE_ICD_PROBE=0 loads it without a \
             test)"
        )
    };
    let own = file_of(run as *const c_void)
        .and_then(|path| path.canonicalize().ok())
        .ok_or_else(|| cannot(&"this library cannot find its own file"))?;
    // SAFETY: reads a word that the kernel gave.
    let base = unsafe { libc::getauxval(libc::AT_BASE) };
    let linker = match base {
        0 => None,
        base => file_of(base as *const c_void),
    };
    let mut child = Command::new(linker.unwrap_or_else(|| LINKER.into()))
        .arg(own)
        .env(VARIABLE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| cannot(&error))?;
    let output = child
        .stdout
        .take()
        .ok_or_else(|| cannot(&"the process has no output"))?;
    let said = listen(output, Instant::now() + LIMIT);
    judge(said, &mut child)
}

/// Returns the file that holds an address.
fn file_of(address: *const c_void) -> Option<PathBuf> {
    // SAFETY: zeros are an answer that holds nothing.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: a place for the answer.
    let found = unsafe { libc::dladdr(address, &mut info) } != 0;
    if !found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a name that stays as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

/// Reads the output of the process until its end; `None` after the limit.
fn listen(mut output: ChildStdout, until: Instant) -> Option<String> {
    let mut said = Vec::new();
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let mut poll = libc::pollfd {
            fd: output.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let wait = left.as_millis().min(1000) as i32;
        // SAFETY: one element.
        if unsafe { libc::poll(&mut poll, 1, wait) } <= 0 {
            continue;
        }
        let mut bytes = [0; 512];
        match output.read(&mut bytes) {
            Ok(count @ 1..) => said.extend_from_slice(&bytes[..count]),
            _ => return Some(String::from_utf8_lossy(&said).into_owned()),
        }
    }
}

fn judge(said: Option<String>, child: &mut Child) -> Result<(), String> {
    let Some(said) = said else {
        // The process must not wait for a board that never answers.
        let _ = child.kill();
        let _ = child.wait();
        let seconds = LIMIT.as_secs();
        return Err(format!(
            "the vendor library did not answer within {seconds} s"
        ));
    };
    // If the program does not collect its children, other code has waited for this one.
    let status = child.wait().ok();
    match (&*said, status.and_then(|status| status.signal())) {
        (SOUND, _) => Ok(()),
        ("", Some(signal)) => Err(format!("the vendor library crashed (signal {signal})")),
        ("", None) => Err("the vendor library ended the process that tried it".to_owned()),
        (why, _) => Err(why.to_owned()),
    }
}

/// Entry point at which the dynamic linker starts this library: by the AMD64 ABI ("Process Initialization"), the stack
/// is aligned, but holds no return address.
///
/// # Safety
/// Only for the dynamic linker.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn peerlane_icd_probe() -> ! {
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {main}", "ud2", main = sym main)
}

/// Runs in the process that tries.
extern "C" fn main() -> ! {
    // SAFETY: a descriptor of this process, which is its own. The copy is not inherited by the processes that it
    // starts, since the pipe ends with the last copy.
    let report = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
    // The vendor library may write any output.
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // SAFETY: descriptors of this process.
        unsafe { libc::dup2(nowhere.as_raw_fd(), libc::STDOUT_FILENO) };
    }
    vendor::set_loading();
    let loaded = Config::of_this_machine().and_then(|config| {
        load::check(&config)?;
        let vendor = load::load(&config)?;
        load::check_boards(&vendor)
    });
    let said = match loaded {
        Ok(_) => SOUND.to_owned(),
        Err(why) => why,
    };
    if report >= 0 {
        // SAFETY: no other code has this descriptor.
        let mut report = unsafe { File::from_raw_fd(report) };
        // Without a report it counts as a crash.
        let _ = report.write_all(said.as_bytes());
    }
    // SAFETY: ends the process. Destructors of the vendor library are not tried.
    unsafe { libc::_exit(0) }
}
