/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A mock of a GPU of AMD's: HIP and HSA (hsa.c, hip.c), and OpenCL with DirectGMA (opencl.c), as three libraries with
 * the names of AMD's. Functions fake_* belong to the mock: tests control and inspect it by them.
 *
 * The contract: hip/hip_runtime_api.h, hsa/hsa.h, hsa/hsa_ext_amd.h of ROCm; CL/cl.h of the OpenCL Registry; AMD's
 * CL/cl_ext.h, and the calls that AMD's runtime refuses (ROCm/clr, opencl/amdocl/cl_memobj.cpp and cl_sdi_amd.cpp).
 */
#ifndef FAKEAMD_H
#define FAKEAMD_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* Faults of the next calls, until another fault is set. */
enum fake_fault {
	FAKE_NONE,
	/* hsa_amd_portable_export_dmabuf: the kernel refuses (HSA_STATUS_ERROR_OUT_OF_RESOURCES). */
	FAKE_REFUSED,
	/* The dma-buf is too short. */
	FAKE_SHORT,
	/* The returned offset in the dma-buf is not the address's offset in its page. */
	FAKE_SHIFTED,
	/* The call succeeds and makes no descriptor. */
	FAKE_NO_FILE,
	/* clEnqueueMakeBuffersResidentAMD: the command fails when it runs, and the call succeeds. */
	FAKE_NOT_RESIDENT,
	/* Device and platform do not know the extension. */
	FAKE_NO_EXTENSION,
	/* The device names the extension, and the platform has no functions. */
	FAKE_NO_FUNCTIONS,
	/* Asynchronous copies never end. */
	FAKE_STUCK,
	/* Data that peers write are held back until hipDeviceFlushGPUDirectRDMAWrites. */
	FAKE_STALE,
	/*
	 * Data that peers write are held back until the register of hipDeviceAttributeHdpMemFlushCntl is written: a
	 * runtime without that function.
	 */
	FAKE_STALE_REGISTER,
	/* Data that peers write are held back, and nothing flushes them. */
	FAKE_STALE_FOR_EVER,
	/* The GPU keeps data that it has read of an allocation until it writes there itself. Nothing flushes. */
	FAKE_KEPT,
	/* hipLaunchHostFunc and clFlush fail after a copy that runs. */
	FAKE_UNTOLD,
};

#define FAKE_PAGE 4096u

/* A thread that runs one task after the other. */
struct task {
	void (*run)(void *);
	void *of;
	struct task *next;
};

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct task *first, *last;
	int busy, over;
};

static inline void *worker_main(void *of)
{
	struct worker *worker = of;
	struct task *task;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (!worker->first && !worker->over)
			pthread_cond_wait(&worker->changed, &worker->lock);
		task = worker->first;
		if (!task)
			break;
		worker->first = task->next;
		worker->busy = 1;
		pthread_mutex_unlock(&worker->lock);
		task->run(task->of);
		free(task);
		pthread_mutex_lock(&worker->lock);
		worker->busy = 0;
		pthread_cond_broadcast(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	free(worker);
	return NULL;
}

static inline struct worker *worker_new(void)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	pthread_t thread;

	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (pthread_create(&thread, NULL, worker_main, worker))
		abort();
	pthread_detach(thread);
	return worker;
}

static inline void worker_do(struct worker *worker, void (*run)(void *), void *of)
{
	struct task *task = calloc(1, sizeof(*task));

	task->run = run;
	task->of = of;
	pthread_mutex_lock(&worker->lock);
	if (worker->first)
		worker->last->next = task;
	else
		worker->first = task;
	worker->last = task;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

static inline int worker_rests(struct worker *worker)
{
	int rests;

	pthread_mutex_lock(&worker->lock);
	rests = !worker->first && !worker->busy;
	pthread_mutex_unlock(&worker->lock);
	return rests;
}

static inline void worker_wait(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->first || worker->busy)
		pthread_cond_wait(&worker->changed, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
}

/* The thread ends when it has done its tasks. */
static inline void worker_leave(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->over = 1;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

/* hsa.c, for hip.c: memory of the GPU, or memory of the host that HSA knows. */
void *fake_allocate(size_t size, int of_host, int device);
int fake_free(void *address);
/*
 * The GPU's view of an address in an allocation: the memory itself, or, where data that peers write are held back, the
 * memory at the last flush, or at its first read. The GPU sees data that the GPU and HIP write at once.
 */
const void *fake_seen(const void *address);
void fake_written(const void *address, size_t size);
void fake_flush(void);
enum fake_fault fake_hsa_fault_now(void);
/* Finds the allocation with an address: 0 if it does not exist. */
int fake_find(const void *address, void **base, size_t *size);

#endif
