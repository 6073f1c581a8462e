//! The host's way to the block: the CSR (read latency 2), channel, ATT and MSI-X slaves (read
//! latency 1), none of which ever waits. A design that itself leads the host to its slaves gets packets instead
//! ([`crate::across`]).

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    across::Across,
    config::BarConfig,
    hip::Host,
    interconnect::has_master,
    space::Space,
    violation::{Error, Result},
};

#[derive(Debug, Clone, Copy)]
struct SlavePorts {
    address: Port,
    read: Port,
    write: Port,
    writedata: Port,
    byteenable: Port,
    readdata: Port,
    /// Size in bytes.
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Write { value: u32, enable: u8 },
    Read { number: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Access {
    due: u64,
    space: Space,
    word: u64,
    kind: Kind,
}

/// Bytes of a word of the hard IP's master for host accesses (`Rxm`), at its narrower width.
const WORD: u64 = 16;

/// The 32-bit slaves. They receive one access a cycle, in the order in which the host made them.
#[derive(Debug)]
pub(crate) struct Slaves {
    ports: [Option<SlavePorts>; 4],
    /// The way to the slaves of a design that gets packets; it replaces all fields below.
    across: Option<Across>,
    queue: VecDeque<Access>,
    /// The access that is driven in this cycle.
    driving: Option<Access>,
    /// The slave from whose port the last access is to be removed.
    clear: Option<Space>,
    /// A read whose data come this many edges from now.
    awaited: Option<(u8, Space, u64)>,
    answer: Option<(u64, u32)>,
    reads: u64,
    last_due: u64,
    last_write_cycle: u64,
}

impl Slaves {
    pub(crate) fn bind(library: &Library, bar: &BarConfig) -> Result<Self> {
        let across = has_master(library).then(|| Across::new(bar.clone()));
        if across.is_some() && bar.sizes.is_none() {
            return Err(Error::Config {
                message:
                    "the design decodes the BAR itself: bar.sizes must have the sizes of its slaves"
                        .to_owned(),
            });
        }
        let mut ports = [None; 4];
        for (slot, space) in ports.iter_mut().zip(Space::ALL) {
            let prefix = space.prefix();
            let name = format!("{prefix}_address");
            let Some(info) = library.ports().iter().find(|port| port.name == name) else {
                continue;
            };
            let input = |suffix: &str, bits| {
                library.port_as(&format!("{prefix}_{suffix}"), Direction::Input, bits)
            };
            *slot = Some(SlavePorts {
                address: input("address", info.width)?,
                read: input("read", 1)?,
                write: input("write", 1)?,
                writedata: input("writedata", 32)?,
                byteenable: input("byteenable", 4)?,
                readdata: library.port_as(&format!("{prefix}_readdata"), Direction::Output, 32)?,
                bytes: 4 << info.width.min(60),
            });
        }
        Ok(Self {
            ports,
            across,
            queue: VecDeque::new(),
            driving: None,
            clear: None,
            awaited: None,
            answer: None,
            reads: 0,
            last_due: 0,
            last_write_cycle: 0,
        })
    }

    fn port(&self, space: Space) -> Option<&SlavePorts> {
        self.ports[space as usize].as_ref()
    }

    /// Returns the size of a slave in bytes; 0 if the design does not have it.
    pub(crate) fn size(&self, space: Space) -> u64 {
        match &self.across {
            Some(across) => across.size(space),
            None => self.port(space).map_or(0, |ports| ports.bytes),
        }
    }

    /// Returns the path of the host's packets to a design that gets them.
    pub(crate) fn across_mut(&mut self) -> Option<&mut Across> {
        self.across.as_mut()
    }

    /// Returns the number of cycles that a design which gets packets took for the last read; 0 for other designs.
    pub(crate) fn last_read_cycles(&self) -> u64 {
        let across = self.across.as_ref();
        across.map_or(0, |across| across.last_read_cycles)
    }

    /// Returns the cycle in which the last write was taken by a slave, or shown to a design that gets packets.
    pub(crate) fn last_write_cycle(&self) -> u64 {
        let across = self.across.as_ref();
        across.map_or(self.last_write_cycle, |across| across.last_write_cycle)
    }

    /// Writes bytes at any offset; they arrive at `due` in one packet. The interconnect, as wide as the port in front
    /// of it, cuts the packet into dwords. Of a partly written word it also shows the dwords without an enabled byte.
    pub(crate) fn store(&mut self, due: u64, space: Space, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        let dword = |at: u64| {
            let (mut value, mut enable) = ([0; 4], 0);
            for (lane, at) in (at..at + 4).enumerate() {
                if (offset..end).contains(&at) {
                    value[lane] = bytes[(at - offset) as usize];
                    enable |= 1_u8 << lane;
                }
            }
            (u32::from_le_bytes(value), enable)
        };
        if let Some(across) = &mut self.across {
            let first = offset & !3;
            let dwords: Vec<_> = (first..end).step_by(4).map(dword).collect();
            let enables = match dwords.as_slice() {
                [(_, only)] => (*only, 0),
                [(_, first), .., (_, last)] => (*first, *last),
                [] => return,
            };
            let values: Vec<_> = dwords.into_iter().map(|(value, _)| value).collect();
            let at = across.base(space) + first;
            return across.write(due, at, &values, enables);
        }
        let words = offset / WORD * WORD..end.next_multiple_of(WORD);
        for at in words.step_by(4) {
            let (value, enable) = dword(at);
            self.push(due, space, at, Kind::Write { value, enable });
        }
    }

    /// Writes dwords that arrive at `due` in one packet; of a single dword, only the enabled bytes.
    pub(crate) fn write(
        &mut self,
        due: u64,
        space: Space,
        offset: u64,
        values: &[u32],
        enable: u8,
    ) {
        if let Some(across) = &mut self.across {
            let at = across.base(space) + offset;
            let enables = match values.len() {
                1 => (enable, 0),
                _ => (0xF, 0xF),
            };
            return across.write(due, at, values, enables);
        }
        for (index, value) in values.iter().enumerate() {
            let value = *value;
            let at = offset + index as u64 * 4;
            self.push(due, space, at, Kind::Write { value, enable });
        }
    }

    /// Starts a read that arrives at `due`; returns its number.
    pub(crate) fn read(&mut self, due: u64, space: Space, offset: u64) -> u64 {
        if let Some(across) = &mut self.across {
            let at = across.base(space) + offset;
            return across.read(due, at);
        }
        self.reads += 1;
        let number = self.reads;
        self.push(due, space, offset, Kind::Read { number });
        number
    }

    fn push(&mut self, due: u64, space: Space, offset: u64, kind: Kind) {
        self.last_due = self.last_due.max(due);
        self.queue.push_back(Access {
            due: self.last_due,
            space,
            word: offset / 4,
            kind,
        });
    }

    /// Returns the value of a read, once it has arrived.
    pub(crate) fn answer(&self, number: u64) -> Option<u32> {
        if let Some(across) = &self.across {
            return across.answer(number);
        }
        self.answer
            .filter(|(answered, _)| *answered == number)
            .map(|(_, value)| value)
    }

    /// Returns the number of accesses that have not been taken yet.
    pub(crate) fn waiting(&self) -> usize {
        self.across
            .as_ref()
            .map_or(self.queue.len(), Across::waiting)
    }

    /// Whether everything that the host sent has been taken, or shown to a design that gets packets.
    pub(crate) fn idle(&self) -> bool {
        self.queue.is_empty()
            && self.driving.is_none()
            && self.awaited.is_none()
            && self.across.as_ref().is_none_or(Across::idle)
    }

    pub(crate) fn reset(&mut self) {
        if let Some(across) = &mut self.across {
            across.reset();
        }
        self.queue.clear();
        self.clear = self.driving.take().map(|access| access.space);
        self.awaited = None;
    }

    /// Handles an edge of `pcie_clk`: completes the access that was driven, and chooses the next one.
    pub(crate) fn sample(&mut self, model: &Model, now: u64, cycle: u64, host: Option<&mut Host>) {
        if let (Some(across), Some(host)) = (&mut self.across, host) {
            return across.exchange(now, cycle, host);
        }
        if let Some((edges, space, number)) = self.awaited {
            if edges > 0 {
                self.awaited = Some((edges - 1, space, number));
            } else {
                let value = self
                    .port(space)
                    .map_or(0, |ports| model.get(ports.readdata));
                self.answer = Some((number, value as u32));
                self.awaited = None;
            }
        }
        if let Some(access) = self.driving.take() {
            self.clear = Some(access.space);
            match access.kind {
                // With a read latency of 1 the data are valid at the edge after this one.
                Kind::Read { number } => {
                    let edges = u8::from(access.space == Space::Csr);
                    self.awaited = Some((edges, access.space, number));
                }
                Kind::Write { .. } => self.last_write_cycle = cycle,
            }
        }
        // A read is alone on the bus until it is answered, as the hard IP keeps the order.
        if self.awaited.is_none()
            && let Some(access) = self.queue.front()
            && access.due <= now
        {
            self.driving = Some(*access);
            self.queue.pop_front();
        }
    }

    /// Drives the slaves after the edge.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        if let Some(space) = self.clear.take()
            && let Some(ports) = self.port(space).copied()
        {
            model.set(ports.read, 0);
            model.set(ports.write, 0);
        }
        if let Some(access) = self.driving
            && let Some(ports) = self.port(access.space).copied()
        {
            model.set(ports.address, access.word);
            match access.kind {
                Kind::Write { value, enable } => {
                    model.set(ports.write, 1);
                    model.set(ports.writedata, u64::from(value));
                    model.set(ports.byteenable, u64::from(enable));
                }
                Kind::Read { .. } => {
                    model.set(ports.read, 1);
                    model.set(ports.byteenable, 15);
                }
            }
        }
    }
}
