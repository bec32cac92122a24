"""sizes.py INPUT LOSSLESS LOSSY: a table of bytes, native and stored, per field."""

from __future__ import annotations

import sys

from octavo.cli import console
from octavo.cli.files.ls import by_field

from octavo import _core


def stored(path: str) -> tuple[dict[str, dict], int]:
    """Per field {raw, stored}, and all bytes, of a store's newest step."""
    step = _core.steps(path)[-1]
    rows = by_field(_core.list_streams(path, step["flow"], step["step"]))
    return {row["field"]: row for row in rows}, step["bytes"]


def main(native: str, lossless: str, lossy: str) -> None:
    input_bytes = _core.open(native, None, None).bytes
    (exact, exact_bytes), (near, near_bytes) = stored(lossless), stored(lossy)

    def of(row: dict | None, raw: int) -> list[str]:
        return [console.size(row["stored"]), f"{raw / row['stored']:.2f}"] if row and row["stored"] else ["-", "-"]

    rows = [
        [name, console.size(row["raw"]), *of(row, row["raw"]), *of(near.get(name), row["raw"])]
        for name, row in exact.items()
        if row["stored"]
    ]
    rows.append(
        ["whole, of native", console.size(input_bytes), console.size(exact_bytes), f"{input_bytes / exact_bytes:.2f}",
         console.size(near_bytes), f"{input_bytes / near_bytes:.2f}"]
    )  # fmt: skip
    console.table("sizes", ["field", "values, or native", "lossless", "ratio", "lossy", "ratio"], rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
