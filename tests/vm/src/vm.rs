//! A running machine, and the conversation with the programs in it.

use std::{
    collections::VecDeque,
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Error, Log, Machine, Qmp, Result,
    emulator::{CONSOLE, Emulator, UNANSWERED},
    error::io_error,
    files::Files,
    machine::{Parts, Step},
};

/// Interval in which a wait for a question checks the machine itself.
const POLL: Duration = Duration::from_millis(500);
/// Text that the kernel prints when it cannot continue; a machine that may reboot would try again.
const PANIC: &str = "Kernel panic";

/// A running machine. It is killed on drop.
#[derive(Debug)]
pub struct Vm {
    emulator: Emulator,
    control: BufReader<UnixStream>,
    qmp: Qmp,
    expected: Vec<String>,
    steps: VecDeque<Step>,
    /// The end, on the console, of the text of the last step.
    seen: usize,
}

/// Message of `init` when the script has ended.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptEnd {
    script: i32,
}

impl Machine {
    /// Starts the machine.
    ///
    /// # Errors
    /// If QEMU does not start or does not take the devices, and for file errors.
    pub fn start(self) -> Result<Vm> {
        Vm::start(self)
    }
}

impl Vm {
    fn start(machine: Machine) -> Result<Self> {
        let work = tempfile::tempdir().map_err(io_error("create a directory in", "TMPDIR"))?;
        let path = |name: &str| work.path().join(name);
        let files = Files {
            initramfs: path(match machine.has_disk() {
                true => "disk/initramfs",
                false => "initramfs",
            }),
            console: path(CONSOLE),
            control: path("control"),
            qmp: path("qmp"),
            unanswered: path(UNANSWERED),
            disk: path("disk"),
            variables: path("variables"),
        };
        let command = machine.command(&files);
        machine.fill_disk(&files)?;
        let Parts {
            archive,
            expected,
            deadline,
            steps,
        } = machine.into_parts()?;
        fs::write(&files.initramfs, archive).map_err(io_error("write", &files.initramfs))?;
        let listen = |path| UnixListener::bind(path).map_err(io_error("listen at", path));
        let (control_listener, qmp_listener) = (listen(&files.control)?, listen(&files.qmp)?);
        let mut emulator = Emulator::start(command, work, deadline)?;
        let control = emulator.accept(&control_listener)?;
        let qmp = emulator.accept(&qmp_listener)?;
        control
            .set_read_timeout(Some(POLL))
            .and_then(|()| qmp.set_read_timeout(Some(deadline)))
            .map_err(io_error("set up", &files.control))?;
        let qmp = Qmp::new(qmp).map_err(|_| emulator.failure("did not start".to_owned()))?;
        Ok(Self {
            emulator,
            control: BufReader::new(control),
            qmp,
            expected,
            steps,
            seen: 0,
        })
    }

    /// Answers the questions of programs in the machine (`peerlane_guest::Control`) until it is off, and returns the
    /// output on its console. During a question the handler may use the machine's outside.
    ///
    /// # Errors
    /// If the script failed, the kernel complained, the machine ended or hangs; and if a question is not of type `Q`.
    pub fn run<Q: DeserializeOwned, A: Serialize>(
        mut self,
        mut handler: impl FnMut(&mut Qmp, Q) -> A,
    ) -> Result<Log> {
        let mut status = None;
        while let Some(line) = self.line()? {
            if let Ok(ScriptEnd { script }) = serde_json::from_str(&line) {
                status = Some(script);
                continue;
            }
            let question = serde_json::from_str(&line).map_err(|error| Error::Question {
                question: line,
                reason: error.to_string(),
            })?;
            let answer = handler(&mut self.qmp, question);
            if !self.qmp.was_reset() {
                self.answer(&answer)?;
            }
        }
        let ended = self.emulator.wait()?;
        let log = self.emulator.log();
        let output = || self.emulator.output();
        self.check_kernel(&log)?;
        match status {
            Some(0) if ended.success() => Ok(log),
            Some(status) if status != 0 => Err(Error::Script {
                status,
                output: output(),
            }),
            _ => Err(self
                .emulator
                .failure(format!("ended before the machine's script did: {ended}"))),
        }
    }

    /// Returns the next line from the machine; `None` when QEMU has ended.
    fn line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            match self.control.read_until(b'\n', &mut line) {
                Ok(_) if line.last() == Some(&b'\n') => {
                    return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
                }
                Ok(_) => return Ok(None),
                // The part that was read so far stays in `line`.
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(broken(error)),
            }
            self.emulator.check_deadline()?;
            let log = self.emulator.log();
            if log.console().contains(PANIC) {
                self.check_kernel(&log)?;
            }
            self.step()?;
        }
    }

    /// Takes the next step in front of the screen, if it is time.
    fn step(&mut self) -> Result<()> {
        match self.steps.front() {
            None => return Ok(()),
            Some(Step::Sees(text)) => match self.emulator.shown(text, self.seen) {
                None => return Ok(()),
                Some(end) => self.seen = end,
            },
            // One at a time: the keyboard stores few.
            Some(Step::Presses(key)) => self.qmp.press(key)?,
        }
        self.steps.pop_front();
        Ok(())
    }

    /// Fails if the kernel complained.
    fn check_kernel(&self, log: &Log) -> Result<()> {
        let complaints = log.complaints(&self.expected);
        if complaints.is_empty() {
            return Ok(());
        }
        Err(Error::Kernel {
            complaints: complaints.join("\n"),
            output: self.emulator.output(),
        })
    }

    fn answer(&self, answer: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(answer).map_err(|error| broken(error.into()))?;
        line.push(b'\n');
        let mut stream = self.control.get_ref();
        stream.write_all(&line).map_err(broken)
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn broken(error: io::Error) -> Error {
    io_error("talk to the machine over", "its serial port")(error)
}
