"""Units: one table of cgs factors, and what a data set's code units are. docs/units.md has the rules."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from octavo.errors import UsageError

#: Powers of length, mass, time and temperature.
_Powers = tuple[int, int, int, int]
_NONE: _Powers = (0, 0, 0, 0)
_LENGTH: _Powers = (1, 0, 0, 0)
_MASS: _Powers = (0, 1, 0, 0)
_TIME: _Powers = (0, 0, 1, 0)

#: Lengths and times in cgs, ascending: those that pictures choose from. IAU 2012 and 2015, Julian years.
LENGTHS = (
    ("cm", 1.0), ("m", 1e2), ("km", 1e5), ("au", 1.495978707e13), ("pc", 3.0856775814913673e18),
    ("kpc", 3.0856775814913673e21), ("Mpc", 3.0856775814913673e24),
)  # fmt: skip
TIMES = (("s", 1.0), ("yr", 3.15576e7), ("kyr", 3.15576e10), ("Myr", 3.15576e13), ("Gyr", 3.15576e16))

_TABLE: dict[str, tuple[float, _Powers]] = {
    **{name: (size, _LENGTH) for name, size in LENGTHS},
    **{name: (size, _TIME) for name, size in TIMES},
    "g": (1.0, _MASS), "kg": (1e3, _MASS), "Msun": (1.98840987e33, _MASS),
    "H": (1.6735328e-24, _MASS),  # a hydrogen atom: H/cc
    "cc": (1.0, (3, 0, 0, 0)), "h": (3600.0, _TIME), "d": (86400.0, _TIME),
    "K": (1.0, (0, 0, 0, 1)),
    "erg": (1.0, (2, 1, -2, 0)), "J": (1e7, (2, 1, -2, 0)), "eV": (1.602176634e-12, (2, 1, -2, 0)),
    "dyn": (1.0, (1, 1, -2, 0)), "N": (1e5, (1, 1, -2, 0)), "Pa": (10.0, (-1, 1, -2, 0)), "bar": (1e6, (-1, 1, -2, 0)),
    "W": (1e7, (2, 1, -3, 0)), "Lsun": (3.828e33, (2, 1, -3, 0)),
    "M": (1e2, _LENGTH), "S": (1.0, _TIME), "KG": (1e3, _MASS),  # TELEMAC's words
}  # fmt: skip
_CODE: dict[str, _Powers] = {
    "code_length": _LENGTH,
    "code_mass": _MASS,
    "code_time": _TIME,
    "code_density": (-3, 1, 0, 0),
}
_NAMES = ("length", "mass", "time", "temperature")
#: One unit for each dimension, as messages name it.
_CGS = ("cm", "g", "s", "K")


class Unit(NamedTuple):
    """A unit as its size in cgs, if that is known, and its dimension."""

    size: float
    powers: _Powers


def code_units(data: Any) -> dict[str, float] | None:
    """One code unit in cgs, by name; None where the data set does not say. Units of 1 say nothing, but of FLASH, which
    computes in cgs."""
    given = data.units
    if data.code != "FLASH" and all(size == 1 for size in given.values()):
        return None
    length = given["length"]
    density = given["density"] if not data.unstructured else float("nan")  # of triangles, files say metres and seconds
    return {
        "code_length": length, "code_density": density, "code_time": given["time"], "code_mass": density * length**3,
    }  # fmt: skip


def parse(text: str, data: Any) -> Unit:
    """Reads "g/cm**3", "H/cc", "Msun kpc^-2", "code_mass/code_length**3". Raises UsageError for another word, and for
    code units that the data set does not know in cgs."""
    word = r"([*/ ]*)\s*([A-Za-z_]+|1)(?:(?:\*\*|\^)?([+-]?\d+))?\s*"
    if not re.fullmatch(f"(?:{word})+", text):
        raise UsageError(f"'{text}' is no unit", [], "g/cm**3, H/cc, Msun/pc**2, km/s ...")
    known = code_units(data)
    size, powers = 1.0, [0, 0, 0, 0]
    for sign, name, power in re.findall(word, text):
        if name == "1":
            continue
        if name in _TABLE:
            factor, of = _TABLE[name]
        elif name in _CODE:
            factor, of = (known[name] if known else float("nan")), _CODE[name]
        else:
            raise UsageError(f"unknown unit '{name}' in '{text}'", [], "there are: " + ", ".join([*_TABLE, *_CODE]))
        exponent = int(power or 1) * (-1 if "/" in sign else 1)
        size *= factor**exponent
        powers = [a + exponent * b for a, b in zip(powers, of, strict=True)]
    return Unit(size, tuple(powers))  # type: ignore[arg-type]


def factor(have: str, want: str, data: Any, what: str) -> float:
    """By what a number with unit `have` is multiplied to be one with unit `want`. `what` is the quantity's name. Raises
    UsageError where the unit is not known, or is of another kind."""
    if not have:
        raise UsageError(f"the data set does not say the unit of {what}", [data.path], f"leave the unit '{want}' away")
    old, new = parse(have, data), parse(want, data)
    if old.powers != new.powers:
        raise UsageError(f"{what} is {_kind(old)} [{have}], and '{want}' is {_kind(new)}", [], f"write {_example(old)}")
    ratio = 1.0 if have == want else old.size / new.size
    if ratio != ratio:
        raise UsageError(
            f"the data set does not say what its code units are: {what} [{have}] cannot be given in {want}", [data.path],
            "leave the unit away, or write it in code units",
        )  # fmt: skip
    return ratio


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
    known = code_units(data)
    return image.facts() | {"code_length_cm": known["code_length"] if known else None}


def _example(unit: Unit) -> str:
    words = [name if n == 1 else f"{name}**{n}" for name, n in zip(_CGS, unit.powers, strict=True) if n > 0]
    under = [name if n == -1 else f"{name}**{-n}" for name, n in zip(_CGS, unit.powers, strict=True) if n < 0]
    return "/".join(["*".join(words) or "1", *under])


def _kind(unit: Unit) -> str:
    words = [name if n == 1 else f"{name}^{n}" for name, n in zip(_NAMES, unit.powers, strict=True) if n]
    return "without dimension" if not words else "a " + " ".join(words)


def _powers_of(name: str) -> _Powers | None:
    return _CODE[name] if name in _CODE else _TABLE[name][1] if name in _TABLE else None


_LENGTH_IN_TEXT = re.compile(r"(?<![\w.])([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?![eE][+-]?\d)([A-Za-z_]+)")


def has_lengths(text: str) -> bool:
    """Whether a region's or place's text has a length with a unit."""
    return _LENGTH_IN_TEXT.search(text) is not None


def in_fractions(text: str, data: Any) -> str:
    """A region's or place's text with its lengths ("20 kpc") as fractions of the box length."""

    lengths = ", ".join([*(name for name, _ in LENGTHS), "code_length"])

    def replaced(found: re.Match[str]) -> str:
        number, name = found.groups()
        if _powers_of(name) != _LENGTH:
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
