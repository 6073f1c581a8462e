//! The bundles of ports that connect the parts of the block, and the block with its surroundings.
//!
//! Each is described here once, from the side that it is named for; [`bundle`] makes the other side of it. A part that
//! passes a bundle on links it, two parts are joined.

use peerlane_language::*;
use peerlane_verilog::bundle;

/// An Avalon-MM slave of 32 bits with `A` bits of word address, which never makes its master wait.
#[bundle(RegisterMaster)]
pub struct RegisterSlave<const A: usize> {
    pub address: Signal<In, Bits<A>>,
    pub read: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub writedata: Signal<In, Bits<32>>,
    pub byteenable: Signal<In, Bits<4>>,
    pub readdata: Signal<Out, Bits<32>>,
}

/// An Avalon-MM master of FPGA memory that reads in bursts.
#[bundle(MemoryReadSlave)]
pub struct MemoryReadMaster {
    /// Byte address of a 512-bit word.
    pub address: Signal<Out, Bits<40>>,
    pub read: Signal<Out, Bit>,
    pub burstcount: Signal<Out, Bits<5>>,
    pub waitrequest: Signal<In, Bit>,
    pub readdata: Signal<In, Bits<512>>,
    pub readdatavalid: Signal<In, Bit>,
}

/// An Avalon-MM master of FPGA memory that writes in bursts.
#[bundle(MemoryWriteSlave)]
pub struct MemoryWriteMaster {
    /// Byte address of a 512-bit word.
    pub address: Signal<Out, Bits<40>>,
    pub write: Signal<Out, Bit>,
    pub burstcount: Signal<Out, Bits<5>>,
    pub writedata: Signal<Out, Bits<512>>,
    pub byteenable: Signal<Out, Bits<64>>,
    pub waitrequest: Signal<In, Bit>,
}

/// An Avalon-MM master of 512 bits that reads and writes single words, with `A` bits of address.
#[bundle(WindowSlave)]
pub struct WindowMaster<const A: usize> {
    pub address: Signal<Out, Bits<A>>,
    pub read: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub writedata: Signal<Out, Bits<512>>,
    pub byteenable: Signal<Out, Bits<64>>,
    pub waitrequest: Signal<In, Bit>,
    pub readdata: Signal<In, Bits<512>>,
    pub readdatavalid: Signal<In, Bit>,
}

/// Write bursts for the PCIe port. Address and length stay while the beats come.
#[bundle(WriteSink)]
pub struct WriteSource<const W: usize, const B: usize> {
    /// A burst waits, or is under way.
    pub valid: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<64>>,
    pub beats: Signal<Out, Bits<6>>,
    /// Its next beat is there.
    pub beat: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    pub enable: Signal<Out, Bits<B>>,
    /// The beat is taken.
    pub take: Signal<In, Bit>,
    /// The last beat of the burst is taken in this cycle.
    pub done: Signal<In, Bit>,
}

/// Read requests for the PCIe port; each stays until taken.
#[bundle(ReadSink)]
pub struct ReadSource {
    pub valid: Signal<Out, Bit>,
    /// Byte address.
    pub address: Signal<Out, Bits<64>>,
    /// Beats that it touches.
    pub beats: Signal<Out, Bits<6>>,
    pub bytes: Signal<Out, Bits<10>>,
    pub tag: Signal<Out, Bits<6>>,
    pub take: Signal<In, Bit>,
}

/// Flush reads for the PCIe port, of one beat whose data are not used; each stays until taken.
#[bundle(FlushSink)]
pub struct FlushSource {
    pub valid: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<64>>,
    pub take: Signal<In, Bit>,
    /// The oldest that was taken is over, later than in that cycle.
    pub done: Signal<In, Bit>,
}

/// Single posted writes of `D` bits for the PCIe port, records and messages; each stays until taken.
#[bundle(PostSink)]
pub struct PostSource<const D: usize> {
    pub valid: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<64>>,
    pub data: Signal<Out, Bits<D>>,
    pub take: Signal<In, Bit>,
}

/// Answers to reads, from the PCIe port; never refused. A chunk says how many bytes of which read its beats bring; one
/// with a code brings none and ends its read.
#[bundle(AnswerSink)]
pub struct AnswerSource<const W: usize> {
    pub chunk: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<6>>,
    pub bytes: Signal<Out, Bits<10>>,
    pub code: Signal<Out, Bits<5>>,
    /// A beat, in the cycle of its chunk or later.
    pub beat: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// The beat and the later beats of its chunk have no data. Reported only in a read's last chunk.
    pub error: Signal<Out, Bit>,
}

