//! Building blocks that know nothing of DMA: memories, FIFOs, synchronisers.

mod async_fifo;
mod fifo;
mod forward_ram;
mod parts;
mod patience;
mod ram;
mod reset;
mod sync;
mod word;

pub use async_fifo::{AsyncFifo, AsyncPointers};
pub use fifo::{BlockFifo, SmallFifo};
pub use forward_ram::ForwardRam;
pub(crate) use parts::{Part, one_behind_the_other, parts};
pub use patience::{IMPATIENT, Patience};
pub use ram::{BlockRam, DwordRam, LaneRam, SmallRam};
pub use reset::{ResetAtOnce, ResetCopy, ResetStretch};
pub use sync::{BitSync, BusSync};
pub use word::Word;
pub(crate) use word::words;
