# SPDX-License-Identifier: MIT OR Apache-2.0
"""Awaiting transfers with asyncio: the loop watches the device's file, and no thread is started.

A board in the process, the simulated one, has no file, and its time goes on only while a thread waits: there a thread of
the loop's executor waits for events.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ._errors import Error

_turners: dict[tuple[asyncio.AbstractEventLoop, Any], _Turner] = {}


async def ended(transfer: Any) -> int:
    """Waits for a transfer to end. Cancelling this stops nothing: the transfer goes on."""
    moved = transfer.poll()
    if moved is not None:
        return moved
    key = (asyncio.get_running_loop(), transfer.queue)
    turner = _turners.get(key)
    if turner is None:
        turner = _turners[key] = _Turner(*key)
    return await turner.wait_for(transfer)


class _Turner:
    """Looks at the transfers of a queue that tasks of a loop wait for, whenever the board has reported something."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Any) -> None:
        self.loop = loop
        self.queue = queue
        self.file = queue._fileno()
        self.waiting: dict[asyncio.Future[int], Any] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.thread: asyncio.Future[bool] | None = None
        if self.file is not None:
            loop.add_reader(self.file, self.turn)

    def wait_for(self, transfer: Any) -> asyncio.Future[int]:
        future = self.loop.create_future()
        self.waiting[future] = transfer
        future.add_done_callback(self.gave_up)
        self.sleep()
        return future

    def gave_up(self, future: asyncio.Future[int]) -> None:
        """Removes a future that was cancelled: it waits no more. The loop may end before the next turn."""
        if self.waiting.pop(future, None) is not None and not self.waiting:
            self.end()

    def sleep(self) -> None:
        """Waits for the next report of the board, a second at the longest."""
        seconds = self.queue.next_turn
        if self.file is None:
            if self.thread is None:
                self.thread = self.loop.run_in_executor(None, self.queue._await_event, seconds)
                self.thread.add_done_callback(self.waited)
            return
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.call_later(seconds, self.turn)

    def waited(self, thread: asyncio.Future[bool]) -> None:
        self.thread = None
        # An error of the wait is also an error of the turn.
        thread.cancelled() or thread.exception()
        if not self.loop.is_closed():
            self.turn()

    def turn(self) -> None:
        failed = None
        try:
            self.queue.turn()
        except Error as error:
            failed = error
        for future, transfer in list(self.waiting.items()):
            if not future.done():
                try:
                    moved = transfer.poll()
                    if moved is None and failed is None:
                        continue
                    if moved is None:
                        raise failed
                    future.set_result(moved)
                except Error as error:
                    future.set_exception(error)
            del self.waiting[future]
        if self.waiting:
            self.sleep()
        else:
            self.end()

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.file is not None:
            self.loop.remove_reader(self.file)
        # A wait in a thread may end after the next one has begun.
        if _turners.get((self.loop, self.queue)) is self:
            del _turners[self.loop, self.queue]
