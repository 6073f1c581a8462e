// SPDX-License-Identifier: GPL-2.0

//! The first read from a peer, where [`crate::logic::peers`] asks for it.
//!
//! Verdicts are kept as long as the module is loaded, for each board and peer by their places on the bus. So a driver
//! that is bound again does not risk a read again. The administrator can drop them (`peerlane/peers` in
//! [`crate::sysfs`]).

use crate::{
    board::Board,
    ffi::{pci_dev, peerlane_place},
    hw::Failure,
    logic::{
        counters::{self, BlockCounters},
        lifecycle::Epoch,
        peers::{Decision, Pair, Peers, Policy, Verdict},
        table::Reach,
    },
    memory::bar::{Finder, Owner},
};
use kernel::{
    device::{Bound, Device},
    prelude::*,
    sync::atomic::ordering,
};

kernel::sync::global_lock! {
    // SAFETY: `init` is called before there is a board.
    /// The verdicts. The lock is held while a peer is proved, so that a loss of reads is this peer's. It is taken
    /// outside of all locks of memory.
    unsafe(uninit) static PEERS: Mutex<Peers> = Peers::new();
}

/// Prepares this file.
///
/// # Safety
/// Called once, before anything else here.
pub(crate) unsafe fn init() {
    // SAFETY: by contract.
    unsafe { PEERS.init() }
}

/// A place on the bus, shown as text.
pub(crate) struct Place(pub(crate) u64);

impl kernel::fmt::Display for Place {
    fn fmt(&self, f: &mut kernel::fmt::Formatter<'_>) -> kernel::fmt::Result {
        let Self(place) = self;
        let (bus, device, function) = (place >> 8 & 0xff, place >> 3 & 0x1f, place & 7);
        write!(f, "{:04x}:{:02x}:{:02x}.{}", place >> 16, bus, device, function)
    }
}

impl Board {
    /// Whether the board reads only from peers that were seen to answer.
    pub(crate) fn proves_peers(&self) -> bool {
        !self.capabilities.tagged && self.settings.peer_reads != Policy::Trust
    }

    fn place(&self) -> u64 {
        // SAFETY: a valid device.
        unsafe { peerlane_place(pci_dev(self.gate.device())) }
    }

    /// Calls `show` with each peer and its verdict.
    pub(crate) fn for_each_peer(&self, mut show: impl FnMut(Place, Verdict)) {
        let peers = PEERS.lock();
        for (peer, verdict) in peers.of_board(self.place()) {
            show(Place(peer), verdict);
        }
    }

    /// Drops the verdicts of all peers.
    pub(crate) fn forget_peers(&self) {
        let board = self.place();
        PEERS.lock().forget(|pair, _| pair.board == board);
    }

    /// Drops the verdicts of peers that have answered, since reads were lost and the responsible peer is not known.
    /// Regions that depend on these verdicts are not read any more when the board is started.
    pub(crate) fn doubt_peers(&self) {
        let board = self.place();
        let mut peers = PEERS.lock();
        peers.forget(|pair, verdict| pair.board == board && verdict == Verdict::Answers);
        self.doubts.fetch_add(1, ordering::Release);
    }

    /// Calls `run` with the verdicts, for [`may_read`](Proofs::may_read).
    pub(crate) fn with_proofs<R>(
        &self,
        device: &Device<Bound>,
        may_risk: bool,
        run: impl FnOnce(&mut Proofs<'_>) -> Result<R>,
    ) -> Result<R> {
        // Nothing is allocated while it runs.
        let finder = Finder::new(device)?;
        let mut peers = PEERS.lock();
        run(&mut Proofs {
            board: self,
            peers: &mut peers,
            finder,
            may_risk,
        })
    }

    /// Makes the block read from a peer, and returns whether an answer came. [`Failure::Away`]: no answer came, but
    /// the reason may be another one than the peer.
    fn is_answered_by(&self, address: u64) -> Result<bool, Failure> {
        let epoch = self.hw.usable()?;
        // Reads are answered in turn, those of descriptors, of writes that were flushed, and of other fences. None of
        // them may be in progress together with this one: one fence before it, and this one.
        let ours = self.hw.fences_begun() + 2;
        let of_others = |failure| match failure {
            Failure::Unanswered
            | Failure::Unflushed
            | Failure::PortDead
            | Failure::Reopened
            | Failure::Forgotten => Failure::Away,
            failure => failure,
        };
        self.fence(Reach::Host).map_err(of_others)?;
        let before = self.time_of_transfers(epoch)?;
        // That reads are down already is not this peer's fault. The first fence ends when a read before it is given
        // up.
        if self.waits_for_answers(epoch)? {
            return Err(Failure::Away);
        }
        let flush = Some(address);
        match self.fence(Reach::Peer { flush }) {
            Ok(()) => Ok(true),
            Err(Failure::Unanswered)
                if self.time_of_transfers(epoch)? == before && self.hw.fences_begun() == ours =>
            {
                Ok(false)
            }
            Err(failure) => Err(of_others(failure)),
        }
    }

    /// Returns the time for which descriptors of any channel have written, and that for which they have read.
    fn time_of_transfers(&self, epoch: Epoch) -> Result<[u64; 2], Failure> {
        self.hw.upkeep(epoch, counters::snapshot())?;
        let counters = BlockCounters::read(|register| self.hw.read_in(epoch, register))?;
        Ok([counters.write_busy, counters.read_busy])
    }
}

/// The verdicts of peers, and the way to learn more.
pub(crate) struct Proofs<'a> {
    board: &'a Board,
    peers: &'a mut Peers,
    finder: Finder<'a>,
    may_risk: bool,
}

impl Proofs<'_> {
    /// Permits the board to read at a bus address, whose memory is held during the call. Returns whether that memory
    /// is a peer's. `EXDEV`: the board may not read there.
    pub(crate) fn may_read(&mut self, address: u64) -> Result<bool> {
        let board = self.board;
        let (peer, ids) = match self.finder.owner(address) {
            Owner::Host => return Ok(false),
            Owner::Device { place, ids } => (place, ids),
            Owner::Nobody => return Err(EXDEV),
        };
        let pair = Pair {
            board: board.place(),
            peer,
            ids,
        };
        let known = self.peers.verdict(pair);
        match board.settings.peer_reads.decide(known, self.may_risk) {
            Decision::Read => return Ok(true),
            Decision::Prove if self.peers.has_room_for(pair) => {}
            Decision::Prove | Decision::Refuse => return Err(EXDEV),
        }
        // If the read crashes the machine, it is not tried again.
        self.peers.note(pair, Verdict::Silent);
        match board.is_answered_by(address) {
            Ok(true) => {
                self.peers.note(pair, Verdict::Answers);
                dev_info!(board.device(), "reads from {}: it answers\n", Place(peer));
                return Ok(true);
            }
            Ok(false) => {}
            Err(failure) => {
                self.peers.forget(|known, _| known == pair);
                return Err(board.reported(failure));
            }
        }
        dev_err!(
            board.device(),
            "reads from {}: it does not answer; its memory is for writing alone from now on (writing forget to peerlane/peers in sysfs undoes that)\n",
            Place(peer)
        );
        Err(EXDEV)
    }
}
