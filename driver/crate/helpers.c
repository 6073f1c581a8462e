// SPDX-License-Identifier: GPL-2.0
/* Functions for inline functions and macros of the kernel's headers that the kernel crate calls. */
#include <linux/compiler_types.h>
#include <linux/bitmap.h>

#ifdef __BINDGEN__
/* Bindgen leaves inline functions out. */
#define __rust_helper
#else
#define __rust_helper __always_inline
#endif

#include <linux/debugfs.h>
#include <linux/security.h>
#include <linux/timer.h>

#include "compat.h"

#include "atomic.c"
#include "atomic_ext.c"
#include "barrier.c"
#include "bitops.c"
#include "bug.c"
#include "build_bug.c"
#include "completion.c"
#include "cred.c"
#include "device.c"
#include "dma.c"
#include "dma-resv.c"
#include "err.c"
#include "fs.c"
#include "io.c"
#include "irq.c"
#include "mm.c"
#include "mutex.c"
#include "page.c"
#include "pci.c"
#include "pid_namespace.c"
#include "poll.c"
#include "processor.c"
#include "rcu.c"
#include "refcount.c"
#include "scatterlist.c"
#include "signal.c"
#include "slab.c"
#include "spinlock.c"
#include "string.c"
#include "sync.c"
#include "task.c"
#include "time.c"
#include "uaccess.c"
#include "vmalloc.c"
#include "wait.c"
#include "workqueue.c"
#include "xarray.c"

#ifndef CONFIG_SECURITY
__rust_helper void rust_helper_security_cred_getsecid(const struct cred *c, u32 *secid)
{
	security_cred_getsecid(c, secid);
}
#endif

#ifndef PEERLANE_HAS_DEBUGFS_FULL
__rust_helper struct dentry *
rust_helper_debugfs_create_file_full(const char *name, umode_t mode, struct dentry *parent,
				     void *data, const void *aux, const struct file_operations *fops)
{
	return debugfs_create_file(name, mode, parent, data, fops);
}
#endif

#ifndef PEERLANE_HAS_TIMER_INIT_KEY
__rust_helper void rust_helper_timer_init_key(struct timer_list *timer,
					      void (*function)(struct timer_list *),
					      unsigned int flags, const char *name,
					      struct lock_class_key *key)
{
	init_timer_key(timer, function, flags, name, key);
}
#endif

#ifndef PEERLANE_HAS_ZAP_VMA_RANGE
__rust_helper void rust_helper_zap_vma_range(struct vm_area_struct *vma, unsigned long address,
					     unsigned long size)
{
	zap_page_range_single(vma, address, size, NULL);
}
#endif
