// SPDX-License-Identifier: GPL-2.0
/* The tracepoints as functions. Each tests first whether anybody looks, by a patched branch. */
#define CREATE_TRACE_POINTS
#include "trace.h"

#include "shim.h"

void peerlane_trace_open(const struct pci_dev *board, u32 channel)
{
	trace_peerlane_open(board, channel);
}

void peerlane_trace_close(const struct pci_dev *board, u32 channel)
{
	trace_peerlane_close(board, channel);
}

void peerlane_trace_register(const struct pci_dev *board, u32 channel,
			     const struct peerlane_register *region)
{
	trace_peerlane_register(board, channel, region);
}

void peerlane_trace_unregister(const struct pci_dev *board, u32 channel, u32 region, bool kept)
{
	trace_peerlane_unregister(board, channel, region, kept);
}

void peerlane_trace_revoke(const struct pci_dev *board, u32 channel, u64 att_address, u32 entries,
			   u64 settle_us)
{
	trace_peerlane_revoke(board, channel, att_address, entries, settle_us);
}

void peerlane_trace_fault(const struct pci_dev *board, u32 channel, const struct peerlane_wait *end)
{
	trace_peerlane_fault(board, channel, end);
}

void peerlane_trace_fault_interrupt(const struct pci_dev *board, bool error, bool refused)
{
	trace_peerlane_fault_interrupt(board, error, refused);
}

void peerlane_trace_board(const struct pci_dev *board, const char *state)
{
	trace_peerlane_board(board, state);
}
