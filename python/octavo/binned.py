"""Histograms, phase diagrams and profiles: sums of cells in bins, as arrays, tables and pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.exports.columns import array_of, saved
from octavo.printable import printable
from octavo.regions import point_text
from octavo.units import in_fractions


@dataclass(frozen=True)
class Axis:
    """The quantity that cells are binned by. Bin i holds edges[i] <= value < edges[i + 1], the last one also its upper
    edge. `log`: whether the logarithms of edges are equally spaced, else the edges."""

    name: str
    unit: str
    log: bool
    edges: np.ndarray  #: (bins + 1,)

    def __repr__(self) -> str:
        said = f"{self.name} [{self.unit or 'no unit'}], {len(self.edges) - 1} bins, {self.edges[0]:.6g} to {self.edges[-1]:.6g}"
        return printable(f"<octavo.Axis: {said}>")

    @property
    def centres(self) -> np.ndarray:
        """The middle of each bin: the geometric mean of its edges with `log`, else their mean. Shape (bins,)."""
        low, high = self.edges[:-1], self.edges[1:]
        return np.sqrt(low * high) if self.log else (low + high) / 2


@dataclass(frozen=True)
class Binned(ABC):
    """Sums of cells in bins. The shape of arrays is (bins,), or (bins of y, bins of x).

    `weights` is the sum of the weights of a bin's cells: their volume, mass, number, or a field. `facts` has what else
    one must know: "all", "beyond" and "nan" count all selected cells, those below or above all edges, and those with NaN
    on an axis (with their weight); "unweighed" those whose weight is not finite, which are counted nowhere else. So
    weights.sum() + beyond + nan = all.
    """

    axes: tuple[Axis, ...]
    cells: np.ndarray
    weights: np.ndarray
    weight: str
    weight_unit: str
    fields: dict[str, dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, sums: dict[str, Any], percentiles: Sequence[float] = (), **more: Any) -> Any:
        """The bins that the compiled verb returned for these percentiles."""
        facts = dict(sums)
        facts["fields"] = {name: _named_percentiles(row, percentiles) for name, row in sums["fields"].items()}
        axes = tuple(Axis(**axis) for axis in facts.pop("axes"))
        taken = {name: facts.pop(name) for name in ("cells", "weights", "weight", "weight_unit", "fields")}
        return cls(axes=axes, facts=facts, **taken, **more)

    def in_units(self, units: dict[str, str] | None, data: Any) -> Any:
        """The same with some quantities in other units, by name: axes, fields, and the weight."""
        from octavo.cosmology import cosmic_facts
        from octavo.units import factor

        have = {axis.name: axis.unit for axis in self.axes} | {name: row["unit"] for name, row in self.fields.items()}
        have[self.weight] = self.weight_unit
        for name in units or {}:
            if name not in have:
                raise UsageError(f"a unit for '{name}', which is not computed", [], "there are: " + ", ".join(have))
        by = {name: factor(have[name], unit, data, name) for name, unit in (units or {}).items()}
        units = units or {}
        weight = by.get(self.weight, 1.0)
        axes = tuple(
            replace(axis, unit=units.get(axis.name, axis.unit), edges=axis.edges * by.get(axis.name, 1.0))
            for axis in self.axes
        )
        fields = {
            name: {
                key: units.get(name, value)
                if key == "unit"
                else value * by.get(name, 1.0) * (weight if key == "sum" else 1.0)
                for key, value in row.items()
            }
            for name, row in self.fields.items()
        }
        return replace(
            self, axes=axes, fields=fields, weights=self.weights * weight if self.weight in by else self.weights,
            weight_unit=units.get(self.weight, self.weight_unit),
            facts=_scaled_sums(self.facts, weight, by.get(self.axes[0].name, 1.0) if self.axes else 1.0)
            | cosmic_facts(data),
        )  # fmt: skip

    def __repr__(self) -> str:
        counted = f"{self.facts['all']['cells']} {self.facts.get('particles', 'cells')}"
        return printable(f"<octavo.{type(self).__name__}: {self._said()}, of {counted}>")

    @abstractmethod
    def _said(self) -> str:
        """What is binned, and in how many bins."""

    @property
    def time(self) -> float:
        """[code time]"""
        return self.facts["time"]

    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """The bins as columns of equal length: edges, cells, weight, and what a profile adds."""

    @abstractmethod
    def draw(self) -> Any:
        """A matplotlib figure, without a display."""

    def plot(self) -> Any:
        """A matplotlib figure."""
        return self.draw()

    def array(self) -> np.ndarray:
        """A structured array with the columns, as `.npy` files hold it."""
        return array_of(self.columns())

    def save(self, path: str) -> None:
        """Writes a picture (.png), a table (.csv) or an array (.npy)."""
        if saved(path, self.array(), self.csv()):
            return
        if path.endswith(".png"):
            import json

            described = json.dumps({name: value for name, value in self.facts.items()})
            self.draw().savefig(path, dpi=150, bbox_inches="tight", metadata={"octavo": described})
        else:
            raise UsageError("the output must end in .png, .csv or .npy", [path], "")

    def csv(self) -> Iterator[str]:
        """Lines of a table with one row a bin; numbers read back to the same bits, and empty where there is none."""
        columns = self.columns()
        yield ",".join(_quoted(name) for name in columns)
        for row in zip(*(values.tolist() for values in columns.values()), strict=True):
            yield ",".join("" if value != value else repr(value) for value in row)

    def table(self) -> dict[str, Any]:
        """Everything as plain values, as `--json` prints it."""
        axes = [{"name": a.name, "unit": a.unit, "log": a.log, "edges": a.edges.tolist()} for a in self.axes]
        fields = {
            name: {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in row.items()}
            for name, row in self.fields.items()
        }
        centre = self.facts.get("centre")
        return {
            "axes": axes,
            "cells": self.cells.tolist(),
            "weights": self.weights.tolist(),
            "weight": self.weight,
            "weight_unit": self.weight_unit,
            "fields": fields,
            **self.facts,
            "centre": None if centre is None else list(centre),
        }

    def _repr_png_(self) -> bytes:
        from octavo.pictures.picture import png_of

        return png_of(self.draw())

    def _heading(self, text: str) -> str:
        from octavo.pictures.picture import lacking, plain, when

        chosen = f"   ({self.facts['selection']})" if self.facts.get("selection") else ""
        return f"{plain(text + chosen)}   {when(self)}{lacking(self.facts)}"

    def _weight_label(self) -> str:
        return label_of("number of cells" if self.weight == "none" else self.weight, self.weight_unit)


@dataclass(frozen=True, repr=False)
class Histogram(Binned):
    """How cells are spread over the values of a field. With `cumulative` each bin has the sum of all bins up to it, in
    `weights` and in `cells`; cells below all edges are not in it."""

    cumulative: bool = False

    def _said(self) -> str:
        return f"{self.axes[0].name} in {len(self.weights)} bins"

    @property
    def edges(self) -> np.ndarray:
        return self.axes[0].edges

    def columns(self) -> dict[str, np.ndarray]:
        return _edge_columns(self.axes[0]) | {"cells": self.cells, "weight": self.weights}

    def draw(self) -> Any:
        figure, axes = _figure()
        axes.stairs(self.weights, self.edges, fill=True, color="#440154", alpha=0.85)
        _label_axis(axes, "x", self.axes[0])
        axes.set_ylabel(self._weight_label() + (" up to here" if self.cumulative else " a bin"))
        if _wide(self.weights):
            axes.set_yscale("log")
        for name, value in self.facts.get("percentiles", {}).items():
            axes.axvline(value, color="#b5367a", lw=1, ls="--")
            axes.annotate(
                name, (value, 1), xycoords=("data", "axes fraction"), xytext=(3, -3), textcoords="offset points", ha="left",
                va="top", fontsize=8, color="#b5367a", backgroundcolor=(1, 1, 1, 0.8),
            )  # fmt: skip
        axes.set_xlim(self.edges[0], self.edges[-1])
        axes.set_title(self._heading("histogram of " + self.axes[0].name), fontsize=10, loc="left")
        return figure


@dataclass(frozen=True, repr=False)
class Profile(Binned):
    """The weighted mean, standard deviation ("std"), minimum, maximum and percentiles ("p50") of fields in bins of a
    distance or a field. NaN where a bin has no cell. profile["density"] is the mean of that field.

    With `cumulative` all numbers of a bin are of the cells up to its upper edge, and "sum" is the sum of value times
    weight; of a radius from 0 on, wherever the first edge is."""

    cumulative: bool = False

    def _said(self) -> str:
        return f"{', '.join(self.fields)} over {self.axes[0].name} in {len(self.weights)} bins"

    @property
    def edges(self) -> np.ndarray:
        return self.axes[0].edges

    @property
    def centres(self) -> np.ndarray:
        return self.axes[0].centres

    def __getitem__(self, name: str) -> np.ndarray:
        return self.fields[name]["mean"]

    def columns(self) -> dict[str, np.ndarray]:
        columns = _edge_columns(self.axes[0]) | {"cells": self.cells, "weight": self.weights}
        for name, row in self.fields.items():
            columns |= {f"{name} {key}": values for key, values in row.items() if key != "unit"}
        return columns

    def draw(self) -> Any:
        figure, panels = _figure(len(self.fields))
        axis = self.axes[0]
        if self.cumulative:
            self._draw_sums(np.atleast_1d(panels))
            return figure
        for axes, (name, row) in zip(np.atleast_1d(panels), self.fields.items(), strict=True):
            if _wide(row["mean"]):
                axes.set_yscale("log")
            _draw_means(axes, axis.centres, row)
            axes.set_ylabel(label_of(name, row["unit"]).replace("   [", "\n["))
            axes.set_xlim(axis.edges[0], axis.edges[-1])
            _label_axis(axes, "x", axis)
        weight = "number of cells" if self.weight == "none" else self.weight
        asked = percentiles_in(next(iter(self.fields.values()))) if self.fields else {}
        spread = "percentiles " + ", ".join(f"{q:g}" for q in asked) if asked else "standard deviation"
        np.atleast_1d(panels)[0].set_title(self._heading(f"mean by {weight} and {spread}"), fontsize=10, loc="left")
        return figure

    def _draw_sums(self, panels: Any) -> None:
        axis = self.axes[0]
        for axes, (name, row) in zip(panels, self.fields.items(), strict=True):
            if _wide(row["sum"]):
                axes.set_yscale("log")
            axes.plot(axis.edges[1:], row["sum"], color="#440154", lw=1.5, marker=".", ms=4)
            unit = "*".join(unit for unit in (row["unit"], self.weight_unit) if unit)
            of = name if self.weight == "none" else f"{name} x {self.weight}"
            known = row["unit"] and (self.weight_unit or self.weight == "none")
            axes.set_ylabel(label_of(of, unit if known else "").replace("   [", "\n["))
            axes.set_xlim(axis.edges[0], axis.edges[-1])
            _label_axis(axes, "x", axis)
        panels[0].set_title(self._heading(f"sum up to each {axis.name}"), fontsize=10, loc="left")


@dataclass(frozen=True, repr=False)
class Phase(Binned):
    """The weight of cells in bins of two fields. `values` of shape (bins of y, bins of x) is NaN where no cell is."""

    def _said(self) -> str:
        return f"{self.y.name} over {self.x.name} in {len(self.y.edges) - 1} x {len(self.x.edges) - 1} bins"

    @property
    def x(self) -> Axis:
        return self.axes[0]

    @property
    def y(self) -> Axis:
        return self.axes[1]

    @property
    def values(self) -> np.ndarray:
        return np.where(self.cells > 0, self.weights, np.nan)

    def array(self) -> np.ndarray:
        """`weights`, of shape (bins of y, bins of x), as `.npy` files hold it."""
        return self.weights

    def columns(self) -> dict[str, np.ndarray]:
        """Only bins with cells."""
        row, column = np.nonzero(self.cells)
        x = {name: values[column] for name, values in _edge_columns(self.x).items()}
        suffix = " (y)" if self.x.name == self.y.name else ""
        y = {name + suffix: values[row] for name, values in _edge_columns(self.y).items()}
        return x | y | {"cells": self.cells[row, column], "weight": self.weights[row, column]}

    def draw(self) -> Any:
        from octavo.pictures import picture

        figure, axes = _figure()
        values = self.values
        finite = values[np.isfinite(values)]
        extremes = (float(finite.min()), float(finite.max())) if finite.size else None
        norm, colours = picture.colours_of(extremes, None, None)
        mesh = axes.pcolormesh(self.x.edges, self.y.edges, values, norm=norm, cmap=colours, rasterized=True)
        _label_axis(axes, "x", self.x)
        _label_axis(axes, "y", self.y)
        axes.set_title(self._heading(f"{self.y.name} over {self.x.name}"), fontsize=10, loc="left")
        bar = figure.colorbar(mesh, ax=axes, pad=0.02, fraction=0.05)
        bar.set_label(self._weight_label() + " a bin")
        return figure


def label_of(name: str, unit: str) -> str:
    """A quantity and its unit, as a picture's axis shows them."""
    from octavo.pictures.picture import labelled, plain

    return plain(name) if name == "number of cells" else labelled(name, unit)


