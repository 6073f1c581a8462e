//! The host's reads and writes of the board's BARs, for the Avalon-MM bus that the board's slaves are on.
//!
//! Packets come through [`intake`]; writes leave from there, in order. Requests that want an answer wait in
//! [`requests`], where reads are cut into completions. [`bus`] is the master of the bus. Its data become completions in
//! [`replies`], which [`super::transmit`] sends.
//!
//! # No circular waits
//! Writes and completions must pass reads that cannot be answered yet (PCI Express Base Specification 2.1, section
//! 2.4.1). So `mask` asks the hard IP to hold back requests that want an answer while there are still places for those
//! that come all the same: up to ten (Stratix V Avalon-ST Interface for PCIe 683093, `rx_st_mask`). A read goes to the
//! bus when there is room for its data. A bus that does nothing is given up after a time.

pub mod bus;
pub mod intake;
pub mod replies;
pub mod requests;
pub mod store;

use super::words::ReplyHead;
use crate::prim::{Part, parts};
use bus::Bus;
use intake::Intake;
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use replies::Replies;
use requests::Requests;

/// The part of the host's address space that belongs to the board, and the time that its bus may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The BARs that are the bus's: a bit each.
    pub bars: u8,
    /// Bytes of the largest of them, as a power of two: 3 to 32. Addresses on the bus are within it.
    pub bar_log2: usize,
    /// The bus is given up when it has done nothing for `2^patience_log2` cycles; less than 24.
    pub patience_log2: usize,
}

impl Default for Reach {
    /// BAR 0 as the OpenCL BSPs have it: 64 bits wide, 256 KiB. The hard IP's documents do not say which bit shows a
    /// BAR of 64 bits, so it is either of two. 4.2 ms at 250 MHz: a requester waits for 10 ms at least, as the PCI
    /// Express Base Specification 2.1 advises in section 2.8.
    fn default() -> Self {
        Self {
            bars: 0b11,
            bar_log2: 18,
            patience_log2: 20,
        }
    }
}

/// The target of `W` bits a beat; `E` = `W + 2`.
#[derive(DocBlock)]
pub struct Target<const W: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The hard IP's packets that are not completions; never refused, but `pause` asks for a pause of all packets,
    /// `mask` for a pause of those that want an answer.
    pub rx_valid: Signal<In, Bit>,
    pub rx_sop: Signal<In, Bit>,
    pub rx_bar: Signal<In, Bits<8>>,
    pub rx_data: Signal<In, Bits<W>>,
    pub pause: Signal<Out, Bit>,
    pub mask: Signal<Out, Bit>,
    /// Max Payload Size, 128 bytes shifted by it.
    pub payload: Signal<In, Bits<3>>,
    /// The engine's posted packets: one is accepted, one leaves.
    pub posted: Signal<In, Bit>,
    pub post_sent: Signal<In, Bit>,
    /// The next completion, as in [`replies`].
    pub head_valid: Signal<Out, Bit>,
    pub head: Signal<Out, ReplyHead>,
    pub head_take: Signal<In, Bit>,
    pub beat: Signal<Out, Bits<W>>,
    pub beat_take: Signal<In, Bit>,
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
    pub down: Signal<Out, Bit>,
    /// One cycle each: a request that no slave serves, a request that the bus did not answer, a write that no BAR
    /// claims, a write that the bus did not take.
    pub saw_refused: Signal<Out, Bit>,
    pub saw_abort: Signal<Out, Bit>,
    pub saw_dropped: Signal<Out, Bit>,
    pub saw_lost: Signal<Out, Bit>,

    #[given]
    intake: Intake<W, E>,
    requests: Requests<W>,
    #[given]
    bus: Bus,
    replies: Replies<W>,
    hold: DFF<Bit>,
    waiting: Signal<Local, Bits<6>>,
    bars: Constant<Bits<8>>,
}

impl<const W: usize, const E: usize> Target<W, E> {
    /// A target that reaches so far.
    pub fn new(reach: Reach) -> Self {
        Self::fresh(TargetGiven {
            intake: Intake::new(reach.bar_log2),
            bus: Bus::new(reach.patience_log2),
            bars: Constant::new(u64::from(reach.bars).into()),
        })
    }
}

