//! From the block's interrupt messages to the client's event file descriptors.
//!
//! A vfio-user client keeps the MSI-X table that its guest sees and traps accesses to it; what the
//! device gets is an event file descriptor for each vector that is in use (`VFIO_USER_DEVICE_SET_IRQS`).
//! The block's own table is in the Verilog, and its messages are writes to the bus. So the model is the
//! host of the block's table: it gives vector `n` the address [`ADDRESS`] and the data `n`, opens it
//! when a descriptor for it comes, and signals the descriptor when the message arrives at the host,
//! behind all that the block wrote before. Enable and Function Mask come to the block from the
//! function's MSI-X capability, as on a board.
//!
//! A block that was reset or configured has lost its table. A vector is open in it again when its descriptor has come
//! again. QEMU sends the descriptor of a vector each time that its guest unmasks it, by its own bit or by Function Mask
//! (`msix_handle_mask_update` in QEMU's `hw/pci/msix.c`, `vfio_msix_vector_do_use` in `hw/vfio/pci.c`), and Linux sets and
//! clears Function Mask around the writes with which it restores a table (`__pci_restore_msix_state` in
//! `drivers/pci/msi/msi.c`). So interrupts of a vector stay away as long as nobody has restored its entry.
//!
//! Three things are not seen. Address and data of the messages are the model's own: an entry with a wrong one looks
//! right, and so does one that is only unmasked. A vector that the guest masks is closed in the client and not in the block, where nothing comes of a mask that
//! is set, if KVM does not deliver the interrupts (`vfio_msix_vector_release`). And the guest's reads of the table are the
//! client's to answer.
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
    /// Which of them have come since the block had its table last.
    written: Vec<bool>,
    /// Messages signalled, by vector.
    pub(crate) signalled: Vec<u64>,
    /// Messages that are no vector's.
    pub(crate) lost: u64,
}

impl Interrupts {
    pub(crate) fn new(vectors: u32) -> Self {
        Self {
            events: (0..vectors).map(|_| None).collect(),
            written: vec![false; vectors as usize],
            signalled: vec![0; vectors as usize],
            lost: 0,
        }
    }

    /// Takes descriptors for the vectors from `start` on.
    pub(crate) fn set(&mut self, start: u32, events: Vec<Option<File>>) {
        let slots = self.events.iter_mut().zip(&mut self.written);
        for ((slot, written), event) in slots.skip(start as usize).zip(events) {
            *slot = event;
            *written = true;
        }
    }

    /// The block has lost its table.
    pub(crate) fn lose_table(&mut self) {
        self.written.fill(false);
    }

    /// The client wants no interrupt any more.
    pub(crate) fn clear(&mut self) {
        self.events.fill_with(|| None);
    }

    /// For each vector, whether it is open in the block's table.
    pub(crate) fn open(&self) -> impl Iterator<Item = bool> + '_ {
        let both = self.events.iter().zip(&self.written);
        both.map(|(event, written)| event.is_some() && *written)
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
