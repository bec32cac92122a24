"""Particles by family: arrays, maps, histograms, ages. Files of cells are not read. docs/particles.md has the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.sinks import sinks_of

if TYPE_CHECKING:
    from octavo.dataset import Selection

Arrays = dict[str, np.ndarray]

#: Numbers of the attribute `family` as RAMSES has them (pm/pm_commons.f90 of its stable branch).
FAMILIES: dict[str, tuple[int, ...]] = {
    "dm": (1,), "star": (2,), "cloud": (3,), "debris": (4,), "other": (5,), "undefined": (127,),
    "tracer": (0, -1, -2, -3, -4, -5), "tracer_gas": (0,), "tracer_dm": (-1,), "tracer_star": (-2,),
    "tracer_cloud": (-3,), "tracer_debris": (-4,), "tracer_other": (-5,),
}  # fmt: skip


def each(selection: Selection, name: str | None = None) -> Iterator[Arrays]:
    """The particles of a species or family, domain by domain: those whose position is in the region. One domain is in
    memory. Raises UsageError for a name that is none."""
    data = selection._data
    if _are_sinks(data, name):
        yield sinks_of(data, selection.region).columns
        return
    take = _taker(data, name)
    for part in data.parts_of(selection.region, None) or [0]:
        read = selection._read(lambda data, part: _core.particles(data, part, selection.region), part)
        if read is not None and (found := take(read)):
            yield found


def _are_sinks(data: Any, name: str | None) -> bool:
    """Whether the table of sinks is meant: it is no species."""
    return name == "sink" and all(row["name"] != name for row in data.species)


def _taker(data: Any, name: str | None) -> Callable[[Any], Arrays]:
    """A function that gives a part's particles of a species or family; nothing where the part has none."""
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


def time_since(data: Any, birth: np.ndarray) -> np.ndarray:
    """[code time]: of a cosmological run the proper time, in the code's unit at the step."""
    known = data.attributes
    if known.get("H0", 1.0) == 1.0 and known.get("aexp", 1.0) == 1.0:
        return data.time - birth
    tau, proper = proper_times(known["omega_m"], known["omega_l"], known["omega_k"])
    # A code unit of time is aexp^2 / H0.
    return (np.interp(data.time, tau, proper) - np.interp(birth, tau, proper)) / known["aexp"] ** 2


def proper_times(omega_m: float, omega_l: float, omega_k: float) -> tuple[np.ndarray, np.ndarray]:
    """The conformal time of RAMSES, d tau = d t / a^2, which is 0 at a = 1, and the proper time since a = 10^-4, both in
    units of 1 / H0, ascending. That is what RAMSES' tables of Friedmann's equation hold (amr/init_time.f90)."""
    log_a = np.linspace(np.log(1e-4), np.log(2.0), 400_001)
    a = np.exp(log_a)
    hubble = np.sqrt(omega_m / a**3 + omega_k / a**2 + omega_l)
    tau = _integral(1 / (a**2 * hubble), log_a)
    return tau - np.interp(0.0, log_a, tau), _integral(1 / hubble, log_a)


def _integral(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(at))])


def _attribute(data: Any, found: Arrays, name: str) -> np.ndarray:
    """The values of an attribute, or the age of particles with a birth time."""
    if name in found:
        return found[name]
    if name == "age" and "birth_time" in found:
        return age(data, found["birth_time"])
    more = ["age"] if "birth_time" in found else []
    raise UsageError(f"no particle has an attribute '{name}'", [data.path], "there are: " + ", ".join([*found, *more]))


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
    """What compiled functions take of the particles of a part: columns for the axes, weights, and further columns."""
    if _are_sinks(data, name):
        sinks = sinks_of(data, region).columns
        take: Callable[[Any], Arrays] = lambda part: sinks  # noqa: E731
    else:
        take = _taker(data, name)

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
    data: Any, region: str | None, name: str | None, field: str | None, weight: str, axis: str, pixels: int,
    *, threads: int = 0, ranks: Any = None, progress: Any = None,
) -> Any:  # fmt: skip
    """A compiled map: the sum of the weights of each pixel's particles over its area; with a `field`, its mean by these
    weights. Collective over `ranks`."""
    family = _what(data, name)
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


def binned(
    data: Any, region: str | None, name: str | None, axis: dict[str, Any], weight: str,
    *, threads: int = 0, ranks: Any = None, progress: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """The compiled sums of the particles' weights in bins of an attribute. Collective over `ranks`."""
    family = _what(data, name)
    sums = _core.bins(
        data, axes=[axis], fields=[], weight=weight, region=region, max_level=None, where=None, definitions=[],
        threads=threads, ranks=ranks, progress=progress, **_source(data, name, region, [axis["field"]], weight, []),
    )  # fmt: skip
    sums["axes"][0]["unit"] = _unit(data, name, axis["field"])
    sums["weight_unit"] = "" if weight == "none" else _unit(data, name, weight)
    return sums | {"particles": family}
