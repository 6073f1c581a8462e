//! Registers of a board's OpenCL side, whose accesses wait for a start of the board.

use peerlane_host::{Area, Errno, Error, OpenCl, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait for a board that is being started: longer than a start takes. A stuck transfer of another process, or a
/// reset, causes one.
const START: Duration = Duration::from_secs(10);

/// Pause between two attempts.
const AGAIN: Duration = Duration::from_millis(5);

/// Registers of a board's OpenCL side. While the board is being started an access waits: the runtime does not check
/// whether an access has failed, and assumes that a write has been made (`acl_kernel_cra_set_segment`,
/// `acl_kernel_if.cpp` of intel/fpga-runtime-for-opencl v2025.0).
#[derive(Debug)]
pub(crate) struct Registers {
    side: Arc<dyn OpenCl>,
    limit: Duration,
}

impl Registers {
    pub(crate) fn new(side: Arc<dyn OpenCl>) -> Self {
        Self { side, limit: START }
    }

    /// Reads bytes of a part.
    pub(crate) fn read(&self, area: Area, offset: u64, data: &mut [u8]) -> Result<()> {
        self.patiently(|| self.side.read(area, offset, data))
    }

    /// Writes bytes of a part.
    pub(crate) fn write(&self, area: Area, offset: u64, data: &[u8]) -> Result<()> {
        self.patiently(|| self.side.write(area, offset, data))
    }

    fn patiently(&self, mut access: impl FnMut() -> Result<()>) -> Result<()> {
        let begin = Instant::now();
        loop {
            match access() {
                Err(Error::Call {
                    source: Errno::AGAIN,
                    ..
                }) if begin.elapsed() < self.limit => std::thread::sleep(AGAIN),
                ended => return ended,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub::{Answers, Stub, refused};
    use std::iter::repeat_with;

    fn registers(
        errors: impl IntoIterator<Item = Error>,
        limit: Duration,
    ) -> (Arc<Stub>, Registers) {
        let side = Arc::new(Stub {
            accesses: Answers::of(errors),
            ..Stub::default()
        });
        let registers = Registers {
            side: Arc::<Stub>::clone(&side),
            limit,
        };
        (side, registers)
    }

    #[test]
    fn an_access_waits_for_a_board_that_is_being_started() {
        let starting = || repeat_with(|| refused(Errno::AGAIN)).take(3);
        let long = Duration::from_secs(60);
        let (side, registers) = registers(starting(), long);
        registers.write(Area::Kernels, 0x20, &[1, 2, 3, 4]).unwrap();
        assert_eq!(*side.written.lock().unwrap(), [1, 2, 3, 4]);
        assert_eq!(side.accesses.asked(), 4);
        let (side, registers) = self::registers(starting(), long);
        let mut found = [0; 4];
        registers.read(Area::Clock, 0x120, &mut found).unwrap();
        assert_eq!(found, [0x5a; 4]);
        assert_eq!(side.accesses.asked(), 4);
    }

    #[test]
    fn a_board_that_does_not_start_is_not_waited_for_for_ever() {
        let (side, registers) = registers(
            repeat_with(|| refused(Errno::AGAIN)).take(1000),
            Duration::from_millis(20),
        );
        let error = registers.read(Area::Kernels, 0, &mut [0; 4]).unwrap_err();
        let again =
            |error: &Error| matches!(error, Error::Call { source, .. } if *source == Errno::AGAIN);
        assert!(again(&error) && side.accesses.asked() > 1, "{error}");
    }

    #[test]
    fn another_failure_is_told_at_once() {
        let (side, registers) = registers([Error::Gone], Duration::from_secs(60));
        let error = registers.write(Area::Kernels, 0, &[0; 4]).unwrap_err();
        assert!(matches!(error, Error::Gone) && side.accesses.asked() == 1);
    }
}
