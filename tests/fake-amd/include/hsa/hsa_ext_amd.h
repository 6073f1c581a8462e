/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HSA, as far as examples/01-hello/rocm.c needs it: names and numbers of ROCR-Runtime's hsa.h and hsa_ext_amd.h. */
#ifndef FAKE_HSA_H
#define FAKE_HSA_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
	HSA_STATUS_SUCCESS = 0,
} hsa_status_t;

hsa_status_t hsa_init(void);
hsa_status_t hsa_status_string(hsa_status_t status, const char **text);
hsa_status_t hsa_amd_portable_export_dmabuf(const void *address, size_t size, int *file, uint64_t *offset);
hsa_status_t hsa_amd_portable_close_dmabuf(int file);

#endif
