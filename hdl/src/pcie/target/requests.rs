//! Requests that want an answer: reads of the bus, cut into completions, and requests that are refused.
//!
//! A read is answered in completions that end at multiples of 128 bytes, the Read Completion Boundary of an endpoint,
//! or with the read. They carry the Max Payload Size at most, and 256 bytes (PCI Express Base Specification 2.1,
//! sections 2.2.9, 2.3.1.1). Each is read from the bus when there is room for all of it. So packets that leave never
//! hold up the data of the bus, and no write waits for either.
//!
//! No byte is read that was not asked for: a first or a last qword of which only some bytes are wanted is read alone,
//! with its byte enables; the qwords between them are read in a burst.
//!
//! A read of no byte (length 1, no byte enabled) is answered without the bus, when the writes before it have left
//! for the bus. Hosts flush writes with it.
//!
//! A request that no BAR claims, or that is not a read of memory, gets Unsupported Request. While the bus does not
//! answer, reads get Completer Abort.

use super::replies::{ABORTED, BUS, NOTHING, REFUSED};
use crate::pcie::words::{Piece, Request};
use crate::prim::{Part, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Requests that wait here at most.
pub const PLACES: u64 = 32;

/// How far the oldest request is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RequestState {
    /// There is none.
    Idle,
    /// Where its next completion ends.
    Measure,
    /// Contents of that completion.
    Cut,
    /// It is asked for.
    Ask,
}

/// The queue, and its oldest request. `W` bits are a beat of a packet.
#[derive(DocBlock)]
pub struct Requests<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub request: Signal<In, Request>,
    pub take: Signal<Out, Bit>,
    /// Requests that wait.
    pub level: Signal<Out, Bits<6>>,
    /// Max Payload Size, 128 bytes shifted by it.
    pub payload: Signal<In, Bits<3>>,
    /// The bus does not answer.
    pub down: Signal<In, Bit>,
    /// A command for the bus: qwords to read from which on, with which bytes of each.
    pub ask_valid: Signal<Out, Bit>,
    pub ask_address: Signal<Out, Bits<29>>,
    pub ask_beats: Signal<Out, Bits<6>>,
    pub ask_enable: Signal<Out, Bits<8>>,
    pub ask_take: Signal<In, Bit>,
    /// A completion of so many beats is to come. There is room for any, which stays so until one comes; none is to come
    /// yet.
    pub push: Signal<Out, Bit>,
    pub piece: Signal<Out, Piece>,
    pub need: Signal<Out, Bits<6>>,
    pub has_room: Signal<In, Bit>,
    pub idle: Signal<In, Bit>,
    /// A request is refused, one cycle.
    pub saw_refused: Signal<Out, Bit>,

    queue: SmallFifo<Request, 5, 6>,
    state: DFF<RequestState>,
    /// There was room in the cycle before. A completion comes three cycles after the one before it at the earliest, so
    /// this sees the room that the one before has taken.
    room: DFF<Bit>,
    now: DFF<Request>,
    /// Dwords and bytes that are left, from where on; nothing was asked for.
    left: DFF<Bits<11>>,
    count: DFF<Bits<12>>,
    at: DFF<Bits<30>>,
    lead: DFF<Bits<2>>,
    source: DFF<Bits<2>>,
    /// The bus is asked.
    on_bus: DFF<Bit>,
    opens: DFF<Bit>,
    /// The completion: its dwords, beats and so on; its qwords that are not asked for, from which on.
    part: DFF<Piece>,
    part_last: DFF<Bit>,
    size: DFF<Bits<11>>,
    first_enable: DFF<Bits<8>>,
    last_enable: DFF<Bits<8>>,
    ask_left: DFF<Bits<6>>,
    ask_at: DFF<Bits<29>>,
    ask_opens: DFF<Bit>,

    head_last: Signal<Local, Bits<4>>,
    head_lead: Signal<Local, Bits<2>>,
    head_trail: Signal<Local, Bits<2>>,
    is_none: Signal<Local, Bit>,
    lead_now: Signal<Local, Bits<2>>,
    count_now: Signal<Local, Bits<12>>,
    to_edge: Signal<Local, Bits<11>>,
    dwords: Signal<Local, Bits<11>>,
    is_last: Signal<Local, Bit>,
    low: Signal<Local, Bits<4>>,
    high: Signal<Local, Bits<4>>,
    span: Signal<Local, Bits<11>>,
    qwords: Signal<Local, Bits<6>>,
    end: Signal<Local, Bits<7>>,
    bytes: Signal<Local, Bits<12>>,
    from_bus: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    beats: Signal<Local, Bits<6>>,
    ask_ends: Signal<Local, Bit>,

    all_lanes: Constant<Bits<8>>,
    all_dword: Constant<Bits<4>>,
    lanes: Constant<Bits<2>>,
    lane_round: Constant<Bits<7>>,
    lane_shift: Constant<Bits<2>>,
    bus: Constant<Bits<2>>,
    refused: Constant<Bits<2>>,
    nothing: Constant<Bits<2>>,
    aborted: Constant<Bits<2>>,
}

