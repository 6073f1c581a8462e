//! Accesses of the host's processor to the board's BAR.

use crate::{
    board::Board,
    interconnect::Interconnect,
    link::FS_PER_NS,
    space::Space,
    violation::{Error, Result},
};

/// Cycles of `pcie_clk` that a host read, or a window access, may take.
pub(super) const PATIENCE: u64 = 1_000_000;

/// Target of an offset of the flat BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Slave(Space, u64),
    Window(u64),
}

impl Board {
    /// Returns the size of a slave in bytes; 0 if the design has none.
    pub fn space_size(&self, space: Space) -> u64 {
        self.slaves.size(space)
    }

    /// Writes a dword to a slave. The write is posted: it arrives while the board runs, in the order of all host
    /// accesses to the slaves.
    ///
    /// # Errors
    /// If the offset is not a multiple of 4 or not in the slave.
    pub fn bar_write32(&mut self, space: Space, offset: u64, value: u32) -> Result<()> {
        self.bar_write(space, offset, &[value])
    }

    /// Writes several dwords as one packet (a write-combined store of a descriptor).
    ///
    /// # Errors
    /// As [`Board::bar_write32`].
    pub fn bar_write(&mut self, space: Space, offset: u64, values: &[u32]) -> Result<()> {
        self.check_offset(space, offset, values.len() as u64 * 4)?;
        let due = self.pcie.host_write(self.now, values.len() as u32) + self.mmio_latency();
        self.slaves.write(due, space, offset, values, 15);
        Ok(())
    }

    /// Writes part of a dword: the bytes of `value` whose bit in `enable` (0 to 15) is set.
    ///
    /// # Errors
    /// As [`Board::bar_write32`].
    pub fn bar_write_bytes(
        &mut self,
        space: Space,
        offset: u64,
        value: u32,
        enable: u8,
    ) -> Result<()> {
        self.check_offset(space, offset, 4)?;
        let due = self.pcie.host_write(self.now, 1) + self.mmio_latency();
        self.slaves.write(due, space, offset, &[value], enable & 15);
        Ok(())
    }

    /// Writes bytes from any offset on as one packet: a wide store of the processor, which need not be aligned. It must
    /// not be longer than the smallest Max Payload Size, 128 bytes.
    ///
    /// # Errors
    /// If a part of it is not in the slave.
    pub fn bar_store(&mut self, space: Space, offset: u64, bytes: &[u8]) -> Result<()> {
        let first = offset & !3;
        let length = (offset - first + bytes.len() as u64).next_multiple_of(4);
        self.check_offset(space, first, length)?;
        let due = self.pcie.host_write(self.now, length as u32 / 4) + self.mmio_latency();
        self.slaves.store(due, space, offset, bytes);
        Ok(())
    }

    /// Reads a dword from a slave. Runs the board until the answer has come back; all earlier writes have arrived by
    /// then.
    ///
    /// # Errors
    /// As [`Board::bar_write32`] and [`Board::run`].
    pub fn bar_read32(&mut self, space: Space, offset: u64) -> Result<u32> {
        self.check_offset(space, offset, 4)?;
        let due = self.pcie.host_read(self.now) + self.mmio_latency();
        let number = self.slaves.read(due, space, offset);
        self.read_answer(number)
    }

    /// Runs until the answer of a read has come back.
    fn read_answer(&mut self, number: u64) -> Result<u32> {
        self.run_until(|board| board.slaves.answer(number).is_some(), PATIENCE)
            .map_err(|error| waited("a register read", error))?;
        let value = self.slaves.answer(number).unwrap_or(u32::MAX);
        self.answer_host()?;
        Ok(value)
    }

    /// Handles the answer to a host's read: runs until the host has it. Writes that left before it have landed by then.
    pub(super) fn answer_host(&mut self) -> Result<()> {
        let cycle = self.pcie_clk.cycles;
        let Some(txs) = &mut self.txs else {
            let back = self.pcie.host_answer(self.now) + self.mmio_latency();
            return self.run_until_time(back);
        };
        txs.bridge.answer_host(cycle);
        let answered = |board: &Self| board.txs.as_ref()?.bridge.host_answered();
        self.run_until(|board| answered(board).is_some(), PATIENCE)
            .map_err(|error| waited("the answer to a register read", error))?;
        let crossed = answered(self).unwrap_or(self.now);
        let back = (crossed + self.mmio_latency()).max(self.pcie.last_write_to_host());
        self.run_until_time(back)
    }

