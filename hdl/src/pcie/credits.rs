//! Flow control credits of sent packets, by type (PCI Express Base Specification 2.1, section 2.6.1).
//!
//! The hard IP shows the limit that the other end has granted, as a running number: of headers modulo 256, of data, in
//! units of 16 bytes, modulo 4096 (Stratix V Avalon-ST Interface for PCIe 683093, Transmit Credit interface). Consumed
//! credits are counted here: those of packets that this block sends, and those of packets that the hard IP sends itself
//! and reports by a pulse. The hard IP may have sent some before this block left its reset. So for some cycles the hard
//! IP shows the credits that were consumed (`tx_cons_cred_sel`, Stratix V SR-IOV user guide 683488, section 4.2), and
//! counting begins there.
//!
//! All of these are valid while the link is up (`dlup`; UG-01097_sriov 2014.12.15, table 4-2), and may be those of the
//! previous link until then. Both ends count from 0 with each link (PCI Express Base Specification 2.1, section 2.6.1).
//! So nothing leaves without a link, and counting begins each time that one comes up.
//!
//! A hard IP to which `tx_cons_cred_sel` is not connected shows the limits all the time. If the link was up before this
//! block, all granted credits look consumed then, and nothing leaves; the part that was really consumed cannot be
//! known. No write is accepted before there was room for one: completions of the host's requests wait for the writes
//! before them, and the host must be able to read the cause from registers.
//!
//! The hard IP itself checks credits before it sends. But it sends in order: one packet without credits holds up all
//! later ones. So a packet is not given to it before it can leave.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Credits for posted packets, for read requests, and for completions.
#[derive(DocBlock, Default)]
pub struct Credits {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The link is up.
    pub up: Signal<In, Bit>,
    /// The hard IP's: limits of headers and data; packets that it has consumed credits for itself, and credits
    /// without a limit, from bit 5 down: posted header, data, non-posted header, data, completion header, data.
    pub posted_headers: Signal<In, Bits<8>>,
    pub posted_data: Signal<In, Bits<12>>,
    pub read_headers: Signal<In, Bits<8>>,
    pub reply_headers: Signal<In, Bits<8>>,
    pub reply_data: Signal<In, Bits<12>>,
    pub hip_consumed: Signal<In, Bits<6>>,
    pub infinite: Signal<In, Bits<6>>,
    /// While it is set, the hard IP's limits are the consumed credits.
    pub select_consumed: Signal<Out, Bit>,
    /// The next posted packet's credits of data, whether there is room for it, and that it is sent. The answer is that
    /// of the cycle before, and does not count packets that were sent in that cycle.
    pub post_need: Signal<In, Bits<6>>,
    pub post_ok: Signal<Out, Bit>,
    pub post_sent: Signal<In, Bit>,
    /// Since the link came up there was room for one posted packet.
    pub posts_open: Signal<Out, Bit>,
    /// The same values for the next read request, and for the next completion.
    pub read_ok: Signal<Out, Bit>,
    pub read_sent: Signal<In, Bit>,
    pub reply_need: Signal<In, Bits<6>>,
    pub reply_ok: Signal<Out, Bit>,
    pub reply_sent: Signal<In, Bit>,

    /// Cycles since the link came up.
    age: DFF<Bits<5>>,
    ready: DFF<Bit>,
    limit_ph: DFF<Bits<8>>,
    limit_pd: DFF<Bits<12>>,
    limit_nh: DFF<Bits<8>>,
    limit_ch: DFF<Bits<8>>,
    limit_cd: DFF<Bits<12>>,
    pulses: DFF<Bits<6>>,
    endless: DFF<Bits<6>>,
    used_ph: DFF<Bits<8>>,
    used_pd: DFF<Bits<12>>,
    used_nh: DFF<Bits<8>>,
    used_ch: DFF<Bits<8>>,
    used_cd: DFF<Bits<12>>,
    opened: DFF<Bit>,
    may_post: DFF<Bit>,
    may_read: DFF<Bit>,
    may_reply: DFF<Bit>,

    left_ph: Signal<Local, Bits<8>>,
    left_pd: Signal<Local, Bits<12>>,
    left_nh: Signal<Local, Bits<8>>,
    left_ch: Signal<Local, Bits<8>>,
    left_cd: Signal<Local, Bits<12>>,
}

