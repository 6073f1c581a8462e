//! The cutting: what is next.

use super::{Segment, SegmentState};
use crate::prim::Part;
use peerlane_language::*;

/// The size of the next request.
pub(super) struct Cutting;

/// Compares the next request with the bytes that wait in its stream.
pub(super) struct Flow;

impl<const W: usize, const B: usize> Part<Cutting> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Bytes to the next edge: of the bus word for an unaligned head that goes alone, else of the longest request.
        self.head_offset.next = bit_cast::<10, 38>(self.peer.q.val()) & self.offset_mask.val();
        if self.split_ends.val() & self.head_offset.val().any() {
            self.to_edge.next = self.beat_bytes.val() - self.head_offset.val();
        } else {
            self.to_edge.next = (!bit_cast::<10, 38>(self.peer.q.val()) & self.longest.val()) + 1;
        }
        // Where ends go alone, a request of several beats ends on a whole one.
        self.ragged.next = self.split_ends.val()
            & (self.remaining.q.val().get_bits::<10>(0) & self.offset_mask.val()).any()
            & (self.remaining.q.val() > bit_cast::<32, 10>(self.beat_bytes.val()));
        self.page_number.next = self.peer.q.val().get_bits::<26>(12);
        if self.page_size.q.val() == 1 {
            self.page_number.next = bit_cast::<26, 22>(self.peer.q.val().get_bits::<22>(16));
        }
        if self.page_size.q.val() == 2 {
            self.page_number.next = bit_cast::<26, 17>(self.peer.q.val().get_bits::<17>(21));
        }
        // Chains: nothing of the own direction is under way; the other has ended all that was queued
        // before.
        self.chain_open.next = (!(self.waits.q.val() & self.chain_own.val()).any()
            | (self.queue.number.val() == self.queue.ended.val()))
            & (!(self.waits.q.val() & self.chain_other.val()).any()
                | !((self.ended_other.val() - self.stamp_at.q.val()) >> 12).any());
        self.owner_bits.next = self.entry.val().owner & self.mine.val();
    }
}

impl<const W: usize, const B: usize> Part<Flow> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.flow.number.next = self.stream_at.q.val();
        self.flow.channel.next = self.serving.q.val();
        self.flow.bytes.next = self.chunk.q.val();
        self.flow.closes.next = self.final_chunk.q.val();
        self.flow.claim.next = self.issued.val() & self.streams.q.val() & !self.fails.q.val();
        self.flow.fails.next = self.issued.val() & self.streams.q.val() & self.fails.q.val();
        self.starves_now.next =
            (self.state.q.val() == SegmentState::Lookup) & self.starving.q.val();
        self.flow.starves.next = self.starves_now.val();
        self.has_more.next = self.flow.held.val() > bit_cast::<13, 10>(self.chunk.q.val());
        self.has_all.next = self.flow.held.val() == bit_cast::<13, 10>(self.chunk.q.val());
        // A descriptor that fails in any case does not wait.
        self.hopeless.next = self.malformed.q.val()
            | self.unaligned.q.val()
            | self.aborted.q.val()
            | self.out_of_memory.q.val()
            | self.port_down.val()
            | !self.flow.granted.val();
        self.starves.next = 0.into();
        if self.starves_now.val() {
            self.starves.next = self.mine.val();
        }
    }
}
