"""FITS images: one or more arrays, each with a linear coordinate along each axis. Rows may come in bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from octavo.printable import printable

_BLOCK = 2880


@dataclass(frozen=True)
class Axis:
    """An axis of an image: its name, where its first cell begins, and the length of a cell."""

    name: str
    corner: float
    cell: float


@dataclass(frozen=True)
class Image:
    """What a header says of an image. `shape` is that of the array, whose last axis is `axes[0]`."""

    name: str
    unit: str
    shape: tuple[int, ...]
    itemsize: int  #: bytes of a real
    axes: Sequence[Axis]
    cards: Mapping[str, bool | int | float | str]  #: more, by keywords of at most eight letters


def write(file: BinaryIO, image: Image, bands: Iterable[np.ndarray], *, first: bool) -> None:
    """Appends an image: the primary one, or an extension. `bands` are its rows in order."""
    file.write(_header(image, first))
    size = 0
    for band in bands:
        file.write(np.ascontiguousarray(band, f">f{image.itemsize}").data)
        size += band.size * image.itemsize
    file.write(b"\0" * (-size % _BLOCK))


def _card(key: str, value: Any) -> str:
    if isinstance(value, bool):
        text = f"{'T' if value else 'F':>20}"
    elif isinstance(value, str):
        ascii_text = printable(value).encode("ascii", "replace").decode()[:68].replace("'", "''")[:68]
        text = f"'{ascii_text:8}'"
    else:
        text = f"{value!r:>20}".upper()
    return f"{key:8}= {text}"[:80].ljust(80)


def _header(image: Image, first: bool) -> bytes:
    head = [_card("SIMPLE", True)] if first else [_card("XTENSION", "IMAGE   ")]
    head += [_card("BITPIX", -8 * image.itemsize), _card("NAXIS", len(image.shape))]
    head += [_card(f"NAXIS{a + 1}", n) for a, n in enumerate(image.shape[::-1])]
    head += [_card("EXTEND", True)] if first else [_card("PCOUNT", 0), _card("GCOUNT", 1)]
    head += [_card("EXTNAME", image.name), _card("BUNIT", image.unit)]
    head += [_card(key, value) for key, value in image.cards.items()]
    for a, axis in enumerate(image.axes, start=1):
        head += [_card(f"CTYPE{a}", axis.name), _card(f"CRPIX{a}", 0.5)]
        head += [_card(f"CRVAL{a}", float(axis.corner)), _card(f"CDELT{a}", float(axis.cell))]
    header = ("".join(head) + "END".ljust(80)).encode()
    return header + b" " * (-len(header) % _BLOCK)
