/*
 * A mock of NVIDIA's GDRCopy library (gdrapi.h, 2.5), whose GPU is a BAR: its addresses are offsets in the file that
 * PEERLANE_FAKE_GDR names, a resource of a PCI device in sysfs. The kernel maps that as GDRCopy's driver maps a GPU's
 * memory: frames of a device, without pages (VM_PFNMAP).
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 0x10000UL
#define PINS 64

typedef struct { unsigned long h; } gdr_mh_t;

static struct { unsigned long address; size_t size; void *mapped; int used; } pins[PINS];
static int file = -1;

void *gdr_open(void)
{
	const char *name = getenv("PEERLANE_FAKE_GDR");

	if (file < 0 && name)
		file = open(name, O_RDWR | O_CLOEXEC);
	return file < 0 ? NULL : &file;
}

int gdr_close(void *g)
{
	(void)g;
	return 0;
}

int gdr_get_attribute(void *g, int attribute, int *value)
{
	(void)g;
	if (attribute != 1)
		return EINVAL;
	*value = getenv("PEERLANE_FAKE_GDR_FLEETING") == NULL;
	return 0;
}

/* Takes as long as PEERLANE_FAKE_GDR_BUSY names a file. */
static void wait_while_busy(void)
{
	const char *name = getenv("PEERLANE_FAKE_GDR_BUSY");

	while (name && access(name, F_OK) == 0)
		usleep(1000);
}

int gdr_pin_buffer(void *g, unsigned long address, size_t size, uint64_t token, uint32_t space, gdr_mh_t *handle)
{
	struct stat status;

	(void)g;
	if (address % PAGE || size % PAGE || !size || token || space || fstat(file, &status))
		return EINVAL;
	if (address + size > (unsigned long)status.st_size)
		return EINVAL;
	wait_while_busy();
	for (unsigned long i = 0; i < PINS; i++) {
		if (pins[i].used)
			continue;
		pins[i].used = 1;
		pins[i].address = address;
		pins[i].size = size;
		pins[i].mapped = NULL;
		handle->h = i;
		return 0;
	}
	return ENOMEM;
}

int gdr_unpin_buffer(void *g, gdr_mh_t handle)
{
	(void)g;
	/* The order of gdrapi.h: a mapping goes first. */
	if (handle.h >= PINS || !pins[handle.h].used || pins[handle.h].mapped)
		abort();
	pins[handle.h].used = 0;
	return 0;
}

int gdr_map(void *g, gdr_mh_t handle, void **address, size_t size)
{
	(void)g;
	if (handle.h >= PINS || !pins[handle.h].used || size != pins[handle.h].size)
		return EINVAL;
	*address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)pins[handle.h].address);
	if (*address == MAP_FAILED) {
		*address = NULL;
		return errno;
	}
	pins[handle.h].mapped = *address;
	return 0;
}

int gdr_unmap(void *g, gdr_mh_t handle, void *address, size_t size)
{
	(void)g;
	if (handle.h >= PINS || pins[handle.h].mapped != address || munmap(address, size))
		abort();
	pins[handle.h].mapped = NULL;
	return 0;
}
