# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of an AMD GPU on the simulated board. HIP and HSA are mocks, which hold back the board's writes."""

import ctypes

import pytest

LENGTH = 5000


class Hip:
    """The calls of HIP that PyTorch makes."""

    def __init__(self):
        self.library = ctypes.CDLL("libamdhip64.so.6")

    def __call__(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name


@pytest.fixture
def hip(monkeypatch):
    monkeypatch.setenv("FAKE_AMD_HELD_BACK", "hipDeviceFlushGPUDirectRDMAWrites")
    return Hip()


class Tensor:
    """Bytes in the GPU's memory. PyTorch for AMD has CUDA's interface, and DLPack says which GPU has the memory."""

    def __init__(self, hip, data):
        self.hip, self.length = hip, len(data)
        address = ctypes.c_void_p()
        hip("hipMalloc", ctypes.byref(address), ctypes.c_size_t(self.length))
        self.address = address.value
        hip("hipMemcpy", address, data, ctypes.c_size_t(self.length), 1)

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, False), "shape": (self.length,), "typestr": "|u1", "version": 3}

    def __dlpack_device__(self):
        return (10, 0)

    def tobytes(self):
        found = ctypes.create_string_buffer(self.length)
        self.hip("hipMemcpy", found, ctypes.c_void_p(self.address), ctypes.c_size_t(self.length), 2)
        return found.raw


def test_what_the_board_wrote_is_seen_after_a_flush(hip, device):
    data = bytes(i * 7 % 256 for i in range(LENGTH))
    there, back = Tensor(hip, data), Tensor(hip, bytes(LENGTH))
    fpga = device.allocate(LENGTH)
    queue = device.queue()
    queue.copy(fpga, device.register(there)).wait(10.0)
    target = device.register(back)
    assert target.is_gpu
    assert queue.copy(target, fpga).wait(10.0) == LENGTH
    assert back.tobytes() == bytes(LENGTH), "the mock holds nothing back"
    target.flush()
    assert back.tobytes() == data
    # No data for the host's memory are held back.
    device.register(bytearray(8)).flush()
