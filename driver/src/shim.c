// SPDX-License-Identifier: GPL-2.0
/* Macros and inline functions of the kernel that have no Rust helper. */
#include <crypto/sha2.h>
#include <linux/aer.h>
#include <linux/bitfield.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/interrupt.h>
#include <linux/iommu.h>
#include <linux/iommu-dma.h>
#include <linux/irq.h>
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/ratelimit.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/security.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/workqueue.h>

#include "probes.h"
#include "shim.h"

/* `module!` has no word for it. That of dkms.conf. */
MODULE_VERSION("0.1.0");

bool peerlane_are_of_hugetlb(struct page *const *pages, size_t count)
{
	while (count--)
		if (folio_test_hugetlb(page_folio(pages[count])))
			return true;
	return false;
}

struct kmem_cache *peerlane_new_cache(const char *name, unsigned int bytes)
{
	return kmem_cache_create(name, bytes, 0, SLAB_ACCOUNT, NULL);
}

void *peerlane_new_keeper(struct kmem_cache *cache, struct list_lru *list)
{
	return kmem_cache_alloc_lru(cache, list, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

int peerlane_init_list(struct list_lru *list, struct shrinker *shrinker)
{
	return list_lru_init_memcg(list, shrinker);
}

struct walk {
	void (*step)(struct list_head *link, void *data);
	void *data;
};

#ifdef PEERLANE_HAS_LRU_LOCK
static enum lru_status visit(struct list_head *link, struct list_lru_one *list, spinlock_t *lock,
			     void *data)
#else
static enum lru_status visit(struct list_head *link, struct list_lru_one *list, void *data)
#endif
{
	struct walk *walk = data;

	walk->step(link, walk->data);
	return LRU_SKIP;
}

void peerlane_walk_list(struct list_lru *list, int node, struct mem_cgroup *group,
			void (*step)(struct list_head *link, void *data), void *data)
{
	struct walk walk = { step, data };
	unsigned long all = ULONG_MAX;

	list_lru_walk_one(list, node, group, visit, &walk, &all);
}

/* Whether the calling process may access addresses of its own; -EBUSY: they cannot be looked up without waiting. */
int peerlane_may_access(unsigned long start, unsigned long end, bool read, bool write)
{
	unsigned long wanted = (read ? VM_READ : 0) | (write ? VM_WRITE : 0);
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *area;

	if (!mm || !mmap_read_trylock(mm))
		return -EBUSY;
	while (start < end) {
		area = find_vma(mm, start);
		if (!area || area->vm_start > start || wanted & ~area->vm_flags)
			break;
		start = area->vm_end;
	}
	mmap_read_unlock(mm);
	return start >= end;
}

static struct workqueue_struct *relief;

int peerlane_begin_relief(void)
{
	relief = alloc_workqueue("peerlane", WQ_UNBOUND, 0);
	return relief ? 0 : -ENOMEM;
}

/* Waits for queued work. */
void peerlane_end_relief(void)
{
	destroy_workqueue(relief);
}

struct workqueue_struct *peerlane_relief(void)
{
	return relief;
}

struct shrinker *peerlane_new_shrinker(unsigned int number)
{
	return shrinker_alloc(SHRINKER_NUMA_AWARE | SHRINKER_MEMCG_AWARE, "peerlane%u", number);
}

/* Whether the calling thread may sleep for memory that it wants to allocate, and is not a thread of the kernel. */
bool peerlane_may_wait(gfp_t flags)
{
	return gfpflags_allow_blocking(flags) && (flags & __GFP_FS) && !(current->flags & PF_KTHREAD);
}

unsigned long peerlane_references(struct file *file)
{
	return file_count(file);
}

bool peerlane_needs_copies(struct device *device, struct sg_table *table)
{
	/* With this attribute the mapping has failed already. */
#ifndef DMA_ATTR_REQUIRE_COHERENT
	struct scatterlist *segment;
	int i;

#ifdef CONFIG_DMA_NEED_SYNC
	/* Under DMA_API_DEBUG, dma_need_sync() is true for each address behind an IOMMU (__dma_need_sync()). */
	if (device->dma_skip_sync)
		return false;
#endif
	for_each_sgtable_dma_sg(table, segment, i)
		if (dma_need_sync(device, sg_dma_address(segment)))
			return true;
#endif
	return false;
}

/* As dma_go_direct() of kernel/dma/mapping.c decides; CONFIG_DMA_OPS_BYPASS is not for x86. */
bool peerlane_has_own_dma(struct device *device)
{
	return !use_dma_iommu(device) && get_dma_ops(device);
}

int peerlane_dma_mapping_error(struct device *device, dma_addr_t address)
{
	return dma_mapping_error(device, address);
}

/* Milliseconds in which a link is trained, and until a function answers then: as pcie_wait_for_link_delay(). */
#define LINK_TRAINED	1000
#define LINK_ANSWERS	100

/*
 * As mlx5_pci_link_toggle() (drivers/net/ethernet/mellanox/mlx5/core/fw_reset.c) and mlxsw_pci_link_toggle() do; the
 * PCI core's own helpers are not exported.
 */
bool peerlane_disable_link(struct pci_dev *device, bool disable)
{
	struct pci_dev *port = pci_upstream_bridge(device);
	u16 control = 0, status = 0;
	int left = LINK_TRAINED;

	if (!port || !pci_is_pcie(port) || (pci_pcie_type(port) != PCI_EXP_TYPE_ROOT_PORT &&
					    pci_pcie_type(port) != PCI_EXP_TYPE_DOWNSTREAM))
		return false;
	pcie_capability_clear_and_set_word(port, PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_LD,
					   disable ? PCI_EXP_LNKCTL_LD : 0);
	pcie_capability_read_word(port, PCI_EXP_LNKCTL, &control);
	if (!!(control & PCI_EXP_LNKCTL_LD) != disable)
		return false;
	if (disable)
		return true;
	while (left > 0 && !(port->link_active_reporting && status & PCI_EXP_LNKSTA_DLLLA)) {
		msleep(10);
		left -= 10;
		pcie_capability_read_word(port, PCI_EXP_LNKSTA, &status);
	}
	msleep(LINK_ANSWERS);
	return true;
}

bool peerlane_is_leaving(void)
{
	return current->in_execve || !atomic_read(&current->signal->live);
}

bool peerlane_is_locked_down(void)
{
	return security_locked_down(LOCKDOWN_PCI_ACCESS);
}

bool peerlane_is_killed(void)
{
	return fatal_signal_pending(current);
}

struct user_struct *peerlane_get_user(void)
{
	return get_uid(current_user());
}

bool peerlane_has_its_bars(struct pci_dev *device)
{
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		unsigned long flags = pci_resource_flags(device, bar);
		u64 place = pci_bus_address(device, bar);
		u32 low = 0, high = 0;

		if (!pci_resource_len(device, bar) || !(flags & IORESOURCE_MEM))
			continue;
		pci_read_config_dword(device, PCI_BASE_ADDRESS_0 + 4 * bar, &low);
		if (flags & IORESOURCE_MEM_64)
			pci_read_config_dword(device, PCI_BASE_ADDRESS_0 + 4 * bar + 4, &high);
		if (place != ((u64)high << 32 | (low & (u32)PCI_BASE_ADDRESS_MEM_MASK)))
			return false;
	}
	return true;
}

/* Flags of peerlane_ignore_hotplug(). */
#define DEVICE_IGNORES	1
#define PORT_IGNORES	2

unsigned int peerlane_ignore_hotplug(struct pci_dev *device)
{
	struct pci_dev *port = pci_upstream_bridge(device);
	unsigned int before = device->ignore_hotplug ? DEVICE_IGNORES : 0;

	if (port && port->ignore_hotplug)
		before |= PORT_IGNORES;
	pci_ignore_hotplug(device);
	return before;
}

/* Events of a slot about its link and the presence of a device, of those that its driver has enabled. */
static u16 slot_events(struct pci_dev *port)
{
	u16 control = 0, status = 0, wanted = 0;

	pcie_capability_read_word(port, PCI_EXP_SLTCTL, &control);
	pcie_capability_read_word(port, PCI_EXP_SLTSTA, &status);
	if (control & PCI_EXP_SLTCTL_DLLSCE)
		wanted |= PCI_EXP_SLTSTA_DLLSC;
	if (control & PCI_EXP_SLTCTL_PDCE)
		wanted |= PCI_EXP_SLTSTA_PDC;
	return control & PCI_EXP_SLTCTL_HPIE ? status & wanted : 0;
}

/* Milliseconds in which an interrupt that was sent is handled. */
#define SLOT_HANDLED	100

/*
 * Waits until pciehp has ignored the events of a slot. Its handler clears them in Slot Status, then checks whether
 * they are to be ignored (pciehp_isr() of drivers/pci/hotplug/pciehp_hpc.c). This does not wait for its thread, which
 * may want the device's lock.
 */
static void settle_slot(struct pci_dev *port)
{
	u16 flags = 0;
	int left, irq;

	for (left = SLOT_HANDLED; left && slot_events(port); left--)
		msleep(1);
	pcie_capability_read_word(port, PCI_EXP_FLAGS, &flags);
	irq = pci_irq_vector(port, pci_dev_msi_enabled(port) ? FIELD_GET(PCI_EXP_FLAGS_IRQ, flags) : 0);
	if (irq > 0)
		synchronize_hardirq(irq);
}

void peerlane_heed_hotplug(struct pci_dev *device, unsigned int before)
{
	struct pci_dev *port = pci_upstream_bridge(device);

	if (port && !(before & PORT_IGNORES)) {
		settle_slot(port);
		port->ignore_hotplug = 0;
	}
	if (!(before & DEVICE_IGNORES))
		device->ignore_hotplug = 0;
}

void peerlane_lift_segment_limits(struct device *device)
{
	dma_set_max_seg_size(device, UINT_MAX);
	dma_set_seg_boundary(device, ULONG_MAX);
}

void peerlane_lock_device(struct pci_dev *device)
{
	device_lock(&device->dev);
}

void peerlane_sha256(const u8 *bytes, size_t count, u8 *digest)
{
	sha256(bytes, count, digest);
}

bool peerlane_try_lock_device(struct pci_dev *device)
{
	return device_trylock(&device->dev);
}

void peerlane_unlock_device(struct pci_dev *device)
{
	device_unlock(&device->dev);
}

void peerlane_make_uncached(struct vm_area_struct *vma)
{
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
}

u32 peerlane_insert_frame(struct vm_area_struct *vma, unsigned long address, unsigned long frame,
			  bool registers)
{
	pgprot_t prot = vma->vm_page_prot;

	/* No BAR is encrypted, as memory of this VMA may be (vfio_pci_core_mmap() of drivers/vfio/pci/vfio_pci_core.c). */
	if (registers)
		prot = pgprot_decrypted(prot);
	return (__force u32)vmf_insert_pfn_prot(vma, address, frame, prot);
}

void peerlane_map_frames(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP);
}

