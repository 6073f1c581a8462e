//! The logic's side of an output, in the logic's clock: from words of the buffer to words of the logic.
//!
//! Each descriptor is a packet. A request that has failed brings no words. The packet of its descriptor ends then with
//! a word whose data are not valid, with `error`. A packet of which no word has been shown ends without one. So does
//! one that is cut off because its stream is closed.

use super::output::Commit;
use crate::prim::{Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Unpacks 512-bit words to words of `U` bits.
#[derive(DocBlock)]
pub struct Unpack<const U: usize> {
    pub clock: Signal<In, Clock>,
    /// The stream is closed.
    pub reset: Signal<In, Bit>,
    /// The oldest request whose data are in the buffer.
    pub some: Signal<In, Bit>,
    pub commit: Signal<In, Commit>,
    pub pop: Signal<Out, Bit>,
    /// The buffer, and the words of it that are used up, in Gray code.
    pub address: Signal<Out, Bits<9>>,
    pub word: Signal<In, Bits<512>>,
    pub used: Signal<Out, Bits<10>>,
    /// The logic's words. The first byte is in the lowest bits. `empty`: bytes of the last word of a packet that are
    /// not valid, the highest.
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
    pub data: Signal<Out, Bits<U>>,
    pub startofpacket: Signal<Out, Bit>,
    pub endofpacket: Signal<Out, Bit>,
    pub empty: Signal<Out, Bits<6>>,
    pub error: Signal<Out, Bit>,

    /// A word is shown. No reset takes it back.
    on: DFF<Bit>,
    shown: DFF<Bits<U>>,
    starts: DFF<Bit>,
    ends: DFF<Bit>,
    not_valid: DFF<Bits<6>>,
    failed: DFF<Bit>,
    /// A packet has begun and not ended.
    within: DFF<Bit>,
    /// It will not go on.
    cut: DFF<Bit>,
    /// Place in the buffer, in the request and in the word.
    at: DFF<Bits<10>>,
    index: DFF<Bits<4>>,
    slice: DFF<Bits<3>>,
    /// Follows `at` in single steps, for the other clock.
    given: DFF<Bits<10>>,
    given_gray: DFF<Bits<10>>,

    room: Signal<Local, Bit>,
    front: Signal<Local, Bit>,
    final_word: Signal<Local, Bit>,
    last_byte: Signal<Local, Bits<6>>,
    last_slice: Signal<Local, Bit>,
    gives: Signal<Local, Bit>,
    gives_last: Signal<Local, Bit>,
    word_done: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
    ends_packet: Signal<Local, Bit>,
    skips: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    at_next: Signal<Local, Bits<10>>,
    given_next: Signal<Local, Bits<10>>,

    lane_bytes_less_one: Constant<Bits<6>>,
    lane_bytes_log2: Constant<Bits<3>>,
    lane_bits_log2: Constant<Bits<4>>,
    top_slice: Constant<Bits<3>>,
}

impl<const U: usize> Default for Unpack<U> {
    fn default() -> Self {
        Self::fresh(UnpackGiven {
            lane_bytes_less_one: Constant::new((U as u64 / 8 - 1).into()),
            lane_bytes_log2: Constant::new(u64::from((U / 8).trailing_zeros()).into()),
            lane_bits_log2: Constant::new(u64::from(U.trailing_zeros()).into()),
            top_slice: Constant::new((512 / U as u64 - 1).into()),
        })
    }
}

impl<const U: usize> Logic for Unpack<U> {
    parts!(Choice, Words);
}

/// The choice of the word that the next cycle shows.
struct Choice;

/// The word that is shown, and the places; and the reset.
struct Words;

impl<const U: usize> Part<Choice> for Unpack<U> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, on, shown, starts, ends, not_valid, failed, within, cut, at, index, slice,
            given, given_gray
        );
        self.room.next = !self.on.q.val() | self.ready.val();
        self.front.next = self.some.val() & !self.reset.val() & !self.cut.q.val();
        self.final_word.next = (self.index.q.val() + 1) == self.commit.val().words;
        self.last_byte.next = self.commit.val().tail - 1;
        self.last_slice.next = self.slice.q.val() == self.top_slice.val();
        if self.final_word.val() {
            self.last_slice.next = self.slice.q.val()
                == bit_cast::<3, 6>(self.last_byte.val() >> self.lane_bytes_log2.val());
        }
        self.gives.next = self.front.val() & !self.commit.val().failed & self.room.val();
        self.gives_last.next = self.final_word.val() & self.last_slice.val();
        self.word_done.next = self.gives.val() & self.last_slice.val();
        self.done.next = self.gives.val() & self.gives_last.val();
        self.ends_packet.next = self.gives_last.val() & self.commit.val().last;
        // The words of a request that has failed. Not before all earlier ones are reported as used.
        self.skips.next = self.front.val()
            & self.commit.val().failed
            & (self.given.q.val() == self.at.q.val())
            & (!self.commit.val().last | !self.within.q.val() | self.room.val());
        self.fails.next = (self.skips.val() & self.commit.val().last & self.within.q.val())
            | (self.cut.q.val() & self.room.val());
        self.pop.next = self.done.val() | self.skips.val();

        self.at_next.next = self.at.q.val();
        if self.word_done.val() {
            self.at_next.next = self.at.q.val() + 1;
        }
        if self.skips.val() {
            self.at_next.next = self.at.q.val() + bit_cast::<10, 4>(self.commit.val().words);
        }
        if self.reset.val() {
            self.at_next.next = 0.into();
        }
        self.address.next = self.at_next.val().get_bits::<9>(0);
    }
}

