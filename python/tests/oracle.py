"""The oracle values that stand beside each real output, read from its README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def _tables(text: str) -> list[list[list[str]]]:
    tables, rows = [], []
    for line in text.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            tables.append(rows)
            rows = []
    return tables


def read(folder: Path) -> dict[str, Any]:
    """{leaves: {level: n}, total, mass, fields: {name: (min, max, mean)}, particles: {name: (min, max, sum)}}."""
    text = (folder / "README.md").read_text()
    oracle: dict[str, Any] = {"leaves": {}, "fields": {}, "particles": {}}
    for head, _, *rows in _tables(text):
        if head[0] == "level":
            oracle["leaves"] = {int(row[0]): int(row[2]) for row in rows}
            oracle["octs"] = {int(row[0]): int(row[1]) for row in rows}
        elif head[0] in ("variable", "field"):
            kind = "fields" if head[0] == "variable" else "particles"
            oracle[kind] = {row[0]: tuple(float(word) for word in row[1:4]) for row in rows}
    oracle["total"] = int(re.search(r"Leaf cells in total: (\d+)", text).group(1))
    oracle["mass"] = float(re.search(r"\*\*Total mass\*\*.*: ([-+.0-9e]+)", text).group(1))
    oracle["volume"] = float(re.search(r"Sum of leaf volumes: ([-+.0-9e]+)", text).group(1))
    return oracle
