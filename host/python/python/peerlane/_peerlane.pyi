# SPDX-License-Identifier: MIT OR Apache-2.0
import os
from collections.abc import Generator
from types import TracebackType
from typing import Any

from _typeshed import FileDescriptorLike

__version__: str

class Device:
    """An open board: a context with a channel of its own.

    The board is closed when this object and all its regions, queues and transfers are gone.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Opens a board.

        path: its device node, ``/dev/peerlane0`` for one; or ``"simulated"``: the simulated board of this process; or
        ``None``: the path in the environment variable ``PEERLANE_DEVICE``, else the first board that is free. The
        simulated board's Verilog is compiled once, for about a minute, unless the package has it compiled. Its time
        advances only while a thread waits: a loop that only polls never ends.

        Raises NoDeviceError, BusyError, UnsupportedError, RefusedError.
        """
    @property
    def name(self) -> str:
        """The name of the board, for messages."""
    def allocate(self, length: int) -> FpgaMemory:
        """Allocates FPGA memory, all zero: one piece a device, before its queue is made. Waits while the board fills it.

        length: bytes, rounded up to whole 64 KiB.

        Raises InvalidError, BusyError, RefusedError, GoneError.
        """
    def register(self, source: Any, *, read: bool = True, write: bool = True) -> Region:
        """Registers the memory of an object.

        source: an object with the buffer protocol, ``__dlpack__`` or ``__cuda_array_interface__``, whose elements are
        contiguous. Its memory is kept until the region is closed and no transfer with it is in progress, also if a
        tensor gets other memory in the meantime. ``__cuda_array_interface__`` keeps the object only: its memory must stay.
        A GPU's work that writes the memory must have ended (``torch.cuda.synchronize()``) before a transfer reads it. An
        object may have its own region as an attribute: the garbage collector ends both. It does not if ``__dlpack__``
        gives the memory: close that region.
        read: the board may read it (transfers to the FPGA).
        write: the board may write it (transfers from the FPGA). With ``read``, too, the board reads back after the data, so
        the end of a transfer means that the data have arrived. With ``write`` alone (``read=False``) it means that they
        were sent: this is for a GPU's memory in a computer that passes no reads between devices. There such a read may end
        the transfer with FaultError, and if another device answers it, it proves nothing. On a board whose port has no tags
        the driver proves first that the GPU can be read. If it cannot, UnsupportedError is raised, and the board's link is
        reset once, which ends all transfers of the board.

        Transfers to the FPGA read the memory. Not every computer passes reads from one PCIe device to another, and some
        send reads of a GPU's memory elsewhere, without an error: see ``Region.probe``.

        Raises InvalidError, BusyError, TooLargeError, UnsupportedError, RefusedError.
        """
    def register_dmabuf(
        self, file: FileDescriptorLike, length: int, *, offset: int = 0, read: bool = True, write: bool = True
    ) -> Region:
        """Registers a part of a dma-buf: memory of a GPU or of another device, exported by its driver. This is the way for
        GPUs of other vendors than NVIDIA and AMD; ``register`` accepts memory of those two.

        file: the dma-buf, as a file descriptor or an object that has one. It may be closed when the call has returned.
        length: bytes, at least 1.
        offset: first byte in the dma-buf; no alignment is needed.
        read, write: as those of ``register``.

        Raises InvalidError, BusyError, TooLargeError, UnsupportedError, RefusedError.
        """
    def queue(self) -> Queue:
        """Makes the device's queue. A device has one queue in its life.

        Raises BusyError, GoneError.
        """
    def fileno(self) -> int:
        """The device's file, for poll(): it can be read while the board has reported something that was not acknowledged,
        for example by ``Queue.turn``. Raises UnsupportedError if the device has no file."""
    def close(self) -> None:
        """Closes this handle."""
    def __enter__(self) -> Device: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class FpgaMemory:
    """FPGA memory of a device, for as long as the device is open. Queues and regions of other devices refuse it with
    InvalidError."""

    @property
    def address(self) -> int:
        """FPGA address of the first byte."""
    def __len__(self) -> int:
        """Bytes."""