impl<const W: usize> Default for Requests<W> {
    fn default() -> Self {
        let lanes = W as u64 / 64;
        Self::fresh(RequestsGiven {
            all_lanes: Constant::new(0xFF.into()),
            all_dword: Constant::new(0xF.into()),
            lanes: Constant::new((lanes - 1).into()),
            lane_round: Constant::new((lanes - 1).into()),
            lane_shift: Constant::new(u64::from(lanes.trailing_zeros()).into()),
            bus: Constant::new(BUS.into()),
            refused: Constant::new(REFUSED.into()),
            nothing: Constant::new(NOTHING.into()),
            aborted: Constant::new(ABORTED.into()),
        })
    }
}

impl<const W: usize> Logic for Requests<W> {
    parts!(Measuring, Asking);
}

/// Measures the request and its next completion.
struct Measuring;

impl<const W: usize> Part<Measuring> for Requests<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            room,
            now,
            left,
            count,
            at,
            lead,
            source,
            on_bus,
            opens,
            part,
            part_last,
            size,
            first_enable,
            last_enable,
            ask_left,
            ask_at,
            ask_opens
        );
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        self.queue.push.next = self.valid.val();
        self.queue.data_in.next = self.request.val();
        self.take.next = !self.queue.full.val();
        self.level.next = self.queue.level.val();

        // Bytes before the first enabled byte, and after the last.
        self.head_last.next = self.now.q.val().last;
        if self.now.q.val().dwords == 1 {
            self.head_last.next = self.now.q.val().first;
        }
        self.head_lead.next = 0.into();
        if !self.now.q.val().first.get_bit(0) {
            self.head_lead.next = 1.into();
            if !self.now.q.val().first.get_bits::<2>(0).any() {
                self.head_lead.next = 2.into();
                if !self.now.q.val().first.get_bits::<3>(0).any() {
                    self.head_lead.next = 3.into();
                }
            }
        }
        self.head_trail.next = 0.into();
        if !self.head_last.val().get_bit(3) {
            self.head_trail.next = 1.into();
            if !self.head_last.val().get_bits::<2>(2).any() {
                self.head_trail.next = 2.into();
                if !self.head_last.val().get_bits::<3>(1).any() {
                    self.head_trail.next = 3.into();
                }
            }
        }

        self.is_none.next = self.now.q.val().is_read
            & (self.now.q.val().dwords == 1)
            & !self.now.q.val().first.any();
        self.lead_now.next = self.lead.q.val();
        self.count_now.next = self.count.q.val();
        // They mean something only for a read of memory.
        if self.opens.q.val() {
            self.lead_now.next = 0.into();
            if self.is_none.val() {
                self.count_now.next = 1.into();
            } else if !self.now.q.val().is_read {
                self.count_now.next = 4.into();
            } else {
                self.lead_now.next = self.head_lead.val();
                self.count_now.next = (bit_cast::<12, 10>(self.now.q.val().dwords) << 2)
                    - (bit_cast::<12, 2>(self.head_lead.val())
                        + bit_cast::<12, 2>(self.head_trail.val()));
            }
        }

        // The next completion ends with the request or at a multiple of 128 or 256 bytes.
        self.to_edge.next = bits::<11>(64) - bit_cast::<11, 30>(self.at.q.val() & 63);
        if !self.payload.val().any() {
            self.to_edge.next = bits::<11>(32) - bit_cast::<11, 30>(self.at.q.val() & 31);
        }
        self.is_last.next = self.left.q.val() <= self.to_edge.val();
        self.dwords.next = self.to_edge.val();
        if self.is_last.val() {
            self.dwords.next = self.left.q.val();
        }
        self.span.next = self.size.q.val() + bit_cast::<11, 30>(self.at.q.val() & 1) + 1;
        self.qwords.next = bit_cast::<6, 11>(self.span.val() >> 1);
        self.low.next = self.all_dword.val();
        if self.opens.q.val() {
            self.low.next = self.now.q.val().first;
        }
        self.high.next = self.all_dword.val();
        if self.part_last.q.val() {
            self.high.next = self.now.q.val().last;
        }
        if self.opens.q.val() & (self.left.q.val() == 1) {
            self.high.next = self.now.q.val().first;
        }
        // Bytes from its first that counts on.
        self.bytes.next =
            (bit_cast::<12, 11>(self.size.q.val()) << 2) - bit_cast::<12, 2>(self.lead.q.val());
        // Data begin in qword 1 of the packet, after the header's last dword, or in qword 2.
        self.end.next = bit_cast::<7, 6>(self.qwords.val()) + 2;
        if self.at.q.val().get_bit(0) {
            self.end.next = bit_cast::<7, 6>(self.qwords.val()) + 1;
        }
        self.beats.next =
            bit_cast::<6, 7>((self.end.val() + self.lane_round.val()) >> self.lane_shift.val());
    }
}

