//! Channels: parts of the board that work apart from each other.

use crate::device::Shared;
use crate::error::Result;
use crate::memory::{Memory, Region};
use crate::transfer::Queue;
use peerlane_core::att::Permissions;
use peerlane_core::channel::Moderation;
use peerlane_core::counters::ChannelCounters;
use peerlane_core::owners::Owners;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// What a channel is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelOptions {
    /// FPGA memory that the channel may touch, in whole 4 KiB; `None` is all of it.
    pub range: Option<Range<u64>>,
    /// How its interrupts are held back. A transfer that is to be told of at once is
    /// submitted as [urgent](crate::Terms::urgent).
    pub moderation: Moderation,
    /// How long the channel may end its work when its last handle goes. After that it is
    /// aborted.
    pub drain: Duration,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            range: None,
            moderation: Moderation::default(),
            drain: Duration::from_millis(100),
        }
    }
}

/// A channel that is held.
pub(crate) struct Claim {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u32,
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Channel").field(&self.number).finish()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.shared.close(self.number);
    }
}

/// A channel of the board: queues and a completion ring of its own, a range of FPGA
/// memory, and the regions that are registered for it. Channels share the link fairly; a
/// fault or an abort of one does not touch the others.
///
/// Clones are handles of the same channel. It is given back with the last handle of it,
/// its queues and its transfers: what is under way may end for as long as
/// [`ChannelOptions::drain`] says and is aborted then, and regions that were registered
/// for it alone are invalidated.
#[derive(Debug, Clone)]
pub struct Channel {
    pub(crate) claim: Arc<Claim>,
}

impl Channel {
    /// Its number on the board.
    pub fn number(&self) -> u32 {
        self.claim.number
    }

    /// Its submission queue.
    pub fn queue(&self) -> Queue {
        Queue {
            shared: Arc::clone(&self.claim.shared),
            claim: Some(Arc::clone(&self.claim)),
        }
    }

    /// Registers all of a memory for this channel alone.
    pub fn register(&self, memory: &Memory, permissions: Permissions) -> Result<Region> {
        self.register_range(memory, 0..memory.length(), permissions)
    }

    /// Registers a range of a memory for this channel alone.
    pub fn register_range(
        &self,
        memory: &Memory,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<Region> {
        let owners = Owners::channel(self.claim.number);
        Region::new(&self.claim.shared, memory, range, permissions, owners)
    }

    /// Waits until all transfers that were submitted to the channel have ended, well or
    /// not, for at most `timeout` of the board's time.
    pub fn drain(&self, timeout: Duration) -> Result<()> {
        self.claim.shared.drain(self.claim.number, timeout)
    }

    /// Ends all transfers of the channel with [`Fault::Aborted`](crate::Fault::Aborted), in
    /// bounded time whatever the link does. Other channels go on, and so can this one
    /// after it. This is the way out of [`Error::Broken`](crate::Error::Broken) too.
    pub fn abort(&self) -> Result<()> {
        self.claim.shared.lock().abort(self.claim.number)
    }

    /// What the channel has done since the block's reset, whoever held it.
    pub fn counters(&self) -> Result<ChannelCounters> {
        let mut inner = self.claim.shared.lock();
        inner.channel_counters(self.claim.number)
    }
}
