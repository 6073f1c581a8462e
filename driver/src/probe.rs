// SPDX-License-Identifier: GPL-2.0

//! Finding out whether the board can read a peer's memory.
//!
//! Many platforms pass writes between peers, but refuse reads or never answer them. Software sees ones for a
//! refused read, and `Txs` carries no status that would tell them from data. So the board reads a few bytes,
//! and the driver shows them to the caller, who knows what they should be.

use crate::{
    context::Context,
    dma::DmaPages,
    events::Deadline,
    gate::Inside,
    logic::{
        att::Permissions,
        descriptor::{Control, Direction},
        kept::Kind,
        layout::Segment,
        record::Record,
        uapi::{Probe, PROBE_BYTES},
    },
    mapping::Mapping,
    queue::Order,
};
use kernel::{page::PAGE_SIZE, prelude::*, time::Delta};

const LENGTH: u32 = PROBE_BYTES as u32;

impl Context {
    /// Reads a little of a region into FPGA memory, and from there into memory of the driver.
    ///
    /// The channel owns that memory's entry, too. No descriptor of the process reaches it: once
    /// the first order was taken the driver alone writes the channel's descriptors, for good, and
    /// what a process submits goes to regions that have a handle. So the scratch comes second.
    pub(crate) fn probe(&self, inside: &Inside<'_>, arguments: &mut Probe) -> Result {
        let peer = self.regions.lock().get(arguments.handle)?.mapping().clone();
        let read = self.probe_step(&peer, Direction::Read, arguments.offset, arguments.local)?;
        if let Err(fault) = read.outcome {
            arguments.status = fault.code().raw();
            return Ok(());
        }
        let scratch = DmaPages::new(inside.device(), PAGE_SIZE)?;
        let (board, events) = (self.board.clone(), self.events.clone());
        let own = Mapping::new(board, events, self.channel, Kind::Host)?;
        let written = self.read_back(arguments.local, &own, &scratch);
        // Only then may the scratch go.
        Mapping::retire(&self.board, core::iter::once(&own));
        arguments.data = written?;
        arguments.status = 0;
        Ok(())
    }

    fn read_back(
        &self,
        local: u64,
        own: &Mapping,
        scratch: &DmaPages,
    ) -> Result<[u8; PROBE_BYTES]> {
        let mut segments = KVVec::new();
        segments.push(
            Segment {
                address: scratch.address(),
                length: PAGE_SIZE as u64,
            },
            GFP_KERNEL,
        )?;
        own.place(segments, 0, PROBE_BYTES as u64, Permissions::Write)?;
        // A restart of the board does not find it, but ends the transfer.
        own.publish()?;
        let write = self.probe_step(own, Direction::Write, 0, local)?;
        write.outcome.map_err(|_| EIO)?;
        // SAFETY: so many bytes are there, and the board has written them.
        Ok(unsafe { scratch.start().cast::<[u8; PROBE_BYTES]>().read_volatile() })
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
                // However the process has its interrupts held back.
                urgent: true,
                ..Control::default()
            },
        };
        let cookie = self.order(&self.submission.lock(), mapping, order)?;
        let patience = Delta::from_millis(i64::from(self.board.settings.patience_ms));
        self.end(direction, cookie, Deadline::after(patience))
    }
}
