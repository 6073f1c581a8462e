// SPDX-License-Identifier: GPL-2.0
/*
 * A mock of a GPU for tests, never installed: memory that peers reach over PCIe, exported as dma-bufs and through
 * look-alikes of nvidia_p2p_*. fakegpu.h has its interface.
 */
#include <linux/dma-map-ops.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "internal.h"

#define VRAM_BAR 2

MODULE_DESCRIPTION("A model of a GPU for tests, on QEMU's ivshmem-plain: not to be installed");
MODULE_AUTHOR("The Peerlane authors");
MODULE_LICENSE("GPL");

bool fakegpu_any_distance;
module_param_named(any_distance, fakegpu_any_distance, bool, 0600);
MODULE_PARM_DESC(any_distance, "export to devices that the kernel thinks cannot reach the GPU");

bool fakegpu_pin_moves = true;
module_param_named(pin_moves, fakegpu_pin_moves, bool, 0600);
MODULE_PARM_DESC(pin_moves, "move a buffer when it is pinned for the first time");

/* Operations that are never called. */
static const struct dma_map_ops own_dma;

static int set_own_dma(const char *value, const struct kernel_param *parameter)
{
	struct pci_dev *board = pci_get_device(0x1172, 0xab00, NULL);
	bool own;
	int error = board ? kstrtobool(value, &own) : -ENODEV;

	if (!error)
		set_dma_ops(&board->dev, own ? &own_dma : NULL);
	pci_dev_put(board);
	return error;
}

static const struct kernel_param_ops own_dma_param = { .set = set_own_dma };
module_param_cb(own_dma, &own_dma_param, NULL, 0200);
MODULE_PARM_DESC(own_dma, "whether the board has DMA operations of its own; for a board without a driver");

static ulong bar1_bytes = ULONG_MAX;
module_param(bar1_bytes, ulong, 0600);
MODULE_PARM_DESC(bar1_bytes, "the most bytes of VRAM that others have mapped at a time");

static atomic_long_t bar1_taken;

bool fakegpu_take_bar1(size_t bytes)
{
	if (atomic_long_add_return(bytes, &bar1_taken) <= bar1_bytes)
		return true;
	fakegpu_give_bar1(bytes);
	return false;
}

void fakegpu_give_bar1(size_t bytes)
{
	atomic_long_sub(bytes, &bar1_taken);
}

struct gpu *fakegpu;
DEFINE_MUTEX(fakegpu_lock);
atomic64_t fakegpu_counts[FAKEGPU_COUNTS];

static long info(struct fakegpu_info *info)
{
	info->vram_bytes = fakegpu->bytes;
	info->free_bytes = gen_pool_avail(fakegpu->pool);
	return 0;
}

static long counts(struct fakegpu_counts *to)
{
	for (int i = 0; i < FAKEGPU_COUNTS; i++)
		to->counts[i] = atomic64_read(&fakegpu_counts[i]);
	return 0;
}

static long alloc(struct fakegpu_alloc *alloc, struct file *file)
{
	struct buffer *buffer = buffer_new(alloc, file);

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	alloc->address = buffer->address;
	alloc->id = buffer->id;
	alloc->handle = buffer->handle;
	return 0;
}

static long where(struct buffer *buffer, struct fakegpu_where *where)
{
	int error = -ENODEV;

	dma_resv_lock(&buffer->reservation, NULL);
	if (buffer->place) {
		where->count = buffer_pieces(buffer, buffer->place, where->pieces);
		error = 0;
	}
	dma_resv_unlock(&buffer->reservation);
	return error;
}

static long export(struct buffer *buffer, struct fakegpu_export *export)
{
	export->fd = dmabuf_export(buffer, export->flags);
	return min(export->fd, 0);
}

union argument {
	/* For calls that name a buffer. */
	__u32 handle;
	struct fakegpu_info info;
	struct fakegpu_alloc alloc;
	struct fakegpu_free free;
	struct fakegpu_where where;
	struct fakegpu_export export;
	struct fakegpu_fence fence;
	struct fakegpu_move move;
	struct fakegpu_counts counts;
};

