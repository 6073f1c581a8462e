/* SPDX-License-Identifier: GPL-2.0 */
/* The driver uses no interface for programs of the kernel: the crate of that name needs one header. */
#include <uapi/linux/ioctl.h>
