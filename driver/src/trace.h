/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of /sys/kernel/tracing/events/peerlane. A board is named as the PCI core does it, and
 * memory by its place in the ATT: no event shows a bus address or a pointer.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM peerlane

#if !defined(PEERLANE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PEERLANE_TRACE_H

#include <linux/pci.h>
#include <linux/tracepoint.h>

#include "../uapi/peerlane.h"

DECLARE_EVENT_CLASS(peerlane_context,
	TP_PROTO(const struct pci_dev *board, u32 channel),
	TP_ARGS(board, channel),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(u32, channel)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->channel = channel;
	),
	TP_printk("board=%s channel=%u", __get_str(board), __entry->channel)
);

/* A context has got a channel. */
DEFINE_EVENT(peerlane_context, peerlane_open,
	TP_PROTO(const struct pci_dev *board, u32 channel),
	TP_ARGS(board, channel)
);

/* Its regions are gone, and its channel is free. */
DEFINE_EVENT(peerlane_context, peerlane_close,
	TP_PROTO(const struct pci_dev *board, u32 channel),
	TP_ARGS(board, channel)
);

/* A region has got a handle; `found`: it was a cached one. */
TRACE_EVENT(peerlane_register,
	TP_PROTO(const struct pci_dev *board, u32 channel, const struct peerlane_register *region),
	TP_ARGS(board, channel, region),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(u64, length)
		__field(u64, att_address)
		__field(u32, channel)
		__field(u32, region)
		__field(u32, provider)
		__field(u32, access)
		__field(u32, entries)
		__field(u32, page_shift)
		__field(u32, found)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->length = region->length;
		__entry->att_address = region->att_address;
		__entry->channel = channel;
		__entry->region = region->handle;
		__entry->provider = region->provider;
		__entry->access = region->access;
		__entry->entries = region->entries;
		__entry->page_shift = region->page_shift;
		__entry->found = region->found;
	),
	TP_printk("board=%s channel=%u region=%u provider=%s access=%s length=%llu att_address=%#llx entries=%u page_shift=%u found=%u",
		__get_str(board), __entry->channel, __entry->region,
		__print_symbolic(__entry->provider,
			{ PEERLANE_PROVIDER_HOST, "host" },
			{ PEERLANE_PROVIDER_DMABUF, "dmabuf" },
			{ PEERLANE_PROVIDER_NVIDIA, "nvidia" }),
		__print_flags(__entry->access, "|",
			{ PEERLANE_ACCESS_READ, "read" },
			{ PEERLANE_ACCESS_WRITE, "write" }),
		__entry->length, __entry->att_address, __entry->entries, __entry->page_shift,
		__entry->found)
);

/* A handle was removed; `kept`: the region stays mapped, to be found again. */
TRACE_EVENT(peerlane_unregister,
	TP_PROTO(const struct pci_dev *board, u32 channel, u32 region, bool kept),
	TP_ARGS(board, channel, region, kept),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(u32, channel)
		__field(u32, region)
		__field(bool, kept)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->channel = channel;
		__entry->region = region;
		__entry->kept = kept;
	),
	TP_printk("board=%s channel=%u region=%u kept=%d", __get_str(board), __entry->channel,
		__entry->region, __entry->kept)
);

/* The owner of a region's memory has invalidated it, and the block has become idle. */
TRACE_EVENT(peerlane_revoke,
	TP_PROTO(const struct pci_dev *board, u32 channel, u64 att_address, u32 entries,
		 u64 settle_us),
	TP_ARGS(board, channel, att_address, entries, settle_us),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(u64, att_address)
		__field(u64, settle_us)
		__field(u32, channel)
		__field(u32, entries)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->att_address = att_address;
		__entry->settle_us = settle_us;
		__entry->channel = channel;
		__entry->entries = entries;
	),
	TP_printk("board=%s channel=%u att_address=%#llx entries=%u settle_us=%llu",
		__get_str(board), __entry->channel, __entry->att_address, __entry->entries,
		__entry->settle_us)
);

/* A descriptor of PEERLANE_IOC_SUBMIT has failed; `status` is that of PEERLANE_IOC_WAIT. */
TRACE_EVENT(peerlane_fault,
	TP_PROTO(const struct pci_dev *board, u32 channel, const struct peerlane_wait *end),
	TP_ARGS(board, channel, end),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(u64, att_address)
		__field(u32, channel)
		__field(u32, direction)
		__field(u32, cookie)
		__field(u32, status)
		__field(u32, bytes_done)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->att_address = end->fault_address;
		__entry->channel = channel;
		__entry->direction = end->direction;
		__entry->cookie = end->cookie;
		__entry->status = end->status;
		__entry->bytes_done = end->bytes_done;
	),
	TP_printk("board=%s channel=%u direction=%s cookie=%u status=%u bytes_done=%u att_address=%#llx",
		__get_str(board), __entry->channel,
		__print_symbolic(__entry->direction, { 0, "write" }, { 1, "read" }),
		__entry->cookie, __entry->status, __entry->bytes_done, __entry->att_address)
);

/* The block's fault interrupt: a descriptor has failed, or a doorbell was refused. */
TRACE_EVENT(peerlane_fault_interrupt,
	TP_PROTO(const struct pci_dev *board, bool error, bool refused),
	TP_ARGS(board, error, refused),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__field(bool, error)
		__field(bool, refused)
	),
	TP_fast_assign(
		__assign_str(board);
		__entry->error = error;
		__entry->refused = refused;
	),
	TP_printk("board=%s error=%d refused=%d", __get_str(board), __entry->error,
		__entry->refused)
);

/* The board is lost, stopped, started or removed. */
TRACE_EVENT(peerlane_board,
	TP_PROTO(const struct pci_dev *board, const char *state),
	TP_ARGS(board, state),
	TP_STRUCT__entry(
		__string(board, pci_name(board))
		__string(state, state)
	),
	TP_fast_assign(
		__assign_str(board);
		__assign_str(state);
	),
	TP_printk("board=%s state=%s", __get_str(board), __get_str(state))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
