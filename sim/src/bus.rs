//! Bus addresses: what answers where, what was reached, and what goes wrong on purpose.
//!
//! Writes to [`MESSAGES`] are interrupts: they are kept as [`Message`]s and reach no memory.

use std::ops::Range;

use serde::Serialize;

use crate::{
    memory::{Gpu, HostMemory},
    violation::{Clock, Log, Rule},
};

/// Kind of an access by the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The board reads.
    Read,
    /// The board writes.
    Write,
    /// Either, where a permission is meant.
    Both,
}

impl Access {
    fn covers(self, kind: Self) -> bool {
        self == Self::Both || self == kind
    }
}

/// Where x86 takes a write of a dword for an interrupt (Intel 64 and IA-32 manual, volume 3,
/// "Message Address Register Format").
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

/// What the requester sees of a read that fails. Which of these the hard IP does on `Txs` for an
/// unsupported request, a completer abort or a missing completion is not documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// All-ones as data, at the usual time: what software knows of an unsupported request, and
    /// on the stream port data like any other.
    AllOnes,
    /// Pseudo-random bytes, at the usual time.
    Garbage,
    /// Nothing ever. As `Txs` answers in order, nothing behind it is answered either; on the
    /// stream port the other tags are.
    Never,
    /// The right data, so many nanoseconds later than usual.
    Late(u64),
    /// A completion with the status Unsupported Request. `Txs` has no status: all-ones.
    Unsupported,
    /// A completion with the status Completer Abort. On `Txs` all-ones.
    Abort,
    /// A poisoned completion. On `Txs` all-ones.
    Poisoned,
}

impl Answer {
    /// The code of a completion on the stream port that says so; 0 for data.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::AllOnes | Self::Garbage | Self::Never | Self::Late(_) => 0,
            Self::Unsupported => 1,
            Self::Abort => 2,
            Self::Poisoned => 3,
        }
    }
}

/// Which reads a fault hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hits {
    /// PCIe read requests that touch these bus addresses (through `Txs` at most 256 bytes of a
    /// read). On the stream port a status, or no answer, comes in place of the first completion
    /// that would have to hold one of them; those before it come with their data.
    Addresses(Range<u64>),
    /// All of the n-th read of the block from now on, the next one being 0; once.
    Nth(u64),
}

/// A fault to inject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// Which reads.
    pub hits: Hits,
    /// What they get.
    pub answer: Answer,
}

/// An access that found nothing: an unsupported request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported {
    /// Read or write.
    pub access: Access,
    /// First bus address.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
}

/// Counters of one destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TargetStats {
    /// Bytes written.
    pub bytes_written: u64,
    /// Write packets.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Read requests.
    pub reads: u64,
}

/// Destination of a bus address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Host,
    Gpu,
}

/// Unsupported requests kept one by one.
const KEPT: usize = 256;

/// The bus the board sits on.
#[derive(Debug)]
pub struct Bus {
    pub(crate) host: HostMemory,
    pub(crate) gpu: Gpu,
    pub(crate) host_stats: TargetStats,
    pub(crate) gpu_stats: TargetStats,
    allowed: Vec<(u64, Range<u64>, Access)>,
    guarded: bool,
    next_id: u64,
    faults: Vec<FaultRule>,
    unmapped: Answer,
    unsupported: Vec<Unsupported>,
    unsupported_total: u64,
    stray_total: u64,
    messages: Vec<Message>,
    message_total: u64,
    /// The signals to blame for a stray read and a stray write.
    pub(crate) signals: [&'static str; 2],
}

/// Name of a registered range, to revoke it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RangeId(u64);

impl Bus {
    pub(crate) fn new(host: HostMemory, gpu: Gpu) -> Self {
        Self {
            host,
            gpu,
            host_stats: TargetStats::default(),
            gpu_stats: TargetStats::default(),
            allowed: Vec::new(),
            guarded: false,
            next_id: 0,
            faults: Vec::new(),
            unmapped: Answer::Unsupported,
            unsupported: Vec::new(),
            unsupported_total: 0,
            stray_total: 0,
            messages: Vec::new(),
            message_total: 0,
            signals: ["txs_address"; 2],
        }
    }

