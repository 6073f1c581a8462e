/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's headers of which the driver and the kernel crate need bindings. */

/* First: without its definition an enumeration is taken for a signed one (bindgen, issue 3179). */
#include <linux/hrtimer_types.h>

#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-direction.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/errname.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/firmware.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/property.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"

/* Values that bindgen does not compute. */
const size_t RUST_CONST_HELPER_ARCH_SLAB_MINALIGN = ARCH_SLAB_MINALIGN;
const size_t RUST_CONST_HELPER_ARCH_KMALLOC_MINALIGN = ARCH_KMALLOC_MINALIGN;
const size_t RUST_CONST_HELPER_PAGE_SIZE = PAGE_SIZE;
const fop_flags_t RUST_CONST_HELPER_FOP_UNSIGNED_OFFSET = FOP_UNSIGNED_OFFSET;
const xa_mark_t RUST_CONST_HELPER_XA_PRESENT = XA_PRESENT;

#define FLAGS(type, name) const type RUST_CONST_HELPER_##name = name
FLAGS(gfp_t, GFP_ATOMIC);
FLAGS(gfp_t, GFP_KERNEL);
FLAGS(gfp_t, GFP_KERNEL_ACCOUNT);
FLAGS(gfp_t, GFP_NOWAIT);
FLAGS(gfp_t, __GFP_ZERO);
FLAGS(gfp_t, XA_FLAGS_ALLOC);
FLAGS(gfp_t, XA_FLAGS_ALLOC1);
const gfp_t RUST_CONST_HELPER___GFP_HIGHMEM = ___GFP_HIGHMEM;
const gfp_t RUST_CONST_HELPER___GFP_NOWARN = ___GFP_NOWARN;
FLAGS(vm_flags_t, VM_MERGEABLE);
FLAGS(vm_flags_t, VM_READ);
FLAGS(vm_flags_t, VM_WRITE);
FLAGS(vm_flags_t, VM_EXEC);
FLAGS(vm_flags_t, VM_SHARED);
FLAGS(vm_flags_t, VM_MAYREAD);
FLAGS(vm_flags_t, VM_MAYWRITE);
FLAGS(vm_flags_t, VM_MAYEXEC);
FLAGS(vm_flags_t, VM_MAYSHARE);
FLAGS(vm_flags_t, VM_PFNMAP);
FLAGS(vm_flags_t, VM_IO);
FLAGS(vm_flags_t, VM_DONTCOPY);
FLAGS(vm_flags_t, VM_DONTEXPAND);
FLAGS(vm_flags_t, VM_LOCKONFAULT);
FLAGS(vm_flags_t, VM_ACCOUNT);
FLAGS(vm_flags_t, VM_NORESERVE);
FLAGS(vm_flags_t, VM_HUGETLB);
FLAGS(vm_flags_t, VM_SYNC);
FLAGS(vm_flags_t, VM_ARCH_1);
FLAGS(vm_flags_t, VM_WIPEONFORK);
FLAGS(vm_flags_t, VM_DONTDUMP);
FLAGS(vm_flags_t, VM_SOFTDIRTY);
FLAGS(vm_flags_t, VM_MIXEDMAP);
FLAGS(vm_flags_t, VM_HUGEPAGE);
FLAGS(vm_flags_t, VM_NOHUGEPAGE);
