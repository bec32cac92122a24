"""Data sets and lazy selections: the objects of an analyst's notebook."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from octavo import _core, shown
from octavo.damage import Reading, replacing
from octavo.definition_files import Definition, joined
from octavo.errors import UsageError
from octavo.line import Line
from octavo.pictures.picture import Picture
from octavo.plan import Plan
from octavo.printable import printable
from octavo.regions import Regions, point_text
from octavo.sizes import bytes_of
from octavo.triangles.outlines import Line as Outline
from octavo.triangles.outlines import line_of, polygon_of
from octavo.triangles.polygons import fields_in_cells
from octavo.triangles.transect import Transect
from octavo.units import factor, in_fractions, stats_in

if TYPE_CHECKING:
    from octavo.binned import Asked, Histogram, Phase, Profile
    from octavo.exports.cube import Cube
    from octavo.sinks import Sinks
    from octavo.structures.clumps import Clumps
    from octavo.structures.spectrum import Spectrum
    from octavo.structures.surface import Surface

Path = str | os.PathLike[str]
T = TypeVar("T")
#: A point: fractions of the box length, or lengths with a unit ("20 kpc"), or "center", "max:FIELD", "min:FIELD".
Place = str | Sequence[float | str]
#: An axis by name, or a vector of any length.
Direction = str | Sequence[float]
#: Which cells a region takes: those whose centre is inside, or the share of each that is inside.
Edge = Literal["centre", "clip"]

#: Fields that follow from the mesh, available wherever a field is: the centre of a cell, its edge along x and its volume
#: [code length], and its level (the code's own number). docs/fields.md has other names that are not stored, and formulas.
GEOMETRY = ("x", "y", "z", "dx", "level", "cell_volume")


def open(path: Path, *, step: int | None = None, flow: str | None = None, skip_damaged: bool = False) -> Dataset:
    """Opens one step of a store, or a native output: reads headers or footers only.

    `step` and `flow` ("analysis" or "checkpoint") choose a step of a store; without them it is the newest complete one.
    With `skip_damaged` results lack the domains that turn out to be damaged: `Dataset.damaged` names those, and the facts
    of each result (`facts["incomplete"]`, of stats `["incomplete"]`) those that it lacks. Raises Unreadable, Damaged or
    UsageError with the place and what to do.
    """
    data = _core.open(os.fspath(path), flow, step)
    return Dataset(data, _reading=Reading(data) if skip_damaged else None)


def over_time(path: Path, kind: str, *, flow: str | None = None) -> Dataset:
    """A mesh of triangles as one step whose values are the largest, smallest or mean ("max", "min", "mean") of each
    point over all steps: `octavo.over_time(path, "max").map("WATER DEPTH")`. With "arrival:0.1" they are the times of the
    first step at which a value is above 0.1, NaN where none is. A store gives the steps of one `flow`: by
    default analysis, if it has a step, else checkpoint."""
    return Dataset(_core.over_time(os.fspath(path), kind, flow))


def probe(
    paths: Path | Sequence[Path],
    places: Sequence[Place],
    fields: str | Sequence[str] | None = None,
    *,
    plane: int = -1,
    flow: str | None = None,
) -> dict[str, Any]:
    """Values at places through outputs and steps, named as in `series`. Returns `times` of shape (steps), `values` (places,
    fields, steps) with NaN outside, `fields`, `units` and `inside` (places).

    Of cells a place is as in `line`: fractions of the box length, lengths, "center", or "max:density", which is looked for in
    each step; `at`, of shape (places, steps, axes), has the places [code length]. A value is that of the leaf around the
    place, of a field or a formula. On meshes of triangles and solids it is linear within each triangle or tetrahedron: places
    are (x, y) or (x, y, z) [code length] and `paths` one file; `plane` of prisms between planes counts from 0 at the bottom (-1:
    the uppermost). `flow` of a store is as in over_time. Raises UsageError for a place that is none or an unknown field. Releases the GIL."""
    from octavo.places import listed, series_at

    return series_at(listed(paths), list(places), _listed(fields), plane=plane, flow=flow)


def steps(path: Path) -> list[dict[str, Any]]:
    """The complete steps at a path: dicts of flow, step, time, parts, bytes."""
    return _core.steps(os.fspath(path))


def convert(inputs: Path | Sequence[Path], out: Path, **options: Any) -> dict[str, Any]:
    """Writes outputs as steps of a store, or with `to` one of them as an output of that format ("ramses", "flash",
    "amrex", "serafin", "med", "vtkhdf", "ugrid", "gmsh", "xdmf"); see `octavo help convert`.

    Options of all: fields, particles, single_precision, refine, block, fill ("linear", "constant"), per_mass, flow,
    overwrite, threads, ranks, progress. For stores: max_level, region, codec ("lossless", "abs:E", "range:E",
    "point:E"), field_codec ({name: codec}), effort ("default", "fast" or "max"), method, per_file, append, measure. For other
    formats: step, kind, rename, periodic, lossy_ok, domains, ordering, max_box, blocking_factor, multifab, dt,
    boundary. For files of triangles: over_time (as octavo.over_time has it) and polygon (corners, or the path of a file: the
    triangles whose middle is inside). Returns the bytes written. Releases the GIL. Collective where `ranks` is given.
    """
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    if options.get("polygon") is not None:
        options["polygon"] = polygon_of(options["polygon"])
    return _core.convert([os.fspath(path) for path in paths], os.fspath(out), **options)


def repack(path: Path, out: Path, **options: Any) -> dict[str, Any]:
    """Writes the steps of a store to another with other domains or files; see `octavo help repack`.

    Options: domains (default: as they are), per_file (64; 0: all), flow, steps (default: all), effort, overwrite,
    threads, ranks, progress. Values stay the same bits. Releases the GIL. Collective where `ranks` is given.
    """
    return _core.repack(os.fspath(path), os.fspath(out), **options)


Tolerances = float | dict[str, float]


def diff(
    a: Path | Dataset,
    b: Path | Dataset,
    *,
    absolute: Tolerances = 0.0,
    relative: Tolerances = 0.0,
    ignore: Sequence[str] = (),
    names: dict[str, str] | None = None,
    same_mesh: bool = False,
    headers: bool = False,
    particle_memory: int | str = "1 GiB",
    cached_parts: int = 0,
    threads: int = 0,
) -> dict[str, Any]:
    """How far two steps differ: what `octavo diff --json` prints. `equal` of the result says whether they are within
    the tolerances, `reasons` why not.

    A tolerance is one number for all, or {pattern: number}, of which the last that matches is used. Patterns match
    names of variables, "species/attribute", "time" and "domain". `names` maps variables of `a` to their names in `b`.
    Releases the GIL.
    """

    def rules(tolerances: Tolerances) -> list[tuple[str, float]]:
        return list(tolerances.items()) if isinstance(tolerances, dict) else [("*", float(tolerances))]

    first, second = (side if isinstance(side, Dataset) else open(side) for side in (a, b))
    return _core.diff(
        first._data, second._data, absolute=rules(absolute), relative=rules(relative), ignore=list(ignore),
        names=names or {}, same_mesh=same_mesh, headers=headers, particle_memory=bytes_of(particle_memory),
        cached_parts=cached_parts, threads=threads,
    )  # fmt: skip


def verify(path: Path, *, threads: int = 0, quick: bool = False) -> dict[str, Any]:
    """Reads and checks everything. `findings` of the result is empty if all is well; each has `where`, `what` and
    `kind`: "damaged", or "lost" for a step that was durable and is missing. `notes` list events without loss, such as
    interrupted attempts. `quick` checks only the footers and tables of a store: it finds truncation and lost files, but
    no flipped bit in a stream."""
    return _core.verify(os.fspath(path), threads, None, quick)


def _with_overlays(
    selection: Selection, picture: Picture, another: Any, grid: bool, vectors: str | None, particles: str | None
) -> Picture:
    from octavo.pictures.overlays import gather, require_levels

    require_levels(selection._data, grid)

    def dots() -> Picture:
        from octavo.particles import dots
        from octavo.pictures.picture import ready

        return ready(
            Picture.of(dots(selection._data, selection.region, str(particles), picture.facts), selection._data)
        )

    largest = picture.facts["kind"] not in ("slice", "value")
    over = gather(another, picture.facts, grid, vectors, largest, None if particles is None else dots)
    return replace(picture, overlays=over)


@dataclass(frozen=True)
class Selection(Regions):
    """Part of a data set: a region, a level of detail, or both. Immutable and lazy: values are read only by `map`,
    `slice`, `line`, `hist`, `phase`, `profile`, `spectrum`, `clumps`, `contour`, `sum`, `stats`, `arrays`, `chunks`, `export`, `cube` and `to_...`, and only
    those of the domains that the region touches. Selections are joined with `&`, `|` and `-`.

    A cell belongs to a region if its centre is inside; maps clip cells at the edges of a box exactly. `edge` of maps and sums
    says otherwise.
    """

    _data: Any
    region: str | None = None
    max_level: int | None = None
    #: A condition on cells, a formula; see `where`.
    condition: str | None = None
    #: Names and formulas of `derive`.
    definitions: tuple[tuple[str, str], ...] = ()
    _reading: Reading | None = None

    #: Whether a map of no cell is a picture all the same: that of one domain among others.
    _blank_too: ClassVar[bool] = False

    def level(self, deepest: int) -> Selection:
        """Nothing finer than this level (the code's own number): coarser cells take their stored values. Raises UsageError
        for what is no whole number, and for a level above the coarsest one that there is."""
        try:
            deepest = operator.index(deepest)
        except TypeError:
            raise UsageError(
                f"a level is a whole number, not {deepest!r}", [], f"level({self._data.levels[-1]['level']})"
            ) from None
        return self._with(max_level=deepest if self.max_level is None else min(deepest, self.max_level))

    def where(self, condition: str) -> Selection:
        """The cells (of triangles: the points) where a formula holds: "density > 1e-3 & speed < 2". Conditions add up.
        A map's integral counts other cells as 0; means, extremes and all else leave them out. Particles are not
        chosen by it. Raises UsageError, when it is used, for a formula that is none, with the column."""
        both = condition if self.condition is None else f"({self.condition}) & ({condition})"
        return self._with(condition=both)

    def derive(self, name: str | Sequence[Definition], formula: str = "", **constants: float) -> Selection:
        """A selection that also knows the field `name`, computed from others: ds.derive("mach",
        "norm(velocity)/sqrt(gamma*pressure/density)", gamma=1.4). It may be used wherever a field is read, also in
        later formulas; docs/fields.md has the grammar. `constants` are numbers that it names. Instead of a name it takes
        several definitions, those of a file: ds.derive(octavo.definitions("galaxy.toml"), mu=0.6). Raises UsageError,
        when it is used, for an unknown name, a formula that is none, or the name of a stored field."""
        fresh = [(name, formula)] if isinstance(name, str) else list(name)
        numbers = [(key, repr(float(value))) for key, value in constants.items()]
        return self._with(definitions=tuple(joined(self.definitions, joined(fresh, numbers))))

    def __repr__(self) -> str:
        chosen = "; ".join(f"{name} {value}" for name, value in self._chosen_words())
        return printable(f"<octavo.Selection of {self._data.path}: {chosen or 'everything'}; {self._said_domains()}>")

    def _repr_html_(self) -> str:
        pairs = [*self._chosen_words(), ("reads", self._said_domains())]
        return shown.facts(f"selection of {self._data.path}", pairs)

    def _chosen_words(self) -> list[tuple[str, str]]:
        words = [("region", self.region), ("where", self.condition)]
        if self.max_level is not None:
            words.append(("level", f"<= {self.max_level}"))
        words += [("define", f"{name} = {formula}") for name, formula in self.definitions]
        return [(name, value) for name, value in words if value is not None]

    def _said_domains(self) -> str:
        return f"{self.domains} of {self._data.num_parts} domains"

    def _at(self, place: Place) -> str:
        return in_fractions(point_text(place), self._data)

    def _choices(self) -> dict[str, Any]:
        return {
            "region": self.region, "max_level": self.max_level, "condition": self.condition,
            "definitions": self.definitions, "_reading": self._reading,
        }  # fmt: skip

    def _do(self, job: Callable[[Any], T]) -> T:
        """`job` of the data set, without its damaged domains if it was opened so."""
        return self._reading.do(job) if self._reading else job(self._data)

    def _read(self, job: Callable[[Any, int], T], part: int) -> T | None:
        """The same of one part; None where that is damaged."""
        return self._reading.read(job, part) if self._reading else job(self._data, part)

    def _marked(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Facts of a result, and which damaged domains it lacks."""
        return facts | self._reading.facts(self.region, self.max_level) if self._reading else facts

    @property
    def damaged(self) -> dict[int, str]:
        """The damaged domains that were met, counted from 1, each with a sentence: of a data set opened with
        `skip_damaged`."""
        return {part + 1: text for part, text in sorted(self._reading.met.items())} if self._reading else {}

    def _with(self, **changes: Any) -> Selection:
        return Selection(self._data, **(self._choices() | changes))

    def _chosen(self) -> dict[str, Any]:
        """The selection as compiled functions take it."""
        return {
            "region": self.region, "max_level": self.max_level, "where": self.condition,
            "definitions": list(self.definitions),
        }  # fmt: skip

    @property
    def parts(self) -> list[int]:
        """The domains, from 0, that may hold cells of the selection: those that reading it opens."""
        return self._data.parts_of(self.region, self.max_level)

    @property
    def domains(self) -> int:
        """How many domains that are."""
        return len(self.parts)

    def plan(self, fields: str | Sequence[str] | None = None, *, particles: bool = False, threads: int = 0) -> Plan:
        """Tells what reading these fields (default: all) will take at most: domains, cells, bytes and memory, from headers
        alone. Raises UsageError for an unknown field."""
        found = _core.plan(
            self._data, fields=_listed(fields), particles=particles, threads=threads, **self._chosen()
        )  # fmt: skip
        return Plan(**found)

    def map(
        self, field: str | None = None, *, axis: str = "z", camera: Sequence[float] | None = None, up: Sequence[float] | None = None,
        kind: str | None = None, weight: str | None = None, pixels: int = 1024, threads: int = 0,
        mask: str | None = None, above: float = 0.0, unit: str | None = None, grid: bool = False,
        vectors: str | None = None, particles: str | None = None, overlay_particles: str | None = None,
        edge: Edge | None = None, blur: float = 0.0,
    ) -> Picture:  # fmt: skip
        """Projects the field along `axis`. `kind` is "integral" (the default), "mean" (the default with a weight: a
        field, or "volume"), "max" or "min". On triangles, pixels where field `mask` is not above `above` are NaN (dry
        land: the depth). `unit` is that of the picture: of an integral of the density "Msun/pc**2". With `grid` outlines
        of the finest levels are drawn over it, with `vectors`, the name of a vector such as "velocity", arrows of its mean
        along each line of sight, with `overlay_particles`, a species or family ("dm", "sink"), dots where those of the
        region are. Releases the GIL.

        Along an axis a cell counts with the exact share of each pixel that it covers. `camera`, instead of an axis, is a
        vector of any length towards the viewer, and `up` points upwards in the picture (default: z, or y along z). Each
        pixel is then the ray through its centre, with exact chords through the leaves; a maximum or minimum is of the
        leaves that the ray passes through. The window is the smallest rectangle around the region's shadow, and `facts`
        has its axes (`right`, `up`, `towards`). A camera that looks along an axis gives the map along that axis,
        mirrored if it is seen from the other side. `edge` says which cells the region takes: "centre", those whose centre is
        inside, clipped to the window, or of a single box "clip", the share of each that is inside; by default "clip" for a
        box, else "centre".

        With `blur` each cell is smoothed by a Gaussian whose standard deviation is this number of the cell's own edges (0.5, say;
        at most 16), along an axis, for integrals and means; the sum over all pixels stays. Raises UsageError for a vector
        without length or `up` along it, and for a blur of an extreme; Unsupported for a blur or camera on triangles, and for a
        camera on 1-D or 2-D data, or a blur with one.

        With `particles`, a species or family ("dm", "star"), it is the sum of the `weight` (default: "mass", of particles
        without one "none", which counts 1) of each pixel's particles over its area, or with a field, an attribute or "age", its mean by these weights. Along an
        axis, of the particles in the region, in the window of a map of it. Files of cells are not read. A sum is 0 where
        no particle is, which is drawn like pixels without a value."""
        if particles is not None:
            from octavo.particles import deposit

            image = self._do(
                lambda data: deposit(data, self.region, particles, field, weight, axis, pixels, threads=threads)
            )
            return self._picture(image, unit)
        if field is None:
            fields = [info["name"] for info in self._data.fields]
            example = f"ds.map({fields[0]!r})" if fields else 'ds.map(particles="dm")'
            raise UsageError(f"a map of no field: there are {', '.join(fields) or 'none'}", [], example)
        chosen_kind, longer_side = kind or ("mean" if weight else "integral"), pixels

        def picture(
            field: str, *, kind: str | None = None, pixels: int | None = None, unit: str | None = None
        ) -> Picture:
            image = self._map(
                field, axis=axis, camera=camera, up=up, kind=kind or chosen_kind,
                weight=None if kind == "max" else weight or ("volume" if kind == "mean" else None),
                pixels=pixels or longer_side, threads=threads, mask=mask, above=above, edge=edge,
                blur=blur if kind is None else 0.0,
            )  # fmt: skip
            return self._picture(image, unit)

        return _with_overlays(self, picture(field, unit=unit), picture, grid, vectors, overlay_particles)

    def _map(
        self, field: str, *, camera: Sequence[float] | None = None, up: Sequence[float] | None = None,
        mask: str | None = None, above: float = 0.0, edge: Edge | None = None, ranks: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        """The compiled map: `options` are axis, kind, weight, pixels, blur and threads. Collective over `ranks`."""
        return self._do(lambda data: _core.map(
            data, field, camera=None if camera is None else _direction(camera), up=None if up is None else _direction(up),
            mask=mask, above=above, edge=edge, ranks=ranks, progress=None, blank_too=self._blank_too, **options,
            **self._chosen(),
        ))  # fmt: skip

    def slice(
        self, field: str, *, normal: Direction = "z", at: Place = "center", up: Sequence[float] | None = None,
        pixels: int = 1024, threads: int = 0, unit: str | None = None, grid: bool = False, vectors: str | None = None,
        through: Outline | None = None, height: float | None = None, depth: float | None = None, plane: int | None = None,
        overlay_particles: str | None = None,
    ) -> Picture:  # fmt: skip
        """The values of the leaves that a plane cuts, as a picture: `values` of shape (ny, nx), row 0 at the bottom, NaN
        where the plane leaves the region or the domain.

        `normal` is "x", "y", "z" (the other two axes then ascend in the picture) or a vector of any length, from whose
        end the plane is seen. `up` points upwards in the picture (default: z, or y across z). `at` is a point of the
        plane: numbers in fractions of the box length, "center" of the region, else of the domain, or "max:FIELD",
        "min:FIELD", for which the selection is read. `pixels` counts along the longer side of the plane's bounding
        rectangle; `facts` has the axes of the picture (`right`, `up`, `towards`). `grid` draws the outlines of levels over
        it, `vectors` arrows of this vector's components in the plane, `overlay_particles` dots where particles of a species
        or family are within half a thickness of it: "dm:0.05" (of the box length), "star:20 kpc", or "dm", a hundredth of
        the picture's longer side.

        Each pixel shows the leaf in which its centre lies; on a side between two cells, the one with the larger
        coordinate; on the domain's upper side the last cells, or of a periodic axis the first. A region hides the pixels
        whose centre is outside of it. Reads the domains near the plane, and of them one field. Raises UsageError for an
        unknown field, a vector without length, or a plane that meets no cell; Unsupported for 1-D data, for triangles
        without planes, and for 2-D data but across z. Of solids a pixel has the value at its middle. Releases the GIL. Runs in this process alone: `mpirun octavo slice`
        shares it.

        Prisms (planes of triangles) are cut along a line seen from above (`through`: points (x, y), or the path of a file
        of text or GeoJSON), or by a surface: of one `height`, of one `depth` below the uppermost plane [code length],
        or of a `plane` (from 0 at the bottom; -1 is the uppermost). A pixel has the value at its middle."""
        if self._data.unstructured and not self._data.solids:
            return self._surface(field, through, height, depth, plane, pixels, threads, unit, vectors)
        if any(choice is not None for choice in (through, height, depth, plane)):
            raise UsageError("through, height, depth and plane cut meshes of triangles", [], "normal and at cut cells")
        longer_side = pixels

        def picture(
            field: str, *, kind: str | None = None, pixels: int | None = None, unit: str | None = None
        ) -> Picture:
            image = self._do(lambda data: _core.slice(
                data, field, normal=_direction(normal), at=self._at(at), up=None if up is None else _direction(up),
                pixels=pixels or longer_side, threads=threads, ranks=None, progress=None, **self._chosen(),
            ))  # fmt: skip
            return self._picture(image, unit)

        return _with_overlays(self, picture(field, unit=unit), picture, grid, vectors, overlay_particles)

    def _picture(self, image: Any, unit: str | None) -> Picture:
        picture = Picture.of(image, self._data, unit)
        return replace(picture, facts=self._marked(picture.facts))

    def _surface(
        self, field: str, through: Outline | None, height: float | None, depth: float | None, plane: int | None,
        pixels: int, threads: int, unit: str | None, vectors: str | None,
    ) -> Picture:  # fmt: skip
        line = [] if through is None else line_of(through)

        def picture(field: str, *, kind: str | None = None, pixels: int = pixels, unit: str | None = None) -> Picture:
            image = _core.surface(
                self._data, field, through=line, height=height, depth=depth, plane=plane, pixels=pixels, threads=threads,
                ranks=None, progress=None, **self._chosen(),
            )  # fmt: skip
            return Picture.of(image, self._data, unit)

        return _with_overlays(self, picture(field, unit=unit), picture, False, vectors, None)

    def line(
        self, fields: str | Sequence[str], start: Place | None = None, end: Place | None = None, *, threads: int = 0,
        units: dict[str, str] | None = None, through: Outline | None = None,
    ) -> Line | Transect:  # fmt: skip
        """The leaves on the straight line between two points, in order, with exact distances: a chord's `exit` is the
        next one's `entry`, to the last bit.

        Points are numbers in fractions of the box length, "center", or "max:FIELD", "min:FIELD" of the selection.
        Where an axis is periodic the line continues on the other side; else it is cut at the domain. A region clips it
        exactly. A line along a side between two cells is in the one with the larger coordinate. Reads the domains near
        the line, and of them these fields. Raises UsageError for an unknown field, a line without length, or one that
        meets no cell. Releases the GIL. Runs in this process alone: `mpirun octavo line` shares it. Of solids a value is the
        mean over the chord, and `level` is 0.

        Through triangles the line may bend: `through` has its points (x, y) [code length], or the path of a file of text
        or GeoJSON. The result is then a Transect: values at the crossings of edges and at the line's own points. One
        point gives the column of planes there."""
        if (through is None) == (start is None) or (start is None) != (end is None):
            raise UsageError(
                "a line: expected start and end, or through", [], "ds.line('depth', through=[(0, 0), (9, 5)])"
            )
        if self._data.unstructured and not self._data.solids:
            ends = {} if start is None or end is None else {"start": self._at(start), "end": self._at(end)}
            found = _core.transect(
                self._data, fields=_listed(fields), through=[] if through is None else line_of(through), **ends,
                **self._chosen(),
            )  # fmt: skip
            return Transect.of(found).in_units(units, self._data)
        if start is None or end is None:
            raise UsageError("a line with bends goes through meshes of triangles", [], "start and end, through cells")
        ends = {"start": self._at(start), "end": self._at(end)}
        found = self._do(lambda data: _core.line(
            data, fields=_listed(fields), threads=threads, ranks=None, progress=None, **ends, **self._chosen(),
        ))  # fmt: skip
        return Line.of(self._marked(found)).in_units(units, self._data)

    def hist(
        self, field: str, *, bins: int = 64, log: bool = False, range: Sequence[float] | None = None,
        weight: str | None = None, cumulative: bool = False, percentiles: Sequence[float] = (), threads: int = 0,
        units: dict[str, str] | None = None, particles: str | None = None, centre: Place = "center",
        normal: Direction = "z",
    ) -> Histogram:  # fmt: skip
        """How the cells are spread over the values of `field`: the sum of their weights in each of `bins` bins between
        the two values of `range` (in the field's unit; without it, the smallest and the largest value, above 0 with
        `log`, which takes another reading of the field). `field` may be a distance as in profile: "radius", "cylinder",
        "height" or "angle", with `centre` and `normal`.

        `weight`: "volume" (the default), "mass" (density times volume), "none" (1 a cell), or a field, whose value counts. On
        triangles points take the place of cells, and their share of the area (with planes: of the volume) that of the
        volume. `percentiles` of all the selection's values are lines in the picture, and `.facts["percentiles"]`;
        `percentile` says what they are. `units` gives values and weights in other units, by name: {"density": "H/cc"}. Sums
        have the same bits for any number of threads. Raises UsageError for an unknown field, a selection without cells, a
        field without a finite value, a range that is none. Releases the GIL.

        With `particles`, a species or family ("dm", "star"), it bins these by an attribute or their "age"; weight "mass" is
        the default ("none" where they have none), or another attribute. Files of cells are not read. It takes no percentiles."""
        if particles is not None:
            from octavo.binned import bin_by_field, histogram
            from octavo.particles import binned

            if len(percentiles):
                raise UsageError("a histogram of particles takes no percentiles")
            axis = bin_by_field(field, bins, log=log, range=range)
            sums = self._do(lambda data: binned(data, self.region, particles, axis, weight, threads=threads))
            return histogram(self._marked(sums), cumulative).in_units(units, self._data)
        return self._diagram(
            "hist", threads, field=field, bins=bins, log=log, range=range, weight=weight, cumulative=cumulative,
            percentiles=percentiles, units=units, centre=centre, normal=normal,
        )  # fmt: skip

    def percentile(
        self, field: str, q: float | Sequence[float], *, weight: str = "volume", unit: str | None = None, threads: int = 0,
    ) -> Any:  # fmt: skip
        """The percentiles `q` (0 to 100) of the selection's values: a number, or for several an array of shape (len(q),).

        A percentile is the smallest value such that cells up to it have this share of the whole weight, exactly, as of
        numpy.percentile(..., method="inverted_cdf", weights=...); -0 is 0. NaN, infinities, and cells without weight take
        no part; NaN if no value is left. Values are read two or more times (docs/histograms.md), but never all in memory.
        `weight` is as in hist. The result is the same for any number of threads. Raises UsageError for a weight
        below 0, a `q` beyond 0 to 100, an unknown field, a selection without cells. Releases the GIL."""
        asked = [float(one) for one in np.atleast_1d(np.asarray(q, dtype=float))]
        found = np.asarray(self._bins([], [field], weight, threads, asked)["fields"][field]["percentiles"])[:, 0]
        if unit is not None:
            own = self.stats([field], particles=False, threads=threads)["fields"][field]["unit"]
            found = found * factor(own, unit, self._data, field)
        return float(found[0]) if np.ndim(q) == 0 else found

    def phase(
        self, x: str, y: str, *, bins: int | tuple[int, int] = 128, log: bool | tuple[bool, bool] | None = None,
        x_range: Sequence[float] | None = None, y_range: Sequence[float] | None = None, weight: str | None = None,
        threads: int = 0, units: dict[str, str] | None = None, centre: Place = "center", normal: Direction = "z",
    ) -> Phase:  # fmt: skip
        """The sum of the cells' weights in bins of two fields; `.weights` has shape (bins of y, bins of x). `bins` and
        `log` are for both, or a pair; without `log` an axis is logarithmic if all values are above 0 and range over
        more than a factor 100. A distance may take a field's place, as in hist. `weight` is as in hist, by default "mass", or "volume" if there is no density. Ranges,
        triangles, errors and threads are as in hist. Releases the GIL."""
        return self._diagram(
            "phase", threads, x=x, y=y, bins=bins, log=log, x_range=x_range, y_range=y_range, weight=weight, units=units,
            centre=centre, normal=normal,
        )  # fmt: skip

    def profile(
        self, fields: str | Sequence[str], *, axis: str = "radius", centre: Sequence[float] | str = "center",
        normal: Sequence[float] | str = "z", bins: int = 64, log: bool = False, range: Sequence[float] | None = None,
        weight: str = "volume", percentiles: Sequence[float] = (), threads: int = 0, units: dict[str, str] | None = None,
        cumulative: bool = False,
    ) -> Profile:  # fmt: skip
        """The weighted mean, standard deviation, minimum and maximum of fields in bins of `axis`, all in one reading:
        `profile["density"]` is the mean, of shape (bins,), `profile.fields["density"]["std"]` the deviation; with
        percentiles=[16, 50, 84] `...["p16"]` and so on are those of each bin (`percentile` says what they are).

        `axis`: "radius", the distance from `centre`; "cylinder", the distance from the line through it along `normal`;
        "height", the distance along `normal` with a sign; "angle", the angle around that line in degrees, from 0 to 360,
        for z from x towards y; or a field, such as "x" or "density". Distances are in code
        lengths, to a cell's centre, along periodic axes to the nearest image. `centre`: fractions of the box length,
        "center", or "max:FIELD" or "min:FIELD" (in this selection). `normal`: "x", "y", "z", or three numbers. `range`
        without a value: all distances that the selection can reach, with `log` from half a finest cell; of a field as
        in hist. `weight`, triangles, errors and threads are as in hist. Releases the GIL.

        With `cumulative` all numbers are of the cells up to the upper edge of a bin, and `fields["density"]["sum"]` is the
        sum of value times weight: with weight="volume" the mass within the radius. It takes no percentiles."""
        return self._diagram(
            "profile", threads, fields=fields, axis=axis, centre=centre, normal=normal, bins=bins, log=log, range=range,
            weight=weight, percentiles=percentiles, units=units, cumulative=cumulative,
        )  # fmt: skip

    def diagrams(self, *asked: tuple[str, dict[str, Any]], threads: int = 0) -> list[Any]:
        """Several diagrams in one pass over the data, in their order: Histogram, Phase and Profile objects. Each is asked for by
        the name of a method and its arguments: `ds.diagrams(("hist", {"field": "density"}), ("phase", {"x": "density", "y":
        "pressure"}), ("profile", {"fields": ["density"]}))`. Each has the bits that it has alone.

        A domain is read once for all of them, and once more for limits that are not given, as far as values do not stay in
        memory. Percentiles, and the inside of a cumulative profile, take passes of their own. Raises UsageError for another
        name, TypeError for an argument that the method has not, else as the methods. Releases the GIL."""
        from octavo.binned import KINDS

        unknown = [kind for kind, _ in asked if kind not in KINDS]
        if unknown or not asked:
            what = f"no diagram '{unknown[0]}'" if unknown else "no diagram is asked for"
            raise UsageError(what, [], "there are " + ", ".join(KINDS))
        return self._diagrams([KINDS[kind](**options) for kind, options in asked], threads)

    def _diagram(self, kind: str, threads: int, **options: Any) -> Any:
        from octavo.binned import KINDS

        return self._diagrams([KINDS[kind](**options)], threads)[0]

    def _diagrams(self, asked: list[Asked], threads: int) -> list[Any]:
        from octavo.binned import make_diagrams

        def sums_of(words: list[dict[str, Any]]) -> list[dict[str, Any]]:
            found = self._do(lambda data: _core.diagrams(
                data, diagrams=words, threads=threads, ranks=None, progress=None, **self._chosen()
            ))  # fmt: skip
            return [self._marked(sums) for sums in found]

        return make_diagrams(asked, self._data, sums_of)

    def _bins(
        self, axes: list[dict[str, Any]], fields: list[str], weight: str, threads: int, percentiles: Sequence[float] = (),
    ) -> dict[str, Any]:  # fmt: skip
        return self._marked(self._do(lambda data: _core.bins(
            data, axes=axes, fields=fields, percentiles=[float(one) for one in percentiles], weight=weight,
            threads=threads, ranks=None, progress=None, **self._chosen(),
        )))  # fmt: skip

    def _percentiles(
        self, fields: list[str], percentiles: Sequence[float], weight: str, threads: int
    ) -> dict[str, dict[str, float]]:
        """Those of all cells, by field and name."""
        from octavo.binned import percentiles_of_all

        return percentiles_of_all(self._bins([], fields, weight, threads, percentiles), percentiles)

    def spectrum(self, fields: str | Sequence[str], *, cells: int = 256) -> Spectrum:
        """The power spectrum of a field, or the sum of those of several (the components of a vector), on a uniform grid:
        the `cube` of the selection, a full box, at the finest level on which the whole box has at most `cells` cells along
        each axis. The transform takes the box as periodic; there is no window. Raises UsageError for an unknown field,
        or where cells of the cube have no value. Memory: the cube of each field, and twice one of them."""
        from octavo.structures.spectrum import spectrum_of

        spectrum = self._do(lambda data: spectrum_of(data, self._chosen(), _listed(fields) or [], cells))
        return replace(spectrum, facts=self._marked(spectrum.facts))

    def clumps(
        self, above: float, *, field: str = "density", min_cells: int = 1, threads: int = 0,
        units: dict[str, str] | None = None,
    ) -> Clumps:  # fmt: skip
        """The sets of cells with field > above (in the code's unit) that are connected by their sides, across levels,
        domains and periodic sides; the heaviest first. Those of fewer than `min_cells` cells are left out. Only selected
        cells take part. `units` gives "mass", "volume", "length" (of places) and the field in other units. The result has the
        same bits for any number of threads. Raises UsageError for an unknown field; Unsupported for triangles. Releases
        the GIL."""
        from octavo.structures.clumps import Clumps

        data, found = self._do(
            lambda data: (data, _core.clumps(
                data, field=field, above=float(above), threads=threads, ranks=None, progress=None, **self._chosen()
            ))
        )  # fmt: skip
        return Clumps.of(self._marked(found), data, min_cells, self._chosen()).in_units(units, self._data)

    def contour(self, field: str, at: float, *, threads: int = 0) -> Surface:
        """The surface on which a field has the value `at` (in the code's unit), as triangles; of 2-D data and of meshes of
        triangles its lines. It goes through the dual mesh, whose corners are the cells' centres, so that it has no cracks
        between levels and domains. It ends at the outermost cells' centres, and at cells that the selection leaves out or
        whose value is not finite. In solids it goes through tetrahedra, to the sides of the mesh. Empty if the value is passed
        nowhere. The result has the same bits for any number of
        threads. Raises UsageError for an unknown field; Unsupported for 1-D data and prisms. Releases the GIL."""
        from octavo.structures.surface import Surface

        found = self._do(
            lambda data: _core.contour(
                data, field=field, at=float(at), threads=threads, ranks=None, progress=None, **self._chosen()
            )
        )
        return Surface.of(self._marked(found))

    def export(
        self, path: Path, *, as_: str | None = None, fields: str | Sequence[str] | None = None,
        species: str | Sequence[str] | None = None, single_precision: bool = False, overwrite: bool = False,
        threads: int = 0, crs: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Writes the selection as a file for other programs, and returns what was written: `cells`, `fields`, `bytes` ...

        `as_` is "htg" (a hyper tree grid for VTK and ParaView), "ug" (voxels or triangles), "cube" (a uniform grid),
        "cells" (a table), "particles", or of triangles "points" or "triangles" (for geographic systems, in the coordinate
        system `crs`, "EPSG:2154"); without it the ending of the file's name chooses. docs/export.md lists kinds
        and endings. `fields` (default: all that are stored) may be names and formulas, of particles attributes;
        `single_precision` writes reals of 4 bytes. Raises UsageError where nothing is selected, for an unknown field, or
        if the file exists and `overwrite` is not set; Unsupported if a library is missing or the data cannot be exported so.
        Releases the GIL."""
        from octavo.exports.files import write

        return self._marked(self._do(replacing(lambda data, overwrite: write(
            data, self._chosen(), os.fspath(path), as_, fields=_listed(fields), species=_listed(species),
            single_precision=single_precision, overwrite=overwrite, threads=threads, crs=crs,
        ), overwrite)))  # fmt: skip

    def cube(self, fields: str | Sequence[str] | None = None) -> Cube:
        """Fields (default: all that are stored) on a uniform grid of cells of the selection's level, else of the finest
        one: the smallest box with all cells whose centre is in the region. A coarser leaf gives its value to all cells
        in it, a refined cell its stored value, so that the sum of value times volume is kept. NaN where a cell's centre
        is not in the region, or the condition does not hold. Raises UsageError for an unknown field or where no centre
        is in the region; NoSpace if it would not fit into memory; Unsupported for triangles. Releases the GIL."""
        from octavo.exports.cube import cube_of

        return self._do(lambda data: cube_of(data, self._chosen(), _listed(fields)))

    def to_xarray(self, fields: str | Sequence[str] | None = None) -> Any:
        """The `cube` as an xarray.Dataset with coordinates. Raises Unsupported without xarray."""
        return self.cube(fields).to_xarray()

    def to_pandas(self, fields: str | Sequence[str] | None = None) -> Any:
        """The columns of `arrays` as a pandas.DataFrame. Raises Unsupported without pandas."""
        from octavo.exports.libraries import pandas_table

        return pandas_table(self, _listed(fields))

    def to_pyvista(self, fields: str | Sequence[str] | None = None) -> Any:
        """The cells as a pyvista.UnstructuredGrid with fields and level; of triangles and solids the mesh with its fields.
        Raises Unsupported without PyVista."""
        from octavo.exports.libraries import pyvista_grid

        return pyvista_grid(self, _listed(fields))

    def to_yt(self, fields: str | Sequence[str] | None = None) -> Any:
        """The step as a data set of yt, in memory: boxes on levels, fields ("stream", name), the code's units. A level may
        be chosen, but no region or condition: yt selects by itself. Raises Unsupported without yt."""
        from octavo.exports.libraries import yt_dataset

        return yt_dataset(self, _listed(fields))

    def to_dask(self, fields: str | Sequence[str] | None = None) -> Any:
        """The table of `to_pandas` as a dask.dataframe, a partition for each domain that the selection reads. With
        `skip_damaged` damaged domains have none, and `damaged` names them. Raises Unsupported without Dask's data frames
        and for triangles."""
        from octavo.exports.libraries import dask_table

        return dask_table(self, _listed(fields))

    def stats(
        self, fields: Sequence[str] | None = None, *, percentiles: Sequence[float] = (), weight: str = "volume",
        threads: int = 0, particles: bool = True, units: dict[str, str] | None = None, edge: Edge | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Extremes, means and integrals per field, as `octavo stats --json` gives them. With `percentiles`, each field
        has those of its values, cells counting by `weight` (as in `percentile`). `units` are those of some fields: an
        integral is that unit times a code volume. Raises UsageError for a unit of another dimension.

        `edge` "centre", the default, takes cells whose centre is in the region. "clip" takes all that share volume with it,
        by their share: its figures are those of the map of the same box. Raises Unsupported for "clip" of triangles, or of a
        region that is not a single box; UsageError for "clip" with percentiles."""
        if edge == "clip" and len(percentiles):
            raise UsageError("percentiles are of whole cells: 'clip' takes shares of them", [], "leave one away")
        found = self._marked(self._do(lambda data: _core.stats(
            data, fields=_listed(fields), particles=particles, threads=threads, ranks=None, progress=None, edge=edge,
            **self._chosen(),
        )))  # fmt: skip
        if len(percentiles):
            for name, row in self._percentiles(list(found["fields"]), percentiles, weight, threads).items():
                found["fields"][name]["percentiles"] = row
        stats_in(found, units or {}, self._data)
        return found

    def sum(
        self,
        field: str,
        *,
        weight: str | None = None,
        unit: str | None = None,
        threads: int = 0,
        edge: Edge | None = None,
    ) -> float:
        """Sum over the cells: of the values, or of value times volume (weight="volume"): the mass, for density. `unit` is
        that of the sum: ds.sum("mass", unit="Msun"); without it, it is in code units. Raises UsageError for a unit of
        another dimension, or where the data set does not say its units. `edge` is as in stats."""
        if weight not in (None, "volume"):
            raise UsageError(f"no weight '{weight}'", [], 'weight="volume", or None for the plain sum')
        if weight and not self._data.cells_are_boxes:
            quoted = f"`{field}`" if field in (known["name"] for known in self._data.fields) else f"({field})"
            return self.sum(f"{quoted}*volume", unit=unit, threads=threads, edge=edge)
        stats = self.stats([field], threads=threads, particles=False, edge=edge)["fields"][field]
        total = stats["integral" if weight else "sum"]
        if unit is None:
            return total
        volume = f"*code_length**{self._data.dim}" if weight and stats["unit"] else ""
        return total * factor(stats["unit"] + volume, unit, self._data, field)

    def arrays(self, fields: str | Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """The selected cells as arrays: each field (default: all), the cell centres x, y, z and sizes dx [code length],
        and their level. All of it in memory: `chunks` bounds that.

        On triangles and solids a row is a point, or a cell if the fields stand in cells: each field (default: all at points,
        if any is), x, y, z (of a cell its centroid) [code length], and the `area` or `volume` that it stands for [code length^2,
        code length^3]. Raises Unsupported for fields of both kinds."""
        chunks = list(self.chunks(fields, memory=1 << 62))
        return chunks[0] if chunks else {}

    def chunks(
        self, fields: str | Sequence[str] | None = None, *, memory: int | str = "256 MiB"
    ) -> Iterator[dict[str, np.ndarray]]:
        """The same in pieces of whole domains that take at most `memory` together (or one domain, if that is more).
        Arrays of a piece that is one domain are handed over without a copy. Triangles and solids are one piece."""
        if self._data.unstructured:
            from octavo.triangles.table import table_of

            yield table_of(self._data, self._chosen(), _listed(fields))[0]
            return
        limit, held = bytes_of(memory), 0
        waiting: list[dict[str, np.ndarray]] = []
        for part in self.parts:
            cells = self._read(
                lambda data, part: _core.cells(data, part, fields=_listed(fields), **self._chosen()), part
            )
            if cells is None:
                continue
            size = sum(array.nbytes for array in cells.values())
            if waiting and held + size > limit:
                yield _join(waiting)
                waiting, held = [], 0
            waiting.append(cells)
            held += size
        if waiting:
            yield _join(waiting)

    def particles(self, species: str | None = None) -> dict[str, np.ndarray]:
        """The attributes of a species (default: the first), or of a family: "dm", "star", "cloud", "debris", "other",
        "tracer", "tracer_gas" ..., "sink": of the particles whose position is in the region. Particles with a `birth_time`
        also have an `age` [code time]. Raises UsageError for a name that is none."""
        from octavo.particles import age, each

        if species is None and not self._data.species:
            return {}
        parts = list(each(self, species))
        found = _join(parts) if parts else {}
        return found | {"age": age(self._data, found["birth_time"])} if "birth_time" in found else found

    @property
    def sinks(self) -> Sinks:
        """The sinks whose position is in the region, from the table that RAMSES writes of them: ds.sinks["mass"],
        ds.sinks.position, ds.sinks.in_unit("mass", "Msun"). Raises UsageError for a step without such a table."""
        from octavo.sinks import sinks_of

        return sinks_of(self._data, self.region)


def _listed(fields: str | Sequence[str] | None) -> list[str] | None:
    return [fields] if isinstance(fields, str) else None if fields is None else list(fields)


def _direction(direction: Direction) -> str | list[float]:
    if isinstance(direction, str):
        return direction
    if len(direction) != 3:
        raise UsageError(f"a direction of {len(direction)} components: expected 3", [], "(1, 1, 1)")
    return [float(component) for component in direction]


def _join(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}


class Dataset(Selection):
    """One step, opened. A selection of everything in it, with the facts of its headers."""

    @property
    def path(self) -> str:
        return self._data.path

    @property
    def format(self) -> str:
        return self._data.format

    @property
    def time(self) -> float:
        """[code time]"""
        return self._data.time

    @property
    def fields(self) -> list[str]:
        return [field["name"] for field in self._data.fields]

    @property
    def derived(self) -> dict[str, str]:
        """Fields that are not stored and follow from those that are: names and formulas of the library, for this kind of
        data. Those with `gamma` or `mu` in their formula may need it: ds.derive("mu", "0.6")."""
        return {field["name"]: field["formula"] for field in self._data.derived}

    @property
    def levels(self) -> list[int]:
        """The code's own numbers of the levels that hold cells, coarsest first."""
        return [level["level"] for level in self._data.levels]

    @property
    def level_counts(self) -> list[dict[str, int]]:
        """Owned cells and leaves of each level."""
        return self._data.levels

    @property
    def units(self) -> dict[str, float]:
        """One code unit of length, density and time in cgs."""
        return self._data.units

    @property
    def attributes(self) -> dict[str, Any]:
        """Everything else that the code wrote into its headers."""
        return self._data.attributes

    def read_box(
        self, field: str, level: int, lower: Sequence[int], upper: Sequence[int], *, out: np.ndarray | None = None
    ) -> np.ndarray:
        """A field's values on the cells lower <= index < upper of a level (the code's own number), counted from 0 at
        the domain's lower corner, x first: an array with axes (z, y, x), (y, x) or (x,), and components last.

        A coarser leaf gives its value to all cells in it; a cell that is refined gives its stored value, and nothing
        finer is read. Cells without a value are NaN, 0 among integers, or as they were in `out`: an array of that shape
        with any strides, of the field's type (float64 also takes float32). Any process may read any box. Raises
        UsageError for a box outside of the domain, an unknown field, or an `out` of another shape or type; Unsupported
        for triangles: `points_in_box` is for them. Releases the GIL."""
        if out is None:
            infos = [info for info in self._data.fields if info["name"] == field]
            kind = infos[0]["dtype"] if infos else "float64"
            components = infos[0]["components"] if infos else 1
            shape = [max(0, b - a) for a, b in zip(lower, upper, strict=True)][::-1]
            dtype = np.dtype("uint16" if kind == "bfloat16" else kind)
            out = np.full(shape + [components] * (components > 1), np.nan if dtype.kind == "f" else 0, dtype=dtype)
        self._data.read_box(field, level, list(lower), list(upper), out)
        return out

    def points_in_box(
        self, lo: Sequence[float], hi: Sequence[float], fields: str | Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The points of a mesh of triangles with lo <= (x, y) < hi [code length], and the triangles all of whose points
        are: numbers in the whole mesh `point` and `triangle`, from 0, ascending; `x`, `y`; `corners` of shape
        (triangles, 3), positions in `point`; and `fields`, by name, of shape (planes, points). Raises UsageError for a
        box without extent or an unknown field; Unsupported for cells. Releases the GIL."""
        own = fields_in_cells(self._data)
        names = _listed(fields) or [name for name in self.fields if name not in own]
        return self._data.read_points((lo[0], lo[1]), (hi[0], hi[1]), names)

    def part(self, index: int, fields: str | Sequence[str] | None = None) -> Any:
        """One domain as it is stored: the intervals of its roots `.held`, `.refined` and `.owned` per level, `.fields`
        over all its tree cells; of triangles `.x`, `.y`, `.triangles`, `.planes`, and `.fields` at points."""
        return self._data.read(index, _listed(fields))

    def __repr__(self) -> str:
        leaves = sum(level["leaves"] for level in self._data.levels)
        cells = f"{leaves} {'elements' if self._data.unstructured else 'leaves'}"
        domains = "1 domain" if self.domains == 1 else f"{self.domains} domains"
        return printable(
            f"<octavo.Dataset {self.path}: {self._data.code}, {self._data.dim}-D, t = {self.time:.6g}, "
            f"{cells} in {domains}, fields {', '.join(self.fields)}>"
        )

    def _repr_html_(self) -> str:
        pairs = [
            ("code", f"{self._data.code} ({self.format})"),
            ("time", f"{self.time:.10g}"),
            ("domains", self.domains),
            ("fields", ", ".join(self.fields)),
            ("particles", sum(species["count"] for species in self._data.species)),
        ]
        levels = "".join(
            f"<tr><td>{level['level']}</td><td>{level['cells']}</td><td>{level['leaves']}</td></tr>"
            for level in self._data.levels
        )
        details = (
            f"<details><summary>levels</summary><table><tr><th>level</th><th>cells</th><th>leaves</th></tr>{levels}"
            "</table></details>"
        )
        return shown.facts(self.path, pairs, details)
