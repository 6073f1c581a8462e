//! Where a chunk belongs.

use super::Receive;
use crate::prim::Part;
use peerlane_language::*;

/// A chunk finds its place.
pub(super) struct Places;

impl<const W: usize, const B: usize, const E: usize> Part<Places> for Receive<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // A chunk finds its place by its tag, and moves the place on for the next.
        self.c_tag.next = self.front.q.val().tag;
        self.c_bytes.next = self.front.q.val().bytes;
        self.c_code.next = self.front.q.val().code;
        self.found_bare.d.next = self.c_code.val().any();
        self.c_bare.next = self.found_bare.q.val();
        self.packs_room.d.next = !self.packs.level.val().get_bits::<3>(4).any();
        self.places.read_address.next = self.c_tag.val();
        self.c_local.next = self.found.q.val().local;
        self.c_lane.next = self.found.q.val().lane;
        self.c_left.next = self.found.q.val().left;
        self.found.d.next = self.places.read_data.val();
        self.c_take.next = self.found_on.q.val()
            & self.packs_room.q.val()
            & !self.place.val()
            & (self.c_bare.val() | !self.jobs.full.val());
        self.found_on.d.next = self.front_on.q.val() & !self.c_take.val();
        self.c_load.next = self.chunks.valid.val() & (!self.front_on.q.val() | self.c_take.val());
        self.chunks.pop.next = self.c_load.val();
        if self.c_load.val() {
            self.front_on.d.next = true;
            self.front.d.next = self.chunks.data.val();
        } else if self.c_take.val() {
            self.front_on.d.next = false;
        }
        self.c_final.next = self.c_bare.val() | (self.c_left.val() == self.c_bytes.val());
        self.jobs.push.next = self.c_take.val() & !self.c_bare.val();
        self.jobs.data_in.next.source = self.c_lane.val();
        self.jobs.data_in.next.target =
            bit_cast::<5, 40>(self.c_local.val()) & self.lane_mask.val();
        self.jobs.data_in.next.bytes = self.c_bytes.val();
        self.packs.push.next = self.packing.q.val();
        self.packs.data_in.next = self.packing_word.q.val();
        self.packing.d.next = self.c_take.val();
        self.packing_word.d.next.word = self.c_local.val().get_bits::<34>(6);
        self.packing_word.d.next.lane =
            bit_cast::<2, 6>(self.c_local.val().get_bits::<6>(0) >> self.beat_shift.val())
                & self.place_mask.val();
        self.packing_word.d.next.tag = self.c_tag.val();
        self.packing_word.d.next.last = self.c_final.val();
        self.packing_word.d.next.code = self.c_code.val();
        self.packing_word.d.next.bare = self.c_bare.val();
        self.places.write_enable.next = self.place.val() | self.c_take.val();
        self.places.write_address.next = self.c_tag.val();
        self.places.write_data.next.local =
            self.c_local.val() + bit_cast::<40, 10>(self.c_bytes.val());
        self.places.write_data.next.lane =
            (self.c_lane.val() + bit_cast::<5, 10>(self.c_bytes.val())) & self.lane_mask.val();
        self.places.write_data.next.left = self.c_left.val() - self.c_bytes.val();
        if self.place.val() {
            self.places.write_address.next = self.place_tag.val();
            self.places.write_data.next.local = self.place_local.val();
            self.places.write_data.next.lane = self.place_lane.val();
            self.places.write_data.next.left = self.place_bytes.val();
        }
    }
}
