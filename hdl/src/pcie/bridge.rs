//! The bridge from the bus with the host's requests to the block's own slaves and to the rest of the board.
//!
//! The bus has 64 bits and bursts. The block's slaves have 32 bits, take one word a cycle and never make their master
//! wait. So a beat becomes one access for each half of which a byte is enabled, the low half first. A request to an
//! address of none of the slaves goes out unchanged at `board`.
//!
//! A read of a slave waits until the board owes no data, because data come to the bus in order. A write of a slave
//! waits only for the requests before it on the bus. When the bus is given up, a waiting read is taken all the same:
//! then only the amount of data on the bus counts, not its value. So a board that does not answer holds up doorbells,
//! and the writes by which a driver ends such a state, only until the bus is given up, and not at all if no slave is
//! read in that time.

use crate::params::Slaves;
pub use crate::params::{CSR_LOG2, MSIX_LOG2};
use crate::prim::{Part, parts};
use crate::rtl::ports::RegisterMaster;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The slaves' bytes, as powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Channel pages, 12 to 18.
    pub chan_log2: u32,
    /// Address translation table, 11 to 19.
    pub att_log2: u32,
}

/// The bridge.
#[derive(DocBlock)]
pub struct Bridge {
    pub pcie_clk: Signal<In, Clock>,
    pub link_reset: Signal<In, Bit>,
    /// The bus, as [`super::target`] is its master.
    pub host_address: Signal<In, Bits<32>>,
    pub host_burstcount: Signal<In, Bits<6>>,
    pub host_read: Signal<In, Bit>,
    pub host_write: Signal<In, Bit>,
    pub host_writedata: Signal<In, Bits<64>>,
    pub host_byteenable: Signal<In, Bits<8>>,
    pub host_waitrequest: Signal<Out, Bit>,
    pub host_readdata: Signal<Out, Bits<64>>,
    pub host_readdatavalid: Signal<Out, Bit>,
    /// The bus is given up: data on it are counted and dropped.
    pub host_down: Signal<In, Bit>,
    /// The block's slaves. The registers bring data two cycles after a read, the others one cycle after it.
    pub csr: RegisterMaster<8>,
    pub chan: RegisterMaster<16>,
    pub att: RegisterMaster<17>,
    pub msix: RegisterMaster<10>,
    /// Requests of the host for the rest of the board: an Avalon-MM master of 64 bits, with byte addresses within the
    /// BAR. A burst does not cross 256 bytes. It is reset with this block.
    pub board_address: Signal<Out, Bits<32>>,
    pub board_burstcount: Signal<Out, Bits<6>>,
    pub board_read: Signal<Out, Bit>,
    pub board_write: Signal<Out, Bit>,
    pub board_writedata: Signal<Out, Bits<64>>,
    pub board_byteenable: Signal<Out, Bits<8>>,
    pub board_waitrequest: Signal<In, Bit>,
    pub board_readdata: Signal<In, Bits<64>>,
    pub board_readdatavalid: Signal<In, Bit>,

    /// A beat is under way at a slave: the slave, its bytes that are still to come, and the later beats of the read.
    busy: DFF<Bit>,
    reads: DFF<Bit>,
    at_csr: DFF<Bit>,
    at_chan: DFF<Bit>,
    at_att: DFF<Bit>,
    at_msix: DFF<Bit>,
    place: DFF<Bits<32>>,
    word: DFF<Bits<64>>,
    enable: DFF<Bits<8>>,
    left: DFF<Bits<6>>,
    /// Beats of a write that are still to come, and the address of the next.
    write_left: DFF<Bits<6>>,
    write_at: DFF<Bits<32>>,
    /// Cycles since a slave was asked to read.
    phase: DFF<Bits<2>>,
    early: DFF<Bits<32>>,
    low: DFF<Bits<32>>,
    /// Beats that the board owes.
    owed: DFF<Bits<12>>,

    hits_csr: Signal<Local, Bit>,
    hits_chan: Signal<Local, Bit>,
    hits_att: Signal<Local, Bit>,
    hits_msix: Signal<Local, Bit>,
    hits: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    high: Signal<Local, Bit>,
    half_enable: Signal<Local, Bits<4>>,
    half_data: Signal<Local, Bits<32>>,
    half_at: Signal<Local, Bits<32>>,
    rest: Signal<Local, Bits<8>>,
    writes: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    brings: Signal<Local, Bit>,
    over: Signal<Local, Bit>,
    value: Signal<Local, Bits<32>>,
    board_hit: Signal<Local, Bit>,
    board_brings: Signal<Local, Bit>,
    new_owed: Signal<Local, Bits<12>>,

