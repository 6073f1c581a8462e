/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * 01: memory of this program goes to the FPGA's memory and back.
 *
 *     cc hello.c $(pkg-config --cflags --libs libpeerlane) -o hello
 *     PEERLANE_DEVICE=simulated ./hello      (without a board)
 */
#include <libpeerlane.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100000 };

static void check(const char *what, int code)
{
	if (code >= 0)
		return;
	fprintf(stderr, "%s: %s. %s\n", what, pl_error_text(), pl_error_remedy());
	exit(1);
}

int main(void)
{
	const int64_t limit = 10 * 1000000000ll;
	static unsigned char there[BYTES], back[BYTES];
	struct pl_device *device;
	struct pl_queue *queue;
	struct pl_region *from, *to;
	struct pl_transfer *transfer, *second;
	struct pl_request request;
	uint64_t address, moved;
	int i;

	for (i = 0; i < BYTES; i++)
		there[i] = (unsigned char)(i * 7);

	check("board", pl_open(NULL, &device));
	/* FPGA memory of our own, before there is a queue. */
	check("memory", pl_allocate(device, BYTES, &address));
	check("queue", pl_queue_open(device, &queue));
	/* Memory that the board may read, and memory that it may write. */
	check("region", pl_register(device, there, BYTES, PL_READ, &from));
	check("region", pl_register(device, back, BYTES, PL_READ | PL_WRITE, &to));

	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.direction = PL_TO_FPGA;
	request.region = from;
	request.fpga_address = address;
	request.length = BYTES;
	check("submit", pl_submit(queue, &request, &transfer));
	/* The way back begins by itself when the first transfer has ended. */
	request.direction = PL_FROM_FPGA;
	/* It finds the first one's data on boards with interconnect_stages = 0, the default: see PL_AFTER_TO_FPGA. */
	request.flags = PL_AFTER_TO_FPGA;
	request.region = to;
	check("submit", pl_submit(queue, &request, &second));
	/* The second transfer begins even if the first one failed: look at both. */
	check("to the FPGA", pl_transfer_wait(transfer, limit, NULL));
	check("from the FPGA", pl_transfer_wait(second, limit, &moved));

	pl_transfer_free(transfer);
	pl_transfer_free(second);
	/* Close the queue first: after that no transfer is in progress, and the memory is ours again. */
	check("close", pl_queue_close(queue));
	check("unregister", pl_unregister(from));
	check("unregister", pl_unregister(to));
	pl_close(device);
	if (memcmp(there, back, BYTES)) {
		fprintf(stderr, "other bytes came back\n");
		return 1;
	}
	printf("%lu bytes to the FPGA and back\n", (unsigned long)moved);
	return 0;
}
