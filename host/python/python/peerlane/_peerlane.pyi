# SPDX-License-Identifier: MIT OR Apache-2.0
import os
from collections.abc import Generator
from types import TracebackType
from typing import Any

from _typeshed import FileDescriptorLike

__version__: str

class Device:
    """A board, opened: a context with a channel of its own.

    The board is closed when this, and all regions, queues and transfers of it are gone.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Opens a board.

        path: its device node, ``/dev/peerlane0`` for one, or ``None``: the first one that is free.

        Raises NoDeviceError, BusyError, UnsupportedError, RefusedError.
        """
    @property
    def name(self) -> str:
        """The board, for messages."""
    def allocate(self, length: int) -> FpgaMemory:
        """Allocates FPGA memory, all zero: one piece a device, before its queue is made. Waits while the board fills it.

        length: bytes, rounded up to whole 64 KiB.

        Raises InvalidError, BusyError, RefusedError, GoneError.
        """
    def register(self, source: Any, *, read: bool = True, write: bool = True) -> Region:
        """Registers the memory of an object.

        source: an object with the buffer protocol, ``__dlpack__`` or ``__cuda_array_interface__``, whose elements lie one
        behind the other. Its memory is kept until the region is closed and no transfer with it is under way, also where a
        tensor is given other memory meanwhile. ``__cuda_array_interface__`` keeps the object only: its memory must stay.
        Work of a GPU's that writes the memory must have ended (``torch.cuda.synchronize()``) before a transfer reads it. An
        object may have its own region as an attribute: the garbage collector ends both. Not so where ``__dlpack__`` gives
        the memory: close that region.
        read: the board may read it (transfers to the FPGA).
        write: the board may write it (transfers from the FPGA). With ``read``, too, the board reads back behind the data, so
        the end of a transfer says that they have arrived. With this alone (``read=False``) it says that they were sent: this
        is for a GPU's memory in a computer that passes no reads between devices. There such a read may end the transfer with
        FaultError, and where something else answers it proves nothing. On a board whose port has no tags the driver proves
        first that the GPU can be read. Where it cannot, UnsupportedError is raised, and the board's link is reset once, which
        ends all transfers of the board.

        Transfers to the FPGA read the memory. Not every computer passes reads from one PCIe device to another, and some
        send those of a GPU's memory elsewhere, without an error: see ``Region.probe``.

        Raises InvalidError, BusyError, TooLargeError, UnsupportedError, RefusedError.
        """
    def register_dmabuf(
        self, file: FileDescriptorLike, length: int, *, offset: int = 0, read: bool = True, write: bool = True
    ) -> Region:
        """Registers a part of a dma-buf: memory of a GPU or of another device, exported by its driver. This is the way of
        GPUs that are neither NVIDIA's nor AMD's, whose memory ``register`` takes.

        file: the dma-buf, as a file descriptor or an object that has one. It may be closed when the call has returned.
        length: bytes, at least 1.
        offset: first byte in the dma-buf; no alignment is needed.
        read, write: as those of ``register``.

        Raises InvalidError, BusyError, TooLargeError, UnsupportedError, RefusedError.
        """
    def queue(self) -> Queue:
        """Makes the device's queue, of which it has one in its life.

        Raises BusyError, GoneError.
        """
    def fileno(self) -> int:
        """The device's file, for poll(): it can be read while the board has reported something that nobody has
        acknowledged, by ``Queue.turn`` for one. UnsupportedError if it has none."""
    def close(self) -> None:
        """Closes this handle."""
    def __enter__(self) -> Device: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class FpgaMemory:
    """FPGA memory of a device's, for as long as that is open. Queues and regions of other devices refuse it with
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
        """Whether it is a GPU's; memory of a dma-buf counts as such."""
    def probe(self, fpga: FpgaMemory | int, *, offset: int = 0) -> bytes:
        """Has the board read 64 bytes of the region, and gives what it has read: whether transfers to the FPGA work.

        Not every computer passes reads from one PCIe device to another. Some send them elsewhere, and nobody reports an
        error: neither the board nor this package can tell such bytes from data. So fill the memory with a pattern, probe,
        and compare. Where they are others, move data to the FPGA through host memory
        (``tensor.cpu()``). Host memory is not concerned. Transfers from the FPGA write, but they read back, too, where the
        board may read the region: register it with ``read=False`` where reads raise FaultError.

        The device has no queue yet, and gets none afterwards. So open another ``Device`` for the probe, register the memory
        there, and close it.

        fpga: where the bytes go: FPGA memory, or an FPGA address. What lies there is overwritten.
        offset: first byte in the region.

        Raises FaultError: the board could not read. InvalidError, BusyError: there is a queue. UnsupportedError,
        RefusedError, GoneError.
        """
    def flush(self) -> None:
        """Has kernels that are launched from now on, and copies, see what transfers that have ended wrote here. Memory of an
        AMD GPU needs it: what comes over PCIe may be held back behind the GPU's host data path. Elsewhere it does nothing.
        Nor does it for a region of ``register_dmabuf``, of which nobody says whose it is: call
        ``hipDeviceFlushGPUDirectRDMAWrites`` yourself where it is AMD's.

        Raises InvalidError, RefusedError.
        """
    def close(self) -> None:
        """Lets go of the memory: at once, or with the last transfer that moves it."""
    def __len__(self) -> int:
        """Bytes."""
    def __enter__(self) -> Region: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Queue:
    """The queue of a device's channel. Transfers are begun in the order of the calls, which never wait.

    As a context manager (``with device.queue() as queue:``) it drains at the block's end, which raises the failure of a
    transfer that nobody waited for; after an exception it stops what is under way. It can be used on afterwards.
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
        """Begins to move FPGA memory into a region. As in ``to_fpga``, what is moved comes before where it goes.

        fpga: FPGA memory, or an FPGA address.
        offset: first byte in the region.
        length: bytes, at least 1; ``None``: up to the region's end.
        after_from_fpga, after_to_fpga: start when all transfers of this direction that were submitted before have ended. A transfer
        from the FPGA then finds in FPGA memory what those to the FPGA brought, if the board's BSP has no interconnect stage between Peerlane's block and that
        memory. This is Peerlane's default; ``peerlane check`` of the BSP says so where it is otherwise, and there the
        program has to wait.
        urgent: its interrupt is not held back.

        A board by Altera's Avalon-MM bridge writes whole dwords of 4 bytes only. Where the bytes begin or end inside of one,
        in the region, the package copies the 1 to 3 bytes at that end itself before the transfer has ended, on the host or by
        the GPU. Each end costs a descriptor and a copy. Later transfers from the FPGA begin when this one has ended, which is
        seen while a program waits for a transfer, polls one, or calls ``turn``. For a region of ``register_dmabuf`` there is
        no such copy: choose offset and length so that the bytes begin and end at dwords, or this raises InvalidError.

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
        """Begins to move a region into FPGA memory. Arguments and errors as those of ``from_fpga``."""
    def copy_to_fpga(self, source: Any, fpga: FpgaMemory | int, timeout: float | None = None) -> None:
        """Copies host memory of any size to FPGA memory, and returns when all of it is there. The memory is not registered
        before: the package registers a part of it, has the board move that, and meanwhile registers the next part. Other
        threads run meanwhile.

        source: an object with the buffer protocol or DLPack, of host memory.
        fpga: FPGA memory, or an FPGA address.
        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError, UnsupportedError (a GPU's memory), RefusedError, BusyError, TooLargeError, TransferTimeout,
        FaultError, RestartedError, StoppedError, GoneError, BrokenError. Some of the bytes may have been moved then, and the
        board does not reach the memory any more. What the board has of the copy at the timeout, and of other transfers
        before it, has a second to end. If it has not, the queue is restarted, and its other transfers raise StoppedError.
        """
    def copy_from_fpga(self, fpga: FpgaMemory | int, destination: Any, timeout: float | None = None) -> None:
        """Copies FPGA memory to host memory of any size. Arguments and errors as those of ``copy_to_fpga``; the destination
        is writable."""
    def copy(self, destination: FpgaMemory | Region, source: FpgaMemory | Region) -> Transfer:
        """Begins to move a whole region into FPGA memory, or FPGA memory into a whole region: to its first bytes, or from
        them. One of the two is FPGA memory, and has as many bytes as the other, a region, or more.

        Raises InvalidError, GoneError, BrokenError: nothing is moved after an error. TypeError: two of one kind.
        """
    def drain(self, timeout: float | None = None) -> None:
        """Waits until all that was submitted before has ended; without the interpreter's lock. What others submit meanwhile
        is not waited for.

        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError, TransferTimeout, GoneError, BrokenError. If transfers have failed since the last call, and the
        program has not heard of it by the transfers themselves, the first failure is raised: FaultError, RestartedError, or
        StoppedError where ``stop`` of another transfer, or a copy that was late, had the queue restarted.
        """
    def restart(self) -> None:
        """Ends what is under way, and leaves an empty queue that can be used on.

        Raises GoneError: the board moves nothing any more. TransferTimeout: the board was not started again in ten seconds,
        call it again. BrokenError: open the device anew. RefusedError: this is a child of a fork, and the queue its
        parent's. After TransferTimeout and BrokenError transfers may be under way; their regions keep the memory.
        """
    def turn(self) -> None:
        """Takes note of what the board has reported, and acknowledges it, so that the device's file can be read no more
        until there is more. It does not wait. For a program that waits by poll() or select(), and not with asyncio::

            selector.register(device.fileno(), selectors.EVENT_READ)
            while transfer.poll() is None:
                selector.select(queue.next_turn)
                queue.turn()

        Raises GoneError, BrokenError.
        """
    @property
    def next_turn(self) -> float:
        """Seconds that a program may wait before it calls ``turn`` all the same: 1, and 0.0001 while nothing under way will
        raise an interrupt. Ask before each wait."""
    @property
    def under_way(self) -> int:
        """Transfers that have not ended."""
    @property
    def statistics(self) -> Statistics:
        """What the queue has done so far; zeros in the child of a fork."""
    def __enter__(self) -> Queue: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Statistics:
    """Counters of a queue. The numbers are those of the moment when it was made."""

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
        """Records that a wait found by itself, after a second, where the board should have raised an interrupt. If it is
        not 0, interrupts are lost, and waits take a second."""

