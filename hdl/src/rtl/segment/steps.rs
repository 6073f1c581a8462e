//! The state machine: from a channel and its descriptor to one request after another.

use super::{Segment, SegmentState};
use crate::prim::Part;
use peerlane_language::*;

/// The state machine.
pub(super) struct Steps;

impl<const W: usize, const B: usize> Part<Steps> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        match self.state.q.val() {
            SegmentState::Idle => {
                self.look.next = true;
                if self.pool.q.val().any() {
                    self.state.d.next = SegmentState::Fetch;
                }
            }
            SegmentState::Fetch => {
                self.queue.fetch.next = true;
                self.turn.next = true;
            }
            SegmentState::Load => {
                self.peer.d.next = bit_cast::<38, 32>(self.queue.peer_low.val())
                    | (bit_cast::<38, 5>(self.queue.peer_high.val().get_bits::<5>(0)) << 32);
                self.page_size.d.next = self.queue.peer_high.val().get_bits::<2>(30);
                self.local_at.d.next = bit_cast::<40, 32>(self.queue.local_low.val())
                    | (bit_cast::<40, 8>(self.queue.local_high.val().get_bits::<8>(0)) << 32);
                self.remaining.d.next = self.queue.length.val();
                self.flags.d.next = self.queue.control.val().get_bits::<4>(0);
                self.cookie_at.d.next = self.queue.cookie.val();
                self.number_at.d.next = self.queue.number.val().get_bits::<6>(0);
                self.bad_peer.d.next = self.queue.peer_high.val().get_bits::<25>(5).any()
                    | self.queue.peer_high.val().get_bits::<2>(30).all();
                self.streams.d.next =
                    self.queue.local_high.val().get_bit(28) & self.flow.exists.val();
                self.stream_at.d.next = self.queue.local_low.val().get_bits::<4>(0);
                self.bad_local.d.next = self.queue.local_high.val().get_bits::<20>(8).any()
                    | self.queue.local_high.val().get_bits::<3>(29).any();
                if self.queue.local_high.val().get_bit(28) {
                    self.bad_local.d.next = !self.flow.exists.val()
                        | self.queue.local_high.val().get_bits::<28>(0).any()
                        | self.queue.local_high.val().get_bits::<3>(29).any()
                        | self.queue.local_low.val().get_bits::<28>(4).any();
                }
                self.bad_control.d.next = self.queue.control.val().get_bits::<26>(6).any();
                self.bad_ends.d.next = self.whole_dwords.val()
                    & (self.queue.peer_low.val().get_bits::<2>(0).any()
                        | self.queue.length.val().get_bits::<2>(0).any());
                // A stream's blocks begin at multiples of 64 bytes; those from the logic also end there.
                if self.queue.local_high.val().get_bit(28) & self.flow.exists.val() {
                    self.bad_ends.d.next = self.queue.peer_low.val().get_bits::<6>(0).any()
                        | (self.queue.length.val().get_bits::<6>(0) & self.stream_odd.val()).any();
                }
                self.waits.d.next = self.queue.control.val().get_bits::<2>(4);
                self.stamp_at.d.next = self.queue.stamp.val();
                self.begins.d.next = true;
                self.state.d.next = SegmentState::Size;
            }
            SegmentState::Size => {
                self.malformed.d.next = self.begins.q.val()
                    & (self.bad_peer.q.val() | self.bad_local.q.val() | self.bad_control.q.val());
                self.unaligned.d.next = self.begins.q.val() & self.bad_ends.q.val();
                self.reach.d.next = self.to_edge.val();
                self.is_ragged.d.next = self.ragged.val();
                self.entry_index.d.next = self.page_number.val().get_bits::<16>(0);
                self.out_of_table.d.next = self.page_number.val() >= self.entries.val();
                self.aborted.d.next = (self.aborts.val() & self.mine.val()).any()
                    | (self.begins.q.val() & self.own_abort.q.val())
                    | self.halted.val();
                // Counts of ends that have not settled are not looked at.
                self.may_begin.d.next = self.own_abort.q.val()
                    | !self.waits.q.val().any()
                    | (self.chain_open.val()
                        & !self.wakes_served.val()
                        & !self.woken_before.q.val());
                self.woken.d.next = self.wakes_served.val() | self.woken_before.q.val();
                self.state.d.next = SegmentState::Cut;
            }
            SegmentState::Cut => {
                self.look_up.ask.next = !self.streams.q.val();
                self.begins.d.next = false;
                self.chunk.d.next = self.reach.q.val();
                self.final_chunk.d.next = false;
                if self.is_ragged.q.val() {
                    if self.remaining.q.val() <= bit_cast::<32, 10>(self.reach.q.val()) {
                        self.chunk.d.next =
                            self.remaining.q.val().get_bits::<10>(0) & !self.offset_mask.val();
                    }
                } else if self.remaining.q.val() <= bit_cast::<32, 10>(self.reach.q.val()) {
                    self.chunk.d.next = self.remaining.q.val().get_bits::<10>(0);
                    self.final_chunk.d.next = true;
                }
                if !self.begins.q.val() | self.may_begin.q.val() {
                    self.queue.take.next = self.begins.q.val();
                    self.state.d.next = SegmentState::Lookup;
                    if self.streams.q.val() & !self.fed.q.val() {
                        self.state.d.next = SegmentState::Cut;
                        self.fed.d.next = true;
                    }
                } else {
                    // An end that the look at the counts did not see; the next look sees it.
                    if !self.woken.q.val() {
                        self.blocks.next = self.mine.val();
                    }
                    self.state.d.next = SegmentState::Idle;
                }
                self.starving.d.next = false;
                self.doomed.d.next = false;
                if self.fed.q.val() {
                    self.fed.d.next = false;
                    self.doomed.d.next = self.port_down.val();
                    self.foreign.d.next = !self.flow.granted.val();
                    // As long as no end is known, bytes are left for a later request, so that the end has one.
                    if !self.hopeless.val() & !self.has_more.val() {
                        if self.flow.sealed.val() {
                            self.chunk.d.next = bit_cast::<10, 13>(self.flow.held.val());
                            self.final_chunk.d.next = true;
                        } else if !(self.has_all.val() & self.final_chunk.q.val()) {
                            self.starving.d.next = true;
                        }
                    }
                }
            }
            SegmentState::Lookup => {
                self.look_up.ask.next = !self.starving.q.val();
                if self.starving.q.val() {
                    // The round does not wait for a stream. The place in the descriptor stays.
                    self.starving.d.next = false;
                    self.leave.next = true;
                    self.state.d.next = SegmentState::Idle;
                } else if self.look_up.answer.val() {
                    self.invalid.d.next = !self.entry.val().valid;
                    self.readable.d.next = self.entry.val().permits.get_bit(0);
                    self.not_permitted.d.next =
                        !(self.entry.val().permits & self.permission.val()).any();
                    self.wrong_size.d.next = self.entry.val().page_size != self.page_size.q.val();
                    self.not_owner.d.next = !self.owner_bits.val().any();
                    self.target.d.next = (bit_cast::<64, 52>(self.entry.val().address) << 12)
                        | bit_cast::<64, 12>(self.peer.q.val().get_bits::<12>(0));
                    if self.page_size.q.val() == 1 {
                        self.target.d.next =
                            (bit_cast::<64, 48>(self.entry.val().address.get_bits::<48>(4)) << 16)
                                | bit_cast::<64, 16>(self.peer.q.val().get_bits::<16>(0));
                    }
                    if self.page_size.q.val() == 2 {
                        self.target.d.next =
                            (bit_cast::<64, 43>(self.entry.val().address.get_bits::<43>(9)) << 21)
                                | bit_cast::<64, 21>(self.peer.q.val().get_bits::<21>(0));
                    }
                    self.state.d.next = SegmentState::Judge;
                }
            }
            SegmentState::Judge => {
                self.look.next = true;
                if !self.window_unsure.q.val().any() {
                    self.issuing.d.next = true;
                    self.state.d.next = SegmentState::Issue;
                }
            }
            SegmentState::Issue => {
                self.queue.fetch.next = true;
                if self.request.accept.val() {
                    self.issuing.d.next = false;
                    if self.pick_any.q.val() {
                        self.leave.next = !self.is_final.val();
                        self.turn.next = true;
                    } else if self.is_final.val() {
                        self.state.d.next = SegmentState::Idle;
                    } else {
                        self.state.d.next = SegmentState::Size;
                    }
                } else {
                    // The state may last long: channels that come in that time are considered.
                    self.look.next = true;
                }
            }
        }
        // A stream may be closed while its request waits.
        if !self.flow.granted.val()
            & ((self.state.q.val() == SegmentState::Lookup)
                | (self.state.q.val() == SegmentState::Judge)
                | self.issuing.q.val())
        {
            self.foreign.d.next = true;
        }
        if self.faulty.val()
            & (self.issuing.q.val()
                | ((self.state.q.val() == SegmentState::Judge) & !self.window_unsure.q.val().any()))
        {
            self.target.d.next = bit_cast::<64, 38>(self.peer.q.val())
                | (bit_cast::<64, 2>(self.page_size.q.val()) << 62);
        }
        if self.look.val() {
            self.pick.d.next = self.choice.val();
            self.pick_any.d.next = self.pool.q.val().any();
            self.pick_saved.d.next = (self.lowest.val() & self.waiting.q.val()).any();
            self.pick_jumps.d.next = self.pool_jumps.q.val();
            if !self.pool.q.val().any() {
                self.pick.d.next = self.serving.q.val();
                self.pick_any.d.next = self.own_ready.q.val();
            }
        }
        if self.turn.val() {
            self.serving.d.next = self.pick.q.val();
            self.jumped.d.next = self.pick_jumps.q.val();
            if !self.pick_jumps.q.val() {
                self.above.d.next = (self.all.val() << self.pick.q.val()) & !self.picked.val();
            }
            if self.pick_saved.q.val() {
                self.state.d.next = SegmentState::Size;
            } else {
                self.state.d.next = SegmentState::Load;
            }
        }
    }
}
