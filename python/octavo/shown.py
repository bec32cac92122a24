"""How results show themselves in notebooks: a heading, facts, and the first rows of a table. All text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from octavo.printable import printable

#: Rows that are shown of a table.
ROWS = 10


def text(value: Any) -> str:
    """A value as people read it, safe in HTML."""
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(printable(shown))


def facts(heading: str, pairs: Iterable[tuple[str, Any]], more: str = "") -> str:
    """A heading and a table of names and values; `more` is HTML that follows."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in pairs
    )
    return f"<b>{text(heading)}</b><table>{rows}</table>{more}"


def table(columns: Mapping[str, Any]) -> str:
    """The first rows of columns of equal length, and how many there are."""
    length = min((len(values) for values in columns.values()), default=0)
    head = "".join(f"<th>{text(name)}</th>" for name in columns)
    rows = (
        "".join(f"<td>{text(_plain(values[i]))}</td>" for values in columns.values()) for i in range(min(length, ROWS))
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    rest = f"<p>the first {ROWS} of {length} rows</p>" if length > ROWS else ""
    return f"<table><tr>{head}</tr>{body}</table>{rest}"


def _plain(value: Any) -> Any:
    """A number of NumPy as Python's."""
    return value.item() if hasattr(value, "item") else value
