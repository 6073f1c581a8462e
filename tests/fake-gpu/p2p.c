// SPDX-License-Identifier: GPL-2.0
/*
 * Look-alikes of nvidia_p2p_*. As in NVIDIA's driver, a page table is freed by put_pages, or after the free callback.
 * nvidia_p2p_free_page_table, which the callback must call, frees nothing. put_pages ignores a page table that it does
 * not find, and succeeds: one that was called back, and one of another process than the caller's
 * (RmP2PGetInfoWithoutToken() in p2p.c).
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "internal.h"
#include "nv-p2p.h"

#ifdef FAKEGPU_PLAIN_EXPORT
#define EXPORT(symbol) EXPORT_SYMBOL(symbol)
#else
#define EXPORT(symbol) EXPORT_SYMBOL_GPL(symbol)
#endif

static uint page_table_version = NVIDIA_P2P_PAGE_TABLE_VERSION;
module_param(page_table_version, uint, 0600);
MODULE_PARM_DESC(page_table_version, "version that page tables of nvidia_p2p_get_pages report");

static uint put_fails;
module_param(put_fails, uint, 0600);
MODULE_PARM_DESC(put_fails, "calls of nvidia_p2p_put_pages that fail from now on: no memory");

struct table {
	struct nvidia_p2p_page_table table;
	struct list_head node;
	pid_t process;
	u64 address;
	void (*callback)(void *data);
	void *data;
	bool freed;
	struct nvidia_p2p_page *pointers[];
};

static u8 uuid[16] = "Peerlane fakegpu";

/* The table whose owner is being called back, and the task that calls back. */
static struct table *called;
static struct task_struct *caller;

/* Returns whether a call comes from within a free callback, where it would wait for itself. */
static bool in_callback(void)
{
	if (READ_ONCE(caller) != current)
		return false;
	fakegpu_count(FAKEGPU_ERR_IN_CALLBACK, 1);
	return true;
}

static void free_table(struct table *table)
{
	list_del(&table->node);
	fakegpu_give_bar1(table->table.entries * FAKEGPU_GRANULE);
	kvfree(table->table.pages[0]);
	kvfree(table);
	fakegpu_count(FAKEGPU_TABLES, -1);
}

int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	u64 entries = length / FAKEGPU_GRANULE;
	struct nvidia_p2p_page *pages;
	struct buffer *buffer;
	struct table *table;
	u64 skip, entry = 0;

	if (in_callback())
		return -EINVAL;
	if ((virtual_address | length) % FAKEGPU_GRANULE) {
		fakegpu_count(FAKEGPU_ERR_UNALIGNED, 1);
		return -EINVAL;
	}
	if (!length || !page_table || !free_callback || !data || p2p_token || va_space)
		return -EINVAL;
	guard(mutex)(&fakegpu_lock);
	buffer = fakegpu ? buffer_at(virtual_address, length) : NULL;
	if (!buffer)
		return -EINVAL;
	/* NV_ERR_INSUFFICIENT_RESOURCES is ENOMEM: nvidia_p2p_map_status() of NVIDIA's nv-p2p.c. */
	if (!fakegpu_take_bar1(length))
		return -ENOMEM;
	table = kvzalloc(struct_size(table, pointers, entries), GFP_KERNEL);
	pages = kvcalloc(entries, sizeof(*pages), GFP_KERNEL);
	if (!table || !pages) {
		kvfree(table);
		kvfree(pages);
		fakegpu_give_bar1(length);
		return -ENOMEM;
	}
	/* Once the table is in the list, the buffer stays where it is. */
	dma_resv_lock(&buffer->reservation, NULL);
	if (!buffer->place) {
		dma_resv_unlock(&buffer->reservation);
		kvfree(table);
		kvfree(pages);
		fakegpu_give_bar1(length);
		return -EINVAL;
	}
	skip = virtual_address - buffer_first(buffer);
	for (unsigned int i = 0; i < buffer->place->count; i++) {
		phys_addr_t start = buffer->place->pieces[i].start;
		u64 bytes = buffer->place->pieces[i].bytes;

		for (; skip < bytes && entry < entries; skip += FAKEGPU_GRANULE, entry++) {
			pages[entry].physical_address = start + skip;
			table->pointers[entry] = &pages[entry];
		}
		skip -= min(skip, bytes);
	}
	table->table.version = page_table_version;
	table->table.page_size = NVIDIA_P2P_PAGE_SIZE_64KB;
	table->table.pages = table->pointers;
	table->table.entries = entries;
	table->table.gpu_uuid = uuid;
	table->address = virtual_address;
	table->callback = free_callback;
	table->data = data;
	table->process = current->tgid;
	list_add(&table->node, &buffer->tables);
	dma_resv_unlock(&buffer->reservation);
	fakegpu_count(FAKEGPU_TABLES, 1);
	*page_table = &table->table;
	return 0;
}
EXPORT(nvidia_p2p_get_pages);

/* Finds the table, if it still exists. */
static struct table *table_of(const struct nvidia_p2p_page_table *page_table, u64 address)
{
	struct buffer *buffer;
	unsigned long handle;
	struct table *table;

	xa_for_each(&fakegpu_buffers, handle, buffer)
		list_for_each_entry(table, &buffer->tables, node)
			if (&table->table == page_table && table->address == address &&
			    table->process == current->tgid)
				return table;
	return NULL;
}

int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	struct table *table;

	if (in_callback())
		return -EINVAL;
	if (!page_table)
		return 0;
	guard(mutex)(&fakegpu_lock);
	if (put_fails) {
		put_fails--;
		return -ENOMEM;
	}
	table = table_of(page_table, virtual_address);
	if (!table) {
		fakegpu_count(FAKEGPU_LATE_PUTS, 1);
		return 0;
	}
	free_table(table);
	return 0;
}
EXPORT(nvidia_p2p_put_pages);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	if (READ_ONCE(caller) != current || !page_table || page_table != &called->table ||
	    called->freed) {
		fakegpu_count(FAKEGPU_ERR_FREED, 1);
		return -EINVAL;
	}
	called->freed = true;
	return 0;
}
EXPORT(nvidia_p2p_free_page_table);

/* Calls back all owners of page tables of the buffer. */
void p2p_call_back(struct buffer *buffer)
{
	struct table *table, *next;

	list_for_each_entry_safe(table, next, &buffer->tables, node) {
		fakegpu_count(FAKEGPU_CALLBACKS, 1);
		called = table;
		WRITE_ONCE(caller, current);
		table->callback(table->data);
		WRITE_ONCE(caller, NULL);
		called = NULL;
		fakegpu_count(FAKEGPU_ERR_NOT_FREED, !table->freed);
		free_table(table);
	}
}