/// The engine's settings of the adapter of the PCIe port, and the adapter's state.
#[bundle(PortAdapter)]
pub struct PortUser {
    /// With the bus: nothing is owed any more.
    pub reset: Signal<Out, Bit>,
    /// The engine is reset, the bus is not.
    pub clear: Signal<Out, Bit>,
    /// Cycles without an answer, or in which nothing is taken, until the port gives up; 0: any number.
    pub timeout: Signal<Out, Bits<32>>,
    /// Answers that are owed will not come any more.
    pub release: Signal<Out, Bit>,
    /// Bytes that the link carries in a cycle, in 1/256; 0: writes are not paced.
    pub pace: Signal<Out, Bits<16>>,
    /// A flush read that is over has failed.
    pub flush_error: Signal<In, Bit>,
    /// Tags that the port has written off and whose completion may still come.
    pub lost: Signal<In, Bits<64>>,
    /// Reads would not be answered now.
    pub reads_down: Signal<In, Bit>,
    pub quarantine: Signal<In, Bit>,
    /// The port is dead: it drops all that it takes.
    pub dead: Signal<In, Bit>,
    /// Nothing that was taken waits to go out.
    pub free: Signal<In, Bit>,
    /// All that the engine gave to the port before the last cycle has left, except for reads.
    pub sent: Signal<In, Bit>,
    /// A beat from before a reset of the engine is on the bus.
    pub rinses: Signal<In, Bit>,
    /// The same for reads.
    pub asked: Signal<In, Bit>,
    pub stalled: Signal<In, Bit>,
    pub stalled_tags: Signal<In, Bit>,
    /// 1: completions carry a status and come by tag.
    pub tagged: Signal<In, Bit>,
}

/// The oldest descriptor of a channel, from the queue of a direction to its request maker.
#[bundle(DescriptorSink)]
pub struct DescriptorSource {
    /// Channels with a descriptor that was not started.
    pub queued: Signal<Out, Bits<64>>,
    /// Channels that had none and get one in this cycle.
    pub awakened: Signal<Out, Bits<64>>,
    /// The channel that is asked for.
    pub select: Signal<In, Bits<6>>,
    /// Reads the oldest descriptor of `select`; it is there from the next cycle on.
    pub fetch: Signal<In, Bit>,
    /// Starts that descriptor.
    pub take: Signal<In, Bit>,
    pub peer_low: Signal<Out, Bits<32>>,
    pub peer_high: Signal<Out, Bits<32>>,
    pub local_low: Signal<Out, Bits<32>>,
    pub local_high: Signal<Out, Bits<32>>,
    pub length: Signal<Out, Bits<32>>,
    pub control: Signal<Out, Bits<32>>,
    pub cookie: Signal<Out, Bits<32>>,
    /// Number of the other direction's next descriptor, as this one was queued.
    pub stamp: Signal<Out, Bits<13>>,
    /// Number of the oldest descriptor of `select` that was not started.
    pub number: Signal<Out, Bits<13>>,
    /// Descriptors of `select` that have ended.
    pub ended: Signal<Out, Bits<13>>,
    /// One ends, in the cycle in which it is counted: chained descriptors of its channel are looked at again.
    pub end: Signal<Out, Bit>,
    pub end_channel: Signal<Out, Bits<6>>,
}

/// The stream of the descriptor that is served, from the request maker to the streams.
///
/// The answers of the streams belong to `number` and `channel` of the cycle before.
#[bundle(FlowSink)]
pub struct FlowSource {
    /// Number of the stream.
    pub number: Signal<Out, Bits<4>>,
    /// The channel that is served.
    pub channel: Signal<Out, Bits<6>>,
    /// The build has streams of this direction.
    pub exists: Signal<In, Bit>,
    /// The stream is open and belongs to the channel.
    pub granted: Signal<In, Bit>,
    /// Bytes that wait in the stream; of a stream from peers, bytes that it has room for.
    pub held: Signal<In, Bits<13>>,
    /// A block ends with them.
    pub sealed: Signal<In, Bit>,
    /// One cycle: a request of `bytes` leaves.
    pub claim: Signal<Out, Bit>,
    /// One cycle: a request of `bytes` waits until they are there.
    pub starves: Signal<Out, Bit>,
    pub bytes: Signal<Out, Bits<10>>,
    /// The descriptor ends with them.
    pub closes: Signal<Out, Bit>,
    /// One cycle: the descriptor ends with a request that fails.
    pub fails: Signal<Out, Bit>,
    /// Channels whose streams have the bytes that their descriptors wait for; one cycle each.
    pub wake: Signal<In, Bits<64>>,
    /// Where the data of a request go. With bit 39, it is a stream's: bits 19:16 are its number, 14:6 the number of a
    /// 64-byte word in its buffer. Bit 15 takes the carry of a request that goes on at the buffer's beginning.
    pub place: Signal<In, Bits<40>>,
}

