"""Columns of equal length as an array and as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np


def array_of(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """A structured array with the columns, as `.npy` files hold it."""
    rows = len(next(iter(columns.values())))
    out = np.empty(rows, dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        out[name] = values
    return out


def saved(path: str, array: np.ndarray, lines: Iterable[str]) -> bool:
    """Writes the array (.npy) or the lines of a table (.csv). False, and nothing is written, for another ending."""
    if path.endswith(".npy"):
        np.save(path, array)
    elif path.endswith(".csv"):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    return path.endswith((".npy", ".csv"))
