//! Packets to the hard IP: posted writes, read requests and completions in turn, one after another without a gap.
//!
//! Each kind leaves in the order in which it came. Kinds that wait take turns by the packet, so that none starves. A
//! kind without credits has no turn: it holds up neither of the others.
//!
//! The header is put over the lanes of the first beat that [`super::posts`] leaves empty: its first byte on the wire is
//! in bits 31:24 of a dword, that of the payload in bits 7:0 (Stratix V Avalon-ST Interface for PCIe 683093, mapping of
//! the Avalon-ST packets to PCI Express TLPs). It has four dwords where the address is above 4 GiB, else three: the
//! longer form of an address below is malformed (PCI Express Base Specification 2.1, section 2.2.4.1).
//!
//! While software has cleared Bus Master Enable, writes are dropped and not sent: those that wait, and those that come.
//! So the host's completions, which wait for the writes before them, go on, and no old write leaves when the bit is set
//! again. A packet that has begun to leave is sent to its end.
//!
//! A beat is chosen with the words of its header, and stays for a cycle before they are put together. It waits there
//! while the hard IP is not ready, and the next beat is chosen as it leaves.
//!
//! `ready` falls two cycles before `valid` does, which the hard IP's ready latency of 3 covers. Inside of a packet
//! `valid` falls for nothing else.

use super::words::{AskHead, PostHead, ReplyHead};
use crate::prim::{Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The way out of `W` bits.
#[derive(DocBlock)]
pub struct Transmit<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requests may be made.
    pub master: Signal<In, Bit>,
    /// Requester ID.
    pub id: Signal<In, Bits<16>>,
    /// Posted writes, from [`super::posts`].
    pub post_valid: Signal<In, Bit>,
    pub post: Signal<In, PostHead>,
    pub post_stored: Signal<In, Bits<5>>,
    /// It leaves or is dropped; it leaves.
    pub post_take: Signal<Out, Bit>,
    pub post_sent: Signal<Out, Bit>,
    pub post_beat: Signal<In, Bits<W>>,
    pub post_beat_take: Signal<Out, Bit>,
    /// Their credits of data, and whether there is room for the oldest, as in [`super::credits`].
    pub post_need: Signal<Out, Bits<6>>,
    pub post_ok: Signal<In, Bit>,
    /// Read requests, from [`super::asks`], which has seen to their credits.
    pub ask_valid: Signal<In, Bit>,
    pub ask: Signal<In, AskHead>,
    pub ask_take: Signal<Out, Bit>,
    /// Completions, from [`super::target`], with their credits as those of writes.
    pub reply_valid: Signal<In, Bit>,
    pub reply: Signal<In, ReplyHead>,
    pub reply_take: Signal<Out, Bit>,
    pub reply_beat: Signal<In, Bits<W>>,
    pub reply_beat_take: Signal<Out, Bit>,
    pub reply_need: Signal<Out, Bits<6>>,
    pub reply_ok: Signal<In, Bit>,
    /// A write, or a completion, waits for credits.
    pub stalled: Signal<Out, Bit>,
    /// The hard IP.
    pub tx_ready: Signal<In, Bit>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx_data: Signal<Out, Bits<W>>,
    pub tx_sop: Signal<Out, Bit>,
    pub tx_eop: Signal<Out, Bit>,
    pub tx_empty: Signal<Out, Bits<2>>,

    advance: DFF<Bit>,
    /// The oldest write has been there for a cycle, to which `post_ok` applies.
    post_seen: DFF<Bit>,
    /// It might have left in the last cycle, and has not.
    post_waits: DFF<Bit>,
    /// Writes are dropped: requests may not be made, or some are left of those that were stored until then.
    off: DFF<Bit>,
    old: DFF<Bits<5>>,
    /// Beats of the write under way to be dropped, and whether there are any.
    dropping: DFF<Bit>,
    drop_left: DFF<Bits<6>>,
    /// `post_seen` of the oldest completion.
    reply_seen: DFF<Bit>,
    /// The last packet was a read, or a completion.
    asked: DFF<Bit>,
    replied: DFF<Bit>,
    /// Beats of the packet that are to come, and whether there are any.
    left: DFF<Bits<6>>,
    amid: DFF<Bit>,
    left_empty: DFF<Bits<2>>,
    /// The beat that is chosen, and the words of its header, if it has one.
    chosen: DFF<Bit>,
    chosen_first: DFF<Bit>,
    chosen_last: DFF<Bit>,
    chosen_empty: DFF<Bits<2>>,
    chosen_beat: DFF<Bits<W>>,
    lead: DFF<Bits<32>>,
    names: DFF<Bits<32>>,
    address: DFF<Bits<64>>,
    /// The beat that leaves.
    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    sop: DFF<Bit>,
    eop: DFF<Bit>,
    empty: DFF<Bits<2>>,

    drops: Signal<Local, Bit>,
    old_next: Signal<Local, Bits<5>>,
    dropping_next: Signal<Local, Bit>,
    may_post: Signal<Local, Bit>,
    may_ask: Signal<Local, Bit>,
    may_reply: Signal<Local, Bit>,
    pick_reply: Signal<Local, Bit>,
    pick_ask: Signal<Local, Bit>,
    pick_post: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    next_on: Signal<Local, Bit>,
    is_wide: Signal<Local, Bit>,
    header: Signal<Local, Bits<128>>,
    of_reply: Signal<Local, Bit>,

    short_header: Constant<Bits<W>>,
    long_header: Constant<Bits<W>>,
    ask_empty: Constant<Bits<2>>,
}

