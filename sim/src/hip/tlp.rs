//! Transaction layer packets, and their form on the hard IP's Avalon-ST interface.

/// Dwords of the widest interface.
pub(super) const DWORDS: usize = 8;

/// A packet. Header dwords are numbers, with their first byte on the wire highest; payload dwords have the order of
/// memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tlp {
    /// Three or four dwords.
    pub header: Vec<u32>,
    /// Empty in a packet without data.
    pub payload: Vec<u32>,
    /// The part that the hard IP has lost, for a packet that it receives.
    pub damaged: Option<Damaged>,
}

/// An error in the hard IP's receive buffer that it could not correct: the beat reports it (`rx_st_err`), and is
/// rubbish (683093, Avalon-ST RX Interface).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// The first beat, with the header.
    Header,
    /// The beat at this distance after the first; or the last, if there are not so many.
    Data(usize),
    /// The same beat, and the packet ends there.
    Cut(usize),
}

/// Kind of a packet (PCI Express Base Specification 2.1, table 2-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A memory write.
    Write,
    /// A memory read request.
    Read,
    /// A completion, with data or without.
    Completion,
    /// Anything else.
    Other,
}

impl Tlp {
    /// Makes a completion of `bytes.len()` bytes for a read, of which `left` were to come; `data` are whole dwords from
    /// the one that contains `lower`.
    pub fn completion(
        tag: u8,
        requester: u16,
        status: u8,
        lower: u8,
        left: u32,
        data: &[u8],
    ) -> Self {
        let words: Vec<u32> = data
            .chunks_exact(4)
            .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let format = if words.is_empty() { 0x0A } else { 0x4A };
        Self {
            header: vec![
                format << 24 | words.len() as u32 & 0x3FF,
                0x0100 << 16 | u32::from(status) << 13 | left & 0xFFF,
                u32::from(requester) << 16 | u32::from(tag) << 8 | u32::from(lower & 0x7F),
            ],
            payload: words,
            damaged: None,
        }
    }

    /// Makes a read of memory: dwords from an address that is a multiple of four, with the byte enables of the first
    /// and of the last.
    pub fn read(address: u64, dwords: u32, enables: (u32, u32), requester: u16, tag: u8) -> Self {
        Self::request(0, address, dwords, enables, requester, tag)
    }

    /// Makes a write of memory, of as many dwords as there are data.
    pub fn write(address: u64, enables: (u32, u32), requester: u16, payload: Vec<u32>) -> Self {
        let dwords = payload.len() as u32;
        let mut packet = Self::request(0x4000_0000, address, dwords, enables, requester, 0);
        packet.payload = payload;
        packet
    }

    /// Makes a request. The header has four dwords above 4 GiB, three below (section 2.2.4.1).
    fn request(
        lead: u32,
        address: u64,
        dwords: u32,
        (first, last): (u32, u32),
        requester: u16,
        tag: u8,
    ) -> Self {
        let lead = lead | dwords & 0x3FF;
        let names = u32::from(requester) << 16 | u32::from(tag) << 8 | last << 4 | first;
        let high = (address >> 32) as u32;
        let header = match high {
            0 => vec![lead, names, address as u32],
            _ => vec![lead | 0x2000_0000, names, high, address as u32],
        };
        Self {
            header,
            payload: Vec::new(),
            damaged: None,
        }
    }

    /// Returns the kind of packet.
    pub fn kind(&self) -> Kind {
        match (self.header[0] >> 24) as u8 {
            0x40 | 0x60 => Kind::Write,
            0x00 | 0x20 => Kind::Read,
            0x0A | 0x4A => Kind::Completion,
            _ => Kind::Other,
        }
    }

    /// Returns whether its format has four dwords of header.
    pub fn is_long(&self) -> bool {
        self.header[0] >> 29 & 1 == 1
    }

    /// Returns whether its format has data.
    pub fn has_data(&self) -> bool {
        self.header[0] >> 30 & 1 == 1
    }

