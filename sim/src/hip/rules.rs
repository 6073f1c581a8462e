//! The rules of packets that are sent, checked on every edge.

use super::tlp::{Kind, Tlp};

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Cycle of the hard IP's clock.
    pub cycle: u64,
    /// What happened.
    pub what: String,
}

/// Software's settings, and limits that packets are checked against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub payload: u32,
    pub request: u32,
    pub tags: u8,
    pub requester: u16,
    /// Whether the design had to assume that it was bus master when the packet began.
    pub master: bool,
}

/// Signals of the design in a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub valid: bool,
    pub sop: bool,
    pub eop: bool,
    pub empty: u8,
    pub err: bool,
    pub data: &'a [u32],
}

/// The interface's side of packets sent.
#[derive(Debug)]
pub(super) struct Sent {
    width: usize,
    /// Whether it was ready one, two and three cycles ago.
    ready: [bool; 3],
    /// Dwords of the packet that has begun.
    packet: Option<Vec<u32>>,
}

impl Sent {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            ready: [false; 3],
            packet: None,
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.width);
    }

    /// Returns whether a packet has begun and not ended.
    pub(super) fn amid(&self) -> bool {
        self.packet.is_some()
    }

    /// Handles an edge; `ready` is the value that the design was shown in the cycle that ends with it. Returns a packet
    /// that is complete.
    ///
    /// Inside of a packet, valid must fall two cycles after ready, and must rise two cycles after it (683093,
    /// `tx_st_ready`, `tx_st_valid`).
    pub(super) fn edge(
        &mut self,
        shown: Shown<'_>,
        ready: bool,
        mut breach: impl FnMut(String),
    ) -> Option<Tlp> {
        let [one, two, _] = self.ready;
        self.ready = [ready, one, two];
        if shown.valid && !one && !two {
            breach("tx_st_valid two cycles after tx_st_ready fell".to_owned());
        }
        if !shown.valid {
            if self.packet.is_some() && one && two {
                breach("tx_st_valid fell inside a packet".to_owned());
            }
            return None;
        }
        if shown.err {
            breach("tx_st_err".to_owned());
        }
        if shown.sop == self.packet.is_some() {
            breach(format!("tx_st_sop is {} amid packets", shown.sop));
            self.packet = None;
        }
        let width = self.width;
        let packet = self.packet.get_or_insert_default();
        packet.extend(&shown.data[..width]);
        if !shown.eop {
            if packet.len() > 1024 + 8 {
                breach("a packet without an end".to_owned());
                self.packet = None;
            }
            return None;
        }
        let dwords = self.packet.take()?;
        Tlp::of_beats(&dwords, width, shown.empty)
            .map_err(breach)
            .ok()
    }
}

