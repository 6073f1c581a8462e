//! The line to the harness.

use anyhow::{Context, Result, bail};
use peerlane_guest::{
    Allowed, Control, Counters, Fault, Figure, Programmed, Reply, Request, Stretch,
};

/// The board that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Board {
    /// The board of a machine with one.
    Only,
    /// The first of a machine with two boards: `peerlane0`, or that with the lower PCI address.
    First,
    /// The other one.
    Second,
}

/// The line to the harness. Each question takes the line for itself, so that processes take turns.
#[derive(Debug, Clone, Copy)]
pub struct Host(pub Board);

impl Host {
    fn ask(self, request: &Request) -> Result<Reply> {
        let mut control = Control::open().context("the line to the harness")?;
        let reply = match self.0 {
            Board::Only | Board::First => control.ask(request),
            Board::Second => control.ask(&Request::Second(Box::new(request.clone()))),
        };
        match reply.with_context(|| format!("the harness was asked {request:?}"))? {
            Reply::Failed(reason) => bail!("the harness: {reason}"),
            reply => Ok(reply),
        }
    }

    fn order(self, request: &Request) -> Result<()> {
        match self.ask(request)? {
            Reply::Done {} => Ok(()),
            other => bail!("the harness answered {other:?} to {request:?}"),
        }
    }

    /// Fills FPGA memory.
    pub fn fpga_write(self, address: u64, seed: u64, length: u64) -> Result<()> {
        self.order(&Request::FpgaWrite(Stretch {
            address,
            seed,
            length,
        }))
    }

    /// Has the logic at a stream offer words.
    pub fn feed(self, stream: u32, seed: u64, length: u64) -> Result<()> {
        self.order(&Request::Feed {
            stream,
            seed,
            length,
        })
    }

    /// Compares FPGA memory.
    pub fn fpga_check(self, address: u64, seed: u64, length: u64) -> Result<()> {
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

    /// Injects a fault into the board.
    pub fn fault(self, fault: Fault) -> Result<()> {
        self.order(&Request::Fault(fault))
    }

    /// Has the port above the board report an error, by QEMU's name of it.
    pub fn bus_error(self, name: &str) -> Result<()> {
        self.order(&Request::BusError(name.to_owned()))
    }

    /// Notifies the board's slot that the board is to be taken out.
    pub fn take_out(self) -> Result<()> {
        self.order(&Request::TakeOut {})
    }

    /// Puts the board into its slot again.
    pub fn put_in(self) -> Result<()> {
        self.order(&Request::PutIn {})
    }

    /// Returns the board's counters.
    pub fn counters(self) -> Result<Counters> {
        match self.ask(&Request::Status {})? {
            Reply::Status(counters) => Ok(counters),
            other => bail!("the harness answered {other:?} to a question for counters"),
        }
    }

    /// Returns the settings in the block's registers, which stay the same as long as no process uses the board.
    pub fn settings(self) -> Result<Vec<u32>> {
        match self.ask(&Request::Settings {})? {
            Reply::Settings(settings) => Ok(settings),
            other => bail!("the harness answered {other:?} to a question for settings"),
        }
    }

    /// Returns the results of configurations over PCIe.
    pub fn programmed(self, seed: u64, length: u64) -> Result<Programmed> {
        match self.ask(&Request::Programmed { seed, length })? {
            Reply::Programmed(programmed) => Ok(programmed),
            other => bail!("the harness answered {other:?} to a question for configurations"),
        }
    }

    /// Sets the memory that the board may touch from now on; fails if it touched other memory before.
    pub fn allow(self, ranges: Vec<Allowed>) -> Result<()> {
        match self.ask(&Request::Allow(ranges))? {
            Reply::Strayed { access: None } => Ok(()),
            Reply::Strayed {
                access: Some(access),
            } => bail!("the board accessed memory that was not its own: {access}"),
            other => bail!("the harness answered {other:?} to a list of ranges"),
        }
    }

    /// Reports a measured value.
    pub fn figure(self, name: &str, value: f64, unit: &str) -> Result<()> {
        self.order(&Request::Figure(Figure {
            name: name.into(),
            value,
            unit: unit.into(),
        }))
    }

    /// Writes into the test's log.
    pub fn log(self, text: impl Into<String>) -> Result<()> {
        self.order(&Request::Log(text.into()))
    }
}
