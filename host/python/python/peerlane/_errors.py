# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package's exceptions."""

from __future__ import annotations


class Error(Exception):
    """An error of the package. ``str`` of it gives the fault and the hint."""

    def __init__(self, text: str, remedy: str = "", errno: int | None = None) -> None:
        super().__init__(text, remedy, errno)
        self.text = text
        """The fault, in one sentence."""
        self.remedy = remedy
        """The hint how to fix the fault, in a sentence or two."""
        self.errno = errno
        """The number of ``errno.h`` that the driver returned, if it returned one."""

    def __str__(self) -> str:
        return f"{self.text}. {self.remedy}" if self.remedy else self.text


class InvalidError(Error, ValueError):
    """An argument is wrong: bytes that do not lie where they should, a closed object."""


class NoDeviceError(Error):
    """There is no board, or not the one that was named."""


class UnsupportedError(Error):
    """Board, driver and library do not fit together, or lack a feature that was asked for."""


class RefusedError(Error):
    """The driver refused the call: ``errno`` gives the reason."""


class BusyError(Error):
    """There is no room, or another user has it: memory, channels, entries of the address table, the queue."""


class TooLargeError(Error):
    """The memory can never fit the board's address table in one region: copy it (``Queue.copy_to_fpga``), or register
    less at a time."""


class TransferTimeout(Error, TimeoutError):
    """The transfer has not ended in time, and goes on. Copies (``Queue.copy_to_fpga``) were stopped."""


class FaultError(Error):
    """The board ended the transfer with a fault; some of the bytes may have been moved."""


class RestartedError(Error):
    """The board was started again during the transfer. The transfer is lost; all else goes on."""


class StoppedError(Error):
    """The program has ended the transfer early (``Queue.restart``), or the channel was stopped."""


class GoneError(Error):
    """The board does not answer any more."""


class BrokenError(Error):
    """Board and library do not agree any more: ``Queue.restart``, or open the device again."""
