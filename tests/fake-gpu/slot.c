// SPDX-License-Identifier: GPL-2.0
/*
 * A slot that loses its device: does the same as the interrupt thread of a hot-plug port
 * (drivers/pci/hotplug/pciehp_pci.c), on a thread that does not freeze either. QEMU's client of vfio-user does not
 * survive its own hot-plug.
 */

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/workqueue.h>

#include "internal.h"

static struct pci_dev *device;
static s64 took_ms = -1;

static void take_off(struct work_struct *work)
{
	ktime_t begin = ktime_get();

	device_release_driver(&device->dev);
	WRITE_ONCE(took_ms, ktime_ms_delta(ktime_get(), begin));
}

static DECLARE_DELAYED_WORK(taking_off, take_off);

void slot_stop(void)
{
	cancel_delayed_work_sync(&taking_off);
	pci_dev_put(device);
	device = NULL;
}

/* "0000:03:00.0 2000": takes the device from its driver in 2 s. */
static int set(const char *value, const struct kernel_param *param)
{
	unsigned int domain, bus, slot, function, delay;
	struct pci_dev *found;

	if (sscanf(value, "%x:%x:%x.%x %u", &domain, &bus, &slot, &function, &delay) != 5)
		return -EINVAL;
	found = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!found)
		return -ENODEV;
	slot_stop();
	device = found;
	WRITE_ONCE(took_ms, -1);
	schedule_delayed_work(&taking_off, msecs_to_jiffies(delay));
	return 0;
}

/* Returns how long that took, in milliseconds; -1: it has not ended. */
static int get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lld\n", READ_ONCE(took_ms));
}

static const struct kernel_param_ops ops = { .set = set, .get = get };

module_param_cb(take_off, &ops, NULL, 0600);
MODULE_PARM_DESC(take_off, "a device, and milliseconds until it is taken from its driver");
