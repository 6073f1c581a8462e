//! The process of QEMU, and the files that it leaves.

use std::{
    fs::{self, File},
    io,
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{Error, Log, Result, error::io_error};

/// Interval in which a wait looks for changes.
const POLL: Duration = Duration::from_millis(10);

/// A running QEMU. It is killed on drop.
#[derive(Debug)]
pub(crate) struct Emulator {
    child: Child,
    work: TempDir,
    start: Instant,
    deadline: Duration,
}

impl Emulator {
    /// Starts `command`, whose files are in `work`, and lets it run for `deadline`.
    pub(crate) fn start(mut command: Command, work: TempDir, deadline: Duration) -> Result<Self> {
        let said = work.path().join(SAID);
        let output = File::create(&said).map_err(io_error("create", &said))?;
        let also = output.try_clone().map_err(io_error("open", &said))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(also)
            .spawn()
            .map_err(io_error("run", command.get_program()))?;
        Ok(Self {
            child,
            work,
            start: Instant::now(),
            deadline,
        })
    }

    /// Accepts the connection that QEMU makes while it starts.
    pub(crate) fn accept(&mut self, listener: &UnixListener) -> Result<UnixStream> {
        let accept = || -> io::Result<Option<UnixStream>> {
            listener.set_nonblocking(true)?;
            match listener.accept() {
                Ok((stream, _)) => stream.set_nonblocking(false).map(|()| Some(stream)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                Err(error) => Err(error),
            }
        };
        loop {
            match accept() {
                Ok(Some(stream)) => return Ok(stream),
                Ok(None) => {}
                Err(error) => return Err(io_error("accept QEMU in", self.work.path())(error)),
            }
            if let Some(status) = self.ended()? {
                return Err(self.failure(format!("did not start: {status}")));
            }
            self.check_deadline()?;
            thread::sleep(POLL);
        }
    }

    /// Waits until QEMU ends.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            self.check_deadline()?;
            thread::sleep(POLL);
        }
    }

    /// Fails when the time is up.
    pub(crate) fn check_deadline(&self) -> Result<()> {
        if self.start.elapsed() < self.deadline {
            return Ok(());
        }
        Err(Error::Deadline {
            seconds: self.deadline.as_secs(),
            output: self.output(),
        })
    }

    /// Returns the console as it is now.
    pub(crate) fn log(&self) -> Log {
        let read = |path| fs::read(path).unwrap_or_default();
        Log::new(
            &read(self.console()),
            &read(self.work.path().join(UNANSWERED)),
        )
    }

    /// Returns the end of the first occurrence of `text` on the console, at `from` or later.
    pub(crate) fn shown(&self, text: &str, from: usize) -> Option<usize> {
        let console = fs::read(self.console()).unwrap_or_default();
        let mut places = console.get(from..)?.windows(text.len());
        let place = places.position(|part| part == text.as_bytes())?;
        Some(from + place + text.len())
    }

    /// Returns QEMU's own output, and the end of the console.
    pub(crate) fn output(&self) -> String {
        let said = fs::read(self.work.path().join(SAID)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said: Vec<&str> = said
            .lines()
            // The emulated processor is not complete, which every start reports.
            .filter(|line| !line.contains("TCG doesn't support requested feature"))
            .collect();
        format!("{}\n{}", said.join("\n"), self.log().end())
    }

    pub(crate) fn failure(&self, what: String) -> Error {
        Error::Qemu {
            what,
            output: self.output(),
        }
    }

    fn console(&self) -> PathBuf {
        self.work.path().join(CONSOLE)
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>> {
        let work = self.work.path();
        self.child
            .try_wait()
            .map_err(io_error("wait for QEMU in", work))
    }
}

/// Name of the file of the machine's first serial port, in the working directory.
pub(crate) const CONSOLE: &str = "console";
/// Name of the file of accesses that no device took, in the working directory.
pub(crate) const UNANSWERED: &str = "unanswered";
/// Name of the file of QEMU's own output, in the working directory.
const SAID: &str = "qemu";

impl Drop for Emulator {
    fn drop(&mut self) {
        // QEMU may have ended by itself; then neither call has an effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the machine's console:\n{}", self.output());
        }
    }
}
