# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a GPU on the simulated board. CUDA's driver is a mock, and so is PyTorch, which has no NumPy: pip installs
none with it."""

import ctypes
import runpy
import sys
import types
from pathlib import Path

import numpy
import peerlane
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LARGE_PAGE = 2 << 20


class Cuda:
    """The calls of CUDA's driver that PyTorch makes."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name


@pytest.fixture(scope="module")
def cuda():
    return Cuda()


class Tensor:
    """Bytes in the GPU's memory, from a pool, as PyTorch's allocator has it."""

    def __init__(self, cuda, address, length):
        self.cuda, self.address, self.length = cuda, address, length

    @classmethod
    def of(cls, cuda, array):
        address = ctypes.c_ulonglong()
        whole = -(-array.nbytes // LARGE_PAGE) * LARGE_PAGE
        cuda("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(whole))
        # Not at the pool's beginning.
        made = cls(cuda, address.value + 512, array.nbytes)
        data = array.tobytes()
        cuda("cuMemcpyHtoD_v2", ctypes.c_ulonglong(made.address), data, ctypes.c_size_t(len(data)))
        return made

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, False), "shape": (self.length,), "typestr": "|u1", "version": 3}

    def __dlpack_device__(self):
        return (2, 0)

    def __getitem__(self, part):
        begin, end, _ = part.indices(self.length)
        return Tensor(self.cuda, self.address + begin, end - begin)

    def tolist(self):
        found = (ctypes.c_uint8 * self.length)()
        self.cuda("cuMemcpyDtoH_v2", found, ctypes.c_ulonglong(self.address), ctypes.c_size_t(self.length))
        return list(found)


@pytest.fixture
def torch(cuda, monkeypatch):
    made = types.ModuleType("torch")
    made.uint8 = numpy.uint8

    def randint(low, high, size, *, dtype, device):
        assert device == "cuda"
        return Tensor.of(cuda, numpy.random.default_rng(1).integers(low, high, size, dtype=dtype))

    made.randint = randint
    made.zeros_like = lambda tensor: Tensor.of(cuda, numpy.zeros(tensor.length, dtype=numpy.uint8))
    made.equal = lambda a, b: a.tolist() == b.tolist()
    made.cuda = types.SimpleNamespace(synchronize=lambda: cuda("cuCtxSynchronize"))
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


def test_the_example_with_tensors(torch, monkeypatch, capsys):
    monkeypatch.setenv("PEERLANE_DEVICE", "simulated")
    runpy.run_path(str(EXAMPLES / "01-hello" / "tensor.py"), run_name="__main__")
    assert capsys.readouterr().out == "100000 bytes from the GPU to the FPGA and back\n"


def test_a_probe_stays_in_the_memory(torch, device):
    """The pages around it are registered, too."""
    tensor = torch.randint(0, 256, (1000,), dtype=torch.uint8, device="cuda")
    fpga = device.allocate(64)
    region = device.register(tensor)
    data = bytes(tensor.tolist())
    assert region.probe(fpga) == data[:64]
    assert region.probe(fpga, offset=936) == data[936:]
    with pytest.raises(peerlane.InvalidError):
        region.probe(fpga, offset=937)


def test_a_gpu_without_room_is_busy(torch, device, monkeypatch):
    tensor = torch.randint(0, 256, (1000,), dtype=torch.uint8, device="cuda")
    # The GPU's BAR has no room for one more.
    monkeypatch.setenv("FAKE_CUDA_BAR_FULL", "1")
    with pytest.raises(peerlane.BusyError, match="BAR1"):
        device.register(tensor)
    monkeypatch.delenv("FAKE_CUDA_BAR_FULL")
    assert device.register(tensor).is_gpu
    # An address outside of the GPU's memory is refused, and not for lack of room.
    with pytest.raises(peerlane.RefusedError):
        device.register(Tensor(tensor.cuda, 1 << 40, 1000))


def test_a_device_retains_the_primary_context_once(torch, cuda, device):
    """A program with a context of its own would have the primary one made and destroyed for each registration."""
    tensors = [torch.randint(0, 256, (1000,), dtype=torch.uint8, device="cuda") for _ in range(4)]
    before = cuda.library.fake_cuda_retains()
    regions = [device.register(tensor) for tensor in tensors]
    regions[0].close()
    regions.append(device.register(tensors[0]))
    assert cuda.library.fake_cuda_retains() - before <= 1
