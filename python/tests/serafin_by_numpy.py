"""SERAFIN files by NumPy alone, from the format's description: big-endian records of Fortran."""

from pathlib import Path

import numpy as np


def records(raw):
    at = 0
    while at + 8 <= len(raw):
        size = int(np.frombuffer(raw, ">i4", 1, at)[0])
        yield raw[at + 4 : at + 4 + size]
        at += size + 8


def read(path):
    """A dict: x, y of all points, elements (from 0), planes, boundary (IPOBO), times, and values by name, (steps, points)."""
    rows = list(records(Path(path).read_bytes()))
    real = ">f8" if rows[0][72:80] == b"SERAFIND" else ">f4"
    count = int(np.frombuffer(rows[1], ">i4")[0])
    names = [rows[2 + v][:16].decode("latin-1").strip() for v in range(count)]
    parameters = np.frombuffer(rows[2 + count], ">i4")
    at = 3 + count + (1 if parameters[9] == 1 else 0)
    elements, points, nodes, _ = np.frombuffer(rows[at], ">i4")
    out = {
        "elements": np.frombuffer(rows[at + 1], ">i4").reshape(elements, nodes) - 1,
        "boundary": np.frombuffer(rows[at + 2], ">i4"),
        "x": np.frombuffer(rows[at + 3], real).astype("f8"),
        "y": np.frombuffer(rows[at + 4], real).astype("f8"),
        "planes": max(1, int(parameters[6])),
    }
    steps = rows[at + 5 :]
    steps = steps[: len(steps) // (count + 1) * (count + 1)]
    out["times"] = np.array([float(np.frombuffer(row, real)[0]) for row in steps[:: count + 1]])
    out["values"] = {
        name: np.array([np.frombuffer(row, real).astype("f8") for row in steps[v + 1 :: count + 1]])
        for v, name in enumerate(names)
    }
    assert len(out["x"]) == points
    return out
