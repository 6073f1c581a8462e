/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loses memory, which a check of memory has to find. */
#include <stdlib.h>

int main(void)
{
	void *volatile lost = malloc(64);

	lost = NULL;
	return lost != NULL;
}
