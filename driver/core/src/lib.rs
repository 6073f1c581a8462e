// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver's logic, independent of any operating system.
//!
//! The host library and the kernel module compile the same source. The crate therefore uses neither `std` nor
//! `alloc`: a caller provides storage that is needed (see [`att::AttAllocator`]), so nothing here can fail for want
//! of memory. Bad input gives an error value, never a panic. The writes to the registers and their order are data
//! (see [`steps`]): the code that carries them out provides access, time and locks. Paths inside the crate are
//! relative (`super::`), so that the modules can also be included by `#[path]`.
//!
//! Byte order: every value in an interface is in the machine's own order; the dwords of
//! [`descriptor::Descriptor::encode`] and [`record::Record::decode`] stand for little-endian dwords in memory.
//!
//! ```
//! use peerlane_core::att::{AttAllocator, PageSize, Permissions};
//! use peerlane_core::layout::{self, Segment};
//! use peerlane_core::{owners::Owners, region::Region, table};
//!
//! // 192 KiB of a GPU at one place on the bus, of which a region takes all but the first 4 KiB.
//! let memory = [Segment { address: 0x38_0000_0000, length: 192 << 10 }];
//! let layout = layout::layout(memory, 4096, 188 << 10, None).unwrap();
//! assert_eq!((layout.page_size, layout.entries), (PageSize::Kib64, 3));
//!
//! let mut storage = [0; AttAllocator::<&mut [u64]>::words(4096)];
//! let mut att = AttAllocator::new(&mut storage[..], 4096).unwrap();
//! let run = att.allocate(layout.entries).unwrap();
//! let region = Region::new(run, &layout, Permissions::Write, Owners::channel(3)).unwrap();
//!
//! // What descriptors name, and what the driver writes for it: two words an entry.
//! let address = region.att_address(0).unwrap();
//! assert_eq!((address.page_size(), address.page_offset()), (PageSize::Kib64, 4096));
//! let pages = layout::pages(memory, 4096, &layout);
//! assert_eq!(table::map(&region, pages).flatten().flatten().count(), 6);
//! ```

#![no_std]

#[cfg(test)]
extern crate std;

pub mod att;
mod bits;
pub mod board;
pub mod brake;
pub mod bus;
pub mod capability;
pub mod changes;
pub mod channel;
pub mod counters;
pub mod cvp;
pub mod descriptor;
pub mod ends;
pub mod events;
pub mod extent;
pub mod fault;
pub mod fences;
pub mod fpga_memory;
pub mod kept;
pub mod layout;
pub mod lifecycle;
pub mod link;
pub mod named;
pub mod orders;
pub mod owners;
pub mod patience;
pub mod peers;
pub mod places;
pub mod queue;
pub mod quota;
pub mod record;
pub mod refusal;
pub mod region;
// Positions of 0 are written in it like all others.
#[allow(clippy::identity_op)]
pub mod regs;
pub mod ring;
pub mod shell;
pub mod stage;
pub mod steps;
pub mod streams;
pub mod table;
pub mod uapi;
pub mod window;
