//! The library against a functional fake of the block's registers (see `fake`). The
//! real RTL is in `rtl`.

mod channels;
mod common;
mod device;
mod fake;
mod lifetime;
mod queue;
mod store;
