//! The DMA block. Data flows: [`queue`] → [`segment`] (with [`att`]) → [`write_path`] or [`read_path`]
//! → [`txs`]; ends of descriptors go to [`complete`]. [`top`] joins them.

pub mod align;
pub mod att;
pub mod complete;
pub mod counter;
pub mod lane_fifo;
pub mod queue;
pub mod read_path;
pub mod segment;
pub mod top;
pub mod txs;
pub mod write_path;
