//! One direction's request maker: takes descriptors from the queue and cuts them into requests of at
//! most 512 bytes that never cross a 512-byte (so never a 4 KiB) boundary of the peer address, each
//! checked and translated by the ATT before it leaves.
//!
//! A fault becomes a request of zero bytes that carries the code: it takes the same way as data, so
//! the completion comes after everything that was sent before it. Four cycles a request, five for the
//! first of a descriptor.

use rust_hdl::prelude::*;

/// Where the state machine stands.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SegmentState {
    /// Waiting for a descriptor.
    Idle,
    /// Cutting the next request.
    Size,
    /// Waiting for the ATT.
    Lookup,
    /// Offering the request.
    Issue,
}

/// The request maker. `W` and `B` are the port's width in bits and bytes.
#[derive(LogicBlock)]
pub struct Segment<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// New descriptors may start.
    pub enable: Signal<In, Bit>,
    /// Reads only: the port has lost completions, requests would not be answered.
    pub port_down: Signal<In, Bit>,
    /// End the running descriptor at its next request.
    pub abort: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    // The descriptor queue.
    pub valid: Signal<In, Bit>,
    pub pop: Signal<Out, Bit>,
    pub peer_low: Signal<In, Bits<32>>,
    pub peer_high: Signal<In, Bits<32>>,
    pub local_low: Signal<In, Bits<32>>,
    pub local_high: Signal<In, Bits<32>>,
    pub length: Signal<In, Bits<32>>,
    pub control: Signal<In, Bits<32>>,
    pub cookie: Signal<In, Bits<32>>,
    // The ATT.
    pub ask: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<16>>,
    pub answer: Signal<In, Bit>,
    pub entry: Signal<In, Bits<65>>,
    // The request.
    pub request: Signal<Out, Bit>,
    pub accept: Signal<In, Bit>,
    /// Bus address; of a faulting request its ATT address.
    pub bus: Signal<Out, Bits<64>>,
    /// ATT address: page size code and 37 bits.
    pub att_address: Signal<Out, Bits<39>>,
    pub local: Signal<Out, Bits<40>>,
    /// 1–512, 0 with a fault.
    pub bytes: Signal<Out, Bits<10>>,
    pub last: Signal<Out, Bit>,
    pub code: Signal<Out, Bits<4>>,
    pub want_record: Signal<Out, Bit>,
    pub want_irq: Signal<Out, Bit>,
    /// The writer may read back from here to see its data arrive.
    pub may_flush: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<32>>,

    state: DFF<SegmentState>,
    page_size: DFF<Bits<2>>,
    peer: DFF<Bits<37>>,
    local_at: DFF<Bits<40>>,
    remaining: DFF<Bits<32>>,
    flags: DFF<Bits<3>>,
    cookie_at: DFF<Bits<32>>,
    malformed: DFF<Bit>,
    // Found while sizing.
    chunk: DFF<Bits<10>>,
    final_chunk: DFF<Bit>,
    out_of_memory: DFF<Bit>,
    entry_index: DFF<Bits<16>>,
    out_of_table: DFF<Bit>,
    // Found in the ATT.
    target: DFF<Bits<64>>,
    invalid: DFF<Bit>,
    not_owner: DFF<Bit>,
    readable: DFF<Bit>,
    not_permitted: DFF<Bit>,
    wrong_size: DFF<Bit>,

    to_edge: Signal<Local, Bits<10>>,
    head_offset: Signal<Local, Bits<10>>,
    page_number: Signal<Local, Bits<25>>,
    local_end: Signal<Local, Bits<41>>,
    ragged: Signal<Local, Bit>,
    verdict: Signal<Local, Bits<4>>,
    remaining_next: Signal<Local, Bits<32>>,

    beat_bytes: Constant<Bits<10>>,
    offset_mask: Constant<Bits<10>>,
    memory_bytes: Constant<Bits<41>>,
    entries: Constant<Bits<25>>,
    /// Bit of an entry that permits this direction: 1 read by the board, 2 write by the board.
    permission: Constant<Bits<2>>,
    /// Writes only: unaligned ends are requests of their own (the contract of `Txs`).
    split_ends: Constant<Bits<1>>,
    owner_bit: Constant<Bits<8>>,
    is_read: Constant<Bits<1>>,
}

/// What a build fixes for a [`Segment`].
#[derive(Clone, Copy, Debug)]
pub struct SegmentConfig {
    /// Peer to FPGA.
    pub read: bool,
    /// ATT entries, log2.
    pub att_log2: usize,
    /// FPGA memory bytes, log2, at most 40.
    pub memory_log2: usize,
}

