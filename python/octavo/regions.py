"""The shapes of a region and how they are joined: the methods that all selections have. docs/regions.md has the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from octavo.errors import UsageError
from octavo.units import in_fractions

if TYPE_CHECKING:
    from octavo.dataset import Selection

#: A fraction of the box length, or a length with its unit: "20 kpc".
Length = float | str
#: A point, from the domain's lower corner, or "center", "max:FIELD", "min:FIELD".
Point = str | Sequence[Length]
#: An axis by name, or a vector of any length.
Axis = str | Sequence[float]


class Regions:
    """A region, as text, that only grows smaller: each shape is met with what there is. `a & b`, `a | b` and `a - b` join
    two selections. A length is a fraction of the box length, or has a unit: "20 kpc". A centre "max:density" is the middle
    of the cell of this selection with that extreme, for which the selection is read at once."""

    _data: Any
    region: str | None
    max_level: int | None
    condition: str | None
    definitions: tuple[tuple[str, str], ...]

    if TYPE_CHECKING:  # of Selection

        def level(self, deepest: int) -> Selection: ...
        def where(self, condition: str) -> Selection: ...
        def _chosen(self) -> dict[str, Any]: ...
        def _with(self, **changes: Any) -> Selection: ...

    def box(self, lo: Sequence[Length], hi: Sequence[Length]) -> Selection:
        """The cells in a box. It may cross a periodic side (lo < 0 or hi > 1)."""
        return self._within(f"box:{_numbers(lo)}:{_numbers(hi)}")

    def sphere(self, centre: Point, radius: Length) -> Selection:
        """The cells in a sphere; centre "center" is the middle of the domain."""
        return self._within(f"sphere:{point_text(centre)}:{_number(radius)}")

    def shell(self, centre: Point, inner: Length, outer: Length) -> Selection:
        """The cells in a sphere of radius `outer` and not in that of radius `inner`."""
        return self._within(f"shell:{point_text(centre)}:{_number(inner)}:{_number(outer)}")

    def cylinder(self, centre: Point, axis: Axis, radius: Length, height: Length) -> Selection:
        """The cells in a cylinder of this whole height, half of it on either side of the centre."""
        return self._within(f"cylinder:{point_text(centre)}:{point_text(axis)}:{_number(radius)}:{_number(height)}")

    def sector(self, centre: Point, radius: Length, direction: Axis, angle: float) -> Selection:
        """The cells of a sphere that are seen from its centre within `angle` degrees (below 180) of a direction."""
        return self._within(f"sector:{point_text(centre)}:{_number(radius)}:{point_text(direction)}:{_number(angle)}")

    def halfspace(self, point: Point, normal: Axis) -> Selection:
        """The cells on the side of the plane through `point` to which `normal` points. Along periodic axes a cell is taken
        where it is nearest to `point`."""
        return self._within(f"halfspace:{point_text(point)}:{point_text(normal)}")

    def in_domains(self, *numbers: int | range) -> Selection:
        """The cells and particles of these domains, counted from 1 as in messages and `--roi domains:1,3-5`:
        ds.in_domains(1, range(3, 6)). A part of Python, such as `part(0)`, counts from 0. Raises UsageError for a number
        below 1."""
        if not numbers:
            raise UsageError("no domain is named", [], "ds.in_domains(1, 2)")
        ranges = [number if isinstance(number, range) else range(number, number + 1) for number in numbers]
        words = [str(one[0]) if len(one) == 1 else f"{one[0]}-{one[-1]}" for one in ranges if len(one)]
        return self._within("domains:" + ",".join(words))

    def inside(self, region: str) -> Selection:
        """The cells in a region in the words of the command: "sphere:center:0.2 - cylinder:center:z:0.05:1"."""
        return self._within(region)

    def __and__(self, other: Selection) -> Selection:
        """The cells of both. Conditions add up, and the coarser level counts."""
        both = self._beside(other)
        if other.region is not None:
            both = both._within(other.region)
        if other.max_level is not None:
            both = both.level(other.max_level)
        return both if other.condition in (None, self.condition) else both.where(other.condition)

    def __or__(self, other: Selection) -> Selection:
        """The cells of either."""
        either = self._beside(other)
        if (self.condition, self.max_level) != (other.condition, other.max_level):
            raise UsageError(
                "a | b joins regions, and these selections have other conditions or levels too",
                [],
                "(a | b).where(...)",
            )
        whole = self.region is None or other.region is None
        return either._with(region=None if whole else f"{_operand(self.region)} | {_operand(other.region)}")

    def __sub__(self, other: Selection) -> Selection:
        """The cells of this selection outside of the other's region."""
        rest = self._beside(other)
        if other.condition not in (None, self.condition) or other.max_level not in (None, self.max_level):
            raise UsageError(
                "a - b takes away a region, and the selection b has a condition or level too", [],
                'a.where("!(...)") takes away cells by a condition',
            )  # fmt: skip
        if other.region is None:
            raise UsageError("a - b leaves nothing: b has no region", [], "take away a sphere, a box ...")
        return rest._with(region=f"{_operand(self.region)} - {_operand(other.region)}")

    def _within(self, region: str) -> Selection:
        region = with_extremes(in_fractions(region, self._data), self._data, self._chosen())
        whole = region if self.region is None else f"{_operand(self.region)} & {_operand(region)}"
        self._data.parts_of(whole, None)  # raises now, not later, if something is wrong
        return self._with(region=whole)

    def _beside(self, other: Selection) -> Selection:
        """This selection with the definitions of both."""
        if not isinstance(other, Regions):
            raise UsageError(
                f"a selection cannot be joined with {type(other).__name__}", [], "ds.sphere(...) & ds.box(...)"
            )
        if self._data is not other._data:
            raise UsageError(
                "the selections are of two data sets", [self._data.path, other._data.path], "open one, once"
            )
        known = dict(self.definitions)
        for name, formula in other.definitions:
            if known.setdefault(name, formula) != formula:
                raise UsageError(f"the selections define '{name}' in two ways", [known[name], formula], "")
        return self._with(definitions=tuple(known.items()))


