"""The domains of a step as delayed objects of Dask, for users without MPI.

masses = [domain.sum("density", weight="volume") for domain in octavo.dask(octavo.open("run.octavo"))]
mass = dask.delayed(sum)(masses).compute()          # on threads, processes, or a cluster of Dask's distributed
"""

from __future__ import annotations

import functools
from typing import Any

from octavo import _core
from octavo.dataset import Selection
from octavo.errors import Unsupported

#: How a process finds a domain: a description of it (stores), or path, flow, step and number (other formats).
_Place = bytes | tuple[str, str | None, int | None, int]


def dask(ds: Selection) -> list[Any]:
    """One delayed object for each domain that the selection reads, in order of `ds.parts`. Computed, it is a selection of
    that domain alone, with the same methods, region and level: `.sum("density")`, `.stats()`, `.map("density")`,
    `.arrays()`, `.chunks()` ... A map has the frame of the whole selection, with NaN where the domain has no cell.

    Domains that were found damaged (`ds.damaged`, of a data set opened with `skip_damaged`) have no object. The objects are
    small. A process that computes with a domain of a store opens the one file that holds it; for other formats it opens the
    output once. Raises Unsupported for a step over time. Needs the package dask.
    """
    from dask import delayed

    damaged = ds._reading.met if ds._reading else {}
    parts = [part for part in ds.parts if part not in damaged]
    domains = [Domain(_place(ds, part), **_sent(ds._choices())) for part in parts]
    return [delayed(domain, pure=True, traverse=False) for domain in domains]


def _sent(choices: dict[str, Any]) -> dict[str, Any]:
    """The choices that another process can make: it does not know which domains were found damaged here."""
    return {name: value for name, value in choices.items() if name != "_reading"}


def _place(ds: Selection, part: int) -> _Place:
    if isinstance(ds, Domain):
        return ds._place
    data = ds._data
    if not isinstance(data, _core.SharedStep):
        raise Unsupported("a step over time is no output that another process could open", [data.path], "")
    described = _core.describe_part(data, part)
    return described if described is not None else (data.path, *data.choice, part)


class Domain(Selection):
    """A selection of one domain, opened where and when it is first read. It may be pickled."""

    _place: _Place
    _blank_too = True

    def __init__(
        self,
        place: _Place,
        region: str | None = None,
        max_level: int | None = None,
        condition: str | None = None,
        definitions: tuple[tuple[str, str], ...] = (),
    ) -> None:
        choices = {"region": region, "max_level": max_level, "condition": condition, "definitions": definitions}
        for name, value in {"_place": place, **choices}.items():
            object.__setattr__(self, name, value)

    @functools.cached_property
    def _data(self) -> Any:
        if isinstance(self._place, bytes):
            return _core.only_parts(_core.understand(self._place), [0])  # some of a step, not a step of one domain
        *opened, part = self._place
        return _core.only_parts(_opened(*opened), [part])

    def _choices(self) -> dict[str, Any]:
        return _sent(super()._choices())

    def _with(self, **changes: Any) -> Selection:
        return Domain(self._place, **(self._choices() | changes))

    def __reduce__(self) -> Any:
        return Domain, (self._place, *self._choices().values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.__reduce__())

    def __repr__(self) -> str:
        return f"<octavo.Domain, {self.region or 'everything'}>"

    def __dask_tokenize__(self) -> Any:
        return self.__reduce__()[1]


@functools.lru_cache(maxsize=4)
def _opened(path: str, flow: str | None, step: int | None) -> Any:
    return _core.open(path, flow, step)
