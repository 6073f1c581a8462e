# SPDX-License-Identifier: MIT OR Apache-2.0
"""Awaiting transfers of a board that has a file: `/dev/peerlane0`, where the driver is loaded.

    python host/python/tests/on_a_board.py

pytest does not run it: the simulated board in the process has no file.
"""

import asyncio
import threading
import time

import peerlane
from peerlane import _asyncio

BYTES = 64 << 10


class Timers:
    """Counts the turns that a loop has called by its timer: the file should have called them."""

    def __init__(self):
        self.turn = _asyncio._Turner.turn
        self.late = 0

    def __enter__(self):
        def turn(turner):
            # The loop calls a timer as early as the resolution of its clock allows.
            now = turner.loop.time() + time.get_clock_info("monotonic").resolution
            if turner.timer is not None and turner.timer.when() <= now:
                self.late += 1
            self.turn(turner)

        _asyncio._Turner.turn = turn
        return self

    def __exit__(self, *_):
        _asyncio._Turner.turn = self.turn


def filled(seed):
    return bytes((i * 7 + seed) % 251 for i in range(BYTES))


async def many(device, transfers=16):
    """Transfers that are awaited at once, each of its own data."""
    fpga = device.allocate(BYTES * transfers)
    queue = device.queue()
    there = [filled(i) for i in range(transfers)]
    back = [bytearray(BYTES) for _ in there]
    reads = [device.register(data, write=False) for data in there]
    writes = [device.register(data) for data in back]
    place = [fpga.address + i * BYTES for i in range(transfers)]
    await asyncio.gather(*(queue.to_fpga(region, at) for region, at in zip(reads, place)))
    await asyncio.gather(*(queue.from_fpga(at, region) for region, at in zip(writes, place)))
    assert [bytes(data) for data in back] == there


async def given_up(device):
    """A task that gives up leaves the transfer, and the loop, to the next one."""
    fpga = device.allocate(BYTES)
    queue = device.queue()
    first = queue.copy(fpga, device.register(filled(1), write=False))
    try:
        await asyncio.wait_for(first, 0)
    except asyncio.TimeoutError:
        pass
    back = bytearray(BYTES)
    await queue.to_fpga(device.register(filled(2), write=False), fpga)
    assert await queue.from_fpga(fpga, device.register(back)) == BYTES
    assert back == filled(2)
    assert await first == BYTES


async def idle(device):
    """While nothing is awaited the loop watches no file."""
    fpga = device.allocate(BYTES)
    queue = device.queue()
    await queue.copy(fpga, device.register(filled(3), write=False))
    assert not _asyncio._turners
    assert not asyncio.get_running_loop().remove_reader(queue._fileno())


def in_threads():
    """Each thread has a loop, and a context of the board, of its own."""
    failed = []

    def run():
        try:
            with peerlane.Device() as device:
                asyncio.run(many(device, 4))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def main():
    with Timers() as timers:
        for course in (many, given_up, idle):
            begin = time.monotonic()
            # FPGA memory comes before the queue, so each course has a context of its own.
            with peerlane.Device() as device:
                asyncio.run(course(device))
            print(f"{course.__name__}: {time.monotonic() - begin:.2f} s")
        assert threading.active_count() == 1, "a thread was started"
        in_threads()
        assert timers.late == 0, f"{timers.late} turns by the timer: the file did not notify the loop"
    assert not _asyncio._turners
    print("awaited well")


main()
