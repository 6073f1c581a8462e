# SPDX-License-Identifier: MIT OR Apache-2.0
"""01: memory of this program goes to the FPGA's memory and back.

    pip install host/python
    python examples/01-hello/hello.py
    PEERLANE_DEVICE=simulated python examples/01-hello/hello.py    # without a board
"""

import asyncio

import peerlane

BYTES = 100_000


async def main():
    data = bytes(i * 7 % 256 for i in range(BYTES))
    back = bytearray(BYTES)
    with peerlane.Device() as device:
        # FPGA memory of our own, before there is a queue.
        fpga = device.allocate(BYTES)
        queue = device.queue()
        # Memory that the board may read, and memory that it may write.
        await queue.to_fpga(device.register(data, write=False), fpga)
        moved = await queue.from_fpga(fpga, device.register(back))
    assert back == data, "other bytes came back"
    print(f"{moved} bytes to the FPGA and back")


asyncio.run(main())
