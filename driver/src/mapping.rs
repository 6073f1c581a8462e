// SPDX-License-Identifier: GPL-2.0

//! The board's knowledge of a region: its entries of the ATT.

use crate::{
    board::{explain, Board},
    events::Events,
    ffi::Text,
    hw::Failure,
    logic::{
        att::Permissions,
        kept::Kind,
        layout::{self, Layout, LayoutError, Page, Segment},
        lifecycle::Epoch,
        owners::Owners,
        region::Region,
        stage::Stage,
        steps::Step,
        table::{self, Reach},
    },
    peers::Proofs,
    trace,
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
    time::{Instant, Monotonic},
};

/// A region's entries. While the board has them, their memory must be held.
///
/// # Locking
/// The state's lock is taken inside of a dma-buf's reservation, and outside of the hardware's. Nothing is allocated
/// under it. The steps that a change of the [`Stage`] requires are carried out under it, too: a fence reads from the
/// memory, which its owner releases only after it has had the lock.
#[pin_data]
pub(crate) struct Mapping {
    board: Arc<Board>,
    /// Events of the context that it belongs to.
    events: Arc<Events>,
    channel: u32,
    kind: Kind,
    #[pin]
    state: Mutex<State>,
}

struct State {
    /// The entries, as long as they are reserved.
    placed: Option<Placed>,
    /// The owner of the memory has invalidated it.
    revoked: bool,
}

struct Placed {
    region: Region,
    segments: KVVec<Segment>,
    /// Offset of the region in the segments.
    offset: u64,
    stage: Stage,
    /// The board's count of doubts when the memory's devices were seen to answer; `None`: reads need no proof.
    proof: Option<u64>,
    /// The board does not read it any more, since reads were lost after the proof.
    in_doubt: bool,
}

impl Placed {
    fn pages(&self) -> impl Iterator<Item = Page> + '_ {
        // The layout was made of the same segments, so every page is aligned.
        let segments = self.segments.iter().copied();
        layout::pages(segments, self.offset, self.region.layout())
    }

    /// Returns all permissions of the board at present.
    fn permissions(&self) -> Option<Permissions> {
        match self.region.permissions() {
            Permissions::Read if self.in_doubt => None,
            Permissions::ReadWrite if self.in_doubt => Some(Permissions::Write),
            permissions => Some(permissions),
        }
    }

    fn entries(&self) -> impl Iterator<Item = Step> + '_ {
        let permissions = self.permissions();
        let map = |permissions| table::map_as(&self.region, permissions, self.pages());
        let entries = permissions.into_iter().flat_map(map).flatten().flatten();
        let owners = table::set_owners(self.region.owners());
        Iterator::chain(owners.into_iter(), entries)
    }
}

impl Mapping {
    /// Makes a mapping without entries, for memory of this kind and a context.
    pub(crate) fn new(
        board: Arc<Board>,
        events: Arc<Events>,
        channel: u32,
        kind: Kind,
    ) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                board,
                events,
                channel,
                kind,
                state <- new_mutex!(State { placed: None, revoked: false }),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Writes to the log why a region is refused.
    fn explain_refusal(&self, length: u64, error: impl core::fmt::Display) {
        explain!(
            self.board,
            "region of {} bytes refused: {}\n",
            length,
            Text(error)
        );
    }

    /// Works out the entries for `length` bytes at `offset` of the memory in these segments, in pages of one size or
    /// [mixed](layout::layout). If those are more than any table
    /// has, their number comes back instead.
    pub(crate) fn lay_out(
        &self,
        segments: &[Segment],
        offset: u64,
        length: u64,
        mixed: Option<u32>,
    ) -> Result<Result<Layout, u64>> {
        let reach = segments.iter().all(|segment| {
            // No segment is empty.
            let last = segment.address.checked_add(segment.length - 1);
            last.is_some_and(|last| self.board.capabilities.reaches(last))
        });
        if !reach {
            return Err(ERANGE);
        }
        match layout::layout(segments.iter().copied(), offset, length, mixed) {
            Ok(layout) => Ok(Ok(layout)),
            Err(error) => {
                self.explain_refusal(length, error);
                match error {
                    LayoutError::TooLong { entries } => Ok(Err(entries)),
                    _ => Err(EINVAL),
                }
            }
        }
    }