def percentile_name(percentage: float) -> str:
    """The name of a percentile, among columns: "p50"."""
    return f"p{percentage:g}"


def _named_percentiles(row: dict[str, Any], percentiles: Sequence[float]) -> dict[str, Any]:
    """A field's row with each percentile under its name."""
    row = dict(row)
    row.pop("counted")
    found = row.pop("percentiles")
    return row | {percentile_name(q): values for q, values in zip(percentiles, found, strict=True)}


def percentiles_in(row: dict[str, Any]) -> dict[float, Any]:
    """The percentiles of a field's row, ascending."""
    return dict(sorted((float(name[1:]), values) for name, values in row.items() if name.startswith("p")))


def _scaled_sums(facts: dict[str, Any], factor: float, of_values: float) -> dict[str, Any]:
    """The facts with the weights of all, of those beyond the edges and of NaN in another unit, and so a histogram's
    percentiles."""
    if "percentiles" in facts:
        facts = facts | {"percentiles": {name: value * of_values for name, value in facts["percentiles"].items()}}
    sums = {name: facts[name] for name in ("all", "beyond", "nan") if isinstance(facts.get(name), dict)}
    return facts | {name: row | {"weight": row["weight"] * factor} for name, row in sums.items()}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(sign in name for sign in ',"\n\r') else name