impl<const U: usize> Part<Words> for Unpack<U> {
    #[hdl_gen]
    fn update(&mut self) {
        self.at.d.next = self.at_next.val();
        self.given_next.next = self.given.q.val();
        if self.given.q.val() != self.at.q.val() {
            self.given_next.next = self.given.q.val() + 1;
        }
        if self.reset.val() {
            self.given_next.next = 0.into();
        }
        self.given.d.next = self.given_next.val();
        self.given_gray.d.next = self.given_next.val() ^ (self.given_next.val() >> 1);
        self.used.next = self.given_gray.q.val();

        if self.ready.val() {
            self.on.d.next = false;
        }
        if self.gives.val() | self.fails.val() {
            self.on.d.next = true;
            self.shown.d.next = bit_cast::<U, 512>(
                self.word.val()
                    >> (bit_cast::<9, 3>(self.slice.q.val()) << self.lane_bits_log2.val()),
            );
            if self.fails.val() {
                self.shown.d.next = 0.into();
            }
            self.starts.d.next = !self.within.q.val();
            self.ends.d.next = self.ends_packet.val() | self.fails.val();
            self.failed.d.next = self.fails.val();
            self.not_valid.d.next = 0.into();
            if self.ends_packet.val() & !self.fails.val() {
                self.not_valid.d.next = !self.last_byte.val() & self.lane_bytes_less_one.val();
            }
            self.within.d.next = !self.ends_packet.val() & !self.fails.val();
        }
        if self.gives.val() {
            self.slice.d.next = self.slice.q.val() + 1;
        }
        if self.word_done.val() {
            self.slice.d.next = 0.into();
            self.index.d.next = self.index.q.val() + 1;
        }
        if self.pop.val() {
            self.index.d.next = 0.into();
        }
        if self.fails.val() {
            self.cut.d.next = false;
        }
        if self.reset.val() {
            self.index.d.next = 0.into();
            self.slice.d.next = 0.into();
            self.cut.d.next = self.within.q.val() & !self.fails.val();
        }
        self.valid.next = self.on.q.val();
        self.data.next = self.shown.q.val();
        self.startofpacket.next = self.starts.q.val();
        self.endofpacket.next = self.ends.q.val();
        self.empty.next = self.not_valid.q.val();
        self.error.next = self.failed.q.val();
    }
}
