"""Maps as labelled pictures: colour bar with unit, axes, time; and as HDF5 with the same facts beside the values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from octavo.damage import said
from octavo.errors import UsageError
from octavo.pictures.overlays import Overlays, draw_arrows, draw_dots, draw_levels, draw_scale_bar
from octavo.printable import printable
from octavo.units import LENGTHS, TIMES, facts_of


@dataclass(frozen=True)
class Picture:
    """An image with the facts that one needs to read it.

    `values` has shape (ny, nx), row 0 at the bottom; pixels that no cell covers are NaN. `extent` is (x lo, x hi, y lo,
    y hi) in code units.
    """

    values: np.ndarray
    extent: tuple[float, float, float, float]
    axes: tuple[str, str]
    label: str
    unit: str
    time: float
    facts: dict[str, Any] = field(default_factory=dict)
    #: The lowest and the highest finite value, where `values` are only the pixels that are drawn.
    extremes: tuple[float, float] | None = None
    overlays: Overlays | None = None

    @classmethod
    def of(cls, image: Any, data: Any, unit: str | None = None) -> Picture:
        """The picture of a compiled map of a data set, in another unit."""
        return cls.described(facts_of(image, data, unit), image.values)

    @classmethod
    def described(
        cls, facts: dict[str, Any], values: np.ndarray, extremes: tuple[float, float] | None = None
    ) -> Picture:
        return cls(
            values=values,
            extent=tuple(facts["extent"]),
            axes=tuple(facts["axes"]),
            label=facts["label"],
            unit=facts["unit"],
            time=facts["time"],
            facts=facts,
            extremes=extremes,
        )

    def __repr__(self) -> str:
        ny, nx = self.values.shape
        return printable(f"<octavo.Picture: {self.label} [{self.unit or 'no unit'}], {nx} x {ny} pixels>")

    def in_unit(self, unit: str, data: Any) -> Picture:
        """The same values of a data set in another unit."""
        from octavo.units import factor

        by = factor(self.unit, unit, data, self.label)
        return replace(self, values=self.values * by, unit=unit, facts=self.facts | {"unit": unit})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy) if copy else np.asarray(self.values, dtype=dtype)

    def __sub__(self, other: Picture) -> Picture:
        """The difference from another picture of the same window, pixel by pixel; NaN where one of the two has no value.
        Raises UsageError if window, pixels or unit differ."""
        tiny = 1e-9 * (self.extent[1] - self.extent[0])
        if self.values.shape != other.values.shape or not np.allclose(self.extent, other.extent, rtol=0, atol=tiny):
            raise UsageError("pictures of different windows or pixels have no difference", [], "take the same region")
        if self.unit != other.unit:
            raise UsageError(f"one picture is in [{self.unit}], the other in [{other.unit}]", [], "unit=...")
        label = f"{self.label}, difference" if self.label == other.label else f"{self.label} - {other.label}"
        facts = self.facts | {"label": label, "title": f"{label}, from {when(other)} to"}
        return replace(self, values=self.values - np.asarray(other.values), label=label, facts=facts, overlays=None)

    def sum(self) -> float:
        """Sum of the pixels times the area of one: the integral over the window, for a map of kind integral."""
        ny, nx = self.values.shape
        x0, x1, y0, y1 = self.extent
        return float(np.nansum(self.values)) * (x1 - x0) / nx * (y1 - y0) / ny

    def to_xarray(self) -> Any:
        """An xarray.DataArray with the pixels' middles as coordinates [code length]. Raises Unsupported without xarray."""
        from octavo.exports.libraries import needed

        xarray = needed("xarray")
        x0, x1, y0, y1 = self.extent
        ny, nx = self.values.shape
        coords = {
            self.axes[1]: y0 + (np.arange(ny) + 0.5) * (y1 - y0) / ny,
            self.axes[0]: x0 + (np.arange(nx) + 0.5) * (x1 - x0) / nx,
        }
        facts = {name: value for name, value in self.facts.items() if isinstance(value, (str, int, float, list))}
        return xarray.DataArray(
            self.values, coords, dims=tuple(coords), name=self.label, attrs=facts | {"units": self.unit}
        )

    def save(self, path: str, **options: Any) -> None:
        """Writes .png, .pdf, .svg, .npy, .h5, .fits or .tif (GeoTIFF). Options are those of draw(), of .tif `crs`: "EPSG:2154"."""
        save(self, path, **options)

    def plot(self, **options: Any) -> Any:
        """A matplotlib figure."""
        return draw(self, **options)

    def _repr_png_(self) -> bytes:
        return png_of(draw(self))


