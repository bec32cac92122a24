"""Reads requests: each value is checked, and a wrong one is named."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from octavo.errors import UsageError
from octavo.view.tiles import KINDS, Look

#: Letters of a value: formulas and regions are shorter.
LONGEST = 2000

Query = Mapping[str, str]


def text(query: Query, name: str) -> str | None:
    """The value of a name; None where it is missing or empty."""
    value = query.get(name) or None
    if value is not None and len(value) > LONGEST:
        raise UsageError(f"{name} is longer than {LONGEST} letters", [], "")
    if value is not None and "\0" in value:
        raise UsageError(f"{name} holds a letter that no name has", [], "")
    return value


def required(query: Query, name: str) -> str:
    value = text(query, name)
    if value is None:
        raise UsageError(f"{name} is missing", [], f"{name}=...")
    return value


def whole(query: Query, name: str, least: int, most: int) -> int:
    value = required(query, name)
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and least <= int(value) <= most):
        raise UsageError(f"{name}={value}: expected a whole number, {least} to {most}", [], "")
    return int(value)


def number(query: Query, name: str, default: float | None = None) -> float:
    value = text(query, name)
    if value is None and default is not None:
        return default
    try:
        found = float(value or "")
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError(f"{name}={value}: expected a number", [], "")
    return found


def choice(query: Query, name: str, of: tuple[str, ...], default: str) -> str:
    value = text(query, name) or default
    if value not in of:
        raise UsageError(f"{name}={value}: expected one of {', '.join(of)}", [], "")
    return value


def look(query: Query, definitions: Sequence[tuple[str, str]], prefix: str = "") -> Look:
    """The look that a request wants, with the definitions of the view. In a difference the words of the picture that is taken away have a prefix; both have the
    same axis, plane, condition and level."""
    at = number(query, "at", 0.5)
    if not 0 <= at <= 1:
        raise UsageError(f"at={at}: expected a fraction, 0 to 1", [], "")
    return Look(
        field=required(query, prefix + "field"),
        kind=choice(query, prefix + "kind", KINDS, "slice"),
        axis=choice(query, "axis", ("x", "y", "z"), "z"),
        at=at,
        weight=text(query, prefix + "weight"),
        where=text(query, "where"),
        unit=text(query, prefix + "unit"),
        max_level=whole(query, "level", -1000, 1000) if text(query, "level") else None,
        definitions=tuple(definitions),
    )


def direction(query: Query, name: str) -> tuple[float, float, float]:
    """Three numbers, not all 0."""
    value = required(query, name)
    try:
        x, y, z = (float(word) for word in value.split(","))
    except ValueError:
        x = y = z = math.nan
    if not all(map(math.isfinite, (x, y, z))) or x == y == z == 0:
        raise UsageError(f"{name}={value}: expected three numbers, not all 0", [], f"{name}=1,0,0")
    return x, y, z
