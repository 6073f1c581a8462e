//! The sweeper, which moves small counts into the memory, and software's reads of the memory.

use super::{Counters, SnapshotState};
use crate::prim::Part;
use peerlane_language::*;

/// Moves the small counts into the memory.
pub(super) struct Sweeping;

/// Software's reads; and the reset.
pub(super) struct Showing;

impl Part<Sweeping> for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        // The sweeper takes the tally's count, with a counter's low word.
        self.sweep_bytes.next = (self.slot.val() == 5) & !self.high.val();
        self.sweep_count.next = (self.slot.val() == 6) & !self.high.val();
        self.requests.sweep.next = self.sweep_bytes.val() | self.sweep_count.val();
        self.requests.sweep_row.next = bit_cast::<8, 1>(self.swept_bank.val().into())
            | (bit_cast::<8, 6>(self.sweep_channel.q.val()) << 1);
        self.requests.sweep_low.next = self.sweep_bytes.val();
        self.requests.sweep_high.next = self.sweep_count.val();
        self.sweep_class.next = 0.into();
        if self.slot.val().get_bit(3) {
            self.sweep_class.next = self.slot.val().get_bits::<2>(0);
        }
        self.ends.sweep.next = self.is_end.val() & !self.high.val();
        self.ends.sweep_row.next = bit_cast::<10, 1>(self.swept_bank.val().into())
            | (bit_cast::<10, 6>(self.sweep_channel.q.val()) << 1)
            | (bit_cast::<10, 2>(self.sweep_class.val()) << 7);
        self.ends.sweep_low.next = true;
        self.ends.sweep_high.next = false;

        // Two cycles later `high` is the opposite of the word's.
        self.even_levels.reset.next = self.clear.val();
        self.odd_levels.reset.next = self.clear.val();
        self.even_levels.levels.next = bit_cast::<5, 1>(self.levels.val().get_bit(0).into())
            | (bit_cast::<5, 1>(self.levels.val().get_bit(2).into()) << 1)
            | (bit_cast::<5, 1>(self.levels.val().get_bit(4).into()) << 2)
            | (bit_cast::<5, 1>(self.levels.val().get_bit(6).into()) << 3)
            | (bit_cast::<5, 1>(self.levels.val().get_bit(8).into()) << 4);
        self.odd_levels.levels.next = bit_cast::<4, 1>(self.levels.val().get_bit(1).into())
            | (bit_cast::<4, 1>(self.levels.val().get_bit(3).into()) << 1)
            | (bit_cast::<4, 1>(self.levels.val().get_bit(5).into()) << 2)
            | (bit_cast::<4, 1>(self.levels.val().get_bit(7).into()) << 3);
        self.even_levels.number.next = self.slot.val().get_bits::<3>(0);
        self.odd_levels.number.next = self.slot.val().get_bits::<3>(0);
        self.even_levels.aside.next = self.unshown.q.val().any();
        self.odd_levels.aside.next = self.unshown.q.val().any();
        self.even_levels.split.next = self.make.val();
        self.odd_levels.split.next = self.make.val();
        self.even_levels.visit.next = self.high.val() & !self.direction.val();
        self.odd_levels.visit.next = self.high.val() & self.direction.val();
        self.taken.d.next = 0.into();
        self.taken_high.d.next = !self.high.val();
        self.taken_end.d.next = self.high.val() & self.is_end.val();
        self.taken_chain.d.next = self.high.val() & (self.slot.val() >= 13);
        self.taken_add.d.next = self.high.val() & (self.slot.val() >= 14);
        self.show.next = self.state.q.val() == SnapshotState::Pass;
        if self.is_level.val() {
            self.show.next = self.unshown.q.val().any();
        }
        self.show_near.d.next = self.show_far.q.val();
        self.show_far.d.next = self.show_near.q.val();
        if self.high.val() {
            self.show_near.d.next = self.show.val() | self.clear.val();
            if self.is_level.val() {
                self.taken.d.next = bit_cast::<21, 6>(self.even_levels.amount.val());
                if self.direction.val() {
                    self.taken.d.next = bit_cast::<21, 6>(self.odd_levels.amount.val());
                    if self.slot.val().get_bit(2) {
                        self.taken.d.next = 0.into();
                    }
                }
                if self.unshown.q.val().any() {
                    self.unshown.d.next = self.unshown.q.val() - 1;
                }
            } else if self.is_end.val() {
                self.taken.d.next = bit_cast::<21, 12>(self.ends.held.val());
            } else if self.slot.val().get_bit(0) {
                self.taken.d.next = self.requests.held.val().get_bits::<21>(0);
            } else {
                self.taken.d.next = bit_cast::<21, 12>(self.requests.held.val().get_bits::<12>(21));
            }
        }
        if self.make.val() {
            // Ten visits a round.
            self.unshown.d.next = 10.into();
        }

        // Three cycles later.
        self.before.next = 0.into();
        if self.taken_chain.q.val() {
            self.before.next = self.far.q.val();
        }
        if self.taken_end.q.val() {
            self.near.d.next = self.taken.q.val().get_bits::<12>(0) + self.before.val();
            self.far.d.next = self.near.q.val();
        }
        self.added.next = 0.into();
        if self.taken_add.q.val() {
            self.added.next = bit_cast::<21, 12>(self.far.q.val());
        }
        if self.taken_high.q.val() {
            self.added.next = bit_cast::<21, 1>(self.carry.q.val().into());
        }
        self.increment.d.next = self.taken.q.val() + self.added.val();

        // Four cycles later; the total has been read by then.
        self.base.next = bit_cast::<9, 2>(self.slot.val().get_bits::<2>(0))
            | (bit_cast::<9, 1>(self.slot.val().get_bit(3).into()) << 2)
            | (bit_cast::<9, 6>(self.sweep_channel.q.val()) << 3);
        if self.is_level.val() {
            self.base.next = bit_cast::<9, 3>(self.slot.val().get_bits::<3>(0)) << 2;
        }
        self.base_read.next = self.base_before.q.val();
        if self.high.val() {
            self.base_read.next = self.base.val();
            if self.direction.val() {
                self.base_before.d.next = self.base.val();
            }
        }
        self.running.read_enable.next = true;
        self.running.read_address.next = (bit_cast::<11, 9>(self.base_read.val()) << 2)
            | (bit_cast::<11, 1>((!self.high.val()).into()) << 1)
            | bit_cast::<11, 1>(self.direction.val().into());
        self.word.d.next = self.running.read_data.val();
        self.sum.next =
            bit_cast::<33, 32>(self.word.q.val()) + bit_cast::<33, 21>(self.increment.q.val());
        self.carry.d.next = self.sum.val().get_bit(32);
        self.running.write_enable.next = true;
        self.running.write_address.next = (bit_cast::<11, 9>(self.base_before.q.val()) << 2)
            | bit_cast::<11, 2>(self.step.q.val().get_bits::<2>(0));
        self.running.write_data.next = self.sum.val().get_bits::<32>(0);
        self.shown.write_enable.next = self.show_far.q.val();
        self.shown.write_address.next = (bit_cast::<11, 9>(self.base_before.q.val()) << 2)
            | bit_cast::<11, 2>(self.step.q.val().get_bits::<2>(0));
        self.shown.write_data.next = self.sum.val().get_bits::<32>(0);
    }
}