def _edge_columns(axis: Axis) -> dict[str, np.ndarray]:
    return {f"{axis.name} from": axis.edges[:-1], f"{axis.name} to": axis.edges[1:]}


def _wide(values: np.ndarray) -> bool:
    """Whether a logarithmic scale shows more: no value is negative, and those above 0 range over a factor 100."""
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    return bool(positive.size and (finite >= 0).all() and positive.max() / positive.min() > 100)


def _figure(panels: int = 1) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.0 if panels == 1 else 1.0 + 2.6 * panels), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(panels, 1)


def _draw_means(axes: Any, places: np.ndarray, row: dict[str, Any]) -> None:
    """The means with their spread: the standard deviation, or between the outermost percentiles, with a dashed line for
    each one between them."""
    mean, asked = row["mean"], list(percentiles_in(row).values())
    low, high = mean - row["std"], mean + row["std"]
    if axes.get_yscale() == "log":
        low = np.maximum(low, row["min"])
    if asked:
        low, high = asked[0], asked[-1]
    known = np.isfinite(mean)
    axes.fill_between(places[known], low[known], high[known], color="#2a788e", alpha=0.25, lw=0)
    for values in asked if len(asked) == 1 else asked[1:-1]:
        axes.plot(places[known], values[known], color="#2a788e", lw=1.2, ls="--")
    axes.plot(places[known], mean[known], color="#440154", lw=1.5, marker=".", ms=4)