impl<const W: usize, const B: usize> Segment<W, B> {
    /// A request maker for one direction.
    pub fn new(config: SegmentConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            port_down: Default::default(),
            abort: Default::default(),
            busy: Default::default(),
            valid: Default::default(),
            pop: Default::default(),
            peer_low: Default::default(),
            peer_high: Default::default(),
            local_low: Default::default(),
            local_high: Default::default(),
            length: Default::default(),
            control: Default::default(),
            cookie: Default::default(),
            ask: Default::default(),
            index: Default::default(),
            answer: Default::default(),
            entry: Default::default(),
            request: Default::default(),
            accept: Default::default(),
            bus: Default::default(),
            att_address: Default::default(),
            local: Default::default(),
            bytes: Default::default(),
            last: Default::default(),
            code: Default::default(),
            want_record: Default::default(),
            want_irq: Default::default(),
            may_flush: Default::default(),
            tag: Default::default(),
            state: Default::default(),
            page_size: Default::default(),
            peer: Default::default(),
            local_at: Default::default(),
            remaining: Default::default(),
            flags: Default::default(),
            cookie_at: Default::default(),
            malformed: Default::default(),
            chunk: Default::default(),
            final_chunk: Default::default(),
            out_of_memory: Default::default(),
            entry_index: Default::default(),
            out_of_table: Default::default(),
            target: Default::default(),
            invalid: Default::default(),
            not_owner: Default::default(),
            readable: Default::default(),
            not_permitted: Default::default(),
            wrong_size: Default::default(),
            to_edge: Default::default(),
            head_offset: Default::default(),
            page_number: Default::default(),
            local_end: Default::default(),
            ragged: Default::default(),
            verdict: Default::default(),
            remaining_next: Default::default(),
            beat_bytes: Constant::new((B as u64).into()),
            offset_mask: Constant::new((B as u64 - 1).into()),
            memory_bytes: Constant::new((1u64 << config.memory_log2).into()),
            entries: Constant::new((1u64 << config.att_log2).into()),
            permission: Constant::new(if config.read { 1 } else { 2 }.into()),
            split_ends: Constant::new(u64::from(!config.read).into()),
            owner_bit: Constant::new(1.into()),
            is_read: Constant::new(u64::from(config.read).into()),
        }
    }
}

