//! A test with data that finds the routes that work here.
//!
//! A write is posted, and a refused read may come back as ones, so often no interface reports that a platform does not
//! pass them. The probe puts random bytes into memory of the device's by its own engine, and into FPGA memory through
//! the host. Then it makes the board (or the device) move a few of them, and compares all bytes of both memories: the
//! bytes that arrived, the bytes that did not, and bytes that changed elsewhere.

use crate::board::Moving;
use crate::direct::{PushJob, reason};
use crate::ends::Ends;
use crate::error::{Error, Result};
use crate::limits::{GRACE, Limits, Watch};
use crate::route::Route;
use crate::side::{Pending, Reach, Residence};
use crate::staged::{PATIENCE, end};
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{Direction, Fault, Permissions};
use rand::RngCore;
use std::fmt;
use std::time::Duration;

/// Most bytes of memory that a probe has on either side.
pub(crate) const PROBE: u64 = 256 << 10;

/// Bytes at each place.
const EACH: u64 = 64;

/// Places where bytes are moved: the first bytes, across a page of the host's, across one of a GPU's, within a later
/// one, and the last bytes. A mapping of one page alone, or of the wrong one, becomes visible.
const PLACES: [u64; 5] = [
    0,
    (4 << 10) - 24,
    (64 << 10) - 24,
    (132 << 10) + 8,
    PROBE - EACH,
];

/// Time that bytes may take to arrive after their end was reported, before they count as lost.
const LATE: Duration = Duration::from_micros(200);

/// Result of a probe for a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All bytes arrived, and nothing else changed.
    Works,
    /// All bytes arrive, but the end of a write is reported before it is known that its data have arrived: the board
    /// cannot flush it.
    Unproven,
    /// All bytes arrive, but through the host's memory: the device's own memory does not take part until the device
    /// accesses the bytes.
    Detour,
    /// The device or the board does not have the route.
    Absent(String),
    /// The route is missing for a time: another user has a resource that it needs. The next copy asks again.
    Busy(String),
    /// It was refused with an error.
    Refused(String),
    /// It returned success, and the bytes are wrong.
    Wrong(String),
}

impl Verdict {
    /// Whether the bytes arrive.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works | Self::Unproven | Self::Detour)
    }
}

impl Verdict {
    /// Converts an error that came before anything was moved.
    ///
    /// # Errors
    /// The error of a board that is gone.
    fn without(error: Error) -> Result<Self> {
        match error {
            Error::Board(peerlane_host::Error::Gone) => Err(error),
            error if error.passes() => Ok(Self::Busy(reason(&error))),
            error => Ok(Self::Absent(reason(&error))),
        }
    }

    /// Drops the details of when and where the data arrive.
    fn plain(&self) -> Self {
        match self {
            Self::Unproven | Self::Detour => Self::Works,
            verdict => verdict.clone(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works => f.write_str("works"),
            Self::Unproven => {
                f.write_str("works, but nothing proves that data have arrived at the reported end")
            }
            Self::Detour => {
                f.write_str("works, but the memory lies in host memory, not in the device")
            }
            Self::Absent(why) => f.write_str(why),
            Self::Busy(why) => write!(f, "not now: {why}"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Wrong(why) => write!(f, "no error, and wrong data: {why}"),
        }
    }
}

/// Results of a probe between a board and a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Findings {
    /// The board writes into the device's memory.
    pub write: Verdict,
    /// The board reads the device's memory.
    pub read: Verdict,
    /// The device stores to the board's window.
    pub push: Verdict,
    /// The bytes that the board has written are proven to have arrived when the end is reported: by a read of the
    /// board's, which works here.
    pub proven: bool,
    /// The board refuses all reads, since one was never answered: all data for it need a reset of its link first.
    pub reads_lost: bool,
    /// Place of the device's memory, as far as it is known.
    pub residence: Residence,
}

impl Findings {
    /// Whether the board reaches the memory and the place of the memory is unknown: a direct route may go through the
    /// host's memory.
    pub fn unknown(&self) -> bool {
        self.residence == Residence::Unknown && (self.write.works() || self.read.works())
    }

