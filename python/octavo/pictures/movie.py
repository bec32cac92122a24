"""Pictures one after another as a movie (.gif, .mp4), or as a folder of numbered PNG files. All have the same colours."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from octavo.errors import Error, UsageError
from octavo.pictures.picture import Picture, draw, ready

Progress = Callable[[int], None]


def check(path: str) -> None:
    """Refuses an ending that is no movie's, and .mp4 where the program that makes it is missing."""
    ending = os.path.splitext(path)[1]
    if ending not in ("", ".gif", ".mp4"):
        raise UsageError(f"'{ending}' is no ending of a movie", [path], ".gif, .mp4, or a folder for PNG files")
    if ending == ".mp4" and shutil.which("ffmpeg") is None:
        raise Error("this needs the program ffmpeg, which is not there", [path], "install ffmpeg, or write a .gif")


def write(
    pictures: Iterable[Picture],
    path: str,
    *,
    fps: float = 10.0,
    limits: tuple[float, float] | None = None,
    scale: str | None = None,
    cmap: str | None = None,
    scale_bar: bool = False,
) -> int:
    """Draws the pictures with the same colours and writes them; returns how many there are. Without `limits` the colours
    go from the lowest to the highest value of all pictures, which wait in a folder beside the output meanwhile: one is in
    memory. (A GIF also holds the frames, one byte a pixel.) An output that ends in "" is a folder of PNG files. Raises
    UsageError for an ending that is none of a movie, and if there is no picture."""
    check(path)
    beside = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix=".octavo-movie-", dir=beside) as folder:
        if limits is None:
            pictures = list(_kept(pictures, folder))
            extremes = [picture.extremes for picture in pictures if picture.extremes]
            both = (min(low for low, _ in extremes), max(high for _, high in extremes)) if extremes else None
            pictures = (_reread(picture, both) for picture in pictures)
        figures = (draw(picture, limits=limits, scale=scale, cmap=cmap, scale_bar=scale_bar) for picture in pictures)
        unfinished = os.path.join(folder, "out" + os.path.splitext(path)[1])
        count = _ENCODERS[os.path.splitext(path)[1]](_frames(figures), unfinished, fps)
        if not count:
            raise UsageError("there is no picture for the movie", [path], "")
        if os.path.isdir(path):
            shutil.rmtree(path)
        os.replace(unfinished, path)
    return count


def _kept(pictures: Iterable[Picture], folder: str) -> Iterator[Picture]:
    """The pictures with their pixels in files of the folder, mapped where they are used."""
    for number, picture in enumerate(map(ready, pictures)):
        file = os.path.join(folder, f"{number}.npy")
        np.save(file, picture.values)
        yield dataclasses.replace(picture, values=np.load(file, mmap_mode="r"))


def _reread(picture: Picture, extremes: tuple[float, float] | None) -> Picture:
    return dataclasses.replace(picture, values=np.array(picture.values), extremes=extremes)


def _frames(figures: Iterable[Any]) -> Iterator[np.ndarray]:
    """Each figure as pixels (rows, columns, 3) of one size, the first one's, with even sides (as video asks)."""
    size = None
    for figure in figures:
        if size is None:
            size = figure.get_size_inches()
        figure.set_dpi(120)
        figure.set_size_inches(size)
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3]
        yield pixels[: len(pixels) // 2 * 2, : pixels.shape[1] // 2 * 2]


def _gif(frames: Iterator[np.ndarray], path: str, fps: float) -> int:
    from PIL import Image

    images = (Image.fromarray(frame).quantize(256, dither=Image.Dither.NONE) for frame in frames)
    first = next(images, None)
    if first is None:
        return 0
    count = 1

    def others() -> Iterator[Any]:
        nonlocal count
        for image in images:
            count += 1
            yield image

    first.save(path, save_all=True, append_images=others(), duration=round(1000 / fps), loop=0)
    return count


def _mp4(frames: Iterator[np.ndarray], path: str, fps: float) -> int:
    process, count = None, 0
    try:
        for frame in frames:
            if process is None:
                rows, columns = frame.shape[:2]
                process = subprocess.Popen(
                    ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{columns}x{rows}",
                     "-r", str(fps), "-i", "-", "-pix_fmt", "yuv420p", path],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                )  # fmt: skip
            assert process.stdin
            process.stdin.write(np.ascontiguousarray(frame).tobytes())
            count += 1
    except BrokenPipeError:
        pass  # the program says why
    if process is not None:
        _, said = process.communicate()
        if process.returncode != 0:
            raise Error("ffmpeg failed: " + said.decode(errors="replace").strip()[-400:], [path], "write a .gif")
    return count


def _folder(frames: Iterator[np.ndarray], path: str, fps: float) -> int:
    from PIL import Image

    os.mkdir(path)
    count = 0
    for frame in frames:
        Image.fromarray(frame).save(os.path.join(path, f"{count:05}.png"))
        count += 1
    return count


_ENCODERS = {".gif": _gif, ".mp4": _mp4, "": _folder}
