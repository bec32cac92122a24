"""How safe each step of a store is: copies on the local disks of nodes, and the step in the store itself
(docs/node-local-disks.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["LOCAL_LEVELS", "levels"]

#: The levels on local disks, the weakest first. After these comes "drained": the step is in the store.
LOCAL_LEVELS = ("local", "partner", "xor", "rs")


def levels(
    store: str | Path, staging_directory: str | Path | None = None, steps: list[dict[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns a row for each step, and notes on damaged files. `steps`: those of `octavo.steps(store)`, if they are known:
    to list them reads two pieces of each file that no index lists.

    A row has `flow`, `step`, `segments` (None if unknown), and for each level None (nothing of it is there) or a dict:
    `complete`, and on local disks `segments`, those that this level covers. Without a staging directory nothing is
    known of local disks. Only disks that this machine sees count."""
    from octavo import _core

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    notes: list[str] = []
    if _core.is_store(store):
        for step in _core.steps(store) if steps is None else steps:
            rows[step["flow"], step["attempt"]] = _row(step, None, True)
    if staging_directory is not None:
        from octavo.ranks import engine

        for copy in engine().local_copies(staging_directory, store, notes):
            row = rows.setdefault((copy["flow"], copy["attempt"]), _row(copy, None, False))
            row["segments"] = copy["segments"]
            for level in LOCAL_LEVELS:
                if (there := copy[level]) is not None:
                    row[level] = {"complete": there == copy["segments"], "segments": there}
    return sorted(rows.values(), key=lambda row: (row["flow"], row["step"])), notes


def _row(step: dict[str, Any], segments: int | None, drained: bool) -> dict[str, Any]:
    return {
        "flow": step["flow"],
        "step": step["step"],
        "segments": segments,
        **dict.fromkeys(LOCAL_LEVELS),
        "drained": {"complete": drained},
    }
