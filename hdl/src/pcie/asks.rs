//! Read requests on their way out: cut at the Max Read Request Size, each with one of the hard IP's tags, no more than
//! the hard IP's buffer for completions has room for, and after the posted writes that were accepted before them.
//!
//! # Tags
//! The hard IP has 64 tags while software has set Extended Tag Field Enable, else 32. The last eight of them are for
//! reads that flush, first by the engine's own number, the others for data, in turn. A tag is free when its completion
//! has come in full; the tag of a read that was given up is passed over. A read takes its tag, its lines and its credit
//! as it leaves: its age counts from there, however long the hard IP has not been ready for it.
//!
//! # Space for completions
//! An endpoint advertises infinite credits for completions, so nothing holds them back, and a completion that finds no
//! room in the hard IP's buffer is lost (Arria V Avalon-ST Interface for PCIe 683733, Transaction Layer Errors). A read
//! is sent when there is room for the most completions that it may be split into: one for each line of 64 bytes that it
//! touches, the smallest Read Completion Boundary. The hard IP shows how many headers there is room for
//! (`ko_cpl_spc_header`). In its settings Minimum, Low and Balanced there are at least four units of 16 bytes for each,
//! so data need no account. Three lines are for reads that flush: of the 195 of the setting Low, reads of 512 bytes
//! leave them over. A flush has them as its turn comes; it does not pass the reads before it, which share the port's
//! one place. A read waits for all of its lines, and the lines of the reads before it come back a completion at a time.
//! So where nearly all room is promised and the link still idles, the engine is notified, and makes reads of half the
//! length.
//!
//! # Reads that were given up
//! They keep their tag and their room, because a completer may answer at any time. A read that finds no tag or room
//! waits for the reads under way. If no such read is left, it waits for another 56 times `2^patience_log2` cycles (15
//! ms): a link that is being repaired comes back, and with it the completions of the reads that were given up. If none
//! comes, the read ends as one that was given up, 48 ms after it came at the latest: before the engine takes the port
//! for dead, by default in 50 ms. So do the reads after it, until one finds a tag and room: each in 256 cycles, in
//! which all tags are looked at.
//!
//! # Order
//! A read waits until the posted packets that were accepted before it have left. A few reads wait in a queue, each with
//! the number of packets before it: while writes are stored, most of the packets before the later reads have left when
//! their turn comes. Numbers are modulo 2^32; no read waits for as many as half of that.
//!
//! # Without Bus Master Enable
//! A read that has not left when software clears Bus Master Enable, or is asked for while it is clear, ends at the
//! engine with Unsupported Request. It has taken no tag and no room. None that waited then leaves as the bit is set
//! again.
//!
//! # Requests that are too long
//! The engine is given the Max Read Request Size, and its reads are not longer. A read that was made before software
//! has changed it leaves in parts, each when the part before has ended: completions of different tags pass each other,
//! and the engine takes a read's bytes in order.

use super::IMPATIENCE_LOG2;
use super::words::{AskHead, AskWord, Sent};
use crate::prim::{Part, Patience, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// How far a request is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum AskState {
    /// There is none.
    Idle,
    /// Where its next part ends.
    Measure,
    /// How much that is, in dwords and in lines.
    Size,
    /// It waits for a tag, for room, for credits and for writes before it.
    Check,
    /// It is ready to leave.
    Stand,
    /// Another part is to follow it.
    Wait,
    /// It may not be made, or finds no tag or no room and never will: it ends.
    Refuse,
}

