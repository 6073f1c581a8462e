// SPDX-License-Identifier: MIT OR Apache-2.0
//! From which peers a board may read that one unanswered read takes all reads from.
//!
//! Where answers come in order and nothing ends a lost one (`Txs`), a read that a peer refuses is the last one until the
//! link is reset. So nothing is read from a peer before it was seen to answer, and who risks the first read is decided here.

/// What the administrator permits: the driver's parameter `peer_reads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// No peer is read.
    Never,
    /// A peer is read that was seen to answer. Whoever wants to read it first has that found out.
    Prove,
    /// All peers answer.
    Trust,
}

impl Policy {
    /// That of the parameter's value. What is none is the most careful.
    pub const fn from_parameter(value: u32) -> Self {
        match value {
            1 => Self::Prove,
            2 => Self::Trust,
            _ => Self::Never,
        }
    }

    /// The parameter's value.
    pub const fn parameter(self) -> u32 {
        match self {
            Self::Never => 0,
            Self::Prove => 1,
            Self::Trust => 2,
        }
    }

    /// What is to be done for a caller who wants to read a peer of which this is known.
    pub const fn decide(self, known: Option<Verdict>, may_risk: bool) -> Decision {
        match (self, known) {
            (Self::Trust, _) | (Self::Prove, Some(Verdict::Answers)) => Decision::Read,
            (Self::Prove, None) if may_risk => Decision::Prove,
            _ => Decision::Refuse,
        }
    }
}

/// What was seen of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has answered a read.
    Answers,
    /// It has not.
    Silent,
}

/// What is to be done for a caller who wants to read a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may be read.
    Read,
    /// It may be read if it answers a first read now.
    Prove,
    /// It is not read.
    Refuse,
}

/// A board and a peer, each by its place on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The board's.
    pub board: u64,
    /// The peer's.
    pub peer: u64,
}

/// The most pairs of which something is known. Of more, nothing is learned: these peers are not read.
pub const PLACES: usize = 64;

/// What is known of pairs.
#[derive(Debug)]
pub struct Peers {
    known: [Option<(Pair, Verdict)>; PLACES],
}

impl Peers {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            known: [None; PLACES],
        }
    }

    /// What is known of a pair.
    pub fn verdict(&self, pair: Pair) -> Option<Verdict> {
        let found = self.known.iter().flatten().find(|(known, _)| *known == pair);
        found.map(|(_, verdict)| *verdict)
    }

    /// Whether something can be learned of a pair.
    pub fn has_room_for(&self, pair: Pair) -> bool {
        let takes = |place: &Option<(Pair, _)>| place.is_none_or(|(known, _)| known == pair);
        self.known.iter().any(takes)
    }

    /// Remembers what was seen of a pair, if there is room.
    pub fn note(&mut self, pair: Pair, verdict: Verdict) {
        self.forget(|known| known == pair);
        if let Some(place) = self.known.iter_mut().find(|place| place.is_none()) {
            *place = Some((pair, verdict));
        }
    }

    /// Forgets pairs.
    pub fn forget(&mut self, which: impl Fn(Pair) -> bool) {
        for place in &mut self.known {
            *place = place.filter(|(pair, _)| !which(*pair));
        }
    }

    /// All peers of a board of which something is known.
    pub fn of_board(&self, board: u64) -> impl Iterator<Item = (u64, Verdict)> + '_ {
        let of_board = move |&&(pair, _): &&(Pair, Verdict)| pair.board == board;
        let known = self.known.iter().flatten().filter(of_board);
        known.map(|(pair, verdict)| (pair.peer, *verdict))
    }
}

impl Default for Peers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Decision::{Prove, Read, Refuse};
    use Verdict::{Answers, Silent};
    use std::vec::Vec;

    const PAIR: Pair = Pair { board: 1, peer: 2 };

    #[test]
    fn a_first_read_is_risked_by_who_may_and_once() {
        let prove = |known, may_risk| Policy::Prove.decide(known, may_risk);
        assert_eq!((prove(None, true), prove(None, false)), (Prove, Refuse));
        for may_risk in [false, true] {
            assert_eq!(prove(Some(Answers), may_risk), Read);
            assert_eq!(prove(Some(Silent), may_risk), Refuse);
            for known in [None, Some(Answers), Some(Silent)] {
                assert_eq!(Policy::Never.decide(known, may_risk), Refuse);
                assert_eq!(Policy::Trust.decide(known, may_risk), Read);
            }
        }
    }

    #[test]
    fn what_is_no_policy_reads_nothing() {
        for policy in [Policy::Never, Policy::Prove, Policy::Trust] {
            assert_eq!(Policy::from_parameter(policy.parameter()), policy);
        }
        assert_eq!(Policy::from_parameter(3), Policy::Never);
    }

    #[test]
    fn each_board_knows_its_peers() {
        let mut peers = Peers::new();
        let other = Pair { board: 3, peer: 2 };
        peers.note(PAIR, Silent);
        assert_eq!((peers.verdict(PAIR), peers.verdict(other)), (Some(Silent), None));
        peers.note(other, Answers);
        // Seen again, it is known once.
        peers.note(PAIR, Answers);
        let of_board: Vec<_> = peers.of_board(1).collect();
        assert_eq!(of_board, [(2, Answers)]);
        peers.forget(|pair| pair.board == 1);
        assert_eq!((peers.verdict(PAIR), peers.verdict(other)), (None, Some(Answers)));
    }

    #[test]
    fn of_too_many_nothing_is_learned() {
        let mut peers = Peers::new();
        let pair = |peer| Pair { board: 1, peer };
        let (first, beyond) = (pair(0), pair(PLACES as u64));
        (0..PLACES as u64).for_each(|peer| peers.note(pair(peer), Answers));
        assert!(peers.has_room_for(first) && !peers.has_room_for(beyond));
        peers.note(beyond, Answers);
        assert_eq!((peers.verdict(first), peers.verdict(beyond)), (Some(Answers), None));
        peers.forget(|known| known == first);
        assert!(peers.has_room_for(beyond));
    }
}
