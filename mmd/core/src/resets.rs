//! Resets of a board under a program that has it open.
//!
//! After a reset of a board's function, the driver starts the board again with its earlier state, so transfers would go
//! on. But the FPGA's kernels, their arguments and their clock are the program's, and so are the bytes that it has put
//! into the board's memory: after a reset of more than the block, their state is unknown.

use crate::messages::end;
use peerlane_host::{OpenCl, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The resets of a board that its program knows of.
#[derive(Debug)]
pub(crate) struct Resets {
    name: String,
    side: Arc<dyn OpenCl>,
    /// Number of resets; `None` while the FPGA is being programmed, which is one.
    known: Mutex<Option<u64>>,
}

impl Resets {
    /// Takes the resets until now as known.
    pub(crate) fn new(name: &str, side: Arc<dyn OpenCl>) -> Result<Self> {
        let known = Mutex::new(Some(side.resets()?));
        Ok(Self {
            name: name.into(),
            side,
            known,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<u64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was a reset that the program does not know of. A board that is gone is reported elsewhere.
    fn was_reset(&self) -> bool {
        let known = self.lock();
        match (*known, self.side.resets()) {
            (Some(known), Ok(now)) => now != known,
            _ => false,
        }
    }

    /// Ends the process if the board was reset.
    pub(crate) fn look(&self) {
        if self.was_reset() {
            end(format_args!(
                "{}: the board was reset while the program used it. Possible causes are a reset of its PCIe function \
                 or its link, a sleep of the computer, and a configuration of the FPGA that the program did not \
                 request; the kernel's log has more. The contents of FPGA memory and the state of the kernels and \
                 their clock are lost. Run the program again. If its kernels do not work then, program the FPGA first \
                 (aocl program).",
                self.name
            ));
        }
    }

    /// Programs the FPGA. The program knows of this reset; also if `program` panics.
    pub(crate) fn programming<T>(&self, program: impl FnOnce() -> T) -> T {
        /// Reads the number again when it is dropped.
        struct Again<'a>(&'a Resets);
        impl Drop for Again<'_> {
            fn drop(&mut self) {
                *self.0.lock() = self.0.side.resets().ok();
            }
        }
        *self.lock() = None;
        let _again = Again(self);
        program()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub::Stub;
    use std::sync::atomic::Ordering;

    #[test]
    fn only_resets_that_the_program_does_not_know_of_count() {
        let side = Arc::new(Stub::default());
        // Earlier resets.
        side.resets.store(3, Ordering::SeqCst);
        let resets = Resets::new("toy0", Arc::<Stub>::clone(&side)).unwrap();
        assert!(!resets.was_reset());
        let raise = || side.resets.fetch_add(1, Ordering::SeqCst);
        resets.programming(|| {
            raise();
            // Another thread looks during the programming.
            assert!(!resets.was_reset());
        });
        assert!(!resets.was_reset());
        let panics = || resets.programming(|| panic!("planted"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert!(!resets.was_reset());
        raise();
        assert!(resets.was_reset());
    }
}