void peerlane_mask_when_disabled(unsigned int irq)
{
	irq_set_status_flags(irq, IRQ_DISABLE_UNLAZY);
}

/* mmu_notifier_get(), which cannot be killed while it waits for the lock. */
struct mmu_notifier *peerlane_mmu_notifier_get(const struct mmu_notifier_ops *ops)
{
	struct mm_struct *mm = current->mm;
	struct mmu_notifier *notifier;

	if (mmap_write_lock_killable(mm))
		return ERR_PTR(-EINTR);
	notifier = mmu_notifier_get_locked(ops, mm);
	mmap_write_unlock(mm);
	return notifier;
}

s64 peerlane_monotonic_to_host(s64 ns)
{
#ifdef CONFIG_TIME_NS
	/* As timens_ktime_to_host(), which not all kernels export. The first namespace has no offset. */
	s64 offset = timespec64_to_ns(&current->nsproxy->time_ns->offsets.monotonic);

	/* Before the namespace's own zero: over already, also where the difference has no room. */
	if (ns < offset)
		return 0;
	if (check_sub_overflow(ns, offset, &ns))
		return S64_MAX;
#endif
	return max(ns, 0LL);
}

void *peerlane_page_address(struct page *page)
{
	return page_address(page);
}

unsigned long peerlane_page_to_pfn(struct page *page)
{
	return page_to_pfn(page);
}

