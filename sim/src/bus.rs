//! Bus addresses: the memory at each, records of accesses, and injected faults.
//!
//! Writes to [`MESSAGES`] are interrupts: they become [`Message`]s and reach no memory.

use std::{fmt, ops::Range};

use serde::Serialize;

use crate::{
    memory::{Gpu, HostMemory},
    stats::TargetStats,
    violation::{Clock, Log, Rule},
};

/// Kind of an access by the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The board reads.
    Read,
    /// The board writes.
    Write,
    /// Either access, as a permission.
    Both,
}

impl Access {
    fn covers(self, kind: Self) -> bool {
        self == Self::Both || self == kind
    }
}

/// Addresses at which x86 takes a write of a dword for an interrupt (Intel 64 and IA-32 manual, volume 3, "Message
/// Address Register Format").
pub const MESSAGES: Range<u64> = 0xFEE0_0000..0xFEF0_0000;

/// An interrupt message of the board (MSI or MSI-X) that has reached the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Cycle of `pcie_clk` at which it arrived.
    pub cycle: u64,
    /// Its address, in [`MESSAGES`].
    pub address: u64,
    /// Its data.
    pub data: u32,
}

/// The completer's answer to a read that fails. `Txs` passes on all data that come. It does not report a completion
/// without data, and answers no later read until a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// All-ones as data, at the usual time: software sees an unsupported request like this, and on the stream port
    /// these are data like any other.
    AllOnes,
    /// Pseudo-random bytes, at the usual time.
    Garbage,
    /// Never an answer. As `Txs` answers in order, no later read is answered either; on the stream port the other tags
    /// are.
    Never,
    /// The right data, so many nanoseconds later than usual.
    Late(u64),
    /// A completion with the status Unsupported Request, and no data. On `Txs` as `Never`.
    Unsupported,
    /// A completion with the status Completer Abort, and no data. On `Txs` as `Never`.
    Abort,
    /// A poisoned completion. `Txs` gives out its data as if they were good.
    Poisoned,
}

impl Answer {
    /// Returns the code of a completion on the stream port for this answer; 0 for data.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::AllOnes | Self::Garbage | Self::Never | Self::Late(_) => 0,
            Self::Unsupported => 1,
            Self::Abort => 2,
            Self::Poisoned => 3,
        }
    }
}

/// The reads that a fault hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hits {
    /// PCIe read requests that touch these bus addresses. A status, or no answer, comes in place of the first
    /// completion that would contain one of them; earlier completions come with their data.
    Addresses(Range<u64>),
    /// The whole n-th read of the block from now on, the next one being 0; once.
    Nth(u64),
    /// PCIe read requests that touch these bus addresses, after the first `skip` of them, and `times` at most;
    /// otherwise as `Addresses`.
    Counted {
        /// The bus addresses.
        addresses: Range<u64>,
        /// Requests that pass before the first one that is hit.
        skip: u64,
        /// Requests that are hit.
        times: u64,
    },
}

/// A fault to inject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// The reads.
    pub hits: Hits,
    /// Their answer.
    pub answer: Answer,
}

/// Fault of a write on its way. A write is posted: its sender is not notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// The write is lost.
    Lost,
    /// The write arrives with other bytes.
    Garbled,
}

/// An access without memory: an unsupported request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported {
    /// Read or write.
    pub access: Access,
    /// First bus address.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
}

/// Destination of a bus address: it decides how long a packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Host memory.
    Host,
    /// The GPU's BAR.
    Gpu,
}

/// Memory that does not belong to the board's own models, for example that of another process.
///
/// It is used for addresses without the board's [`HostMemory`] or its [`Gpu`]. Accesses lie within 4 KiB, and are
/// carried out when the packet arrives.
pub trait Outside: fmt::Debug + Send {
    /// Returns the target of a bus address; `None` where there is no memory.
    fn target(&self, address: u64) -> Option<Target>;

