//! What works here, by data.
//!
//! A write is posted and a refused read comes back as ones, so nobody says that a platform does not pass them. The probe
//! puts random bytes into memory of the device's by its own engine, and into FPGA memory by way of the host, has the
//! board (or the device) move a few of them, and compares all of both: what arrived, what did not, and what changed
//! elsewhere.

use crate::direct::reason;
use crate::ends::Ends;
use crate::error::{Error, Result};
use crate::limits::{Limits, Watch};
use crate::side::Residence;
use crate::staged::PATIENCE;
use peerlane_host::{Direction, Fault, Permissions};
use rand::RngCore;
use std::fmt;
use std::time::Duration;

/// Bytes of memory that a probe has on either side, at most.
pub(crate) const PROBE: u64 = 256 << 10;

/// Bytes at each place.
const EACH: u64 = 64;

/// Where they are moved: the first bytes, across a page of the host's, across one of a GPU's, within a later one, and the
/// last. A mapping of one page alone, or of the wrong one, shows.
const PLACES: [u64; 5] = [
    0,
    (4 << 10) - 24,
    (64 << 10) - 24,
    (132 << 10) + 8,
    PROBE - EACH,
];

/// How long bytes may take to arrive after their end was told, before they count as lost.
const LATE: Duration = Duration::from_micros(200);

/// What a probe has found of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All bytes arrived, and nothing else changed.
    Works,
    /// The same, but the end of a write is told before it is known that its data have arrived: the board cannot read
    /// behind it.
    Unproven,
    /// The same, by way of the host's memory: the device's own does not take part until it looks.
    Detour,
    /// Device or board do not have it.
    Absent(String),
    /// It was refused, and somebody said so.
    Refused(String),
    /// It succeeded, and the bytes are wrong.
    Wrong(String),
}

impl Verdict {
    /// Whether the bytes arrive.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works | Self::Unproven | Self::Detour)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works => f.write_str("works"),
            Self::Unproven => {
                f.write_str("works, but nothing proves that data have arrived when the end is told")
            }
            Self::Detour => {
                f.write_str("works, but the memory lies in the host's, not in the device")
            }
            Self::Absent(why) => f.write_str(why),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Wrong(why) => write!(f, "no error, and wrong data: {why}"),
        }
    }
}

/// What a probe has found between a board and a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// The board writes into the device's memory.
    pub write: Verdict,
    /// The board reads the device's memory.
    pub read: Verdict,
    /// The device stores to the board's window.
    pub push: Verdict,
    /// What the board has written is proven to have arrived when the end is told: by a read of the board's, which works
    /// here.
    pub proven: bool,
    /// The board takes no reads any more, since one was never answered: all data for it need the link reset first.
    pub reads_lost: bool,
    /// Where the device's memory lies, as far as somebody says.
    pub residence: Residence,
}

impl Findings {
    /// Whether the board reaches the memory and nobody says where that lies: what is called direct may go through the
    /// host's memory.
    pub fn unknown(&self) -> bool {
        self.residence == Residence::Unknown && (self.write.works() || self.read.works())
    }
}

/// Random bytes, others each time: those of an earlier probe prove nothing.
fn random(length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// What is different between what is there and what should be, if anything.
fn difference(found: &[u8], expected: &[u8], before: &[u8], places: &[u64]) -> Option<String> {
    let at = found.iter().zip(expected).position(|(a, b)| a != b)?;
    let place = places.iter().find(|&&place| {
        let place = place as usize;
        (place..place + EACH as usize).contains(&at)
    });
    let Some(&place) = place else {
        return Some(format!("byte {at:#x} changed, which nobody named"));
    };
    let range = place as usize..(place + EACH) as usize;
    let found = &found[range.clone()];
    let what = if found == &before[range] {
        "nothing arrived"
    } else if found.iter().all(|byte| *byte == 0xff) {
        "ones arrived, which stand for a refused read"
    } else if found.iter().all(|byte| *byte == 0) {
        "zeros arrived"
    } else {
        "other bytes arrived"
    };
    Some(format!("{what} at {place:#x}"))
}

/// `target` with bytes of `source` at the places.
fn mixed(target: &[u8], source: &[u8], places: &[u64]) -> Vec<u8> {
    let mut mixed = target.to_vec();
    for place in places {
        let range = *place as usize..(*place + EACH) as usize;
        mixed[range.clone()].copy_from_slice(&source[range]);
    }
    mixed
}

/// Probes all routes with memory that nobody needs.
pub(crate) struct Prober<'a> {
    pub(crate) ends: &'a mut Ends,
    /// First byte of FPGA memory for it.
    pub(crate) fpga: u64,
    pub(crate) length: u64,
}

