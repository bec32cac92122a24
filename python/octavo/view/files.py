"""What is shown as a file of the library's own: a labelled picture as PDF, values as GeoTIFF."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo.view.steps import Held
from octavo.view.tiles import Look, Window, seen
from octavo.view.words import Colours
from octavo.view.work import Progress

if TYPE_CHECKING:
    from octavo.picture import Picture

#: Kinds of files, and what they are to a browser.
KINDS = {"pdf": "application/pdf", "tif": "image/tiff"}
#: Along the longer side.
MOST_PIXELS = 2048
_drawing = threading.Lock()  # matplotlib draws one picture at a time


def picture(held: Held, look: Look, window: Window, pixels: int, progress: Progress) -> Picture:
    """The window as a picture of the library, without damaged domains. Reads no level that is finer than its pixels."""
    from octavo.picture import Picture

    data = held.ds._data
    shown, lacking, _ = seen(data, look, window, pixels, progress, held.damage)
    made = Picture.of(shown, data, look.unit)
    return made if lacking is None else dataclasses.replace(made, values=np.where(lacking, np.nan, made.values))


def as_file(shown: Picture, kind: str, colours: Colours, crs: str | None) -> bytes:
    """The bytes of a file of one of KINDS. Raises Unsupported where its library is missing, UsageError for a GeoTIFF of what
    is not seen along z."""
    from octavo.exports.libraries import needed

    if kind == "tif":
        return _saved(shown, kind, crs=crs)
    needed("matplotlib")
    scale = "log" if colours.log else "linear"
    with _drawing:
        return _saved(shown, kind, cmap=colours.name, limits=colours.limits, scale=scale)


def _saved(shown: Picture, kind: str, **options: Any) -> bytes:
    """Libraries write to names. The folder is the system's for such files, never one beside the data."""
    with tempfile.TemporaryDirectory(prefix="octavo-view-") as folder:
        path = os.path.join(folder, f"view.{kind}")
        shown.save(path, **options)
        return Path(path).read_bytes()