    csr_base: Constant<Bits<32>>,
    csr_inside: Constant<Bits<32>>,
    chan_base: Constant<Bits<32>>,
    chan_inside: Constant<Bits<32>>,
    att_base: Constant<Bits<32>>,
    att_inside: Constant<Bits<32>>,
    msix_base: Constant<Bits<32>>,
    msix_inside: Constant<Bits<32>>,
    has_msix: Constant<Bits<1>>,
}

impl Bridge {
    /// A bridge to slaves of these sizes at these places, each a multiple of its size.
    pub fn new(slaves: &Slaves, sizes: Sizes) -> Self {
        let base = |at: u64| Constant::new(at.into());
        let inside = |log2: u32| Constant::new(((1u64 << log2) - 1).into());
        Self::fresh(BridgeGiven {
            csr_base: base(slaves.csr),
            csr_inside: inside(CSR_LOG2),
            chan_base: base(slaves.chan),
            chan_inside: inside(sizes.chan_log2),
            att_base: base(slaves.att),
            att_inside: inside(sizes.att_log2),
            msix_base: base(slaves.msix.unwrap_or(0)),
            msix_inside: inside(MSIX_LOG2),
            has_msix: Constant::new(u64::from(slaves.msix.is_some()).into()),
        })
    }
}

impl Logic for Bridge {
    parts!(Serving, Taking, Passing);
}

/// The accesses of the beat under way, and the data that they bring.
struct Serving;

impl Part<Serving> for Bridge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, busy, reads, at_csr, at_chan, at_att, at_msix, place, word, enable,
            left, write_left, write_at, phase, early, low, owed
        );
        self.high.next = !self.enable.q.val().get_bits::<4>(0).any();
        self.half_enable.next = self.enable.q.val().get_bits::<4>(0);
        self.half_data.next = self.word.q.val().get_bits::<32>(0);
        self.half_at.next = self.place.q.val() >> 2;
        self.rest.next = (self.enable.q.val() >> 4) << 4;
        if self.high.val() {
            self.half_enable.next = self.enable.q.val().get_bits::<4>(4);
            self.half_data.next = self.word.q.val().get_bits::<32>(32);
            self.half_at.next = (self.place.q.val() >> 2) | 1;
            self.rest.next = 0.into();
        }
        self.writes.next = self.busy.q.val() & !self.reads.q.val() & self.half_enable.val().any();
        self.asks.next = self.busy.q.val()
            & self.reads.q.val()
            & !self.phase.q.val().any()
            & self.half_enable.val().any();
        self.board_brings.next = self.board_readdatavalid.val() & self.owed.q.val().any();
        // A beat without a byte is over at once. A beat that the board brings goes first: then the bus was given up.
        self.ends.next = self.busy.q.val()
            & (!self.reads.q.val()
                | (((self.phase.q.val() == 2) | !self.enable.q.val().any())
                    & !self.board_brings.val()));
        self.brings.next = self.ends.val() & self.reads.q.val() & !self.rest.val().any();
        self.over.next = self.ends.val()
            & !self.rest.val().any()
            & (!self.reads.q.val() | (self.left.q.val() == 1));

        self.early.d.next = 0.into();
        if self.at_chan.q.val() {
            self.early.d.next = self.chan.readdata.val();
        }
        if self.at_att.q.val() {
            self.early.d.next = self.att.readdata.val();
        }
        if self.at_msix.q.val() {
            self.early.d.next = self.msix.readdata.val();
        }
        self.value.next = self.early.q.val();
        if self.at_csr.q.val() {
            self.value.next = self.csr.readdata.val();
        }
        if self.ends.val() {
            self.low.d.next = self.value.val();
        }

        self.csr.address.next =
            bit_cast::<8, 32>(self.half_at.val() & (self.csr_inside.val() >> 2));
        self.csr.read.next = self.asks.val() & self.at_csr.q.val();
        self.csr.write.next = self.writes.val() & self.at_csr.q.val();
        self.csr.writedata.next = self.half_data.val();
        self.csr.byteenable.next = self.half_enable.val();
        self.chan.address.next =
            bit_cast::<16, 32>(self.half_at.val() & (self.chan_inside.val() >> 2));
        self.chan.read.next = self.asks.val() & self.at_chan.q.val();
        self.chan.write.next = self.writes.val() & self.at_chan.q.val();
        self.chan.writedata.next = self.half_data.val();
        self.chan.byteenable.next = self.half_enable.val();
        self.att.address.next =
            bit_cast::<17, 32>(self.half_at.val() & (self.att_inside.val() >> 2));
        self.att.read.next = self.asks.val() & self.at_att.q.val();
        self.att.write.next = self.writes.val() & self.at_att.q.val();
        self.att.writedata.next = self.half_data.val();
        self.att.byteenable.next = self.half_enable.val();
        self.msix.address.next =
            bit_cast::<10, 32>(self.half_at.val() & (self.msix_inside.val() >> 2));
        self.msix.read.next = self.asks.val() & self.at_msix.q.val();
        self.msix.write.next = self.writes.val() & self.at_msix.q.val();
        self.msix.writedata.next = self.half_data.val();
        self.msix.byteenable.next = self.half_enable.val();
    }
}