class Transfer:
    """A transfer, under way or ended. To drop it stops nothing. It can be awaited with asyncio."""

    def poll(self) -> int | None:
        """Looks whether it has ended, without waiting: the bytes moved, or ``None``. Raises as ``wait``."""
    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end, without the interpreter's lock, and gives the bytes moved.

        timeout: seconds, 0 or more; ``None`` or infinity: for as long as it takes.

        Raises InvalidError: no such time. TransferTimeout: it goes on, wait again. FaultError, RestartedError, StoppedError: it has ended, and the
        queue can be used on. GoneError, BrokenError: see ``Queue.restart``.
        """
    def stop(self, grace: float = 0.0) -> int:
        """Calls it off, and returns when nothing of it is under way any more, without the interpreter's lock.

        What the board has of it, up to a descriptor, may end by itself first. If that is not done in time, the queue is
        restarted, and its other transfers raise StoppedError, too. For GPU memory that the board may not read there is
        no proof that nothing arrives any more, only time.

        grace: seconds it has to end by itself, 0 or more.

        Gives the bytes moved if it has ended well all the same.

        Raises StoppedError: it was called off before it had moved all. FaultError, RestartedError: it had ended so
        before. In these cases the queue can be used on. InvalidError: no such time, and nothing was done. GoneError,
        TransferTimeout, BrokenError, RefusedError: see ``Queue.restart``. After TransferTimeout and BrokenError it may be
        under way, or its data on their way.
        """
    @property
    def queue(self) -> Queue:
        """Its queue."""
    def __len__(self) -> int:
        """Bytes asked for."""
    def __await__(self) -> Generator[Any, None, int]: ...