    /// Copies from the memory at a bus address. Returns `false`, and copies nothing, if a part of the range does not
    /// exist or must not be read.
    fn read(&mut self, address: u64, data: &mut [u8]) -> bool;

    /// Copies into the memory at a bus address. Returns `false`, and changes nothing, if a part of the range does not
    /// exist or must not be written.
    fn write(&mut self, address: u64, data: &[u8]) -> bool;
}

/// Number of unsupported requests that are recorded individually.
const KEPT: usize = 256;

/// The bus of the board.
#[derive(Debug)]
pub struct Bus {
    pub(crate) host: HostMemory,
    pub(crate) gpu: Gpu,
    pub(crate) host_stats: TargetStats,
    pub(crate) gpu_stats: TargetStats,
    outside: Option<Box<dyn Outside>>,
    master: bool,
    allowed: Vec<(u64, Range<u64>, Access)>,
    guarded: bool,
    next_id: u64,
    faults: Vec<FaultRule>,
    write_faults: Vec<(Range<u64>, WriteFault)>,
    unmapped: Answer,
    unsupported: Vec<Unsupported>,
    unsupported_total: u64,
    stray_total: u64,
    messages: Vec<Message>,
    message_total: u64,
    /// Whether the port is `Txs`.
    pub(crate) behind_bridge: bool,
    /// The signals that are named for a stray read and a stray write.
    pub(crate) signals: [&'static str; 2],
}

/// Name of a registered range, for revoking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RangeId(u64);

impl Bus {
    pub(crate) fn new(host: HostMemory, gpu: Gpu) -> Self {
        Self {
            host,
            gpu,
            host_stats: TargetStats::default(),
            gpu_stats: TargetStats::default(),
            outside: None,
            master: true,
            allowed: Vec::new(),
            guarded: false,
            next_id: 0,
            faults: Vec::new(),
            write_faults: Vec::new(),
            unmapped: Answer::Unsupported,
            unsupported: Vec::new(),
            unsupported_total: 0,
            stray_total: 0,
            messages: Vec::new(),
            message_total: 0,
            behind_bridge: false,
            signals: ["txs_address"; 2],
        }
    }

    /// Attaches memory that is not the board's own, and replaces any attached before.
    pub fn attach(&mut self, outside: Box<dyn Outside>) {
        self.outside = Some(outside);
    }

    /// Sets whether the board may send requests, by the Bus Master Enable bit of its function; it may at first. While
    /// it may not, `Txs` takes no request, and continues when it may again. On another port a write or an interrupt
    /// message ends at the board's own end of the link, and a read gets the answer of an unsupported request. Nothing
    /// is recorded.
    pub fn set_master(&mut self, master: bool) {
        self.master = master;
    }

    /// Returns whether requests of the board leave it. Those of `Txs` always do: its bridge takes none while it may
    /// send none, and the ones that it has taken leave.
    pub(crate) fn takes_requests(&self) -> bool {
        self.master || self.behind_bridge
    }

    /// Returns whether the board may send requests.
    pub fn is_master(&self) -> bool {
        self.master
    }

    /// Registers bus addresses that the board may access. After the first such call every access that is not within one
    /// registered range is a violation ([`Rule::Stray`]); it is still carried out, as the bus would.
    pub fn allow(&mut self, range: Range<u64>, access: Access) -> RangeId {
        self.guarded = true;
        self.next_id += 1;
        self.allowed.push((self.next_id, range, access));
        RangeId(self.next_id)
    }

    /// Removes a registration.
    pub fn revoke(&mut self, id: RangeId) {
        self.allowed.retain(|(other, _, _)| *other != id.0);
    }

    /// Injects a fault. Rules are tried in the order they came.
    pub fn inject(&mut self, rule: FaultRule) {
        self.faults.push(rule);
    }

    /// Makes writes fail that begin at these bus addresses. Rules are tried in the order they came.
    pub fn inject_write(&mut self, addresses: Range<u64>, fault: WriteFault) {
        self.write_faults.push((addresses, fault));
    }

