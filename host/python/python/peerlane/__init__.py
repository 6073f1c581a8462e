# SPDX-License-Identifier: MIT OR Apache-2.0
"""Moves data between an FPGA board with the Peerlane block and memory of the host or a GPU.

>>> import peerlane
>>> with peerlane.Device("simulated") as device:    # doctest: +SKIP
...     fpga = device.allocate(1 << 20)
...     queue = device.queue()
...     data = bytearray(b"some data")
...     region = device.register(data)
...     queue.copy(fpga, region).wait(1.0)

``Device()`` opens a board of this computer, and ``Device("simulated")`` the simulated one.

The memory belongs to other objects. They have the buffer protocol (a ``bytearray``, a NumPy array), DLPack (a PyTorch
tensor) or ``__cuda_array_interface__`` (a tensor on an NVIDIA or AMD GPU), or another driver exports the memory as a
dma-buf. A region keeps its object until the region has ended, and a transfer keeps its region until the transfer has
ended.

Every error is a ``peerlane.Error`` with a hint in ``remedy``. All objects can be used from several threads. The child of
a fork must not use them.
"""

from ._errors import (
    BrokenError,
    BusyError,
    Error,
    FaultError,
    GoneError,
    InvalidError,
    NoDeviceError,
    RefusedError,
    RestartedError,
    StoppedError,
    TooLargeError,
    TransferTimeout,
    UnsupportedError,
)
from ._peerlane import Device, FpgaMemory, Queue, Region, Statistics, Transfer, __version__

__all__ = [
    "BrokenError",
    "BusyError",
    "Device",
    "Error",
    "FaultError",
    "FpgaMemory",
    "GoneError",
    "InvalidError",
    "NoDeviceError",
    "Queue",
    "RefusedError",
    "Region",
    "RestartedError",
    "Statistics",
    "StoppedError",
    "TooLargeError",
    "Transfer",
    "TransferTimeout",
    "UnsupportedError",
    "__version__",
]