    /// Registers bus addresses the board may reach. After the first such call every access that
    /// is not within one registered range is a violation ([`Rule::Stray`]); it is carried out
    /// all the same, as the bus would.
    pub fn allow(&mut self, range: Range<u64>, access: Access) -> RangeId {
        self.guarded = true;
        self.next_id += 1;
        self.allowed.push((self.next_id, range, access));
        RangeId(self.next_id)
    }

    /// Takes a registration back.
    pub fn revoke(&mut self, id: RangeId) {
        self.allowed.retain(|(other, _, _)| *other != id.0);
    }

    /// Injects a fault. Rules are tried in the order they came.
    pub fn inject(&mut self, rule: FaultRule) {
        self.faults.push(rule);
    }

    /// Takes all faults back.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// What a read of an address where nothing is gets; [`Answer::Unsupported`] if not set.
    pub fn answer_unmapped(&mut self, answer: Answer) {
        self.unmapped = answer;
    }

    /// The first unsupported requests, in order of arrival.
    pub fn unsupported(&self) -> &[Unsupported] {
        &self.unsupported
    }

    /// All unsupported requests, reads and writes.
    pub fn unsupported_total(&self) -> u64 {
        self.unsupported_total
    }

    /// Accesses outside the registered ranges.
    pub fn stray_total(&self) -> u64 {
        self.stray_total
    }

    /// Interrupt messages that nobody has taken yet, the oldest first.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    /// All interrupt messages so far.
    pub(crate) fn message_total(&self) -> u64 {
        self.message_total
    }

    /// A write packet to [`MESSAGES`]. What is no aligned dword is no interrupt.
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
            None
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

    /// The bytes behind bus addresses that lie within 4 KiB.
    fn bytes_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        match self.target(address)? {
            Target::Host => self.host.slice_mut(address, len),
            Target::Gpu => {
                let local = self.gpu.translate(address)?;
                self.gpu.memory_mut().slice_mut(local, len)
            }
        }
    }

    /// A write packet arrives.
    pub(crate) fn write(&mut self, address: u64, data: &[u8], cycle: u64, log: &mut Log) {
        if MESSAGES.contains(&address) {
            return self.message(address, data, cycle);
        }
        let len = data.len() as u32;
        self.guard(Access::Write, address, len, cycle, log);
        match self.bytes_mut(address, data.len()) {
            Some(target) => {
                target.copy_from_slice(data);
                let stats = self.stats_mut(address);
                stats.bytes_written += u64::from(len);
                stats.writes += 1;
            }
            None => self.unsupported_request(Access::Write, address, len),
        }
    }

    /// A read request arrives; `false` when nothing is there.
    pub(crate) fn read(
        &mut self,
        address: u64,
        data: &mut [u8],
        cycle: u64,
        log: &mut Log,
    ) -> bool {
        let len = data.len() as u32;
        self.guard(Access::Read, address, len, cycle, log);
        match self.bytes_mut(address, data.len()) {
            Some(source) => {
                data.copy_from_slice(source);
                let stats = self.stats_mut(address);
                stats.bytes_read += u64::from(len);
                stats.reads += 1;
                true
            }
            None => {
                self.unsupported_request(Access::Read, address, len);
                false
            }
        }
    }

    fn stats_mut(&mut self, address: u64) -> &mut TargetStats {
        if self.gpu.in_bar(address) {
            &mut self.gpu_stats
        } else {
            &mut self.host_stats
        }
    }

    pub(crate) fn unmapped_answer(&self) -> Answer {
        self.unmapped
    }