/// One request at a time, and a few that wait.
#[derive(DocBlock)]
pub struct Asks {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Reads as the engine's port has them: of 1 to 512 bytes that do not cross 4 KiB.
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub address: Signal<In, Bits<64>>,
    pub bytes: Signal<In, Bits<10>>,
    pub tag: Signal<In, Bits<7>>,
    /// Max Read Request Size, 128 bytes shifted by it; there are 64 tags; requests may be made.
    pub request: Signal<In, Bits<3>>,
    pub extended: Signal<In, Bit>,
    pub master: Signal<In, Bit>,
    /// Headers of completions that the hard IP has room for.
    pub space: Signal<In, Bits<8>>,
    /// Lines of 64 bytes that completions have left again.
    pub freed: Signal<In, Bits<5>>,
    /// Posted packets: one is accepted, one leaves.
    pub posted: Signal<In, Bit>,
    pub post_sent: Signal<In, Bit>,
    /// Credits, as in [`super::credits`].
    pub credit: Signal<In, Bit>,
    pub sent: Signal<Out, Bit>,
    /// Tags whose completion may come; one gets free, because its read has failed or not.
    pub busy: Signal<In, Bits<64>>,
    pub closes: Signal<In, Bit>,
    pub closes_tag: Signal<In, Bits<6>>,
    pub closes_bad: Signal<In, Bit>,
    /// A read has left with its tag, in the cycle before.
    pub opens: Signal<Out, Bit>,
    pub opens_tag: Signal<Out, Bits<6>>,
    pub opens_word: Signal<Out, Sent>,
    /// Reads were under way in the cycle before that were not given up.
    pub awaits: Signal<In, Bit>,
    /// A read was given up, or a completion of one that has failed has come.
    pub progress: Signal<In, Bit>,
    /// A read ends without having left; set until it is taken. Whether it ends because reads that were given up have
    /// the tag or the room that it needs.
    pub refuses: Signal<Out, Bit>,
    pub refuses_tag: Signal<Out, Bits<7>>,
    pub refuses_lost: Signal<Out, Bit>,
    pub refuses_take: Signal<In, Bit>,
    /// The request that leaves next.
    pub head_valid: Signal<Out, Bit>,
    pub head: Signal<Out, AskHead>,
    pub head_take: Signal<In, Bit>,
    /// One waits for a tag or for room.
    pub stalled: Signal<Out, Bit>,
    /// A beat arrives from the link.
    pub arrives: Signal<In, Bit>,
    /// Nearly all room is promised, and nothing arrives for more than a ninth of the time: shorter reads find their
    /// room sooner.
    pub crowded: Signal<Out, Bit>,

    waiting: SmallFifo<AskWord, 2, 3>,
    state: DFF<AskState>,
    from: DFF<Bits<64>>,
    left: DFF<Bits<10>>,
    name: DFF<Bits<7>>,
    /// Reads are refused: requests may not be made, or the read under way is of that time, or some of those that wait.
    off: DFF<Bit>,
    old: DFF<Bits<3>>,
    /// Posted packets that were accepted, and that have left; those before the request, and whether these have left.
    accepted: DFF<Bits<32>>,
    gone: DFF<Bits<32>>,
    stamp: DFF<Bits<32>>,
    in_order: DFF<Bit>,
    /// The part.
    part: DFF<Bits<10>>,
    dwords: DFF<Bits<8>>,
    first: DFF<Bits<4>>,
    last: DFF<Bits<4>>,
    lines: DFF<Bits<5>>,
    /// The tag that was looked at, and that it is free. One that is free stays so: only this block takes it.
    chosen: DFF<Bits<6>>,
    tag_ok: DFF<Bit>,
    /// Of how many it was chosen.
    of_all: DFF<Bit>,
    next_tag: DFF<Bits<6>>,
    next_flush: DFF<Bits<3>>,
    /// The tag that was given last; it may not be seen as busy yet.
    given: DFF<Bits<6>>,
    fresh: DFF<Bit>,
    /// Lines that the read may have: those that are left, less those of concurrent flush reads; two's complement.
    spare: DFF<Bits<9>>,
    /// There was room in the cycle before. Only this block's reads take any.
    room_ok: DFF<Bit>,
    /// It was looked for.
    looked: DFF<Bit>,
    /// Cycles in which it has found no tag or no room, and nothing was under way that would leave some: this read, up
    /// to 256; all reads since one was given up or has come after all, up to the limit, which was reached.
    hopeless: DFF<Bits<9>>,
    hope: DFF<Bits<22>>,
    despairs: DFF<Bit>,
    lost: DFF<Bit>,
    /// The part has ended, and with it the read.
    ended: DFF<Bit>,
    ended_bad: DFF<Bit>,
    /// It is ready to leave; it has left.
    stands: DFF<Bit>,
    leaves: DFF<Bit>,
    /// Lines that are promised.
    used: DFF<Bits<9>>,
    is_crowded: DFF<Bit>,
    /// Eight more for a cycle in which nothing arrives, one less for another: over many round trips, for within one
    /// completions come in a row, and then none.
    idle: DFF<Bits<12>>,

    is_idle: Signal<Local, Bit>,
    direct: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    accepted_now: Signal<Local, Bits<32>>,
    is_flush: Signal<Local, Bit>,
    to_edge: Signal<Local, Bits<10>>,
    part_now: Signal<Local, Bits<10>>,
    span: Signal<Local, Bits<11>>,
    last_lane: Signal<Local, Bits<2>>,
    line_span: Signal<Local, Bits<11>>,
    candidate: Signal<Local, Bits<6>>,
    in_range: Signal<Local, Bit>,
    tag_free: Signal<Local, Bit>,
    has_tag: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    lacks: Signal<Local, Bit>,
    at_limit: Signal<Local, Bit>,
    ends_here: Signal<Local, Bit>,
    idle_most: Signal<Local, Bit>,
    all_lanes: Constant<Bits<4>>,
    #[given]
    limit: Patience<22>,
}

