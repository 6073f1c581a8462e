//! Where a chunk belongs.

use super::Receive;
use crate::prim::Part;
use rust_hdl::prelude::*;

/// A chunk finds its place.
pub(super) struct Places;

impl<const W: usize, const B: usize, const E: usize> Part<Places> for Receive<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // A chunk finds its place by its tag, and moves the place on for the next.
        self.c_tag.next = self.front.q.val().get_bits::<6>(0);
        self.c_bytes.next = self.front.q.val().get_bits::<10>(6);
        self.c_code.next = self.front.q.val().get_bits::<4>(16);
        self.found_bare.d.next = self.c_code.val().any();
        self.c_bare.next = self.found_bare.q.val();
        self.packs_room.d.next = !self.packs.level.val().get_bits::<3>(4).any();
        self.places.read_address.next = self.c_tag.val();
        self.c_local.next = self.found.q.val().get_bits::<40>(0);
        self.c_lane.next = self.found.q.val().get_bits::<5>(40);
        self.c_left.next = self.found.q.val().get_bits::<10>(45);
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
        self.jobs.data_in.next = bit_cast::<20, 5>(self.c_lane.val())
            | (bit_cast::<20, 5>(bit_cast::<5, 40>(self.c_local.val()) & self.lane_mask.val())
                << 5)
            | (bit_cast::<20, 10>(self.c_bytes.val()) << 10);
        self.packs.push.next = self.packing.q.val();
        self.packs.data_in.next = self.packing_word.q.val();
        self.packing.d.next = self.c_take.val();
        self.packing_word.d.next = bit_cast::<48, 34>(self.c_local.val().get_bits::<34>(6))
            | (bit_cast::<48, 2>(
                bit_cast::<2, 6>(self.c_local.val().get_bits::<6>(0) >> self.beat_shift.val())
                    & self.place_mask.val(),
            ) << 34)
            | (bit_cast::<48, 6>(self.c_tag.val()) << 36)
            | (bit_cast::<48, 1>(self.c_final.val().into()) << 42)
            | (bit_cast::<48, 4>(self.c_code.val()) << 43)
            | (bit_cast::<48, 1>(self.c_bare.val().into()) << 47);
        self.places.write_enable.next = self.place.val() | self.c_take.val();
        self.places.write_address.next = self.c_tag.val();
        self.places.write_data.next =
            bit_cast::<55, 40>(self.c_local.val() + bit_cast::<40, 10>(self.c_bytes.val()))
                | (bit_cast::<55, 5>(
                    (self.c_lane.val() + bit_cast::<5, 10>(self.c_bytes.val()))
                        & self.lane_mask.val(),
                ) << 40)
                | (bit_cast::<55, 10>(self.c_left.val() - self.c_bytes.val()) << 45);
        if self.place.val() {
            self.places.write_address.next = self.place_tag.val();
            self.places.write_data.next = bit_cast::<55, 40>(self.place_local.val())
                | (bit_cast::<55, 5>(self.place_lane.val()) << 40)
                | (bit_cast::<55, 10>(self.place_bytes.val()) << 45);
        }
    }
}
