//! Words that wait in a FIFO or a memory of the transaction layer: one struct each.

use crate::prim::words;
use rust_hdl::prelude::*;

words! {
    /// A posted write whose beats are all there.
    struct PostHead {
        /// Bits 63:2 of the first dword's address.
        address: Bits<62>,
        /// Dwords of payload, 1 to 128.
        dwords: Bits<8>,
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

    /// What a read that was sent is to bring.
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
}
