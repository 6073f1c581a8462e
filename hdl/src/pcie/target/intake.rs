//! The host's requests to the board, packet by packet: writes go to the bus, requests that want an answer into the
//! queue of requests.
//!
//! The parts of a packet are where [`crate::pcie::posts`] says. So a qword of the payload is a qword of memory, and the
//! bus, which has 64 bits, takes them one by one without any shift.
//!
//! Writes leave from here in the order in which they came. A read that comes after a write enters the queue when the
//! last beat of the write has left. A read that waits there does not hold up later writes.
//!
//! The hard IP has answered or dropped malformed packets and those that it serves itself (Intel Arria 10 Avalon-ST
//! Interface for PCIe 683647, section 9.3). Of the packets that come:
//!
//! - writes that no BAR claims are dropped, and the hard IP is notified;
//! - writes whose data are marked as poisoned are dropped as well; the hard IP has reported them;
//! - messages are dropped: the hard IP takes those that a function must know (683093, Transaction Layer routing rules);
//! - all other requests want an answer. [`super::requests`] gives it.

use crate::pcie::words::Request;
use crate::prim::{Part, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Beats that wait here at most.
pub const BEATS: u64 = 32;

/// Where a packet is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum IntakeState {
    /// The next one's header is looked at.
    Idle,
    /// It is judged.
    Judge,
    /// A write leaves.
    Write,
}

/// Packets of `W` bits a beat; `E` = `W + 2`.
#[derive(DocBlock)]
pub struct Intake<const W: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The hard IP's packets that are not completions; never refused, but `pause` asks for a pause. `claimed` comes
    /// with the first beat: a BAR claims the packet.
    pub rx_valid: Signal<In, Bit>,
    pub rx_sop: Signal<In, Bit>,
    pub rx_claimed: Signal<In, Bit>,
    pub rx_data: Signal<In, Bits<W>>,
    pub pause: Signal<Out, Bit>,
    /// Beats that wait.
    pub level: Signal<Out, Bits<6>>,
    /// A beat of a write for the bus: the qwords and the first qword of its burst, and whether it is the first beat of
    /// it.
    pub write_valid: Signal<Out, Bit>,
    pub write_first: Signal<Out, Bit>,
    pub write_address: Signal<Out, Bits<29>>,
    pub write_beats: Signal<Out, Bits<6>>,
    pub write_data: Signal<Out, Bits<64>>,
    pub write_enable: Signal<Out, Bits<8>>,
    pub write_take: Signal<In, Bit>,
    /// A request that wants an answer.
    pub request_valid: Signal<Out, Bit>,
    pub request: Signal<Out, Request>,
    pub request_take: Signal<In, Bit>,
    /// A write that no BAR claims is dropped.
    pub saw_dropped: Signal<Out, Bit>,

    beats: SmallFifo<Bits<E>, 5, 6>,
    full_soon: DFF<Bit>,
    state: DFF<IntakeState>,
    header: DFF<Request>,
    /// The header has four dwords; there are data; they are poisoned; the packet's type.
    long: DFF<Bit>,
    brings: DFF<Bit>,
    poisoned: DFF<Bit>,
    kind: DFF<Bits<5>>,
    /// The next qword's place in its beat and its address; qwords that are left, of the burst, of the packet.
    lane: DFF<Bits<2>>,
    at: DFF<Bits<29>>,
    left: DFF<Bits<10>>,
    burst: DFF<Bits<6>>,
    burst_left: DFF<Bits<6>>,
    begins: DFF<Bit>,
    opens: DFF<Bit>,
    first_enable: DFF<Bits<8>>,
    last_enable: DFF<Bits<8>>,

    front: Signal<Local, Bits<W>>,
    flags: Signal<Local, Bits<2>>,
    pop: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    is_message: Signal<Local, Bit>,
    is_empty: Signal<Local, Bit>,
    length: Signal<Local, Bits<11>>,
    span: Signal<Local, Bits<11>>,
    qwords: Signal<Local, Bits<10>>,
    to_edge: Signal<Local, Bits<10>>,
    burst_now: Signal<Local, Bits<6>>,
    last: Signal<Local, Bits<4>>,
    is_late: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    enable_low: Signal<Local, Bits<8>>,
    enable_high: Signal<Local, Bits<8>>,

    window: Constant<Bits<30>>,
    flags_place: Constant<Bits<9>>,
    claimed_place: Constant<Bits<9>>,
    is_narrow: Constant<Bits<1>>,
    last_lane: Constant<Bits<2>>,
    all_lanes: Constant<Bits<8>>,
}