/// The streams of a direction, from the engine: their registers.
#[bundle(SettingsHub)]
pub struct SettingsUser {
    /// Resets them.
    pub clear: Signal<Out, Bit>,
    /// Writes of STREAM_SELECT and STREAM_CONTROL, and the value of STREAM_STATUS; 0 if a stream of the other direction
    /// is selected.
    pub select_we: Signal<Out, Bit>,
    pub control_we: Signal<Out, Bit>,
    pub writedata: Signal<Out, Bits<32>>,
    pub open: Signal<In, Bit>,
    pub waiting: Signal<In, Bits<16>>,
    /// Streams of the build.
    pub count: Signal<In, Bits<5>>,
}

/// The data of streams to peers, from the engine.
#[bundle(InflowHub)]
pub struct InflowUser<const W: usize> {
    /// The beats of all requests, in their order.
    pub beat: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    pub take: Signal<Out, Bit>,
    /// The header of the oldest block that a request has closed.
    pub header: Signal<In, Bits<64>>,
    pub header_take: Signal<Out, Bit>,
}

/// Requests of streams from peers, from the engine. Their data are written as those of FPGA memory are.
#[bundle(OutflowHub)]
pub struct OutflowUser {
    /// A request has retired, in the order of requests. All of its data are written.
    pub retired: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<4>>,
    pub channel: Signal<Out, Bits<6>>,
    /// 0 if it had no data.
    pub bytes: Signal<Out, Bits<10>>,
    /// The last of its descriptor.
    pub last: Signal<Out, Bit>,
    /// It has failed, or an earlier one of its descriptor.
    pub failed: Signal<Out, Bit>,
    /// In the clock of FPGA memory: words of the burst that have been written.
    pub beat: Signal<Out, Bits<4>>,
}

/// A look-up in the address translation table: `ask` and the index are held until `answer`, one cycle, with the
/// entry.
#[bundle(LookUpSink)]
pub struct LookUpSource {
    pub ask: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<16>>,
    pub answer: Signal<In, Bit>,
}

/// Requests, from the request maker of a direction to its path; each stays until accepted.
#[bundle(RequestSink)]
pub struct RequestSource {
    pub valid: Signal<Out, Bit>,
    pub accept: Signal<In, Bit>,
    /// Bus address; of a faulting request its ATT address.
    pub bus: Signal<Out, Bits<64>>,
    /// Byte address in FPGA memory.
    pub local: Signal<Out, Bits<40>>,
    /// 1 to 512, 0 with a fault.
    pub bytes: Signal<Out, Bits<10>>,
    /// No fault; then `span` is the same as `bytes`.
    pub has_data: Signal<Out, Bit>,
    /// The bytes that it has, or would have.
    pub span: Signal<Out, Bits<10>>,
    /// Its data are a stream's; see [`FlowSource`] for `local`.
    pub stream: Signal<Out, Bit>,
    /// The last of its descriptor.
    pub last: Signal<Out, Bit>,
    /// The fault, a status code.
    pub code: Signal<Out, Bits<5>>,
    pub want_record: Signal<Out, Bit>,
    pub want_irq: Signal<Out, Bit>,
    pub urgent: Signal<Out, Bit>,
    /// The descriptor's cookie.
    pub tag: Signal<Out, Bits<32>>,
    pub channel: Signal<Out, Bits<6>>,
}

/// Ends of descriptors that are reported, from the path of a direction to the completer; all signals stay until
/// taken.
#[bundle(EndSink)]
pub struct EndSource {
    pub valid: Signal<Out, Bit>,
    /// A status code.
    pub code: Signal<Out, Bits<5>>,
    /// Bytes that were moved.
    pub bytes: Signal<Out, Bits<32>>,
    /// The descriptor's cookie.
    pub tag: Signal<Out, Bits<32>>,
    /// Address of a fault.
    pub fault: Signal<Out, Bits<64>>,
    pub irq: Signal<Out, Bit>,
    pub urgent: Signal<Out, Bit>,
    pub channel: Signal<Out, Bits<6>>,
    pub take: Signal<In, Bit>,
}
