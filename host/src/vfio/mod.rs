//! Boards that this process drives by itself, through the kernel's VFIO: no kernel module is needed.
//!
//! The board must be bound to vfio-pci, and an IOMMU between board and memory must be on. One process has the board at a
//! time. It reaches only memory that this process has registered, and no more of it than the registration allows; this
//! is the IOMMU's work, so it also holds for a board that does not follow its rules. When the process ends in any way,
//! the kernel stops the board before the memory goes.
//!
//! [`Device::first`](crate::Device::first) finds such boards, too. [`open`] has settings.
//!
//! ```no_run
//! # fn main() -> peerlane_host::Result<()> {
//! for board in peerlane_host::vfio::boards() {
//!     let driver = peerlane_host::vfio::open(&board, &Default::default())?;
//!     println!("{board}: {} channels", driver.capabilities().channels);
//! }
//! # Ok(())
//! # }
//! ```

mod access;
mod board;
mod events;
mod find;
mod function;
mod gdr;
mod iommufd;
mod iova;
mod populate;
mod registers;
mod sys;

use crate::driver::{BackendError, Driver, Options, WeakDriver};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use crate::error::VfioError as Error;
pub use find::{DRIVER, boards};

/// Result of calls to VFIO.
type Result<T> = std::result::Result<T, Error>;

/// The longest time that the end of a driver of this process may take, and the time between two looks.
const CLOSED: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// The boards that this process has, by their addresses.
static OPENED: Mutex<BTreeMap<String, WeakDriver>> = Mutex::new(BTreeMap::new());

/// Returns whether memory of NVIDIA's GPUs can be registered: GDRCopy is there, and its mappings stay.
///
/// # Errors
/// [`Error::NoGdrcopy`] and [`Error::Fleeting`].
pub fn gpu_memory() -> Result<()> {
    gdr::Gdr::open()
        .map(drop)
        .map_err(|unusable| unusable.error())
}

/// Returns whether a name is a PCI address, and not a path: `0000:01:00.0`.
pub fn is_address(name: &str) -> bool {
    let mut parts = name.split([':', '.']);
    let is = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| {
            part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    name.len() == "0000:01:00.0".len()
        && is(parts.next(), 4)
        && is(parts.next(), 2)
        && is(parts.next(), 2)
        && is(parts.next(), 1)
        && parts.next().is_none()
}

/// Opens the board at a PCI address: `0000:01:00.0`. A board that this process has already is returned again, with the
/// settings that it has.
///
/// # Errors
/// [`crate::Error::Backend`] with [`BackendError::Vfio`] if the board cannot be used.
pub fn open(address: &str, options: &Options) -> crate::Result<Driver> {
    // Locked until the board is open: another thread must not find it in use.
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let earlier = opened.get(address);
    if let Some(driver) = earlier.and_then(WeakDriver::upgrade) {
        return Ok(driver);
    }
    let is_ours = || earlier.is_some_and(WeakDriver::exists);
    let board = when_free(is_ours, || board::Board::open(address)).map_err(BackendError::from)?;
    let driver = Driver::new(board, options)?;
    opened.insert(address.to_owned(), driver.downgrade());
    Ok(driver)
}

/// Opens a board. If it is in use by this process, a thread drops the last handle of it, and this waits for the end.
fn when_free<T>(is_ours: impl Fn() -> bool, open: impl Fn() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        // Asked before: the drop may end in the meantime.
        let waits = is_ours() && begin.elapsed() < CLOSED;
        match open() {
            Err(Error::InUse { .. }) if waits => std::thread::sleep(LOOK),
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn in_use() -> Error {
        let [board, group] = ["0000:01:00.0", "7"].map(String::from);
        Error::InUse { board, group }
    }

    /// Also if this process had the board before.
    #[test]
    fn a_board_of_another_process_is_refused_at_once() {
        let begin = Instant::now();
        let opened = when_free(|| false, || Err::<(), _>(in_use()));
        assert!(matches!(opened, Err(Error::InUse { .. })), "{opened:?}");
        assert!(begin.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn the_end_of_a_driver_of_this_process_is_waited_for() {
        let looks = Cell::new(0);
        let open = || {
            looks.set(looks.get() + 1);
            // The drop ends during the third look, which still fails.
            if looks.get() < 4 {
                Err(in_use())
            } else {
                Ok(())
            }
        };
        when_free(|| looks.get() < 3, open).unwrap();
    }

    #[test]
    fn an_address_is_not_a_path() {
        assert!(is_address("0000:01:00.0") && is_address("00c1:fe:1f.7"));
        for path in [
            "",
            "/dev/peerlane0",
            "0000:01:00",
            "0000:01:00.00",
            "0000.01.00.0.",
            "000x:01:00.0",
        ] {
            assert!(!is_address(path), "{path}");
        }
    }
}