impl<const W: usize, const E: usize> Intake<W, E> {
    /// For BARs of `2^bar_log2` bytes, up to 4 GiB.
    pub fn new(bar_log2: usize) -> Self {
        assert!(E == W + 2);
        assert!((3..=32).contains(&bar_log2), "2^{bar_log2} bytes of a BAR");
        Self::fresh(IntakeGiven {
            window: Constant::new(((1u64 << (bar_log2 - 2)) - 1).into()),
            flags_place: Constant::new((W as u64).into()),
            claimed_place: Constant::new((W as u64 + 1).into()),
            is_narrow: Constant::new(u64::from(W == 128).into()),
            last_lane: Constant::new((W as u64 / 64 - 1).into()),
            all_lanes: Constant::new(0xFF.into()),
        })
    }
}

impl<const W: usize, const E: usize> Logic for Intake<W, E> {
    parts!(Arriving, Leaving);
}

/// Takes packets, and finds their kind.
struct Arriving;

impl<const W: usize, const E: usize> Part<Arriving> for Intake<W, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            full_soon,
            state,
            header,
            long,
            brings,
            poisoned,
            kind,
            lane,
            at,
            left,
            burst,
            burst_left,
            begins,
            opens,
            first_enable,
            last_enable
        );
        clock!(self, clock, beats);
        self.beats.reset.next = self.reset.val();
        self.beats.push.next = self.rx_valid.val();
        self.beats.data_in.next = bit_cast::<E, W>(self.rx_data.val())
            | (bit_cast::<E, 1>(self.rx_sop.val().into()) << self.flags_place.val())
            | (bit_cast::<E, 1>(self.rx_claimed.val().into()) << self.claimed_place.val());
        self.level.next = self.beats.level.val();
        // Of 32 places; three beats come after a pause, and some are under way.
        self.full_soon.d.next = self.beats.level.val() > 20;
        self.pause.next = self.full_soon.q.val();
        self.front.next = bit_cast::<W, E>(self.beats.data.val());
        self.flags.next = bit_cast::<2, E>(self.beats.data.val() >> self.flags_place.val());

        // The kind of the packet.
        self.is_write.next = !self.kind.q.val().any() & self.brings.q.val();
        self.is_message.next = self.kind.q.val().get_bits::<2>(3) == 2;
        self.length.next = bit_cast::<11, 10>(self.header.q.val().dwords);
        if !self.header.q.val().dwords.any() {
            self.length.next = 1024.into();
        }
        self.last.next = self.header.q.val().last;
        if self.header.q.val().dwords == 1 {
            self.last.next = self.header.q.val().first;
        }
        self.is_empty.next = (self.header.q.val().dwords == 1) & !self.header.q.val().first.any();

        // Its qwords, and the byte enables of the first and of the last of them.
        self.span.next =
            self.length.val() + bit_cast::<11, 30>(self.header.q.val().address & 1) + 1;
        self.qwords.next = bit_cast::<10, 11>(self.span.val() >> 1);
        self.enable_low.next = bit_cast::<8, 4>(self.header.q.val().first) | 0xF0;
        if self.header.q.val().address.get_bit(0) {
            self.enable_low.next = bit_cast::<8, 4>(self.header.q.val().first) << 4;
        }
        // `span` is one more than the dwords up to the end.
        self.enable_high.next = bit_cast::<8, 4>(self.last.val());
        if self.span.val().get_bit(0) {
            self.enable_high.next = (bit_cast::<8, 4>(self.last.val()) << 4) | 0x0F;
        }
        // The payload begins in qword 2, or in the second half of qword 1 after three dwords of header.
        self.is_late.next = self.long.q.val() | !self.header.q.val().address.get_bit(0);

        // No burst crosses 256 bytes.
        self.to_edge.next =
            bits::<10>(32) - bit_cast::<10, 30>((self.header.q.val().address >> 1) & 31);
        self.burst_now.next = bit_cast::<6, 10>(self.qwords.val());
        if self.qwords.val() > self.to_edge.val() {
            self.burst_now.next = bit_cast::<6, 10>(self.to_edge.val());
        }
    }
}

/// Where it goes; and the reset.
struct Leaving;