def png_of(figure: Any) -> bytes:
    """A figure as notebooks show it."""
    import io

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, bbox_inches="tight")
    return buffer.getvalue()


#: A drawing has some 900 pixels along a side. In larger maps every n-th pixel is drawn, and at least this many are.
DRAWN_PIXELS = 1024
_CHUNK = 128  # pixels along the sides of a chunk in HDF5


def band_height(width: int) -> int:
    """Rows of a band of 32 MB, or of a row of chunks if that is more."""
    return max(1, (32 << 20) // (8 * width * _CHUNK)) * _CHUNK


def empty_of(facts: dict[str, Any]) -> float | None:
    """The value of pixels in which nothing is, which are drawn like those without a value: in a sum of particles 0."""
    return 0.0 if "particles" in facts and facts["kind"] == "integral" else None


def thinned(
    shape: tuple[int, ...], bands: Iterable[np.ndarray], empty: float | None = None
) -> tuple[np.ndarray, tuple[float, float] | None]:
    """The pixels that are drawn of a map whose rows come in bands; and the extremes of all finite pixels. Pixels of the
    value `empty` have none."""
    every = max(1, max(shape) // DRAWN_PIXELS)
    drawn = np.empty([-(-pixels // every) for pixels in shape])
    extremes, row = None, 0
    for band in bands:
        band = band if empty is None else np.where(band == empty, np.nan, band)
        kept = band[-row % every :: every, ::every]
        drawn[-(-row // every) :][: len(kept)] = kept
        extremes = _extremes(band, extremes)
        row += len(band)
    return drawn, extremes


def _extremes(values: np.ndarray, before: tuple[float, float] | None) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return before
    low, high = float(finite.min()), float(finite.max())
    return (min(low, before[0]), max(high, before[1])) if before else (low, high)


def _bands(values: np.ndarray) -> Iterator[np.ndarray]:
    height = band_height(values.shape[1])
    return (values[row : row + height] for row in range(0, len(values), height))


def ready(picture: Picture) -> Picture:
    """The picture with those pixels alone that are drawn, and the extremes of all."""
    if picture.extremes is not None:
        return picture
    values, extremes = thinned(picture.values.shape, _bands(picture.values), empty_of(picture.facts))
    return replace(picture, values=values, extremes=extremes)


def save(picture: Picture, path: str, **options: Any) -> None:
    """Writes the picture by the ending of `path`: .png, .pdf, .svg, .npy, .h5, .fits or .tif. `options` are those of draw(), of
    .tif `crs`, the coordinate system."""
    if path.endswith(".npy"):
        np.save(path, picture.values)
    elif path.endswith((".h5", ".fits", ".tif")):
        save_bands(picture.facts, picture.values.shape, _bands(picture.values), path, options.get("crs"))
    else:
        import json

        described = json.dumps(picture.facts)
        key = {".pdf": "Subject", ".svg": "Description"}.get(os.path.splitext(path)[1], "octavo")
        draw(picture, **options).savefig(path, dpi=150, bbox_inches="tight", metadata={key: described})


def save_bands(
    facts: dict[str, Any], shape: tuple[int, ...], bands: Iterable[np.ndarray], path: str, crs: str | None
) -> None:
    """Writes a map whose rows come in bands as .h5, .fits or .tif."""
    if path.endswith(".h5"):
        save_hdf5(facts, shape, bands, path)
    elif path.endswith(".fits"):
        save_fits(facts, shape, bands, path)
    else:
        from octavo.exports.geo import save_raster

        save_raster(facts, shape, bands, path, crs)


def save_hdf5(facts: dict[str, Any], shape: tuple[int, ...], bands: Iterable[np.ndarray], path: str) -> None:
    """Writes a map whose rows come in bands of whole chunks."""
    import json

    import h5py

    with h5py.File(path, "w") as file:
        chunks = tuple(min(_CHUNK, pixels) for pixels in shape)
        data = file.create_dataset("map", shape, "f8", compression="gzip", shuffle=True, chunks=chunks)
        row = 0
        for band in bands:
            data[row : row + len(band)] = band
            row += len(band)
        for name, value in facts.items():
            if value is not None:
                value = json.dumps(value) if isinstance(value, dict) else value
                data.attrs[name] = printable(value) if isinstance(value, str) else value


def save_fits(facts: dict[str, Any], shape: tuple[int, ...], bands: Iterable[np.ndarray], path: str) -> None:
    """Writes a map whose rows come in bands as one image, lowest row first."""
    from octavo.exports import fits

    x0, x1, y0, y1 = facts["extent"]
    axes = [
        fits.Axis(facts["axes"][0], x0, (x1 - x0) / shape[1]),
        fits.Axis(facts["axes"][1], y0, (y1 - y0) / shape[0]),
    ]
    cards: dict[str, Any] = {"OBJECT": facts["label"], "TIME": float(facts["time"])}
    if facts["selection"]:
        cards["SELECT"] = facts["selection"]
    if text := said(facts):
        cards["LACKING"] = text
    with open(path, "wb") as file:
        fits.write(file, fits.Image(facts["field"], facts["unit"] or "", shape, 8, axes, cards), bands, first=True)


def colours_of(
    extremes: tuple[float, float] | None, limits: tuple[float, float] | None, scale: str | None
) -> tuple[Any, str]:
    """The norm and the map of colours. Without a `scale`: logarithmic where all is positive over more than a factor 100.
    Where signs differ, the limits are symmetric and 0 is white; a logarithmic scale is then linear within a thousandth of
    the limits."""
    from matplotlib import colors

    low, high = limits or extremes or (0.0, 1.0)
    if low < 0 < high:
        bound = max(-low, high)
        ends = limits or (-bound, bound)
        if scale == "log":
            return colors.SymLogNorm(bound * 1e-3, vmin=ends[0], vmax=ends[1]), "RdBu_r"
        return colors.Normalize(*ends), "RdBu_r"
    if scale == "log" and low <= 0:
        return colors.SymLogNorm(max(-low, high, 1e-300) * 1e-3, vmin=low, vmax=high), "viridis"
    if low > 0 and (scale == "log" or (scale is None and high / low > 100)):
        return colors.LogNorm(low, high), "viridis"
    return colors.Normalize(low, high), "viridis"


def lacking(facts: dict[str, Any]) -> str:
    """A title's second line where a result lacks damaged domains."""
    text = said(facts)
    return f"\n{text}" if text else ""


def plain(text: str) -> str:
    """Escapes a name so that matplotlib prints every letter of it: a bare dollar would begin a formula."""
    return printable(text).replace("$", r"\$")


def unit_text(unit: str) -> str:
    """A unit with powers gathered, as matplotlib sets it: "a/b**3*b" -> "a b$^{-2}$"."""
    if not re.fullmatch(r"[A-Za-z_1*/\s]*", re.sub(r"\*\*-?\d+", "", unit)):
        return plain(unit)  # not in these words
    powers: dict[str, int] = {}
    for sign, name, power in re.findall(r"([*/]?)([A-Za-z_]\w*)(?:\*\*(-?\d+))?", unit):
        powers[name] = powers.get(name, 0) + int(power or 1) * (-1 if sign == "/" else 1)
    words = [(name.replace("_", " "), power) for name, power in powers.items() if power]
    named = ((f"({name})" if " " in name and power != 1 else name, power) for name, power in words)
    return " ".join(name if power == 1 else f"{name}$^{{{power}}}$" for name, power in named)


def labelled(name: str, unit: str) -> str:
    """A quantity and its unit, as axes and bars show them."""
    return f"{plain(name)}   [{unit_text(unit) or 'no unit'}]"


#: Letters of a label in an inch, roughly.
_LETTERS = 12


def bar_label(name: str, short: str, unit: str, height: float) -> str:
    """The label of a bar that is so high [inch]: in two lines if one has no room for quantity and unit, and with the `short`
    name if it is still too long: the title has the whole one."""
    quantity, said = plain(name), f"[{unit_text(unit) or 'no unit'}]"

    def fits(text: str) -> bool:
        return len(re.sub(r"\$\^\{(.*?)\}\$", r"\1", text)) <= _LETTERS * height

    if fits(labelled(name, unit)):
        return labelled(name, unit)
    return f"{quantity if fits(quantity) else plain(short)}\n{said}"


def in_metres(picture: Any) -> bool:
    """Whether code units are metres and seconds, as TELEMAC's are: those of other codes are in no one's words."""
    return picture.facts.get("unit_length") == 100 and picture.facts.get("unit_time") == 1


def in_seconds(picture: Any) -> bool:
    """Whether code units of time are seconds: TELEMAC's, and those of codes in cgs."""
    return in_metres(picture) or picture.facts.get("code_length_cm") == 1


def in_units(units: tuple[tuple[str, float], ...], size: float, code_unit: float) -> tuple[float, str]:
    """The factor from code units to the largest unit that is not larger than `size` code units, and its name. A code unit
    of 1 is no statement about units: the name is then empty."""
    if code_unit == 1 or not code_unit > 0:
        return 1.0, ""
    fitting = [unit for unit in units if unit[1] <= abs(size) * code_unit] or [units[0]]
    return code_unit / fitting[-1][1], fitting[-1][0]


def length_unit(picture: Picture) -> tuple[float, str]:
    """The factor from code lengths to the unit of the axes, and its name: "m", "kpc", or "code length" where the data
    has no units."""
    if in_metres(picture):
        return 1.0, "m"
    if picture.facts.get("code_length_cm") == 1:
        return 1.0, "cm"
    x0, x1, y0, y1 = picture.extent
    scale, name = in_units(LENGTHS, max(x1 - x0, y1 - y0), picture.facts.get("unit_length", 1))
    return scale, name or "code length"


def when(picture: Any) -> str:
    """The time of a picture or table (anything with `facts` and `time`), or that it is of all times; for cosmological runs
    the redshift and the proper age."""
    if kind := picture.facts.get("over_time"):
        return (
            "first arrival"
            if kind == "arrival"
            else {"max": "maximum", "min": "minimum"}.get(kind, kind) + " over time"
        )
    if (redshift := picture.facts.get("redshift")) is not None:  # the run's own clock is conformal
        scale, name = in_units(TIMES, picture.facts["age"], picture.facts["unit_time"])
        return f"z = {redshift:.4g}, age {picture.facts['age'] * scale:.4g} {name}".rstrip()
    scale, name = (
        (1.0, "s") if in_seconds(picture) else in_units(TIMES, picture.time, picture.facts.get("unit_time", 1))
    )
    return f"t = {picture.time * scale:.6g} {name}".rstrip()


def colour_map(name: str) -> Any:
    """The colours of matplotlib by this name. Raises UsageError with near names."""
    import difflib

    from matplotlib import colormaps

    if name not in colormaps:
        near = difflib.get_close_matches(name, colormaps, 3)
        raise UsageError(
            f"no colours '{printable(name)}'", [], "near: " + ", ".join(near) if near else "viridis, magma, ..."
        )
    return colormaps[name]


def draw(
    picture: Picture, *, limits: tuple[float, float] | None = None, scale: str | None = None, cmap: str | None = None,
    scale_bar: bool = False,
) -> Any:  # fmt: skip
    """A matplotlib figure of the picture, without a display. `limits` of the colours: lowest and highest value. `scale`:
    "linear" or "log"; None chooses (colours_of). `cmap`: colours by matplotlib's name. `scale_bar` draws a bar of a round
    length in the unit of the axes. The picture's overlays are drawn over it."""
    if scale not in (None, "linear", "log"):
        raise UsageError(f"no scale '{scale}'", [], 'there are "linear" and "log"')
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = ready(picture)
    norm, colours = colours_of(picture.extremes, limits, scale)
    x0, x1, y0, y1 = picture.extent
    size, length = length_unit(picture)
    ratio = min(max((y1 - y0) / (x1 - x0), 0.15), 4.0)
    figure = Figure(figsize=(8.0, max(2.2, 6.4 * ratio + 0.9)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(
        picture.values, origin="lower", extent=(x0 * size, x1 * size, y0 * size, y1 * size), norm=norm,
        cmap=colours if cmap is None else colour_map(cmap), aspect="equal" if ratio > 0.15 else "auto",
        interpolation="nearest",
    )  # fmt: skip
    shown = (x0 * size, x1 * size, y0 * size, y1 * size)
    if picture.overlays and picture.overlays.levels is not None:
        draw_levels(axes, shown, picture.overlays.levels)
    if picture.overlays and picture.overlays.dots is not None:
        draw_dots(axes, shown, picture.overlays.dots, plain(picture.overlays.family))
    arrows = picture.overlays is not None and picture.overlays.arrows is not None
    if picture.overlays and arrows:
        draw_arrows(axes, shown, picture.overlays, unit_text(picture.overlays.unit))
    if scale_bar:
        draw_scale_bar(axes, shown, length)
    axes.set_xlabel(f"{picture.axes[0]} [{length}]")
    axes.set_ylabel(f"{picture.axes[1]} [{length}]")
    axes.set_title(
        f"{plain(picture.facts.get('title', picture.label))}   {when(picture)}{lacking(picture.facts)}",
        fontsize=10,
        loc="left",
        pad=20 if arrows else 6,
    )
    bar = figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05)
    name = "time of arrival" if picture.facts.get("over_time") == "arrival" else picture.label
    bar.set_label(bar_label(name, picture.facts.get("field", name), picture.unit, figure.get_figheight() - 0.9))
    return figure
