//! From the block's interrupt messages to the client's event file descriptors.
//!
//! A vfio-user client keeps the MSI-X table that its guest sees and traps accesses to it; the device only gets an event
//! file descriptor for each vector that is in use (`VFIO_USER_DEVICE_SET_IRQS`). The block's own table is in the
//! Verilog, and its messages are writes to the bus. So the model is the host of the block's table: it gives vector `n`
//! the address [`ADDRESS`] and the data `n`, opens it when a descriptor for it comes, and signals the descriptor when
//! the message arrives at the host, after all earlier writes of the block. Enable and Function Mask come to the block
//! from the function's MSI-X capability, as on a board.
//!
//! A block that was reset or configured has lost its table. A vector is open in it again when its descriptor has come
//! again. QEMU sends the descriptor of a vector each time that its guest unmasks it, by its own bit or by Function Mask
//! (`msix_handle_mask_update` in QEMU's `hw/pci/msix.c`, `vfio_msix_vector_do_use` in `hw/vfio/pci.c`), and Linux sets
//! and clears Function Mask around the writes with which it restores a table (`__pci_restore_msix_state` in
//! `drivers/pci/msi/msi.c`). So interrupts of a vector stay away until its entry has been restored.
//!
//! Three things are not modelled. Address and data of the messages are the model's own: an entry with a wrong one looks
//! right, and so does one that is only unmasked. A vector that the guest masks is closed in the client at once, and in the
//! block only for a moment when it is unmasked: the endpoint is not notified of a mask that is set if KVM does not
//! deliver the interrupts (`vfio_msix_vector_release`). And the client answers the guest's reads of the table.
//!
//! For a build without a table the hard IP makes an MSI of the interrupt lines that its registers enable
//! ([`peerlane_sim::opencl::Cra`]), or, in a layout without these, of every rising edge of the block's line; here that
//! signals the client's one descriptor while MSI is enabled.

use std::fs::File;
use std::io::Write;

/// Address of the block's messages, which x86 takes for interrupts.
pub(crate) const ADDRESS: u64 = peerlane_sim::MESSAGES.start;

/// The client's descriptors, one a vector.
#[derive(Debug)]
pub(crate) struct Interrupts {
    events: Vec<Option<File>>,
    /// Whether each descriptor has come since the block last lost its table.
    written: Vec<bool>,
    /// Messages signalled, by vector.
    pub(crate) signalled: Vec<u64>,
    /// Messages without a vector.
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

    /// Closes vectors in the block's table until their descriptors come.
    pub(crate) fn close(&mut self, start: u32, vectors: usize) {
        let slots = self.written.iter_mut().skip(start as usize);
        slots.take(vectors).for_each(|written| *written = false);
    }

    /// Takes descriptors for the vectors from `start` on.
    pub(crate) fn set(&mut self, start: u32, events: Vec<Option<File>>) {
        let slots = self.events.iter_mut().zip(&mut self.written);
        for ((slot, written), event) in slots.skip(start as usize).zip(events) {
            *slot = event;
            *written = true;
        }
    }

    /// Records that the block has lost its table.
    pub(crate) fn lose_table(&mut self) {
        self.written.fill(false);
    }

    /// Drops all descriptors: the client takes no interrupts any more.
    pub(crate) fn clear(&mut self) {
        self.events.fill_with(|| None);
    }

    /// Returns for each vector whether it is open in the block's table.
    pub(crate) fn open(&self) -> impl Iterator<Item = bool> + '_ {
        let both = self.events.iter().zip(&self.written);
        both.map(|(event, written)| event.is_some() && *written)
    }

    /// Signals the descriptor of a vector whose message has arrived.
    pub(crate) fn signal(&mut self, vector: u32) {
        let index = vector as usize;
        match self.events.get(index) {
            Some(Some(event)) => {
                let mut event = event;
                // A counter at its maximum is signalled already.
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