/// Checks the form of a request (PCI Express Base Specification 2.1, sections 2.2.2, 2.2.5, 2.2.7).
pub(super) fn request(packet: &Tlp, limits: &Limits, mut breach: impl FnMut(String)) {
    let header = &packet.header;
    let mut check = |good: bool, what: &str| {
        if !good {
            breach(format!("{what}: {header:08x?}"));
        }
    };
    let kind = packet.kind();
    check(
        matches!(kind, Kind::Read | Kind::Write),
        "neither a memory read nor a write",
    );
    // Class 0, no hints, no digest, no poison, no attributes.
    check(header[0] & 0x00FF_FC00 == 0, "bits of the first dword");
    check(limits.master, "bus master is not enabled");
    check(packet.requester() == limits.requester, "requester ID");
    let address = packet.address();
    let length = packet.length();
    check(header[header.len() - 1] & 3 == 0, "low bits of the address");
    check(
        packet.is_long() == (address >> 32 != 0),
        "a header of four dwords below 4 GiB, or of three above",
    );
    check(
        address % 4096 + u64::from(length) * 4 <= 4096,
        "crosses 4 KiB",
    );
    let (first, last) = packet.enables();
    if length == 1 {
        check(last == 0, "last byte enables with one dword");
        check(first != 0, "no enabled byte");
    } else {
        check(
            first != 0 && last != 0,
            "a first or last dword without an enabled byte",
        );
        check(
            [0, 0b1000, 0b1100, 0b1110, 0b1111].contains(&first),
            "first byte enables have a gap",
        );
        check(
            [0, 0b0001, 0b0011, 0b0111, 0b1111].contains(&last),
            "last byte enables have a gap",
        );
    }
    if kind == Kind::Write {
        check(length * 4 <= limits.payload, "longer than Max Payload Size");
    } else {
        check(
            length * 4 <= limits.request,
            "longer than Max Read Request Size",
        );
        check(packet.tag() < limits.tags, "a tag that is not enabled");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        payload: 256,
        request: 512,
        tags: 32,
        requester: 0x0100,
        master: true,
    };

    fn found(header: &[u32]) -> Vec<String> {
        let packet = Tlp {
            header: header.to_vec(),
            payload: Vec::new(),
            damaged: None,
        };
        let mut all = Vec::new();
        request(&packet, &LIMITS, |what| all.push(what));
        all
    }

    #[test]
    fn a_good_request_breaks_nothing_and_each_bad_one_something() {
        assert_eq!(
            found(&[0x0000_0080, 0x0100_1FFF, 0x1000]),
            Vec::<String>::new()
        );
        assert_eq!(
            found(&[0x4000_0001, 0x0100_0004, 0x1004]),
            Vec::<String>::new()
        );
        for bad in [
            &[0x0000_0080, 0x0100_20FF, 0x1000][..],
            &[0x0000_0080, 0x0200_00FF, 0x1000],
            &[0x0000_0081, 0x0100_00FF, 0x1000],
            &[0x0000_0002, 0x0100_000F, 0x1000],
            &[0x0000_0001, 0x0100_00FF, 0x1000],
            &[0x0000_0002, 0x0100_00F7, 0x1000],
            &[0x0000_0002, 0x0100_00FF, 0x1FFC],
            &[0x4000_0041, 0x0100_00FF, 0x1000],
            &[0x2000_0001, 0x0100_000F, 0, 0x1000],
            &[0x0000_4001, 0x0100_000F, 0x1000],
            &[0x0000_0001, 0x0100_000F, 0x1001],
            &[0x0500_0001, 0x0100_000F, 0x1000],
        ] {
            assert_eq!(found(bad).len(), 1, "{bad:08x?}: {:?}", found(bad));
        }
    }

    fn edges(course: &[(bool, bool, bool, bool)]) -> Vec<String> {
        let mut sent = Sent::new(4);
        let mut all = Vec::new();
        for (ready, valid, sop, eop) in course {
            let shown = Shown {
                valid: *valid,
                sop: *sop,
                eop: *eop,
                empty: 0,
                err: false,
                data: &[0x4000_0004, 0x0100_00FF, 0x1000, 0],
            };
            sent.edge(shown, *ready, |what| all.push(what));
        }
        all
    }

    #[test]
    fn the_interface_itself() {
        let (go, first, last) = (
            (true, false, false, false),
            (true, true, true, false),
            (true, true, false, true),
        );
        assert_eq!(
            edges(&[go, go, first, last, first, last]),
            Vec::<String>::new()
        );
        // A gap; a beat too many; a missing end; valid without ready.
        assert_eq!(edges(&[go, go, first, go, last]).len(), 1);
        assert_eq!(
            edges(&[go, go, first, (true, true, false, false), last]).len(),
            1
        );
        assert_eq!(edges(&[go, go, first, first, last]).len(), 1);
        let no = (false, false, false, false);
        assert_eq!(edges(&[no, no, no, first]).len(), 1);
        // A packet may wait while the hard IP is not ready.
        let held = (false, true, true, false);
        assert_eq!(
            edges(&[go, go, held, no, no, go, go, last]),
            Vec::<String>::new()
        );
        assert_eq!(edges(&[go, go, held, no, no, go, go, go, last]).len(), 1);
    }
}
