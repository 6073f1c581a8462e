// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a scatter list to ATT pages: page size, number of entries, bus addresses.

use super::att::{MAX_ENTRIES, PageSize};
use core::fmt;

/// A piece of memory that is contiguous on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Bus address of its first byte.
    pub address: u64,
    /// Length in bytes.
    pub length: u64,
}

/// How a range of a scatter list is mapped.
///
/// A mixed layout has a head and a tail of 4 KiB pages around a middle of larger ones. Memory of a process often has
/// huge pages, with small ones before the first and after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The page size of the middle.
    pub page_size: PageSize,
    /// Entries needed, at least 1.
    pub entries: u32,
    /// Offset of the range's first byte in its first page.
    pub first_offset: u64,
    /// Length of the range in bytes.
    pub length: u64,
    /// Bytes at the start with pages of 4 KiB.
    pub head: u64,
    /// Bytes at the end with pages of 4 KiB.
    pub tail: u64,
}

/// Largest number of parts of a layout.
pub const PARTS: usize = 3;

/// A part of a layout with pages of one size, which may have no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The page size.
    pub page_size: PageSize,
    /// Its first entry, among those of the layout.
    pub first: u32,
    /// Its start in the range, in bytes.
    pub start: u64,
    /// Its bytes.
    pub length: u64,
    /// Offset of its first byte in its first page.
    pub first_offset: u64,
}

impl Part {
    /// Returns its number of entries.
    fn entries(&self) -> u64 {
        match self.length {
            0 => 0,
            length => (self.first_offset + length).div_ceil(self.page_size.bytes()),
        }
    }
}

impl Layout {
    /// Lays out bytes in pages of one size.
    pub const fn uniform(
        page_size: PageSize,
        entries: u32,
        first_offset: u64,
        length: u64,
    ) -> Self {
        Self {
            page_size,
            entries,
            first_offset,
            length,
            head: 0,
            tail: 0,
        }
    }

    /// Returns its parts, in the order of their bytes and of their entries.
    pub fn parts(&self) -> [Part; PARTS] {
        let sizes = [PageSize::Kib4, self.page_size, PageSize::Kib4];
        let lengths = [self.head, self.length - self.head - self.tail, self.tail];
        let (mut first, mut start) = (0, 0);
        let mut index = 0;
        sizes.map(|page_size| {
            let part = Part {
                page_size,
                first,
                start,
                length: lengths[index],
                // Parts meet at the begin of a page of both.
                first_offset: if start == 0 { self.first_offset } else { 0 },
            };
            // Not more than all entries, which are a `u32`.
            first += part.entries() as u32;
            start += part.length;
            index += 1;
            part
        })
    }
}