impl Part<Showing> for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        // Software's reads.
        self.counter.next = self.address.val().get_bits::<3>(1);
        // BYTES, REQUESTS, TIMEOUTS, ATT_FAULTS, FAULTS, DESCRIPTORS are in slots 5, 6, 7, 13, 14, 15.
        self.asked_slot.next = 1.into();
        if self.counter.val() == 1 {
            self.asked_slot.next = 2.into();
        } else if self.counter.val() == 2 {
            self.asked_slot.next = 7.into();
        } else if self.counter.val() == 3 {
            self.asked_slot.next = 6.into();
        } else if self.counter.val() == 4 {
            self.asked_slot.next = 5.into();
        } else if self.counter.val() == 5 {
            self.asked_slot.next = 3.into();
        }
        // An address without a counter reads as level 9, which does not exist.
        self.asked_base.next = 16.into();
        self.asked_direction.next = true;
        if self.address.val().get_bit(5) {
            if self.address.val().get_bits::<4>(1) < 9 {
                self.asked_base.next = bit_cast::<9, 3>(self.address.val().get_bits::<3>(2)) << 2;
                self.asked_direction.next = self.address.val().get_bit(1);
            }
        } else if self.counter.val() < 6 {
            self.asked_base.next = (bit_cast::<9, 6>(self.channel.val() & self.last_channel.val())
                << 3)
                | bit_cast::<9, 3>(self.asked_slot.val());
            self.asked_direction.next = self.address.val().get_bit(4);
        }
        self.shown.read_enable.next = self.read.val();
        self.shown.read_address.next = (bit_cast::<11, 9>(self.asked_base.val()) << 2)
            | (bit_cast::<11, 1>(self.address.val().get_bit(0).into()) << 1)
            | bit_cast::<11, 1>(self.asked_direction.val().into());
        self.value.next = self.shown.read_data.val();

        if self.clear.val() {
            self.taken.d.next = 0.into();
            self.increment.d.next = 0.into();
            self.word.d.next = 0.into();
        }
        if self.reset.val() {
            self.step.d.next = 0.into();
            self.sweep_channel.d.next = 0.into();
            self.state.d.next = SnapshotState::Idle;
            self.again.d.next = false;
            self.bank.d.next = false;
            self.clearing.d.next = 3.into();
            self.unshown.d.next = 0.into();
        }
    }
}
