"""Particles by family: arrays, maps, histograms, ages. Files of cells are not read. docs/particles.md has the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.cosmology import time_since
from octavo.errors import Interrupted, UsageError
from octavo.sinks import sinks_of
from octavo.units import in_fractions

if TYPE_CHECKING:
    from octavo.dataset import Selection

Arrays = dict[str, np.ndarray]

#: Numbers of the attribute `family` as RAMSES has them (pm/pm_commons.f90 of its stable branch).
FAMILIES: dict[str, tuple[int, ...]] = {
    "dm": (1,), "star": (2,), "cloud": (3,), "debris": (4,), "other": (5,), "undefined": (127,),
    "tracer": (0, -1, -2, -3, -4, -5), "tracer_gas": (0,), "tracer_dm": (-1,), "tracer_star": (-2,),
    "tracer_cloud": (-3,), "tracer_debris": (-4,), "tracer_other": (-5,),
}  # fmt: skip


def names_of(data: Any) -> list[str]:
    """The names that each() takes of a step: its species, families that their attributes tell apart, and "sink"."""
    species = [row["name"] for row in data.species]
    told = {row["name"] for row in data.species[0]["attributes"]} if species else set()
    families = [name for name in FAMILIES if "_" not in name and name != "undefined"] if "family" in told else []
    if not families and "birth_time" in told:
        families = ["dm", "star", "cloud"]
    sinks = ["sink"] if "sink_csv" in data.attributes else []
    return list(dict.fromkeys([*species, *families, *sinks]))


def each(
    selection: Selection, name: str | None = None, progress: Callable[[int, int], bool] | None = None
) -> Iterator[Arrays]:
    """The particles of a species or family, domain by domain: those whose position is in the region. One domain is in
    memory. `progress` gets the domains that are read, and all. Raises UsageError for a name that is none, Interrupted where
    `progress` says so."""
    data = selection._data
    if _are_sinks(data, name):
        yield sinks_of(data, selection.region).columns
        return
    take = _taker(data, name, selection.region)
    parts = data.parts_of(selection.region, None) or [0]
    for number, part in enumerate(parts):
        if progress and not progress(number, len(parts)):
            raise Interrupted("stopped")
        read = selection._read(lambda data, part: _core.particles(data, part, selection.region), part)
        if read is not None and (found := take(read)):
            yield found


def _are_sinks(data: Any, name: str | None) -> bool:
    """Whether the table of sinks is meant: it is no species."""
    return name == "sink" and all(row["name"] != name for row in data.species)


def _taker(data: Any, name: str | None, region: str | None) -> Callable[[Any], Arrays]:
    """A function that gives a part's particles of a species or family; nothing where the part has none. For sinks it
    gives the rows of their table in the region, whatever the part."""
    if _are_sinks(data, name):
        sinks = sinks_of(data, region).columns
        return lambda part: sinks
    species, family = _choice(data, name)

    def take(part: Any) -> Arrays:
        found = part.particles.get(species, {})
        return found if family is None or not found else _of_family(found, family)

    return take


def _choice(data: Any, name: str | None) -> tuple[str, str | None]:
    """The species that is read, and the family that is chosen of it."""
    known = [row["name"] for row in data.species]
    if not known:
        raise UsageError("the step has no particles", [data.path], "")
    if name is None or name in known:
        return name or known[0], None
    attributes = {row["name"] for row in data.species[0]["attributes"]}
    if name not in FAMILIES or not attributes & {"family", "birth_time"}:
        families = ", ".join(FAMILIES) if attributes & {"family", "birth_time"} else ""
        raise UsageError(
            f"no species or family '{name}'", [data.path], "there are: " + ", ".join([*known, families]).strip(", ")
        )
    if "family" not in attributes and name not in ("dm", "star", "cloud"):
        raise UsageError(
            f"no family '{name}'", [data.path], "without the attribute family there are dm, star and cloud"
        )
    return known[0], name


def _of_family(found: Arrays, family: str) -> Arrays:
    """Outputs without the attribute tell stars by a time of birth, and clouds of sinks by an identity below 0."""
    if "family" in found:
        chosen = np.isin(found["family"], FAMILIES[family])
    else:
        star, cloud = found["birth_time"] != 0, found["identity"] < 0
        chosen = {"star": star & ~cloud, "cloud": cloud, "dm": ~star & ~cloud}[family]
    return {name: values[chosen] for name, values in found.items()}


# --------------------------------------------------------------------------------------------------------------- ages


def age(data: Any, birth_time: np.ndarray) -> np.ndarray:
    """The time since birth [code time]. NaN for a birth time of 0: RAMSES gives it to particles that were not born in the
    run."""
    birth = np.asarray(birth_time, "f8")
    return np.where(birth == 0, np.nan, time_since(data, birth))


def _attribute(data: Any, found: Arrays, name: str) -> np.ndarray:
    """The values of an attribute, or the age of particles with a birth time."""
    if name in found:
        return found[name]
    if name == "age" and "birth_time" in found:
        return age(data, found["birth_time"])
    more = ["age"] if "birth_time" in found else []
    raise UsageError(f"no particle has an attribute '{name}'", [data.path], "there are: " + ", ".join([*found, *more]))


def usual_weight(data: Any, name: str | None) -> str:
    """The weight of a map or histogram that names none: the mass, or the number of particles that have no mass."""
    if _are_sinks(data, name):
        return "mass"
    species, _ = _choice(data, name)
    attributes = next(row["attributes"] for row in data.species if row["name"] == species)
    return "mass" if any(info["name"] == "mass" for info in attributes) else "none"


def _weights(data: Any, found: Arrays, weight: str) -> np.ndarray:
    if weight == "none":
        return np.ones(len(next(iter(found.values()))))
    return np.asarray(_attribute(data, found, weight), "f8")


def _unit(data: Any, name: str | None, attribute: str) -> str:
    if attribute == "age":
        return "code_time"
    if _are_sinks(data, name):
        return sinks_of(data).units.get(attribute, "")
    species, _ = _choice(data, name)
    for row in data.species:
        for info in row["attributes"] if row["name"] == species else []:
            if info["name"] == attribute:
                return info["unit"] or ""
    return ""


# --------------------------------------------------------------------------------------------------- maps, histograms


def _source(
    data: Any, name: str | None, region: str | None, axes: list[str], weight: str, fields: list[str]
) -> dict[str, Any]:
    """The columns of a part's particles that compiled functions take: axes, weights, and further columns."""
    take = _taker(data, name, region)

    def samples(part: Any) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
        found = take(part)
        none = not found or not len(next(iter(found.values())))

        def columns(names: list[str]) -> list[np.ndarray]:
            made = (np.zeros(0) if none and not found else _attribute(data, found, one) for one in names)
            return [np.ascontiguousarray(values, "f8") for values in made]

        return columns(axes), np.zeros(0) if none else _weights(data, found, weight), columns(fields)

    return {"samples": samples, "in_parts": not _are_sinks(data, name)}


