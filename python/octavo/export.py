"""Files for other programs: which kinds there are, which endings of names each has, and who writes them."""

from __future__ import annotations

import os
from typing import Any

from octavo import _core
from octavo.errors import UsageError
from octavo.printable import printable

#: Kind -> the endings that its files may have. The first kind that has an ending is that ending's default.
KINDS = {
    "htg": (".vtkhdf",),
}


def kind_of(path: str, kind: str | None) -> str:
    """The kind of file that a name and a wish select."""
    ending = os.path.splitext(path)[1].lower()
    if kind is None:
        for name, endings in KINDS.items():
            if ending in endings:
                return name
    elif kind not in KINDS:
        raise UsageError(f"no kind of export '{printable(kind)}'", [], "there are: " + ", ".join(KINDS))
    elif ending in KINDS[kind]:
        return kind
    known = KINDS[kind] if kind else sorted({end for ends in KINDS.values() for end in ends})
    raise UsageError(f"'{printable(ending)}' is no ending of an export" + (f" as {kind}" if kind else ""), [path],
                     "name the file *" + ", *".join(known))  # fmt: skip


def write(data: Any, path: str, kind: str | None, chosen: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Writes the selection `chosen` of an opened step. Returns what was written."""
    kind = kind_of(path, kind)
    report = _core.export_hyper_trees(data, path, **chosen, **options)
    return {"output": path, "as": kind, **report}
