// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time for which descriptors may still name ATT entries that were taken from the board.
//!
//! A descriptor names entries by their number. If its channel accepted it before the region was unregistered, it must
//! fail, so it must not find the entries of another region of the same channel there. The entries stay reserved until
//! each queue of the channel has been seen empty, or has ended as many descriptors as it can hold: it ends them in
//! their order.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::counters::wide;
use super::regs::csr;
use super::steps::Register;

/// Progress of a channel, by [direction](super::descriptor::Direction): write, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Whether descriptors were accepted that have not ended (`CHANNEL_STATUS`).
    pub busy: [bool; 2],
    /// Descriptors that have ended since the block's reset; meaningless for an idle direction.
    pub ended: [u64; 2],
}

impl Progress {
    /// Reads the progress of a channel, whose `CHANNEL_STATUS` is read first. Counters are read if it is busy, after
    /// `snapshot` has taken a [snapshot](super::counters::snapshot).
    pub fn read<E>(
        channel: u32,
        mut read: impl FnMut(Register) -> Result<u32, E>,
        snapshot: impl FnOnce() -> Result<(), E>,
    ) -> Result<Self, E> {
        let place = |offset| Register::Channel { channel, offset };
        let status = read(place(csr::CHANNEL_STATUS))?;
        let busy = [
            status & csr::CHANNEL_STATUS_WRITE_BUSY_MASK != 0,
            status & csr::CHANNEL_STATUS_READ_BUSY_MASK != 0,
        ];
        let mut ended = [0; 2];
        if busy != [false; 2] {
            snapshot()?;
            let counters = [csr::WRITE_DESCRIPTORS_LO, csr::READ_DESCRIPTORS_LO];
            for (ended, low) in ended.iter_mut().zip(counters) {
                *ended = wide(&mut read, place, low)?;
            }
        }
        Ok(Self { busy, ended })
    }
}

/// Descriptors that have to end before entries can be given to another region of their channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// For each direction that was busy: the count of ended descriptors at which it is over.
    until: [Option<u64>; 2],
}

impl Named {
    /// Makes the state of entries that were taken from the board before `progress` was read. A queue holds `depth`
    /// descriptors of a channel; no more than that are on their way through the engine.
    pub const fn new(progress: &Progress, depth: u32) -> Self {
        let Progress { busy, ended } = progress;
        let most = (depth as u64).saturating_mul(2);
        Self {
            until: [
                if busy[0] {
                    Some(ended[0].saturating_add(most))
                } else {
                    None
                },
                if busy[1] {
                    Some(ended[1].saturating_add(most))
                } else {
                    None
                },
            ],
        }
    }

    /// Records progress that was read later, in the same start of the board.
    pub fn look(&mut self, progress: &Progress) {
        for (direction, until) in self.until.iter_mut().enumerate() {
            let open = |until: &u64| progress.busy[direction] && progress.ended[direction] < *until;
            *until = until.filter(open);
        }
    }

    /// Whether no descriptor names them any more.
    pub const fn is_over(&self) -> bool {
        self.until[0].is_none() && self.until[1].is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::vec;

    const REST: Progress = Progress {
        busy: [false; 2],
        ended: [0; 2],
    };

    #[test]
    fn a_channel_at_rest_names_nothing() {
        assert!(Named::new(&REST, 128).is_over());
    }

    #[test]
    fn each_direction_ends_by_itself() {
        let seen = |busy, ended| Progress { busy, ended };
        let mut named = Named::new(&seen([true, true], [7, 9]), 4);
        named.look(&seen([true, false], [14, 0]));
        assert!(!named.is_over(), "the write queue may hold eight");
        // The read queue was empty once; its present descriptors are later ones.
        named.look(&seen([true, true], [14, 1]));
        assert!(!named.is_over());
        named.look(&seen([true, true], [15, 2]));
        assert!(named.is_over());
    }

    #[test]
    fn counters_are_read_of_a_busy_channel_only() {
        let read = |status: u32| {
            Progress::read(
                3,
                |register| match register {
                    Register::Channel { channel: 3, offset } => Ok(match offset {
                        csr::CHANNEL_STATUS => status,
                        csr::WRITE_DESCRIPTORS_LO => 1,
                        csr::WRITE_DESCRIPTORS_HI => 2,
                        csr::READ_DESCRIPTORS_LO => 3,
                        csr::READ_DESCRIPTORS_HI => 4,
                        other => panic!("{other:#x}"),
                    }),
                    other => panic!("{other:?}"),
                },
                || {
                    if status == 0 {
                        Err("a snapshot")
                    } else {
                        Ok(())
                    }
                },
            )
        };
        assert_eq!(read(0), Ok(REST));
        let busy = read(csr::CHANNEL_STATUS_READ_BUSY_MASK);
        let ended = [0x2_0000_0001, 0x4_0000_0003];
        assert_eq!(
            busy,
            Ok(Progress {
                busy: [false, true],
                ended
            })
        );
    }

    /// A queue that is never empty: no earlier descriptor is left when the entries are given out.
    #[test]
    fn nothing_of_before_is_left_in_a_queue_that_never_rests() {
        const DEPTH: u32 = 16;
        for backlog in 1..=2 * DEPTH as usize {
            let mut queue: VecDeque<bool> = vec![true; backlog].into();
            let mut ended = 100;
            let seen = |ended| Progress {
                busy: [true, false],
                ended: [ended, 0],
            };
            let mut named = Named::new(&seen(ended), DEPTH);
            let mut turns = 0;
            while !named.is_over() {
                queue.push_back(false);
                queue.pop_front();
                ended += 1;
                turns += 1;
                named.look(&seen(ended));
            }
            assert!(!queue.contains(&true), "{backlog}");
            assert_eq!(turns, 2 * DEPTH);
        }
    }
}
