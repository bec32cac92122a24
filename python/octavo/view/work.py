"""Work for requests: a few jobs at a time, the newest first, each once however many ask for it, and dropped when all who
asked have gone. One thread is kept free of jobs that may take long. Results are kept, within a bound of bytes."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from octavo.errors import Error, Interrupted

#: Tells the job whether to go on, as compiled verbs ask it.
Progress = Callable[[int, int], bool]
Job = Callable[[Progress], bytes]


class Busy(Error):
    """More is asked for than can wait."""

    exit_code = 5


class Gone(Exception):
    """Nobody waits for the answer any more."""


class Kept:
    """Answers by their keys: the last used ones, at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._by_key: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable) -> bytes | None:
        if key in self._by_key:
            self._by_key.move_to_end(key)
        return self._by_key.get(key)

    def put(self, key: Hashable, answer: bytes) -> None:
        self.held += len(answer) - len(self._by_key.pop(key, b""))
        self._by_key[key] = answer
        while self.held > self.limit:
            self.held -= len(self._by_key.popitem(last=False)[1])


@dataclass(eq=False)
class _Task:
    key: Hashable
    job: Job
    answer: asyncio.Future[bytes]
    long: bool
    waiters: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def goes_on(self, _done: int, _total: int) -> bool:
        return not self.stop.is_set()


class Work:
    """Belongs to one event loop; jobs run on threads."""

    def __init__(self, at_once: int, waiting: int, kept: int, on_signal: Callable[[], None]) -> None:
        """`at_once` jobs run, all but one of which may be long, at most `waiting` wait, `kept` bytes of answers are kept. `on_signal` is called if a job was
        stopped by a signal, of which the compiled code takes notice in place of the interpreter."""
        self.kept = Kept(kept)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="octavo-view")
        self._free = at_once
        self._free_for_long = max(1, at_once - 1)
        self._most_waiting = waiting
        self._waiting: list[_Task] = []
        self._known: dict[Hashable, _Task] = {}
        self._on_signal = on_signal

    async def do(
        self, key: Hashable, job: Job, gone: Callable[[], Coroutine[Any, Any, None]], *, long: bool = False
    ) -> bytes:
        """The answer of the job. `long`: it may take long, and others go on meanwhile. Raises Busy, Gone once `gone()` has returned, and what the job raises."""
        if (answer := self.kept.get(key)) is not None:
            return answer
        task = self._known.get(key)
        if task is None:
            if len(self._waiting) >= self._most_waiting:
                raise Busy("more is asked for than can wait", [], "ask again in a second")
            task = self._known[key] = _Task(key, job, asyncio.get_running_loop().create_future(), long)
            self._waiting.append(task)
            self._start()
        task.waiters += 1
        left = asyncio.create_task(gone())
        try:
            both: set[asyncio.Future[Any]] = {task.answer, left}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.answer.done():
                raise Gone
            return task.answer.result()
        finally:
            left.cancel()
            task.waiters -= 1
            if task.waiters == 0:
                self._drop(task)

    def close(self) -> None:
        """Stops what runs, and waits for it."""
        for task in self._known.values():
            task.stop.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _drop(self, task: _Task) -> None:
        task.stop.set()
        if task in self._waiting:
            self._waiting.remove(task)
        if self._known.get(task.key) is task:
            del self._known[task.key]

    def _start(self) -> None:
        while self._free and (task := self._next()):
            self._waiting.remove(task)
            self._free -= 1
            self._free_for_long -= task.long
            running = asyncio.get_running_loop().run_in_executor(self._threads, task.job, task.goes_on)
            running.add_done_callback(partial(self._finish, task))

    def _next(self) -> _Task | None:
        """The newest that may run."""
        return next((task for task in reversed(self._waiting) if self._free_for_long or not task.long), None)

    def _finish(self, task: _Task, done: asyncio.Future[bytes]) -> None:
        self._free += 1
        self._free_for_long += task.long
        error = None if done.cancelled() else done.exception()
        if isinstance(error, Interrupted) and not task.stop.is_set():
            self._on_signal()
        if not task.answer.done():
            if done.cancelled() or error is not None:
                task.answer.set_exception(error or Gone())
                task.answer.exception()  # it may be that nobody waits for it
            else:
                task.answer.set_result(done.result())
        if not done.cancelled() and error is None:
            self.kept.put(task.key, done.result())
        if self._known.get(task.key) is task:
            del self._known[task.key]
        self._start()
