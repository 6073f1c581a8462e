//! Signals that end the program: it deletes its temporary files before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use peerlane_bsp::interrupt;
use peerlane_demo::error::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

/// The signal that was received; 0 before.
#[derive(Debug)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Ends the work at its next step when a signal is received. A second signal ends the program immediately.
    ///
    /// # Errors
    /// [`Error`] if the system refuses.
    pub fn watch() -> Result<Self, Error> {
        let failed = |e| Error::io("peerlane", "watch for signals", &e);
        let number = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            // Handlers run in the order of registration: the first one finds the flag set only at the second signal.
            flag::register_conditional_default(signal, interrupt::flag()).map_err(failed)?;
            flag::register(signal, interrupt::flag()).map_err(failed)?;
            let value = usize::try_from(signal).expect("signals have positive numbers");
            flag::register_usize(signal, Arc::clone(&number), value).map_err(failed)?;
        }
        Ok(Self(number))
    }

    /// Ends the program by the received signal, if any, as the parent process expects.
    pub fn end(&self) {
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::Relaxed)) {
            // It does not return; if it fails, the exit status reports the error nevertheless.
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}
