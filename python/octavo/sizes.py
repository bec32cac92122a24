"""Amounts of memory in words."""

from __future__ import annotations

from octavo.errors import UsageError

_FACTORS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def text_of(count: float) -> str:
    """A number of bytes for readers: 1.5 MB (decimal prefixes)."""
    for prefix in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {prefix}" if prefix == "B" else f"{count:.3g} {prefix}"
        count /= 1000
    return f"{count:.3g} TB"


def bytes_of(memory: int | str) -> int:
    """The number of bytes: "256 MiB" -> 268435456."""
    if isinstance(memory, int):
        return memory
    number = memory.rstrip("kKMGTiB ")
    unit = memory[len(number) :].strip() or "B"
    try:
        return int(float(number) * _FACTORS[unit])
    except (ValueError, KeyError, OverflowError):
        raise UsageError(f"'{memory}' is no amount of memory", [], "256 MiB") from None