static long carry_out(struct file *file, unsigned int request, union argument *argument)
{
	struct buffer *buffer;

	guard(mutex)(&fakegpu_lock);
	if (request == FAKEGPU_IOC_COUNTS)
		return counts(&argument->counts);
	if (!fakegpu)
		return -ENODEV;
	switch (request) {
	case FAKEGPU_IOC_INFO:
		return info(&argument->info);
	case FAKEGPU_IOC_ALLOC:
		return alloc(&argument->alloc, file);
	}
	buffer = buffer_find(argument->handle, file);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	switch (request) {
	case FAKEGPU_IOC_FREE:
		buffer_close(buffer, argument->free.flags & FAKEGPU_FREE_REVOKE);
		return 0;
	case FAKEGPU_IOC_WHERE:
		return where(buffer, &argument->where);
	case FAKEGPU_IOC_EXPORT:
		return export(buffer, &argument->export);
	case FAKEGPU_IOC_FENCE:
		return buffer_fence(buffer, argument->fence.ms);
	case FAKEGPU_IOC_MOVE:
		return buffer_move(buffer, &argument->move);
	default:
		return -ENOTTY;
	}
}

static long gpu_ioctl(struct file *file, unsigned int request, unsigned long user)
{
	size_t size = _IOC_SIZE(request);
	union argument argument = {};
	long result;

	if (_IOC_TYPE(request) != 'g' || size > sizeof(argument))
		return -ENOTTY;
	if (_IOC_DIR(request) & _IOC_WRITE && copy_from_user(&argument, (void __user *)user, size))
		return -EFAULT;
	result = carry_out(file, request, &argument);
	if (!result && _IOC_DIR(request) & _IOC_READ &&
	    copy_to_user((void __user *)user, &argument, size))
		return -EFAULT;
	return result;
}

static int gpu_mmap(struct file *file, struct vm_area_struct *vma)
{
	guard(mutex)(&fakegpu_lock);
	if (!fakegpu)
		return -ENODEV;
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return vm_iomap_memory(vma, fakegpu->base, fakegpu->bytes);
}

/* As when a GPU's context ends: in the process that ends it. */
static int gpu_release(struct inode *inode, struct file *file)
{
	struct buffer *buffer;
	unsigned long handle;

	guard(mutex)(&fakegpu_lock);
	xa_for_each(&fakegpu_buffers, handle, buffer)
		if (buffer->file == file)
			buffer_close(buffer, false);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = gpu_ioctl,
	.mmap = gpu_mmap,
	.release = gpu_release,
};

static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fakegpu",
	.fops = &fops,
	.mode = 0666,
};

static void destroy_pool(void *pool)
{
	gen_pool_destroy(pool);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gpu *gpu = devm_kzalloc(&pdev->dev, sizeof(*gpu), GFP_KERNEL);
	int error;

	if (!gpu)
		return -ENOMEM;
	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = pcim_request_region(pdev, VRAM_BAR, "fakegpu");
	if (error)
		return error;
	gpu->pdev = pdev;
	gpu->base = pci_resource_start(pdev, VRAM_BAR);
	gpu->bytes = pci_resource_len(pdev, VRAM_BAR);
	gpu->vram = devm_memremap(&pdev->dev, gpu->base, gpu->bytes, MEMREMAP_WC);
	if (IS_ERR(gpu->vram))
		return PTR_ERR(gpu->vram);
	gpu->pool = gen_pool_create(ilog2(FAKEGPU_GRANULE), NUMA_NO_NODE);
	if (!gpu->pool)
		return -ENOMEM;
	error = devm_add_action_or_reset(&pdev->dev, destroy_pool, gpu->pool);
	if (error)
		return error;
	error = gen_pool_add(gpu->pool, gpu->base, gpu->bytes, NUMA_NO_NODE);
	if (error)
		return error;
	pci_set_master(pdev);
	guard(mutex)(&fakegpu_lock);
	if (fakegpu)
		return -EBUSY;
	error = misc_register(&misc);
	if (error)
		return error;
	fakegpu = gpu;
	return 0;
}

static void remove(struct pci_dev *pdev)
{
	struct buffer *buffer;
	unsigned long handle;

	slot_stop();
	misc_deregister(&misc);
	guard(mutex)(&fakegpu_lock);
	xa_for_each(&fakegpu_buffers, handle, buffer) {
		p2p_call_back(buffer);
		buffer_revoke(buffer);
	}
	fakegpu = NULL;
}

/* Red Hat's "Inter-VM shared memory" (docs/specs/ivshmem-spec.rst of QEMU). */
static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110) },
	{}
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver fakegpu_driver = {
	.name = "fakegpu",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};
module_pci_driver(fakegpu_driver);
