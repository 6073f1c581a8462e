//! The library against a functional fake of the block's registers (see `fake`). The
//! real RTL is in `rtl.rs`.

mod device;
mod fake;
mod queue;
mod store;
