"""Codecs on the user's own file, for `octavo bench codec`: ours and its peers on the same values, in one run.

Ours gets each domain's field level by level, as a store has it. A peer gets the same values in four arrangements, and its best one
counts: `merged` (all domains one after another), `leaves` (only the cells that are not refined), `bricks` (2-D or 3-D: the blocks of the
mesh, or cubes of 8 cells a side and the rest merged) and `levels` (each level one 2-D or 3-D array if its cells fill half of the box
around them, else bricks). A ratio is that of the values that are given.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.codecs import peers as others
from octavo.codecs.peers import Bound, Peer
from octavo.errors import Unsupported

BRICK = 8  # cells along each side of a cube that a peer gets as one array


# ---------------------------------------------------------------------------------------------- error metrics


def metrics(given: np.ndarray, found: np.ndarray) -> dict[str, Any]:
    """Errors under the names of SDRBench: absolute and relative maxima, mean, NRMSE and PSNR [dB], of finite values.

    Values that are not finite must come back with the same bits, else `max_abs_error` is infinite. PSNR is None if no error was made.
    """
    finite = np.isfinite(given)
    x, y = given[finite].astype(np.float64), found[finite].astype(np.float64)
    error = y - x
    size = np.abs(error)
    broken = not np.array_equal(given[~finite], found[~finite], equal_nan=True)
    extent = float(np.ptp(x)) if x.size else 0.0
    nrmse = float(np.sqrt(np.mean(error**2)) / extent) if extent > 0 else 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = np.where(size == 0, 0.0, size / np.abs(x))
    return {
        "max_abs_error": float("inf") if broken else float(size.max(initial=0)),
        "max_rel_error": float("inf") if broken else float(relative.max(initial=0)),
        "mean_error": float(error.mean()) if x.size else 0.0,
        "nrmse": nrmse,
        "psnr": float(-20 * np.log10(nrmse)) if nrmse > 0 else None,
    }


def keeps(bound: Bound, given: np.ndarray, found: np.ndarray) -> bool:
    """Whether every value came back within the bound (lossless: with the same bits)."""
    if bound.kind == "lossless":
        return given.tobytes() == found.tobytes()
    finite = np.isfinite(given)
    x, y = given[finite].astype(np.float64), found[finite].astype(np.float64)
    allowed = bound.value * (np.abs(x) if bound.kind == "point" else 1.0)
    return bool(np.all(np.abs(y - x) <= allowed)) and np.array_equal(given[~finite], found[~finite], equal_nan=True)


# ---------------------------------------------------------------------------------------------- arrangements


@dataclass
class Piece:
    """An array for a peer. Only the values at `real` count (None: all); others fill gaps of a level."""

    array: np.ndarray
    real: np.ndarray | None = None

    def values(self, array: np.ndarray) -> np.ndarray:
        """The values of an array of this shape that count."""
        return array.reshape(-1) if self.real is None else array[self.real]


@dataclass
class Level:
    """The owned tree cells of one level of all domains: integer places, shape (cells, dim), and values, shape (cells, width)."""

    places: np.ndarray
    values: np.ndarray


class Values:
    """One field of all domains, in the order of the domains' trees, and where its cells stand."""

    def __init__(self, dataset: Any, field: str) -> None:
        self.dataset = dataset
        self.dim = dataset._data.dim
        self.roots = [int(n) for n in dataset._data.roots][: self.dim]
        self.block = [int(n) for n in dataset._data.block]
        self.parts = [dataset.part(number, field) for number in range(dataset.domains)]
        self.fields = [np.asarray(part.fields[field]).reshape(-1) for part in self.parts]
        self.merged = np.concatenate(self.fields)
        cells = sum(len(level) for part in self.parts for level in part.refined)
        self.width = self.merged.size // max(cells, 1)  # values a tree cell

    def levels(self, *, leaves: bool = False) -> list[Level]:
        """The owned cells, or of them the leaves, by level."""
        found: dict[int, list[Level]] = {}
        for part, field in zip(self.parts, self.fields, strict=True):
            values, first = field.reshape(-1, max(self.width, 1)), 0
            for level, places in enumerate(places_of(part, self.roots)):
                kept = np.asarray(part.owned[level], bool)
                if leaves:
                    kept = kept & ~np.asarray(part.refined[level], bool)
                found.setdefault(level, []).append(Level(places[kept], values[first : first + len(places)][kept]))
                first += len(places)
        return [
            Level(np.concatenate([one.places for one in each]), np.concatenate([one.values for one in each]))
            for _, each in sorted(found.items())
        ]


