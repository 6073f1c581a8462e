//! Words that cross a FIFO, wait in a register for it, or are in a memory: one struct each.

use crate::prim::words;
use peerlane_language::*;

words! {
    /// A read of FPGA memory.
    struct MemoryRead {
        /// Number of the first 512-bit word.
        word: Bits<34>,
        words: Bits<4>,
    }

    /// A job of the realigner of the write direction.
    struct WriteJob {
        /// Lane of the first byte in the first beat.
        source: Bits<5>,
        /// Lane that it goes to.
        target: Bits<5>,
        bytes: Bits<10>,
        /// Beat of the memory word that is the first.
        start: Bits<2>,
    }

    /// A write request, from its acceptance to its end.
    struct Head {
        /// Bus address; of a fault its ATT address.
        bus: Bits<64>,
        beats: Bits<6>,
        bytes: Bits<10>,
        /// The fault, a status code.
        code: Bits<5>,
        /// The last of its descriptor.
        last: Bit,
        want_record: Bit,
        want_irq: Bit,
        /// The descriptor's cookie.
        tag: Bits<32>,
        may_flush: Bit,
        urgent: Bit,
        channel: Bits<6>,
        /// It has data.
        real: Bit,
        /// They are a stream's.
        stream: Bit,
    }

    /// How far a channel's write descriptor has come.
    struct Sent {
        /// Bytes that have left.
        bytes: Bits<32>,
        /// A burst was lost at a dead port; later ones do not count.
        lost: Bit,
    }

    /// The end of a write descriptor, which may wait for its flush read.
    struct WriteEnd {
        code: Bits<5>,
        irq: Bit,
        /// A flush read reports that its data have arrived.
        flush: Bit,
        /// The descriptor's cookie.
        tag: Bits<32>,
        bytes: Bits<32>,
        /// Address of a fault.
        fault: Bits<64>,
        /// It is reported, and not only counted.
        reports: Bit,
        urgent: Bit,
        channel: Bits<6>,
    }

    /// A read that waits for the port.
    struct ReadNext {
        address: Bits<64>,
        beats: Bits<6>,
        bytes: Bits<10>,
        tag: Bits<6>,
    }

    /// A read request that has not retired.
    struct Note {
        att_address: Bits<40>,
        bytes: Bits<10>,
        /// Of a request without data, its status code.
        code: Bits<5>,
        /// The last of its descriptor.
        last: Bit,
        want_record: Bit,
        want_irq: Bit,
        /// The descriptor's cookie.
        tag: Bits<32>,
        channel: Bits<6>,
        /// Tag at the port.
        read_tag: Bits<6>,
        /// Distinguishes the channel's descriptors.
        descriptor: Bits<6>,
        urgent: Bit,
        /// It has data.
        real: Bit,
        /// They go to a stream, of this number.
        streams: Bit,
        stream: Bits<4>,
    }

    /// The first failure of a channel's descriptor; code 0: none.
    struct Failure {
        code: Bits<5>,
        att_address: Bits<40>,
    }

    /// Bytes of a read that the port brings.
    struct Chunk {
        tag: Bits<6>,
        bytes: Bits<10>,
        /// With a status code it brings none, and ends its read.
        code: Bits<5>,
    }

    /// Where the next chunk of a read belongs.
    struct Place {
        /// Byte address in FPGA memory.
        local: Bits<40>,
        /// Lane of its first byte at the port.
        lane: Bits<5>,
        /// Bytes of the read that have not come.
        left: Bits<10>,
    }

    /// A job of the realigner of the read direction.
    struct ReadJob {
        source: Bits<5>,
        target: Bits<5>,
        bytes: Bits<10>,
    }

    /// A chunk on its way into memory words.
    struct Pack {
        /// Number of the first 512-bit word.
        word: Bits<34>,
        /// Beat of the word that is the first.
        lane: Bits<2>,
        tag: Bits<6>,
        /// The last of its read.
        last: Bit,
        code: Bits<5>,
        /// It has no data.
        bare: Bit,
    }

    /// A write to FPGA memory, and the report when it is done.
    struct MemoryWrite {
        /// Number of the first 512-bit word.
        word: Bits<34>,
        words: Bits<4>,
        tag: Bits<6>,
        code: Bits<5>,
        /// The read is over with it.
        reports: Bit,
        /// No words.
        bare: Bit,
        /// One word.
        single: Bit,
    }

    /// A read that is over.
    struct Written {
        tag: Bits<6>,
        code: Bits<5>,
    }

    /// A read of the `Txs` port that is under way.
    struct TxsRead {
        /// Its beats, less two.
        beats_less_two: Bits<6>,
        bytes: Bits<10>,
        tag: Bits<6>,
        flush: Bit,
        /// It has one beat.
        single: Bit,
    }

    /// A read of a tagged port, in the order of requests.
    struct ReadTurn {
        tag: Bits<6>,
        /// When it left.
        time: Bits<32>,
    }

    /// The bytes that a read of a tagged port is to bring.
    struct ReadSize {
        bytes: Bits<10>,
        /// Lane of its first byte.
        lane: Bits<5>,
    }

    /// A flush read of a tagged port, in the order of requests.
    struct FlushTurn {
        tag: Bits<3>,
        /// When it left.
        time: Bits<32>,
    }

    /// An entry of the address translation table.
    struct AttEntry {
        valid: Bit,
        /// Bit 0: the board may read there, bit 1: write.
        permits: Bits<2>,
        page_size: Bits<2>,
        /// Bits 63:12 of the bus address.
        address: Bits<52>,
        /// One bit for each channel that it belongs to.
        owner: Bits<64>,
    }

    /// Slots of a channel's ring.
    struct Slots {
        /// Slots left before the last doorbell took one.
        free: Bits<16>,
        /// The last doorbell took one.
        taken: Bit,
    }

    /// The state of a channel in the middle of a descriptor.
    struct Saved {
        peer: Bits<38>,
        local: Bits<40>,
        remaining: Bits<32>,
        /// The descriptor's cookie.
        cookie: Bits<32>,
        page_size: Bits<2>,
        /// Bits 3:0 of the descriptor's control.
        flags: Bits<4>,
        /// Distinguishes the channel's descriptors.
        number: Bits<6>,
        /// Its FPGA side is a stream, of this number.
        streams: Bit,
        stream: Bits<4>,
    }
}
