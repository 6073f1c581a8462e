//! Messages on standard error, and errors that cannot be reported to OpenCL.

use std::fmt::Display;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes a line to standard error. Nothing else can be done where that is closed.
///
/// It is one call of `write`, without the lock of the standard library's stream: a child that a fork makes would wait
/// for ever for a lock that another thread of its parent has.
pub(crate) fn say(message: impl Display) {
    let line = format!("Peerlane MMD: {message}\n");
    let mut left = line.as_bytes();
    while !left.is_empty() {
        // SAFETY: so many bytes are there.
        let written = unsafe { libc::write(libc::STDERR_FILENO, left.as_ptr().cast(), left.len()) };
        match usize::try_from(written) {
            Ok(written) => left = &left[written..],
            Err(_) if std::io::Error::last_os_error().kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends the process, because there is no way to report an error to OpenCL. The message consists of sentences.
pub(crate) fn end(message: impl Display) -> ! {
    say(format_args!(
        "{message} This error cannot be reported to OpenCL, so the program ends here."
    ));
    std::process::abort()
}

/// Runs a function whose failure cannot be reported to OpenCL: a panic ends the process. It must not unwind into C, and
/// a thread that is gone would never report the end of its transfers.
pub(crate) fn vital<T>(f: impl FnOnce() -> T) -> T {
    // No code uses the state after a panic any more.
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|_| end("An error of this library (see above)."))
}

/// Runs a function that must not unwind into the caller.
pub(crate) fn guarded<T>(failed: T, f: impl FnOnce() -> T) -> T {
    // No code relies on the state after a panic: locks are taken as they are.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        say("an error of this library (see above)");
        failed
    })
}
