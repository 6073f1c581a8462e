//! From the block's interrupt messages to the client's event file descriptors.
//!
//! A vfio-user client keeps the MSI-X table that its guest sees and traps accesses to it; what the
//! device gets is an event file descriptor for each vector that is in use (`VFIO_USER_DEVICE_SET_IRQS`).
//! The block's own table is in the Verilog, and its messages are writes to the bus. So the model is the
//! host of the block's table: it gives vector `n` the address [`ADDRESS`] and the data `n`, opens it
//! while there is a descriptor for it, and signals the descriptor when the message arrives at the host,
//! behind all that the block wrote before. Enable and Function Mask come to the block from the
//! function's MSI-X capability, as on a board. What is the model's own, then, is the address and data
//! of the messages, and that the guest's mask bit of a vector closes it in the client and not in the
//! block: a masked vector's message stays pending there.
//!
//! Of a build without a table the hard IP makes an MSI of the interrupt lines that its registers enable
//! ([`peerlane_sim::opencl::Cra`]), or, in a layout without these, of every rising edge of the block's line;
//! here that signals the client's one descriptor while MSI is enabled.

use std::fs::File;
use std::io::Write;

/// Where the block sends its messages: what x86 takes for an interrupt.
pub(crate) const ADDRESS: u64 = peerlane_sim::MESSAGES.start;

/// The client's descriptors, one a vector.
#[derive(Debug)]
pub(crate) struct Interrupts {
    events: Vec<Option<File>>,
    /// Messages signalled, by vector.
    pub(crate) signalled: Vec<u64>,
    /// Messages that are no vector's.
    pub(crate) lost: u64,
}

impl Interrupts {
    pub(crate) fn new(vectors: u32) -> Self {
        Self {
            events: (0..vectors).map(|_| None).collect(),
            signalled: vec![0; vectors as usize],
            lost: 0,
        }
    }

    /// Takes descriptors for the vectors from `start` on.
    pub(crate) fn set(&mut self, start: u32, events: Vec<Option<File>>) {
        let slots = self.events.iter_mut().skip(start as usize);
        for (slot, event) in slots.zip(events) {
            *slot = event;
        }
    }

    /// The client wants no interrupt any more.
    pub(crate) fn clear(&mut self) {
        self.events.fill_with(|| None);
    }

    /// For each vector, whether there is a descriptor.
    pub(crate) fn open(&self) -> impl Iterator<Item = bool> + '_ {
        self.events.iter().map(Option::is_some)
    }

    /// A vector's message has arrived.
    pub(crate) fn signal(&mut self, vector: u32) {
        let index = vector as usize;
        match self.events.get(index) {
            Some(Some(event)) => {
                let mut event = event;
                // A counter that cannot grow further says what is to be said already.
                let _ = event.write_all(&1_u64.to_ne_bytes());
                self.signalled[index] += 1;
            }
            // The vector was closed while its message was on the way.
            Some(None) => {}
            None => self.lost += 1,
        }
    }

    pub(crate) fn clear_counters(&mut self) {
        self.signalled.fill(0);
        self.lost = 0;
    }
}
