//! Other processes: children that run a function, and the signals and files that are passed between them.

use anyhow::{Context, Result, bail, ensure};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A child process. It is killed when the value is dropped without waiting for it.
#[derive(Debug)]
pub struct Child {
    pid: Option<Pid>,
}

/// Runs a function in a child that shares the files and mappings that this process has at the moment.
pub fn fork(what: &'static str, run: impl FnOnce() -> Result<()>) -> Result<Child> {
    // SAFETY: the program has one thread, so the child may do anything that the parent may.
    let pid = unsafe { libc::fork() };
    ensure!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if let Some(pid) = Pid::from_raw(pid) {
        return Ok(Child { pid: Some(pid) });
    }
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    let code = match result {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            println!("{what}: {error:#}");
            1
        }
        Err(_) => 2,
    };
    // SAFETY: always. The child must not run the parent's destructors.
    unsafe { libc::_exit(code) }
}

impl Child {
    fn status(&mut self, options: WaitOptions) -> Result<Option<WaitStatus>> {
        let pid = self.pid.context("waited for twice")?;
        let status = rustix::process::waitpid(Some(pid), options)?.map(|(_, status)| status);
        if status.is_some() {
            self.pid = None;
        }
        Ok(status)
    }

    /// Waits for the child, which must end well.
    pub fn wait(mut self) -> Result<()> {
        match self.status(WaitOptions::empty())? {
            Some(status) if status.exit_status() == Some(0) => Ok(()),
            Some(status) => bail!("the child ended with {status:?}"),
            None => bail!("waitpid has nothing to say"),
        }
    }

    /// Waits until the child ends in any way; returns `None` if it has not ended after `limit`.
    pub fn wait_for(&mut self, limit: Duration) -> Result<Option<WaitStatus>> {
        let begin = Instant::now();
        loop {
            let status = self.status(WaitOptions::NOHANG)?;
            if status.is_some() || begin.elapsed() > limit {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the child's process number.
    pub fn id(&self) -> Result<i32> {
        Ok(self.pid.context("it has ended")?.as_raw_nonzero().get())
    }

    /// Sends the child a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.pid.context("it has ended")?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }

    /// Kills the child, and waits until it has ended.
    pub fn kill(mut self) -> Result<()> {
        if let Some(pid) = self.pid {
            rustix::process::kill_process(pid, Signal::KILL)?;
        }
        ensure!(
            self.wait_for(Duration::from_secs(30))?.is_some(),
            "a killed process is still there after 30 s"
        );
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            let _ = self.wait_for(Duration::from_secs(30));
        }
    }
}

/// Makes two ends: a byte, or a file, that is sent at one is received at the other.
pub fn pair() -> Result<(Peer, Peer)> {
    let (a, b) = UnixStream::pair()?;
    for end in [&a, &b] {
        end.set_read_timeout(Some(Duration::from_secs(60)))?;
    }
    Ok((Peer(a), Peer(b)))
}

/// One end of a [`pair`].
#[derive(Debug)]
pub struct Peer(UnixStream);

impl Peer {
    /// Signals that a point is reached.
    pub fn signal(&self) -> Result<()> {
        (&self.0).write_all(&[1])?;
        Ok(())
    }

    /// Waits until the other end has signalled.
    pub fn wait(&self) -> Result<()> {
        let mut byte = [0];
        (&self.0)
            .read_exact(&mut byte)
            .context("the other process does not say that it is ready")
    }

    /// Sends a number.
    pub fn send_number(&self, number: i32) -> Result<()> {
        (&self.0).write_all(&number.to_ne_bytes())?;
        Ok(())
    }

    /// Receives a number.
    pub fn receive_number(&self) -> Result<i32> {
        let mut bytes = [0; 4];
        (&self.0).read_exact(&mut bytes)?;
        Ok(i32::from_ne_bytes(bytes))
    }

    /// Sends an open file.
    pub fn send(&self, file: impl AsFd) -> Result<()> {
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        ensure!(
            control.push(SendAncillaryMessage::ScmRights(&files)),
            "no room for a file"
        );
        let data = [IoSlice::new(&[1])];
        rustix::net::sendmsg(&self.0, &data, &mut control, SendFlags::empty())?;
        Ok(())
    }

    /// Receives an open file.
    pub fn receive(&self) -> Result<OwnedFd> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let mut data = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(&self.0, &mut data, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut files) = message {
                return files.next().context("a message without a file");
            }
        }
        bail!("a message without files")
    }
}

/// Makes this process one of a user without privileges.
pub fn become_nobody() -> Result<()> {
    /// `nobody` of Debian's base-passwd.
    const NOBODY: u32 = 65534;
    become_user(NOBODY)
}

/// Makes this process one of the user with this number.
pub fn become_user(id: u32) -> Result<()> {
    // SAFETY: plain system calls.
    let failed = unsafe { libc::setgid(id) != 0 || libc::setuid(id) != 0 };
    ensure!(!failed, "setuid: {}", std::io::Error::last_os_error());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, SealFlags, memfd_create};

    // One test: the program must have only one thread when it forks. This test harness has several, so the children
    // here only do what is safe after a fork of many threads.
    #[test]
    fn children_end_and_files_are_passed() {
        let (ours, theirs) = pair().unwrap();
        let child = fork("sender", || {
            let file = memfd_create("sent", MemfdFlags::ALLOW_SEALING)?;
            rustix::fs::fcntl_add_seals(&file, SealFlags::GROW)?;
            theirs.send(&file)
        })
        .unwrap();
        let file = ours.receive().unwrap();
        assert_eq!(rustix::fs::fcntl_get_seals(&file).unwrap(), SealFlags::GROW);
        child.wait().unwrap();

        let mut sleeper = fork("sleeper", || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        })
        .unwrap();
        let early = sleeper.wait_for(Duration::from_millis(20)).unwrap();
        assert!(early.is_none());
        sleeper.kill().unwrap();
    }
}
