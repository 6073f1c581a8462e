//! The transaction layer: the parts joined, with the engine's port on one side and the hard IP's interfaces on the
//! other.

use super::asks::Asks;
use super::completions::Completions;
use super::config::Config;
use super::credits::Credits;
use super::posts::Posts;
use super::tally::{Count, Tally};
use super::target::{Reach, Target};
use super::transmit::Transmit;
use crate::prim::{BitSync, Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The transaction layer's application side on the hard IP `altera_pcie_sv_hip_ast`, `W` bits and `B` bytes a beat;
/// `E` = `W + 2`. Ports towards the hard IP have its names (Stratix V Avalon-ST Interface for PCIe 683093).
#[derive(DocBlock)]
pub struct Layer<const W: usize, const B: usize, const E: usize> {
    /// The hard IP's `coreclkout_hip`, and its application reset.
    pub pcie_clk: Signal<In, Clock>,
    pub link_reset: Signal<In, Bit>,
    /// The link is up. Of any clock.
    pub dlup: Signal<In, Bit>,
    /// The engine's port, as its adapter has it.
    pub post_valid: Signal<In, Bit>,
    pub post_ready: Signal<Out, Bit>,
    pub post_address: Signal<In, Bits<64>>,
    pub post_beats: Signal<In, Bits<6>>,
    pub post_data: Signal<In, Bits<W>>,
    pub post_enable: Signal<In, Bits<B>>,
    pub ask_valid: Signal<In, Bit>,
    pub ask_ready: Signal<Out, Bit>,
    pub ask_address: Signal<In, Bits<64>>,
    pub ask_bytes: Signal<In, Bits<10>>,
    pub ask_tag: Signal<In, Bits<7>>,
    pub answer_valid: Signal<Out, Bit>,
    pub answer_first: Signal<Out, Bit>,
    pub answer_tag: Signal<Out, Bits<7>>,
    pub answer_bytes: Signal<Out, Bits<10>>,
    pub answer_code: Signal<Out, Bits<3>>,
    pub answer_data: Signal<Out, Bits<W>>,
    pub answer_error: Signal<Out, Bit>,
    /// The hard IP: packets received. `mask` holds requests back that want an answer.
    pub rx_st_valid: Signal<In, Bit>,
    pub rx_st_ready: Signal<Out, Bit>,
    pub rx_st_data: Signal<In, Bits<W>>,
    pub rx_st_sop: Signal<In, Bit>,
    pub rx_st_eop: Signal<In, Bit>,
    pub rx_st_bar: Signal<In, Bits<8>>,
    pub rx_st_err: Signal<In, Bit>,
    pub rx_st_mask: Signal<Out, Bit>,
    /// Packets sent.
    pub tx_st_valid: Signal<Out, Bit>,
    pub tx_st_ready: Signal<In, Bit>,
    pub tx_st_data: Signal<Out, Bits<W>>,
    pub tx_st_sop: Signal<Out, Bit>,
    pub tx_st_eop: Signal<Out, Bit>,
    pub tx_st_empty: Signal<Out, Bits<2>>,
    pub tx_st_err: Signal<Out, Bit>,
    /// Credits.
    pub tx_cred_hdrfcp: Signal<In, Bits<8>>,
    pub tx_cred_datafcp: Signal<In, Bits<12>>,
    pub tx_cred_hdrfcnp: Signal<In, Bits<8>>,
    pub tx_cred_hdrfccp: Signal<In, Bits<8>>,
    pub tx_cred_datafccp: Signal<In, Bits<12>>,
    pub tx_cred_fchipcons: Signal<In, Bits<6>>,
    pub tx_cred_fcinfinite: Signal<In, Bits<6>>,
    pub tx_cons_cred_sel: Signal<Out, Bit>,
    /// Completions that its buffer has room for.
    pub ko_cpl_spc_header: Signal<In, Bits<8>>,
    /// Configuration.
    pub tl_cfg_add: Signal<In, Bits<4>>,
    pub tl_cfg_ctl: Signal<In, Bits<32>>,
    /// Errors that the hard IP is notified of, one cycle each: bit 1 a read that was given up, bit 2 a request of the
    /// host that is ended with Completer Abort, bit 3 a completion that no read waits for or that does not fit its
    /// read, bits 4 and 5 a posted request and another request that no slave serves. And whether reads are under way.
    pub cpl_err: Signal<Out, Bits<7>>,
    pub cpl_pending: Signal<Out, Bit>,
    /// The host's requests to the board: an Avalon-MM master of 64 bits, with byte addresses within the BAR. A burst
    /// does not cross 256 bytes. It is reset with this block.
    pub host_address: Signal<Out, Bits<32>>,
    pub host_burstcount: Signal<Out, Bits<6>>,
    pub host_read: Signal<Out, Bit>,
    pub host_write: Signal<Out, Bit>,
    pub host_writedata: Signal<Out, Bits<64>>,
    pub host_byteenable: Signal<Out, Bits<8>>,
    pub host_waitrequest: Signal<In, Bit>,
    pub host_readdata: Signal<In, Bits<64>>,
    pub host_readdatavalid: Signal<In, Bit>,
    /// The bus does nothing, and the host's reads are answered without it.
    pub host_down: Signal<Out, Bit>,
    /// The function's configuration.
    pub max_payload: Signal<Out, Bits<3>>,
    pub max_request: Signal<Out, Bits<3>>,
    /// Reads of at most 256 bytes would be better now, because room for completions is short.
    pub short_reads: Signal<Out, Bit>,
    pub extended_tags: Signal<Out, Bit>,
    pub read_boundary: Signal<Out, Bit>,
    pub bus_master: Signal<Out, Bit>,
    pub requester_id: Signal<Out, Bits<16>>,
    pub msix_enable: Signal<Out, Bit>,
    pub msix_mask: Signal<Out, Bit>,
    pub msi_enable: Signal<Out, Bit>,
    pub msi_address: Signal<Out, Bits<64>>,
    pub msi_data: Signal<Out, Bits<16>>,
    /// Since the reset, up to the largest number: completions by their error, and reads that were given up.
    pub unsupported: Signal<Out, Bits<16>>,
    pub aborted: Signal<Out, Bits<16>>,
    pub poisoned: Signal<Out, Bits<16>>,
    pub malformed: Signal<Out, Bits<16>>,
    pub unexpected: Signal<Out, Bits<16>>,
    pub expired: Signal<Out, Bits<16>>,
    /// Since the reset, up to the largest number: requests of the host that ended with Unsupported Request or Completer
    /// Abort, and its writes that were dropped.
    pub host_refused: Signal<Out, Bits<16>>,
    pub host_aborted: Signal<Out, Bits<16>>,
    pub host_dropped: Signal<Out, Bits<16>>,
    /// The receive side has failed. The hard IP has found an error in its buffer that it could not correct
    /// (`rx_st_err`): it may have ended the packet early, and asks to be reset (683093, Error Signals). Until then no
    /// completion is accepted, and no request after a write that has lost data. Or a read has found no tag or no room,
    /// with no read under way that would release any: the reads that were given up have them.
    pub rx_failed: Signal<Out, Bit>,
    /// A write or a completion waits for credits; a read waits for a tag or for room.
    pub stalled_credits: Signal<Out, Bit>,
    pub stalled_tags: Signal<Out, Bit>,

    posts: Posts<W, B>,
    #[given]
    asks: Asks,
    credits: Credits,
    link: BitSync,
    transmit: Transmit<W>,
    #[given]
    completions: Completions<W, B, E>,
    settings: Config,
    #[given]
    target: Target<W, E>,
    refusals: Count,
    aborts: Count,
    drops: Count,
    tally: Tally,
    /// The hard IP's output in the last cycle.
    rx_on: DFF<Bit>,
    rx_data: DFF<Bits<W>>,
    rx_sop: DFF<Bit>,
    rx_eop: DFF<Bit>,
    rx_bar: DFF<Bits<8>>,
    rx_bad: DFF<Bit>,
    ready: DFF<Bit>,
    /// A posted packet has left, or is dropped: the reads and completions after it are notified in the next cycle.
    post_left: DFF<Bit>,
    /// The packet under way is a completion.
    route: DFF<Bit>,
    errors: DFF<Bits<7>>,
    pending: DFF<Bit>,
    failed: DFF<Bit>,
    starved: DFF<Bit>,
    /// An error in a header, perhaps a write's: later writes of the host must not be taken. An error within a write:
    /// nothing must be taken.
    bereft: DFF<Bit>,
    halted: DFF<Bit>,
    is_completion: Signal<Local, Bit>,
    is_stray: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const E: usize> Layer<W, B, E> {
    /// A layer that gives reads up between 64 and 128 times `2^patience_log2` cycles after they left, and lets the host
    /// reach BAR 0.
    pub fn new(patience_log2: usize) -> Self {
        Self::reaching(patience_log2, Reach::default())
    }

    /// A layer that lets the host reach so much.
    pub fn reaching(patience_log2: usize, reach: Reach) -> Self {
        Self::fresh(LayerGiven {
            asks: Asks::new(patience_log2),
            completions: Completions::new(patience_log2),
            target: Target::new(reach),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Layer<W, B, E> {
    parts!(Sending, Receiving, Telling);
}

/// From the engine to the hard IP.
struct Sending;

impl<const W: usize, const B: usize, const E: usize> Part<Sending> for Layer<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, rx_on, rx_data, rx_sop, rx_eop, rx_bar, rx_bad, ready, post_left,
            route, errors, pending, failed, starved, bereft, halted
        );
        clock!(
            self,
            pcie_clk,
            posts,
            asks,
            credits,
            link,
            transmit,
            completions,
            settings,
            tally,
            target,
            refusals,
            aborts,
            drops
        );
        self.posts.reset.next = self.link_reset.val();
        self.asks.reset.next = self.link_reset.val();
        self.credits.reset.next = self.link_reset.val();
        self.transmit.reset.next = self.link_reset.val();
        self.completions.reset.next = self.link_reset.val();
        self.settings.reset.next = self.link_reset.val();
        self.tally.reset.next = self.link_reset.val();
        self.target.reset.next = self.link_reset.val();
        self.refusals.reset.next = self.link_reset.val();
        self.aborts.reset.next = self.link_reset.val();
        self.drops.reset.next = self.link_reset.val();

        self.posts.valid.next = self.post_valid.val();
        self.post_ready.next = self.posts.ready.val();
        self.posts.address.next = self.post_address.val();
        self.posts.beats.next = self.post_beats.val();
        self.posts.data.next = self.post_data.val();
        self.posts.enable.next = self.post_enable.val();
        self.posts.open.next = self.credits.posts_open.val();
        self.posts.payload.next = self.settings.payload.val();
        self.posts.head_take.next = self.transmit.post_take.val();
        self.posts.beat_take.next = self.transmit.post_beat_take.val();

        self.asks.valid.next = self.ask_valid.val();
        self.ask_ready.next = self.asks.ready.val();
        self.asks.address.next = self.ask_address.val();
        self.asks.bytes.next = self.ask_bytes.val();
        self.asks.tag.next = self.ask_tag.val();
        self.asks.request.next = self.settings.request.val();
        self.asks.extended.next = self.settings.extended.val();
        self.asks.master.next = self.settings.master.val();
        self.asks.space.next = self.ko_cpl_spc_header.val();
        self.asks.freed.next = self.completions.freed.val();
        self.asks.arrives.next = self.rx_on.q.val();
        self.asks.posted.next = self.posts.taken.val();
        self.post_left.d.next = self.transmit.post_take.val();
        self.asks.post_sent.next = self.post_left.q.val();
        self.asks.credit.next = self.credits.read_ok.val();
        self.asks.busy.next = self.completions.busy.val();
        self.asks.closes.next = self.completions.closes.val();
        self.asks.closes_tag.next = self.completions.closes_tag.val();
        self.asks.closes_bad.next = self.completions.closes_bad.val();
        self.asks.head_take.next = self.transmit.ask_take.val();
        self.stalled_tags.next = self.asks.stalled.val();

        self.link.unsynced.next = self.dlup.val();
        self.credits.up.next = self.link.synced.val();
        self.credits.posted_headers.next = self.tx_cred_hdrfcp.val();
        self.credits.posted_data.next = self.tx_cred_datafcp.val();
        self.credits.read_headers.next = self.tx_cred_hdrfcnp.val();
        self.credits.reply_headers.next = self.tx_cred_hdrfccp.val();
        self.credits.reply_data.next = self.tx_cred_datafccp.val();
        self.credits.hip_consumed.next = self.tx_cred_fchipcons.val();
        self.credits.infinite.next = self.tx_cred_fcinfinite.val();
        self.tx_cons_cred_sel.next = self.credits.select_consumed.val();
        self.credits.post_need.next = self.transmit.post_need.val();
        self.credits.post_sent.next = self.transmit.post_sent.val();
        self.credits.read_sent.next = self.asks.sent.val();
        self.credits.reply_need.next = self.transmit.reply_need.val();
        self.credits.reply_sent.next = self.transmit.reply_take.val();

        self.completions.refuses.next = self.asks.refuses.val();
        self.completions.refuses_tag.next = self.asks.refuses_tag.val();
        self.completions.refuses_lost.next = self.asks.refuses_lost.val();
        self.completions.patient.next = self.settings.patient.val();
        self.asks.awaits.next = self.pending.q.val();
        self.asks.progress.next = self.completions.progresses.val();
        self.asks.refuses_take.next = self.completions.refuses_take.val();
        self.transmit.master.next = self.settings.master.val();
        self.transmit.id.next = self.settings.id.val();
        self.transmit.post_valid.next = self.posts.head_valid.val();
        self.transmit.post_stored.next = self.posts.stored.val();
        self.transmit.post.next = self.posts.head.val();
        self.transmit.post_beat.next = self.posts.beat.val();
        self.transmit.post_ok.next = self.credits.post_ok.val();
        self.transmit.ask_valid.next = self.asks.head_valid.val();
        self.transmit.ask.next = self.asks.head.val();
        self.transmit.reply_valid.next = self.target.head_valid.val() & self.settings.known.val();
        self.transmit.reply.next = self.target.head.val();
        self.transmit.reply_beat.next = self.target.beat.val();
        self.transmit.reply_ok.next = self.credits.reply_ok.val();
        self.target.head_take.next = self.transmit.reply_take.val();
        self.target.beat_take.next = self.transmit.reply_beat_take.val();
        self.target.posted.next = self.posts.taken.val();
        self.target.post_sent.next = self.post_left.q.val();
        self.stalled_credits.next = self.transmit.stalled.val();
        self.transmit.tx_ready.next = self.tx_st_ready.val();
        self.tx_st_valid.next = self.transmit.tx_valid.val();
        self.tx_st_data.next = self.transmit.tx_data.val();
        self.tx_st_sop.next = self.transmit.tx_sop.val();
        self.tx_st_eop.next = self.transmit.tx_eop.val();
        self.tx_st_empty.next = self.transmit.tx_empty.val();
        self.tx_st_err.next = false;
    }
}

/// From the hard IP: completions to the engine, all other packets to the target.
struct Receiving;

impl<const W: usize, const B: usize, const E: usize> Part<Receiving> for Layer<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.rx_on.d.next = self.rx_st_valid.val();
        self.rx_data.d.next = self.rx_st_data.val();
        self.rx_sop.d.next = self.rx_st_sop.val();
        self.rx_eop.d.next = self.rx_st_eop.val();
        self.rx_bar.d.next = self.rx_st_bar.val();
        self.rx_bad.d.next = self.rx_st_err.val();
        self.ready.d.next = !self.completions.almost.val() & !self.target.pause.val();
        self.rx_st_ready.next = self.ready.q.val();
        self.rx_st_mask.next = self.target.mask.val();
        self.is_completion.next = self.route.q.val();
        if self.rx_sop.q.val() {
            self.is_completion.next = self.rx_data.q.val().get_bits::<4>(25) == 5;
        }
        // Without its first beat the target skips a packet.
        self.is_stray.next =
            self.rx_sop.q.val() & self.bereft.q.val() & self.rx_data.q.val().get_bit(30);
        if self.rx_on.q.val() {
            self.route.d.next = self.is_completion.val();
            if self.rx_bad.q.val() {
                self.failed.d.next = true;
            }
            if self.rx_bad.q.val() & self.rx_sop.q.val() {
                self.bereft.d.next = true;
            } else if self.rx_bad.q.val() & !self.is_completion.val() & !self.bereft.q.val() {
                self.halted.d.next = true;
            }
        }
        self.completions.rx_valid.next = self.rx_on.q.val()
            & self.is_completion.val()
            & !self.rx_bad.q.val()
            & !self.failed.q.val();
        self.completions.rx_sop.next = self.rx_sop.q.val();
        self.completions.rx_eop.next = self.rx_eop.q.val();
        self.completions.rx_data.next = self.rx_data.q.val();
        self.target.rx_valid.next = self.rx_on.q.val()
            & !self.is_completion.val()
            & !self.rx_bad.q.val()
            & !self.is_stray.val()
            & !self.halted.q.val();
        self.target.rx_sop.next = self.rx_sop.q.val();
        self.target.rx_bar.next = self.rx_bar.q.val();
        self.target.rx_data.next = self.rx_data.q.val();
        self.target.payload.next = self.settings.payload.val();
        self.host_address.next = self.target.address.val();
        self.host_burstcount.next = self.target.burstcount.val();
        self.host_read.next = self.target.read.val();
        self.host_write.next = self.target.write.val();
        self.host_writedata.next = self.target.writedata.val();
        self.host_byteenable.next = self.target.byteenable.val();
        self.target.waitrequest.next = self.host_waitrequest.val();
        self.target.readdata.next = self.host_readdata.val();
        self.target.readdatavalid.next = self.host_readdatavalid.val();
        self.host_down.next = self.target.down.val();

        self.completions.opens.next = self.asks.opens.val();
        self.completions.opens_tag.next = self.asks.opens_tag.val();
        self.completions.opens_word.next = self.asks.opens_word.val();
        self.answer_valid.next = self.completions.answer_valid.val();
        self.answer_first.next = self.completions.answer_first.val();
        self.answer_tag.next = self.completions.answer_tag.val();
        self.answer_bytes.next = self.completions.answer_bytes.val();
        self.answer_code.next = self.completions.answer_code.val();
        self.answer_data.next = self.completions.answer_data.val();
        self.answer_error.next = self.completions.answer_error.val();
        self.completions.cut.next = self.failed.q.val();
        self.rx_failed.next = self.failed.q.val() | self.starved.q.val();
        if self.link_reset.val() {
            self.rx_on.d.next = false;
            self.ready.d.next = false;
            self.failed.d.next = false;
            self.bereft.d.next = false;
            self.halted.d.next = false;
        }
    }
}

/// Reports to the hard IP, the driver and the rest of the board.
struct Telling;

impl<const W: usize, const B: usize, const E: usize> Part<Telling> for Layer<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.settings.add.next = self.tl_cfg_add.val();
        self.settings.ctl.next = self.tl_cfg_ctl.val();
        self.max_payload.next = self.settings.payload.val();
        self.max_request.next = self.settings.request.val();
        self.short_reads.next = self.asks.crowded.val();
        self.extended_tags.next = self.settings.extended.val();
        self.read_boundary.next = self.settings.boundary.val();
        self.bus_master.next = self.settings.master.val();
        self.requester_id.next = self.settings.id.val();
        self.msix_enable.next = self.settings.msix_enable.val();
        self.msix_mask.next = self.settings.msix_mask.val();
        self.msi_enable.next = self.settings.msi_enable.val();
        self.msi_address.next = self.settings.msi_address.val();
        self.msi_data.next = self.settings.msi_data.val();

        self.pending.d.next = self.completions.awaits.val();
        if self.asks.refuses.val() & self.asks.refuses_lost.val() {
            self.starved.d.next = true;
        }
        self.cpl_pending.next = self.pending.q.val();
        self.errors.d.next = (bit_cast::<7, 1>(self.completions.saw_expired.val().into()) << 1)
            | (bit_cast::<7, 1>(self.target.saw_abort.val().into()) << 2)
            | (bit_cast::<7, 1>(
                (self.completions.saw_unexpected.val() | self.completions.saw_malformed.val())
                    .into(),
            ) << 3)
            | (bit_cast::<7, 1>(
                (self.target.saw_dropped.val() | self.target.saw_lost.val()).into(),
            ) << 4)
            | (bit_cast::<7, 1>(self.target.saw_refused.val().into()) << 5);
        self.cpl_err.next = self.errors.q.val();
        self.tally.unsupported.next = self.completions.saw_unsupported.val();
        self.tally.aborted.next = self.completions.saw_abort.val();
        self.tally.poisoned.next = self.completions.saw_poisoned.val();
        self.tally.malformed.next = self.completions.saw_malformed.val();
        self.tally.unexpected.next = self.completions.saw_unexpected.val();
        self.tally.expired.next = self.completions.saw_expired.val();
        self.unsupported.next = self.tally.counts.val().get_bits::<16>(0);
        self.aborted.next = self.tally.counts.val().get_bits::<16>(16);
        self.poisoned.next = self.tally.counts.val().get_bits::<16>(32);
        self.malformed.next = self.tally.counts.val().get_bits::<16>(48);
        self.unexpected.next = self.tally.counts.val().get_bits::<16>(64);
        self.expired.next = self.tally.counts.val().get_bits::<16>(80);
        self.refusals.happens.next = self.target.saw_refused.val();
        self.aborts.happens.next = self.target.saw_abort.val();
        self.drops.happens.next = self.target.saw_dropped.val() | self.target.saw_lost.val();
        self.host_refused.next = self.refusals.count.val();
        self.host_aborted.next = self.aborts.count.val();
        self.host_dropped.next = self.drops.count.val();
        if self.link_reset.val() {
            self.errors.d.next = 0.into();
            self.pending.d.next = false;
            self.starved.d.next = false;
        }
    }
}