impl Asks {
    /// Makes the part for completions that are given up between 64 and 128 times `2^patience_log2` cycles after their
    /// read was sent; at most 16.
    pub fn new(patience_log2: usize) -> Self {
        assert!(patience_log2 <= 16, "2^{patience_log2} cycles");
        Self::fresh(AsksGiven {
            all_lanes: Constant::new(0xF.into()),
            limit: Patience::new(56 << patience_log2, 56 << IMPATIENCE_LOG2),
        })
    }
}

impl Logic for Asks {
    parts!(Measuring, Leaving);
}

/// Measures the next part of a read.
struct Measuring;

impl Part<Measuring> for Asks {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, state, from, left, name, off, old, accepted, gone, stamp, in_order, part,
            dwords, first, last, lines, chosen, tag_ok, of_all, next_tag, next_flush, given, fresh,
            spare, room_ok, looked, hopeless, hope, despairs, lost, ended, ended_bad, stands,
            leaves, used, is_crowded, idle
        );
        clock!(self, clock, waiting);
        self.waiting.reset.next = self.reset.val();
        // Bytes to the next multiple of the longest request.
        self.to_edge.next = bits::<10>(512) - bit_cast::<10, 9>(self.from.q.val().get_bits::<9>(0));
        if !self.request.val().any() {
            self.to_edge.next =
                bits::<10>(128) - bit_cast::<10, 7>(self.from.q.val().get_bits::<7>(0));
        } else if self.request.val() == 1 {
            self.to_edge.next =
                bits::<10>(256) - bit_cast::<10, 8>(self.from.q.val().get_bits::<8>(0));
        }
        self.part_now.next = self.left.q.val();
        if self.left.q.val() > self.to_edge.val() {
            self.part_now.next = self.to_edge.val();
        }
        self.span.next = bit_cast::<11, 2>(self.from.q.val().get_bits::<2>(0))
            + bit_cast::<11, 10>(self.part.q.val());
        self.last_lane.next = self.span.val().get_bits::<2>(0);
        self.line_span.next = bit_cast::<11, 6>(self.from.q.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.part.q.val())
            + 63;
        self.is_flush.next = self.name.q.val().get_bit(6);

        // The tag: a flush takes its own or one after it, other reads the next.
        self.candidate.next = self.next_tag.q.val();
        self.in_range.next = self.extended.val() | (self.next_tag.q.val() < 24);
        if self.is_flush.val() {
            self.candidate.next = bit_cast::<6, 3>(self.next_flush.q.val()) | 24;
            self.in_range.next = true;
            if self.extended.val() {
                self.candidate.next = bit_cast::<6, 3>(self.next_flush.q.val()) | 56;
            }
        }
        self.tag_free.next = self.in_range.val()
            & !self.busy.val().get_bit(self.candidate.val().index())
            & !(self.fresh.q.val() & (self.candidate.val() == self.given.q.val()));

        // Room for the read, and for concurrent flush reads. The lines of the last read are subtracted three cycles
        // after it has left, before the next read is looked at.
        self.spare.d.next = bit_cast::<9, 8>(self.space.val()) - self.used.q.val() - 3;
        if self.is_flush.val() {
            self.spare.d.next = bit_cast::<9, 8>(self.space.val()) - self.used.q.val();
        }
        self.has_room.next = !self.spare.q.val().get_bit(8)
            & (bit_cast::<9, 5>(self.lines.q.val()) <= self.spare.q.val());
        // There is no room for four more of the longest reads.
        self.is_crowded.d.next = self.idle.q.val().get_bit(11)
            & (self.spare.q.val().get_bit(8) | !self.spare.q.val().get_bits::<3>(5).any());
        self.idle_most.next = self.idle.q.val().get_bits::<9>(3).all();
        if !self.arrives.val() & !self.idle_most.val() {
            self.idle.d.next = self.idle.q.val() + 8;
        } else if self.arrives.val() & self.idle.q.val().any() {
            self.idle.d.next = self.idle.q.val() - 1;
        }
        self.crowded.next = self.is_crowded.q.val();
        self.has_tag.next = self.tag_ok.q.val() & (self.of_all.q.val() == self.extended.val());
        self.room_ok.d.next = self.has_room.val() & (self.state.q.val() == AskState::Check);
        self.looked.d.next = self.state.q.val() == AskState::Check;
        self.go.next = (self.state.q.val() == AskState::Check)
            & self.in_order.q.val()
            & self.has_tag.val()
            & self.room_ok.q.val()
            & self.credit.val()
            & !self.off.q.val();
        self.lacks.next = (self.state.q.val() == AskState::Check)
            & self.looked.q.val()
            & (!self.has_tag.val() | !self.room_ok.q.val());
        self.stalled.next = self.lacks.val();
        self.hopeless.d.next = 0.into();
        if self.lacks.val() & !self.awaits.val() {
            if !self.hopeless.q.val().get_bit(8) {
                self.hopeless.d.next = self.hopeless.q.val() + 1;
            } else {
                self.hopeless.d.next = self.hopeless.q.val();
            }
        }
        self.at_limit.next = self.hope.q.val() == self.limit.cycles.val();
        self.despairs.d.next = self.at_limit.val();
        if self.progress.val() {
            self.hope.d.next = 0.into();
        } else if self.lacks.val() & !self.awaits.val() & !self.at_limit.val() {
            self.hope.d.next = self.hope.q.val() + 1;
        }
    }
}

