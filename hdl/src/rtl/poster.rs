//! The arbiter of the PCIe port's bus, for both adapters: write bursts, records, messages, and, where the bus
//! carries them too, read commands.
//!
//! The grant is a register. It is set while the last beat of the previous burst leaves. It rests with the write
//! bursts, which therefore follow each other without a gap. Records, messages and read commands are rare, and
//! are sent between two bursts.
//!
//! A bus that accepts nothing for `timeout` cycles is dead. From then on the arbiter accepts everything at once
//! and drops it. The beat on the bus stays there. The port opens again by itself when the bus has
//! accepted that beat and the rest of its burst, and the burst that the engine is at has been dropped to its end.
//!
//! The engine may be reset while the bus is not. The beat on the bus stays then, too, and nothing
//! else leaves before it is accepted.
//!
//! In both cases the rest of the burst on the bus must follow, for no burst may end early. The second half of a
//! record is kept for that. The data of a write burst are gone, since its descriptor has ended: zeros follow, in
//! no other bytes than those of the burst. So the last beat has only those that the last beat of any burst has.

use super::ports::{PostSink, WriteSink};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The bus's register for beats of `W` bits and `B` bytes, and the turns before it.
#[derive(DocBlock)]
pub struct Poster<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    /// With the bus.
    pub reset: Signal<In, Bit>,
    /// The engine is reset, the bus is not.
    pub clear: Signal<In, Bit>,
    /// Write bursts, records and messages, as in [`super::txs`].
    pub write: WriteSink<W, B>,
    pub record: PostSink<256>,
    pub message: PostSink<32>,
    /// No new burst may begin.
    pub hold: Signal<In, Bit>,
    /// A burst begins in this cycle.
    pub begins: Signal<Out, Bit>,
    /// Commands of another part, without data; a command may be withdrawn before it is taken.
    pub other: Signal<In, Bit>,
    pub other_address: Signal<In, Bits<64>>,
    pub other_beats: Signal<In, Bits<6>>,
    pub other_take: Signal<Out, Bit>,
    /// The bus: a beat of a burst, or the other's command; it stays until `ready`.
    pub posting: Signal<Out, Bit>,
    pub asking: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<64>>,
    pub beats: Signal<Out, Bits<6>>,
    pub data: Signal<Out, Bits<W>>,
    pub enable: Signal<Out, Bits<B>>,
    pub ready: Signal<In, Bit>,
    /// Time limit of a port that takes nothing; 0: none.
    pub timeout: Signal<In, Bits<32>>,
    /// Something else of the port waits, too.
    pub also_waiting: Signal<In, Bit>,
    pub waiting: Signal<Out, Bit>,
    /// The beat on the bus in the last cycle was taken, or the bus was empty.
    pub sent: Signal<Out, Bit>,
    /// The beat on the bus is from before a reset of the engine. Not set by a dead port, which has `dead`.
    pub rinses: Signal<Out, Bit>,
    pub dead: Signal<Out, Bit>,
    /// The port is dead from the next cycle on.
    pub dies: Signal<Out, Bit>,

    /// The turn: of the write bursts if of no other part.
    away: DFF<Bit>,
    at_record: DFF<Bit>,
    at_message: DFF<Bit>,
    at_other: DFF<Bit>,
    /// The burst of the turn: beats that are still to come, some, the last one.
    left: DFF<Bits<6>>,
    amid: DFF<Bit>,
    ending: DFF<Bit>,
    /// The beat or command on the bus.
    post: DFF<Bit>,
    ask: DFF<Bit>,
    address_at: DFF<Bits<64>>,
    beats_at: DFF<Bits<6>>,
    data_at: DFF<Bits<W>>,
    enable_at: DFF<Bits<B>>,
    /// Beats that are to follow there, of a dead port too.
    bus_left: DFF<Bits<6>>,
    /// The burst there is a record; the second half of it.
    bus_record: DFF<Bit>,
    half_at: DFF<Bits<128>>,
    patience: DFF<Bits<32>>,
    stuck: DFF<Bit>,
    is_dead: DFF<Bit>,
    /// The dead port is empty: it opens between two bursts of the engine.
    opening: DFF<Bit>,
    /// A burst from before a reset of the engine.
    rinsing: DFF<Bit>,
    was_free: DFF<Bit>,

    stands: Signal<Local, Bit>,
    still: Signal<Local, Bit>,
    dying: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    frozen: Signal<Local, Bit>,
    opens: Signal<Local, Bit>,
    take_beat: Signal<Local, Bit>,
    last_beat: Signal<Local, Bit>,
    record_step: Signal<Local, Bit>,
    record_ends: Signal<Local, Bit>,
    message_step: Signal<Local, Bit>,
    other_step: Signal<Local, Bit>,
    left_next: Signal<Local, Bits<6>>,
    over: Signal<Local, Bit>,
    next_record: Signal<Local, Bit>,
    next_message: Signal<Local, Bit>,
    next_other: Signal<Local, Bit>,
    /// Where the next burst goes, and its beats; which of four that is.
    there: Signal<Local, Bits<64>>,
    count: Signal<Local, Bits<6>>,
    upper_place: Signal<Local, Bit>,
    odd_place: Signal<Local, Bit>,
    /// The next beat and its bytes; which of four that is, and when it is loaded.
    word: Signal<Local, Bits<W>>,
    bytes: Signal<Local, Bits<B>>,
    half: Signal<Local, Bit>,
    upper_word: Signal<Local, Bit>,
    odd_word: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,

    lanes: Constant<Bits<B>>,
    /// The lanes of the last beat of any burst of several beats.
    last_lanes: Constant<Bits<B>>,
    dword_lanes: Constant<Bits<B>>,
    lane_mask: Constant<Bits<64>>,
    record_beats: Constant<Bits<6>>,
    is_narrow: Constant<Bits<1>>,
}

