"""Whether the files of a step are as they were: a picture of others is no longer shown."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

#: At most this part of the time goes into looking: an output may have many thousands of files.
SHARE = 0.05

#: Inode, bytes, times of the last write and of the last change of any kind. A file that is put in another's place, with its times, has
#: another inode; one that is written in place has another time.
_File = tuple[int, int, int, int]


def files_at(path: str) -> list[_File]:
    """The path and all files below. Empty where nothing is."""
    names = [path, *(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)]
    out = []
    for name in names:
        try:
            of = os.stat(name)
        except OSError:
            continue  # it vanishes now
        out.append((of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns))
    return out


@dataclass
class _Seen:
    files: list[_File]
    state: str
    at: float = 0.0  #: when it was seen
    cost: float = 0.0  #: of looking [s]


@dataclass
class Files:
    """Looks at files again and again. May be used from several threads: at worst two look at once."""

    _seen: dict[str, _Seen] = field(default_factory=dict)

    def state(self, path: str) -> str:
        """A word that changes when a file at the path does. One file that only grew is the same, with more steps."""
        before, now = self._seen.get(path), time.monotonic()
        if before and now - before.at < before.cost / SHARE:
            return before.state
        files = files_at(path)
        state = before.state if before and _grew(before.files, files) else f"{hash(tuple(files)) & (1 << 64) - 1:x}"
        self._seen[path] = _Seen(files, state, time.monotonic(), time.monotonic() - now)
        return state

    def forget(self, path: str) -> None:
        """Looks anew when it is asked next."""
        if path in self._seen:
            self._seen[path].cost = 0.0


def _grew(before: list[_File], now: list[_File]) -> bool:
    return len(before) == len(now) == 1 and before[0][0] == now[0][0] and before[0][1] < now[0][1]


def state_of_store(path: str, attempt: str) -> str:
    """A word that changes when another step is in the place of one, and not while a run writes further steps beside it: its
    files change then too."""
    try:
        head = os.stat(os.path.join(path, "octavo.json"))
    except OSError:
        return "gone"
    return f"{attempt}-{head.st_ino:x}-{head.st_mtime_ns:x}"
