//! The host's accesses as packets, for a design through which the host accesses its slaves.
//!
//! A write is one packet, with any number of dwords. The design makes the completions that answer a read, and
//! [`crate::hip::Host`] checks them against the specification. A read that ends without success returns ones, as from a
//! root complex.

use std::collections::VecDeque;

use crate::{
    config::BarConfig,
    hip::{Host, Tlp},
    space::Space,
};

/// Address of the BAR on the bus: 64 bits wide.
const BASE: u64 = 0x3A_0000_0000;

/// Bus, device and function of the root port.
const REQUESTER: u16 = 0x0008;

/// Tags that the host uses.
const TAGS: u64 = 32;

#[derive(Debug)]
struct Due {
    at: u64,
    packet: Tlp,
    read: Option<u64>,
}

/// Packets between the processor and the hard IP.
#[derive(Debug)]
pub(crate) struct Across {
    bar: BarConfig,
    queue: VecDeque<Due>,
    /// The read that was sent to the design.
    awaited: Option<u64>,
    answer: Option<(u64, u32)>,
    reads: u64,
    last_due: u64,
    /// Cycles that the last read took, from its packet's beat to the completion's.
    pub(crate) last_read_cycles: u64,
    /// Cycle at which the design was last shown a write.
    pub(crate) last_write_cycle: u64,
}

impl Across {
    pub(crate) fn new(bar: BarConfig) -> Self {
        Self {
            bar,
            queue: VecDeque::new(),
            awaited: None,
            answer: None,
            reads: 0,
            last_due: 0,
            last_read_cycles: 0,
            last_write_cycle: 0,
        }
    }

    /// Returns the size of a slave in bytes; 0 if the design has none.
    pub(crate) fn size(&self, space: Space) -> u64 {
        let sizes = self.bar.sizes.unwrap_or_default();
        match space {
            Space::Csr => 1024,
            Space::Chan => sizes.channels,
            Space::Att => sizes.att,
            Space::Msix => sizes.msix,
        }
    }

    /// Returns the offset of a slave in the BAR.
    pub(crate) fn base(&self, space: Space) -> u64 {
        match space {
            Space::Csr => self.bar.csr,
            Space::Chan => self.bar.channels,
            Space::Att => self.bar.att,
            Space::Msix => self.bar.msix,
        }
    }

    /// Writes dwords in one packet, which arrives at `due`, at an offset of the BAR, with the byte enables of the first
    /// and of the last dword.
    pub(crate) fn write(&mut self, due: u64, offset: u64, values: &[u32], enables: (u8, u8)) {
        let enables = (enables.0.into(), enables.1.into());
        let packet = Tlp::write(BASE + offset, enables, REQUESTER, values.to_vec());
        self.push(due, packet, None);
    }

    /// Makes a read that arrives at `due`; returns its number.
    pub(crate) fn read(&mut self, due: u64, offset: u64) -> u64 {
        self.reads += 1;
        let number = self.reads;
        let packet = Tlp::read(BASE + offset, 1, (0xF, 0), REQUESTER, (number % TAGS) as u8);
        self.push(due, packet, Some(number));
        number
    }

    fn push(&mut self, due: u64, packet: Tlp, read: Option<u64>) {
        self.last_due = self.last_due.max(due);
        self.queue.push_back(Due {
            at: self.last_due,
            packet,
            read,
        });
    }

    /// Returns the value of a read, once it has come.
    pub(crate) fn answer(&self, number: u64) -> Option<u32> {
        self.answer
            .filter(|(answered, _)| *answered == number)
            .map(|(_, value)| value)
    }

    /// Returns the number of accesses that the design was not shown yet.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether the design was shown all accesses, and has answered the reads.
    pub(crate) fn idle(&self) -> bool {
        self.queue.is_empty() && self.awaited.is_none()
    }

    pub(crate) fn reset(&mut self) {
        self.queue.clear();
        self.awaited = None;
    }

    /// Handles an edge of `pcie_clk`. A read is alone until it is answered.
    pub(crate) fn exchange(&mut self, now: u64, cycle: u64, host: &mut Host) {
        for end in host.ends.drain(..) {
            if let Some(number) = self.awaited
                && u64::from(end.request.tag()) == number % TAGS
            {
                let mut bytes = [0xFF; 4];
                if end.status == 0 {
                    bytes.copy_from_slice(&end.data[..4]);
                }
                self.answer = Some((number, u32::from_le_bytes(bytes)));
                self.last_read_cycles = end.took;
                self.awaited = None;
            }
        }
        while self.awaited.is_none()
            && self.queue.front().is_some_and(|due| due.at <= now)
            && let Some(due) = self.queue.pop_front()
        {
            match due.read {
                Some(number) => self.awaited = Some(number),
                None => self.last_write_cycle = cycle,
            }
            host.queue.push_back((due.packet, 1 << self.bar.number));
        }
    }
}
