// SPDX-License-Identifier: GPL-2.0

//! The driver's logic, which knows nothing of Linux: the same files that `peerlane-core` is made
//! of and that are tested on the host.

#![allow(dead_code, reason = "the host library uses what the driver does not")]
#![allow(unreachable_pub, reason = "it is a crate of its own elsewhere")]

#[path = "../core/src/att.rs"]
pub(crate) mod att;
#[path = "../core/src/bits.rs"]
mod bits;
#[path = "../core/src/board.rs"]
pub(crate) mod board;
#[path = "../core/src/brake.rs"]
pub(crate) mod brake;
#[path = "../core/src/bus.rs"]
pub(crate) mod bus;
#[path = "../core/src/capability.rs"]
pub(crate) mod capability;
#[path = "../core/src/changes.rs"]
pub(crate) mod changes;
#[path = "../core/src/channel.rs"]
pub(crate) mod channel;
#[path = "../core/src/counters.rs"]
pub(crate) mod counters;
#[path = "../core/src/cvp.rs"]
pub(crate) mod cvp;
#[path = "../core/src/descriptor.rs"]
pub(crate) mod descriptor;
#[path = "../core/src/ends.rs"]
pub(crate) mod ends;
#[path = "../core/src/events.rs"]
pub(crate) mod events;
#[path = "../core/src/extent.rs"]
pub(crate) mod extent;
#[path = "../core/src/fault.rs"]
pub(crate) mod fault;
#[path = "../core/src/fences.rs"]
pub(crate) mod fences;
#[path = "../core/src/fpga_memory.rs"]
pub(crate) mod fpga_memory;
#[path = "../core/src/kept.rs"]
pub(crate) mod kept;
#[path = "../core/src/layout.rs"]
pub(crate) mod layout;
#[path = "../core/src/lifecycle.rs"]
pub(crate) mod lifecycle;
#[path = "../core/src/link.rs"]
pub(crate) mod link;
#[path = "../core/src/named.rs"]
pub(crate) mod named;
#[path = "../core/src/orders.rs"]
pub(crate) mod orders;
#[path = "../core/src/owners.rs"]
pub(crate) mod owners;
#[path = "../core/src/patience.rs"]
pub(crate) mod patience;
#[path = "../core/src/peers.rs"]
pub(crate) mod peers;
#[path = "../core/src/places.rs"]
pub(crate) mod places;
#[path = "../core/src/queue.rs"]
pub(crate) mod queue;
#[path = "../core/src/quota.rs"]
pub(crate) mod quota;
#[path = "../core/src/record.rs"]
pub(crate) mod record;
#[path = "../core/src/refusal.rs"]
pub(crate) mod refusal;
#[path = "../core/src/region.rs"]
pub(crate) mod region;
#[path = "../core/src/regs.rs"]
pub(crate) mod regs;
#[path = "../core/src/ring.rs"]
pub(crate) mod ring;
#[path = "../core/src/shell.rs"]
pub(crate) mod shell;
#[path = "../core/src/stage.rs"]
pub(crate) mod stage;
#[path = "../core/src/steps.rs"]
pub(crate) mod steps;
#[path = "../core/src/table.rs"]
pub(crate) mod table;
#[path = "../core/src/uapi.rs"]
pub(crate) mod uapi;
#[path = "../core/src/window.rs"]
pub(crate) mod window;
