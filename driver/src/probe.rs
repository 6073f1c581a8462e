// SPDX-License-Identifier: GPL-2.0

//! Finding out whether the board can read a peer's memory.
//!
//! Many platforms pass writes between peers and refuse reads, or never answer them. Software sees
//! a refused read as ones, and `Txs` carries no status that would tell them from data. So a
//! little is read, and shown to the caller, who knows what should be there.

use crate::{
    context::Context,
    dma::DmaPages,
    gate::Inside,
    logic::{
        att::Permissions,
        descriptor::{Control, Direction},
        kept::Kind,
        layout::Segment,
        uapi::{Probe, PROBE_BYTES},
    },
    mapping::Mapping,
    queue::Order,
};
use kernel::{page::PAGE_SIZE, prelude::*, time::msecs_to_jiffies};

const LENGTH: u32 = PROBE_BYTES as u32;

impl Context {
    /// Reads a little of a region into FPGA memory, and from there into memory of the driver.
    pub(crate) fn probe(&self, inside: &Inside<'_>, arguments: &mut Probe) -> Result {
        let peer = self.regions.lock().get(arguments.handle)?.mapping().clone();
        let scratch = DmaPages::new(inside, PAGE_SIZE)?;
        let (board, events) = (self.board.clone(), self.events.clone());
        let own = Mapping::new(board, events, self.channel, Kind::Host)?;
        let result = self.read_back(arguments, &peer, &own, &scratch);
        // Only then may the scratch go.
        Mapping::retire(&self.board, core::iter::once(&own));
        result
    }

    fn read_back(
        &self,
        arguments: &mut Probe,
        peer: &Mapping,
        own: &Mapping,
        scratch: &DmaPages,
    ) -> Result {
        let mut segments = KVVec::new();
        segments.push(
            Segment {
                address: scratch.address(),
                length: PAGE_SIZE as u64,
            },
            GFP_KERNEL,
        )?;
        own.place(segments, 0, PROBE_BYTES as u64, Permissions::Write)?;
        let limit = msecs_to_jiffies(self.board.settings.patience_ms);
        let order = |mapping: &Mapping, direction, offset| {
            let order = Order {
                direction,
                offset,
                local: arguments.local,
                length: LENGTH,
                control: Control::default(),
            };
            let cookie = self.order(mapping, order)?;
            self.end(direction, cookie, limit)
        };
        let read = order(peer, Direction::Read, arguments.offset)?;
        if let Err(fault) = read.outcome {
            arguments.status = fault.code().raw();
            return Ok(());
        }
        order(own, Direction::Write, 0)?.outcome.map_err(|_| EIO)?;
        arguments.status = 0;
        // SAFETY: so many bytes are there, and the board has written them.
        arguments.data = unsafe { scratch.start().cast::<[u8; PROBE_BYTES]>().read_volatile() };
        Ok(())
    }
}
