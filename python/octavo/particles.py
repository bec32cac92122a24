"""Particles by family: arrays, maps, histograms, ages. Files of cells are not read. docs/particles.md has the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError

if TYPE_CHECKING:
    from octavo.binned import Histogram
    from octavo.dataset import Selection
    from octavo.picture import Picture

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
    species, family = _choice(data, name)
    for part in data.parts_of(selection.region, None) or [0]:
        found = _core.particles(data, part, selection.region).particles.get(species)
        if not found:
            continue
        yield found if family is None else _of_family(found, family)


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
    """The time since birth [code time]: of a cosmological run the proper time, in the code's unit at the step. NaN for a
    birth time of 0: RAMSES gives it to particles that were not born in the run."""
    known = data.attributes
    birth = np.asarray(birth_time, "f8")
    if known.get("H0", 1.0) == 1.0 and known.get("aexp", 1.0) == 1.0:
        since = data.time - birth
    else:
        tau, proper = proper_times(known["omega_m"], known["omega_l"], known["omega_k"])
        # A code unit of time is aexp^2 / H0.
        since = (np.interp(data.time, tau, proper) - np.interp(birth, tau, proper)) / known["aexp"] ** 2
    return np.where(birth == 0, np.nan, since)


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


def _unit(data: Any, species: str, name: str) -> str:
    if name == "age":
        return "code_time"
    for row in data.species:
        for info in row["attributes"] if row["name"] == species else []:
            if info["name"] == name:
                return info["unit"] or ""
    return ""


# --------------------------------------------------------------------------------------------------- maps, histograms


def deposit(selection: Selection, name: str | None, field: str | None, weight: str, axis: str, pixels: int) -> Picture:
    """The sum of the weights of each pixel's particles over its area; with a `field`, its mean by these weights."""
    from octavo.picture import Picture

    data = selection._data
    species, _ = _choice(data, name)
    sides = [side for side in range(data.dim) if side != "xyz".index(axis)] if data.dim == 3 else [0, 1]
    if data.dim < 2 or (data.dim == 2 and axis != "z"):
        raise UsageError(f"a map of particles in {data.dim}-D along {axis}", [data.path], "along z, of 2-D or 3-D data")
    lo, hi = (np.array([corner[side] for side in sides]) for corner in (data.lo, data.hi))
    width = (hi - lo).max() / pixels
    shape = np.maximum(1, np.rint((hi - lo) / width).astype(int))
    sums, values, count = np.zeros(shape[::-1]), np.zeros(shape[::-1]), 0
    for found in each(selection, name):
        places = np.stack([found["position_" + "xyz"[side]] for side in sides])
        cells = np.floor((places - lo[:, None]) / (hi - lo)[:, None] * shape[:, None]).astype(np.int64)
        # Particles on the upper side are in the last pixel.
        cells = np.where((places == hi[:, None]), shape[:, None] - 1, cells)
        seen = ((cells >= 0) & (cells < shape[:, None])).all(axis=0)
        flat = (cells[1] * shape[0] + cells[0])[seen]
        weights = _weights(data, found, weight)[seen]
        count += len(flat)
        sums += np.bincount(flat, weights, sums.size).reshape(sums.shape)
        if field is not None:
            values += np.bincount(flat, weights * _attribute(data, found, field)[seen], sums.size).reshape(sums.shape)
    if not count:
        raise UsageError("no particle is selected", [data.path], "")
    family = name or species
    weight_unit = "" if weight == "none" else _unit(data, species, weight)
    area = float(np.prod((hi - lo) / shape))
    if field is None:
        image, label = sums / area, f"{family}, {'number' if weight == 'none' else weight} per area"
        unit = f"{weight_unit or '1'}/code_length**2" if weight_unit or weight == "none" else ""
    else:
        with np.errstate(invalid="ignore"):
            image = np.where(sums != 0, values / sums, np.nan)
        label, unit = f"{field} of {family}, mean weighted by {weight}", _unit(data, species, field)
    facts = {
        "field": field or weight, "kind": "integral" if field is None else "mean", "weight": weight, "axis": axis,
        "axes": ["xyz"[side] for side in sides], "label": label, "unit": unit, "pixels": [int(size) for size in shape],
        "title": label + (f"   ({selection.region})" if selection.region else ""), "particles": count,
        "extent": [float(lo[0]), float(hi[0]), float(lo[1]), float(hi[1])], "selection": selection.region or "",
        "time": data.time, "over_time": None,
        **{f"unit_{unit}": size for unit, size in data.units.items()},
    }  # fmt: skip
    return Picture.described(facts, image)


def histogram(
    selection: Selection, name: str | None, field: str, bins: int, log: bool, limits: Any, weight: str, cumulative: bool
) -> Histogram:
    """The sum of the particles' weights in bins of an attribute."""
    from octavo.binned import Axis, Histogram

    data = selection._data
    species, _ = _choice(data, name)
    low, high = limits or _range(selection, name, field, log)
    edges = np.geomspace(low, high, bins + 1) if log else np.linspace(low, high, bins + 1)
    edges[0], edges[-1] = low, high
    cells, sums = np.zeros(bins, np.int64), np.zeros(bins)
    totals = {key: {"cells": 0, "weight": 0.0} for key in ("all", "beyond", "nan")}
    for found in each(selection, name):
        values, weights = np.asarray(_attribute(data, found, field), "f8"), _weights(data, found, weight)
        place = np.searchsorted(edges, values, "right") - 1
        place[values == edges[-1]] = bins - 1
        nan = np.isnan(values)
        inside = (place >= 0) & (place < bins) & ~nan
        cells += np.bincount(place[inside], minlength=bins)
        sums += np.bincount(place[inside], weights[inside], bins)
        for key, chosen in (("all", slice(None)), ("beyond", ~inside & ~nan), ("nan", nan)):
            totals[key]["cells"] += int(weights[chosen].size)
            totals[key]["weight"] += float(weights[chosen].sum())
    if not totals["all"]["cells"]:
        raise UsageError("no particle is selected", [data.path], "")
    facts = {**totals, "time": data.time, "selection": selection.region or "", "particles": name or species}
    facts |= {f"unit_{unit}": size for unit, size in data.units.items()}
    if cumulative:
        cells, sums = np.cumsum(cells), np.cumsum(sums)
    return Histogram(
        axes=(Axis(field, _unit(data, species, field), log, edges),), cells=cells, weights=sums, weight=weight,
        weight_unit="" if weight == "none" else _unit(data, species, weight), fields={}, facts=facts, cumulative=cumulative,
    )  # fmt: skip


def _range(selection: Selection, name: str | None, field: str, log: bool) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for found in each(selection, name):
        values = np.asarray(_attribute(selection._data, found, field), "f8")
        values = values[np.isfinite(values) & ((values > 0) | (not log))]
        if values.size:
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    if low > high:
        raise UsageError(f"no particle has a finite value of {field}", [selection._data.path], "")
    return (low, high) if low < high else (low, np.nextafter(low, np.inf) if low == 0 else low + abs(low) * 1e-9)
