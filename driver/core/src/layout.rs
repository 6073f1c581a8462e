// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a scatter list to ATT pages: which page size, how many entries, which
//! bus addresses.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The page size of every entry.
    pub page_size: PageSize,
    /// Entries needed, at least 1.
    pub entries: u32,
    /// Offset of the range's first byte in its first page.
    pub first_offset: u64,
    /// Length of the range in bytes.
    pub length: u64,
}

/// Why a range of a scatter list cannot be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutError {
    /// The range has no bytes.
    Empty,
    /// The range ends behind the scatter list.
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
        /// The bus address that it is said to have.
        address: u64,
    },
    /// Two segments meet at an address that is no multiple of 4 KiB.
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
                "two pieces of the memory meet at bus address {address:#x}, which is no multiple of 4 KiB"
            ),
            Self::TooLong { entries } => write!(
                f,
                "the range needs {entries} ATT entries, more than any table has"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

/// Makes a list of segments of the pieces in which memory is handed over, and believes nothing: an
/// exporter's table may be wrong. Neighbours are joined, and what is beyond the memory's length is
/// left out, for it is somebody else's.
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
    /// No piece yet, of memory of `length` bytes.
    pub const fn new(length: u64) -> Self {
        Self {
            open: None,
            offset: 0,
            length,
        }
    }

    /// Takes the next piece. Gives the segment before it, if it does not continue that.
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

    /// The last segment, if there was a piece.
    pub fn finish(self) -> Option<Segment> {
        self.open
    }
}

/// A stretch of the range that is contiguous on the bus, with the segment it lies in.
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
    /// Bytes of the list that lie before the next segment.
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

    /// The next segment with bytes, joined with those that follow on without a gap.
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

/// `address` rounded up to a page boundary; `None` past 2^64.
fn ceil(page_size: PageSize, address: u64) -> Option<u64> {
    address.checked_next_multiple_of(page_size.bytes())
}

impl Stretch {
    /// Whether pages of this size can map the stretch.
    ///
    /// Inside the range, segments must meet at page boundaries. At the ends of the
    /// range a page larger than 4 KiB must still lie in the segment as a whole:
    /// a large page must not open memory to the board that the list does not hold.
    fn suits(&self, page_size: PageSize) -> bool {
        let (from, to) = self.inner;
        let (lowest, highest) = self.outer;
        let starts = if self.first {
            page_size == PageSize::Kib4 || page_size.floor(from) >= lowest
        } else {
            page_size.offset(from) == 0
        };
        let ends = if self.last {
            page_size == PageSize::Kib4 || ceil(page_size, to).is_some_and(|end| end <= highest)
        } else {
            page_size.offset(to) == 0
        };
        starts && ends
    }

    /// Number of pages of this size that the stretch touches.
    fn pages(&self, page_size: PageSize) -> u64 {
        let (from, to) = self.inner;
        // `to > from`, so `to - 1` exists.
        (page_size.floor(to - 1) - page_size.floor(from)) / page_size.bytes() + 1
    }
}

/// Chooses the largest page size for the bytes `offset..offset + length` of a scatter
/// list, and counts the entries.
///
/// `segments` is walked several times, so it should be cheap to clone (a slice
/// iterator, a walk along a scatter table). Neighbours on the bus are joined.
pub fn layout<I>(segments: I, offset: u64, length: u64) -> Result<Layout, LayoutError>
where
    I: IntoIterator<Item = Segment> + Clone,
{
    if length == 0 {
        return Err(LayoutError::Empty);
    }
    let end = offset.checked_add(length).ok_or(LayoutError::Overflow)?;
    let walk = || Stretches::new(segments.clone().into_iter(), offset, end);
    for page_size in PageSize::LARGEST_FIRST {
        let mut stretches = walk();
        let mut entries = 0u64;
        let mut first_offset = 0;
        let mut misfit = None;
        while let Some(stretch) = stretches.advance()? {
            if !stretch.suits(page_size) {
                misfit = Some(if stretch.first {
                    stretch.inner.1
                } else if page_size.offset(stretch.inner.0) != 0 {
                    stretch.inner.0
                } else {
                    stretch.inner.1
                });
                break;
            }
            if stretch.first {
                first_offset = page_size.offset(stretch.inner.0);
            }
            entries = entries
                .checked_add(stretch.pages(page_size))
                .ok_or(LayoutError::Overflow)?;
        }
        match misfit {
            None => {
                return Ok(Layout {
                    page_size,
                    entries: u32::try_from(entries)
                        .ok()
                        .filter(|entries| *entries <= MAX_ENTRIES)
                        .ok_or(LayoutError::TooLong { entries })?,
                    first_offset,
                    length,
                });
            }
            Some(address) if page_size == PageSize::Kib4 => {
                return Err(LayoutError::Seam { address });
            }
            Some(_) => {}
        }
    }
    // The last page size has returned either way.
    Err(LayoutError::Empty)
}

/// Iterator over the bus addresses of a layout's pages, in the order of the entries.
#[derive(Debug, Clone)]
pub struct Pages<I: Iterator<Item = Segment>> {
    stretches: Stretches<I>,
    page_size: PageSize,
    /// Next page and last page of the stretch at hand.
    at: Option<(u64, u64)>,
}

/// The bus addresses that `layout` maps; `segments` and `offset` as given to [`layout`].
pub fn pages<I>(segments: I, offset: u64, layout: &Layout) -> Pages<I::IntoIter>
where
    I: IntoIterator<Item = Segment>,
{
    let end = offset.saturating_add(layout.length);
    Pages {
        stretches: Stretches::new(segments.into_iter(), offset, end),
        page_size: layout.page_size,
        at: None,
    }
}

impl<I: Iterator<Item = Segment>> Iterator for Pages<I> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (page, last) = match self.at.take() {
            Some(at) => at,
            None => {
                let stretch = self.stretches.advance().ok()??;
                (
                    self.page_size.floor(stretch.inner.0),
                    self.page_size.floor(stretch.inner.1 - 1),
                )
            }
        };
        if page < last {
            self.at = Some((page + self.page_size.bytes(), last));
        }
        Some(page)
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
