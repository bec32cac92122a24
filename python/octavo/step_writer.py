"""What the writers of steps have in common, whatever they write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

from octavo.errors import Error, UsageError, kind_of


class StepWriter:
    """Ends, statistics, and errors that wait for the other ranks. `_writer` is the engine's."""

    _writer: Any

    def wait(self) -> None:
        """Returns once every step so far is on disk on all ranks, and native outputs have their names; raises where one
        is not."""
        self._writer.wait()

    def close(self) -> None:
        """As wait; then the writer is closed, also where it raises."""
        self._writer.close()

    def statistics(self) -> dict[str, Any]:
        """What writing has cost this rank so far: docs/engine.md."""
        return json.loads(self._writer.statistics())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.abandon()

    def _put(self, place: str, work: Callable[[], None]) -> None:
        # Kept until all ranks can raise it: one that left now would leave the others waiting in end_step().
        try:
            work()
        except Error as error:
            self._writer.put_error(kind_of(error), error.message, [*error.places, place], error.hint)
        except (TypeError, ValueError, OverflowError) as error:
            text = str(error) if len(str(error)) < 200 else type(error).__name__
            self._writer.put_error(kind_of(UsageError("")), text, [place], "")
