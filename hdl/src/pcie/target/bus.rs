//! The master of the host bus: an Avalon-MM master of 64 bits, with bursts of up to 256 bytes and reads that wait for
//! their data (Avalon Interface Specifications, "Pipelined Transfers", "Burst Transfers").
//!
//! Writes and reads take turns, by the burst. A command stays on the bus until it is taken.
//!
//! A bus that does not take a command, or does not bring the data that it was asked for, is *down* after a time. From
//! then on reads are answered without it, and its late data are dropped: data come in order, so it drops as many beats
//! as the bus owes. The bus is up again when it owes nothing. While it takes nothing, writes are dropped, too: no
//! packet from the hard IP, least of all a completion, may wait for a bus that is dead. If the bus still takes a burst
//! whose rest was dropped, beats without an enabled byte follow.
//!
//! The bus is reset with this block.

use crate::pcie::BUS_IMPATIENCE;
use crate::prim::{Part, Patience, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The master.
#[derive(DocBlock)]
pub struct Bus {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Writes, as [`super::intake`] has them, and reads, as [`super::requests`] has them.
    pub write_valid: Signal<In, Bit>,
    pub write_first: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<29>>,
    pub write_beats: Signal<In, Bits<6>>,
    pub write_data: Signal<In, Bits<64>>,
    pub write_enable: Signal<In, Bits<8>>,
    pub write_take: Signal<Out, Bit>,
    pub ask_valid: Signal<In, Bit>,
    pub ask_address: Signal<In, Bits<29>>,
    pub ask_beats: Signal<In, Bits<6>>,
    pub ask_enable: Signal<In, Bits<8>>,
    pub ask_take: Signal<Out, Bit>,
    /// The bus.
    pub address: Signal<Out, Bits<32>>,
    pub burstcount: Signal<Out, Bits<6>>,
    pub read: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub writedata: Signal<Out, Bits<64>>,
    pub byteenable: Signal<Out, Bits<8>>,
    pub waitrequest: Signal<In, Bit>,
    pub readdata: Signal<In, Bits<64>>,
    pub readdatavalid: Signal<In, Bit>,
    /// Data of the bus; while it is down, no request waits for them.
    pub data_valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<64>>,
    /// Completions wait for it.
    pub live: Signal<In, Bit>,
    pub down: Signal<Out, Bit>,
    /// A write burst is dropped, or the rest of one.
    pub saw_lost: Signal<Out, Bit>,

    reads: DFF<Bit>,
    writes: DFF<Bit>,
    place: DFF<Bits<29>>,
    count: DFF<Bits<6>>,
    word: DFF<Bits<64>>,
    enable: DFF<Bits<8>>,
    /// Beats that the write burst on the bus still wants.
    burst_left: DFF<Bits<6>>,
    burst_any: DFF<Bit>,
    /// The last burst was a write.
    wrote: DFF<Bit>,
    /// The rest of a write is dropped.
    dropping: DFF<Bit>,
    /// Beats that the bus owes.
    owed: DFF<Bits<12>>,
    owes: DFF<Bit>,
    come: DFF<Bit>,
    came: DFF<Bits<64>>,
    /// For how long nothing was taken, and nothing has come; the first is too long, or either.
    still: DFF<Bits<24>>,
    stuck: DFF<Bit>,
    silent: DFF<Bits<24>>,
    dead: DFF<Bit>,

    stands: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    amid: Signal<Local, Bit>,
    drop: Signal<Local, Bit>,
    may_write: Signal<Local, Bit>,
    /// The first beat of a write, while no burst is under way.
    first_write: Signal<Local, Bit>,
    may_ask: Signal<Local, Bit>,
    pick_ask: Signal<Local, Bit>,
    pick_write: Signal<Local, Bit>,
    fill: Signal<Local, Bit>,
    brings: Signal<Local, Bit>,
    new_owed: Signal<Local, Bits<12>>,
    #[given]
    limit: Patience<24>,
}

impl Bus {
    /// A bus that is down when it has done nothing for `2^patience_log2` cycles.
    pub fn new(patience_log2: usize) -> Self {
        assert!(patience_log2 < 24, "2^{patience_log2} cycles");
        Self::fresh(BusGiven {
            limit: Patience::new(1 << patience_log2, BUS_IMPATIENCE),
        })
    }
}

impl Logic for Bus {
    parts!(Commands, Answers);
}

/// What goes out.
struct Commands;

impl Part<Commands> for Bus {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, reads, writes, place, count, word, enable, burst_left, burst_any, wrote,
            dropping, owed, owes, come, came, still, stuck, silent, dead
        );
        self.stands.next = (self.reads.q.val() | self.writes.q.val()) & self.waitrequest.val();
        self.free.next = !self.stands.val();
        self.amid.next = self.burst_any.q.val();

        // Of a write that is dropped in part, all that follows.
        self.drop.next = self.write_valid.val()
            & (self.stuck.q.val() | (self.dropping.q.val() & !self.write_first.val()));
        self.fill.next = self.free.val() & self.amid.val() & self.dropping.q.val();
        self.may_write.next = self.write_valid.val()
            & !self.stuck.q.val()
            & ((self.write_first.val() & !self.amid.val())
                | (!self.write_first.val() & !self.dropping.q.val()));
        self.first_write.next = self.write_valid.val()
            & !self.stuck.q.val()
            & (self.write_first.val() | !self.dropping.q.val());
        self.may_ask.next = self.ask_valid.val() & !self.amid.val();
        self.pick_ask.next =
            self.free.val() & self.may_ask.val() & (self.wrote.q.val() | !self.first_write.val());
        self.pick_write.next =
            self.free.val() & self.may_write.val() & !(self.may_ask.val() & self.wrote.q.val());
        self.ask_take.next = self.pick_ask.val();
        // The same as `pick_write` or `drop`, in few steps: it is the head of a long path.
        self.write_take.next = self.write_valid.val()
            & (self.stuck.q.val()
                | (self.dropping.q.val() & !self.write_first.val())
                | (self.free.val()
                    & !(self.may_ask.val() & self.wrote.q.val())
                    & !(self.write_first.val() & self.amid.val())));
        self.saw_lost.next = self.drop.val() & (self.write_first.val() | !self.dropping.q.val());

        if self.free.val() {
            self.reads.d.next = self.pick_ask.val();
            self.writes.d.next = self.pick_write.val() | self.fill.val();
        }
        if self.pick_ask.val() {
            self.place.d.next = self.ask_address.val();
            self.count.d.next = self.ask_beats.val();
            self.enable.d.next = self.ask_enable.val();
            self.wrote.d.next = false;
        }
        if self.pick_write.val() {
            self.word.d.next = self.write_data.val();
            self.enable.d.next = self.write_enable.val();
            self.burst_left.d.next = self.burst_left.q.val() - 1;
            self.burst_any.d.next = self.burst_left.q.val() != 1;
            if self.write_first.val() {
                self.place.d.next = self.write_address.val();
                self.count.d.next = self.write_beats.val();
                self.burst_left.d.next = self.write_beats.val() - 1;
                self.burst_any.d.next = self.write_beats.val() != 1;
                self.wrote.d.next = true;
                self.dropping.d.next = false;
            }
        }
        if self.fill.val() {
            self.enable.d.next = 0.into();
            self.burst_left.d.next = self.burst_left.q.val() - 1;
            self.burst_any.d.next = self.burst_left.q.val() != 1;
        }
        if self.drop.val() {
            self.dropping.d.next = true;
        }
        self.address.next = bit_cast::<32, 29>(self.place.q.val()) << 3;
        self.burstcount.next = self.count.q.val();
        self.read.next = self.reads.q.val();
        self.write.next = self.writes.q.val();
        self.writedata.next = self.word.q.val();
        self.byteenable.next = self.enable.q.val();
    }
}

