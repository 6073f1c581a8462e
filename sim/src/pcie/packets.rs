//! Packets of the hard IP's Avalon-ST interface ([`crate::hip`]): requests of the block that leave, and completions
//! that arrive. Time on the link, order, latency and faults are the same as with the other ports.

use super::Pcie;
use crate::{
    bus::Bus,
    extent::Extent,
    hip::{Far, Kind, Tlp},
};

/// The other end of the hard IP's link: the board's bus.
#[derive(Debug)]
pub(crate) struct BusEnd<'a> {
    pcie: &'a mut Pcie,
    bus: &'a mut Bus,
    /// Femtoseconds.
    now: u64,
    /// Bus, device and function of the block.
    requester: u16,
    taken: Vec<Taken>,
}

impl<'a> BusEnd<'a> {
    pub(crate) fn new(pcie: &'a mut Pcie, bus: &'a mut Bus, now: u64, requester: u16) -> Self {
        Self {
            pcie,
            bus,
            now,
            requester,
            taken: Vec::new(),
        }
    }

    /// Returns the requests that have left.
    pub(crate) fn taken(self) -> Vec<Taken> {
        self.taken
    }
}

/// A request that has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub kind: Kind,
    pub address: u64,
}

impl Far for BusEnd<'_> {
    fn full(&self) -> bool {
        self.pcie.full() || self.pcie.asks_full()
    }

    fn take(&mut self, packet: &Tlp) {
        let (kind, address) = (packet.kind(), packet.address());
        match kind {
            Kind::Write => self.pcie.write_packet(self.now, packet, self.bus),
            Kind::Read => self.pcie.read_packet(self.now, packet, self.bus),
            Kind::Completion | Kind::Other => return,
        }
        self.taken.push(Taken { kind, address });
    }

    fn answer(&mut self) -> Option<Tlp> {
        self.pcie.completion_packet(self.now, self.requester)
    }
}

/// Returns the bytes that a request is for.
fn extent(packet: &Tlp) -> Extent {
    let (first, last) = packet.enables();
    Extent {
        skip: 0,
        dwords: packet.length(),
        first,
        last,
    }
}

impl Pcie {
    fn write_packet(&mut self, now: u64, packet: &Tlp, bus: &Bus) {
        let bytes: Vec<u8> = packet
            .payload
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let slot = self.store(&bytes);
        self.write_extent(now, packet.address(), &extent(packet), slot, bus);
        self.release(slot);
    }

    fn read_packet(&mut self, now: u64, packet: &Tlp, bus: &mut Bus) {
        let extent = extent(packet);
        let (begin, len) = extent.bytes_from(0).unwrap_or((0, 1));
        let mut end = begin + len;
        while let Some((more, len)) = extent.bytes_from(end) {
            end = more + len;
        }
        let address = packet.address() + u64::from(begin);
        let fault = bus.fault_of_read();
        // The hard IP has reported a tag that is already in use.
        self.ask(now, packet.tag(), (address, end - begin), fault, bus);
    }

    /// Returns the next completion, if it has crossed the link.
    fn completion_packet(&mut self, now: u64, requester: u16) -> Option<Tlp> {
        let completion = self.tagged.front(now)?;
        let (tag, code, address) = (completion.tag, completion.code, completion.address);
        let (left, cut) = (completion.left, completion.cut);
        let from = completion.offset as usize;
        let pad = (address % 4) as usize;
        let mut data = vec![0x5A; pad];
        data.extend(&self.slots[completion.slot as usize][from..from + cut as usize]);
        data.resize(data.len().next_multiple_of(4), 0x5A);
        // Unsupported Request is status 1, Completer Abort 4 (Base Specification 2.1, table 2-20).
        let (status, data) = match code {
            1 => (1, &[][..]),
            2 => (4, &[][..]),
            _ => (0, &data[..]),
        };
        let mut packet = Tlp::completion(tag, requester, status, address as u8, left, data);
        if code == 3 {
            packet.header[0] |= 1 << 14;
        }
        self.given_out(now);
        Some(packet)
    }
}