/// The read's way out, and the reset.
struct Leaving;

impl Part<Leaving> for Asks {
    #[hdl_gen]
    fn update(&mut self) {
        self.accepted_now.next = self.accepted.q.val();
        if self.posted.val() {
            self.accepted_now.next = self.accepted.q.val() + 1;
        }
        self.accepted.d.next = self.accepted_now.val();
        self.gone.d.next = self.gone.q.val() + bit_cast::<32, 1>(self.post_sent.val().into());
        self.in_order.d.next = !(self.gone.q.val() - self.stamp.q.val()).get_bit(31);

        // Where none waits, one is served at once.
        self.ready.next = !self.waiting.full.val();
        self.is_idle.next = self.state.q.val() == AskState::Idle;
        self.direct.next = self.is_idle.val() & !self.waiting.some.val() & self.valid.val();
        self.waiting.push.next = self.valid.val() & !self.direct.val();
        self.waiting.data_in.next.address = self.address.val();
        self.waiting.data_in.next.bytes = self.bytes.val();
        self.waiting.data_in.next.name = self.tag.val();
        self.waiting.data_in.next.stamp = self.accepted_now.val();
        self.waiting.pop.next = self.is_idle.val();
        self.ends_here.next = self.part.q.val() == self.left.q.val();
        self.head_valid.next = self.stands.q.val();
        self.off.d.next = !self.master.val()
            | (self.off.q.val() & (!self.is_idle.val() | self.old.q.val().any()));
        self.starts.next = self.is_idle.val() & self.waiting.valid.val();
        if !self.master.val() {
            self.old.d.next = self.waiting.level.val() - bit_cast::<3, 1>(self.starts.val().into());
        } else if self.starts.val() & self.old.q.val().any() {
            self.old.d.next = self.old.q.val() - 1;
        }
        self.refuses.next = self.state.q.val() == AskState::Refuse;
        self.refuses_tag.next = self.name.q.val();
        self.refuses_lost.next = self.lost.q.val();
        match self.state.q.val() {
            AskState::Idle => {
                self.lost.d.next = false;
                self.from.d.next = self.address.val();
                self.left.d.next = self.bytes.val();
                self.name.d.next = self.tag.val();
                self.stamp.d.next = self.accepted_now.val();
                if self.waiting.valid.val() {
                    self.from.d.next = self.waiting.data.val().address;
                    self.left.d.next = self.waiting.data.val().bytes;
                    self.name.d.next = self.waiting.data.val().name;
                    self.stamp.d.next = self.waiting.data.val().stamp;
                }
                if self.waiting.valid.val() | self.direct.val() {
                    self.state.d.next = AskState::Measure;
                }
            }
            AskState::Measure => {
                self.part.d.next = self.part_now.val();
                self.next_flush.d.next = self.name.q.val().get_bits::<3>(0);
                self.tag_ok.d.next = false;
                self.state.d.next = AskState::Size;
                if self.off.q.val() {
                    self.state.d.next = AskState::Refuse;
                }
            }
            AskState::Size => {
                self.dwords.d.next = bit_cast::<8, 11>((self.span.val() + 3) >> 2);
                self.first.d.next = self.all_lanes.val() << self.from.q.val().get_bits::<2>(0);
                self.last.d.next = self.all_lanes.val();
                if self.last_lane.val().any() {
                    self.last.d.next = self.all_lanes.val()
                        >> (bits::<3>(4) - bit_cast::<3, 2>(self.last_lane.val()));
                }
                self.lines.d.next = bit_cast::<5, 11>(self.line_span.val() >> 6);
                self.state.d.next = AskState::Check;
            }
            AskState::Check => {
                // One tag a cycle, until one is free.
                if !self.has_tag.val() {
                    self.chosen.d.next = self.candidate.val();
                    self.tag_ok.d.next = self.tag_free.val();
                    self.of_all.d.next = self.extended.val();
                    if self.is_flush.val() {
                        self.next_flush.d.next = self.next_flush.q.val() + 1;
                    } else {
                        self.next_tag.d.next = self.next_tag.q.val() + 1;
                        if !self.in_range.val()
                            | (!self.extended.val() & (self.next_tag.q.val() == 23))
                            | (self.next_tag.q.val() == 55)
                        {
                            self.next_tag.d.next = 0.into();
                        }
                    }
                }
                if self.go.val() {
                    self.state.d.next = AskState::Stand;
                    self.stands.d.next = true;
                } else if self.hopeless.q.val().get_bit(8) & self.despairs.q.val() {
                    self.state.d.next = AskState::Refuse;
                    self.lost.d.next = true;
                }
                if self.off.q.val() {
                    self.state.d.next = AskState::Refuse;
                }
            }
            AskState::Stand => {
                if self.head_take.val() {
                    self.stands.d.next = false;
                    self.state.d.next = AskState::Wait;
                    if self.ends_here.val() {
                        self.state.d.next = AskState::Idle;
                    }
                } else if self.off.q.val() {
                    self.stands.d.next = false;
                    self.state.d.next = AskState::Refuse;
                } else if !self.credit.val() {
                    // The link has gone down, or the hard IP itself has used the credit up.
                    self.stands.d.next = false;
                    self.state.d.next = AskState::Check;
                }
            }
            AskState::Wait => {
                // One that has failed has ended the read.
                if self.ended.q.val() {
                    self.from.d.next = self.from.q.val() + bit_cast::<64, 10>(self.part.q.val());
                    self.left.d.next = self.left.q.val() - self.part.q.val();
                    self.state.d.next = AskState::Measure;
                    if self.ended_bad.q.val() {
                        self.state.d.next = AskState::Idle;
                    }
                }
            }
            AskState::Refuse => {
                if self.refuses_take.val() {
                    self.state.d.next = AskState::Idle;
                }
            }
        }
        self.ended.d.next = (self.state.q.val() == AskState::Wait)
            & !self.ended.q.val()
            & self.closes.val()
            & (self.closes_tag.val() == self.chosen.q.val());
        self.ended_bad.d.next = self.closes_bad.val();
        self.leaves.d.next = self.stands.q.val() & self.head_take.val();
        self.sent.next = self.leaves.q.val();
        self.opens.next = self.leaves.q.val();
        self.opens_tag.next = self.chosen.q.val();
        self.opens_word.next.tag = self.name.q.val();
        self.opens_word.next.bytes = self.part.q.val();
        self.opens_word.next.at = self.from.q.val().get_bits::<7>(0);
        self.used.d.next = self.used.q.val() - bit_cast::<9, 5>(self.freed.val());
        if self.leaves.q.val() {
            self.given.d.next = self.chosen.q.val();
            self.used.d.next = self.used.q.val() - bit_cast::<9, 5>(self.freed.val())
                + bit_cast::<9, 5>(self.lines.q.val());
        }
        // Until the second cycle of the next one's check.
        self.fresh.d.next = self.leaves.q.val() | (self.fresh.q.val() & !self.looked.q.val());
        self.head.next.address = self.from.q.val().get_bits::<62>(2);
        self.head.next.dwords = self.dwords.q.val();
        self.head.next.first = self.first.q.val();
        self.head.next.last = self.last.q.val();
        if self.dwords.q.val() == 1 {
            self.head.next.first = self.first.q.val() & self.last.q.val();
            self.head.next.last = 0.into();
        }
        self.head.next.tag = self.chosen.q.val();
        if self.reset.val() {
            self.state.d.next = AskState::Idle;
            self.off.d.next = true;
            self.old.d.next = 0.into();
            self.accepted.d.next = 0.into();
            self.gone.d.next = 0.into();
            self.next_tag.d.next = 0.into();
            self.ended.d.next = false;
            self.stands.d.next = false;
            self.leaves.d.next = false;
            self.fresh.d.next = false;
            self.hope.d.next = 0.into();
            self.used.d.next = 0.into();
        }
    }
}