def _label_axis(axes: Any, which: str, axis: Axis) -> None:
    getattr(axes, f"set_{which}label")(label_of(axis.name, axis.unit))
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")


def percentiles_of_all(sums: dict[str, Any], percentiles: Sequence[float]) -> dict[str, dict[str, float]]:
    """By field and name, of the compiled verb's result for one bin with all cells."""
    return {
        name: {percentile_name(q): float(values[0]) for q, values in zip(percentiles, row["percentiles"], strict=True)}
        for name, row in sums["fields"].items()
    }


#: Distances that a profile may be over; anything else is a field.
DISTANCES = ("radius", "cylinder", "height", "angle")
_NORMALS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def bin_by(
    quantity: str,
    bins: int,
    *,
    log: bool | None,
    range: Any = None,
    centre: Any = "center",
    normal: Any = "z",
) -> dict[str, Any]:
    """An axis as the compiled verb takes it: a field, or one of DISTANCES from `centre`."""
    if quantity not in DISTANCES:
        return bin_by_field(quantity, bins, log=log, range=range)
    axis: dict[str, Any] = {"bins": int(bins), "log": log, "range": None if range is None else _pair(range)}
    place = point_text(centre)
    return axis | {"distance": quantity, "centre": place, "normal": _direction(normal)}


