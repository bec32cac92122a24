"""Many steps in one VTKHDF file."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.errors import UsageError
from octavo.ranks import gathered

if TYPE_CHECKING:
    from octavo.snapshots import Snapshot

#: Kinds whose files hold many steps.
KINDS = ("htg", "ug")


def kind_of(path: str, kind: str | None) -> str:
    """The kind of a series, of which the name must be a VTKHDF file's."""
    if kind not in (None, *KINDS) or not path.endswith(".vtkhdf"):
        raise UsageError("a file of many steps is a VTKHDF file of kind htg or ug", [path], "--as htg OUT.vtkhdf")
    return kind or KINDS[0]


def write(
    snapshots: Sequence[Snapshot], path: str, kind: str | None, export: Callable[[Snapshot, str, str], dict[str, Any]],
    *, overwrite: bool = False, ranks: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Writes each snapshot to a file of its own, export(snapshot, file, kind), and joins them. Returns what was written.
    Collective over `ranks`."""
    kind = kind_of(path, kind)
    first = ranks is None or ranks.rank == 0
    if os.path.exists(path) and not overwrite:
        raise UsageError("the output exists already", [path], "-f replaces it")
    _core.require_replaceable(path)
    stem = f"{path.removesuffix('.vtkhdf')}.{gathered(ranks, os.getpid)[0]}.partial"
    files = [f"{stem}-{number}.vtkhdf" for number in range(len(snapshots))]
    try:
        reports = [export(snapshot, file, kind) for snapshot, file in zip(snapshots, files, strict=True)]
        times = [snapshot.time for snapshot in snapshots]

        def join() -> int:
            if not first:
                return 0
            _core.join_steps(files, times, f"{stem}.vtkhdf")
            os.replace(f"{stem}.vtkhdf", path)
            return os.path.getsize(path)

        size = gathered(ranks, join)[0]
    finally:
        for made in glob.glob(glob.escape(stem) + "*") if first else ():
            os.remove(made)
    notes = list(dict.fromkeys(note for report in reports for note in report["notes"]))
    return {
        "output": path, "as": kind, "steps": len(snapshots), "times": times, "fields": reports[0]["fields"],
        "leaves": [report["leaves"] for report in reports], "bytes": size, "notes": notes,
    }  # fmt: skip