/// Reasons why a range of a scatter list cannot be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutError {
    /// The range has no bytes.
    Empty,
    /// The range ends after the scatter list.
    Beyond {
        /// End of the range, bytes from the start of the list.
        end: u64,
        /// Bytes in the list.
        available: u64,
    },
    /// A segment, or the whole list, runs past 2^64.
    Overflow,
    /// A piece of the memory has no bytes.
    EmptyPiece {
        /// Bytes of the memory before it.
        offset: u64,
        /// The bus address that the list has for it.
        address: u64,
    },
    /// Two segments meet at an address that is not a multiple of 4 KiB.
    Seam {
        /// The bus address.
        address: u64,
    },
    /// The range needs more entries than the largest ATT has.
    TooLong {
        /// Entries needed with the largest page size that suits.
        entries: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the range is empty"),
            Self::Beyond { end, available } => write!(
                f,
                "the range ends at byte {end:#x} of memory that has {available:#x} bytes"
            ),
            Self::Overflow => f.write_str("the memory's bus addresses run past 2^64"),
            Self::EmptyPiece { offset, address } => write!(
                f,
                "the piece at byte {offset:#x} of the memory, bus address {address:#x}, has no bytes"
            ),
            Self::Seam { address } => write!(
                f,
                "two pieces of the memory meet at bus address {address:#x}, which is not a multiple of 4 KiB"
            ),
            Self::TooLong { entries } => write!(
                f,
                "the range needs {entries} ATT entries, more than any table has"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

/// Makes a list of segments of the pieces in which memory is handed over, and checks everything: an exporter's table
/// may be wrong. Neighbours are joined. Pieces after the memory's length are left out, for they are other memory.
///
/// Pieces may come in any order of bus addresses, and the same address may come twice: a process
/// may see one page at several places, and so may a dma-buf.
#[derive(Debug)]
pub struct Pieces {
    /// The segment that the next piece may continue.
    open: Option<Segment>,
    /// Bytes so far.
    offset: u64,
    /// Bytes of the memory.
    length: u64,
}

impl Pieces {
    /// Makes a list without pieces, for memory of `length` bytes.
    pub const fn new(length: u64) -> Self {
        Self {
            open: None,
            offset: 0,
            length,
        }
    }

    /// Takes the next piece. Returns the segment before it, if the piece does not continue that segment.
    pub fn push(&mut self, piece: Segment) -> Result<Option<Segment>, LayoutError> {
        let Segment { address, length } = piece;
        if length == 0 {
            return Err(LayoutError::EmptyPiece {
                offset: self.offset,
                address,
            });
        }
        address.checked_add(length).ok_or(LayoutError::Overflow)?;
        let length = length.min(self.length - self.offset);
        if length == 0 {
            return Ok(None);
        }
        self.offset += length;
        match &mut self.open {
            Some(open) if open.address + open.length == address => {
                open.length += length;
                Ok(None)
            }
            open => Ok(open.replace(Segment { address, length })),
        }
    }

    /// Returns the last segment, if there was a piece.
    pub fn finish(self) -> Option<Segment> {
        self.open
    }
}

/// A stretch of the range that is contiguous on the bus, with its segment.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// The segment, neighbours joined.
    outer: (u64, u64),
    /// The part of it in the range, never empty.
    inner: (u64, u64),
    /// Whether the range begins or ends here.
    first: bool,
    last: bool,
}

/// Iterator over the stretches of the range `offset..end` (`offset < end`).
#[derive(Debug, Clone)]
struct Stretches<I: Iterator<Item = Segment>> {
    segments: core::iter::Peekable<I>,
    /// Bytes of the list before the next segment.
    passed: u64,
    offset: u64,
    end: u64,
}

impl<I: Iterator<Item = Segment>> Stretches<I> {
    fn new(segments: I, offset: u64, end: u64) -> Self {
        Self {
            segments: segments.peekable(),
            passed: 0,
            offset,
            end,
        }
    }

    /// Returns the next segment with bytes, joined with those that follow without a gap.
    fn joined(&mut self) -> Result<Option<(u64, u64)>, LayoutError> {
        let mut joined: Option<(u64, u64)> = None;
        while let Some(&Segment { address, length }) = self.segments.peek() {
            if length > 0 {
                let end = address.checked_add(length).ok_or(LayoutError::Overflow)?;
                match &mut joined {
                    None => joined = Some((address, end)),
                    Some((_, before)) if *before == address => *before = end,
                    Some(_) => break,
                }
            }
            self.segments.next();
        }
        Ok(joined)
    }

    fn advance(&mut self) -> Result<Option<Stretch>, LayoutError> {
        while self.passed < self.end {
            let Some((from, to)) = self.joined()? else {
                return Err(LayoutError::Beyond {
                    end: self.end,
                    available: self.passed,
                });
            };
            let start = self.passed;
            let stop = start.checked_add(to - from).ok_or(LayoutError::Overflow)?;
            self.passed = stop;
            if stop <= self.offset {
                continue;
            }
            let first = self.offset.saturating_sub(start);
            let length = stop.min(self.end) - start;
            return Ok(Some(Stretch {
                outer: (from, to),
                inner: (from + first, from + length),
                first: start <= self.offset,
                last: stop >= self.end,
            }));
        }
        Ok(None)
    }
}

/// Returns `address` rounded up to a page boundary; `None` past 2^64.
fn ceil(page_size: PageSize, address: u64) -> Option<u64> {
    address.checked_next_multiple_of(page_size.bytes())
}

/// Consecutive bytes of the range that pages of one size can map.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    start: u64,
    end: u64,
    /// Offset of the first byte in its page.
    first_offset: u64,
}

