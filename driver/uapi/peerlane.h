/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT OR Apache-2.0 */
/*
 * The ioctls and mappings of /dev/peerlane*. What each field means stands in
 * driver/core/src/uapi.rs; a test holds the two files equal.
 *
 * Structures only grow at the end: a caller may pass a shorter or a longer one than the
 * driver knows, what is missing counts as zero, and what the driver does not know must be
 * zero. Reserved fields must be zero.
 */
#ifndef _UAPI_PEERLANE_H
#define _UAPI_PEERLANE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PEERLANE_VERSION 1

/* Offsets for mmap(). */
#define PEERLANE_MAP_PAGE 0ULL
#define PEERLANE_MAP_RING (1ULL << 32)
#define PEERLANE_MAP_WINDOW (2ULL << 32)

/* peerlane_register.provider, and bits of peerlane_info.providers. */
#define PEERLANE_PROVIDER_HOST 0
#define PEERLANE_PROVIDER_DMABUF 1
#define PEERLANE_PROVIDER_NVIDIA 2

/* peerlane_register.access: what the board may do. */
#define PEERLANE_ACCESS_READ 1
#define PEERLANE_ACCESS_WRITE 2

#define PEERLANE_UNREGISTER_KEEP 1

#define PEERLANE_SUBMIT_NO_FLUSH 1
#define PEERLANE_SUBMIT_AFTER_WRITE 2
#define PEERLANE_SUBMIT_AFTER_READ 4

#define PEERLANE_STATE_GONE 1

#define PEERLANE_WINDOW_RELEASE 1

#define PEERLANE_PROBE_BYTES 64

struct peerlane_info {
	__u32 version;
	__u32 providers;
	__u32 map_id;
	__u32 build_id;
	__u32 caps[3];
	__u32 channel;
	__u32 ring_log2;
	__u32 generation;
	__u64 local_base;
	__u64 local_end;
	__u64 page_bytes;
	__u64 ring_bytes;
	__u64 window_bytes;
	__u64 reserved[4];
};

struct peerlane_register {
	__u32 provider;
	__u32 access;
	__u64 address;
	__u64 length;
	__u64 identity;
	__s32 fd;
	__u32 flags;
	__u32 handle;
	__u32 page_shift;
	__u64 att_address;
	__u32 entries;
	__u32 found;
	__u64 reserved[2];
};

struct peerlane_unregister {
	__u32 handle;
	__u32 flags;
};

struct peerlane_submit {
	__u32 direction; /* 0: the board writes the region, 1: it reads it */
	__u32 flags;
	__u32 handle;
	__u32 length;
	__u64 offset;
	__u64 local;
	__u32 cookie;
	__u32 reserved;
};

struct peerlane_wait {
	__u32 direction;
	__u32 cookie;
	__s64 timeout_ns;
	__u32 status;
	__u32 bytes_done;
	__u64 fault_address;
	__u64 reserved;
};

struct peerlane_query {
	__u64 events;
	__u32 generation;
	__u32 state;
	__u32 outstanding[2];
	__u32 regions[2];
	__u64 region_bytes[2];
	__u32 revoked;
	__u32 reserved[7];
};

struct peerlane_eventfd {
	__s32 fd;
	__u32 flags;
};

struct peerlane_stop {
	__u64 drain_ns;
	__u32 aborted;
	__u32 reserved;
};

struct peerlane_probe {
	__u32 handle;
	__u32 status;
	__u64 offset;
	__u64 local;
	__u8 data[PEERLANE_PROBE_BYTES];
	__u64 reserved[2];
};

struct peerlane_moderate {
	__u32 count;
	__u32 age;
};

struct peerlane_range {
	__u64 base;
	__u64 end;
};

struct peerlane_window {
	__u64 base;
	__u32 flags;
	__u32 reserved;
};

#define PEERLANE_IOC_INFO _IOWR(0xe7, 0, struct peerlane_info)
#define PEERLANE_IOC_REGISTER _IOWR(0xe7, 1, struct peerlane_register)
#define PEERLANE_IOC_UNREGISTER _IOW(0xe7, 2, struct peerlane_unregister)
#define PEERLANE_IOC_SUBMIT _IOWR(0xe7, 3, struct peerlane_submit)
#define PEERLANE_IOC_WAIT _IOWR(0xe7, 4, struct peerlane_wait)
#define PEERLANE_IOC_QUERY _IOWR(0xe7, 5, struct peerlane_query)
#define PEERLANE_IOC_EVENTFD _IOW(0xe7, 6, struct peerlane_eventfd)
#define PEERLANE_IOC_STOP _IOWR(0xe7, 7, struct peerlane_stop)
#define PEERLANE_IOC_PROBE _IOWR(0xe7, 8, struct peerlane_probe)
#define PEERLANE_IOC_MODERATE _IOW(0xe7, 9, struct peerlane_moderate)
#define PEERLANE_IOC_RANGE _IOW(0xe7, 10, struct peerlane_range)
#define PEERLANE_IOC_WINDOW _IOW(0xe7, 11, struct peerlane_window)

#endif