def _what(data: Any, name: str | None) -> str:
    return "sink" if _are_sinks(data, name) else name or _choice(data, name)[0]


def deposit(
    data: Any, region: str | None, name: str | None, field: str | None, weight: str | None, axis: str, pixels: int,
    *, threads: int = 0, ranks: Any = None, progress: Any = None,
) -> Any:  # fmt: skip
    """A compiled map: the sum of the weights of each pixel's particles over its area; with a `field`, its mean by these
    weights. Collective over `ranks`."""
    family = _what(data, name)
    weight = weight or usual_weight(data, name)
    sides = [f"position_{side}" for side in "xyz" if side != axis][: max(2, data.dim - 1)]
    weight_unit = "" if weight == "none" else _unit(data, name, weight)
    if field is None:
        label = f"{family}, {'number' if weight == 'none' else weight} per area"
        unit = f"{weight_unit or '1'}/code_length**2" if weight_unit or weight == "none" else ""
    else:
        label, unit = f"{field} of {family}, mean weighted by {weight}", _unit(data, name, field)
    source = _source(data, name, region, sides, weight, [] if field is None else [field])
    return _core.particle_map(
        data, source["samples"], in_parts=source["in_parts"], field=field or weight, label=label, unit=unit, weight=weight,
        mean=field is not None, axis=axis, pixels=pixels, region=region, threads=threads, ranks=ranks, progress=progress,
    )  # fmt: skip


