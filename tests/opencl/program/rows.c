/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands for which the runtime makes several transfers, or none: rectangles, images, fills, migrations, and buffers
 * in the host's memory.
 */
#include "host.h"

enum { ROWS = 5, SLICES = 2 };

static unsigned char at(size_t i, int seed)
{
	return (unsigned char)(i * 31 + i / 251 + (size_t)seed);
}

/* Checks that the rows of a rectangle are those of another one, and that all other bytes are `rest`. */
static void check_rows(const unsigned char *found, const unsigned char *data, size_t row, size_t pitch, size_t all,
		       unsigned char rest)
{
	for (size_t i = 0; i < all; i++)
		MUST(found[i] == (i % pitch < row && i / pitch < ROWS * SLICES ? data[i] : rest));
}

/*
 * Rectangles of such rows: written, copied, read. Waits for each end separately, because the next command might wait,
 * too.
 */
static void rectangles(cl_command_queue queue, size_t row, cl_bool blocking)
{
	const size_t pitch = row + 24, slice = ROWS * pitch, all = SLICES * slice + 64;
	const size_t zero[3] = { 0, 0, 0 }, region[3] = { row, ROWS, SLICES };
	const unsigned char rest = 0xee;
	unsigned char *data = malloc(all), *found = malloc(all);
	cl_mem a = new_buffer(all), b = new_buffer(all);
	cl_event event;

	MUST(data && found);
	for (size_t i = 0; i < all; i++)
		data[i] = at(i, (int)row);
	memset(found, rest, all);
	OK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, all, found, 0, NULL, NULL));
	OK(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, all, found, 0, NULL, NULL));

	OK(clEnqueueWriteBufferRect(queue, a, blocking, zero, zero, region, pitch, slice, pitch, slice, data, 0, NULL,
				    &event));
	until_complete(event);
	OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, all, found, 0, NULL, NULL));
	check_rows(found, data, row, pitch, all, rest);

	OK(clEnqueueCopyBufferRect(queue, a, b, zero, zero, region, pitch, slice, pitch, slice, 0, NULL, &event));
	until_complete(event);
	OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, all, found, 0, NULL, NULL));
	check_rows(found, data, row, pitch, all, rest);

	memset(found, 0x55, all);
	OK(clEnqueueReadBufferRect(queue, b, blocking, zero, zero, region, pitch, slice, pitch, slice, found, 0, NULL,
				   &event));
	until_complete(event);
	check_rows(found, data, row, pitch, all, 0x55);

	/* One after the other. */
	OK(clEnqueueCopyBufferRect(queue, b, a, zero, zero, region, pitch, slice, pitch, slice, 0, NULL, NULL));
	OK(clEnqueueReadBufferRect(queue, a, CL_TRUE, zero, zero, region, pitch, slice, pitch, slice, found, 0, NULL,
				   NULL));
	check_rows(found, data, row, pitch, all, 0x55);
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	free(data);
	free(found);
}

static void fill_and_migrate(cl_command_queue queue)
{
	enum { BYTES = 70000 };
	static unsigned char found[BYTES];
	const uint32_t pattern = 0x01020304;
	cl_mem buffers[3];
	cl_event event;

	for (int i = 0; i < 3; i++) {
		buffers[i] = new_buffer(BYTES);
		OK(clEnqueueFillBuffer(queue, buffers[i], &pattern, sizeof(pattern), 4, BYTES - 8, 0, NULL, &event));
		until_complete(event);
	}
	OK(clEnqueueMigrateMemObjects(queue, 3, buffers, 0, 0, NULL, &event));
	until_complete(event);
	for (int i = 0; i < 3; i++) {
		OK(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, BYTES, found, 0, NULL, NULL));
		for (size_t at = 4; at < BYTES - 4; at += 4)
			MUST(!memcmp(found + at, &pattern, 4));
		OK(clReleaseMemObject(buffers[i]));
	}
}

/* A part of an image is a rectangle. */
static void images(cl_command_queue queue)
{
	enum { WIDTH = 1200, HEIGHT = 7 };
	static uint32_t data[HEIGHT * WIDTH], found[HEIGHT * WIDTH];
	const cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT8 };
	const cl_image_desc description = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH,
					    .image_height = HEIGHT };
	const size_t origin[3] = { 0, 0, 0 }, all[3] = { WIDTH, HEIGHT, 1 }, part[3] = { WIDTH - 50, HEIGHT - 2, 1 };
	const size_t place[3] = { 50, 2, 0 };
	cl_event event;
	cl_int error;
	cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, NULL, &error);

	OK(error);
	for (size_t i = 0; i < HEIGHT * WIDTH; i++)
		data[i] = (uint32_t)i * 2654435761u;
	OK(clEnqueueWriteImage(queue, image, CL_TRUE, origin, all, 0, 0, data, 0, NULL, NULL));
	OK(clEnqueueReadImage(queue, image, CL_FALSE, place, part, WIDTH * 4, 0, found, 0, NULL, &event));
	until_complete(event);
	for (size_t y = 0; y < part[1]; y++)
		MUST(!memcmp(found + y * WIDTH, data + (y + 2) * WIDTH + 50, part[0] * 4));
	OK(clReleaseMemObject(image));
}

/* A buffer in the program's own memory is mapped and unmapped, whole and in part, and is at its own address. */
static void mapped(cl_command_queue queue)
{
	enum { BYTES = 65536 };
	unsigned char *memory = aligned_alloc(4096, BYTES), *found = malloc(BYTES), *place;
	cl_int error;
	cl_mem buffer;

	MUST(memory && found);
	for (size_t i = 0; i < BYTES; i++)
		memory[i] = at(i, 1);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, BYTES, memory, &error);
	OK(error);
	for (int round = 0; round < 3; round++) {
		const cl_map_flags flags = round == 1 ? CL_MAP_READ : CL_MAP_READ | CL_MAP_WRITE;
		const size_t offset = round == 2 ? 1024 : 0;

		place = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, offset, 8192, 0, NULL, NULL, &error);
		OK(error);
		MUST(place == memory + offset);
		for (size_t i = 0; i < 8192 && round != 1; i++)
			place[i] = at(i, round);
		OK(clEnqueueUnmapMemObject(queue, buffer, place, 0, NULL, NULL));
		OK(clFinish(queue));
		OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, found, 0, NULL, NULL));
		MUST(!memcmp(found, memory, BYTES) && found[offset + 5] == at(5, round == 1 ? 0 : round));
	}
	OK(clReleaseMemObject(buffer));
	free(memory);
	free(found);
}

/* Reads past the end of an array: a program that watches memory must report it. */
void part_wrong(int count, char **arguments)
{
	volatile size_t behind = 16;
	volatile char *bytes = malloc(16);

	(void)count, (void)arguments;
	MUST(bytes);
	printf("%d\n", bytes[behind] == 1);
	free((void *)bytes);
}

void part_rows(int count, char **arguments)
{
	static const size_t rows[] = { 1, 17, 4096, 4097, 9000 };
	cl_command_queue queue;

	(void)count, (void)arguments;
	make_context(1);
	for (int order = 0; order < 2; order++) {
		queue = new_queue(0, order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (!order)
				rectangles(queue, rows[i], i % 2 ? CL_TRUE : CL_FALSE);
		fill_and_migrate(queue);
		images(queue);
		mapped(queue);
		OK(clReleaseCommandQueue(queue));
	}
	OK(clReleaseContext(context));
}