    /// Returns the dwords of data that it brings or asks for.
    pub fn length(&self) -> u32 {
        match self.header[0] & 0x3FF {
            0 => 1024,
            length => length,
        }
    }

    /// Returns the address of a request.
    pub fn address(&self) -> u64 {
        if self.is_long() {
            u64::from(self.header[2]) << 32 | u64::from(self.header[3] & !3)
        } else {
            u64::from(self.header[2] & !3)
        }
    }

    /// Returns the byte enables of a request's first and last dword.
    pub fn enables(&self) -> (u32, u32) {
        (self.header[1] & 0xF, self.header[1] >> 4 & 0xF)
    }

    /// Returns the requester of a request.
    pub fn requester(&self) -> u16 {
        (self.header[1] >> 16) as u16
    }

    /// Returns the tag of a request.
    pub fn tag(&self) -> u8 {
        (self.header[1] >> 8) as u8
    }

    /// Returns the bytes on the wire: with framing, sequence number and LCRC, without ECRC.
    pub fn wire_bytes(&self) -> u64 {
        8 + 4 * (self.header.len() + self.payload.len()) as u64
    }

    /// Returns the dword in which the payload begins, for a packet with this header (Stratix V Avalon-ST Interface for
    /// PCIe 683093, "Data Alignment and Timing for the Avalon-ST RX Interface", by address bit 2, for completions by
    /// bit 2 of the lower address).
    fn payload_at(header: &[u32]) -> usize {
        let long = header[0] >> 29 & 1 == 1;
        let odd = if long { header[3] } else { header[2] } >> 2 & 1 == 1;
        match (long, odd) {
            (false, false) => 4,
            (false, true) => 3,
            (true, false) => 4,
            (true, true) => 5,
        }
    }

    /// Returns the dwords from the header's first to the payload's last, including one that may be skipped between
    /// them.
    fn dwords_of(header: &[u32]) -> usize {
        let data = header[0] >> 30 & 1 == 1;
        let long = header[0] >> 29 & 1 == 1;
        if !data {
            return if long { 4 } else { 3 };
        }
        let length = match header[0] & 0x3FF {
            0 => 1024,
            length => length as usize,
        };
        Self::payload_at(header) + length
    }

    /// Returns the beats of an interface of `width` dwords. Unused lanes are rubbish.
    pub(super) fn beats(&self, width: usize) -> Vec<Beat> {
        let mut dwords = self.header.clone();
        if !self.payload.is_empty() {
            dwords.resize(Self::payload_at(&self.header), 0xDEAD_BEEF);
            dwords.extend(&self.payload);
        }
        let count = dwords.len().div_ceil(width);
        let mut beats: Vec<Beat> = (0..count)
            .map(|number| {
                let mut data = [0xBAD0_BEEF; DWORDS];
                let here = &dwords[number * width..dwords.len().min((number + 1) * width)];
                data[..here.len()].copy_from_slice(here);
                let last = number + 1 == count;
                Beat {
                    data,
                    sop: number == 0,
                    eop: last,
                    empty: if last { (width - here.len()) / 2 } else { 0 } as u8,
                    err: false,
                }
            })
            .collect();
        if let Some(damaged) = self.damaged {
            let place = match damaged {
                Damaged::Header => 0,
                Damaged::Data(behind) | Damaged::Cut(behind) => behind.min(count - 1),
            };
            let beat = &mut beats[place];
            beat.err = true;
            for word in &mut beat.data {
                *word ^= 0x5A5A_A5A5;
            }
            if let Damaged::Cut(_) = damaged {
                beat.eop = true;
                beats.truncate(place + 1);
            }
        }
        beats
    }