impl<const W: usize> Default for Transmit<W> {
    fn default() -> Self {
        let low = |bits: usize| {
            (0..bits).fold(Bits::<W>::default(), |word, bit| {
                word.replace_bit(bit, true)
            })
        };
        Self::fresh(TransmitGiven {
            short_header: Constant::new(low(96)),
            long_header: Constant::new(low(128)),
            // A request's header takes two qwords of its beat.
            ask_empty: Constant::new((W as u64 / 64 - 2).into()),
        })
    }
}

impl<const W: usize> Logic for Transmit<W> {
    parts!(Turns, Dropping, Choice, Output);
}

/// Whose turn it is.
struct Turns;

impl<const W: usize> Part<Turns> for Transmit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            advance,
            post_seen,
            post_waits,
            off,
            old,
            dropping,
            drop_left,
            reply_seen,
            asked,
            replied,
            left,
            amid,
            left_empty,
            chosen,
            chosen_first,
            chosen_last,
            chosen_empty,
            chosen_beat,
            lead,
            names,
            address,
            valid,
            data,
            sop,
            eop,
            empty
        );
        self.advance.d.next = self.tx_ready.val();
        self.next_on.next = self.advance.q.val() | !self.chosen.q.val();
        // A write that is dropped: one that leaves has its beats in front of the next one's.
        self.drops.next = self.off.q.val()
            & self.post_valid.val()
            & !self.dropping.q.val()
            & !(self.amid.q.val() & !self.replied.q.val());
        self.may_post.next = self.post_seen.q.val() & self.post_ok.val() & !self.off.q.val();
        self.may_ask.next = self.ask_valid.val();
        self.may_reply.next = self.reply_seen.q.val() & self.reply_ok.val();
        // After a write the next is a read, then a completion, then a write again. Each has an expression of its own,
        // for these are the heads of long paths.
        self.pick_reply.next = !self.amid.q.val()
            & self.may_reply.val()
            & (self.asked.q.val()
                | (!self.may_ask.val() & !(self.replied.q.val() & self.post_waits.q.val())));
        self.pick_ask.next = !self.amid.q.val()
            & self.may_ask.val()
            & ((!self.asked.q.val() & !self.replied.q.val())
                | (!self.may_post.val() & !(self.asked.q.val() & self.may_reply.val())));
        self.pick_post.next = !self.amid.q.val()
            & self.may_post.val()
            & ((self.replied.q.val()
                & (self.post_waits.q.val() | self.may_ask.val() | !self.may_reply.val()))
                | (!self.replied.q.val()
                    & !self.may_reply.val()
                    & (self.asked.q.val() | !self.may_ask.val())));
        self.post_waits.d.next = self.may_post.val() & !(self.next_on.val() & self.pick_post.val());
        self.stalled.next = !self.amid.q.val()
            & ((self.post_seen.q.val() & !self.post_ok.val() & !self.off.q.val())
                | (self.reply_seen.q.val() & !self.reply_ok.val()));
        self.ask_take.next = self.next_on.val() & self.pick_ask.val();
        self.post_sent.next = self.next_on.val() & self.pick_post.val();
        self.post_take.next = (self.next_on.val() & self.pick_post.val()) | self.drops.val();
        self.reply_take.next = self.next_on.val() & self.pick_reply.val();
        self.post_beat_take.next = (self.next_on.val()
            & (self.pick_post.val() | (self.amid.q.val() & !self.replied.q.val())))
            | self.drops.val()
            | self.dropping.q.val();
        self.reply_beat_take.next = self.next_on.val()
            & ((self.pick_reply.val() & !self.reply.val().bare)
                | (self.amid.q.val() & self.replied.q.val()));
        self.post_need.next = self.post.val().units;
        self.post_seen.d.next = self.post_valid.val()
            & !((self.next_on.val() & self.pick_post.val()) | self.drops.val());
        self.reply_need.next = self.reply.val().units;
        self.reply_seen.d.next =
            self.reply_valid.val() & !(self.next_on.val() & self.pick_reply.val());
    }
}

