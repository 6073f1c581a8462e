//! Interrupt moderation: which of the events of a channel interrupts the host.
//!
//! An event waits until `count` events of its channel wait, or until the oldest of them is `time` × 256
//! cycles old, or until an urgent one comes; then the channel fires, once for all of them. A count of 0 or 1 fires at
//! once. A time of 0 means no limit: with a count above 1 the last events of a burst may then wait for ever, so a
//! driver sets both.
//!
//! Every channel is visited once in 256 cycles, and the visits count a channel's time. So it fires at most
//! `time` × 256 + 8 cycles after the oldest event, and up to 256 cycles earlier. A visit also looks at settings that have changed
//! while events wait. If settings are written in the same cycle in which they are looked up, the waiting events fire:
//! one interrupt too early instead of a wait.
//!
//! An event or a visit takes two cycles: its channel's words are read, then written back. The next one
//! may begin a cycle later, except on the same channel. Events may come every second cycle: each
//! begins at most one cycle late, so one place is enough to hold them, and of the four cycles of a
//! visit's turn at least one is left to the visit.

use crate::prim::BlockRam;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Moderation of up to 64 channels.
#[derive(DocBlock)]
pub struct Moderation {
    pub clock: Signal<In, Clock>,
    /// For 64 cycles after it the memories are cleared: settings that are written then are lost,
    /// events fire at once.
    pub reset: Signal<In, Bit>,
    /// An event, at most every second cycle.
    pub event_valid: Signal<In, Bit>,
    pub event_channel: Signal<In, Bits<6>>,
    pub event_urgent: Signal<In, Bit>,
    /// Settings.
    pub write: Signal<In, Bit>,
    pub write_channel: Signal<In, Bits<6>>,
    pub write_count: Signal<In, Bits<8>>,
    pub write_time: Signal<In, Bits<16>>,
    /// One cycle: this channel fires.
    pub fired: Signal<Out, Bit>,
    pub fired_channel: Signal<Out, Bits<6>>,

    /// `{time[15:0], count[7:0]}`.
    #[given]
    settings: BlockRam<Bits<24>, 6>,
    /// `{age[15:0], waiting[7:0]}`: the age is the number of the next visit that counts.
    #[given]
    waits: BlockRam<Bits<24>, 6>,
    tick: DFF<Bits<8>>,
    swept: DFF<Bit>,
    /// The visit of this turn has begun.
    visited: DFF<Bit>,
    /// An event that has not begun.
    held: DFF<Bit>,
    held_channel: DFF<Bits<6>>,
    held_urgent: DFF<Bit>,
    /// The channel whose words are in the RAMs' output registers, and why it is looked at.
    at: DFF<Bits<6>>,
    at_event: DFF<Bit>,
    at_urgent: DFF<Bit>,
    at_visit: DFF<Bit>,
    /// The words were not read.
    at_blind: DFF<Bit>,
    fired_now: DFF<Bit>,
    fired_at: DFF<Bits<6>>,

    turn: Signal<Local, Bits<6>>,
    under_way: Signal<Local, Bit>,
    begin_event: Signal<Local, Bit>,
    begin_visit: Signal<Local, Bit>,
    begins: Signal<Local, Bits<6>>,
    blind: Signal<Local, Bit>,
    waiting: Signal<Local, Bits<8>>,
    count: Signal<Local, Bits<8>>,
    age: Signal<Local, Bits<16>>,
    limit: Signal<Local, Bits<16>>,
    short: Signal<Local, Bits<9>>,
    some: Signal<Local, Bit>,
    expired: Signal<Local, Bit>,
    fire: Signal<Local, Bit>,
    waiting_next: Signal<Local, Bits<8>>,
    age_next: Signal<Local, Bits<16>>,
    last_channel: Constant<Bits<6>>,
}

impl Moderation {
    /// Moderation of `2^channels_log2` channels, at most 64.
    pub fn new(channels_log2: usize) -> Self {
        assert!(channels_log2 <= 6, "2^{channels_log2} channels, at most 64");
        // A memory has at least two words.
        let depth_log2 = channels_log2.max(1);
        Self::fresh(ModerationGiven {
            settings: BlockRam::new(depth_log2),
            waits: BlockRam::new(depth_log2),
            last_channel: Constant::new(((1u64 << channels_log2) - 1).into()),
        })
    }
}

