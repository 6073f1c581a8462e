//! The round: the choice of the next channel, and the state of waiting channels.

use super::{Segment, SegmentState};
use crate::prim::Part;
use peerlane_language::*;

/// Chooses the next channel.
pub(super) struct Round;

/// Stores the state of a channel until its turn comes again; and the reset.
pub(super) struct Waiting;

impl<const W: usize, const B: usize> Part<Round> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Channels that could be served next, in two steps. The state of another channel stays until it is served. The
        // channel that is served comes last, with the descriptor after its last request.
        self.mine.next = self.one.val() << self.serving.q.val();
        self.aborts.next = self.abort.val();
        if self.abort_all.val() {
            self.aborts.next = self.all_channels.val();
        }
        self.starved.next = self.hungry.q.val() & !self.aborts.val();
        if self.port_down.val() {
            self.starved.next = 0.into();
        }
        self.startable.next = self.queue.queued.val() & self.aborts.val();
        if self.enable.val() {
            self.startable.next = self.queue.queued.val()
                & (self.aborts.val() | (self.run.val() & !self.blocked.q.val()));
        }
        self.ready.d.next = (self.waiting.q.val() | self.startable.val())
            & !self.starved.val()
            & self.all_channels.val();
        if (self.state.q.val() != SegmentState::Idle) & (self.state.q.val() != SegmentState::Fetch)
        {
            self.ready.d.next = (self.waiting.q.val() | self.startable.val())
                & !self.starved.val()
                & !self.mine.val()
                & self.all_channels.val();
        }
        self.own_abort.d.next = (self.aborts.val() & self.mine.val()).any();
        self.own_ready.d.next =
            (self.startable.val() & self.mine.val()).any() & self.final_chunk.q.val();
        // Newcomers, but not twice in a row; else in turn: those above the last of the round, else all.
        self.later.next = self.ready.q.val() & self.above.q.val();
        self.new_ones.next = self.ready.q.val() & self.newcomers.q.val();
        self.pool_jumps.d.next = self.new_ones.val().any() & !self.jumped.q.val();
        self.pool.d.next = self.ready.q.val();
        if self.new_ones.val().any() & !self.jumped.q.val() {
            self.pool.d.next = self.new_ones.val();
        } else if self.later.val().any() {
            self.pool.d.next = self.later.val();
        }
        self.lowest.next = self.pool.q.val() & (!self.pool.q.val() + 1);
        self.choice.next = bit_cast::<6, 1>((self.lowest.val() & self.bit_0.val()).any().into())
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_1.val()).any().into()) << 1)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_2.val()).any().into()) << 2)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_3.val()).any().into()) << 3)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_4.val()).any().into()) << 4)
            | (bit_cast::<6, 1>((self.lowest.val() & self.bit_5.val()).any().into()) << 5);
    }
}

impl<const W: usize, const B: usize> Part<Waiting> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // In and out of the memory of waiting channels.
        self.saved.write_enable.next = self.leave.val();
        self.saved.write_address.next = self.serving.q.val();
        self.saved.write_data.next.peer = self.peer_next.val();
        self.saved.write_data.next.local = self.local_next.val();
        self.saved.write_data.next.remaining = self.remaining_next.val();
        self.saved.write_data.next.cookie = self.cookie_at.q.val();
        self.saved.write_data.next.page_size = self.page_size.q.val();
        self.saved.write_data.next.flags = self.flags.q.val();
        self.saved.write_data.next.number = self.number_at.q.val();
        self.saved.write_data.next.streams = self.streams.q.val();
        self.saved.write_data.next.stream = self.stream_at.q.val();
        self.saved.read_address.next = self.pick.q.val();
        self.newcomers.d.next =
            (self.newcomers.q.val() | self.queue.awakened.val()) & self.all_channels.val();
        if self.state.q.val() == SegmentState::Load {
            self.newcomers.d.next = ((self.newcomers.q.val() & !self.mine.val())
                | self.queue.awakened.val())
                & self.all_channels.val();
        }
        // The next request of this descriptor, or the place where another one stopped. For a fresh descriptor this
        // value is replaced when it is loaded.
        if self.issued.val() | (self.state.q.val() == SegmentState::Fetch) {
            self.peer.d.next = self.saved.read_data.val().peer;
            self.local_at.d.next = self.saved.read_data.val().local;
            self.remaining.d.next = self.saved.read_data.val().remaining;
            if self.issuing.q.val() & !self.pick_saved.q.val() {
                self.peer.d.next = self.peer_next.val();
                self.local_at.d.next = self.local_next.val();
                self.remaining.d.next = self.remaining_next.val();
            }
        }
        if (self.issued.val() & self.pick_saved.q.val())
            | (self.state.q.val() == SegmentState::Fetch)
        {
            self.cookie_at.d.next = self.saved.read_data.val().cookie;
            self.page_size.d.next = self.saved.read_data.val().page_size;
            self.flags.d.next = self.saved.read_data.val().flags;
            self.number_at.d.next = self.saved.read_data.val().number;
            self.streams.d.next = self.saved.read_data.val().streams & self.flow.exists.val();
            self.stream_at.d.next = self.saved.read_data.val().stream;
        }
        self.saves.next = 0.into();
        if self.leave.val() {
            self.saves.next = self.mine.val();
        }
        self.loads.next = 0.into();
        if self.turn.val() {
            self.loads.next = self.picked.val();
        }
        // A channel that is served waits again only if it starves again.
        self.hungry.d.next = ((self.hungry.q.val() & !self.flow.wake.val() & !self.loads.val())
            | self.starves.val())
            & self.all_channels.val();
        self.waiting.d.next = ((self.waiting.q.val() & !self.loads.val()) | self.saves.val())
            & self.all_channels.val();
        self.blocked.d.next = (self.blocked.q.val() | self.blocks.val())
            & !self.wakes.val()
            & self.all_channels.val();

        if self.reset.val() {
            self.state.d.next = SegmentState::Idle;
            self.issuing.d.next = false;
            self.waiting.d.next = 0.into();
            self.blocked.d.next = 0.into();
            self.hungry.d.next = 0.into();
            self.fed.d.next = false;
            self.starving.d.next = false;
            self.doomed.d.next = false;
            self.newcomers.d.next = 0.into();
            self.ready.d.next = 0.into();
            self.pool.d.next = 0.into();
            self.begins.d.next = false;
            self.malformed.d.next = false;
            self.unaligned.d.next = false;
        }
    }
}