/// Takes the data of the bus, and notices missing data; and the reset.
struct Answers;

impl Part<Answers> for Bus {
    #[hdl_gen]
    fn update(&mut self) {
        self.come.d.next = self.readdatavalid.val();
        self.came.d.next = self.readdata.val();
        self.brings.next = self.come.q.val() & self.owes.q.val();
        self.new_owed.next = self.owed.q.val() - bit_cast::<12, 1>(self.brings.val().into());
        self.owed.d.next = self.new_owed.val();
        if self.brings.val() {
            self.owes.d.next = self.owed.q.val() != 1;
        }
        if self.pick_ask.val() {
            self.owed.d.next = self.new_owed.val() + bit_cast::<12, 6>(self.ask_beats.val());
            self.owes.d.next = true;
        }
        self.data_valid.next = self.brings.val();
        self.data.next = self.came.q.val();

        self.still.d.next = self.still.q.val() + 1;
        if !self.stands.val() {
            self.still.d.next = 0.into();
            self.stuck.d.next = false;
        } else if self.still.q.val() == self.limit.cycles.val() {
            self.still.d.next = self.limit.cycles.val();
            self.stuck.d.next = true;
        }
        self.silent.d.next = self.silent.q.val() + 1;
        if !self.live.val() | self.brings.val() | self.dead.q.val() {
            self.silent.d.next = 0.into();
        }
        if self.stuck.q.val() | (self.silent.q.val() == self.limit.cycles.val()) {
            self.dead.d.next = true;
        } else if !self.live.val() & !self.owes.q.val() {
            self.dead.d.next = false;
        }
        self.down.next = self.dead.q.val();

        if self.reset.val() {
            self.reads.d.next = false;
            self.writes.d.next = false;
            self.burst_left.d.next = 0.into();
            self.burst_any.d.next = false;
            self.wrote.d.next = false;
            self.dropping.d.next = false;
            self.owed.d.next = 0.into();
            self.owes.d.next = false;
            self.come.d.next = false;
            self.still.d.next = 0.into();
            self.stuck.d.next = false;
            self.silent.d.next = 0.into();
            self.dead.d.next = false;
        }
    }
}