    /// Runs until this time, in femtoseconds.
    pub(super) fn run_until_time(&mut self, time: u64) -> Result<()> {
        self.run_until(|board| board.now >= time, PATIENCE)
            .map(|_| ())
    }

    /// Writes dwords and then reads one. All of them reach the slaves in consecutive cycles, as an interconnect may
    /// pass on accesses that it had to hold for a while.
    ///
    /// # Errors
    /// As [`Board::bar_read32`].
    pub fn bar_write_read(
        &mut self,
        writes: &[(Space, u64, u32)],
        space: Space,
        offset: u64,
    ) -> Result<u32> {
        self.check_offset(space, offset, 4)?;
        for (space, offset, _) in writes {
            self.check_offset(*space, *offset, 4)?;
        }
        for _ in writes {
            self.pcie.host_write(self.now, 1);
        }
        let due = self.pcie.host_read(self.now) + self.mmio_latency();
        for (space, offset, value) in writes {
            self.slaves.write(due, *space, *offset, &[*value], 15);
        }
        let number = self.slaves.read(due, space, offset);
        self.read_answer(number)
    }

    /// Returns whether the design gets the host's accesses as packets, also those to the rest of the board.
    pub(super) fn is_across(&mut self) -> bool {
        self.slaves.across_mut().is_some()
    }

    /// Writes the bytes of a dword at an offset of the BAR of a design that gets packets, and runs until the write was
    /// made.
    pub(super) fn write_across(&mut self, offset: u64, value: u32, enable: u8) -> Result<()> {
        let due = self.pcie.host_write(self.now, 1) + self.mmio_latency();
        if let Some(across) = self.slaves.across_mut() {
            across.write(due, offset, &[value], (enable, 0));
        }
        self.drain_host()
    }

    /// Reads a dword at an offset of the BAR of a design that gets packets.
    pub(super) fn read_across(&mut self, offset: u64) -> Result<u32> {
        let due = self.pcie.host_read(self.now) + self.mmio_latency();
        match self
            .slaves
            .across_mut()
            .map(|across| across.read(due, offset))
        {
            Some(number) => self.read_answer(number),
            None => Ok(u32::MAX),
        }
    }

    /// Runs until all host writes so far have been taken by the slaves. For a design that gets packets, a register is
    /// read after them.
    ///
    /// # Errors
    /// As [`Board::run`].
    pub fn drain_host(&mut self) -> Result<()> {
        if self.is_across() {
            self.bar_read32(Space::Csr, 0)?;
        }
        let done = |board: &Self| {
            board.slaves.idle()
                && board.window.idle()
                && board.interconnect.as_ref().is_none_or(Interconnect::idle)
        };
        self.run_until(done, PATIENCE)
            .map(|_| ())
            .map_err(|error| waited("a register write", error))
    }

    pub(super) fn mmio_latency(&self) -> u64 {
        u64::from(self.config.link.mmio_latency_ns) * FS_PER_NS
    }

