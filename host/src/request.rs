//! Requests of transfers, and their checks.

use crate::device::Device;
use crate::ends::is_ragged;
use crate::error::{Error, Result};
use crate::flow::Keep as _;
use crate::region::{Part, Region};
use peerlane_core::descriptor::{Control, DWORDS, Descriptor, Direction, Local};
use peerlane_core::extent::Extents;

/// A transfer to submit.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Direction.
    pub direction: Direction,
    /// The peer's memory.
    pub region: &'a Region,
    /// Byte offset in the region.
    pub offset: u64,
    /// Byte address in FPGA memory.
    pub fpga_address: u64,
    /// Bytes to move.
    pub length: u64,
    /// Bytes a descriptor; `None` takes the setting of [`Queue::set_piece`](crate::Queue::set_piece).
    pub piece: Option<u32>,
}

impl<'a> Request<'a> {
    /// Makes a request for a region or a part of one, with the queue's setting of bytes a descriptor.
    pub fn new(direction: Direction, part: impl Into<Part<'a>>, fpga_address: u64) -> Self {
        let Part {
            region,
            offset,
            length,
        } = part.into();
        Self {
            direction,
            region,
            offset,
            fpga_address,
            length,
            piece: None,
        }
    }
}

impl Device {
    /// Returns the descriptor of a request that fits into one, checked as [`Queue::submit`](crate::Queue::submit)
    /// checks it. It is for code that writes descriptors to the board without the library's queue
    /// ([`hand_over`](Self::hand_over)). The descriptor asks for a record.
    ///
    /// The board uses the ATT entries as they are when it gets the descriptor: [hold](crate::Region::hold) the region
    /// until the descriptor has ended. A write whose end proves that its data have arrived needs a region that the
    /// board may read, too. Register memory of this process by [`one_page_size`](Self::one_page_size): one descriptor
    /// cannot move bytes in pages of two sizes.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooLong`], [`Error::Local`], [`Error::Region`], [`Error::Foreign`],
    /// [`Error::Forgotten`]. [`Error::Granularity`]: the library does not write the ends of this transfer.
    pub fn describe(&self, request: &Request<'_>, cookie: u32) -> Result<[u32; DWORDS]> {
        self.check(request)?;
        let peer = request.region.place(request.offset, request.length)?;
        if request.direction == Direction::FromFpga {
            (request.region).check_ends(peer, request.length, |_| false)?;
        }
        if !request.region.stands() {
            return Err(Error::Forgotten);
        }
        let length = u32::try_from(request.length).map_err(|_| Error::TooLong {
            length: request.length,
        })?;
        let descriptor = Descriptor {
            peer,
            local: Local::Memory(request.fpga_address),
            length,
            control: Control {
                record: true,
                ..Control::default()
            },
            cookie,
        };
        descriptor.encode().map_err(|error| Error::Broken {
            reason: error.to_string(),
        })
    }

    /// Checks a request, and returns the places of the region's bytes.
    pub(crate) fn check(&self, request: &Request<'_>) -> Result<Extents> {
        request.region.check_device(self)?;
        self.0.check_local(request.fpga_address, request.length)?;
        self.check_peer(request)
    }

    /// Checks the region's side of a request, and returns the places of the bytes.
    pub(crate) fn check_peer(&self, request: &Request<'_>) -> Result<Extents> {
        let &Request {
            direction,
            region,
            offset,
            length,
            ..
        } = request;
        region.check_device(self)?;
        region.check(direction, offset, length)?;
        if direction == Direction::ToFpga && region.is_doubted() {
            return Err(Error::Doubted);
        }
        let places = region.places(offset, length)?;
        if direction == Direction::FromFpga {
            region.check_ends(places.first(), length, |_| true)?;
        }
        Ok(places)
    }

    /// Returns whether the board writes all bytes of a write where they belong.
    pub(crate) fn writes_all(&self, request: &Request<'_>) -> bool {
        let granularity = self.0.write_granularity();
        let places = request.region.places(request.offset, request.length);
        places.is_ok_and(|places| !is_ragged(places.first(), request.length, granularity))
    }
}