    /// Returns the packet whose beats have these dwords, with the empty qwords of its last beat; or the error.
    pub(super) fn of_beats(dwords: &[u32], width: usize, empty: u8) -> Result<Self, String> {
        let long = dwords[0] >> 29 & 1 == 1;
        let header = dwords[..if long { 4 } else { 3 }].to_vec();
        let all = Self::dwords_of(&header);
        let beats = dwords.len() / width;
        if all.div_ceil(width) != beats {
            return Err(format!("{beats} beats for {all} dwords: {header:08x?}"));
        }
        let free = (beats * width - all) / 2;
        if usize::from(empty) != free {
            return Err(format!(
                "empty is {empty}, but {free} qwords are empty: {header:08x?}"
            ));
        }
        let payload = if header[0] >> 30 & 1 == 1 {
            dwords[Self::payload_at(&header)..all].to_vec()
        } else {
            Vec::new()
        };
        Ok(Self {
            header,
            payload,
            damaged: None,
        })
    }
}

/// The other end of the link, if it is not [`super::Root`]. It models the time of packets itself.
pub(crate) trait Far {
    /// Returns whether no more packets can be taken for now; one that has begun is still taken.
    fn full(&self) -> bool;

    /// Takes a request of the design that leaves.
    fn take(&mut self, packet: &Tlp);

    /// Returns a completion that has arrived, if there is one.
    fn answer(&mut self) -> Option<Tlp>;
}

/// A beat of the interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub data: [u32; DWORDS],
    pub sop: bool,
    pub eop: bool,
    pub empty: u8,
    pub err: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(address: u64, dwords: u32) -> Tlp {
        let payload = (1..=dwords).collect();
        let header = if address >> 32 == 0 {
            vec![0x4000_0000 | dwords, 0xFF, address as u32]
        } else {
            vec![
                0x6000_0000 | dwords,
                0xFF,
                (address >> 32) as u32,
                address as u32,
            ]
        };
        Tlp {
            header,
            payload,
            damaged: None,
        }
    }

    /// Checks the four rows of the user guide's figures: the place of dword 0 of the payload.
    #[test]
    fn the_payload_begins_where_the_figures_show_it() {
        for (address, at) in [
            (0x1000, 4),
            (0x1004, 3),
            (0x1_0000_1000, 4),
            (0x1_0000_1004, 5),
        ] {
            for width in [4, 8] {
                let beats = write(address, 3).beats(width);
                let dwords: Vec<u32> = beats
                    .iter()
                    .flat_map(|b| b.data[..width].to_vec())
                    .collect();
                assert_eq!(dwords[at..at + 3], [1, 2, 3], "{address:#x} at {width}");
                assert_eq!(beats.len(), (at + 3).div_ceil(width));
            }
        }
        // Three dwords of header and 61 of data end in the last lane but one of the 16th beat's first qword pair.
        let last = *write(0x1000, 63).beats(4).last().unwrap();
        assert_eq!((last.eop, last.empty), (true, 0));
        let last = *write(0x1000, 62).beats(4).last().unwrap();
        assert_eq!(last.empty, 1);
        let last = *write(0x1000, 60).beats(8).last().unwrap();
        assert_eq!(last.empty, 0);
        let last = *write(0x1000, 58).beats(8).last().unwrap();
        assert_eq!(last.empty, 1);
    }

    #[test]
    fn beats_read_back_are_the_packet() {
        for address in [0x1000, 0x1004, 0x2_0000_1000, 0x2_0000_1004] {
            for dwords in [1, 2, 3, 31, 64] {
                let sent = write(address, dwords);
                for width in [4, 8] {
                    let beats = sent.beats(width);
                    let all: Vec<u32> = beats
                        .iter()
                        .flat_map(|b| b.data[..width].to_vec())
                        .collect();
                    let empty = beats.last().unwrap().empty;
                    assert_eq!(Tlp::of_beats(&all, width, empty), Ok(sent.clone()));
                    assert!(Tlp::of_beats(&all, width, empty ^ 1).is_err());
                    let more = [all.clone(), vec![0; width]].concat();
                    assert!(Tlp::of_beats(&more, width, empty).is_err());
                }
            }
        }
    }
}