#: Pixels along the longer side of a picture in which particles become dots over it.
DOTS = 512


def dots(
    data: Any, region: str | None, words: str, facts: dict[str, Any], *, threads: int = 0, ranks: Any = None
) -> Any:
    """A compiled map of the number of particles per area in the window of the picture with these facts, along its line of
    sight. `words`: a species or family, and for slices the thickness of the slab around the plane that they are taken
    of: "dm", "sink:0.1", "star:20 kpc" (by default a hundredth of the picture's longer side). A particle stands at
    its periodic image nearest to the middle of the window. Collective over `ranks`."""
    name, thickness = _slab(data, words, facts)
    right, up, towards = _axes_of(facts, data.dim)
    x0, x1, y0, y1 = facts["extent"]
    depth = sum(facts["depth"]) / 2
    middle = right * (x0 + x1) / 2 + up * (y0 + y1) / 2 + towards * depth
    size = np.array(data.hi) - np.array(data.lo)
    take = _taker(data, name, region)

    def samples(part: Any) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
        found = take(part)
        if not found:
            return [np.zeros(0), np.zeros(0)], np.zeros(0), []
        at = np.stack([np.asarray(found[f"position_{axis}"], "f8") for axis in "xyz"[: data.dim]], axis=1)
        at -= np.where(data.periodic, size * np.round((at - middle) / size), 0.0)
        if thickness is not None:
            at = at[np.abs(at @ towards - depth) <= thickness / 2]
        return [at @ right, at @ up], np.ones(len(at)), []

    return _core.particle_map(
        data, samples, in_parts=not _are_sinks(data, name), field="none", label=_what(data, name), unit="", weight="none",
        window=(x0, x1, y0, y1), pixels=DOTS, region=region, threads=threads, ranks=ranks,
    )  # fmt: skip


def _slab(data: Any, words: str, facts: dict[str, Any]) -> tuple[str, float | None]:
    """The family, and the thickness [code length] of a slice's slab."""
    name, sign, text = words.partition(":")
    if facts["kind"] != "slice":
        if sign:
            raise UsageError(f"'{words}': a thickness is of slices", [], f"'{name}' alone: a map shows all of them")
        return name, None
    x0, x1, y0, y1 = facts["extent"]
    if not sign:
        return name, max(x1 - x0, y1 - y0) / 100
    try:
        thickness = float(in_fractions(text, data)) * (data.hi[0] - data.lo[0])
    except ValueError:
        thickness = -1.0
    if not thickness > 0:
        raise UsageError(f"'{words}': expected a thickness", [], f"'{name}:0.1' (of the box length), '{name}:20 kpc'")
    return name, thickness


def _axes_of(facts: dict[str, Any], dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors to the right, upwards and towards the viewer of a picture, of shape (dim,)."""
    if "right" in facts:
        return tuple(np.array(facts[name], "f8")[:dim] for name in ("right", "up", "towards"))  # type: ignore[return-value]
    right, up, towards = (
        np.array([float(axis == name) for axis in "xyz"[:dim]]) for name in (*facts["axes"], facts["axis"])
    )
    return right, up, towards


def binned(
    data: Any, region: str | None, name: str | None, axis: dict[str, Any], weight: str | None,
    *, threads: int = 0, ranks: Any = None, progress: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """The compiled sums of the particles' weights in bins of an attribute. Collective over `ranks`."""
    family = _what(data, name)
    weight = weight or usual_weight(data, name)
    sums = _core.bins(
        data, axes=[axis], fields=[], weight=weight, region=region, max_level=None, where=None, definitions=[],
        threads=threads, ranks=ranks, progress=progress, **_source(data, name, region, [axis["field"]], weight, []),
    )  # fmt: skip
    sums["axes"][0]["unit"] = _unit(data, name, axis["field"])
    sums["weight_unit"] = "" if weight == "none" else _unit(data, name, weight)
    return sums | {"particles": family}
