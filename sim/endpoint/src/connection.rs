//! Ending the server's connection from outside.
//!
//! The crate's server accepts a client itself and does not share the stream. But the stream is a file descriptor of
//! this process: the one whose own end has the socket's path and that has a peer, which the listening socket does not
//! have.

use std::fs;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Duplicates the descriptor of an open file that may be a socket.
fn duplicate(number: RawFd) -> Option<UnixStream> {
    // SAFETY: the descriptor is only used for duplicating it. If another thread closed the number since it was listed,
    // that fails, or returns a descriptor of another open file, which is recognized before it is used.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let owned: OwnedFd = borrowed.try_clone_to_owned().ok()?;
    Some(UnixStream::from(owned))
}

/// Shuts down the connections that were accepted at a socket's path.
pub(crate) fn shut_down(path: &Path) {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // Listed before any descriptor is duplicated.
    let numbers: Vec<RawFd> = numbers.collect();
    for stream in numbers.into_iter().filter_map(duplicate) {
        let ours =
            (stream.local_addr().ok()).is_some_and(|address| address.as_pathname() == Some(path));
        if ours && stream.peer_addr().is_ok() {
            // The connection may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_what_was_accepted_there_goes_down() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| dir.path().join(name));
        let listeners = paths
            .each_ref()
            .map(|path| UnixListener::bind(path).unwrap());
        let clients = paths
            .each_ref()
            .map(|path| UnixStream::connect(path).unwrap());
        let _accepted = listeners
            .each_ref()
            .map(|listener| listener.accept().unwrap());
        shut_down(&paths[0]);
        let [mut down, mut up] = clients;
        assert_eq!(down.read(&mut [0]).unwrap(), 0);
        up.set_nonblocking(true).unwrap();
        let error = up.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        // The listener still listens.
        UnixStream::connect(&paths[0]).unwrap();
    }
}
