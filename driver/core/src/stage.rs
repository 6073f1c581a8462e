// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stages of the release of a region's memory by the board.

/// The board's remaining use of a region's memory. It is changed under one lock, and the steps that a change requires
/// are carried out under the same lock: a second thread waits for the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The ATT has the entries, or they are being written: the board may use the memory at any time.
    Known,
    /// The entries are invalid. Requests that were translated before may still be in progress.
    Invalidated,
    /// No access to it is in progress, and none can come: the memory may be released. From here on no fence reads
    /// from it, for it may be gone.
    #[default]
    Fenced,
}

impl Stage {
    /// Records that the entries are about to be written. The memory must be held.
    pub fn begin(&mut self) {
        *self = Self::Known;
    }

    /// Whether the board has the entries, also after it was started again.
    pub fn is_known(self) -> bool {
        self == Self::Known
    }

    /// Whether an access to it may be in progress. As long as this is true the memory is held.
    pub fn is_held(self) -> bool {
        self != Self::Fenced
    }

    /// Whether the entries have to be invalidated now; the caller does so.
    #[must_use]
    pub fn invalidate(&mut self) -> bool {
        let known = self.is_known();
        if known {
            *self = Self::Invalidated;
        }
        known
    }

    /// Whether a fence is needed now; the caller runs it. The memory is held until this was called.
    #[must_use]
    pub fn fence(&mut self) -> bool {
        debug_assert!(!self.is_known(), "a fence before the invalidation");
        core::mem::replace(self, Self::Fenced) == Self::Invalidated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// Actions that are atomic under the lock.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Act {
        Invalidate,
        Fence,
        /// An owner that invalidates its memory does both in one action.
        Both,
        LetGo,
    }

    /// Threads that release a region: its holder, and owners that invalidate memory, once or several times.
    fn actors() -> [Vec<Act>; 3] {
        let holder = vec![Act::Invalidate, Act::Fence, Act::LetGo];
        let owner = vec![Act::Both, Act::LetGo];
        [holder, owner.repeat(3), owner]
    }

    proptest! {
        /// For any order of the actions: the memory is read by one fence, which is over before any thread releases
        /// the memory.
        #[test]
        fn one_fence_and_none_behind_the_end(order in proptest::collection::vec(0usize..3, 40)) {
            let mut actors = actors();
            let mut stage = Stage::default();
            stage.begin();
            let (mut held, mut invalidations, mut fences) = (true, 0, 0);
            for actor in order.into_iter().chain([0; 3]).chain([1; 6]).chain([2; 2]) {
                if actors[actor].is_empty() {
                    continue;
                }
                let act = actors[actor].remove(0);
                if matches!(act, Act::Invalidate | Act::Both) && stage.invalidate() {
                    invalidations += 1;
                }
                if matches!(act, Act::Fence | Act::Both) && stage.fence() {
                    prop_assert!(held, "a fence read memory that was released");
                    fences += 1;
                }
                if act == Act::LetGo {
                    prop_assert_eq!(stage, Stage::Fenced);
                    held = false;
                }
            }
            prop_assert_eq!((invalidations, fences), (1, 1));
        }
    }

    #[test]
    fn what_the_board_never_had_needs_nothing() {
        let mut stage = Stage::default();
        assert!(!stage.invalidate() && !stage.fence());
        assert_eq!(stage, Stage::Fenced);
    }
}
