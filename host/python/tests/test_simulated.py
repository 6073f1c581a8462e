# SPDX-License-Identifier: MIT OR Apache-2.0
"""Transfers on the simulated board."""

import asyncio
import ctypes
import errno
import faulthandler
import gc
import os
import runpy
import selectors
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path

import numpy
import peerlane
import pytest
from peerlane import _asyncio, _peerlane

LENGTH = 10_001
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def pattern(seed, length=LENGTH):
    return bytes((i * 7 + i // 256 + seed * 41) % 256 for i in range(length))


def there_and_back(device, memory, view):
    """Writes a pattern through the FPGA over memory, and back into other memory of its kind."""
    fpga = device.allocate(LENGTH)
    queue = device.queue()
    view[:] = pattern(1)
    region = device.register(memory)
    assert len(region) == LENGTH and not region.is_gpu
    assert queue.copy(fpga, region).wait() == LENGTH
    view[:] = bytes(LENGTH)
    assert queue.copy(region, fpga).wait(10.0) == LENGTH
    assert bytes(view) == pattern(1)
    assert queue.under_way == 0


def test_bytearray(device):
    memory = bytearray(LENGTH)
    there_and_back(device, memory, memoryview(memory))
    gc.collect()
    # There are no references to it any more.
    memory.extend(b"more")


def test_numpy(device):
    memory = numpy.zeros(LENGTH, dtype=numpy.uint8)
    there_and_back(device, memory, memoryview(memory))


class Tensor:
    """Of a package that has DLPack and no buffer protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(device):
    memory = numpy.zeros((LENGTH,), dtype=numpy.uint8)
    there_and_back(device, Tensor(memory), memoryview(memory))
    words = numpy.arange(6, dtype=numpy.uint32).reshape(2, 3)
    assert len(device.register(Tensor(words))) == 24
    assert len(device.register(Tensor(words[1:]))) == 12
    for gaps in [words[:, 1:], words.T]:
        with pytest.raises(peerlane.InvalidError, match="contiguous"):
            device.register(Tensor(gaps))


class Lazy(Tensor):
    """A tensor that its package does not export."""

    def __dlpack__(self, **arguments):
        raise BufferError("Can't export tensors that require gradient")


def test_a_tensor_that_is_not_given_out(device):
    with pytest.raises(peerlane.InvalidError, match="require gradient.*detach") as raised:
        device.register(Lazy(numpy.zeros(4)))
    assert isinstance(raised.value.__cause__, BufferError)


class OfOneApi(Tensor):
    def __dlpack_device__(self):
        return (14, 0)


def test_tensors_of_other_gpus_go_as_dma_bufs(device):
    with pytest.raises(peerlane.UnsupportedError, match="register_dmabuf"):
        device.register(OfOneApi(numpy.zeros(4)))


def test_parts_at_odd_places(device):
    fpga = device.allocate(2 * LENGTH)
    queue = device.queue()
    data, back = bytearray(pattern(2)), bytearray(b"\xee" * LENGTH)
    with device.register(data, write=False) as source, device.register(back) as destination:
        queue.to_fpga(source, fpga.address + 3, offset=5, length=1000)
        chained = queue.from_fpga(fpga.address + 3, destination, offset=7, length=1000, after_to_fpga=True)
        assert chained.wait() == 1000 and len(chained) == 1000
    assert back[7:1007] == data[5:1005]
    assert back[:7] + back[1007:] == b"\xee" * (LENGTH - 1000)


def test_what_is_refused(device):
    fpga = device.allocate(LENGTH)
    queue = device.queue()
    region = device.register(bytearray(LENGTH), write=False)
    refusals = [
        lambda: queue.from_fpga(fpga, region),  # the board may not write it
        lambda: queue.to_fpga(region, fpga, length=0),
        lambda: queue.to_fpga(region, fpga, offset=1, length=LENGTH),
        lambda: queue.to_fpga(region, fpga, offset=1 << 63),
        lambda: queue.to_fpga(region, 1 << 62),
        lambda: device.register(pattern(0)),  # bytes are read-only
        lambda: device.register(bytearray(8), read=False, write=False),
        lambda: device.register(bytearray()),
        lambda: device.register(memoryview(bytearray(8))[::2]),
        lambda: device.register(object()),
    ]
    with peerlane.Device("simulated") as other, pytest.raises(peerlane.InvalidError):
        other.allocate(0)
    for number, refused in enumerate(refusals):
        with pytest.raises(peerlane.InvalidError) as raised:
            refused()
        assert raised.value.remedy and isinstance(raised.value, ValueError), number
    assert len(device.register(pattern(0), write=False)) == LENGTH
    with pytest.raises(peerlane.BusyError, match="queue"):
        device.queue()
    with pytest.raises(TypeError):
        queue.copy(region, region)
    with pytest.raises(peerlane.UnsupportedError):
        device.fileno()
    region.close()
    with pytest.raises(peerlane.InvalidError, match="closed"):
        queue.to_fpga(region, fpga)
    device.close()
    with pytest.raises(peerlane.InvalidError, match="closed"):
        device.allocate(1)


def test_a_transfer_keeps_its_memory(device):
    class Array(numpy.ndarray):
        """With weak references."""

    # This takes longer than the calls to the board in the meantime.
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    memory = numpy.zeros(1 << 20, dtype=numpy.uint8).view(Array)
    gone = weakref.ref(memory)
    transfer = queue.copy(fpga, device.register(memory))
    del memory
    gc.collect()
    assert gone() is not None and transfer.poll() is None
    del transfer
    gc.collect()
    assert gone() is not None and queue.under_way == 1
    queue.drain()
    gc.collect()
    assert gone() is None


class Memory(bytearray):
    """With attributes, and so with weak references and cycles."""


@pytest.fixture
def hangs_end():
    """A test that hangs ends the tests, with a trace of its threads."""
    faulthandler.dump_traceback_later(60, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.usefixtures("hangs_end")
def test_what_a_region_lets_go_of_may_come_back_to_it(device):
    class Late(Memory):
        def __del__(self):
            self.region.close()
            other = threading.Thread(target=self.region.close)
            other.start()
            other.join()
            with pytest.raises(peerlane.InvalidError, match="closed"):
                self.queue.to_fpga(self.region, 0)
            ends.append("came back")

    ends = []
    memory = Late(8)
    memory.queue = device.queue()
    region = memory.region = device.register(memory)
    del memory
    region.close()
    assert ends == ["came back"]


def test_cycles_of_regions_are_garbage(device):
    memory = Memory(8)
    memory.region = device.register(memory)
    gone = weakref.ref(memory)
    del memory
    gc.collect()
    assert gone() is None


def test_cycles_of_queues_are_garbage_when_their_transfers_have_ended(device):
    fpga = device.allocate(1 << 20)
    memory = Memory(1 << 20)
    memory.region = device.register(memory)
    memory.transfer = device.queue().copy(fpga, memory.region)
    # The program does not ask for its result.
    transfer, gone, queue = memory.transfer, weakref.ref(memory), weakref.ref(memory.transfer.queue)
    del memory
    gc.collect()
    assert gone() is not None and transfer.poll() is None
    transfer.queue._await_event(10.0)
    del transfer
    gc.collect()
    assert gone() is None and queue() is None


def test_a_queue_that_goes_stops_what_is_under_way(device):
    fpga = device.allocate(LENGTH)
    queue = device.queue()
    memory = bytearray(LENGTH)
    queue.copy(device.register(memory), fpga)
    del queue
    gc.collect()
    memory.extend(b"nobody has it")


def test_a_transfer_that_is_stopped_says_so(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    transfer = queue.copy(fpga, device.register(bytearray(1 << 20)))
    with pytest.raises(peerlane.TransferTimeout) as late:
        transfer.wait(0)
    assert isinstance(late.value, TimeoutError) and "goes on" in str(late.value)
    queue.restart()
    with pytest.raises(peerlane.StoppedError):
        transfer.wait()


def test_turns_take_note_of_what_the_board_reports(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    assert queue.next_turn == 1.0
    memory = Memory(1 << 20)
    gone = weakref.ref(memory)
    transfer = queue.copy(fpga, device.register(memory))
    del memory
    while queue.under_way:
        assert 0 < queue.next_turn <= 1.0
        queue._await_event(queue.next_turn)
        queue.turn()
    # It has released the memory, too.
    assert gone() is None and transfer.poll() == 1 << 20


def test_a_turn_acknowledges_what_the_file_told():
    """As the kernel's file: only a query of the driver acknowledges what was reported."""
    file = os.eventfd(0, os.EFD_NONBLOCK)
    device = _peerlane.watched(file)
    os.close(file)
    queue = device.queue()
    with selectors.DefaultSelector() as selector:
        selector.register(device.fileno(), selectors.EVENT_READ)
        assert not selector.select(0)
        transfer = queue.to_fpga(device.register(bytearray(64)), 0)
        assert selector.select(0)
        # A poll of the transfer acknowledges nothing: a loop without turns would not sleep.
        assert transfer.poll() == 64 and selector.select(0)
        queue.turn()
        assert not selector.select(0)


def test_one_transfer_is_called_off(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    region = device.register(bytearray(1 << 20))
    transfer = queue.copy(fpga, region)
    with pytest.raises(peerlane.StoppedError):
        transfer.stop()
    assert queue.under_way == 0
    # The queue remains usable, and ended transfers stay ended.
    again = queue.copy(region, fpga)
    assert again.wait() == 1 << 20
    assert again.stop(grace=1) == 1 << 20
    for wrong in [-1, float("nan")]:
        with pytest.raises(peerlane.InvalidError, match="not a time to wait"):
            again.stop(wrong)


@pytest.mark.parametrize(
    "number, error",
    [
        (errno.EAGAIN, peerlane.TransferTimeout),
        (errno.EIO, peerlane.TransferTimeout),
        (errno.EINTR, peerlane.BrokenError),
        (errno.EINVAL, peerlane.BrokenError),
        (errno.ENODEV, peerlane.GoneError),
    ],
)
def test_what_may_be_under_way_is_told_by_its_class(number, error):
    """EAGAIN and EIO: the driver starts the board again (peerlane.h, PEERLANE_IOC_STOP)."""
    device = _peerlane.stuck(number)
    queue = device.queue()
    transfer = queue.to_fpga(device.register(bytearray(64)), 0)
    for end in [queue.restart, transfer.stop]:
        with pytest.raises(error) as raised:
            end()
        # A board that is gone is an error of the library's own.
        expected = None if number == errno.ENODEV else number
        assert type(raised.value) is error and raised.value.errno == expected
    assert transfer.poll() is None and queue.under_way == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_fork_stops_nothing(device):
    fpga = device.allocate(1 << 20)
    with device.queue() as queue:
        transfer = queue.copy(fpga, device.register(bytearray(1 << 20)))
        child = os.fork()
        if child == 0:
            # As an exception leaves the block in the child.
            queue.__exit__(ValueError, ValueError("planted"), None)
            refused = 0
            for end in [queue.restart, transfer.stop]:
                try:
                    end()
                except peerlane.Error as error:
                    refused += "child of a fork" in str(error)
            os._exit(0 if queue.under_way == 0 and refused == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert transfer.wait() == 1 << 20


def test_times_are_as_elsewhere_in_python(device):
    fpga = device.allocate(LENGTH)
    queue = device.queue()
    region = device.register(bytearray(LENGTH))
    transfer = queue.copy(fpga, region)
    for wrong in [-1, -0.5, float("nan")]:
        for wait in [transfer.wait, queue.drain]:
            with pytest.raises(peerlane.InvalidError, match="not a time to wait"):
                wait(wrong)
    with pytest.raises(TypeError):
        transfer.wait("1")
    assert transfer.wait(float("inf")) == LENGTH
    assert queue.copy(fpga, region).wait(1e300) == LENGTH
    queue.drain(float("inf"))
    with pytest.raises(TimeoutError):
        queue.copy(fpga, device.register(bytearray(LENGTH))).wait(0)
    queue.drain()


def test_a_copy_is_of_all_or_of_nothing(device):
    fpga = device.allocate(1 << 16)
    queue = device.queue()
    long = device.register(bytearray((1 << 16) + 1))
    for destination, source in [(fpga, long), (long, fpga)]:
        with pytest.raises(peerlane.InvalidError, match="65537 bytes, and 65536 bytes"):
            queue.copy(destination, source)
    assert queue.under_way == 0
    assert queue.copy(fpga, device.register(bytearray(5))).wait() == 5
    with pytest.raises(TypeError):
        queue.copy(fpga, bytearray(5))


def test_a_queue_is_a_context(device):
    fpga = device.allocate(1 << 20)
    data, back = bytearray(pattern(3, 1 << 20)), bytearray(1 << 20)
    queue = device.queue()
    assert repr(queue).startswith("<peerlane.Queue of ") and repr(queue).endswith(", 0 under way>")
    with queue as same:
        assert same is queue
        there = queue.copy(fpga, device.register(data))
        assert repr(queue).endswith(", 1 under way>") and repr(there).endswith("to the FPGA, under way>")
        again = queue.from_fpga(fpga, device.register(back), after_to_fpga=True)
    # No transfer is under way after the block.
    assert queue.under_way == 0 and there.poll() == again.poll() == 1 << 20
    assert back == data and repr(again).endswith("from the FPGA, ended>")
    # After an exception transfers under way are stopped, and the exception is raised.
    with pytest.raises(KeyError), queue:
        stopped = queue.copy(fpga, device.register(data))
        raise KeyError
    assert queue.under_way == 0
    with pytest.raises((peerlane.FaultError, peerlane.StoppedError)):
        stopped.wait()
    assert queue.copy(fpga, device.register(data)).wait() == 1 << 20


def test_others_run_while_one_waits(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    region = device.register(bytearray(1 << 20))
    turns = 0
    done = threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    seen = 0
    # A busy machine may run the counter late, but not each time.
    for _ in range(20):
        transfer = queue.copy(fpga, region)
        before = turns
        transfer.wait()
        seen = max(seen, turns - before)
        if seen > 3:
            break
    done.set()
    thread.join()
    assert seen > 3


def test_transfers_are_awaited(device):
    fpga = device.allocate(4 * LENGTH)
    queue = device.queue()
    data = [bytearray(pattern(seed)) for seed in range(4)]

    async def move(number):
        place = fpga.address + number * LENGTH
        back = bytearray(LENGTH)
        assert await queue.to_fpga(device.register(data[number]), place) == LENGTH
        transfer = queue.from_fpga(place, device.register(back))
        assert await asyncio.wait_for(transfer, 60) == LENGTH
        # It has ended, and stays ended.
        assert await transfer == LENGTH
        return back

    async def all_of_them():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        found = await asyncio.gather(*(move(number) for number in range(4)))
        ticking.cancel()
        assert ticks > 3
        return found

    assert asyncio.run(all_of_them()) == data
    # In another loop, too.
    assert asyncio.run(move(1)) == data[1]


def test_a_task_hears_of_an_error_and_may_be_cancelled(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    region = device.register(bytearray(1 << 20))

    async def run():
        transfer = queue.copy(fpga, region)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(transfer, 0.001)
        waiting = asyncio.ensure_future(asyncio.wait_for(queue.copy(region, fpga), 60))
        await asyncio.sleep(0)
        queue.restart()
        with pytest.raises(peerlane.StoppedError):
            await waiting

    asyncio.run(run())


def test_a_task_that_gives_up_stops_nothing(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    transfer = queue.copy(fpga, device.register(bytearray(1 << 20)))

    async def run():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(transfer, 0.001)

    asyncio.run(run())
    assert not any(queue is other for _, other in _asyncio._turners)
    assert transfer.wait() == 1 << 20


class WithAFile:
    """A queue of a board that has a file, as the kernel's: an event counter. Its one transfer ends when the counter is written."""

    def __init__(self):
        self.file = os.eventfd(0, os.EFD_NONBLOCK)
        self.moved = None

    def end(self, moved):
        self.moved = moved
        os.eventfd_write(self.file, 1)

    def _fileno(self):
        return self.file

    @property
    def next_turn(self):
        return 1.0

    def turn(self):
        os.eventfd_read(self.file)

    @property
    def queue(self):
        return self

    def poll(self):
        return self.moved


def test_a_task_that_gives_up_keeps_nothing():
    queue = WithAFile()

    async def run():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_asyncio.ended(queue), 0.01)
        # The loop does not watch the file any more: this returns whether it did.
        return asyncio.get_running_loop().remove_reader(queue.file)

    assert not asyncio.run(run())
    assert not _asyncio._turners
    os.close(queue.file)


def test_the_loop_watches_the_file():
    queue = WithAFile()

    async def run():
        waits = [asyncio.ensure_future(_asyncio.ended(queue)) for _ in range(3)]
        await asyncio.sleep(0)
        waits[0].cancel()
        # A wait that gives up does not take the file from the others.
        await asyncio.sleep(0)
        queue.end(7)
        begin = time.monotonic()
        assert await asyncio.gather(*waits[1:]) == [7, 7]
        assert time.monotonic() - begin < 0.9, "the loop has waited for its timer"

    asyncio.run(run())
    assert not _asyncio._turners
    os.close(queue.file)


def test_a_probe_tells_what_the_board_reads():
    memory = bytearray(pattern(3))
    with peerlane.Device("simulated") as device:
        fpga = device.allocate(LENGTH)
        region = device.register(memory)
        assert region.probe(fpga, offset=123) == memory[123:187]
        assert region.probe(fpga.address + 5) == memory[:64]
        for offset in [LENGTH - 63, 2**64 - 1]:
            with pytest.raises(peerlane.InvalidError):
                region.probe(fpga, offset=offset)
        with pytest.raises(peerlane.InvalidError):
            region.probe(fpga.address + (1 << 16))
        with pytest.raises(peerlane.InvalidError):
            device.register(memory, read=False).probe(fpga)
        # The channel belongs to the driver from the first probe on.
        with pytest.raises(peerlane.BusyError):
            device.queue()
    with peerlane.Device("simulated") as device:
        fpga = device.allocate(LENGTH)
        region = device.register(memory)
        queue = device.queue()
        with pytest.raises(peerlane.BusyError):
            region.probe(fpga)
        del queue


def test_dma_bufs(device):
    """A file in memory replaces a dma-buf."""
    file = os.memfd_create("dma-buf")
    os.truncate(file, 1 << 16)
    os.pwrite(file, pattern(4), 100)
    same = os.dup(file)
    fpga = device.allocate(LENGTH + 3)
    queue = device.queue()
    region = device.register_dmabuf(file, LENGTH, offset=100)
    assert len(region) == LENGTH and region.is_gpu
    with open(file, "r+b") as other:
        back = device.register_dmabuf(other, LENGTH + 3, offset=20_000, read=False)
        ragged = device.register_dmabuf(other, LENGTH, offset=20_000, read=False)
    # Each file stays open as long as its regions.
    copy = os.memfd_create("copy")
    os.truncate(copy, LENGTH + 3)
    last = device.register_dmabuf(copy, LENGTH + 3)
    queue.copy(fpga, region).wait(10.0)
    # The board writes whole dwords. The library has no way to write single bytes of a dma-buf.
    with pytest.raises(peerlane.InvalidError, match="multiples of 4 bytes"):
        queue.copy(ragged, fpga)
    queue.copy(back, fpga).wait(10.0)
    queue.copy(last, fpga).wait(10.0)
    assert os.pread(copy, LENGTH, 0) == pattern(4)
    assert os.pread(same, LENGTH, 20_000) == pattern(4)
    os.close(same)
    for wrong in [{"length": 0}, {"offset": LENGTH + 1}, {"read": False, "write": False}]:
        with pytest.raises(peerlane.InvalidError):
            device.register_dmabuf(copy, **{"length": 4} | wrong)
    with pytest.raises(peerlane.InvalidError, match="not a file descriptor"):
        device.register_dmabuf(-1, 4)
    with pytest.raises(AttributeError):
        device.register_dmabuf("a name", 4)
    os.close(copy)


def test_first_example(device, monkeypatch, capsys):
    monkeypatch.setenv("PEERLANE_DEVICE", "simulated")
    runpy.run_path(str(EXAMPLES / "01-hello" / "hello.py"), run_name="__main__")
    assert capsys.readouterr().out == "100000 bytes to the FPGA and back\n"


def test_the_readme_as_it_stands():
    text = (EXAMPLES.parent / "README.md").read_text()
    lines = text.split("```python\n")[1].split("```")[0]
    names = {}
    exec(lines, names)
    assert bytes(names["back"]) == bytes(names["data"])


class Packed:
    """A tensor whose elements have several lanes of few bits, as PyTorch's `float4_e2m1fn_x2`."""

    def __init__(self, bits, lanes, count):
        self.memory = (ctypes.c_uint8 * 64)()
        self.shape = (ctypes.c_int64 * 1)(count)
        # dlpack.h: data, device (type 1: the host, number), dimensions, type (code, bits, lanes), shape, strides,
        # offset.
        self.tensor = DLTensor(
            ctypes.addressof(self.memory), 1, 0, 1, 17, bits, lanes, self.shape, None, 0
        )

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


@pytest.mark.parametrize("bits, lanes, length", [(4, 2, 16), (32, 1, 64), (8, 2, 32)])
def test_the_bits_of_an_elements_lanes_are_counted_together(device, bits, lanes, length):
    packed = Packed(bits, lanes, 16)
    assert len(device.register(packed)) == length


def test_elements_of_no_whole_bytes_are_refused(device):
    with pytest.raises(peerlane.Error, match="not whole bytes"):
        device.register(Packed(4, 1, 16))


def at_an_end(code, *, status=0, seconds=30):
    """Runs a program of its own, which ends in time."""
    program = "import threading, time, peerlane\nfrom peerlane import _peerlane\n" + textwrap.dedent(code)
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=seconds)
    assert ended.returncode == status and "panicked" not in ended.stderr, ended.stderr
    return time.monotonic() - begin, ended.stdout


@pytest.mark.parametrize(
    "waits", ["transfer.wait()", "queue.drain()", "transfer.stop(1e9)", "queue._await_event(1e9)", "spin()"]
)
def test_daemon_threads_that_wait_do_not_abort_the_exit(waits):
    at_an_end(f"""
        device = _peerlane.stuck(11)
        queue = device.queue()
        transfer = queue.to_fpga(device.register(bytearray(64)), 0)
        def spin():
            while transfer.poll() is None:
                queue.turn()
        for _ in range(4):
            threading.Thread(target=lambda: {waits}, daemon=True).start()
        time.sleep(0.3)
    """)


def test_a_copy_that_ctrl_c_has_ended_does_not_abort_the_exit():
    """A thread outside of Python releases its memory, and asks for the lock while the interpreter ends."""
    _, said = at_an_end("""
        import _thread
        class Last:
            def __del__(self, sleep=time.sleep):
                sleep(3)
        last = Last()
        queue = _peerlane.stuck(11, 2.0).queue()
        threading.Timer(0.5, _thread.interrupt_main).start()
        try:
            queue.copy_to_fpga(bytes(64), 0, timeout=0.01)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert said == "interrupted\n"


def test_the_exit_does_not_wait_for_a_board_that_is_away():
    took, _ = at_an_end("""
        device = _peerlane.away()
        queue = device.queue()
        transfer = queue.to_fpga(device.register(bytearray(64)), 0)
    """)
    assert took < 8


@pytest.mark.parametrize("end", ["transfer.stop()", "queue.restart()", "transfer.wait()", "queue.drain()"])
def test_ctrl_c_ends_a_wait_and_others_run_meanwhile(end):
    took, said = at_an_end(f"""
        import _thread
        device = _peerlane.away()
        queue = device.queue()
        transfer = queue.to_fpga(device.register(bytearray(64)), 0)
        longest, done = 0, False
        def tick():
            global longest
            last = time.monotonic()
            while not done:
                time.sleep(0.001)
                now = time.monotonic()
                longest, last = max(longest, now - last), now
        ticker = threading.Thread(target=tick)
        ticker.start()
        threading.Timer(0.5, _thread.interrupt_main).start()
        try:
            {end}
        except KeyboardInterrupt:
            print("interrupted", end=" ")
        begin = time.monotonic()
        transfer.poll(), queue.under_way, repr(queue), queue.turn(), queue.next_turn
        took = time.monotonic() - begin
        done = True
        ticker.join()
        print(longest < 1, took < 1)
    """)
    assert said == "interrupted True True\n" and took < 8


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_fork_may_collect_garbage(device):
    """The board's page and ring are not there in a child: no call of the collector may access them."""
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    transfer = queue.copy(fpga, device.register(bytearray(1 << 20)))
    child = os.fork()
    if child == 0:
        gc.collect()
        refused = 0
        for use in [transfer.poll, transfer.wait, queue.turn, queue.drain]:
            try:
                use()
            except peerlane.RefusedError as error:
                refused += "child of a fork" in str(error)
        os._exit(0 if refused == 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert transfer.wait() == 1 << 20


def test_collecting_garbage_calls_no_driver():
    device = _peerlane.stuck(11)
    queue = device.queue()
    transfers = [queue.to_fpga(device.register(bytearray(64)), 0) for _ in range(10)]
    calls, _ = _peerlane.counts()
    gc.collect()
    assert _peerlane.counts()[0] == calls and len(transfers) == 10


def test_many_transfers_are_begun_in_linear_time():
    device = _peerlane.stuck(11)
    queue = device.queue()
    region = device.register(bytearray(64))

    def begin(count):
        calls, looks = _peerlane.counts()
        transfers = [queue.to_fpga(region, 0) for _ in range(count)]
        now = _peerlane.counts()
        return transfers, now[0] - calls, (now[1] - looks) / count

    first, few, once = begin(100)
    second, many, again = begin(3000)
    # The collector looks occasionally.
    assert few == many == 0 and once < 2 and again < 2
    assert len(first) + len(second) == queue.under_way


def test_a_drain_is_of_what_was_submitted_before(device):
    fpga = device.allocate(1 << 16)
    queue = device.queue()
    region = device.register(bytearray(1 << 16))
    done = threading.Event()

    def go_on():
        while not done.is_set():
            queue.copy(fpga, region)
            time.sleep(0.001)

    thread = threading.Thread(target=go_on)
    queue.copy(fpga, region)
    thread.start()
    try:
        queue.drain(30.0)
    finally:
        done.set()
        thread.join()
    queue.drain()


def test_a_failure_that_nobody_waited_for_is_raised():
    device = _peerlane.failing()
    queue = device.queue()
    region = device.register(bytearray(64))
    with pytest.raises(peerlane.FaultError), queue:
        queue.to_fpga(region, 0)
    # It is raised once, and not if the program has got it from the transfer.
    queue.drain()
    transfer = queue.to_fpga(region, 0)
    with pytest.raises(peerlane.FaultError):
        transfer.wait()
    queue.drain()
    queue.to_fpga(region, 0), queue.to_fpga(region, 0)
    with pytest.raises(peerlane.FaultError):
        queue.drain()
    queue.drain()
    # An exception of the program is raised as it is.
    with pytest.raises(KeyError), queue:
        queue.to_fpga(region, 0)
        raise KeyError


def test_a_drain_tells_of_transfers_that_were_stopped_with_another(device):
    fpga = device.allocate(1 << 20)
    queue = device.queue()
    region = device.register(bytearray(1 << 20))
    first = queue.copy(fpga, region)
    queue.copy(fpga, region)
    with pytest.raises(peerlane.StoppedError):
        first.stop()
    with pytest.raises(peerlane.StoppedError):
        queue.drain()
    queue.drain()
    # Not for transfers that the program itself has ended.
    transfer = queue.copy(fpga, region)
    with pytest.raises(peerlane.StoppedError):
        transfer.stop()
    queue.drain()
    queue.copy(fpga, region), queue.copy(fpga, region)
    queue.restart()
    queue.drain()


def test_a_tensor_keeps_its_memory_and_not_only_its_object(device):
    """A tensor's storage may be exchanged while the object lives (``t.data = other``)."""

    class Tensor:
        def __init__(self):
            self.memory = numpy.full(LENGTH, 7, numpy.uint8)

        def __dlpack__(self, **how):
            return self.memory.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.memory.__dlpack_device__()

        @property
        def __cuda_array_interface__(self):
            raise AssertionError("it does not keep the memory")

    tensor = Tensor()
    memory = weakref.ref(tensor.memory)
    region = device.register(tensor)
    tensor.memory = numpy.zeros(LENGTH, numpy.uint8)
    gc.collect()
    assert memory() is not None
    fpga = device.allocate(LENGTH)
    back = bytearray(LENGTH)
    with device.queue() as queue:
        queue.copy(fpga, region).wait()
        queue.copy(device.register(back), fpga).wait()
    assert back == bytes([7]) * LENGTH
    region.close()
    gc.collect()
    assert memory() is None


def test_memory_of_any_size_is_copied_in_windows(device):
    fpga, queue = device.allocate(1 << 20), device.queue()
    sent = bytes(index * 7 % 251 for index in range(1 << 20))
    back = bytearray(len(sent))
    queue.copy_to_fpga(sent, fpga)
    queue.copy_from_fpga(fpga, back, timeout=60)
    assert bytes(back) == sent
    part = bytearray(1000)
    queue.copy_from_fpga(fpga.address + 4096, part)
    assert bytes(part) == sent[4096:5096]


def test_a_copy_ends_at_its_limit_where_a_step_takes_longer():
    queue = _peerlane.slow().queue()
    with pytest.raises(peerlane.TransferTimeout, match="stopped"):
        queue.copy_to_fpga(bytes(16 << 20), 0, timeout=0.3)
    queue.copy_to_fpga(bytes(16 << 20), 0, timeout=10)


def test_fpga_memory_of_another_device_is_refused(device):
    with peerlane.Device("simulated") as other:
        fpga, foreign = device.allocate(4096), other.allocate(4096)
        region, queue = device.register(bytearray(64)), device.queue()
        for wrong in (
            lambda: queue.to_fpga(region, foreign),
            lambda: queue.from_fpga(foreign, region),
            lambda: queue.copy(foreign, region),
            lambda: queue.copy(region, foreign),
            lambda: queue.copy_to_fpga(bytes(64), foreign),
            lambda: queue.copy_from_fpga(foreign, bytearray(64)),
            lambda: region.probe(foreign),
        ):
            with pytest.raises(peerlane.InvalidError, match="another device"):
                wrong()
        assert queue.copy(fpga, region).wait() == 64


def test_what_is_moved_comes_before_where_it_goes(device):
    fpga, queue = device.allocate(4096), device.queue()
    region = device.register(bytearray(64))
    for swapped in (
        lambda: queue.from_fpga(region, fpga),
        lambda: queue.to_fpga(fpga, region),
        lambda: queue.copy_from_fpga(bytearray(64), fpga),
        lambda: queue.copy_to_fpga(fpga, bytearray(64)),
    ):
        with pytest.raises(TypeError):
            swapped()


def test_a_queue_counts_what_it_has_done(device):
    fpga, queue = device.allocate(4096), device.queue()
    before = queue.statistics
    assert (before.descriptors, before.records, before.late_records) == (0, 0, 0)
    queue.copy(fpga, device.register(bytearray(64))).wait()
    after = queue.statistics
    assert (after.descriptors, after.records, after.late_records) == (1, 1, 0)
    assert after.stores > 0 and before.descriptors == 0
    assert repr(after).startswith("<peerlane.Statistics: 1 descriptors, ")


def test_copies_that_cannot_be(device):
    fpga, queue = device.allocate(4096), device.queue()
    for wrong in (
        lambda: queue.copy_to_fpga(bytes(len(fpga) + 1), fpga),
        lambda: queue.copy_to_fpga(b"", fpga),
        lambda: queue.copy_from_fpga(fpga, bytes(64)),  # it cannot be written
        lambda: queue.copy_to_fpga(bytes(64), fpga, timeout=-1),
        lambda: queue.copy_to_fpga(memoryview(bytes(64))[::2], fpga),
    ):
        with pytest.raises(peerlane.InvalidError):
            wrong()
