"""Many outputs or steps as one series over time: tables, and movies whose colours stay."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from octavo import _core
from octavo.errors import Damaged, Error, Unreadable, Unsupported, UsageError
from octavo.printable import printable

if TYPE_CHECKING:
    from octavo.dataset import Dataset, Path, Selection
    from octavo.pictures.picture import Picture

#: Columns of a field in a table: names of the numbers that `stats` gives.
QUANTITIES = ("min", "max", "mean", "volume_mean", "mass_mean", "integral", "sum", "nan")
_OWN_UNIT = ("min", "max", "mean", "volume_mean", "mass_mean")  # the unit of these is the field's
#: Those of a table that names none.
USUAL = ("min", "max", "volume_mean", "integral")


@dataclass(frozen=True)
class Snapshot:
    """One step of one output or store; nothing of it is open."""

    path: str
    flow: str | None  #: as the user chose it, for all steps of a path
    step: int
    time: float  #: [code time]
    attempt: str = field(default="", compare=False)  #: of a store: who wrote it, anew for each writing

    def open(self, ranks: Any = None, *, on_all: bool = False) -> Any:
        """Opens it for compiled verbs: headers or footers only; with `on_all` so that each rank may read any part. Collective
        over `ranks`. Raises as octavo.open does."""
        open_step = _core.open_on_all if on_all else _core.open
        return open_step(self.path, self.flow, self.step, ranks)


def check_quantities(quantities: Sequence[str]) -> None:
    """Raises UsageError for one that is none."""
    unknown = [quantity for quantity in quantities if quantity not in QUANTITIES]
    if unknown:
        raise UsageError(f"no quantity '{unknown[0]}'", [], "there are " + ", ".join(QUANTITIES))


def _opened(snapshot: Snapshot, skip_damaged: bool) -> Dataset:
    from octavo import dataset

    return dataset.open(snapshot.path, flow=snapshot.flow, step=snapshot.step, skip_damaged=skip_damaged)


@dataclass(frozen=True)
class Series:
    """Snapshots in the order of time: a sequence of data sets, each of which is opened when it is asked for."""

    snapshots: tuple[Snapshot, ...]
    skipped: tuple[Error, ...] = ()  #: why outputs are left out: they are not whole, or no longer
    skip_damaged: bool = False  #: data sets are opened so: octavo.open(..., skip_damaged=True)

    @property
    def times(self) -> np.ndarray:
        """[code time], ascending; shape (len(self),)"""
        return np.array([snapshot.time for snapshot in self.snapshots])

    def __len__(self) -> int:
        return len(self.snapshots)

    @overload
    def __getitem__(self, index: int) -> Dataset: ...
    @overload
    def __getitem__(self, index: slice) -> Series: ...
    def __getitem__(self, index: int | slice) -> Dataset | Series:
        if isinstance(index, slice):
            return Series(self.snapshots[index], self.skipped, self.skip_damaged)
        return _opened(self.snapshots[index], self.skip_damaged)

    def __iter__(self) -> Iterator[Dataset]:
        return (_opened(snapshot, self.skip_damaged) for snapshot in self.snapshots)

    def __repr__(self) -> str:
        if not self.snapshots:
            return "<octavo.Series: empty>"
        first, last = self.snapshots[0], self.snapshots[-1]
        return f"<octavo.Series: {len(self)} snapshots, t = {first.time:.6g} to {last.time:.6g}>"

    def movie(
        self,
        path: Path,
        picture: Callable[[Dataset], Picture],
        *,
        fps: float = 10.0,
        limits: tuple[float, float] | None = None,
        scale: str | None = None,
        cmap: str | None = None,
    ) -> None:
        """Writes one picture a snapshot as .gif, .mp4, or a folder of PNG files: `series.movie("m.gif", lambda ds:
        ds.map("density"))`. Without `limits` all have the colours of the lowest and the highest value of all. One
        picture is in memory. Replaces the output. Raises UsageError for another ending."""
        from octavo.pictures import movie

        movie.write((picture(ds) for ds in self), os.fspath(path), fps=fps, limits=limits, scale=scale, cmap=cmap)

    def stack(
        self, field: str, *, axis: str = "z", kind: str | None = None, weight: str | None = None, depth: float | None = None,
        light_speed: float | None = None, pixels: int = 1024, blur: float = 0.0, unit: str | None = None,
        select: Callable[[Dataset], Selection] | None = None, threads: int = 0,
    ) -> Picture:  # fmt: skip
        """A map along an axis through all snapshots, as light shows them that arrives at the time of the last: each gives the
        slab that light left at its time. `kind`, `weight`, `pixels`, `blur` and `unit` are as of Selection.map.

        The viewer is where a picture's is: at the domain's upper side along x and z, at the lower along y. A place behind
        that side is shown by the snapshot nearest in time to that at which its light left; before the first snapshot, by that.
        Cells are clipped at the slabs' sides, so integrals add up: of equal snapshots to the map of one. `facts["slabs"]`
        lists them, with their distances [code length].

        `depth` is a fraction of the box length, by default the domain's; along a periodic axis it may be more. `light_speed`
        is in code length over code time; without it, it follows from the code units. `select` is as in `table`, without a
        region. One snapshot is open at a time. Raises UsageError where the speed is not known, or a depth or selection cannot
        be; Unsupported for triangles and cosmological runs. Releases the GIL."""
        from octavo.pictures import stack

        picture = stack.stack(
            self, field, axis=axis, kind=kind or ("mean" if weight else "integral"), weight=weight, depth=depth,
            speed=light_speed, pixels=pixels, blur=blur, unit=unit, select=select, threads=threads,
        )  # fmt: skip
        assert picture is not None  # of one process
        return picture

    def export(
        self, path: Path, *, as_: str | None = None, fields: str | Sequence[str] | None = None,
        select: Callable[[Dataset], Selection] | None = None, single_precision: bool = False, overwrite: bool = False,
        threads: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Writes all snapshots as one VTKHDF file of many steps, which ParaView and VTK show over time: hyper tree grids
        ("htg", the default) or voxels ("ug"). `select` is as in `table`. One snapshot is open at a time; until the file is
        whole, each has a file of its own beside it. Raises as Selection.export, and Unsupported where the snapshots have
        other roots or fields. Releases the GIL."""
        from octavo.exports import over_time

        names = [fields] if isinstance(fields, str) else fields

        def export(snapshot: Snapshot, out: str, kind: str) -> dict[str, Any]:
            ds = _opened(snapshot, self.skip_damaged)
            return (select(ds) if select else ds).export(
                out, as_=kind, fields=names, single_precision=single_precision, threads=threads
            )

        return over_time.write(self.snapshots, os.fspath(path), as_, export, overwrite=overwrite)

    def table(
        self,
        fields: str | Sequence[str] | None = None,
        *,
        of: Sequence[str] = USUAL,
        select: Callable[[Dataset], Selection] | None = None,
        threads: int = 0,
    ) -> Table:
        """One row a snapshot: numbers of `fields` (default: all), each of QUANTITIES. `select` takes a data set and
        gives the selection to look at: `lambda ds: ds.sphere("center", 0.1)`. One snapshot is open at a time. Raises
        UsageError for a quantity that is none or an unknown field. Releases the GIL."""
        names = [fields] if isinstance(fields, str) else None if fields is None else list(fields)

        def stats(snapshot: Snapshot) -> dict[str, Any]:
            ds = _opened(snapshot, self.skip_damaged)
            return (select(ds) if select else ds).stats(names, threads=threads, particles=False)

        return Table.of(self.snapshots, stats, of)


