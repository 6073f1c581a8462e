//! The kernels' interrupt.

use crate::board::Board;
use crate::end::{end, say};
use peerlane_host::Error;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The handler is called so often even if no interrupt has come: an interrupt that was lost must not
/// hang the program. The runtime then looks, and finds nothing.
const PERIOD: Duration = Duration::from_millis(250);

/// The body of the thread that waits for the interrupt of a board's kernels.
pub(crate) fn run(board: &Board) {
    while !board.closing.load(Ordering::SeqCst) {
        let waited = board.side.wait(Some(PERIOD));
        if board.closing.load(Ordering::SeqCst) {
            break;
        }
        // Nothing is armed before a handler is set.
        let waited = waited.and_then(|_| match board.handlers.has_interrupt() {
            true => {
                board.handlers.interrupt(board.handle());
                board.side.arm()
            }
            false => Ok(()),
        });
        match waited {
            Ok(()) => {}
            Err(Error::Gone) if board.handlers.has_interrupt() => {
                // A program that waits for a kernel would wait for ever.
                let gone = Error::Gone;
                end(format_args!("{}: {gone}. {}", board.name(), gone.remedy()));
            }
            Err(error) => {
                say(format_args!(
                    "{}: no interrupts any more: {error}",
                    board.name()
                ));
                break;
            }
        }
    }
}
