"""Units of a data set's results and of lengths in regions. docs/units.md has the rules."""

from __future__ import annotations

import re
from math import isnan
from typing import Any, NamedTuple

from octavo import _core
from octavo.errors import UsageError

#: Powers of length, mass, time and temperature.
_Powers = tuple[float, ...]
_LENGTH: _Powers = (1, 0, 0, 0)
_TABLE: dict[str, tuple[float, _Powers]] = {
    name: (size, tuple(powers)) for name, (size, powers) in _core.unit_table().items()
}

#: Lengths and times in cgs, ascending: those that pictures choose from.
LENGTHS = tuple((name, _TABLE[name][0]) for name in ("cm", "m", "km", "au", "pc", "kpc", "Mpc"))
TIMES = tuple((name, _TABLE[name][0]) for name in ("s", "yr", "kyr", "Myr", "Gyr"))


class Unit(NamedTuple):
    """A unit as its size in cgs, NaN if that is not known, and its dimension."""

    size: float
    powers: _Powers


def code_units(data: Any) -> dict[str, float] | None:
    """One code unit in cgs, by name; None where the data set does not say. Units of 1 say nothing, but of FLASH, which
    computes in cgs; of triangles, files say metres and seconds alone."""
    units = {name: parse(name, data).size for name in ("code_length", "code_density", "code_time", "code_mass")}
    return None if isnan(units["code_length"]) else units


def length_word(data: Any) -> str:
    """What a code length is, in words: "cm", "m", or "code length" where it is something else or not known."""
    known = code_units(data)
    return {1.0: "cm", 100.0: "m"}.get(known["code_length"] if known else 0.0, "code length")


def parse(text: str, data: Any) -> Unit:
    """Reads "g/cm**3", "H/cc", "Msun kpc^-2", "code_mass/code_length**3". Raises UsageError for another word."""
    size, powers = data.unit(text)
    return Unit(size, tuple(powers))


def factor(have: str, want: str, data: Any, what: str) -> float:
    """The factor that turns a number with unit `have` into one with unit `want`. `what` is the quantity's name. Raises
    UsageError where the unit is not known, or is of another kind."""
    return data.unit_factor(have, want, what)


def stats_in(result: dict[str, Any], units: dict[str, str], data: Any) -> None:
    """Gives fields of statistics in other units. Integrals are those units times a code volume. Raises UsageError for a name
    that is not computed, and as factor()."""
    for name, unit in units.items():
        if name not in result["fields"]:
            raise UsageError(
                f"a unit for '{name}', which is not computed", [], "there are: " + ", ".join(result["fields"])
            )
        field = result["fields"][name]
        scale = factor(field["unit"], unit, data, name)
        for row in (field, *field["levels"]):
            for key in ("min", "max", "mean", "volume_mean", "mass_mean", "sum", "integral"):
                if row.get(key) is not None:
                    row[key] *= scale
        for key in field.get("percentiles", {}):
            field["percentiles"][key] *= scale
        field["unit"] = unit


def facts_of(image: Any, data: Any, unit: str | None = None) -> dict[str, Any]:
    """The facts that one must know to read a compiled map, which is given in `unit` from now on."""
    if unit is not None:
        facts = image.facts()
        image.scale(factor(facts["unit"], unit, data, facts["label"]), unit)
    from octavo.cosmology import cosmic_facts

    known = code_units(data)
    return image.facts() | {"code_length_cm": known["code_length"] if known else None} | cosmic_facts(data)


_LENGTH_IN_TEXT = re.compile(r"(?<![\w.])([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?![eE][+-]?\d)([A-Za-z_]+)")


def has_lengths(text: str) -> bool:
    """Whether a region's or place's text has a length with a unit."""
    return _LENGTH_IN_TEXT.search(text) is not None


def in_fractions(text: str, data: Any) -> str:
    """A region's or place's text with its lengths ("20 kpc") as fractions of the box length."""

    lengths = ", ".join([*(name for name, _ in LENGTHS), "code_length"])

    def replaced(found: re.Match[str]) -> str:
        number, name = found.groups()
        if name not in _TABLE or _TABLE[name][1] != _LENGTH:
            raise UsageError(f"'{found[0]}' is no length", [], f"units of length are {lengths}")
        known = code_units(data)
        if name != "code_length" and known is None:
            raise UsageError(
                f"'{found[0]}': the data set does not say what its code units are", [data.path],
                "give fractions of the box length, or code_length",
            )  # fmt: skip
        one = 1.0 if name == "code_length" else _TABLE[name][0] / (known or {})["code_length"]
        return repr(float(number) * one / (data.hi[0] - data.lo[0]))

    return _LENGTH_IN_TEXT.sub(replaced, text)
