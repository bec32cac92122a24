"""Compressors beside ours, for `octavo bench codec`: each takes arrays and gives bytes. One that is not installed says so.

A peer that knows no bound gets the values on a grid of integers that keeps the bound (`quantised`). One whose bound is absolute gets
logarithms of magnitudes for a bound that is relative to each value, and the signs beside them.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Bound:
    """`kind`: lossless, abs (`value` in the field's unit) or point (`value` relative to each value)."""

    kind: str = "lossless"
    value: float = 0.0


@dataclass
class Peer:
    """`compress(array, tolerance)` and `expand(bytes, array)`; the array given to `expand` has the shape and type to make.

    `tolerance` is 0 for lossless. `lossless`: the peer can be. `bounded`: the peer keeps an absolute bound itself. `integers`: the peer
    takes integers, so it can keep a bound through a grid.
    """

    name: str
    compress: Callable[[np.ndarray, float], Any]
    expand: Callable[[Any, np.ndarray], np.ndarray]
    lossless: bool = True
    bounded: bool = False
    integers: bool = True

    def takes(self, bound: Bound) -> bool:
        """Whether the peer can keep this bound at all."""
        return self.lossless if bound.kind == "lossless" else self.bounded or self.integers


# ---------------------------------------------------------------------------------------------------- each peer


def _zstd(level: int) -> Peer:
    zstandard = importlib.import_module("zstandard")
    return Peer(
        f"zstd-{level}",
        lambda array, _: zstandard.ZstdCompressor(level).compress(array.tobytes()),
        lambda data, like: np.frombuffer(zstandard.ZstdDecompressor().decompress(data), like.dtype).reshape(like.shape),
    )


def _blosc2() -> Peer:
    blosc2 = importlib.import_module("blosc2")
    blosc2.set_nthreads(1)

    def compress(array: np.ndarray, _: float) -> list[bytes]:
        flat, most = np.ascontiguousarray(array).reshape(-1), 1 << 26
        pieces = [flat[first : first + most] for first in range(0, flat.size, most)]
        kinds = {"codec": blosc2.Codec.ZSTD, "clevel": 5, "filter": blosc2.Filter.BITSHUFFLE}
        return [blosc2.compress(piece.tobytes(), typesize=array.itemsize, **kinds) for piece in pieces]

    def expand(data: list[bytes], like: np.ndarray) -> np.ndarray:
        raw = b"".join(blosc2.decompress(piece) for piece in data)
        return np.frombuffer(raw, like.dtype).reshape(like.shape)

    return Peer("blosc2 bitshuffle", compress, expand)


def _pcodec() -> Peer:
    pcodec = importlib.import_module("pcodec")
    standalone = importlib.import_module("pcodec.standalone")
    config = pcodec.ChunkConfig(compression_level=8)
    return Peer(
        "pcodec",
        lambda array, _: standalone.simple_compress(np.ascontiguousarray(array).reshape(-1), config),
        lambda data, like: np.asarray(standalone.simple_decompress(data)).reshape(like.shape),
    )


def _zfp() -> Peer:
    zfpy = importlib.import_module("zfpy")

    def compress(array: np.ndarray, tolerance: float) -> bytes:
        return zfpy.compress_numpy(np.ascontiguousarray(array), **({"tolerance": tolerance} if tolerance else {}))

    return Peer("zfp", compress, lambda data, like: zfpy.decompress_numpy(data).reshape(like.shape), bounded=True)


def _fpzip() -> Peer:
    fpzip = importlib.import_module("fpzip")

    def compress(array: np.ndarray, _: float) -> bytes:
        return fpzip.compress(np.ascontiguousarray(array), precision=0)

    return Peer(
        "fpzip",
        compress,
        lambda data, like: fpzip.decompress(data).reshape(like.shape).astype(like.dtype),
        integers=False,
    )


def _sz3() -> Peer:
    """SZ3 through its HDF5 filter, on a file in memory whose only chunk is the array."""
    hdf5plugin, h5py = importlib.import_module("hdf5plugin"), importlib.import_module("h5py")

    def compress(array: np.ndarray, tolerance: float) -> bytes:
        with h5py.File(io.BytesIO(), "w") as store:
            store.create_dataset("x", data=array, chunks=array.shape, **hdf5plugin.SZ3(absolute=tolerance))
            left_out, data = store["x"].id.read_direct_chunk((0,) * array.ndim)
        if left_out:
            raise RuntimeError("the HDF5 filter of SZ3 refused the values")
        return data

    def expand(data: bytes, like: np.ndarray) -> np.ndarray:
        with h5py.File(io.BytesIO(), "w") as store:
            found = store.create_dataset("x", like.shape, like.dtype, chunks=like.shape, **hdf5plugin.SZ3(absolute=1.0))
            found.id.write_direct_chunk((0,) * like.ndim, data)
            store.flush()
            return found[...]

    return Peer("SZ3", compress, expand, lossless=False, bounded=True)


_MAKERS: list[tuple[str, str, Callable[[], Peer]]] = [
    ("zstd-3", "zstandard", lambda: _zstd(3)),
    ("zstd-19", "zstandard", lambda: _zstd(19)),
    ("blosc2", "blosc2", _blosc2),
    ("pcodec", "pcodec", _pcodec),
    ("zfp", "zfpy", _zfp),
    ("SZ3", "hdf5plugin", _sz3),
    ("fpzip", "fpzip", _fpzip),
]


def available() -> tuple[list[Peer], list[str]]:
    """The peers that are installed, and a sentence for each that is not."""
    peers, missing = [], []
    for name, package, make in _MAKERS:
        try:
            peers.append(make())
        except ImportError:
            missing.append(f"{name} is not measured: the Python package {package} is not installed")
    return peers, missing


# -------------------------------------------------------------------------------------------- bounds for peers


def _as_integers(values: np.ndarray) -> np.ndarray:
    """As 32 bits if they fit."""
    small = values.size == 0 or (abs(int(values.min())) < 2**31 and abs(int(values.max())) < 2**31)
    return values.astype(np.int32 if small else np.int64)


def plain_values(values: np.ndarray, kind: str) -> np.ndarray:
    """Which values have a place on a grid: others are kept as they are."""
    finite = np.isfinite(values)
    return finite & (values != 0) if kind == "point" else finite


@dataclass
class Prepared:
    """An array on its way to a peer: `given` is what it compresses, with this tolerance; `extra` are bytes beside it."""

    given: np.ndarray
    tolerance: float
    extra: int
    back: Callable[[np.ndarray], np.ndarray]


def prepare(peer: Peer, values: np.ndarray, bound: Bound) -> Prepared:
    """What `peer` gets so that `values` come back within `bound`."""
    if bound.kind == "lossless":
        return Prepared(values, 0.0, 0, lambda found: found)
    plain = plain_values(values, bound.kind)
    others = values[~plain]
    extra = others.nbytes + (-(-values.size // 8) if others.size else 0)

    def restored(found: np.ndarray) -> np.ndarray:
        found = found.astype(values.dtype)
        found[~plain] = others
        return found

    fill = values[plain].mean() if plain.any() else 1.0
    if bound.kind == "abs":
        filled = np.where(plain, values, fill).astype(values.dtype)
        if peer.bounded:
            return Prepared(filled, bound.value, extra, restored)
        grid = _as_integers(np.rint(filled.astype(np.float64) / (2 * bound.value)).astype(np.int64))
        return Prepared(grid, 0.0, extra, lambda found: restored(found * (2 * bound.value)))
    signs = np.signbit(values)
    extra += -(-values.size // 8) if signs.any() and not signs.all() else 0
    tolerance = np.log2(1 + bound.value) * (1 - 1e-6)
    logarithms = np.log2(np.abs(np.where(plain, values, 1.0).astype(np.float64)))
    logarithms[~plain] = logarithms[plain].mean() if plain.any() else 0.0

    def exponential(found: np.ndarray) -> np.ndarray:
        magnitude = np.exp2(found.astype(np.float64))
        return restored(np.where(signs, -magnitude, magnitude))

    if peer.bounded:
        return Prepared(logarithms, tolerance, extra, exponential)
    grid = _as_integers(np.rint(logarithms / (2 * tolerance)).astype(np.int64))
    return Prepared(grid, 0.0, extra, lambda found: exponential(found * (2 * tolerance)))


def size_of(data: Any) -> int:
    return sum(map(len, data)) if isinstance(data, list) else len(data)