/* Limits messages that a process can cause again and again. */
bool peerlane_may_say(void)
{
	static DEFINE_RATELIMIT_STATE(rate, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

	return __ratelimit(&rate);
}

bool peerlane_owns_aer(struct pci_dev *device)
{
	return pcie_aer_is_native(device);
}

bool peerlane_is_ram(u64 address)
{
	return page_is_ram(PHYS_PFN(address));
}

bool peerlane_queue_now(struct delayed_work *work)
{
	return mod_delayed_work(system_freezable_wq, work, 0);
}

u64 peerlane_place(struct pci_dev *device)
{
	return (u64)pci_domain_nr(device->bus) << 16 | pci_dev_id(device);
}

bool peerlane_is_translated(struct device *device)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(device);

	return domain && domain->type != IOMMU_DOMAIN_IDENTITY;
}

static int count_others(struct device *device, void *data)
{
	unsigned int *others = data;

	/* A bridge makes no requests of its own. */
	if (!dev_is_pci(device) || !pci_is_bridge(to_pci_dev(device)))
		*others += 1;
	return 0;
}

/*
 * Whether the IOMMU sees all requests of the device. Two devices are in one group if requests of one can reach the
 * other without it (Documentation/driver-api/vfio.rst). Interrupts are writes, too: they need remapping.
 */
bool peerlane_is_isolated(struct device *device)
{
	struct iommu_group *group = iommu_group_get(device);
	unsigned int devices = 0;
	bool isolated;

	if (!group)
		return false;
	iommu_group_for_each_dev(group, &devices, count_others);
	isolated = devices == 1 && iommu_group_has_isolated_msi(group);
	iommu_group_put(group);
	return isolated;
}

u64 peerlane_leads_to(struct device *device, u64 address)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(device);

	return domain ? iommu_iova_to_phys(domain, address) : address;
}

