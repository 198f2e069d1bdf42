"""Read an asynchronous stream where there is no event loop, or where the one there is must not be waited for."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


class _End:
    """Told instead of an item at the end; carries what went wrong."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def iterate(make: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
    """The items of an asynchronous generator, which runs in an event loop and a thread of its own.

    Works inside a running event loop too, as a notebook's. Closing the iterator, or Ctrl-C while it waits, cancels
    the generator and waits until it has given up what it holds.
    """
    items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    running: list[asyncio.Task[None] | None] = []
    stopped = threading.Event()

    async def pump() -> None:
        running.append(asyncio.current_task())
        async with aclosing(make()) as stream:
            if not stopped.is_set():
                async for item in stream:
                    items.put(item)

    def cancel() -> None:
        for task in running:
            if task is not None:
                task.cancel()

    def work() -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(pump())
        except asyncio.CancelledError:
            pass
        except BaseException as caught:  # raised again by the reader
            error = caught
        items.put(_End(error))

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="brainkit-stream")
    thread.start()
    item: T | _End | None = None
    try:
        while not isinstance(item := items.get(), _End):
            yield item
    finally:
        if not isinstance(item, _End):
            stopped.set()
            with contextlib.suppress(RuntimeError):  # it is through already
                loop.call_soon_threadsafe(cancel)
        thread.join()
    if item.error is not None:
        raise item.error