@dataclass(frozen=True)
class Table:
    """Numbers over time. `columns[field][quantity]` has shape (snapshots,): NaN where a snapshot lacks the field."""

    snapshots: tuple[Snapshot, ...]
    leaves: np.ndarray  #: leaves, or of triangles points, that were counted
    columns: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    #: In a series that skips damaged domains: for each snapshot the domains that its row lacks, or None.
    incomplete: tuple[dict[str, Any] | None, ...] = ()

    @classmethod
    def of(
        cls, snapshots: Sequence[Snapshot], stats: Callable[[Snapshot], dict[str, Any]], quantities: Sequence[str]
    ) -> Table:
        """Calls `stats` for one snapshot after another."""
        check_quantities(quantities)
        leaves = np.zeros(len(snapshots), np.int64)
        columns: dict[str, dict[str, np.ndarray]] = {}
        incomplete = []
        for row, snapshot in enumerate(snapshots):
            found = stats(snapshot)
            incomplete += [found["incomplete"]] if "incomplete" in found else []
            leaves[row] = found["leaves"]
            for name, numbers in found["fields"].items():
                empty = {quantity: np.full(len(snapshots), np.nan) for quantity in quantities}
                for quantity, values in columns.setdefault(name, empty).items():
                    value = numbers.get(quantity)
                    values[row] = np.nan if value is None else value
        return cls(tuple(snapshots), leaves, columns, tuple(incomplete))

    def __repr__(self) -> str:
        return printable(f"<octavo.Table: {len(self.snapshots)} rows, fields {', '.join(self.columns)}>")

    @property
    def times(self) -> np.ndarray:
        """[code time]"""
        return np.array([snapshot.time for snapshot in self.snapshots])

    def __getitem__(self, name: str) -> dict[str, np.ndarray]:
        return self.columns[name]

    def heads(self) -> list[str]:
        """The names of the columns of rows()."""
        numbers = [f"{name} {quantity}" for name, column in self.columns.items() for quantity in column]
        return ["path", "step", "time", "leaves", *numbers]

    def rows(self) -> Iterator[list[Any]]:
        """One list a snapshot, as heads() names its values."""
        values = [column[quantity] for column in self.columns.values() for quantity in column]
        for row, snapshot in enumerate(self.snapshots):
            numbers = [float(column[row]) for column in values]
            yield [snapshot.path, snapshot.step, snapshot.time, int(self.leaves[row]), *numbers]

    def panels(self) -> list[tuple[str, dict[str, np.ndarray]]]:
        """The lines of each panel: first the numbers of a field that have its unit, then each of the others alone."""
        out = []
        for name, column in self.columns.items():
            own = {quantity: values for quantity, values in column.items() if quantity in _OWN_UNIT}
            out += [(name, own)] if own else []
            out += [(f"{name}, {quantity}", {quantity: column[quantity]}) for quantity in column if quantity not in own]
        return out

    def draw(self) -> Any:
        """A matplotlib figure, without a display: lines over time in code units, a panel for each of panels()."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        shown = self.panels() or [("", {})]
        figure = Figure(figsize=(8.0, 0.6 + 2.2 * len(shown)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, (title, lines) in zip(
            figure.subplots(len(shown), squeeze=False, sharex=True)[:, 0], shown, strict=True
        ):
            self._draw_panel(axes, title, lines)
        figure.axes[-1].set_xlabel("time [code time]")
        return figure

    def _draw_panel(self, axes: Any, title: str, lines: dict[str, np.ndarray]) -> None:
        from octavo.pictures.picture import plain

        for quantity, values in lines.items():
            axes.plot(self.times, values, ".-", linewidth=1, label=quantity.replace("_", " "))
        finite = [values[np.isfinite(values)] for values in lines.values()]
        drawn = np.concatenate(finite) if finite else np.empty(0)
        if drawn.size and drawn.min() > 0 and drawn.max() > 100 * drawn.min():
            axes.set_yscale("log")
        axes.set_title(plain(title), fontsize=9, loc="left")
        axes.grid(alpha=0.3)
        if len(lines) > 1:
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _natural(path: str) -> list[Any]:
    """Sorts run_9 before run_10."""
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", path)]


def paths_of(patterns: Sequence[Path]) -> list[str]:
    """The paths, and those that a pattern with * ? [ ] matches, in the order in which numbers count. Raises Unreadable
    where there is none."""
    names = []
    for pattern in (os.fspath(path) for path in patterns):
        matching = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern), key=_natural)
        if not matching:
            raise Unreadable("nothing is there by this name", [pattern], "quote patterns, or name outputs and stores")
        names += matching
    return names


def steps_at(path: str, flow: str | None) -> tuple[Snapshot, ...]:
    """The complete steps of one output or store, as it lists them: of one `flow`, or of analysis, if it has a step, else
    checkpoint. Raises UsageError where there is none."""
    steps = _core.steps(path)
    taken = flow or ("analysis" if any(s["flow"] == "analysis" for s in steps) else "checkpoint")
    listed = tuple(
        Snapshot(path, flow, step["step"], step["time"], step["attempt"].strip("0"))
        for step in steps
        if step["flow"] == taken
    )
    if not listed:
        raise UsageError("there are no complete steps" + (f" of flow {flow}" if flow else ""), [path], "")
    return listed


def by_path(
    paths: Sequence[Path], flow: str | None = None
) -> tuple[dict[str, tuple[Snapshot, ...]], tuple[Error, ...]]:
    """The steps of each path, and why paths have none: those that cannot be read, such as an output that is half written,
    are left out where there are others. Raises the first reason where nothing is left, and Unreadable for a name that is none."""
    names = paths_of(paths)
    listed: dict[str, tuple[Snapshot, ...]] = {}
    skipped: list[Error] = []
    for name in names:
        try:
            listed[name] = steps_at(name, flow)
        except (Unreadable, Damaged, Unsupported, UsageError) as error:
            skipped.append(type(error)(error.message, [*error.places, *([] if error.places else [name])], error.hint))
    if not listed:
        raise skipped[0]
    return listed, tuple(skipped)


def state_of(path: str) -> list[int]:
    """Changes when the files at a path do: their number, bytes and newest change."""
    listed = [os.stat(path)]
    for folder, _, names in os.walk(path):
        listed += [os.stat(os.path.join(folder, name)) for name in names]
    return [len(listed), sum(file.st_size for file in listed), max(file.st_mtime_ns for file in listed)]


def found(paths: Path | Sequence[Path], *, flow: str | None = None, skip_damaged: bool = False) -> Series:
    """All complete steps at the paths, in the order of time. A path with * ? [ ] names all that match; what by_path() says
    holds for those that cannot be read. If steps have the same number and time, that of the last path stays: a run
    that went on from a checkpoint repeats some."""
    listed, skipped = by_path([paths] if isinstance(paths, (str, os.PathLike)) else list(paths), flow)
    by_step = {(shot.step, shot.time): shot for snapshots in listed.values() for shot in snapshots}
    in_time = sorted(by_step.values(), key=lambda snapshot: (snapshot.time, snapshot.step))
    return Series(tuple(in_time), skipped, skip_damaged)


def series(paths: Path | Sequence[Path], *, flow: str | None = None, skip_damaged: bool = False) -> Series:
    """Outputs and steps as one series: `octavo.series("output_*")`, `octavo.series(["a.octavo", "b.octavo"])`. Reads the
    headers of each. Outputs that cannot be read are left out where there are others: `series.skipped` says why. With
    `skip_damaged` each data set is opened as `octavo.open` opens it so."""
    return found(paths, flow=flow, skip_damaged=skip_damaged)