/// The longest run, and the first bus address at which a run ends too early.
#[derive(Debug, Default)]
struct Runs {
    longest: Run,
    seam: Option<u64>,
}

impl Runs {
    /// Looks for runs of pages of this size.
    ///
    /// Inside a run, segments meet at page boundaries. At the ends of the range a page larger than 4 KiB must still
    /// lie in the segment as a whole: a large page must not open memory to the board that the list does not hold.
    fn find<I: Iterator<Item = Segment>>(
        mut stretches: Stretches<I>,
        page_size: PageSize,
    ) -> Result<Self, LayoutError> {
        let mut runs = Self::default();
        let mut at = 0;
        let mut open: Option<Run> = None;
        while let Some(stretch) = stretches.advance()? {
            let (from, to) = stretch.inner;
            let (lowest, highest) = stretch.outer;
            let small = page_size == PageSize::Kib4;
            let begin = at;
            at += to - from;
            let offset = page_size.offset(from);
            let mut run = match open.take() {
                Some(run) if offset == 0 => Some(run),
                None if offset == 0 || stretch.first && (small || from - offset >= lowest) => {
                    Some(Run {
                        start: begin,
                        end: begin,
                        first_offset: offset,
                    })
                }
                _ => {
                    runs.seam.get_or_insert(from);
                    ceil(page_size, from).map(|page| Run {
                        start: begin + (page - from),
                        end: begin,
                        first_offset: 0,
                    })
                }
            };
            let past = page_size.offset(to);
            let whole = past == 0
                || stretch.last && (small || ceil(page_size, to).is_some_and(|end| end <= highest));
            if let Some(run) = &mut run {
                run.end = if whole { at } else { at.saturating_sub(past) };
                if run.end.saturating_sub(run.start) > runs.longest.end - runs.longest.start {
                    runs.longest = *run;
                }
            }
            if whole {
                open = run;
            } else {
                runs.seam.get_or_insert(to);
            }
        }
        Ok(runs)
    }
}

/// Chooses the page sizes for the bytes `offset..offset + length` of a scatter list, and counts the entries: the
/// largest size that suits all bytes. If `mixed` is given, a mixed layout is taken where it needs half as many
/// entries at most, or where the other needs more than this number.
///
/// `segments` is walked several times, so it should be cheap to clone (a slice
/// iterator, a walk along a scatter table). Neighbours on the bus are joined.
pub fn layout<I>(
    segments: I,
    offset: u64,
    length: u64,
    mixed: Option<u32>,
) -> Result<Layout, LayoutError>
where
    I: IntoIterator<Item = Segment> + Clone,
{
    if length == 0 {
        return Err(LayoutError::Empty);
    }
    let end = offset.checked_add(length).ok_or(LayoutError::Overflow)?;
    let mut best: Option<(Layout, u64)> = None;
    for page_size in PageSize::LARGEST_FIRST {
        let stretches = Stretches::new(segments.clone().into_iter(), offset, end);
        let Runs { longest, seam } = Runs::find(stretches, page_size)?;
        let uniform = longest.end - longest.start == length;
        if !uniform && page_size == PageSize::Kib4 {
            // A run ends early only at a seam.
            let address = seam.unwrap_or(0);
            return Err(LayoutError::Seam { address });
        }
        if uniform || mixed.is_some() && longest.end > longest.start {
            let first_offset = match longest.start {
                0 => longest.first_offset,
                _ => first_offset(segments.clone(), offset, end)?,
            };
            let mut layout = Layout {
                head: longest.start,
                tail: length - longest.end,
                ..Layout::uniform(page_size, 0, first_offset, length)
            };
            let entries = layout.parts().iter().map(Part::entries).sum();
            layout.entries = u32::try_from(entries).unwrap_or(u32::MAX);
            if uniform {
                let is_too_much = mixed.is_some_and(|most| entries > u64::from(most));
                let better = best.filter(|(_, fewer)| match is_too_much {
                    true => *fewer < entries,
                    false => *fewer <= entries / 2,
                });
                best = better.or(Some((layout, entries)));
                break;
            }
            best = best
                .filter(|(_, fewer)| *fewer <= entries)
                .or(Some((layout, entries)));
        }
    }
    match best {
        Some((layout, _)) if layout.entries <= MAX_ENTRIES => Ok(layout),
        Some((_, entries)) => Err(LayoutError::TooLong { entries }),
        // The last page size has returned or has a layout.
        None => Err(LayoutError::Empty),
    }
}