    /// Removes all faults.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
        self.write_faults.clear();
    }

    /// Sets the answer to a read of an address without memory; [`Answer::Unsupported`] if not set.
    pub fn answer_unmapped(&mut self, answer: Answer) {
        self.unmapped = answer;
    }

    /// Returns the first unsupported requests, in order of arrival.
    pub fn unsupported(&self) -> &[Unsupported] {
        &self.unsupported
    }

    /// Returns the number of all unsupported requests, reads and writes.
    pub fn unsupported_total(&self) -> u64 {
        self.unsupported_total
    }

    /// Returns the number of accesses outside the registered ranges.
    pub fn stray_total(&self) -> u64 {
        self.stray_total
    }

    /// Returns the interrupt messages that were not taken yet, the oldest first.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    /// Returns the number of all interrupt messages so far.
    pub(crate) fn message_total(&self) -> u64 {
        self.message_total
    }

    /// Handles a write packet to [`MESSAGES`]. A packet that is not an aligned dword is not an interrupt.
    #[cold]
    fn message(&mut self, address: u64, data: &[u8], cycle: u64) {
        match <[u8; 4]>::try_from(data) {
            Ok(bytes) if address.is_multiple_of(4) => {
                self.message_total += 1;
                self.messages.push(Message {
                    cycle,
                    address,
                    data: u32::from_le_bytes(bytes),
                });
            }
            _ => self.unsupported_request(Access::Write, address, data.len() as u32),
        }
    }

    pub(crate) fn target(&self, address: u64) -> Option<Target> {
        if self.gpu.in_bar(address) {
            Some(Target::Gpu)
        } else if self.host.slice(address, 1).is_some() {
            Some(Target::Host)
        } else {
            self.outside.as_ref()?.target(address)
        }
    }

    fn guard(&mut self, access: Access, address: u64, len: u32, cycle: u64, log: &mut Log) {
        if !self.guarded {
            return;
        }
        let end = address.saturating_add(u64::from(len));
        let inside = self.allowed.iter().any(|(_, range, permission)| {
            permission.covers(access) && range.start <= address && end <= range.end
        });
        if !inside {
            self.stray_total += 1;
            log.add(
                Clock::Pcie,
                cycle,
                self.signals[usize::from(access == Access::Write)],
                Rule::Stray,
                format!("{access:?} of {len} bytes at {address:#x}"),
            );
        }
    }

    #[cold]
    fn unsupported_request(&mut self, access: Access, address: u64, bytes: u32) {
        self.unsupported_total += 1;
        if self.unsupported.len() < KEPT {
            self.unsupported.push(Unsupported {
                access,
                address,
                bytes,
            });
        }
    }

    /// Copies to bus addresses of the board's own models, within 4 KiB. Returns `false` where there is no memory.
    fn own_write(&mut self, address: u64, data: &[u8]) -> bool {
        if self.gpu.in_bar(address) {
            let local = self.gpu.translate(address);
            local.is_some_and(|local| self.gpu.write(local, data).is_ok())
        } else {
            self.host.write(address, data).is_ok()
        }
    }

    /// Copies from bus addresses of the board's own models, within 4 KiB. Returns `false` where there is no memory.
    fn own_read(&self, address: u64, data: &mut [u8]) -> bool {
        if self.gpu.in_bar(address) {
            let local = self.gpu.translate(address);
            local.is_some_and(|local| self.gpu.read(local, data).is_ok())
        } else {
            self.host.read(address, data).is_ok()
        }
    }

    /// Returns whether no model of the board's own is at a bus address.
    fn is_outside(&self, address: u64) -> bool {
        !self.gpu.in_bar(address) && self.host.slice(address, 1).is_none()
    }