/* As pci_bridge_has_acs_redir() of drivers/pci/p2pdma.c. */
static bool redirects(struct pci_dev *port)
{
	u16 control = 0;

	if (port->acs_cap)
		pci_read_config_word(port, port->acs_cap + PCI_ACS_CTRL, &control);
	return control & (PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_EC);
}

/* Whether a bridge is on the way from a device to the root, and none below it redirects requests. */
static bool rises_to(struct pci_dev *device, struct pci_dev *bridge)
{
	for (; device && device != bridge; device = pci_upstream_bridge(device))
		if (redirects(device))
			return false;
	return device;
}

bool peerlane_is_switched(struct device *client, struct pci_dev *peer)
{
	struct pci_dev *bridge = pci_upstream_bridge(peer);

	if (!dev_is_pci(client) || redirects(peer))
		return false;
	/* The first bridge above both. */
	for (; bridge; bridge = pci_upstream_bridge(bridge)) {
		if (redirects(bridge))
			return false;
		if (rises_to(to_pci_dev(client), bridge))
			return true;
	}
	return false;
}

#ifndef CONFIG_PCI_P2PDMA
/*
 * Root complexes of Intel that forward requests between devices, by the first device on their root bus: those that
 * Linux 7.3 knows (pci_p2pdma_whitelist of drivers/pci/p2pdma.c).
 */
static const u16 forwarding[] = {
	0x3c00, 0x3c01, 0x2f00, 0x2f01, /* below one host bridge */
	0x2030, 0x2031, 0x2032, 0x2033, 0x2020, 0x09a2, 0x0b25, 0x0cfe, 0x11fb, 0x1212, 0x1216,
	0x4940, 0x4942, 0x4944, 0x4946, 0x4948,
};
#define BELOW_ONE_BRIDGE 4

static bool forwards(struct pci_host_bridge *bridge, bool same)
{
	struct pci_dev *root = list_first_entry_or_null(&bridge->bus->devices, struct pci_dev, bus_list);
	int i;

	if (!root || root->vendor != PCI_VENDOR_ID_INTEL)
		return false;
	if (root->devfn != PCI_DEVFN(0, 0) && pci_pcie_type(root) != PCI_EXP_TYPE_ROOT_PORT)
		return false;
	for (i = same ? 0 : BELOW_ONE_BRIDGE; i < ARRAY_SIZE(forwarding); i++)
		if (root->device == forwarding[i])
			return true;
	return false;
}
#endif

bool peerlane_is_near(struct device *client, struct pci_dev *peer, bool verbose)
{
#ifdef CONFIG_PCI_P2PDMA
	return pci_p2pdma_distance_many(peer, &client, 1, verbose) >= 0;
#else
	struct pci_host_bridge *ours, *theirs;

	if (!dev_is_pci(client))
		return false;
	if (peerlane_is_switched(client, peer))
		return true;
	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD && boot_cpu_data.x86 >= 0x17)
		return true;
	ours = pci_find_host_bridge(to_pci_dev(client)->bus);
	theirs = pci_find_host_bridge(peer->bus);
	return forwards(ours, ours == theirs) && forwards(theirs, ours == theirs);
#endif
}

/*
 * A change of an interrupt's target has the message written, into a table in the BAR. (A processor that is taken off
 * line causes that, too. An image is sent with all processors held on line.)
 */
void peerlane_pin_vectors(struct pci_dev *device, bool pinned)
{
	int vector, irq;

	if (!device->msix_enabled)
		return;
	for (vector = 0; (irq = pci_irq_vector(device, vector)) > 0; vector++) {
		if (pinned)
			irq_set_status_flags(irq, IRQ_NO_BALANCING);
		else
			irq_clear_status_flags(irq, IRQ_NO_BALANCING);
	}
}

void peerlane_wait_for_handlers(struct pci_dev *device)
{
	int vector, irq;

	if (!device->msix_enabled)
		return;
	for (vector = 0; (irq = pci_irq_vector(device, vector)) > 0; vector++)
		synchronize_irq(irq);
}

bool peerlane_same_bridge(struct device *client, struct pci_dev *peer)
{
	return dev_is_pci(client) && pci_find_host_bridge(to_pci_dev(client)->bus) ==
	       pci_find_host_bridge(peer->bus);
}

void peerlane_reset_by_the_link(struct pci_dev *device)
{
	/* Methods look at them at each reset, and the next one is tried. */
	device->dev_flags |= PCI_DEV_FLAGS_NO_PM_RESET | PCI_DEV_FLAGS_NO_FLR_RESET;
}

bool peerlane_drives(struct module *module, struct pci_dev *device)
{
	/* The driver may be going; its address shows whose it is. */
	struct device_driver *driver = READ_ONCE(device->dev.driver);

	return module && driver && within_module((unsigned long)driver, module);
}