    fn check_offset(&self, space: Space, offset: u64, bytes: u64) -> Result<()> {
        let size = self.slaves.size(space);
        let refused = |message: String| Err(Error::HostAccess { offset, message });
        if !offset.is_multiple_of(4) {
            return refused("not a multiple of 4".to_owned());
        }
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return refused(format!("the {space:?} slave has {size} bytes"));
        }
        Ok(())
    }

    /// Finds an offset of the flat BAR among the slaves (`BoardConfig::bar`).
    fn place(&self, offset: u64) -> Option<Place> {
        let bar = &self.config.bar;
        let slaves = [
            (bar.csr, Space::Csr),
            (bar.channels, Space::Chan),
            (bar.att, Space::Att),
            (bar.msix, Space::Msix),
        ];
        for (base, space) in slaves {
            if let Some(at) = offset.checked_sub(base)
                && at < self.slaves.size(space)
            {
                return Some(Place::Slave(space, at));
            }
        }
        let at = offset.checked_sub(bar.window)?;
        (at < self.window.size()).then_some(Place::Window(at))
    }

    /// Writes a dword at an offset of the flat BAR. Nothing happens where no slave is, as on the interconnect.
    ///
    /// # Errors
    /// If the offset is not a multiple of 4; in the window as [`Board::window_write`].
    pub fn bar_write32_at(&mut self, offset: u64, value: u32) -> Result<()> {
        match self.place(offset) {
            Some(Place::Slave(space, at)) => self.bar_write32(space, at, value),
            Some(Place::Window(at)) => self.window_write(at, &value.to_le_bytes()),
            None => Ok(()),
        }
    }

    /// Reads a dword at an offset of the flat BAR; all-ones where no slave is.
    ///
    /// # Errors
    /// As [`Board::bar_read32`] and [`Board::window_read`].
    pub fn bar_read32_at(&mut self, offset: u64) -> Result<u32> {
        match self.place(offset) {
            Some(Place::Slave(space, at)) => self.bar_read32(space, at),
            Some(Place::Window(at)) => {
                let mut bytes = [0; 4];
                self.window_read(at, &mut bytes)?;
                Ok(u32::from_le_bytes(bytes))
            }
            None => Ok(u32::MAX),
        }
    }

    fn check_window(&self, offset: u64, bytes: usize) -> Result<()> {
        let size = self.window.size();
        if offset
            .checked_add(bytes as u64)
            .is_none_or(|end| end > size)
        {
            return Err(Error::HostAccess {
                offset,
                message: format!("the memory window has {size} bytes"),
            });
        }
        Ok(())
    }

    /// Writes bytes through the memory window (`s_nondma`), a 64-byte word at a time. Runs the
    /// board until the block has taken them.
    ///
    /// # Errors
    /// If the range is not in the window, and as [`Board::run`].
    pub fn window_write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_window(offset, bytes.len())?;
        if self.is_across() {
            for (at, from, len) in dwords(offset, bytes.len()) {
                let lane = (at % 4) as usize;
                let mut word = [0; 4];
                word[lane..lane + len].copy_from_slice(&bytes[from..from + len]);
                let enable = lanes(lane, len) as u8;
                let place = self.config.bar.window + (at & !3);
                self.write_across(place, u32::from_le_bytes(word), enable)?;
            }
            return Ok(());
        }
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let lane = (at % 64) as usize;
            let (now, later) = rest.split_at(rest.len().min(64 - lane));
            let mut word = [0; 64];
            word[lane..lane + now.len()].copy_from_slice(now);
            self.window
                .access(at / 64, true, lanes(lane, now.len()), word);
            self.run_until(|board| board.window.idle(), PATIENCE)
                .map_err(|error| waited("a window write", error))?;
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Reads bytes through the memory window. Runs the board until they have come.
    ///
    /// # Errors
    /// As [`Board::window_write`].
    pub fn window_read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.check_window(offset, bytes.len())?;
        if self.is_across() {
            for (at, from, len) in dwords(offset, bytes.len()) {
                let lane = (at % 4) as usize;
                let word = self.read_across(self.config.bar.window + (at & !3))?;
                bytes[from..from + len].copy_from_slice(&word.to_le_bytes()[lane..lane + len]);
            }
            return Ok(());
        }
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let lane = (at % 64) as usize;
            let take = rest.len().min(64 - lane);
            let (now, later) = rest.split_at_mut(take);
            self.window
                .access(at / 64, false, lanes(lane, take), [0; 64]);
            self.run_until(|board| board.window.idle(), PATIENCE)
                .map_err(|error| waited("a window read", error))?;
            let word = self.window.answer().unwrap_or([0xFF; 64]);
            now.copy_from_slice(&word[lane..lane + take]);
            at += take as u64;
            rest = later;
        }
        Ok(())
    }
}

/// Returns the dwords that bytes from an offset on touch: the offset of each, the first byte in it, and the number of
/// bytes.
fn dwords(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let (at, from) = (offset + done as u64, done);
        let take = (4 - (at % 4) as usize).min(len - done);
        done += take;
        (take > 0).then_some((at, from, take))
    })
}

/// Returns the byte enables of `len` bytes from `lane` on.
fn lanes(lane: usize, len: usize) -> u64 {
    let ones = if len >= 64 { u64::MAX } else { (1 << len) - 1 };
    ones << lane
}

/// Adds a name to a timeout.
fn waited(what: &str, error: Error) -> Error {
    match error {
        Error::Timeout { cycles, .. } => Error::Timeout {
            what: what.to_owned(),
            cycles,
        },
        other => other,
    }
}
