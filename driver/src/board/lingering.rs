// SPDX-License-Identifier: GPL-2.0

//! ATT entries that the board does not have any more, but that descriptors may still name.

use super::Board;
use crate::{
    hw::Failure,
    logic::{
        att::Run,
        counters,
        lifecycle::Epoch,
        named::{Named, Progress},
    },
};
use core::ops::Range;
use kernel::{new_mutex, prelude::*, sync::Mutex};

/// Entries of regions that were unregistered. They belong to their channels until no descriptor names them.
#[pin_data]
pub(super) struct Lingering {
    #[pin]
    runs: Mutex<KVVec<Reserved>>,
}

struct Reserved {
    channel: u32,
    run: Run,
    named: Named,
    /// The start of the board in which they may be named: another start begins with empty queues.
    epoch: Epoch,
}

impl Lingering {
    /// Makes an empty list.
    pub(super) fn none() -> impl PinInit<Self> {
        pin_init!(Self { runs <- new_mutex!(KVVec::new()) })
    }
}

impl Board {
    /// Reads the present progress of a channel.
    fn progress(&self, channel: u32) -> Result<Progress, Failure> {
        let read = |register| self.hw.read(register);
        Progress::read(channel, read, || self.hw.run(counters::snapshot()))
    }

    /// Frees a channel's entries, which were taken from the board, as soon as no descriptor names them.
    pub(crate) fn retire_entries(&self, channel: u32, run: Run) {
        // A board that cannot be used has empty queues when it is used again.
        let named = self.hw.usable().and_then(|epoch| {
            let progress = self.progress(channel)?;
            Ok((Named::new(&progress, self.capabilities.queue_depth()), epoch))
        });
        let Some((named, epoch)) = named.ok().filter(|(named, _)| !named.is_over()) else {
            return self.give_entries(channel, run);
        };
        let mut runs = self.lingering.runs.lock();
        if runs.reserve(1, GFP_KERNEL).is_err() {
            drop(runs);
            // They can reach only the context's own memory.
            return self.give_entries(channel, run);
        }
        let reserved = Reserved {
            channel,
            run,
            named,
            epoch,
        };
        // There is room.
        let _ = runs.push(reserved, GFP_KERNEL);
    }

    /// Calls `f` with the channel and the entries of each run that descriptors may still name.
    pub(crate) fn each_lingering(&self, mut f: impl FnMut(u32, Range<u32>)) {
        for held in self.lingering.runs.lock().iter() {
            f(held.channel, held.run.indices());
        }
    }

    /// Frees the entries that no descriptor names any more; of a channel that was aborted, all.
    pub(crate) fn collect_entries(&self, aborted: Option<u32>) {
        let mut runs = self.lingering.runs.lock();
        if runs.is_empty() {
            return;
        }
        let live = self.hw.usable().ok();
        for channel in 0..self.capabilities.channels {
            let mut of_channel = runs.iter_mut().filter(|held| held.channel == channel).peekable();
            if aborted == Some(channel) || of_channel.peek().is_none() {
                continue;
            }
            // A channel that cannot be read now is looked at the next time.
            if let Ok(progress) = self.progress(channel) {
                of_channel.for_each(|held| held.named.look(&progress));
            }
        }
        let mut index = 0;
        while let Some(held) = runs.get(index) {
            let over = held.named.is_over() || live.is_none_or(|live| live != held.epoch);
            if !over && aborted != Some(held.channel) {
                index += 1;
            } else if let Ok(held) = runs.remove(index) {
                self.give_entries(held.channel, held.run);
            }
        }
    }
}