class Region:
    """Memory of another object that the board reaches."""

    @property
    def is_gpu(self) -> bool:
        """Whether the memory is a GPU's; memory of a dma-buf counts as such."""
    def probe(self, fpga: FpgaMemory | int, *, offset: int = 0) -> bytes:
        """Has the board read 64 bytes of the region, and returns the bytes that it has read. They show whether transfers to
        the FPGA work.

        Not every computer passes reads from one PCIe device to another. Some send them elsewhere, without an error: neither
        the board nor this package can distinguish such bytes from data. So fill the memory with a pattern, probe, and
        compare. If the bytes differ, move data to the FPGA through host memory (``tensor.cpu()``). Host memory is not
        concerned. Transfers from the FPGA write, but they read back, too, if the board may read the region: register it
        with ``read=False`` if reads raise FaultError.

        The device must not have a queue yet, and cannot have one afterwards. So open another ``Device`` for the probe,
        register the memory there, and close it.

        fpga: the place of the bytes: FPGA memory, or an FPGA address. The bytes there are overwritten.
        offset: first byte in the region.

        Raises FaultError: the board could not read. InvalidError, BusyError: there is a queue. UnsupportedError,
        RefusedError, GoneError.
        """
    def flush(self) -> None:
        """Makes the bytes that ended transfers wrote here visible to copies, and to kernels that are launched from now on.
        Memory of an AMD GPU needs this: data that come over PCIe may be held back in the GPU's host data path. For other
        memory it does nothing. Neither does it for a region of ``register_dmabuf``, whose owner is not known: call
        ``hipDeviceFlushGPUDirectRDMAWrites`` yourself if it is AMD's.

        Raises InvalidError, RefusedError.
        """
    def close(self) -> None:
        """Releases the memory: at once, or with the last transfer that moves it."""
    def __len__(self) -> int:
        """Bytes."""
    def __enter__(self) -> Region: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Queue:
    """The queue of a device's channel. Transfers are begun in the order of the calls, which never wait.

    As a context manager (``with device.queue() as queue:``) it drains at the block's end, which raises the failure of a
    transfer that the program has not waited for. After an exception it stops the transfers in progress. It can be used on
    afterwards.
    """

    def from_fpga(
        self,
        fpga: FpgaMemory | int,
        region: Region,
        *,
        offset: int = 0,
        length: int | None = None,
        after_from_fpga: bool = False,
        after_to_fpga: bool = False,
        urgent: bool = False,
    ) -> Transfer:
        """Begins to move FPGA memory into a region. As in ``to_fpga``, the source comes before the destination.

        fpga: FPGA memory, or an FPGA address.
        offset: first byte in the region.
        length: bytes, at least 1; ``None``: up to the region's end.
        after_from_fpga, after_to_fpga: start when all transfers of this direction that were submitted before have ended. A
        transfer from the FPGA then finds in FPGA memory the data of the transfers to the FPGA, if the board's BSP has no
        interconnect stage between Peerlane's block and that memory. This is Peerlane's default; ``peerlane check`` of the
        BSP reports other cases, and there the program has to wait.
        urgent: its interrupt is not held back.

        A board with Altera's Avalon-MM bridge writes whole dwords of 4 bytes only. If the bytes begin or end inside a dword
        of the region, the package copies the 1 to 3 bytes at that end itself before the transfer has ended, on the host or
        by the GPU. Each end costs a descriptor and a copy. Later transfers from the FPGA begin when this one has ended,
        which is seen while a program waits for a transfer, polls one, or calls ``turn``. For a region of
        ``register_dmabuf`` there is no such copy: choose offset and length so that the bytes begin and end at dwords, or
        this raises InvalidError.

        Raises InvalidError, BusyError, GoneError, BrokenError: nothing is moved after an error.
        """
    def to_fpga(
        self,
        region: Region,
        fpga: FpgaMemory | int,
        *,
        offset: int = 0,
        length: int | None = None,
        after_from_fpga: bool = False,
        after_to_fpga: bool = False,
        urgent: bool = False,
    ) -> Transfer:
        """Begins to move a region into FPGA memory. Arguments and errors are as those of ``from_fpga``."""
    def copy_to_fpga(self, source: Any, fpga: FpgaMemory | int, timeout: float | None = None) -> None:
        """Copies host memory of any size to FPGA memory, and returns when all of it is there. The memory is not registered
        before: the package registers a part of it, and while the board moves that part, registers the next one. Other
        threads run during the copy.

        source: an object with the buffer protocol or DLPack, of host memory.
        fpga: FPGA memory, or an FPGA address.
        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError, UnsupportedError (a GPU's memory), RefusedError, BusyError, TooLargeError, TransferTimeout,
        FaultError, RestartedError, StoppedError, GoneError, BrokenError. Some of the bytes may have been moved then, and the
        board does not reach the memory any more. The descriptors of the copy, and of other transfers before it, that the
        board has at the timeout get a second to end. If they do not end, the queue is restarted, and its other transfers
        raise StoppedError.
        """
    def copy_from_fpga(self, fpga: FpgaMemory | int, destination: Any, timeout: float | None = None) -> None:
        """Copies FPGA memory to host memory of any size. Arguments and errors are as those of ``copy_to_fpga``; the
        destination must be writable."""
    def copy(self, destination: FpgaMemory | Region, source: FpgaMemory | Region) -> Transfer:
        """Begins to move a whole region into FPGA memory, or FPGA memory into a whole region: to its first bytes, or from
        them. One of the two is FPGA memory, and has as many bytes as the other, a region, or more.

        Raises InvalidError, GoneError, BrokenError: nothing is moved after an error. TypeError: two of one kind.
        """
    def drain(self, timeout: float | None = None) -> None:
        """Waits until all transfers that were submitted before have ended, without the interpreter's lock. It does not wait
        for transfers that other threads submit in the meantime.

        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError, TransferTimeout, GoneError, BrokenError. If transfers have failed since the last call, and the
        transfers themselves have not raised that, the first failure is raised: FaultError, RestartedError, or StoppedError
        if ``stop`` of another transfer, or a copy that was late, had the queue restarted.
        """
    def restart(self) -> None:
        """Ends the transfers in progress, and leaves an empty queue that can be used on.

        Raises GoneError: the board moves nothing any more. TransferTimeout: the board was not started again in ten seconds,
        call this again. BrokenError: open the device again. RefusedError: this is a child of a fork, and the queue is its
        parent's. After TransferTimeout and BrokenError transfers may be in progress; their regions keep the memory.
        """
    def turn(self) -> None:
        """Processes the board's reports, and acknowledges them, so that the device's file cannot be read until there is
        another report. It does not wait. For a program that waits by poll() or select(), and not with asyncio::

            selector.register(device.fileno(), selectors.EVENT_READ)
            while transfer.poll() is None:
                selector.select(queue.next_turn)
                queue.turn()

        Raises GoneError, BrokenError.
        """
    @property
    def next_turn(self) -> float:
        """Seconds that a program may wait before it calls ``turn`` even without a report: 1, and 0.0001 while no transfer in
        progress will raise an interrupt. Read this before each wait."""
    @property
    def under_way(self) -> int:
        """Transfers that have not ended."""
    @property
    def statistics(self) -> Statistics:
        """Counts of the queue's work so far; zeros in the child of a fork."""
    def __enter__(self) -> Queue: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Statistics:
    """Counters of a queue. The numbers are those of the moment when this object was made."""

    @property
    def descriptors(self) -> int:
        """Descriptors given to the board."""
    @property
    def stores(self) -> int:
        """Stores to the channel's page."""
    @property
    def records(self) -> int:
        """Records taken from the ring."""
    @property
    def system_calls(self) -> int:
        """Calls of the driver made to wait."""
    @property
    def late_records(self) -> int:
        """Records that a wait found by itself, after a second, although the board should have raised an interrupt. If this
        is not 0, interrupts are lost, and waits take a second."""

