/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* null.c with functions of extensions that PoCL has not: cl_ext_device_fission, cl_intelfpga_live_object_tracking. */
#include "null.c"

int clCreateSubDevicesEXT(void *device, const unsigned long *properties, unsigned entries, void **devices,
			  unsigned *number)
{
	(void)device, (void)properties, (void)entries;
	if (devices)
		*devices = objects[2];
	if (number)
		*number = 1;
	return 0;
}

/* The last object is a buffer of the program's, and there is one that the program does not know. */
void clReportLiveObjectsIntelFPGA(void *platform, void (*report)(void *, void *, const char *, unsigned), void *data)
{
	static long hidden[8];

	(void)platform;
	if (!report)
		return;
	report(data, objects[4 + (last - 1) % 4000], "cl_mem", 1);
	report(data, hidden, "cl_mem", 1);
	report(data, objects[1], "of no type", 1);
}

int clReleaseDeviceEXT(void *device)
{
	(void)device;
	return 0;
}

/* CL_DEVICE_PARENT_DEVICE_EXT, CL_DEVICE_PARENT_DEVICE */
int clGetDeviceInfo(void *device, unsigned what, size_t size, void *value, size_t *size_ret)
{
	void *parent = device == objects[2] ? objects[1] : NULL;

	if ((what != 0x4054 && what != 0x1042) || (value && size < sizeof(parent)))
		return -30;
	if (value)
		memcpy(value, &parent, sizeof(parent));
	if (size_ret)
		*size_ret = sizeof(parent);
	return 0;
}
