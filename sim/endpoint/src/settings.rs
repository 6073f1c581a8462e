//! Settings of the block, in its registers.

use peerlane_core::regs::{chan, csr};
use peerlane_sim::{Board, Space};

use crate::Handle;
use crate::error::Result;

/// Registers of the whole block that only change by a write, or never.
const OF_THE_BLOCK: [usize; 14] = [
    csr::MAP_ID,
    csr::BUILD_ID,
    csr::CAPS0,
    csr::CAPS1,
    csr::CAPS2,
    csr::CONTROL,
    csr::PORT_TIMEOUT,
    csr::PORT_PACE,
    csr::ATT_OWNER_LO,
    csr::ATT_OWNER_HI,
    csr::ATT_FLUSH_LO,
    csr::ATT_FLUSH_HI,
    csr::WINDOW_LO,
    csr::WINDOW_HI,
];

/// Such registers of a channel.
const OF_A_CHANNEL: [usize; 6] = [
    csr::CHANNEL_CONTROL,
    csr::CHANNEL_MODERATION,
    csr::CHANNEL_RING_LO,
    csr::CHANNEL_RING_HI,
    csr::CHANNEL_MEM_BASE,
    csr::CHANNEL_MEM_END,
];

fn read(board: &mut Board) -> peerlane_sim::Result<Vec<u32>> {
    let mut found = Vec::new();
    for register in OF_THE_BLOCK {
        found.push(board.bar_read32(Space::Csr, register as u64)?);
    }
    let channels = (found[2] & csr::CAPS0_CHANNELS_MASK) >> csr::CAPS0_CHANNELS_LSB;
    let selected = board.bar_read32(Space::Csr, csr::CHANNEL_SELECT as u64)?;
    for channel in 0..channels {
        board.bar_write32(Space::Csr, csr::CHANNEL_SELECT as u64, channel)?;
        for register in OF_A_CHANNEL {
            found.push(board.bar_read32(Space::Csr, register as u64)?);
        }
        // Descriptors and doorbells from another source would be visible here.
        let page = u64::from(channel) * chan::SIZE as u64;
        for register in [chan::QUEUE_FREE, chan::REFUSED] {
            found.push(board.bar_read32(Space::Chan, page + register as u64)?);
        }
    }
    board.bar_write32(Space::Csr, csr::CHANNEL_SELECT as u64, selected)?;
    Ok(found)
}

impl Handle {
    /// Returns the settings in the registers of block and channels. They stay the same while no process uses the board.
    /// The registers are read between two accesses of the guest; the selected channel stays selected, too.
    ///
    /// # Errors
    /// [`Error::Gone`](crate::Error::Gone); if the simulated block does not answer.
    pub fn settings(&self) -> Result<Vec<u32>> {
        Ok(self.with_board(read)??)
    }
}
