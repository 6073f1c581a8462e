//! A board, a device, and all ways between them.

use crate::board::Board;
use crate::direct::{self, Job, PushJob, Reached};
use crate::error::{Error, Result};
use crate::indirect::Plan;
use crate::limits::Watch;
use crate::route::Route;
use crate::side::Side;
use crate::staged::{SLOTS, Staged};
use crate::turns::{Pusher, Turns};
use peerlane_host::{Direction, Permissions};
use std::sync::Arc;
use std::time::Duration;

/// A copy between a board and a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errand {
    pub(crate) direction: Direction,
    /// First byte in FPGA memory: its address.
    pub(crate) fpga: u64,
    /// First byte in the device's memory.
    pub(crate) at: u64,
    pub(crate) length: u64,
    /// Bytes of a piece, on the concurrent route.
    pub(crate) chunk: u64,
    /// The board may read the memory that it writes to, to make sure that the bytes have arrived.
    pub(crate) proven: bool,
}

/// A board and a device, with the objects that were prepared for copies between them.
pub(crate) struct Ends {
    board: Board,
    side: Arc<dyn Side>,
    bytes: usize,
    staged: Option<Staged>,
    reached: Reached,
    pusher: Pusher,
}

/// A board whose engine reaches all FPGA memory of the context.
struct Whole(Board);

impl Side for Whole {
    fn name(&self) -> String {
        self.0.name()
    }

    fn length(&self) -> u64 {
        self.0.length()
    }

    fn staging(&self, bytes: usize) -> Result<Option<crate::side::Staging>> {
        self.0.staging(bytes)
    }

    fn attach(&self, staging: &peerlane_host::Memory) -> Result<Box<dyn crate::side::Engine>> {
        Ok(Box::new(self.0.engine(staging)?))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        self.0.another(bytes)
    }
}

impl Ends {
    /// Makes the ends, with so much staging memory, once it is needed.
    pub(crate) fn new(board: &Board, side: Arc<dyn Side>, bytes: usize) -> Self {
        Self {
            board: board.clone(),
            side,
            bytes,
            staged: None,
            reached: Reached::default(),
            pusher: Pusher::default(),
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn side(&self) -> &dyn Side {
        &*self.side
    }

    /// Lets time of the board pass.
    pub(crate) fn pass(&self, time: Duration) -> Result<()> {
        let device = self.board.device();
        let end = device.now().saturating_add(time);
        while let left = end.saturating_sub(device.now())
            && !left.is_zero()
        {
            // Events that are not acknowledged would end each wait at once.
            device.query()?;
            device.poll(Some(left))?;
        }
        Ok(())
    }

    /// Returns the way through the host: the board is side 0, the device side 1.
    pub(crate) fn staged(&mut self) -> Result<&mut Staged> {
        let made = match self.staged.take() {
            Some(staged) => staged,
            None => Staged::new([&Whole(self.board.clone()), &*self.side], self.bytes)?,
        };
        Ok(self.staged.insert(made))
    }

    /// Lets the device push from its memory to an FPGA address.
    pub(crate) fn push(&mut self, job: PushJob, watch: &Watch<'_>) -> Result<u64> {
        self.board.shared().push(
            &self.pusher,
            watch.whole(),
            || self.side.pusher(self.board.device()),
            |pusher| {
                let ends = (self.board.device(), &*self.side);
                direct::by_push(pusher, ends, job, &watch.begun_now())
            },
        )
    }

    /// Copies by a route, which has this direction and works here.
    pub(crate) fn run(&mut self, route: Route, errand: &Errand, watch: &Watch<'_>) -> Result<u64> {
        let &Errand {
            direction,
            fpga,
            at,
            length,
            chunk,
            proven,
        } = errand;
        let (from, places) = match direction {
            Direction::FromFpga => (0, (fpga, at)),
            Direction::ToFpga => (1, (at, fpga)),
        };
        let through_host = |chunk: u64, slots: u64| Plan {
            from: places.0,
            to: places.1,
            length,
            chunk: chunk.min(length),
            slots,
        };
        let done = match route {
            Route::DirectWrite | Route::DirectRead => {
                let job = Job {
                    direction,
                    fpga,
                    at,
                    length,
                    permissions: match proven {
                        true => Permissions::ReadWrite,
                        false => Permissions::Write,
                    },
                };
                direct::by_board(&self.board, &*self.side, &mut self.reached, &job, watch)
            }
            Route::Push => self.push(PushJob { at, fpga, length }, watch),
            Route::Sequential => {
                let plan = through_host(self.bytes as u64, 1);
                self.staged()?.copy(from, &plan, watch)
            }
            Route::Auto | Route::Concurrent => {
                let most = (self.bytes as u64 / SLOTS).max(1);
                let plan = through_host(chunk.clamp(1, most), SLOTS);
                self.staged()?.copy(from, &plan, watch)
            }
        };
        // After a success nothing is wrong with the prepared objects.
        if done.is_err() && !matches!(done, Err(Error::Unseen { .. })) {
            // A piece that has not ended may still use the memory, and a registration may be the cause of the error.
            self.staged = None;
            self.reached.clear();
        }
        done
    }

    /// Releases the board's window, if a copy has taken it: the next copy that needs it takes it again.
    pub(crate) fn give_window_back(&mut self) {
        Turns::give_window_back(&self.pusher);
    }

    /// Releases all prepared objects: the next copy makes them again.
    pub(crate) fn forget(&mut self) {
        self.reached.forget();
        self.staged = None;
        self.give_window_back();
    }
}

impl Drop for Ends {
    /// Releases the window for the next user.
    fn drop(&mut self) {
        self.give_window_back();
    }
}
