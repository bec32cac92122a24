"""Figures that two pages give are the same figures."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def throttled_shares(page: str) -> list[tuple[str, str]]:
    """Shares of I/O [%], synchronous and background, of the tables of bubbles and wave on the throttled store."""
    section = page[page.index("**Bubbles and wave**") : page.index("**Synchronous and asynchronous**")]
    rows = re.findall(r"\| 100 MB/s a process \| (\w+) \|.*\| ([0-9.]+) \| [0-9.]+ \|", section)
    shares = [share for _, share in rows]
    return list(zip(shares[::2], shares[1::2], strict=True))


def test_shares_of_apps_are_those_of_the_tables():
    tables = throttled_shares((DOCS / "performance.md").read_text())
    text = " ".join((DOCS / "apps.md").read_text().split())
    told = re.search(
        r"bubbles' share goes from ([0-9.]+) to ([0-9.]+) %, the wave's from ([0-9.]+) to ([0-9.]+) %", text
    )
    assert told and [told.groups()[:2], told.groups()[2:]] == tables