    /// Reserves the entries of a layout of these segments, which are taken if nothing fails. The board has the
    /// entries after [`publish`](Self::publish). `EDQUOT`: the channel may not have so many; `ENOSPC`: there are not
    /// so many.
    pub(crate) fn place(
        &self,
        segments: &mut KVVec<Segment>,
        offset: u64,
        layout: &Layout,
        permissions: Permissions,
    ) -> Result {
        let run = self.board.take_entries(self.channel, layout.entries)?;
        let owners = Owners::channel(self.channel);
        let region = match Region::new(run, layout, permissions, owners) {
            Ok(region) => region,
            Err((run, error)) => {
                self.board.give_entries(self.channel, run);
                self.explain_refusal(layout.length, error);
                return Err(EINVAL);
            }
        };
        // From here on `forget` frees the entries.
        self.state.lock().placed = Some(Placed {
            region,
            segments: core::mem::take(segments),
            offset,
            stage: Stage::default(),
            proof: None,
            in_doubt: false,
        });
        Ok(())
    }

    /// Checks whether the board may read from the memory's devices, before the region is published. `EXDEV`: it may
    /// not.
    pub(crate) fn prove(&self, proofs: &mut Proofs<'_>) -> Result {
        // Held to the end: the owner releases the memory only after it has had the lock.
        let mut state = self.state.lock();
        if state.revoked {
            return Err(ESTALE);
        }
        let placed = state.placed.as_mut().ok_or(ESTALE)?;
        let doubts = self.board.doubts();
        let mut is_a_peer = false;
        for page in placed.pages() {
            is_a_peer |= proofs.may_read(page.address)?;
        }
        placed.proof = is_a_peer.then_some(doubts);
        Ok(())
    }

    /// Writes the entries that are reserved. `ESTALE`: the owner has invalidated the memory.
    ///
    /// A restart of the board writes the entries of the regions again that it finds: a caller that publishes a region
    /// holds a lock of the restart's until the region can be found.
    pub(crate) fn publish(&self) -> Result {
        let mut state = self.state.lock();
        if state.revoked {
            return Err(ESTALE);
        }
        let placed = state.placed.as_mut().ok_or(ESTALE)?;
        if placed.proof.is_some_and(|doubts| doubts != self.board.doubts()) {
            return Err(EAGAIN);
        }
        placed.stage.begin();
        Ok(self.board.hw.run(placed.entries())?)
    }