/// Drops writes, concurrently with packets that are sent.
struct Dropping;

impl<const W: usize> Part<Dropping> for Transmit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.old_next.next = self.old.q.val();
        if !self.master.val() {
            self.old_next.next = self.post_stored.val() - bit_cast::<5, 1>(self.drops.val().into());
        } else if self.drops.val() & self.old.q.val().any() {
            self.old_next.next = self.old.q.val() - 1;
        }
        self.old.d.next = self.old_next.val();
        self.dropping_next.next = self.dropping.q.val() & (self.drop_left.q.val() != 1);
        self.drop_left.d.next = self.drop_left.q.val() - 1;
        if self.drops.val() {
            self.drop_left.d.next = self.post.val().beats - 1;
            self.dropping_next.next = self.post.val().beats != 1;
        }
        self.dropping.d.next = self.dropping_next.val();
        self.off.d.next = !self.master.val() | self.old_next.val().any() | self.dropping_next.val();
        if self.reset.val() {
            self.off.d.next = true;
            self.old.d.next = 0.into();
            self.dropping.d.next = false;
        }
    }
}

/// The next beat, and the header of its packet.
struct Choice;

impl<const W: usize> Part<Choice> for Transmit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.ends.next = self.left.q.val() == 1;
        self.of_reply.next = self.pick_reply.val() | (self.amid.q.val() & self.replied.q.val());

        // Type and length; requester, tag and byte enables; the address.
        if self.next_on.val() {
            self.address.d.next = bit_cast::<64, 62>(self.post.val().address) << 2;
            self.lead.d.next = bit_cast::<32, 8>(self.post.val().dwords) | 0x4000_0000;
            self.names.d.next = bit_cast::<32, 4>(self.post.val().first)
                | (bit_cast::<32, 4>(self.post.val().last) << 4)
                | (bit_cast::<32, 16>(self.id.val()) << 16);
            if self.pick_ask.val() {
                self.address.d.next = bit_cast::<64, 62>(self.ask.val().address) << 2;
                self.lead.d.next = bit_cast::<32, 8>(self.ask.val().dwords);
                self.names.d.next = bit_cast::<32, 4>(self.ask.val().first)
                    | (bit_cast::<32, 4>(self.ask.val().last) << 4)
                    | (bit_cast::<32, 6>(self.ask.val().tag) << 8)
                    | (bit_cast::<32, 16>(self.id.val()) << 16);
            }
            // Completer, status and byte count; requester, tag and the address's low bits.
            if self.pick_reply.val() {
                self.address.d.next = bit_cast::<64, 7>(self.reply.val().lower)
                    | (bit_cast::<64, 8>(self.reply.val().tag) << 8)
                    | (bit_cast::<64, 16>(self.reply.val().requester) << 16);
                self.lead.d.next = bit_cast::<32, 7>(self.reply.val().dwords)
                    | (bit_cast::<32, 2>(self.reply.val().attributes.get_bits::<2>(0)) << 12)
                    | (bit_cast::<32, 1>(self.reply.val().attributes.get_bits::<1>(2)) << 18)
                    | (bit_cast::<32, 3>(self.reply.val().class) << 20)
                    | (bit_cast::<32, 1>(self.reply.val().dwords.any().into()) << 30)
                    | 0x0A00_0000;
                self.names.d.next = bit_cast::<32, 12>(self.reply.val().count)
                    | (bit_cast::<32, 3>(self.reply.val().status) << 13)
                    | (bit_cast::<32, 16>(self.id.val()) << 16);
            }
            self.chosen.d.next = self.pick_ask.val()
                | self.pick_post.val()
                | self.pick_reply.val()
                | self.amid.q.val();
            self.chosen_first.d.next = !self.amid.q.val();
            self.chosen_last.d.next = self.pick_ask.val() | (self.amid.q.val() & self.ends.val());
            self.chosen_empty.d.next = self.left_empty.q.val();
            self.chosen_beat.d.next = self.post_beat.val();
            if self.of_reply.val() {
                self.chosen_beat.d.next = self.reply_beat.val();
            }
            if self.amid.q.val() {
                self.left.d.next = self.left.q.val() - 1;
                self.amid.d.next = !self.ends.val();
            } else if self.pick_reply.val() {
                self.left.d.next = self.reply.val().beats - 1;
                self.amid.d.next = self.reply.val().beats != 1;
                self.left_empty.d.next = self.reply.val().empty;
                self.chosen_last.d.next = self.reply.val().beats == 1;
                self.chosen_empty.d.next = self.reply.val().empty;
                self.asked.d.next = false;
                self.replied.d.next = true;
            } else if self.pick_ask.val() {
                self.chosen_empty.d.next = self.ask_empty.val();
                self.asked.d.next = true;
                self.replied.d.next = false;
            } else if self.pick_post.val() {
                self.left.d.next = self.post.val().beats - 1;
                self.amid.d.next = self.post.val().beats != 1;
                self.left_empty.d.next = self.post.val().empty;
                self.chosen_last.d.next = self.post.val().beats == 1;
                self.chosen_empty.d.next = self.post.val().empty;
                self.asked.d.next = false;
                self.replied.d.next = false;
            }
        }
    }
}

