// SPDX-License-Identifier: GPL-2.0

//! The bytes that the board reads from a peer's memory.
//!
//! Many platforms pass writes between peers, but refuse reads or never answer them. Others send them elsewhere and
//! report no error (aws-fpga, issue 553): the board cannot tell such bytes from data. So the board reads a few bytes,
//! and the driver shows them to the caller for comparison. Where reads depend on it, the driver has already seen that
//! the peer answers ([`crate::peers`]).

use crate::{
    context::Context,
    events::Deadline,
    gate::Inside,
    logic::{
        descriptor::{Control, Direction},
        orders::Beside,
        record::Record,
        uapi::{Probe, PROBE_BYTES},
    },
    mapping::Mapping,
    queue::Order,
    scratch::Scratch,
};
use kernel::{prelude::*, time::Delta};

const LENGTH: u32 = PROBE_BYTES as u32;

impl Context {
    /// Reads a little of a region into FPGA memory, and from there into memory of the driver.
    pub(crate) fn probe(&self, inside: &Inside<'_>, arguments: &mut Probe) -> Result {
        let peer = self.regions.lock().get(arguments.handle)?.mapping().clone();
        let read = self.probe_step(&peer, Direction::ToFpga, arguments.offset, arguments.local)?;
        if let Err(fault) = read.outcome {
            arguments.status = fault.code().raw();
            return Ok(());
        }
        let scratch = Scratch::new(inside, self)?;
        let write = self.probe_step(scratch.mapping(), Direction::FromFpga, 0, arguments.local)?;
        write.outcome.map_err(|_| EIO)?;
        arguments.data = scratch.read(0);
        arguments.status = 0;
        Ok(())
    }

    fn probe_step(
        &self,
        mapping: &Mapping,
        direction: Direction,
        offset: u64,
        local: u64,
    ) -> Result<Record> {
        let order = Order {
            direction,
            offset,
            local,
            length: LENGTH,
            control: Control {
                // Even if the process moderates its interrupts.
                urgent: true,
                ..Control::default()
            },
        };
        let cookie = self.order(&self.submission.lock(), mapping, Beside::default(), order)?;
        let patience = Delta::from_millis(i64::from(self.board.settings.patience_ms));
        self.end(direction, cookie, Deadline::after(patience))
    }
}
