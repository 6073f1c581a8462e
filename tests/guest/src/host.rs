//! The line to the harness.

use anyhow::{Context, Result, bail};
use peerlane_guest::{Allowed, Counters, Fault, Reply, Request, Stretch};
use rustix::fs::FlockOperation;
use rustix::termios::{self, OptionalActions};
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

/// Environment variable: the serial port, or another file that goes both ways.
pub const CONTROL: &str = "PEERLANE_CONTROL";

/// The line to the harness. Each question opens it for itself, so that processes take turns.
#[derive(Debug, Clone)]
pub struct Host {
    path: PathBuf,
}

impl Host {
    /// The line that the environment names, or the second serial port.
    pub fn new() -> Self {
        let path = std::env::var_os(CONTROL);
        Self {
            path: path.map_or_else(|| "/dev/ttyS1".into(), PathBuf::from),
        }
    }

    fn ask(&self, request: &Request) -> Result<Reply> {
        let name = self.path.display();
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(&self.path)
            .with_context(|| format!("cannot open {name}, the line to the harness"))?;
        // Held until the file is closed: nobody asks between our question and its answer.
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        if let Ok(mut settings) = termios::tcgetattr(&file) {
            settings.make_raw();
            termios::tcsetattr(&file, OptionalActions::Now, &settings)?;
        }
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        file.write_all(&line)?;
        line.clear();
        let mut byte = [0];
        loop {
            file.read_exact(&mut byte)
                .with_context(|| format!("{name} ends"))?;
            match byte[0] {
                b'\n' => break,
                byte => line.push(byte),
            }
        }
        let text = String::from_utf8_lossy(&line);
        match serde_json::from_slice(&line).with_context(|| format!("the harness said `{text}`"))? {
            Reply::Failed(reason) => bail!("the harness: {reason}"),
            reply => Ok(reply),
        }
    }

    fn order(&self, request: &Request) -> Result<()> {
        match self.ask(request)? {
            Reply::Done {} => Ok(()),
            other => bail!("the harness answered {other:?} to {request:?}"),
        }
    }

    /// Fills FPGA memory.
    pub fn fpga_write(&self, address: u64, seed: u64, length: u64) -> Result<()> {
        self.order(&Request::FpgaWrite(Stretch {
            address,
            seed,
            length,
        }))
    }

    /// Compares FPGA memory.
    pub fn fpga_check(&self, address: u64, seed: u64, length: u64) -> Result<()> {
        let stretch = Stretch {
            address,
            seed,
            length,
        };
        match self.ask(&Request::FpgaCheck(stretch))? {
            Reply::Compared { differs: None } => Ok(()),
            Reply::Compared {
                differs: Some(byte),
            } => bail!("FPGA memory differs at {address:#x} + {byte:#x} of {length:#x} bytes"),
            other => bail!("the harness answered {other:?} to a comparison"),
        }
    }

    /// Has the board fail.
    pub fn fault(&self, fault: Fault) -> Result<()> {
        self.order(&Request::Fault(fault))
    }

    /// What the board has counted.
    pub fn counters(&self) -> Result<Counters> {
        match self.ask(&Request::Status {})? {
            Reply::Status(counters) => Ok(counters),
            other => bail!("the harness answered {other:?} to a question for counters"),
        }
    }

    /// What the board may touch from now on; an error if it touched something else before.
    pub fn allow(&self, ranges: Vec<Allowed>) -> Result<()> {
        match self.ask(&Request::Allow(ranges))? {
            Reply::Strayed { access: None } => Ok(()),
            Reply::Strayed {
                access: Some(access),
            } => bail!("the board touched what was not its own: {access}"),
            other => bail!("the harness answered {other:?} to a list of ranges"),
        }
    }

    /// Writes into the test's log.
    pub fn log(&self, text: impl Into<String>) -> Result<()> {
        self.order(&Request::Log(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that gives back what is written to it stands for a harness that is not one.
    #[test]
    fn what_is_no_answer_is_an_error() {
        let host = Host {
            path: "/dev/null".into(),
        };
        let error = host.log("text").unwrap_err();
        assert!(error.to_string().contains("/dev/null ends"), "{error}");
        let host = Host {
            path: "/no/such/port".into(),
        };
        let error = host.counters().unwrap_err();
        assert!(error.to_string().contains("line to the harness"), "{error}");
    }
}