/// Returns the offset of the range in a page of 4 KiB.
fn first_offset<I>(segments: I, offset: u64, end: u64) -> Result<u64, LayoutError>
where
    I: IntoIterator<Item = Segment>,
{
    let first = Stretches::new(segments.into_iter(), offset, end).advance()?;
    Ok(first.map_or(0, |stretch| PageSize::Kib4.offset(stretch.inner.0)))
}

/// A page that an entry maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Bus address.
    pub address: u64,
    /// Size.
    pub size: PageSize,
}

/// Iterator over the pages of a layout, in the order of the entries. A type with a name: the names of nested ones are
/// too long for the kernel's tools.
#[derive(Debug, Clone)]
pub struct Pages<I: IntoIterator<Item = Segment>> {
    segments: I,
    offset: u64,
    parts: core::array::IntoIter<Part, PARTS>,
    size: PageSize,
    /// The rest of the part at hand.
    stretches: Option<Stretches<I::IntoIter>>,
    /// Next page and last page of the stretch at hand.
    at: Option<(u64, u64)>,
}

/// Returns the pages that `layout` maps; `segments` and `offset` as given to [`layout`].
pub fn pages<I>(segments: I, offset: u64, layout: &Layout) -> Pages<I>
where
    I: IntoIterator<Item = Segment> + Clone,
{
    Pages {
        segments,
        offset,
        parts: layout.parts().into_iter(),
        size: layout.page_size,
        stretches: None,
        at: None,
    }
}

impl<I: IntoIterator<Item = Segment> + Clone> Pages<I> {
    /// Returns the first page and the last page of the next stretch.
    fn next_stretch(&mut self) -> Option<(u64, u64)> {
        loop {
            let stretch = match &mut self.stretches {
                Some(stretches) => stretches.advance().ok()?,
                None => None,
            };
            if let Some(Stretch {
                inner: (from, to), ..
            }) = stretch
            {
                // `to > from`, so `to - 1` exists.
                return Some((self.size.floor(from), self.size.floor(to - 1)));
            }
            let part = self.parts.find(|part| part.length > 0)?;
            let start = self.offset.saturating_add(part.start);
            let end = start.saturating_add(part.length);
            let segments = self.segments.clone().into_iter();
            self.stretches = Some(Stretches::new(segments, start, end));
            self.size = part.page_size;
        }
    }
}

impl<I: IntoIterator<Item = Segment> + Clone> Iterator for Pages<I> {
    type Item = Page;

    fn next(&mut self) -> Option<Page> {
        let (address, last) = match self.at.take() {
            Some(at) => at,
            None => self.next_stretch()?,
        };
        let size = self.size;
        if address < last {
            self.at = Some((address + size.bytes(), last));
        }
        Some(Page { address, size })
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
