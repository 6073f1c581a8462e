//! A board whose program has ended is free, also while its children live: they have no copy of the device's file.

#[path = "../benches/quick/mod.rs"]
mod quick;

use peerlane_mmd_core::{Flavour, Mmd};
use quick::{One, Quick};
use std::io::{PipeReader, Read, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// The other end of the pipe that takes the place of the device's file.
static OTHER: Mutex<Option<PipeReader>> = Mutex::new(None);

fn file() -> Option<OwnedFd> {
    let (reader, writer) = pipe().unwrap();
    *OTHER.lock().unwrap() = Some(reader);
    Some(writer.into())
}

/// Whether the last copy of the file is closed within so many milliseconds.
fn is_closed(within: i32) -> bool {
    let mut other = OTHER.lock().unwrap();
    let reader = other.as_mut().unwrap();
    let mut poll = libc::pollfd {
        fd: reader.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: there is one.
    let ready = unsafe { libc::poll(&raw mut poll, 1, within) };
    ready == 1 && reader.read(&mut [0]).unwrap() == 0
}

/// One test at a time: a child has copies of all files.
static ALONE: Mutex<()> = Mutex::new(());

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

/// The thread that forks during a call.
static FORKER: Mutex<Option<JoinHandle<Sleeper>>> = Mutex::new(None);

/// Makes another thread fork, and gives it the time for that.
fn fork_meanwhile() {
    let (begun, begins) = channel();
    let forker = std::thread::spawn(move || {
        begun.send(()).unwrap();
        Sleeper::new()
    });
    begins.recv().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    *FORKER.lock().unwrap() = Some(forker);
}

/// Returns the child.
fn forked() -> Sleeper {
    let forker = FORKER.lock().unwrap().take();
    forker.unwrap().join().unwrap()
}

fn open(mmd: &Mmd) -> i32 {
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"quick0".as_ptr()) };
    assert!(handle >= 0);
    handle
}

#[test]
fn a_child_of_a_fork_does_not_keep_the_board() {
    let _alone = ALONE.lock();
    let mmd = Mmd::new(Flavour::TOOL, One(Quick::default(), file));
    let handle = open(&mmd);
    let child = Sleeper::new();
    assert!(!is_closed(1000), "the parent has it");
    assert_eq!(mmd.close(handle), 0);
    assert!(is_closed(20_000), "the child keeps it");
    drop(child);
}

#[test]
fn nor_does_one_that_is_made_while_the_board_is_opened() {
    let _alone = ALONE.lock();
    let file = || {
        let file = file();
        fork_meanwhile();
        file
    };
    let mmd = Mmd::new(Flavour::TOOL, One(Quick::default(), file));
    let handle = open(&mmd);
    let child = forked();
    assert_eq!(mmd.close(handle), 0);
    assert!(is_closed(20_000), "the child keeps it");
    drop(child);
}

#[test]
fn nor_does_one_that_is_made_while_the_board_is_closed() {
    let _alone = ALONE.lock();
    let mut quick = Quick::default();
    quick.given_back = fork_meanwhile;
    let mmd = Mmd::new(Flavour::TOOL, One(quick, file));
    let handle = open(&mmd);
    assert_eq!(mmd.close(handle), 0);
    let child = forked();
    assert!(is_closed(20_000), "the child keeps it");
    drop(child);
}
