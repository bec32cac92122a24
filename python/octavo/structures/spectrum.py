"""Power spectra of fields on a uniform grid: by numpy's FFT, summed in shells of the wave number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.exports.columns import array_of, saved
from octavo.printable import printable


@dataclass(frozen=True)
class Spectrum:
    """The power of a field, or of several added up (the components of a vector), in shells of the wave number.

    Shell i holds the waves with i - 1/2 <= |k| / k0 < i + 1/2, of which k0 = 2 pi / (longest side) is the smallest. The power
    of a wave is the square of its amplitude, |FFT / cells|^2, so that `power.sum() + mean_square` is the mean of the field's
    square (Parseval). All arrays have shape (shells,), from shell 1.
    """

    #: The wave number of the middle of each shell [1 / code length], and how many waves are in it.
    k: np.ndarray
    waves: np.ndarray
    #: Sum over the waves of a shell [unit^2].
    power: np.ndarray
    #: The square of the mean, summed over the fields [unit^2]: the wave of length infinity.
    mean_square: float
    #: The mean of the square of the values, summed over the fields [unit^2]: Parseval's other side.
    square_mean: float
    unit: str
    #: fields, cells along each axis, level, selection, time ...
    facts: dict[str, Any]

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.facts["cells"]))
        return printable(f"<octavo.Spectrum: {', '.join(self.facts['fields'])}, {len(self.k)} shells of {cells} cells>")

    @property
    def density(self) -> np.ndarray:
        """Power for each unit of the wave number, E(k) [unit^2 code length]: its integral over k is the variance."""
        return self.power / self.k[0]

    @property
    def parseval(self) -> float:
        """By how much both sides of Parseval's equation differ, relative to them: rounding, some 1e-16."""
        return abs(float(self.power.sum()) + self.mean_square - self.square_mean) / (self.square_mean or 1.0)

    @property
    def time(self) -> float:
        """[code time]"""
        return self.facts["time"]

    def columns(self) -> dict[str, np.ndarray]:
        return {"k": self.k, "waves": self.waves, "power": self.power, "density": self.density}

    def array(self) -> np.ndarray:
        """A structured array with the columns, as `.npy` files hold it."""
        return array_of(self.columns())

    def csv(self) -> Iterator[str]:
        columns = self.columns()
        yield ",".join(columns)
        for row in zip(*(values.tolist() for values in columns.values()), strict=True):
            yield ",".join(map(repr, row))

    def table(self) -> dict[str, Any]:
        """Everything as plain values, as `--json` prints it."""
        sums = {"mean_square": self.mean_square, "square_mean": self.square_mean, "parseval": self.parseval}
        return {**self.facts, "unit": self.unit, **sums, **{name: v.tolist() for name, v in self.columns().items()}}

    def _repr_png_(self) -> bytes:
        from octavo.pictures.picture import png_of

        return png_of(self.draw())

    def draw(self) -> Any:
        """A matplotlib figure, without a display: log-log, with slopes beside the curve."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from octavo.pictures.picture import labelled, lacking, plain, when

        figure = Figure(figsize=(7.5, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        seen = self.density > 0
        axes.loglog(self.k[seen], self.density[seen], color="#440154", lw=1.5, marker=".", ms=4)
        if seen.any():
            _draw_slopes(axes, self.k[seen], self.density[seen])
        axes.axvline(self.facts["k_nyquist"], color="0.6", lw=1, ls=":")
        names = ", ".join(self.facts["fields"])
        axes.set_xlabel(labelled("k", "1/code_length"))
        unit = f"{self.unit}*{self.unit}*code_length" if self.unit else ""
        axes.set_ylabel(labelled("power for each k", unit))
        chosen = f"   ({self.facts['selection']})" if self.facts["selection"] else ""
        axes.set_title(
            plain(f"spectrum of {names}{chosen}") + f"   {when(self)}{lacking(self.facts)}", fontsize=10, loc="left"
        )
        return figure

    def plot(self) -> Any:
        """A matplotlib figure."""
        return self.draw()

    def save(self, path: str) -> None:
        """Writes a picture (.png), a table (.csv) or an array (.npy)."""
        if saved(path, self.array(), self.csv()):
            return
        if path.endswith(".png"):
            self.draw().savefig(path, dpi=150, bbox_inches="tight")
        else:
            raise UsageError("the output must end in .png, .csv or .npy", [path], "")


def _draw_slopes(axes: Any, k: np.ndarray, density: np.ndarray) -> None:
    """Lines of k^-5/3 and k^-2 above the middle of the curve."""
    middle = len(k) // 4
    around = k[max(0, middle // 3) : 3 * middle + 2]
    if len(around) < 2:
        return
    for slope, name, style in ((-5 / 3, "-5/3", "--"), (-2.0, "-2", "-.")):
        line = 3 * density[middle] * (around / k[middle]) ** slope
        axes.loglog(around, line, color="#b5367a", lw=1, ls=style, label=f"k$^{{{name}}}$")
    axes.legend(frameon=False)


def level_for(data: Any, cells: int, deepest: int | None) -> int:
    """The finest level, no deeper than `deepest`, on which the whole box has at most `cells` cells along each axis."""
    coarsest = data.level_origin
    widest = max(roots * block for roots, block in zip(data.roots[: data.dim], data.block, strict=True))
    levels = [row["level"] for row in data.levels if deepest is None or row["level"] <= deepest]
    fitting = [level for level in levels if widest << (level - coarsest) <= cells]
    if not fitting:
        raise UsageError(f"no level has at most {cells} cells along an axis", [data.path], f"--cells {widest}")
    return max(fitting)


def spectrum_of(data: Any, chosen: dict[str, Any], fields: Sequence[str], cells: int) -> Spectrum:
    """The spectrum of the fields of an opened step, on the cube of the selection at the level that level_for gives."""
    from octavo.cosmology import cosmic_facts
    from octavo.exports.cube import cube_of

    data.parts_of(None, chosen["max_level"])  # refuses a level above the coarsest
    level = level_for(data, cells, chosen["max_level"])
    cube = cube_of(data, chosen | {"max_level": level}, fields)
    sides = np.array([n * edge for n, edge in zip(cube.shape[::-1], cube.cell, strict=True)])
    shell, doubled = _shells(cube.shape, sides[::-1] / sides.max())
    power, mean, square = np.zeros(shell.max() + 1), 0.0, 0.0
    for name in cube.fields:
        values = cube[name]
        if not np.isfinite(values).all():
            raise UsageError(
                f"{name} has cells without a value in the cube",
                [data.path],
                "a spectrum needs a full box: --roi box:...",
            )
        waves = np.abs(np.fft.rfftn(values, norm="forward")) ** 2 * doubled
        power += np.bincount(shell.ravel(), waves.ravel(), len(power))
        mean += float(waves.flat[0])
        square += float(np.mean(values * values))
    count = np.bincount(shell.ravel(), np.broadcast_to(doubled, shell.shape).ravel(), len(power)).astype(np.int64)
    k0, units = 2 * np.pi / float(sides.max()), set(cube.units.values())
    selection = ", ".join(str(chosen[key]) for key in ("region", "where") if chosen[key])
    facts = {
        "fields": list(cube.fields), "cells": list(cube.shape[::-1]), "level": cube.level, "selection": selection,
        "time": cube.time, "k_nyquist": float(np.pi / max(cube.cell)), "unit_time": data.units["time"],
        "unit_length": data.units["length"], **cosmic_facts(data),
    }  # fmt: skip
    return Spectrum(
        k=k0 * np.arange(1, len(power)), waves=count[1:], power=power[1:], mean_square=mean, square_mean=square,
        unit=units.pop() if len(units) == 1 else "", facts=facts,
    )  # fmt: skip


def _shells(shape: tuple[int, ...], shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shell of each wave of rfftn, and how often it counts: those that rfftn leaves out are complex conjugates.
    `shares`: of the sides, of the longest."""
    square = np.zeros((*shape[:-1], shape[-1] // 2 + 1))
    for axis, n in enumerate(shape):
        number = np.fft.rfftfreq(n, 1 / n) if axis == len(shape) - 1 else np.fft.fftfreq(n, 1 / n)
        square += np.expand_dims((number / shares[axis]) ** 2, tuple(a for a in range(len(shape)) if a != axis))
    doubled = np.full(shape[-1] // 2 + 1, 2.0)
    doubled[0] = 1
    if shape[-1] % 2 == 0:
        doubled[-1] = 1
    return np.floor(np.sqrt(square) + 0.5).astype(np.int64), doubled