impl Logic for Moderation {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            tick,
            swept,
            visited,
            held,
            held_channel,
            held_urgent,
            at,
            at_event,
            at_urgent,
            at_visit,
            at_blind,
            fired_now,
            fired_at
        );
        self.settings.write_clock.next = self.clock.val();
        self.settings.read_clock.next = self.clock.val();
        self.waits.write_clock.next = self.clock.val();
        self.waits.read_clock.next = self.clock.val();

        // The access that begins: an event, or the visit of the channel whose turn it is, or both in one. Not a channel
        // whose words are about to be written back.
        self.tick.d.next = self.tick.q.val() + 1;
        self.swept.d.next = self.swept.q.val() | self.tick.q.val().get_bits::<6>(0).all();
        self.turn.next = self.tick.q.val().get_bits::<6>(2);
        self.under_way.next = self.at_event.q.val() | self.at_visit.q.val();
        self.begin_event.next = self.held.q.val()
            & !(self.under_way.val() & (self.held_channel.q.val() == self.at.q.val()));
        self.begin_visit.next = self.swept.q.val()
            & !self.visited.q.val()
            & !(self.turn.val() & !self.last_channel.val()).any();
        if self.begin_event.val() {
            if self.turn.val() != self.held_channel.q.val() {
                self.begin_visit.next = false;
            }
        } else if self.under_way.val() & (self.turn.val() == self.at.q.val()) {
            self.begin_visit.next = false;
        }
        self.begins.next = self.turn.val() & self.last_channel.val();
        if self.begin_event.val() {
            self.begins.next = self.held_channel.q.val();
        }
        if self.tick.q.val().get_bits::<2>(0).all() {
            self.visited.d.next = false;
        } else if self.begin_visit.val() {
            self.visited.d.next = true;
        }
        if self.event_valid.val() {
            self.held.d.next = true;
            self.held_channel.d.next = self.event_channel.val() & self.last_channel.val();
            self.held_urgent.d.next = self.event_urgent.val();
        } else if self.begin_event.val() {
            self.held.d.next = false;
        }

        // Read. The settings are not read in the cycle in which they are written.
        self.blind.next = !self.swept.q.val()
            | (self.write.val()
                & ((self.write_channel.val() & self.last_channel.val()) == self.begins.val()));
        self.settings.read_address.next = self.begins.val();
        self.settings.read_enable.next =
            (self.begin_event.val() | self.begin_visit.val()) & !self.blind.val();
        self.waits.read_address.next = self.begins.val();
        self.waits.read_enable.next =
            (self.begin_event.val() | self.begin_visit.val()) & self.swept.q.val();
        self.at.d.next = self.begins.val();
        self.at_event.d.next = self.begin_event.val();
        self.at_urgent.d.next = self.begin_event.val() & self.held_urgent.q.val();
        self.at_visit.d.next = self.begin_visit.val();
        self.at_blind.d.next = self.blind.val();

        // Decide.
        self.waiting.next = self.waits.read_data.val().get_bits::<8>(0);
        self.age.next = self.waits.read_data.val().get_bits::<16>(8);
        self.count.next = self.settings.read_data.val().get_bits::<8>(0);
        self.limit.next = self.settings.read_data.val().get_bits::<16>(8);
        self.waiting_next.next = self.waiting.val() + self.at_event.q.val();
        // By how many this falls short of the count; -1 is enough where there is one more.
        self.short.next = bit_cast::<9, 8>(self.waiting.val()) - bit_cast::<9, 8>(self.count.val());
        self.some.next = self.at_event.q.val() | (self.at_visit.q.val() & self.waiting.val().any());
        self.expired.next = self.at_visit.q.val()
            & self.waiting.val().any()
            & self.limit.val().any()
            & (self.age.val() >= self.limit.val());
        self.fire.next = self.some.val()
            & (self.at_urgent.q.val()
                | self.at_blind.q.val()
                | self.expired.val()
                | !self.short.val().get_bit(8)
                | (self.at_event.q.val() & self.short.val().all()));
        self.fired_now.d.next = self.fire.val();
        self.fired_at.d.next = self.at.q.val();
        self.fired.next = self.fired_now.q.val();
        self.fired_channel.next = self.fired_at.q.val();

        // Write back. Without waiting events the age means nothing.
        self.age_next.next = 1.into();
        if self.waiting.val().any() {
            self.age_next.next = self.age.val() + self.at_visit.q.val();
        }
        self.waits.write_enable.next = self.under_way.val();
        self.waits.write_address.next = self.at.q.val();
        self.waits.write_data.next = bit_cast::<24, 16>(self.age_next.val()) << 8;
        if !self.fire.val() & self.swept.q.val() {
            self.waits.write_data.next = (bit_cast::<24, 16>(self.age_next.val()) << 8)
                | bit_cast::<24, 8>(self.waiting_next.val());
        }
        self.settings.write_enable.next = self.write.val();
        self.settings.write_address.next = self.write_channel.val();
        self.settings.write_data.next = (bit_cast::<24, 16>(self.write_time.val()) << 8)
            | bit_cast::<24, 8>(self.write_count.val());
        // With a count of 0 no event ever waits: the time need not be cleared.
        if !self.swept.q.val() {
            self.waits.write_enable.next = true;
            self.waits.write_address.next = self.tick.q.val().get_bits::<6>(0);
            self.settings.write_enable.next = true;
            self.settings.write_address.next = self.tick.q.val().get_bits::<6>(0);
            self.settings.write_data.next = bit_cast::<24, 16>(self.write_time.val()) << 8;
        }

        if self.reset.val() {
            self.tick.d.next = 0.into();
            self.swept.d.next = false;
            self.visited.d.next = false;
            self.held.d.next = false;
            self.at_event.d.next = false;
            self.at_visit.d.next = false;
            self.fired_now.d.next = false;
        }
    }
}
