//! The driver's settings of each channel, and the doorbells that each channel was refused.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Up to 64 channels.
#[derive(DocBlock)]
pub struct Channels {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// CHANNEL_CONTROL of the selected channel.
    pub select: Signal<In, Bits<6>>,
    pub control_we: Signal<In, Bit>,
    pub control_data: Signal<In, Bits<3>>,
    pub selected_accept: Signal<Out, Bit>,
    pub selected_run: Signal<Out, Bit>,
    pub selected_abort: Signal<Out, Bit>,
    /// REFUSED of the channel whose page is accessed.
    pub page: Signal<In, Bits<6>>,
    pub refused_we: Signal<In, Bit>,
    pub refused_data: Signal<In, Bits<2>>,
    pub refused_write_set: Signal<In, Bit>,
    pub refused_read_set: Signal<In, Bit>,
    pub page_accept: Signal<Out, Bit>,
    pub page_refused_write: Signal<Out, Bit>,
    pub page_refused_read: Signal<Out, Bit>,
    /// One bit a channel.
    pub run: Signal<Out, Bits<64>>,
    pub abort: Signal<Out, Bits<64>>,

    /// The selected channel's bits, a cycle late.
    shown_accept: DFF<Bit>,
    shown_run: DFF<Bit>,
    shown_abort: DFF<Bit>,
    accepts: DFF<Bits<64>>,
    runs: DFF<Bits<64>>,
    aborts: DFF<Bits<64>>,
    /// Channels that accept and do not abort.
    accepting: DFF<Bits<64>>,
    refused_writes: DFF<Bits<64>>,
    refused_reads: DFF<Bits<64>>,
    selected: Signal<Local, Bits<64>>,
    paged: Signal<Local, Bits<64>>,
    one: Constant<Bits<64>>,
    all_channels: Constant<Bits<64>>,
}

impl Channels {
    /// `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(ChannelsGiven {
            one: Constant::new(1.into()),
            all_channels: Constant::new(super::channel_mask(channels_log2)),
        })
    }
}

impl Logic for Channels {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            shown_accept,
            shown_run,
            shown_abort,
            accepts,
            runs,
            aborts,
            accepting,
            refused_writes,
            refused_reads
        );
        self.selected.next = (self.one.val() << self.select.val()) & self.all_channels.val();
        self.paged.next = (self.one.val() << self.page.val()) & self.all_channels.val();
        self.shown_accept.d.next = (self.accepts.q.val() & self.selected.val()).any();
        self.selected_accept.next = self.shown_accept.q.val();
        self.shown_run.d.next = (self.runs.q.val() & self.selected.val()).any();
        self.selected_run.next = self.shown_run.q.val();
        self.shown_abort.d.next = (self.aborts.q.val() & self.selected.val()).any();
        self.selected_abort.next = self.shown_abort.q.val();
        self.page_accept.next = (self.accepting.q.val() & self.paged.val()).any();
        self.page_refused_write.next = (self.refused_writes.q.val() & self.paged.val()).any();
        self.page_refused_read.next = (self.refused_reads.q.val() & self.paged.val()).any();
        self.run.next = self.runs.q.val();
        self.abort.next = self.aborts.q.val();
        if self.control_we.val() {
            self.accepts.d.next = self.accepts.q.val() & !self.selected.val();
            self.runs.d.next = self.runs.q.val() & !self.selected.val();
            self.aborts.d.next = self.aborts.q.val() & !self.selected.val();
            if self.control_data.val().get_bit(0) {
                self.accepts.d.next = self.accepts.q.val() | self.selected.val();
            }
            if self.control_data.val().get_bit(1) {
                self.runs.d.next = self.runs.q.val() | self.selected.val();
            }
            if self.control_data.val().get_bit(2) {
                self.aborts.d.next = self.aborts.q.val() | self.selected.val();
            }
            self.accepting.d.next = self.accepting.q.val() & !self.selected.val();
            if self.control_data.val().get_bit(0) & !self.control_data.val().get_bit(2) {
                self.accepting.d.next = self.accepting.q.val() | self.selected.val();
            }
        }
        // A page is accessed once a cycle, so a doorbell and a clear never meet.
        if self.refused_write_set.val() {
            self.refused_writes.d.next = self.refused_writes.q.val() | self.paged.val();
        }
        if self.refused_read_set.val() {
            self.refused_reads.d.next = self.refused_reads.q.val() | self.paged.val();
        }
        if self.refused_we.val() & self.refused_data.val().get_bit(0) {
            self.refused_writes.d.next = self.refused_writes.q.val() & !self.paged.val();
        }
        if self.refused_we.val() & self.refused_data.val().get_bit(1) {
            self.refused_reads.d.next = self.refused_reads.q.val() & !self.paged.val();
        }
        if self.reset.val() {
            self.accepts.d.next = 0.into();
            self.runs.d.next = 0.into();
            self.aborts.d.next = 0.into();
            self.accepting.d.next = 0.into();
            self.refused_writes.d.next = 0.into();
            self.refused_reads.d.next = 0.into();
        }
    }
}
