//! Words that wait in a FIFO or a memory of the transaction layer: one struct each.

use crate::prim::words;
use peerlane_language::*;

words! {
    /// A posted write whose beats are all there.
    struct PostHead {
        /// Bits 63:2 of the first dword's address.
        address: Bits<62>,
        /// Dwords of payload, 1 to 128.
        dwords: Bits<8>,
        /// Credits of data.
        units: Bits<6>,
        /// Byte enables of the first and of the last dword; the last's are 0 if there is one dword.
        first: Bits<4>,
        last: Bits<4>,
        /// Beats of the packet, the header's included.
        beats: Bits<6>,
        /// Qwords of the last beat that are empty.
        empty: Bits<2>,
    }

    /// A read that waits.
    struct AskWord {
        address: Bits<64>,
        bytes: Bits<10>,
        /// The engine's tag.
        name: Bits<7>,
        /// Posted packets that were accepted before it, modulo 2^32.
        stamp: Bits<32>,
    }

    /// A read request, ready to leave.
    struct AskHead {
        /// Bits 63:2 of the first dword's address.
        address: Bits<62>,
        /// Dwords, 1 to 128.
        dwords: Bits<8>,
        /// Byte enables of the first and of the last dword; the last's are 0 if there is one dword.
        first: Bits<4>,
        last: Bits<4>,
        tag: Bits<6>,
    }

    /// The completion that a read is to bring.
    struct Sent {
        /// The engine's tag.
        tag: Bits<7>,
        bytes: Bits<10>,
        /// Low bits of the address of its first byte.
        at: Bits<7>,
    }

    /// How far a read has come.
    struct Progress {
        /// Bytes that have not come.
        left: Bits<10>,
        /// Low bits of the address of the first of them.
        at: Bits<7>,
    }

    /// A request of the host's that wants an answer.
    struct Request {
        /// Bits 31:2 of the first dword's address, within the BARs.
        address: Bits<30>,
        /// Dwords; 0 stands for 1024.
        dwords: Bits<10>,
        /// Byte enables of the first and of the last dword; the last's are 0 if there is one dword.
        first: Bits<4>,
        last: Bits<4>,
        requester: Bits<16>,
        tag: Bits<8>,
        /// Traffic class.
        class: Bits<3>,
        /// ID-based ordering, relaxed ordering, no snoop, from the top.
        attributes: Bits<3>,
        /// It is a read of memory; and one that a BAR claims.
        is_read: Bit,
        claimed: Bit,
    }

    /// A completion that is to be made.
    struct Piece {
        requester: Bits<16>,
        tag: Bits<8>,
        class: Bits<3>,
        attributes: Bits<3>,
        /// Bytes that the request waits for, those of this completion included; 0 stands for 4096.
        count: Bits<12>,
        /// Low bits of the address of its first byte.
        lower: Bits<7>,
        /// Dwords and qwords of data, 1 to 64 and 1 to 32.
        dwords: Bits<7>,
        qwords: Bits<6>,
        /// Beats of the packet, and qwords of the last one that are empty.
        beats: Bits<6>,
        empty: Bits<2>,
        /// The first of its request.
        opens: Bit,
        /// Where its data come from: [`super::target::replies::BUS`] and so on.
        source: Bits<2>,
        /// It is one qword.
        single: Bit,
    }

    /// A completion whose beats are all there.
    struct ReplyHead {
        requester: Bits<16>,
        tag: Bits<8>,
        class: Bits<3>,
        attributes: Bits<3>,
        /// Completion status: 0 success, 1 Unsupported Request, 4 Completer Abort.
        status: Bits<3>,
        count: Bits<12>,
        lower: Bits<7>,
        /// Dwords of data, 0 to 64, and their credits.
        dwords: Bits<7>,
        units: Bits<6>,
        beats: Bits<6>,
        empty: Bits<2>,
        /// The first beat has a header and no data, and is not stored.
        bare: Bit,
        /// Beats that were kept free for it.
        room: Bits<6>,
    }
}
