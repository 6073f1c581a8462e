//! The DMA block. Data flows: [`queue`] → [`segment`] (with [`att`]) → [`write_path`] or [`read_path`] → a port adapter
//! ([`txs`], or [`stream`] with its [`flushes`], both with a [`poster`]); ends of descriptors go to [`complete`] and
//! from there to [`interrupts`]. [`channels`] holds the driver's settings of each channel, [`room`] counts the slots of
//! its ring, [`fence`] watches a change of the ATT, [`counters`] counts. [`engine`] joins all but the adapter.
//! [`ports`] has the bundles of ports between the parts, [`status`] the codes with which descriptors end.

use peerlane_language::Bits;

pub mod align;
pub mod att;
pub mod channels;
pub mod complete;
pub mod counters;
pub mod engine;
pub mod fence;
pub mod flushes;
pub mod interrupts;
pub mod lane_fifo;
pub mod ports;
pub mod poster;
pub mod queue;
pub mod read_path;
pub mod receive;
pub mod room;
pub mod segment;
pub mod status;
pub mod stream;
pub mod txs;
pub mod words;
pub mod write_path;

/// One bit for each of `2^log2` channels, of the 64 that vectors have room for. Masking with it lets
/// synthesis drop the rest.
fn channel_mask(log2: usize) -> Bits<64> {
    Bits::<64>::mask() >> (64 - (1u64 << log2))
}
