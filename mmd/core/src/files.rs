//! Files of open boards, which a child of a fork closes.
//!
//! The driver releases a board when the last copy of its file is closed. A child that a fork makes has a copy of every
//! file, and `O_CLOEXEC` closes them only when it calls `execve`. So a worker that never calls `execve` would keep the
//! board of a parent that was killed, with kernels that run. Mappings of the board are not copied, because the driver
//! has marked them so.
//!
//! An open file gets its place here a moment later, and loses it a moment before it is closed. A fork in between would
//! leave the child with a copy that has no place, so forks wait for [`Moving`], and [`Moving`] waits for forks.

use std::cell::Cell;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Places for two files of each board, for as many boards as a computer has.
const PLACES: usize = 128;

/// Value of a place without a file.
const FREE: RawFd = -1;

/// Atomic numbers, because a child cannot take a lock.
static FILES: [AtomicI32; PLACES] = [const { AtomicI32::new(FREE) }; PLACES];

/// Moves in progress; the next number counts forks in progress.
static MOVES: AtomicUsize = AtomicUsize::new(0);
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Longest time that a move waits for forks, or a fork for moves: each may wait for something of the program's. After
/// that a child may have a file.
const LIMIT: Duration = Duration::from_secs(1);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(1);

thread_local! {
    /// Moves of this thread, which its own forks do not wait for.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// A phase in which files are being opened, and do not all have their places yet, or have lost them, and are being
/// closed. No child is made during it. This uses numbers, and not a lock: a child has a lock as another thread left it.
#[derive(Debug)]
pub(crate) struct Moving(());

impl Moving {
    pub(crate) fn begin() -> Self {
        let begin = Instant::now();
        loop {
            MOVES.fetch_add(1, Ordering::SeqCst);
            let free = FORKS.load(Ordering::SeqCst) == 0 || OWN.get() > 0;
            if free || begin.elapsed() > LIMIT {
                OWN.set(OWN.get() + 1);
                return Self(());
            }
            MOVES.fetch_sub(1, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        MOVES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for moves, before this thread forks.
pub(crate) fn before_fork() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    let begin = Instant::now();
    while MOVES.load(Ordering::SeqCst) > OWN.get() && begin.elapsed() < LIMIT {
        std::thread::sleep(PAUSE);
    }
}

/// Ends the wait of moves, in the parent after its fork.
pub(crate) fn has_forked() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

/// Prevents forks until its last copy is dropped: from the time when the files of a board have lost their places until
/// they are closed. Each owner of the files also has a copy of this, which it drops after them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Closed(Arc<Mutex<Option<Moving>>>);

/// Files of a board, to be dropped before they are closed.
#[derive(Debug)]
pub(crate) struct Files {
    own: Vec<Own>,
    closed: Closed,
}

impl Files {
    pub(crate) fn new<'a>(
        files: impl IntoIterator<Item = BorrowedFd<'a>>,
        closed: &Closed,
    ) -> Self {
        Self {
            own: files.into_iter().filter_map(Own::new).collect(),
            closed: closed.clone(),
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let moving = Moving::begin();
        self.own.clear();
        *(self.closed.0.lock()).unwrap_or_else(PoisonError::into_inner) = Some(moving);
    }
}

/// A file that children close. It must be dropped before the file is closed: afterwards its number may be another
/// file's.
#[derive(Debug)]
struct Own(&'static AtomicI32);

impl Own {
    /// Gives the file a place. `None`: there is no place left, and children keep the file.
    fn new(file: BorrowedFd<'_>) -> Option<Self> {
        let file = file.as_raw_fd();
        let taken = |place: &&AtomicI32| {
            let order = Ordering::SeqCst;
            place.compare_exchange(FREE, file, order, order).is_ok()
        };
        FILES.iter().find(taken).map(Self)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.0.store(FREE, Ordering::SeqCst);
    }
}

/// Closes them all, in a child that a fork has just made: no lock is used here, and `close` may be called then
/// (POSIX.1-2017, 2.4.3 Signal Actions, list of functions that are async-signal-safe).
pub(crate) fn close_all() {
    // Moves and forks of other threads are the parent's.
    FORKS.store(0, Ordering::SeqCst);
    MOVES.store(OWN.get(), Ordering::SeqCst);
    for place in &FILES {
        let file = place.swap(FREE, Ordering::SeqCst);
        if file != FREE {
            // SAFETY: it is this process's copy of a file that nothing in it uses: the owner of the number refuses to
            // be used by a child (`Mmd::is_child`), and is never dropped there.
            unsafe { libc::close(file) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::end::at_exit;
    use std::io::{PipeReader, Read, pipe};
    use std::os::fd::AsFd;

    /// A child that sleeps until it is killed.
    struct Sleeper(libc::pid_t);

    impl Sleeper {
        fn new() -> Self {
            // SAFETY: the child sleeps, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: as above.
                unsafe {
                    libc::sleep(60);
                    libc::_exit(0)
                }
            }
            assert!(child > 0);
            Self(child)
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            // SAFETY: it is this process's child, which no other code has waited for.
            unsafe {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }

    /// Whether the last copy of the other end is closed within so many milliseconds.
    fn is_closed(reader: &PipeReader, within: i32) -> bool {
        let mut poll = libc::pollfd {
            fd: reader.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: there is one.
        let ready = unsafe { libc::poll(&raw mut poll, 1, within) };
        ready == 1 && (&mut &*reader).read(&mut [0]).unwrap() == 0
    }

    #[test]
    fn a_child_of_a_fork_has_no_copy_of_a_boards_file() {
        at_exit();
        let (reader, writer) = pipe().unwrap();
        let own = Own::new(writer.as_fd()).unwrap();
        let child = Sleeper::new();
        drop(own);
        drop(writer);
        assert!(is_closed(&reader, 20_000), "the child keeps the file");
        drop(child);
        // A process that gets a file on purpose keeps it: the parent waits for a tool that programs the FPGA.
        let (reader, writer) = pipe().unwrap();
        let handed = writer.try_clone().unwrap();
        let own = Own::new(writer.as_fd()).unwrap();
        let child = Sleeper::new();
        drop(own);
        drop((writer, handed));
        assert!(
            !is_closed(&reader, 500),
            "the child has lost the file that it inherited"
        );
        drop(child);
        assert!(is_closed(&reader, 20_000));
    }

    #[test]
    fn a_thread_that_opens_a_board_may_fork() {
        at_exit();
        let begin = Instant::now();
        let moving = Moving::begin();
        drop(Sleeper::new());
        drop(moving);
        assert!(begin.elapsed() < LIMIT, "it has waited for itself");
    }

    #[test]
    fn a_place_is_free_again() {
        let (_reader, writer) = pipe().unwrap();
        for _ in 0..2 * PLACES {
            let own = Own::new(writer.as_fd());
            assert!(own.is_some());
        }
    }
}