class Transfer:
    """A transfer, in progress or ended. Dropping this object stops nothing. It can be awaited with asyncio."""

    def poll(self) -> int | None:
        """Looks whether the transfer has ended, without waiting: returns the bytes moved, or ``None``. Raises as ``wait``."""
    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end, without the interpreter's lock, and returns the bytes moved.

        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError: the timeout is not valid. TransferTimeout: the transfer goes on, wait again. FaultError,
        RestartedError, StoppedError: it has ended, and the queue can be used on. GoneError, BrokenError: see
        ``Queue.restart``.
        """
    def stop(self, grace: float = 0.0) -> int:
        """Cancels the transfer, and returns when no part of it is in progress any more, without the interpreter's lock.

        The part that the board has, up to a descriptor, may end by itself first. If it does not end in time, the queue is
        restarted, and its other transfers raise StoppedError, too. For GPU memory that the board may not read there is
        no proof that no more data arrive, only time.

        grace: seconds that the transfer has to end by itself, 0 or more.

        Returns the bytes moved if the transfer has ended without an error nevertheless.

        Raises StoppedError: the transfer was cancelled before all bytes were moved. FaultError, RestartedError: it had
        ended so before. In these cases the queue can be used on. InvalidError: the time is not valid, and nothing was done.
        GoneError, TransferTimeout, BrokenError, RefusedError: see ``Queue.restart``. After TransferTimeout and BrokenError
        the transfer may be in progress, or its data on their way.
        """
    @property
    def queue(self) -> Queue:
        """Its queue."""
    def __len__(self) -> int:
        """Bytes asked for."""
    def __await__(self) -> Generator[Any, None, int]: ...