/// The numbers of the sides in [`Ends`].
const BOARD: usize = 0;
const DEVICE: usize = 1;

impl Prober<'_> {
    pub(crate) fn all(&mut self, with_reads: bool) -> Result<Findings> {
        self.host_path()?;
        let write = self.write()?;
        let push = self.push()?;
        // Last: a platform that never answers leaves a board that takes no reads.
        let (read, reads_lost) = match with_reads {
            true => self.read()?,
            false => (
                Verdict::Absent("it was not tried, as was asked for".into()),
                false,
            ),
        };
        let residence = self.ends.side().residence();
        let known = |verdict: Verdict, proven: bool| match verdict {
            Verdict::Works if residence == Residence::Host => Verdict::Detour,
            Verdict::Works if !proven => Verdict::Unproven,
            verdict => verdict,
        };
        let proven = read == Verdict::Works;
        Ok(Findings {
            write: known(write, proven),
            read: known(read, true),
            push,
            proven,
            reads_lost,
            residence,
        })
    }

    fn places(&self) -> Vec<u64> {
        let last = self.length - EACH;
        let mut places: Vec<u64> = PLACES.into_iter().filter(|place| *place < last).collect();
        places.push(last);
        places
    }

    fn put(&mut self, side: usize, bytes: &[u8]) -> Result<()> {
        let at = if side == BOARD { self.fpga } else { 0 };
        let clock = self.ends.clock();
        self.ends.staged()?.put(side, at, bytes, &clock)
    }

    fn get(&mut self, side: usize) -> Result<Vec<u8>> {
        let at = if side == BOARD { self.fpga } else { 0 };
        let (clock, length) = (self.ends.clock(), self.length as usize);
        self.ends.staged()?.get(side, at, length, &clock)
    }

    /// Both sides keep what they are given, by way of the host. All else is compared by this.
    fn host_path(&mut self) -> Result<()> {
        for side in [DEVICE, BOARD] {
            let bytes = random(self.length);
            self.put(side, &bytes)?;
            let found = self.get(side)?;
            if let Some(at) = found.iter().zip(&bytes).position(|(a, b)| a != b) {
                return Err(Error::Untrue {
                    side: match side {
                        BOARD => self.ends.board().device().name(),
                        _ => self.ends.side().name(),
                    },
                    what: format!("byte {at:#x} is {:#04x}, not {:#04x}", found[at], bytes[at]),
                });
            }
        }
        Ok(())
    }

    /// Has the board move bytes at each place. `Err` is what the probe found.
    fn by_board(
        &mut self,
        direction: Direction,
        permissions: Permissions,
    ) -> Result<Option<(Verdict, bool)>> {
        let (fpga, length) = (self.fpga, self.length);
        let board = self.ends.board().clone();
        let reach = match self
            .ends
            .side()
            .reach(board.device(), 0..length, permissions)
        {
            Ok(reach) => reach,
            Err(error) => return Ok(Some((Verdict::Absent(reason(&error)), false))),
        };
        for place in self.places() {
            let queue = board.queue();
            let offset = reach.offset + place;
            let transfer = queue.submit(direction, &reach.region, offset, fpga + place, EACH)?;
            match transfer.wait(PATIENCE) {
                Ok(_) => {}
                Err(error @ peerlane_host::Error::Fault { fault, .. }) => {
                    let lost = matches!(fault, Fault::ReadTimeout | Fault::PortDown);
                    return Ok(Some((Verdict::Refused(error.to_string()), lost)));
                }
                Err(error @ peerlane_host::Error::Timeout { .. }) => {
                    queue.restart()?;
                    return Ok(Some((Verdict::Refused(error.to_string()), true)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn write(&mut self) -> Result<Verdict> {
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &data)?;
        self.put(DEVICE, &before)?;
        // A device may keep what it has read before.
        self.get(DEVICE)?;
        // The board reads nothing here: whether it may is found out by itself.
        let ended = self.by_board(Direction::Write, Permissions::Write)?;
        if let Some((verdict, _)) = ended {
            return Ok(verdict);
        }
        // A device that cannot say so is none for this route. It may be for others.
        if let Err(error) = self.ends.side().arrived() {
            return Ok(Verdict::Refused(reason(&error)));
        }
        let places = self.places();
        let expected = mixed(&before, &data, &places);
        let found = self.get(DEVICE)?;
        let Some(what) = difference(&found, &expected, &before, &places) else {
            return Ok(Verdict::Works);
        };
        // Perhaps it is under way still.
        self.ends.pass(LATE)?;
        let found = self.get(DEVICE)?;
        Ok(match difference(&found, &expected, &before, &places) {
            None => Verdict::Wrong(format!(
                "{what} when the end was told, and the data only later"
            )),
            Some(_) => Verdict::Wrong(what),
        })
    }

    fn read(&mut self) -> Result<(Verdict, bool)> {
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &before)?;
        self.put(DEVICE, &data)?;
        let ended = self.by_board(Direction::Read, Permissions::ReadWrite)?;
        if let Some(ended) = ended {
            return Ok(ended);
        }
        let places = self.places();
        let expected = mixed(&before, &data, &places);
        let found = self.get(BOARD)?;
        let what = difference(&found, &expected, &before, &places);
        Ok((what.map_or(Verdict::Works, Verdict::Wrong), false))
    }

    fn push(&mut self) -> Result<Verdict> {
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &before)?;
        self.put(DEVICE, &data)?;
        let clock = self.ends.clock();
        let (fpga, places) = (self.fpga, self.places());
        for place in &places {
            let limits = Limits::within(PATIENCE);
            let watch = Watch::new(&clock, &limits, EACH);
            match self.ends.push((*place, fpga + place, EACH), &watch) {
                Ok(_) => {}
                Err(error @ Error::Deadline { .. }) => {
                    return Ok(Verdict::Refused(error.to_string()));
                }
                Err(error) => return Ok(Verdict::Absent(reason(&error))),
            }
        }
        let expected = mixed(&before, &data, &places);
        let found = self.get(BOARD)?;
        let what = difference(&found, &expected, &before, &places);
        Ok(what.map_or(Verdict::Works, Verdict::Wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_apart() {
        let (before, data) = (vec![1; 4096], vec![2; 4096]);
        let places = [0, 1024];
        let expected = mixed(&before, &data, &places);
        assert_eq!(expected[1023..1026], [1, 2, 2]);
        assert_eq!(difference(&expected, &expected, &before, &places), None);
        let say = |found: &[u8]| difference(found, &expected, &before, &places).unwrap();
        assert_eq!(say(&before), "nothing arrived at 0x0");
        let mut found = expected.clone();
        found[1024..1088].fill(0xff);
        assert!(say(&found).starts_with("ones arrived"), "{}", say(&found));
        found[1024..1088].fill(0);
        assert_eq!(say(&found), "zeros arrived at 0x400");
        found[1030] = 7;
        assert_eq!(say(&found), "other bytes arrived at 0x400");
        let mut found = expected.clone();
        found[3000] = 9;
        assert_eq!(say(&found), "byte 0xbb8 changed, which nobody named");
    }
}
