/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Results that a program gets on a machine without this board. */
#include "libpeerlane.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	struct pl_device *device = (struct pl_device *)&device;
	struct pl_request request;
	struct pl_statistics statistics;
	int code;

	if (pl_version() != PL_VERSION)
		return 1;
	code = pl_open("/dev/null/no-such-board", &device);
	printf("%d: %s. %s (%d)\n", code, pl_error_text(), pl_error_remedy(), (int)pl_error_number());
	if (code >= 0 || device != NULL)
		return 2;
	if (pl_open("/dev/null/no-such-board", NULL) != PL_INVALID)
		return 3;
	if (pl_allocate(NULL, 4096, NULL) != PL_INVALID)
		return 4;
	memset(&request, 0, sizeof request);
	if (pl_submit(NULL, &request, NULL) != PL_INVALID)
		return 5;
	if (pl_list_submit(NULL, &request, 1, 0, NULL) != PL_INVALID || pl_error_piece() != -1)
		return 6;
	memset(&statistics, 0, sizeof statistics);
	statistics.size = sizeof statistics;
	if (pl_queue_statistics(NULL, &statistics) != PL_INVALID)
		return 7;
	pl_close(NULL);
	return 0;
}