impl Logic for Credits {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, age, ready, limit_ph, limit_pd, limit_nh, limit_ch, limit_cd, pulses,
            endless, used_ph, used_pd, used_nh, used_ch, used_cd, opened, may_post, may_read,
            may_reply
        );
        self.limit_ph.d.next = self.posted_headers.val();
        self.limit_pd.d.next = self.posted_data.val();
        self.limit_nh.d.next = self.read_headers.val();
        self.limit_ch.d.next = self.reply_headers.val();
        self.limit_cd.d.next = self.reply_data.val();
        self.pulses.d.next = self.hip_consumed.val();
        self.endless.d.next = self.infinite.val();

        // Consumed credits. Both sums are computed before it is known which one is needed.
        self.used_ph.d.next =
            self.used_ph.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(5));
        self.used_pd.d.next =
            self.used_pd.q.val() + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(4));
        self.used_nh.d.next =
            self.used_nh.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(3));
        self.used_ch.d.next =
            self.used_ch.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(1));
        self.used_cd.d.next =
            self.used_cd.q.val() + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(0));
        if self.post_sent.val() {
            self.used_ph.d.next =
                self.used_ph.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(5)) + 1;
            self.used_pd.d.next = self.used_pd.q.val()
                + bit_cast::<12, 6>(self.post_need.val())
                + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(4));
        }
        if self.read_sent.val() {
            self.used_nh.d.next =
                self.used_nh.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(3)) + 1;
        }
        if self.reply_sent.val() {
            self.used_ch.d.next =
                self.used_ch.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(1)) + 1;
            self.used_cd.d.next = self.used_cd.q.val()
                + bit_cast::<12, 6>(self.reply_need.val())
                + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(0));
        }

        // The credits that were consumed before, up to the last cycle; from then on limits are shown.
        self.select_consumed.next = !self.ready.q.val() & !self.age.q.val().get_bit(4);
        if !self.ready.q.val() {
            self.age.d.next = self.age.q.val() + 1;
            self.ready.d.next = self.age.q.val().all();
            if self.age.q.val() == 15 {
                self.used_ph.d.next =
                    self.limit_ph.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(5));
                self.used_pd.d.next =
                    self.limit_pd.q.val() + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(4));
                self.used_nh.d.next =
                    self.limit_nh.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(3));
                self.used_ch.d.next =
                    self.limit_ch.q.val() + bit_cast::<8, 1>(self.pulses.q.val().get_bits::<1>(1));
                self.used_cd.d.next =
                    self.limit_cd.q.val() + bit_cast::<12, 1>(self.pulses.q.val().get_bits::<1>(0));
            }
        }

        // There is room if the rest would not be negative, in half of the numbers. The specification counts half of
        // them itself as room, too; no real link partner grants so much: at most 127 headers or 2047 units of data are
        // granted and not used.
        self.left_ph.next = self.limit_ph.q.val() - self.used_ph.q.val() - 1;
        self.left_pd.next =
            self.limit_pd.q.val() - self.used_pd.q.val() - bit_cast::<12, 6>(self.post_need.val());
        self.left_nh.next = self.limit_nh.q.val() - self.used_nh.q.val() - 1;
        self.left_ch.next = self.limit_ch.q.val() - self.used_ch.q.val() - 1;
        self.left_cd.next =
            self.limit_cd.q.val() - self.used_cd.q.val() - bit_cast::<12, 6>(self.reply_need.val());
        if self.ready.q.val() & (self.endless.q.val().get_bit(5) | !self.left_ph.val().get_bit(7)) {
            self.opened.d.next = true;
        }
        self.posts_open.next = self.opened.q.val();
        self.may_post.d.next = self.ready.q.val()
            & (self.endless.q.val().get_bit(5) | !self.left_ph.val().get_bit(7))
            & (self.endless.q.val().get_bit(4) | !self.left_pd.val().get_bit(11));
        self.may_read.d.next =
            self.ready.q.val() & (self.endless.q.val().get_bit(3) | !self.left_nh.val().get_bit(7));
        self.may_reply.d.next = self.ready.q.val()
            & (self.endless.q.val().get_bit(1) | !self.left_ch.val().get_bit(7))
            & (self.endless.q.val().get_bit(0) | !self.left_cd.val().get_bit(11));
        self.post_ok.next = self.may_post.q.val();
        self.read_ok.next = self.may_read.q.val();
        self.reply_ok.next = self.may_reply.q.val();

        if self.reset.val() | !self.up.val() {
            self.age.d.next = 0.into();
            self.ready.d.next = false;
            self.opened.d.next = false;
            self.may_post.d.next = false;
            self.may_read.d.next = false;
            self.may_reply.d.next = false;
        }
    }
}
