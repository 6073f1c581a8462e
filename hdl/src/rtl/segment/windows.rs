//! The windows of FPGA memory: as the driver sets them, and the check of a request against them.

use super::Segment;
use crate::prim::Part;
use peerlane_language::*;

/// The windows of FPGA memory, as the driver sets them.
pub(super) struct Windows;

/// Checks whether the range is inside the memory and the window, and finds the channels that are looked at again.
pub(super) struct Bounds;

impl<const W: usize, const B: usize> Part<Windows> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Windows.
        self.window_base.read_address.next = self.serving.q.val();
        self.window_end.read_address.next = self.serving.q.val();
        self.window_base.write_enable.next = self.window_base_we.val() | self.sweep.val();
        self.window_end.write_enable.next = self.window_end_we.val() | self.sweep.val();
        self.window_base.write_address.next = self.window_channel.val();
        self.window_end.write_address.next = self.window_channel.val();
        self.window_base.write_data.next = self.window_data.val().get_bits::<28>(0);
        self.window_end.write_data.next = self.window_data.val().get_bits::<29>(0);
        if self.sweep.val() {
            self.window_base.write_address.next = self.sweep_channel.val();
            self.window_end.write_address.next = self.sweep_channel.val();
            self.window_base.write_data.next = 0.into();
            self.window_end.write_data.next = 0.into();
        }
        self.window_write.next =
            self.window_base_we.val() | self.window_end_we.val() | self.sweep.val();
        if self.window_write.val() {
            self.window_unsure.d.next = 3.into();
        } else if self.window_unsure.q.val().any() {
            self.window_unsure.d.next = self.window_unsure.q.val() - 1;
        }
    }
}

impl<const W: usize, const B: usize> Part<Bounds> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // The end of the range is known after `Size`, its place after `Cut`.
        self.local_end.d.next =
            bit_cast::<41, 40>(self.local_at.q.val()) + bit_cast::<41, 32>(self.remaining.q.val());
        self.out_of_memory.d.next =
            !self.remaining.q.val().any() | (self.local_end.q.val() > self.memory_bytes.val());
        if self.streams.q.val() {
            self.out_of_memory.d.next = !self.remaining.q.val().any();
        }
        self.out_of_window.d.next = (self.local_at.q.val().get_bits::<28>(12) < self.low.q.val())
            | (self.local_end.q.val() > (bit_cast::<41, 29>(self.high.q.val()) << 12));
        if self.streams.q.val() {
            self.out_of_window.d.next = false;
        }
        // A word that has not settled is not looked at: the registers stay for two cycles more.
        if !self.window_write.val() & !self.window_unsure.q.val().all() {
            self.low.d.next = self.window_base.read_data.val();
            self.high.d.next = self.window_end.read_data.val();
        }
        self.wakes_own.next = 0.into();
        if self.queue.end.val() {
            self.wakes_own.next = self.one.val() << self.queue.end_channel.val();
        }
        self.wakes.next = self.wakes_own.val();
        if self.end_other.val() {
            self.wakes.next =
                self.wakes_own.val() | (self.one.val() << self.end_other_channel.val());
        }

        self.wakes_served.next = (self.queue.end.val()
            & (self.queue.end_channel.val() == self.serving.q.val()))
            | (self.end_other.val() & (self.end_other_channel.val() == self.serving.q.val()));
        self.woken_before.d.next = self.wakes_served.val();
    }
}
