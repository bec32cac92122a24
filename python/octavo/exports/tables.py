"""Cells and particles as tables in files: one row each, CSV or NumPy."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

Columns = dict[str, np.ndarray]


def narrowed(table: Columns) -> Columns:
    """The table with reals of 4 bytes."""
    return {name: values.astype(np.float32) if values.dtype.kind == "f" else values for name, values in table.items()}


def save(tables: Iterable[Columns], path: str) -> tuple[int, list[str]]:
    """Writes tables with the same columns one below the other, in the format of the file's ending. Returns the rows and
    the columns. CSV is written as the tables come; a NumPy file holds all of them in memory."""
    return WRITERS[os.path.splitext(path)[1].lower()](tables, path)


def write_npz(path: str, arrays: Mapping[str, Any]) -> None:
    """A file as numpy.savez writes it, whatever the arrays' names."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)


def _rows(table: Columns) -> Iterator[tuple[Any, ...]]:
    return zip(*(values.tolist() for values in table.values()), strict=True)


def _write_csv(tables: Iterable[Columns], path: str) -> tuple[int, list[str]]:
    rows = 0
    names: list[str] = []
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for table in tables:
            if not names:
                names = list(table)
                writer.writerow(names)
            writer.writerows(_rows(table))  # each number with the digits that tell it from all others
            rows += len(next(iter(table.values())))
    return rows, names


def _write_npz(tables: Iterable[Columns], path: str) -> tuple[int, list[str]]:
    all_tables = list(tables)
    names = list(all_tables[0]) if all_tables else []
    columns = {name: np.concatenate([table[name] for table in all_tables]) for name in names}
    write_npz(path, columns)
    return (len(columns[names[0]]) if names else 0), names


WRITERS = {".csv": _write_csv, ".npz": _write_npz}