/// Takes requests from the bus.
struct Taking;

impl Part<Taking> for Bridge {
    #[hdl_gen]
    fn update(&mut self) {
        self.hits_csr.next =
            (self.host_address.val() & !self.csr_inside.val()) == self.csr_base.val();
        self.hits_chan.next =
            (self.host_address.val() & !self.chan_inside.val()) == self.chan_base.val();
        self.hits_att.next =
            (self.host_address.val() & !self.att_inside.val()) == self.att_base.val();
        self.hits_msix.next = ((self.host_address.val() & !self.msix_inside.val())
            == self.msix_base.val())
            & self.has_msix.val().any();
        self.hits.next =
            self.hits_csr.val() | self.hits_chan.val() | self.hits_att.val() | self.hits_msix.val();
        self.may.next = (!self.busy.q.val() | self.over.val())
            & (self.host_write.val() | !self.owed.q.val().any() | self.host_down.val());
        self.takes.next =
            (self.host_read.val() | self.host_write.val()) & self.hits.val() & self.may.val();

        if self.over.val() {
            self.busy.d.next = false;
        }
        if self.takes.val() {
            self.busy.d.next = true;
            self.reads.d.next = self.host_read.val();
            self.at_csr.d.next = self.hits_csr.val();
            self.at_chan.d.next = self.hits_chan.val();
            self.at_att.d.next = self.hits_att.val();
            self.at_msix.d.next = self.hits_msix.val();
            self.place.d.next = self.host_address.val();
            self.word.d.next = self.host_writedata.val();
            self.enable.d.next = self.host_byteenable.val();
            self.left.d.next = self.host_burstcount.val();
            self.phase.d.next = 0.into();
            if self.host_write.val() {
                self.write_left.d.next = self.host_burstcount.val() - 1;
                self.write_at.d.next = self.host_address.val() + 8;
                if self.write_left.q.val().any() {
                    self.place.d.next = self.write_at.q.val();
                    self.write_left.d.next = self.write_left.q.val() - 1;
                    self.write_at.d.next = self.write_at.q.val() + 8;
                }
            }
        } else if self.ends.val() {
            self.enable.d.next = self.rest.val();
            self.phase.d.next = 0.into();
            if self.brings.val() {
                self.place.d.next = self.place.q.val() + 8;
                self.enable.d.next = 0xFF.into();
                self.left.d.next = self.left.q.val() - 1;
            }
        } else if self.reads.q.val() & (self.phase.q.val() != 2) {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        if self.link_reset.val() {
            self.busy.d.next = false;
            self.write_left.d.next = 0.into();
        }
    }
}

/// Passes requests on to the board, and all data back.
struct Passing;

impl Part<Passing> for Bridge {
    #[hdl_gen]
    fn update(&mut self) {
        // Data of the slaves come after data that the board was asked for before, and data of the board after those of
        // the slaves.
        self.board_hit.next = !self.hits.val() & !self.busy.q.val();
        self.board_address.next = self.host_address.val();
        self.board_burstcount.next = self.host_burstcount.val();
        self.board_read.next = self.host_read.val() & self.board_hit.val();
        self.board_write.next = self.host_write.val() & self.board_hit.val();
        self.board_writedata.next = self.host_writedata.val();
        self.board_byteenable.next = self.host_byteenable.val();
        self.host_waitrequest.next = !self.may.val();
        if !self.hits.val() {
            self.host_waitrequest.next = self.busy.q.val() | self.board_waitrequest.val();
        }

        self.new_owed.next = self.owed.q.val() - bit_cast::<12, 1>(self.board_brings.val().into());
        self.owed.d.next = self.new_owed.val();
        if self.board_read.val() & !self.board_waitrequest.val() {
            self.owed.d.next = self.new_owed.val() + bit_cast::<12, 6>(self.host_burstcount.val());
        }
        self.host_readdatavalid.next = self.brings.val() | self.board_brings.val();
        self.host_readdata.next = self.board_readdata.val();
        if self.brings.val() {
            self.host_readdata.next =
                bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.value.val()) << 32);
            if !self.high.val() {
                self.host_readdata.next = bit_cast::<64, 32>(self.value.val());
            }
        }
        if self.link_reset.val() {
            self.owed.d.next = 0.into();
        }
    }
}
