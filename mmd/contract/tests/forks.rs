//! A board whose program is gone is free, whatever children of it live: they have no copy of its file.

#[path = "../benches/quick/mod.rs"]
mod quick;

use peerlane_mmd_core::{Flavour, Mmd};
use quick::{One, Quick};
use std::io::{PipeReader, Read, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;

/// The other end of what stands for the device's file.
static OTHER: Mutex<Option<PipeReader>> = Mutex::new(None);

fn file() -> Option<OwnedFd> {
    let (reader, writer) = pipe().unwrap();
    *OTHER.lock().unwrap() = Some(reader);
    Some(writer.into())
}

/// Whether the last copy of the file is closed, within a moment.
fn is_closed() -> bool {
    let mut other = OTHER.lock().unwrap();
    let reader = other.as_mut().unwrap();
    let mut poll = libc::pollfd {
        fd: reader.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: there is one.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 1000) };
    ready == 1 && reader.read(&mut [0]).unwrap() == 0
}

#[test]
fn a_child_of_a_fork_does_not_keep_the_board() {
    let mmd = Mmd::new(Flavour::TOOL, One(Quick::default(), file));
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"quick0".as_ptr()) };
    assert!(handle >= 0);
    // SAFETY: the child sleeps, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe {
            libc::sleep(60);
            libc::_exit(0)
        }
    }
    assert!(!is_closed(), "the parent has it");
    assert_eq!(mmd.close(handle), 0);
    let closed = is_closed();
    // SAFETY: it is this process's child, which nobody has waited for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    assert!(closed, "the child keeps it");
}
