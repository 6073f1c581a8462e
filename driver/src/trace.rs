// SPDX-License-Identifier: GPL-2.0

//! Trace events, `/sys/kernel/tracing/events/peerlane`. `trace.h` has the meaning of the events and their fields.

use crate::{
    board::Board,
    ffi::pci_dev,
    logic::{
        record::Record,
        region::Region,
        uapi::{Register, Wait},
    },
};
use kernel::{bindings, ffi::c_char, prelude::*, time::Delta};

#[allow(
    improper_ctypes,
    reason = "kernel structures hold empty ones in some configurations"
)]
extern "C" {
    fn peerlane_trace_open(board: *const bindings::pci_dev, channel: u32);
    fn peerlane_trace_close(board: *const bindings::pci_dev, channel: u32);
    fn peerlane_trace_register(
        board: *const bindings::pci_dev,
        channel: u32,
        region: *const Register,
    );
    fn peerlane_trace_unregister(
        board: *const bindings::pci_dev,
        channel: u32,
        region: u32,
        kept: bool,
    );
    fn peerlane_trace_revoke(
        board: *const bindings::pci_dev,
        channel: u32,
        att_address: u64,
        entries: u32,
        settle_us: u64,
    );
    fn peerlane_trace_fault(board: *const bindings::pci_dev, channel: u32, end: *const Wait);
    fn peerlane_trace_fault_interrupt(board: *const bindings::pci_dev, error: bool, refused: bool);
    fn peerlane_trace_board(board: *const bindings::pci_dev, state: *const c_char);
}

fn device(board: &Board) -> *const bindings::pci_dev {
    pci_dev(board.gate.device())
}

/// Reports that a context has got a channel.
pub(crate) fn opened(board: &Board, channel: u32) {
    // SAFETY: a valid device.
    unsafe { peerlane_trace_open(device(board), channel) }
}

/// Reports that a context was closed.
pub(crate) fn closed(board: &Board, channel: u32) {
    // SAFETY: a valid device.
    unsafe { peerlane_trace_close(device(board), channel) }
}

/// Reports that a region has got a handle.
pub(crate) fn registered(board: &Board, channel: u32, region: &Register) {
    // SAFETY: a valid device, and `struct peerlane_register`.
    unsafe { peerlane_trace_register(device(board), channel, region) }
}

/// Reports that a handle was removed.
pub(crate) fn unregistered(board: &Board, channel: u32, region: u32, kept: bool) {
    // SAFETY: a valid device.
    unsafe { peerlane_trace_unregister(device(board), channel, region, kept) }
}

/// Reports that the owner has invalidated a region's memory, and how long the block needed to become idle.
pub(crate) fn revoked(board: &Board, channel: u32, region: &Region, settled: Delta) {
    let address = region.att_address(0).map_or(0, |address| address.raw());
    let entries = region.run().count();
    let us = settled.as_micros_ceil() as u64;
    // SAFETY: a valid device.
    unsafe { peerlane_trace_revoke(device(board), channel, address, entries, us) }
}

/// Reports a descriptor that has ended with a failure.
pub(crate) fn ended(board: &Board, record: &Record) {
    let Err(fault) = record.outcome else { return };
    let end = Wait {
        direction: record.direction.raw(),
        cookie: record.cookie,
        status: fault.code().raw(),
        bytes_done: record.bytes_done,
        fault_address: record.fault_address.map_or(0, |address| address.raw()),
        ..Wait::default()
    };
    // SAFETY: a valid device, and `struct peerlane_wait`.
    unsafe { peerlane_trace_fault(device(board), record.channel, &end) }
}

/// Reports the block's fault interrupt.
pub(crate) fn fault_interrupt(board: &Board, error: bool, refused: bool) {
    // SAFETY: a valid device.
    unsafe { peerlane_trace_fault_interrupt(device(board), error, refused) }
}

/// Reports a new state of the board.
pub(crate) fn board(board: &Board, state: &'static CStr) {
    // SAFETY: a valid device, and a text that ends.
    unsafe { peerlane_trace_board(device(board), state.as_char_ptr()) }
}
