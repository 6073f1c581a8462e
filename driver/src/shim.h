/* SPDX-License-Identifier: GPL-2.0 */
/* Declared a second time in ffi.rs; the functions of trace.c in trace.rs. */
#ifndef PEERLANE_SHIM_H
#define PEERLANE_SHIM_H

#include <linux/types.h>

struct device;
struct file;
struct kmem_cache;
struct list_head;
struct list_lru;
struct mem_cgroup;
struct mmu_notifier;
struct mmu_notifier_ops;
struct module;
struct page;
struct pci_dev;
struct sg_table;
struct peerlane_register;
struct peerlane_wait;
struct shrinker;
struct user_struct;
struct vm_area_struct;

bool peerlane_are_of_hugetlb(struct page *const *pages, size_t count);
bool peerlane_disable_link(struct pci_dev *device, bool disable);
int peerlane_dma_mapping_error(struct device *device, dma_addr_t address);
bool peerlane_drives(struct module *module, struct pci_dev *device);
struct user_struct *peerlane_get_user(void);
bool peerlane_has_its_bars(struct pci_dev *device);
bool peerlane_has_own_dma(struct device *device);
void peerlane_heed_hotplug(struct pci_dev *device, unsigned int before);
unsigned int peerlane_ignore_hotplug(struct pci_dev *device);
bool peerlane_is_killed(void);
bool peerlane_is_leaving(void);
bool peerlane_is_locked_down(void);
bool peerlane_is_ram(u64 address);
bool peerlane_is_near(struct device *client, struct pci_dev *peer, bool verbose);
bool peerlane_is_switched(struct device *client, struct pci_dev *peer);
bool peerlane_is_translated(struct device *device);
bool peerlane_is_isolated(struct device *device);
u64 peerlane_leads_to(struct device *device, u64 address);
void peerlane_lift_segment_limits(struct device *device);
void peerlane_lock_device(struct pci_dev *device);
u32 peerlane_insert_frame(struct vm_area_struct *vma, unsigned long address, unsigned long frame,
			  bool registers);
void peerlane_map_frames(struct vm_area_struct *vma);
void peerlane_make_uncached(struct vm_area_struct *vma);
void peerlane_mask_when_disabled(unsigned int irq);
struct mmu_notifier *peerlane_mmu_notifier_get(const struct mmu_notifier_ops *ops);
s64 peerlane_monotonic_to_host(s64 ns);
bool peerlane_may_say(void);
bool peerlane_owns_aer(struct pci_dev *device);
void *peerlane_page_address(struct page *page);
unsigned long peerlane_page_to_pfn(struct page *page);
void *peerlane_new_keeper(struct kmem_cache *cache, struct list_lru *list);
struct kmem_cache *peerlane_new_cache(const char *name, unsigned int bytes);
int peerlane_init_list(struct list_lru *list, struct shrinker *shrinker);
void peerlane_walk_list(struct list_lru *list, int node, struct mem_cgroup *group,
			void (*step)(struct list_head *link, void *data), void *data);
bool peerlane_needs_copies(struct device *device, struct sg_table *table);
int peerlane_begin_relief(void);
void peerlane_end_relief(void);
struct workqueue_struct *peerlane_relief(void);
int peerlane_may_access(unsigned long start, unsigned long end, bool read, bool write);
bool peerlane_may_wait(gfp_t flags);
struct shrinker *peerlane_new_shrinker(unsigned int number);
void peerlane_pin_vectors(struct pci_dev *device, bool pinned);
u64 peerlane_place(struct pci_dev *device);
bool peerlane_queue_now(struct delayed_work *work);
unsigned long peerlane_references(struct file *file);
void peerlane_reset_by_the_link(struct pci_dev *device);
bool peerlane_same_bridge(struct device *client, struct pci_dev *peer);
void peerlane_sha256(const u8 *bytes, size_t count, u8 *digest);
bool peerlane_try_lock_device(struct pci_dev *device);
void peerlane_unlock_device(struct pci_dev *device);
void peerlane_wait_for_handlers(struct pci_dev *device);

void peerlane_trace_open(const struct pci_dev *board, u32 channel);
void peerlane_trace_close(const struct pci_dev *board, u32 channel);
void peerlane_trace_register(const struct pci_dev *board, u32 channel,
			     const struct peerlane_register *region);
void peerlane_trace_unregister(const struct pci_dev *board, u32 channel, u32 region, bool kept);
void peerlane_trace_revoke(const struct pci_dev *board, u32 channel, u64 att_address, u32 entries,
			   u64 settle_us);
void peerlane_trace_fault(const struct pci_dev *board, u32 channel,
			  const struct peerlane_wait *end);
void peerlane_trace_fault_interrupt(const struct pci_dev *board, bool error, bool refused);
void peerlane_trace_board(const struct pci_dev *board, const char *state);

#endif