def bin_by_field(field: str, bins: int, *, log: bool | None, range: Any = None) -> dict[str, Any]:
    """An axis of a field, or of an attribute of particles, whatever its name is."""
    return {"bins": int(bins), "log": log, "range": None if range is None else _pair(range), "field": field}


def _pair(range: Any) -> tuple[float, float]:
    low, high = range
    return float(low), float(high)


def _direction(normal: Any) -> tuple[float, float, float]:
    if isinstance(normal, str):
        if normal not in _NORMALS:
            raise UsageError(f"no direction '{normal}'", [], "x, y, z, or three numbers")
        return _NORMALS[normal]
    x, y, z = (*(float(value) for value in normal), 0.0, 0.0)[:3]
    return x, y, z


def below_edges(axis: dict[str, Any], sums: dict[str, Any]) -> dict[str, Any] | None:
    """One bin from the centre to the first edge of a radius; None where that is nothing, or no radius is binned."""
    first = float(sums["axes"][0]["edges"][0])
    if axis.get("distance") not in ("radius", "cylinder") or first <= 0:
        return None
    return axis | {"bins": 1, "log": False, "range": (0.0, float(np.nextafter(first, 0.0)))}


def cumulated(sums: dict[str, Any], below: dict[str, Any] | None = None) -> dict[str, Any]:
    """The compiled verb's result with all cells up to each bin's upper edge, and of fields the `sum` of value times weight.
    `below`: the result for the cells below the first edge."""

    def joined(of: Any) -> np.ndarray:
        return np.concatenate([of(one) for one in (below, sums) if one is not None])

    skipped = 0 if below is None else 1
    fields = {}
    for name, row in sums["fields"].items():
        counted, mean, deviation, least, most = (
            joined(lambda one, key=key, name=name: one["fields"][name][key])
            for key in ("counted", "mean", "std", "min", "max")
        )
        known = np.where(counted != 0, mean, 0.0)
        near = (
            known[counted != 0][0] if (counted != 0).any() else 0.0
        )  # differences from it keep the deviation's digits
        first = np.cumsum(counted * np.where(counted != 0, known - near, 0.0))
        second = np.cumsum(counted * np.where(counted != 0, deviation**2 + (known - near) ** 2, 0.0))
        total = np.cumsum(counted)
        with np.errstate(invalid="ignore", divide="ignore"):
            away = first / total
            spread = np.sqrt(np.maximum(0.0, second / total - away**2))
        made = {
            "sum": np.cumsum(counted * known), "mean": near + away, "std": spread,
            "min": np.fmin.accumulate(least), "max": np.fmax.accumulate(most), "counted": total,
        }  # fmt: skip
        fields[name] = row | {key: values[skipped:] for key, values in made.items()}
    cells, weights = (np.cumsum(joined(lambda one, key=key: one[key]))[skipped:] for key in ("cells", "weights"))
    return sums | {"cells": cells, "weights": weights, "fields": fields}


def histogram(sums: dict[str, Any], cumulative: bool = False, percentiles: dict[str, float] | None = None) -> Histogram:
    """The histogram of the compiled verb's result, with percentiles by their names."""
    if cumulative:
        sums = sums | {"cells": np.cumsum(sums["cells"]), "weights": np.cumsum(sums["weights"])}
    if percentiles:
        sums = sums | {"percentiles": percentiles}
    return Histogram.of(sums, cumulative=cumulative)


# ------------------------------------------------------------------------------------------------ diagrams asked for

