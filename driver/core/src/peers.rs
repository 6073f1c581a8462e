// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers from which a board may read, where one unanswered read ends all its reads.
//!
//! Where answers come in order and nothing ends a lost one (`Txs`), a read that a peer refuses is the last one until
//! the link is reset. So the board reads only from peers that have answered before. This module decides which caller
//! risks the first read.

/// The administrator's choice: the driver's parameter `peer_reads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// No peer is read.
    Never,
    /// Only peers that have answered a read are read. The first caller that wants to read one risks that.
    Prove,
    /// All peers answer.
    Trust,
}

impl Policy {
    /// Decodes the parameter's value. An unknown one counts as the most careful policy.
    pub const fn from_parameter(value: u32) -> Self {
        match value {
            1 => Self::Prove,
            2 => Self::Trust,
            _ => Self::Never,
        }
    }

    /// Returns the parameter's value.
    pub const fn parameter(self) -> u32 {
        match self {
            Self::Never => 0,
            Self::Prove => 1,
            Self::Trust => 2,
        }
    }

    /// Decides for a caller that wants to read a peer with this verdict.
    pub const fn decide(self, known: Option<Verdict>, may_risk: bool) -> Decision {
        match (self, known) {
            (Self::Trust, _) | (Self::Prove, Some(Verdict::Answers)) => Decision::Read,
            (Self::Prove, None) if may_risk => Decision::Prove,
            _ => Decision::Refuse,
        }
    }
}

/// The result of a first read from a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has answered a read.
    Answers,
    /// It has not.
    Silent,
}

/// The decision for a caller that wants to read a peer.
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
    /// The peer's kind of device: its vendor and device, and those of its subsystem. Another kind at the same place
    /// is not known.
    pub ids: u64,
}

impl Pair {
    const fn is_in_the_place_of(self, other: Self) -> bool {
        self.board == other.board && self.peer == other.peer
    }
}

/// Largest number of pairs with a verdict. Other peers are not read.
pub const PLACES: usize = 64;

/// The verdicts of pairs.
#[derive(Debug)]
pub struct Peers {
    known: [Option<(Pair, Verdict)>; PLACES],
}

impl Peers {
    /// Makes a list without pairs.
    pub const fn new() -> Self {
        Self {
            known: [None; PLACES],
        }
    }

    /// Returns the verdict of a pair, if there is one.
    pub fn verdict(&self, pair: Pair) -> Option<Verdict> {
        let found = self
            .known
            .iter()
            .flatten()
            .find(|(known, _)| *known == pair);
        found.map(|(_, verdict)| *verdict)
    }

    /// Whether a verdict of a pair can be stored.
    pub fn has_room_for(&self, pair: Pair) -> bool {
        let takes = |place: &Option<(Pair, _)>| {
            place.is_none_or(|(known, _)| known.is_in_the_place_of(pair))
        };
        self.known.iter().any(takes)
    }

    /// Stores the verdict of a pair, if there is room.
    pub fn note(&mut self, pair: Pair, verdict: Verdict) {
        self.forget(|known, _| known.is_in_the_place_of(pair));
        if let Some(place) = self.known.iter_mut().find(|place| place.is_none()) {
            *place = Some((pair, verdict));
        }
    }

    /// Drops pairs.
    pub fn forget(&mut self, which: impl Fn(Pair, Verdict) -> bool) {
        for place in &mut self.known {
            *place = place.filter(|(pair, verdict)| !which(*pair, *verdict));
        }
    }

    /// Returns the peers of a board with their verdicts.
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

    const PAIR: Pair = Pair {
        board: 1,
        peer: 2,
        ids: 7,
    };

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
    fn an_unknown_policy_reads_nothing() {
        for policy in [Policy::Never, Policy::Prove, Policy::Trust] {
            assert_eq!(Policy::from_parameter(policy.parameter()), policy);
        }
        assert_eq!(Policy::from_parameter(3), Policy::Never);
    }

    #[test]
    fn each_board_knows_its_peers() {
        let mut peers = Peers::new();
        let other = Pair { board: 3, ..PAIR };
        peers.note(PAIR, Silent);
        assert_eq!(
            (peers.verdict(PAIR), peers.verdict(other)),
            (Some(Silent), None)
        );
        peers.note(other, Answers);
        // Seen again, it is known once.
        peers.note(PAIR, Answers);
        let of_board: Vec<_> = peers.of_board(1).collect();
        assert_eq!(of_board, [(2, Answers)]);
        peers.forget(|pair, verdict| pair.board == 1 && verdict == Answers);
        assert_eq!(
            (peers.verdict(PAIR), peers.verdict(other)),
            (None, Some(Answers))
        );
    }

    #[test]
    fn of_too_many_nothing_is_learned() {
        let mut peers = Peers::new();
        let pair = |peer| Pair { peer, ..PAIR };
        let (first, beyond) = (pair(0), pair(PLACES as u64));
        (0..PLACES as u64).for_each(|peer| peers.note(pair(peer), Answers));
        assert!(peers.has_room_for(first) && !peers.has_room_for(beyond));
        peers.note(beyond, Answers);
        assert_eq!(
            (peers.verdict(first), peers.verdict(beyond)),
            (Some(Answers), None)
        );
        peers.forget(|known, _| known == first);
        assert!(peers.has_room_for(beyond));
    }

    #[test]
    fn another_device_in_the_place_is_not_known() {
        let mut peers = Peers::new();
        let another = Pair { ids: 8, ..PAIR };
        peers.note(PAIR, Silent);
        assert_eq!(peers.verdict(another), None);
        peers.note(another, Answers);
        let of_board: Vec<_> = peers.of_board(1).collect();
        assert_eq!(
            (peers.verdict(PAIR), of_board),
            (None, [(2, Answers)].to_vec())
        );
    }
}