impl<const W: usize, const E: usize> Logic for Target<W, E> {
    parts!(Inward, Outward);
}

/// Packets to the bus.
struct Inward;

impl<const W: usize, const E: usize> Part<Inward> for Target<W, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, hold);
        clock!(self, clock, intake, requests, bus, replies);
        self.intake.reset.next = self.reset.val();
        self.requests.reset.next = self.reset.val();
        self.bus.reset.next = self.reset.val();
        self.replies.reset.next = self.reset.val();

        self.intake.rx_valid.next = self.rx_valid.val();
        self.intake.rx_sop.next = self.rx_sop.val();
        self.intake.rx_claimed.next = (self.rx_bar.val() & self.bars.val()).any();
        self.intake.rx_data.next = self.rx_data.val();
        self.pause.next = self.intake.pause.val();
        // Of 32 places ten are for requests that come all the same, and some for those under way.
        self.waiting.next = self.intake.level.val() + self.requests.level.val();
        self.hold.d.next = self.waiting.val() > 15;
        self.mask.next = self.hold.q.val();
        self.saw_dropped.next = self.intake.saw_dropped.val();

        self.requests.valid.next = self.intake.request_valid.val();
        self.requests.request.next = self.intake.request.val();
        self.intake.request_take.next = self.requests.take.val();
        self.requests.payload.next = self.payload.val();
        self.requests.down.next = self.bus.down.val();
        self.saw_refused.next = self.requests.saw_refused.val();

        self.bus.write_valid.next = self.intake.write_valid.val();
        self.bus.write_first.next = self.intake.write_first.val();
        self.bus.write_address.next = self.intake.write_address.val();
        self.bus.write_beats.next = self.intake.write_beats.val();
        self.bus.write_data.next = self.intake.write_data.val();
        self.bus.write_enable.next = self.intake.write_enable.val();
        self.intake.write_take.next = self.bus.write_take.val();
        self.bus.ask_valid.next = self.requests.ask_valid.val();
        self.bus.ask_address.next = self.requests.ask_address.val();
        self.bus.ask_beats.next = self.requests.ask_beats.val();
        self.bus.ask_enable.next = self.requests.ask_enable.val();
        self.requests.ask_take.next = self.bus.ask_take.val();
        if self.reset.val() {
            self.hold.d.next = false;
        }
    }
}

/// The bus to packets.
struct Outward;

impl<const W: usize, const E: usize> Part<Outward> for Target<W, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next = self.bus.address.val();
        self.burstcount.next = self.bus.burstcount.val();
        self.read.next = self.bus.read.val();
        self.write.next = self.bus.write.val();
        self.writedata.next = self.bus.writedata.val();
        self.byteenable.next = self.bus.byteenable.val();
        self.bus.waitrequest.next = self.waitrequest.val();
        self.bus.readdata.next = self.readdata.val();
        self.bus.readdatavalid.next = self.readdatavalid.val();
        self.bus.live.next = self.replies.live.val();
        self.down.next = self.bus.down.val();
        self.saw_lost.next = self.bus.saw_lost.val();

        self.replies.push.next = self.requests.push.val();
        self.replies.piece.next = self.requests.piece.val();
        self.replies.need.next = self.requests.need.val();
        self.requests.has_room.next = self.replies.has_room.val();
        self.requests.idle.next = self.replies.idle.val();
        self.replies.data_valid.next = self.bus.data_valid.val();
        self.replies.data.next = self.bus.data.val();
        self.replies.down.next = self.bus.down.val();
        self.replies.posted.next = self.posted.val();
        self.replies.post_sent.next = self.post_sent.val();
        self.head_valid.next = self.replies.head_valid.val();
        self.head.next = self.replies.head.val();
        self.replies.head_take.next = self.head_take.val();
        self.beat.next = self.replies.beat.val();
        self.replies.beat_take.next = self.beat_take.val();
        self.saw_abort.next = self.replies.saw_abort.val();
    }
}