    /// Returns the kind of its memory.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    fn reach(&self, placed: &Placed) -> Reach {
        match self.kind {
            Kind::Host => Reach::Host,
            Kind::DmaBuf | Kind::Nvidia if placed.in_doubt => Reach::Peer { flush: None },
            Kind::DmaBuf | Kind::Nvidia => Reach::peer(&placed.region, placed.pages()),
        }
    }

    /// Calls `look` with the region, as long as it has entries.
    pub(crate) fn region<R>(&self, look: impl FnOnce(&Region) -> R) -> Result<R> {
        let state = self.state.lock();
        state
            .placed
            .as_ref()
            .map(|placed| look(&placed.region))
            .ok_or(ESTALE)
    }

    /// Writes the entries again, as the board is started. If reads were lost since a device was seen to answer, the
    /// board does not read its memory any more: it is not known which device has lost them.
    pub(crate) fn restore(&self, epoch: Epoch) -> Result<(), Failure> {
        match &mut self.state.lock().placed {
            Some(placed) if placed.stage.is_known() => {
                let doubts = self.board.doubts();
                placed.in_doubt = placed.proof.is_some_and(|before| before != doubts);
                self.board.hw.upkeep(epoch, placed.entries())
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of doubts with which the proof of its reads ends; 0: they need no proof.
    pub(crate) fn proof(&self) -> u64 {
        let state = self.state.lock();
        let proof = state.placed.as_ref().and_then(|placed| placed.proof);
        proof.map_or(0, |doubts| doubts + 1)
    }

    /// Whether the board may not read any more although it could.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.state.lock().placed.as_ref().is_some_and(|placed| placed.in_doubt)
    }

    /// Makes sure that the board's writes to the region have arrived. If the memory was already taken from the board,
    /// that included this.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        // Held to the end: the owner releases the memory only after it has had the lock.
        let state = self.state.lock();
        match &state.placed {
            Some(placed) if placed.stage.is_held() => self.board.fence(self.reach(placed)),
            _ => Ok(()),
        }
    }

    /// Invalidates the region for its owner: when this returns, no access to it is in progress any more. The entries
    /// stay reserved, so that descriptors that are still queued fail and reach nothing else.
    pub(crate) fn revoke(&self) {
        let mut state = self.state.lock();
        let is_known = |placed: &Placed| placed.stage.is_known();
        // If the board has not got the entries yet, or does not have them any more, no context loses anything.
        let is_lost = !state.revoked && state.placed.as_ref().is_some_and(is_known);
        state.revoked = true;
        let begin = Instant::<Monotonic>::now();
        if let Some(placed) = &mut state.placed {
            self.invalidate_placed(placed);
            self.fence_placed(placed);
            if is_lost {
                trace::revoked(&self.board, self.channel, &placed.region, begin.elapsed());
            }
        }
        drop(state);
        if is_lost {
            self.events.revoked();
        }
    }

    /// Has the region evicted if it is cached: its owner has invalidated the memory completely.
    pub(crate) fn evict_if_cached(&self) {
        self.board.relieve();
    }

    /// Takes the entries from the board. A fence must follow before the memory is released: requests that were
    /// translated before are still in progress.
    fn invalidate_placed(&self, placed: &mut Placed) {
        if placed.stage.invalidate() {
            let run = placed.region.run();
            self.board.settle(|| table::unmap(run));
        }
    }

    /// Runs a fence, once. Returns whether this was it.
    fn fence_placed(&self, placed: &mut Placed) -> bool {
        let needed = placed.stage.fence();
        if needed {
            let reach = self.reach(placed);
            self.board.settle_by(|epoch| {
                // Looked at after the entries were taken: a board that was not bus master then reaches nothing by
                // them. Its port would not issue the read of a flush.
                let reach = match self.board.hw.may_request(epoch) {
                    true => reach,
                    false => Reach::Host,
                };
                self.board.hw.upkeep(epoch, self.board.fence_of(reach))
            });
        }
        needed
    }

    /// Frees the entries, as soon as no descriptor names them. The board must not have them any more.
    fn forget(&self) {
        let placed = self.state.lock().placed.take();
        if let Some(placed) = placed {
            self.board
                .retire_entries(self.channel, placed.region.into_run());
        }
    }

    /// Takes the entries of several regions from the board and frees them. There is a fence in any case.
    pub(crate) fn retire<'a>(board: &Board, mappings: impl Iterator<Item = &'a Arc<Self>> + Clone) {
        for mapping in mappings.clone() {
            if let Some(placed) = &mut mapping.state.lock().placed {
                mapping.invalidate_placed(placed);
            }
        }
        // Each peer has to answer for itself; for the host's memory one fence is enough for all regions. A fence for
        // an owner does not count: it may have begun before the last invalidation.
        let mut fenced = false;
        for mapping in mappings.clone().filter(|mapping| mapping.kind.is_peer()) {
            if let Some(placed) = &mut mapping.state.lock().placed {
                fenced |= mapping.fence_placed(placed);
            }
        }
        if !fenced {
            board.settle(|| table::fence(Reach::Host));
        }
        for mapping in mappings {
            mapping.forget();
        }
    }

    /// Whether the owner has invalidated the memory.
    pub(crate) fn is_revoked(&self) -> bool {
        self.state.lock().revoked
    }
}
