//! From the read path to the streams: words that are a stream's go to its buffer, and not to FPGA memory.

use super::hub::Hub;
use super::ports::UnitHub;
use crate::prim::{Part, parts};
use crate::rtl::ports::{FlowSink, MemoryWriteMaster, MemoryWriteSlave, OutflowHub, SettingsHub};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The part that all outputs share.
#[derive(DocBlock)]
pub struct Outflow {
    pub pcie_clk: Signal<In, Clock>,
    /// The engine.
    pub outputs: SettingsHub,
    pub read_flow: FlowSink,
    pub outflow: OutflowHub,
    /// Writes of the engine, and those of them that are for FPGA memory; in the clock of FPGA memory.
    pub engine_mem_wr: MemoryWriteSlave,
    pub mem_wr: MemoryWriteMaster,
    /// The streams; see [`super::output::Output`].
    pub unit_out: UnitHub,
    pub unit_out_place: Signal<In, Bits<9>>,
    pub unit_out_retired: Signal<Out, Bit>,
    pub unit_out_of: Signal<Out, Bits<4>>,
    pub unit_out_from: Signal<Out, Bits<6>>,
    pub unit_out_moved: Signal<Out, Bits<10>>,
    pub unit_out_last: Signal<Out, Bit>,
    pub unit_out_failed: Signal<Out, Bit>,
    pub unit_out_write: Signal<Out, Bit>,
    pub unit_out_to: Signal<Out, Bits<4>>,
    pub unit_out_address: Signal<Out, Bits<9>>,
    pub unit_out_dwords: Signal<Out, Bits<16>>,
    pub unit_out_data: Signal<Out, Bits<512>>,

    #[given]
    hub: Hub,
    retired: DFF<Bit>,
    of: DFF<Bits<4>>,
    from: DFF<Bits<6>>,
    moved: DFF<Bits<10>>,
    last: DFF<Bit>,
    failed: DFF<Bit>,
    is_stream: Signal<Local, Bit>,
}

impl Outflow {
    /// The part of a build with so many streams.
    pub fn new(streams: usize) -> Self {
        Self::fresh(OutflowGiven {
            hub: Hub::new(streams, true),
        })
    }
}

impl Logic for Outflow {
    parts!(Requests, Writes);
}

/// Registers, the answers to the request maker, and the requests that retire.
struct Requests;

/// The words.
struct Writes;

impl Part<Requests> for Outflow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, pcie_clk, retired, of, from, moved, last, failed);
        clock!(self, pcie_clk, hub);
        SettingsHub::link(&mut self.outputs, &mut self.hub.settings);
        FlowSink::link(&mut self.read_flow, &mut self.hub.flow);
        UnitHub::link(&mut self.unit_out, &mut self.hub.unit);
        self.hub.sealed.next = false;
        self.hub.place.next = self.unit_out_place.val();
        self.retired.d.next = self.outflow.retired.val() & !self.hub.clear.val();
        self.of.d.next = self.outflow.number.val();
        self.from.d.next = self.outflow.channel.val();
        self.moved.d.next = self.outflow.bytes.val();
        self.last.d.next = self.outflow.last.val();
        self.failed.d.next = self.outflow.failed.val();
        self.unit_out_retired.next = self.retired.q.val();
        self.unit_out_of.next = self.of.q.val();
        self.unit_out_from.next = self.from.q.val();
        self.unit_out_moved.next = self.moved.q.val();
        self.unit_out_last.next = self.last.q.val();
        self.unit_out_failed.next = self.failed.q.val();
    }
}

impl Part<Writes> for Outflow {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_stream.next = self.engine_mem_wr.address.val().get_bit(39);
        self.mem_wr.address.next = self.engine_mem_wr.address.val();
        self.mem_wr.burstcount.next = self.engine_mem_wr.burstcount.val();
        self.mem_wr.writedata.next = self.engine_mem_wr.writedata.val();
        self.mem_wr.byteenable.next = self.engine_mem_wr.byteenable.val();
        self.mem_wr.write.next = self.engine_mem_wr.write.val() & !self.is_stream.val();
        self.engine_mem_wr.waitrequest.next = self.mem_wr.waitrequest.val() & !self.is_stream.val();
        // Without a register: the word must be in the buffer when its request retires.
        self.unit_out_write.next = self.engine_mem_wr.write.val() & self.is_stream.val();
        self.unit_out_to.next = self.engine_mem_wr.address.val().get_bits::<4>(16);
        self.unit_out_address.next = self.engine_mem_wr.address.val().get_bits::<9>(6)
            + bit_cast::<9, 4>(self.outflow.beat.val());
        self.unit_out_data.next = self.engine_mem_wr.writedata.val();
        // Chunks begin at whole dwords. Bytes of a packet's last dword that are not the packet's have no meaning.
        self.unit_out_dwords.next =
            bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(0))
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(4)) << 1)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(8)) << 2)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(12)) << 3)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(16)) << 4)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(20)) << 5)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(24)) << 6)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(28)) << 7)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(32)) << 8)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(36)) << 9)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(40)) << 10)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(44)) << 11)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(48)) << 12)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(52)) << 13)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(56)) << 14)
                | (bit_cast::<16, 1>(self.engine_mem_wr.byteenable.val().get_bits::<1>(60)) << 15);
    }
}