    /// Returns the verdict of a direct route.
    pub(crate) fn of(&self, route: Route) -> Option<&Verdict> {
        match route {
            Route::DirectWrite => Some(&self.write),
            Route::DirectRead => Some(&self.read),
            Route::Push => Some(&self.push),
            Route::Auto | Route::Concurrent | Route::Sequential => None,
        }
    }
}

/// Returns random bytes, others each time: bytes of an earlier probe would prove nothing.
fn random(length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Describes the difference between the found and the expected bytes, if there is one.
fn difference(found: &[u8], expected: &[u8], before: &[u8], places: &[u64]) -> Option<String> {
    let at = found.iter().zip(expected).position(|(a, b)| a != b)?;
    let place = places.iter().find(|&&place| {
        let place = place as usize;
        (place..place + EACH as usize).contains(&at)
    });
    let Some(&place) = place else {
        return Some(format!("byte {at:#x} changed, which was not to be written"));
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

/// Returns `target` with bytes of `source` at the places.
fn mixed(target: &[u8], source: &[u8], places: &[u64]) -> Vec<u8> {
    let mut mixed = target.to_vec();
    for place in places {
        let range = *place as usize..(*place + EACH) as usize;
        mixed[range.clone()].copy_from_slice(&source[range]);
    }
    mixed
}

/// Probes all routes with memory that no other code needs.
pub(crate) struct Prober<'a> {
    pub(crate) ends: &'a mut Ends,
    /// First byte of the FPGA memory for it.
    pub(crate) fpga: u64,
    pub(crate) length: u64,
    pub(crate) prove_reads: bool,
    /// Watch of the copy that needs the result.
    pub(crate) watch: &'a Watch<'a>,
}

/// The numbers of the sides in [`Ends`].
const BOARD: usize = 0;
const DEVICE: usize = 1;

impl Prober<'_> {
    /// Probes routes that are not `known`, and routes whose verdict is temporary and that are `wanted`.
    pub(crate) fn all(
        &mut self,
        with_reads: bool,
        known: Option<&Findings>,
        wanted: impl Fn(Route) -> bool,
    ) -> Result<Findings> {
        if known.is_none() {
            self.host_path()?;
        }
        let before = |route: Route| {
            let verdict = known.and_then(|known| known.of(route))?;
            let again = matches!(verdict, Verdict::Busy(_)) && wanted(route);
            (!again).then(|| verdict.plain())
        };
        let write = before(Route::DirectWrite).map_or_else(|| self.write(), Ok)?;
        let push = before(Route::Push).map_or_else(|| self.push(), Ok)?;
        let lost = known.is_some_and(|known| known.reads_lost);
        // Last: if a platform never answers, the board refuses all reads afterwards.
        let (read, reads_lost) = match (before(Route::DirectRead), with_reads) {
            (Some(read), _) => (read, lost),
            (None, true) => self.read()?,
            (None, false) => (
                Verdict::Absent("it was not tried, as requested".into()),
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
        self.ends.staged()?.put(side, at, bytes, self.watch)
    }

    fn get(&mut self, side: usize) -> Result<Vec<u8>> {
        let at = if side == BOARD { self.fpga } else { 0 };
        let length = self.length as usize;
        self.ends.staged()?.get(side, at, length, self.watch)
    }

    /// Checks that both sides keep the bytes that they are given, through the host. All other comparisons rely on this.
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

    /// Lets the board into the device's memory. `Err` is the probe's verdict.
    fn reach(&self, permissions: Permissions) -> Result<Result<Reach, Verdict>> {
        let (board, side) = (self.ends.board(), self.ends.side());
        let device = match self.prove_reads {
            true => board.device().clone(),
            false => board.device().proved_only(),
        };
        match side.reach(&device, 0..self.length, permissions) {
            Ok(reach) => Ok(Ok(reach)),
            Err(error) => Verdict::without(error).map(Err),
        }
    }

    /// Makes the board move bytes at each place. `Some` is the probe's verdict.
    fn by_board(&self, direction: Direction, reach: &Reach) -> Result<Option<(Verdict, bool)>> {
        let queue = self.ends.board().queue();
        for place in self.places() {
            let (offset, fpga) = (reach.offset + place, self.fpga + place);
            let transfer =
                queue.submit(direction, reach.region.part(offset..offset + EACH), fpga)?;
            let mut moving = Moving::new(transfer);
            let limits = Limits::within(PATIENCE);
            match end(&mut moving, &self.watch.step(&limits, EACH)) {
                Ok(()) => {}
                Err(Error::Board(error @ peerlane_host::Error::Fault { fault, .. })) => {
                    let tagged = self.ends.board().device().has(feature::TAGGED_READS);
                    // With tags, other reads go on.
                    let lost = fault == Fault::PortDown || fault == Fault::ReadTimeout && !tagged;
                    return Ok(Some((Verdict::Refused(error.to_string()), lost)));
                }
                Err(error) => {
                    let ended = moving.end(GRACE);
                    // The copy's limits say nothing about the route.
                    self.watch.stretch(0)?;
                    if matches!(error, Error::Deadline { .. }) && ended {
                        return Ok(Some((Verdict::Refused(error.to_string()), true)));
                    }
                    return Err(error.with(usize::from(!ended)));
                }
            }
        }
        Ok(None)
    }

    fn write(&mut self) -> Result<Verdict> {
        // The board reads nothing here: another probe finds out whether it may.
        let reach = match self.reach(Permissions::Write)? {
            Ok(reach) => reach,
            Err(verdict) => return Ok(verdict),
        };
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &data)?;
        self.put(DEVICE, &before)?;
        // A device may cache bytes that it has read before.
        self.get(DEVICE)?;
        if let Some((verdict, _)) = self.by_board(Direction::FromFpga, &reach)? {
            return Ok(verdict);
        }
        // A device that cannot make the bytes visible does not have this route. It may have others.
        if let Err(error) = self.ends.side().arrived() {
            return Ok(match error.passes() {
                true => Verdict::Busy(reason(&error)),
                false => Verdict::Refused(reason(&error)),
            });
        }
        let places = self.places();
        let expected = mixed(&before, &data, &places);
        let found = self.get(DEVICE)?;
        let Some(what) = difference(&found, &expected, &before, &places) else {
            return Ok(Verdict::Works);
        };
        // The bytes may still be on their way.
        self.ends.pass(LATE)?;
        let found = self.get(DEVICE)?;
        Ok(match difference(&found, &expected, &before, &places) {
            None => Verdict::Wrong(format!(
                "{what} when the end was reported, and the data only later"
            )),
            Some(_) => Verdict::Wrong(what),
        })
    }

    fn read(&mut self) -> Result<(Verdict, bool)> {
        let reach = match self.reach(Permissions::ReadWrite)? {
            Ok(reach) => reach,
            Err(verdict) => return Ok((verdict, false)),
        };
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &before)?;
        self.put(DEVICE, &data)?;
        if let Some(ended) = self.by_board(Direction::ToFpga, &reach)? {
            return Ok(ended);
        }
        let places = self.places();
        let expected = mixed(&before, &data, &places);
        let found = self.get(BOARD)?;
        let what = difference(&found, &expected, &before, &places);
        Ok((what.map_or(Verdict::Works, Verdict::Wrong), false))
    }

    /// Makes the device push so many bytes at a place. `Some` is the probe's verdict.
    fn stored(&mut self, place: u64, length: u64) -> Result<Option<Verdict>> {
        let limits = Limits::within(PATIENCE);
        let watch = self.watch.step(&limits, length);
        let job = PushJob {
            at: place,
            fpga: self.fpga + place,
            length,
        };
        let pushed = self.ends.push(job, &watch);
        if pushed.is_err() {
            // The copy's limits say nothing about the route.
            self.watch.stretch(0)?;
        }
        match pushed {
            Ok(_) => Ok(None),
            Err(error @ (Error::Deadline { .. } | Error::UnderWay { .. })) => {
                Ok(Some(Verdict::Refused(error.to_string())))
            }
            Err(error) => Verdict::without(error).map(Some),
        }
    }

    fn push(&mut self) -> Result<Verdict> {
        // A push of no bytes, for which the window is needed nevertheless.
        if let Some(verdict) = self.stored(0, 0)? {
            return Ok(verdict);
        }
        let (data, before) = (random(self.length), random(self.length));
        self.put(BOARD, &before)?;
        self.put(DEVICE, &data)?;
        let places = self.places();
        for place in &places {
            if let Some(verdict) = self.stored(*place, EACH)? {
                return Ok(verdict);
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
        assert_eq!(
            say(&found),
            "byte 0xbb8 changed, which was not to be written"
        );
    }
}