    /// The answer that an injected fault gives this read of the block as a whole, if any. Counts down
    /// the rules for the n-th read.
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
            Hits::Addresses(_) => true,
        });
        hit
    }

    /// The answer that an injected fault gives a read request to these addresses, if any, and
    /// the first of them that it hits.
    pub(crate) fn fault_of_request(&self, address: u64, len: u32) -> Option<(Answer, u64)> {
        let end = address.saturating_add(u64::from(len));
        self.faults.iter().find_map(|rule| match &rule.hits {
            Hits::Addresses(range) if range.start < end && address < range.end => {
                Some((rule.answer, range.start.max(address)))
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;

    fn bus() -> Bus {
        let mut host = HostMemory::default();
        host.add_range(0x1000, 0x1000).unwrap();
        let gpu = Gpu::new(&GpuConfig {
            bytes: 1 << 20,
            bar_base: 0x100_0000,
            bar_bytes: 1 << 20,
            bar_reserved: 0,
            ..GpuConfig::default()
        })
        .unwrap();
        Bus::new(host, gpu)
    }

    #[test]
    fn unmapped_accesses_are_recorded_and_change_nothing() {
        let (mut bus, mut log) = (bus(), Log::default());
        bus.write(0x1FFE, &[1, 2, 3], 0, &mut log);
        let mut data = [7; 4];
        assert!(!bus.read(0x100_0000, &mut data, 0, &mut log));
        assert_eq!(data, [7; 4]);
        assert_eq!(bus.host.slice(0x1FFE, 2).unwrap(), [0, 0]);
        assert_eq!(bus.unsupported_total(), 2);
        assert_eq!(
            bus.unsupported()[0],
            Unsupported {
                access: Access::Write,
                address: 0x1FFE,
                bytes: 3
            }
        );
        assert!(!log.fresh());
    }

    #[test]
    fn strays_are_violations_once_something_is_registered() {
        let (mut bus, mut log) = (bus(), Log::default());
        bus.write(0x1000, &[1], 0, &mut log);
        assert!(!log.fresh());
        let id = bus.allow(0x1100..0x1200, Access::Write);
        bus.write(0x1100, &[1; 256], 1, &mut log);
        assert!(!log.fresh());
        bus.write(0x1101, &[1; 256], 2, &mut log);
        bus.read(0x1100, &mut [0; 4], 3, &mut log);
        bus.revoke(id);
        bus.write(0x1100, &[1], 4, &mut log);
        let Err(crate::Error::Violations { count, list }) = log.take() else {
            panic!("no violations");
        };
        assert_eq!(count, 3);
        let cycles: Vec<_> = list.iter().map(|violation| violation.cycle).collect();
        assert_eq!(cycles, [2, 3, 4]);
        assert!(list.iter().all(|violation| violation.rule == Rule::Stray));
        assert_eq!(bus.stray_total(), 3);
    }

    #[test]
    fn interrupts_are_messages_and_no_strays() {
        let (mut bus, mut log) = (bus(), Log::default());
        bus.allow(0x1000..0x2000, Access::Both);
        bus.write(0xFEE0_1000, &[0x21, 0x43, 0, 1], 9, &mut log);
        assert_eq!(
            bus.take_messages(),
            [Message {
                cycle: 9,
                address: 0xFEE0_1000,
                data: 0x0100_4321
            }]
        );
        // Neither two bytes nor an odd address make an interrupt.
        bus.write(0xFEE0_1000, &[0x21, 0x43], 10, &mut log);
        bus.write(0xFEE0_1002, &[0; 4], 11, &mut log);
        assert_eq!((bus.messages().len(), bus.unsupported_total()), (0, 2));
        assert!(!log.fresh());
        bus.write(0xFEF0_0000, &[0; 4], 12, &mut log);
        assert!(log.fresh());
    }

    #[test]
    fn faults_hit_what_they_name() {
        let mut bus = bus();
        bus.inject(FaultRule {
            hits: Hits::Nth(1),
            answer: Answer::Never,
        });
        bus.inject(FaultRule {
            hits: Hits::Addresses(0x1100..0x1101),
            answer: Answer::Garbage,
        });
        assert_eq!(bus.fault_of_read(), None);
        assert_eq!(bus.fault_of_read(), Some(Answer::Never));
        assert_eq!(bus.fault_of_read(), None);
        assert_eq!(bus.fault_of_request(0x1000, 0x100), None);
        assert_eq!(
            bus.fault_of_request(0x1001, 0x100),
            Some((Answer::Garbage, 0x1100))
        );
        assert_eq!(
            bus.fault_of_request(0x1100, 0x100),
            Some((Answer::Garbage, 0x1100))
        );
        assert_eq!(bus.fault_of_request(0x1101, 0x100), None);
        bus.clear_faults();
        assert_eq!(bus.fault_of_request(0x1100, 1), None);
    }
}