impl<const W: usize, const B: usize> Poster<W, B> {
    /// A poster of bursts of several beats that all are `whole`, or whose last may end at any dword.
    pub fn new(whole: bool) -> Self {
        Self::fresh(PosterGiven {
            lanes: Constant::new(Bits::<B>::mask()),
            last_lanes: Constant::new(if whole { Bits::<B>::mask() } else { 0xF.into() }),
            dword_lanes: Constant::new(0xF.into()),
            lane_mask: Constant::new((B as u64 - 1).into()),
            record_beats: Constant::new((32 / B as u64).into()),
            is_narrow: Constant::new(u64::from(B == 16).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for Poster<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, away, at_record, at_message, at_other, left, amid, ending, post, ask,
            address_at, beats_at, data_at, enable_at, bus_left, bus_record, half_at, patience,
            stuck, is_dead, opening, rinsing, was_free
        );
        self.posting.next = self.post.q.val();
        self.asking.next = self.ask.q.val();
        self.address.next = self.address_at.q.val();
        self.beats.next = self.beats_at.q.val();
        self.data.next = self.data_at.q.val();
        self.enable.next = self.enable_at.q.val();
        self.dead.next = self.is_dead.q.val();
        self.stands.next = (self.post.q.val() | self.ask.q.val()) & !self.ready.val();
        self.waiting.next = self.stands.val();
        self.was_free.d.next = !self.stands.val() | self.is_dead.q.val();
        self.sent.next = self.was_free.q.val();
        self.rinses.next = self.rinsing.q.val() & !self.is_dead.q.val();
        self.opens.next = self.opening.q.val() & !self.amid.q.val();
        self.free.next = ((!self.stands.val() & !self.rinsing.q.val()) | self.is_dead.q.val())
            & !self.clear.val()
            & !self.opens.val();

        // The beat that goes out in this cycle.
        self.take_beat.next = self.free.val()
            & !self.away.q.val()
            & self.write.beat.val()
            & (self.amid.q.val() | (self.write.valid.val() & !self.hold.val()));
        self.last_beat.next =
            self.ending.q.val() | (!self.amid.q.val() & (self.write.beats.val() == 1));
        self.record_step.next = self.free.val() & self.at_record.q.val();
        self.record_ends.next =
            self.record_step.val() & (self.amid.q.val() | !self.is_narrow.val().any());
        self.message_step.next = self.free.val() & self.at_message.q.val();
        self.other_step.next = self.free.val() & self.at_other.q.val() & self.other.val();
        self.write.take.next = self.take_beat.val();
        self.write.done.next = self.take_beat.val() & self.last_beat.val();
        self.begins.next = self.take_beat.val() & !self.amid.q.val();
        self.record.take.next = self.record_ends.val();
        self.message.take.next = self.message_step.val();
        self.other_take.next = self.other_step.val();

        // The rest of the burst.
        self.left_next.next = self.left.q.val();
        if self.take_beat.val() {
            self.left_next.next = self.left.q.val() - 1;
            self.amid.d.next = !self.ending.q.val();
            self.ending.d.next = self.left.q.val() == 2;
            if !self.amid.q.val() {
                self.left_next.next = self.write.beats.val() - 1;
                self.amid.d.next = self.write.beats.val() != 1;
                self.ending.d.next = self.write.beats.val() == 2;
            }
        }
        if self.record_step.val() & self.is_narrow.val().any() {
            self.left_next.next = bit_cast::<6, 1>((!self.amid.q.val()).into());
            self.amid.d.next = !self.amid.q.val();
            self.ending.d.next = !self.amid.q.val();
        }
        self.left.d.next = self.left_next.val();

        // The next turn. A part that has just been served withdraws its command in this same cycle.
        self.over.next = (self.away.q.val() & self.free.val())
            & (!self.at_record.q.val() | self.record_ends.val());
        if !self.away.q.val() {
            self.over.next = (!self.amid.q.val() & !self.take_beat.val())
                | (self.take_beat.val() & self.last_beat.val());
        }
        self.next_record.next = self.record.valid.val() & !self.at_record.q.val();
        self.next_message.next =
            self.message.valid.val() & !self.at_message.q.val() & !self.next_record.val();
        self.next_other.next = self.other.val()
            & !self.at_other.q.val()
            & !self.next_record.val()
            & !self.next_message.val();
        if self.over.val() {
            self.at_record.d.next = self.next_record.val();
            self.at_message.d.next = self.next_message.val();
            self.at_other.d.next = self.next_other.val();
            self.away.d.next =
                self.next_record.val() | self.next_message.val() | self.next_other.val();
        }

        // The bus. Values that are loaded without `post` or `ask` have no effect. Address and data have two selects
        // each: one LUT a bit.
        self.upper_place.next = self.at_message.q.val() | self.at_other.q.val();
        self.odd_place.next = self.at_record.q.val() | self.at_other.q.val();
        self.there.next = self.write.address.val();
        self.count.next = self.write.beats.val();
        if self.upper_place.val() {
            self.there.next = self.message.address.val() & !self.lane_mask.val();
            self.count.next = 1.into();
            if self.odd_place.val() {
                self.there.next = self.other_address.val();
                self.count.next = self.other_beats.val();
            }
        } else if self.odd_place.val() {
            self.there.next = self.record.address.val();
            self.count.next = self.record_beats.val();
        }
        if self.free.val() {
            self.post.d.next =
                self.take_beat.val() | self.record_step.val() | self.message_step.val();
            self.ask.d.next = self.other_step.val();
            if !self.amid.q.val() {
                self.address_at.d.next = self.there.val();
                self.beats_at.d.next = self.count.val();
            }
        }

        // A port that takes nothing.
        self.still.next = self.stands.val() | self.also_waiting.val();
        if !self.still.val() {
            self.patience.d.next = self.timeout.val();
        } else if self.patience.q.val().any() {
            self.patience.d.next = self.patience.q.val() - 1;
        }
        self.stuck.d.next = self.still.val() & (self.patience.q.val() == 1);
        self.dying.next = self.stuck.q.val() & self.still.val();
        self.dies.next = self.dying.val();
        self.opening.d.next = self.is_dead.q.val()
            & !self.still.val()
            & !self.post.q.val()
            & !self.ask.q.val()
            & !self.bus_left.q.val().any();
        if self.dying.val() {
            self.is_dead.d.next = true;
        } else if self.opens.val() {
            self.is_dead.d.next = false;
            self.opening.d.next = false;
        }
        self.frozen.next = self.is_dead.q.val() | self.rinsing.q.val() | self.clear.val();
        if !self.frozen.val() {
            self.bus_left.d.next = self.left_next.val();
            if self.free.val() & !self.amid.q.val() {
                self.bus_record.d.next = self.at_record.q.val();
                self.half_at.d.next = self.record.data.val().get_bits::<128>(128);
            }
        } else {
            self.address_at.d.next = self.address_at.q.val();
            self.beats_at.d.next = self.beats_at.q.val();
            self.post.d.next = self.post.q.val();
            self.ask.d.next = self.ask.q.val();
            if !self.stands.val() {
                self.ask.d.next = false;
                self.post.d.next = self.bus_left.q.val().any();
                if self.bus_left.q.val().any() {
                    self.bus_left.d.next = self.bus_left.q.val() - 1;
                }
            }
        }

        // A beat: of a write burst, a record's first, a message, a record's second. Once the engine has dropped the
        // burst, a beat of zeros.
        self.loads.next = self.free.val();
        self.half.next = self.at_record.q.val() & self.amid.q.val();
        if self.frozen.val() {
            self.loads.next = !self.stands.val();
            self.half.next = self.bus_record.q.val();
        }
        self.upper_word.next = self.half.val() | self.at_message.q.val();
        self.odd_word.next = self.half.val() | self.at_record.q.val();
        self.word.next = self.write.data.val();
        if self.upper_word.val() {
            self.word.next = bit_cast::<W, 256>(
                bit_cast::<256, 32>(self.message.data.val())
                    | (bit_cast::<256, 32>(self.message.data.val()) << 32)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 64)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 96)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 128)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 160)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 192)
                    | (bit_cast::<256, 32>(self.message.data.val()) << 224),
            );
            if self.odd_word.val() {
                self.word.next = bit_cast::<W, 128>(self.half_at.q.val());
            }
        } else if self.odd_word.val() {
            self.word.next = bit_cast::<W, 256>(self.record.data.val());
        }
        self.bytes.next = self.lanes.val();
        if self.frozen.val() {
            if !self.bus_record.q.val() & (self.bus_left.q.val() == 1) {
                self.bytes.next = self.last_lanes.val();
            }
        } else if self.at_message.q.val() {
            self.bytes.next = self.dword_lanes.val()
                << bit_cast::<6, 64>(self.message.address.val() & self.lane_mask.val());
        } else if !self.away.q.val() {
            self.bytes.next = self.write.enable.val();
        }
        if self.loads.val() {
            self.data_at.d.next = self.word.val();
            self.enable_at.d.next = self.bytes.val();
            if self.frozen.val() & !self.bus_record.q.val() {
                self.data_at.d.next = 0.into();
            }
        }

        if !self.stands.val() & !self.bus_left.q.val().any() {
            self.rinsing.d.next = false;
        }
        if self.clear.val() | self.reset.val() {
            self.away.d.next = false;
            self.at_record.d.next = false;
            self.at_message.d.next = false;
            self.at_other.d.next = false;
            self.left.d.next = 0.into();
            self.amid.d.next = false;
            self.ending.d.next = false;
            self.is_dead.d.next = false;
            self.opening.d.next = false;
            self.rinsing.d.next = true;
            // The beat that is there may wait for the full time again until the port is dead again.
            self.patience.d.next = self.timeout.val();
        }
        if self.reset.val() {
            self.rinsing.d.next = false;
            self.bus_left.d.next = 0.into();
            self.post.d.next = false;
            self.ask.d.next = false;
            self.patience.d.next = 0.into();
            self.stuck.d.next = false;
        }
    }
}
