# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package's exceptions."""

from __future__ import annotations


class Error(Exception):
    """An error of the package. ``str`` of it says what went wrong, and what to do about it."""

    def __init__(self, text: str, remedy: str = "", errno: int | None = None) -> None:
        super().__init__(text, remedy, errno)
        self.text = text
        """What went wrong, in one sentence."""
        self.remedy = remedy
        """What to do about it, in a sentence or two."""
        self.errno = errno
        """The number of ``errno.h`` that the driver gave for it, if it did."""

    def __str__(self) -> str:
        return f"{self.text}. {self.remedy}" if self.remedy else self.text


class InvalidError(Error, ValueError):
    """An argument is wrong: bytes that do not lie where they should, a closed object."""


class NoDeviceError(Error):
    """There is no board, or not the one that was named."""


class UnsupportedError(Error):
    """Board, driver and library do not go together, or lack what was asked for."""


class RefusedError(Error):
    """The driver refused it: ``errno`` says why."""


class BusyError(Error):
    """There is no room, or somebody else has it: memory, channels, entries of the address table, the queue."""


class TooLargeError(Error):
    """The memory can never fit the board's address table in one region: copy it (``Queue.copy_to_fpga``), or register less at a time."""


class TransferTimeout(Error, TimeoutError):
    """It has not ended in time, and goes on. Copies (``Queue.copy_to_fpga``) were stopped."""


class FaultError(Error):
    """The board ended the transfer with a fault; some of it may have been moved."""


class RestartedError(Error):
    """The board was started anew meanwhile; the transfer is lost, all else goes on."""


class StoppedError(Error):
    """The program has ended the transfer before its time (``Queue.restart``), or the channel was stopped."""


class GoneError(Error):
    """The board does not answer any more."""


class BrokenError(Error):
    """Board and library do not agree any more: ``Queue.restart``, or open the device anew."""