    /// Handles a write packet that arrives.
    pub(crate) fn write(&mut self, address: u64, data: &[u8], cycle: u64, log: &mut Log) {
        if !self.takes_requests() {
            return;
        }
        if MESSAGES.contains(&address) {
            return self.message(address, data, cycle);
        }
        let len = data.len() as u32;
        self.guard(Access::Write, address, len, cycle, log);
        let target = self.target(address);
        let mut rules = self.write_faults.iter();
        let fault = rules.find(|(addresses, _)| addresses.contains(&address));
        let garbled: Vec<u8>;
        let data = match fault.map(|(_, fault)| *fault) {
            None => data,
            Some(WriteFault::Lost) => return,
            Some(WriteFault::Garbled) => {
                garbled = data.iter().map(|byte| !byte).collect();
                &garbled
            }
        };
        let written = if self.is_outside(address) {
            let outside = self.outside.as_mut();
            outside.is_some_and(|outside| outside.write(address, data))
        } else {
            self.own_write(address, data)
        };
        if written {
            let stats = self.stats_mut(target);
            stats.bytes_written += u64::from(len);
            stats.writes += 1;
        } else {
            self.unsupported_request(Access::Write, address, len);
        }
    }

    /// Handles a read request that arrives; returns `false` if no memory is there.
    pub(crate) fn read(
        &mut self,
        address: u64,
        data: &mut [u8],
        cycle: u64,
        log: &mut Log,
    ) -> bool {
        if !self.takes_requests() {
            return false;
        }
        let len = data.len() as u32;
        self.guard(Access::Read, address, len, cycle, log);
        let target = self.target(address);
        let found = if self.is_outside(address) {
            let outside = self.outside.as_mut();
            outside.is_some_and(|outside| outside.read(address, data))
        } else {
            self.own_read(address, data)
        };
        if found {
            let stats = self.stats_mut(target);
            stats.bytes_read += u64::from(len);
            stats.reads += 1;
        } else {
            self.unsupported_request(Access::Read, address, len);
        }
        found
    }

    fn stats_mut(&mut self, target: Option<Target>) -> &mut TargetStats {
        match target {
            Some(Target::Gpu) => &mut self.gpu_stats,
            _ => &mut self.host_stats,
        }
    }

    pub(crate) fn unmapped_answer(&self) -> Answer {
        self.unmapped
    }

    /// Returns the answer that an injected fault gives this read of the block as a whole, if any. Counts down the rules
    /// for the n-th read.
    pub(crate) fn fault_of_read(&mut self) -> Option<Answer> {
        let mut hit = None;
        self.faults.retain_mut(|rule| match &mut rule.hits {
            Hits::Nth(0) => {
                hit = hit.or(Some(rule.answer));
                false
            }
            Hits::Nth(left) => {
                *left -= 1;
                true
            }
            Hits::Addresses(_) | Hits::Counted { .. } => true,
        });
        hit
    }

    /// Returns the answer that an injected fault gives a read request to these addresses, if any, and the first address
    /// that it hits. Counts down the rules that hit only some requests.
    pub(crate) fn fault_of_request(&mut self, address: u64, len: u32) -> Option<(Answer, u64)> {
        let end = address.saturating_add(u64::from(len));
        let mut hit = None;
        self.faults.retain_mut(|rule| {
            let (range, counts) = match &mut rule.hits {
                Hits::Nth(_) => return true,
                Hits::Addresses(range) => (range, None),
                Hits::Counted {
                    addresses,
                    skip,
                    times,
                } => (addresses, Some((skip, times))),
            };
            if hit.is_some() || range.start >= end || address >= range.end {
                return true;
            }
            let found = Some((rule.answer, range.start.max(address)));
            match counts {
                None => hit = found,
                Some((skip, _)) if *skip > 0 => *skip -= 1,
                Some((_, times)) => {
                    *times = times.saturating_sub(1);
                    hit = found;
                    return *times > 0;
                }
            }
            true
        });
        hit
    }
}

#[cfg(test)]
mod tests;