impl<const W: usize, const B: usize> Logic for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            page_size,
            peer,
            local_at,
            remaining,
            flags,
            cookie_at,
            malformed,
            chunk,
            final_chunk,
            out_of_memory,
            entry_index,
            out_of_table,
            target,
            invalid,
            not_owner,
            readable,
            not_permitted,
            wrong_size
        );
        self.pop.next = false;
        self.ask.next = false;
        self.request.next = false;
        self.busy.next = self.state.q.val() != SegmentState::Idle;
        self.index.next = self.entry_index.q.val();

        // Bytes to the next edge: of the bus word for a write's unaligned head, else of 512.
        self.head_offset.next = bit_cast::<10, 37>(self.peer.q.val()) & self.offset_mask.val();
        if self.split_ends.val().any() & self.head_offset.val().any() {
            self.to_edge.next = self.beat_bytes.val() - self.head_offset.val();
        } else {
            self.to_edge.next =
                bits::<10>(512) - (bit_cast::<10, 9>(self.peer.q.val().get_bits::<9>(0)));
        }
        // A write of several beats ends on a whole one; the bytes behind it are a request of their own.
        self.ragged.next = self.split_ends.val().any()
            & (self.remaining.q.val().get_bits::<10>(0) & self.offset_mask.val()).any()
            & (self.remaining.q.val() > bit_cast::<32, 10>(self.beat_bytes.val()));
        self.local_end.next =
            bit_cast::<41, 40>(self.local_at.q.val()) + bit_cast::<41, 32>(self.remaining.q.val());
        self.page_number.next = self.peer.q.val().get_bits::<25>(12);
        if self.page_size.q.val() == 1 {
            self.page_number.next = bit_cast::<25, 21>(self.peer.q.val().get_bits::<21>(16));
        }
        if self.page_size.q.val() == 2 {
            self.page_number.next = bit_cast::<25, 16>(self.peer.q.val().get_bits::<16>(21));
        }

        // The verdict, most fundamental fault first.
        self.verdict.next = 0.into();
        if self.malformed.q.val() {
            self.verdict.next = 10.into();
        } else if self.out_of_memory.q.val() {
            self.verdict.next = 1.into();
        } else if self.abort.val() {
            self.verdict.next = 9.into();
        } else if self.port_down.val() & self.is_read.val().any() {
            self.verdict.next = 8.into();
        } else if self.out_of_table.q.val() {
            self.verdict.next = 2.into();
        } else if self.invalid.q.val() {
            self.verdict.next = 3.into();
        } else if self.not_owner.q.val() {
            self.verdict.next = 4.into();
        } else if self.not_permitted.q.val() {
            self.verdict.next = 5.into();
        } else if self.wrong_size.q.val() {
            self.verdict.next = 6.into();
        }
        self.code.next = self.verdict.val();
        self.local.next = self.local_at.q.val();
        self.want_record.next = self.flags.q.val().get_bit(0);
        self.want_irq.next = self.flags.q.val().get_bit(1);
        self.may_flush.next = self.readable.q.val() & !self.flags.q.val().get_bit(2);
        self.tag.next = self.cookie_at.q.val();
        self.att_address.next = bit_cast::<39, 37>(self.peer.q.val())
            | (bit_cast::<39, 2>(self.page_size.q.val()) << 37);
        if self.verdict.val().any() {
            self.bus.next = bit_cast::<64, 37>(self.peer.q.val())
                | (bit_cast::<64, 2>(self.page_size.q.val()) << 62);
            self.bytes.next = 0.into();
            self.last.next = true;
        } else {
            self.bus.next = self.target.q.val();
            self.bytes.next = self.chunk.q.val();
            self.last.next = self.final_chunk.q.val();
        }
        self.remaining_next.next = self.remaining.q.val() - bit_cast::<32, 10>(self.chunk.q.val());

        match self.state.q.val() {
            SegmentState::Idle => {
                if self.valid.val() & self.enable.val() {
                    self.pop.next = true;
                    self.peer.d.next = bit_cast::<37, 32>(self.peer_low.val())
                        | (bit_cast::<37, 5>(self.peer_high.val().get_bits::<5>(0)) << 32);
                    self.page_size.d.next = self.peer_high.val().get_bits::<2>(30);
                    self.local_at.d.next = bit_cast::<40, 32>(self.local_low.val())
                        | (bit_cast::<40, 8>(self.local_high.val().get_bits::<8>(0)) << 32);
                    self.remaining.d.next = self.length.val();
                    self.flags.d.next = self.control.val().get_bits::<3>(0);
                    self.cookie_at.d.next = self.cookie.val();
                    // Reserved bits, a port other than memory, a page size that does not exist.
                    self.malformed.d.next = self.peer_high.val().get_bits::<25>(5).any()
                        | self.peer_high.val().get_bits::<2>(30).all()
                        | self.local_high.val().get_bits::<24>(8).any()
                        | self.control.val().get_bits::<29>(3).any();
                    self.state.d.next = SegmentState::Size;
                }
            }
            SegmentState::Size => {
                if self.remaining.q.val() <= bit_cast::<32, 10>(self.to_edge.val()) {
                    self.chunk.d.next = self.remaining.q.val().get_bits::<10>(0);
                    self.final_chunk.d.next = true;
                    if self.ragged.val() {
                        self.chunk.d.next =
                            self.remaining.q.val().get_bits::<10>(0) & !self.offset_mask.val();
                        self.final_chunk.d.next = false;
                    }
                } else {
                    self.chunk.d.next = self.to_edge.val();
                    self.final_chunk.d.next = false;
                }
                self.out_of_memory.d.next = !self.remaining.q.val().any()
                    | (self.local_end.val() > self.memory_bytes.val());
                self.entry_index.d.next = self.page_number.val().get_bits::<16>(0);
                self.out_of_table.d.next = self.page_number.val() >= self.entries.val();
                self.state.d.next = SegmentState::Lookup;
            }
            SegmentState::Lookup => {
                self.ask.next = true;
                if self.answer.val() {
                    self.invalid.d.next = !self.entry.val().get_bit(0);
                    self.readable.d.next = self.entry.val().get_bit(1);
                    self.not_permitted.d.next =
                        !(self.entry.val().get_bits::<2>(1) & self.permission.val()).any();
                    self.wrong_size.d.next =
                        self.entry.val().get_bits::<2>(3) != self.page_size.q.val();
                    self.not_owner.d.next =
                        !(self.entry.val().get_bits::<8>(5) & self.owner_bit.val()).any();
                    self.target.d.next = (bit_cast::<64, 52>(self.entry.val().get_bits::<52>(13))
                        << 12)
                        | bit_cast::<64, 12>(self.peer.q.val().get_bits::<12>(0));
                    if self.page_size.q.val() == 1 {
                        self.target.d.next =
                            (bit_cast::<64, 48>(self.entry.val().get_bits::<48>(17)) << 16)
                                | bit_cast::<64, 16>(self.peer.q.val().get_bits::<16>(0));
                    }
                    if self.page_size.q.val() == 2 {
                        self.target.d.next =
                            (bit_cast::<64, 43>(self.entry.val().get_bits::<43>(22)) << 21)
                                | bit_cast::<64, 21>(self.peer.q.val().get_bits::<21>(0));
                    }
                    self.state.d.next = SegmentState::Issue;
                }
            }
            SegmentState::Issue => {
                self.request.next = true;
                if self.accept.val() {
                    self.peer.d.next = self.peer.q.val() + bit_cast::<37, 10>(self.chunk.q.val());
                    self.local_at.d.next =
                        self.local_at.q.val() + bit_cast::<40, 10>(self.chunk.q.val());
                    self.remaining.d.next = self.remaining_next.val();
                    if self.final_chunk.q.val() | self.verdict.val().any() {
                        self.state.d.next = SegmentState::Idle;
                    } else {
                        self.state.d.next = SegmentState::Size;
                    }
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = SegmentState::Idle;
        }
    }
}