impl<const W: usize, const E: usize> Part<Leaving> for Intake<W, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.pop.next = false;
        self.saw_dropped.next = false;
        self.request_valid.next = false;
        self.write_valid.next = false;
        self.ends.next = self.left.q.val() == 1;
        match self.state.q.val() {
            IntakeState::Idle => {
                // Later beats of a packet that is not wanted are skipped.
                self.pop.next = self.beats.valid.val() & !self.flags.val().get_bit(0);
                self.header.d.next.claimed = self.flags.val().get_bit(1);
                self.header.d.next.is_read =
                    !self.front.val().get_bits::<5>(24).any() & !self.front.val().get_bit(30);
                self.header.d.next.dwords = self.front.val().get_bits::<10>(0);
                self.header.d.next.attributes =
                    bit_cast::<3, 2>(self.front.val().get_bits::<2>(12))
                        | (bit_cast::<3, 1>(self.front.val().get_bits::<1>(18)) << 2);
                self.header.d.next.class = self.front.val().get_bits::<3>(20);
                self.header.d.next.first = self.front.val().get_bits::<4>(32);
                self.header.d.next.last = self.front.val().get_bits::<4>(36);
                self.header.d.next.tag = self.front.val().get_bits::<8>(40);
                self.header.d.next.requester = self.front.val().get_bits::<16>(48);
                self.header.d.next.address =
                    self.front.val().get_bits::<30>(66) & self.window.val();
                if self.front.val().get_bit(29) {
                    self.header.d.next.address =
                        self.front.val().get_bits::<30>(98) & self.window.val();
                }
                self.poisoned.d.next = self.front.val().get_bit(14);
                self.kind.d.next = self.front.val().get_bits::<5>(24);
                self.long.d.next = self.front.val().get_bit(29);
                self.brings.d.next = self.front.val().get_bit(30);
                if self.beats.valid.val() & self.flags.val().get_bit(0) {
                    self.state.d.next = IntakeState::Judge;
                }
            }
            IntakeState::Judge => {
                self.begins.d.next = true;
                self.opens.d.next = true;
                self.at.d.next = bit_cast::<29, 30>(self.header.q.val().address >> 1);
                self.left.d.next = self.qwords.val();
                self.burst.d.next = self.burst_now.val();
                self.burst_left.d.next = self.burst_now.val();
                self.first_enable.d.next = self.enable_low.val();
                self.last_enable.d.next = self.enable_high.val();
                self.lane.d.next = 1.into();
                if self.is_late.val() {
                    self.lane.d.next = self.last_lane.val() & 2;
                }
                if self.is_write.val() {
                    if !self.header.q.val().claimed | self.poisoned.q.val() | self.is_empty.val() {
                        self.saw_dropped.next = !self.header.q.val().claimed;
                        self.pop.next = true;
                        self.state.d.next = IntakeState::Idle;
                    } else {
                        // A beat of two qwords has the header alone, or the header and one qword.
                        self.pop.next = self.is_late.val() & self.is_narrow.val().any();
                        self.state.d.next = IntakeState::Write;
                    }
                } else if self.is_message.val() {
                    self.pop.next = true;
                    self.state.d.next = IntakeState::Idle;
                } else {
                    self.request_valid.next = true;
                    if self.request_take.val() {
                        self.pop.next = true;
                        self.state.d.next = IntakeState::Idle;
                    }
                }
            }
            IntakeState::Write => {
                self.write_valid.next = self.beats.valid.val();
                if self.beats.valid.val() & self.write_take.val() {
                    self.at.d.next = self.at.q.val() + 1;
                    self.left.d.next = self.left.q.val() - 1;
                    self.lane.d.next = (self.lane.q.val() + 1) & self.last_lane.val();
                    self.pop.next = self.ends.val() | (self.lane.q.val() == self.last_lane.val());
                    self.opens.d.next = false;
                    self.begins.d.next = false;
                    self.burst_left.d.next = self.burst_left.q.val() - 1;
                    // The next burst begins at a multiple of 256 bytes.
                    if self.burst_left.q.val() == 1 {
                        self.begins.d.next = true;
                        self.burst.d.next = 32.into();
                        self.burst_left.d.next = 32.into();
                        if self.left.q.val() < 33 {
                            self.burst.d.next = bit_cast::<6, 10>(self.left.q.val() - 1);
                            self.burst_left.d.next = bit_cast::<6, 10>(self.left.q.val() - 1);
                        }
                    }
                    if self.ends.val() {
                        self.state.d.next = IntakeState::Idle;
                    }
                }
            }
        }
        self.beats.pop.next = self.pop.val();
        self.request.next = self.header.q.val();
        self.write_first.next = self.begins.q.val();
        self.write_address.next = self.at.q.val();
        self.write_beats.next = self.burst.q.val();
        self.write_data.next =
            bit_cast::<64, W>(self.front.val() >> (bit_cast::<9, 2>(self.lane.q.val()) << 6));
        self.write_enable.next = self.all_lanes.val();
        if self.opens.q.val() & self.ends.val() {
            self.write_enable.next = self.first_enable.q.val() & self.last_enable.q.val();
        } else if self.opens.q.val() {
            self.write_enable.next = self.first_enable.q.val();
        } else if self.ends.val() {
            self.write_enable.next = self.last_enable.q.val();
        }
        if self.reset.val() {
            self.full_soon.d.next = false;
            self.state.d.next = IntakeState::Idle;
        }
    }
}