_EXTREME = re.compile(r":\s*(max|min):([^:]+):")


def has_extremes(region: str) -> bool:
    """Whether a region's text names the place of an extreme."""
    return _EXTREME.search(region) is not None


def with_extremes(region: str, data: Any, chosen: dict[str, Any], ranks: Any = None) -> str:
    """A region's text with the places of its extremes ("sphere:max:density:0.1") as numbers. Collective over `ranks` if
    there are any."""

    def place(found: re.Match[str]) -> str:
        which, field = found.groups()
        from octavo import _core

        stats = _core.stats(
            data, fields=[field], particles=False, threads=0, ranks=ranks, progress=None, **chosen
        )["fields"][field]  # fmt: skip
        if stats["leaves"] == stats["nan"] + stats["inf"]:
            raise UsageError(f"'{found[0]}': no cell of the selection has a value of {field}", [data.path], "")
        at = zip(stats[f"{which}_at"], data.lo, strict=False)
        return ":" + _numbers([(x - lo) / (data.hi[0] - data.lo[0]) for x, lo in at]) + ":"

    return _EXTREME.sub(place, region)


def _operand(region: str | None) -> str:
    if region is None:
        return "all"
    joined = re.search(r"[&|(]|-\s*[a-zA-Z(]", region)
    return f"({region})" if joined else region


def point_text(words: Point) -> str:
    """A point or direction as compiled functions take it."""
    return words if isinstance(words, str) else _numbers(words)


def _numbers(values: Sequence[Length]) -> str:
    return ",".join(_number(value) for value in values)


def _number(value: Length) -> str:
    return value if isinstance(value, str) else repr(float(value))
