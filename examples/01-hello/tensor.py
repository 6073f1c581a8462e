# SPDX-License-Identifier: MIT OR Apache-2.0
"""01, with a tensor: memory of an NVIDIA GPU goes to the FPGA's memory and back, without a copy in the host's memory.

    python3 -m venv ~/peerlane
    ~/peerlane/bin/pip install torch host/python
    ~/peerlane/bin/python examples/01-hello/tensor.py
"""

import sys

import peerlane
import torch

LENGTH = 100_000


def is_read_well(tensor):
    """Whether the board reads the bytes of the tensor: not every computer passes reads between PCIe devices."""
    # A device of its own: after a probe it has no queue.
    with peerlane.Device() as device:
        fpga = device.allocate(64)
        try:
            with device.register(tensor, write=False) as region:
                return region.probe(fpga) == bytes(tensor[:64].tolist())
        except (peerlane.FaultError, peerlane.UnsupportedError):
            return False


def main():
    there = torch.randint(0, 256, (LENGTH,), dtype=torch.uint8, device="cuda")
    back = torch.zeros_like(there)
    # The bytes that kernels write must be in memory before the board reads.
    torch.cuda.synchronize()
    if not is_read_well(there):
        sys.exit("the board does not read the GPU's bytes: copy through the host's memory, with tensor.cpu()")

    with peerlane.Device() as device:
        # FPGA memory of our own, before there is a queue.
        fpga = device.allocate(LENGTH)
        queue = device.queue()
        # Regions keep their tensors. The board also reads `back`, to prove that its writes have arrived. If that fails,
        # register it with read=False.
        source, target = device.register(there), device.register(back)
        queue.copy(fpga, source).wait(10.0)
        moved = queue.copy(target, fpga).wait(10.0)
        # On an AMD GPU (PyTorch names it "cuda", too) the bytes may be held back.
        target.flush()
    # Kernels that are launched from now on see the bytes.
    if not torch.equal(there, back):
        sys.exit("other bytes came back")
    print(f"{moved} bytes from the GPU to the FPGA and back")


main()