/// The beat that leaves; and the reset.
struct Output;

impl<const W: usize> Part<Output> for Transmit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_wide.next = self.address.q.val().get_bits::<32>(32).any();
        self.header.next = bit_cast::<128, 32>(self.lead.q.val())
            | (bit_cast::<128, 32>(self.names.q.val()) << 32)
            | (bit_cast::<128, 32>(self.address.q.val().get_bits::<32>(0)) << 64);
        if self.is_wide.val() {
            self.header.next = bit_cast::<128, 32>(self.lead.q.val())
                | (bit_cast::<128, 32>(self.names.q.val()) << 32)
                | (bit_cast::<128, 32>(self.address.q.val().get_bits::<32>(32)) << 64)
                | (bit_cast::<128, 32>(self.address.q.val().get_bits::<32>(0)) << 96)
                | (bits::<128>(0x2000_0000));
        }
        self.valid.d.next = self.advance.q.val() & self.chosen.q.val();
        self.sop.d.next = self.chosen_first.q.val();
        self.eop.d.next = self.chosen_last.q.val();
        self.empty.d.next = self.chosen_empty.q.val();
        self.data.d.next = self.chosen_beat.q.val();
        if self.chosen_first.q.val() {
            if self.is_wide.val() {
                self.data.d.next = (self.chosen_beat.q.val() & !self.long_header.val())
                    | bit_cast::<W, 128>(self.header.val());
            } else {
                self.data.d.next = (self.chosen_beat.q.val() & !self.short_header.val())
                    | bit_cast::<W, 128>(self.header.val());
            }
        }
        self.tx_valid.next = self.valid.q.val();
        self.tx_data.next = self.data.q.val();
        self.tx_sop.next = self.sop.q.val();
        self.tx_eop.next = self.eop.q.val();
        // It means something with the end of a packet only.
        self.tx_empty.next = 0.into();
        if self.eop.q.val() {
            self.tx_empty.next = self.empty.q.val();
        }
        if self.reset.val() {
            self.advance.d.next = false;
            self.post_seen.d.next = false;
            self.post_waits.d.next = false;
            self.reply_seen.d.next = false;
            self.asked.d.next = false;
            self.replied.d.next = false;
            self.amid.d.next = false;
            self.chosen.d.next = false;
            self.valid.d.next = false;
        }
    }
}