/// The way to the bus; and the reset.
struct Asking;

impl<const W: usize> Part<Asking> for Requests<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.queue.pop.next = false;
        self.push.next = false;
        self.ask_valid.next =
            self.on_bus.q.val() & !self.down.val() & (self.room.q.val() | !self.ask_opens.q.val());
        self.saw_refused.next = false;
        self.from_bus.next = self.source.q.val() == self.bus.val();
        // Data come in order. So a completion that needs no data of the bus waits for those under way. It is done
        // before the bus brings any data for later completions.
        self.room.d.next = self.has_room.val();
        self.may.next = self.room.q.val() & self.idle.val();

        // A first qword of which some bytes are wanted, or all up to a last one of such.
        self.ask_address.next = self.ask_at.q.val();
        self.ask_enable.next = self.all_lanes.val();
        self.ask_beats.next = self.ask_left.q.val();
        self.ask_ends.next = true;
        if self.ask_left.q.val() == 1 {
            if self.ask_opens.q.val() {
                self.ask_enable.next = self.first_enable.q.val() & self.last_enable.q.val();
            } else {
                self.ask_enable.next = self.last_enable.q.val();
            }
        } else if self.ask_opens.q.val() & !self.first_enable.q.val().all() {
            self.ask_enable.next = self.first_enable.q.val();
            self.ask_beats.next = 1.into();
            self.ask_ends.next = false;
        } else if !self.last_enable.q.val().all() {
            self.ask_beats.next = self.ask_left.q.val() - 1;
            self.ask_ends.next = false;
        }

        match self.state.q.val() {
            RequestState::Idle => {
                self.now.d.next = self.queue.data.val();
                self.opens.d.next = true;
                self.at.d.next = self.queue.data.val().address;
                self.left.d.next = bit_cast::<11, 10>(self.queue.data.val().dwords);
                if !self.queue.data.val().dwords.any() {
                    self.left.d.next = 1024.into();
                }
                self.source.d.next = self.bus.val();
                if !self.queue.data.val().is_read | !self.queue.data.val().claimed {
                    self.source.d.next = self.refused.val();
                    if !self.queue.data.val().is_read {
                        self.at.d.next = 0.into();
                    }
                } else if (self.queue.data.val().dwords == 1) & !self.queue.data.val().first.any() {
                    self.source.d.next = self.nothing.val();
                }
                if self.queue.valid.val() {
                    self.queue.pop.next = true;
                    self.state.d.next = RequestState::Measure;
                }
            }
            RequestState::Measure => {
                self.size.d.next = self.dwords.val();
                self.part_last.d.next = self.is_last.val();
                self.count.d.next = self.count_now.val();
                self.lead.d.next = self.lead_now.val();
                self.state.d.next = RequestState::Cut;
            }
            RequestState::Cut => {
                self.part.d.next.requester = self.now.q.val().requester;
                self.part.d.next.tag = self.now.q.val().tag;
                self.part.d.next.class = self.now.q.val().class;
                self.part.d.next.attributes = self.now.q.val().attributes;
                self.part.d.next.count = self.count.q.val();
                self.part.d.next.lower =
                    (bit_cast::<7, 30>(self.at.q.val()) << 2) | bit_cast::<7, 2>(self.lead.q.val());
                self.part.d.next.dwords = bit_cast::<7, 11>(self.size.q.val());
                self.part.d.next.qwords = self.qwords.val();
                self.part.d.next.single = self.qwords.val() == 1;
                self.part.d.next.beats = self.beats.val();
                self.part.d.next.empty =
                    (bits::<2>(0) - bit_cast::<2, 7>(self.end.val())) & self.lanes.val();
                self.part.d.next.opens = self.opens.q.val();
                self.first_enable.d.next = bit_cast::<8, 4>(self.low.val()) | 0xF0;
                if self.at.q.val().get_bit(0) {
                    self.first_enable.d.next = bit_cast::<8, 4>(self.low.val()) << 4;
                }
                // `span` is one more than the dwords up to the end.
                self.last_enable.d.next = bit_cast::<8, 4>(self.high.val());
                if self.span.val().get_bit(0) {
                    self.last_enable.d.next = (bit_cast::<8, 4>(self.high.val()) << 4) | 0x0F;
                }
                self.ask_left.d.next = self.qwords.val();
                self.ask_at.d.next = bit_cast::<29, 30>(self.at.q.val() >> 1);
                self.ask_opens.d.next = true;
                // The completion after it.
                self.opens.d.next = false;
                self.at.d.next = self.at.q.val() + bit_cast::<30, 11>(self.size.q.val());
                self.left.d.next = self.left.q.val() - self.size.q.val();
                self.count.d.next = self.count.q.val() - self.bytes.val();
                self.lead.d.next = 0.into();
                self.on_bus.d.next = self.source.q.val() == self.bus.val();
                self.state.d.next = RequestState::Ask;
            }
            RequestState::Ask => {
                if self.on_bus.q.val() & !self.down.val() {
                    if self.ask_take.val() {
                        self.push.next = self.ask_opens.q.val();
                        self.ask_opens.d.next = false;
                        self.ask_left.d.next = self.ask_left.q.val() - self.ask_beats.val();
                        self.ask_at.d.next =
                            self.ask_at.q.val() + bit_cast::<29, 6>(self.ask_beats.val());
                        if self.ask_ends.val() {
                            self.on_bus.d.next = false;
                            self.state.d.next = RequestState::Measure;
                            if self.part_last.q.val() {
                                self.state.d.next = RequestState::Idle;
                            }
                        }
                    }
                } else if !self.ask_opens.q.val() {
                    // The completion that was asked for in part has failed, and with it the request.
                    self.on_bus.d.next = false;
                    self.state.d.next = RequestState::Idle;
                } else if self.may.val() {
                    self.push.next = true;
                    self.on_bus.d.next = false;
                    self.saw_refused.next = self.source.q.val() == self.refused.val();
                    self.state.d.next = RequestState::Idle;
                }
            }
        }
        self.need.next = self.part.q.val().beats;
        self.piece.next = self.part.q.val();
        self.piece.next.source = self.source.q.val();
        if self.from_bus.val() & self.down.val() {
            self.piece.next.source = self.aborted.val();
        }
        if self.reset.val() {
            self.on_bus.d.next = false;
            self.state.d.next = RequestState::Idle;
        }
    }
}