#: more(axes, fields, percentiles): further sums of the same selection and weight.
_More = Callable[[list[dict[str, Any]], list[str], Sequence[float]], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """A diagram that is asked for: the sums that it takes, and how it is made of them."""

    axes: list[dict[str, Any]]
    fields: list[str]
    weight: str
    percentiles: list[float]
    made: Callable[[dict[str, Any], _More], Binned]
    units: dict[str, str] | None = None

    def words(self) -> dict[str, Any]:
        """As the compiled verb takes it."""
        return {name: getattr(self, name) for name in ("axes", "fields", "weight", "percentiles")}

    def reads(self) -> list[str]:
        """The names of what it reads."""
        counted = self.weight or "mass"
        fields = [axis["field"] for axis in self.axes if "field" in axis] + self.fields
        return fields + ([] if counted == "none" else [counted])


def asked_hist(
    field: str, *, bins: int = 64, log: bool = False, range: Sequence[float] | None = None, weight: str | None = None,
    cumulative: bool = False, percentiles: Sequence[float] = (), units: dict[str, str] | None = None,
    centre: Any = "center", normal: Any = "z",
) -> Asked:  # fmt: skip
    """As Selection.hist says."""
    axis = bin_by(field, bins, log=log, range=range, centre=centre, normal=normal)
    asked = [float(one) for one in percentiles]
    if asked and "field" not in axis:
        raise UsageError("percentiles are of fields, not of distances")

    def made(sums: dict[str, Any], more: _More) -> Binned:
        marks = percentiles_of_all(more([], [field], asked), asked)[field] if asked else None
        return histogram(sums, cumulative, marks)

    return Asked([axis], [], weight or "volume", [], made, units)


def asked_phase(
    x: str, y: str, *, bins: int | tuple[int, int] = 128, log: bool | tuple[Any, Any] | None = None,
    x_range: Sequence[float] | None = None, y_range: Sequence[float] | None = None, weight: str | None = None,
    units: dict[str, str] | None = None, centre: Any = "center", normal: Any = "z",
) -> Asked:  # fmt: skip
    """As Selection.phase says."""
    nx, ny = bins if isinstance(bins, tuple) else (bins, bins)
    log_x, log_y = log if isinstance(log, tuple) else (log, log)
    place: dict[str, Any] = {"centre": centre, "normal": normal}
    axes = [bin_by(x, nx, log=log_x, range=x_range, **place), bin_by(y, ny, log=log_y, range=y_range, **place)]
    return Asked(axes, [], weight or "", [], lambda sums, more: Phase.of(sums), units)


def asked_profile(
    fields: str | Sequence[str], *, axis: str = "radius", centre: Any = "center", normal: Any = "z", bins: int = 64,
    log: bool = False, range: Sequence[float] | None = None, weight: str | None = None,
    percentiles: Sequence[float] = (), units: dict[str, str] | None = None, cumulative: bool = False,
) -> Asked:  # fmt: skip
    """As Selection.profile says."""
    names = [fields] if isinstance(fields, str) else list(fields)
    over = bin_by(axis, bins, log=log, range=range, centre=centre, normal=normal)
    asked = [float(one) for one in percentiles]
    if cumulative and asked:
        raise UsageError("a cumulative profile takes no percentiles")

    def made(sums: dict[str, Any], more: _More) -> Binned:
        if cumulative:
            inner = below_edges(over, sums)
            sums = cumulated(sums, more([inner], names, []) if inner else None)
        return Profile.of(sums, asked, cumulative=cumulative)

    return Asked([over], names, weight or "volume", asked, made, units)


#: The kinds of diagrams: the verbs, and methods, of these names.
KINDS: dict[str, Callable[..., Asked]] = {"hist": asked_hist, "phase": asked_phase, "profile": asked_profile}


def make_diagrams(
    asked: Sequence[Asked], data: Any, sums_of: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> list[Any]:
    """The diagrams of a data set, in one pass. `sums_of(words)` is the compiled verb: the sums of each of Asked.words()."""
    for one in asked:
        for axis in one.axes:
            if "centre" in axis:
                axis["centre"] = in_fractions(axis["centre"], data)
    made = []
    for one, sums in zip(asked, sums_of([one.words() for one in asked]), strict=True):

        def more(
            axes: list[dict[str, Any]], fields: list[str], percentiles: Sequence[float], one: Asked = one
        ) -> dict[str, Any]:
            words = {"axes": axes, "fields": fields, "weight": one.weight, "percentiles": list(percentiles)}
            return sums_of([words])[0]

        made.append(one.made(sums, more).in_units(one.units, data))
    return made