def places_of(part: Any, roots: Sequence[int]) -> list[np.ndarray]:
    """For each level of a part the integer places of its tree cells, shape (cells, dim)."""
    dim = len(roots)
    number = np.concatenate([np.arange(begin, end) for begin, end in part.held] or [np.empty(0, np.int64)])
    strides = np.cumprod([1, *roots[:-1]])
    places = [np.stack([number // stride % extent for stride, extent in zip(strides, roots, strict=True)], axis=1)]
    corners = np.array([[child >> axis & 1 for axis in range(dim)] for child in range(1 << dim)])
    for refined in part.refined[:-1]:
        parents = places[-1][np.asarray(refined, bool)]
        places.append((2 * parents[:, None, :] + corners).reshape(-1, dim))
    return places


def bricks_of(level: Level, block: Sequence[int]) -> list[Piece]:
    """Bricks of neighbouring cells, stacked along the first axis; then the values of all cells that are in none."""
    if level.values.shape[1] > 1:
        return [Piece(level.values.reshape(-1, *tuple(reversed(block))[1:]))]
    values, dim = level.values[:, 0], level.places.shape[1]
    _, number, count = np.unique(level.places // BRICK, axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    full = (count == BRICK**dim)[number]
    key = (level.places % BRICK) @ BRICK ** np.arange(dim)
    order = np.lexsort((key[full], number[full]))
    stack = values[full][order].reshape(-1, *[BRICK] * (dim - 1))
    return [Piece(array) for array in (stack, values[~full]) if array.size]


def dense(level: Level, block: Sequence[int]) -> list[Piece]:
    """The level as one array, z first, if its cells fill half of the box around them; gaps repeat the value before them."""
    low = level.places.min(axis=0)
    extent = level.places.max(axis=0) - low + 1
    if 2 * len(level.places) < int(np.prod(extent)):
        return []
    dim, shape = len(block), tuple(reversed(block))
    at = tuple((level.places - low).T[::-1])
    boxes = np.zeros((*extent[::-1], *shape), level.values.dtype)
    real = np.zeros(boxes.shape, bool)
    boxes[at], real[at] = level.values.reshape(-1, *shape), True
    # The cells of a block stand beside those of the next: axes (box z, z, box y, y, ...).
    turned = [axis for a in range(dim) for axis in (a, dim + a)]
    size = tuple(int(n * m) for n, m in zip(extent[::-1], shape, strict=True))
    array, real = boxes.transpose(turned).reshape(size), real.transpose(turned).reshape(size)
    before = np.maximum.accumulate(np.where(real.reshape(-1), np.arange(real.size), 0))
    filled = array.reshape(-1)[before].reshape(size)
    return [Piece(filled, None if real.all() else real)]


def arrangements(values: Values) -> dict[str, list[Piece]]:
    """The arrangements in which a peer may get the values. `merged` has all stored values, the others those of owned cells."""
    leaves = [level.values.reshape(-1) for level in values.levels(leaves=True)]
    found = {"merged": [Piece(values.merged)], "leaves": [Piece(np.concatenate(leaves))]}
    if values.width != int(np.prod(values.block)):
        return found
    levels = [level for level in values.levels() if level.values.size]
    found["bricks"] = [piece for level in levels for piece in bricks_of(level, values.block)]
    found["levels"] = [
        piece for level in levels for piece in dense(level, values.block) or bricks_of(level, values.block)
    ]
    return found


# ------------------------------------------------------------------------------------------------- measuring


def absolute(kind: str, value: float, values: np.ndarray) -> Bound:
    """The bound that a codec's words mean for these values: `range` is relative to their range."""
    if kind != "range":
        return Bound(kind, value)
    finite = values[np.isfinite(values)]
    width = value * float(np.ptp(finite)) if finite.size else 0.0
    return Bound("abs", width) if width > 0 else Bound()


def words_of(bound: Bound) -> str:
    return bound.kind if bound.kind == "lossless" else f"{bound.kind}:{bound.value!r}"


def row_of(
    name: str, form: str, bound: Bound, given: np.ndarray, found: np.ndarray, stored: int, seconds: tuple
) -> dict:
    raw = given.nbytes
    return {
        "compressor": name,
        "arrangement": form,
        "raw": raw,
        "stored": stored,
        "ratio": raw / stored if stored else None,
        "bits_per_value": 8 * stored / given.size if given.size else None,
        "compress_MBps": 1e-6 * raw / max(seconds[0], 1e-9),
        "decompress_MBps": 1e-6 * raw / max(seconds[1], 1e-9),
        "within": keeps(bound, given, found),
        **metrics(given, found),
    }


def measure_ours(values: Values, field: str, bound: Bound, effort: str, repeats: int) -> dict[str, Any]:
    from octavo import _core

    found, stored, seconds = [], 0, [0.0, 0.0]
    for number, alone in enumerate(values.parts):
        # Without loss another field may weigh this one, as in a store.
        part = values.dataset.part(number) if bound.kind == "lossless" else alone
        trial = _core.try_codec(part, field, words_of(bound), effort, repeats)
        found.append(trial["values"])
        stored += trial["stored"]
        seconds[0] += trial["encode_seconds"]
        seconds[1] += trial["decode_seconds"]
    name = "octavo" if effort == "default" else f"octavo {effort}"
    return row_of(name, "tree", bound, values.merged, np.concatenate(found), stored, tuple(seconds))


def measure_peer(peer: Peer, form: str, pieces: list[Piece], bound: Bound, repeats: int) -> dict[str, Any]:
    """CPU seconds of one thread, the least of `repeats`. Making a grid of the values counts."""
    stored, seconds, found = 0, [0.0, 0.0], []
    for piece in pieces:
        array = piece.array
        times: list[list[float]] = [[], []]
        for _ in range(repeats):
            begin = time.process_time()
            prepared = others.prepare(peer, array, bound)
            data = peer.compress(prepared.given, prepared.tolerance)
            middle = time.process_time()
            back = prepared.back(peer.expand(data, prepared.given))
            times[0].append(middle - begin)
            times[1].append(time.process_time() - middle)
        stored += others.size_of(data) + prepared.extra
        seconds = [seconds[0] + min(times[0]), seconds[1] + min(times[1])]
        found.append(piece.values(back.reshape(array.shape)))
    given = np.concatenate([piece.values(piece.array) for piece in pieces])
    return row_of(peer.name, form, bound, given, np.concatenate(found), stored, tuple(seconds))


def measure_field(dataset: Any, field: str, codec: str, efforts: Sequence[str], repeats: int) -> list[dict[str, Any]]:
    """A row for ours and for each peer in its best arrangement."""
    if dataset._data.unstructured:
        raise Unsupported("bench codec measures trees of cells, and this is a mesh of triangles", [dataset.path], "")
    values = Values(dataset, field)
    if values.merged.dtype.kind != "f" or not values.merged.size:
        raise Unsupported(f"{field} holds no floating-point values", [dataset.path], "--field chooses another")
    kind, _, number = codec.partition(":")
    bound = absolute(kind, float(number or 0), values.merged)
    rows = [measure_ours(values, field, bound, effort, repeats) for effort in efforts]
    forms = arrangements(values)
    for peer in others.available()[0]:
        if not peer.takes(bound):
            continue
        tried = [measure_peer(peer, form, pieces, bound, repeats) for form, pieces in forms.items()]
        rows.append(max(tried, key=lambda row: (row["within"], row["ratio"])))
    return [{"field": field, "bound": codec, **row} for row in rows]


# --------------------------------------------------------------------------------------------------- results


def save_csv(rows: list[dict[str, Any]], path: str) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def save_picture(rows: list[dict[str, Any]], path: str) -> None:
    """Two panels a field, a colour and marker for each compressor: PSNR over bits a value, and ratio over speed (filled: decompression,
    hollow: compression)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from octavo.pictures.picture import plain

    fields = list(dict.fromkeys(row["field"] for row in rows))
    figure = Figure(figsize=(1.5 + 4.2 * len(fields), 8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(fields), squeeze=False)
    for (above, below), field in zip(panels.T, fields, strict=True):
        for number, name in enumerate(dict.fromkeys(row["compressor"] for row in rows)):
            mine = [row for row in rows if row["field"] == field and row["compressor"] == name]
            marker, colour = "osD^vP*X<>"[number % 10], f"C{number % 10}"
            rates = sorted((row["bits_per_value"], row["psnr"]) for row in mine if row["psnr"] is not None)
            above.plot(*zip(*rates, strict=True) if rates else ([], []), marker=marker, color=colour, label=name)
            for key, fill in (("decompress_MBps", colour), ("compress_MBps", "none")):
                below.scatter([row[key] for row in mine], [row["ratio"] for row in mine], marker=marker, edgecolors=colour,
                              facecolors=fill)  # fmt: skip
        above.set(title=plain(field), xlabel="bits a value", ylabel="PSNR [dB]", xscale="log")
        below.set(xlabel="MB/s of one thread", ylabel="ratio", xscale="log", yscale="log")
    panels[0][-1].legend(fontsize=8)
    figure.savefig(path, dpi=120)
